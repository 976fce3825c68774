/* kernels/cuda: adds and records at points after a pass, a thread for each element. The pass has
 * written all of the grid. core/backend/cuda/points.c makes the lists. */
#include "values.cuh"

struct tz_point {
    long long offset;
    int field, size, add, adds, record;
    float origin, scale;
    int unused;
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

/* Of a half: each sum is rounded as it is stored. */
TZ_DEVICE void tz_apply_half(const tz_points_arguments &a, const tz_point &p)
{
    unsigned short *at = (unsigned short *)(a.out[p.field] + p.offset);
    unsigned short half = *at;
    for (int k = 0; k < p.adds; k++) {
        const float value =
            p.scale * tz_half_value(half) + p.origin + ((const float *)a.added)[p.add + k];
        half = tz_half_of((p.origin == 0 ? value : value - p.origin) / p.scale);
    }
    if (p.adds > 0)
        *at = half;
    if (p.record >= 0)
        *(unsigned short *)(a.recorded + p.record * a.slot) = half;
}

TZ_KERNEL(tz_apply_points, 128)(const TZ_UNCOPIED tz_points_arguments a)
{
    const long long i = (long long)tz_block(0) * 128 + tz_thread();
    if (i >= a.count)
        return;
    const tz_point p = a.points[i];
    if (p.size == 2)
        tz_apply_half(a, p);
    else if (p.size == 8)
        tz_apply_point<double>(a, p);
    else if (p.adds > 0)
        tz_apply_point<float>(a, p);
    else
        tz_apply_point<int>(a, p);
}
