/* The program trapeze-compile: NVRTC in a process of its own. compilers.c starts it, sends it one
 * source after the other (compilers.h), and kills it. It ends with its input, whatever it is
 * doing. */
#include "backend/cuda/compile/compilers.h"
#include "base/error.h"
#include "base/library.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct nvrtc_program *program_handle;

/* X(member, result type, parameters): the symbol is nvrtc##member. Since CUDA 11.1. */
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
    X(GetPTXSize, int, (program_handle program, size_t * bytes))                                   \
    X(GetPTX, int, (program_handle program, char *ptx))

typedef struct nvrtc {
#define NVRTC_MEMBER(member, type, parameters) type(*member) parameters;
    NVRTC_TABLE(NVRTC_MEMBER)
    NVRTC_OPTIONAL_TABLE(NVRTC_MEMBER)
#undef NVRTC_MEMBER
    tz_library library;
    int major, minor;
} nvrtc;

enum { SOCKET = 0, TEXTS_MAX = 256, IDLE_MS = 60000, OUTPUT_BYTES_MAX = 64 << 20 };

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
    static const tz_library_symbol symbols[] = {
#define NVRTC_SYMBOL(member, type, parameters) {"nvrtc" #member, offsetof(nvrtc, member), false},
#define NVRTC_OPTIONAL(member, type, parameters) {"nvrtc" #member, offsetof(nvrtc, member), true},
        NVRTC_TABLE(NVRTC_SYMBOL) NVRTC_OPTIONAL_TABLE(NVRTC_OPTIONAL)
#undef NVRTC_SYMBOL
#undef NVRTC_OPTIONAL
    };
    memset(out, 0, sizeof *out);
    out->library = tz_library_open(names, out, symbols, sizeof symbols / sizeof *symbols);
    const char *name = out->library.name, *missing = out->library.missing;
    if (!out->library.handle)
        return tz_error_set(
            error, TZ_UNSUPPORTED, NULL,
            "no NVRTC: neither libnvrtc.so.13 nor .12 nor libnvrtc.so can be opened, nor in "
            "/usr/local/cuda/lib64; install the CUDA toolkit's NVRTC, set LD_LIBRARY_PATH, or use "
            "--backend cpu");
    if (!missing && out->Version(&out->major, &out->minor) == 0)
        return TZ_OK;
    return tz_error_set(error, TZ_UNSUPPORTED, name,
                        "this NVRTC is not usable (%s%s); install NVRTC 12 or newer, or use "
                        "--backend cpu",
                        missing ? "it has no " : "its version is unknown", missing ? missing : "");
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

static tz_status compile_failed(const nvrtc *api, program_handle program, int result,
                                const char *architecture, tz_error *error)
{
    char text[1024] = "";
    size_t bytes = 0;
    char *log = api->GetProgramLogSize(program, &bytes) == 0 ? calloc(1, bytes + 1) : NULL;
    if (log && api->GetProgramLog(program, log) == 0)
        log_shorten(log, text, sizeof text);
    free(log);
    return tz_error_set(error, TZ_BACKEND, NULL, "NVRTC %d.%d does not compile this for %s: %s",
                        api->major, api->minor, architecture,
                        text[0] ? text : api->GetErrorString(result));
}

/* What a compiled program gives. */
typedef struct product {
    const char *name; /* "cubin" */
    int (*size)(program_handle program, size_t *bytes);
    int (*get)(program_handle program, char *to);
    const char *hint; /* if there is none */
} product;

/* The parts of a request. */
typedef struct order {
    product wanted;
    const char *architecture, *source;
    const char *options[TEXTS_MAX], *names[TEXTS_MAX], *headers[TEXTS_MAX];
    int options_count, headers_count;
} order;

/* *out is malloc'd. */
static tz_status compile(const nvrtc *api, const order *o, char **out, size_t *bytes,
                         tz_error *error)
{
    program_handle program = NULL;
    int result = api->CreateProgram(&program, o->source, "kernel.cu", o->headers_count, o->headers,
                                    o->names);
    if (result != 0)
        return tz_error_set(error, TZ_BACKEND, NULL, "NVRTC cannot start: %s",
                            api->GetErrorString(result));
    tz_status status = TZ_OK;
    *bytes = 0;
    result = api->CompileProgram(program, o->options_count, o->options);
    if (result != 0) {
        status = compile_failed(api, program, result, o->architecture, error);
        goto done;
    }
    result = o->wanted.size(program, bytes);
    *out = result == 0 && *bytes > 0 ? malloc(*bytes) : NULL;
    if (result == 0 && *bytes > 0 && !*out) {
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a kernel");
        goto done;
    }
    if (*out)
        result = o->wanted.get(program, *out);
    if (result != 0 || *bytes == 0)
        status =
            tz_error_set(error, TZ_BACKEND, NULL, "NVRTC gives no %s for %s: %s", o->wanted.name,
                         o->architecture, result ? api->GetErrorString(result) : o->wanted.hint);
done:
    api->DestroyProgram(&program);
    return status;
}

/* ---- Requests and replies -------------------------------------------------------------------- */

