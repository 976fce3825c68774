/* trapeze info: shows what a frame, an array or a run holds. */
#include "cli/command.h"

#include "output/folder.h"
#include "output/format/format.h"
#include <string.h>
#include <sys/stat.h>

/* ---- A run ----------------------------------------------------------------------------------- */

enum { NAME_WIDTH = 12 };

/* What there is of a run that was killed or has stopped, and how to go on with it. */
static void put_checkpoint(tz_facts *facts, const char *folder, bool killed, bool done)
{
    tz_checkpoint_reader *reader = NULL;
    tz_error error = {0};
    if (tz_checkpoints_newest(&reader, folder, &error) != TZ_OK) {
        if (killed)
            tz_fact_text(facts, "checkpoint", "%s",
                         error.code == TZ_IO
                             ? "none: the figures below are from its beginning; begin it "
                               "again with trapeze run"
                             : error.message);
        return;
    }
    const json_t *checkpoint = tz_checkpoint_facts(reader), *entry;
    size_t i;
    FILE *out = tz_fact(facts, "checkpoint");
    fprintf(out, "number %lld of %s", tz_json_int(checkpoint, "number"),
            tz_json_text(checkpoint, "written"));
    json_array_foreach(json_object_get(checkpoint, "simulations"), i, entry)
    {
        fprintf(out, ", %s at step %lld", tz_json_text(entry, "name"),
                tz_json_int(json_object_get(entry, "progress"), "step"));
    }
    if (!done)
        fprintf(out, "; the figures below are those of it");
    tz_fact_text(facts, "to go on", "trapeze resume %s%s", folder,
                 done ? " --until \"TIME\" or STEP" : "");
    if (done)
        tz_fact_text(facts, NULL, "trapeze run SCRIPT --from %s", folder);
    tz_checkpoint_close(reader);
}

/* An option, or the beginning of its name, which is enough for getopt_long(), with or without a
 * value. */
static bool is_option(const char *text, const char *name)
{
    const size_t length = strcspn(text, "=");
    return length > 3 && strncmp(text, name, length) == 0;
}

/* What the run was allowed: resume asks for it again. */
static void put_rights(tz_facts *facts, const json_t *arguments)
{
    const json_t *item;
    size_t i;
    bool is_value = false;
    json_array_foreach(arguments, i, item)
    {
        const char *const text = json_is_string(item) ? json_string_value(item) : "";
        const bool plugins = !is_value && is_option(text, "--plugins");
        if (is_value || is_option(text, "--unsafe") || (plugins && strchr(text, '=')))
            tz_fact_text(facts, "allowed", "%s%s", is_value ? "--plugins " : "", text);
        is_value = plugins && !strchr(text, '=');
    }
}

static int info_run(tz_facts *facts, const char *folder)
{
    json_t *root = tz_run_load(folder);
    if (!root)
        return EXIT_FAILED;
    const bool in_use = tz_folder_is_in_use(folder);
    const bool killed = strcmp(tz_json_text(root, "status"), "running") == 0 && !in_use;
    const char *status = tz_json_text(root, "status");
    const bool done = strcmp(status, "done") == 0 || strcmp(status, "stagnated") == 0;
    const json_t *failure = json_object_get(root, "error");
    const json_t *machine = json_object_get(root, "machine");
    tz_facts_part(facts, 0, "%s", folder);
    facts->width = NAME_WIDTH;
    tz_fact_text(facts, "scenario", "%s", tz_json_text(root, "scenario"));
    tz_fact_text(facts, "status", "%s", killed ? "killed" : status);
    put_rights(facts, json_object_get(root, "arguments"));
    if (json_is_string(failure))
        tz_fact_text(facts, "error", "%s", json_string_value(failure));
    tz_fact_text(facts, "trapeze", "%s", tz_json_text(root, "trapeze"));
    tz_fact_text(facts, "machine", "%s, %s", tz_json_text(machine, "cpu"),
                 tz_json_text(machine, "isa"));
    if (!in_use)
        put_checkpoint(facts, folder, killed, done);
    tz_print_run(facts, root);
    json_decref(root);
    return EXIT_DONE;
}

/* A file by its format. */
static int info_file(tz_facts *facts, const char *path)
{
    const tz_format *format = tz_format_of_file(path, TZ_TO_SHOW);
    char endings[256];
    tz_error error;
    if (!format)
        return tz_fail_text(EXIT_FAILED, "%s: needs a %s file or the folder of a run", path,
                            tz_format_endings(TZ_TO_SHOW, 0, endings));
    facts->width = NAME_WIDTH;
    return format->info(path, facts, &error) == TZ_OK ? EXIT_DONE : tz_fail(EXIT_FAILED, &error);
}

/* ---- The command ----------------------------------------------------------------------------- */

static int info_call(const tz_command *command, int argc, char **argv)
{
    tz_form form = TZ_FORM_TEXT;
    const tz_option options[] = {TZ_FORMS(&form), {.name = NULL}};
    int code = tz_options_read(command, argc, argv, options);
    struct stat found;
    tz_facts facts;
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (optind == argc)
        return tz_misuse(command, "needs a frame, an array or a run folder");
    if (optind + 1 != argc)
        return tz_misuse(command, "takes one file or folder, not '%.60s' too", argv[optind + 1]);
    const char *path = argv[optind];
    if (stat(path, &found) != 0)
        return tz_fail_text(EXIT_FAILED, "%s: there is no such file or folder", path);
    if (!tz_facts_begin(&facts, form, stdout))
        return EXIT_FAILED;
    code = S_ISDIR(found.st_mode) ? info_run(&facts, path) : info_file(&facts, path);
    if (code == EXIT_DONE)
        tz_facts_end(&facts);
    else
        tz_facts_drop(&facts);
    return code == EXIT_DONE ? tz_finish_output() : code;
}

const tz_command tz_command_info = {
    .name = "info",
    .arguments = "FRAME.png|ARRAY.npy|RUNDIR [OPTION]…",
    .doc = "show what a frame, an array or a run holds",
    .help = "  --json, --csv   print JSON or CSV: the part, name and text of each line\n"
            "  -h, --help      print this\n",
    .call = info_call,
};
