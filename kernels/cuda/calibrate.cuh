/* kernels/cuda: kernels that measure a device. TZ_PROBE picks one:
 *
 *   TZ_PROBE_CHAINS  TZ_STEPS steps a round, in 2 * TZ_PAIRS chains of steps that depend on each
 *                    other. TZ_STEP(x, y) computes a new x from x, y (of type TZ_TYPE), a, b, p and
 *                    q, whose values the compiler does not know.
 *   TZ_PROBE_LINK    makes a list in memory, each word the offset of the next, which
 *                    TZ_PROBE_CHAINS follows.
 *   TZ_PROBE_COPY    copies (TZ_WRITES 1) or reads arrays: TZ_PACKETS packets of a thread at
 *                    once, by TZ_LOAD.
 *   TZ_PROBE_EMPTY   nothing.
 *   TZ_PROBE_SYNC    grid synchronisations, one a round.
 *   TZ_PROBE_PASS    adjacent blocks send each other a word in turn.
 *
 * `cycles`: clocks of each block, from before its first round to after its last round. */
#include "device.cuh"

#define TZ_PROBE_CHAINS 1
#define TZ_PROBE_LINK 2
#define TZ_PROBE_COPY 3
#define TZ_PROBE_EMPTY 4
#define TZ_PROBE_SYNC 5
#define TZ_PROBE_PASS 6

#if TZ_PROBE == TZ_PROBE_CHAINS

/* A number and a word: TZ_STEP changes both. */
struct both {
    float f;
    tz_word w;
    TZ_INSIDE both() {}
    TZ_INSIDE both(int i) : f((float)i), w((tz_word)i) {}
    TZ_INSIDE operator int() const { return (int)f + (int)w; }
};

/* The same in double precision. Numbers start between 0 and 1. */
struct heavy {
    double d;
    tz_word w;
    TZ_INSIDE heavy() {}
    TZ_INSIDE heavy(int i) : d((double)(i & 1023) / 1024.0), w((tz_word)i * 0x9e3779b1u) {}
    TZ_INSIDE operator int() const { return (int)d + (int)w; }
};

/* Random bits for number i of this thread, by the mixing function of MurmurHash3 (Appleby). */
TZ_DEVICE tz_word scattered(int i)
{
    tz_word w = (tz_word)(tz_block(0) * TZ_THREADS + tz_thread()) * 64u + (tz_word)i;
    w = (w ^ w >> 16) * 0x85ebca6bu;
    w = (w ^ w >> 13) * 0xc2b2ae35u;
    return w ^ w >> 16;
}

/* Sets each word of shared memory to its own offset: the next word of a list is the word itself. */
TZ_DEVICE void link_shared(int words)
{
#pragma unroll 1
    for (int i = tz_thread(); i < words; i += TZ_THREADS)
        tz_put((tz_word *)tz_shared() + i, (tz_word)i * 4u);
    tz_barrier();
}
TZ_DEVICE tz_word follow_shared(tz_word at)
{
    return tz_get((const tz_word *)(tz_shared() + at));
}
TZ_DEVICE tz_word follow(const unsigned char *table, tz_word at)
{
    tz_word v[1];
    tz_load_fresh((const tz_word *)(table + at), v);
    return v[0];
}

TZ_KERNEL(tz_probe, TZ_THREADS)
(tz_word *cycles, TZ_TYPE *out, const unsigned char *table, int rounds, int shared_words, TZ_TYPE a,
 TZ_TYPE b)
{
    TZ_TYPE x[TZ_PAIRS], y[TZ_PAIRS];
    const bool p = tz_thread()<(int)a, q = tz_thread()>(int) b;
    if (shared_words > 0)
        link_shared(shared_words);
#pragma unroll
    for (int k = 0; k < TZ_PAIRS; k++) {
        x[k] = TZ_FIRST(k);
        y[k] = TZ_FIRST(k);
    }
    tz_barrier();
    const long long begin = tz_clock();
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int s = 0; s < TZ_STEPS / (2 * TZ_PAIRS); s++) {
#pragma unroll
            for (int k = 0; k < TZ_PAIRS; k++)
                TZ_STEP(x[k], y[k]);
#pragma unroll
            for (int k = 0; k < TZ_PAIRS; k++)
                TZ_STEP(y[k], x[k]);
        }
    }
    tz_barrier();
    const long long end = tz_clock();
    if (tz_thread() == 0)
        cycles[tz_block(0)] = (tz_word)(end - begin);
    TZ_TYPE sum = 0;
