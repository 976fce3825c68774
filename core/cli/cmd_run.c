/* trapeze run and trapeze resume: run a Lua scenario, with its options and its progress; go on with
 * a run from its last checkpoint. */
#include "cli/command.h"

#include "backend/cuda/compile/compile.h"
#include "backend/slabs/slabs.h"
#include "base/machine.h"
#include "base/number.h"
#include "lua/interrupt.h"
#include "lua/script.h"
#include "output/folder.h"
#include "output/live/server.h"
#include "output/run_record.h"
#include "policy/policy.h"
#include "predict/workload.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_WALLTIME = 3 /* --walltime has stopped the run */ };

/* Progress of a run on stderr: one line, redrawn, on a terminal; else a new line every 3 s. */
typedef struct progress_line {
    bool quiet, terminal;
    bool drawn;            /* an unfinished line is on the terminal */
    struct timespec begin; /* of the present call of run() */
    struct timespec last;  /* when something was shown */
    int compiled;          /* plans that a policy waited for */
    bool running;
} progress_line;

/* Begin with zeros. */
typedef struct settings {
    tz_script_options script;
    tz_paths sets;
    tz_plugins plugins;
    progress_line progress;
    bool quiet, verbose;
    bool serve_view;       /* print the address of pages that may only look */
    int compile_threads;   /* 0: half of the processors */
    struct json_t *record; /* owned: the content of run.json at the end; NULL until then */
} settings;

/* ---- Progress -------------------------------------------------------------------------------- */

/* Seconds between two showings. */
static const double redraw_s = 0.1, line_s = 3.0;

static double seconds_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + 1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

static void progress_begin(progress_line *progress, bool quiet)
{
    memset(progress, 0, sizeof *progress);
    progress->quiet = quiet;
    progress->terminal = isatty(STDERR_FILENO) == 1;
}

/* Erase the unfinished line, before anything else is printed. */
static void progress_clear(progress_line *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = false;
}

static void format_time(double seconds, char *text, size_t size)
{
    const long rounded = seconds < 0 || seconds > 1e8 ? 0 : (long)(seconds + 0.5);
    if (rounded >= 3600)
        snprintf(text, size, "%ld:%02ld:%02ld", rounded / 3600, rounded / 60 % 60, rounded % 60);
    else
        snprintf(text, size, "%ld:%02ld", rounded / 60, rounded % 60);
}

static void progress_show(progress_line *progress, const tz_script_progress *now)
{
    if (progress->quiet)
        return;
    if (now->last) {
        progress_clear(progress);
        progress->running = false;
        return;
    }
    if (!progress->running) {
        clock_gettime(CLOCK_MONOTONIC, &progress->begin);
        progress->last = progress->begin;
        progress->running = true;
        return;
    }
    if (seconds_since(&progress->last) < (progress->terminal ? redraw_s : line_s))
        return;
    clock_gettime(CLOCK_MONOTONIC, &progress->last);
    const double elapsed = seconds_since(&progress->begin);
    char rate[48] = "", part[80] = "", left[32];
    if (now->seconds > 0)
        snprintf(rate, sizeof rate, ", %.3g GCells/s",
                 1e-9 * (double)now->done * (double)now->cells / now->seconds);
    if (now->total > 0 && now->done > 0) {
        const double fraction = (double)now->done / (double)now->total;
        format_time(elapsed / fraction - elapsed, left, sizeof left);
        snprintf(part, sizeof part, " (%.0f %%), %s left", 100 * fraction, left);
    }
    fprintf(stderr, "%s%s: step %lld%s%s%s", progress->terminal ? "\r" : "", now->name,
            (long long)now->step, part, rate, progress->terminal ? "\033[K" : "\n");
    progress->drawn = progress->terminal;
    fflush(stderr);
}

/* A policy waits for compilers, before the run or in it. */
static void progress_compiled(progress_line *progress)
{
    progress->compiled++;
    if (progress->quiet || !progress->terminal)
        return;
    if (progress->compiled > 1 && seconds_since(&progress->last) < redraw_s)
        return;
    clock_gettime(CLOCK_MONOTONIC, &progress->last);
    if (progress->compiled == 1) /* most are ready at once */
        return;
    fprintf(stderr, "\rpredicting: %d plans ready\033[K", progress->compiled);
    progress->drawn = true;
    fflush(stderr);
}

