/* Snapshots: copies of fields that are made on the device between two stages, so that another
 * thread can read them while later stages run. There are at most two: one is read while the next
 * waits.
 *
 * Threads: the one that launches stages takes snapshots; any thread reads and releases them. Errors
 * are those of driver.h. */
#ifndef TZ_CORE_BACKEND_CUDA_SNAPSHOT_H
#define TZ_CORE_BACKEND_CUDA_SNAPSHOT_H

#include "backend/cuda/reduce.h"

enum { TZ_CUDA_SNAPSHOTS = 2 };

typedef struct tz_cuda_snapshots tz_cuda_snapshots;
typedef struct tz_cuda_snapshot tz_cuda_snapshot;

/* Borrows both. Destroy it before them, and after all its snapshots are released. Device memory is
 * taken with the first snapshot and then kept. */
tz_status tz_cuda_snapshots_create(tz_cuda_snapshots **out, tz_cuda *cuda,
                                   const tz_problem *problem, tz_error *error);
void tz_cuda_snapshots_destroy(tz_cuda_snapshots *snapshots); /* NULL is fine */

/* Copy the state fields of the mask, each from `now[field]`, in the default queue. Returns at once.
 * Static fields are not copied: they are read at `now[field]`. If both snapshots are in use, waits
 * until one is released, or without `wait` sets *out to NULL. TZ_MEMORY: too little memory would
 * remain. */
tz_status tz_cuda_snapshot_take(tz_cuda_snapshots *snapshots, uint32_t fields,
                                const tz_cu_pointer *now, bool wait, tz_cuda_snapshot **out,
                                tz_error *error);
void tz_cuda_snapshot_release(tz_cuda_snapshot *snapshot);

/* As the functions of tz_backend and reduce.h. They wait for their result, but not for later
 * stages. TZ_UNSUPPORTED: the field is not part of the snapshot. */
tz_status tz_cuda_snapshot_load(tz_cuda_snapshot *snapshot, int field, const tz_box *box,
                                void *elements, tz_error *error);
tz_status tz_cuda_snapshot_reduce(tz_cuda_snapshot *snapshot, int field, tz_reduction *out,
                                  tz_error *error);
/* Of all fields that were copied. */
tz_status tz_cuda_snapshot_all_finite(tz_cuda_snapshot *snapshot, bool *finite, tz_error *error);
tz_status tz_cuda_snapshot_shrink(tz_cuda_snapshot *snapshot, int field, int64_t z, int nx, int ny,
                                  double *values, tz_error *error);

/* tz_backend.frozen of the cuda backend: its functions take a tz_cuda_snapshot (frozen.c). */
extern const struct tz_backend tz_backend_cuda_frozen;

#endif
