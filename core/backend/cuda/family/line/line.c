/* The stream family in one dimension: strips in registers, a warp each (kernels/cuda/line.cuh). */
#include "backend/cuda/family/work.h"
#include "backend/host/store.h"
#include "base/minmax.h"
#include "model/constants.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    UNROLLED = 4, /* iterations of a loop body without streamed rows */
    HEIGHT_MAX = 512,
    VECTOR_MAX = 32,
    WARPS_MAX = 16,
    AHEAD_MAX = 16,
};

/* Elements of a packet: 16 bytes of the widest values. */
static int line_packet(const tz_problem *problem)
{
    int words = 1;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        words = tz_max_int(words, tz_cuda_value_words(problem, f));
    return 4 / words;
}

/* The columns to each side of those that are stored that each version of the fields must have
 * right, from the last pass back to what is loaded. A mirror at one side reads as far to the
 * other. */
static void ghosts_of(const tz_problem *problem, int height, int64_t sides[2])
{
    const tz_stencil *s = problem->stencil;
    int64_t need[TZ_FIELDS_MAX][2] = {{0}}, loaded[2] = {0, 0};
    for (int l = height * s->passes_count - 1; l >= 0; l--) {
        const tz_pass *pass = &s->passes[l % s->passes_count];
        int64_t of[2] = {0, 0}, next[TZ_FIELDS_MAX][2] = {{0}};
        for (int f = 0; f < s->fields_count; f++)
            for (int side = 0; side < 2 && pass->writes >> f & 1; side++)
                of[side] = need[f][side] > of[side] ? need[f][side] : of[side];
        for (int f = 0; f < s->fields_count; f++) {
            const tz_reads reads = tz_stencil_reads(s, pass, f);
            const bool state = s->fields[f].role == TZ_STATE;
            int64_t read[2] = {-reads.low[0], reads.high[0]};
            for (int side = 0; side < 2; side++)
                if (state && tz_boundary_reflects(problem->boundary[0][side]) &&
                    read[side] > read[1 - side])
                    read[1 - side] = read[side];
            for (int side = 0; side < 2; side++) {
                const int64_t kept = pass->writes >> f & 1 ? 0 : need[f][side];
                next[f][side] = of[side] + read[side] > kept ? of[side] + read[side] : kept;
                if (next[f][side] > loaded[side] && (!state || l == 0))
                    loaded[side] = next[f][side];
            }
        }
        memcpy(need, next, sizeof need);
    }
    for (int side = 0; side < 2; side++) {
        const int packet = line_packet(problem);
        sides[side] = (loaded[side] + packet - 1) / packet * packet;
    }
}

/* Columns that a strip loses at its low (0) or high (1) end, rounded up to packets; 2: at both. */
static int64_t line_ghost(const tz_problem *problem, int height, int side)
{
    int64_t sides[2];
    ghosts_of(problem, height, sides);
    return side < 2 ? sides[side] : sides[0] + sides[1];
}

static int registers_of(const tz_problem *problem, int vector, int ahead)
{
    const tz_stencil *s = problem->stencil;
    const int packets = vector / line_packet(problem);
    int registers = problem->bits ? 2 * TZ_FIT_LINE_REGISTERS_OWN : TZ_FIT_LINE_REGISTERS_OWN,
        widest = 0;
    for (int f = 0; f < s->fields_count; f++) {
        const tz_field *field = &s->fields[f];
        const int words = tz_cuda_value_words(problem, f);
        registers += words * vector;
        if (field->role == TZ_STATE && tz_problem_written(problem) >> f & 1)
            registers += words * vector;
        if (field->role == TZ_STATIC)
            registers += words * packets * 2 * field->radius;
        if (field->role == TZ_STREAMED)
            registers += (ahead - 1) * vector;
    }
    for (int p = 0; p < s->passes_count; p++) {
        int window = 0;
        for (int f = 0; f < s->fields_count; f++)
            if (s->fields[f].role == TZ_STATE)
                window += tz_cuda_value_words(problem, f) * packets * 2 * s->passes[p].radius;
        widest = window > widest ? window : widest;
    }
    return registers + widest;
}

/* Registers of a thread if a multiprocessor runs so many blocks. A single one leaves some for what
 * registers_of does not count. */
