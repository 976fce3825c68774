/* kernels/cpu: which parts of rows lie in the domain of a stencil (tz_field.excludes), so that the
 * others are left out, and cells far from its edge are computed without asking. Made once; families
 * ask for the runs of a row. */
#ifndef TZ_KERNELS_CPU_DOMAIN_H
#define TZ_KERNELS_CPU_DOMAIN_H

#include "kernels/cpu/stage.h"

/* Of cells, and of all that they read. */
typedef enum tz_domain_kind {
    TZ_DOMAIN_OUTSIDE, /* no cell is in the domain */
    TZ_DOMAIN_EDGE,    /* of all kinds */
    TZ_DOMAIN_INNER    /* all cells, and all that they read, are in it */
} tz_domain_kind;

/* A map of the grid, malloc'd: free() it. `mask` is the domain's field, read up to `radius` cells
 * away. NULL: not enough memory. */
tz_domain *tz_domain_create(const tz_stage *stage, const tz_host_field *mask, int radius);

/* Elements of some rows, half open, within the grid. */
typedef struct tz_domain_rows {
    int64_t x_low, x_high, y_low, y_high, z_low, z_high;
} tz_domain_rows;

/* The rows from y and z on are alike from `x` up to the element that it returns, at most
 * rows->x_high. */
int64_t tz_domain_run(const tz_domain *domain, const tz_domain_rows *rows, int64_t x,
                      tz_domain_kind *kind);

#endif
