/* kernels/cuda: values of fields outside the grid, in the stream family in 3-D. */

/* Gives the columns of a row past fixed sides of x their value. Their rows and planes do not
 * matter: x comes first. */
template <class T>
TZ_DEVICE void tz_fix_row(const tz_arguments &a, const tz_tile &tile, T (&row)[TZ_VECTOR],
                          const tz_edges<T> &edge)
{
#if TZ_BITS_GRID
    if (!TZ_WRAP_X && !TZ_ROW_LANES)
        tz_each<TZ_VECTOR>([&](int i) {
#if TZ_EDGES == 1
            const T inside = (T)tz_table(TZ_TABLE_COLUMN + tz_row_lane() * TZ_VECTOR + i);
            row[i] = (row[i] & inside) | (edge & ~inside);
#else
            row[i] = tz_mask_word(a, tile.x + i, row[i], edge);
#endif
        });
#else
    tz_each<TZ_VECTOR>([&](int i) {
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
    });
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
        tz_each<2>([&](int side) {
            const int rule = side ? TZ_HIGH_X : TZ_LOW_X;
            if (TZ_HAS_VALUE(rule))
                return;
            tz_each<V::RADIUS + 1, 1>([&](int d) {
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
                    tz_each<TZ_VECTOR>([&](int e) {
                        if ((from - tile.x_first) % TZ_VECTOR == e)
                            value = row[e];
                    });
                value = tz_shuffle(value, tz_lane() - tz_row_lane() + (from_lane & (TZ_LANES - 1)));
                if (TZ_NARROW_X && TZ_FIXED_X && from < 0) /* past the other side */
                    value = tz_edge<0, T>(edge, from == -2);
                row[to_element] = tz_row_lane() == to_lane ? value : row[to_element];
            });
        });
    }
#endif
}

template <class V>
TZ_DEVICE void tz_hold_columns(const tz_arguments &a, const tz_tile &tile,
                               typename V::type (&now)[TZ_ROWS][TZ_VECTOR],
                               const tz_edges<typename V::type> &edge)
{
    tz_each<TZ_ROWS>([&](int j) { tz_hold_row<V>(a, tile, now[j], edge); });
}

/* The plane of level 0 that has arrived. */
template <bool BORDER, class V>
TZ_DEVICE void tz_take_plane(const tz_arguments &a, const tz_tile &tile, int i,
                             typename V::type (&now)[TZ_ROWS][TZ_VECTOR],
                             const tz_edges<typename V::type> &edge)
{
    tz_each<TZ_ROWS>(
        [&](int j) { tz_row_get(tz_place_of<V>(tile, i, 0, tz_own_row(tile) + j), now[j]); });
    if (BORDER && TZ_HELD_X)
        tz_hold_columns<V>(a, tile, now, edge);
}

/* A row of a plane past a fixed side of z. Past fixed sides of x it has their value. */
template <class T, class E>
TZ_DEVICE void tz_fix_plane_row(const tz_arguments &a, const tz_tile &tile, T (&row)[TZ_VECTOR],
                                const E &edge, bool high)
{
    tz_each<TZ_VECTOR>([&](int i) { row[i] = tz_edge<2>(edge, high); });
#if TZ_EDGES > 1
    if (TZ_BITS_GRID || TZ_FIXED_X)
        tz_fix_row<T>(a, tile, row, edge);
#endif
}

/* Gives a plane above the grid the boundary's values, from planes before it. `edge`: tz_edges of
 * the type, or of sums their only value. */
template <class V, class E>
TZ_DEVICE void tz_hold_above(const tz_arguments &a, const tz_tile &tile, int z,
                             const typename V::type (&ring)[V::PLANES][TZ_ROWS][TZ_VECTOR],
                             typename V::type (&now)[TZ_ROWS][TZ_VECTOR], const E &edge)
{
    if (TZ_WRAP_Z || V::ABOVE == 0 || z < a.nz)
        return;
    const int from = tz_map<TZ_LOW_Z, TZ_HIGH_Z>(z, a.nz), off = z - from;
    tz_each<TZ_ROWS>([&](int j) {
        if (!TZ_HAS_VALUE(TZ_LOW_Z) || !TZ_HAS_VALUE(TZ_HIGH_Z))
            tz_each<TZ_VECTOR>([&](int i) {
                /* Of a version that is read only above the centre, no plane of the grid may be
                 * left. At a clamp side the plane before has its values. */
                if (TZ_REPEATS(TZ_HIGH_Z) && V::PLANES <= V::ABOVE)
                    now[j][i] = ring[0][j][i];
                tz_each<V::PLANES, 1>([&](int k) {
                    if (off == k)
                        now[j][i] = ring[k - 1][j][i];
                });
            });
        if (TZ_FIXED_Z && from < 0)
            tz_fix_plane_row(a, tile, now[j], edge, from == -2);
    });
}

/* Sets planes below the grid when the plane that they repeat, which is plane z, is complete. */
template <class V, class E>
TZ_DEVICE void tz_hold_below(const tz_arguments &a, const tz_tile &tile, int z, int i,
                             typename V::type (&ring)[V::PLANES][TZ_ROWS][TZ_VECTOR],
                             const typename V::type (&now)[TZ_ROWS][TZ_VECTOR], const E &edge)
{
    if (TZ_WRAP_Z || V::BELOW == 0 || z < 0 || z >= a.nz)
        return;
    tz_each<V::PLANES, 1>([&](int k) {
        const int outside = z - k;
        if (outside >= 0 || outside < -V::BELOW)
            return;
        const int from = tz_map<TZ_LOW_Z, TZ_HIGH_Z>(outside, a.nz);
        if (TZ_FIXED_Z && from < 0 ? z != 0 : from != z)
            return;
        tz_each<TZ_ROWS>([&](int j) {
            tz_each<TZ_VECTOR>([&](int e) { ring[k - 1][j][e] = now[j][e]; });
            if (TZ_FIXED_Z && from < 0)
                tz_fix_plane_row(a, tile, ring[k - 1][j], edge, from == -2);
        });
        if constexpr (V::ROWS_BELOW) {
            if (k < V::SLOTS)
                tz_leave_rows<true, V>(tile, i, k, ring[k - 1]);
        }
    });
}

/* Planes of a version outside the grid in a group of steps at its ends. Call before the push of
 * plane z. */
template <bool BORDER, class V, class E>
TZ_DEVICE void tz_hold_planes(const tz_arguments &a, const tz_tile &tile, int z, int i,
                              typename V::type (&ring)[V::PLANES][TZ_ROWS][TZ_VECTOR],
                              typename V::type (&now)[TZ_ROWS][TZ_VECTOR], const E &edge)
{
    if (!BORDER || !tile.ends)
        return;
    tz_hold_above<V>(a, tile, z, ring, now, edge);
    tz_hold_below<V>(a, tile, z, i, ring, now, edge);
}
