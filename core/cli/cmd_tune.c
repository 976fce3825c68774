/* trapeze tune: measures every plan and compares it with its prediction: text, CSV, JSON and a
 * picture. */
#include "cli/predict_options.h"

#include "cli/print_predictions.h"
#include "lua/interrupt.h"
#include "model/power.h"
#include "predict/tune.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Text ------------------------------------------------------------------------------------ */

static bool same_kind(const tz_tune_row *a, const tz_tune_row *b)
{
    return a->plan.height == b->plan.height && strcmp(a->plan.family, b->plan.family) == 0;
}

/* Is the row the fastest of its family and height? Rows are sorted: it is the first measured
 * one. */
static bool is_leader(const tz_tune *tune, int index)
{
    const tz_tune_row *row = &tune->rows[index];
    if (row->measured.rounds == 0)
        return false;
    for (int i = index - 1; i >= 0 && same_kind(&tune->rows[i], row); i--)
        if (tune->rows[i].measured.rounds > 0)
            return false;
    return true;
}

/* The context of the table of plans. */
typedef struct plans {
    tz_tune_sheet of;
    bool all;
} plans;

static bool is_left_out(const void *context, const void *row)
{
    const plans *c = context;
    const tz_tune *tune = c->of.tune;
    const int index = (int)((const tz_tune_row *)row - tune->rows);
    return !c->all && tune->set.shapes == 0 && !is_leader(tune, index) && index != tune->predicted;
}

/* The share of exchanges; NULL: not known. */
static tz_cell exchange_share(const tz_measured *m)
{
    return isnan(m->exchange_s) ? TZ_NULL_CELL
                                : tz_cell_real(m->rounds > 0 ? m->exchange_s / m->taken_s : 0.0);
}

static const char *bits_text(const tz_tune_row *row)
{
    return !row->checked ? "" : row->equal ? "same" : "OTHER BITS";
}

#define OF_PLAN(name, expression) TZ_GETTER(plan_##name, plans, tz_tune_row, expression)
#define OF_GPU(name, member)                                                                       \
    OF_PLAN(name, c->of.workload->is_gpu ? tz_cell_integer(r->member) : TZ_NO_CELL)
#define OF_SLABS(name, expression)                                                                 \
    OF_PLAN(name, c->of.workload->place.devices ? (expression) : TZ_NO_CELL)

OF_PLAN(marks, tz_cell_made("%c%c", r == &c->of.tune->rows[c->of.tune->best] ? '*' : ' ',
                            r == &c->of.tune->rows[c->of.tune->predicted] ? '>' : ' '));
OF_PLAN(tile, tz_plan_tile_cell(&r->plan, c->of.workload->problem.dims));
OF_GPU(vector, plan.vector);
OF_GPU(warps, plan.warps);
OF_GPU(registers, work.registers);
OF_SLABS(exchange, tz_cell_integer(r->plan.exchange));
OF_SLABS(share, exchange_share(&r->measured));
OF_PLAN(refusal, r->measured.rounds == 0 ? tz_cell_text(r->refusal) : TZ_NO_CELL);
OF_PLAN(predicted, tz_cell_real(tz_tune_predicted_s(c->of.tune, r)));
OF_PLAN(error, tz_cell_real(tz_tune_predicted_s(c->of.tune, r) / r->measured.taken_s - 1));
OF_PLAN(rate, tz_cell_real(tz_workload_rate(c->of.workload, r->measured.taken_s)));
OF_PLAN(spread, tz_cell_real(r->measured.high_s / r->measured.low_s - 1));
OF_PLAN(bits, tz_cell_made("%s%s", bits_text(r), r->chosen ? "  in the set" : ""));

