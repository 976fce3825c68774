/* Creates a simulation: problem, backend, policy, then fields; sets its parameters and its
 * policy. */
#include "backend/slabs/slabs.h"
#include "base/machine.h"
#include "calibrate/records.h"
#include "predict/workload.h"
#include "sim/ahead.h"
#include "sim/fields.h"
#include "sim/points.h"
#include "sim/simulated_time.h"
#include "sim/simulation.h"
#include "sim/state.h"
#include "stencil/registry.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The record of several devices, and what joins those of several ranks: they decide how often slabs
 * exchange ghost zones. GPUs of one machine are joined as those of one rank. Runs do without. */
static void find_record(tz_simulation *simulation)
{
    const tz_ranks *ranks = simulation->ranks;
    tz_model_link link;
    bool assumed;
    simulation->record = malloc(sizeof *simulation->record);
    if (!simulation->record)
        return;
    if (tz_device_of(simulation->backend, simulation->device, simulation->record, NULL)) {
        free(simulation->record);
        simulation->record = NULL;
    } else if (ranks && !(simulation->backend->is_gpu && ranks->local_count == ranks->count) &&
               !tz_model_link_of(simulation->record, "mpi", &link, &assumed, NULL)) {
        simulation->joined = (tz_link){link.latency_s.value, link.bandwidth_bytes_per_s.value};
    }
}

/* The devices that hold slabs, if the config names some or there are several ranks. */
static tz_status find_devices(tz_simulation *simulation, const tz_simulation_config *config,
                              tz_error *error)
{
    const tz_ranks *ranks = simulation->ranks;
    tz_devices *devices = &simulation->devices;
    if (!config->devices && (!ranks || ranks->count == 1))
        return TZ_OK;
    const bool any = !config->backend || strcmp(config->backend, "auto") == 0;
    const tz_devices_wish wish = {.names = config->devices,
                                  .backend = config->devices && any ? NULL : simulation->backend,
                                  .threads = config->threads,
                                  .device = config->device};
    tz_status status = tz_slabs_devices(ranks, &wish, &simulation->backend, devices, error);
    for (int i = devices->count; i-- > 0;)
        if (tz_devices_are_own(devices, i))
            simulation->device = devices->of[i].device;
    if (status || devices->count == 1) {
        *devices = (tz_devices){.count = 0};
        return status;
    }
    devices->apart = ranks && !simulation->backend->is_gpu && ranks->local_count == 1;
    status = tz_slabs_shares(ranks, tz_shares_find_here, devices, simulation->backend,
                             &simulation->problem, tz__simulation_plugin_file(simulation), error);
    find_record(simulation);
    if (!status)
        status = tz_slabs_backend(simulation->backend, devices, &simulation->slabs, error);
    simulation->backend = &simulation->slabs;
    return status;
}

static tz_status create_correction(tz_simulation *simulation, tz_error *error)
{
    tz_correction *correction = calloc(1, sizeof *correction);
    if (!correction)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a simulation");
    const tz_status status =
        tz_problem_correction(&correction->problem, &simulation->problem, error);
    if (status)
        free(correction);
    else
        simulation->correction = correction;
    return status;
}

/* One that may move begins on the processor: asking for a GPU would take longer than many runs. */
static tz_status find_backend(tz_simulation *simulation, const tz_simulation_config *config,
                              tz_error *error)
{
    const tz_backend *gpu = tz_backend_of_kind(true);
    if (!tz__may_move(simulation, config, gpu))
        return tz_backend_find(config->backend, &simulation->backend, error);
    simulation->backend = tz_backend_of_kind(false);
    return tz__ahead_to_move(simulation, gpu, config->policy, error);
}

static tz_status look_at_device(tz_simulation *simulation, bool dry, tz_error *error)
{
    tz_device_identity device = {0};
    const tz_status status = simulation->backend->identify(simulation->device, &device, error);
    simulation->limits = device.limits;
    /* A scenario is checked without the device, too. */
    return status == TZ_BACKEND && dry ? TZ_OK : status;
}

