/* Launches: blocks, warps and lanes run one after the other. */
#include "simt.h"

#include "machine.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

enum {
    THREADS_MAX = 1024,
    SHARED_BYTES_MAX = 227 << 10,
    SHARED_ALIGNED = 128,
    STACK_BYTES = 128 << 10,
    STACK_STRIDE = 2 * STACK_BYTES, /* a guard of the same size lies below each stack: */
    STACKS_GUARDED = 8192,          /* more would exceed the limit of memory mappings */
    TRAP_STACK_BYTES = 64 << 10,
    LAUNCH_SECONDS = 60, /* of processor time; far above any test */
    POISON = 0xa5
};

/* ---- Warps ----------------------------------------------------------------------------------- */

static void run_lane(void *any)
{
    simt_lane *l = any;
    simt_here->kernel->call(simt_here->arguments);
    l->state = SIMT_IS_OVER;
    simt_fiber_leave(&l->fiber, &simt_here->scheduler);
}

static bool same_wait(const simt_lane *a, const simt_lane *b)
{
    return a->state == b->state && a->word == b->word && a->bytes == b->bytes &&
           a->place.line == b->place.line &&
           (a->place.file == b->place.file || strcmp(a->place.file, b->place.file) == 0);
}

/* What shfl.sync does for a whole warp (PTX ISA, 9.7.9.6): a source out of range is the
 * lane itself. */
static void exchange(simt_lane *warp)
{
    unsigned long long result[SIMT_WARP];
    for (int i = 0; i < SIMT_WARP; i++) {
        const int n = warp[i].n;
        int from = n & (SIMT_WARP - 1);
        if (warp[i].word == SIMT_SHUFFLE_UP)
            from = i - n;
        else if (warp[i].word == SIMT_SHUFFLE_DOWN)
            from = i + n;
        else if (warp[i].word == SIMT_SHUFFLE_XOR)
            from = i ^ n;
        result[i] = warp[from >= 0 && from < SIMT_WARP ? from : i].value;
    }
    for (int i = 0; i < SIMT_WARP; i++)
        warp[i].value = result[i];
}

static bool run_lanes(simt *machine, simt_lane *warp)
{
    for (int i = 0; i < SIMT_WARP; i++) {
        simt_lane *l = &warp[machine->launch->backwards ? SIMT_WARP - 1 - i : i];
        if (l->state != SIMT_RUNS)
            continue;
        machine->running = l;
        *machine->now = &l->facts;
        simt_fiber_switch(&machine->scheduler, &l->fiber);
        machine->running = NULL;
        if (machine->failed)
            return false;
    }
    return true;
}

static void report_pair(simt *machine, simt_finding finding, const simt_lane *a, const simt_lane *b)
{
    simt_report_add(machine->report, finding, "%s %s, %s %s", simt_lane_text(a).text,
                    simt_wait_text(a).text, simt_lane_text(b).text, simt_wait_text(b).text);
    machine->failed = true;
}

/* Runs until all lanes wait for other warps or have ended, or one pauses. */
static bool run_warp(simt *machine, simt_lane *warp)
{
    while (run_lanes(machine, warp)) {
        const simt_lane *waits = NULL;
        for (int i = 0; i < SIMT_WARP; i++) {
            if (warp[i].state == SIMT_PAUSES)
                return true;
            if (warp[i].state == SIMT_AT_WARP && !waits)
                waits = &warp[i];
        }
        if (!waits)
            return true;
        for (int i = 0; i < SIMT_WARP; i++)
            if (!same_wait(waits, &warp[i])) {
                report_pair(machine, SIMT_FOUND_LANES, waits, &warp[i]);
                return false;
            }
        const bool barrier =
            waits->word == SIMT_BARRIER_WARP || waits->word == SIMT_ADJACENT_ARRIVE;
        if (!barrier)
            exchange(warp);
        for (int i = 0; i < SIMT_WARP; i++) {
            warp[i].warp_interval += barrier;
            warp[i].state = SIMT_RUNS;
        }
    }
    return false;
}

/* ---- Blocks and grids ------------------------------------------------------------------------ */

/* Do all lanes wait at the same barrier of that kind? Only some: a finding. */
static bool all_wait(simt *machine, const simt_block *blocks, int count, int state)
{
    const int threads = machine->launch->threads;
    const simt_lane *waits = NULL;
    for (int i = 0; i < count * threads && !waits; i++)
        if (blocks[i / threads].lanes[i % threads].state == state)
            waits = &blocks[i / threads].lanes[i % threads];
    for (int i = 0; i < count * threads && waits; i++) {
        const simt_lane *l = &blocks[i / threads].lanes[i % threads];
        if (!same_wait(waits, l)) {
            report_pair(machine, SIMT_FOUND_BARRIER, waits, l);
            return false;
        }
    }
    return waits != NULL;
}

