/* Runs a small and a wide grid in two slabs and derives latency and bandwidth of their link. Called
 * by core/cli/cmd_calibrate.c. */
#include "calibrate/calibrate.h"

#include "backend/slabs/slabs.h"
#include "base/machine.h"
#include "stencil/stencil.h"
#include <string.h>

enum {
    SMALL = 64,     /* cells along each axis of the small grid */
    WIDE = 1 << 18, /* cells of a row of the wide grid */
    DEEP = 4,       /* iterations between two exchanges of it */
    STAGES = 40,    /* of a sample on the small grid */
    REPEATS_MIN = 5,
    REPEATS_MAX = 20
};

typedef struct bench {
    const tz_backend *backend; /* of slabs, or of one of them */
    tz_problem problem;
    tz_plan plan;
    const tz_streamed_source *streamed[TZ_FIELDS_MAX]; /* none */
    void *state;
} bench;

static void bench_close(bench *b)
{
    if (b->state)
        b->backend->destroy(b->state);
    tz_problem_clear(&b->problem);
}

/* A grid of nx * ny cells that is zero. `devices` NULL: on one device. */
static tz_status bench_open(bench *b, const tz_backend *backend, const tz_devices *devices,
                            const tz_stencil *stencil, int64_t nx, int64_t ny, int exchange,
                            tz_error *error)
{
    const tz_simulation_config config = {
        .stencil = stencil->id, .dims = 2, .extent = {nx, ny, 1}, .precision = -1};
    const tz_place place = {.threads = 1, .devices = devices};
    *b = (bench){.backend = backend};
    tz_status status = tz_problem_resolve(&b->problem, stencil, &config, error);
    b->plan = (tz_plan){.height = 1, .exchange = devices ? exchange : 0};
    if (!status)
        status = backend->plan(&b->problem, &place, &b->plan, error);
    const tz_backend_context context = {.problem = &b->problem,
                                        .streamed = b->streamed,
                                        .sync = true,
                                        .devices = devices,
                                        .exchange = exchange};
    if (!status)
        status = backend->create(&b->state, &context, error);
    return status;
}

/* Advance by so many stages; *seconds: of them all. */
static tz_status advance(bench *b, int stages, double *seconds, tz_error *error)
{
    const double begin = tz_machine_clock_s();
    tz_status status = TZ_OK;
    for (int i = 0; i < stages && !status; i++)
        status = b->backend->stage(b->state, &b->plan, 1, 0, error);
    if (!status && b->backend->wait)
        status = b->backend->wait(b->state, error);
    *seconds = tz_machine_clock_s() - begin;
    return status;
}

/* Samples of seconds of a stage without an exchange, and of an exchange; *bytes that a device
 * receives in one. */
static tz_status sample(bench *b, int repeats, int stages, tz_samples *stage, tz_samples *exchange,
                        double *bytes, tz_error *error)
{
    const bool slabs = b->plan.exchange > 0;
    tz_status status = TZ_OK;
    for (int i = -1; i < repeats && !status; i++) {
        tz_slabs_facts before = {.exchanged = {0}}, after = {.exchanged = {0}};
        double seconds = 0.0;
        if (slabs)
            tz_slabs_describe(b->state, &before);
        status = advance(b, stages, &seconds, error);
        if (slabs && !status)
            tz_slabs_describe(b->state, &after);
        const double count = (double)(after.exchanged.count - before.exchanged.count);
        const double exchanging_s = after.exchanged.seconds - before.exchanged.seconds;
        if (status || i < 0)
            continue;
        tz_samples_add(stage, (seconds - exchanging_s) / stages);
        if (count > 0) {
            tz_samples_add(exchange, exchanging_s / count);
            *bytes = (after.exchanged.bytes - before.exchanged.bytes) / count / after.devices.count;
        }
    }
    return status;
}

