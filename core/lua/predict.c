/* tz.predict and tz.tune: read a workload, ask core/predict, and return its tables. Registered by
 * module.c. */
#include "lua/module.h"

#include "backend/backend.h"
#include "calibrate/records.h"
#include "lua/api.h"
#include "lua/context.h"
#include "lua/fields.h"
#include "lua/interrupt.h"
#include "lua/keys.h"
#include "lua/policy.h"
#include "lua/problem.h"
#include "papers.h"
#include "predict/sheets.h"
#include "sim/fields.h"
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char predicting[] = "tz.predict", tuning[] = "tz.tune";

/* ---- The workload ---------------------------------------------------------------------------- */

const tz_key tz_workload_options[] = {
    {.all = tz_problem_options},
    {"backend", "text", "\"auto\"", "as in tz.simulation"},
    {"device", "text", "this machine's", "a device record: a name or a file"},
    {"gpu", "integer", "that of `--device`, else 0", "which GPU of this machine", .most = 1023},
    {"devices", "integer or text", "one device",
     "so many such devices, each with a slab of the grid; or devices of this machine: `\"0,1\"`, "
     "`\"cpu:2\"`"},
    {"link", "text", "the first that the device record has",
     "what joins them: %s of the device record; one that comes with Trapeze, such as "
     "`\"nvlink\"`; or the path of a link's record",
     tz_link_own_name},
    {"threads", "integer", "one for each core", "of the cpu backend, or to compile kernels",
     .least = 1, .most = 1024},
    {"height", "integer", "all", "only plans of that height", .least = 1,
     .most = TZ_PLAN_HEIGHT_MAX},
    {"family", "text", "all", "only plans of that family"},
    {.all = tz_knob_options},
    {"block", "{bx[, by[, bz]]}", "", "only plans of that tile"},
    {NULL}};

enum { CHANGES_MAX = 32 };

typedef struct workload_request {
    tz_simulation_config config;
    tz_assignment params[TZ_PROBLEM_PARAMS_MAX];
    tz_record_change changes[CHANGES_MAX]; /* borrowed from the table */
    size_t changes_count;
    const char *device, *link; /* borrowed, as config.devices may be */
    char devices[24];          /* their number as a text */
    tz_plan given;             /* height and family; 0 and "": all */
    double block[TZ_AXES];     /* 0: all */
    int dims;
} workload_request;

