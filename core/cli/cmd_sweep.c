/* trapeze sweep: runs a scenario with each combination of parameters. */
#include "cli/command.h"

#include "base/atomic.h"
#include "base/file.h"
#include "base/json.h"
#include "base/machine.h"
#include "base/process.h"
#include "base/ranks.h"
#include "base/text.h"
#include "lua/interrupt.h"
#include "lua/script.h"
#include "output/folder.h"
#include "output/sweep/sheet.h"
#include <ftw.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { RUN_ARGUMENTS_MAX = 100, SCRIPT_BYTES_MAX = 16 << 20, JOBS_MAX = 256 };

typedef struct sweep {
    const tz_command *command;
    const char *script, *out;
    int jobs;
    bool check, unsafe;
    tz_paths sets;
    tz_plugins plugins;
    int given_count; /* options for each run */
    char **given;
    tz_sweep_grid grid;
    char folder[PATH_MAX];
    int lock; /* a descriptor; -1: none */
    pthread_mutex_t mutex;
    size_t next;     /* the point that is begun next */
    char **failures; /* of each point: why it failed, owned; or NULL */
    size_t done, skipped, failed;
} sweep;

/* ---- The grid -------------------------------------------------------------------------------- */

/* NAME=VALUE,VALUE,… of --set. */
static int add_given(sweep *s, const char *set)
{
    tz_error error;
    tz_paths values = {0};
    const size_t length = strcspn(set, "=");
    char *copy = strdup(set), *rest = copy ? copy + length : NULL;
    tz_status status = copy ? TZ_OK : tz_error_set(&error, TZ_MEMORY, NULL, "not enough memory");
    if (rest)
        *rest++ = '\0';
    for (char *value; status == TZ_OK && (value = strsep(&rest, ","));)
        status = tz_paths_add(&values, value, &error);
    if (status == TZ_OK)
        status = tz_sweep_grid_add(&s->grid, copy, (const char *const *)values.items, values.count,
                                   &error);
    tz_paths_clear(&values);
    free(copy);
    return status == TZ_OK ? EXIT_DONE : tz_fail(EXIT_USAGE, &error);
}

/* What the script declares, unless the command line does. */
static tz_status on_sweep(void *context, const tz_sweep_grid *grid, tz_error *error)
{
    sweep *s = context;
    tz_status status = TZ_OK;
    for (size_t i = 0; status == TZ_OK && i < grid->count; i++) {
        const tz_sweep_axis *axis = &grid->axes[i];
        if (!tz_sweep_grid_has(&s->grid, axis->name))
            status =
                tz_sweep_grid_add(&s->grid, axis->name, (const char *const *)axis->values.items,
                                  axis->values.count, error);
    }
    return status;
}

