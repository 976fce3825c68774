/* Events of a run: outputs and functions, at once or from snapshots. */
#include "sim/run_impl.h"
#include "sim/snapshot.h"

tz_status tz__run_settle(tz_runner *r, tz_error *error)
{
    if (!r->unsettled)
        return TZ_OK;
    r->unsettled = false;
    return r->run->settle(r->run->later_context, error);
}

/* A snapshot of this step for events with later(); NULL: they fire at once. */
static tz_status freeze(tz_runner *r, tz_snapshot **out, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    uint32_t fields = 0;
    *out = NULL;
    if (r->refused)
        return TZ_OK;
    for (size_t i = 0; i < r->run->events_count; i++)
        if (r->run->events[i].later &&
            tz_interval_is_due(&r->run->events[i].every, simulation, simulation->step))
            fields |= r->run->events[i].fields;
    tz_error why = {0};
    tz_status status = tz_snapshot_take(simulation, fields, false, out, &why);
    if (!status && !*out) {
        /* Outputs take longer than stages. The wait for a free snapshot is no part of the stages'
         * time, so that ends here. */
        status = tz__run_wait(r, &why);
        if (!status)
            status = tz_snapshot_take(simulation, fields, true, out, &why);
    }
    if (!status)
        return TZ_OK;
    if (status != TZ_UNSUPPORTED && status != TZ_MEMORY) {
        if (error)
            *error = why;
        return status;
    }
    r->refused = true;
    if (status == TZ_MEMORY && r->run->refused)
        r->run->refused(r->run->later_context, &why);
    return TZ_OK;
}

static tz_status fire_at_once(tz_runner *r, const tz_event *event, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    tz_status status = tz__run_wait(r, error);
    if (!status)
        status = tz__run_settle(r, error);
    if (!status)
        status = tz__simulation_check_finite(simulation, error);
    if (status)
        return status;
    r->unsettled = r->run->settle; /* an event may be a checkpoint, which others write */
    return event->fire(event->context, simulation, error);
}

/* Fire what is due at this step, from an event on. */
static tz_status fire_from(tz_runner *r, size_t first, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    tz_snapshot *snapshot = NULL;
    tz_status status = TZ_OK;
    for (size_t i = first; !status && i < r->run->events_count; i++) {
        const tz_event *event = &r->run->events[i];
        if (!tz_interval_is_due(&event->every, simulation, simulation->step))
            continue;
        r->at->firing = (int64_t)i;
        if (simulation->watch.running) /* outputs are no part of the time for a policy */
            status = tz__run_wait(r, error);
        if (!status && event->later && !snapshot)
            status = freeze(r, &snapshot, error);
        if (!status && event->later && snapshot) {
            r->unsettled = true;
            status = event->later(event->context, snapshot, error);
        } else if (!status) {
            status = fire_at_once(r, event, error);
        }
    }
    r->at->firing = -1;
    tz_snapshot_release(snapshot);
    return status;
}

tz_status tz__run_fire(tz_runner *r, tz_error *error)
{
    tz_simulation *simulation = r->simulation;
    tz_status status = simulation->step > r->at->start ? tz__run_refine(r, error) : TZ_OK;
    if (status)
        return status;
    if (simulation->fired_step == simulation->step)
        return TZ_OK;
    simulation->fired_step = simulation->step;
    for (size_t i = 0; !status && i < r->run->events_count; i++)
        if (r->run->events[i].wants_residual &&
            tz_interval_is_due(&r->run->events[i].every, simulation, simulation->step))
            status = tz__run_measure(r, &(tz_update){0}, error);
    return status ? status : fire_from(r, 0, error);
}

tz_status tz__run_fire_rest(tz_runner *r, tz_error *error)
{
    return r->at->firing < 0 ? TZ_OK : fire_from(r, (size_t)r->at->firing + 1, error);
}
