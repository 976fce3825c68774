/* Fourier, cosine and sine transforms of a whole field, for jump.c. */
#include "backend/cuda/spectral/transform.h"

#include "backend/cuda/driver/queue.h"
#include "backend/cuda/family/family.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

TZ_EMBED(tz_cuda_text_transform, "cuda/transform.cuh");

enum {
    THREADS = 256,
    BLOCKS_MAX = 1 << 20,
    ROWS_MAX = 65535, /* blocks along the second axis of a launch */
    TILE = 32,        /* TZ_TILE of the kernels */
    BATCH = 4,        /* TZ_BATCH of the kernels */
    TILE_BYTES = 2 * TILE * (TILE + 1) * 8,
    STEPS_MAX = 4,
    PLANS_MAX = 2 * TZ_AXES + 2
};

/* X(name): the kernels. */
#define KERNELS(X)                                                                                 \
    X(rows_before)                                                                                 \
    X(rows_after)                                                                                  \
    X(columns_after)                                                                               \
    X(columns_before)                                                                              \
    X(field_to_rows)                                                                               \
    X(rows_to_field)
enum kernel {
#define KERNEL_ENUM(name) K_##name,
    KERNELS(KERNEL_ENUM)
#undef KERNEL_ENUM
        KERNELS_COUNT
};
static const char *const kernel_names[] = {
#define KERNEL_NAME(name) "tz_" #name,
    KERNELS(KERNEL_NAME)
#undef KERNEL_NAME
};

/* tz_transform_arguments and tz_field_arguments of the kernels. */
typedef struct step_arguments {
    tz_cu_pointer from, to, table;
    int64_t rows, n, m, pairs, pitch, inner, between, apart;
    int32_t kind;
    int32_t unused;
} step_arguments;
typedef struct field_arguments {
    tz_cu_pointer field, rows;
    int64_t n[3], apart[3], pitch;
    int32_t is_double;
    int32_t unused;
} field_arguments;
_Static_assert(sizeof(step_arguments) == 12 * 8 && sizeof(field_arguments) == 10 * 8,
               "the device compiler lays them out without gaps");

/* Of the kernels: TZ_COPIES, ... */
enum { COPIES, CLAMPS, MIRRORS, FIXES };

/* The fastest axis is transformed, and becomes the slowest one. */
typedef struct step {
    step_arguments arguments; /* but for the pointers to data */
    int64_t pairs_of_rows;    /* of kernels from rows to rows */
    int forward, back;        /* plans; -1: none */
} step;

struct tz_cuda_transform {
    tz_cuda *cuda;
    tz_cuda_fft *fft; /* NULL: no axis needs one */
    tz_cuda_kernel kernels[KERNELS_COUNT];
    int64_t n[TZ_AXES]; /* of axes in use; `axis` says which they are */
    int axis[TZ_AXES], axes;
    int64_t first_pitch; /* of the field in rows */
    step steps[STEPS_MAX];
    int steps_count;
    tz_cuda_fft_plan plans[PLANS_MAX];
    int plans_count;
    int forward, back; /* plans of the periodic axes; -1: none */
    tz_cu_pointer tables;
    tz_cuda_spectrum spectrum;
};

/* ---- What is done ---------------------------------------------------------------------------- */

static bool is_periodic(const tz_linear *linear, int axis)
{
    return linear->transform[axis] == TZ_DFT;
}

/* An axis of one cell has only frequency 0, with the cell as its amplitude. Beside fixed cells it
 * has not. */
static bool is_used(const tz_linear *linear, int axis)
{
    return axis < linear->dims && (linear->extent[axis] > 1 || linear->transform[axis] == TZ_DST_I);
}

static tz_status need_plan(tz_cuda_transform *t, tz_cuda_fft_kind kind, int rank, const int64_t *n,
                           int64_t batch, int *out, tz_error *error)
{
    tz_cuda_fft_shape shape = {.kind = kind, .rank = rank, .batch = batch};
    for (int k = 0; k < rank; k++)
        shape.n[k] = n[k];
    for (*out = 0; *out < t->plans_count; ++*out)
        if (memcmp(&t->plans[*out].shape, &shape, sizeof shape) == 0)
            return TZ_OK;
    tz_status status = t->fft ? TZ_OK : tz_cuda_fft_open(&t->fft, error);
    if (!status)
        status = tz_cuda_fft_plan_make(t->fft, t->cuda, &shape, &t->plans[*out], error);
    t->plans_count += !status;
    return status;
}

