/* Runs a scenario, with its options and its progress. Called by trapeze run and trapeze resume. */
#include "cli/run_options.h"

#include "backend/cuda/compile/compile.h"
#include "backend/slabs/slabs.h"
#include "base/machine.h"
#include "base/number.h"
#include "cli/print_run.h"
#include "lua/interrupt.h"
#include "lua/script.h"
#include "output/live/server.h"
#include "output/run_record.h"
#include "policy/policy.h"
#include "predict/workload.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- Progress -------------------------------------------------------------------------------- */

/* Seconds between two showings. */
static const double redraw_s = 0.1, line_s = 3.0;

static double seconds_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + 1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

static void progress_begin(tz_progress *progress, bool quiet)
{
    memset(progress, 0, sizeof *progress);
    progress->quiet = quiet;
    progress->terminal = isatty(STDERR_FILENO) == 1;
}

/* Erase the unfinished line, before anything else is printed. */
static void progress_clear(tz_progress *progress)
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

static void progress_show(tz_progress *progress, const tz_script_progress *now)
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

/* ---- What the script prints ------------------------------------------------------------------ */

static void on_print(void *context, const char *text, size_t bytes)
{
    progress_clear(&((tz_run_settings *)context)->progress);
    fwrite(text, 1, bytes, stdout);
}

static void on_note(void *context, tz_note note, const char *line)
{
    tz_run_settings *s = context;
    if (note == TZ_NOTE_LOG && s->quiet)
        return;
    progress_clear(&s->progress);
    fflush(stdout);
    fprintf(stderr, note == TZ_NOTE_WARNING ? "trapeze: warning: %s\n" : "%s\n", line);
}

static void on_progress(void *context, const tz_script_progress *progress)
{
    progress_show(&((tz_run_settings *)context)->progress, progress);
}

static void on_record(void *context, const tz_record *record)
{
    ((tz_run_settings *)context)->record = tz_record_copy(record);
}

static void on_serves(void *context, const char *url)
{
    (void)context;
    fprintf(stderr, "live view: %s\n", url);
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

int tz_run_options_read(const tz_command *command, int argc, char **argv, tz_run_settings *s)
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
        TZ_TEXT("out", &script->out),
        TZ_CALL("set", &s->sets, tz_take_set),
        TZ_FLAG("report", &script->report),
        {.name = "serve", .kind = TZ_OPTION_OPTIONAL, .out = script, .take = take_serve},
        TZ_CALL("serve-address", script, take_serve_address),
        TZ_FLAG("serve-paused", &script->serve_paused),
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
    script->serve |= script->serve_paused;
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
static void tell_how_to_go_on(const tz_run_settings *s, const char *folder)
{
    tz_paths words = {0};
    bool failed = tz_paths_add(&words, "trapeze", NULL) || tz_paths_add(&words, "resume", NULL) ||
                  tz_paths_add(&words, folder, NULL) ||
                  (s->script.unsafe && tz_paths_add(&words, "--unsafe", NULL));
    for (size_t i = 0; i < s->plugins.given.count; i++)
        failed = failed || tz_paths_add(&words, "--plugins", NULL) ||
                 tz_paths_add(&words, s->plugins.given.items[i], NULL);
    char *const line =
        failed ? NULL : tz_shell_words((const char *const *)words.items, words.count);
    if (line)
        fprintf(stderr, "it goes on with: %s\n", line);
    free(line);
    tz_paths_clear(&words);
}

/* What the run came to, on stderr. */
static void tell_end(const tz_run_settings *s, tz_status status, const tz_script_result *result,
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
    if (result->steps > 0) {
        const double rate = result->seconds > 0 ? 1e-9 * result->updates / result->seconds : 0;
        fprintf(stderr, "%lld steps in %.3g s, %.3g GCells/s; %s\n", (long long)result->steps,
                result->seconds, rate,
                status == TZ_INTERRUPTED ? "interrupted"
                : status != TZ_OK        ? "failed"
                : result->ending[0]      ? result->ending
                                         : "done");
    }
    if (s->record && (result->steps > 0 || result->folder[0]))
        tz_print_run_summary(stderr, s->record,
                             s->script.backend || s->script.devices ? "by the command line"
                                                                    : "by the scenario");
    if (result->folder[0])
        fprintf(stderr, "  folder   %s\n", result->folder);
    tz_facts facts;
    if (s->record && s->verbose && tz_facts_begin(&facts, TZ_FORM_TEXT, stderr)) {
        tz_print_run(&facts, s->record);
        tz_facts_end(&facts);
    }
    if (result->can_go_on)
        tell_how_to_go_on(s, result->folder);
}

static int conclude(const tz_run_settings *s, tz_status status, const tz_script_result *result,
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

int tz_run_open(const tz_ranks **ranks)
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

int tz_run_close(const tz_ranks *ranks, int code)
{
    tz_slabs_end(ranks, code);
    tz_ranks_close(ranks);
    return code;
}

int tz_run_execute(tz_run_settings *s)
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
