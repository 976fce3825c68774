/* trapeze run --from RUNDIR: simulations begin with the fields, the step and the time that another
 * run came to, from its checkpoint or its .npy frames; trapeze resume --until: the last run of a
 * script goes on. Called by running.c before the first run of a simulation, and by checkpoint.c. */
#include "lua/checkpoint.h"

#include "base/json.h"
#include "base/number.h"
#include "lua/recall.h"
#include "output/folder.h"
#include "output/format/npy.h"
#include "sim/fields.h"
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Which simulation of that run ------------------------------------------------------------ */

/* The entry of that name in a list of simulations; else, for the first one, the only entry. NULL:
 * there is none. */
static const json_t *find_entry(const json_t *list, const tz_simulation_handle *handle)
{
    const json_t *entry;
    size_t i;
    json_array_foreach((json_t *)list, i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        if (name && strcmp(name, handle->name) == 0)
            return entry;
    }
    return json_array_size(list) == 1 && handle->index == 0 ? json_array_get(list, 0) : NULL;
}

/* "u, v" of the fields in the mask, or of the state fields that are not. */
static const char *name_fields(const tz_stencil *stencil, uint32_t mask, bool in, char *text,
                               size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int f = 0; f < stencil->fields_count && used < size; f++)
        if (stencil->fields[f].role == TZ_STATE && (mask >> f & 1) == in)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     stencil->fields[f].name);
    return text;
}

static void tell(tz_simulation_handle *handle, uint32_t taken, const char *kind)
{
    tz_context *context = handle->context;
    const tz_stencil *stencil = tz_handle_stencil(handle);
    const long long step = tz_simulation_step(handle->simulation);
    char names[400], rest[400];
    name_fields(stencil, taken, false, rest, sizeof rest);
    tz_record_parent(context->files.record, handle->index, context->options->from, step, kind);
    tz_context_note(context, TZ_NOTE_LOG, "%s: begins with %s of %s at step %lld%s%s", handle->name,
                    name_fields(stencil, taken, true, names, sizeof names), context->options->from,
                    step, rest[0] ? "; that run has no " : "", rest);
}

/* ---- From a checkpoint ----------------------------------------------------------------------- */

static tz_status take_checkpoint(tz_simulation_handle *handle, tz_checkpoint_reader *reader,
                                 const json_t *found, bool fields, tz_error *error)
{
    const json_t *record = json_object_get(tz_checkpoint_facts(reader), "record");
    const json_t *index = json_object_get(found, "index");
    char prefix[32];
    uint32_t taken = 0;
    snprintf(prefix, sizeof prefix, "%lld/", (long long)json_integer_value(index));
    const tz_checkpoint_entry entry = {.reader = reader,
                                       .prefix = prefix,
                                       .identity = json_object_get(found, "identity"),
                                       .progress = json_object_get(found, "progress"),
                                       .record =
                                           json_array_get(json_object_get(record, "simulations"),
                                                          (size_t)json_integer_value(index))};
    const tz_status status =
        tz_simulation_begin_with(handle->simulation, &entry, fields, &taken, error);
    if (status)
        return status;
    if (taken == 0) {
        char names[400];
        return tz_error_set(error, TZ_UNKNOWN, NULL, "its checkpoint has no field of the name %s",
                            name_fields(tz_handle_stencil(handle), 0, false, names, sizeof names));
    }
    tell(handle, taken, "checkpoint");
    return TZ_OK;
}

/* Take the newest checkpoint, or that of the wanted step. *found: there was one. */
static tz_status try_checkpoints(tz_simulation_handle *handle, bool fields, bool *found,
                                 tz_error *error)
{
    const tz_script_options *options = handle->context->options;
    int slots[TZ_CHECKPOINT_SLOTS];
    char path[PATH_MAX + 32];
    const int count = tz_checkpoints_list(options->from, slots, NULL);
    tz_status status = TZ_OK;
    *found = false;
    for (int i = 0; i < count && !*found; i++) {
        tz_checkpoint_reader *reader = NULL;
        tz_checkpoints_file(options->from, slots[i], path, sizeof path);
        status = tz_checkpoint_open(&reader, path, fields, error);
        if (status)
            continue; /* the older one may be whole */
        const json_t *entry =
            find_entry(json_object_get(tz_checkpoint_facts(reader), "simulations"), handle);
        const json_t *step = json_object_get(json_object_get(entry, "progress"), "step");
        *found =
            entry && (options->from_step < 0 || json_integer_value(step) == options->from_step);
        if (*found)
            status = take_checkpoint(handle, reader, entry, fields, error);
        tz_checkpoint_close(reader);
    }
    return status;
}

/* ---- From frames of numbers ------------------------------------------------------------------ */

/* Files such as "sim1-u-000500.npy". */
typedef struct series {
    char stem[160]; /* "sim1-u"; "": there are none */
    const tz_format *format;
} series;

