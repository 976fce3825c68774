#include "policy/device.h"

#include "base/machine.h"
#include "base/names.h"
#include "run/paths.h"
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tz_status read_record(const char *path, tz_model_device *out, tz_error *error)
{
    tz_model_error why;
    if (tz_model_device_read(path, out, &why) == TZ_MODEL_OK)
        return TZ_OK;
    return tz_error_set(error, TZ_FORMAT, why.place, "%s", why.message);
}

tz_status tz_device_find(const char *name, tz_model_device *out, tz_error *error)
{
    tz_paths folders = {0}, names = {0};
    char path[PATH_MAX];
    tz_status status = TZ_UNKNOWN;
    bool found = false;
    if (strchr(name, '/') || strstr(name, ".txt"))
        return read_record(name, out, error);
    if (getenv("TRAPEZE_DEVICES"))
        tz_paths_add(&folders, getenv("TRAPEZE_DEVICES"), NULL);
    tz_paths_add_records(&folders, "devices", NULL);
    for (size_t k = 0; k < folders.count && !found; k++) {
        DIR *folder = opendir(folders.items[k]);
        for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
            char word[256];
            const char *dot = strstr(entry->d_name, ".txt");
            if (!dot)
                continue;
            snprintf(word, sizeof word, "%.*s", (int)(dot - entry->d_name), entry->d_name);
            tz_paths_add(&names, word, NULL);
            if (strcmp(word, name) == 0) {
                snprintf(path, sizeof path, "%s/%s", folders.items[k], entry->d_name);
                status = read_record(path, out, error);
                found = true;
            }
        }
        if (folder)
            closedir(folder);
    }
    char hint[256];
    if (!found)
        status = tz_error_set(
            error, TZ_UNKNOWN, "device", "unknown device '%.60s'%s", name,
            tz_names_hint(hint, sizeof hint, name, (const char *const *)names.items, names.count));
    tz_paths_clear(&folders);
    tz_paths_clear(&names);
    return status;
}

tz_status tz_device_of_cpu(tz_model_device *out, tz_error *error)
{
    tz_machine machine;
    tz_machine_read(&machine);
    if (tz_device_find("this-cpu", out, NULL) == TZ_OK)
        return TZ_OK;
    return tz_error_set(error, TZ_UNSUPPORTED, "device",
                        "there is no record of this processor, %s: run `trapeze calibrate`",
                        machine.cpu);
}

tz_status tz_device_of_gpu(int ordinal, tz_model_device *out, tz_error *error)
{
    (void)ordinal;
    return tz_device_find("h200", out, error);
}
