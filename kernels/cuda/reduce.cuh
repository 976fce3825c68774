/* kernels/cuda: reductions and pictures of a field. core/backend/host/reduce.h and
 * core/base/average.h define the bits of the results.
 *
 * Defined by C:
 *
 *   TZ_CELL       type of an element; a word for bits
 *   TZ_MEMORY     the same in memory (stored.cuh)
 *   TZ_CELL_BITS  1 for bits, else 0
 *   TZ_CELL_REAL  1 for float and double, else 0
 *   TZ_CELL_WORD  the unsigned integer as wide as an element
 *   TZ_SEGMENT    columns of a segment
 *   TZ_ONLY       the one kernel to compile; if not defined, all
 *
 * Element (x, y, z) is at x + pitch*y + plane*z; nothing past a row's end is read. Each warp works
 * on its own groups of segments. A lane has the elements lane, lane + 32, ... of a segment and
 * loads TZ_BATCH of them at once. */
#include "stored.cuh"
#include "values.cuh"

#define TZ_NUMBERS 1
#define TZ_FINITE 2
#define TZ_DIFFERENCE 3
#define TZ_SHRINK 4
#ifdef TZ_ONLY
#define TZ_HAS(kernel) (TZ_ONLY == kernel)
#else
#define TZ_HAS(kernel) 1
#endif

#define TZ_BATCH 8

/* The result of all warps. The host sets the starting values. */
struct tz_record {
    long long low, high;  /* as tz_ordered() gives them; high: of the negated values */
    long long first;      /* index of the first cell that is not finite */
    long long difference; /* bits of the greatest difference, negated */
    unsigned long long population, not_finite, hash;
};

struct tz_reduce_arguments {
    const TZ_MEMORY *cells;
    const TZ_MEMORY *other; /* the field to compare with */
    long long pitch, plane; /* elements to the next row and plane */
    long long elements;     /* of a row */
    long long columns;      /* cells of a row: more than elements for bits */
    long long rows, planes;
    long long group; /* segments of a group: 1, 2, 4, ... 32 */
    double *sums;    /* of each group */
    tz_record *record;
    long long first; /* the number of the first cell, in grid order */
};

/* ---- Values ---------------------------------------------------------------------------------- */

TZ_DEVICE unsigned long long tz_mix(unsigned long long z)
{
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93ull;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93ull;
    return z ^ (z >> 32);
}

TZ_DEVICE double tz_infinity()
{
    return tz_from_bits(0x7ff0000000000000ull);
}

/* The bits of all NaNs in a hash. */
TZ_DEVICE TZ_CELL_WORD tz_one_nan()
{
    return (TZ_CELL_WORD)(sizeof(TZ_CELL) == 4 ? 0x7fc00000ull : 0x7ff8000000000000ull);
}

TZ_DEVICE TZ_CELL_WORD tz_cell_bits(TZ_CELL value)
{
    union {
        TZ_CELL c;
        TZ_CELL_WORD u;
    } both;
    both.c = value;
    return both.u;
}

TZ_DEVICE bool tz_cell_finite(TZ_CELL value)
{
    return !TZ_CELL_REAL || value - value == 0;
}

/* An integer that grows with the number. */
TZ_DEVICE long long tz_ordered(double value)
{
    const long long bits = (long long)tz_bits_of(value);
    return bits < 0 ? bits ^ 0x7fffffffffffffffll : bits;
}

/* The number of the one bit that is set. */
TZ_DEVICE int tz_bit_place(tz_word one)
{
    union {
        float f;
        tz_word u;
    } both;
    both.f = (float)one;
    return (int)(both.u >> 23) - 127;
}

/* ---- Walking --------------------------------------------------------------------------------- */

/* Where a segment begins. */
struct tz_walk {
    long long x, y;
    long long row;    /* of all planes */
    long long offset; /* of the row's first element */
};

TZ_DEVICE long long tz_segments_of_row(const tz_reduce_arguments &a)
{
    return (a.elements + TZ_SEGMENT - 1) / TZ_SEGMENT;
}

