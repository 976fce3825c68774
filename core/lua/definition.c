/* tz.stencil: a definition is read from a table of Lua. define.c compiles it. */
#include "lua/define.h"

#include "base/number.h"
#include "define/check.h"
#include "define/linear.h"
#include "lua/context.h"
#include "lua/keys.h"
#include "stencil/stencil.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char what[] = "tz.stencil";

/* ---- Tables ---------------------------------------------------------------------------------- */

/* The roles of parameters in the order of their names. */
enum { PARAM_ROLES = 5 };
static const tz_param_role param_roles[PARAM_ROLES] = {
    TZ_PARAM_ROLE_TIME_STEP, TZ_PARAM_ROLE_SPACING, TZ_PARAM_ROLE_SPACING_X,
    TZ_PARAM_ROLE_SPACING_Y, TZ_PARAM_ROLE_SPACING_Z};
static TZ_KEY_NAMES_OF(boundary_names, tz_boundary_name, TZ_BOUNDARIES) static TZ_KEY_NAMES_OF(
    type_names, tz_type_name, TZ_TYPES) static TZ_KEY_NAMES(role_names, "state", "static",
                                                            "derived", "temporary")

    static TZ_KEY_NAMES(method_names, "euler", "rk2", "rk4")

        static const tz_key field_options[] = {
            {"type", "text", "\"real\"", "%s", type_names},
            {"role", "text", "\"state\"", "%s. Temporaries: [formulas.md](formulas.md#temporaries)",
             role_names},
            {"initial", "number", "0", "the value of each cell at first"},
            {"boundary_value", "number", "0", "what cells past fixed sides hold"},
            {"required", "boolean", "false", "a scenario must give it values"},
            {"unit", "text", "", ""},
            {"doc", "text", "", "one sentence"},
            {NULL}};

static const char *param_role_names(int i)
{
    return i < PARAM_ROLES ? tz_param_role_name(param_roles[i]) : NULL;
}

static const tz_key param_options[] = {
    {"value", "number", NULL, "the default"},
    {"min", "number", "no limit; of integers that of 32 bits", "the least value"},
    {"max", "number", "likewise", "the largest value"},
    {"integer", "boolean", "false", "only integers"},
    {"unit", "text", "", ""},
    {"doc", "text", "", "one sentence"},
    {"role", "text", "",
     "%s: the time of an iteration, or the width of a cell, along all axes or one",
     param_role_names},
    {NULL}};

const tz_key tz_definition_options[] = {
    {"name", "text", "`\"stencil\"`, `\"stencil2\"`, …", "its id, as a C identifier"},
    {"doc", "text", "", "one sentence"},
    {"dims", "integer", "the depth of `coefficients`", "", .least = 1, .most = TZ_AXES},
    {"fields", "table", "{u = \"real\"}",
     "NAME = type, or a table. Names in a list are real state fields, in this order; the others "
     "follow in alphabetical order, those whose update is just the name of another field last. "
     "Frames show the first one",
     .inner = field_options},
    {"params", "table", "{}", "NAME = number, the default, or a table", .inner = param_options},
    {"spacing", "number, text or table", "1",
     "the width of a cell, by which differences divide ([formulas.md](formulas.md#derivatives)): a "
     "number becomes the parameter `dx`, a text names a parameter; `{dx = …, dy = …}` gives one "
     "for each axis"},
    {"dt", "number or text", "",
     "the time step: a number becomes the parameter `dt`, a text names a parameter"},
    {"scalars", "table", "{}",
     "NAME = formula of `step` and the parameters: a constant that changes with the iteration"},
    {"let", "table", "{}",
     "NAME = formula: a name for a part of formulas. `NAME[1, 0]` is the part at a neighbour"},
    {"outside", "table", "{}",
     "FIELD = what it is past the sides of the grid ([formulas.md](formulas.md#past-sides)): a "
     "formula, or `{value = …}`, `{flux = …}`, `{robin = {a, b, c}}` or `{absorbing = …, old = "
     "FIELD}`; `{x = …, y = {low, high}}` gives one for each axis or side, `false` none"},
    {"domain", "text", "all of the grid",
     "a static field of ints: cells where it is not 0 are computed "
     "([formulas.md](formulas.md#domains))"},
    {"edge", "formula or table", "\"inside\"",
     "past the edge of the domain: a formula for all fields, or FIELD = formula; or `{value = …}`"},
    {"update", "table", "",
     "FIELD = formula of its new value. All formulas read the values from before. A formula alone "
     "is the only field's"},
    {"rate", "table", "",
     "in place of `update`: FIELD = formula of its rate of change, with `dt` "
     "([formulas.md](formulas.md#rates))"},
    {"method", "text", "\"euler\"", "%s: how rates are advanced by a time step", method_names},
    {"passes", "list", "",
     "of tables as `update`, or `{name = …, update = {…}}`: one after the other"},
    {"outputs", "table", "{}",
     "FIELD = formula: derived fields, for frames, tables and reductions, which cost nothing else"},
    {"coefficients", "list or text", "",
     "an array with an odd number of elements along each axis, x fastest; in 2-D a list of rows, "
     "in 3-D of layers. An element is a number or a formula. Or the id of a plugin's stencil that "
     "is such a sum: `\"star2d1r\"`. The update is a\\*old + b\\*field + "
     "v\\*scale\\*sum(c\\*field)"},
    {"scale", "number", "1", "of all coefficients"},
    {"field", "text", "the first state field", "the field of the coefficients"},
    {"old", "text", "", "the field with the values of the iteration before, for `a`"},
    {"a", "formula", "no such term", "of `old`"},
    {"b", "formula", "no such term", "of the field itself"},
    {"v", "formula", "no such factor", "of the sum: a parameter or a static field, for example"},
    {"augment", "integer or text", "1",
     "how many iterations of the sum one iteration advances ([augment.md](augment.md)); "
     "`\"auto\"`: as many as are predicted to be the fastest",
     .least = 1, .most = TZ_RADIUS_MAX},
    {"grid", "{nx[, ny[, nz]]}", "", "with `augment = \"auto\"`: the grid that it is chosen for"},
    {"precision", "text", "that of `tz.predict`", "likewise"},
    {"device", "text", "this machine's", "likewise, as in `tz.predict`"},
    {"group", "boolean", "false",
     "sum terms with equal coefficients first, of these cells that lie symmetrically"},
    {"fused", "boolean", "false", "a product that is added becomes one operation that rounds once"},
    {"text", "text", "",
     "the cell updates in C, only with `--unsafe`; `passes` is then a list of `{name = …, radius = "
     "…, writes = {FIELD, …}}` and `outputs` one of fields"},
    {"storage", "text or table", "\"single\"",
     "how its fields lie in memory, as in `tz.simulation`, which may give another"},
    {"boundaries", "list", "all", "those of %s that a simulation may choose", boundary_names},
    {"boundary", "text", "the first of these, for bits periodic",
     "the one that it has if it chooses none", boundary_names},
    {NULL, NULL, NULL, NULL}};

