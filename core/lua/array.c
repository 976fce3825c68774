/* The userdata of arrays: their elements in memory or in a file. */
#include "lua/array.h"

#include "lua/keys.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tz_array_handle *tz_array_push(lua_State *L, const char *source)
{
    tz_array_handle *handle = lua_newuserdatauv(L, sizeof *handle, 0);
    memset(handle, 0, sizeof *handle);
    snprintf(handle->source, sizeof handle->source, "%s", source);
    luaL_setmetatable(L, TZ_TYPE_ARRAY);
    handle->memory = calloc(1, sizeof *handle->memory);
    if (!handle->memory)
        tz_raise(L, "not enough memory for an array");
    handle->memory->users = 1;
    return handle;
}

void tz_array_own(tz_array_handle *handle, tz_array *array)
{
    handle->memory->owned = array;
    handle->view = *array;
}

tz_array_memory *tz_array_memory_share(tz_array_memory *memory)
{
    if (memory)
        memory->users++;
    return memory;
}

void tz_array_memory_release(tz_array_memory *memory)
{
    if (!memory || --memory->users > 0)
        return;
    tz_array_destroy(memory->owned);
    tz_npy_unmap(&memory->map);
    tz_npy_close(memory->file);
    free(memory);
}

tz_array_handle *tz_array_check_open(lua_State *L, int index, const char *what)
{
    tz_array_handle *handle = luaL_testudata(L, index, TZ_TYPE_ARRAY);
    if (!handle)
        tz_raise(L, "%s: needs an array (tz.read, tz.array or sim:array), not %s", what,
                 tz_kind_text(L, index));
    if (!handle->memory)
        tz_raise(L, "%s: the array (%.200s) is closed", what, handle->source);
    return handle;
}

tz_array_handle *tz_array_check(lua_State *L, int index, const char *what)
{
    tz_array_handle *handle = tz_array_check_open(L, index, what);
    tz_array_memory *memory = handle->memory;
    tz_array *array = NULL;
    if (handle->view.data)
        return handle;
    tz_status status = tz_npy_map(memory->file, &memory->map, tz_fault(L));
    if (status == TZ_OK)
        handle->view.data = (void *)memory->map.data;
    else if (status == TZ_UNSUPPORTED)
        status = tz_npy_read_all(memory->file, &array, tz_fault(L));
    tz_try(L, what, status);
    if (array) {
        tz_array_own(handle, array);
        tz_npy_close(memory->file);
        memory->file = NULL;
    }
    return handle;
}

void tz_array_check_at(lua_State *L, const tz_array_handle *handle, int dims, const char *what)
{
    if (handle->at_axes > 0 && handle->at_axes != dims)
        tz_raise(L, "%s: 'at' of %.250s has %d number%s, the grid %d axes", what, handle->source,
                 handle->at_axes, handle->at_axes == 1 ? "" : "s", dims);
}