static int registers_room(int warps, int blocks)
{
    const int all = 65536 / (32 * warps * blocks), room = blocks > 1 ? all / 8 * 8 : all - 8;
    return room < TZ_FIT_LINE_REGISTERS_MAX ? room : TZ_FIT_LINE_REGISTERS_MAX;
}

/* Blocks that a multiprocessor must hold. This limits the registers that the compiler allocates:
 * code for the grid's ends keeps more addresses than the other code needs. */
static int choose_blocks(const tz_problem *problem, const tz_plan *plan)
{
    const int registers = registers_of(problem, plan->vector, plan->ahead);
    const int blocks = 65536 / (32 * plan->warps * ((registers + 7) / 8 * 8));
    const int most = 48 / plan->warps;
    return blocks < 1 ? 1 : blocks > most ? most : blocks;
}

/* Does the boundary read other columns of a strip? These must then be in shared memory. */
static bool line_staged(const tz_problem *problem)
{
    bool reads = false;
    for (int high = 0; high < 2; high++)
        reads = reads || tz_boundary_repeats(problem->boundary[0][high]) ||
                tz_boundary_reflects(problem->boundary[0][high]);
    return !problem->bits && reads;
}

static int staging_bytes(const tz_problem *problem, const tz_plan *plan)
{
    return line_staged(problem) ? 32 * plan->vector * (16 / line_packet(problem)) : 0;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static int64_t useful_columns(const tz_problem *problem, int vector, int height)
{
    return 32 * (int64_t)vector - line_ghost(problem, height, 2);
}

/* Elements a lane: as many as registers allow at good occupancy. More, if less than three quarters
 * of a strip are useful. */
static int choose_vector(const tz_problem *problem, const tz_plan *plan)
{
    const int packet = line_packet(problem), room = registers_room(plan->warps, 1);
    const int64_t tile = plan->tile[0] > 0 ? plan->tile[0] : packet;
    int vector = packet > 4 ? packet : 4;
    for (int next = 2 * vector; next <= VECTOR_MAX; next *= 2) {
        const int registers = registers_of(problem, next, plan->ahead);
        const int64_t useful = useful_columns(problem, vector, plan->height);
        const bool must = useful < tile;
        const bool pays = 4 * useful < 3 * 32 * vector;
        const bool good = next * (4 / packet) <= 8 && registers <= TZ_FIT_LINE_REGISTERS_GOOD &&
                          plan->tile[0] == 0;
        if (!(good || must ||
              (pays && plan->tile[0] == 0 && registers <= TZ_FIT_LINE_REGISTERS_GOOD)) ||
            registers > room)
            break;
        vector = next;
    }
    return vector;
}

static tz_status check_numbers(const tz_problem *problem, const tz_plan *plan, tz_error *error)
{
    const int packet = line_packet(problem);
    if (plan->ahead < 0 || plan->ahead > AHEAD_MAX)
        return tz_error_set(error, TZ_RANGE, "ahead", "%d rows ahead are out of range; 1 to %d",
                            plan->ahead, AHEAD_MAX);
    if (plan->ahead > 0 && !tz_cuda_fields_of_role(problem, TZ_STREAMED))
        return tz_error_set(error, TZ_UNSUPPORTED, "plan",
                            "'%s' has no streamed field, so there is nothing to load ahead",
                            problem->stencil->id);
    if (plan->warps < 0 || plan->warps > WARPS_MAX)
        return tz_error_set(error, TZ_RANGE, "warps", "%d warps are out of range; 1 to %d",
                            plan->warps, WARPS_MAX);
    if (plan->blocks < 0 || plan->blocks > 32)
        return tz_error_set(error, TZ_RANGE, "blocks", "%d blocks are out of range; 1 to 32",
                            plan->blocks);
    if (plan->vector < 0 || plan->vector > VECTOR_MAX || plan->vector % packet != 0)
        return tz_error_set(error, TZ_RANGE, "vector",
                            "a lane holds a multiple of %d elements, at most %d, not %d", packet,
                            VECTOR_MAX, plan->vector);
    return TZ_OK;
}

/* The largest height whose ghost zone leaves `useful` columns of a strip. */
static int height_max(const tz_problem *problem, int vector, int64_t useful)
{
    int height = 0;
    while (height < HEIGHT_MAX && useful_columns(problem, vector, height + 1) >= useful)
        height++;
    return height;
}

static tz_status line_plan(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                           tz_error *error)
{
    (void)limits;
    const tz_status status = check_numbers(problem, plan, error);
    if (status)
        return status;
    const int packet = line_packet(problem);
    const int reach = tz_stencil_reach(problem->stencil);
    const int64_t row = (problem->elements[0] + packet - 1) / packet * packet;
    if (plan->height == 0)
        plan->height = reach > 20 ? 1 : 20 / (reach > 0 ? reach : 1);
    if (plan->ahead == 0 && tz_cuda_fields_of_role(problem, TZ_STREAMED))
        plan->ahead = 4;
    if (plan->warps == 0)
        plan->warps = 4;
    plan->tile[1] = plan->tile[2] = 1;
    plan->tile[0] = (plan->tile[0] + packet - 1) / packet * packet;
    plan->tile[0] = plan->tile[0] > row ? row : plan->tile[0];
    if (plan->vector == 0)
        plan->vector = choose_vector(problem, plan);
    const int64_t wanted = plan->tile[0] > 0 ? plan->tile[0] : packet;
    const int registers = registers_of(problem, plan->vector, plan->ahead);
    const int blocks = plan->blocks > 0 ? plan->blocks : 1;
    if (registers > registers_room(plan->warps, blocks))
        return tz_error_set(error, TZ_RANGE, "vector",
                            "%d elements a lane need about %d registers, and a thread of %d warps "
                            "has %d: use a smaller vector, fewer rows ahead or fewer warps",
                            plan->vector, registers, plan->warps * blocks,
                            registers_room(plan->warps, blocks));
    if (plan->blocks == 0)
        plan->blocks = choose_blocks(problem, plan);
    if (useful_columns(problem, plan->vector, plan->height) < wanted)
        return tz_error_set(error, TZ_RANGE, "height",
                            "height %d leaves no tile of %" PRId64 " in a strip of %d: use a "
                            "height up to %d, or a smaller tile",
                            plan->height, wanted, 32 * plan->vector,
                            height_max(problem, plan->vector, wanted));
    if (plan->tile[0] == 0) {
        plan->tile[0] = useful_columns(problem, plan->vector, plan->height);
        plan->tile[0] = plan->tile[0] > row ? row : plan->tile[0];
    }
    return TZ_OK;
}

static int line_shared_bytes(const tz_problem *problem, const tz_limits *limits,
                             const tz_plan *plan)
{
    (void)limits;
    return plan->warps * staging_bytes(problem, plan);
}

static tz_status line_shape(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                            int blocks, int64_t length, tz_cuda_shape *shape, tz_error *error)
{
    (void)blocks;
    (void)error;
    const int64_t columns = plan->tile[0] * plan->warps;
    *shape = (tz_cuda_shape){
        .grid = {(int)((length + columns - 1) / columns), 1, 1},
        .threads = 32 * plan->warps,
        .shared_bytes = line_shared_bytes(problem, limits, plan),
    };
    return TZ_OK;
}

/* ---- The device text ------------------------------------------------------------------------ */

static void line_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                           const tz_plan *plan)
{
    (void)limits;
    const tz_stencil *s = problem->stencil;
    const int64_t of_block = plan->tile[0] * plan->warps + 32 * plan->vector;
    tz_cuda_emit_sizes(t, problem, plan->height, plan->tile);
    tz_cuda_emit_lists(t, problem);
    for (int f = 0; f < s->fields_count; f++)
        tz_cuda_emit(t, "#define TZ__RADIUS_%s %d\n", tz_text_field(s, f), s->fields[f].radius);
    tz_cuda_emit(
        t,
        "#define TZ_VECTOR %d\n#define TZ_PACKET %d\n#define TZ_GHOST_LOW %" PRId64
        "\n#define TZ_GHOST_HIGH %" PRId64 "\n"
        "#define TZ_GROUP %d\n#define TZ_WARPS %d\n#define TZ_THREADS %d\n"
        "#define TZ_BLOCKS %d\n#define TZ_STAGED %d\n#define TZ_SHORT %d\n#include \"line.cuh\"\n",
        plan->vector, line_packet(problem), line_ghost(problem, plan->height, 0),
        line_ghost(problem, plan->height, 1), plan->ahead > 0 ? plan->ahead : UNROLLED, plan->warps,
        32 * plan->warps, plan->blocks, line_staged(problem) ? 16 / line_packet(problem) : 0,
        problem->elements[0] < of_block);
    for (int p = 0; p < s->passes_count; p++)
        tz_cuda_emit_pass(t, problem, p);
    tz_cuda_emit(t, "#include \"line_kernel.cuh\"\n");
}

