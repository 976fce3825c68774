/* The device text of the 3-D stream family: definitions and lists for kernels/cuda/planes.cuh. */
#include "backend/cuda/family/planes/scheme.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *type_of(const tz_problem *problem, int field)
{
    return tz_type_keyword(problem->stencil->fields[field].type);
}

static const char *name_of(const tz_problem *problem, int field)
{
    return tz_text_field(problem->stencil, field);
}

/* How a text reads a field. */
static const char *kind_of(const planes_scheme *s, int field)
{
    return s->carried >> field & 1 ? "carried" : s->ringed >> field & 1 ? "state" : "static";
}

static void emit_numbers(tz_cuda_text *t, const tz_problem *problem, const tz_plan *plan,
                         const planes_scheme *s)
{
    int slots = 0;
    for (int k = 0; k < s->slots_count; k++)
        slots += s->slots[k];
    const struct {
        const char *name;
        int value;
    } numbers[] = {
        {"VECTOR", s->vector},
        {"ROWS", s->rows},
        {"WARPS", s->warps},
        {"LANES", s->lanes},
        {"BLOCKS", plan->blocks > 0 ? plan->blocks : 1},
        {"AHEAD", s->ahead},
        {"GHOST_LOW_X", s->ghost.low[0]},
        {"GHOST_HIGH_X", s->ghost.high[0]},
        {"GHOST_LOW_Y", s->ghost.low[1]},
        {"GHOST_HIGH_Y", s->ghost.high[1]},
        {"GHOST_LOW_Z", s->ghost.low[2]},
        {"GHOST_HIGH_Z", s->ghost.high[2]},
        {"ROW_LANES", s->row_lanes},
        {"LAG", s->lag},
        {"GROUP", s->group},
        {"SLOTS", slots},
        {"RINGS_FROM", (int)s->rings},
        {"RINGS_TO", (int)s->shared_bytes},
        {"RADIUS_ROWS", s->radius_rows},
        {"ADJACENT", s->adjacent},
        {"RACECHECK", getenv("TZ_RACECHECK") != NULL},
        {"STATIC_RADIUS", s->static_radius},
        {"STRADDLE_Y", planes_straddles(s, problem)},
        {"REST_X", (int)(problem->elements[0] % s->vector)},
        {"NARROW_X", problem->elements[0] <= s->radius_rows || problem->elements[0] < s->vector},
    };
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        tz_cuda_emit(t, "#define TZ_%s %d\n", numbers[k].name, numbers[k].value);
}

static void emit_versions(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s)
{
    for (int k = 0; k < s->versions_count; k++) {
        const planes_version *v = &s->versions[k];
        tz_cuda_emit(
            t,
            "struct v_%s_%d {\n  typedef %s type;\n  enum { PLANES = %d, RADIUS = %d, FIRST = %d, "
            "LAST = %d, SLOTS = %d, FIRST_SLOT = %d, SHARED = %" PRId64
            ", BELOW = %d, ABOVE = %d, ROWS_BELOW = %d, ARRIVES = %d, LAG = %d, "
            "SKIP_LOW = %d, SKIP_HIGH = %d };\n};\n",
            name_of(problem, v->field), v->number, type_of(problem, v->field),
            v->planes > 0 ? v->planes : 1, v->radius, v->carried ? s->rows : v->first,
            v->carried ? s->rows : v->last, v->slots > 0 ? v->slots : 1, v->first_slot, v->shared,
            v->below, v->above, v->rows_below, v->number == 0, v->lag, v->skip_low, v->skip_high);
    }
}

/* Sums of planes, as versions of no field. */
static void emit_sums(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s)
{
    for (int k = 0; k < s->passes_count; k++) {
        const planes_pass *pass = &s->passes[k];
        if (pass->words > 0)
            tz_cuda_emit(
                t,
                "struct v_sums_%d {\n  typedef pass_%d::planes_%s type;\n  enum { PLANES = "
                "%d, BELOW = %d, ABOVE = %d, ROWS_BELOW = 0 };\n};\n",
                k, pass->pass, problem->stencil->passes[pass->pass].text_cell, 2 * pass->radius + 1,
                pass->radius, pass->radius);
    }
}

/* The columns of a row j, 0 being the lane's first row, that the lane's cells read; bit 0 is the
 * column `radius` to the west of the lane's first. */
