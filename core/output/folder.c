/* The folder of a run, its log and its checkpoints: runs write it, commands look into it. */
#include "output/folder.h"

#include "base/atomic.h"
#include "base/paths.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_LONGEST = 120, NUMBERS = 100000 };

struct tz_folder {
    char path[PATH_MAX];
    FILE *log;
    bool made; /* the folder did not exist before */
};

/* "{step}": a word in braces. Other braces may be part of a name. */
static bool has_placeholder(const char *name)
{
    for (; (name = strchr(name, '{')); name++) {
        const size_t length = strspn(name + 1, "abcdefghijklmnopqrstuvwxyz_");
        if (length > 0 && name[1 + length] == '}')
            return true;
    }
    return false;
}

tz_status tz_folder_check_name(const char *name, tz_error *error)
{
    const char *why = NULL;
    if (name[0] == '\0')
        why = "is empty";
    else if (strlen(name) > NAME_LONGEST)
        why = "is longer than 120 characters";
    else if (name[0] == '.')
        why = "starts with a dot";
    else if (strchr(name, '/'))
        why = "names another folder; outputs go into the run folder itself";
    else if (has_placeholder(name))
        why = "has a placeholder; only captions have them, and the files of a step get its number "
              "by themselves";
    for (const char *c = name; !why && *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            why = "holds a control character";
    if (why)
        return tz_error_set(error, TZ_RANGE, NULL, "the file name '%.130s' %s", name, why);
    return TZ_OK;
}

tz_status tz_folder_join(const tz_folder *folder, const char *name, char *text, size_t size,
                         tz_error *error)
{
    const tz_status status = tz_folder_check_name(name, error);
    if (status != TZ_OK)
        return status;
    if ((size_t)snprintf(text, size, "%s/%s", folder->path, name) >= size)
        return tz_error_set(error, TZ_RANGE, folder->path, "the path is too long");
    return TZ_OK;
}

static bool is_empty(const char *path)
{
    DIR *listing = opendir(path);
    if (!listing)
        return false;
    bool empty = true;
    for (const struct dirent *entry; empty && (entry = readdir(listing));)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(listing);
    return empty;
}

static tz_status take_wanted(tz_folder *folder, const char *wanted, tz_error *error)
{
    struct stat facts;
    snprintf(folder->path, sizeof folder->path, "%s", wanted);
    if (wanted[0] == '\0' || strlen(wanted) + NAME_LONGEST + 2 >= sizeof folder->path)
        return tz_error_set(error, TZ_RANGE, "--out", "the folder's path is empty or too long");
    for (size_t n = strlen(folder->path); n > 1 && folder->path[n - 1] == '/'; n--)
        folder->path[n - 1] = '\0';
    if (stat(wanted, &facts) == 0) {
        if (!S_ISDIR(facts.st_mode))
            return tz_error_set(error, TZ_IO, wanted,
                                "is a file; give the run folder another name with --out");
        if (!is_empty(wanted))
            return tz_error_set(error, TZ_IO, wanted,
                                "the run folder exists and is not empty; give another with --out");
        return TZ_OK;
    }
    folder->made = true;
    return tz_make_dirs(folder->path, error);
}

static tz_status take_numbered(tz_folder *folder, const char *name, tz_error *error)
{
    const tz_status status = tz_make_dirs("runs", error);
    if (status != TZ_OK)
        return status;
    for (int number = 1; number < NUMBERS; number++) {
        snprintf(folder->path, sizeof folder->path, "runs/%.100s-%03d", name, number);
        if (mkdir(folder->path, 0777) == 0) {
            folder->made = true;
            return TZ_OK;
        }
        if (errno != EEXIST)
            return tz_error_set_errno(error, errno, folder->path, "cannot make the run folder");
    }
    return tz_error_set(error, TZ_IO, "runs", "no free number is left for '%.100s'", name);
}

/* Remove the temporary files of runs beside this one that were killed. */
static void sweep(const tz_folder *folder)
{
    char parent[PATH_MAX];
    tz_path_folder(folder->path, parent, sizeof parent);
    DIR *entries = opendir(parent);
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        char run[2 * PATH_MAX], copy[2 * PATH_MAX + 16];
        if (entry->d_name[0] == '.' || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
            continue;
        snprintf(run, sizeof run, "%s/%s", parent, entry->d_name);
        snprintf(copy, sizeof copy, "%s/scenario.lua", run);
        if (access(copy, F_OK) == 0) /* the folder of a run */
            tz_atomic_sweep(run);
    }
    if (entries)
        closedir(entries);
}

static tz_status fill(tz_folder *folder, const char *scenario, size_t bytes, tz_error *error)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/scenario.lua", folder->path);
    const tz_status status = tz_atomic_save(path, false, scenario, bytes, error);
    if (status != TZ_OK)
        return status;
    snprintf(path, sizeof path, "%s/log.txt", folder->path);
    folder->log = fopen(path, "wxe");
    if (!folder->log)
        return tz_error_set_errno(error, errno, path, "cannot open the log");
    setvbuf(folder->log, NULL, _IOLBF, 0);
    flock(fileno(folder->log), LOCK_EX | LOCK_NB);
    return TZ_OK;
}

