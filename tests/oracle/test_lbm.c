/* Lattice Boltzmann against the textbook's steps in plain loops, and flows with known answers. */
#include "oracle.h"
#include "tests/run.h"

enum { CELLS_MOST = 600, STEPS = 12, Q_MOST = 19, FIELDS_MOST = Q_MOST + 14 };
enum { FLUID, OBSTACLE, WALL, INLET, OUTLET, MIRROR };

typedef struct lattice {
    const char *stencil;
    int dims, q;
    int64_t n[3];
    int c[Q_MOST][3];
    double weights[3]; /* of populations that move along 0, 1 and 2 axes */
} lattice;

#define D2Q9                                                                                       \
    {                                                                                              \
        {0}, {1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 1}, {-1, 1}, {-1, -1},                          \
        {                                                                                          \
            1, -1                                                                                  \
        }                                                                                          \
    }
static const lattice plain = {"lbm", 2, 9, {25, 19, 1}, D2Q9, {4. / 9, 1. / 9, 1. / 36}};
static const lattice d2q9 = {"lbm_channel", 2, 9, {25, 19, 1}, D2Q9, {4. / 9, 1. / 9, 1. / 36}};
static const lattice curved = {"lbm_curved", 2, 9, {25, 19, 1}, D2Q9, {4. / 9, 1. / 9, 1. / 36}};
static const lattice d3q19 = {"lbm3d",
                              3,
                              19,
                              {9, 8, 7},
                              {{0},
                               {1, 0, 0},
                               {-1, 0, 0},
                               {0, 1, 0},
                               {0, -1, 0},
                               {0, 0, 1},
                               {0, 0, -1},
                               {1, 1, 0},
                               {-1, -1, 0},
                               {1, -1, 0},
                               {-1, 1, 0},
                               {1, 0, 1},
                               {-1, 0, -1},
                               {1, 0, -1},
                               {-1, 0, 1},
                               {0, 1, 1},
                               {0, -1, -1},
                               {0, 1, -1},
                               {0, -1, 1}},
                              {1. / 3, 1. / 18, 1. / 36}};

/* A flow: what a cell is, how fast its walls move, how far the surface of an obstacle is. */
typedef struct flow {
    const lattice *on;
    double viscosity, magic, outlet, gravity[3];
    double solid[CELLS_MOST], wall[3][CELLS_MOST], distance[CELLS_MOST];
    double f[Q_MOST][CELLS_MOST];
} flow;

static double weight(const lattice *on, int i)
{
    return on->weights[abs(on->c[i][0]) + abs(on->c[i][1]) + abs(on->c[i][2])];
}

/* The population that moves by (x, y, z). */
static int moves_by(const lattice *on, int x, int y, int z)
{
    int i = 0;
    while (on->c[i][0] != x || on->c[i][1] != y || on->c[i][2] != z)
        i++;
    return i;
}
static int opposite(const lattice *on, int i)
{
    return moves_by(on, -on->c[i][0], -on->c[i][1], -on->c[i][2]);
}
/* In a mirror whose normal is `axis`; what moves along it comes back. */
static int reflected(const lattice *on, int i, int axis)
{
    const int *c = on->c[i];
    return c[axis] == 0 ? opposite(on, i)
                        : moves_by(on, axis == 0 ? -c[0] : c[0], axis == 1 ? -c[1] : c[1],
                                   axis == 2 ? -c[2] : c[2]);
}

/* The cell that population i reaches from k in that many iterations; the grid is periodic. */
static int64_t beside(const lattice *on, int64_t k, int i, int times)
{
    const int64_t *n = on->n, x = k % n[0], y = k / n[0] % n[1], z = k / n[0] / n[1];
    return (oracle_wrap(z + times * on->c[i][2], n[2]) * n[1] +
            oracle_wrap(y + times * on->c[i][1], n[1])) *
               n[0] +
           oracle_wrap(x + times * on->c[i][0], n[0]);
}

static double along(const lattice *on, int i, const double v[3])
{
    return on->c[i][0] * v[0] + on->c[i][1] * v[1] + on->c[i][2] * v[2];
}

