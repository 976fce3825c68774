/* Compiles device text for this machine with a C++ compiler, and loads its kernels. */
#include "build.h"

#include "backend/cuda/family/family.h"
#include "base/paths.h"
#include "base/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a text includes in place of the machine's own words, embedded: found by the assembler
 * through the build's -Wa,-I. */
#define TEXT(symbol, file)                                                                         \
    __asm__(".pushsection .rodata\n" #symbol ":\n.incbin \"" file "\"\n.byte 0\n.popsection\n");   \
    extern const char symbol[] __attribute__((visibility("hidden")));
TEXT(simt_text_device, "device.cuh")
TEXT(simt_text_abi, "abi.h")
static const tz_cuda_header own_headers[] = {
    {"device.cuh", simt_text_device},
    {"abi.h", simt_text_abi},
};
enum { OWN_HEADERS = sizeof own_headers / sizeof *own_headers };

enum { KERNELS_MAX = 64, ARGUMENTS_MAX = 24 };

/* Folders of what texts include by a path. */
static const char *const folders[] = {"trapeze", "kernels"};
enum { FOLDERS = sizeof folders / sizeof *folders };
#define PATTERNS "-ftrivial-auto-var-init=pattern"
#define QUICK_LINKER "-fuse-ld=gold" /* takes half as long */

typedef struct kernel {
    char *source;
    char name[32]; /* of the entry */
    void *handle;
    const simt_entry *entry;
} kernel;

struct simt_build {
    char folder[512], text[600];
    bool keep, patterns; /* the compiler fills uninitialised variables */
    bool quick_linker;
    int count;
    int kernels_count;
    kernel kernels[KERNELS_MAX]; /* the latest */
};

/* ---- Files ----------------------------------------------------------------------------------- */

static tz_status write_text(const char *path, const char *text, const char *more, tz_error *error)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return tz_error_set_errno(error, errno, path, "cannot write");
    fputs(text, file);
    fputs(more, file);
    if (fclose(file) != 0)
        return tz_error_set_errno(error, errno, path, "cannot write");
    return TZ_OK;
}

static void path_of(const simt_build *build, char path[600], const char *name)
{
    snprintf(path, 600, "%s/%s", build->folder, name);
}

/* The backend's texts but for the machine's words, then the executor's own. */
static size_t headers_count(void)
{
    return tz_cuda_headers_count - 1 + OWN_HEADERS;
}

static const tz_cuda_header *header_at(size_t i)
{
    size_t device = 0;
    while (strcmp(tz_cuda_headers[device].name, "device.cuh") != 0)
        device++;
    if (i >= tz_cuda_headers_count - 1)
        return &own_headers[i - (tz_cuda_headers_count - 1)];
    return &tz_cuda_headers[i < device ? i : i + 1];
}

/* ---- The compiler ---------------------------------------------------------------------------- */

static const char *compiler(void)
{
    const char *given = getenv("CXX");
    return given && *given ? given : "c++";
}

/* Whether a command works; what it prints is in *output, malloc'd. */
static bool runs(char *const *command, char **output)
{
    char program[PATH_MAX];
    int code = 127;
    const tz_process process = {
        .program = program, .arguments = (const char *const *)command, .limit_s = 600};
    *output = NULL;
    if (tz_program_find(command[0], program))
        tz_process_run(&process, output, &code, NULL);
    return code == 0;
}

static bool succeeds(char *const *command)
{
    char *output;
    const bool good = runs(command, &output);
    free(output);
    return good;
}

tz_status simt_build_create(simt_build **out, const char *keep, tz_error *error)
{
    char *const version[] = {(char *)compiler(), "--version", NULL};
    if (!succeeds(version))
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "there is no C++ compiler '%s': install g++, or name one in CXX",
                            compiler());
    simt_build *build = calloc(1, sizeof *build);
    if (!build)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    char *const patterns[] = {(char *)compiler(), PATTERNS, "-E", "-x", "c++", "/dev/null", NULL};
    build->patterns = succeeds(patterns);
    char *const linked[] = {(char *)compiler(), QUICK_LINKER, "-shared",   "-nostdlib", "-x", "c++",
                            "/dev/null",        "-o",         "/dev/null", NULL};
    build->quick_linker = succeeds(linked);
    const char *temporary = getenv("TMPDIR");
    build->keep = keep != NULL;
    if (keep)
        snprintf(build->folder, sizeof build->folder, "%s", keep);
    else
        snprintf(build->folder, sizeof build->folder, "%s/trapeze-simt-XXXXXX",
                 temporary && *temporary ? temporary : "/tmp");
    tz_status status = TZ_OK;
    if (keep ? mkdir(keep, 0777) != 0 && errno != EEXIST : !mkdtemp(build->folder)) {
        status = tz_error_set_errno(error, errno, build->folder, "cannot make this folder");
        free(build);
        return status;
    }
    char path[600];
    for (int i = 0; i < FOLDERS && !status; i++) {
        path_of(build, path, folders[i]);
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            status = tz_error_set_errno(error, errno, path, "cannot make this folder");
    }
    for (size_t i = 0; i < headers_count() && !status; i++) {
        path_of(build, path, header_at(i)->name);
        status = write_text(path, header_at(i)->text, "", error);
    }
    if (status) {
        simt_build_destroy(build);
        return status;
    }
    *out = build;
    return TZ_OK;
}

