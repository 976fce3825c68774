/* Converts a simulation to the contents of a checkpoint and back: identity, counters, fields, and
 * the course of a run. Called by lua/checkpoint.c to save and to restore. */
#include "sim/checkpoint.h"

#include "backend/slabs/slabs.h"
#include "base/json.h"
#include "base/text.h"
#include "policy/policy.h"
#include "sim/ahead.h"
#include "sim/fields.h"
#include "sim/snapshot.h"
#include "sim/state.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 8 << 20, USES_MAX = 4096, SAMPLE_MAX = 1 << 24 };

#define STEPS_MAX (INT64_C(1) << 53)

/* ---- What must be the same ------------------------------------------------------------------- */

/* With an end, so that no two lists of texts are alike. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    return tz_text_hash(tz_text_hash(hash, text), "\xff");
}

static void put_values(json_t *identity, const tz_simulation *simulation, bool *failed)
{
    const tz_problem *problem = &simulation->problem;
    const tz_stencil *stencil = problem->stencil;
    json_t *params = json_object(), *values = json_object(), *grid = json_array();
    char sides[TZ_BOUNDARY_TEXT_SIZE], boundary[4 * TZ_BOUNDARY_TEXT_SIZE] = "";
    for (int axis = 0; axis < stencil->dims; axis++) {
        *failed |= json_array_append_new(grid, json_integer(problem->extent[axis])) != 0;
        snprintf(boundary + strlen(boundary), sizeof boundary - strlen(boundary), "%s%s",
                 axis > 0 ? " " : "", tz_boundary_text(problem->boundary[axis], sides));
    }
    for (int i = 0; i < stencil->params_count; i++) {
        const bool is_text =
            stencil->params[i].type == TZ_PARAM_TEXT || stencil->params[i].type == TZ_PARAM_CHOICE;
        if (is_text)
            tz_json_put_text(params, stencil->params[i].name, problem->params[i].text, failed);
        else
            tz_json_put_double(params, stencil->params[i].name, problem->params[i].number, failed);
    }
    for (int f = 0; f < stencil->fields_count; f++) {
        char text[TZ_SIDES * 32] = "";
        for (int side = 0; side < 2 * stencil->dims; side++)
            snprintf(text + strlen(text), sizeof text - strlen(text), " %a",
                     problem->boundary_value[f][side]);
        tz_json_put_text(values, stencil->fields[f].name, text, failed);
    }
    tz_json_put(identity, "grid", grid, failed);
    tz_json_put_text(identity, "boundary", boundary, failed);
    tz_json_put(identity, "boundary values", values, failed);
    tz_json_put(identity, "parameters", params, failed);
}

static uint64_t hash_scalars(const tz_problem *problem)
{
    uint64_t hash = TZ_HASH_NONE;
    for (size_t i = 0; i < problem->scalars_count; i++) {
        const tz_series *series = &problem->scalars[i];
        char number[64];
        hash = hash_text(hash_text(hash, series->name), series->text);
        for (size_t k = 0; !series->text && k < series->count; k++) {
            snprintf(number, sizeof number, "%a", series->values[k]);
            hash = hash_text(hash, number);
        }
    }
    return hash;
}

json_t *tz_simulation_identity(const tz_simulation *simulation)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    json_t *identity = json_object();
    bool failed = !identity;
    char text[32];
    uint64_t hash = TZ_HASH_NONE;
    for (int p = 0; p < stencil->passes_count; p++)
        hash = hash_text(hash_text(hash, stencil->passes[p].text), stencil->passes[p].text_defines);
    tz_json_put_text(identity, "plugin", simulation->plugin->id, &failed);
    tz_json_put_text(identity, "plugin's version", simulation->plugin->version, &failed);
    tz_json_put_text(identity, "stencil", stencil->id, &failed);
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    tz_json_put_text(identity, "stencil's text", text, &failed);
    tz_json_put_text(identity, "precision", tz_simulation_precision(simulation), &failed);
    char storage[TZ_STORAGE_TEXT_SIZE];
    if (tz_problem_storage_text(&simulation->problem, storage)[0])
        tz_json_put_text(identity, "storage", storage, &failed);
    put_values(identity, simulation, &failed);
    snprintf(text, sizeof text, "%016" PRIx64, hash_scalars(&simulation->problem));
    tz_json_put_text(identity, "scalars", text, &failed);
    if (!failed)
        return identity;
    json_decref(identity);
    return NULL;
}

/* Are they alike but for the time step, which comes with the fields? */
static bool differs_in_clock(const tz_simulation *simulation, const json_t *now,
                             const json_t *before)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    bool same = json_object_size(now) == json_object_size(before);
    for (int p = 0; p < stencil->params_count && same; p++)
        same = tz__is_clock(simulation, p) ||
               json_equal(json_object_get(now, stencil->params[p].name),
                          json_object_get(before, stencil->params[p].name));
    return same;
}

