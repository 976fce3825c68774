/* Time steps that a run chooses as it goes: by a derived field, and by trying steps. Called by
 * run.c. */
#include "sim/adapt.h"

#include "define/definition.h"
#include "sim/ahead.h"
#include "sim/fields.h"
#include "sim/simulated_time.h"
#include "sim/state.h"
#include "stencil/stencil.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char largest_name[] = "largest_dt";

/* The time step grows by this factor at most, and a step is shortened so far at once at most. */
static const double growth = 1.1, cut = 0.1, shorter = 0.9;
/* Shorter steps than this part of the first one, or of the time that remains, are none. */
static const double vanishing = 1e-12;

static int largest_field(const tz_simulation *simulation)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    for (int f = 0; f < tz_stencil_fields_all(stencil); f++)
        if (stencil->fields[f].role == TZ_DERIVED &&
            strcmp(stencil->fields[f].name, largest_name) == 0)
            return f;
    return -1;
}

/* Is it a field whose error counts? */
static bool is_advanced(const tz_simulation *simulation, int field)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    return stencil->fields[field].role == TZ_STATE &&
           tz_type_is_real(stencil->fields[field].type) && tz_stage_owner(stencil, field) == field;
}

static tz_status unsupported(tz_error *error, const char *why)
{
    return tz_error_set(error, TZ_UNSUPPORTED, NULL, "dt = \"adaptive\": %s", why);
}

tz_status tz_simulation_check_adaptive(const tz_simulation *simulation, const tz_adaptive *adaptive,
                                       tz_error *error)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    const int seed = tz_stencil_param_index(stencil, "seed");
    if (!tz_simulation_time_step(simulation))
        return unsupported(error, "the stencil has no time step: give tz.stencil one, dt = 0.01");
    if (adaptive->tolerance == 0 && largest_field(simulation) < 0)
        return tz_error_set(
            error, TZ_UNKNOWN, NULL,
            "dt = \"adaptive\" needs 'tolerance', the error of a step, or a stencil "
            "with outputs = { %s = \"formula of the largest time step\" }",
            largest_name);
    if (simulation->correction)
        return unsupported(error, "mixed precision has a constant time step: use \"double\"");
    if (simulation->points)
        return unsupported(error, "sources and receivers need a constant time step");
    for (int f = 0; f < stencil->fields_count; f++)
        if (stencil->fields[f].role == TZ_STREAMED)
            return unsupported(error, "streamed fields have a slab for each constant step");
    for (int p = 0; p < stencil->passes_count; p++)
        for (int f = 0; f < stencil->fields_count; f++)
            if (stencil->passes[p].takes[f])
                return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                                    "dt = \"adaptive\": the field '%s' has the values of the "
                                    "iteration before, so the update is for a constant time step",
                                    stencil->fields[f].name);
    int advanced = 0;
    while (advanced < stencil->fields_count && !is_advanced(simulation, advanced))
        advanced++;
    if (adaptive->tolerance > 0 && advanced == stencil->fields_count)
        return unsupported(error, "no field that changes is of real numbers, so no step has an "
                                  "error: leave dt out, or give an output largest_dt in place of "
                                  "'tolerance'");
    if (adaptive->tolerance > 0 && seed >= 0)
        return unsupported(error, "two half steps have other random numbers than a whole one: give "
                                  "an output largest_dt in place of 'tolerance'");
    return TZ_OK;
}

/* The fields before a step that is tried, and after it: those of the stencil that are state. */
typedef struct trial {
    int64_t cells;
    double magnitude; /* the largest value of a field that is advanced */
    double *before[TZ_FIELDS_MAX], *after[TZ_FIELDS_MAX], *half;
} trial;

static void clear(trial *t)
{
    for (int f = 0; f < TZ_FIELDS_MAX; f++) {
        free(t->before[f]);
        free(t->after[f]);
    }
    free(t->half);
}

