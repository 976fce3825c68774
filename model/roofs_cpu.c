/* roofs on a CPU with caches: what cores compute and what crosses between caches, in a stage.
 *
 * The rule, one for every stencil and machine:
 *  - Units of a core work side by side: a vector of the inner loop takes the longest of issuing its
 *    instructions, of the arithmetic units and of the first level's ports, where a load across two
 *    lines costs what calibration found for one.
 *  - Every line that the first level lacks costs, besides, what a line costs at the level that it
 *    comes from, beyond its cost in the level before. That adds to the ports and hides behind
 *    arithmetic: T = max(T_OL, T_nOL + T_data), Stengel, Treibig, Hager and Wellein, ICS 2015,
 *    section 2. Some processors fetch lines from the second level while their ports work:
 *    calibration says what share hides there; no less than those lines alone is taken.
 *  - Rows of a tile that is narrower than the grid begin where nothing was fetched ahead: each
 *    waits for memory if its array lies there. Streamed rows always do, and for page tables.
 *  - Rows and calls of a row function cost their own instructions, calls also what the engine does
 *    for one. The busiest thread decides. A parallel region costs a fork.
 *
 * The record tells bandwidths of copies and of reading: what a copy takes beyond the reading of its
 * half is the writing, whatever a machine does for it. */
#include "model/constants.h"
#include "model/roofs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const needs[] = {
    "clock",        "vector", "issue_rate",   "load_rate",      "unaligned_load_rate", "store_rate",
    "l1_bandwidth", "l2",     "l2_bandwidth", "copy_bandwidth", "read_bandwidth",      "span",
    "fork",         NULL};

enum {
    LINE = 64,
    SMALL_PAGE = 4096,
    LEVELS = 3,
    FEW = 3 /* rows that calibration's calls hand over */
};

static double rate(const tz_model_number *number, double otherwise)
{
    return number->known ? number->value : otherwise;
}

/* The share of `need` bytes, gone round again and again, that a cache of `cache` bytes misses: half
 * where they are as large as the cache, which others use too. */
static double missed(double need, double cache)
{
    if (!(cache > 0))
        return 1.0;
    const double x = need / cache;
    return x * x / (1.0 + x * x);
}

/* The same of rings that all threads keep in the last cache: nothing else there is used as often,
 * so little is lost before they fill it, and soon after that all, as what is gone round is from a
 * cache that drops what was used least recently. */
static double overflowed(double need, double cache)
{
    if (!(cache > 0))
        return 1.0;
    const double x = pow(need / cache, TZ_FIT_CPU_OVERFLOW_POWER);
    return isfinite(x) ? x / (1.0 + x) : 1.0;
}

/* ---- Cores ----------------------------------------------------------------------------------- */

/* Cycles of all cores together for the inner loops, by what takes them, and for the rest. */
typedef struct cycles {
    double issue, units, ports, rows;
} cycles;

static double units_of(const tz_model_device *d, const double *n)
{
    const double fp32 = rate(&d->fp32_mixed_rate, rate(&d->fp32_rate, TZ_FIT_CPU_RATE));
    const double fp64 = rate(&d->fp64_mixed_rate, rate(&d->fp64_rate, TZ_FIT_CPU_RATE));
    const double units[] = {
        n[TZ_WORK_FP32] / fp32 + n[TZ_WORK_FP64] / fp64,
        n[TZ_WORK_LOGIC] / rate(&d->logic_rate, TZ_FIT_CPU_RATE) +
            n[TZ_WORK_INTEGER] / rate(&d->integer_rate, TZ_FIT_CPU_RATE),
        n[TZ_WORK_SHUFFLE] / rate(&d->shuffle_rate, TZ_FIT_CPU_RATE),
        n[TZ_WORK_SPECIAL] / rate(&d->special_rate, TZ_FIT_CPU_SPECIAL_RATE),
    };
    double longest = 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        longest = fmax(longest, units[i]);
    return longest;
}

static double ports_of(const tz_model_device *d, const tz_work_part *part)
{
    const double *n = part->step.of;
    /* Calibration's unaligned vectors cross a line as often as they are wide. */
    const double aligned = 1 / d->load_rate.value;
    const double share = fmin(1, d->vector_bytes.value / LINE);
    const double across =
        fmax(aligned, (1 / d->unaligned_load_rate.value - (1 - share) * aligned) / share);
    const double crossing = fmax(0, part->shared_wavefronts - n[TZ_WORK_READ]);
    const double narrow = fmax(0, fmin(part->narrow, n[TZ_WORK_READ] - crossing));
    return fmax((n[TZ_WORK_READ] - crossing - narrow) * aligned + crossing * across +
                    narrow * fmin(aligned, 1 / rate(&d->narrow_load_rate, d->load_rate.value)),
                n[TZ_WORK_WRITE] / d->store_rate.value);
}

