/* Prediction tables as text, CSV, JSON and a picture. */
#ifndef TZ_CORE_CLI_PRINT_PREDICTIONS_H
#define TZ_CORE_CLI_PRINT_PREDICTIONS_H

#include "cli/command.h"
#include "output/frame/plot.h"
#include "predict/sheets.h"

/* The device's title, or its name if it has none. */
const char *tz_workload_title(const tz_workload *workload);
/* ", 4 of them" and the link; nothing for one device. */
void tz_print_devices(const tz_workload *workload);
/* The cell of a plan's tile: "64 x 32". */
tz_cell tz_plan_tile_cell(const tz_plan *plan, int dims);

/* What is predicted, for which device and by which model (NULL: several): two lines. */
void tz_print_workload(const tz_workload *workload, const char *model);
/* What matters first: the best plan, its time, its limit, what is assumed. */
void tz_prediction_table_sum_up(const tz_workload *workload, const tz_prediction_table *table);
/* All of it. `all`: include heights that are much slower than the best. `first`: begin with the CSV
 * header. */
void tz_prediction_table_print(const tz_workload *workload, const tz_prediction_table *table,
                               bool all);
void tz_prediction_table_print_csv(const tz_workload *workload, const tz_prediction_table *table,
                                   bool first);
json_t *tz_prediction_table_json(const tz_workload *workload, const tz_prediction_table *table);
void tz_jump_print(const tz_workload *workload, const tz_prediction_table *table,
                   const tz_jump_prediction *jump);

/* What pictures of times by height have in common. */
void tz_workload_plot(tz_plot *plot, const tz_workload *workload, const char *unit);
/* One table: the components of the best plan of each height, stacked. Several: a line for each. */
tz_status tz_prediction_table_plot(const tz_workload *workload, tz_prediction_table *const *tables,
                                   int count, const char *path, tz_error *error);

#endif
