/* The symbols are those of nvrtc.h since CUDA 11.1. */
#include "backend/cuda/compile/nvrtc.h"

#include "backend/cuda/compile/library.h"
#include <dlfcn.h>
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

struct tz__nvrtc {
#define NVRTC_MEMBER(member, type, parameters) type(*member) parameters;
    NVRTC_TABLE(NVRTC_MEMBER)
#undef NVRTC_MEMBER
    void *library;
    int (*SetFlowCallback)(program_handle program, int (*)(void *, void *), void *); /* or NULL */
    int (*GetPTXSize)(program_handle program, size_t *bytes);                        /* or NULL */
    int (*GetPTX)(program_handle program, char *ptx);                                /* or NULL */
    const char *name;
    int major, minor;
};

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
_Static_assert(CODE_OPTIONS + 3 <= TZ__NVRTC_OPTIONS_MAX, "room for the others");

int tz__nvrtc_code_options(const char *architecture, char first[TZ__NVRTC_OPTION_BYTES],
                           const char **options)
{
    int count = 0;
    snprintf(first, TZ__NVRTC_OPTION_BYTES, "--gpu-architecture=%s", architecture);
    options[count++] = first;
    for (int k = 0; k < CODE_OPTIONS; k++)
        options[count++] = code_options[k];
    options[count] = program_name;
    return count + 1;
}

void tz__nvrtc_close(tz__nvrtc *nvrtc)
{
    if (!nvrtc)
        return;
    if (nvrtc->library)
        dlclose(nvrtc->library);
    free(nvrtc);
}

tz_status tz__nvrtc_open(tz__nvrtc **out, tz_error *error)
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
#define NVRTC_SYMBOL(member, type, parameters) {"nvrtc" #member, offsetof(tz__nvrtc, member)},
        NVRTC_TABLE(NVRTC_SYMBOL)
#undef NVRTC_SYMBOL
    };
    *out = NULL;
    tz__nvrtc *nvrtc = calloc(1, sizeof *nvrtc);
    if (!nvrtc)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to open NVRTC");
    /* NODELETE keeps the library loaded, so that opening it again is cheap. */
    for (size_t k = 0; k < sizeof names / sizeof *names && !nvrtc->library; k++) {
        nvrtc->library = dlopen(names[k], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        nvrtc->name = names[k];
    }
    tz_status status;
    if (!nvrtc->library) {
        status =
            tz_error_set(error, TZ_UNSUPPORTED, NULL,
                         "no NVRTC: neither libnvrtc.so.13 nor .12 nor libnvrtc.so can be opened, "
                         "nor in /usr/local/cuda/lib64; install the CUDA toolkit's NVRTC, set "
                         "LD_LIBRARY_PATH, or use --backend cpu");
        goto failed;
    }
    const char *missing =
        tz__symbols_find(nvrtc->library, nvrtc, symbols, sizeof symbols / sizeof *symbols);
    if (missing || nvrtc->Version(&nvrtc->major, &nvrtc->minor) != 0) {
        status =
            tz_error_set(error, TZ_UNSUPPORTED, nvrtc->name,
                         "this NVRTC is not usable (%s%s); install NVRTC 12 or newer, or use "
                         "--backend cpu",
                         missing ? "it has no " : "its version is unknown", missing ? missing : "");
        goto failed;
    }
    static const tz__symbol since_13[] = {
        {"nvrtcSetFlowCallback", offsetof(tz__nvrtc, SetFlowCallback)}};
    tz__symbols_find(nvrtc->library, nvrtc, since_13, 1);
    static const tz__symbol for_ptx[] = {{"nvrtcGetPTXSize", offsetof(tz__nvrtc, GetPTXSize)},
                                         {"nvrtcGetPTX", offsetof(tz__nvrtc, GetPTX)}};
    tz__symbols_find(nvrtc->library, nvrtc, for_ptx, 2);
    *out = nvrtc;
    return TZ_OK;
failed:
    tz__nvrtc_close(nvrtc);
    return status;
}

void tz__nvrtc_version(const tz__nvrtc *nvrtc, char *text, size_t size)
{
    snprintf(text, size, "%d.%d", nvrtc->major, nvrtc->minor);
}

tz_status tz__nvrtc_describe(char *text, size_t size, tz_error *error)
{
    tz__nvrtc *nvrtc;
    const tz_status status = tz__nvrtc_open(&nvrtc, error);
    if (status != TZ_OK)
        return status;
    snprintf(text, size, "%d.%d (%s)", nvrtc->major, nvrtc->minor, nvrtc->name);
    tz__nvrtc_close(nvrtc);
    return TZ_OK;
}

