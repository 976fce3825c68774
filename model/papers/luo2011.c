/* The equations of Luo and Suda, the costs of instructions from a device record, and the model made
 * of them. Called by luo2011_predict.c, luo2011_fit.c, costs.c and ptx_run.c. */
#include "model/papers/luo2011.h"

#include <math.h>
#include <stdlib.h>

static const char *const needs[] = {"clock",
                                    "sm_count",
                                    "warp_size",
                                    "blocks_per_sm",
                                    "threads_per_sm_max",
                                    "memory_bandwidth",
                                    "memory_latency",
#define KEY(member, key, ...) key,
                                    TZ_MODEL_DEVICE_COST_NEEDED_TABLE(KEY)
#undef KEY
                                        NULL};

/* ---- Costs of instructions ------------------------------------------------------------------- */

static void set_cost(tz_luo2011_costs *costs, tz_luo2011_operation operation, double int_constant,
                     double int_register, double float_constant, double float_register)
{
    costs->clocks[operation][0][0] = int_constant;
    costs->clocks[operation][0][1] = int_register;
    costs->clocks[operation][1][0] = float_constant;
    costs->clocks[operation][1][1] = float_register;
}

static void set_one(tz_luo2011_costs *costs, tz_luo2011_operation operation, double integer,
                    double real)
{
    set_cost(costs, operation, integer, integer, real, real);
}

static void costs_of(const tz_model_device *d, double latency, tz_luo2011_costs *out)
{
#define OF(member) tz_model_device_value(d, &d->member)
    set_cost(out, TZ_LUO2011_ADD, OF(add_int_constant), OF(add_int_register),
             OF(add_float_constant), OF(add_float_register));
    set_cost(out, TZ_LUO2011_MUL, OF(mul_int_constant), OF(mul_int_register),
             OF(mul_float_constant), OF(mul_float_register));
    set_cost(out, TZ_LUO2011_DIV, OF(div_int_constant), OF(div_int_register),
             OF(div_float_constant), OF(div_float_register));
    set_one(out, TZ_LUO2011_NEG, OF(neg_int), OF(neg_float));
    set_one(out, TZ_LUO2011_MIN, OF(min_int), OF(min_float));
    set_one(out, TZ_LUO2011_AND, OF(and_bits), OF(and_bits));
    set_one(out, TZ_LUO2011_OR, OF(or_bits), OF(or_bits));
    set_one(out, TZ_LUO2011_NOT, OF(not_bits), OF(not_bits));
    set_one(out, TZ_LUO2011_MAD, OF(mad_int), OF(mad_float));
    set_one(out, TZ_LUO2011_COMPARE, OF(compare_any), OF(compare_any));
    set_one(out, TZ_LUO2011_CONVERT, OF(convert_any), OF(convert_any));
    set_one(out, TZ_LUO2011_MOVE, OF(move_any), OF(move_any));
    set_one(out, TZ_LUO2011_SHIFT, OF(shift_bits), OF(shift_bits));
    set_one(out, TZ_LUO2011_BRANCH, OF(branch_any), OF(branch_any));
    set_one(out, TZ_LUO2011_BARRIER, OF(barrier_any), OF(barrier_any));
    set_one(out, TZ_LUO2011_SHARED, OF(shared_any), OF(shared_any));
    set_one(out, TZ_LUO2011_SPECIAL, OF(special_any), OF(special_any));
    set_one(out, TZ_LUO2011_MEMORY, latency, latency);
    out->near = d->load_near_clocks.known ? d->load_near_clocks.value : 0;
#undef OF
}

