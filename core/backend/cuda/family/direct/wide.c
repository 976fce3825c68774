/* The wide form of the direct family (kernels/cuda/direct_wide.cuh), in 3-D: lanes have several
 * columns and keep planes of them in registers. Where cells read far along the axes, as wide stars
 * do, this is the fastest kernel of height 1, but it takes a compiler long. For direct.c.
 *
 * plan.tile: columns of a block (32*vector), its rows (warps), and the planes of a chunk (0: chosen
 * at launch). plan.ahead: planes of a lane's own columns that are loaded before the step that needs
 * them. */
#include "backend/cuda/family/direct/wide.h"

#include "backend/cuda/family/work.h"
#include "backend/host/store.h"
#include "model/constants.h"
#include "stencil/footprint.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WARPS = 4,
    WARPS_MAX = 32, /* of a multiprocessor: more do not load faster */
    REGISTERS_ALL = 65536,
};

/* What the pass reads. */
typedef struct wide_design {
    const tz_problem *problem;
    int vector, ahead;
    int reach; /* largest distance */
    int below[TZ_AXES], above[TZ_AXES];
    tz_footprint footprint;
} wide_design;

/* ---- What the pass reads --------------------------------------------------------------------- */

static void wide_design_make(wide_design *d, const tz_problem *problem, const tz_plan *plan)
{
    const tz_pass *pass = &problem->stencil->passes[0];
    *d = (wide_design){
        .problem = problem, .vector = plan->vector, .ahead = plan->ahead, .reach = pass->radius};
    tz_footprint_probe(problem, pass, &d->footprint);
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const tz_reads reads = tz_stencil_reads(problem->stencil, pass, f);
        for (int axis = 0; axis < TZ_AXES; axis++) {
            d->below[axis] = d->below[axis] > -reads.low[axis] ? d->below[axis] : -reads.low[axis];
            d->above[axis] = d->above[axis] > reads.high[axis] ? d->above[axis] : reads.high[axis];
        }
    }
}

/* The columns of a row that the cells of a lane read: bit `reach` is the lane's first own
 * column. */
static uint32_t wide_columns(const wide_design *d, int field, int dz, int dy)
{
    const uint32_t reads =
        tz_footprint_row(&d->footprint, field, dz, dy) >> (TZ_RADIUS_MAX - d->reach);
    uint32_t columns = 0;
    for (int e = 0; e < d->vector; e++)
        columns |= reads << e;
    return columns;
}

/* The planes in which a field is read in the lane's own row. False: none. */
static bool wide_queue(const wide_design *d, int field, int *low, int *high)
{
    *low = INT_MAX;
    *high = INT_MIN;
    for (int dz = -d->reach; dz <= d->reach; dz++)
        if (wide_columns(d, field, dz, 0)) {
            *low = *low < dz ? *low : dz;
            *high = dz;
        }
    return *low <= *high;
}

/* The mask of the fields that the kernel stores: of those that the pass writes, all but the handed
 * ones. */
