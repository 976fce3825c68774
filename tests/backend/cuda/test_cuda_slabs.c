/* Slabs on GPUs exchange their ghost zones: in one process; and in several, that read each other's
 * device memory where the driver allows it, else through the host (this program again, under
 * mpirun). The driver is a stand-in (fake/fake.h) whose streams are lazy, and one of the ranks is
 * late with all that it does on its devices, so that a missing event shows. Its kernels do nothing,
 * so that cells stay as they were stored, or add rows. */
#include "backend/cuda/state.h"
#include "backend/slabs/commands.h"
#include "backend/slabs/exchange.h"
#include "backend/slabs/slabs.h"
#include "fake/fake.h"
#include "tests/mpirun.h"
#include "tests/registry.h"
#include <dlfcn.h>
#include <signal.h>

enum { DEPTH = 4, CELLS_MAX = 9 * 5 * 50, LATE_US = 20000 };

static const fake_cuda_seen *seen;
static fake_cuda_runs *run_kernels;
static tz_problem problem;
static tz_devices devices;
static tz_backend backend;
static tz__slabs *slabs;
static tz_ranks me = {.count = 1}; /* a copy */
static int failures;
static bool late; /* this rank */

static bool alone(void)
{
    return me.count == 1;
}

static void need(bool holds, int line, const char *condition)
{
    if (holds)
        return;
    if (alone())
        fail_msg("line %d: %s (%s)", line, condition, failure.message);
    fprintf(stderr, "rank %d: line %d: %s (%s)\n", me.rank, line, condition, failure.message);
    failures++;
}

/* In a process alone the test fails; ranks go on, and end with a code. */
#define NEED(condition) need(condition, __LINE__, #condition)
#define NEED_OK(call) NEED((call) == TZ_OK)

static int open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    fake_cuda_look *look = library ? (fake_cuda_look *)dlsym(library, "fake_cuda") : NULL;
    run_kernels = library ? (fake_cuda_runs *)dlsym(library, "fake_cuda_run") : NULL;
    if (!look || !run_kernels)
        return -1;
    seen = look();
    return 0;
}

/* A grid of so many rows, or planes; `each` slabs on each rank, on so many GPUs. */
static void set_up(const char *id, const char *boundary, int each, int gpus, int rows)
{
    const tz_stencil *stencil;
    const tz_plugin *plugin;
    devices = (tz_devices){.count = each * me.count, .rank = me.rank};
    for (int i = 0; i < devices.count; i++) {
        devices.of[i].share = 1.0;
        devices.of[i].rank = i / each;
        devices.of[i].device = i % gpus;
    }
    NEED_OK(tz_registry_find(registry, id, &stencil, &plugin, &failure));
    const tz_simulation_config config = {
        .dims = stencil->dims,
        .precision = tz_stencil_has_real(stencil) ? TZ_SINGLE : -1,
        .extent = {9, stencil->dims == 3 ? 5 : rows, stencil->dims == 3 ? rows : 1},
        .boundary = {boundary, boundary, stencil->dims == 3 ? boundary : NULL}};
    NEED_OK(tz_problem_resolve(&problem, stencil, &config, &failure));
    NEED_OK(tz_slabs_backend(&tz_backend_cuda, &devices, &backend, &failure));
    const tz_backend_context context = {
        .problem = &problem, .devices = &devices, .exchange = DEPTH, .ranks = alone() ? NULL : &me};
    slabs = calloc(1, sizeof *slabs);
    NEED_OK(tz__slabs_do_create(slabs, &context, &failure));
}

static void tear_down(void)
{
    tz__slabs_do_destroy(slabs);
    tz_problem_clear(&problem);
    NEED(seen->opened == 0 && seen->left_behind == 0);
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

/* Numbers in the own cells of this process's slabs; with `all` also zeros in their ghost zones. */
static void fill(int round, bool all)
{
    static uint32_t cells[CELLS_MAX];
    slabs->offered = 0; /* cells are stored */
    for (int i = slabs->low; i < slabs->high; i++) {
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
            NEED_OK(slabs->inner->store(slabs->parts[i]->state, f, &box, cells, &failure));
        }
    }
}

/* Own cells have the numbers of one round. Ghost zones have those of another: of state fields for
 * `exchange` iterations, of static fields for `once`. With `zeros`, cells further out are 0. */
