/* The direct family (kernels/cuda/direct.cuh): every stencil, one pass of an iteration a launch.
 * Each cell loads its neighbours where it needs them: there is no ghost zone to compute, and little
 * text to compile. Plans that no better family takes are of this one; with a `vector` they have the
 * wide form (wide.c).
 *
 * plan.tile: columns of a block; in 3-D its rows; on the last axis the cells of a lane (0: chosen
 * at launch). plan.unroll: cells that a lane loads at once. plan.lean is 1: all cells are computed
 * as those at the border, one at a time, and reads call functions; a run begins with it while the
 * rest is compiled. */
#include "backend/cuda/family/direct/wide.h"
#include "backend/host/store.h"
#include "base/minmax.h"
#include "model/constants.h"
#include "stencil/footprint.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = 128, /* warps of a block end at different times; in small blocks few wait for one */
    THREADS_MAX = 1024,
    WIDTH = 64, /* columns of a block in 3-D */
    UNROLL = 2,
    UNROLL_MAX = 8,
    UNROLL_FIELDS = 4,      /* with more fields, a cell has enough to load */
    READS_MANY = 16,        /* of each field */
    THREADS_AT_ONCE = 1024, /* of a multiprocessor, so that loads of one pass others' time */
    TEXT_LONG = 3000,       /* bytes of a pass */
    TEXT_CALLS = 4000,
    TEXT_LEAN = 1500,
    FUSED_MOST = 2200, /* bytes of a pass, times how often it is computed again */
    CHUNK_MAX = 1 << 20,
    BLOCKS_MAX = 65535, /* along y and z */
};

/* ---- What passes read ------------------------------------------------------------------------ */

/* How far a pass reads at most: what its text declares. Of `fields` alone. */
static tz_reach reach_of(const tz_problem *problem, int pass, uint32_t fields)
{
    const tz_stencil *s = problem->stencil;
    tz_reach reach = {{0}, {0}};
    for (int f = 0; f < s->fields_count; f++) {
        const tz_reads reads = tz_stencil_reads(s, &s->passes[pass], f);
        for (int axis = 0; axis < TZ_AXES && fields >> f & 1; axis++) {
            reach.low[axis] = tz_max_int(reach.low[axis], -reads.low[axis]);
            reach.high[axis] = tz_max_int(reach.high[axis], reads.high[axis]);
        }
    }
    return reach;
}

/* Bytes of the text of a pass. A file may have several updates. */
static size_t length_of(const tz_pass *pass)
{
    char begin[128];
    snprintf(begin, sizeof begin, "(%s", pass->text_cell);
    const char *at = pass->text, *next = NULL;
    while ((at = strstr(at, "TZ_CELL")) && strncmp(at + strcspn(at, "("), begin, strlen(begin)))
        at++;
    next = at ? strstr(at + 1, "TZ_CELL") : NULL;
    return next ? (size_t)(next - at) : strlen(at ? at : pass->text);
}

/* In 3-D many warps are at the ends of rows. If no value replaces what is past these, such warps
 * need no code of their own, in launches that compute two passes. */
static bool has_beside(const tz_problem *problem)
{
    return problem->dims > 2 && !tz_boundary_has_value(problem->boundary[0][0]) &&
           !tz_boundary_has_value(problem->boundary[0][1]);
}

/* Does one launch compute both passes of an iteration (direct_fused.cuh)? The first one is computed
 * again at each place that the second one reads, which must take less than to store it and to read
 * it again. */
static bool direct_fuses(const tz_problem *problem)
{
    const tz_stencil *s = problem->stencil;
    if (s->passes_count != 2 || problem->bits || problem->points || problem->one_copy ||
        tz_cuda_fields_of_role(problem, TZ_STREAMED) || (problem->dims > 2 && !has_beside(problem)))
        return false;
    const tz_reach reach = reach_of(problem, 1, s->passes[0].writes);
    int again = 0;
    for (int axis = 0; axis < TZ_AXES; axis++)
        again += reach.low[axis] + reach.high[axis];
    return again * length_of(&s->passes[0]) <= FUSED_MOST;
}

static int launches_of(const tz_problem *problem)
{
    return direct_fuses(problem) ? 1 : problem->stencil->passes_count;
}

