#include "backend/cuda/compile/cache.h"

#include "base/atomic.h"
#include "base/file.h"
#include "base/paths.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file is this head and the data. The byte order is the machine's own. */
typedef struct entry_head {
    char magic[8]; /* of the kind */
    tz_cuda_key key;
    uint64_t bytes;
    tz_cuda_key sum; /* of the data */
} entry_head;

/* ---- Keys ------------------------------------------------------------------------------------ */

/* FNV-1a in one half, another multiplier and a rotation in the other. */
static void hash_bytes(tz_cuda_key *h, const void *data, size_t bytes)
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

tz_cuda_key tz_cuda_key_start(void)
{
    return (tz_cuda_key){UINT64_C(0xcbf29ce484222325), UINT64_C(0x6a09e667f3bcc908)};
}

/* The length goes into the hash: "ab","c" differs from "a","bc". */
void tz_cuda_key_add(tz_cuda_key *key, const char *text)
{
    const uint64_t length = strlen(text);
    hash_bytes(key, &length, sizeof length);
    hash_bytes(key, text, length);
}

tz_cuda_key tz_cuda_key_end(tz_cuda_key key)
{
    return (tz_cuda_key){mix(key.a + key.b), mix(key.b ^ mix(key.a))};
}

static tz_cuda_key sum_of(const void *data, size_t bytes)
{
    tz_cuda_key sum = tz_cuda_key_start();
    hash_bytes(&sum, data, bytes);
    return tz_cuda_key_end(sum);
}

static bool equal(tz_cuda_key a, tz_cuda_key b)
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
    snprintf(
        warning, sizeof warning,
        "compiled kernels cannot be kept in %.500s (%.250s), so every run compiles them again; set "
        "TRAPEZE_CACHE to a folder that can be written, or to \"\" for no cache",
        folder, why);
    atomic_store(&warning_state, READY);
}

bool tz_cuda_cache_take_warning(char *text, size_t size)
{
    int expected = READY;
    if (!atomic_compare_exchange_strong(&warning_state, &expected, TAKEN))
        return false;
    snprintf(text, size, "%s", warning);
    return true;
}

/* ---- Entries --------------------------------------------------------------------------------- */

void tz__cuda_cache_describe(char *text, size_t size)
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

/* The path of an entry, malloc'd; NULL without a folder or memory. */
static char *entry_path(const char *folder, tz_cuda_key key, const tz_cuda_kind *kind)
{
    char *path = NULL;
    if (folder && asprintf(&path, "%s/%016llx%016llx.%s", folder, (unsigned long long)key.a,
                           (unsigned long long)key.b, kind->ending) < 0)
        path = NULL;
    return path;
}

void *tz_cuda_cache_read(tz_cuda_key key, const tz_cuda_kind *kind, size_t *bytes)
{
    bool wanted;
    char *folder = tz_cache_folder(&wanted);
    char *path = entry_path(folder, key, kind);
    void *data = NULL;
    entry_head head;
    int file = -1;
    if (!path || tz_file_open(path, &file, bytes, NULL) != TZ_OK || *bytes <= sizeof head ||
        !read_all(file, &head, sizeof head))
        goto done;
    *bytes -= sizeof head;
    if (memcmp(head.magic, kind->magic, sizeof head.magic) != 0 || !equal(head.key, key) ||
        head.bytes != *bytes)
        goto done;
    data = malloc(*bytes);
    if (data && !(read_all(file, data, *bytes) && equal(sum_of(data, *bytes), head.sum))) {
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

void tz_cuda_cache_write(tz_cuda_key key, const tz_cuda_kind *kind, const void *data, size_t bytes)
{
    bool wanted;
    tz_error error = {0};
    tz_atomic_file *file = NULL;
    entry_head head = {.key = key, .bytes = bytes, .sum = sum_of(data, bytes)};
    char *folder = tz_cache_folder(&wanted);
    char *path = entry_path(folder, key, kind);
    memcpy(head.magic, kind->magic, sizeof head.magic);
    if (!folder && wanted)
        warn("a cache", "there is no folder for it: neither XDG_CACHE_HOME nor HOME is set");
    tz_status status = path ? tz_make_dirs(folder, &error) : TZ_OK;
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
