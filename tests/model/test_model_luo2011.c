/* The model of Luo and Suda 2011: equations with the paper's numbers, transactions, periods. */
#include "model/luo2011.h"

#include "model_support.h"

static tz_luo2011_gpu gtx260(void)
{
    const tz_model_device device = device_named("gtx260");
    tz_luo2011_gpu gpu;
    assert_ok(tz_luo2011_gpu_of(&device, &gpu, NULL, &failure));
    return gpu;
}

static void the_record_has_table_1(void **state)
{
    const tz_luo2011_gpu gpu = gtx260();
    const double rows[][5] = {
        {TZ_LUO2011_ADD, 22, 65, 22, 65},       {TZ_LUO2011_MUL, 44, 136, 22, 65},
        {TZ_LUO2011_DIV, 728, 753, 748, 783},   {TZ_LUO2011_NEG, 22, 22, 17, 17},
        {TZ_LUO2011_MIN, 62, 62, 62, 62},       {TZ_LUO2011_AND, 64, 64, 64, 64},
        {TZ_LUO2011_OR, 62, 62, 62, 62},        {TZ_LUO2011_NOT, 22, 22, 22, 22},
        {TZ_LUO2011_MEMORY, 200, 200, 200, 200}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int k = 0; k < 4; k++)
            assert_close(gpu.costs.clocks[(int)rows[r][0]][k / 2][k % 2], rows[r][k + 1], 1e-14);
    assert_close(gpu.bandwidth, 90.10, 1e-4);
    assert_close(gpu.warps_max, 32, 0);
    assert_true(gpu.half_warps);
}

static void memory_parallel_degree(void **state)
{
    const tz_luo2011_gpu gpu = gtx260();
    const double warps[] = {1, 2, 3, 4, 6, 8, 12, 16}, printed[] = {1, 2, 3, 2, 1, 1, 0, 0};
    const double bandwidth = tz_luo2011_warp_bandwidth(4, 2, gpu.latency);
    assert_close(bandwidth, 0.32, 1e-14);
    for (int i = 0; i < 8; i++) {
        assert_close(tz_luo2011_mpd(&gpu, warps[i], bandwidth, true), printed[i], 0);
        assert_close(tz_luo2011_mpd(&gpu, warps[i], bandwidth, false), fmin(warps[i], 11), 0);
    }
    assert_close(tz_luo2011_mpd(&gpu, 32, bandwidth, false), 11, 0);
}

static void computation_parallel_degree(void **state)
{
    const tz_luo2011_gpu gpu = gtx260();
    const double rows[][5] = {/* P, warps, CPD1, CPD2, CPD */
                              {.2623, 32, 7.9917, 7.5201, 7.5201},
                              {.282, 16, 4.0900, 6.2564, 4.0900},
                              {.4584, 32, 3.8736, 3.1384, 3.1384},
                              {.8697, 32, -4.7637, 13.9342, 13.9342}};
    for (int i = 0; i < 4; i++) {
        assert_close(tz_luo2011_cpd1(&gpu, rows[i][0], rows[i][1]), rows[i][2], 1e-4);
        assert_close(tz_luo2011_cpd2(&gpu, rows[i][0], rows[i][1]), rows[i][3], 1e-4);
        assert_close(tz_luo2011_cpd(&gpu, rows[i][0], rows[i][1]), rows[i][4], 1e-4);
    }
    assert_close(tz_luo2011_cpd(&gpu, 0.1, 1), 1, 0); /* eq. 3 gives -1 */
}

static void accuracy(void **state)
{
    assert_close(tz_luo2011_accuracy(2, 1.8), 0.9, 1e-15);
    assert_close(tz_luo2011_accuracy(1.8, 2), 0.9, 1e-15);
    assert_close(tz_luo2011_accuracy(3, 3), 1, 0);
}

static tz_luo2011_period timed(double c_before, double m_before, double c, double m, double active,
                               double cpd, double mpd)
{
    tz_luo2011_period p = {.computation = c, .memory = m};
    p.type = tz_luo2011_type(c_before, m_before, c, m);
    tz_luo2011_period_time(&p, active, cpd, m_before, mpd);
    return p;
}

