/* kernels/cuda: the resident family: a small grid stays on chip.
 *
 * One launch runs many stages. The grid is cut into one tile a block: the cells that the block owns
 * and TZ_GHOST cells of its neighbours around them, except at the grid's ends. Each thread has a
 * brick of TZ_VX x TZ_VY x TZ_VZ cells, in registers (TZ_HELD) or in shared memory. Threads read
 * each other's cells from shared memory. After TZ_HEIGHT iterations the ghost zone is used up: each
 * block sends the cells that its neighbours also hold, and receives theirs. One store writes a
 * value and a tag that shows its arrival: a block waits only for its neighbours, not for the grid.
 *
 * Shared memory holds element e of the bricks of all threads next to each other, and element e + 1
 * TZ_PITCH elements further. When all threads of a warp read the same neighbour, they read 32
 * adjacent words; and, but for threads at a tile's end, a neighbour lies at the same distance from
 * each thread's own element. A thread at the end of a row, whose value does not matter there, reads
 * a word in another bank than what the other threads of the warp read: of an own element, with the
 * right TZ_PITCH, if bricks have an even number of columns, else of the thread next to it. Only
 * clamp and mirror sides of the grid read what they need.
 *
 * A tile is a whole number of bricks. Columns past its ghost zone are surplus: nobody sends or
 * receives them, their values are wrong, and the ghost zone keeps these away from the cells that
 * the block owns. Rows and planes likewise.
 *
 * Along an axis with one block the tile is the full extent of the grid, without a ghost zone: the
 * cell that a boundary reads is in the tile. Beyond an end of a bit row comes its other end,
 * shifted by a bit. The bit that is new there is the boundary value or, in periodic rows, of the
 * column that is as far from the other end: a bit of the same word if rows have a multiple of 32
 * columns. Else (TZ_SPARE_BITS bits are past the last column) it is in another word, and one block
 * has the whole row. These bits are copies of the first columns. They are computed like others, and
 * stay copies. There a row's last brick may have unused words at its end (TZ_UNUSED). Nothing reads
 * them. */

#include "common.cuh"

#define TZ_CELLS (TZ_VX * TZ_VY * TZ_VZ)
#define TZ_LIVE (TZ_TX * TZ_TY * TZ_TZ)
#define TZ_WRAPS_X (TZ_BITS_GRID || TZ_WRAP_X)
#define TZ_WRAPS_Y TZ_WRAP_Y
#define TZ_WRAPS_Z TZ_WRAP_Z

/* Have the tiles along an axis together more cells than they need? */
#define TZ_HAS_SURPLUS(blocks, n, extent, wraps)                                                   \
    ((blocks) > 1 && (blocks) * (extent) > (n) + 2 * TZ_GHOST * ((blocks)-1 + (wraps)))
#define TZ_SURPLUS_X TZ_HAS_SURPLUS(TZ_BLOCKS_X, TZ_GRID_X, TZ_VX *TZ_TX, TZ_WRAPS_X)
#define TZ_SURPLUS_Y TZ_HAS_SURPLUS(TZ_BLOCKS_Y, TZ_GRID_Y, TZ_VY *TZ_TY, TZ_WRAPS_Y)
#define TZ_SURPLUS_Z TZ_HAS_SURPLUS(TZ_BLOCKS_Z, TZ_GRID_Z, TZ_VZ *TZ_TZ, TZ_WRAPS_Z)
#define TZ_SURPLUS (TZ_SURPLUS_X || TZ_SURPLUS_Y || TZ_SURPLUS_Z)

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

#include "resident_tile.cuh"

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

template <class S, class T> TZ_DEVICE void tz_round_brick(tz_brick<T> &own)
{
    tz_each<TZ_VZ * TZ_VY>([&](int row) { tz_round_values<S>(own.v[row / TZ_VY][row % TZ_VY]); });
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Loads a brick. `at`: as in tz_publish(). Bit rows need long code, so a loop loads them there. */
template <class S, class T>
TZ_DEVICE void tz_load_brick(const tz_arguments &a, const tz_tile &t, const S *field,
                             const tz_edges<T> &edge, T *at, tz_brick<T> &own)
{
#if TZ_BITS_GRID
#pragma unroll 1
    for (int q = 0; q < TZ_CELLS; q++) {
        const int i = q % TZ_VX;
        const tz_place p = tz_place_of(a, t, i, q / TZ_VX % TZ_VY, q / (TZ_VX * TZ_VY));
        const S *row = field + ((long long)a.pitch * p.y + a.plane * p.z);
        tz_put(at + q * TZ_PITCH, tz_load_word(a, row, t.x.first + i, edge));
    }
#endif
    TZ_EACH_CELL
    {
        const tz_place p = tz_place_of(a, t, i, j, k);
        const S *row = field + ((long long)a.pitch * p.y + a.plane * p.z);
        if (TZ_BITS_GRID)
            own.v[k][j][i] = tz_get(at + ((k * TZ_VY + j) * TZ_VX + i) * TZ_PITCH);
        else
            own.v[k][j][i] = (T)row[p.x];
    }
}

/* Loads a row of a streamed field. */
TZ_DEVICE void tz_load_row(const tz_arguments &a, const tz_tile &t, const int *row,
                           tz_brick<int> &own)
{
    TZ_EACH_CELL
    own.v[k][j][i] = row[tz_inside(t.x.first + i, a.nx, TZ_WRAPS_X)];
}

template <class S, class T>
TZ_DEVICE void tz_store_brick(const tz_arguments &a, const tz_tile &t, S *field,
                              const tz_brick<T> &own)
{
    TZ_EACH_CELL
    if (tz_is_own(t, i, j, k) && (TZ_UNUSED == 0 || t.x.first + i < TZ_GRID_X)) {
        const tz_place p = tz_place_of(a, t, i, j, k);
        field[p.x + (long long)a.pitch * p.y + a.plane * p.z] = (S)own.v[k][j][i];
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
/* A word past an end of a periodic row, before it if `turns` is -1 and after it if 1. `word` is the
 * word of the row that wraps to it. Bit number `bit` of `other` is its new bit. */
template <class T> TZ_DEVICE T tz_turned_word(T word, T other, int bit, int turns)
{
    const T fresh = other >> bit & 1u;
    return turns < 0 ? word << 1 | fresh : word >> 1 | fresh << 31;
}
/* The word that comes `after` words past the last one of a row, for the brick with unused words.
 * `at`: the thread's element 0 in the row of the word. */
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
