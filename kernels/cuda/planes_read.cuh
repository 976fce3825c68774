/* kernels/cuda: the rows that a pass reads, in the stream family in 3-D. */

/* For each row of a lane and around it, the row to read; below 0: the boundary's value. Where y is
 * periodic, it is the row itself. */
struct tz_source_rows {
    int row[TZ_ROWS + 2 * TZ_RADIUS_ROWS];
};

template <bool BORDER> TZ_DEVICE tz_source_rows tz_source_rows_of(const tz_tile &tile)
{
    tz_source_rows sources;
    tz_each<TZ_ROWS + 2 * TZ_RADIUS_ROWS>([&](int j) {
        sources.row[j] = BORDER ? tz_table(TZ_TABLE_SOURCE + tz_own_row(tile) + j) : 0;
    });
    return sources;
}

/* A row of another lane, or a row of this lane outside the grid. */
template <bool BORDER, class V>
TZ_DEVICE void tz_row_of_other(const tz_tile &tile, const tz_source_rows &sources, int i, int age,
                               int j, const tz_edges<typename V::type> &edge,
                               typename V::type (&to)[TZ_VECTOR])
{
    if (BORDER && !TZ_WRAP_Y) {
        const int own = tz_own_row(tile);
        int row = sources.row[j + TZ_RADIUS_ROWS];
        if (j >= 0 && j < TZ_ROWS && row == own + j)
            return;
        /* Only cells whose values are unused would read rows further away. */
        if (TZ_ADJACENT && row >= 0) {
            row = row > own - TZ_ROWS ? row : own - TZ_ROWS;
            row = row < own + 2 * TZ_ROWS - 1 ? row : own + 2 * TZ_ROWS - 1;
        }
        tz_row_get(tz_place_of<V>(tile, i, age, TZ_FIXED_Y && row < 0 ? own : row), to);
        if (TZ_FIXED_Y)
            tz_each<TZ_VECTOR>(
                [&](int e) { to[e] = row < 0 ? tz_edge<1>(edge, row == -2) : to[e]; });
        return;
    }
    /* The row in the half of a warp that has it; past the tile's end, a row of this one. */
    const int away = (j < 0 ? -((TZ_ROWS - 1 - j) / TZ_ROWS) : j / TZ_ROWS) * TZ_ROWS;
    const int own = tz_own_row(tile), other = own + away;
    const int first = other >= 0 && other < TZ_TILE_ROWS ? other : own;
    tz_row_get(tz_place_of<V>(tile, i, age, first + (j - away)), to);
}

/* Element `e` of the lane `lanes` to the west or east. */
template <class T>
TZ_DEVICE T tz_west(const T (&row)[TZ_VECTOR], int e, int lanes, const tz_edges<T> &edge)
{
#if TZ_ROW_LANES
    const int wraps = tz_lane() < lanes;
    const T from = tz_shuffle(row[e], (tz_lane() - lanes + (wraps ? TZ_ROW_LANES : 0)) & 31);
    return tz_funnel_left(from, TZ_WRAP_X ? from : tz_edge<0>(edge, false), wraps);
#else
    return tz_shuffle_up(row[e], lanes);
#endif
}

template <class T>
TZ_DEVICE T tz_east(const T (&row)[TZ_VECTOR], int e, int lanes, const tz_edges<T> &edge)
{
#if TZ_ROW_LANES
    const int wraps = tz_lane() + lanes >= TZ_ROW_LANES;
    const T from = tz_shuffle(row[e], (tz_lane() + lanes - (wraps ? TZ_ROW_LANES : 0)) & 31);
    return tz_funnel_right(TZ_WRAP_X ? from : tz_edge<0>(edge, true), from, wraps);
#else
    return tz_shuffle_down(row[e], lanes);
#endif
}

/* A row that the lane's cells read. J: its number, 0 is the lane's first row; AGE: of its plane;
 * NEED: a bit for each column that is read, from (WIDE - TZ_VECTOR) / 2 columns to the west of the
 * lane's first one on; OTHERS: cells of other rows read it. */
template <bool BORDER, class V, int AGE, int J, unsigned int NEED, bool OTHERS, int PLANES,
          int WIDE>