tz_status tz_luo2011_gpu_of(const tz_model_device *device, tz_luo2011_gpu *out,
                            tz_model_notes *notes, tz_error *error)
{
    const tz_model_number *const assumed[] = {
#define NUMBER(member, ...) &device->member,
        TZ_MODEL_DEVICE_COST_ASSUMED_TABLE(NUMBER)
#undef NUMBER
    };
    const tz_status status = tz_model_device_check(device, "luo2011", needs, notes, error);
    if (status)
        return status;
    *out = (tz_luo2011_gpu){.clock_hz = device->clock_hz.value,
                            .multiprocessors = device->sm_count.value,
                            .threads_max = device->threads_per_sm_max.value,
                            .blocks_max = device->blocks_per_sm.value,
                            .a = device->cpd_a.value,
                            .b = device->cpd_b.value,
                            .c = device->cpd_c.value,
                            .d = device->cpd_d.value};
    out->bandwidth = device->memory_bandwidth_bytes_per_s.value / out->clock_hz;
    out->latency = device->memory_latency_s.value * out->clock_hz;
    out->warps_max = floor(out->threads_max / device->warp_size.value);
    out->half_warps =
        device->coalesce_width.known && 2 * device->coalesce_width.value == device->warp_size.value;
    if (device->l2_bytes.known && device->load_l2_clocks.known) {
        out->l2_bytes = device->l2_bytes.value;
        out->l2_latency = device->load_l2_clocks.value;
    }
    costs_of(device, out->latency, &out->costs);
    if (!(out->warps_max >= 2 && out->latency > 0 && device->warp_size.value == 32))
        return tz_error_set(error, TZ_UNSUPPORTED, device->name,
                            "luo2011 needs warps of 32 threads, two or more of them on a "
                            "multiprocessor, and a memory_latency above 0");
    int missing = 0;
    for (size_t k = 0; k < sizeof assumed / sizeof *assumed; k++)
        missing += !assumed[k]->known;
    if (missing > 0)
        tz_model_note(notes,
                      "table 1 of the paper lacks mad, setp, cvt, mov, shifts, bra, bar, shared "
                      "memory and special functions: %d costs are ours (clocks_… of the record)",
                      missing);
    return TZ_OK;
}

/* ---- Equations ------------------------------------------------------------------------------- */

static int sectors_of_warp(const uint64_t *addresses, uint32_t active, int bytes)
{
    uint64_t seen[32 * 2];
    int count = 0;
    for (int lane = 0; lane < 32; lane++)
        for (uint64_t sector = addresses[lane] / 32;
             (active >> lane & 1) && sector <= (addresses[lane] + (uint64_t)bytes - 1) / 32;
             sector++) {
            int k = 0;
            while (k < count && seen[k] != sector)
                k++;
            if (k == count && count < 64)
                seen[count++] = sector;
        }
    return count;
}

int tz_luo2011_transactions(const uint64_t addresses[32], uint32_t active, int bytes,
                            bool half_warps)
{
    if (!half_warps)
        return sectors_of_warp(addresses, active, bytes);
    const uint64_t segment = bytes == 1 ? 32 : bytes == 2 ? 64 : 128;
    int count = 0;
    /* Halving a segment changes the bytes of a transaction, not the number of transactions. */
    for (int half = 0; half < 2; half++) {
        uint32_t left = active & 0xffffu << 16 * half;
        while (left) {
            const uint64_t first = addresses[__builtin_ctz(left)] / segment;
            for (int lane = 16 * half; lane < 16 * half + 16; lane++)
                if (addresses[lane] / segment == first)
                    left &= ~(1u << lane);
            count++;
        }
    }
    return count;
}

double tz_luo2011_warp_bandwidth(double bytes, double transactions, double latency)
{
    return 32 * bytes / (transactions * latency);
}

double tz_luo2011_mpd(const tz_luo2011_gpu *gpu, double active, double warp_bandwidth,
                      bool as_printed)
{
    const double used = gpu->multiprocessors * warp_bandwidth * (as_printed ? active : 1);
    return fmin(active, floor(gpu->bandwidth / used));
}

double tz_luo2011_cpd1(const tz_luo2011_gpu *gpu, double share, double active)
{
    return (gpu->c - share) * (active - gpu->b) + gpu->a;
}

double tz_luo2011_cpd2(const tz_luo2011_gpu *gpu, double share, double active)
{
    const double most = gpu->warps_max - 1, left = gpu->warps_max - active;
    const double n = gpu->d * (share - gpu->c) * (share - gpu->c);
    return n / most * sqrt(fmax(most * most - left * left, 0)) + gpu->a;
}

double tz_luo2011_cpd(const tz_luo2011_gpu *gpu, double share, double active)
{
    const double cpd2 = tz_luo2011_cpd2(gpu, share, active);
    return fmax(share > gpu->c ? cpd2 : fmin(tz_luo2011_cpd1(gpu, share, active), cpd2), 1);
}

/* ---- Periods --------------------------------------------------------------------------------- */

