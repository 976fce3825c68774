/* Jumps on a GPU, held against iterations on the host in long double. Without a GPU the kernels run
 * on the executor, and cuFFT is a stand-in; with one there are large grids, too. */
#include "backend/cuda/family/family.h"
#include "backend/cuda/spectral/jump.h"
#include "base/machine.h"
#include "executed.h"
#include "jump/host.h"
#include "sim/fields.h"
#include "sim/solve.h"
#include "tests/archetypes.h"
#include "tests/registry.h"
#include "tests/run.h"

/* ---- What it shall be ------------------------------------------------------------------------ */

typedef long double number;

/* The cell that stands for one along an axis; -1: there is 0. No offset is larger than the axis,
 * but for periodic ones. */
static int64_t inside(tz_transform transform, int64_t n, int64_t x)
{
    if (transform == TZ_DFT)
        return (x % n + n) % n;
    if (x >= 0 && x < n)
        return x;
    if (transform == TZ_DST_I)
        return -1;
    if (transform == TZ_DCT_II)
        return x < 0 ? -1 - x : 2 * n - 1 - x;
    return n == 1 ? 0 : x < 0 ? -x : 2 * (n - 1) - x;
}

/* What a term adds to a cell. On an even axis it stands for both signs of its offset. */
static number added(const tz_linear *linear, const tz_linear_term *term, const number *from,
                    const int64_t x[TZ_AXES])
{
    const int64_t *n = linear->extent;
    number sum = 0, weight = term->coefficient;
    int both = 0;
    for (int a = 0; a < TZ_AXES; a++)
        if (linear->even[a] && term->offset[a] != 0) {
            both |= 1 << a;
            weight /= 2;
        }
    for (int signs = 0; signs < 8; signs++) {
        int64_t at[TZ_AXES];
        if (signs & ~both)
            continue;
        for (int a = 0; a < TZ_AXES; a++)
            at[a] = inside(linear->transform[a], n[a],
                           x[a] + (signs >> a & 1 ? -1 : 1) * term->offset[a]);
        if (at[0] >= 0 && at[1] >= 0 && at[2] >= 0)
            sum += weight * from[at[0] + n[0] * (at[1] + n[1] * at[2])];
    }
    return sum;
}

/* Iterations one after the other. s[0] = NULL: no source. */
static void iterate(const tz_linear *linear, int64_t steps, number *u[2], number *const s[2])
{
    const int64_t *n = linear->extent, cells = n[0] * n[1] * n[2];
    number *next[2] = {NULL, NULL};
    for (int f = 0; f < linear->fields_count; f++)
        next[f] = malloc((size_t)cells * sizeof **next);
    for (int64_t step = 0; step < steps; step++) {
        for (int f = 0; f < linear->fields_count; f++)
            for (int64_t i = 0; i < cells; i++) {
                const int64_t x[TZ_AXES] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
                next[f][i] = s[0] ? s[f][i] : 0;
                for (int t = 0; t < linear->terms_count; t++)
                    if (linear->terms[t].to == f)
                        next[f][i] += added(linear, &linear->terms[t], u[linear->terms[t].from], x);
            }
        for (int f = 0; f < linear->fields_count; f++) {
            number *const was = u[f];
            u[f] = next[f];
            next[f] = was;
        }
    }
    for (int f = 0; f < linear->fields_count; f++)
        free(next[f]);
}

/* ---- One case -------------------------------------------------------------------------------- */

static double value_of(int64_t i)
{
    const double x = sin(12.9898 * (double)(i + 1)) * 43758.5453;
    return x - floor(x) + 0.25;
}

