#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

tz_status tz_file_read(const char *path, size_t limit, char **out, size_t *bytes, tz_error *error)
{
    *out = NULL;
    *bytes = 0;
    tz_status status = TZ_OK;
    char *data = NULL;
    struct stat facts;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return tz_error_set_errno(error, errno, path, "cannot open");
    if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        status = tz_error_set(error, TZ_IO, path, "cannot read: not a regular file");
        goto cleanup;
    }
    const size_t size = (size_t)facts.st_size;
    if (size > limit) {
        status = tz_error_set(error, TZ_RANGE, path, "%zu bytes are too many; at most %zu are read",
                              size, limit);
        goto cleanup;
    }
    data = malloc(size + 1);
    if (!data) {
        status = tz_error_set(error, TZ_MEMORY, path, "%zu bytes do not fit in memory", size);
        goto cleanup;
    }
    size_t used = 0;
    while (used < size) {
        const ssize_t got = read(fd, data + used, size - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            status = tz_error_set_errno(error, errno, path, "cannot read");
            goto cleanup;
        }
        if (got == 0)
            break;
        used += (size_t)got;
    }
    data[used] = '\0';
    *out = data;
    *bytes = used;
    data = NULL;
cleanup:
    free(data);
    close(fd);
    return status;
}
