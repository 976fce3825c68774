/* Jumps on a GPU, held against sums in long double. Without a GPU the kernels run on the executor,
 * and cuFFT is a stand-in. */
#include "backend/cuda/family/family.h"
#include "backend/cuda/spectral/jump.h"
#include "executed.h"
#include "tests/archetypes.h"

/* ---- What it shall be ------------------------------------------------------------------------ */

/* Values or amplitudes along one axis: out[i] = sum of in[j] * basis. All as complex numbers. */
typedef long double _Complex number;
static const long double PI = 3.14159265358979323846264338327950288L;

static number basis(tz_transform transform, int64_t n, int64_t k, int64_t x)
{
    int64_t p, q;
    tz_transform_phase(transform, n, k, &p, &q);
    const long double theta = PI * (long double)p / (long double)q;
    const long double at = (long double)x;
    if (transform == TZ_DFT)
        return cosl(theta * at) + 1.0iL * sinl(theta * at);
    return transform == TZ_DCT_II  ? cosl(theta * (at + 0.5L))
           : transform == TZ_DCT_I ? cosl(theta * at)
                                   : sinl(theta * (at + 1));
}

/* The amplitudes of a row are found from the orthogonality of its basis. */
static number weight(tz_transform transform, int64_t n, int64_t k, int64_t x)
{
    const number b = basis(transform, n, k, x);
    const long double at_end = transform == TZ_DCT_I && n > 1 && (x == 0 || x == n - 1) ? 0.5L : 1;
    long double size = 0;
    for (int64_t i = 0; i < n; i++) {
        const number v = basis(transform, n, k, i);
        const long double w = transform == TZ_DCT_I && n > 1 && (i == 0 || i == n - 1) ? 0.5L : 1;
        size += w * (__real__ v * __real__ v + __imag__ v * __imag__ v);
    }
    return at_end * (__real__ b - 1.0iL * __imag__ b) / size;
}

static void along(number *all, const int64_t n[3], int axis, tz_transform transform, bool back)
{
    const int64_t stride = axis == 0 ? 1 : axis == 1 ? n[0] : n[0] * n[1], m = n[axis];
    number *matrix = calloc((size_t)(m * m), sizeof *matrix);
    number *row = calloc((size_t)m, sizeof *row);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++)
            matrix[i * m + j] = back ? basis(transform, m, j, i) : weight(transform, m, i, j);
    for (int64_t at = 0; at < n[0] * n[1] * n[2]; at++) {
        if (at / stride % m != 0)
            continue;
        for (int64_t i = 0; i < m; i++) {
            row[i] = 0;
            for (int64_t j = 0; j < m; j++)
                row[i] += matrix[i * m + j] * all[at + j * stride];
        }
        for (int64_t i = 0; i < m; i++)
            all[at + i * stride] = row[i];
    }
    free(matrix);
    free(row);
}

static number symbol_of(const tz_linear *linear, int to, int from, const int64_t k[3])
{
    number sum = 0;
    for (int i = 0; i < linear->terms_count; i++) {
        const tz_linear_term *term = &linear->terms[i];
        number factor = term->to == to && term->from == from ? term->coefficient : 0;
        for (int a = 0; a < linear->dims; a++) {
            int64_t p, q;
            tz_transform_phase(linear->transform[a], linear->extent[a], k[a], &p, &q);
            const long double angle =
                PI * (long double)p / (long double)q * (long double)term->offset[a];
            factor *= linear->even[a] ? cosl(angle) : cosl(angle) + 1.0iL * sinl(angle);
        }
        sum += factor;
    }
    return sum;
}

/* The steps one after the other, or the limit of one field. */
static void step_all(const tz_linear *linear, int64_t steps, number *const u[2], number *const s[2])
{
    const int64_t *n = linear->extent;
    const int fields = linear->fields_count;
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        const int64_t k[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
        number m[2][2] = {{0}};
        for (int to = 0; to < fields; to++)
            for (int from = 0; from < fields; from++)
                m[to][from] = symbol_of(linear, to, from, k);
        if (steps == TZ_JUMP_LIMIT && k[0] + k[1] + k[2] + (linear->transform[0] == TZ_DST_I) > 0)
            u[0][i] = s[0][i] / (1 - m[0][0]);
        for (int64_t t = 0; t < steps; t++) {
            number next[2] = {0};
            for (int to = 0; to < fields; to++) {
                next[to] = s[0] ? s[to][i] : 0;
                for (int from = 0; from < fields; from++)
                    next[to] += m[to][from] * u[from][i];
            }
            for (int to = 0; to < fields; to++)
                u[to][i] = next[to];
        }
    }
}

