/* tz.stencil: a definition becomes a plugin; with augment = "auto" the one that is predicted to be
 * fastest. */
#include "lua/define.h"

#include "base/cache.h"
#include "base/minmax.h"
#include "base/names.h"
#include "define/plugin.h"
#include "lua/api.h"
#include "lua/context.h"
#include "lua/interrupt.h"
#include "lua/keys.h"
#include "lua/module.h"
#include "stencil/element.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char defining[] = "tz.stencil";

typedef struct stencil_value {
    const tz_stencil *stencil; /* of the registry; NULL until it is there */
    tz_defined_source source;  /* until then */
    char id[64];
} stencil_value;

/* A stencil that the script has defined. The context has a list of them. */
struct tz_defined {
    struct tz_defined *next;
    char id[64];
    tz_cache_key key; /* of the source; of one without a name, as if its id were "stencil" */
    bool has_name;
    bool sided[TZ_AXES]; /* a formula says what is past a side of the axis */
};

static stencil_value *check(lua_State *L)
{
    stencil_value *value = luaL_testudata(L, 1, TZ_TYPE_STENCIL);
    if (!value)
        tz_raise(L, "stencil: needs a stencil, not %s (call methods with a colon: stencil:text)",
                 tz_kind_text(L, 1));
    return value;
}

const char *tz_stencil_id(lua_State *L, int index)
{
    const stencil_value *value = luaL_testudata(L, index, TZ_TYPE_STENCIL);
    return value ? value->stencil->id : NULL;
}

/* ---- Methods --------------------------------------------------------------------------------- */

static int stencil_gc(lua_State *L)
{
    tz_defined_source_clear(&((stencil_value *)luaL_checkudata(L, 1, TZ_TYPE_STENCIL))->source);
    return 0;
}

static int stencil_text(lua_State *L)
{
    lua_pushstring(L, check(L)->stencil->passes[0].text);
    return 1;
}

static int stencil_tostring(lua_State *L)
{
    const stencil_value *value = check(L);
    lua_pushfstring(L, "stencil %s (%d-D, %d field%s)", value->stencil->id, value->stencil->dims,
                    value->stencil->fields_count, value->stencil->fields_count == 1 ? "" : "s");
    return 1;
}

#define OF_STENCIL(name, expression) TZ_GETTER(stencil_##name, void, stencil_value, expression)
#define NAMES_OF(list)                                                                             \
    tz_cell_names(r->stencil->list##_count, r->stencil->list ? &r->stencil->list->name : NULL,     \
                  sizeof *r->stencil->list)
OF_STENCIL(id, tz_cell_text(r->stencil->id));
OF_STENCIL(doc, tz_cell_text(r->stencil->doc));
OF_STENCIL(dims, tz_cell_integer(r->stencil->dims));
OF_STENCIL(fields, NAMES_OF(fields));
OF_STENCIL(params, NAMES_OF(params));
OF_STENCIL(steps, tz_cell_integer(tz_max_int(r->stencil->steps, 1)));

static const tz_sheet_column stencil_members[] = {{.key = "id", .get = stencil_id},
                                                  {.key = "doc", .get = stencil_doc},
                                                  {.key = "dims", .get = stencil_dims},
                                                  {.key = "fields", .get = stencil_fields},
                                                  {.key = "params", .get = stencil_params},
                                                  {.key = "steps", .get = stencil_steps},
                                                  {.key = NULL}};

static int stencil_newindex(lua_State *L)
{
    tz_raise(L, "stencil: '%.60s' cannot be set; define another one with tz.stencil",
             luaL_tolstring(L, 2, NULL));
}

/* ---- Defining -------------------------------------------------------------------------------- */

static void write_source(lua_State *L, stencil_value *value, const tz_definition *definition)
{
    tz_defined_source_clear(&value->source);
    tz_try(L, defining, tz_define_source(definition, &value->source, tz_fault(L)));
}

