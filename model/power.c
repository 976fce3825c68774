/* Power and settled clock of a plan on a GPU. roofs.c adds them to a prediction; core/predict,
 * core/policy and core/cli read the time of a long run. */
#include "model/power.h"

#include "model/constants.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

bool tz_power_known(const tz_model_device *device)
{
    const tz_model_number *const needs[] = {&device->power_limit_w,
                                            &device->power_idle_w,
                                            &device->power_active_w,
                                            &device->energy_fp32_j,
                                            &device->energy_fp64_j,
                                            &device->energy_integer_j,
                                            &device->energy_shuffle_j,
                                            &device->energy_shared_j,
                                            &device->energy_l2_j,
                                            &device->energy_memory_j,
                                            &device->clock_hz,
                                            &device->sm_count,
                                            &device->l2_bandwidth_bytes_per_s,
                                            &device->copy_bandwidth_bytes_per_s};
    for (size_t k = 0; k < sizeof needs / sizeof *needs; k++)
        if (!needs[k]->known)
            return false;
    return device->power_limit_w.value > device->power_active_w.value;
}

/* Energy of a warp's instructions. A class without its own number costs an integer instruction. */
static double mix_energy(const tz_model_device *d, const tz_work_mix *m)
{
    double joules = 0.0;
    for (int k = 0; k < TZ_WORK_CLASSES; k++) {
        double each = d->energy_integer_j.value;
        if (k == TZ_WORK_FP32 || k == TZ_WORK_MULTIPLY || k == TZ_WORK_SPECIAL)
            each = TZ_FIT_POWER_ARITHMETIC * d->energy_fp32_j.value;
        else if (k == TZ_WORK_FP64)
            each = TZ_FIT_POWER_ARITHMETIC * d->energy_fp64_j.value;
        else if (k == TZ_WORK_SHUFFLE)
            each = d->energy_shuffle_j.value;
        joules += m->of[k] * each;
    }
    return joules;
}

static bool find(const tz_model_prediction *prediction, const char *name, double *value)
{
    for (int d = 0; d < prediction->detail_count; d++)
        if (strcmp(prediction->details[d].name, name) == 0) {
            *value = prediction->details[d].value;
            return true;
        }
    return false;
}

bool tz_power_count(const tz_model_work *work, const tz_model_device *device,
                    const tz_model_prediction *prediction, tz_power_demand *out)
{
    double compute_s, memory_s, l2_s, memory_bytes, l2_bytes;
    *out = (tz_power_demand){0};
    if (work->kind != TZ_WORK_GPU || !tz_power_known(device) || !(prediction->time_s > 0) ||
        !find(prediction, "compute_roof", &compute_s) ||
        !find(prediction, "memory_roof", &memory_s) || !find(prediction, "l2_roof", &l2_s) ||
        !find(prediction, "memory_bytes", &memory_bytes) ||
        !find(prediction, "l2_bytes", &l2_bytes))
        return false;
    double core = 0.0, spilt_bytes = 0.0;
    for (int p = 0; p < work->parts_count; p++) {
        const tz_work_part *part = &work->parts[p];
        spilt_bytes += part->warps * part->steps * part->spilt_stores * 128.0;
        const double passes = part->shared_wavefronts + part->spills;
        core += part->warps *
                (part->steps * (mix_energy(device, &part->step) +
                                TZ_FIT_POWER_SHARED * passes * device->energy_shared_j.value) +
                 mix_energy(device, &part->once));
    }
    /* The bytes that move, not those that the roofs add for stores that are not joined. */
    const double far = memory_bytes / work->height;
    const double near = fmax(0.0, (l2_bytes + spilt_bytes) / work->height - far);
    const double busy = fmin(1.0, work->blocks / device->sm_count.value);
    *out = (tz_power_demand){.core_j = core / work->height + near * device->energy_l2_j.value,
                             .memory_j = TZ_FIT_POWER_MEMORY * far * device->energy_memory_j.value,
                             .base_w =
                                 device->power_idle_w.value +
                                 busy * (device->power_active_w.value - device->power_idle_w.value),
                             .time_s = prediction->time_s,
                             .compute_s = fmax(compute_s, l2_s),
                             .memory_s = memory_s};
    return true;
}

/* The time of computing and memory at once: a soft maximum. */
static double overlapped(double compute, double memory)
{
    const double most = fmax(compute, memory);
    return most > 0 ? most * pow(pow(compute / most, TZ_FIT_POWER_SOFT) +
                                     pow(memory / most, TZ_FIT_POWER_SOFT),
                                 1.0 / TZ_FIT_POWER_SOFT)
                    : 0.0;
}

double tz_power_at(const tz_power_demand *demand, double exponent, double share, double *seconds)
{
    const double time = demand->time_s + overlapped(demand->compute_s / share, demand->memory_s) -
                        overlapped(demand->compute_s, demand->memory_s);
    if (seconds)
        *seconds = time;
    return demand->base_w + (demand->core_j * pow(share, exponent - 1.0) + demand->memory_j) / time;
}

void tz_power_settle(const tz_power_demand *demand, double exponent, double limit_w,
                     tz_power_answer *out)
{
    double low = TZ_FIT_POWER_CLOCK_LEAST, high = 1.0;
    *out = (tz_power_answer){.watts = tz_power_at(demand, exponent, 1.0, NULL),
                             .share = 1.0,
                             .sustained_s = demand->time_s};
    if (out->watts <= limit_w)
        return;
    if (tz_power_at(demand, exponent, low, NULL) >= limit_w)
        high = low;
    /* Power grows with the clock. */
    while (high - low > 1e-6) {
        const double middle = 0.5 * (low + high);
        if (tz_power_at(demand, exponent, middle, NULL) > limit_w)
            high = middle;
        else
            low = middle;
    }
    out->share = low;
    tz_power_at(demand, exponent, low, &out->sustained_s);
}

void tz_power_predict(const tz_model_work *work, const tz_model_device *device,
                      tz_model_prediction *prediction)
{
    tz_power_demand demand;
    tz_power_answer answer;
    prediction->power_w = prediction->power_limit_w = 0.0;
    prediction->sustained_hz = prediction->sustained_s = 0.0;
    if (!tz_power_count(work, device, prediction, &demand))
        return;
    tz_power_settle(&demand,
                    device->power_exponent.known ? device->power_exponent.value
                                                 : TZ_FIT_POWER_EXPONENT,
                    device->power_limit_w.value, &answer);
    prediction->power_w = answer.watts;
    prediction->power_limit_w = device->power_limit_w.value;
    prediction->sustained_hz = answer.share * device->clock_hz.value;
    prediction->sustained_s = answer.sustained_s;
}

double tz_power_time(const tz_model_prediction *prediction)
{
    return prediction->sustained_s > 0 ? prediction->sustained_s : prediction->time_s;
}

bool tz_power_text(const tz_model_prediction *prediction, char *text, size_t size)
{
    const tz_model_prediction *p = prediction;
    text[0] = '\0';
    if (!(p->sustained_s > 0))
        return false;
    if (p->power_w <= p->power_limit_w)
        snprintf(text, size, "%.0f W of %.0f", p->power_w, p->power_limit_w);
    else
        snprintf(text, size, "%.0f W of %.0f: a long run is held to %.3g GHz, %.0f %% slower",
                 p->power_w, p->power_limit_w, p->sustained_hz * 1e-9,
                 100 * (p->sustained_s / p->time_s - 1));
    return true;
}
