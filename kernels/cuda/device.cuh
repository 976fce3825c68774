/* kernels/cuda: the machine. The other files use these functions and no CUDA names, so that tests
 * can run the same text on a host (tests/backend/cuda/simt/device.cuh). */
#ifndef TZ_DEVICE_CUH
#define TZ_DEVICE_CUH

#define TZ_DEVICE static __device__ __forceinline__
#define TZ_OUTLINE static __device__ __noinline__ /* keeps a long function out of its callers */
#define TZ_UNCOPIED __grid_constant__        /* an argument of a kernel whose address is used */
#define TZ_INSIDE __device__ __forceinline__ /* a member function */
/* A kernel for blocks of `threads` threads. TZ_KERNEL_MANY limits its registers so that a
 * multiprocessor can run `blocks` blocks. */
#define TZ_KERNEL(name, threads) extern "C" __global__ void __launch_bounds__(threads) name
#define TZ_KERNEL_MANY(name, threads, blocks)                                                      \
    extern "C" __global__ void __launch_bounds__(threads, blocks) name

typedef unsigned int tz_word;

/* Calls f(0), f(1), ... f(N - 1). The compiler is slow at loops that it unrolls: for each one it
 * visits all that the loops around it compute. So short loops of long kernels are calls. */
template <int N, int I = 0, class F> TZ_DEVICE void tz_each(const F &f)
{
    if constexpr (I < N) {
        f(I);
        tz_each<N, I + 1>(f);
    }
}

/* Thread blocks have one dimension, but for tz_element_of_thread(). */
TZ_DEVICE int tz_thread()
{
    return (int)threadIdx.x;
}
TZ_DEVICE int tz_threads()
{
    return (int)blockDim.x;
}
TZ_DEVICE int tz_lane()
{
    return (int)(threadIdx.x & 31u);
}
/* The number of the warp in the block. The compiler knows that it is the same in all lanes. */
TZ_DEVICE int tz_warp()
{
    unsigned int warp = threadIdx.x >> 5;
    asm("shfl.sync.idx.b32 %0, %1, 0, 31, 0xffffffff;" : "=r"(warp) : "r"(warp));
    return (int)warp;
}
TZ_DEVICE int tz_block(int axis)
{
    return (int)(axis == 0 ? blockIdx.x : axis == 1 ? blockIdx.y : blockIdx.z);
}
TZ_DEVICE int tz_blocks(int axis)
{
    return (int)(axis == 0 ? gridDim.x : axis == 1 ? gridDim.y : gridDim.z);
}

/* For kernels whose blocks have as many dimensions as the grid: the element of this thread, along
 * an axis. */
TZ_DEVICE int tz_element_of_thread(int axis)
{
    return (int)(axis == 0   ? blockIdx.x * blockDim.x + threadIdx.x
                 : axis == 1 ? blockIdx.y * blockDim.y + threadIdx.y
                             : blockIdx.z * blockDim.z + threadIdx.z);
}

TZ_DEVICE double tz_abs(double value)
{
    return fabs(value);
}
/* a * b + c, rounded down. */
TZ_DEVICE float tz_fma_down(float a, float b, float c)
{
    return __fmaf_rd(a, b, c);
}
/* Correctly rounded. */
TZ_DEVICE float tz_sqrt_real(float value)
{
    return __fsqrt_rn(value);
}
TZ_DEVICE double tz_sqrt_real(double value)
{
    return __dsqrt_rn(value);
}

/* Wait for all threads of the block, or of the warp. Afterwards each thread sees all earlier writes
 * of the others. */
TZ_DEVICE void tz_barrier()
{
    __syncthreads();
}
TZ_DEVICE void tz_barrier_warp()
{
    __syncwarp();
}

/* A barrier between adjacent warps of a block. `words`: 8 bytes of shared memory for each warp
 * and 8 more; all threads call tz_adjacent_init() before a tz_barrier(). In each phase a warp
 * arrives, then waits for the two adjacent warps. After the wait of phase n it sees what they
 * wrote before they arrived in phase n (and what the warps next to them wrote before they
 * arrived in phase n - 1). `parity` is 0 in the first phase, then 1, 0, ... Word w is an
 * mbarrier of the PTX ISA. Only the warps w - 1 and w use it: a third warp could be a phase
 * ahead of one of them, and would be counted in its place. One lane arrives for its warp; with
 * TZ_RACECHECK each lane does, since racecheck of compute-sanitizer does not see that a lane
 * which arrives for others waited for them. */
