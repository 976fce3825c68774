/* The table of formats, and its look-ups. */
#include "output/format/format.h"

#include "base/file.h"
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define ROW(NAME) &tz_format_##NAME,
const tz_format *const tz_formats[] = {TZ_FORMATS(ROW) NULL};
#undef ROW

const char *tz_format_ending(const tz_format *format, tz_format_use use)
{
    const bool there[] = {
        [TZ_TO_SAVE] = format->begin, [TZ_TO_READ] = format->read, [TZ_TO_SHOW] = format->info,
        [TZ_TO_DRAW] = format->draw,  [TZ_TO_FILM] = format->film, [TZ_TO_REPORT] = format->whole};
    return !there[use]                               ? NULL
           : use == TZ_TO_SAVE && format->needs_list ? format->list_suffix
                                                     : format->suffix;
}

const tz_format *tz_format_of_file(const char *name, tz_format_use use)
{
    const char *end = strrchr(name, '.');
    const bool any_case = use == TZ_TO_READ || use == TZ_TO_SHOW;
    for (const tz_format *const *f = tz_formats; end && *f; f++) {
        const char *ending = tz_format_ending(*f, use);
        if (ending && (any_case ? strcasecmp : strcmp)(end, ending) == 0)
            return *f;
    }
    return NULL;
}

const tz_format *tz_format_to_read(const char *path)
{
    const tz_format *format = tz_format_of_file(path, TZ_TO_READ);
    char first[16];
    FILE *file;
    if (format)
        return format;
    if (tz_file_stream(path, &file, NULL, NULL) != TZ_OK)
        return &tz_format_text; /* its reader reports the error */
    const size_t got = fread(first, 1, sizeof first, file);
    fclose(file);
    for (const tz_format *const *f = tz_formats; *f; f++) {
        const size_t length = (*f)->magic ? strlen((*f)->magic) : sizeof first;
        if (length < got && (*f)->read && memcmp(first, (*f)->magic, length) == 0)
            return *f;
    }
    return &tz_format_text;
}

const tz_format *tz_format_find(const char *name)
{
    for (const tz_format *const *f = tz_formats; *f; f++)
        if (((*f)->doc || (*f)->begin) && strcmp((*f)->name, name) == 0)
            return *f;
    return NULL;
}

/* "a, b or c": item `i` of `count`. */
static void append(char text[256], const char *item, size_t i, size_t count)
{
    const size_t used = strlen(text);
    snprintf(text + used, 256 - used, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", item);
}

const char *tz_format_endings(tz_format_use use, unsigned mask, char text[256])
{
    size_t count = 0, i = 0;
    text[0] = '\0';
    for (int pass = 0; pass < 2; pass++)
        for (const tz_format *const *f = tz_formats; *f; f++) {
            const char *ending = tz_format_ending(*f, use);
            if (!ending || (mask && !((*f)->reads & mask)))
                continue;
            if (pass == 0)
                count++;
            else
                append(text, ending, i++, count);
        }
    return text;
}

const char *tz_format_names(char text[256])
{
    size_t count = 0, i = 0;
    text[0] = '\0';
    for (const tz_format *const *f = tz_formats; *f; f++)
        count += (*f)->begin != NULL;
    for (const tz_format *const *f = tz_formats; *f; f++)
        if ((*f)->begin)
            append(text, (*f)->name, i++, count);
    return text;
}

bool tz_format_is_one_file(const tz_format *format)
{
    return format->content == TZ_CONTENT_TABLE || format->content == TZ_CONTENT_MOVIE;
}

bool tz_format_is_picture(const tz_format *format)
{
    return format->content == TZ_CONTENT_PICTURE || format->content == TZ_CONTENT_MOVIE;
}

static tz_status write_file(const tz_format *format, const char *path, const tz_array *array,
                            const tz_grid *grid, tz_error *error)
{
    tz_grid_file *file = NULL;
    tz_status status = format->begin(&file, path, grid, error);
    if (status == TZ_OK)
        status = tz_grid_file_write(file, 0, array->data, tz_shape_count(array->dims, array->shape),
                                    error);
    if (status == TZ_OK)
        return tz_grid_file_commit(file, error);
    tz_grid_file_abort(file);
    return status;
}

tz_status tz_format_save(const tz_format *format, const char *path, const tz_array *array,
                         const char *field, const char *rule, char data[256], tz_error *error)
{
    const tz_grid_field described = {.name = field, .dtype = array->dtype};
    tz_grid grid = tz_grid_of(array->dims, array->shape);
    grid.fields = &described;
    grid.fields_count = 1;
    grid.rule = rule;
    if (data)
        data[0] = '\0';
    if (!format->needs_list)
        return write_file(format, path, array, &grid, error);
    char beside[PATH_MAX + 8];
    if (access(path, F_OK) == 0)
        return tz_error_set(error, TZ_IO, path, "the file exists already and is not overwritten");
    snprintf(beside, sizeof beside, "%.*s%s", (int)(strlen(path) - strlen(format->list_suffix)),
             path, format->suffix);
    tz_status status = write_file(format, beside, array, &grid, error);
    if (status != TZ_OK)
        return status;
    const char *slash = strrchr(beside, '/');
    snprintf(data, 256, "%.255s", slash ? slash + 1 : beside);
    return format->list(path, data, &grid, error);
}