/* One number for all axes, or a list of one number an axis, in the table at index 1. */
static void get_extents(lua_State *L, const char *who, const char *key, int dims, double *out)
{
    const int type = tz_table_get(L, 1, key);
    for (int axis = 0; type == LUA_TNUMBER && axis < dims; axis++)
        out[axis] = lua_tonumber(L, -1);
    if (type == LUA_TTABLE)
        tz_list_check(L, who, key, "a list");
    for (int axis = 0; type == LUA_TTABLE && axis < dims; axis++) {
        if (lua_rawgeti(L, -1, axis + 1) == LUA_TNUMBER && lua_rawlen(L, -2) == (size_t)dims)
            out[axis] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    for (int axis = 0; type != LUA_TNIL && axis < dims; axis++)
        if (!(out[axis] > 0 && out[axis] < 1e9))
            tz_raise(L, "%s: '%s' must be a positive number or a list of %d", who, key, dims);
    lua_pop(L, 1);
}

/* `devices`: a number of them, or a text. */
static void get_devices(lua_State *L, const char *who, workload_request *out)
{
    const int type = tz_table_get(L, 1, "devices");
    int is_integer = 0;
    const lua_Integer n = lua_tointegerx(L, -1, &is_integer);
    if (type == LUA_TNUMBER && is_integer) {
        snprintf(out->devices, sizeof out->devices, "%lld", (long long)n);
        out->config.devices = out->devices;
    } else if (type == LUA_TSTRING) {
        out->config.devices = lua_tostring(L, -1); /* the table keeps it */
    } else if (type != LUA_TNIL) {
        tz_raise(L, "%s: 'devices' must be a number of devices or a text, not %s", who,
                 luaL_typename(L, -1));
    }
    lua_pop(L, 1);
}

/* `out` must stay where it is until the workload is made. */
static void get_workload(lua_State *L, const char *who, workload_request *out)
{
    const tz_script_options *options = tz_context_get(L)->options;
    tz_simulation_config *config = &out->config;
    int64_t threads = 0, gpu = options->device, height = 0;
    const char *family = NULL, *backend = NULL;
    *out = (workload_request){.config = {.registry = options->registry}};
    out->dims = tz_problem_read(L, 1, who, config, out->params, NULL)->dims;
    if (config->mixed) /* stages iterate the correction */
        config->precision = TZ_PRECISION_CORRECTION;
    config->backend = options->backend;
    config->stopped = tz_interrupt_signal;
    config->cancelled = options->cancelled;
    tz_key_text(L, 1, who, "device", &out->device);
    if (out->device)
        config->backend = NULL;
    if (tz_key_text(L, 1, who, "backend", &backend) || (!out->device && !config->backend))
        config->backend = backend;
    tz_key_integer(L, 1, who, "threads", &threads);
    tz_key_integer(L, 1, who, "gpu", &gpu);
    config->threads = threads > 0 ? (int)threads : options->threads;
    config->device = (int)gpu;
    tz_key_integer(L, 1, who, "height", &height);
    out->given.height = (int)height;
    get_devices(L, who, out);
    tz_key_text(L, 1, who, "link", &out->link);
    tz_knobs_read(L, 1, who, &out->given);
    if (tz_key_text(L, 1, who, "family", &family))
        tz_try(L, who, tz_family_check(family, tz_fault(L)));
    if (family)
        snprintf(out->given.family, sizeof out->given.family, "%s", family);
    get_extents(L, who, "block", out->dims, out->block);
}

/* What is freed also when pushing its contents raises. */
typedef struct holder {
    tz_workload *workload;
    tz_prediction_table *table;
    json_t *own; /* what the table's predictor adds */
    tz_tune *tune;
} holder;

static int holder_gc(lua_State *L)
{
    holder *h = lua_touserdata(L, 1);
    tz_tune_destroy(h->tune);
    tz_prediction_table_destroy(h->table);
    json_decref(h->own);
    tz_workload_destroy(h->workload);
    *h = (holder){NULL};
    return 0;
}

/* Make the workload; its holder is pushed. */
static holder *hold(lua_State *L, const char *who, const workload_request *request,
                    bool let_unstable)
{
    const tz_workload_config config = {.simulation = &request->config,
                                       .device = request->device,
                                       .link = request->link,
                                       .changes = request->changes,
                                       .changes_count = request->changes_count,
                                       .let_unstable = let_unstable};
    holder *h = tz_push_owned(L, sizeof *h, holder_gc);
    tz_try(L, who, tz_workload_create(&h->workload, &config, tz_fault(L)));
    return h;
}

/* Free the holder now: it is below the result on the top of the stack. */
static void let_go(lua_State *L)
{
    lua_pushcfunction(L, holder_gc);
    lua_pushvalue(L, -3);
    lua_call(L, 1, 0);
}

/* ---- tz.predict ------------------------------------------------------------------------------ */

/* `record`: { KEY = VALUE }. Keys and values stay in the table, the values as texts. */
static void get_changes(lua_State *L, workload_request *workload)
{
    if (tz_table_get(L, 1, "record") == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    tz_options_check(L, -1, "'record'");
    tz_table_copy(L, -1, "'record'");
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING ||
            (lua_type(L, -1) != LUA_TSTRING && lua_type(L, -1) != LUA_TNUMBER))
            tz_raise(L,
                     "%s: 'record' needs { KEY = VALUE }, such as { cpi = 2, "
                     "memory_latency = \"600 cycles\" }",
                     predicting);
        if (workload->changes_count == CHANGES_MAX)
            tz_raise(L, "%s: 'record' has more than %d numbers", predicting, CHANGES_MAX);
        tz_record_change *change = &workload->changes[workload->changes_count++];
        change->key = tz_text_check(L, -2, predicting, "record");
        lua_pushvalue(L, -2);
        luaL_tolstring(L, -2, NULL);
        change->value = tz_text_check(L, -1, predicting, "record");
        lua_rawset(L, -5);
    }
    lua_setfield(L, 1, "record");
}

