/* kernels/cuda: the stream family in one dimension.
 *
 * A warp has a strip of 32 * TZ_VECTOR columns and holds it in registers for all iterations of a
 * launch. A lane has TZ_VECTOR elements of each field, in packets of TZ_PACKET adjacent ones.
 * Packets p of all lanes are adjacent columns, so that each access to memory is one run of bytes.
 * Neighbours in other lanes come by shuffle. The strip's ends have no neighbours: wrong values move
 * inwards by the radius with each pass, and the adjacent warps store the TZ_GHOST_LOW columns at
 * the one end and the TZ_GHOST_HIGH at the other. Rows of streamed fields are loaded TZ_GROUP
 * iterations before they are needed.
 *
 * Strips that reach over the grid's ends run a second instance of the code (BORDER), in which
 * columns outside the grid are set to the boundary's values after each pass. */

#include "common.cuh"

#define TZ_PACKETS (TZ_VECTOR / TZ_PACKET)
#define TZ_STRIP (32 * TZ_VECTOR)

struct tz_strip {
    int x; /* column of the first element */
    int lane;
};

/* One element of a lane, for a cell update. */
struct tz_place {
    int packet, element;
    int x; /* inside the grid */
    long long step;
};

/* Where element k of packet p is in the strip. */
TZ_DEVICE int tz_strip_index(const tz_strip &s, int p, int k)
{
    return (p * 32 + s.lane) * TZ_PACKET + k;
}

/* The first column of the block's first strip. Blocks start in the order last, first, second, ...,
 * since the last strip reaches over an end of the grid and takes longer. Strips of a span begin up
 * to 31 columns before it, where packets do. */
TZ_DEVICE int tz_strips_first(const tz_arguments &a)
{
    const int block = tz_block(0) > 0 ? tz_block(0) - 1 : tz_blocks(0) - 1;
    return block * (TZ_WARPS * TZ_TILE_X) - TZ_GHOST_LOW + TZ_SPAN_LOW(a) / 32 * 32;
}

/* Does one of the block's strips hold columns outside the grid, or does it end outside the span?
 * The same for all warps. */
TZ_DEVICE bool tz_strips_border(const tz_arguments &a, int first)
{
    /* The last bits of the last words of a bit row may lie outside the grid. */
    const int full = TZ_BITS_GRID ? (int)(a.columns - 31LL * a.nx) : a.nx;
#ifdef TZ_SLAB
    if (first + TZ_GHOST_LOW < a.low || first + TZ_GHOST_LOW + TZ_WARPS * TZ_TILE_X > a.high)
        return true;
#endif
    return first < 0 || first + (TZ_WARPS - 1) * TZ_TILE_X + TZ_STRIP > full;
}

/* As tz_map(), without loops: unrolled code would have one or two for each element. Unless the grid
 * is shorter than the strips of a block (TZ_SHORT), no column is farther outside than the grid is
 * long. */
TZ_DEVICE int tz_strip_map(int x, int n)
{
#if TZ_WRAPS(TZ_LOW_X) && TZ_SHORT
    x %= n;
    return x < 0 ? x + n : x;
#elif TZ_WRAPS(TZ_LOW_X)
    return x < 0 ? x + n : x < n ? x : x - n;
#elif TZ_REFLECTS(TZ_LOW_X) && TZ_REFLECTS(TZ_HIGH_X)
    const int there_and_back = n > 1 ? 2 * (n - 1) : 1;
    x = x < 0 ? -x : x;
    x = TZ_SHORT ? x % there_and_back : x;
    return x < n ? x : there_and_back - x;
#else
    return tz_map<TZ_LOW_X, TZ_HIGH_X>(x, n);
#endif
}

template <bool BORDER>
TZ_DEVICE int tz_strip_x(const tz_arguments &a, const tz_strip &s, int p, int k)
{
    const int x = s.x + tz_strip_index(s, p, k);
    if (!BORDER)
        return x;
    return TZ_BITS_GRID ? (x % a.nx + a.nx) % a.nx : tz_strip_map(x, a.nx);
}

template <class T>
TZ_DEVICE void tz_strip_copy(const T (&from)[TZ_PACKETS][TZ_PACKET], T (&to)[TZ_PACKETS][TZ_PACKET])
{
#pragma unroll
    for (int p = 0; p < TZ_PACKETS; p++)
#pragma unroll
        for (int k = 0; k < TZ_PACKET; k++)
            to[p][k] = from[p][k];
}

