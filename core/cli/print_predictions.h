/* Prediction tables as text, CSV, JSON and a picture. */
#ifndef TZ_CORE_CLI_PRINT_PREDICTIONS_H
#define TZ_CORE_CLI_PRINT_PREDICTIONS_H

#include "predict/prediction_table.h"
#include <jansson.h>
#include <stdio.h>

enum { TZ_SAY_SIZE = 96 };

/* "1.25 ms", four digits. */
void tz_say_seconds(double seconds, char *text, size_t size);
/* The columns sustained_s and power_w, each with its comma; empty where nothing is known. */
void tz_say_power(const tz_model_prediction *prediction);

/* `all`: with the long tail of slow heights. `first`: with the line of column names. */
void tz_prediction_table_print(const tz_workload *workload, const tz_prediction_table *table,
                               bool all);
void tz_prediction_table_print_csv(const tz_workload *workload, const tz_prediction_table *table,
                                   bool first);
json_t *tz_prediction_table_json(const tz_workload *workload, const tz_prediction_table *table);

/* Components stacked, of the best plan of each height; or, of several models, a line each. */
tz_status tz_prediction_table_plot(const tz_workload *workload, tz_prediction_table *const *tables,
                                   int count, const char *path, tz_error *error);

#endif
