/* kernels/cuda: what the next iteration would change, computed in double from the fields as they
 * are. kernels/cpu/update.h defines the results, to the last bit.
 *
 * Defined by C, besides what common.cuh lists, all as for double precision:
 *
 *   TZ_SEGMENT        elements of a segment of a row
 *   TZ_UPDATE_RADIUS  the largest distance at which a cell is read
 *
 * Each warp works on its own groups of segments; a lane has the elements lane, lane + 32, ... of a
 * segment. Neighbours come from device memory, through the caches. */
#define TZ_CALLS 1
#define TZ_SHORT 1
typedef long long tz_index;
#include "read.cuh"

/* The results, and after them the sums of the groups. The bits of numbers that are not negative
 * grow with them; here they are negated. */
struct tz_update_record {
    long long largest, magnitude;
};

struct tz_place {
    int x, y, z;
};

template <bool BORDER, class T, class S>
TZ_DEVICE T tz_read(const tz_arguments &a, const tz_place &p, const S *field, tz_edges<T> edge,
                    int dx, int dy, int dz)
{
    if (BORDER)
        return tz_read_border<T>(a, field, edge, p.x + dx, p.y + dy, p.z + dz);
    return (T)tz_load_one(field + (p.x + dx) + (long long)a.pitch * (p.y + dy) +
                          a.plane * (p.z + dz));
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* What a lane has found. */
struct tz_tally {
    double largest, magnitude;
};

TZ_DEVICE double tz_change_of(const tz_arguments &, const tz_place &, double now, double old,
                              tz_tally &tally)
{
    const double change = tz_abs(now - old), value = tz_abs(old);
    tally.largest = change > tally.largest ? change : tally.largest;
    tally.magnitude = value > tally.magnitude ? value : tally.magnitude;
    return change;
}
TZ_DEVICE double tz_change_of(const tz_arguments &a, const tz_place &p, int now, int old,
                              tz_tally &tally)
{
    return tz_change_of(a, p, (double)now, (double)old, tally);
}
/* Bits that are cells; the change of a cell is 1. */
TZ_DEVICE double tz_change_of(const tz_arguments &a, const tz_place &p, tz_word now, tz_word old,
                              tz_tally &tally)
{
    const tz_word cells = tz_cells_of_word(a.columns / a.nx, a.columns % a.nx, p.x);
    tz_word changed = (now ^ old) & cells;
    int count = 0;
    for (; changed; changed &= changed - 1)
        count++;
    tally.largest = count ? 1.0 : tally.largest;
    tally.magnitude = old & cells ? 1.0 : tally.magnitude;
    return (double)count;
}

/* The sum over all lanes, in every lane, in the order of the definition. */
TZ_DEVICE double tz_sum_lanes(double value)
{
    for (int n = 16; n >= 1; n /= 2)
        value += tz_shuffle_down(value, n);
    return tz_shuffle(value, 0);
}

/* ---- The language of cell updates ------------------------------------------------------------ */

#define TZ__CONTEXT_FIELD(name, type)                                                              \
    const TZ__MEMORY(name) * name;                                                                 \
    tz_edges<type> name##_edge;                                                                    \
    type name##_new;
#define TZ_CELL_ONCE(cell, ONCE)                                                                   \
    TZ__CONTEXT(cell, const tz_arguments *arguments;)                                              \
    TZ__CELL_UPDATE(cell, ONCE, context_##cell, tz_place, template <bool TZ__BORDER>, <TZ__BORDER>)
#define TZ__AT3(f, dx, dy, dz)                                                                     \
    tz_read<TZ__BORDER, decltype(tz_c.f##_new)>(*tz_c.arguments, tz_p, tz_c.f, tz_c.f##_edge,      \
                                                (dx), (dy), (dz))
#define TZ_PUT(f, value) (tz_c.f##_new = (value))
#define TZ_X TZ__WHOLE_X((tz_p.x))
#define TZ_Y TZ__WHOLE_Y((tz_p.y))
#define TZ_Z TZ__WHOLE_Z((tz_p.z))
#define TZ_STEP (tz_c.arguments->step)
