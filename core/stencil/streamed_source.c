/* The rows of a streamed field: from an array, or random ones. Called by stages. */
#include "stencil/streamed_source.h"

#include "base/random.h"

/* Counters are mixed, so the number of a cell and step does not depend on the order in which
 * numbers are computed. */
static inline uint64_t step_key(uint64_t seed, int64_t step)
{
    return tz_random_mix(tz_random_mix(seed + TZ_RANDOM_STEP) ^ (uint64_t)step);
}

static inline uint64_t cell_bits(uint64_t key, int64_t index)
{
    return tz_random_mix(key + TZ_RANDOM_STEP * (uint64_t)index);
}

uint64_t tz_random_bits(uint64_t seed, int64_t step, int64_t index)
{
    return cell_bits(step_key(seed, step), index);
}

static inline int32_t in_range(uint64_t bits, int64_t low, uint64_t span)
{
    return (int32_t)(low + (int64_t)((bits >> 32) * span >> 32));
}

int32_t tz_random_int(const tz_random *random, int64_t step, int64_t index)
{
    const int64_t low = (int64_t)random->low;
    return in_range(tz_random_bits(random->seed, step, index), low,
                    (uint64_t)((int64_t)random->high - low + 1));
}

static void fill_row(const tz_streamed_source *source, int64_t step, int64_t x, int64_t count,
                     int32_t *row)
{
    if (source->data) {
        const int32_t *data = source->data + step * source->cells;
        for (int64_t i = 0; i < count; i++)
            row[i] = data[x + i];
        return;
    }
    const uint64_t key = step_key(source->random.seed, step);
    const int64_t low = (int64_t)source->random.low;
    const uint64_t span = (uint64_t)((int64_t)source->random.high - low + 1);
    for (int64_t i = 0; i < count; i++)
        row[i] = in_range(cell_bits(key, x + i), low, span);
}

const void *tz_streamed_source_row(const void *any, int64_t step, int64_t x, int64_t count,
                                   int32_t *scratch)
{
    const tz_streamed_source *source = any;
    const int64_t n = source->cells;
    x += source->first;
    if (x >= 0 && x + count <= n) {
        if (source->data)
            return source->data + step * n + x;
        fill_row(source, step, x, count, scratch);
        return scratch;
    }
    for (int64_t i = 0; i < count;) {
        if (!tz_boundary_wraps(source->boundary) && (x + i < 0 || x + i >= n)) {
            scratch[i++] = 0; /* outside the grid: never used */
            continue;
        }
        const int64_t wrapped = tz_boundary_wrap(x + i, n);
        const int64_t run = n - wrapped < count - i ? n - wrapped : count - i;
        fill_row(source, step, wrapped, run, scratch + i);
        i += run;
    }
    return scratch;
}
