/* The model of Luo and Suda 2011: equations with the paper's numbers, transactions, periods. */
#include "model/papers/luo2011.h"

#include "papers_support.h"

static tz_luo2011_gpu gtx260(void)
{
    const tz_model_device device = device_named("gtx260");
    tz_luo2011_gpu gpu;
    assert_ok(tz_luo2011_gpu_of(&device, &gpu, NULL, &failure));
    return gpu;
}

TEST(the_record_has_table_1)
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

TEST(memory_parallel_degree)
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

TEST(computation_parallel_degree)
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

TEST(a_kernel)
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

TEST(as_a_model)
{
    const tz_luo2011_task tasks[] = {{false, 3, 100, 0, 0}, {true, 2, 400, 4, 8}};
    const tz_luo2011_kernel kernels[] = {{tasks, 2, 100, 400, 256, 960},
                                         {tasks, 2, 100, 400, 256, 960}};
    tz_luo2011_plain plain = {kernels, 1, false};
    const tz_model_facts facts = {
        .name = "x", .dims = 2, .extent = {960, 256}, .element_bytes = 4, .state_fields = 1};
    tz_model_device device = device_named("gtx260");
    tz_model_plan plan = {.own = &plain, .block = {32, 8}};
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
    plan.own = NULL;
    assert_int_equal(tz_model_predict(&tz_model_luo2011, &facts, &device, &plan, &one, &failure),
                     TZ_UNSUPPORTED);
    plan.own = &plain;
    device = device_named("h100-80gb-hbm3");
    check_error(tz_model_predict(&tz_model_luo2011, &facts, &device, &plan, &one, &failure),
                TZ_UNSUPPORTED, "", "clocks_add_int_constant");
}

/* ---- The fit --------------------------------------------------------------------------------- */

enum { SWEPT_WARPS = 8, SWEPT_SHARES = 9, SWEPT = SWEPT_WARPS * SWEPT_SHARES };

/* Points by equations 3 to 5, each off by up to `noise` of itself. */
static void make_points(const tz_luo2011_gpu *gpu, double noise, tz_luo2011_point points[SWEPT])
{
    static const double warps[SWEPT_WARPS] = {2, 4, 8, 12, 16, 24, 28, 32};
    uint64_t state = 5;
    for (int i = 0; i < SWEPT; i++) {
        tz_luo2011_point *p = &points[i];
        p->active = warps[i % SWEPT_WARPS] * gpu->warps_max / 32;
        p->share = 0.1 * (1 + i / SWEPT_WARPS);
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const double off = (double)(state >> 33) / 1073741824.0 - 1; /* -1 to 1 */
        p->cpd = fmax(tz_luo2011_cpd(gpu, p->share, p->active) * (1 + noise * off), 1);
    }
}

/* From points of known a, b and d the fit finds them again; with noise about, and never worse than
 * they are themselves. */
TEST(the_fit_finds_known_constants)
{
    static const double known[][4] = {{3, 11, 80, 32},  {2, 5, 40, 64},   {6, 20, 300, 64},
                                      {1, -4, 400, 48}, {4, 8, 100, 64},  {10, 30, 160, 32},
                                      {3, 0, 500, 48},  {1.5, 2, 0.5, 32}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        for (int noisy = 0; noisy < 2; noisy++) {
            tz_luo2011_point points[SWEPT];
            tz_luo2011_gpu truth = gtx260();
            truth.a = known[k][0];
            truth.b = known[k][1];
            truth.d = known[k][2];
            truth.warps_max = known[k][3];
            tz_luo2011_gpu fitted = truth;
            fitted.a = fitted.b = fitted.d = NAN;
            double error_share = NAN, sum = 0;
            make_points(&truth, noisy ? 0.05 : 0, points);
            assert_ok(tz_luo2011_fit(points, SWEPT, &fitted, &error_share, &failure));
            for (int i = 0; i < SWEPT; i++) {
                const double ratio =
                    tz_luo2011_cpd(&truth, points[i].share, points[i].active) / points[i].cpd;
                sum += (ratio - 1) * (ratio - 1);
            }
            const double own = sqrt(sum / SWEPT), near = noisy ? 0.06 : 1e-6;
            if (error_share > own + 1e-9 || fabs(fitted.a - truth.a) > near * (1 + truth.a) ||
                fabs(fitted.b - truth.b) > near * truth.warps_max ||
                fabs(fitted.d - truth.d) > near * (10 + truth.d))
                fail_msg("a %g, b %g, d %g became %g, %g, %g, within %g (own %g, noise %d)",
                         truth.a, truth.b, truth.d, fitted.a, fitted.b, fitted.d, error_share, own,
                         noisy);
            assert_true(fitted.c == truth.c && fitted.warps_max == truth.warps_max);
        }
}
