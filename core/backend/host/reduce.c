/* Reductions, update norms and checks for finite values, by rows and segments of host fields.
 * Called by the cpu and reference backends, host/, slabs/ and core/sim; backend/cuda calls the last
 * steps. */
#include "backend/host/reduce.h"

#include "base/minmax.h"
#include "kernels/cpu/update.h"
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEGMENT = TZ_REDUCE_SEGMENT,
    LANES = 32,
    PARALLEL_CELLS = 65536 /* for fewer cells, one thread is faster */
};

static inline uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    z = (z ^ (z >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return z ^ (z >> 32);
}

/* The reduction of one segment. */
typedef struct partial {
    double min, max, sum;
    int64_t population, not_finite, first_not_finite; /* first: index in the row, -1 none */
    uint64_t hash;
} partial;

static double combine_lanes(double *lanes)
{
    for (int half = LANES / 2; half >= 1; half /= 2)
        for (int i = 0; i < half; i++)
            lanes[i] += lanes[i + half];
    return lanes[0];
}

/* value - value is 0 if it is finite, else NaN. Compilers vectorise these loops. */
#define SEGMENT_FUNCTION(element, of, precision, type, ...)                                        \
    static void segment_##element(const void *at, int64_t count, int64_t index, partial *out)      \
    {                                                                                              \
        const type *cells = at;                                                                    \
        double lanes[LANES] = {0}, low[LANES], high[LANES];                                        \
        for (int lane = 0; lane < LANES; lane++) {                                                 \
            low[lane] = INFINITY;                                                                  \
            high[lane] = -INFINITY;                                                                \
        }                                                                                          \
        int64_t population = 0, not_finite = 0;                                                    \
        uint64_t hash = 0;                                                                         \
        for (int64_t i = 0; i < count; i += LANES) {                                               \
            const int width = count - i < LANES ? (int)(count - i) : LANES;                        \
            for (int lane = 0; lane < width; lane++) {                                             \
                const type value = cells[i + lane];                                                \
                const int ok = value - value == 0;                                                 \
                const double number = (double)value;                                               \
                const type one_nan = value == value ? value : (type)NAN;                           \
                uint64_t bits = 0;                                                                 \
                memcpy(&bits, &one_nan, sizeof one_nan);                                           \
                lanes[lane] += number;                                                             \
                low[lane] = ok && number < low[lane] ? number : low[lane];                         \
                high[lane] = ok && number > high[lane] ? number : high[lane];                      \
                population += value != 0;                                                          \
                not_finite += !ok;                                                                 \
                const uint64_t hashed = mix(mix(bits) + (uint64_t)(index + i + lane));             \
                hash += bits ? hashed : 0;                                                         \
            }                                                                                      \
        }                                                                                          \
        out->min = low[0];                                                                         \
        out->max = high[0];                                                                        \
        for (int lane = 1; lane < LANES; lane++) {                                                 \
            out->min = low[lane] < out->min ? low[lane] : out->min;                                \
            out->max = high[lane] > out->max ? high[lane] : out->max;                              \
        }                                                                                          \
        out->sum = combine_lanes(lanes);                                                           \
        out->population = population;                                                              \
        out->not_finite = not_finite;                                                              \
        out->hash = hash;                                                                          \
        out->first_not_finite = -1;                                                                \
        for (int64_t i = 0; not_finite && i < count && out->first_not_finite < 0; i++) {           \
            const type value = cells[i];                                                           \
            if (value - value != 0)                                                                \
                out->first_not_finite = i;                                                         \
        }                                                                                          \
    }

TZ_ELEMENT_TABLE(SEGMENT_FUNCTION)

#define FINITE_FUNCTION(element, of, precision, type, ...)                                         \
    static int64_t not_finite_##element(const void *at, int64_t count)                             \
    {                                                                                              \
        const type *cells = at;                                                                    \
        int64_t found = 0;                                                                         \
        for (int64_t i = 0; i < count; i++)                                                        \
            found += !(cells[i] - cells[i] == 0);                                                  \
        return found;                                                                              \
    }
TZ_ELEMENT_TABLE(FINITE_FUNCTION)

#define DIFFERENCE_FUNCTION(element, of, precision, type, ...)                                     \
    static double difference_##element(const void *one, const void *other, int64_t count)          \
    {                                                                                              \
        const type *a = one, *b = other;                                                           \
        double largest = 0.0;                                                                      \
        int64_t nans = 0;                                                                          \
        for (int64_t i = 0; i < count; i++) {                                                      \
            const double d = fabs((double)a[i] - (double)b[i]);                                    \
            largest = d > largest ? d : largest;                                                   \
            nans += d != d;                                                                        \
        }                                                                                          \
        return nans ? INFINITY : largest;                                                          \
    }
TZ_ELEMENT_TABLE(DIFFERENCE_FUNCTION)

/* For each element type; words have functions of their own. */
#define FUNCTIONS(element, ...) {segment_##element, not_finite_##element, difference_##element},
static const struct {
    void (*segment)(const void *at, int64_t count, int64_t index, partial *out);
    int64_t (*not_finite)(const void *at, int64_t count);
    double (*difference)(const void *one, const void *other, int64_t count);
} functions[TZ_ELEMENTS] = {TZ_ELEMENT_TABLE(FUNCTIONS)};

/* The mask of the bits of word i of a row that are cells: bit b is column b*words + i. */
static inline uint32_t cells_of_word(int64_t columns, int64_t words, int64_t i)
{
    const int64_t valid = columns / words + (i < columns % words);
    return valid >= 32 ? UINT32_MAX : (UINT32_C(1) << valid) - 1;
}

/* Words first to first + count - 1 of a row whose first cell is number `index`. */
static void segment_bits(const uint32_t *row, bool uniform, int64_t columns, int64_t words,
                         int64_t first, int64_t count, int64_t index, partial *out)
{
    const uint64_t bits = mix(1);
    for (int64_t i = first; i < first + count; i++) {
        const uint32_t cells = cells_of_word(columns, words, i);
        uint32_t word = row[uniform ? 0 : i] & cells;
        out->min = word == cells ? out->min : 0.0;
        out->max = word ? 1.0 : out->max;
        out->population += __builtin_popcount(word);
        for (; word; word &= word - 1)
            out->hash += mix(bits + (uint64_t)(index + __builtin_ctz(word) * words + i));
    }
    out->sum = (double)out->population;
}

/* The pairwise sum; overwrites `sums`; 0 if count is 0. */
static double pairwise(double *sums, int64_t count)
{
    while (count > 1) {
        const int64_t half = count / 2;
        for (int64_t i = 0; i < half; i++)
            sums[i] = sums[2 * i] + sums[2 * i + 1];
        if (count % 2)
            sums[half] = sums[count - 1];
        count = half + count % 2;
    }
    return count ? sums[0] : 0.0;
}

static const char *row_at(const tz_problem *problem, const tz_host_field *host, int64_t row,
                          size_t size)
{
    const int64_t y = row % problem->extent[1], z = row / problem->extent[1];
    return host->origin + (y * host->row_stride + z * host->plane_stride) * (ptrdiff_t)size;
}

/* What updates compute with: the elements, or loaded into `room` for SEGMENT of them. */
static const void *computed_of(const tz_problem *problem, int field, const void *elements,
                               int64_t count, float *room)
{
    if (tz_problem_as_computed(problem, field))
        return elements;
    tz_stored_load(&problem->storage[field], tz_machine_isa(), elements, count, room);
    return room;
}

/* A uniform field has only a short row: repeat its value into `cells`. */
static void uniform_segment(const tz_host_field *host, size_t size, int64_t count, char *cells)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(cells + i * (int64_t)size, host->origin, size);
}

