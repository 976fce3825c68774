/* Searches the folders of device and link records, and writes records of calibrations. Called by
 * core/predict, core/policy, core/sim and core/cli (calibrate, doctor). */
#include "calibrate/records.h"

#include "base/atomic.h"
#include "base/file.h"
#include "base/names.h"
#include "base/paths.h"
#include "calibrate/calibrate.h"
#include "calibrate/cuda.h"
#include "model/device_scaled.h"
#include "model/roofs.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Folders --------------------------------------------------------------------------------- */

/* Where the user's own records are; "" when there is no home. */
static void folder_of_user(char *text, size_t size)
{
    const char *given = getenv("TRAPEZE_DEVICES");
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (given && *given)
        snprintf(text, size, "%s", given);
    else if (config && config[0] == '/')
        snprintf(text, size, "%s/trapeze/devices", config);
    else if (home && home[0] == '/')
        snprintf(text, size, "%s/.config/trapeze/devices", home);
    else
        text[0] = '\0';
}

/* The user's folder, then the one that comes with Trapeze. */
static tz_status folders_list(tz_paths *folders, tz_error *error)
{
    char text[PATH_MAX];
    folder_of_user(text, sizeof text);
    tz_status status = *text ? tz_paths_add(folders, text, error) : TZ_OK;
    return !status ? tz_paths_add_data(folders, "devices", "model/devices", error) : status;
}

/* The name in "NAME.txt"; false for other files. */
static bool name_of_file(const char *file, char name[TZ_MODEL_NAME_SIZE])
{
    const size_t length = strlen(file);
    if (length < 5 || length - 4 >= TZ_MODEL_NAME_SIZE || file[0] == '.' ||
        strcmp(file + length - 4, ".txt") != 0)
        return false;
    memcpy(name, file, length - 4);
    name[length - 4] = '\0';
    return true;
}

static tz_status read_record(const char *path, tz_model_device *out, tz_error *error)
{
    char *text;
    size_t length;
    tz_status status = tz_file_read_text(path, TZ_MODEL_RECORD_BYTES_MAX, &text, &length, error);
    if (status)
        return status;
    status = tz_model_device_parse(path, text, length, out, error);
    free(text);
    return status;
}

/* ---- By name --------------------------------------------------------------------------------- */

/* Adds the names of a folder's records. */
static tz_status names_add(tz_paths *names, const char *folder, tz_error *error)
{
    DIR *entries = opendir(folder);
    tz_status status = TZ_OK;
    if (!entries)
        return TZ_OK;
    for (struct dirent *entry; !status && (entry = readdir(entries));) {
        char name[TZ_MODEL_NAME_SIZE];
        if (name_of_file(entry->d_name, name))
            status = tz_paths_add(names, name, error);
    }
    closedir(entries);
    return status;
}

tz_status tz_device_names(tz_paths *names, tz_error *error)
{
    tz_paths folders = {0};
    tz_status status = folders_list(&folders, error);
    for (size_t i = 0; i < folders.count && !status; i++)
        status = names_add(names, folders.items[i], error);
    tz_paths_clear(&folders);
    return status;
}

static tz_status unknown(const char *name, tz_error *error)
{
    tz_paths names = {0};
    char hint[512];
    if (tz_device_names(&names, error) != TZ_OK) {
        tz_paths_clear(&names);
        return TZ_MEMORY;
    }
    tz_names_hint(hint, sizeof hint, name, (const char *const *)names.items, names.count);
    tz_paths_clear(&names);
    return tz_error_set(error, TZ_UNKNOWN, NULL,
                        "there is no device record '%.60s' (trapeze calibrate makes those of this "
                        "machine's devices)%s",
                        name, hint);
}