static tz_cache_key key_of(const tz_defined_source *source)
{
    tz_cache_key key = tz_cache_key_start();
    tz_cache_key_add(&key, source->cell_text);
    tz_cache_key_add(&key, source->plugin_text);
    return tz_cache_key_end(key);
}

static const struct tz_defined *find_id(const tz_context *context, const char *id)
{
    const struct tz_defined *d = context->defined;
    while (d && strcmp(d->id, id) != 0)
        d = d->next;
    return d;
}

bool tz_stencil_has_sides(lua_State *L, const char *id, int axis)
{
    const struct tz_defined *d = find_id(tz_context_get(L), id);
    return d && d->sided[axis];
}

/* The id of a stencil without a name: that of an equal one, or else "stencil", "stencil2", … The
 * source is that of "stencil". */
static void number(const tz_context *context, tz_cache_key key, char *id, size_t size)
{
    const tz_stencil *taken;
    for (const struct tz_defined *d = context->defined; d; d = d->next)
        if (!d->has_name && tz_cache_key_equal(d->key, key)) {
            snprintf(id, size, "%s", d->id);
            return;
        }
    snprintf(id, size, "stencil");
    for (int n = 2; tz_registry_find(context->options->registry, id, &taken, NULL, NULL) == TZ_OK;
         n++)
        snprintf(id, size, "stencil%d", n);
}

/* Compile the source and enter the stencil into the list. */
static void load(lua_State *L, stencil_value *value, const tz_definition_value *definition,
                 tz_cache_key key)
{
    tz_context *context = tz_context_get(L);
    const tz_script_options *options = context->options;
    char file[LUA_IDSIZE], from[256];
    const int line = tz_script_line(L, file, sizeof file);
    snprintf(from, sizeof from, "%s:%d", file, line);
    struct tz_defined *entry = calloc(1, sizeof *entry);
    if (!entry)
        tz_raise(L, "%s: not enough memory", defining);
    const tz_cancel cancel = {.stopped = tz_interrupt_signal, .cancelled = options->cancelled};
    if (tz_define_plugin(options->registry, value->id, &value->source, from, &cancel,
                         tz_fault(L)) != TZ_OK) {
        free(entry);
        tz_raise_error(L, defining, tz_fault(L));
    }
    if (value->source.warning)
        tz_context_note(context, TZ_NOTE_WARNING, "%s", value->source.warning);
    snprintf(entry->id, sizeof entry->id, "%s", value->id);
    entry->key = key;
    entry->has_name = definition->has_name;
    for (int i = 0; i < definition->definition.outsides_count; i++)
        if (definition->definition.outsides[i].side != TZ_EDGE)
            entry->sided[definition->definition.outsides[i].side / 2] = true;
    entry->next = context->defined;
    context->defined = entry;
}

/* Define the stencil of the table at index 1, unless an equal one is there. */
static void define(lua_State *L, stencil_value *value, tz_definition_value *d)
{
    const tz_context *context = tz_context_get(L);
    const tz_registry *registry = context->options->registry;
    const tz_script_sink *sink = &context->options->sink;
    snprintf(value->id, sizeof value->id, "%s", d->name);
    write_source(L, value, &d->definition);
    const tz_cache_key key = key_of(&value->source);
    if (!d->has_name) {
        number(context, key, value->id, sizeof value->id);
        d->definition.id = value->id;
        if (strcmp(value->id, "stencil") != 0)
            write_source(L, value, &d->definition);
    }
    const struct tz_defined *same = find_id(context, value->id);
    const bool there = tz_registry_find(registry, value->id, &value->stencil, NULL, NULL) == TZ_OK;
    if (same && !tz_cache_key_equal(same->key, key))
        tz_raise(L,
                 "%s: a stencil '%s' is defined already, and differs: give one of them another "
                 "name",
                 defining, value->id);
    if (there && !same)
        tz_raise(L, "%s: '%s' is the stencil of a plugin: choose another name", defining,
                 value->id);
    if (there)
        return;
    load(L, value, d, key);
    tz_try(L, defining, tz_registry_find(registry, value->id, &value->stencil, NULL, tz_fault(L)));
    if (sink->stencil)
        sink->stencil(sink->context, &d->definition);
}

