/* NVRTC, opened at run time, and the cache of cubins on disk. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_CLOEXEC, asprintf */
#endif

#include "base/atomic.h"
#include "cuda/driver_impl.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef TZ_VERSION
#define TZ_VERSION "unknown"
#endif

typedef struct nvrtc_program *program_handle;

/* X(member, result type, parameters): the symbol is nvrtc##member. From nvrtc.h, CUDA 11.1 on. */
#define NVRTC_TABLE(X)                                                                             \
    X(Version, int, (int *major, int *minor))                                                      \
    X(GetErrorString, const char *, (int result))                                                  \
    X(CreateProgram, int,                                                                          \
      (program_handle * program, const char *source, const char *name, int headers_count,          \
       const char *const *headers, const char *const *names))                                      \
    X(DestroyProgram, int, (program_handle * program))                                             \
    X(CompileProgram, int, (program_handle program, int count, const char *const *options))        \
    X(GetCUBINSize, int, (program_handle program, size_t * bytes))                                 \
    X(GetCUBIN, int, (program_handle program, char *cubin))                                        \
    X(GetProgramLogSize, int, (program_handle program, size_t * bytes))                            \
    X(GetProgramLog, int, (program_handle program, char *log))

typedef struct nvrtc {
#define NVRTC_MEMBER(member, type, parameters) type(*member) parameters;
    NVRTC_TABLE(NVRTC_MEMBER)
#undef NVRTC_MEMBER
    void *library;
    const char *name;
    int major, minor;
} nvrtc;

static const char program_name[] = "kernel.cu";

/* Every result is to be the one that the C of the CPU gives: no contraction, IEEE division and
 * root, denormals kept. --device-as-default-execution-space is -default-device's long name. */
static const char *const fixed_options[] = {
    "--std=c++17",     "--device-as-default-execution-space",
    "--fmad=false",    "--ftz=false",
    "--prec-div=true", "--prec-sqrt=true",
};
enum { FIXED_OPTIONS = sizeof fixed_options / sizeof *fixed_options };

const char *tz__symbols_find(void *library, void *table, const tz__symbol *symbols, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        void *address = dlsym(library, symbols[k].name);
        if (!address)
            return symbols[k].name;
        memcpy((char *)table + symbols[k].offset, &address, sizeof address);
    }
    return NULL;
}

static void nvrtc_close(nvrtc *compiler)
{
    if (compiler->library)
        dlclose(compiler->library);
    compiler->library = NULL;
}

