/* Slabs on GPUs exchange their ghost zones. The driver is a stand-in (fake/fake.h) whose streams are
 * lazy, so that a missing event shows; its kernels do nothing, so that cells stay as they were stored,
 * or add rows. */
#include "backend/cuda/state.h"
#include "backend/slabs/slabs.h"
#include "backend/slabs/slabs_impl.h"
#include "fake/fake.h"
#include "rows_kernel.h"
#include "tests/registry.h"
#include <dlfcn.h>

enum { SLABS = 3, DEPTH = 4, CELLS_MAX = 9 * 5 * 30 };

static const fake_cuda_seen *seen;
static fake_cuda_runs *run_kernels;
static tz_problem problem;
static tz_devices devices;
static tz_backend backend;
static tz__slabs *slabs;

static void set_up_rows(const char *id, const char *boundary, int gpus, int rows)
{
    const tz_stencil *stencil;
    const tz_plugin *plugin;
    assert_ok(tz_registry_find(registry, id, &stencil, &plugin, &failure));
    const tz_simulation_config config = {
        .dims = stencil->dims,
        .precision = tz_stencil_has_real(stencil) ? TZ_SINGLE : -1,
        .extent = {9, stencil->dims == 3 ? 5 : rows, stencil->dims == 3 ? rows : 1},
        .boundary = {boundary, boundary, stencil->dims == 3 ? boundary : NULL}};
    assert_ok(tz_problem_resolve(&problem, stencil, &config, &failure));
    devices = (tz_devices){.count = SLABS};
    for (int i = 0; i < SLABS; i++) {
        devices.of[i].share = 1.0;
        devices.of[i].device = i % gpus;
    }
    assert_ok(tz_slabs_backend(&tz_backend_cuda, &backend, &failure));
    const tz_backend_context context = {
        .problem = &problem, .devices = &devices, .exchange = DEPTH};
    void *made = NULL;
    assert_ok(backend.create(&made, &context, &failure));
    slabs = made;
}

static void set_up(const char *id, const char *boundary, int gpus)
{
    set_up_rows(id, boundary, gpus, 30);
}

static void tear_down(void)
{
    backend.destroy(slabs);
    tz_problem_clear(&problem);
}

/* A number for each element of the whole grid. */
static uint32_t number(int round, int field, int64_t slice, int64_t rest)
{
    return (uint32_t)(1 + rest + 100 * slice + 10000 * field + 1000000 * round);
}

static tz_box slices_of(const tz_problem *of, int64_t low, int64_t high)
{
    tz_box box = {{0, 0, 0}, {of->elements[0], of->elements[1], of->elements[2]}};
    box.low[of->dims - 1] = low;
    box.high[of->dims - 1] = high;
    return box;
}

/* Each slab gets numbers in its own cells and zeros in its ghost zones, or numbers in its own cells
 * alone. */
static void fill(int round, bool all)
{
    static uint32_t cells[CELLS_MAX];
    for (int i = 0; i < SLABS; i++) {
        const tz_problem *part = &slabs->parts[i]->problem;
        const int64_t n = part->elements[part->dims - 1], slice = tz_problem_elements(part) / n;
        const int64_t first = all ? 0 : part->slab.low, last = all ? n : part->slab.high;
        const tz_box box = slices_of(part, first, last);
        for (int f = 0; f < part->stencil->fields_count; f++) {
            for (int64_t k = 0; k < (last - first) * slice; k++) {
                const int64_t at = first + k / slice;
                cells[k] = at >= part->slab.low && at < part->slab.high
                               ? number(round, f, tz_problem_coordinate(part, at), k % slice)
                               : 0;
            }
            assert_ok(slabs->inner->store(slabs->parts[i]->state, f, &box, cells, &failure));
        }
    }
}

/* Own cells have the numbers of one round. Ghost zones have those of another: of state fields for
 * `exchange` iterations, of static fields for `once`. */
