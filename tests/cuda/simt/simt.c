#include "simt.h"

#include "fiber.h"
#include "memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    WARP = 32,
    THREADS_MAX = 1024,
    SHARED_BYTES_MAX = 227 << 10,
    SHARED_ALIGNED = 128,
    STACK_BYTES = 128 << 10,
    POISON = 0xa5
};

enum { RUNNABLE, AT_WARP, AT_BLOCK, AT_GRID, PAUSED, OVER };

struct block;

typedef struct lane {
    simt_lane_facts facts; /* first: the text holds a pointer to it */
    simt_fiber fiber;
    struct block *block;
    int state, word; /* where it waits, and with what word */
    simt_place place;
    unsigned long long value; /* a shuffle's */
    int bytes, n;
    int turn; /* warp barriers passed */
} lane;

typedef struct block {
    lane *lanes;
    unsigned char *shared;
    simt_cell *cells; /* of shared memory */
    int number;       /* from 1 */
    int round, interval;
} block;

struct simt {
    const simt_entry *kernel;
    const simt_launch *launch;
    void **arguments;
    simt_report *report;
    const simt_lane_facts **now; /* the text's pointer to the lane that runs */
    lane *running;
    simt_fiber scheduler;
    bool failed;
    bool moved; /* since all were paused last, a lane did more than look and pause */
    char *stacks;
    size_t stacks_count;
    simt_cell *memory[64]; /* of each buffer, made when first touched */
};

/* The words are called without a context. */
static simt *here;

/* ---- Findings ---------------------------------------------------------------------------------
 */

const char *simt_finding_text(simt_finding finding)
{
    static const char *const texts[] = {
#define SIMT_FINDING_TEXT(name, text) text,
        SIMT_FINDINGS(SIMT_FINDING_TEXT)
#undef SIMT_FINDING_TEXT
    };
    return texts[finding];
}

void simt_report_add(simt_report *report, simt_finding finding, const char *format, ...)
{
    report->count[finding]++;
    if (report->messages == SIMT_MESSAGES)
        return;
    char *at = report->message[report->messages++];
    const int used = snprintf(at, SIMT_MESSAGE_SIZE, "%s: ", simt_finding_text(finding));
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(at + used, SIMT_MESSAGE_SIZE - (size_t)used, format, arguments);
    va_end(arguments);
}

long long simt_report_total(const simt_report *report)
{
    long long total = 0;
    for (int f = 0; f < SIMT_FINDINGS_COUNT; f++)
        total += report->count[f];
    return total;
}

static const char *word_text(int word)
{
    switch (word) {
    case SIMT_SHUFFLE_UP:
        return "tz_shuffle_up";
    case SIMT_SHUFFLE_DOWN:
        return "tz_shuffle_down";
    case SIMT_SHUFFLE_XOR:
        return "tz_shuffle_xor";
    case SIMT_SHUFFLE:
        return "tz_shuffle";
    case SIMT_BARRIER:
        return "tz_barrier";
    case SIMT_BARRIER_WARP:
        return "tz_barrier_warp";
    case SIMT_PAUSE:
        return "tz_pause";
    default:
        return "tz_grid_barrier";
    }
}

/* "thread 37 (warp 1, lane 5) of block 2,0,0" */
typedef char lane_text[80];
static const char *name_thread(int number, int thread, lane_text text)
{
    const int *grid = here->launch->grid;
    number--;
    snprintf(text, sizeof(lane_text), "thread %d (warp %d, lane %d) of block %d,%d,%d", thread,
             thread / WARP, thread % WARP, number % grid[0], number / grid[0] % grid[1],
             number / grid[0] / grid[1]);
    return text;
}

static const char *name_lane(const lane *l, lane_text text)
{
    return name_thread(l->block->number, l->facts.thread, text);
}

/* What a lane is doing, in words. */
typedef char wait_text[240];
static const char *name_wait(const lane *l, wait_text text)
{
    if (l->state == OVER)
        snprintf(text, sizeof(wait_text), "has ended");
    else
        snprintf(text, sizeof(wait_text), "waits at %s of %d bytes (%s:%d)", word_text(l->word),
                 l->bytes, l->place.file, l->place.line);
    if (l->state != OVER && l->word >= SIMT_BARRIER)
        snprintf(text, sizeof(wait_text), "waits at %s (%s:%d)", word_text(l->word), l->place.file,
                 l->place.line);
    return text;
}

