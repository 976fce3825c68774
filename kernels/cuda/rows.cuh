/* kernels/cuda: the stream family in two dimensions.
 *
 * A warp has a strip of 32 * TZ_V columns, TZ_V of them a lane, and a chunk of rows, which it reads
 * from low to high y. Level 0 is what is loaded, level l the l-th pass of the stage. Each level
 * keeps its last rows in registers, a ring. When row y of level 0 arrives, level l computes row y -
 * lag(l), and the row of the last level goes to memory. Neighbours along x come from other lanes by
 * shuffle: warps share nothing and need no barrier. The ghost zone is the reach of all levels: the
 * strip loses it at both sides, and the chunk begins and ends with as many more rows.
 *
 * With BORDER, columns outside the grid get the boundary's values; with ENDS, rows do. Warps and
 * rows away from the grid's ends run instances without them.
 *
 * TZ_SIMPLE_ENDS: the grid is at least a strip wide, and no lane reads further than the next lane's
 * columns. Then columns outside are neither computed nor kept: lanes there hold unused values, and
 * the lane at an end selects the boundary's values when it reads its neighbours (tz_widen). In bit
 * rows, words outside are words of the other end, shifted by a bit. Periodic rows go on with the
 * columns of the other end. If a lane's columns do not divide such a row (TZ_TURNED), strips at its
 * ends load them one by one. */
#ifndef TZ_ROWS_CUH
#define TZ_ROWS_CUH

#include "common.cuh"

#define TZ_STRIP (32 * TZ_V)
/* Ghost zones end between two packets of a lane. Those of strips at the ends of a row do not: there
 * column 0 is a lane's first one. Lanes do not swap packets then. */
#define TZ_SPLIT (TZ_GHOST_LOW % TZ_V != 0 || TZ_GHOST_HIGH % TZ_V != 0)
#define TZ_TURNED (TZ_SIMPLE_ENDS && TZ_WRAP_X && !TZ_BITS_GRID && TZ_END_COLUMNS < TZ_V)

/* Where a warp is. */
struct tz_strip {
    int x0, x; /* first column of the strip, of this lane */
    int from;  /* the first column that this lane loads, in the grid if TZ_SIMPLE_ENDS */
    int low;
    unsigned int rows; /* number of rows that this lane stores, from row `low` on */
    /* The same of the two packets that it stores: of its own if TZ_SPLIT, or with TZ_SWAP of the
     * even and of the odd lane of its pair. */
    unsigned int rows_packet[2];
    bool border;
    bool first, last; /* this lane has column 0, or the last */
    int rotation;     /* of a bit row: by how much a lane's words are rotated to the left */
    tz_word inside;   /* the bits of its words that are in the grid */
};

#include "rows_ring.cuh"

/* The row of level 0 with which a strip begins. Rows before the grid's first one are not computed
 * where the grid's ends are simple and the boundary is not periodic. */
TZ_DEVICE int tz_first_row(const tz_strip &s)
{
    if (!TZ_SIMPLE_ENDS || TZ_WRAP_Y)
        return s.low - TZ_WARM_UP;
    return s.low > 0 ? s.low - TZ_WARM_UP : TZ_FIRST_ROW;
}

/* Sets all members of a strip except those about rows. */
TZ_DEVICE void tz_strip_place(const tz_arguments &a, tz_strip &s)
{
    s.x = s.x0 + tz_lane() * TZ_V;
    s.first = s.x == 0;
    s.last = s.x == a.nx - TZ_END_COLUMNS;
    if (TZ_BITS_GRID || TZ_WRAP_X)
        s.from = s.x < 0 ? s.x + a.nx : s.x < a.nx ? s.x : s.x - a.nx;
    else /* with fewer columns copies have less than 16 bytes, see tz_spread_column() */
        s.from = TZ_V < 4     ? tz_spread_column(s.x, a.nx - TZ_END_COLUMNS)
                 : s.x < 0    ? 0
                 : s.x < a.nx ? s.x
                              : a.nx - TZ_END_COLUMNS;
    s.rotation = s.x < 0 ? 1 : s.x < a.nx ? 0 : 31;
    s.inside = s.x < 0 ? ~1u : s.x < a.nx ? ~0u : ~0u >> 1;
}

