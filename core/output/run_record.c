/* run.json: what a run was and did. Scenarios write it, commands and reports read it. */
#include "output/run_record.h"

#include "backend/slabs/slabs.h"
#include "base/atomic.h"
#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "base/text.h"
#include "policy/policy.h"
#include "sim/solve.h"
#include "stencil/problem.h"
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct tz_record {
    json_t *root;
    json_t *simulations; /* borrowed from root */
    bool failed;         /* memory ran out on the way */
};

/* JSON needs UTF-8. Release the copy with free(). */
static char *copy_utf8(const char *text)
{
    char *copy = strdup(text);
    if (copy)
        tz_text_utf8(copy);
    return copy;
}

static void put(tz_record *record, json_t *object, const char *key, json_t *value)
{
    char *name = copy_utf8(key);
    if (!name)
        json_decref(value);
    if (!name || json_object_set_new(object, name, value) != 0)
        record->failed = true;
    free(name);
}

static void push(tz_record *record, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        record->failed = true;
}

/* JSON has no NaN and no infinity. */
static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text(const char *value)
{
    if (!value)
        return json_null();
    char *copy = copy_utf8(value);
    json_t *string = copy ? json_string(copy) : NULL;
    free(copy);
    return string;
}

/* The time of day, UTC: "2026-11-23T16:05:00Z". */
static json_t *now(void)
{
    const time_t seconds = time(NULL);
    struct tm parts;
    char words[40] = "";
    if (gmtime_r(&seconds, &parts))
        strftime(words, sizeof words, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text(words);
}

tz_status tz_record_create(tz_record **out, const char *scenario, int arguments_count,
                           const char *const *arguments, size_t sets_count, const char *const *sets,
                           const tz_machine *machine, tz_error *error)
{
    tz_record *record = calloc(1, sizeof *record);
    if (!record || !(record->root = json_object())) {
        free(record);
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the run's record");
    }
    json_t *root = record->root, *list = json_array(), *values = json_object();
    put(record, root, "trapeze", text(TZ_VERSION));
    put(record, root, "scenario", text(scenario));
    put(record, root, "arguments", list);
    for (int i = 0; i < arguments_count; i++)
        push(record, list, text(arguments[i]));
    put(record, root, "args", values);
    for (size_t i = 0; i < sets_count; i++) {
        const char *equals = strchr(sets[i], '=');
        char name[128];
        snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - sets[i]) : 127, sets[i]);
        put(record, values, name, text(equals ? equals + 1 : ""));
    }
    put(record, root, "status", text("running"));
    put(record, root, "error", json_null());
    put(record, root, "began", now());
    put(record, root, "ended", json_null());
    json_t *host = json_object();
    put(record, root, "machine", host);
    put(record, host, "cpu", text(machine->cpu));
    put(record, host, "cores", json_integer(machine->cores));
    put(record, host, "isa", text(tz_isa_name(machine->isa)));
    record->simulations = json_array();
    put(record, root, "simulations", record->simulations);
    put(record, root, "files", json_array());
    *out = record;
    return TZ_OK;
}

void tz_record_destroy(tz_record *record)
{
    if (!record)
        return;
    json_decref(record->root);
    free(record);
}

/* The object of simulation `index`; it is made if necessary. NULL: out of memory. */
static json_t *get_simulation(tz_record *record, size_t index)
{
    while (json_array_size(record->simulations) <= index) {
        json_t *object = json_object();
        if (!object || json_array_append_new(record->simulations, object) != 0) {
            record->failed = true;
            return NULL;
        }
        put(record, object, "name", json_null());
    }
    return json_array_get(record->simulations, index);
}

static json_t *get_child(tz_record *record, json_t *object, const char *key)
{
    json_t *child = json_object_get(object, key);
    if (!child) {
        put(record, object, key, json_object());
        child = json_object_get(object, key);
    }
    return child;
}

