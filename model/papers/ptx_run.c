/* Running PTX: integers, addresses and predicates of a warp. */
#include "model/papers/ptx_impl.h"

#include <stdlib.h>
#include <string.h>

typedef struct warp {
    const tz_ptx *ptx;
    const tz_ptx_launch *launch;
    uint64_t (*values)[32]; /* of each register and lane */
    uint32_t *known;        /* of each register: a bit a lane */
    int *turned;            /* of each instruction: turns of a loop whose end is not known */
    bool *doubted;          /* of each instruction: a value that it needs was not known */
    int at[32];             /* each lane's next instruction */
    uint32_t alive;
    tz_ptx_trace *trace;
    int room;          /* for tasks */
    uint64_t *sectors; /* of 32 bytes that the warp has touched */
    int touched, sectors_room;
} warp;

static uint64_t special(const tz_ptx_launch *l, int which, unsigned lane)
{
    const unsigned thread = 32 * l->warp + lane;
    switch (which) {
    case TZ__PTX_TID:
        return thread % l->block[0];
    case TZ__PTX_TID + 1:
        return thread / l->block[0] % l->block[1];
    case TZ__PTX_TID + 2:
        return thread / l->block[0] / l->block[1];
    case TZ__PTX_LANE:
        return lane;
    default:
        return which < TZ__PTX_CTAID    ? l->block[which - TZ__PTX_NTID]
               : which < TZ__PTX_NCTAID ? l->at[which - TZ__PTX_CTAID]
                                        : l->grid[which - TZ__PTX_NCTAID];
    }
}

static bool value_of(const warp *w, const tz__ptx_operand *o, int lane, uint64_t *out)
{
    switch (o->kind) {
    case TZ__PTX_REGISTER:
        *out = w->values[o->at][lane];
        return w->known[o->at] >> lane & 1;
    case TZ__PTX_NUMBER:
    case TZ__PTX_PARAMETER:
        *out = (uint64_t)o->value;
        return true;
    case TZ__PTX_SPECIAL:
        *out = special(w->launch, o->at, (unsigned)lane);
        return true;
    default:
        *out = 0;
        return false;
    }
}

static void set(warp *w, const tz__ptx_operand *o, int lane, bool known, uint64_t value)
{
    if (o->kind != TZ__PTX_REGISTER)
        return;
    w->values[o->at][lane] = value;
    w->known[o->at] = (w->known[o->at] & ~(1u << lane)) | (uint32_t)known << lane;
}

