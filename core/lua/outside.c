/* tz.stencil: `outside` and `edge`, what fields are past the sides of the grid, and past the edge
 * of its domain. Called by definition.c. */
#include "lua/define.h"

#include "lua/keys.h"
#include <string.h>

static const char outside_text[] = "tz.stencil: 'outside'", edge_text[] = "tz.stencil: 'edge'";

/* The width of a cell along an axis, as a formula. */
static const char *width_of(const tz_definition_value *v, int axis)
{
    for (int p = 0; v->definition.spaced && p < v->definition.params_count; p++)
        if (v->params[p].role == TZ_PARAM_ROLE_SPACING ||
            v->params[p].role == (tz_param_role)(TZ_PARAM_ROLE_SPACING_X + axis))
            return v->params[p].name;
    return "1";
}

/* The number of the kind of side that the table at `at` has; pushes its numbers or formulas. */
static int push_kind(lua_State *L, int at, const char *who, const char *field)
{
    static const tz_key keys[] = {{"value"}, {"flux"}, {"robin"}, {"absorbing"}, {"old"}, {NULL}};
    static const int counts[] = {1, 1, 3, 2};
    int kind = -1;
    tz_keys_take(L, at, who, keys, false);
    for (int i = 0; i < 4; i++)
        kind = tz_table_get(L, at, keys[i].key) != LUA_TNIL ? i : kind;
    if (kind < 0)
        tz_raise(L, "%s: '%s' needs 'value', 'flux', 'robin' or 'absorbing'", who, field);
    lua_settop(L, at);
    tz_table_get(L, at, keys[kind].key);
    if (kind == 2) {
        if (!lua_istable(L, -1) || lua_rawlen(L, -1) != 3)
            tz_raise(L, "%s: '%s': 'robin' must be { a, b, c }, of a*u + b*du/dn = c", who, field);
        for (int i = 1; i <= 3; i++)
            lua_rawgeti(L, at + 1, i);
        lua_remove(L, at + 1);
    }
    if (kind == 3)
        tz_table_get(L, at, "old");
    for (int i = 1; i <= counts[kind]; i++)
        if (lua_type(L, at + i) != LUA_TSTRING && lua_type(L, at + i) != LUA_TNUMBER)
            tz_raise(L, "%s: '%s' needs a number or a formula, a string, not %s%s", who, field,
                     tz_kind_text(L, at + i), kind == 3 ? "; 'absorbing' goes with 'old'" : "");
    return kind;
}

/* Has a cell the same width along all axes? */
static bool is_square(const tz_definition_value *v)
{
    for (int axis = 1; axis < v->definition.dims; axis++)
        if (strcmp(width_of(v, axis), width_of(v, 0)) != 0)
            return false;
    return true;
}

/* Replace the table at the top of the stack by the formula that it stands for. */
static void write_kind(lua_State *L, const tz_definition_value *v, const char *field, int side)
{
    static const char *const cells[2][TZ_AXES][TZ_AXES] = {
        {{"2"}, {"2,0", "0,2"}, {"2,0,0", "0,2,0", "0,0,2"}},
        {{"-2"}, {"-2,0", "0,-2"}, {"-2,0,0", "0,-2,0", "0,0,-2"}}};
    const bool edge = side == TZ_EDGE;
    const int at = lua_gettop(L), axis = edge ? 0 : side / 2;
    const char *width = width_of(v, axis), *who = edge ? edge_text : outside_text;
    const int kind = push_kind(L, at, who, field);
    if (edge && (kind == 3 || (kind > 0 && !is_square(v))))
        tz_raise(L, "%s: '%s': %s has no direction: %s", who, field,
                 kind == 3 ? "an edge of any shape" : "a read across the edge",
                 kind == 3 ? "'absorbing' is for 'outside'"
                           : "'flux' and 'robin' need the same spacing along all axes");
    const char *a = lua_tostring(L, at + 1), *b = lua_tostring(L, at + 2),
               *c = lua_tostring(L, at + 3);
    if (kind == 0)
        lua_pushfstring(L, "2*(%s) - inside", a);
    else if (kind == 1)
        lua_pushfstring(L, "inside + (%s)*%s", a, width);
    else if (kind == 2)
        lua_pushfstring(L, "((%s) - ((%s)/2 - (%s)/%s)*inside)/((%s)/2 + (%s)/%s)", c, a, b, width,
                        a, b, width);
    else
        lua_pushfstring(L,
                        "((1 - (%s))*(%s)*%s[%s] - 2*(1 - (%s)^2)*inside + 2*%s)/((1 + (%s))*(%s))",
                        a, a, field, cells[side % 2][v->definition.dims - 1][axis], a, b, a, a);
    lua_replace(L, at);
    lua_settop(L, at);
}

/* What the field is past these sides, or the edge, at the top of the stack, which it pops. */
static void add_outside(lua_State *L, tz_definition_value *v, const char *field, unsigned sides)
{
    const bool none = lua_isboolean(L, -1) && !lua_toboolean(L, -1);
    for (int side = 0; side <= TZ_EDGE; side++) {
        const char *who = side == TZ_EDGE ? edge_text : outside_text;
        if (!(sides >> side & 1) || none)
            continue;
        lua_pushvalue(L, -1);
        if (lua_istable(L, -1)) {
            tz_table_copy(L, -1, who);
            write_kind(L, v, field, side);
        }
        v->outsides[v->definition.outsides_count++] =
            (tz_defined_outside){field, side, tz_definition_formula(L, who, field)};
    }
    lua_pop(L, 1);
}

