/* The functions of <trapeze/rows_math.h> against the C library in more precision: single precision
 * against double, double against long double. */
#include "tests/unit.h"

#include <float.h>
#include <trapeze/rows_math.h>

enum { SAMPLES = 400000 };

static uint64_t seed = 1;

static uint64_t random_bits(void)
{
    uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* From -1 to 1. */
static double random_number(void)
{
    return ldexp((double)(int64_t)random_bits(), -63);
}

/* The distance of a result from the exact one, in units of the last of `digits` bits; subnormal
 * numbers have the unit of the smallest normal one. 0 if both are NAN or the same infinity. */
static double error_of(double got, long double exact, int digits, int least_exponent, double most)
{
    int exponent;
    if (isnan(exact) || isnan(got))
        return isnan(exact) && isnan(got) ? 0.0 : INFINITY;
    if (isinf(got) && got == (digits == 24 ? (double)(float)exact : (double)exact))
        return 0.0;
    if (isinf(got) || isinf(exact) || fabsl(exact) > most)
        return fabs(got) == most && fabsl(exact) <= most ? 0.0 : INFINITY;
    frexpl(exact, &exponent);
    if (exponent < least_exponent)
        exponent = least_exponent;
    return (double)(fabsl((long double)got - exact) / ldexpl(1.0L, exponent - digits));
}

static double error_single(float got, double exact)
{
    return error_of((double)got, (long double)exact, 24, FLT_MIN_EXP, FLT_MAX);
}

static double error_double(double got, long double exact)
{
    return error_of(got, exact, 53, DBL_MIN_EXP, DBL_MAX);
}

/* An argument: any bits, then numbers of ordinary size, powers of two, near 1, near multiples of
 * pi/2, and around the ends of exp. */
static double argument(int kind, int single)
{
    uint64_t bits = random_bits();
    double any;
    float any_single;
    switch (kind) {
    case 0:
        memcpy(&any, &bits, sizeof any);
        memcpy(&any_single, &bits, sizeof any_single);
        return single ? (double)any_single : any;
    case 1:
        return 4.0 * random_number();
    case 2:
        return (single ? 110.0 : 760.0) * random_number();
    case 3:
        return ldexp(random_number(),
                     (int)(bits % (single ? 290u : 2200u)) - (single ? 160 : 1120));
    case 4:
        return 1.0 + ldexp(random_number(), -(int)(bits % 60u));
    case 5:
        return (double)(int)(bits % 200000u) * 1.57079632679489661923 *
               (1.0 + ldexp((double)(int)(bits >> 60), single ? -24 : -53));
    default:
        return ldexp(random_number(), (int)(bits % 48u));
    }
}
enum { KINDS = 7 };

typedef struct function {
    const char *name;
    float (*single)(float);
    double (*exact)(double);
    double (*two)(double);
    long double (*exact_two)(long double);
    double most; /* arguments of double precision are below it */
    double allowed;
} function;

#define POINTER(name)                                                                              \
    static float name##_1(float x)                                                                 \
    {                                                                                              \
        return tz_##name##_single(x);                                                              \
    }                                                                                              \
    static double name##_2(double x)                                                               \
    {                                                                                              \
        return tz_##name##_double(x);                                                              \
    }
POINTER(exp)
POINTER(log)
POINTER(sin)
POINTER(cos)
POINTER(tanh)
POINTER(sqrt)
POINTER(tan)
POINTER(asin)
POINTER(acos)
POINTER(atan)
POINTER(sinh)
POINTER(cosh)
POINTER(erf)
POINTER(floor)
POINTER(ceil)
POINTER(round)

/* Measured over all floats and 10^7 doubles: at most 1. */
TEST(one_argument)
{
    static const function functions[] = {
        {"exp", exp_1, exp, exp_2, expl, INFINITY, 1.1},
        {"log", log_1, log, log_2, logl, INFINITY, 1.1},
        {"sin", sin_1, sin, sin_2, sinl, 0x1p45, 1.1},
        {"cos", cos_1, cos, cos_2, cosl, 0x1p45, 1.1},
        {"tanh", tanh_1, tanh, tanh_2, tanhl, INFINITY, 1.1},
        {"sqrt", sqrt_1, sqrt, sqrt_2, sqrtl, INFINITY, 0.5},
        {"tan", tan_1, tan, tan_2, tanl, 0x1p45, 1.1},
        {"asin", asin_1, asin, asin_2, asinl, INFINITY, 1.1},
        {"acos", acos_1, acos, acos_2, acosl, INFINITY, 1.1},
        {"atan", atan_1, atan, atan_2, atanl, INFINITY, 1.1},
        {"sinh", sinh_1, sinh, sinh_2, sinhl, INFINITY, 1.1},
        {"cosh", cosh_1, cosh, cosh_2, coshl, INFINITY, 1.1},
        {"erf", erf_1, erf, erf_2, erfl, INFINITY, 1.1},
        {"floor", floor_1, floor, floor_2, floorl, INFINITY, 0.0},
        {"ceil", ceil_1, ceil, ceil_2, ceill, INFINITY, 0.0},
        {"round", round_1, round, round_2, roundl, INFINITY, 0.0},
    };
    static const double ends[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.0};
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        const function *the = &functions[f];
        double single = 0.0, two = 0.0;
        for (int kind = 0; kind < KINDS; kind++)
            for (int i = 0; i < SAMPLES / KINDS; i++) {
                const float x = (float)argument(kind, 1);
                single = fmax(single, error_single(the->single(x), the->exact((double)x)));
                const double y = argument(kind, 0);
                if (!(fabs(y) >= the->most))
                    two = fmax(two, error_double(the->two(y), the->exact_two((long double)y)));
            }
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            const double exact = the->exact(ends[i]);
            single = fmax(single, error_single(the->single((float)ends[i]), exact));
            two = fmax(two, error_double(the->two(ends[i]), the->exact_two((long double)ends[i])));
            if (!isnan(exact)) {
                assert_int_equal(!signbit(the->single((float)ends[i])), !signbit(exact));
                assert_int_equal(!signbit(the->two(ends[i])), !signbit(exact));
            }
        }
        printf("%-5s at most %.3f ulp in single, %.3f in double precision\n", the->name, single,
               two);
        assert_true(single <= the->allowed && two <= the->allowed);
    }
    /* beyond the range: no wrong digits */
    assert_true(isnan(tz_sin_double(0x1p45)) && isnan(tz_cos_double(-1e300)));
}

