/* How well does the model predict plans of the cpu backend? One command measures every candidate of
 * many stencils, precisions and grids into a table, one predicts them anew, one says how well they
 * agree:
 *
 *   validate_cpu measure DEVICE.txt OUT.csv [SECONDS [CASE…]]  the least time of several rounds
 *   validate_cpu predict DEVICE.txt IN.csv OUT.csv             the same plans, predicted anew
 *   validate_cpu report IN.csv                                 errors and shares of the best
 *
 * A CASE is a size (small, medium, large) or STENCIL[:PRECISION[:SIZE]]. THREADS=N sets the
 * threads. Run it on a machine that does nothing else. */
#include "base/machine.h"
#include "model/roofs.h"
#include "sim/backend.h"
#include "sim/simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PLANS = 512, ROWS = 65536, SLABS = 192, ROUNDS = 7, NAME = 48 };

typedef struct row {
    char stencil[NAME], grid[NAME], precision[NAME], boundary[NAME], tile[NAME];
    int height, threads;
    double measured_s, predicted_s; /* an iteration */
    char limit[NAME];
} row;

static const struct {
    const char *stencil;
    int dims;
    int64_t extent[3][3];
} cases[] = {
    {"star2d1r", 2, {{320, 320}, {1280, 1280}, {4096, 4096}}},
    {"star2d2r", 2, {{320, 320}, {1280, 1280}, {4096, 4096}}},
    {"box2d1r", 2, {{320, 320}, {1280, 1280}, {4096, 4096}}},
    {"hotspot", 2, {{320, 320}, {1280, 1280}, {4096, 4096}}},
    {"poisson", 2, {{320, 320}, {1280, 1280}, {4096, 4096}}},
    {"life", 2, {{2048, 2048}, {16384, 8192}, {32768, 32768}}},
    {"star3d1r", 3, {{48, 48, 48}, {128, 128, 128}, {256, 256, 256}}},
    {"star3d2r", 3, {{48, 48, 48}, {128, 128, 128}, {256, 256, 256}}},
    {"box3d1r", 3, {{48, 48, 48}, {128, 128, 128}, {256, 256, 256}}},
    {"cell", 3, {{256, 128, 128}, {512, 512, 256}, {1024, 1024, 512}}},
    {"pathfinder", 1, {{50000}, {500000}, {2000000}}},
    {"box2d2r", 2, {{320, 320}, {1280, 1280}, {4096, 4096}}},
};
enum { CASES = sizeof cases / sizeof *cases };

static void quit(const char *what, const char *why)
{
    fprintf(stderr, "validate_cpu: %s: %s\n", what, why);
    exit(1);
}

/* ---- Simulations ----------------------------------------------------------------------------- */

static tz_simulation *open_simulation(const tz_registry *registry, const char *stencil, int dims,
                                      const int64_t *extent, const char *precision, int threads,
                                      bool dry)
{
    /* A chip that grows with its grid keeps the default time step stable. */
    const tz_assignment chip[] = {{"chip_width_m", 3.2e-5 * (double)extent[0], NULL},
                                  {"chip_height_m", 3.2e-5 * (double)extent[1], NULL}};
    const bool hotspot = strcmp(stencil, "hotspot") == 0;
    tz_simulation_config config = {
        .registry = registry,
        .stencil = stencil,
        .dims = dims,
        .precision = strcmp(precision, "double") == 0   ? TZ_DOUBLE
                     : strcmp(precision, "single") == 0 ? TZ_SINGLE
                                                        : -1,
        .params = hotspot ? chip : NULL,
        .params_count = hotspot ? 2 : 0,
        .backend = "cpu",
        .threads = threads,
        .dry = dry,
    };
    memcpy(config.extent, extent, sizeof config.extent);
    tz_simulation *simulation = NULL;
    tz_error error;
    if (tz_simulation_create(&simulation, &config, &error))
        quit(stencil, error.message);
    return simulation;
}

