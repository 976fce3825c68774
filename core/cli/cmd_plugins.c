/* trapeze plugins: lists the stencils. */
#include "cli/options.h"

#include "base/names.h"
#include "base/number.h"
#include "base/text.h"
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- As text --------------------------------------------------------------------------------- */

static void print_param(const tz_param *param)
{
    char low[TZ_NUMBER_SIZE], high[TZ_NUMBER_SIZE], value[TZ_NUMBER_SIZE];
    printf("      %-24s %s", param->name, param->doc);
    printf("\n      %-24s %s", "", tz_param_type_name(param->type));
    if (param->unit[0] != '\0')
        printf(", %s", param->unit);
    if (param->role != TZ_PARAM_ROLE_NONE)
        printf(", role %s", tz_param_role_name(param->role));
    switch (param->type) {
    case TZ_PARAM_REAL:
    case TZ_PARAM_INTEGER:
        printf(", %s to %s, default %s\n", tz_number_format(low, param->min),
               tz_number_format(high, param->max),
               isnan(param->value) ? "derived" : tz_number_format(value, param->value));
        break;
    case TZ_PARAM_FLAG:
        printf(", default %s\n", param->value != 0 ? "true" : "false");
        break;
    case TZ_PARAM_CHOICE:
        printf(" of %s, default %s\n", param->choices, param->text);
        break;
    case TZ_PARAM_TEXT:
        printf(", default \"%s\"\n", param->text ? param->text : "");
        break;
    }
}

static void print_fields(const tz_stencil *stencil)
{
    printf("    fields\n");
    for (int i = 0; i < tz_stencil_fields_all(stencil); i++) {
        const tz_field *field = &stencil->fields[i];
        char initial[TZ_NUMBER_SIZE];
        printf("      %-24s %s\n      %-24s %s, %s", field->name, field->doc, "",
               tz_role_name(field->role), tz_type_name(field->type));
        if (field->unit && field->unit[0])
            printf(", %s", field->unit);
        if (field->required)
            printf(", required\n");
        else if (field->role == TZ_STREAMED || field->role == TZ_DERIVED)
            printf("\n");
        else
            printf(", default %s\n", tz_number_format(initial, field->initial));
    }
}

/* Constants that change with the iteration, which scenarios may give. */
static void print_scalars(const tz_stencil *stencil)
{
    bool any = false;
    for (int i = 0; i < stencil->constants_count; i++)
        if (stencil->constants[i].varies) {
            printf("%s %s", any ? "," : "    scalars", stencil->constants[i].name);
            any = true;
        }
    if (any)
        printf(": %s\n", stencil->at_step ? "the stencil has values, a scenario may give others"
                                          : "a scenario gives their values");
}

static void print_stencil(const tz_stencil *stencil)
{
    printf("\n  %s: %s\n    %d-D, radius %d, %d pass%s, boundary", stencil->id, stencil->doc,
           stencil->dims, tz_stencil_radius(stencil), stencil->passes_count,
           stencil->passes_count == 1 ? "" : "es");
    for (int i = 0; i < TZ_BOUNDARIES; i++)
        if (stencil->boundaries & TZ_ALLOW(i))
            printf(" %s%s", tz_boundary_name((tz_boundary)i),
                   i == (int)stencil->boundary ? " (default)" : "");
    printf("\n");
    if (stencil->steps > 1)
        printf("    an iteration advances %d time steps\n", stencil->steps);
    print_fields(stencil);
    if (stencil->params_count > 0)
        printf("    parameters\n");
    for (int i = 0; i < stencil->params_count; i++)
        print_param(&stencil->params[i]);
    print_scalars(stencil);
    if (stencil->methods_count > 0)
        printf("    methods\n");
    for (int i = 0; i < stencil->methods_count; i++)
        printf("      %-24s %s\n", stencil->methods[i].name, stencil->methods[i].doc);
}

/* The path as it can be printed. */
static const char *path_text(const tz_registry_entry *entry, char text[PATH_MAX])
{
    snprintf(text, PATH_MAX, "%s", entry->path);
    for (char *line; (line = strchr(text, '\n'));)
        *line = '?';
    tz_text_printable(text);
    return text;
}

static void print_refused(const tz_registry_entry *entry)
{
    char text[2100], path[PATH_MAX];
    tz_error_format(&entry->error, text, sizeof text);
    printf("refused: %s\n", path_text(entry, path));
    printf("  %s\n", text);
}

/* ---- As JSON --------------------------------------------------------------------------------- */