void simt_build_destroy(simt_build *build)
{
    if (!build)
        return;
    for (int k = 0; k < build->kernels_count; k++) {
        dlclose(build->kernels[k].handle);
        free(build->kernels[k].source);
    }
    char path[600];
    for (size_t i = 0; i < headers_count() && !build->keep; i++) {
        path_of(build, path, header_at(i)->name);
        unlink(path);
    }
    for (int i = 0; i < FOLDERS && !build->keep; i++) {
        path_of(build, path, folders[i]);
        rmdir(path);
    }
    if (!build->keep)
        rmdir(build->folder);
    free(build);
}

/* The line of a compiler's output with the first error, or else all of it. */
static const char *first_error(char *text)
{
    char *line = strstr(text, "error:");
    while (line && line > text && line[-1] != '\n')
        line--;
    if (line)
        line[strcspn(line, "\n")] = '\0';
    return line ? line : text;
}

/* Arithmetic as on the GPU: no contraction, integers wrap, no library call where the machine has
 * the instruction. This program has the libraries that a text needs. */
static tz_status compile(const simt_build *build, const char *from, const char *to, tz_error *error)
{
    char *text;
    /* Not optimised: most texts take longer to compile than to run. */
    char *command[ARGUMENTS_MAX] = {
        (char *)compiler(),     "-std=c++17", "-O0", "-shared",   "-fPIC", "-ffp-contract=off",
        "-fno-strict-aliasing", "-fwrapv",    "-w",  "-nostdlib", "-I",
    };
    int n = 11;
    command[n++] = (char *)build->folder;
    if (build->keep)
        command[n++] = "-g";
    if (build->patterns)
        command[n++] = PATTERNS;
    if (build->quick_linker)
        command[n++] = QUICK_LINKER;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("fma"))
        command[n++] = "-mfma";
#endif
    command[n++] = "-x";
    command[n++] = "c++";
    command[n++] = (char *)from;
    command[n++] = "-o";
    command[n++] = (char *)to;
    const bool good = runs(command, &text);
    if (!good)
        tz_error_set(error, TZ_BACKEND, from, "%s does not compile it: %s", command[0],
                     text ? first_error(text) : "it cannot be run");
    free(text);
    return good ? TZ_OK : TZ_BACKEND;
}

tz_status simt_build_kernel(simt_build *build, const char *source, const char *entry,
                            const simt_entry **out, tz_error *error)
{
    for (int k = 0; k < build->kernels_count; k++)
        if (strcmp(build->kernels[k].source, source) == 0 &&
            strcmp(build->kernels[k].name, entry) == 0) {
            *out = build->kernels[k].entry;
            return TZ_OK;
        }
    char name[64], object[600], more[128];
    snprintf(name, sizeof name, "kernel-%d.cu", ++build->count);
    path_of(build, build->text, name);
    snprintf(name, sizeof name, "kernel-%d.so", build->count);
    path_of(build, object, name);
    snprintf(more, sizeof more, "\nTZ_SIMT_ENTRY(%s)\n", entry);
    kernel fresh = {.source = strdup(source)};
    snprintf(fresh.name, sizeof fresh.name, "%s", entry);
    tz_status status = fresh.source ? write_text(build->text, source, more, error)
                                    : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    if (!status)
        status = compile(build, build->text, object, error);
    if (!status) {
        snprintf(more, sizeof more, "%s_simt", entry);
        fresh.handle = dlopen(object, RTLD_NOW | RTLD_LOCAL);
        fresh.entry = fresh.handle ? dlsym(fresh.handle, more) : NULL;
        if (!fresh.entry)
            status = tz_error_set(error, TZ_BACKEND, object, "%s", dlerror());
    }
    if (!build->keep) {
        unlink(build->text);
        unlink(object);
    }
    if (status) {
        if (fresh.handle)
            dlclose(fresh.handle);
        free(fresh.source);
        return status;
    }
    if (build->kernels_count == KERNELS_MAX) {
        dlclose(build->kernels[0].handle);
        free(build->kernels[0].source);
        memmove(build->kernels, build->kernels + 1, sizeof(kernel) * (KERNELS_MAX - 1));
        build->kernels_count--;
    }
    build->kernels[build->kernels_count++] = fresh;
    *out = fresh.entry;
    return TZ_OK;
}

const char *simt_build_text(const simt_build *build)
{
    return build->keep ? build->text : NULL;
}

int simt_build_count(const simt_build *build)
{
    return build->count;
}