#ifndef TZ_RACECHECK
#define TZ_RACECHECK 0
#endif
TZ_DEVICE unsigned int tz__adjacent_at(const unsigned long long *word)
{
    return (unsigned int)__cvta_generic_to_shared(word);
}
TZ_DEVICE void tz_adjacent_init(unsigned long long *words, int warps)
{
    const int w = (int)threadIdx.x;
    if (w <= warps)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;"
                     :
                     : "r"(tz__adjacent_at(words + w)),
                       "r"((w > 0 && w < warps ? 2 : 1) * (TZ_RACECHECK ? 32 : 1))
                     : "memory");
}
TZ_DEVICE void tz_adjacent_arrive(unsigned long long *words, int warp)
{
    __syncwarp();
    if (TZ_RACECHECK || (threadIdx.x & 31u) < 2u)
        asm volatile(
            "{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }"
            :
            : "r"(tz__adjacent_at(words + warp + (threadIdx.x & (TZ_RACECHECK ? 0u : 31u))))
            : "memory");
    if (TZ_RACECHECK)
        asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0 + 8]; }"
                     :
                     : "r"(tz__adjacent_at(words + warp))
                     : "memory");
}
TZ_DEVICE void tz_adjacent_wait(unsigned long long *words, int warp, int parity)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define TZ__ADJACENT_TEST "mbarrier.try_wait.parity.shared.b64"
#else
#define TZ__ADJACENT_TEST "mbarrier.test_wait.parity.shared.b64"
#endif
    asm volatile("{ .reg .pred done;\n"
                 "again: " TZ__ADJACENT_TEST " done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "more: " TZ__ADJACENT_TEST " done, [%0 + 8], %1;\n"
                 "@!done bra more; }"
                 :
                 : "r"(tz__adjacent_at(words + warp)), "r"(parity)
                 : "memory");
}

/* ---- Lanes -----------------------------------------------------------------------------------
 *
 * All 32 lanes take part. The assembly is not volatile, so the compiler drops shuffles whose
 * results are unused. It keeps unused intrinsics. */
#define TZ__SHUFFLE(name, mode, clamp)                                                             \
    TZ_DEVICE unsigned int tz__##name(unsigned int value, int n)                                   \
    {                                                                                              \
        unsigned int result;                                                                       \
        asm("shfl.sync." mode ".b32 %0, %1, %2, " clamp ", 0xffffffff;"                            \
            : "=r"(result)                                                                         \
            : "r"(value), "r"(n));                                                                 \
        return result;                                                                             \
    }                                                                                              \
    TZ_DEVICE unsigned int tz_##name(unsigned int value, int n)                                    \
    {                                                                                              \
        return tz__##name(value, n);                                                               \
    }                                                                                              \
    TZ_DEVICE int tz_##name(int value, int n)                                                      \
    {                                                                                              \
        return (int)tz__##name((unsigned int)value, n);                                            \
    }                                                                                              \
    TZ_DEVICE float tz_##name(float value, int n)                                                  \
    {                                                                                              \
        return __uint_as_float(tz__##name(__float_as_uint(value), n));                             \
    }                                                                                              \
    TZ_DEVICE double tz_##name(double value, int n)                                                \
    {                                                                                              \
        const unsigned int high = tz__##name((unsigned int)__double2hiint(value), n);              \
        const unsigned int low = tz__##name((unsigned int)__double2loint(value), n);               \
        return __hiloint2double((int)high, (int)low);                                              \
    }                                                                                              \
    TZ_DEVICE unsigned long long tz_##name(unsigned long long value, int n)                        \
    {                                                                                              \
        const unsigned long long high = tz__##name((unsigned int)(value >> 32), n);                \
        return high << 32 | tz__##name((unsigned int)value, n);                                    \
    }                                                                                              \
    TZ_DEVICE long long tz_##name(long long value, int n)                                          \
    {                                                                                              \
        return (long long)tz_##name((unsigned long long)value, n);                                 \
    }
/* From lane - n (the first n lanes keep their own value), lane + n (the last n keep theirs),
 * lane ^ n, or lane n. */
TZ__SHUFFLE(shuffle_up, "up", "0")
TZ__SHUFFLE(shuffle_down, "down", "31")
TZ__SHUFFLE(shuffle_xor, "bfly", "31")
TZ__SHUFFLE(shuffle, "idx", "31")

/* The same value, hidden from the compiler. Values that depend on it are computed where they are
 * used, instead of being kept in registers. */
TZ_DEVICE int tz_hidden(int value)
{
    asm volatile("" : "+r"(value));
    return value;
}

/* Clocks of the multiprocessor. The compiler moves no loop across it. */
TZ_DEVICE long long tz_clock()
{
    long long now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now) : : "memory");
    return now;
}
/* 1: tz_reciprocal_roughly() is one from which divide.cuh makes correctly rounded quotients. With
 * TZ_ONE_COPY no cell can be computed again. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900 && !defined(TZ_ONE_COPY)
#define TZ_QUOTIENTS 1
#else
#define TZ_QUOTIENTS 0
#endif
/* 1/x, approximately: one instruction of the unit for special functions. */
TZ_DEVICE float tz_reciprocal_roughly(float x)
{
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

/* The bits of a half as a number, and the nearest half of a number; the even one of two. */
TZ_DEVICE float tz_half_value(unsigned short half)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
    return value;
}
TZ_DEVICE unsigned short tz_half_of(float value)
{
    unsigned short half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
}
TZ_DEVICE float tz_float_of(unsigned int bits)
{
    return __uint_as_float(bits);
}

