/* kernels/cuda: the tile family, the trapezoid as Meng and Skadron published it.
 *
 * A block loads its tile with a ghost zone into shared memory, computes TZ_HEIGHT iterations there,
 * each on a region that shrinks by the radius (not if TZ_WHOLE), and stores the tile. Blocks whose
 * ghost zone leaves the grid run a second instance of the code (BORDER), which handles
 * boundaries. */

#include "common.cuh"

#define TZ_EXT_X (TZ_TILE_X + 2 * TZ_HALO_X)
#define TZ_EXT_Y (TZ_TILE_Y + 2 * TZ_HALO_Y)
#define TZ_EXT_Z (TZ_TILE_Z + 2 * TZ_HALO_Z)
#define TZ_EXT (TZ_EXT_X * TZ_EXT_Y * TZ_EXT_Z)

/* The first element of the block's tile. */
#define TZ_TILE_LOW(a, axis, extent)                                                               \
    (tz_block(axis) * extent + (axis == TZ_DIMS - 1 ? TZ_SPAN_LOW(a) : 0))
/* Where stores along an axis end. */
#define TZ_TILE_END(a, axis, n) (axis == TZ_DIMS - 1 ? TZ_SPAN_HIGH(a, n) : n)

/* An element of the tile with its ghost zone: where it is in shared memory and in the grid. x, y
 * and z may lie outside the grid; x_in, y_in and z_in are inside. */
struct tz_place {
    int index;
    int x, y, z;
    int x_in, y_in, z_in;
    int iteration;
    long long step;
};

/* The offset to a neighbour in shared memory along one axis; `mapped` is below 0 where it is the
 * boundary value. On a periodic axis the ghost zone holds all neighbours. */
template <int LOW, int HIGH> TZ_DEVICE int tz_offset(int c, int d, int n, int &mapped)
{
    if (TZ_WRAPS(LOW))
        return d;
    mapped = tz_map<LOW, HIGH>(c + d, n);
    return mapped < 0 ? 0 : mapped - c;
}

template <bool BORDER, class T>
TZ_DEVICE T tz_state(const tz_arguments &a, const tz_place &p, const T *field,
                     const tz_edges<T> &edge, int dx, int dy, int dz)
{
    if (BORDER) {
        const int word = p.x + dx;
        int x = 0, y = 0, z = 0;
        if (!TZ_BITS_GRID)
            dx = tz_offset<TZ_LOW_X, TZ_HIGH_X>(p.x, dx, a.nx, x);
        if (TZ_DIMS > 1)
            dy = tz_offset<TZ_LOW_Y, TZ_HIGH_Y>(p.y, dy, a.ny, y);
        if (TZ_DIMS > 2)
            dz = tz_offset<TZ_LOW_Z, TZ_HIGH_Z>(p.z, dz, a.nz, z);
        if (x < 0 || y < 0 || z < 0)
            return tz_value_outside<T>(a, edge, word, x, y, z);
    }
    return tz_get(field + p.index + dx + TZ_EXT_X * (dy + TZ_EXT_Y * dz));
}

template <bool BORDER, class T>
TZ_DEVICE T tz_static(const tz_arguments &a, const tz_place &p, const T *field,
                      const tz_edges<T> &edge, int dx, int dy, int dz)
{
    int x = p.x + dx, y = p.y + dy, z = p.z + dz;
    if (BORDER) {
        if (!TZ_BITS_GRID)
            x = tz_map<TZ_LOW_X, TZ_HIGH_X>(x, a.nx);
        y = TZ_DIMS > 1 ? tz_map<TZ_LOW_Y, TZ_HIGH_Y>(y, a.ny) : 0;
        z = TZ_DIMS > 2 ? tz_map<TZ_LOW_Z, TZ_HIGH_Z>(z, a.nz) : 0;
        if ((!TZ_BITS_GRID && x < 0) || y < 0 || z < 0)
            return tz_value_outside<T>(a, edge, x, x, y, z);
    }
    if (TZ_BITS_GRID) /* words near an end of a row also hold columns of its other end */
        return tz_load_static_word(a, field + (long long)a.pitch * y + a.plane * z, x, edge);
    return field[x + (long long)a.pitch * y + a.plane * z];
}

template <class T> TZ_DEVICE T tz_streamed(const tz_arguments &a, const tz_place &p, const T *field)
{
    return field[(long long)p.iteration * a.pitch + p.x_in];
}