static void need_bytes(size_t *memory, int64_t doubles)
{
    const size_t bytes = (size_t)doubles * sizeof(double);
    *memory = *memory > bytes ? *memory : bytes;
}

/* How an axis of n cells is transformed, for rows of `rows`. */
static tz_status make_step(tz_cuda_transform *t, tz_transform transform, int64_t n, int64_t rows,
                           tz_error *error)
{
    step *s = &t->steps[t->steps_count++];
    step_arguments *a = &s->arguments;
    *a = (step_arguments){.rows = rows, .n = n, .inner = rows, .between = rows, .apart = rows};
    s->forward = s->back = -1;
    tz_status status = TZ_OK;
    if (transform == TZ_DFT) {
        a->kind = COPIES;
        a->pairs = a->pitch = n;
    } else if (transform == TZ_DCT_II) {
        a->kind = CLAMPS;
        a->m = n;
        a->pairs = n / 2 + 1;
        a->pitch = 2 * a->pairs;
        s->pairs_of_rows = (n + 1) / 2;
        status = need_plan(t, TZ_CUDA_FFT_REAL_TO_COMPLEX, 1, &n, rows, &s->forward, error);
        if (!status)
            status = need_plan(t, TZ_CUDA_FFT_COMPLEX_TO_REAL, 1, &n, rows, &s->back, error);
        t->spectrum.scale /= (double)n;
    } else {
        a->kind = transform == TZ_DST_I ? FIXES : MIRRORS;
        a->m = transform == TZ_DST_I ? n + 1 : n - 1;
        a->pairs = a->m / 2 + 1;
        a->pitch = 2 * a->m;
        s->pairs_of_rows = a->pairs;
        if (a->m > 1)
            status = need_plan(t, TZ_CUDA_FFT_COMPLEX, 1, &a->m, rows, &s->forward, error);
        s->back = s->forward;
        t->spectrum.scale /= 2.0 * (double)a->m;
    }
    need_bytes(&t->spectrum.buffer_bytes, rows * a->pitch);
    return status;
}

/* Rotates axes until each that is not periodic was the fastest one, and the periodic ones are the
 * fastest ones. */