/* How far a launch reads. */
static tz_reach direct_reach(const tz_problem *problem)
{
    const bool fused = direct_fuses(problem);
    tz_reach all = {{0}, {0}};
    for (int p = 0; p < problem->stencil->passes_count; p++) {
        const tz_reach reach = reach_of(problem, p, ~UINT32_C(0));
        for (int axis = 0; axis < TZ_AXES; axis++) {
            const int low = reach.low[axis], high = reach.high[axis];
            all.low[axis] = fused ? all.low[axis] + low : tz_max_int(all.low[axis], low);
            all.high[axis] = fused ? all.high[axis] + high : tz_max_int(all.high[axis], high);
        }
    }
    return all;
}

/* The places at which the second pass reads fields of the first one, without the cell's own:
 * `place(any, dx, dy, dz)` for each. */
static void each_place(const tz_problem *problem, void (*place)(void *, int, int, int), void *any)
{
    const tz_stencil *s = problem->stencil;
    const int r = s->passes[1].radius;
    tz_footprint reads;
    tz_footprint_probe(problem, &s->passes[1], &reads);
    for (int dz = -r; dz <= r; dz++)
        for (int dy = -r; dy <= r; dy++) {
            uint32_t row = 0;
            for (int f = 0; f < s->fields_count; f++)
                if (s->passes[0].writes >> f & 1)
                    row |= tz_footprint_row(&reads, f, dz, dy);
            for (int dx = -r; dx <= r; dx++)
                if (row >> (TZ_RADIUS_MAX + dx) & 1 && (dx || dy || dz))
                    place(any, dx, dy, dz);
        }
}

/* The fields that the launch of a pass stores: of those that it writes, all but the handed ones. */
static uint32_t stored_fields(const tz_problem *problem, int pass)
{
    uint32_t stored =
        direct_fuses(problem) ? tz_problem_written(problem) : problem->stencil->passes[pass].writes;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (tz_cuda_taken(problem, f) >= 0)
            stored &= ~(UINT32_C(1) << f);
    return stored;
}

/* The domain's field, if lanes end at once all of whose cells are outside of it; else -1. Parts of
 * a slab are launched one by one, and cells of one copy have moved. */
static int skipped_domain(const tz_problem *problem)
{
    return problem->slab.of || problem->one_copy ? -1 : tz_stencil_domain(problem->stencil);
}

/* Bytes of scratch memory before the notes of lanes that do so. */
static int64_t bytes_before_notes(const tz_problem *problem)
{
    return direct_fuses(problem)
               ? 0
               : (int64_t)tz_cuda_between(problem, problem->stencil->fields_count);
}

/* Bytes of an element in an iteration: those that its passes read and store; what a warp loads for
 * a cell of each lane, its share of the block's surroundings included; and how many elements are
 * read for each one that is loaded. */
typedef struct direct_bytes {
    double read, stored, loaded, times;
} direct_bytes;

static void add_field(direct_bytes *bytes, const tz_footprint *reads, int field, double size,
                      double rows)
{
    double above = 0.0, beside = 0.0, count = 0.0;
    for (int dz = -TZ_RADIUS_MAX; dz <= TZ_RADIUS_MAX; dz++)
        for (int dy = -TZ_RADIUS_MAX; dy <= TZ_RADIUS_MAX; dy++) {
            const uint32_t row = tz_footprint_row(reads, field, dz, dy);
            count += __builtin_popcount(row);
            above = row ? fmax(above, fabs((double)dy)) : above;
            beside = row & ~(UINT32_C(1) << TZ_RADIUS_MAX) ? 1.0 : beside;
        }
    if (count == 0.0)
        return;
    bytes->read += size;
    bytes->times += count;
    bytes->loaded += 32.0 * size * (1.0 + (rows > 0.0 ? 2.0 * above / rows : 0.0)) +
                     2.0 * TZ_CUDA_SECTOR_BYTES * beside;
}

/* Adds what the first pass reads at a place. */
typedef struct shifted {
    const tz_footprint *from;
    tz_footprint *to;
} shifted;
static void add_shifted(void *any, int dx, int dy, int dz)
{
    const shifted *s = any;
    const int r = TZ_RADIUS_MAX;
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        for (int z = -r; z <= r; z++)
            for (int y = -r; y <= r; y++) {
                const uint32_t row = tz_footprint_row(s->from, f, z, y);
                const bool held = abs(z + dz) <= r && abs(y + dy) <= r;
                if (row && held)
                    s->to->row[f][r + z + dz][r + y + dy] |= dx < 0 ? row >> -dx : row << dx;
            }
}