/* Back to the scheduler, never to return: the launch cannot go on. */
__attribute__((noreturn)) static void give_up(void)
{
    here->failed = true;
    simt_fiber_leave(&here->running->fiber, &here->scheduler);
    abort();
}

/* ---- Words that wait --------------------------------------------------------------------------
 */

static void wait_at(lane *l, int state, int word, simt_place place)
{
    l->state = state;
    l->word = word;
    l->place = place;
    simt_fiber_switch(&l->fiber, &here->scheduler);
}

static unsigned long long word_shuffle(int word, unsigned long long value, int bytes, int n,
                                       simt_place place)
{
    lane *l = here->running;
    if (word != SIMT_SHUFFLE && (n < 0 || n >= WARP)) {
        lane_text who;
        simt_report_add(here->report, SIMT_FOUND_LANES, "%s by %d lanes at %s:%d: %s",
                        word_text(word), n, place.file, place.line, name_lane(l, who));
        give_up();
    }
    l->value = value;
    l->bytes = bytes;
    l->n = n;
    wait_at(l, AT_WARP, word, place);
    return l->value;
}

static void word_barrier(int word, simt_place place)
{
    lane *l = here->running;
    l->bytes = 0;
    wait_at(l, word == SIMT_BARRIER_WARP ? AT_WARP : AT_BLOCK, word, place);
}

static void word_grid_barrier(unsigned int *barrier, simt_place place)
{
    lane *l = here->running;
    lane_text who;
    bool known = false;
    for (int b = 0; b < here->launch->buffers_count; b++) {
        const simt_buffer *buffer = &here->launch->buffers[b];
        known = known || (buffer->writable && (char *)barrier >= (char *)buffer->at &&
                          (char *)(barrier + 1) <= (char *)buffer->at + buffer->bytes);
    }
    if (!here->launch->cooperative || !known) {
        simt_report_add(here->report, known ? SIMT_FOUND_LAUNCH : SIMT_FOUND_ADDRESS,
                        known ? "%s at %s:%d in a launch that is not cooperative: %s"
                              : "%s at %s:%d with a word in no buffer: %s",
                        word_text(SIMT_BARRIER_GRID), place.file, place.line, name_lane(l, who));
        give_up();
    }
    /* The word ends as the GPU's does. */
    if (l->facts.thread == 0 && l->block->number == 1)
        *barrier += 0x80000000u;
    l->bytes = 0;
    wait_at(l, AT_GRID, SIMT_BARRIER_GRID, place);
}

static void word_pause(simt_place place)
{
    lane *l = here->running;
    l->bytes = 0;
    wait_at(l, PAUSED, SIMT_PAUSE, place);
}

/* ---- Words that touch memory ------------------------------------------------------------------
 */

static simt_access access_now(simt_place place)
{
    const lane *l = here->running;
    return (simt_access){l->block->number,   l->facts.thread, l->block->round,
                         l->block->interval, l->turn,         place};
}

static void report_race(const char *where, size_t offset, const simt_access *other,
                        const simt_access *now, bool other_writes, bool writes)
{
    lane_text first, second;
    simt_report_add(here->report, SIMT_FOUND_RACE,
                    "byte %zu of %s, after barrier %d: %s %s it at %s:%d, %s %s it at %s:%d",
                    offset, where, now->interval + now->round,
                    name_thread(other->block, other->thread, first),
                    other_writes ? "writes" : "reads", other->place.file, other->place.line,
                    name_thread(now->block, now->thread, second), writes ? "writes" : "reads",
                    now->place.file, now->place.line);
}

static void touch(simt_cell *cell, const char *where, size_t offset, bool writes,
                  const simt_access *now)
{
    simt_access other;
    const int found =
        writes ? simt_cell_write(cell, now, &other) : simt_cell_read(cell, now, &other);
    if (found)
        report_race(where, offset, &other, now, found == SIMT_RACES_WITH_WRITER, writes);
}

