/* kernels/cuda: the stream family in 3-D.
 *
 * A block of TZ_WARPS warps covers TZ_LANES*TZ_VECTOR columns and, with 32 lanes, TZ_WARPS*TZ_ROWS
 * rows, TZ_VECTOR x TZ_ROWS cells a lane, and streams planes along z. With 16 lanes a tile has half
 * the columns and twice the rows: each half of a warp has rows of its own. Planes of level 0 arrive
 * in shared memory ahead of time. Every pass computes one plane a step, some planes behind the pass
 * before it; a lane keeps its own cells of the planes that are still needed in registers.
 * Neighbours along x come by shuffle; along y from the lane itself, or from rows that warps leave
 * in shared memory for each other. Once a plane a warp waits until the adjacent warps have left
 * their rows (all warps, where rows come from further away). Wrong values move inwards from the
 * tile's ends with each pass: that is the ghost zone, which is not stored.
 *
 * A version of a field is its value at the stage's start (0) or the result of a pass. C describes
 * version n of field NAME by struct v_NAME_n:
 *
 *   type         of a value; memory: of its element, in device memory and in shared memory
 *   LAG          planes by which it is behind the plane that the step is numbered by
 *   PLANES       planes in registers
 *   RADIUS       of the passes that read it; BELOW and ABOVE: planes that they read of it
 *   FIRST, LAST  rows of a lane that other warps read: so many first ones, and last ones
 *   SLOTS        planes in shared memory, a ring that begins at byte SHARED
 *   FIRST_SLOT   where tz_tile.slot has the ring's slots; -1: they are constants
 *   ROWS_BELOW   1: rows of planes below the centre are read from shared memory
 *   ARRIVES      1: it is loaded; SKIP_LOW, SKIP_HIGH: but not these rows of the tile
 *
 * A field that cells read at their own place alone is carried. It needs no neighbours, and no
 * values outside the grid: a lane reads its own cells of level 0 where they arrive.
 *
 * A step has two instances: with BORDER for tiles that leave the grid in x or y, and for planes
 * near its ends; and one that handles no boundary.
 *
 * Cells outside the grid hold the boundary's values if they are read. Version 0 is loaded from the
 * cells that the boundary names. In other versions, columns and planes outside are set after each
 * pass; instead of a row outside, the row inside that it repeats is read. On periodic axes, cells
 * outside are computed. */

#include "common.cuh"

#define TZ_COLUMNS (TZ_LANES * TZ_VECTOR)
#define TZ_TILE_ROWS (32 / TZ_LANES * TZ_WARPS * TZ_ROWS)
/* Do shuffles set the columns outside the grid, also in planes that have just arrived? */
#define TZ_HELD_X (!TZ_BITS_GRID && !TZ_WRAP_X)

struct tz_tile {
    int warp;               /* tz_warp() */
    int x, y;               /* the lane's first cell in the grid */
    int x_first, y_first;   /* the tile's */
    int z;                  /* the plane that arrives, of level 0 */
    int z_from, z_to;       /* planes that the block stores */
    long long at;           /* element of the lane's first cell in plane z */
    bool keeps;             /* the lane's columns are in the tile's useful part */
    int parity;             /* of this step's phase, see tz_adjacent_wait() */
    bool ends;              /* tz_group_leaves() */
    int slot[TZ_SLOTS + 1]; /* of rings whose slots are variables: elements to it, by age */
};

/* The lane's place along a row of the tile. */
TZ_DEVICE int tz_row_lane()
{
    return tz_lane() % TZ_LANES;
}

/* The lane's first row in the tile. The second halves of warps count from the tile's last row, so
 * that adjacent rows belong to the same warp or to adjacent ones. */
TZ_DEVICE int tz_own_row(const tz_tile &tile)
{
    const bool back = tz_lane() >= TZ_LANES;
    return (back ? TZ_TILE_ROWS / TZ_ROWS - 1 - tile.warp : tile.warp) * TZ_ROWS;
}

/* The slots of a ring are reused in turn: a plane of age k has age k + 1 in the next step. START:
 * before the first step. */