static bool is_fluid(const flow *w, int64_t k)
{
    return w->solid[k] == FLUID || w->solid[k] == INLET || w->solid[k] == OUTLET;
}

/* Population i as it arrives at cell k: from the cell that it left, or from an obstacle's surface
 * between the two (M. Bouzidi and others). */
static double arrives(const flow *w, int i, int64_t k)
{
    const lattice *on = w->on;
    const int j = opposite(on, i);
    const int64_t from = beside(on, k, i, -1), behind = beside(on, k, i, 1);
    if (w->distance[from] >= 0.0)
        return w->f[i][from];
    const double q = w->distance[k] / (w->distance[k] - w->distance[from]);
    if (q < 0.5)
        return 2.0 * q * w->f[j][k] + (1.0 - 2.0 * q) * w->f[j][behind];
    return w->f[j][k] / (2.0 * q) + (1.0 - 1.0 / (2.0 * q)) * w->f[i][k];
}

static void collide(const flow *w, int64_t k, const double *in, double *out)
{
    const lattice *on = w->on;
    const double even_time = 3.0 * w->viscosity + 0.5;
    const double odd_time = w->magic > 0.0 ? 0.5 + w->magic / (even_time - 0.5) : even_time;
    double density = 0.0, u[3] = {0}, gain[3], mean[3], square = 0.0;
    for (int i = 0; i < on->q; i++) {
        density += in[i];
        for (int axis = 0; axis < 3; axis++)
            u[axis] += on->c[i][axis] * in[i];
    }
    for (int axis = 0; axis < 3; axis++) {
        gain[axis] = w->solid[k] == INLET ? w->wall[axis][k] - u[axis] : w->gravity[axis];
        mean[axis] = u[axis] + gain[axis] / 2.0;
        square += mean[axis] * mean[axis];
    }
    const double more = w->solid[k] == OUTLET ? w->outlet - density : 0.0;
    for (int i = 0; i < on->q; i++) {
        const int j = opposite(on, i);
        const double cu = along(on, i, mean);
        const double even = weight(on, i) * (density + 4.5 * cu * cu - 1.5 * square);
        const double odd = weight(on, i) * 3.0 * along(on, i, u);
        out[i] = in[i] - ((in[i] + in[j]) / 2.0 - even) / even_time -
                 ((in[i] - in[j]) / 2.0 - odd) / odd_time +
                 weight(on, i) * (more + 3.0 * along(on, i, gain));
    }
}

/* All cells stream, then collide or send something back. */
static void step(flow *w)
{
    static double now[Q_MOST][CELLS_MOST];
    const lattice *on = w->on;
    for (int64_t k = 0; k < on->n[0] * on->n[1] * on->n[2]; k++) {
        const double v[3] = {w->wall[0][k], w->wall[1][k], w->wall[2][k]};
        double in[Q_MOST], out[Q_MOST];
        for (int i = 0; i < on->q; i++)
            in[i] = arrives(w, i, k);
        if (is_fluid(w, k))
            collide(w, k, in, out);
        for (int i = 0; i < on->q && !is_fluid(w, k); i++)
            out[i] = w->solid[k] >= MIRROR
                         ? in[reflected(on, i, (int)w->solid[k] - MIRROR)]
                         : in[opposite(on, i)] + 6.0 * weight(on, i) * along(on, i, v);
        for (int i = 0; i < on->q; i++)
            now[i][k] = w->distance[k] < 0.0 ? weight(on, i) : out[i];
    }
    memcpy(w->f, now, sizeof now);
}

static void velocity(const flow *w, int64_t k, double u[3])
{
    for (int axis = 0; axis < 3; axis++) {
        u[axis] = -w->gravity[axis] / 2.0;
        for (int i = 0; i < w->on->q; i++)
            u[axis] += w->on->c[i][axis] * w->f[i][k];
    }
}

/* Beyond the side of cell k to which population i moves; walls lie halfway. */
static void velocity_beside(const flow *w, int64_t k, int i, double u[3])
{
    const int64_t to = beside(w->on, k, i, 1);
    velocity(w, is_fluid(w, to) ? to : k, u);
    for (int axis = 0; axis < 3 && !is_fluid(w, to) && w->solid[to] < MIRROR; axis++)
        u[axis] = 2.0 * w->wall[axis][to] - u[axis];
}

