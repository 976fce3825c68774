/* Memory and events that processes share, of the stand-in for libcuda.so.1. A piece of memory is a
 * file without a name, which another process opens through /proc. */
#define _GNU_SOURCE /* memfd_create */
#include "fake_impl.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEAD_BYTES = 4096, ALREADY_MAPPED = 208, NOT_SUPPORTED = 801 };

struct shared_event {
    atomic_long recorded, done;
};

typedef struct head { /* before what is shared */
    atomic_int openers;
    shared_event event;
} head;

typedef struct handle {
    int pid, file;
    size_t bytes;
    bool is_event;
    char rest[64 - 2 * sizeof(int) - 2 * sizeof(size_t)];
} handle;

_Static_assert(sizeof(handle) == 64, "CU_IPC_HANDLE_SIZE");

struct mapping {
    head *at;
    size_t bytes; /* with the head */
    handle handle;
    int times; /* opened */
    mapping *next;
};

static head *map(int file, size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return at == MAP_FAILED ? NULL : at;
}

static mapping *make(size_t bytes, bool is_event)
{
    mapping *m = calloc(1, sizeof *m);
    const int file = memfd_create("fake", MFD_CLOEXEC);
    if (!m || file < 0)
        return NULL;
    m->bytes = HEAD_BYTES + bytes;
    m->handle = (handle){.pid = getpid(), .file = file, .bytes = m->bytes, .is_event = is_event};
    m->at = ftruncate(file, (off_t)m->bytes) == 0 ? map(file, m->bytes) : NULL;
    return m->at ? m : NULL;
}

static void drop(mapping *m, const char *what)
{
    if (atomic_load(&m->at->openers) > 0) {
        fprintf(stderr, "fake: %s is freed while another process has it open\n", what);
        abort();
    }
    munmap(m->at, m->bytes);
    close(m->handle.file);
    free(m);
}

static int open_other(const handle *h, mapping **out)
{
    char path[64];
    if (h->pid == getpid())
        return INVALID_CONTEXT;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", h->pid, h->file);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    mapping *m = calloc(1, sizeof *m);
    if (!m || file < 0)
        return INVALID_VALUE;
    *m = (mapping){.at = map(file, h->bytes), .bytes = h->bytes, .handle = *h, .times = 1};
    close(file);
    if (!m->at)
        return OUT_OF_MEMORY;
    atomic_fetch_add(&m->at->openers, 1);
    *out = m;
    return 0;
}

static void close_other(mapping *m)
{
    atomic_fetch_sub(&m->at->openers, 1);
    munmap(m->at, m->bytes);
    free(m);
}

/* Streams run also while nobody waits for them: another process may. */
static void *run(void *unused)
{
    for (;;) {
        usleep((useconds_t)fake_number("FAKE_CUDA_SHARED", 100));
        ALONE;
        while (fake_step_all())
            ;
    }
    return NULL;
}

static void start(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL) == 0)
        pthread_detach(thread);
}

bool fake_shares(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (fake_number("FAKE_CUDA_SHARED", 0) == 0)
        return false;
    pthread_once(&once, start);
    return true;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* The block's head lies in the shared one, and only its owner reads it. */
block *fake_shared_block(size_t bytes)
{
    mapping *m = make(bytes, false);
    block *b = m ? (block *)((char *)m->at + HEAD_BYTES) - 1 : NULL;
    if (b)
        b->shared = m;
    return b;
}

void fake_shared_drop(mapping *shared)
{
    drop(shared, "memory");
}

EXPORT(cuIpcGetMemHandle, (handle * out, pointer memory))
{
    ENTER(cuIpcGetMemHandle);
    for (const block *b = fake_current->blocks; b; b = b->next)
        if ((pointer)(uintptr_t)(b + 1) == memory && b->shared) {
            *out = b->shared->handle;
            return 0;
        }
    return fake_shares() ? INVALID_VALUE : NOT_SUPPORTED;
}

EXPORT(cuIpcOpenMemHandle_v2, (pointer * out, handle h, unsigned flags))
{
    ENTER(cuIpcOpenMemHandle_v2);
    mapping *m = NULL;
    if (flags != 1 || h.is_event)
        return INVALID_VALUE;
    for (m = fake_current->opened; m && memcmp(&m->handle, &h, sizeof h) != 0;)
        m = m->next;
    if (m) {
        m->times++;
    } else {
        const int result = open_other(&h, &m);
        if (result)
            return result;
        m->next = fake_current->opened;
        fake_current->opened = m;
    }
    fake_seen.opened++;
    fake_seen.shared_opened++;
    *out = (pointer)(uintptr_t)((char *)m->at + HEAD_BYTES);
    return 0;
}

EXPORT(cuIpcCloseMemHandle, (pointer memory))
{
    ENTER(cuIpcCloseMemHandle);
    for (mapping **m = &fake_current->opened; *m; m = &(*m)->next) {
        mapping *found = *m;
        if ((pointer)(uintptr_t)((char *)found->at + HEAD_BYTES) != memory)
            continue;
        fake_drain_all(fake_current);
        fake_seen.opened--;
        if (--found->times == 0) {
            *m = found->next;
            close_other(found);
        }
        return 0;
    }
    return INVALID_VALUE;
}

void fake_close_opened(context *c)
{
    for (mapping *m; (m = c->opened);) {
        c->opened = m->next;
        close_other(m);
    }
}

/* ---- Events ---------------------------------------------------------------------------------- */

int fake_event_share(event *e)
{
    mapping *m = fake_shares() ? make(0, true) : NULL;
    e->shared = m ? &m->at->event : NULL;
    e->opened = NULL;
    if (m)
        m->next = fake_current->own_events, fake_current->own_events = m;
    return m ? 0 : NOT_SUPPORTED;
}

static mapping **own_event(const event *e)
{
    mapping **m = &fake_current->own_events;
    while (*m && &(*m)->at->event != e->shared)
        m = &(*m)->next;
    return m;
}

void fake_event_unshare(event *e)
{
    if (e->opened) {
        fake_drain_all(fake_current);
        close_other(e->opened);
    } else if (e->shared) {
        mapping **m = own_event(e), *gone = *m;
        *m = gone->next;
        drop(gone, "an event");
    }
    e->shared = NULL;
    e->opened = NULL;
}

long fake_event_recorded(const event *e)
{
    return atomic_load(&e->shared->recorded);
}

long fake_event_record(event *e)
{
    return atomic_fetch_add(&e->shared->recorded, 1) + 1;
}

void fake_event_done(shared_event *e, long number)
{
    atomic_store(&e->done, number);
}

bool fake_event_is_done(const shared_event *e, long number)
{
    return atomic_load(&e->done) >= number;
}

EXPORT(cuIpcGetEventHandle, (handle * out, const event *e))
{
    ENTER(cuIpcGetEventHandle);
    if (!e->shared || e->opened)
        return INVALID_HANDLE;
    *out = (*own_event(e))->handle;
    return 0;
}

EXPORT(cuIpcOpenEventHandle, (event * *out, handle h))
{
    ENTER(cuIpcOpenEventHandle);
    mapping *m = NULL;
    const int result = h.is_event ? open_other(&h, &m) : INVALID_VALUE;
    if (result)
        return result;
    *out = calloc(1, sizeof **out);
    if (!fake_keep(*out, free))
        return OUT_OF_MEMORY;
    (*out)->shared = &m->at->event;
    (*out)->opened = m;
    fake_seen.events++;
    return 0;
}
