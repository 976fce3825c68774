/* Stored reals: conversions by every instruction set, origins and scales, what is refused. */
#include "stencil/problem.h"
#include "tests/registry.h"

enum { HALVES = 1 << 16 };

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool is_nan_half(uint16_t half)
{
    return (half & 0x7c00) == 0x7c00 && half & 0x3ff;
}

/* The nearest half of a finite value, from the definition: the even one of two that are as near. */
static uint16_t nearest(float value)
{
    const double size = fabs((double)value);
    uint16_t best = 0;
    if (size >= 65520.0)
        best = 0x7c00;
    for (uint16_t low = 0, high = 0x7bff; size < 65520.0;) { /* the largest that is not above it */
        const uint16_t middle = (uint16_t)((low + high + 1) / 2);
        if (low == high) {
            const double below = size - (double)tz_half_value(low);
            const double above =
                low == 0x7bff ? 65536.0 - size : (double)tz_half_value(low + 1) - size;
            best = below < above || (below == above && low % 2 == 0) ? low : (uint16_t)(low + 1);
            break;
        }
        if ((double)tz_half_value(middle) <= size)
            low = middle;
        else
            high = (uint16_t)(middle - 1);
    }
    return (uint16_t)(best | (signbit(value) ? 0x8000 : 0));
}

TEST(test_halves_are_what_the_standard_says)
{
    assert_true(tz_half_value(0x3c00) == 1.0f && tz_half_value(0xc000) == -2.0f);
    assert_true(tz_half_value(0x0001) == 0x1p-24f && tz_half_value(0x7bff) == 65504.0f);
    assert_true(isinf(tz_half_value(0xfc00)) && isnan(tz_half_value(0x7e00)));
    assert_true(tz_half_of(NAN) == 0x7e00 && signbit(tz_half_value(0x8000)));
    for (uint32_t half = 0; half < HALVES; half++)
        if (!is_nan_half((uint16_t)half))
            assert_int_equal(tz_half_of(tz_half_value((uint16_t)half)), half);
    /* Values between two halves, and those beside the middle. */
    for (uint16_t half = 0; half < 0x7bff; half++) {
        const float low = tz_half_value(half),
                    middle = low + 0.5f * (tz_half_value(half + 1) - low);
        const float tries[] = {middle, nextafterf(middle, 0), nextafterf(middle, INFINITY),
                               -middle};
        for (int i = 0; i < 4; i++)
            assert_int_equal(tz_half_of(tries[i]), nearest(tries[i]));
    }
    const float large[] = {65519.996f, 65520, 65536, 1e30f, 0x1p-25f, 0x1.000002p-25f, 1e-40f};
    for (int i = 0; i < 7; i++)
        assert_int_equal(tz_half_of(large[i]), nearest(large[i]));
}

static const struct {
    double origin, scale;
} storages[] = {{0, 1}, {0, 0x1p-12}, {80, 1}, {-4.0 / 9, 0x1p-4}, {0x1p-14, 1}, {1e20, 0x1p60}};

TEST(test_instruction_sets_convert_alike)
{
    static uint16_t halves[HALVES], again[HALVES];
    static float values[HALVES], same[HALVES];
    for (size_t k = 0; k < sizeof storages / sizeof *storages; k++)
        for (int isa = TZ_ISA_BASE; isa <= (int)tz_machine_isa(); isa++) {
            const tz_storage s =
                tz_storage_of(TZ_STORED_HALF, storages[k].origin, storages[k].scale);
            for (int i = 0; i < HALVES; i++)
                halves[i] = (uint16_t)i;
            tz_stored_load(&s, TZ_ISA_BASE, halves, HALVES, values);
            tz_stored_load(&s, (tz_isa)isa, halves, HALVES - 5, same); /* not whole vectors */
            for (int i = 0; i < HALVES - 5; i++)
                assert_true(bits_of(values[i]) == bits_of(same[i]) ||
                            (isnan(values[i]) && isnan(same[i])));
            /* All halves, and singles of all magnitudes. */
            for (int turn = 0; turn < 2; turn++) {
                for (int i = 0; turn == 1 && i < HALVES; i++) {
                    const uint32_t bits = (uint32_t)i * UINT32_C(0x9e3779b1);
                    memcpy(&values[i], &bits, sizeof bits);
                }
                tz_stored_store(&s, TZ_ISA_BASE, values, HALVES, again);
                tz_stored_store(&s, (tz_isa)isa, values, HALVES - 5, halves);
                for (int i = 0; i < HALVES - 5; i++)
                    assert_true(halves[i] == again[i] || isnan(values[i]));
            }
        }
}

