/* trapeze examples: lists the scenarios that come with Trapeze, and copies them with the files that
 * they read. */
#include "cli/command.h"

#include "base/atomic.h"
#include "base/file.h"
#include "base/names.h"
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXAMPLES_MAX = 256, NAME_MAX_BYTES = 80, FILE_BYTES_MAX = 64 << 20 };

/* An example is a scenario whose first comment has a line "trapeze run NAME.lua". Others in these
 * folders measure, and say so with a path. */
typedef struct example {
    char name[NAME_MAX_BYTES]; /* "wave", "stencils/wave": the path in its folder, without ".lua" */
    char folder[PATH_MAX];
    char *text;
} example;

typedef struct examples {
    int count;
    example *items;
} examples;

static void clear(examples *list)
{
    for (int i = 0; i < list->count; i++)
        free(list->items[i].text);
    free(list->items);
}

/* ---- Finding --------------------------------------------------------------------------------- */

static bool is_example(const char *text, const char *base)
{
    char wanted[NAME_MAX_BYTES + 32];
    snprintf(wanted, sizeof wanted, "trapeze run %s.lua", base);
    for (const char *line = text; strncmp(line, "--", 2) == 0; line++) {
        const char *end = strchr(line, '\n');
        const char *found = strstr(line, wanted);
        if (!end || (found && found < end))
            return found != NULL;
        line = end;
    }
    return false;
}

/* Add FOLDER/SUB/BASE.lua if it is an example. SUB ends with "/" or is "". */
static tz_status add(examples *list, const char *folder, const char *sub, const char *file,
                     tz_error *error)
{
    const char *suffix = strrchr(file, '.');
    if (!suffix || strcmp(suffix, ".lua") != 0 || list->count == EXAMPLES_MAX)
        return TZ_OK;
    example *e = &list->items[list->count];
    char base[NAME_MAX_BYTES], path[PATH_MAX];
    size_t bytes;
    const int length = (int)(suffix - file);
    if (snprintf(base, sizeof base, "%.*s", length, file) >= (int)sizeof base ||
        snprintf(e->name, sizeof e->name, "%s%s", sub, base) >= (int)sizeof e->name ||
        snprintf(e->folder, sizeof e->folder, "%s", folder) >= (int)sizeof e->folder ||
        snprintf(path, sizeof path, "%s/%s%s", folder, sub, file) >= (int)sizeof path)
        return TZ_OK;
    const tz_status status = tz_file_read(path, FILE_BYTES_MAX, &e->text, &bytes, error);
    if (status)
        return status;
    if (is_example(e->text, base))
        list->count++;
    else
        free(e->text);
    return TZ_OK;
}

static tz_status add_folder(examples *list, const char *folder, const char *sub, tz_error *error)
{
    char path[PATH_MAX];
    tz_status status = TZ_OK;
    if (snprintf(path, sizeof path, "%s/%s", folder, sub) >= (int)sizeof path)
        return TZ_OK;
    DIR *all = opendir(path);
    const struct dirent *entry;
    while (all && !status && (entry = readdir(all)))
        status = add(list, folder, sub, entry->d_name, error);
    if (all)
        closedir(all);
    return status;
}

static int compare(const void *a, const void *b)
{
    const example *x = a, *y = b;
    const bool deep_x = strchr(x->name, '/'), deep_y = strchr(y->name, '/');
    return deep_x != deep_y ? deep_x - deep_y : strcmp(x->name, y->name);
}

static tz_status find_all(examples *list, tz_error *error)
{
    tz_paths folders = {0};
    list->items = calloc(EXAMPLES_MAX, sizeof *list->items);
    if (!list->items)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    tz_status status = tz_paths_add_data(&folders, "examples", "examples", error);
    if (!status)
        status = tz_paths_add_data(&folders, "scripts", "scripts", error);
    for (size_t i = 0; !status && i < folders.count; i++) {
        status = add_folder(list, folders.items[i], "", error);
        if (!status)
            status = add_folder(list, folders.items[i], "stencils/", error);
    }
    if (!status && list->count == 0)
        status = tz_error_set(error, TZ_IO, NULL,
                              "no examples are installed beside this program: they belong into "
                              "share/trapeze/scripts, beside bin");
    if (list->count > 1)
        qsort(list->items, (size_t)list->count, sizeof *list->items, compare);
    tz_paths_clear(&folders);
    return status;
}

/* ---- Listing --------------------------------------------------------------------------------- */

enum { NAME_COLUMNS = 18, COLUMNS = 100, DOC_BYTES = 1000 };

