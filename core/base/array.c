#include "base/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t tz_dtype_size(tz_dtype dtype)
{
    static const size_t sizes[] = {
#define TZ_DTYPE_SIZE(name, ctype, code) sizeof(ctype),
        TZ_DTYPE_TABLE(TZ_DTYPE_SIZE)
#undef TZ_DTYPE_SIZE
    };
    return sizes[dtype];
}

const char *tz_dtype_code(tz_dtype dtype)
{
    static const char *const codes[] = {
#define TZ_DTYPE_CODE(name, ctype, code) code,
        TZ_DTYPE_TABLE(TZ_DTYPE_CODE)
#undef TZ_DTYPE_CODE
    };
    return codes[dtype];
}

const char *tz_dtype_name(tz_dtype dtype)
{
    static const char *const names[] = {"bool",   "int8",  "uint8",  "int16",   "uint16", "int32",
                                        "uint32", "int64", "uint64", "float32", "float64"};
    return names[dtype];
}

int64_t tz_shape_count(int dims, const int64_t *shape)
{
    int64_t count = 1;
    for (int d = 0; d < dims; d++) {
        if (shape[d] < 1 || shape[d] > INT64_MAX / 8 / count)
            return -1;
        count *= shape[d];
    }
    return count;
}

const char *tz_shape_text(char text[TZ_SHAPE_TEXT_SIZE], int dims, const int64_t *shape)
{
    size_t used = 0;
    for (int axis = 0; axis < dims; axis++)
        used += (size_t)snprintf(text + used, TZ_SHAPE_TEXT_SIZE - used, "%s%" PRId64,
                                 axis > 0 ? " x " : "", shape[axis]);
    return text;
}

tz_status tz_array_create(tz_array **out, tz_dtype dtype, int dims, const int64_t *shape,
                          tz_error *error)
{
    *out = NULL;
    const int64_t count = dims < 1 || dims > TZ_DIMS_MAX ? -1 : tz_shape_count(dims, shape);
    if (count < 0)
        return tz_error_set(error, TZ_RANGE, NULL,
                            "an array's extents must be 1 or more, and its size must fit 63 bits");
    tz_array *array = calloc(1, sizeof *array);
    const size_t bytes = ((size_t)count * tz_dtype_size(dtype) + 63) & ~(size_t)63;
    void *data = array ? aligned_alloc(64, bytes) : NULL;
    if (!data) {
        free(array);
        return tz_error_set(error, TZ_MEMORY, NULL, "an array of %zu bytes does not fit in memory",
                            bytes);
    }
    memset(data, 0, bytes);
    array->dtype = dtype;
    array->dims = dims;
    array->data = data;
    for (int d = 0; d < TZ_DIMS_MAX; d++)
        array->shape[d] = d < dims ? shape[d] : 1;
    *out = array;
    return TZ_OK;
}

void tz_array_destroy(tz_array *array)
{
    if (!array)
        return;
    free(array->data);
    free(array);
}

double tz_array_get(const tz_array *array, int64_t i)
{
    switch (array->dtype) {
#define TZ_DTYPE_GET(name, ctype, code)                                                            \
    case TZ_DTYPE_##name:                                                                          \
        return (double)((const ctype *)array->data)[i];
        TZ_DTYPE_TABLE(TZ_DTYPE_GET)
#undef TZ_DTYPE_GET
    default:
        return 0.0;
    }
}

void tz_array_set(tz_array *array, int64_t i, double value)
{
    switch (array->dtype) {
#define TZ_DTYPE_SET(name, ctype, code)                                                            \
    case TZ_DTYPE_##name:                                                                          \
        ((ctype *)array->data)[i] = (ctype)value;                                                  \
        break;
        TZ_DTYPE_TABLE(TZ_DTYPE_SET)
#undef TZ_DTYPE_SET
    default:
        break;
    }
}
