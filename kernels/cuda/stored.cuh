/* kernels/cuda: reals that lie in memory otherwise than cells are computed with them
 * (core/stencil/stored.h). C defines TZ__MEMORY_FIELD for each field: the type of its elements in
 * memory, which may be one of these. A cast makes one of a value, which rounds, and the other way
 * round. */
#ifndef TZ_STORED_CUH
#define TZ_STORED_CUH

#include "device.cuh"

#define TZ__MEMORY(name) TZ__MEMORY_OF(name)
#define TZ__MEMORY_OF(name) TZ__MEMORY_##name

/* A half. BITS: those of tz_storage.add, and below them those of .scale, a power of two. */
template <unsigned long long BITS> struct tz_half {
    enum : unsigned int { ADD = (unsigned int)(BITS >> 32), SCALE = (unsigned int)BITS };
    unsigned short bits;
    tz_half() = default;
    TZ_INSIDE explicit tz_half(float value)
    {
        const unsigned int less = ADD == 0x80000000u ? ADD : ADD ^ 0x80000000u;
        const float moved = value + tz_float_of(less);
        bits = tz_half_of(moved * tz_float_of(0x7f000000u - SCALE));
    }
    TZ_INSIDE explicit operator float() const
    {
        return tz_float_of(SCALE) * tz_half_value(bits) + tz_float_of(ADD);
    }
    TZ_INSIDE explicit operator double() const { return (double)(float)*this; }
};

/* Packets in memory as values, and the other way round. */
template <class T, int N> TZ_DEVICE void tz_load_values(const T *from, T (&to)[N])
{
    tz_load(from, to);
}
template <class S, class T, int N> TZ_DEVICE void tz_load_values(const S *from, T (&to)[N])
{
    S packet[N];
    tz_load(from, packet);
    tz_each<N>([&](int i) { to[i] = (T)packet[i]; });
}
template <class T, int N> TZ_DEVICE void tz_get_values(const T *from, T (&to)[N])
{
    tz_get_packet(from, to);
}
template <class S, class T, int N> TZ_DEVICE void tz_get_values(const S *from, T (&to)[N])
{
    S packet[N];
    tz_get_packet(from, packet);
    tz_each<N>([&](int i) { to[i] = (T)packet[i]; });
}
/* A copy of one element, which may be smaller than an asynchronous copy. */
template <class S> TZ_DEVICE void tz_fetch_element(S *to, const S *from)
{
    if constexpr (sizeof(S) >= 4) {
        tz_fetch<S, 1>(to, from);
    } else {
        S one[1];
        tz_load(from, one);
        tz_put(to, one[0]);
    }
}

/* Each new value as it is after it was stored. S: the type in memory. */
template <class S, class T, int N> TZ_DEVICE void tz_round_values(T (&values)[N])
{
    if constexpr (sizeof(S) < sizeof(T))
        tz_each<N>([&](int i) { values[i] = (T)(S)values[i]; });
}

#endif