/* ---- What the script prints ------------------------------------------------------------------ */

static void on_print(void *context, const char *text, size_t bytes)
{
    progress_clear(&((settings *)context)->progress);
    fwrite(text, 1, bytes, stdout);
}

static void on_note(void *context, tz_note note, const char *line)
{
    settings *s = context;
    if (note == TZ_NOTE_LOG && s->quiet)
        return;
    progress_clear(&s->progress);
    fflush(stdout);
    fprintf(stderr, note == TZ_NOTE_WARNING ? "trapeze: warning: %s\n" : "%s\n", line);
}

static void on_compiled(void *context)
{
    progress_compiled(&((settings *)context)->progress);
}

static void on_progress(void *context, const tz_script_progress *progress)
{
    progress_show(&((settings *)context)->progress, progress);
}

static void on_record(void *context, const tz_record *record)
{
    ((settings *)context)->record = tz_record_copy(record);
}

static void on_serves(void *context, const char *url, const char *look_url)
{
    fprintf(stderr, "live view: %s\n", url);
    if (((settings *)context)->serve_view)
        fprintf(stderr, "to look only: %s\n", look_url);
}

/* ---- Options --------------------------------------------------------------------------------- */

/* --height N, or a text that tz_plan_wish_settle() reads. */
static int take_height(const tz_command *command, void *out, const char *text)
{
    tz_plan_wish *policy = out;
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

/* "10min": seconds. */
static int take_duration(const tz_command *command, void *out, const char *text)
{
    double seconds = 0;
    tz_error error;
    if (tz_duration_parse(text, "s", &seconds, &error) != TZ_OK)
        return tz_misuse(command, "--checkpoint and --walltime need a time such as 10min: %s",
                         error.message);
    if (!(seconds > 0) || !isfinite(seconds))
        return tz_misuse(
            command, "--checkpoint and --walltime need a time of more than 0, not '%.40s'", text);
    *(double *)out = seconds;
    return EXIT_DONE;
}

/* --serve, or --serve=PORT. */
static int take_serve(const tz_command *command, void *out, const char *text)
{
    tz_script_options *script = out;
    char *end;
    const long port = text ? strtol(text, &end, 10) : 0;
    if (text && (end == text || *end != '\0' || port < 1 || port > 65535))
        return tz_misuse(command, "--serve=PORT needs a port from 1 to 65535, not '%.40s'", text);
    script->serve = true;
    script->serve_port = (int)port;
    return EXIT_DONE;
}

/* --serve-address ADDRESS: a live view there. */
static int take_serve_address(const tz_command *command, void *out, const char *text)
{
    tz_script_options *script = out;
    tz_error error;
    if (tz_live_check_address(text, &error) != TZ_OK)
        return tz_misuse(command, "--serve-address %s", error.message);
    script->serve = true;
    script->serve_address = text;
    return EXIT_DONE;
}

/* `given` of this machine, 0: half of its processors, shared out among its ranks. */
static void share_compilers(const tz_ranks *ranks, int given)
{
    int own = given;
    if (ranks)
        own = given > 0 ? given / ranks->local_count
                        : (int)(tz_machine_processors() * ranks->cores_share / 2);
    tz_cuda_compilers_limit(ranks && own < 1 ? 1 : own, 0);
}

/* Later options replace what is there. TZ_OPTIONS_GO_ON, with the arguments from argv[optind] on,
 * or what to exit with. */
static int read_options(const tz_command *command, int argc, char **argv, settings *s)
{
    tz_script_options *script = &s->script;
    const tz_option options[] = {
        TZ_CALL("backend", &script->backend, tz_take_backend),
        TZ_CALL("height", &script->policy, take_height),
        TZ_TEXT("policy", &script->policy.policy),
        TZ_FLAG("forget", &script->policy.forget),
        TZ_INTEGER("threads", &script->threads, 1, 1024),
        TZ_INTEGER("compile-threads", &s->compile_threads, 1, 1024),
        TZ_INTEGER("device", &script->device, 0, 1023),
        TZ_TEXT("devices", &script->devices),
        TZ_CALL("family", &script->policy.given, tz_take_family),
        TZ_FLAG("sync", &script->sync),
        TZ_CALL("checkpoint", &script->checkpoint_s, take_duration),
        TZ_CALL("walltime", &script->walltime_s, take_duration),
        TZ_TEXT("from", &script->from),
        TZ_CALL("at", &script->from_step, tz_take_step),
        TZ_TEXT("until", &script->until),
        TZ_TEXT("out", &script->out),
        TZ_CALL("set", &s->sets, tz_take_set),
        TZ_FLAG("report", &script->report),
        {.name = "serve", .kind = TZ_OPTION_OPTIONAL, .out = script, .take = take_serve},
        TZ_CALL("serve-address", script, take_serve_address),
        TZ_FLAG("serve-paused", &script->serve_paused),
        TZ_FLAG("serve-view", &s->serve_view),
        TZ_FLAG("check", &script->check),
        {.name = "quiet", .kind = TZ_OPTION_FLAG, .out = &s->quiet, .letter = 'q'},
        TZ_VERBOSE(&s->verbose),
        TZ_FLAG("unsafe", &script->unsafe),
        TZ_PATHS("plugins", &s->plugins.given),
        {.name = NULL},
    };
    const int code = tz_options_read(command, argc, argv, options);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    share_compilers(script->ranks, s->compile_threads);
    if (s->quiet && s->verbose)
        return tz_misuse(command, "--quiet or --verbose, not both");
    script->serve |= script->serve_paused || s->serve_view;
    if (script->serve && script->check)
        return tz_misuse(command, "--serve or --check, not both: a check computes nothing");
    if (script->serve && script->ranks)
        return tz_misuse(command, "--serve does not work under mpirun: a live view looks at one "
                                  "process, so run without mpirun");
    const tz_plan_wish nothing = {.start = 0};
    tz_plan_wish wish;
    tz_error error;
    if (tz_plan_wish_settle(&nothing, &script->policy, &wish, &error) != TZ_OK)
        return tz_misuse(command, "%s", error.message);
    return TZ_OPTIONS_GO_ON;
}

/* ---- The run --------------------------------------------------------------------------------- */

/* Prints the command. It repeats what a folder does not give by itself (cmd_resume.c). */
static void tell_how_to_go_on(const settings *s, const char *folder)
{
    fputs("it goes on with: trapeze resume", stderr);
    tz_put_shell_word(stderr, folder);
    if (s->script.unsafe)
        fputs(" --unsafe", stderr);
    for (size_t i = 0; i < s->plugins.given.count; i++) {
        fputs(" --plugins", stderr);
        tz_put_shell_word(stderr, s->plugins.given.items[i]);
    }
    fputs("\n", stderr);
}

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
    if (s->quiet)
        return;
    const tz_summary about = {.steps = result->steps,
                              .seconds = result->seconds,
                              .updates = result->updates,
                              .ending = status == TZ_INTERRUPTED ? "interrupted"
                                        : status != TZ_OK        ? "failed"
                                        : result->ending[0]      ? result->ending
                                                                 : "done",
                              .folder = result->folder,
                              .by = s->script.backend || s->script.devices ? "by the command line"
                                                                           : "by the scenario"};
    if (s->record && (result->steps > 0 || result->folder[0]))
        tz_print_run_summary(stderr, s->record, &about);
    tz_facts facts;
    if (s->record && s->verbose && tz_facts_begin(&facts, TZ_FORM_TEXT, stderr)) {
        tz_print_run(&facts, s->record);
        tz_facts_end(&facts);
    }
    if (result->can_go_on)
        tell_how_to_go_on(s, result->folder);
}

