/* The resident family: a grid that fits on chip stays there (kernels/cuda/resident.cuh). design.c
 * chooses the layout, text.c emits the kernel. */
#include "backend/cuda/family/family.h"
#include "backend/cuda/family/resident/design.h"
#include "backend/cuda/family/work.h"
#include "backend/host/store.h"
#include "model/constants.h"
#include "stencil/footprint.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Plans ----------------------------------------------------------------------------------- */

enum {
    SPAN = 16384, /* iterations of a launch: about 10 ms, so that a run can be interrupted */
    SPAN_BYTES_MAX = 64 << 20 /* of streamed rows */
};

static const char *resident_refuses(const tz_problem *problem)
{
    if (tz_resident_spare_bits(problem) > 0 && problem->elements[0] < tz_resident_radius(problem))
        return "has periodic rows of bits with fewer words than the radius, which cannot stay on "
               "chip";
    if (problem->bits && tz_cuda_edges(problem) > 1)
        return "has bits and boundary values that differ from side to side, which cannot stay on "
               "chip";
    return NULL;
}

static tz_status check_numbers(const tz_plan *plan, tz_error *error)
{
    if (plan->ahead || plan->blocks)
        return tz_error_set(error, TZ_UNSUPPORTED, "plan",
                            "grids that stay on chip take no 'ahead' or 'blocks'");
    if (plan->warps < 0 || plan->warps > 32)
        return tz_error_set(error, TZ_RANGE, "warps", "%d warps are out of range; 1 to 32",
                            plan->warps);
    if (plan->vector < 0 || plan->vector > TZ_RESIDENT_CELLS_MAX)
        return tz_error_set(error, TZ_RANGE, "vector", "a thread has 1 to %d cells a row, not %d",
                            TZ_RESIDENT_CELLS_MAX, plan->vector);
    return TZ_OK;
}

static tz_status cannot(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                        tz_error *error)
{
    tz_resident d;
    tz_plan lower = *plan;
    if (!error) /* skip the search that only the message needs */
        return TZ_RANGE;
    while (lower.height > 1) {
        lower.height--;
        if (tz_resident_design(problem, limits, &lower, &d))
            return tz_error_set(error, TZ_RANGE, "height",
                                "with height %d the grid and its ghost zones do not fit on chip: "
                                "use a height up to %d",
                                plan->height, lower.height);
    }
    const tz_plan free = {.height = plan->height};
    if (tz_resident_design(problem, limits, &free, &d))
        return tz_error_set(error, TZ_RANGE, "tile",
                            "the grid stays on chip, but not with this tile, vector and number of "
                            "warps: leave them out");
    return tz_error_set(error, TZ_RANGE, "family",
                        "%" PRId64 " x %" PRId64 " x %" PRId64 " cells do not stay on chip: use "
                        "another family or a smaller grid",
                        problem->extent[0], problem->extent[1], problem->extent[2]);
}

static tz_status resident_plan(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                               tz_error *error)
{
    tz_resident d;
    const tz_status status = check_numbers(plan, error);
    const bool chosen = plan->height == 0;
    if (status)
        return status;
    if (chosen)
        plan->height = tz_resident_height(problem, limits, plan);
    if (!tz_resident_design(problem, limits, plan, &d))
        return cannot(problem, limits, plan, error);
    for (int axis = 0; axis < TZ_AXES; axis++)
        plan->tile[axis] = (problem->elements[axis] + d.blocks[axis] - 1) / d.blocks[axis];
    plan->vector = d.cells[0];
    plan->warps = d.warps;
    plan->launch_iterations = SPAN;
    if (tz_cuda_fields_of_role(problem, TZ_STREAMED))
        plan->launch_iterations = (int)(SPAN_BYTES_MAX / (tz_cuda_pitch(problem) * 4));
    plan->launch_iterations = plan->launch_iterations < plan->height
                                  ? plan->height
                                  : plan->launch_iterations / plan->height * plan->height;
    snprintf(plan->why, sizeof plan->why,
             "%s height; %d x %d x %d blocks, bricks of %d x %d x %d cells in %s",
             chosen ? "default" : "given", d.blocks[0], d.blocks[1], d.blocks[2], d.cells[0],
             d.cells[1], d.cells[2], d.held ? "registers" : "shared memory");
    return TZ_OK;
}

