/* Predictions by luo2011: plain kernels of stencils, compiled to PTX. Needs NVRTC, no GPU. */
#include "model/papers/options.h"
#include "model/papers/papers.h"
#include "model/papers/predict.h"
#include "tests/backend/cuda/nvrtc.h"
#include "tests/predictions.h"

static const tz_prediction_request usual = {.by = &tz_predictor_luo2011};

static tz_workload *workload_in(const char *stencil, int64_t n, tz_precision precision)
{
    tz_simulation_config simulation = config_of(stencil, 2, n);
    simulation.precision = precision;
    return workload_for(&simulation, "gtx260");
}

/* The only row of the table. */
static const tz_prediction_plain *plain_of(const tz_prediction_table *table)
{
    assert_int_equal(table->count, 1);
    assert_non_null(table->own);
    return table->own;
}

/* The paper's "linear" is the mean of 9 pixels of 800 x 800: P is 45.84 % by its compiler's PTX. */
TEST(the_mean_of_nine_pixels)
{
    need_nvrtc();
    tz_workload *workload = workload_in("box2d1r", 800, TZ_SINGLE);
    tz_prediction_table *table = table_of(workload, &usual);
    const tz_ptx_trace *trace = &plain_of(table)->plain.traces[0];
    const tz_luo2011_result *r = &plain_of(table)->results[0];
    assert_int_equal(trace->accesses, 9 + 1);
    assert_int_equal(trace->unknown_branches + trace->unknown_addresses + trace->calls, 0);
    /* Rows of 128 bytes: 2 transactions, one more at an offset. The warp has the middle: row
     * 400. */
    assert_int_equal(trace->transactions, 3 * (2 + 3 + 3) + 2);
    assert_true(r->share > 0.40 && r->share < 0.62);
    assert_int_equal(r->active, 32);
    assert_int_equal(r->rounds, 27); /* 25 x 100 blocks, 4 on each of 24 multiprocessors */
    const double time_s = table->rows[0].prediction.time_s;
    assert_true(time_s > 0 && isfinite(time_s));
    assert_true(fabs(r->time / 1.242e9 / time_s - 1) < 1e-12);
    tz_prediction_request request = usual;
    request.options = 1u << TZ_PAPERS_AS_PRINTED;
    table = table_of(workload, &request);
    assert_true(table->rows[0].prediction.time_s >= time_s);
    assert_true(plain_of(table)->results[0].periods[0].mpd == 1);
}

/* Accesses as the cell texts have them. The words of life and cell are read again where the
 * compiler does not join two expressions. */
TEST(stencils_of_all_kinds)
{
    need_nvrtc();
    static const struct {
        const char *name;
        int dims, loads, stores;
        int64_t n;
    } cases[] = {{"star2d1r", 2, 5, 1, 256},    {"poisson", 2, 6, 1, 256},
                 {"hotspot", 2, 6, 1, 256},     {"lbm", 2, 9 + 1, 9, 256},
                 {"pathfinder", 1, 4, 1, 9999}, {"star3d1r", 3, 7, 1, 64},
                 {"life", 2, 10, 1, 4096},      {"cell", 3, 30, 1, 128}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tz_workload *workload = workload_of(cases[k].name, cases[k].dims, cases[k].n, "gtx260");
        tz_prediction_table *table = table_of(workload, &usual);
        const tz_ptx_trace *trace = &plain_of(table)->plain.traces[0];
        if (trace->accesses != cases[k].loads + cases[k].stores || trace->unknown_addresses)
            fail_msg("%s: %d accesses", cases[k].name, (int)trace->accesses);
        assert_true(plain_of(table)->results[0].share > 0.2 &&
                    plain_of(table)->results[0].share < 0.95);
    }
}

TEST_GROUP(open_plugins, close_plugins)
