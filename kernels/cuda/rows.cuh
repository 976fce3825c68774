/* kernels/cuda: the stream family in two dimensions.
 *
 * A warp owns a strip of 32 TZ_V columns, TZ_V of them a lane, and streams down the rows of a chunk. Every
 * level (a pass of an iteration) keeps its last rows in registers: when row y of level 0 arrives, level l
 * computes row y - lag of l, and the last level's row leaves for memory. Neighbours in x come from
 * neighbouring lanes, so there is neither shared memory nor a barrier. The strip loses the reach of all
 * levels on both sides, and the chunk starts and ends with as many rows more: the ghost zone.
 *
 * Generated text defines sizes, rings and levels around what is here. With BORDER true, rows and columns
 * outside the grid are looked at: warps away from the border pay nothing for it. */
#ifndef TZ_ROWS_CUH
#define TZ_ROWS_CUH

#include "common.cuh"

#define TZ_STRIP (32 * TZ_V)

/* Where a warp is: its first column, this lane's first column, the rows that it commits. */
struct tz_strip {
    int x0, x;
    int low, high;
    bool commits; /* this lane's columns are the strip's own */
    bool border;
};

template <int D, int W, class T> TZ_DEVICE void tz_shift(T (&ring)[D][W])
{
#pragma unroll
    for (int k = 0; k + 1 < D; k++)
#pragma unroll
        for (int i = 0; i < W; i++)
            ring[k][i] = ring[k + 1][i];
}
template <int D, int W, class T> TZ_DEVICE void tz_clear(T (&ring)[D][W])
{
#pragma unroll
    for (int k = 0; k < D; k++)
#pragma unroll
        for (int i = 0; i < W; i++)
            ring[k][i] = (T)0;
}

/* A row with R elements of the neighbouring lanes on both sides; `row` starts at column 0 of the lane. */
template <int R, class T> TZ_DEVICE void tz_widen(const T *row, T (&wide)[TZ_V + 2 * R])
{
#pragma unroll
    for (int i = 0; i < TZ_V; i++)
        wide[R + i] = row[i];
#pragma unroll
    for (int i = 0; i < R; i++) {
        const int up = (R - i + TZ_V - 1) / TZ_V, down = (TZ_V + i) / TZ_V;
        wide[i] = tz_shuffle_up(row[TZ_V * up - (R - i)], up);
        wide[R + TZ_V + i] = tz_shuffle_down(row[i % TZ_V], down);
    }
}

/* ---- Level 0 ---------------------------------------------------------------------------------
 *
 * Rows wait in a queue in shared memory, TZ_AHEAD of them on their way: each lane has its own columns
 * there and nobody else reads them. */

/* Elements from the left whose columns are all inside the grid. */
TZ_DEVICE int tz_whole(const tz_arguments &a)
{
    return TZ_BITS_GRID && a.columns - 31 * a.nx < a.nx ? a.columns - 31 * a.nx : a.nx;
}

/* The word past an end of a bit row is one of its other end, shifted by a bit, where the strip passes an end
 * but once and the bit that comes in is known: of the same word, or the boundary's. */
TZ_DEVICE bool tz_turns(const tz_arguments &a)
{
    return a.nx >= TZ_STRIP && (TZ_BOUNDARY_X != TZ_PERIODIC || a.columns == 32 * a.nx);
}
TZ_DEVICE void tz_fetch_one(const tz_arguments &a, tz_word *to, const tz_word *row, int x, tz_word edge)
{
    if (tz_turns(a))
        tz_fetch<tz_word, 1>(to, row + (x < 0 ? x + a.nx : x >= a.nx ? x - a.nx : x));
    else
        tz_put(to, tz_load_word(a, row, x, edge));
}
template <class T>
TZ_DEVICE void tz_fetch_one(const tz_arguments &a, T *to, const T *row, int x, T edge)
{
    const int mapped = tz_map<TZ_BOUNDARY_X>(x, a.nx);
    if (mapped < 0)
        tz_put(to, edge);
    else
        tz_fetch<T, 1>(to, row + mapped);
}