/* A rule from measurements (docs/log/performance.md, "Small grids") for plans that name at most the
 * height. A grid in registers is nearly always faster on chip; a grid in shared memory only if few
 * words change. */
static bool resident_claims(const tz_problem *problem, const tz_limits *limits, tz_plan *plan)
{
    const tz_stencil *s = problem->stencil;
    if (plan->tile[0] || plan->tile[1] || plan->tile[2] || tz_plan_first_knob(plan) ||
        problem->dims < 2 || tz_cuda_fields_of_role(problem, TZ_STREAMED))
        return false;
    int64_t changed = 0;
    for (int f = 0; f < s->fields_count; f++) {
        if (tz_problem_written(problem) >> f & 1)
            changed += tz_problem_elements(problem) * 4 * tz_cuda_value_words(problem, f);
    }
    tz_resident design;
    if (resident_plan(problem, limits, plan, NULL) ||
        !tz_resident_design(problem, limits, plan, &design) ||
        tz_resident_is_lengthy(problem, &design))
        return false;
    const int64_t blocks = (int64_t)design.blocks[0] * design.blocks[1] * design.blocks[2];
    return design.held || changed <= blocks * TZ_FIT_RESIDENT_CHANGED_BYTES;
}

static int resident_shared(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan)
{
    tz_resident d;
    return tz_resident_design(problem, limits, plan, &d) ? d.shared_bytes : 0;
}

/* Slots for a word of all cells: a row has as many as its bricks have columns. */
static int64_t slots_of(const tz_problem *problem, const tz_resident *d)
{
    return tz_resident_slots_apart(problem, d) * d->cells[0] * problem->elements[1] *
           problem->elements[2];
}

static tz_status resident_shape(const tz_problem *problem, const tz_limits *limits,
                                const tz_plan *plan, int blocks_each, int64_t length,
                                tz_cuda_shape *shape, tz_error *error)
{
    (void)length; /* the family is whole */
    tz_resident d;
    if (!tz_resident_design(problem, limits, plan, &d))
        return cannot(problem, limits, plan, error);
    const int blocks = d.blocks[0] * d.blocks[1] * d.blocks[2];
    const int room = limits->multiprocessors * (blocks_each > 0 ? blocks_each : 1);
    if (blocks > room)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "the plan takes %d blocks at once and the GPU %d: use larger tiles or "
                            "another family",
                            blocks, room);
    *shape = (tz_cuda_shape){
        .grid = {d.blocks[0], d.blocks[1], d.blocks[2]},
        .threads = 32 * d.warps,
        .shared_bytes = d.shared_bytes,
        .scratch_bytes = d.ghost > 0 ? TZ_RESIDENT_TAGS_BYTES +
                                           16 * (int64_t)d.sent_words * slots_of(problem, &d)
                                     : TZ_RESIDENT_TAGS_BYTES,
        .cooperative = d.ghost > 0,
    };
    return TZ_OK;
}

/* ---- The device text ------------------------------------------------------------------------ */

/* How often an iteration writes a field to shared memory: at its start, and after each pass that
 * writes the field, except the last pass. */
static int count_publications(const tz_stencil *s, int f)
{
    int count = 1;
    for (int p = 0; p + 1 < s->passes_count; p++)
        count += s->passes[p].writes >> f & 1;
    return count;
}

