/* The GPU half of roofs. Clocks are those of a multiprocessor; a stage is a launch.
 *
 * 1. Occupancy: how many blocks a multiprocessor holds, from registers, shared memory, threads.
 * 2. A step of all warps of a multiprocessor: as its schedulers take for it (scheduler.h).
 * 3. A step whose code was not run, since there is none but numbers: issue slots, and what each
 * unit takes for its classes, the longest softly; with N warps N times that, or what one takes that
 * is alone, with full latencies where it waits for them.
 * 4. Waves: blocks that are on the GPU together, the last of them fewer; where they are few, those
 * of the multiprocessor that has most to do.
 * 5. Memory and L2: bytes over bandwidth, softly against 4; then launch or meetings on top. */
#include "model/constants.h"
#include "model/roofs.h"
#include "model/scheduler/scheduler.h"

#include <math.h>
#include <stdio.h>

/* A unit limits that is busy for that much of the time. */
#define BUSY 80.0

enum { SCHEDULERS = 4, WARP = 32, LINE = 128, CROWD_MAX = 64 };

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
                                    "logic_rate",
                                    "move_rate",
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

static double soft_max(double a, double b, double exponent)
{
    const double high = fmax(a, b), low = fmin(a, b);
    return high > 0.0 ? high * pow(1.0 + pow(low / high, exponent), 1.0 / exponent) : 0.0;
}