TZ_DEVICE tz_walk tz_walk_from(const tz_reduce_arguments &a, long long segment)
{
    tz_walk at;
    const long long of_row = tz_segments_of_row(a);
    at.row = segment / of_row;
    at.x = (segment - at.row * of_row) * TZ_SEGMENT;
    const long long z = at.row / a.rows;
    at.y = at.row - z * a.rows;
    at.offset = at.y * a.pitch + z * a.plane;
    return at;
}

TZ_DEVICE void tz_walk_on(const tz_reduce_arguments &a, tz_walk &at)
{
    at.x += TZ_SEGMENT;
    if (at.x < a.elements)
        return;
    at.x = 0;
    at.y++;
    at.row++;
    at.offset += a.pitch;
    if (at.y < a.rows)
        return;
    at.y = 0;
    at.offset += a.plane - a.rows * a.pitch;
}

/* Elements of a segment. */
TZ_DEVICE int tz_walk_count(const tz_reduce_arguments &a, const tz_walk &at)
{
    const long long left = a.elements - at.x;
    return left < TZ_SEGMENT ? (int)left : TZ_SEGMENT;
}

/* A warp's groups: from, from + step, ... The last group of all may be short. */
struct tz_share {
    long long segments, groups, from, step;
};

TZ_DEVICE tz_share tz_share_of_warp(const tz_reduce_arguments &a)
{
    tz_share share;
    const int warps = tz_threads() / 32;
    share.segments = tz_segments_of_row(a) * a.rows * a.planes;
    share.groups = (share.segments + a.group - 1) / a.group;
    share.from = (long long)tz_block(0) * warps + tz_warp();
    share.step = (long long)tz_blocks(0) * warps;
    return share;
}

TZ_DEVICE int tz_group_count(const tz_reduce_arguments &a, const tz_share &share, long long group)
{
    const long long left = share.segments - group * a.group;
    return (int)(left < a.group ? left : a.group);
}