/* ---- The planner ---------------------------------------------------------------------------- */

/* A loop of fewer instructions is not a loop over iterations. */
#define INSTRUCTIONS_LEAST 8.0

static double line_steps(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                         const tz_cuda_loop *loop)
{
    (void)limits;
    if (loop->parent >= 0 || tz_work_mix_sum(&loop->way) < INSTRUCTIONS_LEAST ||
        (tz_stencil_reach(problem->stencil) > 0 && loop->way.of[TZ_WORK_SHUFFLE] == 0.0))
        return 0.0;
    return plan->ahead > 0 ? plan->ahead : UNROLLED;
}

/* Of one iteration: the loop is as long at all heights. */
static double line_updates(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan)
{
    (void)problem;
    (void)limits;
    return plan->vector;
}

static void line_parts(const tz_cuda_code *code, tz_cuda_steps *out)
{
    tz_cuda_take_ends(code, TZ_FIT_DIVERGED, out);
}

static void line_estimate(const tz_cuda_draft *draft, tz_cuda_estimate *out)
{
    const tz_problem *problem = draft->problem;
    const tz_stencil *s = problem->stencil;
    double *of = out->step.of;
    out->updates = draft->plan->vector;
    for (int f = 0; f < s->fields_count; f++) {
        const int words = tz_cuda_value_words(problem, f);
        const bool streamed = s->fields[f].role == TZ_STREAMED;
        for (int p = 0; p < s->passes_count; p++) {
            const tz_reads reads = tz_stencil_reads(s, &s->passes[p], f);
            of[TZ_WORK_SHUFFLE] += words * (reads.high[0] - reads.low[0]);
        }
        of[TZ_WORK_READ] += streamed * ceil(words * out->updates / 4.0);
    }
    out->wavefronts = of[TZ_WORK_READ];
    of[TZ_WORK_CONTROL] = 1.0;
    out->unroll = draft->plan->ahead > 0 ? draft->plan->ahead : UNROLLED;
    out->registers = registers_of(problem, draft->plan->vector, draft->plan->ahead);
}

