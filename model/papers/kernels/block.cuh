/* kernels/cuda: the block family, the kernel that Tabik and others describe (2015, section 3).
 *
 * A block has TZ_TILE_X x TZ_TILE_Y threads and computes so many cells a step, one a thread. In 3-D
 * it marches along z, a plane a step; in 2-D along y and in 1-D along x, a tile a step. A launch
 * computes one iteration of one pass.
 *
 * C describes a field NAME that is read by struct tz_f_NAME:
 *
 *   type         of an element
 *   LOW, HIGH    the planes of the thread's own column that it needs, relative to the cell's plane
 *   PLANES       of its queue in registers: those, and TZ_AHEAD - 1 that later steps need. A step
 *                drops the first one and takes one more
 *   TILED        1: it is read beside that column. Planes TZ_TILES_LOW to TZ_TILES_HIGH of the
 *                block's tile and its halo are in shared memory, in a ring that begins at byte
 *                SHARED
 *
 * TZ_NEAR_LOW_X and so on are the halo's widths; TZ_CORNERS is 1 if its corners are read, too.
 *
 * The ring has one slot more than planes that are read. So a plane can be written while slower
 * warps still read the step before, and one barrier a step is enough. What a step needs was loaded
 * TZ_AHEAD steps before.
 *
 * A halo element outside the grid is loaded from the cell that the boundary names. As a block
 * marches along z that cell stays the same in its plane, so boundaries cost nothing but the search
 * for it at the start, and on fixed sides a choice. */

#include "common.cuh"
#include "values.cuh"

#define TZ_ROWS_OF_TILE (TZ_TILE_Y + TZ_NEAR_LOW_Y + TZ_NEAR_HIGH_Y)
#define TZ_PITCH (TZ_TILE_X + TZ_NEAR_LOW_X + TZ_NEAR_HIGH_X)
#define TZ_SLOT_ELEMENTS (TZ_PITCH * TZ_ROWS_OF_TILE)
/* Threads beyond the tile's cells fill the last warp. They only help to load the halo. */
#define TZ_CELLS (TZ_TILE_X * TZ_TILE_Y)
#define TZ_IN_TILE (TZ_CELLS == TZ_THREADS || tz_thread() < TZ_CELLS)

/* The halo's elements are numbered: first whole rows below and above the tile, then what is left
 * and right of it. Thread t loads elements t, t + TZ_THREADS and so on. */
#define TZ_HALO_WIDTH (TZ_CORNERS ? TZ_PITCH : TZ_TILE_X)
#define TZ_HALO_ABOVE (TZ_HALO_WIDTH * (TZ_NEAR_LOW_Y + TZ_NEAR_HIGH_Y))
#define TZ_HALO_BESIDE (TZ_NEAR_LOW_X + TZ_NEAR_HIGH_X)
#define TZ_HALO_ELEMENTS (TZ_HALO_ABOVE + TZ_HALO_BESIDE * TZ_TILE_Y)
#define TZ_HALO_LOADS ((TZ_HALO_ELEMENTS + TZ_THREADS - 1) / TZ_THREADS)

/* A thread's cell. */
struct tz_place {
    int x, y, z;
    int in_tile; /* elements from a slot's begin to it */
    /* elements to the slots: of the planes that are read, then of the next one */
    int slot[TZ_SLOTS];
};

/* Where a thread loads its elements in a plane: elements from the plane's begin; below 0, a value
 * past a fixed side. In 3-D it is the same for all planes. */
struct tz_sources {
    int own, halo[TZ_HALO_LOADS + 1];
};

/* ---- Places ---------------------------------------------------------------------------------- */

/* geometry: elements of a chunk along the last axis, tiles along x, along y. On the last axis there
 * are chunks instead of tiles. */
