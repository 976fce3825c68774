/* PathFinder against a plain dynamic program that keeps every row and breaks ties as documented. */
#include "oracle.h"
#include "sim/fields.h"
#include "sim/numbers.h"

static int32_t *random_weights(int64_t nx, int64_t rows, int range, uint64_t seed)
{
    int32_t *weights = test_room((size_t)(nx * rows) * sizeof *weights);
    for (int64_t i = 0; i < nx * rows; i++)
        weights[i] = (int32_t)(oracle_random(&seed) * range);
    return weights;
}

typedef struct answer {
    int64_t *cost; /* of every column after every row */
    int64_t *path;
} answer;

static answer solve(const int32_t *weights, int64_t nx, int64_t rows, int periodic)
{
    answer a = {test_room((size_t)(nx * (rows + 1)) * sizeof(int64_t)),
                test_room((size_t)rows * sizeof(int64_t))};
    signed char *from = test_room((size_t)(nx * rows));
    for (int64_t k = 0; k < rows; k++) {
        const int64_t *old = a.cost + k * nx;
        for (int64_t x = 0; x < nx; x++) {
            static const int order[] = {0, -1, 1};
            int64_t best = INT64_MAX;
            for (int d = 0; d < 3; d++) {
                int64_t c = x + order[d];
                if (c < 0 || c >= nx) {
                    if (!periodic)
                        continue;
                    c = oracle_wrap(c, nx);
                }
                if (old[c] < best) {
                    best = old[c];
                    from[k * nx + x] = (signed char)order[d];
                }
            }
            a.cost[(k + 1) * nx + x] = best + weights[k * nx + x];
        }
    }
    int64_t column = 0;
    const int64_t *last = a.cost + rows * nx;
    for (int64_t x = 1; x < nx; x++)
        column = last[x] < last[column] ? x : column;
    for (int64_t k = rows - 1; k >= 0; k--) {
        a.path[k] = column;
        column = oracle_wrap(column + from[k * nx + column], nx);
    }
    return a;
}

typedef struct found {
    int64_t *columns, count;
    double cost, end;
} found;

static void take_number(void *context, const char *name, double value)
{
    found *f = context;
    if (strcmp(name, "cost") == 0)
        f->cost = value;
    else if (strcmp(name, "end") == 0)
        f->end = value;
}

static void take_list(void *context, const char *name, int64_t count, const int64_t *values)
{
    found *f = context;
    assert_string_equal(name, "columns");
    f->count = count;
    f->columns = test_room((size_t)(count + 1) * sizeof *values);
    memcpy(f->columns, values, (size_t)count * sizeof *values);
}

static tz_status find_path(tz_simulation *simulation, found *f, tz_error *error)
{
    *f = (found){NULL, -1, NAN, NAN};
    return tz_simulation_analyse(simulation, "path", &(tz_method_sink){f, take_number, take_list},
                                 error);
}

/* A path moves at most one column a row, and its weights sum to `cost`. */
static void check_path(const tz_simulation *simulation, const found *f, int64_t rows, double cost)
{
    const int64_t nx = tz_simulation_extent(simulation)[0];
    const bool periodic = tz_simulation_boundary(simulation, 0)[0] == TZ_PERIODIC;
    double sum = 0.0, weight;
    assert_int_equal(f->count, rows);
    for (int64_t k = 0; k < rows; k++) {
        const int64_t c = f->columns[k];
        assert_true(c >= 0 && c < nx);
        assert_ok(tz_simulation_streamed_read(simulation, 1, k, c, 1, &weight, &failure));
        sum += weight;
        if (k > 0) {
            const int64_t step = llabs(c - f->columns[k - 1]);
            assert_true(step <= 1 || (periodic && step == nx - 1));
        }
    }
    assert_true(sum == cost && f->cost == cost);
}