static tz_status measure(const tz_backend *backend, const tz_devices *devices,
                         const tz_stencil *stencil, int64_t nx, int64_t ny, int exchange,
                         int repeats, int stages, tz_samples *stage, tz_samples *exchanges,
                         double *bytes, tz_error *error)
{
    bench b;
    tz_status status = bench_open(&b, backend, devices, stencil, nx, ny, exchange, error);
    if (!status)
        status = sample(&b, repeats, stages, stage, exchanges, bytes, error);
    bench_close(&b);
    return status;
}

static tz_status check(const tz_devices *devices, const tz_stencil *stencil, tz_error *error)
{
    const tz_reach reach = tz_stencil_reach_sides(stencil);
    if (devices->count != 2)
        return tz_error_set(error, TZ_RANGE, "devices", "links are measured between two devices");
    for (int f = 0; f < stencil->fields_count; f++)
        if (stencil->fields[f].role == TZ_STREAMED)
            return tz_error_set(error, TZ_RANGE, stencil->id, "has streamed fields");
    if (stencil->dims != 2 || reach.low[1] + reach.high[1] < 1)
        return tz_error_set(error, TZ_RANGE, stencil->id, "needs 2-D and a radius along y");
    return TZ_OK;
}

tz_status tz_calibrate_link(tz_model_device *out, const char *name, const tz_backend *backend,
                            const tz_devices *devices, const tz_stencil *stencil,
                            const tz_calibration *calibration, tz_error *error)
{
    tz_backend slabs;
    tz_devices both = *devices;
    tz_samples stages = {0}, alone = {0}, wide = {0}, small = {0}, large = {0};
    double few = 0.0, many = 0.0;
    const bool is_peer = strcmp(name, "peer") == 0;
    const int repeats = calibration->seconds < REPEATS_MIN   ? REPEATS_MIN
                        : calibration->seconds > REPEATS_MAX ? REPEATS_MAX
                                                             : (int)calibration->seconds;
    tz_status status = check(devices, stencil, error);
    if (!status)
        status = tz_slabs_backend(backend, &both, &slabs, error);
    if (!status)
        status = tz_calibration_step(calibration, 0.98, "exchanges of ghost zones", error);
    if (!status)
        status = measure(&slabs, &both, stencil, SMALL, SMALL, 1, repeats, STAGES, &stages, &small,
                         &few, error);
    if (!status)
        status = measure(backend, NULL, stencil, SMALL, SMALL / 2, 1, repeats, STAGES, &alone,
                         &large, &many, error);
    if (!status)
        status = measure(&slabs, &both, stencil, WIDE, 2 * DEEP * 2, DEEP, repeats, 2 * DEEP, &wide,
                         &large, &many, error);
    if (status)
        return status;
    const double latency = tz_samples_quarter(&small);
    const double start = tz_samples_quarter(&stages) - tz_samples_quarter(&alone);
    const double moving = tz_samples_quarter(&large) - latency;
    if (!(moving > 0))
        return tz_error_set(error, TZ_BACKEND, name,
                            "an exchange of %.3g MB takes no longer than one of %.0f bytes",
                            many * 1e-6, few);
    tz_number_set(&out->slab_start_s, start > 0 ? start : 0,
                  "measured: a stage of %d x %d cells in two slabs, longer than of one of them",
                  SMALL, SMALL);
    tz_number_set(is_peer ? &out->peer_latency_s : &out->host_latency_s, latency,
                  "measured: exchanges of %.0f bytes between two slabs, best quarter of %d, spread "
                  "%.0f %%",
                  few, small.count, 100 * tz_samples_spread(&small));
    tz_number_set(is_peer ? &out->peer_bandwidth_bytes_per_s : &out->host_bandwidth_bytes_per_s,
                  (many - few) / moving,
                  "measured: exchanges of %.3g MB each way between two slabs, best quarter of %d, "
                  "spread %.0f %%",
                  many * 1e-6, large.count, 100 * tz_samples_spread(&large));
    return TZ_OK;
}