static uint32_t needed(const planes_scheme *s, const planes_pass *pass, int field, int dz, int j)
{
    uint32_t columns = 0;
    for (int row = 0; row < s->rows; row++) {
        const uint32_t reads =
            planes_row(s, pass, field, dz, j - row) >> (TZ_RADIUS_MAX - pass->radius);
        for (int e = 0; e < s->vector; e++)
            columns |= reads << e;
    }
    return columns & ((1u << (s->vector + 2 * pass->radius)) - 1u);
}

/* The rows that a level reads of its fields: those of a lane, or those around it. */
static void emit_rows(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s, int k,
                      bool around)
{
    const planes_pass *pass = &s->passes[k];
    const int r = pass->radius;
    tz_cuda_emit(t, "#define TZ_%s_%d(D)", around ? "AROUND" : "OWN", k);
    for (int f = 0; f < problem->stencil->fields_count; f++)
        for (int dz = -r; dz <= r && pass->reads[f] >= 0 && s->ringed >> f & 1; dz++) {
            const planes_version *v = &s->versions[pass->reads[f]];
            uint32_t others = 0;
            for (int dy = -r; dy <= r; dy++)
                others |= dy != 0 ? planes_row(s, pass, f, dz, dy) : 0;
            for (int j = -r; j < s->rows + r; j++) {
                const uint32_t columns = needed(s, pass, f, dz, j);
                if (columns && around == (j < 0 || j >= s->rows))
                    tz_cuda_emit(t, " \\\n    D(%d, %s, %d, %d, %d, 0x%xu, %d, %d, %d)", k,
                                 name_of(problem, f), v->number, planes_age(pass, v) - dz, j,
                                 columns, others != 0, dz + r, j + r);
            }
        }
    tz_cuda_emit(t, "\n");
}

static void emit_level(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s, int k)
{
    const planes_pass *pass = &s->passes[k];
    const tz_stencil *stencil = problem->stencil;
    tz_cuda_emit(t, "#define TZ_READS_%d(D)", k);
    for (int f = 0; f < stencil->fields_count; f++)
        if (s->ringed >> f & 1)
            tz_cuda_emit(t, " \\\n    D(%d, %d, %s, %s)", k, pass->radius, name_of(problem, f),
                         type_of(problem, f));
    tz_cuda_emit(t, "\n#define TZ_CARRIES_%d(D)", k);
    for (int f = 0; f < stencil->fields_count; f++)
        if (s->carried >> f & 1) {
            const planes_version *v = &s->versions[pass->reads[f]];
            const bool read = planes_row(s, pass, f, 0, 0) != 0;
            tz_cuda_emit(t, " \\\n    D(%d, %s, %s, %d, %d, %s)", k, name_of(problem, f),
                         type_of(problem, f), v->number, read ? planes_age(pass, v) : 0,
                         !read                                 ? "absent"
                         : v->held && planes_age(pass, v) == 0 ? "arrived"
                         : v->planes > 0                       ? "ring"
                                                               : "shared");
        }
    tz_cuda_emit(t, "\n");
    emit_rows(t, problem, s, k, true);
    emit_rows(t, problem, s, k, false);
    tz_cuda_emit(t, "#define TZ_CONTEXT_%d(D)", k);
    for (int f = 0; f < stencil->fields_count; f++) {
        const bool written = pass->writes[f] >= 0;
        if (stencil->fields[f].role == TZ_DERIVED)
            continue;
        tz_cuda_emit(t, " \\\n    D(%s, %s, %s, %d, %d, %s%s)", kind_of(s, f), name_of(problem, f),
                     type_of(problem, f), f, k, written ? name_of(problem, f) : "nullptr",
                     written ? "_next" : "");
    }
    tz_cuda_emit(t, "\n#define TZ_MAKES_%d(D)", k);
    for (int f = 0; f < stencil->fields_count; f++)
        if (pass->writes[f] >= 0) {
            const planes_version *v = &s->versions[pass->writes[f]];
            tz_cuda_emit(t, " \\\n    D(%s, %s, %d, %d, %d, %d, %d, %d)", name_of(problem, f),
                         type_of(problem, f), f, v->number, v->lag, v->planes > 0, v->slots > 0,
                         v->result);
        }
    tz_cuda_emit(t, "\n");
}

