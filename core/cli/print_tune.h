/* Results of tuning as text, CSV, JSON and a picture. */
#ifndef TZ_CORE_CLI_PRINT_TUNE_H
#define TZ_CORE_CLI_PRINT_TUNE_H

#include "predict/tune.h"
#include <jansson.h>

/* `all`: every plan; else the fastest of each family and height, and the predicted one. */
void tz_tune_print(const tz_workload *workload, const tz_tune *tune, bool all);
void tz_tune_print_csv(const tz_workload *workload, const tz_tune *tune);
json_t *tz_tune_json(const tz_workload *workload, const tz_tune *tune);

/* Measured times as points, predicted ones as lines, by height and family. */
tz_status tz_tune_plot(const tz_workload *workload, const tz_tune *tune, const char *path,
                       tz_error *error);

#endif
