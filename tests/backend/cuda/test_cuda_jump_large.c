/* Jumps on a GPU, on grids for which the executor is too slow: held against iterations on the host
 * in double precision. Prints the times of jumps and of their parts. */
#include "backend/cuda/driver/queue.h"
#include "backend/cuda/spectral/jump.h"
#include "base/machine.h"
#include "tests/unit.h"

#include <math.h>
#include <stdlib.h>

enum { TERMS = 4, ROUNDS = 9 };

static tz_cuda *cuda;

static int open_gpu(void **state)
{
    return tz_cuda_available() && tz_cuda_open(&cuda, 0, NULL) != TZ_OK;
}

static int close_gpu(void **state)
{
    tz_cuda_close(cuda);
    return 0;
}

/* Heat: each neighbour has rate / 2. */
static tz_linear heat(tz_linear_term terms[TERMS], int dims, const int64_t *n,
                      const tz_transform *sides, double rate)
{
    tz_linear linear = {.dims = dims,
                        .real = true,
                        .radius = 1,
                        .fields_count = 1,
                        .terms = terms,
                        .terms_count = 1 + dims,
                        .alternating_rest = 2.0 - 2.0 * rate * dims};
    terms[0] = (tz_linear_term){.coefficient = 1.0 - rate * dims};
    for (int a = 0; a < TZ_AXES; a++) {
        linear.extent[a] = a < dims ? n[a] : 1;
        linear.transform[a] = a < dims ? sides[a] : TZ_DFT;
        linear.even[a] = true;
        if (a < dims)
            terms[1 + a] =
                (tz_linear_term){.offset = {a == 0, a == 1, a == 2}, .coefficient = rate};
    }
    return linear;
}

static tz_cuda_transform_field field_of(const tz_linear *linear, bool is_double)
{
    const int64_t *n = linear->extent;
    tz_cuda_transform_field field = {.apart = {1, n[0], n[0] * n[1]}, .is_double = is_double};
    const size_t bytes = (size_t)(n[0] * n[1] * n[2]) * (is_double ? 8 : 4);
    assert_ok(tz_cuda_allocate(cuda, &field.at, bytes, &failure));
    assert_ok(tz_cuda_clear(cuda, field.at, bytes, &failure));
    return field;
}

/* ---- Right? ---------------------------------------------------------------------------------- */

/* The cell that stands for one outside; -1: there is 0. */
static int64_t inside(tz_transform transform, int64_t n, int64_t x)
{
    if (x >= 0 && x < n)
        return x;
    return transform == TZ_DFT      ? (x + n) % n
           : transform == TZ_DCT_II ? (x < 0 ? 0 : n - 1)
           : transform == TZ_DCT_I  ? (x < 0 ? 1 : n - 2)
                                    : -1;
}

static void iterate(const tz_linear *linear, double rate, const double *from, double *to)
{
    const int64_t *n = linear->extent, stride[] = {1, n[0], n[0] * n[1]};
    for (int64_t row = 0; row < n[1] * n[2]; row++)
        for (int64_t x = 0; x < n[0]; x++) {
            const int64_t at = row * n[0] + x, c[] = {x, row % n[1], row / n[1]};
            double sum = (1.0 - rate * linear->dims) * from[at];
            for (int a = 0; a < linear->dims; a++)
                for (int d = -1; d <= 1; d += 2) {
                    const int64_t k = inside(linear->transform[a], n[a], c[a] + d);
                    sum += k < 0 ? 0.0 : rate / 2 * from[at + (k - c[a]) * stride[a]];
                }
            to[at] = sum;
        }
}

