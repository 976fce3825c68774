/* A report of a run: one HTML file with what its folder holds. It needs no network and no other
 * file. */
#ifndef TZ_CORE_OUTPUT_REPORT_REPORT_H
#define TZ_CORE_OUTPUT_REPORT_REPORT_H

#include "base/paths.h"

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

#endif