/* ---- Level 0 ---------------------------------------------------------------------------------
 *
 * Rows wait in a queue in shared memory, and TZ_AHEAD rows are in flight. Each lane reads only its
 * own columns, and copies them there. With TZ_PACKETS these are several packets of 16 bytes. Then
 * adjacent lanes copy adjacent packets, and a barrier of the warp comes before the lanes read.
 *
 * The queue has parts of TZ_STEPS rows, one for each execution of the loop body, so that the steps
 * of the body find their rows at constant distances from the part's start.
 *
 * With TZ_DIRECT there is no queue: a lane loads its columns when it needs them. Stages of one
 * iteration wait for memory alone. Then short chunks of many warps, whose rows lie close together,
 * are faster than rows that are fetched ahead. */

/* Elements from the start of a queue of ROWS rows to the row that is taken `row` steps after the
 * body's first step (before it: add ROWS). */
template <int ROWS> TZ_DEVICE int tz_slot(int part, int row)
{
    part += row / TZ_STEPS * (TZ_STEPS * TZ_STRIP);
    if (row >= TZ_STEPS && part >= ROWS * TZ_STRIP)
        part -= ROWS * TZ_STRIP;
    return part + row % TZ_STEPS * TZ_STRIP;
}

/* Where a lane copies 16 bytes or more, a queue begins at the place in a sector of 32 bytes at
 * which its strip does. Else the second-level cache is asked twice for each sector.
 * tz_queue_room(): bytes for that. */
template <class T> TZ_DEVICE constexpr int tz_queue_room()
{
    return (int)sizeof(T) * TZ_V >= 16 ? 32 : 0;
}
template <class T> TZ_DEVICE int tz_queue_start(const tz_strip &s)
{
    enum { SECTOR = 32 / (int)sizeof(T), APART = TZ_STRIP - TZ_GHOST_LOW - TZ_GHOST_HIGH };
    if (tz_queue_room<T>() == 0)
        return 0;
    return (APART % SECTOR == 0 && !TZ_SPLIT ? -TZ_GHOST_LOW : s.x0) & (SECTOR - 1);
}

/* The number of elements at a row's start whose columns are all inside the grid. */
TZ_DEVICE int tz_full_elements(const tz_arguments &a)
{
    return TZ_BITS_GRID && a.columns - 31 * a.nx < a.nx ? a.columns - 31 * a.nx : a.nx;
}

/* Is a word past an end of a bit row a word of its other end, shifted by a bit? It is if the strip
 * leaves the grid at only one end, and the new bit comes from the same word or the boundary. */
TZ_DEVICE bool tz_words_wrap(const tz_arguments &a)
{
    return a.nx >= TZ_STRIP && (!TZ_WRAP_X || a.columns == 32 * a.nx);
}
TZ_DEVICE void tz_fetch_one(const tz_arguments &a, tz_word *to, const tz_word *row, int x,
                            tz_edges<tz_word> edge)
{
    if (tz_words_wrap(a))
        tz_fetch<tz_word, 1>(to, row + (x < 0 ? x + a.nx : x >= a.nx ? x - a.nx : x));
    else
        tz_put(to, tz_load_word(a, row, x, edge));
}
template <class T, class S>
TZ_DEVICE void tz_fetch_one(const tz_arguments &a, S *to, const S *row, int x, tz_edges<T> edge)
{
    const int mapped = tz_map<TZ_LOW_X, TZ_HIGH_X>(x, a.nx);
    if (mapped < 0)
        tz_put(to, tz_edge<0, T>(edge, mapped < -1));
    else
        tz_fetch_element(to, row + mapped);
}

template <class T> TZ_DEVICE void tz_blank(T *to)
{
    T zeros[TZ_V];
#pragma unroll
    for (int e = 0; e < TZ_V; e++)
        zeros[e] = (T)0;
    tz_put_packet(to, zeros);
}

/* An element of a row past a fixed side. Past a fixed end of the row it has the value of that
 * end. */
