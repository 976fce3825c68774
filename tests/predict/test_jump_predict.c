/* Jumps against stepping: predicted, measured with FFTW, refused. */
#include "predict/jump.h"
#include "tests/registry.h"

static tz_workload *workload_of(const char *stencil, int dims, int64_t n, const char *device,
                                const char *boundary)
{
    tz_simulation_config simulation = {
        .registry = registry, .stencil = stencil, .dims = dims, .precision = -1, .threads = 2};
    for (int axis = 0; axis < TZ_AXES; axis++) {
        simulation.extent[axis] = axis < dims ? n : 1;
        simulation.boundary[axis] = axis < dims ? boundary : NULL;
    }
    const tz_workload_config config = {
        .simulation = &simulation, .device = device, .let_unstable = true};
    tz_workload *workload = NULL;
    assert_ok(tz_workload_create(&workload, &config, &failure));
    at_end(tz_workload_destroy, workload);
    return workload;
}

static const char cpu[] = TZ_TEST_SOURCE_DIR "/predict/cpu.txt";

static tz_prediction_table *table_of(const tz_workload *workload)
{
    const tz_prediction_request request = {.by = NULL};
    tz_prediction_table *table = NULL;
    assert_ok(tz_prediction_table_create(&table, workload, &request, &failure));
    at_end(tz_prediction_table_destroy, table);
    return table;
}

TEST(a_jump_is_faster_from_some_steps_on)
{
    tz_workload *workload = workload_of("star2d1r", 2, 512, cpu, "periodic");
    tz_prediction_table *table = table_of(workload);
    tz_jump_prediction jump;
    assert_ok(tz_jump_predict(&jump, workload, table, 10, &failure));
    assert_true(jump.jump.seconds > 0);
    assert_false(jump.affine);
    assert_int_equal(jump.rounds, 0);
    /* The first number of steps that takes longer. */
    assert_true((double)jump.from * jump.iteration_s > jump.jump.seconds);
    assert_true((double)(jump.from - 1) * jump.iteration_s <= jump.jump.seconds);
}

/* Power is a source, and so is a side that holds a value. */
TEST(sources_are_found)
{
    tz_workload *workload = workload_of("hotspot", 2, 256, cpu, NULL);
    tz_prediction_table *table = table_of(workload);
    tz_jump_prediction jump;
    assert_ok(tz_jump_predict(&jump, workload, table, 1, &failure));
    assert_true(jump.affine);
    workload = workload_of("star2d1r", 2, 256, cpu, "fixed");
    table = table_of(workload);
    workload->problem.boundary_value[0][3] = 1.0;
    assert_ok(tz_jump_predict(&jump, workload, table, 1, &failure));
    assert_true(jump.affine);
}

TEST(what_cannot_be_jumped_is_refused)
{
    static const struct {
        const char *stencil, *boundary, *message;
        int dims;
    } cases[] = {{"life", NULL, "holds bits", 2},
                 {"grayscott", NULL, "not linear", 2},
                 {"star2d2r", "clamp", "radius 1", 2}};
    for (int i = 0; i < 3; i++) {
        tz_workload *workload =
            workload_of(cases[i].stencil, cases[i].dims, 128, cpu, cases[i].boundary);
        tz_prediction_table *table = table_of(workload);
        tz_jump_prediction jump;
        check_error_of(tz_jump_predict(&jump, workload, table, 1, &failure), TZ_UNSUPPORTED,
                       &failure, "", cases[i].message);
    }
}

TEST(a_jump_is_measured)
{
    tz_workload *workload = workload_of("star2d1r", 2, 96, cpu, "mirror");
    tz_prediction_table *table = table_of(workload);
    tz_jump_prediction jump;
    assert_ok(tz_jump_predict(&jump, workload, table, 100, &failure));
    workload->is_here = false;
    check_error_of(tz_jump_measure(&jump, workload, table, 0, &failure), TZ_UNSUPPORTED, &failure,
                   "", "this device is not in this machine");
    workload->is_here = true;
    const tz_status status = tz_jump_measure(&jump, workload, table, 0, &failure);
    if (status == TZ_UNSUPPORTED)
        skip_test("no libfftw3 on this machine");
    assert_ok(status);
    assert_int_equal(jump.rounds, 5);
    assert_true(jump.low_s > 0 && jump.low_s <= jump.measured_s && jump.measured_s <= jump.high_s);
    assert_true(jump.measured_iteration_s > 0 && jump.create_s > 0);
    assert_true((double)jump.measured_from * jump.measured_iteration_s > jump.measured_s);
    assert_non_null(strstr(jump.facts.library, "fftw"));
}

TEST_GROUP(open_plugins, close_plugins)
