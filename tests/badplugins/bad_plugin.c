/* A plugin with one fault, which a BAD_ macro selects. Those that get as far as their id have one
 * of their own, since all lie in one folder. */
#include <stdio.h>

#define TZ_CELL_TEXT "bad_plugin.cell.h"
#define TZ_CELL_ID bad
#define TZ_CELL_DIMS 1
#define TZ_CELL_RADIUS 0
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

static const tz_field fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "what stays"),
    TZ_STATIC_FIELD("f", TZ_REAL, "", "what is added"),
};

#ifdef BAD_MISSING_ROW
static const tz_row_form half_forms[] = {{"base", {bad_rows_base_single, NULL}}};
static const tz_kernels half_kernels = {
    .forms_count = 1, .forms = half_forms, .cell = {bad_cell_any_single, bad_cell_any_double}};
#endif

#pragma GCC diagnostic ignored "-Woverride-init" /* of a member that TZ_PASS() sets */
static const tz_pass passes[] = {
    {
        .name = "keep",
#ifdef BAD_WRITES_STATIC
        .writes = TZ_WRITES(bad, f),
#else
        .writes = TZ_WRITES(bad, u),
#endif
        TZ_PASS(bad),
#ifdef BAD_MISSING_TEXT
        .text_cell = NULL,
#endif
#ifdef BAD_MISSING_ROW
        .kernels = &half_kernels,
#endif
#ifdef BAD_RADIUS_TOO_LARGE
        .radius = TZ_RADIUS_MAX + 1,
#endif
    },
};

#if defined BAD_ABI_MAJOR
#define ID "bad_abi_major"
#elif defined BAD_ABI_MINOR
#define ID "bad_abi_minor"
#elif defined BAD_FAILING_INIT
#define ID "bad_failing_init"
#elif defined BAD_TWICE_ONE_ID
#define ID "bad_twice_one_id"
#else
#define ID "bad"
#endif

#ifdef BAD_PARAM_ROLE
static const tz_param params[] = {
    TZ_TEXT_PARAM("rule", "B3/S23", "a rule", .role = TZ_PARAM_ROLE_RULE),
    TZ_TEXT_PARAM("width", "wide", "no number", .role = TZ_PARAM_ROLE_EXTENT_X_M),
};
#elif defined BAD_TWO_ROLES
static const tz_param params[] = {
    TZ_TEXT_PARAM("rule", "B3/S23", "a rule", .role = TZ_PARAM_ROLE_RULE),
    TZ_TEXT_PARAM("other", "B3/S23", "another", .role = TZ_PARAM_ROLE_RULE),
};
#elif defined BAD_UNNAMED_PARAM
static const tz_param params[] = {{.type = TZ_PARAM_FLAG, .unit = "", .doc = "no name"}};
#endif

static const tz_stencil stencil = {
#ifdef BAD_SHORT_STENCIL
    .struct_size = offsetof(tz_stencil, passes),
#elif defined BAD_NO_STRIDES
    .struct_size = sizeof stencil, /* the size alone, without strides */
#else
    TZ_STENCIL_HEADER,
#endif
    .id = ID,
    .doc = "Test-only: must be refused.",
    .dims = 1,
    .fields_count = 2,
    .fields = fields,
    .passes_count = 1,
    .passes = passes,
    .boundaries = TZ_ALLOW(TZ_CLAMP),
    .boundary = TZ_CLAMP,
    .picture = {"u", "viridis", 0.0, 1.0},
#if defined BAD_PARAM_ROLE || defined BAD_TWO_ROLES || defined BAD_UNNAMED_PARAM
    .params_count = sizeof params / sizeof *params,
    .params = params,
#elif defined BAD_TOO_MANY_PARAMS
    .params_count = TZ_PARAMS_MAX + 1,
#endif
};

static const tz_stencil *const stencils[] = {
    &stencil,
#ifdef BAD_TWICE_ONE_ID
    &stencil,
#endif
};

#ifdef BAD_FAILING_INIT
static int init(char *message, size_t message_size)
{
    snprintf(message, message_size, "the licence of the frobnicator has run out");
    return -1;
}
#endif

#ifdef BAD_UNDEFINED_SYMBOL
extern int frobnicate_nowhere_defined(void);
static int init(char *message, size_t message_size)
{
    return frobnicate_nowhere_defined();
}
#endif

#ifdef BAD_ABI_MAJOR
#define MAJOR_OFF 1
#else
#define MAJOR_OFF 0
#endif
#ifdef BAD_ABI_MINOR
#define MINOR_OFF 1
#else
#define MINOR_OFF 0
#endif
#if defined BAD_SHORT_PLUGIN
#define PLUGIN_SIZE offsetof(tz_plugin, stencils)
#else
#define PLUGIN_SIZE sizeof(tz_plugin)
#endif

static const tz_plugin plugin __attribute__((unused)) = {
    .abi_major = TZ_ABI_MAJOR + MAJOR_OFF,
    .abi_minor = TZ_ABI_MINOR + MINOR_OFF,
    .struct_size = PLUGIN_SIZE,
    .id = ID,
    .version = "1.0.0",
    .doc = "test-only",
#ifndef BAD_NO_STENCIL
    .stencils_count = sizeof stencils / sizeof *stencils,
#endif
    .stencils = stencils,
#if defined BAD_FAILING_INIT || defined BAD_UNDEFINED_SYMBOL
    .init = init,
#endif
};

#if defined BAD_NO_PLUGIN
TZ_PLUGIN_ENTRY(NULL)
#elif !defined BAD_NO_ENTRY
TZ_PLUGIN_ENTRY(&plugin)
#endif
