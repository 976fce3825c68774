/* libcuda.so.1 without a GPU: see fake.h. */
#define _GNU_SOURCE /* recursive mutexes */
#include "fake_impl.h"

#include <limits.h>
#include <pthread.h>
#include <unistd.h>

static context contexts[DEVICES_MAX];
_Thread_local context *fake_current;
fake_cuda_seen fake_seen;
static int broken; /* a result that ended the context */
static char fault_text[64];
static long fault_skip, fault_times;
static double clock_ms;

API const fake_cuda_seen *fake_cuda(void);
API const fake_cuda_seen *fake_cuda(void)
{
    return &fake_seen;
}

/* ---- Faults ---------------------------------------------------------------------------------- */

long fake_number(const char *variable, long otherwise)
{
    const char *text = getenv(variable);
    return text && *text ? atol(text) : otherwise;
}

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

int fake_lock(void)
{
    return pthread_mutex_lock(&lock);
}

void fake_unlock(int *held)
{
    pthread_mutex_unlock(&lock);
}

static int fault_of(const char *symbol)
{
    ALONE;
    const char *text = getenv("FAKE_CUDA_FAULT");
    if (!text || !*text) {
        fault_text[0] = '\0';
        return 0;
    }
    const char *colon = strchr(text, ':');
    if (!colon || strncmp(text, symbol, (size_t)(colon - text)) != 0 ||
        symbol[colon - text] != '\0')
        return 0;
    if (strcmp(text, fault_text) != 0) { /* a new one: count anew */
        snprintf(fault_text, sizeof fault_text, "%s", text);
        fault_skip = 0;
        fault_times = LONG_MAX;
        sscanf(colon, ":%*d:%ld:%ld", &fault_skip, &fault_times);
    }
    if (fault_skip-- > 0 || fault_times-- <= 0)
        return 0;
    const int result = atoi(colon + 1);
    if ((result >= 700 && result <= 721 && result != 701 && result != 720) || result == 999 ||
        result == 214)
        broken = result;
    return result;
}

int fake_enter(const char *symbol, bool needs_context)
{
    const int fault = broken ? broken : fault_of(symbol);
    if (fault)
        return fault;
    return needs_context && (!fake_current || fake_current->retained == 0) ? INVALID_CONTEXT : 0;
}

EXPORT(cuGetErrorName, (int result, const char **text))
{
    *text = result == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
            : result == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : result == 702 ? "CUDA_ERROR_LAUNCH_TIMEOUT"
            : result == 719 ? "CUDA_ERROR_LAUNCH_FAILED"
                            : "CUDA_ERROR_OF_A_FAKE";
    return 0;
}

EXPORT(cuGetErrorString, (int result, const char **text))
{
    *text = "text of a fake";
    return 0;
}

/* ---- Handles --------------------------------------------------------------------------------- */

bool fake_keep(void *what, void (*drop)(void *what))
{
    kept *made = what ? malloc(sizeof *made) : NULL;
    if (!made) {
        if (what)
            drop(what);
        return false;
    }
    *made = (kept){what, drop, fake_current->kept};
    fake_current->kept = made;
    return true;
}

void fake_let_go(void *what)
{
    for (kept **h = &fake_current->kept; *h; h = &(*h)->next)
        if ((*h)->what == what) {
            kept *gone = *h;
            *h = gone->next;
            gone->drop(what);
            free(gone);
            return;
        }
}

/* ---- Streams --------------------------------------------------------------------------------- */

stream *fake_stream(void *handle)
{
    return handle ? handle : &fake_current->standard;
}

static void stream_start(stream *s)
{
    memset(s, 0, sizeof *s);
    s->last = &s->first;
}

static char *side_at(const struct side *side, size_t row, size_t plane)
{
    char *base = side->memory == 1 ? side->host : (char *)(uintptr_t)side->device;
    return base + side->x + (side->y + row + (side->z + plane) * side->height) * side->pitch;
}

