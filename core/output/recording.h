/* What receivers record, as a file of the run folder: a row for each step, a column for each point.
 * Rows that are many, or that a checkpoint needs, go into a file beside the checkpoints first, from
 * which a run that goes on takes them. */
#ifndef TZ_CORE_OUTPUT_RECORDING_H
#define TZ_CORE_OUTPUT_RECORDING_H

#include "output/format/format.h"
#include "output/run_files.h"
#include "sim/points.h"

typedef struct tz_recording {
    struct tz_recording *next;
    tz_receivers *receivers; /* the simulation's */
    char file[128];          /* that is written at the end; "": none */
    char part[64];           /* the file beside the checkpoints */
    FILE *stream;            /* of it; NULL: there is none */
    bool needed;             /* by a checkpoint */
    int64_t kept;            /* rows in it; the others are in memory */
} tz_recording;

/* The format of a file by its name: TZ_UNKNOWN lists those that are possible; TZ_UNSUPPORTED: its
 * library is missing. */
tz_status tz_recording_format(const char *name, const tz_format **out, tz_error *error);

/* Rows that have been brought in (tz_simulation_receive). */
int64_t tz_recording_rows(const tz_recording *recording);
/* Copy rows, points.count values each. TZ_IO. */
tz_status tz_recording_read(tz_recording *recording, int64_t first, int64_t rows, double *values,
                            tz_error *error);
/* Move what is in memory into that file, if it is more than `most` bytes; `sync`: it is then
 * on the disk. The folder is open. TZ_IO. */
tz_status tz_recording_keep(tz_recording *recording, const tz_run_files *files, size_t most,
                            bool sync, tz_error *error);
/* Begin with so many rows of that file. TZ_IO, TZ_FORMAT. */
tz_status tz_recording_go_on(tz_recording *recording, const tz_run_files *files, int64_t rows,
                             tz_error *error);
/* Write all rows to `path`, which must not exist; it appears whole. Without rows nothing is
 * written. Errors: of tz_grid_file. */
tz_status tz_recording_write(tz_recording *recording, const char *path, tz_error *error);
/* Frees it, and removes its file unless a checkpoint may need it. */
void tz_recording_close(tz_recording *recording, const tz_run_files *files);

#endif