/* ---- Readers --------------------------------------------------------------------------------- */

bool tz_definition_table(lua_State *L, int index, const char *who, const char *key)
{
    tz_key_push(L, index, key);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        return false;
    }
    if (!lua_istable(L, -1))
        tz_raise_kind(L, -1, who, key, "a table");
    return true;
}

const char *tz_definition_text(lua_State *L, int index, const char *who, const char *key)
{
    const char *text = NULL;
    if (tz_key_text(L, index, who, key, &text)) {
        lua_pushstring(L, key);
        lua_rawget(L, index);
        luaL_ref(L, TZ_STACK_OPTIONS);
    }
    return text;
}

/* Does the formula call this function? */
static bool calls(const tz_defined_text *formula, const char *function)
{
    const size_t length = strlen(function);
    for (size_t i = 0; i + length < formula->length; i++) {
        size_t end = i + length;
        if (memcmp(formula->text + i, function, length) != 0)
            continue;
        while (end < formula->length && isspace((unsigned char)formula->text[end]))
            end++;
        if (end < formula->length && formula->text[end] == '(')
            return true;
    }
    return false;
}

/* May the formula have the word `t`? */
static bool names_time(const tz_defined_text *formula)
{
    const char *text = formula->text;
    for (size_t i = 0; i < formula->length; i++)
        if (text[i] == 't' &&
            (i == 0 || !(isalnum((unsigned char)text[i - 1]) || text[i - 1] == '_')) &&
            (i + 1 == formula->length ||
             !(isalnum((unsigned char)text[i + 1]) || text[i + 1] == '_')))
            return true;
    return false;
}

tz_defined_text tz_definition_formula(lua_State *L, const char *who, const char *name)
{
    tz_definition_value *v = lua_touserdata(L, TZ_STACK_VALUE);
    tz_defined_text out;
    if (lua_type(L, -1) == LUA_TNUMBER) {
        char number[TZ_NUMBER_SIZE];
        if (!isfinite(lua_tonumber(L, -1)))
            tz_raise(L, "%s: '%.60s' must be a finite number", who, name);
        lua_pushstring(L, tz_number_format(number, lua_tonumber(L, -1)));
        lua_remove(L, -2);
    } else if (lua_type(L, -1) != LUA_TSTRING) {
        tz_raise_kind(L, -1, who, name, "a formula, a string");
    }
    out.text = lua_tolstring(L, -1, &out.length);
    v->timed = v->timed || names_time(&out);
    v->random = v->random || calls(&out, "random") || calls(&out, "normal");
    luaL_ref(L, TZ_STACK_OPTIONS);
    return out;
}

static tz_defined_text option_formula(lua_State *L, const char *key)
{
    if (tz_table_get(L, TZ_STACK_OPTIONS, key) != LUA_TNIL)
        return tz_definition_formula(L, what, key);
    lua_pop(L, 1);
    return (tz_defined_text){.text = NULL};
}

