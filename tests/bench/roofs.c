/* How good is the model roofs here?
 *
 *   roofs plans                      the plans that are measured, as CSV
 *   roofs warm [PROCESSES]           compiles all of them into the kernel cache
 *   roofs measure [CASE[:SIZE] ...]  runs them: CSV with GCells/s
 *   roofs errors FILE [-v]           the model's errors against such a file
 *
 * TZ_ROOFS_PLUGINS names the folder of plugins, TZ_ROOFS_DEVICE the device's record. `errors` needs
 * no GPU: kernels are compiled for the record's compute_capability where the cache has none. */
#include "model/roofs.h"
#include "cuda/work.h"
#include "sim/simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct bench_case {
    const char *stencil;
    int precision; /* tz_precision; -1: none */
    int64_t extents[3][TZ_AXES];
    const char *state, *fixed; /* fields */
} bench_case;

#define FLAT                                                                                       \
    {                                                                                              \
        {1024, 1024, 1}, {4096, 4096, 1},                                                          \
        {                                                                                          \
            16384, 16384, 1                                                                        \
        }                                                                                          \
    }
#define DEEP                                                                                       \
    {                                                                                              \
        {128, 128, 128}, {384, 384, 384},                                                          \
        {                                                                                          \
            768, 768, 768                                                                          \
        }                                                                                          \
    }
static const bench_case cases[] = {
    {"star2d1r", 0, FLAT, "u", NULL},
    {"star2d1r", 1, FLAT, "u", NULL},
    {"star2d2r", 0, FLAT, "u", NULL},
    {"star2d2r", 1, FLAT, "u", NULL},
    {"box2d1r", 0, FLAT, "u", NULL},
    {"box2d1r", 1, FLAT, "u", NULL},
    {"box2d2r", 0, FLAT, "u", NULL},
    {"box2d2r", 1, FLAT, "u", NULL}, /* held out: nothing in the model was looked at with it */
    {"hotspot", 0, FLAT, "temperature", "power"},
    {"poisson", 0, FLAT, "u", "f"},
    {"star3d1r", 0, DEEP, "u", NULL},
    {"star3d1r", 1, DEEP, "u", NULL},
    {"star3d2r", 0, DEEP, "u", NULL},
    {"box3d1r", 0, DEEP, "u", NULL},
    {"box3d1r", 1, DEEP, "u", NULL},
    {"life", -1, {{8192, 8192, 1}, {32768, 32768, 1}, {65536, 65536, 1}}, "alive", NULL},
    {"cell", -1, {{256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}}, "alive", NULL},
    {"pathfinder", -1, {{100000, 1, 1}, {1000000, 1, 1}, {10000000, 1, 1}}, "cost", NULL},
};
enum { CASES = sizeof cases / sizeof *cases, PLANS_MAX = 200, STREAMED = 100 };

static void stop(const char *what, const tz_error *error)
{
    fprintf(stderr, "roofs: %s: %s %s\n", what, error->place, error->message);
    exit(1);
}

/* ---- Problems ---------------------------------------------------------------------------------
 */

static const tz_stencil *stencil_of(const tz_registry *registry, const char *id)
{
    const tz_stencil *stencil;
    tz_error error = {0};
    if (tz_registry_find(registry, id, &stencil, NULL, &error))
        stop(id, &error);
    return stencil;
}

typedef struct setting {
    tz_simulation_config config;
    tz_assignment params[2];
    char label[32];
} setting;

static void make_setting(setting *s, const tz_registry *registry, const bench_case *c,
                         const int64_t *extent)
{
    const tz_stencil *stencil = stencil_of(registry, c->stencil);
    *s = (setting){.config = {.registry = registry,
                              .stencil = c->stencil,
                              .dims = stencil->dims,
                              .precision = c->precision,
                              .backend = "cuda"}};
    memcpy(s->config.extent, extent, sizeof s->config.extent);
    /* A chip that grows with its grid keeps the default step stable. */
    if (tz_stencil_param_index(stencil, "chip_width_m") >= 0) {
        s->params[0] = (tz_assignment){"chip_width_m", 0.256 * (double)extent[0] / 8192.0, NULL};
        s->params[1] = (tz_assignment){"chip_height_m", 0.256 * (double)extent[1] / 8192.0, NULL};
        s->config.params = s->params;
        s->config.params_count = 2;
    }
    snprintf(s->label, sizeof s->label, "%s%s", c->stencil, c->precision == 1 ? "-fp64" : "");
}

