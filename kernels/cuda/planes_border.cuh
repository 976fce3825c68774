/* kernels/cuda: values of fields outside the grid, in the stream family in 3-D. */

/* Gives the columns of a row past fixed sides of x their value. Their rows and planes do not
 * matter: x comes first. */
template <class T>
TZ_DEVICE void tz_fix_row(const tz_arguments &a, const tz_tile &tile, T (&row)[TZ_VECTOR],
                          const tz_edges<T> &edge)
{
#if TZ_BITS_GRID
    if (!TZ_WRAP_X && !TZ_ROW_LANES)
#pragma unroll
        for (int i = 0; i < TZ_VECTOR; i++) {
#if TZ_EDGES == 1
            const T inside = (T)tz_table(TZ_TABLE_COLUMN + tz_row_lane() * TZ_VECTOR + i);
            row[i] = (row[i] & inside) | (edge & ~inside);
#else
            row[i] = tz_mask_word(a, tile.x + i, row[i], edge);
#endif
        }
#else
#pragma unroll
    for (int i = 0; i < TZ_VECTOR; i++) {
        const bool low = tile.x + i < 0, high = tile.x + i >= a.nx;
        if (TZ_NARROW_X && TZ_LOW_X != TZ_HIGH_X) { /* a mirror may run over the other side */
            const int from = tz_map<TZ_LOW_X, TZ_HIGH_X>(tile.x + i, a.nx);
            row[i] = from < 0 ? tz_edge<0, T>(edge, from == -2) : row[i];
        } else if (TZ_HAS_VALUE(TZ_LOW_X) && TZ_HAS_VALUE(TZ_HIGH_X))
            row[i] = low || high ? tz_edge<0, T>(edge, high) : row[i];
        else if (TZ_HAS_VALUE(TZ_LOW_X))
            row[i] = low ? tz_edge<0, T>(edge, false) : row[i];
        else if (TZ_HAS_VALUE(TZ_HIGH_X))
            row[i] = high ? tz_edge<0, T>(edge, true) : row[i];
    }
#endif
}

/* Sets the columns of a row just outside the grid. A tile begins at a multiple of TZ_VECTOR, so
 * their places in a lane are constants, unless the grid is narrower than the radius. */
template <class V>
TZ_DEVICE void tz_hold_row(const tz_arguments &a, const tz_tile &tile,
                           typename V::type (&row)[TZ_VECTOR],
                           const tz_edges<typename V::type> &edge)
{
    typedef typename V::type T;
    if (TZ_BITS_GRID || TZ_FIXED_X)
        tz_fix_row<T>(a, tile, row, edge);
#if !TZ_BITS_GRID
    if (!TZ_WRAP_X) {
#pragma unroll
        for (int side = 0; side < 2; side++) {
            const int rule = side ? TZ_HIGH_X : TZ_LOW_X;
            if (TZ_HAS_VALUE(rule))
                continue;
#pragma unroll
            for (int d = 1; d <= V::RADIUS; d++) {
                const int to = side ? a.nx - 1 + d : -d;
                const int near = TZ_REFLECTS(rule) ? d : 0;
                const int from = TZ_NARROW_X ? tz_map<TZ_LOW_X, TZ_HIGH_X>(to, a.nx)
                                 : side      ? a.nx - 1 - near
                                             : near;
                const int rest = side ? TZ_REST_X - 1 + 16 * TZ_VECTOR : 16 * TZ_VECTOR;
                const int to_element = (side ? rest + d : rest - d) % TZ_VECTOR;
                const int from_element = (side ? rest - near : rest + near) % TZ_VECTOR;
                const int to_lane = (to - to_element - tile.x_first) / TZ_VECTOR;
                const int from_lane = (from - tile.x_first) / TZ_VECTOR;
                T value = row[from_element];
                if (TZ_NARROW_X)
#pragma unroll
                    for (int e = 0; e < TZ_VECTOR; e++)
                        if ((from - tile.x_first) % TZ_VECTOR == e)
                            value = row[e];
                value = tz_shuffle(value, tz_lane() - tz_row_lane() + (from_lane & (TZ_LANES - 1)));
                if (TZ_NARROW_X && TZ_FIXED_X && from < 0) /* past the other side */
                    value = tz_edge<0, T>(edge, from == -2);
                row[to_element] = tz_row_lane() == to_lane ? value : row[to_element];
            }
        }
    }
#endif
}

template <class V>
TZ_DEVICE void tz_hold_columns(const tz_arguments &a, const tz_tile &tile,
                               typename V::type (&now)[TZ_ROWS][TZ_VECTOR],
                               const tz_edges<typename V::type> &edge)
{
#pragma unroll
    for (int j = 0; j < TZ_ROWS; j++)
        tz_hold_row<V>(a, tile, now[j], edge);
}

