/* roofs on a CPU with caches: computing in a stage, and lines that cross between caches.
 *
 * The same rules hold for every stencil and machine:
 *  - Units of a core work at the same time. The time of a vector of the inner loop, with its rows
 *    in the first level, is measured where the machine is at hand. Else it is the longest of
 *    issuing its instructions, the arithmetic units, and the ports of the first level.
 *  - A line that is not in the first level costs extra time: at each level the time of a line
 *    there beyond that of the level before. It adds to the ports and hides behind arithmetic:
 *    T = max(T_OL, T_nOL + T_data) (Stengel, Treibig, Hager and Wellein, ICS 2015, section 2).
 *  - In a tile that is narrower than the grid the beginning of a row is not prefetched: each row
 *    waits for memory if its array lies there, else for L3, or for the other core that wrote it
 *    last; several rows wait for these at once. In a tile that is as wide as the grid but has fewer
 *    rows than a slab, the first row of each slab waits for L3 or for the other core, line by line.
 *    Streamed rows always wait for memory, and for page tables.
 *  - Rows and calls of a row function cost what is measured; a call also costs what the engine does
 *    for it. The busiest thread decides. A parallel region costs a fork.
 *
 * The record has bandwidths of copying and of reading. The time of a copy beyond that of reading
 * one half counts as writing. */
#include "model/constants.h"
#include "model/roofs.h"

#include <math.h>
#include <stdio.h>

static const char *const needs[] = {
    "clock",        "vector", "issue_rate",   "load_rate",      "unaligned_load_rate", "store_rate",
    "l1_bandwidth", "l2",     "l2_bandwidth", "copy_bandwidth", "read_bandwidth",      "span",
    "fork",         NULL};

enum {
    LINE = 64,
    SMALL_PAGE = 4096,
    LEVELS = 3,
    CALIBRATED_VIEWS = 3 /* rows that a call hands over in calibration */
};

static double rate(const tz_model_number *number, double otherwise)
{
    return number->known ? number->value : otherwise;
}

/* The share of `need` bytes, used again and again, that a cache of `cache` bytes misses. It is half
 * if they are as large as the cache, because the cache also holds other data. */
static double missed(double need, double cache)
{
    if (!(cache > 0))
        return 1.0;
    const double x = need / cache;
    return x * x / (1.0 + x * x);
}

/* The same for the last cache, which the arrays or the rings of all threads use alone: little is
 * missed until they fill it. Beyond that almost all is missed, since the cache drops the least
 * recently used lines. */
static double overflowed(double need, double cache)
{
    if (!(cache > 0))
        return 1.0;
    const double x = pow(need / cache, TZ_FIT_CPU_OVERFLOW_POWER);
    return isfinite(x) ? x / (1.0 + x) : 1.0;
}

/* ---- Cores ----------------------------------------------------------------------------------- */

/* Seconds of all cores together: of the inner loops by cause, and of row functions outside them. */
typedef struct loops {
    double issue, units, ports, rows;
} loops;

