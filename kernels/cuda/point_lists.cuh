/* kernels/cuda: points within a stage: values that are added to cells, and recorded cells, when a
 * level has computed a lane's elements of a row. Included by common.cuh in kernels of problems that
 * have points. core/backend/cuda/points.c makes the lists.
 *
 *   TZ_DUE_LIST   for each pass, the mask of the fields with points that it changes last */

/* Points of a field by rows: numbers first[row] to first[row + 1]; number i has value base + i of
 * an iteration. */
struct tz_point_list {
    const int *first, *x;
    int base, unused;
};

TZ_DEVICE constexpr bool tz_is_due(int pass, int index)
{
    const unsigned int fields[] = {TZ_DUE_LIST};
    return fields[pass] >> index & 1;
}

/* May a row (in 3-D a plane) have points? The kernel's arguments take no registers. */
#define TZ__HAS_POINTS(a, at, k)                                                                   \
    ((unsigned int)((at) - (a).points_low[k]) <= (unsigned int)(a).points_span[k])
#define TZ_HAS_POINTS(a, at) (TZ__HAS_POINTS(a, at, 0) || TZ__HAS_POINTS(a, at, 1))

/* The first point of a row at column x or after it, and the end of the row. */
TZ_DEVICE int tz_first_point(const tz_point_list &list, int row, int x, int &end)
{
    int low = list.first[row];
    end = list.first[row + 1];
    for (int high = end; low < high;) {
        const int middle = low + (high - low) / 2;
        if (list.x[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* S: the type of the field in memory. Each sum is rounded as it is stored. */
template <class S, class T> TZ_DEVICE void tz_point_add(T &value, const void *values, int i)
{
    value = (T)(S)(value + ((const T *)values)[i]);
}
template <class S> TZ_DEVICE void tz_point_add(int &, const void *, int) {}
template <class S> TZ_DEVICE void tz_point_add(tz_word &, const void *, int) {}

/* N elements of a row, from column x on, and `turn` columns before and after it. A function of its
 * own: rows with points are few, and the loops of others keep their registers. */
template <class S, class T, int N>
TZ_OUTLINE void tz_apply_points(const tz_point_list *added, const tz_point_list *recorded,
                                const void *values, char *records, long long slot, int row, int x,
                                int turn, unsigned int own, T *v)
{
    int end;
    for (int side = -1; side <= 1 && added->first; side++) {
        const int from = x + side * turn;
        if (side != 0 && turn == 0)
            continue;
        for (int i = tz_first_point(*added, row, from, end); i < end && added->x[i] < from + N; i++)
            tz_point_add<S>(v[added->x[i] - from], values, added->base + i);
    }
    if (own == 0 || !recorded->first)
        return;
    for (int i = tz_first_point(*recorded, row, x, end); i < end && recorded->x[i] < x + N; i++)
        if (own >> (recorded->x[i] - x) & 1)
            *(S *)(records + (recorded->base + i) * slot) = (S)v[recorded->x[i] - x];
}

/* The same of a level of `iteration`; x may be up to a grid's width outside a periodic axis. `own`:
 * bit e is set if the lane stores element e. */
template <class S, class T, int N>
TZ_DEVICE void tz_row_points(const tz_arguments &a, int index, int iteration, int row, int x,
                             unsigned int own, T (&v)[N])
{
    T far[N];
#pragma unroll
    for (int e = 0; e < N; e++)
        far[e] = v[e];
    tz_apply_points<S, T, N>(a.points + index, a.points + TZ_FIELDS_COUNT + index,
                             (const char *)a.point_values + iteration * a.point_values_row,
                             (char *)a.point_records + iteration * a.point_records_row,
                             a.point_slot, row, x, TZ_WRAP_X && !TZ_BITS_GRID ? a.nx : 0, own, far);
#pragma unroll
    for (int e = 0; e < N; e++)
        v[e] = far[e];
}
