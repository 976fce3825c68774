/* CUDA C++ to cubins and PTX, by NVRTC, and the cache of cubins. Symbols are those of nvrtc.h since
 * CUDA 11.1. Launches, the planner and the plans of papers compile here. */
#include "backend/cuda/compile/compile.h"

#include "backend/cuda/compile/library.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct nvrtc_program *program_handle;

/* X(member, result type, parameters): the symbol is nvrtc##member. */
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

/* Symbols that an older NVRTC lacks. */
#define NVRTC_OPTIONAL_TABLE(X)                                                                    \
    X(SetFlowCallback, int, (program_handle program, int (*)(void *, void *), void *))             \
    X(GetPTXSize, int, (program_handle program, size_t * bytes))                                   \
    X(GetPTX, int, (program_handle program, char *ptx))

typedef struct nvrtc {
#define NVRTC_MEMBER(member, type, parameters) type(*member) parameters;
    NVRTC_TABLE(NVRTC_MEMBER)
    NVRTC_OPTIONAL_TABLE(NVRTC_MEMBER)
#undef NVRTC_MEMBER
    tz__library library;
    int major, minor;
} nvrtc;

enum { OPTIONS_MAX = 16, OPTION_BYTES = 64 };

static const char program_name[] = "kernel.cu";

/* All results must equal those of C on the CPU: no contraction, IEEE division and square root, no
 * flushing of denormals. --device-as-default-execution-space is the long name of -default-device.
 */
static const char *const code_options[] = {
    "--std=c++17",     "--device-as-default-execution-space",
    "--fmad=false",    "--ftz=false",
    "--prec-div=true", "--prec-sqrt=true",
};
enum { CODE_OPTIONS = sizeof code_options / sizeof *code_options };
_Static_assert(CODE_OPTIONS + 3 <= OPTIONS_MAX, "room for the others");

/* The options that change the code, beginning with "--gpu-architecture=sm_90" in `first`, then the
 * name of the source: borrowed texts in `options`, which has room for OPTIONS_MAX. Returns their
 * number. */
static int code_options_of(const char *architecture, char first[OPTION_BYTES], const char **options)
{
    int count = 0;
    snprintf(first, OPTION_BYTES, "--gpu-architecture=%s", architecture);
    options[count++] = first;
    for (int k = 0; k < CODE_OPTIONS; k++)
        options[count++] = code_options[k];
    options[count] = program_name;
    return count + 1;
}

/* TZ_UNSUPPORTED names what is missing. Opening takes about 6 ms if the library (110 MB) is in the
 * page cache, 0.13 s from a local disk, and almost nothing the second time in a process. */
static tz_status nvrtc_open(nvrtc *out, tz_error *error)
{
    static const char *const names[] = {
        "libnvrtc.so.13",
        "libnvrtc.so.12",
        "libnvrtc.so",
        "/usr/local/cuda/lib64/libnvrtc.so.13",
        "/usr/local/cuda/lib64/libnvrtc.so.12",
        "/usr/local/cuda/lib64/libnvrtc.so",
        NULL,
    };
    static const tz__symbol symbols[] = {
#define NVRTC_SYMBOL(member, type, parameters) {"nvrtc" #member, offsetof(nvrtc, member), false},
#define NVRTC_OPTIONAL(member, type, parameters) {"nvrtc" #member, offsetof(nvrtc, member), true},
        NVRTC_TABLE(NVRTC_SYMBOL) NVRTC_OPTIONAL_TABLE(NVRTC_OPTIONAL)
#undef NVRTC_SYMBOL
#undef NVRTC_OPTIONAL
    };
    memset(out, 0, sizeof *out);
    out->library = tz__library_open(names, out, symbols, sizeof symbols / sizeof *symbols);
    const char *name = out->library.name, *missing = out->library.missing;
    if (!out->library.handle)
        return tz_error_set(
            error, TZ_UNSUPPORTED, NULL,
            "no NVRTC: neither libnvrtc.so.13 nor .12 nor libnvrtc.so can be opened, nor in "
            "/usr/local/cuda/lib64; install the CUDA toolkit's NVRTC, set LD_LIBRARY_PATH, or use "
            "--backend cpu");
    if (!missing && out->Version(&out->major, &out->minor) == 0)
        return TZ_OK;
    tz__library_close(&out->library);
    return tz_error_set(error, TZ_UNSUPPORTED, name,
                        "this NVRTC is not usable (%s%s); install NVRTC 12 or newer, or use "
                        "--backend cpu",
                        missing ? "it has no " : "its version is unknown", missing ? missing : "");
}

