/* kernels/cuda: the stream family in 3-D.
 *
 * A block of TZ_WARPS warps covers 32*TZ_VECTOR columns and TZ_WARPS*TZ_ROWS rows, TZ_VECTOR x
 * TZ_ROWS cells a lane, and streams planes along z. Planes of the stage's start arrive in shared
 * memory ahead of time. Every pass computes one plane a step, some planes behind the pass before
 * it; a lane keeps its own cells of the planes that are still needed in registers. Neighbours along
 * x come by shuffle, along y from the lane itself or from rows that the warps leave in shared
 * memory for each other: once a plane a warp waits until those beside it have left all theirs
 * (where rows come from further away: until all warps have). Where the tile ends values are wrong,
 * and ever more of them: that is the ghost zone, which is not stored.
 *
 * Generated text defines the sizes, a struct per version of a field (what a pass makes of it), the
 * footprints of the passes and the step; see core/cuda/family_planes.c. Three instances of a step:
 * BORDER 0 looks at no boundary; 1 is of tiles that leave the grid in x or y; 2 also of planes that
 * do.
 *
 * A cell outside the grid that a neighbour reads holds the boundary's value: at the start because
 * it was read from where the boundary says; of a version in columns and planes because it is put
 * there after each pass; in rows because a read is led to the row inside. On a torus it is
 * computed. */

#include "common.cuh"

#define TZ_COLUMNS (32 * TZ_VECTOR)
#define TZ_TILE_ROWS (TZ_WARPS * TZ_ROWS)
#define TZ_ROLL _Pragma("unroll 1")
/* Are columns outside the grid put right by shuffles, also where they have just arrived? */
#define TZ_HELD_X (!TZ_BITS_GRID && TZ_BOUNDARY_X != TZ_PERIODIC)

struct tz_tile {
    int warp;               /* tz_warp() */
    int x, y;               /* the lane's first cell in the grid */
    int x_first, y_first;   /* the tile's */
    int z;                  /* the plane that arrives, of level 0 */
    int z_from, z_to;       /* planes that the block stores */
    long long at;           /* element of the lane's first cell in plane z */
    bool keeps;             /* the lane's columns are of the tile's useful part */
    int odd;                /* of this step's turn of waiting for warps beside */
    int turn[TZ_TURNS + 1]; /* by age, where slots are that the compiler does not know */
};

/* The slots of a ring of SLOTS turn with each step; START: before the first. */
template <bool START, int FIRST, int SLOTS> TZ_DEVICE void tz_turn(tz_tile &tile)
{
    const int last = START ? 0 : tile.turn[FIRST + SLOTS - 1];
    TZ_UNROLL
    for (int k = SLOTS - 1; k > 0; k--)
        tile.turn[FIRST + k] =
            START ? (SLOTS - k) * (TZ_TILE_ROWS * TZ_COLUMNS) : tile.turn[FIRST + k - 1];
    tile.turn[FIRST] = last;
}

/* ---- Shared memory -----------------------------------------------------------------------------
 *
 * First tables of the tile's rows and columns, for borders; then, for each version, a ring of
 * planes of all rows. A lane's part of a row is in packets of at most 16 bytes. */

#define TZ_TABLE_LED (0)                                 /* the row a read is led to, or -1 */
#define TZ_TABLE_ROW (TZ_TILE_ROWS + 2 * TZ_RADIUS_ROWS) /* the grid's row that is fetched */
#define TZ_TABLE_COLUMN (TZ_TABLE_ROW + TZ_TILE_ROWS)    /* its column; of bits, those inside */
#define TZ_TABLE_END (TZ_TABLE_COLUMN + TZ_COLUMNS)
#define TZ_TABLE_BESIDE ((TZ_TABLE_END + 1) / 2 * 2) /* tz_beside_make's words */

TZ_DEVICE int tz_table(int entry)
{
    return tz_get((const int *)tz_shared() + entry);
}

template <class T> struct tz_row {
    enum {
        PACKET = sizeof(T) * TZ_VECTOR < 16 ? TZ_VECTOR : 16 / (int)sizeof(T),
        PACKETS = TZ_VECTOR / PACKET,
        STRIDE = 32 * PACKET
    };
};

/* This lane's first packet of a row. `i`: the step in its group; `age`: steps since the plane was
 * written, or minus the steps until it arrives. */
template <class V>
TZ_DEVICE typename V::type *tz_place_of(const tz_tile &tile, int i, int age, int row)
{
    typedef typename V::type T;
    int slot = (i - age + V::SLOTS * 64) % V::SLOTS * (TZ_TILE_ROWS * TZ_COLUMNS);
    if constexpr (V::TURN >= 0)
        slot = tile.turn[V::TURN + (age + V::SLOTS * 64) % V::SLOTS];
    return (T *)(tz_shared() + V::SHARED) + slot + row * TZ_COLUMNS + tz_lane() * tz_row<T>::PACKET;
}

