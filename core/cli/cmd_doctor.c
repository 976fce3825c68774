/* trapeze doctor: what this machine has and what is missing. */
#include "cli/command.h"

#include "backend/backend.h"
#include "backend/cuda/driver/driver.h"
#include "base/cache.h"
#include "base/machine.h"
#include "base/ranks.h"
#include "base/threads.h"
#include "calibrate/records.h"
#include "define/plugin.h"
#include "jump/host.h"
#include "jump/system.h"
#include "output/format/format.h"
#include "output/frame/plot.h"
#include "output/live/server.h"
#include "policy/policy.h"
#include <jansson.h>
#include <limits.h>
#include <lua.h>
#include <png.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { NAME_WIDTH = 9 };

/* ---- All of it ------------------------------------------------------------------------------- */

/* A line "NAME: TEXT". */
static void __attribute__((format(printf, 2, 3))) line(tz_facts *facts, const char *format, ...)
{
    char text[4600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tz_facts_lines(facts, text);
}

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

static void put_build(tz_facts *facts)
{
    tz_facts_part(facts, 0, "trapeze %s", TZ_VERSION);
#if defined(__clang__)
    const char *compiler = "clang " __clang_version__;
#else
    const char *compiler = "gcc " __VERSION__;
#endif
    line(facts, "built with %s, plugin ABI %u.%u%s%s", compiler, TZ_ABI_MAJOR, TZ_ABI_MINOR,
#ifdef NDEBUG
         ", optimised",
#else
         ", with assertions",
#endif
#ifdef __SANITIZE_ADDRESS__
         ", address sanitizer"
#else
         ""
#endif
    );
    line(facts, "%s, libpng %s, jansson %s", LUA_RELEASE, png_get_libpng_ver(NULL),
         JANSSON_VERSION);
}

static void put_cache(FILE *out, const char *name, int64_t bytes, int sharers)
{
    char text[32];
    tz_format_bytes((double)bytes, text, sizeof text);
    fprintf(out, "%s %s", name, bytes > 0 ? text : "unknown");
    if (sharers > 0)
        fprintf(out, " for %d processor%s", sharers, plural(sharers));
}

/* Threads that move to another node lose the memory beside them. */
static void put_nodes(tz_facts *facts, const tz_machine *machine)
{
    if (machine->siblings > 0)
        line(facts, "%d processor%s a core", machine->siblings, plural(machine->siblings));
    if (machine->nodes > 0)
        line(facts, "%d node%s of memory", machine->nodes, plural(machine->nodes));
    if (machine->nodes > 1 && !getenv("OMP_PROC_BIND"))
        line(facts, "OMP_PROC_BIND is not set: OMP_PROC_BIND=true keeps threads near their part of "
                    "a grid");
}

static void put_machine(tz_facts *facts)
{
    tz_machine machine;
    struct utsname system;
    char text[32];
    tz_machine_read(&machine);
    tz_facts_part(facts, 0, "machine");
    tz_fact_text(facts, "", "%s, %d processor%s for this process", machine.cpu, machine.cores,
                 plural(machine.cores));
    put_nodes(facts, &machine);
    if (uname(&system) == 0)
        tz_fact_text(facts, "", "%s %s %s", system.sysname, system.release, system.machine);
    line(facts, "row functions: %s", tz_isa_name(machine.isa));
    FILE *caches = tz_fact(facts, "caches");
    put_cache(caches, "L1", machine.l1_bytes, 0);
    put_cache(caches, ", L2", machine.l2_bytes, machine.l2_sharers);
    put_cache(caches, ", L3", machine.l3_bytes, machine.l3_sharers);
    const int64_t available = tz_machine_memory_available();
    tz_format_bytes((double)available, text, sizeof text);
    line(facts, "memory available: %s", available == INT64_MAX ? "unknown" : text);
    const char *limit = getenv("OMP_NUM_THREADS");
    line(facts, "threads: %d%s%s", tz_threads_default(), limit ? ", OMP_NUM_THREADS=" : "",
         limit ? limit : "");
}

static void put_backends(tz_facts *facts)
{
    const tz_backend *taken = NULL;
    tz_backend_find("auto", &taken, NULL);
    tz_facts_part(facts, 0, "backends");
    for (int i = 0; tz_backends[i]; i++)
        line(facts, "%s: %s%s%s", tz_backends[i]->name, tz_backends[i]->doc,
             tz_backends[i] != taken  ? ""
             : tz_backends[i]->is_gpu ? " (auto takes it for long runs)"
                                      : " (auto takes it)",
             tz_backends[i]->available && !tz_backends[i]->available() ? " (not on this machine)"
                                                                       : "");
    char text[4096];
    tz_cuda_describe(text, sizeof text);
    tz_facts_part(facts, 0, "cuda");
    tz_facts_lines(facts, text);
}

/* The record that the models use for a device of this machine. `ordinal` below 0: the CPU. */
static void record_text(int ordinal, char *text, size_t size)
{
    tz_model_device *record = calloc(1, sizeof *record); /* large */
    tz_error error = {.message = "not enough memory"};
    const bool known = record && tz_device_of(ordinal < 0 ? &tz_backend_cpu : &tz_backend_cuda,
                                              ordinal < 0 ? 0 : ordinal, record, &error) == TZ_OK;
    if (!known)
        snprintf(text, size, "none (%s)", error.message);
    else if (ordinal >= 0 && record->scaled_from[0])
        snprintf(text, size, "none; numbers of %s are scaled (run trapeze calibrate --device %d)",
                 record->scaled_from, ordinal);
    else
        snprintf(text, size, "%s", record->name);
    free(record);
}

/* A fact each, or all in the fact `out`. */
static void put_records(tz_facts *facts, FILE *out)
{
    char name[16] = "CPU", text[2100];
    const int count = tz_cuda_devices_count();
    for (int k = -1; k < count; k++) {
        if (k >= 0)
            snprintf(name, sizeof name, "GPU %d", k);
        record_text(k, text, sizeof text);
        if (out)
            fprintf(out, "%s%s: %s", k >= 0 ? "; " : "", name, text);
        else
            tz_fact_text(facts, name, "%s", text);
    }
}

/* The refused plugins. Returns their number; *stencils: of the others. */
static int put_refused(tz_facts *facts, const tz_registry *registry, int *stencils)
{
    int refused = 0;
    *stencils = 0;
    for (size_t i = 0; i < tz_registry_count(registry); i++) {
        const tz_registry_entry *entry = tz_registry_get(registry, i);
        if (entry->plugin) {
            *stencils += entry->plugin->stencils_count;
        } else {
            char text[2100];
            tz_error_format(&entry->error, text, sizeof text);
            tz_fact_text(facts, "refused", "%s", text);
            refused++;
        }
    }
    return refused;
}

/* The plans that policies remember. */
static void put_memory(FILE *out)
{
    char text[32], folder[PATH_MAX];
    int count;
    int64_t bytes;
    tz_policy_memory_tidy(INT64_MAX, &count, &bytes);
    tz_format_bytes((double)bytes, text, sizeof text);
    fprintf(out, "%d remembered, %s", count, text);
    if (!tz_cache_describe(folder, sizeof folder))
        fprintf(out, "; cache: %s", folder);
}

/* Returns the number of problems found. */
static int put_plugins(tz_facts *facts, const tz_plugins *plugins)
{
    const tz_registry *registry = plugins->registry;
    const tz_paths *folders = &plugins->folders;
    tz_facts_part(facts, 0, "plugins");
    for (size_t k = 0; k < folders->count; k++) {
        int here = 0;
        const size_t length = strlen(folders->items[k]);
        for (size_t i = 0; i < tz_registry_count(registry); i++) {
            const char *path = tz_registry_get(registry, i)->path;
            here += strncmp(path, folders->items[k], length) == 0 && path[length] == '/';
        }
        tz_fact_text(facts, folders->items[k], "%d file%s", here, plural(here));
    }
    if (folders->count == 0)
        line(facts, "no folder: give one with --plugins or $TRAPEZE_PLUGIN_PATH");
    int stencils;
    const int refused = put_refused(facts, registry, &stencils);
    tz_fact_text(facts, "", "%d stencil%s, %d plugin%s refused", stencils, plural(stencils),
                 refused, plural(refused));
    return refused + (stencils == 0);
}

/* Stencils of scenarios, and ranks. Returns the number of problems found. */
static int put_compiler(tz_facts *facts)
{
    char text[8192];
    const int missing = tz_define_describe(text, sizeof text);
    tz_facts_part(facts, 0, "stencils of scenarios (tz.stencil)");
    tz_facts_lines(facts, text);
    tz_ranks_describe(text, sizeof text);
    tz_facts_part(facts, 0, "many machines (mpirun)");
    tz_facts_lines(facts, text);
    return missing;
}

static int put_surroundings(tz_facts *facts)
{
    static const struct {
        const char *program, *use;
    } tools[] = {{"ffmpeg", "writes movies as .mp4 and .webm: apt-get install ffmpeg"},
                 {"gnuplot", "draws --plot and tz.plot: apt-get install gnuplot-nox"},
                 {"paraview", "shows .pvd and .xdmf files"},
                 {"python3", "reads .npy files and run.json"}};
    char folder[PATH_MAX], text[1024];
    const bool known = getcwd(folder, sizeof folder);
    const bool writable = known && access(".", W_OK) == 0;
    tz_facts_part(facts, 0, "surroundings");
    tz_fact_text(facts, "working folder", "%s, %s", known ? folder : "unknown",
                 writable ? "writable" : "NOT writable: give a run folder with --out");
    put_memory(tz_fact(facts, "plans"));
    if (tz_plot_available())
        line(facts, "plots: by gnuplot");
    if (tz_program_exists("ffmpeg"))
        line(facts, "movies: .mp4 and .webm by ffmpeg");
    for (const tz_format *const *f = tz_formats; *f; f++)
        if ((*f)->describe) {
            (*f)->describe(text, sizeof text);
            tz_facts_lines(facts, text);
        }
    tz_fftw_describe(text, sizeof text);
    tz_facts_lines(facts, text);
    tz_umfpack_describe(text, sizeof text);
    tz_facts_lines(facts, text);
    tz_mhd_describe(text, sizeof text);
    tz_facts_lines(facts, text);
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
        if (!tz_program_exists(tools[i].program))
            line(facts, "missing, optional: %s (%s)", tools[i].program, tools[i].use);
    return !writable;
}

/* Returns the number of problems found. */
static int put_all(tz_facts *facts, const tz_plugins *plugins)
{
    put_build(facts);
    put_machine(facts);
    put_backends(facts);
    tz_facts_part(facts, 0, "device records");
    put_records(facts, NULL);
    int problems = put_plugins(facts, plugins);
    problems += put_compiler(facts);
    return problems + put_surroundings(facts);
}

/* ---- In a few lines -------------------------------------------------------------------------- */

/* The rest of the line of `text` that begins so, or NULL. It ends at *length. */
static const char *find_line(const char *text, const char *begin, int *length)
{
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, begin, strlen(begin)) == 0) {
            line += strlen(begin);
            *length = (int)strcspn(line, "\n");
            return line;
        }
    return NULL;
}

