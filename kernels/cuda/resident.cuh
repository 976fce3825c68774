/* kernels/cuda: the resident family: a small grid stays on chip.
 *
 * One launch runs many stages. The grid is cut into one tile a block: the cells that the block owns
 * and TZ_GHOST cells of its neighbours around them, except at the grid's ends. Each thread has a
 * brick of TZ_VX x TZ_VY x TZ_VZ cells, in registers (TZ_HELD) or in shared memory. Threads read
 * each other's cells from shared memory. After TZ_HEIGHT iterations the ghost zone is used up: each
 * block sends the cells that its neighbours also hold, and receives theirs. One store writes a value
 * and a tag that shows its arrival: a block waits only for its neighbours, not for the grid.
 *
 * Shared memory holds element e of the bricks of all threads next to each other, and element e + 1
 * TZ_PITCH elements further. When all threads of a warp read the same neighbour, they read 32
 * adjacent words; and, but for threads at a tile's end, a neighbour lies at the same distance from
 * each thread's own element. A thread at the end of a row reads an own element instead; TZ_PITCH is
 * such that this is in another bank than what the other threads of the warp read, where it can.
 *
 * Along an axis with one block the tile is the full extent of the grid, without a ghost zone: the
 * cell that a boundary reads is in the tile. Beyond an end of a bit row comes its other end,
 * shifted by a bit. The bit that is new there is the boundary value or, in periodic rows, of the column
 * that is as far from the other end: a bit of the same word if rows have a multiple of 32 columns.
 * Else (TZ_SPARE_BITS bits are past the last column) it is in another word, and one block has the whole row.
 * These bits are copies of the first columns. They are computed like others, and stay copies. There a
 * row's last brick may have unused words at its end (TZ_UNUSED). Nothing reads them. */

#include "common.cuh"

#define TZ_CELLS (TZ_VX * TZ_VY * TZ_VZ)
#define TZ_LIVE (TZ_TX * TZ_TY * TZ_TZ)
#define TZ_WRAPS_X (TZ_BITS_GRID || TZ_WRAP_X)
#define TZ_WRAPS_Y TZ_WRAP_Y
#define TZ_WRAPS_Z TZ_WRAP_Z

#if TZ_SPARE_BITS > 0
/* From word c past an end of a row, as its coordinate wraps into the row, to the column of its new
 * bit: TZ_LAST_BITS + c before the first word, TZ_SPARE_BITS + c after the last one. */
#define TZ_LAST_BITS (31 * TZ_GRID_X - TZ_SPARE_BITS)
#define TZ_UNUSED (TZ_VX * TZ_TX - TZ_GRID_X)
#else
#define TZ_UNUSED 0
#endif

/* A thread's elements of a field. */
template <class T> struct tz_brick {
    T v[TZ_VZ][TZ_VY][TZ_VX];
};
/* All cells of a brick. The loops are unrolled: i, j and k are constants. */
#define TZ_EACH_CELL                                                                               \
    TZ_UNROLL                                                                                      \
    for (int k = 0; k < TZ_VZ; k++)                                                                \
        TZ_UNROLL                                                                                  \
    for (int j = 0; j < TZ_VY; j++)                                                                \
        TZ_UNROLL                                                                                  \
    for (int i = 0; i < TZ_VX; i++)

/* Where a thread's brick is along an axis. Bit c of a mask stands for cell c of the brick. */
struct tz_span {
    int first; /* coordinate of its first cell; outside the grid only where the axis wraps */
    unsigned int foreign; /* cells that other blocks own */
    unsigned int wanted;  /* own cells that other blocks also hold */
};