TZ_DEVICE tz_word tz_outside(const tz_arguments &a, int x, tz_word value, tz_edges<tz_word> edge)
{
    return TZ_EDGES == 1 ? value : tz_mask_word(a, x, value, edge);
}
template <class T> TZ_DEVICE T tz_outside(const tz_arguments &a, int x, T value, tz_edges<T> edge)
{
    if (TZ_EDGES == 1 || (!TZ_HAS_VALUE(TZ_LOW_X) && !TZ_HAS_VALUE(TZ_HIGH_X)))
        return value;
    const int inside = tz_map<TZ_LOW_X, TZ_HIGH_X>(x, a.nx);
    return tz_choose(inside < 0, tz_edge<0, T>(edge, inside < -1), value);
}

/* Is row y past a fixed side? (The compiler makes slower code of a function.) */
#define TZ_ROW_IS_FIXED(y, n)                                                                      \
    ((TZ_HAS_VALUE(TZ_LOW_Y) && (y) < 0) || (TZ_HAS_VALUE(TZ_HIGH_Y) && (y) >= (n)))

/* The row to load for row y, which may be outside. A fixed boundary's value is set later. */
TZ_DEVICE int tz_nearest_row(int y, int n)
{
    if (TZ_WRAP_Y)
        return y < 0 ? y + n : y < n ? y : y - n;
    if (TZ_REFLECTS(TZ_LOW_Y) || TZ_REFLECTS(TZ_HIGH_Y))
        y = y < 0                    ? (TZ_REFLECTS(TZ_LOW_Y) ? -y : 0)
            : y < n                  ? y
            : TZ_REFLECTS(TZ_HIGH_Y) ? 2 * (n - 1) - y
                                     : n - 1;
    return y < 0 ? 0 : y < n ? y : n - 1;
}

/* How far element e of a lane's columns is from the first one in memory (TZ_TURNED). */
TZ_DEVICE int tz_turn(const tz_arguments &a, const tz_strip &s, int e)
{
    return s.from + e < a.nx ? e : e - a.nx;
}

/* Copies a strip's row in packets of 16 bytes, 32 of them at a time. Eight adjacent lanes copy from
 * one line of 128 bytes: memory and its caches serve such a group at once. */
template <class T> TZ_DEVICE void tz_fetch_strip(const tz_strip &s, T *to, const T *from)
{
    enum { PACKET = 16 / (int)sizeof(T) };
    const int packet = (tz_lane() - s.x0 / PACKET) & 31; /* x0 may be negative */
    const int other = packet * PACKET - tz_lane() * TZ_V;
    tz_fetch_packets<T, PACKET, TZ_V / PACKET, 32 * PACKET, 32 * PACKET>(to + other, from + other);
}

/* Loads row y of a field into the queue. `next` is its address if it is in the grid. */
template <bool BORDER, bool ENDS, class T, class S>
TZ_DEVICE void tz_fetch_row(const tz_arguments &a, const tz_strip &s, S *to, const S *next,
                            const void *field, tz_edges<T> edge, int y)
{
    if (TZ_SIMPLE_ENDS || !ENDS) {
        if (ENDS)
            next += (long long)a.pitch * (tz_nearest_row(y, a.ny) - y);
        if (BORDER && TZ_TURNED) {
#pragma unroll
            for (int e = 0; e < TZ_V; e++)
                tz_fetch_element(to + e, next + tz_turn(a, s, e));
        } else if (!BORDER && TZ_PACKETS && sizeof(S) * TZ_V > 16) {
            tz_fetch_strip(s, to, next);
        } else {
            tz_fetch<S, TZ_V>(to, next);
        }
        return;
    }
    const S *const cells = (const S *)field;
    const int row = tz_map<TZ_LOW_Y, TZ_HIGH_Y>(y, a.ny), x = tz_hidden(s.x);
    const S *const from = cells + (long long)a.pitch * (row < 0 ? 0 : row);
    if (row < 0) {
#pragma unroll
        for (int e = 0; e < TZ_V; e++)
            tz_put(to + e, tz_outside(a, x + e, tz_edge<1, T>(edge, row < -1), edge));
    } else if (x >= 0 && x + TZ_V <= tz_full_elements(a)) {
        tz_fetch<S, TZ_V>(to, from + x);
    } else {
#pragma unroll 1
        for (int e = 0; e < TZ_V; e++)
            tz_fetch_one(a, to + e, from, x + e, edge);
    }
}

