/* The words of kernels/cuda/device.cuh for a host, where lanes are fibers of the executor (simt.h):
 * the same text, every access to shared memory and every packet of device memory checked. Texts
 * find this file in place of the real one. No system header: `real` is a macro by now. */
#ifndef TZ_DEVICE_CUH
#define TZ_DEVICE_CUH

#include "abi.h"

#define TZ_DEVICE static inline
#define TZ_OUTLINE static
#define TZ_UNCOPIED
#define TZ_INSIDE inline
#define TZ_KERNEL(name, threads)                                                                   \
    static const int name##_threads = (threads);                                                   \
    extern "C" void name
#define TZ_KERNEL_MANY(name, threads, blocks) TZ_KERNEL(name, threads)
#define TZ_SIMT_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define TZ_SIMT_PLACE (simt_place{file, line})

typedef unsigned int tz_word;

static const simt_words *tz_simt;
static const simt_lane_facts *tz_simt_lane;

template <int N, int I = 0, class F> TZ_DEVICE void tz_each(const F &f)
{
    if constexpr (I < N) {
        f(I);
        tz_each<N, I + 1>(f);
    }
}

TZ_DEVICE int tz_thread()
{
    return tz_simt_lane->thread;
}
TZ_DEVICE int tz_threads()
{
    return tz_simt_lane->threads;
}
TZ_DEVICE int tz_lane()
{
    return tz_simt_lane->lane;
}
/* On the GPU it is a shuffle: all lanes take part. */
TZ_DEVICE int tz_warp(TZ_SIMT_HERE)
{
    return (int)tz_simt->shuffle(SIMT_WARP_WORD, (unsigned)tz_simt_lane->warp, 4, 0, TZ_SIMT_PLACE);
}
TZ_DEVICE int tz_block(int axis)
{
    return tz_simt_lane->block[axis];
}
TZ_DEVICE int tz_blocks(int axis)
{
    return tz_simt_lane->blocks[axis];
}

/* Blocks have one dimension here. */
TZ_DEVICE int tz_element_of_thread(int axis)
{
    return axis == 0 ? tz_block(0) * tz_threads() + tz_thread() : tz_block(axis);
}

TZ_DEVICE double tz_abs(double value)
{
    return __builtin_fabs(value);
}
TZ_DEVICE float tz_sqrt_real(float value)
{
    return __builtin_sqrtf(value);
}
TZ_DEVICE double tz_sqrt_real(double value)
{
    return __builtin_sqrt(value);
}

TZ_DEVICE void tz_barrier(TZ_SIMT_HERE)
{
    tz_simt->barrier(SIMT_BARRIER, TZ_SIMT_PLACE);
}
TZ_DEVICE void tz_barrier_warp(TZ_SIMT_HERE)
{
    tz_simt->barrier(SIMT_BARRIER_WARP, TZ_SIMT_PLACE);
}

/* The words are not touched: it is the executor that counts. */
TZ_DEVICE void tz_adjacent_init(unsigned long long *words, int warps, TZ_SIMT_HERE)
{
    if (tz_simt_lane->thread <= warps)
        tz_simt->shared(SIMT_WRITE, words + tz_simt_lane->thread, 8, 8, TZ_SIMT_PLACE);
}
TZ_DEVICE void tz_adjacent_arrive(unsigned long long *, int, TZ_SIMT_HERE)
{
    tz_simt->barrier(SIMT_ADJACENT_ARRIVE, TZ_SIMT_PLACE);
}
TZ_DEVICE void tz_adjacent_wait(unsigned long long *, int, int odd, TZ_SIMT_HERE)
{
    tz_simt->barrier(odd ? SIMT_ADJACENT_ODD : SIMT_ADJACENT_EVEN, TZ_SIMT_PLACE);
}

/* ---- Arithmetic ----------------------------------------------------------------------------- */