tz_status tz_simulation_check_identity(const tz_simulation *simulation, const json_t *identity,
                                       tz_error *error)
{
    json_t *now = tz_simulation_identity(simulation);
    const char *key;
    const json_t *value;
    tz_status status =
        now ? TZ_OK
            : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to compare a simulation");
    if (!status && !json_is_object(identity))
        status = tz_error_set(error, TZ_FORMAT, NULL, "the checkpoint does not say what it holds");
    json_object_foreach(now, key, value)
    {
        const json_t *before = json_object_get(identity, key);
        const char *was = json_string_value(before), *is = json_string_value(value);
        if (status || json_equal((json_t *)value, (json_t *)before) ||
            (strcmp(key, "parameters") == 0 && differs_in_clock(simulation, value, before)))
            continue;
        if (was && is && strlen(was) + strlen(is) < 400)
            status =
                tz_error_set(error, TZ_RANGE, NULL, "its %s was %s, and is %s now", key, was, is);
        else
            status = tz_error_set(error, TZ_RANGE, NULL, "its %s differ%s from the checkpoint's",
                                  key, strcmp(key, "grid") == 0 ? "s" : "");
    }
    json_decref(now);
    return status;
}

/* ---- Counters -------------------------------------------------------------------------------- */

static const tz_json_member counters[] = {
    TZ_JSON_INTEGER_MEMBER(tz_simulation, step, "step", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_simulation, time_base.since, "time_since", 0, STEPS_MAX),
    TZ_JSON_MEMBER(tz_simulation, time_base.time, "time"),
    TZ_JSON_MEMBER(tz_simulation, time_base.rest, "time_rest"),
    TZ_JSON_INTEGER_MEMBER(tz_simulation, fired_step, "fired_step", -1, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_simulation, look_step, "look_step", -1, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_simulation, steps_unchecked, "steps_unchecked", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_simulation, finite_step, "finite_step", 0, STEPS_MAX),
    TZ_JSON_MEMBER(tz_simulation, seconds, "seconds"),
    TZ_JSON_MEMBER(tz_simulation, energy_j, "energy_j"),
    TZ_JSON_MEMBER(tz_simulation, update_known, "update_known"),
    TZ_JSON_MEMBER(tz_simulation, update.largest, "update_largest"),
    TZ_JSON_MEMBER(tz_simulation, update.sum, "update_sum"),
    TZ_JSON_MEMBER(tz_simulation, update.magnitude, "update_magnitude"),
    TZ_JSON_INTEGER_MEMBER(tz_simulation, last_run.status, "last_status", 0, TZ_RUN_STATUS_LAST),
    TZ_JSON_INTEGER_MEMBER(tz_simulation, last_run.steps, "last_steps", 0, STEPS_MAX),
    TZ_JSON_MEMBER(tz_simulation, last_run.residual, "last_residual"),
    TZ_JSON_MEMBER(tz_simulation, last_run.why, "last_why"),
    TZ_JSON_MEMBER(tz_simulation, last_run.dt_least, "last_dt_least"),
    TZ_JSON_MEMBER(tz_simulation, last_run.dt_most, "last_dt_most"),
    TZ_JSON_INTEGER_MEMBER(tz_simulation, jumps.jumps, "jumps", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_simulation, jumps.steps, "jumps_steps", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_simulation, jumps.steady, "jumps_steady", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_simulation, jumps.bytes, "jumps_bytes", 0, INT64_MAX),
    TZ_JSON_MEMBER(tz_simulation, jumps.seconds, "jumps_seconds"),
    TZ_JSON_MEMBER(tz_simulation, jumps.rounding, "jumps_rounding"),
    TZ_JSON_MEMBER(tz_simulation, jumps.library, "jumps_library"),
    TZ_JSON_INTEGER_MEMBER(tz_simulation, solved.steady, "solved_steady", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_simulation, solved.steps, "solved_steps", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_simulation, solved.covered, "solved_covered", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_simulation, solved.systems, "solved_systems", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_simulation, solved.iterations, "solved_iterations", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_simulation, solved.bytes, "solved_bytes", 0, INT64_MAX),
    TZ_JSON_MEMBER(tz_simulation, solved.seconds, "solved_seconds"),
    TZ_JSON_MEMBER(tz_simulation, solved.residual, "solved_residual"),
    TZ_JSON_MEMBER(tz_simulation, solved.method, "solved_method")};
static const tz_json_member use_members[] = {
    TZ_JSON_MEMBER(tz_plan_use, plan.why, "why"),
    TZ_JSON_INTEGER_MEMBER(tz_plan_use, stages, "stages", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_plan_use, steps, "steps", 0, STEPS_MAX),
    TZ_JSON_MEMBER(tz_plan_use, seconds, "seconds")};