static void check(int round, int ghosts, int exchange, int once)
{
    static uint32_t cells[CELLS_MAX];
    for (int i = SLABS - 1; i >= 0; i--) {
        const tz_problem *part = &slabs->parts[i]->problem;
        const int64_t n = part->elements[part->dims - 1], slice = tz_problem_elements(part) / n;
        const tz_box all = slices_of(part, 0, n);
        for (int f = 0; f < part->stencil->fields_count; f++) {
            const int depth = part->stencil->fields[f].role == TZ_STATE ? exchange : once;
            const int64_t low = part->slab.low - tz_cut_ghost(&slabs->cut, 0, depth);
            const int64_t high = part->slab.high + tz_cut_ghost(&slabs->cut, 1, depth);
            assert_ok(slabs->inner->load(slabs->parts[i]->state, f, &all, cells, &failure));
            for (int64_t k = 0; k < n * slice; k++) {
                const int64_t at = k / slice;
                const bool own = at >= part->slab.low && at < part->slab.high;
                const uint32_t want = at >= low && at < high
                                          ? number(own ? round : ghosts, f,
                                                   tz_problem_coordinate(part, at), k % slice)
                                          : 0;
                if (cells[k] != want)
                    fail_msg("round %d, slab %d, field %d, slice %lld: %u instead of %u", round, i,
                             f, (long long)at, cells[k], want);
            }
        }
    }
}

static void test_exchange(void **state)
{
    static const char *const stencils[] = {"star2d1r", "hotspot", "star3d2r", "life"};
    static const char *const boundaries[] = {"fixed", "periodic"};
    for (size_t s = 0; s < sizeof stencils / sizeof *stencils; s++)
        for (int b = 0; b < 2; b++)
            for (int gpus = 1; gpus <= SLABS; gpus++) {
                set_up(stencils[s], b && s == 1 ? "clamp" : boundaries[b], gpus);
                const int before = seen->peer_copies;
                for (int round = 1; round <= 6; round += 2) {
                    fill(round, true);
                    assert_ok(tz__slabs_exchange(slabs, tz__slabs_fields(slabs, TZ_STATE),
                                                 DEPTH - round / 2, &failure));
                    if (round > 1) /* these must wait for the copies of the others */
                        fill(round + 1, false);
                    check(round > 1 ? round + 1 : round, round, DEPTH - round / 2, 0);
                }
                assert_int_equal(gpus > 1, seen->peer_copies > before);
                tear_down();
            }
}

/* Also without access to each other's memory: the driver then copies through the host. */
static void test_peers(void **state)
{
    int opened = seen->peers_opened;
    set_up("star2d1r", "clamp", 3);
    fill(1, true);
    for (int i = 0; i < 3; i++)
        assert_ok(tz__slabs_exchange(slabs, 1, 2, &failure));
    assert_int_equal(seen->peers_opened - opened, 4); /* each end of two cuts, once */
    tear_down();
    setenv("FAKE_CUDA_PEERS", "0", 1);
    opened = seen->peers_opened;
    set_up("star2d1r", "clamp", 3);
    fill(2, true);
    assert_ok(tz__slabs_exchange(slabs, 1, 2, &failure));
    check(2, 2, 2, 0);
    assert_int_equal(seen->peers_opened, opened);
    tear_down();
    unsetenv("FAKE_CUDA_PEERS");
}

static void test_fault(void **state)
{
    set_up("star2d1r", "clamp", 2);
    fill(1, true);
    setenv("FAKE_CUDA_FAULT", "cuMemcpyPeerAsync:1", 1);
    check_error(tz__slabs_exchange(slabs, 1, 2, &failure), TZ_BACKEND, "", "bytes from GPU ");
    unsetenv("FAKE_CUDA_FAULT");
    assert_ok(tz__slabs_exchange(slabs, 1, 2, &failure));
    check(1, 1, 2, 0);
    tear_down();
}

/* Cells stay as they are, and the new ghost zones are filled. */
static void test_deepen(void **state)
{
    set_up("hotspot", "clamp", 2);
    fill(1, true);
    assert_ok(tz__slabs_deepen(slabs, 7, &failure));
    assert_ok(tz__slabs_exchange(slabs, tz__slabs_fields(slabs, TZ_STATE), 7, &failure));
    check(1, 1, 7, 7);
    tear_down();
}

/* ---- Stages ---------------------------------------------------------------------------------- */

static void store_all(uint32_t *cells, uint32_t seed, int low, int high)
{
    const tz_box box = slices_of(&problem, low, high);
    for (int i = low * WIDE; i < high * WIDE; i++)
        cells[i] = seed + 17 * (uint32_t)i;
    assert_ok(backend.store(slabs, 0, &box, cells + low * WIDE, &failure));
}

