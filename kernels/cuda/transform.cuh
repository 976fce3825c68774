/* kernels/cuda: cosine and sine transforms, as what is done before and after a Fourier transform of
 * about the same length (core/backend/cuda/spectral/transform.h). All numbers are doubles.
 *
 * Rows of an axis lie one after the other in memory. A row of n values becomes a row of m complex
 * numbers z, or of n real numbers v, which cuFFT transforms; its results give the amplitudes. Two
 * results and two amplitudes belong together: a pair, number p. With w = exp(-i angle), of a table:
 *
 *   TZ_CLAMPS   cosines of half samples, as Makhoul (1980): v has the even values, then the odd
 *               ones backwards; X[p] - i X[n-p] = w[p] V[p], p = 0 .. n/2, angle = pi p / (2 n)
 *   TZ_MIRRORS  cosines of whole samples, m = n - 1: z[p] = (x[p] + x[m-p]) + i w[p] (x[p] -
 *               x[m-p]); Z[p] = X[2p] + i X[2p+1], angle = pi p / m
 *   TZ_FIXES    sines, m = n + 1, x and X counted from 1: z[p] = (x[p] - x[m-p]) + i w[p] (x[p] +
 *               x[m-p]); Z[p] = X[2p+1] - i X[2p]
 *
 * All are sums and rotations: no digit is lost. After the amplitudes are found, rows become
 * columns, so that the next axis has its rows one after the other; the way back reads columns. */
#include "values.cuh"

#define TZ_COPIES 0
#define TZ_CLAMPS 1
#define TZ_MIRRORS 2
#define TZ_FIXES 3

#define TZ_TILE 32 /* rows and pairs that a block turns at once */
#define TZ_TILE_PITCH (TZ_TILE + 1)
#define TZ_TILE_THREADS 256

struct tz_transform_arguments {
    const double *from;
    double *to;
    const double *table; /* cosine and sine of each angle */
    long long rows, n, m, pairs;
    long long pitch; /* doubles from a row to the next */
    long long inner,
        between;     /* columns: `inner` of them one after the other, so many to the next group */
    long long apart; /* doubles from one value of a column to the next */
    int kind;
};

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* Where the two amplitudes of a pair are in a row; -1: there is none. */
struct tz_pair_places {
    long long a, b;
};
TZ_DEVICE tz_pair_places tz_places_of(const tz_transform_arguments &t, long long p)
{
    tz_pair_places at = {p, -1};
    if (t.kind == TZ_CLAMPS) {
        at.b = p > 0 && 2 * p != t.n ? t.n - p : -1;
    } else if (t.kind == TZ_MIRRORS) {
        at.a = 2 * p;
        at.b = 2 * p + 1 < t.n ? 2 * p + 1 : -1;
    } else if (t.kind == TZ_FIXES) {
        at.a = 2 * p < t.m ? 2 * p - 1 : -1;
        at.b = 2 * p + 1 < t.m ? 2 * p : -1;
    }
    return at;
}

struct tz_two {
    double a, b;
};
/* Amplitudes of a transformed pair, or with TZ_COPIES the value itself. */
TZ_DEVICE tz_two tz_amplitudes(const tz_transform_arguments &t, long long p, const double *row)
{
    double z[2];
    if (t.kind == TZ_COPIES)
        return tz_two{tz_load_one(row + p), 0.0};
    tz_load(row + 2 * p, z);
    if (t.kind == TZ_MIRRORS)
        return tz_two{z[0], z[1]};
    if (t.kind == TZ_FIXES)
        return tz_two{-z[1], z[0]};
    double w[2];
    tz_load(t.table + 2 * p, w);
    return tz_two{w[0] * z[0] + w[1] * z[1], w[1] * z[0] - w[0] * z[1]};
}

/* Writes z[p] and z[m-p] from the values of places p and m-p. */
TZ_DEVICE void tz_fold(const tz_transform_arguments &t, long long p, double x, double y,
                       double *row)
{
    const double sum = x + y, difference = x - y;
    const double even = t.kind == TZ_MIRRORS ? sum : difference;
    const double odd = t.kind == TZ_MIRRORS ? difference : sum;
    double w[2];
    tz_load(t.table + 2 * p, w);
    const double re = odd * w[1], im = odd * w[0];
    const double first[2] = {even + re, im};
    tz_store(row + 2 * p, first);
    if (p == 0 || 2 * p == t.m)
        return;
    /* At m - p the angle is pi less this one, and the difference has the other sign. */
    const double other[2] = {t.kind == TZ_MIRRORS ? even - re : re - even,
                             t.kind == TZ_MIRRORS ? im : -im};
    tz_store(row + 2 * (t.m - p), other);
}

/* Where values p and m-p are in a row; -1: that value is 0. */
TZ_DEVICE tz_pair_places tz_values_of(const tz_transform_arguments &t, long long p)
{
    if (t.kind == TZ_FIXES)
        return tz_pair_places{p - 1, p > 0 ? t.m - p - 1 : -1};
    return tz_pair_places{p, t.m - p};
}

