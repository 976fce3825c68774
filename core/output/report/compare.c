/* Compares runs: their fields cell by cell, and a page with their parameters, tables and pictures
 * beside each other. Called by `trapeze compare`. */
#include "output/report/report.h"

#include "base/embed.h"
#include "base/json.h"
#include "output/folder.h"
#include "output/format/format.h"
#include "output/format/npy.h"
#include "output/page/page.h"
#include "sim/checkpoint.h"
#include <dirent.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TZ_EMBED(tz_compare_page, "output/report/compare.html");

enum { FIELDS_MAX = 64 };

/* The cells of a field of a run, as numbers. */
typedef struct cells {
    double *values; /* owned; NULL: there are none */
    int64_t shape[TZ_DIMS_MAX], step;
} cells;

/* Fields of the same name in two runs. */
typedef struct pair {
    const char *folders[2];
    const json_t *runs[2]; /* their records */
    char field[64];
} pair;

/* ---- Frames ---------------------------------------------------------------------------------- */

/* "u-NNNNNN.npy" of an array output: its length up to the number; 0: another output. */
static size_t stem_of(const char *pattern, const json_t *output, const tz_format **format)
{
    const char *kind = json_string_value(json_object_get(output, "kind"));
    const char *number = strstr(pattern, "-NNNNNN.");
    *format = kind ? tz_format_find(kind) : NULL;
    return *format && (*format)->content == TZ_CONTENT_ARRAY && (*format)->read && number
               ? (size_t)(number - pattern)
               : 0;
}

/* The format of the files of that name; NULL: the run has none. */
static const tz_format *frames_of(const json_t *run, const char *stem)
{
    const json_t *simulation, *output;
    const char *pattern;
    size_t i;
    json_array_foreach(json_object_get(run, "simulations"), i, simulation)
    {
        json_object_foreach(json_object_get(simulation, "outputs"), pattern, output)
        {
            const tz_format *format;
            const size_t length = stem_of(pattern, output, &format);
            if (length > 0 && strlen(stem) == length && strncmp(stem, pattern, length) == 0)
                return format;
        }
    }
    return NULL;
}

static void frame_path(char path[PATH_MAX], const char *folder, const char *stem, int64_t step,
                       const tz_format *format)
{
    snprintf(path, PATH_MAX, "%s/%s-%06lld%s", folder, stem, (long long)step, format->suffix);
}

/* The last step, or `wanted`, that has a frame in both folders; -1: there is none. */
static int64_t common_step(const pair *p, const tz_format *const formats[2], int64_t wanted)
{
    char path[PATH_MAX];
    const size_t length = strlen(p->field);
    DIR *all = opendir(p->folders[0]);
    int64_t last = -1;
    for (const struct dirent *entry; all && (entry = readdir(all));) {
        char *end;
        if (strncmp(entry->d_name, p->field, length) != 0 || entry->d_name[length] != '-')
            continue;
        const long long step = strtoll(entry->d_name + length + 1, &end, 10);
        if (strcmp(end, formats[0]->suffix) != 0 || step <= last || (wanted >= 0 && step != wanted))
            continue;
        frame_path(path, p->folders[1], p->field, step, formats[1]);
        if (access(path, R_OK) == 0)
            last = step;
    }
    if (all)
        closedir(all);
    return last;
}

static tz_status take_array(const tz_array *array, const char *place, cells *out, tz_error *error)
{
    const int64_t count = tz_shape_count(array->dims, array->shape);
    out->values = malloc((size_t)count * sizeof *out->values);
    if (!out->values)
        return tz_error_set(error, TZ_MEMORY, place, "not enough memory to compare runs");
    memcpy(out->shape, array->shape, sizeof out->shape);
    tz_array_values(array, 0, count, out->values);
    return TZ_OK;
}

static tz_status read_frame(const char *path, const tz_format *format, cells *out, tz_error *error)
{
    tz_format_reading reading = {.dims = 0};
    tz_status status = format->read(path, &reading, error);
    if (!status && reading.file)
        status = tz_npy_read_all(reading.file, &reading.array, error);
    if (!status)
        status = take_array(reading.array, path, out, error);
    tz_npy_close(reading.file);
    tz_array_destroy(reading.array);
    return status;
}

/* ---- Checkpoints ----------------------------------------------------------------------------- */