static void put_params(tz_record *record, json_t *object, const tz_simulation *simulation)
{
    const tz_stencil *stencil = tz_simulation_stencil(simulation);
    const tz_value *values = tz_simulation_params(simulation);
    json_t *params = json_object();
    put(record, object, "params", params);
    for (int i = 0; i < stencil->params_count; i++) {
        const tz_param *param = &stencil->params[i];
        const tz_cell value = tz_param_cell(param, &values[i]);
        json_t *entry = json_object();
        put(record, params, param->name, entry);
        put(record, entry, "value", tz_cell_json(&value));
        put(record, entry, "unit", text(param->unit));
        put(record, entry, "given", json_boolean(values[i].given));
    }
}

/* {"u": {"as": "half", "origin": 80, "scale": 1}}, if a field is stored otherwise than computed. */
static void put_storage(tz_record *record, json_t *object, const tz_simulation *simulation)
{
    const tz_stencil *stencil = tz_simulation_stencil(simulation);
    for (int f = 0; f < stencil->fields_count; f++) {
        tz_storage_wish storage;
        if (!tz_simulation_storage(simulation, f, &storage))
            continue;
        json_t *one = json_object();
        put(record, get_child(record, object, "storage"), storage.field, one);
        put(record, one, "as", text(tz_stored_name(storage.as)));
        put(record, one, "origin", real(storage.origin));
        put(record, one, "scale", real(storage.scale));
    }
}

/* Constants that the scenario gives for each iteration: a formula, or a list. */
static void put_scalars(tz_record *record, json_t *object, const tz_simulation *simulation)
{
    const tz_series *series = NULL;
    const size_t count = tz_simulation_scalars(simulation, &series);
    json_t *scalars = json_object();
    put(record, object, "scalars", scalars);
    for (size_t i = 0; i < count; i++) {
        json_t *value = series[i].text ? text(series[i].text) : json_array();
        put(record, scalars, series[i].name, value);
        for (size_t k = 0; !series[i].text && k < series[i].count; k++)
            push(record, value, real(series[i].values[k]));
    }
}

static void put_measured(tz_record *record, json_t *policy, const tz_policy *from, int dims)
{
    tz_policy_measurement m;
    json_t *measured = json_array();
    int before = 0, now = 0;
    put(record, policy, "measured", measured);
    for (size_t i = 0; tz_policy_measured(from, i, &m); i++) {
        if (m.plan.height == 0) /* not known yet: its rows are being compiled */
            continue;
        before += m.remembered;
        now += !m.remembered && !isnan(m.time_s);
        push(record, measured, tz_row_json(tz_policy_measurement_columns, &dims, &m));
    }
    if (before + now > 0) {
        put(record, policy, "plans_remembered", json_integer(before));
        put(record, policy, "plans_measured", json_integer(now));
    }
}

/* The policy and its decisions, each with its reason. */
static void put_policy(tz_record *record, json_t *object, const tz_simulation *simulation)
{
    const tz_policy *from = tz_simulation_policy(simulation);
    const int dims = tz_simulation_stencil(simulation)->dims;
    int64_t left_out = 0;
    char words[256];
    const tz_sheet decisions = tz_policy_decision_sheet(from, &dims, &left_out);
    json_t *policy = json_object();
    put(record, object, "policy", policy);
    put(record, policy, "name", text(tz_policy_name_of(from)));
    put(record, policy, "text", text(tz_policy_describe(from, words, sizeof words)));
    put(record, policy, "settled", json_boolean(tz_policy_settled(from)));
    put(record, policy, "decisions", tz_sheet_json(&decisions));
    put(record, policy, "decisions_left_out", json_integer(left_out));
    put_measured(record, policy, from, dims);
}