/* The first sentence of the first comment, its words with a blank between two. */
static void make_doc(const example *e, char doc[DOC_BYTES])
{
    size_t used = 0;
    bool ends = false;
    doc[0] = '\0';
    for (const char *c = e->text; strncmp(c, "--", 2) == 0 && !ends; c += *c == '\n') {
        c += 2;
        while (*c && *c != '\n' && !ends) {
            const int length = (int)strcspn(c, " \n");
            if (length > 0 && used + (size_t)length + 2 < DOC_BYTES)
                used += (size_t)sprintf(doc + used, "%s%.*s", used > 0 ? " " : "", length, c);
            ends = length > 0 && c[length - 1] == '.';
            c += length + (c[length] == ' ');
        }
    }
}

/* The name and what it shows, in lines of at most COLUMNS columns. */
static void print_example(const example *e)
{
    int column = printf("%-*s", NAME_COLUMNS - 1, e->name);
    char doc[DOC_BYTES];
    make_doc(e, doc);
    for (const char *c = doc; *c != '\0';) {
        const int length = (int)strcspn(c, " ");
        if (column + 1 + length > COLUMNS)
            column = printf("\n%*s", NAME_COLUMNS - 1, "") - 1;
        column += printf(" %.*s", length, c);
        c += length + (c[length] == ' ');
    }
    putchar('\n');
}

/* A row is a pair of texts. */
typedef struct listed {
    const char *name;
    char doc[DOC_BYTES];
} listed;

static int print_list(const examples *list, tz_form form)
{
    static const tz_sheet_column columns[] = {
        TZ_MEMBER("name", listed, name), TZ_MEMBER("doc", listed, doc), {.key = NULL}};
    listed *rows = calloc((size_t)list->count, sizeof *rows);
    if (!rows)
        return tz_fail_text(EXIT_FAILED, "not enough memory");
    for (int i = 0; i < list->count; i++) {
        rows[i].name = list->items[i].name;
        make_doc(&list->items[i], rows[i].doc);
    }
    const tz_sheet sheet = {
        .columns = columns, .rows = rows, .stride = sizeof *rows, .count = list->count};
    tz_print_sheet(&sheet, form);
    free(rows);
    return tz_finish_output();
}

static int list_all(const examples *list, tz_form form)
{
    if (form != TZ_FORM_TEXT)
        return print_list(list, form);
    for (int i = 0; i < list->count; i++)
        print_example(&list->items[i]);
    puts("\ntrapeze examples NAME copies one of them to this folder.");
    return tz_finish_output();
}

void tz_examples_put(const char *typed)
{
    examples list = {0};
    tz_error ignored;
    if (find_all(&list, &ignored) == TZ_OK)
        for (int i = 0; i < list.count; i++)
            if (strncmp(list.items[i].name, typed, strlen(typed)) == 0)
                puts(list.items[i].name);
    clear(&list);
}

/* ---- Copying --------------------------------------------------------------------------------- */

/* The paths of what is copied, relative to the example's folder and to the new one. */
typedef struct copying {
    const example *example;
    const char *into;
    tz_paths files;
} copying;

/* A scenario reads the files whose names it has as texts, from the folder that it is in. */
static tz_status find_files(copying *c, tz_error *error)
{
    char own[NAME_MAX_BYTES + 8], sub[NAME_MAX_BYTES] = "";
    const char *slash = strrchr(c->example->name, '/');
    if (slash)
        snprintf(sub, sizeof sub, "%.*s", (int)(slash + 1 - c->example->name), c->example->name);
    snprintf(own, sizeof own, "%s.lua", c->example->name);
    tz_status status = tz_paths_add(&c->files, own, error);
    const char *text = c->example->text;
    for (const char *quote = strchr(text, '"'); quote && !status; quote = strchr(quote, '"')) {
        char path[PATH_MAX], relative[NAME_MAX_BYTES + 256];
        struct stat facts;
        const size_t length = strcspn(quote + 1, "\"\n");
        const bool closed = quote[1 + length] == '"';
        if (closed && length > 0 && length < 200 && quote[1] != '/') {
            snprintf(relative, sizeof relative, "%s%.*s", sub, (int)length, quote + 1);
            if (!strstr(relative, "..") &&
                snprintf(path, sizeof path, "%s/%s", c->example->folder, relative) <
                    (int)sizeof path &&
                stat(path, &facts) == 0 && S_ISREG(facts.st_mode))
                status = tz_paths_add(&c->files, relative, error);
        }
        quote += closed ? length + 2 : 1 + length;
    }
    return status;
}

