/* How the resident family cuts a grid into blocks and threads, where it keeps fields, and what an
 * exchange of ghost cells takes, for a block with neighbours on all sides. */
#include "backend/cuda/family/resident/design.h"

#include "backend/cuda/family/work.h"
#include "backend/host/store.h"
#include "model/constants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    REGISTERS = 65536,
    THREADS_MAX = 1024,
    BANKS = 32, /* of shared memory */
    /* Cells, and words of all their fields, that a thread loads at once. More would take too many
     * registers. */
    BATCH_MAX = 16,
    BATCH_WORDS_MAX = 32,
    BRICK_MAX = 200, /* cells: each is a copy of the cell update's text */
    /* Bricks of so many cells have masks, if TZ_FIT_RESIDENT_REGISTERS_MASKED registers are
     * free. */
    MASKED_MIN = 2,
    MASKED_MAX = 32, /* a bit each */
};

/* Facts that do not depend on the design. */
typedef struct facts {
    const tz_problem *problem;
    int shared_max;  /* bytes of a block */
    int radius, rim; /* as in tz_resident */
    int reach;       /* of an iteration */
    int beyond;      /* how far static fields are read beyond the reach of the passes */
    int loads;       /* fields whose neighbours are read */
    int sent;        /* fields that blocks exchange */
    int sent_words;
    int held_words, out_words; /* 32-bit words of a cell in registers, for both ways */
    int kept_words, widest;    /* of all its fields; of one */
    bool wraps[TZ_AXES];
    bool box; /* neighbours along diagonals are read */
} facts;

/* How far the passes read a field. An output may read a static one farther. */
static int field_radius(const tz_stencil *s, int f)
{
    const tz_role role = s->fields[f].role;
    int radius = role == TZ_STATIC ? 0 : s->fields[f].radius;
    for (int p = 0; p < s->passes_count; p++) {
        const tz_reads reads = tz_stencil_reads(s, &s->passes[p], f);
        if (role == TZ_STATE && s->passes[p].radius > radius)
            radius = s->passes[p].radius;
        for (int axis = 0; axis < TZ_AXES && role == TZ_STATIC; axis++) {
            const int most =
                -reads.low[axis] > reads.high[axis] ? -reads.low[axis] : reads.high[axis];
            radius = most > radius ? most : radius;
        }
    }
    return radius;
}

int tz_resident_radius(const tz_problem *problem)
{
    int radius = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const int of_field = field_radius(problem->stencil, f);
        radius = of_field > radius ? of_field : radius;
    }
    return radius;
}

static facts facts_of(const tz_problem *problem)
{
    const tz_stencil *s = problem->stencil;
    const uint32_t written = tz_problem_written(problem);
    facts k = {.problem = problem,
               .radius = tz_resident_radius(problem),
               .box = tz_stencil_reads_diagonals(s)};
    bool mirror = false;
    for (int f = 0; f < s->fields_count; f++) {
        const int radius = field_radius(s, f), words = tz_cuda_value_words(problem, f);
        k.kept_words += words;
        k.widest = words > k.widest ? words : k.widest;
        k.loads += radius > 0;
        for (int p = 0; p < s->passes_count && s->fields[f].role == TZ_STATIC; p++)
            if (s->fields[f].radius - s->passes[p].radius > k.beyond)
                k.beyond = s->fields[f].radius - s->passes[p].radius;
        if (s->fields[f].role == TZ_STREAMED)
            k.held_words += 2 * words, k.out_words += 2 * words;
        else
            k.held_words += written >> f & 1 ? 2 * words : words;
        if (written >> f & 1) {
            k.out_words += words;
            k.sent_words += words;
            k.sent++;
        }
    }
    for (int axis = 0; axis < problem->dims; axis++) {
        k.wraps[axis] =
            tz_boundary_wraps(problem->boundary[axis][0]) || (axis == 0 && problem->bits);
        mirror = mirror || tz_boundary_reflects(problem->boundary[axis][0]) ||
                 tz_boundary_reflects(problem->boundary[axis][1]);
    }
    const tz_reach reach = tz_cuda_reach(problem);
    for (int axis = 0; axis < problem->dims; axis++) {
        k.reach = reach.low[axis] > k.reach ? reach.low[axis] : k.reach;
        k.reach = reach.high[axis] > k.reach ? reach.high[axis] : k.reach;
    }
    k.rim = k.radius + mirror;
    return k;
}

int tz_resident_spare_bits(const tz_problem *problem)
{
    return problem->bits && tz_boundary_wraps(problem->boundary[0][0])
               ? (int)(32 * problem->elements[0] - problem->extent[0])
               : 0;
}

