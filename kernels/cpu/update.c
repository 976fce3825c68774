/* Computes the largest change and the sum of changes of one iteration, part by part on all threads.
 * Called by core/backend/cpu for the residual. */
#include "kernels/cpu/update.h"

#include "base/minmax.h"
#include "kernels/cpu/finish.h"
#include "kernels/cpu/stored.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum {
    LANES = TZ_UPDATE_LANES,
    RING_BYTES = 256 << 10, /* of all rings in 3-D, about: they stay in L2 */
    ROWS_LEAST = 4,         /* of a tile in 3-D */
    CHUNK_LEAST = 16,       /* slabs */
    JOBS_OF_THREAD = 4,
    PARALLEL_ELEMENTS = 16384 /* for fewer elements, one thread is faster */
};

/* ---- Rows ------------------------------------------------------------------------------------ */

/* What a thread has found so far; sums: of the present segment. */
typedef struct tally {
    double sums[LANES], largest[LANES], magnitude[LANES];
} tally;

typedef void widen_fn(const float *from, int64_t count, double *to);
typedef void measure_fn(const double *now, const double *old, int64_t count, tally *t);

#define ADD_CHANGE(lane)                                                                           \
    {                                                                                              \
        const double change = fabs(now[i + (lane)] - old[i + (lane)]);                             \
        const double value = fabs(old[i + (lane)]);                                                \
        own.sums[lane] += change;                                                                  \
        own.largest[lane] = change > own.largest[lane] ? change : own.largest[lane];               \
        own.magnitude[lane] = value > own.magnitude[lane] ? value : own.magnitude[lane];           \
    }
/* The compiler vectorises the loops for an instruction set. */
#define ROW_FUNCTIONS(isa, name, form, bytes, only, has, target)                                   \
    TZ_ISA_TARGET(target) static void widen_##isa(const float *from, int64_t count, double *to)    \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++)                                                        \
            to[i] = from[i];                                                                       \
    }                                                                                              \
    TZ_ISA_TARGET(target)                                                                          \
    static void measure_##isa(const double *now, const double *old, int64_t count, tally *t)       \
    {                                                                                              \
        tally own = *t;                                                                            \
        int64_t i = 0;                                                                             \
        for (; i + LANES <= count; i += LANES)                                                     \
            for (int lane = 0; lane < LANES; lane++)                                               \
                ADD_CHANGE(lane)                                                                   \
        for (int lane = 0; lane < count - i; lane++)                                               \
            ADD_CHANGE(lane)                                                                       \
        *t = own;                                                                                  \
    }
TZ_ISA_TABLE(ROW_FUNCTIONS)
#define WIDEN(isa, name, form, bytes, only, has, target) widen_##isa,
#define MEASURE(isa, name, form, bytes, only, has, target) measure_##isa,
static widen_fn *const widen[TZ_ISA_COUNT] = {TZ_ISA_TABLE(WIDEN)};
static measure_fn *const measure[TZ_ISA_COUNT] = {TZ_ISA_TABLE(MEASURE)};

static void measure_integers(const tz_element_type *type, const char *now, const char *old,
                             int64_t count, tally *t)
{
    double a[LANES], b[LANES];
    for (int64_t i = 0; i < count; i += LANES) {
        const int some = (int)tz_min(LANES, count - i);
        type->get(now + i * (int64_t)type->size, some, a);
        type->get(old + i * (int64_t)type->size, some, b);
        for (int lane = 0; lane < some; lane++) {
            const double change = fabs(a[lane] - b[lane]), value = fabs(b[lane]);
            t->sums[lane] += change;
            t->largest[lane] = fmax(t->largest[lane], change);
            t->magnitude[lane] = fmax(t->magnitude[lane], value);
        }
    }
}

/* Words x to x + count - 1 of a row of `words`; bit b of word i is column b*words + i. */
static void measure_bits(const uint32_t *now, const uint32_t *old, int64_t x, int64_t count,
                         int64_t columns, int64_t words, tally *t)
{
    for (int64_t i = 0; i < count; i++) {
        const int64_t valid = columns / words + (x + i < columns % words);
        const uint32_t cells = valid >= 32 ? UINT32_MAX : (UINT32_C(1) << valid) - 1;
        const uint32_t changed = (now[i] ^ old[i]) & cells;
        t->sums[i % LANES] += __builtin_popcount(changed);
        t->largest[0] = changed ? 1.0 : t->largest[0];
        t->magnitude[0] = old[i] & cells ? 1.0 : t->magnitude[0];
    }
}