/* ---- One case -------------------------------------------------------------------------------- */

static double value_of(int64_t i)
{
    const double x = sin(12.9898 * (double)(i + 1)) * 43758.5453;
    return x - floor(x) + 0.25;
}

enum { GAP = 3 }; /* elements after each row */

typedef struct grid {
    tz_cuda_transform_field field;
    number *values;
} grid;

static grid grid_make(tz_cuda *cuda, const tz_linear *linear, bool is_double, int64_t seed,
                      bool balanced)
{
    const int64_t *n = linear->extent, pitch = n[0] + GAP, rows = n[1] * n[2];
    const size_t size = is_double ? 8 : 4, bytes = (size_t)(pitch * rows) * size;
    grid g = {.field = {.apart = {1, pitch, pitch * n[1]}, .is_double = is_double}};
    char *host = calloc(bytes, 1);
    g.values = calloc((size_t)(n[0] * rows), sizeof *g.values);
    for (int64_t i = 0; i < n[0] * rows; i++) {
        double v = value_of(i + seed);
        if (balanced) /* the sum is 0 without rounding */
            v = i + 1 == n[0] * rows && i % 2 == 0 ? 0.0 : i % 2 ? -1.0 : 1.0;
        const float f = (float)v;
        memcpy(host + (size_t)(i / n[0] * pitch + i % n[0]) * size,
               is_double ? (const void *)&v : (const void *)&f, size);
        g.values[i] = is_double ? v : (double)f;
    }
    assert_ok(tz_cuda_allocate(cuda, &g.field.at, bytes, &failure));
    assert_ok(tz_cuda_upload(cuda, g.field.at, host, bytes, &failure));
    free(host);
    return g;
}

/* The largest difference to the wanted values, over the largest value. */
static double grid_compare(tz_cuda *cuda, const tz_linear *linear, const grid *g,
                           const number *wanted)
{
    const int64_t *n = linear->extent, pitch = n[0] + GAP, rows = n[1] * n[2];
    const size_t size = g->field.is_double ? 8 : 4, bytes = (size_t)(pitch * rows) * size;
    char *host = calloc(bytes, 1);
    long double apart = 0, largest = 0;
    assert_ok(tz_cuda_download(cuda, host, g->field.at, bytes, &failure));
    for (int64_t i = 0; i < n[0] * rows; i++) {
        const char *at = host + (size_t)(i / n[0] * pitch + i % n[0]) * size;
        double v;
        float f;
        memcpy(g->field.is_double ? (void *)&v : (void *)&f, at, size);
        const long double now = g->field.is_double ? (long double)v : (long double)f;
        const long double want = __real__ wanted[i];
        apart = fmaxl(apart, fabsl(now - want));
        largest = fmaxl(largest, fabsl(want));
    }
    free(host);
    return largest > 0 ? (double)(apart / largest) : (double)apart;
}

typedef struct jump_case {
    bool is_double, has_source;
    int64_t steps;
    bool balanced; /* the source sums to 0 */
} jump_case;

static void check_jump(tz_cuda_jumper *jumper, tz_cuda *cuda, const tz_linear *linear,
                       const jump_case *c)
{
    const int fields = linear->fields_count;
    grid u[2] = {{.values = NULL}}, s[2] = {{.values = NULL}};
    tz_cuda_transform_field at[2], sources[2];
    tz_jump_facts facts = {.bytes = 0};
    const int64_t *n = linear->extent;
    const bool tiny = n[0] * n[1] * n[2] <= 2 && linear->transform[0] != TZ_DST_I;
    for (int f = 0; f < fields; f++) {
        u[f] = grid_make(cuda, linear, c->is_double, 1000 * f, false);
        at[f] = u[f].field;
        if (c->has_source)
            s[f] = grid_make(cuda, linear, true, 7 + 1000 * f, c->balanced);
        sources[f] = s[f].field;
    }
    assert_ok(tz_cuda_jump(jumper, linear, c->steps, at, c->has_source ? sources : NULL, &facts,
                           &failure));
    for (int back = 0; back < 2; back++) {
        for (int f = 0; f < fields; f++)
            for (int a = 0; a < linear->dims; a++) {
                along(u[f].values, linear->extent, a, linear->transform[a], back);
                if (!back && c->has_source)
                    along(s[f].values, linear->extent, a, linear->transform[a], false);
            }
        if (!back)
            step_all(linear, c->steps, (number *[]){u[0].values, u[1].values},
                     (number *[]){s[0].values, s[1].values});
    }
    for (int f = 0; f < fields; f++) {
        const double apart = grid_compare(cuda, linear, &u[f], u[f].values);
        if (!(apart <= (c->is_double ? 4e-15 : 6e-8)))
            fail_msg("%d-D %lld x %lld x %lld, sides %d %d %d, %lld steps, field %d: %g apart",
                     linear->dims, (long long)linear->extent[0], (long long)linear->extent[1],
                     (long long)linear->extent[2], linear->transform[0], linear->transform[1],
                     linear->transform[2], (long long)c->steps, f, apart);
        free(u[f].values);
        free(s[f].values);
        tz_cuda_free(cuda, u[f].field.at);
        tz_cuda_free(cuda, s[f].field.at);
    }
    assert_true(facts.bytes > 0);
    if (!tiny)
        assert_non_null(strstr(facts.library, "cuFFT 1"));
}