/* Remove a folder that could not be filled, for example because the disk is full. */
static void remove_again(const tz_folder *folder)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/scenario.lua", folder->path);
    unlink(path);
    if (folder->made)
        rmdir(folder->path);
}

tz_status tz_folder_create(tz_folder **out, const char *wanted, const char *name,
                           const char *scenario, size_t scenario_bytes, tz_error *error)
{
    tz_folder *folder = calloc(1, sizeof *folder);
    if (!folder)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a run folder's record");
    tz_status status =
        wanted ? take_wanted(folder, wanted, error) : take_numbered(folder, name, error);
    if (status == TZ_OK) {
        status = fill(folder, scenario, scenario_bytes, error);
        if (status != TZ_OK)
            remove_again(folder);
    }
    if (status != TZ_OK) {
        tz_folder_destroy(folder);
        return status;
    }
    *out = folder;
    return TZ_OK;
}

/* The folder may be somebody else's: a log that is a link leads to another file. */
static tz_status open_log(const char *path, FILE **out, tz_error *error)
{
    struct stat facts;
    const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (file < 0 && errno == ELOOP)
        return tz_error_set(error, TZ_IO, path, "is a link, so the run does not go on");
    if (file < 0 || fstat(file, &facts) != 0)
        return tz_error_set_errno(error, errno, path, "this is no folder of a run: cannot open");
    *out = S_ISREG(facts.st_mode) ? fdopen(file, "r+") : NULL;
    if (*out)
        return TZ_OK;
    close(file);
    return tz_error_set(error, TZ_IO, path, "is not a regular file, so the run does not go on");
}

tz_status tz_folder_open(tz_folder **out, const char *path, tz_error *error)
{
    char name[PATH_MAX + 32];
    tz_folder *folder = calloc(1, sizeof *folder);
    *out = NULL;
    if (!folder)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a run folder's record");
    tz_status status = TZ_OK;
    if ((size_t)snprintf(folder->path, sizeof folder->path, "%s", path) + NAME_LONGEST + 2 >=
        sizeof folder->path)
        status = tz_error_set(error, TZ_RANGE, path, "the path is too long");
    snprintf(name, sizeof name, "%s/log.txt", folder->path);
    if (!status)
        status = open_log(name, &folder->log, error);
    if (!status && flock(fileno(folder->log), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        status = tz_error_set(error, TZ_IO, path, "the run still goes on, in another process");
    if (status) {
        tz_folder_destroy(folder);
        return status;
    }
    setvbuf(folder->log, NULL, _IOLBF, 0);
    fseeko(folder->log, 0, SEEK_END);
    tz_atomic_sweep(path);
    *out = folder;
    return TZ_OK;
}

bool tz_folder_is_in_use(const char *path)
{
    char name[PATH_MAX + 32];
    snprintf(name, sizeof name, "%.4000s/log.txt", path);
    const int file = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return false;
    const bool in_use = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(file);
    return in_use;
}

int64_t tz_folder_log_bytes(const tz_folder *folder)
{
    fflush(folder->log);
    return (int64_t)ftello(folder->log);
}

void tz_folder_cut_log(tz_folder *folder, int64_t bytes)
{
    fflush(folder->log);
    if (ftruncate(fileno(folder->log), (off_t)bytes) == 0)
        fseeko(folder->log, 0, SEEK_END);
}

void tz_folder_destroy(tz_folder *folder)
{
    if (!folder)
        return;
    if (folder->log)
        fclose(folder->log);
    if (folder->path[0]) /* with many runs that takes longer than a run takes to begin */
        sweep(folder);
    free(folder);
}

const char *tz_folder_path(const tz_folder *folder)
{
    return folder->path;
}

void tz_folder_log(tz_folder *folder, const char *line)
{
    fprintf(folder->log, "%s\n", line);
}

/* ---- Checkpoints ----------------------------------------------------------------------------- */

const char *tz_checkpoints_path(const char *folder, const char *name, char *text, size_t size)
{
    snprintf(text, size, "%s/checkpoint%s%s", folder, name[0] ? "/" : "", name);
    return text;
}

const char *tz_checkpoints_file(const char *folder, int slot, char *text, size_t size)
{
    return tz_checkpoints_path(folder, slot == 0 ? "1" : "2", text, size);
}

/* The folder of a run may be somebody else's: what a link leads to is not read, written or
 * removed. */
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
        numbers[count] = number_of(reader);
        slots[count++] = slot;
        tz_checkpoint_close(reader);
    }
    if (count == 2 && numbers[1] > numbers[0]) { /* the newest first */
        slots[0] = 1;
        slots[1] = 0;
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
    DIR *all = opendir(tz_checkpoints_path(folder, "", path, sizeof path));
    for (const struct dirent *entry; all && (entry = readdir(all));)
        if (strncmp(entry->d_name, TZ_RECORDING_PREFIX, strlen(TZ_RECORDING_PREFIX)) == 0)
            unlinkat(dirfd(all), entry->d_name, 0);
    if (all)
        closedir(all);
    rmdir(tz_checkpoints_path(folder, "", path, sizeof path));
}
