/* Predicts plans in a thread of its own, which compiles their kernels. Called by auto.c. */
#include "policy/explorer.h"

#include "base/threads.h"
#include "calibrate/records.h"
#include "model/power.h"
#include "predict/predictions.h"
#include <stdio.h>
#include <stdlib.h>

#define BUDGET_S 60.0 /* nobody waits */
/* Plans are compiled that may be this much slower than the best prediction: nobody waits, they are
 * timed, and families differ by that much from what the model says of them. */
#define NEAR 2.0

struct tz_explorer {
    tz_policy_subject subject;
    tz_problem problem;
    tz_plan given;
    atomic_bool unwanted;
    pthread_t thread;
    bool started;         /* the thread */
    pthread_mutex_t lock; /* of the following members */
    tz_policy_option ready[TZ_POLICY_OPTIONS_MAX];
    int count, taken;
    bool ended;
    char reason[160];
};

static void on_compiled(void *context, const tz_predicted_plan *plan)
{
    tz_explorer *e = context;
    pthread_mutex_lock(&e->lock);
    if (e->count < TZ_POLICY_OPTIONS_MAX)
        e->ready[e->count++] =
            (tz_policy_option){.plan = plan->plan, .time_s = tz_power_time(&plan->prediction)};
    pthread_mutex_unlock(&e->lock);
}

static void *explore(void *data)
{
    tz_explorer *e = data;
    tz_error error = {0};
    tz_model_device device;
    tz_predictions *made = NULL;
    tz_status status = tz_device_of(e->subject.backend, e->subject.device, &device, &error);
    if (!status) {
        tz_place place = e->subject.place;
        place.device = &device;
        place.cancel.unwanted = &e->unwanted;
        place.compiled = NULL; /* the run does not wait */
        const tz_predictions_watch watch = {
            .compiled = on_compiled, .context = e, .budget_s = BUDGET_S, .margin = NEAR};
        status = tz_predictions_create(&made, &e->problem, e->subject.backend, &place, &e->given,
                                       TZ_EFFORT_CACHED, &watch, &error);
        tz_predictions_destroy(made);
    }
    pthread_mutex_lock(&e->lock);
    e->ended = true;
    if (status)
        snprintf(e->reason, sizeof e->reason, "%.159s", error.message);
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

tz_status tz__explorer_create(tz_explorer **out, const tz_policy_subject *subject,
                              const tz_plan *given, tz_error *error)
{
    *out = NULL;
    tz_explorer *e = calloc(1, sizeof *e);
    if (!e)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to explore plans");
    e->subject = *subject;
    e->problem = *subject->problem;
    e->subject.problem = &e->problem;
    e->given = *given;
    pthread_mutex_init(&e->lock, NULL);
    e->started = tz_thread_start(&e->thread, explore, e) == 0;
    if (!e->started) {
        e->ended = true;
        snprintf(e->reason, sizeof e->reason, "no thread can be started");
    }
    *out = e;
    return TZ_OK;
}

void tz__explorer_destroy(tz_explorer *e)
{
    if (!e)
        return;
    atomic_store(&e->unwanted, true);
    if (e->started)
        pthread_join(e->thread, NULL);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

bool tz__explorer_take(tz_explorer *e, tz_policy_option *out)
{
    pthread_mutex_lock(&e->lock);
    const bool any = e->taken < e->count;
    if (any)
        *out = e->ready[e->taken++];
    pthread_mutex_unlock(&e->lock);
    return any;
}

bool tz__explorer_ended(tz_explorer *e, char *reason, size_t size)
{
    pthread_mutex_lock(&e->lock);
    const bool ended = e->ended && e->taken == e->count;
    if (ended)
        snprintf(reason, size, "%s", e->reason);
    pthread_mutex_unlock(&e->lock);
    return ended;
}
