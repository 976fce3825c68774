/* run.json: what a run was made of and how it went. Gathered as the run goes, written whole.
 *
 * The functions that add facts never fail by themselves: memory that ran out is reported by
 * tz_record_write. Simulations are numbered from 0 in the order in which they were made. */
#ifndef TZ_CORE_OUTPUT_RUN_RECORD_H
#define TZ_CORE_OUTPUT_RUN_RECORD_H

#include "base/machine.h"
#include "sim/simulation.h"

typedef struct tz_record tz_record;

/* `arguments`: the command line as given. `args`: the --set pairs, NAME=VALUE. */
tz_status tz_record_create(tz_record **out, const char *scenario, int arguments_count,
                           const char *const *arguments, size_t sets_count, const char *const *sets,
                           const tz_machine *machine, tz_error *error);
void tz_record_destroy(tz_record *record); /* NULL is fine */

/* Note (again) everything that the simulation itself can say. */
void tz_record_simulation(tz_record *record, size_t index, const char *name,
                          const char *plugin_path, const tz_simulation *simulation);

/* Where a field's values came from: "323.15", "power.npy", "function at a.lua:7"; replaces what was
 * said before unless `append`. `seed` NULL: no random numbers were used. */
void tz_record_source(tz_record *record, size_t index, const char *field, const char *source,
                      const uint64_t *seed, bool append);

/* An output: its file or pattern ("temperature-NNNNNN.png"), kind, interval (0: written once by
 * hand) and how many files or rows it has written. Notes the same pattern again by replacing. */
void tz_record_output(tz_record *record, size_t index, const char *pattern, const char *kind,
                      int64_t every, int64_t count);

/* Files that belong to no simulation. */
void tz_record_file(tz_record *record, const char *name);

/* Write the file (replacing an older one) with that status ("running", "done", "failed",
 * "interrupted") and, unless NULL, the error's line. */
tz_status tz_record_write(tz_record *record, const char *path, const char *status,
                          const char *failure, tz_error *error);

#endif
