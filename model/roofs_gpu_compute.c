/* The time of computing on a GPU: occupancy, a step of a warp, waves of blocks. */
#include "model/constants.h"
#include "model/roofs_gpu_impl.h"
#include "model/scheduler/rounds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double tz__roofs_soft_max(double a, double b, double exponent)
{
    const double high = fmax(a, b), low = fmin(a, b);
    return high > 0.0 ? high * pow(1.0 + pow(low / high, exponent), 1.0 / exponent) : 0.0;
}

int tz_roofs_blocks_per_sm(const tz_model_device *device, const tz_model_work *work, char *why,
                           size_t size)
{
    const double warps = ceil(work->threads / (double)TZ__WARP);
    const double granule = device->register_unit.known ? device->register_unit.value : 256.0;
    const double each = ceil(fmax(work->registers, 1) * TZ__WARP / granule) * granule;
    /* Each scheduler has its own registers and warps. */
    const double room =
        floor(device->registers_per_sm.value / TZ__SCHEDULERS / each) * TZ__SCHEDULERS;
    const double reserved =
        device->shared_reserved_bytes.known ? device->shared_reserved_bytes.value : 0.0;
    const double shared = ceil((work->shared_bytes + reserved) / 128.0) * 128.0;
    const struct {
        const char *what;
        double blocks;
    } limits[] = {
        {"registers limit", floor(room / warps)},
        {"shared memory limits",
         shared > 0.0 ? floor(device->shared_per_sm_bytes.value / shared) : INFINITY},
        {"threads limit", floor(device->threads_per_sm_max.value / (warps * TZ__WARP))},
        {"blocks limit", device->blocks_per_sm.value},
    };
    size_t least = 0;
    for (size_t k = 1; k < sizeof limits / sizeof *limits; k++)
        if (limits[k].blocks < limits[least].blocks)
            least = k;
    if (why)
        snprintf(why, size, "%s a multiprocessor to %.0f warps", limits[least].what,
                 limits[least].blocks * warps);
    return (int)limits[least].blocks;
}

/* ---- A step of a warp ------------------------------------------------------------------------ */

static double over(double count, const tz_model_number *rate)
{
    return count > 0.0 ? count / rate->value : 0.0;
}

double tz__roofs_clocks(const tz_model_device *d, const tz_model_number *time)
{
    return time->known ? time->value * d->clock_hz.value : 0.0;
}

static void cost_of(const tz_model_device *d, const tz_work_mix *m, double passes, double soft,
                    cost *c)
{
    c->units[ISSUE] = (unit){"issue slots", over(tz_work_mix_sum(m), &d->issue_rate)};
    /* Integer multiply-adds use a part of the single precision units. */
    c->units[SINGLE] = (unit){
        "single precision", fmax(over(m->of[TZ_WORK_FP32] + m->of[TZ_WORK_MULTIPLY], &d->fp32_rate),
                                 over(m->of[TZ_WORK_MULTIPLY], &d->multiply_rate))};
    c->units[DOUBLE] = (unit){"double precision", over(m->of[TZ_WORK_FP64], &d->fp64_rate)};
    const double integer = m->of[TZ_WORK_INTEGER] + m->of[TZ_WORK_LOGIC] + m->of[TZ_WORK_MOVE];
    c->units[INTEGER] = (unit){"integers and logic", over(integer, &d->alu_rate)};
    c->units[EXCHANGE] =
        (unit){"shuffles and shared memory",
               over(m->of[TZ_WORK_SHUFFLE], &d->shuffle_rate) + over(passes, &d->shared_rate)};
    c->units[SPECIAL] = (unit){"special functions", over(m->of[TZ_WORK_SPECIAL], &d->special_rate)};
    c->clocks = 0.0;
    c->longest = 0;
    for (int k = 0; k < UNITS; k++) {
        c->clocks = tz__roofs_soft_max(c->clocks, c->units[k].clocks, soft);
        if (c->units[k].clocks > c->units[c->longest].clocks)
            c->longest = k;
    }
}

