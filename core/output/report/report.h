/* A report of a run: one HTML file with what its folder holds. It needs no network and no other
 * file. */
#ifndef TZ_CORE_OUTPUT_REPORT_REPORT_H
#define TZ_CORE_OUTPUT_REPORT_REPORT_H

#include "base/paths.h"
#include <stdint.h>

#define TZ_REPORT_NAME "report.html"

enum { TZ_REPORT_PICTURES_MIB = 32 /* the usual limit */ };

/* Write the report of the run in `folder` to the file `path`, replacing an older one. The run may
 * have ended in any way, or go on.
 *
 * The report holds at most `pictures_mib` MiB of picture files; of more, it has every k-th of
 * each series, and says so. Pictures and tables that are missing or damaged are left out: a line
 * for each is added to `notes`, and to the report.
 *
 * TZ_IO (no folder of a run; the file cannot be written), TZ_FORMAT (run.json is damaged, or no
 * record that this version reads), TZ_RANGE, TZ_MEMORY. */
tz_status tz_report_write(const char *folder, const char *path, int pictures_mib, tz_paths *notes,
                          tz_error *error);

/* What a report shows, as JSON, and the pictures that it has. Release it with json_decref(), also
 * after an error. */
struct json_t;
tz_status tz_report_collect(const char *folder, int pictures_mib, tz_paths *notes,
                            tz_paths *pictures, struct json_t **out, tz_error *error);

/* Compare runs, the first with each of the others: the same of all of them under "runs", and under
 * "differences" those of their fields, in the last frames (.npy) of a common step, or of `step`
 * (-1: any), else in their last checkpoints. The folders and their parts are as for a report. */
tz_status tz_compare_collect(const char *const *folders, size_t count, int64_t step,
                             tz_paths *notes, tz_paths *pictures, struct json_t **out,
                             tz_error *error);
/* Write its page, in place of an older one. TZ_IO, TZ_MEMORY. */
tz_status tz_compare_write(const struct json_t *facts, const tz_paths *pictures, const char *path,
                           tz_error *error);

#endif
