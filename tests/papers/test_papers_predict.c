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