/* The simulation whose field has that name, perhaps after the simulation's: "sim2-u". */
static tz_status read_kept(const char *folder, const char *field, cells *out, tz_error *error)
{
    tz_checkpoint_reader *reader = NULL;
    tz_status status = tz_checkpoints_newest(&reader, folder, error);
    const json_t *facts = status ? NULL : tz_checkpoint_facts(reader), *entry;
    const json_t *records = json_object_get(json_object_get(facts, "record"), "simulations");
    size_t i;
    json_array_foreach(json_object_get(facts, "simulations"), i, entry)
    {
        char prefix[32];
        tz_array *array = NULL;
        tz_error none;
        const char *name = json_string_value(json_object_get(entry, "name"));
        const long long index = json_integer_value(json_object_get(entry, "index"));
        const size_t part = name ? strlen(name) : 0;
        const bool named = part > 0 && strncmp(field, name, part) == 0 && field[part] == '-';
        snprintf(prefix, sizeof prefix, "%lld/", index);
        const tz_checkpoint_entry from = {.reader = reader,
                                          .prefix = prefix,
                                          .identity = json_object_get(entry, "identity"),
                                          .progress = json_object_get(entry, "progress"),
                                          .record = json_array_get(records, (size_t)index)};
        if (!out->values &&
            tz_checkpoint_values(&from, named ? field + part + 1 : field, &array, &none) == TZ_OK)
            status = take_array(array, folder, out, error);
        if (array)
            out->step = json_integer_value(json_object_get(from.progress, "step"));
        tz_array_destroy(array);
        if (status)
            break;
    }
    tz_checkpoint_close(reader);
    return status;
}

/* ---- Differences ----------------------------------------------------------------------------- */

/* Frames of a common step; else the fields of the last checkpoints. *why: why there are none. */
static tz_status read_pair(const pair *p, int64_t wanted, cells out[2], char why[200],
                           tz_error *error)
{
    const tz_format *formats[2];
    tz_status status = TZ_OK;
    for (int k = 0; k < 2; k++)
        formats[k] = frames_of(p->runs[k], p->field);
    const int64_t step = formats[0] && formats[1] ? common_step(p, formats, wanted) : -1;
    for (int k = 0; k < 2 && !status; k++) {
        char path[PATH_MAX];
        if (step >= 0) {
            out[k].step = step;
            frame_path(path, p->folders[k], p->field, step, formats[k]);
            status = read_frame(path, formats[k], &out[k], error);
        } else {
            tz_error none;
            status = read_kept(p->folders[k], p->field, &out[k], &none);
            status = status == TZ_MEMORY ? (*error = none, status) : TZ_OK;
        }
    }
    why[0] = '\0';
    if (status)
        return status;
    if (!out[0].values || !out[1].values || (wanted >= 0 && out[0].step != wanted))
        snprintf(why, 200, "no frames%s that both have, and no checkpoints%s",
                 wanted >= 0 ? " of that step" : " of a step", wanted >= 0 ? " of it" : "");
    else if (out[0].step != out[1].step)
        snprintf(why, 200, "the checkpoints are of steps %lld and %lld", (long long)out[0].step,
                 (long long)out[1].step);
    else if (memcmp(out[0].shape, out[1].shape, sizeof out[0].shape) != 0)
        snprintf(why, 200, "the grids differ");
    return TZ_OK;
}

/* The largest difference with its place, and the root of the mean square. A value that is no number
 * in one of them alone is a difference without a size. */
static json_t *measure(const pair *p, const cells c[2])
{
    const int64_t *n = c[0].shape, count = n[0] * n[1] * n[2];
    double most = 0, squares = 0, low = INFINITY, high = -INFINITY;
    int64_t at = 0, differ = 0;
    for (int64_t i = 0; i < count; i++) {
        const double a = c[0].values[i], b = c[1].values[i], d = fabs(a - b);
        low = fmin(low, a);
        high = fmax(high, a);
        differ += a != b && !(isnan(a) && isnan(b));
        squares += isnan(d) ? 0 : d * d;
        if (d > most) {
            most = d;
            at = i;
        }
    }
    return json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:I, s:I, s:[I,I,I]}", "field", p->field,
                     "step", (json_int_t)c[0].step, "max", most, "rms",
                     sqrt(squares / (double)count), "low", low, "high", high, "differ",
                     (json_int_t)differ, "cells", (json_int_t)count, "at", (json_int_t)(at % n[0]),
                     (json_int_t)(at / n[0] % n[1]), (json_int_t)(at / n[0] / n[1]));
}