static const tz_sheet_column plan_columns[] = {
    {.heading = "", .get = plan_marks, .gap = 2, .width = 2},
    TZ_MEMBER(NULL, tz_tune_row, plan.height, .heading = "h", .width = 5),
    TZ_MEMBER(NULL, tz_tune_row, plan.family, .heading = "family", .gap = 2, .width = -8),
    {.heading = "tile", .get = plan_tile, .gap = 2, .width = -18},
    {.heading = "vec", .get = plan_vector, .width = 3},
    {.heading = "warps", .get = plan_warps, .width = 5},
    {.heading = "regs", .get = plan_registers, .width = 4},
    {.heading = "exchange", .get = plan_exchange, .width = 8},
    {.heading = "share", .get = plan_share, .format = "%.1f %%", .scale = 100, .width = 6},
    {.heading = "", .get = plan_refusal, .format = "refused: %s", .gap = 2, .ends_row = true},
    TZ_MEMBER(NULL, tz_tune_row, measured.taken_s, .heading = "measured", .is_time = true,
              .width = 10),
    {.heading = "predicted", .get = plan_predicted, .is_time = true, .width = 10},
    {.heading = "error %", .get = plan_error, .format = "%+.1f", .scale = 100, .width = 7},
    {.heading = "GCells/s", .get = plan_rate, .scale = 1e-9, .width = 9},
    {.heading = "+-%", .get = plan_spread, .format = "%.1f", .scale = 100, .gap = 2, .width = 4},
    {.heading = "bits", .get = plan_bits, .gap = 2},
    {.key = NULL}};

static double rate(const tz_workload *workload, double seconds)
{
    return tz_workload_rate(workload, seconds) * 1e-9;
}

/* The set of plans that a model chooses. */
static void print_set(const tz_tune_set *set)
{
    printf("  set        %d of %d shapes; ", set->chosen, set->shapes);
    if (set->measured < set->shapes)
        printf("%d could be measured, %d of the set; ", set->measured, set->measured_chosen);
    if (set->measured_chosen == 0)
        printf("so it has no speed\n");
    else
        printf("the fastest shape is%s in it%s\n             its fastest reaches %.1f %% of the "
               "best speed, its slowest %.1f %%\n",
               set->has_best ? "" : " not", set->has_best ? "" : "!", 100 * set->best,
               100 * set->worst);
}

/* How it was measured, and whether the card lowered its clock. */
static void print_clock(const tz_tune *tune)
{
    const tz_tune_row *best = &tune->rows[tune->best];
    double lowest = INFINITY;
    if (tune->sustained)
        printf(
            "  measured   as in a long run: no rests, half a second of work on each plan before\n");
    else if (tune->rested)
        printf("  measured   at the full clock: rests between rounds\n");
    for (int i = 0; i < tune->count; i++)
        if (tune->rows[i].measured.clocks > 0)
            lowest = fmin(lowest, tune->rows[i].measured.clock_hz);
    if (tune->clock_refusal[0])
        printf("             the card's clock is not known: %s\n", tune->clock_refusal);
    else if (tune->rounds_throttled > 0)
        printf("             the card lowered its clock for %s in %d of %d rounds: the "
               "fastest plan\n             ran at %.3g GHz, the slowest clock of a plan was %.3g "
               "GHz%s\n",
               tune->rounds_for_heat == 0                       ? "power"
               : tune->rounds_for_heat < tune->rounds_throttled ? "power or heat"
                                                                : "heat",
               tune->rounds_throttled, tune->rounds_with_clock, best->measured.clock_hz * 1e-9,
               lowest * 1e-9, tune->rested ? "; shorter rounds (--seconds) may help" : "");
    else if (tune->rounds_with_clock > 0)
        printf("             the card lowered its clock in none of %d rounds (%.3g GHz)\n",
               tune->rounds_with_clock, best->measured.clock_hz * 1e-9);
}

/* The power of the predicted plan. A policy plans for long runs, in which power limits the clock:
 * print its choice where that differs. */
static void print_power(const tz_workload *workload, const tz_tune *tune)
{
    int by_long_runs = tune->predicted;
    char text[2 * TZ_TEXT_SIZE];
    if (!tz_power_text(&tune->rows[tune->predicted].prediction, text, sizeof text))
        return;
    printf("             power %s\n", text);
    for (int i = 0; i < tune->count; i++)
        if (tune->rows[i].measured.rounds > 0 &&
            tz_power_time(&tune->rows[i].prediction) <
                tz_power_time(&tune->rows[by_long_runs].prediction))
            by_long_runs = i;
    if (by_long_runs == tune->predicted)
        return;
    tz_plan_text(&tune->rows[by_long_runs].plan, workload->problem.dims, text, sizeof text);
    printf("             chosen by the time at the full clock; policies plan for long runs: %s\n",
           text);
}

