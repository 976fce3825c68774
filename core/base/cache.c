#include "base/cache.h"

#include "base/atomic.h"
#include "base/file.h"
#include "base/paths.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file is this head and the data. The byte order is the machine's own. */
typedef struct entry_head {
    char magic[8]; /* of the kind */
    tz_cache_key key;
    uint64_t bytes;
    tz_cache_key sum; /* of the data */
} entry_head;

/* ---- Keys ------------------------------------------------------------------------------------ */

/* FNV-1a in one half, another multiplier and a rotation in the other. */
static void hash_bytes(tz_cache_key *h, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    for (size_t k = 0; k < bytes; k++) {
        h->a = (h->a ^ p[k]) * UINT64_C(0x100000001b3);
        h->b = (h->b ^ p[k]) * UINT64_C(0x9e3779b97f4a7c15);
        h->b = h->b << 29 | h->b >> 35;
    }
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

tz_cache_key tz_cache_key_start(void)
{
    return (tz_cache_key){UINT64_C(0xcbf29ce484222325), UINT64_C(0x6a09e667f3bcc908)};
}

/* The length goes into the hash: "ab","c" differs from "a","bc". */
void tz_cache_key_add(tz_cache_key *key, const char *text)
{
    const uint64_t length = strlen(text);
    hash_bytes(key, &length, sizeof length);
    hash_bytes(key, text, length);
}

tz_cache_key tz_cache_key_end(tz_cache_key key)
{
    return (tz_cache_key){mix(key.a + key.b), mix(key.b ^ mix(key.a))};
}

static tz_cache_key sum_of(const void *data, size_t bytes)
{
    tz_cache_key sum = tz_cache_key_start();
    hash_bytes(&sum, data, bytes);
    return tz_cache_key_end(sum);
}

bool tz_cache_key_equal(tz_cache_key a, tz_cache_key b)
{
    return a.a == b.a && a.b == b.b;
}

/* ---- The warning ------------------------------------------------------------------------------
 *
 * A process gives it once. Its state only moves forward. */

enum { NONE_YET, BEING_WRITTEN, READY, TAKEN };
static atomic_int warning_state = NONE_YET;
static char warning[1024];

static void warn(const char *folder, const char *why)
{
    int expected = NONE_YET;
    if (!atomic_compare_exchange_strong(&warning_state, &expected, BEING_WRITTEN))
        return;
    snprintf(warning, sizeof warning,
             "compiled code cannot be kept in %.500s (%.250s), so every run compiles it again; set "
             "TRAPEZE_CACHE to a folder that can be written, or to \"\" for no cache",
             folder, why);
    atomic_store(&warning_state, READY);
}

bool tz_cache_take_warning(char *text, size_t size)
{
    int expected = READY;
    if (!atomic_compare_exchange_strong(&warning_state, &expected, TAKEN))
        return false;
    snprintf(text, size, "%s", warning);
    return true;
}

/* ---- Entries --------------------------------------------------------------------------------- */

void tz_cache_describe(char *text, size_t size)
{
    bool wanted;
    char *folder = tz_cache_folder(&wanted);
    snprintf(text, size, "%s",
             folder   ? folder
             : wanted ? "none: neither TRAPEZE_CACHE nor XDG_CACHE_HOME nor HOME is set"
                      : "none: TRAPEZE_CACHE is empty");
    free(folder);
}

static bool read_all(int file, void *data, size_t bytes)
{
    char *to = data;
    while (bytes > 0) {
        const ssize_t got = read(file, to, bytes);
        if (got <= 0)
            return false;
        to += got;
        bytes -= (size_t)got;
    }
    return true;
}

/* The folder of a kind's entries, malloc'd; NULL without a folder or memory. */
static char *kind_folder(const tz_cache_kind *kind, bool *wanted)
{
    char *folder = tz_cache_folder(wanted), *inner = NULL;
    if (!folder || !kind->folder)
        return folder;
    if (asprintf(&inner, "%s/%s", folder, kind->folder) < 0)
        inner = NULL;
    free(folder);
    return inner;
}

/* The path of an entry, malloc'd; NULL without a folder or memory. */
static char *entry_path(const char *folder, tz_cache_key key, const tz_cache_kind *kind)
{
    char *path = NULL;
    if (folder && asprintf(&path, "%s/%016llx%016llx.%s", folder, (unsigned long long)key.a,
                           (unsigned long long)key.b, kind->ending) < 0)
        path = NULL;
    return path;
}

static tz_status check_owner(const char *folder, tz_error *error)
{
    struct stat facts;
    if (lstat(folder, &facts) != 0)
        return TZ_OK;
    if (!S_ISDIR(facts.st_mode))
        return tz_error_set(error, TZ_IO, folder,
                            "is no folder, so compiled stencils cannot be kept in it: remove it, "
                            "or set TRAPEZE_CACHE to another folder");
    if (facts.st_uid != geteuid())
        return tz_error_set(error, TZ_IO, folder,
                            "belongs to another user (%lu), whose code would be run: set "
                            "TRAPEZE_CACHE to a folder of your own",
                            (unsigned long)facts.st_uid);
    if ((facts.st_mode & 077) != 0)
        return tz_error_set(error, TZ_IO, folder,
                            "is open to other users (mode %04o), whose code would be run: remove "
                            "it, or close it with chmod 700",
                            (unsigned)(facts.st_mode & 07777));
    return TZ_OK;
}

tz_status tz_cache_check_private(const tz_cache_kind *kind, tz_error *error)
{
    bool wanted;
    char *folder = kind->folder ? kind_folder(kind, &wanted) : NULL;
    const tz_status status = folder ? check_owner(folder, error) : TZ_OK;
    free(folder);
    return status;
}

/* Make the folder of a kind. */
static tz_status make_folder(const char *folder, const tz_cache_kind *kind, tz_error *error)
{
    if (!kind->folder)
        return tz_make_dirs(folder, error);
    char *outer = strndup(folder, strlen(folder) - strlen(kind->folder) - 1);
    tz_status status =
        outer ? tz_make_dirs(outer, error) : tz_error_set(error, TZ_MEMORY, folder, "no memory");
    free(outer);
    if (!status && mkdir(folder, 0700) != 0 && errno != EEXIST)
        status = tz_error_set_errno(error, errno, folder, "cannot make the folder");
    return status ? status : check_owner(folder, error);
}

void *tz_cache_read(tz_cache_key key, const tz_cache_kind *kind, size_t *bytes)
{
    bool wanted;
    char *folder = kind_folder(kind, &wanted);
    char *path = entry_path(folder, key, kind);
    void *data = NULL;
    entry_head head;
    int file = -1;
    if (!path || tz_file_open(path, &file, bytes, NULL) != TZ_OK || *bytes <= sizeof head ||
        !read_all(file, &head, sizeof head))
        goto done;
    *bytes -= sizeof head;
    if (memcmp(head.magic, kind->magic, sizeof head.magic) != 0 ||
        !tz_cache_key_equal(head.key, key) || head.bytes != *bytes)
        goto done;
    data = malloc(*bytes);
    if (data &&
        !(read_all(file, data, *bytes) && tz_cache_key_equal(sum_of(data, *bytes), head.sum))) {
        free(data);
        data = NULL;
    }
done:
    if (file >= 0)
        close(file);
    free(path);
    free(folder);
    return data;
}

void tz_cache_write(tz_cache_key key, const tz_cache_kind *kind, const void *data, size_t bytes)
{
    bool wanted;
    tz_error error = {0};
    tz_atomic_file *file = NULL;
    entry_head head = {.key = key, .bytes = bytes, .sum = sum_of(data, bytes)};
    char *folder = kind_folder(kind, &wanted);
    char *path = entry_path(folder, key, kind);
    memcpy(head.magic, kind->magic, sizeof head.magic);
    if (!folder && wanted)
        warn("a cache", "there is no folder for it: neither XDG_CACHE_HOME nor HOME is set");
    tz_status status = path ? make_folder(folder, kind, &error) : TZ_OK;
    if (path && !status)
        status = tz_atomic_open(&file, path, true, &error);
    if (file) {
        status = tz_atomic_write(file, &head, sizeof head, &error);
        if (!status)
            status = tz_atomic_write(file, data, bytes, &error);
        if (!status)
            status = tz_atomic_commit(file, &error);
        else
            tz_atomic_abort(file);
    }
    if (status)
        warn(folder, error.message);
    free(path);
    free(folder);
}
