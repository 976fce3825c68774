#include "base/read_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static tz_status read_all(FILE *file, char **text, size_t *length, const char *path, size_t most,
                          tz_error *error)
{
    for (size_t size = 4096;; size *= 2) {
        if (size > most + 1)
            size = most + 1;
        char *larger = realloc(*text, size + 1);
        if (!larger)
            return tz_error_set(error, TZ_MEMORY, path, "not enough memory to read it");
        *text = larger;
        *length += fread(*text + *length, 1, size - *length, file);
        if (ferror(file))
            return tz_error_set_errno(error, errno, path, "cannot read");
        if (*length > most)
            return tz_error_set(error, TZ_IO, path, "it has more than %zu bytes", most);
        if (*length < size)
            break;
    }
    (*text)[*length] = '\0';
    return TZ_OK;
}

tz_status tz_file_read(char **text, size_t *length, const char *path, size_t most, tz_error *error)
{
    *text = NULL;
    *length = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        return tz_error_set_errno(error, errno, path, "cannot open");
    const tz_status status = read_all(file, text, length, path, most, error);
    fclose(file);
    if (status) {
        free(*text);
        *text = NULL;
        *length = 0;
    }
    return status;
}