static tz_status begin_trial(tz_simulation *simulation, trial *t, tz_error *error)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    *t = (trial){.cells = tz_simulation_cells(simulation)};
    const size_t bytes = (size_t)t->cells * sizeof(double);
    tz_status status = tz__ahead_wait(simulation, error);
    t->half = malloc(bytes);
    bool room = t->half;
    for (int f = 0; f < stencil->fields_count && !status && room; f++) {
        if (stencil->fields[f].role != TZ_STATE)
            continue;
        t->before[f] = malloc(bytes);
        t->after[f] = is_advanced(simulation, f) ? malloc(bytes) : NULL;
        room = t->before[f] && (t->after[f] || !is_advanced(simulation, f));
        if (room)
            status = tz_simulation_read(simulation, f, NULL, t->before[f], error);
        for (int64_t i = 0; i < t->cells && room && t->after[f]; i++)
            t->magnitude = fmax(t->magnitude, fabs(t->before[f][i]));
    }
    return room ? status
                : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to try a time step");
}

/* Iterations with this time step, which are not counted. */
static tz_status try_steps(tz_simulation *simulation, double dt, int iterations, tz_error *error)
{
    double rest;
    const double time = tz__simulation_exact_time(simulation, &rest);
    const tz_clock clock = {dt, simulation->step, time, rest};
    tz_status status = tz_simulation_set_clock(simulation, &clock, error);
    if (!status)
        status = simulation->backend->stage(simulation->state, &simulation->plan, iterations,
                                            simulation->step, error);
    if (!status && simulation->backend->wait)
        status = simulation->backend->wait(simulation->state, error);
    return status;
}

static tz_status take_back(tz_simulation *simulation, const trial *t, tz_error *error)
{
    tz_status status = TZ_OK;
    for (int f = 0; f < TZ_FIELDS_MAX && !status; f++)
        if (t->before[f])
            status = tz_simulation_write(simulation, f, NULL, t->before[f], NULL, error);
    return status;
}

/* By how much a step and two half ones differ; infinity: one of them is not finite. */
static tz_status differ(tz_simulation *simulation, trial *t, double dt, double *largest,
                        tz_error *error)
{
    *largest = 0;
    tz_status status = try_steps(simulation, dt, 1, error);
    for (int f = 0; f < TZ_FIELDS_MAX && !status; f++)
        if (t->after[f])
            status = tz_simulation_read(simulation, f, NULL, t->after[f], error);
    if (!status)
        status = take_back(simulation, t, error);
    if (!status)
        status = try_steps(simulation, dt / 2, 2, error);
    for (int f = 0; f < TZ_FIELDS_MAX && !status; f++) {
        if (!t->after[f])
            continue;
        status = tz_simulation_read(simulation, f, NULL, t->half, error);
        for (int64_t i = 0; i < t->cells && !status; i++) {
            const double difference = fabs(t->half[i] - t->after[f][i]);
            *largest = difference <= *largest ? *largest
                       : isfinite(difference) ? difference
                                              : INFINITY;
        }
    }
    return status ? status : take_back(simulation, t, error);
}

/* Of a number between 1 and 2. A tolerance has so many of them at least. */
enum { DIGITS = 4 };
static double last_digit(const tz_simulation *simulation)
{
    return strcmp(tz_simulation_precision(simulation), "double") == 0 ? 0x1p-52 : 0x1p-23;
}

static tz_status hopeless(const tz_simulation *simulation, const tz_adaptive *adaptive, double dt,
                          tz_error *error)
{
    return tz_error_set(error, TZ_UNSTABLE, NULL,
                        "no time step down to %.3g keeps the error of a step below the tolerance "
                        "%.3g at step %lld: the fields grow without end",
                        dt, adaptive->tolerance, (long long)simulation->step);
}

