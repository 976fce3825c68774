/* libnvrtc.so.13 without a compiler: see fake.h. A "cubin" is the ELF mark, the source and the
 * texts that it may include. A source with the word `nowhere` does not compile, and one with
 * "fake:WORD" does what FAKE_NVRTC_DO=WORD does. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT(type, symbol, parameters)                                                           \
    __attribute__((visibility("default"))) type symbol parameters;                                 \
    type symbol parameters

typedef struct program {
    char *text;
    char log[1024];
} program;

EXPORT(int, nvrtcVersion, (int *major, int *minor))
{
    *major = 13;
    *minor = 7;
    return 0;
}

EXPORT(const char *, nvrtcGetErrorString, (int result))
{
    return result == 6 ? "NVRTC_ERROR_COMPILATION" : "text of a fake";
}

EXPORT(int, nvrtcCreateProgram,
       (program * *out, const char *source, const char *name, int count, const char *const *headers,
        const char *const *names))
{
    size_t bytes = strlen(source) + 2;
    for (int k = 0; k < count; k++) {
        if (!headers[k] || !names[k])
            return 3;
        bytes += strlen(headers[k]);
    }
    *out = calloc(1, sizeof **out);
    if (!*out || !((*out)->text = malloc(bytes)))
        return 1;
    strcat(strcpy((*out)->text, source), "\f");
    for (int k = 0; k < count; k++)
        strcat((*out)->text, headers[k]);
    return 0;
}

EXPORT(int, nvrtcDestroyProgram, (program * *p))
{
    free((*p)->text);
    free(*p);
    *p = NULL;
    return 0;
}

static void *leave(void *nothing)
{
    usleep(20000);
    _exit(0);
    return nothing;
}

static int wants(const char *text, const char *word)
{
    const char *all = getenv("FAKE_NVRTC_DO"), *mark = strstr(text, "fake:");
    return (all && strcmp(all, word) == 0) ||
           (mark && strncmp(mark + strlen("fake:"), word, strlen(word)) == 0);
}

static void do_harm(const char *text)
{
    pthread_t thread;
    if (wants(text, "crash"))
        raise(SIGSEGV);
    if (wants(text, "exit")) {
        fputs("first\nno licence\n", stderr);
        _exit(3);
    }
    if (wants(text, "rubbish") && write(0, "ERROR: what is wanted? I do not know", 36) != 36)
        _exit(4);
    while (wants(text, "memory"))
        if (!malloc(64 << 20))
            abort();
    while (wants(text, "flood"))
        fprintf(stderr, "%65535s\n", "no end");
    while (wants(text, "spin"))
        ;
    if (wants(text, "leave"))
        pthread_create(&thread, NULL, leave, NULL);
}

EXPORT(int, nvrtcCompileProgram, (program * p, int count, const char *const *options))
{
    const char *path = getenv("FAKE_NVRTC_LOG");
    FILE *file = path ? fopen(path, "a") : NULL;
    for (int k = 0; file && k < count; k++)
        fprintf(file, "%s%s", options[k], k + 1 < count ? " " : "\n");
    if (file)
        fclose(file);
    const char *wait = getenv("FAKE_NVRTC_MS");
    if (wait)
        usleep(1000 * (unsigned)atoi(wait));
    do_harm(p->text);
    if (!strstr(p->text, "nowhere"))
        return 0;
    snprintf(p->log, sizeof p->log,
             "kernel.cu(3): error: identifier \"nowhere\" is undefined\n      x = nowhere;\n"
             "          ^\n\n1 error detected in the compilation of \"kernel.cu\".\n");
    return 6;
}

EXPORT(int, nvrtcGetCUBINSize, (const program *p, size_t *bytes))
{
    *bytes = strlen(p->text) + 5;
    return 0;
}

EXPORT(int, nvrtcGetCUBIN, (const program *p, char *cubin))
{
    memcpy(cubin, "\177ELF", 4);
    strcpy(cubin + 4, p->text);
    return 0;
}

EXPORT(int, nvrtcGetProgramLogSize, (const program *p, size_t *bytes))
{
    *bytes = strlen(p->log) + 1;
    return 0;
}

EXPORT(int, nvrtcGetProgramLog, (const program *p, char *log))
{
    strcpy(log, p->log);
    return 0;
}
