/* For the test plugins: descriptions that hold what the tests need. */
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

#define TEST_PLUGIN(NAME, ...) TZ_PLUGIN_DEFINE(#NAME, "1.0.0", "test-only", __VA_ARGS__)