/* Options that only some models take. */
static void get_added(lua_State *L, int dims, tz_prediction_request *request)
{
    for (int i = 0; tz_predictor_options[i].name; i++) {
        const char *name = tz_predictor_options[i].name;
        double values[TZ_MODEL_AXES] = {0};
        bool flag = false, given = false;
        int64_t integer = 0;
        switch (tz_predictor_options[i].value) {
        case TZ_PREDICTOR_FLAG:
            given = tz_key_flag(L, 1, predicting, name, &flag) && flag;
            values[0] = flag;
            break;
        case TZ_PREDICTOR_INTEGER:
            given = tz_key_integer(L, 1, predicting, name, &integer);
            values[0] = (double)integer;
            break;
        case TZ_PREDICTOR_NUMBER:
            given = tz_key_number(L, 1, predicting, name, values);
            break;
        case TZ_PREDICTOR_EXTENTS:
            get_extents(L, predicting, name, dims, values);
            given = values[0] > 0;
            break;
        }
        if (given)
            tz_prediction_option_set(request, i, values, TZ_MODEL_AXES);
    }
}

static void get_prediction(lua_State *L, workload_request *workload, tz_prediction_request *request,
                           bool *measure)
{
    const char *model = NULL;
    *request = (tz_prediction_request){.given = workload->given};
    memcpy(request->block, workload->block, sizeof request->block);
    if (tz_key_text(L, 1, predicting, "model", &model))
        tz_try(L, predicting, tz_predictor_find(model, false, &request->by, tz_fault(L)));
    get_changes(L, workload);
    get_added(L, workload->dims, request);
    tz_key_flag(L, 1, predicting, "all", &request->all);
    tz_key_flag(L, 1, predicting, "measure", measure);
    tz_key_flag(L, 1, predicting, "compile", &request->compile);
    tz_key_flag(L, 1, predicting, "quick", &request->quick);
    tz_key_integer(L, 1, predicting, "steps", &request->steps);
    if (request->quick && request->compile)
        tz_raise(L, "%s: 'quick' or 'compile', not both", predicting);
    const char *other = !request->by || request->by->model ? NULL
                        : *measure                         ? "measure"
                                                           : tz_predictor_excess(request);
    if (other)
        tz_raise(L, "%s: '%s' does not go with the model %s, which %s", predicting, other,
                 request->by->name, request->by->does);
}

/* A value of JSON as one of Lua. */
static void push_json(lua_State *L, const json_t *value)
{
    const char *key;
    json_t *inner;
    luaL_checkstack(L, 4, predicting);
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        lua_createtable(L, 0, (int)json_object_size(value));
        json_object_foreach((json_t *)(uintptr_t)value, key, inner)
        {
            push_json(L, inner);
            lua_setfield(L, -2, key);
        }
        break;
    case JSON_ARRAY:
        lua_createtable(L, (int)json_array_size(value), 0);
        for (size_t i = 0; i < json_array_size(value); i++) {
            push_json(L, json_array_get(value, i));
            lua_rawseti(L, -2, (lua_Integer)i + 1);
        }
        break;
    case JSON_STRING:
        lua_pushstring(L, json_string_value(value));
        break;
    case JSON_INTEGER:
        lua_pushinteger(L, json_integer_value(value));
        break;
    case JSON_REAL:
        lua_pushnumber(L, json_real_value(value));
        break;
    default:
        lua_pushboolean(L, json_is_true(value));
        break;
    }
}

/* Sets what the predictor adds in the table on the top of the stack. */
static void set_own(lua_State *L, const holder *h)
{
    const char *key;
    json_t *value;
    json_object_foreach(h->own, key, value)
    {
        push_json(L, value);
        lua_setfield(L, -2, key);
    }
}

static void push_table(lua_State *L, const holder *h)
{
    const tz_prediction_table *table = h->table;
    const tz_prediction_sheet sheet = {h->workload, table};
    lua_createtable(L, 0, 16);
    tz_set_row(L, table->by->model ? tz_prediction_columns : tz_answer_columns, &sheet, table);
    set_own(L, h);
    if (!table->by->model)
        return;
    lua_getfield(L, -1, "rows");
    lua_rawgeti(L, -1, table->best + 1);
    lua_setfield(L, -3, "best");
    lua_pop(L, 1);
}

static const char *model_names(int i)
{
    return tz_predictors[i] ? tz_predictors[i]->name : NULL;
}

/* Rows of keys that core/papers.h adds. */
#define OPTION(key, type, otherwise, doc, least, most)                                             \
    {key, type, otherwise, doc, NULL, least, most},
#define RESULT(key, type, doc) {key, type, "", doc},

