/* trapeze: finds the command and calls it. */
#include "cli/command.h"

#include "base/names.h"
#include "base/ranks.h"
#include <string.h>

enum { COMMANDS_MAX = 32 };

static int help(void)
{
    fputs("usage: trapeze COMMAND [ARGUMENT]…\n\n"
          "Iterative stencil loops with ghost zones, run from Lua scenarios.\n\n",
          stdout);
    for (int i = 0; tz_commands[i]; i++)
        printf("  %-9s %s\n", tz_commands[i]->name, tz_commands[i]->doc);
    fputs("\n  --version  print the version\n"
          "  --help     print this; trapeze COMMAND --help prints its options\n",
          stdout);
    return tz_finish_output();
}

/* Without a command. */
static int begin_here(void)
{
    fputs("usage: trapeze COMMAND [ARGUMENT]…        to begin:\n"
          "  trapeze examples grayscott              a scenario, copied to this folder\n"
          "  trapeze run grayscott.lua --report      its frames and report.html are in runs/\n"
          "  trapeze manual tz.movie                 what a function of scenarios takes\n"
          "  trapeze --help                          all commands\n",
          stderr);
    return EXIT_USAGE;
}

/* Under mpirun only runs use all ranks; other commands run on rank 0. */
static bool is_spare_rank(void)
{
    int rank, count;
    return tz_ranks_environment(&rank, &count) && rank > 0;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return begin_here();
    const char *word = argv[1];
    const bool runs =
        strcmp(word, tz_command_run.name) == 0 || strcmp(word, tz_command_resume.name) == 0;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return help();
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("trapeze %s\n", TZ_VERSION);
        return tz_finish_output();
    }
    if (!runs && is_spare_rank())
        return EXIT_DONE;
    const char *names[COMMANDS_MAX];
    int count = 0;
    for (int i = 0; tz_commands[i]; i++) {
        names[count++] = tz_commands[i]->name;
        if (strcmp(word, names[i]) == 0)
            return tz_commands[i]->call(tz_commands[i], argc - 1, argv + 1);
        if (strcmp(word, "help") == 0 && argc > 2 && strcmp(argv[2], names[i]) == 0)
            return tz_help(tz_commands[i]);
    }
    if (strcmp(word, "help") == 0 && argc == 2)
        return help();
    char hint[256];
    const char *unknown = strcmp(word, "help") == 0 ? argv[2] : word;
    if (unknown[0] == '-')
        return tz_misuse(NULL, "unknown option '%.60s'; known: --help, --version", unknown);
    return tz_misuse(NULL, "unknown command '%.60s'%s", unknown,
                     tz_names_hint(hint, sizeof hint, unknown, names, count));
}