static void release(simt *machine, simt_block *b)
{
    for (int t = 0; t < machine->launch->threads; t++)
        b->lanes[t].state = SIMT_RUNS;
}

static const simt_lane *find_paused(const simt *machine, const simt_block *blocks, int count)
{
    const int threads = machine->launch->threads;
    for (int i = 0; i < count * threads; i++)
        if (blocks[i / threads].lanes[i % threads].state == SIMT_PAUSES)
            return &blocks[i / threads].lanes[i % threads];
    return NULL;
}

/* Runs until all threads have ended or wait at a barrier of the grid, or one pauses. */
static bool run_block(simt *machine, simt_block *b)
{
    const int warps = machine->launch->threads / SIMT_WARP;
    for (;;) {
        for (int w = 0; w < warps; w++) {
            const int warp = machine->launch->backwards ? warps - 1 - w : w;
            if (!run_warp(machine, b->lanes + SIMT_WARP * warp))
                return false;
        }
        if (find_paused(machine, b, 1) || !all_wait(machine, b, 1, SIMT_AT_BLOCK))
            return !machine->failed;
        b->interval += b->lanes[0].word == SIMT_BARRIER;
        release(machine, b);
    }
}

static void resume_lanes(simt *machine, simt_block *blocks, int count)
{
    const int threads = machine->launch->threads;
    for (int i = 0; i < count * threads; i++) {
        simt_lane *l = &blocks[i / threads].lanes[i % threads];
        if (l->state == SIMT_PAUSES)
            l->state = SIMT_RUNS;
    }
}

/* Forwards a block goes on as far as it can before another one does: it is as early as it may be
 * with what it writes for others. */
static bool run_ahead(simt *machine, simt_block *b)
{
    bool moved = machine->moved, good = run_block(machine, b);
    while (good && !machine->launch->backwards && find_paused(machine, b, 1)) {
        moved = moved || machine->moved;
        machine->moved = false;
        resume_lanes(machine, b, 1);
        good = run_block(machine, b);
        if (!machine->moved)
            break;
    }
    machine->moved = machine->moved || moved;
    return good;
}

/* Resumes paused lanes, unless no lane has done anything since. */
static bool resume(simt *machine, simt_block *blocks, int count, const simt_lane *paused)
{
    if (!machine->moved) {
        simt_report_add(machine->report, SIMT_FOUND_BARRIER, "%s %s, and no other lane goes on",
                        simt_lane_text(paused).text, simt_wait_text(paused).text);
        return false;
    }
    machine->moved = false;
    resume_lanes(machine, blocks, count);
    return true;
}

static bool run_blocks(simt *machine, simt_block *blocks, int count)
{
    for (;;) {
        for (int i = 0; i < count; i++)
            if (!run_ahead(machine, &blocks[machine->launch->backwards ? count - 1 - i : i]))
                return false;
        const simt_lane *paused = find_paused(machine, blocks, count);
        if (paused) {
            if (!resume(machine, blocks, count, paused))
                return false;
            continue;
        }
        if (!all_wait(machine, blocks, count, SIMT_AT_GRID))
            return !machine->failed;
        for (int i = 0; i < count; i++) {
            blocks[i].round++;
            release(machine, &blocks[i]);
        }
    }
}

static void begin_block(simt *machine, simt_block *b, int number, char *stacks)
{
    const simt_launch *launch = machine->launch;
    const int *grid = launch->grid;
    memset(b->shared, POISON, (size_t)launch->shared_bytes);
    if (b->number > 0) /* cells are zero before their first block */
        memset(b->cells, 0,
               ((size_t)launch->shared_bytes + SIMT_CELL_BYTES - 1) / SIMT_CELL_BYTES *
                   sizeof *b->cells);
    memset(b->lanes, 0, (size_t)launch->threads * sizeof *b->lanes);
    b->number = number + 1;
    b->round = b->interval = 0;
    for (int t = 0; t < launch->threads; t++) {
        simt_lane *l = &b->lanes[t];
        l->facts = (simt_lane_facts){
            .thread = t,
            .lane = t % SIMT_WARP,
            .warp = t / SIMT_WARP,
            .threads = launch->threads,
            .block = {number % grid[0], number / grid[0] % grid[1], number / grid[0] / grid[1]},
            .blocks = {grid[0], grid[1], grid[2]},
            .shared = b->shared,
        };
        l->block = b;
        simt_fiber_prepare(&l->fiber, stacks + (size_t)t * STACK_STRIDE + STACK_BYTES, STACK_BYTES,
                           run_lane, l);
    }
}

