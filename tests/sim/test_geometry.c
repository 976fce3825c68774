/* Cell sizes from the parameters of stencils. */
#include "tests/registry.h"

#include "sim/simulation.h"

static void check(const char *stencil, int dims, const tz_assignment *param, bool known, double x,
                  double y, double z)
{
    const tz_simulation_config config = {.registry = registry,
                                         .stencil = stencil,
                                         .dims = dims,
                                         .extent = {16, dims > 1 ? 8 : 1, dims > 2 ? 5 : 1},
                                         .params = param,
                                         .params_count = param ? 1 : 0,
                                         .precision = -1,
                                         .backend = "reference",
                                         .dry = true};
    tz_simulation *simulation = NULL;
    double found[TZ_AXES] = {-1, -1, -1};
    assert_ok(tz_simulation_create(&simulation, &config, &failure));
    assert_int_equal(tz_simulation_spacing(simulation, found), known);
    const double wanted[] = {x, y, z};
    for (int axis = 0; axis < TZ_AXES; axis++)
        if (fabs(found[axis] - wanted[axis]) > 1e-12 * wanted[axis])
            fail_msg("%s: %.17g along %c, wanted %.17g", stencil, found[axis], "xyz"[axis],
                     wanted[axis]);
    tz_simulation_destroy(simulation);
}

static void roles_give_cell_sizes(void **state)
{
    const tz_assignment wide = {.name = "chip_width_m", .number = 0.032};
    const tz_assignment spacing = {.name = "spacing_m", .number = 12.5};
    const tz_assignment hx = {.name = "hx", .number = 0.25};
    check("hotspot", 2, NULL, true, 0.001, 0.002, 1);
    check("hotspot", 2, &wide, true, 0.002, 0.002, 1);
    check("hotspot3d", 3, NULL, true, 0.001, 0.002, 0.0001);
    check("wave2d", 2, &spacing, true, 12.5, 12.5, 1);
    check("wave3d", 3, &spacing, true, 12.5, 12.5, 12.5);
    check("poisson", 2, &hx, true, 0.25, 1. / 9, 1);
}

static void other_stencils_count_cells(void **state)
{
    check("life", 2, NULL, false, 1, 1, 1);
    check("star3d1r", 3, NULL, false, 1, 1, 1);
    check("pathfinder", 1, NULL, false, 1, 1, 1);
}

TEST_MAIN(open_plugins, close_plugins, TEST(roles_give_cell_sizes),
          TEST(other_stencils_count_cells))