/* What the launch of a pass reads. */
static void launch_reads(const tz_problem *problem, int pass, tz_footprint *out)
{
    const tz_stencil *s = problem->stencil;
    tz_footprint_probe(problem, &s->passes[pass], out);
    if (!direct_fuses(problem))
        return;
    tz_footprint first;
    shifted s_first = {&first, out};
    tz_footprint_probe(problem, &s->passes[0], &first);
    for (int f = 0; f < s->fields_count; f++)
        if (s->passes[0].writes >> f & 1)
            memset(out->row[f], 0, sizeof out->row[f]);
    add_shifted(&s_first, 0, 0, 0);
    each_place(problem, add_shifted, &s_first);
}

/* `rows`: of a block in 3-D; else 0. */
static direct_bytes bytes_of(const tz_problem *problem, double rows)
{
    const tz_stencil *s = problem->stencil;
    direct_bytes bytes = {0};
    tz_footprint reads;
    double fields = 0.0;
    for (int p = s->passes_count - launches_of(problem); p < s->passes_count; p++) {
        launch_reads(problem, p, &reads);
        for (int f = 0; f < s->fields_count; f++) {
            const double size = (double)tz_problem_element_size(problem, f), before = bytes.read;
            add_field(&bytes, &reads, f, size, rows);
            fields += bytes.read > before;
            if (stored_fields(problem, p) >> f & 1)
                bytes.stored += size;
        }
    }
    bytes.times /= fmax(fields, 1.0);
    return bytes;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

/* Bytes of the longest text of a pass. */
static size_t longest_text(const tz_problem *problem)
{
    size_t most = 0;
    for (int p = 0; p < problem->stencil->passes_count; p++) {
        const size_t length = strlen(problem->stencil->passes[p].text);
        most = length > most ? length : most;
    }
    return most;
}

/* Does a cell compute so much that a compiler takes long? Then the text has it once. */
static bool is_long(const tz_problem *problem)
{
    return longest_text(problem) > TEXT_LONG;
}

/* Is the lean form compiled much sooner? */
static bool has_lean(const tz_problem *problem)
{
    return problem->dims > 2 || longest_text(problem) > TEXT_LEAN;
}

static int choose_unroll(const tz_problem *problem)
{
    const bool once = problem->stencil->fields_count > UNROLL_FIELDS || problem->bits;
    return once || is_long(problem) ? 1 : UNROLL;
}

/* Threads lie along the axes but the last one; in 1-D along that. */
static int64_t threads_of(const tz_problem *problem, const tz_plan *plan)
{
    return plan->tile[0] * (problem->dims > 2 ? plan->tile[1] : 1);
}

static tz_status check_numbers(const tz_problem *problem, const tz_plan *plan, tz_error *error)
{
    const int64_t threads = threads_of(problem, plan);
    if (plan->tile[0] % 32 != 0 || threads > THREADS_MAX)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "a block of the family direct has a multiple of 32 columns and at most "
                            "%d threads, not %" PRId64 " columns and %" PRId64 " threads",
                            THREADS_MAX, plan->tile[0], threads);
    if (plan->warps > 0 && plan->warps * 32 != threads)
        return tz_error_set(error, TZ_RANGE, "warps",
                            "a block of %" PRId64 " threads has %" PRId64
                            " warps, not %d: leave 'warps' or the tile out",
                            threads, threads / 32, plan->warps);
    if (plan->unroll > UNROLL_MAX)
        return tz_error_set(error, TZ_RANGE, "unroll", "unroll is %d; use 1 to %d", plan->unroll,
                            UNROLL_MAX);
    if (plan->blocks * threads > 2048)
        return tz_error_set(error, TZ_RANGE, "blocks",
                            "%d blocks of %" PRId64 " threads are more than a multiprocessor takes",
                            plan->blocks, threads);
    if (plan->ahead)
        return tz_error_set(error, TZ_UNSUPPORTED, "ahead",
                            "the family direct takes 'ahead' only with a 'vector'");
    return TZ_OK;
}

