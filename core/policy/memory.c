/* Memory: what a search has measured, on disk for the next run (exhaustive.c, auto.c).
 *
 * Each search has one file, `plans/HASH.json` in the cache's folder (base/paths.h), written whole
 * or not at all. The file holds the full key. A file with another key, an incomplete plan or an
 * invalid number counts as missing, as does one in a folder where others may write. When the files
 * are larger than KEPT_BYTES_MAX together, the oldest are removed. */
#include "policy/class.h"

#include "base/atomic.h"
#include "base/cache.h"
#include "base/file.h"
#include "base/json.h"
#include "base/paths.h"
#include "base/text.h"
#include "policy/policy.h"
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_SIZE = 4096, BYTES_MAX = 1 << 20, KEPT_BYTES_MAX = 64 << 20 };

static const char format[] = "trapeze plans 1", format_part[] = "trapeze plans 1, unfinished";

/* "" without a cache folder. */
static void find_folder(char path[FOLDER_SIZE])
{
    bool wanted;
    char *folder = tz_cache_folder(&wanted);
    const int length = folder ? snprintf(path, FOLDER_SIZE, "%s/plans", folder) : FOLDER_SIZE;
    free(folder);
    if (length >= FOLDER_SIZE)
        path[0] = '\0';
}

bool tz_policy_memory_path(const char *key, char *path, size_t size)
{
    char folder[FOLDER_SIZE];
    find_folder(folder);
    const int length = snprintf(path, size, "%s/%016" PRIx64 ".json", folder,
                                tz_text_hash(TZ_HASH_NONE, key)); /* the file holds the full key */
    return folder[0] && length > 0 && (size_t)length < size;
}

void tz_policy_memory_clear(tz_policy_memory *memory)
{
    free(memory->plans);
    *memory = (tz_policy_memory){.plans = NULL};
}

