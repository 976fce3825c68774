#include "backend/cuda/compile/cache.h"

#include "backend/cuda/compile/nvrtc.h"
#include "backend/cuda/family/family.h"
#include "backend/cuda/sass/mix.h"
#include "base/atomic.h"
#include "base/cache_folder.h"
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct hash {
    uint64_t a, b;
} hash;

/* An entry: this, then the cubin, or the counts of its instructions. Byte order is the machine's:
 * caches do not travel. */
typedef struct entry_head {
    char magic[8];
    hash key;
    uint64_t bytes;
    hash sum;
} entry_head;

static const char cubin_magic[8] = {'T', 'Z', 'C', 'U', 'B', 'I', 'N', '1'};
/* The last byte counts changes of tz_cuda_mix, and of what is counted how. */
static const char mix_magic[8] = {'T', 'Z', 'C', 'U', 'M', 'I', 'X', 'Y'};

/* FNV-1a in one lane, another multiplier and a rotation in the other. */
static void hash_bytes(hash *h, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    for (size_t k = 0; k < bytes; k++) {
        h->a = (h->a ^ p[k]) * UINT64_C(0x100000001b3);
        h->b = (h->b ^ p[k]) * UINT64_C(0x9e3779b97f4a7c15);
        h->b = h->b << 29 | h->b >> 35;
    }
}

/* The length goes in too: "ab","c" is not "a","bc". */
static void hash_text(hash *h, const char *text)
{
    const uint64_t length = strlen(text);
    hash_bytes(h, &length, sizeof length);
    hash_bytes(h, text, length);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static hash hash_start(void)
{
    return (hash){UINT64_C(0xcbf29ce484222325), UINT64_C(0x6a09e667f3bcc908)};
}

static hash hash_end(hash h)
{
    return (hash){mix(h.a + h.b), mix(h.b ^ mix(h.a))};
}

static hash cache_key(const tz__nvrtc *nvrtc, const char *architecture, const char *source,
                      const tz_cuda_header *headers, size_t count)
{
    char text[TZ__NVRTC_OPTION_BYTES];
    const char *options[TZ__NVRTC_OPTIONS_MAX];
    hash h = hash_start();
    hash_text(&h, TZ_VERSION);
    tz__nvrtc_version(nvrtc, text, sizeof text);
    hash_text(&h, text);
    const int options_count = tz__nvrtc_code_options(architecture, text, options);
    for (int k = 0; k < options_count; k++)
        hash_text(&h, options[k]);
    hash_text(&h, source);
    for (size_t k = 0; k < count; k++) {
        hash_text(&h, headers[k].name);
        hash_text(&h, headers[k].text);
    }
    return hash_end(h);
}

/* ---- The warning ------------------------------------------------------------------------------
 *
 * What one process says once is the process's own: the only state of this kind here. It goes from
 * one value to the next and never back. */

enum { UNSAID, BEING_WRITTEN, TO_BE_SAID, SAID };
static atomic_int warning_state = UNSAID;
static char warning[1024];

static void warn(const char *folder, const tz_error *error)
{
    int expected = UNSAID;
    if (!atomic_compare_exchange_strong(&warning_state, &expected, BEING_WRITTEN))
        return;
    snprintf(
        warning, sizeof warning,
        "compiled kernels cannot be kept in %.500s (%.250s), so every run compiles them anew; set "
        "TRAPEZE_CACHE to a folder that can be written, or to nothing to do without",
        folder, error->message);
    atomic_store(&warning_state, TO_BE_SAID);
}

bool tz_cuda_cache_take_warning(char *text, size_t size)
{
    int expected = TO_BE_SAID;
    if (!atomic_compare_exchange_strong(&warning_state, &expected, SAID))
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

static bool read_whole(int file, void *data, size_t bytes)
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

/* The cubin of an entry that is whole, or NULL: whatever is wrong with it, it is a miss. */
static void *entry_read(const char *path, const char magic[8], hash key, size_t *bytes)
{
    void *cubin = NULL;
    entry_head head;
    struct stat facts;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return NULL;
    if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode) ||
        facts.st_size <= (off_t)sizeof head || !read_whole(file, &head, sizeof head))
        goto done;
    const size_t size = (size_t)facts.st_size - sizeof head;
    if (memcmp(head.magic, magic, sizeof head.magic) != 0 || head.key.a != key.a ||
        head.key.b != key.b || head.bytes != size)
        goto done;
    cubin = malloc(size);
    if (!cubin)
        goto done;
    hash sum = hash_start();
    if (read_whole(file, cubin, size)) {
        hash_bytes(&sum, cubin, size);
        sum = hash_end(sum);
        if (sum.a == head.sum.a && sum.b == head.sum.b) {
            *bytes = size;
            goto done;
        }
    }
    free(cubin);
    cubin = NULL;
done:
    close(file);
    return cubin;
}

