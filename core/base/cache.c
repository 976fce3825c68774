/* Keys, folder checks and entry files of the cache. Called by backend/cuda/compile and sass for
 * cubins and their instruction mixes, and by core/define for compiled plugins. */
#include "base/cache.h"

#include "base/atomic.h"
#include "base/paths.h"
#include "base/random.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
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
    return (tz_cache_key){tz_random_mix(key.a + key.b),
                          tz_random_mix(key.b ^ tz_random_mix(key.a))};
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

/* Why nothing can be kept in a folder, which need not be there yet: an errno; 0: it can. */
static int why_closed(const char *folder)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", folder);
    while (access(path, W_OK | X_OK) != 0) {
        const int reason = errno;
        char *slash = strrchr(path, '/');
        if (reason != ENOENT || !slash || slash == path)
            return reason;
        *slash = '\0';
    }
    return 0;
}

bool tz_cache_describe(char *text, size_t size)
{
    bool wanted;
    char *folder = tz_cache_folder(&wanted);
    const int closed = folder ? why_closed(folder) : 0;
    if (closed)
        snprintf(text, size, "%s cannot be written (%s): nothing is kept", folder,
                 strerror(closed));
    else
        snprintf(text, size, "%s",
                 folder   ? folder
                 : wanted ? "none: neither TRAPEZE_CACHE nor XDG_CACHE_HOME nor HOME is set"
                          : "none: TRAPEZE_CACHE is empty");
    free(folder);
    return !closed && (folder || !wanted);
}

/* ---- Folders ----------------------------------------------------------------------------------
 *
 * What is read is run, so a folder is opened once, checked by its descriptor, and used by it: a
 * path may lead elsewhere a moment later. */

static tz_status refuse_owner(const struct stat *facts, const char *folder, const char *variable,
                              tz_error *error)
{
    return tz_error_set(
        error, TZ_IO, folder,
        "belongs to another user (%lu), whose code would be run: set %s to a folder of your own",
        (unsigned long)facts->st_uid, variable);
}

/* A folder such as /tmp is fine, where everybody may only remove his own; and so is one that this
 * user's own group may write, as a umask of 002 leaves it. */
static tz_status check_outer(const struct stat *facts, const char *folder, const char *variable,
                             tz_error *error)
{
    const bool by_group = (facts->st_mode & S_IWGRP) != 0 && facts->st_gid != getegid();
    if (facts->st_uid != geteuid() && facts->st_uid != 0)
        return refuse_owner(facts, folder, variable, error);
    if ((by_group || (facts->st_mode & S_IWOTH) != 0) && (facts->st_mode & S_ISVTX) == 0)
        return tz_error_set(error, TZ_IO, folder,
                            "can be changed by other users (mode %04o), whose code would be run: "
                            "close it with chmod go-w, or set %s to a folder of your own",
                            (unsigned)(facts->st_mode & 07777), variable);
    return TZ_OK;
}

tz_status tz_cache_check_folder(const char *folder, const char *variable, tz_error *error)
{
    struct stat facts;
    /* One that is not there holds nothing; making something in it says what is wrong. */
    return stat(folder, &facts) == 0 ? check_outer(&facts, folder, variable, error) : TZ_OK;
}

/* The folder within it that only this user may look into. */
static tz_status check_inner(const struct stat *facts, const char *folder, tz_error *error)
{
    if (facts->st_uid != geteuid())
        return refuse_owner(facts, folder, "TRAPEZE_CACHE", error);
    if ((facts->st_mode & 077) != 0)
        return tz_error_set(error, TZ_IO, folder,
                            "is open to other users (mode %04o), whose code would be run: remove "
                            "it, or close it with chmod 700",
                            (unsigned)(facts->st_mode & 07777));
    return TZ_OK;
}

