#include "lua/module.h"

#include "lua/api.h"
#include "lua/context.h"
#include "lua/plan.h"
#include "lua/push.h"
#include "lua/workload.h"
#include "predict/sheets.h"
#include "predict/thread_blocks.h"
#include <stdlib.h>
#include <string.h>

static const char what[] = "tz.predict";
#define TYPE "trapeze.prediction"

/* A userdata, so that the tables are freed when pushing their contents raises. */
typedef struct holder {
    tz_workload *workload;
    tz_prediction_table *table;
    tz_thread_blocks *blocks; /* by tabik2015 */
} holder;

static int holder_close(lua_State *L)
{
    holder *h = luaL_checkudata(L, 1, TYPE);
    tz_prediction_table_destroy(h->table);
    free(h->blocks);
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

/* *blocks: the model is that of thread blocks. */
static void get_request(lua_State *L, tz_workload_request *workload, tz_prediction_request *request,
                        bool *blocks, bool *measure)
{
    bool compile = false;
    const char *model = NULL;
    int64_t trips = 0;
    tz_error error;
    *request = (tz_prediction_request){.streamed = -1, .given = workload->given};
    memcpy(request->block, workload->block, sizeof request->block);
    *blocks = tz_key_text(L, 1, what, "model", &model) &&
              tz_thread_blocks_check_name(model, &error) == TZ_OK;
    if (model && !*blocks && tz_model_find(model, &request->model, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
    tz_key_extents(L, what, "halo", workload->dims, request->halo);
    tz_key_number(L, 1, what, "streamed", &request->streamed);
    tz_key_number(L, 1, what, "bank_conflicts", &request->bank_conflicts);
    get_changes(L, workload);
    tz_key_flag(L, 1, what, "fence", &request->fence);
    tz_key_flag(L, 1, what, "as_printed", &request->as_printed);
    if (tz_key_integer(L, 1, what, "trips", &trips))
        request->trips = (int)trips;
    tz_key_flag(L, 1, what, "all", &request->all);
    tz_key_flag(L, 1, what, "measure", measure);
    if (tz_key_flag(L, 1, what, "compile", &compile) && compile)
        request->effort = TZ_EFFORT_COMPILE;
    const char *other = !*blocks ? NULL : *measure ? "measure" : tz_thread_blocks_excess(request);
    if (other)
        tz_raise(L, "%s: '%s' does not go with the model %s, which lists thread blocks", what,
                 other, TZ_THREAD_BLOCKS_MODEL);
}

/* ---- The table ------------------------------------------------------------------------------- */

static void push_passes(lua_State *L, const tz_prediction_plain *plain)
{
    lua_createtable(L, plain->plain.count, 0);
    for (int k = 0; k < plain->plain.count; k++) {
        const tz_luo2011_result *r = &plain->results[k];
        const tz_named_double of_pass[] = {
            {"p", r->share},       {"p_text", r->text_share}, {"active_warps", r->active},
            {"cpd1", r->cpd1},     {"cpd2", r->cpd2},         {"cpd", r->cpd},
            {"rounds", r->rounds}, {"clocks", r->time}};
        lua_createtable(L, 0, 9);
        tz_set_numbers(L, of_pass, sizeof of_pass / sizeof *of_pass);
        lua_createtable(L, r->count, 0);
        for (int i = 0; i < r->count; i++) {
            const tz_luo2011_period *p = &r->periods[i];
            const tz_named_double of_period[] = {
                {"c", p->computation}, {"m", p->memory},  {"transactions", p->transactions},
                {"mpd", p->mpd},       {"time", p->time}, {"t_p", p->before},
                {"t_c", p->after}};
            lua_createtable(L, 0, 9);
            tz_set_integer(L, "type", p->type);
            tz_set_integer(L, "accesses", p->accesses);
            tz_set_numbers(L, of_period, sizeof of_period / sizeof *of_period);
            lua_rawseti(L, -2, i + 1);
        }
        lua_setfield(L, -2, "periods");
        lua_rawseti(L, -2, k + 1);
    }
    lua_setfield(L, -2, "passes");
}

static void push_notes(lua_State *L, const tz_model_notes *notes)
{
    lua_createtable(L, notes->count, 0);
    for (int n = 0; n < notes->count; n++) {
        lua_pushstring(L, notes->text[n]);
        lua_rawseti(L, -2, n + 1);
    }
    lua_setfield(L, -2, "notes");
}

static void push_prediction_table(lua_State *L, const holder *h)
{
    const tz_prediction_table *table = h->table;
    const tz_prediction_sheet sheet = {h->workload, table};
    lua_createtable(L, 0, 16);
    tz_set_row(L, tz_prediction_columns, &sheet, table);
    lua_getfield(L, -1, "rows");
    lua_rawgeti(L, -1, table->best + 1);
    lua_setfield(L, -3, "best");
    lua_pop(L, 1);
    if (table->plain)
        push_passes(L, table->plain);
    if (table->plain && table->plain->measured.rounds > 0) {
        tz_set_number(L, "measured_s", table->plain->measured.taken_s);
        tz_set_number(
            L, "accuracy",
            tz_luo2011_accuracy(table->plain->measured.taken_s, table->rows[0].prediction.time_s));
    }
}

static void push_shape(lua_State *L, const tz_tabik_shape *shape)
{
    lua_createtable(L, 0, 7);
    tz_push_integers(L, 2, (const int64_t[]){shape->x, shape->y});
    lua_setfield(L, -2, "block");
    tz_set_number(L, "global_transactions", shape->global_transactions);
    tz_set_number(L, "shared_transactions", shape->shared_transactions);
    tz_set_number(L, "occupancy", shape->occupancy);
    tz_set_integer(L, "active_blocks", shape->active_blocks);
    lua_createtable(L, 0, TZ_TABIK_CRITERIA);
    for (int c = 0; c < TZ_TABIK_CRITERIA; c++)
        tz_set_flag(L, tz_tabik_criterion_text((tz_tabik_criterion)c), shape->good >> c & 1);
    lua_setfield(L, -2, "good");
    tz_set_flag(L, "chosen", shape->chosen);
}

static void push_blocks(lua_State *L, const holder *h)
{
    const tz_thread_blocks *blocks = h->blocks;
    lua_createtable(L, 0, 4);
    tz_set_text(L, "model", TZ_THREAD_BLOCKS_MODEL);
    tz_set_text(L, "device", h->workload->device.name);
    push_notes(L, &blocks->notes);
    lua_createtable(L, blocks->count, 0);
    for (int p = 0; p < blocks->count; p++) {
        const tz_tabik_space *space = &blocks->passes[p].space;
        lua_createtable(L, 0, 3);
        tz_set_text(L, "pass", blocks->passes[p].name);
        tz_set_integer(L, "chosen", space->chosen);
        lua_createtable(L, space->count, 0);
        for (int i = 0; i < space->count; i++) {
            push_shape(L, &space->shapes[i]);
            lua_rawseti(L, -2, i + 1);
        }
        lua_setfield(L, -2, "shapes");
        lua_rawseti(L, -2, p + 1);
    }
    lua_setfield(L, -2, "passes");
}

static const char *model_names(int i)
{
    int n = 0;
    while (n < i && tz_models[n])
        n++;
    return tz_models[n] ? tz_models[n]->name : i == n ? TZ_THREAD_BLOCKS_MODEL : NULL;
}

static const tz_key predict_options[] = {
    TZ_WORKLOAD_OPTIONS,
    {"model", "text", "the first that the record allows",
     "%s; the last one lists thread blocks, without times", model_names},
    {"halo", "{x[, y[, z]]}", "the stencil's",
     "for the papers' models: another halo width, both sides together"},
    {"streamed", "integer", "the stencil's",
     "for the papers' models: another number of streamed fields", .most = INFINITY},
    {"bank_conflicts", "number", "the stencil's, where it is known",
     "for `meng2011`: conflicts in shared memory for each warp instruction", .most = INFINITY},
    {"record", "table", "",
     "`KEY = value`: numbers of the device's record to replace, as [in a record](devices.md): `{ "
     "cpi "
     "= 2, memory_latency = \"600 cycles\" }`"},
    {"fence", "boolean", "false", "for the papers' models: stages synchronise inside one launch"},
    {"as_printed", "boolean", "false", "for `luo2011`: equation 2 as the paper prints it"},
    {"trips", "integer", TZ_KEY_VALUE(TZ_TRIPS),
     "for `luo2011`: turns of loops whose end depends on data", .least = 1, .most = 1000000},
    {"measure", "boolean", "false",
     "for `luo2011`: run its plain kernel on this machine's GPU, too; not under `--check`"},
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
    {"passes", "list of tables", "",
     "by `luo2011`, one a pass: `p`, `p_text`, `active_warps`, `cpd1`, `cpd2`, `cpd`, `rounds`, "
     "`clocks` and `periods`, a list of `{ type, c, m, accesses, transactions, mpd, time, t_p, "
     "t_c }`; by `tabik2015`: `pass`, how many are `chosen`, and `shapes`, a list of `{ block, "
     "global_transactions, shared_transactions, occupancy, active_blocks, good, chosen }`"},
    {"measured_s", "number", "", "with `measure`: an iteration of the plain kernel"},
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
    bool blocks;
    if (!lua_istable(L, 1))
        tz_raise(L, "%s: needs a table: tz.predict { plugin = …, grid = … }", what);
    lua_settop(L, 1);
    tz_keys_take(L, 1, what, predict_options, false);
    tz_workload_read(L, what, &workload);
    get_request(L, &workload, &request, &blocks, &measure);
    measure = measure && !tz_context_get(L)->options->check;
    holder *h = lua_newuserdatauv(L, sizeof *h, 0);
    *h = (holder){NULL, NULL, NULL};
    luaL_setmetatable(L, TYPE);
    const int at = lua_gettop(L);
    if (tz_workload_of(&workload, true, &h->workload, &error) != TZ_OK ||
        (blocks ? tz_thread_blocks_create(&h->blocks, h->workload, &error)
                : tz_prediction_table_create(&h->table, h->workload, &request, &error)) != TZ_OK ||
        (measure &&
         tz_plain_measure(h->table, h->workload, workload.config.device, &error) != TZ_OK))
        tz_raise_error(L, what, &error);
    if (blocks)
        push_blocks(L, h);
    else
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
        TZ_API(
            "tz.predict(options)", predict,
            "Predictions of all plans of a problem, without a run. The device need not be there.",
            .options = predict_options, .result = predict_result, .recall = TZ_RECALL_GIVE),
        TZ_API_END};
    tz_api_add(L, functions);
}