/* ---- Operators ------------------------------------------------------------------------------- */

enum { TERMS_MAX = 16 };

static void add_term(tz_linear *linear, int to, int from, int x, int y, int z, double coefficient)
{
    linear->terms[linear->terms_count++] = (tz_linear_term){to, from, {x, y, z}, coefficient};
    linear->rest[to] -= coefficient;
    linear->alternating_rest += (x + y + z) % 2 ? -coefficient : coefficient;
}

/* Without terms. */
static tz_linear linear_of(tz_linear_term *terms, const int64_t n[3], const tz_transform sides[3])
{
    tz_linear linear = {.dims = n[2] > 0   ? 3
                                : n[1] > 0 ? 2
                                           : 1,
                        .real = true,
                        .radius = 1,
                        .fields_count = 1,
                        .terms = terms,
                        .rest = {1.0, 1.0},
                        .alternating_rest = 1.0};
    for (int a = 0; a < TZ_AXES; a++) {
        linear.extent[a] = a < linear.dims ? n[a] : 1;
        linear.transform[a] = a < linear.dims ? sides[a] : TZ_DFT;
        linear.even[a] = true;
    }
    return linear;
}

static tz_linear heat(tz_linear_term *terms, const int64_t n[3], const tz_transform sides[3],
                      double rate)
{
    tz_linear linear = linear_of(terms, n, sides);
    add_term(&linear, 0, 0, 0, 0, 0, 1.0 - rate * linear.dims);
    for (int a = 0; a < linear.dims; a++)
        add_term(&linear, 0, 0, a == 0, a == 1, a == 2, rate);
    for (int f = 0; f < 2; f++)
        linear.rest[f] = 0.0; /* exactly */
    return linear;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* All sides of an axis, alone and with others. */
static void every_side_and_dimension(void **state)
{
    static const int64_t grids[][3] = {{24, 0, 0},  {35, 0, 0}, {1, 0, 0}, {2, 0, 0}, {9, 14, 0},
                                       {40, 33, 0}, {1, 6, 0},  {5, 1, 0}, {6, 5, 4}, {3, 8, 7}};
    tz_cuda *cuda = opened_to_run();
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
        const int dims = grids[g][2] > 0 ? 3 : grids[g][1] > 0 ? 2 : 1;
        const int cases = dims == 3 ? 64 : dims == 2 ? 16 : 4;
        const int stride = (dims == 3 ? 4 : grids[g][0] == 40 ? 5 : 1) * (is_complete() ? 1 : 3);
        for (int i = (int)g % stride; i < cases; i += stride) {
            const tz_transform sides[3] = {(tz_transform)(i % 4), (tz_transform)(i / 4 % 4),
                                           (tz_transform)(i / 16)};
            tz_linear_term terms[TERMS_MAX];
            const tz_linear linear = heat(terms, grids[g], sides, 0.3);
            tz_cuda_jumper *jumper;
            assert_ok(tz_cuda_jumper_create(&jumper, cuda, &failure));
            backwards = i % 2;
            check_jump(jumper, cuda, &linear, &(jump_case){true, i % 3 == 1, 17, false});
            tz_cuda_jumper_destroy(jumper);
        }
    }
    tz_cuda_close(cuda);
}

