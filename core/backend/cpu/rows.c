/* Times row functions on rows in the first-level cache. Called by work.c. */
#include "backend/cpu/rows.h"

#include "base/cache.h"
#include "base/machine.h"
#include "base/minmax.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = 9,
    CALLS_MAX = 1 << 14, /* of a sample */
    AROUND = 64,         /* elements before and after those of a row that may be read */
    LINE = 64,
    TIMES_MAX = 512,
    WINDOW_MAX = 2 * TZ_RADIUS_MAX + TZ_SLABS_IN_PLACE_MAX
};
static const double SAMPLE_S = 2e-5;

/* Times of this process, since most plans of a problem ask for the same ones. The oldest goes
 * first. One is measured at a time. */
typedef struct kept_time {
    tz_cache_key key;
    double seconds;
} kept_time;
typedef struct kept_times {
    kept_time at[TIMES_MAX];
    int count, next;
} kept_times;
static pthread_mutex_t times_lock = PTHREAD_MUTEX_INITIALIZER;
static kept_times times;

static tz_cache_key key_of(const tz_rows_call *call, int64_t count, int64_t rows)
{
    const tz_stencil *stencil = call->problem->stencil;
    const tz_slot *constants = call->problem->constants;
    char text[96];
    tz_cache_key key = tz_cache_key_start();
    tz_cache_key_add(&key, stencil->id);
    tz_cache_key_add(&key, call->pass->text ? call->pass->text : "");
    snprintf(text, sizeof text, "%p %d %lld %lld", (void *)(uintptr_t)call->function, call->slabs,
             (long long)count, (long long)rows);
    tz_cache_key_add(&key, text);
    for (int k = 0; k < stencil->constants_count; k++) {
        snprintf(text, sizeof text, "%llx", (unsigned long long)constants[k].i);
        tz_cache_key_add(&key, text);
    }
    return tz_cache_key_end(key);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

typedef struct bench {
    tz_span span;
    tz_view in[TZ_FIELDS_MAX * WINDOW_MAX];
    tz_target out[TZ_FIELDS_MAX * TZ_SLABS_IN_PLACE_MAX];
    char *memory;
} bench;

/* Ordinary values: reals of about 1, ones, bits of all kinds. */
static void fill_row(const tz_problem *problem, int field, char *row, ptrdiff_t elements)
{
    const tz_element_type *type = tz_problem_computed_type(problem, field);
    const size_t size = type->size;
    const bool is_real = tz_type_is_real(problem->stencil->fields[field].type);
    for (ptrdiff_t i = 0; i < elements; i++) {
        const uint32_t word = (uint32_t)(i + 1) * UINT32_C(0x9e3779b9);
        const double value = is_real ? 1 + (double)(i % 8) / 8 : 1.0;
        if (problem->bits)
            memcpy(row + (size_t)i * size, &word, sizeof word);
        else
            type->put(&value, problem->origin[field], 1, row + (size_t)i * size);
    }
}

/* Rows follow each other, begin at cache lines, and are an odd number of lines long: those that a
 * cell reads do not compete for the same sets of a cache. */
static tz_status open_bench(bench *b, const tz_rows_call *call, int64_t count, int64_t rows,
                            tz_error *error)
{
    const tz_problem *problem = call->problem;
    const int dims = problem->dims, radius = call->pass->radius;
    const int fields = tz_stencil_fields_all(problem->stencil);
    const int window = (dims == 1 ? 1 : 2 * radius + 1) + call->slabs - 1;
    int around = radius; /* rows of a plane: static fields may be read farther away than others */
    for (int f = 0; f < fields; f++)
        around = tz_max_int(around, problem->stencil->fields[f].radius);
    const ptrdiff_t more = dims == 3 ? around : 0, tall = (ptrdiff_t)rows + 2 * more;
    size_t bytes = 0, row_bytes[TZ_FIELDS_MAX];
    for (int f = 0; f < fields; f++) {
        const size_t size = tz_problem_computed_type(problem, f)->size;
        row_bytes[f] = (((size_t)count + 2 * AROUND) * size + LINE - 1) / LINE * LINE;
        row_bytes[f] += row_bytes[f] % (2 * LINE) ? 0 : LINE;
        bytes += row_bytes[f] * (size_t)(window + call->slabs) * (size_t)tall;
    }
    b->memory = aligned_alloc(LINE, bytes);
    if (!b->memory)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to time a row function");
    char *at = b->memory;
    for (int f = 0; f < fields; f++) {
        const size_t size = tz_problem_computed_type(problem, f)->size;
        const ptrdiff_t stride = (ptrdiff_t)(row_bytes[f] / size);
        const size_t first = (size_t)more * row_bytes[f] + AROUND * size;
        fill_row(problem, f, at, stride);
        for (int k = 0; k < (window + call->slabs) * (int)tall; k++)
            memmove(at + (size_t)k * row_bytes[f], at, row_bytes[f]);
        for (int k = 0; k < window + call->slabs; k++, at += (size_t)tall * row_bytes[f])
            if (k < window)
                b->in[f * window + k] = (tz_view){at + first, stride};
            else
                b->out[f * call->slabs + k - window] = (tz_target){at + first, stride};
    }
    /* In the middle of the grid: near its sides a text may do something else. */
    const int64_t *n = problem->elements;
    b->span = (tz_span){.in = b->in,
                        .out = b->out,
                        .constants = problem->constants,
                        .count = count,
                        .rows = rows,
                        .x = n[0] / 4 / LINE * LINE, /* at a cache line */
                        .y = n[1] / 2,
                        .z = n[2] / 2,
                        .engine = call->pass->engine};
    return TZ_OK;
}

static double time_calls(tz_row_fn *function, const tz_span *span, int calls)
{
    const double begin = tz_machine_clock_s();
    for (int i = 0; i < calls; i++)
        function(span);
    return tz_machine_clock_s() - begin;
}

/* The shortest of several samples: others on the machine only make them longer. */
static double time_span(tz_row_fn *function, const tz_span *span)
{
    int calls = 1;
    while (calls < CALLS_MAX &&
           fmin(time_calls(function, span, calls), time_calls(function, span, calls)) < SAMPLE_S)
        calls *= 2;
    double least = INFINITY;
    for (int i = 0; i < SAMPLES; i++)
        least = fmin(least, time_calls(function, span, calls));
    return least / calls;
}

static tz_status measure(const tz_rows_call *call, int64_t count, int64_t rows, kept_time *out,
                         tz_error *error)
{
    bench *b = calloc(1, sizeof *b);
    if (!b)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to time a row function");
    const tz_status status = open_bench(b, call, count, rows, error);
    if (!status)
        out->seconds = time_span(call->function, &b->span);
    free(b->memory);
    free(b);
    return status;
}

tz_status tz_rows_time(const tz_rows_call *call, int64_t count, int64_t rows, double *seconds,
                       tz_error *error)
{
    kept_time found = {.key = key_of(call, count, rows)};
    tz_status status = TZ_OK;
    int i = 0;
    pthread_mutex_lock(&times_lock);
    while (i < times.count && !tz_cache_key_equal(times.at[i].key, found.key))
        i++;
    if (i < times.count)
        found = times.at[i];
    else
        status = measure(call, count, rows, &found, error);
    if (!status && i == times.count) {
        times.at[times.next] = found;
        times.next = (times.next + 1) % TIMES_MAX;
        times.count += times.count < TIMES_MAX;
    }
    pthread_mutex_unlock(&times_lock);
    *seconds = found.seconds;
    return status;
}