/* Fields as a pass reads them. */
static void emit_views(tz_cuda_text *t, const tz_problem *problem, const tz_resident *d, int pass,
                       uint32_t fields)
{
    const tz_stencil *s = problem->stencil;
    for (int f = 0; f < s->fields_count; f++) {
        const bool turns = d->buffers > 1 && tz_problem_written(problem) >> f & 1;
        int before = 0;
        for (int p = 0; p < pass; p++)
            before += s->passes[p].writes >> f & 1;
        if (fields >> f & 1)
            tz_cuda_emit(t, " \\\n    D(%s, %s, %s, %d, %d, %d)", tz_role_name(s->fields[f].role),
                         tz_text_field(s, f), tz_type_keyword(s->fields[f].type), f,
                         turns ? count_publications(s, f) : 0, turns ? before : 0);
    }
    tz_cuda_emit(t, "\n");
}

static void emit_lists(tz_cuda_text *t, const tz_problem *problem, const tz_resident *d)
{
    const tz_stencil *s = problem->stencil;
    const uint32_t written = tz_problem_written(problem);
    uint32_t shared = 0;
    tz_cuda_emit(t, "#define TZ_SHARED_LIST(D)");
    for (int f = 0; f < s->fields_count; f++) {
        const bool is_shared = tz_resident_is_shared(problem, d, f);
        shared |= (uint32_t)is_shared << f;
        tz_cuda_emit(t, " \\\n    D(%s, %s, %s, %d, %d)", tz_role_name(s->fields[f].role),
                     tz_text_field(s, f), tz_type_keyword(s->fields[f].type), f,
                     is_shared ? tz_resident_shared_bytes(problem, d, f) : 0);
    }
    tz_cuda_emit(t, "\n#define TZ_PUBLISH_ONCE(D)");
    emit_views(t, problem, d, 0, shared & ~written);
    for (int p = 0; p < s->passes_count; p++) {
        tz_cuda_emit(t, "#define TZ_VIEW_%d(D)", p);
        emit_views(t, problem, d, p, ~0u);
        tz_cuda_emit(t, "#define TZ_PUBLISH_%d(D)", p);
        emit_views(t, problem, d, p, shared & (p == 0 ? written : s->passes[p - 1].writes));
    }
}

static void emit_exchanges(tz_cuda_text *t, const tz_problem *problem, const tz_resident *d)
{
    const tz_stencil *s = problem->stencil;
    const uint32_t written = tz_problem_written(problem);
    const int together = tz_resident_together(problem, d);
    int word = 0, count = 0;
    for (int f = 0; f < s->fields_count; f++)
        if (written >> f & 1) {
            if (count % together == 0)
                tz_cuda_emit(t, "\n#define TZ_EXCHANGE_%d(D)", count / together);
            tz_cuda_emit(t, " \\\n    D(%s, %s, %d)", tz_text_field(s, f),
                         tz_type_keyword(s->fields[f].type), word);
            word += tz_cuda_value_words(problem, f);
            count++;
        }
    tz_cuda_emit(t, "\n#define TZ_EXCHANGES(G)");
    for (int g = 0; g < d->groups; g++)
        tz_cuda_emit(t, " G(TZ_EXCHANGE_%d)", g);
    tz_cuda_emit(t, "\n#define TZ_EXCHANGE_LIST(D)");
    for (int g = 0; g < d->groups; g++)
        tz_cuda_emit(t, " TZ_EXCHANGE_%d(D)", g);
    tz_cuda_emit(t, "\n");
}