/* Any function of three bits, for each bit of the words: bit 4a + 2b + c of TABLE. */
template <int TABLE> TZ_DEVICE tz_word tz_logic3(tz_word a, tz_word b, tz_word c)
{
    tz_word result;
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(result) : "r"(a), "r"(b), "r"(c), "n"(TABLE));
    return result;
}

/* 64 bits, `high` above `low`, shifted by n from 0 to 31. The left shift gives the upper half, the
 * right shift the lower half. */
TZ_DEVICE tz_word tz_funnel_left(tz_word high, tz_word low, int n)
{
    return __funnelshift_l(low, high, n);
}
TZ_DEVICE tz_word tz_funnel_right(tz_word high, tz_word low, int n)
{
    return __funnelshift_r(low, high, n);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* The block's shared memory, 16-byte aligned, as many bytes as the launch asked for. Reads and
 * writes of it go through tz_get and tz_put. */
TZ_DEVICE unsigned char *tz_shared()
{
    extern __shared__ uint4 tz_shared_words[];
    return (unsigned char *)tz_shared_words;
}
template <class T> TZ_DEVICE T tz_get(const T *from)
{
    return *from;
}
template <class T, class V> TZ_DEVICE void tz_put(T *to, V value)
{
    *to = (T)value;
}

/* N adjacent elements in accesses of 16 bytes, or of 8, 4 or 2 if they are no more. Addresses are
 * aligned to the size of an access. */
template <int BYTES> struct tz_bytes {
    typedef uint4 type;
};
template <> struct tz_bytes<8> {
    typedef uint2 type;
};
template <> struct tz_bytes<4> {
    typedef unsigned int type;
};
template <> struct tz_bytes<2> {
    typedef unsigned short type;
};
template <class T, int N> struct tz_packet {
    typedef typename tz_bytes<(sizeof(T) * N < 16 ? (int)sizeof(T) * N : 16)>::type word;
    enum { WORDS = sizeof(T) * N / sizeof(word), PER_WORD = sizeof(word) / sizeof(T) };
    union one {
        word w;
        T v[PER_WORD];
        __device__ one() {}
    };
};
template <class T, int N> TZ_DEVICE void tz_load(const T *from, T (&to)[N])
{
    typedef tz_packet<T, N> packet;
    tz_each<packet::WORDS>([&](int i) {
        typename packet::one one;
        one.w = ((const typename packet::word *)from)[i];
        tz_each<packet::PER_WORD>([&](int k) { to[i * packet::PER_WORD + k] = one.v[k]; });
    });
}
/* The same for data that are read once: they need not stay in a cache. */
template <class T, int N> TZ_DEVICE void tz_load_once(const T *from, T (&to)[N])
{
    typedef tz_packet<T, N> packet;
    tz_each<packet::WORDS>([&](int i) {
        typename packet::one one;
        one.w = __ldcs((const typename packet::word *)from + i);
        tz_each<packet::PER_WORD>([&](int k) { to[i * packet::PER_WORD + k] = one.v[k]; });
    });
}
/* By an intrinsic: the compiler might store a plain vector element by element. */
template <class T, int N> TZ_DEVICE void tz_store(T *to, const T (&from)[N])
{
    typedef tz_packet<T, N> packet;
    tz_each<packet::WORDS>([&](int i) {
        typename packet::one one;
        tz_each<packet::PER_WORD>([&](int k) { one.v[k] = from[i * packet::PER_WORD + k]; });
        __stwb((typename packet::word *)to + i, one.w);
    });
}
/* tz_store where `wanted`, without a branch: the code around it stays one block for the scheduler.
 * With I and END, only the accesses from I up to END. */
template <int AT> TZ_DEVICE void tz__store_where(bool wanted, void *to, uint4 w)
{
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0;"
                 " @p st.global.v4.b32 [%1 + %6], {%2, %3, %4, %5}; }"
                 :
                 : "r"((int)wanted), "l"(to), "r"(w.x), "r"(w.y), "r"(w.z), "r"(w.w), "n"(AT));
}
template <int AT> TZ_DEVICE void tz__store_where(bool wanted, void *to, uint2 w)
{
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p st.global.v2.b32 [%1 + %4], {%2, %3}; }"
                 :
                 : "r"((int)wanted), "l"(to), "r"(w.x), "r"(w.y), "n"(AT));
}
template <int AT> TZ_DEVICE void tz__store_where(bool wanted, void *to, unsigned int w)
{
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p st.global.b32 [%1 + %3], %2; }"
                 :
                 : "r"((int)wanted), "l"(to), "r"(w), "n"(AT));
}
template <int I, int END, class T, int N>
TZ_DEVICE void tz_store_where(bool wanted, T *to, const T (&from)[N])
{
    typedef tz_packet<T, N> packet;
    typename packet::one one;
    tz_each<packet::PER_WORD>([&](int k) { one.v[k] = from[I * packet::PER_WORD + k]; });
    tz__store_where<I *(int)sizeof(one)>(wanted, to, one.w);
    if constexpr (I + 1 < END)
        tz_store_where<I + 1, END>(wanted, to, from);
}
template <class T, int N> TZ_DEVICE void tz_store_where(bool wanted, T *to, const T (&from)[N])
{
    tz_store_where<0, tz_packet<T, N>::WORDS>(wanted, to, from);
}
/* The same in shared memory. */
template <class T, int N> TZ_DEVICE void tz_get_packet(const T *from, T (&to)[N])
{
    tz_load(from, to);
}
template <class T, int N> TZ_DEVICE void tz_put_packet(T *to, const T (&from)[N])
{
    typedef tz_packet<T, N> packet;
    tz_each<packet::WORDS>([&](int i) {
        typename packet::one one;
        tz_each<packet::PER_WORD>([&](int k) { one.v[k] = from[i * packet::PER_WORD + k]; });
        ((typename packet::word *)to)[i] = one.w;
    });
}