static int64_t update_segments_of_row(const tz_problem *problem)
{
    return (problem->elements[0] + TZ_UPDATE_SEGMENT - 1) / TZ_UPDATE_SEGMENT;
}

tz_status tz_update_begin(tz_update_sums *sums, const tz_problem *problem, tz_error *error)
{
    const int64_t rows = problem->elements[1] * problem->elements[2];
    *sums = (tz_update_sums){.problem = problem, .count = rows * update_segments_of_row(problem)};
    sums->sums = calloc((size_t)sums->count, sizeof *sums->sums);
    return sums->sums ? TZ_OK
                      : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a residual");
}

int64_t tz_update_first(const tz_problem *slab)
{
    const int64_t low = slab->slab.of ? slab->slab.first + slab->slab.low : 0;
    const int64_t rows = slab->dims == 3 ? slab->extent[1] : 1;
    return slab->dims == 1 ? low / TZ_UPDATE_SEGMENT : low * rows * update_segments_of_row(slab);
}

void tz_update_end(tz_update_sums *sums, tz_update *out)
{
    *out = (tz_update){.largest = sums->largest, .magnitude = sums->magnitude};
    if (sums->sums)
        out->sum = pairwise(sums->sums, sums->count);
    if (isnan(out->sum))
        out->sum = out->largest = NAN; /* which NaN arithmetic gives depends on the machine */
    free(sums->sums);
    sums->sums = NULL;
}

