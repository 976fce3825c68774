/* trapeze new: writes the folder of a new plugin. */
#include "cli/command.h"

#include "base/atomic.h"
#include "base/file.h"
#include "base/paths.h"
#include "define/source.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Templates: @NAME@ and others are replaced ----------------------------------------------- */

static const char cmake_text[] =
    "# Builds the plugin and tests it:\n"
    "#   cmake -S . -B build && cmake --build build && ctest --test-dir build\n"
    "# Where Trapeze is installed elsewhere: -DCMAKE_PREFIX_PATH=/where/it/is\n"
    "cmake_minimum_required(VERSION 3.20)\n"
    "project(@NAME@ LANGUAGES C)\n"
    "if(NOT CMAKE_BUILD_TYPE)\n"
    "    set(CMAKE_BUILD_TYPE Release)\n"
    "endif()\n"
    "find_package(Trapeze REQUIRED HINTS [==[@PREFIX@]==])\n"
    "trapeze_add_plugin(@NAME@ @NAME@.c)\n"
    "# To where `trapeze` finds it: cmake --install build\n"
    "if(CMAKE_INSTALL_PREFIX_INITIALIZED_TO_DEFAULT)\n"
    "    set(CMAKE_INSTALL_PREFIX ${Trapeze_PREFIX} CACHE PATH \"\" FORCE)\n"
    "endif()\n"
    "install(TARGETS @NAME@ LIBRARY DESTINATION lib/trapeze/plugins)\n"
    "\n"
    "# The scenario runs, and the plugin keeps what a plugin promises: the same bits with every "
    "plan.\n"
    "enable_testing()\n"
    "add_test(NAME clean COMMAND ${CMAKE_COMMAND} -E rm -rf ${CMAKE_CURRENT_BINARY_DIR}/run)\n"
    "add_test(NAME scenario COMMAND ${Trapeze_EXECUTABLE} run "
    "${CMAKE_CURRENT_SOURCE_DIR}/@NAME@.lua\n"
    "    --plugins ${CMAKE_CURRENT_BINARY_DIR} --quiet --out ${CMAKE_CURRENT_BINARY_DIR}/run)\n"
    "set_tests_properties(clean PROPERTIES FIXTURES_SETUP fresh)\n"
    "set_tests_properties(scenario PROPERTIES FIXTURES_REQUIRED fresh)\n"
    "if(Trapeze_CONTRACT)\n"
    "    add_test(NAME contract COMMAND ${Trapeze_CONTRACT} ${CMAKE_CURRENT_BINARY_DIR})\n"
    "else()\n"
    "    message(STATUS \"This Trapeze has no program `trapeze-contract`: that test is left "
    "out\")\n"
    "endif()\n";

static const char scenario_text[] =
    "-- Heat spreads in a plate from two hot bars.\n"
    "--\n"
    "--   trapeze run @NAME@.lua --plugins build\n"
    "local tz = require \"trapeze\"\n"
    "\n"
    "local plate = tz.simulation {\n"
    "  plugin = \"@NAME@\", grid = { 200, 150 }, boundary = \"clamp\",\n"
    "  fields = { u = function(x, y)\n"
    "    if x > 50 and x < 62 and y > 30 and y < 120 then return 1 end\n"
    "    if x > 125 and x < 133 and y > 20 and y < 90 then return 1 end\n"
    "    return 0\n"
    "  end },\n"
    "}\n"
    "\n"
    "local mean = plate:mean \"u\"\n"
    "plate:every(100, tz.png(\"u\", { map = \"inferno\", range = { 0, 1 }, zoom = 3, bar = true "
    "}))\n"
    "plate:run(500)\n"
    "\n"
    "-- No heat leaves through the edges.\n"
    "tz.expect(math.abs(plate:mean \"u\" - mean) < 1e-4, \"heat got lost\")\n";

static const char one_text[] =
    "-- The scenario @FROM@, with the plugin @NAME@ in place of the stencil "
    "that it defines.\n"
    "--\n"
    "--   trapeze run @NAME@.lua --plugins build\n"
    "do\n"
    "  local tz = require \"trapeze\"\n"
    "  local stencil = tz.stencil\n"
    "  tz.stencil = function() return stencil \"@NAME@\" end\n"
    "end\n"
    "\n";

static const char named_text[] =
    "-- The scenario @FROM@, with the plugin @NAME@ in place of its stencil '@STENCIL@'.\n"
    "--\n"
    "--   trapeze run @NAME@.lua --plugins build\n"
    "do\n"
    "  local tz = require \"trapeze\"\n"
    "  local stencil = tz.stencil\n"
    "  tz.stencil = function(options)\n"
    "    return stencil(options.name == \"@STENCIL@\" and \"@NAME@\" or options)\n"
    "  end\n"
    "end\n"
    "\n";

