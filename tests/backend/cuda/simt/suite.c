/* Runs groups of cases in processes on all cores, and prints a table. */
#include "cases.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SHOWN = 6, ROWS_MAX = 64, LINE_BYTES = 8192 };
enum { WAITING, RUNNING, DONE };

/* The result of a group; its worker writes it. */
typedef struct result {
    int state;
    pid_t worker;
    int same, refused, wrong; /* grids */
    int differ;               /* of the wrong ones: cells differ */
    int stages, texts;
    long long races, findings; /* findings: others */
    double seconds;
} result;

/* Shared memory of the processes. */
typedef struct board {
    atomic_int next;
    result results[];
} board;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- A group --------------------------------------------------------------------------------- */

static void name_group(char *text, size_t size, const simt_group *g)
{
    char boundary[128] = "", knobs[96] = "";
    const tz_plan *plan = &g->k.plan;
    if (plan->height != 0)
        simt_append(knobs, sizeof knobs, " height %d", plan->height);
    if (plan->tile[0] != 0)
        simt_append(knobs, sizeof knobs, " tile %" PRId64, plan->tile[0]);
    for (int d = 0; d < g->k.stencil->dims; d++) {
        simt_append(boundary, sizeof boundary, "%s", d > 0 ? "," : "");
        simt_append_boundary(boundary, sizeof boundary, g->k.boundary[d]);
    }
    for (int i = 0; i < TZ_PLAN_KNOBS_COUNT; i++)
        if (tz_plan_get(plan, i) != 0)
            simt_append(knobs, sizeof knobs, " %s %d", tz_plan_knobs[i].name, tz_plan_get(plan, i));
    simt_append(text, size, "%-8s %-11s %s%s%s", plan->family, g->k.stencil->id, boundary,
                g->k.precision == TZ_DOUBLE ? " double" : "", knobs);
}

static void count_outcome(result *r, const simt_outcome *o)
{
    const long long races = o->report.count[SIMT_FOUND_RACE];
    r->same += o->verdict == SIMT_SAME;
    r->refused += o->verdict == SIMT_REFUSED;
    r->wrong += o->verdict == SIMT_DIFFERENT || o->verdict == SIMT_FAILED;
    r->differ += o->differences > 0;
    r->stages += o->stages;
    r->races += races;
    r->findings += simt_report_total(&o->report) - races;
}

static void run_group(const simt_group *g, simt_build *build, simt *machine, result *r)
{
    static simt_outcome outcome;
    static char head[LINE_BYTES], details[LINE_BYTES];
    const double start = now_s();
    const int texts = simt_build_count(build);
    head[0] = details[0] = '\0';
    for (int i = 0; i < g->grids; i++) {
        simt_case k = g->k;
        char text[512];
        memcpy(k.extent, g->extent[i], sizeof k.extent);
        simt_compare(&k, build, machine, SHOWN, &outcome);
        count_outcome(r, &outcome);
        if (outcome.verdict == SIMT_DIFFERENT || outcome.verdict == SIMT_FAILED)
            simt_append(details, sizeof details, "  test_simt %s\n%s",
                        simt_case_text(&k, &outcome.plan, text, sizeof text), outcome.message);
    }
    r->seconds = now_s() - start;
    r->texts = simt_build_count(build) - texts;
    name_group(head, sizeof head, g);
    simt_append(head, sizeof head, ": %d grids, %d stages%s (%.2f s)\n", r->same + r->wrong,
                r->stages,
                r->wrong > 0      ? ", FAILED"
                : r->refused == 0 ? ", same"
                : r->same > 0     ? ", same; another grid is not possible"
                                  : ", no grid is possible",
                r->seconds);
    simt_append(head, sizeof head, "%s", details);
    /* One write: workers share the output. */
    if (write(STDOUT_FILENO, head, strlen(head)) < 0)
        return;
}

/* ---- Workers --------------------------------------------------------------------------------- */

static void work(const simt_groups *groups, board *b)
{
    simt_build *build = NULL;
    simt *machine = simt_create();
    tz_error error = {0};
    if (!machine || simt_build_create(&build, NULL, &error)) {
        fprintf(stderr, "test_simt: %s\n", machine ? error.message : "not enough memory");
        _exit(1);
    }
    for (int i; (i = atomic_fetch_add(&b->next, 1)) < groups->count;) {
        b->results[i].worker = getpid();
        b->results[i].state = RUNNING;
        run_group(&groups->at[i], build, machine, &b->results[i]);
        b->results[i].state = DONE;
    }
    simt_build_destroy(build);
    simt_destroy(machine);
    _exit(0);
}