/* One jumper for jumps of several kinds: tables and memory are made again where they have to be. */
static void jumps_follow_jumps(void **state)
{
    static const int64_t n[3] = {12, 10, 0};
    static const tz_transform clamp[3] = {TZ_DCT_II, TZ_DCT_II, TZ_DFT};
    static const tz_transform periodic[3] = {TZ_DFT, TZ_DFT, TZ_DFT};
    tz_linear_term first[TERMS_MAX], second[TERMS_MAX], third[TERMS_MAX];
    const tz_linear slow = heat(first, n, clamp, 0.1), fast = heat(second, n, clamp, 0.9);
    const tz_linear other = heat(third, n, periodic, 0.9);
    /* Along x faster than along y, and the other way round: only coefficients differ, not their
     * sums. */
    tz_linear_term fourth[TERMS_MAX], fifth[TERMS_MAX];
    const tz_linear along_x = heat(fourth, n, clamp, 0.3), along_y = heat(fifth, n, clamp, 0.3);
    fourth[1].coefficient = fifth[2].coefficient = 0.4;
    fourth[2].coefficient = fifth[1].coefficient = 0.2;
    tz_cuda *cuda = opened_to_run();
    tz_cuda_jumper *jumper;
    assert_ok(tz_cuda_jumper_create(&jumper, cuda, &failure));
    check_jump(jumper, cuda, &slow, &(jump_case){true, false, 5, false});
    check_jump(jumper, cuda, &slow, &(jump_case){false, true, 2000, false});
    check_jump(jumper, cuda, &fast, &(jump_case){true, true, 300, false});
    check_jump(jumper, cuda, &other, &(jump_case){true, true, 1, false});
    check_jump(jumper, cuda, &fast, &(jump_case){true, false, 30000, false});
    check_jump(jumper, cuda, &along_x, &(jump_case){true, false, 20, false});
    check_jump(jumper, cuda, &along_y, &(jump_case){true, false, 20, false});
    tz_cuda_jumper_destroy(jumper);
    tz_cuda_close(cuda);
}

/* Uneven coefficients along periodic axes. */
static void waves_that_move(void **state)
{
    static const int64_t n[3] = {10, 9, 0};
    static const tz_transform sides[2][3] = {{TZ_DFT, TZ_DFT, TZ_DFT}, {TZ_DCT_II, TZ_DFT, TZ_DFT}};
    tz_cuda *cuda = opened_to_run();
    for (int i = 0; i < 2; i++) {
        tz_linear_term terms[TERMS_MAX];
        tz_linear linear = linear_of(terms, n, sides[i]);
        linear.real = false;
        linear.radius = 2;
        linear.even[0] = i == 1;
        linear.even[1] = false;
        add_term(&linear, 0, 0, 0, 0, 0, 0.5);
        add_term(&linear, 0, 0, 0, -1, 0, 0.25);
        add_term(&linear, 0, 0, i == 1 ? 1 : -1, 2, 0, 0.125);
        add_term(&linear, 0, 0, 1, 0, 0, 0.125);
        tz_cuda_jumper *jumper;
        assert_ok(tz_cuda_jumper_create(&jumper, cuda, &failure));
        check_jump(jumper, cuda, &linear, &(jump_case){true, i == 1, 23, false});
        tz_cuda_jumper_destroy(jumper);
    }
    tz_cuda_close(cuda);
}

/* Two time levels: u' = 2 u - v + c (neighbours), v' = u. */
static void two_fields(void **state)
{
    static const int64_t n[3] = {8, 11, 0};
    static const tz_transform sides[3][3] = {
        {TZ_DFT, TZ_DFT, TZ_DFT}, {TZ_DST_I, TZ_DCT_II, TZ_DFT}, {TZ_DCT_I, TZ_DFT, TZ_DFT}};
    tz_cuda *cuda = opened_to_run();
    for (int i = 0; i < 3; i++) {
        tz_linear_term terms[TERMS_MAX];
        tz_linear linear = linear_of(terms, n, sides[i]);
        linear.fields_count = 2;
        add_term(&linear, 0, 0, 0, 0, 0, 2.0 - 0.75);
        add_term(&linear, 0, 0, 1, 0, 0, 0.375);
        add_term(&linear, 0, 0, 0, 1, 0, 0.375);
        add_term(&linear, 0, 1, 0, 0, 0, -0.96875);
        add_term(&linear, 1, 0, 0, 0, 0, 1.0);
        tz_cuda_jumper *jumper;
        assert_ok(tz_cuda_jumper_create(&jumper, cuda, &failure));
        check_jump(jumper, cuda, &linear, &(jump_case){true, i == 1, 19, false});
        tz_cuda_jumper_destroy(jumper);
    }
    tz_cuda_close(cuda);
}

