/* trapeze info: shows what a frame, an array or a run holds. */
#include "cli/options.h"

#include "cli/print_run.h"
#include "output/folder.h"
#include "output/format/format.h"
#include <string.h>
#include <sys/stat.h>

/* ---- A run ----------------------------------------------------------------------------------- */

/* What there is of a run that was killed or has stopped, and how to go on with it. */
static void print_checkpoint(const char *folder, bool killed)
{
    tz_checkpoint_reader *reader = NULL;
    tz_error error = {0};
    if (tz_checkpoints_newest(&reader, folder, &error) != TZ_OK) {
        if (killed)
            printf("  %-12s %s\n", "checkpoint",
                   error.code == TZ_IO ? "none: the figures below are from its beginning; begin it "
                                         "again with trapeze run"
                                       : error.message);
        return;
    }
    const json_t *facts = tz_checkpoint_facts(reader), *entry;
    size_t i;
    printf("  %-12s number %" JSON_INTEGER_FORMAT " of %s", "checkpoint",
           json_integer_value(json_object_get(facts, "number")), tz_json_text(facts, "written"));
    json_array_foreach(json_object_get(facts, "simulations"), i, entry)
    {
        printf(", %s at step %" JSON_INTEGER_FORMAT, tz_json_text(entry, "name"),
               json_integer_value(json_object_get(json_object_get(entry, "progress"), "step")));
    }
    printf("; the figures below are those of it\n  %-12s trapeze resume %s\n", "to go on", folder);
    tz_checkpoint_close(reader);
}

/* An option, or the beginning of its name, which is enough for getopt_long(), with or without a value. */
static bool is_option(const char *text, const char *name)
{
    const size_t length = strcspn(text, "=");
    return length > 3 && strncmp(text, name, length) == 0;
}

/* What the run was allowed: resume asks for it again. */
static void print_rights(const json_t *arguments)
{
    const json_t *item;
    size_t i;
    bool is_value = false;
    json_array_foreach(arguments, i, item)
    {
        const char *const text = json_is_string(item) ? json_string_value(item) : "";
        const bool plugins = !is_value && is_option(text, "--plugins");
        if (is_value || is_option(text, "--unsafe") || (plugins && strchr(text, '=')))
            printf("  %-12s %s%s\n", "allowed", is_value ? "--plugins " : "", text);
        is_value = plugins && !strchr(text, '=');
    }
}

static int info_run(const char *folder)
{
    json_t *root = tz_run_load(folder);
    if (!root)
        return EXIT_FAILED;
    const bool in_use = tz_folder_is_in_use(folder);
    const bool killed = strcmp(tz_json_text(root, "status"), "running") == 0 && !in_use;
    const json_t *failure = json_object_get(root, "error");
    const json_t *machine = json_object_get(root, "machine");
    printf("%s\n  %-12s %s\n  %-12s %s\n", folder, "scenario", tz_json_text(root, "scenario"),
           "status", killed ? "killed" : tz_json_text(root, "status"));
    print_rights(json_object_get(root, "arguments"));
    if (json_is_string(failure))
        printf("  %-12s %s\n", "error", json_string_value(failure));
    printf("  %-12s %s\n  %-12s %s, %s\n", "trapeze", tz_json_text(root, "trapeze"), "machine",
           tz_json_text(machine, "cpu"), tz_json_text(machine, "isa"));
    if (!in_use)
        print_checkpoint(folder, killed);
    tz_print_run(stdout, root);
    json_decref(root);
    return tz_finish_output();
}

/* ---- The command ----------------------------------------------------------------------------- */

static int info_call(const tz_command *command, int argc, char **argv)
{
    static const tz_option none[] = {{.name = NULL}};
    const int code = tz_options_read(command, argc, argv, none);
    struct stat facts;
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (optind == argc)
        return tz_misuse(command, "needs a frame, an array or a run folder");
    if (optind + 1 != argc)
        return tz_misuse(command, "takes one file or folder, not '%.60s' too", argv[optind + 1]);
    const char *path = argv[optind];
    if (stat(path, &facts) != 0)
        return tz_fail_text(EXIT_FAILED, "%s: there is no such file or folder", path);
    if (S_ISDIR(facts.st_mode))
        return info_run(path);
    const tz_format *format = tz_format_of_file(path, TZ_TO_SHOW);
    char endings[256];
    tz_error error;
    if (!format)
        return tz_fail_text(EXIT_FAILED, "%s: needs a %s file or the folder of a run", path,
                            tz_format_endings(TZ_TO_SHOW, 0, endings));
    return format->info(path, stdout, &error) == TZ_OK ? tz_finish_output()
                                                       : tz_fail(EXIT_FAILED, &error);
}

const tz_command tz_command_info = {
    .name = "info",
    .arguments = "FRAME.png|ARRAY.npy|RUNDIR",
    .doc = "show what a frame, an array or a run holds",
    .help = "  -h, --help   print this\n",
    .call = info_call,
};
