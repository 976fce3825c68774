/* roofs on a CPU: what one core computes and what crosses between its caches, per stage.
 *
 * The rule, for every stencil and machine:
 *  - Units of a core work side by side: a vector of the inner loop takes the longest of issuing its
 *    instructions, of the arithmetic units and of the first level's ports (a load across two lines
 *    costs what calibration found for one).
 *  - Lines that cross between L1 and L2 keep the first level's ports busy: their time adds to the
 *    loads', and hides behind arithmetic (Stengel et al. 2015, section 2, T = max(T_OL, T_nOL +
 *    T_data)).
 *  - What comes from L3 or memory is fetched ahead and hides behind all that: the slower of the two
 *    counts.
 *  - Rows and calls cost their own instructions, and a row its end, a branch that was expected to
 * go on; the busiest thread decides; a parallel region costs a fork. */
#include "model/roofs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const needs[] = {
    "clock",      "vector", "issue_rate",   "load_rate",      "unaligned_load_rate",
    "store_rate", "l2",     "l2_bandwidth", "copy_bandwidth", "read_bandwidth",
    NULL};

enum { LINE = 64 };

static double rate(const tz_model_number *number, double otherwise)
{
    return number->known ? number->value : otherwise;
}

/* The share of `need` bytes, gone round again and again, that a cache of `cache` bytes misses: half
 * where they are as large as the cache, which others use too. */
static double missed(double need, double cache)
{
    const double x = cache > 0 ? need / cache : INFINITY;
    return isinf(x) ? 1.0 : x * x / (1.0 + x * x);
}

/* Cycles of a core for one vector (or scalar) step of the inner loop. */
typedef struct core_cycles {
    double issue, units, ports;
} core_cycles;

static core_cycles step_cycles(const tz_model_device *d, const tz_model_work *work,
                               const tz_work_part *part)
{
    const double *n = part->step.of;
    const double fp32 = rate(&d->fp32_mixed_rate, rate(&d->fp32_rate, 1));
    const double fp64 = rate(&d->fp64_mixed_rate, rate(&d->fp64_rate, 1));
    const double special = rate(&d->special_rate, 0.1);
    const double parallel[] = {
        n[TZ_WORK_FP32] / fp32 + n[TZ_WORK_FP64] / fp64,
        n[TZ_WORK_LOGIC] / rate(&d->logic_rate, 1) + n[TZ_WORK_INTEGER] / rate(&d->integer_rate, 1),
        n[TZ_WORK_SHUFFLE] / rate(&d->shuffle_rate, 1),
        n[TZ_WORK_SPECIAL] / special,
    };
    core_cycles c = {0};
    for (size_t i = 0; i < sizeof parallel / sizeof *parallel; i++)
        c.units = fmax(c.units, parallel[i]);
    double slots = part->slots;
    for (int k = 0; k < TZ_WORK_CLASSES && part->slots <= 0; k++)
        slots += n[k];
    c.issue = slots / d->issue_rate.value;
    /* Calibration's unaligned vectors cross a line as often as their width says. */
    const double aligned = 1 / d->load_rate.value;
    const double share = fmin(1, d->vector_bytes.value / LINE);
    const double across =
        fmax(aligned, (1 / d->unaligned_load_rate.value - (1 - share) * aligned) / share);
    const double crossing = fmax(0, part->shared_wavefronts - n[TZ_WORK_READ]);
    /* Narrower vectors than the machine's: as many loads and stores a cycle, if not more. */
    c.ports = fmax((n[TZ_WORK_READ] - crossing) * aligned + crossing * across,
                   n[TZ_WORK_WRITE] / d->store_rate.value);
    (void)work;
    return c;
}

static double once_cycles(const tz_model_device *d, const tz_work_part *part)
{
    double slots = 0;
    for (int k = 0; k < TZ_WORK_CLASSES; k++)
        slots += part->once.of[k];
    return slots / d->issue_rate.value;
}

/* Seconds a byte, read and written, by all threads together, at levels 2, 3 and memory. What a copy
 * costs above the reading of it is the writing. */
typedef struct level {
    double read, write;
} level;

static level level_costs(double read, double copy)
{
    return (level){1 / read, fmax(0, 2 / copy - 1 / read)};
}

