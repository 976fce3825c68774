/* What run.json says of a run, as text. */
#ifndef TZ_CORE_CLI_PRINT_RUN_H
#define TZ_CORE_CLI_PRINT_RUN_H

#include "cli/command.h"

/* The plan of the most steps, or NULL. Others are remainders and trials. */
const json_t *tz_main_plan(const json_t *simulation);

/* All of each simulation. */
void tz_print_run(tz_facts *facts, const json_t *record);

/* What matters first: stencil, device, plan, files. `by`: who chose a backend that is not
 * "auto". */
void tz_print_run_summary(FILE *out, const json_t *record, const char *by);

#endif
