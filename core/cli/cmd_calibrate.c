/* trapeze calibrate: measures a device and keeps its record. */
#include "cli/command.h"
#include "cli/print_predictions.h"

#include "base/machine.h"
#include "base/paths.h"
#include "calibrate/calibrate.h"
#include "calibrate/cuda.h"
#include "calibrate/records.h"
#include "lua/interrupt.h"
#include "predict/tune.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 20 };

typedef struct settings {
    int device; /* -1: the CPU */
    int seconds;
    bool chosen;              /* the device was named */
    const tz_cuda_part *part; /* only this, into the device's record; NULL: everything */
    const char *name, *output;
    bool terminal, force;
} settings;

static bool on_progress(void *context, double done, const char *what)
{
    const settings *s = context;
    if (s->terminal)
        fprintf(stderr, "\r\033[K%3.0f %%  %.60s", 100 * done, what);
    return tz_interrupt_signal() == 0;
}

static void on_remark(void *context, const char *text)
{
    const settings *s = context;
    fprintf(stderr, "%strapeze: %s\n", s->terminal ? "\r\033[K" : "", text);
}

static int take_name(const tz_command *command, void *out, const char *name)
{
    const size_t length = strlen(name);
    if (length > 0 && length < TZ_MODEL_NAME_SIZE && name[0] != '.' && name[0] != '-' &&
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
            length) {
        *(const char **)out = name;
        return EXIT_DONE;
    }
    return tz_misuse(command,
                     "--name needs up to %d letters, digits, '.', '_' and '-', not '%.70s'",
                     TZ_MODEL_NAME_SIZE - 1, name);
}

/* Errors of the driver advise --backend cpu, an option of runs. Here the option is --cpu. */
static void advise(tz_error *error)
{
    static const char run[] = "--backend cpu", here[] = "--cpu";
    char *at = strstr(error->message, run);
    if (!at)
        return;
    memcpy(at, here, sizeof here - 1);
    memmove(at + sizeof here - 1, at + sizeof run - 1, strlen(at + sizeof run - 1) + 1);
}

static tz_status own_record(int device, const tz_cuda_part *part, tz_model_device *record,
                            tz_error *error)
{
    const tz_status status = tz_device_of(tz_backend_of_kind(true), device, record, error);
    if (!status && record->scaled_from[0])
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "%s has no record to add %s to: run trapeze calibrate --device %d",
                            record->title, part->name, device);
    return status;
}

static tz_status measure(const settings *s, tz_model_device *record, tz_error *error)
{
    const tz_calibration how = {.seconds = s->seconds,
                                .go_on = on_progress,
                                .context = (void *)(uintptr_t)s,
                                .remark = on_remark};
    tz_cuda *cuda;
    if (s->device < 0)
        return tz_calibrate_cpu(record, &how, error);
    tz_status status = tz_cuda_open(&cuda, s->device, error);
    if (status != TZ_OK) {
        advise(error);
        return status;
    }
    if (!s->part)
        status = tz_cuda_calibrate(record, cuda, &how, error);
    else
        status = own_record(s->device, s->part, record, error);
    if (!status && s->part)
        status = tz_cuda_calibrate_part(record, cuda, s->part, &how, error);
    tz_cuda_close(cuda);
    return status;
}

/* What joins devices of this machine, if there are two. A link that cannot be measured is no reason
 * to lose the other numbers. */
