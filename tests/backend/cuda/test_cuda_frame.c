/* Cells near a side that have an update of their own (TZ_CELL_FRAME): on grids wider than a warp
 * the kernels of `direct` leave the bits of the reference, in warps beside the frame, in it, and
 * across its inner edges. */
#include "backend/host/reduce.h"
#include "executed.h"
#include "sim/fields.h"
#include "tests/registry.h"
#include "tests/run.h"

static tz_simulation *waves(const char *stencil, const int64_t extent[TZ_AXES], const char *backend)
{
    const tz_assignment params[] = {{.name = "open_cells", .number = 12},
                                    {.name = "max_speed_m_s", .number = 3000}};
    const int64_t cells = extent[0] * extent[1] * extent[2];
    tz_simulation_config config = {.registry = registry,
                                   .stencil = stencil,
                                   .dims = extent[2] > 1 ? 3 : 2,
                                   .params = params,
                                   .params_count = 2,
                                   .precision = TZ_SINGLE,
                                   .backend = backend,
                                   .sync = true};
    tz_simulation *sim;
    memcpy(config.extent, extent, sizeof config.extent);
    assert_ok(tz_simulation_create(&sim, &config, &failure));
    double *values = malloc((size_t)cells * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < cells; i++)
        values[i] = (double)(i * 7919 % 1009) / 1009.0;
    assert_ok(tz_simulation_write(sim, 0, NULL, values, NULL, &failure));
    assert_ok(tz_simulation_fill(sim, 2, NULL, 2500, &failure));
    free(values);
    return sim;
}

static void same_bits(const char *stencil, const int64_t extent[TZ_AXES], int vector)
{
    tz_cuda_close(opened_to_run());
    tz_simulation *sim = waves(stencil, extent, "cuda");
    tz_simulation *reference = waves(stencil, extent, "reference");
    const tz_plan plan = {.family = "direct", .height = 1, .vector = vector};
    tz_reduction now, wanted;
    assert_ok(tz_simulation_set_plan(sim, &plan, &failure));
    assert_ok(run_steps(sim, 2, &failure));
    assert_ok(run_steps(reference, 2, &failure));
    assert_ok(tz_simulation_reduce(sim, 0, &now, &failure));
    assert_ok(tz_simulation_reduce(reference, 0, &wanted, &failure));
    assert_int_equal(now.hash, wanted.hash);
    tz_simulation_destroy(sim);
    tz_simulation_destroy(reference);
}

/* The frame has 16 columns at each end. The second warp reads the grid alone, and ends in it. */
EXECUTED_TEST(rows_of_several_warps)
{
    same_bits("seismic2d8", (const int64_t[]){72, 70, 1}, 0);
}

EXECUTED_TEST(planes_of_several_warps)
{
    same_bits("seismic3d8", (const int64_t[]){72, 28, 30}, 0);
}

/* The same of warps of 128 columns. */
EXECUTED_TEST(lanes_of_several_columns)
{
    same_bits("seismic3d8", (const int64_t[]){264, 28, 30}, 4);
}

static int start_all(void **state)
{
    return open_plugins(state) || start(state);
}

static int end_all(void **state)
{
    return close_plugins(state) || end(state);
}

TEST_GROUP(start_all, end_all)