tz_status tz_cuda_compile_describe(char *text, size_t size, tz_error *error)
{
    nvrtc api;
    const tz_status status = nvrtc_open(&api, error);
    if (status != TZ_OK)
        return status;
    snprintf(text, size, "%d.%d (%s)", api.major, api.minor, api.library.name);
    tz__library_close(&api.library);
    return TZ_OK;
}

/* ---- Compiling ------------------------------------------------------------------------------- */

/* The first error and the line that it is about: "FILE(7): error: WHAT; LINE". Others follow from
 * it. */
static void log_shorten(const char *log, char *text, size_t size)
{
    const char *line = strstr(log, "error");
    while (line && line > log && line[-1] != '\n')
        line--;
    line = line ? line : log;
    const int length = (int)strcspn(line, "\n");
    const char *about = line[length] ? line + length + 1 : "";
    about += strspn(about, " \t\r");
    const int about_length = (int)strcspn(about, "\n");
    const bool caret = strspn(about, "^~ \t\r") >= (size_t)about_length;
    snprintf(text, size, "%.*s%s%.*s", length, line, caret ? "" : "; ", caret ? 0 : about_length,
             about);
    for (size_t used = strlen(text); used > 0 && strchr(" \t\r.", text[used - 1]);)
        text[--used] = '\0';
}

/* The log, malloc'd; NULL if NVRTC gives none. */
static char *program_log(const nvrtc *api, program_handle program)
{
    size_t bytes = 0;
    if (api->GetProgramLogSize(program, &bytes) != 0)
        return NULL;
    char *log = calloc(1, bytes + 1);
    if (log && api->GetProgramLog(program, log) != 0) {
        free(log);
        return NULL;
    }
    return log;
}

static tz_status compile_failed(const nvrtc *api, program_handle program, int result,
                                const char *architecture, tz_error *error)
{
    char text[1024] = "";
    char *log = program_log(api, program);
    if (log)
        log_shorten(log, text, sizeof text);
    free(log);
    return tz_error_set(error, TZ_BACKEND, NULL, "NVRTC %d.%d does not compile this for %s: %s",
                        api->major, api->minor, architecture,
                        text[0] ? text : api->GetErrorString(result));
}

/* NVRTC calls it during a compilation, from any thread. */
static int on_flow(void *cancel, void *reserved)
{
    (void)reserved;
    return tz_cancelled(cancel);
}

/* What a compiled program gives. */
typedef struct product {
    const char *name; /* "cubin" */
    int (*size)(program_handle program, size_t *bytes);
    int (*get)(program_handle program, char *to);
    const char *hint; /* if there is none */
} product;

static tz_status compile_to(const nvrtc *api, const product *wanted, const tz_cancel *cancel,
                            const char *architecture, const char *source,
                            const tz_cuda_header *headers, size_t count, void **out, size_t *bytes,
                            tz_error *error)
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
    char first[OPTION_BYTES];
    const char *options[OPTIONS_MAX];
    int options_count = code_options_of(architecture, first, options) - 1;
    /* Since NVRTC 12.4: fewer built-in names. Saves 9 of 100 to 350 ms; the cubin is the same. */
    if (api->major >= 13)
        options[options_count++] = "--minimal";

    int result =
        api->CreateProgram(&program, source, program_name, (int)count, texts, texts + count);
    if (result != 0) {
        tz_error_set(error, TZ_BACKEND, NULL, "NVRTC cannot start: %s",
                     api->GetErrorString(result));
        goto done;
    }
    if (cancel && api->SetFlowCallback)
        api->SetFlowCallback(program, on_flow, (void *)(uintptr_t)cancel);
    result =
        cancel && tz_cancelled(cancel) ? -1 : api->CompileProgram(program, options_count, options);
    if (result != 0 && cancel && tz_cancelled(cancel)) {
        status = tz_error_set(error, TZ_INTERRUPTED, NULL, "interrupted while a kernel compiled");
        goto done;
    }
    if (result != 0) {
        compile_failed(api, program, result, architecture, error);
        goto done;
    }
    size_t size = 0;
    result = wanted->size(program, &size);
    if (result == 0 && size > 0) {
        binary = malloc(size);
        if (!binary) {
            status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a kernel");
            goto done;
        }
        result = wanted->get(program, binary);
    }
    if (result != 0 || size == 0) {
        tz_error_set(error, TZ_BACKEND, NULL, "NVRTC gives no %s for %s: %s", wanted->name,
                     architecture, result ? api->GetErrorString(result) : wanted->hint);
        goto done;
    }
    *out = binary;
    *bytes = size;
    binary = NULL;
    status = TZ_OK;
