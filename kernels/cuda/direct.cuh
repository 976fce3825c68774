/* kernels/cuda: the direct family: one pass of an iteration, for every stencil. A lane computes one
 * cell after the other along the last axis, and each cell loads its neighbours from device memory,
 * through the caches. The text is plain, so that it is compiled soon.
 *
 * Two instances of a pass (BORDER). Warps that read inside the grid alone run the one without
 * tests of coordinates, whose divisions are quick (divide.cuh). The other one replaces coordinates
 * outside the grid by those of the boundary, per axis. It also computes again what the quick
 * divisions may have got wrong.
 *
 * Defined by C, besides what common.cuh lists:
 *
 *   tz_index                         int or long long: the place of an element in a field
 *   TZ_THREADS, TZ_BLOCKS            threads of a block; blocks of a multiprocessor
 *   TZ_WIDE                          threads of a block along x
 *   TZ_CELLS                         cells of a lane's step, along the last axis
 *   TZ_LEAN                          1: only the border instance, for all warps
 *   TZ_CALLS                         1: at the border each read calls a function, which is slower
 *                                    and compiled sooner
 *   TZ_BESIDE                        1: reads past the ends of rows need no border instance
 *   TZ_SHORT                         1: an axis is not longer than it is read past its sides
 *   TZ_DOMAIN, TZ_NOTES              the domain's field, which lanes ask, or -1; where in scratch
 *                                    they note what they found
 *   TZ_BELOW_x, TZ_ABOVE_x           how far passes read to both sides of axis x, y, z
 *   TZ_LAUNCH_LIST(D)                passes that are launched: D(pass, cell, radius). If it has one
 *                                    of two, that one computes the other as well
 *                                    (direct_fused.cuh)
 *   TZ_STORES_p(D)                   fields that such a pass stores: D(role, name, type, index)
 *   TZ_ONE_COPY                      fields are written where they are read (tz_cuda_pairs of
 *                                    family.h)
 *   TZ_PAIRS, TZ_PAIRED_LIST(D)      are there pairs of fields? and the fields:
 *                                    D(name, type, index, partner, dx, dy, dz), with where it is
 *                                    read; geometry[4] is a phase
 *   TZ__OFFSET_name                  dx, dy, dz again; their kind is `paired` */
#include "divide.cuh"
#include "read.cuh"

struct tz_place {
    int x, y, z;
    tz_index at; /* in a field, but for what follows, most of which the compiler knows */
    long long step;
    int columns, rows, planes;
};

/* The element of a place without its columns. The compiler shall not know that the sum does not
 * wrap: then it computes one product a row and field, instead of a sum of 64 bits. */
template <class INDEX> struct tz_wrapping {
    typedef INDEX type;
};
template <> struct tz_wrapping<int> {
    typedef unsigned int type;
};
typedef tz_wrapping<tz_index>::type tz_offset;
TZ_DEVICE tz_offset tz_offset_of(const tz_arguments &a, const tz_place &p, int dy, int dz)
{
    const tz_index plane = TZ_DIMS > 2 ? (tz_index)a.plane * (p.planes + dz) : 0;
    return (tz_offset)(p.at + (tz_index)a.pitch * (p.rows + dy) + plane);
}

/* The instances: 0 where nothing is read outside the grid, 2 where it may be read past the ends of
 * rows, 1 anywhere. */
enum { TZ_BORDER = 1, TZ_INNER = TZ_BESIDE ? 2 : 0 };

/* The column `dx` from a place in the grid. */
template <int BORDER> TZ_DEVICE int tz_column(const tz_arguments &a, const tz_place &p, int dx)
{
    return BORDER == 2 && dx != 0 ? tz_map_near<TZ_LOW_X, TZ_HIGH_X>(p.x + dx, a.nx) : p.x + dx;
}

template <int BORDER, class T, class S>
TZ_DEVICE T tz_read(const tz_arguments &a, const tz_place &p, const S *field,
                    const tz_edges<T> &edge, int dx, int dy, int dz)
{
    if (BORDER == TZ_BORDER)
        return tz_read_border<T>(a, field, edge, p.x + dx, p.y + dy, p.z + dz);
    const int column = p.columns + tz_column<BORDER>(a, p, dx) - p.x;
    const tz_offset row = tz_offset_of(a, p, dy, dz);
    /* The compiler knows the column, or adds it here. */
    return (T)tz_load_one(BORDER == 2 ? field + (row + column) : field + row + column);
}

/* ---- Pairs of fields ------------------------------------------------------------------------- */

enum { TZ_IN_ORDER, TZ_EXCHANGED, TZ_SETTLES }; /* tz_cuda_phase */
#define TZ_PHASE(a) ((a).geometry[4])

TZ_DEVICE tz_index tz_index_of(const tz_arguments &a, int x, int y, int z)
{
    return x + (tz_index)a.pitch * y + (TZ_DIMS > 2 ? (tz_index)a.plane * z : 0);
}

