/* Simulations of the library. <trapeze/trapeze.h> says what each function does. */
#include "library/session.h"

#include "base/json.h"
#include "lua/keys.h"
#include "output/output.h"
#include "sim/checkpoint.h"
#include "sim/fields.h"
#include "sim/residual.h"
#include "stencil/stencil.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Making ---------------------------------------------------------------------------------- */

static void take_sim(lua_State *L, void *into)
{
    tz_sim *sim = into;
    sim->handle = tz_handle_check(L, 1, "tz_sim_create");
    lua_settop(L, 1);
    sim->reference = luaL_ref(L, LUA_REGISTRYINDEX);
}

tz_status tz_sim_create(tz_sim **out, tz_session *session, const char *options, tz_error *error)
{
    tz_status status = tz__check_given(out, "an argument", error);
    if (status)
        return status;
    tz_sim *sim = calloc(1, sizeof *sim);
    if (!sim)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a simulation");
    sim->session = session;
    sim->reference = LUA_NOREF;
    tz__call call = {.session = session,
                     .function = "tz.simulation",
                     .text = options,
                     .take = take_sim,
                     .into = sim};
    status = tz__session_make(&call, NULL, error);
    if (status) {
        free(sim);
        return status;
    }
    sim->next = session->sims;
    sim->link = &session->sims;
    if (sim->next)
        sim->next->link = &sim->next;
    session->sims = sim;
    *out = sim;
    return TZ_OK;
}

/* Protected: argument 1 is the simulation. */
static int close_sim(lua_State *L)
{
    tz_sim *sim = lua_touserdata(L, 1);
    tz_error ignored;
    tz_handle_close(sim->handle, &ignored);
    luaL_unref(L, LUA_REGISTRYINDEX, sim->reference);
    return 0;
}

void tz_sim_destroy(tz_sim *sim)
{
    tz_error ignored;
    if (!sim)
        return;
    tz__session_protect(sim->session, close_sim, sim, &ignored);
    *sim->link = sim->next;
    if (sim->next)
        sim->next->link = sim->link;
    free(sim);
}

tz_status tz_sim_call(tz_sim *sim, const char *method, const char *arguments, const char **result,
                      tz_error *error)
{
    const tz_status status = tz__check_given(sim, "the simulation", error);
    if (status)
        return status;
    tz__call call = {.session = sim->session, .sim = sim, .function = method, .text = arguments};
    return tz__session_make(&call, result, error);
}

static tz_simulation *inner(const tz_sim *sim)
{
    return sim->handle->simulation;
}

/* The simulation, and another argument. */
static tz_status check_open(const tz_sim *sim, const void *given, tz_error *error)
{
    const tz_status status = tz__check_given(sim, "the simulation", error);
    if (status)
        return status;
    return inner(sim) ? tz__check_given(given, "an argument", error)
                      : tz_error_set(error, TZ_USAGE, NULL, "the simulation is closed");
}

void tz_sim_get_facts(const tz_sim *sim, tz_sim_facts *out)
{
    const tz_simulation *s = sim ? inner(sim) : NULL;
    *out = (tz_sim_facts){.time = NAN};
    if (!s)
        return;
    snprintf(out->name, sizeof out->name, "%s", sim->handle->name);
    out->step = tz_simulation_step(s);
    out->time = tz_simulation_time_step(s) ? tz_simulation_time(s) : NAN;
    out->seconds = tz_simulation_seconds(s);
    memcpy(out->grid, tz_simulation_extent(s), sizeof out->grid);
    out->cells = tz_simulation_cells(s);
    out->bytes = tz_simulation_bytes(s);
    out->dims = tz_simulation_stencil(s)->dims;
    out->threads = tz_simulation_threads(s);
    out->height = tz_simulation_plan(s)->height;
    snprintf(out->backend, sizeof out->backend, "%s", tz_simulation_backend(s));
    snprintf(out->precision, sizeof out->precision, "%s", tz_simulation_precision(s));
    snprintf(out->plugin, sizeof out->plugin, "%s", tz_simulation_stencil(s)->id);
}

/* ---- Fields ---------------------------------------------------------------------------------- */

