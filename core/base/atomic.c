#include "base/atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 17, NAME_KEPT = 180, ATTEMPTS = 10000 };

struct tz_atomic_file {
    FILE *stream;
    char *path;
    char *temporary;
    char *buffer;
    int write_errno; /* errno of the first write that failed; 0: none */
    bool replace;
};

static tz_status exists_already(tz_error *error, const char *path)
{
    return tz_error_set(error, TZ_IO, path,
                        "the file exists already and is not overwritten; remove it or choose "
                        "another name");
}

static void file_free(tz_atomic_file *file)
{
    if (file->stream)
        fclose(file->stream);
    free(file->buffer);
    free(file->temporary);
    free(file->path);
    free(file);
}

/* Open the first `.NAME.tmp-PID-N` that does not exist; -1 with errno. O_EXCL prevents that two
 * threads get the same name. */
static int open_temporary(tz_atomic_file *file)
{
    const char *slash = strrchr(file->path, '/');
    const int directory = slash ? (int)(slash - file->path) + 1 : 0;
    const char *name = file->path + directory;
    const size_t size = strlen(file->path) + 64;
    file->temporary = malloc(size);
    if (!file->temporary)
        return -1;
    for (int n = 0; n < ATTEMPTS; n++) {
        snprintf(file->temporary, size, "%.*s.%.*s.tmp-%ld-%d", directory, file->path, NAME_KEPT,
                 name, (long)getpid(), n);
        const int fd = open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

tz_status tz_atomic_open(tz_atomic_file **out, const char *path, bool replace, tz_error *error)
{
    *out = NULL;
    struct stat facts;
    if (lstat(path, &facts) == 0) {
        if (S_ISDIR(facts.st_mode))
            return tz_error_set_errno(error, EISDIR, path, "cannot write");
        if (!replace)
            return exists_already(error, path);
    }
    tz_atomic_file *file = calloc(1, sizeof *file);
    if (!file)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory to open the file");
    file->replace = replace;
    file->path = strdup(path);
    file->buffer = malloc(BUFFER_BYTES);
    if (!file->path || !file->buffer) {
        file_free(file);
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory to open the file");
    }
    const int fd = open_temporary(file);
    file->stream = fd >= 0 ? fdopen(fd, "w+b") : NULL;
    if (!file->stream) {
        tz_error_set_errno(error, errno, path, "cannot write");
        if (fd >= 0) {
            close(fd);
            unlink(file->temporary);
        }
        file_free(file);
        return TZ_IO;
    }
    setvbuf(file->stream, file->buffer, _IOFBF, BUFFER_BYTES);
    *out = file;
    return TZ_OK;
}

FILE *tz_atomic_stream(tz_atomic_file *file)
{
    return file->stream;
}

const char *tz_atomic_path(const tz_atomic_file *file)
{
    return file->path;
}

tz_status tz_atomic_write(tz_atomic_file *file, const void *data, size_t bytes, tz_error *error)
{
    errno = 0;
    if (bytes == 0 || fwrite(data, 1, bytes, file->stream) == bytes)
        return TZ_OK;
    if (!file->write_errno)
        file->write_errno = errno ? errno : EIO;
    return tz_error_set_errno(error, file->write_errno, file->path, "cannot write");
}

/* Rename unless the target exists: 0, or -1 with errno (EEXIST). */
static int rename_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
        return -1;
    /* The file system does not know the flag. A hard link, too, fails if the name exists. */
    if (link(from, to) == 0) {
        unlink(from);
        return 0;
    }
    if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS && errno != EMLINK)
        return -1;
    /* The file system has no hard links. Create an empty target, which fails if it exists, and
     * rename over it. */
    const int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    close(fd);
    if (rename(from, to) == 0)
        return 0;
    const int kept = errno;
    unlink(to);
    errno = kept;
    return -1;
}

/* Write everything to the disk and close; 0 or an errno. */
static int flush(tz_atomic_file *file)
{
    errno = 0;
    if (fflush(file->stream) != 0 || ferror(file->stream))
        return file->write_errno ? file->write_errno : errno ? errno : EIO;
    if (file->write_errno)
        return file->write_errno;
    if (fsync(fileno(file->stream)) != 0 && errno != EINVAL && errno != ENOTSUP)
        return errno;
    FILE *stream = file->stream;
    file->stream = NULL;
    return fclose(stream) == 0 ? 0 : errno;
}

tz_status tz_atomic_commit(tz_atomic_file *file, tz_error *error)
{
    tz_status status = TZ_OK;
    const int reason = flush(file);
    if (reason) {
        status = tz_error_set_errno(error, reason, file->path, "cannot write");
    } else if ((file->replace ? rename(file->temporary, file->path)
                              : rename_new(file->temporary, file->path)) != 0) {
        status = errno == EEXIST ? exists_already(error, file->path)
                                 : tz_error_set_errno(error, errno, file->path, "cannot write");
    }
    if (status != TZ_OK)
        unlink(file->temporary);
    file_free(file);
    return status;
}

void tz_atomic_abort(tz_atomic_file *file)
{
    if (!file)
        return;
    unlink(file->temporary);
    file_free(file);
}

tz_status tz_make_dirs(const char *path, tz_error *error)
{
    char *partial = strdup(path);
    if (!partial)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory to make the directory");
    tz_status status = TZ_OK;
    for (char *end = partial; *end && status == TZ_OK;) {
        end += strspn(end, "/");
        end += strcspn(end, "/");
        const char kept = *end;
        *end = '\0';
        struct stat facts;
        if (partial[0] && mkdir(partial, 0777) != 0) {
            const int reason = errno;
            if (stat(partial, &facts) != 0)
                status = tz_error_set_errno(error, reason, partial, "cannot make the directory");
            else if (!S_ISDIR(facts.st_mode))
                status = tz_error_set_errno(error, ENOTDIR, partial, "cannot make the directory");
        }
        *end = kept;
    }
    free(partial);
    return status;
}
