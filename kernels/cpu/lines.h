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

enum { TZ__LINE_BYTES = 64 };

/* Copy a row of an array. What a processor fetches ahead by itself ends with a page of 4 KiB, so
 * this fetches, too. */
static inline void tz__copy_ahead(char *to, const char *from, int64_t bytes)
{
    enum { AHEAD = 4096 };
    int64_t i = 0;
    for (; i + TZ__LINE_BYTES <= bytes; i += TZ__LINE_BYTES) {
        __builtin_prefetch(from + i + AHEAD);
        memcpy(to + i, from + i, TZ__LINE_BYTES);
    }
    if (i < bytes)
        memcpy(to + i, from + i, (size_t)(bytes - i));
}

#ifdef __SSE2__
/* Copy whole lines, `bytes` in all. `to` begins at a line. */
__attribute__((target("avx512f"))) static inline void
tz__copy_lines_past_wide(char *to, const char *from, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i += TZ__LINE_BYTES)
        _mm512_stream_si512((__m512i *)(void *)(to + i), _mm512_loadu_si512(from + i));
}

static inline void tz__copy_lines_past(char *to, const char *from, int64_t bytes)
{
    enum { VECTOR = sizeof(__m128i), VECTORS = TZ__LINE_BYTES / VECTOR };
    for (int64_t i = 0; i < bytes; i += TZ__LINE_BYTES) {
        __m128i line[VECTORS];
        for (int v = 0; v < VECTORS; v++)
            line[v] = _mm_loadu_si128((const __m128i *)(const void *)(from + i) + v);
        for (int v = 0; v < VECTORS; v++)
            _mm_stream_si128((__m128i *)(void *)(to + i) + v, line[v]);
    }
}
#endif

/* Copy a row to an array past the caches, where the processor can: then its lines are not read from
 * memory before they are written, and push nothing out of a cache. This goes for whole lines. Of a
 * line that the row shares with its neighbours each part would go to memory on its own, so those
 * are written as usual. `wide`: the processor has vectors of 64 bytes. Before another thread reads
 * the row, this one calls tz__past_done(). */
static inline void tz__copy_past(char *to, const char *from, int64_t bytes, bool wide)
{
#ifdef __SSE2__
    const int64_t before = (int64_t)(-(uintptr_t)to % TZ__LINE_BYTES);
    const int64_t lines = (bytes - before) / TZ__LINE_BYTES * TZ__LINE_BYTES;
    if (lines > 0) {
        if (before > 0)
            memcpy(to, from, (size_t)before);
        if (wide)
            tz__copy_lines_past_wide(to + before, from + before, lines);
        else
            tz__copy_lines_past(to + before, from + before, lines);
        to += before + lines;
        from += before + lines;
        bytes -= before + lines;
    }
#else
    (void)wide;
#endif
    if (bytes > 0)
        memcpy(to, from, (size_t)bytes);
}

static inline void tz__past_done(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

#endif
