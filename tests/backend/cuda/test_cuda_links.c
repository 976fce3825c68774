/* Slabs of several processes on GPUs exchange their ghost zones: from each other's device memory where
 * the driver allows that, else through the host. Tests start this program again under mpirun, with the
 * name of what the ranks do. The driver is a stand-in (fake/fake.h); one of the ranks is late with all
 * that it does on its devices, so that a missing event shows. */
#include "backend/cuda/state.h"
#include "backend/slabs/commands.h"
#include "backend/slabs/slabs.h"
#include "base/paths.h"
#include "base/process.h"
#include "fake/fake.h"
#include "rows_kernel.h"
#include "tests/registry.h"
#include <dlfcn.h>
#include <limits.h>
#include <signal.h>

enum { DEPTH = 4, CELLS_MAX = 9 * 5 * 50, LATE_US = 20000 };

static const fake_cuda_seen *seen;
static fake_cuda_runs *run_kernels;
static tz_ranks here; /* a copy */
static tz_problem problem;
static tz_devices devices;
static tz_backend backend;
static tz__slabs *slabs;
static int failures;
static bool late; /* this rank */

#define NEED(condition)                                                                            \
    do                                                                                             \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "rank %d: line %d: %s (%s)\n", here.rank, __LINE__, #condition,        \
                    failure.message);                                                              \
            failures++;                                                                            \
        }                                                                                          \
    while (0)
#define NEED_OK(call) NEED((call) == TZ_OK)

/* `each` slabs on each rank, on two GPUs. */
static void set_up_rows(const char *id, const char *boundary, int each, int rows)
{
    const tz_stencil *stencil;
    const tz_plugin *plugin;
    NEED_OK(tz_registry_find(registry, id, &stencil, &plugin, &failure));
    const tz_simulation_config config = {
        .dims = stencil->dims,
        .precision = tz_stencil_has_real(stencil) ? TZ_SINGLE : -1,
        .extent = {9, stencil->dims == 3 ? 5 : rows, stencil->dims == 3 ? rows : 1},
        .boundary = {boundary, boundary, stencil->dims == 3 ? boundary : NULL}};
    NEED_OK(tz_problem_resolve(&problem, stencil, &config, &failure));
    devices = (tz_devices){.count = each * here.count, .rank = here.rank};
    for (int i = 0; i < devices.count; i++) {
        devices.of[i].share = 1.0;
        devices.of[i].rank = i / each;
        devices.of[i].device = i % 2;
    }
    NEED_OK(tz_slabs_backend(&tz_backend_cuda, &backend, &failure));
    const tz_backend_context context = {
        .problem = &problem, .devices = &devices, .exchange = DEPTH, .ranks = &here};
    slabs = calloc(1, sizeof *slabs);
    NEED_OK(tz__slabs_do_create(slabs, &tz_backend_cuda, &context, &failure));
}

/* What all ranks do at the command of rank 0. */
static tz_status stage(const tz_plan *plan, int height, int64_t step)
{
    const tz__slabs_call call = {.plan = *plan, .iterations = height, .at = step};
    return tz__slabs_do_stage(slabs, &call, &failure);
}

static void set_up(const char *id, const char *boundary, int each)
{
    set_up_rows(id, boundary, each, 50);
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

/* Numbers in the own cells. */
static void fill(int round)
{
    static uint32_t cells[CELLS_MAX];
    for (int i = slabs->low; i < slabs->high; i++) {
        const tz_problem *part = &slabs->parts[i]->problem;
        const int64_t n = part->elements[part->dims - 1], slice = tz_problem_elements(part) / n;
        const int64_t first = part->slab.low, last = part->slab.high;
        const tz_box box = slices_of(part, first, last);
        for (int f = 0; f < part->stencil->fields_count; f++) {
            for (int64_t k = 0; k < (last - first) * slice; k++)
                cells[k] =
                    number(round, f, tz_problem_coordinate(part, first + k / slice), k % slice);
            NEED_OK(slabs->inner->store(slabs->parts[i]->state, f, &box, cells, &failure));
        }
    }
}

/* Own cells have the numbers of one round, ghost zones of `exchange` iterations those of another:
 * only static fields have one of `once` iterations. */
static void check(int round, int ghosts, int exchange, int once)
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
                const uint32_t want =
                    number(own ? round : ghosts, f, tz_problem_coordinate(part, at), k % slice);
                if (at >= low && at < high && cells[k] != want && wrong++ == 0)
                    fprintf(stderr,
                            "rank %d, round %d, slab %d, field %d, slice %lld: %u, not %u\n",
                            here.rank, round, i, f, (long long)at, cells[k], want);
            }
        }
        NEED(wrong == 0);
    }
}

