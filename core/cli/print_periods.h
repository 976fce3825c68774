/* The periods of luo2011 as text and JSON. */
#ifndef TZ_CORE_CLI_PRINT_PERIODS_H
#define TZ_CORE_CLI_PRINT_PERIODS_H

#include "predict/prediction_table.h"
#include <jansson.h>

/* What was measured, if anything was. */
void tz_print_measured(const tz_prediction_table *table);
/* A table for each pass. Equal periods that follow each other are one line. Nothing for other
 * models. */
void tz_print_periods(const tz_prediction_table *table);
/* Sets "passes": for each its P, CPD and periods; and "measured". Nothing for other models. */
void tz_periods_json(const tz_prediction_table *table, json_t *object);

#endif
