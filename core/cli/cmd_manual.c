/* trapeze manual: prints the reference of scenarios. */
#include "cli/command.h"

#include "cli/options.h"
#include "lua/manual.h"

static int manual(const tz_command *command, int argc, char **argv)
{
    const tz_option options[] = {{.name = NULL}};
    tz_error error;
    const int code = tz_options_read(command, argc, argv, options);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (optind < argc)
        return tz_misuse(command, "takes no argument, not '%.60s'", argv[optind]);
    if (tz_manual_write(stdout, &error) != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    return tz_finish_output();
}

const tz_command tz_command_manual = {
    .name = "manual",
    .arguments = "[OPTION]…",
    .doc = "print every function, option and column of scenarios, as Markdown",
    .help = "  -h, --help   print this\n\nThe page docs/scenario.md is this output.\n",
    .call = manual,
};