static void operation_do(const operation *o)
{
    fake_seen.done++;
    clock_ms += 1;
    if (o->kind == COPY)
        memcpy(o->to, o->from, o->bytes);
    for (size_t plane = 0; o->kind == COPY_3D && plane < o->box.depth; plane++)
        for (size_t row = 0; row < o->box.height; row++)
            memcpy(side_at(&o->box.to, row, plane), side_at(&o->box.from, row, plane),
                   o->box.width);
    for (size_t k = 0; o->kind == FILL && k < o->bytes; k++)
        memcpy((char *)o->to + 4 * k, &o->word, 4);
    if (o->kind == RECORD && o->shared)
        fake_event_done(o->shared, o->target);
    else if (o->kind == RECORD)
        o->event->ms = clock_ms;
    if (o->kind == KERNEL && o->kernel)
        o->kernel(o->argument);
    if (o->kind == NAMED) {
        fake_memory_list(o->to);
        o->run(o->to);
        free(o->to);
    }
    if (o->kind == HOST)
        o->host(o->to);
}

static bool is_ready(const operation *o)
{
    return o->kind != WAIT || (o->shared ? fake_event_is_done(o->shared, o->target)
                                         : !o->other->first || o->other->done >= o->target);
}

static void step(stream *s)
{
    operation *o = s->first;
    s->first = o->next;
    if (!s->first)
        s->last = &s->first;
    s->done++;
    operation_do(o);
    free(o);
}

void fake_drain(stream *s, long target)
{
    while (s->first && s->done < target) {
        const operation *o = s->first;
        if (is_ready(o)) {
            step(s);
        } else if (o->other) {
            fake_drain(o->other, o->target);
        } else { /* another process records it */
            if (!fake_step_all())
                usleep(20);
        }
    }
}

bool fake_step_all(void)
{
    bool done = false;
    for (int i = 0; i < DEVICES_MAX; i++) {
        context *c = &contexts[i];
        if (c->retained > 0 && c->standard.first && is_ready(c->standard.first)) {
            step(&c->standard);
            done = true;
        }
        for (stream *s = c->streams; s; s = s->next)
            if (s->first && is_ready(s->first)) {
                step(s);
                done = true;
            }
    }
    return done;
}

void fake_drain_all(context *c)
{
    fake_drain(&c->standard, c->standard.put);
    for (stream *s = c->streams; s; s = s->next)
        fake_drain(s, s->put);
}

int fake_put(void *handle, const operation *what)
{
    stream *s = fake_stream(handle);
    operation *o = malloc(sizeof *o);
    if (!o)
        return OUT_OF_MEMORY;
    *o = *what;
    o->next = NULL;
    operation ***last = s->noting ? &s->noting->last : &s->last;
    **last = o;
    *last = &o->next;
    s->put += !s->noting;
    return 0;
}

EXPORT(cuStreamCreate, (void **out, unsigned flags))
{
    ENTER(cuStreamCreate);
    if (flags != 1)
        return INVALID_VALUE;
    stream *s = malloc(sizeof *s);
    if (!s)
        return OUT_OF_MEMORY;
    stream_start(s);
    s->next = fake_current->streams;
    fake_current->streams = s;
    fake_seen.streams++;
    *out = s;
    return 0;
}

EXPORT(cuStreamCreateWithPriority, (void **out, unsigned flags, int priority))
{
    return priority < 0 ? cuStreamCreate(out, flags) : INVALID_VALUE;
}

/* Kept until the context goes: events may still name it. */
EXPORT(cuStreamDestroy_v2, (stream * s))
{
    ENTER(cuStreamDestroy_v2);
    if (!s || s->destroyed)
        return INVALID_HANDLE;
    fake_drain(s, s->put);
    s->destroyed = true;
    fake_seen.streams--;
    return 0;
}

EXPORT(cuStreamSynchronize, (void *handle))
{
    ENTER(cuStreamSynchronize);
    stream *s = fake_stream(handle);
    if (s->noting)
        return CAPTURE_UNSUPPORTED;
    fake_drain(s, s->put);
    return 0;
}