static void choose_tile(const tz_problem *problem, tz_plan *plan)
{
    const int64_t wanted = plan->warps > 0 ? 32 * plan->warps : THREADS;
    const int64_t row = (problem->elements[0] + 31) / 32 * 32;
    if (problem->dims > 2 && plan->tile[0] == 0)
        plan->tile[0] =
            tz_min(plan->tile[1] > 0 ? wanted / plan->tile[1] / 32 * 32 : WIDTH, wanted);
    else if (plan->tile[0] == 0)
        plan->tile[0] = problem->dims == 1 || plan->warps > 0 ? wanted : tz_min(wanted, row);
    plan->tile[0] = tz_max(plan->tile[0], 32);
    if (problem->dims > 2 && plan->tile[1] == 0)
        plan->tile[1] = tz_max(wanted / plan->tile[0], 1);
    for (int axis = problem->dims; axis < TZ_AXES; axis++)
        plan->tile[axis] = 1;
}

/* Blocks of a multiprocessor at once, which limits a thread's registers. With 27 points of two
 * fields, three blocks of 256 threads spill nothing, and the compiler chooses fewer. A cell of many
 * fields needs more registers: with nineteen, two are 1.3 times as fast, four 1.2 times. */
static int choose_blocks(const tz_problem *problem, const tz_plan *plan)
{
    int64_t words = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        words += (int64_t)tz_problem_computed_type(problem, f)->size / 4;
    const int64_t threads = words > TZ_FIT_DIRECT_WORDS_MANY  ? THREADS_AT_ONCE / 4
                            : words > TZ_FIT_DIRECT_WORDS_FEW ? THREADS_AT_ONCE / 2
                            : words > 1 && bytes_of(problem, 1.0).times > READS_MANY
                                ? THREADS_AT_ONCE * 3 / 4
                                : THREADS_AT_ONCE;
    return (int)tz_min(tz_max(threads / threads_of(problem, plan), 1), 32);
}

static tz_status wide_plan(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                           tz_error *error)
{
    const char *why = problem->dims < 3 ? "is not in 3-D, where the family direct has a 'vector'"
                                        : tz_cuda_refusal(&tz__direct_wide, problem);
    if (why)
        return tz_error_set(error, TZ_UNSUPPORTED, "vector", "'%s' %s: leave it out",
                            problem->stencil->id, why);
    if (plan->unroll || plan->lean)
        return tz_error_set(error, TZ_UNSUPPORTED, plan->lean ? "lean" : "unroll",
                            "the family direct takes no '%s' with a 'vector'",
                            plan->lean ? "lean" : "unroll");
    return tz__direct_wide.plan(problem, limits, plan, error);
}

static tz_status direct_plan(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                             tz_error *error)
{
    const int last = problem->dims - 1;
    if (plan->height == 0)
        plan->height = 1;
    if (plan->vector > 0)
        return wide_plan(problem, limits, plan, error);
    if (plan->lean == 1 && (plan->unroll > 1 || !has_lean(problem)))
        return tz_error_set(error, TZ_UNSUPPORTED, "lean",
                            plan->unroll > 1 ? "the lean form computes one cell at a time: leave "
                                               "'unroll' or 'lean' out"
                                             : "'%s' compiles at once: leave 'lean' out",
                            problem->stencil->id);
    if (plan->unroll == 0)
        plan->unroll = plan->lean == 1 ? 1 : choose_unroll(problem);
    if (last > 0 && plan->tile[last] > CHUNK_MAX)
        return tz_error_set(error, TZ_RANGE, "tile", "a lane has 1 to %d cells, not %" PRId64,
                            CHUNK_MAX, plan->tile[last]);
    tz_cuda_pairs pairs;
    tz_cuda_pairs_find(problem, &pairs);
    if (pairs.count > 0 && last > 0 && problem->elements[last] > BLOCKS_MAX)
        return tz_error_set(error, TZ_UNSUPPORTED, "copies",
                            "one copy of the fields is for up to %d cells along the last axis: "
                            "leave 'copies' out",
                            BLOCKS_MAX);
    choose_tile(problem, plan);
    const tz_status status = check_numbers(problem, plan, error);
    if (status)
        return status;
    plan->warps = (int)(threads_of(problem, plan) / 32);
    plan->blocks = plan->blocks > 0 ? plan->blocks : choose_blocks(problem, plan);
    return TZ_OK;
}

/* The wide form needs few loads for stars; for boxes it is not faster. */
static bool has_wide(const tz_problem *problem)
{
    return problem->dims == 3 && !tz_cuda_refusal(&tz__direct_wide, problem) &&
           !tz_stencil_reads_diagonals(problem->stencil);
}

/* The best family for height 1 in 3-D for stars, and for cells that read hardly more than one of
 * each field, of which nothing is loaded twice. */
