/* The thread beside the script, and the move from the processor to a GPU. Called by create.c, run.c
 * and checkpoint.c. */
#include "sim/ahead.h"

#include "base/machine.h"
#include "base/minmax.h"
#include "policy/policy.h"
#include "sim/fields.h"
#include "sim/points.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds that a run is expected to last on the processor before a GPU is got ready: about what the
 * driver takes to start. */
#define LONG_S 0.5
/* A call of the backend lasts about so long while a GPU is got ready. */
#define CALL_S 0.05
/* Its speed is known after so many seconds of stages. */
#define KNOWN_S 0.02
/* A move must leave at most this part of the time. It costs so much beside the copies. */
#define SOONER 0.8
#define MOVE_S 0.05
/* Bytes a second of a move, through pageable memory. */
#define MOVE_BYTES_PER_S 5e9
/* Larger fields begin on a GPU: a first stage on the processor would take longer than its start. */
#define BYTES_MOST (INT64_C(4) << 30)

enum { PIECE_BYTES = 64 << 20 };

struct tz_ahead {
    tz_backend const *backend;
    tz_plan_wish wish; /* of a simulation that may move */
    bool moves;
    bool stays;      /* not now: the GPU would take longer */
    bool started;    /* the thread */
    bool waited;     /* for the first kernel */
    double least_s;  /* the shortest time of an iteration on the processor; INFINITY: none yet */
    double stages_s; /* of all so far */
    int64_t counted; /* iterations on the processor */
    pthread_t extra; /* compiles what reduces fields */
    bool extra_started;
    /* Of the thread until `done`. */
    pthread_t thread;
    atomic_bool unwanted, done;
    tz_problem problem, solution; /* copies: parameters may change */
    tz_policy_subject subject;
    tz_backend_context context, context_of_correction;
    tz_plan plan;
    void *state, *correction;
    double iteration_s; /* predicted or remembered; NAN: not known */
    tz_status status;
    tz_error error;
};

/* ---- The thread ------------------------------------------------------------------------------ */

/* The first plan, as the policy will choose it, and its time. */
static tz_status choose_first(tz_ahead *a)
{
    tz_policy *policy;
    tz_policy_measurement first;
    tz_status status = tz_policy_create(&policy, &a->wish, &a->subject, &a->error);
    if (status)
        return status;
    a->plan = *tz_policy_plan(policy);
    if (tz_policy_measured(policy, 0, &first))
        a->iteration_s = first.time_s;
    tz_policy_destroy(policy);
    status =
        a->backend->prepare(&a->problem, &a->subject.place, a->subject.device, &a->plan, &a->error);
    tz_policy_options *options = status || !isnan(a->iteration_s) ? NULL : malloc(sizeof *options);
    if (options && !tz__policy_predict(&a->subject, &a->plan, 0, options, NULL) &&
        options->best >= 0)
        a->iteration_s = options->at[options->best].time_s;
    free(options);
    return status;
}

static tz_status get_ready(tz_ahead *a)
{
    tz_device_identity device;
    tz_status status = a->backend->identify(a->subject.device, &device, &a->error);
    if (status)
        return status;
    a->subject.place.limits = device.limits;
    status = a->backend->create(&a->state, &a->context, &a->error);
    if (!status && a->context_of_correction.problem)
        status = a->backend->create(&a->correction, &a->context_of_correction, &a->error);
    return status ? status : choose_first(a);
}

static void *work(void *data)
{
    tz_ahead *a = data;
    a->status = a->moves ? get_ready(a)
                         : a->backend->prepare(&a->problem, &a->subject.place, a->subject.device,
                                               &a->plan, &a->error);
    atomic_store(&a->done, true);
    return NULL;
}

static void *prepare_reductions(void *data)
{
    tz_ahead *a = data;
    a->backend->prepare(&a->problem, &a->subject.place, a->subject.device, NULL, NULL);
    return NULL;
}

static void start(tz_simulation *simulation)
{
    tz_ahead *a = simulation->ahead;
    a->problem = *tz__iterated_problem(simulation);
    a->plan = simulation->plan;
    a->subject = tz__simulation_subject(simulation);
    a->subject.backend = a->backend;
    a->subject.problem = &a->problem;
    a->solution = simulation->problem;
    a->subject.solution = simulation->correction ? &a->solution : &a->problem;
    a->subject.place.cancel = (tz_cancel){.stopped = simulation->overdue, .unwanted = &a->unwanted};
    a->subject.place.compiled = NULL; /* the run does not wait, and tells of itself meanwhile */
    /* States refer to the simulation's own problems. create() reads only what never changes. */
    a->context = tz__simulation_context(simulation, &simulation->problem);
    a->context.plan = NULL;
    if (simulation->correction)
        a->context_of_correction =
            tz__simulation_context(simulation, &simulation->correction->problem);
    a->context_of_correction.plan = NULL;
    a->started = tz_thread_start(&a->thread, work, a) == 0;
    a->extra_started = a->started && tz_thread_start(&a->extra, prepare_reductions, a) == 0;
    if (a->started)
        return;
    a->status = tz_error_set(&a->error, TZ_BACKEND, NULL, "no thread can be started");
    atomic_store(&a->done, true);
}

