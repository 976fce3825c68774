/* An n-D array of numbers in memory: what files are read into and frames are made from.
 *
 * Shapes are given x first: shape[0] = nx varies fastest in memory, shape[1] = ny, shape[2] = nz.
 * (A C-order .npy file of shape (ny, nx) is therefore shape {nx, ny} here.) Always contiguous,
 * native byte order. */
#ifndef TZ_CORE_BASE_ARRAY_H
#define TZ_CORE_BASE_ARRAY_H

#include "base/error.h"
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

/* Bytes of one element; the numpy code ("f4"); a name for messages ("float32"). */
size_t tz_dtype_size(tz_dtype dtype);
const char *tz_dtype_code(tz_dtype dtype);
const char *tz_dtype_name(tz_dtype dtype);

/* Product of the extents; -1 if one is < 1 or the product (times 8 bytes) overflows int64. */
int64_t tz_shape_count(int dims, const int64_t *shape);

/* Allocate a zeroed array. Errors: TZ_RANGE (extents), TZ_MEMORY. Free with tz_array_destroy. */
tz_status tz_array_create(tz_array **out, tz_dtype dtype, int dims, const int64_t *shape,
                          tz_error *error);
void tz_array_destroy(tz_array *array); /* NULL is fine */

/* Element i (0-based, x fastest) as a double (64-bit integers may round). */
double tz_array_get(const tz_array *array, int64_t i);
/* Store a double converted to the element type (truncating for integers). */
void tz_array_set(tz_array *array, int64_t i, double value);

#endif