static int conclude(const settings *s, tz_status status, const tz_script_result *result,
                    const tz_error *error)
{
    tell_end(s, status, result, error);
    if (status == TZ_INTERRUPTED)
        return result->signal == SIGALRM ? EXIT_WALLTIME : 128 + result->signal;
    const int written = status == TZ_OK ? tz_finish_output() : EXIT_FAILED;
    return written == EXIT_DONE && result->stagnated ? EXIT_FAILED : written;
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

/* Another rank got it. */
static void on_signal(int number)
{
    if (tz_interrupt_signal() == 0)
        raise(number);
}

/* Where mpirun started this process as one of several: TZ_OPTIONS_GO_ON in the first rank, with
 * *ranks; the others serve it until it closes them, and get what to exit with. *ranks is NULL
 * without mpirun. */
static int open_ranks(const tz_ranks **ranks)
{
    tz_error error;
    if (tz_ranks_open(ranks, &error) != TZ_OK)
        return refuse_ranks(&error);
    share_compilers(*ranks, 0);
    if (*ranks && (*ranks)->rank > 0) {
        const int code = tz_slabs_serve(*ranks, tz_shares_find_here);
        tz_ranks_close(*ranks);
        return code;
    }
    if (*ranks)
        (*ranks)->listen(*ranks, on_signal);
    return TZ_OPTIONS_GO_ON;
}

static int close_ranks(const tz_ranks *ranks, int code)
{
    tz_slabs_end(ranks, code);
    tz_ranks_close(ranks);
    return code;
}

static int execute(settings *s)
{
    tz_script_result result;
    tz_error error;
    if (!tz_plugins_open(&s->plugins))
        return EXIT_FAILED;
    s->script.registry = s->plugins.registry;
    s->script.sets_count = s->sets.count;
    s->script.sets = (const char *const *)s->sets.items;
    s->script.sink = (tz_script_sink){.context = s,
                                      .print = on_print,
                                      .note = on_note,
                                      .progress = on_progress,
                                      .compiled = on_compiled,
                                      .record = on_record,
                                      .serves = on_serves};
    tz_interrupt_install();
    progress_begin(&s->progress, s->quiet || s->script.check);
    const tz_status status = tz_script_run(&s->script, &result, &error);
    progress_clear(&s->progress);
    fflush(stdout);
    const int code = conclude(s, status, &result, &error);
    json_decref(s->record);
    s->record = NULL;
    return code;
}

/* ---- trapeze run ----------------------------------------------------------------------------- */

static char **copy_arguments(int argc, char **argv)
{
    char **copy = calloc((size_t)argc + 1, sizeof *copy);
    if (copy)
        memcpy(copy, argv, (size_t)argc * sizeof *copy);
    else
        tz_fail_text(EXIT_FAILED, "not enough memory");
    return copy;
}

static int parse(const tz_command *command, int argc, char **argv, settings *s)
{
    const int code = read_options(command, argc, argv, s);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (optind == argc)
        return tz_misuse(command, "needs a script");
    if (optind + 1 != argc)
        return tz_misuse(command, "takes one script, not '%.60s' too", argv[optind + 1]);
    if (s->script.until)
        return tz_misuse(command, "--until is for trapeze resume RUNDIR; a scenario says it with "
                                  "sim:run { until_time = ... }");
    if (s->script.from_step >= 0 && !s->script.from)
        return tz_misuse(command, "--at is a step of the run that --from RUNDIR names");
    s->script.path = argv[optind];
    return TZ_OPTIONS_GO_ON;
}

static int run(const tz_command *command, int argc, char **argv)
{
    settings s = {.script = {.arguments_count = argc, .from_step = -1}};
    /* getopt_long reorders argv; the record keeps it as given. */
    char **given = copy_arguments(argc, argv);
    if (!given)
        return EXIT_FAILED;
    s.script.arguments = (const char *const *)given;
    int code = open_ranks(&s.script.ranks);
    if (code == TZ_OPTIONS_GO_ON) {
        code = parse(command, argc, argv, &s);
        if (code == TZ_OPTIONS_GO_ON)
            code = execute(&s);
        close_ranks(s.script.ranks, code);
    }
    tz_paths_clear(&s.sets);
    tz_plugins_close(&s.plugins);
    free(given);
    return code;
}

const tz_command tz_command_run = {
    .name = "run",
    .examples = "  trapeze run chip.lua --out runs/chip --report\n"
                "  trapeze run grayscott.lua --set feed=0.03 --checkpoint 10min\n",
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
        "  --from RUNDIR      begin with the fields of another run, of this or another script: "
        "its\n"
        "                     last checkpoint or .npy frames; step and time go on\n"
        "  --at STEP          with --from: those of that step\n"
        "  --out DIR          the run's folder: new or empty (default: runs/SCRIPT-NNN)\n"
        "  --report           write report.html into the folder at the end (trapeze report)\n"
        "  --set NAME=VALUE   a value for the script: tz.args.NAME; may be repeated\n"
        "  --serve[=PORT]     a live view: a page with the frame, plots and speed, where the run "
        "can\n"
        "                     be paused, stepped and changed, at 127.0.0.1 and a free port\n"
        "  --serve-address IP the same at another address of this machine, 0.0.0.0: at all\n"
        "  --serve-paused     the same; runs begin paused and wait for the page\n"
        "  --serve-view       the same, with a second address for pages that may only look\n"
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

/* ---- trapeze resume -------------------------------------------------------------------------- */

/* The command line that began the run; the texts are those of `facts`. Release it with free(). */
static char **first_arguments(const json_t *facts, int *count)
{
    const json_t *list = json_object_get(facts, "arguments"), *item;
    char **arguments = calloc(json_array_size(list) + 2, sizeof *arguments);
    size_t i;
    *count = 0;
    if (!arguments)
        return NULL;
    json_array_foreach(list, i, item)
    {
        if (json_is_string(item))
            arguments[(*count)++] = (char *)json_string_value(item);
    }
    return arguments;
}

/* Read the first command line. Its copy keeps the order, which getopt_long changes. */
static int read_first(const tz_command *command, char **arguments, int count, settings *s)
{
    char **copy = copy_arguments(count, arguments);
    if (!copy)
        return EXIT_FAILED;
    optind = 0; /* begins anew */
    s->script.from_step = -1;
    const int code = read_options(command, count, copy, s);
    free(copy);
    s->script.arguments_count = count;
    s->script.arguments = (const char *const *)arguments;
    s->script.out = NULL;
    return code;
}

static bool has(const tz_paths *sets, size_t count, const char *pair)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(sets->items[i], pair) == 0)
            return true;
    return false;
}