static double combine_lanes(double *lanes)
{
    for (int half = LANES / 2; half >= 1; half /= 2)
        for (int i = 0; i < half; i++)
            lanes[i] += lanes[i + half];
    return lanes[0];
}

/* ---- Geometry -------------------------------------------------------------------------------- */

/* How a pass is cut into parts: a segment of the rows, a range of rows in 3-D, a chunk of slabs.
 * Slabs are rows in 2-D and planes in 3-D; in 1-D there is one slab. */
typedef struct cut {
    int radius, window; /* along the slabs */
    int halo_x, halo_y; /* elements around the part of a slab in a ring */
    int64_t low, width; /* first slab, in 1-D element, and elements of a row */
    int64_t slabs, rows, chunk;
    int64_t segments, bands, chunks;
    ptrdiff_t stride;      /* elements from a row of a ring to the next */
    ptrdiff_t slab_stride; /* elements from a slab to the next */
} cut;

static cut cut_of(const tz_update_job *job, int radius, int threads)
{
    const tz_stage *stage = job->stage;
    const bool flat = stage->dims == 1;
    cut c = {.slabs = flat ? 1 : job->high - job->low,
             .low = job->low,
             .width = flat ? job->high - job->low : stage->elements[0],
             .radius = stage->dims == 1 ? 0 : radius,
             .halo_x = stage->ghost,
             .halo_y = stage->dims == 3 ? stage->ghost : 0,
             .rows = 1};
    const int64_t width = c.width < TZ_UPDATE_SEGMENT ? c.width : TZ_UPDATE_SEGMENT;
    c.window = 2 * c.radius + 1;
    c.stride = (ptrdiff_t)tz_round_up(width + 2 * c.halo_x, 8);
    if (stage->dims == 3) {
        const int64_t fit = RING_BYTES / 8 / c.stride / c.window - 2 * c.halo_y;
        c.rows = fit < ROWS_LEAST ? ROWS_LEAST : fit;
        c.rows = c.rows < stage->elements[1] ? c.rows : stage->elements[1];
    }
    c.slab_stride = c.stride * (ptrdiff_t)(c.rows + 2 * c.halo_y);
    c.segments = (c.width + TZ_UPDATE_SEGMENT - 1) / TZ_UPDATE_SEGMENT;
    c.bands = stage->dims == 3 ? (stage->elements[1] + c.rows - 1) / c.rows : 1;
    const int64_t wanted = (int64_t)threads * JOBS_OF_THREAD;
    c.chunk = (c.slabs * c.segments * c.bands + wanted - 1) / wanted;
    c.chunk = c.chunk < CHUNK_LEAST ? CHUNK_LEAST : c.chunk < c.slabs ? c.chunk : c.slabs;
    c.chunks = (c.slabs + c.chunk - 1) / c.chunk;
    return c;
}

/* Each field has the rings of the largest window, and a slab for its new values. */
size_t tz_update_work_bytes(const tz_stage *stage)
{
    size_t most = 0;
    for (int p = 0; p < stage->stencil->passes_count; p++) {
        const tz_update_job job = {.stage = stage, .high = stage->elements[stage->dims - 1]};
        const cut c = cut_of(&job, stage->stencil->passes[p].radius, 1);
        const size_t bytes = (size_t)c.slab_stride * (size_t)(c.window + 1) * sizeof(double);
        most = bytes > most ? bytes : most;
    }
    return (size_t)tz_round_up((int64_t)(most * (size_t)stage->stencil->fields_count), 64);
}

/* ---- A part of a pass ------------------------------------------------------------------------ */

typedef struct part {
    const tz_update_job *job;
    const tz_pass *pass;
    tz_row_fn *rows;
    cut cut;
    uint32_t near; /* mask of the fields that it reads in its own slab alone */
    int64_t segment, x_low, width;
    int64_t y_low, height; /* rows of a slab */
    char *ring[TZ_FIELDS_MAX], *now[TZ_FIELDS_MAX];
    tally tally;
} part;