template <class T> TZ_DEVICE void tz_row_get(const T *from, T (&to)[TZ_VECTOR])
{
    typedef tz_row<T> row;
    TZ_UNROLL
    for (int p = 0; p < row::PACKETS; p++) {
        T part[row::PACKET];
        tz_get_packet(from + p * row::STRIDE, part);
        TZ_UNROLL
        for (int k = 0; k < row::PACKET; k++)
            to[p * row::PACKET + k] = part[k];
    }
}

template <class T> TZ_DEVICE void tz_row_put(T *to, const T (&from)[TZ_VECTOR])
{
    typedef tz_row<T> row;
    TZ_UNROLL
    for (int p = 0; p < row::PACKETS; p++) {
        T part[row::PACKET];
        TZ_UNROLL
        for (int k = 0; k < row::PACKET; k++)
            part[k] = from[p * row::PACKET + k];
        tz_put_packet(to + p * row::STRIDE, part);
    }
}

template <class T> TZ_DEVICE void tz_row_fill(T *to, T value)
{
    T row[TZ_VECTOR];
    TZ_UNROLL
    for (int i = 0; i < TZ_VECTOR; i++)
        row[i] = value;
    tz_row_put(to, row);
}

TZ_DEVICE unsigned long long *tz_beside_words()
{
    return (unsigned long long *)((int *)tz_shared() + TZ_TABLE_BESIDE);
}

/* In each step, when the last rows of other warps have been read and the last ones left: the warp
 * is ready for those beside it to go on. */
TZ_DEVICE void tz_ready(const tz_tile &tile)
{
    if (TZ_BESIDE) {
        tz_fetch_wait<TZ_AHEAD - 1>();
        tz_beside_arrive(tz_beside_words(), tile.warp);
    }
}

/* ---- Level 0 --------------------------------------------------------------------------------- */

/* A row's part that may lie outside the grid, element by element. */
template <class T>
TZ_DEVICE void tz_fetch_elements(const tz_arguments &a, const tz_tile &tile, T *to, const T *row,
                                 T edge)
{
    TZ_UNROLL
    for (int i = 0; i < TZ_VECTOR; i++) {
        T *const at = to + i / tz_row<T>::PACKET * tz_row<T>::STRIDE + i % tz_row<T>::PACKET;
#if TZ_BITS_GRID
        tz_put(at, tz_load_word(a, row, tile.x + i, edge));
#else
        tz_fetch<T, 1>(at, row + tz_table(TZ_TABLE_COLUMN + tz_lane() * TZ_VECTOR + i));
#endif
    }
}

/* Fetches the plane that arrives in `ahead` steps. What lies outside the grid is, in y and z, what
 * the boundary says; in x too, on a torus and in words of bits; otherwise it is put right when it
 * has arrived. */
template <int BORDER, class V>
TZ_DEVICE void tz_fetch_plane(const tz_arguments &a, const tz_tile &tile, int i, int ahead,
                              const void *field, typename V::type edge)
{
    typedef typename V::type T;
    typedef tz_row<T> layout;
    const int z = tile.z + ahead;
    if (BORDER == 2 && z >= tile.z_to + TZ_REACH)
        return;
    const int z_in = BORDER == 2 ? tz_map<TZ_BOUNDARY_Z>(z, a.nz) : z;
    TZ_UNROLL
    for (int j = 0; j < TZ_ROWS; j++) {
        T *const to = tz_place_of<V>(tile, i, -ahead, tile.warp * TZ_ROWS + j);
        const T *from = (const T *)field + ahead * a.plane + (long long)j * a.pitch + tile.at;
        if (BORDER) {
            const int y = tz_table(TZ_TABLE_ROW + tile.warp * TZ_ROWS + j);
            if (TZ_BOUNDARY_Z == TZ_FIXED && z_in < 0) {
                tz_row_fill(to, edge);
                continue;
            }
            const T *const row = (const T *)field + (z_in * a.plane + (long long)y * a.pitch);
            int x = tile.x;
            if (TZ_HELD_X)
                x = x < 0 ? 0 : x < a.nx ? x : (a.nx - 1) / TZ_VECTOR * TZ_VECTOR;
            else if (!TZ_BITS_GRID && TZ_REST_X == 0)
                x = tz_map<TZ_BOUNDARY_X>(x, a.nx);
            else if (!TZ_WHOLE_X && (x < 0 || x + TZ_VECTOR > a.nx ||
                                     (TZ_BITS_GRID && 31LL * a.nx + x + TZ_VECTOR > a.columns))) {
                tz_fetch_elements(a, tile, to, row, edge);
                continue;
            }
            from = row + x;
        }
        TZ_UNROLL
        for (int p = 0; p < layout::PACKETS; p++)
            tz_fetch<T, layout::PACKET>(to + p * layout::STRIDE, from + p * layout::PACKET);
    }
}

/* ---- Planes in registers -----------------------------------------------------------------------
 *
 * ring[0] is the newest. */