TZ_DEVICE void tz_near_row(const tz_arguments &a, const tz_tile &tile,
                           const tz_source_rows &sources, typename V::type (&near)[WIDE],
                           const typename V::type (&ring)[PLANES][TZ_ROWS][TZ_VECTOR], int i,
                           const tz_edges<typename V::type> &edge)
{
    typedef typename V::type T;
    constexpr int r = (WIDE - TZ_VECTOR) / 2;
    constexpr bool own = J >= 0 && J < TZ_ROWS;
    constexpr unsigned int inner = ((1u << TZ_VECTOR) - 1u) << r;
    T row[TZ_VECTOR];
    if constexpr (own) {
        tz_each<TZ_VECTOR>([&](int e) { row[e] = ring[AGE][J][e]; });
    }
    /* A row outside the grid of what has arrived already repeats the row at a clamp side. */
    constexpr bool repeats = V::ARRIVES && TZ_REPEATS(TZ_LOW_Y) && TZ_REPEATS(TZ_HIGH_Y);
    if constexpr (!own || (BORDER && TZ_STRADDLE_Y && OTHERS && !repeats)) {
        tz_row_of_other<BORDER, V>(tile, sources, i, AGE, J, edge, row);
        /* Columns outside the grid of what has arrived: each lane sets those that it reads. */
        if constexpr (BORDER && V::ARRIVES && TZ_HELD_X && (NEED & ~inner) != 0)
            tz_hold_row<V>(a, tile, row, edge);
        else if constexpr (BORDER && TZ_EDGES > 1 && TZ_FIXED_Y && (TZ_BITS_GRID || TZ_FIXED_X))
            tz_fix_row<T>(a, tile, row, edge); /* a row past a fixed side of y */
    }
    tz_each<TZ_VECTOR>([&](int e) { near[r + e] = row[e]; });
    tz_each<r + 1, 1>([&](int d) {
        const int lanes = (TZ_VECTOR - 1 + d) / TZ_VECTOR, e = lanes * TZ_VECTOR - d;
        if (NEED >> (r - d) & 1u)
            near[r - d] = tz_west<T>(row, e, lanes, edge);
        if (NEED >> (r + TZ_VECTOR - 1 + d) & 1u)
            near[r + TZ_VECTOR - 1 + d] = tz_east<T>(row, TZ_VECTOR - 1 - e, lanes, edge);
    });
}

template <class T, int SIDE, int HIGH, int WIDE>
TZ_DEVICE void tz_near_fill(T (&near)[SIDE][HIGH][WIDE], T value)
{
#pragma unroll
    for (int k = 0; k < SIDE * HIGH * WIDE; k++)
        near[k / (HIGH * WIDE)][k / WIDE % HIGH][k % WIDE] = value;
}

/* The initial values: rows and columns that are not read must not be used. */
template <class T, int SIDE, int HIGH, int WIDE>
TZ_DEVICE void tz_near_nothing(T (&near)[SIDE][HIGH][WIDE])
{
    tz_near_fill(near, tz_absent<T>());
}

/* Cells of a carried field, which are the lane's own: from planes in registers, or from shared
 * memory; or of a field that the pass does not read. */
template <class V, int AGE, int PLANES>
TZ_DEVICE void tz_carry_ring(const tz_tile &, int, typename V::type (&to)[TZ_ROWS][TZ_VECTOR],
                             const typename V::type (&ring)[PLANES][TZ_ROWS][TZ_VECTOR])
{
    tz_each<TZ_ROWS>(
        [&](int j) { tz_each<TZ_VECTOR>([&](int e) { to[j][e] = ring[AGE][j][e]; }); });
}

template <class V, int AGE>
TZ_DEVICE void tz_carry_shared(const tz_tile &tile, int i,
                               typename V::type (&to)[TZ_ROWS][TZ_VECTOR])
{
    tz_each<TZ_ROWS>(
        [&](int j) { tz_row_get(tz_place_of<V>(tile, i, AGE, tz_own_row(tile) + j), to[j]); });
}

template <class T> TZ_DEVICE void tz_carry_nothing(T (&to)[TZ_ROWS][TZ_VECTOR])
{
    tz_each<TZ_ROWS * TZ_VECTOR>([&](int k) { to[k / TZ_VECTOR][k % TZ_VECTOR] = tz_absent<T>(); });
}
