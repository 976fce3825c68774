/* Finds how alike two GPUs are, and scales latencies, bandwidths and powers from one to the other.
 * Called by calibrate/records.c for a GPU without a record. */
#include "model/device_scaled.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static double factor(const tz_model_number *of, const tz_model_number *than)
{
    return of->known && than->known && than->value > 0 ? of->value / than->value : 1;
}

double tz_model_device_distance(const tz_model_device *like, const tz_model_device *gpu)
{
    if (!like->compute_capability.known || !gpu->compute_capability.known ||
        !like->clock_hz.known || !gpu->clock_hz.known || !like->sm_count.known ||
        !gpu->sm_count.known)
        return INFINITY;
    const double a = like->compute_capability.value, b = gpu->compute_capability.value;
    const double major = fabs(floor(a / 10) - floor(b / 10)),
                 minor = fabs(fmod(a, 10) - fmod(b, 10));
    return 1e4 * major + 1e2 * minor + fabs(log(factor(&gpu->sm_count, &like->sm_count))) +
           fabs(log(factor(&gpu->clock_hz, &like->clock_hz))) +
           fabs(log(
               factor(&gpu->memory_bandwidth_bytes_per_s, &like->memory_bandwidth_bytes_per_s)));
}

/* Numbers that change with another, and how: to the power of -1 for times. */
static const struct rule {
    size_t number;
    enum { CLOCKS, MEMORY, L2_SPEED, UNITS } by;
} rules[] = {
    {offsetof(tz_model_device, fp32_latency_s), CLOCKS},
    {offsetof(tz_model_device, fp64_latency_s), CLOCKS},
    {offsetof(tz_model_device, integer_latency_s), CLOCKS},
    {offsetof(tz_model_device, logic_latency_s), CLOCKS},
    {offsetof(tz_model_device, shuffle_latency_s), CLOCKS},
    {offsetof(tz_model_device, shared_latency_s), CLOCKS},
    {offsetof(tz_model_device, barrier_s), CLOCKS},
    {offsetof(tz_model_device, memory_bandwidth_bytes_per_s), MEMORY},
    {offsetof(tz_model_device, copy_bandwidth_bytes_per_s), MEMORY},
    {offsetof(tz_model_device, read_bandwidth_bytes_per_s), MEMORY},
    {offsetof(tz_model_device, l2_bandwidth_bytes_per_s), L2_SPEED},
    {offsetof(tz_model_device, power_limit_w), UNITS},
    {offsetof(tz_model_device, power_idle_w), UNITS},
    {offsetof(tz_model_device, power_active_w), UNITS},
};

void tz_model_device_scale(tz_model_device *out, const tz_model_device *like,
                           const tz_model_device *gpu)
{
    static const char *const by[] = {"the clock", "memory_bandwidth",
                                     "the clock and the multiprocessors", "the multiprocessors"};
    const double clock = factor(&gpu->clock_hz, &like->clock_hz),
                 units = factor(&gpu->sm_count, &like->sm_count);
    const double factors[] = {
        1 / clock, factor(&gpu->memory_bandwidth_bytes_per_s, &like->memory_bandwidth_bytes_per_s),
        clock * units, units};
    size_t count;
    const tz_model_key *keys = tz_model_device_keys(&count);
    *out = *like;
    for (size_t k = 0; k < count; k++) {
        tz_model_number *number = (tz_model_number *)(void *)((char *)out + keys[k].offset);
        const tz_model_number *fact =
            (const tz_model_number *)(const void *)((const char *)gpu + keys[k].offset);
        if (keys[k].quantity == TZ_MODEL_TEXT)
            continue;
        if (fact->known) {
            *number = *fact;
            continue;
        }
        if (!number->known)
            continue;
        snprintf(number->source, sizeof number->source, "of %s", like->name);
        for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
            if (rules[r].number == keys[k].offset) {
                number->value *= factors[rules[r].by];
                snprintf(number->source, sizeof number->source, "of %s, scaled by %s", like->name,
                         by[rules[r].by]);
            }
    }
    snprintf(out->name, sizeof out->name, "scaled-%.50s", like->name);
    snprintf(out->title, sizeof out->title, "%s", gpu->title);
    snprintf(out->scaled_from, sizeof out->scaled_from, "%s", like->name);
}
