/* Opens the module in a bare Lua state and prints its table of functions as Markdown. Called by
 * core/cli/cmd_manual.c for `trapeze manual`. */
#include "lua/script.h"

#include "base/names.h"
#include "lua/api.h"
#include "lua/context.h"
#include "lua/look.h"
#include "lua/module.h"
#include "lua/policy.h"
#include "lua/problem.h"
#include "output/format/format.h"
#include "output/frame/colormap.h"
#include "output/output.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* The objects that have functions, in the order of the page. */
static const struct {
    const char *prefix, *title, *doc;
} objects[] = {
    {"tz.", "The module",
     "`local tz = require \"trapeze\"`. `tz.version` is a text. `tz.checking` is true under "
     "`trapeze run --check`. `tz.args.NAME` is the value of `--set NAME=VALUE`, or nil."},
    {"sim:", "Simulations", "What `tz.simulation` returns."},
    {"receivers:", "Receivers", "What `sim:receivers` returns. [points.md](points.md)"},
    {"array:", "Arrays", "What `tz.array`, `tz.read`, `sim:array` and `sim:slabs` return."},
    {"stencil:", "Stencils",
     "What `tz.stencil` returns. `id`, `doc`, `dims`, and the lists `fields` and `params` of names "
     "can be read."},
    {"floorplan:", "Floorplans", "What `tz.floorplan` returns."},
};
enum { OBJECTS = sizeof objects / sizeof *objects };

/* Lists of keys that several functions have: sections of the page, which functions name. */
static const struct {
    const tz_key *keys;
    const char *title, *anchor, *doc;
} shared[] = {
    {tz_look_options, "Keys of pictures", "keys-of-pictures", "What a picture shows, and how."},
    {tz_problem_options, "Keys of problems", "keys-of-problems", "A stencil on a grid."},
    {tz_workload_options, "Keys of workloads", "keys-of-workloads",
     "A problem, a device, and which of its plans count."},
    {tz_plan_options, "Keys of plans", "keys-of-plans", "How a run is executed."},
    {tz_knob_options, "Knobs", "knobs", "Further numbers of a plan."},
};
enum { SHARED = sizeof shared / sizeof *shared };

/* The place of a list in `shared`; -1 if it is not there. */
static int shared_at(const tz_key *keys)
{
    for (int i = 0; i < SHARED; i++)
        if (keys && shared[i].keys == keys)
            return i;
    return -1;
}

static bool is_of(const char *signature, int object)
{
    return strncmp(signature, objects[object].prefix, strlen(objects[object].prefix)) == 0;
}

/* Text in a cell of a table. */
static void put_cell(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            fputc('\\', out);
        fputc(*text, out);
    }
}

/* Limits of a key, as a phrase. */
static void put_limits(FILE *out, const tz_key *key)
{
    if (key->least < key->most)
        fprintf(out, isinf(key->most) ? ", from %.9g" : ", %.9g to %.9g", key->least, key->most);
}

/* The doc of a key, with its names in place of "%s". */
static void put_doc(FILE *out, const tz_key *key)
{
    const char *place = key->names ? strstr(key->doc, "%s") : NULL;
    if (!place) {
        fputs(key->doc, out);
        return;
    }
    fprintf(out, "%.*s", (int)(place - key->doc), key->doc);
    for (int i = 0; key->names(i); i++)
        fprintf(out, "%s`\"%s\"`", i == 0 ? "" : key->names(i + 1) ? ", " : " or ", key->names(i));
    fputs(place + 2, out);
}

/* A line of the list: its name, type, default, and what it means. */
static void put_key(FILE *out, const tz_key *key, bool options)
{
    fprintf(out, "- `%s` (%s", key->key, key->type);
    put_limits(out, key);
    if (options && !key->otherwise)
        fprintf(out, "; required");
    else if (options && *key->otherwise)
        fprintf(out, "; default %s", key->otherwise);
    fprintf(out, *key->doc ? "): " : ")");
    put_doc(out, key);
    fprintf(out, "\n");
}

/* The rows of a list. On the page a shared list within it is a row that names its section. */
static void put_rows(FILE *out, const tz_key *keys, bool options, bool page)
{
    for (const tz_key *o = keys; o->key || o->all; o++) {
        const int at = page ? shared_at(o->all) : -1;
        if (at >= 0)
            fprintf(out, "- … all [%s](#%s)\n", shared[at].title, shared[at].anchor);
        else if (o->all)
            put_rows(out, o->all, options, page);
        else
            put_key(out, o, options);
    }
}