/* The elements adjacent to a brick along an axis: TZ_RADIUS before it, then TZ_RADIUS after it. */
struct tz_sides {
    int offset[2 * TZ_RADIUS];   /* from the thread's element 0, in elements of shared memory */
    bool outside[2 * TZ_RADIUS]; /* the boundary value, */
    bool high[2 * TZ_RADIUS];    /* of the high side, if values differ */
    int turns[2 * TZ_RADIUS];    /* bit rows: how often the coordinate wraps */
#if TZ_SPARE_BITS > 0
    int other[2 * TZ_RADIUS]; /* where it wraps: the element with the new bit, as `offset`, */
    int bit[2 * TZ_RADIUS];   /* and the number of that bit there */
#endif
};

/* Where a thread is. */
struct tz_tile {
    tz_span x, y, z;
    tz_sides sides_x, sides_y, sides_z;
#if TZ_MASKED
    /* Bit (k * TZ_VY + j) * TZ_VX + i of the brick: cells that other blocks own, and own cells that
     * other blocks also hold. */
    unsigned int foreign, wanted;
#endif
#if TZ_BITS_GRID
    bool masked; /* there are columns outside the grid */
    bool last_x; /* of the row's bricks; it has the unused words */
    tz_word inside[TZ_VX];
#endif
};

/* One cell of a brick, for a cell update. */
struct tz_place {
    int i, j, k;
    int x, y, z; /* in the grid */
    long long step;
};

/* ---- Cutting the grid ------------------------------------------------------------------------ */

/* Tiles have one size and begin at even distances: the last one ends where the grid does. */
TZ_DEVICE int tz_tile_begin(int block, int blocks, int n, int extent, bool wraps)
{
    if (blocks == 1)
        return 0;
    if (wraps)
        return block * n / blocks - TZ_GHOST;
    return block * (n - extent) / (blocks - 1);
}

/* The first coordinate that a block owns. */
TZ_DEVICE int tz_own_begin(int block, int blocks, int n, int extent, bool wraps)
{
    if (!wraps && block == 0)
        return 0;
    if (!wraps && block == blocks)
        return n;
    return blocks == 1 ? block * n : tz_tile_begin(block, blocks, n, extent, wraps) + TZ_GHOST;
}

TZ_DEVICE int tz_wrap(int c, int n)
{
    while (c < 0)
        c += n;
    while (c >= n)
        c -= n;
    return c;
}

/* Does the tile of a block hold the cell? `block` may be -1 or `blocks`: no block, unless the axis
 * wraps. */
TZ_DEVICE bool tz_tile_holds(int block, int blocks, int n, int extent, bool wraps, int c)
{
    if (wraps)
        block = block < 0 ? blocks - 1 : block < blocks ? block : 0;
    if (block < 0 || block >= blocks)
        return false;
    const int away = c - tz_tile_begin(block, blocks, n, extent, wraps);
    return (wraps ? tz_wrap(away, n) : away >= 0 ? away : extent) < extent;
}

/* `thread`: its number in the block along the axis. */
TZ_DEVICE tz_span tz_span_of(int thread, int cells, int block, int blocks, int n, int extent,
                             bool wraps)
{
    tz_span s;
    s.first = tz_tile_begin(block, blocks, n, extent, wraps) + thread * cells;
    s.foreign = s.wanted = 0;
    const int low = tz_own_begin(block, blocks, n, extent, wraps);
    const int high = tz_own_begin(block + 1, blocks, n, extent, wraps);
    for (int c = 0; blocks > 1 && c < cells; c++) {
        if (s.first + c < low || s.first + c >= high)
            s.foreign |= 1u << c;
        else if (tz_tile_holds(block - 1, blocks, n, extent, wraps, s.first + c) ||
                 tz_tile_holds(block + 1, blocks, n, extent, wraps, s.first + c))
            s.wanted |= 1u << c;
    }
    return s;
}

/* `slot`: elements from a cell of a brick to the next one; `step`: from a thread's to the next
 * thread's. */
