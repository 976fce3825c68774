/* The points of a sweep, which are all combinations of the values of its axes; and what it has
 * found, in its folder: summary.csv, and the contact sheet index.html. */
#ifndef TZ_CORE_OUTPUT_SWEEP_SHEET_H
#define TZ_CORE_OUTPUT_SWEEP_SHEET_H

#include "base/paths.h"
#include <stdbool.h>

enum {
    TZ_SWEEP_AXES_MAX = 8,
    TZ_SWEEP_POINTS_MAX = 10000,
    TZ_SWEEP_AXIS_SIZE = 32,  /* of an axis' name, with its end */
    TZ_SWEEP_POINT_SIZE = 208 /* the same of a point's */
};

typedef struct tz_sweep_axis {
    char name[TZ_SWEEP_AXIS_SIZE];
    tz_paths values; /* as --set takes them */
    tz_paths labels; /* the same as parts of file names; they differ, also without case */
} tz_sweep_axis;

/* Zero-initialise; release with tz_sweep_grid_clear. Axes are in the order of their names. The last
 * one changes from point to point. */
typedef struct tz_sweep_grid {
    tz_sweep_axis axes[TZ_SWEEP_AXES_MAX];
    size_t count;
} tz_sweep_grid;

/* Add an axis. Errors: TZ_RANGE (the name is none of [A-Za-z_][A-Za-z0-9_]*, or taken; no values; a
 * value is empty, not finite, has a control character, or is there twice; too many axes or points),
 * TZ_MEMORY. */
tz_status tz_sweep_grid_add(tz_sweep_grid *grid, const char *name, const char *const *values,
                            size_t count, tz_error *error);
void tz_sweep_grid_clear(tz_sweep_grid *grid);

bool tz_sweep_grid_has(const tz_sweep_grid *grid, const char *name);
size_t tz_sweep_grid_points(const tz_sweep_grid *grid);
const char *tz_sweep_grid_value(const tz_sweep_grid *grid, size_t point, size_t axis);
/* "h=2,power=1.5": the name of the point's folder, unlike those of all others. */
void tz_sweep_grid_name(const tz_sweep_grid *grid, size_t point, char text[TZ_SWEEP_POINT_SIZE]);

#define TZ_SWEEP_FACTS "sweep.json"
#define TZ_SWEEP_TABLE "summary.csv"
#define TZ_SWEEP_SHEET "index.html"

/* How the run in a point's folder stands: "done", "stagnated", "failed", …, as in run.json, or
 * "killed"; "" if there is none. */
void tz_sweep_status(const char *folder, char *text, size_t size);
/* The run is over and need not be repeated. */
bool tz_sweep_is_finished(const char *status);

/* Write both files, in place of older ones, from the points' folders in `folder`. `script`: its
 * name. `failures`: for each point why it could not be run, or NULL. TZ_IO, TZ_MEMORY. */
tz_status tz_sweep_write(const char *folder, const char *script, const tz_sweep_grid *grid,
                         char *const *failures, tz_error *error);

#endif