/* What a run was allowed is in its checkpoint, which may be somebody else's file: it is not allowed
 * again unless this command line says so. Takes it out of the first one's options. */
typedef struct rights {
    bool unsafe;
    tz_paths plugins; /* absolute */
} rights;

static int take_rights(settings *s, const char *from, rights *out)
{
    tz_error error;
    out->unsafe = s->script.unsafe;
    for (size_t i = 0; i < s->plugins.given.count; i++) {
        char path[PATH_MAX];
        const char *given = s->plugins.given.items[i];
        snprintf(path, sizeof path, "%s%s%s", *given == '/' ? "" : from, *given == '/' ? "" : "/",
                 given);
        if (tz_paths_add(&out->plugins, path, &error) != TZ_OK)
            return tz_fail(EXIT_FAILED, &error);
    }
    s->script.unsafe = false;
    s->script.serve = s->script.serve_paused = false;
    s->script.serve_address = NULL;
    tz_paths_clear(&s->plugins.given);
    return TZ_OPTIONS_GO_ON;
}

/* Refuses, with the command that would be allowed, what the run had and this command line does not
 * give. */
static int check_rights(int argc, char **argv, const settings *s, const rights *had)
{
    const bool unsafe = had->unsafe && !s->script.unsafe;
    const bool plugins = had->plugins.count > 0 && s->plugins.given.count == 0;
    char *line = NULL;
    size_t size;
    if (!unsafe && !plugins)
        return TZ_OPTIONS_GO_ON;
    FILE *out = open_memstream(&line, &size);
    for (int i = 0; out && i < argc; i++)
        tz_put_shell_word(out, argv[i]);
    if (out && unsafe)
        tz_put_shell_word(out, "--unsafe");
    for (size_t i = 0; out && plugins && i < had->plugins.count; i++) {
        tz_put_shell_word(out, "--plugins");
        tz_put_shell_word(out, had->plugins.items[i]);
    }
    if (!out || fclose(out) != 0)
        return tz_fail_text(EXIT_FAILED, "not enough memory");
    const int code = tz_fail_text(EXIT_FAILED,
                                  "the run was begun with %s, which lets it run any code; if you "
                                  "trust its folder, say so: trapeze%s",
                                  unsafe && plugins ? "--unsafe and --plugins"
                                  : unsafe          ? "--unsafe"
                                                    : "--plugins",
                                  line);
    free(line);
    return code;
}