static tz_status make_steps(tz_cuda_transform *t, const tz_linear *linear, tz_error *error)
{
    int periodic = 0, left, turns = 0;
    int64_t all = 1;
    for (int a = 0; a < t->axes; a++) {
        periodic += is_periodic(linear, t->axis[a]);
        all *= t->n[a];
    }
    left = t->axes - periodic;
    t->first_pitch = t->n[0];
    tz_status status = TZ_OK;
    for (bool ready = false; !status; turns++) {
        ready = left == 0;
        for (int a = 0; a < periodic; a++)
            ready = ready && is_periodic(linear, t->axis[(turns + a) % t->axes]);
        if (ready)
            break;
        const int a = turns % t->axes;
        const bool now = !is_periodic(linear, t->axis[a]) && turns < t->axes;
        left -= now;
        status = make_step(t, now ? linear->transform[t->axis[a]] : TZ_DFT, t->n[a], all / t->n[a],
                           error);
    }
    int64_t n[TZ_AXES], batch = 1;
    for (int a = 0; a < TZ_AXES; a++) {
        const int from = t->axes ? (turns + a) % t->axes : 0;
        t->spectrum.axis[a] = a < t->axes ? t->axis[from] : a;
        t->spectrum.n[a] = a < t->axes ? t->n[from] : 1;
        if (a < periodic)
            n[periodic - 1 - a] = t->spectrum.n[a];
        else
            batch *= t->spectrum.n[a];
    }
    t->spectrum.parts = periodic > 0 ? 2 : 1;
    need_bytes(&t->spectrum.bytes, all);
    if (status || periodic == 0)
        return status;
    const int64_t fast = t->spectrum.n[0], row = fast / 2 + 1, others = all / fast;
    for (int a = 0; a < periodic; a++)
        t->spectrum.scale /= (double)n[a];
    if (t->steps_count > 0) {
        step_arguments *last = &t->steps[t->steps_count - 1].arguments;
        last->inner = fast;
        last->between = 2 * row;
        last->apart = last->rows / fast * 2 * row;
    } else {
        t->first_pitch = 2 * row;
    }
    t->spectrum.n[0] = row;
    need_bytes(&t->spectrum.bytes, others * 2 * row);
    status = need_plan(t, TZ_CUDA_FFT_REAL_TO_COMPLEX, periodic, n, batch, &t->forward, error);
    return status ? status
                  : need_plan(t, TZ_CUDA_FFT_COMPLEX_TO_REAL, periodic, n, batch, &t->back, error);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* cos(pi p / q), p <= q / 2. */
static double cosine(int64_t p, int64_t q)
{
    const long double pi = 3.14159265358979323846264338327950288L;
    return 4 * p > q ? (double)sinl(pi * (long double)(q - 2 * p) / (2.0L * (long double)q))
                     : (double)cosl(pi * (long double)p / (long double)q);
}
static double sine(int64_t p, int64_t q)
{
    const long double pi = 3.14159265358979323846264338327950288L;
    return 4 * p > q ? (double)cosl(pi * (long double)(q - 2 * p) / (2.0L * (long double)q))
                     : (double)sinl(pi * (long double)p / (long double)q);
}

/* Of all steps, one after the other. */
static tz_status make_tables(tz_cuda_transform *t, tz_error *error)
{
    int64_t all = 0, at = 0;
    for (int i = 0; i < t->steps_count; i++)
        all += t->steps[i].arguments.kind == COPIES ? 0 : t->steps[i].arguments.pairs;
    if (all == 0)
        return TZ_OK;
    double *table = calloc((size_t)all, 2 * sizeof *table);
    if (!table)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for tables of a jump");
    tz_status status = tz_cuda_allocate(t->cuda, &t->tables, (size_t)all * 16, error);
    for (int i = 0; i < t->steps_count; i++) {
        step_arguments *a = &t->steps[i].arguments;
        if (a->kind == COPIES)
            continue;
        a->table = t->tables + (tz_cu_pointer)at * 16;
        const int64_t q = a->kind == CLAMPS ? 2 * a->n : a->m;
        for (int64_t p = 0; p < a->pairs; p++, at++) {
            table[2 * at] = cosine(p, q);
            table[2 * at + 1] = sine(p, q);
        }
    }
    if (!status)
        status = tz_cuda_upload(t->cuda, t->tables, table, (size_t)all * 16, error);
    free(table);
    return status;
}

/* ---- Lifetime -------------------------------------------------------------------------------- */

tz_status tz_cuda_transform_create(tz_cuda_transform **out, tz_cuda *cuda, const tz_linear *linear,
                                   tz_error *error)
{
    *out = NULL;
    tz_cuda_transform *t = calloc(1, sizeof *t);
    if (!t)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    t->cuda = cuda;
    t->forward = t->back = -1;
    t->spectrum.scale = 1.0;
    for (int a = 0; a < TZ_AXES; a++)
        t->n[a] = 1;
    for (int a = 0; a < TZ_AXES; a++)
        if (is_used(linear, a)) {
            t->axis[t->axes] = a;
            t->n[t->axes++] = linear->extent[a];
        }
    tz_cuda_spectrum *spectrum = &t->spectrum;
    tz_status status = make_steps(t, linear, error);
    for (int i = 0; i < t->steps_count; i++)
        if (t->steps[i].arguments.kind ==
            COPIES) /* where an axis is only turned they change places */
            spectrum->bytes = spectrum->buffer_bytes =
                spectrum->bytes > spectrum->buffer_bytes ? spectrum->bytes : spectrum->buffer_bytes;
    for (int k = 0; k < t->plans_count; k++)
        if (t->plans[k].work_bytes > spectrum->work_bytes)
            spectrum->work_bytes = t->plans[k].work_bytes;
    if (!status)
        status = make_tables(t, error);
    for (int k = 0; k < KERNELS_COUNT && !status; k++)
        status = tz_cuda_need_kernel(cuda, &t->kernels[k], tz_cuda_text_transform, kernel_names[k],
                                     error);
    if (status)
        tz_cuda_transform_destroy(t);
    else
        *out = t;
    return status;
}

void tz_cuda_transform_destroy(tz_cuda_transform *t)
{
    if (!t)
        return;
    for (int k = 0; k < KERNELS_COUNT; k++)
        tz_cuda_unload(t->cuda, &t->kernels[k]);
    for (int k = 0; k < t->plans_count; k++)
        tz_cuda_fft_plan_destroy(t->fft, t->cuda, &t->plans[k]);
    tz_cuda_free(t->cuda, t->tables);
    tz_cuda_fft_close(t->fft);
    free(t);
}

const tz_cuda_spectrum *tz_cuda_transform_spectrum(const tz_cuda_transform *t)
{
    return &t->spectrum;
}

void tz_cuda_transform_library(const tz_cuda_transform *t, char *text, size_t size)
{
    tz_cuda_fft_name(t->fft, text, size);
}

tz_status tz_cuda_transform_use(tz_cuda_transform *t, tz_cu_pointer work, tz_error *error)
{
    tz_status status = TZ_OK;
    for (int k = 0; k < t->plans_count && !status; k++)
        status = tz_cuda_fft_plan_use(t->fft, t->cuda, &t->plans[k], work, error);
    return status;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static tz_status launch(tz_cuda_transform *t, enum kernel which, int64_t across, int64_t rows,
                        int shared_bytes, void *arguments, tz_error *error)
{
    const int grid[3] = {(int)(across > BLOCKS_MAX ? BLOCKS_MAX : across),
                         (int)(rows > ROWS_MAX ? ROWS_MAX : rows), 1};
    const int block[3] = {THREADS, 1, 1};
    void *pointers[] = {arguments};
    return tz_cuda_launch(t->cuda, NULL, &t->kernels[which], grid, block, shared_bytes, false,
                          pointers, error);
}

static tz_status launch_rows(tz_cuda_transform *t, enum kernel which, const step *s,
                             tz_cu_pointer from, tz_cu_pointer to, tz_error *error)
{
    step_arguments a = s->arguments;
    a.from = from;
    a.to = to;
    a.pairs = s->pairs_of_rows;
    return launch(t, which, (a.pairs + THREADS - 1) / THREADS, a.rows, 0, &a, error);
}

static tz_status launch_columns(tz_cuda_transform *t, enum kernel which, const step *s,
                                tz_cu_pointer from, tz_cu_pointer to, tz_error *error)
{
    step_arguments a = s->arguments;
    a.from = from;
    a.to = to;
    return launch(t, which, (a.rows + TILE - 1) / TILE * ((a.pairs + TILE - 1) / TILE), 1,
                  TILE_BYTES, &a, error);
}

static tz_status launch_field(tz_cuda_transform *t, enum kernel which,
                              const tz_cuda_transform_field *field, tz_cu_pointer rows,
                              tz_error *error)
{
    field_arguments a = {
        .field = field->at, .rows = rows, .pitch = t->first_pitch, .is_double = field->is_double};
    for (int k = 0; k < TZ_AXES; k++) {
        a.n[k] = t->n[k];
        a.apart[k] = k < t->axes ? field->apart[t->axis[k]] : 0;
    }
    const int64_t of_block = THREADS * BATCH;
    return launch(t, which, (a.n[0] + of_block - 1) / of_block, a.n[1] * a.n[2], 0, &a, error);
}

static tz_status run_plan(tz_cuda_transform *t, int plan, tz_cu_pointer data, tz_error *error)
{
    return plan < 0 ? TZ_OK : tz_cuda_fft_run(t->fft, t->cuda, &t->plans[plan], data, error);
}

static void exchange(tz_cu_pointer *a, tz_cu_pointer *b)
{
    const tz_cu_pointer was = *a;
    *a = *b;
    *b = was;
}

tz_status tz_cuda_transform_forward(tz_cuda_transform *t, const tz_cuda_transform_field *field,
                                    tz_cu_pointer *spectrum, tz_cu_pointer *buffer, tz_error *error)
{
    tz_status status = launch_field(t, K_field_to_rows, field, *spectrum, error);
    for (int i = 0; i < t->steps_count && !status; i++) {
        const step *s = &t->steps[i];
        if (s->arguments.kind == COPIES) {
            status = launch_columns(t, K_columns_after, s, *spectrum, *buffer, error);
            exchange(spectrum, buffer);
            continue;
        }
        status = launch_rows(t, K_rows_before, s, *spectrum, *buffer, error);
        if (!status)
            status = run_plan(t, s->forward, *buffer, error);
        if (!status)
            status = launch_columns(t, K_columns_after, s, *buffer, *spectrum, error);
    }
    return status ? status : run_plan(t, t->forward, *spectrum, error);
}

tz_status tz_cuda_transform_back(tz_cuda_transform *t, const tz_cuda_transform_field *field,
                                 tz_cu_pointer *spectrum, tz_cu_pointer *buffer, tz_error *error)
{
    tz_status status = run_plan(t, t->back, *spectrum, error);
    for (int i = t->steps_count - 1; i >= 0 && !status; i--) {
        const step *s = &t->steps[i];
        status = launch_columns(t, K_columns_before, s, *spectrum, *buffer, error);
        if (s->arguments.kind == COPIES) {
            exchange(spectrum, buffer);
            continue;
        }
        if (!status)
            status = run_plan(t, s->back, *buffer, error);
        if (!status)
            status = launch_rows(t, K_rows_after, s, *buffer, *spectrum, error);
    }
    return status ? status : launch_field(t, K_rows_to_field, field, *spectrum, error);
}