TZ_DEVICE void tz_place_here(const tz_arguments &a, tz_place &p, int &from, int &to)
{
    const int wide = a.geometry[1], high = a.geometry[2], number = tz_block(0);
    const int chunk = number / (wide * high), column = tz_thread() % TZ_TILE_X;
    const int row = tz_thread() / TZ_TILE_X;
    const int n = TZ_DIMS > 2 ? a.nz : TZ_DIMS > 1 ? a.ny : a.nx;
    from = TZ_SPAN_LOW(a) + chunk * a.geometry[0];
    to = TZ_SPAN_HIGH(a, n) - from > a.geometry[0] ? from + a.geometry[0] : TZ_SPAN_HIGH(a, n);
    p.x = (TZ_DIMS > 1 ? number % wide * TZ_TILE_X : from) + column;
    p.y = (TZ_DIMS > 2 ? number / wide % high * TZ_TILE_Y : TZ_DIMS > 1 ? from : 0) + row;
    p.z = TZ_DIMS > 2 ? from : 0;
    p.in_tile = (row + TZ_NEAR_LOW_Y) * TZ_PITCH + column + TZ_NEAR_LOW_X;
#pragma unroll
    for (int k = 0; k < TZ_SLOTS; k++)
        p.slot[k] = k * TZ_SLOT_ELEMENTS;
}

/* The thread's cell of the next step. */
TZ_DEVICE tz_place tz_place_next(const tz_place &p)
{
    tz_place next = p;
    if (TZ_DIMS > 2)
        next.z++;
    else if (TZ_DIMS > 1)
        next.y += TZ_TILE_Y;
    else
        next.x += TZ_TILE_X;
#pragma unroll
    for (int k = 0; k < TZ_SLOTS; k++)
        next.slot[k] = p.slot[(k + 1) % TZ_SLOTS];
    return next;
}

/* Is the thread's cell one that the block computes? `to`: where its chunk ends. */
TZ_DEVICE bool tz_is_wanted(const tz_arguments &a, const tz_place &p, int to)
{
    return TZ_IN_TILE && p.x < (TZ_DIMS > 1 ? a.nx : to) &&
           (TZ_DIMS == 1 || p.y < (TZ_DIMS > 2 ? a.ny : to));
}

/* Is there an element k of this thread's part of the halo? If not, the thread loads the halo's last
 * element and does not use it. */
TZ_DEVICE bool tz_has_halo(int k)
{
    return (k + 1) * TZ_THREADS <= TZ_HALO_ELEMENTS ||
           tz_thread() + k * TZ_THREADS < TZ_HALO_ELEMENTS;
}

/* Column and row of the element in a slot. */
TZ_DEVICE void tz_halo_place(int k, int &column, int &row)
{
    constexpr int width = TZ_HALO_WIDTH > 0 ? TZ_HALO_WIDTH : 1;
    constexpr int beside = TZ_HALO_BESIDE > 0 ? TZ_HALO_BESIDE : 1;
    const int mine = tz_thread() + k * TZ_THREADS;
    const int i = mine < TZ_HALO_ELEMENTS ? mine : TZ_HALO_ELEMENTS - 1, rest = i - TZ_HALO_ABOVE;
    if (i < TZ_HALO_ABOVE) {
        row = i / width;
        column = i % width + (TZ_CORNERS ? 0 : TZ_NEAR_LOW_X);
        row += row < TZ_NEAR_LOW_Y ? 0 : TZ_TILE_Y;
    } else {
        row = rest / beside + TZ_NEAR_LOW_Y;
        column = rest % beside;
        column += column < TZ_NEAR_LOW_X ? 0 : TZ_TILE_X;
    }
}

TZ_DEVICE int tz_halo_in_slot(int k)
{
    int column, row;
    tz_halo_place(k, column, row);
    return row * TZ_PITCH + column;
}

/* ---- Loads ----------------------------------------------------------------------------------- */

/* The place of an element in its plane; -1 or -2 past a fixed side of x, -3 or -4 past one of y. */
TZ_DEVICE int tz_source_of(const tz_arguments &a, int x, int y)
{
    const int x_in = tz_map<TZ_LOW_X, TZ_HIGH_X>(x, a.nx);
    const int y_in = TZ_DIMS > 1 ? tz_map<TZ_LOW_Y, TZ_HIGH_Y>(y, a.ny) : 0;
    if (TZ_FIXED_X && x_in < 0)
        return x_in;
    if (TZ_FIXED_Y && y_in < 0)
        return y_in - 2;
    return y_in * a.pitch + x_in;
}