/* Paths of this command line begin where it is given. */
static int make_absolute(tz_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++) {
        char *const path = realpath(paths->items[i], NULL);
        if (!path)
            return tz_fail_text(EXIT_FAILED, "%s: %s", paths->items[i], strerror(errno));
        free(paths->items[i]);
        paths->items[i] = path;
    }
    return TZ_OPTIONS_GO_ON;
}

/* The options of this command line replace those of the first. */
static int read_own(const tz_command *command, int argc, char **argv, settings *s,
                    const char *folder)
{
    const settings first = *s;
    const size_t sets = s->sets.count;
    s->script.backend = NULL;
    s->script.devices = NULL;
    s->script.policy = (tz_plan_wish){.start = 0};
    s->script.walltime_s = 0; /* counts from now on, if it is given again */
    s->script.from = NULL;
    optind = 0;
    const int code = read_options(command, argc, argv, s);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (s->script.from)
        return tz_misuse(command, "--from is for trapeze run: a run that goes on has its fields");
    s->script.from = first.script.from;
    for (size_t i = sets; i < s->sets.count; i++)
        if (!has(&s->sets, sets, s->sets.items[i]))
            return tz_misuse(command,
                             "--set %.80s: the run was begun with other values, and goes on with "
                             "these; give others to trapeze run",
                             s->sets.items[i]);
    s->sets.count = sets;
    if (s->script.out || s->script.check)
        return tz_misuse(command, "goes on in the folder %s, and takes no --out or --check",
                         folder);
    /* Plans are those of a backend: another one chooses its own. */
    if (!s->script.backend) {
        const tz_plan_wish own = s->script.policy;
        s->script.backend = first.script.backend;
        s->script.devices = s->script.devices ? s->script.devices : first.script.devices;
        if (!own.policy && !own.height && own.given.height == 0 && !own.given.family[0])
            s->script.policy = first.script.policy;
    }
    return make_absolute(&s->plugins.given);
}

