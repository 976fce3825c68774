/* How the resident family cuts grids. The search skips most cuts, but must not skip the best. Knobs
 * that a plan gives narrow the search. */
#include "backend/cuda/family/resident/design.h"
#include "backend/cuda/family/work.h"
#include "sim/simulation.h"
#include "sim/state.h"
#include "tests/registry.h"

#include <math.h>

static const struct {
    const char *stencil;
    int64_t extent[TZ_AXES];
    int precision;
    const char *boundary;
} cases[] = {
    {"star2d1r", {1024, 1024, 1}, TZ_SINGLE, "clamp"},
    {"star2d1r", {1000, 700, 1}, TZ_DOUBLE, "periodic"},
    {"box2d2r", {512, 900, 1}, TZ_SINGLE, "fixed"},
    {"hotspot", {1024, 1024, 1}, TZ_DOUBLE, "clamp"},
    {"poisson", {64, 64, 1}, TZ_SINGLE, "fixed"},
    {"life", {4096, 4096, 1}, -1, "periodic"},
    {"pathfinder", {100000, 1, 1}, -1, "clamp"},
    {"star3d1r", {96, 96, 96}, TZ_SINGLE, "mirror"},
    {"star3d2r", {64, 80, 48}, TZ_DOUBLE, "clamp"},
    {"box3d1r", {128, 128, 128}, TZ_SINGLE, "clamp"},
    {"box3d1r", {128, 128, 128}, TZ_DOUBLE, "clamp"}, /* does not fit */
    {"cell", {100, 100, 100}, -1, "fixed"},
    {"cell", {256, 256, 256}, -1, "fixed"},
};

static const tz_limits h200 = {132, 227 << 10};

static tz_simulation *create(const char *stencil, const int64_t extent[TZ_AXES], int precision,
                             const char *boundary_x, const char *boundary_y)
{
    tz_simulation_config config = {.registry = registry,
                                   .stencil = stencil,
                                   .precision = precision,
                                   .boundary = {boundary_x, boundary_y, boundary_y},
                                   .backend = "reference",
                                   .threads = 1,
                                   .dry = true};
    for (int axis = 0; axis < TZ_AXES; axis++) {
        config.extent[axis] = extent[axis];
        config.dims = extent[axis] > 1 ? axis + 1 : config.dims;
    }
    tz_simulation *simulation = NULL;
    assert_ok(tz_simulation_create(&simulation, &config, &failure));
    return simulation;
}

static tz_simulation *make(size_t c)
{
    return create(cases[c].stencil, cases[c].extent, cases[c].precision, cases[c].boundary,
                  cases[c].boundary);
}

static void check_narrowed(size_t c, const tz_problem *problem, const tz_plan *plan, bool found,
                           const tz_resident *best, int *other)
{
    tz_resident d;
    if (!tz_resident_design(problem, &h200, plan, &d))
        return;
    ++*other;
    if (!found || d.cost < best->cost)
        fail_msg("case %d, height %d: cells %d warps %d tile %d cost %.3f, and the best %.3f",
                 (int)c, plan->height, plan->vector, plan->warps, (int)plan->tile[0], d.cost,
                 found ? best->cost : -1.0);
}

TEST(test_nothing_narrower_is_better)
{
    static const int heights[] = {1, 4};
    int fits = 0, others = 0;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        tz_simulation *simulation = make(c);
        const tz_problem *problem = &simulation->problem;
        for (size_t h = 0; h < sizeof heights / sizeof *heights; h++) {
            const tz_plan plan = {.height = heights[h]};
            tz_resident best = {.warps = 0};
            const bool found = tz_resident_design(problem, &h200, &plan, &best);
            fits += found;
            for (int vector = 1; vector <= TZ_RESIDENT_CELLS_MAX; vector++) {
                tz_plan narrow = plan;
                narrow.vector = vector;
                check_narrowed(c, problem, &narrow, found, &best, &others);
            }
            for (int warps = 1; warps <= 32; warps++) {
                tz_plan narrow = plan;
                narrow.warps = warps;
                check_narrowed(c, problem, &narrow, found, &best, &others);
            }
            for (int axis = 0; axis < problem->dims; axis++)
                for (int blocks = 1; blocks <= 132; blocks += 1 + blocks / 4) {
                    tz_plan narrow = plan;
                    narrow.tile[axis] = (problem->elements[axis] + blocks - 1) / blocks;
                    check_narrowed(c, problem, &narrow, found, &best, &others);
                }
            if (!found)
                continue;
            tz_plan same = plan;
            tz_resident again;
            same.vector = best.cells[0];
            same.warps = best.warps;
            for (int axis = 0; axis < problem->dims; axis++)
                same.tile[axis] =
                    (problem->elements[axis] + best.blocks[axis] - 1) / best.blocks[axis];
            assert_true(tz_resident_design(problem, &h200, &same, &again));
            assert_true(again.cost == best.cost);
            assert_memory_equal(again.cells, best.cells, sizeof best.cells);
            assert_memory_equal(again.threads, best.threads, sizeof best.threads);
        }
        tz_simulation_destroy(simulation);
    }
    assert_true(fits >= 16 && others > 40 * fits);
}