static double latency_clocks(const tz_model_device *d, const tz_work_mix *chain)
{
    return chain->of[TZ_WORK_SHUFFLE] * tz__roofs_clocks(d, &d->shuffle_latency_s) +
           chain->of[TZ_WORK_SHARED_READ] * tz__roofs_clocks(d, &d->shared_latency_s) +
           chain->of[TZ_WORK_FP64] * tz__roofs_clocks(d, &d->fp64_latency_s) +
           (chain->of[TZ_WORK_SPECIAL] + TZ_FIT_CHAIN_READ * chain->of[TZ_WORK_READ]) *
               tz__roofs_clocks(d, &d->shuffle_latency_s) +
           (chain->of[TZ_WORK_INTEGER] + chain->of[TZ_WORK_MULTIPLY] + chain->of[TZ_WORK_LOGIC] +
            chain->of[TZ_WORK_MOVE] + chain->of[TZ_WORK_FP32]) *
               tz_model_device_value(d, &d->result_clocks);
}

void tz__roofs_find_costs(stage *s)
{
    const tz_model_work *work = s->work;
    const tz_model_device *device = s->device;
    for (int p = 0; p < work->parts_count; p++) {
        const tz_work_part *part = &work->parts[p];
        cost_of(device, &part->step, part->shared_wavefronts, TZ_FIT_SOFT_UNITS, &s->parts[p]);
        cost_of(device, &part->once, 0.0, TZ_FIT_SOFT_SHORT, &s->once[p]);
        const double own = part->rounds.count > 0
                               ? tz_rounds_clocks(&part->rounds, s->warps)
                               : part->clocks + latency_clocks(device, &part->chain);
        s->parts[p].barriers =
            part->step.of[TZ_WORK_BARRIER] * tz__roofs_clocks(device, &device->barrier_s) +
            TZ_FIT_BARRIER_WAIT * fmin(1.0, part->step.of[TZ_WORK_BARRIER]) * own;
        /* Streamed slabs come from memory in each iteration, other fields in the first. */
        const double far_clocks = work->streamed_bytes > 0.0
                                      ? tz__roofs_clocks(device, &device->memory_latency_s)
                                      : s->memory_clocks;
        const double near_clocks = work->streamed_bytes > 0.0
                                       ? far_clocks
                                       : tz__roofs_clocks(device, &device->l2_latency_s);
        s->parts[p].alone = own + part->waits * (far_clocks + (work->height - 1.0) * near_clocks) /
                                      fmax(work->height, 1.0);
    }
}

/* ---- Waves ----------------------------------------------------------------------------------- */

double tz__roofs_step_clocks(const stage *s, int p, double warps)
{
    const cost *c = &s->parts[p];
    const tz_work_part *part = &s->work->parts[p];
    if (part->rounds.count > 0 && part->waits > 0.0)
        return tz__roofs_soft_max(tz_rounds_clocks(&part->rounds, warps), c->alone,
                                  TZ_FIT_SOFT_LATENCY);
    if (part->rounds.count > 0)
        return tz_rounds_clocks(&part->rounds, warps);
    return tz__roofs_soft_max(warps * c->clocks, c->alone, TZ_FIT_SOFT_LATENCY) +
           c->barriers * s->warps / fmax(warps, s->warps);
}

/* Clocks of a warp of part p from its first to its last instruction, on a multiprocessor with
 * `warps` warps. */
static double warp_clocks(const stage *s, int p, double warps)
{
    const tz_work_part *part = &s->work->parts[p];
    const double once = part->once_rounds.count > 0 ? tz_rounds_clocks(&part->once_rounds, warps)
                                                    : warps * s->once[p].clocks;
    return part->steps * tz__roofs_step_clocks(s, p, warps) +
           tz__roofs_soft_max(once,
                              part->once_clocks + s->memory_clocks * fmax(1.0, part->once_waits),
                              TZ_FIT_SOFT_LATENCY);
}

/* Clocks to fetch a byte of code that is in no cache. */
static double cold_clocks(const tz_model_device *d)
{
    return tz_model_device_value(d, &d->text_line_clocks) / TZ__LINE;
}

