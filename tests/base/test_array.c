/* Arrays in memory and their element types. */
#include "tests/support.h"

#include "base/array.h"
#include <math.h>

TEST(types_have_sizes_and_names)
{
    for (int t = 0; t < TZ_DTYPE_COUNT; t++) {
        const char *code = tz_dtype_code((tz_dtype)t);
        assert_int_equal(code[1] - '0', tz_dtype_size((tz_dtype)t)); /* "f4" */
        assert_true(strlen(tz_dtype_name((tz_dtype)t)) > 0);
    }
    assert_string_equal(tz_dtype_name(TZ_DTYPE_BOOL), "bool");
    assert_string_equal(tz_dtype_name(TZ_DTYPE_U16), "uint16");
    assert_string_equal(tz_dtype_name(TZ_DTYPE_F64), "float64");
    assert_string_equal(tz_dtype_code(TZ_DTYPE_F32), "f4");
}

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

TEST(arrays_are_made_zero)
{
    for (int t = 0; t < TZ_DTYPE_COUNT; t++) {
        tz_array *array;
        assert_ok(tz_array_create(&array, (tz_dtype)t, 2, (int64_t[]){5, 3}, &failure));
        assert_int_equal((uintptr_t)array->data % 64, 0);
        assert_int_equal(array->dims, 2);
        assert_int_equal(array->shape[0], 5);
        assert_int_equal(array->shape[1], 3);
        assert_int_equal(array->shape[2], 1);
        for (int64_t i = 0; i < 15; i++)
            assert_true(tz_array_get(array, i) == 0.0);
        for (int64_t i = 0; i < 15; i++)
            tz_array_set(array, i, (double)i);
        for (int64_t i = 0; i < 15; i++)
            assert_true(tz_array_get(array, i) == (double)i);
        tz_array_destroy(array);
    }
    tz_array_destroy(NULL);
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

TEST(impossible_arrays_are_refused)
{
    tz_array *array = (tz_array *)&array;
    check_error(tz_array_create(&array, TZ_DTYPE_F32, 2, (int64_t[]){4, 0}, &failure), TZ_RANGE, "",
                "extents");
    assert_null(array);
    check_error(tz_array_create(&array, TZ_DTYPE_F32, 4, (int64_t[]){1, 1, 1, 1}, &failure),
                TZ_RANGE, "", "extents");
#ifndef __SANITIZE_ADDRESS__ /* whose allocator ends the program instead of returning NULL */
    check_error(tz_array_create(&array, TZ_DTYPE_F64, 1, (int64_t[]){INT64_MAX / 8}, &failure),
                TZ_MEMORY, "", "does not fit in memory");
#endif
    assert_null(array);
}

TEST(elements_are_put_x_first)
{
    const int64_t shape[] = {2, 3, 4};
    static const char *const orders[] = {"xyz", "xzy", "yxz", "yzx", "zxy", "zyx"};
    static const char *const bad[] = {"", "xy", "xyzx", "xxy", "xyw", "XYZ", "x\x80y"};
    tz_array *array;
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        assert_ok(tz_array_create(&array, k % 2 ? TZ_DTYPE_U8 : TZ_DTYPE_F64, 3, shape, &failure));
        /* In the order of the file: the number says the cell. */
        int64_t at[3], i = 0;
        const int a = orders[k][0] - 'x', b = orders[k][1] - 'x', c = orders[k][2] - 'x';
        for (at[c] = 0; at[c] < shape[c]; at[c]++)
            for (at[b] = 0; at[b] < shape[b]; at[b]++)
                for (at[a] = 0; at[a] < shape[a]; at[a]++)
                    tz_array_set(array, i++, (double)(at[0] + 10 * at[1] + 50 * at[2]));
        assert_ok(tz_array_reorder(&array, orders[k], &failure));
        for (i = 0; i < 24; i++)
            assert_true(tz_array_get(array, i) ==
                        (double)(i % 2 + 10 * (i / 2 % 3) + 50 * (i / 6)));
        tz_array_destroy(array);
    }
    assert_ok(tz_array_create(&array, TZ_DTYPE_F32, 3, shape, &failure));
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        check_error(tz_array_reorder(&array, bad[k], &failure), TZ_RANGE, "",
                    "must name each of the 3 axes once, such as \"xyz\"");
    tz_array_destroy(array);
}
