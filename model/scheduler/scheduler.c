/* Simulates the rounds of a loop for several numbers of warps. Called by core/backend/cuda/sass for
 * the loops of compiled kernels. */
#include "model/scheduler/scheduler.h"

#include <math.h>
#include <string.h>

enum { SCHEDULERS = 4, WARP = 32, WARPS_MAX = 64, INSTRUCTION_BYTES = 16 };
/* Uncounted rounds at the beginning, in which warps settle into a rhythm, and counted rounds. */
enum { ROUNDS_BEFORE = 1, ROUNDS = 2 };

/* ---- One run --------------------------------------------------------------------------------- */

/* Faster than fmax() and fmin(), which are calls. There are no NaNs here. */
static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

typedef struct warp {
    int at;     /* instruction */
    int passed; /* how often it came to a barrier of its block or arrived */
    bool held;  /* waits for other warps */
    int reason; /* tz_rounds_wait that decides `ready` */
    /* Clocks of its last instruction, and the earliest clocks of the next one: by its own stall, by
     * other warps, and by its barriers. */
    double issued, own, next, ready;
    double unit; /* when its unit becomes free, as last seen */
    double opens[TZ_TRACE_BARRIERS];
    uint8_t opened_by[TZ_TRACE_BARRIERS];
    double arrived;
} warp;

typedef struct issuer {
    double now;
    double first, second, logic, fp64, special; /* when each unit becomes free */
    /* The queue as a ring: when each of its last instructions leaves it; the next entry to use, and
     * the one used last. */
    double leaves[TZ_SCHEDULER_QUEUE_MAX];
    int entry, entry_before;
    int last, count; /* warps */
} issuer;

typedef struct machine {
    const tz_scheduler *s;
    const tz_trace_instruction *trace;
    int count, block_warps, warps_count, queue_depth;
    double code;  /* delay of each instruction by fetching */
    double begin; /* counting begins at this clock */
    bool syncs;   /* warps wait for each other */
    double shared;
    issuer issuers[SCHEDULERS];
    warp warps[WARPS_MAX];
    double waits[TZ_ROUNDS_WAITS];
} machine;

static bool is_queued(const tz_trace_instruction *i)
{
    switch (i->class) {
    case TZ_WORK_SHUFFLE:
    case TZ_WORK_SPECIAL:
    case TZ_WORK_SHARED_READ:
    case TZ_WORK_SHARED_WRITE:
    case TZ_WORK_READ:
    case TZ_WORK_WRITE:
    case TZ_WORK_COPY:
    case TZ_WORK_BARRIER:
        return true;
    default:
        return i->kind != TZ_TRACE_PLAIN && i->kind != TZ_TRACE_COPIED;
    }
}

/* The clock at which an instruction's unit becomes free. *unit: the wait that this is. */
static double unit_free(const issuer *u, const tz_trace_instruction *i, int *unit)
{
    if (is_queued(i)) {
        *unit = TZ_ROUNDS_QUEUE;
        return u->leaves[u->entry];
    }
    switch (i->class) {
    case TZ_WORK_FP32:
        *unit = TZ_ROUNDS_SINGLE;
        return smaller(u->first, u->second);
    case TZ_WORK_MULTIPLY:
        *unit = TZ_ROUNDS_SINGLE;
        return u->first;
    case TZ_WORK_FP64:
        *unit = TZ_ROUNDS_DOUBLE;
        return u->fp64;
    case TZ_WORK_INTEGER:
    case TZ_WORK_LOGIC:
    case TZ_WORK_MOVE:
        *unit = TZ_ROUNDS_INTEGER;
        return u->logic;
    default:
        *unit = TZ_ROUNDS_SLOT;
        return 0.0;
    }
}

/* Sets when a warp's next instruction may be issued, apart from its unit. */
static void settle(const machine *m, warp *w)
{
    const tz_trace_instruction *i = &m->trace[w->at];
    w->ready = w->next;
    w->reason = TZ_ROUNDS_LATENCY;
    w->unit = 0.0;
    for (int b = 0; b < TZ_TRACE_BARRIERS; b++)
        if (i->waits >> b & 1 && w->opens[b] > w->ready) {
            w->ready = w->opens[b];
            w->reason = w->opened_by[b];
        }
    if (w->held) {
        w->ready = INFINITY;
        w->reason = TZ_ROUNDS_SYNC;
    }
}

static double passes_of(const machine *m, const tz_trace_instruction *i)
{
    switch (i->class) {
    case TZ_WORK_SHUFFLE:
        return m->s->shuffle;
    case TZ_WORK_SPECIAL:
        return 0.0;
    default:
        return m->s->pass * larger(i->words, 1);
    }
}