static void emit_around(tz_cuda_text *t, const planes_scheme *s, int k)
{
    tz_cuda_emit(t, " \\\n    AROUND(%d, %d, %d)", k, s->passes[k].radius, s->passes[k].waits);
}

/* What a step does, in order. Rows are read early where a compiler would not move the reads before
 * the rows that a level leaves for other warps. */
static void emit_step(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s)
{
    tz_cuda_emit(t, "#define TZ_LEVELS %d\n#define TZ_LEVEL_LIST(AROUND, LEVEL)", s->passes_count);
    emit_around(t, s, 0);
    for (int k = 0; k < s->passes_count; k++) {
        const planes_pass *pass = &s->passes[k];
        const bool more = k + 1 < s->passes_count, early = more && s->passes[k + 1].early;
        if (early)
            emit_around(t, s, k + 1);
        tz_cuda_emit(t, " \\\n    LEVEL(%d, %d, %s, %d, %d, %d, %d, %d, %d)", k, pass->pass,
                     problem->stencil->passes[pass->pass].text_cell, pass->iteration, pass->lag,
                     pass->rest_low, pass->rest_high, pass->radius, pass->words > 0);
        if (more && !early)
            emit_around(t, s, k + 1);
    }
    tz_cuda_emit(t, "\n");
}

static void emit_rings(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s)
{
    tz_cuda_emit(t, "#define TZ_RING_LIST(D)");
    for (int k = 0; k < s->versions_count; k++) {
        const planes_version *v = &s->versions[k];
        if (v->planes > 0)
            tz_cuda_emit(t, " \\\n    D(%s, %s, %d, %d)", name_of(problem, v->field),
                         type_of(problem, v->field), v->number, v->planes);
    }
    for (int carried = 0; carried < 2; carried++) {
        tz_cuda_emit(t, "\n#define %s(D)", carried ? "TZ_CARRIED_LIST" : "TZ_LOADED_LIST");
        for (int k = 0; k < s->versions_count; k++) {
            const planes_version *v = &s->versions[k];
            if (v->number == 0 && v->oldest >= 0 && v->carried == (carried > 0))
                tz_cuda_emit(t, " \\\n    D(%s, %s, %d)", name_of(problem, v->field),
                             type_of(problem, v->field), v->field);
        }
    }
    tz_cuda_emit(t, "\n#define TZ_SUM_LIST(D)");
    for (int k = 0; k < s->passes_count; k++) {
        const planes_pass *pass = &s->passes[k];
        if (pass->words > 0)
            tz_cuda_emit(t, " \\\n    D(%d, %d, %s, %d)", k, pass->pass,
                         problem->stencil->passes[pass->pass].text_cell, 2 * pass->radius + 1);
    }
    tz_cuda_emit(t, "\n#define TZ_SLOT_LIST(D)");
    for (int k = 0, first = 0; k < s->slots_count; first += s->slots[k++])
        tz_cuda_emit(t, " \\\n    D(%d, %d)", first, s->slots[k]);
    tz_cuda_emit(t, "\n");
}

void planes_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                      const tz_plan *plan)
{
    const tz_stencil *stencil = problem->stencil;
    planes_scheme *s = planes_scheme_make(problem, limits, plan);
    if (!s) {
        t->failed = true;
        return;
    }
    tz_cuda_emit_sizes(t, problem, plan->height, plan->tile);
    tz_cuda_emit_lists(t, problem);
    for (int f = 0; f < stencil->fields_count; f++)
        if (planes_streamed(s) >> f & 1)
            tz_cuda_emit(t, "#undef TZ__KIND_%s\n#define TZ__KIND_%s %s\n", name_of(problem, f),
                         name_of(problem, f), kind_of(s, f));
    emit_numbers(t, problem, plan, s);
    emit_rings(t, problem, s);
    emit_step(t, problem, s);
    for (int k = 0; k < s->passes_count; k++)
        emit_level(t, problem, s, k);
    tz_cuda_emit(t, "#include \"planes.cuh\"\n");
    emit_versions(t, problem, s);
    for (int p = 0; p < stencil->passes_count; p++)
        tz_cuda_emit_pass(t, problem, p);
    emit_sums(t, problem, s);
    tz_cuda_emit(t, "#include \"planes_kernel.cuh\"\n");
    free(s);
}
