/* Shared by the files of the stand-in for libcuda.so.1. */
#ifndef TZ_TEST_FAKE_IMPL_H
#define TZ_TEST_FAKE_IMPL_H

#include "fake.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

enum {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    CAPTURE_UNSUPPORTED = 900,
    DEVICES_MAX = 8,
};

typedef uint64_t pointer;

typedef struct copy_3d { /* CUDA_MEMCPY3D_v2 */
    struct side {
        size_t x, y, z, level;
        int memory; /* 1: host; 2: device */
        char *host;
        pointer device;
        void *array, *reserved;
        size_t pitch, height;
    } from, to;
    size_t width, height, depth;
} copy_3d;

typedef struct stream stream;
typedef struct shared_event shared_event; /* fake_shared.c */
typedef struct mapping mapping;

typedef struct operation {
    enum { COPY, COPY_3D, FILL, KERNEL, NAMED, HOST, RECORD, WAIT } kind;
    void *to;
    const void *from;
    size_t bytes; /* of a copy; words of a fill */
    unsigned word;
    copy_3d box;
    struct event *event;  /* RECORD */
    stream *other;        /* WAIT: until that stream has done `target` operations, or until */
    shared_event *shared; /* this event has been recorded `target` times; RECORD: the same */
    long target;
    fake_cuda_kernel *kernel; /* KERNEL; or NULL */
    char argument[FAKE_CUDA_ARGUMENT_MAX];
    fake_cuda_named *run; /* NAMED: with a launch, in `to` */
    void (*host)(void *); /* HOST: of `to` */
    struct operation *next;
} operation;

typedef struct graph {
    operation *first, **last;
} graph;

struct stream {
    operation *first, **last;
    long put, done;
    graph *noting; /* capturing into this */
    bool destroyed;
    stream *next;
};

typedef struct event {
    stream *on; /* NULL: never recorded */
    long target;
    bool timed;
    double ms;
    shared_event *shared; /* NULL: of this process alone */
    mapping *opened;      /* of an event of another process */
} event;

typedef struct block { /* before each piece of memory */
    struct block *next;
    size_t bytes;
    bool pinned;
    mapping *shared; /* NULL: this process alone has it */
    _Alignas(16) char align[8];
} block;

typedef struct module {
    char name[32]; /* of its function that was asked for last */
    char text[];
} module;

typedef struct kept { /* a live handle, which its context frees */
    void *what;
    void (*drop)(void *what);
    struct kept *next;
} kept;

typedef struct context {
    int retained;
    kept *kept;
    unsigned open; /* bits: contexts whose memory is open to this one */
    stream standard, *streams;
    block *blocks;
    mapping *opened, *own_events;
    size_t used;
} context;

extern _Thread_local context *fake_current;
extern fake_cuda_seen fake_seen;

/* Every call starts here: the requested fault, or a missing context. */
int fake_enter(const char *symbol, bool needs_context);
/* Fills in the memory of a launch. */
void fake_memory_list(fake_cuda_launch *launch);
/* The stream of a handle: NULL is the default one. */
stream *fake_stream(void *handle);
/* Puts an operation on a stream, or into the graph that the stream captures. */
int fake_put(void *handle, const operation *what);
void fake_drain(stream *s, long target);
void fake_drain_all(context *c);
/* The number in an environment variable, or `otherwise`. */
long fake_number(const char *variable, long otherwise);
/* Adds `what` to the context, which frees it with `drop`. False: no memory. */
bool fake_keep(void *what, void (*drop)(void *what));
void fake_let_go(void *what);
void fake_block_free(block *b);

/* ---- fake_shared.c ---- */
bool fake_shares(void);
/* Memory that other processes can open; NULL: there is none. */
block *fake_shared_block(size_t bytes);
void fake_shared_drop(mapping *shared);
int fake_event_share(event *e);
void fake_event_unshare(event *e);
/* What a wait in a stream waits for now. */
long fake_event_recorded(const event *e);
/* The number of a record, which is `done` later. */
long fake_event_record(event *e);
void fake_event_done(shared_event *e, long number);
bool fake_event_is_done(const shared_event *e, long number);
void fake_close_opened(context *c);

/* Runs an operation of each stream that need not wait. False: there is none. */
bool fake_step_all(void);

/* One call at a time. */
int fake_lock(void);
void fake_unlock(int *held);
#define ALONE __attribute__((cleanup(fake_unlock), unused)) int held_ = fake_lock()

#define ENTER(symbol)                                                                              \
    ALONE;                                                                                         \
    do {                                                                                           \
        const int result_ = fake_enter(#symbol, true);                                             \
        if (result_)                                                                               \
            return result_;                                                                        \
    } while (0)

/* A definition after its declaration: -Wmissing-prototypes. */
#define EXPORT(symbol, parameters)                                                                 \
    API int symbol parameters;                                                                     \
    int symbol parameters

#endif
