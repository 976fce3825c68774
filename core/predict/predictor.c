/* Finds predictors by name, and reads requests for them. predict, tz.predict and tune call it. */
#include "predict/predictor.h"

#include "base/names.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PREDICTORS_MAX = 16 };

static bool lists(const tz_predictor *predictor)
{
    return predictor->list != NULL;
}

bool tz_predictor_measures(const tz_predictor *predictor)
{
    return predictor->measure != NULL;
}

tz_status tz_predictor_find(const char *name, bool for_tune, const tz_predictor **out,
                            tz_error *error)
{
    const char *names[PREDICTORS_MAX];
    char hint[160], listing[160];
    size_t count = 0;
    for (int i = 0; tz_predictors[i] && count < PREDICTORS_MAX; i++) {
        if (for_tune && !lists(tz_predictors[i]))
            continue;
        *out = tz_predictors[i];
        names[count++] = (*out)->name;
        if (strcmp(name, (*out)->name) == 0)
            return TZ_OK;
    }
    if (!for_tune)
        return tz_error_set(error, TZ_UNKNOWN, "model", "unknown model '%.60s'%s%s", name,
                            tz_names_hint(hint, sizeof hint, name, names, count),
                            tz_predictors_left_out);
    tz_predictor_names(lists, " or ", listing, sizeof listing);
    if (count == 0)
        return tz_error_set(error, TZ_UNKNOWN, "model", "tuning takes no model, not '%.60s'%s",
                            name, tz_predictors_left_out);
    return tz_error_set(error, TZ_UNKNOWN, "model",
                        "tuning takes the model %s, which %s, not '%.60s'", listing, (*out)->does,
                        name);
}

void tz_predictor_names(bool (*has)(const tz_predictor *predictor), const char *between, char *text,
                        size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; tz_predictors[i] && used < size; i++)
        if (has(tz_predictors[i]))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? between : "",
                                     tz_predictors[i]->name);
}

void tz_prediction_option_set(tz_prediction_request *request, int option, const double *values,
                              int count)
{
    request->options |= 1u << option;
    for (int i = 0; i < TZ_MODEL_AXES; i++)
        request->value[option][i] = i < count ? values[i] : 0;
}

const char *tz_predictor_excess(const tz_prediction_request *request)
{
    const tz_plan *given = &request->given;
    if (request->all || request->compile || request->quick)
        return request->all ? "all" : request->compile ? "compile" : "quick";
    if (request->steps > 0)
        return "steps";
    for (int i = 0; tz_predictor_options[i].name; i++)
        if ((request->options & ~request->by->options) >> i & 1)
            return tz_predictor_options[i].name;
    return given->height > 0       ? "height"
           : given->family[0]      ? "family"
           : request->block[0] > 0 ? "block"
                                   : tz_plan_first_knob(given);
}

void tz_plan_list_clear(tz_plan_list *list)
{
    free(list->plans);
    free(list->chosen);
    *list = (tz_plan_list){NULL};
}