static bool address_of(const warp *w, const tz__ptx_instruction *i, int lane, uint64_t *out)
{
    if (i->address < 0)
        return false;
    const tz__ptx_operand *o = &i->operands[i->address];
    const bool known = value_of(w, o, lane, out);
    if (o->kind == TZ__PTX_REGISTER || o->kind == TZ__PTX_SPECIAL)
        *out += (uint64_t)o->value;
    return known;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static tz_luo2011_task *task_of(warp *w, bool is_memory, tz_error *error)
{
    tz_ptx_trace *t = w->trace;
    if (t->count > 0 && t->tasks[t->count - 1].is_memory == is_memory)
        return &t->tasks[t->count - 1];
    if (t->count == w->room) {
        const int room = 2 * w->room + 64;
        tz_luo2011_task *larger = realloc(t->tasks, (size_t)room * sizeof *larger);
        if (!larger) {
            tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the tasks of a kernel");
            return NULL;
        }
        t->tasks = larger;
        w->room = room;
    }
    t->tasks[t->count] = (tz_luo2011_task){.is_memory = is_memory};
    return &t->tasks[t->count++];
}

static bool is_touched(const warp *w, uint64_t sector)
{
    for (int k = w->touched - 1; k >= 0; k--)
        if (w->sectors[k] == sector)
            return true;
    return false;
}

/* Without memory a sector is not kept. */
static void touch(warp *w, uint64_t sector)
{
    if (is_touched(w, sector))
        return;
    if (w->touched == w->sectors_room) {
        const int room = 2 * w->sectors_room + 64;
        uint64_t *larger = realloc(w->sectors, (size_t)room * sizeof *larger);
        if (!larger)
            return;
        w->sectors = larger;
        w->sectors_room = room;
    }
    w->sectors[w->touched++] = sector;
}

/* Vectors are accesses of a wider word, up to 16 bytes. *near: most of its
 * lanes' sectors were touched before. */
static int transactions(warp *w, const tz__ptx_instruction *i, uint32_t lanes, bool half_warps,
                        bool *near)
{
    int known = 0;
    const int bytes = i->bytes * i->vector;
    uint64_t at[32] = {0};
    for (int lane = 0; lane < 32; lane++) {
        if (!(lanes >> lane & 1))
            continue;
        if (i->is_local) /* a lane's own words lie side by side with those of the others */
            at[lane] = (uint64_t)(lane * bytes);
        else if (!address_of(w, i, lane, &at[lane])) {
            at[lane] = (uint64_t)lane * 4096;
            w->doubted[i - w->ptx->at] = true;
        }
    }
    for (int lane = 0; lane < 32 && !i->is_local; lane++)
        known += (lanes >> lane & 1) && is_touched(w, at[lane] / 32);
    for (int lane = 0; lane < 32 && !i->is_local; lane++)
        if (lanes >> lane & 1)
            touch(w, at[lane] / 32);
    *near = 2 * known > __builtin_popcount(lanes);
    int count = 0;
    for (int part = 0; part < bytes; part += 16) {
        count +=
            tz_luo2011_transactions(at, lanes, bytes - part < 16 ? bytes - part : 16, half_warps);
        for (int lane = 0; lane < 32; lane++)
            at[lane] += 16;
    }
    return count;
}

static tz_status count(warp *w, const tz__ptx_instruction *i, uint32_t lanes,
                       const tz_luo2011_costs *costs, bool half_warps, tz_error *error)
{
    if (i->is_memory && !lanes) /* its predicate is false: it is issued, no more */
        return TZ_OK;
    tz_luo2011_task *task = task_of(w, i->is_memory, error);
    if (!task)
        return TZ_MEMORY;
    task->instructions++;
    bool near = false;
    if (i->is_memory) {
        const int number = transactions(w, i, lanes, half_warps, &near);
        task->transactions += number;
        task->bytes += i->bytes * i->vector;
        w->trace->accesses++;
        w->trace->transactions += number;
    }
    task->clocks += near && i->is_load && costs->near > 0 ? costs->near : tz__ptx_clocks(i, costs);
    return TZ_OK;
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

/* The lanes whose predicate holds; in *unknown those that may or may not. */
static uint32_t guarded(const warp *w, const tz__ptx_instruction *i, uint32_t lanes,
                        uint32_t *unknown)
{
    uint32_t true_lanes = 0;
    *unknown = 0;
    if (i->guard < 0)
        return lanes;
    *unknown = lanes & ~w->known[i->guard];
    for (int lane = 0; lane < 32; lane++)
        true_lanes |= (uint32_t)((w->values[i->guard][lane] & 1) != i->guard_not) << lane;
    return true_lanes & lanes & ~*unknown;
}

/* A parameter, read from the arguments. */
static bool parameter(const warp *w, const tz__ptx_instruction *i, int lane, int part,
                      uint64_t *out)
{
    uint64_t at;
    *out = 0;
    if (i->bytes > (int)sizeof *out || !w->launch->arguments || !address_of(w, i, lane, &at))
        return false;
    at += (uint64_t)(part * i->bytes);
    if (at > w->launch->arguments_bytes || w->launch->arguments_bytes - at < (uint64_t)i->bytes)
        return false;
    memcpy(out, (const char *)w->launch->arguments + at, (size_t)i->bytes);
    if (i->is_signed && i->bytes < 8 && *out >> (8 * i->bytes - 1))
        *out |= ~UINT64_C(0) << 8 * i->bytes;
    return true;
}

static void compute(warp *w, const tz__ptx_instruction *i, int lane)
{
    uint64_t sources[3] = {0}, value = 0;
    bool known = !i->is_memory && !i->is_call && i->written == 1;
    if (i->is_parameter && i->is_load) {
        for (int k = 0; k < i->written; k++) {
            known = parameter(w, i, lane, k, &value);
            set(w, &i->operands[k], lane, known, value);
        }
        return;
    }
    for (int k = 0; known && k < 3 && k + 1 < i->count; k++)
        known = value_of(w, &i->operands[k + 1], lane, &sources[k]);
    known = known && i->address < 0 && tz__ptx_value(i, sources, &value);
    for (int k = 0; k < i->written; k++)
        set(w, &i->operands[k], lane, known, value);
}

/* An unknown predicate: a value may or may not have been written. */
static void forget(warp *w, const tz__ptx_instruction *i, uint32_t lanes)
{
    for (int k = 0; k < i->written; k++)
        if (i->operands[k].kind == TZ__PTX_REGISTER)
            w->known[i->operands[k].at] &= ~lanes;
}

/* A branch: where its lanes go on. */
static void branch(warp *w, const tz__ptx_instruction *i, uint32_t lanes, uint32_t taken,
                   uint32_t unknown)
{
    const int here = (int)(i - w->ptx->at);
    if (unknown) {
        w->doubted[here] = true;
        if (i->target <= here) {
            if (++w->turned[here] < w->launch->trips)
                taken |= unknown;
            else
                w->turned[here] = 0;
        }
    }
    w->trace->turns += taken && i->target <= here;
    for (int lane = 0; lane < 32; lane++)
        if (lanes >> lane & 1)
            w->at[lane] = taken >> lane & 1 ? i->target : here + 1;
}

static tz_status step(warp *w, const tz_luo2011_costs *costs, bool half_warps, tz_error *error)
{
    int here = w->ptx->count;
    uint32_t lanes = 0, unknown;
    for (int lane = 0; lane < 32; lane++)
        if ((w->alive >> lane & 1) && w->at[lane] < here)
            here = w->at[lane];
    for (int lane = 0; lane < 32; lane++)
        lanes |= (uint32_t)((w->alive >> lane & 1) && w->at[lane] == here) << lane;
    if (here == w->ptx->count) { /* past the last instruction */
        w->alive &= ~lanes;
        return TZ_OK;
    }
    const tz__ptx_instruction *i = &w->ptx->at[here];
    const uint32_t doing = guarded(w, i, lanes, &unknown);
    w->trace->executed++;
    tz_status status =
        count(w, i, i->is_memory ? doing | unknown : doing, costs, half_warps, error);
    if (status)
        return status;
    if (i->flow == TZ__PTX_TABLE)
        return tz_error_set(error, TZ_UNSUPPORTED, "PTX",
                            "the kernel jumps through a table (brx), which luo2011 does not "
                            "follow");
    w->doubted[here] |= i->is_call;
    if (i->flow == TZ__PTX_JUMP) {
        branch(w, i, lanes, doing, unknown);
        return TZ_OK;
    }
    w->doubted[here] |= i->flow == TZ__PTX_END && unknown;
    if (i->flow == TZ__PTX_END)
        w->alive &= ~doing;
    forget(w, i, unknown);
    for (int lane = 0; lane < 32; lane++) {
        if (doing >> lane & 1)
            compute(w, i, lane);
        if (lanes >> lane & 1)
            w->at[lane]++;
    }
    return TZ_OK;
}

/* ---- A warp ---------------------------------------------------------------------------------- */

static void conclude(const warp *w, const tz_luo2011_costs *costs)
{
    tz_ptx_trace *t = w->trace;
    for (int k = 0; k < w->ptx->count; k++) {
        const tz__ptx_instruction *i = &w->ptx->at[k];
        *(i->is_memory ? &t->text_memory : &t->text_computation) += tz__ptx_clocks(i, costs);
        t->unknown_branches += w->doubted[k] && i->flow != TZ__PTX_NEXT;
        t->unknown_addresses += w->doubted[k] && i->is_memory;
        t->calls += w->doubted[k] && i->is_call;
    }
}

tz_status tz_ptx_run(const tz_ptx *ptx, const tz_ptx_launch *launch, const tz_luo2011_costs *costs,
                     bool half_warps, tz_ptx_trace *out, tz_error *error)
{
    const size_t registers = (size_t)ptx->registers + 1, count = (size_t)ptx->count + 1;
    warp w = {.ptx = ptx, .launch = launch, .trace = out};
    tz_status status = TZ_OK;
    *out = (tz_ptx_trace){0};
    w.values = calloc(registers, sizeof *w.values);
    w.known = calloc(registers, sizeof *w.known);
    w.turned = calloc(count, sizeof *w.turned);
    w.doubted = calloc(count, sizeof *w.doubted);
    if (!w.values || !w.known || !w.turned || !w.doubted) {
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to follow a kernel");
        goto cleanup;
    }
    const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    for (unsigned lane = 0; lane < 32; lane++)
        w.alive |= (uint32_t)(32 * (uint64_t)launch->warp + lane < threads) << lane;
    while (!status && w.alive && out->executed < TZ_PTX_STEPS_MAX)
        status = step(&w, costs, half_warps, error);
    if (!status && w.alive)
        status = tz_error_set(error, TZ_UNSUPPORTED, "PTX",
                              "a thread of the kernel executes more than %d instructions",
                              (int)TZ_PTX_STEPS_MAX);
    conclude(&w, costs);
cleanup:
    free(w.values);
    free(w.known);
    free(w.turned);
    free(w.doubted);
    free(w.sectors);
    if (status)
        tz_ptx_trace_clear(out);
    return status;
}

void tz_ptx_trace_clear(tz_ptx_trace *trace)
{
    free(trace->tasks);
    *trace = (tz_ptx_trace){0};
}
