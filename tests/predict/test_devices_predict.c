/* Predictions for a grid on several devices, and the plans that the model chooses there. */

#include "backend/slabs/slabs.h"
#include "model/roofs.h"
#include "predict/prediction_table.h"
#include "tests/registry.h"

static tz_workload *workload_on(const char *device, const char *stencil, int dims, int64_t n,
                                const char *devices, const char *link)
{
    const tz_simulation_config simulation = {.registry = registry,
                                             .stencil = stencil,
                                             .dims = dims,
                                             .extent = {n, dims > 1 ? n : 1, dims > 2 ? n : 1},
                                             .precision = -1,
                                             .threads = 1,
                                             .devices = devices};
    const tz_workload_config config = {.simulation = &simulation, .device = device, .link = link};
    tz_workload *workload = NULL;
    assert_ok(tz_workload_create(&workload, &config, &failure));
    at_end(tz_workload_destroy, workload);
    return workload;
}

static tz_workload *workload_of(const char *stencil, int dims, int64_t n, const char *devices,
                                const char *link)
{
    return workload_on(TZ_TEST_SOURCE_DIR "/predict/cpu.txt", stencil, dims, n, devices, link);
}

static tz_prediction_table *table_of(const tz_workload *workload, const tz_plan *given, bool all)
{
    const tz_prediction_request request = {.given = *given, .all = all};
    tz_prediction_table *table = NULL;
    assert_ok(tz_prediction_table_create(&table, workload, &request, &failure));
    at_end(tz_prediction_table_destroy, table);
    return table;
}

static double component(const tz_model_prediction *p, const char *name)
{
    for (int c = 0; c < p->component_count; c++)
        if (strcmp(p->components[c].name, name) == 0)
            return p->components[c].seconds;
    return 0;
}

/* The exchange of a row is what the link takes for the bytes of the ghost zones. */
TEST(exchanges_cost_what_the_link_takes)
{
    tz_workload *workload = workload_of("star2d2r", 2, 1000, "4", "pcie");
    tz_prediction_table *table = table_of(workload, &(tz_plan){.height = 3}, true);
    assert_true(table->count >= 2 && workload->devices.count == 4 && !workload->is_here);
    for (int i = 0; i < table->count; i++) {
        const tz_prediction_row *row = &table->rows[i];
        const double bytes = 2.0 * 2 * row->plan.exchange * 1000 * 4; /* both ends, radius 2 */
        const double each = workload->joined.latency_s + bytes / workload->joined.bytes_per_s;
        const double wanted = each / row->plan.exchange;
        assert_int_equal(row->plan.exchange % 3, 0);
        assert_true(fabs(component(&row->prediction, "exchange") / wanted - 1) < 1e-9);
        assert_true(fabs(row->prediction.cells_per_s * row->prediction.time_s / 1e6 - 1) < 1e-9);
        assert_true(fabs(tz_prediction_exchange_share(&row->prediction) -
                         wanted / row->prediction.time_s) < 1e-9);
        const double efficiency = tz_prediction_efficiency(table, row);
        assert_true(efficiency > 0 &&
                    fabs(efficiency * 4 * row->prediction.time_s / table->alone_s - 1) < 1e-9);
        for (int k = 0; k < i; k++)
            assert_false(tz_plan_equal(&table->rows[k].plan, &row->plan));
    }
}

/* GPUs compute beside an exchange: it costs what takes longer than that, the warm-up of its ends,
 * and the start of two devices. */