/* Sets the bits outside the grid to the boundary value. Periodic rows have no such bits. */
TZ_DEVICE void tz_keep_inside(const tz_strip &s, tz_word (&v)[TZ_V], tz_edges<tz_word> edge)
{
    if (TZ_WRAP_X)
        return;
#pragma unroll
    for (int e = 0; e < TZ_V; e++)
#if TZ_EDGES == 1
        v[e] = TZ_PICK3(s.inside, v[e], edge);
#else
        v[e] = TZ_PICK3(s.inside, v[e], TZ_PICK3(1u, edge.side[0], edge.side[1]));
#endif
}

/* Turns words of the other end of a row into the words past this end. */
template <class T>
TZ_DEVICE void tz_wrap_words(const tz_arguments &, const tz_strip &, T (&)[TZ_V], tz_edges<T>)
{
}
TZ_DEVICE void tz_wrap_words(const tz_arguments &a, const tz_strip &s, tz_word (&v)[TZ_V],
                             tz_edges<tz_word> edge)
{
    if (!tz_words_wrap(a))
        return;
#pragma unroll
    for (int e = 0; e < TZ_V; e++) {
        const int x = s.x + e;
        if (x < 0)
            v[e] = v[e] << 1 | (TZ_WRAP_X ? v[e] >> 31 : tz_edge<0, tz_word>(edge, false) & 1u);
        else if (x >= a.nx)
            v[e] =
                v[e] >> 1 | (TZ_WRAP_X ? v[e] << 31 : tz_edge<0, tz_word>(edge, true) & 1u << 31);
        v[e] = tz_mask_word(a, x, v[e], edge);
    }
}
/* The same for simple ends. */
template <class T> TZ_DEVICE void tz_rotate_words(const tz_strip &, T (&)[TZ_V], tz_edges<T>) {}
TZ_DEVICE void tz_rotate_words(const tz_strip &s, tz_word (&v)[TZ_V], tz_edges<tz_word> edge)
{
#pragma unroll
    for (int e = 0; e < TZ_V; e++)
        v[e] = tz_funnel_left(v[e], v[e], s.rotation);
    tz_keep_inside(s, v, edge);
}

/* Sets a row past a fixed side. Its bits past fixed ends of the row have the values of these
 * ends. */
template <class T>
TZ_DEVICE void tz_fill_row(const tz_strip &, T (&row)[TZ_V], T value, tz_edges<T>)
{
#pragma unroll
    for (int e = 0; e < TZ_V; e++)
        row[e] = value;
}
TZ_DEVICE void tz_fill_row(const tz_strip &s, tz_word (&row)[TZ_V], tz_word value,
                           tz_edges<tz_word> edge)
{
#pragma unroll
    for (int e = 0; e < TZ_V; e++)
        row[e] = value;
    if (TZ_EDGES > 1)
        tz_keep_inside(s, row, edge);
}

/* What is left to do for row y after its elements are loaded. */
template <bool BORDER, bool ENDS, class T>
TZ_DEVICE void tz_finish_row(const tz_arguments &a, const tz_strip &s, tz_edges<T> edge, int y,
                             T (&to)[TZ_V])
{
    if (!BORDER)
        return;
    if (!TZ_SIMPLE_ENDS) {
        if (s.border && tz_map<TZ_LOW_Y, TZ_HIGH_Y>(y, a.ny) >= 0)
            tz_wrap_words(a, s, to, edge);
        return;
    }
    if (TZ_BITS_GRID)
        tz_rotate_words(s, to, edge);
    if (ENDS && TZ_ROW_IS_FIXED(y, a.ny))
        tz_fill_row(s, to, tz_edge<1, T>(edge, y >= 0), edge);
}

/* Takes row y from the queue. */
template <bool BORDER, bool ENDS, class T, class S>
TZ_DEVICE void tz_take_row(const tz_arguments &a, const tz_strip &s, const S *from,
                           tz_edges<T> edge, int y, T (&to)[TZ_V])
{
    tz_get_values(from, to);
    tz_finish_row<BORDER, ENDS>(a, s, edge, y, to);
}