enum {
    COUNTERS = sizeof counters / sizeof *counters,
    USE_MEMBERS = sizeof use_members / sizeof *use_members
};

static json_t *uses_to_json(const tz_simulation *simulation, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < simulation->uses_count; i++) {
        const tz_plan_use *use = &simulation->uses[i];
        json_t *entry = tz_plan_to_json(&use->plan, TZ_AXES);
        tz_json_put_members(entry, use_members, USE_MEMBERS, use, failed);
        tz_json_put_text(entry, "backend", use->backend, failed);
        *failed |= json_array_append_new(list, entry) != 0;
    }
    return list;
}

json_t *tz_simulation_progress(const tz_simulation *simulation)
{
    json_t *object = json_object(), *origins = json_object();
    const tz_stencil *stencil = simulation->problem.stencil;
    bool failed = !object;
    for (int f = 0; f < stencil->fields_count; f++) {
        const tz_field *field = &stencil->fields[f];
        if (field->role != TZ_STATE && field->role != TZ_STATIC)
            continue;
        if (tz_type_is_real(field->type)) /* of others there is none */
            tz_json_put_double(origins, field->name, simulation->problem.origin[f], &failed);
        else
            tz_json_put(origins, field->name, json_null(), &failed);
    }
    tz_json_put(object, "origins", origins, &failed);
    tz_json_put_members(object, counters, COUNTERS, simulation, &failed);
    tz_json_put_double(object, "time_step", tz_simulation_clock(simulation).dt, &failed);
    tz_json_put(object, "correction_ahead",
                json_boolean(simulation->correction && simulation->correction->ahead), &failed);
    tz_json_put(object, "plans", uses_to_json(simulation, &failed), &failed);
    tz_json_put(object, "policy", tz_policy_save(simulation->policy), &failed);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

/* ---- Fields ---------------------------------------------------------------------------------- */

/* A field that is kept: of the simulation's state, or of the correction's. */
typedef struct kept {
    const tz_problem *problem;
    void *state;
    const char *part; /* "" or "correction/" */
    int field;
} kept;

enum { KEPT_MAX = 2 * TZ_FIELDS_MAX };

static size_t add_kept(const tz_problem *problem, void *state, const char *part, kept *list)
{
    size_t count = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const tz_role role = problem->stencil->fields[f].role;
        if (role == TZ_STATE || role == TZ_STATIC)
            list[count++] = (kept){problem, state, part, f};
    }
    return count;
}

static size_t kept_fields(const tz_simulation *simulation, kept list[KEPT_MAX])
{
    const tz_correction *correction = simulation->correction;
    const size_t count = add_kept(&simulation->problem, simulation->state, "", list);
    return correction ? count + add_kept(&correction->problem, correction->state, "correction/",
                                         list + count)
                      : count;
}

static tz_checkpoint_array describe(const kept *k, const char *prefix)
{
    tz_checkpoint_array array = {.bytes = tz_problem_elements(k->problem) *
                                          (int64_t)tz_problem_element_size(k->problem, k->field)};
    snprintf(array.name, sizeof array.name, "%.60s%s%.100s", prefix, k->part,
             k->problem->stencil->fields[k->field].name);
    return array;
}

size_t tz_simulation_arrays(const tz_simulation *simulation, const char *prefix,
                            tz_checkpoint_array *arrays, size_t max)
{
    kept list[KEPT_MAX];
    const size_t count = kept_fields(simulation, list);
    for (size_t i = 0; i < count && i < max; i++)
        arrays[i] = describe(&list[i], prefix);
    return count;
}

/* The parts in which a field is read and written, in the order of its bytes. */
static tz_box_parts parts_of(const kept *k)
{
    const int64_t *n = k->problem->elements;
    const size_t size = tz_problem_element_size(k->problem, k->field);
    return (tz_box_parts){.whole = {{0}, {n[0], n[1], n[2]}}, .most = PIECE_BYTES / (int64_t)size};
}

static bool is_parted(const tz_simulation *simulation)
{
    return simulation->backend == &simulation->slabs && tz_slabs_have_parts(simulation->state);
}

/* Each process writes its part. TZ_UNSUPPORTED: they cannot. */
static tz_status save_parts(const kept *from, tz_checkpoint_writer *writer, size_t array,
                            tz_error *error)
{
    const char *path;
    int64_t offset;
    uint64_t sum = 0;
    tz_status status = tz_checkpoint_place(writer, array, &path, &offset, error);
    if (!status)
        status = tz_slabs_save(from->state, from->field, false, path, offset, &sum, error);
    if (!status)
        tz_checkpoint_add_sum(writer, array, sum);
    return status;
}

