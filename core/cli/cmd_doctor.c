/* trapeze doctor: what this machine has and what is missing. */
#include "cli/options.h"

#include "backend/backend.h"
#include "backend/cpu/x86/instruction.h"
#include "backend/cuda/driver/driver.h"
#include "base/machine.h"
#include "base/ranks.h"
#include "base/threads.h"
#include "calibrate/records.h"
#include "define/plugin.h"
#include "jump/fftw.h"
#include "output/format/format.h"
#include "output/frame/plot.h"
#include "output/live/microhttpd.h"
#include <jansson.h>
#include <limits.h>
#include <lua.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void print_build(void)
{
    printf("trapeze %s\n", TZ_VERSION);
#if defined(__clang__)
    const char *compiler = "clang " __clang_version__;
#else
    const char *compiler = "gcc " __VERSION__;
#endif
    printf("  built with %s, plugin ABI %u.%u%s%s\n", compiler, TZ_ABI_MAJOR, TZ_ABI_MINOR,
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
    printf("  %s, libpng %s, jansson %s\n", LUA_RELEASE, png_get_libpng_ver(NULL), JANSSON_VERSION);
}

static void print_cache(const char *name, int64_t bytes, int sharers)
{
    char text[32];
    tz_format_bytes((double)bytes, text, sizeof text);
    printf("%s %s", name, bytes > 0 ? text : "unknown");
    if (sharers > 0)
        printf(" for %d processor%s", sharers, sharers == 1 ? "" : "s");
}

/* Threads that move to another node lose the memory beside them. */
static void print_nodes(const tz_machine *machine)
{
    if (machine->siblings > 0)
        printf("  %d processor%s a core\n", machine->siblings, machine->siblings == 1 ? "" : "s");
    if (machine->nodes > 0)
        printf("  %d node%s of memory\n", machine->nodes, machine->nodes == 1 ? "" : "s");
    if (machine->nodes > 1 && !getenv("OMP_PROC_BIND"))
        printf("  OMP_PROC_BIND is not set: OMP_PROC_BIND=true keeps threads near their part of a "
               "grid\n");
}

static void print_machine(void)
{
    tz_machine machine;
    struct utsname system;
    char text[32];
    tz_machine_read(&machine);
    printf("machine\n  %s, %d processor%s for this process\n", machine.cpu, machine.cores,
           machine.cores == 1 ? "" : "s");
    print_nodes(&machine);
    if (uname(&system) == 0)
        printf("  %s %s %s\n", system.sysname, system.release, system.machine);
    printf("  row functions: %s\n  caches: ", tz_isa_name(machine.isa));
    print_cache("L1", machine.l1_bytes, 0);
    print_cache(", L2", machine.l2_bytes, machine.l2_sharers);
    print_cache(", L3", machine.l3_bytes, machine.l3_sharers);
    const int64_t available = tz_machine_memory_available();
    tz_format_bytes((double)available, text, sizeof text);
    printf("\n  memory available: %s\n", available == INT64_MAX ? "unknown" : text);
    const char *limit = getenv("OMP_NUM_THREADS");
    printf("  threads: %d%s%s\n", tz_threads_default(), limit ? ", OMP_NUM_THREADS=" : "",
           limit ? limit : "");
}

static void print_backends(void)
{
    printf("backends\n");
    const tz_backend *taken = NULL;
    tz_backend_find("auto", &taken, NULL);
    for (int i = 0; tz_backends[i]; i++)
        printf("  %s: %s%s%s\n", tz_backends[i]->name, tz_backends[i]->doc,
               tz_backends[i] == taken ? " (auto takes it)" : "",
               tz_backends[i]->available && !tz_backends[i]->available() ? " (not on this machine)"
                                                                         : "");
    char text[4096];
    tz_decoder_describe(text, sizeof text);
    printf("machine code\n  %s\n", text);
    tz_cuda_describe(text, sizeof text);
    printf("cuda\n");
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1)
        printf("  %.*s\n", (int)(end - line), line);
}

/* The records that the models use for the devices of this machine, each between two texts. */
static void print_records(const char *before, const char *between)
{
    static tz_model_device record; /* large */
    tz_error error;
    if (tz_device_of(&tz_backend_cpu, 0, &record, &error) == TZ_OK)
        printf("%sCPU: %s", before, record.name);
    else
        printf("%sCPU: none (%s)", before, error.message);
    const int count = tz_cuda_devices_count();
    for (int k = 0; k < count; k++)
        if (tz_device_of(&tz_backend_cuda, k, &record, &error) == TZ_OK)
            printf(record.scaled_from[0] ? "%sGPU %d: none; numbers of %s are scaled (run trapeze "
                                           "calibrate --device %d)"
                                         : "%sGPU %d: %s",
                   between, k, record.scaled_from[0] ? record.scaled_from : record.name, k);
        else
            printf("%sGPU %d: none (%s)", between, k, error.message);
    printf("\n");
}