static bool is_real(const tz_stage *stage, int f)
{
    return tz_type_is_real(stage->stencil->fields[f].type);
}

/* Bytes of an element in a ring. */
static size_t wide_size(const tz_stage *stage, int f)
{
    return is_real(stage, f) ? sizeof(double) : stage->element_size[f];
}

/* Slabs before and after that the pass reads: the same number for all fields that it reads in other
 * slabs than its own. */
static int reach_of(const part *p, int f)
{
    return p->near >> f & 1 ? 0 : p->cut.radius;
}

/* Slab j of a field in its ring; j may be outside the grid. */
static char *slab_at(const part *p, int f, int64_t j)
{
    const int64_t depth = 2 * reach_of(p, f) + 1, slot = (j % depth + depth) % depth;
    return p->ring[f] + slot * p->cut.slab_stride * (ptrdiff_t)wide_size(p->job->stage, f);
}

/* Copy elements to a ring. `step` is 0 if all are the element `from`. */
static void take_row(const tz_stage *stage, int f, const char *from, int step, int64_t count,
                     char *to)
{
    enum { SOME = 512 };
    const size_t wide = wide_size(stage, f), size = stage->element_size[f];
    float values[SOME];
    if (step == 0) {
        take_row(stage, f, from, 1, 1, to);
        for (int64_t i = 1; i < count; i++)
            memcpy(to + i * (int64_t)wide, to, wide);
    } else if (!tz_stage_as_computed(stage, f)) {
        for (int64_t i = 0, n; i < count; i += n, from += (size_t)n * size) {
            n = tz_min(SOME, count - i);
            tz_stored_load(&stage->storage[f], stage->isa, from, n, values);
            widen[stage->isa](values, n, (double *)(void *)to + i);
        }
    } else if (is_real(stage, f) && size == sizeof(float)) {
        widen[stage->isa]((const float *)(const void *)from, count, (double *)(void *)to);
    } else {
        memcpy(to, from, (size_t)count * wide);
    }
}

/* Copy the part of slab j, with its halo, to the ring. */
static void take_slab(const part *p, int f, int64_t j)
{
    const tz_stage *stage = p->job->stage;
    const cut *c = &p->cut;
    const tz_host_field *host = &stage->in[f];
    const ptrdiff_t size = (ptrdiff_t)stage->element_size[f];
    const ptrdiff_t distance = stage->dims == 3   ? host->plane_stride
                               : stage->dims == 2 ? host->row_stride
                                                  : 0;
    const int64_t from = stage->dims == 1 ? 0
                                          : tz_ghost_source(stage->boundary[stage->dims - 1], j,
                                                            stage->elements[stage->dims - 1]);
    const int64_t count = p->width + 2 * c->halo_x, x = p->x_low - c->halo_x;
    char *to = slab_at(p, f, j);
    for (int64_t y = -c->halo_y; y < p->height + c->halo_y; y++) {
        const int64_t row = stage->dims < 3 ? 0 : p->y_low + y;
        if (from < 0) {
            const tz_view *outside = &stage->outside[f][2 * stage->dims - 3 - from];
            take_row(stage, f, (const char *)outside->at + (row * outside->row_stride + x) * size,
                     1, count, to);
        } else if (host->uniform) {
            take_row(stage, f, host->origin, 0, count, to);
        } else {
            take_row(stage, f, host->origin + (from * distance + row * host->row_stride + x) * size,
                     1, count, to);
        }
        to += c->stride * (ptrdiff_t)wide_size(stage, f);
    }
}

/* The first element of the part of slab j. */
static char *inside_at(const part *p, int f, int64_t j)
{
    return slab_at(p, f, j) +
           (p->cut.halo_y * p->cut.stride + p->cut.halo_x) * (ptrdiff_t)wide_size(p->job->stage, f);
}