EXPORT(cuLaunchHostFunc, (void *handle, void (*host)(void *), void *data))
{
    ENTER(cuLaunchHostFunc);
    return fake_put(handle, &(operation){.kind = HOST, .host = host, .to = data});
}

EXPORT(cuStreamWaitEvent, (void *handle, event *e, unsigned flags))
{
    ENTER(cuStreamWaitEvent);
    if (!e || flags != 0)
        return INVALID_VALUE;
    if (e->shared) {
        const long recorded = fake_event_recorded(e);
        const operation o = {.kind = WAIT, .shared = e->shared, .target = recorded};
        return recorded > 0 ? fake_put(handle, &o) : 0;
    }
    return e->on ? fake_put(handle, &(operation){.kind = WAIT, .other = e->on, .target = e->target})
                 : 0;
}

EXPORT(cuCtxSynchronize, (void))
{
    ENTER(cuCtxSynchronize);
    fake_drain_all(fake_current);
    return 0;
}

/* ---- Events ---------------------------------------------------------------------------------- */

EXPORT(cuEventCreate, (event * *out, unsigned flags))
{
    ENTER(cuEventCreate);
    if (flags != 0 && flags != 2 && flags != 6)
        return INVALID_VALUE;
    *out = calloc(1, sizeof **out);
    if (!fake_keep(*out, free))
        return OUT_OF_MEMORY;
    (*out)->timed = flags == 0;
    if (flags == 6 && fake_event_share(*out) != 0)
        return 801; /* CUDA_ERROR_NOT_SUPPORTED */
    fake_seen.events++;
    return 0;
}

EXPORT(cuEventDestroy_v2, (event * e))
{
    ENTER(cuEventDestroy_v2);
    if (e->on)
        fake_drain(e->on, e->target);
    fake_event_unshare(e);
    fake_let_go(e);
    fake_seen.events--;
    return 0;
}

EXPORT(cuEventRecord, (event * e, void *handle))
{
    ENTER(cuEventRecord);
    if (e->opened)
        return INVALID_HANDLE;
    e->on = fake_stream(handle);
    const operation o = {.kind = RECORD,
                         .event = e,
                         .shared = e->shared,
                         .target = e->shared ? fake_event_record(e) : 0};
    const int result = fake_put(handle, &o);
    e->target = e->on->put;
    return result;
}

EXPORT(cuEventSynchronize, (event * e))
{
    ENTER(cuEventSynchronize);
    const char *pause = getenv("FAKE_CUDA_EVENT_US");
    if (pause)
        usleep((useconds_t)atoi(pause));
    if (e->on)
        fake_drain(e->on, e->target);
    return 0;
}

EXPORT(cuEventElapsedTime, (float *ms, const event *from, const event *to))
{
    ENTER(cuEventElapsedTime);
    if (!from->timed || !to->timed || !from->on || !to->on)
        return INVALID_HANDLE;
    if (from->on->done < from->target || to->on->done < to->target)
        return NOT_READY;
    *ms = (float)(to->ms - from->ms);
    return 0;
}

/* ---- The library and its devices ------------------------------------------------------------- */

static int devices(void)
{
    const long count = fake_number("FAKE_CUDA_DEVICES", 1);
    return count < DEVICES_MAX ? (int)count : DEVICES_MAX;
}

EXPORT(cuInit, (unsigned flags))
{
    const int fault = fault_of("cuInit");
    return fault ? fault : flags != 0 ? INVALID_VALUE : devices() == 0 ? NO_DEVICE : 0;
}

EXPORT(cuDriverGetVersion, (int *version))
{
    *version = 13000;
    return 0;
}

/* A real NVRTC calls it, and crashes without it. */
EXPORT(cuGetExportTable, (const void **table, const void *id))
{
    *table = NULL;
    return NOT_FOUND;
}

EXPORT(cuDeviceGetCount, (int *count))
{
    *count = devices();
    return 0;
}