static int64_t segments_of_row(const tz_problem *problem)
{
    return (problem->elements[0] + SEGMENT - 1) / SEGMENT;
}

tz_status tz_reduce_begin(tz_reduce_sums *sums, const tz_problem *problem, int field,
                          tz_error *error)
{
    const int64_t rows = problem->extent[1] * problem->extent[2];
    *sums = (tz_reduce_sums){
        .problem = problem, .field = field, .low = INFINITY, .high = -INFINITY, .first = INT64_MAX};
    sums->count = rows * segments_of_row(problem);
    sums->sums = malloc((size_t)sums->count * sizeof *sums->sums);
    return sums->sums ? TZ_OK
                      : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to reduce a field");
}

/* A part of a field, whose segments the threads share. */
typedef struct adding {
    tz_reduce_sums *sums;
    const tz_host_field *host;
    int64_t row_low, x_low, x_high, segments; /* segments: of a row */
    char *scratch;                            /* for each thread, of a uniform field */
    pthread_mutex_t lock;                     /* of what is found */
} adding;

static partial reduce_segment(const adding *a, int64_t row, int64_t x, char *scratch)
{
    const tz_problem *problem = a->sums->problem;
    const tz_host_field *host = a->host;
    const int64_t columns = problem->extent[0];
    const int64_t count = tz_min(SEGMENT, a->x_high - x), index = row * columns + x;
    const size_t size = tz_problem_element_size(problem, a->sums->field);
    const char *whole = row_at(problem, host, row, size);
    const void *at = whole + x * (int64_t)size;
    partial p = {.min = 1.0, .first_not_finite = -1};
    float room[SEGMENT];
    if (host->uniform && !problem->bits) {
        uniform_segment(host, size, count, scratch);
        at = scratch;
    }
    if (problem->bits)
        segment_bits((const void *)whole, host->uniform, columns, problem->elements[0], x, count,
                     row * columns, &p);
    else
        functions[tz_problem_computed_type(problem, a->sums->field)->element].segment(
            computed_of(problem, a->sums->field, at, count, room), count, index, &p);
    return p;
}

static void add_segments(void *any, int64_t begin, int64_t end, int thread)
{
    adding *a = any;
    tz_reduce_sums *sums = a->sums;
    const tz_problem *problem = sums->problem;
    tz_reduce_sums own = {.low = INFINITY, .high = -INFINITY, .first = INT64_MAX};
    char *scratch = a->scratch ? a->scratch + (size_t)thread * SEGMENT * 8 : NULL;
    for (int64_t i = begin; i < end; i++) {
        const int64_t row = a->row_low + i / a->segments, x = a->x_low + i % a->segments * SEGMENT;
        const partial p = reduce_segment(a, row, x, scratch);
        sums->sums[row * segments_of_row(problem) + x / SEGMENT] = p.sum;
        own.low = tz_min_double(p.min, own.low);
        own.high = tz_max_double(p.max, own.high);
        own.population += p.population;
        own.not_finite += p.not_finite;
        own.hash += p.hash;
        if (p.first_not_finite >= 0)
            own.first = tz_min(own.first, row * problem->extent[0] + x + p.first_not_finite);
    }
    pthread_mutex_lock(&a->lock);
    sums->low = tz_min_double(own.low, sums->low);
    sums->high = tz_max_double(own.high, sums->high);
    sums->population += own.population;
    sums->not_finite += own.not_finite;
    sums->first = tz_min(own.first, sums->first);
    sums->hash += own.hash;
    pthread_mutex_unlock(&a->lock);
}