static void compute_slab(const part *p, int64_t k)
{
    const tz_stage *stage = p->job->stage;
    const cut *c = &p->cut;
    tz_view in[TZ_FIELDS_MAX * (2 * TZ_RADIUS_MAX + 1)];
    tz_target out[TZ_FIELDS_MAX] = {{0}};
    for (int f = 0; f < stage->stencil->fields_count; f++) {
        const int reach = reach_of(p, f);
        for (int d = -c->radius; d <= c->radius; d++)
            in[f * c->window + c->radius + d] =
                (tz_view){inside_at(p, f, reach > 0 ? k + d : k), c->stride};
        if (p->pass->writes >> f & 1)
            out[f] = (tz_target){p->now[f], c->stride};
    }
    /* Row functions do arithmetic on derived fields' pointers, too, which nothing reads. */
    for (int v = stage->stencil->fields_count * c->window;
         v < tz_stencil_fields_all(stage->stencil) * c->window; v++)
        in[v] = (tz_view){NULL, 0};
    const tz_span span = {
        .in = in,
        .out = out,
        .constants = stage->constants,
        .count = p->width,
        .rows = p->height,
        .x = stage->dims == 1 ? tz_stage_coordinate(stage, p->x_low) : p->x_low,
        .y = stage->dims == 2 ? tz_stage_coordinate(stage, k) : p->y_low,
        .z = stage->dims == 3 ? tz_stage_coordinate(stage, k) : 0,
        .step = stage->step,
        .engine = p->pass->engine,
    };
    p->rows(&span);
}

/* Cells that the residual leaves out have their old value. */
static void leave_out(const part *p, int f, const void *old, int64_t k, int64_t y, void *now)
{
    const tz_stage *stage = p->job->stage;
    const int excluding = tz_stencil_excluding(stage->stencil);
    const size_t size = wide_size(stage, f);
    if (excluding < 0)
        return;
    const char *mask = inside_at(p, excluding, k) + y * p->cut.stride * (ptrdiff_t)sizeof(int32_t);
    for (int64_t i = 0; i < p->width; i++)
        if (((const int32_t *)(const void *)mask)[i])
            memcpy((char *)now + (size_t)i * size, (const char *)old + (size_t)i * size, size);
}

/* Add the changes of a row of slab k to the tally and to its segment. */
static void measure_row(part *p, int f, int64_t k, int64_t y)
{
    const tz_stage *stage = p->job->stage;
    const cut *c = &p->cut;
    const int64_t ny = stage->dims == 3 ? stage->elements[1] : 1;
    const int64_t row = k * ny + p->y_low + y;
    const ptrdiff_t offset = y * c->stride * (ptrdiff_t)wide_size(stage, f);
    void *now = p->now[f] + offset;
    const void *old = inside_at(p, f, k) + offset;
    leave_out(p, f, old, k, y, now);
    memset(p->tally.sums, 0, sizeof p->tally.sums);
    if (is_real(stage, f))
        measure[stage->isa](now, old, p->width, &p->tally);
    else if (stage->bits)
        measure_bits(now, old, p->x_low, p->width, stage->columns, stage->elements[0], &p->tally);
    else
        measure_integers(tz_element_type_of(stage->stencil->fields[f].type, TZ_PRECISION_RESIDUAL),
                         now, old, p->width, &p->tally);
    const int64_t line = row - (stage->dims == 1 ? 0 : c->low * ny);
    p->job->sums[line * c->segments + p->segment] += combine_lanes(p->tally.sums);
    double *changes = p->job->changes ? p->job->changes[f] : NULL;
    for (int64_t i = 0; changes && i < p->width; i++)
        changes[row * stage->elements[0] + p->x_low + i] =
            ((const double *)now)[i] - ((const double *)old)[i];
}

static uint32_t near_fields(const tz_stage *stage, const tz_pass *pass)
{
    uint32_t near = 0;
    for (int f = 0; f < stage->stencil->fields_count; f++) {
        const tz_reads reads = tz_stencil_reads(stage->stencil, pass, f);
        if (stage->dims > 1 && reads.low[stage->dims - 1] == 0 && reads.high[stage->dims - 1] == 0)
            near |= 1u << f;
    }
    return near;
}

static bool has_memory(const tz_stencil *stencil, int f)
{
    return stencil->fields[f].role == TZ_STATE || stencil->fields[f].role == TZ_STATIC;
}

