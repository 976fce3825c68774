/* Modules, launches and graphs of the stand-in for libcuda.so.1. */
#include "fake_impl.h"

/* CUfunction_attribute, and what this GPU is like. */
enum {
    THREADS_MAX = 0,
    SHARED_BYTES = 1,
    LOCAL_BYTES = 3,
    REGISTERS = 4,
    DYNAMIC_SHARED_BYTES = 8,

    STATIC_BYTES = 1024,  /* of every kernel here */
    BLOCK_BYTES = 232448, /* of a device, opted into */
    PROCESSOR_BYTES = 233472,
    RESERVED_BYTES = 1024,
    KERNEL_REGISTERS = 40,
};

EXPORT(cuModuleLoadData, (module * *out, const void *image))
{
    ENTER(cuModuleLoadData);
    if (memcmp(image, "\177ELF", 4) != 0)
        return INVALID_IMAGE;
    /* A real cubin has its kernels' names somewhere; this one is the source. */
    const char *text = (const char *)image + 4;
    *out = malloc(sizeof **out + strlen(text) + 1);
    if (!fake_keep(*out, free))
        return OUT_OF_MEMORY;
    strcpy((*out)->text, text);
    fake_seen.modules++;
    return 0;
}

EXPORT(cuModuleUnload, (module * m))
{
    ENTER(cuModuleUnload);
    fake_let_go(m);
    fake_seen.modules--;
    return 0;
}

/* A function is its module. */
EXPORT(cuModuleGetFunction, (module * *function, module *m, const char *name))
{
    ENTER(cuModuleGetFunction);
    *function = m;
    snprintf(m->name, sizeof m->name, "%s", name);
    const bool is_real =
        m->text[0] == 2; /* a cubin of NVRTC, of 64 bits: names are not looked up */
    return is_real || strstr(m->text, name) ? 0 : NOT_FOUND;
}

EXPORT(cuFuncGetAttribute, (int *value, int which, const module *function))
{
    ENTER(cuFuncGetAttribute);
    fake_seen.kernel_gets++;
    if (!function)
        return INVALID_HANDLE;
    *value = which == THREADS_MAX            ? 1024
             : which == SHARED_BYTES         ? STATIC_BYTES
             : which == LOCAL_BYTES          ? 0
             : which == REGISTERS            ? KERNEL_REGISTERS
             : which == DYNAMIC_SHARED_BYTES ? (49152 - STATIC_BYTES)
                                             : -1;
    return *value < 0 ? INVALID_VALUE : 0;
}

EXPORT(cuFuncSetAttribute, (module * function, int which, int value))
{
    ENTER(cuFuncSetAttribute);
    fake_seen.kernel_sets++;
    if (!function || which != DYNAMIC_SHARED_BYTES || value + STATIC_BYTES > BLOCK_BYTES)
        return INVALID_VALUE;
    fake_seen.shared_limit = value;
    return 0;
}

EXPORT(cuOccupancyMaxActiveBlocksPerMultiprocessor,
       (int *blocks, const module *function, int threads, size_t shared_bytes))
{
    ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessor);
    const int by_threads = 2048 / threads, by_registers = 65536 / (threads * KERNEL_REGISTERS);
    const int by_memory =
        (int)(PROCESSOR_BYTES / (shared_bytes + STATIC_BYTES + (size_t)RESERVED_BYTES));
    *blocks = by_threads < by_registers ? by_threads : by_registers;
    *blocks = *blocks < by_memory ? *blocks : by_memory;
    return function ? 0 : INVALID_HANDLE;
}

static fake_cuda_kernel *kernel_to_run;
static size_t argument_bytes;

API fake_cuda_runs fake_cuda_run;

void fake_cuda_run(fake_cuda_kernel *kernel, size_t bytes)
{
    kernel_to_run = bytes <= FAKE_CUDA_ARGUMENT_MAX ? kernel : NULL;
    argument_bytes = bytes;
}

static fake_cuda_named *named;
static fake_cuda_prepare *prepare_named;

API fake_cuda_named_runs fake_cuda_run_named;

void fake_cuda_run_named(fake_cuda_prepare *prepare, fake_cuda_named *run)
{
    prepare_named = prepare;
    named = run;
}

static int put_named(void *handle, const module *function, const fake_cuda_launch *what,
                     const void *argument)
{
    fake_cuda_launch *copy = malloc(sizeof *copy);
    char *source = strdup(function->text);
    if (!copy || !source)
        abort();
    source[strcspn(source, "\f")] = '\0'; /* the texts that it includes follow */
    *copy = *what;
    copy->name = function->name;
    copy->source = source;
    copy->entry = prepare_named(copy);
    copy->name = copy->source = NULL;
    free(source);
    memcpy(copy->argument, argument, copy->argument_bytes);
    return fake_put(handle, &(operation){.kind = NAMED, .run = named, .to = copy});
}

