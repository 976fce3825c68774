#include "lua/definition_keys.h"

#include "base/number.h"
#include "lua/augment.h"
#include "lua/problem.h"
#include "stencil/stencil.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char what[] = "tz.stencil";

/* ---- Tables ---------------------------------------------------------------------------------- */

const tz_param_role tz_definition_param_roles[TZ_DEFINITION_PARAM_ROLES] = {
    TZ_PARAM_ROLE_TIME_STEP, TZ_PARAM_ROLE_SPACING, TZ_PARAM_ROLE_SPACING_X,
    TZ_PARAM_ROLE_SPACING_Y, TZ_PARAM_ROLE_SPACING_Z};
static TZ_KEY_NAMES_OF(type_names, tz_type_name, TZ_TYPES) static TZ_KEY_NAMES(role_names, "state",
                                                                               "static", "derived")

    const tz_key tz_field_options[] = {
        {"type", "text", "\"real\"", "%s", type_names},
        {"role", "text", "\"state\"", "%s", role_names},
        {"initial", "number", "0", "the value of each cell at first"},
        {"boundary_value", "number", "0", "what cells past fixed sides hold"},
        {"required", "boolean", "false", "a scenario must give it values"},
        {"unit", "text", "", ""},
        {"doc", "text", "", "one sentence"},
        {NULL}};

static const char *param_role_names(int i)
{
    return i < TZ_DEFINITION_PARAM_ROLES ? tz_param_role_name(tz_definition_param_roles[i]) : NULL;
}

const tz_key tz_param_options[] = {
    {"value", "number", NULL, "the default"},
    {"min", "number", "no limit; of integers that of 32 bits", "the least value"},
    {"max", "number", "likewise", "the largest value"},
    {"integer", "boolean", "false", "only integers"},
    {"unit", "text", "", ""},
    {"doc", "text", "", "one sentence"},
    {"role", "text", "",
     "%s: the simulated time of an iteration, or the width of a cell along all axes or one, for "
     "files "
     "that have a geometry",
     param_role_names},
    {NULL}};

const tz_key tz_definition_options[] = {
    {"name", "text", "`\"stencil\"`, `\"stencil2\"`, …", "its id, as a C identifier"},
    {"doc", "text", "", "one sentence"},
    {"dims", "integer", "the depth of `coefficients`", "", .least = 1, .most = TZ_AXES},
    {"fields", "table", "{u = \"real\"}",
     "NAME = type, or a table. Names in a list are real state fields, in this order; the others "
     "follow "
     "in alphabetical order, those whose update is just the name of another field last. The first "
     "one "
     "is what frames show by default",
     .inner = tz_field_options},
    {"params", "table", "{}", "NAME = number, the default, or a table", .inner = tz_param_options},
    {"scalars", "table", "{}",
     "NAME = formula of `step` and the parameters: a constant that changes with the iteration"},
    {"update", "table", "",
     "FIELD = formula of its new value. All formulas read the values from before. A formula alone "
     "is the only field's"},
    {"passes", "list", "",
     "of tables as `update`, or `{name = …, update = {…}}`: one after the other"},
    {"outputs", "table", "{}",
     "FIELD = formula: derived fields, for frames, tables and reductions, which cost nothing else"},
    {"coefficients", "list or text", "",
     "an array with an odd number of elements in each row, x fastest, from the lowest place up; in "
     "2-D a list of rows, in 3-D of layers. An element is a number, or a formula such as the name "
     "of "
     "a static field. Or those of a plugin's stencil that is such a sum, by its id: "
     "`\"star2d1r\"`. The update is a\\*old + b\\*field + v\\*scale\\*sum(c\\*field)"},
    {"scale", "number", "1", "of all coefficients"},
    {"field", "text", "the first state field", "the field of the coefficients"},
    {"old", "text", "", "the field with the values of the iteration before, for `a`"},
    {"a", "formula", "no such term", "of `old`"},
    {"b", "formula", "no such term", "of the field itself"},
    {"v", "formula", "no such factor", "of the sum: a parameter or a static field, for example"},
    {"augment", "integer or text", "1",
     "how many iterations of the sum one iteration of this stencil advances, by coefficients that "
     "are convolved ([augment.md](augment.md)); `\"auto\"`: as many as are predicted to be "
     "fastest, "
     "which `doc` then says",
     .least = 1, .most = TZ_RADIUS_MAX},
    TZ_AUGMENT_OPTIONS,
    {"group", "boolean", "false", "sum terms with equal coefficients first"},
    {"fused", "boolean", "false", "a product that is added becomes one operation that rounds once"},
    {"text", "text", "",
     "the cell updates in C, without `TZ_FIELDS` and `TZ_CONSTANTS`, only with `--unsafe`; "
     "`passes` is then a list of `{name = …, radius = …, writes = {FIELD, …}}` and `outputs` one "
     "of "
     "fields"},
    {"boundaries", "list", "all", "those of %s that a simulation may choose", tz_boundary_names},
    {"boundary", "text", "the first of these, for bits periodic",
     "the one that it has if it chooses none", tz_boundary_names},
    {NULL, NULL, NULL, NULL}};

/* ---- Readers --------------------------------------------------------------------------------- */

void tz_definition_keep(lua_State *L)
{
    lua_rawseti(L, TZ_DEFINITION_KEPT, (lua_Integer)lua_rawlen(L, TZ_DEFINITION_KEPT) + 1);
}

bool tz_definition_push(lua_State *L, int index, const char *who, const char *key)
{
    tz_key_push(L, index, key);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        return false;
    }
    if (!lua_istable(L, -1))
        tz_raise(L, "%s: '%s' must be a table, not %s", who, key, tz_kind_text(L, -1));
    return true;
}

const char *tz_definition_text(lua_State *L, int index, const char *who, const char *key)
{
    const char *text = NULL;
    if (tz_key_text(L, index, who, key, &text)) {
        lua_pushstring(L, key);
        lua_rawget(L, index);
        tz_definition_keep(L);
    }
    return text;
}

tz_defined_text tz_definition_formula(lua_State *L, const char *who, const char *name)
{
    tz_defined_text out;
    if (lua_type(L, -1) == LUA_TNUMBER) {
        char number[TZ_NUMBER_SIZE];
        if (!isfinite(lua_tonumber(L, -1)))
            tz_raise(L, "%s: '%.60s' must be a finite number", who, name);
        lua_pushstring(L, tz_number_format(number, lua_tonumber(L, -1)));
        lua_remove(L, -2);
    } else if (lua_type(L, -1) != LUA_TSTRING) {
        tz_raise(L, "%s: '%.60s' must be a formula, a string, not %s", who, name,
                 tz_kind_text(L, -1));
    }
    out.text = lua_tolstring(L, -1, &out.length);
    tz_definition_keep(L);
    return out;
}

tz_defined_text tz_definition_option(lua_State *L, const char *key)
{
    if (tz_table_get(L, TZ_DEFINITION_OPTIONS, key) != LUA_TNIL)
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
        tz_definition_keep(L);
    }
    qsort(names, (size_t)count, sizeof *names, compare_texts);
    return count;
}
