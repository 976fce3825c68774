/* kernels/cuda: reads from device memory of cells that may lie outside the grid, for direct.cuh and
 * update.cuh.
 *
 * Defined by the includer or by C:
 *
 *   tz_index   an integer: the place of an element in a field
 *   TZ_CALLS   1: each read calls a function, which is slower and compiled sooner
 *   TZ_SHORT   1: an axis is not longer than it is read past its sides */
#include "common.cuh"
#include "values.cuh"

/* tz_map() for a coordinate that is less than n cells outside, without a loop. */
template <int LOW, int HIGH> TZ_DEVICE int tz_map_near(int c, int n)
{
    if (TZ_SHORT)
        return tz_map<LOW, HIGH>(c, n);
    if (TZ_WRAPS(LOW))
        return c < 0 ? c + n : c < n ? c : c - n;
    if (TZ_REFLECTS(LOW) && TZ_REFLECTS(HIGH))
        return c < 0 ? -c : c < n ? c : 2 * (n - 1) - c;
    return tz_map<LOW, HIGH>(c, n);
}

/* Replaces coordinates outside the grid. False: a side's value replaces the element. */
TZ_DEVICE bool tz_map_place(const tz_arguments &a, int &x, int &y, int &z)
{
    x = TZ_BITS_GRID ? x : tz_map_near<TZ_LOW_X, TZ_HIGH_X>(x, a.nx);
    y = TZ_DIMS > 1 ? tz_map_near<TZ_LOW_Y, TZ_HIGH_Y>(y, a.ny) : 0;
    z = TZ_DIMS > 2 ? tz_map_near<TZ_LOW_Z, TZ_HIGH_Z>(z, a.nz) : 0;
    return (TZ_BITS_GRID || !TZ_FIXED_X || x >= 0) && (!TZ_FIXED_Y || y >= 0) &&
           (!TZ_FIXED_Z || z >= 0);
}

/* An element that may lie outside the grid. */
#if TZ_CALLS
#define TZ__BORDER_READ TZ_OUTLINE
#else
#define TZ__BORDER_READ TZ_DEVICE
#endif
template <class T, class S>
TZ__BORDER_READ T tz_read_border(const tz_arguments &a, const S *field, tz_edges<T> edge, int x,
                                 int y, int z)
{
    const bool inside = tz_map_place(a, x, y, z);
    const tz_index row = (tz_index)a.pitch * y + (TZ_DIMS > 2 ? (tz_index)a.plane * z : 0);
    if (TZ_BITS_GRID)
        return inside ? (T)tz_load_static_word(a, field + row, x, edge)
                      : tz_value_outside<T>(a, edge, x, x, y, z);
    const T value = (T)tz_load_one(field + (inside ? row + x : 0));
    return inside ? value : tz_value_outside<T>(a, edge, x, x, y, z);
}