static double units_of(const tz_model_device *d, const double *n)
{
    const double fp32 = rate(&d->fp32_mixed_rate, rate(&d->fp32_rate, TZ_FIT_CPU_RATE));
    const double fp64 = rate(&d->fp64_mixed_rate, rate(&d->fp64_rate, TZ_FIT_CPU_RATE));
    const double units[] = {
        n[TZ_WORK_FP32] / fp32 + n[TZ_WORK_FP64] / fp64,
        n[TZ_WORK_LOGIC] / rate(&d->logic_rate, TZ_FIT_CPU_RATE) +
            n[TZ_WORK_INTEGER] / rate(&d->integer_rate, TZ_FIT_CPU_RATE),
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
    /* The share of calibration's unaligned vectors that cross a line. */
    const double aligned = 1 / d->load_rate.value;
    const double share = fmin(1, d->vector_bytes.value / LINE);
    const double across =
        fmax(aligned, (1 / d->unaligned_load_rate.value - (1 - share) * aligned) / share);
    const double crossing = fmax(0, part->shared_wavefronts - n[TZ_WORK_READ]);
    return fmax((n[TZ_WORK_READ] - crossing) * aligned + crossing * across,
                n[TZ_WORK_WRITE] / d->store_rate.value);
}

/* Where loops are measured, their loads and stores are still counted, since only arithmetic hides
 * lines from other caches. */
static loops find_loops(const tz_model_work *work, const tz_model_device *d)
{
    const double hz = d->clock_hz.value;
    loops sum = {0};
    for (int p = 0; p < work->parts_count; p++) {
        const tz_work_part *part = &work->parts[p];
        const double steps = part->warps * part->steps / hz;
        const double slots = part->slots > 0 ? part->slots : tz_work_mix_sum(&part->step);
        sum.issue += steps * slots / d->issue_rate.value;
        sum.units += steps * units_of(d, part->step.of);
        sum.ports += steps * ports_of(d, part);
    }
    if (work->loops_s > 0)
        return (loops){0, work->loops_s, fmin(sum.ports, work->loops_s), work->rows_s};
    sum.rows = (work->rows * TZ_FIT_CPU_ROW + work->spans * TZ_FIT_CPU_CALL) / hz;
    return sum;
}

/* ---- Caches ---------------------------------------------------------------------------------- */

/* Seconds of a byte read or written by all threads together, beyond the level before. */
typedef struct level {
    double read, write;
} level;

static level level_costs(double read, double copy, double before)
{
    return (level){fmax(0, 1 / read - 1 / before), fmax(0, 2 / copy - 1 / read - 1 / before)};
}

/* L2, L3 and memory. */
static void find_levels(const tz_model_work *work, const tz_model_device *d, level levels[LEVELS])
{
    const double n = work->workers;
    const double share = fmin(1, n / rate(&d->cores, n));
    const double l1 = n * d->l1_bandwidth_bytes_per_s.value;
    const double l2 = n * d->l2_bandwidth_bytes_per_s.value;
    const double core_copy = rate(&d->core_copy_bandwidth_bytes_per_s, INFINITY);
    const double core_read = rate(&d->core_read_bandwidth_bytes_per_s, INFINITY);
    const double l3 = fmin(l2, share * rate(&d->l3_bandwidth_bytes_per_s, 0));
    levels[0] = level_costs(l2, l2, l1);
    /* Slabs beside this one take their part of the memory's bandwidth. */
    const double part = work->sharers > 0 ? n / work->sharers : 1;
    levels[2] = level_costs(fmin(part * d->read_bandwidth_bytes_per_s.value, n * core_read),
                            fmin(part * d->copy_bandwidth_bytes_per_s.value, n * core_copy), l2);
    levels[1] = l3 > 0 ? level_costs(l3, l3, l2) : levels[2];
}

/* Seconds of all threads together. */
typedef struct transfers {
    double beyond[LEVELS]; /* extra time of lines from each level over the level before */
    double starts;         /* first lines of rows, which are not prefetched */
} transfers;

static transfers count_lines(const tz_model_work *work, const tz_model_device *d)
{
    level at[LEVELS];
    find_levels(work, d, at);
    const double l2 = d->l2_bytes.value, l3 = rate(&d->l3_bytes, 0);
    /* Arrays are used once a stage, rings once a slab. */
    const double array_reads = work->read_bytes + work->ghost_bytes,
                 array_writes = work->write_bytes;
    const double away2 = missed(work->resident_bytes, work->workers * l2);
    const double away3 = away2 * overflowed(work->resident_bytes, l3);
    /* Each thread has its own rings and its own L2; the rings of all threads share an L3. */
    const double spilt2 = missed(work->ring_bytes, l2);
    const double spilt3 = spilt2 * overflowed(work->workers * work->ring_bytes, l3);
    const double far_reads = (away2 - away3) * array_reads + (spilt2 - spilt3) * work->ring_reads;
    const double far_writes =
        (away2 - away3) * array_writes + (spilt2 - spilt3) * work->ring_writes;
    const double last_reads =
        away3 * array_reads + spilt3 * work->ring_reads + work->streamed_bytes;
    const double last_writes = away3 * array_writes + spilt3 * work->ring_writes;
    const double reads = fmax(work->near_reads, far_reads + last_reads);
    const double writes = fmax(work->near_writes, far_writes + last_writes);
    const double shared = work->workers > 1 ? 1 - away3 : away2 - away3;
    return (transfers){
        .beyond = {reads * at[0].read + writes * at[0].write,
                   far_reads * at[1].read + far_writes * at[1].write,
                   last_reads * at[2].read + last_writes * at[2].write},
        /* Streamed rows lie in the user's memory, on small pages. */
        .starts = ((away3 * work->starts + work->streamed_starts) * rate(&d->memory_latency_s, 0) +
                   shared * (TZ_FIT_CPU_STARTS * work->starts + work->edge_lines) *
                       rate(&d->l3_latency_s, 0) +
                   work->streamed_bytes / SMALL_PAGE * rate(&d->small_page_s, 0)) /
                  work->workers,
    };
}

/* ---- Together -------------------------------------------------------------------------------- */

static tz_status check(const tz_model_work *work, const tz_model_device *device,
                       tz_model_prediction *out, tz_error *error)
{
    if (work->workers < 1 || !(work->slowest >= 1) || work->parts_count < 1 ||
        work->parts_count > TZ_WORK_PARTS_MAX)
        return tz_error_set(
            error, TZ_RANGE, device->name,
            "%d threads in %d parts, the busiest with %g times the average: this is "
            "no valid work of a CPU",
            work->workers, work->parts_count, work->slowest);
    return tz_model_device_check(device, "roofs", needs, &out->notes, error);
}

static void name_limit(tz_model_prediction *out, const tz_model_work *work, const double *parts,
                       const loops *c, double l2, double l3)
{
    static const char *const names[] = {"inner loops",       "lines from L2", "lines from L3",
                                        "lines from memory", "ends of rows",  "calls of rows",
                                        "starting threads",  "starts of rows"};
    int most = 0;
    for (int i = 1; i < out->component_count; i++)
        most = parts[i] > parts[most] ? i : most;
    char more[80] = "";
    if (most == 0 && work->loops_s > 0)
        snprintf(more, sizeof more, ", measured rows");
    else if (most == 0)
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
    char idle[64] = "";
    if (work->idle > 0)
        snprintf(idle, sizeof idle, "; %d of %d threads have no tile", work->idle,
                 work->idle + work->workers);
    snprintf(out->limit_text, sizeof out->limit_text, "%s: %.0f %% of the time%s%s", names[most],
             100 * parts[most] / out->stage_s, more, idle);
}

tz_status tz_roofs_predict_cpu(const tz_model_work *work, const tz_model_device *device,
                               tz_model_prediction *out, tz_error *error)
{
    const tz_status status = check(work, device, out, error);
    if (status != TZ_OK)
        return status;
    const loops c = find_loops(work, device);
    const transfers lines = count_lines(work, device);
    /* Seconds of the busiest thread for a second of a thread on average, and of all together. */
    const double second = work->slowest, each = second / work->workers;
    const double arithmetic = fmax(c.issue, c.units) * each, ports = c.ports * each;
    const double loop = fmax(arithmetic, ports), near = lines.beyond[0] * second;
    const double data = near + (lines.beyond[1] + lines.beyond[2]) * second;
    const double shown = data > 0 ? fmax(0, ports + data - loop) / data : 0;
    const double calls =
        work->spans * device->span_s.value +
        fmax(0, work->views - CALIBRATED_VIEWS * work->spans) * rate(&device->span_view_s, 0) +
        work->ends * rate(&device->span_row_s, 0);
    const double parts[] = {
        loop,
        near * shown,
        lines.beyond[1] * second * shown,
        lines.beyond[2] * second * shown,
        c.rows * each,
        calls * each,
        work->forks * device->fork_s.value,
        lines.starts * second,
    };
    static const struct {
        const char *name, *doc;
        tz_model_resource resource;
    } names[] = {
        {"loops", "vectors of inner loops, rows in the first level", TZ_MODEL_COMPUTATION},
        {"l2", "lines from L2 and beyond, more than in the first level", TZ_MODEL_MEMORY},
        {"l3", "lines from L3, more than from L2", TZ_MODEL_MEMORY},
        {"memory", "lines from memory, likewise", TZ_MODEL_MEMORY},
        {"rows", "row functions outside their inner loops", TZ_MODEL_COMPUTATION},
        {"calls", "the engine between two calls of a row function", TZ_MODEL_COMPUTATION},
        {"fork", "starting and gathering threads", TZ_MODEL_SYNCHRONISATION},
        {"starts", "first lines of rows and pages, which were not fetched ahead", TZ_MODEL_MEMORY},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        out->stage_s += parts[i];
        tz_model_component_add(out, names[i].resource, names[i].name, parts[i] / work->height,
                               names[i].doc);
    }
    const double iteration = each / work->height;
    if (!(work->loops_s > 0)) {
        tz_model_detail_add(out, "issue", c.issue * iteration, "s", "inner loops: issuing");
        tz_model_detail_add(out, "units", c.units * iteration, "s", "inner loops: arithmetic");
        tz_model_note(&out->notes, TZ_FIT_CPU_COUNTED);
    }
    tz_model_detail_add(out, "ports", c.ports * iteration, "s", "inner loops: loads and stores");
    tz_model_detail_add(out, "redundancy", work->redundancy, "", "updates computed / useful ones");
    tz_model_detail_add(out, "rings", work->ring_bytes, "B", "that a thread goes round");
    tz_model_detail_add(out, "busiest", work->slowest, "",
                        "updates of the busiest thread / average");
    name_limit(out, work, parts, &c, device->l2_bytes.value, rate(&device->l3_bytes, 0));
    return TZ_OK;
}