bool tz_resident_is_shared(const tz_problem *problem, const tz_resident *design, int field)
{
    if (problem->stencil->fields[field].role == TZ_STREAMED)
        return false;
    return problem->bits || !design->held || field_radius(problem->stencil, field) > 0;
}

/* At the beginning of a row a thread reads its own first element where the others read the last one
 * of the thread before; at the end, its last where they read the first of the next thread. All
 * threads of a warp read different banks if (cells - 1) * pitch is one more than a multiple of the
 * number of banks. An even number of cells has such a pitch. */
int tz_resident_pitch(const tz_resident *design)
{
    int pitch = design->threads[0] * design->threads[1] * design->threads[2];
    while (design->cells[0] % 2 == 0 && (design->cells[0] - 1) * pitch % BANKS != 1)
        pitch++;
    return pitch;
}

int64_t tz_resident_slots_apart(const tz_problem *problem, const tz_resident *design)
{
    return (problem->elements[0] + design->cells[0] - 1) / design->cells[0];
}

int tz_resident_shared_bytes(const tz_problem *problem, const tz_resident *design, int field)
{
    const bool written = tz_problem_written(problem) >> field & 1;
    int64_t bytes = 4 * tz_cuda_value_words(problem, field);
    bytes *= tz_resident_pitch(design);
    for (int axis = 0; axis < TZ_AXES; axis++)
        bytes *= design->cells[axis];
    bytes = bytes * (written ? design->buffers : 1) + 15;
    return bytes < INT32_MAX ? (int)(bytes / 16 * 16) : INT32_MAX / TZ_FIELDS_MAX;
}

/* ---- One design ------------------------------------------------------------------------------ */

/* Cells of a tile along an axis: a multiple of the brick. 0: impossible. Each of several blocks
 * must own more cells than the ghost zones of its neighbours read. One block has more cells than
 * the axis only where the last brick of a row of bits may have unused words (TZ_UNUSED of
 * resident.cuh). */
static int extent_of(const facts *k, int axis, int64_t blocks, int ghost, int brick)
{
    const int64_t n = k->problem->elements[axis];
    const bool spare = axis == 0 && tz_resident_spare_bits(k->problem) > 0;
    if (blocks == 1)
        return n % brick == 0 || spare ? (int)((n + brick - 1) / brick * brick) : 0;
    if (spare)
        return 0;
    const int64_t ends = k->wraps[axis] ? 2 * blocks : 2 * (blocks - 1);
    int64_t extent = k->wraps[axis] ? (n + blocks - 1) / blocks + 2 * ghost
                                    : (n + ends * ghost + blocks - 1) / blocks;
    extent = (extent + brick - 1) / brick * brick;
    const int64_t least = k->wraps[axis] ? n / blocks : (n - extent) / (blocks - 1);
    return extent <= n && least > ghost + brick ? (int)extent : 0;
}

/* Sectors of L2 that the words which a block receives take, about. Words of a row of ghost cells
 * have adjacent slots. At the sides of rows each column of a brick has slots of its own. */
static double sectors_of(const facts *k, const tz_resident *d)
{
    double tile = 1.0, inner = 1.0, own[TZ_AXES];
    for (int axis = 0; axis < TZ_AXES; axis++) {
        const double extent = (double)d->cells[axis] * d->threads[axis];
        own[axis] = (double)k->problem->elements[axis] / d->blocks[axis];
        const double needed = fmin(extent, own[axis] + 2.0 * d->ghost);
        tile *= axis == 0 ? extent : needed;
        inner *= axis == 0 ? extent : own[axis];
    }
    const double columns = d->cells[0] < d->ghost ? d->cells[0] : d->ghost;
    const double side = columns + (d->ghost - columns) / TZ_RESIDENT_SECTOR_SLOTS;
    const double lanes = d->threads[0] < 32 ? d->threads[0] : 32;
    const double torn = 1.0 + (TZ_RESIDENT_SECTOR_SLOTS - 1) / lanes;
    return (d->blocks[0] > 1 ? 2.0 * own[1] * own[2] * side : 0.0) +
           (tile - inner) / TZ_RESIDENT_SECTOR_SLOTS * torn;
}