static void join(tz_ahead *a)
{
    if (a->started)
        pthread_join(a->thread, NULL);
    a->started = false;
}

static tz_status create(tz_simulation *simulation, const tz_backend *backend, tz_error *error)
{
    tz_ahead *a = calloc(1, sizeof *a);
    if (!a)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a simulation");
    a->backend = backend;
    a->least_s = INFINITY;
    a->iteration_s = NAN;
    simulation->ahead = a;
    return TZ_OK;
}

void tz__ahead_destroy(tz_ahead *a)
{
    if (!a)
        return;
    atomic_store(&a->unwanted, true);
    join(a);
    if (a->extra_started)
        pthread_join(a->extra, NULL);
    if (a->correction)
        a->backend->destroy(a->correction);
    if (a->state)
        a->backend->destroy(a->state);
    free(a);
}

static void drop(tz_simulation *simulation)
{
    tz__ahead_destroy(simulation->ahead);
    simulation->ahead = NULL;
}

void tz__ahead_compile(tz_simulation *simulation)
{
    const tz_backend *backend = simulation->backend;
    if (simulation->ahead || !backend->prepare || simulation->devices.count > 0 ||
        create(simulation, backend, NULL))
        return;
    start(simulation);
    if (!simulation->ahead->started) /* the first stage compiles it */
        drop(simulation);
}

/* ---- Whether to move ------------------------------------------------------------------------- */

static int64_t bytes_of(const tz_problem *problem)
{
    int64_t bytes = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        bytes += (int64_t)tz_problem_element_size(problem, f) *
                 tz_shape_count(TZ_AXES, problem->elements);
    return bytes;
}

bool tz__may_move(const tz_simulation *simulation, const tz_simulation_config *config,
                  const tz_backend *gpu)
{
    const tz_plan_wish *wish = config->policy;
    const tz_plan none = {.height = 0};
    return !simulation->backend_given && !config->dry && !config->device && gpu->prepare &&
           gpu->installed && gpu->installed() && wish && wish->policy && !wish->function[0] &&
           strcmp(wish->policy, tz_policy_name(0)) == 0 && tz_plan_equal(&wish->given, &none) &&
           (!config->ranks || config->ranks->count == 1) &&
           bytes_of(&simulation->problem) <= BYTES_MOST;
}

tz_status tz__ahead_to_move(tz_simulation *simulation, const tz_backend *gpu,
                            const tz_plan_wish *wish, tz_error *error)
{
    const tz_status status = create(simulation, gpu, error);
    if (status)
        return status;
    simulation->ahead->moves = true;
    simulation->ahead->wish = *wish;
    return TZ_OK;
}

/* Iterations that are expected to come: those that are known, or as many again as there were. */
static double expect(const tz_ahead *a, int64_t left)
{
    return (double)tz_max(left, a->counted);
}

/* Its policy may make plans for long, now. */
static tz_status settle_here(tz_simulation *simulation, tz_error *error)
{
    const tz_plan_wish wish = simulation->ahead->wish;
    return tz__simulation_choose(simulation, &wish, error);
}

/* No GPU can be used. */
static tz_status stay(tz_simulation *simulation, tz_error *error)
{
    snprintf(simulation->choice, sizeof simulation->choice, "stays: %.280s",
             simulation->ahead->error.message);
    simulation->ahead->stays = true;
    const tz_status status = settle_here(simulation, error);
    drop(simulation);
    return status;
}

bool tz__ahead_may_move(const tz_simulation *simulation)
{
    const tz_ahead *a = simulation->ahead;
    return a && a->moves && !a->stays;
}

/* A backend that cannot record and add at points does not get those of a simulation. */
static bool can_take(const tz_simulation *simulation, const tz_ahead *a)
{
    return !simulation->points || a->backend->points;
}

static tz_status look_for_move(tz_simulation *simulation, int64_t left, tz_error *error)
{
    tz_ahead *a = simulation->ahead;
    const double to_come = expect(a, left), here_s = to_come * a->least_s;
    const bool begun = a->started || atomic_load(&a->done);
    if (!can_take(simulation, a))
        return TZ_OK;
    if (!begun && (a->stages_s < KNOWN_S || here_s < LONG_S))
        return TZ_OK;
    if (!begun)
        start(simulation);
    if (!atomic_load(&a->done))
        return TZ_OK;
    join(a);
    if (a->status)
        return stay(simulation, error);
    const double move_s = MOVE_S + (double)bytes_of(&simulation->problem) / MOVE_BYTES_PER_S;
    const double there_s = move_s + (isnan(a->iteration_s) ? 0.0 : to_come * a->iteration_s);
    if (there_s > SOONER * here_s && a->stays)
        return TZ_OK;
    if (there_s > SOONER * here_s) {
        a->stays = true;
        return settle_here(simulation, error);
    }
    snprintf(simulation->choice, sizeof simulation->choice,
             "from step %" PRId64 " on, which was expected to take %.2g s instead of %.2g s",
             simulation->step, there_s, here_s);
    return tz__move_now(simulation, error);
}

