/* A simulation as it is at one step, to be read by another thread while it runs on. Only backends
 * that compute beside the host have them. */
#ifndef TZ_CORE_SIM_SNAPSHOT_H
#define TZ_CORE_SIM_SNAPSHOT_H

#include "sim/simulation.h"

typedef struct tz_snapshot tz_snapshot;

/* State fields of the mask, and static fields, as they are after the present step, without waiting
 * for it; the caller holds it once. The simulation is not to be destroyed, nor its parameters
 * changed, before it is released. The check for numbers that are not finite, if it is due, becomes
 * the snapshot's. *out NULL with TZ_OK: too many are held (`wait`: waits for one to be released).
 * TZ_UNSUPPORTED, without a message: this backend has none, or not in this run. TZ_MEMORY. */
tz_status tz_snapshot_take(tz_simulation *simulation, uint32_t fields, bool wait, tz_snapshot **out,
                           tz_error *error);

/* To be read like any simulation: step, residual, reductions, cells, averages. */
const tz_simulation *tz_snapshot_simulation(const tz_snapshot *snapshot);

/* TZ_DIVERGED, as from tz_simulation_run(), if the check was not done yet and a cell is not finite. */
tz_status tz_snapshot_check(tz_snapshot *snapshot, tz_error *error);

void tz_snapshot_hold(tz_snapshot *snapshot);    /* once more [any thread] */
void tz_snapshot_release(tz_snapshot *snapshot); /* NULL is fine [any thread] */

#endif