/* What a kernel keeps as a value and stores later is the same value. */
TEST(test_a_stored_value_stays)
{
    static uint16_t halves[HALVES], again[HALVES];
    static float values[HALVES], same[HALVES];
    for (int i = 0; i < HALVES; i++)
        halves[i] = (uint16_t)i;
    for (int exponent = -30; exponent <= 30; exponent++)
        for (int k = 0; k < 40; k++) {
            const double origin = ldexp(0x80000 + (k * 26417 + 12345) % 0x80000, exponent - 20);
            const double scale = ldexp(1, k % 5 - 2);
            const tz_storage s = tz_storage_of(TZ_STORED_HALF, k % 2 ? -origin : origin, scale);
            if (origin > TZ_STORAGE_ORIGIN_MOST * scale)
                continue;
            tz_stored_load(&s, tz_machine_isa(), halves, HALVES, values);
            tz_stored_store(&s, tz_machine_isa(), values, HALVES, again);
            tz_stored_load(&s, tz_machine_isa(), again, HALVES, same);
            for (int i = 0; i < HALVES; i++)
                if (values[i] != same[i] && isfinite(values[i]))
                    fail_msg("origin %a: half %04x is %a, then %a", (double)s.add, (unsigned)i,
                             (double)values[i], (double)same[i]);
        }
}

static tz_status resolve(tz_problem *problem, const char *stencil, int precision,
                         tz_storage_wish wish)
{
    const tz_stencil *found;
    if (tz_registry_find(registry, stencil, &found, NULL, &failure))
        return failure.code;
    return tz_problem_resolve(problem, found,
                              &(tz_simulation_config){.stencil = stencil,
                                                      .dims = 2,
                                                      .extent = {8, 8, 1},
                                                      .precision = precision,
                                                      .storage_count = 1,
                                                      .storage = &wish},
                              &failure);
}

TEST(test_elements_of_a_stored_field)
{
    tz_problem problem;
    char text[TZ_STORAGE_TEXT_SIZE];
    double value = 320.25;
    uint16_t half = 0;
    assert_ok(
        resolve(&problem, "hotspot", -1, (tz_storage_wish){"temperature", TZ_STORED_HALF, NAN, 1}));
    assert_int_equal(tz_problem_element_size(&problem, 0), 2);
    assert_int_equal(tz_problem_element_size(&problem, 1), 4);
    tz_problem_element(&problem, 0, value, &half); /* less the ambient temperature */
    assert_true(tz_half_value(half) == tz_half_value(tz_half_of((float)(value - 318.15))));
    tz_problem_to_values(&problem, 0, &half, 1, &value);
    assert_true(fabs(value - 320.25) < 0x1p-10);
    assert_string_equal(tz_problem_storage_text(&problem, text), "temperature half");
    tz_problem_clear(&problem);
    assert_ok(resolve(&problem, "hotspot", -1, (tz_storage_wish){NULL, TZ_STORED_HALF, 300, 0.5}));
    assert_true(strstr(tz_problem_storage_text(&problem, text), "from 300"));
    assert_true(tz_problem_fault(&problem, 0, 1e6) && !tz_problem_fault(&problem, 0, 30000));
    tz_problem_clear(&problem);
    assert_ok(resolve(&problem, "hotspot", -1, (tz_storage_wish){NULL, TZ_STORED_HALF, NAN, 1}));
    assert_string_equal(tz_problem_storage_text(&problem, text), "half");
    tz_problem_clear(&problem);
}

TEST(test_storages_that_are_refused)
{
    tz_problem problem;
    check_error(resolve(&problem, "hotspot", -1, (tz_storage_wish){"heat", TZ_STORED_HALF, NAN, 1}),
                TZ_UNKNOWN, "storage", "unknown field 'heat' of 'hotspot'");
    check_error(resolve(&problem, "hotspot", -1, (tz_storage_wish){NULL, TZ_STORED_HALF, NAN, 0.1}),
                TZ_RANGE, "storage", "is 0.1; it must be a power of two, such as 0.125");
    check_error(
        resolve(&problem, "hotspot", -1, (tz_storage_wish){NULL, TZ_STORED_HALF, INFINITY, 1}),
        TZ_RANGE, "storage", "must be finite");
    check_error(
        resolve(&problem, "hotspot", TZ_DOUBLE, (tz_storage_wish){NULL, TZ_STORED_HALF, NAN, 1}),
        TZ_UNSUPPORTED, "storage", "leave precision or storage out");
    check_error(resolve(&problem, "life", -1, (tz_storage_wish){NULL, TZ_STORED_HALF, NAN, 1}),
                TZ_UNSUPPORTED, "storage", "computes with integers");
    check_error(resolve(&problem, "wave2d", -1, (tz_storage_wish){"u", TZ_STORED_HALF, NAN, 1}),
                TZ_UNSUPPORTED, "storage", "give both the same storage");
}

TEST_GROUP(open_plugins, close_plugins)
