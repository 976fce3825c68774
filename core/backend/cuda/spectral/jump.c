/* Many iterations at once on a GPU, in the frequency domain, for state.c. */
#include "backend/cuda/spectral/jump.h"

#include "backend/cuda/driver/queue.h"
#include "backend/cuda/family/family.h"
#include "kernels/spectral.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TZ_EMBED(tz_cuda_text_jump, "cuda/jump.cuh");

enum {
    THREADS = 256,
    BLOCKS_MAX = 1 << 20,
    ROWS_MAX = 65535, /* blocks along the second axis of a launch */
    SPECTRA_MAX = 2 * TZ_LINEAR_FIELDS_MAX,
    REASONS = 3
};

enum kernel { REAL, COMPLEX, PAIR, KERNELS };
static const char *const kernel_names[KERNELS] = {"tz_jump_real", "tz_jump_complex",
                                                  "tz_jump_pair"};

/* tz_jump_arguments of the kernels. tz_symbol has pointers to device memory. */
typedef struct arguments {
    tz_symbol symbol;
    tz_cu_pointer u[2], s[2];
    int64_t n[3];
    int32_t axis[3], parts;
    double steps, scale, none;
    tz_cu_pointer reasons;
} arguments;
_Static_assert(sizeof(void *) == sizeof(tz_cu_pointer) &&
                   sizeof(arguments) == sizeof(tz_symbol) + 13 * 8,
               "the device compiler lays it out without gaps");

struct tz_cuda_jumper {
    tz_cuda *cuda;
    tz_cuda_transform *transform; /* for `linear`, as the tables are */
    tz_linear linear;             /* its terms are a copy */
    tz_cuda_kernel kernels[KERNELS];
    tz_symbol symbol; /* with pointers to `tables` */
    tz_cu_pointer tables, work, buffer, spectra[SPECTRA_MAX], reasons;
    size_t bytes; /* of device memory */
};

/* ---- Lifetime -------------------------------------------------------------------------------- */

tz_status tz_cuda_jumper_create(tz_cuda_jumper **out, tz_cuda *cuda, tz_error *error)
{
    tz_cuda_jumper *jumper = calloc(1, sizeof *jumper);
    *out = jumper;
    if (!jumper)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    jumper->cuda = cuda;
    return TZ_OK;
}

static void drop(tz_cuda_jumper *jumper, tz_cu_pointer *memory)
{
    tz_cuda_free(jumper->cuda, *memory);
    *memory = 0;
}

static void forget_symbol(tz_cuda_jumper *jumper)
{
    drop(jumper, &jumper->tables);
    tz_linear_clear(&jumper->linear);
}

static void forget_transform(tz_cuda_jumper *jumper)
{
    forget_symbol(jumper);
    drop(jumper, &jumper->work);
    drop(jumper, &jumper->buffer);
    for (int i = 0; i < SPECTRA_MAX; i++)
        drop(jumper, &jumper->spectra[i]);
    tz_cuda_transform_destroy(jumper->transform);
    jumper->transform = NULL;
    jumper->bytes = 0;
}

void tz_cuda_jumper_destroy(tz_cuda_jumper *jumper)
{
    if (!jumper)
        return;
    forget_transform(jumper);
    drop(jumper, &jumper->reasons);
    for (int k = 0; k < KERNELS; k++)
        tz_cuda_unload(jumper->cuda, &jumper->kernels[k]);
    free(jumper);
}

/* ---- What a jump needs ----------------------------------------------------------------------- */

static bool same_transform(const tz_linear *a, const tz_linear *b)
{
    bool same = a->dims == b->dims;
    for (int axis = 0; axis < TZ_AXES; axis++)
        same =
            same && a->extent[axis] == b->extent[axis] && a->transform[axis] == b->transform[axis];
    return same;
}

static bool same_symbol(const tz_linear *a, const tz_linear *b)
{
    bool same = a->terms && b->terms && a->fields_count == b->fields_count && a->real == b->real &&
                a->radius == b->radius && a->terms_count == b->terms_count &&
                a->rest[0] == b->rest[0] && a->rest[1] == b->rest[1] &&
                a->alternating_rest == b->alternating_rest;
    for (int axis = 0; axis < TZ_AXES; axis++)
        same = same && a->even[axis] == b->even[axis];
    for (int i = 0; same && i < a->terms_count; i++) {
        const tz_linear_term *x = &a->terms[i], *y = &b->terms[i];
        same = x->to == y->to && x->from == y->from && x->coefficient == y->coefficient &&
               memcmp(x->offset, y->offset, sizeof x->offset) == 0;
    }
    return same;
}

