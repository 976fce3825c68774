/* trapeze run: runs a Lua scenario. */
#include "cli/run_options.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* TZ_OPTIONS_GO_ON, or what to exit with. */
static int parse(const tz_command *command, int argc, char **argv, tz_run_settings *s)
{
    const int code = tz_run_options_read(command, argc, argv, s);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (optind == argc)
        return tz_misuse(command, "needs a script");
    if (optind + 1 != argc)
        return tz_misuse(command, "takes one script, not '%.60s' too", argv[optind + 1]);
    s->script.path = argv[optind];
    return TZ_OPTIONS_GO_ON;
}

/* Of several ranks, rank 0 parses first: what all of them find wrong is printed once. */
static int parse_together(const tz_command *command, int argc, char **argv, tz_run_settings *s)
{
    const tz_ranks *ranks = s->script.ranks;
    int code = TZ_OPTIONS_GO_ON;
    if (tz_ranks_leads(ranks))
        code = parse(command, argc, argv, s);
    tz_ranks_agree(ranks, &code, sizeof code);
    if (code != TZ_OPTIONS_GO_ON || !ranks)
        return code;
    if (!tz_ranks_leads(ranks))
        code = parse(command, argc, argv, s);
    const bool wrong = tz_ranks_largest(ranks, code != TZ_OPTIONS_GO_ON) > 0;
    return !wrong ? TZ_OPTIONS_GO_ON : code == TZ_OPTIONS_GO_ON ? EXIT_USAGE : code;
}

/* MPI could not be started. Rank 0 says it; if it has no such trouble and goes on, others do. */
static int refuse_ranks(const tz_error *error)
{
    static const struct timespec wait_for_rank_0 = {.tv_sec = 2};
    int rank, count;
    if (tz_ranks_environment(&rank, &count) && rank > 0)
        nanosleep(&wait_for_rank_0, NULL);
    return tz_fail(EXIT_FAILED, error);
}

static int run(const tz_command *command, int argc, char **argv)
{
    tz_run_settings s = {.script = {.arguments_count = argc}};
    /* getopt_long reorders argv; the record keeps it as given. */
    char **given = calloc((size_t)argc + 1, sizeof *given);
    if (!given)
        return tz_fail_text(EXIT_FAILED, "not enough memory");
    memcpy(given, argv, (size_t)argc * sizeof *given);
    s.script.arguments = (const char *const *)given;
    tz_error error;
    int code = tz_ranks_open(&s.script.ranks, &error) == TZ_OK
                   ? parse_together(command, argc, argv, &s)
                   : refuse_ranks(&error);
    if (code == TZ_OPTIONS_GO_ON)
        code = tz_run_execute(&s);
    tz_ranks_close(s.script.ranks);
    tz_paths_clear(&s.sets);
    tz_plugins_close(&s.plugins);
    free(given);
    return code;
}

const tz_command tz_command_run = {
    .name = "run",
    .arguments = "SCRIPT [OPTION]…",
    .doc = "run a Lua scenario",
    .help =
        "Options for the run replace what the script says:\n"
        "  --backend NAME     auto, cpu, cuda or reference\n"
        "  --height N|POLICY  iterations between two halo exchanges, or the policy that chooses\n"
        "                     them: auto, predicted, adaptive, exhaustive\n"
        "  --policy NAME      the policy; with --height N adaptive starts at N, others keep N\n"
        "  --forget           measure again what --policy exhaustive remembers\n"
        "  --threads N        threads of the cpu backend\n"
        "  --family NAME      how stages are executed: {families}\n"
        "  --sync             wait for every stage and check it: faults of a GPU show at once\n"
        "  --device N         the GPU of the cuda backend, from 0\n"
        "  --devices LIST     devices that hold slabs of the grid: all (GPUs), 0,2, or cpu:2\n"
        "  --checkpoint TIME  write a checkpoint every TIME (10min, 1h) and after a signal, from\n"
        "                     which trapeze resume goes on\n"
        "  --walltime TIME    stop, with a checkpoint, before the run has taken so long\n"
        "\n"
        "  --out DIR          the run's folder: new or empty (default: runs/SCRIPT-NNN)\n"
        "  --set NAME=VALUE   a value for the script: tz.args.NAME; may be repeated\n"
        "  --check            check the script and show what it would write; compute nothing\n"
        "  -q, --quiet        no progress, no log, no summary\n"
        "  --unsafe           give the script all of Lua's libraries (files, processes)\n"
        "  --plugins DIR      look for plugins here first; may be repeated\n"
        "  -h, --help         print this\n"
        "\n"
        "mpirun -n N trapeze run SCRIPT runs it on N processes, which may be on several machines, "
        "if\n"
        "this Trapeze was built with MPI (trapeze doctor tells).\n"
        "\n"
        "Ctrl-C and SIGTERM end the run after the current stage: the record is written and the\n"
        "exit code is 130 or 143. A second one, half a second later or more, ends it at once, "
        "also\n"
        "a pattern or a finalizer that never ends.\n"
        "With checkpoints the first one also writes a checkpoint.\n"
        "Exit codes: 0 done, 1 the run failed or stagnated, 2 wrong use, 3 stopped by "
        "--walltime.\n",
    .call = run,
};