/* Speed, vorticity, density, the velocity and the force. */
enum { SPEED, VORTICITY, DENSITY, VELOCITY, FORCE = VELOCITY + 3, OUTPUTS = FORCE + 3 };
static void look(const flow *w, int64_t k, double out[OUTPUTS])
{
    const lattice *on = w->on;
    double curl[3] = {0}, u[3] = {0};
    for (int o = 0; o < OUTPUTS; o++)
        out[o] = o == DENSITY;
    for (int i = 0; i < on->q && on == &plain; i++)
        out[DENSITY] += w->f[i][k] - weight(on, i);
    if (is_fluid(w, k)) {
        velocity(w, k, u);
        out[DENSITY] = 0.0;
        for (int i = 0; i < on->q; i++) {
            double v[3];
            const int *c = on->c[i];
            out[DENSITY] += w->f[i][k];
            if (abs(c[0]) + abs(c[1]) + abs(c[2]) != 1)
                continue;
            velocity_beside(w, k, i, v);
            for (int axis = 0; axis < 3; axis++)
                curl[axis] += 0.5 * (c[(axis + 1) % 3] * v[(axis + 2) % 3] -
                                     c[(axis + 2) % 3] * v[(axis + 1) % 3]);
        }
    }
    memcpy(&out[VELOCITY], u, sizeof u);
    out[SPEED] = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    out[VORTICITY] =
        on->dims == 2 ? curl[2] : sqrt(curl[0] * curl[0] + curl[1] * curl[1] + curl[2] * curl[2]);
    for (int i = 0; i < on->q && (w->distance[k] < 0.0 || w->solid[k] == OBSTACLE); i++) {
        const int64_t to = beside(on, k, i, 1);
        const double v[3] = {w->wall[0][k], w->wall[1][k], w->wall[2][k]};
        if (!is_fluid(w, to) || w->distance[to] < 0.0)
            continue;
        for (int axis = 0; axis < 3; axis++)
            out[FORCE + axis] -=
                on->c[i][axis] *
                (w->distance[k] < 0.0
                     ? (w->f[opposite(on, i)][to] - weight(on, i)) +
                           (arrives(w, i, to) - weight(on, i))
                     : 2.0 * (w->f[i][k] - weight(on, i)) - 6.0 * weight(on, i) * along(on, i, v));
    }
}

/* Cells of all kinds side by side; with `curved`, an obstacle between them too. `plain` knows fluid
 * and obstacles. */
static void make_up(flow *w, const lattice *on, double magic, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    w->on = on, w->magic = magic, w->viscosity = 0.05, w->outlet = 1.02;
    for (int axis = 0; axis < on->dims && on != &plain; axis++)
        w->gravity[axis] = 1e-3 * (axis - 0.7);
    for (int64_t k = 0; k < on->n[0] * on->n[1] * on->n[2]; k++) {
        const double what = oracle_random(&seed),
                     radius = hypot(k % on->n[0] - 12.3, k / on->n[0] - 8.8);
        const int kinds = on == &plain ? 1 : MIRROR + on->dims - 1;
        w->solid[k] = what < 0.7 ? FLUID : 1 + (int)((what - 0.7) / 0.3 * kinds);
        w->distance[k] = on == &curved ? radius - 5.2 : 1.0;
        if (w->distance[k] < 0.0 && what < 0.8)
            w->solid[k] = OBSTACLE;
        for (int axis = 0; axis < on->dims && on != &plain; axis++)
            w->wall[axis][k] = 0.1 * oracle_random(&seed) - 0.05;
        for (int i = 0; i < on->q; i++)
            w->f[i][k] = weight(on, i) * (1.0 + 0.1 * oracle_random(&seed));
    }
}

