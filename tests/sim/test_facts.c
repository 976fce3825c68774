/* What stencils say about fields and parameters when a run begins (tz_stencil.check_run). */
#include "tests/oracle/oracle.h"

enum { N = 12 };

static tz_status run(tz_simulation *sim, double until_residual, said *heard)
{
    tz_run_result result;
    const tz_run run = {.steps = 2, .until_residual = until_residual};
    return run_with(sim, &run, NULL, heard, &result, &failure);
}

static void fill(tz_simulation *sim, const char *field, double value)
{
    assert_ok(tz_simulation_fill(sim, oracle_field(sim, field), NULL, value, &failure));
}

static void set(tz_simulation *sim, const char *name, double value)
{
    const tz_assignment one = {name, value, NULL};
    assert_ok(tz_simulation_set_params(sim, 1, &one, &failure));
}

/* The run is refused, with all of these texts, before anything has changed. */
static void refuses(tz_simulation *sim, double until_residual, const char *a, const char *b)
{
    said heard = {0};
    const int64_t step = tz_simulation_step(sim);
    assert_true(run(sim, until_residual, &heard) != TZ_OK);
    if (!strstr(failure.message, a) || !strstr(failure.message, b))
        fail_msg("'%s' has no '%s' or no '%s'", failure.message, a, b);
    assert_int_equal(tz_simulation_step(sim), step);
}

/* The run ends before it computes, with a warning that has these texts. */
static void has_no_solution(tz_simulation *sim, double until_residual, const char *a, const char *b)
{
    said heard = {0};
    const int64_t step = tz_simulation_step(sim);
    assert_ok(run(sim, until_residual, &heard));
    if (heard.count != 1 || !strstr(heard.text, a) || !strstr(heard.text, b))
        fail_msg("%d warnings: '%s' has no '%s' or no '%s'", heard.count, heard.text, a, b);
    assert_int_equal(tz_simulation_last_run(sim)->status, TZ_RUN_INCONSISTENT);
    assert_int_equal(tz_simulation_step(sim), step);
}

/* It runs; with a text, it says that. */
static void runs(tz_simulation *sim, double until_residual, const char *text)
{
    said heard = {0};
    assert_ok(run(sim, until_residual, &heard));
    if (heard.count != (text != NULL) || (text && !strstr(heard.text, text)))
        fail_msg("%d warnings: '%s', not '%s'", heard.count, heard.text, text ? text : "");
}

static tz_simulation *create(const char *stencil, int dims, const char *boundary)
{
    return oracle_create(oracle(stencil, TZ_DOUBLE, boundary, N, N, dims > 2 ? 6 : 0));
}

TEST(hotspot3d_compares_most)
{
    tz_simulation *sim = create("hotspot3d", 3, "clamp");
    fill(sim, "lateral", 4.0);
    fill(sim, "vertical", 3.0);
    refuses(sim, NAN, "lateral reaches 4 and vertical 3", "set most = 4");
    set(sim, "allow_unstable", 1.0);
    runs(sim, NAN, NULL);
    set(sim, "allow_unstable", 0.0);
    set(sim, "most", 4.0);
    runs(sim, NAN, NULL);
    fill(sim, "vertical", 5.0); /* between runs */
    refuses(sim, NAN, "vertical 5", "most = 4");
    fill(sim, "lateral", -1.0);
    refuses(sim, NAN, "is -1", "negative");
    sim = create("hotspot3d", 3, "clamp");
    fill(sim, "lateral", 4.0);
    set(sim, "dt_s", 1e-9); /* small enough for any of them */
    runs(sim, NAN, NULL);
}

/* Slabs decide alike, wherever the cell is. */
TEST(slabs_decide_alike)
{
    for (int z = 0; z < 12; z += 11) {
        tz_simulation *sim = NULL;
        assert_ok(tz_simulation_create(&sim,
                                       &(tz_simulation_config){.registry = registry,
                                                               .stencil = "hotspot3d",
                                                               .dims = 3,
                                                               .extent = {8, 8, 12},
                                                               .precision = TZ_SINGLE,
                                                               .devices = "cpu*2",
                                                               .threads = 1},
                                       &failure));
        const tz_box cell = {{3, 3, z}, {4, 4, z + 1}};
        const double four = 4.0;
        assert_ok(
            tz_simulation_write(sim, oracle_field(sim, "vertical"), &cell, &four, NULL, &failure));
        refuses(sim, NAN, "vertical 4", "set most = 4");
        tz_simulation_destroy(sim);
    }
}