/* The slabs of several devices, and what they exchanged. */
static void put_slabs(tz_record *record, json_t *object, const tz_simulation *simulation)
{
    tz_slabs_facts facts;
    if (!tz_simulation_slabs(simulation, &facts))
        return;
    json_t *list = json_array(), *exchanges = json_object();
    put(record, object, "devices", list);
    for (int i = 0; i < facts.devices.count; i++) {
        json_t *entry = json_object();
        put(record, entry, "device", json_integer(facts.devices.of[i].device));
        put(record, entry, "threads", json_integer(facts.devices.of[i].threads));
        put(record, entry, "from", json_integer(facts.at[i]));
        put(record, entry, "to", json_integer(facts.at[i + 1]));
        push(record, list, entry);
    }
    put(record, object, "shares", text(tz_shares_text(facts.devices.how)));
    put(record, object, "exchanges", exchanges);
    put(record, exchanges, "count", json_integer(facts.exchanged.count));
    put(record, exchanges, "bytes", real(facts.exchanged.bytes));
    put(record, exchanges, "seconds", real(facts.exchanged.seconds));
    const tz_slabs_paths *paths = &facts.paths;
    if (paths->direct + paths->by_host == 0)
        return;
    json_t *between = json_object();
    put(record, exchanges, "between_ranks", between);
    put(record, between, "direct", json_integer(paths->direct));
    put(record, between, "through_host", json_integer(paths->by_host));
    if (paths->why[0])
        put(record, between, "why", text(paths->why));
}

static void put_last_run(tz_record *record, json_t *object, const tz_simulation *simulation)
{
    const tz_run_end *end = tz_simulation_last_run(simulation);
    json_t *run = json_object();
    if (!end->status) {
        json_decref(run);
        run = json_null();
    } else {
        put(record, run, "status", text(tz_run_status_name(end->status)));
        put(record, run, "steps", json_integer(end->steps));
        put(record, run, "residual", real(end->residual));
        if (end->why[0])
            put(record, run, "why", text(end->why));
        if (end->dt_most > 0) {
            put(record, run, "time_step_least", real(end->dt_least));
            put(record, run, "time_step_most", real(end->dt_most));
        }
    }
    put(record, object, "last_run", run);
}

static void put_plans(tz_record *record, json_t *object, const tz_simulation *simulation)
{
    const tz_plan_use *uses = NULL;
    const size_t count = tz_simulation_plan_uses(simulation, &uses);
    const int dims = tz_simulation_stencil(simulation)->dims;
    json_t *plans = json_array();
    put(record, object, "plans", plans);
    for (size_t i = 0; i < count; i++) {
        json_t *entry = tz_plan_to_json(&uses[i].plan, dims);
        if (uses[i].backend[0])
            put(record, entry, "backend", text(uses[i].backend));
        put(record, entry, "why", text(uses[i].plan.why));
        put(record, entry, "stages", json_integer(uses[i].stages));
        put(record, entry, "steps", json_integer(uses[i].steps));
        put(record, entry, "seconds", real(uses[i].seconds));
        push(record, plans, entry);
    }
}

static void put_jumps(tz_record *record, json_t *object, const tz_simulation *simulation)
{
    const tz_jump_use *use = tz_simulation_jumps(simulation);
    if (use->jumps + use->steady == 0)
        return;
    json_t *jump = json_object();
    put(record, object, "jump", jump);
    put(record, jump, "method", text("frequency domain"));
    put(record, jump, "library", text(use->library));
    put(record, jump, "jumps", json_integer(use->jumps));
    put(record, jump, "steps", json_integer(use->steps));
    put(record, jump, "steady_states", json_integer(use->steady));
    put(record, jump, "seconds", real(use->seconds));
    put(record, jump, "bytes", json_integer(use->bytes));
    put(record, jump, "estimated_rounding", real(use->rounding));
}

static void put_solved(tz_record *record, json_t *object, const tz_simulation *simulation)
{
    const tz_solve_use *use = tz_simulation_solved(simulation);
    if (use->steady + use->steps == 0)
        return;
    json_t *solved = json_object();
    put(record, object, "solver", solved);
    put(record, solved, "method", text(use->method));
    put(record, solved, "steady_states", json_integer(use->steady));
    if (use->steady > 0)
        put(record, solved, "residual", real(use->residual));
    put(record, solved, "implicit_steps", json_integer(use->steps));
    put(record, solved, "steps", json_integer(use->covered));
    put(record, solved, "systems", json_integer(use->systems));
    put(record, solved, "iterations", json_integer(use->iterations));
    put(record, solved, "seconds", real(use->seconds));
    put(record, solved, "bytes", json_integer(use->bytes));
}