/* The plane of level 0 that has arrived. */
template <int BORDER, class V>
TZ_DEVICE void tz_take_plane(const tz_arguments &a, const tz_tile &tile, int i,
                             typename V::type (&now)[TZ_ROWS][TZ_VECTOR],
                             const tz_edges<typename V::type> &edge)
{
    if (BORDER == 2 && tile.z - V::LAG >= tile.z_to + TZ_GHOST_HIGH_Z)
        return;
#pragma unroll
    for (int j = 0; j < TZ_ROWS; j++)
        tz_row_get(tz_place_of<V>(tile, i, 0, tz_own_row(tile) + j), now[j]);
    if (BORDER && TZ_HELD_X)
        tz_hold_columns<V>(a, tile, now, edge);
}

/* Must plane z of a version be computed if so many planes of ghost zone are left? It must be needed
 * and in the grid. */
TZ_DEVICE bool tz_plane_wanted(const tz_arguments &a, const tz_tile &tile, int z, int rest_low,
                               int rest_high)
{
    return z >= tile.z_from - rest_low && z < tile.z_to + rest_high &&
           tz_computed<TZ_LOW_Z, TZ_HIGH_Z>(z, a.nz);
}

/* A row of a plane past a fixed side of z. Past fixed sides of x it has their value. */
template <class T, class E>
TZ_DEVICE void tz_fix_plane_row(const tz_arguments &a, const tz_tile &tile, T (&row)[TZ_VECTOR],
                                const E &edge, bool high)
{
#pragma unroll
    for (int i = 0; i < TZ_VECTOR; i++)
        row[i] = tz_edge<2>(edge, high);
#if TZ_EDGES > 1
    if (TZ_BITS_GRID || TZ_FIXED_X)
        tz_fix_row<T>(a, tile, row, edge);
#endif
}

/* Gives a plane above the grid the boundary's values, from planes before it. Call before the push.
 * `edge`: tz_edges of the type, or of sums their only value. */
template <class V, class E>
TZ_DEVICE void tz_hold_above(const tz_arguments &a, const tz_tile &tile, int z,
                             const typename V::type (&ring)[V::PLANES][TZ_ROWS][TZ_VECTOR],
                             typename V::type (&now)[TZ_ROWS][TZ_VECTOR], const E &edge)
{
    if (TZ_WRAP_Z || V::ABOVE == 0 || z < a.nz)
        return;
    const int from = tz_map<TZ_LOW_Z, TZ_HIGH_Z>(z, a.nz), off = z - from;
#pragma unroll
    for (int j = 0; j < TZ_ROWS; j++) {
        if (!TZ_HAS_VALUE(TZ_LOW_Z) || !TZ_HAS_VALUE(TZ_HIGH_Z))
#pragma unroll
            for (int i = 0; i < TZ_VECTOR; i++) {
                /* Of a version that is read only above the centre, no plane of the grid may be
                 * left. At a clamp side the plane before has its values. */
                if (TZ_REPEATS(TZ_HIGH_Z) && V::PLANES <= V::ABOVE)
                    now[j][i] = ring[0][j][i];
#pragma unroll
                for (int k = 1; k < V::PLANES; k++)
                    if (off == k)
                        now[j][i] = ring[k - 1][j][i];
            }
        if (TZ_FIXED_Z && from < 0)
            tz_fix_plane_row(a, tile, now[j], edge, from == -2);
    }
}

/* Sets planes below the grid when the plane that they repeat is complete. Call after the push. */
template <class V, class E>
TZ_DEVICE void tz_hold_below(const tz_arguments &a, const tz_tile &tile, int z, int i,
                             typename V::type (&ring)[V::PLANES][TZ_ROWS][TZ_VECTOR], const E &edge)
{
    if (TZ_WRAP_Z || V::BELOW == 0 || z < 0 || z >= a.nz)
        return;
#pragma unroll
    for (int k = 1; k < V::PLANES; k++) {
        const int outside = z - k;
        if (outside >= 0 || outside < -V::BELOW)
            continue;
        const int from = tz_map<TZ_LOW_Z, TZ_HIGH_Z>(outside, a.nz);
        if (TZ_FIXED_Z && from < 0 ? z != 0 : from != z)
            continue;
#pragma unroll
        for (int j = 0; j < TZ_ROWS; j++) {
#pragma unroll
            for (int e = 0; e < TZ_VECTOR; e++)
                ring[k][j][e] = ring[0][j][e];
            if (TZ_FIXED_Z && from < 0)
                tz_fix_plane_row(a, tile, ring[k][j], edge, from == -2);
        }
        if constexpr (V::ROWS_BELOW) {
            if (k < V::SLOTS)
                tz_leave_rows<2, V>(tile, i, k, ring[k]);
        }
    }
}