static uint32_t wide_stored(const tz_problem *problem)
{
    uint32_t stored = tz_problem_written(problem);
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (tz_cuda_taken(problem, f) >= 0)
            stored &= ~(UINT32_C(1) << f);
    return stored;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static int wide_warps(const tz_plan *plan)
{
    return plan->warps > 0 ? plan->warps : WARPS;
}

/* Accesses of 16 bytes of the widest field, or fewer columns where a row is short. */
int tz__direct_wide_vector(const tz_problem *problem)
{
    int size = 4, vector = 4;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (tz_problem_element_size(problem, f) > 4)
            size = 8;
    while (vector > 1 && (vector * size > 16 || 16 * vector >= problem->elements[0]))
        vector /= 2;
    return vector;
}

static tz_status check_numbers(const tz_plan *plan, tz_error *error)
{
    if (plan->vector != 1 && plan->vector != 2 && plan->vector != 4)
        return tz_error_set(error, TZ_RANGE, "vector", "vector is %d; use 1, 2 or 4", plan->vector);
    if (plan->warps < 1 || plan->warps > 32)
        return tz_error_set(error, TZ_RANGE, "warps", "warps is %d; use 1 to 32", plan->warps);
    if (plan->blocks < 0 || plan->blocks > 16 || plan->blocks * plan->warps > 64)
        return tz_error_set(error, TZ_RANGE, "blocks",
                            "blocks is %d; use 1 to 16, with at most 64 warps in all",
                            plan->blocks);
    if (plan->ahead < 0 || plan->ahead > 4)
        return tz_error_set(error, TZ_RANGE, "ahead", "ahead is %d; use 0 to 4", plan->ahead);
    return TZ_OK;
}

/* Registers that a thread would use, from the packets that a step holds: within 8 of NVRTC's for
 * stars. */
static int estimate_registers(const tz_problem *problem, const tz_plan *plan)
{
    const tz_stencil *s = problem->stencil;
    wide_design d;
    wide_design_make(&d, problem, plan);
    double words = TZ_FIT_DIRECT_REGISTERS_OTHER;
    for (int f = 0; f < s->fields_count; f++) {
        const double packet = (double)tz_cuda_value_words(problem, f) * plan->vector;
        const uint32_t own = ((1u << d.vector) - 1u) << d.reach;
        int low, high;
        if (wide_queue(&d, f, &low, &high))
            words += packet * (high - low + 1 + d.ahead);
        for (int dz = -d.reach; dz <= d.reach; dz++)
            for (int dy = -d.reach; dy <= d.reach; dy++) {
                const uint32_t columns = wide_columns(&d, f, dz, dy);
                words += packet * ((columns & ((1u << d.reach) - 1u)) != 0) +
                         packet * ((columns & own) != 0 && dy != 0) +
                         packet * (columns >> (d.reach + d.vector) != 0);
            }
    }
    return (int)words;
}

/* As many blocks as leave all registers. Where a step loads everything at once, two spilt words
 * cost more than a block: on an H100 10 to 15 % of the time. */
static int choose_blocks(const tz_problem *problem, const tz_plan *plan)
{
    const int wanted = estimate_registers(problem, plan);
    const int blocks = REGISTERS_ALL / (32 * plan->warps * wanted);
    const int most = WARPS_MAX / plan->warps;
    return blocks < 1 ? 1 : blocks > most && most > 0 ? most : blocks;
}

static tz_status wide_plan(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                           tz_error *error)
{
    (void)limits;
    const tz_plan given = *plan;
    for (int k = 1; k <= 4 && plan->vector == 0; k *= 2)
        if (plan->tile[0] == 32 * k)
            plan->vector = k;
    if (plan->vector == 0)
        plan->vector = tz__direct_wide_vector(problem);
    if (plan->height == 0)
        plan->height = 1;
    if (plan->warps == 0)
        plan->warps = plan->tile[1] > 0 && plan->tile[1] <= 32 ? (int)plan->tile[1] : WARPS;
    const tz_status status = check_numbers(plan, error);
    if (status)
        return status;
    if (plan->blocks == 0)
        plan->blocks = choose_blocks(problem, plan);
    const int64_t tile[] = {32 * plan->vector, plan->warps};
    for (int axis = 0; axis < 2; axis++) {
        if (given.tile[axis] != 0 && given.tile[axis] != tile[axis])
            return tz_error_set(error, TZ_RANGE, "tile",
                                "a block of the family direct has 32, 64 or 128 columns (32 times "
                                "'vector') and as many rows as 'warps', so this one is %" PRId64
                                " x %" PRId64,
                                tile[0], tile[1]);
        plan->tile[axis] = tile[axis];
    }
    if (plan->tile[2] < 0 || plan->tile[2] > 1 << 20)
        return tz_error_set(error, TZ_RANGE, "tile", "a chunk has 1 to %d planes, not %" PRId64,
                            1 << 20, plan->tile[2]);
    return TZ_OK;
}

static tz_status wide_shape(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                            int blocks_each, int64_t length, tz_cuda_shape *shape, tz_error *error)
{
    (void)limits;
    (void)blocks_each;
    const int64_t wide = (problem->elements[0] + plan->tile[0] - 1) / plan->tile[0];
    const int64_t high = (problem->elements[1] + plan->tile[1] - 1) / plan->tile[1];
    const int64_t chunk = plan->tile[2] > 0 ? plan->tile[2] : TZ_FIT_DIRECT_CHUNK;
    const int64_t blocks = wide * high * ((length + chunk - 1) / chunk);
    if (blocks > INT32_MAX)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "%" PRId64 " blocks are more than a GPU takes: use larger ones",
                            blocks);
    *shape = (tz_cuda_shape){.grid = {(int)blocks, 1, 1},
                             .threads = 32 * wide_warps(plan),
                             .geometry = {(int)chunk, (int)wide, (int)high}};
    return TZ_OK;
}

/* ---- The device text ------------------------------------------------------------------------- */

