/* kernels/cuda: values of fields outside the grid, in the stream family in 3-D. */

/* Sets the columns of a row just outside the grid. A tile begins at a multiple of TZ_VECTOR, so their
 * places in a lane are constants, unless the grid is narrower than the radius. */
template <class V>
TZ_DEVICE void tz_hold_row(const tz_arguments &a, const tz_tile &tile,
                           typename V::type (&row)[TZ_VECTOR], typename V::type edge)
{
    typedef typename V::type T;
#if TZ_BITS_GRID
    if (TZ_BOUNDARY_X != TZ_PERIODIC && !TZ_ROW_LANES)
#pragma unroll
        for (int i = 0; i < TZ_VECTOR; i++) {
            const T inside = (T)tz_table(TZ_TABLE_COLUMN + tz_lane() * TZ_VECTOR + i);
            row[i] = (row[i] & inside) | (edge & ~inside);
        }
#else
    if (TZ_BOUNDARY_X == TZ_FIXED) {
#pragma unroll
        for (int i = 0; i < TZ_VECTOR; i++)
            row[i] = tile.x + i < 0 || tile.x + i >= a.nx ? edge : row[i];
    } else if (TZ_BOUNDARY_X != TZ_PERIODIC) {
#pragma unroll
        for (int side = 0; side < 2; side++)
#pragma unroll
            for (int d = 1; d <= V::RADIUS; d++) {
                const int to = side ? a.nx - 1 + d : -d;
                const int near = TZ_BOUNDARY_X == TZ_MIRROR ? d : 0;
                const int from = TZ_NARROW_X ? tz_map<TZ_BOUNDARY_X>(to, a.nx)
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
                value = tz_shuffle(value, from_lane & 31);
                row[to_element] = tz_lane() == to_lane ? value : row[to_element];
            }
    }
#endif
}

template <class V>
TZ_DEVICE void tz_hold_columns(const tz_arguments &a, const tz_tile &tile,
                               typename V::type (&now)[TZ_ROWS][TZ_VECTOR], typename V::type edge)
{
#pragma unroll
    for (int j = 0; j < TZ_ROWS; j++)
        tz_hold_row<V>(a, tile, now[j], edge);
}

/* The plane of level 0 that has arrived. */
template <int BORDER, class V>
TZ_DEVICE void tz_take_plane(const tz_arguments &a, const tz_tile &tile, int i,
                             typename V::type (&now)[TZ_ROWS][TZ_VECTOR], typename V::type edge)
{
    if (BORDER == 2 && tile.z >= tile.z_to + TZ_REACH)
        return;
#pragma unroll
    for (int j = 0; j < TZ_ROWS; j++)
        tz_row_get(tz_place_of<V>(tile, i, 0, tile.warp * TZ_ROWS + j), now[j]);
    if (BORDER && TZ_HELD_X)
        tz_hold_columns<V>(a, tile, now, edge);
}

/* Must plane z of a version be computed if `rest` planes of ghost zone are left? It must be needed and
 * in the grid. */
TZ_DEVICE bool tz_plane_wanted(const tz_arguments &a, const tz_tile &tile, int z, int rest)
{
    return z >= tile.z_from - rest && z < tile.z_to + rest && tz_computed<TZ_BOUNDARY_Z>(z, a.nz);
}

/* Gives a plane above the grid the boundary's values, from planes before it. Call before the push. */
template <class V>
TZ_DEVICE void tz_hold_above(const tz_arguments &a, int z,
                             const typename V::type (&ring)[V::PLANES][TZ_ROWS][TZ_VECTOR],
                             typename V::type (&now)[TZ_ROWS][TZ_VECTOR], typename V::type edge)
{
    if (TZ_BOUNDARY_Z == TZ_PERIODIC || V::RADIUS_Z == 0 || z < a.nz)
        return;
    const int off = z - tz_map<TZ_BOUNDARY_Z>(z, a.nz);
#pragma unroll
    for (int j = 0; j < TZ_ROWS; j++)
#pragma unroll
        for (int i = 0; i < TZ_VECTOR; i++) {
            if (TZ_BOUNDARY_Z == TZ_FIXED)
                now[j][i] = edge;
            else
#pragma unroll
                for (int k = 1; k < V::PLANES; k++)
                    if (off == k)
                        now[j][i] = ring[k - 1][j][i];
        }
}

/* Sets planes below the grid when the plane that they repeat is complete. Call after the push. */
template <class V>
TZ_DEVICE void tz_hold_below(const tz_arguments &a, const tz_tile &tile, int z, int i,
                             typename V::type (&ring)[V::PLANES][TZ_ROWS][TZ_VECTOR],
                             typename V::type edge)
{
    if (TZ_BOUNDARY_Z == TZ_PERIODIC || V::RADIUS_Z == 0 || z < 0 || z >= a.nz)
        return;
#pragma unroll
    for (int k = 1; k < V::PLANES; k++) {
        const int outside = z - k;
        if (outside >= 0 || outside < -V::RADIUS_Z ||
            (TZ_BOUNDARY_Z == TZ_FIXED ? z != 0 : tz_map<TZ_BOUNDARY_Z>(outside, a.nz) != z))
            continue;
#pragma unroll
        for (int j = 0; j < TZ_ROWS; j++)
#pragma unroll
            for (int e = 0; e < TZ_VECTOR; e++)
                ring[k][j][e] = TZ_BOUNDARY_Z == TZ_FIXED ? edge : ring[0][j][e];
        if constexpr (V::ROWS_BELOW) {
            if (k < V::SLOTS)
                tz_leave_rows<2, V>(tile, i, k, ring[k]);
        }
    }
}