/* Prints the refused plugins and returns their number; *stencils: of the others. */
static int print_refused(const tz_registry *registry, int *stencils)
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
            printf("  refused: %s\n", text);
            refused++;
        }
    }
    return refused;
}

/* Returns the number of problems found. */
static int print_plugins(const tz_plugins *plugins)
{
    const tz_registry *registry = plugins->registry;
    const tz_paths *folders = &plugins->folders;
    printf("plugins\n");
    for (size_t k = 0; k < folders->count; k++) {
        int here = 0;
        const size_t length = strlen(folders->items[k]);
        for (size_t i = 0; i < tz_registry_count(registry); i++) {
            const char *path = tz_registry_get(registry, i)->path;
            here += strncmp(path, folders->items[k], length) == 0 && path[length] == '/';
        }
        printf("  %s: %d file%s\n", folders->items[k], here, here == 1 ? "" : "s");
    }
    if (folders->count == 0)
        printf("  no folder: give one with --plugins or $TRAPEZE_PLUGIN_PATH\n");
    int stencils;
    const int refused = print_refused(registry, &stencils);
    printf("  %d stencil%s, %d plugin%s refused\n", stencils, stencils == 1 ? "" : "s", refused,
           refused == 1 ? "" : "s");
    return refused + (stencils == 0);
}

/* Returns the number of problems found. */
static int print_compiler(void)
{
    char text[8192];
    const int missing = tz_define_describe(text, sizeof text);
    printf("stencils of scenarios (tz.stencil)\n");
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1)
        printf("  %.*s\n", (int)(end - line), line);
    return missing;
}

static void print_ranks(void)
{
    char text[1024];
    tz_ranks_describe(text, sizeof text);
    printf("many machines (mpirun)\n  %s\n", text);
}

static int print_surroundings(void)
{
    static const struct {
        const char *program, *use;
    } tools[] = {{"ffmpeg", "writes movies as .mp4 and .webm: apt-get install ffmpeg"},
                 {"gnuplot", "draws --plot and tz.plot: apt-get install gnuplot-nox"},
                 {"paraview", "shows .pvd and .xdmf files"},
                 {"python3", "reads .npy files and run.json"}};
    char folder[PATH_MAX];
    const bool known = getcwd(folder, sizeof folder);
    const bool writable = known && access(".", W_OK) == 0;
    printf("surroundings\n  working folder: %s, %s\n", known ? folder : "unknown",
           writable ? "writable" : "NOT writable: give a run folder with --out");
    if (tz_plot_available())
        printf("  plots: by gnuplot\n");
    if (tz_program_exists("ffmpeg"))
        printf("  movies: .mp4 and .webm by ffmpeg\n");
    for (const tz_format *const *f = tz_formats; *f; f++) {
        char text[256];
        if (!(*f)->describe)
            continue;
        (*f)->describe(text, sizeof text);
        printf("  %s\n", text);
    }
    char fftw[256];
    tz_fftw_describe(fftw, sizeof fftw);
    printf("  %s\n", fftw);
    char live[256];
    tz_mhd_describe(live, sizeof live);
    printf("  %s\n", live);
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
        if (!tz_program_exists(tools[i].program))
            printf("  missing, optional: %s (%s)\n", tools[i].program, tools[i].use);
    return !writable;
}

static int conclude(int problems)
{
    printf("trapeze %s: ", TZ_VERSION);
    if (problems == 0)
        printf("everything that a run needs is there\n");
    else
        printf("%d problem%s: see above\n", problems, problems == 1 ? "" : "s");
    return tz_finish_output();
}