TZ_DEVICE void tz_find_sources(const tz_arguments &a, const tz_place &p, tz_sources &sources)
{
    const int x = p.x - tz_thread() % TZ_TILE_X - TZ_NEAR_LOW_X;
    const int y = p.y - tz_thread() / TZ_TILE_X - TZ_NEAR_LOW_Y;
    sources.own = tz_source_of(a, p.x, p.y);
#pragma unroll
    for (int k = 0; k < TZ_HALO_LOADS; k++) {
        int column, row;
        tz_halo_place(k, column, row);
        sources.halo[k] = tz_source_of(a, x + column, y + row);
    }
}

/* An element of plane z. APART: the plane may be outside the grid; BESIDE: the element may be so in
 * the plane; ONCE: it is read once. */
template <class T, bool APART, bool BESIDE, bool ONCE>
TZ_DEVICE T tz_element(const tz_arguments &a, const void *field, const tz_edges<T> &edge, int z,
                       int source)
{
    const bool beside = (TZ_FIXED_X || TZ_FIXED_Y) && source < 0;
    int z_in = z;
    if (APART && (z < 0 || z >= a.nz))
        z_in = tz_map<TZ_LOW_Z, TZ_HIGH_Z>(z, a.nz);
    const bool apart = APART && TZ_FIXED_Z && z_in < 0;
    const tz_index at = (tz_index)(apart ? 0 : z_in) * (tz_index)a.plane + (beside ? 0 : source);
    T one[1];
    if (ONCE)
        tz_load_once((const T *)field + at, one);
    else
        tz_load((const T *)field + at, one);
    if (apart)
        one[0] = tz_edge<2, T>(edge, z_in == -2);
    if (BESIDE && beside)
        one[0] =
            source >= -2 ? tz_edge<0, T>(edge, source == -2) : tz_edge<1, T>(edge, source == -4);
    return one[0];
}

/* Of the thread's own column. A plane that a step computes is in the grid. */
template <class F>
TZ_DEVICE typename F::type tz_own_element(const tz_arguments &a, const tz_sources &sources,
                                          const void *field, const tz_edges<typename F::type> &edge,
                                          int z, int dz)
{
    return dz == 0 ? tz_element<typename F::type, false, F::TILED, !F::TILED>(a, field, edge, z,
                                                                              sources.own)
                   : tz_element<typename F::type, true, F::TILED, !F::TILED>(a, field, edge, z + dz,
                                                                             sources.own);
}

/* The thread's part of a halo. */
template <class T> struct tz_halo {
    T at[TZ_HALO_LOADS + 1];
};

/* That of plane z + dz. */
template <class T>
TZ_DEVICE tz_halo<T> tz_load_halo(const tz_arguments &a, const tz_sources &sources,
                                  const void *field, const tz_edges<T> &edge, int z, int dz)
{
    tz_halo<T> halo;
#pragma unroll
    for (int k = 0; k < TZ_HALO_LOADS; k++)
        halo.at[k] =
            dz == 0 ? tz_element<T, false, true, false>(a, field, edge, z, sources.halo[k])
                    : tz_element<T, true, true, false>(a, field, edge, z + dz, sources.halo[k]);
    return halo;
}

/* ---- Queues and tiles ------------------------------------------------------------------------ */

/* The plane that is computed in so many steps; after the last one, that one. */
TZ_DEVICE int tz_plane_after(const tz_place &p, int steps, int end)
{
    return TZ_DIMS < 3 ? 0 : p.z + steps < end ? p.z + steps : end - 1;
}

template <class F>
TZ_DEVICE void tz_start_queue(const tz_arguments &a, const tz_place &p, const tz_sources &sources,
                              int end, const void *field, const tz_edges<typename F::type> &edge,
                              typename F::type (&queue)[F::PLANES])
{
#pragma unroll
    for (int k = 0; k < F::PLANES; k++) {
        const int later = k - (F::HIGH - F::LOW); /* steps after which it is needed */
        queue[k] = tz_own_element<F>(a, sources, field, edge,
                                     tz_plane_after(p, later > 0 ? later : 0, end),
                                     later > 0 ? F::HIGH : F::LOW + k);
    }
}

template <class T, int PLANES> TZ_DEVICE void tz_push(T (&queue)[PLANES], const T &next)
{
#pragma unroll
    for (int k = 0; k + 1 < PLANES; k++)
        queue[k] = queue[k + 1];
    queue[PLANES - 1] = next;
}