static tz_status find(const tz_sim *sim, const char *name, const void *given, int *field,
                      tz_error *error)
{
    const tz_status status = check_open(sim, given, error);
    return status ? status
                  : tz_output_find_field(tz_simulation_stencil(inner(sim)), name ? name : "", field,
                                         error);
}

/* The box that begins at `at` and has an array's shape. */
static tz_box box_of(const tz_simulation *s, const int64_t *at, const tz_memory *memory)
{
    tz_box box;
    const int dims = tz_simulation_stencil(s)->dims;
    for (int d = 0; d < TZ_AXES; d++) {
        box.low[d] = at && d < dims ? at[d] : 0;
        if (__builtin_add_overflow(box.low[d], d < memory->dims ? memory->shape[d] : 1,
                                   &box.high[d]))
            box.high[d] = INT64_MAX; /* outside the grid as well */
    }
    return box;
}

/* Streamed slabs are kept by the binding. */
static tz_status set_streamed(tz_sim *sim, const char *field, const tz_memory *memory,
                              tz_error *error)
{
    static const char name[] = "tz_sim_set";
    char arguments[200];
    tz_status status = tz_session_give(sim->session, name, memory, error);
    if (status)
        return status;
    snprintf(arguments, sizeof arguments, "[\"%.100s\", {\"tz.memory\": \"%s\"}]", field, name);
    status = tz_sim_call(sim, "set", arguments, NULL, error);
    tz_session_give(sim->session, name, NULL, NULL);
    return status;
}

tz_status tz_sim_set(tz_sim *sim, const char *field, const int64_t *at, const tz_memory *memory,
                     tz_error *error)
{
    int number;
    tz_array alias, *copy;
    tz_status status = find(sim, field, memory, &number, error);
    if (status)
        return status;
    sim->generation++;
    if (tz_simulation_stencil(inner(sim))->fields[number].role == TZ_STREAMED)
        return set_streamed(sim, field, memory, error);
    status = tz__memory_read(memory, &alias, &copy, error);
    if (!status)
        status = tz_simulation_write_array(inner(sim), number, &alias, at, NULL, error);
    if (!status)
        sim->handle->missing &= ~(1u << number);
    tz_array_destroy(copy);
    return status;
}

/* Read a box in the field's type, and convert it. */
static tz_status get_converted(const tz_sim *sim, int field, const tz_box *box,
                               const tz_memory *memory, tz_error *error)
{
    tz_array *array;
    tz_status status = tz_array_create(&array, tz_simulation_dtype(inner(sim), field), memory->dims,
                                       memory->shape, error);
    if (status)
        return status;
    status = tz_simulation_read_cells(inner(sim), field, box, array->data, error);
    if (!status)
        status = tz__memory_write(memory, array, error);
    tz_array_destroy(array);
    return status;
}

static tz_status check_whole(const tz_simulation *s, const tz_memory *memory, tz_error *error)
{
    const int64_t *grid = tz_simulation_extent(s);
    char own[TZ_SHAPE_TEXT_SIZE], theirs[TZ_SHAPE_TEXT_SIZE];
    for (int d = 0; d < TZ_AXES; d++)
        if ((d < memory->dims ? memory->shape[d] : 1) != grid[d])
            return tz_error_set(error, TZ_SHAPE, "memory",
                                "it is %s, and the grid %s: make them the same, or say where a "
                                "box begins",
                                tz_shape_text(theirs, memory->dims, memory->shape),
                                tz_shape_text(own, tz_simulation_stencil(s)->dims, grid));
    return TZ_OK;
}

tz_status tz_sim_get(const tz_sim *sim, const char *field, const int64_t *at,
                     const tz_memory *memory, tz_error *error)
{
    int number;
    tz_dtype dtype;
    bool dense;
    tz_status status = find(sim, field, memory, &number, error);
    if (!status)
        status = tz__memory_check(memory, &dtype, &dense, error);
    if (!status && !dense)
        status = tz__memory_check_apart(memory, tz_dtype_size(dtype), error);
    if (!status && !at)
        status = check_whole(inner(sim), memory, error);
    if (status)
        return status;
    const tz_box box = box_of(inner(sim), at, memory);
    return dense && dtype == tz_simulation_dtype(inner(sim), number) &&
                   (uintptr_t)memory->data % tz_dtype_size(dtype) == 0
               ? tz_simulation_read_cells(inner(sim), number, &box, memory->data, error)
               : get_converted(sim, number, &box, memory, error);
}