static void check(int round, int ghosts, int exchange, int once, bool zeros)
{
    static uint32_t cells[CELLS_MAX];
    for (int i = slabs->high - 1; i >= slabs->low; i--) {
        const tz_problem *part = &slabs->parts[i]->problem;
        const int64_t n = part->elements[part->dims - 1], slice = tz_problem_elements(part) / n;
        const tz_box all = slices_of(part, 0, n);
        int wrong = 0;
        for (int f = 0; f < part->stencil->fields_count; f++) {
            const int depth = part->stencil->fields[f].role == TZ_STATE ? exchange : once;
            const int64_t low = part->slab.low - tz_cut_ghost(&slabs->cut, 0, depth);
            const int64_t high = part->slab.high + tz_cut_ghost(&slabs->cut, 1, depth);
            NEED_OK(slabs->inner->load(slabs->parts[i]->state, f, &all, cells, &failure));
            for (int64_t k = 0; k < n * slice; k++) {
                const int64_t at = k / slice;
                const bool own = at >= part->slab.low && at < part->slab.high;
                const bool inside = at >= low && at < high;
                const uint32_t want = inside ? number(own ? round : ghosts, f,
                                                      tz_problem_coordinate(part, at), k % slice)
                                             : 0;
                if ((inside || zeros) && cells[k] != want && wrong++ == 0)
                    fprintf(stderr, "round %d, slab %d, field %d, slice %lld: %u, not %u\n", round,
                            i, f, (long long)at, cells[k], want);
            }
        }
        NEED(wrong == 0);
    }
}

static void rounds(void)
{
    for (int round = 0; round < 4; round++) {
        const int iterations = DEPTH - (round + 1) / 2, now = 2 * round + (round > 0);
        fill(2 * round, alone());
        NEED_OK(tz__slabs_exchange(slabs, tz__slabs_fields(slabs, TZ_STATE), iterations, &failure));
        if (late)
            usleep(LATE_US / 4);
        if (round > 0) /* these must wait for the copies of the others */
            fill(now, false);
        check(now, 2 * round, iterations, 0, alone());
    }
}

static int cuts_of_ranks(bool ring)
{
    return alone() ? 0 : ring ? me.count : me.count - 1;
}

/* Slabs of several stencils, in a row or a ring; then all that ranks share goes directly. */
static void exchanges(int each, int gpus)
{
    static const char *const stencils[] = {"star2d1r", "hotspot", "star3d2r", "life"};
    for (size_t s = 0; s < sizeof stencils / sizeof *stencils; s++)
        for (int b = 0; b < 2; b++) {
            const bool ring = b && s != 1;
            set_up(stencils[s], ring ? "periodic" : b ? "clamp" : "fixed", each, gpus, 50);
            const int before = seen->peer_copies;
            rounds();
            NEED(slabs->paths.direct == cuts_of_ranks(ring));
            NEED(slabs->paths.by_host == 0 && !slabs->paths.why[0]);
            NEED(alone() ? (seen->peer_copies > before) == (gpus > 1) : seen->opened > 0);
            tear_down();
        }
}

/* What all ranks do at the command of rank 0. */
static tz_status stage(const tz_plan *plan, int iterations, int64_t step)
{
    const tz__slabs_call call = {.plan = *plan, .iterations = iterations, .at = step};
    return tz__slabs_do_stage(slabs, &call, &failure);
}

/* Fields of other copies than at first; then states that replace others: cells stay as they are,
 * and the new ghost zones are filled. */
static void deepen(int each)
{
    const tz_place place = {.threads = 1, .devices = &devices};
    tz_plan plan = {.height = 2, .exchange = DEPTH};
    set_up("hotspot", "clamp", each, 2, 50);
    fill(1, alone());
    NEED_OK(backend.plan(&problem, &place, &plan, &failure));
    NEED_OK(stage(&plan, 2, 0)); /* the fields are in their other copies */
    rounds();
    fill(10, alone());
    NEED_OK(tz__slabs_deepen(slabs, 7, &failure));
    NEED(slabs->paths.direct == cuts_of_ranks(false));
    NEED_OK(tz__slabs_exchange(slabs, tz__slabs_fields(slabs, TZ_STATE), 7, &failure));
    check(10, 10, 7, 7, alone());
    tear_down();
}

/* ---- Stages of star2d1r with one field of integers ------------------------------------------- */

enum { ROWS = 150, WIDE = 9 };

/* tz_arguments of a stencil with one field, in a slab (kernels/cuda/common.cuh). */
typedef struct arguments {
    const uint32_t *in;
    uint32_t *out;
    unsigned long long edge, constants[64];
    void *scratch;
    long long step, plane;
    int nx, ny, nz, pitch, columns, height, geometry[6], whole_first, whole_extent, low, high;
} arguments;

