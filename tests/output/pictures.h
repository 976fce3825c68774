/* What tests of pictures share. */
#ifndef TZ_TEST_OUTPUT_PICTURES_H
#define TZ_TEST_OUTPUT_PICTURES_H

#include "base/array.h"
#include "output/frame/image.h"
#include "tests/unit.h"

static inline const uint8_t *pixel(const tz_image *image, int x, int y)
{
    return image->data + 3 * (y * image->width + x);
}

static inline tz_array *make_array(tz_dtype dtype, int dims, int64_t nx, int64_t ny, int64_t nz)
{
    tz_array *array;
    const int64_t shape[] = {nx, ny, nz};
    assert_ok(tz_array_create(&array, dtype, dims, shape, &failure));
    at_end(tz_array_destroy, array);
    return array;
}

#endif
