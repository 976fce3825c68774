/* Plans and policies as scenarios give them: keys, functions that choose, sim:plan. */
#include "lua/policy.h"

#include "backend/backend.h"
#include "lua/api.h"
#include "lua/keys.h"
#include "lua/module.h"
#include "lua/recall.h"
#include "sim/checkpoint.h"
#include <stdio.h>
#include <string.h>

#define KNOB(NAME, LEAST, MOST, DOC)                                                               \
    {#NAME, "integer", "chosen", DOC, .least = LEAST, .most = MOST},
const tz_key tz_knob_options[] = {TZ_PLAN_KNOBS(KNOB){NULL}};

const tz_key tz_plan_options[] = {
    {"height", "integer or text", "chosen",
     "iterations between two halo exchanges; or a text: the policy of that name", .least = 1,
     .most = TZ_PLAN_HEIGHT_MAX},
    {"tile", "{nx[, ny[, nz]]}", "chosen", "useful cells of a tile; 0: chosen"},
    {"family", "text", "chosen",
     "the way to execute a stage, such as `stream` or `diamond`; `trapeze tune --help` lists them"},
    {.all = tz_knob_options},
    {"why", "text", "", "how a plan was chosen, as `sim:plan()` says; not read"},
    {NULL}};

const tz_key tz_wish_options[] = {{"policy", "text or function(s)", "the first of these",
                                   "%s, or a function that returns a plan", tz_policy_name},
                                  {"start", "integer or text", "`height`, else \"predicted\"",
                                   "the first height of policies that search it: %s",
                                   tz_policy_searcher_name, .least = 1, .most = TZ_PLAN_HEIGHT_MAX},
                                  {NULL}};

void tz_knobs_read(lua_State *L, int index, const char *who, tz_plan *plan)
{
    for (int k = 0; k < TZ_PLAN_KNOBS_COUNT; k++) {
        const tz_plan_knob *knob = &tz_plan_knobs[k];
        int64_t value = 0;
        tz_key_integer(L, index, who, knob->name, &value);
        tz_plan_set(plan, k, (int)value);
    }
}

/* Read the plan's keys of the table at `index`. A height that is a text goes to *height_text,
 * borrowed from the table; if that is NULL, the height must be a number. */
static void read_plan(lua_State *L, int index, const char *who, int dims, tz_plan *plan,
                      const char **height_text)
{
    int64_t height = 0;
    const char *family = NULL;
    *plan = (tz_plan){.height = 0};
    if (tz_table_get(L, index, "height") == LUA_TSTRING) {
        if (!height_text)
            tz_raise(L, "%s: 'height' must be an integer, not '%.40s'", who, lua_tostring(L, -1));
        *height_text = tz_text_check(L, -1, who, "height");
    } else {
        tz_key_integer(L, index, who, "height", &height);
    }
    lua_pop(L, 1);
    plan->height = (int)height;
    tz_key_integers(L, index, who, "tile", dims, 0, plan->tile);
    tz_key_text(L, index, who, "family", &family);
    if (family)
        tz_try(L, who, tz_family_check(family, tz_fault(L)));
    if (family)
        snprintf(plan->family, sizeof plan->family, "%s", family);
    tz_knobs_read(L, index, who, plan);
}

void tz_plan_push(lua_State *L, const tz_plan *plan, int dims)
{
    lua_createtable(L, 0, 8);
    tz_set_row(L, tz_plan_columns, &dims, plan);
    tz_set_text(L, "why", plan->why);
}

/* The address is the key of the policy's function in the handle's user value. */
static const char function_key;

/* ---- Reading --------------------------------------------------------------------------------- */

/* The keys of the table at `index`. Its texts are the table's own. */
static void read_wish(lua_State *L, int index, const char *who, int dims, tz_plan_wish *out)
{
    *out = (tz_plan_wish){.start = 0};
    read_plan(L, index, who, dims, &out->given, &out->height);
    const int type = tz_table_get(L, index, "policy");
    if (type == LUA_TSTRING)
        out->policy = tz_text_check(L, -1, who, "policy");
    else if (type != LUA_TNIL && type != LUA_TFUNCTION)
        tz_raise_kind(L, -1, who, "policy", "a name or a function");
    if (type == LUA_TFUNCTION)
        tz_function_text(L, -1, out->function, sizeof out->function);
    lua_pop(L, 1);
    const int start = tz_table_get(L, index, "start");
    if (start == LUA_TSTRING && strcmp(tz_text_check(L, -1, who, "start"), "predicted") != 0)
        tz_raise(L, "%s: 'start' must be a height or \"predicted\", not '%.40s'", who,
                 lua_tostring(L, -1));
    if (start != LUA_TNIL)
        out->start = start == LUA_TSTRING
                         ? TZ_WISH_START_PREDICTED
                         : (int)tz_integer_check(L, -1, who, "start", 1, TZ_PLAN_HEIGHT_MAX);
    lua_pop(L, 1);
}

void tz_policy_read(lua_State *L, int index, const char *who, int dims,
                    const tz_plan_wish *command_line, tz_plan_wish *wish)
{
    tz_plan_wish own;
    read_wish(L, lua_absindex(L, index), who, dims, &own);
    tz_try(L, who, tz_plan_wish_settle(&own, command_line, wish, tz_fault(L)));
}

/* ---- A function ------------------------------------------------------------------------------ */

typedef struct request {
    const tz_policy_view *view;
    tz_plan *next;
    int dims;
} request;

/* { height =, …, time_s = } of the best, with .heights[h]: an iteration's time at the best plan of
 * each height. */
static void push_prediction(lua_State *L, const tz_policy_options *predictions, int dims)
{
    const tz_policy_option *best = &predictions->at[predictions->best];
    tz_plan_push(L, &best->plan, dims);
    tz_set_number(L, "time_s", best->time_s);
    lua_newtable(L);
    for (int i = 0; i < predictions->count; i++) {
        const tz_policy_option *option = &predictions->at[i];
        if (lua_rawgeti(L, -1, option->plan.height) == LUA_TNIL ||
            lua_tonumber(L, -1) > option->time_s) {
            lua_pushnumber(L, option->time_s);
            lua_rawseti(L, -3, option->plan.height);
        }
        lua_pop(L, 1);
    }
    lua_setfield(L, -2, "heights");
}

/* __index of the view: makes view.prediction when the script first reads it, because that may take
 * the compiler. Upvalue 1 is the simulation. */
static int view_index(lua_State *L)
{
    const tz_simulation_handle *handle = lua_touserdata(L, lua_upvalueindex(1));
    lua_settop(L, 2);
    lua_pushvalue(L, lua_upvalueindex(1)); /* in use: guard.h */
    if (lua_type(L, 2) != LUA_TSTRING || strcmp(lua_tostring(L, 2), "prediction") != 0 ||
        !handle->simulation)
        return 0;
    tz_policy *policy = tz_simulation_policy(handle->simulation);
    const tz_policy_options *predictions =
        strcmp(tz_policy_name_of(policy), "function") == 0 ? tz_policy_predictions(policy) : NULL;
    if (predictions)
        push_prediction(L, predictions, tz_handle_stencil(handle)->dims);
    else
        lua_pushnil(L);
    tz_api_exchange(L, "prediction");
    lua_pushvalue(L, -1);
    lua_setfield(L, 1, "prediction");
    return 1;
}

/* The simulation is at index 2. */
static void push_view(lua_State *L, const request *q)
{
    const tz_policy_view *view = q->view;
    lua_createtable(L, 0, 6);
    tz_set_integer(L, "step", view->step);
    tz_plan_push(L, view->plan, q->dims);
    lua_setfield(L, -2, "plan");
    if (view->stages > 0)
        tz_set_number(L, "time_s", view->seconds);
    tz_set_integer(L, "stages", view->stages);
    tz_set_integer(L, "iterations", view->iterations);
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, 2);
    lua_pushcclosure(L, view_index, 1);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

/* Protected: argument 1 is the request, 2 the simulation. */
static int ask_protected(lua_State *L)
{
    const request *q = lua_touserdata(L, 1);
    char who[160];
    snprintf(who, sizeof who, "policy (%s)", q->view->name);
    lua_getiuservalue(L, 2, 1);
    lua_rawgetp(L, -1, &function_key);
    push_view(L, q);
    lua_call(L, 1, 1);
    if (lua_isnil(L, -1))
        return 0;
    if (lua_type(L, -1) == LUA_TNUMBER) {
        /* 4 means { height = 4 }: the other knobs of the old plan are not kept. */
        *q->next =
            (tz_plan){.height = (int)tz_integer_check(L, -1, who, "height", 1, TZ_PLAN_HEIGHT_MAX)};
        return 0;
    }
    if (!lua_istable(L, -1))
        tz_raise(L, "%s: must return a plan such as { height = 4 }, or nil to keep it, not %s", who,
                 tz_kind_text(L, -1));
    tz_keys_take(L, -1, who, tz_plan_options, false);
    tz_plan plan;
    read_plan(L, lua_gettop(L), who, q->dims, &plan, NULL);
    if (plan.height == 0)
        plan.height = q->view->plan->height;
    *q->next = plan;
    return 0;
}

enum { PLAN_NUMBERS = 1 + TZ_AXES + TZ_PLAN_KNOBS_COUNT };

/* What the function sees, for the journal. */
static void record_view(tz_context *context, const tz_policy_view *view)
{
    int64_t numbers[PLAN_NUMBERS] = {view->plan->height};
    for (int axis = 0; axis < TZ_AXES; axis++)
        numbers[1 + axis] = view->plan->tile[axis];
    for (int k = 0; k < TZ_PLAN_KNOBS_COUNT; k++)
        numbers[1 + TZ_AXES + k] = tz_plan_get(view->plan, k);
    tz_recall_put(context, TZ_ENTRY_POLICY, "iiidsI", (int64_t)view->step, (int64_t)view->stages,
                  (int64_t)view->iterations, view->seconds, view->plan->family, numbers,
                  PLAN_NUMBERS);
}

/* Call the function. No checkpoint is written meanwhile: the stage has no plan yet. */
static tz_status call_function(tz_simulation_handle *handle, const tz_policy_view *view,
                               tz_plan *next, tz_error *error)
{
    tz_context *context = handle->context;
    request q = {.view = view, .next = next, .dims = tz_handle_stencil(handle)->dims};
    context->recall.in_policy = true;
    const tz_status status = tz_handle_call(handle, ask_protected, &q, error);
    context->recall.in_policy = false;
    return status;
}

tz_status tz_policy_ask_again(tz_simulation_handle *handle, tz_reading *reading, tz_error *error)
{
    tz_plan plan = {.height = 0}, next;
    tz_policy_view view = {.name = "policy", .plan = &plan};
    int64_t numbers[PLAN_NUMBERS];
    tz_reading_unpack(reading, "iiidsI", &view.step, &view.stages, &view.iterations, &view.seconds,
                      plan.family, sizeof plan.family, numbers, PLAN_NUMBERS);
    plan.height = (int)numbers[0];
    for (int axis = 0; axis < TZ_AXES; axis++)
        plan.tile[axis] = numbers[1 + axis];
    for (int k = 0; k < TZ_PLAN_KNOBS_COUNT; k++)
        tz_plan_set(&plan, k, (int)numbers[1 + TZ_AXES + k]);
    tz_simulation_set_step(handle->simulation, view.step);
    next = plan;
    return call_function(handle, &view, &next, error);
}

tz_status tz_policy_ask(tz_simulation_handle *handle, tz_error *error)
{
    tz_policy *policy = tz_simulation_policy(handle->simulation);
    const tz_policy_view *view = tz_policy_question(policy);
    tz_plan next = *view->plan;
    record_view(handle->context, view);
    const tz_status status = call_function(handle, view, &next, error);
    if (status)
        return status;
    if (next.height > 0 && !next.family[0])
        strcpy(next.family, view->plan->family);
    return tz_policy_answer(policy, &next, error);
}

void tz_policy_warn(const tz_simulation_handle *handle)
{
    char warning[1024];
    if (tz_policy_take_warning(tz_simulation_policy(handle->simulation), warning, sizeof warning))
        tz_context_note(handle->context, TZ_NOTE_WARNING, "%s", warning);
}

void tz_policy_keep(lua_State *L, int index, int handle_index, const tz_plan_wish *wish)
{
    if (!wish->function[0])
        return;
    tz_table_get(L, index, "policy");
    lua_getiuservalue(L, handle_index, 1);
    lua_insert(L, -2);
    lua_rawsetp(L, -2, &function_key);
    lua_pop(L, 1);
}

/* ---- sim:policy ------------------------------------------------------------------------------ */

static void push_measured(lua_State *L, const tz_policy *policy, int dims)
{
    tz_policy_measurement m;
    lua_newtable(L);
    for (size_t i = 0; tz_policy_measured(policy, i, &m); i++) {
        lua_newtable(L);
        tz_set_row(L, tz_policy_measurement_columns, &dims, &m);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

static const tz_key policy_options[] = {{.all = tz_wish_options}, {.all = tz_plan_options}, {NULL}};

static const tz_key policy_result[] = {
    {"policy", "text", "", "its name"},
    {"settled", "boolean", "", "it keeps its plan from now on"},
    {"text", "text", "", "a sentence"},
    {"decisions", "list", "",
     "`{ step, from, to, times, time_s, reason }`: plans and why they were chosen"},
    {"measured", "list", "",
     "`{ plan, time_s, predicted_s, tie, remembered, note }`: what was measured"},
    {NULL, NULL, NULL, NULL}};

/* sim:policy("adaptive"), sim:policy(function) and sim:policy { policy =, start =, … } change the
 * policy; sim:policy() returns its state. */
static int method_policy(lua_State *L)
{
    const char *who = "sim:policy";
    tz_simulation_handle *handle = tz_handle_check_idle(L, 1, who);
    const int dims = tz_handle_stencil(handle)->dims;
    lua_settop(L, 2);
    if (lua_isstring(L, 2) || lua_isfunction(L, 2)) {
        lua_createtable(L, 0, 1);
        lua_insert(L, 2);
        lua_setfield(L, 2, "policy");
    }
    if (!lua_isnil(L, 2)) {
        tz_plan_wish wish;
        if (!lua_istable(L, 2))
            tz_raise(L, "%s: needs a name, a function or { policy = … }, not %s", who,
                     tz_kind_text(L, 2));
        tz_keys_take(L, 2, who, policy_options, false);
        const tz_plan_wish forget = {.forget = handle->context->options->policy.forget};
        tz_policy_read(L, 2, who, dims, &forget, &wish);
        tz_try(L, who, tz_simulation_set_policy(handle->simulation, &wish, tz_fault(L)));
        tz_policy_keep(L, 2, 1, &wish);
    }
    const tz_policy *policy = tz_simulation_policy(handle->simulation);
    char text[256];
    int64_t left_out;
    lua_createtable(L, 0, 5);
    tz_set_text(L, "policy", tz_policy_name_of(policy));
    tz_set_flag(L, "settled", tz_policy_settled(policy));
    tz_set_text(L, "text", tz_policy_describe(policy, text, sizeof text));
    const tz_sheet decisions = tz_policy_decision_sheet(policy, &dims, &left_out);
    tz_push_sheet(L, &decisions);
    lua_setfield(L, -2, "decisions");
    push_measured(L, policy, dims);
    lua_setfield(L, -2, "measured");
    return 1;
}

const tz_api_function tz_policy_methods[] = {
    TZ_API("sim:policy([policy])", method_policy,
           "Changes who chooses plans ([who chooses](running.md#who-chooses-the-height)): a name, "
           "a function or a table. Returns the state of the policy.",
           .options = policy_options, .result = policy_result, .recall = TZ_RECALL_BOTH),
    TZ_API_END};