template <bool BORDER, class T>
TZ_DEVICE void tz_fetch_row(const tz_arguments &a, const tz_strip &s, T *to, const void *field, T edge,
                            int y)
{
    const T *const cells = (const T *)field;
    if (!BORDER) {
        tz_fetch<T, TZ_V>(to, cells + ((long long)a.pitch * y + s.x));
        return;
    }
    const int row = tz_map<TZ_BOUNDARY_Y>(y, a.ny), x = tz_hidden(s.x);
    const T *const from = cells + (long long)a.pitch * (row < 0 ? 0 : row);
    if (row < 0) {
#pragma unroll
        for (int e = 0; e < TZ_V; e++)
            tz_put(to + e, edge);
    } else if (x >= 0 && x + TZ_V <= tz_whole(a)) {
        tz_fetch<T, TZ_V>(to, from + x);
    } else {
#pragma unroll 1
        for (int e = 0; e < TZ_V; e++)
            tz_fetch_one(a, to + e, from, x + e, edge);
    }
}

template <class T>
TZ_DEVICE void tz_turn(const tz_arguments &, const tz_strip &, T (&)[TZ_V], T)
{
}
TZ_DEVICE void tz_turn(const tz_arguments &a, const tz_strip &s, tz_word (&v)[TZ_V], tz_word edge)
{
    if (!tz_turns(a))
        return;
#pragma unroll
    for (int e = 0; e < TZ_V; e++) {
        const int x = s.x + e;
        if (x < 0)
            v[e] = v[e] << 1 | (TZ_BOUNDARY_X == TZ_PERIODIC ? v[e] >> 31 : edge & 1u);
        else if (x >= a.nx)
            v[e] = v[e] >> 1 | (TZ_BOUNDARY_X == TZ_PERIODIC ? v[e] << 31 : edge & 1u << 31);
        v[e] = tz_mask_word(a, x, v[e], edge);
    }
}
/* `y`: the row in the grid; one outside came as the boundary's value. */
template <bool BORDER, class T>
TZ_DEVICE void tz_take_row(const tz_arguments &a, const tz_strip &s, const T *from, T edge, int y,
                           T (&to)[TZ_V])
{
    tz_get_packet(from, to);
    if (BORDER && s.border && tz_map<TZ_BOUNDARY_Y>(y, a.ny) >= 0)
        tz_turn(a, s, to, edge);
}

/* ---- Borders: what lies outside holds its level's boundary again after each level --------------- */

TZ_DEVICE void tz_fix_columns(const tz_arguments &a, const tz_strip &s, tz_word (&v)[TZ_V], tz_word edge)
{
    const int x = tz_hidden(s.x);
#pragma unroll
    for (int e = 0; e < TZ_V; e++)
        v[e] = tz_mask_word(a, x + e, v[e], edge);
}
template <class T>
TZ_DEVICE void tz_fix_columns(const tz_arguments &a, const tz_strip &s, T (&v)[TZ_V], T edge)
{
    const int x = tz_hidden(s.x), x0 = tz_hidden(s.x0);
    if (TZ_BOUNDARY_X == TZ_FIXED) {
#pragma unroll
        for (int e = 0; e < TZ_V; e++)
            v[e] = tz_choose(x + e < 0 || x + e >= a.nx, edge, v[e]);
    }
    if (TZ_BOUNDARY_X == TZ_CLAMP) {
        /* Strips start at multiples of TZ_V: column 0 is some lane's first element. */
        if (x0 < 0) {
            const T first = tz_shuffle(v[0], -x0 / TZ_V);
#pragma unroll
            for (int e = 0; e < TZ_V; e++)
                v[e] = tz_choose(x + e < 0, first, v[e]);
        }
        if (x0 + TZ_STRIP > a.nx) {
            const int column = a.nx - 1 - x0;
            T last = v[0];
#pragma unroll
            for (int e = 1; e < TZ_V; e++)
                last = tz_choose(column % TZ_V == e, v[e], last);
            last = tz_shuffle(last, column / TZ_V);
#pragma unroll
            for (int e = 0; e < TZ_V; e++)
                v[e] = tz_choose(x + e >= a.nx, last, v[e]);
        }
    }
    if (TZ_BOUNDARY_X == TZ_MIRROR) {
        T mirrored[TZ_V];
#pragma unroll
        for (int e = 0; e < TZ_V; e++) {
            const int column = tz_map<TZ_MIRROR>(x + e, a.nx) - x0;
            mirrored[e] = v[e];
#pragma unroll
            for (int k = 0; k < TZ_V; k++) {
                const T other = tz_shuffle(v[k], (column / TZ_V) & 31);
                mirrored[e] =
                    tz_choose(column >= 0 && column < TZ_STRIP && column % TZ_V == k, other,
                              mirrored[e]);
            }
        }
#pragma unroll
        for (int e = 0; e < TZ_V; e++)
            v[e] = mirrored[e];
    }
}

