/* Arrays in memory and their element types. */
#include "tests/support.h"

#include "base/array.h"
#include <math.h>

TEST(shapes_are_counted)
{
    assert_int_equal(tz_shape_count(1, (int64_t[]){7}), 7);
    assert_int_equal(tz_shape_count(3, (int64_t[]){7, 5, 3}), 105);
    assert_int_equal(tz_shape_count(2, (int64_t[]){7, 0}), -1);
    assert_int_equal(tz_shape_count(2, (int64_t[]){-7, -5}), -1);
    assert_int_equal(tz_shape_count(1, (int64_t[]){INT64_MAX / 8}), INT64_MAX / 8);
    assert_int_equal(tz_shape_count(1, (int64_t[]){INT64_MAX / 8 + 1}), -1);
    assert_int_equal(tz_shape_count(2, (int64_t[]){INT64_C(1) << 40, INT64_C(1) << 40}), -1);
}

TEST(values_are_converted)
{
    tz_array *array;
    const int64_t one = 1;
    assert_ok(tz_array_create(&array, TZ_DTYPE_I16, 1, &one, &failure));
    tz_array_set(array, 0, -2);
    assert_true(tz_array_get(array, 0) == -2.0);
    tz_array_destroy(array);
    assert_ok(tz_array_create(&array, TZ_DTYPE_F32, 1, &one, &failure));
    tz_array_set(array, 0, 0.1);
    assert_true(tz_array_get(array, 0) == (double)0.1f);
    tz_array_destroy(array);
}

TEST(values_must_fit_their_type)
{
    static const struct {
        tz_dtype dtype;
        double low, high;
    } cases[] = {{TZ_DTYPE_BOOL, 0, 1},
                 {TZ_DTYPE_I8, INT8_MIN, INT8_MAX},
                 {TZ_DTYPE_U8, 0, UINT8_MAX},
                 {TZ_DTYPE_I16, INT16_MIN, INT16_MAX},
                 {TZ_DTYPE_U16, 0, UINT16_MAX},
                 {TZ_DTYPE_I32, INT32_MIN, INT32_MAX},
                 {TZ_DTYPE_U32, 0, UINT32_MAX},
                 {TZ_DTYPE_I64, -0x1p63, 0x1.fffffffffffffp62},
                 {TZ_DTYPE_U64, 0, 0x1.fffffffffffffp63}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double low = cases[i].low, high = cases[i].high;
        assert_null(tz_dtype_fault(cases[i].dtype, low));
        assert_null(tz_dtype_fault(cases[i].dtype, high));
        const double bad[] = {low < -0x1p60 ? -0x1.0000000000001p63 : low - 1,
                              high > 0x1p60 ? high * 1.0000001 : high + 1, 0.5, NAN, -INFINITY};
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
            assert_non_null(tz_dtype_fault(cases[i].dtype, bad[k]));
    }
    assert_null(tz_dtype_fault(TZ_DTYPE_F32, NAN));
    assert_null(tz_dtype_fault(TZ_DTYPE_F32, -INFINITY));
    assert_null(tz_dtype_fault(TZ_DTYPE_F32, 3.4028234663852886e38));
    assert_non_null(tz_dtype_fault(TZ_DTYPE_F32, -3.5e38));
    assert_null(tz_dtype_fault(TZ_DTYPE_F64, 1e308));
}

/* Numbers that are one number in a double. */
TEST(integers_are_exact)
{
    tz_array *array;
    int64_t value;
    const int64_t four = 4;
    assert_ok(tz_array_create(&array, TZ_DTYPE_U64, 1, &four, &failure));
    uint64_t *wide = array->data;
    wide[0] = UINT64_MAX - 1;
    wide[1] = UINT64_MAX;
    wide[2] = INT64_MAX;
    wide[3] = (uint64_t)INT64_MAX + 1;
    assert_int_equal(tz_array_extreme(array, true), 1);
    assert_int_equal(tz_array_extreme(array, false), 2);
    assert_false(tz_array_get_integer(array, 3, &value));
    assert_true(tz_array_get_integer(array, 2, &value) && value == INT64_MAX);
    assert_false(tz_array_sum_integer(array, &value));
    tz_array_destroy(array);
    assert_ok(tz_array_create(&array, TZ_DTYPE_I64, 1, &four, &failure));
    int64_t *numbers = array->data;
    numbers[0] = INT64_MAX;
    numbers[1] = INT64_MAX;
    numbers[2] = INT64_MIN;
    numbers[3] = INT64_MIN + 1;
    assert_int_equal(tz_array_extreme(array, true), 0);
    assert_int_equal(tz_array_extreme(array, false), 2);
    assert_true(tz_array_sum_integer(array, &value) && value == -1);
    tz_array_destroy(array);
    assert_ok(tz_array_create(&array, TZ_DTYPE_F64, 1, &four, &failure));
    tz_array_set(array, 0, NAN);
    tz_array_set(array, 3, -1);
    assert_int_equal(tz_array_extreme(array, false), 3);
    assert_false(tz_array_get_integer(array, 3, &value));
    assert_false(tz_array_sum_integer(array, &value));
    tz_array_destroy(array);
}