/* Asynchronous copies from device to shared memory: N elements of 4 or 8 bytes, or a multiple of
 * 16, in all. tz_fetch_packets(): COUNT such groups, the next one always TO elements further on in
 * shared memory and FROM in device memory. tz_fetch_end() ends a group of copies;
 * tz_fetch_wait<K>() waits until all groups of this thread but the last K have arrived. */
template <int BYTES, int TO, int FROM> TZ_DEVICE void tz__fetch(unsigned int to, const void *from)
{
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0 + %2], [%1 + %3], 16;"
                     :
                     : "r"(to), "l"(from), "n"(TO), "n"(FROM)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0 + %2], [%1 + %3], %4;"
                     :
                     : "r"(to), "l"(from), "n"(TO), "n"(FROM), "n"(BYTES == 16 ? 8 : BYTES)
                     : "memory");
}
template <int BYTES, int TO, int FROM, int AT = 0>
TZ_DEVICE void tz__fetch_group(unsigned int to, const void *from)
{
    enum { STEP = BYTES < 16 ? BYTES : 16 };
    tz__fetch<STEP, TO + AT, FROM + AT>(to, from);
    if constexpr (AT + STEP < BYTES)
        tz__fetch_group<BYTES, TO, FROM, AT + STEP>(to, from);
}
template <class T, int N, int COUNT, int TO, int FROM, int I = 0>
TZ_DEVICE void tz_fetch_packets(T *to, const T *from)
{
    enum { SIZE = (int)sizeof(T) };
    tz__fetch_group<N * SIZE, I * TO * SIZE, I * FROM * SIZE>(
        (unsigned int)__cvta_generic_to_shared(to), from);
    if constexpr (I + 1 < COUNT)
        tz_fetch_packets<T, N, COUNT, TO, FROM, I + 1>(to, from);
}
template <class T, int N> TZ_DEVICE void tz_fetch(T *to, const T *from)
{
    tz_fetch_packets<T, N, 1, 0, 0>(to, from);
}
TZ_DEVICE void tz_fetch_end()
{
    asm volatile("cp.async.commit_group;" : : : "memory");
}
template <int K> TZ_DEVICE void tz_fetch_wait()
{
    asm volatile("cp.async.wait_group %0;" : : "n"(K) : "memory");
}

