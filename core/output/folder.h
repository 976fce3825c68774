/* The folder of one run: frames, tables, run.json, a copy of the scenario and the log. */
#ifndef TZ_CORE_OUTPUT_FOLDER_H
#define TZ_CORE_OUTPUT_FOLDER_H

#include "base/error.h"
#include "sim/checkpoint_file.h"
#include <stddef.h>
#include <stdint.h>

typedef struct tz_folder tz_folder;

/* Make the folder `wanted`, which must be empty if it exists; or, if that is NULL,
 * "runs/NAME-NNN" in the working folder, with the first free number. Runs that start at the same
 * time get different numbers. Writes the scenario's bytes to scenario.lua and opens log.txt.
 * TZ_IO, TZ_RANGE (the path), TZ_MEMORY. End with tz_folder_destroy. */
tz_status tz_folder_create(tz_folder **out, const char *wanted, const char *name,
                           const char *scenario, size_t scenario_bytes, tz_error *error);
/* Open the folder of a run that has ended, to go on with it. TZ_IO: there is none, or the run still
 * goes on. */
tz_status tz_folder_open(tz_folder **out, const char *path, tz_error *error);
/* Closes the log, and removes the temporary files of killed runs in the folders beside it. NULL is
 * fine. */
void tz_folder_destroy(tz_folder *folder);

/* Does a process write this folder now? It holds a lock on log.txt. */
bool tz_folder_is_in_use(const char *path);

const char *tz_folder_path(const tz_folder *folder);

/* Write "FOLDER/name" to `text`. TZ_RANGE when `name` is empty, longer than 120 bytes, begins with
 * '.', or holds a '/', a control character, or a word in braces. */
tz_status tz_folder_join(const tz_folder *folder, const char *name, char *text, size_t size,
                         tz_error *error);
/* Check a name as tz_folder_join does. */
tz_status tz_folder_check_name(const char *name, tz_error *error);

/* Append one line to log.txt (a failure to write is not reported). */
void tz_folder_log(tz_folder *folder, const char *line);
/* The size of log.txt, and making it that size again. */
int64_t tz_folder_log_bytes(const tz_folder *folder);
void tz_folder_cut_log(tz_folder *folder, int64_t bytes);

/* The checkpoints in the folder of a run: FOLDER/checkpoint holds two files, "1" and "2", written
 * in turns, the journal of the script, and what receivers have recorded (output/recording.h). */
#define TZ_RECORDING_PREFIX "receivers-"

enum { TZ_CHECKPOINT_SLOTS = 2 };

/* "FOLDER/checkpoint/NAME". Returns `text`. */
const char *tz_checkpoints_path(const char *folder, const char *name, char *text, size_t size);
/* The path of file `slot`, 0 or 1. */
const char *tz_checkpoints_file(const char *folder, int slot, char *text, size_t size);

/* The slots of the files that are there and whose facts can be read, the newest first. Returns
 * how many there are. *why, unless NULL, becomes the fault of one that cannot be read; code
 * TZ_OK: none. */
int tz_checkpoints_list(const char *folder, int slots[TZ_CHECKPOINT_SLOTS], tz_error *why);

/* Open the newest of which the facts can be read, to look at these. TZ_IO: there is none. */
tz_status tz_checkpoints_newest(tz_checkpoint_reader **out, const char *folder, tz_error *error);

/* Make the folder for them. TZ_IO. */
tz_status tz_checkpoints_make(const char *folder, tz_error *error);
/* Remove all of it. */
void tz_checkpoints_remove(const char *folder);

#endif