static tz_status join(char path[PATH_MAX], const char *folder, const char *file, tz_error *error)
{
    return snprintf(path, PATH_MAX, "%s/%s", folder, file) < PATH_MAX
               ? TZ_OK
               : tz_error_set(error, TZ_RANGE, NULL, "%.60s…: the path is too long", folder);
}

static tz_status copy_file(const copying *c, const char *file, tz_error *error)
{
    char from[PATH_MAX], to[PATH_MAX], folder[PATH_MAX], *data = NULL;
    size_t bytes;
    tz_status status = join(from, c->example->folder, file, error);
    if (!status)
        status = join(to, c->into, file, error);
    if (!status)
        status = tz_file_read(from, FILE_BYTES_MAX, &data, &bytes, error);
    if (!status) {
        tz_path_folder(to, folder, sizeof folder);
        status = tz_make_dirs(folder, error);
    }
    if (!status)
        status = tz_atomic_save(to, false, data, bytes, error);
    free(data);
    return status;
}

/* Nothing is copied over a file, and nothing at all if one is there. */
static tz_status check_free(const copying *c, tz_error *error)
{
    for (size_t i = 0; i < c->files.count; i++) {
        char path[PATH_MAX];
        struct stat facts;
        const tz_status status = join(path, c->into, c->files.items[i], error);
        if (status)
            return status;
        if (lstat(path, &facts) == 0)
            return tz_error_set(error, TZ_IO, path,
                                "exists already: --into FOLDER copies to another folder");
    }
    return TZ_OK;
}

static tz_status copy_example(const example *e, const char *into, tz_error *error)
{
    copying c = {.example = e, .into = into};
    tz_status status = find_files(&c, error);
    if (!status)
        status = check_free(&c, error);
    for (size_t i = 0; !status && i < c.files.count; i++)
        status = copy_file(&c, c.files.items[i], error);
    const bool here = strcmp(into, ".") == 0;
    if (!status)
        printf("trapeze run %s%s%s.lua\n", here ? "" : into, here ? "" : "/", e->name);
    tz_paths_clear(&c.files);
    return status;
}

static const example *find(const examples *list, const char *name)
{
    const char *names[EXAMPLES_MAX];
    char hint[160];
    for (int i = 0; i < list->count; i++) {
        names[i] = list->items[i].name;
        if (strcmp(names[i], name) == 0)
            return &list->items[i];
    }
    tz_fail_text(EXIT_FAILED, "no example '%.60s'%s", name,
                 tz_names_hint(hint, sizeof hint, name, names, (size_t)list->count));
    return NULL;
}

static int copy_all(const examples *list, int count, char **names, const char *into)
{
    tz_error error;
    const example *found[EXAMPLES_MAX];
    if (count > EXAMPLES_MAX)
        return tz_fail_text(EXIT_FAILED, "more names than examples");
    for (int i = 0; i < count; i++)
        if (!(found[i] = find(list, names[i])))
            return EXIT_FAILED;
    for (int i = 0; i < count; i++)
        if (copy_example(found[i], into, &error) != TZ_OK)
            return tz_fail(EXIT_FAILED, &error);
    return tz_finish_output();
}

static int examples_call(const tz_command *command, int argc, char **argv)
{
    const char *into = NULL;
    tz_form form = TZ_FORM_TEXT;
    const tz_option options[] = {TZ_TEXT("into", &into), TZ_FORMS(&form), {.name = NULL}};
    const int read = tz_options_read(command, argc, argv, options);
    if (read != TZ_OPTIONS_GO_ON)
        return read;
    if (into && optind == argc)
        return tz_misuse(command, "--into needs the name of an example");
    if (form != TZ_FORM_TEXT && optind < argc)
        return tz_misuse(command, "--json and --csv are for the list of examples, without names");
    examples list = {0};
    tz_error error;
    const int code = find_all(&list, &error) != TZ_OK ? tz_fail(EXIT_FAILED, &error)
                     : optind == argc
                         ? list_all(&list, form)
                         : copy_all(&list, argc - optind, argv + optind, into ? into : ".");
    clear(&list);
    return code;
}

const tz_command tz_command_examples = {
    .name = "examples",
    .examples = "  trapeze examples\n"
                "  trapeze examples grayscott --into try\n",
    .arguments = "[NAME…] [OPTION]…",
    .doc = "list the scenarios that come with Trapeze, or copy them",
    .help =
        "Without a name: lists them, each with what it shows. With names: copies these to the\n"
        "present folder, with the files that they read, and prints how to run them. A file that\n"
        "exists is never replaced.\n"
        "  --into FOLDER   copy to this folder, which is made if it is not there\n"
        "  --json, --csv   print the list as JSON or CSV\n"
        "  -h, --help      print this\n",
    .call = examples_call,
};
