/* trapeze resume: goes on with a run from its last checkpoint. */
#include "cli/run_options.h"

#include "output/folder.h"
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
static int read_first(const tz_command *command, char **arguments, int count, tz_run_settings *s)
{
    char **copy = calloc((size_t)count + 1, sizeof *copy);
    if (!copy)
        return tz_fail_text(EXIT_FAILED, "not enough memory");
    memcpy(copy, arguments, (size_t)count * sizeof *copy);
    optind = 0; /* begins anew */
    const int code = tz_run_options_read(command, count, copy, s);
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

static int take_rights(tz_run_settings *s, const char *from, rights *out)
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

static void add_word(tz_paths *words, bool *failed, const char *word)
{
    *failed = *failed || tz_paths_add(words, word, NULL) != TZ_OK;
}

/* Refuses, with the command that would be allowed, what the run had and this command line does not
 * give. */
static int check_rights(int argc, char **argv, const tz_run_settings *s, const rights *had)
{
    const bool unsafe = had->unsafe && !s->script.unsafe;
    const bool plugins = had->plugins.count > 0 && s->plugins.given.count == 0;
    tz_paths words = {0};
    bool failed = false;
    if (!unsafe && !plugins)
        return TZ_OPTIONS_GO_ON;
    for (int i = 0; i < argc; i++)
        add_word(&words, &failed, argv[i]);
    if (unsafe)
        add_word(&words, &failed, "--unsafe");
    for (size_t i = 0; plugins && i < had->plugins.count; i++) {
        add_word(&words, &failed, "--plugins");
        add_word(&words, &failed, had->plugins.items[i]);
    }
    char *const line =
        failed ? NULL : tz_shell_words((const char *const *)words.items, words.count);
    const int code = line ? tz_fail_text(EXIT_FAILED,
                                         "the run was begun with %s, which lets it run any code; "
                                         "if you trust its folder, say so: "
                                         "trapeze %s",
                                         unsafe && plugins ? "--unsafe and --plugins"
                                         : unsafe          ? "--unsafe"
                                                           : "--plugins",
                                         line)
                          : tz_fail_text(EXIT_FAILED, "not enough memory");
    free(line);
    tz_paths_clear(&words);
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
static int read_own(const tz_command *command, int argc, char **argv, tz_run_settings *s,
                    const char *folder)
{
    const tz_run_settings first = *s;
    const size_t sets = s->sets.count;
    s->script.backend = NULL;
    s->script.devices = NULL;
    s->script.policy = (tz_plan_wish){.start = 0};
    s->script.walltime_s = 0; /* counts from now on, if it is given again */
    optind = 0;
    const int code = tz_run_options_read(command, argc, argv, s);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
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
    tz_run_settings s;
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
    char **copy = calloc((size_t)l->argc + 1, sizeof *copy); /* getopt_long() changes the order */
    if (!copy)
        return tz_fail_text(EXIT_FAILED, "not enough memory");
    memcpy(copy, l->argv, (size_t)l->argc * sizeof *copy);
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

/* A run that is done cannot go on. */
static int check_status(const char *folder)
{
    json_t *record = tz_run_load(folder);
    if (!record)
        return EXIT_FAILED;
    const char *status = json_string_value(json_object_get(record, "status"));
    const bool done = status && (strcmp(status, "done") == 0 || strcmp(status, "stagnated") == 0);
    json_decref(record);
    if (done && !tz_folder_is_in_use(folder)) /* killed after its last file */
        tz_checkpoints_remove(folder);
    return done ? tz_fail_text(EXIT_FAILED, "%s: the run is done: there is nothing left to do",
                               folder)
                : TZ_OPTIONS_GO_ON;
}

/* The folder among the arguments, the first that is no option, nor the value of one, and its newest
 * checkpoint. */
static int find(line *l)
{
    tz_run_settings scan = {.quiet = false};
    tz_error error;
    char **copy = calloc((size_t)l->argc + 1, sizeof *copy);
    if (!copy)
        return tz_fail_text(EXIT_FAILED, "not enough memory");
    memcpy(copy, l->argv, (size_t)l->argc * sizeof *copy);
    int code = tz_run_options_read(l->command, l->argc, copy, &scan);
    if (code == TZ_OPTIONS_GO_ON && optind == l->argc)
        code = tz_misuse(l->command, "needs the folder of a run");
    else if (code == TZ_OPTIONS_GO_ON && optind + 1 != l->argc)
        code = tz_misuse(l->command, "takes one folder, not '%.60s' too", copy[optind + 1]);
    else if (code == TZ_OPTIONS_GO_ON && !realpath(copy[optind], l->folder))
        code = tz_fail_text(EXIT_FAILED, "%s: %s", copy[optind], strerror(errno));
    if (code == TZ_OPTIONS_GO_ON)
        code = check_status(l->folder);
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
    int code = tz_run_open(&ranks);
    if (code == TZ_OPTIONS_GO_ON) {
        l.s.script.ranks = ranks;
        code = find(&l);
        if (code == TZ_OPTIONS_GO_ON)
            code = prepare(&l);
        if (code == TZ_OPTIONS_GO_ON)
            code = tz_run_execute(&l.s);
        tz_run_close(ranks, code);
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