static void check(int dims, int64_t nx, int64_t ny, int64_t nz, const tz_transform *sides)
{
    enum { STEPS = 3 };
    const double rate = 0.25;
    const int64_t n[] = {nx, ny, nz}, cells = nx * ny * nz;
    tz_linear_term terms[TERMS];
    const tz_linear linear = heat(terms, dims, n, sides, rate);
    const tz_cuda_transform_field field = field_of(&linear, true);
    double *a = malloc((size_t)cells * sizeof *a), *b = malloc((size_t)cells * sizeof *b),
           apart = 0;
    tz_cuda_jumper *jumper;
    tz_jump_facts facts;
    for (int64_t i = 0; i < cells; i++)
        a[i] = (double)((uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) >> 11) * 0x1p-53;
    assert_ok(tz_cuda_upload(cuda, field.at, a, (size_t)cells * sizeof *a, &failure));
    assert_ok(tz_cuda_jumper_create(&jumper, cuda, &failure));
    assert_ok(tz_cuda_jump(jumper, &linear, STEPS, &field, NULL, &facts, &failure));
    for (int t = 0; t < STEPS; t++) {
        double *const was = a;
        iterate(&linear, rate, a, b);
        a = b;
        b = was;
    }
    assert_ok(tz_cuda_download(cuda, b, field.at, (size_t)cells * sizeof *b, &failure));
    for (int64_t i = 0; i < cells; i++)
        apart = fabs(a[i] - b[i]) <= apart ? apart : fabs(a[i] - b[i]);
    print_message("  %lld x %lld x %lld, sides %d %d %d: %.2e apart\n", (long long)nx,
                  (long long)ny, (long long)nz, sides[0], sides[1], sides[2], apart);
    assert_true(apart <= 1e-14);
    tz_cuda_jumper_destroy(jumper);
    tz_cuda_free(cuda, field.at);
    free(a);
    free(b);
}

