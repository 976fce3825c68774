/* trapeze export: writes the arrays of a run in other formats. */
#include "cli/options.h"

#include "base/atomic.h"
#include "output/format/npy.h"
#include "output/format/number.h"
#include "output/format/vti.h"
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Formats --------------------------------------------------------------------------------- */

/* A line for each row along x; a blank line between two planes. */
static tz_status write_csv(const tz_array *array, const char *path, const char *name,
                           tz_error *error)
{
    (void)name;
    tz_atomic_file *file = NULL;
    tz_status status = tz_atomic_open(&file, path, false, error);
    if (status != TZ_OK)
        return status;
    FILE *out = tz_atomic_stream(file);
    const int64_t count = tz_shape_count(array->dims, array->shape);
    const int64_t nx = array->shape[0], plane = nx * array->shape[1];
    const bool real = array->dtype == TZ_DTYPE_F32 || array->dtype == TZ_DTYPE_F64;
    for (int64_t i = 0; i < count; i++) {
        char text[TZ_NUMBER_SIZE];
        int64_t integer;
        if (i > 0)
            fputs(i % plane == 0 ? "\n\n" : i % nx == 0 ? "\n" : ",", out);
        if (array->dtype == TZ_DTYPE_U64)
            fprintf(out, "%llu", ((const unsigned long long *)array->data)[i]);
        else if (!real && tz_array_get_integer(array, i, &integer))
            fprintf(out, "%lld", (long long)integer);
        else {
            const double value = tz_array_get(array, i);
            fputs(value == value ? tz_number_format(text, value) : "nan", out);
        }
    }
    fputc('\n', out);
    return tz_atomic_commit(file, error);
}

static tz_status write_vti(const tz_array *array, const char *path, const char *name,
                           tz_error *error)
{
    tz_grid_file *file = NULL;
    const tz_grid_field field = {.name = name, .dtype = array->dtype};
    tz_grid grid = tz_grid_of(array->dims, array->shape);
    grid.fields_count = 1;
    grid.fields = &field;
    tz_status status = tz_vti_begin(&file, path, &grid, error);
    if (status == TZ_OK)
        status = tz_grid_file_write(file, 0, array->data, tz_shape_count(array->dims, array->shape),
                                    error);
    if (status == TZ_OK)
        return tz_grid_file_commit(file, error);
    tz_grid_file_abort(file);
    return status;
}

typedef struct format {
    const char *name;
    tz_status (*write)(const tz_array *array, const char *path, const char *name, tz_error *error);
} format;
static const format formats[] = {{"csv", write_csv}, {"vti", write_vti}};

static int take_format(const tz_command *command, void *out, const char *text)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, text) == 0) {
            *(const format **)out = &formats[i];
            return EXIT_DONE;
        }
    return tz_misuse(command, "--to needs csv or vti, not '%.60s'", text);
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* DIR/NAME.npy becomes NAME.csv in `into` or, if that is NULL, in DIR. */
static int export_file(const char *from, const char *into, const format *to)
{
    char folder[PATH_MAX], path[PATH_MAX + 300], name[256];
    const char *slash = strrchr(from, '/'), *base = slash ? slash + 1 : from;
    tz_array *array = NULL;
    tz_error error;
    const size_t length = strlen(base) - strlen(".npy");
    if (length >= sizeof name)
        return tz_fail_text(EXIT_FAILED, "%.60s…: the name is too long", base);
    memcpy(name, base, length);
    name[length] = '\0';
    tz_path_folder(from, folder, sizeof folder);
    if (snprintf(path, sizeof path, "%s/%s.%s", into ? into : folder, name, to->name) >= PATH_MAX)
        return tz_fail_text(EXIT_FAILED, "%.60s…: the path is too long", path);
    tz_status status = tz_npy_read(from, &array, &error);
    if (status == TZ_OK)
        status = to->write(array, path, name, &error);
    tz_array_destroy(array);
    if (status != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    puts(path);
    return EXIT_DONE;
}

static bool is_array(const char *name)
{
    const size_t length = strlen(name);
    return name[0] != '.' && length > 4 && strcmp(name + length - 4, ".npy") == 0;
}

static int keep_arrays(const struct dirent *entry)
{
    return is_array(entry->d_name);
}

static int export_folder(const char *folder, const char *into, const format *to)
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
    const format *to = NULL;
    const char *into = NULL;
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
        return tz_misuse(command, "needs --to csv or --to vti");
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
        "Writes each .npy file of a run, or one, as NAME.csv or NAME.vti beside it. Files that "
        "are\n"
        "there already are not replaced.\n"
        "  --to csv     numbers with commas: a line for each row along x, a blank line between\n"
        "               planes; they read back as the same values\n"
        "  --to vti     VTK's image data, for ParaView: cells of width 1, the same bits\n"
        "  --into DIR   write into this folder\n"
        "  -h, --help   print this\n",
    .call = export_call,
};