static bool direct_claims(const tz_problem *problem, const tz_limits *limits, tz_plan *plan)
{
    if (plan->height != 1 || problem->dims != 3)
        return false;
    if (!plan->unroll && !plan->lean && has_wide(problem))
        return tz__direct_wide.plan(problem, limits, plan, NULL) == TZ_OK;
    return problem->stencil->fields_count > UNROLL_FIELDS && bytes_of(problem, 1.0).times < 1.25 &&
           direct_plan(problem, limits, plan, NULL) == TZ_OK;
}

static int direct_shared_bytes(const tz_problem *problem, const tz_limits *limits,
                               const tz_plan *plan)
{
    (void)problem;
    (void)limits;
    (void)plan;
    return 0;
}

/* Cells of a lane. Short chunks begin with rows that others have loaded just before; longer ones
 * pay where many are read along the last axis. */
static int64_t chunk_of(const tz_problem *problem, const tz_plan *plan)
{
    const int last = problem->dims - 1;
    const tz_reach reach = direct_reach(problem);
    const int along = reach.low[last] + reach.high[last];
    const int64_t least = last == 2 && along > 2 ? TZ_FIT_DIRECT_CELLS_FAR : TZ_FIT_DIRECT_CELLS;
    if (last > 0 && plan->tile[last] > 0)
        return plan->tile[last];
    return (least + plan->unroll - 1) / plan->unroll * plan->unroll;
}

static tz_status direct_shape(const tz_problem *problem, const tz_limits *limits,
                              const tz_plan *plan, int blocks_each, int64_t length,
                              tz_cuda_shape *shape, tz_error *error)
{
    if (plan->vector > 0)
        return tz__direct_wide.shape(problem, limits, plan, blocks_each, length, shape, error);
    const int last = problem->dims - 1;
    const int64_t threads = threads_of(problem, plan), rows = last > 1 ? plan->tile[1] : 1;
    const int64_t wide = last > 0 ? (problem->elements[0] + plan->tile[0] - 1) / plan->tile[0] : 1;
    const int64_t high = last > 1 ? (problem->elements[1] + rows - 1) / rows : 1;
    const int64_t steps = last > 0 ? length : (length + threads - 1) / threads;
    const int64_t most = last > 0 ? BLOCKS_MAX : INT32_MAX, least = (steps + most - 1) / most;
    const int64_t chunk = plan->tile[last] > 0 && last > 0 ? plan->tile[last]
                                                           : tz_max(chunk_of(problem, plan), least);
    const int64_t chunks = (steps + chunk - 1) / chunk;
    if (chunks > most || high > BLOCKS_MAX || chunk > CHUNK_MAX)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "%" PRId64
                            " blocks along an axis are more than a GPU takes: use larger "
                            "ones",
                            tz_max(chunks, high));
    *shape = (tz_cuda_shape){.grid = {(int)wide, (int)high, 1},
                             .threads = (int)threads,
                             .scratch_bytes = bytes_before_notes(problem),
                             .geometry = {(int)chunk}};
    shape->grid[last] = (int)chunks;
    if (skipped_domain(problem) >= 0)
        shape->scratch_bytes +=
            launches_of(problem) * threads * shape->grid[0] * shape->grid[1] * shape->grid[2];
    return TZ_OK;
}

/* A lane has one cell. */
static void direct_settle(const tz_problem *problem, tz_cuda_shape *shape)
{
    const int last = problem->dims - 1, each = last > 0 ? 1 : shape->threads;
    shape->grid[last] = (int)((problem->elements[last] + each - 1) / each);
    shape->geometry[0] = 1;
}

/* ---- The device text ------------------------------------------------------------------------- */

/* Does a read at the border call a function? At the ends of rows of bits it takes many
 * instructions. In 2-D few warps are at the border: very long texts are compiled sooner with
 * calls. */
static bool has_calls(const tz_problem *problem)
{
    return problem->bits || (problem->dims < 3 && longest_text(problem) > TEXT_CALLS);
}

