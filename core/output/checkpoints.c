#include "output/checkpoints.h"

#include "base/atomic.h"
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *tz_checkpoints_path(const char *folder, const char *name, char *text, size_t size)
{
    snprintf(text, size, "%s/checkpoint%s%s", folder, name[0] ? "/" : "", name);
    return text;
}

const char *tz_checkpoints_file(const char *folder, int slot, char *text, size_t size)
{
    return tz_checkpoints_path(folder, slot == 0 ? "1" : "2", text, size);
}

/* The folder of a run may be somebody else's: what a link leads to is not read, written or removed. */
static bool is_link(const char *folder)
{
    struct stat facts;
    char path[PATH_MAX + 32];
    return lstat(tz_checkpoints_path(folder, "", path, sizeof path), &facts) == 0 &&
           !S_ISDIR(facts.st_mode);
}

static tz_status refuse_link(const char *folder, tz_error *error)
{
    char path[PATH_MAX + 32];
    return tz_error_set(error, TZ_IO, tz_checkpoints_path(folder, "", path, sizeof path),
                        "is no folder, but a link or a file, so no checkpoint is kept there");
}

static int64_t number_of(const tz_checkpoint_reader *reader)
{
    return json_integer_value(json_object_get(tz_checkpoint_facts(reader), "number"));
}

int tz_checkpoints_list(const char *folder, int slots[TZ_CHECKPOINT_SLOTS], tz_error *why)
{
    int64_t numbers[TZ_CHECKPOINT_SLOTS];
    int count = 0;
    if (why)
        why->code = TZ_OK;
    if (is_link(folder))
        refuse_link(folder, why);
    for (int slot = 0; slot < TZ_CHECKPOINT_SLOTS && !is_link(folder); slot++) {
        char path[PATH_MAX + 32];
        tz_checkpoint_reader *reader = NULL;
        tz_checkpoints_file(folder, slot, path, sizeof path);
        if (access(path, F_OK) != 0)
            continue;
        if (tz_checkpoint_open(&reader, path, false, why) != TZ_OK)
            continue;
        const int64_t number = number_of(reader);
        tz_checkpoint_close(reader);
        const int at = count > 0 && number > numbers[0] ? 0 : count;
        if (at == 0 && count > 0) {
            numbers[1] = numbers[0];
            slots[1] = slots[0];
        }
        numbers[at] = number;
        slots[at] = slot;
        count++;
    }
    return count;
}

tz_status tz_checkpoints_newest(tz_checkpoint_reader **out, const char *folder, tz_error *error)
{
    int slots[TZ_CHECKPOINT_SLOTS];
    char path[PATH_MAX + 32];
    tz_error why = {0};
    *out = NULL;
    if (tz_checkpoints_list(folder, slots, &why) > 0)
        return tz_checkpoint_open(out, tz_checkpoints_file(folder, slots[0], path, sizeof path),
                                  false, error);
    if (why.code) {
        if (error)
            *error = why;
        return why.code;
    }
    return tz_error_set(error, TZ_IO, folder,
                        "there is no checkpoint: begin the run again with trapeze run");
}

tz_status tz_checkpoints_make(const char *folder, tz_error *error)
{
    char path[PATH_MAX + 32];
    if (is_link(folder))
        return refuse_link(folder, error);
    return tz_make_dirs(tz_checkpoints_path(folder, "", path, sizeof path), error);
}

void tz_checkpoints_remove(const char *folder)
{
    static const char *const names[] = {"1", "2", "journal"};
    char path[PATH_MAX + 32];
    if (is_link(folder))
        return;
    tz_atomic_sweep(tz_checkpoints_path(folder, "", path, sizeof path));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(tz_checkpoints_path(folder, names[i], path, sizeof path));
    rmdir(tz_checkpoints_path(folder, "", path, sizeof path));
}