static void limits(void **state)
{
    static const int64_t n[3] = {12, 7, 0};
    static const tz_transform sides[2][3] = {{TZ_DST_I, TZ_DCT_II, TZ_DFT},
                                             {TZ_DCT_II, TZ_DCT_II, TZ_DFT}};
    tz_cuda *cuda = opened_to_run();
    for (int i = 0; i < 2; i++) {
        tz_linear_term terms[TERMS_MAX];
        tz_linear linear = heat(terms, n, sides[i], 0.4);
        tz_cuda_jumper *jumper;
        assert_ok(tz_cuda_jumper_create(&jumper, cuda, &failure));
        check_jump(jumper, cuda, &linear, &(jump_case){true, true, TZ_JUMP_LIMIT, i == 1});
        if (i == 1) { /* the source feeds the mean for ever; the field stays as it is */
            grid u = grid_make(cuda, &linear, true, 0, false);
            grid s = grid_make(cuda, &linear, true, 7, false);
            tz_jump_facts facts;
            check_error_of(
                tz_cuda_jump(jumper, &linear, TZ_JUMP_LIMIT, &u.field, &s.field, &facts, &failure),
                TZ_UNSUPPORTED, &failure, "steady", "has a mean that nothing takes away");
            assert_true(grid_compare(cuda, &linear, &u, u.values) == 0);
            free(u.values);
            free(s.values);
            tz_cuda_free(cuda, u.field.at);
            tz_cuda_free(cuda, s.field.at);
        }
        tz_cuda_jumper_destroy(jumper);
    }
    tz_cuda_close(cuda);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void check_refusal(tz_cuda *cuda, tz_status wanted, const char *message)
{
    static const int64_t n[3] = {16, 12, 0};
    static const tz_transform sides[3] = {TZ_DCT_II, TZ_DFT, TZ_DFT};
    tz_linear_term terms[TERMS_MAX];
    const tz_linear linear = heat(terms, n, sides, 0.3);
    tz_cuda_jumper *jumper;
    tz_jump_facts facts;
    assert_ok(tz_cuda_jumper_create(&jumper, cuda, &failure));
    grid u = grid_make(cuda, &linear, true, 0, false);
    check_error_of(tz_cuda_jump(jumper, &linear, 3, &u.field, NULL, &facts, &failure), wanted,
                   &failure, "", message);
    assert_true(grid_compare(cuda, &linear, &u, u.values) == 0);
    free(u.values);
    tz_cuda_free(cuda, u.field.at);
    /* The same jumper works when the cause is gone, but for the size of a plan. */
    unsetenv("FAKE_CUFFT_FAULT");
    if (!getenv("FAKE_CUFFT_WORK"))
        check_jump(jumper, cuda, &linear, &(jump_case){true, false, 3, false});
    tz_cuda_jumper_destroy(jumper);
}

static void failures_leave_the_field(void **state)
{
    need_fake();
    tz_cuda *cuda = opened_to_run();
    setenv("FAKE_CUFFT_FAULT", "cufftGetVersion:5", 1);
    check_refusal(cuda, TZ_UNSUPPORTED, "this cuFFT is not usable (its version is unknown)");
    setenv("FAKE_CUFFT_FAULT", "cufftMakePlanMany64:8", 1);
    check_refusal(cuda, TZ_UNSUPPORTED,
                  "cuFFT cannot plan 12 transforms of 16 numbers: invalid size");
    setenv("FAKE_CUFFT_FAULT", "cufftMakePlanMany64:2", 1);
    check_refusal(cuda, TZ_MEMORY, "out of memory");
    setenv("FAKE_CUFFT_FAULT", "cufftExecD2Z:6", 1);
    check_refusal(cuda, TZ_BACKEND,
                  "cuFFT fails at 12 transforms of 16 numbers: failed to run (6)");
    setenv("FAKE_CUFFT_WORK", "3221225472", 1);
    check_refusal(cuda, TZ_MEMORY, "a jump needs 3.00 GiB of GPU memory beside the fields");
    tz_cuda_close(cuda);
}

TEST_MAIN(start, end, EXECUTED_TEST(every_side_and_dimension), EXECUTED_TEST(jumps_follow_jumps),
          EXECUTED_TEST(waves_that_move), EXECUTED_TEST(two_fields), EXECUTED_TEST(limits),
          EXECUTED_TEST(failures_leave_the_field))
