/* Fields of a moment: copied on the device between two stages, read by another thread while the
 * stages that follow run. Two at most: one being read, one waiting.
 *
 * Errors are driver.h's. One thread takes (the one that launches stages), any thread reads and
 * releases. */
#ifndef TZ_CORE_BACKEND_CUDA_SNAPSHOT_H
#define TZ_CORE_BACKEND_CUDA_SNAPSHOT_H

#include "backend/cuda/reduce.h"

enum { TZ_CUDA_SNAPSHOTS = 2 };

typedef struct tz_cuda_snapshots tz_cuda_snapshots;
typedef struct tz_cuda_snapshot tz_cuda_snapshot;

/* Borrows both; destroy it before they go, and after its snapshots are released. Takes no memory
 * before the first snapshot. */
tz_status tz_cuda_snapshots_create(tz_cuda_snapshots **out, tz_cuda *cuda,
                                   const tz_problem *problem, tz_error *error);
void tz_cuda_snapshots_destroy(tz_cuda_snapshots *snapshots); /* NULL is fine */

/* Copies the fields of the mask, each of them at `now[field]`, behind what the default stream holds
 * already, and returns at once; fields that are static are read where they are. When both are in
 * use: waits until one is released, or (`wait` false) gives NULL. TZ_MEMORY: the device has no room
 * to spare. */
tz_status tz_cuda_snapshot_take(tz_cuda_snapshots *snapshots, uint32_t fields,
                                const tz_cu_pointer *now, bool wait, tz_cuda_snapshot **out,
                                tz_error *error);
void tz_cuda_snapshot_release(tz_cuda_snapshot *snapshot);

/* Of fields that were taken or are static; they wait for their result, not for later stages. */
tz_status tz_cuda_snapshot_load(tz_cuda_snapshot *snapshot, int field, const tz_box *box,
                                void *elements, tz_error *error);
tz_status tz_cuda_snapshot_reduce(tz_cuda_snapshot *snapshot, int field, tz_reduction *out,
                                  tz_error *error);
/* Of all fields that were taken. */
tz_status tz_cuda_snapshot_all_finite(tz_cuda_snapshot *snapshot, bool *finite, tz_error *error);
tz_status tz_cuda_snapshot_shrink(tz_cuda_snapshot *snapshot, int field, int64_t z, int nx, int ny,
                                  double *values, tz_error *error);

#endif
