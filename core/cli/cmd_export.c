/* trapeze export: writes the arrays of a run in other formats. */
#include "cli/command.h"

#include "base/atomic.h"
#include "output/format/format.h"
#include "output/format/npy.h"
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int take_format(const tz_command *command, void *out, const char *text)
{
    char names[256];
    const tz_format *found = tz_format_find(text);
    if (!found || !found->begin)
        return tz_misuse(command, "--to needs %s, not '%.60s'", tz_format_names(names), text);
    *(const tz_format **)out = found;
    return EXIT_DONE;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* DIR/NAME.npy becomes NAME.csv in `into` or, if that is NULL, in DIR. */
static int export_file(const char *from, const char *into, const tz_format *to)
{
    char folder[PATH_MAX], path[PATH_MAX + 300], name[256], data[256];
    const char *slash = strrchr(from, '/'), *base = slash ? slash + 1 : from;
    tz_array *array = NULL;
    tz_error error;
    const size_t length = strlen(base) - strlen(tz_format_find("npy")->suffix);
    if (length >= sizeof name)
        return tz_fail_text(EXIT_FAILED, "%.60s…: the name is too long", base);
    memcpy(name, base, length);
    name[length] = '\0';
    tz_path_folder(from, folder, sizeof folder);
    if (snprintf(path, sizeof path, "%s/%s%s", into ? into : folder, name,
                 tz_format_ending(to, TZ_TO_SAVE)) >= PATH_MAX)
        return tz_fail_text(EXIT_FAILED, "%.60s…: the path is too long", path);
    tz_status status = tz_npy_read(from, &array, &error);
    if (status == TZ_OK)
        status = tz_format_save(to, path, array, name, NULL, data, &error);
    tz_array_destroy(array);
    if (status != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    puts(path);
    return EXIT_DONE;
}

static bool is_array(const char *name)
{
    const char *end = strrchr(name, '.');
    return name[0] != '.' && end && strcmp(end, tz_format_find("npy")->suffix) == 0;
}

static int keep_arrays(const struct dirent *entry)
{
    return is_array(entry->d_name);
}

static int export_folder(const char *folder, const char *into, const tz_format *to)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, keep_arrays, alphasort);
    int code = EXIT_DONE;
    if (count < 0)
        return tz_fail_text(EXIT_FAILED, "%s: cannot be read", folder);
    if (count == 0)
        code =
            tz_fail_text(EXIT_FAILED,
                         "%s has no .npy files, so there is nothing to export: a scenario writes "
                         "them with sim:every(n, tz.npy()) or sim:write(tz.npy())",
                         folder);
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX + 300];
        if (code == EXIT_DONE && snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name))
            code = export_file(path, into, to);
        free(entries[i]);
    }
    free(entries);
    return code;
}

static int export_call(const tz_command *command, int argc, char **argv)
{
    const tz_format *to = NULL;
    const char *into = NULL;
    char names[256];
    struct stat facts;
    tz_error error;
    const tz_option options[] = {
        TZ_CALL("to", (void *)&to, take_format), TZ_TEXT("into", &into), {.name = NULL}};
    const int code = tz_options_read(command, argc, argv, options);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (optind == argc)
        return tz_misuse(command, "needs the folder of a run, or a .npy file of one");
    if (optind + 1 != argc)
        return tz_misuse(command, "takes one folder or file, not '%.60s' too", argv[optind + 1]);
    if (!to)
        return tz_misuse(command, "needs --to %s", tz_format_names(names));
    const char *from = argv[optind];
    const bool folder = stat(from, &facts) == 0 && S_ISDIR(facts.st_mode);
    if (strlen(from) >= PATH_MAX || (into && (!into[0] || strlen(into) >= PATH_MAX)))
        return tz_fail_text(EXIT_FAILED, "%.60s…: the path is empty or too long",
                            into ? into : from);
    if (!folder && !is_array(from))
        return tz_fail_text(EXIT_FAILED, "%.300s: is neither a folder nor a .npy file", from);
    if (into && tz_make_dirs(into, &error) != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    const int done = folder ? export_folder(from, into, to) : export_file(from, into, to);
    return done == EXIT_DONE ? tz_finish_output() : done;
}

const tz_command tz_command_export = {
    .name = "export",
    .arguments = "RUNDIR|FILE.npy --to FORMAT [OPTION]…",
    .doc = "write the arrays of a run in another format",
    .help =
        "Writes each .npy file of a run, or one, in another format beside it. Files that "
        "are\n"
        "there already are not replaced.\n"
        "  --to csv     numbers with commas: a line for each row along x, a blank line between\n"
        "               planes; they read back as the same values\n"
        "  --to vti     VTK's image data, for ParaView: cells of width 1, the same bits\n"
        "  --to NAME    any other format of array:save, as `trapeze manual` lists them\n"
        "  --into DIR   write into this folder\n"
        "  -h, --help   print this\n",
    .call = export_call,
};