int tz_roofs_blocks_per_sm(const tz_model_device *device, const tz_model_work *work, char *why,
                           size_t size)
{
    const double warps = ceil(work->threads / (double)WARP);
    const double unit = device->register_unit.known ? device->register_unit.value : 256.0;
    const double each = ceil(fmax(work->registers, 1) * WARP / unit) * unit;
    /* Registers belong to a scheduler, and so do warps. */
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

/* What a device does for a class of instructions. */
typedef struct unit {
    const char *name;
    double clocks; /* a step of a warp */
} unit;

enum { ISSUE, SINGLE, DOUBLE, WHOLE, EXCHANGE, SPECIAL, UNITS };

typedef struct cost {
    unit units[UNITS];
    double clocks;   /* a warp's step in a full multiprocessor */
    double alone;    /* of a warp that is alone */
    double barriers; /* clocks of them that nothing else hides in the block */
    int longest;     /* unit */
} cost;

static double over(double count, const tz_model_number *rate)
{
    return count > 0.0 ? count / rate->value : 0.0;
}

static double clocks_of(const tz_model_device *d, const tz_model_number *time)
{
    return time->known ? time->value * d->clock_hz.value : 0.0;
}

static void cost_of(const tz_model_device *d, const tz_work_mix *m, double passes, double soft,
                    cost *c)
{
    double all = 0.0;
    for (int k = 0; k < TZ_WORK_CLASSES; k++)
        all += m->of[k];
    c->units[ISSUE] = (unit){"issue slots", over(all, &d->issue_rate)};
    /* Multiply-adds of whole numbers have a part of the single precision units. */
    c->units[SINGLE] = (unit){
        "single precision", fmax(over(m->of[TZ_WORK_FP32] + m->of[TZ_WORK_MULTIPLY], &d->fp32_rate),
                                 over(m->of[TZ_WORK_MULTIPLY], &d->multiply_rate))};
    c->units[DOUBLE] = (unit){"double precision", over(m->of[TZ_WORK_FP64], &d->fp64_rate)};
    const double whole = m->of[TZ_WORK_INTEGER] + m->of[TZ_WORK_LOGIC] + m->of[TZ_WORK_MOVE];
    c->units[WHOLE] = (unit){"integers and logic", over(whole, &d->alu_rate)};
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

typedef struct stage {
    const tz_model_work *work;
    const tz_model_device *device;
    cost parts[TZ_WORK_PARTS_MAX], once[TZ_WORK_PARTS_MAX];
    double memory_clocks; /* latency of what is loaded */
    int blocks;           /* of a multiprocessor */
    double warps;         /* of a block */
} stage;

/* Clocks that a multiprocessor with so many warps of a part takes for a step of all of them. */
static double round_clocks(const stage *s, int p, double warps)
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

/* Clocks of a warp of a part from its first instruction to its last, so many being there. */
static double warp_clocks(const stage *s, int p, double warps)
{
    const tz_work_part *part = &s->work->parts[p];
    const double once = part->once_rounds.count > 0 ? tz_rounds_clocks(&part->once_rounds, warps)
                                                    : warps * s->once[p].clocks;
    return part->steps * round_clocks(s, p, warps) +
           soft_max(once, part->once_clocks + s->memory_clocks * fmax(1.0, part->once_waits),
                    TZ_FIT_SOFT_LATENCY);
}

/* Clocks of a byte of code that no cache has. */
static double cold_clocks(const tz_model_device *d)
{
    return tz_model_device_value(d, &d->text_line_clocks) / LINE;
}

/* Every launch begins with code that is not there yet. */
static double text_clocks(const stage *s, const tz_work_part *part)
{
    return cold_clocks(s->device) * part->text_bytes / fmax(s->work->stages_per_launch, 1.0);
}

/* Clocks that a warp whose code is its own waits for it in a step, beyond those of the step: where
 * two loops do not fit the instruction cache together, that of the others is there and its own has
 * to come anew each time. */
static double fetch_clocks(const stage *s, int p, double step)
{
    const tz_work_part *part = &s->work->parts[p];
    const double bytes = part->loop_bytes + s->work->parts[0].loop_bytes;
    const double near_bytes = tz_model_device_value(s->device, &s->device->near_text_bytes);
    const double missing = fmin(1.0, fmax(0.0, bytes / near_bytes - 1.0) * TZ_FIT_TEXT_OVER);
    double instructions = 0.0;
    for (int k = 0; k < TZ_WORK_CLASSES; k++)
        instructions += part->step.of[k];
    const double own = fmin(1.0, part->own_bytes / fmax(16.0 * instructions, 1.0));
    return fmax(0.0, missing * cold_clocks(s->device) * part->own_bytes - own * step);
}

/* The same where the others of the warp's scheduler are of the first part, which is most of them:
 * issue slots are a scheduler's own. */
static double among_others(const stage *s, int p, double warps)
{
    const tz_work_part *part = &s->work->parts[p], *others = &s->work->parts[0];
    const double own = part->steps * SCHEDULERS * s->parts[p].units[ISSUE].clocks;
    const double besides = fmax(0.0, warps - SCHEDULERS) * s->parts[0].units[ISSUE].clocks *
                           fmin(part->steps, others->steps);
    const double steps = fmax(own + besides, part->steps * s->parts[p].alone);
    const double fetched = part->steps * fetch_clocks(s, p, steps / fmax(part->steps, 1.0));
    return steps + fmax(text_clocks(s, part), fmin(fetched, TZ_FIT_TEXT_APART)) +
           part->once_clocks + s->memory_clocks * fmax(1.0, part->once_waits);
}

/* Clocks of a wave with so many blocks on the fullest multiprocessor: all parts' mean, but no less
 * than the longest warp. */
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

/* Clocks of the multiprocessor with most to do: blocks of the first part begin together, as many as
 * there is room for; when one ends, another begins, and those that are left go on faster. */
static double crowd_clocks(const stage *s)
{
    double left[CROWD_MAX], clocks = 0.0;
    int part[CROWD_MAX], count = 0, next = 0, running = 0;
    for (int p = 0; p < s->work->parts_count; p++)
        for (double b = 0.5; b < s->work->parts[p].crowd / s->warps && count < CROWD_MAX; b++) {
            part[count] = p;
            left[count++] = 1.0;
        }
    do {
        double each[TZ_WORK_PARTS_MAX] = {0}, least = INFINITY;
        for (; next < count && running < s->blocks; next++)
            running++;
        for (int b = 0; b < next; b++) {
            if (left[b] > 0.0 && each[part[b]] == 0.0)
                each[part[b]] = warp_clocks(s, part[b], running * s->warps);
            if (left[b] > 0.0)
                least = fmin(least, left[b] * each[part[b]]);
        }
        if (running > 0)
            clocks += least;
        for (int b = 0; b < next; b++)
            if (left[b] > 0.0) {
                left[b] -= least / each[part[b]];
                running -= left[b] < 1e-9;
                left[b] = left[b] < 1e-9 ? 0.0 : left[b];
            }
    } while (running > 0 || next < count);
    return clocks;
}

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

/* What a profiler's counters would say of a stage: instructions of warps, passes of 128 bytes
 * through shared memory, spilt words of 128 bytes, bytes asked of the second level and of memory.
 */
static void add_counts(const tz_model_work *work, double kept, tz_model_prediction *out)
{
    double instructions = 0.0, passes = 0.0, words = 0.0;
    for (int p = 0; p < work->parts_count; p++) {
        const tz_work_part *part = &work->parts[p];
        double step = 0.0, once = 0.0;
        for (int k = 0; k < TZ_WORK_CLASSES; k++) {
            step += part->step.of[k];
            once += part->once.of[k];
        }
        instructions += part->warps * (part->steps * step + once);
        passes +=
            part->warps * part->steps * (part->shared_wavefronts + part->step.of[TZ_WORK_SHUFFLE]);
        words += part->warps * part->steps * part->spills;
    }
    const double compulsory = work->read_bytes + work->write_bytes;
    const double far = fmin(work->far_bytes, work->ghost_bytes);
    tz_model_detail_add(out, "instructions", instructions, "", "of warps, a stage");
    tz_model_detail_add(out, "wavefronts", passes, "",
                        "of 128 bytes through shared memory and shuffles, a stage");
    tz_model_detail_add(out, "spilt_words", words, "",
                        "of warps, loaded and stored, 128 bytes each, a stage");
    tz_model_detail_add(out, "l2_bytes", compulsory + work->ghost_bytes + work->half_bytes, "bytes",
                        "asked of the second-level cache, a stage");
    tz_model_detail_add(out, "memory_bytes",
                        (1.0 - kept) * (compulsory - work->stream_bytes + far) + work->stream_bytes,
                        "bytes", "through memory, a stage");
}

/* Which unit is busiest while warps go round, and, where that is not what they wait for, what is.
 */
static void say_limit(const stage *s, double warps, const char *occupancy, tz_model_prediction *out)
{
    static const char *const waits[TZ_ROUNDS_WAITS] = {
        [TZ_ROUNDS_LATENCY] = "dependent instructions",
        [TZ_ROUNDS_SHUFFLE] = "shuffles and shared memory",
        [TZ_ROUNDS_LOCAL] = "spilt registers",
        [TZ_ROUNDS_SINGLE] = "the single precision unit",
        [TZ_ROUNDS_DOUBLE] = "the double precision unit",
        [TZ_ROUNDS_WHOLE] = "the unit of integers and logic",
        [TZ_ROUNDS_QUEUE] = "the queue to shared memory",
        [TZ_ROUNDS_MEET] = "other warps of the block",
        [TZ_ROUNDS_TURN] = "their turn",
    };
    const tz_rounds *rounds = &s->work->parts[0].rounds;
    const cost *inner = &s->parts[0];
    const unit *longest = &inner->units[inner->longest];
    const double busy =
        100.0 * fmin(1.0, warps * longest->clocks / fmax(round_clocks(s, 0, warps), 1e-9));
    const int at = tz_rounds_near(rounds, warps);
    int most = 0;
    for (int k = 1; at >= 0 && k < TZ_ROUNDS_WAITS; k++)
        if (rounds->waits[at][k] > rounds->waits[at][most])
            most = k;
    if (at < 0 || busy >= BUSY)
        snprintf(out->limit_text, sizeof out->limit_text, "%s: %.0f %% busy; %s", longest->name,
                 busy, occupancy);
    else
        snprintf(out->limit_text, sizeof out->limit_text,
                 "warps wait for %s, %.0f %% of their time; %s, %.0f %% busy; %s", waits[most],
                 100.0 * rounds->waits[at][most], longest->name, busy, occupancy);
}

/* Of pairs of stores, those that the memory unit does not put together: the second comes late, or
 * other warps of the scheduler are in between. */
static double parted(const stage *s)
{
    const tz_work_part *part = &s->work->parts[0];
    double all = 0.0;
    for (int k = 0; k < TZ_WORK_CLASSES; k++)
        all += part->step.of[k];
    const double warps =
        fmin(s->blocks, ceil(s->work->blocks / s->device->sm_count.value)) * s->warps / SCHEDULERS;
    const double between = pow(warps * part->shared_wavefronts / fmax(all, 1.0) / TZ_FIT_CROWDED,
                               TZ_FIT_CROWDED_POWER);
    return 1.0 - (1.0 - part->apart) / (1.0 + between);
}

tz_status tz_roofs_predict_gpu(const tz_model_work *work, const tz_model_device *device,
                               tz_model_prediction *out, tz_error *error)
{
    stage s = {.work = work, .device = device, .warps = ceil(work->threads / (double)WARP)};
    char occupancy[96];
    const tz_status status = check(work, device, out, error);
    if (status != TZ_OK)
        return status;
    s.blocks = tz_roofs_blocks_per_sm(device, work, occupancy, sizeof occupancy);
    if (s.blocks < 1)
        return tz_error_set(error, TZ_RANGE, device->name,
                            "a block of %d threads with %d registers each and %d bytes of "
                            "shared memory does not fit a multiprocessor",
                            work->threads, work->registers, work->shared_bytes);
    const double clock = device->clock_hz.value, sms = device->sm_count.value;
    /* A grid that stays in the second level from one stage to the next. */
    const double half = device->l2_useful_bytes.value, whole = fmin(device->l2_bytes.value, half);
    const double kept =
        work->resident_bytes <= whole
            ? 1.0
            : fmax(0.0, 1.0 - (work->resident_bytes - whole) / fmax(half - whole, 1.0));
    s.memory_clocks = kept * clocks_of(device, &device->l2_latency_s) +
                      (1.0 - kept) * clocks_of(device, &device->memory_latency_s);
    for (int p = 0; p < work->parts_count; p++) {
        const tz_work_part *part = &work->parts[p];
        cost_of(device, &part->step, part->shared_wavefronts, TZ_FIT_SOFT_UNITS, &s.parts[p]);
        cost_of(device, &part->once, 0.0, TZ_FIT_SOFT_SHORT, &s.once[p]);
        const double own = part->rounds.count > 0
                               ? tz_rounds_clocks(&part->rounds, s.warps)
                               : part->clocks + latency_clocks(device, &part->chain);
        s.parts[p].barriers =
            part->step.of[TZ_WORK_BARRIER] * clocks_of(device, &device->barrier_s) +
            TZ_FIT_BARRIER_WAIT * fmin(1.0, part->step.of[TZ_WORK_BARRIER]) * own;
        /* What is read each iteration comes from far the first time. */
        const double far_clocks = work->stream_bytes > 0.0
                                      ? clocks_of(device, &device->memory_latency_s)
                                      : s.memory_clocks;
        const double near_clocks =
            work->stream_bytes > 0.0 ? far_clocks : clocks_of(device, &device->l2_latency_s);
        s.parts[p].alone = own + part->waits * (far_clocks + (work->height - 1.0) * near_clocks) /
                                     fmax(work->height, 1.0);
    }

    /* Waves. */
    const double slots = s.blocks * sms, waves = work->blocks / slots;
    const double full = floor(waves), rest = work->blocks - full * slots;
    double longest = 0.0, tail = 0.0, longest_rest = 0.0;
    const double wave = wave_clocks(&s, s.blocks, &longest);
    if (rest > 0.0)
        tail = wave_clocks(&s, ceil(rest / sms), &longest_rest);
    const double crowd = crowd_clocks(&s);
    double compute = crowd > 0.0 ? crowd : full * wave + tail, text = 0.0, running = 0.0;
    for (int p = 0; p < work->parts_count; p++) {
        const double part = crowd > 0.0 ? work->parts[p].crowd : work->parts[p].warps;
        text += part * text_clocks(&s, &work->parts[p]);
        running += part;
    }
    compute = fmax(compute + text / running, full >= 1.0 ? longest : longest_rest);
    const double launches = 1.0 / fmax(work->stages_per_launch, 1.0);
    const double even = waves * wave; /* if work could be divided at will */

    /* Memory. */
    const double compulsory = work->read_bytes + work->write_bytes;
    const double far = fmin(work->far_bytes, work->ghost_bytes);
    const double passing = work->stream_bytes;
    const double pairs = parted(&s) * work->pairs_bytes;
    const double torn = TZ_FIT_TORN * work->torn_bytes + TZ_FIT_PARTED * pairs;
    const double memory_s = ((1.0 - kept) * (compulsory - passing + far + torn) + passing) /
                            (TZ_FIT_MEMORY_SHARE * device->copy_bandwidth_bytes_per_s.value);
    const double l2_s = (compulsory + work->ghost_bytes + work->half_bytes + pairs) /
                        device->l2_bandwidth_bytes_per_s.value;
    double moved_s = soft_max(memory_s, l2_s, TZ_FIT_SOFT_MEMORY);
    /* What a step needs was asked for some steps before: it then takes the latency and its share of
     * the transfer. */
    const double ahead =
        work->parts[0].bytes > 0.0 ? work->ahead_bytes / work->parts[0].bytes : 0.0;
    if (ahead > 0.0) {
        const double steps = (full + (rest > 0.0 ? 1.0 : 0.0)) * work->parts[0].steps;
        /* Stores are not waited for, but get in the way. */
        const double loads =
            (work->read_bytes + TZ_FIT_STORES_WAIT * work->write_bytes) / compulsory;
        const double late_s = work->parts[0].late * compute / clock;
        moved_s =
            soft_max(moved_s, (loads * moved_s + steps * s.memory_clocks / clock + late_s) / ahead,
                     TZ_FIT_SOFT_LATENCY);
    }
    const double compute_s = compute / clock;
    double spilt = 0.0;
    for (int p = 0; p < work->parts_count; p++)
        spilt += work->parts[p].warps * work->parts[p].steps * work->parts[p].spilt_stores * LINE;
    const double spills_s = TZ_FIT_SPILLS * spilt / device->l2_bandwidth_bytes_per_s.value;
    /* Blocks that begin together and ask for nothing ahead all load at once, and then compute. */
    const bool apart = ahead > 0.0 || waves > 1.0;
    const double busy_s =
        (apart ? soft_max(compute_s, moved_s, TZ_FIT_SOFT_MEMORY) : compute_s + moved_s) + spills_s;
    /* The host may be slower than the GPU. */
    const double start_s = work->cooperative && device->launch_alone_s.known
                               ? launches * device->launch_alone_s.value
                               : fmax(launches * device->launch_gap_s.value,
                                      launches * device->launch_queued_s.value - busy_s);
    const double meet_s = work->meetings * (device->neighbour_sync_s.known
                                                ? device->neighbour_sync_s.value
                                                : TZ_FIT_NEIGHBOUR_L2 * device->l2_latency_s.value);
    out->stage_s = busy_s + start_s + meet_s;

    /* The same in parts that add up: what the slots alone would take, then what comes on top. */
    double issue = 0.0, alone = 0.0;
    const double warps = s.blocks * s.warps;
    for (int p = 0; p < work->parts_count; p++) {
        issue += work->parts[p].warps * work->parts[p].steps * s.parts[p].clocks / sms;
        alone +=
            work->parts[p].warps * work->parts[p].steps * round_clocks(&s, p, warps) / warps / sms;
    }
    const double h = work->height, issue_s = fmin(issue / clock, compute_s);
    const double latency_s = fmax(0.0, fmin(alone, fmin(even, compute)) / clock - issue_s);
    tz_model_component_add(out, TZ_MODEL_COMPUTATION, "issue", issue_s / h,
                           "instructions, at the rate of the busiest unit");
    tz_model_component_add(out, TZ_MODEL_COMPUTATION, "latency", latency_s / h,
                           "too few warps to hide what each waits for");
    tz_model_component_add(out, TZ_MODEL_COMPUTATION, "tail", (compute_s - issue_s - latency_s) / h,
                           "starts of warps, and multiprocessors idle while the last blocks run");
    tz_model_component_add(out, TZ_MODEL_MEMORY, "memory", fmax(0.0, busy_s - compute_s) / h,
                           "waiting for memory or second-level cache beyond that");
    tz_model_component_add(out, TZ_MODEL_SYNCHRONISATION, "sync", (start_s + meet_s) / h,
                           "launches, or meetings of blocks");
    tz_model_detail_add(out, "warps", warps, "", "of a multiprocessor at once");
    tz_model_detail_add(out, "waves", waves, "", "of blocks");
    tz_model_detail_add(out, "memory_roof", memory_s / h, "s", "an iteration, memory alone");
    tz_model_detail_add(out, "l2_roof", l2_s / h, "s", "an iteration, second-level cache alone");
    tz_model_detail_add(out, "compute_roof", compute_s / h, "s", "an iteration, computing alone");
    const cost *inner = &s.parts[0];
    tz_model_detail_add(out, "issue_clocks", inner->clocks, "clocks", "a step of an inner warp");
    tz_model_detail_add(out, "alone_clocks", inner->alone, "clocks", "the same, of a warp alone");
    add_counts(work, kept, out);

    if (moved_s > compute_s)
        snprintf(out->limit_text, sizeof out->limit_text, "%s: %.0f %% of its bandwidth",
                 memory_s > l2_s ? "memory" : "second-level cache",
                 100.0 * fmax(memory_s, l2_s) / out->stage_s);
    else if (start_s + meet_s > 0.5 * out->stage_s)
        snprintf(out->limit_text, sizeof out->limit_text, "%s: %.0f %% of the time",
                 meet_s > start_s ? "meetings of blocks" : "launches",
                 100.0 * (start_s + meet_s) / out->stage_s);
    else
        say_limit(&s, warps, occupancy, out);
    return TZ_OK;
}
