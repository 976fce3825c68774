/* roofs for GPUs. Clocks are those of a multiprocessor; a stage is one launch.
 *
 *  1. Occupancy: registers, shared memory and threads limit the blocks of a multiprocessor.
 *  2. A step of all warps of a multiprocessor takes the simulated time of its schedulers
 *     (scheduler/scheduler.h).
 *  3. Without a simulated schedule, for counts that are estimated or made up, a step takes the
 *     soft maximum of issue slots and units. N warps take N times that, or at least the time of
 *     one warp alone with its latencies.
 *  4. Waves: rounds of blocks that run together, with fewer blocks in the last wave. If waves are
 *     few, the busiest multiprocessor counts.
 *  5. Memory and second-level cache: bytes over bandwidth, softly against 4. Launches and
 *     synchronisation of blocks add to that.
 *
 * Soft maxima and other fitted numbers: constants.h. */
#include "model/roofs.h"

#include "model/constants.h"
#include "model/scheduler/rounds.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SCHEDULERS = 4, WARP = 32, LINE = 128 };

typedef struct unit {
    const char *name;
    double clocks; /* of this unit, for a step of a warp */
} unit;

enum { ISSUE, SINGLE, DOUBLE, INTEGER, EXCHANGE, SPECIAL, UNITS };

typedef struct cost {
    unit units[UNITS];
    double clocks;   /* of a step of a warp in a full multiprocessor */
    double alone;    /* of a step of a warp that is alone */
    double barriers; /* waits at barriers in a step that no other warp of the block hides */
    int longest;     /* the busiest unit */
} cost;

typedef struct stage {
    const tz_model_work *work;
    const tz_model_device *device;
    cost parts[TZ_WORK_PARTS_MAX], once[TZ_WORK_PARTS_MAX]; /* of a step, and outside the loop */
    double kept;          /* share of the grid that stays in L2 from one stage to the next */
    double memory_clocks; /* latency of a load */
    int blocks;           /* at once on a multiprocessor */
    double warps;         /* of a block */
    char occupancy[96];   /* what limits `blocks` */
} stage;

typedef struct computing {
    double waves, full;    /* waves of blocks; the full ones among them */
    double rest;           /* blocks of the last wave */
    double clocks;         /* of a stage */
    double even;           /* the same if blocks could be divided at will */
    double warps, seconds; /* warps at once on a multiprocessor; the time of a stage */
} computing;

/* ---- The time of computing ------------------------------------------------------------------- */

static double soft_max(double a, double b, double exponent)
{
    const double high = fmax(a, b), low = fmin(a, b);
    return high > 0.0 ? high * pow(1.0 + pow(low / high, exponent), 1.0 / exponent) : 0.0;
}

int tz_roofs_blocks_per_sm(const tz_model_device *device, const tz_model_work *work, char *why,
                           size_t size)
{
    const double warps = ceil(work->threads / (double)WARP);
    const double granule = device->register_unit.known ? device->register_unit.value : 256.0;
    const double each = ceil(fmax(work->registers, 1) * WARP / granule) * granule;
    /* Each scheduler has its own registers and warps. */
    const double room = floor(device->registers_per_sm.value / SCHEDULERS / each) * SCHEDULERS;
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
        {"threads limit", floor(device->threads_per_sm_max.value / (warps * WARP))},
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

/* A measured time in clocks of the device; 0 if it is not known. */
static double clocks_of(const tz_model_device *d, const tz_model_number *time)
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
        c->clocks = soft_max(c->clocks, c->units[k].clocks, soft);
        if (c->units[k].clocks > c->units[c->longest].clocks)
            c->longest = k;
    }
}

