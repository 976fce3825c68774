#include "policy/forecast.h"

#include "base/machine.h"
#include "model/power.h"
#include "model/roofs.h"
#include "policy/forecast_impl.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A choice that has compiled this many kernels takes the best of them: compiling goes on for longer
 * than the rest can be worth. */
enum { CONFIRMED_MAX = 8 };

static tz_status from_model(tz_error *error, tz_model_status status, const tz_model_error *what)
{
    const tz_status code = status == TZ_MODEL_MISSING ? TZ_UNSUPPORTED : TZ_RANGE;
    return tz_error_set(error, code, what->place[0] ? what->place : NULL, "%s", what->message);
}

typedef struct maker {
    tz__predict_fn *predict;
    const tz_problem *problem;
    const tz_backend *backend;
    const tz_place *place;
    tz_forecast *forecast;
    double compiling_s;
    tz_error first; /* why a plan was left out, the first time */
} maker;

/* Work and time of one plan. */
static tz_status look_at(maker *m, tz_forecast_plan *plan, tz_effort effort, tz_error *error)
{
    const double begin = tz_machine_clock_s();
    tz_model_error why;
    tz_status status =
        m->backend->work(m->problem, m->place, &plan->plan, effort, &plan->work, error);
    if (effort == TZ_EFFORT_COMPILE)
        m->compiling_s += tz_machine_clock_s() - begin;
    if (status)
        return status;
    const tz_model_status predicted =
        m->predict(&plan->work, m->place->device, &plan->prediction, &why);
    return predicted ? from_model(error, predicted, &why) : TZ_OK;
}

static tz_status find_candidates(const maker *m, const tz_plan *given, tz_plan *plans, int *count,
                                 tz_error *error)
{
    *count = 0;
    if (m->backend->candidates)
        return m->backend->candidates(m->problem, m->place, given, plans, TZ_FORECAST_PLANS_MAX,
                                      count, error);
    plans[0] = *given;
    *count = 1;
    return m->backend->plan(m->problem, m->place->threads, &plans[0], error);
}

static void leave_out(maker *m, int index, const tz_error *why)
{
    tz_forecast *f = m->forecast;
    if (!m->first.code)
        m->first = *why;
    memmove(&f->plans[index], &f->plans[index + 1],
            (size_t)(f->count - index - 1) * sizeof *f->plans);
    f->count--;
}

/* The fastest in a long run, of equals the first; -1 when there is none. */
static int find_best(const tz_forecast *forecast, bool compiled_alone)
{
    int best = -1;
    for (int i = 0; i < forecast->count; i++)
        if ((!compiled_alone || !forecast->plans[i].work.estimated) &&
            (best < 0 || tz_power_time(&forecast->plans[i].prediction) <
                             tz_power_time(&forecast->plans[best].prediction)))
            best = i;
    return best;
}

/* Registers of a kernel that is not compiled are a guess: compile what looks best until the best is
 * no guess. A plan that cannot be compiled is no plan; without a compiler nothing is. */
static tz_status confirm(maker *m, tz_error *error)
{
    tz_forecast *f = m->forecast;
    tz_error why;
    for (int compiled = 0; f->count > 0; compiled++) {
        f->best = find_best(f, compiled >= CONFIRMED_MAX);
        if (!f->plans[f->best].work.estimated)
            return TZ_OK;
        const tz_status status = look_at(m, &f->plans[f->best], TZ_EFFORT_COMPILE, &why);
        if (status == TZ_OK) {
            f->plans[f->best].work.estimated = false;
            continue;
        }
        if (status == TZ_MEMORY || status == TZ_UNSUPPORTED) {
            if (error)
                *error = why;
            return status;
        }
        leave_out(m, f->best, &why);
        compiled--;
    }
    return TZ_OK;
}

static tz_status make(maker *m, const tz_plan *given, tz_effort effort, tz_error *error)
{
    tz_forecast *f = m->forecast;
    tz_plan *plans = calloc(TZ_FORECAST_PLANS_MAX, sizeof *plans);
    int count = 0;
    if (!plans)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a forecast");
    tz_status status = find_candidates(m, given, plans, &count, error);
    if (!status && count > 0 && !(f->plans = calloc((size_t)count, sizeof *f->plans)))
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a forecast");
    for (int i = 0; !status && i < count; i++) {
        tz_error why;
        tz_forecast_plan *next = &f->plans[f->count];
        next->plan = plans[i];
        const tz_status one = look_at(m, next, effort, &why);
        if (one == TZ_OK)
            f->count++;
        else if (one == TZ_MEMORY)
            status = tz_error_set(error, one, why.place, "%s", why.message);
        else if (!m->first.code)
            m->first = why;
    }
    free(plans);
    if (!status && effort == TZ_EFFORT_CACHED)
        status = confirm(m, error);
    if (status)
        return status;
    f->best = find_best(f, false);
    if (f->best >= 0)
        return TZ_OK;
    if (!m->first.code)
        return tz_error_set(error, TZ_RANGE, "plan",
                            "no plan of the %s backend takes '%s' on this grid as given",
                            m->backend->name, m->problem->stencil->id);
    if (error)
        *error = m->first;
    return m->first.code;
}

tz_status tz__forecast_by(tz_forecast **out, tz__predict_fn *predict, const tz_problem *problem,
                          const tz_backend *backend, const tz_place *place, const tz_plan *given,
                          tz_effort effort, tz_error *error)
{
    *out = NULL;
    if (!backend->work)
        return tz_error_set(error, TZ_UNSUPPORTED, "backend",
                            "the %s backend cannot tell what its plans do: there is nothing to "
                            "predict from",
                            backend->name);
    if (!place->device)
        return tz_error_set(error, TZ_UNSUPPORTED, "device",
                            "nothing is known of the device: run `trapeze calibrate`");
    const double begin = tz_machine_clock_s();
    maker m = {.predict = predict,
               .problem = problem,
               .backend = backend,
               .place = place,
               .forecast = calloc(1, sizeof *m.forecast)};
    if (!m.forecast)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a forecast");
    const tz_status status = make(&m, given, effort, error);
    if (status) {
        tz_forecast_destroy(m.forecast);
        return status;
    }
    const tz_forecast_plan *best = &m.forecast->plans[m.forecast->best];
    const tz_model_prediction *p = &best->prediction;
    const size_t used = (size_t)snprintf(m.forecast->reason, sizeof m.forecast->reason,
                                         "h %d: %.110s", best->plan.height, p->limit_text);
    if (p->sustained_s > p->time_s)
        snprintf(m.forecast->reason + used, sizeof m.forecast->reason - used,
                 "; %.0f W: held to %.3g GHz", p->power_w, p->sustained_hz * 1e-9);
    m.forecast->seconds = tz_machine_clock_s() - begin - m.compiling_s;
    *out = m.forecast;
    return TZ_OK;
}

tz_status tz_forecast_create(tz_forecast **out, const tz_problem *problem,
                             const tz_backend *backend, const tz_place *place, const tz_plan *given,
                             tz_effort effort, tz_error *error)
{
    return tz__forecast_by(out, tz_roofs_predict, problem, backend, place, given, effort, error);
}

void tz_forecast_destroy(tz_forecast *forecast)
{
    if (!forecast)
        return;
    free(forecast->plans);
    free(forecast);
}