/* ---- Traps: a lane that the processor stops -------------------------------------------------- */

static void report_fault(simt *machine, const char *at)
{
    const simt_lane *l = machine->running;
    const char *end = machine->stacks + machine->stacks_count * STACK_STRIDE;
    const simt_buffer *nearest = NULL;
    long long offset = 0;
    if (at >= machine->stacks && at < end) {
        simt_report_add(machine->report, SIMT_FOUND_ADDRESS,
                        "the stack is full, after the word at %s: %s",
                        simt_place_text(l->place).text, simt_lane_text(l).text);
        return;
    }
    for (int b = 0; b < machine->launch->buffers_count; b++) {
        const simt_buffer *buffer = &machine->launch->buffers[b];
        const long long away = at - (const char *)buffer->at;
        if (!nearest || llabs(away) < llabs(offset)) {
            nearest = buffer;
            offset = away;
        }
    }
    simt_report_add(machine->report, SIMT_FOUND_ADDRESS,
                    "a pointer to nowhere, byte %lld of %s, after the word at %s: %s", offset,
                    nearest ? nearest->name : "no buffer", simt_place_text(l->place).text,
                    simt_lane_text(l).text);
}

static void trap(int number, siginfo_t *info, void *context)
{
    simt *machine = simt_here;
    if (number == SIGVTALRM && ++machine->expired == 1)
        return; /* the next word stops the lane; a loop without words stops here, the second time */
    if (!machine->running) {
        if (number != SIGVTALRM)
            signal(number,
                   SIG_DFL); /* a fault of the machine itself repeats and ends the process */
        return;
    }
    const simt_lane *l = machine->running;
    if (number == SIGVTALRM || number == SIGFPE)
        simt_report_add(machine->report, SIMT_FOUND_STOPPED, "%s, after the word at %s: %s",
                        number == SIGFPE ? "a division by zero" : "no end in sight",
                        simt_place_text(l->place).text, simt_lane_text(l).text);
    else
        report_fault(machine, info->si_addr);
    simt_give_up();
}

static const int trap_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGVTALRM};
enum { TRAPS = sizeof trap_signals / sizeof *trap_signals };

typedef struct traps {
    stack_t stack;
    struct sigaction actions[TRAPS];
} traps;

static void traps_set(traps *old, void *stack)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    const stack_t own = {.ss_sp = stack, .ss_size = TRAP_STACK_BYTES};
    const struct itimerval limit = {{1, 0}, {LAUNCH_SECONDS, 0}};
    action.sa_sigaction = trap;
    sigemptyset(&action.sa_mask);
    sigaltstack(&own, &old->stack);
    for (int i = 0; i < TRAPS; i++)
        sigaction(trap_signals[i], &action, &old->actions[i]);
    setitimer(ITIMER_VIRTUAL, &limit, NULL);
}

static void traps_restore(const traps *old)
{
    const struct itimerval none = {{0, 0}, {0, 0}};
    setitimer(ITIMER_VIRTUAL, &none, NULL);
    for (int i = 0; i < TRAPS; i++)
        sigaction(trap_signals[i], &old->actions[i], NULL);
    sigaltstack(&old->stack, NULL);
}

/* ---- Launches -------------------------------------------------------------------------------- */

static bool check_launch(const simt_entry *kernel, const simt_launch *launch, simt_report *report)
{
    const long long before = simt_report_total(report);
    for (int d = 0; d < 3; d++)
        if (launch->grid[d] < 1 || (d > 0 && launch->grid[d] > 65535))
            simt_report_add(report, SIMT_FOUND_LAUNCH, "a grid of %d blocks along axis %d",
                            launch->grid[d], d + 1);
    if (launch->threads < SIMT_WARP || launch->threads % SIMT_WARP != 0 ||
        launch->threads > THREADS_MAX)
        simt_report_add(report, SIMT_FOUND_LAUNCH,
                        "blocks of %d threads: they have 1 to 32 whole warps", launch->threads);
    if (launch->threads > kernel->threads)
        simt_report_add(report, SIMT_FOUND_LAUNCH, "blocks of %d threads, compiled for %d",
                        launch->threads, kernel->threads);
    if (launch->shared_bytes < 0 || launch->shared_bytes > SHARED_BYTES_MAX)
        simt_report_add(report, SIMT_FOUND_LAUNCH, "%d bytes of shared memory",
                        launch->shared_bytes);
    if (launch->buffers_count > SIMT_BUFFERS_MAX)
        simt_report_add(report, SIMT_FOUND_LAUNCH, "%d buffers are more than %d",
                        launch->buffers_count, SIMT_BUFFERS_MAX);
    return simt_report_total(report) == before;
}

