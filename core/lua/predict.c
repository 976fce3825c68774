/* tz.predict: reads a workload, asks core/predict, and returns the table of predictions. Registered
 * by module.c; called by scripts. */
#include "lua/module.h"

#include "lua/api.h"
#include "lua/context.h"
#include "lua/policy.h"
#include "lua/push.h"
#include "lua/workload.h"
#include "papers.h"
#include "predict/sheets.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char what[] = "tz.predict";
#define TYPE "trapeze.prediction"

/* A userdata, so that the tables are freed when pushing their contents raises. */
typedef struct holder {
    tz_workload *workload;
    tz_prediction_table *table;
    json_t *own; /* what the table's predictor adds */
} holder;

static int holder_close(lua_State *L)
{
    holder *h = luaL_checkudata(L, 1, TYPE);
    tz_prediction_table_destroy(h->table);
    json_decref(h->own);
    tz_workload_destroy(h->workload);
    *h = (holder){NULL, NULL, NULL};
    return 0;
}

/* ---- The request ----------------------------------------------------------------------------- */

/* `record`: { KEY = VALUE }. Keys and values stay in the table, the values as texts. */
static void get_changes(lua_State *L, tz_workload_request *workload)
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
                     what);
        if (workload->changes_count == TZ_WORKLOAD_CHANGES_MAX)
            tz_raise(L, "%s: 'record' has more than %d numbers", what, TZ_WORKLOAD_CHANGES_MAX);
        tz_record_change *change = &workload->changes[workload->changes_count++];
        change->key = tz_text_check(L, -2, what, "record");
        lua_pushvalue(L, -2);
        luaL_tolstring(L, -2, NULL);
        change->value = tz_text_check(L, -1, what, "record");
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
            given = tz_key_flag(L, 1, what, name, &flag) && flag;
            values[0] = flag;
            break;
        case TZ_PREDICTOR_INTEGER:
            given = tz_key_integer(L, 1, what, name, &integer);
            values[0] = (double)integer;
            break;
        case TZ_PREDICTOR_NUMBER:
            given = tz_key_number(L, 1, what, name, values);
            break;
        case TZ_PREDICTOR_EXTENTS:
            tz_key_extents(L, what, name, dims, values);
            given = values[0] > 0;
            break;
        }
        if (given)
            tz_prediction_option_set(request, i, values, TZ_MODEL_AXES);
    }
}

static void get_request(lua_State *L, tz_workload_request *workload, tz_prediction_request *request,
                        bool *measure)
{
    bool compile = false;
    const char *model = NULL;
    tz_error error;
    *request = (tz_prediction_request){.given = workload->given};
    memcpy(request->block, workload->block, sizeof request->block);
    if (tz_key_text(L, 1, what, "model", &model) &&
        tz_predictor_find(model, false, &request->by, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
    get_changes(L, workload);
    get_added(L, workload->dims, request);
    tz_key_flag(L, 1, what, "all", &request->all);
    tz_key_flag(L, 1, what, "measure", measure);
    if (tz_key_flag(L, 1, what, "compile", &compile) && compile)
        request->effort = TZ_EFFORT_COMPILE;
    const char *other = !request->by || request->by->model ? NULL
                        : *measure                         ? "measure"
                                                           : tz_predictor_excess(request);
    if (other)
        tz_raise(L, "%s: '%s' does not go with the model %s, which %s", what, other,
                 request->by->name, request->by->does);
}

/* ---- The table ------------------------------------------------------------------------------- */

/* A value of JSON as one of Lua. */
static void push_json(lua_State *L, const json_t *value)
{
    const char *key;
    json_t *inner;
    luaL_checkstack(L, 4, what);
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
    TZ_WORKLOAD_OPTIONS,
    {"model", "text", "the first that the record allows", "%s", model_names},
    TZ_PAPERS_KEYS(OPTION){"record", "table", "",
                           "`KEY = value`: numbers of the device's record to replace, as [in a "
                           "record](devices.md): `{ "
                           "cpi = 2, memory_latency = \"600 cycles\" }`"},
    {"measure", "boolean", "false",
     "with a model of kernels of its own: run these on this machine's GPU, too; not under "
     "`--check`"},
    {"all", "boolean", "false", "every plan, not only the best of a family and height"},
    {"compile", "boolean", "false", "compile every kernel, not only those that may be best"},
    {NULL, NULL, NULL, NULL}};

static const tz_key predict_result[] = {
    {"rows", "list", "",
     "of plans: `height`, `family`, `tile`, knobs, `registers`, `estimated`, `time_s` (of an "
     "iteration), `stage_s`, `sustained_s`, `power_w` (at the full clock), `power_limit_w`, "
     "`gcells_per_s`, `limit`, `limit_text`, "
     "`components`, `details`; of several devices also `exchange`, `exchange_share` (of the time) "
     "and `efficiency` (against one device)"},
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
    tz_workload_request workload;
    tz_prediction_request request;
    bool measure = false;
    tz_error error;
    if (!lua_istable(L, 1))
        tz_raise(L, "%s: needs a table: tz.predict { plugin = …, grid = … }", what);
    lua_settop(L, 1);
    tz_keys_take(L, 1, what, predict_options, false);
    tz_workload_read(L, what, &workload);
    get_request(L, &workload, &request, &measure);
    measure = measure && !tz_context_get(L)->options->check;
    holder *h = lua_newuserdatauv(L, sizeof *h, 0);
    *h = (holder){NULL, NULL, NULL};
    luaL_setmetatable(L, TYPE);
    const int at = lua_gettop(L);
    if (tz_workload_of(&workload, true, &h->workload, &error) != TZ_OK ||
        tz_prediction_table_create(&h->table, h->workload, &request, &error) != TZ_OK ||
        (measure && tz_prediction_table_measure(h->table, h->workload, workload.config.device,
                                                &error) != TZ_OK))
        tz_raise_error(L, what, &error);
    h->own = json_object();
    if (h->table->by->json)
        h->table->by->json(h->table, h->own);
    push_table(L, h);
    lua_pushcfunction(L, holder_close);
    lua_pushvalue(L, at);
    lua_call(L, 1, 0);
    return 1;
}

void tz_predict_register(lua_State *L)
{
    tz_metatable_create(L, TYPE, (const tz_api_function[]){TZ_API_END}, holder_close, NULL, NULL);
    static const tz_api_function functions[] = {
        TZ_API(
            "tz.predict(options)", predict,
            "Predictions of all plans of a problem, without a run. The device need not be there.",
            .options = predict_options, .result = predict_result, .recall = TZ_RECALL_GIVE),
        TZ_API_END};
    tz_api_add(L, functions);
}
