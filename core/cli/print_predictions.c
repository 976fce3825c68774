/* Predictions as text, CSV, JSON and a picture. Called by the commands predict, tune and
 * explain. */
#include "cli/print_predictions.h"

#include "base/number.h"
#include "model/power.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

const char *tz_workload_title(const tz_workload *workload)
{
    return workload->device.title[0] ? workload->device.title : workload->device.name;
}

tz_cell tz_plan_tile_cell(const tz_plan *plan, int dims)
{
    char tile[TZ_TEXT_SIZE];
    tz_plan_tile_text(plan, dims, tile, sizeof tile);
    return tz_cell_made("%s", tile);
}

/* Tables with more rows leave out the slow ones. */
enum { ROWS_MANY = 40 };

/* ---- Text ------------------------------------------------------------------------------------ */

/* The context of the table of plans. */
typedef struct plans {
    tz_prediction_sheet of;
    bool all;
} plans;

/* Rows of heights far slower than the best are left out. */
static bool is_tail(const void *context, const void *row)
{
    const tz_prediction_table *table = ((const plans *)context)->of.table;
    const tz_prediction_row *r = row, *best = &table->rows[table->best];
    return !((const plans *)context)->all && table->count > ROWS_MANY &&
           r->plan.height > 2 * best->plan.height &&
           r->prediction.time_s > 1.2 * best->prediction.time_s;
}

#define OF_PLAN(name, expression) TZ_GETTER(plan_##name, plans, tz_prediction_row, expression)
#define OF_SLABS(name, expression)                                                                 \
    OF_PLAN(name, c->of.workload->place.devices ? (expression) : TZ_NO_CELL)

OF_PLAN(mark, tz_cell_text(r == &c->of.table->rows[c->of.table->best] ? "*" : " "));
OF_PLAN(family, r->work ? tz_cell_text(r->plan.family) : TZ_NO_CELL);
OF_PLAN(tile, tz_plan_tile_cell(&r->plan, c->of.workload->problem.dims));
OF_PLAN(registers, r->work && c->of.workload->is_gpu
                       ? tz_cell_made("%d%c", r->work->registers, r->work->estimated ? '~' : ' ')
                       : TZ_NO_CELL);
OF_SLABS(exchange, tz_cell_integer(r->plan.exchange));
OF_SLABS(share, tz_cell_real(tz_prediction_exchange_share(&r->prediction)));
OF_SLABS(efficiency, tz_cell_real(tz_prediction_efficiency(c->of.table, r)));
OF_PLAN(components, TZ_CELL_NAMED_OF(r->prediction.component_count, r->prediction.components,
                                     tz_model_component, name, seconds));
OF_PLAN(limit, tz_cell_text(tz_model_resource_text(r->prediction.limit)));

static const tz_sheet_column plan_columns[] = {
    {.heading = "", .get = plan_mark, .gap = 2, .width = 1},
    TZ_MEMBER(NULL, tz_prediction_row, plan.height, .heading = "h", .width = 5),
    {.heading = "family", .get = plan_family, .gap = 2, .width = -8},
    {.heading = "tile", .get = plan_tile, .gap = 2, .width = -18},
    {.heading = "regs", .get = plan_registers, .width = 5},
    TZ_MEMBER(NULL, tz_prediction_row, prediction.time_s, .heading = TZ_HEADING_UNIT,
              .is_time = true, .width = 9),
    TZ_MEMBER(NULL, tz_prediction_row, prediction.cells_per_s, .heading = "GCells/s", .scale = 1e-9,
              .width = 9),
    {.heading = "exchange", .get = plan_exchange, .width = 8},
    {.heading = "share", .get = plan_share, .format = "%.1f %%", .scale = 100, .width = 6},
    {.heading = "efficiency",
     .get = plan_efficiency,
     .format = "%.1f %%",
     .scale = 100,
     .gap = 2,
     .width = 10},
    {.heading = "", .get = plan_components, .is_time = true, .width = 11},
    {.heading = "limit", .get = plan_limit, .gap = 2},
    {.key = NULL}};