static double cost_of(const facts *k, const tz_resident *d, int height)
{
    const tz_problem *problem = k->problem;
    const double passes = problem->stencil->passes_count;
    const double words = k->out_words > 0 ? k->out_words : 1;
    double brick = 1.0, inner = 1.0, loads = d->held ? 0.0 : 1.0;
    for (int axis = 0; axis < problem->dims; axis++) {
        const int in = d->cells[axis] - 2 * d->rim;
        brick *= d->cells[axis];
        inner *= in > 0 ? in : 0;
        loads += 2.0 * d->radius / d->cells[axis];
    }
    const double shared = loads * k->loads + (d->held ? 1.0 - inner / brick : 1.0);
    const double issued = d->warps * brick * (TZ_FIT_RESIDENT_OPERATIONS + shared) / 4.0;
    const double moved = d->warps * brick * shared * words;
    /* Between two barriers, all warps first load and then compute. */
    double clocks = TZ_FIT_RESIDENT_ISSUED * issued + TZ_FIT_RESIDENT_MOVED * moved;
    clocks = fmax(clocks, TZ_FIT_RESIDENT_ALONE_CLOCKS * brick);
    clocks = passes * (clocks + TZ_FIT_RESIDENT_PASS_CLOCKS +
                       (d->buffers == 1 ? TZ_FIT_RESIDENT_BARRIER_CLOCKS : 0.0));
    if (d->ghost > 0)
        clocks += (TZ_FIT_RESIDENT_EXCHANGE_CLOCKS +
                   (2.0 * TZ_FIT_RESIDENT_SECTOR_CLOCKS * sectors_of(k, d) +
                    TZ_FIT_RESIDENT_SENT_CLOCKS * d->warps * brick) *
                       k->sent_words) /
                  height;
    return clocks;
}

/* Registers of a thread besides those of its cells: addresses, neighbours. */
static int registers_own(const facts *k)
{
    const int neighbours = (k->box ? 4 : 2) * k->radius * k->problem->dims;
    return TZ_FIT_RESIDENT_REGISTERS_OWN + (neighbours < 40 ? neighbours : 40);
}

/* Words from shared memory that several cells use, so that a thread keeps them from row to row or
 * from plane to plane. A row or plane has `front` cells of a thread. */
static int words_kept(const facts *k, int front)
{
    return k->loads * k->widest * front * (!k->box ? 2 : k->problem->dims == 3 ? 6 : 3) / 2;
}

/* How many ghost cells a thread loads at once, and of how many fields. All fields at once if there
 * is room for two cells: a batch of fewer cells may have none that is a ghost cell, and then takes
 * no time. */
static void choose_batch(const facts *k, tz_resident *d, int brick)
{
    int values = d->spare / (4 * k->widest);
    values = values < 2                             ? 2
             : values > BATCH_WORDS_MAX / k->widest ? BATCH_WORDS_MAX / k->widest
                                                    : values;
    const int least = brick < 2 ? brick : 2, sent = k->sent > 0 ? k->sent : 1;
    int together = values / least < sent ? values / least : sent;
    d->groups = (sent + together - 1) / together;
    together = (sent + d->groups - 1) / d->groups;
    d->batch = values / together;
    d->batch = d->batch > BATCH_MAX ? BATCH_MAX : d->batch;
    d->batch = d->batch > brick ? brick : d->batch;
}

int tz_resident_together(const tz_problem *problem, const tz_resident *d)
{
    return ((int)tz_cuda_written_count(problem) + d->groups - 1) / d->groups;
}

/* Completes a design whose blocks, bricks and threads are chosen. */
static bool complete(const facts *k, tz_resident *d, int height)
{
    const int live = d->threads[0] * d->threads[1] * d->threads[2];
    const int brick = d->cells[0] * d->cells[1] * d->cells[2];
    const tz_stencil *s = k->problem->stencil;
    d->warps = (live + 31) / 32;
    /* Registers are allocated to four warps at a time. */
    int room = REGISTERS / (128 * ((d->warps + 3) / 4)) / 8 * 8;
    room = room > 255 ? 255 : room;
    const int kept = words_kept(k, k->problem->dims == 3   ? d->cells[0] * d->cells[1]
                                   : k->problem->dims == 2 ? d->cells[0]
                                                           : 1);
    for (int way = 0; way < 3; way++) {
        d->held = way < 2;
        d->buffers = way == 0 ? 2 : 1;
        d->registers = registers_own(k);
        d->registers += d->held ? brick * k->held_words * 9 / 8 + k->radius * kept
                                : brick * k->out_words + (2 * k->radius + 1) * kept;
        int64_t bytes = 0;
        for (int f = 0; f < s->fields_count; f++)
            if (tz_resident_is_shared(k->problem, d, f))
                bytes += tz_resident_shared_bytes(k->problem, d, f);
        if (d->registers > room || bytes > k->shared_max)
            continue;
        /* Nothing is computed while ghost cells are loaded, so most registers are free. */
        d->spare = room - TZ_FIT_RESIDENT_REGISTERS_OWN - 16 - brick * k->kept_words;
        choose_batch(k, d, brick);
        d->masked = brick >= MASKED_MIN && brick <= MASKED_MAX &&
                    d->registers + TZ_FIT_RESIDENT_REGISTERS_MASKED <= room;
        d->shared_bytes = (int)bytes;
        d->cost = cost_of(k, d, height);
        return true;
    }
    return false;
}