template <bool START, int FIRST, int SLOTS> TZ_DEVICE void tz_rotate_slots(tz_tile &tile)
{
    const int last = START ? 0 : tile.slot[FIRST + SLOTS - 1];
#pragma unroll
    for (int k = SLOTS - 1; k > 0; k--)
        tile.slot[FIRST + k] =
            START ? (SLOTS - k) * (TZ_TILE_ROWS * TZ_COLUMNS) : tile.slot[FIRST + k - 1];
    tile.slot[FIRST] = last;
}

/* ---- Shared memory -----------------------------------------------------------------------------
 *
 * First come tables of the tile's rows and columns, for borders, and the words of
 * tz_adjacent_init(). Then each version has a ring of planes of all rows. A lane's part of a row is
 * in packets of at most 16 bytes. */

#define TZ_TABLE_SOURCE (0) /* the row that is read for a row; below 0: the boundary's value */
#define TZ_TABLE_ROW (TZ_TILE_ROWS + 2 * TZ_RADIUS_ROWS) /* the grid's row that is fetched */
#define TZ_TABLE_COLUMN (TZ_TABLE_ROW + TZ_TILE_ROWS)    /* its column; of bits, those inside */
#define TZ_TABLE_END (TZ_TABLE_COLUMN + TZ_COLUMNS)
#define TZ_TABLE_WORDS ((TZ_TABLE_END + 1) / 2 * 2) /* tz_adjacent_init's words */

TZ_DEVICE int tz_table(int entry)
{
    return tz_get((const int *)tz_shared() + entry);
}

template <class T> struct tz_row {
    enum {
        PACKET = sizeof(T) * TZ_VECTOR < 16 ? TZ_VECTOR : 16 / (int)sizeof(T),
        PACKETS = TZ_VECTOR / PACKET,
        STRIDE = TZ_LANES * PACKET
    };
};

/* This lane's first packet of a row. `i`: the step in its group; `age`: steps since the plane was
 * written; negative: steps until it arrives. */
template <class V>
TZ_DEVICE typename V::memory *tz_place_of(const tz_tile &tile, int i, int age, int row)
{
    typedef typename V::memory S;
    int slot = (i - age + V::SLOTS * 64) % V::SLOTS * (TZ_TILE_ROWS * TZ_COLUMNS);
    if constexpr (V::FIRST_SLOT >= 0)
        slot = tile.slot[V::FIRST_SLOT + (age + V::SLOTS * 64) % V::SLOTS];
    return (S *)(tz_shared() + V::SHARED) + slot + row * TZ_COLUMNS +
           tz_row_lane() * tz_row<S>::PACKET;
}

/* Elements of type S as values of type T, and the other way round. */
template <class S, class T> TZ_DEVICE void tz_row_get(const S *from, T (&to)[TZ_VECTOR])
{
    typedef tz_row<S> row;
    tz_each<row::PACKETS>([&](int p) {
        T part[row::PACKET];
        tz_get_values(from + p * row::STRIDE, part);
        tz_each<row::PACKET>([&](int k) { to[p * row::PACKET + k] = part[k]; });
    });
}

template <class S, class T> TZ_DEVICE void tz_row_put(S *to, const T (&from)[TZ_VECTOR])
{
    typedef tz_row<S> row;
    tz_each<row::PACKETS>([&](int p) {
        S part[row::PACKET];
        tz_each<row::PACKET>([&](int k) { part[k] = (S)from[p * row::PACKET + k]; });
        tz_put_packet(to + p * row::STRIDE, part);
    });
}

TZ_DEVICE unsigned long long *tz_adjacent_words()
{
    return (unsigned long long *)((int *)tz_shared() + TZ_TABLE_WORDS);
}

/* Called once a step, after the warp has read the last rows of other warps and written its own last
 * rows: adjacent warps may continue. */
TZ_DEVICE void tz_ready(const tz_tile &tile)
{
    if (TZ_ADJACENT) {
        tz_fetch_wait<TZ_AHEAD - 1>();
        tz_adjacent_arrive(tz_adjacent_words(), tile.warp);
    }
}

/* ---- Level 0 --------------------------------------------------------------------------------- */

/* A lane's part of a row that may lie outside the grid, element by element: words of bits, or
 * columns of a periodic row. */