static void bad_address(const char *what, const char *where, long long offset, int bytes,
                        simt_place place)
{
    lane_text who;
    simt_report_add(here->report, SIMT_FOUND_ADDRESS,
                    "%s of %d bytes at byte %lld of %s at %s:%d: %s", what, bytes, offset, where,
                    place.file, place.line, name_lane(here->running, who));
    give_up();
}

static const char *access_text(int access)
{
    return access == SIMT_WRITE ? "write" : access == SIMT_ATOMIC ? "atomic" : "read";
}

static void word_shared(int access, const void *at, int bytes, int aligned, simt_place place)
{
    const lane *l = here->running;
    const long long offset = (const unsigned char *)at - l->block->shared;
    if (offset < 0 || offset + bytes > here->launch->shared_bytes)
        bad_address(access_text(access), "shared memory", offset, bytes, place);
    if (offset % aligned != 0)
        bad_address("unaligned access", "shared memory", offset, bytes, place);
    const simt_access now = access_now(place);
    for (long long b = offset / 4 * 4; b < offset + bytes; b += 4) {
        simt_cell *cell = &l->block->cells[b / 4];
        if (access != SIMT_WRITE && !cell->writer.block) {
            lane_text who;
            simt_report_add(here->report, SIMT_FOUND_UNWRITTEN,
                            "byte %lld of shared memory, after barrier %d: %s reads it at %s:%d", b,
                            l->block->interval, name_lane(l, who), place.file, place.line);
        }
        if (access != SIMT_ATOMIC)
            touch(cell, "shared memory", (size_t)b, access == SIMT_WRITE, &now);
    }
}

static void word_memory(int access, const void *at, int bytes, int aligned, const void *value,
                        simt_place place)
{
    const simt_launch *launch = here->launch;
    const lane *l = here->running;
    const unsigned char *shared = l->block->shared;
    int b = 0;
    if ((const unsigned char *)at >= shared &&
        (const unsigned char *)at < shared + launch->shared_bytes) {
        word_shared(access, at, bytes, aligned, place);
        return;
    }
    while (
        b < launch->buffers_count &&
        ((const char *)at < (const char *)launch->buffers[b].at ||
         (const char *)at + bytes > (const char *)launch->buffers[b].at + launch->buffers[b].bytes))
        b++;
    if (b == launch->buffers_count) {
        /* Name the nearest buffer that it is not in. */
        long long best = 0, away = -1;
        for (int i = 0; i < launch->buffers_count; i++) {
            const long long offset = (const char *)at - (const char *)launch->buffers[i].at;
            const long long distance =
                offset < 0 ? -offset : offset - (long long)launch->buffers[i].bytes;
            if (away < 0 || distance < away) {
                away = distance;
                best = offset;
                b = i;
            }
        }
        bad_address(access_text(access), away < 0 ? "no buffer" : launch->buffers[b].name, best,
                    bytes, place);
    }
    const simt_buffer *buffer = &launch->buffers[b];
    const size_t offset = (size_t)((const char *)at - (const char *)buffer->at);
    if (offset % (size_t)aligned != 0)
        bad_address("unaligned access", buffer->name, (long long)offset, bytes, place);
    if (!buffer->writable && (access == SIMT_WRITE || access == SIMT_ATOMIC))
        bad_address("write", buffer->name, (long long)offset, bytes, place);
    if (access == SIMT_ATOMIC)
        return;
    if (!here->memory[b])
        here->memory[b] = calloc((buffer->bytes + 3) / 4, sizeof(simt_cell));
    if (!here->memory[b])
        return;
    const simt_access now = access_now(place);
    for (int i = 0; i < bytes; i += 4) {
        simt_cell *cell = &here->memory[b][(offset + (size_t)i) / 4];
        if (access == SIMT_WRITE && memcmp((const char *)at + i, (const char *)value + i, 4) == 0 &&
            cell->writer.block)
            continue;
        if (access == SIMT_READ && cell->writer.block && cell->writer.block != now.block &&
            cell->writer.round != now.round) {
            lane_text first, second;
            simt_report_add(here->report, SIMT_FOUND_STALE,
                            "byte %zu of %s: %s wrote it at %s:%d, %s reads it at %s:%d",
                            offset + (size_t)i, buffer->name,
                            name_thread(cell->writer.block, cell->writer.thread, first),
                            cell->writer.place.file, cell->writer.place.line, name_lane(l, second),
                            place.file, place.line);
        }
        touch(cell, buffer->name, offset + (size_t)i, access == SIMT_WRITE, &now);
    }
}

