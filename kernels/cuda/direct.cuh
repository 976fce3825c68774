/* kernels/cuda: the direct family: one iteration of a 3-D grid, without ghost zones and shared memory.
 *
 * A block is TZ_WARPS rows of 32 * TZ_VECTOR columns and walks along z. A lane computes TZ_VECTOR cells
 * of a row in each step. Of each field it keeps its own columns of the planes that it reads in registers.
 * It loads all other neighbours where it needs them: other lanes of the block load the same, so they are
 * in the first-level cache. Blocks that read outside the grid run a second instance of the code (BORDER).
 *
 * Defined by C, besides what common.cuh lists:
 *
 *   TZ_VECTOR, TZ_WARPS, TZ_BLOCKS   columns of a lane; warps of a block; blocks of a multiprocessor
 *   TZ_REST_X                        columns of a row past the last packet of TZ_VECTOR
 *   TZ_REACH                         largest distance at which the pass reads
 *   TZ_BELOW_x, TZ_ABOVE_x           how far it reads to the low and the high side of axis x, y, z */
#include "common.cuh"

#define TZ_MIRROR_X (TZ_LOW_X == TZ_MIRROR || TZ_HIGH_X == TZ_MIRROR)

struct tz_cell_place {
    int i; /* among the lane's cells */
    int x, y, z;
    long long step;
};

/* The lane's first cell of a step. */
struct tz_place {
    int x, y, z;
    long long at; /* in a field */
};

/* The packet at column x of a row whose last packet is whole. Columns outside have the value of the nearest one,
 * the one at the other end, or the boundary's. */
template <class T>
TZ_DEVICE void tz_load_held(const tz_arguments &a, const T *row, const tz_edges<T> &edge, int x,
                            T (&to)[TZ_VECTOR])
{
    const bool low = x < 0, high = x >= a.nx;
    tz_load(row + (TZ_WRAP_X ? tz_map<TZ_PERIODIC>(x, a.nx)
                   : low     ? 0
                   : high    ? a.nx - TZ_VECTOR
                             : x),
            to);
    if (TZ_WRAP_X)
        return;
    const T first = TZ_LOW_X == TZ_FIXED ? tz_edge<0, T>(edge, false) : to[0];
    const T last = TZ_HIGH_X == TZ_FIXED ? tz_edge<0, T>(edge, true) : to[TZ_VECTOR - 1];
#pragma unroll
    for (int e = 0; e < TZ_VECTOR; e++)
        to[e] = low ? first : high ? last : to[e];
}

/* TZ_VECTOR elements of a row, `dx` (a multiple of TZ_VECTOR), `dy` and `dz` away from the lane's own. */
template <bool BORDER, class T>
TZ_DEVICE void tz_direct_load(const tz_arguments &a, const tz_place &p, const T *field,
                              const tz_edges<T> &edge, int dx, int dy, int dz, T (&to)[TZ_VECTOR])
{
    if (!BORDER) {
        tz_load(field + (p.at + dx + dy * (long long)a.pitch + dz * a.plane), to);
        return;
    }
    const int x = p.x + dx, y = tz_map<TZ_LOW_Y, TZ_HIGH_Y>(p.y + dy, a.ny);
    const int z = tz_map<TZ_LOW_Z, TZ_HIGH_Z>(p.z + dz, a.nz);
    const bool inside = (!TZ_FIXED_Y || y >= 0) && (!TZ_FIXED_Z || z >= 0);
    const T *const row = field + ((long long)a.pitch * (TZ_FIXED_Y && y < 0 ? 0 : y) +
                                  a.plane * (TZ_FIXED_Z && z < 0 ? 0 : z));
    /* Without branches, so that the loads of a step are issued together. */
    if (TZ_REST_X == 0 && (dx == 0 || !TZ_MIRROR_X)) {
        const bool decides =
            (TZ_LOW_X == TZ_FIXED && x < 0) || (TZ_HIGH_X == TZ_FIXED && x >= a.nx);
        tz_load_held(a, row, edge, x, to);
        const T value = tz_value_outside<T>(a, edge, 0, 0, y, z);
#pragma unroll
        for (int e = 0; e < TZ_VECTOR; e++)
            to[e] = inside || decides ? to[e] : value;
        return;
    }
    if (inside && x >= 0 && x + TZ_VECTOR <= a.nx) {
        tz_load(row + x, to);
        return;
    }
#pragma unroll
    for (int e = 0; e < TZ_VECTOR; e++) {
        const int at = tz_map<TZ_LOW_X, TZ_HIGH_X>(x + e, a.nx);
        to[e] = inside && at >= 0 ? row[at] : tz_value_outside<T>(a, edge, at, at, y, z);
    }
}