static tz_status measure_links(const settings *s, tz_model_device *record, tz_error *error)
{
    static const char STENCIL[] = "star2d1r";
    const tz_calibration how = {
        .seconds = s->seconds, .go_on = on_progress, .context = (void *)(uintptr_t)s};
    const bool is_gpu = s->device >= 0;
    const int gpus = is_gpu ? tz_cuda_devices_count() : 0;
    const tz_devices devices = {.count = 2,
                                .of = {{.device = is_gpu ? s->device : 0, .threads = 1, .share = 1},
                                       {.device = s->device == 0, .threads = 1, .share = 1}}};
    const tz_stencil *stencil = NULL;
    tz_machine machine;
    tz_plugins plugins = {0};
    char text[TZ_TEXT_SIZE + 1100];
    tz_status status = TZ_OK;
    tz_machine_read(&machine);
    if (is_gpu && gpus < 2)
        status = tz_error_set(error, TZ_UNSUPPORTED, NULL, "this machine has one GPU");
    else if (!is_gpu && machine.cores < 2)
        status = tz_error_set(error, TZ_UNSUPPORTED, NULL, "this process may use one core");
    else if (!tz_plugins_open(&plugins) ||
             tz_registry_find(plugins.registry, STENCIL, &stencil, &(const tz_plugin *){NULL},
                              error) != TZ_OK)
        status = tz_error_set(error, TZ_UNSUPPORTED, NULL, "there is no plugin %s to measure with",
                              STENCIL);
    if (!status)
        status = tz_calibrate_link(
            record,
            is_gpu && tz_cuda_are_peers(devices.of[0].device, devices.of[1].device) ? "peer"
                                                                                    : "host",
            tz_backend_of_kind(is_gpu), &devices, stencil, &how, error);
    tz_plugins_close(&plugins);
    if (!status || status == TZ_INTERRUPTED)
        return status;
    snprintf(text, sizeof text, "exchanges between devices are skipped: %.1000s", error->message);
    on_remark((void *)(uintptr_t)s, text);
    return TZ_OK;
}

/* Two lines about the links that were measured. */
static void print_links(const tz_model_device *record)
{
    static const char *const names[] = {"peer", "host", "mpi"};
    for (int i = 0; i < 3; i++) {
        tz_model_link link;
        bool assumed;
        char time[TZ_TEXT_SIZE];
        if (tz_model_link_of(record, names[i], &link, &assumed, NULL) || assumed)
            continue;
        tz_format_seconds(link.latency_s.value, time, sizeof time);
        fprintf(stderr, "  link %s: an exchange takes %s, and more at %.4g GB/s\n", names[i], time,
                link.bandwidth_bytes_per_s.value * 1e-9);
    }
}

/* Write the record. `path` becomes the name of its file, "" for stdout. */
static tz_status write_record(const settings *s, const tz_model_device *record, char *path,
                              size_t size, tz_error *error)
{
    path[0] = '\0';
    if (!s->output)
        return tz_device_keep(record, path, size, error);
    if (strcmp(s->output, "-") == 0)
        return tz_device_write(record, stdout, error);
    snprintf(path, size, "%s", s->output);
    return tz_device_save(record, s->output, false, error);
}

/* Refuses a file that cannot be written before measuring, which takes long. */
static tz_status check_output(const char *path, tz_error *error)
{
    char folder[PATH_MAX];
    if (!path || strcmp(path, "-") == 0)
        return TZ_OK;
    if (access(path, F_OK) == 0)
        return tz_error_set(error, TZ_IO, path, "exists already; name another file, or remove it");
    tz_path_folder(path, folder, sizeof folder);
    if (access(folder, W_OK | X_OK) != 0)
        return tz_error_set_errno(error, errno, path, "cannot write");
    return TZ_OK;
}

static int numbers_known(const tz_model_device *record)
{
    int known = 0;
#define COUNT_KNOWN(member, key, quantity, min, max, doc) known += record->member.known;
    TZ_MODEL_DEVICE_TABLE(COUNT_KNOWN)
#undef COUNT_KNOWN
#define COUNT_KNOWN(member, key, quantity, min, max, assumed, doc) known += record->member.known;
    TZ_MODEL_DEVICE_ASSUMED_TABLE(COUNT_KNOWN)
#undef COUNT_KNOWN
    return known;
}

/* Measures again, twice as long, while the numbers say that the machine is busy. */
static tz_status measure_quietly(settings *s, tz_model_device *record, tz_error *error)
{
    enum { AGAIN = 2 };
    tz_status status = measure(s, record, error);
    for (int k = 0; k < AGAIN && !status && !s->part && !s->force; k++) {
        const double spread = tz_calibration_spread(record);
        char text[100];
        if (spread <= TZ_CALIBRATION_BUSY)
            break;
        snprintf(text, sizeof text, "busy: spread %.0f %%: measures again, longer", 100 * spread);
        on_remark(s, text);
        s->seconds *= 2;
        status = measure(s, record, error);
    }
    return status;
}