EXPORT(cuDeviceGet, (int *device, int ordinal))
{
    *device = ordinal;
    return ordinal < 0 || ordinal >= devices() ? INVALID_DEVICE : 0;
}

EXPORT(cuDeviceGetName, (char *name, int size, int device))
{
    const int fault = fault_of("cuDeviceGetName");
    snprintf(name, (size_t)size, "Fake GPU %c", 'A' + device);
    return fault;
}

EXPORT(cuDeviceGetPCIBusId, (char *text, int size, int device))
{
    snprintf(text, (size_t)size, "0000:%02x:00.0", 0x10 + device);
    return 0;
}

EXPORT(cuDeviceTotalMem_v2, (size_t * bytes, int device))
{
    *bytes = (size_t)fake_number("FAKE_CUDA_MEMORY", 1 << 30);
    return 0;
}

EXPORT(cuDeviceGetAttribute, (int *value, int which, int device))
{
    static const struct {
        int which, value;
    } known[] = {{75, 9},     {76, 0},    {16, 132}, {97, 232448},   {111, 1024},   {81, 233472},
                 {82, 65536}, {39, 2048}, {106, 32}, {38, 52428800}, {13, 1980000}, {36, 3201000},
                 {37, 6144},  {95, 1},    {17, 0},   {125, 1}};
    (void)device;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (known[k].which == which && fake_number("FAKE_CUDA_WITHOUT", 0) != which) {
            *value = known[k].value;
            return 0;
        }
    *value = -1;
    return INVALID_VALUE;
}

EXPORT(cuDevicePrimaryCtxRetain, (context * *out, int device))
{
    ALONE;
    const int fault = fault_of("cuDevicePrimaryCtxRetain");
    if (fault)
        return fault;
    context *c = &contexts[device];
    if (c->retained++ == 0) {
        stream_start(&c->standard);
        fake_seen.contexts++;
    }
    *out = c;
    return 0;
}

EXPORT(cuDeviceCanAccessPeer, (int *can, int from, int to))
{
    *can = from != to && fake_number("FAKE_CUDA_PEERS", 1) != 0;
    return fake_enter("cuDeviceCanAccessPeer", false);
}

EXPORT(cuCtxEnablePeerAccess, (context * other, unsigned flags))
{
    ENTER(cuCtxEnablePeerAccess);
    const unsigned bit = 1u << (other - contexts);
    if (other == fake_current || flags != 0 || fake_number("FAKE_CUDA_PEERS", 1) == 0)
        return INVALID_VALUE;
    if (fake_current->open & bit)
        return 704; /* CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED */
    fake_current->open |= bit;
    fake_seen.peers_opened++;
    return 0;
}

/* Frees the handles of the context. They count as left behind, unless a fault came before. */
EXPORT(cuDevicePrimaryCtxRelease_v2, (int device))
{
    ALONE;
    context *c = &contexts[device];
    if (--c->retained > 0)
        return 0;
    fake_drain_all(c);
    for (stream *s; (s = c->streams);) {
        c->streams = s->next;
        free(s);
    }
    for (block *b; (b = c->blocks);) {
        c->blocks = b->next;
        fake_block_free(b);
    }
    fake_close_opened(c);
    for (kept *h; (h = c->kept);) {
        c->kept = h->next;
        h->drop(h->what);
        free(h);
    }
    c->used = 0;
    c->open = 0;
    if (!broken)
        fake_seen.left_behind += fake_seen.allocations + fake_seen.pinned + fake_seen.streams +
                                 fake_seen.events + fake_seen.modules + fake_seen.noted +
                                 fake_seen.graphs + fake_seen.opened;
    fake_seen.allocations = fake_seen.pinned = fake_seen.streams = fake_seen.events = 0;
    fake_seen.modules = fake_seen.noted = fake_seen.graphs = fake_seen.opened = 0;
    fake_seen.contexts--;
    broken = 0;
    return 0;
}

EXPORT(cuCtxSetCurrent, (context * c))
{
    const int fault = c ? fault_of("cuCtxSetCurrent") : 0;
    fake_current = c;
    return fault;
}