TEST(exchanges_hide)
{
    const char *const links[] = {"nvlink", "pcie"};
    for (int i = 0; i < 2; i++) {
        tz_workload *workload = workload_on("h200", "star2d1r", 2, 16384, "3", links[i]);
        int hidden = 0, shown = 0;
        for (int depth = 4; depth < 400; depth += 4) {
            tz_plan plan = {.family = "stream", .height = 4, .exchange = depth};
            tz_model_work work;
            tz_model_prediction p;
            assert_ok(
                workload->backend->plan(&workload->problem, &workload->place, &plan, &failure));
            assert_ok(workload->backend->work(&workload->problem, &workload->place, &plan,
                                              TZ_EFFORT_CACHED, &work, &failure));
            assert_ok(tz_roofs_predict(&work, &workload->device, &p, &failure));
            const double own = 5462, reach = 2; /* rows of the slab in the middle */
            const double mean = own + reach * (depth - 4) / 2, share_s = component(&p, "exchange");
            const double stage_s = 4 * (p.time_s - share_s);
            const double rest_s = (own - reach * depth) / mean * stage_s;
            const double bytes = reach * depth * 16384 * 4;
            const double alone_s =
                workload->joined.latency_s + bytes / workload->joined.bytes_per_s;
            const double ends_s = 3 * reach * 4 / mean * stage_s;
            const bool thick = 2 * reach * depth <= own;
            const double wanted_s = workload->device.slab_start_s.value +
                                    (thick ? ends_s + fmax(0, alone_s - rest_s) : alone_s);
            hidden += thick && alone_s < rest_s;
            shown += alone_s > rest_s;
            if (fabs(share_s * depth / wanted_s - 1) > 1e-9)
                fail_msg("%s, depth %d: %g instead of %g", links[i], depth, share_s * depth,
                         wanted_s);
        }
        assert_true(hidden > 0 && (shown > 0) == (i == 1));
    }
}

/* Two H200, as measured on 23 November 2026 (docs/log/performance.md, "Several GPUs"). */
TEST(two_gpus_take_what_was_measured)
{
    static const struct {
        int64_t n;
        int exchange;
        double measured; /* GCells/s */
    } cases[] = {{16384, 36, 7169}, {4096, 324, 4114}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tz_workload *workload = workload_on("h200", "star2d1r", 2, cases[i].n, "2", NULL);
        tz_plan plan = {
            .family = "stream", .height = 12, .vector = 4, .exchange = cases[i].exchange};
        tz_model_work work;
        tz_model_prediction p;
        assert_ok(workload->backend->plan(&workload->problem, &workload->place, &plan, &failure));
        const tz_status status = workload->backend->work(&workload->problem, &workload->place,
                                                         &plan, TZ_EFFORT_COMPILE, &work, &failure);
        if (status == TZ_UNSUPPORTED)
            skip_test("%s", failure.message);
        assert_ok(status);
        assert_ok(tz_roofs_predict(&work, &workload->device, &p, &failure));
        if (fabs(1e-9 * p.cells_per_s / cases[i].measured - 1) > 0.1)
            fail_msg("%d: %g GCells/s instead of %g", (int)cases[i].n, 1e-9 * p.cells_per_s,
                     cases[i].measured);
    }
}

/* The chosen depth reaches 98 % of the speed of the best of all, of which large ones are tried at
 * wider steps. */
TEST(the_chosen_depth_is_near_the_best)
{
    static const char *const which[] = {"nvlink", "pcie",
                                        TZ_TEST_SOURCE_DIR "/predict/slow_link.txt"};
    static const int heights[] = {1, 4, 9};
    int depths[3] = {0};
    for (int i = 0; i < 3; i++)
        for (int h = 0; h < 3; h++) {
            tz_workload *workload = workload_of("hotspot", 2, 768, "3", which[i]);
            tz_plan given = {.height = heights[h]};
            tz_prediction_table *table = table_of(workload, &given, false);
            const tz_prediction_row *chosen = &table->rows[table->best];
            double least = INFINITY;
            for (given.exchange = heights[h]; given.exchange <= 256;
                 given.exchange += heights[h] * (1 + given.exchange / 32)) {
                tz_plan plan = given;
                tz_model_work work;
                tz_model_prediction p;
                assert_ok(
                    workload->backend->plan(&workload->problem, &workload->place, &plan, &failure));
                assert_int_equal(plan.exchange, given.exchange);
                assert_ok(workload->backend->work(&workload->problem, &workload->place, &plan,
                                                  TZ_EFFORT_CACHED, &work, &failure));
                assert_ok(tz_roofs_predict(&work, &workload->device, &p, &failure));
                least = fmin(least, p.time_s);
            }
            if (least < 0.98 * chosen->prediction.time_s)
                fail_msg("%s, height %d: depth %d takes %g, the best %g", which[i], heights[h],
                         chosen->plan.exchange, chosen->prediction.time_s, least);
            depths[i] = h == 0 ? chosen->plan.exchange : depths[i];
        }
    assert_true(depths[2] > 2 * depths[1]); /* a slow link is used less often */
}