static void put_inner(FILE *out, const tz_key *keys, bool page)
{
    for (const tz_key *o = keys; o->key || o->all; o++) {
        if (o->all && !(page && shared_at(o->all) >= 0))
            put_inner(out, o->all, page);
        if (!o->inner)
            continue;
        fprintf(out, "\nA table in `%s`:\n\n", o->key);
        put_rows(out, o->inner, true, page);
    }
}

static void put_options(FILE *out, const tz_key *keys, bool page)
{
    fprintf(out, "\n");
    put_rows(out, keys, true, page);
    put_inner(out, keys, page);
}

static tz_status check_options(const char *signature, const tz_key *options, tz_error *error)
{
    const tz_key *o;
    for (size_t i = 0; options && (o = tz_key_at(options, i)); i++)
        if (!o->type || !o->doc)
            return tz_error_set(error, TZ_FORMAT, "manual", "%s: '%s' has no type or doc",
                                signature, o->key);
    return TZ_OK;
}

static tz_status check(const tz_api_function *const *rows, tz_error *error)
{
    for (; *rows; rows++) {
        const char *signature = (*rows)->signature;
        bool known = false;
        for (int k = 0; k < OBJECTS; k++)
            known = known || is_of(signature, k);
        if (!(*rows)->doc || !known)
            return tz_error_set(error, TZ_FORMAT, "manual", "%s has no %s", signature,
                                known ? "doc" : "section");
        const tz_status status = check_options(signature, (*rows)->options, error);
        if (status || check_options(signature, (*rows)->result, error))
            return TZ_FORMAT;
    }
    return TZ_OK;
}

/* `before`: a function of the page that has the same options, or NULL. */
static void put_function(FILE *out, const tz_api_function *f, const tz_api_function *before,
                         bool page)
{
    fprintf(out, "### `%s`\n\n%s\n", f->signature, f->doc);
    const int at = page ? shared_at(f->options) : -1;
    if (at >= 0)
        fprintf(out, "\nOptions: all [%s](#%s).\n", shared[at].title, shared[at].anchor);
    else if (before)
        fprintf(out, "\nOptions: those of `%.*s`.\n", (int)strcspn(before->signature, "("),
                before->signature);
    else if (f->options)
        put_options(out, f->options, page);
    if (f->result) {
        fprintf(out, "\nReturns a table:\n\n");
        put_rows(out, f->result, false, page);
    }
}

/* "movie" of "tz.movie". */
static const char *last_part(const char *name)
{
    const size_t before = strcspn(name, ".:");
    return name[before] ? name + before + 1 : name;
}

/* The function of that name, or all whose names end so. */
static tz_status put_named(FILE *out, const tz_api_function *const *rows, const char *name,
                           tz_error *error)
{
    enum { MOST = 160 };
    char texts[MOST][32], hint[512];
    const char *names[MOST], *parts[MOST];
    size_t n = 0;
    bool found = false;
    for (; rows[n] && n < MOST; n++) {
        const int length = (int)strcspn(rows[n]->signature, "(");
        snprintf(texts[n], sizeof texts[n], "%.*s", length, rows[n]->signature);
        names[n] = texts[n];
        parts[n] = last_part(names[n]);
        if (strcmp(name, names[n]) != 0 && strcmp(name, parts[n]) != 0)
            continue;
        put_function(out, rows[n], NULL, false);
        found = true;
    }
    if (found)
        return TZ_OK;
    const char *near = tz_names_nearest(name, names, n);
    const char *part = near ? NULL : tz_names_nearest(last_part(name), parts, n);
    for (size_t i = 0; i < n && part && !near; i++)
        near = parts[i] == part ? names[i] : NULL;
    if (near)
        snprintf(hint, sizeof hint, "; did you mean '%s'?", near);
    else
        snprintf(hint, sizeof hint, "; trapeze manual prints all of them");
    return tz_error_set(error, TZ_UNKNOWN, "manual", "there is no function '%.60s'%s", name, hint);
}

static void put_functions(FILE *out, const tz_api_function *const *rows)
{
    for (int k = 0; k < OBJECTS; k++) {
        fprintf(out, "\n## %s\n\n%s\n", objects[k].title, objects[k].doc);
        for (const tz_api_function *const *row = rows; *row; row++) {
            const tz_api_function *f = *row;
            if (!is_of(f->signature, k))
                continue;
            fprintf(out, "\n");
            const tz_api_function *const *before = rows;
            while (before < row && (!f->options || (*before)->options != f->options))
                before++;
            put_function(out, f, before < row ? *before : NULL, true);
        }
    }
    for (int i = 0; i < SHARED; i++) {
        fprintf(out, "\n## %s\n\n%s\n", shared[i].title, shared[i].doc);
        put_options(out, shared[i].keys, true);
    }
}

