/* The checkpoints in the folder of a run: FOLDER/checkpoint holds two files, "1" and "2", written in
 * turns, and the journal of the script. */
#ifndef TZ_CORE_OUTPUT_CHECKPOINTS_H
#define TZ_CORE_OUTPUT_CHECKPOINTS_H

#include "sim/checkpoint_file.h"
#include <stddef.h>

enum { TZ_CHECKPOINT_SLOTS = 2 };

/* "FOLDER/checkpoint/NAME". Returns `text`. */
const char *tz_checkpoints_path(const char *folder, const char *name, char *text, size_t size);
/* The path of file `slot`, 0 or 1. */
const char *tz_checkpoints_file(const char *folder, int slot, char *text, size_t size);

/* The slots of the files that are there and whose facts can be read, the newest first. Returns how many
 * there are. *why, unless NULL, becomes the fault of one that cannot be read; code TZ_OK: none. */
int tz_checkpoints_list(const char *folder, int slots[TZ_CHECKPOINT_SLOTS], tz_error *why);

/* Open the newest of which the facts can be read, to look at these. TZ_IO: there is none. */
tz_status tz_checkpoints_newest(tz_checkpoint_reader **out, const char *folder, tz_error *error);

/* Make the folder for them. TZ_IO. */
tz_status tz_checkpoints_make(const char *folder, tz_error *error);
/* Remove all of them, with the journal. */
void tz_checkpoints_remove(const char *folder);

#endif