static double wait_of(const machine *m, const tz_trace_instruction *i)
{
    switch (i->class) {
    case TZ_WORK_SHUFFLE:
    case TZ_WORK_SPECIAL:
        return m->s->shuffle_wait;
    case TZ_WORK_READ:
        return i->kind == TZ_TRACE_LOCAL ? m->s->local_wait : m->s->shared_wait;
    default:
        return m->s->shared_wait;
    }
}

/* Sends an instruction through the queue. *read, *result: when its operands are read and when its
 * result is ready. */
static void go_through(machine *m, issuer *u, const tz_trace_instruction *i, double now,
                       double *read, double *result)
{
    const double passes = passes_of(m, i);
    double begin = larger(now + m->s->queue_wait, u->leaves[u->entry_before]);
    if (i->class == TZ_WORK_SPECIAL) {
        begin = larger(begin, u->special);
        u->special = begin + m->s->special;
    } else {
        begin = larger(begin, m->shared);
        m->shared = begin + passes;
    }
    u->leaves[u->entry] = begin + 1.0;
    u->entry_before = u->entry;
    u->entry = u->entry + 1 == m->queue_depth ? 0 : u->entry + 1;
    *read = begin - m->s->queue_wait + m->s->operand_wait;
    *result = begin - m->s->queue_wait + wait_of(m, i) + larger(0.0, passes - 1.0);
}

static void opens_at(warp *w, int barrier, double time, int reason)
{
    if (barrier < TZ_TRACE_BARRIERS && time >= w->opens[barrier]) {
        w->opens[barrier] = time;
        w->opened_by[barrier] = (uint8_t)reason;
    }
}

/* Whether all warps that this one waits for have arrived as often. */
static bool may_go(const machine *m, int id, bool block, double *since)
{
    const int first = id - id % m->block_warps;
    const int from = block || id == first ? first : id - 1;
    const int last = first + m->block_warps - 1;
    const int to = block || id == last ? last : id + 1;
    for (int k = from; k <= to; k++) {
        if (m->warps[k].passed < m->warps[id].passed)
            return false;
        *since = larger(*since, m->warps[k].arrived);
    }
    return true;
}

/* Releases the warps of the block that no longer wait for others. */
static void let_go(machine *m, int id, bool block)
{
    const int first = id - id % m->block_warps;
    for (int k = first; k < first + m->block_warps; k++) {
        warp *w = &m->warps[k];
        double since = 0.0;
        if (!w->held || !may_go(m, k, block, &since))
            continue;
        w->held = false;
        w->next = larger(w->next, since + m->s->barrier_wait);
        settle(m, w);
    }
}

static void synchronise(machine *m, int id, const tz_trace_instruction *i, double now)
{
    warp *w = &m->warps[id];
    const bool block = i->class == TZ_WORK_BARRIER;
    if (block || i->kind == TZ_TRACE_ARRIVE) {
        w->passed++;
        w->arrived = now;
    }
    if (block || i->kind == TZ_TRACE_AWAIT) {
        double since = 0.0;
        w->held = !may_go(m, id, block, &since);
        if (!w->held)
            w->next = larger(w->next, (block ? now : larger(now, since)) + m->s->barrier_wait);
    }
    if (block || i->kind == TZ_TRACE_ARRIVE)
        let_go(m, id, block);
}

static int reason_of(const tz_trace_instruction *i)
{
    if (i->kind == TZ_TRACE_LOCAL)
        return TZ_ROUNDS_LOCAL;
    return is_queued(i) ? TZ_ROUNDS_SHUFFLE : TZ_ROUNDS_LATENCY;
}

/* Occupies a unit. Clocks are means and may be fractions. */
static void use(double *unit, double now, double clocks)
{
    *unit = larger(*unit, now) + clocks;
}