/* The usable backends, then why there is no GPU. */
static void sum_up_backends(tz_facts *facts)
{
    char text[4096];
    const tz_backend *taken = NULL;
    tz_backend_find("auto", &taken, NULL);
    const int gpus = tz_backend_cuda.available() ? tz_cuda_devices_count() : 0;
    tz_cuda_describe(text, sizeof text);
    int length = 0;
    const char *found = find_line(text, "GPU 0: ", &length);
    FILE *out = tz_fact(facts, "backends");
    if (gpus > 0 && found)
        fprintf(out, "cuda (%d GPU%s: %.*s), ", gpus, plural(gpus), (int)strcspn(found, ",\n"),
                found);
    fprintf(out, "cpu (%d thread%s), reference; auto takes %s%s", tz_threads_default(),
            plural(tz_threads_default()), taken ? taken->name : "none",
            taken && taken->is_gpu ? " for long runs" : "");
    if (gpus > 0)
        return;
    found = find_line(text, found ? "NVRTC: " : "CUDA driver: ", &length);
    tz_fact_text(facts, "no GPU", "%.*s", length, found ? found : "");
}

/* Returns the number of problems found. */
static int sum_up_stencils(tz_facts *facts, const tz_plugins *plugins)
{
    char text[8192];
    int stencils, length = 0;
    facts->width = 0;
    const int refused = put_refused(facts, plugins->registry, &stencils);
    const int closed = tz_define_describe(text, sizeof text);
    facts->width = NAME_WIDTH;
    FILE *out = tz_fact(facts, "stencils");
    fprintf(out, "%d in plugins%s; ", stencils,
            stencils == 0 ? ": give a folder with --plugins or $TRAPEZE_PLUGIN_PATH" : "");
    const char *compiler = find_line(text, "compiler: ", &length);
    if (compiler)
        fprintf(out, "your own (tz.stencil) by %.*s", length, compiler);
    else
        fprintf(out, "%.*s", (int)strcspn(text, "\n"), text);
    const char *unusable = find_line(text, "NOT usable: ", &length);
    facts->width = 0;
    if (unusable)
        tz_fact_text(facts, "NOT usable", "%.*s", length, unusable);
    facts->width = NAME_WIDTH;
    return refused + (stencils == 0) + closed;
}