TEST(kinds)
{
    static const lattice *const lattices[] = {&plain, &d2q9, &curved, &d3q19};
    static const double tolerance[] = {2e-6, 1e-13};
    static const char *const derived[] = {"speed",      "vorticity",  "density",
                                          "velocity_x", "velocity_y", "velocity_z",
                                          "force_x",    "force_y",    "force_z"};
    static const char *const walls[] = {"wall_x", "wall_y", "wall_z"};
    static const char *const gravity[] = {"gravity_x", "gravity_y", "gravity_z"};
    static flow at_first, w;
    static double out[OUTPUTS][CELLS_MOST];
    for (int l = 0; l < 8; l++) {
        const lattice *on = lattices[l / 2];
        oracle_values fields[FIELDS_MOST] = {0};
        char names[Q_MOST][4];
        int count = 0;
        make_up(&w, on, l % 2 && on != &plain ? 0.2 : 0.0, (uint64_t)l);
        at_first = w;
        for (int k = 0; k < STEPS; k++)
            step(&w);
        for (int64_t k = 0; k < on->n[0] * on->n[1] * on->n[2]; k++) {
            double one[OUTPUTS];
            look(&w, k, one);
            for (int o = 0; o < OUTPUTS; o++)
                out[o][k] = one[o];
        }
        oracle_config c = oracle_with(oracle(on->stencil, TZ_SINGLE, "periodic", on->n[0], on->n[1],
                                             on->dims > 2 ? on->n[2] : 0),
                                      "viscosity", w.viscosity, NULL);
        if (on != &plain)
            c = oracle_with(oracle_with(c, "magic", w.magic, NULL), "outlet_density", w.outlet,
                            NULL);
        for (int i = 0; i < on->q; i++) {
            snprintf(names[i], sizeof names[i], "f%d", i);
            fields[count++] = (oracle_values){names[i], at_first.f[i], w.f[i]};
        }
        fields[count++] = (oracle_values){"solid", w.solid, NULL};
        for (int axis = 0; axis < on->dims && on != &plain; axis++) {
            c = oracle_with(c, gravity[axis], w.gravity[axis], NULL);
            fields[count++] = (oracle_values){walls[axis], w.wall[axis], NULL};
        }
        if (on == &curved)
            fields[count++] = (oracle_values){"distance", w.distance, NULL};
        for (int o = 0; o < OUTPUTS; o++)
            if (o < VELOCITY || (o - VELOCITY) % 3 < on->dims)
                fields[count++] = (oracle_values){derived[o], NULL, out[o]};
        oracle_compare(c, STEPS, tolerance, count, fields);
    }
}

enum { Q = 9 };
static double equilibrium(int i, double density, double ux, double uy)
{
    const double v[3] = {ux, uy, 0.0}, cu = along(&d2q9, i, v);
    return weight(&d2q9, i) * (density + 3.0 * cu + 4.5 * cu * cu - 1.5 * (ux * ux + uy * uy));
}

static const char *name_of(int i)
{
    static const char *const names[Q] = {"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8"};
    return names[i];
}

/* Velocity u0 sin(k y) along x decays as exp(-viscosity k^2 t): viscosity is what it says. */
TEST(shear_wave)
{
    enum { N = 64, M = 4, TIME = 600 };
    static double f[Q][N * M], got[N * M];
    const double viscosity = 0.1, k = 2.0 * 3.14159265358979323846 / N;
    oracle_config config =
        oracle_with(oracle("lbm", TZ_DOUBLE, "periodic", M, N, 0), "viscosity", viscosity, NULL);
    config.height = 2;
    tz_simulation *simulation = oracle_create(config);
    for (int i = 0; i < Q; i++) {
        for (int c = 0; c < N * M; c++)
            f[i][c] = equilibrium(i, 1.0, 0.01 * sin(k * (c / M)), 0.0);
        oracle_write(simulation, name_of(i), f[i]);
    }
    /* the derived fields: differences of order 2 of the velocity */
    for (int field = 0; field < 3; field++) {
        oracle_read(simulation, field == 0 ? "speed" : field == 1 ? "vorticity" : "density", got);
        for (int c = 0; c < N * M; c++) {
            const double y = c / M;
            const double expected = field == 0 ? 0.01 * fabs(sin(k * y))
                                    : field == 1
                                        ? -0.01 * (sin(k * (y + 1.0)) - sin(k * (y - 1.0))) / 2.0
                                        : 1.0;
            assert_true(fabs(got[c] - expected) < 1e-12);
        }
    }
    oracle_run(simulation, TIME);
    double amplitude = 0.0, mass = 0.0;
    for (int i = 0; i < Q; i++) {
        oracle_read(simulation, name_of(i), got);
        for (int c = 0; c < N * M; c++) {
            amplitude += d2q9.c[i][0] * got[c] * sin(k * (c / M)) / (N * M / 2);
            mass += got[c];
        }
    }
    const double expected = 0.01 * exp(-viscosity * k * k * TIME);
    assert_true(fabs(amplitude / expected - 1.0) < 2e-3);
    assert_true(fabs(mass - N * M) < 1e-9);
}