/* ---- The best of many ------------------------------------------------------------------------ */

static const int bricks[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                             12, 13, 14, 15, 16, 18, 20, 22, 24, 28, 32};
enum { BRICKS = sizeof bricks / sizeof *bricks };

/* A way to cut one axis, independent of the other axes. */
typedef struct cut {
    int blocks, ghost;
    double tile;         /* lower bound of the cells of a tile, for bricks of any size */
    int least;           /* the smallest of the extents */
    int extents[BRICKS]; /* by brick: cells of a tile; 0: impossible with that brick */
} cut;

typedef struct search {
    const facts *k;
    const tz_plan *plan;
    cut *cuts[TZ_AXES]; /* the most blocks first */
    int cuts_count[TZ_AXES];
    tz_resident best;
    bool found;
} search;

/* Do registers suffice for bricks whose cells along the last axis are not chosen yet? Uses a lower
 * bound of the count of complete(). */
static bool has_room(const facts *k, const cut *last, int others, int threads)
{
    const int most = BRICK_MAX / (others * k->problem->stencil->passes_count);
    const double longest = most < TZ_RESIDENT_CELLS_MAX ? most : TZ_RESIDENT_CELLS_MAX;
    const double lines = (double)threads * last->least, own = registers_own(k) - 1;
    const double kept = words_kept(k, k->problem->dims == 1 ? 1 : others);
    const double held = others * 1.125 * k->held_words + (own + k->radius * kept) / longest;
    const double shared =
        others * (double)k->out_words + (own + (2 * k->radius + 1) * kept) / longest;
    return lines * (held < shared ? held : shared) <= REGISTERS;
}

/* A lower bound of cost_of() for a tile of so many cells, of which `needed` are own or ghost cells.
 * `loads`: words that a cell reads of its neighbours. */
static double least_cost(const search *s, const tz_resident *d, double tile, double needed,
                         double loads)
{
    const facts *k = s->k;
    double own = 1.0;
    for (int axis = 0; axis < TZ_AXES; axis++)
        own *= (double)k->problem->elements[axis] / d->blocks[axis];
    double clocks =
        k->problem->stencil->passes_count *
        (tile / 128.0 *
             (TZ_FIT_RESIDENT_ISSUED * TZ_FIT_RESIDENT_OPERATIONS +
              (TZ_FIT_RESIDENT_ISSUED + 4.0 * TZ_FIT_RESIDENT_MOVED) * loads * k->loads) +
         TZ_FIT_RESIDENT_PASS_CLOCKS);
    if (d->ghost > 0)
        clocks +=
            (TZ_FIT_RESIDENT_EXCHANGE_CLOCKS +
             (2.0 * TZ_FIT_RESIDENT_SECTOR_CLOCKS * (needed - own) / TZ_RESIDENT_SECTOR_SLOTS +
              TZ_FIT_RESIDENT_SENT_CLOCKS * tile / 32.0) *
                 k->sent_words) /
            s->plan->height;
    return clocks * (1 - 1e-9);
}

/* Is no design with these cuts better than the best one so far? */
static bool hopeless(const search *s, const cut *const cuts[TZ_AXES], const tz_resident *d)
{
    const double tile = cuts[0]->tile * cuts[1]->tile * cuts[2]->tile;
    if (tile > (double)THREADS_MAX * BRICK_MAX || tile > s->k->shared_max)
        return true;
    return s->found && least_cost(s, d, tile, tile, 0.0) > s->best.cost;
}