/* A pointer into the host's tables becomes one into the device's. */
static void move(const double **table, const double *host, tz_cu_pointer device)
{
    if (*table)
        *table = (const double *)(uintptr_t)(device + (tz_cu_pointer)(*table - host) * 8);
}

static tz_status need_symbol(tz_cuda_jumper *jumper, const tz_linear *linear, tz_error *error)
{
    if (same_symbol(&jumper->linear, linear))
        return TZ_OK;
    forget_symbol(jumper);
    double *memory = NULL;
    int64_t count = 0;
    const size_t terms_bytes = (size_t)linear->terms_count * sizeof *linear->terms;
    tz_symbol *symbol = &jumper->symbol;
    tz_linear_term *copy = malloc(terms_bytes ? terms_bytes : 1);
    tz_status status =
        copy ? tz_symbol_create(symbol, &memory, &count, linear, error)
             : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for tables of symbols");
    const size_t tables_bytes = (size_t)count * sizeof *memory;
    if (!status)
        status = tz_cuda_allocate(jumper->cuda, &jumper->tables, tables_bytes + terms_bytes, error);
    if (!status)
        status = tz_cuda_upload(jumper->cuda, jumper->tables, memory, tables_bytes, error);
    if (!status && terms_bytes > 0)
        status = tz_cuda_upload(jumper->cuda, jumper->tables + tables_bytes, linear->terms,
                                terms_bytes, error);
    for (int axis = 0; axis < TZ_AXES && !status; axis++) {
        move(&symbol->versine[axis], memory, jumper->tables);
        move(&symbol->sine[axis], memory, jumper->tables);
        move(&symbol->alternating[axis], memory, jumper->tables);
    }
    symbol->terms = (const tz_linear_term *)(uintptr_t)(jumper->tables + tables_bytes);
    free(memory);
    if (status) {
        free(copy);
        return status;
    }
    memcpy(copy, linear->terms, terms_bytes);
    jumper->linear = *linear;
    jumper->linear.terms = copy;
    return TZ_OK;
}

/* The spectra, a buffer and the work area, all at once or none. */
static tz_status need_memory(tz_cuda_jumper *jumper, int spectra, tz_error *error)
{
    const tz_cuda_spectrum *each = tz_cuda_transform_spectrum(jumper->transform);
    size_t free_bytes, all_bytes, missing = jumper->buffer ? 0 : each->buffer_bytes;
    missing += jumper->work ? 0 : each->work_bytes;
    for (int i = 0; i < spectra; i++)
        missing += jumper->spectra[i] ? 0 : each->bytes;
    if (missing == 0 && jumper->work && jumper->buffer)
        return TZ_OK;
    tz_status status = tz_cuda_memory(jumper->cuda, &free_bytes, &all_bytes, error);
    if (!status && missing > free_bytes)
        status = tz_error_set(
            error, TZ_MEMORY, NULL,
            "a jump needs %.2f GiB of GPU memory beside the fields: %d x %.2f for spectra, %.2f "
            "for a buffer, %.2f for cuFFT; %.2f GiB are free; use sim:run, or --backend cpu",
            (double)missing / (1 << 30), spectra, (double)each->bytes / (1 << 30),
            (double)each->buffer_bytes / (1 << 30), (double)each->work_bytes / (1 << 30),
            (double)free_bytes / (1 << 30));
    for (int i = 0; i < spectra && !status; i++)
        if (!jumper->spectra[i])
            status = tz_cuda_allocate(jumper->cuda, &jumper->spectra[i], each->bytes, error);
    if (!status && !jumper->buffer)
        status = tz_cuda_allocate(jumper->cuda, &jumper->buffer, each->buffer_bytes, error);
    if (!status && !jumper->work) {
        status = tz_cuda_allocate(jumper->cuda, &jumper->work, each->work_bytes, error);
        if (!status)
            status = tz_cuda_transform_use(jumper->transform, jumper->work, error);
        if (status)
            drop(jumper, &jumper->work);
    }
    jumper->bytes += status ? 0 : missing;
    return status;
}

/* ---- The jump -------------------------------------------------------------------------------- */