tz_status tz_sim_layout(const tz_sim *sim, const char *field, tz_memory *out, tz_error *error)
{
    int number;
    const tz_status status = find(sim, field, out, &number, error);
    if (status)
        return status;
    *out = (tz_memory){.dtype = tz_dtype_code(tz_simulation_dtype(inner(sim), number)),
                       .dims = tz_simulation_stencil(inner(sim))->dims,
                       .device = TZ_HOST};
    memcpy(out->shape, tz_simulation_extent(inner(sim)), sizeof out->shape);
    return TZ_OK;
}

tz_status tz_sim_view(tz_sim *sim, const char *field, int flags, tz_sim_cells *out, tz_error *error)
{
    int number;
    tz_field_memory memory;
    tz_status status = find(sim, field, out, &number, error);
    if (!status)
        status = tz_simulation_memory(inner(sim), number, &memory, error);
    if (status)
        return status;
    const tz_field_elements e = tz_simulation_elements(inner(sim), number);
    if (!e.plain && !(flags & TZ_VIEW_RAW))
        return tz_error_set(error, TZ_UNSUPPORTED, field,
                            "memory does not hold the values themselves: copy them with "
                            "tz_sim_get(), or take a raw view");
    *out = (tz_sim_cells){.memory = {.data = memory.first,
                                     .dtype = e.dtype,
                                     .dims = tz_simulation_stencil(inner(sim))->dims,
                                     .device = tz_simulation_gpu(inner(sim))},
                          .origin = e.add,
                          .scale = e.scale,
                          .generation = sim->generation};
    memcpy(out->memory.shape, e.extent, sizeof out->memory.shape);
    memcpy(out->memory.strides, memory.strides, sizeof out->memory.strides);
    return TZ_OK;
}

void tz_sim_view_done(void *tensor)
{
    /* https://dmlc.github.io/dlpack. The first word of version 1 is that number, of others an
     * address. */
    const struct {
        uint64_t first;
        atomic_int *versioned;
        uint64_t rest[4];
        atomic_int *plain;
    } *words = tensor;
    _Static_assert(sizeof *words == 56, "DLTensor has 48 bytes");
    atomic_store(words->first == 1 ? words->versioned : words->plain, 1);
}

uint64_t tz_sim_generation(const tz_sim *sim)
{
    return sim ? sim->generation : 0;
}

tz_status tz_sim_reduce(const tz_sim *sim, const char *field, tz_sim_numbers *out, tz_error *error)
{
    int number;
    tz_reduction r;
    tz_status status = find(sim, field, out, &number, error);
    if (!status)
        status = tz_simulation_reduce(inner(sim), number, &r, error);
    if (status)
        return status;
    *out = (tz_sim_numbers){.min = r.min,
                            .max = r.max,
                            .sum = r.sum,
                            .mean = r.sum / (double)r.cells,
                            .population = r.population,
                            .hash = r.hash};
    return TZ_OK;
}

tz_status tz_sim_residual(tz_sim *sim, double *out, tz_error *error)
{
    tz_update update = {0};
    tz_status status = check_open(sim, out, error);
    if (!status)
        status = tz_stencil_has_residual(tz_simulation_stencil(inner(sim)), error);
    if (!status)
        status = tz_simulation_measure(inner(sim), &update, error);
    if (!status)
        *out = tz_simulation_residual_of(inner(sim), &update);
    return status;
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static tz_status find_param(const tz_sim *sim, const char *name, int *param, tz_error *error)
{
    const tz_status status = check_open(sim, name, error);
    return status ? status
                  : tz_stencil_find_param(tz_simulation_stencil(inner(sim)), name, param, error);
}

tz_status tz_sim_param(const tz_sim *sim, const char *name, double *out, tz_error *error)
{
    int i;
    tz_status status = find_param(sim, name, &i, error);
    if (!status)
        status = tz__check_given(out, "an argument", error);
    if (status)
        return status;
    const tz_param *param = &tz_simulation_stencil(inner(sim))->params[i];
    if (param->type == TZ_PARAM_TEXT || param->type == TZ_PARAM_CHOICE)
        return tz_error_set(error, TZ_TYPE, name, "it is a text: the method \"param\" gives it");
    *out = tz_simulation_params(inner(sim))[i].number;
    return TZ_OK;
}

tz_status tz_sim_set_param(tz_sim *sim, const char *name, double value, tz_error *error)
{
    const tz_assignment one = {.name = name, .number = value};
    const tz_status status = check_open(sim, name, error);
    if (status)
        return status;
    sim->generation++;
    return tz_simulation_set_params(inner(sim), 1, &one, error);
}

/* ---- Running --------------------------------------------------------------------------------- */

tz_status tz_sim_advance(tz_sim *sim, int64_t steps, tz_error *error)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)steps);
    return tz_sim_call(sim, "run", text, NULL, error);
}

