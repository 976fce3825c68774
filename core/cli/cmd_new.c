/* trapeze new: writes the folder of a new plugin. */
#include "cli/options.h"

#include "base/file.h"
#include "cli/new_files.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { SCENARIO_BYTES_MAX = 16 << 20, STENCILS_MAX = 64 };

typedef struct settings {
    const char *name, *from, *stencil;
    tz_replay replay;
    tz_plugins plugins;
    /* The stencils that the scenario defines, by their names there; the source is of the wanted one,
     * or of the first. */
    char *ids[STENCILS_MAX];
    int count;
    tz_status status;
    tz_error error;
    tz_defined_source source;
} settings;

/* ---- The name --------------------------------------------------------------------------------- */

/* It is a folder, a target of CMake and a C identifier. */
static bool is_name(const char *name)
{
    static const char *const taken[] = {
        "all",      "auto",     "break",    "case",   "char",     "clean",  "const",    "continue",
        "default",  "do",       "double",   "else",   "enum",     "extern", "float",    "for",
        "goto",     "help",     "if",       "inline", "install",  "int",    "long",     "package",
        "real",     "register", "restrict", "return", "scenario", "short",  "signed",   "sizeof",
        "static",   "struct",   "switch",   "test",   "typedef",  "union",  "unsigned", "void",
        "volatile", "while",    "contract"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(name, taken[i]) == 0)
            return false;
    for (const char *c = name; *c; c++)
        if (!islower((unsigned char)*c) && *c != '_' && !(c > name && isdigit((unsigned char)*c)))
            return false;
    return name[0] && strlen(name) < 40 && strncmp(name, "tz_", 3) != 0;
}

/* ---- The source ------------------------------------------------------------------------------- */

/* The scenario has defined a stencil. */
static void on_stencil(void *context, const tz_definition *definition)
{
    settings *s = context;
    tz_definition renamed = *definition;
    renamed.id = s->name;
    const bool wanted = s->stencil ? strcmp(s->stencil, definition->id) == 0 : s->count == 0;
    if (wanted && !s->status)
        s->status = tz_define_source(&renamed, &s->source, &s->error);
    if (s->count < STENCILS_MAX && (s->ids[s->count] = strdup(definition->id)))
        s->count++;
}

static int check_found(const settings *s, const tz_error *error, bool failed)
{
    if (s->status)
        return tz_fail(EXIT_FAILED, &s->error);
    if (s->source.cell_text && (s->stencil || s->count == 1))
        return EXIT_DONE;
    if (failed)
        return tz_fail(EXIT_FAILED, error);
    if (s->count == 0)
        return tz_fail_text(EXIT_FAILED, "%s defines no stencil with tz.stencil", s->from);
    char names[400] = "";
    for (int i = 0; i < s->count; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i > 0 ? ", " : "",
                 s->ids[i]);
    return s->stencil
               ? tz_fail_text(EXIT_FAILED, "%s defines no stencil '%.60s', but %s", s->from,
                              s->stencil, names)
               : tz_fail_text(EXIT_FAILED, "%s defines %d stencils: choose with --stencil %s",
                              s->from, s->count, names);
}

/* Run the scenario as --check does, for the stencil and the text of the new scenario. */
static int take_from(settings *s, char **scenario)
{
    tz_error error;
    char *text = NULL;
    size_t bytes;
    if (!tz_plugins_open(&s->plugins))
        return EXIT_FAILED;
    s->replay.path = s->from;
    s->replay.context = s;
    s->replay.stencil = on_stencil;
    const bool failed = tz_plugins_define(&s->plugins, &s->replay, &error) != TZ_OK;
    const int code = check_found(s, &error, failed);
    if (code != EXIT_DONE)
        return code;
    if (tz_file_read(s->from, SCENARIO_BYTES_MAX, &text, &bytes, &error) != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    *scenario = tz_new_scenario_from(s->name, s->from, text, s->count > 1 ? s->stencil : NULL);
    free(text);
    return EXIT_DONE;
}

static int take_default(settings *s, char **scenario)
{
    tz_definition definition = *tz_new_definition();
    definition.id = s->name;
    if (tz_define_source(&definition, &s->source, &s->error) != TZ_OK)
        return tz_fail(EXIT_FAILED, &s->error);
    *scenario = tz_new_scenario(s->name);
    return EXIT_DONE;
}

/* ---- The command ------------------------------------------------------------------------------ */

static int write_files(const settings *s, const char *scenario)
{
    tz_error error;
    const tz_new_files files = {.name = s->name, .source = &s->source, .scenario = scenario};
    if (!scenario)
        return tz_fail_text(EXIT_FAILED, "not enough memory");
    if (tz_new_write(&files, &error) != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    printf("%s/: %s.c, %s.cell.h, %s.lua, CMakeLists.txt\n"
           "  cmake -S %s -B %s/build && cmake --build %s/build\n"
           "  ctest --test-dir %s/build\n"
           "  trapeze run %s/%s.lua --plugins %s/build\n",
           s->name, s->name, s->name, s->name, s->name, s->name, s->name, s->name, s->name, s->name,
           s->name);
    return tz_finish_output();
}

static int new_call(const tz_command *command, int argc, char **argv)
{
    settings s = {.name = NULL};
    char *scenario = NULL;
    const tz_option options[] = {TZ_TEXT("from", &s.from),
                                 TZ_TEXT("stencil", &s.stencil),
                                 TZ_CALL("set", &s.replay.sets, tz_take_set),
                                 TZ_FLAG("unsafe", &s.replay.unsafe),
                                 TZ_PATHS("plugins", &s.plugins.given),
                                 {.name = NULL}};
    int code = tz_options_read(command, argc, argv, options);
    if (code == TZ_OPTIONS_GO_ON && optind + 1 != argc)
        code = tz_misuse(command, optind == argc ? "needs a name" : "takes one name");
    if (code == TZ_OPTIONS_GO_ON && (s.stencil || s.replay.sets.count > 0) && !s.from)
        code = tz_misuse(command, "--stencil and --set need --from SCENARIO");
    if (code == TZ_OPTIONS_GO_ON && !is_name(argv[optind]))
        code = tz_misuse(command,
                         "'%.60s' cannot be the name: up to 39 lower-case letters, digits and '_', "
                         "not a word of C, CMake or Trapeze",
                         argv[optind]);
    if (code == TZ_OPTIONS_GO_ON) {
        s.name = argv[optind];
        code = s.from ? take_from(&s, &scenario) : take_default(&s, &scenario);
        if (code == EXIT_DONE)
            code = write_files(&s, scenario);
    }
    for (int i = 0; i < s.count; i++)
        free(s.ids[i]);
    free(scenario);
    tz_defined_source_clear(&s.source);
    tz_paths_clear(&s.replay.sets);
    tz_plugins_close(&s.plugins);
    return code;
}

const tz_command tz_command_new = {
    .name = "new",
    .arguments = "NAME [OPTION]…",
    .doc = "write the folder of a new plugin: C, cell text, CMake, scenario, tests",
    .help = "  --from SCENARIO   of the stencil that this scenario defines with tz.stencil\n"
            "  --stencil ID      which one, if it defines several\n"
            "  --set NAME=VALUE  a value for the scenario; may be repeated\n"
            "  --unsafe          give the scenario all of Lua's libraries\n"
            "  --plugins DIR     look for plugins here first; may be repeated\n"
            "  -h, --help        print this\n"
            "\n"
            "The folder NAME is made in the working folder; one that exists is left alone.\n",
    .call = new_call,
};