/* "sim1-u" of the pattern "sim1-u-NNNNNN.npy" in run.json. False: an output of another kind. */
static bool get_stem(const char *pattern, const json_t *output, series *out)
{
    const char *kind = json_string_value(json_object_get(output, "kind"));
    const tz_format *format = kind ? tz_format_find(kind) : NULL;
    const char *number = strstr(pattern, "-NNNNNN.");
    if (!format || format->content != TZ_CONTENT_ARRAY || !format->read || !number ||
        number - pattern >= (ptrdiff_t)sizeof out->stem)
        return false;
    out->format = format;
    snprintf(out->stem, sizeof out->stem, "%.*s", (int)(number - pattern), pattern);
    return true;
}

/* The files of a field. A stencil with one state field takes the only ones, whatever their name. */
static series find_series(const json_t *record, const tz_simulation_handle *handle, int field)
{
    const tz_stencil *stencil = tz_handle_stencil(handle);
    const char *name = stencil->fields[field].name, *pattern;
    const json_t *output;
    const size_t part = strlen(name);
    int patterns = 0, states = 0;
    series one, last = {{0}, NULL}, found = {{0}, NULL};
    for (int f = 0; f < stencil->fields_count; f++)
        states += stencil->fields[f].role == TZ_STATE;
    json_object_foreach(json_object_get(record, "outputs"), pattern, output)
    {
        if (!get_stem(pattern, output, &one))
            continue;
        const size_t whole = strlen(one.stem);
        patterns++;
        last = one;
        if (whole >= part && strcmp(one.stem + whole - part, name) == 0 &&
            (whole == part || one.stem[whole - part - 1] == '-'))
            found = one;
    }
    return !found.stem[0] && patterns == 1 && states == 1 ? last : found;
}

/* The step of a file "STEM-000500.npy"; -1: the name is another one. */
static long long step_of(const char *name, const series *of)
{
    const size_t length = strlen(of->stem);
    char *end;
    if (strncmp(name, of->stem, length) != 0 || name[length] != '-' || name[length + 1] == '-')
        return -1;
    const long long step = strtoll(name + length + 1, &end, 10);
    return strcmp(end, of->format->suffix) == 0 && end > name + length + 1 ? step : -1;
}

/* The wanted step, or the last one that has a file; -1: there is none. */
static long long find_step(const char *folder, const series *of, long long wanted)
{
    DIR *all = opendir(folder);
    long long last = -1;
    for (const struct dirent *entry; all && (entry = readdir(all));) {
        const long long step = step_of(entry->d_name, of);
        if (wanted < 0 ? step > last : step == wanted)
            last = step;
    }
    if (all)
        closedir(all);
    return last;
}

/* A large file is written piece by piece. */
static tz_status take_pieces(tz_simulation *simulation, int field, tz_npy_file *file,
                             const char *path, tz_error *error)
{
    const tz_npy_facts *facts = tz_npy_file_facts(file);
    const int64_t pieces = tz_npy_pieces(file, facts->dims, facts->shape);
    tz_status status = TZ_OK;
    for (int64_t k = 0; k < pieces && !status; k++) {
        tz_npy_piece piece;
        status = tz_npy_read_piece(file, facts->dims, facts->shape, k, &piece, error);
        if (!status)
            status =
                tz_simulation_write_array(simulation, field, &piece.cells, piece.at, path, error);
    }
    return status;
}

static tz_status take_file(tz_simulation *simulation, int field, const tz_format *format,
                           const char *path, tz_error *error)
{
    tz_format_reading reading = {.dims = 0};
    static const int64_t origin[TZ_AXES];
    tz_status status = format->read(path, &reading, error);
    if (status)
        return status;
    const tz_npy_facts *facts = reading.file ? tz_npy_file_facts(reading.file) : NULL;
    const int64_t *extent = tz_simulation_extent(simulation);
    const int64_t *shape = facts ? facts->shape : reading.array->shape;
    const int dims = tz_simulation_stencil(simulation)->dims;
    char has[TZ_SHAPE_TEXT_SIZE], needs[TZ_SHAPE_TEXT_SIZE];
    if (memcmp(shape, extent, TZ_AXES * sizeof *extent) != 0)
        status = tz_error_set(error, TZ_RANGE, path, "has %s numbers, and the grid %s cells",
                              tz_shape_text(has, facts ? facts->dims : reading.array->dims, shape),
                              tz_shape_text(needs, dims, extent));
    else if (reading.file)
        status = take_pieces(simulation, field, reading.file, path, error);
    else
        status = tz_simulation_write_array(simulation, field, reading.array, origin, path, error);
    tz_npy_close(reading.file);
    tz_array_destroy(reading.array);
    return status;
}