/* ---- Memory to registers and back ------------------------------------------------------------ */

template <bool BORDER, class S, class T>
TZ_DEVICE void tz_strip_load(const tz_arguments &a, const tz_strip &s, const S *row,
                             tz_edges<T> edge, T (&to)[TZ_PACKETS][TZ_PACKET])
{
#pragma unroll
    for (int p = 0; p < TZ_PACKETS; p++) {
        if (!BORDER)
            tz_load_values(row + s.x + tz_strip_index(s, p, 0), to[p]);
#pragma unroll
        for (int k = 0; BORDER && k < TZ_PACKET; k++) {
            const int x = s.x + tz_strip_index(s, p, k);
#if TZ_BITS_GRID
            to[p][k] = tz_load_word(a, row, x, edge);
#else
            const int inside = tz_strip_map(x, a.nx);
            to[p][k] = inside < 0 ? tz_edge<0, T>(edge, inside < -1) : (T)row[inside];
#endif
        }
    }
}

/* Where a lane's first packet is in the first row of a streamed field. With BORDER, where the row
 * begins: it is read column by column. */
template <bool BORDER> TZ_DEVICE const int *tz_strip_row(const tz_strip &s, const void *rows)
{
    return (const int *)rows + (BORDER ? 0 : s.x + tz_strip_index(s, 0, 0));
}

/* Loads a row of a streamed field (columns outside get any value) and advances to the next row. */
template <bool BORDER>
TZ_DEVICE void tz_strip_stream(const tz_arguments &a, const tz_strip &s, const int *&row,
                               int (&to)[TZ_PACKETS][TZ_PACKET])
{
#pragma unroll
    for (int p = 0; p < TZ_PACKETS; p++) {
        if (!BORDER)
            tz_load_once(row + p * (32 * TZ_PACKET), to[p]);
#pragma unroll
        for (int k = 0; BORDER && k < TZ_PACKET; k++) {
            /* Computed again for each row, since keeping it would take registers. */
            const int inside = tz_strip_map(tz_hidden(s.x) + tz_strip_index(s, p, k), a.nx);
            to[p][k] = inside < 0 ? 0 : row[inside];
        }
    }
    row += a.pitch;
}

template <bool BORDER, class S, class T>
TZ_DEVICE void tz_strip_store(const tz_arguments &a, const tz_strip &s, S *row,
                              const T (&from)[TZ_PACKETS][TZ_PACKET])
{
#pragma unroll
    for (int p = 0; p < TZ_PACKETS; p++) {
        const int i = tz_strip_index(s, p, 0);
        S packet[TZ_PACKET];
#pragma unroll
        for (int k = 0; k < TZ_PACKET; k++)
            packet[k] = (S)from[p][k];
        if (i < TZ_GHOST_LOW || i >= TZ_GHOST_LOW + TZ_TILE_X)
            continue;
        if (!BORDER)
            tz_store(row + s.x + i, packet);
#pragma unroll
        for (int k = 0; BORDER && k < TZ_PACKET; k++)
            if (TZ_IN_SPAN(a, s.x + i + k, a.nx))
                row[s.x + i + k] = packet[k];
    }
}

/* ---- Neighbours ------------------------------------------------------------------------------ */

/* The element `i` columns after the first one of packet p, from the lane that holds it; any element
 * past the strip's ends. All lanes take part. */
template <class T>
TZ_DEVICE T tz_neighbour(const T (&now)[TZ_PACKETS][TZ_PACKET], const tz_strip &s, int p, int i)
{
    const int hop = i >= 0 ? i / TZ_PACKET : -((TZ_PACKET - 1 - i) / TZ_PACKET);
    const int k = i - hop * TZ_PACKET;
    if (hop == 0)
        return now[p][k];
    /* Past the last lane come the first lanes of the adjacent packet, and the other way round. */
    T value = now[p][k];
    if (hop < 0 && p > 0)
        value = tz_choose(s.lane >= 32 + hop, now[p > 0 ? p - 1 : 0][k], value);
    if (hop > 0 && p + 1 < TZ_PACKETS)
        value = tz_choose(s.lane < hop, now[p + 1 < TZ_PACKETS ? p + 1 : p][k], value);
    return tz_shuffle(value, (s.lane + hop) & 31);
}

/* The cells that an update reads: a lane's packets with RADIUS neighbours on both sides of each. */
template <class T, int RADIUS> struct tz_window {
    T v[TZ_PACKETS][TZ_PACKET + 2 * RADIUS];
};

