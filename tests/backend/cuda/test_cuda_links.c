/* Slabs of several processes on GPUs exchange their ghost zones: from each other's device memory
 * where the driver allows that, else through the host. Tests start this program again under mpirun,
 * with the name of what the ranks do. The driver is a stand-in (fake/fake.h); one of the ranks is
 * late with all that it does on its devices, so that a missing event shows. */
#include "base/paths.h"
#include "base/process.h"
#include "base/ranks.h"
#include "tests/registry.h"
#include <limits.h>
#include <signal.h>

enum { LATE_US = 20000 };

static tz_ranks me; /* a copy */
static int failures;
static bool late; /* this rank */

#define NEED(condition)                                                                            \
    do                                                                                             \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "rank %d: line %d: %s (%s)\n", me.rank, __LINE__, #condition,          \
                    failure.message);                                                              \
            failures++;                                                                            \
        }                                                                                          \
    while (0)
#define NEED_OK(call) NEED((call) == TZ_OK)

#include "slabs_support.h"

/* `each` slabs on each rank, on two GPUs. */
static void set_up_rows(const char *id, const char *boundary, int each, int rows)
{
    devices = (tz_devices){.count = each * me.count, .rank = me.rank};
    for (int i = 0; i < devices.count; i++) {
        devices.of[i].share = 1.0;
        devices.of[i].rank = i / each;
        devices.of[i].device = i % 2;
    }
    make_slabs(id, boundary, rows, &me);
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

static void rounds(void)
{
    for (int round = 1; round <= 4; round++) {
        fill(2 * round, false);
        NEED_OK(tz__slabs_exchange(slabs, tz__slabs_fields(slabs, TZ_STATE), DEPTH - round / 2,
                                   &failure));
        if (late)
            usleep(LATE_US / 4);
        fill(2 * round + 1, false); /* must wait for the copies of others */
        check(2 * round + 1, 2 * round, DEPTH - round / 2, 0, false);
    }
}

/* ---- What ranks do --------------------------------------------------------------------------- */

static int cuts_of_ranks(bool ring)
{
    return me.count == 1 ? 0 : ring ? me.count : me.count - 1;
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
    fill(1, false);
    NEED_OK(backend.plan(&problem, &place, &plan, &failure));
    NEED_OK(stage(&plan, 2, 0)); /* the fields are in their other copies */
    rounds();
    fill(10, false);
    NEED_OK(tz__slabs_deepen(slabs, 7, &failure));
    NEED(slabs->paths.direct == me.count - 1);
    NEED_OK(tz__slabs_exchange(slabs, tz__slabs_fields(slabs, TZ_STATE), 7, &failure));
    check(10, 10, 7, 7, false);
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
    const tz__slabs_call load = {.box = all, .to = me.rank == 0 ? got : NULL};
    NEED_OK(tz__slabs_do_load(slabs, &load, &failure));
    for (int k = 0; me.rank == 0 && k < ROWS * WIDE; k++)
        wrong += got[k] != want[now][k];
    NEED(wrong == 0);
    NEED(slabs->paths.direct == direct);
    NEED(slabs->paths.by_host == cuts_of_ranks(ring) - direct);
    NEED(early || me.rank == me.count - 1);
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
    if (me.rank == 1)
        setenv("FAKE_CUDA_FAULT", "cuMemcpyDtoDAsync_v2:719", 1);
    rounds();
}

static void do_killed(void)
{
    set_up("star2d1r", "clamp", 1);
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
