/* Pictures and texts of a run: reports, the sheets of sweeps and the live view show them. */
#include "output/report/contents.h"

#include "base/file.h"
#include "base/text.h"
#include "output/format/format.h"
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a search has: the files of the folder in alphabetical order. */
typedef struct search {
    tz_report_pictures *pictures;
    const char *folder;
    struct dirent **files;
    int files_count;
    tz_paths *notes;
} search;

typedef tz_status take_name(const void *context, const char *name, int simulation, int64_t count,
                            tz_error *error);

static tz_status no_memory(const char *place, tz_error *error)
{
    return tz_error_set(error, TZ_MEMORY, place, "not enough memory for a report");
}

static tz_status add_note(tz_paths *notes, const tz_error *note, tz_error *error)
{
    char text[2100];
    tz_error_format(note, text, sizeof text);
    return tz_paths_add(notes, text, error);
}

/* The index of the series with that name, which is added if there is none. */
static tz_status find_series(const search *s, const char *name, size_t length, int simulation,
                             int *out, tz_error *error)
{
    tz_report_pictures *p = s->pictures;
    for (*out = 0; *out < (int)p->series_count; (*out)++)
        if (strncmp(p->series[*out].name, name, length) == 0 &&
            p->series[*out].name[length] == '\0')
            return TZ_OK;
    tz_report_series *grown = realloc(p->series, (p->series_count + 1) * sizeof *grown);
    p->series = grown ? grown : p->series;
    char *copy = grown ? strndup(name, length) : NULL;
    if (!copy)
        return no_memory(s->folder, error);
    p->series[p->series_count++] = (tz_report_series){copy, simulation};
    return TZ_OK;
}

/* Add a picture unless it is broken. The series has the first `length` characters of its name. */
static tz_status add_picture(const search *s, const char *name, size_t length, int64_t step,
                             int simulation, tz_error *error)
{
    tz_report_pictures *p = s->pictures;
    char path[PATH_MAX + 300];
    tz_error fault;
    size_t bytes = 0;
    int series = 0;
    snprintf(path, sizeof path, "%s/%s", s->folder, name);
    if (tz_format_of_file(name, TZ_TO_REPORT)->whole(path, &bytes, &fault) != TZ_OK)
        return add_note(s->notes, &fault, error);
    tz_status status = find_series(s, name, length, simulation, &series, error);
    if (status != TZ_OK)
        return status;
    if ((p->count & (p->count - 1)) == 0) { /* no room: the count is a power of two */
        tz_report_picture *grown = realloc(p->items, (p->count ? 2 * p->count : 1) * sizeof *grown);
        if (!grown)
            return no_memory(s->folder, error);
        p->items = grown;
    }
    char *copy = strdup(name);
    if (!copy)
        return no_memory(s->folder, error);
    p->items[p->count++] =
        (tz_report_picture){.name = copy, .bytes = bytes, .step = step, .series = series};
    return TZ_OK;
}

/* Is it "-000100.png", or "-r2-000100.png" after a rewind? *mark is the length of "-r2". */
static bool is_frame(const char *text, const char *suffix, int64_t *step, size_t *mark)
{
    *mark = 0;
    if (text[0] == '-' && text[1] == 'r') {
        const size_t digits = strspn(text + 2, "0123456789");
        *mark = digits > 0 ? 2 + digits : 0;
    }
    const size_t digits = text[*mark] == '-' ? strspn(text + *mark + 1, "0123456789") : 0;
    if (digits < 6 || digits > 18 || strcmp(text + *mark + 1 + digits, suffix) != 0)
        return false;
    *step = strtoll(text + *mark + 1, NULL, 10);
    return true;
}

/* All frames of "temperature-NNNNNN.png"; a run that is done has written `wanted` of them. */
static tz_status add_frames(const search *s, const char *pattern, size_t stem, int simulation,
                            int64_t wanted, tz_error *error)
{
    tz_status status = TZ_OK;
    int64_t found = 0;
    for (int i = 0; status == TZ_OK && i < s->files_count; i++) {
        const char *name = s->files[i]->d_name;
        int64_t step;
        size_t mark;
        if (strncmp(name, pattern, stem) != 0 ||
            !is_frame(name + stem, strrchr(pattern, '.'), &step, &mark))
            continue;
        status = add_picture(s, name, stem + mark, step, simulation, error);
        found++;
    }
    if (status != TZ_OK || found >= wanted)
        return status;
    tz_error note;
    tz_error_set(&note, TZ_IO, s->folder, "has %lld of the %lld files %s that run.json counts",
                 (long long)found, (long long)wanted, pattern);
    return add_note(s->notes, &note, error);
}

/* What the record names: a file, or the pattern of a series. */
static tz_status add_named(const void *context, const char *name, int simulation, int64_t wanted,
                           tz_error *error)
{
    const search *s = context;
    static const char numbered[] = "-NNNNNN";
    const size_t length = strlen(name);
    if (length > NAME_MAX || strchr(name, '/') || !tz_format_of_file(name, TZ_TO_REPORT))
        return TZ_OK;
    const size_t stem = (size_t)(strrchr(name, '.') - name), end = sizeof numbered - 1;
    if (stem == 0)
        return TZ_OK;
    if (stem > end && memcmp(name + stem - end, numbered, end) == 0)
        return add_frames(s, name, stem - end, simulation, wanted, error);
    return add_picture(s, name, length, -1, simulation, error);
}

/* Gives the names of the outputs of simulations, unless they are functions, and of files: their
 * simulation is -1. `count`: the files that a run which is done has written. */
