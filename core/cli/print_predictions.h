/* Prediction tables as text, CSV, JSON and a picture. */
#ifndef TZ_CORE_CLI_PRINT_PREDICTIONS_H
#define TZ_CORE_CLI_PRINT_PREDICTIONS_H

#include "base/named.h"
#include "predict/prediction_table.h"
#include <jansson.h>
#include <stdio.h>

enum { TZ_TEXT_SIZE = 96 };

/* "1.25 ms", four digits. */
void tz_format_seconds(double seconds, char *text, size_t size);
/* The unit in which a time of `seconds` or more is at least 1, and the factor to convert to it. */
const char *tz_time_unit(double seconds, double *scale);

/* The device's title, or its name if it has none. */
const char *tz_workload_title(const tz_workload *workload);
/* Print CSV columns, each with its comma: stencil, nx, ny, nz, precision, boundary and device; or
 * sustained_s and power_w, empty when unknown. */
void tz_print_csv_workload(const tz_workload *workload);
void tz_print_csv_power(const tz_model_prediction *prediction);
/* Print the last column, "NAME=SECONDS;…", and end the line. */
void tz_print_csv_components(const tz_model_prediction *prediction);
/* Print it in lines that are indented, with 9 digits a number. */
void tz_print_json(const json_t *json);
/* Sets numbers. NaN and infinity are no JSON: they are left out. */
void tz_json_set_reals(json_t *object, const tz_named_double *values, size_t count);
/* A new object with the keys that predict and tune share. */
json_t *tz_workload_json(const tz_workload *workload);

/* What is predicted, for which device and by which model (NULL: several): two lines. */
void tz_print_workload(const tz_workload *workload, const char *model);
/* What matters first: the best plan, its time, its limit, what is assumed. */
void tz_prediction_table_sum_up(const tz_workload *workload, const tz_prediction_table *table);
/* All of it. `all`: include heights that are much slower than the best. `first`: begin with the CSV header. */
void tz_prediction_table_print(const tz_workload *workload, const tz_prediction_table *table,
                               bool all);
void tz_prediction_table_print_csv(const tz_workload *workload, const tz_prediction_table *table,
                                   bool first);
json_t *tz_prediction_table_json(const tz_workload *workload, const tz_prediction_table *table);

/* One table: the components of the best plan of each height, stacked. Several: a line for each. */
tz_status tz_prediction_table_plot(const tz_workload *workload, tz_prediction_table *const *tables,
                                   int count, const char *path, tz_error *error);

#endif