/* What is optional and not there. */
static void sum_up_missing(tz_facts *facts)
{
    char text[1024];
    enum { MOST = 16 };
    struct {
        bool there;
        const char *what, *package;
    } parts[MOST] = {{tz_program_exists("ffmpeg"), "movies as .mp4 and .webm", "ffmpeg"},
                     {tz_plot_available(), "plots", "gnuplot-nox"},
                     {tz_fftw_describe(text, sizeof text), "jumps on a CPU", "libfftw3-double3"},
                     {tz_umfpack_describe(text, sizeof text), "factors", "libumfpack5"},
                     {tz_mhd_describe(text, sizeof text), "the live view", "libmicrohttpd12"}};
    size_t count = 0;
    while (parts[count].what)
        count++;
    for (const tz_format *const *f = tz_formats; *f && count < MOST; f++)
        if ((*f)->describe) {
            parts[count].there = (*f)->describe(text, sizeof text);
            parts[count].what = (*f)->part;
            parts[count++].package = (*f)->package;
        }
    FILE *out = NULL;
    for (size_t i = 0; i < count; i++)
        if (!parts[i].there) {
            const bool first = !out;
            out = out ? out : tz_fact(facts, "optional");
            fprintf(out, "%s%s", first ? "missing: " : ", ", parts[i].what);
        }
    for (size_t i = 0, named = 0; out && i < count; i++)
        if (!parts[i].there)
            fprintf(out, "%s%s", named++ ? " " : " (apt-get install ", parts[i].package);
    if (out)
        fprintf(out, ")");
    if (!tz_ranks_describe(text, sizeof text))
        tz_fact_text(facts, "mpirun", "%s", text);
}