static tz_status save_field(const tz_simulation *simulation, const kept *from,
                            tz_checkpoint_writer *writer, size_t array, void *room, tz_error *error)
{
    const int64_t size = (int64_t)tz_problem_element_size(from->problem, from->field);
    tz_box_parts p = parts_of(from);
    tz_status status =
        is_parted(simulation) ? save_parts(from, writer, array, error) : TZ_UNSUPPORTED;
    if (status != TZ_UNSUPPORTED)
        return status;
    for (status = TZ_OK; !status && tz_box_next(&p);) {
        status = simulation->backend->load(from->state, from->field, &p.part, room, error);
        if (!status)
            status = tz_checkpoint_write(writer, array, p.first * size, room,
                                         (size_t)(p.count * size), error);
    }
    return status;
}

tz_status tz_simulation_save(const tz_simulation *simulation, tz_checkpoint_writer *writer,
                             size_t first, tz_error *error)
{
    kept list[KEPT_MAX];
    const size_t count = kept_fields(simulation, list);
    void *room = malloc(PIECE_BYTES);
    tz_status status =
        room ? TZ_OK : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a checkpoint");
    for (size_t i = 0; !status && i < count; i++)
        status = save_field(simulation, &list[i], writer, first + i, room, error);
    free(room);
    return status;
}

static tz_status load_field(tz_simulation *simulation, const kept *to, tz_checkpoint_reader *reader,
                            const char *prefix, void *room, tz_error *error)
{
    const int64_t size = (int64_t)tz_problem_element_size(to->problem, to->field);
    const tz_checkpoint_array wanted = describe(to, prefix);
    const tz_checkpoint_array *array = tz_checkpoint_find(reader, wanted.name);
    if (!array || array->bytes != wanted.bytes)
        return tz_error_set(error, TZ_FORMAT, NULL, "the checkpoint has no field %s of this grid",
                            wanted.name);
    tz_box_parts p = parts_of(to);
    tz_status status = is_parted(simulation)
                           ? tz_slabs_restore(to->state, to->field, tz_checkpoint_path(reader),
                                              array->offset, error)
                           : TZ_UNSUPPORTED;
    if (status != TZ_UNSUPPORTED)
        return status;
    for (status = TZ_OK; !status && tz_box_next(&p);) {
        status = tz_checkpoint_read(reader, array, p.first * size, room, (size_t)(p.count * size),
                                    error);
        if (!status)
            status = simulation->backend->store(to->state, to->field, &p.part, room, error);
    }
    return status;
}

static tz_status load_fields(tz_simulation *simulation, tz_checkpoint_reader *reader,
                             const char *prefix, tz_error *error)
{
    kept list[KEPT_MAX];
    const size_t count = kept_fields(simulation, list);
    void *room = malloc(PIECE_BYTES);
    tz_status status =
        room ? TZ_OK : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a checkpoint");
    for (size_t i = 0; !status && i < count; i++)
        status = load_field(simulation, &list[i], reader, prefix, room, error);
    free(room);
    return status;
}

/* ---- Going on -------------------------------------------------------------------------------- */

static tz_status restore_uses(tz_simulation *simulation, const json_t *list, bool *failed,
                              tz_error *error)
{
    const size_t count = json_array_size(list);
    if (!json_is_array(list) || count > USES_MAX)
        *failed = true;
    tz_plan_use *uses = *failed ? NULL : calloc(count + 1, sizeof *uses);
    if (*failed || !uses)
        return *failed ? TZ_OK
                       : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the plans");
    for (size_t i = 0; i < count; i++) {
        const json_t *entry = json_array_get(list, i);
        if (!tz_plan_from_json(entry, &uses[i].plan))
            *failed = true;
        tz_json_get_members(entry, use_members, USE_MEMBERS, &uses[i], failed);
        const char *backend = json_string_value(json_object_get(entry, "backend"));
        snprintf(uses[i].backend, sizeof uses[i].backend, "%s", backend ? backend : "");
    }
    free(simulation->uses);
    simulation->uses = uses;
    simulation->uses_count = count;
    simulation->uses_last = count > 0 ? count - 1 : 0;
    return TZ_OK;
}

tz_status tz_simulation_restore(tz_simulation *simulation, const json_t *progress,
                                tz_checkpoint_reader *reader, const char *prefix, tz_error *error)
{
    bool failed = !json_is_object(progress);
    tz_status status = tz__simulation_need_fields(simulation, error);
    if (!status)
        status = load_fields(simulation, reader, prefix, error);
    if (!status)
        status = restore_uses(simulation, json_object_get(progress, "plans"), &failed, error);
    if (status)
        return status;
    tz_json_get_members(progress, counters, COUNTERS, simulation, &failed);
    const tz_time_base *base = &simulation->time_base;
    const tz_clock clock = {tz_json_get_double(progress, "time_step", &failed), base->since,
                            base->time, base->rest};
    if (!failed && clock.dt > 0)
        status = tz_simulation_set_clock(simulation, &clock, error);
    if (simulation->correction)
        simulation->correction->ahead = tz_json_get_flag(progress, "correction_ahead", &failed);
    tz__simulation_forget_update(simulation);
    simulation->watch = (tz_stopwatch){.stages = 0};
    if (failed)
        return tz_error_set(error, TZ_FORMAT, NULL, "the checkpoint's counters are damaged");
    /* One that had moved goes on where it was. */
    if (status)
        return status;
    const char *last =
        simulation->uses_count > 0 ? simulation->uses[simulation->uses_last].backend : "";
    if (last[0] && strcmp(last, simulation->backend->name) != 0)
        status = tz__move_now(simulation, error);
    if (status)
        return status;
    tz_policy_load(simulation->policy, json_object_get(progress, "policy"));
    simulation->plan = *tz_policy_plan(simulation->policy);
    simulation->bytes = tz__simulation_bytes_with(simulation, &simulation->plan);
    return TZ_OK;
}

