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
#include "model/roofs_gpu_impl.h"

#include "model/constants.h"
#include "model/scheduler/rounds.h"
#include <math.h>
#include <stdio.h>

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
    const double warps = fmin(s->blocks, ceil(s->work->blocks / s->device->sm_count.value)) *
                         s->warps / TZ__SCHEDULERS;
    const double between = pow(warps * part->shared_wavefronts / fmax(all, 1.0) / TZ_FIT_CROWDED,
                               TZ_FIT_CROWDED_POWER);
    return 1.0 - (1.0 - part->apart) / (1.0 + between);
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
    const double far = fmin(work->far_bytes, work->ghost_bytes);
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
    m.seconds = tz__roofs_soft_max(m.memory_s, m.l2_s, TZ_FIT_SOFT_MEMORY);
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
        m.seconds = tz__roofs_soft_max(
            m.seconds, (loads * m.seconds + steps * s->memory_clocks / clock + late_s) / ahead,
            TZ_FIT_SOFT_LATENCY);
    }
    double spilt = 0.0;
    for (int p = 0; p < work->parts_count; p++)
        spilt +=
            work->parts[p].warps * work->parts[p].steps * work->parts[p].spilt_stores * TZ__LINE;
    m.spills_s = TZ_FIT_SPILLS * spilt / device->l2_bandwidth_bytes_per_s.value;
    return m;
}

/* ---- Reporting ------------------------------------------------------------------------------- */

typedef struct times {
    double busy_s;          /* computing and moving */
    double start_s, sync_s; /* launches; synchronisation of blocks */
} times;

/* Bytes of the lines through which blocks hand each other cells, and for which the second level has no room: they go to memory and
 * come back in each exchange, while all blocks wait for them. */
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
    const double far = fmin(work->far_bytes, work->ghost_bytes);
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
        100.0 * fmin(1.0, warps * longest->clocks / fmax(tz__roofs_step_clocks(s, 0, warps), 1e-9));
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
        alone += part->warps * part->steps * tz__roofs_step_clocks(s, p, c->warps) / c->warps / sms;
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
    stage s = {.work = work, .device = device, .warps = ceil(work->threads / (double)TZ__WARP)};
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
    s.memory_clocks = s.kept * tz__roofs_clocks(device, &device->l2_latency_s) +
                      (1.0 - s.kept) * tz__roofs_clocks(device, &device->memory_latency_s);
    tz__roofs_find_costs(&s);
    const computing c = tz__roofs_compute(&s);
    const moving m = move(&s, &c);
    /* Other blocks that begin together all load first and then compute. */
    const bool overlap = m.ahead || work->streams || c.waves > 1.0;
    const double soft = work->marches ? TZ_FIT_SOFT_BUSY_MARCHING
                        : m.meets     ? TZ_FIT_SOFT_BUSY_MEETING
                                      : TZ_FIT_SOFT_BUSY;
    times t = {.busy_s = (overlap ? tz__roofs_soft_max(c.seconds, m.seconds, soft)
                                  : c.seconds + m.seconds) +
                         m.spills_s};
    /* The host may be slower than the GPU. */
    const double launches = 1.0 / fmax(work->stages_per_launch, 1.0);
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
