/* Element types, shapes, and access to single elements of arrays. Called by core/lua for array
 * values, by core/output/format for files, and by core/sim. */
#include "base/array.h"

#include "base/machine.h"
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From this size on the free memory is looked up before it is taken. */
enum { LARGE_BYTES = 16 << 20 };

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
    /* Linux grants more memory than there is and ends the process when it is touched. */
    const bool fits = bytes < LARGE_BYTES || (int64_t)bytes < tz_machine_memory_available();
    void *data = array && fits ? aligned_alloc(64, bytes) : NULL;
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

tz_status tz_array_reorder(tz_array **array, const char *order, tz_error *error)
{
    const tz_array *from = *array;
    const size_t bytes = tz_dtype_size(from->dtype);
    int64_t strides[TZ_DIMS_MAX] = {1, from->shape[0], from->shape[0] * from->shape[1]};
    int64_t extent[TZ_DIMS_MAX] = {1, 1, 1}, stride[TZ_DIMS_MAX] = {0, 0, 0};
    tz_array *to;
    bool each = (int)strlen(order) == from->dims;
    for (int k = 0; each && k < from->dims; k++) {
        const int axis = order[k] - 'x';
        each = axis >= 0 && axis < from->dims && strchr(order, order[k]) == order + k;
        extent[k] = each ? from->shape[axis] : 1;
        stride[k] = each ? strides[axis] : 0;
    }
    if (!each)
        return tz_error_set(
            error, TZ_RANGE, NULL,
            "the order '%.20s' must name each of the %d axes once, such as \"%.*s\"", order,
            from->dims, from->dims, "xyz");
    const tz_status status = tz_array_create(&to, from->dtype, from->dims, from->shape, error);
    if (status)
        return status;
    const char *next = from->data;
    for (int64_t c = 0; c < extent[2]; c++)
        for (int64_t b = 0; b < extent[1]; b++)
            for (int64_t a = 0; a < extent[0]; a++, next += bytes)
                memcpy((char *)to->data +
                           (size_t)(a * stride[0] + b * stride[1] + c * stride[2]) * bytes,
                       next, bytes);
    tz_array_destroy(*array);
    *array = to;
    return TZ_OK;
}

void tz_array_turn_rows(tz_array *array)
{
    const size_t bytes = (size_t)array->shape[0] * tz_dtype_size(array->dtype);
    for (int64_t z = 0; z < array->shape[2]; z++)
        for (int64_t y = 0; y < array->shape[1] / 2; y++) {
            char *low = (char *)array->data + (size_t)(z * array->shape[1] + y) * bytes;
            char *high = (char *)array->data + (size_t)((z + 1) * array->shape[1] - 1 - y) * bytes;
            for (size_t i = 0; i < bytes; i++) {
                const char kept = low[i];
                low[i] = high[i];
                high[i] = kept;
            }
        }
}

tz_status tz_array_fit(const tz_array *array, tz_fit fit, const int64_t *shape, tz_array **out,
                       tz_error *error)
{
    const size_t size = tz_dtype_size(array->dtype);
    const int64_t *n = array->shape;
    int64_t i[TZ_DIMS_MAX];
    const tz_status status = tz_array_create(out, array->dtype, array->dims, shape, error);
    if (status != TZ_OK)
        return status;
    const int64_t *m = (*out)->shape;
    char *next = (*out)->data;
    /* The element of the array that one along an axis takes: that at its middle. */
#define FROM(d)                                                                                    \
    (fit == TZ_FIT_SCALE ? (int64_t)(((double)i[d] + 0.5) * (double)n[d] / (double)m[d])           \
                         : i[d] + (n[d] - m[d]) / 2)
    for (i[2] = 0; i[2] < m[2]; i[2]++)
        for (i[1] = 0; i[1] < m[1]; i[1]++) {
            const int64_t row = (FROM(2) * n[1] + FROM(1)) * n[0];
            for (i[0] = 0; i[0] < m[0]; i[0]++, next += size)
                memcpy(next, (const char *)array->data + (size_t)(row + FROM(0)) * size, size);
        }
#undef FROM
    return TZ_OK;
}