/* Items of rows: blocks of the second axis take rows in turns, the others parts of a row. No
 * division is needed, which would take longer than the memory. */
#define TZ_FOR_ROWS(row, rows, i, count)                                                           \
    for (long long row = tz_block(1); row < (rows); row += tz_blocks(1))                           \
        for (long long i = (long long)tz_block(0) * tz_threads() + tz_thread(); i < (count);       \
             i += (long long)tz_blocks(0) * tz_threads())

/* ---- Rows to rows ---------------------------------------------------------------------------- */

/* Values to what is transformed. */
TZ_KERNEL(tz_rows_before, 256)(const TZ_UNCOPIED tz_transform_arguments t)
{
    TZ_FOR_ROWS(row, t.rows, p, t.pairs)
    {
        const double *from = t.from + row * t.n;
        double *to = t.to + row * t.pitch;
        if (t.kind == TZ_CLAMPS) {
            if (2 * p < t.n)
                tz_store_one(to + p, tz_load_one(from + 2 * p));
            if (2 * p + 1 < t.n)
                tz_store_one(to + t.n - 1 - p, tz_load_one(from + 2 * p + 1));
        } else {
            const tz_pair_places at = tz_values_of(t, p);
            tz_fold(t, p, at.a < 0 ? 0.0 : tz_load_one(from + at.a),
                    at.b < 0 ? 0.0 : tz_load_one(from + at.b), to);
        }
    }
}

/* What was transformed back to values. */
TZ_KERNEL(tz_rows_after, 256)(const TZ_UNCOPIED tz_transform_arguments t)
{
    TZ_FOR_ROWS(row, t.rows, p, t.pairs)
    {
        const double *from = t.from + row * t.pitch;
        double *to = t.to + row * t.n;
        if (t.kind == TZ_CLAMPS) {
            if (2 * p < t.n)
                tz_store_one(to + 2 * p, tz_load_one(from + p));
            if (2 * p + 1 < t.n)
                tz_store_one(to + 2 * p + 1, tz_load_one(from + t.n - 1 - p));
        } else {
            const tz_pair_places at = tz_places_of(t, p);
            const tz_two x = tz_amplitudes(t, p, from);
            if (at.a >= 0)
                tz_store_one(to + at.a, x.a);
            if (at.b >= 0)
                tz_store_one(to + at.b, x.b);
        }
    }
}

/* ---- Rows to columns and back ---------------------------------------------------------------- */

struct tz_tile_place {
    long long row, p;
};
/* Tiles of the same pairs follow each other: their columns lie side by side. */
TZ_DEVICE tz_tile_place tz_tile_at(const tz_transform_arguments &t, long long tile)
{
    const long long down = (t.rows + TZ_TILE - 1) / TZ_TILE, across = tile / down;
    return tz_tile_place{(tile - across * down) * TZ_TILE, across * TZ_TILE};
}
TZ_DEVICE long long tz_tiles(const tz_transform_arguments &t)
{
    return (t.rows + TZ_TILE - 1) / TZ_TILE * ((t.pairs + TZ_TILE - 1) / TZ_TILE);
}
TZ_DEVICE long long tz_column(const tz_transform_arguments &t, long long row)
{
    return row / t.inner * t.between + row % t.inner;
}

/* What was transformed to amplitudes in columns. */
TZ_KERNEL(tz_columns_after, TZ_TILE_THREADS)(const TZ_UNCOPIED tz_transform_arguments t)
{
    double *a = (double *)tz_shared(), *b = a + TZ_TILE * TZ_TILE_PITCH;
    const int lane = tz_lane(), first = tz_thread() / TZ_TILE, step = TZ_TILE_THREADS / TZ_TILE;
    for (long long tile = tz_block(0); tile < tz_tiles(t); tile += tz_blocks(0)) {
        const tz_tile_place at = tz_tile_at(t, tile);
        for (int k = first; k < TZ_TILE; k += step)
            if (at.row + k < t.rows && at.p + lane < t.pairs) {
                const tz_two x = tz_amplitudes(t, at.p + lane, t.from + (at.row + k) * t.pitch);
                tz_put(a + lane * TZ_TILE_PITCH + k, x.a);
                tz_put(b + lane * TZ_TILE_PITCH + k, x.b);
            }
        tz_barrier();
        double *column = t.to + tz_column(t, at.row + lane);
        for (int k = first; k < TZ_TILE; k += step)
            if (at.row + lane < t.rows && at.p + k < t.pairs) {
                const tz_pair_places to = tz_places_of(t, at.p + k);
                if (to.a >= 0)
                    tz_store_one(column + to.a * t.apart, tz_get(a + k * TZ_TILE_PITCH + lane));
                if (to.b >= 0)
                    tz_store_one(column + to.b * t.apart, tz_get(b + k * TZ_TILE_PITCH + lane));
            }
        tz_barrier();
    }
}

