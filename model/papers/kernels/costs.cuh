/* model/papers/kernels: what the costs of instructions are measured with. TZ_PROBE picks one:
 *
 *   TZ_PROBE_COST    TZ_STEPS steps a round of two instructions of PTX that wait for each other:
 *   one
 *                    that leaves the word as it is, which the assembler cannot know, and TZ_COST.
 *   TZ_PROBE_PERIODS computation and memory in turn: TZ_STEPS additions that wait for each other,
 *   then
 *                    a load that waits for them. Each load is of a line that was not read lately.
 *
 * `cycles`: clocks of each block, from before its first round to after its last round. */
#include "device.cuh"

#define TZ_PROBE_COST 1
#define TZ_PROBE_PERIODS 2

/* PTX that changes `x`, %0, and reads `y` and `z`, %1 and %2, all of them words, and memory at
 * `at`, %3. The compiler neither drops nor moves it; the assembler may. */
#define TZ_PTX(text, x, y, z, at) asm volatile(text : "+r"(x) : "r"(y), "r"(z), "l"(at) : "memory")

#if TZ_PROBE == TZ_PROBE_COST

/* `keep` is 0x3210: the bytes in their order. */
TZ_KERNEL(tz_probe, TZ_THREADS)
(tz_word *cycles, tz_word *out, int rounds, tz_word keep, tz_word x, tz_word y)
{
    if (tz_thread() == 0)
        tz_put((tz_word *)tz_shared(), 0u);
    out[tz_block(0) * TZ_THREADS + tz_thread()] = 0;
    tz_barrier();
    const long long begin = tz_clock();
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int s = 0; s < TZ_STEPS; s++) {
            TZ_PTX("prmt.b32 %0, %0, %1, %2;", x, y, keep, out);
            TZ_PTX(TZ_COST, x, y, keep, out);
        }
    }
    const long long end = tz_clock();
    if (tz_thread() == 0)
        cycles[tz_block(0)] = (tz_word)(end - begin);
    out[tz_block(0) * TZ_THREADS + tz_thread()] = x;
}

#elif TZ_PROBE == TZ_PROBE_PERIODS

/* `table` has mask + 1 bytes, a power of two below 2^31, all 0. `zero` is 0, and addresses depend
 * on whether the sums are. A round reads a word for each thread of the grid, the next round the
 * words after these. */
TZ_KERNEL(tz_probe, TZ_THREADS)
(tz_word *cycles, tz_word *out, const unsigned char *table, int rounds, tz_word first, tz_word mask,
 float zero)
{
    const tz_word row = (tz_word)(tz_blocks(0) * tz_threads()) * 4u;
    tz_word at = first + (tz_word)(tz_block(0) * tz_threads() + tz_thread()) * 4u;
    float sum = zero;
    tz_barrier();
    const long long begin = tz_clock();
#pragma unroll 1
    for (int r = 0; r < rounds; r++, at += row) {
        float here[1];
#pragma unroll
        for (int s = 0; s < TZ_STEPS; s++)
            sum = sum + zero;
        tz_load_fresh((const float *)(table + ((at + ((tz_word)(sum != zero) << 31)) & mask)),
                      here);
        sum = sum + here[0];
    }
    tz_barrier();
    const long long end = tz_clock();
    if (tz_thread() == 0)
        cycles[tz_block(0)] = (tz_word)(end - begin);
    out[tz_block(0) * tz_threads() + tz_thread()] = sum != zero;
}

#endif