static void resident_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                               const tz_plan *plan)
{
    tz_resident d;
    if (!tz_resident_design(problem, limits, plan, &d))
        return;
    tz_cuda_emit_sizes(t, problem, plan->height, plan->tile);
    tz_cuda_emit_lists(t, problem);
    emit_lists(t, problem, &d);
    emit_exchanges(t, problem, &d);
    for (int axis = 0; axis < TZ_AXES; axis++)
        tz_cuda_emit(t,
                     "#define TZ_BLOCKS_%c %d\n#define TZ_V%c %d\n#define TZ_T%c %d\n"
                     "#define TZ_GRID_%c %d\n",
                     "XYZ"[axis], d.blocks[axis], "XYZ"[axis], d.cells[axis], "XYZ"[axis],
                     d.threads[axis], "XYZ"[axis], (int)problem -> elements[axis]);
    tz_cuda_emit(
        t,
        "#define TZ_SPLIT %d\n#define TZ_GHOST %d\n#define TZ_RADIUS %d\n#define TZ_RIM %d\n"
        "#define TZ_HELD %d\n#define TZ_BUFFERS %d\n#define TZ_THREADS %d\n"
        "#define TZ_PITCH %d\n#define TZ_SENT %d\n#define TZ_BATCH %d\n#define TZ_GATHER %d\n"
        "#define TZ_MASKED %d\n#define TZ_SPARE_BITS %d\n#include \"resident.cuh\"\n",
        d.ghost > 0, d.ghost, d.radius > 0 ? d.radius : 1, d.rim, d.held, d.buffers, 32 * d.warps,
        tz_resident_pitch(&d), d.sent_words, d.batch, d.gather, d.masked,
        tz_resident_spare_bits(problem));
    for (int p = 0; p < problem->stencil->passes_count; p++)
        tz_cuda_emit_pass(t, problem, p);
    tz_cuda_emit(t, "#include \"resident_kernel.cuh\"\n");
}

/* ---- The planner ---------------------------------------------------------------------------- */

/* ---- The loops of a kernel ------------------------------------------------------------------- */

static double resident_steps(const tz_problem *problem, const tz_limits *limits,
                             const tz_plan *plan, const tz_cuda_loop *loop)
{
    tz_resident d;
    if (loop->way.of[TZ_WORK_SHARED_WRITE] == 0.0 || loop->stores > 0.0 ||
        !tz_resident_design(problem, limits, plan, &d))
        return 0.0;
    return loop->way.of[TZ_WORK_BARRIER] / problem->stencil->passes_count /
           (d.buffers == 1 ? 2.0 : 1.0);
}

/* The cells of a brick, at each height. */
static double resident_updates(const tz_problem *problem, const tz_limits *limits,
                               const tz_plan *plan)
{
    tz_resident d;
    return tz_resident_design(problem, limits, plan, &d)
               ? (double)d.cells[0] * d.cells[1] * d.cells[2]
               : 1.0;
}

/* An exchange: the loop around the iterations, with its inner loops that wait for words. */
static void find_exchange(const tz_cuda_mix *mix, int inner, tz_cuda_steps *out)
{
    const int around = tz_cuda_outermost(mix, inner);
    int own = inner; /* its inner loop over iterations */
    memset(&out->end, 0, sizeof out->end);
    if (around == inner)
        return;
    while (mix->loops[own].parent != around)
        own = mix->loops[own].parent;
    tz_cuda_take_loop(&out->end, &mix->loops[around], 1.0, TZ_FIT_DIVERGED,
                      (tz_cuda_lanes){1.0, 1.0});
    for (int l = 0; l < mix->loops_count; l++)
        if (mix->loops[l].parent == around && l != own) {
            tz_work_mix_add(&out->end.step, &mix->loops[l].way, 1.0);
            out->end.clocks += mix->loops[l].clocks;
            tz_rounds_blend(&out->end.rounds, 1.0, &mix->loops[l].rounds, 1.0);
            out->end.once_waits += mix->loops[l].reads_words > 0.0;
        }
}

static void resident_parts(const tz_cuda_code *code, tz_cuda_steps *out)
{
    tz_cuda_take_ends(code, TZ_FIT_DIVERGED, out);
    find_exchange(code->mix, code->at[0], out);
}