static const tz_transform kinds[][TZ_AXES] = {
    {TZ_DFT, TZ_DFT, TZ_DFT},       {TZ_DCT_II, TZ_DCT_II, TZ_DCT_II},
    {TZ_DCT_I, TZ_DCT_I, TZ_DCT_I}, {TZ_DST_I, TZ_DST_I, TZ_DST_I},
    {TZ_DCT_II, TZ_DFT, TZ_DST_I},  {TZ_DFT, TZ_DCT_I, TZ_DCT_II}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void large_grids_are_right(void **state)
{
    if (!cuda)
        skip_test("no GPU");
    for (int i = 0; i < KINDS; i++) {
        check(2, 1000, 1501, 1, kinds[i]);
        check(2, 4096, 4096, 1, kinds[i]);
        check(2, 4099, 1021, 1, kinds[i]); /* primes */
        check(2, 3, 70001, 1, kinds[i]);   /* more rows than a launch has blocks */
        check(3, 5, 3, 70001, kinds[i]);
        check(3, 96, 125, 77, kinds[i]);
    }
    check(1, 3000017, 1, 1, kinds[1]);
}

/* ---- Fast? ----------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times)
{
    qsort(times, ROUNDS, sizeof *times, by_size);
    return times[ROUNDS / 2];
}

static double wait_s(double begin)
{
    assert_ok(tz_cuda_queue_wait(cuda, NULL, &failure));
    return tz_machine_clock_s() - begin;
}

static void time_parts(const tz_linear *linear, const tz_cuda_transform_field *field,
                       double *there_s, double *back_s)
{
    double there[ROUNDS], back[ROUNDS];
    tz_cuda_transform *transform;
    tz_cu_pointer spectrum = 0, buffer = 0, work = 0;
    size_t spectrum_bytes, buffer_bytes;
    assert_ok(tz_cuda_transform_create(&transform, cuda, linear, &failure));
    tz_cuda_transform_bytes(transform, &spectrum_bytes, &buffer_bytes);
    assert_ok(tz_cuda_allocate(cuda, &spectrum, spectrum_bytes, &failure));
    assert_ok(tz_cuda_allocate(cuda, &buffer, buffer_bytes, &failure));
    assert_ok(tz_cuda_allocate(cuda, &work, tz_cuda_transform_work_bytes(transform), &failure));
    assert_ok(tz_cuda_transform_use(transform, work, &failure));
    for (int r = 0; r < ROUNDS; r++) {
        double begin = tz_machine_clock_s();
        assert_ok(tz_cuda_transform_forward(transform, field, &spectrum, &buffer, &failure));
        there[r] = wait_s(begin);
        begin = tz_machine_clock_s();
        assert_ok(tz_cuda_transform_back(transform, field, &spectrum, &buffer, &failure));
        back[r] = wait_s(begin);
    }
    print_message("    spectrum %.2f GB, buffer %.2f GB, cuFFT's own %.2f GB\n",
                  1e-9 * (double)spectrum_bytes, 1e-9 * (double)buffer_bytes,
                  1e-9 * (double)tz_cuda_transform_work_bytes(transform));
    tz_cuda_free(cuda, spectrum);
    tz_cuda_free(cuda, buffer);
    tz_cuda_free(cuda, work);
    tz_cuda_transform_destroy(transform);
    *there_s = median(there);
    *back_s = median(back);
}

static void time_jump(int dims, int64_t n, tz_transform side, bool is_double, int64_t steps,
                      bool has_source)
{
    const int64_t extent[] = {n, n, n};
    const tz_transform sides[] = {side, side, side};
    tz_linear_term terms[TERMS];
    const tz_linear linear = heat(terms, dims, extent, sides, 0.4);
    const tz_cuda_transform_field field = field_of(&linear, is_double);
    tz_cuda_transform_field source = {.at = 0};
    double times[ROUNDS], there_s, back_s, begin = tz_machine_clock_s();
    tz_cuda_jumper *jumper;
    tz_jump_facts facts;
    if (has_source)
        source = field_of(&linear, true);
    assert_ok(tz_cuda_jumper_create(&jumper, cuda, &failure));
    for (int r = -1; r < ROUNDS; r++) { /* the first one makes plans and kernels */
        begin = tz_machine_clock_s();
        assert_ok(tz_cuda_jump(jumper, &linear, steps, &field, has_source ? &source : NULL, &facts,
                               &failure));
        if (r >= 0)
            times[r] = wait_s(begin);
        else
            print_message("  %lld^%d %s, sides %d, %lld steps%s: first %.0f ms\n", (long long)n,
                          dims, is_double ? "double" : "single", side, (long long)steps,
                          has_source ? ", a source" : "", 1e3 * wait_s(begin));
    }
    tz_cuda_jumper_destroy(jumper);
    time_parts(&linear, &field, &there_s, &back_s);
    const double jump_s = median(times);
    print_message("    jump %.3f ms: there %.3f%s, back %.3f, between %.3f\n", 1e3 * jump_s,
                  1e3 * there_s, has_source ? " twice" : "", 1e3 * back_s,
                  1e3 * (jump_s - there_s * (has_source ? 2 : 1) - back_s));
    tz_cuda_free(cuda, field.at);
    tz_cuda_free(cuda, source.at);
}

static void times_of_jumps(void **state)
{
    if (!cuda)
        skip_test("no GPU");
    time_jump(2, 16384, TZ_DFT, false, 10000, false);
    time_jump(2, 16384, TZ_DFT, false, 100, false);
    time_jump(2, 16384, TZ_DCT_II, false, 10000, false);
    time_jump(3, 512, TZ_DCT_II, true, 1000, false);
    time_jump(3, 512, TZ_DFT, true, 1000, false);
    time_jump(3, 511, TZ_DST_I, true, 1000, false);
    time_jump(3, 513, TZ_DCT_I, true, 1000, false);
    time_jump(2, 4096, TZ_DCT_II, false, 1000000, true);
    time_jump(2, 4096, TZ_DST_I, false, 1000, false); /* 4097 = 17 x 241 */
}

TEST_MAIN(open_gpu, close_gpu, TEST(large_grids_are_right), TEST(times_of_jumps))