/* Angles of points in all directions, and at all distances from the axes. */
TEST(angles)
{
    static const double ends[] = {0.0,   -0.0,   1.0,    -1.0,  INFINITY, -INFINITY, NAN,
                                  1e308, -1e308, 5e-324, 1e-40, -1e-310,  2.4142135};
    enum { ENDS = sizeof ends / sizeof *ends };
    double single = 0.0, two = 0.0;
    for (int i = 0; i < SAMPLES + ENDS * ENDS; i++) {
        const bool any = i < SAMPLES;
        const double x = any ? argument(i % KINDS, i % 2) : ends[(i - SAMPLES) / ENDS];
        const double y = any ? i % 3 ? argument(i / KINDS % KINDS, i % 2) : x * argument(4, 0)
                             : ends[(i - SAMPLES) % ENDS];
        const float a = (float)x, b = (float)y;
        const double exact = atan2(y, x);
        two = fmax(two, error_double(tz_atan2_double(y, x), atan2l((long double)y, x)));
        single = fmax(single, error_single(tz_atan2_single(b, a), atan2((double)b, (double)a)));
        assert_true(isnan(exact) || !signbit(tz_atan2_double(y, x)) == !signbit(exact));
    }
    printf("atan2 at most %.3f ulp in single, %.3f in double precision\n", single, two);
    assert_true(single <= 0.51);
    assert_true(two <= 1.2);
}

