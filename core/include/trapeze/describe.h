/* trapeze/describe.h: macros with which a plugin writes its description. Included by
 * <trapeze/plugin.h>, which explains the structs.
 *
 * The arguments of a macro for a parameter or field are the members that each of them has, then any
 * other members:
 *
 *   TZ_REAL_PARAM("width_m", 0.016, 1e-9, 1e3, "m", "extent along x",
 *                 .role = TZ_PARAM_ROLE_EXTENT_X_M)
 *   TZ_STATE_FIELD("temperature", TZ_REAL, "K", "temperature of the die", .initial = 323.15) */
#ifndef TRAPEZE_DESCRIBE_H
#define TRAPEZE_DESCRIBE_H

/* Parameters: name, default, range and unit of a number, and one sentence. */
#define TZ_REAL_PARAM(ID, DEFAULT, LEAST, MOST, UNIT, SENTENCE, ...)                               \
    TZ__NUMBER_PARAM(TZ_PARAM_REAL, ID, DEFAULT, LEAST, MOST, UNIT, SENTENCE, __VA_ARGS__)
#define TZ_INTEGER_PARAM(ID, DEFAULT, LEAST, MOST, UNIT, SENTENCE, ...)                            \
    TZ__NUMBER_PARAM(TZ_PARAM_INTEGER, ID, DEFAULT, LEAST, MOST, UNIT, SENTENCE, __VA_ARGS__)
#define TZ_FLAG_PARAM(ID, DEFAULT, SENTENCE, ...)                                                  \
    TZ__NUMBER_PARAM(TZ_PARAM_FLAG, ID, DEFAULT, 0, 1, "", SENTENCE, __VA_ARGS__)
#define TZ_TEXT_PARAM(ID, DEFAULT, SENTENCE, ...)                                                  \
    {                                                                                              \
        .name = (ID), .type = TZ_PARAM_TEXT, .text = (DEFAULT), .unit = "", .doc = (SENTENCE),     \
        __VA_ARGS__                                                                                \
    }
/* CHOICES: "a|b|c" */
#define TZ_CHOICE_PARAM(ID, DEFAULT, CHOICES, SENTENCE, ...)                                       \
    {                                                                                              \
        .name = (ID), .type = TZ_PARAM_CHOICE, .text = (DEFAULT), .choices = (CHOICES),            \
        .unit = "", .doc = (SENTENCE), __VA_ARGS__                                                 \
    }

/* Fields: name, type, unit and one sentence. */
#define TZ_STATE_FIELD(ID, TYPE, UNIT, SENTENCE, ...)                                              \
    TZ__FIELD(TZ_STATE, ID, TYPE, UNIT, SENTENCE, __VA_ARGS__)
#define TZ_STATIC_FIELD(ID, TYPE, UNIT, SENTENCE, ...)                                             \
    TZ__FIELD(TZ_STATIC, ID, TYPE, UNIT, SENTENCE, __VA_ARGS__)
#define TZ_DERIVED_FIELD(ID, TYPE, UNIT, SENTENCE, ...)                                            \
    TZ__FIELD(TZ_DERIVED, ID, TYPE, UNIT, SENTENCE, __VA_ARGS__)
#define TZ_STREAMED_FIELD(ID, TYPE, UNIT, SENTENCE, ...)                                           \
    TZ__FIELD(TZ_STREAMED, ID, TYPE, UNIT, SENTENCE, __VA_ARGS__)

#define TZ__NUMBER_PARAM(TYPE, ID, DEFAULT, LEAST, MOST, UNIT, SENTENCE, ...)                      \
    {                                                                                              \
        .name = (ID), .type = (TYPE), .value = (DEFAULT), .min = (LEAST), .max = (MOST),           \
        .unit = (UNIT), .doc = (SENTENCE), __VA_ARGS__                                             \
    }
#define TZ__FIELD(ROLE, ID, TYPE, UNIT, SENTENCE, ...)                                             \
    {                                                                                              \
        .name = (ID), .role = (ROLE), .type = (TYPE), .unit = (UNIT), .doc = (SENTENCE),           \
        __VA_ARGS__                                                                                \
    }

/* The first members of a tz_stencil and of a tz_plugin: versions, sizes and strides. */
#define TZ_STENCIL_HEADER                                                                          \
    .struct_size = sizeof(tz_stencil), .fields_stride = sizeof(tz_field),                          \
    .params_stride = sizeof(tz_param), .constants_stride = sizeof(tz_constant),                    \
    .passes_stride = sizeof(tz_pass), .methods_stride = sizeof(tz_method),                         \
    .outputs_stride = sizeof(tz_pass)
/* Members of a tz_stencil: arrays of its fields, parameters and passes, and the constants of the
 * cell update ID (<trapeze/rows.h>). */
#define TZ_STENCIL_TABLES(id, its_fields, its_params, its_passes)                                  \
    .fields_count = sizeof(its_fields) / sizeof(tz_field), .fields = (its_fields),                 \
    .params_count = sizeof(its_params) / sizeof(tz_param), .params = (its_params),                 \
    .constants_count = TZ_CONSTANTS_COUNT(id), .constants = id##_constants,                        \
    .passes_count = sizeof(its_passes) / sizeof(tz_pass), .passes = (its_passes)
#define TZ_PLUGIN_HEADER                                                                           \
    .abi_major = TZ_ABI_MAJOR, .abi_minor = TZ_ABI_MINOR, .struct_size = sizeof(tz_plugin)

/* Defines the entry of a plugin: TZ_PLUGIN_ENTRY(&my_plugin), at file scope. */
#define TZ_PLUGIN_ENTRY(plugin_pointer)                                                            \
    __attribute__((visibility("default"))) const tz_plugin *tz_plugin_entry(void);                 \
    const tz_plugin *tz_plugin_entry(void)                                                         \
    {                                                                                              \
        return plugin_pointer;                                                                     \
    }

/* Defines a plugin without init() and finish(), and its entry, at file scope. The last arguments
 * are pointers to the stencils. */
#define TZ_PLUGIN_DEFINE(ID, VERSION, SENTENCE, ...)                                               \
    static const tz_stencil *const tz__stencils[] = {__VA_ARGS__};                                 \
    static const tz_plugin tz__plugin = {                                                          \
        TZ_PLUGIN_HEADER,                                                                          \
        .id = (ID),                                                                                \
        .version = (VERSION),                                                                      \
        .doc = (SENTENCE),                                                                         \
        .stencils_count = sizeof tz__stencils / sizeof *tz__stencils,                              \
        .stencils = tz__stencils,                                                                  \
    };                                                                                             \
    TZ_PLUGIN_ENTRY(&tz__plugin)

#endif
