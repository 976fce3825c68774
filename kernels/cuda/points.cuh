/* kernels/cuda: adds and records at points after a pass, a thread for each element. The pass has
 * written all of the grid. core/backend/cuda/points.c makes the lists. */
#include "values.cuh"

struct tz_point {
    long long offset;
    int field, size, add, adds, record, unused;
};

struct tz_points_arguments {
    char *out[32]; /* arrays of the fields */
    const tz_point *points;
    const char *added;
    char *recorded;
    long long count, slot;
};

template <class T> TZ_DEVICE void tz_apply_point(const tz_points_arguments &a, const tz_point &p)
{
    T *at = (T *)(a.out[p.field] + p.offset);
    T value = *at;
    for (int k = 0; k < p.adds; k++)
        value = value + ((const T *)a.added)[p.add + k];
    if (p.adds > 0)
        *at = value;
    if (p.record >= 0)
        *(T *)(a.recorded + p.record * a.slot) = value;
}

TZ_KERNEL(tz_apply_points, 128)(const TZ_UNCOPIED tz_points_arguments a)
{
    const long long i = (long long)tz_block(0) * 128 + tz_thread();
    if (i >= a.count)
        return;
    const tz_point p = a.points[i];
    if (p.size == 8)
        tz_apply_point<double>(a, p);
    else if (p.adds > 0)
        tz_apply_point<float>(a, p);
    else
        tz_apply_point<int>(a, p);
}