const char *tz_dtype_fault(tz_dtype dtype, double value)
{
    /* Half open; exact in a double. */
    static const struct {
        double low, end;
        const char *fault;
    } ranges[] = {
        [TZ_DTYPE_BOOL] = {0, 2, "must be 0 or 1"},
        [TZ_DTYPE_I8] = {-0x1p7, 0x1p7, "must be an integer from -128 to 127"},
        [TZ_DTYPE_U8] = {0, 0x1p8, "must be an integer from 0 to 255"},
        [TZ_DTYPE_I16] = {-0x1p15, 0x1p15, "must be an integer from -32768 to 32767"},
        [TZ_DTYPE_U16] = {0, 0x1p16, "must be an integer from 0 to 65535"},
        [TZ_DTYPE_I32] = {-0x1p31, 0x1p31, "must be an integer from -2147483648 to 2147483647"},
        [TZ_DTYPE_U32] = {0, 0x1p32, "must be an integer from 0 to 4294967295"},
        [TZ_DTYPE_I64] = {-0x1p63, 0x1p63, "must be an integer of 64 bits"},
        [TZ_DTYPE_U64] = {0, 0x1p64, "must be an integer of 64 bits, not negative"},
    };
    if (dtype == TZ_DTYPE_F64)
        return NULL;
    if (dtype == TZ_DTYPE_F32)
        return isfinite(value) && fabs(value) > FLT_MAX ? "must be at most 3.4e38: single precision"
                                                        : NULL;
    return value >= ranges[dtype].low && value < ranges[dtype].end && value == trunc(value)
               ? NULL
               : ranges[dtype].fault;
}

void tz_array_values(const tz_array *array, int64_t i, int64_t count, double *values)
{
    switch (array->dtype) {
#define TZ_DTYPE_GET(name, ctype, code)                                                            \
    case TZ_DTYPE_##name:                                                                          \
        for (int64_t k = 0; k < count; k++)                                                        \
            values[k] = (double)((const ctype *)array->data)[i + k];                               \
        break;
        TZ_DTYPE_TABLE(TZ_DTYPE_GET)
#undef TZ_DTYPE_GET
    default:
        memset(values, 0, (size_t)count * sizeof *values);
    }
}

double tz_array_get(const tz_array *array, int64_t i)
{
    double value;
    tz_array_values(array, i, 1, &value);
    return value;
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

/* ---- Exact integers -------------------------------------------------------------------------- */

static bool is_integer(tz_dtype dtype)
{
    return dtype != TZ_DTYPE_F32 && dtype != TZ_DTYPE_F64;
}

bool tz_array_get_integer(const tz_array *array, int64_t i, int64_t *out)
{
    if (!is_integer(array->dtype))
        return false;
    if (array->dtype == TZ_DTYPE_I64) {
        *out = ((const int64_t *)array->data)[i];
    } else if (array->dtype == TZ_DTYPE_U64) {
        const uint64_t value = ((const uint64_t *)array->data)[i];
        if (value > INT64_MAX)
            return false;
        *out = (int64_t)value;
    } else {
        *out = (int64_t)tz_array_get(array, i);
    }
    return true;
}

int64_t tz_array_extreme(const tz_array *array, bool largest)
{
    const int64_t count = tz_shape_count(array->dims, array->shape);
    int64_t best = 0;
    switch (array->dtype) {
#define TZ_DTYPE_EXTREME(name, ctype, code)                                                        \
    case TZ_DTYPE_##name: {                                                                        \
        const ctype *v = array->data;                                                              \
        for (int64_t i = 1; i < count; i++)                                                        \
            if (v[best] != v[best] || (largest ? v[i] > v[best] : v[i] < v[best]))                 \
                best = i;                                                                          \
        break;                                                                                     \
    }
        TZ_DTYPE_TABLE(TZ_DTYPE_EXTREME)
#undef TZ_DTYPE_EXTREME
    default:
        break;
    }
    return best;
}

bool tz_array_sum_integer(const tz_array *array, int64_t *out)
{
    __extension__ typedef __int128 wide;
    const int64_t count = tz_shape_count(array->dims, array->shape);
    wide sum = 0;
    if (!is_integer(array->dtype))
        return false;
    switch (array->dtype) {
#define TZ_DTYPE_SUM(name, ctype, code)                                                            \
    case TZ_DTYPE_##name:                                                                          \
        for (int64_t i = 0; i < count; i++)                                                        \
            sum += (wide)((const ctype *)array->data)[i];                                          \
        break;
        TZ_DTYPE_TABLE(TZ_DTYPE_SUM)
#undef TZ_DTYPE_SUM
    default:
        break;
    }
    *out = (int64_t)sum;
    return sum >= INT64_MIN && sum <= INT64_MAX;
}