static void types_of_periods(void **state)
{
    tz_luo2011_period p = timed(0, 0, 300, 200, 8, 3, 2);
    assert_int_equal(p.type, 1);
    assert_close(p.time, 800, 0);
    p = timed(300, 200, 300, 200, 8, 7, 2);
    assert_close(p.time, 343, 0); /* 2400 / 7 rounded up */
    p = timed(300, 200, 20, 400, 8, 4, 2);
    assert_int_equal(p.type, 2);
    assert_close(p.base, 40, 0);
    assert_close(p.before, 0, 0);
    assert_close(p.after, 400 - 7 * 20, 0);
    p = timed(300, 200, 100, 400, 8, 4, 2);
    assert_close(p.after, 0, 0);
    p = timed(100, 400, 50, 40, 8, 4, 2);
    assert_int_equal(p.type, 3);
    assert_close(p.before, 400 * 3 - 7 * 50, 0);
    assert_close(p.after, 0, 0);
    assert_close(p.time, 100 + 850, 0);
    p = timed(100, 400, 10, 900, 8, 4, 5);
    assert_int_equal(p.type, 4); /* floor(8/5 - 1) is 0 */
    assert_close(p.before, 0, 0);
    assert_close(p.after, 900 - 70, 0);
    p = timed(100, 400, 10, 1300, 8, 4, 2);
    assert_close(p.before, 1130, 0);
    assert_close(p.after, 1300 - (70 + 1130), 0);
    assert_close(p.time, 20 + 1130 + 100, 0);
    p = timed(100, 400, 10, 900, 8, 4, 2);
    assert_close(p.after, 0, 0); /* not below 0, which eq. 13 allows */
}

static int transactions(uint64_t first, uint64_t step, uint32_t active, int bytes, bool halves)
{
    uint64_t at[32];
    for (uint64_t lane = 0; lane < 32; lane++)
        at[lane] = first + lane * step;
    return tz_luo2011_transactions(at, active, bytes, halves);
}

static void transactions_of_a_warp(void **state)
{
    /* Halves of a warp, 64 bytes each, in segments of 128 bytes. */
    assert_int_equal(transactions(4096, 4, ~0u, 4, true), 2);
    assert_int_equal(transactions(4096 + 4, 4, ~0u, 4, true), 3); /* the second half crosses */
    assert_int_equal(transactions(4096 - 4, 4, ~0u, 4, true), 3); /* the first one does */
    assert_int_equal(transactions(4096, 8, ~0u, 8, true), 2);
    assert_int_equal(transactions(4096, 16, ~0u, 16, true), 4);
    assert_int_equal(transactions(4096, 1, ~0u, 1, true), 2);
    assert_int_equal(transactions(4096, 2, ~0u, 2, true), 2);
    assert_int_equal(transactions(4096, 4, 0xffffu, 4, true), 1);
    assert_int_equal(transactions(4096, 0, ~0u, 4, true), 2); /* all at one address */
    assert_int_equal(transactions(4096, 128, ~0u, 4, true), 32);
    assert_int_equal(transactions(4096, 4, 0, 4, true), 0);
    /* Sectors of 32 bytes. */
    assert_int_equal(transactions(4096, 4, ~0u, 4, false), 4);
    assert_int_equal(transactions(4096 + 4, 4, ~0u, 4, false), 5);
    assert_int_equal(transactions(4096, 8, ~0u, 8, false), 8);
    assert_int_equal(transactions(4096, 0, ~0u, 4, false), 1);
    assert_int_equal(transactions(4096, 128, 1u << 31 | 1, 4, false), 2);
}

