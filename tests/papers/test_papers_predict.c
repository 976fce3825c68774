/* Models by name, predictions from facts, refusals and notes. */
#include "papers_support.h"
#include "tests/predictions.h"

static const tz_equations *const models[] = {&tz_model_meng2009, &tz_model_meng2011};

/* A heat equation in 2-D as a plugin might describe it: one field, radius 1, nothing compiled. */
static tz_model_facts heat(void)
{
    return (tz_model_facts){
        .name = "heat",
        .dims = 2,
        .extent = {4096, 4096},
        .halo_width = {2, 2},
        .element_bytes = 4,
        .state_fields = 1,
        .ops_per_update = 6,
        .reads_per_update = 5,
    };
}

static tz_model_prediction predict_by(const char *model, const tz_model_facts *facts,
                                      const tz_model_device *device, const tz_model_plan *plan)
{
    tz_model_prediction p;
    assert_ok(tz_model_predict(model_named(model), facts, device, plan, &p, &failure));
    return p;
}

TEST(models_are_found_by_name)
{
    const tz_predictor *predictor = NULL;
    size_t count, k;
    const tz_model_key *keys = tz_model_device_keys(&count);
    for (int i = 0; tz_predictors[i]; i++) {
        const tz_model *model = tz_predictors[i]->model;
        assert_ok(tz_predictor_find(tz_predictors[i]->name, false, &predictor, &failure));
        assert_ptr_equal(predictor, tz_predictors[i]);
        for (int n = 0; model && model->needs[n]; n++) {
            for (k = 0; k < count && strcmp(keys[k].name, model->needs[n]); k++)
                ;
            if (k == count)
                fail_msg("%s needs %s, which no record has", model->name, model->needs[n]);
        }
    }
    check_error(tz_predictor_find("meng209", false, &predictor, &failure), TZ_UNKNOWN, "",
                "unknown model 'meng209'; did you mean 'meng2009'?");
    check_error(tz_predictor_find("x", false, &predictor, &failure), TZ_UNKNOWN, "",
                "unknown model 'x'; known: meng2009, meng2011, roofs, luo2011, tabik2015");
}

/* Every model of the papers on every device and benchmark: components add up, the best height is
 * the best. */
TEST(predictions_are_whole)
{
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < DEVICES * BENCHMARKS; j++) {
            const tz_model_device device = device_named(device_names[j / BENCHMARKS]);
            bench b = bench_named(benchmark_names[j % BENCHMARKS]);
            tz_model_prediction best, other;
            assert_ok(tz_model_predict(models[i], &b.facts, &device, &b.plan, &best, &failure));
            double sum = 0;
            for (int k = 0; k < best.component_count; k++)
                sum += best.components[k].seconds;
            assert_close(sum, best.time_s, 1e-12);
            assert_close(best.stage_s, best.time_s * best.height, 1e-15);
            assert_string_equal(best.model, models[i]->model.name);
            assert_in_range(best.height, 1, best.height_max);
            assert_true(best.cells_per_s > 0 && isfinite(best.cells_per_s));
            const tz_model_meng m =
                meng_of(i == 0 ? 2009 : 2011, benchmark_names[j % BENCHMARKS], device.name);
            assert_int_equal(best.height, best_height(&m));
            for (b.plan.height = 1; b.plan.height <= best.height_max; b.plan.height++) {
                other = predict_by(models[i]->model.name, &b.facts, &device, &b.plan);
                assert_int_equal(other.height, b.plan.height);
                assert_true(other.time_s >= best.time_s);
            }
        }
    }
}

TEST(seconds_limits_and_details)
{
    const bench b = bench_named("hotspot");
    const tz_model_device device = device_named("gtx280");
    tz_model_plan plan = b.plan;
    tz_model_prediction p;
    plan.height = 1;
    p = predict_by("meng2009", &b.facts, &device, &plan);
    assert_close(p.time_s, (3350 + 212085.2 + 88826.6 + 1065718.5 + 1065280.0) / 1.3e9, 1e-7);
    assert_close(p.cells_per_s, 4e6 / p.time_s, 1e-15);
    assert_int_equal(p.limit, TZ_MODEL_COMPUTATION);
    assert_string_equal(p.limit_text, "computation: 88 % of the time, most of it misc_comp");
    assert_int_equal(p.height_max, 9);
    assert_close(p.block[0], 20, 0);
    assert_close(p.block[2], 1, 0);
    assert_string_equal(p.components[1].name, "load_sten");
    assert_close(p.components[1].seconds, 212085.2 / 1.3e9, 1e-6);
    assert_string_equal(p.details[0].name, "trapezoids");
    assert_close(p.details[0].value, 4e6 / 324, 1e-15);
    plan.height = 2;
    p = predict_by("meng2009", &b.facts, &device, &plan);
    for (int i = 0; i < p.detail_count; i++) {
        if (strcmp(p.details[i].name, "cost_effect") == 0)
            assert_close(p.details[i].value, 256.0 / 324, 1e-15);
        if (strcmp(p.details[i].name, "redundancy") == 0)
            assert_close(p.details[i].value, 1065280.0 * (324.0 / 256 - 1) / 1.3e9, 1e-6);
        if (strcmp(p.details[i].name, "load_redundancy") == 0)
            assert_close(p.details[i].value, 400.0 / 256, 1e-15);
    }
}

