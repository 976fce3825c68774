/* trapeze export: writes the arrays of a run, or the fields of its checkpoint, in other formats. */
#include "cli/command.h"

#include "base/atomic.h"
#include "base/json.h"
#include "base/number.h"
#include "output/folder.h"
#include "output/format/format.h"
#include "output/format/npy.h"
#include "output/frame/colormap.h"
#include "output/frame/frame.h"
#include "sim/checkpoint.h"
#include <ctype.h>
#include <dirent.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What is asked for. */
typedef struct job {
    const tz_format *to;
    const char *into, *field; /* NULL: the folder of the run; the only one */
    int step;                 /* -1: all */
    bool checkpoint;
    tz_look look;     /* of pictures */
    const char *rule; /* of Life patterns; NULL: that of the run */
    json_t *run;      /* its record; NULL: there is none */
} job;

static int take_format(const tz_command *command, void *out, const char *text)
{
    char names[256];
    const tz_format *found = tz_format_find(text);
    if (!found || (!found->begin && !(found->draw && found->content == TZ_CONTENT_PICTURE)))
        return tz_misuse(command, "--to needs %s, or png, not '%.60s'", tz_format_names(names),
                         text);
    *(const tz_format **)out = found;
    return EXIT_DONE;
}

static int take_range(const tz_command *command, void *out, const char *text)
{
    tz_look *look = out;
    const char *comma = strchr(text, ',');
    if (!comma || !tz_number_parse(text, (size_t)(comma - text), &look->low) ||
        !tz_number_parse(comma + 1, strlen(comma + 1), &look->high) || !isfinite(look->low) ||
        !isfinite(look->high) || look->low >= look->high)
        return tz_misuse(command, "--range needs LOW,HIGH with LOW below HIGH, not '%.60s'", text);
    look->range = TZ_RANGE_FIXED;
    return EXIT_DONE;
}