template <class S, class E>
TZ_DEVICE void tz_fetch_elements(const tz_arguments &a, const tz_tile &tile, S *to, const S *row,
                                 const E &edge)
{
#if !TZ_BITS_GRID
    const int first = tz_table(TZ_TABLE_COLUMN + tz_row_lane() * TZ_VECTOR);
#endif
    tz_each<TZ_VECTOR>([&](int i) {
        S *const at = to + i / tz_row<S>::PACKET * tz_row<S>::STRIDE + i % tz_row<S>::PACKET;
#if TZ_BITS_GRID
        tz_put(at, tz_load_word(a, row, tile.x + i, edge));
#else
        const int column =
            TZ_NARROW_X ? tz_table(TZ_TABLE_COLUMN + tz_row_lane() * TZ_VECTOR + i) : first + i;
        tz_fetch_element(at, row + (column < a.nx ? column : column - a.nx));
#endif
    });
}

template <class T, class E>
TZ_DEVICE void tz_fix_plane_row(const tz_arguments &a, const tz_tile &tile, T (&row)[TZ_VECTOR],
                                const E &edge, bool high);

/* What a lane fetches, of all fields: rows, the plane and the first column in the grid. Rows and
 * planes outside the grid are read from the place that the boundary names, below 0: they have its
 * value. */
struct tz_fetched {
    int y[TZ_ROWS], z, x;
};

/* Of plane z. */
template <bool BORDER>
TZ_DEVICE tz_fetched tz_fetched_of(const tz_arguments &a, const tz_tile &tile, int z)
{
    tz_fetched from;
    if (!BORDER)
        return from;
    tz_each<TZ_ROWS>([&](int j) { from.y[j] = tz_table(TZ_TABLE_ROW + tz_own_row(tile) + j); });
    from.z = tile.ends ? tz_map<TZ_LOW_Z, TZ_HIGH_Z>(z, a.nz) : z;
    from.x = tile.x;
    if (!TZ_BITS_GRID && TZ_WRAP_X && TZ_REST_X == 0)
        from.x = tz_map<TZ_LOW_X, TZ_HIGH_X>(tile.x, a.nx);
    else if (TZ_HELD_X || (!TZ_BITS_GRID && tile.x >= a.nx + TZ_GHOST_HIGH_X))
        /* nobody uses these columns, or they are set when the plane has arrived */
        from.x = tz_spread_column(tile.x, (a.nx - 1) / TZ_VECTOR * TZ_VECTOR);
    return from;
}

/* Fetches the plane that arrives in `ahead` steps; `plane`: what tz_fetched_of() says of it. */
template <bool BORDER, class V>
TZ_DEVICE void tz_fetch_plane(const tz_arguments &a, const tz_tile &tile, const tz_fetched &plane,
                              int i, int ahead, const void *field,
                              const tz_edges<typename V::type> &edge)
{
    typedef typename V::type T;
    typedef typename V::memory S;
    typedef tz_row<S> layout;
    const int further = ahead - V::LAG;
    int z_in = plane.z;
    if (BORDER && V::LAG != 0)
        z_in = tile.ends ? tz_map<TZ_LOW_Z, TZ_HIGH_Z>(tile.z + further, a.nz) : tile.z + further;
    tz_each<TZ_ROWS>([&](int j) {
        const int at = tz_own_row(tile) + j;
        if ((V::SKIP_LOW > 0 && at < V::SKIP_LOW) ||
            (V::SKIP_HIGH > 0 && at >= TZ_TILE_ROWS - V::SKIP_HIGH))
            return;
        S *const to = tz_place_of<V>(tile, i, -ahead, at);
        const S *from = (const S *)field + further * a.plane + (long long)j * a.pitch + tile.at;
        if (BORDER) {
            if (TZ_FIXED_Z && z_in < 0) {
                T outside[TZ_VECTOR];
                tz_fix_plane_row(a, tile, outside, edge, z_in == -2);
                tz_row_put(to, outside);
                return;
            }
            const S *const row =
                (const S *)field + (z_in * a.plane + (long long)plane.y[j] * a.pitch);
            const int x = plane.x;
            if (!TZ_HELD_X && !TZ_ROW_LANES && (TZ_BITS_GRID || TZ_REST_X != 0) &&
                (x < 0 || x + TZ_VECTOR > a.nx ||
                 (TZ_BITS_GRID && 31LL * a.nx + x + TZ_VECTOR > a.columns))) {
                tz_fetch_elements(a, tile, to, row, edge);
                return;
            }
            from = row + x;
        }
        tz_fetch_packets<S, layout::PACKET, layout::PACKETS, layout::STRIDE, layout::PACKET>(to,
                                                                                             from);
    });
}