tz_status tz__ahead_move(tz_simulation *simulation, int64_t left, tz_error *error)
{
    return simulation->ahead && simulation->ahead->moves ? look_for_move(simulation, left, error)
                                                         : TZ_OK;
}

tz_status tz__ahead_wait(tz_simulation *simulation, tz_error *error)
{
    tz_ahead *a = simulation->ahead;
    if (!a || a->moves || a->waited)
        return TZ_OK;
    tz_status status = TZ_OK;
    a->waited = true;
    if (tz_plan_equal(&a->plan, &simulation->plan)) {
        const double begin = tz_machine_clock_s();
        join(a);
        simulation->waited_s += tz_machine_clock_s() - begin;
        status = a->status;
        if (status && error)
            *error = a->error;
    } else {
        drop(simulation);
    }
    return status;
}

int64_t tz__ahead_longest(const tz_simulation *simulation)
{
    const tz_ahead *a = simulation->ahead;
    if (!a || !a->moves || (a->stages_s >= KNOWN_S && !a->started))
        return INT64_MAX;
    return isinf(a->least_s) ? 1 : tz_max((int64_t)(CALL_S / a->least_s), 1);
}

void tz__ahead_timed(tz_simulation *simulation, int64_t iterations, double seconds)
{
    tz_ahead *a = simulation->ahead;
    if (!a || !a->moves)
        return;
    a->counted += iterations;
    a->stages_s += seconds;
    a->least_s = fmin(a->least_s, seconds / (double)iterations);
}

/* ---- The move -------------------------------------------------------------------------------- */

static tz_status copy_fields(const tz_problem *problem, const tz_backend *from, void *here,
                             const tz_backend *to, void *there, void *room, tz_error *error)
{
    tz_status status = TZ_OK;
    for (int f = 0; !status && f < problem->stencil->fields_count; f++) {
        const tz_role role = problem->stencil->fields[f].role;
        if (role != TZ_STATE && role != TZ_STATIC)
            continue;
        tz_box_parts parts = {.most = PIECE_BYTES / (int64_t)tz_problem_element_size(problem, f)};
        memcpy(parts.whole.high, problem->elements, sizeof parts.whole.high);
        while (!status && tz_box_next(&parts)) {
            status = from->load(here, f, &parts.part, room, error);
            if (!status)
                status = to->store(there, f, &parts.part, room, error);
        }
    }
    return status;
}

static tz_status copy_all(tz_simulation *simulation, tz_error *error)
{
    const tz_ahead *a = simulation->ahead;
    const tz_correction *correction = simulation->correction;
    void *room = malloc(PIECE_BYTES);
    if (!room)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to move fields");
    tz_status status = copy_fields(&simulation->problem, simulation->backend, simulation->state,
                                   a->backend, a->state, room, error);
    if (!status && correction)
        status = copy_fields(&correction->problem, simulation->backend, correction->state,
                             a->backend, a->correction, room, error);
    free(room);
    return status;
}

/* Where a simulation computes. */
typedef struct home {
    const tz_backend *backend;
    void *state, *correction; /* the second one may be NULL */
    tz_limits limits;
} home;

static home get_home(const tz_simulation *simulation)
{
    return (home){simulation->backend, simulation->state,
                  simulation->correction ? simulation->correction->state : NULL,
                  simulation->limits};
}

static void set_home(tz_simulation *simulation, home to)
{
    simulation->backend = to.backend;
    simulation->state = to.state;
    if (simulation->correction)
        simulation->correction->state = to.correction;
    simulation->limits = to.limits;
}

tz_status tz__move_now(tz_simulation *simulation, tz_error *error)
{
    tz_ahead *a = simulation->ahead;
    if (!a || !a->moves || !can_take(simulation, a))
        return TZ_OK;
    if (!a->started && !atomic_load(&a->done))
        start(simulation);
    join(a);
    if (a->status)
        return stay(simulation, error);
    const tz_status status = tz_simulation_receive(simulation, error);
    if (status)
        return status;
    if (copy_all(simulation, &a->error))
        return stay(simulation, error);
    const home here = get_home(simulation);
    set_home(simulation, (home){a->backend, a->state, a->correction, a->subject.place.limits});
    a->moves = false;
    if (tz__simulation_choose(simulation, &a->wish, &a->error)) {
        set_home(simulation, here);
        return stay(simulation, error);
    }
    tz__simulation_forget_update(simulation);
    here.backend->destroy(here.correction);
    here.backend->destroy(here.state);
    a->state = a->correction = NULL;
    a->waited = true; /* what it compiles for reductions goes on */
    return TZ_OK;
}

const char *tz_simulation_choice(const tz_simulation *simulation)
{
    const tz_ahead *a = simulation->ahead;
    if (simulation->choice[0] || !a || !a->moves)
        return simulation->choice;
    if (!a->started && !atomic_load(&a->done))
        return "too short to start a GPU";
    return a->stays ? "a GPU would take longer" : "it ended before a GPU was ready";
}
