/* Converts rows of stored reals, by the instruction set. Called by the backends of the CPU and
 * wherever elements become values or the other way round. */
#include "stencil/stored.h"

#include <math.h>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

tz_storage tz_storage_of(tz_stored as, double origin, double scale)
{
    int exponent;
    const double part = frexp(origin, &exponent);
    const double kept = ldexp(nearbyint(ldexp(part, TZ_ORIGIN_BITS)), exponent - TZ_ORIGIN_BITS);
    const float add = kept == 0.0 ? -0.0f : (float)kept;
    return (tz_storage){.as = as,
                        .add = add,
                        .less = add == 0.0f ? -0.0f : -add,
                        .scale = (float)scale,
                        .inverse = (float)(1.0 / scale)};
}

bool tz_storage_same(const tz_storage *a, const tz_storage *b)
{
    return a->as == b->as && a->add == b->add && a->scale == b->scale;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

typedef int64_t load_fn(const tz_storage *s, const uint16_t *elements, int64_t count,
                        float *values);
typedef int64_t store_fn(const tz_storage *s, const float *values, int64_t count,
                         uint16_t *elements);

/* These convert as many elements as vectors have, and return their number. */
static int64_t load_none(const tz_storage *s, const uint16_t *elements, int64_t count,
                         float *values)
{
    (void)s, (void)elements, (void)count, (void)values;
    return 0;
}

static int64_t store_none(const tz_storage *s, const float *values, int64_t count,
                          uint16_t *elements)
{
    (void)s, (void)values, (void)count, (void)elements;
    return 0;
}

#if defined(__x86_64__)
__attribute__((target("avx2,f16c"))) static int64_t
load_v3(const tz_storage *s, const uint16_t *elements, int64_t count, float *values)
{
    const __m256 add = _mm256_set1_ps(s->add), scale = _mm256_set1_ps(s->scale);
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const __m256 x = _mm256_cvtph_ps(_mm_loadu_si128((const void *)(elements + i)));
        _mm256_storeu_ps(values + i, _mm256_add_ps(_mm256_mul_ps(x, scale), add));
    }
    return i;
}

__attribute__((target("avx2,f16c"))) static int64_t
store_v3(const tz_storage *s, const float *values, int64_t count, uint16_t *elements)
{
    const __m256 less = _mm256_set1_ps(s->less), inverse = _mm256_set1_ps(s->inverse);
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const __m256 x = _mm256_mul_ps(_mm256_add_ps(_mm256_loadu_ps(values + i), less), inverse);
        _mm_storeu_si128((void *)(elements + i), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
    }
    return i;
}

__attribute__((target("avx512f,f16c"))) static int64_t
load_v4(const tz_storage *s, const uint16_t *elements, int64_t count, float *values)
{
    const __m512 add = _mm512_set1_ps(s->add), scale = _mm512_set1_ps(s->scale);
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m512 x = _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(elements + i)));
        _mm512_storeu_ps(values + i, _mm512_add_ps(_mm512_mul_ps(x, scale), add));
    }
    return i;
}

__attribute__((target("avx512f,f16c"))) static int64_t
store_v4(const tz_storage *s, const float *values, int64_t count, uint16_t *elements)
{
    const __m512 less = _mm512_set1_ps(s->less), inverse = _mm512_set1_ps(s->inverse);
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m512 x = _mm512_mul_ps(_mm512_add_ps(_mm512_loadu_ps(values + i), less), inverse);
        _mm256_storeu_si256((void *)(elements + i), _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
    }
    return i;
}

static load_fn *load_of(tz_isa isa)
{
    return isa == TZ_ISA_BASE ? load_none : tz_isa_vector_bytes(isa) == 64 ? load_v4 : load_v3;
}

static store_fn *store_of(tz_isa isa)
{
    return isa == TZ_ISA_BASE ? store_none : tz_isa_vector_bytes(isa) == 64 ? store_v4 : store_v3;
}
#elif defined(__aarch64__)
static int64_t load_neon(const tz_storage *s, const uint16_t *elements, int64_t count,
                         float *values)
{
    const float32x4_t add = vdupq_n_f32(s->add), scale = vdupq_n_f32(s->scale);
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const float32x4_t x = vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(elements + i)));
        vst1q_f32(values + i, vaddq_f32(vmulq_f32(x, scale), add));
    }
    return i;
}

static int64_t store_neon(const tz_storage *s, const float *values, int64_t count,
                          uint16_t *elements)
{
    const float32x4_t less = vdupq_n_f32(s->less), inverse = vdupq_n_f32(s->inverse);
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const float32x4_t x = vmulq_f32(vaddq_f32(vld1q_f32(values + i), less), inverse);
        vst1_u16(elements + i, vreinterpret_u16_f16(vcvt_f16_f32(x)));
    }
    return i;
}

static load_fn *load_of(tz_isa isa)
{
    (void)isa, (void)load_none;
    return load_neon;
}

static store_fn *store_of(tz_isa isa)
{
    (void)isa, (void)store_none;
    return store_neon;
}
#else
static load_fn *load_of(tz_isa isa)
{
    (void)isa;
    return load_none;
}

static store_fn *store_of(tz_isa isa)
{
    (void)isa;
    return store_none;
}
#endif

void tz_stored_load(const tz_storage *storage, tz_isa isa, const void *elements, int64_t count,
                    float *values)
{
    const uint16_t *from = elements;
    for (int64_t i = load_of(isa)(storage, from, count, values); i < count; i++)
        values[i] = storage->scale * tz_half_value(from[i]) + storage->add;
}

void tz_stored_store(const tz_storage *storage, tz_isa isa, const float *values, int64_t count,
                     void *elements)
{
    uint16_t *to = elements;
    for (int64_t i = store_of(isa)(storage, values, count, to); i < count; i++)
        to[i] = tz_half_of((values[i] + storage->less) * storage->inverse);
}
