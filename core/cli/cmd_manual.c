/* trapeze manual: prints the reference of scenarios, the page for man(1), and completions of shells. */
#include "cli/command.h"

#include "cli/options.h"
#include "cli/shells.h"
#include "lua/manual.h"

static int manual(const tz_command *command, int argc, char **argv)
{
    bool man = false;
    const char *shell = NULL;
    const tz_option options[] = {
        TZ_FLAG("man", &man), TZ_TEXT("completion", &shell), {.name = NULL}};
    tz_error error;
    const int code = tz_options_read(command, argc, argv, options);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (man && shell)
        return tz_misuse(command, "--man and --completion exclude each other");
    const char *name = argv[optind];
    if (name && (man || shell || optind + 1 < argc))
        return tz_misuse(command, "takes the name of one function, not '%.60s'", argv[argc - 1]);
    if (man) {
        tz_man_page();
    } else if (shell && !tz_completion(shell)) {
        return tz_misuse(command, "--completion: '%.60s' is not bash, zsh or fish", shell);
    } else if (!shell && tz_manual_write(stdout, name, &error) != TZ_OK) {
        return tz_fail(EXIT_FAILED, &error);
    }
    return tz_finish_output();
}

const tz_command tz_command_manual = {
    .name = "manual",
    .arguments = "[FUNCTION] [OPTION]…",
    .doc = "print every function, option and column of scenarios, or one function, as Markdown",
    .help = "  FUNCTION             such as tz.floorplan or sim:run\n"
            "  --man                the page for man(1) instead: all commands and their options\n"
            "  --completion SHELL   the completion of bash, zsh or fish instead\n"
            "  -h, --help           print this\n\nThe page docs/scenario.md is the output without "
            "options.\n",
    .call = manual,
};