template <int LOW, int HIGH>
TZ_DEVICE tz_sides tz_sides_of(int thread, int cells, int threads, int slot, int step, int block,
                               int blocks, int n, int extent, bool bits)
{
    tz_sides b;
    const int known = bits && blocks == 1 ? n : extent; /* without unused words */
    const bool wraps = bits || LOW == TZ_PERIODIC;
    const int begin = tz_tile_begin(block, blocks, n, extent, wraps);
#pragma unroll
    for (int q = 0; q < 2 * TZ_RADIUS; q++) {
        int c = thread * cells + (q < TZ_RADIUS ? q - TZ_RADIUS : cells + q - TZ_RADIUS);
        b.outside[q] = b.high[q] = false;
        b.turns[q] = 0;
        const bool end = c < 0 ? block == 0 : block == blocks - 1;
        if (c >= 0 && c < known) {
        } else if (bits && blocks == 1) {
            for (; c < 0; c += n)
                b.turns[q]--;
            for (; c >= n; c -= n)
                b.turns[q]++;
#if TZ_SPARE_BITS > 0
            if (b.turns[q] > 0 && c >= TZ_RADIUS) /* only unused words read further */
                c = TZ_RADIUS - 1;
            const int column = c + (b.turns[q] < 0 ? TZ_LAST_BITS : TZ_SPARE_BITS), x = column % n;
            b.other[q] = x % cells * slot + (x / cells - thread) * step;
            b.bit[q] = column / n;
#endif
        } else if (end && (blocks == 1 || !wraps)) {
            const int inside = tz_map<LOW, HIGH>(begin + c, n);
            c = inside - begin;
            b.outside[q] = (LOW == TZ_FIXED && HIGH == TZ_FIXED) || inside < 0;
            b.high[q] = inside == -2;
        }
        /* Past a tile's end inside the grid, values are wrong in any case. */
        c = c < 0 ? 0 : c < extent ? c : extent - 1;
        b.offset[q] = c % cells * slot + (c / cells - thread) * step;
    }
    return b;
}

TZ_DEVICE bool tz_is_foreign(const tz_tile &t, int i, int j, int k)
{
#if TZ_MASKED
    return (t.foreign >> ((k * TZ_VY + j) * TZ_VX + i) & 1u) != 0;
#else
    return ((t.x.foreign >> i | t.y.foreign >> j | t.z.foreign >> k) & 1u) != 0;
#endif
}

/* Does the block own the cell, and another one also hold it? */
TZ_DEVICE bool tz_is_wanted(const tz_tile &t, int i, int j, int k)
{
#if TZ_MASKED
    return (t.wanted >> ((k * TZ_VY + j) * TZ_VX + i) & 1u) != 0;
#else
    const unsigned int wanted = t.x.wanted >> i | t.y.wanted >> j | t.z.wanted >> k;
    return (wanted & ~(t.x.foreign >> i | t.y.foreign >> j | t.z.foreign >> k) & 1u) != 0;
#endif
}

#if TZ_MASKED
TZ_DEVICE void tz_make_masks(tz_tile &t)
{
    t.foreign = t.wanted = 0;
    TZ_EACH_CELL
    {
        const unsigned int foreign = (t.x.foreign >> i | t.y.foreign >> j | t.z.foreign >> k) & 1u;
        const unsigned int wanted = (t.x.wanted >> i | t.y.wanted >> j | t.z.wanted >> k) & 1u;
        t.foreign |= foreign << ((k * TZ_VY + j) * TZ_VX + i);
        t.wanted |= (wanted & ~foreign) << ((k * TZ_VY + j) * TZ_VX + i);
    }
}
#endif