static const tz_key predict_options[] = {
    {.all = tz_workload_options},
    {"model", "text", "the first that the record allows", "%s", model_names},
    TZ_PAPERS_KEYS(OPTION){"record", "table", "",
                           "`KEY = value`: numbers of the [device's record](devices.md) to "
                           "replace: `{ memory_latency = \"600 cycles\" }`"},
    {"measure", "boolean", "false",
     "with a model of kernels of its own: run these on this machine's GPU, too; not under "
     "`--check`"},
    {"all", "boolean", "false", "every plan, not only the best of a family and height"},
    {"compile", "boolean", "false", "compile every kernel, not only those that may be best"},
    {"quick", "boolean", "false", "estimates: compile one short kernel alone"},
    {"steps", "integer", "a long run",
     "the best plan is that of a run of so many steps, or until its next output: no higher one, "
     "and "
     "its last stage may be shorter",
     .least = 1, .most = INT64_MAX},
    {NULL, NULL, NULL, NULL}};

static const tz_key predict_result[] = {
    {"rows", "list", "",
     "of plans: `height`, `family`, `tile`, knobs, `registers`, `estimated`, `time_s` (of an "
     "iteration), `run_s` (with `steps`: of all), `stage_s`, `sustained_s`, `power_w` (at the full "
     "clock), `power_limit_w`, "
     "`gcells_per_s`, `limit`, `limit_text`, `components`, `details`; of several devices also "
     "`exchange`, `exchange_share` (of the time) and `efficiency` (against one device)"},
    {"best", "table", "", "the row that is chosen"},
    {"devices", "integer", "", "several devices: how many"},
    {"link", "text", "", "several devices: what joins them"},
    {"alone_s", "number", "", "several devices: an iteration on one of them"},
    {"gains", "list of tables", "",
     "several devices: `devices` gain over fewer from the grid `grid` on (no `grid`: from "
     "none that was tried)"},
    {"choice", "text", "", "why, if that is not the fastest row"},
    {"model", "text", "", ""},
    {"device", "text", "", ""},
    {"title", "text", "", "the model's or device's name for a title"},
    {"backend", "text", "", ""},
    {"counts", "text", "", "where the counts come from"},
    {"why", "text", "", "what limits the best plan"},
    {"limits", "text", "", "what limits which heights"},
    {"notes", "list of texts", "", "what was assumed"},
    TZ_PAPERS_RESULTS(RESULT){"measured_s", "number", "", "with `measure`: an iteration"},
    {"accuracy", "number", "",
     "with `measure`: the smaller of the measured and the predicted time over the larger"},
    {"considered", "integer", "", "plans"},
    {"seconds", "number", "", "that it took"},
    {NULL, NULL, NULL, NULL}};

static int predict(lua_State *L)
{
    workload_request workload;
    tz_prediction_request request;
    bool measure = false;
    tz_options_take(L, predicting, predict_options, "tz.predict { plugin = …, grid = … }");
    get_workload(L, predicting, &workload);
    get_prediction(L, &workload, &request, &measure);
    measure = measure && !tz_context_get(L)->options->check;
    holder *h = hold(L, predicting, &workload, true);
    tz_try(L, predicting,
           tz_prediction_table_create(&h->table, h->workload, &request, tz_fault(L)));
    if (measure)
        tz_try(L, predicting,
               tz_prediction_table_measure(h->table, h->workload, workload.config.device,
                                           tz_fault(L)));
    h->own = json_object();
    if (h->table->by->json)
        h->table->by->json(h->table, h->own);
    push_table(L, h);
    let_go(L);
    return 1;
}

/* ---- tz.tune --------------------------------------------------------------------------------- */

static bool on_progress(void *context, int done, int of)
{
    (void)done, (void)of;
    return !tz_context_stops(context);
}

/* A list of names as "stream,tile". */
static void get_families(lua_State *L, char *text, size_t size)
{
    const int top = lua_gettop(L), type = tz_table_get(L, 1, "families");
    size_t used = 0;
    if (type != LUA_TNIL)
        tz_list_check(L, tuning, "families", "a list of names");
    for (lua_Integer i = 1; type != LUA_TNIL && lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
        const char *name = tz_text_check(L, -1, tuning, "families");
        tz_try(L, tuning, tz_family_check(name, tz_fault(L)));
        if (used + strlen(name) + 2 > size)
            tz_raise(L, "%s: 'families' has too many names", tuning);
        used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? "," : "", name);
        lua_pop(L, 1);
    }
    lua_settop(L, top);
}

