/* Slabs on GPUs exchange their ghost zones. The driver is a stand-in (fake/fake.h) whose streams
 * are lazy, so that a missing event shows; its kernels do nothing, so that cells stay as they were
 * stored, or add rows. */
#include "tests/registry.h"

#define NEED(condition) assert_true(condition)
#define NEED_OK(call) assert_ok(call)
#include "slabs_support.h"

enum { SLABS = 3 };

static void set_up_rows(const char *id, const char *boundary, int gpus, int rows)
{
    devices = (tz_devices){.count = SLABS};
    for (int i = 0; i < SLABS; i++) {
        devices.of[i].share = 1.0;
        devices.of[i].device = i % gpus;
    }
    make_slabs(id, boundary, rows, NULL);
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
                    check(round > 1 ? round + 1 : round, round, DEPTH - round / 2, 0, true);
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
    check(2, 2, 2, 0, true);
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
    check(1, 1, 2, 0, true);
    tear_down();
}

/* Cells stay as they are, and the new ghost zones are filled. */
static void test_deepen(void **state)
{
    set_up("hotspot", "clamp", 2);
    fill(1, true);
    assert_ok(tz__slabs_deepen(slabs, 7, &failure));
    assert_ok(tz__slabs_exchange(slabs, tz__slabs_fields(slabs, TZ_STATE), 7, &failure));
    check(1, 1, 7, 7, true);
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

/* Stages of a height, and a rest, with an exchange after several of them; then with another
 * exchange. Cells are stored in between. */
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
    setenv("FAKE_CUDA_DEVICES", "3", 1);
    setenv("TRAPEZE_CACHE", "", 1);
    return open_driver() || open_plugins(state);
}

TEST_MAIN(begin, close_plugins, TEST(test_exchange), TEST(test_peers), TEST(test_fault),
          TEST(test_deepen), TEST(test_stages))