/* What fields and sides are by themselves is the fluid at rest, and stays so. */
TEST(rest)
{
    enum { N = 6 };
    const lattice *const all[] = {&plain, &d2q9, &curved, &d3q19};
    static double got[N * N * N];
    for (int k = 0; k < 4; k++) {
        const lattice *on = all[k];
        oracle_config config = oracle(on->stencil, TZ_DOUBLE, "fixed", N, N, on->dims == 3 ? N : 0);
        config.height = 1;
        tz_simulation *simulation = oracle_create(config);
        for (int turn = 0; turn < 2; turn++) {
            for (int i = 0; i < on->q; i++) {
                char name[16];
                snprintf(name, sizeof name, "f%d", i);
                oracle_read(simulation, name, got);
                for (int c = 0; c < (on->dims == 3 ? N * N * N : N * N); c++)
                    assert_true(fabs(got[c] - weight(on, i)) < 1e-13);
            }
            oracle_run(simulation, 5);
        }
    }
}

/* A channel between solids two cells thick, where populations bounce for ever: the flow beside them
 * sees walls at rest, and converges. The numbers are those of one backend and of slabs. */
TEST(channel)
{
    enum { W = 40, H = 16 };
    static const char *const backends[] = {"reference", "cpu", "cpu,cpu"};
    for (int b = 0; b < 3; b++) {
        tz_side_value outside[Q];
        tz_simulation *sim = NULL;
        tz_run_result result;
        double speed[W * H], first[W * H], second[W * H], solid[W * H];
        for (int i = 0; i < Q; i++)
            outside[i] = (tz_side_value){name_of(i), 0, equilibrium(i, 1.0, 0.05, 0.0)};
        assert_ok(tz_simulation_create(&sim,
                                       &(tz_simulation_config){
                                           .registry = registry,
                                           .stencil = "lbm",
                                           .dims = 2,
                                           .extent = {W, H, 1},
                                           .precision = TZ_DOUBLE,
                                           .boundary = {"fixed", "clamp"},
                                           .boundary_values_count = Q,
                                           .boundary_values = outside,
                                           .params_count = 1,
                                           .params = &(tz_assignment){"viscosity", 0.1, NULL},
                                           .backend = b < 2 ? backends[b] : NULL,
                                           .devices = b < 2 ? NULL : backends[b],
                                           .threads = 1,
                                       },
                                       &failure));
        for (int i = 0; i < Q; i++)
            assert_ok(tz_simulation_fill(sim, i, NULL, outside[i].value, &failure));
        for (int c = 0; c < W * H; c++)
            solid[c] = c / W < 2 || c / W >= H - 2;
        oracle_write(sim, "solid", solid);
        const tz_run run = {.steps = 20000, .until_residual = 1e-10};
        assert_ok(run_simulation(sim, &run, &result, &failure));
        assert_int_equal(result.status, TZ_RUN_CONVERGED);
        assert_true(result.steps > 100);
        oracle_read(sim, "speed", speed);
        oracle_read(sim, "vorticity", first);
        oracle_run(sim, 1);
        oracle_read(sim, "vorticity", second);
        const int wall = 2 * W + W / 2;
        assert_true(fabs(first[wall] + (speed[wall] + speed[wall + W]) / 2.0) < 1e-6);
        assert_true(speed[wall] > 1e-3 && fabs(first[wall] - second[wall]) < 1e-8);
        assert_true(first[wall - W] == 0.0);
        tz_simulation_destroy(sim);
    }
}

TEST_GROUP(open_plugins, close_plugins)
