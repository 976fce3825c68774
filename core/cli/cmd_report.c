/* trapeze report: writes a page that shows what a run has done. */
#include "cli/command.h"

#include "output/report/report.h"
#include <limits.h>

static int report(const tz_command *command, int argc, char **argv)
{
    const char *output = NULL;
    char path[PATH_MAX];
    int pictures_mib = TZ_REPORT_PICTURES_MIB;
    const tz_option options[] = {
        TZ_TEXT("output", &output), TZ_INTEGER("pictures", &pictures_mib, 0, 1024), {.name = NULL}};
    const int code = tz_options_read(command, argc, argv, options);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (optind == argc)
        return tz_misuse(command, "needs the folder of a run");
    if (optind + 1 != argc)
        return tz_misuse(command, "takes one folder, not '%.60s' too", argv[optind + 1]);
    const char *folder = argv[optind];
    if (snprintf(path, sizeof path, "%s/" TZ_REPORT_NAME, folder) >= (int)sizeof path)
        return tz_fail_text(EXIT_FAILED, "%.60s…: the path is too long", folder);
    output = output ? output : path;
    tz_paths notes = {0};
    tz_error error;
    const tz_status status = tz_report_write(folder, output, pictures_mib, &notes, &error);
    for (size_t i = 0; status == TZ_OK && i < notes.count; i++)
        fprintf(stderr, "trapeze: warning: %s\n", notes.items[i]);
    tz_paths_clear(&notes);
    if (status != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    puts(output);
    return tz_finish_output();
}

const tz_command tz_command_report = {
    .name = "report",
    .arguments = "RUNDIR [OPTION]…",
    .doc = "write a page that shows what a run has done",
    .help =
        "Writes RUNDIR/report.html, in place of an older one: result, frames, tables as plots,\n"
        "parameters, plans and why they were chosen, the machine, the scenario, the log, and what\n"
        "to cite. It is one file for any browser, which needs no network. The run may have ended\n"
        "in any way, or go on.\n"
        "  --output FILE   write this file instead\n"
        "  --pictures MIB  hold so many MiB of pictures, 0 to 1024 (32); of more it has every\n"
        "                  second frame, or every third, …, and says so\n"
        "  -h, --help      print this\n"
        "\n"
        "trapeze run --report, and tz.report() in a scenario, write it at the end of the run.\n",
    .call = report,
};