/* ---- Beginning with the fields of another run ------------------------------------------------ */

/* A field of the checkpoint as it lies there. */
typedef struct foreign {
    const tz_checkpoint_array *array;
    size_t size;          /* bytes of an element */
    double origin, scale; /* a value is origin + scale * element */
    bool same;            /* the simulation's own has these elements */
} foreign;

/* What values of the field count from. Older checkpoints do not say it: then it is the simulation's
 * if the parameters are, on which it depends. */
static tz_status find_origin(const tz_simulation *simulation, const char *name, int field,
                             const tz_checkpoint_entry *from, double *origin, tz_error *error)
{
    const json_t *origins = json_object_get(from->progress, "origins");
    bool failed = false;
    *origin = simulation->problem.origin[field];
    if (json_is_string(json_object_get(origins, name)))
        *origin = tz_json_get_double(origins, name, &failed);
    else if (*origin != 0.0) {
        json_t *own = tz_simulation_identity(simulation);
        failed = !own || !json_equal(json_object_get(own, "parameters"),
                                     json_object_get(from->identity, "parameters"));
        json_decref(own);
    }
    return failed ? tz_error_set(error, TZ_UNSUPPORTED, name,
                                 "an older version of Trapeze wrote the checkpoint, and it does "
                                 "not say from what the values count: begin with the parameters "
                                 "of that run, or with .npy frames")
                  : TZ_OK;
}

/* Elements that are stored as half have an origin and a scale of their own in the record. */
static void find_scale(const tz_simulation *simulation, const char *name, int field,
                       const tz_checkpoint_entry *from, foreign *out)
{
    const json_t *storage = json_object_get(json_object_get(from->record, "storage"), name);
    tz_storage_wish own;
    const bool stored = tz_simulation_storage(simulation, field, &own);
    const bool was_stored = json_is_object(storage);
    out->scale = 1.0;
    if (was_stored) {
        out->origin = json_number_value(json_object_get(storage, "origin"));
        out->scale = json_number_value(json_object_get(storage, "scale"));
    }
    out->same = stored == was_stored &&
                out->size == tz_problem_element_size(&simulation->problem, field) &&
                out->origin == (stored ? own.origin : simulation->problem.origin[field]) &&
                out->scale == (stored ? own.scale : 1.0);
}

/* TZ_UNKNOWN, without a message: the checkpoint has no such field. */
static tz_status find_foreign(const tz_simulation *simulation, int field,
                              const tz_checkpoint_entry *from, foreign *out, tz_error *error)
{
    const tz_problem *problem = &simulation->problem;
    const char *name = problem->stencil->fields[field].name;
    char path[TZ_CHECKPOINT_NAME_SIZE];
    snprintf(path, sizeof path, "%.60s%.100s", from->prefix, name);
    out->array = tz_checkpoint_find(from->reader, path);
    if (!out->array)
        return TZ_UNKNOWN;
    const int64_t count = tz_problem_elements(problem);
    const bool real = tz_type_is_real(problem->stencil->fields[field].type);
    out->size = out->array->bytes % count == 0 ? (size_t)(out->array->bytes / count) : 0;
    if (real ? out->size != 2 && out->size != 4 && out->size != 8
             : out->size != tz_problem_element_size(problem, field))
        return tz_error_set(error, TZ_TYPE, name,
                            "the checkpoint has a field of this name and of another type");
    const tz_status status = find_origin(simulation, name, field, from, &out->origin, error);
    if (!status)
        find_scale(simulation, name, field, from, out);
    return status;
}

/* A piece of elements as values. */
static void convert(const foreign *from, const void *elements, int64_t count, double *values)
{
    for (int64_t i = 0; i < count; i++) {
        const double element = from->size == 2
                                   ? (double)tz_half_value(((const uint16_t *)elements)[i])
                               : from->size == 4 ? (double)((const float *)elements)[i]
                                                 : ((const double *)elements)[i];
        values[i] = from->origin == 0.0 && from->scale == 1.0
                        ? element
                        : from->origin + from->scale * element;
    }
}