#pragma unroll
    for (int k = 0; k < TZ_PAIRS; k++)
        sum = (TZ_TYPE)(sum + x[k] + y[k] + (TZ_TYPE)(p && q));
    out[tz_block(0) * TZ_THREADS + tz_thread()] = sum;
}

#elif TZ_PROBE == TZ_PROBE_LINK

TZ_KERNEL(tz_probe, TZ_THREADS)(unsigned char *table, const tz_word *order, int count)
{
    for (int i = tz_block(0) * TZ_THREADS + tz_thread(); i < count;
         i += tz_blocks(0) * TZ_THREADS) {
        tz_word here[1], next[1];
        tz_load(order + i, here);
        tz_load(order + (i + 1 < count ? i + 1 : 0), next);
        tz_store((tz_word *)(table + here[0]), next);
    }
}

#elif TZ_PROBE == TZ_PROBE_COPY

/* A piece is TZ_THREADS * TZ_PACKETS packets of 16 bytes. The pieces of a block change from round
 * to round. */
TZ_KERNEL(tz_probe, TZ_THREADS)
(const tz_word *from, tz_word *to, int pieces, int rounds, tz_word never)
{
    tz_word seen = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll 1
        for (int i = tz_block(0); i < pieces; i += tz_blocks(0)) {
            const int piece = (i + r * 7) % pieces;
            const long long at = ((long long)piece * TZ_PACKETS * TZ_THREADS + tz_thread()) * 4;
            tz_word v[TZ_PACKETS][4];
#pragma unroll
            for (int k = 0; k < TZ_PACKETS; k++)
                TZ_LOAD(from + at + k * 4 * TZ_THREADS, v[k]);
#pragma unroll
            for (int k = 0; k < TZ_PACKETS; k++) {
#if TZ_WRITES
                tz_store(to + at + k * 4 * TZ_THREADS, v[k]);
#else
                seen ^= v[k][0] ^ v[k][1] ^ v[k][2] ^ v[k][3];
#endif
            }
        }
    }
    if (seen == never)
        to[tz_thread()] = seen;
}

#elif TZ_PROBE == TZ_PROBE_EMPTY

TZ_KERNEL(tz_probe, TZ_THREADS)() {}

#elif TZ_PROBE == TZ_PROBE_SYNC

TZ_KERNEL(tz_probe, TZ_THREADS)(tz_word *cycles, tz_word *barrier, int rounds)
{
    tz_grid_barrier(barrier);
    const long long begin = tz_clock();
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
        tz_grid_barrier(barrier);
    if (tz_thread() == 0)
        cycles[tz_block(0)] = (tz_word)(tz_clock() - begin);
}

#elif TZ_PROBE == TZ_PROBE_PASS

/* Blocks 2k and 2k + 1 exchange words. Each has a slot of 128 bytes. `tag` is the tag of the first
 * word. It is greater than all tags of earlier launches, whose words are still in the slots. */
TZ_DEVICE void await(const unsigned long long *slot, tz_word tag)
{
    unsigned long long value = (unsigned long long)~tag << 32;
    for (tz_peek(slot, tag, value); (tz_word)(value >> 32) != tag; tz_peek(slot, tag, value))
        tz_pause();
}
TZ_KERNEL(tz_probe, TZ_THREADS)
(tz_word *cycles, unsigned long long *slots, tz_word *barrier, int rounds, tz_word tag)
{
    const int block = tz_block(0), other = block ^ 1;
    tz_grid_barrier(barrier);
    if (tz_thread() == 0) {
        const long long begin = tz_clock();
        if (other < tz_blocks(0)) {
#pragma unroll 1
            for (int r = 0; r < rounds; r++) {
                if (block < other) {
                    tz_send(slots + 16 * other, (tz_word)r, tag + r);
                    await(slots + 16 * block, tag + r);
                } else {
                    await(slots + 16 * block, tag + r);
                    tz_send(slots + 16 * other, (tz_word)r, tag + r);
                }
            }
        }
        cycles[block] = (tz_word)(tz_clock() - begin);
    }
}

#endif
