/* When slabs exchange their ghost zones, and how these become deeper. */
#include "backend/slabs/exchange.h"
#include "backend/slabs/slabs.h"
#include "tests/registry.h"

enum { SLABS = 3, ROWS = 60, COLUMNS = 7 };

static tz_problem problem;
static tz_devices devices;
static tz_backend backend;
static tz__slabs *slabs;

static void set_up(int exchange)
{
    const tz_stencil *stencil;
    const tz_plugin *plugin;
    assert_ok(tz_registry_find(registry, "star2d1r", &stencil, &plugin, &failure));
    const tz_simulation_config config = {
        .dims = 2, .precision = TZ_DOUBLE, .extent = {COLUMNS, ROWS, 1}};
    assert_ok(tz_problem_resolve(&problem, stencil, &config, &failure));
    devices = (tz_devices){.count = SLABS};
    for (int i = 0; i < SLABS; i++) {
        devices.of[i].share = 1.0;
        devices.of[i].threads = 1;
    }
    assert_ok(tz_slabs_backend(&tz_backend_cpu, &devices, &backend, &failure));
    const tz_backend_context context = {
        .problem = &problem, .devices = &devices, .exchange = exchange};
    void *made = NULL;
    assert_ok(backend.create(&made, &context, &failure));
    slabs = made;
}

static void tear_down(void)
{
    backend.destroy(slabs);
    tz_problem_clear(&problem);
}

static tz_status stage(int height, int exchange, int iterations, int64_t step)
{
    const tz_place place = {.threads = 1, .devices = &devices};
    tz_plan plan = {.height = height, .exchange = exchange};
    const tz_status status = backend.plan(&problem, &place, &plan, &failure);
    return status ? status : backend.stage(slabs, &plan, iterations, step, &failure);
}

TEST(test_counts)
{
    tz_update update;
    set_up(6);
    assert_int_equal(slabs->depth, 6);
    assert_int_equal(slabs->valid, 0);
    for (int i = 0; i < 6; i++) { /* one exchange for three stages */
        assert_ok(stage(2, 6, 2, 2 * i));
        assert_int_equal(slabs->valid, 4 - 2 * (i % 3));
    }
    assert_ok(tz_backend_update(&backend, slabs, &problem, 12, &update, &failure));
    assert_int_equal(slabs->valid, 6);
    assert_ok(stage(2, 6, 1, 12)); /* a rest */
    assert_ok(stage(2, 6, 2, 13));
    assert_ok(stage(2, 6, 2, 15));
    assert_int_equal(slabs->valid, 1);
    /* One iteration is left for it. */
    assert_ok(tz_backend_update(&backend, slabs, &problem, 17, &update, &failure));
    assert_int_equal(slabs->valid, 1);
    assert_ok(stage(2, 6, 2, 17));
    assert_int_equal(slabs->valid, 4);
    assert_ok(stage(3, 3, 3, 19)); /* four are valid: enough for a stage of three */
    assert_int_equal(slabs->valid, 1);
    assert_ok(stage(3, 3, 3, 22));
    assert_int_equal(slabs->valid, 0);
    assert_int_equal(slabs->depth, 6); /* stages leave out what they do not need */
    tear_down();
}

/* Fields stay as they are when ghost zones become deeper. */
TEST(test_deepen)
{
    static double before[ROWS * COLUMNS], after[ROWS * COLUMNS];
    const tz_box all = {{0, 0, 0}, {COLUMNS, ROWS, 1}};
    set_up(1);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        before[i] = i % 17;
    assert_ok(backend.store(slabs, 0, &all, before, &failure));
    assert_ok(tz__slabs_deepen(slabs, 20, &failure));
    assert_int_equal(slabs->depth, 20);
    assert_int_equal(slabs->valid, 0);
    assert_int_equal(slabs->parts[1]->problem.extent[1], 60);
    assert_ok(backend.load(slabs, 0, &all, after, &failure));
    assert_memory_equal(before, after, sizeof before);
    check_error(stage(21, 21, 21, 0), TZ_RANGE, "devices", "or exchange after at most 20");
    assert_ok(stage(20, 20, 20, 0));
    tear_down();
}

/* Boxes that end at cuts, lie on both sides of one, or span a slab. */
TEST(test_boxes)
{
    static double whole[ROWS * COLUMNS], part[ROWS * COLUMNS];
    set_up(4);
    for (int low = 0; low < ROWS; low += 3)
        for (int high = low + 1; high <= ROWS; high += 4) {
            const tz_box box = {{2, low, 0}, {5, high, 1}};
            for (int i = 0; i < 3 * (high - low); i++)
                part[i] = 1000.0 * low + 10.0 * high + i;
            assert_ok(backend.store(slabs, 0, &box, part, &failure));
            for (int i = 0; i < 3 * (high - low); i++)
                whole[(low + i / 3) * COLUMNS + 2 + i % 3] = part[i];
            memset(part, 0, sizeof part);
            assert_ok(backend.load(slabs, 0, &box, part, &failure));
            for (int i = 0; i < 3 * (high - low); i++)
                assert_true(part[i] == whole[(low + i / 3) * COLUMNS + 2 + i % 3]);
        }
    const tz_box all = {{0, 0, 0}, {COLUMNS, ROWS, 1}};
    assert_ok(backend.load(slabs, 0, &all, part, &failure));
    assert_memory_equal(part, whole, sizeof whole);
    tear_down();
}

TEST_GROUP(open_plugins, close_plugins)
