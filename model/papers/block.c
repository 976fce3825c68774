/* The block family: a thread for each cell of a plane's tile, which marches along the last axis
 * (kernels/block.cuh): the kernel of Tabik and others. core/papers.c adds it to the families.
 *
 * A plan's tile is the block's shape, tile[0] x tile[1] threads, and in 3-D a chunk of tile[2]
 * planes. A chunk of 0 is chosen at launch, as are those of 1-D and 2-D. Planes are loaded `ahead`
 * steps before they are needed. */
#include "backend/cuda/family/work.h"
#include "base/embed.h"
#include "base/minmax.h"
#include "stencil/footprint.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

TZ_EMBED(tz_papers_text_block, "block.cuh");
TZ_EMBED(tz_papers_text_block_kernel, "block_kernel.cuh");

typedef struct block_field {
    bool read;     /* as a state or static field; streamed fields are read from memory */
    bool tiled;    /* beside the thread's own column */
    int low, high; /* planes of that column, relative to the cell's plane; low <= high if `read` */
    int shared;    /* byte at which its tiles begin */
} block_field;

typedef struct block_design {
    block_field fields[TZ_FIELDS_MAX];
    int tiled;           /* fields with tiles */
    int low[2], high[2]; /* the halo of all tiles along x and y; 0 or more */
    int below, above;    /* planes of tiles that are read: -below to above */
    bool corners;        /* of the halo are read */
    int x, y;            /* threads that have a cell */
    int threads;         /* x * y, rounded up to warps */
    int stride;          /* elements along the last axis of a step */
    int ahead;           /* steps before which planes are loaded */
    int span;            /* the most planes of a column that a step needs, but for one */
    int slots;           /* of a ring of tiles */
    int group;           /* steps of the unrolled loop */
    int64_t shared_bytes;
} block_design;

/* ---- The design of a kernel ----------------------------------------------------------------- */

enum { R = TZ_RADIUS_MAX };

/* The columns of a row that are read, as the lowest and highest offset. */
static void widen_columns(block_design *d, uint32_t row)
{
    for (int dx = -R; dx <= R; dx++)
        if (row >> (R + dx) & 1) {
            d->low[0] = tz_max_int(d->low[0], -dx);
            d->high[0] = tz_max_int(d->high[0], dx);
        }
}

/* What a pass reads of a field in plane dz. */
static void add_plane(block_design *d, block_field *field, const tz_footprint *reads, int f, int dz)
{
    bool beside = false;
    for (int dy = -R; dy <= R; dy++) {
        const uint32_t row = tz_footprint_row(reads, f, dz, dy), off_centre = row & ~(1u << R);
        if (row == 0 || (dy == 0 && off_centre == 0))
            continue;
        beside = true;
        widen_columns(d, row);
        d->low[1] = tz_max_int(d->low[1], -dy);
        d->high[1] = tz_max_int(d->high[1], dy);
        d->corners = d->corners || (dy != 0 && off_centre != 0);
    }
    const bool own = tz_footprint_row(reads, f, dz, 0) >> R & 1;
    if (beside) {
        field->tiled = true;
        d->below = tz_max_int(d->below, -dz);
        d->above = tz_max_int(d->above, dz);
    }
    if (!own && !beside)
        return;
    field->low = field->read ? tz_min_int(field->low, dz) : dz;
    field->high = field->read ? tz_max_int(field->high, dz) : dz;
    field->read = true;
}

/* A tile takes its middle from the queue. */
static void widen_queues(block_design *d, int fields)
{
    for (int f = 0; f < fields; f++) {
        block_field *field = &d->fields[f];
        if (field->tiled) {
            field->low = tz_min_int(field->low, -d->below);
            field->high = tz_max_int(field->high, d->above);
            d->tiled++;
        }
    }
}