static void line_work(const tz_cuda_job *job, tz_model_work *out)
{
    const tz_problem *problem = job->problem;
    const tz_plan *plan = job->plan;
    const tz_cuda_bytes bytes = tz_cuda_bytes_of(problem);
    const double warps = plan->warps, strip = 32.0 * plan->vector;
    const double blocks = out->blocks, border = fmin(blocks, 2.0);
    tz_cuda_add_part(out, "inner", &job->steps->inner, (blocks - border) * warps, plan->height);
    tz_cuda_add_part(out, "border", &job->steps->side, border * warps, plan->height);
    out->redundancy =
        tz_cuda_count_redundancy(out, strip, tz_cuda_elements_of(problem) * plan->height);
    const double loaded =
        blocks * warps * strip * (bytes.state + bytes.fixed + bytes.streamed * plan->height);
    out->ghost_bytes = fmax(0.0, loaded - out->read_bytes);
    out->ahead_bytes = plan->ahead * strip * bytes.streamed;
    out->streamed_bytes = tz_cuda_elements_of(problem) * plan->height * bytes.streamed;
    for (int p = 0; p < out->parts_count; p++) {
        out->parts[p].bytes = strip * bytes.streamed;
        out->parts[p].late = 0.0;
    }
}

static void line_candidates(tz_cuda_plans *plans)
{
    static const tz_cuda_variant wide[] = {{.vector = 16}};
    tz_cuda_plans_add_heights(plans, 64, wide, 1);
}

static const tz_cuda_planner line_planner = {
    .steps = line_steps,
    .updates = line_updates,
    .estimate = line_estimate,
    .parts = line_parts,
    .work = line_work,
    .candidates = line_candidates,
};

const tz_cuda_family tz_cuda_family_line = {
    .name = "stream",
    .doc = "strips in registers, a warp each; streamed rows are loaded ahead",
    .dims_low = 1,
    .dims_high = 1,
    .height_max = HEIGHT_MAX,
    .stored = true,
    .plan = line_plan,
    .emit = line_text_emit,
    .shared_bytes = line_shared_bytes,
    .shape = line_shape,
    .planner = &line_planner,
};