/* Everything but the policy and the fields. */
static tz_status set_up(tz_simulation *simulation, const tz_simulation_config *config,
                        tz_error *error)
{
    const tz_stencil *stencil = NULL;
    tz_machine machine;
    tz_status status =
        tz_registry_find(config->registry, config->stencil, &stencil, &simulation->plugin, error);
    tz_simulation_config own = *config;
    if (!status)
        status =
            tz_series_copy(config->scalars_count, config->scalars, &simulation->scalars, error);
    own.scalars = simulation->scalars;
    if (!status)
        status = tz_problem_resolve(&simulation->problem, stencil, &own, error);
    if (!status && config->mixed)
        status = create_correction(simulation, error);
    simulation->backend_given =
        config->devices || (config->backend && strcmp(config->backend, "auto") != 0);
    if (!status && (!config->devices || config->backend))
        status = find_backend(simulation, config, error);
    if (!status && (config->threads < 0 || config->threads > 1024))
        status = tz_error_set(error, TZ_RANGE, "threads", "%d threads; 1 to 1024 are possible",
                              config->threads);
    if (status)
        return status;
    tz_machine_read(&machine);
    simulation->isa = machine.isa;
    simulation->threads = config->threads > 0 ? config->threads : tz_ranks_cores(config->ranks);
    simulation->device = config->device;
    status = find_devices(simulation, config, error);
    if (status)
        return status;
    if (simulation->backend->serial)
        simulation->threads = 1;
    status = tz_threads_create(&simulation->pool, simulation->threads, error);
    if (status)
        return status;
    simulation->stopped = config->stopped;
    simulation->overdue = config->overdue;
    simulation->cancelled = config->cancelled;
    simulation->compiled = config->compiled;
    simulation->told = config->told;
    simulation->sync = config->sync;
    return look_at_device(simulation, config->dry, error);
}

static tz_status choose_plans(tz_simulation *simulation, const tz_simulation_config *config,
                              tz_error *error)
{
    tz_status status = config->policy ? tz_simulation_set_policy(simulation, config->policy, error)
                                      : tz_simulation_set_plan(simulation, &config->plan, error);
    if (!status) /* the other ranks of this machine need as much */
        status =
            tz_problem_check_memory(&simulation->problem, simulation->bytes,
                                    simulation->ranks ? simulation->ranks->local_count : 1, error);
    return status;
}

/* With the memory that is there. */
static tz_status set_up_whole(tz_simulation *simulation, const tz_simulation_config *config,
                              tz_error *error)
{
    tz_status status = set_up(simulation, config, error);
    if (!status)
        status = choose_plans(simulation, config, error);
    if (status != TZ_MEMORY || !simulation->ahead)
        return status;
    /* The host's memory does not suffice: a GPU's may. */
    tz__ahead_destroy(simulation->ahead);
    simulation->ahead = NULL;
    snprintf(simulation->choice, sizeof simulation->choice, "the processor's memory is too small");
    const tz_backend *host = simulation->backend;
    if (tz_backend_find(NULL, &simulation->backend, NULL) || simulation->backend == host)
        return status;
    status = look_at_device(simulation, config->dry, error);
    return status ? status : choose_plans(simulation, config, error);
}

static tz_status create_fields(tz_simulation *simulation, tz_error *error)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    tz_correction *correction = simulation->correction;
    tz_backend_context context = tz__simulation_context(simulation, &simulation->problem);
    tz__ahead_compile(simulation);
    tz_status status = simulation->backend->create(&simulation->state, &context, error);
    if (!status && correction) {
        context.problem = &correction->problem;
        status = simulation->backend->create(&correction->state, &context, error);
    }
    for (int f = 0; !status && f < stencil->fields_count; f++)
        if (stencil->fields[f].role != TZ_STREAMED &&
            (stencil->fields[f].initial != simulation->problem.origin[f] ||
             !tz_problem_as_computed(&simulation->problem, f)))
            status = tz_simulation_fill(simulation, f, NULL, stencil->fields[f].initial, error);
    return status;
}

static void destroy_fields(tz_simulation *simulation)
{
    tz_correction *correction = simulation->correction;
    tz__ahead_destroy(simulation->ahead);
    simulation->ahead = NULL;
    if (correction && correction->state)
        simulation->backend->destroy(correction->state);
    if (correction)
        correction->state = NULL;
    if (simulation->state)
        simulation->backend->destroy(simulation->state);
    simulation->state = NULL;
}

/* On the processor, if a GPU that nobody named has too little memory. */
static tz_status create_fields_somewhere(tz_simulation *simulation,
                                         const tz_simulation_config *config, tz_error *error)
{
    tz_error full = {.code = TZ_OK}, why;
    tz_status status = create_fields(simulation, &full);
    const bool may_leave = status == TZ_MEMORY && simulation->backend->is_gpu &&
                           !simulation->backend_given && !config->device &&
                           simulation->devices.count == 0;
    if (may_leave) {
        destroy_fields(simulation);
        simulation->backend = tz_backend_of_kind(false);
        snprintf(simulation->choice, sizeof simulation->choice, "the GPU's memory is too small");
        status = look_at_device(simulation, false, &why);
        if (!status)
            status = choose_plans(simulation, config, &why);
        if (!status)
            status = create_fields(simulation, &why);
        if (status == TZ_MEMORY)
            full = why; /* neither has enough */
        status = status ? (tz_status)full.code : TZ_OK;
    }
    if (status && error)
        *error = full;
    return status;
}