enum {
    GAP = 3,           /* elements after each row */
    LIMIT_STEPS = 6000 /* after which nothing changes here */
};

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
    number apart = 0, largest = 0;
    assert_ok(tz_cuda_download(cuda, host, g->field.at, bytes, &failure));
    for (int64_t i = 0; i < n[0] * rows; i++) {
        const char *at = host + (size_t)(i / n[0] * pitch + i % n[0]) * size;
        double v;
        float f;
        memcpy(g->field.is_double ? (void *)&v : (void *)&f, at, size);
        const number now = g->field.is_double ? (number)v : (number)f;
        const number want = wanted[i];
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
    const bool large = n[0] * n[1] * n[2] > 100000;
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
    number *wanted[2] = {u[0].values, u[1].values};
    iterate(linear, c->steps == TZ_JUMP_LIMIT ? LIMIT_STEPS : c->steps, wanted,
            (number *[]){s[0].values, s[1].values});
    for (int f = 0; f < fields; f++) {
        const double apart = grid_compare(cuda, linear, &u[f], wanted[f]);
        if (!(apart <= (!c->is_double ? 6e-8 : large ? 1e-14 : 4e-15)))
            fail_msg("%d-D %lld x %lld x %lld, sides %d %d %d, %lld steps, field %d: %g apart",
                     linear->dims, (long long)linear->extent[0], (long long)linear->extent[1],
                     (long long)linear->extent[2], linear->transform[0], linear->transform[1],
                     linear->transform[2], (long long)c->steps, f, apart);
        free(wanted[f]);
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
EXECUTED_TEST(every_side_and_dimension)
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
EXECUTED_TEST(jumps_follow_jumps)
{
    static const int64_t n[3] = {12, 10, 0};
    static const tz_transform clamp[3] = {TZ_DCT_II, TZ_DCT_II, TZ_DFT};
    static const tz_transform periodic[3] = {TZ_DFT, TZ_DFT, TZ_DFT};
    tz_linear_term first[TERMS_MAX], second[TERMS_MAX], third[TERMS_MAX];
    const tz_linear slow = heat(first, n, clamp, 0.125), fast = heat(second, n, clamp, 0.9);
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
    check_jump(jumper, cuda, &slow, &(jump_case){true, false, 30000, false});
    check_jump(jumper, cuda, &along_x, &(jump_case){true, false, 20, false});
    check_jump(jumper, cuda, &along_y, &(jump_case){true, false, 20, false});
    tz_cuda_jumper_destroy(jumper);
    tz_cuda_close(cuda);
}

/* Uneven coefficients along periodic axes. */
EXECUTED_TEST(waves_that_move)
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
EXECUTED_TEST(two_fields)
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

EXECUTED_TEST(limits)
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

EXECUTED_TEST(failures_leave_the_field)
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

/* ---- Simulations ----------------------------------------------------------------------------- */

enum { NX = 20, NY = 13, CELLS = NX * NY, STEPS = 30 };

/* A chip with random temperatures and powers. */
static tz_simulation *chip(const char *backend, tz_precision precision)
{
    tz_simulation *sim = NULL;
    double cells[CELLS];
    assert_ok(tz_simulation_create(&sim,
                                   &(tz_simulation_config){.registry = registry,
                                                           .stencil = "hotspot",
                                                           .dims = 2,
                                                           .extent = {NX, NY, 1},
                                                           .precision = (int)precision,
                                                           .backend = backend,
                                                           .sync = true},
                                   &failure));
    for (int f = 0; f < 2; f++) {
        for (int64_t i = 0; i < CELLS; i++)
            cells[i] = (float)(f == 0 ? 318.15 + value_of(i) : 1e-3 * value_of(i + 5));
        assert_ok(tz_simulation_write(sim, f, NULL, cells, NULL, &failure));
    }
    return sim;
}

static void jump_by(tz_simulation *sim, int64_t steps)
{
    tz_run_result result;
    const tz_run run = {.steps = steps, .until_residual = NAN, .jumps = true};
    assert_ok(run_simulation(sim, &run, &result, &failure));
}

static void jump_and_step(tz_simulation *sim, const char *by)
{
    tz_simulation *reference = chip("reference", TZ_DOUBLE);
    double now[CELLS], wanted[CELLS];
    for (int round = 0; round < 2; round++) {
        jump_by(sim, STEPS);
        assert_ok(run_steps(reference, STEPS, &failure));
        assert_ok(tz_simulation_read(sim, 0, NULL, now, &failure));
        assert_ok(tz_simulation_read(reference, 0, NULL, wanted, &failure));
        for (int64_t i = 0; i < CELLS; i++)
            if (!(fabs(now[i] - wanted[i]) <= 6e-8 * (1 + round) * wanted[i]))
                fail_msg("cell %d: %.17g, not %.17g", (int)i, now[i], wanted[i]);
        assert_non_null(strstr(tz_simulation_jumps(sim)->library, by));
        assert_true(tz_simulation_jumps(sim)->bytes >= 8 * CELLS);
    }
    tz_simulation_destroy(reference);
}

/* A source, single precision. The steady state is one that another jump leaves as it is. */
EXECUTED_TEST(a_simulation_jumps)
{
    static const tz_steady transform = {.by = TZ_STEADY_TRANSFORM},
                           solver = {.by = TZ_STEADY_SOLVER};
    double before[CELLS], after[CELLS];
    tz_steady_result found;
    tz_cuda_close(opened_to_run());
    tz_simulation *sim = chip("cuda", TZ_SINGLE);
    jump_and_step(sim, "cuFFT");
    /* Solved by the same kernels it is the same state. */
    assert_ok(tz_simulation_steady(sim, &solver, &found, &failure));
    assert_ok(tz_simulation_read(sim, 0, NULL, after, &failure));
    assert_string_equal(found.method, "conjugate gradients");
    assert_ok(tz_simulation_steady(sim, &transform, &found, &failure));
    assert_ok(tz_simulation_read(sim, 0, NULL, before, &failure));
    for (int64_t i = 0; i < CELLS; i++)
        assert_true(fabs(after[i] - before[i]) <= 1.2e-7 * fabs(before[i]));
    jump_by(sim, 1000);
    assert_ok(tz_simulation_read(sim, 0, NULL, after, &failure));
    for (int64_t i = 0; i < CELLS; i++)
        assert_true(fabs(after[i] - before[i]) <= 1.2e-7 * fabs(before[i]));
    tz_simulation_destroy(sim);
}

/* Without cuFFT a jump goes through host memory. */
EXECUTED_TEST(without_cufft_the_host_does_it)
{
    char library_name[64];
    tz_fftw fftw;
    need_fake();
    tz_cuda_close(opened_to_run());
    setenv("FAKE_CUFFT_FAULT", "cufftGetVersion:5", 1);
    assert_int_equal(tz_backend_cuda.jump_library(library_name, sizeof library_name, &failure),
                     TZ_UNSUPPORTED);
    if (tz_fftw_open(&fftw, NULL, NULL) != TZ_OK)
        skip_test("no libfftw3 on this machine");
    tz_simulation *sim = chip("cuda", TZ_SINGLE);
    jump_and_step(sim, "fftw");
    tz_simulation_destroy(sim);
}

/* ---- Large grids, on a GPU ------------------------------------------------------------------- */

static tz_cuda *opened_gpu(void)
{
    tz_cuda *cuda = NULL;
    if (seen || !tz_cuda_available())
        skip_test("no GPU");
    assert_ok(tz_cuda_open(&cuda, 0, &failure));
    return cuda;
}

EXECUTED_TEST(large_grids_are_right)
{
    static const tz_transform kinds[][TZ_AXES] = {
        {TZ_DCT_II, TZ_DCT_II, TZ_DCT_II}, {TZ_DFT, TZ_DFT, TZ_DFT},
        {TZ_DCT_I, TZ_DCT_I, TZ_DCT_I},    {TZ_DST_I, TZ_DST_I, TZ_DST_I},
        {TZ_DCT_II, TZ_DFT, TZ_DST_I},     {TZ_DFT, TZ_DCT_I, TZ_DCT_II}};
    static const int64_t grids[][TZ_AXES] = {
        {1000, 1501, 0}, {4096, 4096, 0}, {4099, 1021, 0}, /* primes */
        {3, 70001, 0},                                     /* more rows than a launch has blocks */
        {5, 3, 70001},   {96, 125, 77},   {3000017, 0, 0}};
    enum { KINDS = sizeof kinds / sizeof *kinds, GRIDS = sizeof grids / sizeof *grids };
    tz_cuda *cuda = opened_gpu();
    for (int i = 0; i < KINDS * GRIDS; i++) {
        tz_linear_term terms[TERMS_MAX];
        const tz_linear linear = heat(terms, grids[i % GRIDS], kinds[i / GRIDS], 0.25);
        tz_cuda_jumper *jumper;
        assert_ok(tz_cuda_jumper_create(&jumper, cuda, &failure));
        check_jump(jumper, cuda, &linear, &(jump_case){true, false, 3, false});
        tz_cuda_jumper_destroy(jumper);
    }
    tz_cuda_close(cuda);
}

static int start_all(void **state)
{
    return open_plugins(state) || start(state);
}

static int end_all(void **state)
{
    return end(state) || close_plugins(state);
}

TEST_GROUP(start_all, end_all)