static void get_tune(lua_State *L, const workload_request *workload, char *families, size_t size,
                     tz_tune_request *request)
{
    int64_t rounds = 0;
    const char *model = NULL;
    *request = (tz_tune_request){.given = workload->given,
                                 .ordinal = workload->config.device,
                                 .progress = on_progress,
                                 .context = tz_context_get(L)};
    for (int axis = 0; axis < TZ_AXES; axis++)
        request->given.tile[axis] = (int64_t)workload->block[axis];
    get_families(L, families, size);
    if (families[0])
        request->families = families;
    if (tz_key_text(L, 1, tuning, "model", &model))
        tz_try(L, tuning, tz_predictor_find(model, true, &request->lister, tz_fault(L)));
    if (model && families[0])
        tz_raise(L, "%s: 'families' does not go with 'model'", tuning);
    tz_key_integer(L, 1, tuning, "rounds", &rounds);
    request->rounds = (int)rounds;
    tz_key_number(L, 1, tuning, "seconds", &request->round_s);
    tz_key_flag(L, 1, tuning, "sustained", &request->sustained);
    tz_key_flag(L, 1, tuning, "check", &request->check);
}

/* Fields of the script, in a simulation of the reference backend. */
typedef struct own_fields {
    tz_simulation_handle handle;
    tz_bench_fields fields;
} own_fields;

static int own_fields_gc(lua_State *L)
{
    own_fields *own = lua_touserdata(L, 1);
    tz_simulation_destroy(own->handle.simulation);
    own->handle.simulation = NULL;
    return 0;
}

static tz_status own_row(void *context, int field, int64_t y, int64_t z, double *cells,
                         tz_error *error)
{
    const own_fields *own = context;
    const int64_t *extent = tz_simulation_extent(own->handle.simulation);
    const tz_box box = {{0, y, z}, {extent[0], y + 1, z + 1}};
    return tz_simulation_read(own->handle.simulation, field, &box, cells, error);
}

/* `fields`, which stay on the stack; NULL: there are none. */
static const tz_bench_fields *get_fields(lua_State *L, const workload_request *workload)
{
    tz_simulation_config config = workload->config;
    if (tz_table_get(L, 1, "fields") == LUA_TNIL)
        return NULL;
    if (!lua_istable(L, -1))
        tz_raise_kind(L, -1, tuning, "fields", "a table");
    const int table = lua_gettop(L);
    own_fields *own = tz_push_owned(L, sizeof *own, own_fields_gc);
    config.backend = "reference";
    config.devices = NULL;
    config.dry = tz_context_get(L)->options->check;
    tz_try(L, tuning, tz_simulation_create(&own->handle.simulation, &config, tz_fault(L)));
    own->handle.context = tz_context_get(L);
    own->fields.row = own_row;
    own->fields.context = own;
    const tz_stencil *stencil = tz_handle_stencil(&own->handle);
    const char *names[TZ_FIELDS_MAX];
    for (int f = 0; f < tz_stencil_fields_all(stencil); f++)
        names[f] = stencil->fields[f].name;
    tz_keys_check(L, table, "tz.tune: 'fields'", names, (size_t)tz_stencil_fields_all(stencil),
                  false);
    for (int f = 0; f < tz_stencil_fields_all(stencil); f++) {
        char where[128];
        snprintf(where, sizeof where, "tz.tune: field '%.60s'", stencil->fields[f].name);
        if (tz_table_get(L, table, stencil->fields[f].name) != LUA_TNIL) {
            if (stencil->fields[f].role == TZ_STREAMED)
                tz_raise(L, "%s: a streamed field has random slabs here: leave it out", where);
            tz_field_assign(L, &own->handle, f, NULL, lua_gettop(L), where);
            own->fields.given[f] = true;
        }
        lua_pop(L, 1);
    }
    return &own->fields;
}

static void push_tune(lua_State *L, const holder *h)
{
    const tz_tune *tune = h->tune;
    const tz_tune_sheet sheet = {h->workload, tune};
    lua_createtable(L, 0, 14);
    tz_set_row(L, tz_tune_columns, &sheet, tune);
    lua_getfield(L, -1, "rows");
    lua_rawgeti(L, -1, tune->best + 1);
    lua_setfield(L, -3, "best");
    lua_rawgeti(L, -1, tune->predicted + 1);
    lua_setfield(L, -3, "predicted");
    lua_pop(L, 1);
}