/* At all frequencies: the spectra of the fields, and after them those of the sources. */
static tz_status multiply(tz_cuda_jumper *jumper, const tz_linear *linear, int64_t steps,
                          bool has_source, enum kernel which, tz_error *error)
{
    const tz_cuda_spectrum *spectrum = tz_cuda_transform_spectrum(jumper->transform);
    arguments a = {.symbol = jumper->symbol,
                   .parts = spectrum->parts,
                   .steps = steps == TZ_JUMP_LIMIT ? -1.0 : (double)steps,
                   .scale = spectrum->scale,
                   .none = linear->source_none / spectrum->scale,
                   .reasons = jumper->reasons};
    for (int i = 0; i < TZ_AXES; i++) {
        a.n[i] = spectrum->n[i];
        a.axis[i] = spectrum->axis[i];
    }
    for (int f = 0; f < linear->fields_count; f++) {
        a.u[f] = jumper->spectra[f];
        a.s[f] = has_source ? jumper->spectra[linear->fields_count + f] : 0;
    }
    const int64_t across = (a.n[0] + THREADS - 1) / THREADS, rows = a.n[1] * a.n[2];
    const int grid[3] = {(int)(across > BLOCKS_MAX ? BLOCKS_MAX : across),
                         (int)(rows > ROWS_MAX ? ROWS_MAX : rows), 1};
    const int block[3] = {THREADS, 1, 1};
    void *pointers[] = {&a};
    return tz_cuda_launch(jumper->cuda, NULL, &jumper->kernels[which], grid, block, 0, false,
                          pointers, error);
}

static tz_status check_limit(tz_cuda_jumper *jumper, tz_error *error)
{
    uint32_t found[REASONS];
    int reasons = 0;
    const tz_status status =
        tz_cuda_download(jumper->cuda, found, jumper->reasons, sizeof found, error);
    for (int bit = 0; bit < REASONS && !status; bit++)
        reasons |= (found[bit] > 0) << bit;
    return status || !reasons ? status : tz_spectral_no_limit(reasons, error);
}

tz_status tz_cuda_jump(tz_cuda_jumper *jumper, const tz_linear *linear, int64_t steps,
                       const tz_cuda_transform_field *fields,
                       const tz_cuda_transform_field *sources, tz_jump_facts *facts,
                       tz_error *error)
{
    const enum kernel which = linear->fields_count == 2 ? PAIR : linear->real ? REAL : COMPLEX;
    const int spectra = linear->fields_count * (sources ? 2 : 1);
    tz_status status = TZ_OK;
    if (jumper->transform && !same_transform(&jumper->linear, linear))
        forget_transform(jumper);
    if (!jumper->transform) {
        status = tz_cuda_transform_create(&jumper->transform, jumper->cuda, linear, error);
        jumper->linear = *linear;
        jumper->linear.terms = NULL; /* the tables are still to be made */
        jumper->linear.terms_count = 0;
    }
    if (!status)
        status = need_symbol(jumper, linear, error);
    if (!status)
        status = need_memory(jumper, spectra, error);
    if (!status)
        status = tz_cuda_need_kernel(jumper->cuda, &jumper->kernels[which], tz_cuda_text_jump,
                                     kernel_names[which], error);
    if (!status && !jumper->reasons)
        status = tz_cuda_allocate(jumper->cuda, &jumper->reasons, REASONS * 4, error);
    if (!status)
        status = tz_cuda_queue_fill_words(jumper->cuda, NULL, jumper->reasons, 0, REASONS, error);
    for (int f = 0; f < linear->fields_count && !status; f++)
        status = tz_cuda_transform_forward(jumper->transform, &fields[f], &jumper->spectra[f],
                                           &jumper->buffer, error);
    for (int f = 0; sources && f < linear->fields_count && !status; f++)
        status = tz_cuda_transform_forward(jumper->transform, &sources[f],
                                           &jumper->spectra[linear->fields_count + f],
                                           &jumper->buffer, error);
    if (!status)
        status = multiply(jumper, linear, steps, sources != NULL, which, error);
    if (!status && steps == TZ_JUMP_LIMIT)
        status = check_limit(jumper, error);
    for (int f = 0; f < linear->fields_count && !status; f++)
        status = tz_cuda_transform_back(jumper->transform, &fields[f], &jumper->spectra[f],
                                        &jumper->buffer, error);
    if (!status) {
        tz_cuda_transform_library(jumper->transform, facts->library, sizeof facts->library);
        facts->bytes = (int64_t)jumper->bytes;
    }
    return status;
}
