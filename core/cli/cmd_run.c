/* trapeze run: runs a Lua scenario. */
#include "cli/options.h"

#include "cli/progress.h"
#include "lua/interrupt.h"
#include "lua/script.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct settings {
    tz_script_options script;
    tz_paths sets;
    tz_plugins plugins;
    tz_progress progress;
    bool quiet;
} settings;

/* ---- What the script prints ------------------------------------------------------------------ */

static void on_print(void *context, const char *text, size_t bytes)
{
    tz_progress_clear(&((settings *)context)->progress);
    fwrite(text, 1, bytes, stdout);
}

static void on_note(void *context, tz_note note, const char *line)
{
    settings *s = context;
    if (note == TZ_NOTE_LOG && s->quiet)
        return;
    tz_progress_clear(&s->progress);
    fflush(stdout);
    fprintf(stderr, note == TZ_NOTE_WARNING ? "trapeze: warning: %s\n" : "%s\n", line);
}

static void on_progress(void *context, const tz_script_progress *progress)
{
    tz_progress_show(&((settings *)context)->progress, progress);
}

/* ---- Options --------------------------------------------------------------------------------- */

/* --height N, or a text that tz_policy_choose() reads. */
static int take_height(const tz_command *command, void *out, const char *text)
{
    tz_policy_choice *policy = out;
    char *end;
    const long height = strtol(text, &end, 10);
    const bool is_number = end != text && *end == '\0';
    if (is_number && (height < 1 || height > TZ_PLAN_HEIGHT_MAX))
        return tz_misuse(command, "--height needs an integer from 1 to %d, not '%.40s'",
                         TZ_PLAN_HEIGHT_MAX, text);
    policy->given.height = is_number ? (int)height : 0;
    policy->height = is_number ? NULL : text;
    return EXIT_DONE;
}

/* TZ_OPTIONS_GO_ON, or what to exit with. */
static int parse(const tz_command *command, int argc, char **argv, settings *s)
{
    tz_script_options *script = &s->script;
    const tz_option options[] = {
        TZ_CALL("backend", &script->backend, tz_take_backend),
        TZ_CALL("height", &script->policy, take_height),
        TZ_TEXT("policy", &script->policy.policy),
        TZ_FLAG("forget", &script->policy.forget),
        TZ_INTEGER("threads", &script->threads, 1, 1024),
        TZ_INTEGER("device", &script->device, 0, 1023),
        TZ_TEXT("devices", &script->devices),
        TZ_CALL("family", &script->policy.given, tz_take_family),
        TZ_FLAG("sync", &script->sync),
        TZ_TEXT("out", &script->out),
        TZ_CALL("set", &s->sets, tz_take_set),
        TZ_FLAG("check", &script->check),
        {.name = "quiet", .kind = TZ_OPTION_FLAG, .out = &s->quiet, .letter = 'q'},
        TZ_FLAG("unsafe", &script->unsafe),
        TZ_PATHS("plugins", &s->plugins.given),
        {.name = NULL},
    };
    const int code = tz_options_read(command, argc, argv, options);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    const tz_policy_choice nothing = {.start = 0};
    tz_policy_config policy;
    tz_error error;
    if (tz_policy_choose(&nothing, &script->policy, &policy, &error) != TZ_OK)
        return tz_misuse(command, "%s", error.message);
    if (optind == argc)
        return tz_misuse(command, "needs a script");
    if (optind + 1 != argc)
        return tz_misuse(command, "takes one script, not '%.60s' too", argv[optind + 1]);
    script->path = argv[optind];
    return TZ_OPTIONS_GO_ON;
}

/* ---- The run --------------------------------------------------------------------------------- */

/* What the run came to, on stderr. */
static void tell_end(const settings *s, tz_status status, const tz_script_result *result,
                     const tz_error *error)
{
    if (status != TZ_OK)
        tz_fail(EXIT_FAILED, error);
    for (const char *line = result->traceback; status != TZ_OK && *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        fprintf(stderr, "    %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    if (!s->quiet && result->steps > 0) {
        const double rate = result->seconds > 0 ? 1e-9 * result->updates / result->seconds : 0;
        fprintf(stderr, "%lld steps in %.3g s, %.3g GCells/s; ", (long long)result->steps,
                result->seconds, rate);
        if (result->ran == 1)
            fprintf(stderr, "%s; ", result->policy);
        if (result->ending[0])
            fprintf(stderr, "%s; ", result->ending);
        fprintf(stderr, "%s\n", result->folder);
    } else if (!s->quiet && result->folder[0]) {
        fprintf(stderr, "%s\n", result->folder);
    }
}

static int conclude(const settings *s, tz_status status, const tz_script_result *result,
                    const tz_error *error)
{
    if (tz_ranks_leads(s->script.ranks))
        tell_end(s, status, result, error);
    if (status == TZ_INTERRUPTED)
        return 128 + result->signal;
    const int written = status == TZ_OK ? tz_finish_output() : EXIT_FAILED;
    return written == EXIT_DONE && result->stagnated ? EXIT_FAILED : written;
}

static int execute(settings *s)
{
    tz_script_result result;
    tz_error error;
    const bool opened = tz_plugins_open(&s->plugins);
    if (tz_ranks_largest(s->script.ranks, !opened) > 0)
        return EXIT_FAILED;
    if (!tz_ranks_leads(s->script.ranks))
        s->script.sink = (tz_script_sink){.context = s};
    s->script.registry = s->plugins.registry;
    s->script.sets_count = s->sets.count;
    s->script.sets = (const char *const *)s->sets.items;
    tz_interrupt_install();
    tz_progress_begin(&s->progress, s->quiet || s->script.check);
    const tz_status status = tz_script_run(&s->script, &result, &error);
    tz_progress_clear(&s->progress);
    fflush(stdout);
    return conclude(s, status, &result, &error);
}

/* Of several ranks, rank 0 parses first: what all of them find wrong is printed once. */
static int parse_together(const tz_command *command, int argc, char **argv, settings *s)
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
    settings s = {
        .script = {.arguments_count = argc,
                   .sink = {.print = on_print, .note = on_note, .progress = on_progress}}};
    /* getopt_long reorders argv; the record keeps it as given. */
    char **given = calloc((size_t)argc + 1, sizeof *given);
    if (!given)
        return tz_fail_text(EXIT_FAILED, "not enough memory");
    memcpy(given, argv, (size_t)argc * sizeof *given);
    s.script.arguments = (const char *const *)given;
    s.script.sink.context = &s;
    tz_error error;
    int code = tz_ranks_open(&s.script.ranks, &error) == TZ_OK
                   ? parse_together(command, argc, argv, &s)
                   : refuse_ranks(&error);
    if (code == TZ_OPTIONS_GO_ON)
        code = execute(&s);
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
        "\n"
        "  --out DIR          the run's folder: new or empty (default: runs/SCRIPT-NNN)\n"
        "  --set NAME=VALUE   a value for the script: tz.args.NAME; may be repeated\n"
        "  --check            check the script and show what it would write; compute nothing\n"
        "  -q, --quiet        no progress, no log, no summary\n"
        "  --unsafe           give the script all of Lua's libraries (files, processes)\n"
        "  --plugins DIR      look for plugins here first; may be repeated\n"
        "  -h, --help         print this\n"
        "\n"
        "Ctrl-C and SIGTERM end the run after the current stage: the record is written and the\n"
        "exit code is 130 or 143. A second one, half a second later or more, ends it at once, "
        "also\n"
        "a pattern or a finalizer that never ends.\n"
        "Exit codes: 0 done, 1 the run failed or stagnated, 2 wrong use.\n",
    .call = run,
};