TEST(waves_compare_speeds)
{
    static const char *const stencils[] = {"wave2d", "wave2d8", "wave3d", "wave3d8"};
    for (int s = 0; s < 4; s++) {
        const bool order8 = strchr(stencils[s], '8');
        tz_simulation *sim = create(stencils[s], s < 2 ? 2 : 3, "fixed");
        fill(sim, "speed", 9000.0);
        refuses(sim, NAN, "reaches 9000 m/s, but max_speed_m_s = 4500", "set max_speed_m_s = 9000");
        fill(sim, "speed", 5000.0); /* 0.8 of the stable step has room for it */
        runs(sim, NAN, NULL);
        fill(sim, "speed", 10.0 * 15.0 * (order8 ? 7.0 : 11.0));
        runs(sim, NAN, NULL);
        fill(sim, "speed", 10.0 * 15.0 * (order8 ? 5.0 : 9.0));
        runs(sim, NAN,
             order8 ? "is 5 cells long where speed is 750 m/s, and this scheme needs 6"
                    : "is 9 cells long where speed is 1350 m/s, and this scheme needs 10");
        runs(sim, NAN, NULL); /* once */
        sim = create(stencils[s], s < 2 ? 2 : 3, "fixed");
        fill(sim, "speed", 4.5);
        runs(sim, NAN, "in km/s");
        sim = create(stencils[s], s < 2 ? 2 : 3, "fixed");
        set(sim, "amplitude", 0.0); /* nothing sounds */
        fill(sim, "speed", 300.0);
        runs(sim, NAN, NULL);
        fill(sim, "sponge", 1.5);
        runs(sim, NAN, "sponge reaches 1.5");
    }
}

/* lap(u) = f without a fixed side: the mean of f with the weights of the sides. */
TEST(poisson_needs_a_solution)
{
    double f[N * N];
    tz_simulation *sim = create("poisson", 2, "periodic");
    fill(sim, "f", 1.0);
    runs(sim, NAN, NULL); /* a number of steps */
    has_no_solution(sim, 1e-6, "the mean of f is 1", "fixed side");
    runs(sim, 1.5, NULL); /* that it can reach */
    sim = create("poisson", 2, "fixed");
    fill(sim, "f", 1.0);
    runs(sim, 1e-6, NULL);
    for (int weighted = 0; weighted < 2; weighted++) {
        sim = create("poisson", 2, "mirror");
        for (int i = 0; i < N * N; i++) {
            const int x = i % N, y = i / N;
            f[i] = x == 0 && y == 0       ? 4.0 /* a quarter of it counts */
                   : x == 5 && y == N - 1 ? (weighted ? -2.0 : -4.0)
                                          : 0.0;
        }
        oracle_write(sim, "f", f);
        if (weighted)
            runs(sim, 1e-9, NULL);
        else
            has_no_solution(sim, 1e-9, "mean of f is -0.00826", "half");
    }
}

TEST(flows_are_slow)
{
    static const double weights[] = {4. / 9,  1. / 9,  1. / 9,  1. / 9, 1. / 9,
                                     1. / 36, 1. / 36, 1. / 36, 1. / 36};
    static const int cx[] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
    for (int faulty = 0; faulty < 2; faulty++) {
        tz_simulation *sim = create("lbm", 2, "periodic");
        for (int i = 0; i < 9; i++) {
            const char name[] = {'f', (char)('0' + i), '\0'};
            fill(sim, name, weights[i] * (1.0 + 3.0 * cx[i] * (faulty ? 0.35 : 0.1)));
        }
        runs(sim, NAN, faulty ? "up to 0.35 cells an iteration" : NULL);
        set(sim, "viscosity", 0.0005);
        runs(sim, NAN, faulty ? NULL : "Reynolds number 200");
    }
    tz_simulation *sim = create("lbm_channel", 2, "periodic");
    fill(sim, "wall_y", -0.4); /* of walls and inlets, which may be anywhere */
    runs(sim, NAN, "up to 0.4 cells an iteration");
    fill(sim, "solid", 7.0);
    refuses(sim, NAN, "solid reaches from 7 to 7", "kinds 0 to 6");
    sim = create("lbm3d", 3, "periodic");
    fill(sim, "solid", 7.0);
    runs(sim, NAN, NULL);
    fill(sim, "solid", -1.0);
    refuses(sim, NAN, "solid reaches from -1 to -1", "kinds 0 to 7");
}

/* A wave in a box goes to and fro for ever. */
TEST(a_residual_that_never_falls)
{
    for (int kind = 0; kind < 4; kind++) {
        const bool ends = kind % 2 == 1, is_update = kind / 2 == 1;
        said heard = {.ends = true};
        tz_run_result result;
        tz_simulation *sim = oracle_create(
            oracle_with(oracle("wave2d", TZ_DOUBLE, "mirror", 7, 6, 0), "amplitude", 0.0, NULL));
        const tz_box cell = {{3, 4, 0}, {4, 5, 1}};
        const double one = 1.0;
        assert_ok(tz_simulation_write(sim, oracle_field(sim, "u"), &cell, &one, NULL, &failure));
        const tz_run run = {.steps = ends ? 9000 : -1,
                            .until_residual = 1e-9,
                            .until_is_update = is_update,
                            .check_every = 512};
        assert_int_equal(run_with(sim, &run, NULL, &heard, &result, &failure),
                         ends ? TZ_OK : TZ_INTERRUPTED);
        assert_int_equal(heard.count, !ends);
        if (!ends)
            assert_non_null(strstr(heard.text, is_update ? "a larger until_update"
                                                         : "a larger until_residual"));
    }
}

TEST_GROUP(open_plugins, close_plugins)
