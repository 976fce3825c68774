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

static const double exact[2] = {0.0};

TEST(plain_loop)
{
    enum { NX = 43, NY = 31, CELLS = NX * NY, STEPS = 40 };
    static const int rules[][2] = {{14, 1}, {3, 3}, {2, 1}, {5, 8}};
    static double start[CELLS], expected[CELLS], scratch[CELLS];
    for (int k = 0; k < 4 * TZ_BOUNDARIES; k++) {
        const int *rule = rules[k / TZ_BOUNDARIES];
        const char *boundary = tz_boundary_name((tz_boundary)(k % TZ_BOUNDARIES));
        uint64_t seed = (uint64_t)(k / TZ_BOUNDARIES + 1);
        for (int i = 0; i < CELLS; i++)
            start[i] = expected[i] = (int)(oracle_random(&seed) * rule[0]);
        for (int s = 0; s < STEPS; s++) {
            step(NX, NY, boundary, rule[0], rule[1], expected, scratch);
            memcpy(expected, scratch, sizeof expected);
        }
        oracle_config config = oracle("cyclic", -1, boundary, NX, NY, 0);
        config = oracle_with(config, "states", rule[0], NULL);
        config = oracle_with(config, "threshold", rule[1], NULL);
        oracle_compare(config, STEPS, exact, 1, &(oracle_values){"state", start, expected});
    }
}

/* Columns 0, 1, 2, … of a torus: each cell sees the next state beside it, in every step. */
TEST(turning)
{
    enum { STATES = 7, NX = 3 * STATES, NY = 5, STEPS = 24 };
    static double start[NX * NY], expected[NX * NY];
    for (int i = 0; i < NX * NY; i++) {
        start[i] = i % NX % STATES;
        expected[i] = (i % NX + STEPS) % STATES;
    }
    oracle_config config = oracle("cyclic", -1, "periodic", NX, NY, 0);
    config = oracle_with(config, "states", STATES, NULL);
    config = oracle_with(config, "threshold", 3, NULL);
    oracle_compare(config, STEPS, exact, 1, &(oracle_values){"state", start, expected});
}

TEST_GROUP(open_plugins, close_plugins)
