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

/* May a row (in 3-D a plane) have points? */
#define TZ_HAS_POINTS(a, at)                                                                       \
    ((unsigned int)((at) - (a).points_low) <= (unsigned int)(a).points_span)

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

template <class T> TZ_DEVICE void tz_point_add(T &value, const void *values, int i)
{
    value = value + ((const T *)values)[i];
}
TZ_DEVICE void tz_point_add(int &, const void *, int) {}
TZ_DEVICE void tz_point_add(tz_word &, const void *, int) {}

/* N elements of a row, from column x on, which may be up to a grid's width outside a periodic axis.
 * `own`: bit e is set if the lane stores element e. */
template <class T, int N>
TZ_DEVICE void tz_row_points(const tz_arguments &a, int index, int iteration, int row, int x,
                             unsigned int own, T (&v)[N])
{
    enum { TURNS = TZ_WRAP_X && !TZ_BITS_GRID ? 3 : 1 };
    const tz_point_list added = a.points[index], recorded = a.points[TZ_FIELDS_COUNT + index];
    const char *const values = (const char *)a.point_values + iteration * a.point_values_row;
    char *const records = (char *)a.point_records + iteration * a.point_records_row;
    int end;
#pragma unroll 1
    for (int turn = 0; turn < TURNS && added.first; turn++) {
        const int from = x - (turn == 0 ? 0 : turn == 1 ? a.nx : -a.nx);
#pragma unroll 1
        for (int i = tz_first_point(added, row, from, end); i < end && added.x[i] < from + N; i++)
#pragma unroll
            for (int e = 0; e < N; e++)
                if (e == added.x[i] - from)
                    tz_point_add(v[e], values, added.base + i);
    }
    if (own == 0 || !recorded.first)
        return;
#pragma unroll 1
    for (int i = tz_first_point(recorded, row, x, end); i < end && recorded.x[i] < x + N; i++)
#pragma unroll
        for (int e = 0; e < N; e++)
            if (e == recorded.x[i] - x && (own >> e & 1))
                *(T *)(records + (long long)(recorded.base + i) * a.point_slot) = v[e];
}