/* Tries all bricks along `axis` and the axes after it. */
static void try_bricks(search *s, const cut *const cuts[TZ_AXES], tz_resident *d, int axis)
{
    if (axis == TZ_AXES) {
        if (s->plan->warps > 0 &&
            (d->threads[0] * d->threads[1] * d->threads[2] + 31) / 32 != s->plan->warps)
            return;
        if (complete(s->k, d, s->plan->height) && (!s->found || d->cost < s->best.cost)) {
            s->best = *d;
            s->found = true;
        }
        return;
    }
    const int others = axis == 0 ? 1 : axis == 1 ? d->cells[0] : d->cells[0] * d->cells[1];
    const int threads = axis == 0 ? 1 : axis == 1 ? d->threads[0] : d->threads[0] * d->threads[1];
    if (axis == s->k->problem->dims - 1) {
        double loads = 0.0;
        for (int a = 0; a < axis; a++)
            loads += 2.0 * d->radius / d->cells[a];
        if (!has_room(s->k, cuts[axis], others, threads) ||
            (s->found &&
             least_cost(s, d, (double)threads * others * cuts[axis]->least,
                        cuts[0]->tile * cuts[1]->tile * cuts[2]->tile, loads) > s->best.cost))
            return;
    }
    for (int i = 0; i < BRICKS; i++) {
        const int brick = bricks[i];
        if (axis >= s->k->problem->dims && brick > 1)
            break;
        if (axis == 0 && s->plan->vector > 0 && brick != s->plan->vector)
            continue;
        if (others * brick * s->k->problem->stencil->passes_count > BRICK_MAX)
            break;
        const int extent = cuts[axis]->extents[i];
        if (extent == 0 || (int64_t)threads * (extent / brick) > THREADS_MAX)
            continue;
        d->cells[axis] = brick;
        d->threads[axis] = extent / brick;
        try_bricks(s, cuts, d, axis + 1);
    }
}

static void try_cuts(search *s, const cut *cuts[TZ_AXES], tz_resident *d, int axis, int left)
{
    if (axis == TZ_AXES) {
        d->ghost = 0;
        for (int k = 0; k < TZ_AXES; k++)
            d->ghost = cuts[k]->blocks > 1 ? cuts[k]->ghost : d->ghost;
        if (!hopeless(s, cuts, d))
            try_bricks(s, cuts, d, 0);
        return;
    }
    for (int i = 0; i < s->cuts_count[axis]; i++) {
        cuts[axis] = &s->cuts[axis][i];
        d->blocks[axis] = cuts[axis]->blocks;
        if (d->blocks[axis] <= left)
            try_cuts(s, cuts, d, axis + 1, left / d->blocks[axis]);
    }
}

/* Finds all ways to cut an axis into at most `most` blocks such that every block has cells and a
 * tile is a multiple of a brick. */
static bool make_cuts(search *s, int axis, int most)
{
    const facts *k = s->k;
    const int64_t n = k->problem->elements[axis];
    const int ghost = s->plan->height * k->reach + k->beyond;
    cut *list = s->cuts[axis] = malloc((size_t)most * sizeof *list);
    for (int blocks = axis < k->problem->dims ? most : 1; list && blocks >= 1; blocks--) {
        const int64_t tile = (n + blocks - 1) / blocks;
        if (blocks > 1 && (n + tile - 1) / tile != blocks)
            continue;
        if (s->plan->tile[axis] > 0 && axis < k->problem->dims &&
            (n + s->plan->tile[axis] - 1) / s->plan->tile[axis] != blocks)
            continue;
        cut *made = &list[s->cuts_count[axis]];
        *made = (cut){.blocks = blocks, .ghost = blocks == 1 ? 0 : ghost > 0 ? ghost : 1};
        made->tile = (double)n / blocks +
                     2.0 * made->ghost * (k->wraps[axis] ? 1.0 : 1.0 - 1.0 / (double)blocks);
        bool any = false;
        for (int i = 0; i < BRICKS; i++) {
            made->extents[i] = extent_of(k, axis, blocks, made->ghost, bricks[i]);
            if (made->extents[i] > 0 && (!any || made->extents[i] < made->least))
                made->least = made->extents[i];
            any = any || made->extents[i] > 0;
        }
        s->cuts_count[axis] += any;
    }
    return list != NULL;
}

/* How many ghost cells a thread of the design gathers at once. 0: each thread loads those of its
 * own brick, which takes less time. In 3-D no fast plan gained. */
static int gather_of(const facts *k, tz_resident d)
{
    const uint32_t written = tz_problem_written(k->problem);
    const int together = tz_resident_together(k->problem, &d);
    tz_resident_exchange e;
    for (int f = 0; f < k->problem->stencil->fields_count; f++)
        if (written >> f & 1 && !tz_resident_is_shared(k->problem, &d, f))
            return 0;
    if (d.ghost == 0 || k->problem->dims == 3)
        return 0;
    tz_resident_ways(k->problem, &d, &e);
    d.gather = d.spare / (2 * k->widest * together + 4);
    d.gather = d.gather < 2 ? 2 : d.gather > BATCH_MAX ? BATCH_MAX : d.gather;
    const int rounds = tz_resident_rounds(&d, &e);
    const double batches = d.groups * e.batches_most;
    if (e.requests < 1.0 || batches < TZ_FIT_RESIDENT_BATCHES_LEAST ||
        batches * (1.0 + TZ_FIT_RESIDENT_BATCH_CELL * d.batch * together) <
            tz_resident_request_time(&d, &e) + TZ_FIT_RESIDENT_GATHERED)
        return 0;
    return (int)ceil(e.requests / ((double)d.warps * rounds));
}