/* `plan` has the block's shape in tile[0] and tile[1], and planes ahead. */
static void block_design_make(block_design *d, const tz_problem *problem, const tz_plan *plan)
{
    const tz_stencil *stencil = problem->stencil;
    tz_footprint reads;
    memset(d, 0, sizeof *d);
    tz_footprint_probe(problem, &stencil->passes[0], &reads);
    for (int f = 0; f < stencil->fields_count; f++)
        for (int dz = -R; dz <= R && stencil->fields[f].role != TZ_STREAMED; dz++)
            add_plane(d, &d->fields[f], &reads, f, dz);
    widen_queues(d, stencil->fields_count);
    d->x = (int)plan->tile[0];
    d->y = (int)plan->tile[1];
    d->threads = (d->x * d->y + 31) / 32 * 32;
    d->stride = problem->dims == 3 ? 1 : problem->dims == 2 ? d->y : d->x;
    d->ahead = plan->ahead > 0 ? plan->ahead : 1;
    d->slots = d->below + d->above + 2;
    const int64_t elements =
        (int64_t)d->slots * (d->x + d->low[0] + d->high[0]) * (d->y + d->low[1] + d->high[1]);
    for (int f = 0; f < stencil->fields_count; f++) {
        block_field *field = &d->fields[f];
        field->shared = (int)d->shared_bytes;
        if (field->tiled)
            d->shared_bytes +=
                (elements * (int64_t)tz_problem_element_size(problem, f) + 15) / 16 * 16;
        if (field->read)
            d->span = tz_max_int(d->span, field->high - field->low);
    }
    d->group = d->span + d->ahead + 1;
    if (d->tiled)
        d->group = (d->group + d->slots - 1) / d->slots * d->slots;
}

enum { THREADS_MIN = 32, THREADS_MAX = 1024, WIDTH = 32, PLANES_MAX = 1 << 20, AHEAD_MAX = 4 };

static const char *block_refuses(const tz_problem *problem)
{
    if (tz_cuda_pitch(problem) * problem->elements[1] > INT32_MAX)
        return "has planes of more than 2^31 cells on this grid, which blocks do not count";
    return NULL;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static tz_status check_numbers(const tz_problem *problem, const tz_plan *plan, tz_error *error)
{
    if (plan->height < 0 || plan->height > 1)
        return tz_error_set(error, TZ_RANGE, "height",
                            "a launch of blocks computes one iteration: use height 1, not %d",
                            plan->height);
    if (plan->vector)
        return tz_error_set(error, TZ_UNSUPPORTED, "plan", "blocks take no 'vector'");
    if (plan->ahead < 0 || plan->ahead > (problem->dims == 3 ? AHEAD_MAX : 1))
        return tz_error_set(error, TZ_RANGE, "ahead", "ahead is %d; use 1%s", plan->ahead,
                            problem->dims == 3 ? " to 4" : "");
    if (plan->blocks < 0 || plan->blocks > 32)
        return tz_error_set(error, TZ_RANGE, "blocks", "blocks is %d; use 1 to 32", plan->blocks);
    return TZ_OK;
}

/* Chooses the sides of the block that are not given. Large tiles have less halo: more rows, where
 * cells read far along y. */
static void choose_shape(const tz_problem *problem, tz_plan *plan)
{
    block_design d;
    tz_plan trial = *plan;
    const int threads = plan->warps > 0 ? 32 * plan->warps : 0;
    trial.tile[0] = trial.tile[1] = 1;
    block_design_make(&d, problem, &trial);
    const int wanted = threads > 0 ? threads : d.low[1] + d.high[1] >= 6 ? 512 : 256;
    if (problem->dims == 1)
        plan->tile[1] = 1;
    if (plan->tile[0] == 0) {
        const int64_t width = plan->tile[1] ? wanted / plan->tile[1] / WIDTH * WIDTH : WIDTH;
        plan->tile[0] = width > WIDTH ? width : WIDTH;
    }
    if (plan->tile[1] == 0)
        plan->tile[1] = wanted > plan->tile[0] ? wanted / plan->tile[0] : 1;
}

static tz_status block_plan(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                            tz_error *error)
{
    const tz_plan given = *plan;
    block_design d;
    const tz_status status = check_numbers(problem, plan, error);
    if (status)
        return status;
    plan->height = 1;
    plan->ahead = plan->ahead > 0 ? plan->ahead : 1;
    choose_shape(problem, plan);
    const int64_t threads = plan->tile[0] * plan->tile[1];
    if (threads < THREADS_MIN || threads > THREADS_MAX)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "a block of %" PRId64 " x %" PRId64 " has %" PRId64
                            " threads: use %d to %d",
                            plan->tile[0], plan->tile[1], threads, THREADS_MIN, THREADS_MAX);
    if (problem->dims < 3)
        plan->tile[2] = 1;
    else if (plan->tile[2] > problem->elements[2])
        plan->tile[2] = problem->elements[2];
    block_design_make(&d, problem, plan);
    while (d.shared_bytes > limits->shared_bytes && given.tile[1] == 0 && !given.warps &&
           plan->tile[0] * plan->tile[1] >= 2 * THREADS_MIN && plan->tile[1] > 1) {
        plan->tile[1] /= 2;
        block_design_make(&d, problem, plan);
    }
    if (given.warps && given.warps != d.threads / 32)
        return tz_error_set(error, TZ_RANGE, "warps",
                            "a block of %" PRId64 " x %" PRId64 " threads has %d warps, not %d: "
                            "leave 'warps' or the tile out",
                            plan->tile[0], plan->tile[1], d.threads / 32, given.warps);
    plan->warps = d.threads / 32;
    if (d.shared_bytes > limits->shared_bytes)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "tiles of %" PRId64 " x %" PRId64 " with their halo need %" PRId64
                            " bytes of shared memory, of %d: use smaller ones",
                            plan->tile[0], plan->tile[1], d.shared_bytes, limits->shared_bytes);
    return TZ_OK;
}