/* A lane's next TZ_BATCH elements of a segment, from element i on; zeros past its end. */
TZ_DEVICE void tz_take(const TZ_MEMORY *from, int i, int count, TZ_CELL (&to)[TZ_BATCH])
{
#pragma unroll
    for (int k = 0; k < TZ_BATCH; k++)
        to[k] = i + 32 * k < count ? (TZ_CELL)tz_load_one(from + i + 32 * k) : (TZ_CELL)0;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

#if TZ_HAS(TZ_NUMBERS)
#if TZ_CELL_BITS
TZ_KERNEL_MANY(tz_numbers, 256, 3)(const tz_reduce_arguments a)
{
    const tz_share share = tz_share_of_warp(a);
    const int lane = tz_lane(), full = (int)(a.columns / a.elements);
    const long long rest = a.columns - full * a.elements;
    const unsigned long long bits = tz_mix(1);
    unsigned long long population = 0, hash = 0;
    for (long long group = share.from; group < share.groups; group += share.step) {
        const int segments = tz_group_count(a, share, group);
        tz_walk at = tz_walk_from(a, group * a.group);
        for (int s = 0; s < segments; s++, tz_walk_on(a, at)) {
            const TZ_MEMORY *from = a.cells + at.offset + at.x;
            const int count = tz_walk_count(a, at);
            const unsigned long long index =
                bits + (unsigned long long)(a.first + at.row * a.columns + at.x);
            for (int i = lane; i - lane < count; i += 32 * TZ_BATCH) {
                TZ_CELL words[TZ_BATCH];
                tz_take(from, i, count, words);
#pragma unroll
                for (int k = 0; k < TZ_BATCH; k++) {
                    const int place = i + 32 * k;
                    tz_word word = words[k] & tz_cells_of_word(full, rest, at.x + place);
                    while (word) {
                        const tz_word one = word & (0u - word);
                        const long long column = tz_bit_place(one) * a.elements + place;
                        hash += tz_mix(index + (unsigned long long)column);
                        population++;
                        word ^= one;
                    }
                }
            }
        }
    }
    population = tz_add_lanes(population);
    hash = tz_add_lanes(hash);
    if (lane == 0 && population) {
        tz_atomic_add_u64(&a.record->population, population);
        tz_atomic_add_u64(&a.record->hash, hash);
    }
}
#else
TZ_KERNEL_MANY(tz_numbers, 256, 3)(const tz_reduce_arguments a)
{
    const tz_share share = tz_share_of_warp(a);
    const int lane = tz_lane();
    /* A lane without cells keeps values that no cell exceeds. */
    TZ_CELL low = TZ_CELL_REAL ? (TZ_CELL)tz_infinity() : (TZ_CELL)2147483647;
    TZ_CELL high = TZ_CELL_REAL ? (TZ_CELL)-tz_infinity() : (TZ_CELL)(-2147483647 - 1);
    unsigned long long population = 0, not_finite = 0, hash = 0;
    long long first = 0x7fffffffffffffffll;
    for (long long group = share.from; group < share.groups; group += share.step) {
        const int segments = tz_group_count(a, share, group);
        tz_walk at = tz_walk_from(a, group * a.group);
        double mine = 0.0; /* lane k: the sum of segment k */
        for (int s = 0; s < segments; s++, tz_walk_on(a, at)) {
            const TZ_MEMORY *from = a.cells + at.offset + at.x;
            const int count = tz_walk_count(a, at);
            const long long index = a.first + at.row * a.columns + at.x;
            double sum = 0.0;
            int filled = 0, odd = 0;
            for (int i = lane; i - lane < count; i += 32 * TZ_BATCH) {
                TZ_CELL cells[TZ_BATCH];
                tz_take(from, i, count, cells);
                int odd_here = 0;
#pragma unroll
                for (int k = 0; k < TZ_BATCH; k++) {
                    const TZ_CELL value = cells[k];
                    const TZ_CELL_WORD word = value == value ? tz_cell_bits(value) : tz_one_nan();
                    const bool finite = tz_cell_finite(value);
                    const bool there = i + 32 * k < count;
                    sum += (double)value; /* zeros past the end change nothing, here and below */
                    low = there && finite && value < low ? value : low;
                    high = there && finite && value > high ? value : high;
                    filled += value != 0;
                    odd_here += !finite;
                    const unsigned long long hashed =
                        tz_mix(tz_mix(word) + (unsigned long long)(index + i + 32 * k));
                    hash += word ? hashed : 0;
                }
                if (odd_here) {
#pragma unroll
                    for (int k = TZ_BATCH - 1; k >= 0; k--)
                        if (!tz_cell_finite(cells[k]) && index + i + 32 * k < first)
                            first = index + i + 32 * k;
                    odd += odd_here;
                }
            }
            population += (unsigned long long)filled;
            not_finite += (unsigned long long)odd;
            for (int n = 16; n >= 1; n /= 2)
                sum += tz_shuffle_down(sum, n);
            sum = tz_shuffle(sum, 0);
            mine = lane == s ? sum : mine;
        }
        for (int n = 1; n < segments; n *= 2)
            mine += tz_shuffle_down(mine, n); /* lanes without a segment have 0 */
        if (lane == 0)
            tz_store_one(a.sums + group, mine);
    }
    const long long lowest = tz_min_lanes(tz_ordered((double)low));
    const long long highest = tz_min_lanes(tz_ordered(-(double)high));
    population = tz_add_lanes(population);
    not_finite = tz_add_lanes(not_finite);
    hash = tz_add_lanes(hash);
    first = tz_min_lanes(first);
    if (lane == 0 && share.from < share.groups) {
        tz_atomic_min_i64(&a.record->low, lowest);
        tz_atomic_min_i64(&a.record->high, highest);
        tz_atomic_add_u64(&a.record->population, population);
        tz_atomic_add_u64(&a.record->hash, hash);
        if (not_finite) {
            tz_atomic_add_u64(&a.record->not_finite, not_finite);
            tz_atomic_min_i64(&a.record->first, first);
        }
    }
}
#endif
#endif

/* Are there cells that are not finite? */
#if TZ_HAS(TZ_FINITE) && TZ_CELL_REAL
TZ_KERNEL_MANY(tz_finite, 256, 4)(const tz_reduce_arguments a)
{
    const tz_share share = tz_share_of_warp(a);
    const int lane = tz_lane();
    unsigned long long not_finite = 0;
    for (long long group = share.from; group < share.groups; group += share.step) {
        const int segments = tz_group_count(a, share, group);
        tz_walk at = tz_walk_from(a, group * a.group);
        for (int s = 0; s < segments; s++, tz_walk_on(a, at)) {
            const TZ_MEMORY *from = a.cells + at.offset + at.x;
            const int count = tz_walk_count(a, at);
            int odd = 0;
            for (int i = lane; i - lane < count; i += 32 * TZ_BATCH) {
                TZ_CELL cells[TZ_BATCH];
                tz_take(from, i, count, cells);
#pragma unroll
                for (int k = 0; k < TZ_BATCH; k++)
                    odd += !tz_cell_finite(cells[k]);
            }
            not_finite += (unsigned long long)odd;
        }
    }
    not_finite = tz_add_lanes(not_finite);
    if (lane == 0 && not_finite)
        tz_atomic_add_u64(&a.record->not_finite, not_finite);
}
#endif

/* The greatest difference of two fields; a NaN is infinite. Bits: 0 or 1. */
#if TZ_HAS(TZ_DIFFERENCE)
TZ_DEVICE double tz_cell_difference(TZ_CELL p, TZ_CELL q, tz_word cells)
{
#if TZ_CELL_BITS
    return (p ^ q) & cells ? 1.0 : 0.0;
#else
    (void)cells;
    const double d = (double)p - (double)q;
    return d == d ? (d < 0.0 ? -d : d) : tz_infinity();
#endif
}

TZ_KERNEL_MANY(tz_difference, 256, 4)(const tz_reduce_arguments a)
{
    const tz_share share = tz_share_of_warp(a);
    const int lane = tz_lane(), full = (int)(a.columns / a.elements);
    const long long rest = a.columns - full * a.elements;
    double largest = 0.0;
    for (long long group = share.from; group < share.groups; group += share.step) {
        const int segments = tz_group_count(a, share, group);
        tz_walk at = tz_walk_from(a, group * a.group);
        for (int s = 0; s < segments; s++, tz_walk_on(a, at)) {
            const TZ_MEMORY *p = a.cells + at.offset + at.x, *q = a.other + at.offset + at.x;
            const int count = tz_walk_count(a, at);
            for (int i = lane; i - lane < count; i += 32 * TZ_BATCH) {
                TZ_CELL old[TZ_BATCH], now[TZ_BATCH];
                tz_take(p, i, count, old);
                tz_take(q, i, count, now);
#pragma unroll
                for (int k = 0; k < TZ_BATCH; k++) {
                    const double d = tz_cell_difference(
                        old[k], now[k], tz_cells_of_word(full, rest, at.x + i + 32 * k));
                    largest = d > largest ? d : largest;
                }
            }
        }
    }
    /* It is not negative: its bits grow with it. */
    const long long lowest = tz_min_lanes(-(long long)tz_bits_of(largest));
    if (lane == 0 && lowest < 0)
        tz_atomic_min_i64(&a.record->difference, lowest);
}
#endif

/* ---- Pictures -------------------------------------------------------------------------------- */

#if TZ_HAS(TZ_SHRINK)
struct tz_shrink_arguments {
    const TZ_MEMORY *cells; /* of the plane */
    long long pitch;
    long long elements;    /* of a row */
    int width;             /* lanes for a value: 1, 2, 4, ... 32 */
    int steps;             /* columns that a lane may have; 1 if a value has at most `width` */
    int nx, ny;            /* values */
    int strands;           /* values that are made of the same words: 32 for bits, else 1 */
    int apart;             /* nx / strands, rounded up */
    const double *edges_x; /* nx + 1 */
    const double *edges_y; /* ny + 1 */
    double *values;
};

struct tz_span {
    long long first, last;
    double first_weight, last_weight, width;
};

TZ_DEVICE tz_span tz_span_between(double a, double b)
{
    tz_span span;
    const long long under = (long long)b;
    span.first = (long long)a;
    span.last = (double)under < b ? under : under - 1;
    span.first_weight = (double)(span.first + 1) - a;
    span.last_weight = b - (double)span.last;
    span.width = b - a;
    if (span.first >= span.last) {
        span.last = span.first;
        span.first_weight = span.last_weight = span.width = 1.0;
    }
    return span;
}

TZ_DEVICE double tz_span_weight(const tz_span &span, long long k)
{
    return k == span.first ? span.first_weight : k == span.last ? span.last_weight : 1.0;
}

/* The sums over a value's rows, of COLUMNS of its columns, 32 apart. */
template <int COLUMNS, int ROWS>
TZ_DEVICE void tz_sum_columns(const tz_shrink_arguments &a, const tz_span &across,
                              const tz_span &down, long long x, double (&sums)[COLUMNS])
{
    const TZ_MEMORY *from[COLUMNS];
    bool there[COLUMNS];
    int bit[COLUMNS];
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        there[c] = x + 32 * c <= across.last;
        long long column = there[c] ? x + 32 * c : across.first;
        bit[c] = 0;
        if (TZ_CELL_BITS) {
            bit[c] = (int)(column / a.elements);
            column -= bit[c] * a.elements;
        }
        from[c] = a.cells + down.first * a.pitch + column;
        sums[c] = 0.0;
    }
    for (long long y = down.first; y <= down.last; y += ROWS) {
        TZ_CELL cells[ROWS][COLUMNS];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int c = 0; c < COLUMNS; c++)
                cells[r][c] = there[c] && y + r <= down.last
                                  ? (TZ_CELL)tz_load_one(from[c] + r * a.pitch)
                                  : (TZ_CELL)0;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const double weight = tz_span_weight(down, y + r);
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                const double value = TZ_CELL_BITS
                                         ? (double)(int)((tz_word)cells[r][c] >> bit[c] & 1u)
                                         : (double)cells[r][c];
                sums[c] += weight * value; /* past the last row: zeros */
            }
        }
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            from[c] += ROWS * a.pitch;
    }
}