/* Bricks in registers read other lanes' cells alone from shared memory. */
static void resident_estimate(const tz_cuda_draft *draft, tz_cuda_estimate *out)
{
    const tz_problem *problem = draft->problem;
    const tz_stencil *s = problem->stencil;
    tz_resident d;
    if (!tz_resident_design(problem, draft->limits, draft->plan, &d))
        return;
    double *of = out->step.of;
    out->updates = (double)d.cells[0] * d.cells[1] * d.cells[2];
    tz_footprint reads;
    for (int p = 0; p < s->passes_count; p++) {
        tz_footprint_probe(problem, &s->passes[p], &reads);
        for (int f = 0; f < s->fields_count; f++) {
            const int words = tz_cuda_value_words(problem, f);
            double count = 0.0;
            for (int dz = -TZ_RADIUS_MAX; dz <= TZ_RADIUS_MAX; dz++)
                for (int dy = -TZ_RADIUS_MAX; dy <= TZ_RADIUS_MAX; dy++)
                    count += __builtin_popcount(tz_footprint_row(&reads, f, dz, dy));
            of[TZ_WORK_SHARED_READ] += words * count * (d.held ? 1.0 : out->updates);
            of[TZ_WORK_SHARED_WRITE] += words * out->updates * (s->passes[p].writes >> f & 1);
        }
    }
    out->wavefronts = of[TZ_WORK_SHARED_READ] + of[TZ_WORK_SHARED_WRITE];
    of[TZ_WORK_BARRIER] = s->passes_count * (d.buffers == 1 ? 2.0 : 1.0);
    of[TZ_WORK_CONTROL] = out->updates;
    out->registers = d.registers;
}

/* ---- A stage --------------------------------------------------------------------------------- */

/* A step takes less time than the code tells if bricks are in registers. So it does if a tile has
 * rows, and no warp has parts of two of them. */
static void fit_step(const tz_resident *d, int dims, tz_work_part *part)
{
    const double share = (d->held ? TZ_FIT_RESIDENT_HELD : 1.0) *
                         (dims > 1 && d->threads[0] % 32 == 0 ? TZ_FIT_RESIDENT_WHOLE_ROWS : 1.0);
    const tz_rounds rounds = part->rounds;
    part->clocks *= share;
    tz_rounds_blend(&part->rounds, share, &rounds, 0.0);
}

