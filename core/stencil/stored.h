/* Reals that lie in memory otherwise than updates compute with them: the types of
 * TZ_STORED_TABLE (stencil/element.h), and the origin and scale of a field. */
#ifndef TZ_CORE_STENCIL_STORED_H
#define TZ_CORE_STENCIL_STORED_H

#include "base/machine.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef enum tz_stored {
    TZ_STORED_AS_COMPUTED,
    TZ_STORED_HALF, /* IEEE binary16 */
    TZ_STORED_COUNT
} tz_stored;

/* How a field of single precision is stored. A value is add + scale * element, an element is
 * (value + less) * inverse, rounded to nearest even. The scale is a power of two, and the origin
 * has at most TZ_ORIGIN_BITS bits: so a value that was loaded, stored and loaded again is the same
 * value, and each of these operations rounds at most once. */
typedef struct tz_storage {
    tz_stored as;
    float add, less; /* the origin and minus the origin; both -0 if it is 0 */
    float scale, inverse;
} tz_storage;

enum {
    TZ_ORIGIN_BITS = 20,
    TZ_STORAGE_TEXT_SIZE = 2048 /* tz_problem_storage_text() */
};
/* Times the scale: steps of single precision near the origin are less than the largest of half. */
#define TZ_STORAGE_ORIGIN_MOST 0x1p26
#define TZ_STORAGE_SCALE_LEAST 0x1p-60 /* and the largest is the inverse */

/* The storage of an origin, which is rounded, and of a scale, which is a power of two. */
tz_storage tz_storage_of(tz_stored as, double origin, double scale);
bool tz_storage_same(const tz_storage *a, const tz_storage *b);
/* Is a value its element? */
static inline bool tz_storage_is_plain(const tz_storage *storage)
{
    return storage->add == 0.0f && storage->scale == 1.0f;
}

/* Elements to values, and values to elements. The bits do not depend on the instruction set. */
void tz_stored_load(const tz_storage *storage, tz_isa isa, const void *elements, int64_t count,
                    float *values);
void tz_stored_store(const tz_storage *storage, tz_isa isa, const float *values, int64_t count,
                     void *elements);

static inline float tz_half_value(uint16_t half)
{
    uint32_t bits = (uint32_t)(half & 0x7fff) << 13;
    const uint32_t exponent = bits & 0x0f800000;
    const float least = 0x1p-14f; /* of the normal numbers */
    float value;
    bits += 0x38000000;         /* the biases of the exponents differ by 112 */
    if (exponent == 0x0f800000) /* infinite or NaN */
        bits += 0x38000000;
    if (exponent == 0)
        bits += 0x00800000;
    memcpy(&value, &bits, sizeof value);
    value -= exponent == 0 ? least : 0.0f;
    memcpy(&bits, &value, sizeof bits);
    bits |= (uint32_t)(half & 0x8000) << 16;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint16_t tz_half_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    if (bits >= 0x47800000) /* 65536 and more, infinite, NaN */
        return (uint16_t)(sign | (bits > 0x7f800000 ? 0x7e00 | (bits >> 13 & 0x3ff) : 0x7c00));
    if (bits < 0x38800000) { /* less than 2^-14: a sum with 0.5 rounds to multiples of 2^-24 */
        float sum;
        memcpy(&sum, &bits, sizeof sum);
        sum += 0.5f;
        memcpy(&bits, &sum, sizeof bits);
        return (uint16_t)(sign | (bits - 0x3f000000));
    }
    bits += 0xfff + (bits >> 13 & 1) - 0x38000000;
    return (uint16_t)(sign | bits >> 13);
}

#endif
