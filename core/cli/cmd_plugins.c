/* trapeze plugins: lists the stencils. */
#include "cli/command.h"

#include "base/number.h"
#include "base/text.h"
#include "stencil/boundary.h"
#include "stencil/listing.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
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
        printf(", %s to %s, default %s\n", tz_number_short(low, param->min),
               tz_number_short(high, param->max),
               isnan(param->value) ? "derived" : tz_number_short(value, param->value));
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
            printf(", default %s\n", tz_number_short(initial, field->initial));
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
    static const char *const walls[] = {TZ_BOUNDARY_TABLE(TZ_WALL)};
    printf("\n  %s: %s\n    %d-D, radius %d, %d pass%s, boundary", stencil->id, stencil->doc,
           stencil->dims, tz_stencil_radius(stencil), stencil->passes_count,
           stencil->passes_count == 1 ? "" : "es");
    for (int i = 0; i < TZ_BOUNDARIES; i++)
        if (stencil->boundaries & TZ_ALLOW(i))
            printf(" %s%s", tz_boundary_name((tz_boundary)i),
                   i == (int)stencil->boundary ? " (default)" : "");
    printf("\n");
    for (int i = 0; i < TZ_BOUNDARIES; i++)
        if (stencil->boundaries & TZ_ALLOW(i))
            printf("      %-24s %s\n", tz_boundary_name((tz_boundary)i), walls[i]);
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

/* ---- What is listed -------------------------------------------------------------------------- */

/* A plugin with the stencils that were asked for, or one that was refused. */
typedef struct listed_plugin {
    const tz_plugin *plugin;
    const tz_listed_stencil *stencils;
    int count;
    char path[PATH_MAX], reason[2100];
} listed_plugin;

typedef struct listing {
    int plugins_count, refused_count, stencils_count;
    listed_plugin *plugins, *refused;
    tz_listed_stencil *stencils;
} listing;

static void clear(listing *list)
{
    free(list->plugins);
    free(list->refused);
    free(list->stencils);
}

static void list_plugin(listing *list, const tz_registry_entry *entry, const char *name)
{
    const tz_plugin *plugin = entry->plugin;
    listed_plugin *out =
        plugin ? &list->plugins[list->plugins_count] : &list->refused[list->refused_count];
    path_text(entry, out->path);
    if (!plugin) {
        tz_error_format(&entry->error, out->reason, sizeof out->reason);
        list->refused_count += !name;
        return;
    }
    out->plugin = plugin;
    out->stencils = &list->stencils[list->stencils_count];
    for (int i = 0; i < plugin->stencils_count; i++)
        if (!name || strcmp(plugin->id, name) == 0 || strcmp(plugin->stencils[i]->id, name) == 0) {
            tz_listed_stencil_of(&list->stencils[list->stencils_count++], plugin,
                                 plugin->stencils[i]);
            out->count++;
        }
    list->plugins_count += out->count > 0;
}

/* `name` NULL: all; `defined`: only those that a scenario has defined. */
static tz_status list_all(listing *list, const tz_registry *registry, const char *name,
                          bool defined, tz_error *error)
{
    const size_t count = tz_registry_count(registry) + 1;
    size_t stencils = 1;
    for (size_t i = 0; i + 1 < count; i++)
        if (tz_registry_get(registry, i)->plugin)
            stencils += (size_t)tz_registry_get(registry, i)->plugin->stencils_count;
    list->plugins = calloc(count, sizeof *list->plugins);
    list->refused = calloc(count, sizeof *list->refused);
    list->stencils = calloc(stencils, sizeof *list->stencils);
    if (!list->plugins || !list->refused || !list->stencils)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    for (size_t i = 0; i + 1 < count; i++)
        if (!defined || tz_registry_get(registry, i)->defined)
            list_plugin(list, tz_registry_get(registry, i), name);
    return TZ_OK;
}

/* ---- As CSV and JSON ------------------------------------------------------------------------- */

#define OF_PLUGIN(name, expression) TZ_GETTER(plugin_##name, void, listed_plugin, expression)
OF_PLUGIN(id, tz_cell_text(r->plugin->id));
OF_PLUGIN(version, tz_cell_text(r->plugin->version));
OF_PLUGIN(doc, tz_cell_text(r->plugin->doc));
OF_PLUGIN(stencils, TZ_ROWS_OF(tz_stencil_columns, r->stencils, r->count));

static const tz_sheet_column plugin_columns[] = {{.key = "id", .get = plugin_id},
                                                 {.key = "version", .get = plugin_version},
                                                 {.key = "doc", .get = plugin_doc},
                                                 TZ_MEMBER("path", listed_plugin, path),
                                                 {.key = "stencils", .get = plugin_stencils},
                                                 {.key = NULL}};

static const tz_sheet_column refused_columns[] = {TZ_MEMBER("path", listed_plugin, path),
                                                  TZ_MEMBER("reason", listed_plugin, reason),
                                                  {.key = NULL}};