static json_t *number_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text_json(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *param_json(const tz_param *param)
{
    json_t *object = json_pack("{s:s, s:s, s:o, s:o}", "name", param->name, "type",
                               tz_param_type_name(param->type), "unit", text_json(param->unit),
                               "doc", text_json(param->doc));
    if (param->role != TZ_PARAM_ROLE_NONE)
        json_object_set_new(object, "role", text_json(tz_param_role_name(param->role)));
    switch (param->type) {
    case TZ_PARAM_REAL:
    case TZ_PARAM_INTEGER:
        json_object_set_new(object, "default", number_json(param->value));
        json_object_set_new(object, "min", number_json(param->min));
        json_object_set_new(object, "max", number_json(param->max));
        break;
    case TZ_PARAM_FLAG:
        json_object_set_new(object, "default", json_boolean(param->value != 0));
        break;
    case TZ_PARAM_CHOICE:
        json_object_set_new(object, "choices", text_json(param->choices));
        json_object_set_new(object, "default", text_json(param->text));
        break;
    case TZ_PARAM_TEXT:
        json_object_set_new(object, "default", text_json(param->text));
        break;
    }
    return object;
}

static json_t *field_json(const tz_field *field)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:b, s:o}", "name", field->name, "role",
                     tz_role_name(field->role), "type", tz_type_name(field->type), "unit",
                     text_json(field->unit), "doc", text_json(field->doc), "required",
                     field->required, "default", number_json(field->initial));
}

static json_t *stencil_json(const tz_stencil *stencil)
{
    json_t *object = json_pack("{s:s, s:o, s:i, s:i, s:i, s:i}", "id", stencil->id, "doc",
                               text_json(stencil->doc), "dims", stencil->dims, "radius",
                               tz_stencil_radius(stencil), "passes", stencil->passes_count, "steps",
                               stencil->steps > 1 ? stencil->steps : 1);
    json_t *boundaries = json_array(), *fields = json_array(), *params = json_array(),
           *methods = json_array(), *scalars = json_array();
    for (int i = 0; i < TZ_BOUNDARIES; i++)
        if (stencil->boundaries & TZ_ALLOW(i))
            json_array_append_new(boundaries, text_json(tz_boundary_name((tz_boundary)i)));
    for (int i = 0; i < tz_stencil_fields_all(stencil); i++)
        json_array_append_new(fields, field_json(&stencil->fields[i]));
    for (int i = 0; i < stencil->params_count; i++)
        json_array_append_new(params, param_json(&stencil->params[i]));
    for (int i = 0; i < stencil->methods_count; i++)
        json_array_append_new(methods, json_pack("{s:s, s:o}", "name", stencil->methods[i].name,
                                                 "doc", text_json(stencil->methods[i].doc)));
    json_object_set_new(object, "boundary", text_json(tz_boundary_name(stencil->boundary)));
    json_object_set_new(object, "boundaries", boundaries);
    json_object_set_new(object, "fields", fields);
    for (int i = 0; i < stencil->constants_count; i++)
        if (stencil->constants[i].varies)
            json_array_append_new(scalars, text_json(stencil->constants[i].name));
    json_object_set_new(object, "parameters", params);
    json_object_set_new(object, "scalars", scalars);
    json_object_set_new(object, "methods", methods);
    return object;
}

/* ---- The command ----------------------------------------------------------------------------- */

static bool is_wanted(const tz_plugin *plugin, const tz_stencil *stencil, const char *name)
{
    return !name || strcmp(plugin->id, name) == 0 || strcmp(stencil->id, name) == 0;
}

/* Returns how many stencils were shown. */
static int show_plugin(const tz_registry_entry *entry, const char *name, json_t *list)
{
    const tz_plugin *plugin = entry->plugin;
    json_t *stencils = json_array();
    char path[PATH_MAX];
    int shown = 0;
    for (int i = 0; i < plugin->stencils_count; i++) {
        if (!is_wanted(plugin, plugin->stencils[i], name))
            continue;
        if (!list && shown == 0)
            printf("%s %s: %s\n  %s\n", plugin->id, plugin->version, plugin->doc,
                   path_text(entry, path));
        if (!list)
            print_stencil(plugin->stencils[i]);
        else
            json_array_append_new(stencils, stencil_json(plugin->stencils[i]));
        shown++;
    }
    if (list && shown > 0)
        json_array_append_new(list,
                              json_pack("{s:s, s:o, s:o, s:s, s:O}", "id", plugin->id, "version",
                                        text_json(plugin->version), "doc", text_json(plugin->doc),
                                        "path", path_text(entry, path), "stencils", stencils));
    json_decref(stencils);
    return shown;
}

