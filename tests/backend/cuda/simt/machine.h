/* Inside the machine: what its files share. fiber.c: functions with stacks of their own that hand
 * the processor to each other by name. memory.c: who touched which word of memory when. words.c: a
 * lane's side. simt.c: the scheduler's. */
#ifndef TZ_SIMT_MACHINE_H
#define TZ_SIMT_MACHINE_H

#include "simt.h"

#include <stddef.h>

/* ---- fiber.c --------------------------------------------------------------------------------- */

typedef struct simt_fiber {
    void *at; /* where it goes on: its stack pointer, or a ucontext_t */
    void *stack;
    size_t stack_bytes;
    void *fake; /* the address sanitizer's */
    void (*run)(void *);
    void *argument;
    struct simt_fiber *came_from; /* the fiber that switched to it */
} simt_fiber;

/* A fiber that will call run(argument), which must not return. `stack` is the caller's. The fiber
 * that a thread begins in needs nothing but zeros. */
void simt_fiber_prepare(simt_fiber *fiber, void *stack, size_t stack_bytes, void (*run)(void *),
                        void *argument);
/* Goes on with `to`; returns when some fiber switches to `from`. */
void simt_fiber_switch(simt_fiber *from, simt_fiber *to);
/* The same for the last time: `from` is over. */
void simt_fiber_leave(simt_fiber *from, simt_fiber *to);

/* ---- memory.c -------------------------------------------------------------------------------- */

/* An access, and between which barriers it was. */
typedef struct simt_access {
    int block; /* in the launch, from 1; 0: no access yet */
    int thread;
    int round;         /* grid barriers before it */
    int interval;      /* of the block's barriers */
    int warp_interval; /* warp barriers passed */
    int arrived;       /* tz_adjacent_arrive before it */
    int waited;        /* tz_adjacent_wait before it */
    simt_place place;
} simt_access;

/* 4 bytes. Two readers suffice: an access that races with any reader races with one of them. */
typedef struct simt_cell {
    simt_access writer;
    simt_access reader[2];
} simt_cell;

/* Records `now`. Returns what it races with, and fills `other`. */
enum { SIMT_NO_RACE, SIMT_RACES_WITH_WRITER, SIMT_RACES_WITH_READER };
int simt_cell_read(simt_cell *cell, const simt_access *now, simt_access *other);
int simt_cell_write(simt_cell *cell, const simt_access *now, simt_access *other);

/* ---- words.c and simt.c ---------------------------------------------------------------------- */

enum { SIMT_WARP = 32, SIMT_BUFFERS_MAX = 80 };

/* What a lane is about. */
enum { SIMT_RUNS, SIMT_AT_WARP, SIMT_AT_BLOCK, SIMT_AT_GRID, SIMT_PAUSES, SIMT_IS_OVER };

/* Of shared memory, the smallest element that a lane may write beside others. */
enum { SIMT_CELL_BYTES = 4 };

typedef struct simt_block simt_block;

/* A copy that is under way. */
typedef struct simt_fetch {
    void *to;
    const void *from;
    int bytes, batch;
    simt_place place;
} simt_fetch;

typedef struct simt_lane {
    simt_lane_facts facts;
    simt_fiber fiber;
    simt_block *block;
    int state, word; /* the word that it waits in, or was in last */
    simt_place place;
    unsigned long long value; /* a shuffle's */
    int bytes, n;
    int warp_interval;   /* warp barriers passed */
    int arrived, waited; /* phases of barriers with adjacent warps */
    simt_fetch *fetches;
    int fetches_count, fetches_room, batch;
} simt_lane;

struct simt_block {
    simt_lane *lanes;
    unsigned char *shared;
    simt_cell *cells;    /* of shared memory, SIMT_CELL_BYTES each */
    int number;          /* from 1 */
    int round, interval; /* barriers passed: the grid's, its own */
};

/* Cells that launches use one after the other: zeros but for [low, high). */
typedef struct simt_cells {
    simt_cell *at;
    size_t count, low, high;
} simt_cells;

/* At least `count` of them; NULL: no memory. */
simt_cell *simt_cells_provide(simt_cells *cells, size_t count);

struct simt {
    const simt_entry *kernel;
    const simt_launch *launch;
    void **arguments;
    simt_report *report;
    const simt_lane_facts **now; /* the text's pointer to the lane that runs */
    simt_lane *running;          /* NULL: the scheduler runs */
    simt_fiber scheduler;
    bool failed;
    bool moved;           /* since paused lanes looked last, some lane did more than look */
    volatile int expired; /* times that the launch ran out of time */
    char *stacks;
    size_t stacks_count;
    simt_cells memory[SIMT_BUFFERS_MAX]; /* of each buffer, made when first touched */
    simt_cells shared;                   /* of the blocks that are live */
};

/* The machine whose launch runs: words are called without a context. */
extern simt *simt_here;
extern const simt_words simt_words_table;

/* Back to the scheduler for good: the launch cannot go on. On a lane's stack. */
__attribute__((noreturn)) void simt_give_up(void);

/* For messages: "thread 37 (warp 1, lane 5) of block 2,0,0", "waits at tz_barrier (tile.cuh:80)".
 */
typedef struct simt_text {
    char text[256];
} simt_text;
simt_text simt_lane_text(const simt_lane *lane);
simt_text simt_wait_text(const simt_lane *lane);
simt_text simt_place_text(simt_place place);

#endif