/* Table 2's counts are the profiled device's: eq. 12 must not see the one that is predicted for. */
TEST(profiles_are_of_their_own_device)
{
    const bench b = bench_named("cell");
    tz_model_device device = device_named("gtx280");
    tz_model_prediction a, c;
    device.launch_s.value = device.memory_latency_s.value = 0;
    a = predict_by("meng2009", &b.facts, &device, &b.plan);
    device.sm_count.value *= 2;
    c = predict_by("meng2009", &b.facts, &device, &b.plan);
    for (int i = 0; i < a.component_count; i++)
        assert_close(c.components[i].seconds,
                     a.components[i].seconds /
                         (a.components[i].resource == TZ_MODEL_COMPUTATION ? 2 : 1),
                     1e-14);
}

TEST(a_plugins_facts_are_enough)
{
    tz_model_facts facts = heat();
    const tz_model_device device = device_named("gtx280");
    const tz_model_plan plan = {.height = 0};
    tz_model_prediction p, q;
    for (int i = 0; i < 2; i++) {
        assert_ok(tz_model_predict(models[i], &facts, &device, &plan, &p, &failure));
        assert_close(p.block[0], 22, 0);
        assert_close(p.block[1], 22, 0);
        assert_true(is_noted(&p.notes, "instructions of an update not known"));
        assert_true(is_noted(&p.notes, "instructions of the set-up not known"));
    }
    assert_true(is_noted(&p.notes, "rate of bank conflicts not known"));
    /* The rule: 6 operations, 5 reads, 1 store; the set-up as many. */
    facts.insts_per_update = facts.insts_per_setup = 12;
    facts.bank_conflicts_known = true;
    q = predict_by("meng2011", &facts, &device, &plan);
    assert_close(q.time_s, p.time_s, 0);
    assert_int_equal(q.notes.count, 0);
    /* Words of 32 cells: the same time, 32 times the cells. */
    facts.cells_per_element = 32;
    p = predict_by("meng2011", &facts, &device, &plan);
    assert_close(p.cells_per_s, 32 * q.cells_per_s, 1e-15);
}

TEST(fields_become_arrays)
{
    tz_model_facts facts = heat();
    const tz_model_device device = device_named("gtx280");
    tz_model_plan plan = {.height = 2};
    tz_model_meng m;
    facts.state_fields = 2;
    facts.static_fields = 3;
    facts.streamed_fields = 1;
    plan.block[0] = 64; /* the other axis gets what is left of 512 threads */
    assert_int_equal(tz_model_meng2009_fill(&facts, &device, &plan, &m, NULL, NULL), TZ_OK);
    assert_close(m.num_stencil_arrays, 5, 0);
    assert_close(m.num_commit_arrays, 2, 0);
    assert_close(m.num_elem_per_op, 1, 0);
    assert_close(m.blk_len[0], 64, 0);
    assert_close(m.blk_len[1], 8, 0);
    assert_close(m.alpha, 0.5, 0);
    assert_close(m.tau, 1, 0);
}

TEST(no_halo_no_bound)
{
    tz_model_facts facts = heat();
    const tz_model_device device = device_named("gtx280");
    const tz_model_plan plan = {.height = 0};
    tz_model_prediction p;
    facts.halo_width[0] = facts.halo_width[1] = 0;
    p = predict_by("meng2009", &facts, &device, &plan);
    assert_int_equal(p.height_max, TZ_MODEL_HEIGHT_MAX);
    assert_true(p.height > 1000);
}

static void refused(const char *model, const tz_model_facts *facts, const tz_model_device *device,
                    const tz_model_plan *plan, tz_status code, const char *words)
{
    tz_model_prediction p;
    check_error(tz_model_predict(model_named(model), facts, device, plan, &p, &failure), code, "",
                words);
    assert_int_equal(p.component_count, 0);
}

