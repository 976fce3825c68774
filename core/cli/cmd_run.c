/* trapeze run SCRIPT */
#include "cli/command.h"

#include "backend/backend.h"
#include "base/names.h"
#include "cli/progress.h"
#include "lua/interrupt.h"
#include "lua/script.h"
#include "policy/policy.h"
#include <stdlib.h>
#include <string.h>

enum {
    OPT_BACKEND = 256,
    OPT_HEIGHT,
    OPT_POLICY,
    OPT_FORGET,
    OPT_THREADS,
    OPT_DEVICE,
    OPT_FAMILY,
    OPT_SYNC,
    OPT_OUT,
    OPT_SET,
    OPT_CHECK,
    OPT_UNSAFE,
    OPT_PLUGINS
};

typedef struct settings {
    tz_script_options script;
    tz_paths sets, plugins, folders;
    tz_progress progress;
    bool quiet;
} settings;

/* ---- What the script says -------------------------------------------------------------------- */

static void on_print(void *context, const char *text)
{
    tz_progress_clear(&((settings *)context)->progress);
    fputs(text, stdout);
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

/* ---- The options ----------------------------------------------------------------------------- */

static bool is_assignment(const char *text)
{
    const char *equals = strchr(text, '=');
    return equals != NULL && equals != text;
}

/* --height N, or the policy that is to choose it. */
static bool take_height(const tz_command *command, settings *s)
{
    static const char *const names[] = {"auto", "predicted", "adaptive", "exhaustive"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(optarg, names[i]) == 0) {
            s->script.policy = i > 0 ? names[i] : s->script.policy;
            s->script.height = 0;
            return true;
        }
    if (optarg[0] >= '0' && optarg[0] <= '9')
        return tz_option_number(command, "--height", optarg, 1, 1 << 20, &s->script.height);
    char hint[128];
    tz_misuse(command, "--height wants a whole number or a policy, not '%.60s'%s", optarg,
              tz_names_hint(hint, sizeof hint, optarg, names, sizeof names / sizeof *names));
    return false;
}

/* False when an option is wrong; `*done` when --help was asked for. */
static bool parse(const tz_command *command, int argc, char **argv, settings *s, bool *done)
{
    static const struct option options[] = {{"backend", required_argument, NULL, OPT_BACKEND},
                                            {"height", required_argument, NULL, OPT_HEIGHT},
                                            {"policy", required_argument, NULL, OPT_POLICY},
                                            {"forget", no_argument, NULL, OPT_FORGET},
                                            {"threads", required_argument, NULL, OPT_THREADS},
                                            {"device", required_argument, NULL, OPT_DEVICE},
                                            {"family", required_argument, NULL, OPT_FAMILY},
                                            {"sync", no_argument, NULL, OPT_SYNC},
                                            {"out", required_argument, NULL, OPT_OUT},
                                            {"set", required_argument, NULL, OPT_SET},
                                            {"check", no_argument, NULL, OPT_CHECK},
                                            {"quiet", no_argument, NULL, 'q'},
                                            {"unsafe", no_argument, NULL, OPT_UNSAFE},
                                            {"plugins", required_argument, NULL, OPT_PLUGINS},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    tz_error error;
    const tz_backend *backend = NULL;
    tz_policy_kind kind;
    for (int option; (option = tz_option_next(command, argc, argv, ":hq", options)) != -1;) {
        switch (option) {
        case OPT_BACKEND:
            if (tz_backend_find(optarg, &backend, &error) != TZ_OK) {
                tz_misuse(command, "--backend: %s", error.message);
                return false;
            }
            s->script.backend = optarg;
            break;
        case OPT_HEIGHT:
            if (!take_height(command, s))
                return false;
            break;
        case OPT_POLICY:
            if (tz_policy_find(optarg, &kind, &error) != TZ_OK) {
                tz_misuse(command, "--policy: %s", error.message);
                return false;
            }
            s->script.policy = optarg;
            break;
        case OPT_FORGET:
            s->script.forget = true;
            break;
        case OPT_THREADS:
            if (!tz_option_number(command, "--threads", optarg, 1, 1024, &s->script.threads))
                return false;
            break;
        case OPT_DEVICE:
            if (!tz_option_number(command, "--device", optarg, 0, 1023, &s->script.device))
                return false;
            break;
        case OPT_SYNC:
            s->script.sync = true;
            break;
        case OPT_FAMILY:
            s->script.family = optarg;
            break;
        case OPT_OUT:
            s->script.out = optarg;
            break;
        case OPT_SET:
            if (!is_assignment(optarg)) {
                tz_misuse(command, "--set wants NAME=VALUE, not '%.60s'", optarg);
                return false;
            }
            if (tz_paths_add(&s->sets, optarg, &error) != TZ_OK)
                return tz_fail(EXIT_FAILED, &error), false;
            break;
        case OPT_PLUGINS:
            if (tz_paths_add(&s->plugins, optarg, &error) != TZ_OK)
                return tz_fail(EXIT_FAILED, &error), false;
            break;
        case OPT_CHECK:
            s->script.check = true;
            break;
        case OPT_UNSAFE:
            s->script.unsafe = true;
            break;
        case 'q':
            s->quiet = true;
            break;
        case 'h':
            tz_help(command);
            *done = true;
            return true;
        default:
            return false;
        }
    }
    if (optind + 1 != argc) {
        if (optind == argc)
            tz_misuse(command, "wants a script");
        else
            tz_misuse(command, "wants one script, not '%.60s' too", argv[optind + 1]);
        return false;
    }
    s->script.path = argv[optind];
    return true;
}

/* ---- The run --------------------------------------------------------------------------------- */

static int conclude(const settings *s, tz_status status, const tz_script_result *result,
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
        fprintf(stderr, "%s\n", result->folder);
    } else if (!s->quiet && result->folder[0] != '\0') {
        fprintf(stderr, "%s\n", result->folder);
    }
    if (status == TZ_INTERRUPTED)
        return 128 + result->signal;
    return status == TZ_OK ? tz_finish_output() : EXIT_FAILED;
}

static int execute(settings *s)
{
    tz_script_result result;
    tz_error error;
    tz_registry *registry = tz_plugins_open(&s->plugins, &s->folders);
    if (registry == NULL)
        return EXIT_FAILED;
    s->script.registry = registry;
    s->script.sets_count = s->sets.count;
    s->script.sets = (const char *const *)s->sets.items;
    tz_interrupt_install();
    tz_progress_begin(&s->progress, s->quiet || s->script.check);
    const tz_status status = tz_script_run(&s->script, &result, &error);
    tz_progress_clear(&s->progress);
    fflush(stdout);
    const int code = conclude(s, status, &result, &error);
    tz_registry_destroy(registry);
    return code;
}

static int run(const tz_command *command, int argc, char **argv)
{
    settings s = {
        .script = {.height = -1,
                   .arguments_count = argc,
                   .sink = {.print = on_print, .note = on_note, .progress = on_progress}}};
    /* getopt_long moves the arguments about: keep them as given. */
    char **given = calloc((size_t)argc + 1, sizeof *given);
    if (given == NULL)
        return tz_fail_text(EXIT_FAILED, "not enough memory");
    memcpy(given, argv, (size_t)argc * sizeof *given);
    s.script.arguments = (const char *const *)given;
    s.script.sink.context = &s;
    bool done = false;
    int code = EXIT_USAGE;
    if (parse(command, argc, argv, &s, &done))
        code = done ? EXIT_DONE : execute(&s);
    tz_paths_clear(&s.sets);
    tz_paths_clear(&s.plugins);
    tz_paths_clear(&s.folders);
    free(given);
    return code;
}

const tz_command tz_command_run = {
    .name = "run",
    .arguments = "SCRIPT [OPTION]…",
    .doc = "run a Lua scenario",
    .help =
        "  --backend NAME     auto, cpu, cuda or reference; overrides the script\n"
        "  --height N|POLICY  iterations between two halo exchanges, or who chooses them: auto,\n"
        "                     predicted, adaptive, exhaustive; overrides the script\n"
        "  --policy NAME      the same; with --height N adaptive starts there, others keep it\n"
        "  --forget           measure anew what --policy exhaustive remembers\n"
        "  --threads N        threads of the cpu backend; overrides the script\n"
        "  --family NAME      how stages are executed: stream, tile, resident (cuda)\n"
        "  --sync             wait for every stage and check it: a GPU's fault is told at once\n"
        "  --device N         which GPU the cuda backend uses, from 0\n"
        "  --out DIR          the run's folder: new or empty (default: runs/SCRIPT-NNN)\n"
        "  --set NAME=VALUE   a value for the script, as tz.args.NAME; may be repeated\n"
        "  --check            say what the script would do; write nothing\n"
        "  -q, --quiet        no progress, no log, no summary\n"
        "  --unsafe           open all of Lua's libraries to the script (files, processes)\n"
        "  --plugins DIR      look for plugins here first; may be repeated\n"
        "  -h, --help         print this\n"
        "\n"
        "Ctrl-C finishes the current stage, writes what is due and exits with 130; a second\n"
        "one stops at once. Exit codes: 0 done, 1 the run failed, 2 wrong use.\n",
    .call = run,
};