static void print_rows(const tz_workload *workload, const tz_prediction_table *table, bool all)
{
    const bool works = table->rows[0].work && workload->is_gpu;
    const plans context = {{workload, table}, all};
    tz_sheet sheet = tz_prediction_rows(&context.of);
    double largest = 0;
    int left_out = 0;
    sheet.columns = plan_columns;
    sheet.context = &context;
    sheet.hides = is_tail;
    for (int i = 0; i < table->count; i++) {
        largest = fmax(largest, table->rows[i].prediction.time_s);
        left_out += is_tail(&context, &table->rows[i]);
    }
    sheet.unit = tz_time_unit(largest, &sheet.per_second);
    printf("\n");
    tz_sheet_text(&sheet, stdout);
    if (left_out > 0)
        printf("    and %d slower ones of greater height (--all shows them)\n", left_out);
    printf("    (times of one iteration in %s; * the best%s)\n", sheet.unit,
           works ? "; ~ estimated, not compiled" : "");
    if (table->choice[0])
        printf("    (not the fastest line: %s)\n", table->choice);
}

static void print_head(const tz_workload *workload)
{
    printf("%s on %s, %s, %s\n  device   %s (%s)", workload->problem.stencil->id, workload->grid,
           workload->precision, workload->boundary, tz_workload_title(workload),
           workload->device.name);
    if (!workload->is_gpu)
        printf(", %d thread%s", workload->place.threads, workload->place.threads == 1 ? "" : "s");
}

/* ", 4 of them", and the line of what joins them. */
void tz_print_devices(const tz_workload *workload)
{
    char time[TZ_TEXT_SIZE];
    if (!workload->place.devices)
        return;
    tz_format_seconds(workload->joined.latency_s, time, sizeof time);
    printf(", %d %s\n  link     %s: %s and %.4g GB/s", workload->devices.count,
           workload->is_gpu || workload->devices.apart ? "of them" : "slabs", workload->link.name,
           time, workload->joined.bytes_per_s * 1e-9);
}

void tz_print_workload(const tz_workload *workload, const char *model)
{
    print_head(workload);
    if (workload->place.devices)
        printf(", %d %s", workload->devices.count,
               workload->is_gpu || workload->devices.apart ? "of them" : "slabs");
    printf(", by %s%s\n", model ? "the model " : "each model", model ? model : "");
}

/* The best plan, its time and its gain over height 1, without the end of the line. */
static void print_best(const tz_workload *workload, const tz_prediction_table *table)
{
    const tz_prediction_row *best = &table->rows[table->best];
    const tz_prediction_row *one = tz_prediction_table_at(table, 1);
    char plan[2 * TZ_TEXT_SIZE], time[TZ_TEXT_SIZE];
    tz_plan_text(&best->plan, workload->problem.dims, plan, sizeof plan);
    if (!best->work) {
        char block[TZ_TEXT_SIZE];
        tz_plan_tile_text(&best->plan, workload->problem.dims, block, sizeof block);
        snprintf(plan, sizeof plan, table->by->best_text, best->plan.height, block);
    }
    tz_format_seconds(best->prediction.time_s, time, sizeof time);
    printf("  best     %s\n           %s an iteration, %.4g GCells/s", plan, time,
           best->prediction.cells_per_s * 1e-9);
    if (one && one != best)
        printf(", %.3g times height 1", one->prediction.time_s / best->prediction.time_s);
    if (best->run_s > 0) {
        tz_format_seconds(best->run_s, time, sizeof time);
        printf("\n  run      %s for %" PRId64 " steps", time, table->predictions->iterations);
    }
}

/* "512 x 512" */
static void grid_text(const tz_workload *workload, const int64_t *extent, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int axis = 0; axis < workload->problem.dims && used < size; axis++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, axis ? " x " : "",
                                 extent[axis]);
}

static void print_scaling(const tz_workload *workload, const tz_prediction_table *table)
{
    const tz_prediction_row *best = &table->rows[table->best];
    char time[TZ_TEXT_SIZE], grid[TZ_TEXT_SIZE];
    if (!workload->place.devices)
        return;
    tz_format_seconds(table->alone_s, time, sizeof time);
    printf("\n  devices  an exchange after %d iterations takes %.2g %% of the time; %.3g times as "
           "fast as\n           %s (%s an iteration): efficiency %.1f %%",
           best->plan.exchange, 100 * tz_prediction_exchange_share(&best->prediction),
           table->alone_s / best->prediction.time_s,
           table->devices > 1 ? "one device" : "one process with all threads", time,
           100 * tz_prediction_efficiency(table, best));
    for (int i = 0; i < table->scaling.count; i++) {
        const int devices = table->scaling.at[i].devices;
        grid_text(workload, table->scaling.at[i].extent, grid, sizeof grid);
        if (table->scaling.at[i].extent[0] > 0)
            printf("%s%d from %s on", i ? ", " : "\n  scaling  more devices gain: ", devices, grid);
        else
            printf("%s%d on none of the grids up to the largest possible",
                   i ? ", " : "\n  scaling  more devices gain: ", devices);
    }
}