static const simt_words words = {
    word_shuffle, word_barrier, word_grid_barrier, word_pause, word_shared, word_memory,
};

/* ---- Scheduling -------------------------------------------------------------------------------
 */

static void run_lane(void *any)
{
    lane *l = any;
    here->kernel->call(here->arguments);
    l->state = OVER;
    simt_fiber_leave(&l->fiber, &here->scheduler);
}

static bool same_wait(const lane *a, const lane *b)
{
    return a->state == b->state && a->word == b->word && a->bytes == b->bytes &&
           a->place.line == b->place.line && strcmp(a->place.file, b->place.file) == 0;
}

/* What shfl.sync does for a whole warp: see the PTX manual. */
static void exchange(lane *warp)
{
    unsigned long long result[WARP];
    for (int i = 0; i < WARP; i++) {
        const int n = warp[i].n;
        int from = i;
        if (warp[i].word == SIMT_SHUFFLE_UP)
            from = i - n;
        else if (warp[i].word == SIMT_SHUFFLE_DOWN)
            from = i + n;
        else if (warp[i].word == SIMT_SHUFFLE_XOR)
            from = i ^ n;
        else
            from = n & (WARP - 1);
        result[i] = warp[from >= 0 && from < WARP ? from : i].value;
    }
    for (int i = 0; i < WARP; i++)
        warp[i].value = result[i];
}

/* Until all its lanes wait for other warps or are over. */
static bool run_warp(simt *machine, lane *warp)
{
    for (;;) {
        for (int i = 0; i < WARP; i++) {
            lane *l = &warp[machine->launch->backwards ? WARP - 1 - i : i];
            if (l->state != RUNNABLE)
                continue;
            const bool paused = l->word == SIMT_PAUSE;
            machine->running = l;
            *machine->now = &l->facts;
            simt_fiber_switch(&machine->scheduler, &l->fiber);
            if (machine->failed)
                return false;
            machine->moved = machine->moved || !paused || l->state != PAUSED;
        }
        const lane *waits = NULL, *other = NULL;
        bool paused = false;
        for (int i = 0; i < WARP && !waits; i++)
            if (warp[i].state == AT_WARP)
                waits = &warp[i];
        for (int i = 0; i < WARP; i++)
            paused = paused || warp[i].state == PAUSED;
        if (!waits || paused)
            return true;
        for (int i = 0; i < WARP && !other; i++)
            if (!same_wait(waits, &warp[i]))
                other = &warp[i];
        if (other) {
            lane_text first, second;
            wait_text first_waits, second_waits;
            simt_report_add(machine->report, SIMT_FOUND_LANES, "%s %s, %s %s",
                            name_lane(waits, first), name_wait(waits, first_waits),
                            name_lane(other, second), name_wait(other, second_waits));
            return false;
        }
        if (waits->word != SIMT_BARRIER_WARP)
            exchange(warp);
        for (int i = 0; i < WARP; i++) {
            warp[i].turn += warp[i].word == SIMT_BARRIER_WARP;
            warp[i].state = RUNNABLE;
        }
    }
}

/* True when all lanes are in the state; a finding when only some wait. */
static bool all_at(simt *machine, const block *blocks, int count, int state)
{
    const int threads = machine->launch->threads;
    const lane *at = NULL, *other = NULL;
    for (int b = 0; b < count; b++)
        for (int t = 0; t < threads; t++)
            if (!at && blocks[b].lanes[t].state == state)
                at = &blocks[b].lanes[t];
    for (int b = 0; b < count && at; b++)
        for (int t = 0; t < threads; t++) {
            const lane *l = &blocks[b].lanes[t];
            if (!other && (l->state != state || (state != OVER && !same_wait(at, l))))
                other = l;
        }
    if (at && other && state != OVER) {
        lane_text first, second;
        wait_text first_waits, second_waits;
        simt_report_add(machine->report, SIMT_FOUND_BARRIER, "%s %s, %s %s", name_lane(at, first),
                        name_wait(at, first_waits), name_lane(other, second),
                        name_wait(other, second_waits));
        machine->failed = true;
    }
    return at && !other;
}