/* The largest time step up to *dt that the tolerance allows, or a tenth more. */
static tz_status fit(tz_simulation *simulation, const tz_adaptive *adaptive, double *dt,
                     tz_error *error)
{
    const double first = *dt;
    double difference = INFINITY;
    trial t;
    tz_status status = begin_trial(simulation, &t, error);
    if (!status && adaptive->tolerance < DIGITS * last_digit(simulation) * t.magnitude)
        status = tz_error_set(error, TZ_RANGE, NULL,
                              "the tolerance %.3g is below what %s precision can tell of values up "
                              "to %.3g: give at least %.1g%s",
                              adaptive->tolerance, tz_simulation_precision(simulation), t.magnitude,
                              DIGITS * last_digit(simulation) * t.magnitude,
                              last_digit(simulation) > 1e-10 ? ", or precision = \"double\"" : "");
    while (!status && !(difference <= adaptive->tolerance)) {
        if (*dt < vanishing * first)
            status = hopeless(simulation, adaptive, *dt, error);
        if (!status)
            status = differ(simulation, &t, *dt, &difference, error);
        if (!status && !(difference <= adaptive->tolerance))
            *dt *= fmin(fmax(shorter * sqrt(adaptive->tolerance / difference), cut), shorter);
    }
    clear(&t);
    if (difference <= adaptive->tolerance / 2)
        *dt *= growth;
    return status;
}

static tz_status least_of_all(const tz_simulation *simulation, double *dt, tz_error *error)
{
    tz_reduction all;
    const int field = largest_field(simulation);
    if (field < 0)
        return TZ_OK;
    const tz_status status = tz_simulation_reduce(simulation, field, &all, error);
    if (status)
        return status;
    if (all.not_finite == tz_simulation_cells(simulation) || !(all.min > 0))
        return tz_error_set(error, TZ_UNSTABLE, NULL,
                            "%s is %.3g in a cell at step %lld: a time step is finite and above 0; "
                            "bound its formula with min() and max()",
                            largest_name, all.min, (long long)simulation->step);
    *dt = *dt < all.min ? *dt : all.min;
    return TZ_OK;
}

tz_status tz__adapt(tz_simulation *simulation, const tz_adaptive *adaptive, double *whole,
                    int64_t *left, tz_error *error)
{
    const tz_param *param = tz_simulation_time_step(simulation);
    const tz_clock now = tz_simulation_clock(simulation);
    double dt = *whole > 0 ? *whole : now.dt, rest;
    const double time = tz__simulation_exact_time(simulation, &rest);
    const double remains = isnan(adaptive->until) ? INFINITY : adaptive->until - time;
    if (adaptive->tolerance == 0)
        dt = param->max;
    tz_status status = least_of_all(simulation, &dt, error);
    dt = fmin(fmax(dt, param->min), param->max);
    if (!status && adaptive->tolerance > 0) {
        double fitting = fmin(dt, remains);
        status = fit(simulation, adaptive, &fitting, error);
        dt = fitting >= remains ? dt : fitting;
        dt = fmin(fmax(dt, param->min), param->max);
        if (!status)
            status = least_of_all(simulation, &dt, error);
    }
    if (status)
        return status;
    *whole = dt;
    if (isfinite(remains) && dt < vanishing * remains)
        return tz_error_set(error, TZ_UNSTABLE, NULL,
                            "the time step has fallen to %.3g at time %.6g, so %.3g would take "
                            "more than 10^12 steps: the fields grow without end, or `min` of the "
                            "time step is missing",
                            dt, time, adaptive->until);
    if (isfinite(remains)) {
        const double steps = fmax(ceil(remains / dt * (1 - TZ_TIMES_ALIKE)), 1);
        const int64_t next = adaptive->every - simulation->step % adaptive->every;
        *left = steps < (double)(INT64_MAX / 4) ? (int64_t)steps : INT64_MAX / 4;
        if (*left <= next)
            dt = remains / steps;
    }
    const tz_clock clock = {dt, simulation->step, time, rest};
    return tz_simulation_set_clock(simulation, &clock, error);
}
