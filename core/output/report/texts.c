#include "output/report/texts.h"

#include "base/file.h"
#include "base/json_values.h"
#include "base/text.h"
#include "output/format/format.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_BYTES_MAX = 1 << 30 };

static tz_status no_memory(const char *path, tz_error *error)
{
    return tz_error_set(error, TZ_MEMORY, path, "not enough memory for a text of the report");
}

/* Bytes with a '\0' behind them. */
static json_t *to_json(char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (text[i] == '\0')
            text[i] = '?';
    tz_text_utf8(text);
    return json_string(text);
}

tz_status tz_report_text(const char *folder, const char *name, size_t limit, struct json_t **out,
                         bool *cut, tz_error *error)
{
    char path[PATH_MAX + 300];
    FILE *stream;
    size_t bytes;
    *out = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const tz_status status = tz_file_stream(path, &stream, &bytes, error);
    if (status != TZ_OK)
        return status;
    *cut = bytes > limit;
    const size_t size = *cut ? limit : bytes;
    char *text = malloc(size + 1);
    if (*cut)
        fseeko(stream, -(off_t)size, SEEK_END);
    const size_t got = text ? fread(text, 1, size, stream) : 0;
    fclose(stream);
    if (text) {
        text[got] = '\0';
        const char *line = *cut ? memchr(text, '\n', got) : NULL;
        const size_t skipped = line ? (size_t)(line - text) + 1 : 0;
        *out = to_json(text + skipped, got - skipped);
    }
    free(text);
    return *out ? TZ_OK : no_memory(path, error);
}

/* Behind the line at `text`: a line end in quotes is part of a cell. */
static char *next_line(char *text)
{
    bool quoted = false;
    for (; *text != '\0'; text++) {
        quoted ^= *text == '"';
        if (*text == '\n' && !quoted)
            return text + 1;
    }
    return text;
}

/* Keep the titles and every k-th row. Returns the new length. */
static size_t thin(char *text, size_t k)
{
    char *from = next_line(text), *to = from;
    for (size_t row = 0; *from != '\0'; row++) {
        char *next = next_line(from);
        if (row % k == 0) {
            memmove(to, from, (size_t)(next - from));
            to += next - from;
        }
        from = next;
    }
    *to = '\0';
    return (size_t)(to - text);
}

static tz_status add_table(json_t *list, const char *folder, const char *name, int simulation,
                           size_t limit, tz_paths *notes, tz_error *error)
{
    char path[PATH_MAX + 300], *text;
    size_t bytes;
    tz_error fault;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (tz_file_read(path, TABLE_BYTES_MAX, &text, &bytes, &fault) != TZ_OK) {
        char note[2100];
        tz_error_format(&fault, note, sizeof note);
        return tz_paths_add(notes, note, error);
    }
    const size_t every = bytes / (limit + 1) + 1;
    bool failed = false;
    if (every > 1)
        bytes = thin(text, every);
    json_t *entry = json_object();
    tz_json_put_text(entry, "name", name, &failed);
    tz_json_put(entry, "simulation", simulation < 0 ? json_null() : json_integer(simulation),
                &failed);
    tz_json_put_integer(entry, "every", (int64_t)every, &failed);
    tz_json_put(entry, "text", to_json(text, bytes), &failed);
    free(text);
    if (json_array_append_new(list, entry) != 0 || failed)
        return no_memory(path, error);
    return TZ_OK;
}

static bool is_table(const char *name)
{
    const char *end = name && strlen(name) < 256 && !strchr(name, '/') ? strrchr(name, '.') : NULL;
    return end && end > name && strcmp(end, tz_format_find("table")->suffix) == 0;
}

tz_status tz_report_tables(const char *folder, const struct json_t *run, size_t limit,
                           tz_paths *notes, struct json_t **out, tz_error *error)
{
    const json_t *simulations = json_object_get(run, "simulations"),
                 *files = json_object_get(run, "files");
    tz_status status = TZ_OK;
    *out = json_array();
    for (size_t i = 0; i < json_array_size(simulations); i++) {
        json_t *outputs = json_object_get(json_array_get(simulations, i), "outputs"), *output;
        const char *name;
        json_object_foreach(outputs, name, output)
        {
            if (status == TZ_OK && is_table(name))
                status = add_table(*out, folder, name, (int)i, limit, notes, error);
        }
    }
    for (size_t i = 0; status == TZ_OK && i < json_array_size(files); i++) {
        const char *name = json_string_value(json_array_get(files, i));
        if (is_table(name))
            status = add_table(*out, folder, name, -1, limit, notes, error);
    }
    return status;
}