/* Loads row y of a field. `at` is its address if it is in the grid. */
template <bool BORDER, bool ENDS, class T, class S>
TZ_DEVICE void tz_load_row(const tz_arguments &a, const tz_strip &s, const S *at, const void *field,
                           tz_edges<T> edge, int y, T (&to)[TZ_V])
{
    if (TZ_SIMPLE_ENDS || !ENDS) {
        if (ENDS)
            at += (long long)a.pitch * (tz_nearest_row(y, a.ny) - y);
        if (BORDER && TZ_TURNED) {
#pragma unroll
            for (int e = 0; e < TZ_V; e++)
                to[e] = (T)at[tz_turn(a, s, e)];
        } else {
            tz_load_values(at, to);
        }
    } else {
        const int row = tz_map<TZ_LOW_Y, TZ_HIGH_Y>(y, a.ny), x = tz_hidden(s.x);
        const S *const cells = (const S *)field + (long long)a.pitch * (row < 0 ? 0 : row);
#pragma unroll
        for (int e = 0; e < TZ_V; e++) {
            const int mapped = tz_map<TZ_LOW_X, TZ_HIGH_X>(x + e, a.nx);
            if (row < 0)
                to[e] = tz_outside(a, x + e, tz_edge<1, T>(edge, row < -1), edge);
            else
                to[e] = mapped < 0 ? tz_edge<0, T>(edge, mapped < -1) : (T)cells[mapped];
        }
    }
    tz_finish_row<BORDER, ENDS>(a, s, edge, y, to);
}

/* ---- Borders: after each level, cells outside get the boundary's values of that level ------- */

TZ_DEVICE void tz_fix_columns(const tz_arguments &a, const tz_strip &s, tz_word (&v)[TZ_V],
                              tz_edges<tz_word> edge)
{
    if (TZ_SIMPLE_ENDS) {
        tz_keep_inside(s, v, edge);
        return;
    }
    const int x = tz_hidden(s.x);
#pragma unroll
    for (int e = 0; e < TZ_V; e++)
        v[e] = tz_mask_word(a, x + e, v[e], edge);
}
template <class T>
TZ_DEVICE void tz_fix_columns(const tz_arguments &a, const tz_strip &s, T (&v)[TZ_V],
                              tz_edges<T> edge)
{
    if (TZ_SIMPLE_ENDS)
        return;
    const int x = tz_hidden(s.x), x0 = tz_hidden(s.x0);
    if (TZ_HAS_VALUE(TZ_LOW_X) && TZ_HAS_VALUE(TZ_HIGH_X)) {
#pragma unroll
        for (int e = 0; e < TZ_V; e++)
            v[e] = tz_choose(x + e < 0 || x + e >= a.nx, tz_edge<0, T>(edge, x + e >= 0), v[e]);
    } else if (TZ_REPEATS(TZ_LOW_X) && TZ_REPEATS(TZ_HIGH_X)) {
        /* Strips start at multiples of TZ_V: column 0 is the first element of a lane. */
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
    } else if (!TZ_WRAP_X) {
        T mirrored[TZ_V];
#pragma unroll
        for (int e = 0; e < TZ_V; e++) {
            const int inside = tz_map<TZ_LOW_X, TZ_HIGH_X>(x + e, a.nx), column = inside - x0;
            mirrored[e] = v[e];
#pragma unroll
            for (int k = 0; k < TZ_V; k++) {
                const T other = tz_shuffle(v[k], (column / TZ_V) & 31);
                mirrored[e] = tz_choose(column >= 0 && column < TZ_STRIP && column % TZ_V == k,
                                        other, mirrored[e]);
            }
            if (TZ_HAS_VALUE(TZ_LOW_X) || TZ_HAS_VALUE(TZ_HIGH_X))
                mirrored[e] = tz_choose(inside < 0, tz_edge<0, T>(edge, inside < -1), mirrored[e]);
        }
#pragma unroll
        for (int e = 0; e < TZ_V; e++)
            v[e] = mirrored[e];
    }
}

/* Row y of a level is in the newest slot of its ring. Up to R rows outside the grid are read. A row
 * after the grid's last row repeats an earlier row. A row before the first row is set when the row
 * that it repeats is complete. */
