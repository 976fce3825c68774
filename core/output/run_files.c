/* The files of a run, and the threads that write them. */
#include "output/run_files.h"

#include <string.h>
#include <unistd.h>

enum { PICTURES_WAITING = 8, OUTPUTS_WAITING = 64, CORES_PER_PICTURE = 4, RECORD_BYTES = 64 << 10 };

/* Room for the last run.json, and the threads. */
static tz_status prepare(tz_run_files *files, int cores, tz_error *error)
{
    char path[PATH_MAX];
    if (tz_folder_join(files->folder, "run.json", path, sizeof path, error) == TZ_OK &&
        tz_atomic_open(&files->room, path, true, NULL) == TZ_OK)
        tz_atomic_reserve(files->room, RECORD_BYTES);
    const tz_status status =
        tz_job_queue_create(&files->pictures, PICTURES_WAITING, cores / CORES_PER_PICTURE, error);
    return status ? status : tz_job_queue_create(&files->snapshots, OUTPUTS_WAITING, 1, error);
}

tz_status tz_run_files_reopen(tz_run_files *files, const char *path, int cores, tz_error *error)
{
    files->goes_on = true;
    tz_status status = tz_folder_open(&files->folder, path, error);
    if (!status)
        status = prepare(files, cores, error);
    files->open = status == TZ_OK;
    return status;
}

tz_status tz_run_files_path(const tz_run_files *files, const char *name, char *path, size_t size,
                            tz_error *error)
{
    const tz_status status = tz_folder_join(files->folder, name, path, size, error);
    if (!status && files->goes_on)
        unlink(path);
    return status;
}

tz_status tz_run_files_open(tz_run_files *files, const char *wanted, const char *text, size_t bytes,
                            int cores, tz_error *error)
{
    tz_status status =
        tz_folder_create(&files->folder, wanted, files->scenario, text, bytes, error);
    if (!status)
        status = prepare(files, cores, error);
    files->open = status == TZ_OK;
    return status;
}

static void free_room(tz_run_files *files)
{
    tz_atomic_abort(files->room);
    files->room = NULL;
}

tz_status tz_run_files_write_record(tz_run_files *files, const char *status, const char *failure,
                                    tz_error *error)
{
    char path[PATH_MAX];
    const tz_status joined = tz_folder_join(files->folder, "run.json", path, sizeof path, error);
    if (strcmp(status, "running") != 0)
        free_room(files);
    return joined != TZ_OK ? joined : tz_record_write(files->record, path, status, failure, error);
}

static tz_status draw(void *frame, tz_error *error)
{
    return tz_frame_draw(frame, error);
}

static void release(void *frame)
{
    tz_frame_destroy(frame);
}

tz_status tz_run_files_draw(const tz_run_files *files, tz_frame *frame, tz_error *error)
{
    const tz_job job = {draw, release, frame};
    if (!files->pictures) { /* no run: it is drawn at once */
        const tz_status status = draw(frame, error);
        release(frame);
        return status;
    }
    return tz_job_queue_push(files->pictures, &job, error);
}

tz_status tz_run_files_settle(const tz_run_files *files, tz_error *error)
{
    return files->snapshots ? tz_job_queue_settle(files->snapshots, error) : TZ_OK;
}

tz_status tz_run_files_finish(tz_run_files *files, tz_error *error)
{
    tz_error settled;
    /* Outputs hand pictures on, so they end first. */
    tz_job_queue_destroy(files->snapshots, &settled);
    files->snapshots = NULL;
    const tz_status status = tz_job_queue_destroy(files->pictures, error);
    files->pictures = NULL;
    return status;
}

void tz_run_files_clear(tz_run_files *files)
{
    tz_error ignored;
    tz_run_files_finish(files, &ignored);
    free_room(files);
    tz_folder_destroy(files->folder);
    tz_record_destroy(files->record);
    *files = (tz_run_files){.scenario = NULL};
}
