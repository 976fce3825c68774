/* A GPU without a record: the nearest record, scaled by what the driver tells, chooses plans that
 * are about as good as those of the GPU's own record. Compiles kernels; needs NVRTC, no GPU. */
#include "backend/cuda/compile/compile.h"
#include "calibrate/calibrate.h"
#include "calibrate/cuda.h"
#include "calibrate/records.h"
#include "model/device_scaled.h"
#include "model/power.h"
#include "predict/prediction_table.h"
#include "tests/archetypes.h"
#include "tests/registry.h"

/* What the driver tells of an H100. */
static const tz_cuda_device h100 = {.name = "NVIDIA H100 80GB HBM3",
                                    .major = 9,
                                    .l2_bytes = 50 << 20,
                                    .multiprocessors = 132,
                                    .shared_bytes = 227 << 10,
                                    .shared_reserved_bytes = 1 << 10,
                                    .multiprocessor_shared_bytes = 228 << 10,
                                    .multiprocessor_registers = 65536,
                                    .multiprocessor_threads = 2048,
                                    .multiprocessor_blocks = 32,
                                    .clock_khz = 1980000,
                                    .memory_clock_khz = 2619000,
                                    .memory_bus_bits = 5120};

static tz_model_device record_named(const char *name)
{
    tz_model_device device;
    assert_ok(tz_device_find(name, &device, &failure));
    return device;
}

static tz_model_device facts_of(const tz_cuda_device *gpu)
{
    tz_model_device facts = {.name = ""};
    tz_cuda_facts(&facts, gpu);
    tz_number_set(&facts.clock_hz, 1e3 * gpu->clock_khz, "nominal");
    return facts;
}