TZ_DEVICE tz_tile tz_tile_of(const tz_arguments &a, int thread)
{
    tz_tile t;
    const int x = thread % TZ_TX, y = thread / TZ_TX % TZ_TY, z = thread / (TZ_TX * TZ_TY);
    const int ex = TZ_VX * TZ_TX, ey = TZ_VY * TZ_TY, ez = TZ_VZ * TZ_TZ;
    t.x = tz_span_of(x, TZ_VX, tz_block(0), TZ_BLOCKS_X, TZ_GRID_X, ex, TZ_WRAPS_X);
    t.y = tz_span_of(y, TZ_VY, tz_block(1), TZ_BLOCKS_Y, TZ_GRID_Y, ey, TZ_WRAPS_Y);
    t.z = tz_span_of(z, TZ_VZ, tz_block(2), TZ_BLOCKS_Z, TZ_GRID_Z, ez, TZ_WRAPS_Z);
    t.sides_x = tz_sides_of<TZ_LOW_X, TZ_HIGH_X>(x, TZ_VX, TZ_TX, TZ_PITCH, 1, tz_block(0),
                                                 TZ_BLOCKS_X, TZ_GRID_X, ex, TZ_BITS_GRID);
    t.sides_y = tz_sides_of<TZ_LOW_Y, TZ_HIGH_Y>(y, TZ_VY, TZ_TY, TZ_PITCH * TZ_VX, TZ_TX,
                                                 tz_block(1), TZ_BLOCKS_Y, TZ_GRID_Y, ey, false);
    t.sides_z =
        tz_sides_of<TZ_LOW_Z, TZ_HIGH_Z>(z, TZ_VZ, TZ_TZ, TZ_PITCH * TZ_VX * TZ_VY, TZ_TX * TZ_TY,
                                         tz_block(2), TZ_BLOCKS_Z, TZ_GRID_Z, ez, false);
#if TZ_MASKED
    tz_make_masks(t);
#endif
#if TZ_BITS_GRID
    const int begin = tz_tile_begin(tz_block(0), TZ_BLOCKS_X, TZ_GRID_X, ex, TZ_WRAPS_X);
    t.last_x = x == TZ_TX - 1;
    t.masked = !TZ_WRAP_X && (begin < 0 || begin + ex > a.columns - 31 * a.nx);
#pragma unroll
    for (int i = 0; i < TZ_VX; i++)
        t.inside[i] = t.masked ? tz_inside_word(a, t.x.first + i) : ~0u;
#endif
    return t;
}

/* The coordinate in the grid for one that is outside by less than the extent. */
TZ_DEVICE int tz_inside(int c, int n, bool wraps)
{
    return !wraps ? c : c < 0 ? c + n : c < n ? c : c - n;
}

TZ_DEVICE tz_place tz_place_of(const tz_arguments &a, const tz_tile &t, int i, int j, int k)
{
    tz_place p;
    p.i = i;
    p.j = j;
    p.k = k;
    p.x = tz_inside(t.x.first + i, TZ_GRID_X, TZ_WRAPS_X);
    p.y = tz_inside(t.y.first + j, TZ_GRID_Y, TZ_WRAPS_Y);
    p.z = tz_inside(t.z.first + k, TZ_GRID_Z, TZ_WRAPS_Z);
    p.step = 0;
    return p;
}

/* The same tile, with its place hidden from the compiler, so that values that depend on it are
 * computed where they are used. For a large brick, keeping them would take more registers than the
 * cells. Small bricks keep them: computing them would delay each exchange. */
TZ_DEVICE tz_span tz_span_hidden(const tz_span &s)
{
    tz_span hidden;
    hidden.first = tz_hidden(s.first);
    hidden.foreign = (unsigned int)tz_hidden((int)s.foreign);
    hidden.wanted = (unsigned int)tz_hidden((int)s.wanted);
    return hidden;
}
TZ_DEVICE tz_tile tz_tile_hidden(const tz_tile &t)
{
    tz_tile hidden = t;
    if (TZ_CELLS <= 8)
        return hidden;
    hidden.x = tz_span_hidden(t.x);
    hidden.y = tz_span_hidden(t.y);
    hidden.z = tz_span_hidden(t.z);
#if TZ_MASKED
    hidden.foreign = (unsigned int)tz_hidden((int)t.foreign);
    hidden.wanted = (unsigned int)tz_hidden((int)t.wanted);
#endif
    return hidden;
}

