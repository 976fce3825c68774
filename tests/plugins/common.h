/* What the test plugins share: descriptions that say no more than the tests need. */
#include <stdio.h>
#include <trapeze/plugin.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
#define ALL_BOUNDARIES                                                                             \
    (TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_PERIODIC) | TZ_ALLOW(TZ_FIXED) | TZ_ALLOW(TZ_MIRROR))

/* static const tz_stencil NAME_stencil from NAME_fields, NAME_params, NAME_passes, NAME_derive and
 * the constants of the cell update UPDATE. */
#define TEST_STENCIL(NAME, UPDATE, dimensions)                                                     \
    static const tz_stencil NAME##_stencil = {                                                     \
        TZ_STENCIL_HEADER,                                                                         \
        .id = #NAME,                                                                               \
        .doc = "Test-only: " #NAME ".",                                                            \
        .dims = dimensions,                                                                        \
        .fields_count = COUNT(NAME##_fields),                                                      \
        .fields = NAME##_fields,                                                                   \
        .params_count = COUNT(NAME##_params),                                                      \
        .params = NAME##_params,                                                                   \
        .constants_count = TZ_CONSTANTS_COUNT(UPDATE),                                             \
        .constants = UPDATE##_constants,                                                           \
        .passes_count = COUNT(NAME##_passes),                                                      \
        .passes = NAME##_passes,                                                                   \
        .boundaries = ALL_BOUNDARIES,                                                              \
        .boundary = TZ_CLAMP,                                                                      \
        .picture = {NAME##_FIRST_FIELD, "viridis", 0.0, 1.0},                                      \
        .derive = NAME##_derive,                                                                   \
    };

#define TEST_PLUGIN(NAME, ...)                                                                     \
    static const tz_stencil *const NAME##_stencils[] = {__VA_ARGS__};                              \
    static const tz_plugin NAME##_plugin = {                                                       \
        TZ_PLUGIN_HEADER,                                                                          \
        .id = #NAME,                                                                               \
        .version = "1.0.0",                                                                        \
        .doc = "test-only",                                                                        \
        .stencils_count = COUNT(NAME##_stencils),                                                  \
        .stencils = NAME##_stencils,                                                               \
    };                                                                                             \
    TZ_PLUGIN_ENTRY(&NAME##_plugin)