static void issue(machine *m, issuer *u, int id)
{
    warp *w = &m->warps[id];
    const tz_trace_instruction *i = &m->trace[w->at];
    const double now = u->now;
    double read = now + m->s->operand_wait, result = now + m->s->result_wait, slots = 1.0;
    /* Its waits since the last instruction: its own latency, other warps, a unit, an issue slot. */
    w->issued = larger(w->issued, m->begin - 1.0);
    m->waits[TZ_ROUNDS_LATENCY] += larger(0.0, w->own - w->issued - 1.0);
    m->waits[TZ_ROUNDS_SYNC] += larger(0.0, w->next - larger(w->own, w->issued + 1.0));
    m->waits[w->reason] += larger(0.0, w->ready - larger(w->next, w->issued + 1.0));
    int unit;
    unit_free(u, i, &unit);
    const double ready = larger(w->ready, w->issued + 1.0);
    const double busy = smaller(larger(0.0, w->unit - ready), now - ready);
    m->waits[unit] += busy;
    m->waits[TZ_ROUNDS_SLOT] += larger(0.0, now - ready - busy);
    if (is_queued(i)) {
        go_through(m, u, i, now, &read, &result);
        slots = m->s->queue_slots;
    } else {
        switch (i->class) {
        case TZ_WORK_FP32:
            use(u->second <= u->first ? &u->second : &u->first, now, m->s->half);
            break;
        case TZ_WORK_MULTIPLY:
            use(&u->first, now, m->s->multiply);
            break;
        case TZ_WORK_FP64:
            use(&u->fp64, now, m->s->fp64 + m->code);
            break;
        case TZ_WORK_INTEGER:
        case TZ_WORK_LOGIC:
        case TZ_WORK_MOVE:
            /* A unit at half rate loses a slot when an instruction comes late. */
            use(&u->logic, now, m->s->logic + m->code);
            break;
        default:
            break;
        }
    }
    opens_at(w, i->sets, result, reason_of(i));
    opens_at(w, i->frees, read, reason_of(i));
    w->issued = now;
    w->own = now + larger(i->stall, slots);
    w->next = w->own;
    w->at = w->at + 1 == m->count ? 0 : w->at + 1;
    if (i->class == TZ_WORK_BARRIER || i->kind == TZ_TRACE_ARRIVE || i->kind == TZ_TRACE_AWAIT)
        synchronise(m, id, i, now);
    settle(m, w);
    u->last = id / SCHEDULERS;
    u->now = now + slots + m->s->dispatch + m->code;
}

/* The warp that a scheduler issues from now; -1: none, and *next is when to look again. */
static int choose(machine *m, int scheduler, double *next)
{
    issuer *u = &m->issuers[scheduler];
    *next = INFINITY;
    for (int k = 0; k < u->count; k++) {
        const int slot = k == 0 ? u->last : k <= u->last ? k - 1 : k;
        const int id = slot * SCHEDULERS + scheduler;
        warp *w = &m->warps[id];
        if (w->ready > u->now) {
            *next = smaller(*next, w->ready);
            continue;
        }
        int unit;
        const double free = unit_free(u, &m->trace[w->at], &unit);
        if (free < u->now + 0.5)
            return id;
        w->unit = free;
        *next = smaller(*next, free);
    }
    return -1;
}

/* A scheduler idles until `next`, unless another one releases one of its warps earlier. */
static void wait_until(machine *m, int scheduler, double next)
{
    double others = INFINITY;
    for (int k = 0; k < SCHEDULERS; k++)
        if (k != scheduler)
            others = smaller(others, m->issuers[k].now);
    issuer *u = &m->issuers[scheduler];
    u->now = m->syncs && u->count > 0 ? smaller(next, larger(others, u->now) + 1.0) : next;
}

static void place(machine *m)
{
    unsigned random = 12345;
    for (int k = 0; k < m->warps_count; k++) {
        warp *w = &m->warps[k];
        /* Blocks begin at different times: place each at random in the loop. */
        if (k % m->block_warps == 0)
            random = random * 1103515245u + 12345u;
        w->at = (int)((random >> 16 & 0x7fff) / 32768.0 * m->count);
        m->issuers[k % SCHEDULERS].count++;
        settle(m, w);
    }
    for (int k = 0; k < SCHEDULERS; k++)
        m->issuers[k].entry_before = m->queue_depth - 1;
}

static double share_of(double text_bytes, double cache_bytes, double soft)
{
    return smaller(1.0, larger(0.0, (text_bytes / cache_bytes - 1.0) / soft));
}

double tz_scheduler_fetch_clocks(const tz_scheduler *s, double text_bytes, bool together)
{
    const double near =
        s->near_text.late * share_of(text_bytes, s->near_text.bytes, s->near_text.soft);
    const double far = s->far_text.late * share_of(text_bytes, s->far_text.bytes, s->far_text.soft);
    return (together ? 0.0 : near) + far;
}

static bool is_valid(const tz_trace_instruction *trace, int count)
{
    for (int k = 0; k < count; k++)
        if (trace[k].class >= TZ_WORK_CLASSES || trace[k].kind > TZ_TRACE_COPIED ||
            trace[k].sets > 7 || trace[k].frees > 7 || trace[k].waits >> TZ_TRACE_BARRIERS)
            return false;
    return count > 0;
}

