/* Calls the cell and row functions of a stencil with made-up values, to see that they do what the
 * stencil declares. */
#ifndef TZ_CORE_STENCIL_PROBE_H
#define TZ_CORE_STENCIL_PROBE_H

#include "base/error.h"
#include <stdbool.h>
#include <trapeze/plugin.h>

/* What a cell function was seen to read of a field: the lowest and highest offsets. */
typedef struct tz_probe_seen {
    bool is_read;
    bool read_when_written; /* after it had been written in the same cell */
    int low[TZ_AXES], high[TZ_AXES];
} tz_probe_seen;

/* Each pass and output, in each precision, on many cells:
 *
 *   - the cell function reads what is declared (tz_stencil_reads(), and nothing beyond the pass's
 *     radius) and writes exactly the fields of `writes`, in every cell;
 *   - the row functions that this machine can run write the same bits as the cell function, but for
 *     NaNs, which may differ.
 *
 * Constants are the stencil's defaults, with real ones varied, and integers that are 0 or 1
 * exchanged. TZ_PLUGIN: the message is one line, with the pass, the field and the offset. A
 * division by an integer zero, which made-up values may cause, is no fault.
 *
 * Calls derive(). One thread at a time. */
tz_status tz_probe_stencil(const tz_stencil *stencil, const char *path, tz_error *error);

/* The same in a child process, so that this one's signals are left alone and no fault of a function
 * ends it. [any thread] Also TZ_MEMORY and TZ_IO: there is no child. */
tz_status tz_probe_stencil_apart(const tz_stencil *stencil, const char *path, tz_error *error);

/* The cell function of one pass or output alone, in one precision. `seen`: one for each field, or
 * NULL. */
tz_status tz_probe_cell(const tz_stencil *stencil, const tz_pass *pass, tz_precision precision,
                        const char *path, tz_probe_seen *seen, tz_error *error);

#endif