static int block_shared_bytes(const tz_problem *problem, const tz_limits *limits,
                              const tz_plan *plan)
{
    block_design d;
    (void)limits;
    block_design_make(&d, problem, plan);
    return (int)d.shared_bytes;
}

/* A chunk begins with the planes of the longest queue. */
static tz_status block_shape(const tz_problem *problem, const tz_limits *limits,
                             const tz_plan *plan, int blocks_each, int64_t length,
                             tz_cuda_shape *shape, tz_error *error)
{
    block_design d;
    block_design_make(&d, problem, plan);
    const int last = problem->dims - 1;
    const int64_t wide = last > 0 ? (problem->elements[0] + d.x - 1) / d.x : 1;
    const int64_t high = last > 1 ? (problem->elements[1] + d.y - 1) / d.y : 1;
    const int64_t steps = (length + d.stride - 1) / d.stride;
    const int64_t at_once = (int64_t)limits->multiprocessors * (blocks_each > 0 ? blocks_each : 1);
    int64_t chunk = last == 2 ? plan->tile[2] : 0;
    if (chunk == 0)
        chunk = tz_cuda_choose_chunk(steps, wide * high, at_once, d.span + d.ahead, 1);
    if (chunk > steps)
        chunk = steps;
    const int64_t blocks = wide * high * ((steps + chunk - 1) / chunk);
    *shape = (tz_cuda_shape){
        .grid = {(int)blocks, 1, 1},
        .threads = d.threads,
        .shared_bytes = (int)d.shared_bytes,
        .geometry = {(int)(chunk * d.stride), (int)wide, (int)high},
    };
    if (blocks > INT32_MAX)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "%" PRId64 " blocks are more than a GPU takes: use larger ones",
                            blocks);
    return TZ_OK;
}

/* ---- The device text ------------------------------------------------------------------------ */

static void emit_field(tz_cuda_text *t, const tz_stencil *s, int field, const block_field *its,
                       int ahead)
{
    const int low = its->read ? its->low : 1, high = its->read ? its->high : 0;
    tz_cuda_emit(t,
                 "struct tz_f_%s {\n  typedef %s type;\n  enum { LOW = %d, HIGH = %d, PLANES = %d, "
                 "TILED = %d, SHARED = %d };\n};\n",
                 tz_text_field(s, field), tz_type_keyword(s->fields[field].type), low, high,
                 its->read ? high - low + ahead : 1, its->tiled, its->shared);
}

static void emit_list(tz_cuda_text *t, const tz_problem *problem, const block_design *d, bool tiled)
{
    const tz_stencil *s = problem->stencil;
    tz_cuda_emit(t, "#define %s(D)", tiled ? "TZ_TILED_LIST" : "TZ_READ_LIST");
    for (int f = 0; f < s->fields_count; f++)
        if (tiled ? d->fields[f].tiled : d->fields[f].read)
            tz_cuda_emit(t, " \\\n    D(%s, %s, %d)", tz_text_field(s, f),
                         tz_type_keyword(s->fields[f].type), f);
    tz_cuda_emit(t, "\n");
}