int tz_luo2011_type(double c_before, double m_before, double c, double m)
{
    if (c_before >= m_before)
        return c >= m ? 1 : 2;
    return c >= m ? 3 : 4;
}

void tz_luo2011_period_time(tz_luo2011_period *period, double active, double cpd, double m_before,
                            double mpd)
{
    const double c = period->computation, others = (active - 1) * c;
    period->base = ceil(active * c / cpd);
    period->before = period->after = 0;
    if (period->type >= 3)
        period->before = fmax(m_before * floor(active / mpd - 1) - others, 0);
    if (period->type == 2 || period->type == 4)
        period->after = fmax(period->memory - (others + period->before), 0);
    period->time = period->base + period->before + period->after;
}

/* Cuts the tasks into periods, without their times. Adjacent tasks of a kind are one. */
static void cut(const tz_luo2011_gpu *gpu, const tz_luo2011_kernel *kernel, bool as_printed,
                tz_luo2011_result *out)
{
    tz_luo2011_period *period = NULL;
    double bytes = 0;
    for (int t = 0; t < kernel->count; t++) {
        const tz_luo2011_task *task = &kernel->tasks[t];
        if (!period || (!task->is_memory && period->accesses > 0)) {
            period = &out->periods[out->count++];
            *period = (tz_luo2011_period){0};
            bytes = 0;
        }
        if (!task->is_memory) {
            period->computation += task->clocks;
            continue;
        }
        period->memory += task->clocks;
        period->accesses += task->instructions;
        period->transactions += task->transactions;
        bytes += task->bytes;
        const double warp = tz_luo2011_warp_bandwidth(bytes, period->transactions, gpu->latency);
        period->mpd = fmax(tz_luo2011_mpd(gpu, out->active, warp, as_printed), 1);
    }
}

/* Blocks that a multiprocessor runs at once, and rounds of them. */
static tz_status occupy(const tz_luo2011_gpu *gpu, const tz_luo2011_kernel *kernel,
                        tz_luo2011_result *out, tz_error *error)
{
    const double warps = ceil(kernel->threads / 32);
    double at_once = fmin(floor(gpu->warps_max / warps), gpu->blocks_max);
    if (!(kernel->threads >= 1 && kernel->blocks >= 1 && at_once >= 1))
        return tz_error_set(error, TZ_RANGE, "block",
                            "a block of %g threads does not fit: a multiprocessor has %g",
                            kernel->threads, gpu->threads_max);
    at_once = fmin(at_once, ceil(kernel->blocks / gpu->multiprocessors));
    out->active = at_once * warps;
    out->rounds = ceil(kernel->blocks / (at_once * gpu->multiprocessors));
    return TZ_OK;
}

tz_status tz_luo2011_evaluate(const tz_luo2011_gpu *gpu, const tz_luo2011_kernel *kernel,
                              bool as_printed, tz_luo2011_result *out, tz_error *error)
{
    double computation = 0, memory = 0;
    *out = (tz_luo2011_result){0};
    const tz_status status = occupy(gpu, kernel, out, error);
    if (status)
        return status;
    for (int t = 0; t < kernel->count; t++)
        *(kernel->tasks[t].is_memory ? &memory : &computation) += kernel->tasks[t].clocks;
    if (!(computation + memory > 0))
        return tz_error_set(error, TZ_RANGE, NULL, "the kernel has no instructions that cost time");
    out->periods = calloc((size_t)kernel->count, sizeof *out->periods);
    if (!out->periods)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for periods");
    out->share = computation / (computation + memory);
    const double text = kernel->text_computation + kernel->text_memory;
    out->text_share = text > 0 ? kernel->text_computation / text : out->share;
    out->cpd1 = tz_luo2011_cpd1(gpu, out->share, out->active);
    out->cpd2 = tz_luo2011_cpd2(gpu, out->share, out->active);
    out->cpd = as_printed ? fmax(fmin(out->cpd1, out->cpd2), 1)
                          : tz_luo2011_cpd(gpu, out->share, out->active);
    cut(gpu, kernel, as_printed, out);
    tz_luo2011_period before = {.mpd = 1};
    for (int i = 0; i < out->count; i++) {
        tz_luo2011_period *period = &out->periods[i];
        period->type =
            tz_luo2011_type(before.computation, before.memory, period->computation, period->memory);
        tz_luo2011_period_time(period, out->active, out->cpd, before.memory,
                               before.mpd > 0 ? before.mpd : 1);
        out->base += out->rounds * period->base;
        out->before += out->rounds * period->before;
        out->after += out->rounds * period->after;
        before = *period;
    }
    out->time = out->base + out->before + out->after;
    return TZ_OK;
}