/* ---- augment = "auto" ------------------------------------------------------------------------ */

static bool is_auto(lua_State *L)
{
    if (!lua_istable(L, 1))
        return false;
    const bool text = tz_table_get(L, 1, "augment") == LUA_TSTRING;
    if (text && strcmp(lua_tostring(L, -1), "auto") != 0)
        tz_raise(L, "%s: 'augment' must be an integer or \"auto\", not \"%.60s\"", defining,
                 lua_tostring(L, -1));
    lua_pop(L, 1);
    return text;
}

/* Push a copy of the options at `index` with this number of steps, and without the keys above. */
static void push_options(lua_State *L, int index, int steps)
{
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, index) != 0;) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
    for (int i = 0; i < TZ_WITH_AUTO; i++) {
        lua_pushnil(L);
        lua_setfield(L, -2, tz_with_auto[i]);
    }
    lua_pushinteger(L, steps);
    lua_setfield(L, -2, "augment");
}

/* Called with options: the largest number of steps that is possible. Raises if none is. */
static int count_possible(lua_State *L)
{
    tz_definition_value *v = tz_definition_read(L, tz_context_get(L)->options->unsafe);
    int most = 0;
    if (!v->definition.coefficients)
        tz_raise(L, "%s: 'augment' goes with 'coefficients', which are missing", defining);
    for (int steps = 1; steps <= TZ_RADIUS_MAX; steps++) {
        tz_defined_source source;
        v->coefficients.augment = steps;
        if (tz_define_source(&v->definition, &source, tz_fault(L)) != TZ_OK)
            break;
        tz_defined_source_clear(&source);
        most = steps;
    }
    if (most == 0)
        tz_raise_error(L, defining, tz_fault(L));
    lua_pushinteger(L, most);
    return 1;
}

/* Seconds of an iteration of the stencil on the top of the stack, as the options at `index` say. */
static double predicted(lua_State *L, int index)
{
    static const char *const keys[] = {"grid", "precision", "device", "boundary"};
    const int stencil = lua_gettop(L);
    lua_rawgetp(L, LUA_REGISTRYINDEX, tz_predict_functions); /* which no script replaces */
    lua_newtable(L);
    lua_pushvalue(L, stencil);
    lua_setfield(L, -2, "plugin");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        tz_table_get(L, index, keys[i]);
        lua_setfield(L, -2, keys[i]);
    }
    lua_call(L, 1, 1);
    if (!lua_istable(L, -1) || tz_table_get(L, -1, "best") != LUA_TTABLE ||
        tz_table_get(L, -1, "time_s") != LUA_TNUMBER)
        tz_raise(L, "%s: tz.predict gives no time", defining);
    const double seconds = lua_tonumber(L, -1);
    lua_settop(L, stencil);
    return seconds;
}

/* Define the stencil of the options on the top of the stack, which it replaces. A name of its own:
 * the stencil that is chosen gets the script's. */
static void define_candidate(lua_State *L, lua_CFunction make, int steps)
{
    if (tz_table_get(L, -1, "name") == LUA_TSTRING) {
        lua_pushfstring(L, "%s_augmented_%d", lua_tostring(L, -1), steps);
        lua_setfield(L, -3, "name");
    }
    lua_pop(L, 1);
    lua_pushcfunction(L, make);
    lua_insert(L, -2);
    lua_call(L, 1, 1);
}

