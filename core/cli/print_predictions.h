/* Prediction tables as text, CSV, JSON and a picture. */
#ifndef TZ_CORE_CLI_PRINT_PREDICTIONS_H
#define TZ_CORE_CLI_PRINT_PREDICTIONS_H

#include "predict/prediction_table.h"
#include <jansson.h>
#include <stdio.h>

enum { TZ_TEXT_SIZE = 96 };

/* "1.25 ms", four digits. */
void tz_format_seconds(double seconds, char *text, size_t size);
/* Print the CSV columns sustained_s and power_w, each with its comma; empty when unknown. */
void tz_print_power(const tz_model_prediction *prediction);

/* `all`: with the heights that are much slower than the best, too. `first`: with the CSV header. */
void tz_prediction_table_print(const tz_workload *workload, const tz_prediction_table *table,
                               bool all);
void tz_prediction_table_print_csv(const tz_workload *workload, const tz_prediction_table *table,
                                   bool first);
json_t *tz_prediction_table_json(const tz_workload *workload, const tz_prediction_table *table);

/* One table: the components of the best plan of each height, stacked. Several: a line for each. */
tz_status tz_prediction_table_plot(const tz_workload *workload, tz_prediction_table *const *tables,
                                   int count, const char *path, tz_error *error);

#endif