/* ---- Bits ------------------------------------------------------------------------------------ */

/* A word whose coordinate wraps `turns` times. Each turn moves its bits by one column. */
TZ_DEVICE tz_word tz_wrapped(tz_word word, int turns, const tz_edges<tz_word> &edge)
{
    if (turns == 0)
        return word;
    const int left = turns < 0 ? -turns : 32 - turns;
    const tz_word low =
        (1u << (left & 31)) - 1u; /* the bits that come in on a rotation to the left */
    const tz_word rotated = word << (left & 31) | word >> (32 - left & 31);
    if (TZ_WRAP_X)
        return rotated;
    const tz_word foreign = turns < 0 ? low : ~low;
    return (rotated & ~foreign) | (tz_edge<0, tz_word>(edge, turns >= 0) & foreign);
}

/* Sets columns outside the grid to the boundary value. */
template <class T>
TZ_DEVICE void tz_mask_brick(const tz_tile &t, const tz_edges<T> &edge, tz_brick<T> &own)
{
#if TZ_BITS_GRID
    if (t.masked)
        TZ_EACH_CELL
    own.v[k][j][i] = (own.v[k][j][i] & t.inside[i]) | (edge & ~t.inside[i]);
#endif
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Loads a brick. `at`: as in tz_publish(). Bit rows need long code, so a loop loads them there. */
template <class T>
TZ_DEVICE void tz_load_brick(const tz_arguments &a, const tz_tile &t, const T *field,
                             const tz_edges<T> &edge, T *at, tz_brick<T> &own)
{
#if TZ_BITS_GRID
#pragma unroll 1
    for (int q = 0; q < TZ_CELLS; q++) {
        const int i = q % TZ_VX;
        const tz_place p = tz_place_of(a, t, i, q / TZ_VX % TZ_VY, q / (TZ_VX * TZ_VY));
        const T *row = field + ((long long)a.pitch * p.y + a.plane * p.z);
        tz_put(at + q * TZ_PITCH, tz_load_word(a, row, t.x.first + i, edge));
    }
#endif
    TZ_EACH_CELL
    {
        const tz_place p = tz_place_of(a, t, i, j, k);
        const T *row = field + ((long long)a.pitch * p.y + a.plane * p.z);
        if (TZ_BITS_GRID)
            own.v[k][j][i] = tz_get(at + ((k * TZ_VY + j) * TZ_VX + i) * TZ_PITCH);
        else
            own.v[k][j][i] = row[p.x];
    }
}

/* Loads a row of a streamed field. */
TZ_DEVICE void tz_load_row(const tz_arguments &a, const tz_tile &t, const int *row,
                           tz_brick<int> &own)
{
    TZ_EACH_CELL
    own.v[k][j][i] = row[tz_inside(t.x.first + i, a.nx, TZ_WRAPS_X)];
}

template <class T>
TZ_DEVICE void tz_store_brick(const tz_arguments &a, const tz_tile &t, T *field,
                              const tz_brick<T> &own)
{
    TZ_EACH_CELL
    if (!tz_is_foreign(t, i, j, k) && (TZ_UNUSED == 0 || t.x.first + i < TZ_GRID_X)) {
        const tz_place p = tz_place_of(a, t, i, j, k);
        field[p.x + (long long)a.pitch * p.y + a.plane * p.z] = own.v[k][j][i];
    }
}

/* Is word i of some brick read as a word past an end of the row, or for its new bit? */
TZ_DEVICE bool tz_is_read_past_ends(int i)
{
    bool is = false;
#if TZ_SPARE_BITS > 0
#pragma unroll
    for (int q = 0; q < TZ_RADIUS; q++)
        is = is || q % TZ_VX == i || (TZ_GRID_X - 1 - q) % TZ_VX == i ||
             (TZ_LAST_BITS + TZ_GRID_X - 1 - q) % TZ_GRID_X % TZ_VX == i ||
             (TZ_SPARE_BITS + q) % TZ_GRID_X % TZ_VX == i;
#endif
    return is;
}

/* Writes a brick to shared memory. If it is held in registers, writes only the cells that other
 * threads read. `at`: the thread's element 0 in shared memory. */
template <class T> TZ_DEVICE void tz_publish(T *at, const tz_brick<T> &own)
{
    TZ_EACH_CELL
    {
        const bool seen = i < TZ_RIM || i >= TZ_VX - TZ_RIM || tz_is_read_past_ends(i) ||
                          (TZ_DIMS > 1 && (j < TZ_RIM || j >= TZ_VY - TZ_RIM)) ||
                          (TZ_DIMS > 2 && (k < TZ_RIM || k >= TZ_VZ - TZ_RIM));
        if (!TZ_HELD || seen)
            tz_put(at + ((k * TZ_VY + j) * TZ_VX + i) * TZ_PITCH, own.v[k][j][i]);
    }
}

/* ---- Neighbours ------------------------------------------------------------------------------ */

#if TZ_SPARE_BITS > 0
/* A word past an end of a periodic row, before it if `turns` is -1 and after it if 1. `word` is the word of
 * the row that wraps to it. Bit number `bit` of `other` is its new bit. */
template <class T> TZ_DEVICE T tz_turned_word(T word, T other, int bit, int turns)
{
    const T fresh = other >> bit & 1u;
    return turns < 0 ? word << 1 | fresh : word >> 1 | fresh << 31;
}
/* The word that comes `after` words past the last one of a row, for the brick with unused words. `at`: the thread's
 * element 0 in the row of the word. */
template <class T> TZ_DEVICE T tz_word_after(const T *at, int after)
{
    const int column = TZ_SPARE_BITS + after, x = column % TZ_GRID_X;
    const T word = tz_get(at + (after % TZ_VX * TZ_PITCH + after / TZ_VX - (TZ_TX - 1)));
    const T other = tz_get(at + (x % TZ_VX * TZ_PITCH + x / TZ_VX - (TZ_TX - 1)));
    return tz_turned_word(word, other, column / TZ_GRID_X, 1);
}
#endif

template <class T>
TZ_DEVICE T tz_near(const tz_tile &t, const tz_place &p, const tz_brick<T> &own, const T *at,
                    const tz_edges<T> &edge, int dx, int dy, int dz)
{
    const int i = p.i + dx, j = p.j + dy, k = p.k + dz;
    const bool off_x = i < 0 || i >= TZ_VX, off_y = j < 0 || j >= TZ_VY;
    const bool off_z = k < 0 || k >= TZ_VZ;
    /* Is this an unused word, read by a word of the row? */
    const bool unused =
        TZ_UNUSED > 0 && !off_x && i >= TZ_VX - TZ_UNUSED && p.i < TZ_VX - TZ_UNUSED;
    if (TZ_HELD && !off_x && !off_y && !off_z && !unused)
        return own.v[k][j][i];
    const int qx = i < 0 ? i + TZ_RADIUS : i >= TZ_VX ? i - TZ_VX + TZ_RADIUS : 0;
    const int qy = j < 0 ? j + TZ_RADIUS : j >= TZ_VY ? j - TZ_VY + TZ_RADIUS : 0;
    const int qz = k < 0 ? k + TZ_RADIUS : k >= TZ_VZ ? k - TZ_VZ + TZ_RADIUS : 0;
    int offset = off_x ? t.sides_x.offset[qx] + 0 : i * TZ_PITCH;
    offset += off_y ? t.sides_y.offset[qy] + 0 : j * (TZ_VX * TZ_PITCH);
    offset += off_z ? t.sides_z.offset[qz] + 0 : k * (TZ_VY * TZ_VX * TZ_PITCH);
    T value = TZ_HELD && unused && !off_y && !off_z ? own.v[k][j][i] : tz_get(at + offset);
#if TZ_BITS_GRID && TZ_SPARE_BITS == 0
    if (off_x)
        value = tz_wrapped(value, t.sides_x.turns[qx], edge);
#elif TZ_SPARE_BITS > 0
    if (unused && t.last_x)
        value = tz_word_after(at + (offset - i * TZ_PITCH), i - (TZ_VX - TZ_UNUSED));
    if (off_x && t.sides_x.turns[qx] != 0) {
        const int to_other = t.sides_x.other[qx] - t.sides_x.offset[qx];
        value = tz_turned_word(value, tz_get(at + (offset + to_other)), t.sides_x.bit[qx],
                               t.sides_x.turns[qx]);
    }
#endif
#if TZ_EDGES == 1
    if (!TZ_BITS_GRID && TZ_FIXED_X && off_x)
        value = tz_choose(t.sides_x.outside[qx], edge, value);
    if (TZ_FIXED_Y && off_y)
        value = tz_choose(t.sides_y.outside[qy], edge, value);
    if (TZ_FIXED_Z && off_z)
        value = tz_choose(t.sides_z.outside[qz], edge, value);
#else /* where a cell is outside on several axes the first decides, so it comes last */
    if (TZ_FIXED_Z && off_z)
        value = tz_choose(t.sides_z.outside[qz], tz_edge<2, T>(edge, t.sides_z.high[qz]), value);
    if (TZ_FIXED_Y && off_y)
        value = tz_choose(t.sides_y.outside[qy], tz_edge<1, T>(edge, t.sides_y.high[qy]), value);
    if (TZ_FIXED_X && off_x)
        value = tz_choose(t.sides_x.outside[qx], tz_edge<0, T>(edge, t.sides_x.high[qx]), value);
#endif
    return value;
}

#include "resident_exchange.cuh"

template <class T, class V> TZ_DEVICE void tz_assign(T &to, V value)
{
    to = (T)value;
}

/* ---- The language of cell updates ------------------------------------------------------------ */

#define TZ__CONTEXT_FIELD(name, type)                                                              \
    tz_brick<type> name;                                                                           \
    const type *name##_at;                                                                         \
    tz_edges<type> name##_edge;                                                                    \
    tz_brick<type> name##_out;
#define TZ_CELL_ONCE(cell, ONCE)                                                                   \
    TZ__ONCE_STRUCT(cell, ONCE)                                                                    \
    TZ__CONTEXT(cell, )                                                                            \
    TZ__MAKE_ONCE(cell, ONCE, const tz_tile &tz_t, const tz_place &tz_p)                           \
    TZ_DEVICE void update_##cell(context_##cell &tz_c, const tz_tile &tz_t, const tz_place &tz_p,  \
                                 const once_##cell &tz_o)
#define TZ__READ_state(f, dx, dy, dz)                                                              \
    tz_near(tz_t, tz_p, tz_c.f, tz_c.f##_at, tz_c.f##_edge, (dx), (dy), (dz))
#define TZ__READ_static(f, dx, dy, dz) TZ__READ_state(f, dx, dy, dz)
#define TZ__READ_streamed(f, dx, dy, dz) (tz_c.f.v[tz_p.k][tz_p.j][tz_p.i])
#define TZ__AT3(f, dx, dy, dz) TZ__CAT(TZ__READ_, TZ__CAT(TZ__KIND_, f))(f, dx, dy, dz)
#define TZ_PUT(f, value) tz_assign(tz_c.f##_out.v[tz_p.k][tz_p.j][tz_p.i], (value))
#define TZ_X TZ__WHOLE_X((tz_p.x))
#define TZ_Y TZ__WHOLE_Y((tz_p.y))
#define TZ_Z TZ__WHOLE_Z((tz_p.z))
#define TZ_STEP (tz_p.step)