static int choose(lua_State *L, lua_CFunction make)
{
    char doc[600] = "";
    double best = 0, before = 0;
    int chosen = 1, length = 0;
    lua_settop(L, 1);
    tz_keys_take(L, 1, defining, tz_definition_options, false);
    if (tz_table_get(L, 1, "grid") == LUA_TNIL)
        tz_raise(L, "%s: augment = \"auto\" needs 'grid', the grid that it is chosen for",
                 defining);
    lua_settop(L, 1);
    lua_pushcfunction(L, count_possible);
    push_options(L, 1, 1);
    lua_call(L, 1, 1);
    const int most = (int)lua_tointeger(L, -1);
    for (int steps = 1; steps <= most; steps++) {
        lua_settop(L, 1);
        push_options(L, 1, steps);
        define_candidate(L, make, steps);
        const double seconds = predicted(L, 1) / steps;
        length += snprintf(doc + length, sizeof doc - (size_t)length, "%s%d: %.3g s",
                           steps > 1 ? ", " : "", steps, seconds);
        if (steps == 1 || seconds < best) {
            best = seconds;
            chosen = steps;
        }
        if (steps > 1 && seconds > before) /* and more will be slower still */
            break;
        before = seconds;
    }
    lua_settop(L, 1);
    push_options(L, 1, chosen);
    const bool has_doc = tz_table_get(L, -1, "doc") == LUA_TSTRING;
    lua_pushfstring(L, "%s%sAugmented by %d of up to %d; predicted for a step: %s",
                    has_doc ? lua_tostring(L, -1) : "", has_doc ? " " : "", chosen, most, doc);
    lua_setfield(L, -3, "doc");
    lua_pop(L, 1);
    lua_pushcfunction(L, make);
    lua_insert(L, -2);
    lua_call(L, 1, 1);
    return 1;
}

/* ---- tz.stencil ------------------------------------------------------------------------------ */

/* tz.stencil { dims = …, fields = …, update = … } or, of a plugin, tz.stencil "ID" */
static int stencil_new(lua_State *L)
{
    const tz_script_options *options = tz_context_get(L)->options;
    const bool named = lua_type(L, 1) == LUA_TSTRING;
    if (is_auto(L))
        return choose(L, stencil_new);
    tz_definition_value *d = named ? NULL : tz_definition_read(L, options->unsafe);
    stencil_value *value = lua_newuserdatauv(L, sizeof *value, TZ_STENCIL_STORAGE);
    memset(value, 0, sizeof *value);
    luaL_setmetatable(L, TZ_TYPE_STENCIL);
    if (d)
        define(L, value, d);
    else if (tz_registry_find(options->registry, tz_text_check(L, 1, defining, "id"),
                              &value->stencil, NULL, tz_fault(L)) != TZ_OK)
        tz_raise_error(L, defining, tz_fault(L));
    tz_defined_source_clear(&value->source);
    if (d) {
        tz_storage_push(L, 1, defining, value->stencil);
        lua_setiuservalue(L, -2, TZ_STENCIL_STORAGE);
    }
    return 1;
}

void tz_defined_clear(tz_context *context)
{
    for (struct tz_defined *d = context->defined, *next; d; d = next) {
        next = d->next;
        free(d);
    }
    context->defined = NULL;
}

static const tz_api_function stencil_methods[] = {
    TZ_API("stencil:text()", stencil_text, "The text of its cell updates, in C."), TZ_API_END};
static const luaL_Reg stencil_events[] = {{"__gc", stencil_gc},
                                          {"__newindex", stencil_newindex},
                                          {"__tostring", stencil_tostring},
                                          {NULL, NULL}};
const tz_api_class tz_stencil_class = {.type = TZ_TYPE_STENCIL,
                                       .events = stencil_events,
                                       .methods =
                                           (const tz_api_function *const[]){stencil_methods, NULL},
                                       .what = "stencil",
                                       .one = "a stencil",
                                       .members = stencil_members};

const tz_api_function tz_stencil_functions[] = {
    TZ_API("tz.stencil(options)", stencil_new,
           "A stencil, for `plugin` in `tz.simulation` and `tz.predict`. Give `update`, `rate`, "
           "`passes` or `coefficients`; [formulas.md](formulas.md) is the language of formulas. A "
           "text instead of the table is the id of a plugin's stencil.",
           .options = tz_definition_options),
    TZ_API_END};

/* ---- The key `storage` ----------------------------------------------------------------------- */

const char *tz_storage_names(int i)
{
    return i < TZ_STORED_COUNT ? tz_stored_name((tz_stored)i) : NULL;
}

