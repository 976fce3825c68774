/* kernels/cuda: the direct family: one pass of an iteration, for every stencil. A lane computes one
 * cell after the other along the last axis, and each cell loads its neighbours from device memory,
 * through the caches. The text is plain, so that it is compiled soon.
 *
 * Coordinates outside the grid are replaced by those of the boundary, per axis. Warps that read
 * inside the grid alone may run an instance of the code without that.
 *
 * Defined by C, besides what common.cuh lists:
 *
 *   tz_index                         int or long long: the place of an element in a field
 *   TZ_THREADS, TZ_BLOCKS            threads of a block; blocks of a multiprocessor
 *   TZ_WIDE                          threads of a block along x
 *   TZ_CELLS                         cells of a lane's step, along the last axis
 *   TZ_INNER, TZ_CALLS               1: there is such an instance; the other one calls a function
 *                                    for each read, which is slower and compiled sooner
 *   TZ_SHORT                         1: an axis is not longer than it is read past its sides
 *   TZ_BELOW_x, TZ_ABOVE_x           how far passes read to both sides of axis x, y, z
 *   TZ_STORES_p(D)                   fields that pass p stores: D(role, name, type, index) */
#include "read.cuh"

struct tz_place {
    int x, y, z;
    tz_index at; /* in a field */
    long long step;
};

template <bool BORDER, class T>
TZ_DEVICE T tz_read(const tz_arguments &a, const tz_place &p, const T *field,
                    const tz_edges<T> &edge, int dx, int dy, int dz)
{
    const tz_index plane = TZ_DIMS > 2 ? (tz_index)a.plane : 0;
    if (BORDER)
        return tz_read_border<T>(a, field, edge, p.x + dx, p.y + dy, p.z + dz);
    return tz_load_one(field + (p.at + dx + (tz_index)a.pitch * dy + plane * dz));
}

/* ---- The language of cell updates ------------------------------------------------------------ */

#define TZ__CONTEXT_FIELD(name, type)                                                              \
    const type *name;                                                                              \
    tz_edges<type> name##_edge;                                                                    \
    type name##_new;
#define TZ_CELL_ONCE(cell, ONCE)                                                                   \
    TZ__CONTEXT(cell, const tz_arguments *arguments;)                                              \
    TZ__CELL_UPDATE(cell, ONCE, context_##cell, tz_place, template <bool TZ__BORDER>, <TZ__BORDER>)
#define TZ__READ_state(f, dx, dy, dz)                                                              \
    tz_read<TZ__BORDER>(*tz_c.arguments, tz_p, tz_c.f, tz_c.f##_edge, (dx), (dy), (dz))
#define TZ__READ_static TZ__READ_state
#define TZ__READ_streamed(f, dx, dy, dz)                                                           \
    tz_load_one(tz_c.f + (TZ__BORDER ? tz_map_nearest(tz_p.x, tz_c.arguments->nx) : tz_p.x))
#define TZ__AT3(f, dx, dy, dz) TZ__CAT(TZ__READ_, TZ__CAT(TZ__KIND_, f))(f, dx, dy, dz)
#define TZ_PUT(f, value) (tz_c.f##_new = (value))
#define TZ_X TZ__WHOLE_X((tz_p.x))
#define TZ_Y TZ__WHOLE_Y((tz_p.y))
#define TZ_Z TZ__WHOLE_Z((tz_p.z))
#define TZ_STEP (tz_p.step)