/* The median error of predictions by a record, of some plans that are measured now. */
static tz_status find_error(const settings *s, const tz_plugins *plugins, const char *record,
                            double *out, tz_error *error)
{
    const tz_simulation_config simulation = {.registry = plugins->registry,
                                             .stencil = "star2d1r",
                                             .dims = 2,
                                             .extent = {2048, 2048, 1},
                                             .precision = -1,
                                             .device = s->device < 0 ? 0 : s->device,
                                             .stopped = tz_interrupt_signal};
    const tz_workload_config config = {.simulation = &simulation, .device = record};
    tz_workload *workload;
    tz_tune *tune = NULL;
    tz_status status = tz_workload_create(&workload, &config, error);
    if (status)
        return status;
    const tz_tune_request request = {
        .given = {.height = 4}, .ordinal = simulation.device, .rounds = 3};
    status = tz_tune_create(&tune, workload, &request, error);
    if (!status)
        *out = tune->error_median;
    tz_tune_destroy(tune);
    tz_workload_destroy(workload);
    return status;
}

/* Does the record predict no worse than the one that it replaces? Where that cannot be measured,
 * nothing is refused. */
static tz_status compare(const settings *s, const tz_model_device *record, tz_error *error)
{
    static const double WORSE = 0.1; /* of the time */
    static const char *const names[] = {"old.txt", "new.txt"};
    tz_plugins plugins = {0};
    tz_model_device *old = calloc(1, sizeof *old);
    const tz_model_device *const records[] = {old, record};
    char folder[] = "/tmp/trapeze-calibrate-XXXXXX", paths[2][64];
    double errors[2] = {0};
    tz_error why;
    bool known = old &&
                 tz_device_of(tz_backend_of_kind(s->device >= 0), s->device < 0 ? 0 : s->device,
                              old, &why) == TZ_OK &&
                 !old->scaled_from[0] && tz_plugins_open(&plugins) && mkdtemp(folder);
    for (int i = 0; known && i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
        known = tz_device_save(records[i], paths[i], true, &why) == TZ_OK &&
                find_error(s, &plugins, paths[i], &errors[i], &why) == TZ_OK;
        remove(paths[i]);
    }
    rmdir(folder);
    tz_plugins_close(&plugins);
    free(old);
    if (!known || errors[1] <= errors[0] + WORSE)
        return TZ_OK;
    return tz_error_set(error, TZ_RANGE, NULL,
                        "predictions by the new record are off by %.0f %%, by the one that it "
                        "replaces by %.0f %%: nothing was written; repeat when the machine is "
                        "quiet (--force writes it)",
                        100 * errors[1], 100 * errors[0]);
}

/* Refuses a record that may make predictions worse. */
static tz_status judge(const settings *s, const tz_model_device *record, tz_error *error)
{
    const double spread = tz_calibration_spread(record);
    if (s->force || s->part)
        return TZ_OK;
    if (spread > TZ_CALIBRATION_BUSY)
        return tz_error_set(error, TZ_RANGE, NULL,
                            "busy: spread %.0f %%, repeat when quiet: nothing was written (--force "
                            "writes it)",
                            100 * spread);
    return s->output ? TZ_OK : compare(s, record, error);
}

