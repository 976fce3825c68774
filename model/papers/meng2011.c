/* The model of 2011: alpha from sigma, tau from bank conflicts, launches or fences. meng_predict.c
 * registers it as the predictor meng2011. */
#include "model/papers/meng2011.h"

#include <math.h>

static const char *const needs[] = {"clock",          "sm_count",         "warp_size",
                                    "coalesce_width", "blocks_per_sm",    "cpi",
                                    "memory_latency", "memory_bandwidth", NULL};
static const char *const needs_launch[] = {"launch", NULL};
static const char *const needs_fence[] = {"fence", "fence_per_block", NULL};

double tz_model_meng2011_alpha(int dims, double sigma)
{
    return pow(sigma, dims - 1);
}

double tz_model_meng2011_tau(double beta, double bank_conflict_rate)
{
    return (1 - beta) * (1 + bank_conflict_rate);
}

static double constant_or(const tz_model_number *number, const char *key, double paper,
                          tz_model_notes *notes)
{
    if (number->known)
        return number->value;
    tz_model_note(notes, "no %s in the device's record: the paper's %g, fitted to the GTX 280", key,
                  paper);
    return paper;
}

tz_status tz_model_meng2011_fill(const tz_model_facts *facts, const tz_model_device *device,
                                 const tz_model_plan *plan, tz_model_meng *m, tz_model_notes *notes,
                                 tz_error *error)
{
    const bool fence = plan->sync == TZ_MODEL_SYNC_FENCE;
    tz_status status = tz_model_device_check(device, "meng2011", needs, notes, error);
    if (status == TZ_OK)
        status = tz_model_device_check(device, fence ? "meng2011 with fences" : "meng2011",
                                       fence ? needs_fence : needs_launch, notes, error);
    if (status == TZ_OK)
        status = tz_model_meng_fill(facts, device, plan, m, notes, error);
    if (status != TZ_OK)
        return status;
    const double sigma = constant_or(&device->memory_conflict_base, "memory_conflict_base",
                                     TZ_MODEL_MENG2011_SIGMA, notes);
    const double beta =
        constant_or(&device->hidden_share, "hidden_share", TZ_MODEL_MENG2011_BETA, notes);
    if (!facts->bank_conflicts_known)
        tz_model_note(notes, "rate of bank conflicts not known: taken as 0");
    m->alpha = tz_model_meng2011_alpha(facts->dims, sigma);
    m->tau =
        tz_model_meng2011_tau(beta, facts->bank_conflicts_known ? facts->bank_conflict_rate : 0);
    if (fence) {
        m->glb_sync_cycles = device->fence_s.value * m->clock_rate_hz;
        m->glb_sync_per_block_cycles = device->fence_per_block_s.value * m->clock_rate_hz;
    } else {
        m->glb_sync_cycles = device->launch_s.value * m->clock_rate_hz;
    }
    return TZ_OK;
}

static tz_status height_max(const tz_model_facts *facts, const tz_model_device *device,
                            const tz_model_plan *plan, int *height, tz_error *error)
{
    tz_model_meng m;
    const tz_status status = tz_model_meng2011_fill(facts, device, plan, &m, NULL, error);
    if (status == TZ_OK)
        *height = tz_model_meng_height_max(&m);
    return status;
}

static tz_status predict(const tz_model_facts *facts, const tz_model_device *device,
                         const tz_model_plan *plan, tz_model_prediction *out, tz_error *error)
{
    tz_model_meng m;
    const tz_status status = tz_model_meng2011_fill(facts, device, plan, &m, &out->notes, error);
    if (status == TZ_OK)
        tz_model_meng_report(&m, facts, plan->height, out);
    return status;
}

const tz_equations tz_model_meng2011 = {
    .model = {.name = "meng2011",
              .doc = "meng2009 with latency hiding, bank conflicts and fences",
              .source =
                  "Meng and Skadron, Int. J. Parallel Programming 2011, as far as our copy goes",
              .needs = needs},
    .height_max = height_max,
    .predict = predict,
};
