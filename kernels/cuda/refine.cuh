/* kernels/cuda: the refinement of a solution in double precision by a correction in single
 * precision. core/backend/backend.h says what a refinement is. Element (x, y, z) is at x + pitch*y
 * + plane*z. Each block works on its own segments of rows. */
#include "values.cuh"

#define TZ_REFINE_SEGMENT 1024

struct tz_refine_arguments {
    double *solution;
    const double *changes; /* of an iteration: new - old, with the pitch of the solution */
    float *correction;     /* of the solution */
    float *source;         /* of the correction */
    double source_per_update;
    long long pitch, plane;               /* elements to the next row and plane: of the solution */
    long long single_pitch, single_plane; /* of correction and source */
    long long nx, ny, nz;
};

/* Calls body(i, j) for each element of this thread: i is its place in the solution, j in the
 * correction. */
template <class B> TZ_DEVICE void tz_refine_all(const tz_refine_arguments &a, B body)
{
    const long long of_row = (a.nx + TZ_REFINE_SEGMENT - 1) / TZ_REFINE_SEGMENT;
    for (long long s = tz_block(0); s < of_row * a.ny * a.nz; s += tz_blocks(0)) {
        const long long row = s / of_row, first = (s - row * of_row) * TZ_REFINE_SEGMENT;
        const long long z = row / a.ny, y = row - z * a.ny;
        const long long left = a.nx - first;
        const int count = left < TZ_REFINE_SEGMENT ? (int)left : TZ_REFINE_SEGMENT;
        for (int x = tz_thread(); x < count; x += tz_threads())
            body(first + x + a.pitch * y + a.plane * z,
                 first + x + a.single_pitch * y + a.single_plane * z);
    }
}

/* Adds the correction to the solution and sets it to zero. */
struct tz_add_correction_body {
    const tz_refine_arguments &a;
    TZ_INSIDE void operator()(long long i, long long j) const
    {
        const double sum = tz_load_one(a.solution + i) + (double)tz_load_one(a.correction + j);
        tz_store_one(a.solution + i, sum);
        tz_store_one(a.correction + j, 0.0f);
    }
};
TZ_KERNEL(tz_add_correction, 256)(const TZ_UNCOPIED tz_refine_arguments a)
{
    const tz_add_correction_body body = {a};
    tz_refine_all(a, body);
}

/* Sets the source of the correction from the changes of an iteration. */
struct tz_set_source_body {
    const tz_refine_arguments &a;
    TZ_INSIDE void operator()(long long i, long long j) const
    {
        tz_store_one(a.source + j, (float)(tz_load_one(a.changes + i) * a.source_per_update));
    }
};
TZ_KERNEL(tz_set_source, 256)(const TZ_UNCOPIED tz_refine_arguments a)
{
    const tz_set_source_body body = {a};
    tz_refine_all(a, body);
}