static void emit_numbers(tz_cuda_text *t, const tz_problem *problem, const tz_plan *plan)
{
    const tz_reach reach = direct_reach(problem);
    const int64_t elements = tz_cuda_pitch(problem) * problem->elements[1] * problem->elements[2];
    const int64_t stride = problem->dims > 1 ? 1 : threads_of(problem, plan);
    bool is_short = false;
    /* The last step along the last axis may go past its end. */
    for (int axis = 0; axis < problem->dims; axis++) {
        const int64_t past = axis == problem->dims - 1 ? (plan->unroll - 1) * stride : 0;
        is_short = is_short || problem->elements[axis] <= reach.low[axis] ||
                   problem->elements[axis] <= reach.high[axis] + past;
    }
    const struct {
        const char *name;
        int value;
    } numbers[] = {
        {"LAUNCHES", launches_of(problem)},
        {"THREADS", (int)threads_of(problem, plan)},
        {"BLOCKS", plan->blocks},
        {"WIDE", (int)plan->tile[0]},
        {"CELLS", plan->unroll},
        {"LEAN", plan->lean == 1},
        {"CALLS", plan->lean == 1 || has_calls(problem)},
        {"SHORT", is_short},
        {"BESIDE", direct_fuses(problem) && has_beside(problem)},
    };
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        tz_cuda_emit(t, "#define TZ_%s %d\n", numbers[k].name, numbers[k].value);
    for (int axis = 0; axis < TZ_AXES; axis++)
        tz_cuda_emit(t, "#define TZ_BELOW_%c %d\n#define TZ_ABOVE_%c %d\n", "XYZ"[axis],
                     reach.low[axis], "XYZ"[axis], reach.high[axis]);
    tz_cuda_emit(t, "#define TZ_DOMAIN %d\n", skipped_domain(problem));
    tz_cuda_emit(t, "#define TZ_NOTES %" PRId64 "\n", bytes_before_notes(problem));
    tz_cuda_emit(t, "typedef %s tz_index;\n", elements <= INT32_MAX ? "int" : "long long");
}

typedef struct places {
    tz_cuda_text *text;
    int count;
} places;
static void emit_place(void *any, int dx, int dy, int dz)
{
    places *p = any;
    tz_cuda_emit(p->text, " \\\n    D(%d, %d, %d, %d)", p->count++, dx, dy, dz);
}

/* What the second pass needs to compute the first one. */
static void emit_fused(tz_cuda_text *t, const tz_problem *problem)
{
    const tz_stencil *s = problem->stencil;
    const uint32_t first = s->passes[0].writes;
    places p = {.text = t};
    tz_cuda_emit(t, "#define TZ_EARLIER %s\n#define TZ_PLACES(D)", s->passes[0].text_cell);
    emit_place(&p, 0, 0, 0);
    each_place(problem, emit_place, &p);
    tz_cuda_emit(t, "\n#define TZ_PLACES_COUNT %d\n", p.count);
    tz_cuda_emit_fields(t, problem, "TZ_KEPT", first & ~s->passes[1].writes);
    tz_cuda_emit(t, "#include \"direct_fused.cuh\"\n");
    for (int f = 0; f < s->fields_count; f++)
        if (first >> f & 1)
            tz_cuda_emit(t, "#undef TZ__KIND_%s\n#define TZ__KIND_%s earlier\n",
                         tz_text_field(s, f), tz_text_field(s, f));
}

static void emit_pairs(tz_cuda_text *t, const tz_problem *problem, const tz_cuda_pairs *pairs)
{
    const tz_stencil *s = problem->stencil;
    if (problem->one_copy)
        tz_cuda_emit(t, "#define TZ_ONE_COPY\n");
    tz_cuda_emit(t, "#define TZ_PAIRS %d\n#define TZ_PAIRED_LIST(D)", pairs->count > 0);
    for (int f = 0; f < s->fields_count; f++)
        if (pairs->partner[f] >= 0)
            tz_cuda_emit(t, " \\\n    D(%s, %s, %d, %d, %d, %d, %d)", tz_text_field(s, f),
                         tz_type_keyword(s->fields[f].type), f, pairs->partner[f],
                         pairs->offset[f][0], pairs->offset[f][1], pairs->offset[f][2]);
    tz_cuda_emit(t, "\n");
    for (int f = 0; f < s->fields_count; f++)
        if (pairs->partner[f] >= 0)
            tz_cuda_emit(t, "#define TZ__OFFSET_%s %d, %d, %d\n", tz_text_field(s, f),
                         pairs->offset[f][0], pairs->offset[f][1], pairs->offset[f][2]);
}