static void find_levels(const tz_model_work *work, const tz_model_device *d, level levels[3])
{
    const double n = fmax(1, work->workers);
    const double share = fmin(1, n / rate(&d->cores, n));
    const double l2 = n * d->l2_bandwidth_bytes_per_s.value;
    const double core_copy = rate(&d->core_copy_bandwidth_bytes_per_s, INFINITY);
    const double core_read = rate(&d->core_read_bandwidth_bytes_per_s, INFINITY);
    levels[0] = level_costs(l2, l2);
    levels[2] = level_costs(fmin(d->read_bandwidth_bytes_per_s.value, n * core_read),
                            fmin(d->copy_bandwidth_bytes_per_s.value, n * core_copy));
    const double l3 = share * rate(&d->l3_bandwidth_bytes_per_s, 0);
    levels[1] = l3 > 0 ? level_costs(fmin(l3, l2), fmin(l3, l2)) : levels[2];
}

tz_model_status tz_roofs_predict_cpu(const tz_model_work *work, const tz_model_device *device,
                                     tz_model_prediction *out, tz_model_error *error)
{
    const tz_model_status status =
        tz_model_device_check(device, "roofs", needs, &out->notes, error);
    if (status != TZ_MODEL_OK)
        return status;
    const double clock = device->clock_hz.value, n = fmax(1, work->workers);
    double issue = 0, units = 0, ports = 0, rows = 0;
    for (int p = 0; p < work->parts_count; p++) {
        const tz_work_part *part = &work->parts[p];
        const core_cycles c = step_cycles(device, work, part);
        issue += part->warps * part->steps * c.issue;
        units += part->warps * part->steps * c.units;
        ports += part->warps * part->steps * c.ports;
        rows += part->warps * once_cycles(device, part);
    }
    const double each =
        work->slowest / n / clock; /* seconds of the busiest thread a cycle of all */
    level at[3];
    find_levels(work, device, at);
    const double l2 = device->l2_bytes.value, l3 = rate(&device->l3_bytes, 0);
    issue *= each, units *= each, ports *= each, rows *= each;
    const double spans =
        work->spans * rate(&device->span_s, 0) * work->slowest / n +
        fmax(0, work->rows - work->spans) * rate(&device->branch_miss_s, 0) * work->slowest / n;
    /* Arrays, read and written once a stage, and the part of the rings that leaves L2. */
    const double reads = work->read_bytes + work->ghost_bytes, writes = work->write_bytes;
    const double away2 = missed(work->resident_bytes, n * l2);
    const double away3 = away2 * missed(work->resident_bytes, l3);
    const double spilt = missed(work->ring_bytes, l2);
    const double far3 = (away2 - away3) * (reads * at[1].read + writes * at[1].write) +
                        spilt * (work->ring_reads * at[1].read + work->ring_writes * at[1].write);
    const double memory = away3 * (reads * at[2].read + writes * at[2].write);
    const double near =
        (fmax(0, work->near_reads - away2 * reads - spilt * work->ring_reads) * at[0].read +
         fmax(0, work->near_writes - away2 * writes - spilt * work->ring_writes) * at[0].write);
    const double far = (far3 + memory) * work->slowest;
    const double core = fmax(fmax(issue, units), ports + near * work->slowest + far);
    const double fork = work->forks * rate(&device->fork_s, 0);
    const double stage = core + rows + spans + fork;
    const double h = work->height;
    out->stage_s = stage;
    out->time_s = stage / h;
    out->cells_per_s = work->cells / stage;
    tz_model_component_add(out, TZ_MODEL_COMPUTATION, "issue", issue / h, "");
    tz_model_component_add(out, TZ_MODEL_COMPUTATION, "units", units / h, "");
    tz_model_component_add(out, TZ_MODEL_COMPUTATION, "ports", ports / h, "");
    tz_model_component_add(out, TZ_MODEL_COMPUTATION, "rows", rows / h, "");
    tz_model_component_add(out, TZ_MODEL_COMPUTATION, "spans", spans / h, "");
    tz_model_component_add(out, TZ_MODEL_MEMORY, "near", near * work->slowest / h, "");
    tz_model_component_add(out, TZ_MODEL_MEMORY, "l3", far3 * work->slowest / h, "");
    tz_model_component_add(out, TZ_MODEL_MEMORY, "memory", memory * work->slowest / h, "");
    tz_model_component_add(out, TZ_MODEL_SYNCHRONISATION, "fork", fork / h, "");
    return TZ_MODEL_OK;
}