/* What was measured, if anything was. */
static void print_measured(const tz_prediction_table *table)
{
    const tz_measured *measured = &table->measured;
    char time[TZ_TEXT_SIZE];
    if (measured->rounds == 0)
        return;
    tz_format_seconds(measured->taken_s, time, sizeof time);
    printf("  measured %s an iteration, median of %d rounds, %.4g to %.4g us; accuracy %.1f %%\n",
           time, measured->rounds, 1e6 * measured->low_s, 1e6 * measured->high_s,
           100 * tz_prediction_accuracy(table));
}

void tz_prediction_table_sum_up(const tz_workload *workload, const tz_prediction_table *table)
{
    const tz_prediction_row *best = &table->rows[table->best];
    char power[TZ_TEXT_SIZE];
    tz_print_workload(workload, table->by->name);
    print_best(workload, table);
    if (workload->place.devices)
        printf(", %.3g times %s", table->alone_s / best->prediction.time_s,
               table->devices > 1 ? "one device" : "one process with all threads");
    printf("\n  why      %s; %s\n", table->why, table->limits);
    if (tz_power_text(&best->prediction, power, sizeof power) &&
        best->prediction.power_w > best->prediction.power_limit_w)
        printf("  power    %s\n", power);
    if (table->counts[0])
        printf("  counts   %s\n", table->counts);
    print_measured(table);
    for (int n = 0; n < table->notes.count; n++)
        printf("%s%s", n == 0 ? "  assumed  " : "; ", table->notes.text[n]);
    if (table->notes.count > 0)
        printf("\n");
}

void tz_prediction_table_print(const tz_workload *workload, const tz_prediction_table *table,
                               bool all)
{
    const tz_prediction_row *best = &table->rows[table->best];
    char power[TZ_TEXT_SIZE], cost[TZ_TEXT_SIZE];
    print_head(workload);
    tz_print_devices(workload);
    printf("\n  model    %s: %s\n", table->by->name, table->by->model->doc);
    if (table->counts[0])
        printf("  counts   %s\n", table->counts);
    print_rows(workload, table, all);
    printf("\n");
    print_best(workload, table);
    print_scaling(workload, table);
    if (tz_power_text(&best->prediction, power, sizeof power))
        printf("\n  power    %s", power);
    printf("\n  why      %s\n           %s\n", table->why, table->limits);
    for (int d = 0; d < best->prediction.detail_count; d++) {
        const tz_model_detail *detail = &best->prediction.details[d];
        printf("  %s %-18s %.5g%s%s  (%s)\n", d == 0 ? "details " : "        ", detail->name,
               detail->value, detail->unit && detail->unit[0] ? " " : "",
               detail->unit ? detail->unit : "", detail->doc ? detail->doc : "");
    }
    print_measured(table);
    if (table->by->write)
        table->by->write(table, workload, true, stdout);
    for (int n = 0; n < table->notes.count; n++)
        printf("  %s %s\n", n == 0 ? "notes   " : "        ", table->notes.text[n]);
    tz_format_seconds(table->seconds, cost, sizeof cost);
    printf("  %d plans in %s\n", table->considered, cost);
}

/* ---- A jump ---------------------------------------------------------------------------------- */

static const double GIB = 1.0 / (double)(INT64_C(1) << 30);

/* "62 times faster than its steps, and faster from 161 steps on" */
static void print_gain(double jump_s, double iteration_s, int64_t steps, int64_t from)
{
    const double gain = (double)steps * iteration_s / jump_s;
    if (from == INT64_MAX)
        printf("never faster than steps\n");
    else
        printf("%.4g times %s than its steps; a jump is faster from %" PRId64 " steps on\n",
               gain >= 1 ? gain : 1 / gain, gain >= 1 ? "faster" : "slower", from);
}

static void print_times(double jump_s, double iteration_s, int64_t steps)
{
    char jump[TZ_TEXT_SIZE], all[TZ_TEXT_SIZE], one[TZ_TEXT_SIZE];
    tz_format_seconds(jump_s, jump, sizeof jump);
    tz_format_seconds((double)steps * iteration_s, all, sizeof all);
    tz_format_seconds(iteration_s, one, sizeof one);
    printf("%s for %" PRId64 " steps; one by one %s, %s each\n", jump, steps, all, one);
}