tz_status tz_reduce_add(tz_reduce_sums *sums, const tz_host_field *host, int64_t row_low,
                        int64_t row_high, int64_t x_low, int64_t x_high, tz_threads *threads,
                        tz_error *error)
{
    const int64_t rows = row_high - row_low;
    adding a = {.sums = sums,
                .host = host,
                .row_low = row_low,
                .x_low = x_low,
                .x_high = x_high,
                .segments = (x_high - x_low + SEGMENT - 1) / SEGMENT,
                .lock = PTHREAD_MUTEX_INITIALIZER};
    if (host->uniform)
        a.scratch = malloc((size_t)tz_threads_count(threads) * SEGMENT * 8);
    if (host->uniform && !a.scratch)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to reduce a field");
    tz_threads_for((x_high - x_low) * rows > PARALLEL_CELLS ? threads : NULL, rows * a.segments,
                   add_segments, &a);
    free(a.scratch);
    return TZ_OK;
}

void tz_reduce_end(tz_reduce_sums *sums, tz_reduction *out)
{
    const int64_t *n = sums->problem->extent;
    /* -0 becomes +0: comparisons do not order them. */
    *out = (tz_reduction){.min = sums->low + 0.0,
                          .max = sums->high + 0.0,
                          .population = sums->population,
                          .not_finite = sums->not_finite,
                          .hash = sums->hash};
    if (sums->sums)
        out->sum = pairwise(sums->sums, sums->count);
    if (isnan(out->sum))
        out->sum = NAN; /* which NaN arithmetic gives depends on the machine */
    for (int d = 0; d < TZ_AXES; d++)
        out->hash = mix(out->hash ^ (uint64_t)n[d]);
    if (out->not_finite) {
        out->first_not_finite[0] = sums->first % n[0];
        out->first_not_finite[1] = sums->first / n[0] % n[1];
        out->first_not_finite[2] = sums->first / n[0] / n[1];
    }
    free(sums->sums);
    sums->sums = NULL;
}

tz_status tz_reduce_add_own(tz_reduce_sums *sums, const tz_problem *own, const tz_host_field *host,
                            tz_threads *threads, tz_error *error)
{
    const tz_problem *whole = sums->problem;
    const int axis = whole->dims - 1;
    const ptrdiff_t strides[TZ_AXES] = {host->uniform ? 0 : 1, host->row_stride,
                                        host->plane_stride};
    int64_t low, high;
    tz_problem_own(own, &low, &high);
    low += own->slab.first;
    high += own->slab.first;
    const int64_t rows = axis == 2 ? whole->extent[1] : 1; /* of a row or plane */
    tz_host_field moved = *host;
    moved.origin -=
        own->slab.first * strides[axis] * (ptrdiff_t)tz_problem_element_size(whole, sums->field);
    return axis == 0 ? tz_reduce_add(sums, &moved, 0, 1, low, high, threads, error)
                     : tz_reduce_add(sums, &moved, low * rows, high * rows, 0, whole->elements[0],
                                     threads, error);
}

/* ---- Own cells ------------------------------------------------------------------------------- */

/* The rows and elements of a problem that are its own. */
typedef struct range {
    int64_t row_low, row_high, x_low, x_high;
} range;

static range own_range(const tz_problem *problem)
{
    range r = {0, problem->extent[1] * problem->extent[2], 0, problem->elements[0]};
    const int64_t rows = problem->dims == 3 ? problem->extent[1] : 1;
    if (problem->slab.of && problem->dims == 1) {
        r.x_low = problem->slab.low;
        r.x_high = problem->slab.high;
    } else if (problem->slab.of) {
        r.row_low = problem->slab.low * rows;
        r.row_high = problem->slab.high * rows;
    }
    return r;
}

/* The own cells of a field, which the threads look through. */
typedef struct look {
    const tz_problem *problem;
    const tz_host_field *a, *b; /* b: only for a difference */
    range own;
    int field;
    int64_t segments; /* of a row */
    size_t size;
    tz_element element;
    atomic_bool not_finite;
    pthread_mutex_t lock;
    double largest; /* difference */
} look;

static look look_at(const tz_problem *problem, int field, const tz_host_field *a,
                    const tz_host_field *b)
{
    look l = {.problem = problem,
              .a = a,
              .b = b,
              .own = own_range(problem),
              .field = field,
              .size = tz_problem_element_size(problem, field),
              .element = tz_problem_computed_type(problem, field)->element,
              .lock = PTHREAD_MUTEX_INITIALIZER};
    l.segments = problem->bits ? 1 : (l.own.x_high - l.own.x_low + SEGMENT - 1) / SEGMENT;
    return l;
}