bool tz_resident_design(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                        tz_resident *design)
{
    facts k = facts_of(problem);
    k.shared_max = limits->shared_bytes;
    search s = {.k = &k, .plan = plan};
    tz_resident d = {.radius = k.radius, .rim = k.rim, .sent_words = k.sent_words};
    if (tz_problem_elements(problem) > INT64_C(8) << 20)
        return false;
    const cut *cuts[TZ_AXES] = {NULL};
    bool made = true;
    for (int axis = 0; made && axis < TZ_AXES; axis++)
        made = make_cuts(&s, axis, limits->multiprocessors);
    if (made)
        try_cuts(&s, cuts, &d, 0, limits->multiprocessors);
    for (int axis = 0; axis < TZ_AXES; axis++)
        free(s.cuts[axis]);
    if (s.found)
        s.best.gather = gather_of(&k, s.best);
    *design = s.best;
    return s.found;
}

int tz_resident_height(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan)
{
    static const int heights[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64};
    int best = 1;
    double cost = 0.0;
    for (size_t i = 0; i < sizeof heights / sizeof *heights; i++) {
        tz_plan with = *plan;
        tz_resident d;
        with.height = heights[i];
        if (!tz_resident_design(problem, limits, &with, &d))
            break;
        if (i > 0 && d.cost >= cost)
            continue;
        best = heights[i];
        cost = d.cost;
        if (d.ghost == 0)
            break; /* one block exchanges nothing */
    }
    return best;
}

bool tz_resident_is_lengthy(const tz_problem *problem, const tz_resident *design)
{
    enum { WORDS_MAX = 8 };
    return problem->bits && problem->dims == 3 &&
           design->cells[0] * design->cells[1] * design->cells[2] > WORDS_MAX;
}

/* ---- Exchanges ------------------------------------------------------------------------------ */

/* Which cells of a tile a block of the middle receives and sends along an axis. */
typedef struct middle {
    int begin, own_begin, own_end; /* the tile's first cell in the grid; own cells in the tile */
    int ghost;                     /* 0: one block on this axis */
} middle;

static middle middle_of(const tz_problem *problem, const tz_resident *d, int axis)
{
    const int n = (int)problem->elements[axis], blocks = d->blocks[axis];
    middle m = {.own_end = n};
    if (blocks == 1)
        return m;
    m.ghost = m.own_begin = d->ghost;
    m.own_end = d->ghost + (n + blocks - 1) / blocks;
    m.begin = n / blocks > d->ghost ? n / blocks - d->ghost : 0;
    return m;
}

static bool is_surplus(const middle *m, int cell)
{
    return m->ghost > 0 && cell >= m->own_end + m->ghost;
}

static bool is_ghost(const middle *m, int cell)
{
    return m->ghost > 0 && (cell < m->own_begin || cell >= m->own_end) && !is_surplus(m, cell);
}

/* ---- Ways to the second-level cache ---------------------------------------------------------- */

/* The cells along an axis of the bricks of a warp that are ghost cells in one of them: a bit
 * each. */
static uint32_t ghosts_of_warp(const tz_resident *d, const middle *m, int axis, int warp)
{
    const int threads = d->threads[0] * d->threads[1] * d->threads[2];
    uint32_t ghosts = 0;
    for (int t = 32 * warp; t < 32 * warp + 32 && t < threads; t++) {
        const int thread = axis == 0   ? t % d->threads[0]
                           : axis == 1 ? t / d->threads[0] % d->threads[1]
                                       : t / (d->threads[0] * d->threads[1]);
        for (int c = 0; c < d->cells[axis]; c++)
            ghosts |= (uint32_t)is_ghost(m, thread * d->cells[axis] + c) << c;
    }
    return ghosts;
}

static int batches_of_warp(const tz_resident *d, const middle at[TZ_AXES], int warp)
{
    const int cells = d->cells[0] * d->cells[1] * d->cells[2];
    uint32_t ghosts[TZ_AXES];
    int batches = 0;
    for (int axis = 0; axis < TZ_AXES; axis++)
        ghosts[axis] = ghosts_of_warp(d, &at[axis], axis, warp);
    for (int first = 0; first < cells; first += d->batch) {
        uint32_t any = 0;
        for (int c = first; c < first + d->batch && c < cells; c++)
            any |= ghosts[0] >> c % d->cells[0] | ghosts[1] >> c / d->cells[0] % d->cells[1] |
                   ghosts[2] >> c / (d->cells[0] * d->cells[1]);
        batches += any & 1u;
    }
    return batches;
}

