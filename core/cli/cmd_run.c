/* trapeze run: runs a Lua scenario. */
#include "cli/run_options.h"

#include <stdlib.h>
#include <string.h>

typedef struct line {
    const tz_command *command;
    int argc;
    char **argv;
    tz_run_settings s;
} line;

static int parse(line *l)
{
    const int code = tz_run_options_read(l->command, l->argc, l->argv, &l->s);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (optind == l->argc)
        return tz_misuse(l->command, "needs a script");
    if (optind + 1 != l->argc)
        return tz_misuse(l->command, "takes one script, not '%.60s' too", l->argv[optind + 1]);
    l->s.script.path = l->argv[optind];
    return TZ_OPTIONS_GO_ON;
}

static int run(const tz_command *command, int argc, char **argv)
{
    line l = {command, argc, argv, {.script = {.arguments_count = argc}}};
    tz_run_settings *s = &l.s;
    /* getopt_long reorders argv; the record keeps it as given. */
    char **given = calloc((size_t)argc + 1, sizeof *given);
    if (!given)
        return tz_fail_text(EXIT_FAILED, "not enough memory");
    memcpy(given, argv, (size_t)argc * sizeof *given);
    s->script.arguments = (const char *const *)given;
    int code = tz_run_open(&s->script.ranks);
    if (code == TZ_OPTIONS_GO_ON) {
        code = parse(&l);
        if (code == TZ_OPTIONS_GO_ON)
            code = tz_run_execute(s);
        tz_run_close(s->script.ranks, code);
    }
    tz_paths_clear(&s->sets);
    tz_plugins_close(&s->plugins);
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
        "                     them: {policies}\n"
        "  --policy NAME      the policy; with --height N those that search\n"
        "                     ({searchers}) start there, others keep N\n"
        "  --forget           find the best plan anew (policies auto and exhaustive)\n"
        "  --threads N        threads of the cpu backend\n"
        "  --compile-threads N  so many kernels for a GPU are compiled at once (default: half of\n"
        "                     the processors); the ranks of a machine share them out\n"
        "  --family NAME      how stages are executed: {families}\n"
        "  --sync             wait for every stage and check it: faults of a GPU show at once\n"
        "  --device N         the GPU of the cuda backend, from 0\n"
        "  --devices LIST     devices that hold slabs of the grid: all (GPUs), 0,2, or cpu:2\n"
        "  --checkpoint TIME  write a checkpoint every TIME (10min, 1h) and after a signal, from\n"
        "                     which trapeze resume goes on\n"
        "  --walltime TIME    stop, with a checkpoint, before the run has taken so long\n"
        "\n"
        "  --out DIR          the run's folder: new or empty (default: runs/SCRIPT-NNN)\n"
        "  --report           write report.html into the folder at the end (trapeze report)\n"
        "  --set NAME=VALUE   a value for the script: tz.args.NAME; may be repeated\n"
        "  --serve[=PORT]     a live view: a page with the frame, plots and speed, where the run "
        "can\n"
        "                     be paused, stepped and changed, at 127.0.0.1 and a free port\n"
        "  --serve-address IP the same at another address of this machine, 0.0.0.0: at all\n"
        "  --serve-paused     the same; runs begin paused and wait for the page\n"
        "  --check            check the script and show what it would write; compute nothing\n"
        "  -q, --quiet        no progress, no log, no summary\n"
        "  -v, --verbose      a longer summary: what trapeze info RUNDIR shows\n"
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
        "Exit codes: 0 done, 1 the run failed or stagnated, 2 wrong use, 3 "
        "stopped by --walltime.\n",
    .call = run,
};
