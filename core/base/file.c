/* Opens and reads regular files, and sums their bytes. Called by core/output/format, core/lua,
 * core/sim for checkpoints, core/stencil for plugins, core/cli. */
#include "base/file.h"

#include "base/machine.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* NULL for a regular file, otherwise what it is. */
static const char *kind_of(const struct stat *facts)
{
    switch (facts->st_mode & S_IFMT) {
    case S_IFREG:
        return NULL;
    case S_IFDIR:
        return "a directory";
    case S_IFIFO:
        return "a named pipe";
    case S_IFSOCK:
        return "a socket";
    case S_IFCHR:
    case S_IFBLK:
        return "a device";
    default:
        return "something else";
    }
}

static tz_status check_kind(const char *path, const struct stat *facts, tz_error *error)
{
    const char *kind = kind_of(facts);
    return kind
               ? tz_error_set(error, TZ_IO, path, "cannot read: it is %s, not a regular file", kind)
               : TZ_OK;
}

tz_status tz_file_open(const char *path, int *descriptor, size_t *bytes, tz_error *error)
{
    struct stat facts;
    *descriptor = -1;
    /* Opening a device can have an effect, so it is not even tried. The file may change between the
     * two checks: then opening without waiting and the second check hold. */
    if (stat(path, &facts) != 0)
        return tz_error_set_errno(error, errno, path, "cannot open");
    tz_status status = check_kind(path, &facts, error);
    if (status)
        return status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return tz_error_set_errno(error, errno, path, "cannot open");
    status = fstat(fd, &facts) == 0 ? check_kind(path, &facts, error)
                                    : tz_error_set_errno(error, errno, path, "cannot open");
    if (status) {
        close(fd);
        return status;
    }
    *descriptor = fd;
    if (bytes)
        *bytes = (size_t)facts.st_size;
    return TZ_OK;
}

tz_status tz_file_go_on(const char *path, const char *what, int64_t bytes, int *descriptor,
                        tz_error *error)
{
    struct stat facts;
    char cannot[64];
    snprintf(cannot, sizeof cannot, "cannot go on with the %s", what);
    *descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (*descriptor < 0 || fstat(*descriptor, &facts) != 0)
        return tz_error_set_errno(error, errno, path, cannot);
    if (S_ISREG(facts.st_mode) && facts.st_size >= bytes)
        return TZ_OK;
    return tz_error_set(error, TZ_IO, path,
                        "the %s had %lld bytes when the checkpoint was written, and has %lld now: "
                        "it cannot go on",
                        what, (long long)bytes, (long long)facts.st_size);
}

/* To `to`, or else from `from`. */
static size_t move(int file, char *to, const char *from, size_t bytes, int64_t offset)
{
    size_t done = 0;
    while (done < bytes) {
        const off_t at = (off_t)offset + (off_t)done;
        const ssize_t moved = to ? pread(file, to + done, bytes - done, at)
                                 : pwrite(file, from + done, bytes - done, at);
        if (moved == 0)
            errno = to ? 0 : ENOSPC;
        if (moved == 0 || (moved < 0 && errno != EINTR))
            break;
        done += moved > 0 ? (size_t)moved : 0;
    }
    return done;
}

size_t tz_file_get(int file, void *data, size_t bytes, int64_t offset)
{
    return move(file, data, NULL, bytes, offset);
}

size_t tz_file_put(int file, const void *data, size_t bytes, int64_t offset)
{
    return move(file, NULL, data, bytes, offset);
}

/* ---- Compressed files ------------------------------------------------------------------------ */

enum { INFLATE_BYTES = 1 << 16, GZIP = 31 };

/* What inflate_all() works on. */
typedef struct inflation {
    const char *path;
    int from, to;
    int64_t at, end; /* of the compressed bytes */
    size_t limit, bytes;
    bool members; /* of gzip there may be several, one after the other */
    z_stream z;
    unsigned char in[INFLATE_BYTES], out[INFLATE_BYTES];
} inflation;

