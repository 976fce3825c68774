/* tz.random: checks seed, range and density, and keeps them in a userdata. Registered by module.c;
 * fields.c and array_methods.c take the value. */
#include "lua/random.h"

#include "lua/api.h"
#include "lua/keys.h"
#include "lua/module.h"
#include "lua/push.h"
#include <math.h>

static const tz_key random_options[] = {
    {"seed", "integer", NULL, "the same seed gives the same numbers on every machine"},
    {"range", "{low, high}", "{0, 1}",
     "real fields: low <= value < high; integers: both ends included"},
    {"density", "number", "0.5", "of bits: the share that is 1", .least = 0, .most = 1},
    {NULL, NULL, NULL, NULL}};

static int value_random(lua_State *L)
{
    tz_options_check(L, 1, "tz.random");
    tz_keys_take(L, 1, "tz.random", random_options, false);
    int64_t seed = 0;
    tz_random_value value = {.has_range = false};
    if (!tz_key_integer(L, 1, "tz.random", "seed", &seed))
        tz_raise(L, "tz.random: 'seed' is missing; give an integer, so that every run draws the "
                    "same numbers");
    value.random.seed = (uint64_t)seed;
    value.has_range =
        tz_key_range(L, 1, "tz.random", "range", true, &value.random.low, &value.random.high);
    value.has_density = tz_key_number(L, 1, "tz.random", "density", &value.random.density);
    if (!isfinite(value.random.high - value.random.low))
        tz_raise(L, "tz.random: 'range' is wider than a number can say");
    if (value.has_range && value.has_density)
        tz_raise(L, "tz.random: give 'range' or 'density', not both");
    tz_random_value *handle = lua_newuserdatauv(L, sizeof *handle, 0);
    *handle = value;
    luaL_setmetatable(L, TZ_TYPE_RANDOM);
    return 1;
}

static int random_tostring(lua_State *L)
{
    const tz_random_value *value = luaL_checkudata(L, 1, TZ_TYPE_RANDOM);
    lua_pushfstring(L, "random (seed %I)", (LUAI_UACINT)(int64_t)value->random.seed);
    return 1;
}

void tz_random_register(lua_State *L)
{
    static const tz_api_function none[] = {TZ_API_END};
    static const tz_api_function functions[] = {
        TZ_API("tz.random(options)", value_random,
               "Random values of a field. A cell's number depends on the seed and its place alone.",
               .options = random_options),
        TZ_API_END};
    tz_metatable_create(L, TZ_TYPE_RANDOM, none, NULL, NULL, random_tostring);
    tz_api_add(L, functions);
}
