/* Opens, fills and publishes a file by link or rename. Called by whatever writes a file:
 * core/output, core/base/cache.c, core/calibrate, core/sim for checkpoints, core/cli. */
#include "base/atomic.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 17, NAME_KEPT = 180, ATTEMPTS = 10000 };

struct tz_atomic_file {
    FILE *stream;
    char *path;
    char *temporary; /* NULL: the file has no name yet */
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

/* ---- Files without a name ------------------------------------------------------------------ */

/* Open a file in the target's folder that has no name: if this process dies, nothing is left of it.
 * -1 where the file system knows no such files, or where they could not get a name later. */
static int open_unnamed(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    if (!folder)
        return -1;
    int fd = -1;
    if (access("/proc/self/fd", X_OK) == 0)
        fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    free(folder);
    return fd;
}

/* Give it a name; -1 with errno, EEXIST if there is such a file. */
static int give_name(int fd, const char *path)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

/* ---- Temporary names ------------------------------------------------------------------------- */

/* Write the n-th temporary name, `.NAME.tmp-PID-N`, to file->temporary. */
static bool name_temporary(tz_atomic_file *file, int n)
{
    const char *slash = strrchr(file->path, '/');
    const int directory = slash ? (int)(slash - file->path) + 1 : 0;
    const size_t size = strlen(file->path) + 64;
    if (!file->temporary)
        file->temporary = malloc(size);
    if (file->temporary)
        snprintf(file->temporary, size, "%.*s.%.*s.tmp-%ld-%d", directory, file->path, NAME_KEPT,
                 file->path + directory, (long)getpid(), n);
    return file->temporary;
}

/* Is that a name which name_temporary() made? */
static bool is_temporary(const char *name)
{
    const char *tail = name[0] == '.' ? strstr(name, ".tmp-") : NULL;
    for (const char *next = tail; next && (next = strstr(next + 1, ".tmp-"));)
        tail = next;
    if (!tail)
        return false;
    tail += 5;
    const size_t pid = strspn(tail, "0123456789");
    if (pid == 0 || tail[pid] != '-')
        return false;
    const char *number = tail + pid + 1;
    return *number && number[strspn(number, "0123456789")] == '\0';
}

/* Open the first temporary name that does not exist; -1 with errno. O_EXCL prevents that two
 * threads get the same name. The lock tells tz_atomic_sweep() that the file is in use. */
static int open_temporary(tz_atomic_file *file)
{
    for (int n = 0; n < ATTEMPTS; n++) {
        struct stat facts;
        if (!name_temporary(file, n))
            return -1;
        const int fd = open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno == EEXIST)
            continue;
        if (fd < 0)
            return -1;
        flock(fd, LOCK_EX | LOCK_NB);
        if (fstat(fd, &facts) != 0 || facts.st_nlink > 0)
            return fd;
        close(fd); /* swept before it was locked */
    }
    return -1;
}

void tz_atomic_sweep(const char *folder)
{
    DIR *entries = opendir(folder);
    if (!entries)
        return;
    for (const struct dirent *entry; (entry = readdir(entries));) {
        struct stat facts;
        if (!is_temporary(entry->d_name))
            continue;
        const int fd = openat(dirfd(entries), entry->d_name,
                              O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        if (fd < 0)
            continue;
        if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0)
            unlinkat(dirfd(entries), entry->d_name, 0);
        close(fd);
    }
    closedir(entries);
}

/* ---- Opening --------------------------------------------------------------------------------- */

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
    int fd = open_unnamed(file->path);
    if (fd < 0)
        fd = open_temporary(file);
    file->stream = fd >= 0 ? fdopen(fd, "w+b") : NULL;
    if (!file->stream) {
        tz_error_set_errno(error, errno, path, "cannot write");
        if (fd >= 0) {
            close(fd);
            if (file->temporary)
                unlink(file->temporary);
        }
        file_free(file);
        return TZ_IO;
    }
    setvbuf(file->stream, file->buffer, _IOFBF, BUFFER_BYTES);
    *out = file;
    return TZ_OK;
}

void tz_atomic_reserve(tz_atomic_file *file, size_t bytes)
{
    while (bytes > 0 && fallocate(fileno(file->stream), 0, 0, (off_t)bytes) != 0)
        bytes = errno == EINTR ? bytes : bytes / 2;
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

/* Write everything to the disk; 0 or an errno. */
static int flush(tz_atomic_file *file)
{
    errno = 0;
    if (fflush(file->stream) != 0 || ferror(file->stream))
        return file->write_errno ? file->write_errno : errno ? errno : EIO;
    if (file->write_errno)
        return file->write_errno;
    return fsync(fileno(file->stream)) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
}

/* Give a file without a name a temporary one; -1 with errno. It is locked before others see it. */
static int take_temporary(tz_atomic_file *file)
{
    flock(fileno(file->stream), LOCK_EX | LOCK_NB);
    for (int n = 0; n < ATTEMPTS; n++) {
        if (!name_temporary(file, n))
            return -1;
        if (give_name(fileno(file->stream), file->temporary) == 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    const int reason = errno;
    free(file->temporary);
    file->temporary = NULL;
    errno = reason;
    return -1;
}

const char *tz_atomic_name(tz_atomic_file *file, tz_error *error)
{
    if (!file->temporary && take_temporary(file) != 0)
        tz_error_set_errno(error, errno, file->path, "cannot write");
    return file->temporary;
}

/* Let the target appear: 0, or -1 with errno. The file stays open, and so locked, until then. */
static int publish(tz_atomic_file *file)
{
    if (!file->temporary && !file->replace)
        return give_name(fileno(file->stream), file->path);
    if (!file->temporary && take_temporary(file) != 0)
        return -1;
    return file->replace ? rename(file->temporary, file->path)
                         : rename_new(file->temporary, file->path);
}

tz_status tz_atomic_commit(tz_atomic_file *file, tz_error *error)
{
    tz_status status = TZ_OK;
    const int reason = flush(file);
    if (reason) {
        status = tz_error_set_errno(error, reason, file->path, "cannot write");
    } else if (publish(file) != 0) {
        status = errno == EEXIST ? exists_already(error, file->path)
                                 : tz_error_set_errno(error, errno, file->path, "cannot write");
    }
    if (status != TZ_OK && file->temporary)
        unlink(file->temporary);
    file_free(file);
    return status;
}

void tz_atomic_abort(tz_atomic_file *file)
{
    if (!file)
        return;
    if (file->temporary)
        unlink(file->temporary);
    file_free(file);
}

tz_status tz_atomic_end(tz_atomic_file *file, tz_status status, tz_error *error)
{
    if (status == TZ_OK)
        return tz_atomic_commit(file, error);
    tz_atomic_abort(file);
    return status;
}

tz_status tz_atomic_save(const char *path, bool replace, const void *data, size_t bytes,
                         tz_error *error)
{
    tz_atomic_file *file;
    const tz_status status = tz_atomic_open(&file, path, replace, error);
    return status ? status : tz_atomic_end(file, tz_atomic_write(file, data, bytes, error), error);
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