static void emit_lists(tz_cuda_text *t, const wide_design *d)
{
    const tz_stencil *s = d->problem->stencil;
    int low, high;
    tz_cuda_emit(t, "#define TZ_QUEUE_LIST(D)");
    for (int f = 0; f < s->fields_count; f++)
        if (wide_queue(d, f, &low, &high))
            tz_cuda_emit(t, " \\\n    D(%s, %s, %d, %d, %d)", tz_text_field(s, f),
                         tz_type_keyword(s->fields[f].type), f, low, high + d->ahead);
    for (int own = 1; own >= 0; own--) {
        tz_cuda_emit(t, "\n#define TZ_%s_LIST(D)", own ? "OWN" : "ROW");
        for (int f = 0; f < s->fields_count; f++)
            for (int dz = -d->reach; dz <= d->reach; dz++)
                for (int dy = -d->reach; dy <= d->reach; dy++) {
                    const uint32_t columns = wide_columns(d, f, dz, dy);
                    if (!columns || own != (dy == 0))
                        continue;
                    tz_cuda_emit(t, " \\\n    D(%s, %s, %d, %d, ", tz_text_field(s, f),
                                 tz_type_keyword(s->fields[f].type), f, dz);
                    if (own && wide_queue(d, f, &low, &high))
                        tz_cuda_emit(t, "0x%xu, %d)", columns, low);
                    else
                        tz_cuda_emit(t, "%d, 0x%xu)", dy, columns);
                }
    }
    tz_cuda_emit(t, "\n#define TZ_STORED_LIST(D)");
    for (int f = 0; f < s->fields_count; f++)
        if (wide_stored(d->problem) >> f & 1)
            tz_cuda_emit(t, " \\\n    D(%s, %s, %d)", tz_text_field(s, f),
                         tz_type_keyword(s->fields[f].type), f);
    tz_cuda_emit(t, "\n");
}

static void wide_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                           const tz_plan *plan)
{
    (void)limits;
    wide_design d;
    wide_design_make(&d, problem, plan);
    tz_cuda_emit_sizes(t, problem, 1, plan->tile);
    tz_cuda_emit_lists(t, problem);
    emit_lists(t, &d);
    tz_cuda_emit(
        t,
        "#define TZ_VECTOR %d\n#define TZ_WARPS %d\n#define TZ_BLOCKS %d\n#define TZ_REACH "
        "%d\n#define TZ_REST_X %d\n",
        plan->vector, plan->warps, plan->blocks, d.reach,
        (int)(problem->elements[0] % plan->vector));
    d.above[2] += d.ahead;
    bool is_short = false;
    for (int axis = 0; axis < TZ_AXES; axis++)
        is_short = is_short || problem->elements[axis] <= d.below[axis] ||
                   problem->elements[axis] <= d.above[axis];
    tz_cuda_emit(t, "#define TZ_SHORT %d\n", is_short);
    if (problem->one_copy)
        tz_cuda_emit(t, "#define TZ_ONE_COPY\n");
    for (int axis = 0; axis < TZ_AXES; axis++)
        tz_cuda_emit(t, "#define TZ_BELOW_%c %d\n#define TZ_ABOVE_%c %d\n", "XYZ"[axis],
                     d.below[axis], "XYZ"[axis], d.above[axis]);
    tz_cuda_emit(t, "#include \"direct_wide.cuh\"\n");
    tz_cuda_emit_pass(t, problem, 0);
    tz_cuda_emit(t, "#include \"direct_wide_kernel.cuh\"\n");
}

/* ---- The loops of a kernel ------------------------------------------------------------------- */

/* Two loops store to memory: that of inner blocks and that of blocks at the border. */
static double wide_steps(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                         const tz_cuda_loop *loop)
{
    (void)limits;
    return tz_cuda_stored_steps(problem, wide_stored(problem), plan->vector, loop);
}

static void wide_parts(const tz_cuda_code *code, tz_cuda_steps *out)
{
    tz_cuda_take_ends(code, 0.0, out);
    out->inner.waits = out->side.waits = 1.0; /* all loads of a step are under way together */
}

static void wide_estimate(const tz_cuda_draft *draft, tz_cuda_estimate *out)
{
    const tz_problem *problem = draft->problem;
    wide_design d;
    wide_design_make(&d, problem, draft->plan);
    double *of = out->step.of;
    const uint32_t own = ((1u << d.vector) - 1u) << d.reach;
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const double words = (double)tz_problem_element_size(problem, f) / 4.0;
        const double packets = ceil(words * d.vector / 4.0);
        int low, high;
        double rows = wide_queue(&d, f, &low, &high), sides = 0.0;
        for (int dz = -d.reach; dz <= d.reach; dz++)
            for (int dy = -d.reach; dy <= d.reach; dy++) {
                const uint32_t columns = wide_columns(&d, f, dz, dy);
                rows += dy != 0 && (columns & own);
                sides += __builtin_popcount(columns & ~own);
            }
        const double stored = wide_stored(problem) >> f & 1;
        of[TZ_WORK_READ] += rows * packets + sides;
        of[TZ_WORK_WRITE] += stored * packets;
        out->wavefronts += (rows + stored) * words * d.vector + sides * words;
        of[TZ_WORK_MOVE] += packets * d.vector;
    }
    of[TZ_WORK_INTEGER] = TZ_FIT_ESTIMATE_WIDE_ADDRESSES * (of[TZ_WORK_READ] + of[TZ_WORK_WRITE]);
    out->updates = d.vector;
    out->waits = 1.0;
    out->registers = estimate_registers(problem, draft->plan);
}