/* The time step of that run, in its unit; NAN: it had none. */
static double time_step_of(const json_t *record, const tz_simulation *simulation)
{
    const tz_param *param = tz_simulation_time_step(simulation);
    const json_t *params = json_object_get(record, "params");
    const json_t *value =
        param ? json_object_get(json_object_get(params, param->name), "value") : NULL;
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* *found: there are files of a state field. */
static tz_status try_frames(tz_simulation_handle *handle, const json_t *record, bool fields,
                            bool *found, tz_error *error)
{
    const tz_script_options *options = handle->context->options;
    const tz_stencil *stencil = tz_handle_stencil(handle);
    tz_simulation *simulation = handle->simulation;
    long long step = options->from_step;
    const char *kind = "";
    uint32_t taken = 0;
    tz_status status = TZ_OK;
    for (int f = 0; f < stencil->fields_count && !status; f++) {
        char path[PATH_MAX + 200];
        const series files = stencil->fields[f].role == TZ_STATE ? find_series(record, handle, f)
                                                                 : (series){{0}, NULL};
        const long long last = files.stem[0] ? find_step(options->from, &files, step) : -1;
        if (last < 0)
            continue;
        step = last;
        kind = files.format->name;
        snprintf(path, sizeof path, "%s/%s-%06lld%s", options->from, files.stem, step,
                 files.format->suffix);
        if (fields)
            status = take_file(simulation, f, files.format, path, error);
        taken |= UINT32_C(1) << f;
    }
    *found = taken != 0;
    if (status || !*found)
        return status;
    tz_simulation_begin_at(simulation, step, time_step_of(record, simulation));
    tell(handle, taken, kind);
    return TZ_OK;
}

/* ---- Both ------------------------------------------------------------------------------------ */

static tz_status begin(tz_simulation_handle *handle, bool fields, tz_error *error)
{
    const tz_script_options *options = handle->context->options;
    json_t *record = NULL;
    char names[400], at[64] = "";
    bool found = false;
    tz_error why;
    tz_status status = tz_run_load_record(options->from, &record, error);
    if (status)
        return status;
    status = try_checkpoints(handle, fields, &found, error);
    if (!found) {
        why = *error;
        const json_t *entry = find_entry(json_object_get(record, "simulations"), handle);
        const tz_status tried = entry ? try_frames(handle, entry, fields, &found, error) : TZ_OK;
        if (found)
            status = tried;
        else if (status)
            *error = why;
    }
    json_decref(record);
    if (options->from_step >= 0)
        snprintf(at, sizeof at, " of step %lld", (long long)options->from_step);
    if (status || found)
        return status;
    return tz_error_set(
        error, TZ_IO, NULL,
        "it has no checkpoint%s and no .npy frames of %s: a run that is started "
        "with --checkpoint 10min keeps its last one, and sim:every(1000, tz.npy "
        "\"%s\") writes frames",
        at, name_fields(tz_handle_stencil(handle), 0, false, names, sizeof names),
        tz_handle_stencil(handle)->fields[tz_output_default_field(tz_handle_stencil(handle))].name);
}

tz_status tz_from_begin(tz_simulation_handle *handle, tz_error *error)
{
    const char *from = handle->context->options->from;
    const bool fields = tz_recall_records(handle->context);
    tz_error why;
    char text[2000];
    if (handle->begun || !from)
        return TZ_OK;
    handle->begun = true;
    const tz_status status = begin(handle, fields, &why);
    if (!status)
        return TZ_OK;
    tz_error_format(&why, text, sizeof text);
    return tz_error_set(error, status, NULL, "--from %s: %s", from, text);
}

/* ---- The same run, longer -------------------------------------------------------------------- */

tz_status tz_resume_extend(tz_context *context, const json_t *facts, tz_error *error)
{
    const char *until = context->options->until;
    tz_active_run *run = context->runs;
    if (!until)
        return TZ_OK;
    if (context->simulations != 1)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "--until is for scripts with one simulation, and this one has made "
                            "%zu: begin another run with its fields, trapeze run %s --from %s",
                            context->simulations, context->options->path, context->options->resume);
    if (!run || !json_is_true(json_object_get(facts, "ended")))
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "--until goes on with the sim:run that ends a script, and this one has "
                            "changed its simulation or its tables after that, or was stopped "
                            "before: begin another run with its fields, trapeze run %s --from %s",
                            context->options->path, context->options->resume);
    tz_simulation *simulation = run->handle->simulation;
    const tz_param *time_step = tz_simulation_time_step(simulation);
    char *end;
    double time = 0;
    int64_t step = strtoll(until, &end, 10);
    tz_status status = TZ_OK;
    if (*end != '\0' || end == until) {
        const bool bare = strncmp(until, "t=", 2) == 0; /* in the unit of the time step */
        if (!time_step || (!bare && !time_step->unit[0]))
            return tz_error_set(error, TZ_RANGE, NULL, "%s: give --until a step, such as %lld%s",
                                time_step ? "time has no unit here"
                                          : "the stencil has no time step",
                                (long long)(2 * tz_simulation_step(simulation)),
                                time_step ? ", or a time such as t=10" : "");
        if (!bare)
            status = tz_duration_parse(until, time_step->unit, &time, error);
        else if (!tz_number_parse(until + 2, strlen(until + 2), &time))
            status =
                tz_error_set(error, TZ_FORMAT, NULL, "--until %.40s: no number follows t=", until);
        if (!status)
            status = tz_simulation_step_at(simulation, time, &step, error);
    }
    return status ? status : tz_simulation_extend(simulation, &run->course, step, error);
}