/* ---- Compiling ------------------------------------------------------------------------------- */

/* The first error and the line that it is about: "FILE(7): error: WHAT; LINE". Others follow from it. */
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
static char *program_log(const tz__nvrtc *nvrtc, program_handle program)
{
    size_t bytes = 0;
    if (nvrtc->GetProgramLogSize(program, &bytes) != 0)
        return NULL;
    char *log = calloc(1, bytes + 1);
    if (log && nvrtc->GetProgramLog(program, log) != 0) {
        free(log);
        return NULL;
    }
    return log;
}

static tz_status compile_failed(const tz__nvrtc *nvrtc, program_handle program, int result,
                                const char *architecture, tz_error *error)
{
    char text[1024] = "";
    char *log = program_log(nvrtc, program);
    if (log)
        log_shorten(log, text, sizeof text);
    free(log);
    return tz_error_set(error, TZ_BACKEND, NULL, "NVRTC %d.%d does not compile this for %s: %s",
                        nvrtc->major, nvrtc->minor, architecture,
                        text[0] ? text : nvrtc->GetErrorString(result));
}

/* NVRTC calls it during a compilation, with the address of a tz_stopped_fn *, from any thread. */
static int on_flow(void *stopped, void *reserved)
{
    (void)reserved;
    return (*(tz_stopped_fn **)stopped)() != 0;
}

/* What a compiled program gives. */
typedef struct product {
    const char *name; /* "cubin" */
    int (*size)(program_handle program, size_t *bytes);
    int (*get)(program_handle program, char *to);
    const char *hint; /* if there is none */
} product;

static tz_status compile_to(const tz__nvrtc *nvrtc, const product *wanted, tz_stopped_fn *stopped,
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
    char first[TZ__NVRTC_OPTION_BYTES];
    const char *options[TZ__NVRTC_OPTIONS_MAX];
    int options_count = tz__nvrtc_code_options(architecture, first, options) - 1;
    /* Since NVRTC 12.4: fewer built-in names. Saves 9 of 100 to 350 ms; the cubin is the same. */
    if (nvrtc->major >= 13)
        options[options_count++] = "--minimal";

    int result =
        nvrtc->CreateProgram(&program, source, program_name, (int)count, texts, texts + count);
    if (result != 0) {
        tz_error_set(error, TZ_BACKEND, NULL, "NVRTC cannot start: %s",
                     nvrtc->GetErrorString(result));
        goto done;
    }
    if (stopped && nvrtc->SetFlowCallback)
        nvrtc->SetFlowCallback(program, on_flow, &stopped);
    result = stopped && stopped() ? -1 : nvrtc->CompileProgram(program, options_count, options);
    if (result != 0 && stopped && stopped()) {
        status = tz_error_set(error, TZ_INTERRUPTED, NULL, "interrupted while a kernel compiled");
        goto done;
    }
    if (result != 0) {
        compile_failed(nvrtc, program, result, architecture, error);
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
                     architecture, result ? nvrtc->GetErrorString(result) : wanted->hint);
        goto done;
    }
    *out = binary;
    *bytes = size;
    binary = NULL;
    status = TZ_OK;
done:
    free(binary);
    if (program)
        nvrtc->DestroyProgram(&program);
    free(texts);
    return status;
}

tz_status tz__nvrtc_compile(const tz__nvrtc *nvrtc, tz_stopped_fn *stopped,
                            const char *architecture, const char *source,
                            const tz_cuda_header *headers, size_t count, void **cubin,
                            size_t *bytes, tz_error *error)
{
    const product wanted = {"cubin", nvrtc->GetCUBINSize, nvrtc->GetCUBIN,
                            "name a real architecture, as sm_90"};
    return compile_to(nvrtc, &wanted, stopped, architecture, source, headers, count, cubin, bytes,
                      error);
}

tz_status tz__nvrtc_compile_ptx(const tz__nvrtc *nvrtc, const char *architecture,
                                const char *source, const tz_cuda_header *headers, size_t count,
                                char **ptx, tz_error *error)
{
    const product wanted = {"PTX", nvrtc->GetPTXSize, nvrtc->GetPTX,
                            "name a virtual architecture, as compute_75"};
    void *text;
    size_t bytes;
    if (!nvrtc->GetPTXSize || !nvrtc->GetPTX)
        return tz_error_set(error, TZ_UNSUPPORTED, nvrtc->name, "this NVRTC gives no PTX");
    const tz_status status = compile_to(nvrtc, &wanted, NULL, architecture, source, headers, count,
                                        &text, &bytes, error);
    if (!status)
        *ptx = text; /* its bytes include the end of the string */
    return status;
}
