/* Formulas of the step and of parameters, evaluated in double. */
#include "define/scalar.h"
#include "tests/unit.h"

static const tz_param params[] = {TZ_REAL_PARAM("dt", 0, 0, 1, "", ""),
                                  TZ_TEXT_PARAM("words", "", "", .min = 0),
                                  TZ_REAL_PARAM("width", 0, 0, 1, "", "")};
static const tz_stencil stencil = {.params_count = 3, .params = params};
static const tz_value values[] = {{.number = 0.25}, {.text = ""}, {.number = 10}};

static double at(const char *formula, int64_t step)
{
    tz_scalar *scalar;
    assert_ok(tz_scalar_create(&scalar, &stencil, "amplitude", formula, strlen(formula), &failure));
    const tz_series series = tz_scalar_series(scalar);
    const double value = series.value(series.context, values, step);
    tz_scalar_destroy(scalar);
    return value;
}

static void same(double value, double wanted)
{
    if (memcmp(&value, &wanted, sizeof value) != 0)
        fail_msg("%.17g, and not %.17g", value, wanted);
}

TEST(test_values)
{
    same(at("0.1 + 0.2", 0), 0.1 + 0.2);
    same(at("step", INT64_C(1) << 40), 0x1p40);
    same(at("exp(-(step - 50)^2/200)", 47), exp(-((47.0 - 50) * (47.0 - 50)) / 200));
    same(at("sin(2*pi*dt*step)", 3), sin(2 * 3.14159265358979323846 * 0.25 * 3));
    same(at("step < width ? 1 : 0", 9), 1);
    same(at("step < width ? 1 : 0", 10), 0);
    same(at("step % 3 + step // 3", 7), 1 + 2);
    same(at("(0 - step) % 3 + (0 - step) // 3", 7), 2 - 3);
    same(at("step % 0 + step // 0", 7), 7);
    same(at("min(step, 3, dt) + max(1, 2)", 7), 2.25);
    same(at("sum(i, 1, 4, i*dt)", 0), 2.5);
    same(at("2^-1 + dt^3 + width^0.5", 0), 0.5 + 0.25 * 0.25 * 0.25 + pow(10, 0.5));
    same(at("not (step == 2 or step == 3) and dt > 0", 3), 0);
    same(at("pow(2, 3)*fma(2, 3, 4) + abs(-1) + log(1) + cos(0) + tanh(0) + sqrt(4)", 0),
         80 + 1 + 1 + 2);
    assert_true(isinf(at("1/(step - 1)", 1)));
}

static void refused(const char *formula, tz_status wanted, const char *words)
{
    tz_scalar *scalar;
    const tz_status status =
        tz_scalar_create(&scalar, &stencil, "amplitude", formula, strlen(formula), &failure);
    assert_null(scalar);
    assert_string_equal(failure.place, "scalar 'amplitude'");
    if (status != wanted || !strstr(failure.message, words))
        fail_msg("'%s': %d, %s", formula, (int)status, failure.message);
}

TEST(test_faults)
{
    refused("widht", TZ_UNKNOWN, "unknown name 'widht'; did you mean 'width'?");
    refused("x", TZ_UNKNOWN, "unknown name 'x'");
    refused("step[1]", TZ_TYPE, "'step' is no field");
    refused("lap(step)", TZ_TYPE, "lap() needs a field");
    refused("step & 1", TZ_TYPE, "an operation on bits");
    refused("~step", TZ_TYPE, "an operation on bits");
    refused("int(step)", TZ_TYPE, "use // and %");
    refused("step % dt", TZ_TYPE, "a whole number is needed");
    refused("1 +", TZ_FORMAT, "a value is missing");
}