static double latency_clocks(const tz_model_device *d, const tz_work_mix *chain)
{
    return chain->of[TZ_WORK_SHUFFLE] * clocks_of(d, &d->shuffle_latency_s) +
           chain->of[TZ_WORK_SHARED_READ] * clocks_of(d, &d->shared_latency_s) +
           chain->of[TZ_WORK_FP64] * clocks_of(d, &d->fp64_latency_s) +
           (chain->of[TZ_WORK_SPECIAL] + TZ_FIT_CHAIN_READ * chain->of[TZ_WORK_READ]) *
               clocks_of(d, &d->shuffle_latency_s) +
           (chain->of[TZ_WORK_INTEGER] + chain->of[TZ_WORK_MULTIPLY] + chain->of[TZ_WORK_LOGIC] +
            chain->of[TZ_WORK_MOVE] + chain->of[TZ_WORK_FP32]) *
               tz_model_device_value(d, &d->result_clocks);
}

/* Fill stage->parts and stage->once from the other members. */
static void find_costs(stage *s)
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
            part->step.of[TZ_WORK_BARRIER] * clocks_of(device, &device->barrier_s) +
            TZ_FIT_BARRIER_WAIT * fmin(1.0, part->step.of[TZ_WORK_BARRIER]) * own;
        /* Streamed slabs come from memory in each iteration, other fields in the first. */
        const double far_clocks = work->streamed_bytes > 0.0
                                      ? clocks_of(device, &device->memory_latency_s)
                                      : s->memory_clocks;
        const double near_clocks =
            work->streamed_bytes > 0.0 ? far_clocks : clocks_of(device, &device->l2_latency_s);
        s->parts[p].alone = own + part->waits * (far_clocks + (work->height - 1.0) * near_clocks) /
                                      fmax(work->height, 1.0);
    }
}

/* ---- Waves ----------------------------------------------------------------------------------- */

static double step_clocks(const stage *s, int p, double warps)
{
    const cost *c = &s->parts[p];
    const tz_work_part *part = &s->work->parts[p];
    if (part->rounds.count > 0 && part->waits > 0.0)
        return soft_max(tz_rounds_clocks(&part->rounds, warps), c->alone, TZ_FIT_SOFT_LATENCY);
    if (part->rounds.count > 0)
        return tz_rounds_clocks(&part->rounds, warps);
    return soft_max(warps * c->clocks, c->alone, TZ_FIT_SOFT_LATENCY) +
           c->barriers * s->warps / fmax(warps, s->warps);
}

/* Clocks of a warp of part p from its first to its last instruction, on a multiprocessor with
 * `warps` warps. */
static double warp_clocks(const stage *s, int p, double warps)
{
    const tz_work_part *part = &s->work->parts[p];
    const double once = part->once_rounds.count > 0 ? tz_rounds_clocks(&part->once_rounds, warps)
                                                    : warps * s->once[p].clocks;
    return part->steps * step_clocks(s, p, warps) +
           soft_max(once, part->once_clocks + s->memory_clocks * fmax(1.0, part->once_waits),
                    TZ_FIT_SOFT_LATENCY);
}