void tz_jump_print(const tz_workload *workload, const tz_prediction_table *table,
                   const tz_jump_prediction *jump)
{
    const tz_prediction_row *best = &table->rows[table->best];
    char plan[2 * TZ_TEXT_SIZE], time[TZ_TEXT_SIZE];
    tz_plan_text(&best->plan, workload->problem.dims, plan, sizeof plan);
    print_head(workload);
    printf("\n  steps by %s\n  jump     ", plan);
    print_times(jump->jump.seconds, jump->iteration_s, jump->steps);
    printf("           ");
    print_gain(jump->jump.seconds, jump->iteration_s, jump->steps, jump->from);
    printf("           moves %.4g GB%s; needs %.3g GiB beside the fields\n",
           1e-9 * jump->jump.bytes, jump->affine ? ", with a source" : "",
           GIB * jump->jump.memory_bytes);
    if (jump->rounds == 0)
        return;
    printf("  measured ");
    print_times(jump->measured_s, jump->measured_iteration_s, jump->steps);
    printf("           ");
    print_gain(jump->measured_s, jump->measured_iteration_s, jump->steps, jump->measured_from);
    tz_format_seconds(jump->create_s, time, sizeof time);
    printf("           by %s, %d rounds, %.4g to %.4g ms; the first took %s; %.3g GiB\n",
           jump->facts.library, jump->rounds, 1e3 * jump->low_s, 1e3 * jump->high_s, time,
           GIB * (double)jump->facts.bytes);
}

/* ---- CSV and JSON ---------------------------------------------------------------------------- */

/* Columns, each with its comma: stencil, nx, ny, nz, precision, boundary and device. */
static void print_csv_workload(const tz_workload *workload)
{
    const tz_problem *problem = &workload->problem;
    char boundary[TZ_BOUNDARY_TEXT_SIZE];
    printf("%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%s,%s,%s,", problem->stencil->id,
           problem->extent[0], problem->extent[1], problem->extent[2], workload->precision,
           tz_boundary_text(problem->boundary[0], boundary), workload->device.name);
}

/* The rows that a predictor without times has. */
static void print_answer_csv(const tz_workload *workload, const tz_prediction_table *table)
{
    char line[512];
    printf("stencil,nx,ny,nz,precision,boundary,device,%s\n", table->by->csv_columns);
    for (int i = 0; table->by->csv(table, i, line, sizeof line); i++) {
        print_csv_workload(workload);
        printf("%s\n", line);
    }
}

void tz_prediction_table_print_csv(const tz_workload *workload, const tz_prediction_table *table,
                                   bool first)
{
    const tz_prediction_sheet context = {workload, table};
    const tz_sheet sheet = tz_prediction_rows(&context);
    if (table->by->model)
        tz_sheet_csv(&sheet, first, stdout);
    else
        print_answer_csv(workload, table);
}

json_t *tz_prediction_table_json(const tz_workload *workload, const tz_prediction_table *table)
{
    const tz_prediction_sheet context = {workload, table};
    json_t *object =
        tz_row_json(table->by->model ? tz_prediction_columns : tz_answer_columns, &context, table);
    if (object && table->by->json)
        table->by->json(table, object);
    return object;
}

/* ---- Pictures -------------------------------------------------------------------------------- */

void tz_workload_plot(tz_plot *plot, const tz_workload *workload, const char *unit)
{
    snprintf(plot->title, sizeof plot->title, "%s, %s, %s", workload->problem.stencil->id,
             workload->grid, workload->precision);
    snprintf(plot->x_label, sizeof plot->x_label, "height: iterations between two exchanges");
    snprintf(plot->y_label, sizeof plot->y_label, "time of an iteration (%s)", unit);
    plot->from_zero = true;
}

typedef struct canvas {
    double *x, *y; /* room for every series */
    size_t used;
} canvas;

/* The best plan of every height, without the great heights at which almost nothing of a tile is
 * left: their times would hide the others. */
static int rows_by_height(const tz_prediction_table *table, const tz_prediction_row **rows)
{
    const double most = 3 * table->rows[table->best].prediction.time_s;
    int count = 0;
    for (int i = 0; i < table->count; i++)
        if (i == 0 || table->rows[i].plan.height != table->rows[i - 1].plan.height)
            rows[count++] = tz_prediction_table_at(table, table->rows[i].plan.height);
    while (count > 2 && rows[count - 1]->prediction.time_s > most)
        count--;
    return count;
}

