/* trapeze info, report and compare: show what a frame, an array, a run, a sweep or several runs
 * hold. */
#include "cli/command.h"

#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "output/folder.h"
#include "output/format/format.h"
#include "output/report/report.h"
#include "output/run_record.h"
#include "output/sweep/sheet.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
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

/* The facts of a sweep; NULL: the folder is none. */
static json_t *load_sweep(const char *folder)
{
    char path[PATH_MAX], *text = NULL;
    size_t bytes = 0;
    json_t *root = NULL;
    snprintf(path, sizeof path, "%s/" TZ_SWEEP_FACTS, folder);
    if (tz_file_read(path, 64 << 20, &text, &bytes, NULL) == TZ_OK &&
        tz_json_read(path, text, bytes, &root, NULL) != TZ_OK)
        root = NULL;
    free(text);
    return root;
}

/* Its axes and their values as those of a grid. False: they are none. */
static bool read_grid(const json_t *sweep, tz_sweep_grid *grid)
{
    const char *name;
    json_t *values;
    tz_error error;
    bool good = true;
    json_object_foreach(json_object_get(sweep, "parameters"), name, values)
    {
        const char **texts = calloc(json_array_size(values) + 1, sizeof *texts);
        for (size_t i = 0; texts && i < json_array_size(values); i++)
            texts[i] = json_string_value(json_array_get(values, i));
        good = good && texts &&
               tz_sweep_grid_add(grid, name, texts, json_array_size(values), &error) == TZ_OK;
        free(texts);
    }
    return good;
}

static int info_sweep(tz_facts *facts, const char *folder, const json_t *sweep)
{
    tz_sweep_grid grid = {.count = 0};
    const bool good = read_grid(sweep, &grid);
    const size_t count = good ? tz_sweep_grid_points(&grid) : 0;
    tz_facts_part(facts, 0, "%s: a sweep of %zu runs", folder, count);
    facts->width = NAME_WIDTH;
    for (size_t i = 0; i < grid.count; i++) {
        FILE *out = tz_fact(facts, grid.axes[i].name);
        for (size_t k = 0; k < grid.axes[i].values.count; k++)
            fprintf(out, "%s%s", k ? ", " : "", grid.axes[i].values.items[k]);
    }
    tz_fact_text(facts, "page", "%s/" TZ_SWEEP_SHEET, folder);
    tz_fact_text(facts, "figures", "%s/" TZ_SWEEP_TABLE, folder);
    for (size_t point = 0; point < count; point++) {
        char name[TZ_SWEEP_POINT_SIZE], path[PATH_MAX], status[32];
        tz_sweep_grid_name(&grid, point, name);
        snprintf(path, sizeof path, "%s/%s", folder, name);
        tz_sweep_status(path, status, sizeof status);
        tz_fact_text(facts, point == 0 ? "runs" : NULL, "%s: %s", name,
                     status[0] ? status : "not run");
    }
    tz_sweep_grid_clear(&grid);
    return good ? EXIT_DONE
                : tz_fail_text(EXIT_FAILED, "%s/" TZ_SWEEP_FACTS ": is damaged", folder);
}

/* A run, or a sweep. */
static int info_folder(tz_facts *facts, const char *folder)
{
    json_t *sweep = load_sweep(folder);
    const int code = sweep ? info_sweep(facts, folder, sweep) : info_run(facts, folder);
    json_decref(sweep);
    return code;
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
        return tz_misuse(command, "needs a frame, an array or the folder of a run or sweep");
    if (optind + 1 != argc)
        return tz_misuse(command, "takes one file or folder, not '%.60s' too", argv[optind + 1]);
    const char *path = argv[optind];
    if (stat(path, &found) != 0)
        return tz_fail_text(EXIT_FAILED, "%s: there is no such file or folder", path);
    if (!tz_facts_begin(&facts, form, stdout))
        return EXIT_FAILED;
    code = S_ISDIR(found.st_mode) ? info_folder(&facts, path) : info_file(&facts, path);
    if (code == EXIT_DONE)
        tz_facts_end(&facts);
    else
        tz_facts_drop(&facts);
    return code == EXIT_DONE ? tz_finish_output() : code;
}

