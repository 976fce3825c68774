/* What a prediction says about several devices. */
#ifndef TZ_CORE_CLI_PRINT_DEVICES_H
#define TZ_CORE_CLI_PRINT_DEVICES_H

#include "predict/prediction_table.h"
#include <jansson.h>

/* These print or add nothing for one device. */

/* ", 4 of them, joined by nvlink: ..." */
void tz_print_devices(const tz_workload *workload);
/* Columns of a table of plans, and their heads. */
void tz_print_exchange_heads(const tz_workload *workload);
void tz_print_exchange(const tz_workload *workload, const tz_prediction_table *table,
                       const tz_prediction_row *row);
/* Lines about the best plan: exchanges, efficiency, from which grid on more devices gain. */
void tz_print_scaling(const tz_workload *workload, const tz_prediction_table *table);

void tz_devices_json(const tz_workload *workload, const tz_prediction_table *table, json_t *object);
void tz_exchange_json(const tz_workload *workload, const tz_prediction_table *table,
                      const tz_prediction_row *row, json_t *object);

#endif
