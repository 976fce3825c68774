/* Records: of devices, of runs, of measured plans, of compiled kernels. */
#include "base/cache.h"
#include "base/file.h"
#include "cli/command.h"
#include "model/device.h"
#include "policy/class.h"
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- Device records -------------------------------------------------------------------------- */

static const char device_words[] =
    "name = x\n|title = y\n|clock = 1.3 GHz # s\n|sm_count|= 30|GB/s|cycles|# assumed\n|#|=| "
    "|GiB|ns|us|kW|pJ|memory_latency = 300 cycles # s\n|\n|\t|\r\n|\xc3\xa9";

/* False: there is no such file. */
static bool copy(const char *from, const char *path)
{
    char *text;
    size_t bytes;
    if (tz_file_read(from, FUZZ_BYTES_MAX, &text, &bytes, NULL) != TZ_OK)
        return false;
    fuzz_write(path, text, bytes);
    free(text);
    return true;
}

static bool device_seed(int index, const char *path)
{
    char from[1024] = "";
    struct dirent **entries;
    const int count = scandir(TZ_TEST_MODEL_DIR "/devices", &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (strstr(entries[i]->d_name, ".txt") && index-- == 0)
            snprintf(from, sizeof from, "%s/devices/%s", TZ_TEST_MODEL_DIR, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return copy(from, path);
}

static void same_device(const tz_model_device *a, const tz_model_device *b)
{
    size_t count;
    const tz_model_key *keys = tz_model_device_keys(&count);
    for (size_t k = 0; k < count; k++) {
        const char *x = (const char *)a + keys[k].offset, *y = (const char *)b + keys[k].offset;
        const tz_model_number *m = (const tz_model_number *)x, *n = (const tz_model_number *)y;
        const bool same =
            keys[k].quantity == TZ_MODEL_TEXT
                ? strcmp(x, y) == 0
                : m->known == n->known && m->value == n->value && strcmp(m->source, n->source) == 0;
        if (!same)
            fuzz_wrong("%s is another when it is read again", keys[k].name);
        if (keys[k].quantity != TZ_MODEL_TEXT && m->known &&
            !(m->value >= keys[k].min && m->value <= keys[k].max))
            fuzz_wrong("%s is %g", keys[k].name, m->value);
    }
}

static tz_status device_read(const char *path, tz_error *error)
{
    char *text = NULL, *written = NULL;
    size_t bytes;
    tz_model_device *device = calloc(2, sizeof *device);
    tz_status status = tz_file_read(path, TZ_MODEL_RECORD_BYTES_MAX, &text, &bytes, error);
    if (status == TZ_OK)
        status = tz_model_device_parse(path, text, bytes, &device[0], error);
    if (status != TZ_OK)
        goto cleanup;
    written = malloc(TZ_MODEL_DEVICE_TEXT_SIZE);
    if (tz_model_device_text(&device[0], written, error) != TZ_OK ||
        tz_model_device_parse("copy", written, strlen(written), &device[1], error) != TZ_OK)
        fuzz_wrong("it cannot be written and read again: %s", error->message);
    same_device(&device[0], &device[1]);
cleanup:
    free(written);
    free(text);
    free(device);
    return status;
}

const fuzz_reader fuzz_device = {.name = "device",
                                 .file = "input.txt",
                                 .weight = 80,
                                 .least_passed = 90,
                                 .base_bytes = 1 << 19,
                                 .bytes_per_byte = 1,
                                 .words = device_words,
                                 .seed = device_seed,
                                 .read = device_read};

static const char cpu[] = TZ_TEST_SOURCE_DIR "/predict/cpu.txt";

/* ---- Commands that read ---------------------------------------------------------------------- */

enum { TEXT_SIZE = 1 << 20 };

/* Call a command with its arguments up to NULL, and what it prints in `text`; its exit code. */
static int call(const tz_command *command, char **arguments, char *text, size_t size)
{
    const int file = memfd_create("out", MFD_CLOEXEC), out = dup(1), err = dup(2);
    int count = 0;
    while (arguments[count])
        count++;
    fflush(stdout);
    dup2(file, 1);
    dup2(file, 2);
    optind = 0;
    const int code = command->call(command, count, arguments);
    fflush(stdout);
    dup2(out, 1);
    dup2(err, 2);
    const ssize_t got = pread(file, text, size - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    close(out);
    close(err);
    close(file);
    return code;
}

/* The command ends as it may, and what it printed is text. */
static tz_status read_by(const tz_command *command, char **arguments, char text[TEXT_SIZE],
                         const char *path, tz_error *error)
{
    const int code = call(command, arguments, text, TEXT_SIZE);
    char *refused = strstr(text, "trapeze: ");
    if (code != EXIT_DONE && (code != EXIT_FAILED || !refused))
        fuzz_wrong("%s: exit code %d with the text '%s'", *arguments, code, text);
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' && *c != '\n' && *c != '\t')
            fuzz_wrong("%s prints the byte 0x%02x: %s", *arguments, (unsigned char)*c, text);
    if (code == EXIT_DONE)
        return TZ_OK;
    refused[strcspn(refused, "\n")] = '\0';
    return tz_error_set(error, TZ_FORMAT, path, "%.400s", refused);
}

static bool predict_seed(int index, const char *path)
{
    enum { GTX = 3 }; /* records of these come first; kernels for an H200 would be compiled */
    return index == 0 ? copy(cpu, path) : index <= GTX && device_seed(index - 1, path);
}

/* Predictions are made for whatever device a record describes. */
static tz_status predict_read(const char *path, tz_error *error)
{
    static char text[TEXT_SIZE];
    char *arguments[] = {"predict", "hotspot", "--device", (char *)path, "--grid", "300,200", NULL};
    const tz_status status = read_by(&tz_command_predict, arguments, text, path, error);
    if (!status && (strstr(text, " nan ") || strstr(text, " inf ")))
        fuzz_wrong("it predicts no number: %s", text);
    return status;
}

const fuzz_reader fuzz_predict = {.name = "predict",
                                  .file = "device.txt",
                                  .weight = 1,
                                  .least_passed = 40,
                                  .base_bytes = 64 << 20,
                                  .bytes_per_byte = 1,
                                  .words = device_words,
                                  .seed = predict_seed,
                                  .read = predict_read};

/* ---- run.json -------------------------------------------------------------------------------- */

static const char json_words[] =
    "null|true|false|{}|[]|\"\"|-1|1e999|[|{\"a\":|,|\"|:|\\u0000|\\u001b|1e308|0.0|"
    "\"simulations\"|\"grid\": [|\"heat\"|\"plans\"|\"policy\"|\"height\": 0|\"tile\": []|"
    "9223372036854775807|\"single\"|\"cuda\"|\"params\": {|\xff";

/* A run of a scenario gives the first seeds. */
static const char *const scenarios[] = {
    "local tz = require \"trapeze\"\n"
    "local s = tz.simulation {plugin = \"star2d1r\", grid = {64, 48}, backend = \"cpu\", threads = "
    "1, height = 4,\n"
    "    tile = {32, 24}, fields = {u = tz.random {seed = 3}}}\n"
    "s:every(5, tz.png(\"u\"))\ns:every(5, tz.table {\"step\", \"mean(u)\"})\ns:run {steps = 20}\n",
    "local tz = require \"trapeze\"\n"
    "tz.simulation {plugin = \"life\", grid = {64, 32}, backend = \"cpu\", threads = 1, policy = "
    "\"adaptive\",\n"
    "    fields = {alive = tz.random {seed = 1}}}:run {steps = 40}\n"
    "tz.simulation {plugin = \"hotspot\", grid = {32, 32}, backend = \"cpu\",\n"
    "    fields = {temperature = 318, power = 0.1}}:run {steps = 3}\n",
    "local tz = require \"trapeze\"\n"
    "tz.simulation {plugin = \"life\", grid = {32, 32}}:run {steps = 2}\nwarn(\"the last "
    "line\")\n"};

static bool run_seed(int index, const char *path)
{
    char folder[1024], text[4096], *out = folder, script[] = "seed.lua";
    snprintf(folder, sizeof folder, "%.*s/made-%d", (int)(strrchr(path, '/') - path), path, index);
    if ((size_t)index >= sizeof scenarios / sizeof *scenarios)
        return false;
    fuzz_write_text(script, scenarios[index]);
    char *arguments[] = {"run", script, "--quiet", "--out", out, NULL};
    optind = 0;
    tz_command_run.call(&tz_command_run, 5, arguments);
    snprintf(text, sizeof text, "%s/run.json", folder);
    return rename(text, path) == 0;
}

static tz_status run_read(const char *path, tz_error *error)
{
    static char text[TEXT_SIZE];
    char folder[1024], *arguments[] = {"info", folder, NULL};
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    return read_by(&tz_command_info, arguments, text, path, error);
}

const fuzz_reader fuzz_run = {.name = "run",
                              .file = "run/run.json",
                              .weight = 60,
                              .least_passed = 40,
                              .base_bytes = 64 << 20,
                              .bytes_per_byte = 1000,
                              .words = json_words,
                              .seed = run_seed,
                              .read = run_read};

/* The same with predictions for what ran, which take most of the time. */
static tz_status explain_read(const char *path, tz_error *error)
{
    static char text[TEXT_SIZE];
    char folder[1024];
    char *arguments[] = {"explain", folder, "--device", (char *)cpu, NULL};
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    return read_by(&tz_command_explain, arguments, text, path, error);
}

const fuzz_reader fuzz_explain = {.name = "explain",
                                  .file = "explain/run.json",
                                  .weight = 1,
                                  .least_passed = 40,
                                  .base_bytes = 64 << 20,
                                  .bytes_per_byte = 1000,
                                  .words = json_words,
                                  .seed = run_seed,
                                  .read = explain_read};

/* ---- Measured plans -------------------------------------------------------------------------- */

static const char key[] = "fuzz";

static bool memory_seed(int index, const char *path)
{
    char made[4200];
    tz_policy_measurement plans[] = {
        {.plan = {.height = 4, .tile = {32, 16, 1}, .family = "stream", .vector = 4},
         .time_s = 1e-3,
         .rounds = 3},
        {.plan = {.height = 8, .tile = {64, 64, 1}, .family = "tile"}, .time_s = 2e-3, .tie = true},
        {.plan = {.height = 1, .tile = {1, 1, 1}, .family = "resident", .warps = 8},
         .time_s = NAN}};
    const tz_policy_memory memory = {.count = index == 0 ? 3 : 2,
                                     .best = index,
                                     .finished = index == 1,
                                     .noise = 0.01,
                                     .plans = plans};
    return index < 2 && tz_policy_memory_write(key, &memory, NULL) == TZ_OK &&
           tz_policy_memory_path(key, made, sizeof made) && rename(made, path) == 0;
}

static tz_status memory_read(const char *path, tz_error *error)
{
    tz_policy_memory memory, again;
    if (!tz_policy_memory_read(key, &memory))
        return tz_error_set(error, TZ_FORMAT, path, "counts as missing");
    if (memory.count < 1 || memory.best < 0 || memory.best >= memory.count ||
        !(memory.plans[memory.best].time_s > 0))
        fuzz_wrong("the best is plan %d of %d", memory.best, memory.count);
    if (!(memory.noise >= 0 && isfinite(memory.noise)))
        fuzz_wrong("the noise is %g", memory.noise);
    if (tz_policy_memory_write(key, &memory, error) != TZ_OK || !tz_policy_memory_read(key, &again))
        fuzz_wrong("it cannot be written and read again: %s", error->message);
    for (int i = 0; i < memory.count; i++) {
        const tz_policy_measurement *a = &memory.plans[i], *b = &again.plans[i];
        if (memory.count != again.count || memory.best != again.best ||
            !tz_plan_equal(&a->plan, &b->plan) || (!isnan(a->time_s) && a->time_s != b->time_s))
            fuzz_wrong("plan %d is another when it is read again", i);
    }
    tz_policy_memory_clear(&memory);
    tz_policy_memory_clear(&again);
    return TZ_OK;
}

const fuzz_reader fuzz_memory = {.name = "memory",
                                 .file = "plans/86a66278db40b360.json",
                                 .weight = 60,
                                 .least_passed = 12,
                                 .base_bytes = 1 << 20,
                                 .bytes_per_byte = 1000,
                                 .words = json_words,
                                 .seed = memory_seed,
                                 .read = memory_read};

/* ---- Compiled kernels ------------------------------------------------------------------------ */

static const tz_cache_key kernel_key = {0x1234, 0x5678};
static const tz_cache_kind kernel_kind = {.magic = {'F', 'U', 'Z', 'Z', '0', '0', '0', '1'},
                                          .ending = "bin"};
static const char kernel_data[] = "a compiled kernel of any bytes, for instance these";
static const char kernel_words[] = "FUZZ0001|FUZZ0000|\x7f"
                                   "ELF|a compiled kernel";

static bool kernel_seed(int index, const char *path)
{
    if (index > 0)
        return false;
    tz_cache_write(kernel_key, &kernel_kind, kernel_data, sizeof kernel_data);
    return access(path, F_OK) == 0;
}

/* Every change of an entry is noticed. */
static tz_status kernel_read(const char *path, tz_error *error)
{
    size_t bytes = 0;
    void *data = tz_cache_read(kernel_key, &kernel_kind, &bytes);
    if (!data)
        return tz_error_set(error, TZ_FORMAT, path, "counts as missing");
    if (bytes != sizeof kernel_data || memcmp(data, kernel_data, bytes) != 0)
        fuzz_wrong("a damaged kernel is accepted");
    free(data);
    return TZ_OK;
}

const fuzz_reader fuzz_kernel = {.name = "kernel",
                                 .file = "00000000000012340000000000005678.bin",
                                 .weight = 40,
                                 .base_bytes = 1 << 16,
                                 .bytes_per_byte = 1,
                                 .words = kernel_words,
                                 .seed = kernel_seed,
                                 .read = kernel_read};