/* `all`: every plan; else the fastest of each family and height, and the predicted one. */
static void print_text(const tz_workload *workload, const tz_tune *tune, bool all)
{
    const tz_tune_row *best = &tune->rows[tune->best], *chosen = &tune->rows[tune->predicted];
    const tz_tune_row *groups[2] = {best, chosen};
    static const char *const names[2] = {"fastest   ", "predicted "};
    int checked = 0;
    const plans context = {{workload, tune}, all};
    tz_sheet sheet = tz_tune_rows(&context.of);
    sheet.columns = plan_columns;
    sheet.context = &context;
    sheet.hides = is_left_out;
    sheet.unit = tz_time_unit(best->measured.taken_s, &sheet.per_second);
    printf("%s on %s, %s, %s\n  device   %s", workload->problem.stencil->id, workload->grid,
           workload->precision, workload->boundary, tz_workload_title(workload));
    if (!workload->is_gpu)
        printf(", %d thread%s", workload->place.threads, workload->place.threads == 1 ? "" : "s");
    tz_print_devices(workload);
    printf("\n\n");
    tz_sheet_text(&sheet, stdout);
    for (int i = 0; i < tune->count; i++)
        checked += tune->rows[i].checked;
    printf("     (times of one iteration in %s; * the fastest, > what the prediction chooses)\n\n",
           sheet.unit);
    for (int k = 0; k < 2; k++) {
        char plan[2 * TZ_TEXT_SIZE], time[TZ_TEXT_SIZE];
        tz_plan_text(&groups[k]->plan, workload->problem.dims, plan, sizeof plan);
        tz_format_seconds(groups[k]->measured.taken_s, time, sizeof time);
        printf("  %s %s: %s, %.4g GCells/s\n", names[k], plan, time,
               rate(workload, groups[k]->measured.taken_s));
    }
    print_power(workload, tune);
    printf("             %.1f %% of the best speed is reached by the prediction\n"
           "             because: %s\n",
           100 * tune->share, chosen->prediction.limit_text);
    printf("  error      median %.1f %%, 90th percentile %.1f %%, on average %+.1f %%, over %d "
           "plans%s",
           100 * tune->error_median, 100 * tune->error_p90, 100 * tune->error_mean, tune->measured,
           tune->refused > 0 ? "" : "\n");
    if (tune->refused > 0)
        printf(" (%d refused)\n", tune->refused);
    if (tune->long_count > 0)
        printf("  left out   %d plans whose long code takes minutes to compile\n",
               tune->long_count);
    /* Plans far behind the best are predicted less well, and a record does not change that. */
    const double off = fabs(tz_tune_predicted_s(tune, chosen) / chosen->measured.taken_s - 1.0);
    if (off > TZ_MODEL_OFF)
        printf("  the model is off by %.0f %%: calibrate (trapeze calibrate)\n", 100 * off);
    if (workload->place.devices && !isnan(chosen->measured.exchange_s))
        printf("  exchange   %.2g %% of the time of the predicted plan, where %.2g %% were "
               "predicted\n",
               100 * chosen->measured.exchange_s / chosen->measured.taken_s,
               100 * tz_prediction_exchange_share(&chosen->prediction));
    if (tune->set.shapes > 0)
        print_set(&tune->set);
    print_clock(tune);
    if (checked > 0)
        printf("  bits       %s\n", tune->different == 0
                                        ? "the same under every plan"
                                        : "NOT the same under every plan: a fault");
    if (tune->not_finite > 0)
        printf("  %s not compared for %d plans: the stencil makes random fields infinite or NaN\n",
               checked > 0 ? "          " : "bits      ", tune->not_finite);
    else if (tune->infinite)
        printf("  fields     infinite or NaN after so many steps: other values may take other "
               "times (tz.tune takes `fields`)\n");
}

/* ---- Picture --------------------------------------------------------------------------------- */

/* The fastest measured and the fastest predicted of a family at each height. */
static void add_family(tz_plot *plot, const tz_tune *tune, const char *family, double scale,
                       double most, double *room, int index)
{
    double *x = room, *measured = x + tune->count, *low = measured + tune->count,
           *high = low + tune->count, *predicted = high + tune->count;
    int count = 0;
    for (int i = 0; i < tune->count; i++) {
        const tz_tune_row *row = &tune->rows[i];
        if (strcmp(row->plan.family, family) != 0 || row->measured.rounds == 0)
            continue;
        const double p = tz_tune_predicted_s(tune, row) * scale;
        if (count > 0 && x[count - 1] == row->plan.height) {
            predicted[count - 1] = fmin(predicted[count - 1], p);
            continue;
        }
        x[count] = row->plan.height;
        measured[count] = row->measured.taken_s * scale;
        low[count] = row->measured.low_s * scale;
        high[count] = fmin(row->measured.high_s, 1.5 * row->measured.taken_s) * scale;
        predicted[count++] = p;
    }
    while (count > 2 && measured[count - 1] > most)
        count--;
    const unsigned colour = tz_plot_colour(index);
    tz_plot_add(plot, TZ_PLOT_LINE, colour, count, x, predicted, "%s, predicted", family);
    tz_plot_series *points =
        tz_plot_add(plot, TZ_PLOT_POINTS, colour, count, x, measured, "%s, measured", family);
    if (points) {
        points->low = low;
        points->high = high;
    }
}

