/* run.json: what a run computed, how, and how it ended.
 *
 * Functions that add facts do not fail; tz_record_write reports when memory ran out. Simulations
 * are numbered from 0 in the order of their creation. */
#ifndef TZ_CORE_OUTPUT_RUN_RECORD_H
#define TZ_CORE_OUTPUT_RUN_RECORD_H

#include "base/error.h"
#include "base/machine.h"
#include "sim/simulated_time.h"

typedef struct tz_record tz_record;

/* `scenario`: the script's path. `arguments`: the command line. `sets`: its --set pairs,
 * NAME=VALUE. TZ_MEMORY. */
tz_status tz_record_create(tz_record **out, const char *scenario, int arguments_count,
                           const char *const *arguments, size_t sets_count, const char *const *sets,
                           const tz_machine *machine, tz_error *error);
void tz_record_destroy(tz_record *record); /* NULL is fine */

/* Record everything that can be read from the simulation. Another call replaces the record.
 * `definition`: the cell text of a stencil that the scenario defines, else NULL. */
void tz_record_simulation(tz_record *record, size_t index, const char *name,
                          const char *plugin_path, const char *definition,
                          const tz_simulation *simulation);

/* Record where a field's values came from: "323.15", "power.npy", "function at a.lua:7". Replaces
 * the sources recorded before unless `append`. `seed` NULL: no random numbers. */
void tz_record_source(tz_record *record, size_t index, const char *field, const char *source,
                      const uint64_t *seed, bool append);

/* Record an output: its file or pattern ("temperature-NNNNNN.png"), kind, interval (zeros: written
 * by sim:write alone) and number of files or rows. Replaces what was recorded for the pattern. */
void tz_record_output(tz_record *record, size_t index, const char *pattern, const char *kind,
                      const tz_interval *every, int64_t count);

/* Record a file that belongs to no simulation. */
void tz_record_file(tz_record *record, const char *name);

/* Record the run with whose fields a simulation began, its step, and where they were: "checkpoint"
 * or "npy". */
void tz_record_parent(tz_record *record, size_t index, const char *folder, int64_t step,
                      const char *kind);

/* Record what a person did to the run from outside, a JSON object, which is taken (NULL: no
 * memory). */
void tz_record_intervention(tz_record *record, struct json_t *entry);

/* All of it as JSON, as it is now; NULL: not enough memory. Release it with json_decref(). */
struct json_t *tz_record_copy(const tz_record *record);
/* Make it what such a copy says. False: that is no record. */
bool tz_record_replace(tz_record *record, const struct json_t *root);

/* Write the file, replacing an older one, with that status ("running", "done", "stagnated",
 * "failed", "interrupted") and, unless NULL, the error's line. If memory runs out or the disk is
 * full, a file that says "running" becomes one that says "failed". */
tz_status tz_record_write(tz_record *record, const char *path, const char *status,
                          const char *failure, tz_error *error);

/* The last resort: a file that says "running" says another status. Takes no memory, no room on
 * the disk and no lock. */
void tz_record_mark_interrupted(const char *path);

/* Reading run.json, which run_record.h writes. */

struct json_t; /* jansson.h */

/* Read FOLDER/run.json; release it with json_decref(). TZ_IO: the folder has none. TZ_FORMAT,
 * TZ_RANGE, TZ_MEMORY. */
tz_status tz_run_load_record(const char *folder, struct json_t **out, tz_error *error);

#endif