tz_status tz_schedule_run(const tz_scheduler *scheduler, const tz_trace_instruction *trace,
                          int count, int block_warps, int blocks, tz_schedule *out, tz_error *error)
{
    memset(out, 0, sizeof *out);
    if (!is_valid(trace, count))
        return tz_error_set(
            error, TZ_RANGE, "schedule",
            "a trace of %d instructions cannot be run: it is empty, or an instruction has "
            "an unknown class or barrier",
            count);
    if (block_warps < 1 || blocks < 1 || block_warps > WARPS_MAX / blocks)
        return tz_error_set(error, TZ_RANGE, "schedule",
                            "%d blocks of %d warps: a multiprocessor has 1 to %d warps", blocks,
                            block_warps, WARPS_MAX);
    if (!(scheduler->queue_depth >= 1 && scheduler->queue_depth <= TZ_SCHEDULER_QUEUE_MAX))
        return tz_error_set(error, TZ_RANGE, "schedule",
                            "a queue of %g instructions: it holds 1 to %d", scheduler->queue_depth,
                            TZ_SCHEDULER_QUEUE_MAX);
    machine m = {.s = scheduler,
                 .trace = trace,
                 .count = count,
                 .block_warps = block_warps,
                 .warps_count = block_warps * blocks,
                 .queue_depth = (int)scheduler->queue_depth};
    double fetched = count;
    for (int k = 0; k < count; k++) {
        m.syncs = m.syncs || trace[k].class == TZ_WORK_BARRIER || trace[k].kind == TZ_TRACE_AWAIT;
        fetched += trace[k].over;
    }
    m.code = tz_scheduler_fetch_clocks(scheduler, fetched * INSTRUCTION_BYTES, m.syncs);
    place(&m);
    const int64_t round = (int64_t)count * m.warps_count;
    double end = 0.0;
    for (int64_t issued = 0; issued < round * (ROUNDS_BEFORE + ROUNDS);) {
        int now = 0;
        for (int k = 1; k < SCHEDULERS; k++)
            if (m.issuers[k].now < m.issuers[now].now)
                now = k;
        issuer *u = &m.issuers[now];
        double next;
        const int id = choose(&m, now, &next);
        if (id < 0) {
            wait_until(&m, now, next);
            continue;
        }
        end = u->now;
        issue(&m, u, id);
        if (++issued == round * ROUNDS_BEFORE) {
            m.begin = end;
            memset(m.waits, 0, sizeof m.waits);
        }
    }
    /* Add the waits of warps at the end. */
    for (int k = 0; k < m.warps_count; k++)
        m.waits[TZ_ROUNDS_SLOT] += larger(0.0, end - larger(m.warps[k].issued + 1.0, m.begin));
    const double clocks = larger(end - m.begin, 1.0);
    out->clocks = clocks / ROUNDS;
    out->issued = (double)round * ROUNDS / clocks / SCHEDULERS;
    for (int k = 0; k < TZ_ROUNDS_WAITS; k++)
        out->waits[k] = m.waits[k] / clocks / m.warps_count;
    return TZ_OK;
}

/* ---- By the number of warps ------------------------------------------------------------------ */

tz_status tz_schedule_rounds(const tz_scheduler *s, const tz_trace_instruction *trace, int count,
                             int block_warps, int registers, tz_rounds *out, tz_error *error)
{
    static const int tries[] = {1, 2, 3, 4, 6, 8, 12, 16, 32};
    memset(out, 0, sizeof *out);
    const double each = ceil(fmax(registers, 1) * WARP / s->register_unit) * s->register_unit;
    const double warps =
        fmin(fmin(s->slots, WARPS_MAX), floor(s->registers / SCHEDULERS / each) * SCHEDULERS);
    const int most = (int)fmax(1.0, floor(warps / block_warps));
    for (size_t k = 0; k < sizeof tries / sizeof *tries; k++) {
        const int blocks = tries[k] < most ? tries[k] : most;
        tz_schedule one;
        const tz_status status = tz_schedule_run(s, trace, count, block_warps, blocks, &one, error);
        if (status != TZ_OK)
            return status;
        const int at = out->count++;
        out->warps[at] = (double)blocks * block_warps;
        /* More warps never take less time; a smaller value is chance. */
        out->clocks[at] = at > 0 ? fmax(one.clocks, out->clocks[at - 1]) : one.clocks;
        memcpy(out->waits[at], one.waits, sizeof one.waits);
        if (blocks == most)
            break;
    }
    return TZ_OK;
}