static tz_status take_field(tz_simulation *simulation, int field, const tz_checkpoint_entry *from,
                            const foreign *was, void *room, double *values, tz_error *error)
{
    const kept own = {&simulation->problem, simulation->state, "", field};
    const char *name = simulation->problem.stencil->fields[field].name;
    if (was->same)
        return load_field(simulation, &own, from->reader, from->prefix, room, error);
    tz_box_parts p = parts_of(&own);
    p.most = PIECE_BYTES / (int64_t)sizeof *values;
    tz_status status = TZ_OK;
    while (!status && tz_box_next(&p)) {
        status = tz_checkpoint_read(from->reader, was->array, p.first * (int64_t)was->size, room,
                                    (size_t)p.count * was->size, error);
        if (status)
            break;
        convert(was, room, p.count, values);
        status = tz_simulation_write(simulation, field, &p.part, values, name, error);
    }
    return status;
}

/* Values of a run that is not here: what the facts say of the field's elements. */
typedef struct stored_field {
    foreign elements;
    int64_t row, words; /* cells of a row; 0, or words of bits that it has */
    int64_t count;      /* elements, words of bits among them */
} stored_field;

static tz_status find_stored(const tz_checkpoint_entry *from, const char *field, int *dims,
                             int64_t shape[TZ_AXES], stored_field *out, tz_error *error)
{
    const char *where = tz_checkpoint_path(from->reader);
    const char *precision = json_string_value(json_object_get(from->identity, "precision"));
    const json_t *grid = json_object_get(from->identity, "grid");
    const json_t *origin = json_object_get(json_object_get(from->progress, "origins"), field);
    const json_t *storage = json_object_get(json_object_get(from->record, "storage"), field);
    char path[TZ_CHECKPOINT_NAME_SIZE];
    bool failed = false;
    snprintf(path, sizeof path, "%.60s%.100s", from->prefix, field);
    *dims = (int)json_array_size(grid);
    for (int axis = 0; axis < TZ_AXES; axis++)
        shape[axis] = axis < *dims ? json_integer_value(json_array_get(grid, (size_t)axis)) : 1;
    *out = (stored_field){.elements = {.array = tz_checkpoint_find(from->reader, path), .scale = 1},
                          .row = shape[0]};
    if (!out->elements.array)
        return tz_error_set(error, TZ_UNKNOWN, where, "has no field '%.100s'", field);
    if (precision && strcmp(precision, "mixed") == 0)
        return tz_error_set(
            error, TZ_UNSUPPORTED, where,
            "fields of mixed precision are more than their values: use .npy frames");
    const int64_t cells = *dims < 1 || *dims > TZ_AXES ? -1 : tz_shape_count(*dims, shape);
    const int64_t bytes = out->elements.array->bytes, words = (shape[0] + 31) / 32;
    if (cells > 0 && json_is_null(origin) && bytes == 4 * words * (cells / shape[0]) &&
        shape[0] > 1)
        out->words = words;
    out->count = out->words ? words * (cells / shape[0]) : cells;
    out->elements.size = cells > 0 && bytes % out->count == 0 ? (size_t)(bytes / out->count) : 0;
    if (out->elements.size != 2 && out->elements.size != 4 && out->elements.size != 8)
        return tz_error_set(error, TZ_FORMAT, where, "the size of field '%.100s' is not its grid's",
                            field);
    if (json_is_string(origin))
        out->elements.origin =
            tz_json_get_double(json_object_get(from->progress, "origins"), field, &failed);
    if (json_is_object(storage)) {
        out->elements.origin = json_number_value(json_object_get(storage, "origin"));
        out->elements.scale = json_number_value(json_object_get(storage, "scale"));
    }
    out->elements.same =
        json_is_null(origin) || (out->elements.size > 2 && out->elements.origin == 0.0);
    return failed ? tz_error_set(error, TZ_FORMAT, where, "an origin is damaged") : TZ_OK;
}

static tz_status read_stored(const tz_checkpoint_entry *from, const stored_field *f,
                             tz_array *array, void *room, tz_error *error)
{
    const int64_t most = PIECE_BYTES / 8, size = (int64_t)f->elements.size;
    const int64_t piece = f->words && most > f->words ? most / f->words * f->words : most;
    for (int64_t i = 0; i < f->count; i += piece) {
        const int64_t n = f->count - i < piece ? f->count - i : piece;
        const tz_status status = tz_checkpoint_read(from->reader, f->elements.array, i * size, room,
                                                    (size_t)(n * size), error);
        if (status)
            return status;
        if (!f->elements.same)
            convert(&f->elements, room, n, (double *)array->data + i);
        else if (!f->words)
            memcpy((char *)array->data + i * size, room, (size_t)(n * size));
        for (int64_t r = 0; f->words && r < n / f->words; r++)
            tz_bits_spread((const uint32_t *)room + r * f->words, f->words, 0, f->row,
                           (uint8_t *)array->data + (i / f->words + r) * f->row);
    }
    return TZ_OK;
}