static void fill(tz_simulation *simulation, int32_t **weights)
{
    const tz_stencil *stencil = tz_simulation_stencil(simulation);
    const tz_random random = {.seed = 1, .low = 0, .high = 1, .density = 0.4};
    tz_error error;
    *weights = NULL;
    for (int f = 0; f < stencil->fields_count; f++) {
        tz_status status = TZ_OK;
        if (stencil->fields[f].role == TZ_STREAMED) {
            const int64_t cells = tz_simulation_cells(simulation);
            *weights = malloc((size_t)(cells * SLABS) * sizeof **weights);
            if (!*weights)
                quit(stencil->id, "not enough memory");
            for (int64_t i = 0; i < cells * SLABS; i++)
                (*weights)[i] = (int32_t)(i * 2654435761u >> 28 & 7);
            status = tz_simulation_stream_array(simulation, f, *weights, SLABS, &error);
        } else {
            status = tz_simulation_fill_random(simulation, f, NULL, &random, &error);
        }
        if (status)
            quit(stencil->id, error.message);
    }
}

/* That this process has used. */
static double processor_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of `stages` stages, an iteration; of one thread those that it ran, so that other programs
 * matter less. */
static double run_stages(tz_simulation *simulation, const tz_plan *plan, int stages)
{
    tz_error error;
    tz_run_result result;
    const tz_run run = {.steps = (int64_t)stages * plan->height, .until_residual = NAN};
    tz_simulation_rewind(simulation);
    const double begin = processor_s();
    if (tz_simulation_run(simulation, &run, &result, &error))
        quit("run", error.message);
    const double used = processor_s() - begin; /* the checks after the last stage, too */
    const double seconds =
        tz_simulation_threads(simulation) == 1 ? fmin(used, result.seconds) : result.seconds;
    return seconds / (double)run.steps;
}

/* ---- Predictions ----------------------------------------------------------------------------- */

/* A dry simulation's problem is not to be had from outside: resolve it again. */
static void resolve(tz_problem *problem, const tz_registry *registry, const char *name, int dims,
                    const int64_t *extent, const char *precision)
{
    const tz_assignment chip[] = {{"chip_width_m", 3.2e-5 * (double)extent[0], NULL},
                                  {"chip_height_m", 3.2e-5 * (double)extent[1], NULL}};
    const bool hotspot = strcmp(name, "hotspot") == 0;
    const tz_stencil *stencil = NULL;
    tz_error error;
    tz_simulation_config config = {
        .registry = registry,
        .stencil = name,
        .dims = dims,
        .precision = strcmp(precision, "double") == 0   ? TZ_DOUBLE
                     : strcmp(precision, "single") == 0 ? TZ_SINGLE
                                                        : -1,
        .params = hotspot ? chip : NULL,
        .params_count = hotspot ? 2 : 0,
    };
    memcpy(config.extent, extent, sizeof config.extent);
    if (tz_registry_find(registry, name, &stencil, NULL, &error) ||
        tz_problem_resolve(problem, stencil, &config, &error))
        quit(name, error.message);
}