static tz_status compare_field(const pair *p, int64_t wanted, size_t run, json_t *list,
                               tz_error *error)
{
    cells c[2] = {{NULL}, {NULL}};
    char why[200];
    tz_status status = read_pair(p, wanted, c, why, error);
    json_t *found = status   ? NULL
                    : why[0] ? json_pack("{s:s, s:s}", "field", p->field, "why", why)
                             : measure(p, c);
    free(c[0].values);
    free(c[1].values);
    if (status)
        return status;
    return found && json_object_set_new(found, "run", json_integer((json_int_t)run)) == 0 &&
                   json_array_append_new(list, found) == 0
               ? TZ_OK
               : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to compare runs");
}

/* The names of what both may have: of frames, and of the state fields of checkpoints. */
static size_t list_fields(const json_t *run, const char *folder, char names[FIELDS_MAX][64])
{
    const json_t *simulation, *output;
    const char *pattern, *name;
    tz_checkpoint_reader *reader = NULL;
    json_t *value;
    size_t count = 0, i, k;
    json_array_foreach(json_object_get(run, "simulations"), i, simulation)
    {
        json_object_foreach(json_object_get(simulation, "outputs"), pattern, output)
        {
            const tz_format *format;
            const size_t length = stem_of(pattern, output, &format);
            if (length > 0 && length < 64 && count < FIELDS_MAX)
                snprintf(names[count++], 64, "%.*s", (int)length, pattern);
        }
    }
    if (tz_checkpoints_newest(&reader, folder, NULL) != TZ_OK)
        return count;
    const json_t *all = json_object_get(tz_checkpoint_facts(reader), "simulations");
    json_array_foreach(all, i, simulation)
    {
        const json_t *progress = json_object_get(simulation, "progress");
        json_object_foreach(json_object_get(progress, "origins"), name, value)
        {
            char own[64];
            const bool prefixed = json_array_size(all) > 1;
            snprintf(own, sizeof own, "%s%s%s",
                     prefixed ? json_string_value(json_object_get(simulation, "name")) : "",
                     prefixed ? "-" : "", name);
            for (k = 0; k < count && strcmp(names[k], own) != 0; k++)
                ;
            if (k == count && count < FIELDS_MAX)
                snprintf(names[count++], 64, "%s", own);
        }
    }
    tz_checkpoint_close(reader);
    return count;
}

/* ---- The page -------------------------------------------------------------------------------- */

tz_status tz_compare_collect(const char *const *folders, size_t count, int64_t step,
                             tz_paths *notes, tz_paths *pictures, json_t **out, tz_error *error)
{
    json_t *runs = json_array(), *differences = json_array();
    char(*names)[64] = calloc(FIELDS_MAX, sizeof *names);
    *out = json_pack("{s:s, s:o, s:o}", "trapeze", TZ_VERSION, "runs", runs, "differences",
                     differences);
    tz_status status =
        *out && names ? TZ_OK : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    for (size_t i = 0; i < count && !status; i++) {
        json_t *facts = NULL;
        const size_t first = pictures->count;
        status = tz_report_collect(folders[i], TZ_REPORT_PICTURES_MIB / (int)count, notes, pictures,
                                   &facts, error);
        bool failed = false;
        tz_json_put_integer(facts, "first", (int64_t)first, &failed);
        tz_json_put_text(facts, "path", folders[i], &failed);
        if (json_array_append_new(runs, facts) != 0 && !status)
            status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    }
    pair p = {.folders = {folders[0]}};
    p.runs[0] = json_object_get(json_array_get(runs, 0), "run");
    const size_t fields = status ? 0 : list_fields(p.runs[0], folders[0], names);
    for (size_t i = 1; i < count; i++)
        for (size_t f = 0; f < fields && !status; f++) {
            p.folders[1] = folders[i];
            p.runs[1] = json_object_get(json_array_get(runs, i), "run");
            snprintf(p.field, sizeof p.field, "%s", names[f]);
            status = compare_field(&p, step, i, differences, error);
        }
    free(names);
    return status;
}

tz_status tz_compare_write(const json_t *facts, const tz_paths *pictures, const char *path,
                           tz_error *error)
{
    return tz_page_write(path, tz_compare_page, facts, pictures, error);
}