static void a_kernel(void **state)
{
    const tz_luo2011_gpu gpu = gtx260();
    const tz_luo2011_task tasks[] = {{false, 3, 100, 0, 0},
                                     {true, 2, 400, 4, 8},
                                     {false, 1, 65, 0, 0},
                                     {true, 1, 200, 2, 4},
                                     {false, 1, 22, 0, 0}};
    tz_luo2011_kernel kernel = {
        tasks, 5, 100, 300, 256, 960,
    };
    tz_luo2011_result r;
    assert_ok(tz_luo2011_evaluate(&gpu, &kernel, false, &r, &failure));
    assert_close(r.active, 32, 0);
    assert_close(r.rounds, 10, 0);
    assert_close(r.share, 187.0 / 787, 1e-14);
    assert_close(r.text_share, 0.25, 1e-14);
    assert_int_equal(r.count, 3);
    assert_int_equal(r.periods[0].type, 2);
    assert_int_equal(r.periods[1].type, 4);
    assert_int_equal(r.periods[2].type, 3);
    assert_close(r.periods[0].mpd, 11, 0);
    assert_close(r.periods[2].accesses, 0, 0);
    double sum = 0;
    for (int i = 0; i < r.count; i++)
        sum += r.periods[i].time;
    assert_close(r.time, 10 * sum, 1e-14);
    const double usual = r.time;
    tz_luo2011_result_clear(&r);
    assert_ok(tz_luo2011_evaluate(&gpu, &kernel, true, &r, &failure));
    assert_close(r.periods[0].mpd, 1, 0); /* 0 as printed */
    assert_true(r.time > usual && isfinite(r.time));
    tz_luo2011_result_clear(&r);
    kernel.blocks = 24; /* one block a multiprocessor: 8 warps */
    assert_ok(tz_luo2011_evaluate(&gpu, &kernel, false, &r, &failure));
    assert_close(r.active, 8, 0);
    assert_close(r.rounds, 1, 0);
    tz_luo2011_result_clear(&r);
    kernel.threads = 2048;
    assert_int_equal(tz_luo2011_evaluate(&gpu, &kernel, false, &r, &failure), TZ_RANGE);
    kernel.threads = 256;
    kernel.count = 0;
    assert_int_equal(tz_luo2011_evaluate(&gpu, &kernel, false, &r, &failure), TZ_RANGE);
}

static void as_a_model(void **state)
{
    const tz_luo2011_task tasks[] = {{false, 3, 100, 0, 0}, {true, 2, 400, 4, 8}};
    const tz_luo2011_kernel kernels[] = {{tasks, 2, 100, 400, 256, 960},
                                         {tasks, 2, 100, 400, 256, 960}};
    tz_luo2011_plain plain = {kernels, 1, false};
    const tz_model_facts facts = {
        .name = "x", .dims = 2, .extent = {960, 256}, .element_bytes = 4, .state_fields = 1};
    tz_model_device device = device_named("gtx260");
    tz_model_plan plan = {.plain = &plain, .block = {32, 8}};
    tz_model_prediction one, two;
    assert_ok(tz_model_predict(&tz_model_luo2011, &facts, &device, &plan, &one, &failure));
    plain.count = 2;
    assert_ok(tz_model_predict(&tz_model_luo2011, &facts, &device, &plan, &two, &failure));
    assert_close(two.time_s, 2 * one.time_s, 1e-14);
    assert_close(one.cells_per_s, 960 * 256 / one.time_s, 1e-14);
    assert_close(detail_of(&one, "P"), 0.2, 1e-14);
    double sum = 0;
    for (int k = 0; k < one.component_count; k++)
        sum += one.components[k].seconds;
    assert_close(sum, one.time_s, 1e-14);
    assert_int_equal(one.height_max, 1);
    plan.height = 2;
    assert_int_equal(tz_model_predict(&tz_model_luo2011, &facts, &device, &plan, &one, &failure),
                     TZ_RANGE);
    plan.height = 1;
    plan.plain = NULL;
    assert_int_equal(tz_model_predict(&tz_model_luo2011, &facts, &device, &plan, &one, &failure),
                     TZ_UNSUPPORTED);
    plan.plain = &plain;
    device = device_named("h200");
    assert_int_equal(tz_model_predict(&tz_model_luo2011, &facts, &device, &plan, &one, &failure),
                     TZ_UNSUPPORTED);
    assert_non_null(strstr(failure.message, "clocks_add_int_constant"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_record_has_table_1),
        cmocka_unit_test(memory_parallel_degree),
        cmocka_unit_test(computation_parallel_degree),
        cmocka_unit_test(accuracy),
        cmocka_unit_test(types_of_periods),
        cmocka_unit_test(transactions_of_a_warp),
        cmocka_unit_test(a_kernel),
        cmocka_unit_test(as_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