/* The i-th model that lists plans. */
static const char *lister_names(int i)
{
    for (int k = 0; tz_predictors[k]; k++)
        if (tz_predictors[k]->list && i-- == 0)
            return tz_predictors[k]->name;
    return NULL;
}

static const tz_key tune_options[] = {
    {.all = tz_workload_options},
    {"fields", "table", "random numbers",
     "`FIELD = value`, as in tz.simulation. Other fields are random: within a tenth of the "
     "stencil's initial value or, where that is 0, from 0 to 1"},
    {"families", "list of texts", "all", "only plans of these families"},
    {"model", "text", "",
     "only the plans that this model lists, and how good those are that it chooses: %s",
     lister_names},
    {"rounds", "integer", TZ_KEY_VALUE(TZ_TUNE_ROUNDS),
     "how often a plan that is near the fastest is measured", .least = 1,
     .most = TZ_MEASURE_ROUNDS_MAX / 2},
    {"seconds", "number",
     TZ_KEY_VALUE(TZ_TUNE_GPU_S) " on a GPU, " TZ_KEY_VALUE(
         TZ_TUNE_SUSTAINED_S) " if sustained; " TZ_KEY_VALUE(TZ_TUNE_CPU_S) " on a CPU",
     "length of a round", .least = 1e-4, .most = 100},
    {"sustained", "boolean", "false",
     "no rests between rounds, and half a second of work before each plan: the speed of long runs"},
    {"check", "boolean", "true",
     "compare the bits that each plan leaves with those of height 1; needs a copy of the fields"},
    {NULL, NULL, NULL, NULL}};

static const tz_key tune_result[] = {
    {"rows", "list", "",
     "of plans: `height`, `family`, `tile`, knobs, `registers`, `predicted_s`, `measured_s`, "
     "`low_s`, `high_s` (of an iteration), `gcells_per_s`, `rounds`, `same_bits`, `clock_hz`, "
     "`throttled`; `refused`: why a plan was not measured"},
    {"best", "table", "", "the row that was fastest"},
    {"predicted", "table", "", "the row whose prediction is best"},
    {"share", "number", "", "speed of the predicted plan / speed of the best one"},
    {"error_median", "number", "", "median of |predicted - measured| / measured"},
    {"error_p90", "number", "", "its 90 % quantile"},
    {"error_mean", "number", "", "mean of (predicted - measured) / measured"},
    {"set", "table", "",
     "with `model`: `shapes` that it lists, `chosen` ones, `measured`, `measured_chosen`, "
     "`has_best` (the fastest shape is chosen), `best` and `worst` (speed of the fastest and the "
     "slowest chosen shape / of the fastest of all); rows have `in_set`"},
    {"different", "integer", "", "plans that left other bits than height 1: a fault"},
    {"not_finite", "integer", "",
     "plans whose bits are not compared: fields become infinite or NaN"},
    {"infinite", "boolean", "", "fields are infinite or NaN after the last measurement"},
    {"backend", "text", "", ""},
    {"device", "text", "", "name of the record"},
    {NULL, NULL, NULL, NULL}};

static int tune(lua_State *L)
{
    workload_request workload;
    tz_tune_request request;
    char families[128] = "";
    tz_options_take(L, tuning, tune_options, "tz.tune { plugin = …, grid = … }");
    get_workload(L, tuning, &workload);
    get_tune(L, &workload, families, sizeof families, &request);
    request.fields = get_fields(L, &workload);
    request.dry = tz_context_get(L)->options->check;
    holder *h = hold(L, tuning, &workload, false);
    tz_try(L, tuning, tz_tune_create(&h->tune, h->workload, &request, tz_fault(L)));
    push_tune(L, h);
    let_go(L);
    return 1;
}

const tz_api_function tz_predict_functions[] = {
    TZ_API("tz.predict(options)", predict,
           "Predictions of all plans of a problem, without a run. The device need not be there.",
           .options = predict_options, .result = predict_result, .recall = TZ_RECALL_GIVE),

    TZ_API("tz.tune(options)", tune,
           "Measures all plans of a problem on this machine, as `trapeze tune` does, and "
           "compares them with their predictions. Under "
           "`--check` nothing is measured: the predictions stand for the measurements.",
           .options = tune_options, .result = tune_result, .recall = TZ_RECALL_GIVE),
    TZ_API_END};