/* Measures, writes and prints. */
static int measure_all(settings *s, tz_model_device *record)
{
    tz_error error;
    char path[PATH_MAX + 80];
    if (check_output(s->output, &error) != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    if (s->part && s->device < 0)
        s->device = 0;
    if (!s->chosen && tz_cuda_devices_count() > 0)
        s->device = 0;
    s->terminal = isatty(STDERR_FILENO) == 1;
    tz_interrupt_install();
    const double begin = tz_machine_clock_s();
    tz_status status = measure_quietly(s, record, &error);
    if (status == TZ_OK && !s->part)
        status = measure_links(s, record, &error);
    if (status == TZ_OK)
        status = judge(s, record, &error);
    const double seconds = tz_machine_clock_s() - begin;
    if (s->terminal)
        fputs("\r\033[K", stderr);
    if (status == TZ_OK && s->name)
        snprintf(record->name, sizeof record->name, "%s", s->name);
    if (status == TZ_OK)
        status = write_record(s, record, path, sizeof path, &error);
    if (status == TZ_INTERRUPTED) {
        tz_fail(EXIT_FAILED, &error);
        return 128 + tz_interrupt_signal();
    }
    if (status != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    fprintf(stderr, "%s (%s): %d numbers in %.0f s%s%s\n", record->name, record->title,
            numbers_known(record), seconds, *path ? ": " : "", path);
    print_links(record);
    return tz_finish_output();
}

static int execute(settings *s)
{
    tz_model_device *record = calloc(1, sizeof *record); /* large */
    const tz_error error = {.code = TZ_MEMORY, .message = "not enough memory"};
    if (!record)
        return tz_fail(EXIT_FAILED, &error);
    const int code = measure_all(s, record);
    free(record);
    return code;
}

static int calibrate(const tz_command *command, int argc, char **argv)
{
    settings s = {.device = -1, .seconds = SECONDS};
    enum { OWN = 6, PARTS_MAX = 4 };
    bool cpu = false, parts[PARTS_MAX] = {false};
    tz_option options[OWN + PARTS_MAX + 1] = {
        TZ_INTEGER("device", &s.device, 0, 1023),   TZ_FLAG("cpu", &cpu),
        TZ_CALL("name", &s.name, take_name),        TZ_TEXT("output", &s.output),
        TZ_INTEGER("seconds", &s.seconds, 1, 3600), TZ_FLAG("force", &s.force)};
    for (int i = 0; tz_cuda_parts_added[i] && i < PARTS_MAX; i++)
        options[OWN + i] = (tz_option)TZ_FLAG(tz_cuda_parts_added[i]->name, &parts[i]);
    const int code = tz_options_read(command, argc, argv, options);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (optind < argc)
        return tz_misuse(command, "takes no argument, not '%.60s'", argv[optind]);
    if (s.output && !s.output[0])
        return tz_misuse(command, "--output needs a file's name, or - for stdout");
    if (cpu && s.device >= 0)
        return tz_misuse(command, "--cpu and --device exclude each other");
    for (int i = 0; tz_cuda_parts_added[i] && i < PARTS_MAX; i++)
        s.part = parts[i] ? tz_cuda_parts_added[i] : s.part;
    if (cpu && s.part)
        return tz_misuse(command, "--%s measures GPUs: it does not go with --cpu", s.part->name);
    s.chosen = s.part || cpu || s.device >= 0;
    return execute(&s);
}

const tz_command tz_command_calibrate = {
    .name = "calibrate",
    .examples = "  trapeze calibrate\n"
                "  trapeze calibrate --cpu\n",
    .arguments = "[OPTION]…",
    .doc = "measure this machine's GPU or CPU for the models",
    .help =
        "Runs microbenchmarks for 20 to 30 seconds; the machine should do nothing else meanwhile.\n"
        "Writes the record to NAME.txt in $TRAPEZE_DEVICES, else "
        "$XDG_CONFIG_HOME/trapeze/devices,\n"
        "else ~/.config/trapeze/devices. An older record is kept as NAME.txt~. On a busy machine\n"
        "it measures up to three times, and then writes nothing.\n"
        "\n"
        "  --device N      measure this GPU, from 0 (default: 0, or the CPU if there is no GPU)\n"
        "{parts}"
        "  --cpu           measure the CPU, on the cores that this process may use\n"
        "  --name NAME     the record's name (default: made from the device's name)\n"
        "  --output FILE   write to this file, which must not exist; - is stdout\n"
        "  --seconds S     how long to measure, about (default: 20)\n"
        "  --force         write the record although the machine was busy, or although the one\n"
        "                  that it replaces predicts better\n"
        "  -h, --help      print this\n",
    .call = calibrate,
};