/* As tz_ring_of() of resident_exchange.cuh, in 2-D and 1-D. */
static double requests_of(const tz_resident *d, const middle at[TZ_AXES])
{
    double own[TZ_AXES], ghosts[TZ_AXES];
    for (int axis = 0; axis < TZ_AXES; axis++) {
        const double extent = d->cells[axis] * d->threads[axis];
        own[axis] = at[axis].ghost == 0 ? extent : at[axis].own_end - at[axis].own_begin;
        ghosts[axis] = fmax(0.0, fmin(2.0 * at[axis].ghost, extent - own[axis]));
    }
    const double rows = ghosts[1] * ceil(d->cells[0] * d->threads[0] / 32.0);
    if (ghosts[0] == 0.0)
        return rows;
    return rows + (ghosts[0] > 32.0 ? own[1] * ceil(ghosts[0] / 32.0)
                                    : ceil(own[1] / floor(32.0 / ghosts[0])));
}

void tz_resident_ways(const tz_problem *problem, const tz_resident *d, tz_resident_exchange *out)
{
    middle at[TZ_AXES];
    *out = (tz_resident_exchange){.sectors = 0.0};
    for (int axis = 0; axis < TZ_AXES; axis++)
        at[axis] = middle_of(problem, d, axis);
    out->requests = requests_of(d, at);
    for (int w = 0; w < d->warps; w++) {
        const double batches = batches_of_warp(d, at, w);
        out->batches_mean += batches / d->warps;
        out->batches_most = fmax(out->batches_most, batches);
    }
}

int tz_resident_rounds(const tz_resident *d, const tz_resident_exchange *e)
{
    return (int)ceil(e->requests / ((double)d->warps * d->gather));
}