static void direct_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                             const tz_plan *plan)
{
    static const int64_t tile[TZ_AXES] = {1, 1, 1};
    const int passes = problem->stencil->passes_count;
    if (plan->vector > 0) {
        tz__direct_wide.emit(t, problem, limits, plan);
        return;
    }
    tz_cuda_emit_sizes(t, problem, 1, tile);
    tz_cuda_emit_lists(t, problem);
    tz_cuda_emit(t, "#define TZ_LAUNCH_LIST(D)");
    for (int p = passes - launches_of(problem); p < passes; p++)
        tz_cuda_emit(t, " \\\n    D(%d, %s, %d)", p, problem->stencil->passes[p].text_cell,
                     problem->stencil->passes[p].radius);
    tz_cuda_emit(t, "\n");
    tz_cuda_pairs pairs;
    tz_cuda_pairs_find(problem, &pairs);
    for (int p = passes - launches_of(problem); p < passes; p++) {
        char list[32];
        uint32_t stored = stored_fields(problem, p);
        for (int f = 0; f < problem->stencil->fields_count; f++)
            if (pairs.partner[f] >= 0)
                stored &= ~(UINT32_C(1) << f);
        snprintf(list, sizeof list, "TZ_STORES_%d", p);
        tz_cuda_emit_fields(t, problem, list, stored);
    }
    emit_numbers(t, problem, plan);
    emit_pairs(t, problem, &pairs);
    tz_cuda_emit(t, "#include \"direct.cuh\"\n");
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (pairs.partner[f] >= 0)
            tz_cuda_emit(t, "#undef TZ__KIND_%s\n#define TZ__KIND_%s paired\n",
                         tz_text_field(problem->stencil, f), tz_text_field(problem->stencil, f));
    for (int p = 0; p < passes; p++) {
        if (p > 0 && launches_of(problem) == 1)
            emit_fused(t, problem);
        tz_cuda_emit_pass(t, problem, p);
    }
    tz_cuda_emit(t, "#include \"direct_kernel.cuh\"\n");
}

/* ---- The planner ----------------------------------------------------------------------------- */

/* Loops that store are those over a lane's cells. */
static double direct_steps(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                           const tz_cuda_loop *loop)
{
    if (plan->vector > 0)
        return tz__direct_wide.planner->steps(problem, limits, plan, loop);
    return loop->parent < 0 && loop->stores > 0.0 ? plan->unroll : 0.0;
}

static void add_pass(tz_work_part *part, const tz_cuda_code *code, int loop)
{
    tz_work_part pass = {0};
    tz_cuda_take_loop(&pass, &code->mix->loops[code->at[loop]], code->steps[loop], 0.0,
                      code->lanes);
    if (part->loop_bytes == 0.0) {
        *part = pass;
        return;
    }
    tz_work_mix_add(&part->step, &pass.step, 1.0);
    tz_work_mix_add(&part->chain, &pass.chain, 1.0);
    tz_rounds_blend(&part->rounds, 1.0, &pass.rounds, 1.0);
    part->clocks += pass.clocks;
    part->spills += pass.spills;
    part->spilt_stores += pass.spilt_stores;
}

/* Is loop k of a pass's two, one after the other, the one of warps inside the grid? The other one
 * has more instructions, or calls functions, which load. */
static bool is_inner(const tz_cuda_code *code, int k)
{
    const tz_work_mix *one = &code->mix->loops[code->at[k]].way,
                      *other = &code->mix->loops[code->at[k ^ 1]].way;
    const double less = tz_work_mix_sum(other) - tz_work_mix_sum(one);
    const double own = one->of[TZ_WORK_READ], others = other->of[TZ_WORK_READ];
    if (own > 2.0 * others || others > 2.0 * own)
        return own > others;
    return less > 0.0 || (less == 0.0 && k % 2 == 0);
}

/* A step is one of each launch of an iteration. */
static void direct_parts(const tz_cuda_code *code, tz_cuda_steps *out)
{
    if (code->plan->vector > 0) {
        tz__direct_wide.planner->parts(code, out);
        return;
    }
    const int launches = launches_of(code->problem);
    for (int k = 0; k < code->count; k++)
        add_pass(code->count == 2 * launches && !is_inner(code, k) ? &out->side : &out->inner, code,
                 k);
    /* All loads of a step are under way together. */
    out->inner.waits = out->side.waits = (double)launches / code->plan->unroll;
}

/* Of the wide form: the kernel of the other one is the one that estimates start from. */
static void direct_estimate(const tz_cuda_draft *draft, tz_cuda_estimate *out)
{
    tz__direct_wide.planner->estimate(draft, out);
}

/* Warps that read inside the grid along an axis with n of them. */
static double inner_of(double n, int low, int high)
{
    return fmax(0.0, n - (low > 0) - (high > 0));
}