/* ---- A stage --------------------------------------------------------------------------------- */

/* Bytes that a step of a warp loads from the second-level cache: of its own row, and its share of
 * the rows above and below the block and of the packets at its sides. Other loads hit the first
 * level. */
static double loaded_bytes(const wide_design *d, const tz_plan *plan)
{
    double bytes = 0.0;
    for (int f = 0; f < d->problem->stencil->fields_count; f++) {
        double sides = 0.0, rows = 0.0;
        bool read = false;
        for (int dz = -d->reach; dz <= d->reach; dz++)
            for (int dy = -d->reach; dy <= d->reach; dy++) {
                const uint32_t columns = wide_columns(d, f, dz, dy);
                const uint32_t own = ((1u << d->vector) - 1u) << d->reach;
                read = read || columns;
                rows = fmax(rows, columns ? abs(dy) : 0);
                sides = columns & ~own ? 1.0 : sides;
            }
        bytes +=
            (double)tz_problem_element_size(d->problem, f) * read *
            (32.0 * d->vector * (1.0 + 2.0 * rows / wide_warps(plan)) + 2.0 * sides * d->vector);
    }
    return bytes;
}

static void wide_work(const tz_cuda_job *job, tz_model_work *out)
{
    const tz_problem *problem = job->problem;
    const int *geometry = job->shape->geometry;
    const double chunk = geometry[0], wide = geometry[1], high = geometry[2];
    const double planes = (double)problem->elements[2], chunks = ceil(planes / chunk);
    wide_design d;
    wide_design_make(&d, problem, job->plan);
    const double inner_x = fmax(0.0, wide - (d.below[0] > 0) - (d.above[0] > 0));
    const double inner_y = fmax(0.0, high - (d.below[1] > 0) - (d.above[1] > 0));
    const double inner_z = fmax(0.0, chunks - (d.below[2] > 0) - (d.above[2] > 0));
    const double inner = inner_x * inner_y * inner_z, all = wide * high * chunks;
    const double warps = wide_warps(job->plan), steps = planes / chunks;
    tz_cuda_add_part(out, "inner", &job->steps->inner, inner * warps, steps);
    tz_cuda_add_part(out, inner > 0.0 ? "border" : "all", &job->steps->side, (all - inner) * warps,
                     steps);
    const double loaded = loaded_bytes(&d, job->plan), ghosts = d.below[2] + d.above[2];
    /* If all blocks of a layer run at once, the next layer finds the planes between them in
     * cache. */
    const double at_once = (double)job->limits->multiprocessors * fmax(1.0, job->blocks);
    const double later = fmax(0.0, 1.0 - at_once / (wide * high));
    out->streams = out->marches = true;
    out->redundancy = 1.0;
    tz_cuda_count_ghosts(out, loaded, ghosts, later * ghosts / fmin(chunk, planes));
    for (int p = 0; p < out->parts_count; p++)
        out->parts[p].bytes = loaded;
    out->ahead_bytes = job->plan->ahead * loaded;
    const double written = out->write_bytes / tz_cuda_bytes_of(problem).written;
    const uint32_t handed = tz_problem_written(problem) & ~wide_stored(problem);
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (handed >> f & 1)
            out->write_bytes -= written * (double)tz_problem_element_size(problem, f);
}

static const tz_cuda_planner wide_planner = {
    .steps = wide_steps,
    .estimate = wide_estimate,
    .parts = wide_parts,
    .work = wide_work,
};

const tz_cuda_family tz__direct_wide = {
    .name = "direct",
    .dims_low = 3,
    .dims_high = 3,
    .no_bits = "has fields of bits, which lanes of the family direct with a 'vector' do not read",
    .no_passes = "has several passes, of which the family direct with a 'vector' has one",
    .no_streamed = "has streamed fields, which are for 1-D grids",
    .stored = true,
    .once = true,
    .plan = wide_plan,
    .emit = wide_text_emit,
    .shape = wide_shape,
    .planner = &wide_planner,
};
