/* Wraps a snapshot of the backend in a copy of the simulation, and counts who holds it. Taken by
 * lua/running.c for outputs and by checkpoint.c; output/writer.c holds it while it writes. */
#include "sim/snapshot.h"

#include "sim/state.h"
#include <stdatomic.h>
#include <stdlib.h>

/* `frozen` is a copy of the simulation, with a backend that reads the snapshot's fields. Its other
 * pointers are the simulation's own. */
struct tz_snapshot {
    tz_simulation frozen;
    atomic_int holders;
};

/* State fields whose numbers may be not finite. */
static uint32_t real_states(const tz_stencil *stencil)
{
    uint32_t mask = 0;
    for (int f = 0; f < stencil->fields_count; f++)
        if (stencil->fields[f].role == TZ_STATE && tz_type_is_real(stencil->fields[f].type))
            mask |= 1u << f;
    return mask;
}

tz_status tz_snapshot_take(tz_simulation *simulation, uint32_t fields, bool wait, tz_snapshot **out,
                           tz_error *error)
{
    const tz_backend *backend = simulation->backend;
    void *state = NULL;
    *out = NULL;
    if (!backend->freeze)
        return TZ_UNSUPPORTED;
    if (simulation->steps_unchecked > 0)
        fields |= real_states(simulation->problem.stencil);
    fields = tz_stencil_sources(simulation->problem.stencil, fields);
    tz_snapshot *snapshot = malloc(sizeof *snapshot);
    if (!snapshot)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a snapshot");
    const tz_status status = backend->freeze(simulation->state, fields, wait, &state, error);
    if (status || !state) {
        free(snapshot);
        return status;
    }
    snapshot->frozen = *simulation;
    snapshot->frozen.backend = backend->frozen;
    snapshot->frozen.state = state;
    atomic_init(&snapshot->holders, 1);
    simulation->steps_unchecked = 0;
    simulation->finite_step = simulation->step;
    *out = snapshot;
    return TZ_OK;
}

const tz_simulation *tz_snapshot_simulation(const tz_snapshot *snapshot)
{
    return &snapshot->frozen;
}

tz_status tz_snapshot_check(tz_snapshot *snapshot, tz_error *error)
{
    return tz_simulation_check_finite(&snapshot->frozen, error);
}

void tz_snapshot_hold(tz_snapshot *snapshot)
{
    atomic_fetch_add(&snapshot->holders, 1);
}

void tz_snapshot_release(tz_snapshot *snapshot)
{
    if (!snapshot || atomic_fetch_sub(&snapshot->holders, 1) > 1)
        return;
    snapshot->frozen.backend->destroy(snapshot->frozen.state);
    free(snapshot);
}