static void predict(const tz_problem *problem, const tz_model_device *device, int threads,
                    const tz_plan *plan, row *out)
{
    const tz_place place = {device, threads};
    tz_model_work work;
    tz_model_prediction prediction;
    tz_error error;
    tz_model_error model_error;
    if (tz_backend_cpu.work(problem, &place, plan, TZ_EFFORT_COMPILE, &work, &error))
        quit(problem->stencil->id, error.message);
    if (tz_roofs_predict(&work, device, &prediction, &model_error))
        quit(model_error.place, model_error.message);
    out->predicted_s = prediction.time_s;
    if (getenv("TZ_VALIDATE_PARTS")) {
        fprintf(stderr, "%s %s %s h%d tile %s:", out->stencil, out->grid, out->precision,
                out->height, out->tile);
        for (int i = 0; i < prediction.component_count; i++)
            fprintf(stderr, " %s %.3g", prediction.components[i].name,
                    prediction.components[i].seconds / (out->measured_s > 0 ? out->measured_s : 1));
        fprintf(stderr, " | red %.3f slowest %.2f jobs %g ring %.0fk\n", work.redundancy,
                work.slowest, work.jobs, work.ring_bytes / 1024);
    }
    snprintf(out->limit, sizeof out->limit, "%.40s", prediction.limit_text);
    for (char *c = out->limit; *c; c++)
        *c = *c == ',' ? ';' : *c;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void write_row(FILE *file, const row *r)
{
    fprintf(file, "%s,%s,%s,%s,cpu,stream,%d,%s,%d,%.6g,%.6g,%s\n", r->stencil, r->grid,
            r->precision, r->boundary, r->height, r->tile, r->threads, r->measured_s,
            r->predicted_s, r->limit);
    fflush(file);
}

static const char header[] =
    "stencil,grid,precision,boundary,backend,family,height,tile,threads,measured_s,predicted_s,"
    "limit\n";

static int read_rows(const char *path, row *rows)
{
    char line[1024];
    int count = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        quit(path, "cannot be opened");
    if (!fgets(line, sizeof line, file) || strncmp(line, "stencil,", 8) != 0)
        quit(path, "no such table");
    while (count < ROWS && fgets(line, sizeof line, file)) {
        row *r = &rows[count];
        memset(r, 0, sizeof *r);
        if (sscanf(line,
                   "%47[^,],%47[^,],%47[^,],%47[^,],%*[^,],%*[^,],%d,%47[^,],%d,%lf,%lf,%47[^\n]",
                   r->stencil, r->grid, r->precision, r->boundary, &r->height, r->tile, &r->threads,
                   &r->measured_s, &r->predicted_s, r->limit) >= 9)
            count++;
    }
    fclose(file);
    return count;
}

/* ---- Commands -------------------------------------------------------------------------------- */

static void measure_case(const tz_registry *registry, const tz_model_device *device, int c,
                         const int64_t *extent, const char *precision, double seconds, FILE *out)
{
    static tz_plan plans[PLANS];
    static row rows[PLANS];
    tz_problem problem;
    tz_error error;
    tz_machine machine;
    int32_t *weights;
    int count = 0;
    tz_machine_read(&machine);
    const int threads = getenv("THREADS") ? atoi(getenv("THREADS")) : machine.cores;
    resolve(&problem, registry, cases[c].stencil, cases[c].dims, extent, precision);
    const tz_place place = {device, threads};
    const tz_plan given = {0};
    if (tz_backend_cpu.candidates(&problem, &place, &given, plans, PLANS, &count, &error))
        quit(cases[c].stencil, error.message);
    tz_simulation *simulation = open_simulation(registry, cases[c].stencil, cases[c].dims, extent,
                                                precision, threads, false);
    fill(simulation, &weights);
    for (int i = 0; i < count; i++) {
        row *r = &rows[i];
        const int64_t *t = plans[i].tile;
        memset(r, 0, sizeof *r);
        snprintf(r->stencil, NAME, "%s", cases[c].stencil);
        snprintf(r->grid, NAME, "%lldx%lldx%lld", (long long)problem.extent[0],
                 (long long)problem.extent[1], (long long)problem.extent[2]);
        snprintf(r->tile, NAME, "%lldx%lldx%lld", (long long)t[0], (long long)t[1],
                 (long long)t[2]);
        snprintf(r->precision, NAME, "%s", precision);
        snprintf(r->boundary, NAME, "default");
        r->height = plans[i].height;
        r->threads = threads;
        r->measured_s = INFINITY;
        predict(&problem, device, threads, &plans[i], r);
    }
    /* Plans in turn, so that a machine whose speed drifts is fair to all. */
    const double begin = tz_machine_clock_s();
    for (int round = 0;
         round < 3 || (round < ROUNDS && tz_machine_clock_s() - begin < seconds * count); round++)
        for (int i = 0; i < count; i++) {
            if (tz_simulation_set_plan(simulation, &plans[i], &error))
                quit(cases[c].stencil, error.message);
            const double stage = rows[i].predicted_s * plans[i].height;
            int stages = (int)fmax(stage < 0.1 ? 3 : 1, fmin(2000, seconds / ROUNDS / stage));
            if (weights)
                stages = stages * plans[i].height > SLABS ? SLABS / plans[i].height : stages;
            const double time = run_stages(simulation, &plans[i], stages < 1 ? 1 : stages);
            rows[i].measured_s = fmin(rows[i].measured_s, time);
        }
    for (int i = 0; i < count; i++)
        write_row(out, &rows[i]);
    tz_simulation_destroy(simulation);
    tz_problem_clear(&problem);
    free(weights);
}

static bool wanted(int argc, char **argv, const char *stencil, const char *precision, int size)
{
    static const char *const sizes[] = {"small", "medium", "large"};
    char names[4][3 * NAME];
    snprintf(names[0], sizeof names[0], "%s", stencil);
    snprintf(names[1], sizeof names[1], "%s:%s", stencil, precision);
    snprintf(names[2], sizeof names[2], "%s:%s:%s", stencil, precision, sizes[size]);
    snprintf(names[3], sizeof names[3], "%s", sizes[size]);
    for (int i = 0; i < argc; i++)
        for (int k = 0; k < 4; k++)
            if (strcmp(argv[i], names[k]) == 0)
                return true;
    return argc == 0;
}

static void measure(const tz_registry *registry, const tz_model_device *device, const char *path,
                    double seconds, int argc, char **argv)
{
    FILE *out = fopen(path, "w");
    if (!out)
        quit(path, "cannot be written");
    fputs(header, out);
    for (int c = 0; c < CASES; c++) {
        const tz_stencil *stencil = NULL;
        tz_error error;
        if (tz_registry_find(registry, cases[c].stencil, &stencil, NULL, &error))
            quit(cases[c].stencil, error.message);
        const bool real = stencil->passes[0].kernels->rows[TZ_DOUBLE][0] != NULL;
        for (int p = 0; p < (real ? 2 : 1); p++)
            for (int s = 0; s < 3; s++) {
                int64_t extent[3] = {cases[c].extent[s][0], cases[c].extent[s][1],
                                     cases[c].extent[s][2]};
                for (int axis = 0; axis < 3; axis++)
                    extent[axis] = extent[axis] > 0 ? extent[axis] : 1;
                const char *precision = !real ? "none" : p ? "double" : "single";
                if (!wanted(argc, argv, cases[c].stencil, precision, s))
                    continue;
                measure_case(registry, device, c, extent, precision, seconds, out);
                fprintf(stderr, "%s %s %lld done\n", cases[c].stencil, precision,
                        (long long)extent[0]);
            }
    }
    fclose(out);
}

static void predict_again(const tz_registry *registry, const tz_model_device *device, row *rows,
                          int count, const char *path)
{
    FILE *out = fopen(path, "w");
    if (!out)
        quit(path, "cannot be written");
    fputs(header, out);
    for (int i = 0; i < count; i++) {
        tz_problem problem;
        tz_plan plan = {.height = rows[i].height, .family = "stream"};
        long long e[3], t[3];
        const tz_stencil *stencil = NULL;
        tz_error error;
        if (sscanf(rows[i].grid, "%lldx%lldx%lld", &e[0], &e[1], &e[2]) != 3 ||
            sscanf(rows[i].tile, "%lldx%lldx%lld", &t[0], &t[1], &t[2]) != 3)
            quit(rows[i].grid, "no grid or tile");
        const int64_t extent[3] = {e[0], e[1], e[2]};
        for (int axis = 0; axis < 3; axis++)
            plan.tile[axis] = t[axis];
        if (tz_registry_find(registry, rows[i].stencil, &stencil, NULL, &error))
            quit(rows[i].stencil, error.message);
        resolve(&problem, registry, rows[i].stencil, stencil->dims, extent, rows[i].precision);
        predict(&problem, device, rows[i].threads, &plan, &rows[i]);
        write_row(out, &rows[i]);
        tz_problem_clear(&problem);
    }
    fclose(out);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double *values, int count, double share)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return count ? values[(int)(share * (count - 1) + 0.5)] : NAN;
}