static tz_status for_each_name(const json_t *run, take_name *take, const void *context,
                               tz_error *error)
{
    const json_t *simulations = json_object_get(run, "simulations"),
                 *files = json_object_get(run, "files");
    const char *state = json_string_value(json_object_get(run, "status"));
    const bool done = state && strcmp(state, "done") == 0;
    tz_status status = TZ_OK;
    for (size_t i = 0; i < json_array_size(simulations); i++) {
        json_t *outputs = json_object_get(json_array_get(simulations, i), "outputs"), *output;
        const char *name;
        json_object_foreach(outputs, name, output)
        {
            const char *kind = json_string_value(json_object_get(output, "kind"));
            const int64_t count = json_integer_value(json_object_get(output, "count"));
            if (status == TZ_OK && !(kind && strcmp(kind, "function") == 0))
                status = take(context, name, (int)i, done ? count : 0, error);
        }
    }
    for (size_t i = 0; status == TZ_OK && i < json_array_size(files); i++) {
        const char *name = json_string_value(json_array_get(files, i));
        if (name)
            status = take(context, name, -1, 0, error);
    }
    return status;
}

static int by_step(const void *one, const void *other)
{
    const tz_report_picture *a = one, *b = other;
    if (a->series != b->series)
        return a->series < b->series ? -1 : 1;
    return (a->step > b->step) - (a->step < b->step);
}

/* Keep every k-th picture of each series, and its last. Returns how many bytes they have. */
static size_t keep_every(tz_report_pictures *p, size_t k)
{
    size_t bytes = 0;
    for (size_t i = 0, place = 0; i < p->count; i++, place++) {
        const bool last = i + 1 == p->count || p->items[i + 1].series != p->items[i].series;
        if (i > 0 && p->items[i].series != p->items[i - 1].series)
            place = 0;
        p->items[i].kept = place % k == 0 || last;
        bytes += p->items[i].kept ? p->items[i].bytes : 0;
    }
    p->every = k;
    return bytes;
}

/* If even the first and the last of each series are too many, those that come first are kept. */
static void keep_what_fits(tz_report_pictures *p, size_t limit)
{
    size_t k = 1, bytes = keep_every(p, 1);
    while (bytes > limit && k < p->count)
        bytes = keep_every(p, ++k);
    bytes = 0;
    for (size_t i = 0; i < p->count; i++) {
        p->items[i].kept = p->items[i].kept && p->items[i].bytes <= limit - bytes;
        bytes += p->items[i].kept ? p->items[i].bytes : 0;
    }
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

tz_status tz_report_pictures_find(tz_report_pictures *pictures, const char *folder,
                                  const struct json_t *run, size_t limit, tz_paths *notes,
                                  tz_error *error)
{
    search s = {.pictures = pictures, .folder = folder, .notes = notes};
    s.files_count = scandir(folder, &s.files, NULL, by_name);
    if (s.files_count < 0)
        return tz_error_set_errno(error, errno, folder, "cannot list the run folder");
    const tz_status status = for_each_name(run, add_named, &s, error);
    for (int i = 0; i < s.files_count; i++)
        free(s.files[i]);
    free(s.files);
    if (pictures->count > 0)
        qsort(pictures->items, pictures->count, sizeof *pictures->items, by_step);
    keep_what_fits(pictures, limit);
    return status;
}

void tz_report_pictures_clear(tz_report_pictures *pictures)
{
    for (size_t i = 0; i < pictures->count; i++)
        free(pictures->items[i].name);
    for (size_t i = 0; i < pictures->series_count; i++)
        free(pictures->series[i].name);
    free(pictures->items);
    free(pictures->series);
    *pictures = (tz_report_pictures){.count = 0};
}

/* ---- Texts ----------------------------------------------------------------------------------- */

enum { TABLE_BYTES_MAX = 1 << 30 };

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

typedef struct tables {
    json_t *list;
    const char *folder;
    size_t limit; /* bytes of a text */
    tz_paths *notes;
} tables;

static bool is_table(const char *name)
{
    const char *end = strlen(name) < 256 && !strchr(name, '/') ? strrchr(name, '.') : NULL;
    return end && end > name && strcmp(end, tz_format_find("table")->suffix) == 0;
}

static tz_status add_table(const void *context, const char *name, int simulation, int64_t count,
                           tz_error *error)
{
    const tables *t = context;
    char path[PATH_MAX + 300], *text;
    size_t bytes;
    tz_error fault;
    (void)count;
    if (!is_table(name))
        return TZ_OK;
    snprintf(path, sizeof path, "%s/%s", t->folder, name);
    if (tz_file_read(path, TABLE_BYTES_MAX, &text, &bytes, &fault) != TZ_OK)
        return add_note(t->notes, &fault, error);
    const size_t every = bytes / (t->limit + 1) + 1;
    if (every > 1)
        bytes = thin(text, every);
    json_t *entry = json_pack("{s:s, s:o, s:I, s:o}", "name", name, "simulation",
                              simulation < 0 ? json_null() : json_integer(simulation), "every",
                              (json_int_t)every, "text", to_json(text, bytes));
    free(text);
    return json_array_append_new(t->list, entry) == 0 ? TZ_OK : no_memory(path, error);
}

tz_status tz_report_tables(const char *folder, const struct json_t *run, size_t limit,
                           tz_paths *notes, struct json_t **out, tz_error *error)
{
    const tables t = {json_array(), folder, limit, notes};
    *out = t.list;
    return for_each_name(run, add_table, &t, error);
}