TZ_DEVICE float __fmaf_rn(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}
TZ_DEVICE double __fma_rn(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}
TZ_DEVICE int tz_hidden(int value)
{
    return value;
}
/* A clock that goes on when it is looked at: each lane sees other numbers, later ones greater. */
TZ_DEVICE long long tz_clock()
{
    static long long now;
    return now += 16;
}
/* Texts use it where the result is exact: then a zero has the sign that rounding down gives. */
TZ_DEVICE float tz_fma_down(float a, float b, float c)
{
    const float sum = __builtin_fmaf(a, b, c);
    return sum == 0 && !(a * b == 0 && c == 0 && !__builtin_signbit(a * b) && !__builtin_signbit(c))
               ? -0.0f
               : sum;
}
#define TZ_QUOTIENTS 1
TZ_DEVICE float tz_reciprocal_roughly(float x)
{
    return 1 / x;
}
TZ_DEVICE float tz_float_of(unsigned int bits)
{
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
TZ_DEVICE float tz_half_value(unsigned short half)
{
    const int exponent = half >> 10 & 31, digits = half & 1023;
    const float size = exponent == 31 ? (digits ? __builtin_nanf("") : __builtin_inff())
                       : exponent > 0 ? __builtin_ldexpf((float)(1024 + digits), exponent - 25)
                                      : __builtin_ldexpf((float)digits, -24);
    return half >> 15 ? -size : size;
}
/* A sum with 1.5 * 2^(23 + the exponent of a half's last digit) rounds to a half's digits. */
TZ_DEVICE unsigned short tz_half_of(float value)
{
    const unsigned short sign = __builtin_signbit(value) ? 0x8000 : 0;
    const float size = __builtin_fabsf(value);
    if (value != value)
        return (unsigned short)(sign | 0x7e00);
    if (size >= 65520.0f)
        return (unsigned short)(sign | 0x7c00);
    const int exponent = size < 0x1p-14f ? -14 : __builtin_ilogbf(size);
    const float large = __builtin_ldexpf(1.5f, exponent + 13);
    volatile float sum = size + large;
    const int digits = (int)__builtin_ldexpf(sum - large, 10 - exponent);
    return (unsigned short)(sign | (digits + ((exponent + 14) << 10)));
}
TZ_DEVICE tz_word tz_funnel_left(tz_word high, tz_word low, int n)
{
    return (tz_word)(((unsigned long long)high << 32 | low) << n >> 32);
}
TZ_DEVICE tz_word tz_funnel_right(tz_word high, tz_word low, int n)
{
    return (tz_word)(((unsigned long long)high << 32 | low) >> n);
}
template <int TABLE> TZ_DEVICE tz_word tz_logic3(tz_word a, tz_word b, tz_word c)
{
    tz_word result = 0;
    for (int i = 0; i < 8; i++)
        if (TABLE >> i & 1)
            result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return result;
}

/* ---- Lanes ---------------------------------------------------------------------------------- */

template <class T> TZ_DEVICE T tz_simt_shuffle(int word, T value, int n, simt_place place)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle takes 4 or 8 bytes");
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    bits = tz_simt->shuffle(word, bits, (int)sizeof value, n, place);
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
#define TZ__SHUFFLE(name, word)                                                                    \
    TZ__SHUFFLE_OF(name, word, unsigned int)                                                       \
    TZ__SHUFFLE_OF(name, word, int)                                                                \
    TZ__SHUFFLE_OF(name, word, float)                                                              \
    TZ__SHUFFLE_OF(name, word, double)                                                             \
    TZ__SHUFFLE_OF(name, word, unsigned long long)                                                 \
    TZ__SHUFFLE_OF(name, word, long long)
#define TZ__SHUFFLE_OF(name, word, type)                                                           \
    TZ_DEVICE type tz_##name(type value, int n, TZ_SIMT_HERE)                                      \
    {                                                                                              \
        return tz_simt_shuffle(word, value, n, TZ_SIMT_PLACE);                                     \
    }
TZ__SHUFFLE(shuffle_up, SIMT_SHUFFLE_UP)
TZ__SHUFFLE(shuffle_down, SIMT_SHUFFLE_DOWN)
TZ__SHUFFLE(shuffle_xor, SIMT_SHUFFLE_XOR)
TZ__SHUFFLE(shuffle, SIMT_SHUFFLE)

/* ---- Memory --------------------------------------------------------------------------------- */

TZ_DEVICE unsigned char *tz_shared()
{
    return tz_simt_lane->shared;
}
template <class T> TZ_DEVICE T tz_get(const T *from, TZ_SIMT_HERE)
{
    tz_simt->shared(SIMT_READ, from, (int)sizeof(T), (int)sizeof(T), TZ_SIMT_PLACE);
    return *from;
}
template <class T, class V> TZ_DEVICE void tz_put(T *to, V value, TZ_SIMT_HERE)
{
    tz_simt->shared(SIMT_WRITE, to, (int)sizeof(T), (int)sizeof(T), TZ_SIMT_PLACE);
    *to = (T)value;
}

template <class T, int N> struct tz_packet {
    enum { BYTES = (int)sizeof(T) * N, ALIGNED = BYTES < 16 ? BYTES : 16 };
    static_assert(BYTES == 2 || BYTES == 4 || BYTES == 8 || BYTES % 16 == 0,
                  "a packet has 2, 4, 8 or a multiple of 16 bytes");
};
#define TZ__LOAD(name, half, access, ...)                                                          \
    template <class T, int N> TZ_DEVICE void name(const T *from, T(&to)[N], TZ_SIMT_HERE)          \
    {                                                                                              \
        typedef tz_packet<T, N> packet;                                                            \
        tz_simt->half(access, from, packet::BYTES, packet::ALIGNED, __VA_ARGS__ TZ_SIMT_PLACE);    \
        __builtin_memcpy(to, from, sizeof to);                                                     \
    }
#define TZ__STORE(name, half, ...)                                                                 \
    template <class T, int N> TZ_DEVICE void name(T *to, const T(&from)[N], TZ_SIMT_HERE)          \
    {                                                                                              \
        typedef tz_packet<T, N> packet;                                                            \
        tz_simt->half(SIMT_WRITE, to, packet::BYTES, packet::ALIGNED, __VA_ARGS__ TZ_SIMT_PLACE);  \
        __builtin_memcpy(to, from, sizeof from);                                                   \
    }
#define TZ__COMMA ,
TZ__LOAD(tz_load, memory, SIMT_READ, 0 TZ__COMMA)
TZ__LOAD(tz_load_once, memory, SIMT_READ, 0 TZ__COMMA)
TZ__LOAD(tz_load_fresh, memory, SIMT_READ_FRESH, 0 TZ__COMMA)
TZ__LOAD(tz_get_packet, shared, SIMT_READ, )
TZ__STORE(tz_store, memory, from TZ__COMMA)
TZ__STORE(tz_put_packet, shared, )

template <class T, int N>
TZ_DEVICE void tz_store_where(bool wanted, T *to, const T (&from)[N], TZ_SIMT_HERE)
{
    if (wanted)
        tz_store(to, from, file, line);
}

template <int I, int END, class T, int N>
TZ_DEVICE void tz_store_where(bool wanted, T *to, const T (&from)[N], TZ_SIMT_HERE)
{
    enum { STEP = tz_packet<T, N>::ALIGNED / (int)sizeof(T) };
    for (int i = I; i < END; i++) {
        T part[STEP];
        __builtin_memcpy(part, from + i * STEP, sizeof part);
        tz_store_where(wanted, to + i * STEP, part, file, line);
    }
}

template <class T, int N> TZ_DEVICE void tz_fetch(T *to, const T *from, TZ_SIMT_HERE)
{
    typedef tz_packet<T, N> packet;
    for (int i = 0; i < packet::BYTES; i += packet::ALIGNED)
        tz_simt->fetch((unsigned char *)to + i, (const unsigned char *)from + i, packet::ALIGNED,
                       TZ_SIMT_PLACE);
}
template <class T, int N, int COUNT, int TO, int FROM>
TZ_DEVICE void tz_fetch_packets(T *to, const T *from, TZ_SIMT_HERE)
{
    for (int p = 0; p < COUNT; p++)
        tz_fetch<T, N>(to + p * TO, from + p * FROM, file, line);
}
TZ_DEVICE void tz_fetch_end(TZ_SIMT_HERE)
{
    tz_simt->fetch_end(TZ_SIMT_PLACE);
}
template <int K> TZ_DEVICE void tz_fetch_wait(TZ_SIMT_HERE)
{
    tz_simt->fetch_wait(K, TZ_SIMT_PLACE);
}
/* A value that nothing may read. */
template <class T> TZ_DEVICE T tz_absent()
{
    T nothing;
    __builtin_memset(&nothing, 0xb7, sizeof nothing);
    return nothing;
}

template <class T> TZ_DEVICE T tz_anything()
{
    T any;
    __builtin_memset(&any, 0xff, sizeof any);
    return any;
}

TZ_DEVICE unsigned int tz_atomic_add_u32(unsigned int *to, unsigned int value, TZ_SIMT_HERE)
{
    tz_simt->memory(SIMT_ATOMIC, to, 4, 4, 0, TZ_SIMT_PLACE);
    const unsigned int before = *to;
    *to = before + value;
    return before;
}
TZ_DEVICE void tz_atomic_add_u64(unsigned long long *to, unsigned long long value, TZ_SIMT_HERE)
{
    tz_simt->memory(SIMT_ATOMIC, to, 8, 8, 0, TZ_SIMT_PLACE);
    *to += value;
}
TZ_DEVICE void tz_atomic_min_i64(long long *to, long long value, TZ_SIMT_HERE)
{
    tz_simt->memory(SIMT_ATOMIC, to, 8, 8, 0, TZ_SIMT_PLACE);
    *to = value < *to ? value : *to;
}
TZ_DEVICE void tz_grid_barrier(unsigned int *barrier, TZ_SIMT_HERE)
{
    tz_simt->grid_barrier(barrier, TZ_SIMT_PLACE);
}

TZ_DEVICE void tz_send(unsigned long long *slot, unsigned int word, unsigned int tag, TZ_SIMT_HERE)
{
    tz_simt->memory(SIMT_SEND, slot, 8, 8, 0, TZ_SIMT_PLACE);
    *slot = (unsigned long long)tag << 32 | word;
}
TZ_DEVICE void tz_send_where(bool wanted, unsigned long long *slot, unsigned int word,
                             unsigned int tag, TZ_SIMT_HERE)
{
    if (wanted)
        tz_send(slot, word, tag, file, line);
}
TZ_DEVICE void tz_peek(const unsigned long long *slot, unsigned int tag, unsigned long long &value,
                       TZ_SIMT_HERE)
{
    if ((unsigned int)(value >> 32) == tag)
        return;
    tz_simt->memory(SIMT_PEEK, slot, 8, 8, 0, TZ_SIMT_PLACE);
    value = *slot;
}
TZ_DEVICE void tz_pause(TZ_SIMT_HERE)
{
    tz_simt->pause(TZ_SIMT_PLACE);
}

/* ---- How the executor calls a kernel: the executor adds TZ_SIMT_ENTRY(name) to the text ----- */

static void tz_simt_attach(const simt_words *words, const simt_lane_facts ***lane)
{
    tz_simt = words;
    *lane = &tz_simt_lane;
}
template <int... I> struct tz_simt_numbers {
};
template <int N, int... I> struct tz_simt_up_to : tz_simt_up_to<N - 1, N - 1, I...> {
};
template <int... I> struct tz_simt_up_to<0, I...> {
    typedef tz_simt_numbers<I...> list;
};
template <class... A, int... I>
TZ_DEVICE void tz_simt_call_with(void (*f)(A...), void **at, tz_simt_numbers<I...>)
{
    f(*(const A *)at[I]...);
}
template <class... A> TZ_DEVICE void tz_simt_call(void (*f)(A...), void **at)
{
    tz_simt_call_with(f, at, typename tz_simt_up_to<(int)sizeof...(A)>::list());
}
template <class A, class... MORE> constexpr int tz_simt_count(void (*)(A, MORE...))
{
    return 1 + (int)sizeof...(MORE);
}
constexpr int tz_simt_count(void (*)())
{
    return 0;
}
template <class A, class... MORE> constexpr int tz_simt_bytes(void (*)(A, MORE...))
{
    return (int)sizeof(A);
}
constexpr int tz_simt_bytes(void (*)())
{
    return 0;
}
#define TZ_SIMT_ENTRY(name)                                                                        \
    static void name##_call(void **arguments)                                                      \
    {                                                                                              \
        tz_simt_call(name, arguments);                                                             \
    }                                                                                              \
    extern "C" {                                                                                   \
    extern __attribute__((visibility("default"))) const simt_entry name##_simt;                    \
    const simt_entry name##_simt = {tz_simt_attach, name##_call, name##_threads,                   \
                                    tz_simt_count(name), tz_simt_bytes(name)};                     \
    }

#endif
