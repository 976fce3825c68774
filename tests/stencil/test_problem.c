/* Origins of fields: who may choose one, when, and what memory then holds. */
#include "stencil/problem.h"
#include "tests/registry.h"

/* A copy of hotspot's stencil whose derive() also says origins. */
static tz_stencil stencil;
static const tz_stencil *shipped;
static double chosen[TZ_FIELDS_MAX], seen[TZ_FIELDS_MAX];
static int precision_of_run; /* for single precision derive() is called a second time, for double */

static int choose(tz_setup *setup)
{
    if ((int)setup->precision != precision_of_run)
        return shipped->derive(setup);
    memcpy(seen, setup->origins, sizeof seen);
    const int derived = shipped->derive(setup);
    for (int f = 0; f < stencil.fields_count; f++)
        setup->origins[f] = chosen[f];
    return derived;
}

static int set_up(void **state)
{
    if (open_plugins(state))
        return -1;
    if (tz_registry_find(registry, "hotspot", &shipped, NULL, &failure))
        return -1;
    stencil = *shipped;
    stencil.derive = choose;
    return 0;
}

static tz_status resolve(tz_problem *problem, int precision, double of_temperature, double of_power)
{
    static const tz_side_value outside = {.field = "temperature", .value = 310.0};
    chosen[0] = of_temperature;
    chosen[1] = of_power;
    precision_of_run = precision;
    return tz_problem_resolve(problem, &stencil,
                              &(tz_simulation_config){.stencil = "hotspot",
                                                      .dims = 2,
                                                      .extent = {8, 8, 1},
                                                      .precision = precision,
                                                      .boundary = {"fixed", "fixed"},
                                                      .boundary_values_count = 1,
                                                      .boundary_values = &outside},
                              &failure);
}

TEST(test_an_origin_is_chosen_once)
{
    static const tz_assignment warmer = {.name = "ambient_k", .number = 330.0};
    tz_problem problem;
    assert_ok(resolve(&problem, TZ_SINGLE, 300.0, NAN));
    assert_true(isnan(seen[0]) && isnan(seen[1]));
    assert_true(problem.origin[0] == 300.0 && problem.origin[1] == 0.0);
    assert_ok((chosen[1] = 0.0, tz_problem_set_params(&problem, 1, &warmer, &failure)));
    assert_true(seen[0] == 300.0 && seen[1] == 0.0);
    chosen[0] = 330.0;
    check_error(tz_problem_set_params(&problem, 1, &warmer, &failure), TZ_RANGE, "hotspot",
                "330 the origin of field 'temperature', which must stay");
    chosen[0] = NAN;
    check_error(tz_problem_set_params(&problem, 1, &warmer, &failure), TZ_RANGE, "hotspot",
                "must be finite");
    assert_true(problem.origin[0] == 300.0);
    tz_problem_clear(&problem);
}

TEST(test_origins_that_are_refused)
{
    tz_problem problem;
    check_error(resolve(&problem, TZ_SINGLE, INFINITY, NAN), TZ_RANGE, "hotspot", "must be finite");
    assert_ok(resolve(&problem, TZ_SINGLE, 0.0, 2.0)); /* a static field may have one */
    tz_problem_clear(&problem);
    tz_field fields[2] = {shipped->fields[0], shipped->fields[1]};
    fields[1].type = TZ_INT;
    stencil.fields = fields;
    check_error(resolve(&problem, TZ_SINGLE, NAN, 2.0), TZ_RANGE, "hotspot",
                "2 the origin of field 'power', which must be 0");
    stencil.fields = shipped->fields;
}

typedef union elements {
    float f[3];
    double d[3];
} elements;

static double element(const elements *memory, int precision, int i)
{
    return precision == TZ_SINGLE ? (double)memory->f[i] : memory->d[i];
}

TEST(test_elements_are_differences)
{
    for (int precision = TZ_SINGLE; precision <= TZ_DOUBLE; precision++) {
        tz_problem problem;
        assert_ok(resolve(&problem, precision, 318.15, NAN));
        const double values[] = {318.15, 318.15 + 0x1p-20, 300.0};
        double back[3];
        elements memory;
        tz_problem_to_elements(&problem, 0, values, 3, &memory);
        assert_true(element(&memory, precision, 0) == 0.0);
        /* float(318.15) has steps of 2^-15 */
        assert_true(fabs(element(&memory, precision, 1) - 0x1p-20) < 1e-13);
        tz_problem_to_values(&problem, 0, &memory, 3, back);
        assert_true(back[0] == values[0] && back[1] == values[1]);
        assert_true(fabs(back[2] - values[2]) <= (precision == TZ_SINGLE ? 1e-6 : 0.0));
        assert_int_equal(tz_problem_value_dtype(&problem, 0), TZ_DTYPE_F64);
        assert_int_equal(tz_problem_value_dtype(&problem, 1),
                         precision == TZ_SINGLE ? TZ_DTYPE_F32 : TZ_DTYPE_F64);
        /* What backends put outside the grid. */
        assert_true(problem.boundary_value[0][0] == 310.0);
        tz_problem_element(&problem, 0, problem.boundary_value[0][0], &memory);
        assert_true(fabs(element(&memory, precision, 0) - -8.15) < 1e-6);
        tz_problem_clear(&problem);
    }
}

TEST(test_minus_zero_stays_without_an_origin)
{
    tz_problem problem;
    assert_ok(resolve(&problem, TZ_DOUBLE, NAN, NAN));
    double value = -0.0;
    tz_problem_to_elements(&problem, 0, &value, 1, &value);
    tz_problem_to_values(&problem, 0, &value, 1, &value);
    assert_true(value == 0.0 && signbit(value));
    tz_problem_clear(&problem);
}

TEST_GROUP(set_up, close_plugins)