/* ---- Planes in registers -----------------------------------------------------------------------
 *
 * ring[0] is the newest plane. */

template <class T, int PLANES>
TZ_DEVICE void tz_ring_push(T (&ring)[PLANES][TZ_ROWS][TZ_VECTOR],
                            const T (&now)[TZ_ROWS][TZ_VECTOR])
{
    tz_each<TZ_ROWS>([&](int j) {
        tz_each<TZ_VECTOR>([&](int i) {
#pragma unroll
            for (int k = PLANES - 1; k > 0; k--)
                ring[k][j][i] = ring[k - 1][j][i];
            ring[0][j][i] = now[j][i];
        });
    });
}

/* Passes start before the planes that they read have arrived. Their results until then do not
 * affect stored planes. */
template <class T, int PLANES> TZ_DEVICE void tz_ring_start(T (&ring)[PLANES][TZ_ROWS][TZ_VECTOR])
{
    tz_each<PLANES * TZ_ROWS * TZ_VECTOR>([&](int k) {
        ring[k / (TZ_ROWS * TZ_VECTOR)][k / TZ_VECTOR % TZ_ROWS][k % TZ_VECTOR] = tz_anything<T>();
    });
}

/* Writes rows to shared memory: the rows that other warps read, or with BORDER all rows, unless y
 * is periodic. */
template <bool BORDER, class V>
TZ_DEVICE void tz_leave_rows(const tz_tile &tile, int i, int age,
                             const typename V::type (&now)[TZ_ROWS][TZ_VECTOR])
{
    tz_each<TZ_ROWS>([&](int j) {
        if ((BORDER && !TZ_WRAP_Y) || j < V::FIRST || j >= TZ_ROWS - V::LAST)
            tz_row_put(tz_place_of<V>(tile, i, age, tz_own_row(tile) + j), now[j]);
    });
}

#include "planes_border.cuh"
#include "planes_read.cuh"

/* ---- Out ------------------------------------------------------------------------------------- */

template <bool BORDER, class S, class T>
TZ_DEVICE void tz_store_plane(const tz_arguments &a, const tz_tile &tile, int lag, void *field,
                              const T (&now)[TZ_ROWS][TZ_VECTOR])
{
    const int z = tile.z - lag;
    if (z < tile.z_from || z >= tile.z_to)
        return;
    S *const to = (S *)field - lag * a.plane + tile.at;
    tz_each<TZ_ROWS>([&](int j) {
        const int row = tz_own_row(tile) + j;
        if (row < TZ_GHOST_LOW_Y || row >= TZ_TILE_ROWS - TZ_GHOST_HIGH_Y || !tile.keeps ||
            (BORDER && tile.y + j >= a.ny))
            return;
        S *const at = to + (long long)j * a.pitch;
        S elements[TZ_VECTOR];
        tz_each<TZ_VECTOR>([&](int i) { elements[i] = (S)now[j][i]; });
        if (!BORDER || TZ_REST_X == 0 || tile.x + TZ_VECTOR <= a.nx) {
            tz_store(at, elements);
            return;
        }
        tz_each<TZ_VECTOR>([&](int i) {
            if (tile.x + i < a.nx)
                at[i] = elements[i];
        });
    });
}

/* ---- The tile ----------------------------------------------------------------------------------
 *
 * geometry: planes of a chunk, tiles along x, along y. */

/* The place of a tile. Tiles along the grid's edges have the lowest numbers, since they take
 * longer. */
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

/* The members that are the same for all planes. Tiles that leave the grid compute them again, so
 * that other loops keep no registers for them. */