/* Row y of a level has been computed into the newest slot of its ring; R rows outside matter. A row past
 * the end is another that was made before; one before the start gets its value as soon as that is made. */
template <int R, int D, int W, class T>
TZ_DEVICE void tz_fix_rows(const tz_arguments &a, int y, T (&ring)[D][W], T edge)
{
    /* Rings keep their slots whatever is chosen. */
    if (TZ_BOUNDARY_Y == TZ_FIXED) {
#pragma unroll
        for (int i = 0; i < W; i++)
            ring[D - 1][i] = tz_choose(y < 0 || y >= a.ny, edge, ring[D - 1][i]);
    }
    if (TZ_BOUNDARY_Y == TZ_CLAMP || TZ_BOUNDARY_Y == TZ_MIRROR) {
        if (y >= a.ny) {
            const int back = y - tz_map<TZ_BOUNDARY_Y>(y, a.ny);
#pragma unroll
            for (int d = 1; d < D && d <= 2 * R; d++)
#pragma unroll
                for (int i = 0; i < W; i++)
                    ring[D - 1][i] = tz_choose(back == d, ring[D - 1 - d][i], ring[D - 1][i]);
        }
        if (y >= 0 && y <= R) {
#pragma unroll
            for (int d = 1; d < D && d <= 2 * R; d++) {
                const bool same =
                    d - y >= 1 && d - y <= R && tz_map<TZ_BOUNDARY_Y>(y - d, a.ny) == y;
#pragma unroll
                for (int i = 0; i < W; i++)
                    ring[D - 1 - d][i] = tz_choose(same, ring[D - 1][i], ring[D - 1 - d][i]);
            }
        }
    }
}

/* ---- The result ------------------------------------------------------------------------------ */

template <class T>
TZ_DEVICE void tz_commit(const tz_arguments &a, const tz_strip &s, void *field, int y, const T (&v)[TZ_V])
{
    if (s.commits && y >= s.low && y < s.high)
        tz_store((T *)field + ((long long)a.pitch * y + s.x), v);
}

/* ---- The words of a cell update --------------------------------------------------------------
 *
 * A field is seen as a window of rows around the lane's columns; TZ__R_name is how far it reaches. */
#define TZ__CONTEXT_FIELD(name, type)                                                              \
    const type(*name)[TZ_V + 2 * TZ__R_##name];                                                    \
    type *name##_out;
#define TZ_CELL_ONCE(cell, ONCE)                                                                   \
    struct once_##cell {                                                                           \
        ONCE(TZ__ONCE_MEMBER)                                                                      \
    };                                                                                             \
    struct context_##cell {                                                                        \
        TZ_FIELDS(TZ__CONTEXT_FIELD)                                                               \
        TZ_CONSTANTS(TZ__CONTEXT_CONSTANT)                                                         \
        const once_##cell *once;                                                                   \
        int x, y;                                                                                  \
        long long step;                                                                            \
    };                                                                                             \
    TZ_DEVICE once_##cell make_once_##cell(const context_##cell &tz_c, const int tz_e)             \
    {                                                                                              \
        once_##cell tz_o;                                                                          \
        ONCE(TZ__ONCE_ASSIGN)                                                                      \
        return tz_o;                                                                               \
    }                                                                                              \
    TZ_DEVICE void body_##cell(const context_##cell &tz_c, const int tz_e,                         \
                               const once_##cell &tz_o);                                           \
    TZ_DEVICE void update_##cell(const context_##cell &tz_c, const int tz_e)                       \
    {                                                                                              \
        body_##cell(tz_c, tz_e, tz_c.once[tz_e]);                                                  \
    }                                                                                              \
    TZ_DEVICE void body_##cell(const context_##cell &tz_c, const int tz_e, const once_##cell &tz_o)
#define TZ__AT3(f, dx, dy, dz) (tz_c.f[(dy) + TZ__R_##f][tz_e + (dx) + TZ__R_##f])
#define TZ_PUT(f, value) (tz_c.f##_out[tz_e] = (value))
#define TZ_X (tz_c.x)
#define TZ_Y (tz_c.y)
#define TZ_Z 0
#define TZ_STEP (tz_c.step)

#endif