static int take_map(const tz_command *command, void *out, const char *text)
{
    tz_look *look = out;
    tz_colormap map;
    tz_error error;
    if (tz_colormap_find(text, &map, &error) != TZ_OK)
        return tz_misuse(command, "--map: %s", error.message);
    snprintf(look->map, sizeof look->map, "%s", text);
    return EXIT_DONE;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* The whole array of a file. */
static tz_status read_file(const job *j, const char *path, tz_format_reading *out, tz_error *error)
{
    const tz_format *format;
    *out = (tz_format_reading){.field = j->field};
    tz_status status = tz_format_to_read(path, &format, error);
    if (status == TZ_OK && out->field && !(format->reads & TZ_READS_FIELD))
        out->field = NULL;
    if (status == TZ_OK)
        status = format->read(path, out, error);
    if (status == TZ_OK && out->file) {
        status = tz_npy_read_all(out->file, &out->array, error);
        tz_npy_close(out->file);
        out->file = NULL;
    }
    return status;
}

static tz_status draw(const tz_look *look, const char *path, const tz_array *array, tz_error *error)
{
    tz_frame *frame;
    const tz_slice slice = {.axis = 2, .at = -1};
    tz_look full = *look;
    if (strlen(path) >= sizeof frame->path)
        return tz_error_set(error, TZ_RANGE, path, "a path has at most %zu bytes",
                            sizeof frame->path - 1);
    if (look->range != TZ_RANGE_FIXED) {
        const tz_range range = tz_range_of(array);
        tz_look_take_range(&full, range.lo, range.hi);
    }
    tz_status status = tz_frame_create(&frame, &full, error);
    if (status != TZ_OK)
        return status;
    frame->draw = tz_format_find("png")->draw;
    snprintf(frame->path, sizeof frame->path, "%s", path);
    status = tz_frame_read_array(frame, array, slice, error);
    tz_frame_note_look(frame);
    if (status == TZ_OK)
        status = tz_frame_draw(frame, error);
    tz_frame_destroy(frame);
    return status;
}

/* The rule of a simulation as run.json and checkpoints have it; NULL: it has none. */
static const char *rule_in(const json_t *simulation)
{
    const json_t *params = json_object_get(simulation, "params");
    return json_string_value(json_object_get(json_object_get(params, "rule"), "value"));
}

/* The rule of a run's file: of several simulations, of that whose name begins the file's. */
static const char *rule_of(const job *j, const char *file)
{
    const json_t *all = json_object_get(j->run, "simulations"), *simulation;
    size_t i;
    if (j->rule || json_array_size(all) == 1)
        return j->rule ? j->rule : rule_in(json_array_get(all, 0));
    json_array_foreach(all, i, simulation)
    {
        const char *name = json_string_value(json_object_get(simulation, "name"));
        const size_t length = name ? strlen(name) : 0;
        if (length > 0 && strncmp(file, name, length) == 0 && file[length] == '-')
            return rule_in(simulation);
    }
    return NULL;
}

/* Write FOLDER/NAME.SUFFIX and print its name. */
static int save(const job *j, const tz_look *look, const char *folder, const char *name,
                const tz_array *array, const char *rule)
{
    char path[PATH_MAX + 300], data[256];
    tz_error error;
    const tz_format *to = j->to;
    if (snprintf(path, sizeof path, "%s/%s%s", j->into ? j->into : folder, name,
                 to->begin ? tz_format_ending(to, TZ_TO_SAVE) : to->suffix) >= PATH_MAX)
        return tz_fail_text(EXIT_FAILED, "%.60s…: the path is too long", path);
    const tz_status status = to->begin ? tz_format_save(to, path, array, name,
                                                        rule && rule[0] ? rule : NULL, data, &error)
                                       : draw(look, path, array, &error);
    if (status != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    puts(path);
    return EXIT_DONE;
}

/* DIR/NAME.npy becomes NAME.csv in `into` or, if that is NULL, in DIR. */
static int export_file(const job *j, const tz_look *look, const char *from)
{
    char folder[PATH_MAX], name[256];
    const char *slash = strrchr(from, '/'), *base = slash ? slash + 1 : from;
    const char *end = strrchr(base, '.');
    tz_format_reading reading;
    tz_error error;
    const size_t length = end && end > base ? (size_t)(end - base) : strlen(base);
    if (length >= sizeof name)
        return tz_fail_text(EXIT_FAILED, "%.60s…: the name is too long", base);
    memcpy(name, base, length);
    name[length] = '\0';
    tz_path_folder(from, folder, sizeof folder);
    const tz_status status = read_file(j, from, &reading, &error);
    const char *rule = reading.rule[0] && !j->rule ? reading.rule : rule_of(j, name);
    const int code = status == TZ_OK ? save(j, look, folder, name, reading.array, rule)
                                     : tz_fail(EXIT_FAILED, &error);
    tz_array_destroy(reading.array);
    return code;
}

/* ---- The files of a run ---------------------------------------------------------------------- */

/* The format of a file of arrays; tables and pictures are others. */
static const tz_format *format_of(const char *name)
{
    const tz_format *format = name[0] == '.' ? NULL : tz_format_of_file(name, TZ_TO_READ);
    return format && format->begin && strcmp(format->name, "csv") != 0 ? format : NULL;
}

/* "u-000500.npy": the length of "u", and the step; -1: it has none. */
static long long step_of(const char *name, size_t *stem)
{
    const char *end = strrchr(name, '.'), *p = end;
    while (p && p > name && isdigit((unsigned char)p[-1]))
        p--;
    *stem = end ? (size_t)(end - name) : strlen(name);
    if (!p || end - p < 6 || p == name || p[-1] != '-')
        return -1;
    *stem = (size_t)(p - 1 - name);
    return strtoll(p, NULL, 10);
}

typedef struct files {
    struct dirent **entries;
    int count;
    const tz_format *format; /* the first that has files */
} files;

static int keep_arrays(const struct dirent *entry)
{
    return format_of(entry->d_name) != NULL;
}

/* Those of .npy or, where there are none, of the next format in the table that is not wanted. */
static bool list_files(const char *folder, const tz_format *to, files *out)
{
    out->count = scandir(folder, &out->entries, keep_arrays, alphasort);
    for (const tz_format *const *f = tz_formats; out->count > 0 && *f && !out->format; f++)
        for (int i = 0; i < out->count && *f != to; i++)
            if (format_of(out->entries[i]->d_name) == *f)
                out->format = *f;
    return out->count >= 0;
}

static void free_files(files *f)
{
    for (int i = 0; i < f->count; i++)
        free(f->entries[i]);
    free(f->entries);
}

/* A file of one array has its field in its name: "u-000500.npy", "chip-u-000500.npy". */
static bool is_wanted(const job *j, const files *f, int i)
{
    size_t stem;
    const char *name = f->entries[i]->d_name;
    const long long step = step_of(name, &stem);
    if (format_of(name) != f->format || (j->step >= 0 && step != j->step))
        return false;
    if (!j->field || f->format->reads & TZ_READS_FIELD)
        return true;
    const size_t length = strlen(j->field);
    return stem >= length && memcmp(name + stem - length, j->field, length) == 0 &&
           (stem == length || name[stem - length - 1] == '-');
}

/* Pictures of a series have one range: that of all its numbers. */
static int find_range(const job *j, const char *folder, const files *f, int first, tz_look *look)
{
    size_t stem, other;
    char path[PATH_MAX + 300];
    double low = INFINITY, high = -INFINITY;
    const char *name = f->entries[first]->d_name;
    tz_error error;
    step_of(name, &stem);
    for (int i = 0; i < f->count; i++) {
        tz_format_reading reading;
        const char *next = f->entries[i]->d_name;
        step_of(next, &other);
        if (!is_wanted(j, f, i) || other != stem || memcmp(name, next, stem) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, next);
        const tz_status status = read_file(j, path, &reading, &error);
        if (status != TZ_OK)
            return tz_fail(EXIT_FAILED, &error);
        const tz_range range = tz_range_of(reading.array);
        low = fmin(low, range.lo);
        high = fmax(high, range.hi);
        tz_array_destroy(reading.array);
    }
    tz_look_take_range(look, low, high);
    return EXIT_DONE;
}

/* *done: how many there were. */
static int export_files(const job *j, const char *folder, const files *f, int *done)
{
    int code = EXIT_DONE;
    size_t stem = 0, before = 0;
    const char *last = "";
    tz_look look = j->look;
    for (int i = 0; i < f->count && code == EXIT_DONE; i++) {
        char path[PATH_MAX + 300];
        const char *name = f->entries[i]->d_name;
        if (!is_wanted(j, f, i))
            continue;
        step_of(name, &stem);
        if (!j->to->begin && j->look.range != TZ_RANGE_FIXED &&
            (stem != before || memcmp(name, last, stem) != 0)) {
            look = j->look;
            code = find_range(j, folder, f, i, &look);
            look.range = TZ_RANGE_FIXED;
        }
        last = name;
        before = stem;
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (code == EXIT_DONE)
            code = export_file(j, &look, path);
        ++*done;
    }
    return code;
}

/* ---- Checkpoints ----------------------------------------------------------------------------- */

/* The fields of one simulation; *done grows by their number. */
static int export_simulation(const job *j, const char *folder, const tz_checkpoint_entry *from,
                             const char *name, long long step, int *done)
{
    const tz_checkpoint_array *arrays;
    const size_t count = tz_checkpoint_arrays(from->reader, &arrays), length = strlen(from->prefix);
    int code = EXIT_DONE;
    for (size_t i = 0; i < count && code == EXIT_DONE; i++) {
        char file[256];
        tz_array *array;
        tz_error error;
        const char *field = arrays[i].name + length;
        if (strncmp(arrays[i].name, from->prefix, length) != 0 ||
            (j->field && strcmp(field, j->field) != 0))
            continue;
        ++*done;
        if (tz_checkpoint_values(from, field, &array, &error) != TZ_OK)
            return tz_fail(EXIT_FAILED, &error);
        snprintf(file, sizeof file, "%.80s-%.100s-%06lld", name, field, step);
        code = save(j, &j->look, folder, file, array, j->rule ? j->rule : rule_in(from->record));
        tz_array_destroy(array);
    }
    return code;
}

/* The simulations of a checkpoint that have the wanted step. Adds the steps of others to
 * `steps`. */
static int export_reader(const job *j, const char *folder, tz_checkpoint_reader *reader, int *done,
                         char steps[200])
{
    const json_t *facts = tz_checkpoint_facts(reader), *entry;
    const json_t *records = json_object_get(json_object_get(facts, "record"), "simulations");
    size_t i;
    int code = EXIT_DONE;
    json_array_foreach(json_object_get(facts, "simulations"), i, entry)
    {
        char prefix[32];
        const json_t *progress = json_object_get(entry, "progress");
        const long long index = json_integer_value(json_object_get(entry, "index")),
                        step = json_integer_value(json_object_get(progress, "step"));
        const char *name = json_string_value(json_object_get(entry, "name"));
        snprintf(prefix, sizeof prefix, "%lld/", index);
        const tz_checkpoint_entry from = {.reader = reader,
                                          .prefix = prefix,
                                          .identity = json_object_get(entry, "identity"),
                                          .progress = progress,
                                          .record = json_array_get(records, (size_t)index)};
        if (j->step >= 0 && step != j->step) {
            const size_t used = strlen(steps);
            snprintf(steps + used, 200 - used, "%s%lld", used ? ", " : "", step);
            continue;
        }
        code = export_simulation(j, folder, &from, name ? name : "sim", step, done);
        if (code != EXIT_DONE)
            break;
    }
    return code;
}

static int export_checkpoint(const job *j, const char *folder, int *done, char steps[200])
{
    int slots[TZ_CHECKPOINT_SLOTS], code = EXIT_DONE;
    const int count = tz_checkpoints_list(folder, slots, NULL);
    for (int i = 0; i < count && *done == 0 && code == EXIT_DONE; i++) {
        char path[PATH_MAX + 32];
        tz_checkpoint_reader *reader;
        tz_error error;
        tz_checkpoints_file(folder, slots[i], path, sizeof path);
        if (tz_checkpoint_open(&reader, path, true, &error) != TZ_OK) {
            if (i + 1 == count)
                return tz_fail(EXIT_FAILED, &error);
            continue; /* the older one may be whole */
        }
        code = export_reader(j, folder, reader, done, steps);
        tz_checkpoint_close(reader);
    }
    return code;
}

/* ---- The command ----------------------------------------------------------------------------- */

static int export_folder(const job *j, const char *folder)
{
    files f = {.count = 0};
    char steps[200] = "";
    int done = 0, code = EXIT_DONE, numbered = 0;
    long long first = LLONG_MAX, last = -1;
    if (!list_files(folder, j->to, &f))
        return tz_fail_text(EXIT_FAILED, "%s: cannot be read", folder);
    if (!j->checkpoint)
        code = export_files(j, folder, &f, &done);
    for (int i = 0; i < f.count; i++) {
        size_t stem;
        const long long step = step_of(f.entries[i]->d_name, &stem);
        if (step < 0)
            continue;
        numbered++;
        first = step < first ? step : first;
        last = step > last ? step : last;
    }
    free_files(&f);
    if (code == EXIT_DONE && done == 0)
        code = export_checkpoint(j, folder, &done, steps);
    if (code != EXIT_DONE || done > 0)
        return code;
    if (f.count > 0 && !f.format && !j->checkpoint)
        return tz_fail_text(EXIT_FAILED,
                            "%s has its arrays as %s files already, and no checkpoint%s%s", folder,
                            j->to->suffix, steps[0] ? " but of steps " : "", steps);
    if (j->step >= 0 && numbered > 0)
        return tz_fail_text(EXIT_FAILED,
                            "%s has nothing of step %d%s%.60s: its %d files are of steps %lld to "
                            "%lld%s%s",
                            folder, j->step, j->field ? " and field " : "",
                            j->field ? j->field : "", numbered, first, last,
                            steps[0] ? ", its checkpoints of steps " : "", steps);
    if (j->field)
        return tz_fail_text(EXIT_FAILED, "%s has no field '%.60s' in its %s", folder, j->field,
                            f.format && !j->checkpoint ? "files" : "checkpoint");
    if (steps[0])
        return tz_fail_text(EXIT_FAILED,
                            "%s has nothing of step %d: its checkpoints are of steps %s", folder,
                            j->step, steps);
    return tz_fail_text(EXIT_FAILED,
                        j->checkpoint
                            ? "%s has no checkpoint: run with --checkpoint 10min keeps one"
                            : "%s has no .npy files and no checkpoint, so there is nothing to "
                              "export: a scenario writes files with sim:every(n, tz.npy()) or "
                              "sim:write(tz.npy())",
                        folder);
}

static int export_call(const tz_command *command, int argc, char **argv)
{
    job j = {.step = -1, .look = {.bits = 8, .map = "viridis"}};
    char names[256];
    struct stat facts;
    tz_error error;
    const tz_option options[] = {TZ_CALL("to", (void *)&j.to, take_format),
                                 TZ_TEXT("into", &j.into),
                                 TZ_TEXT("field", &j.field),
                                 TZ_TEXT("rule", &j.rule),
                                 TZ_INTEGER("step", &j.step, 0, INT_MAX),
                                 TZ_FLAG("checkpoint", &j.checkpoint),
                                 TZ_CALL("map", &j.look, take_map),
                                 TZ_CALL("range", &j.look, take_range),
                                 {.name = NULL}};
    const int code = tz_options_read(command, argc, argv, options);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (optind == argc)
        return tz_misuse(command, "needs the folder of a run, or a file with an array");
    if (optind + 1 != argc)
        return tz_misuse(command, "takes one folder or file, not '%.60s' too", argv[optind + 1]);
    if (!j.to)
        return tz_misuse(command, "needs --to %s, or png", tz_format_names(names));
    const char *from = argv[optind];
    const bool there = stat(from, &facts) == 0, folder = there && S_ISDIR(facts.st_mode);
    if (strlen(from) >= PATH_MAX || (j.into && (!j.into[0] || strlen(j.into) >= PATH_MAX)))
        return tz_fail_text(EXIT_FAILED, "%.60s…: the path is empty or too long",
                            j.into ? j.into : from);
    if (!there)
        return tz_fail_text(EXIT_FAILED, "%.300s: is neither a folder nor a file", from);
    if (!folder && (j.step >= 0 || j.checkpoint))
        return tz_misuse(command, "--%s is for the folder of a run",
                         j.checkpoint ? "checkpoint" : "step");
    if (j.into && tz_make_dirs(j.into, &error) != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    char run[PATH_MAX], record[PATH_MAX + 16];
    snprintf(run, sizeof run, "%s", from);
    if (!folder)
        tz_path_folder(from, run, sizeof run);
    snprintf(record, sizeof record, "%s/run.json", run);
    j.run = json_load_file(record, 0, NULL);
    const int done = folder ? export_folder(&j, from) : export_file(&j, &j.look, from);
    json_decref(j.run);
    return done == EXIT_DONE ? tz_finish_output() : done;
}

const tz_command tz_command_export = {
    .name = "export",
    .examples = "  trapeze export runs/chip-001 --to vti\n"
                "  trapeze export power.npy --to csv\n",
    .arguments = "RUNDIR|FILE --to FORMAT [OPTION]…",
    .doc = "write the arrays of a run, or of its checkpoint, in another format",
    .help =
        "Writes each .npy file of a run, or one file, in another format beside it: without .npy\n"
        "files those of .rle, .vti or .h5, and without these the fields of the newest checkpoint.\n"
        "Files that are there already are not replaced.\n"
        "  --to csv     numbers with commas: a line for each row along x, a blank line between\n"
        "               planes; they read back as the same values\n"
        "  --to vti     VTK's image data, for ParaView: cells of width 1, the same bits\n"
        "  --to png     pictures: those of a series have one range of colours\n"
        "  --to NAME    any other format of array:save, as `trapeze manual` lists them\n"
        "  --step N     only what is of this step: files NAME-00000N, else a checkpoint\n"
        "  --checkpoint the fields of the newest checkpoint\n"
        "  --field NAME only this field: of a checkpoint, of files whose names have it, or of\n"
        "               files with several arrays\n"
        "  --rule RULE  of Life patterns (--to rle): by default that of the run, else B3/S23\n"
        "  --range LOW,HIGH  of pictures; by default the extremes of all files of a series\n"
        "  --map NAME   of pictures: a colour map, viridis by default\n"
        "  --into DIR   write into this folder\n"
        "  -h, --help   print this\n",
    .call = export_call,
};