/* All of it. */
static int report(const tz_plugins *plugins)
{
    print_build();
    print_machine();
    print_backends();
    printf("device records\n");
    print_records("  ", "\n  ");
    int problems = print_plugins(plugins);
    problems += print_compiler();
    print_ranks();
    problems += print_surroundings();
    return conclude(problems);
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
static void sum_up_backends(void)
{
    char text[4096];
    const tz_backend *taken = NULL;
    tz_backend_find("auto", &taken, NULL);
    const int gpus = tz_backend_cuda.available() ? tz_cuda_devices_count() : 0;
    tz_cuda_describe(text, sizeof text);
    int length = 0;
    const char *line = find_line(text, "GPU 0: ", &length);
    printf("  backends  ");
    if (gpus > 0 && line)
        printf("cuda (%d GPU%s: %.*s), ", gpus, gpus == 1 ? "" : "s", (int)strcspn(line, ",\n"),
               line);
    printf("cpu (%d thread%s), reference; auto takes %s\n", tz_threads_default(),
           tz_threads_default() == 1 ? "" : "s", taken ? taken->name : "none");
    if (gpus > 0)
        return;
    line = find_line(text, line ? "NVRTC: " : "CUDA driver: ", &length);
    printf("  no GPU    %.*s\n", length, line ? line : "");
}

/* Returns the number of problems found. */
static int sum_up_stencils(const tz_plugins *plugins)
{
    char text[8192];
    int stencils, length = 0;
    const int refused = print_refused(plugins->registry, &stencils);
    const int closed = tz_define_describe(text, sizeof text);
    printf("  stencils  %d in plugins%s; ", stencils,
           stencils == 0 ? ": give a folder with --plugins or $TRAPEZE_PLUGIN_PATH" : "");
    const char *compiler = find_line(text, "compiler: ", &length);
    if (compiler)
        printf("your own (tz.stencil) by %.*s\n", length, compiler);
    else
        printf("%.*s\n", (int)strcspn(text, "\n"), text);
    const char *unusable = find_line(text, "NOT usable: ", &length);
    if (unusable)
        printf("  NOT usable: %.*s\n", length, unusable);
    return refused + (stencils == 0) + closed;
}

/* What is optional and not there. */
static void sum_up_missing(void)
{
    char text[1024];
    enum { MOST = 16 };
    struct {
        bool there;
        const char *what, *package;
    } parts[MOST] = {{tz_program_exists("ffmpeg"), "movies as .mp4 and .webm", "ffmpeg"},
                     {tz_plot_available(), "plots", "gnuplot-nox"},
                     {tz_fftw_describe(text, sizeof text), "jumps on a CPU", "libfftw3-double3"},
                     {tz_mhd_describe(text, sizeof text), "the live view", "libmicrohttpd12"}};
    size_t count = 0, missing = 0;
    while (parts[count].what)
        count++;
    for (const tz_format *const *f = tz_formats; *f && count < MOST; f++)
        if ((*f)->describe) {
            parts[count].there = (*f)->describe(text, sizeof text);
            parts[count].what = (*f)->part;
            parts[count++].package = (*f)->package;
        }
    for (size_t i = 0; i < count; i++)
        if (!parts[i].there)
            printf("%s%s", missing++ ? ", " : "  optional  missing: ", parts[i].what);
    for (size_t i = 0, named = 0; missing > 0 && i < count; i++)
        if (!parts[i].there)
            printf("%s%s", named++ ? " " : " (apt-get install ", parts[i].package);
    if (missing > 0)
        printf(")\n");
    if (!tz_decoder_describe(text, sizeof text))
        printf("  predict   %s\n", text);
    if (!tz_ranks_describe(text, sizeof text))
        printf("  mpirun    %s\n", text);
}

static int sum_up(const tz_plugins *plugins)
{
    sum_up_backends();
    printf("  records   ");
    print_records("", "; ");
    int problems = sum_up_stencils(plugins);
    sum_up_missing();
    if (access(".", W_OK) != 0) {
        problems++;
        printf("  the working folder is NOT writable: give a run folder with --out\n");
    }
    return conclude(problems);
}

static int doctor(const tz_command *command, int argc, char **argv)
{
    tz_plugins plugins = {0};
    bool verbose = false;
    const tz_option options[] = {
        TZ_PATHS("plugins", &plugins.given), TZ_VERBOSE(&verbose), {.name = NULL}};
    int code = tz_options_read(command, argc, argv, options);
    if (code == TZ_OPTIONS_GO_ON && optind < argc)
        code = tz_misuse(command, "takes no argument, not '%.60s'", argv[optind]);
    if (code == TZ_OPTIONS_GO_ON && !tz_plugins_open(&plugins))
        code = EXIT_FAILED;
    if (code == TZ_OPTIONS_GO_ON)
        code = verbose ? report(&plugins) : sum_up(&plugins);
    tz_plugins_close(&plugins);
    return code;
}

const tz_command tz_command_doctor = {
    .name = "doctor",
    .arguments = "[OPTION]…",
    .doc = "show what this machine has and what is missing",
    .help = "  -v, --verbose   versions, caches, folders, devices and libraries, all of them\n"
            "  --plugins DIR   look for plugins here first; may be repeated\n"
            "  -h, --help      print this\n",
    .call = doctor,
};