static bool provide_stacks(simt *machine, size_t count)
{
    if (machine->stacks_count >= count)
        return true;
    if (machine->stacks)
        munmap(machine->stacks, machine->stacks_count * STACK_STRIDE);
    machine->stacks_count = 0;
    machine->stacks = mmap(NULL, count * STACK_STRIDE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (machine->stacks == MAP_FAILED) {
        machine->stacks = NULL;
        return false;
    }
    for (size_t i = 0; i < count && count <= STACKS_GUARDED; i++)
        mprotect(machine->stacks + i * STACK_STRIDE, STACK_BYTES, PROT_NONE);
    machine->stacks_count = count;
    return true;
}

simt_cell *simt_cells_provide(simt_cells *cells, size_t count)
{
    if (cells->count >= count)
        return cells->at;
    free(cells->at);
    cells->at = calloc(count, sizeof *cells->at);
    cells->count = cells->at ? count : 0;
    cells->low = cells->count;
    cells->high = 0;
    return cells->at;
}

static void clear_cells(simt_cells *cells)
{
    if (cells->low < cells->high)
        memset(cells->at + cells->low, 0, (cells->high - cells->low) * sizeof *cells->at);
    cells->low = cells->count;
    cells->high = 0;
}

/* Launches in order of blocks, `live` of them at a time. */
static bool run_grid(simt *machine, simt_block *at, int live)
{
    const simt_launch *launch = machine->launch;
    const int blocks = launch->grid[0] * launch->grid[1] * launch->grid[2];
    bool completed = true;
    for (int first = 0; first < blocks && completed; first += live) {
        const int number = launch->backwards ? blocks - live - first : first;
        for (int i = 0; i < live; i++)
            begin_block(machine, &at[i], number + i,
                        machine->stacks +
                            (size_t)i * (size_t)launch->threads * (size_t)STACK_STRIDE);
        completed = run_blocks(machine, at, live);
        for (int i = 0; i < live * launch->threads; i++)
            free(at[i / launch->threads].lanes[i % launch->threads].fetches);
    }
    return completed;
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
    simt_block *at = calloc((size_t)live, sizeof *at);
    simt_lane *lanes = calloc((size_t)live * threads, sizeof *lanes);
    unsigned char *shared = aligned_alloc(SHARED_ALIGNED, (size_t)live * room);
    const size_t cells_count = (size_t)live * (room / SIMT_CELL_BYTES);
    simt_cell *cells = simt_cells_provide(&machine->shared, cells_count);
    void *trap_stack = malloc(TRAP_STACK_BYTES);
    bool completed = at && lanes && shared && cells && trap_stack &&
                     provide_stacks(machine, (size_t)live * threads);
    if (!completed)
        simt_report_add(report, SIMT_FOUND_LAUNCH, "not enough memory for %d blocks", live);
    for (int i = 0; i < live && completed; i++) {
        at[i].lanes = lanes + (size_t)i * threads;
        at[i].shared = shared + (size_t)i * room;
        at[i].cells = cells + (size_t)i * (room / SIMT_CELL_BYTES);
    }
    if (completed) {
        traps old;
        simt_here = machine;
        machine->kernel = kernel;
        machine->launch = launch;
        machine->arguments = arguments;
        machine->report = report;
        machine->failed = false;
        machine->expired = 0;
        machine->running = NULL;
        machine->moved = false;
        kernel->attach(&simt_words_table, &machine->now);
        traps_set(&old, trap_stack);
        completed = run_grid(machine, at, live);
        traps_restore(&old);
    }
    for (int b = 0; b < SIMT_BUFFERS_MAX; b++)
        clear_cells(&machine->memory[b]);
    machine->shared.low = 0;
    machine->shared.high = cells ? cells_count : 0;
    clear_cells(&machine->shared);
    free(trap_stack);
    free(shared);
    free(lanes);
    free(at);
    return completed;
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
        munmap(machine->stacks, machine->stacks_count * STACK_STRIDE);
    for (int b = 0; b < SIMT_BUFFERS_MAX; b++)
        free(machine->memory[b].at);
    free(machine->shared.at);
    free(machine);
}