static int find_plans(const tz_problem *problem, const tz_model_device *device, tz_plan *plans)
{
    const tz_place place = {.device = device};
    const tz_plan given = {0};
    int count = 0;
    tz_error error = {0};
    if (tz_cuda_candidates(problem, &place, &given, plans, PLANS_MAX, &count, &error))
        stop("plans", &error);
    return count;
}

static void print_plan(const setting *s, const tz_plan *p, double rate)
{
    printf("%s,%d,%lld,%lld,%lld,%s,%d,%lld,%lld,%lld,%d,%d,%d,%d,%d,%d,%.6g\n", s->config.stencil,
           s->config.precision, (long long)s->config.extent[0], (long long)s->config.extent[1],
           (long long)s->config.extent[2], p->family, p->height, (long long)p->tile[0],
           (long long)p->tile[1], (long long)p->tile[2], p->vector, p->ahead, p->slack, p->warps,
           p->blocks, p->span, rate);
    fflush(stdout);
}

/* ---- Measuring ---------------------------------------------------------------------------------
 */

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool run_steps(tz_simulation *sim, int64_t steps, bool rewind, double *seconds)
{
    tz_run run = {.steps = steps, .until_residual = NAN};
    tz_run_result result;
    tz_error error = {0};
    if (rewind)
        tz_simulation_rewind(sim);
    if (tz_simulation_run(sim, &run, &result, &error)) {
        fprintf(stderr, "roofs: %s\n", error.message);
        return false;
    }
    *seconds = result.seconds;
    return true;
}

/* GCells/s, the median of five runs of some 8 ms; NAN: the plan does not run. */
static double measure_plan(tz_simulation *sim, const tz_plan *plan, bool streams)
{
    double seconds, rates[5];
    tz_error error = {0};
    if (tz_simulation_set_plan(sim, plan, &error)) {
        fprintf(stderr, "roofs: %s\n", error.message);
        return NAN;
    }
    int64_t steps = streams ? STREAMED : 2 * (int64_t)plan->height;
    if (!run_steps(sim, steps, streams, &seconds) || !run_steps(sim, steps, streams, &seconds))
        return NAN;
    if (!streams)
        steps = (int64_t)fmin(4000.0, ceil(0.008 / seconds * 2.0)) * plan->height;
    for (int k = 0; k < 5; k++) {
        if (!run_steps(sim, steps, streams, &seconds))
            return NAN;
        rates[k] = (double)steps * (double)tz_simulation_cells(sim) / seconds * 1e-9;
    }
    qsort(rates, 5, sizeof *rates, compare_doubles);
    return rates[2];
}

static void fill_fields(tz_simulation *sim, const bench_case *c, int32_t **rows)
{
    const tz_random random = {.seed = 1, .low = 0.0, .high = 1.0, .density = 0.4};
    const tz_random whole = {.seed = 1, .low = 0.0, .high = 9.0};
    const tz_stencil *stencil = tz_simulation_stencil(sim);
    tz_error error = {0};
    *rows = NULL;
    for (int f = 0; f < stencil->fields_count; f++) {
        const char *name = stencil->fields[f].name;
        tz_status status = TZ_OK;
        if (stencil->fields[f].role == TZ_STREAMED) {
            const int64_t count = tz_simulation_extent(sim)[0] * STREAMED;
            *rows = malloc((size_t)count * sizeof **rows);
            for (int64_t i = 0; *rows && i < count; i++)
                (*rows)[i] = (int32_t)((uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) >> 60);
            status = tz_simulation_stream_array(sim, f, *rows, STREAMED, &error);
        } else if (tz_simulation_cells(sim) <= INT64_C(1) << 24 && /* else zeros: as fast */
                   (strcmp(name, c->state) == 0 || (c->fixed && strcmp(name, c->fixed) == 0))) {
            status = tz_simulation_fill_random(
                sim, f, NULL, stencil->fields[f].type == TZ_INT ? &whole : &random, &error);
        }
        if (status)
            stop(name, &error);
    }
}