/* The command line, and what it names. */
typedef struct line {
    const tz_command *command;
    int argc;
    char **argv;
    char folder[PATH_MAX];
    tz_checkpoint_reader *reader;
    char **first; /* arguments of the run */
    rights had;
    settings s;
} line;

/* The options of both command lines, in the folder where the run was begun. */
static int prepare(line *l)
{
    const json_t *facts = tz_checkpoint_facts(l->reader);
    int count = 0;
    const char *from = json_string_value(json_object_get(facts, "folder"));
    l->s.script.path = json_string_value(json_object_get(facts, "scenario"));
    l->s.script.resume = l->folder;
    l->first = first_arguments(facts, &count);
    if (!l->first)
        return tz_fail_text(EXIT_FAILED, "not enough memory");
    if (!from || !l->s.script.path || count == 0)
        return tz_fail_text(EXIT_FAILED, "%s: the checkpoint does not say what was run", l->folder);
    char **copy = copy_arguments(l->argc, l->argv);
    if (!copy)
        return EXIT_FAILED;
    int code = read_first(&tz_command_run, l->first, count, &l->s);
    if (code == TZ_OPTIONS_GO_ON)
        code = take_rights(&l->s, from, &l->had);
    if (code == TZ_OPTIONS_GO_ON)
        code = read_own(l->command, l->argc, copy, &l->s, l->folder);
    if (code == TZ_OPTIONS_GO_ON)
        code = check_rights(l->argc, l->argv, &l->s, &l->had);
    free(copy);
    /* Relative paths of the script and of its plugins begin where the run was begun. */
    if (code == TZ_OPTIONS_GO_ON && chdir(from) != 0)
        code =
            tz_fail_text(EXIT_FAILED, "%s: cannot enter the folder in which the run was begun: %s",
                         from, strerror(errno));
    return code;
}

/* A run that is done can only go on to a later end. */
static int check_status(const char *folder, const char *until)
{
    tz_checkpoint_reader *last = NULL;
    json_t *record = tz_run_load(folder);
    if (!record)
        return EXIT_FAILED;
    const char *status = json_string_value(json_object_get(record, "status"));
    const bool done = status && (strcmp(status, "done") == 0 || strcmp(status, "stagnated") == 0);
    json_decref(record);
    const bool kept = done && tz_checkpoints_newest(&last, folder, NULL) == TZ_OK;
    tz_checkpoint_close(last);
    if (!done || (until && kept))
        return TZ_OPTIONS_GO_ON;
    return tz_fail_text(EXIT_FAILED, "%s: the run is done%s", folder,
                        kept ? ": there is nothing left to do; --until 5000 (a step) or --until "
                               "\"2 ms\" goes on with it"
                        : until
                            ? ", and has no checkpoint: a run that is started with --checkpoint "
                              "10min keeps its last one"
                            : ": there is nothing left to do");
}