/* A cache that cannot be written costs time only: a warning. */
static void entry_write(const char *folder, const char *path, const char magic[8], hash key,
                        const void *cubin, size_t bytes)
{
    tz_error error = {0};
    tz_atomic_file *file = NULL;
    entry_head head = {.key = key, .bytes = bytes, .sum = hash_start()};
    memcpy(head.magic, magic, sizeof head.magic);
    hash_bytes(&head.sum, cubin, bytes);
    head.sum = hash_end(head.sum);
    tz_status status = tz_make_dirs(folder, &error);
    if (status == TZ_OK)
        status = tz_atomic_open(&file, path, true, &error);
    if (status == TZ_OK) {
        status = tz_atomic_write(file, &head, sizeof head, &error);
        if (status == TZ_OK)
            status = tz_atomic_write(file, cubin, bytes, &error);
        if (status == TZ_OK)
            status = tz_atomic_commit(file, &error);
        else
            tz_atomic_abort(file);
    }
    if (status != TZ_OK)
        warn(folder, &error);
}

/* Where the entry of a key is, malloc'd; NULL: nowhere. */
static char *entry_path(const char *folder, hash key, const char *end)
{
    char *path = NULL;
    if (folder && asprintf(&path, "%s/%016llx%016llx.%s", folder, (unsigned long long)key.a,
                           (unsigned long long)key.b, end) < 0)
        path = NULL;
    return path;
}

tz_status tz__cuda_cubin(const char *architecture, const char *source,
                         const tz_cuda_header *headers, size_t headers_count, bool refresh,
                         void **cubin, size_t *bytes, bool *cached, tz_error *error)
{
    *cubin = NULL;
    *bytes = 0;
    *cached = false;
    tz__nvrtc *nvrtc;
    tz_status status = tz__nvrtc_open(&nvrtc, error);
    if (status != TZ_OK)
        return status;
    const hash key = cache_key(nvrtc, architecture, source, headers, headers_count);
    bool wanted;
    char *folder = tz_cache_folder(&wanted);
    char *path = entry_path(folder, key, "cubin");
    if (path && !refresh)
        *cubin = entry_read(path, cubin_magic, key, bytes);
    if (*cubin) {
        *cached = true;
    } else {
        status = tz__nvrtc_compile(nvrtc, architecture, source, headers, headers_count, cubin,
                                   bytes, NULL, error);
        if (status == TZ_OK && path)
            entry_write(folder, path, cubin_magic, key, *cubin, *bytes);
        else if (status == TZ_OK && wanted)
            warn("a cache", &(tz_error){.message = "there is no folder for it: neither "
                                                   "XDG_CACHE_HOME nor HOME is set"});
    }
    free(path);
    free(folder);
    tz__nvrtc_close(nvrtc);
    return status;
}

/* Rounds are of the schedulers that they were run with. */
static bool is_of_machine(const tz_cuda_mix *mix, const tz_cuda_machine *machine)
{
    const tz_cuda_machine none = {0};
    return memcmp(&mix->machine, machine ? machine : &none, sizeof none) == 0;
}

tz_status tz_cuda_mix_get(tz_cuda_mix *out, bool *found, const tz_cuda_machine *machine,
                          const char *architecture, const char *source,
                          const tz_cuda_header *headers, size_t headers_count, bool compile,
                          tz_error *error)
{
    tz__nvrtc *nvrtc;
    void *data = NULL;
    size_t bytes = 0;
    const size_t none = offsetof(tz_cuda_mix, loops); /* loops that there are follow */
    bool wanted, cached;
    *found = false;
    tz_status status = tz__nvrtc_open(&nvrtc, error);
    if (status != TZ_OK)
        return status;
    const hash key = cache_key(nvrtc, architecture, source, headers, headers_count);
    char *folder = tz_cache_folder(&wanted);
    char *path = entry_path(folder, key, "mix");
    char *cubin_path = entry_path(folder, key, "cubin");
    if (path)
        data = entry_read(path, mix_magic, key, &bytes);
    if (data && bytes >= none && bytes <= sizeof *out && (bytes - none) % sizeof *out->loops == 0 &&
        is_of_machine(data, machine)) {
        memset(out, 0, sizeof *out);
        memcpy(out, data, bytes);
        *found = true;
    } else {
        free(data);
        data = cubin_path ? entry_read(cubin_path, cubin_magic, key, &bytes) : NULL;
        if (!data && compile)
            status = tz__cuda_cubin(architecture, source, headers, headers_count, true, &data,
                                    &bytes, &cached, error);
        if (data)
            status = tz_cuda_mix_count(out, data, bytes, TZ_CUDA_ENTRY, machine, error);
        *found = data && status == TZ_OK;
        if (*found && path)
            entry_write(folder, path, mix_magic, key, out,
                        none +
                            (size_t)(out->loops_count + out->shortest_count) * sizeof *out->loops);
    }
    free(data);
    free(path);
    free(cubin_path);
    free(folder);
    tz__nvrtc_close(nvrtc);
    return status;
}