/* The planes of the lane's own columns before the first step: all but the newest. */
template <bool BORDER, int LOW, class T, int PLANES>
TZ_DEVICE void tz_queue_start(const tz_arguments &a, const tz_place &p, const T *field,
                              const tz_edges<T> &edge, T (&queue)[PLANES][TZ_VECTOR])
{
#pragma unroll
    for (int k = 1; k < PLANES; k++)
        tz_direct_load<BORDER>(a, p, field, edge, 0, 0, LOW + k - 1, queue[k]);
}

/* Drops the oldest plane and loads the newest. */
template <bool BORDER, int HIGH, class T, int PLANES>
TZ_DEVICE void tz_queue_step(const tz_arguments &a, const tz_place &p, const T *field,
                             const tz_edges<T> &edge, T (&queue)[PLANES][TZ_VECTOR])
{
#pragma unroll
    for (int k = 1; k < PLANES; k++)
#pragma unroll
        for (int e = 0; e < TZ_VECTOR; e++)
            queue[k - 1][e] = queue[k][e];
    tz_direct_load<BORDER>(a, p, field, edge, 0, 0, HIGH, queue[PLANES - 1]);
}

/* A row that the lane's cells read, without the lane's own columns if `OWN`. COLUMNS: a bit for each
 * column that is read, from TZ_REACH columns to the west of the lane's first one on. */
template <bool BORDER, int DZ, int DY, unsigned int COLUMNS, bool OWN, class T, int WIDE>
TZ_DEVICE void tz_near_row(const tz_arguments &a, const tz_place &p, const T *field,
                           const tz_edges<T> &edge, T (&row)[WIDE])
{
    constexpr int packets = (TZ_REACH + TZ_VECTOR - 1) / TZ_VECTOR;
#pragma unroll
    for (int n = -packets; n <= packets; n++) {
        const int first = n * TZ_VECTOR + TZ_REACH;
        bool read = false;
#pragma unroll
        for (int e = 0; e < TZ_VECTOR; e++)
            read = read || (first + e >= 0 && first + e < WIDE && (COLUMNS >> (first + e) & 1u));
        if ((OWN && n == 0) || !read)
            continue;
        T packet[TZ_VECTOR];
        tz_direct_load<BORDER>(a, p, field, edge, n * TZ_VECTOR, DY, DZ, packet);
#pragma unroll
        for (int e = 0; e < TZ_VECTOR; e++)
            if (first + e >= 0 && first + e < WIDE)
                row[first + e] = packet[e];
    }
}

/* Rows and columns that are not read must not be used. */
template <class T, int SIDE, int WIDE> TZ_DEVICE void tz_near_nothing(T (&near)[SIDE][SIDE][WIDE])
{
#pragma unroll
    for (int k = 0; k < SIDE * SIDE * WIDE; k++)
        near[k / (SIDE * WIDE)][k / WIDE % SIDE][k % WIDE] = tz_absent<T>();
}

template <class T>
TZ_DEVICE void tz_direct_store(const tz_arguments &a, const tz_place &p, T *field,
                               const T (&from)[TZ_VECTOR])
{
    if (TZ_REST_X == 0 || p.x + TZ_VECTOR <= a.nx) {
        tz_store(field + p.at, from);
        return;
    }
#pragma unroll
    for (int e = 0; e < TZ_VECTOR; e++)
        if (p.x + e < a.nx)
            field[p.at + e] = from[e];
}

/* ---- The language of cell updates ------------------------------------------------------------ */

#define TZ__CONTEXT_FIELD(name, type)                                                              \
    const type(*name)[2 * TZ_CELL_RADIUS + 1][TZ_VECTOR + 2 * TZ_CELL_RADIUS];                     \
    type(*name##_out)[TZ_VECTOR];
#define TZ_CELL_ONCE(cell, ONCE)                                                                   \
    TZ__CONTEXT(cell, )                                                                            \
    TZ__CELL_UPDATE(cell, ONCE, const context_##cell, tz_cell_place, , )
#define TZ__AT3(f, dx, dy, dz)                                                                     \
    (tz_c.f[(dz) + TZ_CELL_RADIUS][(dy) + TZ_CELL_RADIUS][tz_p.i + (dx) + TZ_CELL_RADIUS])
#define TZ_PUT(f, value) ((*tz_c.f##_out)[tz_p.i] = (value))
#define TZ_X TZ__WHOLE_X((tz_p.x))
#define TZ_Y TZ__WHOLE_Y((tz_p.y))
#define TZ_Z TZ__WHOLE_Z((tz_p.z))
#define TZ_STEP (tz_p.step)