static void release(simt *machine, block *b)
{
    for (int t = 0; t < machine->launch->threads; t++)
        b->lanes[t].state = RUNNABLE;
}

static bool any_paused(const simt *machine, const block *b)
{
    for (int t = 0; t < machine->launch->threads; t++)
        if (b->lanes[t].state == PAUSED)
            return true;
    return false;
}

/* Lets lanes that paused look again; not when nobody has done anything since they looked. */
static bool resume(simt *machine, block *blocks, int count)
{
    for (int b = 0; b < count; b++)
        for (int t = 0; t < machine->launch->threads; t++) {
            lane *l = &blocks[b].lanes[t];
            lane_text who;
            wait_text waits;
            if (l->state != PAUSED)
                continue;
            if (!machine->moved) {
                simt_report_add(machine->report, SIMT_FOUND_BARRIER, "%s %s for what nobody sends",
                                name_lane(l, who), name_wait(l, waits));
                return false;
            }
            l->state = RUNNABLE;
        }
    machine->moved = false;
    return true;
}

/* Until all threads are over or at a barrier of the grid, or one pauses. */
static bool run_block(simt *machine, block *b)
{
    const int warps = machine->launch->threads / WARP;
    for (;;) {
        for (int w = 0; w < warps; w++)
            if (!run_warp(machine,
                          b->lanes + WARP * (machine->launch->backwards ? warps - 1 - w : w)))
                return false;
        if (any_paused(machine, b) || !all_at(machine, b, 1, AT_BLOCK))
            return !machine->failed;
        b->interval++;
        release(machine, b);
    }
}

static bool run_blocks(simt *machine, block *blocks, int count)
{
    for (;;) {
        for (int i = 0; i < count; i++)
            if (!run_block(machine, &blocks[machine->launch->backwards ? count - 1 - i : i]))
                return false;
        bool paused = false;
        for (int i = 0; i < count && !paused; i++)
            paused = any_paused(machine, &blocks[i]);
        if (paused) {
            if (!resume(machine, blocks, count))
                return false;
            continue;
        }
        if (!all_at(machine, blocks, count, AT_GRID))
            return !machine->failed;
        for (int i = 0; i < count; i++) {
            blocks[i].round++;
            release(machine, &blocks[i]);
        }
    }
}

static void begin_block(simt *machine, block *b, int number, char *stacks)
{
    const simt_launch *launch = machine->launch;
    lane *lanes = b->lanes;
    const size_t cells = ((size_t)launch->shared_bytes + 3) / 4;
    memset(b->shared, POISON, (size_t)launch->shared_bytes);
    memset(b->cells, 0, cells * sizeof *b->cells);
    b->number = number + 1;
    b->round = b->interval = 0;
    memset(lanes, 0, sizeof *lanes * (size_t)launch->threads);
    for (int t = 0; t < launch->threads; t++) {
        lane *l = &lanes[t];
        l->facts = (simt_lane_facts){
            .thread = t,
            .lane = t % WARP,
            .warp = t / WARP,
            .threads = launch->threads,
            .block = {number % launch->grid[0], number / launch->grid[0] % launch->grid[1],
                      number / launch->grid[0] / launch->grid[1]},
            .blocks = {launch->grid[0], launch->grid[1], launch->grid[2]},
            .shared = b->shared,
        };
        l->block = b;
        simt_fiber_prepare(&l->fiber, stacks + (size_t)t * 2 * STACK_BYTES + STACK_BYTES,
                           STACK_BYTES, run_lane, l);
    }
}

/* ---- Launches ---------------------------------------------------------------------------------
 */