static bool start_worker(const simt_groups *groups, board *b)
{
    fflush(stdout);
    fflush(stderr);
    const pid_t child = fork();
    if (child == 0)
        work(groups, b);
    if (child < 0)
        perror("test_simt: fork");
    return child > 0;
}

/* A worker died: its group has failed. */
static void bury_worker(const simt_groups *groups, board *b, pid_t worker, int status)
{
    static char text[LINE_BYTES];
    text[0] = '\0';
    for (int i = 0; i < groups->count; i++) {
        result *r = &b->results[i];
        if (r->state != RUNNING || r->worker != worker)
            continue;
        r->state = DONE;
        r->wrong++;
        name_group(text, sizeof text, &groups->at[i]);
        simt_append(text, sizeof text, ": FAILED: ended by %s %d\n",
                    WIFSIGNALED(status) ? "signal" : "exit",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        fputs(text, stdout);
    }
}

static void run_workers(const simt_groups *groups, board *b, int workers)
{
    int alive = 0, status, broken = 0;
    while (alive < workers && start_worker(groups, b))
        alive++;
    while (alive > 0) {
        const pid_t worker = wait(&status);
        if (worker < 0 && errno != EINTR)
            return;
        if (worker < 0)
            continue;
        alive--;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            continue;
        bury_worker(groups, b, worker, status);
        if (++broken < 100 && atomic_load(&b->next) < groups->count)
            alive += start_worker(groups, b);
    }
}

/* ---- The table ------------------------------------------------------------------------------- */

typedef struct row {
    const char *family;
    int dims, groups, grids, refused, wrong, differ, stages, texts;
    long long races, findings;
    double seconds;
} row;

static void add_up(row *to, const result *r)
{
    to->groups++;
    to->grids += r->same + r->wrong;
    to->refused += r->refused;
    to->wrong += r->wrong;
    to->differ += r->differ;
    to->stages += r->stages;
    to->texts += r->texts;
    to->races += r->races;
    to->findings += r->findings;
    to->seconds += r->seconds;
}

static void print_row(const row *r)
{
    char dims[16] = "";
    if (r->dims > 0)
        snprintf(dims, sizeof dims, "%d-D", r->dims);
    printf("%-9s %-4s %6d %6d %7d %12d %6d %10d %7lld %9lld %6d %8.1f\n", r->family, dims,
           r->groups, r->grids, r->stages, r->refused, r->wrong, r->differ, r->races, r->findings,
           r->texts, r->seconds);
}

static int print_table(const simt_groups *groups, const board *b)
{
    row rows[ROWS_MAX] = {{0}}, all = {.family = "all"};
    int lost = 0;
    for (int i = 0; i < groups->count; i++) {
        const simt_group *g = &groups->at[i];
        row *r = &rows[g->row % ROWS_MAX];
        r->family = g->k.plan.family;
        r->dims = g->k.stencil->dims;
        add_up(r, &b->results[i]);
        add_up(&all, &b->results[i]);
        lost += b->results[i].state != DONE;
    }
    printf("\n%-9s %-4s %6s %6s %7s %12s %6s %10s %7s %9s %6s %8s\n", "family", "", "cases",
           "grids", "stages", "not possible", "failed", "different", "races", "findings", "texts",
           "seconds");
    for (int i = 0; i < ROWS_MAX; i++)
        if (rows[i].family)
            print_row(&rows[i]);
    print_row(&all);
    fputs(groups->none, stdout);
    if (lost > 0)
        printf("%d cases were not run\n", lost);
    if (all.grids == 0)
        printf("nothing compared: no grid was possible\n");
    return all.wrong + lost + (all.grids == 0);
}

int simt_suite_run(const simt_groups *groups, int workers)
{
    const size_t bytes = sizeof(board) + (size_t)groups->count * sizeof(result);
    board *b = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (b == MAP_FAILED) {
        perror("test_simt: mmap");
        return 1;
    }
    run_workers(groups, b, workers);
    const int wrong = print_table(groups, b);
    munmap(b, bytes);
    return wrong;
}