/* Amplitudes in columns to what is transformed back. */
TZ_KERNEL(tz_columns_before, TZ_TILE_THREADS)(const TZ_UNCOPIED tz_transform_arguments t)
{
    double *a = (double *)tz_shared(), *b = a + TZ_TILE * TZ_TILE_PITCH;
    const int lane = tz_lane(), first = tz_thread() / TZ_TILE, step = TZ_TILE_THREADS / TZ_TILE;
    const bool folds = t.kind == TZ_MIRRORS || t.kind == TZ_FIXES;
    for (long long tile = tz_block(0); tile < tz_tiles(t); tile += tz_blocks(0)) {
        const tz_tile_place at = tz_tile_at(t, tile);
        const double *column = t.from + tz_column(t, at.row + lane);
        for (int k = first; k < TZ_TILE; k += step)
            if (at.row + lane < t.rows && at.p + k < t.pairs) {
                tz_pair_places from = tz_places_of(t, at.p + k);
                if (folds)
                    from = tz_values_of(t, at.p + k);
                else if (t.kind == TZ_CLAMPS && 2 * (at.p + k) == t.n)
                    from.b = from.a;
                tz_put(a + k * TZ_TILE_PITCH + lane,
                       from.a < 0 ? 0.0 : tz_load_one(column + from.a * t.apart));
                tz_put(b + k * TZ_TILE_PITCH + lane,
                       from.b < 0 ? 0.0 : tz_load_one(column + from.b * t.apart));
            }
        tz_barrier();
        const long long p = at.p + lane;
        for (int k = first; k < TZ_TILE; k += step)
            if (at.row + k < t.rows && p < t.pairs) {
                const double x = tz_get(a + lane * TZ_TILE_PITCH + k);
                const double y = tz_get(b + lane * TZ_TILE_PITCH + k);
                double *row = t.to + (at.row + k) * t.pitch;
                if (folds) {
                    tz_fold(t, p, x, y, row);
                } else if (t.kind == TZ_CLAMPS) {
                    double w[2];
                    tz_load(t.table + 2 * p, w);
                    const double z[2] = {w[0] * x + w[1] * y, w[1] * x - w[0] * y};
                    tz_store(row + 2 * p, z);
                } else {
                    tz_store_one(row + p, x);
                }
            }
        tz_barrier();
    }
}

/* ---- Fields ---------------------------------------------------------------------------------- */

/* A field in rows of doubles, and back with one rounding. Cell (x, y, z) of the field is at
 * x*apart[0] + y*apart[1] + z*apart[2]; in rows it is at x + pitch*(y + n[1]*z). */
struct tz_field_arguments {
    void *field;
    double *rows;
    long long n[3], apart[3];
    long long pitch;
    int is_double;
};

/* Where a row begins in the field. */
TZ_DEVICE long long tz_field_row(const tz_field_arguments &t, long long row)
{
    const long long z = t.n[2] == 1 ? 0 : row / t.n[1];
    return (row - z * t.n[1]) * t.apart[1] + z * t.apart[2];
}

/* A warp moves so many times 32 elements at once: enough loads must be under way. */
#define TZ_BATCH 4
#define TZ_WARP_PART (32 * TZ_BATCH)

/* Each lane has elements x, x + 32, ... of a part of a row. */
#define TZ_FOR_PARTS(t, row, part)                                                                 \
    TZ_FOR_ROWS(row, (t).n[1] * (t).n[2], part, ((t).n[0] + TZ_WARP_PART - 1) / TZ_WARP_PART * 32)
#define TZ_PART_BEGIN(part) ((part) / 32 * TZ_WARP_PART + (part) % 32)

template <class FROM, class TO>
TZ_DEVICE void tz_move(const FROM *from, long long from_apart, TO *to, long long to_apart,
                       long long x, long long n)
{
    FROM values[TZ_BATCH];
    for (int j = 0; j < TZ_BATCH; j++)
        if (x + 32 * j < n)
            values[j] = tz_load_one(from + (x + 32 * j) * from_apart);
    for (int j = 0; j < TZ_BATCH; j++)
        if (x + 32 * j < n)
            tz_store_one(to + (x + 32 * j) * to_apart, (TO)values[j]);
}

TZ_KERNEL(tz_field_to_rows, 256)(const TZ_UNCOPIED tz_field_arguments t)
{
    TZ_FOR_PARTS(t, row, part)
    {
        const long long x = TZ_PART_BEGIN(part), at = tz_field_row(t, row);
        double *to = t.rows + t.pitch * row;
        if (t.is_double)
            tz_move((const double *)t.field + at, t.apart[0], to, 1, x, t.n[0]);
        else
            tz_move((const float *)t.field + at, t.apart[0], to, 1, x, t.n[0]);
    }
}

TZ_KERNEL(tz_rows_to_field, 256)(const TZ_UNCOPIED tz_field_arguments t)
{
    TZ_FOR_PARTS(t, row, part)
    {
        const long long x = TZ_PART_BEGIN(part), at = tz_field_row(t, row);
        const double *from = t.rows + t.pitch * row;
        if (t.is_double)
            tz_move(from, 1, (double *)t.field + at, t.apart[0], x, t.n[0]);
        else
            tz_move(from, 1, (float *)t.field + at, t.apart[0], x, t.n[0]);
    }
}