/* A number, or {"x": [low, high], …} if sides differ. */
static json_t *boundary_values(tz_record *record, int dims, const double *values)
{
    static const char *const axes[] = {"x", "y", "z"};
    bool same = true;
    for (int side = 1; side < 2 * dims; side++)
        same = same && values[side] == values[0];
    if (same)
        return real(values[0]);
    json_t *object = json_object();
    for (int axis = 0; axis < dims; axis++) {
        json_t *sides = json_array();
        put(record, object, axes[axis], sides);
        push(record, sides, real(values[2 * axis]));
        push(record, sides, real(values[2 * axis + 1]));
    }
    return object;
}

void tz_record_simulation(tz_record *record, size_t index, const char *name,
                          const char *plugin_path, const char *definition,
                          const tz_simulation *simulation)
{
    json_t *object = get_simulation(record, index);
    if (!object)
        return;
    const tz_stencil *stencil = tz_simulation_stencil(simulation);
    const tz_plugin *plugin = tz_simulation_plugin(simulation);
    const int64_t *extent = tz_simulation_extent(simulation);
    put(record, object, "name", text(name));
    put(record, object, "stencil", text(stencil->id));
    json_t *source = json_object();
    put(record, object, "plugin", source);
    put(record, source, "id", text(plugin->id));
    put(record, source, "version", text(plugin->version));
    put(record, source, "path", text(plugin_path));
    if (definition)
        put(record, source, "definition", text(definition));
    char sides[TZ_BOUNDARY_TEXT_SIZE], device[128];
    json_t *grid = json_array(), *boundary = json_array();
    put(record, object, "grid", grid);
    put(record, object, "precision", text(tz_simulation_precision(simulation)));
    if (tz_simulation_copies(simulation) == 1)
        put(record, object, "copies", json_integer(1));
    put(record, object, "boundary", boundary);
    for (int axis = 0; axis < stencil->dims; axis++) {
        push(record, grid, json_integer(extent[axis]));
        push(record, boundary,
             text(tz_boundary_text(tz_simulation_boundary(simulation, axis), sides)));
    }
    json_t *values = json_object();
    put(record, object, "boundary_values", values);
    for (int field = 0; field < stencil->fields_count; field++)
        if (stencil->fields[field].role == TZ_STATE || stencil->fields[field].role == TZ_STATIC)
            put(record, values, stencil->fields[field].name,
                boundary_values(record, stencil->dims,
                                tz_simulation_boundary_values(simulation, field)));
    put_storage(record, object, simulation);
    put_params(record, object, simulation);
    put_scalars(record, object, simulation);
    get_child(record, object, "fields");
    put(record, object, "backend", text(tz_simulation_backend(simulation)));
    put(record, object, "backend_given", json_boolean(tz_simulation_backend_given(simulation)));
    if (tz_simulation_choice(simulation)[0])
        put(record, object, "backend_why", text(tz_simulation_choice(simulation)));
    put(record, object, "device",
        text(tz_simulation_device_name(simulation, device, sizeof device)));
    put(record, object, "threads", json_integer(tz_simulation_threads(simulation)));
    put(record, object, "bytes", json_integer(tz_simulation_bytes(simulation)));
    put_slabs(record, object, simulation);
    put_last_run(record, object, simulation);
    put_plans(record, object, simulation);
    put_jumps(record, object, simulation);
    put_solved(record, object, simulation);
    put_policy(record, object, simulation);
    const tz_plan_use *uses = NULL;
    const size_t count = tz_simulation_plan_uses(simulation, &uses);
    int64_t steps = 0;
    for (size_t i = 0; i < count; i++)
        steps += uses[i].steps;
    const double seconds = tz_simulation_seconds(simulation);
    put(record, object, "step", json_integer(tz_simulation_step(simulation)));
    const tz_param *time_step = tz_simulation_time_step(simulation);
    put(record, object, "time", real(tz_simulation_time(simulation)));
    put(record, object, "time_unit", text(time_step ? time_step->unit : NULL));
    put(record, object, "steps", json_integer(steps));
    put(record, object, "seconds", real(seconds));
    put(record, object, "set_up_seconds", real(tz_simulation_set_up_seconds(simulation)));
    put(record, object, "gcells_per_s",
        real(seconds > 0 ? 1e-9 * (double)steps * (double)tz_simulation_cells(simulation) / seconds
                         : NAN));
    const double joules = tz_simulation_energy_used(simulation);
    const double gcells = 1e-9 * (double)steps * (double)tz_simulation_cells(simulation);
    if (joules > 0 && gcells > 0) {
        put(record, object, "energy_j", real(joules));
        put(record, object, "joule_per_gcell", real(joules / gcells));
    }
    get_child(record, object, "outputs");
}