static void look_through(look *l, tz_threads *threads, tz_threads_loop *loop)
{
    const int64_t nx = l->own.x_high - l->own.x_low, rows = l->own.row_high - l->own.row_low;
    tz_threads_for(nx * rows > PARALLEL_CELLS ? threads : NULL, rows * l->segments, loop, l);
}

/* Segment i of the own cells: its elements of a field, as computed; `room` for SEGMENT of them. */
static const void *segment_of(const look *l, const tz_host_field *field, int64_t i, int64_t *count,
                              float *room)
{
    const int64_t row = l->own.row_low + i / l->segments;
    const int64_t x = l->own.x_low + i % l->segments * SEGMENT;
    const char *at = row_at(l->problem, field, row, l->size) + x * (int64_t)l->size;
    *count = tz_min(SEGMENT, l->own.x_high - x);
    return computed_of(l->problem, l->field, at, *count, room);
}

static void find_not_finite(void *any, int64_t begin, int64_t end, int thread)
{
    look *l = any;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        float room[SEGMENT];
        int64_t count;
        const void *cells = segment_of(l, l->a, i, &count, room);
        if (functions[l->element].not_finite(cells, count))
            atomic_store(&l->not_finite, true);
    }
}

bool tz_reduce_all_finite(const tz_problem *problem, int field, const tz_host_field *host,
                          tz_threads *threads)
{
    if (!tz_type_is_real(problem->stencil->fields[field].type) || host->uniform)
        return true;
    look l = look_at(problem, field, host, NULL);
    look_through(&l, threads, find_not_finite);
    return !atomic_load(&l.not_finite);
}

/* ---- Update norm ----------------------------------------------------------------------------- */

static double difference_bits(const uint32_t *a, const uint32_t *b, int64_t words, int64_t columns)
{
    for (int64_t i = 0; i < words; i++)
        if ((a[i] ^ b[i]) & cells_of_word(columns, words, i))
            return 1.0;
    return 0.0;
}

static void find_difference(void *any, int64_t begin, int64_t end, int thread)
{
    look *l = any;
    const int64_t nx = l->own.x_high - l->own.x_low;
    double largest = 0.0;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        float room[2][SEGMENT];
        int64_t count;
        const void *p = segment_of(l, l->a, i, &count, room[0]);
        const void *q = segment_of(l, l->b, i, &count, room[1]);
        const double d = l->problem->bits ? difference_bits(p, q, nx, l->problem->extent[0])
                                          : functions[l->element].difference(p, q, count);
        largest = tz_max_double(d, largest);
    }
    pthread_mutex_lock(&l->lock);
    l->largest = tz_max_double(largest, l->largest);
    pthread_mutex_unlock(&l->lock);
}

double tz_reduce_difference(const tz_problem *problem, int field, const tz_host_field *a,
                            const tz_host_field *b, tz_threads *threads)
{
    look l = look_at(problem, field, a, b);
    look_through(&l, threads, find_difference);
    return l.largest;
}

/* ---- Of states ------------------------------------------------------------------------------- */

tz_status tz_backend_reduce(const tz_backend *backend, const void *state, const tz_problem *problem,
                            int field, tz_reduction *out, tz_error *error)
{
    tz_reduce_sums sums;
    tz_status status = tz_reduce_begin(&sums, problem, field, error);
    if (!status)
        status = backend->reduce(state, field, &sums, error);
    tz_reduce_end(&sums, out);
    return status;
}

tz_status tz_backend_update(const tz_backend *backend, void *state, const tz_problem *problem,
                            int64_t step, tz_update *out, tz_error *error)
{
    tz_update_sums sums;
    tz_status status = tz_update_begin(&sums, problem, error);
    if (!status)
        status = backend->update(state, step, &sums, error);
    tz_update_end(&sums, out);
    return status;
}

tz_status tz_backend_refine(const tz_backend *backend, void *state, void *correction,
                            const tz_problem *problem, int64_t step, tz_update *out,
                            tz_error *error)
{
    tz_update_sums sums;
    tz_status status = tz_update_begin(&sums, problem, error);
    if (!status)
        status = backend->refine(state, correction, step, &sums, error);
    tz_update_end(&sums, out);
    return status;
}