/* Opens the folder of a kind's entries: *out, -1 if there is none yet or none is wanted. */
static tz_status open_folder(const char *folder, const tz_cache_kind *kind, int *out,
                             tz_error *error)
{
    static const int how = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    struct stat facts;
    char path[PATH_MAX];
    *out = -1;
    const int outer = open(folder, how);
    if (outer < 0 && (errno == ENOENT || errno == ENOTDIR))
        return TZ_OK; /* there is nothing that could be run */
    if (outer < 0)
        return tz_error_set_errno(error, errno, folder, "cannot open the folder");
    tz_status status = fstat(outer, &facts) == 0
                           ? check_outer(&facts, folder, "TRAPEZE_CACHE", error)
                           : tz_error_set_errno(error, errno, folder, "cannot look at the folder");
    if (status || !kind->folder) {
        *out = status ? -1 : outer;
        if (status)
            close(outer);
        return status;
    }
    snprintf(path, sizeof path, "%s/%s", folder, kind->folder);
    const int inner = openat(outer, kind->folder, how | O_NOFOLLOW);
    const int reason = errno;
    close(outer);
    if (inner < 0 && reason == ENOENT)
        return TZ_OK;
    if (inner < 0 && (reason == ENOTDIR || reason == ELOOP))
        return tz_error_set(error, TZ_IO, path,
                            "is no folder, so compiled stencils cannot be kept in it: remove it, "
                            "or set TRAPEZE_CACHE to another folder");
    if (inner < 0)
        return tz_error_set_errno(error, reason, path, "cannot open the folder");
    status = fstat(inner, &facts) == 0
                 ? check_inner(&facts, path, error)
                 : tz_error_set_errno(error, errno, path, "cannot look at the folder");
    if (status)
        close(inner);
    else
        *out = inner;
    return status;
}

/* Makes what is missing of it, first. */
static tz_status make_folder(const char *folder, const tz_cache_kind *kind, int *out,
                             tz_error *error)
{
    char path[PATH_MAX];
    *out = -1;
    tz_status status = tz_make_dirs(folder, error);
    snprintf(path, sizeof path, "%s/%s", folder, kind->folder ? kind->folder : "");
    if (!status && kind->folder && mkdir(path, 0700) != 0 && errno != EEXIST)
        status = tz_error_set_errno(error, errno, path, "cannot make the folder");
    if (!status)
        status = open_folder(folder, kind, out, error);
    if (!status && *out < 0)
        status = tz_error_set(error, TZ_IO, path, "it has just been removed");
    return status;
}

tz_status tz_cache_check_private(const tz_cache_kind *kind, tz_error *error)
{
    bool wanted;
    int opened = -1;
    char *folder = kind->folder ? tz_cache_folder(&wanted) : NULL;
    const tz_status status = folder ? open_folder(folder, kind, &opened, error) : TZ_OK;
    if (opened >= 0)
        close(opened);
    free(folder);
    return status;
}

/* ---- Entries --------------------------------------------------------------------------------- */

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

static void name_entry(char name[128], tz_cache_key key, const tz_cache_kind *kind)
{
    snprintf(name, 128, "%016llx%016llx.%s", (unsigned long long)key.a, (unsigned long long)key.b,
             kind->ending);
}

/* A regular file that this user wrote and no other can change; -1 else. */
static int open_entry(int folder, tz_cache_key key, const tz_cache_kind *kind, size_t *bytes)
{
    struct stat facts;
    char name[128];
    name_entry(name, key, kind);
    const int file =
        openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return -1;
    if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid() &&
        (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0) {
        *bytes = (size_t)facts.st_size;
        return file;
    }
    close(file);
    return -1;
}

/* ---- Memory -----------------------------------------------------------------------------------
 *
 * Entries of this process that are in no file: the newest first. */

enum { KEPT_MAX = 256 };
#define KEPT_BYTES_MAX ((size_t)64 << 20)

typedef struct kept_entry {
    struct kept_entry *next;
    tz_cache_key key;
    const tz_cache_kind *kind;
    size_t bytes;
    char data[];
} kept_entry;

static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static kept_entry *kept;

