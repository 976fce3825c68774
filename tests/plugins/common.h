/* Descriptions of the test plugins. */
#include <stdio.h>
#include <trapeze/plugin.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* static const tz_stencil NAME_stencil from NAME_fields, NAME_params, NAME_passes, NAME_derive and
 * the constants of the cell update UPDATE. */
#define TEST_STENCIL_OF(NAME, UPDATE, dimensions, allowed, default_boundary, field, map)           \
    TEST_STENCIL_WITH(NAME, UPDATE, dimensions, allowed, default_boundary, field, map, )
/* The same, with other members. */
#define TEST_STENCIL_WITH(NAME, UPDATE, dimensions, allowed, default_boundary, field, map, ...)    \
    static const tz_stencil NAME##_stencil = {                                                     \
        TZ_STENCIL_HEADER,                                                                         \
        .id = #NAME,                                                                               \
        .doc = "Test-only: " #NAME ".",                                                            \
        .dims = dimensions,                                                                        \
        TZ_STENCIL_TABLES(UPDATE, NAME##_fields, NAME##_params, NAME##_passes),                    \
        .boundaries = allowed,                                                                     \
        .boundary = default_boundary,                                                              \
        .picture = {field, map, 0.0, 1.0},                                                         \
        .derive = NAME##_derive,                                                                   \
        __VA_ARGS__};

/* With every boundary, showing the field FIRST; of bits, showing "alive". */
#define TEST_STENCIL(NAME, UPDATE, dimensions, first)                                              \
    TEST_STENCIL_OF(NAME, UPDATE, dimensions, TZ_ALLOW_ALL, TZ_CLAMP, first, "viridis")
#define TEST_STENCIL_BITS(NAME, dimensions)                                                        \
    TEST_STENCIL_OF(NAME, NAME, dimensions, TZ_ALLOW(TZ_FIXED) | TZ_ALLOW(TZ_PERIODIC), TZ_FIXED,  \
                    "alive", "gray")

/* The only parameter is a constant of the cell update. */
#define TEST_DERIVE(NAME, UPDATE, constant)                                                        \
    static int NAME##_derive(tz_setup *setup)                                                      \
    {                                                                                              \
        setup->constants[TZ_CONSTANT(UPDATE, constant)] = setup->params[0].number;                 \
        return 0;                                                                                  \
    }

#define TEST_PLUGIN(NAME, ...) TZ_PLUGIN_DEFINE(#NAME, "1.0.0", "test-only", __VA_ARGS__)