static bool same_case(const row *a, const row *b)
{
    return strcmp(a->stencil, b->stencil) == 0 && strcmp(a->grid, b->grid) == 0 &&
           strcmp(a->precision, b->precision) == 0 && strcmp(a->boundary, b->boundary) == 0;
}

/* box2d2r in double precision took no part in making the model. */
static bool held_out(const row *r)
{
    return strcmp(r->stencil, "box2d2r") == 0 && strcmp(r->precision, "double") == 0;
}

static void report_group(const row *rows, int count, bool apart)
{
    static double errors[ROWS], shares[ROWS], here[ROWS];
    int errors_count = 0, shares_count = 0;
    printf("%-11s %-17s %-7s %5s %7s %7s %7s  %-24s %-24s\n", "stencil", "grid", "prec", "plans",
           "med.err", "bias", "share", "predicted (h tile)", "best (h tile)");
    for (int i = 0; i < count;) {
        int n = i, best = i, chosen = i, used = 0;
        double bias = 0;
        for (; n < count && same_case(&rows[n], &rows[i]); n++) {
            best = rows[n].measured_s < rows[best].measured_s ? n : best;
            chosen = rows[n].predicted_s < rows[chosen].predicted_s ? n : chosen;
            here[used++] = fabs(rows[n].predicted_s / rows[n].measured_s - 1);
            bias += log(rows[n].predicted_s / rows[n].measured_s);
        }
        if (held_out(&rows[i]) == apart) {
            char a[64], b[64];
            const double share = rows[best].measured_s / rows[chosen].measured_s;
            shares[shares_count++] = share;
            for (int k = 0; k < used; k++)
                errors[errors_count++] = here[k];
            snprintf(a, sizeof a, "%d %s", rows[chosen].height, rows[chosen].tile);
            snprintf(b, sizeof b, "%d %s", rows[best].height, rows[best].tile);
            printf("%-11s %-17s %-7s %5d %6.1f%% %+6.1f%% %6.1f%%  %-24s %-24s\n", rows[i].stencil,
                   rows[i].grid, rows[i].precision, used, 100 * quantile(here, used, 0.5),
                   100 * (exp(bias / used) - 1), 100 * share, a, b);
        }
        i = n;
    }
    if (errors_count == 0)
        return;
    printf("%d plans of %d cases: error median %.1f %%, 90th percentile %.1f %%; share of the best "
           "median %.1f %%, 10th percentile %.1f %%, least %.1f %%\n",
           errors_count, shares_count, 100 * quantile(errors, errors_count, 0.5),
           100 * quantile(errors, errors_count, 0.9), 100 * quantile(shares, shares_count, 0.5),
           100 * quantile(shares, shares_count, 0.1), 100 * quantile(shares, shares_count, 0.0));
}