static tz_status nvrtc_open(nvrtc *compiler, tz_error *error)
{
    static const char *const names[] = {
        "libnvrtc.so.13",
        "libnvrtc.so.12",
        "libnvrtc.so",
        "/usr/local/cuda/lib64/libnvrtc.so.13",
        "/usr/local/cuda/lib64/libnvrtc.so.12",
        "/usr/local/cuda/lib64/libnvrtc.so",
    };
    static const tz__symbol symbols[] = {
#define NVRTC_SYMBOL(member, type, parameters) {"nvrtc" #member, offsetof(nvrtc, member)},
        NVRTC_TABLE(NVRTC_SYMBOL)
#undef NVRTC_SYMBOL
    };
    memset(compiler, 0, sizeof *compiler);
    /* NODELETE: it is 100 MB and keeps state of its own, so later opens are cheap and safe. */
    for (size_t k = 0; k < sizeof names / sizeof *names && !compiler->library; k++) {
        compiler->library = dlopen(names[k], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        compiler->name = names[k];
    }
    if (!compiler->library)
        return tz_error_set(
            error, TZ_UNSUPPORTED, NULL,
            "no NVRTC: neither libnvrtc.so.13 nor .12 nor libnvrtc.so can be opened, "
            "nor in /usr/local/cuda/lib64; install the CUDA toolkit's NVRTC, set "
            "LD_LIBRARY_PATH, or use --backend cpu");
    const char *missing =
        tz__symbols_find(compiler->library, compiler, symbols, sizeof symbols / sizeof *symbols);
    if (!missing && compiler->Version(&compiler->major, &compiler->minor) == 0)
        return TZ_OK;
    nvrtc_close(compiler);
    return tz_error_set(error, TZ_UNSUPPORTED, compiler->name,
                        "this NVRTC is not usable (%s%s); install NVRTC 12 or newer, or use "
                        "--backend cpu",
                        missing ? "it has no " : "it does not tell its version",
                        missing ? missing : "");
}

tz_status tz__nvrtc_describe(char *text, size_t size, tz_error *error)
{
    nvrtc compiler;
    const tz_status status = nvrtc_open(&compiler, error);
    if (status != TZ_OK)
        return status;
    snprintf(text, size, "%d.%d (%s)", compiler.major, compiler.minor, compiler.name);
    nvrtc_close(&compiler);
    return TZ_OK;
}

/* ---- Compiling ------------------------------------------------------------------------------- */

/* The log's first lines from the first error on, joined to one; lines that only point are left
 * out. */
static void log_shorten(const char *log, char *text, size_t size)
{
    const char *first = strstr(log, "error");
    while (first && first > log && first[-1] != '\n')
        first--;
    size_t used = 0;
    text[0] = '\0';
    for (const char *line = first ? first : log; *line;) {
        const char *next = line + strcspn(line, "\n");
        line += strspn(line, " \t\r");
        size_t length = next > line ? (size_t)(next - line) : 0;
        while (length > 0 && strchr(" \t\r", line[length - 1]))
            length--;
        if (strspn(line, "^~ \t") < length) {
            if (used + length + 3 > size)
                break;
            used += (size_t)snprintf(text + used, size - used, "%s%.*s", used ? "; " : "",
                                     (int)length, line);
        }
        line = *next ? next + 1 : next;
    }
    while (used > 0 && text[used - 1] == '.')
        text[--used] = '\0';
}

static tz_status compile_failed(const nvrtc *compiler, program_handle program, int result,
                                const char *architecture, tz_error *error)
{
    char text[1024] = "";
    size_t bytes = 0;
    if (compiler->GetProgramLogSize(program, &bytes) == 0 && bytes > 1) {
        char *log = malloc(bytes + 1);
        if (log && compiler->GetProgramLog(program, log) == 0) {
            log[bytes] = '\0';
            log_shorten(log, text, sizeof text);
        }
        free(log);
    }
    return tz_error_set(error, TZ_BACKEND, NULL, "NVRTC %d.%d does not compile this for %s: %s",
                        compiler->major, compiler->minor, architecture,
                        text[0] ? text : compiler->GetErrorString(result));
}

static void option_architecture(char text[64], const char *architecture)
{
    snprintf(text, 64, "--gpu-architecture=%s", architecture);
}

static tz_status program_compile(const nvrtc *compiler, const char *architecture,
                                 const char *source, const tz_cuda_header *headers, size_t count,
                                 void **cubin, size_t *bytes, tz_error *error)
{
    tz_status status = TZ_BACKEND;
    program_handle program = NULL;
    char *binary = NULL;
    const char **texts = calloc(2 * count + 1, sizeof *texts);
    if (!texts)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to compile a kernel");
    for (size_t k = 0; k < count; k++) {
        texts[k] = headers[k].text;
        texts[count + k] = headers[k].name;
    }
    char architecture_option[64];
    option_architecture(architecture_option, architecture);
    const char *options[FIXED_OPTIONS + 1] = {architecture_option};
    memcpy(options + 1, fixed_options, sizeof fixed_options);

    int result =
        compiler->CreateProgram(&program, source, program_name, (int)count, texts, texts + count);
    if (result != 0) {
        tz_error_set(error, TZ_BACKEND, NULL, "NVRTC cannot start: %s",
                     compiler->GetErrorString(result));
        goto done;
    }
    result = compiler->CompileProgram(program, FIXED_OPTIONS + 1, options);
    if (result != 0) {
        compile_failed(compiler, program, result, architecture, error);
        goto done;
    }
    size_t size = 0;
    result = compiler->GetCUBINSize(program, &size);
    if (result == 0 && size > 0) {
        binary = malloc(size);
        if (!binary) {
            status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a kernel");
            goto done;
        }
        result = compiler->GetCUBIN(program, binary);
    }
    if (result != 0 || size == 0) {
        tz_error_set(error, TZ_BACKEND, NULL, "NVRTC gives no cubin for %s: %s", architecture,
                     result ? compiler->GetErrorString(result)
                            : "name a real architecture, as sm_90");
        goto done;
    }
    *cubin = binary;
    *bytes = size;
    binary = NULL;
    status = TZ_OK;
done:
    free(binary);
    if (program)
        compiler->DestroyProgram(&program);
    free(texts);
    return status;
}

tz_status tz_cuda_compile(const char *architecture, const char *source,
                          const tz_cuda_header *headers, size_t headers_count, void **cubin,
                          size_t *bytes, tz_error *error)
{
    *cubin = NULL;
    *bytes = 0;
    nvrtc compiler;
    tz_status status = nvrtc_open(&compiler, error);
    if (status != TZ_OK)
        return status;
    status = program_compile(&compiler, architecture, source, headers, headers_count, cubin, bytes,
                             error);
    nvrtc_close(&compiler);
    return status;
}

/* ---- The cache ------------------------------------------------------------------------------- */

typedef struct hash {
    uint64_t a, b;
} hash;

/* An entry: this, then the cubin. Byte order is the machine's: caches do not travel. */
typedef struct entry_head {
    char magic[8];
    hash key;
    uint64_t bytes;
    hash sum;
} entry_head;

static const char entry_magic[8] = {'T', 'Z', 'C', 'U', 'B', 'I', 'N', '1'};

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

static hash cache_key(const nvrtc *compiler, const char *architecture, const char *source,
                      const tz_cuda_header *headers, size_t count)
{
    char text[64];
    hash h = hash_start();
    hash_text(&h, TZ_VERSION);
    snprintf(text, sizeof text, "%d.%d", compiler->major, compiler->minor);
    hash_text(&h, text);
    option_architecture(text, architecture);
    hash_text(&h, text);
    for (size_t k = 0; k < FIXED_OPTIONS; k++)
        hash_text(&h, fixed_options[k]);
    hash_text(&h, program_name);
    hash_text(&h, source);
    for (size_t k = 0; k < count; k++) {
        hash_text(&h, headers[k].name);
        hash_text(&h, headers[k].text);
    }
    return hash_end(h);
}

/* The cache's folder, malloc'd; NULL when there is to be none. */
static char *cache_folder(void)
{
    char *folder = NULL;
    const char *own = getenv("TRAPEZE_CACHE");
    if (own)
        return *own ? strdup(own) : NULL;
    const char *shared = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int length = -1;
    if (shared && *shared == '/') /* the specification: relative ones are ignored */
        length = asprintf(&folder, "%s/trapeze", shared);
    else if (home && *home)
        length = asprintf(&folder, "%s/.cache/trapeze", home);
    return length < 0 ? NULL : folder;
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
static void *entry_read(const char *path, hash key, size_t *bytes)
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
    if (memcmp(head.magic, entry_magic, sizeof entry_magic) != 0 || head.key.a != key.a ||
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

/* No error is told: a cache that cannot be written costs time only. */
static void entry_write(const char *folder, const char *path, hash key, const void *cubin,
                        size_t bytes)
{
    tz_atomic_file *file = NULL;
    entry_head head = {.key = key, .bytes = bytes, .sum = hash_start()};
    memcpy(head.magic, entry_magic, sizeof entry_magic);
    hash_bytes(&head.sum, cubin, bytes);
    head.sum = hash_end(head.sum);
    if (tz_make_dirs(folder, NULL) != TZ_OK || tz_atomic_open(&file, path, true, NULL) != TZ_OK)
        return;
    if (tz_atomic_write(file, &head, sizeof head, NULL) == TZ_OK &&
        tz_atomic_write(file, cubin, bytes, NULL) == TZ_OK)
        tz_atomic_commit(file, NULL);
    else
        tz_atomic_abort(file);
}

tz_status tz__cuda_cubin(const char *architecture, const char *source,
                         const tz_cuda_header *headers, size_t headers_count, bool refresh,
                         void **cubin, size_t *bytes, bool *cached, tz_error *error)
{
    *cubin = NULL;
    *bytes = 0;
    *cached = false;
    nvrtc compiler;
    tz_status status = nvrtc_open(&compiler, error);
    if (status != TZ_OK)
        return status;
    const hash key = cache_key(&compiler, architecture, source, headers, headers_count);
    char *folder = cache_folder();
    char *path = NULL;
    if (folder && asprintf(&path, "%s/%016llx%016llx.cubin", folder, (unsigned long long)key.a,
                           (unsigned long long)key.b) < 0)
        path = NULL;
    if (path && !refresh)
        *cubin = entry_read(path, key, bytes);
    if (*cubin) {
        *cached = true;
    } else {
        status = program_compile(&compiler, architecture, source, headers, headers_count, cubin,
                                 bytes, error);
        if (status == TZ_OK && path)
            entry_write(folder, path, key, *cubin, *bytes);
    }
    free(path);
    free(folder);
    nvrtc_close(&compiler);
    return status;
}