template <int R, int D, int W, class T>
TZ_DEVICE void tz_fix_any_rows(const tz_arguments &a, const tz_strip &s, int y, T (&ring)[D][W],
                               tz_edges<T> edge)
{
    const int x = tz_hidden(s.x) - (W - TZ_V) / 2;
    /* Loops over all slots with a selection, so that indices are constants. */
    if (TZ_HAS_VALUE(TZ_LOW_Y) || TZ_HAS_VALUE(TZ_HIGH_Y)) {
        const int inside = tz_map<TZ_LOW_Y, TZ_HIGH_Y>(y, a.ny);
#pragma unroll
        for (int i = 0; i < W; i++)
            ring[D - 1][i] =
                tz_choose(inside < 0, tz_outside(a, x + i, tz_edge<1, T>(edge, inside < -1), edge),
                          ring[D - 1][i]);
    }
    /* Rows before the first that a mirror takes past the last. */
    if (TZ_REFLECTS(TZ_LOW_Y) && TZ_HAS_VALUE(TZ_HIGH_Y) && y == 0) {
#pragma unroll
        for (int d = 1; d < D && d <= R; d++)
#pragma unroll
            for (int i = 0; i < W; i++)
                ring[D - 1 - d][i] =
                    tz_choose(d >= a.ny, tz_outside(a, x + i, tz_edge<1, T>(edge, true), edge),
                              ring[D - 1 - d][i]);
    }
    if (!TZ_WRAP_Y && (!TZ_HAS_VALUE(TZ_LOW_Y) || !TZ_HAS_VALUE(TZ_HIGH_Y))) {
        if (!TZ_HAS_VALUE(TZ_HIGH_Y) && y >= a.ny) {
            const int back = y - tz_map<TZ_LOW_Y, TZ_HIGH_Y>(y, a.ny);
#pragma unroll
            for (int d = 1; d < D && d <= 2 * R; d++)
#pragma unroll
                for (int i = 0; i < W; i++)
                    ring[D - 1][i] = tz_choose(back == d, ring[D - 1 - d][i], ring[D - 1][i]);
        }
        if (!TZ_HAS_VALUE(TZ_LOW_Y) && y >= 0 && y <= R) {
#pragma unroll
            for (int d = 1; d < D && d <= 2 * R; d++) {
                const bool same =
                    d - y >= 1 && d - y <= R && tz_map<TZ_LOW_Y, TZ_HIGH_Y>(y - d, a.ny) == y;
#pragma unroll
                for (int i = 0; i < W; i++)
                    ring[D - 1 - d][i] = tz_choose(same, ring[D - 1][i], ring[D - 1 - d][i]);
            }
        }
    }
}

/* Sets the newest row of a ring, which is past a fixed side. */
template <int D, int W, class T>
TZ_DEVICE void tz_set_row(const tz_strip &s, T (&ring)[D][W], T value, tz_edges<T> edge)
{
    if (TZ_EDGES == 1) {
#pragma unroll
        for (int i = 0; i < W; i++)
            ring[D - 1][i] = value;
    } else {
        T row[TZ_V];
        tz_fill_row(s, row, value, edge);
        tz_ring_push<true>(s, ring, row, edge);
    }
}
/* Copies the newest row to the R rows before it. */
template <int R, int D, int W, class T> TZ_DEVICE void tz_copy_rows(T (&ring)[D][W])
{
#pragma unroll
    for (int d = 1; d < D && d <= R; d++)
#pragma unroll
        for (int i = 0; i < W; i++)
            ring[D - 1 - d][i] = ring[D - 1][i];
}
template <int D, int W, class T> TZ_DEVICE void tz_copy_previous(T (&ring)[D][W])
{
#pragma unroll
    for (int i = 0; D > 1 && i < W; i++)
        ring[D - 1][i] = ring[D > 1 ? D - 2 : 0][i];
}

/* The same, but cheaper for simple ends, with branches that are rarely taken. */
template <int R, int D, int W, class T>
TZ_DEVICE void tz_fix_rows(const tz_arguments &a, const tz_strip &s, int y, T (&ring)[D][W],
                           tz_edges<T> edge)
{
    if (!TZ_SIMPLE_ENDS) {
        tz_fix_any_rows<R>(a, s, y, ring, edge);
        return;
    }
    if (TZ_ROW_IS_FIXED(y, a.ny))
        tz_set_row(s, ring, tz_edge<1, T>(edge, y >= 0), edge);
    if (TZ_REPEATS(TZ_LOW_Y) && R > 0 && y == 0)
        tz_copy_rows<R>(ring);
    if (TZ_REPEATS(TZ_HIGH_Y) && R > 0 && y >= a.ny)
        tz_copy_previous(ring);
    if ((TZ_REFLECTS(TZ_LOW_Y) && y <= R) || (TZ_REFLECTS(TZ_HIGH_Y) && y >= a.ny)) {
#pragma unroll
        for (int d = 2; d < D && d <= 2 * R; d += 2) {
            const bool start = TZ_REFLECTS(TZ_LOW_Y) && 2 * y == d,
                       end = TZ_REFLECTS(TZ_HIGH_Y) && 2 * (y - a.ny) == d - 2;
#pragma unroll
            for (int i = 0; i < W; i++) {
                const T newest = ring[D - 1][i];
                ring[D - 1][i] = tz_choose(end, ring[D - 1 - d][i], newest);
                ring[D - 1 - d][i] = tz_choose(start, newest, ring[D - 1 - d][i]);
            }
        }
    }
}