static int show_all(const tz_registry *registry, const char *name, bool defined, json_t *plugins,
                    json_t *refused)
{
    int shown = 0;
    for (size_t i = 0; i < tz_registry_count(registry); i++) {
        const tz_registry_entry *entry = tz_registry_get(registry, i);
        if (defined && !entry->defined)
            continue;
        if (entry->plugin) {
            if (!plugins && shown > 0 && !name)
                printf("\n");
            shown += show_plugin(entry, name, plugins);
        } else if (!name && refused) {
            char text[2100], path[PATH_MAX];
            tz_error_format(&entry->error, text, sizeof text);
            tz_text_utf8(text);
            json_array_append_new(
                refused, json_pack("{s:s, s:s}", "path", path_text(entry, path), "reason", text));
        }
    }
    for (size_t i = 0; !plugins && !name && !defined && i < tz_registry_count(registry); i++)
        if (!tz_registry_get(registry, i)->plugin) {
            printf("\n");
            print_refused(tz_registry_get(registry, i));
        }
    return shown;
}

/* `name` NULL: all plugins; `from` not NULL: those that this scenario defines. */
static int show(tz_plugins *opened, const char *name, const char *from, bool json)
{
    const tz_replay replay = {.path = from};
    tz_error failed;
    const tz_status status = from ? tz_plugins_define(opened, &replay, &failed) : TZ_OK;
    const tz_registry *registry = opened->registry;
    json_t *plugins = json ? json_array() : NULL, *refused = json ? json_array() : NULL;
    const int shown = show_all(registry, name, from != NULL, plugins, refused);
    int code = EXIT_DONE;
    if (shown == 0 && status) {
        code = tz_fail(EXIT_FAILED, &failed);
    } else if (shown == 0 && from) {
        code = tz_fail_text(EXIT_FAILED, "%s defines no stencil%s%.60s%s with tz.stencil", from,
                            name ? " '" : "", name ? name : "", name ? "'" : "");
    } else if (shown == 0 && name) {
        tz_error error;
        const tz_stencil *none;
        tz_registry_find(registry, name, &none, NULL, &error);
        code = tz_fail(EXIT_FAILED, &error);
    } else if (json) {
        json_t *root = json_pack("{s:s, s:O, s:O}", "trapeze", TZ_VERSION, "plugins", plugins,
                                 "refused", refused);
        json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
        printf("\n");
        json_decref(root);
    } else if (tz_registry_count(registry) == 0) {
        printf("no plugins; looked in\n");
        for (size_t i = 0; i < opened->folders.count; i++)
            printf("  %s\n", opened->folders.items[i]);
    }
    json_decref(plugins);
    json_decref(refused);
    return code == EXIT_DONE ? tz_finish_output() : code;
}

static int plugins_call(const tz_command *command, int argc, char **argv)
{
    tz_plugins plugins = {0};
    bool json = false;
    const char *from = NULL;
    const tz_option options[] = {TZ_FLAG("json", &json),
                                 TZ_TEXT("from", &from),
                                 TZ_PATHS("plugins", &plugins.given),
                                 {.name = NULL}};
    int code = tz_options_read(command, argc, argv, options);
    if (code == TZ_OPTIONS_GO_ON && argc - optind > 1)
        code = tz_misuse(command, "takes one name, not '%.60s' too", argv[optind + 1]);
    if (code == TZ_OPTIONS_GO_ON)
        code = tz_plugins_open(&plugins) ? show(&plugins, argv[optind], from, json) : EXIT_FAILED;
    tz_plugins_close(&plugins);
    return code;
}

const tz_command tz_command_plugins = {
    .name = "plugins",
    .arguments = "[NAME] [OPTION]…",
    .doc = "list the stencils: fields, parameters, methods, and plugins that were refused",
    .help = "  NAME            only the stencil or plugin of that name\n"
            "  --from FILE     only those that this scenario defines with tz.stencil\n"
            "  --json          print JSON\n"
            "  --plugins DIR   look for plugins here first; may be repeated\n"
            "  -h, --help      print this\n"
            "\n"
            "Looks for plugins in --plugins, then in the folders of $TRAPEZE_PLUGIN_PATH "
            "(separated by\n"
            "colons), then in the folder that came with this program.\n",
    .call = plugins_call,
};