static cycles count_cycles(const tz_model_work *work, const tz_model_device *d)
{
    cycles sum = {0};
    for (int p = 0; p < work->parts_count; p++) {
        const tz_work_part *part = &work->parts[p];
        const double steps = part->warps * part->steps;
        double slots = part->slots, once = 0;
        for (int k = 0; k < TZ_WORK_CLASSES; k++) {
            slots += part->slots > 0 ? 0 : part->step.of[k];
            once += part->once.of[k];
        }
        sum.issue += steps * slots / d->issue_rate.value;
        sum.units += steps * units_of(d, part->step.of);
        sum.ports += steps * ports_of(d, part);
        sum.rows += part->warps * fmax(0, once) / d->issue_rate.value;
    }
    return sum;
}

/* ---- Caches ---------------------------------------------------------------------------------- */

/* Seconds of a byte, read and written by all threads together, beyond the level before. */
typedef struct level {
    double read, write;
} level;

static level level_costs(double read, double copy, double before)
{
    return (level){fmax(0, 1 / read - 1 / before), fmax(0, 2 / copy - 1 / read - 1 / before)};
}

/* L2, L3 and memory; returns the bandwidth between L1 and L2. */
static double find_levels(const tz_model_work *work, const tz_model_device *d, level levels[LEVELS])
{
    const double n = work->workers;
    const double share = fmin(1, n / rate(&d->cores, n));
    const double l1 = n * d->l1_bandwidth_bytes_per_s.value;
    const double l2 = n * d->l2_bandwidth_bytes_per_s.value;
    const double core_copy = rate(&d->core_copy_bandwidth_bytes_per_s, INFINITY);
    const double core_read = rate(&d->core_read_bandwidth_bytes_per_s, INFINITY);
    const double l3 = fmin(l2, share * rate(&d->l3_bandwidth_bytes_per_s, 0));
    levels[0] = level_costs(l2, l2, l1);
    levels[2] = level_costs(fmin(d->read_bandwidth_bytes_per_s.value, n * core_read),
                            fmin(d->copy_bandwidth_bytes_per_s.value, n * core_copy), l2);
    levels[1] = l3 > 0 ? level_costs(l3, l3, l2) : levels[2];
    return l2;
}

/* Seconds of all threads together. */
typedef struct transfers {
    double beyond[LEVELS]; /* what lines from each level take more than from the level before */
    double l2;             /* what all of them take from L2, alone */
    double starts;         /* rows that nobody fetched ahead */
} transfers;

static transfers count_lines(const tz_model_work *work, const tz_model_device *d)
{
    level at[LEVELS];
    const double from_l2 = find_levels(work, d, at);
    const double l2 = d->l2_bytes.value, l3 = rate(&d->l3_bytes, 0);
    /* Arrays are gone round once a stage, rings once a slab. */
    const double array_reads = work->read_bytes + work->ghost_bytes;
    const double away2 = missed(work->resident_bytes, work->workers * l2);
    const double away3 = away2 * missed(work->resident_bytes, l3);
    /* Each thread has rings of its own, in an L2 of its own; those of all share an L3. */
    const double spilt2 = missed(work->ring_bytes, l2);
    const double spilt3 = spilt2 * overflowed(work->workers * work->ring_bytes, l3);
    const double far_reads = (away2 - away3) * array_reads + (spilt2 - spilt3) * work->ring_reads;
    const double far_writes =
        (away2 - away3) * work->write_bytes + (spilt2 - spilt3) * work->ring_writes;
    const double last_reads = away3 * array_reads + spilt3 * work->ring_reads + work->stream_bytes;
    const double last_writes = away3 * work->write_bytes + spilt3 * work->ring_writes;
    const double reads = fmax(work->near_reads, far_reads + last_reads);
    const double writes = fmax(work->near_writes, far_writes + last_writes);
    return (transfers){
        .beyond = {reads * at[0].read + writes * at[0].write,
                   far_reads * at[1].read + far_writes * at[1].write,
                   last_reads * at[2].read + last_writes * at[2].write},
        .l2 = (reads + writes) / from_l2,
        /* Only the largest arrays lie on large pages for sure; streamed rows are the user's. */
        .starts = ((away3 * work->starts + work->stream_starts) * rate(&d->memory_latency_s, 0) +
                   work->stream_bytes / SMALL_PAGE * rate(&d->small_page_s, 0)) /
                  work->workers,
    };
}

/* ---- Together -------------------------------------------------------------------------------- */

static tz_status check(const tz_model_work *work, const tz_model_device *device,
                       tz_model_prediction *out, tz_error *error)
{
    if (work->workers < 1 || !(work->slowest >= 1) || work->parts_count < 1 ||
        work->parts_count > TZ_WORK_PARTS_MAX)
        return tz_error_set(error, TZ_RANGE, device->name,
                            "%d threads in %d parts, the busiest with %g times the average, "
                            "are no work of a CPU",
                            work->workers, work->parts_count, work->slowest);
    return tz_model_device_check(device, "roofs", needs, &out->notes, error);
}