/* The template with each @WORD@ replaced by its value. malloc'd. */
static char *fill(const char *template, const char *const pairs[][2], size_t count)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    while (out && *template) {
        size_t i = 0, length = 0;
        for (; template[0] == '@' && i < count; i++) {
            length = strlen(pairs[i][0]);
            if (strncmp(template, pairs[i][0], length) == 0)
                break;
        }
        if (template[0] == '@' && i < count) {
            fputs(pairs[i][1], out);
            template += length;
        } else {
            fputc(*template ++, out);
        }
    }
    if (!out || fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

#define FORMULA(text_)                                                                             \
    {                                                                                              \
        .text = (text_), .length = sizeof(text_) - 1                                               \
    }

/* The stencil of a new plugin that is made of nothing. */
static const tz_definition *default_definition(void)
{
    static const tz_defined_field fields[] = {
        {.name = "u", .role = TZ_STATE, .doc = "temperature of the plate"}};
    static const tz_defined_param params[] = {
        {.name = "share",
         .value = 0.2,
         .min = 0,
         .max = 0.25,
         .doc = "what a cell exchanges with a neighbour in an iteration; stable up to 0.25"}};
    static const tz_defined_formula updates[] = {
        {.name = "u", .formula = FORMULA("u + share*(u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u)")}};
    static const tz_defined_pass passes[] = {
        {.name = "spread", .updates_count = 1, .updates = updates}};
    static const tz_definition definition = {.id = "new",
                                             .doc = "Heat spreads in a plate.",
                                             .dims = 2,
                                             .fields_count = 1,
                                             .fields = fields,
                                             .params_count = 1,
                                             .params = params,
                                             .passes_count = 1,
                                             .passes = passes};
    return &definition;
}

/* The text of NAME.lua, malloc'd; NULL without memory. */
static char *make_scenario(const char *name)
{
    const char *const pairs[][2] = {{"@NAME@", name}};
    return fill(scenario_text, pairs, 1);
}

/* The same of a scenario whose tz.stencil the plugin replaces. `stencil`: its name there; NULL: the
 * only one. */
static char *make_scenario_from(const char *name, const char *from, const char *text,
                                const char *stencil)
{
    const char *slash = strrchr(from, '/');
    const char *const pairs[][2] = {{"@NAME@", name},
                                    {"@FROM@", slash ? slash + 1 : from},
                                    {"@STENCIL@", stencil ? stencil : ""}};
    char *head = fill(stencil ? named_text : one_text, pairs, 3), *all = NULL;
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3;
    if (text[0] == '#') /* a line "#!/usr/bin/env …" */
        text += strcspn(text, "\n");
    if (!head || asprintf(&all, "%s%s", head, text) < 0)
        all = NULL;
    free(head);
    return all;
}

/* ---- Writing --------------------------------------------------------------------------------- */

typedef struct new_files {
    const char *name; /* of the folder, the plugin and the stencil */
    const tz_defined_source *source;
    const char *scenario; /* the text of NAME.lua */
} new_files;

/* Make the folder NAME in the working folder with all files. TZ_IO, TZ_MEMORY; then nothing is
 * left. */
static tz_status write_folder(const new_files *files, tz_error *error)
{
    char prefix[PATH_MAX];
    const char *name = files->name;
    tz_path_prefix(prefix, sizeof prefix);
    const char *const pairs[][2] = {{"@NAME@", name}, {"@PREFIX@", prefix}};
    char *cmake = fill(cmake_text, pairs, 2);
    if (!cmake)
        return tz_error_set(error, TZ_MEMORY, name, "not enough memory for its files");
    const char *const parts[][3] = {{name, ".cell.h", files->source->cell_text},
                                    {name, ".c", files->source->plugin_text},
                                    {name, ".lua", files->scenario},
                                    {"CMakeLists", ".txt", cmake}};
    enum { PARTS = sizeof parts / sizeof *parts };
    tz_status status = TZ_OK;
    if (mkdir(name, 0777) != 0) {
        status = errno == EEXIST
                     ? tz_error_set(error, TZ_IO, name,
                                    "exists already, and is not overwritten: choose another name")
                     : tz_error_set_errno(error, errno, name, "cannot make the folder");
        free(cmake);
        return status;
    }
    int written = 0;
    char path[PATH_MAX];
    for (; !status && written < PARTS; written++) {
        const char *text = parts[written][2];
        snprintf(path, sizeof path, "%s/%s%s", name, parts[written][0], parts[written][1]);
        status = tz_atomic_save(path, false, text, strlen(text), error);
    }
    for (int i = 0; status && i < written; i++) {
        snprintf(path, sizeof path, "%s/%s%s", name, parts[i][0], parts[i][1]);
        unlink(path);
    }
    if (status)
        rmdir(name);
    free(cmake);
    return status;
}

enum { SCENARIO_BYTES_MAX = 16 << 20 };

typedef struct settings {
    const char *name, *from, *stencil;
    tz_replay replay;
    tz_plugins plugins;
    tz_status status;
    tz_error error;
    tz_defined_source source; /* of the wanted stencil, or of the first */
} settings;

/* ---- The name -------------------------------------------------------------------------------- */

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

/* ---- The source ------------------------------------------------------------------------------ */

/* The scenario has defined a stencil. */
static void on_stencil(void *context, const tz_definition *definition)
{
    settings *s = context;
    tz_definition renamed = *definition;
    renamed.id = s->name;
    const bool wanted = !s->stencil || strcmp(s->stencil, definition->id) == 0;
    if (wanted && !s->source.cell_text && !s->status)
        s->status = tz_define_source(&renamed, &s->source, &s->error);
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
    s->replay.option = "set";
    s->replay.stencil = on_stencil;
    const bool failed = tz_plugins_define(&s->plugins, &s->replay, &error) != TZ_OK;
    const char *id;
    const int code = s->status
                         ? tz_fail(EXIT_FAILED, &s->error)
                         : tz_replay_choose(&s->replay, s->stencil, failed ? &error : NULL, &id);
    if (code != EXIT_DONE)
        return code;
    if (tz_file_read(s->from, SCENARIO_BYTES_MAX, &text, &bytes, &error) != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    *scenario =
        make_scenario_from(s->name, s->from, text, s->replay.ids.count > 1 ? s->stencil : NULL);
    free(text);
    return EXIT_DONE;
}

static int take_default(settings *s, char **scenario)
{
    tz_definition definition = *default_definition();
    definition.id = s->name;
    if (tz_define_source(&definition, &s->source, &s->error) != TZ_OK)
        return tz_fail(EXIT_FAILED, &s->error);
    *scenario = make_scenario(s->name);
    return EXIT_DONE;
}

/* Copy a file that the scenario has read, `tail` within its folder, into the new folder. */
static tz_status copy_input(const char *folder, const char *tail, const char *path, tz_error *error)
{
    enum { BYTES_MAX = 1 << 30 };
    char to[PATH_MAX], *text = NULL;
    size_t bytes;
    if (snprintf(to, sizeof to, "%s/%s", folder, tail) >= (int)sizeof to)
        return tz_error_set(error, TZ_RANGE, tail, "its path is too long");
    for (char *slash = strchr(to + strlen(folder) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(to, 0777) != 0 && errno != EEXIST)
            return tz_error_set_errno(error, errno, to, "cannot make the folder");
        *slash = '/';
    }
    tz_status status = tz_file_read(path, BYTES_MAX, &text, &bytes, error);
    if (!status && access(to, F_OK) != 0) /* read twice: copied once */
        status = tz_atomic_save(to, false, text, bytes, error);
    free(text);
    return status;
}

/* Copy what the scenario reads from its own folder; it finds other files by their paths. */
static tz_status copy_inputs(const settings *s, tz_error *error)
{
    char folder[PATH_MAX];
    if (!s->from)
        return TZ_OK;
    tz_path_folder(s->from, folder, sizeof folder);
    const size_t length = strlen(folder);
    for (size_t i = 0; i < s->replay.inputs.count; i++) {
        const char *path = s->replay.inputs.items[i], *tail = path;
        if (strncmp(path, folder, length) == 0 && path[length] == '/')
            tail = path + length + 1;
        if (tail[0] == '/' || strstr(tail, "..") || (tail == path && strcmp(folder, ".") != 0))
            continue;
        const tz_status status = copy_input(s->name, tail, path, error);
        if (status)
            return status;
    }
    return TZ_OK;
}

/* ---- The command ----------------------------------------------------------------------------- */

static int write_files(const settings *s, const char *scenario)
{
    tz_error error;
    const new_files files = {.name = s->name, .source = &s->source, .scenario = scenario};
    if (!scenario)
        return tz_fail_text(EXIT_FAILED, "not enough memory");
    if (write_folder(&files, &error) != TZ_OK || copy_inputs(s, &error) != TZ_OK)
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
    free(scenario);
    tz_defined_source_clear(&s.source);
    tz_replay_clear(&s.replay);
    tz_plugins_close(&s.plugins);
    return code;
}

const tz_command tz_command_new = {
    .name = "new",
    .examples = "  trapeze new heat\n"
                "  trapeze new waves --from own.lua\n",
    .arguments = "NAME [OPTION]…",
    .doc = "write the folder of a new plugin: C, cell text, CMake, scenario, tests",
    .help =
        "  --from SCENARIO   of the stencil that this scenario defines with tz.stencil; what it\n"
        "                    reads from its folder is copied\n"
        "  --stencil ID      which one, if it defines several\n"
        "  --set NAME=VALUE  a value for the scenario; may be repeated\n"
        "  --unsafe          give the scenario all of Lua's libraries\n"
        "  --plugins DIR     look for plugins here first; may be repeated\n"
        "  -h, --help        print this\n"
        "\n"
        "The folder NAME is made in the working folder; one that exists is left alone.\n",
    .call = new_call,
};