TZ_DEVICE void tz_tile_place(const tz_arguments &a, tz_tile &tile)
{
    const int wide = a.geometry[1], high = a.geometry[2], number = tz_hidden(tz_block(0));
    const int lane = tz_hidden(tz_row_lane()), chunk = number / (wide * high);
    int bx, by;
    tz_tile_number(number % (wide * high), wide, high, bx, by);
    tile.x_first = bx * (TZ_COLUMNS - TZ_GHOST_LOW_X - TZ_GHOST_HIGH_X) - TZ_GHOST_LOW_X;
    tile.y_first = by * (TZ_TILE_ROWS - TZ_GHOST_LOW_Y - TZ_GHOST_HIGH_Y) - TZ_GHOST_LOW_Y;
    tile.x = tile.x_first + lane * TZ_VECTOR;
    if (TZ_ROW_LANES && lane >= TZ_ROW_LANES) /* repeats the work of another lane */
        tile.x = lane % (TZ_ROW_LANES + !TZ_ROW_LANES) * TZ_VECTOR;
    const int column = lane * TZ_VECTOR;
    tile.keeps = column >= TZ_GHOST_LOW_X && column < TZ_COLUMNS - TZ_GHOST_HIGH_X &&
                 (TZ_ROW_LANES ? lane < TZ_ROW_LANES : tile.x < a.nx);
    tile.y = tile.y_first + tz_own_row(tile);
    tile.z_from = TZ_SPAN_LOW(a) + chunk * a.geometry[0];
    tile.z_to = TZ_SPAN_HIGH(a, a.nz) - tile.z_from > a.geometry[0] ? tile.z_from + a.geometry[0]
                                                                    : TZ_SPAN_HIGH(a, a.nz);
}

TZ_DEVICE tz_tile tz_tile_here(const tz_arguments &a)
{
    tz_tile tile;
    tile.warp = tz_warp();
    tz_tile_place(a, tile);
    tile.z = tile.z_from - TZ_GHOST_LOW_Z;
    tile.parity = 0;
    tile.ends = true;
    tile.at = tile.z * a.plane + (long long)tile.y * a.pitch + tile.x;
    return tile;
}

/* Does the tile, or a static field's neighbourhood of it, leave the grid in x or y? */
TZ_DEVICE bool tz_tile_leaves(const tz_arguments &a, const tz_tile &tile)
{
    const int x = tile.x_first, y = tile.y_first, r = TZ_STATIC_RADIUS;
    if (y < r || y + TZ_TILE_ROWS + r > a.ny)
        return true;
    return !TZ_ROW_LANES && (x < r || x + TZ_COLUMNS + r > a.nx ||
                             (TZ_BITS_GRID && 31LL * a.nx + x + TZ_COLUMNS > a.columns));
}

/* Do planes of the next TZ_GROUP steps, from those fetched to those stored, lie outside the grid or
 * read planes outside? */
TZ_DEVICE bool tz_group_leaves(const tz_arguments &a, const tz_tile &tile)
{
    const int low = tile.z - TZ_LAG - TZ_STATIC_RADIUS;
    const int high =
        tile.z + TZ_GROUP - 1 + (TZ_AHEAD > TZ_STATIC_RADIUS ? TZ_AHEAD : TZ_STATIC_RADIUS);
    /* The rings need at least TZ_GROUP planes. */
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
            const int inside = tz_map<TZ_LOW_Y, TZ_HIGH_Y>(y, a.ny);
            entry = TZ_WRAP_Y || inside < 0 ? row : inside - tile.y_first;
            entry = entry < 0 ? 0 : entry < TZ_TILE_ROWS ? entry : TZ_TILE_ROWS - 1;
            entry = inside < 0 ? inside : entry;
        } else if (k < TZ_TABLE_COLUMN) {
            const int y = tile.y_first + k - TZ_TABLE_ROW;
            entry = TZ_WRAP_Y ? tz_map<TZ_LOW_Y>(y, a.ny) : tz_map_nearest(y, a.ny);
        } else {
            const int x = tile.x_first + k - TZ_TABLE_COLUMN;
            entry = TZ_BITS_GRID ? (int)tz_inside_word(a, x) : tz_map<TZ_LOW_X, TZ_HIGH_X>(x, a.nx);
        }
        tz_put(table + k, entry);
    }
}

#include "planes_cell.cuh"