template <class T, int RADIUS>
TZ_DEVICE void tz_widen(const T (&now)[TZ_PACKETS][TZ_PACKET], const tz_strip &s,
                        tz_window<T, RADIUS> &window)
{
#pragma unroll
    for (int p = 0; p < TZ_PACKETS; p++)
#pragma unroll
        for (int i = -RADIUS; i < TZ_PACKET + RADIUS; i++)
            window.v[p][RADIUS + i] = tz_neighbour(now, s, p, i);
}

/* ---- The grid's ends ------------------------------------------------------------------------- */

/* Sets columns outside the grid to the boundary's values. `row`: TZ_STRIP elements of shared memory
 * of this warp, for boundaries that read other columns. */
template <class T>
TZ_DEVICE void tz_strip_restore(const tz_arguments &a, const tz_strip &s, tz_edges<T> edge, T *row,
                                T (&now)[TZ_PACKETS][TZ_PACKET])
{
#if TZ_STAGED
#pragma unroll
    for (int p = 0; p < TZ_PACKETS; p++)
        tz_put_packet(row + tz_strip_index(s, p, 0), now[p]);
    tz_barrier_warp();
#endif
#pragma unroll
    for (int p = 0; p < TZ_PACKETS; p++)
#pragma unroll
        for (int k = 0; k < TZ_PACKET; k++) {
            const int x = tz_hidden(s.x) + tz_strip_index(s, p, k);
#if TZ_BITS_GRID
            now[p][k] = tz_mask_word(a, x, now[p][k], edge);
#elif TZ_STAGED
            /* Columns that would read past the strip's ends are already wrong. They get any
             * value. */
            const int inside = tz_strip_map(x, a.nx), from = inside - s.x;
            if ((TZ_HAS_VALUE(TZ_LOW_X) || TZ_HAS_VALUE(TZ_HIGH_X)) && inside < 0)
                now[p][k] = tz_edge<0, T>(edge, inside < -1);
            else if (x < 0 || x >= a.nx)
                now[p][k] = tz_get(row + (from < 0 ? 0 : from < TZ_STRIP ? from : TZ_STRIP - 1));
#elif TZ_HAS_VALUE(TZ_LOW_X)
            now[p][k] = x < 0 || x >= a.nx ? tz_edge<0, T>(edge, x >= 0) : now[p][k];
#endif
        }
#if TZ_STAGED
    tz_barrier_warp();
#endif
}

/* ---- The language of cell updates ------------------------------------------------------------ */

#define TZ__WIDTH_state(f) TZ_CELL_RADIUS
#define TZ__WIDTH_static(f) TZ__RADIUS_##f
#define TZ__WIDTH_streamed(f) 0
#define TZ__WIDTH_derived(f) 0
#define TZ__WIDTH(f) TZ__CAT(TZ__WIDTH_, TZ__CAT(TZ__KIND_, f))(f)
#define TZ__CONTEXT_FIELD(name, type)                                                              \
    tz_window<type, TZ__WIDTH(name)> name;                                                         \
    type name##_out[TZ_PACKETS][TZ_PACKET];
/* TZ_CELL_RADIUS changes from pass to pass: an enumerator keeps its value for TZ_AT. */
#define TZ__CONTEXT_WIDTH(name, type) name##_width = TZ__WIDTH(name),
#define TZ_CELL_ONCE(cell, ONCE)                                                                   \
    TZ__ONCE_STRUCT(cell, ONCE)                                                                    \
    TZ__CONTEXT(cell, enum {TZ_FIELDS(TZ__CONTEXT_WIDTH)};)                                        \
    TZ__MAKE_ONCE(cell, ONCE, const tz_place &tz_p)                                                \
    TZ_DEVICE void update_##cell(context_##cell &tz_c, const tz_place &tz_p,                       \
                                 const once_##cell &tz_o)
#define TZ__AT3(f, dx, dy, dz) (tz_c.f.v[tz_p.packet][tz_p.element + tz_c.f##_width + (dx)])
#define TZ_PUT(f, value) tz_assign(tz_c.f##_out[tz_p.packet][tz_p.element], (value))
#define TZ_X TZ__WHOLE_X((tz_p.x))
#define TZ_Y 0
#define TZ_Z 0
#define TZ_STEP (tz_p.step)

template <class T, class V> TZ_DEVICE void tz_assign(T &to, V value)
{
    to = (T)value;
}