static void keep(tz_cache_key key, const tz_cache_kind *kind, const void *data, size_t bytes)
{
    kept_entry *entry = malloc(sizeof *entry + bytes);
    if (!entry)
        return;
    *entry = (kept_entry){.key = key, .kind = kind, .bytes = bytes};
    memcpy(entry->data, data, bytes);
    pthread_mutex_lock(&kept_lock);
    entry->next = kept;
    kept = entry;
    int count = 0;
    size_t all = 0;
    for (kept_entry **at = &kept; *at;) {
        kept_entry *e = *at;
        const bool replaced = e != entry && e->kind == kind && tz_cache_key_equal(e->key, key);
        if (e != entry && (replaced || count + 1 > KEPT_MAX || all + e->bytes > KEPT_BYTES_MAX)) {
            *at = e->next;
            free(e);
            continue;
        }
        count++;
        all += e->bytes;
        at = &e->next;
    }
    pthread_mutex_unlock(&kept_lock);
}

static void *find_kept(tz_cache_key key, const tz_cache_kind *kind, size_t *bytes)
{
    void *data = NULL;
    pthread_mutex_lock(&kept_lock);
    for (const kept_entry *e = kept; e && !data; e = e->next)
        if (e->kind == kind && tz_cache_key_equal(e->key, key) && (data = malloc(e->bytes))) {
            memcpy(data, e->data, e->bytes);
            *bytes = e->bytes;
        }
    pthread_mutex_unlock(&kept_lock);
    return data;
}

/* ---- Reading and writing --------------------------------------------------------------------- */

static void *read_entry(tz_cache_key key, const tz_cache_kind *kind, size_t *bytes)
{
    bool wanted;
    char *path = tz_cache_folder(&wanted);
    void *data = NULL;
    entry_head head;
    int folder = -1, file = -1;
    if (!path || open_folder(path, kind, &folder, NULL) != TZ_OK || folder < 0)
        goto done;
    file = open_entry(folder, key, kind, bytes);
    if (file < 0 || *bytes <= sizeof head || !read_all(file, &head, sizeof head))
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
    if (folder >= 0)
        close(folder);
    free(path);
    return data;
}

void *tz_cache_read(tz_cache_key key, const tz_cache_kind *kind, size_t *bytes)
{
    void *data = read_entry(key, kind, bytes);
    return data || !kind->kept ? data : find_kept(key, kind, bytes);
}

static tz_status write_entry(int folder, tz_cache_key key, const tz_cache_kind *kind,
                             const void *data, size_t bytes, tz_error *error)
{
    entry_head head = {.key = key, .bytes = bytes, .sum = sum_of(data, bytes)};
    tz_atomic_file *file = NULL;
    char name[128], path[192];
    name_entry(name, key, kind);
    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", folder, name);
    tz_status status = tz_atomic_open(&file, path, true, error);
    if (status)
        return status;
    memcpy(head.magic, kind->magic, sizeof head.magic);
    status = tz_atomic_write(file, &head, sizeof head, error);
    if (!status)
        status = tz_atomic_write(file, data, bytes, error);
    if (!status && fchmod(fileno(tz_atomic_stream(file)), 0600) != 0)
        status = tz_error_set_errno(error, errno, path, "cannot close it to others");
    return tz_atomic_end(file, status, error);
}

void tz_cache_write(tz_cache_key key, const tz_cache_kind *kind, const void *data, size_t bytes)
{
    bool wanted, written = false;
    int folder = -1;
    tz_error error = {0};
    char *path = tz_cache_folder(&wanted);
    if (!path && wanted)
        warn("a cache", "there is no folder for it: neither XDG_CACHE_HOME nor HOME is set");
    tz_status status = path ? make_folder(path, kind, &folder, &error) : TZ_OK;
    if (folder >= 0) {
        status = write_entry(folder, key, kind, data, bytes, &error);
        written = !status;
        close(folder);
    }
    if (status)
        warn(path, error.message);
    if (!written && kind->kept)
        keep(key, kind, data, bytes);
    free(path);
}