void tz_record_source(tz_record *record, size_t index, const char *field, const char *source,
                      const uint64_t *seed, bool append)
{
    json_t *object = get_simulation(record, index);
    if (!object)
        return;
    json_t *fields = get_child(record, object, "fields");
    json_t *list = json_object_get(fields, field);
    if (!list || !append) {
        list = json_array();
        put(record, fields, field, list);
    }
    json_t *entry = json_object();
    put(record, entry, "source", text(source));
    if (seed)
        put(record, entry, "seed", json_integer((json_int_t)*seed));
    push(record, list, entry);
}

void tz_record_output(tz_record *record, size_t index, const char *pattern, const char *kind,
                      const tz_interval *every, int64_t count)
{
    json_t *object = get_simulation(record, index);
    if (!object)
        return;
    json_t *entry = json_object();
    put(record, entry, "kind", text(kind));
    put(record, entry, "every", every->steps > 0 ? json_integer(every->steps) : json_null());
    if (every->time > 0)
        put(record, entry, "every_time", real(every->time));
    put(record, entry, "count", json_integer(count));
    put(record, get_child(record, object, "outputs"), pattern, entry);
}

void tz_record_file(tz_record *record, const char *name)
{
    if (record)
        push(record, json_object_get(record->root, "files"), text(name));
}

void tz_record_parent(tz_record *record, size_t index, const char *folder, int64_t step,
                      const char *kind)
{
    json_t *object = get_simulation(record, index), *parent = json_object();
    put(record, object, "parent", parent);
    put(record, parent, "folder", text(folder));
    put(record, parent, "step", json_integer(step));
    put(record, parent, "kind", text(kind));
}

void tz_record_intervention(tz_record *record, json_t *entry)
{
    if (!json_object_get(record->root, "interventions"))
        put(record, record->root, "interventions", json_array());
    push(record, json_object_get(record->root, "interventions"), entry);
}

json_t *tz_record_copy(const tz_record *record)
{
    return record->failed ? NULL : json_deep_copy(record->root);
}

bool tz_record_replace(tz_record *record, const json_t *root)
{
    json_t *copy = json_deep_copy(root);
    json_t *simulations = json_object_get(copy, "simulations");
    if (!json_is_array(simulations) || !json_is_array(json_object_get(copy, "files"))) {
        json_decref(copy);
        return false;
    }
    json_decref(record->root);
    record->root = copy;
    record->simulations = simulations;
    return true;
}

static size_t number_length(const char *json)
{
    size_t length = 0;
    while ((json[length] >= '0' && json[length] <= '9') ||
           (json[length] != '\0' && memchr("+-.eE", json[length], 5)))
        length++;
    return length;
}

/* The length up to the next number outside strings. */
static size_t other_length(const char *json)
{
    size_t length = 0;
    for (bool quoted = false; json[length] != '\0'; length++) {
        if (!quoted && (json[length] == '-' || (json[length] >= '0' && json[length] <= '9')))
            break;
        if (json[length] == '"')
            quoted = !quoted;
        else if (json[length] == '\\')
            length++; /* an escape in a string: skip the character after it */
    }
    return length;
}