/* plan() alone chooses like candidates(), if it has a record. */
TEST(plans_have_a_depth)
{
    tz_workload *workload = workload_of("star2d1r", 2, 512, "2", "pcie");
    tz_plan plan = {.height = 2}, without = {.height = 2}, odd = {.height = 2, .exchange = 5};
    tz_place place = workload->place;
    assert_ok(workload->backend->plan(&workload->problem, &place, &plan, &failure));
    assert_true(plan.exchange > 2 && plan.exchange % 2 == 0 && plan.exchange <= 256);
    place.device = NULL;
    place.link = NULL;
    assert_ok(workload->backend->plan(&workload->problem, &place, &without, &failure));
    assert_int_equal(without.exchange, 2);
    check_error(workload->backend->plan(&workload->problem, &place, &odd, &failure), TZ_RANGE,
                "exchange", "multiple of the height");
}

TEST(more_devices_gain_on_large_grids)
{
    tz_workload *fast = workload_of("star2d1r", 2, 1024, "4", "nvlink");
    tz_workload *slow =
        workload_of("star2d1r", 2, 1024, "4", TZ_TEST_SOURCE_DIR "/predict/slow_link.txt");
    const tz_plan plan = {.height = 4, .family = "stream"};
    tz_scaling by_fast, by_slow;
    tz_scaling_find(fast, &plan, &by_fast);
    tz_scaling_find(slow, &plan, &by_slow);
    assert_int_equal(by_fast.count, 2);
    assert_true(by_fast.at[0].devices == 2 && by_fast.at[1].devices == 4);
    for (int i = 0; i < 2; i++)
        assert_true(
            by_fast.at[i].extent[0] > 0 && by_fast.at[i].extent[0] == by_fast.at[i].extent[1] &&
            (by_slow.at[i].extent[0] == 0 || by_slow.at[i].extent[0] > by_fast.at[i].extent[0]));
}

/* Slabs on one CPU share its threads and its memory; one device is what it was. */
TEST(slabs_of_one_cpu)
{
    tz_workload *slabs = workload_of("star3d1r", 3, 96, "cpu:2", NULL);
    tz_workload *one = workload_of("star3d1r", 3, 96, "1", NULL);
    assert_true(tz_workload_devices(slabs) == 1 && !slabs->devices.apart);
    assert_null(one->place.devices);
    tz_prediction_table *table = table_of(slabs, &(tz_plan){.height = 0}, false);
    tz_prediction_table *alone = table_of(one, &(tz_plan){.height = 0}, false);
    assert_true(table->scaling.count == 0 && table->alone_s > 0 && alone->alone_s == 0);
    assert_true(component(&table->rows[0].prediction, "exchange") > 0);
    assert_true(component(&alone->rows[0].prediction, "exchange") == 0);
    assert_int_equal(alone->rows[alone->best].plan.exchange, 0);
}

TEST(what_cannot_be_is_refused)
{
    const tz_simulation_config simulation = {.registry = registry,
                                             .stencil = "star2d1r",
                                             .dims = 2,
                                             .extent = {64, 64, 1},
                                             .precision = -1,
                                             .devices = "99"};
    const tz_workload_config config = {.simulation = &simulation,
                                       .device = TZ_TEST_SOURCE_DIR "/predict/cpu.txt"};
    tz_workload *workload = NULL;
    check_error(tz_workload_create(&workload, &config, &failure), TZ_RANGE, "devices",
                "1 to 64 are possible");
    assert_null(workload);
    /* Slabs that are thinner than a ghost zone. */
    workload = workload_of("star2d2r", 2, 64, "32", NULL);
    const tz_prediction_request request = {.given = {.height = 4}};
    tz_prediction_table *table = NULL;
    check_error(tz_prediction_table_create(&table, workload, &request, &failure), TZ_RANGE,
                "devices", "use at most");
}

TEST_GROUP(open_plugins, close_plugins)
