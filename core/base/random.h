/* Random numbers that are the same everywhere. */
#ifndef TZ_CORE_BASE_RANDOM_H
#define TZ_CORE_BASE_RANDOM_H

#include <stdint.h>

#define TZ_RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)

/* Bits that look random, from any counter: Stafford's mix 13. */
static inline uint64_t tz_random_mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The next 64 bits: splitmix64. */
static inline uint64_t tz_random_next(uint64_t *state)
{
    return tz_random_mix(*state += TZ_RANDOM_STEP);
}

/* In [-1, 1), with all the bits of a double. */
static inline double tz_random_real(uint64_t *state)
{
    return (double)(tz_random_next(state) >> 11) * 0x1p-52 - 1.0;
}

#endif