double tz_resident_request_time(const tz_resident *d, const tz_resident_exchange *e)
{
    return TZ_FIT_RESIDENT_REQUEST * d->groups * e->requests / d->warps;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* A list of the sectors that one access of a warp touches. */
typedef struct sector_list {
    int64_t sectors[32];
    int count;
} sector_list;

static void touch(sector_list *list, int64_t sector)
{
    for (int k = 0; k < list->count; k++)
        if (list->sectors[k] == sector)
            return;
    list->sectors[list->count++] = sector;
}

/* As in resident_exchange.cuh. `apart`: tz_resident_slots_apart(). */
static int64_t slot_of_column(const tz_resident *d, int64_t apart, int64_t x)
{
    return x % d->cells[0] * apart + x / d->cells[0];
}

/* The access of warp w to cell (i, j, k) of its bricks. */
static double count_access(const tz_problem *problem, const tz_resident *d, const middle *at, int w,
                           const int cell[TZ_AXES])
{
    const int threads = d->threads[0] * d->threads[1] * d->threads[2];
    const int64_t apart = tz_resident_slots_apart(problem, d);
    sector_list sent = {.count = 0}, received = {.count = 0};
    for (int t = 32 * w; t < 32 * w + 32 && t < threads; t++) {
        const int thread[] = {t % d->threads[0], t / d->threads[0] % d->threads[1],
                              t / (d->threads[0] * d->threads[1])};
        bool foreign = false, wanted = false, surplus = false;
        int64_t x[TZ_AXES];
        for (int axis = 0; axis < TZ_AXES; axis++) {
            const middle *m = &at[axis];
            const int c = thread[axis] * d->cells[axis] + cell[axis];
            x[axis] = m->begin + c;
            foreign = foreign || is_ghost(m, c);
            surplus = surplus || is_surplus(m, c);
            wanted = wanted ||
                     (m->ghost > 0 && (c < m->own_begin + m->ghost || c >= m->own_end - m->ghost));
        }
        const int64_t slot = (x[2] * problem->elements[1] + x[1]) * d->cells[0] * apart +
                             slot_of_column(d, apart, x[0]);
        if (surplus)
            continue;
        if (foreign)
            touch(&received, slot / TZ_RESIDENT_SECTOR_SLOTS);
        else if (wanted)
            touch(&sent, slot / TZ_RESIDENT_SECTOR_SLOTS);
    }
    return sent.count + received.count;
}

void tz_resident_count(const tz_problem *problem, const tz_resident *d, tz_resident_exchange *out)
{
    const int cells = d->cells[0] * d->cells[1] * d->cells[2];
    middle at[TZ_AXES];
    tz_resident_ways(problem, d, out);
    for (int axis = 0; axis < TZ_AXES; axis++)
        at[axis] = middle_of(problem, d, axis);
    for (int w = 0; w < d->warps; w++)
        for (int c = 0; c < cells; c++) {
            const int cell[] = {c % d->cells[0], c / d->cells[0] % d->cells[1],
                                c / (d->cells[0] * d->cells[1])};
            out->sectors += count_access(problem, d, at, w, cell);
        }
}

/* ---- Lines of the second-level cache --------------------------------------------------------- */

/* A cut of the grid along an axis. */
typedef struct cuts {
    int64_t n, blocks, extent, ghost;
    bool wraps;
} cuts;

static cuts cuts_of(const tz_problem *problem, const tz_resident *d, int axis)
{
    return (cuts){.n = problem->elements[axis],
                  .blocks = d->blocks[axis],
                  .extent = (int64_t)d->cells[axis] * d->threads[axis],
                  .ghost = d->ghost,
                  .wraps = tz_boundary_wraps(problem->boundary[axis][0]) ||
                           (axis == 0 && problem->bits)};
}

/* As tz_own_begin() of resident_tile.cuh, of more than one block. */
static int64_t own_begin(const cuts *c, int64_t block)
{
    if (c->wraps)
        return block * c->n / c->blocks;
    return block == 0           ? 0
           : block == c->blocks ? c->n
                                : block * (c->n - c->extent) / (c->blocks - 1) + c->ghost;
}

/* How many cells a block sends along an axis, at its low and its high side. */
typedef struct sent_cells {
    int64_t low, high;
} sent_cells;

static sent_cells sent_of(const cuts *c, int64_t block)
{
    const int64_t count = own_begin(c, block + 1) - own_begin(c, block);
    sent_cells sent = {.low = c->wraps || block > 0 ? c->ghost : 0,
                       .high = c->wraps || block < c->blocks - 1 ? c->ghost : 0};
    sent.low = sent.low < count ? sent.low : count;
    sent.high = sent.high < count - sent.low ? sent.high : count - sent.low;
    return sent;
}

/* Cells along an axis that some block sends. */
static double sent_along(const cuts *c)
{
    double cells = 0.0;
    for (int64_t b = 0; c->blocks > 1 && b < c->blocks; b++)
        cells += (double)(sent_of(c, b).low + sent_of(c, b).high);
    return cells;
}

/* Marks the lines that have slots of columns from `first` on, and returns how many were not
 * marked. */
static double mark_columns(const tz_resident *d, int64_t apart, int64_t first, int64_t count,
                           bool *marks)
{
    double fresh = 0.0;
    for (int64_t x = first; x < first + count; x++) {
        bool *mark = &marks[slot_of_column(d, apart, x) / TZ_RESIDENT_LINE_SLOTS];
        fresh += !*mark;
        *mark = true;
    }
    return fresh;
}

/* Lines of a row of which blocks send columns at their sides alone. 0 also if memory is
 * exhausted. */
static double lines_of_sides(const tz_problem *problem, const tz_resident *d)
{
    const cuts c = cuts_of(problem, d, 0);
    const int64_t apart = tz_resident_slots_apart(problem, d);
    const int64_t lines_all = apart * d->cells[0] / TZ_RESIDENT_LINE_SLOTS + 1;
    bool *marks = c.blocks > 1 ? calloc((size_t)lines_all, sizeof *marks) : NULL;
    double lines = 0.0;
    for (int64_t b = 0; marks && b < c.blocks; b++) {
        const sent_cells sent = sent_of(&c, b);
        lines += mark_columns(d, apart, own_begin(&c, b), sent.low, marks);
        lines += mark_columns(d, apart, own_begin(&c, b + 1) - sent.high, sent.high, marks);
    }
    free(marks);
    return lines;
}

double tz_resident_slots_bytes(const tz_problem *problem, const tz_resident *d)
{
    const cuts y = cuts_of(problem, d, 1), z = cuts_of(problem, d, 2);
    const double rows = (double)y.n * (double)z.n;
    const double sides = ((double)y.n - sent_along(&y)) * ((double)z.n - sent_along(&z));
    const double whole =
        (double)tz_resident_slots_apart(problem, d) * d->cells[0] / TZ_RESIDENT_LINE_SLOTS;
    const double side = fmin(whole, lines_of_sides(problem, d));
    return ((rows - sides) * whole + sides * side) * d->sent_words * TZ_CUDA_LINE_BYTES *
           TZ_RESIDENT_SETS;
}