/* For rows that are summed as they arrive: rows after the grid's last row repeat it, from shared
 * memory. Rows before the first row were added together with it. */
template <int D, class T>
TZ_DEVICE void tz_fix_end(const tz_arguments &a, const tz_strip &s, int y, T (&ring)[D][TZ_V],
                          T *last, tz_edges<T> edge)
{
    if (TZ_ROW_IS_FIXED(y, a.ny))
        tz_set_row(s, ring, tz_edge<1, T>(edge, y >= 0), edge);
    if (TZ_REPEATS(TZ_HIGH_Y) && y == a.ny - 1)
        tz_put_packet(last, ring[D - 1]);
    if (TZ_REPEATS(TZ_HIGH_Y) && y >= a.ny)
        tz_get_packet(last, ring[D - 1]);
}

/* ---- The result ------------------------------------------------------------------------------ */

/* Stores row y to `to`, if it is one of the lane's. With TZ_SWAP, of two packets a pair of lanes
 * first exchanges one, so that both store adjacent packets, the even lane's and then the odd
 * lane's: stores of half a sector cost as much as those of a whole one. The exchange takes
 * registers and instructions, which kernels that wait for computing lack. */
template <class T> TZ_DEVICE void tz_commit_row(const tz_strip &s, T *to, int y, const T (&v)[TZ_V])
{
    if constexpr (TZ_SWAP && sizeof(T) * TZ_V == 32) {
        enum { HALF = 16 / (int)sizeof(T) };
        const bool odd = tz_lane() & 1;
        T first[HALF], second[HALF];
#pragma unroll
        for (int i = 0; i < HALF; i++) {
            const T other = tz_shuffle_xor(odd ? v[i] : v[HALF + i], 1);
            first[i] = odd ? other : v[i];
            second[i] = odd ? v[HALF + i] : other;
        }
        T *const at = to - (odd ? HALF : 0);
        tz_store_where((unsigned int)(y - s.low) < s.rows_packet[0], at, first);
        tz_store_where((unsigned int)(y - s.low) < s.rows_packet[1], at + 2 * HALF, second);
    } else if constexpr (TZ_SPLIT && sizeof(T) * TZ_V == 32) {
        const unsigned int row = (unsigned int)(y - s.low);
        tz_store_where<0, 1>(row < s.rows_packet[0], to, v);
        tz_store_where<1, 2>(row < s.rows_packet[1], to, v);
    } else if constexpr (TZ_SPLIT && sizeof(T) * TZ_V == 16) { /* others have two packets */
        enum { HALF = 8 / (int)sizeof(T) };
        const unsigned int row = (unsigned int)(y - s.low);
        tz_store_where(row < s.rows_packet[0], to, (const T(&)[HALF])v[0]);
        tz_store_where(row < s.rows_packet[1], to + HALF, (const T(&)[HALF])v[HALF]);
    } else {
        tz_store_where((unsigned int)(y - s.low) < s.rows, to, v);
    }
}
/* The same of values. */
template <class T> TZ_DEVICE void tz_commit(const tz_strip &s, T *to, int y, const T (&v)[TZ_V])
{
    tz_commit_row(s, to, y, v);
}
template <class S, class T>
TZ_DEVICE void tz_commit(const tz_strip &s, S *to, int y, const T (&v)[TZ_V])
{
    S stored[TZ_V];
    tz_each<TZ_V>([&](int e) { stored[e] = (S)v[e]; });
    tz_commit_row(s, to, y, stored);
}

#include "rows_cell.cuh"

#endif