static void rounds(void)
{
    for (int round = 1; round <= 4; round++) {
        fill(2 * round);
        NEED_OK(tz__slabs_exchange(slabs, tz__slabs_fields(slabs, TZ_STATE), DEPTH - round / 2,
                                   &failure));
        if (late)
            usleep(LATE_US / 4);
        fill(2 * round + 1); /* must wait for the copies of others */
        check(2 * round + 1, 2 * round, DEPTH - round / 2, 0);
    }
}

/* ---- What ranks do --------------------------------------------------------------------------- */

static int cuts_of_ranks(bool ring)
{
    return here.count == 1 ? 0 : ring ? here.count : here.count - 1;
}

static void do_direct(void)
{
    static const char *const stencils[] = {"star2d1r", "hotspot", "star3d2r", "life"};
    for (size_t s = 0; s < sizeof stencils / sizeof *stencils; s++)
        for (int ring = 0; ring < 2; ring++)
            for (int each = 1; each <= 2; each++) {
                if (each == 2 && s != 2)
                    continue;
                set_up(stencils[s], ring && s != 1 ? "periodic" : s == 3 ? "fixed" : "clamp", each);
                rounds();
                NEED(slabs->paths.direct == cuts_of_ranks(ring && s != 1));
                NEED(slabs->paths.by_host == 0 && !slabs->paths.why[0]);
                NEED(seen->opened > 0);
                tear_down();
            }
}

/* Fields of other copies than at first; and states that replace others. */
static void do_deepen(void)
{
    set_up("hotspot", "clamp", 1);
    tz_plan plan = {.height = 2, .exchange = DEPTH};
    const tz_place place = {.threads = 1, .devices = &devices};
    fill(1);
    NEED_OK(backend.plan(&problem, &place, &plan, &failure));
    NEED_OK(stage(&plan, 2, 0)); /* the fields are in their other copies */
    rounds();
    fill(10);
    NEED_OK(tz__slabs_deepen(slabs, 7, &failure));
    NEED(slabs->paths.direct == here.count - 1);
    NEED_OK(tz__slabs_exchange(slabs, tz__slabs_fields(slabs, TZ_STATE), 7, &failure));
    check(10, 10, 7, 7);
    tear_down();
}

/* Stages of a height with an exchange after several; cells are stored in between. */
static void check_stages(bool ring, int each, int height, int exchange, int direct)
{
    static uint32_t want[2][ROWS * WIDE], got[ROWS * WIDE];
    const tz_box all = {{0, 0, 0}, {WIDE, ROWS, 1}};
    const tz_place place = {.threads = 1, .devices = &devices};
    tz_plan plan = {.height = height, .exchange = exchange};
    bool early = false;
    int now = 0, wrong = 0;
    set_up_rows("star2d1r", ring ? "periodic" : "clamp", each, ROWS);
    strcpy(plan.family, "stream");
    NEED_OK(backend.plan(&problem, &place, &plan, &failure));
    for (int i = 0; i < 4 * exchange / height; i++) {
        if (i == 0 || i == 2 * exchange / height + 1) {
            for (int k = 0; k < ROWS * WIDE; k++)
                want[now][k] = (uint32_t)(17 * k + i);
            const tz__slabs_call store = {.box = all, .from = want[now]};
            NEED_OK(tz__slabs_do_store(slabs, &store, &failure));
        }
        NEED_OK(stage(&plan, height, (int64_t)i * height));
        early |= ((const tz_cuda_state *)slabs->parts[slabs->low]->state)->early[1] > 0;
        if (late && i % 2)
            usleep(LATE_US / 4);
        for (int t = 0; t < height; t++, now = 1 - now)
            iterate_all(want[now], want[1 - now], ring);
    }
    const tz__slabs_call load = {.box = all, .to = here.rank == 0 ? got : NULL};
    NEED_OK(tz__slabs_do_load(slabs, &load, &failure));
    for (int k = 0; here.rank == 0 && k < ROWS * WIDE; k++)
        wrong += got[k] != want[now][k];
    NEED(wrong == 0);
    NEED(slabs->paths.direct == direct);
    NEED(slabs->paths.by_host == cuts_of_ranks(ring) - direct);
    NEED(early || here.rank == here.count - 1);
    tear_down();
}

static void all_stages(bool direct)
{
    static const int plans[][2] = {{1, 1}, {1, 3}, {2, 4}, {3, 6}};
    run_kernels(add_rows, sizeof(arguments));
    for (size_t p = 0; p < sizeof plans / sizeof *plans; p++)
        check_stages(p % 2, 1 + (int)p / 2, plans[p][0], plans[p][1],
                     direct ? cuts_of_ranks(p % 2) : 0);
    run_kernels(NULL, 0);
}