/* The folder among the arguments, the first that is no option, nor the value of one, and its newest
 * checkpoint. */
static int find(line *l)
{
    settings scan = {.quiet = false};
    tz_error error;
    char **copy = copy_arguments(l->argc, l->argv);
    if (!copy)
        return EXIT_FAILED;
    int code = read_options(l->command, l->argc, copy, &scan);
    if (code == TZ_OPTIONS_GO_ON && optind == l->argc)
        code = tz_misuse(l->command, "needs the folder of a run");
    else if (code == TZ_OPTIONS_GO_ON && optind + 1 != l->argc)
        code = tz_misuse(l->command, "takes one folder, not '%.60s' too", copy[optind + 1]);
    else if (code == TZ_OPTIONS_GO_ON && !realpath(copy[optind], l->folder))
        code = tz_fail_text(EXIT_FAILED, "%s: %s", copy[optind], strerror(errno));
    if (code == TZ_OPTIONS_GO_ON)
        code = check_status(l->folder, scan.script.until);
    if (code == TZ_OPTIONS_GO_ON && tz_checkpoints_newest(&l->reader, l->folder, &error) != TZ_OK)
        code = tz_fail(EXIT_FAILED, &error);
    tz_paths_clear(&scan.sets);
    tz_paths_clear(&scan.plugins.given);
    free(copy);
    return code;
}

static int resume(const tz_command *command, int argc, char **argv)
{
    line l = {.command = command, .argc = argc, .argv = argv};
    const tz_ranks *ranks = NULL;
    int code = open_ranks(&ranks);
    if (code == TZ_OPTIONS_GO_ON) {
        l.s.script.ranks = ranks;
        code = find(&l);
        if (code == TZ_OPTIONS_GO_ON)
            code = prepare(&l);
        if (code == TZ_OPTIONS_GO_ON)
            code = execute(&l.s);
        close_ranks(ranks, code);
    }
    tz_checkpoint_close(l.reader);
    tz_paths_clear(&l.had.plugins);
    tz_paths_clear(&l.s.sets);
    tz_plugins_close(&l.s.plugins);
    free(l.first);
    return code;
}

const tz_command tz_command_resume = {
    .name = "resume",
    .examples = "  trapeze resume runs/chip-001\n"
                "  trapeze resume runs/chip-001 --until \"200 s\"\n",
    .arguments = "RUNDIR [OPTION]…",
    .doc = "go on with a run from its last checkpoint",
    .help =
        "The run goes on in its folder, and its files become those of a run that was never\n"
        "stopped. The options of its trapeze run hold; these replace them:\n"
        "  --backend NAME     auto, cpu, cuda or reference\n"
        "  --height N|POLICY, --policy NAME, --forget, --family NAME, --threads N, --device N,\n"
        "  --compile-threads N, --sync  as for trapeze run. The bits of the results do not depend "
        "on them\n"
        "  --checkpoint TIME  the time between two checkpoints from now on\n"
        "  --walltime TIME    of this call; that of trapeze run does not hold again\n"
        "  --until STEP|TIME  go on to a later step (5000) or simulated time (\"200 s\", t=50) "
        "than the\n"
        "                     script says: of a run that has ended and has kept a checkpoint, if\n"
        "                     its script has one simulation and ends with its sim:run\n"
        "  --plugins DIR      look for plugins here; may be repeated\n"
        "  --unsafe           give the script all of Lua's libraries (files, processes)\n"
        "                     A run that had --plugins or --unsafe needs it again: a folder\n"
        "                     of somebody else gets no rights by itself\n"
        "  --report           write report.html at the end\n"
        "  -q, --quiet        no progress, no log, no summary\n"
        "  -v, --verbose      a longer summary\n"
        "  -h, --help         print this\n"
        "\n"
        "The script is run again up to the checkpoint, and gets what it got before without\n"
        "computing it. Another script, plugin or version of Trapeze is refused.\n"
        "Exit codes are those of trapeze run.\n",
    .call = resume,
};
