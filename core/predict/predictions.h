/* Forecasts: the time of every plan worth considering, by a model, and which one is best. */
#ifndef TZ_CORE_PREDICT_PREDICTIONS_H
#define TZ_CORE_PREDICT_PREDICTIONS_H

#include "backend/backend.h"
#include "model/model.h"

enum { TZ_PREDICTIONS_MAX = 512 };

typedef struct tz_predicted_plan {
    tz_plan plan;
    tz_model_work work;
    tz_model_prediction prediction;
} tz_predicted_plan;

typedef struct tz_predictions {
    int count, best; /* best: index of the fastest in a long run (model/power.h) */
    tz_predicted_plan *plans;
    double seconds;   /* that it took, without compiling */
    char reason[160]; /* of the best: "h 8: issue slots 81 %, registers limit ... to 12 warps" */
} tz_predictions;

/* Every candidate that keeps what `given` names. What is not compiled is compiled, by up to 16 of
 * place->threads at once: all of it with TZ_EFFORT_COMPILE; with TZ_EFFORT_CACHED what others are
 * estimated from, then what may be best; none is begun after 8 s. The best is always one that is
 * compiled. Errors: TZ_UNSUPPORTED (the backend cannot tell, the record
 * lacks a number: names it), TZ_RANGE. */
tz_status tz_predictions_create(tz_predictions **out, const tz_problem *problem,
                                const tz_backend *backend, const tz_place *place,
                                const tz_plan *given, tz_effort effort, tz_error *error);
/* Is plan `a`, predicted to take a_s seconds an iteration, to be taken where `best` is predicted to
 * be the fastest of all? On a CPU the higher of plans within 2 %: what no model sees there (others
 * that fill a shared cache, threads that wait for each other) costs once a stage. */
bool tz_predictions_is_preferred(const tz_plan *a, double a_s, const tz_plan *best, double best_s,
                                 bool on_cpu);

void tz_predictions_destroy(tz_predictions *predictions); /* NULL is fine */

#endif