static void do_stages(void)
{
    all_stages(true);
}

static void by_host(const char *why)
{
    set_up("star2d1r", "periodic", 1);
    rounds();
    NEED(slabs->paths.by_host == cuts_of_ranks(true) && slabs->paths.direct == 0);
    NEED(strstr(slabs->paths.why, why));
    if (!strstr(slabs->paths.why, why))
        fprintf(stderr, "why: %s\n", slabs->paths.why);
    tear_down();
}

/* The driver of one rank refuses; both sides take the host then. */
static void do_refused(void)
{
    static const char *const calls[] = {"cuIpcGetMemHandle:801", "cuIpcOpenMemHandle_v2:217",
                                        "cuIpcOpenMemHandle_v2:217:1", "cuIpcGetEventHandle:801",
                                        "cuIpcOpenEventHandle:1"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (here.rank == (int)i % 2)
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
    here.machine = here.rank;
    by_host("the ranks are on different machines");
}

/* Two machines: a slab in the middle has a neighbour on each. */
static void do_mixed(void)
{
    here.machine = here.rank / 2;
    set_up("hotspot", "clamp", 1);
    rounds();
    NEED(slabs->paths.direct == 1 && slabs->paths.by_host == 1);
    tear_down();
    run_kernels(add_rows, sizeof(arguments));
    check_stages(false, 1, 1, 1, 1);
    check_stages(true, 1, 2, 4, 1);
    run_kernels(NULL, 0);
}

static void do_fault(void)
{
    set_up("star2d1r", "clamp", 1);
    if (here.rank == 1)
        setenv("FAKE_CUDA_FAULT", "cuMemcpyDtoDAsync_v2:719", 1);
    rounds();
}

static void do_killed(void)
{
    set_up("star2d1r", "clamp", 1);
    rounds();
    if (here.rank == 1)
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
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    fake_cuda_look *look = library ? (fake_cuda_look *)dlsym(library, "fake_cuda") : NULL;
    run_kernels = library ? (fake_cuda_runs *)dlsym(library, "fake_cuda_run") : NULL;
    if (!look || !run_kernels || tz_ranks_open(&ranks, &failure) != TZ_OK || !ranks ||
        open_plugins(NULL) != 0) {
        fprintf(stderr, "%s\n", look ? failure.message : "the driver is no stand-in");
        return 1;
    }
    char delay[16];
    here = *ranks;
    late = here.rank == late_rank;
    seen = look();
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

/* ---- The tests ------------------------------------------------------------------------------- */

static char self[PATH_MAX];

/* Start ranks of this program; what they print. */
static char *start(const char *count, const char *names, const char *late_rank, int *code)
{
    char mpirun[PATH_MAX], text[1024], *output = NULL;
    if (!tz_program_find("mpirun", mpirun))
        skip_test("no mpirun");
    if (!tz_ranks_describe(text, sizeof text))
        skip_test("built without MPI");
    const char *const words[] = {"mpirun",          "-n",  count,     self,
                                 "test_cuda_links", names, late_rank, NULL};
    const tz_process process = {.program = mpirun, .arguments = words, .limit_s = 120};
    assert_ok(tz_process_run(&process, &output, code, &failure));
    return output;
}

static void check_good(const char *count, const char *names, const char *late_rank)
{
    int code;
    char *output = start(count, names, late_rank, &code);
    if (code != 0)
        fail_msg("%s ranks, %s, rank %s late: exit code %d: %s", count, names, late_rank, code,
                 output);
    free(output);
}

static void check_bad(const char *names, const char *line)
{
    int code;
    char *output = start("2", names, "0", &code);
    if (code == 0 || !strstr(output, line))
        fail_msg("%s: exit code %d: %s", names, code, output);
    free(output);
}

static void test_direct(void **state)
{
    check_good("2", "direct deepen stages", "0");
    check_good("2", "direct stages", "1");
    check_good("3", "direct deepen stages", "1");
}

static void test_by_host(void **state)
{
    check_good("2", "refused machines", "0");
    check_good("3", "machines", "1");
    check_good("3", "mixed", "1");
}

static void test_failures(void **state)
{
    check_bad("fault", "trapeze: rank 1 on ");
    check_bad("killed", ""); /* mpirun ends the others */
}

static int run(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(test_direct), TEST(test_by_host), TEST(test_failures)};
    if (argc > 2)
        return run_jobs(argv[1], atoi(argv[2]));
    if (!realpath("/proc/self/exe", self))
        return 1;
    /* More ranks than cores, as root, in a container; leaks of MPI are no matter here. */
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
    setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
TEST_FILE(run)