/* Who is waited for while stages go on: nobody, the queue of the ends, or the rest. */
enum { NOBODY, ENDS, REST, ORDERS };

static void wait_in(int order)
{
    for (int i = 0; i < SLABS; i++) {
        const tz_cuda_state *state = slabs->parts[i]->state;
        if (order == ENDS && state->first)
            assert_ok(tz_cuda_queue_wait(state->cuda, state->first, &failure));
        if (order == REST && i != 1)
            assert_ok(tz_cuda_queue_wait(state->cuda, NULL, &failure));
    }
}

/* Stages of a height, and a rest, with an exchange after several of them; then with another exchange.
 * Cells are stored in between. */
static void check_stages(int gpus, bool ring, int height, int exchange, int then, int order)
{
    static uint32_t want[2][ROWS * WIDE], got[ROWS * WIDE];
    const int stages = 3 * exchange / height + 4;
    bool early = false;
    const tz_box all = {{0, 0, 0}, {WIDE, ROWS, 1}};
    const tz_place place = {.threads = 1, .devices = &devices};
    tz_plan plan = {.height = height, .exchange = exchange};
    int64_t step = 0;
    set_up_rows("star2d1r", ring ? "periodic" : "clamp", gpus, ROWS);
    strcpy(plan.family, "stream");
    assert_ok(backend.plan(&problem, &place, &plan, &failure));
    assert_int_equal(plan.launch_iterations, exchange);
    store_all(want[0], 1, 0, ROWS);
    int now = 0;
    for (int i = 0; i < stages; i++) {
        /* A stage, the rest of one, or several stages and maybe a rest. */
        const int rest = i == stages / 2 && height > 1 ? height - 1
                         : i % 3 == 2                  ? plan.exchange - (height > 1 && i % 2)
                                                       : height;
        if (i == stages / 2 + 2)
            store_all(want[now], 99, 40, 120);
        if (slabs->valid < height && i >= exchange / height + 1)
            plan.exchange = then;
        assert_ok(backend.stage(slabs, &plan, rest, step, &failure));
        early |= ((const tz_cuda_state *)slabs->parts[1]->state)->early[0] > 0;
        wait_in(order);
        step += rest;
        for (int t = 0; t < rest; t++, now = 1 - now)
            iterate_all(want[now], want[1 - now], ring);
    }
    assert_true(early);
    assert_ok(backend.load(slabs, 0, &all, got, &failure));
    for (int i = 0; i < ROWS * WIDE; i++)
        if (got[i] != want[now][i])
            fail_msg("%d GPUs, height %d, exchange %d, order %d: row %d is wrong", gpus, height,
                     exchange, order, i / WIDE);
    tear_down();
}

static void test_stages(void **state)
{
    static const int plans[][3] = {{1, 1, 3},  {1, 3, 3}, {2, 2, 4}, {2, 6, 8}, {3, 3, 9},
                                   {3, 12, 6}, {4, 8, 4}, {1, 2, 4}, {1, 4, 2}};
    run_kernels(add_rows, sizeof(arguments));
    for (size_t p = 0; p < sizeof plans / sizeof *plans; p++)
        for (int order = 0; order < ORDERS; order++)
            for (int ring = 0; ring < 2; ring++)
                check_stages(order == NOBODY ? 1 + (int)p % 3 : 3, ring, plans[p][0], plans[p][1],
                             plans[p][2], order);
    run_kernels(NULL, 0);
}

static int begin(void **state)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    fake_cuda_look *look = library ? (fake_cuda_look *)dlsym(library, "fake_cuda") : NULL;
    run_kernels = library ? (fake_cuda_runs *)dlsym(library, "fake_cuda_run") : NULL;
    if (!look || !run_kernels)
        return -1;
    seen = look();
    setenv("FAKE_CUDA_DEVICES", "3", 1);
    setenv("TRAPEZE_CACHE", "", 1);
    return open_plugins(state);
}

TEST_MAIN(begin, close_plugins, TEST(test_exchange), TEST(test_peers), TEST(test_fault),
          TEST(test_deepen), TEST(test_stages))