static void check_size(int64_t nx, int64_t rows, int range, uint64_t seed, const char *boundary)
{
    const int periodic = strcmp(boundary, "periodic") == 0;
    int32_t *weights = random_weights(nx, rows, range, seed);
    answer a = solve(weights, nx, rows, periodic);
    const int64_t *last = a.cost + rows * nx;
    double *cost = oracle_numbers(nx);
    for (int height = 0; height <= 5; height++) {
        oracle_config config = oracle("pathfinder", -1, boundary, nx, 0, 0);
        config.backend = height ? "cpu" : "reference";
        config.height = height;
        tz_simulation *simulation = oracle_create(config);
        assert_ok(tz_simulation_streamed_array(simulation, oracle_field(simulation, "weights"),
                                               weights, rows, &failure));
        oracle_run(simulation, rows);
        oracle_read(simulation, "cost", cost);
        for (int64_t x = 0; x < nx; x++)
            assert_true(cost[x] == (double)last[x]);
        found f;
        assert_ok(find_path(simulation, &f, &failure));
        assert_true(f.end == (double)a.path[rows - 1]);
        check_path(simulation, &f, rows, (double)last[a.path[rows - 1]]);
        /* Where the walls matter not, ties are as documented too. */
        if (!periodic)
            assert_memory_equal(f.columns, a.path, (size_t)rows * sizeof *a.path);
    }
}

TEST(costs_and_paths)
{
    static const int64_t sizes[][2] = {{1, 5},  {2, 7},    {3, 3},     {7, 1},    {33, 40},
                                       {64, 9}, {200, 90}, {1000, 31}, {31, 400}, {5000, 17}};
    static const char *const boundaries[] = {"clamp", "periodic", "mirror"};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int b = 0; b < 3; b++)
            for (uint64_t seed = 1; seed <= 3; seed++)
                check_size(sizes[s][0], sizes[s][1], seed == 3 ? 2 : 10, seed, boundaries[b]);
}

TEST(no_rows_yet)
{
    tz_simulation *simulation = oracle_create(oracle("pathfinder", -1, NULL, 9, 0, 0));
    const int32_t weights[18] = {0};
    found f;
    assert_ok(tz_simulation_streamed_array(simulation, 1, weights, 2, &failure));
    assert_ok(find_path(simulation, &f, &failure));
    assert_int_equal(f.count, 0);
    assert_true(f.cost == 0.0 && f.end == 0.0);
}

/* Too many rows to keep a choice for every cell: the path is found in pieces. */
TEST(long_paths)
{
    static const struct {
        int64_t nx, rows;
        const char *boundary;
    } cases[] = {{3100, 3000, "clamp"},
                 {6500, 2500, "periodic"}, /* the window never closes the ring */
                 {100, 200000, "clamp"},
                 {37, 300000, "periodic"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t nx = cases[i].nx, rows = cases[i].rows;
        oracle_config config = oracle("pathfinder", -1, cases[i].boundary, nx, 0, 0);
        config.height = 4;
        tz_simulation *simulation = oracle_create(config);
        assert_ok(tz_simulation_streamed_random(
            simulation, 1, &(tz_random){.seed = 7, .low = 0, .high = 9}, &failure));
        oracle_run(simulation, rows);
        double *cost = oracle_numbers(nx), least = INFINITY;
        oracle_read(simulation, "cost", cost);
        for (int64_t x = 0; x < nx; x++)
            least = fmin(least, cost[x]);
        found f;
        assert_ok(find_path(simulation, &f, &failure));
        check_path(simulation, &f, rows, least);
    }
}

TEST(path_needs_zero_start)
{
    tz_simulation *simulation = oracle_create(oracle("pathfinder", -1, NULL, 50, 0, 0));
    int32_t *weights = random_weights(50, 20, 10, 5);
    assert_ok(tz_simulation_streamed_array(simulation, 1, weights, 20, &failure));
    assert_ok(tz_simulation_fill(simulation, 0, NULL, 3.0, &failure));
    oracle_run(simulation, 20);
    found f;
    check_error(find_path(simulation, &f, &failure), TZ_RANGE, "", "zero costs at step 0");
}

TEST_GROUP(open_plugins, close_plugins)
