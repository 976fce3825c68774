/* HotSpot in three dimensions against Rodinia's formula, a loop of heat flows, and conservation. */
#include "oracle.h"

enum { NX = 19, NY = 13, NZ = 6, CELLS = NX * NY * NZ, STEPS = 30 };

/* The constants of Rodinia's 3D.c for this grid. */
typedef struct chip {
    double cap, rx, ry, rz, dt;
} chip;

static chip chip_make(void)
{
    const double t = 0.0005, factor = 0.5, heat = 1.75e6, k = 100.0;
    const double dx = 0.016 / NX, dy = 0.016 / NY, dz = t / NZ;
    return (chip){.cap = factor * heat * t * dx * dy,
                  .rx = dx / (2.0 * k * t * dy),
                  .ry = dy / (2.0 * k * t * dx),
                  .rz = dz / (k * dx * dy),
                  .dt = 0.001 / (3e6 / (factor * t * heat))};
}

static int64_t cell(int64_t x, int64_t y, int64_t z)
{
    x = x < 0 ? 0 : x < NX ? x : NX - 1;
    y = y < 0 ? 0 : y < NY ? y : NY - 1;
    z = z < 0 ? 0 : z < NZ ? z : NZ - 1;
    return (z * NY + y) * NX + x;
}

/* computeTempCPU() of Rodinia: every weight once, all sides closed. */
static void rodinia(const chip *c, const double *power, const double *old, double *now)
{
    const double per = c->dt / c->cap, ce = per / c->rx, cn = per / c->ry, ct = per / c->rz;
    const double cc = 1.0 - (2.0 * ce + 2.0 * cn + 3.0 * ct), ambient = 318.15;
    for (int64_t z = 0; z < NZ; z++)
        for (int64_t y = 0; y < NY; y++)
            for (int64_t x = 0; x < NX; x++)
                now[cell(x, y, z)] = old[cell(x, y, z)] * cc + old[cell(x, y - 1, z)] * cn +
                                     old[cell(x, y + 1, z)] * cn + old[cell(x + 1, y, z)] * ce +
                                     old[cell(x - 1, y, z)] * ce + old[cell(x, y, z + 1)] * ct +
                                     old[cell(x, y, z - 1)] * ct + per * power[cell(x, y, z)] +
                                     ct * ambient;
}

/* Heat that flows between adjacent cells of layers of different conductivity; none is lost. */
static double layer[NZ] = {1.0, 0.25, 0.04, 0.5, 2.0, 1.5};

static double joint(int64_t z)
{
    return 2.0 * layer[z] * layer[z + 1] / (layer[z] + layer[z + 1]);
}

static void flows(const chip *c, const double *power, const double *old, double *now)
{
    for (int i = 0; i < CELLS; i++)
        now[i] = old[i] + c->dt / c->cap * power[i];
    for (int64_t z = 0; z < NZ; z++)
        for (int64_t y = 0; y < NY; y++)
            for (int64_t x = 0; x < NX; x++)
                for (int axis = 0; axis < 3; axis++) {
                    const int64_t a = cell(x, y, z);
                    const int64_t b = cell(x + (axis == 0), y + (axis == 1), z + (axis == 2));
                    if (a == b) /* the last one */
                        continue;
                    const double share = axis == 0   ? layer[z] / c->rx
                                         : axis == 1 ? layer[z] / c->ry
                                                     : joint(z) / c->rz;
                    const double heat = c->dt / c->cap * share * (old[b] - old[a]);
                    now[a] += heat;
                    now[b] -= heat;
                }
}

static void compare(bool layered)
{
    static const double tolerance[] = {6e-5, 1e-10};
    static double start[CELLS], power[CELLS], expected[CELLS], scratch[CELLS];
    static double lateral[CELLS], vertical[CELLS];
    const chip c = chip_make();
    uint64_t seed = 11;
    for (int i = 0; i < CELLS; i++) {
        const int64_t z = i / (NX * NY);
        start[i] = expected[i] = 318.15 + 30.0 * oracle_random(&seed);
        power[i] = 0.01 * oracle_random(&seed);
        lateral[i] = layered ? layer[z] : 1.0;
        vertical[i] = !layered ? 1.0 : z + 1 < NZ ? joint(z) : 0.7;
    }
    for (int k = 0; k < STEPS; k++) {
        (layered ? flows : rodinia)(&c, power, expected, scratch);
        memcpy(expected, scratch, sizeof expected);
    }
    oracle_config config = oracle("hotspot3d", TZ_SINGLE, "clamp", NX, NY, NZ);
    config = oracle_with(config, "dt", 0.0, "rodinia");
    if (layered)
        config = oracle_with(oracle_with(config, "loss", 0.0, NULL), "most", 2.0, NULL);
    const oracle_values fields[] = {{"temperature", start, expected},
                                    {"power", power, NULL},
                                    {"lateral", lateral, NULL},
                                    {"vertical", vertical, NULL}};
    oracle_compare(config, STEPS, tolerance, 4, fields);
}

TEST(rodinias_formula)
{
    compare(false);
}
TEST(layers)
{
    compare(true);
}

/* In a closed chip all power becomes temperature. */
TEST(heat_is_kept)
{
    oracle_config config =
        oracle_with(oracle("hotspot3d", TZ_DOUBLE, "clamp", NX, NY, NZ), "loss", 0.0, NULL);
    static double power[CELLS];
    config.height = 2;
    tz_simulation *simulation = oracle_create(config);
    power[cell(3, 4, 5)] = 2.0;
    oracle_write(simulation, "power", power);
    oracle_run(simulation, 500);
    const double time = 500.0 * oracle_param(simulation, "dt_s");
    tz_reduction r;
    assert_ok(tz_simulation_reduce(simulation, 0, &r, &failure));
    const double rise = r.sum - 323.15 * CELLS, expected = 2.0 * time / chip_make().cap;
    assert_true(fabs(rise / expected - 1.0) < 1e-8);
}

TEST_GROUP(open_plugins, close_plugins)