static const tz_key axis_keys[] = {{"x"}, {"y"}, {"z"}, {NULL}};

/* Is the table at the top of the stack of axes, and not of a kind of side? */
static bool has_axes(lua_State *L)
{
    bool has = false;
    for (int axis = 0; axis < TZ_AXES && lua_istable(L, -1); axis++) {
        has = tz_table_get(L, lua_gettop(L), axis_keys[axis].key) != LUA_TNIL || has;
        lua_pop(L, 1);
    }
    return has;
}

/* What others call the sides of each axis, in the table at the top of the stack. */
static void refuse_sides(lua_State *L, const char *field)
{
    static const char *const sides[] = {"left", "right", "bottom", "top", "back", "front"};
    for (int i = 0; i < 6 && lua_istable(L, -1); i++) {
        if (tz_table_get(L, lua_gettop(L), sides[i]) != LUA_TNIL)
            tz_raise(L,
                     "%s: '%s': '%s' is not known here: write %s = { low, high }, with false "
                     "for a side that stays as it is",
                     outside_text, field, sides[i], axis_keys[i / 2].key);
        lua_pop(L, 1);
    }
}

/* FIELD = { x = …, y = { low, high } }, at the top of the stack. */
static void add_axes(lua_State *L, tz_definition_value *v, const char *field)
{
    const int at = lua_gettop(L);
    tz_keys_take(L, at, outside_text, axis_keys, false);
    for (int axis = 0; axis < TZ_AXES; axis++) {
        lua_settop(L, at);
        if (tz_table_get(L, at, axis_keys[axis].key) == LUA_TNIL)
            continue;
        if (axis >= v->definition.dims)
            tz_raise(L, "%s: '%s': there is no axis %s", outside_text, field, axis_keys[axis].key);
        const int count = lua_istable(L, -1) ? (int)lua_rawlen(L, -1) : 0;
        if (count == 0) {
            add_outside(L, v, field, 3u << 2 * axis);
            continue;
        }
        if (count != 2)
            tz_raise(L, "%s: '%s': an axis has two sides, { low, high }; false is none",
                     outside_text, field);
        for (int high = 0; high < 2; high++) {
            lua_rawgeti(L, at + 1, high + 1);
            add_outside(L, v, field, 1u << (2 * axis + high));
        }
    }
}

void tz_definition_outside(lua_State *L, tz_definition_value *v)
{
    const char *names[TZ_FIELDS_MAX];
    tz_definition *d = &v->definition;
    if (!tz_definition_table(L, TZ_STACK_OPTIONS, "tz.stencil", "outside"))
        return;
    const int at = lua_gettop(L);
    const int count = tz_definition_names(L, outside_text, names, TZ_FIELDS_MAX, false);
    for (int i = 0; i < count; i++) {
        lua_settop(L, at);
        tz_table_get(L, at, names[i]);
        refuse_sides(L, names[i]);
        if (has_axes(L))
            add_axes(L, v, names[i]);
        else
            add_outside(L, v, names[i], (1u << 2 * d->dims) - 1);
    }
    lua_settop(L, at - 1);
}

/* ---- The edge of a domain -------------------------------------------------------------------- */

/* The domain's field, which is made if there is none. */
void tz_definition_domain(lua_State *L, tz_definition_value *v)
{
    const int type = tz_table_get(L, TZ_STACK_OPTIONS, "domain");
    if (type != LUA_TNIL && type != LUA_TSTRING)
        tz_raise_kind(L, -1, "tz.stencil", "domain",
                      "the name of a field, \"mask\"; its cells are the domain of tz.simulation");
    lua_pop(L, 1);
    const char *name = tz_definition_text(L, TZ_STACK_OPTIONS, "tz.stencil", "domain");
    tz_defined_field *field = name ? tz_definition_field(v, name) : NULL;
    v->definition.domain = name;
    if (name && !field)
        tz_definition_add(L, v,
                          (tz_defined_field){.name = name,
                                             .role = TZ_STATIC,
                                             .type = TZ_INT,
                                             .required = true,
                                             .doc = "the cells that are computed; others are 0"});
    if (name) /* past sides the boundaries hold */
        tz_definition_field(v, name)->boundary_value = 1;
}

void tz_definition_edge(lua_State *L, tz_definition_value *v)
{
    static const char *const kinds[] = {"value", "flux", "robin"};
    const char *names[TZ_FIELDS_MAX];
    const int type = tz_table_get(L, TZ_STACK_OPTIONS, "edge"), at = lua_gettop(L);
    bool all = type != LUA_TTABLE;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !all; i++) {
        all = !tz_definition_field(v, kinds[i]) && tz_table_get(L, at, kinds[i]) != LUA_TNIL;
        lua_settop(L, at);
    }
    for (int f = 0; f < v->definition.fields_count && type != LUA_TNIL && all; f++)
        if (v->fields[f].role == TZ_STATE && !(v->temporaries >> f & 1)) {
            lua_pushvalue(L, at);
            add_outside(L, v, v->fields[f].name, 1u << TZ_EDGE);
        }
    const int count = all ? 0 : tz_definition_names(L, edge_text, names, TZ_FIELDS_MAX, false);
    for (int i = 0; i < count; i++) {
        lua_settop(L, at);
        tz_table_get(L, at, names[i]);
        add_outside(L, v, names[i], 1u << TZ_EDGE);
    }
    lua_settop(L, at - 1);
}