static tz_status more_input(inflation *f, tz_error *error)
{
    const int64_t left = f->end - f->at;
    const size_t wanted = left < INFLATE_BYTES ? (size_t)left : INFLATE_BYTES;
    const size_t got = tz_file_get(f->from, f->in, wanted, f->at);
    if (got < wanted && errno)
        return tz_error_set_errno(error, errno, f->path, "cannot read");
    if (got == 0)
        return tz_error_set(error, TZ_FORMAT, f->path, "truncated: its compressed data has no end");
    f->at += (int64_t)got;
    f->z.next_in = f->in;
    f->z.avail_in = (uInt)got;
    return TZ_OK;
}

static tz_status inflate_all(inflation *f, tz_error *error)
{
    for (;;) {
        tz_status status = f->z.avail_in == 0 ? more_input(f, error) : TZ_OK;
        if (status)
            return status;
        f->z.next_out = f->out;
        f->z.avail_out = sizeof f->out;
        const int code = inflate(&f->z, Z_NO_FLUSH);
        const size_t made = sizeof f->out - f->z.avail_out;
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return code == Z_MEM_ERROR
                       ? tz_error_set(error, TZ_MEMORY, f->path, "not enough memory to inflate it")
                       : tz_error_set(error, TZ_FORMAT, f->path, "its compressed data is corrupt");
        if (made > f->limit - f->bytes)
            return tz_error_set(error, TZ_RANGE, f->path,
                                "is compressed, and has more than the %zu bytes that are read",
                                f->limit);
        if (tz_file_put(f->to, f->out, made, (int64_t)f->bytes) != made)
            return tz_error_set_errno(error, errno, f->path, "cannot be inflated into memory");
        f->bytes += made;
        if (code != Z_STREAM_END)
            continue;
        if (!f->members || (f->z.avail_in == 0 && f->at == f->end))
            return TZ_OK;
        if (f->z.avail_in == 0)
            status = more_input(f, error);
        if (status || f->z.next_in[0] != 0x1f) /* blocks of tapes end with zeros */
            return status;
        inflateReset(&f->z);
    }
}

tz_status tz_file_inflate(const char *path, int file, int64_t offset, int64_t length, int format,
                          size_t limit, int *out, size_t *bytes, tz_error *error)
{
    const int64_t available = tz_machine_memory_available();
    const size_t room = available > 0 ? (size_t)available / 2 : 0; /* a reader needs it, too */
    inflation *f = calloc(1, sizeof *f);
    tz_status status = TZ_OK;
    *out = memfd_create("inflated", MFD_CLOEXEC);
    if (!f || *out < 0 || inflateInit2(&f->z, format) != Z_OK) {
        status = tz_error_set(error, TZ_MEMORY, path, "not enough memory to inflate it");
        goto cleanup;
    }
    f->path = path;
    f->from = file;
    f->to = *out;
    f->at = offset;
    f->end = offset + length;
    f->limit = limit < room ? limit : room;
    f->members = format == GZIP;
    status = inflate_all(f, error);
    *bytes = f->bytes;
    inflateEnd(&f->z);
cleanup:
    free(f);
    if (status && *out >= 0) {
        close(*out);
        *out = -1;
    }
    return status;
}

/* Open a file; of one that gzip has compressed a file in memory with what it holds. */
static tz_status open_inflated(const char *path, size_t limit, int *fd, size_t *bytes,
                               tz_error *error)
{
    unsigned char magic[3];
    int plain;
    size_t size;
    tz_status status = tz_file_open(path, fd, &size, error);
    if (status == TZ_OK && tz_file_get(*fd, magic, sizeof magic, 0) == sizeof magic &&
        memcmp(magic, "\x1f\x8b\x08", sizeof magic) == 0) {
        plain = *fd;
        status = tz_file_inflate(path, plain, 0, (int64_t)size, GZIP, limit, fd, &size, error);
        close(plain);
    }
    if (bytes)
        *bytes = status == TZ_OK ? size : 0;
    return status;
}

