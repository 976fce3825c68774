/* What run.json says of a run, as text. */
#ifndef TZ_CORE_CLI_PRINT_RUN_H
#define TZ_CORE_CLI_PRINT_RUN_H

#include "base/facts.h"
#include <jansson.h>
#include <stdio.h>

/* The text of a key, or "?". */
const char *tz_json_text(const json_t *object, const char *key);

/* All of each simulation. */
void tz_print_run(tz_facts *facts, const json_t *record);

/* What matters first: stencil, device, plan, files. `by`: who chose a backend that is not
 * "auto". */
void tz_print_run_summary(FILE *out, const json_t *record, const char *by);

#endif
