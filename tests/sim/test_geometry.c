/* Cell sizes from the parameters of stencils. */
#include "tests/oracle/oracle.h"

static void check(const char *stencil, int dims, const char *param, double value, bool known,
                  double x, double y, double z)
{
    oracle_config config = oracle(stencil, -1, NULL, 16, dims > 1 ? 8 : 0, dims > 2 ? 5 : 0);
    config.dry = true;
    if (param)
        config = oracle_with(config, param, value, NULL);
    tz_simulation *simulation = oracle_create(config);
    double found[TZ_AXES] = {-1, -1, -1};
    assert_int_equal(tz_simulation_spacing(simulation, found), known);
    const double wanted[] = {x, y, z};
    for (int axis = 0; axis < TZ_AXES; axis++)
        if (fabs(found[axis] - wanted[axis]) > 1e-12 * wanted[axis])
            fail_msg("%s: %.17g along %c, wanted %.17g", stencil, found[axis], "xyz"[axis],
                     wanted[axis]);
}

TEST(parameters_give_cell_sizes)
{
    check("hotspot", 2, NULL, 0, true, 0.001, 0.002, 1);
    check("hotspot", 2, "chip_width_m", 0.032, true, 0.002, 0.002, 1);
    check("hotspot3d", 3, NULL, 0, true, 0.001, 0.002, 0.0001);
    check("wave2d", 2, "spacing_m", 12.5, true, 12.5, 12.5, 1);
    check("wave3d", 3, "spacing_m", 12.5, true, 12.5, 12.5, 12.5);
    check("poisson", 2, "hx", 0.25, true, 0.25, 1. / 9, 1);
    /* Others count cells. */
    check("life", 2, NULL, 0, false, 1, 1, 1);
    check("star3d1r", 3, NULL, 0, false, 1, 1, 1);
    check("pathfinder", 1, NULL, 0, false, 1, 1, 1);
}

TEST_GROUP(open_plugins, close_plugins)