static void measure_case(const tz_registry *registry, const bench_case *c, const int64_t *extent,
                         const tz_model_device *device)
{
    setting s;
    tz_problem problem;
    tz_simulation *sim;
    tz_plan plans[PLANS_MAX];
    int32_t *rows;
    tz_error error = {0};
    make_setting(&s, registry, c, extent);
    if (tz_problem_resolve(&problem, stencil_of(registry, c->stencil), &s.config, &error) ||
        tz_simulation_create(&sim, &s.config, &error))
        stop(s.label, &error);
    const int count = find_plans(&problem, device, plans);
    fill_fields(sim, c, &rows);
    for (int k = 0; k < count; k++)
        print_plan(&s, &plans[k], measure_plan(sim, &plans[k], rows != NULL));
    tz_simulation_destroy(sim);
    tz_problem_clear(&problem);
    free(rows);
}

/* ---- Compiling all -----------------------------------------------------------------------------
 */

/* Every problem in turn; `each` gets its plans. */
static void each_problem(const tz_registry *registry, const tz_model_device *device,
                         void (*each)(const setting *, const tz_problem *, const tz_model_device *,
                                      const tz_plan *, int))
{
    for (int c = 0; c < CASES; c++)
        for (int e = 0; e < 3; e++) {
            setting s;
            tz_problem problem;
            tz_plan plans[PLANS_MAX];
            tz_error error = {0};
            make_setting(&s, registry, &cases[c], cases[c].extents[e]);
            if (tz_problem_resolve(&problem, stencil_of(registry, cases[c].stencil), &s.config,
                                   &error))
                stop(s.label, &error);
            const int count = find_plans(&problem, device, plans);
            each(&s, &problem, device, plans, count);
            tz_problem_clear(&problem);
        }
}

static void show_plans(const setting *s, const tz_problem *problem, const tz_model_device *device,
                       const tz_plan *plans, int count)
{
    (void)problem;
    (void)device;
    for (int k = 0; k < count; k++)
        print_plan(s, &plans[k], NAN);
}

static int worker, workers = 16, turn;

static void warm_plans(const setting *s, const tz_problem *problem, const tz_model_device *device,
                       const tz_plan *plans, int count)
{
    const tz_place place = {.device = device};
    for (int k = 0; k < count; k++) {
        tz_model_work work;
        tz_error error = {0};
        if (turn++ % workers != worker)
            continue;
        if (tz_cuda_work(problem, &place, &plans[k], TZ_EFFORT_COMPILE, &work, &error))
            fprintf(stderr, "roofs: %s %s h %d: %s\n", s->label, plans[k].family, plans[k].height,
                    error.message);
    }
}