/* Ends the program where its input ends. */
static void receive(void *data, size_t bytes)
{
    for (char *at = data; bytes > 0;) {
        const ssize_t got = read(SOCKET, at, bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            _exit(EXIT_SUCCESS);
        at += got;
        bytes -= (size_t)got;
    }
}

static void send_all(const void *data, size_t bytes)
{
    for (const char *at = data; bytes > 0;) {
        const ssize_t sent = write(SOCKET, at, bytes);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            _exit(EXIT_FAILURE);
        at += sent;
        bytes -= (size_t)sent;
    }
}

static void reply(tz_status status, const void *data, size_t bytes)
{
    tz__wire_head head = {.word = (int32_t)status, .bytes = bytes};
    memcpy(head.magic, TZ__WIRE_MAGIC, sizeof head.magic);
    send_all(&head, sizeof head);
    send_all(data, bytes);
}

static void reply_texts(tz_status status, const char *first, const char *second)
{
    char text[sizeof(tz_error)];
    const size_t length = (size_t)snprintf(text, sizeof text, "%s%c%s", first, 0, second);
    reply(status, text, length + 1);
}

/* False: `data` is no request. */
static bool read_order(const nvrtc *api, int32_t what, const char *data, size_t bytes, order *o)
{
    const char *const end = data + bytes;
    const char *texts[2 * TEXTS_MAX];
    int count = 0, at = 0;
    memset(o, 0, sizeof *o);
    if (bytes == 0 || end[-1] != '\0')
        return false;
    for (; data < end && count < 2 * TEXTS_MAX; data += strlen(data) + 1)
        texts[count++] = data;
    for (; at < count && *texts[at] && at < TEXTS_MAX; at++)
        o->options[o->options_count++] = texts[at];
    const char *const equals = at > 0 ? strchr(texts[0], '=') : NULL;
    if (!equals || at + 1 >= count || (count - at) % 2 != 0 || data < end)
        return false;
    o->architecture = equals + 1;
    o->source = texts[at + 1];
    for (at += 2; at + 1 < count; at += 2) {
        o->names[o->headers_count] = texts[at];
        o->headers[o->headers_count++] = texts[at + 1];
    }
    o->wanted = what == TZ__WIRE_PTX ? (product){"PTX", api->GetPTXSize, api->GetPTX,
                                                 "name a virtual architecture, as compute_75"}
                                     : (product){"cubin", api->GetCUBINSize, api->GetCUBIN,
                                                 "name a real architecture, as sm_90"};
    return true;
}

static void serve(const nvrtc *api)
{
    struct pollfd input = {.fd = SOCKET, .events = POLLIN};
    tz__wire_head head;
    tz_error error = {0};
    if (poll(&input, 1, IDLE_MS) == 0) /* a later request starts another one */
        _exit(EXIT_SUCCESS);
    receive(&head, sizeof head);
    if (memcmp(head.magic, TZ__WIRE_MAGIC, sizeof head.magic) != 0 ||
        head.bytes > TZ__WIRE_BYTES_MAX)
        _exit(EXIT_FAILURE);
    char *data = malloc(head.bytes), *binary = NULL;
    order *o = malloc(sizeof *o);
    size_t bytes = 0;
    if (!data || !o)
        _exit(EXIT_FAILURE);
    receive(data, head.bytes);
    tz_status status = TZ_OK;
    if (!read_order(api, head.word, data, head.bytes, o))
        status = tz_error_set(&error, TZ_FORMAT, NULL, "no request to compile");
    else if (!o->wanted.size || !o->wanted.get)
        status = tz_error_set(&error, TZ_UNSUPPORTED, api->library.name, "this NVRTC gives no PTX");
    else
        status = compile(api, o, &binary, &bytes, &error);
    if (status)
        reply_texts(status, error.place, error.message);
    else
        reply(TZ_OK, binary, bytes);
    free(binary);
    free(o);
    free(data);
}

/* ---- Limits, and the end --------------------------------------------------------------------- */

/* The other end of the socket is closed when Trapeze ends, also by kill -9. (PR_SET_PDEATHSIG tells
 * the end of the thread that started this process, not that of the process.) */
static void *wait_for_the_end(void *nothing)
{
    struct pollfd input = {.fd = SOCKET}; /* POLLHUP is always told */
    while (poll(&input, 1, -1) < 0 && errno == EINTR)
        ;
    _exit(EXIT_SUCCESS);
    return nothing;
}

/* `bytes` of address space, of output, which is held in memory, some, and no core dumps. Where
 * memory runs out nevertheless, this is the process that the system ends. */
static void limit_memory(long long bytes)
{
    const struct rlimit none = {0, 0}, output = {OUTPUT_BYTES_MAX, OUTPUT_BYTES_MAX};
    struct rlimit space;
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_FSIZE, &output);
    if (bytes > 0 && getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur > (rlim_t)bytes) {
        space.rlim_cur = (rlim_t)bytes;
        setrlimit(RLIMIT_AS, &space);
    }
    const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
        (void)!write(file, "1000", 4);
        close(file);
    }
}

/* `seconds` of processor time for the next request. */
static void limit_time(long long seconds)
{
    struct rusage used;
    struct rlimit limit;
    if (seconds <= 0 || getrusage(RUSAGE_SELF, &used) != 0 || getrlimit(RLIMIT_CPU, &limit) != 0)
        return;
    limit.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + seconds + 1);
    setrlimit(RLIMIT_CPU, &limit);
}

int main(int argc, char **argv)
{
    if (argc != 3 || isatty(SOCKET)) {
        fprintf(stderr, "trapeze-compile %s: compiles kernels with NVRTC; trapeze starts it\n",
                TZ_VERSION);
        return 2;
    }
    nvrtc api;
    tz_error error = {0};
    char version[32];
    pthread_t thread;
    limit_memory(atoll(argv[1]));
    if (pthread_create(&thread, NULL, wait_for_the_end, NULL) != 0)
        return EXIT_FAILURE;
    if (nvrtc_open(&api, &error)) {
        reply_texts(error.code, error.place, error.message);
        return EXIT_SUCCESS;
    }
    snprintf(version, sizeof version, "%d.%d", api.major, api.minor);
    reply_texts(TZ_OK, version, api.library.name);
    for (;;) {
        limit_time(atoll(argv[2]));
        serve(&api);
    }
}