static void run_part(part *p, int64_t slab_low, int64_t slab_high)
{
    const tz_stencil *stencil = p->job->stage->stencil;
    for (int64_t j = slab_low - p->cut.radius; j < slab_high + p->cut.radius; j++) {
        const int64_t k = j - p->cut.radius;
        for (int f = 0; f < stencil->fields_count; f++)
            if (has_memory(stencil, f) && reach_of(p, f) > 0)
                take_slab(p, f, j);
            else if (has_memory(stencil, f) && k >= slab_low)
                take_slab(p, f, k);
        if (k < slab_low)
            continue;
        compute_slab(p, k);
        for (int f = 0; f < stencil->fields_count; f++)
            for (int64_t y = 0; p->pass->writes >> f & 1 && y < p->height; y++)
                measure_row(p, f, k, y);
    }
}

/* Part `index` of a pass. */
static void make_part(part *p, int64_t index, char *work)
{
    const tz_stage *stage = p->job->stage;
    const cut *c = &p->cut;
    const int64_t band = index / c->segments % c->bands;
    p->segment = index % c->segments;
    p->x_low = p->segment * TZ_UPDATE_SEGMENT;
    p->width = c->width - p->x_low;
    p->x_low += stage->dims == 1 ? c->low : 0;
    p->width = p->width < TZ_UPDATE_SEGMENT ? p->width : TZ_UPDATE_SEGMENT;
    p->y_low = band * c->rows;
    p->height = stage->dims == 3 ? stage->elements[1] - p->y_low : 1;
    p->height = p->height < c->rows ? p->height : c->rows;
    const size_t slab = (size_t)c->slab_stride * sizeof(double);
    for (int f = 0; f < stage->stencil->fields_count; f++, work += slab * (size_t)(c->window + 1)) {
        p->ring[f] = work;
        p->now[f] = work + slab * (size_t)c->window;
    }
    p->tally = (tally){{0}, {0}, {0}};
}

/* A pass, of which each thread takes one part after the other. */
typedef struct sweep {
    const tz_update_job *job;
    const tz_pass *pass;
    tz_row_fn *rows;
    cut cut;
    uint32_t near;
    size_t work_bytes; /* of a thread */
    _Atomic int64_t next;
    pthread_mutex_t lock;
    double largest, magnitude;
} sweep;

static void sweep_parts(void *any, int thread, int count)
{
    sweep *s = any;
    const cut *c = &s->cut;
    const int64_t across = c->segments * c->bands;
    double largest = 0.0, magnitude = 0.0;
    (void)count;
    for (int64_t n; (n = atomic_fetch_add(&s->next, 1)) < across * c->chunks;) {
        part p = {.job = s->job, .pass = s->pass, .rows = s->rows, .cut = *c, .near = s->near};
        const int64_t done = n / across * c->chunk, left = c->slabs - done;
        const int64_t low = s->job->stage->dims == 1 ? 0 : c->low + done;
        make_part(&p, n, s->job->work + (size_t)thread * s->work_bytes);
        run_part(&p, low, low + tz_min(c->chunk, left));
        for (int lane = 0; lane < LANES; lane++) {
            largest = tz_max_double(p.tally.largest[lane], largest);
            magnitude = tz_max_double(p.tally.magnitude[lane], magnitude);
        }
    }
    pthread_mutex_lock(&s->lock);
    s->largest = tz_max_double(largest, s->largest);
    s->magnitude = tz_max_double(magnitude, s->magnitude);
    pthread_mutex_unlock(&s->lock);
}

void tz_update_run(const tz_update_job *job, double *largest, double *magnitude)
{
    const tz_stage *stage = job->stage;
    int64_t elements = job->high - job->low;
    for (int axis = 0; axis < stage->dims - 1; axis++)
        elements *= stage->elements[axis];
    const int threads = elements < PARALLEL_ELEMENTS ? 1 : stage->threads;
    sweep s = {
        .job = job, .work_bytes = tz_update_work_bytes(stage), .lock = PTHREAD_MUTEX_INITIALIZER};
    for (int i = 0; i < stage->stencil->passes_count; i++) {
        s.pass = &stage->stencil->passes[i];
        s.rows = tz_stage_rows(stage, s.pass);
        s.cut = cut_of(job, s.pass->radius, threads);
        s.near = near_fields(stage, s.pass);
        atomic_init(&s.next, 0);
        tz_threads_run(stage->pool, threads, sweep_parts, &s);
    }
    *largest = s.largest;
    *magnitude = s.magnitude;
}