static void block_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                            const tz_plan *plan)
{
    (void)limits;
    block_design d;
    block_design_make(&d, problem, plan);
    const struct {
        const char *name;
        int value;
    } numbers[] = {
        {"THREADS", d.threads},   {"BLOCKS", plan->blocks > 0 ? plan->blocks : 1},
        {"STRIDE", d.stride},     {"SLOTS", d.slots},
        {"TILED", d.tiled > 0},   {"AHEAD", d.ahead},
        {"TILES_LOW", -d.below},  {"TILES_HIGH", d.above},
        {"NEAR_LOW_X", d.low[0]}, {"NEAR_HIGH_X", d.high[0]},
        {"NEAR_LOW_Y", d.low[1]}, {"NEAR_HIGH_Y", d.high[1]},
        {"CORNERS", d.corners},
    };
    /* A chunk's length is no part of the text. */
    const int64_t tile[TZ_AXES] = {d.x, d.y, 1};
    tz_cuda_emit_sizes(t, problem, plan->height, tile);
    tz_cuda_emit_lists(t, problem);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        tz_cuda_emit(t, "#define TZ_%s %d\n", numbers[k].name, numbers[k].value);
    emit_list(t, problem, &d, false);
    emit_list(t, problem, &d, true);
    tz_cuda_emit(t, "#define TZ_STEP_LIST(D)");
    for (int i = 0; i < d.group; i++)
        tz_cuda_emit(t, " D(%d)", i);
    tz_cuda_emit(t, "\n");
    /* An index into a field. */
    tz_cuda_emit(t, "typedef unsigned %stz_index;\n%s",
                 tz_cuda_pitch(problem) * problem->elements[1] * problem->elements[2] <= UINT32_MAX
                     ? ""
                     : "long long ",
                 tz_papers_text_block);
    for (int f = 0; f < problem->stencil->fields_count; f++)
        emit_field(t, problem->stencil, f, &d.fields[f], d.ahead);
    tz_cuda_emit_pass(t, problem, 0);
    tz_cuda_emit(t, "%s", tz_papers_text_block_kernel);
}

/* ---- The planner ---------------------------------------------------------------------------- */

/* The only loop that stores: each step stores an element of every written field. */
static double block_steps(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                          const tz_cuda_loop *loop)
{
    (void)limits;
    (void)plan;
    return loop->parent < 0 ? loop->stores / tz_cuda_written_count(problem) : 0.0;
}

/* Lanes of a narrow block are in several rows of a tile, which may share banks. */
static tz_cuda_lanes block_lanes(const tz_problem *problem, const tz_plan *plan)
{
    enum { BANKS_BYTES = 128 };
    block_design d;
    int passes = 1;
    block_design_make(&d, problem, plan);
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const int lanes = BANKS_BYTES / (int)tz_problem_element_size(problem, f);
        int in_bank[BANKS_BYTES] = {0};
        for (int lane = 0; d.fields[f].tiled && lane < lanes; lane++) {
            const int at = lane / d.x * (d.x + d.low[0] + d.high[0]) + lane % d.x;
            const int same = ++in_bank[at % lanes];
            passes = same > passes ? same : passes;
        }
    }
    return (tz_cuda_lanes){.conflict = passes, .stored = 1.0};
}

static void block_parts(const tz_cuda_code *code, tz_cuda_steps *out)
{
    tz_cuda_take_loop(&out->inner, &code->mix->loops[code->at[0]], code->steps[0], 0.0,
                      code->lanes);
}

/* Bytes that a warp loads in a step and, besides, at a chunk's start; and the same of fields that
 * no pass reads, which are not loaded. */
typedef struct block_loads {
    double step, start, unread;
} block_loads;

/* Left and right of a tile are parts of sectors of 32 bytes. */
static double halo_bytes(const block_design *d, double size)
{
    const double beside = ceil(d->low[0] * size / TZ_CUDA_SECTOR_BYTES) +
                          ceil(d->high[0] * size / TZ_CUDA_SECTOR_BYTES);
    const double rows = d->low[1] + d->high[1];
    return rows * d->x * size + TZ_CUDA_SECTOR_BYTES * beside * (d->y + (d->corners ? rows : 0.0));
}

