/* The device text of the 2-D stream family: definitions and lists for kernels/cuda/rows.cuh. */
#include "backend/cuda/family/rows/design.h"

static const char *name_of(const rows_design *d, int field)
{
    return tz_text_field(d->problem->stencil, field);
}

static const char *type_of(const rows_design *d, int field)
{
    return tz_cuda_type_name(d->problem->stencil->fields[field].type);
}

static const char *role_of(const rows_design *d, int field)
{
    return tz_role_name(d->problem->stencil->fields[field].role);
}

/* The last level that writes a field; 0: none. */
static int last_level(const rows_design *d, int field)
{
    return rows_version_before(d, field, d->levels + 1);
}

/* Columns to each side in the window that a cell update reads. */
static int rows_columns(const rows_reads *reads)
{
    return reads->left > reads->right ? reads->left : reads->right;
}

static void emit_rings(tz_cuda_text *t, const rows_design *d)
{
    const tz_stencil *s = d->problem->stencil;
    tz_cuda_emit(t, "#define TZ_RING_LIST(D)");
    for (int i = 0; i < d->rings_count; i++) {
        const rows_ring *r = &d->rings[i];
        tz_cuda_emit(t, " \\\n    D(%s, %s, %d, %d, %d)", name_of(d, r->field),
                     type_of(d, r->field), r->level, r->depth, r->halo);
    }
    tz_cuda_emit(t, "\n#define TZ_SUM_TYPE %s\n#define TZ_SUM_LIST(D)", type_of(d, 0));
    for (int l = 1; d->sums && l <= d->levels; l++)
        tz_cuda_emit(t, " \\\n    D(%d, %d)", l, 2 * d->problem->radius);
    tz_cuda_emit(t, "\n#define TZ_ONCE_LIST(D)");
    for (int l = 1; l <= d->levels; l++)
        if (rows_once_made(d, l) == l)
            tz_cuda_emit(t, " \\\n    D(%d, %s, %d, %d)", (l - 1) % s->passes_count,
                         rows_pass(d, l)->text_cell, l, rows_once_depth(d, l));
    tz_cuda_emit(t, "\n");
}

static void emit_queues(tz_cuda_text *t, const rows_design *d)
{
    tz_cuda_emit(t, "#define TZ_QUEUE_LIST(D)");
    for (int f = 0; f < d->problem->stencil->fields_count; f++) {
        const bool state = d->problem->stencil->fields[f].role == TZ_STATE;
        tz_cuda_emit(t, " \\\n    D(%s, %s, %s, %d, %d)", role_of(d, f), name_of(d, f),
                     type_of(d, f), f, rows_queue(d, state));
    }
    tz_cuda_emit(t, "\n");
}

/* Moves a row of a loaded field from its queue into a ring. Later groups take rows that have waited
 * in the queue. */
static void emit_take(tz_cuda_text *t, const rows_design *d, const char *entry, const rows_ring *r)
{
    const int back = rows_find_ring(d, r->field, 0)->newest - r->newest;
    tz_cuda_emit(t, " \\\n    %s(%s, %s, %s, %d, %d, %d, %d)", entry, role_of(d, r->field),
                 name_of(d, r->field), type_of(d, r->field), r->field, r->level, r->newest,
                 back > 0 ? rows_queue(d, false) - back : 0);
}

static void emit_reads(tz_cuda_text *t, const rows_design *d, int level)
{
    const tz_stencil *s = d->problem->stencil;
    tz_cuda_emit(t, "#define TZ_READS_%d(TAKE, WINDOW)", level);
    for (int f = 0; f < s->fields_count; f++) {
        const tz_field *field = &s->fields[f];
        const bool state = field->role == TZ_STATE;
        const rows_ring *taken = rows_find_ring(d, f, level - 1);
        const rows_ring *r = rows_find_ring(
            d, f, state ? rows_version_before(d, f, level) : rows_group_start(d, level) - 1);
        const rows_reads *reads = rows_reads_of(d, level, f);
        if (!state && level > 1 && taken)
            emit_take(t, d, "TAKE", taken);
        tz_cuda_emit(t, " \\\n    WINDOW(%s, %s, %d, %d, %d, %d)", name_of(d, f), type_of(d, f),
                     r->level, r->depth - 1 - (r->newest + d->lag[level]) - reads->before,
                     reads->before + reads->after + 1, rows_columns(reads));
    }
    tz_cuda_emit(t, "\n");
}

/* The list for updates that are sums over rows. They have one field. */
static void emit_adds(tz_cuda_text *t, const rows_design *d, int level)
{
    const tz_pass *pass = rows_pass(d, level);
    const rows_ring *r = rows_find_ring(d, 0, level - 1);
    tz_cuda_emit(t, "#define TZ_ADDS_%d(D) D(%d, %s, %s, %d, %d, %d, %s)\n", level, level,
                 name_of(d, 0), type_of(d, 0), level - 1,
                 r->depth - 1 - (r->newest + d->lag[level] - pass->radius), pass->radius,
                 pass->text_cell);
}

