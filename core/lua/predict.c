#include "lua/module.h"

#include "lua/api.h"
#include "lua/context.h"
#include "lua/keys.h"
#include "lua/problem.h"
#include "lua/push.h"
#include "predict/prediction_table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char what[] = "tz.predict";
#define TYPE "trapeze.prediction"

/* A userdata, so that the tables are freed when pushing their contents raises. */
typedef struct holder {
    tz_workload *workload;
    tz_prediction_table *table;
} holder;

static int holder_close(lua_State *L)
{
    holder *h = luaL_checkudata(L, 1, TYPE);
    tz_prediction_table_destroy(h->table);
    tz_workload_destroy(h->workload);
    *h = (holder){NULL, NULL};
    return 0;
}

/* ---- The request ----------------------------------------------------------------------------- */

/* One number for all axes, or a list of one number an axis. */
static void get_numbers(lua_State *L, const char *key, int dims, double *out)
{
    const int type = tz_table_get(L, 1, key);
    for (int axis = 0; type == LUA_TNUMBER && axis < dims; axis++)
        out[axis] = lua_tonumber(L, -1);
    if (type == LUA_TTABLE)
        tz_list_check(L, what, key);
    for (int axis = 0; type == LUA_TTABLE && axis < dims; axis++) {
        if (lua_rawgeti(L, -1, axis + 1) == LUA_TNUMBER && lua_rawlen(L, -2) == (size_t)dims)
            out[axis] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    for (int axis = 0; type != LUA_TNIL && axis < dims; axis++)
        if (!(out[axis] > 0 && out[axis] < 1e9))
            tz_raise(L, "%s: '%s' must be a positive number or a list of %d", what, key, dims);
    lua_pop(L, 1);
}

static void get_request(lua_State *L, int dims, tz_prediction_request *request)
{
    int64_t height = 0, exchange = 0;
    bool compile = false;
    const char *family = NULL, *model = NULL;
    tz_error error;
    *request = (tz_prediction_request){.streamed = -1};
    tz_key_integer(L, 1, what, "height", 1, 1 << 20, &height);
    tz_key_integer(L, 1, what, "exchange", 1, 65536, &exchange);
    request->given.height = (int)height;
    request->given.exchange = (int)exchange;
    if (tz_key_text(L, 1, what, "family", &family))
        snprintf(request->given.family, sizeof request->given.family, "%.15s", family);
    if (tz_key_text(L, 1, what, "model", &model) &&
        tz_model_find(model, &request->model, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
    get_numbers(L, "block", dims, request->block);
    get_numbers(L, "halo", dims, request->halo);
    if (tz_key_number(L, 1, what, "streamed", &request->streamed) && !(request->streamed >= 0))
        tz_raise(L, "%s: 'streamed' must be 0 or more", what);
    tz_key_flag(L, 1, what, "fence", &request->fence);
    tz_key_flag(L, 1, what, "all", &request->all);
    if (tz_key_flag(L, 1, what, "compile", &compile) && compile)
        request->effort = TZ_EFFORT_COMPILE;
}

/* `devices`: a number of them, or a text. */
static void get_devices(lua_State *L, char *count, size_t size, tz_simulation_config *config)
{
    const int type = tz_table_get(L, 1, "devices");
    int is_integer = 0;
    const lua_Integer n = lua_tointegerx(L, -1, &is_integer);
    if (type == LUA_TNUMBER && is_integer) {
        snprintf(count, size, "%lld", (long long)n);
        config->devices = count;
    } else if (type == LUA_TSTRING) {
        config->devices = lua_tostring(L, -1); /* the table keeps it */
    } else if (type != LUA_TNIL) {
        tz_raise(L, "%s: 'devices' must be a number of devices or a text, not %s", what,
                 luaL_typename(L, -1));
    }
    lua_pop(L, 1);
}

/* ---- The table ------------------------------------------------------------------------------- */

/* What several devices gain. */
static void push_gains(lua_State *L, const holder *h)
{
    const tz_scaling *scaling = &h->table->scaling;
    tz_set_integer(L, "devices", h->workload->devices.count);
    tz_set_text(L, "link", h->workload->link.name);
    tz_set_number(L, "alone_s", h->table->alone_s);
    lua_createtable(L, scaling->count, 0);
    for (int i = 0; i < scaling->count; i++) {
        lua_createtable(L, 0, 2);
        tz_set_integer(L, "devices", scaling->at[i].devices);
        if (scaling->at[i].extent[0] > 0) {
            tz_push_integers(L, h->workload->problem.dims, scaling->at[i].extent);
            lua_setfield(L, -2, "grid");
        }
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "gains");
}

static void push_row(lua_State *L, const tz_workload *workload, const tz_prediction_table *table,
                     const tz_prediction_row *row)
{
    const tz_model_prediction *p = &row->prediction;
    lua_createtable(L, 0, 16);
    tz_set_integer(L, "height", row->plan.height);
    tz_set_text(L, "family", row->plan.family);
    for (int k = 0; k < TZ_PLAN_KNOBS_COUNT; k++)
        if (tz_plan_get(&row->plan, k) != 0)
            tz_set_integer(L, tz_plan_knobs[k].name, tz_plan_get(&row->plan, k));
    tz_push_integers(L, workload->problem.dims, row->plan.tile);
    lua_setfield(L, -2, "tile");
    if (row->work) {
        tz_set_integer(L, "registers", row->work->registers);
        tz_set_flag(L, "estimated", row->work->estimated);
    }
    tz_set_number(L, "time_s", p->time_s);
    tz_set_number(L, "stage_s", p->stage_s);
    if (p->sustained_s > 0) {
        tz_set_number(L, "sustained_s", p->sustained_s);
        tz_set_number(L, "power_w", p->power_w);
    }
    tz_set_number(L, "gcells_per_s", p->cells_per_s * 1e-9);
    if (workload->place.devices) {
        tz_set_number(L, "exchange_share", tz_prediction_exchange_share(p));
        tz_set_number(L, "efficiency", tz_prediction_efficiency(table, row));
    }
    tz_set_text(L, "limit", tz_model_resource_text(p->limit));
    tz_set_text(L, "limit_text", p->limit_text);
    lua_createtable(L, 0, p->component_count);
    for (int c = 0; c < p->component_count; c++)
        tz_set_number(L, p->components[c].name, p->components[c].seconds);
    lua_setfield(L, -2, "components");
    lua_createtable(L, 0, p->detail_count);
    for (int d = 0; d < p->detail_count; d++)
        tz_set_number(L, p->details[d].name, p->details[d].value);
    lua_setfield(L, -2, "details");
}

static void push_prediction_table(lua_State *L, const holder *h)
{
    const tz_prediction_table *table = h->table;
    lua_createtable(L, 0, 12);
    tz_set_text(L, "model", table->model->name);
    tz_set_text(L, "device", h->workload->device.name);
    tz_set_text(L, "title",
                h->workload->device.title[0] ? h->workload->device.title
                                             : h->workload->device.name);
    tz_set_text(L, "backend", h->workload->backend->name);
    if (h->workload->place.devices)
        push_gains(L, h);
    tz_set_text(L, "counts", table->counts);
    tz_set_text(L, "why", table->why);
    tz_set_text(L, "limits", table->limits);
    if (table->choice[0])
        tz_set_text(L, "choice", table->choice);
    tz_set_integer(L, "considered", table->considered);
    tz_set_number(L, "seconds", table->seconds);
    lua_createtable(L, table->notes.count, 0);
    for (int n = 0; n < table->notes.count; n++) {
        lua_pushstring(L, table->notes.text[n]);
        lua_rawseti(L, -2, n + 1);
    }
    lua_setfield(L, -2, "notes");
    lua_createtable(L, table->count, 0);
    for (int i = 0; i < table->count; i++) {
        push_row(L, h->workload, table, &table->rows[i]);
        if (i == table->best) {
            lua_pushvalue(L, -1);
            lua_setfield(L, -4, "best");
        }
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "rows");
}

static const tz_key predict_options[] = {
    TZ_PROBLEM_OPTIONS,
    {"backend", "text", "\"auto\"", "as in tz.simulation"},
    {"device", "text", "this machine's",
     "a device record: a name or a file; the device need not be there"},
    {"gpu", "integer", "0", "which GPU of this machine"},
    {"devices", "integer or text", "one device",
     "so many such devices, each with a slab of the grid; or devices of this machine, as a text of "
     "tz.simulation: `\"0,1\"`, `\"cpu:2\"`"},
    {"link", "text", "`\"peer\"`, else `\"host\"`",
     "what joins them: `\"peer\"`, `\"host\"` or `\"mpi\"` of the device record, `\"nvlink\"`, "
     "`\"pcie\"`, or the path of a link's record"},
    {"exchange", "integer", "chosen",
     "only plans that exchange ghost zones after so many iterations"},
    {"threads", "integer", "one for each core", "of the cpu backend, or to compile kernels"},
    {"model", "text", "the first that the record allows",
     "`\"roofs\"`, `\"meng2009\"`, `\"meng2011\"`"},
    {"height", "integer", "all", "only plans of that height"},
    {"family", "text", "all", "only plans of that family"},
    {"block", "{bx[, by[, bz]]}", "", "only plans of that tile"},
    {"halo", "{x[, y[, z]]}", "the stencil's",
     "for the papers' models: another halo width, both sides together"},
    {"streamed", "integer", "the stencil's",
     "for the papers' models: another number of streamed fields"},
    {"fence", "boolean", "false", "for the papers' models: stages synchronise inside one launch"},
    {"all", "boolean", "false", "every plan, not only the best of a family and height"},
    {"compile", "boolean", "false", "compile every kernel, not only those that may be best"},
    {NULL, NULL, NULL, NULL}};

static const tz_key predict_result[] = {
    {"rows", "list", "",
     "of plans: `height`, `family`, `tile`, knobs, `registers`, `estimated`, `time_s` (of an "
     "iteration), `stage_s`, `sustained_s`, `power_w`, `gcells_per_s`, `limit`, `limit_text`, "
     "`components`, `details`; of several devices also `exchange`, `exchange_share` (of the time) "
     "and "
     "`efficiency` (against one device)"},
    {"best", "table", "", "the row that is chosen"},
    {"devices", "integer", "", "several devices: how many"},
    {"link", "text", "", "several devices: what joins them"},
    {"alone_s", "number", "", "several devices: an iteration on one of them"},
    {"gains", "list of tables", "",
     "several devices: `devices` gain over half as many from the grid `grid` on (no `grid`: from "
     "none "
     "that was tried)"},
    {"choice", "text", "", "why, if that is not the fastest row"},
    {"model", "text", "", ""},
    {"device", "text", "", ""},
    {"title", "text", "", "the model's or device's name for a title"},
    {"backend", "text", "", ""},
    {"counts", "text", "", "where the counts come from"},
    {"why", "text", "", "what limits the best plan"},
    {"limits", "text", "", "what limits which heights"},
    {"notes", "list of texts", "", "what was assumed"},
    {"considered", "integer", "", "plans"},
    {"seconds", "number", "", "that it took"},
    {NULL, NULL, NULL, NULL}};

/* tz.predict { plugin = …, grid = …, device = …, model = …, … } */
static int predict(lua_State *L)
{
    const tz_script_options *options = tz_context_get(L)->options;
    tz_assignment params[TZ_PROBLEM_PARAMS_MAX];
    tz_simulation_config config = {.registry = options->registry};
    tz_workload_config workload = {.simulation = &config, .let_unstable = true};
    tz_prediction_request request;
    int64_t threads = 0, gpu = options->device;
    char count[24];
    tz_error error;
    if (!lua_istable(L, 1))
        tz_raise(L, "%s: needs a table: tz.predict { plugin = …, grid = … }", what);
    lua_settop(L, 1);
    tz_keys_take(L, 1, what, predict_options, false);
    const tz_stencil *stencil = tz_problem_read(L, 1, what, &config, params, NULL);
    if (config.mixed) /* stages iterate the correction */
        config.precision = TZ_SINGLE;
    config.backend = options->backend;
    tz_key_text(L, 1, what, "device", &workload.device);
    if (workload.device)
        config.backend = NULL;
    tz_key_text(L, 1, what, "backend", &config.backend);
    tz_key_integer(L, 1, what, "threads", 1, 1024, &threads);
    tz_key_integer(L, 1, what, "gpu", 0, 1023, &gpu);
    get_devices(L, count, sizeof count, &config);
    tz_key_text(L, 1, what, "link", &workload.link);
    config.threads = threads > 0 ? (int)threads : options->threads;
    config.device = (int)gpu;
    get_request(L, stencil->dims, &request);
    holder *h = lua_newuserdatauv(L, sizeof *h, 0);
    *h = (holder){NULL, NULL};
    luaL_setmetatable(L, TYPE);
    const int at = lua_gettop(L);
    if (tz_workload_create(&h->workload, &workload, &error) != TZ_OK ||
        tz_prediction_table_create(&h->table, h->workload, &request, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
    push_prediction_table(L, h);
    lua_pushcfunction(L, holder_close);
    lua_pushvalue(L, at);
    lua_call(L, 1, 0);
    return 1;
}

void tz_predict_register(lua_State *L)
{
    tz_metatable_create(L, TYPE, (const tz_api_function[]){TZ_API_END}, holder_close, NULL, NULL);
    static const tz_api_function functions[] = {
        TZ_API("tz.predict(options)", predict,
               "Predictions of all plans of a problem, without a run.", .options = predict_options,
               .result = predict_result),
        TZ_API_END};
    tz_api_add(L, functions);
}
