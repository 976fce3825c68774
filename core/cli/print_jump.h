/* A prediction of jumps as text and JSON. */
#ifndef TZ_CORE_CLI_PRINT_JUMP_H
#define TZ_CORE_CLI_PRINT_JUMP_H

#include "predict/jump.h"
#include <jansson.h>

void tz_jump_print(const tz_workload *workload, const tz_prediction_table *table,
                   const tz_jump_prediction *jump);
json_t *tz_jump_json(const tz_workload *workload, const tz_prediction_table *table,
                     const tz_jump_prediction *jump);

#endif
