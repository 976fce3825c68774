/* The files of one run: its folder, its record run.json, and the threads that write files while the
 * run goes on. */
#ifndef TZ_CORE_OUTPUT_RUN_FILES_H
#define TZ_CORE_OUTPUT_RUN_FILES_H

#include "base/atomic.h"
#include "base/job_queue.h"
#include "output/folder.h"
#include "output/frame/frame.h"
#include "output/run_record.h"

/* Begin with a zeroed struct that holds `scenario` and `record`. */
typedef struct tz_run_files {
    const char *scenario;    /* its name, borrowed */
    tz_record *record;       /* owned */
    bool open;               /* tz_run_files_open has succeeded */
    tz_folder *folder;       /* owned; NULL until tz_run_files_open */
    tz_atomic_file *room;    /* on the disk, for the last run.json; owned, NULL if there is none */
    tz_job_queue *pictures;  /* draws pictures; owned, NULL until then */
    tz_job_queue *snapshots; /* writes outputs from snapshots, in order; owned, NULL until then */
    bool goes_on;            /* files may be there from after the checkpoint: they are replaced */
} tz_run_files;

/* Make the folder (tz_folder_create) with a copy of the scenario's text, and start the threads.
 * `cores` of the machine: where there are many, several pictures are drawn at once. */
tz_status tz_run_files_open(tz_run_files *files, const char *wanted, const char *text, size_t bytes,
                            int cores, tz_error *error);

/* The same in the folder of a run that has ended, to go on with it (tz_folder_open). */
tz_status tz_run_files_reopen(tz_run_files *files, const char *path, int cores, tz_error *error);

/* The path of a file in the folder. If the run goes on from a checkpoint, a file of that name from
 * after the checkpoint is removed. Errors: tz_folder_join. */
tz_status tz_run_files_path(const tz_run_files *files, const char *name, char *path, size_t size,
                            tz_error *error);

/* Write run.json, replacing it. Room for the last one is kept from the start: a run whose disk is
 * full still says so. `status` and `failure`: as tz_record_write. */
tz_status tz_run_files_write_record(tz_run_files *files, const char *status, const char *failure,
                                    tz_error *error);

/* Let another thread draw the frame and free it, or this one if `files` are not open. Takes the
 * frame in any case. The error may be that of an earlier frame. */
tz_status tz_run_files_draw(const tz_run_files *files, tz_frame *frame, tz_error *error);

/* Wait for every output that is written from a snapshot. Returns the first error, and only once. */
tz_status tz_run_files_settle(const tz_run_files *files, tz_error *error);

/* End the threads after their last file. Returns the error of the first picture that failed; call
 * tz_run_files_settle before for the errors of other outputs. */
tz_status tz_run_files_finish(tz_run_files *files, tz_error *error);

/* Finish, close the folder, free the record. */
void tz_run_files_clear(tz_run_files *files);

#endif