tz_status tz_device_find(const char *name, tz_model_device *out, tz_error *error)
{
    tz_paths folders = {0};
    memset(out, 0, sizeof *out);
    if (strchr(name, '/'))
        return read_record(name, out, error);
    tz_status status = folders_list(&folders, error);
    if (status) {
        tz_paths_clear(&folders);
        return status;
    }
    status = TZ_UNKNOWN;
    for (size_t i = 0; status == TZ_UNKNOWN && i < folders.count; i++) {
        char path[PATH_MAX + 8];
        snprintf(path, sizeof path, "%s/%s.txt", folders.items[i], name);
        if (access(path, F_OK) != 0)
            continue;
        status = read_record(path, out, error);
        break;
    }
    if (status == TZ_UNKNOWN && out->name[0] == '\0')
        status = *name == '\0'
                     ? tz_error_set(error, TZ_UNKNOWN, NULL, "a device record's name is empty")
                     : unknown(name, error);
    tz_paths_clear(&folders);
    return status;
}

/* ---- Links ----------------------------------------------------------------------------------- */

static tz_status read_link(const char *path, tz_model_link *out, bool *assumed, tz_error *error)
{
    char *text;
    size_t length;
    tz_status status = tz_file_read_text(path, TZ_MODEL_RECORD_BYTES_MAX, &text, &length, error);
    if (status)
        return status;
    status = tz_model_link_parse(path, text, length, out, error);
    *assumed = out->latency_s.assumed || out->bandwidth_bytes_per_s.assumed;
    free(text);
    return status;
}

const char *tz_link_own_name(int i)
{
    static const char *const names[] = {"peer", "host", "mpi", NULL};
    return names[i];
}

tz_status tz_link_find(const char *name, const tz_model_device *device, tz_model_link *out,
                       bool *assumed, tz_error *error)
{
    tz_paths folders = {0}, names = {0};
    char path[PATH_MAX + 8], hint[512];
    memset(out, 0, sizeof *out);
    for (int i = 0; name && tz_link_own_name(i); i++)
        if (strcmp(name, tz_link_own_name(i)) == 0)
            return tz_model_link_of(device, name, out, assumed, error);
    if (!name)
        return tz_model_link_of(device, NULL, out, assumed, error);
    if (strchr(name, '/'))
        return read_link(name, out, assumed, error);
    tz_status status = tz_paths_add_data(&folders, "links", "model/links", error);
    for (size_t i = 0; !status && i < folders.count; i++) {
        snprintf(path, sizeof path, "%s/%s.txt", folders.items[i], name);
        if (*name && access(path, F_OK) == 0) {
            status = read_link(path, out, assumed, error);
            goto cleanup;
        }
        status = names_add(&names, folders.items[i], error);
    }
    for (int i = 0; !status && tz_link_own_name(i); i++)
        status = tz_paths_add(&names, tz_link_own_name(i), error);
    if (!status)
        status = tz_error_set(
            error, TZ_UNKNOWN, "link",
            "there is no link '%.60s' (a link's own record is named by its path, with a '/')%s",
            name,
            tz_names_hint(hint, sizeof hint, name, (const char *const *)names.items, names.count));
cleanup:
    tz_paths_clear(&names);
    tz_paths_clear(&folders);
    return status;
}

/* ---- By what it describes -------------------------------------------------------------------- */

static bool describes(const tz_model_device *record, const tz_device_identity *device)
{
    const bool is_gpu = device->vector_bytes == 0;
    const tz_model_number *units = is_gpu ? &record->sm_count : &record->cores;
    return strncmp(record->title, device->name, sizeof record->title - 1) == 0 && units->known &&
           units->value == device->units &&
           (is_gpu ||
            (record->vector_bytes.known && record->vector_bytes.value == device->vector_bytes));
}

/* Calls `visit` with each record of a folder and the time of its file. Unreadable records are
 * skipped; tz_device_find() reports their errors. */
typedef void visit_fn(void *context, const tz_model_device *record, struct timespec at);
static void visit_records(const char *folder, visit_fn *visit, void *context)
{
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        char name[TZ_MODEL_NAME_SIZE], path[PATH_MAX + 8];
        struct stat facts;
        tz_model_device record;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (name_of_file(entry->d_name, name) && stat(path, &facts) == 0 &&
            read_record(path, &record, NULL) == TZ_OK)
            visit(context, &record, facts.st_mtim);
    }
    if (entries)
        closedir(entries);
}