/* At the beginning of a launch no cache has its code. */
static double text_clocks(const stage *s, const tz_work_part *part)
{
    return cold_clocks(s->device) * part->text_bytes / fmax(s->work->stages_per_launch, 1.0);
}

/* Clocks that a warp of part p waits for its own code in a step, beyond the clocks of the step. If
 * its loop and the inner loop do not fit the near instruction cache together, the inner loop stays
 * there, and the own code is fetched again in each step. */
static double fetch_clocks(const stage *s, int p, double step)
{
    const tz_work_part *part = &s->work->parts[p];
    const double bytes = part->loop_bytes + s->work->parts[0].loop_bytes;
    const double near_bytes = tz_model_device_value(s->device, &s->device->near_text_bytes);
    const double missing = fmin(1.0, fmax(0.0, bytes / near_bytes - 1.0) * TZ_FIT_TEXT_OVER);
    const double own = fmin(1.0, part->own_bytes / fmax(16.0 * tz_work_mix_sum(&part->step), 1.0));
    return fmax(0.0, missing * cold_clocks(s->device) * part->own_bytes - own * step);
}

/* Clocks of a warp of part p when the other warps of its scheduler are of the first part, as most
 * warps are: they share the scheduler's issue slots. */
static double among_others(const stage *s, int p, double warps)
{
    const tz_work_part *part = &s->work->parts[p], *others = &s->work->parts[0];
    const double own = part->steps * TZ__SCHEDULERS * s->parts[p].units[ISSUE].clocks;
    const double others_clocks = fmax(0.0, warps - TZ__SCHEDULERS) *
                                 s->parts[0].units[ISSUE].clocks * fmin(part->steps, others->steps);
    const double steps = fmax(own + others_clocks, part->steps * s->parts[p].alone);
    const double fetched = part->steps * fetch_clocks(s, p, steps / fmax(part->steps, 1.0));
    return steps + fmax(text_clocks(s, part), fmin(fetched, TZ_FIT_TEXT_APART)) +
           part->once_clocks + s->memory_clocks * fmax(1.0, part->once_waits);
}

/* Clocks of a wave with `blocks` blocks on the fullest multiprocessor: the mean of all parts.
 * *longest: the clocks of the longest warp. */
static double wave_clocks(const stage *s, double blocks, double *longest)
{
    double sum = 0.0, warps = 0.0;
    *longest = 0.0;
    for (int p = 0; p < s->work->parts_count; p++) {
        const double each = warp_clocks(s, p, blocks * s->warps);
        sum += each * s->work->parts[p].warps;
        warps += s->work->parts[p].warps;
        *longest = fmax(*longest, among_others(s, p, blocks * s->warps));
    }
    return warps > 0.0 ? sum / warps : 0.0;
}

/* ---- Blocks one after the other ----------------------------------------------------------------- */

/* Blocks of a multiprocessor; and blocks times multiprocessors: the most that are followed. Of more blocks
 * the ends hardly matter. */
enum { RUNNING_MAX = 32, FOLLOWED_MOST = 4000000 };

typedef struct busy_sm {
    double left[RUNNING_MAX]; /* share of a block that is not done */
    int part[RUNNING_MAX];
    int count;
    double now, next; /* clocks: up to here it is done; when the next block ends */
} busy_sm;

typedef struct queue {
    const tz_work_run *runs;
    int count, run;
    double taken; /* blocks of the run */
} queue;

/* The part of the next block; -1 if there is none. */
static int next_block(queue *q)
{
    while (q->run < q->count && q->taken >= q->runs[q->run].blocks) {
        q->run++;
        q->taken = 0.0;
    }
    if (q->run >= q->count)
        return -1;
    q->taken++;
    return q->runs[q->run].part;
}

static void find_next(busy_sm *r, const double (*clocks)[RUNNING_MAX + 1])
{
    r->next = INFINITY;
    for (int b = 0; b < r->count; b++)
        r->next = fmin(r->next, r->now + r->left[b] * clocks[r->part[b]][r->count]);
}

static void start_block(busy_sm *r, int part)
{
    r->left[r->count] = 1.0;
    r->part[r->count++] = part;
}

