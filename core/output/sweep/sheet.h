/* What a sweep has found, in its folder: summary.csv, and the contact sheet index.html. */
#ifndef TZ_CORE_OUTPUT_SWEEP_SHEET_H
#define TZ_CORE_OUTPUT_SWEEP_SHEET_H

#include "output/sweep/grid.h"

#define TZ_SWEEP_TABLE "summary.csv"
#define TZ_SWEEP_SHEET "index.html"

/* How the run in a point's folder stands: "done", "stagnated", "failed", …, as in run.json, or
 * "killed"; "" if there is none. */
void tz_sweep_status(const char *folder, char *text, size_t size);
/* The run is over and need not be repeated. */
bool tz_sweep_is_finished(const char *status);

/* Write both files, in place of older ones, from the points' folders in `folder`. `script`: its name. `failures`: for
 * each point why it could not be run, or NULL. TZ_IO, TZ_MEMORY. */
tz_status tz_sweep_write(const char *folder, const char *script, const tz_sweep_grid *grid,
                         char *const *failures, tz_error *error);

#endif