TZ_GETTER(listing_version, void, listing, tz_cell_text(TZ_VERSION));
TZ_GETTER(listing_plugins, void, listing, TZ_ROWS_OF(plugin_columns, r->plugins, r->plugins_count));
TZ_GETTER(listing_refused, void, listing,
          TZ_ROWS_OF(refused_columns, r->refused, r->refused_count));

static const tz_sheet_column listing_columns[] = {{.key = "trapeze", .get = listing_version},
                                                  {.key = "plugins", .get = listing_plugins},
                                                  {.key = "refused", .get = listing_refused},
                                                  {.key = NULL}};

/* ---- The command ----------------------------------------------------------------------------- */

static void print_text(const listing *list, const char *name, const tz_plugins *opened)
{
    for (int i = 0; i < list->plugins_count; i++) {
        const listed_plugin *p = &list->plugins[i];
        printf("%s%s %s: %s\n  %s\n", i > 0 && !name ? "\n" : "", p->plugin->id, p->plugin->version,
               p->plugin->doc, p->path);
        for (int k = 0; k < p->count; k++)
            print_stencil(p->stencils[k].stencil);
    }
    for (int i = 0; i < list->refused_count; i++)
        printf("\nrefused: %s\n  %s\n", list->refused[i].path, list->refused[i].reason);
    if (tz_registry_count(opened->registry) == 0) {
        printf("no plugins; looked in\n");
        for (size_t i = 0; i < opened->folders.count; i++)
            printf("  %s\n", opened->folders.items[i]);
    }
}

static void print_list(const listing *list, const char *name, const tz_plugins *opened,
                       tz_form form)
{
    const tz_sheet stencils = {.columns = tz_stencil_columns,
                               .rows = list->stencils,
                               .stride = sizeof *list->stencils,
                               .count = list->stencils_count};
    if (form == TZ_FORM_JSON)
        tz_print_json(tz_row_json(listing_columns, NULL, list), 15);
    else if (form == TZ_FORM_CSV)
        tz_sheet_csv(&stencils, true, stdout);
    else
        print_text(list, name, opened);
}

/* `name` NULL: all plugins; `from` not NULL: those that this scenario defines. */
static int show(tz_plugins *opened, const char *name, const char *from, tz_form form)
{
    tz_replay replay = {.path = from};
    tz_error failed, error;
    const tz_status status = from ? tz_plugins_define(opened, &replay, &failed) : TZ_OK;
    listing list = {.plugins_count = 0};
    const tz_stencil *none;
    int code = EXIT_DONE;
    if (list_all(&list, opened->registry, name, from != NULL, &error) != TZ_OK)
        code = tz_fail(EXIT_FAILED, &error);
    else if (list.stencils_count == 0 && status)
        code = tz_fail(EXIT_FAILED, &failed);
    else if (list.stencils_count == 0 && from)
        code = tz_fail_text(EXIT_FAILED, "%s defines no stencil%s%.60s%s with tz.stencil", from,
                            name ? " '" : "", name ? name : "", name ? "'" : "");
    else if (list.stencils_count == 0 && name &&
             tz_registry_find(opened->registry, name, &none, NULL, &error) != TZ_OK)
        code = tz_fail(EXIT_FAILED, &error);
    else
        print_list(&list, name, opened, form);
    clear(&list);
    tz_replay_clear(&replay);
    return code == EXIT_DONE ? tz_finish_output() : code;
}

static int plugins_call(const tz_command *command, int argc, char **argv)
{
    tz_plugins plugins = {0};
    tz_form form = TZ_FORM_TEXT;
    const char *from = NULL;
    const tz_option options[] = {TZ_FORMS(&form),
                                 TZ_TEXT("from", &from),
                                 TZ_PATHS("plugins", &plugins.given),
                                 {.name = NULL}};
    int code = tz_options_read(command, argc, argv, options);
    if (code == TZ_OPTIONS_GO_ON && argc - optind > 1)
        code = tz_misuse(command, "takes one name, not '%.60s' too", argv[optind + 1]);
    if (code == TZ_OPTIONS_GO_ON)
        code = tz_plugins_open(&plugins) ? show(&plugins, argv[optind], from, form) : EXIT_FAILED;
    tz_plugins_close(&plugins);
    return code;
}

const tz_command tz_command_plugins = {
    .name = "plugins",
    .examples = "  trapeze plugins\n"
                "  trapeze plugins hotspot\n",
    .arguments = "[NAME] [OPTION]…",
    .doc = "list the stencils: fields, parameters, methods, and plugins that were refused",
    .help = "  NAME            only the stencil or plugin of that name\n"
            "  --from FILE     only those that this scenario defines with tz.stencil\n"
            "  --json, --csv   print JSON, or CSV with a row for each stencil\n"
            "  --plugins DIR   look for plugins here first; may be repeated\n"
            "  -h, --help      print this\n"
            "\n"
            "Looks for plugins in --plugins, then in the folders of $TRAPEZE_PLUGIN_PATH "
            "(separated by\n"
            "colons), then in the folder that came with this program.\n",
    .call = plugins_call,
};