static block_loads loads_of(const tz_problem *problem, const block_design *d)
{
    const double warps = d->threads / 32.0;
    block_loads loads = {0};
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const block_field *field = &d->fields[f];
        const double size = (double)tz_problem_element_size(problem, f);
        const double halo = halo_bytes(d, size) / warps;
        const bool streamed = problem->stencil->fields[f].role == TZ_STREAMED;
        if (!field->read && !streamed) {
            loads.unread += size;
            continue;
        }
        loads.step += 32.0 * size + (field->tiled ? halo : 0.0);
        loads.start += size * 32.0 * (field->high - field->low);
        if (field->tiled)
            loads.start += halo * (d->below + d->above);
    }
    return loads;
}

static void block_work(const tz_cuda_job *job, tz_model_work *out)
{
    const tz_problem *problem = job->problem;
    const int last = problem->dims - 1;
    block_design d;
    block_design_make(&d, problem, job->plan);
    const block_loads loads = loads_of(problem, &d);
    const double chunk = job->shape->geometry[0] / (double)d.stride;
    const double tiles = (double)job->shape->geometry[1] * job->shape->geometry[2];
    const double steps = ceil((double)problem->elements[last] / d.stride);
    const double warps = d.threads / 32.0, chunks = ceil(steps / chunk);
    const double padded = (double)tz_cuda_pitch(problem) * (double)problem->elements[1] *
                          (double)problem->elements[2];
    out->read_bytes -= padded * loads.unread;
    tz_work_part *part =
        tz_cuda_add_part(out, "inner", &job->steps->inner, warps * tiles * chunks, steps / chunks);
    if (!part)
        return;
    part->bytes = loads.step;
    part->late = 0.0; /* the next step's loads come first in a step */
    out->redundancy = tz_cuda_count_redundancy(out, 32.0, tz_cuda_elements_of(problem));
    tz_cuda_count_ghosts(out, loads.step, loads.start / loads.step, d.span / chunk);
    out->ahead_bytes = loads.step * d.ahead;
    out->marches = true;
}

/* ---- Candidates ------------------------------------------------------------------------------ */

/* Adds the plan of a block shape. */
static void add_shape(tz_cuda_plans *plans, int64_t x, int64_t y, int ahead)
{
    tz_plan given = *plans->given;
    if ((given.tile[0] && given.tile[0] != x) || (given.tile[1] && given.tile[1] != y) ||
        (given.ahead && given.ahead != ahead))
        return;
    given.ahead = ahead;
    given.tile[0] = x;
    given.tile[1] = y;
    tz_cuda_plans others = *plans;
    others.given = &given;
    tz_cuda_plans_add(&others, 1, 0, 0);
    plans->count = others.count;
}

/* Whole warps side by side, in blocks of 128 to 1024 threads, that load one or two planes ahead. */
static void block_candidates(tz_cuda_plans *plans)
{
    const tz_plan *given = plans->given;
    const int dims = plans->problem->dims;
    if (tz_cuda_refusal(plans->family, plans->problem))
        return;
    if (given->tile[0] && (given->tile[1] || dims == 1)) {
        tz_cuda_plans_add(plans, 1, 0, 0);
        return;
    }
    for (int ahead = 1; ahead <= (dims == 3 ? 2 : 1); ahead++)
        for (int y = 1; y <= (dims > 1 ? 32 : 1); y *= 2)
            for (int x = 32; x <= 256 && x * y <= 1024; x *= 2)
                if (x * y >= 128)
                    add_shape(plans, x, y, ahead);
}

static const tz_cuda_planner block_planner = {
    .lanes = block_lanes,
    .steps = block_steps,
    .parts = block_parts,
    .work = block_work,
    .candidates = block_candidates,
};

const tz_cuda_family tz_cuda_family_block = {
    .name = "block",
    .doc = "a thread a cell: blocks march along the last axis, one iteration a launch",
    .dims_low = 1,
    .dims_high = 3,
    .named = true,
    .tile_max = PLANES_MAX,
    .no_bits = "has bits, 32 cells in a word, and a thread of a block computes one cell",
    .no_passes = "has several passes, and a launch of blocks computes one",
    .refuses = block_refuses,
    .plan = block_plan,
    .emit = block_text_emit,
    .shared_bytes = block_shared_bytes,
    .shape = block_shape,
    .planner = &block_planner,
};