TEST(numbers_are_scaled_by_facts)
{
    const tz_model_device like = record_named("h200");
    tz_cuda_device half = h100;
    half.multiprocessors = 66;
    half.clock_khz = 987000;
    half.memory_clock_khz = 0; /* not told */
    const tz_model_device facts = facts_of(&half);
    tz_model_device out;
    tz_model_device_scale(&out, &like, &facts);
    assert_string_equal(out.title, "NVIDIA H100 80GB HBM3");
    assert_string_equal(out.name, "scaled-h200");
    assert_string_equal(out.scaled_from, "h200");
    const struct {
        const tz_model_number *now, *was;
        double factor;
    } rows[] = {{&out.sm_count, &like.sm_count, 0.5},
                {&out.l2_bytes, &like.l2_bytes, 50.0 / 60},
                {&out.fp32_latency_s, &like.fp32_latency_s, 2},
                {&out.barrier_s, &like.barrier_s, 2},
                {&out.l2_bandwidth_bytes_per_s, &like.l2_bandwidth_bytes_per_s, 0.25},
                {&out.copy_bandwidth_bytes_per_s, &like.copy_bandwidth_bytes_per_s, 1},
                {&out.power_limit_w, &like.power_limit_w, 0.5},
                {&out.launch_gap_s, &like.launch_gap_s, 1},
                {&out.memory_latency_s, &like.memory_latency_s, 1},
                {&out.fp32_rate, &like.fp32_rate, 1}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (!rows[k].now->known ||
            fabs(rows[k].now->value / rows[k].was->value - rows[k].factor) > 1e-3)
            fail_msg("row %d: %g of %g, not by %g", (int)k, rows[k].now->value, rows[k].was->value,
                     rows[k].factor);
    assert_non_null(strstr(out.fp32_latency_s.source, "of h200, scaled by the clock"));
    assert_non_null(strstr(out.launch_gap_s.source, "of h200"));
    /* Numbers that `like` lacks stay unknown. */
    tz_model_device less = like;
    less.fp64_rate.known = false;
    tz_model_device_scale(&out, &less, &facts);
    assert_false(out.fp64_rate.known);
}

TEST(the_nearest_record_is_of_the_same_architecture)
{
    const tz_model_device own = record_named("h100-80gb-hbm3"), like = record_named("h200");
    const tz_model_device old = record_named("gtx480"), facts = facts_of(&h100);
    tz_model_device other = own;
    assert_true(tz_model_device_distance(&own, &facts) < tz_model_device_distance(&like, &facts));
    assert_true(isinf(tz_model_device_distance(&old, &facts))); /* no compute capability */
    other.compute_capability.value = 100;
    assert_true(tz_model_device_distance(&other, &facts) > tz_model_device_distance(&like, &facts));
    other.compute_capability.value = 91;
    assert_true(tz_model_device_distance(&other, &facts) > tz_model_device_distance(&like, &facts));
}

static double time_of(const tz_prediction_table *table)
{
    return tz_power_time(&table->rows[table->best].prediction);
}

static tz_prediction_table *table_of(const tz_workload *workload, const tz_plan *given)
{
    tz_prediction_request request = {.given = *given};
    tz_prediction_table *table = NULL;
    for (int axis = 0; axis < TZ_AXES; axis++)
        request.block[axis] = (double)given->tile[axis];
    assert_ok(tz_prediction_table_create(&table, workload, &request, &failure));
    return table;
}

TEST(plans_are_as_good_as_by_the_own_record)
{
    static const struct {
        const char *name;
        int dims;
        int64_t n;
    } cases[] = {{"pathfinder", 1, 1000000}, {"star2d1r", 2, 4096}, {"hotspot", 2, 1024},
                 {"box2d2r", 2, 8192},       {"star3d1r", 3, 256},  {"life", 2, 8192}};
    char text[512];
    if (tz_cuda_compile_describe(text, sizeof text, &failure) != TZ_OK)
        skip_test("%s", failure.message);
    const tz_model_device like = record_named("h200"), facts = facts_of(&h100);
    /* Of one case with "stream" of this width fewer kernels are compiled; the heights are chosen
     * among. */
    const tz_plan given = is_complete() ? (tz_plan){0} : (tz_plan){.family = "stream", .vector = 4};
    const size_t count = is_complete() ? sizeof cases / sizeof *cases : 1;
    for (size_t k = 0; k < count; k++) {
        const int64_t n = cases[k].n;
        const tz_simulation_config simulation = {
            .registry = registry,
            .stencil = cases[k].name,
            .dims = cases[k].dims,
            .precision = -1,
            .threads = 2,
            .extent = {n, cases[k].dims > 1 ? n : 1, cases[k].dims > 2 ? n : 1}};
        const tz_workload_config config = {
            .simulation = &simulation, .device = "h100-80gb-hbm3", .let_unstable = true};
        tz_workload *workload = NULL;
        assert_ok(tz_workload_create(&workload, &config, &failure));
        const tz_model_device own = workload->device;
        tz_prediction_table *best = table_of(workload, &given);
        tz_model_device_scale(&workload->device, &like, &facts);
        tz_prediction_table *scaled = table_of(workload, &given);
        const tz_plan chosen = scaled->rows[scaled->best].plan;
        bool noted = false;
        for (int i = 0; i < scaled->notes.count; i++)
            noted = noted || strstr(scaled->notes.text[i], "its numbers are those of h200");
        assert_true(noted);
        workload->device = own;
        tz_prediction_table *again = table_of(workload, &chosen);
        const double share = time_of(best) / time_of(again);
        print_message("%s: height %d of %d, %.1f %% of the best; time %.3g, scaled %.3g us\n",
                      cases[k].name, chosen.height, best->rows[best->best].plan.height, 100 * share,
                      1e6 * time_of(best), 1e6 * time_of(scaled));
        if (share < 0.95)
            fail_msg("%s: the scaled record's plan has %.3f of the best speed", cases[k].name,
                     share);
        tz_prediction_table_destroy(best);
        tz_prediction_table_destroy(scaled);
        tz_prediction_table_destroy(again);
        tz_workload_destroy(workload);
    }
}

TEST_GROUP(open_plugins, close_plugins)