/* The newest record that describes a device. */
typedef struct search {
    const tz_device_identity *device;
    tz_model_device *out;
    struct timespec newest;
    bool found;
} search;

static void visit_newest(void *context, const tz_model_device *record, struct timespec at)
{
    search *s = context;
    const bool newer = at.tv_sec > s->newest.tv_sec ||
                       (at.tv_sec == s->newest.tv_sec && at.tv_nsec > s->newest.tv_nsec);
    if (!describes(record, s->device) || (s->found && !newer))
        return;
    s->newest = at;
    *s->out = *record;
    s->found = true;
}

/* The record that is nearest to what the driver tells of a GPU. */
typedef struct nearest {
    const tz_model_device *gpu;
    tz_model_device record;
    double distance; /* INFINITY: none yet */
} nearest;

static void visit_nearest(void *context, const tz_model_device *record, struct timespec at)
{
    (void)at;
    nearest *n = context;
    const double distance = tz_model_device_distance(record, n->gpu);
    if (!(distance < n->distance) ||
        tz_model_device_check(record, "roofs", tz_model_roofs.needs, NULL, NULL) != TZ_OK)
        return;
    n->record = *record;
    n->distance = distance;
}

/* false: the driver does not tell enough, or no record is of a GPU. */
static bool scale_nearest(const tz_paths *folders, int ordinal, tz_model_device *out)
{
    tz_cuda_device device;
    tz_model_device gpu = {.name = ""};
    nearest n = {.gpu = &gpu, .distance = INFINITY};
    if (tz_cuda_look(ordinal, &device, NULL) != TZ_OK)
        return false;
    tz_cuda_facts(&gpu, &device);
    if (device.clock_khz > 0)
        tz_number_set(&gpu.clock_hz, 1e3 * device.clock_khz, "reported by the driver: nominal");
    for (size_t i = 0; i < folders->count; i++)
        visit_records(folders->items[i], visit_nearest, &n);
    if (!isfinite(n.distance))
        return false;
    tz_model_device_scale(out, &n.record, &gpu);
    return true;
}

tz_status tz_device_of(const tz_backend *backend, int ordinal, tz_model_device *out,
                       tz_error *error)
{
    tz_device_identity device;
    tz_paths folders = {0};
    search s = {.device = &device, .out = out};
    memset(out, 0, sizeof *out);
    tz_status status = backend->identify(ordinal, &device, error);
    if (!status)
        status = folders_list(&folders, error);
    for (size_t i = 0; !status && !s.found && i < folders.count; i++)
        visit_records(folders.items[i], visit_newest, &s);
    const bool scaled =
        !status && !s.found && backend->is_gpu && scale_nearest(&folders, ordinal, out);
    tz_paths_clear(&folders);
    if (status || s.found || scaled)
        return status;
    char command[64] = "trapeze calibrate --cpu";
    if (backend->is_gpu)
        snprintf(command, sizeof command, "trapeze calibrate --device %d", ordinal);
    return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                        "no device record describes %.*s (%d %s): run %s", TZ_MODEL_NAME_SIZE - 1,
                        device.name, device.units, backend->is_gpu ? "multiprocessors" : "cores",
                        command);
}

/* ---- Keeping --------------------------------------------------------------------------------- */

tz_status tz_device_write(const tz_model_device *device, FILE *stream, tz_error *error)
{
    char text[TZ_MODEL_DEVICE_TEXT_SIZE];
    const tz_status status = tz_model_device_text(device, text, error);
    if (status)
        return status;
    if (fprintf(stream,
                "# %s, measured by trapeze calibrate (trapeze %s).\n"
                "# KEY = VALUE [UNIT] # SOURCE; other lines begin with #.\n"
                "%s",
                device->title[0] ? device->title : device->name, TZ_VERSION, text) < 0 ||
        fflush(stream) != 0)
        return tz_error_set_errno(error, errno, NULL, "cannot write the record");
    return TZ_OK;
}