tz_status tz_checkpoint_values(const tz_checkpoint_entry *from, const char *field, tz_array **out,
                               tz_error *error)
{
    int dims;
    int64_t shape[TZ_AXES];
    stored_field f;
    *out = NULL;
    tz_status status = find_stored(from, field, &dims, shape, &f, error);
    if (status)
        return status;
    const bool real =
        !json_is_null(json_object_get(json_object_get(from->progress, "origins"), field));
    const tz_dtype dtype = f.words                                   ? TZ_DTYPE_U8
                           : !real                                   ? TZ_DTYPE_I32
                           : f.elements.same && f.elements.size == 4 ? TZ_DTYPE_F32
                                                                     : TZ_DTYPE_F64;
    if (f.words > PIECE_BYTES / 8)
        return tz_error_set(error, TZ_UNSUPPORTED, tz_checkpoint_path(from->reader),
                            "its rows are too long");
    void *room = malloc(PIECE_BYTES);
    status = room ? tz_array_create(out, dtype, dims, shape, error)
                  : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to read a checkpoint");
    if (!status)
        status = read_stored(from, &f, *out, room, error);
    free(room);
    if (status) {
        tz_array_destroy(*out);
        *out = NULL;
    }
    return status;
}

static tz_status check_grid(const tz_simulation *simulation, const json_t *identity,
                            tz_error *error)
{
    const json_t *grid = json_object_get(identity, "grid");
    const int dims = simulation->problem.stencil->dims;
    const char *precision = json_string_value(json_object_get(identity, "precision"));
    int64_t was[TZ_AXES] = {1, 1, 1};
    char before[TZ_SHAPE_TEXT_SIZE], now[TZ_SHAPE_TEXT_SIZE];
    for (size_t i = 0; i < json_array_size(grid) && i < TZ_AXES; i++)
        was[i] = json_integer_value(json_array_get(grid, i));
    if ((int)json_array_size(grid) != dims ||
        memcmp(was, simulation->problem.extent, sizeof was) != 0)
        return tz_error_set(error, TZ_RANGE, NULL,
                            "that run has a grid of %s cells, this one of %s",
                            tz_shape_text(before, (int)json_array_size(grid), was),
                            tz_shape_text(now, dims, simulation->problem.extent));
    if (simulation->correction || (precision && strcmp(precision, "mixed") == 0))
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "fields of mixed precision are more than their values: run both in "
                            "precision = \"single\" or \"double\"");
    return TZ_OK;
}

/* Step and time go on, also where the time step is another one now. */
static tz_status take_time(tz_simulation *simulation, const tz_checkpoint_entry *from,
                           tz_error *error)
{
    const tz_param *param = tz_simulation_time_step(simulation);
    const json_t *params = json_object_get(from->identity, "parameters");
    bool failed = false;
    const int64_t step = tz_json_get_integer(from->progress, "step", 0, STEPS_MAX, &failed);
    tz_time_base base = {
        .since = tz_json_get_integer(from->progress, "time_since", 0, STEPS_MAX, &failed),
        .time = tz_json_get_double(from->progress, "time", &failed),
        .rest = tz_json_get_double(from->progress, "time_rest", &failed)};
    if (failed)
        return tz_error_set(error, TZ_FORMAT, NULL, "the checkpoint's counters are damaged");
    simulation->step = step;
    simulation->time_base = base;
    if (param && json_object_get(params, param->name)) {
        const double dt = tz_json_get_double(params, param->name, &failed);
        if (!failed)
            tz__simulation_time_step_changed(simulation, dt, NULL);
    }
    const tz_clock clock = tz_simulation_clock(simulation);
    return tz_simulation_set_clock(simulation, &clock, error);
}

tz_status tz_simulation_begin_with(tz_simulation *simulation, const tz_checkpoint_entry *from,
                                   bool fields, uint32_t *taken, tz_error *error)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    void *room = malloc(PIECE_BYTES);
    double *values = malloc(PIECE_BYTES);
    tz_status status = room && values ? check_grid(simulation, from->identity, error)
                                      : tz_error_set(error, TZ_MEMORY, NULL,
                                                     "not enough memory to read a checkpoint");
    if (!status && fields)
        status = tz__simulation_need_fields(simulation, error);
    *taken = 0;
    for (int f = 0; f < stencil->fields_count && !status; f++) {
        foreign was;
        if (stencil->fields[f].role != TZ_STATE)
            continue;
        status = find_foreign(simulation, f, from, &was, error);
        if (!status) {
            *taken |= UINT32_C(1) << f;
            if (fields) {
                status = take_field(simulation, f, from, &was, room, values, error);
                tz__simulation_field_changes(simulation, f);
            }
        } else if (status == TZ_UNKNOWN) {
            status = TZ_OK;
        }
    }
    free(room);
    free(values);
    return status ? status : take_time(simulation, from, error);
}