void tz_policy_memory_forget(const char *key)
{
    char path[4200];
    if (tz_policy_memory_path(key, path, sizeof path))
        unlink(path);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool read_measurement(const json_t *entry, tz_policy_measurement *out)
{
    const json_t *time = json_object_get(entry, "seconds_per_iteration");
    bool none = false; /* no rounds: 0 */
    *out = (tz_policy_measurement){.time_s = NAN, .predicted_s = NAN};
    if (!tz_plan_from_json(entry, &out->plan))
        return false;
    out->tie = json_is_true(json_object_get(entry, "tie"));
    out->rounds = (int)tz_json_get_integer(entry, "rounds", 0, 100, &none);
    if (json_is_null(time))
        return true;
    out->time_s = json_number_value(time);
    return json_is_number(time) && isfinite(out->time_s) && out->time_s > 0;
}

/* NULL if the file is missing or is not JSON. */
static json_t *load(const char *path)
{
    char *text, folder[FOLDER_SIZE];
    size_t bytes;
    find_folder(folder);
    if (tz_cache_check_folder(folder, "TRAPEZE_CACHE", NULL) != TZ_OK ||
        tz_file_read(path, BYTES_MAX, &text, &bytes, NULL) != TZ_OK)
        return NULL;
    json_t *root;
    tz_json_read(path, text, bytes, &root, NULL);
    free(text);
    return root;
}

bool tz_policy_memory_read(const char *key, tz_policy_memory *out)
{
    char path[4200];
    *out = (tz_policy_memory){.plans = NULL};
    if (!tz_policy_memory_path(key, path, sizeof path))
        return false;
    json_t *root = load(path);
    const json_t *plans = json_object_get(root, "plans");
    const size_t count = json_array_size(plans);
    bool bad = false;
    const char *kind = tz_json_get_text(root, "format", &bad);
    const json_t *noise = json_object_get(root, "noise");
    out->finished = strcmp(kind, format) == 0;
    out->best = (int)tz_json_get_integer(root, "best", 0, (int64_t)count - 1, &bad);
    out->noise = json_number_value(noise);
    bool good = strcmp(tz_json_get_text(root, "key", &bad), key) == 0 &&
                (out->finished || strcmp(kind, format_part) == 0) &&
                count <= TZ_POLICY_OPTIONS_MAX + 1 && json_is_number(noise) && out->noise >= 0 &&
                !bad;
    out->plans = good ? calloc(count, sizeof *out->plans) : NULL;
    out->count = (int)count;
    good = out->plans != NULL;
    for (size_t i = 0; good && i < count; i++)
        good = read_measurement(json_array_get(plans, i), &out->plans[i]);
    good = good && !isnan(out->plans[out->best].time_s);
    json_decref(root);
    if (!good)
        tz_policy_memory_clear(out);
    return good;
}

/* ---- All files ------------------------------------------------------------------------------- */

typedef struct kept_file {
    char name[64];
    int64_t bytes;
    struct timespec written;
} kept_file;

static int older_first(const void *a, const void *b)
{
    const struct timespec *x = &((const kept_file *)a)->written;
    const struct timespec *y = &((const kept_file *)b)->written;
    return x->tv_sec != y->tv_sec ? (x->tv_sec > y->tv_sec) - (x->tv_sec < y->tv_sec)
                                  : (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* malloc'd, the oldest first; NULL: none. */
static kept_file *list_files(DIR *dir, int *count)
{
    kept_file *files = NULL;
    int room = 0;
    *count = 0;
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        struct stat facts;
        const size_t length = strlen(entry->d_name);
        if (length < 5 || length >= sizeof files->name ||
            strcmp(entry->d_name + length - 5, ".json") != 0 ||
            fstatat(dirfd(dir), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(facts.st_mode))
            continue;
        if (*count == room) {
            room = 2 * room + 64;
            kept_file *more = realloc(files, (size_t)room * sizeof *more);
            if (!more)
                break;
            files = more;
        }
        kept_file *file = &files[(*count)++];
        file->bytes = facts.st_size;
        file->written = facts.st_mtim;
        memcpy(file->name, entry->d_name, length + 1);
    }
    if (files)
        qsort(files, (size_t)*count, sizeof *files, older_first);
    return files;
}

void tz_policy_memory_tidy(int64_t most, int *count, int64_t *bytes)
{
    char folder[FOLDER_SIZE];
    int all, at = 0;
    find_folder(folder);
    DIR *dir = folder[0] ? opendir(folder) : NULL;
    kept_file *files = list_files(dir, &all);
    *bytes = 0;
    for (int i = 0; i < all; i++)
        *bytes += files[i].bytes;
    for (; at<all && * bytes> most; at++) {
        unlinkat(dirfd(dir), files[at].name, 0);
        *bytes -= files[at].bytes;
    }
    *count = all - at;
    free(files);
    if (dir)
        closedir(dir);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static json_t *write_measurement(const tz_policy_measurement *m, bool *failed)
{
    json_t *entry = tz_plan_to_json(&m->plan, TZ_AXES);
    tz_json_put(entry, "seconds_per_iteration",
                isnan(m->time_s) ? json_null() : json_real(m->time_s), failed);
    tz_json_put(entry, "tie", json_boolean(m->tie), failed);
    tz_json_put_integer(entry, "rounds", m->rounds, failed);
    return entry;
}

tz_status tz_policy_memory_write(const char *key, const tz_policy_memory *memory, tz_error *error)
{
    char path[4200];
    if (!tz_policy_memory_path(key, path, sizeof path))
        return TZ_OK;
    json_t *root = json_object(), *plans = json_array();
    bool failed = !plans;
    for (int i = 0; i < memory->count; i++)
        if (json_array_append_new(plans, write_measurement(&memory->plans[i], &failed)) != 0)
            failed = true;
    tz_json_put_text(root, "format", memory->finished ? format : format_part, &failed);
    tz_json_put_text(root, "key", key, &failed);
    tz_json_put_integer(root, "best", memory->best, &failed);
    tz_json_put(root, "noise", json_real(memory->noise), &failed);
    tz_json_put(root, "plans", plans, &failed);
    char *text = failed ? NULL : json_dumps(root, JSON_INDENT(1));
    json_decref(root);
    if (!text)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory for the measured plans");
    char folder[FOLDER_SIZE];
    find_folder(folder);
    tz_status status = tz_make_dirs(folder, error);
    if (!status)
        status = tz_atomic_save(path, true, text, strlen(text), error);
    free(text);
    int count;
    int64_t bytes;
    tz_policy_memory_tidy(KEPT_BYTES_MAX, &count, &bytes);
    return status;
}

/* ---- What searches remember ------------------------------------------------------------------ */

void tz__policy_memory_key(const tz_policy *policy, const char *search,
                           char key[TZ_POLICY_KEY_SIZE])
{
    char host[TZ_POLICY_KEY_SIZE], given[TZ_PLAN_TEXT_SIZE];
    key[0] = '\0';
    if (!tz__policy_key(&policy->subject, host, sizeof host))
        return;
    tz_plan_text(&policy->wish.given, TZ_AXES, given, sizeof given);
    const int length = snprintf(key, TZ_POLICY_KEY_SIZE, "%s%s; given '%s'", search, host, given);
    if (length < 0 || length >= TZ_POLICY_KEY_SIZE)
        key[0] = '\0';
}

void tz__policy_remember(tz_policy *policy, const char *search, const char *key,
                         const tz_policy_memory *found)
{
    char now[TZ_POLICY_KEY_SIZE], text[400];
    tz__policy_memory_key(policy, search, now);
    if (!key[0] || strcmp(key, now) != 0)
        return;
    tz_policy_memory memory = *found;
    tz_error error = {0};
    memory.plans = calloc((size_t)found->count, sizeof *memory.plans);
    tz_status status =
        memory.plans ? TZ_OK : tz_error_set(&error, TZ_MEMORY, NULL, "not enough memory");
    for (int i = 0; !status && i < found->count; i++)
        policy->is->measured(policy, (size_t)i, &memory.plans[i]);
    if (!status)
        status = tz_policy_memory_write(key, &memory, &error);
    tz_policy_memory_clear(&memory);
    if (!status)
        return;
    tz_error_format(&error, text, sizeof text);
    snprintf(policy->warning, sizeof policy->warning, "the measured plans are not remembered: %s",
             text);
}