EXPORT(cuLaunchKernel,
       (module * function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
        unsigned bz, unsigned shared_bytes, void *handle, void **arguments, void **extra))
{
    ENTER(cuLaunchKernel);
    if (!function || !arguments || extra || bx * by * bz > 1024 ||
        (int)shared_bytes > fake_seen.shared_limit)
        return INVALID_VALUE;
    fake_seen.launches += !fake_stream(handle)->noting;
    fake_seen.grid[0] = gx;
    fake_seen.grid[1] = gy;
    fake_seen.grid[2] = gz;
    fake_seen.block[0] = bx;
    fake_seen.block[1] = by;
    fake_seen.block[2] = bz;
    fake_seen.shared_bytes = shared_bytes;
    fake_seen.on_default_stream = handle == NULL;
    if (named)
        return put_named(handle, function,
                         &(fake_cuda_launch){.grid = {(int)gx, (int)gy, (int)gz},
                                             .threads = (int)(bx * by * bz),
                                             .shared_bytes = (int)shared_bytes},
                         arguments[0]);
    operation o = {.kind = KERNEL, .kernel = kernel_to_run};
    if (kernel_to_run)
        memcpy(o.argument, arguments[0], argument_bytes);
    return fake_put(handle, &o);
}

EXPORT(cuLaunchCooperativeKernel,
       (module * function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
        unsigned bz, unsigned shared_bytes, void *handle, void **arguments))
{
    int blocks = 0;
    ENTER(cuLaunchCooperativeKernel);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, (int)(bx * by * bz),
                                                shared_bytes);
    if (gx * gy * gz > 132 * (unsigned)blocks)
        return 720;
    fake_seen.cooperative++;
    return cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared_bytes, handle, arguments, NULL);
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

static void graph_free(void *any)
{
    graph *g = any;
    for (operation *o; (o = g->first);) {
        g->first = o->next;
        free(o);
    }
    free(g);
}

static graph *graph_make(void)
{
    graph *g = calloc(1, sizeof *g);
    if (!g || !fake_keep(g, graph_free))
        return NULL;
    g->last = &g->first;
    return g;
}

EXPORT(cuStreamBeginCapture_v2, (stream * s, int mode))
{
    ENTER(cuStreamBeginCapture_v2);
    if (!s || s->noting || mode < 0 || mode > 2)
        return s ? INVALID_VALUE : CAPTURE_UNSUPPORTED;
    s->noting = graph_make();
    return s->noting ? 0 : OUT_OF_MEMORY;
}

EXPORT(cuStreamEndCapture, (stream * s, graph **noted))
{
    ENTER(cuStreamEndCapture);
    *noted = s->noting;
    if (!s->noting)
        return INVALID_VALUE;
    s->noting = NULL;
    fake_seen.noted++;
    return 0;
}

EXPORT(cuGraphDestroy, (graph * noted))
{
    ENTER(cuGraphDestroy);
    fake_let_go(noted);
    fake_seen.noted--;
    return 0;
}

EXPORT(cuGraphInstantiateWithFlags, (graph * *out, const graph *noted, unsigned long long flags))
{
    ENTER(cuGraphInstantiateWithFlags);
    if (flags != 0)
        return INVALID_VALUE;
    *out = graph_make();
    for (const operation *o = noted->first; *out && o; o = o->next) {
        operation *copy = malloc(sizeof *copy);
        if (!copy)
            return OUT_OF_MEMORY;
        *copy = *o;
        copy->next = NULL;
        *(*out)->last = copy;
        (*out)->last = &copy->next;
    }
    fake_seen.graphs += *out != NULL;
    fake_seen.graphs_made += *out != NULL;
    return *out ? 0 : OUT_OF_MEMORY;
}

EXPORT(cuGraphLaunch, (const graph *g, void *handle))
{
    ENTER(cuGraphLaunch);
    for (const operation *o = g->first; o; o = o->next) {
        const int result = fake_put(handle, o);
        if (result)
            return result;
        fake_seen.launches += o->kind == KERNEL;
    }
    return 0;
}

EXPORT(cuGraphExecDestroy, (graph * g))
{
    ENTER(cuGraphExecDestroy);
    fake_let_go(g);
    fake_seen.graphs--;
    return 0;
}