/* A field that is read at (rx, ry, rz) alone: elsewhere it would not be found, and nothing is. */
template <int BORDER, class T, class S>
TZ_DEVICE T tz_read_paired(const tz_arguments &a, const tz_place &p, const S *field,
                           const tz_edges<T> &edge, int rx, int ry, int rz, int dx, int dy, int dz)
{
    const S *from = dx == rx && dy == ry && dz == rz ? field : nullptr;
    const bool own = TZ_PHASE(a) == TZ_EXCHANGED;
    if (BORDER == TZ_BORDER) {
        int x = p.x + dx, y = p.y + dy, z = p.z + dz;
        const bool inside = tz_map_place(a, x, y, z);
        if (!inside) /* no element is this cell's alone */
            return tz_value_outside<T>(a, edge, x, x, y, z);
        return (T)tz_load_one(from +
                              (own ? tz_index_of(a, p.x, p.y, p.z) : tz_index_of(a, x, y, z)));
    }
    return (T)tz_load_one(from +
                          (own ? tz_offset_of(a, p, 0, 0) : tz_offset_of(a, p, dy, dz) + dx));
}

/* Stores it where its partner was read; past a fixed side nobody reads it, and it stays in its own
 * array. */
template <int BORDER, class S>
TZ_DEVICE void tz_store_paired(const tz_arguments &a, const tz_place &p, S *own, S *partner,
                               S value, int rx, int ry, int rz)
{
    S *to = own + tz_offset_of(a, p, 0, 0);
    if (TZ_PHASE(a) == TZ_IN_ORDER) {
        int x = p.x - rx, y = p.y - ry, z = p.z - rz;
        if (BORDER != TZ_BORDER)
            to = partner + (tz_offset_of(a, p, -ry, -rz) - rx);
        else if (tz_map_place(a, x, y, z))
            to = partner + tz_index_of(a, x, y, z);
    }
    tz_store_one(to, value);
}

/* Two values that lie in each other's array. */
template <class S>
TZ_DEVICE void tz_settle(const tz_arguments &a, const tz_place &p, S *own, S *partner, int rx,
                         int ry, int rz)
{
    int x = p.x - rx, y = p.y - ry, z = p.z - rz;
    if (!tz_map_place(a, x, y, z))
        return;
    S *const one = own + tz_index_of(a, p.x, p.y, p.z), *const two =
                                                            partner + tz_index_of(a, x, y, z);
    const S value = tz_load_one(one);
    tz_store_one(one, tz_load_one(two));
    tz_store_one(two, value);
}

#define TZ__CONTEXT_PARTNER(name, type, index, partner, dx, dy, dz)                                \
    if (TZ_PHASE(a) == TZ_EXCHANGED)                                                               \
        c.name = (const TZ__MEMORY(name) *)a.in[partner];
#define TZ__CONTEXT_ENTRY(role, name, type, index)                                                 \
    c.name = (const TZ__MEMORY(name) *)a.in[index];                                                \
    c.name##_edge = tz_edges_of<type>(a, index);
/* All members of the context `c`. */
#define TZ__FILL_CONTEXT                                                                           \
    c.arguments = &a;                                                                              \
    c.tz_doubt = tz_no_doubts();                                                                   \
    TZ_FIELD_LIST(TZ__CONTEXT_ENTRY)                                                               \
    TZ_PAIRED_LIST(TZ__CONTEXT_PARTNER)                                                            \
    TZ__CONTEXT_CONSTANTS(0)

/* What passes have that compute an earlier pass, and do first (direct_fused.cuh). */
#define TZ__CONTEXT_EARLIER
#define TZ__MAKE_EARLIER(border, a, c, p)

/* ---- The language of cell updates ------------------------------------------------------------ */

#define TZ__CONTEXT_FIELD(name, type)                                                              \
    const TZ__MEMORY(name) * name;                                                                 \
    tz_edges<type> name##_edge;                                                                    \
    type name##_new;
#define TZ_CELL_ONCE(cell, ONCE)                                                                   \
    TZ__CONTEXT(cell, const tz_arguments *arguments; tz_doubts tz_doubt; TZ__CONTEXT_EARLIER)      \
    TZ__CELL_UPDATE(cell, ONCE, context_##cell, tz_place, template <int TZ__BORDER>, <TZ__BORDER>)
#define TZ__READ_state(f, dx, dy, dz)                                                              \
    tz_read<TZ__BORDER, decltype(tz_c.f##_new)>(*tz_c.arguments, tz_p, tz_c.f, tz_c.f##_edge,      \
                                                (dx), (dy), (dz))
#define TZ__READ_static TZ__READ_state
#define TZ__READ_paired(f, dx, dy, dz)                                                             \
    tz_read_paired<TZ__BORDER, decltype(tz_c.f##_new)>(                                            \
        *tz_c.arguments, tz_p, tz_c.f, tz_c.f##_edge, TZ__CAT(TZ__OFFSET_, f), (dx), (dy), (dz))
#define TZ__READ_streamed(f, dx, dy, dz)                                                           \
    tz_load_one(tz_c.f +                                                                           \
                (TZ__BORDER == TZ_BORDER ? tz_map_nearest(tz_p.x, tz_c.arguments->nx) : tz_p.x))
#define TZ__AT3(f, dx, dy, dz) TZ__CAT(TZ__READ_, TZ__CAT(TZ__KIND_, f))(f, dx, dy, dz)
#define TZ_PUT(f, value) (tz_c.f##_new = (value))
#define TZ_X TZ__WHOLE_X((tz_p.x))
#define TZ_Y TZ__WHOLE_Y((tz_p.y))
#define TZ_Z TZ__WHOLE_Z((tz_p.z))
#define TZ_STEP (tz_p.step)