static int count_resident(const tz_problem *problem, const tz_plan *given)
{
    enum { MAX = 128 };
    static tz_plan plans[MAX];
    const tz_place place = {.threads = 1};
    int count = 0, resident = 0;
    assert_ok(tz_cuda_candidates(problem, &place, given, plans, MAX, &count, &failure));
    for (int k = 0; k < count; k++)
        resident += strcmp(plans[k].family, "resident") == 0;
    return resident;
}

/* Large bricks in three dimensions compile too slowly to be chosen by default; small ones do not.
 */
TEST(test_lengthy_text_is_not_chosen)
{
    const size_t last = sizeof cases / sizeof *cases - 1;
    for (int large = 0; large < 2; large++) {
        tz_simulation *simulation = make(last - 1 + (size_t)large);
        const tz_problem *problem = &simulation->problem;
        tz_plan own = {.height = 2}, free = {.height = 0};
        tz_plan named = {.height = 2, .family = "resident"};
        tz_resident design;
        assert_true(tz_resident_design(problem, &h200, &own, &design));
        assert_int_equal(tz_resident_is_lengthy(problem, &design), large);
        assert_int_equal(count_resident(problem, &free) > 0, !large);
        assert_true(count_resident(problem, &named) >= 1);
        assert_ok(tz_cuda_plan(problem, &h200, &own, &failure));
        assert_string_equal(own.family, large ? "stream" : "resident");
        tz_simulation_destroy(simulation);
    }
}

/* All threads of a warp read the element before their bricks in different banks, or the same
 * word. */
TEST(test_ends_of_rows_have_banks)
{
    for (int cells = 2; cells <= 16; cells += 2)
        for (int row = 3; row <= 40; row++) {
            const tz_resident d = {.threads = {row, 13, 1}, .cells = {cells, 3, 1}};
            const int pitch = tz_resident_pitch(&d);
            assert_true(pitch >= row * 13 && pitch < row * 13 + 32);
            for (int warp = 0; warp < row * 13 / 32; warp++) {
                uint32_t banks = 0;
                for (int t = 32 * warp; t < 32 * warp + 32; t++)
                    banks |= 1u << (t % row == 0 ? t : (cells - 1) * pitch + t - 1) % 32;
                assert_int_equal(banks, UINT32_MAX);
            }
        }
}

static int gather_of(const char *stencil, const int64_t extent[TZ_AXES], int height, int precision,
                     const char *boundary_x, const char *boundary_y, int multiprocessors)
{
    const tz_plan plan = {.height = height};
    const tz_limits limits = {multiprocessors, 227 << 10};
    tz_simulation *simulation = create(stencil, extent, precision, boundary_x, boundary_y);
    tz_resident d;
    tz_resident_exchange e;
    assert_true(tz_resident_design(&simulation->problem, &limits, &plan, &d));
    tz_resident_ways(&simulation->problem, &d, &e);
    if (d.gather > 0) /* all requests, and no round for nothing */
        assert_int_equal(tz_resident_rounds(&d, &e) - 1,
                         (int)((e.requests - 1.0) / ((double)d.warps * d.gather)));
    tz_simulation_destroy(simulation);
    return d.gather;
}

/* Of large bricks few threads have ghost cells, but these have many. The first five are the
 * executor's cases of such kernels (tests.cmake). */
