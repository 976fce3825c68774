/* tz_backend.frozen of the cuda backend: reads a snapshot. */
#include "backend/backend.h"
#include "backend/cuda/snapshot.h"

static void frozen_destroy(void *frozen)
{
    tz_cuda_snapshot_release(frozen);
}

static tz_status frozen_load(const void *frozen, int field, const tz_box *box, void *elements,
                             tz_error *error)
{
    return tz_cuda_snapshot_load((tz_cuda_snapshot *)frozen, field, box, elements, error);
}

static tz_status frozen_reduce(const void *frozen, int field, tz_reduction *out, tz_error *error)
{
    return tz_cuda_snapshot_reduce((tz_cuda_snapshot *)frozen, field, out, error);
}

static tz_status frozen_all_finite(const void *frozen, bool *finite, tz_error *error)
{
    return tz_cuda_snapshot_all_finite((tz_cuda_snapshot *)frozen, finite, error);
}

static tz_status frozen_shrink(const void *frozen, int field, int64_t z, int nx, int ny,
                               double *values, tz_error *error)
{
    return tz_cuda_snapshot_shrink((tz_cuda_snapshot *)frozen, field, z, nx, ny, values, error);
}

const tz_backend tz_backend_cuda_frozen = {
    .name = "cuda",
    .doc = "a snapshot of fields on a GPU",
    .destroy = frozen_destroy,
    .load = frozen_load,
    .reduce = frozen_reduce,
    .all_finite = frozen_all_finite,
    .shrink = frozen_shrink,
};