/* f2 comes before f10. */
static int compare_texts(const void *a, const void *b)
{
    return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

int tz_definition_names(lua_State *L, const char *who, const char **names, int most, bool list)
{
    int count = 0;
    tz_table_copy(L, -1, who);
    lua_pushnil(L);
    while (lua_next(L, -2) != 0) {
        lua_pop(L, 1);
        if (lua_isinteger(L, -1) && list)
            continue;
        if (lua_type(L, -1) != LUA_TSTRING)
            tz_raise(L, "%s: needs NAME = value, not a list", who);
        if (count == most)
            tz_raise(L, "%s: more than %d names", who, most);
        names[count++] = tz_text_check(L, -1, who, "name");
        lua_pushvalue(L, -1);
        luaL_ref(L, TZ_STACK_OPTIONS);
    }
    qsort(names, (size_t)count, sizeof *names, compare_texts);
    return count;
}

/* ---- Fields ---------------------------------------------------------------------------------- */

/* In the order of the names of field_options. The last is that of temporaries. */
static const tz_role role_values[] = {TZ_STATE, TZ_STATIC, TZ_DERIVED, TZ_STATE};
enum { ROLE_TEMPORARY = 3 };

/* The next field, whose type, or table of options, is on the top of the stack; pops it. */
static tz_defined_field field_of(lua_State *L, tz_definition_value *v, const char *name)
{
    tz_defined_field f = {.name = name};
    int role, type;
    char who[96];
    snprintf(who, sizeof who, "%s: field '%.60s'", what, name);
    if (lua_type(L, -1) == LUA_TSTRING) { /* as if it were { type = … } */
        lua_newtable(L);
        lua_insert(L, -2);
        lua_setfield(L, -2, "type");
    }
    if (!lua_istable(L, -1))
        tz_raise(L, "%s: must be \"real\", \"int\", \"bits\" or a table, not %s", who,
                 tz_kind_text(L, -1));
    tz_keys_take(L, -1, who, field_options, false);
    const int at = lua_gettop(L);
    tz_key_choice(L, at, who, "role", &role);
    tz_key_choice(L, at, who, "type", &type);
    f.role = role_values[role];
    v->temporaries |= role == ROLE_TEMPORARY ? 1u << v->definition.fields_count : 0;
    f.type = (tz_type)type;
    tz_key_number(L, at, who, "initial", &f.initial);
    tz_key_number(L, at, who, "boundary_value", &f.boundary_value);
    tz_key_flag(L, at, who, "required", &f.required);
    f.unit = tz_definition_text(L, at, who, "unit");
    f.doc = tz_definition_text(L, at, who, "doc");
    lua_pop(L, 1);
    return f;
}

tz_defined_field *tz_definition_field(tz_definition_value *v, const char *name)
{
    for (int i = 0; i < v->definition.fields_count; i++)
        if (strcmp(v->fields[i].name, name) == 0)
            return &v->fields[i];
    return NULL;
}

void tz_definition_add(lua_State *L, tz_definition_value *v, tz_defined_field field)
{
    if (v->definition.fields_count == TZ_FIELDS_MAX)
        tz_raise(L, "%s: 'fields' has more than %d names", what, TZ_FIELDS_MAX);
    if (tz_definition_field(v, field.name))
        tz_raise(L, "%s: 'fields' names '%.60s' twice", what, field.name);
    v->fields[v->definition.fields_count++] = field;
}

/* fields = { "u", "old", v = { role = "static" } }: those of the list in its order, then the others
 * in alphabetical order. */
static void get_fields(lua_State *L, tz_definition_value *v)
{
    const char *names[TZ_FIELDS_MAX];
    tz_definition_table(L, TZ_STACK_OPTIONS, what, "fields");
    const int at = lua_gettop(L);
    const int count = tz_definition_names(L, "tz.stencil: 'fields'", names, TZ_FIELDS_MAX, true);
    const lua_Integer listed = (lua_Integer)lua_rawlen(L, at);
    for (lua_Integer i = 1; i <= listed; i++) {
        lua_rawgeti(L, at, i);
        const char *name = tz_text_check(L, -1, "tz.stencil: 'fields'", "an element of the list");
        luaL_ref(L, TZ_STACK_OPTIONS);
        tz_definition_add(L, v, (tz_defined_field){.name = name, .role = TZ_STATE});
    }
    for (int i = 0; i < count; i++) {
        tz_table_get(L, at, names[i]);
        tz_definition_add(L, v, field_of(L, v, names[i]));
    }
    lua_settop(L, at - 1);
    if (v->definition.fields_count == 0)
        tz_raise(L, "%s: 'fields' is empty", what);
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static void get_params(lua_State *L, tz_definition_value *v)
{
    const char *names[TZ_PARAMS_MAX];
    if (!tz_definition_table(L, TZ_STACK_OPTIONS, what, "params"))
        return;
    const int at = lua_gettop(L);
    const int count = tz_definition_names(L, "tz.stencil: 'params'", names, TZ_PARAMS_MAX, false);
    for (int i = 0; i < count; i++) {
        tz_defined_param *p = &v->params[i];
        char who[96];
        *p = (tz_defined_param){.name = names[i], .min = -1e300, .max = 1e300};
        snprintf(who, sizeof who, "%s: parameter '%.60s'", what, names[i]);
        if (tz_table_get(L, at, names[i]) == LUA_TNUMBER) {
            lua_newtable(L);
            lua_insert(L, -2);
            lua_setfield(L, -2, "value");
        }
        if (!lua_istable(L, -1))
            tz_raise(L, "%s: must be a number or a table, not %s", who, tz_kind_text(L, -1));
        tz_keys_take(L, -1, who, param_options, false);
        const int table = lua_gettop(L);
        tz_key_flag(L, table, who, "integer", &p->integer);
        if (p->integer) {
            p->min = -2147483648.0;
            p->max = 2147483647.0;
        }
        if (!tz_key_number(L, table, who, "value", &p->value))
            tz_raise(L, "%s: 'value' is missing: its default", who);
        tz_key_number(L, table, who, "min", &p->min);
        tz_key_number(L, table, who, "max", &p->max);
        int role;
        p->role =
            tz_key_choice(L, table, who, "role", &role) ? param_roles[role] : TZ_PARAM_ROLE_NONE;
        p->unit = tz_definition_text(L, table, who, "unit");
        p->doc = tz_definition_text(L, table, who, "doc");
        lua_pop(L, 1);
    }
    v->definition.params_count = count;
    lua_settop(L, at - 1);
}

static const char spacing_text[] = "tz.stencil: 'spacing'", dt_text[] = "tz.stencil: 'dt'";

/* The number or name on the top of the stack, which it pops: a parameter `name` of its own, or one
 * that is there gets the role. */
static void give_role(lua_State *L, tz_definition_value *v, const char *option, const char *name,
                      tz_param_role role, const char *doc)
{
    tz_definition *d = &v->definition;
    const bool own = lua_type(L, -1) == LUA_TNUMBER;
    const char *wanted = own ? name : tz_text_check(L, -1, option, name);
    int p = 0;
    while (p < d->params_count && strcmp(v->params[p].name, wanted) != 0)
        p++;
    if (own && p < d->params_count)
        tz_raise(L, "%s: '%s' is a parameter already: write its name, '%s = \"%s\"'", option, name,
                 name, name);
    if (!own && p == d->params_count)
        tz_raise(L, "%s: there is no parameter '%.60s': declare it in 'params', or give a number",
                 option, wanted);
    if (p == TZ_PARAMS_MAX)
        tz_raise(L, "%s: there are %d parameters, and no room for '%s'", option, p, name);
    if (own) {
        v->params[p] = (tz_defined_param){
            .name = name, .value = lua_tonumber(L, -1), .min = 1e-100, .max = 1e100, .doc = doc};
        d->params_count++;
    }
    v->params[p].role = role;
    lua_pop(L, 1);
}

static const char width_doc[] = "The width of a cell.";

static void get_time_step(lua_State *L, tz_definition_value *v)
{
    const int type = tz_table_get(L, TZ_STACK_OPTIONS, "dt");
    if (type != LUA_TNIL && type != LUA_TNUMBER && type != LUA_TSTRING)
        tz_raise_kind(L, -1, what, "dt", "a number or the name of one of 'params'");
    if (type == LUA_TSTRING && strcmp(lua_tostring(L, -1), "adaptive") == 0)
        tz_raise(L,
                 "%s: 'dt' is the time step to begin with, such as 0.01; sim:run { dt = "
                 "\"adaptive\", tolerance = 1e-5, ... } lets it change",
                 what);
    if (type == LUA_TNIL)
        lua_pop(L, 1);
    else
        give_role(L, v, dt_text, "dt", TZ_PARAM_ROLE_TIME_STEP, "The time step.");
}

static void get_spacing(lua_State *L, tz_definition_value *v)
{
    static const tz_key axes[] = {{"dx"}, {"dy"}, {"dz"}, {NULL}};
    const int dims = v->definition.dims;
    const int type = tz_table_get(L, TZ_STACK_OPTIONS, "spacing");
    v->definition.spaced = type != LUA_TNIL;
    if (type == LUA_TNUMBER || type == LUA_TSTRING) {
        give_role(L, v, spacing_text, "dx", TZ_PARAM_ROLE_SPACING, width_doc);
        return;
    }
    if (type != LUA_TNIL && type != LUA_TTABLE)
        tz_raise_kind(L, -1, what, "spacing", "a number, a parameter's name or a table");
    if (type == LUA_TTABLE) {
        const int at = lua_gettop(L);
        tz_keys_take(L, at, spacing_text, axes, false);
        for (int axis = 0; axis < dims; axis++) {
            if (tz_table_get(L, at, axes[axis].key) == LUA_TNIL)
                tz_raise(L, "%s: '%s' is missing; a number alone is the spacing of all axes",
                         spacing_text, axes[axis].key);
            give_role(L, v, spacing_text, axes[axis].key,
                      dims == 1 ? TZ_PARAM_ROLE_SPACING
                                : (tz_param_role)(TZ_PARAM_ROLE_SPACING_X + axis),
                      width_doc);
        }
    }
    lua_pop(L, 1);
}

/* Formulas with random numbers have the parameter `seed`. */
static void add_seed(lua_State *L, tz_definition_value *v)
{
    tz_definition *d = &v->definition;
    if (!v->random)
        return;
    tz_defined_param *p = v->params, *const end = p + d->params_count;
    while (p < end && strcmp(p->name, "seed") != 0)
        p++;
    if (p == end && d->params_count == TZ_PARAMS_MAX)
        tz_raise(L, "%s: random numbers need the parameter 'seed', and there are %d parameters",
                 what, TZ_PARAMS_MAX);
    if (p == end)
        v->params[d->params_count++] =
            (tz_defined_param){.name = "seed",
                               .min = -1e300,
                               .max = 1e300,
                               .doc = "Other seeds, other random numbers."};
    p->integer |= p->value == floor(p->value) && fabs(p->value) < 2147483648.0;
    p->min = fmax(p->min, -2147483647.0);
    p->max = fmin(p->max, 2147483647.0);
}

/* Formulas with the time have parameters that say since when the time step is what it is. */
static void add_since(tz_definition_value *v)
{
    tz_definition *d = &v->definition;
    bool steps = false;
    for (int p = 0; p < d->params_count; p++)
        steps = steps || v->params[p].role == TZ_PARAM_ROLE_TIME_STEP;
    if (!v->timed || !steps || d->params_count + 2 > TZ_PARAMS_MAX)
        return;
    v->params[d->params_count++] = (tz_defined_param){
        .name = tz_since_name, .min = 0, .max = 9007199254740992.0, .doc = tz_since_doc};
    v->params[d->params_count++] =
        (tz_defined_param){.name = tz_start_name, .min = -1e300, .max = 1e300, .doc = tz_start_doc};
}

/* ---- Formulas -------------------------------------------------------------------------------- */

/* NAME = formula, from the table on the top of the stack, which it pops. Returns how many. */
static int get_formulas(lua_State *L, const char *who, tz_defined_formula *formulas, int most)
{
    const char *names[TZ_PARTS_MAX];
    _Static_assert((int)TZ_PARTS_MAX >= (int)TZ_DEFINITION_SCALARS, "names of scalars");
    const int at = lua_gettop(L);
    const int count = tz_definition_names(L, who, names, most, false);
    for (int i = 0; i < count; i++) {
        tz_table_get(L, at, names[i]);
        formulas[i] = (tz_defined_formula){.name = names[i],
                                           .formula = tz_definition_formula(L, who, names[i])};
    }
    lua_settop(L, at - 1);
    return count;
}

static void get_named(lua_State *L, tz_definition_value *v)
{
    if (tz_definition_table(L, TZ_STACK_OPTIONS, what, "scalars"))
        v->definition.scalars_count =
            get_formulas(L, "tz.stencil: 'scalars'", v->scalars, TZ_DEFINITION_SCALARS);
    if (tz_definition_table(L, TZ_STACK_OPTIONS, what, "let"))
        v->definition.parts_count = get_formulas(L, "tz.stencil: 'let'", v->parts, TZ_PARTS_MAX);
}

static int get_updates(lua_State *L, const char *who, tz_defined_formula *updates)
{
    return get_formulas(L, who, updates, TZ_FIELDS_MAX);
}

/* The list of names on the top of the stack, as updates without formulas. Pops it. */
static int get_written(lua_State *L, const char *who, const char *key, tz_defined_formula *updates)
{
    const lua_Integer count = (lua_Integer)tz_list_check(L, who, key, "a list of fields");
    if (count > TZ_FIELDS_MAX)
        tz_raise(L, "%s: '%s' has more than %d names", who, key, TZ_FIELDS_MAX);
    for (lua_Integer i = 0; i < count; i++) {
        lua_rawgeti(L, -1, i + 1);
        updates[i] = (tz_defined_formula){.name = tz_text_check(L, -1, who, "a field's name")};
        luaL_ref(L, TZ_STACK_OPTIONS);
    }
    lua_pop(L, 1);
    return (int)count;
}

/* The pass on the top of the stack, which it pops: { FIELD = formula, … }, or with more about it
 * { name = …, update = { … } }, or of a text written by hand { name, radius, writes }. */
static void get_pass(lua_State *L, tz_definition_value *v, int number)
{
    static const tz_key keys[] = {{"update"}, {"name"}, {NULL}};
    static const tz_key raw_keys[] = {
        {"name"}, {"radius", .most = TZ_RADIUS_MAX}, {"writes"}, {NULL}};
    tz_defined_pass *pass = &v->passes[number];
    tz_defined_formula *updates = v->updates[number];
    char who[64];
    int64_t radius = 0;
    snprintf(who, sizeof who, "%s: pass %d", what, number + 1);
    *pass = (tz_defined_pass){.updates = updates};
    if (!lua_istable(L, -1))
        tz_raise(L, "%s: must be a table { FIELD = formula }, not %s", who, tz_kind_text(L, -1));
    const int at = lua_gettop(L);
    const bool long_form = tz_table_get(L, at, "update") == LUA_TTABLE;
    lua_pop(L, 1);
    if (v->definition.raw) {
        tz_keys_take(L, at, who, raw_keys, false);
        pass->name = tz_definition_text(L, at, who, "name");
        tz_key_integer(L, at, who, "radius", &radius);
        pass->radius = (int)radius;
        tz_table_get(L, at, "writes");
        pass->updates_count = get_written(L, who, "writes", updates);
    } else if (long_form) {
        tz_keys_take(L, at, who, keys, false);
        pass->name = tz_definition_text(L, at, who, "name");
        tz_table_get(L, at, "update");
        pass->updates_count = get_updates(L, who, updates);
    } else {
        pass->updates_count = get_updates(L, who, updates);
    }
    if (pass->updates_count == 0)
        tz_raise(L, "%s: updates no field", who);
    lua_settop(L, at - 1);
}

/* Rates have a time step: the parameter with that role, or else `dt`. */
static void name_time_step(lua_State *L, tz_definition_value *v)
{
    tz_defined_param *found = NULL;
    for (int p = v->definition.params_count - 1; p >= 0; p--)
        if (v->params[p].role == TZ_PARAM_ROLE_TIME_STEP ||
            (!found && strcmp(v->params[p].name, "dt") == 0))
            found = &v->params[p];
    if (!found)
        tz_raise(L, "%s: 'rate' needs a time step: dt = 0.01", what);
    found->role = TZ_PARAM_ROLE_TIME_STEP;
}

/* The field that a stage writes: the field itself, or one of its own that is added. */
static const char *stage_field(lua_State *L, tz_definition_value *v, const char *field, int stage,
                               int stages)
{
    char name[TZ_STAGE_NAME_SIZE], doc[80];
    const tz_defined_field *base = tz_definition_field(v, field);
    if (!base || base->role != TZ_STATE || !tz_type_is_real(base->type))
        tz_raise(L, "%s: 'rate': '%.60s' is no state field of real numbers%s", what, field,
                 base ? "" : ": name it in 'fields'");
    if (stage == stages)
        return field;
    if (v->definition.fields_count == TZ_FIELDS_MAX)
        tz_raise(L,
                 "%s: 'method': %d stages need %d fields beside each one, and there is room for %d "
                 "fields in all",
                 what, stages, stages - 1, TZ_FIELDS_MAX);
    snprintf(doc, sizeof doc, "What stage %d makes of %.48s.", stage, field);
    lua_pushstring(L, doc);
    lua_pushstring(L, tz_stage_name(name, field, stage));
    tz_defined_field own = *base;
    own.doc = lua_tostring(L, -2);
    own.name = lua_tostring(L, -1);
    own.required = false;
    own.stage = true;
    luaL_ref(L, TZ_STACK_OPTIONS);
    luaL_ref(L, TZ_STACK_OPTIONS);
    tz_definition_add(L, v, own);
    return own.name;
}

/* rate = { FIELD = formula }: each stage is a pass. */
static bool get_rates(lua_State *L, tz_definition_value *v)
{
    static const int counts[] = {1, 2, 4};
    static const char *const names[] = {"stage1", "stage2", "stage3"};
    tz_definition *d = &v->definition;
    int method = 0, count = 1;
    const bool has_method = tz_key_choice(L, TZ_STACK_OPTIONS, what, "method", &method);
    const int type = tz_table_get(L, TZ_STACK_OPTIONS, "rate"), stages = counts[method];
    if (type == LUA_TNIL && has_method)
        tz_raise(L, "%s: 'method' goes with 'rate', the rate of change of each field", what);
    if (type == LUA_TNIL) {
        lua_pop(L, 1);
        return false;
    }
    if (d->raw || v->temporaries)
        tz_raise(L, "%s: 'rate' goes with formulas alone: name parts of it in 'let'", what);
    name_time_step(L, v);
    tz_defined_formula rates[TZ_FIELDS_MAX];
    if (type != LUA_TTABLE && d->fields_count == 1)
        rates[0] = (tz_defined_formula){.name = v->fields[0].name,
                                        .formula = tz_definition_formula(L, what, "rate")};
    else if (type == LUA_TTABLE)
        count = get_updates(L, "tz.stencil: 'rate'", rates);
    else
        tz_raise_kind(L, -1, what, "rate",
                      "a table { FIELD = formula }, or of a single field a formula");
    for (int stage = 1; stage <= stages; stage++) {
        for (int i = 0; i < count; i++) {
            tz_defined_formula *u = &v->updates[stage - 1][i];
            *u = rates[i];
            u->name = stage_field(L, v, rates[i].name, stage, stages);
        }
        v->passes[stage - 1] =
            (tz_defined_pass){.name = stage < stages ? names[stage - 1] : "update",
                              .updates = v->updates[stage - 1],
                              .updates_count = count,
                              .stage = stage,
                              .stages = stages};
    }
    d->passes_count = stages;
    lua_settop(L, TZ_STACK_VALUE);
    return true;
}

static void get_passes(lua_State *L, tz_definition_value *v)
{
    tz_definition *d = &v->definition;
    d->passes = v->passes;
    if (get_rates(L, v)) {
        if (tz_table_get(L, TZ_STACK_OPTIONS, "update") != LUA_TNIL ||
            tz_table_get(L, TZ_STACK_OPTIONS, "passes") != LUA_TNIL)
            tz_raise(L, "%s: give 'rate' or 'update' or 'passes', not two of them", what);
        lua_pop(L, 2);
        return;
    }
    const int type = tz_table_get(L, TZ_STACK_OPTIONS, "update");
    if (type == LUA_TSTRING && d->fields_count == 1) { /* update = formula, of the only field */
        v->updates[0][0] = (tz_defined_formula){
            .name = v->fields[0].name, .formula = tz_definition_formula(L, what, "update")};
        v->passes[0] = (tz_defined_pass){.updates_count = 1, .updates = v->updates[0]};
        d->passes_count = 1;
    } else if (type == LUA_TTABLE) {
        if (d->raw)
            tz_raise(L, "%s: 'update' does not go with 'text': list its passes in 'passes'", what);
        get_pass(L, v, 0);
        d->passes_count = 1;
    } else if (type != LUA_TNIL) {
        tz_raise_kind(L, -1, what, "update",
                      "a table { FIELD = formula }, or of a single field a formula");
    } else {
        lua_pop(L, 1);
    }
    if (!tz_definition_table(L, TZ_STACK_OPTIONS, what, "passes"))
        return;
    if (d->passes_count > 0)
        tz_raise(L, "%s: give 'update' or 'passes', not both", what);
    tz_table_copy(L, -1, "tz.stencil: 'passes'");
    const int at = lua_gettop(L);
    const lua_Integer count = (lua_Integer)tz_list_check(L, what, "passes", "a list");
    if (count < 1 || count > TZ_PASSES_MAX)
        tz_raise(L, "%s: 'passes' must be a list of 1 to %d passes", what, TZ_PASSES_MAX);
    for (lua_Integer i = 0; i < count; i++) {
        lua_rawgeti(L, at, i + 1);
        get_pass(L, v, (int)i);
    }
    d->passes_count = (int)count;
    lua_settop(L, at - 1);
}

/* outputs = { speed = formula }: fields that are not declared become derived ones. */
static void get_outputs(lua_State *L, tz_definition_value *v)
{
    tz_definition *d = &v->definition;
    if (!tz_definition_table(L, TZ_STACK_OPTIONS, what, "outputs"))
        return;
    d->outputs_count = d->raw ? get_written(L, what, "outputs", v->outputs)
                              : get_updates(L, "tz.stencil: 'outputs'", v->outputs);
    for (int i = 0; i < d->outputs_count; i++)
        if (!tz_definition_field(v, v->outputs[i].name))
            tz_definition_add(L, v,
                              (tz_defined_field){.name = v->outputs[i].name, .role = TZ_DERIVED});
    d->outputs = v->outputs;
}

/* ---- Order ----------------------------------------------------------------------------------- */

static bool is_temporary(const tz_definition_value *v, int field)
{
    return v->temporaries >> field & 1;
}

/* Is the update of this field just the name of another one, as in old = "u"? */
static bool is_copy(const tz_definition_value *v, const char *field)
{
    for (int p = 0; p < v->definition.passes_count; p++)
        for (int i = 0; i < v->passes[p].updates_count; i++) {
            const tz_defined_formula *u = &v->passes[p].updates[i];
            size_t first = 0, last = u->formula.length;
            if (v->passes[p].stages > 0 || strcmp(u->name, field) != 0)
                continue;
            while (first < last && isspace((unsigned char)u->formula.text[first]))
                first++;
            while (last > first && isspace((unsigned char)u->formula.text[last - 1]))
                last--;
            for (int f = 0; f < v->definition.fields_count; f++)
                if (!is_temporary(v, f) && strlen(v->fields[f].name) == last - first &&
                    memcmp(v->fields[f].name, u->formula.text + first, last - first) == 0)
                    return true;
        }
    const char *old = v->definition.coefficients ? v->coefficients.old : NULL;
    return old && strcmp(old, field) == 0;
}

/* Where a field belongs: those that hold another one's values of before come after the others, so
 * that the first field is one to look at. Derived fields must be last, and then temporaries. */
static int rank_of(const tz_definition_value *v, int f)
{
    const tz_defined_field *field = &v->fields[f];
    return is_temporary(v, f)                                   ? 3
           : field->role == TZ_DERIVED                          ? 2
           : field->stage                                       ? 1
           : field->role == TZ_STATE && is_copy(v, field->name) ? 1
                                                                : 0;
}

/* The order stays within a rank. */
static void order_fields(tz_definition_value *v)
{
    tz_defined_field ordered[TZ_FIELDS_MAX];
    int count = 0;
    for (int rank = 0; rank <= 3; rank++)
        for (int i = 0; i < v->definition.fields_count; i++)
            if (rank_of(v, i) == rank)
                ordered[count++] = v->fields[i];
    memcpy(v->fields, ordered, (size_t)count * sizeof *ordered);
    v->definition.temporaries_count = __builtin_popcount(v->temporaries);
    v->definition.fields_count -= v->definition.temporaries_count;
}

/* ---- Coefficients ---------------------------------------------------------------------------- */

/* The side of each axis, x first, of the nested lists on the top of the stack. Returns how deep
 * they are. */
static int get_sides(lua_State *L, int *side)
{
    const int top = lua_gettop(L);
    int lengths[TZ_AXES], depth = 0;
    for (; lua_istable(L, -1); depth++) {
        if (depth == TZ_AXES)
            tz_raise(L, "%s: 'coefficients' are nested more than %d deep", what, TZ_AXES);
        const size_t length = tz_list_check(L, what, "coefficients", "a list");
        if (length % 2 == 0 || length > TZ_DEFINITION_SIDE)
            tz_raise(L, "%s: 'coefficients' has %zu in a row: an odd number up to %d is needed",
                     what, length, TZ_DEFINITION_SIDE);
        lengths[depth] = (int)length;
        lua_rawgeti(L, -1, 1);
    }
    for (int axis = 0; axis < TZ_AXES; axis++)
        side[axis] = axis < depth ? lengths[depth - 1 - axis] : 1;
    lua_settop(L, top);
    return depth;
}

/* The coefficients of the list on the top of the stack, nested `depth` deep, from number `at` on.
 * Returns the number after the last. */
static int get_cells(lua_State *L, tz_definition_value *v, int depth, int at)
{
    if (depth == 0) {
        if (lua_type(L, -1) == LUA_TSTRING) {
            v->cells[at] = tz_text_check(L, -1, what, "coefficients");
            v->coefficients.fields = v->cells;
            lua_pushvalue(L, -1);
            luaL_ref(L, TZ_STACK_OPTIONS);
        } else if (lua_type(L, -1) == LUA_TNUMBER) {
            v->values[at] = lua_tonumber(L, -1);
        } else {
            tz_raise(L, "%s: 'coefficients' must hold numbers and names of fields, not %s", what,
                     tz_kind_text(L, -1));
        }
        return at + 1;
    }
    if (!lua_istable(L, -1))
        tz_raise(L, "%s: 'coefficients' must have the same number of lists in each", what);
    const size_t given = tz_list_check(L, what, "coefficients", "a list");
    const int length = v->coefficients.side[depth - 1];
    if (given != (size_t)length)
        tz_raise(L, "%s: 'coefficients' must have rows of the same length, %d, not %zu", what,
                 length, given);
    for (int i = 0; i < length; i++) {
        lua_rawgeti(L, -1, i + 1);
        at = get_cells(L, v, depth - 1, at);
        lua_pop(L, 1);
    }
    return at;
}

/* The coefficients of the plugin's stencil whose id is on the top of the stack. */
static void get_plugin(lua_State *L, tz_definition_value *v)
{
    const tz_registry *registry = tz_context_get(L)->options->registry;
    const tz_stencil *stencil;
    tz_try(L, "tz.stencil: 'coefficients'",
           tz_registry_find(registry, lua_tostring(L, -1), &stencil, NULL, tz_fault(L)));
    tz_try(L, "tz.stencil: 'coefficients'",
           tz_define_linear(stencil, v->coefficients.side, v->values, tz_fault(L)));
    v->coefficients.dims = stencil->dims;
}

static void get_coefficients(lua_State *L, tz_definition_value *v)
{
    static const char *const with[] = {"scale", "field", "old", "a", "b", "v", "augment"};
    tz_defined_coefficients *c = &v->coefficients;
    const int type = tz_table_get(L, TZ_STACK_OPTIONS, "coefficients");
    if (type != LUA_TNIL && type != LUA_TTABLE && type != LUA_TSTRING)
        tz_raise_kind(L, -1, what, "coefficients", "a list, or the id of a stencil");
    if (type == LUA_TNIL) {
        lua_pop(L, 1);
        for (size_t i = 0; i < sizeof with / sizeof *with; i++)
            if (tz_table_get(L, TZ_STACK_OPTIONS, with[i]) != LUA_TNIL)
                tz_raise(L, "%s: '%s' goes with 'coefficients', which are missing", what, with[i]);
        return;
    }
    *c = (tz_defined_coefficients){.values = v->values};
    if (type == LUA_TSTRING) {
        get_plugin(L, v);
    } else {
        c->dims = get_sides(L, c->side);
        get_cells(L, v, c->dims, 0);
    }
    lua_pop(L, 1);
    if (v->definition.dims != 0 && v->definition.dims != c->dims)
        tz_raise(L, "%s: 'coefficients' are nested %d deep, but 'dims' is %d", what, c->dims,
                 v->definition.dims);
    v->definition.dims = c->dims;
    tz_key_number(L, TZ_STACK_OPTIONS, what, "scale", &c->scale);
    c->field = tz_definition_text(L, TZ_STACK_OPTIONS, what, "field");
    c->old = tz_definition_text(L, TZ_STACK_OPTIONS, what, "old");
    c->a = option_formula(L, "a");
    c->b = option_formula(L, "b");
    c->v = option_formula(L, "v");
    int64_t augment;
    tz_key_integer(L, TZ_STACK_OPTIONS, what, "augment", &augment);
    c->augment = (int)augment;
    v->definition.coefficients = c;
}

/* ---- All ------------------------------------------------------------------------------------- */

/* The default boundary where a script gives none: the first that is possible. */
static int usual_boundary(const tz_definition *d)
{
    const uint32_t possible = tz_define_boundaries(d);
    return possible ? __builtin_ctz(possible) : 0;
}

static void get_boundaries(lua_State *L, tz_definition *d)
{
    static const tz_key element[] = {{"boundary", .names = boundary_names}, {NULL}};
    int boundary;
    const size_t count = tz_definition_table(L, TZ_STACK_OPTIONS, what, "boundaries")
                             ? tz_list_check(L, what, "boundaries", "a list")
                             : 0;
    for (lua_Integer i = 1; i <= (lua_Integer)count; i++) {
        lua_rawgeti(L, -1, i);
        lua_newtable(L);
        lua_insert(L, -2);
        lua_setfield(L, -2, "boundary");
        tz_keys_take(L, -1, what, element, false);
        if (tz_key_choice(L, lua_gettop(L), what, "boundary", &boundary))
            d->boundaries |= TZ_ALLOW(boundary);
        lua_pop(L, 1);
    }
    lua_settop(L, TZ_STACK_VALUE);
    if (!tz_key_choice(L, TZ_STACK_OPTIONS, what, "boundary", &boundary))
        boundary = usual_boundary(d);
    d->boundary = (tz_boundary)boundary;
}

static void get_raw(lua_State *L, tz_definition *d, bool unsafe)
{
    d->raw = tz_definition_text(L, TZ_STACK_OPTIONS, what, "text");
    if (d->raw && !unsafe)
        tz_raise(L,
                 "%s: 'text' is C code, which can do anything: run the script with --unsafe if "
                 "you trust it, or write formulas",
                 what);
}

const char *const tz_with_auto[TZ_WITH_AUTO] = {"grid", "precision", "device"};

static void check_given(lua_State *L, int index)
{
    for (int i = 0; i < TZ_WITH_AUTO; i++) {
        if (tz_table_get(L, index, tz_with_auto[i]) != LUA_TNIL)
            tz_raise(L, "%s: '%s' goes with augment = \"auto\": give it to tz.simulation", what,
                     tz_with_auto[i]);
        lua_pop(L, 1);
    }
}

tz_definition_value *tz_definition_read(lua_State *L, bool unsafe)
{
    tz_options_take(L, what, tz_definition_options,
                    "tz.stencil { dims = 2, update = { u = \"…\" } }");
    check_given(L, TZ_STACK_OPTIONS);
    tz_definition_value *v = lua_newuserdatauv(L, sizeof *v, 0);
    memset(v, 0, sizeof *v);
    tz_definition *d = &v->definition;
    int64_t dims = 0;
    v->has_name = tz_key_copy(L, TZ_STACK_OPTIONS, what, "name", v->name, sizeof v->name);
    if (!v->has_name)
        strcpy(v->name, "stencil");
    d->id = v->name;
    d->doc = tz_definition_text(L, TZ_STACK_OPTIONS, what, "doc");
    d->fields = v->fields;
    d->params = v->params;
    d->scalars = v->scalars;
    d->parts = v->parts;
    d->outsides = v->outsides;
    tz_key_integer(L, TZ_STACK_OPTIONS, what, "dims", &dims);
    d->dims = (int)dims;
    tz_key_flag(L, TZ_STACK_OPTIONS, what, "group", &d->group);
    tz_key_flag(L, TZ_STACK_OPTIONS, what, "fused", &d->fused);
    get_raw(L, d, unsafe);
    get_fields(L, v);
    get_params(L, v);
    get_spacing(L, v);
    get_time_step(L, v);
    get_named(L, v);
    get_passes(L, v);
    tz_definition_domain(L, v);
    get_outputs(L, v);
    get_coefficients(L, v);
    tz_definition_outside(L, v);
    tz_definition_edge(L, v);
    get_boundaries(L, d);
    add_seed(L, v);
    add_since(v);
    if (d->dims == 0)
        tz_raise(L, "%s: 'dims' is missing: 1, 2 or 3", what);
    if (d->passes_count == 0 && !d->coefficients)
        tz_raise(L,
                 "%s: needs 'update' = \"u + 0.2*lap(u)\", or 'rate', 'passes' or 'coefficients'",
                 what);
    if (d->passes_count > 0 && d->coefficients)
        tz_raise(L, "%s: give 'update' or 'coefficients', not both", what);
    order_fields(v);
    return v;
}