tz_status tz_device_save(const tz_model_device *device, const char *path, bool replace,
                         tz_error *error)
{
    tz_atomic_file *file;
    const tz_status status = tz_atomic_open(&file, path, replace, error);
    if (status)
        return status;
    return tz_atomic_end(file, tz_device_write(device, tz_atomic_stream(file), error), error);
}

/* Makes PATH~ another name of the file PATH, which stays. */
static tz_status keep_previous(const char *path, tz_error *error)
{
    char previous[PATH_MAX + 16], link_path[PATH_MAX + 32];
    snprintf(previous, sizeof previous, "%s~", path);
    snprintf(link_path, sizeof link_path, "%s.%ld", previous, (long)getpid());
    if (link(path, link_path) != 0)
        return errno == ENOENT
                   ? TZ_OK
                   : tz_error_set_errno(error, errno, path, "cannot keep the previous record");
    if (rename(link_path, previous) == 0) {
        unlink(link_path); /* two names of one file: then rename does nothing */
        return TZ_OK;
    }
    const int reason = errno;
    unlink(link_path);
    return tz_error_set_errno(error, reason, previous, "cannot keep the previous record");
}

tz_status tz_device_keep(const tz_model_device *device, char *path, size_t size, tz_error *error)
{
    char folder[PATH_MAX];
    folder_of_user(folder, sizeof folder);
    if (size > 0)
        path[0] = '\0';
    if (!*folder)
        return tz_error_set(error, TZ_IO, NULL,
                            "there is no folder for device records: set TRAPEZE_DEVICES or HOME, "
                            "or name a file with --output");
    if (!device->name[0] || device->name[0] == '.' || strchr(device->name, '/'))
        return tz_error_set(error, TZ_RANGE, NULL, "'%s' cannot be a file's name", device->name);
    if ((size_t)snprintf(path, size, "%s/%s.txt", folder, device->name) >= size)
        return tz_error_set(error, TZ_IO, folder, "the path is too long");
    tz_status status = tz_make_dirs(folder, error);
    if (!status)
        status = keep_previous(path, error);
    return !status ? tz_device_save(device, path, true, error) : status;
}

/* ---- Other numbers --------------------------------------------------------------------------- */

static const tz_model_key *find_number(const char *name)
{
    size_t count;
    const tz_model_key *keys = tz_model_device_keys(&count);
    for (size_t k = 0; k < count; k++)
        if (keys[k].quantity != TZ_MODEL_TEXT && strcmp(keys[k].name, name) == 0)
            return &keys[k];
    return NULL;
}

tz_status tz_device_change(tz_model_device *device, const char *key, const char *value,
                           tz_error *error)
{
    char text[512], clock[64] = "";
    tz_model_device one;
    tz_error why;
    if (device->clock_hz.known && strcmp(key, "clock") != 0) /* cycles are of it */
        snprintf(clock, sizeof clock, "clock = %.17g Hz # the record's\n", device->clock_hz.value);
    const int length = snprintf(text, sizeof text, "name = change\n%s%s = %s # assumed: changed\n",
                                clock, key, value);
    const tz_model_key *number = find_number(key);
    if (length >= (int)sizeof text || strpbrk(value, "\n#") || strpbrk(key, "\n#="))
        return tz_error_set(error, TZ_FORMAT, "record",
                            "'%.40s' = '%.40s' is no number of a record", key, value);
    const tz_status status = tz_model_device_parse("", text, (size_t)length, &one, &why);
    if (status || !number)
        return tz_error_set(error, status ? status : TZ_UNKNOWN, key, "%s",
                            status ? why.message : "this is no number");
    memcpy((char *)device + number->offset, (char *)&one + number->offset, sizeof(tz_model_number));
    return TZ_OK;
}