int main(int argc, char **argv)
{
    static row rows[ROWS];
    const char *command = argc > 1 ? argv[1] : "";
    if (strcmp(command, "report") == 0 && argc == 3) {
        const int count = read_rows(argv[2], rows);
        report_group(rows, count, false);
        printf("\nheld out of the model's making:\n");
        report_group(rows, count, true);
        return 0;
    }
    if ((strcmp(command, "measure") != 0 && strcmp(command, "predict") != 0) || argc < 4) {
        fprintf(stderr, "usage: validate_cpu measure DEVICE.txt OUT.csv [SECONDS [CASE…]]\n"
                        "       validate_cpu predict DEVICE.txt IN.csv OUT.csv\n"
                        "       validate_cpu report IN.csv\n");
        return 2;
    }
    tz_model_device device;
    tz_model_error model_error;
    tz_registry *registry = NULL;
    tz_error error;
    if (tz_model_device_read(argv[2], &device, &model_error))
        quit(model_error.place, model_error.message);
    const char *folder = TZ_TEST_PLUGIN_DIR;
    if (tz_registry_create(&registry, &folder, 1, &error))
        quit(folder, error.message);
    if (strcmp(command, "measure") == 0)
        measure(registry, &device, argv[3], argc > 4 ? atof(argv[4]) : 0.1, argc > 5 ? argc - 5 : 0,
                argv + 5);
    else
        predict_again(registry, &device, rows, read_rows(argv[3], rows), argv[4]);
    tz_registry_destroy(registry);
    return 0;
}
