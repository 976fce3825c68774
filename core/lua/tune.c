/* tz.tune: measures the plans of a problem. */
#include "predict/sheets.h"

#include "backend/family_names.h"
#include "lua/api.h"
#include "lua/context.h"
#include "lua/interrupt.h"
#include "lua/module.h"
#include "lua/push.h"
#include "lua/workload.h"
#include <stdio.h>
#include <string.h>

static const char what[] = "tz.tune";
#define TYPE "trapeze.tune"

/* A userdata, so that all is freed when pushing the contents raises. */
typedef struct holder {
    tz_workload *workload;
    tz_tune *tune;
} holder;

static int holder_close(lua_State *L)
{
    holder *h = luaL_checkudata(L, 1, TYPE);
    tz_tune_destroy(h->tune);
    tz_workload_destroy(h->workload);
    *h = (holder){NULL, NULL};
    return 0;
}

static bool on_progress(void *context, int done, int of)
{
    (void)context, (void)done, (void)of;
    return tz_interrupt_signal() == 0;
}

/* ---- The request ----------------------------------------------------------------------------- */

/* A list of names as "stream,tile". */
static void get_families(lua_State *L, char *text, size_t size)
{
    const int top = lua_gettop(L), type = tz_table_get(L, 1, "families");
    size_t used = 0;
    if (type != LUA_TNIL && type != LUA_TTABLE)
        tz_raise(L, "%s: 'families' must be a list of names, not %s", what, tz_kind_text(L, -1));
    if (type == LUA_TTABLE)
        tz_list_check(L, what, "families");
    for (lua_Integer i = 1; type == LUA_TTABLE && lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
        tz_error error;
        const char *name = tz_text_check(L, -1, what, "families");
        if (tz_family_check(name, &error) != TZ_OK)
            tz_raise_error(L, what, &error);
        if (used + strlen(name) + 2 > size)
            tz_raise(L, "%s: 'families' has too many names", what);
        used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? "," : "", name);
        lua_pop(L, 1);
    }
    lua_settop(L, top);
}

static void get_request(lua_State *L, const tz_workload_request *workload, char *families,
                        size_t size, tz_tune_request *request)
{
    int64_t rounds = 0;
    const char *model = NULL;
    tz_error error;
    *request = (tz_tune_request){
        .given = workload->given, .ordinal = workload->config.device, .progress = on_progress};
    for (int axis = 0; axis < TZ_AXES; axis++)
        request->given.tile[axis] = (int64_t)workload->block[axis];
    get_families(L, families, size);
    if (families[0])
        request->families = families;
    if (tz_key_text(L, 1, what, "model", &model) &&
        tz_predictor_find(model, true, &request->lister, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
    if (model && families[0])
        tz_raise(L, "%s: 'families' does not go with 'model'", what);
    tz_key_integer(L, 1, what, "rounds", &rounds);
    request->rounds = (int)rounds;
    tz_key_number(L, 1, what, "seconds", &request->round_s);
    tz_key_flag(L, 1, what, "sustained", &request->sustained);
    tz_key_flag(L, 1, what, "check", &request->check);
}

/* ---- The table ------------------------------------------------------------------------------- */

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
static const char *model_names(int i)
{
    for (int k = 0; tz_predictors[k]; k++)
        if (tz_predictors[k]->list && i-- == 0)
            return tz_predictors[k]->name;
    return NULL;
}

static const tz_key tune_options[] = {
    TZ_WORKLOAD_OPTIONS,
    {"families", "list of texts", "all", "only plans of these families"},
    {"model", "text", "",
     "only the plans that this model lists, and how good those are that it chooses: %s",
     model_names},
    {"rounds", "integer", TZ_KEY_VALUE(TZ_TUNE_ROUNDS),
     "how often a plan that is near the fastest is measured", .least = 1,
     .most = TZ_MEASURE_ROUNDS_MAX / 2},
    {"seconds", "number",
     TZ_KEY_VALUE(TZ_TUNE_GPU_S) " on a GPU, " TZ_KEY_VALUE(
         TZ_TUNE_SUSTAINED_S) " if sustained; " TZ_KEY_VALUE(TZ_TUNE_CPU_S) " on a CPU",
     "length of a round", .least = 1e-4, .most = 100},
    {"sustained", "boolean", "false",
     "no rests between rounds, and half a second of work before each plan: the speed of long "
     "runs"},
    {"check", "boolean", "true",
     "compare the bits that each plan leaves with those of height 1; needs a copy of the "
     "fields"},
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
     "plans whose bits are not compared: random fields become infinite or NaN"},
    {"backend", "text", "", ""},
    {"device", "text", "", "name of the record"},
    {NULL, NULL, NULL, NULL}};

static int tune(lua_State *L)
{
    tz_workload_request workload;
    tz_tune_request request;
    tz_error error;
    char families[128] = "";
    if (!lua_istable(L, 1))
        tz_raise(L, "%s: needs a table: tz.tune { plugin = …, grid = … }", what);
    lua_settop(L, 1);
    tz_keys_take(L, 1, what, tune_options, false);
    tz_workload_read(L, what, &workload);
    get_request(L, &workload, families, sizeof families, &request);
    request.dry = tz_context_get(L)->options->check;
    holder *h = lua_newuserdatauv(L, sizeof *h, 0);
    *h = (holder){NULL, NULL};
    luaL_setmetatable(L, TYPE);
    const int at = lua_gettop(L);
    if (tz_workload_of(&workload, false, &h->workload, &error) != TZ_OK ||
        tz_tune_create(&h->tune, h->workload, &request, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
    push_tune(L, h);
    lua_pushcfunction(L, holder_close);
    lua_pushvalue(L, at);
    lua_call(L, 1, 0);
    return 1;
}

void tz_tune_register(lua_State *L)
{
    tz_metatable_create(L, TYPE, (const tz_api_function[]){TZ_API_END}, holder_close, NULL, NULL);
    static const tz_api_function functions[] = {
        TZ_API("tz.tune(options)", tune,
               "Measures all plans of a problem on this machine, as `trapeze tune` does, and "
               "compares them with their predictions. The fields hold random numbers. Under "
               "`--check` nothing is measured: the predictions stand for the measurements.",
               .options = tune_options, .result = tune_result, .recall = TZ_RECALL_GIVE),
        TZ_API_END};
    tz_api_add(L, functions);
}