void tz_luo2011_result_clear(tz_luo2011_result *result)
{
    free(result->periods);
    *result = (tz_luo2011_result){0};
}

/* ---- As a model ------------------------------------------------------------------------------ */

static tz_status height_max(const tz_model_facts *facts, const tz_model_device *device,
                            const tz_model_plan *plan, int *height, tz_error *error)
{
    const tz_luo2011_plain *plain = plan->own;
    tz_luo2011_gpu gpu;
    *height = 1;
    if (!plain || plain->count < 1)
        return tz_error_set(error, TZ_UNSUPPORTED, facts->name,
                            "luo2011 needs the PTX of the stencil's kernel");
    return tz_luo2011_gpu_of(device, &gpu, NULL, error);
}

static void report(const tz_luo2011_result *first, tz_model_prediction *out)
{
    tz_model_detail_add(out, "P", first->share, "",
                        "proportion of computation, by executed instructions");
    tz_model_detail_add(out, "P_text", first->text_share, "",
                        "the same of the PTX text, each instruction once");
    tz_model_detail_add(out, "active_warps", first->active, "", "N_act, of a multiprocessor");
    tz_model_detail_add(out, "CPD1", first->cpd1, "", "eq. 3");
    tz_model_detail_add(out, "CPD2", first->cpd2, "", "eq. 4");
    tz_model_detail_add(out, "CPD", first->cpd, "", "parallel degree of computation");
    tz_model_detail_add(out, "rounds", first->rounds, "", "of blocks, one after the other");
    tz_model_detail_add(out, "periods", first->count, "", "of a warp");
}

static tz_status predict(const tz_model_facts *facts, const tz_model_device *device,
                         const tz_model_plan *plan, tz_model_prediction *out, tz_error *error)
{
    const tz_luo2011_plain *plain = plan->own;
    tz_luo2011_gpu gpu;
    double base = 0, before = 0, after = 0, cells = facts->cells_per_element;
    tz_status status = tz_luo2011_gpu_of(device, &gpu, &out->notes, error);
    for (int k = 0; !status && k < plain->count; k++) {
        tz_luo2011_result result;
        status = tz_luo2011_evaluate(&gpu, &plain->kernels[k], plain->as_printed, &result, error);
        if (status)
            break;
        base += result.base / gpu.clock_hz;
        before += result.before / gpu.clock_hz;
        after += result.after / gpu.clock_hz;
        if (k == 0)
            report(&result, out);
        tz_luo2011_result_clear(&result);
    }
    if (status)
        return status;
    tz_model_component_add(out, TZ_MODEL_COMPUTATION, "compute", base,
                           "eq. 6: the computation of all active warps");
    tz_model_component_add(out, TZ_MODEL_MEMORY, "wait_before", before,
                           "T_p, eq. 10: waits for accesses of the period before");
    tz_model_component_add(out, TZ_MODEL_MEMORY, "wait_after", after,
                           "T_c, eq. 8 and 13: waits for the period's own accesses");
    out->height = 1;
    out->time_s = out->stage_s = base + before + after;
    cells = cells > 0 ? cells : 1;
    for (int axis = 0; axis < TZ_MODEL_AXES; axis++) {
        out->block[axis] = axis < facts->dims ? plan->block[axis] : 1;
        cells *= axis < facts->dims ? facts->extent[axis] : 1;
    }
    out->cells_per_s = cells / out->time_s;
    if (plain->as_printed)
        tz_model_note(&out->notes, "MPD by eq. 2 as printed, with the active warps in the divisor, "
                                   "and CPD by the smaller of eq. 3 and 4; each at least 1");
    if (plain->count > 1)
        tz_model_note(&out->notes, "an iteration is %d launches; details are of the first",
                      plain->count);
    return TZ_OK;
}

const tz_equations tz_model_luo2011 = {
    .model = {.name = "luo2011",
              .doc = "a plain kernel of one cell a thread, from its PTX",
              .source = "Luo and Suda, 2011, equations 1 to 14",
              .needs = needs},
    .height_max = height_max,
    .predict = predict,
};
