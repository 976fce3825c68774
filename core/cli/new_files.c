#include "cli/new_files.h"

#include "base/atomic.h"
#include "base/paths.h"
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

/* ---- Texts ------------------------------------------------------------------------------------ */

#define FORMULA(text_)                                                                             \
    {                                                                                              \
        .text = (text_), .length = sizeof(text_) - 1                                               \
    }

const tz_definition *tz_new_definition(void)
{
    static const tz_defined_field fields[] = {
        {.name = "u", .role = TZ_STATE, .doc = "temperature of the plate"}};
    static const tz_defined_param params[] = {
        {.name = "share",
         .value = 0.2,
         .min = 0,
         .max = 0.25,
         .doc = "what a cell exchanges with a neighbour in an iteration; stable up to 0.25"}};
    static const tz_defined_update updates[] = {
        {.field = "u",
         .formula = FORMULA("u + share*(u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u)")}};
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

char *tz_new_scenario(const char *name)
{
    const char *const pairs[][2] = {{"@NAME@", name}};
    return fill(scenario_text, pairs, 1);
}

char *tz_new_scenario_from(const char *name, const char *from, const char *text,
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

/* ---- Writing ---------------------------------------------------------------------------------- */

static tz_status write_file(const char *folder, const char *name, const char *ending,
                            const char *text, tz_error *error)
{
    char path[PATH_MAX];
    tz_atomic_file *file = NULL;
    snprintf(path, sizeof path, "%s/%s%s", folder, name, ending);
    tz_status status = tz_atomic_open(&file, path, false, error);
    if (status)
        return status;
    status = tz_atomic_write(file, text, strlen(text), error);
    if (!status)
        return tz_atomic_commit(file, error);
    tz_atomic_abort(file);
    return status;
}

tz_status tz_new_write(const tz_new_files *files, tz_error *error)
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
    for (; !status && written < PARTS; written++)
        status = write_file(name, parts[written][0], parts[written][1], parts[written][2], error);
    for (int i = 0; status && i < written; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s%s", name, parts[i][0], parts[i][1]);
        unlink(path);
    }
    if (status)
        rmdir(name);
    free(cmake);
    return status;
}