/* Element i of the tile with its ghost zone. */
TZ_DEVICE tz_place tz_place_of(const tz_arguments &a, int i)
{
    tz_place p;
    const int ex = i % TZ_EXT_X, ey = i / TZ_EXT_X % TZ_EXT_Y, ez = i / (TZ_EXT_X * TZ_EXT_Y);
    p.index = i;
    p.x = TZ_TILE_LOW(a, 0, TZ_TILE_X) - TZ_HALO_X + ex;
    p.y = TZ_TILE_LOW(a, 1, TZ_TILE_Y) - TZ_HALO_Y + ey;
    p.z = TZ_TILE_LOW(a, 2, TZ_TILE_Z) - TZ_HALO_Z + ez;
    return p;
}

/* Is the element in the tile or up to `rest` cells around it, and is it computed? */
TZ_DEVICE bool tz_wanted(const tz_arguments &a, const tz_place &p, int rest)
{
    const int x = p.x - TZ_TILE_LOW(a, 0, TZ_TILE_X), y = p.y - TZ_TILE_LOW(a, 1, TZ_TILE_Y);
    const int z = p.z - TZ_TILE_LOW(a, 2, TZ_TILE_Z);
    if (x < -rest || x >= TZ_TILE_X + rest)
        return false;
    if (TZ_DIMS > 1 && (y < -rest || y >= TZ_TILE_Y + rest))
        return false;
    if (TZ_DIMS > 2 && (z < -rest || z >= TZ_TILE_Z + rest))
        return false;
    return (TZ_BITS_GRID || tz_computed<TZ_LOW_X, TZ_HIGH_X>(p.x, a.nx)) &&
           (TZ_DIMS < 2 || tz_computed<TZ_LOW_Y, TZ_HIGH_Y>(p.y, a.ny)) &&
           (TZ_DIMS < 3 || tz_computed<TZ_LOW_Z, TZ_HIGH_Z>(p.z, a.nz));
}

TZ_DEVICE void tz_place_inside(const tz_arguments &a, tz_place &p)
{
    p.x_in = TZ_BITS_GRID ? (p.x % a.nx + a.nx) % a.nx : tz_map<TZ_LOW_X, TZ_HIGH_X>(p.x, a.nx);
    p.y_in = TZ_DIMS > 1 ? tz_map<TZ_LOW_Y, TZ_HIGH_Y>(p.y, a.ny) : 0;
    p.z_in = TZ_DIMS > 2 ? tz_map<TZ_LOW_Z, TZ_HIGH_Z>(p.z, a.nz) : 0;
}

/* ---- The language of cell updates ------------------------------------------------------------ */

#define TZ__CONTEXT_FIELD(name, type)                                                              \
    const type *name;                                                                              \
    type *name##_out;                                                                              \
    tz_edges<type> name##_edge;
#define TZ_CELL_ONCE(cell, ONCE)                                                                   \
    TZ__CONTEXT(cell, const tz_arguments *arguments;)                                              \
    TZ__CELL_UPDATE(cell, ONCE, const context_##cell, tz_place, template <bool TZ__BORDER>,        \
                    <TZ__BORDER>)
#define TZ__READ_state(f, dx, dy, dz)                                                              \
    tz_state<TZ__BORDER>(*tz_c.arguments, tz_p, tz_c.f, tz_c.f##_edge, (dx), (dy), (dz))
#define TZ__READ_static(f, dx, dy, dz)                                                             \
    tz_static<TZ__BORDER>(*tz_c.arguments, tz_p, tz_c.f, tz_c.f##_edge, (dx), (dy), (dz))
#define TZ__READ_streamed(f, dx, dy, dz) tz_streamed(*tz_c.arguments, tz_p, tz_c.f)
#define TZ__AT3(f, dx, dy, dz) TZ__CAT(TZ__READ_, TZ__CAT(TZ__KIND_, f))(f, dx, dy, dz)
#define TZ_PUT(f, value) tz_put(tz_c.f##_out + tz_p.index, (value))
#define TZ_X TZ__WHOLE_X((tz_p.x_in))
#define TZ_Y TZ__WHOLE_Y((tz_p.y_in))
#define TZ_Z TZ__WHOLE_Z((tz_p.z_in))
#define TZ_STEP (tz_p.step)