/* An iteration: a cell and its neighbours in other rows. */
static uint32_t update(uint32_t below, uint32_t here, uint32_t above)
{
    return 3 * here + 5 * below + 7 * above + 1;
}

/* Rows from `low` to `high` after an iteration; those outside the grid are the ones at its ends. */
static void iterate(const uint32_t *from, uint32_t *to, int rows, int low, int high)
{
    for (int y = low; y < high; y++)
        for (int x = 0; x < WIDE; x++)
            to[y * WIDE + x] = update(from[(y > 0 ? y - 1 : 0) * WIDE + x], from[y * WIDE + x],
                                      from[(y + 1 < rows ? y + 1 : y) * WIDE + x]);
}

static void add_rows(const void *argument)
{
    static uint32_t level[2][ROWS * WIDE * 2];
    const arguments *a = argument;
    for (int y = 0; y < a->ny; y++)
        memcpy(&level[0][y * WIDE], a->in + (size_t)y * (size_t)a->pitch, sizeof(uint32_t) * WIDE);
    for (int t = 1; t <= a->height; t++) {
        const int low = a->low - (a->height - t), high = a->high + a->height - t;
        iterate(level[(t - 1) % 2], level[t % 2], a->ny, low > 0 ? low : 0,
                high < a->ny ? high : a->ny);
    }
    for (int y = a->low; y < a->high; y++)
        memcpy(a->out + (size_t)y * (size_t)a->pitch, &level[a->height % 2][y * WIDE],
               sizeof(uint32_t) * WIDE);
}

/* An iteration of the whole grid. */
static void iterate_all(const uint32_t *from, uint32_t *to, bool ring)
{
    iterate(from, to, ROWS, 0, ROWS);
    for (int x = 0; ring && x < WIDE; x++) {
        const int last = (ROWS - 1) * WIDE + x;
        to[x] = update(from[last], from[x], from[WIDE + x]);
        to[last] = update(from[last - WIDE], from[last], from[x]);
    }
}

static void store_all(uint32_t *cells, uint32_t seed, int low, int high)
{
    const tz__slabs_call call = {.box = slices_of(&problem, low, high), .from = cells + low * WIDE};
    for (int i = low * WIDE; i < high * WIDE; i++)
        cells[i] = seed + 17 * (uint32_t)i;
    NEED_OK(tz__slabs_do_store(slabs, &call, &failure));
}

/* Who is waited for while stages go on: nobody, the queue of the ends, or the rest. */
enum { NOBODY, ENDS, REST, ORDERS };

/* After a stage: whether a slab computed its ends first. */
static bool wait_in(int order)
{
    bool early = false;
    for (int i = slabs->low; i < slabs->high; i++) {
        const tz_cuda_state *state = slabs->parts[i]->state;
        early |= state->early[0] + state->early[1] > 0;
        if (order == ENDS && state->first)
            NEED_OK(tz_cuda_queue_wait(state->cuda, state->first, &failure));
        if (order == REST && i != 1)
            NEED_OK(tz_cuda_queue_wait(state->cuda, NULL, &failure));
    }
    return early;
}

/* Stages of a height, and a rest, with an exchange after several of them; then with another
 * exchange. Cells are stored in between. So many cuts go directly. */