template <class T, int PLANES>
TZ_DEVICE void tz_ring_push(T (&ring)[PLANES][TZ_ROWS][TZ_VECTOR],
                            const T (&now)[TZ_ROWS][TZ_VECTOR])
{
    TZ_UNROLL
    for (int j = 0; j < TZ_ROWS; j++)
        TZ_UNROLL
    for (int i = 0; i < TZ_VECTOR; i++) {
        TZ_UNROLL
        for (int k = PLANES - 1; k > 0; k--)
            ring[k][j][i] = ring[k - 1][j][i];
        ring[0][j][i] = now[j][i];
    }
}

/* Passes begin before they have what they read; what they make of it reaches nothing that is kept. */
template <class T, int PLANES> TZ_DEVICE void tz_ring_start(T (&ring)[PLANES][TZ_ROWS][TZ_VECTOR])
{
    TZ_UNROLL
    for (int k = 0; k < PLANES * TZ_ROWS * TZ_VECTOR; k++)
        ring[k / (TZ_ROWS * TZ_VECTOR)][k / TZ_VECTOR % TZ_ROWS][k % TZ_VECTOR] = tz_anything<T>();
}

/* The rows that other warps read, or all. */
template <int BORDER, class V>
TZ_DEVICE void tz_leave_rows(const tz_tile &tile, int i, int age,
                             const typename V::type (&now)[TZ_ROWS][TZ_VECTOR])
{
    TZ_UNROLL
    for (int j = 0; j < TZ_ROWS; j++)
        if (BORDER || j < V::RADIUS || j >= TZ_ROWS - V::RADIUS)
            tz_row_put(tz_place_of<V>(tile, i, age, tile.warp * TZ_ROWS + j), now[j]);
}

/* ---- Boundaries of a version ----------------------------------------------------------------- */

/* Columns of a row just outside the grid. A tile begins at a multiple of TZ_VECTOR, so that
 * elements are known when this is compiled, unless the grid is narrower than the radius. */