/* Returns the number of problems found. */
static int sum_up(tz_facts *facts, const tz_plugins *plugins)
{
    facts->width = NAME_WIDTH;
    sum_up_backends(facts);
    put_records(facts, tz_fact(facts, "records"));
    int problems = sum_up_stencils(facts, plugins);
    put_memory(tz_fact(facts, "plans"));
    sum_up_missing(facts);
    facts->width = 0;
    if (access(".", W_OK) != 0) {
        problems++;
        tz_fact_text(facts, "", "the working folder is NOT writable: give a run folder with --out");
    }
    return problems;
}

static int print(const tz_plugins *plugins, tz_form form, bool verbose)
{
    tz_facts facts;
    if (!tz_facts_begin(&facts, form, stdout))
        return EXIT_FAILED;
    const int problems = verbose ? put_all(&facts, plugins) : sum_up(&facts, plugins);
    facts.indent = 0;
    FILE *out = tz_fact(&facts, "trapeze " TZ_VERSION);
    if (problems == 0)
        fprintf(out, "everything that a run needs is there");
    else
        fprintf(out, "%d problem%s: see above", problems, plural(problems));
    tz_facts_end(&facts);
    return tz_finish_output();
}

static int doctor(const tz_command *command, int argc, char **argv)
{
    tz_plugins plugins = {0};
    bool verbose = false;
    tz_form form = TZ_FORM_TEXT;
    const tz_option options[] = {
        TZ_PATHS("plugins", &plugins.given), TZ_VERBOSE(&verbose), TZ_FORMS(&form), {.name = NULL}};
    int code = tz_options_read(command, argc, argv, options);
    if (code == TZ_OPTIONS_GO_ON && optind < argc)
        code = tz_misuse(command, "takes no argument, not '%.60s'", argv[optind]);
    if (code == TZ_OPTIONS_GO_ON && !tz_plugins_open(&plugins))
        code = EXIT_FAILED;
    if (code == TZ_OPTIONS_GO_ON)
        code = print(&plugins, form, verbose);
    tz_plugins_close(&plugins);
    return code;
}

const tz_command tz_command_doctor = {
    .name = "doctor",
    .examples = "  trapeze doctor\n"
                "  trapeze doctor --verbose\n",
    .arguments = "[OPTION]…",
    .doc = "show what this machine has and what is missing",
    .help = "  -v, --verbose   versions, caches, folders, devices and libraries, all of them\n"
            "  --json, --csv   print JSON or CSV: the part, name and text of each line\n"
            "  --plugins DIR   look for plugins here first; may be repeated\n"
            "  -h, --help      print this\n",
    .call = doctor,
};