static void emit_makes(tz_cuda_text *t, const rows_design *d, int level)
{
    tz_cuda_emit(t, "#define TZ_MAKES_%d(D)", level);
    for (int f = 0; f < d->problem->stencil->fields_count; f++) {
        const rows_ring *r = rows_find_ring(d, f, level);
        const bool last = last_level(d, f) == level;
        if (rows_pass(d, level)->writes >> f & 1)
            tz_cuda_emit(t, " \\\n    D(%d, %s, %s, %d, %d, %d, %d)", level, name_of(d, f),
                         type_of(d, f), f, r->radius, last, r->read);
    }
    tz_cuda_emit(t, "\n");
}

static void emit_levels(tz_cuda_text *t, const rows_design *d)
{
    const int passes = d->problem->stencil->passes_count;
    tz_cuda_emit(t, "#define TZ_LEVEL_LIST(D)");
    for (int l = 1; l <= d->levels; l++) {
        const int made = rows_once_made(d, l), rows = rows_once_depth(d, made);
        tz_cuda_emit(t, " \\\n    D(%d, %d, %s, %d, %d, %d, %d, %d, %d)", l, (l - 1) % passes,
                     rows_pass(d, l)->text_cell, (l - 1) / passes, d->lag[l], l == made, made,
                     rows - 1, rows - 1 - (d->lag[l] - d->lag[made]));
    }
    tz_cuda_emit(t, "\n#define TZ_TAKE_LIST(D)");
    for (int i = 0; i < d->rings_count; i++)
        if (d->rings[i].level == 0)
            emit_take(t, d, "D", &d->rings[i]);
    tz_cuda_emit(t, "\n");
    for (int l = 1; l <= d->levels; l++) {
        if (d->sums)
            emit_adds(t, d, l);
        else
            emit_reads(t, d, l);
        emit_makes(t, d, l);
    }
}

static void emit_numbers(tz_cuda_text *t, const rows_design *d, const tz_plan *plan)
{
    const bool wraps = tz_boundary_wraps(d->problem->boundary[1][0]);
    int radius = 0, newest = 0, oldest = 0;
    for (int i = 0; i < d->rings_count; i++) {
        const rows_ring *r = &d->rings[i];
        radius = r->radius > radius ? r->radius : radius;
        newest = r->level == 0 && r->newest > newest ? r->newest : newest;
        oldest = r->level == 0 && r->newest < oldest ? r->newest : oldest;
    }
    const struct {
        const char *name;
        int value;
    } numbers[] = {
        {"V", d->vector},
        {"GHOST_LOW", rows_ghost_low(d, false)},
        {"GHOST_HIGH", rows_ghost_high(d, false)},
        {"SIDE_LOW", rows_ghost_low(d, true)},
        {"SIDE_HIGH", rows_ghost_high(d, true)},
        {"STEPS", d->unroll},
        {"WARPS", rows_warps(plan)},
        {"BLOCKS", plan->blocks},
        {"AHEAD", d->ahead},
        {"DIRECT", d->direct},
        {"QUEUE", rows_queue(d, true)},
        {"QUEUE_KEPT", rows_queue(d, false)},
        {"SIMPLE_ENDS", d->edges},
        {"END_STRIPS", rows_has_sides(d)},
        {"END_COLUMNS", rows_end_columns(d->problem, d->vector)},
        {"SUMS", d->sums},
        {"PACKETS", d->packets},
        {"SWAP", d->swaps},
        {"LEVELS", d->levels},
        {"GROUP", d->group},
        {"LAG", d->reach},
        {"WARM_UP", d->warm_up},
        {"FIRST_ROW", d->first_row},
        {"TOP_ROWS", wraps ? -oldest : d->reach + radius + 1 - oldest},
        {"BOTTOM_ROWS", d->unroll - 1 + newest + d->ahead},
    };
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        tz_cuda_emit(t, "#define TZ_%s %d\n", numbers[k].name, numbers[k].value);
}

void rows_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                    const tz_plan *plan)
{
    (void)limits;
    rows_design d;
    rows_design_make(&d, problem, plan);
    tz_cuda_emit_sizes(t, problem, plan->height, plan->tile);
    tz_cuda_emit_lists(t, problem);
    emit_numbers(t, &d, plan);
    emit_rings(t, &d);
    emit_queues(t, &d);
    emit_levels(t, &d);
    tz_cuda_emit(t, "#include \"rows.cuh\"\n");
    for (int p = 0; p < problem->stencil->passes_count; p++) {
        for (int f = 0; f < tz_stencil_fields_all(problem->stencil); f++) {
            static const rows_reads none = {0};
            const char *name = tz_text_field(problem->stencil, f);
            const rows_reads *reads =
                f < problem->stencil->fields_count ? &d.reads[p][f] : &none; /* or derived */
            tz_cuda_emit(t,
                         "#undef TZ__ROWS_%s\n#define TZ__ROWS_%s %d\n"
                         "#undef TZ__COLUMNS_%s\n#define TZ__COLUMNS_%s %d\n",
                         name, name, reads->before, name, name, rows_columns(reads));
        }
        tz_cuda_emit_pass(t, problem, p);
    }
    tz_cuda_emit(t, "#include \"rows_kernel.cuh\"\n");
}