/* Is the time the sum of its components, rather than the largest of them? */
static bool adds_up(const tz_prediction_row *const *rows, int count)
{
    for (int i = 0; i < count; i++) {
        const tz_model_prediction *p = &rows[i]->prediction;
        double sum = 0;
        for (int c = 0; c < p->component_count; c++)
            sum += p->components[c].seconds;
        if (fabs(sum - p->time_s) > 0.02 * p->time_s)
            return false;
    }
    return true;
}

static void add_components(tz_plot *plot, canvas *c, const tz_prediction_row *const *rows,
                           int count, double scale)
{
    int used[TZ_MODEL_RESOURCES] = {0};
    const tz_model_prediction *names = &rows[0]->prediction;
    const tz_plot_style style = adds_up(rows, count) ? TZ_PLOT_AREA : TZ_PLOT_THIN;
    for (int k = 0; k < names->component_count; k++) {
        double *x = c->x + c->used, *y = c->y + c->used, most = 0;
        for (int i = 0; i < count; i++) {
            x[i] = rows[i]->plan.height;
            y[i] = rows[i]->prediction.components[k].seconds * scale;
            most = fmax(most, y[i]);
        }
        const tz_model_resource resource = names->components[k].resource;
        const unsigned shade = style == TZ_PLOT_AREA ? tz_plot_shade((int)resource, used[resource])
                                                     : tz_plot_colour(k);
        if (!(most > 0))
            continue;
        used[resource]++;
        c->used += (size_t)count;
        tz_plot_add(plot, style, shade, count, x, y, "%s (%s)", names->components[k].name,
                    tz_model_resource_text(resource));
    }
}

static void add_total(tz_plot *plot, canvas *c, const tz_prediction_table *table,
                      const tz_prediction_row *const *rows, int count, double scale,
                      unsigned colour, const char *title)
{
    double *x = c->x + c->used, *y = c->y + c->used;
    for (int i = 0; i < count; i++) {
        x[i] = rows[i]->plan.height;
        y[i] = rows[i]->prediction.time_s * scale;
    }
    c->used += (size_t)count + 1;
    tz_plot_add(plot, TZ_PLOT_LINE, colour, count, x, y, "%s", title);
    x[count] = table->rows[table->best].plan.height;
    y[count] = table->rows[table->best].prediction.time_s * scale;
    tz_plot_add(plot, TZ_PLOT_MARK, colour, 1, x + count, y + count, "best: height %d",
                table->rows[table->best].plan.height);
}

tz_status tz_prediction_table_plot(const tz_workload *workload, tz_prediction_table *const *tables,
                                   int count, const char *path, tz_error *error)
{
    size_t room = 0;
    double largest = 0, scale;
    for (int k = 0; k < count; k++) {
        room += ((size_t)tables[k]->count + 1) * (TZ_MODEL_COMPONENTS_MAX + 2);
        largest = fmax(largest, tables[k]->rows[tables[k]->best].prediction.time_s);
    }
    tz_plot *plot = calloc(1, sizeof *plot);
    canvas c = {calloc(room, sizeof *c.x), calloc(room, sizeof *c.y), 0};
    const tz_prediction_row **rows = calloc(room, sizeof *rows);
    tz_status status = TZ_OK;
    if (!plot || !c.x || !c.y || !rows) {
        status = tz_error_set(error, TZ_MEMORY, path, "not enough memory for a plot");
        goto cleanup;
    }
    const char *unit = tz_time_unit(largest, &scale);
    tz_workload_plot(plot, workload, unit);
    snprintf(plot->subtitle, sizeof plot->subtitle, "%s, predicted by %s",
             tz_workload_title(workload), count == 1 ? tables[0]->by->name : "each model");
    for (int k = 0; k < count; k++) {
        const int heights = rows_by_height(tables[k], rows);
        if (count == 1)
            add_components(plot, &c, rows, heights, scale);
        add_total(plot, &c, tables[k], rows, heights, scale,
                  count == 1 ? 0x222222 : tz_plot_colour(k),
                  count == 1 ? "in all" : tables[k]->by->name);
    }
    status = tz_plot_draw(plot, path, error);
cleanup:
    free(rows);
    free(c.x);
    free(c.y);
    free(plot);
    return status;
}