static void check_stages(int each, int gpus, bool ring, const int plans[3], int order, int direct)
{
    static uint32_t want[2][ROWS * WIDE], got[ROWS * WIDE];
    const int height = plans[0], exchange = plans[1], stages = 3 * exchange / height + 4;
    const tz_place place = {.threads = 1, .devices = &devices};
    tz_plan plan = {.height = height, .exchange = exchange};
    bool early = false;
    int64_t step = 0;
    int now = 0, wrong = 0;
    set_up("star2d1r", ring ? "periodic" : "clamp", each, gpus, ROWS);
    strcpy(plan.family, "stream");
    NEED_OK(backend.plan(&problem, &place, &plan, &failure));
    NEED(plan.launch_iterations == exchange);
    store_all(want[0], 1, 0, ROWS);
    for (int i = 0; i < stages; i++) {
        /* A stage, the rest of one, or several stages and maybe a rest. */
        const int rest = i == stages / 2 && height > 1 ? height - 1
                         : i % 3 == 2                  ? plan.exchange - (height > 1 && i % 2)
                                                       : height;
        if (i == stages / 2 + 2)
            store_all(want[now], 99, 40, 120);
        if (slabs->valid < height && i >= exchange / height + 1)
            plan.exchange = plans[2];
        NEED_OK(stage(&plan, rest, step));
        early |= wait_in(order);
        if (late && i % 2)
            usleep(LATE_US / 4);
        step += rest;
        for (int t = 0; t < rest; t++, now = 1 - now)
            iterate_all(want[now], want[1 - now], ring);
    }
    const tz__slabs_call load = {.box = slices_of(&problem, 0, ROWS),
                                 .to = me.rank == 0 ? got : NULL};
    NEED_OK(tz__slabs_do_load(slabs, &load, &failure));
    for (int k = 0; me.rank == 0 && k < ROWS * WIDE; k++)
        wrong += got[k] != want[now][k];
    if (wrong > 0)
        fprintf(stderr, "%d GPUs, height %d, exchange %d, order %d\n", gpus, height, exchange,
                order);
    NEED(wrong == 0);
    NEED(early);
    NEED(slabs->paths.direct == direct && slabs->paths.by_host == cuts_of_ranks(ring) - direct);
    tear_down();
}

/* ---- A process alone ------------------------------------------------------------------------- */

TEST(test_exchange)
{
    for (int gpus = 1; gpus <= 3; gpus++)
        exchanges(3, gpus);
}

/* Also without access to each other's memory: the driver then copies through the host. */
TEST(test_peers)
{
    for (int peers = 0; peers < 2; peers++) {
        const int opened = seen->peers_opened;
        if (!peers)
            setenv("FAKE_CUDA_PEERS", "0", 1);
        set_up("star2d1r", "clamp", 3, 3, 30);
        fill(1, true);
        for (int i = 0; i < 3; i++)
            NEED_OK(tz__slabs_exchange(slabs, 1, 2, &failure));
        check(1, 1, 2, 0, true);
        /* Each end of two cuts, once. */
        assert_int_equal(seen->peers_opened - opened, peers ? 4 : 0);
        tear_down();
        unsetenv("FAKE_CUDA_PEERS");
    }
}

TEST(test_fault)
{
    set_up("star2d1r", "clamp", 3, 2, 30);
    fill(1, true);
    setenv("FAKE_CUDA_FAULT", "cuMemcpyPeerAsync:1", 1);
    check_error(tz__slabs_exchange(slabs, 1, 2, &failure), TZ_BACKEND, "", "bytes from GPU ");
    unsetenv("FAKE_CUDA_FAULT");
    assert_ok(tz__slabs_exchange(slabs, 1, 2, &failure));
    check(1, 1, 2, 0, true);
    tear_down();
}

TEST(test_deepen)
{
    deepen(3);
}

TEST(test_stages)
{
    static const int plans[][3] = {{1, 1, 3},  {1, 3, 3}, {2, 2, 4}, {2, 6, 8}, {3, 3, 9},
                                   {3, 12, 6}, {4, 8, 4}, {1, 2, 4}, {1, 4, 2}};
    run_kernels(add_rows, sizeof(arguments));
    for (int p = 0; p < (int)(sizeof plans / sizeof *plans); p++)
        for (int order = 0; order < ORDERS; order++)
            for (int ring = 0; ring < 2; ring++)
                check_stages(3, order == NOBODY ? 1 + p % 3 : 3, ring, plans[p], order, 0);
    run_kernels(NULL, 0);
}

/* ---- What ranks do --------------------------------------------------------------------------- */

static void do_direct(void)
{
    exchanges(1, 2);
    exchanges(2, 2);
}

static void do_deepen(void)
{
    deepen(1);
}

static void all_stages(bool direct)
{
    static const int plans[][3] = {{1, 1, 1}, {1, 3, 3}, {2, 4, 4}, {3, 6, 6}};
    run_kernels(add_rows, sizeof(arguments));
    for (int p = 0; p < (int)(sizeof plans / sizeof *plans); p++)
        check_stages(1 + p / 2, 2, p % 2, plans[p], NOBODY, direct ? cuts_of_ranks(p % 2) : 0);
    run_kernels(NULL, 0);
}

static void do_stages(void)
{
    all_stages(true);
}

static void by_host(const char *why)
{
    set_up("star2d1r", "periodic", 1, 2, 50);
    rounds();
    NEED(slabs->paths.by_host == cuts_of_ranks(true) && slabs->paths.direct == 0);
    NEED(strstr(slabs->paths.why, why));
    tear_down();
}