TZ_KERNEL_MANY(tz_shrink, 256, 3)(const tz_shrink_arguments a)
{
    const int lane = tz_lane() & (a.width - 1), base = tz_lane() - lane;
    const int warp = tz_block(0) * (tz_threads() / 32) + tz_warp();
    /* Values in the order of work: first `strands` of them, `apart` columns from each other, which
     * read the same words; then their neighbours. */
    const int number = warp * (32 / a.width) + tz_lane() / a.width, line = a.apart * a.strands;
    const int j = number / line, rest = number - j * line;
    const int i = rest % a.strands * a.apart + rest / a.strands;
    const bool there = i < a.nx && j < a.ny;
    tz_span across = tz_span_between(0.0, 0.0), down = across;
    if (there) {
        across = tz_span_between(tz_load_one(a.edges_x + i), tz_load_one(a.edges_x + i + 1));
        down = tz_span_between(tz_load_one(a.edges_y + j), tz_load_one(a.edges_y + j + 1));
    }
    double mine = 0.0;
    if (there && across.first + lane <= across.last) {
        if (a.steps == 1) {
            double sum[1];
            tz_sum_columns<1, 8>(a, across, down, across.first + lane, sum);
            mine += tz_span_weight(across, across.first + lane) * sum[0];
        } else {
            for (long long x = across.first + lane; x <= across.last; x += 32 * 4) {
                double sums[4];
                if (down.first == down.last)
                    tz_sum_columns<4, 1>(a, across, down, x, sums);
                else
                    tz_sum_columns<4, 2>(a, across, down, x, sums);
#pragma unroll
                for (int c = 0; c < 4; c++)
                    if (x + 32 * c <= across.last)
                        mine += tz_span_weight(across, x + 32 * c) * sums[c];
            }
        }
    }
    double total = 0.0;
    for (int k = 0; k < a.width; k++)
        total += tz_shuffle(mine, base + k);
    if (there && lane == 0)
        tz_store_one(a.values + (long long)j * a.nx + i, total / (across.width * down.width));
}
#endif