static void put_words(FILE *out, const char *title, const char *doc, const tz_output_word *words)
{
    fprintf(out, "\n## %s\n\n%s\n\n| word | |\n|---|---|\n", title, doc);
    for (; words->name; words++) {
        fprintf(out, "| `%s` | ", words->name);
        put_cell(out, words->doc);
        fprintf(out, " |\n");
    }
}

/* A row for each format: what writes and reads its files. */
static void put_formats(FILE *out)
{
    fprintf(out,
            "\n## Formats\n\n`array:save` takes the format from the end of a name, "
            "`trapeze export --to` its name. `tz.read` goes by the end of a name, or by the first "
            "bytes.\n\n| files | output | saved array | `export --to` | read as |\n"
            "|---|---|---|---|---|\n");
    for (const tz_format *const *row = tz_formats; *row; row++) {
        const tz_format *f = *row;
        const char *saved = tz_format_ending(f, TZ_TO_SAVE);
        const bool output = f->content != TZ_CONTENT_NONE && (f->doc || !saved);
        fprintf(out, "| `%s`", f->suffix);
        if (f->list_suffix)
            fprintf(out, ", with a list `%s`", f->list_suffix);
        if (f->vectors)
            fputs(" | `tz.picture`, `tz.plot` |", out);
        else
            fprintf(out, output ? " | `tz.%s` |" : " | |", f->name);
        fprintf(out, saved ? " `NAME%s` | `%s` |" : " | |", saved, f->name);
        fprintf(out, f->read_doc ? " %s |\n" : " |\n", f->read_doc);
    }
}

static void put_page(FILE *out, const tz_api_function *const *rows)
{
    fprintf(
        out,
        "# Scenarios: reference\n\n"
        "Every function, option, column and placeholder. `trapeze manual` prints this page from "
        "the tables\nof the program. README.md and the scenarios in `scripts/` are the place to "
        "begin.\n\n"
        "Functions refuse arguments, keys and types that they do not know. Arguments in "
        "brackets may be left out.\nA table of options is read as it is: metatables are "
        "refused. Coordinates count from 0, x first; boxes are half open. Limits behind a "
        "type include both ends, and are those of the number, of each number of a list, or of how "
        "many a list holds.\n\nA line with `…` stands for all keys of the section that it names. "
        "`trapeze manual tz.png` prints one function with all of its keys.\n");
    put_functions(out, rows);
    put_words(out, "Columns", "Titles in the list of `tz.table`.", tz_column_words);
    put_words(out, "Captions",
              "Placeholders in `caption`, in braces: `{step}`. `{{` is a brace. They are filled in "
              "also where a function made the text: "
              "`caption = function(sim) return (\"{time}, %.1f K\"):format(sim:max()) end`.",
              tz_caption_words);
    put_formats(out);
    fprintf(out, "\n## Colour maps\n\n");
    const char *name;
    for (int i = 0; (name = tz_colormap_name(i)); i++)
        fprintf(out, "%s`%s`", i > 0 ? ", " : "", name);
    fprintf(out, "; each also reversed, with `_r` behind its name.");
    for (int i = 0; (name = tz_colormap_name(i)); i++)
        if (tz_colormap_doc(i))
            fprintf(out, " `%s` %s.", name, tz_colormap_doc(i));
    fprintf(out, " `colours` makes any other map.\n");
}

/* Opens the module. Protected: it may raise for lack of memory. */
static int open_module(lua_State *L)
{
    return tz_module_open(L);
}

tz_status tz_manual_write(FILE *out, const char *name, tz_error *error)
{
    const tz_script_options options = {.path = ""};
    tz_context context = {.options = &options};
    lua_State *L = luaL_newstate();
    if (!L)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a Lua state");
    *(tz_context **)lua_getextraspace(L) = &context;
    tz_status status = TZ_OK;
    lua_pushcfunction(L, open_module);
    if (lua_pcall(L, 0, 0, 0) != LUA_OK)
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the module");
    if (!status)
        status = check(tz_api_rows(L), error);
    if (!status && name)
        status = put_named(out, tz_api_rows(L), name, error);
    else if (!status)
        put_page(out, tz_api_rows(L));
    lua_close(L);
    return status;
}