done:
    free(binary);
    if (program)
        api->DestroyProgram(&program);
    free(texts);
    return status;
}

/* ---- The cache ------------------------------------------------------------------------------- */

static const tz_cache_kind cubins = {.magic = {'T', 'Z', 'C', 'U', 'B', 'I', 'N', '1'},
                                     .ending = "cubin"};

static tz_cache_key key_of(const nvrtc *api, const char *architecture, const char *source,
                           const tz_cuda_header *headers, size_t count)
{
    char text[OPTION_BYTES];
    const char *options[OPTIONS_MAX];
    tz_cache_key key = tz_cache_key_start();
    tz_cache_key_add(&key, TZ_VERSION);
    snprintf(text, sizeof text, "%d.%d", api->major, api->minor);
    tz_cache_key_add(&key, text);
    const int options_count = code_options_of(architecture, text, options);
    for (int k = 0; k < options_count; k++)
        tz_cache_key_add(&key, options[k]);
    tz_cache_key_add(&key, source);
    for (size_t k = 0; k < count; k++) {
        tz_cache_key_add(&key, headers[k].name);
        tz_cache_key_add(&key, headers[k].text);
    }
    return tz_cache_key_end(key);
}

tz_status tz_cuda_compile_key(tz_cache_key *key, const char *architecture, const char *source,
                              const tz_cuda_header *headers, size_t headers_count, tz_error *error)
{
    nvrtc api;
    const tz_status status = nvrtc_open(&api, error);
    if (status)
        return status;
    *key = key_of(&api, architecture, source, headers, headers_count);
    tz__library_close(&api.library);
    return TZ_OK;
}

void *tz_cuda_compile_cached(tz_cache_key key, size_t *bytes)
{
    return tz_cache_read(key, &cubins, bytes);
}

tz_status tz_cuda_compile(const char *architecture, const char *source,
                          const tz_cuda_header *headers, size_t headers_count, bool *cached,
                          void **cubin, size_t *bytes, tz_error *error)
{
    return tz_cuda_compile_until(NULL, architecture, source, headers, headers_count, cached, cubin,
                                 bytes, error);
}

tz_status tz_cuda_compile_until(const tz_cancel *cancel, const char *architecture,
                                const char *source, const tz_cuda_header *headers,
                                size_t headers_count, bool *cached, void **cubin, size_t *bytes,
                                tz_error *error)
{
    nvrtc api;
    *cubin = NULL;
    *bytes = 0;
    tz_status status = nvrtc_open(&api, error);
    if (status)
        return status;
    const tz_cache_key key = key_of(&api, architecture, source, headers, headers_count);
    if (cached) {
        *cubin = tz_cuda_compile_cached(key, bytes);
        *cached = *cubin;
    }
    if (!*cubin) {
        const product wanted = {"cubin", api.GetCUBINSize, api.GetCUBIN,
                                "name a real architecture, as sm_90"};
        status = compile_to(&api, &wanted, cancel, architecture, source, headers, headers_count,
                            cubin, bytes, error);
        if (!status)
            tz_cache_write(key, &cubins, *cubin, *bytes);
    }
    tz__library_close(&api.library);
    return status;
}

tz_status tz_cuda_compile_ptx(const char *architecture, const char *source,
                              const tz_cuda_header *headers, size_t headers_count, char **ptx,
                              tz_error *error)
{
    nvrtc api;
    *ptx = NULL;
    tz_status status = nvrtc_open(&api, error);
    if (status)
        return status;
    const product wanted = {"PTX", api.GetPTXSize, api.GetPTX,
                            "name a virtual architecture, as compute_75"};
    void *text = NULL; /* its bytes include the end of the string */
    size_t bytes;
    if (!wanted.size || !wanted.get)
        status = tz_error_set(error, TZ_UNSUPPORTED, api.library.name, "this NVRTC gives no PTX");
    else
        status = compile_to(&api, &wanted, NULL, architecture, source, headers, headers_count,
                            &text, &bytes, error);
    *ptx = text;
    tz__library_close(&api.library);
    return status;
}