static void say_limit(tz_model_prediction *out, const tz_model_work *work, const double *parts,
                      const cycles *c, double l2, double l3)
{
    static const char *const names[] = {"inner loops",       "lines from L2", "lines from L3",
                                        "lines from memory", "ends of rows",  "calls of rows",
                                        "starting threads",  "starts of rows"};
    int most = 0;
    for (int i = 1; i < out->component_count; i++)
        most = parts[i] > parts[most] ? i : most;
    char more[80] = "";
    if (most == 0)
        snprintf(more, sizeof more, ", most of them %s",
                 c->ports >= fmax(c->issue, c->units) ? "loads and stores"
                 : c->units >= c->issue               ? "arithmetic"
                                                      : "instructions issued");
    else if (most == 2 && work->ring_bytes > l2)
        snprintf(more, sizeof more, ": rings of %.3g MiB do not fit L2",
                 work->ring_bytes / 1048576);
    else if (most == 3 && work->workers * work->ring_bytes > l3 && l3 > 0)
        snprintf(more, sizeof more, ": rings of %.3g MiB do not fit L3",
                 work->workers * work->ring_bytes / 1048576);
    else if (most == 3)
        snprintf(more, sizeof more, ": each stage goes through the whole grid");
    else if (most == 4 || most == 5 || most == 7)
        snprintf(more, sizeof more, ": rows of a tile are short");
    out->limit = out->components[most].resource;
    snprintf(out->limit_text, sizeof out->limit_text, "%s: %.0f %% of the time%s", names[most],
             100 * parts[most] / out->stage_s, more);
}

tz_status tz_roofs_predict_cpu(const tz_model_work *work, const tz_model_device *device,
                               tz_model_prediction *out, tz_error *error)
{
    memset(out, 0, sizeof *out);
    out->model = "roofs";
    const tz_status status = check(work, device, out, error);
    if (status != TZ_OK)
        return status;
    const cycles c = count_cycles(work, device);
    const transfers lines = count_lines(work, device);
    /* Seconds of the busiest thread for a cycle, and a second, of all threads together. */
    const double second = work->slowest, cycle = second / work->workers / device->clock_hz.value;
    const double arithmetic = fmax(c.issue, c.units) * cycle, ports = c.ports * cycle;
    const double loop = fmax(arithmetic, ports), open = 1 - rate(&device->l2_overlap, 0);
    const double near = fmax(ports + open * lines.beyond[0] * second, lines.l2 * second) - ports;
    const double data = near + (lines.beyond[1] + lines.beyond[2]) * second;
    const double shown = data > 0 ? fmax(0, ports + data - loop) / data : 0;
    const double calls = work->spans * device->span_s.value +
                         fmax(0, work->views - FEW * work->spans) * rate(&device->span_view_s, 0) +
                         work->ends * rate(&device->span_row_s, 0);
    const double parts[] = {
        loop,
        near * shown,
        lines.beyond[1] * second * shown,
        lines.beyond[2] * second * shown,
        c.rows * cycle,
        calls * second / work->workers,
        work->forks * device->fork_s.value,
        lines.starts * second,
    };
    static const struct {
        const char *name, *doc;
        tz_model_resource resource;
    } names[] = {
        {"loops", "vectors of inner loops, in the first level", TZ_MODEL_COMPUTATION},
        {"l2", "lines from L2 and beyond, more than in the first level", TZ_MODEL_MEMORY},
        {"l3", "lines from L3, more than from L2", TZ_MODEL_MEMORY},
        {"memory", "lines from memory, likewise", TZ_MODEL_MEMORY},
        {"rows", "instructions of row functions outside their loops", TZ_MODEL_COMPUTATION},
        {"calls", "the engine between two calls of a row function", TZ_MODEL_COMPUTATION},
        {"fork", "starting and gathering threads", TZ_MODEL_SYNCHRONISATION},
        {"starts", "first lines of rows and pages, which nobody fetched ahead", TZ_MODEL_MEMORY},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        out->stage_s += parts[i];
        tz_model_component_add(out, names[i].resource, names[i].name, parts[i] / work->height,
                               names[i].doc);
    }
    out->height = out->height_max = work->height;
    out->time_s = out->stage_s / work->height;
    out->cells_per_s = work->cells / out->stage_s;
    const double iteration = cycle / work->height;
    tz_model_detail_add(out, "issue", c.issue * iteration, "s", "inner loops: issuing");
    tz_model_detail_add(out, "units", c.units * iteration, "s", "inner loops: arithmetic units");
    tz_model_detail_add(out, "ports", c.ports * iteration, "s", "inner loops: loads and stores");
    tz_model_detail_add(out, "redundancy", work->redundancy, "", "updates computed / useful ones");
    tz_model_detail_add(out, "rings", work->ring_bytes, "B", "that a thread goes round");
    tz_model_detail_add(out, "busiest", work->slowest, "",
                        "updates of the busiest thread / average");
    say_limit(out, work, parts, &c, device->l2_bytes.value, rate(&device->l3_bytes, 0));
    return TZ_OK;
}
