/* kernels/cuda: rows in registers, in the stream family in two dimensions.
 *
 * A ring has the last rows of a level, the newest last. Rows are widened by columns of the
 * neighbouring lanes. Included by rows.cuh. */
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

/* Gives columns past the end of a row, which the last lane has, the boundary's values where the
 * lane before it reads them. wide[R] is the lane's first column. */
template <int R, class T>
TZ_DEVICE void tz_end_row(const tz_strip &s, T (&wide)[TZ_V + 2 * R], tz_edges<T> edge)
{
#pragma unroll
    for (int e = TZ_END_COLUMNS; e < R; e++) {
        const int is = TZ_REFLECTS(TZ_HIGH_X) ? 2 * (TZ_END_COLUMNS - 1) - e : TZ_END_COLUMNS - 1;
        wide[R + e] =
            tz_choose(s.last, TZ_HAS_VALUE(TZ_HIGH_X) ? tz_edge<0, T>(edge, true) : wide[R + is],
                      wide[R + e]);
    }
}

/* The lane's row with R elements of the neighbouring lanes on both sides; with BORDER, the
 * boundary's values past the ends of the grid's rows. */
template <bool BORDER, int R, class T>
TZ_DEVICE void tz_widen(const tz_strip &s, const T *row, T (&wide)[TZ_V + 2 * R], tz_edges<T> edge)
{
    constexpr bool ends = BORDER && TZ_SIMPLE_ENDS && !TZ_BITS_GRID && !TZ_WRAP_X;
#pragma unroll
    for (int i = 0; i < TZ_V; i++)
        wide[R + i] = row[i];
    if (ends && R > TZ_END_COLUMNS) {
#pragma unroll
        for (int i = 0; i < R; i++)
            wide[i] = tz_shuffle_up(row[TZ_V - (R - i)], 1);
        tz_end_row<R>(s, wide, edge);
#pragma unroll
        for (int i = 0; i < R; i++)
            wide[R + TZ_V + i] = tz_shuffle_down(wide[R + i], 1);
    } else {
#pragma unroll
        for (int i = 0; i < R; i++) {
            const int up = (R - i + TZ_V - 1) / TZ_V, down = (TZ_V + i) / TZ_V;
            wide[i] = tz_shuffle_up(row[TZ_V * up - (R - i)], up);
            wide[R + TZ_V + i] = tz_shuffle_down(row[i % TZ_V], down);
        }
    }
    if (!ends)
        return;
        /* Element 0 of the first lane is column 0, TZ_END_COLUMNS - 1 of the last lane the last
     * column. */
#pragma unroll
    for (int i = 0; i < R; i++) {
        const int before = R - 1 - i, after = R + TZ_END_COLUMNS + i;
        const int before_is = TZ_REFLECTS(TZ_LOW_X) ? R + 1 + i : R;
        const int after_is = R + TZ_END_COLUMNS - 1 - (TZ_REFLECTS(TZ_HIGH_X) ? 1 + i : 0);
        wide[before] = tz_choose(
            s.first, TZ_HAS_VALUE(TZ_LOW_X) ? tz_edge<0, T>(edge, false) : wide[before_is],
            wide[before]);
        wide[after] =
            tz_choose(s.last, TZ_HAS_VALUE(TZ_HIGH_X) ? tz_edge<0, T>(edge, true) : wide[after_is],
                      wide[after]);
    }
}

/* Puts a row into the newest slot of a ring, with the elements of neighbouring lanes that it
 * keeps. */
template <bool BORDER, int D, int W, class T>
TZ_DEVICE void tz_ring_push(const tz_strip &s, T (&ring)[D][W], const T (&row)[TZ_V],
                            tz_edges<T> edge)
{
    constexpr int halo = (W - TZ_V) / 2;
    if constexpr (halo > 0) {
        T wide[W];
        tz_widen<BORDER, halo>(s, row, wide, edge);
#pragma unroll
        for (int i = 0; i < W; i++)
            ring[D - 1][i] = wide[i];
    } else {
#pragma unroll
        for (int i = 0; i < TZ_V; i++)
            ring[D - 1][i] = row[i];
    }
}

/* Rows of a ring from SLOT on, with RADIUS elements of the neighbouring lanes on both sides. This
 * is a recursion because the compiler allocates registers differently for a loop. */
template <bool BORDER, int SLOT, int RADIUS, int ROW = 0, int D, int W, int ROWS, int WIDE, class T>
TZ_DEVICE void tz_ring_window(const tz_strip &s, const T (&ring)[D][W], T (&window)[ROWS][WIDE],
                              tz_edges<T> edge)
{
    constexpr int halo = (W - TZ_V) / 2;
    if constexpr (halo > 0) {
#pragma unroll
        for (int i = 0; i < WIDE; i++)
            window[ROW][i] = ring[SLOT + ROW][i + halo - RADIUS];
    } else {
        tz_widen<BORDER, RADIUS>(s, ring[SLOT + ROW], window[ROW], edge);
    }
    if constexpr (ROW + 1 < ROWS)
        tz_ring_window<BORDER, SLOT, RADIUS, ROW + 1>(s, ring, window, edge);
}
