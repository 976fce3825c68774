/* Arrays in memory and their element types. */
#include "tests/support.h"

#include "base/array.h"

static void types_have_sizes_and_names(void **state)
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

static void shapes_are_counted(void **state)
{
    assert_int_equal(tz_shape_count(1, (int64_t[]){7}), 7);
    assert_int_equal(tz_shape_count(3, (int64_t[]){7, 5, 3}), 105);
    assert_int_equal(tz_shape_count(2, (int64_t[]){7, 0}), -1);
    assert_int_equal(tz_shape_count(2, (int64_t[]){-7, -5}), -1);
    assert_int_equal(tz_shape_count(1, (int64_t[]){INT64_MAX / 8}), INT64_MAX / 8);
    assert_int_equal(tz_shape_count(1, (int64_t[]){INT64_MAX / 8 + 1}), -1);
    assert_int_equal(tz_shape_count(2, (int64_t[]){INT64_C(1) << 40, INT64_C(1) << 40}), -1);
}

static void arrays_are_made_zero(void **state)
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

static void values_are_converted(void **state)
{
    tz_array *array;
    const int64_t one = 1;
    assert_ok(tz_array_create(&array, TZ_DTYPE_I16, 1, &one, &failure));
    tz_array_set(array, 0, -2.75);
    assert_true(tz_array_get(array, 0) == -2.0);
    tz_array_destroy(array);
    assert_ok(tz_array_create(&array, TZ_DTYPE_F32, 1, &one, &failure));
    tz_array_set(array, 0, 0.1);
    assert_true(tz_array_get(array, 0) == (double)0.1f);
    tz_array_destroy(array);
}

static void impossible_arrays_are_refused(void **state)
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

TEST_MAIN(NULL, NULL, TEST(types_have_sizes_and_names), TEST(shapes_are_counted),
          TEST(arrays_are_made_zero), TEST(values_are_converted),
          TEST(impossible_arrays_are_refused))