TEST(test_large_bricks_gather)
{
    static const struct {
        const char *stencil;
        int64_t extent[TZ_AXES];
        int height, precision;
        const char *boundary[2];
        int multiprocessors;
        bool gathers;
    } all[] = {
        {"star2d1r", {400, 300, 1}, 8, TZ_DOUBLE, {"mirror", "mirror"}, 6, true},
        {"star2d1r", {400, 300, 1}, 8, TZ_DOUBLE, {"periodic", "periodic"}, 9, true},
        {"box2d2r", {300, 310, 1}, 2, TZ_DOUBLE, {"fixed", "clamp"}, 6, true},
        {"life", {3001, 300, 1}, 4, -1, {"fixed", "fixed"}, 6, true},
        {"grayscott", {160, 150, 1}, 1, TZ_SINGLE, {"clamp", "periodic"}, 11, true},
        {"star2d1r", {2048, 2048, 1}, 4, TZ_SINGLE, {"clamp", "clamp"}, 132, true},
        {"hotspot", {1500, 1500, 1}, 4, TZ_SINGLE, {"clamp", "clamp"}, 132, true},
        {"grayscott", {1024, 1024, 1}, 1, TZ_SINGLE, {"periodic", "periodic"}, 132, true},
        {"star2d1r", {1024, 1024, 1}, 8, TZ_SINGLE, {"clamp", "clamp"}, 132, false},
        {"star2d1r", {512, 512, 1}, 8, TZ_SINGLE, {"clamp", "clamp"}, 132, false},
        {"star3d1r", {128, 128, 128}, 1, TZ_SINGLE, {"clamp", "clamp"}, 132, false},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if ((gather_of(all[k].stencil, all[k].extent, all[k].height, all[k].precision,
                       all[k].boundary[0], all[k].boundary[1], all[k].multiprocessors) > 0) !=
            all[k].gathers)
            fail_msg("case %d, %s", (int)k, all[k].stencil);
}

/* Marks the cells of an axis near which another block owns cells: `sent`. */
static void mark_sent(const tz_problem *problem, const tz_resident *d, int axis, bool *sent)
{
    const int64_t n = problem->elements[axis], blocks = d->blocks[axis];
    const int64_t extent = (int64_t)d->cells[axis] * d->threads[axis];
    const bool wraps = problem->boundary[axis][0] == TZ_PERIODIC || (axis == 0 && problem->bits);
    int *owner = calloc((size_t)n, sizeof *owner);
    assert_non_null(owner);
    for (int64_t b = 1; b < blocks; b++) { /* as resident_tile.cuh cuts the grid */
        const int64_t begin = wraps ? b * n / blocks : b * (n - extent) / (blocks - 1) + d->ghost;
        for (int64_t c = begin; c < n; c++)
            owner[c] = (int)b;
    }
    for (int64_t c = 0; c < n; c++)
        for (int64_t away = -d->ghost; away <= d->ghost; away++) {
            const int64_t other = wraps ? (c + away + n) % n : c + away;
            if (other >= 0 && other < n && owner[other] != owner[c])
                sent[c] = true;
        }
    free(owner);
}

/* Bytes of the lines with slots that some block sends: all cells one by one. */
static double counted_slots(const tz_problem *problem, const tz_resident *d)
{
    const int64_t *n = problem->elements;
    const int64_t apart = tz_resident_slots_apart(problem, d), row = apart * d->cells[0];
    bool *sent[TZ_AXES], *lines = calloc((size_t)(row * n[1] * n[2] / 16 + 1), 1);
    double count = 0.0;
    assert_non_null(lines);
    for (int axis = 0; axis < TZ_AXES; axis++) {
        sent[axis] = calloc((size_t)n[axis], 1);
        assert_non_null(sent[axis]);
        mark_sent(problem, d, axis, sent[axis]);
    }
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++)
            for (int64_t x = 0; x < n[0]; x++) {
                if (!sent[0][x] && !sent[1][y] && !sent[2][z])
                    continue;
                bool *line =
                    &lines[((z * n[1] + y) * row + x % d->cells[0] * apart + x / d->cells[0]) / 16];
                count += !*line;
                *line = true;
            }
    for (int axis = 0; axis < TZ_AXES; axis++)
        free(sent[axis]);
    free(lines);
    return 2.0 * 128.0 * d->sent_words * count;
}

/* Rows may begin within a line of 128 bytes, or share one, which the shorter count does not follow.
 * It matters little unless rows are short, and then all slots are few. */
TEST(test_lines_of_slots_are_counted)
{
    int compared = 0;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        tz_simulation *simulation = make(c);
        for (int height = 1; height <= 12; height = 2 * height + 1) {
            const tz_plan plan = {.height = height};
            const tz_problem *problem = &simulation->problem;
            tz_resident d;
            if (!tz_resident_design(problem, &h200, &plan, &d) || d.ghost == 0)
                continue;
            const double bytes = tz_resident_slots_bytes(problem, &d);
            const double exact = counted_slots(problem, &d);
            if (exact < 5e6)
                continue;
            if (fabs(bytes - exact) > 0.05 * exact)
                fail_msg("case %d, height %d: %.0f bytes, counted %.0f", (int)c, height, bytes,
                         exact);
            compared++;
        }
        tz_simulation_destroy(simulation);
    }
    assert_true(compared >= 10);
}

TEST_GROUP(open_plugins, close_plugins)