tz_status tz_simulation_create(tz_simulation **out, const tz_simulation_config *config,
                               tz_error *error)
{
    *out = NULL;
    tz_simulation *simulation = calloc(1, sizeof *simulation);
    if (!simulation)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a simulation");
    simulation->fired_step = -1;
    simulation->dry = config->dry;
    simulation->ranks = config->ranks;
    simulation->registry = config->registry;
    tz_status status = set_up_whole(simulation, config, error);
    if (!status && !config->dry)
        status = create_fields_somewhere(simulation, config, error);
    if (status) {
        tz_simulation_destroy(simulation);
        return status;
    }
    *out = simulation;
    return TZ_OK;
}

void tz_simulation_destroy(tz_simulation *simulation)
{
    if (!simulation)
        return;
    destroy_fields(simulation);
    tz__simulation_forget_update(simulation);
    if (simulation->correction)
        tz_problem_clear(&simulation->correction->problem);
    free(simulation->correction);
    tz_policy_destroy(simulation->policy);
    tz__points_destroy(simulation);
    tz_threads_destroy(simulation->pool);
    tz_problem_clear(&simulation->problem);
    free(simulation->record);
    free(simulation->scalars);
    free(simulation->uses);
    free(simulation);
}

/* ---- Parameters and policy ------------------------------------------------------------------- */

tz_status tz_simulation_set_params(tz_simulation *simulation, size_t count,
                                   const tz_assignment *params, tz_error *error)
{
    const tz_param *step = tz_simulation_time_step(simulation);
    const double before =
        step ? simulation->problem.params[step - simulation->problem.stencil->params].number : 0;
    /* The correction's problem is the stricter one: what it takes, the solution's takes, too. */
    tz_problem *stricter = simulation->correction ? &simulation->correction->problem : NULL;
    tz_status status = tz_simulation_receive(simulation, error);
    if (!status && stricter)
        status = tz_problem_set_params(stricter, count, params, error);
    if (!status)
        status = tz_problem_set_params(&simulation->problem, count, params, error);
    simulation->update_known = false;
    simulation->facts_known = false;
    tz__simulation_forget_update(simulation);
    tz__points_renew(simulation);
    if (!status && step)
        status = tz__simulation_time_step_changed(simulation, before, error);
    return status;
}

void tz_simulation_rewind(tz_simulation *simulation)
{
    simulation->step = 0;
    const tz_clock clock = {.dt = tz_simulation_clock(simulation).dt};
    tz_simulation_set_clock(simulation, &clock, NULL); /* its time step is one that it has had */
    simulation->time_base = (tz_time_base){.since = 0};
    simulation->fired_step = -1;
    simulation->update_known = false;
    simulation->facts_known = false;
    if (simulation->look_step > 0)
        simulation->look_step = 0;
}

tz_policy_subject tz__simulation_subject(const tz_simulation *simulation)
{
    return (tz_policy_subject){.problem = tz__iterated_problem(simulation),
                               .solution = &simulation->problem,
                               .plugin = simulation->plugin,
                               .precision = tz_simulation_precision(simulation),
                               .backend = simulation->backend,
                               .device = simulation->device,
                               .place = tz__simulation_place(simulation, simulation->record),
                               .may_leave = tz__ahead_may_move(simulation)};
}

tz_status tz__simulation_choose(tz_simulation *simulation, const tz_plan_wish *wish,
                                tz_error *error)
{
    const tz_policy_subject subject = tz__simulation_subject(simulation);
    tz_policy *policy;
    const tz_status status = tz_policy_create(&policy, wish, &subject, error);
    if (status)
        return status;
    tz_policy_destroy(simulation->policy);
    simulation->policy = policy;
    simulation->watch = (tz_stopwatch){.stages = 0};
    simulation->plan = *tz_policy_plan(policy);
    simulation->bytes = tz__simulation_bytes_with(simulation, &simulation->plan);
    return TZ_OK;
}

tz_status tz_simulation_set_policy(tz_simulation *simulation, const tz_plan_wish *wish,
                                   tz_error *error)
{
    const tz_status status = simulation->state ? tz__move_now(simulation, error) : TZ_OK;
    return status ? status : tz__simulation_choose(simulation, wish, error);
}

tz_status tz_simulation_set_plan(tz_simulation *simulation, const tz_plan *plan, tz_error *error)
{
    const tz_plan_wish fixed = {.policy = "fixed", .given = *plan};
    return tz_simulation_set_policy(simulation, &fixed, error);
}