const tz_key tz_storage_options[] = {
    {"origin", "number", "the stencil's, else 0",
     "a value of the field, rounded to 20 bits; elements are (value - origin) / scale"},
    {"scale", "number", "1", "a power of two"},
    {NULL}};

/* The name or { name, origin = …, scale = … } at the top of the stack. */
static tz_storage_wish get_wish(lua_State *L, const char *where, const char *field)
{
    tz_storage_wish wish = {.field = field, .origin = NAN, .scale = 1};
    const bool table = lua_istable(L, -1);
    char hint[256];
    if (table) {
        tz_keys_take(L, -1, where, tz_storage_options, true);
        tz_key_number(L, -1, where, "origin", &wish.origin);
        tz_key_number(L, -1, where, "scale", &wish.scale);
        lua_rawgeti(L, -1, 1);
    }
    if (lua_type(L, -1) != LUA_TSTRING)
        tz_raise(L, "%s needs the name of a storage, such as \"half\", not %s", where,
                 tz_kind_text(L, -1));
    const char *name = tz_text_check(L, -1, where, "name");
    const char *names[TZ_STORED_COUNT];
    for (int as = 0; as < TZ_STORED_COUNT; as++)
        names[as] = tz_stored_name((tz_stored)as);
    const int as = tz_stored_find(name);
    if (as < 0)
        tz_raise(L, "%s: unknown storage '%.60s'%s", where, name,
                 tz_names_hint(hint, sizeof hint, name, names, TZ_STORED_COUNT));
    wish.as = (tz_stored)as;
    lua_pop(L, table ? 1 : 0);
    return wish;
}

/* What a userdata of storage holds. */
typedef struct storage_wishes {
    size_t count;
    tz_storage_wish of[TZ_FIELDS_MAX];
} storage_wishes;

void tz_storage_push(lua_State *L, int index, const char *what, const tz_stencil *stencil)
{
    const char *names[TZ_FIELDS_MAX];
    char where[160];
    snprintf(where, sizeof where, "%s: 'storage'", what);
    const int type = tz_table_get(L, index, "storage");
    const bool fields = type == LUA_TTABLE && lua_rawlen(L, -1) == 0;
    if (type == LUA_TNIL)
        return;
    if (type != LUA_TSTRING && type != LUA_TTABLE)
        tz_raise(L, "%s must be a name or { FIELD = name, … }, not %s", where, tz_kind_text(L, -1));
    storage_wishes *wishes = lua_newuserdatauv(L, sizeof *wishes, 0);
    wishes->count = 0;
    lua_insert(L, -2);
    if (!fields)
        wishes->of[wishes->count++] = get_wish(L, where, NULL);
    for (int f = 0; f < stencil->fields_count; f++)
        names[f] = stencil->fields[f].name;
    if (fields)
        tz_keys_check(L, -1, where, names, (size_t)stencil->fields_count, false);
    for (int f = 0; fields && f < stencil->fields_count; f++) {
        snprintf(where, sizeof where, "%s: 'storage.%.60s'", what, names[f]);
        if (tz_table_get(L, -1, names[f]) != LUA_TNIL)
            wishes->of[wishes->count++] = get_wish(L, where, names[f]);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

void tz_storage_read(lua_State *L, int index, const char *what, const tz_stencil *stencil,
                     tz_simulation_config *config)
{
    const int top = lua_gettop(L);
    index = lua_absindex(L, index);
    tz_storage_push(L, index, what, stencil);
    if (lua_isnil(L, -1) && tz_table_get(L, index, "plugin") == LUA_TUSERDATA)
        lua_getiuservalue(L, -1, TZ_STENCIL_STORAGE);
    const storage_wishes *wishes = lua_touserdata(L, -1);
    if (wishes) {
        config->storage = wishes->of;
        config->storage_count = wishes->count;
        lua_setfield(L, index, "storage"); /* it lives as long as the options */
    }
    lua_settop(L, top);
}