/* Clocks until all blocks of `blocks` are done on `sms` multiprocessors. As many as fit begin together; then
 * each begins on the first multiprocessor that has room. Blocks of a multiprocessor slow each other down.
 * -1: out of memory. */
static double follow(const stage *s, queue blocks, int sms)
{
    const int most = s->blocks < RUNNING_MAX ? s->blocks : RUNNING_MAX;
    double clocks[TZ_WORK_PARTS_MAX][RUNNING_MAX + 1] = {{0}}, end = 0.0;
    busy_sm *all = calloc((size_t)sms, sizeof *all);
    if (!all)
        return -1.0;
    for (int p = 0; p < s->work->parts_count; p++)
        for (int n = 1; n <= most; n++)
            clocks[p][n] = warp_clocks(s, p, n * s->warps);
    int part = 0;
    for (int n = 0; n < most && part >= 0; n++)
        for (int k = 0; k < sms && (part = next_block(&blocks)) >= 0; k++)
            start_block(&all[k], part);
    for (int k = 0; k < sms; k++)
        find_next(&all[k], clocks);
    for (;;) {
        busy_sm *r = all;
        for (int k = 1; k < sms; k++)
            r = all[k].next < r->next ? &all[k] : r;
        if (!isfinite(r->next))
            break;
        const double passed = r->next - r->now;
        const int count = r->count;
        end = r->now = r->next;
        r->count = 0;
        for (int b = 0; b < count; b++) {
            const double left = r->left[b] - passed / clocks[r->part[b]][count];
            if (left > 1e-9) {
                r->left[r->count] = left;
                r->part[r->count++] = r->part[b];
            }
        }
        while (r->count < most && (part = next_block(&blocks)) >= 0)
            start_block(r, part);
        find_next(r, clocks);
    }
    free(all);
    return end;
}

/* Clocks of all blocks in the order of work->runs, or of the busiest multiprocessor (busiest_warps of each
 * part). -1: neither is known, there are too many blocks, or too little memory. */
static double ordered_clocks(const stage *s)
{
    const tz_model_work *work = s->work;
    const double sms = s->device->sm_count.value;
    if (work->runs_count > 0)
        return work->blocks * sms > (double)FOLLOWED_MOST
                   ? -1.0
                   : follow(s, (queue){.runs = work->runs, .count = work->runs_count}, (int)sms);
    tz_work_run busiest[TZ_WORK_PARTS_MAX];
    double blocks = 0.0;
    for (int p = 0; p < work->parts_count; p++) {
        busiest[p] = (tz_work_run){p, ceil(work->parts[p].busiest_warps / s->warps - 0.5)};
        blocks += busiest[p].blocks;
    }
    return blocks > 0.0 && blocks <= FOLLOWED_MOST
               ? follow(s, (queue){.runs = busiest, .count = work->parts_count}, 1)
               : -1.0;
}

computing tz__roofs_compute(const stage *s)
{
    const tz_model_work *work = s->work;
    const double sms = s->device->sm_count.value, slots = s->blocks * sms;
    computing c = {.waves = work->blocks / slots, .warps = s->blocks * s->warps};
    c.full = floor(c.waves);
    c.rest = work->blocks - c.full * slots;
    double longest = 0.0, tail = 0.0, longest_rest = 0.0;
    const double wave = wave_clocks(s, s->blocks, &longest);
    if (c.rest > 0.0)
        tail = wave_clocks(s, ceil(c.rest / sms), &longest_rest);
    const double ordered = ordered_clocks(s);
    const bool of_one = work->runs_count == 0 && ordered > 0.0;
    double text = 0.0, running = 0.0;
    for (int p = 0; p < work->parts_count; p++) {
        const double warps = of_one ? work->parts[p].busiest_warps : work->parts[p].warps;
        text += warps * text_clocks(s, &work->parts[p]);
        running += warps;
    }
    c.clocks = (ordered > 0.0 ? ordered : c.full * wave + tail) + text / running;
    if (ordered <= 0.0 || of_one)
        c.clocks = fmax(c.clocks, c.full >= 1.0 ? longest : longest_rest);
    c.even = c.waves * wave;
    c.seconds = c.clocks / s->device->clock_hz.value;
    return c;
}
