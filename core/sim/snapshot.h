/* Snapshots: the fields of a simulation at one step, for another thread to read while the
 * simulation runs on. Only backends that run stages asynchronously have them. */
#ifndef TZ_CORE_SIM_SNAPSHOT_H
#define TZ_CORE_SIM_SNAPSHOT_H

#include "sim/simulation.h"

typedef struct tz_snapshot tz_snapshot;

/* Take a snapshot of the static fields and of the state fields in the mask (for derived fields in
 * it: of those from which they are computed), after the present step, without waiting for it. The
 * caller holds it once. The simulation must not be destroyed, nor its parameters changed, before
 * it is released. If a check for numbers that are not finite is due, the snapshot does it
 * (tz_snapshot_check). *out NULL with TZ_OK: too many snapshots are held; with `wait` the call
 * waits for a release instead. TZ_UNSUPPORTED, without a message: the backend has no snapshots, or
 * not in this run. TZ_MEMORY. */
tz_status tz_snapshot_take(tz_simulation *simulation, uint32_t fields, bool wait, tz_snapshot **out,
                           tz_error *error);

/* The snapshot as a simulation to read from: step, residual, reductions, cells, averages. */
const tz_simulation *tz_snapshot_simulation(const tz_snapshot *snapshot);

/* Do the check if it is due. TZ_DIVERGED, as from a run: a cell is not finite. */
tz_status tz_snapshot_check(tz_snapshot *snapshot, tz_error *error);

void tz_snapshot_hold(tz_snapshot *snapshot);    /* hold once more [any thread] */
void tz_snapshot_release(tz_snapshot *snapshot); /* NULL is fine [any thread] */

#endif
