#include "base/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct tz_shared_file {
    int fd;
    char path[PATH_MAX];
};

/* ---- Folders --------------------------------------------------------------------------------- */

/* What rank 0 leaves in the folder for the others to find. */
typedef struct sign {
    char path[PATH_MAX]; /* "": it could not */
    long long number[2];
} sign;

static void leave_sign(const char *folder, sign *s)
{
    struct timespec now;
    char whole[PATH_MAX];
    clock_gettime(CLOCK_REALTIME, &now);
    s->number[0] = now.tv_sec;
    s->number[1] = now.tv_nsec;
    if (!realpath(folder, whole) || snprintf(s->path, sizeof s->path, "%s/.ranks-%ld", whole,
                                             (long)getpid()) >= (int)sizeof s->path) {
        s->path[0] = '\0';
        return;
    }
    const int fd = open(s->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, s->number, sizeof s->number) != (ssize_t)sizeof s->number)
        s->number[0] = -1;
    if (fd >= 0)
        close(fd);
}

static bool sees_sign(const sign *s)
{
    long long found[2] = {0, 0};
    const int fd = s->path[0] ? open(s->path, O_RDWR | O_CLOEXEC) : -1;
    const bool same = fd >= 0 && read(fd, found, sizeof found) == (ssize_t)sizeof found &&
                      memcmp(found, s->number, sizeof found) == 0;
    if (fd >= 0)
        close(fd);
    return same;
}

bool tz_shared_folder(const char *path, const tz_ranks *ranks, char *why, size_t size)
{
    sign s = {.path = ""};
    tz_error error = {0};
    if (tz_ranks_leads(ranks))
        leave_sign(path, &s);
    tz_ranks_agree(ranks, &s, sizeof s);
    tz_status status = TZ_OK;
    if (!sees_sign(&s))
        status =
            tz_error_set(&error, TZ_IO, NULL, "does not see the folder %.200s of rank 0", s.path);
    status = tz_ranks_agree_status(ranks, status, &error);
    if (tz_ranks_leads(ranks) && s.path[0])
        unlink(s.path);
    snprintf(why, size, "%s", error.message);
    return status == TZ_OK;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static tz_status open_own(tz_shared_file *shared, tz_atomic_file *file, tz_error *error)
{
    if (!file)
        shared->fd = open(shared->path, O_WRONLY | O_CLOEXEC);
    else if (fflush(tz_atomic_stream(file)) == 0 && fsync(fileno(tz_atomic_stream(file))) == 0)
        shared->fd = dup(fileno(tz_atomic_stream(file)));
    return shared->fd >= 0 ? TZ_OK : tz_error_set_errno(error, errno, shared->path, "cannot write");
}

tz_status tz_shared_file_open(tz_shared_file **out, tz_atomic_file *file, const tz_ranks *ranks,
                              tz_error *error)
{
    *out = NULL;
    tz_shared_file *shared = calloc(1, sizeof *shared);
    tz_status status = shared ? TZ_OK : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    if (!status) {
        shared->fd = -1;
        const char *name = file ? tz_atomic_name(file, error) : NULL;
        if (file && !name)
            status = TZ_IO;
        else if (file && !realpath(name, shared->path))
            status = tz_error_set_errno(error, errno, name, "cannot write");
    }
    status = tz_ranks_agree_status(ranks, status, error);
    if (!status) {
        tz_ranks_agree(ranks, shared->path, sizeof shared->path);
        if (file)
            status = open_own(shared, file, error);
        status = tz_ranks_agree_status(ranks, status, error);
        if (!status && !file)
            status = open_own(shared, NULL, error);
        status = tz_ranks_agree_status(ranks, status, error);
    }
    if (status) {
        if (shared && shared->fd >= 0)
            close(shared->fd);
        free(shared);
        return status;
    }
    *out = shared;
    return TZ_OK;
}

tz_status tz_shared_file_write(tz_shared_file *file, int64_t offset, const void *data, size_t bytes,
                               tz_error *error)
{
    for (const char *from = data; bytes > 0;) {
        const ssize_t put = pwrite(file->fd, from, bytes, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return tz_error_set_errno(error, put < 0 ? errno : EIO, file->path, "cannot write");
        from += put;
        offset += put;
        bytes -= (size_t)put;
    }
    return TZ_OK;
}

tz_status tz_shared_file_close(tz_shared_file *file, const tz_ranks *ranks, tz_status status,
                               tz_error *error)
{
    if (!status && fsync(file->fd) != 0 && errno != EINVAL && errno != ENOTSUP)
        status = tz_error_set_errno(error, errno, file->path, "cannot write");
    /* Some file systems say only now that the disk is full. */
    if (close(file->fd) != 0 && !status)
        status = tz_error_set_errno(error, errno, file->path, "cannot write");
    free(file);
    return tz_ranks_agree_status(ranks, status, error);
}