/* Measured times as points, predicted ones as lines, by height and family. */
static tz_status draw(const tz_workload *workload, const tz_tune *tune, const char *path,
                      tz_error *error)
{
    const char *(*const family)(int) = workload->backend->family;
    int families = 0;
    while (family(families))
        families++;
    double scale;
    const char *unit = tz_time_unit(tune->rows[tune->best].measured.taken_s, &scale);
    double *room = calloc((size_t)tune->count * 5 * (size_t)families, sizeof *room);
    tz_plot *plot = calloc(1, sizeof *plot);
    const tz_tune_row *marked[2] = {&tune->rows[tune->predicted], &tune->rows[tune->best]};
    double x[2], y[2];
    if (!room || !plot) {
        free(room);
        free(plot);
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory for a plot");
    }
    tz_workload_plot(plot, workload, unit);
    snprintf(plot->subtitle, sizeof plot->subtitle,
             "%s: the prediction reaches %.1f %% of the best", tz_workload_title(workload),
             100 * tune->share);
    const double most = 4 * tune->rows[tune->best].measured.taken_s * scale;
    for (int f = 0; f < families; f++) {
        bool any = false;
        for (int i = 0; i < tune->count; i++)
            any = any || (tune->rows[i].measured.rounds > 0 &&
                          strcmp(tune->rows[i].plan.family, family(f)) == 0);
        if (any)
            add_family(plot, tune, family(f), scale, most, room + (ptrdiff_t)tune->count * 5 * f,
                       f);
    }
    for (int k = 0; k < 2; k++) {
        x[k] = marked[k]->plan.height;
        y[k] = marked[k]->measured.taken_s * scale;
        if (k == 1 && marked[0] == marked[1])
            continue;
        tz_plot_add(plot, TZ_PLOT_MARK, k == 0 ? 0x222222 : 0xa8324a, 1, &x[k], &y[k],
                    "%s: height %d",
                    k == 1                   ? "fastest"
                    : marked[0] == marked[1] ? "chosen and fastest"
                                             : "chosen",
                    marked[k]->plan.height);
    }
    const tz_status status = tz_plot_draw(plot, path, error);
    free(plot);
    free(room);
    return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

typedef struct settings {
    tz_predict_options predict;
    tz_tune_request request;
    bool all;
} settings;

static int take_model(const tz_command *command, void *out, const char *name)
{
    tz_error error;
    if (tz_predictor_find(name, true, &((settings *)out)->request.lister, &error))
        return tz_misuse(command, "%s", error.message);
    return EXIT_DONE;
}

static int take_seconds(const tz_command *command, void *out, const char *text)
{
    if (tz_numbers_parse(text, 1, 1e-4, 100, &((settings *)out)->request.round_s) == 1)
        return EXIT_DONE;
    return tz_misuse(command, "--seconds needs a number from 0.0001 to 100, not '%.40s'", text);
}

/* TZ_OPTIONS_GO_ON, or what to exit with. */
static int parse(const tz_command *command, int argc, char **argv, settings *s)
{
    tz_tune_request *request = &s->request;
    bool no_check = false;
    const tz_option options[] = {
        TZ_CALL("model", s, take_model),
        TZ_TEXT("families", &request->families),
        TZ_INTEGER("rounds", &request->rounds, 1, TZ_MEASURE_ROUNDS_MAX / 2),
        TZ_CALL("seconds", s, take_seconds),
        TZ_FLAG("sustained", &request->sustained),
        TZ_FLAG("all", &s->all),
        TZ_FLAG("no-check", &no_check),
        {.name = NULL},
    };
    const int code = tz_predict_options_read(&s->predict, command, argc, argv, options);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (request->lister && (request->families || s->predict.plot))
        return tz_misuse(command, "--%s does not go with --model %s",
                         request->families ? "families" : "plot", request->lister->name);
    request->check = !no_check;
    request->given = s->predict.simulation.plan;
    request->ordinal = s->predict.simulation.device;
    for (int axis = 0; axis < TZ_AXES; axis++)
        request->given.tile[axis] = (int64_t)s->predict.block[axis];
    return TZ_OPTIONS_GO_ON;
}

static bool on_progress(void *context, int done, int of)
{
    (void)context;
    if (isatty(STDERR_FILENO) == 1)
        fprintf(stderr, done + 1 < of ? "\r%d of %d\033[K" : "\r\033[K", done, of);
    return tz_interrupt_signal() == 0;
}

static int measure(settings *s, const tz_workload *workload)
{
    tz_error error;
    tz_tune *tune = NULL;
    tz_predict_progress progress;
    tz_predict_progress_begin(&progress);
    s->request.watch = &progress.watch;
    tz_status status = tz_tune_create(&tune, workload, &s->request, &error);
    tz_predict_progress_clear(&progress);
    if (status != TZ_OK)
        return tz_predict_fail(&error);
    const tz_tune_sheet context = {workload, tune};
    const tz_sheet rows = tz_tune_rows(&context);
    if (s->predict.form == TZ_FORM_CSV)
        tz_sheet_csv(&rows, true, stdout);
    else if (s->predict.form == TZ_FORM_JSON)
        tz_print_json(tz_row_json(tz_tune_columns, &context, tune), 9);
    else
        print_text(workload, tune, s->all);
    if (s->predict.plot)
        status = draw(workload, tune, s->predict.plot, &error);
    const int different = tune->different;
    tz_tune_destroy(tune);
    if (status != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    const int code = tz_finish_output();
    if (different > 0)
        return tz_fail_text(EXIT_FAILED,
                            "the fields of %d plans differ from those of the first: a fault",
                            different);
    return code;
}

static int tune_call(const tz_command *command, int argc, char **argv)
{
    settings s = {.predict = {.simulation = {.precision = -1, .stopped = tz_interrupt_signal}},
                  .request = {.progress = on_progress}};
    tz_workload *workload = NULL;
    tz_interrupt_install();
    int code = parse(command, argc, argv, &s);
    if (code == TZ_OPTIONS_GO_ON)
        code = tz_predict_options_apply(&s.predict, command, false, &workload);
    if (workload && code == EXIT_DONE)
        code = measure(&s, workload);
    tz_workload_destroy(workload);
    tz_predict_options_clear(&s.predict);
    return code;
}

const tz_command tz_command_tune = {
    .name = "tune",
    .examples = "  trapeze tune star2d1r --grid 4096,4096\n"
                "  trapeze tune --from own.lua --grid 1024,1024 --csv\n",
    .arguments = "STENCIL|--from SCENARIO --grid NX[,NY[,NZ]] [OPTION]…",
    .doc = "measure every plan on this machine and compare it with its prediction",
    .help = TZ_PREDICT_OPTIONS_HELP
    "  --families A,B        only these families: {families}\n"
    "{tune models}"
    "  --rounds N            measure each plan that is near the fastest N times (default: 5). The\n"
    "                        median counts; on a CPU, which other programs may use, the first\n"
    "                        quartile\n"
    "  --seconds S           length of a round (default: 0.01 on a GPU, 0.2 with --sustained, "
    "0.05\n"
    "                        on a CPU)\n"
    "  --sustained           no rests, and half a second of work before each plan: the speed of a\n"
    "                        long run on a GPU that lowers its clock to keep its power limit\n"
    "  --all                 show every plan, not only the fastest of a family and height\n"
    "  --no-check            do not compare the bits that plans leave; saves a copy of the fields\n"
    "  --json, --csv         print every plan as JSON or CSV\n"
    "  --plot FILE.png       measured and predicted times by height; needs gnuplot\n"
    "  --plugins DIR         look for plugins here first; may be repeated\n"
    "  -h, --help            print this\n"
    "\n"
    "A GPU is measured at its full clock: before each round it rests four times as long as it\n"
    "worked, so that its average power stays far below its limit. Rounds at whose end the clock "
    "was\n"
    "lowered all the same are counted (--csv: throttled, clock_hz). The prediction is for the "
    "full\n"
    "clock, with --sustained for the clock that the power limit allows, if the device record has\n"
    "energies.\n"
    "\n"
    "The fields hold random numbers. The fastest plans and the predicted one are measured once "
    "more,\n"
    "alternately, before they are compared. Exit code 1 if a plan leaves other bits than height "
    "1.\n",
    .call = tune_call,
};