/* jansson writes 17 digits (318.14999999999998); write the shortest text with the same value. */
static tz_status write_shortened(tz_atomic_file *file, const char *json, tz_error *error)
{
    tz_status status = TZ_OK;
    while (status == TZ_OK && *json != '\0') {
        const size_t other = other_length(json);
        if (other > 0)
            status = tz_atomic_write(file, json, other, error);
        json += other;
        const size_t length = number_length(json);
        double value;
        char number[TZ_NUMBER_SIZE];
        const bool is_real = memchr(json, '.', length) || memchr(json, 'e', length);
        if (status == TZ_OK && is_real && tz_number_parse(json, length, &value)) {
            tz_number_format(number, value);
            status = tz_atomic_write(file, number, strlen(number), error);
            if (status == TZ_OK && !strpbrk(number, ".e"))
                status = tz_atomic_write(file, ".0", 2, error);
        } else if (status == TZ_OK && length > 0) {
            status = tz_atomic_write(file, json, length, error);
        }
        json += length;
    }
    return status == TZ_OK ? tz_atomic_write(file, "\n", 1, error) : status;
}

static bool set_status(tz_record *record, const char *status, const char *failure)
{
    record->failed = false;
    put(record, record->root, "status", text(status));
    put(record, record->root, "error", text(failure));
    put(record, record->root, "ended", strcmp(status, "running") == 0 ? json_null() : now());
    return !record->failed;
}

static tz_status write_json(const char *json, const char *path, tz_error *error)
{
    tz_atomic_file *file = NULL;
    const tz_status status = tz_atomic_open(&file, path, true, error);
    return status ? status : tz_atomic_end(file, write_shortened(file, json, error), error);
}

/* The last resort, which needs no memory and no room on the disk: in a record that says "running"
 * the status is written over. */
static void mark(const char *path, const char *before, const char *after)
{
    char head[1 << 16];
    const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const ssize_t got = file >= 0 ? pread(file, head, sizeof head, 0) : -1;
    const char *at = got > 0 ? memmem(head, (size_t)got, before, strlen(before)) : NULL;
    if (at)
        (void)!pwrite(file, after, strlen(after), at - head);
    if (file >= 0)
        close(file);
}

static void mark_failed(const char *path)
{
    static const char before[] = "\"status\": \"running\"", after[] = "\"status\": \"failed\" ";
    _Static_assert(sizeof before == sizeof after, "the file keeps its size");
    mark(path, before, after);
}

void tz_record_mark_interrupted(const char *path)
{
    static const char before[] = "\"status\": \"running\",\n  \"error\": null",
                      after[] = "\"status\": \"interrupted\",\"error\":null";
    _Static_assert(sizeof before == sizeof after, "the file keeps its size");
    mark(path, before, after);
}

tz_status tz_record_write(tz_record *record, const char *path, const char *status,
                          const char *failure, tz_error *error)
{
    static const char no_memory[] = "not enough memory for the run's record";
    const bool lost = record->failed; /* a part of the record */
    const bool is_end = strcmp(status, "running") != 0;
    const bool ready = lost && is_end ? set_status(record, "failed", failure ? failure : no_memory)
                                      : set_status(record, status, failure);
    record->failed = record->failed || lost;
    char *json = ready ? json_dumps(record->root, JSON_INDENT(2)) : NULL;
    tz_status result = json ? write_json(json, path, error) : TZ_MEMORY;
    free(json);
    if (is_end && result != TZ_OK)
        mark_failed(path);
    return !json || (result == TZ_OK && lost) ? tz_error_set(error, TZ_MEMORY, path, no_memory)
                                              : result;
}

/* ---- Run load -------------------------------------------------------------------------------- */

enum { RECORD_BYTES_MAX = 1 << 28 };

tz_status tz_run_load_record(const char *folder, struct json_t **out, tz_error *error)
{
    char path[PATH_MAX], *text = NULL;
    size_t bytes = 0;
    *out = NULL;
    snprintf(path, sizeof path, "%s/run.json", folder);
    if (access(path, F_OK) != 0)
        return tz_error_set(error, TZ_IO, folder, "has no run.json; give the folder of a run");
    tz_status status = tz_file_read(path, RECORD_BYTES_MAX, &text, &bytes, error);
    if (status == TZ_OK)
        status = tz_json_read(path, text, bytes, out, error);
    free(text);
    return status;
}