void tz_simulation_begin_at(tz_simulation *simulation, int64_t step, double dt)
{
    simulation->step = step;
    simulation->time_base = (tz_time_base){.since = 0};
    if (tz_simulation_time_step(simulation) && isfinite(dt))
        tz__simulation_time_step_changed(simulation, dt, NULL);
}

/* ---------------------------------------------------------------------------------------------- */

tz_status tz_simulation_freeze(tz_simulation *simulation, tz_snapshot **out, tz_error *error)
{
    const int64_t unchecked = simulation->steps_unchecked, finite = simulation->finite_step;
    *out = NULL;
    if (simulation->correction)
        return TZ_UNSUPPORTED;
    const tz_status status = tz_snapshot_take(simulation, UINT32_MAX, true, out, error);
    simulation->steps_unchecked = unchecked;
    simulation->finite_step = finite;
    return status;
}

void tz_simulation_forget_watch(tz_simulation *simulation)
{
    simulation->watch = (tz_stopwatch){.stages = 0};
}

void tz_simulation_set_step(tz_simulation *simulation, int64_t step)
{
    simulation->step = step;
}

void tz_simulation_set_last_run(tz_simulation *simulation, const tz_run_result *result)
{
    simulation->last_run = (tz_run_end){result->status,   result->steps,  result->residual, "",
                                        result->dt_least, result->dt_most};
    memcpy(simulation->last_run.why, result->why, sizeof result->why);
}

/* ---- Where a run is -------------------------------------------------------------------------- */

static const tz_json_member course_members[] = {
    TZ_JSON_INTEGER_MEMBER(tz_course, phase, "phase", 0, TZ_RUN_AT_TRIAL),
    TZ_JSON_INTEGER_MEMBER(tz_course, start, "start", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_course, end, "end", -1, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_course, stop, "stop", 0, STEPS_MAX),
    TZ_JSON_MEMBER(tz_course, is_check, "is_check"),
    TZ_JSON_INTEGER_MEMBER(tz_course, firing, "firing", -1, INT32_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_course, checks.start, "checks_start", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_course, checks.every, "checks_every", 0, INT64_MAX / 4),
    TZ_JSON_INTEGER_MEMBER(tz_course, checks.count, "checks_count", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_course, checks.least_count, "checks_least_count", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_course, checks.least_step, "checks_least_step", 0, STEPS_MAX),
    TZ_JSON_MEMBER(tz_course, checks.largest, "checks_largest"),
    TZ_JSON_MEMBER(tz_course, checks.sum, "checks_sum"),
    TZ_JSON_MEMBER(tz_course, checks.last.largest, "last_largest"),
    TZ_JSON_MEMBER(tz_course, checks.last.sum, "last_sum"),
    TZ_JSON_MEMBER(tz_course, checks.last.magnitude, "last_magnitude"),
    TZ_JSON_INTEGER_MEMBER(tz_course, sample_count, "sample_count", 0, SAMPLE_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_course, sampled_at, "sampled_at", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_course, result.steps, "steps", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_course, result.stages, "stages", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_course, result.status, "status", 0, TZ_RUN_STATUS_LAST),
    TZ_JSON_MEMBER(tz_course, result.seconds, "seconds"),
    TZ_JSON_MEMBER(tz_course, result.residual, "residual"),
    TZ_JSON_MEMBER(tz_course, result.update, "update"),
    TZ_JSON_MEMBER(tz_course, result.why, "why"),
    TZ_JSON_MEMBER(tz_course, result.dt_least, "dt_least"),
    TZ_JSON_MEMBER(tz_course, result.dt_most, "dt_most"),
    TZ_JSON_INTEGER_MEMBER(tz_course, adapted_at, "adapted_at", -1, STEPS_MAX),
    TZ_JSON_MEMBER(tz_course, dt_whole, "dt_whole")};
enum { COURSE_MEMBERS = sizeof course_members / sizeof *course_members };

json_t *tz_course_to_json(const tz_course *course)
{
    json_t *object = json_object();
    bool failed = !object;
    tz_json_put_members(object, course_members, COURSE_MEMBERS, course, &failed);
    if (!course->sample)
        tz_json_put_integer(object, "sample_count", 0, &failed);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

tz_status tz_course_from_json(const json_t *object, const tz_run *wanted, tz_course *out,
                              tz_error *error)
{
    bool failed = !json_is_object(object);
    *out = (tz_course){.wanted = *wanted};
    tz_json_get_members(object, course_members, COURSE_MEMBERS, out, &failed);
    return failed ? tz_error_set(error, TZ_FORMAT, NULL, "the checkpoint's run is damaged") : TZ_OK;
}
