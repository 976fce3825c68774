/* The suite: groups of cases on all cores, a line each, and a table at the end. */
#ifndef TZ_SIMT_SUITE_H
#define TZ_SIMT_SUITE_H

#include "cases.h"

/* Runs all groups in `workers` processes, which a kernel may bring down. Returns how many went
 * wrong; 1 if nothing was compared. */
int simt_suite_run(const simt_groups *groups, int workers);

#endif