/* The work of one iteration. */
static void plain_work(const tz_cuda_job *job, tz_model_work *out)
{
    const tz_problem *problem = job->problem;
    const int last = problem->dims - 1, *geometry = job->shape->geometry;
    const double along = last > 0 ? 32.0 : job->shape->threads;
    const double length = ceil((double)problem->elements[last] / (last > 0 ? 1.0 : along));
    const double chunks = ceil(length / geometry[0]), steps = length / chunks;
    const tz_reach reach = direct_reach(problem);
    const double x = last > 0 ? ceil((double)problem->elements[0] / 32.0) : along / 32.0;
    const double y = last > 1 ? (double)problem->elements[1] : 1.0;
    double inner = inner_of(chunks, reach.low[last], reach.high[last]);
    const bool beside = direct_fuses(problem) && has_beside(problem);
    inner *= last > 0 && !beside ? inner_of(x, reach.low[0], reach.high[0]) : x;
    inner *= last > 1 ? inner_of(y, reach.low[1], reach.high[1]) : 1.0;
    if (job->plan->lean == 1)
        inner = x * y * chunks;
    tz_cuda_add_part(out, "inner", &job->steps->inner, inner, steps);
    tz_cuda_add_part(out, inner > 0.0 ? "border" : "all", &job->steps->side, x * y * chunks - inner,
                     steps);
    const direct_bytes bytes = bytes_of(problem, last > 1 ? (double)job->plan->tile[1] : 0.0);
    const double padded = (double)tz_cuda_pitch(problem) * (double)problem->elements[1] *
                          (double)problem->elements[2];
    out->read_bytes = padded * bytes.read;
    out->write_bytes = padded * bytes.stored;
    for (int p = 0; p < out->parts_count; p++)
        out->parts[p].bytes = bytes.loaded;
    const double before = reach.low[last] + reach.high[last];
    tz_cuda_count_ghosts(out, bytes.loaded, last > 0 ? before : 0.0, 0.0);
    out->redundancy = 1.0;
    out->streams = out->marches = true;
}

static void direct_work(const tz_cuda_job *job, tz_model_work *out)
{
    const double iterations = job->plan->height;
    if (job->plan->vector > 0)
        tz__direct_wide.planner->work(job, out);
    else
        plain_work(job, out);
    for (int p = 0; p < out->parts_count; p++)
        out->parts[p].steps *= iterations;
    out->read_bytes *= iterations;
    out->write_bytes *= iterations;
    out->ghost_bytes *= iterations;
    out->far_bytes *= iterations;
    out->stages_per_launch = 1.0 / (iterations * launches_of(job->problem));
}

/* Heights differ in launches alone. */
static void direct_candidates(tz_cuda_plans *plans)
{
    const int height = tz_max_int(plans->given->height, 1);
    tz_cuda_plans_add(plans, height, 0, 0);
    if (!plans->given->unroll && !plans->problem->bits && is_long(plans->problem) &&
        plans->problem->stencil->fields_count <= UNROLL_FIELDS) {
        tz_plan given = *plans->given;
        tz_cuda_plans more = *plans;
        given.unroll = UNROLL;
        more.given = &given;
        tz_cuda_plans_add(&more, height, 0, 0);
        plans->count = more.count;
    }
    if (has_wide(plans->problem)) {
        const int vector = tz__direct_wide_vector(plans->problem);
        tz_cuda_plans_add(plans, height, vector, 0);
        tz_cuda_plans_add(plans, height, vector, 8);
    }
}

static const tz_cuda_planner direct_planner = {
    .steps = direct_steps,
    .estimate = direct_estimate,
    .parts = direct_parts,
    .work = direct_work,
    .candidates = direct_candidates,
};

const tz_cuda_family tz_cuda_family_direct = {
    .name = "direct",
    .doc = "a pass a launch; cells load their neighbours where they need them",
    .dims_low = 1,
    .dims_high = 3,
    .own = {"unroll", "lean"},
    .apart = true,
    .points = true,
    .stored = true,
    .fuses = direct_fuses,
    .hands = true,
    .once = true,
    .settle = direct_settle,
    .warps = THREADS / 32,
    .plan = direct_plan,
    .claims = direct_claims,
    .emit = direct_text_emit,
    .shared_bytes = direct_shared_bytes,
    .shape = direct_shape,
    .planner = &direct_planner,
};