/* A value that must not be used: text that uses it does not compile. (On a host it has any
 * bits.) */
template <class T> TZ_DEVICE T tz_absent()
{
    unsigned int nothing;
    asm("the cell update reads a cell that it did not read when it was tried;" : "=r"(nothing));
    return (T)nothing;
}

/* An undefined value, which takes no instruction and no register. No result may depend on it. */
template <class T> TZ_DEVICE T tz_anything()
{
    union one {
        T v;
        __device__ one() {}
    };
    one any;
    return any.v;
}

TZ_DEVICE unsigned int tz_atomic_add_u32(unsigned int *to, unsigned int value)
{
    return atomicAdd(to, value);
}
TZ_DEVICE void tz_atomic_add_u64(unsigned long long *to, unsigned long long value)
{
    atomicAdd(to, value);
}
TZ_DEVICE void tz_atomic_min_i64(long long *to, long long value)
{
    atomicMin(to, value);
}

/* Grid synchronisation: wait for all blocks of a cooperative launch. Afterwards each block sees all
 * earlier writes of the others to device memory. `barrier` is a word in device memory, zero before
 * the first launch. Block 0 adds 2^31 minus the number of other blocks, and each other block 1. So
 * the top bit flips when all blocks have arrived. */
TZ_DEVICE void tz_grid_barrier(unsigned int *barrier)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned int blocks = gridDim.x * gridDim.y * gridDim.z;
        const bool first = blockIdx.x + blockIdx.y + blockIdx.z == 0;
        const unsigned int add = first ? 0x80000000u - (blocks - 1) : 1u;
        __threadfence();
        const unsigned int before = atomicAdd(barrier, add);
        unsigned int now;
        do
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                         : "=r"(now)
                         : "l"(barrier)
                         : "memory");
        while (((before ^ now) & 0x80000000u) == 0);
        __threadfence();
    }
    __syncthreads();
}
/* Reads data that other blocks have written to device memory in the same launch. */
template <class T, int N> TZ_DEVICE void tz_load_fresh(const T *from, T (&to)[N])
{
    typedef tz_packet<T, N> packet;
    tz_each<packet::WORDS>([&](int i) {
        typename packet::one one;
        one.w = __ldcg((const typename packet::word *)from + i);
        tz_each<packet::PER_WORD>([&](int k) { to[i * packet::PER_WORD + k] = one.v[k]; });
    });
}

/* Blocks of a cooperative launch exchange words without a barrier. One store of 8 bytes writes a
 * word and, in the high half, a tag: the number of the exchange. It orders no other writes of the
 * sender. */
TZ_DEVICE void tz_send(unsigned long long *slot, unsigned int word, unsigned int tag)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;"
                 :
                 : "l"(slot), "l"((unsigned long long)tag << 32 | word));
}
/* tz_send where `wanted`, without a branch. */
TZ_DEVICE void tz_send_where(bool wanted, unsigned long long *slot, unsigned int word,
                             unsigned int tag)
{
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0;"
                 " @p st.relaxed.gpu.global.u64 [%0], %1; }"
                 :
                 : "l"(slot), "l"((unsigned long long)tag << 32 | word), "r"((int)wanted));
}
/* Reads a slot, the tag above the word, unless `value` has the tag already. */
TZ_DEVICE void tz_peek(const unsigned long long *slot, unsigned int tag, unsigned long long &value)
{
    asm volatile("{ .reg .pred p; .reg .b32 word, has; mov.b64 {word, has}, %0;"
                 " setp.ne.u32 p, has, %2; @p ld.relaxed.gpu.global.u64 %0, [%1]; }"
                 : "+l"(value)
                 : "l"(slot), "r"(tag));
}
/* A loop that waits for other blocks must call this in each iteration. */
TZ_DEVICE void tz_pause() {}

#endif
