/* kernels/cuda: the wide form of the direct family: one iteration of a 3-D grid, without ghost
 * zones and shared memory.
 *
 * A block is TZ_WARPS rows of 32 * TZ_VECTOR columns and walks along z. A lane computes TZ_VECTOR
 * cells of a row in each step. Of each field it keeps its own columns of the planes that it reads
 * in registers. It loads all other neighbours where it needs them: other lanes of the block load
 * the same, so they are in the first-level cache. Blocks that read outside the grid run a second
 * instance of the code (BORDER), as lanes do whose quick divisions may be wrong (divide.cuh).
 *
 * Defined by C, besides what common.cuh lists:
 *
 *   TZ_VECTOR, TZ_WARPS, TZ_BLOCKS   columns of a lane; warps of a block; blocks of a
 *                                    multiprocessor
 *   TZ_REST_X                        columns of a row past the last packet of TZ_VECTOR
 *   TZ_REACH                         largest distance at which the pass reads
 *   TZ_SHORT                         1: an axis is not longer than it is read past its sides
 *   TZ_BELOW_x, TZ_ABOVE_x           how far it reads to both sides of axis x, y, z */
#include "divide.cuh"

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

/* tz_map() for a coordinate that is less than n cells outside, without a loop. */
template <int LOW, int HIGH> TZ_DEVICE int tz_map_near(int c, int n)
{
    if (TZ_WRAPS(LOW))
        return c < 0 ? c + n : c < n ? c : c - n;
    if (TZ_REFLECTS(LOW) && TZ_REFLECTS(HIGH))
        return c < 0 ? -c : c < n ? c : 2 * (n - 1) - c;
    return tz_map<LOW, HIGH>(c, n);
}

/* The column of a packet, or of the nearest one in the row. tz_map() would give the same by slower
 * code. */
TZ_DEVICE int tz_packet_within(int x, int last)
{
    return x < 0 ? 0 : x < last ? x : last;
}

/* The packet at column x of a row of n columns, `dx` away from the lane's own packet, which is in
 * the row. A column outside gets the value of the column that replaces it, or, at a fixed side and
 * more than TZ_REACH outside, of any. The columns that replace those of one packet lie in two
 * adjacent packets of the row. `first` is the one with element `from`, which replaces column 0 of a
 * packet outside; column e is replaced by the element `step` * e further. If that is not an element
 * of the first packet, it is one of the `second`. */
template <class S, class T>
TZ_DEVICE void tz_load_border(const S *row, int n, int x, int dx, T (&to)[TZ_VECTOR])
{
    constexpr int rest = TZ_REST_X ? TZ_REST_X : TZ_VECTOR; /* columns of the last packet */
    const int last = n - rest, rule = dx < 0 ? TZ_LOW_X : TZ_HIGH_X;
    const bool low = dx < 0 && x < 0;       /* the packet is before the row */
    const bool high = dx > 0 && x > last;   /* it is past the row's last one */
    const bool ends = dx >= 0 && x >= last; /* or it is the last one */
    int first = dx < 0 ? 0 : last, second = 0;
    int from = dx < 0 ? 0 : rest - 1, step = 0;
    if (TZ_WRAPS(rule)) {
        from = dx < 0 ? rest % TZ_VECTOR : TZ_VECTOR - rest;
        step = 1;
        first = (dx < 0 ? x + n : x - n) - from;
        second = first + TZ_VECTOR;
    } else if (TZ_REFLECTS(rule)) {
        from = dx < 0 ? 0 : 2 * rest - 2;
        step = -1;
        first = dx < 0 ? -x : 2 * last - x;
        second = from < TZ_VECTOR ? first - TZ_VECTOR : first + TZ_VECTOR;
    }
    T one[TZ_VECTOR], two[TZ_VECTOR];
    tz_load_values(row + (low || high ? tz_packet_within(first, last) : x), one);
    tz_load_values(row + (low || ends ? tz_packet_within(second, last) : 0), two);
#pragma unroll
    for (int e = 0; e < TZ_VECTOR; e++) {
        const int k = from + step * e;
        const T other =
            k >= 0 && k < TZ_VECTOR ? one[k & (TZ_VECTOR - 1)] : two[k & (TZ_VECTOR - 1)];
        to[e] = !TZ_HAS_VALUE(rule) && (low || (e < rest ? high : ends)) ? other : one[e];
    }
}

/* TZ_VECTOR elements of a row, `dx` (a multiple of TZ_VECTOR), `dy` and `dz` away from the lane's
 * own. Without branches, so that the loads of a step are issued together. */