TEST(missing_numbers_are_named)
{
    tz_model_facts facts = heat();
    tz_model_device device = device_named("gtx280");
    tz_model_plan plan = {.height = 0};
    device.memory_prefetch_depth.known = false;
    refused("meng2009", &facts, &device, &plan, TZ_UNSUPPORTED,
            "no memory_prefetch_depth, which the model meng2009 needs (PipelineDepth");
    device.threads_per_block_max.known = false;
    refused("meng2011", &facts, &device, &plan, TZ_UNSUPPORTED, "no threads_per_block_max");
    plan.block[0] = plan.block[1] = 16;
    facts.ops_per_update = facts.reads_per_update = 0;
    refused("meng2011", &facts, &device, &plan, TZ_UNSUPPORTED, "neither the instructions nor");
    facts = heat();
    device.launch_s.known = false;
    refused("meng2011", &facts, &device, &plan, TZ_UNSUPPORTED, "no launch");
}

TEST(nonsense_is_refused)
{
    const tz_model_device device = device_named("gtx280");
    tz_model_facts facts = heat();
    tz_model_plan plan = {.height = 11};
    refused("meng2009", &facts, &device, &plan, TZ_RANGE,
            "height 11 leaves nothing of the block; the greatest that does is 10");
    plan.height = -1;
    refused("meng2009", &facts, &device, &plan, TZ_RANGE, "height -1");
    plan.height = 0;
    plan.block[1] = 2;
    refused("meng2009", &facts, &device, &plan, TZ_RANGE,
            "a block of 2 elements in y is not wider than the halo, 2");
    plan.block[1] = NAN;
    refused("meng2009", &facts, &device, &plan, TZ_RANGE, "a block of nan in y");
    plan.block[1] = 0;
    facts.dims = 4;
    refused("meng2009", &facts, &device, &plan, TZ_RANGE, "4 dimensions");
    facts = heat();
    facts.extent[1] = 0;
    refused("meng2011", &facts, &device, &plan, TZ_RANGE, "the grid has 0 elements in y");
    facts = heat();
    facts.halo_width[0] = -2;
    refused("meng2011", &facts, &device, &plan, TZ_RANGE, "halo width -2 in x");
    facts = heat();
    facts.element_bytes = 0;
    refused("meng2011", &facts, &device, &plan, TZ_RANGE, "elements of 0 bytes");
    facts = heat();
    facts.state_fields = 0;
    refused("meng2011", &facts, &device, &plan, TZ_RANGE, "0 state");
    facts = heat();
    facts.ops_per_update = NAN;
    refused("meng2011", &facts, &device, &plan, TZ_RANGE, "a negative count");
}

TEST(fences_need_measured_costs)
{
    const tz_model_facts facts = heat();
    tz_model_device device = device_named("gtx280");
    const tz_model_plan plan = {.height = 2, .sync = TZ_MODEL_SYNC_FENCE};
    tz_model_prediction p;
    refused("meng2009", &facts, &device, &plan, TZ_RANGE, "no synchronisation but");
    refused("meng2011", &facts, &device, &plan, TZ_UNSUPPORTED, "no fence");
    device.fence_s = device.fence_per_block_s = device.launch_s;
    device.fence_s.value = 1e-6;
    device.fence_per_block_s.value = 1e-9;
    device.launch_s.known = false; /* a fence does without */
    p = predict_by("meng2011", &facts, &device, &plan);
    assert_string_equal(p.components[0].name, "glb_sync");
    const double blocks = 4096.0 * 4096 / (18 * 18);
    assert_close(p.components[0].seconds, (1e-6 + 1e-9 * blocks) / 2, 1e-13);
}

TEST(leaving_the_models_range_is_noted)
{
    tz_model_facts facts = heat();
    const tz_model_device device = device_named("gtx-titan");
    tz_model_plan plan = {.block = {64, 64}};
    tz_model_prediction p;
    facts.extent[0] = facts.extent[1] = 256;
    p = predict_by("meng2011", &facts, &device, &plan);
    assert_true(is_noted(&p.notes, "do not fill the device, which runs 224 at once"));
    assert_true(is_noted(&p.notes, "a block of 4096 threads is beyond the device's limit, 1024"));
    assert_true(
        is_noted(&p.notes, "gtx-titan: assumed, neither published nor measured: memory_latency"));
    assert_true(is_noted(&p.notes, "no memory_conflict_base"));
    assert_true(is_noted(&p.notes, "no hidden_share"));
}

TEST(benchmarks_without_a_number)
{
    tz_model_benchmark b = bench_named("hotspot").record;
    tz_model_facts facts;
    tz_model_plan plan;
    b.halo_width_y.known = false;
    check_error(tz_model_benchmark_facts(&b, &facts, &plan, &failure), TZ_FORMAT, "",
                "no halo_width_y");
    b.dims.known = false;
    assert_int_equal(tz_model_benchmark_facts(&b, &facts, &plan, &failure), TZ_FORMAT);
    assert_string_equal(failure.place, "hotspot");
}