tz_status tz_sim_run(tz_sim *sim, const char *options, const char **result, tz_error *error)
{
    return tz_sim_call(sim, "run", options, result, error);
}

tz_status tz_sim_jump(tz_sim *sim, const char *options, const char **result, tz_error *error)
{
    return tz_sim_call(sim, "jump", options, result, error);
}

tz_status tz_sim_steady(tz_sim *sim, const char *options, const char **result, tz_error *error)
{
    return tz_sim_call(sim, "steady", options, result, error);
}

tz_status tz_sim_sources(tz_sim *sim, const char *options, tz_error *error)
{
    return tz_sim_call(sim, "sources", options, NULL, error);
}

tz_status tz_sim_receivers(tz_sim *sim, const char *options, int64_t *receivers, tz_error *error)
{
    const char *result;
    const tz_status status = tz_sim_call(sim, "receivers", options, &result, error);
    if (!status && receivers) /* it is the last object */
        *receivers = sim->session->objects;
    return status;
}

/* ---- Checkpoints ----------------------------------------------------------------------------- */

static const char prefix[] = "simulation";

static tz_status write_arrays(tz_sim *sim, const char *path, const json_t *facts, tz_error *error)
{
    tz_checkpoint_array arrays[2 * TZ_FIELDS_MAX];
    tz_checkpoint_writer *writer;
    const size_t count = tz_simulation_arrays(inner(sim), prefix, arrays, 2 * TZ_FIELDS_MAX);
    tz_status status = tz_checkpoint_begin(&writer, path, facts, arrays, count, error);
    if (status)
        return status;
    status = tz_simulation_save(inner(sim), writer, 0, error);
    if (!status)
        return tz_checkpoint_commit(writer, error);
    tz_checkpoint_abort(writer);
    return status;
}

tz_status tz_sim_checkpoint(tz_sim *sim, const char *path, tz_error *error)
{
    bool failed = false;
    tz_status status = check_open(sim, path, error);
    if (status)
        return status;
    json_t *facts = json_object();
    tz_json_put_text(facts, "trapeze", TZ_VERSION, &failed);
    tz_json_put(facts, "identity", tz_simulation_identity(inner(sim)), &failed);
    tz_json_put(facts, "progress", tz_simulation_progress(inner(sim)), &failed);
    status = failed ? tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a checkpoint")
                    : write_arrays(sim, path, facts, error);
    json_decref(facts);
    return status;
}

tz_status tz_sim_resume(tz_sim *sim, const char *path, tz_error *error)
{
    tz_checkpoint_reader *reader = NULL;
    tz_status status = check_open(sim, path, error);
    if (!status)
        status = tz_checkpoint_open(&reader, path, true, error);
    if (status)
        return status;
    const json_t *facts = tz_checkpoint_facts(reader);
    const json_t *identity = json_object_get(facts, "identity");
    const json_t *progress = json_object_get(facts, "progress");
    if (!identity || !progress)
        status = tz_error_set(error, TZ_FORMAT, path,
                              "it is no checkpoint of tz_sim_checkpoint(): `trapeze resume` goes "
                              "on with those of runs");
    if (!status)
        status = tz_simulation_check_identity(inner(sim), identity, error);
    if (!status) {
        sim->generation++;
        sim->handle->missing = 0;
        status = tz_simulation_restore(inner(sim), progress, reader, prefix, error);
    }
    tz_checkpoint_close(reader);
    return status;
}
