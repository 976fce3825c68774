/* Predictions: the predicted time of every candidate, and the best one. */
#ifndef TZ_CORE_PREDICT_PREDICTIONS_H
#define TZ_CORE_PREDICT_PREDICTIONS_H

#include "backend/backend.h"
#include "model/model.h"

enum { TZ_PREDICTIONS_MAX = 512 };

typedef struct tz_predicted_plan {
    tz_plan plan;
    tz_model_work work;
    tz_model_prediction prediction;
    /* Seconds of an iteration in a long run, as estimated before it was compiled; 0: not known */
    double estimate_s;
} tz_predicted_plan;

typedef struct tz_predictions {
    int count, best; /* best: index of the fastest (tz_predictions_time) */
    tz_predicted_plan *plans;
    int64_t iterations; /* of the runs that are predicted; 0: a long run */
    int long_count;     /* plans that were left out because their code would be very long */
    double seconds;     /* to make them, without compiling */
    char reason[160];   /* for the best: "h 8: issue slots 81 %, registers limit ... to 12 warps" */
} tz_predictions;

typedef struct tz_predictions_watch {
    /* Told of each plan when it is compiled and predicted: by any thread, one at a time. */
    void (*compiled)(void *context, const tz_predicted_plan *plan);
    void *context;
    /* With TZ_EFFORT_CACHED: seconds after which only plans are compiled whose estimate is better
     * than the best; 0: no limit, so that the answer does not depend on the machine's speed. */
    double budget_s;
    /* Plans are compiled that are expected to take up to so many times the best; 0: 1; INFINITY:
     * all, but those with very long code. */
    double margin;
    /* Iterations of the run, up to its next output or end; 0: a long run. The best plan is the one
     * with the shortest time for so many: full stages and a shorter last one. Higher plans are not
     * considered, unless the height is given. */
    int64_t iterations;
} tz_predictions_watch;

/* Predict every candidate that keeps the members set in `given`. Up to 16 of place->threads compile
 * kernels at once:
 *
 *   TZ_EFFORT_COMPILE  all kernels
 *   TZ_EFFORT_CACHED   those that may be best by their estimates. Plans with very long code are
 *                      left out.
 *   TZ_EFFORT_KNOWN    none but the base family's, from which all are estimated
 *
 * The best plan is always a compiled one, but with TZ_EFFORT_KNOWN. `watch`: NULL: none. Errors:
 * TZ_UNSUPPORTED (the backend cannot count work, or the device's record lacks a number: the message
 * names it), TZ_RANGE, TZ_INTERRUPTED. */
tz_status tz_predictions_create(tz_predictions **out, const tz_problem *problem,
                                const tz_backend *backend, const tz_place *place,
                                const tz_plan *given, tz_effort effort,
                                const tz_predictions_watch *watch, tz_error *error);
/* The same of the plans of a list, all compiled. Plans that are refused are left out. */
tz_status tz_predictions_create_listed(tz_predictions **out, const tz_problem *problem,
                                       const tz_backend *backend, const tz_place *place,
                                       const tz_plan *plans, int count, tz_error *error);
/* Seconds of an iteration of plan `i`, in the mean over a run of f->iterations. A stage of r
 * iterations takes as long as one of height r of the same kind of plan; between known heights,
 * times of stages are interpolated. */
double tz_predictions_time(const tz_predictions *predictions, int i);
/* Whether plan `a`, predicted to take a_s seconds an iteration, is preferred to `best`. best_s is
 * the shortest predicted time. On a CPU the higher of two plans within TZ_FIT_ALIKE is preferred:
 * costs that the model does not include (other programs in a shared cache, threads that wait for
 * each other) occur once a stage. In 3-D of two of the same family and width the one with more rows
 * is preferred, whatever the heights: others of these costs occur once a row, or once a plane. */
bool tz_predictions_is_preferred(const tz_plan *a, double a_s, const tz_plan *best, double best_s,
                                 bool on_cpu);

void tz_predictions_destroy(tz_predictions *predictions); /* NULL is fine */

/* ---- For tests: another function can take the model's place ---------------------------------- */

typedef tz_status tz__predict_fn(const tz_model_work *work, const tz_model_device *device,
                                 tz_model_prediction *prediction, tz_error *error);

/* tz_predictions_create() with another model. */
tz_status tz__predictions_create_by(tz_predictions **out, tz__predict_fn *predict,
                                    const tz_problem *problem, const tz_backend *backend,
                                    const tz_place *place, const tz_plan *given, tz_effort effort,
                                    const tz_predictions_watch *watch, tz_error *error);

#endif