static bool check_launch(const simt_entry *kernel, const simt_launch *launch, simt_report *report)
{
    const long long before = simt_report_total(report);
    for (int d = 0; d < 3; d++)
        if (launch->grid[d] < 1 || (d > 0 && launch->grid[d] > 65535))
            simt_report_add(report, SIMT_FOUND_LAUNCH, "a grid of %d blocks along axis %d",
                            launch->grid[d], d + 1);
    if (launch->threads < WARP || launch->threads % WARP != 0 || launch->threads > THREADS_MAX)
        simt_report_add(report, SIMT_FOUND_LAUNCH,
                        "blocks of %d threads are not whole warps, 1 to 32", launch->threads);
    if (launch->threads > kernel->threads)
        simt_report_add(report, SIMT_FOUND_LAUNCH, "blocks of %d threads, compiled for %d",
                        launch->threads, kernel->threads);
    if (launch->shared_bytes < 0 || launch->shared_bytes > SHARED_BYTES_MAX)
        simt_report_add(report, SIMT_FOUND_LAUNCH, "%d bytes of shared memory",
                        launch->shared_bytes);
    if (launch->buffers_count > 64)
        simt_report_add(report, SIMT_FOUND_LAUNCH, "%d buffers are more than 64",
                        launch->buffers_count);
    return simt_report_total(report) == before;
}

/* Stacks with room below each that faults when touched. */
static bool provide_stacks(simt *machine, size_t count)
{
    if (machine->stacks_count >= count)
        return true;
    if (machine->stacks)
        munmap(machine->stacks, machine->stacks_count * 2 * STACK_BYTES);
    machine->stacks_count = 0;
    machine->stacks = mmap(NULL, count * 2 * STACK_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (machine->stacks == MAP_FAILED) {
        machine->stacks = NULL;
        return false;
    }
    for (size_t i = 0; i < count; i++)
        mprotect(machine->stacks + i * 2 * STACK_BYTES, STACK_BYTES, PROT_NONE);
    machine->stacks_count = count;
    return true;
}

bool simt_run(simt *machine, const simt_entry *kernel, const simt_launch *launch, void **arguments,
              simt_report *report)
{
    if (!check_launch(kernel, launch, report))
        return false;
    const int blocks = launch->grid[0] * launch->grid[1] * launch->grid[2];
    const int live = launch->cooperative ? blocks : 1;
    const size_t threads = (size_t)launch->threads;
    const size_t room =
        ((size_t)launch->shared_bytes + SHARED_ALIGNED) / SHARED_ALIGNED * SHARED_ALIGNED;
    block *at = calloc((size_t)live, sizeof *at);
    lane *lanes = calloc((size_t)live * threads, sizeof *lanes);
    unsigned char *shared = aligned_alloc(SHARED_ALIGNED, (size_t)live * room);
    simt_cell *cells = malloc((size_t)live * (room / 4) * sizeof *cells);
    bool whole = false;
    if (!at || !lanes || !shared || !cells || !provide_stacks(machine, (size_t)live * threads)) {
        simt_report_add(report, SIMT_FOUND_LAUNCH, "not enough memory for %d blocks", live);
        goto done;
    }
    for (int i = 0; i < live; i++) {
        at[i].lanes = lanes + (size_t)i * threads;
        at[i].shared = shared + (size_t)i * room;
        at[i].cells = cells + (size_t)i * (room / 4);
    }
    here = machine;
    machine->kernel = kernel;
    machine->launch = launch;
    machine->arguments = arguments;
    machine->report = report;
    machine->failed = false;
    kernel->attach(&words, &machine->now);
    whole = true;
    for (int first = 0; first < blocks && whole; first += live) {
        const int number = launch->backwards ? blocks - live - first : first;
        for (int i = 0; i < live; i++)
            begin_block(machine, &at[i], number + i,
                        machine->stacks + (size_t)i * threads * 2 * STACK_BYTES);
        whole = run_blocks(machine, at, live);
    }
done:
    for (int b = 0; b < 64; b++) {
        free(machine->memory[b]);
        machine->memory[b] = NULL;
    }
    free(cells);
    free(shared);
    free(lanes);
    free(at);
    return whole;
}

simt *simt_create(void)
{
    return calloc(1, sizeof(simt));
}

void simt_destroy(simt *machine)
{
    if (!machine)
        return;
    if (machine->stacks)
        munmap(machine->stacks, machine->stacks_count * 2 * STACK_BYTES);
    free(machine);
}