tz_status tz_file_stream(const char *path, FILE **stream, size_t *bytes, tz_error *error)
{
    int fd;
    *stream = NULL;
    const tz_status status = open_inflated(path, SIZE_MAX, &fd, bytes, error);
    if (status)
        return status;
    *stream = fdopen(fd, "rb");
    if (!*stream) {
        close(fd);
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory to open the file");
    }
    return TZ_OK;
}

/* ---- Whole files ----------------------------------------------------------------------------- */

/* Read an open file, which is closed. */
static tz_status read_all(const char *path, int fd, size_t size, size_t limit, char **out,
                          size_t *bytes, tz_error *error)
{
    char *data = NULL;
    tz_status status = TZ_OK;
    if (size > limit) {
        status = tz_error_set(error, TZ_RANGE, path, "%zu bytes are too many; at most %zu are read",
                              size, limit);
        goto cleanup;
    }
    /* Linux grants more memory than there is and ends the process when it is touched. */
    if ((int64_t)size < tz_machine_memory_available())
        data = malloc(size + 1);
    if (!data) {
        status = tz_error_set(error, TZ_MEMORY, path, "%zu bytes do not fit in memory", size);
        goto cleanup;
    }
    *bytes = tz_file_get(fd, data, size, 0); /* less if the file has become shorter */
    if (*bytes < size && errno) {
        *bytes = 0;
        status = tz_error_set_errno(error, errno, path, "cannot read");
        goto cleanup;
    }
    data[*bytes] = '\0';
    *out = data;
    data = NULL;
cleanup:
    free(data);
    close(fd);
    return status;
}

tz_status tz_file_read(const char *path, size_t limit, char **out, size_t *bytes, tz_error *error)
{
    int fd;
    size_t size = 0;
    *out = NULL;
    *bytes = 0;
    const tz_status status = tz_file_open(path, &fd, &size, error);
    return status ? status : read_all(path, fd, size, limit, out, bytes, error);
}

/* All ends of lines become '\n'. Returns the new length. */
static size_t unify_ends(char *text, size_t bytes)
{
    size_t used = 0;
    if (!memchr(text, '\r', bytes))
        return bytes;
    for (size_t i = 0; i < bytes; i++)
        if (text[i] != '\r')
            text[used++] = text[i];
        else if (i + 1 == bytes || text[i + 1] != '\n')
            text[used++] = '\n';
    return used;
}

tz_status tz_file_read_text(const char *path, size_t limit, char **out, size_t *bytes,
                            tz_error *error)
{
    int fd;
    size_t size = 0;
    *out = NULL;
    *bytes = 0;
    tz_status status = open_inflated(path, limit, &fd, &size, error);
    if (status == TZ_OK)
        status = read_all(path, fd, size, limit, out, bytes, error);
    if (status)
        return status;
    char *const text = *out;
    if (*bytes >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0)) {
        free(text);
        *out = NULL;
        *bytes = 0;
        return tz_error_set(error, TZ_FORMAT, path, "is a text in UTF-16: save it as UTF-8");
    }
    if (*bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        *bytes -= 3;
        memmove(text, text + 3, *bytes + 1);
    }
    *bytes = unify_ends(text, *bytes);
    text[*bytes] = '\0';
    return TZ_OK;
}

uint64_t tz_file_sum(int64_t offset, const void *data, size_t bytes)
{
    const unsigned char *from = data;
    uint64_t sum = 0, place = (uint64_t)offset / 4;
    for (size_t done = 0; done < bytes; done += 4, place++) {
        uint32_t number = 0;
        memcpy(&number, from + done, bytes - done < 4 ? bytes - done : 4);
        uint64_t word = number;
        word += (place + 1) * UINT64_C(0x9e3779b97f4a7c15);
        word = (word ^ (word >> 32)) * UINT64_C(0xd6e8feb86659fd93);
        sum += word ^ (word >> 29);
    }
    return sum;
}
