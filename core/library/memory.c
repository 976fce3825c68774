/* Memory of the program, with strides and types of its own, as arrays. Called by session.c and
 * sim.c. */
#include "library/session.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

tz_status tz__memory_check(const tz_memory *memory, tz_dtype *dtype, bool *dense, tz_error *error)
{
    int type = 0;
    if (!memory || !memory->data)
        return tz_error_set(error, TZ_USAGE, "memory", "there is none: its pointer is NULL");
    if (memory->device != TZ_HOST)
        return tz_error_set(error, TZ_UNSUPPORTED, "memory",
                            "it is on device %d: copy it to the host first", memory->device);
    while (type < TZ_DTYPE_COUNT && memory->dtype &&
           strcmp(memory->dtype, tz_dtype_code((tz_dtype)type)) != 0)
        type++;
    if (!memory->dtype || type == TZ_DTYPE_COUNT)
        return tz_error_set(error, TZ_TYPE, "memory",
                            "the type '%.20s' is none of b1, i1, u1, i2, u2, i4, u4, i8, u8, f4, "
                            "f8",
                            memory->dtype ? memory->dtype : "NULL");
    if (memory->dims < 1 || memory->dims > TZ_DIMS_MAX)
        return tz_error_set(error, TZ_SHAPE, "memory", "it has %d axes, not 1 to 3", memory->dims);
    if (tz_shape_count(memory->dims, memory->shape) < 0)
        return tz_error_set(error, TZ_SHAPE, "memory", "an extent is less than 1, or too large");
    *dtype = (tz_dtype)type;
    *dense = true;
    int64_t step = (int64_t)tz_dtype_size(*dtype);
    bool zero = true;
    for (int d = 0; d < memory->dims; d++) {
        zero = zero && memory->strides[d] == 0;
        *dense = *dense && (memory->strides[d] == step || memory->shape[d] == 1);
        step *= memory->shape[d];
    }
    *dense = *dense || zero;
    return TZ_OK;
}

tz_status tz__memory_check_apart(const tz_memory *memory, size_t size, tz_error *error)
{
    double span = (double)size; /* bytes of what lies within the axes so far */
    bool done[TZ_DIMS_MAX] = {false};
    for (int k = 0; k < memory->dims; k++) {
        int next = -1; /* the axis with the smallest stride of those that are left */
        for (int d = 0; d < memory->dims; d++)
            if (!done[d] && (next < 0 || fabs((double)memory->strides[d]) <
                                             fabs((double)memory->strides[next])))
                next = d;
        done[next] = true;
        const double stride = fabs((double)memory->strides[next]);
        if (memory->shape[next] > 1 && stride < span)
            return tz_error_set(error, TZ_SHAPE, "memory",
                                "its elements share bytes: the stride along %c is %" PRId64
                                ", and memory that is written needs %.0f at least",
                                "xyz"[next], memory -> strides[next], span);
        if (memory->shape[next] > 1)
            span += stride * (double)(memory->shape[next] - 1);
    }
    return TZ_OK;
}

/* The elements of an array without gaps, row by row, with those of the memory. */
typedef struct walk {
    const tz_memory *memory;
    int64_t shape[TZ_DIMS_MAX], strides[TZ_DIMS_MAX];
} walk;

static walk begin(const tz_memory *memory, tz_dtype dtype, bool dense)
{
    walk w = {.memory = memory, .shape = {1, 1, 1}};
    int64_t step = (int64_t)tz_dtype_size(dtype);
    for (int d = 0; d < memory->dims; d++) {
        w.shape[d] = memory->shape[d];
        w.strides[d] = dense ? step : memory->strides[d];
        step *= memory->shape[d];
    }
    return w;
}

static char *row_at(const walk *w, int64_t y, int64_t z)
{
    return (char *)w->memory->data + y * w->strides[1] + z * w->strides[2];
}

static void pack(const walk *w, size_t size, char *to)
{
    for (int64_t z = 0; z < w->shape[2]; z++)
        for (int64_t y = 0; y < w->shape[1]; y++) {
            const char *from = row_at(w, y, z);
            for (int64_t x = 0; x < w->shape[0]; x++, to += size)
                memcpy(to, from + x * w->strides[0], size);
        }
}

tz_status tz__memory_read(const tz_memory *memory, tz_array *alias, tz_array **copy,
                          tz_error *error)
{
    tz_dtype dtype;
    bool dense;
    *copy = NULL;
    tz_status status = tz__memory_check(memory, &dtype, &dense, error);
    if (status)
        return status;
    const walk w = begin(memory, dtype, dense);
    *alias = (tz_array){.dtype = dtype, .dims = memory->dims, .data = memory->data};
    memcpy(alias->shape, w.shape, sizeof alias->shape);
    if (dense && (uintptr_t)memory->data % tz_dtype_size(dtype) == 0)
        return TZ_OK;
    status = tz_array_create(copy, dtype, memory->dims, w.shape, error);
    if (status)
        return status;
    pack(&w, tz_dtype_size(dtype), (*copy)->data);
    *alias = **copy;
    return TZ_OK;
}

static tz_status refuse(double value, tz_dtype dtype, const char *fault, tz_error *error)
{
    return tz_error_set(error, TZ_TYPE, "memory",
                        "a value is %.10g; it %s: the memory is of type %s", value, fault,
                        tz_dtype_name(dtype));
}

tz_status tz__memory_write(const tz_memory *memory, const tz_array *array, tz_error *error)
{
    tz_dtype dtype;
    bool dense;
    tz_status status = tz__memory_check(memory, &dtype, &dense, error);
    if (status)
        return status;
    const walk w = begin(memory, dtype, dense);
    const size_t size = tz_dtype_size(dtype);
    const int64_t count = w.shape[0] * w.shape[1] * w.shape[2];
    for (int64_t i = 0; i < count; i++) {
        const double value = tz_array_get(array, i);
        const char *fault = tz_dtype_fault(dtype, value);
        if (fault)
            return refuse(value, dtype, fault, error);
    }
    int64_t i = 0;
    for (int64_t z = 0; z < w.shape[2]; z++)
        for (int64_t y = 0; y < w.shape[1]; y++)
            for (int64_t x = 0; x < w.shape[0]; x++) {
                uint64_t element = 0;
                tz_array one = {dtype, 1, {1, 1, 1}, &element};
                tz_array_set(&one, 0, tz_array_get(array, i++));
                memcpy(row_at(&w, y, z) + x * w.strides[0], &element, size);
            }
    return TZ_OK;
}

tz_memory tz__memory_of(const tz_array *array)
{
    tz_memory memory = {.data = array->data,
                        .dtype = tz_dtype_code(array->dtype),
                        .dims = array->dims,
                        .device = TZ_HOST,
                        .shape = {1, 1, 1}};
    int64_t step = (int64_t)tz_dtype_size(array->dtype);
    for (int d = 0; d < array->dims; d++) {
        memory.shape[d] = array->shape[d];
        memory.strides[d] = step;
        step *= array->shape[d];
    }
    return memory;
}