const tz_command tz_command_info = {
    .name = "info",
    .examples = "  trapeze info runs/chip-001\n"
                "  trapeze info runs/chip-001/temperature-000100.png\n",
    .arguments = "FRAME.png|ARRAY.npy|RUNDIR|SWEEPDIR [OPTION]…",
    .doc = "show what a frame, an array, a run or a sweep holds",
    .help = "  --json, --csv   print JSON or CSV: the part, name and text of each line\n"
            "  -h, --help      print this\n",
    .call = info_call,
};

/* ---- trapeze report -------------------------------------------------------------------------- */

static int write_report(const char *folder, const char *output, int pictures_mib)
{
    char path[PATH_MAX];
    tz_paths notes = {0};
    tz_error error;
    if (snprintf(path, sizeof path, "%s/" TZ_REPORT_NAME, folder) >= (int)sizeof path)
        return tz_fail_text(EXIT_FAILED, "%.60s…: the path is too long", folder);
    output = output ? output : path;
    const tz_status status = tz_report_write(folder, output, pictures_mib, &notes, &error);
    for (size_t i = 0; status == TZ_OK && i < notes.count; i++)
        fprintf(stderr, "trapeze: warning: %s\n", notes.items[i]);
    tz_paths_clear(&notes);
    if (status != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    puts(output);
    return EXIT_DONE;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A report of each of its runs, and the contact sheet, which has links to them. */
static int report_sweep(const char *folder, const json_t *sweep, int pictures_mib)
{
    tz_sweep_grid grid = {.count = 0};
    tz_error error;
    int code = EXIT_DONE;
    char script[256] = "";
    const bool good = read_grid(sweep, &grid);
    const size_t count = good ? tz_sweep_grid_points(&grid) : 0;
    char **none = calloc(count + 1, sizeof *none);
    for (size_t point = 0; point < count && code == EXIT_DONE; point++) {
        char name[TZ_SWEEP_POINT_SIZE], path[PATH_MAX], status[32];
        tz_sweep_grid_name(&grid, point, name);
        snprintf(path, sizeof path, "%s/%s", folder, name);
        tz_sweep_status(path, status, sizeof status);
        code = status[0] ? write_report(path, NULL, pictures_mib) : EXIT_DONE;
        json_t *record = NULL;
        if (!script[0] && tz_run_load_record(path, &record, NULL) == TZ_OK)
            snprintf(script, sizeof script, "%s", base_name(tz_json_text(record, "scenario")));
        json_decref(record);
    }
    if (code == EXIT_DONE && none && tz_sweep_write(folder, script, &grid, none, &error) != TZ_OK)
        code = tz_fail(EXIT_FAILED, &error);
    if (code == EXIT_DONE)
        printf("%s/" TZ_SWEEP_SHEET "\n", folder);
    free(none);
    tz_sweep_grid_clear(&grid);
    return good ? code : tz_fail_text(EXIT_FAILED, "%s/" TZ_SWEEP_FACTS ": is damaged", folder);
}

static int report(const tz_command *command, int argc, char **argv)
{
    const char *output = NULL;
    int pictures_mib = TZ_REPORT_PICTURES_MIB;
    const tz_option options[] = {
        TZ_TEXT("output", &output), TZ_INTEGER("pictures", &pictures_mib, 0, 1024), {.name = NULL}};
    int code = tz_options_read(command, argc, argv, options);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (optind == argc)
        return tz_misuse(command, "needs the folder of a run or of a sweep");
    if (optind + 1 != argc)
        return tz_misuse(command,
                         "takes one folder, not '%.60s' too; trapeze compare takes several",
                         argv[optind + 1]);
    json_t *sweep = load_sweep(argv[optind]);
    if (sweep && output)
        code =
            tz_misuse(command, "--output is for a run: a sweep has a report in each run's folder");
    else
        code = sweep ? report_sweep(argv[optind], sweep, pictures_mib)
                     : write_report(argv[optind], output, pictures_mib);
    json_decref(sweep);
    return code == EXIT_DONE ? tz_finish_output() : code;
}

const tz_command tz_command_report = {
    .name = "report",
    .examples = "  trapeze report runs/chip-001\n"
                "  trapeze report runs/own-sweep\n",
    .arguments = "RUNDIR|SWEEPDIR [OPTION]…",
    .doc = "write a page that shows what a run or a sweep has done",
    .help =
        "Writes RUNDIR/report.html, in place of an older one: result, frames, tables as plots,\n"
        "parameters, plans and why they were chosen, the machine, the scenario, the log, and what\n"
        "to cite. It is one file for any browser, which needs no network. The run may have ended\n"
        "in any way, or go on. Of a sweep it writes one for each run, and its page anew.\n"
        "  --output FILE   write this file instead\n"
        "  --pictures MIB  hold so many MiB of pictures, 0 to 1024 (32); of more it has every\n"
        "                  second frame, or every third, …, and says so\n"
        "  -h, --help      print this\n"
        "\n"
        "trapeze run --report, and tz.report() in a scenario, write it at the end of the run.\n",
    .call = report,
};

/* ---- trapeze compare ------------------------------------------------------------------------- */

/* "0.055", "\"coral\"": a value of run.json. */
static const char *value_text(const json_t *value, char text[128])
{
    char number[TZ_NUMBER_SIZE];
    char *dump = NULL;
    if (json_is_real(value))
        snprintf(text, 128, "%s", tz_number_short(number, json_real_value(value)));
    else if (json_is_string(value))
        snprintf(text, 128, "%.100s", json_string_value(value));
    else
        snprintf(text, 128, "%.100s",
                 value ? (dump = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY |
                                                       JSON_REAL_PRECISION(7)))
                       : "-");
    free(dump);
    return text;
}

/* A line if a value differs between runs. */
static bool put_differing(tz_facts *facts, const char *name, const json_t *const *values,
                          size_t count)
{
    char text[128];
    bool same = true;
    for (size_t i = 1; i < count; i++)
        same = same &&
               (values[0] == values[i] ||
                (values[i] && values[0] && json_equal((json_t *)values[0], (json_t *)values[i])));
    if (same)
        return false;
    FILE *out = tz_fact(facts, name);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s", i ? " | " : "", value_text(values[i], text));
    return true;
}

/* Keys of the first simulations and of their parameters, and --set. */
static void put_parameters(tz_facts *facts, const json_t *runs, size_t count)
{
    static const char *const keys[] = {
        "stencil", "grid",   "precision", "boundary", "boundary_values",
        "storage", "copies", "fields",    NULL};
    const json_t **values = calloc(count, sizeof *values), **first = calloc(count, sizeof *first);
    bool any = false;
    const char *name;
    json_t *entry;
    tz_facts_part(facts, 0, "what differs in what they were given");
    for (size_t i = 0; values && first && i < count; i++)
        first[i] = json_array_get(
            json_object_get(json_object_get(json_array_get(runs, i), "run"), "simulations"), 0);
    for (int k = 0; values && first && keys[k]; k++) {
        for (size_t i = 0; i < count; i++)
            values[i] = json_object_get(first[i], keys[k]);
        any = put_differing(facts, keys[k], values, count) || any;
    }
    json_object_foreach(values && first ? json_object_get(first[0], "params") : NULL, name, entry)
    {
        for (size_t i = 0; i < count; i++)
            values[i] = json_object_get(json_object_get(json_object_get(first[i], "params"), name),
                                        "value");
        any = put_differing(facts, name, values, count) || any;
    }
    if (!any)
        tz_fact_text(facts, NULL, "nothing");
    free(values);
    free(first);
}

static void put_differences(tz_facts *facts, const json_t *list, const json_t *runs)
{
    const json_t *d;
    size_t i;
    tz_facts_part(facts, 0, "fields, against the first run");
    json_array_foreach(list, i, d)
    {
        const json_t *at = json_object_get(d, "at");
        FILE *out = tz_fact(facts, tz_json_text(d, "field"));
        if (json_array_size(runs) > 2)
            fprintf(out, "%s: ",
                    tz_json_text(json_array_get(runs, (size_t)tz_json_int(d, "run")), "path"));
        if (json_object_get(d, "why"))
            fprintf(out, "%s", tz_json_text(d, "why"));
        else if (tz_json_int(d, "differ") == 0)
            fprintf(out, "the same at step %lld", tz_json_int(d, "step"));
        else
            fprintf(
                out,
                "at step %lld up to %.4g at cell %lld, %lld, %lld, RMS %.4g, %lld of %lld cells; "
                "the first has %.6g to %.6g",
                tz_json_int(d, "step"), tz_json_number(d, "max"),
                json_integer_value(json_array_get(at, 0)),
                json_integer_value(json_array_get(at, 1)),
                json_integer_value(json_array_get(at, 2)), tz_json_number(d, "rms"),
                tz_json_int(d, "differ"), tz_json_int(d, "cells"), tz_json_number(d, "low"),
                tz_json_number(d, "high"));
    }
    if (json_array_size(list) == 0)
        tz_fact_text(facts, NULL,
                     "no numbers: sim:every(1000, tz.npy()) writes frames, and --checkpoint keeps "
                     "the fields of the end");
}

static int compare(const tz_command *command, int argc, char **argv)
{
    const char *output = "compare.html";
    int64_t step = -1;
    tz_form form = TZ_FORM_TEXT;
    const tz_option options[] = {TZ_TEXT("output", &output),
                                 TZ_CALL("at", &step, tz_take_step),
                                 TZ_FORMS(&form),
                                 {.name = NULL}};
    const int code = tz_options_read(command, argc, argv, options);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (argc - optind < 2)
        return tz_misuse(command, "needs the folders of two runs or more");
    const char *const *folders = (const char *const *)argv + optind;
    tz_paths notes = {0}, pictures = {0};
    json_t *all = NULL;
    tz_error error;
    tz_facts facts;
    tz_status status =
        tz_compare_collect(folders, (size_t)(argc - optind), step, &notes, &pictures, &all, &error);
    if (!status)
        status = tz_compare_write(all, &pictures, output, &error);
    if (!status && tz_facts_begin(&facts, form, stdout)) {
        const json_t *runs = json_object_get(all, "runs");
        put_parameters(&facts, runs, json_array_size(runs));
        put_differences(&facts, json_object_get(all, "differences"), runs);
        tz_facts_part(&facts, 0, "page");
        tz_fact_text(&facts, NULL, "%s", output);
        tz_facts_end(&facts);
    }
    json_decref(all);
    tz_paths_clear(&notes);
    tz_paths_clear(&pictures);
    return status ? tz_fail(EXIT_FAILED, &error) : tz_finish_output();
}

const tz_command tz_command_compare = {
    .name = "compare",
    .examples = "  trapeze compare runs/chip-001 runs/chip-002\n"
                "  trapeze compare runs/a runs/b --at 500 --output ab.html\n",
    .arguments = "RUNDIR RUNDIR… [OPTION]…",
    .doc = "show how runs differ: parameters, fields, tables, pictures",
    .help =
        "Prints the parameters that differ, and how far fields do from those of the first run: "
        "in\n"
        "the last .npy frames of a step that both have, else in their last checkpoints. The page\n"
        "has also the tables over each other and the pictures beside each other, in one file.\n"
        "  --at STEP       compare the fields of that step\n"
        "  --output FILE   the page, in place of an older one (default: compare.html)\n"
        "  --json, --csv   print JSON or CSV: the part, name and text of each line\n"
        "  -h, --help      print this\n",
    .call = compare,
};