/* Clocks to fetch a byte of code that is in no cache. */
static double cold_clocks(const tz_model_device *d)
{
    return tz_model_device_value(d, &d->text_line_clocks) / LINE;
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
    const double own = part->steps * SCHEDULERS * s->parts[p].units[ISSUE].clocks;
    const double others_clocks = fmax(0.0, warps - SCHEDULERS) * s->parts[0].units[ISSUE].clocks *
                                 fmin(part->steps, others->steps);
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

/* ---- Blocks one after the other -------------------------------------------------------------- */

/* Blocks of a multiprocessor; and blocks times multiprocessors: the most that are followed. Of more
 * blocks the ends hardly matter. */
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

/* Clocks until all blocks of `blocks` are done on `sms` multiprocessors. As many as fit begin
 * together; then each begins on the first multiprocessor that has room. Blocks of a multiprocessor
 * slow each other down. -1: out of memory. */
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

/* Clocks of all blocks in the order of work->runs, or of the busiest multiprocessor (busiest_warps
 * of each part). -1: neither is known, there are too many blocks, or too little memory. */
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

/* The time of computing all blocks of a stage. */
static computing compute(const stage *s)
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

/* ---- The rest of a stage --------------------------------------------------------------------- */

/* A unit that is busy for at least this percentage of the time is named as the limit. */
#define BUSY 80.0

static const char *const needs[] = {"clock",
                                    "sm_count",
                                    "registers_per_sm",
                                    "register_unit",
                                    "threads_per_sm_max",
                                    "blocks_per_sm",
                                    "shared_per_sm",
                                    "issue_rate",
                                    "fp32_rate",
                                    "fp64_rate",
                                    "integer_rate",
                                    "alu_rate",
                                    "multiply_rate",
                                    "shuffle_rate",
                                    "special_rate",
                                    "shared_rate",
                                    "shuffle_latency",
                                    "shared_latency",
                                    "memory_latency",
                                    "l2_latency",
                                    "copy_bandwidth",
                                    "l2_bandwidth",
                                    "l2",
                                    "launch_queued",
                                    "queue_depth",
                                    "queue_clocks",
                                    "queue_slots",
                                    "operand_clocks",
                                    "result_clocks",
                                    "near_text",
                                    "text_line_clocks",
                                    NULL};

/* ---- Memory ---------------------------------------------------------------------------------- */

/* The share of pairs of stores that the memory unit does not join, because the second store comes
 * late or other warps of the scheduler use shared memory in between. */
static double parted_share(const stage *s)
{
    const tz_work_part *part = &s->work->parts[0];
    const double all = tz_work_mix_sum(&part->step);
    const double warps =
        fmin(s->blocks, ceil(s->work->blocks / s->device->sm_count.value)) * s->warps / SCHEDULERS;
    const double between = pow(warps * part->shared_wavefronts / fmax(all, 1.0) / TZ_FIT_CROWDED,
                               TZ_FIT_CROWDED_POWER);
    return 1.0 - (1.0 - part->apart) / (1.0 + between);
}

/* The ghost cells that are read from memory, not from the second level. */
static double far_bytes(const stage *s)
{
    const tz_model_work *work = s->work;
    const double planes = work->plane_bytes / fmax(s->device->l2_bytes.value, 1.0);
    const double passed = fmin(TZ_FIT_PLANES_FAR_MOST, TZ_FIT_PLANES_FAR * planes) *
                          pow(work->height, -TZ_FIT_PLANES_FAR_HEIGHT);
    return fmin(work->ghost_bytes, fmax(work->far_bytes, passed * work->ghost_bytes));
}

typedef struct moving {
    double memory_s, l2_s; /* of a stage, each alone */
    double seconds;        /* both, with the waits for prefetched loads */
    double spills_s;
    bool ahead; /* loads are prefetched some steps ahead */
    bool meets; /* and the warps of a block meet at barriers in each step */
} moving;

static moving move(const stage *s, const computing *c)
{
    const tz_model_work *work = s->work;
    const tz_model_device *device = s->device;
    const tz_work_part *inner = &work->parts[0];
    const double compulsory = work->read_bytes + work->write_bytes;
    const double far = far_bytes(s);
    const double passing = work->streamed_bytes;
    const double pairs = parted_share(s) * work->pairs_bytes;
    const double share = work->memory_share > 0.0 ? work->memory_share : TZ_FIT_MEMORY_SHARE;
    moving m = {
        .memory_s =
            ((1.0 - s->kept) * (compulsory - passing + far + TZ_FIT_PARTED * pairs) + passing) /
            (share * device->copy_bandwidth_bytes_per_s.value),
        .l2_s = (compulsory + work->ghost_bytes + work->half_bytes + pairs) /
                device->l2_bandwidth_bytes_per_s.value,
    };
    m.seconds = soft_max(m.memory_s, m.l2_s, TZ_FIT_SOFT_MEMORY);
    /* Loads are issued `ahead` steps before their step. In that time the latency and the step's
     * share of the transfer pass. */
    const double ahead = inner->bytes > 0.0 ? work->ahead_bytes / inner->bytes : 0.0;
    if (ahead > 0.0) {
        m.ahead = true;
        m.meets = inner->step.of[TZ_WORK_BARRIER] > 0.0;
        const double clock = device->clock_hz.value;
        const double steps = (c->full + (c->rest > 0.0 ? 1.0 : 0.0)) * inner->steps;
        const double loads = (m.meets ? TZ_FIT_OWN_TRANSFER : 1.0) *
                             (work->read_bytes + TZ_FIT_STORES_WAIT * work->write_bytes) /
                             compulsory;
        const double late_s = inner->late * c->clocks / clock;
        m.seconds = soft_max(
            m.seconds, (loads * m.seconds + steps * s->memory_clocks / clock + late_s) / ahead,
            TZ_FIT_SOFT_LATENCY);
    }
    double spilt = 0.0;
    for (int p = 0; p < work->parts_count; p++)
        spilt += work->parts[p].warps * work->parts[p].steps * work->parts[p].spilt_stores * LINE;
    m.spills_s = TZ_FIT_SPILLS * spilt / device->l2_bandwidth_bytes_per_s.value;
    return m;
}

/* ---- Reporting ------------------------------------------------------------------------------- */

typedef struct times {
    double busy_s;          /* computing and moving */
    double start_s, sync_s; /* launches; synchronisation of blocks */
} times;

/* Bytes of the lines through which blocks hand each other cells, and for which the second level has
 * no room: they go to memory and come back in each exchange, while all blocks wait for them. */
static double late_bytes(const stage *s)
{
    const double room = TZ_FIT_KEPT_ALL * s->device->l2_bytes.value;
    return 2.0 * fmax(0.0, s->work->slots_bytes - room);
}

/* Counts of a stage as a profiler has them: warp instructions, passes of 128 bytes through shared
 * memory, spilt words of 128 bytes, bytes of the second level and of memory. */
static void add_counts(const stage *s, tz_model_prediction *out)
{
    const tz_model_work *work = s->work;
    double instructions = 0.0, passes = 0.0, words = 0.0;
    for (int p = 0; p < work->parts_count; p++) {
        const tz_work_part *part = &work->parts[p];
        instructions += part->warps *
                        (part->steps * tz_work_mix_sum(&part->step) + tz_work_mix_sum(&part->once));
        passes +=
            part->warps * part->steps * (part->shared_wavefronts + part->step.of[TZ_WORK_SHUFFLE]);
        words += part->warps * part->steps * part->spills;
    }
    const double compulsory = work->read_bytes + work->write_bytes;
    const double far = far_bytes(s);
    tz_model_detail_add(out, "instructions", instructions, "", "of warps, a stage");
    tz_model_detail_add(out, "wavefronts", passes, "",
                        "of 128 bytes through shared memory and shuffles, a stage");
    tz_model_detail_add(out, "spilt_words", words, "",
                        "of warps, loaded and stored, 128 bytes each, a stage");
    tz_model_detail_add(out, "l2_bytes", compulsory + work->ghost_bytes + work->half_bytes, "bytes",
                        "through the second-level cache, a stage");
    tz_model_detail_add(out, "memory_bytes",
                        (1.0 - s->kept) * (compulsory - work->streamed_bytes + far) +
                            work->streamed_bytes + late_bytes(s),
                        "bytes", "through memory, a stage");
}

/* Names the busiest unit, and the main wait of warps if it is another one. */
static void name_unit(const stage *s, double warps, tz_model_prediction *out)
{
    static const char *const waits[TZ_ROUNDS_WAITS] = {
        [TZ_ROUNDS_LATENCY] = "dependent instructions",
        [TZ_ROUNDS_SHUFFLE] = "shuffles and shared memory",
        [TZ_ROUNDS_LOCAL] = "spilt registers",
        [TZ_ROUNDS_SINGLE] = "the single precision unit",
        [TZ_ROUNDS_DOUBLE] = "the double precision unit",
        [TZ_ROUNDS_INTEGER] = "the unit of integers and logic",
        [TZ_ROUNDS_QUEUE] = "the queue to shared memory",
        [TZ_ROUNDS_SYNC] = "other warps of the block",
        [TZ_ROUNDS_SLOT] = "a free issue slot",
    };
    const tz_rounds *rounds = &s->work->parts[0].rounds;
    const cost *inner = &s->parts[0];
    const unit *longest = &inner->units[inner->longest];
    const double busy =
        100.0 * fmin(1.0, warps * longest->clocks / fmax(step_clocks(s, 0, warps), 1e-9));
    const int at = tz_rounds_near(rounds, warps);
    int most = 0;
    for (int k = 1; at >= 0 && k < TZ_ROUNDS_WAITS; k++)
        if (rounds->waits[at][k] > rounds->waits[at][most])
            most = k;
    if (at < 0 || busy >= BUSY)
        snprintf(out->limit_text, sizeof out->limit_text, "%s: %.0f %% busy; %s", longest->name,
                 busy, s->occupancy);
    else
        snprintf(out->limit_text, sizeof out->limit_text,
                 "warps wait for %s, %.0f %% of their time; %s, %.0f %% busy; %s", waits[most],
                 100.0 * rounds->waits[at][most], longest->name, busy, s->occupancy);
}

static void name_limit(const stage *s, const computing *c, const moving *m, const times *t,
                       tz_model_prediction *out)
{
    if (m->seconds > c->seconds)
        snprintf(out->limit_text, sizeof out->limit_text, "%s: %.0f %% of its bandwidth",
                 m->memory_s > m->l2_s ? "memory" : "second-level cache",
                 100.0 * fmax(m->memory_s, m->l2_s) / out->stage_s);
    else if (t->start_s + t->sync_s > 0.5 * out->stage_s)
        snprintf(out->limit_text, sizeof out->limit_text, "%s: %.0f %% of the time",
                 t->sync_s > t->start_s ? "synchronisation of blocks" : "launches",
                 100.0 * (t->start_s + t->sync_s) / out->stage_s);
    else
        name_unit(s, c->warps, out);
}

/* The time as a sum: the time of issue slots, then each further cause. */
static void add_components(const stage *s, const computing *c, const times *t,
                           tz_model_prediction *out)
{
    const tz_model_work *work = s->work;
    const double clock = s->device->clock_hz.value, sms = s->device->sm_count.value;
    double issue = 0.0, alone = 0.0;
    for (int p = 0; p < work->parts_count; p++) {
        const tz_work_part *part = &work->parts[p];
        issue += part->warps * part->steps * s->parts[p].clocks / sms;
        alone += part->warps * part->steps * step_clocks(s, p, c->warps) / c->warps / sms;
    }
    const double h = work->height, issue_s = fmin(issue / clock, c->seconds);
    const double latency_s = fmax(0.0, fmin(alone, fmin(c->even, c->clocks)) / clock - issue_s);
    tz_model_component_add(out, TZ_MODEL_COMPUTATION, "issue", issue_s / h,
                           "instructions, at the rate of the busiest unit");
    tz_model_component_add(out, TZ_MODEL_COMPUTATION, "latency", latency_s / h,
                           "too few warps to hide what each waits for");
    tz_model_component_add(out, TZ_MODEL_COMPUTATION, "tail",
                           (c->seconds - issue_s - latency_s) / h,
                           "starts of warps, and multiprocessors idle while the last blocks run");
    tz_model_component_add(out, TZ_MODEL_MEMORY, "memory", fmax(0.0, t->busy_s - c->seconds) / h,
                           "waiting for memory or second-level cache beyond that");
    tz_model_component_add(out, TZ_MODEL_SYNCHRONISATION, "sync", (t->start_s + t->sync_s) / h,
                           "launches, or synchronisation of blocks");
}

static void report(const stage *s, const computing *c, const moving *m, const times *t,
                   tz_model_prediction *out)
{
    const double h = s->work->height;
    const cost *inner = &s->parts[0];
    add_components(s, c, t, out);
    tz_model_detail_add(out, "warps", c->warps, "", "of a multiprocessor at once");
    tz_model_detail_add(out, "waves", c->waves, "", "of blocks");
    tz_model_detail_add(out, "memory_roof", m->memory_s / h, "s", "an iteration, memory alone");
    tz_model_detail_add(out, "l2_roof", m->l2_s / h, "s", "an iteration, second-level cache alone");
    tz_model_detail_add(out, "compute_roof", c->seconds / h, "s", "an iteration, computing alone");
    tz_model_detail_add(out, "issue_clocks", inner->clocks, "clocks", "a step of an inner warp");
    tz_model_detail_add(out, "alone_clocks", inner->alone, "clocks", "the same, of a warp alone");
    add_counts(s, out);
    name_limit(s, c, m, t, out);
}

/* ---- Together -------------------------------------------------------------------------------- */

static tz_status check(const tz_model_work *work, const tz_model_device *device,
                       tz_model_prediction *out, tz_error *error)
{
    const tz_status status = tz_model_device_check(device, "roofs", needs, &out->notes, error);
    if (status != TZ_OK)
        return status;
    if (work->threads < 1 || !(work->blocks >= 1) || work->parts_count < 1 ||
        work->parts_count > TZ_WORK_PARTS_MAX)
        return tz_error_set(error, TZ_RANGE, device->name,
                            "%g blocks of %d threads in %d parts are no launch", work->blocks,
                            work->threads, work->parts_count);
    return TZ_OK;
}

/* The share of the grid that stays in the second level from one stage to the next. */
static double kept_share(const tz_model_work *work, const tz_model_device *device)
{
    const double share = work->resident_bytes / fmax(device->l2_bytes.value, 1.0);
    return fmin(1.0, fmax(0.0, (TZ_FIT_KEPT_NONE - share) / (TZ_FIT_KEPT_NONE - TZ_FIT_KEPT_ALL)));
}

tz_status tz_roofs_predict_gpu(const tz_model_work *work, const tz_model_device *device,
                               tz_model_prediction *out, tz_error *error)
{
    stage s = {.work = work, .device = device, .warps = ceil(work->threads / (double)WARP)};
    const tz_status status = check(work, device, out, error);
    if (status)
        return status;
    s.blocks = tz_roofs_blocks_per_sm(device, work, s.occupancy, sizeof s.occupancy);
    if (s.blocks < 1)
        return tz_error_set(error, TZ_RANGE, device->name,
                            "a block of %d threads with %d registers each and %d bytes of "
                            "shared memory does not fit a multiprocessor",
                            work->threads, work->registers, work->shared_bytes);
    s.kept = kept_share(work, device);
    s.memory_clocks = s.kept * clocks_of(device, &device->l2_latency_s) +
                      (1.0 - s.kept) * clocks_of(device, &device->memory_latency_s);
    find_costs(&s);
    const computing c = compute(&s);
    const moving m = move(&s, &c);
    /* Other blocks that begin together all load first and then compute. */
    const bool overlap = m.ahead || work->streams || c.waves > 1.0;
    const double soft = work->marches ? TZ_FIT_SOFT_BUSY_MARCHING
                        : m.meets     ? TZ_FIT_SOFT_BUSY_MEETING
                                      : TZ_FIT_SOFT_BUSY;
    times t = {.busy_s = (overlap ? soft_max(c.seconds, m.seconds, soft) : c.seconds + m.seconds) +
                         m.spills_s};
    /* The host may be slower than the GPU. */
    const double launches = work->stages_per_launch > 0.0 ? 1.0 / work->stages_per_launch : 1.0;
    t.start_s = work->cooperative && device->launch_alone_s.known
                    ? launches * device->launch_alone_s.value
                    : fmax(launches * device->launch_gap_s.value,
                           launches * device->launch_queued_s.value - t.busy_s);
    t.sync_s = work->syncs * (device->neighbour_sync_s.known
                                  ? device->neighbour_sync_s.value
                                  : TZ_FIT_NEIGHBOUR_L2 * device->l2_latency_s.value) +
               late_bytes(&s) / device->copy_bandwidth_bytes_per_s.value;
    out->stage_s = t.busy_s + t.start_s + t.sync_s;
    report(&s, &c, &m, &t, out);
    return TZ_OK;
}