/* The driver of one rank refuses; both sides take the host then. */
static void do_refused(void)
{
    static const char *const calls[] = {"cuIpcGetMemHandle:801", "cuIpcOpenMemHandle_v2:217",
                                        "cuIpcOpenMemHandle_v2:217:1", "cuIpcGetEventHandle:801",
                                        "cuIpcOpenEventHandle:1"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (me.rank == (int)i % 2)
            setenv("FAKE_CUDA_FAULT", calls[i], 1);
        by_host(strstr(calls[i], "Get") ? " with another process" : " of another process");
        unsetenv("FAKE_CUDA_FAULT");
    }
    unsetenv("FAKE_CUDA_SHARED");
    by_host("other process");
    all_stages(false);
}

static void do_machines(void)
{
    me.machine = me.rank;
    by_host("the ranks are on different machines");
}

/* Two machines: a slab in the middle has a neighbour on each. */
static void do_mixed(void)
{
    me.machine = me.rank / 2;
    set_up("hotspot", "clamp", 1, 2, 50);
    rounds();
    NEED(slabs->paths.direct == 1 && slabs->paths.by_host == 1);
    tear_down();
    run_kernels(add_rows, sizeof(arguments));
    check_stages(1, 2, false, (const int[]){1, 1, 1}, NOBODY, 1);
    check_stages(1, 2, true, (const int[]){2, 4, 4}, NOBODY, 1);
    run_kernels(NULL, 0);
}

static void do_fault(void)
{
    set_up("star2d1r", "clamp", 1, 2, 50);
    if (me.rank == 1)
        setenv("FAKE_CUDA_FAULT", "cuMemcpyDtoDAsync_v2:719", 1);
    rounds();
}

static void do_killed(void)
{
    set_up("star2d1r", "clamp", 1, 2, 50);
    rounds();
    if (me.rank == 1)
        raise(SIGKILL);
    rounds();
}

static const struct {
    const char *name;
    void (*call)(void);
} jobs[] = {{"direct", do_direct},   {"deepen", do_deepen},     {"stages", do_stages},
            {"refused", do_refused}, {"machines", do_machines}, {"mixed", do_mixed},
            {"fault", do_fault},     {"killed", do_killed}};

static int run_jobs(const char *names, int late_rank)
{
    const tz_ranks *ranks = NULL;
    if (open_driver() || tz_ranks_open(&ranks, &failure) != TZ_OK || !ranks ||
        open_plugins(NULL) != 0) {
        fprintf(stderr, "%s\n", seen ? failure.message : "the driver is no stand-in");
        return 1;
    }
    char delay[16];
    me = *ranks;
    late = me.rank == late_rank;
    snprintf(delay, sizeof delay, "%d", late ? LATE_US : 50);
    setenv("FAKE_CUDA_SHARED", delay, 1);
    setenv("FAKE_CUDA_DEVICES", "2", 1);
    setenv("TRAPEZE_CACHE", "", 1);
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        if (strstr(names, jobs[i].name))
            jobs[i].call();
    tz_ranks_close(ranks);
    close_plugins(NULL);
    return failures != 0;
}

/* ---- Start ranks ----------------------------------------------------------------------------- */

TEST(test_direct)
{
    check_ranks("2", "test_cuda_slabs", "direct deepen stages", "0", NULL);
    check_ranks("2", "test_cuda_slabs", "direct stages", "1", NULL);
    check_ranks("3", "test_cuda_slabs", "direct deepen stages", "1", NULL);
}

TEST(test_by_host)
{
    check_ranks("2", "test_cuda_slabs", "refused machines", "0", NULL);
    check_ranks("3", "test_cuda_slabs", "machines", "1", NULL);
    check_ranks("3", "test_cuda_slabs", "mixed", "1", NULL);
}

TEST(test_failures)
{
    check_ranks("2", "test_cuda_slabs", "fault", "0", "trapeze: rank 1 on ");
    check_ranks("2", "test_cuda_slabs", "killed", "0", ""); /* mpirun ends the others */
}

static int begin(void **state)
{
    allow_mpirun();
    setenv("FAKE_CUDA_DEVICES", "3", 1);
    setenv("TRAPEZE_CACHE", "", 1);
    return open_driver() || open_plugins(state);
}

static int run_named(int argc, char **argv)
{
    return run_jobs(argv[1], atoi(argv[2]));
}

TEST_GROUP_WITH(begin, close_plugins, run_named)