static void resident_work(const tz_cuda_job *job, tz_model_work *out)
{
    const tz_problem *problem = job->problem;
    const tz_plan *plan = job->plan;
    const tz_cuda_bytes bytes = tz_cuda_bytes_of(problem);
    tz_resident d;
    if (!tz_resident_design(problem, job->limits, plan, &d))
        return;
    tz_work_part *part = &out->parts[out->parts_count++];
    *part = job->steps->inner;
    snprintf(part->name, sizeof part->name, "bricks");
    part->warps = out->blocks * d.warps;
    part->steps = plan->height;
    fit_step(&d, problem->dims, part);
    /* Each stage of a launch ends with an exchange; a launch loads and stores the grid once. */
    out->stages_per_launch = fmax(1.0, (double)plan->launch_iterations / plan->height);
    tz_work_mix once = part->once;
    memset(&part->once, 0, sizeof part->once);
    tz_work_mix_add(&part->once, &once, 1.0 / out->stages_per_launch);
    tz_resident_exchange e = {.sectors = 0.0};
    double share = 0.0;
    if (d.ghost > 0) {
        const double all = ceil((double)d.cells[0] * d.cells[1] * d.cells[2] / d.batch);
        tz_resident_count(problem, &d, &e);
        share = d.gather > 0 ? 1.0 : e.batches_mean / all;
        tz_work_mix_add(&part->once, &job->steps->end.step, share);
        tz_rounds_blend(&part->once_rounds, 0.0, &job->steps->end.rounds, share);
        share = d.gather > 0 ? 1.0 : e.batches_most / all;
    }
    part->once_clocks = TZ_FIT_RESIDENT_EXCHANGE_SHARE * share * job->steps->end.clocks +
                        part->once_clocks / out->stages_per_launch;
    /* The first batch of ghost cells is read again until all words have arrived. By then those
     * of the others have arrived, too, but each batch is requested only when the one before is
     * here. */
    out->syncs = d.ghost > 0 ? TZ_FIT_RESIDENT_SYNC : 0.0;
    const double batches = d.gather > 0
                               ? tz_resident_request_time(&d, &e) + TZ_FIT_RESIDENT_GATHERED_TIME
                               : d.groups * e.batches_most;
    part->once_waits = 1.0 + TZ_FIT_RESIDENT_BATCH * fmax(0.0, batches - 1.0);
    if (bytes.streamed > 0.0) {
        /* The next row is loaded when a step begins. */
        part->waits = 1.0;
        out->ahead_bytes = part->bytes;
    }
    double tile = 1.0, own = 1.0;
    for (int axis = 0; axis < problem->dims; axis++) {
        tile *= (double)d.cells[axis] * d.threads[axis];
        own *= (double)problem->elements[axis] / d.blocks[axis];
    }
    out->redundancy = fmax(1.0, tile / own);
    out->ghost_bytes = out->blocks * e.sectors * d.sent_words * TZ_CUDA_SECTOR_BYTES;
    out->slots_bytes = tz_resident_slots_bytes(problem, &d);
    out->read_bytes /= out->stages_per_launch;
    out->streamed_bytes = (double)tz_cuda_pitch(problem) * bytes.streamed * plan->height;
    out->read_bytes += out->streamed_bytes;
    out->write_bytes /= out->stages_per_launch;
    out->resident_bytes = 0.0;
}

/* ---- Candidates ------------------------------------------------------------------------------ */

/* False if the height does not fit. */
static bool add_candidate(tz_cuda_plans *plans, int height, int vector, int warps)
{
    tz_plan plan;
    tz_resident design;
    bool made;
    const bool taken = tz_cuda_plans_make(plans, height, vector, warps, &plan, &made);
    if (made && (plans->given->family[0] ||
                 !tz_resident_design(plans->problem, plans->limits, &plan, &design) ||
                 !tz_resident_is_lengthy(plans->problem, &design)))
        tz_cuda_plans_keep(plans, &plan);
    return taken;
}

/* The cheapest way to cut a grid by the costs of design.c is not always the fastest: the model
 * knows more of those for which there is a text. */
static void resident_candidates(tz_cuda_plans *plans)
{
    static const int heights[] = {1, 2, 4, 6, 8, 12, 16, 24};
    static const tz_cuda_variant others[] = {{1, 0}, {0, 8}, {0, 12}, {0, 16}, {1, 12}};
    for (int k = 0; k < 8; k++) {
        const int height = plans->given->height ? plans->given->height : heights[k];
        if (!add_candidate(plans, height, 0, 0) && k > 0)
            break;
        for (size_t n = 0; n < sizeof others / sizeof *others; n++)
            add_candidate(plans, height, others[n].vector, others[n].warps);
    }
}

static const tz_cuda_planner resident_planner = {
    .steps = resident_steps,
    .updates = resident_updates,
    .estimate = resident_estimate,
    .parts = resident_parts,
    .work = resident_work,
    .candidates = resident_candidates,
};

const tz_cuda_family tz_cuda_family_resident = {
    .name = "resident",
    .doc = "a small grid stays on chip; blocks hand each other their edges",
    .spans = true,
    .whole = true,
    .stored = true,
    .dims_low = 1,
    .dims_high = 3,
    .height_max = TZ_RESIDENT_HEIGHT_MAX,
    .refuses = resident_refuses,
    .plan = resident_plan,
    .claims = resident_claims,
    .emit = resident_text_emit,
    .shared_bytes = resident_shared,
    .shape = resident_shape,
    .planner = &resident_planner,
};
