/* Cyclic automata against a plain loop, and a cycle of states that turns for ever. */
#include "oracle.h"

static void step(int64_t nx, int64_t ny, const char *boundary, int states, int threshold,
                 const double *old, double *now)
{
    for (int64_t y = 0; y < ny; y++)
        for (int64_t x = 0; x < nx; x++) {
            const int here = (int)old[y * nx + x], next = (here + 1) % states;
            int count = 0;
            for (int64_t k = 0; k < 9; k++) {
                const int64_t i = oracle_neighbour(x + k % 3 - 1, nx, boundary);
                const int64_t j = oracle_neighbour(y + k / 3 - 1, ny, boundary);
                const int value = i < 0 || j < 0 ? 0 : (int)old[j * nx + i];
                count += k != 4 && value == next;
            }
            now[y * nx + x] = count >= threshold ? next : here;
        }
}

static void plain_loop(void **state)
{
    enum { NX = 43, NY = 31, CELLS = NX * NY, STEPS = 40 };
    static const int rules[][2] = {{14, 1}, {3, 3}, {2, 1}, {5, 8}};
    static double start[CELLS], expected[CELLS], scratch[CELLS];
    for (int rule = 0; rule < 4; rule++)
        for (int b = 0; b < TZ_BOUNDARIES; b++) {
            uint64_t seed = (uint64_t)(rule + 1);
            for (int i = 0; i < CELLS; i++)
                start[i] = (double)(int)(oracle_random(&seed) * rules[rule][0]);
            memcpy(expected, start, sizeof expected);
            for (int k = 0; k < STEPS; k++) {
                step(NX, NY, tz_boundary_name((tz_boundary)b), rules[rule][0], rules[rule][1],
                     expected, scratch);
                memcpy(expected, scratch, sizeof expected);
            }
            const oracle_config config = {
                .stencil = "cyclic",
                .precision = -1,
                .dims = 2,
                .nx = NX,
                .ny = NY,
                .boundary = tz_boundary_name((tz_boundary)b),
                .params_count = 2,
                .params = {{"states", rules[rule][0], NULL}, {"threshold", rules[rule][1], NULL}}};
            oracle_compare(config, "state", start, STEPS, expected, 0.0);
        }
}

/* Columns 0, 1, 2, … of a torus: each cell sees the next state beside it, in every step. */
static void turning(void **state)
{
    enum { STATES = 7, NX = 3 * STATES, NY = 5, STEPS = 24 };
    static double start[NX * NY], expected[NX * NY];
    for (int i = 0; i < NX * NY; i++) {
        start[i] = i % NX % STATES;
        expected[i] = (i % NX + STEPS) % STATES;
    }
    const oracle_config config = {.stencil = "cyclic",
                                  .precision = -1,
                                  .dims = 2,
                                  .nx = NX,
                                  .ny = NY,
                                  .boundary = "periodic",
                                  .params_count = 2,
                                  .params = {{"states", STATES, NULL}, {"threshold", 3, NULL}}};
    oracle_compare(config, "state", start, STEPS, expected, 0.0);
}

TEST_MAIN(open_plugins, close_plugins, TEST(plain_loop), TEST(turning))
