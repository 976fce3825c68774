/* kernels/cuda: how the resident family cuts the grid into tiles and bricks, and where a thread is.
 * Included by resident.cuh, which says what tiles are. */

/* Where a thread's brick is along an axis. Bit c of a mask stands for cell c of the brick. */
struct tz_span {
    int first; /* coordinate of its first cell; outside the grid only where the axis wraps */
    unsigned int foreign; /* cells of the ghost zone: other blocks own them */
    unsigned int wanted;  /* own cells that are in other blocks' ghost zones */
#if TZ_SURPLUS
    unsigned int others; /* cells that other blocks own: the foreign ones and the surplus */
#endif
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
    /* Bit (k * TZ_VY + j) * TZ_VX + i of the brick: cells of the ghost zone, and own cells that are
     * in other blocks' ghost zones. */
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

/* Does the block own the cell? `c`: as in tz_span.first. */
TZ_DEVICE bool tz_owns(int block, int blocks, int n, int extent, bool wraps, int c)
{
    return blocks == 1 || (c >= tz_own_begin(block, blocks, n, extent, wraps) &&
                           c < tz_own_begin(block + 1, blocks, n, extent, wraps));
}

/* The cells of a tile up to the end of its ghost zone. What follows is surplus. */
TZ_DEVICE int tz_needed(int block, int blocks, int n, int extent, bool wraps)
{
    const int needed = tz_own_begin(block + 1, blocks, n, extent, wraps) + TZ_GHOST -
                       tz_tile_begin(block, blocks, n, extent, wraps);
    return needed < extent ? needed : extent;
}

/* Is the cell own or in the ghost zone of a block? `block` may be -1 or `blocks`: no block, unless
 * the axis wraps. */
TZ_DEVICE bool tz_needs(int block, int blocks, int n, int extent, bool wraps, int c)
{
    if (wraps)
        block = block < 0 ? blocks - 1 : block < blocks ? block : 0;
    if (block < 0 || block >= blocks)
        return false;
    const int away = c - tz_tile_begin(block, blocks, n, extent, wraps);
    return (wraps       ? tz_wrap(away, n)
            : away >= 0 ? away
                        : extent) < tz_needed(block, blocks, n, extent, wraps);
}

/* `thread`: its number in the block along the axis. */
TZ_DEVICE tz_span tz_span_of(int thread, int cells, int block, int blocks, int n, int extent,
                             bool wraps)
{
    tz_span s;
    s.first = tz_tile_begin(block, blocks, n, extent, wraps) + thread * cells;
    s.foreign = s.wanted = 0;
#if TZ_SURPLUS
    s.others = 0;
#endif
    const int needed = tz_needed(block, blocks, n, extent, wraps);
    for (int c = 0; blocks > 1 && c < cells; c++) {
        const unsigned int bit = 1u << c;
        if (!tz_owns(block, blocks, n, extent, wraps, s.first + c)) {
#if TZ_SURPLUS
            s.others |= bit;
#endif
            s.foreign |= thread * cells + c < needed ? bit : 0;
        } else if (tz_needs(block - 1, blocks, n, extent, wraps, s.first + c) ||
                   tz_needs(block + 1, blocks, n, extent, wraps, s.first + c)) {
            s.wanted |= bit;
        }
    }
    return s;
}

/* `slot`: elements from a cell of a brick to the next one; `step`: from a thread's to the next
 * thread's. `before`, `after`: where a value past the tile's end does not matter, may it be of the
 * thread that is numbered one lower, or one higher? */
template <int LOW, int HIGH>
TZ_DEVICE tz_sides tz_sides_of(int thread, int cells, int slot, int step, int block, int blocks,
                               int n, int extent, bool bits, bool before, bool after)
{
    tz_sides b;
    const int known = bits && blocks == 1 ? n : extent; /* without unused words */
    const bool wraps = bits || TZ_WRAPS(LOW);
    const int begin = tz_tile_begin(block, blocks, n, extent, wraps);
#pragma unroll
    for (int q = 0; q < 2 * TZ_RADIUS; q++) {
        int c = thread * cells + (q < TZ_RADIUS ? q - TZ_RADIUS : cells + q - TZ_RADIUS);
        b.outside[q] = b.high[q] = false;
        b.turns[q] = 0;
        const bool end = c < 0 ? block == 0 : block == blocks - 1;
        bool matters = false;
        if (c >= 0 && c < known) {
        } else if (bits && blocks == 1) {
            matters = true;
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
            b.outside[q] = (TZ_HAS_VALUE(LOW) && TZ_HAS_VALUE(HIGH)) || inside < 0;
            b.high[q] = inside == -2;
            matters = !b.outside[q];
            if (matters)
                c = inside - begin;
        }
        /* Past a tile's end inside the grid, values are wrong in any case. */
        if (c < 0 && before && !matters && c + cells >= 0) {
            b.offset[q] = (c + cells) * slot - step;
            continue;
        }
        if (c >= extent && after && !matters && c < extent + cells) {
            b.offset[q] = (c - extent) * slot + step;
            continue;
        }
        c = c < 0 ? 0 : c < extent ? c : extent - 1;
        b.offset[q] = c % cells * slot + (c / cells - thread) * step;
    }
    return b;
}

/* All bits, if bit `n` of the mask is set; else none. */
TZ_DEVICE unsigned int tz_spread(unsigned int mask, int n)
{
    return 0u - (mask >> n & 1u);
}
/* A line of a brick: the cells that differ from cell (i, j, k) in x alone or, if bricks are longer
 * along y, in y alone. The mask of those of its cells that one of three masks along the axes has.
 * All cells of a line have the same mask, so testing its bits takes less time than testing three
 * masks for each cell. */
#define TZ_LINES_ALONG_Y (TZ_VY > TZ_VX)
TZ_DEVICE unsigned int tz_line(unsigned int x, unsigned int y, unsigned int z, int i, int j, int k)
{
    return TZ_LINES_ALONG_Y ? y | tz_spread(x, i) | tz_spread(z, k)
                            : x | tz_spread(y, j) | tz_spread(z, k);
}
/* Bit 0: the bit of cell (i, j, k) in the mask of its line. */
TZ_DEVICE unsigned int tz_of_line(unsigned int line, int i, int j)
{
    return line >> (TZ_LINES_ALONG_Y ? j : i) & 1u;
}

/* Cells of a line that are in the ghost zone along some axis. */
TZ_DEVICE unsigned int tz_foreign_line(const tz_tile &t, int i, int j, int k)
{
    return tz_line(t.x.foreign, t.y.foreign, t.z.foreign, i, j, k);
}
/* Cells of a line that the block owns, and that are in another block's ghost zone. */
TZ_DEVICE unsigned int tz_wanted_line(const tz_tile &t, int i, int j, int k)
{
#if TZ_SURPLUS
    const unsigned int others = tz_line(t.x.others, t.y.others, t.z.others, i, j, k);
#else
    const unsigned int others = tz_foreign_line(t, i, j, k);
#endif
    return tz_line(t.x.wanted, t.y.wanted, t.z.wanted, i, j, k) & ~others;
}
TZ_DEVICE unsigned int tz_surplus_along(const tz_span &s)
{
#if TZ_SURPLUS
    return s.others & ~s.foreign;
#else
    return 0;
#endif
}

/* Does the block receive the cell? Without masks, also if the cell is in the ghost zone along one
 * axis and surplus along another: its owner sends it in any case. */
TZ_DEVICE bool tz_is_foreign(const tz_tile &t, int i, int j, int k)
{
#if TZ_MASKED
    return (t.foreign >> ((k * TZ_VY + j) * TZ_VX + i) & 1u) != 0;
#else
    return tz_of_line(tz_foreign_line(t, i, j, k), i, j) != 0;
#endif
}

TZ_DEVICE bool tz_is_wanted(const tz_tile &t, int i, int j, int k)
{
#if TZ_MASKED
    return (t.wanted >> ((k * TZ_VY + j) * TZ_VX + i) & 1u) != 0;
#else
    return tz_of_line(tz_wanted_line(t, i, j, k), i, j) != 0;
#endif
}

TZ_DEVICE bool tz_is_own(const tz_tile &t, int i, int j, int k)
{
#if TZ_SURPLUS
    return tz_of_line(tz_line(t.x.others, t.y.others, t.z.others, i, j, k), i, j) == 0;
#else
    return !tz_is_foreign(t, i, j, k);
#endif
}

#if TZ_MASKED
TZ_DEVICE void tz_make_masks(tz_tile &t)
{
    t.foreign = t.wanted = 0;
    TZ_EACH_CELL
    {
        const unsigned int surplus =
            tz_line(tz_surplus_along(t.x), tz_surplus_along(t.y), tz_surplus_along(t.z), i, j, k);
        const int bit = (k * TZ_VY + j) * TZ_VX + i;
        t.foreign |= tz_of_line(tz_foreign_line(t, i, j, k) & ~surplus, i, j) << bit;
        t.wanted |= tz_of_line(tz_wanted_line(t, i, j, k), i, j) << bit;
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
    /* Bricks of an odd number of columns: a thread at an end of a row reads the word next to those
     * that the others of its warp read, in another bank. For an even number TZ_PITCH has this
     * effect. */
    const bool odd = TZ_VX % 2 == 1 && TZ_VX > 1;
    t.sides_x = tz_sides_of<TZ_LOW_X, TZ_HIGH_X>(x, TZ_VX, TZ_PITCH, 1, tz_block(0), TZ_BLOCKS_X,
                                                 TZ_GRID_X, ex, TZ_BITS_GRID, odd && thread > 0,
                                                 odd && thread < TZ_LIVE - 1);
    t.sides_y = tz_sides_of<TZ_LOW_Y, TZ_HIGH_Y>(y, TZ_VY, TZ_PITCH * TZ_VX, TZ_TX, tz_block(1),
                                                 TZ_BLOCKS_Y, TZ_GRID_Y, ey, false, false, false);
    t.sides_z = tz_sides_of<TZ_LOW_Z, TZ_HIGH_Z>(z, TZ_VZ, TZ_PITCH * TZ_VX * TZ_VY, TZ_TX * TZ_TY,
                                                 tz_block(2), TZ_BLOCKS_Z, TZ_GRID_Z, ez, false,
                                                 false, false);
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
TZ_DEVICE tz_span tz_span_hidden(const tz_span &s, bool is_cut, bool has_surplus)
{
    tz_span hidden = s;
    hidden.first = tz_hidden(s.first);
    if (is_cut) {
        hidden.foreign = (unsigned int)tz_hidden((int)s.foreign);
        hidden.wanted = (unsigned int)tz_hidden((int)s.wanted);
    }
#if TZ_SURPLUS
    hidden.others = !is_cut       ? 0
                    : has_surplus ? (unsigned int)tz_hidden((int)s.others)
                                  : hidden.foreign;
#endif
    return hidden;
}
TZ_DEVICE tz_tile tz_tile_hidden(const tz_tile &t)
{
    tz_tile hidden = t;
    if (TZ_CELLS <= 8)
        return hidden;
    hidden.x = tz_span_hidden(t.x, TZ_BLOCKS_X > 1, TZ_SURPLUS_X);
    hidden.y = tz_span_hidden(t.y, TZ_BLOCKS_Y > 1, TZ_SURPLUS_Y);
    hidden.z = tz_span_hidden(t.z, TZ_BLOCKS_Z > 1, TZ_SURPLUS_Z);
#if TZ_MASKED
    hidden.foreign = (unsigned int)tz_hidden((int)t.foreign);
    hidden.wanted = (unsigned int)tz_hidden((int)t.wanted);
#endif
    return hidden;
}