template <class V>
TZ_DEVICE void tz_hold_row(const tz_arguments &a, const tz_tile &tile,
                           typename V::type (&row)[TZ_VECTOR], typename V::type edge)
{
    typedef typename V::type T;
#if TZ_BITS_GRID
    if (TZ_BOUNDARY_X != TZ_PERIODIC && !TZ_WHOLE_X)
        TZ_UNROLL
    for (int i = 0; i < TZ_VECTOR; i++) {
        const T inside = (T)tz_table(TZ_TABLE_COLUMN + tz_lane() * TZ_VECTOR + i);
        row[i] = (row[i] & inside) | (edge & ~inside);
    }
#else
    if (TZ_BOUNDARY_X == TZ_FIXED) {
        TZ_UNROLL
        for (int i = 0; i < TZ_VECTOR; i++)
            row[i] = tile.x + i < 0 || tile.x + i >= a.nx ? edge : row[i];
    } else if (TZ_BOUNDARY_X != TZ_PERIODIC) {
        TZ_UNROLL
        for (int side = 0; side < 2; side++)
            TZ_UNROLL
        for (int d = 1; d <= V::RADIUS; d++) {
            const int to = side ? a.nx - 1 + d : -d;
            const int near = TZ_BOUNDARY_X == TZ_MIRROR ? d : 0;
            const int from = TZ_NARROW_X ? tz_map<TZ_BOUNDARY_X>(to, a.nx)
                             : side ? a.nx - 1 - near
                                    : near;
            const int rest = side ? TZ_REST_X - 1 + 16 * TZ_VECTOR : 16 * TZ_VECTOR;
            const int to_element = (side ? rest + d : rest - d) % TZ_VECTOR;
            const int from_element = (side ? rest - near : rest + near) % TZ_VECTOR;
            const int to_lane = (to - to_element - tile.x_first) / TZ_VECTOR;
            const int from_lane = (from - tile.x_first) / TZ_VECTOR;
            T value = row[from_element];
            if (TZ_NARROW_X)
                TZ_UNROLL
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
    TZ_UNROLL
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
    TZ_UNROLL
    for (int j = 0; j < TZ_ROWS; j++)
        tz_row_get(tz_place_of<V>(tile, i, 0, tile.warp * TZ_ROWS + j), now[j]);
    if (BORDER && TZ_HELD_X)
        tz_hold_columns<V>(a, tile, now, edge);
}

/* Is plane z of a version computed, `rest` planes of ghost zone being left? Not before it is of use
 * or can be computed, and not outside the grid. */
TZ_DEVICE bool tz_plane_wanted(const tz_arguments &a, const tz_tile &tile, int z, int rest)
{
    return z >= tile.z_from - rest && z < tile.z_to + rest && tz_computed<TZ_BOUNDARY_Z>(z, a.nz);
}

/* A plane above the grid: what the boundary says, from the planes before it. Before the push. */
template <class V>
TZ_DEVICE void tz_hold_above(const tz_arguments &a, int z,
                             const typename V::type (&ring)[V::PLANES][TZ_ROWS][TZ_VECTOR],
                             typename V::type (&now)[TZ_ROWS][TZ_VECTOR], typename V::type edge)
{
    if (TZ_BOUNDARY_Z == TZ_PERIODIC || V::RADIUS_Z == 0 || z < a.nz)
        return;
    const int off = z - tz_map<TZ_BOUNDARY_Z>(z, a.nz);
    TZ_UNROLL
    for (int j = 0; j < TZ_ROWS; j++)
        TZ_UNROLL
    for (int i = 0; i < TZ_VECTOR; i++) {
        if (TZ_BOUNDARY_Z == TZ_FIXED)
            now[j][i] = edge;
        else
            TZ_UNROLL
        for (int k = 1; k < V::PLANES; k++)
            if (off == k)
                now[j][i] = ring[k - 1][j][i];
    }
}

/* Planes below the grid, once the plane that they repeat is there. After the push. */
template <class V>
TZ_DEVICE void tz_hold_below(const tz_arguments &a, const tz_tile &tile, int z, int i,
                             typename V::type (&ring)[V::PLANES][TZ_ROWS][TZ_VECTOR],
                             typename V::type edge)
{
    if (TZ_BOUNDARY_Z == TZ_PERIODIC || V::RADIUS_Z == 0 || z < 0 || z >= a.nz)
        return;
    TZ_UNROLL
    for (int k = 1; k < V::PLANES; k++) {
        const int outside = z - k;
        if (outside >= 0 || outside < -V::RADIUS_Z ||
            (TZ_BOUNDARY_Z == TZ_FIXED ? z != 0 : tz_map<TZ_BOUNDARY_Z>(outside, a.nz) != z))
            continue;
        TZ_UNROLL
        for (int j = 0; j < TZ_ROWS; j++)
            TZ_UNROLL
        for (int e = 0; e < TZ_VECTOR; e++)
            ring[k][j][e] = TZ_BOUNDARY_Z == TZ_FIXED ? edge : ring[0][j][e];
        if constexpr (V::ROWS_BELOW) {
            if (k < V::SLOTS)
                tz_leave_rows<2, V>(tile, i, k, ring[k]);
        }
    }
}

/* ---- What a pass reads ----------------------------------------------------------------------- */

/* Where reads of the rows around and of a lane are led, -1 being the boundary's value. (Where planes
 * leave the grid it is looked up each time: that is rare, and registers are short.) */
struct tz_led {
    int row[TZ_ROWS + 2 * TZ_RADIUS_ROWS];
};

template <int BORDER> TZ_DEVICE tz_led tz_led_here(const tz_tile &tile)
{
    tz_led led;
    TZ_UNROLL
    for (int j = 0; j < TZ_ROWS + 2 * TZ_RADIUS_ROWS; j++)
        led.row[j] = BORDER == 1 ? tz_table(TZ_TABLE_LED + tile.warp * TZ_ROWS + j) : 0;
    return led;
}

/* A row that is not the lane's own, or that is and lies outside the grid. */
template <int BORDER, class V>
TZ_DEVICE void tz_row_beside(const tz_tile &tile, const tz_led &led, int i, int age, int j,
                             typename V::type edge, typename V::type (&to)[TZ_VECTOR])
{
    if (BORDER) {
        const int own = tile.warp * TZ_ROWS;
        int row = BORDER == 1 ? led.row[j + TZ_RADIUS_ROWS]
                              : tz_table(TZ_TABLE_LED + own + j + TZ_RADIUS_ROWS);
        if (j >= 0 && j < TZ_ROWS && row == own + j)
            return;
        /* Only cells outside the grid, which nobody reads, are led further. */
        if (TZ_BESIDE && TZ_BOUNDARY_Y != TZ_PERIODIC && row >= 0) {
            row = row > own - TZ_ROWS ? row : own - TZ_ROWS;
            row = row < own + 2 * TZ_ROWS - 1 ? row : own + 2 * TZ_ROWS - 1;
        }
        tz_row_get(tz_place_of<V>(tile, i, age,
                                  TZ_BOUNDARY_Y == TZ_FIXED && row < 0 ? tile.warp * TZ_ROWS : row),
                   to);
        if (TZ_BOUNDARY_Y == TZ_FIXED)
            TZ_UNROLL
        for (int e = 0; e < TZ_VECTOR; e++)
            to[e] = row < 0 ? edge : to[e];
        return;
    }
    /* The row of the same place in the warp that has it; where there is none, in this one. */
    const int away = j < 0 ? -((TZ_ROWS - 1 - j) / TZ_ROWS) : j / TZ_ROWS;
    const int other = tile.warp + away;
    const int warp = other >= 0 && other < TZ_WARPS ? other : tile.warp;
    tz_row_get(tz_place_of<V>(tile, i, age, warp * TZ_ROWS + (j - away * TZ_ROWS)), to);
}

/* The element `e` of the lane that is `lanes` to the west or east. */
template <class T> TZ_DEVICE T tz_west(const T (&row)[TZ_VECTOR], int e, int lanes, T edge)
{
#if TZ_WHOLE_X
    const int turns = tz_lane() < lanes;
    const T from = tz_shuffle(row[e], (tz_lane() - lanes + (turns ? TZ_WHOLE_X : 0)) & 31);
    return tz_funnel_left(from, TZ_BOUNDARY_X == TZ_PERIODIC ? from : edge, turns);
#else
    return tz_shuffle_up(row[e], lanes);
#endif
}

template <class T> TZ_DEVICE T tz_east(const T (&row)[TZ_VECTOR], int e, int lanes, T edge)
{
#if TZ_WHOLE_X
    const int turns = tz_lane() + lanes >= TZ_WHOLE_X;
    const T from = tz_shuffle(row[e], (tz_lane() + lanes - (turns ? TZ_WHOLE_X : 0)) & 31);
    return tz_funnel_right(TZ_BOUNDARY_X == TZ_PERIODIC ? from : edge, from, turns);
#else
    return tz_shuffle_down(row[e], lanes);
#endif
}

/* A row of the neighbourhood of a lane's cells: NEED has a bit for each column that cells read, the
 * first being WIDE - TZ_VECTOR over 2 to the west of the lane's own. J: the row, 0 being the lane's
 * first; AGE: of its plane; TURNS: cells of other rows read it. */
template <int BORDER, class V, int AGE, int J, unsigned int NEED, bool TURNS, int PLANES, int WIDE>
TZ_DEVICE void tz_near_row(const tz_arguments &a, const tz_tile &tile, const tz_led &led,
                           typename V::type (&near)[WIDE],
                           const typename V::type (&ring)[PLANES][TZ_ROWS][TZ_VECTOR], int i,
                           typename V::type edge)
{
    typedef typename V::type T;
    constexpr int r = (WIDE - TZ_VECTOR) / 2;
    constexpr bool own = J >= 0 && J < TZ_ROWS;
    constexpr unsigned int inner = ((1u << TZ_VECTOR) - 1u) << r;
    T row[TZ_VECTOR];
    if constexpr (own) {
        TZ_UNROLL
        for (int e = 0; e < TZ_VECTOR; e++)
            row[e] = ring[AGE][J][e];
    }
    if constexpr (!own || (BORDER && TZ_STRADDLE_Y && TURNS)) {
        tz_row_beside<BORDER, V>(tile, led, i, AGE, J, edge, row);
        /* What has arrived is put right by the lane that takes it, for itself. */
        if constexpr (BORDER && V::ARRIVES && TZ_HELD_X && (NEED & ~inner) != 0)
            tz_hold_row<V>(a, tile, row, edge);
    }
    TZ_UNROLL
    for (int e = 0; e < TZ_VECTOR; e++)
        near[r + e] = row[e];
    TZ_UNROLL
    for (int d = 1; d <= r; d++) {
        const int lanes = (TZ_VECTOR - 1 + d) / TZ_VECTOR, e = lanes * TZ_VECTOR - d;
        if (NEED >> (r - d) & 1u)
            near[r - d] = tz_west(row, e, lanes, edge);
        if (NEED >> (r + TZ_VECTOR - 1 + d) & 1u)
            near[r + TZ_VECTOR - 1 + d] = tz_east(row, TZ_VECTOR - 1 - e, lanes, edge);
    }
}

template <class T, int SIDE, int HIGH, int WIDE>
TZ_DEVICE void tz_near_fill(T (&near)[SIDE][HIGH][WIDE], T value)
{
    TZ_UNROLL
    for (int k = 0; k < SIDE * HIGH * WIDE; k++)
        near[k / (HIGH * WIDE)][k / WIDE % HIGH][k % WIDE] = value;
}

/* What is not read stays as it is here. */
template <class T, int SIDE, int HIGH, int WIDE>
TZ_DEVICE void tz_near_nothing(T (&near)[SIDE][HIGH][WIDE])
{
    tz_near_fill(near, tz_absent<T>());
}

/* ---- Out ------------------------------------------------------------------------------------- */

template <int BORDER, class T>
TZ_DEVICE void tz_store_plane(const tz_arguments &a, const tz_tile &tile, int lag, void *field,
                              const T (&now)[TZ_ROWS][TZ_VECTOR])
{
    const int z = tile.z - lag;
    if (z < tile.z_from || z >= tile.z_to)
        return;
    T *const to = (T *)field - lag * a.plane + tile.at;
    TZ_UNROLL
    for (int j = 0; j < TZ_ROWS; j++) {
        const int row = tile.warp * TZ_ROWS + j;
        if (row < TZ_GHOST_Y || row >= TZ_TILE_ROWS - TZ_GHOST_Y || !tile.keeps ||
            (BORDER && tile.y + j >= a.ny))
            continue;
        T *const at = to + (long long)j * a.pitch;
        if (!BORDER || tile.x + TZ_VECTOR <= a.nx) {
            tz_store(at, now[j]);
            continue;
        }
        TZ_UNROLL
        for (int i = 0; i < TZ_VECTOR; i++)
            if (tile.x + i < a.nx)
                at[i] = now[j][i];
    }
}

/* ---- The tile ----------------------------------------------------------------------------------
 *
 * geometry: planes of a chunk, tiles along x, along y. */

/* Tiles in order: those along the grid's edges first, which take longer. */
TZ_DEVICE void tz_tile_number(int number, int wide, int high, int &x, int &y)
{
    const int rows = high > 1 ? 2 : 1, columns = wide > 1 ? 2 : 1, inner = high - rows;
    if (number < rows * wide) {
        x = number % wide;
        y = number < wide ? 0 : high - 1;
        return;
    }
    number -= rows * wide;
    if (number < columns * inner) {
        x = number < inner ? 0 : wide - 1;
        y = 1 + number % inner;
        return;
    }
    number -= columns * inner;
    x = 1 + number % (wide - columns);
    y = 1 + number / (wide - columns);
}

/* All that does not change as planes pass. Said again where tiles leave the grid, so that elsewhere
 * no register keeps what only they need. */
TZ_DEVICE void tz_tile_place(const tz_arguments &a, tz_tile &tile)
{
    const int wide = a.geometry[1], high = a.geometry[2], number = tz_hidden(tz_block(0));
    const int lane = tz_hidden(tz_lane()), chunk = number / (wide * high);
    int bx, by;
    tz_tile_number(number % (wide * high), wide, high, bx, by);
    tile.x_first = bx * (TZ_COLUMNS - 2 * TZ_GHOST_X) - TZ_GHOST_X;
    tile.y_first = by * (TZ_TILE_ROWS - 2 * TZ_GHOST_Y) - TZ_GHOST_Y;
    tile.x = tile.x_first + lane * TZ_VECTOR;
    if (TZ_WHOLE_X && lane >= TZ_WHOLE_X)
        tile.x = (TZ_WHOLE_X - 1) * TZ_VECTOR; /* does what another does */
    const int column = lane * TZ_VECTOR;
    tile.keeps = column >= TZ_GHOST_X && column < TZ_COLUMNS - TZ_GHOST_X &&
                 (TZ_WHOLE_X ? lane < TZ_WHOLE_X : tile.x < a.nx);
    tile.y = tile.y_first + tile.warp * TZ_ROWS;
    tile.z_from = chunk * a.geometry[0];
    tile.z_to = a.nz - tile.z_from > a.geometry[0] ? tile.z_from + a.geometry[0] : a.nz;
}

TZ_DEVICE tz_tile tz_tile_here(const tz_arguments &a)
{
    tz_tile tile;
    tile.warp = tz_warp();
    tz_tile_place(a, tile);
    tile.z = tile.z_from - TZ_REACH;
    tile.odd = 0;
    tile.at = tile.z * a.plane + (long long)tile.y * a.pitch + tile.x;
    return tile;
}

/* Does the tile, or a static field's neighbourhood of it, leave the grid in x or y? */
TZ_DEVICE bool tz_tile_leaves(const tz_arguments &a, const tz_tile &tile)
{
    const int x = tile.x_first, y = tile.y_first, r = TZ_STATIC_RADIUS;
    if (y < r || y + TZ_TILE_ROWS + r > a.ny)
        return true;
    return !TZ_WHOLE_X && (x < r || x + TZ_COLUMNS + r > a.nx ||
                           (TZ_BITS_GRID && 31LL * a.nx + x + TZ_COLUMNS > a.columns));
}

/* Do the planes of the next TZ_GROUP steps, from the fetched to the stored, need an eye on the
 * grid's ends? */
TZ_DEVICE bool tz_group_leaves(const tz_arguments &a, const tz_tile &tile)
{
    const int low = tile.z - TZ_LAG - TZ_STATIC_RADIUS;
    const int high =
        tile.z + TZ_GROUP - 1 + (TZ_AHEAD > TZ_STATIC_RADIUS ? TZ_AHEAD : TZ_STATIC_RADIUS);
    /* Fewer planes than that do not fill the rings. */
    const bool few = tile.z_to - tile.z_from < TZ_GROUP;
    return few || low <= TZ_RADIUS_ROWS || high >= a.nz;
}

TZ_DEVICE void tz_tables_make(const tz_arguments &a, const tz_tile &tile)
{
    int *const table = (int *)tz_shared();
    for (int k = tz_thread(); k < TZ_TABLE_END; k += 32 * TZ_WARPS) {
        int entry;
        if (k < TZ_TABLE_ROW) {
            const int row = k - TZ_RADIUS_ROWS, y = tile.y_first + row;
            const int inside = tz_map<TZ_BOUNDARY_Y>(y, a.ny);
            entry = TZ_BOUNDARY_Y == TZ_PERIODIC || inside < 0 ? row : inside - tile.y_first;
            entry = entry < 0 ? 0 : entry < TZ_TILE_ROWS ? entry : TZ_TILE_ROWS - 1;
            entry = inside < 0 ? -1 : entry;
        } else if (k < TZ_TABLE_COLUMN) {
            const int y = tile.y_first + k - TZ_TABLE_ROW;
            entry = TZ_BOUNDARY_Y == TZ_PERIODIC ? tz_map<TZ_BOUNDARY_Y>(y, a.ny)
                                                 : tz_map<TZ_CLAMP>(y, a.ny);
        } else {
            const int x = tile.x_first + k - TZ_TABLE_COLUMN;
            entry =
                TZ_BITS_GRID ? (int)tz_mask_word(a, x, ~0u, 0u) : tz_map<TZ_BOUNDARY_X>(x, a.nx);
        }
        tz_put(table + k, entry);
    }
}

/* ---- The words of a cell update -------------------------------------------------------------- */

/* Where a cell is: in the lane's block, and in the grid. */
struct tz_cell_place {
    int i, j;
    int x, y, z; /* may be outside the grid */
    long long step;
};

template <int BORDER, int BOUNDARY> TZ_DEVICE int tz_coordinate(int c, int n)
{
    return BORDER ? tz_map<BOUNDARY>(c, n) : c;
}

template <int BORDER, class T>
TZ_DEVICE T tz_static(const tz_arguments &a, const tz_cell_place &p, const T *field, T edge, int dx,
                      int dy, int dz)
{
    int x = p.x + dx, y = p.y + dy, z = p.z + dz;
    if (BORDER) {
        if (!TZ_BITS_GRID)
            x = tz_map<TZ_BOUNDARY_X>(x, a.nx);
        y = tz_map<TZ_BOUNDARY_Y>(y, a.ny);
        z = tz_map<TZ_BOUNDARY_Z>(z, a.nz);
        if ((!TZ_BITS_GRID && x < 0) || y < 0 || z < 0)
            return edge;
    }
    if (TZ_BITS_GRID) /* words wrap and end in their own way */
        return tz_load_static_word(a, field + (long long)a.pitch * y + a.plane * z, x, edge);
    return field[x + (long long)a.pitch * y + a.plane * z];
}

#define TZ__FIELD_state(name, type)                                                                \
    const type(*name)[TZ_ROWS + 2 * TZ_CELL_RADIUS][TZ_VECTOR + 2 * TZ_CELL_RADIUS];               \
    type(*name##_out)[TZ_VECTOR];
#define TZ__FIELD_static(name, type)                                                               \
    const type *name;                                                                              \
    type name##_edge;
#define TZ__CONTEXT_FIELD(name, type) TZ__CAT(TZ__FIELD_, TZ__CAT(TZ__KIND_, name))(name, type)
#define TZ__NO_PLANES(D)
#define TZ__PLANES_MEMBER(name, type) type name;
#define TZ__PLANES_ASSIGN(name, type) tz_q.name = name(0);
#define TZ_CELL_ONCE(cell, ONCE) TZ__CELL(cell, ONCE, TZ__NO_PLANES)
#undef TZ_CELL_PLANES
#define TZ_CELL_PLANES(cell, PLANES) TZ__CELL(cell, TZ__ONCE_NOTHING, PLANES)
#undef TZ_PLANE
#define TZ_PLANE(sum, dz) (tz_c.planes[TZ_CELL_RADIUS - (dz)][tz_p.j][tz_p.i].sum)
#define TZ__CELL(cell, ONCE, PLANES)                                                               \
    struct once_##cell {                                                                           \
        ONCE(TZ__ONCE_MEMBER)                                                                      \
    };                                                                                             \
    struct planes_##cell {                                                                         \
        PLANES(TZ__PLANES_MEMBER)                                                                  \
    };                                                                                             \
    struct context_##cell {                                                                        \
        TZ_FIELDS(TZ__CONTEXT_FIELD)                                                               \
        TZ_CONSTANTS(TZ__CONTEXT_CONSTANT)                                                         \
        const planes_##cell (*planes)[TZ_ROWS][TZ_VECTOR]; /* the newest first */                  \
        const tz_arguments *arguments;                                                             \
    };                                                                                             \
    template <int TZ__BORDER>                                                                      \
    TZ_DEVICE planes_##cell make_planes_##cell(const context_##cell &tz_c,                         \
                                               const tz_cell_place &tz_p)                          \
    {                                                                                              \
        planes_##cell tz_q;                                                                        \
        PLANES(TZ__PLANES_ASSIGN)                                                                  \
        return tz_q;                                                                               \
    }                                                                                              \
    template <int TZ__BORDER>                                                                      \
    TZ_DEVICE void body_##cell(const context_##cell &tz_c, const tz_cell_place &tz_p,              \
                               const once_##cell &tz_o);                                           \
    template <int TZ__BORDER>                                                                      \
    TZ_DEVICE void update_##cell(const context_##cell &tz_c, const tz_cell_place &tz_p)            \
    {                                                                                              \
        once_##cell tz_o;                                                                          \
        ONCE(TZ__ONCE_ASSIGN)                                                                      \
        body_##cell<TZ__BORDER>(tz_c, tz_p, tz_o);                                                 \
    }                                                                                              \
    template <int TZ__BORDER>                                                                      \
    TZ_DEVICE void body_##cell(const context_##cell &tz_c, const tz_cell_place &tz_p,              \
                               const once_##cell &tz_o)