template <bool BORDER, class S, class T>
TZ_DEVICE void tz_direct_load(const tz_arguments &a, const tz_place &p, const S *field,
                              const tz_edges<T> &edge, int dx, int dy, int dz, T (&to)[TZ_VECTOR])
{
    if (!BORDER) {
        tz_load_values(field + (p.at + dx + dy * (long long)a.pitch + dz * a.plane), to);
        return;
    }
    const int x = p.x + dx;
    const int y = TZ_SHORT ? tz_map<TZ_LOW_Y, TZ_HIGH_Y>(p.y + dy, a.ny)
                           : tz_map_near<TZ_LOW_Y, TZ_HIGH_Y>(p.y + dy, a.ny);
    const int z = TZ_SHORT ? tz_map<TZ_LOW_Z, TZ_HIGH_Z>(p.z + dz, a.nz)
                           : tz_map_near<TZ_LOW_Z, TZ_HIGH_Z>(p.z + dz, a.nz);
    const bool inside = (!TZ_FIXED_Y || y >= 0) && (!TZ_FIXED_Z || z >= 0);
    const S *const row = field + ((long long)a.pitch * (TZ_FIXED_Y && y < 0 ? 0 : y) +
                                  a.plane * (TZ_FIXED_Z && z < 0 ? 0 : z));
    if (TZ_SHORT) {
#pragma unroll
        for (int e = 0; e < TZ_VECTOR; e++) {
            const int at = tz_map<TZ_LOW_X, TZ_HIGH_X>(x + e, a.nx);
            to[e] = inside && at >= 0 ? (T)row[at] : tz_value_outside<T>(a, edge, at, at, y, z);
        }
        return;
    }
    tz_load_border(row, a.nx, x, dx, to);
    const T beside = tz_edge<0, T>(edge, dx >= 0), value = tz_value_outside<T>(a, edge, 0, 0, y, z);
#pragma unroll
    for (int e = 0; e < TZ_VECTOR; e++) {
        const bool past = (TZ_HAS_VALUE(TZ_LOW_X) && dx < 0 && x < 0) ||
                          (TZ_HAS_VALUE(TZ_HIGH_X) && dx >= 0 && x + e >= a.nx);
        to[e] = past || !inside ? (past ? beside : value) : to[e];
    }
}

/* The planes of the lane's own columns before the first step: all but the newest. */
template <bool BORDER, int LOW, class S, class T, int PLANES>
TZ_DEVICE void tz_queue_start(const tz_arguments &a, const tz_place &p, const S *field,
                              const tz_edges<T> &edge, T (&queue)[PLANES][TZ_VECTOR])
{
#pragma unroll
    for (int k = 1; k < PLANES; k++)
        tz_direct_load<BORDER>(a, p, field, edge, 0, 0, LOW + k - 1, queue[k]);
}

/* Drops the oldest plane and loads the newest. */
template <bool BORDER, int HIGH, class S, class T, int PLANES>
TZ_DEVICE void tz_queue_step(const tz_arguments &a, const tz_place &p, const S *field,
                             const tz_edges<T> &edge, T (&queue)[PLANES][TZ_VECTOR])
{
#pragma unroll
    for (int k = 1; k < PLANES; k++)
#pragma unroll
        for (int e = 0; e < TZ_VECTOR; e++)
            queue[k - 1][e] = queue[k][e];
    tz_direct_load<BORDER>(a, p, field, edge, 0, 0, HIGH, queue[PLANES - 1]);
}

/* A row that the lane's cells read, without the lane's own columns if `OWN`. COLUMNS: a bit for
 * each column that is read, from TZ_REACH columns to the west of the lane's first one on. */
template <bool BORDER, int DZ, int DY, unsigned int COLUMNS, bool OWN, class S, class T, int WIDE>
TZ_DEVICE void tz_near_row(const tz_arguments &a, const tz_place &p, const S *field,
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

template <class S, class T>
TZ_DEVICE void tz_direct_store(const tz_arguments &a, const tz_place &p, S *field,
                               const T (&from)[TZ_VECTOR])
{
    S row[TZ_VECTOR];
#pragma unroll
    for (int e = 0; e < TZ_VECTOR; e++)
        row[e] = (S)from[e];
    if (TZ_REST_X == 0 || p.x + TZ_VECTOR <= a.nx) {
        tz_store(field + p.at, row);
        return;
    }
#pragma unroll
    for (int e = 0; e < TZ_VECTOR; e++)
        if (p.x + e < a.nx)
            field[p.at + e] = row[e];
}

/* ---- The language of cell updates ------------------------------------------------------------ */

#define TZ__CONTEXT_FIELD(name, type)                                                              \
    const type(*name)[2 * TZ_CELL_RADIUS + 1][TZ_VECTOR + 2 * TZ_CELL_RADIUS];                     \
    type(*name##_out)[TZ_VECTOR];
#define TZ_CELL_ONCE(cell, ONCE)                                                                   \
    TZ__CONTEXT(cell, tz_doubts tz_doubt;)                                                         \
    TZ__CELL_UPDATE(cell, ONCE, context_##cell, tz_cell_place, template <bool TZ__BORDER>,         \
                    <TZ__BORDER>)
#define TZ__AT3(f, dx, dy, dz)                                                                     \
    (tz_c.f[(dz) + TZ_CELL_RADIUS][(dy) + TZ_CELL_RADIUS][tz_p.i + (dx) + TZ_CELL_RADIUS])
#define TZ_PUT(f, value) ((*tz_c.f##_out)[tz_p.i] = (value))
#define TZ_X TZ__WHOLE_X((tz_p.x))
#define TZ_Y TZ__WHOLE_Y((tz_p.y))
#define TZ_Z TZ__WHOLE_Z((tz_p.z))
#define TZ_STEP (tz_p.step)
