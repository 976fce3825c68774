/* Internal to kernels/cpu: copies of rows between caches and arrays that are larger than caches. */
#ifndef TZ_KERNELS_CPU_LINES_H
#define TZ_KERNELS_CPU_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

/* Copy a row of an array. What a processor fetches ahead by itself ends with a page of 4 KiB, so this fetches, too. */
static inline void tz__copy_ahead(char *to, const char *from, int64_t bytes)
{
    enum { LINE = 64, AHEAD = 4096 };
    int64_t i = 0;
    for (; i + LINE <= bytes; i += LINE) {
        __builtin_prefetch(from + i + AHEAD);
        memcpy(to + i, from + i, LINE);
    }
    if (i < bytes)
        memcpy(to + i, from + i, (size_t)(bytes - i));
}

#ifdef __SSE2__
/* Whole lines at once; `to` begins at a line. Returns the bytes copied. */
__attribute__((target("avx512f"))) static inline int64_t
tz__copy_lines_past(char *to, const char *from, int64_t bytes)
{
    enum { LINE = sizeof(__m512i) };
    int64_t i = 0;
    for (; i + LINE <= bytes; i += LINE)
        _mm512_stream_si512((__m512i *)(void *)(to + i), _mm512_loadu_si512(from + i));
    return i;
}
#endif

/* Copy a row to an array past the caches, where the processor can: then its lines are not read from memory before they are
 * written, and push nothing out of a cache. `wide`: it has vectors of 64 bytes. Before another thread reads the row, this
 * one calls tz__past_done(). */
static inline void tz__copy_past(char *to, const char *from, int64_t bytes, bool wide)
{
    int64_t i = 0;
#ifdef __SSE2__
    if (wide && (uintptr_t)to % sizeof(__m512i) == 0)
        i = tz__copy_lines_past(to, from, bytes);
    enum { VECTOR = sizeof(__m128i), VECTORS = 4 }; /* one line at a time */
    if ((uintptr_t)to % VECTOR == 0)
        for (; i + VECTORS * VECTOR <= bytes; i += VECTORS * VECTOR) {
            __m128i line[VECTORS];
            for (int v = 0; v < VECTORS; v++)
                line[v] = _mm_loadu_si128((const __m128i *)(const void *)(from + i) + v);
            for (int v = 0; v < VECTORS; v++)
                _mm_stream_si128((__m128i *)(void *)(to + i) + v, line[v]);
        }
#endif
    if (i < bytes)
        memcpy(to + i, from + i, (size_t)(bytes - i));
}

static inline void tz__past_done(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

#endif