template <class F> TZ_DEVICE typename F::type *tz_slot_of(const tz_place &p, int dz)
{
    return (typename F::type *)(tz_shared() + F::SHARED) + p.slot[dz - TZ_TILES_LOW];
}

/* Writes plane `dz` of the tile and its halo into its slot. */
template <class F>
TZ_DEVICE void tz_put_tile(const tz_place &p, int dz, const typename F::type (&queue)[F::PLANES],
                           const tz_halo<typename F::type> &halo)
{
    typename F::type *const to = tz_slot_of<F>(p, dz);
    if (TZ_IN_TILE)
        tz_put(to + p.in_tile, queue[dz - F::LOW]);
#pragma unroll
    for (int k = 0; k < TZ_HALO_LOADS; k++)
        if (tz_has_halo(k))
            tz_put(to + tz_halo_in_slot(k), halo.at[k]);
}

/* The planes of tiles that the first step reads, but for the last, which it writes itself. The
 * halos are those of that one and of later ones. */
template <class F>
TZ_DEVICE void tz_start_tiles(const tz_arguments &a, const tz_place &p, const tz_sources &sources,
                              int end, const void *field, const tz_edges<typename F::type> &edge,
                              const typename F::type (&queue)[F::PLANES],
                              tz_halo<typename F::type> (&halos)[TZ_AHEAD])
{
#pragma unroll
    for (int dz = TZ_TILES_LOW; dz < TZ_TILES_HIGH; dz++)
        tz_put_tile<F>(p, dz, queue, tz_load_halo(a, sources, field, edge, p.z, dz));
#pragma unroll
    for (int k = 0; k < TZ_AHEAD; k++)
        halos[k] = tz_load_halo(a, sources, field, edge, tz_plane_after(p, k, end), TZ_TILES_HIGH);
}

/* What a cell update reads: of its own column from the queue, else from a tile. */
template <class F>
TZ_DEVICE typename F::type tz_near(const tz_place &p, const typename F::type *queue, int dx, int dy,
                                   int dz)
{
    if (dx == 0 && dy == 0 && dz >= F::LOW && dz <= F::HIGH)
        return queue[dz - F::LOW];
    if (F::TILED && dz >= TZ_TILES_LOW && dz <= TZ_TILES_HIGH && dx >= -TZ_NEAR_LOW_X &&
        dx <= TZ_NEAR_HIGH_X && dy >= -TZ_NEAR_LOW_Y && dy <= TZ_NEAR_HIGH_Y &&
        (TZ_CORNERS || dx == 0 || dy == 0))
        return tz_get(tz_slot_of<F>(p, dz) + p.in_tile + dx + dy * TZ_PITCH);
    return tz_absent<typename F::type>();
}

/* ---- The language of cell updates ------------------------------------------------------------ */

/* A coordinate; of cells past the grid's end, whose results are not stored, that of the last
 * cell. */
TZ_DEVICE int tz_at_most(int at, int n)
{
    return at < n ? at : n - 1;
}

#define TZ__CONTEXT_FIELD(name, type)                                                              \
    const type *name;                                                                              \
    type name##_new;
#define TZ_CELL_ONCE(cell, ONCE)                                                                   \
    TZ__CONTEXT(cell, const tz_arguments *arguments;)                                              \
    TZ__CELL_UPDATE(cell, ONCE, context_##cell, tz_place, , )
#define TZ__READ_state(f, dx, dy, dz) tz_near<tz_f_##f>(tz_p, tz_c.f, (dx), (dy), (dz))
#define TZ__READ_static(f, dx, dy, dz) TZ__READ_state(f, dx, dy, dz)
#define TZ__READ_streamed(f, dx, dy, dz) (tz_c.f[tz_at_most(tz_p.x, tz_c.arguments->nx)])
#define TZ__AT3(f, dx, dy, dz) TZ__CAT(TZ__READ_, TZ__CAT(TZ__KIND_, f))(f, dx, dy, dz)
#define TZ_PUT(f, value) (tz_c.f##_new = (value))
#define TZ_X TZ__WHOLE_X((tz_at_most(tz_p.x, tz_c.arguments->nx)))
#define TZ_Y TZ__WHOLE_Y((tz_at_most(tz_p.y, tz_c.arguments->ny)))
#define TZ_Z TZ__WHOLE_Z((tz_p.z))
#define TZ_STEP (tz_c.arguments->step)
