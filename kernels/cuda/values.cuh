/* kernels/cuda: values of reductions (reduce.cuh, update.cuh). */
#ifndef TZ_VALUES_CUH
#define TZ_VALUES_CUH

#include "device.cuh"

TZ_DEVICE unsigned long long tz_bits_of(double value)
{
    union {
        double d;
        unsigned long long u;
    } both;
    both.d = value;
    return both.u;
}

TZ_DEVICE double tz_from_bits(unsigned long long bits)
{
    union {
        double d;
        unsigned long long u;
    } both;
    both.u = bits;
    return both.d;
}

TZ_DEVICE unsigned long long tz_add_lanes(unsigned long long value)
{
    for (int n = 16; n >= 1; n /= 2)
        value += tz_shuffle_xor(value, n);
    return value;
}

TZ_DEVICE long long tz_min_lanes(long long value)
{
    for (int n = 16; n >= 1; n /= 2) {
        const long long other = tz_shuffle_xor(value, n);
        value = other < value ? other : value;
    }
    return value;
}

/* Bits of word i of a row that are cells: bit b is column b*words + i. */
TZ_DEVICE tz_word tz_cells_of_word(int full, long long rest, long long i)
{
    const int valid = full + (i < rest ? 1 : 0);
    return valid >= 32 ? 0xffffffffu : (1u << valid) - 1u;
}

/* One element, by functions whose accesses tests check. */
template <class T> TZ_DEVICE T tz_load_one(const T *from)
{
    T one[1];
    tz_load(from, one);
    return one[0];
}

template <class T> TZ_DEVICE void tz_store_one(T *to, T value)
{
    const T one[1] = {value};
    tz_store(to, one);
}

#endif