/* Check the script with its first point, and learn what it declares. */
static int check_script(sweep *s)
{
    tz_script_result result;
    tz_error error;
    tz_paths sets = {0};
    tz_status status = TZ_OK;
    for (size_t i = 0; status == TZ_OK && i < s->grid.count; i++) {
        char *set = NULL;
        if (asprintf(&set, "%s=%s", s->grid.axes[i].name, tz_sweep_grid_value(&s->grid, 0, i)) < 0)
            set = NULL;
        status = set ? tz_paths_add(&sets, set, &error)
                     : tz_error_set(&error, TZ_MEMORY, NULL, "not enough memory");
        free(set);
    }
    const tz_script_options options = {.path = s->script,
                                       .registry = s->plugins.registry,
                                       .sets_count = sets.count,
                                       .sets = (const char *const *)sets.items,
                                       .check = true,
                                       .define = true,
                                       .unsafe = s->unsafe,
                                       .sink = {.context = s, .sweep = on_sweep}};
    result.unread[0] = '\0';
    if (status == TZ_OK)
        status = tz_script_run(&options, &result, &error);
    tz_paths_clear(&sets);
    if (result.unread[0])
        return tz_fail_text(EXIT_USAGE, "%s", result.unread);
    if (status == TZ_INTERRUPTED)
        return 128 + tz_interrupt_signal();
    if (status != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    if (s->grid.count == 0)
        return tz_fail_text(EXIT_USAGE,
                            "%s declares no parameters: call tz.sweep{ NAME = {values} } in it, or "
                            "give --set NAME=VALUE,VALUE",
                            s->script);
    return EXIT_DONE;
}

/* ---- The folder ------------------------------------------------------------------------------ */

/* What makes a sweep this one: script, points, options of its runs. */
static char *identity(const sweep *s, const char *text)
{
    bool failed = false;
    json_t *root = json_object(), *axes = json_object(), *options = json_array();
    tz_json_put_text(root, "scenario", text, &failed);
    tz_json_put(root, "parameters", axes, &failed);
    tz_json_put(root, "options", options, &failed);
    for (size_t i = 0; i < s->grid.count; i++) {
        json_t *values = json_array();
        tz_json_put(axes, s->grid.axes[i].name, values, &failed);
        for (size_t k = 0; k < s->grid.axes[i].values.count; k++)
            failed |= json_array_append_new(values, json_string(s->grid.axes[i].values.items[k]));
    }
    for (int i = 0; i < s->given_count; i++)
        failed |= json_array_append_new(options, json_string(s->given[i])) != 0;
    char *dump = failed ? NULL : json_dumps(root, JSON_INDENT(2) | JSON_SORT_KEYS);
    json_decref(root);
    return dump;
}

static void name_folder(sweep *s)
{
    const char *slash = strrchr(s->script, '/'), *name = slash ? slash + 1 : s->script;
    size_t length = strlen(name);
    if (length > 4 && strcmp(name + length - 4, ".lua") == 0)
        length -= 4;
    if (s->out)
        snprintf(s->folder, sizeof s->folder, "%s", s->out);
    else
        snprintf(s->folder, sizeof s->folder, "runs/%.*s-sweep", (int)length, name);
}

/* Make the folder, or take that of the same sweep, and lock it. */
static tz_status open_folder(sweep *s, tz_error *error)
{
    char path[PATH_MAX + 32], *text = NULL, *wanted = NULL, *found = NULL;
    size_t bytes = 0;
    name_folder(s);
    snprintf(path, sizeof path, "%s/%s", s->folder, TZ_SWEEP_FACTS);
    tz_status status = tz_file_read(s->script, SCRIPT_BYTES_MAX, &text, &bytes, error);
    if (status == TZ_OK) {
        tz_text_utf8(text);
        wanted = identity(s, text);
        status = wanted ? tz_make_dirs(s->folder, error)
                        : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    }
    if (status == TZ_OK && access(path, F_OK) != 0) {
        /* rmdir() tells whether a folder is empty. */
        status = rmdir(s->folder) == 0 ? tz_make_dirs(s->folder, error)
                                       : tz_error_set(error, TZ_IO, s->folder,
                                                      "has files, but is no folder of a sweep; "
                                                      "give another one with --out");
        if (status == TZ_OK)
            status = tz_atomic_save(path, false, wanted, strlen(wanted), error);
    }
    if (status == TZ_OK)
        status = tz_file_read(path, 2 * SCRIPT_BYTES_MAX, &found, &bytes, error);
    if (status == TZ_OK && strcmp(found, wanted) != 0)
        status = tz_error_set(error, TZ_IO, s->folder,
                              "holds another sweep: its script, parameters or options differ; give "
                              "another folder with --out");
    if (status == TZ_OK)
        status = tz_file_open(path, &s->lock, NULL, error);
    if (status == TZ_OK && flock(s->lock, LOCK_EX | LOCK_NB) != 0)
        status = tz_error_set(error, TZ_IO, s->folder, "another trapeze sweep uses it now");
    free(text);
    free(wanted);
    free(found);
    return status;
}

/* ---- A point --------------------------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *facts, int type, struct FTW *where)
{
    (void)facts, (void)type, (void)where;
    return remove(path);
}

/* Remove what an unfinished run has left. NULL, or why that is not done. */
static const char *clear_point(const char *folder)
{
    char path[PATH_MAX + 300];
    if (access(folder, F_OK) != 0)
        return NULL;
    if (tz_folder_is_in_use(folder))
        return "a run still goes on in its folder";
    snprintf(path, sizeof path, "%s/scenario.lua", folder);
    if (access(path, F_OK) != 0 && rmdir(folder) != 0)
        return "its folder holds no run; remove it";
    if (access(folder, F_OK) == 0 && nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0)
        return "its folder cannot be removed";
    return NULL;
}

/* The arguments of trapeze run; `room` for the texts that are made. */
static void make_arguments(const sweep *s, const char *folder, char *const *sets,
                           const char *threads, const char **out)
{
    size_t n = 0;
    out[n++] = "trapeze";
    out[n++] = "run";
    out[n++] = "--quiet";
    out[n++] = "--out";
    out[n++] = folder;
    for (size_t i = 0; i < s->grid.count; i++) {
        out[n++] = "--set";
        out[n++] = sets[i];
    }
    for (size_t i = 0; i < s->plugins.given.count && i < RUN_ARGUMENTS_MAX / 4; i++) {
        out[n++] = "--plugins";
        out[n++] = s->plugins.given.items[i];
    }
    if (s->unsafe)
        out[n++] = "--unsafe";
    if (threads[0]) {
        out[n++] = "--threads";
        out[n++] = threads;
    }
    for (int i = 0; i < s->given_count; i++)
        out[n++] = s->given[i];
    out[n++] = "--";
    out[n++] = s->script;
    out[n] = NULL;
}

/* Run a point to its end. *why is the last line that it has written, owned, if it fails. */
static tz_status run_point(sweep *s, size_t point, const char *folder, char **why, tz_error *error)
{
    const char *arguments[2 * RUN_ARGUMENTS_MAX];
    char *sets[TZ_SWEEP_AXES_MAX] = {NULL}, threads[16] = "", *output = NULL;
    tz_machine machine;
    tz_status status = TZ_OK;
    int code = 0;
    tz_machine_read(&machine);
    if (s->jobs > 1)
        snprintf(threads, sizeof threads, "%d",
                 machine.cores > s->jobs ? machine.cores / s->jobs : 1);
    for (size_t i = 0; status == TZ_OK && i < s->grid.count; i++)
        if (asprintf(&sets[i], "%s=%s", s->grid.axes[i].name,
                     tz_sweep_grid_value(&s->grid, point, i)) < 0) {
            sets[i] = NULL;
            status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
        }
    if (status == TZ_OK) {
        make_arguments(s, folder, sets, threads, arguments);
        const tz_process process = {.program = "/proc/self/exe",
                                    .arguments = arguments,
                                    .limit_s = 1e12,
                                    .cancel = {.stopped = tz_interrupt_signal}};
        status = tz_process_run(&process, &output, &code, error);
    }
    if (status == TZ_OK && code != 0) {
        char *end = output + strcspn(output, "\n");
        *end = '\0';
        tz_text_printable(output);
        if (asprintf(why, "%s%s", output[0] ? "" : "failed without a message",
                     strncmp(output, "trapeze: ", 9) == 0 ? output + 9 : output) < 0)
            *why = NULL;
    }
    free(output);
    for (size_t i = 0; i < s->grid.count; i++)
        free(sets[i]);
    return status;
}

/* Count how a point has ended, and say it. Takes `why`. */
static void conclude(sweep *s, size_t point, const char *name, bool skipped, char *why)
{
    pthread_mutex_lock(&s->mutex);
    s->failures[point] = why;
    s->failed += why != NULL;
    s->skipped += !why && skipped;
    s->done += !why && !skipped;
    fprintf(stderr, "%s: %s%s\n", name,
            why       ? "failed: "
            : skipped ? "skipped: finished"
                      : "done",
            why ? why : "");
    pthread_mutex_unlock(&s->mutex);
}

/* A run of an earlier sweep, which was killed, may still go on there. */
static void wait_for_run(sweep *s, const char *name, const char *folder)
{
    static const struct timespec pause = {.tv_nsec = 100000000};
    bool told = false;
    while (tz_folder_is_in_use(folder) && tz_interrupt_signal() == 0) {
        pthread_mutex_lock(&s->mutex);
        if (!told)
            fprintf(stderr, "%s: waits for its run, which still goes on\n", name);
        pthread_mutex_unlock(&s->mutex);
        told = true;
        nanosleep(&pause, NULL);
    }
}

static void take_point(sweep *s, size_t point)
{
    char name[TZ_SWEEP_POINT_SIZE], folder[PATH_MAX + TZ_SWEEP_POINT_SIZE], status[40], line[2100];
    char *why = NULL;
    tz_error error;
    tz_sweep_grid_name(&s->grid, point, name);
    snprintf(folder, sizeof folder, "%s/%s", s->folder, name);
    wait_for_run(s, name, folder);
    if (tz_interrupt_signal() != 0)
        return;
    tz_sweep_status(folder, status, sizeof status);
    if (tz_sweep_is_finished(status)) {
        const bool good = strcmp(status, "done") == 0;
        conclude(s, point, name, true, good ? NULL : strdup("stagnated (skipped: finished)"));
        return;
    }
    const char *refusal = clear_point(folder);
    if (refusal) {
        why = strdup(refusal);
    } else if (run_point(s, point, folder, &why, &error) != TZ_OK) {
        if (error.code == TZ_INTERRUPTED)
            return;
        tz_error_format(&error, line, sizeof line);
        why = strdup(line);
    }
    conclude(s, point, name, false, why);
}

static void *work(void *context)
{
    sweep *s = context;
    const size_t count = tz_sweep_grid_points(&s->grid);
    for (;;) {
        pthread_mutex_lock(&s->mutex);
        const size_t point = s->next++;
        pthread_mutex_unlock(&s->mutex);
        if (point >= count || tz_interrupt_signal() != 0)
            return NULL;
        take_point(s, point);
    }
}

/* ---- The sweep ------------------------------------------------------------------------------- */

static void run_all(sweep *s)
{
    pthread_t threads[JOBS_MAX];
    int started = 0;
    while (started + 1 < s->jobs && pthread_create(&threads[started], NULL, work, s) == 0)
        started++;
    work(s);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

static int execute(sweep *s)
{
    tz_error error;
    const size_t count = tz_sweep_grid_points(&s->grid);
    if (open_folder(s, &error) != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    s->failures = calloc(count, sizeof *s->failures);
    if (!s->failures)
        return tz_fail_text(EXIT_FAILED, "not enough memory");
    run_all(s);
    const char *slash = strrchr(s->script, '/');
    if (tz_sweep_write(s->folder, slash ? slash + 1 : s->script, &s->grid, s->failures, &error))
        return tz_fail(EXIT_FAILED, &error);
    fprintf(stderr, "%zu points: %zu done, %zu skipped, %zu failed%s\n", count, s->done, s->skipped,
            s->failed, tz_interrupt_signal() ? "; stopped: the same command goes on" : "");
    printf("%s/%s\n", s->folder, TZ_SWEEP_SHEET);
    const int written = tz_finish_output();
    return tz_interrupt_signal() ? 128 + tz_interrupt_signal()
           : s->failed > 0       ? EXIT_FAILED
                                 : written;
}

static int list_points(const sweep *s)
{
    for (size_t i = 0; i < tz_sweep_grid_points(&s->grid); i++) {
        char name[TZ_SWEEP_POINT_SIZE];
        tz_sweep_grid_name(&s->grid, i, name);
        puts(name);
    }
    return tz_finish_output();
}

static int read_line(sweep *s, int argc, char **argv)
{
    int rank, count;
    const tz_option options[] = {TZ_CALL("set", &s->sets, tz_take_set),
                                 TZ_INTEGER("jobs", &s->jobs, 1, JOBS_MAX),
                                 TZ_TEXT("out", &s->out),
                                 TZ_FLAG("check", &s->check),
                                 TZ_FLAG("unsafe", &s->unsafe),
                                 TZ_PATHS("plugins", &s->plugins.given),
                                 {.name = NULL}};
    const int code = tz_options_read(s->command, argc, argv, options);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (optind == argc)
        return tz_misuse(s->command, "needs a script");
    s->script = argv[optind];
    s->given = argv + optind + 1;
    s->given_count = argc - optind - 1;
    if (s->given_count > 0 && s->given[0][0] != '-')
        return tz_misuse(s->command, "takes one script, not '%.60s' too", s->given[0]);
    if (s->given_count > RUN_ARGUMENTS_MAX)
        return tz_misuse(s->command, "has more than %d options of runs", RUN_ARGUMENTS_MAX);
    if (s->out && (s->out[0] == '\0' || strlen(s->out) >= PATH_MAX - 300))
        return tz_misuse(s->command, "--out needs the path of a folder");
    if (tz_ranks_environment(&rank, &count))
        return tz_misuse(s->command, "does not run under mpirun");
    return TZ_OPTIONS_GO_ON;
}

static int sweep_call(const tz_command *command, int argc, char **argv)
{
    sweep s = {.command = command,
               .jobs = 1,
               .lock = -1,
               .mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER};
    int code = read_line(&s, argc, argv);
    if (code == TZ_OPTIONS_GO_ON) {
        tz_interrupt_install();
        code = tz_plugins_open(&s.plugins) ? EXIT_DONE : EXIT_FAILED;
        for (size_t i = 0; code == EXIT_DONE && i < s.sets.count; i++)
            code = add_given(&s, s.sets.items[i]);
        if (code == EXIT_DONE)
            code = check_script(&s);
        if (code == EXIT_DONE)
            code = s.check ? list_points(&s) : execute(&s);
    }
    for (size_t i = 0; s.failures && i < tz_sweep_grid_points(&s.grid); i++)
        free(s.failures[i]);
    free(s.failures);
    if (s.lock >= 0)
        close(s.lock);
    tz_sweep_grid_clear(&s.grid);
    tz_paths_clear(&s.sets);
    tz_plugins_close(&s.plugins);
    return code;
}

const tz_command tz_command_sweep = {
    .name = "sweep",
    .examples = "  trapeze sweep own.lua --set feed=0.03,0.04,0.05 --jobs 4\n"
                "  trapeze sweep own.lua --check\n",
    .arguments = "SCRIPT [OPTION]… [-- OPTION OF RUN…]",
    .doc = "run a scenario with each combination of parameters",
    .help =
        "Runs SCRIPT with all combinations of the values that tz.sweep{ NAME = {values}, … } in "
        "it\n"
        "and --set give. Each is a run of its own in a folder such as h=2,power=1. summary.csv "
        "has\n"
        "their parameters, times, plans and the last rows of their tables; index.html shows them\n"
        "side by side. The same command again runs only what is not finished.\n"
        "  --set NAME=VALUE,VALUE…  values of tz.args.NAME, in place of the script's; may be "
        "repeated\n"
        "  --jobs N                 runs at once, 1 to 256 (1); they share the processor's cores\n"
        "  --out DIR                the sweep's folder (runs/SCRIPT-sweep)\n"
        "  --check                  print the names of all points; run none\n"
        "  --unsafe                 give the script all of Lua's libraries (files, processes)\n"
        "  --plugins DIR            look for plugins here first; may be repeated\n"
        "  -h, --help               print this\n"
        "\n"
        "Options after -- are given to each run: trapeze sweep heat.lua -- --backend cpu\n"
        "Ctrl-C stops the runs; those that were finished stay.\n"
        "Exit codes: 0 done, 1 a run failed or stagnated, 2 wrong use.\n",
    .call = sweep_call,
};
