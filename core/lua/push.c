/* Sets keys of Lua tables from C values and from rows of sheets. Called by the files of core/lua
 * that return tables: predict.c, tune.c, policy.c, running.c, methods.c and others. */
#include "lua/push.h"

#include <lauxlib.h>

void tz_set_number(lua_State *L, const char *key, double value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, key);
}

void tz_set_numbers(lua_State *L, const tz_named_double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tz_set_number(L, values[i].key, values[i].value);
}

void tz_set_integer(lua_State *L, const char *key, int64_t value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, key);
}

void tz_set_text(lua_State *L, const char *key, const char *value)
{
    lua_pushstring(L, value);
    lua_setfield(L, -2, key);
}

void tz_set_flag(lua_State *L, const char *key, bool value)
{
    lua_pushboolean(L, value);
    lua_setfield(L, -2, key);
}

void tz_push_integers(lua_State *L, int count, const int64_t *values)
{
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        lua_pushinteger(L, values[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

static void push_texts(lua_State *L, const tz_cell *cell)
{
    lua_createtable(L, cell->count, 0);
    for (int i = 0; i < cell->count; i++) {
        lua_pushstring(L, tz_cell_item(cell, i));
        lua_rawseti(L, -2, i + 1);
    }
}

static void push_named(lua_State *L, const tz_cell *cell)
{
    lua_createtable(L, 0, cell->count);
    for (int i = 0; i < cell->count; i++) {
        double value;
        const char *name = tz_cell_name(cell, i, &value);
        tz_set_number(L, name, value);
    }
}

static void push_cell(lua_State *L, const tz_cell *cell)
{
    switch (cell->kind) {
    case TZ_CELL_NONE:
    case TZ_CELL_NULL:
        lua_pushnil(L);
        return;
    case TZ_CELL_FLAG:
        lua_pushboolean(L, cell->flag);
        return;
    case TZ_CELL_INTEGER:
        lua_pushinteger(L, cell->integer);
        return;
    case TZ_CELL_REAL:
        lua_pushnumber(L, cell->real);
        return;
    case TZ_CELL_TEXT:
        lua_pushstring(L, cell->text);
        return;
    case TZ_CELL_MADE:
        lua_pushstring(L, cell->made);
        return;
    case TZ_CELL_INTEGERS:
        tz_push_integers(L, cell->count, cell->integers);
        return;
    case TZ_CELL_TEXTS:
        push_texts(L, cell);
        return;
    case TZ_CELL_NAMED:
        push_named(L, cell);
        return;
    case TZ_CELL_ROW:
        lua_newtable(L);
        tz_set_row(L, cell->sheet.columns, cell->sheet.context, cell->sheet.rows);
        return;
    case TZ_CELL_ROWS:
        tz_push_sheet(L, &cell->sheet);
        return;
    }
}

void tz_set_row(lua_State *L, const tz_sheet_column *columns, const void *context, const void *row)
{
    for (const tz_sheet_column *column = columns; !tz_sheet_column_is_last(column); column++) {
        const bool merged = column->part && !column->key;
        if (!merged && !tz_sheet_column_is_in(column, TZ_IN_LUA))
            continue;
        const tz_cell cell = tz_sheet_column_cell(column, context, row);
        if (merged && cell.kind == TZ_CELL_ROW) {
            tz_set_row(L, column->part, cell.sheet.context, cell.sheet.rows);
        } else if (!merged && cell.kind > TZ_CELL_NULL) {
            push_cell(L, &cell);
            lua_setfield(L, -2, column->key);
        }
    }
}

void tz_push_sheet(lua_State *L, const tz_sheet *sheet)
{
    luaL_checkstack(L, 8, NULL);
    lua_createtable(L, sheet->count, 0);
    for (int i = 0; i < sheet->count; i++) {
        lua_newtable(L);
        tz_set_row(L, sheet->columns, sheet->context, tz_sheet_row(sheet, i));
        lua_rawseti(L, -2, i + 1);
    }
}

void tz_push_line(lua_State *L, char between)
{
    luaL_Buffer line;
    const int n = lua_gettop(L);
    luaL_buffinit(L, &line);
    for (int i = 1; i <= n; i++) {
        if (i > 1)
            luaL_addchar(&line, between);
        luaL_tolstring(L, i, NULL);
        luaL_addvalue(&line);
    }
    luaL_pushresult(&line);
}