#define TZ__READ_state(f, dx, dy, dz)                                                              \
    (tz_c.f[(dz) + TZ_CELL_RADIUS][tz_p.j + (dy) + TZ_CELL_RADIUS][tz_p.i + (dx) + TZ_CELL_RADIUS])
#define TZ__READ_static(f, dx, dy, dz)                                                             \
    tz_static<TZ__BORDER>(*tz_c.arguments, tz_p, tz_c.f, tz_c.f##_edge, (dx), (dy), (dz))
#define TZ__AT3(f, dx, dy, dz) TZ__CAT(TZ__READ_, TZ__CAT(TZ__KIND_, f))(f, dx, dy, dz)
#define TZ_PUT(f, value) (tz_c.f##_out[tz_p.j][tz_p.i] = (value))
#if TZ_BITS_GRID
#define TZ_X ((tz_p.x % tz_c.arguments->nx + tz_c.arguments->nx) % tz_c.arguments->nx)
#else
#define TZ_X (tz_coordinate<TZ__BORDER, TZ_BOUNDARY_X>(tz_p.x, tz_c.arguments->nx))
#endif
#define TZ_Y (tz_coordinate<TZ__BORDER, TZ_BOUNDARY_Y>(tz_p.y, tz_c.arguments->ny))
#define TZ_Z (tz_coordinate<TZ__BORDER, TZ_BOUNDARY_Z>(tz_p.z, tz_c.arguments->nz))
#define TZ_STEP (tz_p.step)

/* ---- A block's run -----------------------------------------------------------------------------
 *
 * RUN holds the rings; fetch<BORDER>(a, tile, i, ahead) of all fields, step<BORDER>(run, a, tile,
 * i). */

template <int BORDER, class RUN>
TZ_DEVICE void tz_step(RUN &run, const tz_arguments &a, tz_tile &tile, int i)
{
    if (TZ_BESIDE) {
        tz_beside_wait(tz_beside_words(), tile.warp, tile.odd);
    } else {
        tz_fetch_wait<TZ_AHEAD - 1>();
        tz_barrier();
    }
    RUN::template fetch<BORDER>(a, tile, i, TZ_AHEAD);
    tz_fetch_end();
    RUN::template step<BORDER>(run, a, tile, i);
    RUN::template turn<false>(tile);
    tile.odd ^= 1;
    tile.z++;
    tile.at += a.plane;
}

template <int BORDER, class RUN>
TZ_DEVICE void tz_group(RUN &run, const tz_arguments &a, tz_tile &tile)
{
    if (BORDER == 2)
        TZ_ROLL
    for (int i = 0; i < TZ_GROUP; i++)
        tz_step<BORDER>(run, a, tile, i);
    else TZ_UNROLL for (int i = 0; i < TZ_GROUP; i++) tz_step<BORDER>(run, a, tile, i);
}

TZ_DEVICE void tz_rings_clear()
{
    const tz_word nothing[4] = {0, 0, 0, 0};
    TZ_ROLL
    for (int k = TZ_RINGS_FROM + 16 * tz_thread(); k < TZ_RINGS_TO; k += 16 * 32 * TZ_WARPS)
        tz_put_packet((tz_word *)(tz_shared() + k), nothing);
}

template <class RUN> TZ_DEVICE void tz_run(const tz_arguments &a)
{
    RUN run;
    RUN::start(run);
    tz_tile tile = tz_tile_here(a);
    RUN::template turn<true>(tile);
    tz_rings_clear();
    tz_tables_make(a, tile);
    if (TZ_BESIDE)
        tz_beside_make(tz_beside_words(), TZ_WARPS);
    tz_barrier();
    TZ_UNROLL
    for (int k = 0; k < TZ_AHEAD; k++) {
        RUN::template fetch<2>(a, tile, 0, k);
        tz_fetch_end();
    }
    tz_ready(tile);
    const bool leaves = tz_tile_leaves(a, tile);
    const int steps = tile.z_to - tile.z_from + TZ_REACH + TZ_LAG;
    /* Loops of their own, lest one's registers be arranged for another's sake. */
    for (int done = 0; done < steps;) {
        if (tz_group_leaves(a, tile)) {
            tz_tile_place(a, tile);
            tz_group<2>(run, a, tile);
            done += TZ_GROUP;
        } else if (leaves) {
            tz_tile_place(a, tile);
            do {
                tz_group<1>(run, a, tile);
                done += TZ_GROUP;
            } while (done < steps && !tz_group_leaves(a, tile));
        } else {
            do {
                tz_group<0>(run, a, tile);
                done += TZ_GROUP;
            } while (done < steps && !tz_group_leaves(a, tile));
        }
    }
    tz_fetch_wait<0>();
}
