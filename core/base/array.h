/* An array of numbers in memory with 1 to 3 axes.
 *
 * Elements are contiguous and in native byte order. Axis x comes first and varies fastest in
 * memory: shape is {nx, ny, nz}. A .npy file in C order with shape (ny, nx) has shape {nx, ny}
 * here. */
#ifndef TZ_CORE_BASE_ARRAY_H
#define TZ_CORE_BASE_ARRAY_H

#include "base/error.h"
#include <stdbool.h>
#include <stdint.h>

/* X(name, C type, numpy type code without byte order) */
#define TZ_DTYPE_TABLE(X)                                                                          \
    X(BOOL, uint8_t, "b1")                                                                         \
    X(I8, int8_t, "i1")                                                                            \
    X(U8, uint8_t, "u1")                                                                           \
    X(I16, int16_t, "i2")                                                                          \
    X(U16, uint16_t, "u2")                                                                         \
    X(I32, int32_t, "i4")                                                                          \
    X(U32, uint32_t, "u4")                                                                         \
    X(I64, int64_t, "i8")                                                                          \
    X(U64, uint64_t, "u8")                                                                         \
    X(F32, float, "f4")                                                                            \
    X(F64, double, "f8")

typedef enum tz_dtype {
#define TZ_DTYPE_ENUM(name, ctype, code) TZ_DTYPE_##name,
    TZ_DTYPE_TABLE(TZ_DTYPE_ENUM)
#undef TZ_DTYPE_ENUM
        TZ_DTYPE_COUNT
} tz_dtype;

enum { TZ_DIMS_MAX = 3 };

typedef struct tz_array {
    tz_dtype dtype;
    int dims;                   /* 1 to 3 */
    int64_t shape[TZ_DIMS_MAX]; /* x first; unused axes are 1 */
    void *data;                 /* owned; aligned to 64 bytes */
} tz_array;

/* The bytes of an element, the numpy code ("f4"), and the name for messages ("float32"). */
size_t tz_dtype_size(tz_dtype dtype);
const char *tz_dtype_code(tz_dtype dtype);
const char *tz_dtype_name(tz_dtype dtype);

/* The product of the extents; -1 if an extent is less than 1, or if the bytes of so many 8-byte
 * elements overflow int64. */
int64_t tz_shape_count(int dims, const int64_t *shape);

/* "64 x 32". Returns `text`. */
enum { TZ_SHAPE_TEXT_SIZE = 80 };
const char *tz_shape_text(char text[TZ_SHAPE_TEXT_SIZE], int dims, const int64_t *shape);

/* Allocate an array of zeros; free it with tz_array_destroy. Errors: TZ_RANGE (`dims` or an
 * extent), TZ_MEMORY. */
tz_status tz_array_create(tz_array **out, tz_dtype dtype, int dims, const int64_t *shape,
                          tz_error *error);
void tz_array_destroy(tz_array *array); /* NULL is fine */
/* Elements that stand in another order: `order` names the axes, that of the fastest index first
 * ("zxy"). *array becomes one with x first; it is as it was after an error. Errors: TZ_RANGE:
 * `order` does not name each axis once; TZ_MEMORY. */
tz_status tz_array_reorder(tz_array **array, const char *order, tz_error *error);

/* The rows of each plane from the last to the first, in place. */
void tz_array_turn_rows(tz_array *array);

/* How an array gets another shape: its middle; or nearest elements, as a picture is scaled. */
typedef enum tz_fit { TZ_FIT_NONE, TZ_FIT_CROP, TZ_FIT_PAD, TZ_FIT_SCALE } tz_fit;
/* A copy of that shape: TZ_FIT_CROP: extents are no larger than the array's; TZ_FIT_SCALE.
 * TZ_MEMORY, TZ_RANGE. */
tz_status tz_array_fit(const tz_array *array, tz_fit fit, const int64_t *shape, tz_array **out,
                       tz_error *error);

/* NULL if an element of that type can hold the number, else what it must be: "must be an integer
 * from 0 to 255". Floating point types also hold NaN and infinities. */
const char *tz_dtype_fault(tz_dtype dtype, double value);

/* Element i, counted from 0 in memory order. Integers beyond 2^53 are rounded. */
double tz_array_get(const tz_array *array, int64_t i);
/* `count` of them from element i on. */
void tz_array_values(const tz_array *array, int64_t i, int64_t count, double *values);
/* Set element i to a number that tz_dtype_fault accepts. */
void tz_array_set(tz_array *array, int64_t i, double value);

/* Element i of an integer type, exactly. False: it is above INT64_MAX, or the type is not an
 * integer's. */
bool tz_array_get_integer(const tz_array *array, int64_t i, int64_t *out);
/* The first of the smallest, or largest, elements, compared exactly. NaN only if all are. */
int64_t tz_array_extreme(const tz_array *array, bool largest);
/* The sum of an integer type's elements, exactly. False: it does not fit, or the type is not an
 * integer's. */
bool tz_array_sum_integer(const tz_array *array, int64_t *out);

#endif