static void warm(const tz_registry *registry, const tz_model_device *device)
{
    for (worker = 0; worker < workers; worker++)
        if (fork() == 0) {
            each_problem(registry, device, warm_plans);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
}

/* ---- Errors ------------------------------------------------------------------------------------
 */

typedef struct row {
    char stencil[32], family[16];
    int precision;
    int64_t extent[TZ_AXES];
    tz_plan plan;
    double measured, predicted; /* GCells/s */
    bool held_out;
} row;

static bool read_row(FILE *file, row *r)
{
    long long n[3], t[3];
    char line[512];
    memset(r, 0, sizeof *r);
    if (!fgets(line, sizeof line, file))
        return false;
    if (sscanf(line, "%31[^,],%d,%lld,%lld,%lld,%15[^,],%d,%lld,%lld,%lld,%d,%d,%d,%d,%d,%d,%lf",
               r->stencil, &r->precision, &n[0], &n[1], &n[2], r->family, &r->plan.height, &t[0],
               &t[1], &t[2], &r->plan.vector, &r->plan.ahead, &r->plan.slack, &r->plan.warps,
               &r->plan.blocks, &r->plan.span, &r->measured) != 17)
        r->stencil[0] = '\0';
    for (int d = 0; d < TZ_AXES; d++) {
        r->extent[d] = n[d];
        r->plan.tile[d] = t[d];
    }
    strcpy(r->plan.family, r->family);
    r->held_out = strcmp(r->stencil, "box2d2r") == 0 && r->precision == 1;
    return true;
}

static void predict_row(const tz_registry *registry, const tz_model_device *device, row *r,
                        bool verbose)
{
    const bench_case c = {.stencil = r->stencil, .precision = r->precision};
    const tz_place place = {.device = device};
    setting s;
    tz_problem problem;
    tz_model_work *work = malloc(sizeof *work);
    tz_model_prediction *p = malloc(sizeof *p);
    tz_error error = {0};
    tz_model_error why = {0};
    r->predicted = NAN;
    make_setting(&s, registry, &c, r->extent);
    if (!work || !p ||
        tz_problem_resolve(&problem, stencil_of(registry, r->stencil), &s.config, &error))
        stop(s.label, &error);
    r->plan.processors = (int)device->sm_count.value;
    if (tz_cuda_work(&problem, &place, &r->plan, TZ_EFFORT_COMPILE, work, &error))
        fprintf(stderr, "roofs: %s: %s\n", s.label, error.message);
    else if (memset(p, 0, sizeof *p), tz_roofs_predict(work, device, p, &why))
        fprintf(stderr, "roofs: %s: %s\n", s.label, why.message);
    else
        r->predicted = p->cells_per_s * 1e-9;
    if (verbose) {
        printf("%-9s %d %5lld %-8s h %2d v %d w %2d %4d blk %7.0f | %9.1f %9.1f %+6.1f %% |",
               r->stencil, r->precision, (long long)r->extent[0], r->family, r->plan.height,
               r->plan.vector, r->plan.warps, work->registers, work->blocks, r->measured,
               r->predicted, 100.0 * (r->measured / r->predicted - 1.0));
        for (int k = 0; k < p->detail_count; k++)
            printf(" %s %.3g", p->details[k].name,
                   p->details[k].value *
                       (strcmp(p->details[k].unit, "s") == 0 ? 1e6 * r->plan.height : 1.0));
        double instructions = 0.0;
        for (int k = 0; k < work->parts_count; k++)
            instructions += work->parts[k].warps *
                            (work->parts[k].steps * tz_work_mix_sum(&work->parts[k].step) +
                             tz_work_mix_sum(&work->parts[k].once));
        printf(" instructions %.5g", instructions);
        printf(" us %.4g sync %.3g red %.3f | %s\n", p->stage_s * 1e6,
               p->component_count > 4 ? p->components[4].seconds * 1e6 * r->plan.height : 0.0,
               work->redundancy, p->limit_text);
    }
    tz_problem_clear(&problem);
    free(work);
    free(p);
}

static bool same_case(const row *a, const row *b)
{
    return strcmp(a->stencil, b->stencil) == 0 && a->precision == b->precision &&
           memcmp(a->extent, b->extent, sizeof a->extent) == 0;
}

static void print_errors(const char *what, const row *rows, int count, int held_out,
                         const char *family)
{
    double *errors = malloc(((size_t)count + 1) * sizeof *errors);
    int n = 0;
    for (int k = 0; errors && k < count; k++)
        if (isfinite(rows[k].predicted) && rows[k].measured > 0.0 &&
            rows[k].held_out == (held_out > 0) && (!family || !strcmp(rows[k].family, family)))
            errors[n++] = fabs(rows[k].predicted / rows[k].measured - 1.0);
    if (n > 0) {
        qsort(errors, (size_t)n, sizeof *errors, compare_doubles);
        printf("%-24s %4d plans: error median %5.1f %%, 90th percentile %5.1f %%\n", what, n,
               100.0 * errors[n / 2], 100.0 * errors[(int)(0.9 * (n - 1))]);
    }
    free(errors);
}

static void print_choices(const row *rows, int count)
{
    double shares[3 * CASES];
    int n = 0;
    for (int k = 0; k < count; k++) {
        int predicted = -1, best = -1;
        bool first = true;
        for (int j = 0; j < count; j++) {
            if (!same_case(&rows[j], &rows[k]))
                continue;
            first = first && j >= k;
            if (!(rows[j].measured > 0.0))
                continue;
            if (best < 0 || rows[j].measured > rows[best].measured)
                best = j;
            if (isfinite(rows[j].predicted) &&
                (predicted < 0 || rows[j].predicted > rows[predicted].predicted))
                predicted = j;
        }
        if (!first || predicted < 0 || n == 3 * CASES)
            continue;
        const row *p = &rows[predicted], *b = &rows[best];
        shares[n++] = p->measured / b->measured;
        printf("%-9s %2d %7lld: chosen %-8s h %2d v %2d w %2d %9.1f (predicted %9.1f), best %-8s h "
               "%2d v "
               "%2d w %2d %9.1f: %.3f%s\n",
               p->stencil, p->precision, (long long)p->extent[0], p->family, p->plan.height,
               p->plan.vector, p->plan.warps, p->measured, p->predicted, b->family, b->plan.height,
               b->plan.vector, b->plan.warps, b->measured, shares[n - 1],
               p->held_out ? " held out" : "");
    }
    if (n == 0)
        return;
    qsort(shares, (size_t)n, sizeof *shares, compare_doubles);
    printf("share of the best: worst %.3f, median %.3f of %d cases\n", shares[0], shares[n / 2], n);
}

static void errors_of(const tz_registry *registry, const tz_model_device *device, const char *path,
                      bool verbose)
{
    enum { ROWS_MAX = 8192 };
    row *rows = calloc(ROWS_MAX, sizeof *rows);
    FILE *file = fopen(path, "r");
    int count = 0;
    if (!file || !rows) {
        fprintf(stderr, "roofs: cannot read %s\n", path);
        exit(1);
    }
    while (count < ROWS_MAX && read_row(file, &rows[count]))
        if (rows[count].stencil[0])
            predict_row(registry, device, &rows[count++], verbose);
    fclose(file);
    print_choices(rows, count);
    print_errors("all", rows, count, 0, NULL);
    print_errors("stream", rows, count, 0, "stream");
    print_errors("tile", rows, count, 0, "tile");
    print_errors("resident", rows, count, 0, "resident");
    print_errors("held out: box2d2r fp64", rows, count, 1, NULL);
    free(rows);
}

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "";
    const char *folder = getenv("TZ_ROOFS_PLUGINS"), *record = getenv("TZ_ROOFS_DEVICE");
    tz_registry *registry;
    tz_model_device device;
    tz_error error = {0};
    tz_model_error why = {0};
    if (!folder || !record || !*what) {
        fprintf(stderr, "usage: TZ_ROOFS_PLUGINS=FOLDER TZ_ROOFS_DEVICE=RECORD roofs plans | warm "
                        "[PROCESSES] | measure [CASE[:SIZE] ...] | errors FILE [-v]\n");
        return 2;
    }
    if (tz_registry_create(&registry, &folder, 1, &error))
        stop(folder, &error);
    if (tz_model_device_read(record, &device, &why)) {
        fprintf(stderr, "roofs: %s %s\n", why.place, why.message);
        return 1;
    }
    if (strcmp(what, "plans") == 0)
        each_problem(registry, &device, show_plans);
    else if (strcmp(what, "warm") == 0) {
        if (count > 2 && atoi(arguments[2]) > 0)
            workers = atoi(arguments[2]);
        warm(registry, &device);
    } else if (strcmp(what, "measure") == 0) {
        for (int c = 0; c < CASES; c++)
            for (int e = 0; e < 3; e++) {
                char label[48];
                bool wanted = count == 2;
                snprintf(label, sizeof label, "%s%s:%d", cases[c].stencil,
                         cases[c].precision == 1 ? "-fp64" : "", e);
                for (int k = 2; k < count; k++)
                    wanted = wanted || strncmp(arguments[k], label, strlen(arguments[k])) == 0;
                if (wanted)
                    measure_case(registry, &cases[c], cases[c].extents[e], &device);
            }
    } else if (strcmp(what, "errors") == 0 && count > 2) {
        errors_of(registry, &device, arguments[2], count > 3);
    }
    tz_registry_destroy(registry);
    return 0;
}
