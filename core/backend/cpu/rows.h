/* What row functions cost: timed on this machine, or counted from the text of the cell update. */
#ifndef TZ_CORE_BACKEND_CPU_ROWS_H
#define TZ_CORE_BACKEND_CPU_ROWS_H

#include "stencil/footprint.h"

/* The cells that slabs 0 to slabs - 1, computed at once, read of row number `row` of slab number
 * `slab`, as in a row of tz_footprint. A slab is a plane in 3-D, else a row. */
uint32_t tz_rows_read(const tz_footprint *found, int dims, int field, int slabs, int slab, int row);

/* A row function, and the slabs that it computes at once. */
typedef struct tz_rows_call {
    const tz_problem *problem;
    const tz_pass *pass;
    tz_row_fn *function;
    int slabs;
} tz_rows_call;

/* Seconds of a call for a span, repeated, so that its rows are in the first-level cache if they fit
 * there. Measured once in a process, in less than a millisecond. Any thread. TZ_MEMORY. */
tz_status tz_rows_time(const tz_rows_call *call, int64_t count, int64_t rows, double *seconds,
                       tz_error *error);

/* Instructions of a cell update, as its text has them: additions, products, fused ones, ... and
 * divisions and roots. A text that is made of macros has more than are found. */
typedef struct tz_operations {
    double plain, special;
} tz_operations;
tz_operations tz_operations_count(const tz_pass *pass);

#endif