TEST(powers)
{
    static const double ends[] = {0.0,    -0.0,   1.0,     -1.0,    2.0,        -2.0,
                                  3.0,    -3.0,   0.5,     -0.5,    INFINITY,   -INFINITY,
                                  NAN,    5e-324, -5e-324, 1e308,   -1e308,     0x1p52 + 1,
                                  0x1p53, 1e-310, 1e38,    -0x1p53, 0x1p51 + .5};
    enum { ENDS = sizeof ends / sizeof *ends };
    double single = 0.0, two = 0.0;
    for (int i = 0; i < SAMPLES; i++) {
        /* powers that are neither 0 nor infinite for the most part */
        const double x = i % 2 ? fabs(argument(4, 0)) : fabs(argument(3, 0));
        const double y = random_number() * fmin(745.0 / fabs(log(x) + 1e-290), 1e290);
        two = fmax(two, error_double(tz_pow_double(x, y), powl((long double)x, (long double)y)));
        const float a = i % 2 ? fabsf((float)argument(4, 1)) : fabsf((float)argument(3, 1));
        const float b = (float)(random_number() * fmin(104.0 / fabs(log((double)a) + 1e-30), 1e30));
        single = fmax(single, error_single(tz_pow_single(a, b), pow((double)a, (double)b)));
    }
    for (int i = 0; i < ENDS * ENDS; i++) {
        const double x = ends[i / ENDS], y = ends[i % ENDS], exact = pow(x, y);
        const float a = (float)x, b = (float)y;
        const double exact_single = pow((double)a, (double)b);
        two = fmax(two, error_double(tz_pow_double(x, y), powl((long double)x, (long double)y)));
        single = fmax(single, error_single(tz_pow_single(a, b), exact_single));
        assert_true(isnan(exact) || !signbit(tz_pow_double(x, y)) == !signbit(exact));
        assert_true(isnan(exact_single) || !signbit(tz_pow_single(a, b)) == !signbit(exact_single));
    }
    printf("pow   at most %.3f ulp in single, %.3f in double precision\n", single, two);
    assert_true(single <= 0.52);
    assert_true(two <= 1.1);
}

/* As rows_isa.h defines them. */
#define TZ__PRECISION single
#define real float

TEST(choices)
{
    assert_int_equal(TZ_MIN(3, -4), -4);
    assert_int_equal(TZ_MAX(3, -4), 3);
    assert_int_equal(TZ_ABS(-7), 7);
    assert_int_equal(TZ_ABS(INT32_MIN), INT32_MIN);
    assert_true(TZ_ABS(0x80000001u) == 0x80000001u);
    assert_true(TZ_MAX(0x80000001u, 1u) == 0x80000001u);
    assert_true(TZ_ABS(-2.5f) == 2.5f && sizeof TZ_ABS(-2.5f) == sizeof(float));
    assert_true(TZ_ABS((int64_t)-5) == 5);
    assert_int_equal(TZ_SELECT(2, 5, 6), 5);
    assert_int_equal(TZ_SELECT(0, 5, 6), 6);
    assert_true(sizeof TZ_SELECT(1, 1.0f, 2) == sizeof(float));
    /* the first of equal ones, and the first if one is NAN */
    assert_true(signbit(TZ_MIN(-0.0f, 0.0f)) && !signbit(TZ_MIN(0.0f, -0.0f)));
    assert_true(signbit(TZ_MAX(-0.0f, 0.0f)) && !signbit(TZ_MAX(0.0f, -0.0f)));
    assert_true(TZ_MIN(1.0f, NAN) == 1.0f && isnan(TZ_MIN(NAN, 1.0f)));
    assert_true(TZ_MAX(1.0f, NAN) == 1.0f && isnan(TZ_MAX(NAN, 1.0f)));
    assert_true(TZ_MIN(TZ_MIN(TZ_MIN(4, 3), TZ_MIN(2, 5)), TZ_MAX(TZ_MIN(1, 9), 0)) == 1);
    assert_true(sizeof TZ_R(0.1) == sizeof(float) && TZ_SQRT(4) == 2.0f);
    assert_true(TZ_EXP(TZ_LOG(1)) == 1.0f);
}
