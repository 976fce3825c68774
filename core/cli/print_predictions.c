#include "cli/print_predictions.h"

#include "base/number.h"
#include "cli/print_devices.h"
#include "cli/print_periods.h"
#include "model/power.h"
#include "output/frame/plot.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const units[] = {"s", "ms", "us", "ns"};

const char *tz_time_unit(double seconds, double *scale)
{
    int unit = 0;
    *scale = 1;
    while (unit < 3 && seconds * *scale < 1) {
        *scale *= 1000;
        unit++;
    }
    return units[unit];
}

void tz_format_seconds(double seconds, char *text, size_t size)
{
    int unit = 0;
    while (unit < 3 && fabs(seconds) < 0.9995) {
        seconds *= 1000;
        unit++;
    }
    snprintf(text, size, "%.4g %s", seconds, units[unit]);
}

const char *tz_workload_title(const tz_workload *workload)
{
    return workload->device.title[0] ? workload->device.title : workload->device.name;
}

void tz_print_csv_workload(const tz_workload *workload)
{
    const tz_problem *problem = &workload->problem;
    char boundary[TZ_BOUNDARY_TEXT_SIZE];
    printf("%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%s,%s,%s,", problem->stencil->id,
           problem->extent[0], problem->extent[1], problem->extent[2], workload->precision,
           tz_boundary_text(problem->boundary[0], boundary), workload->device.name);
}

void tz_print_csv_power(const tz_model_prediction *prediction)
{
    if (prediction->sustained_s > 0)
        printf("%.9g,%.4g,", prediction->sustained_s, prediction->power_w);
    else
        printf(",,");
}

void tz_print_csv_components(const tz_model_prediction *prediction)
{
    for (int c = 0; c < prediction->component_count; c++)
        printf("%s%s=%.9g", c > 0 ? ";" : "", prediction->components[c].name,
               prediction->components[c].seconds);
    printf("\n");
}

void tz_print_json(const json_t *json)
{
    json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    printf("\n");
}

void tz_json_set_reals(json_t *object, const tz_named_double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        json_object_set_new(object, values[i].key, json_real(values[i].value));
}

json_t *tz_workload_json(const tz_workload *workload)
{
    json_t *object = json_object(), *grid = json_array();
    for (int axis = 0; axis < workload->problem.dims; axis++)
        json_array_append_new(grid, json_integer(workload->problem.extent[axis]));
    json_object_set_new(object, "stencil", json_string(workload->problem.stencil->id));
    json_object_set_new(object, "grid", grid);
    json_object_set_new(object, "precision", json_string(workload->precision));
    json_object_set_new(object, "boundary", json_string(workload->boundary));
    json_object_set_new(object, "device", json_string(workload->device.name));
    json_object_set_new(object, "backend", json_string(workload->backend->name));
    json_object_set_new(object, "threads", json_integer(workload->place.threads));
    return object;
}

/* Tables with more rows leave out the slow ones. */
enum { ROWS_MANY = 40 };

/* ---- Text ------------------------------------------------------------------------------------ */

static double largest_time(const tz_prediction_table *table)
{
    double largest = 0;
    for (int i = 0; i < table->count; i++)
        largest = fmax(largest, table->rows[i].prediction.time_s);
    return largest;
}

/* Rows of heights far slower than the best are left out. */
static bool is_tail(const tz_prediction_table *table, int row)
{
    const tz_prediction_row *best = &table->rows[table->best];
    return table->count > ROWS_MANY && table->rows[row].plan.height > 2 * best->plan.height &&
           table->rows[row].prediction.time_s > 1.2 * best->prediction.time_s;
}

static void print_rows(const tz_workload *workload, const tz_prediction_table *table, bool all)
{
    const tz_model_prediction *names = &table->rows[0].prediction;
    const bool works = table->rows[0].work && workload->is_gpu;
    const bool families = table->rows[0].work;
    double scale;
    const char *unit = tz_time_unit(largest_time(table), &scale);
    printf("\n    %5s%s  %-18s%s %9s %9s", "h", families ? "  family  " : "", "tile",
           works ? "  regs" : "", unit, "GCells/s");
    tz_print_exchange_heads(workload);
    for (int c = 0; c < names->component_count; c++)
        printf(" %11.11s", names->components[c].name);
    printf("  limit\n");
    int left_out = 0;
    for (int i = 0; i < table->count; i++) {
        const tz_prediction_row *row = &table->rows[i];
        if (!all && is_tail(table, i)) {
            left_out++;
            continue;
        }
        const tz_model_prediction *p = &row->prediction;
        char tile[TZ_TEXT_SIZE];
        tz_plan_tile_text(&row->plan, workload->problem.dims, tile, sizeof tile);
        printf("  %c %5d", i == table->best ? '*' : ' ', row->plan.height);
        if (families)
            printf("  %-8s", row->plan.family);
        printf("  %-18s", tile);
        if (works)
            printf(" %4d%c", row->work->registers, row->work->estimated ? '~' : ' ');
        printf(" %9.4g %9.4g", p->time_s * scale, p->cells_per_s * 1e-9);
        tz_print_exchange(workload, table, row);
        for (int c = 0; c < p->component_count; c++)
            printf(" %11.4g", p->components[c].seconds * scale);
        printf("  %s\n", tz_model_resource_text(p->limit));
    }
    if (left_out > 0)
        printf("    and %d slower ones of greater height (--all shows them)\n", left_out);
    printf("    (times of one iteration in %s; * the best%s)\n", unit,
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

void tz_print_workload(const tz_workload *workload, const tz_model *model)
{
    print_head(workload);
    if (workload->place.devices)
        printf(", %d %s", workload->devices.count,
               workload->is_gpu || workload->devices.apart ? "of them" : "slabs");
    printf(", by %s%s\n", model ? "the model " : "each model", model ? model->name : "");
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
        snprintf(plan, sizeof plan,
                 table->plain ? "height %d, blocks of %s threads, a cell each"
                              : "height %d, blocks of %s with their ghost zone",
                 best->plan.height, block);
    }
    tz_format_seconds(best->prediction.time_s, time, sizeof time);
    printf("  best     %s\n           %s an iteration, %.4g GCells/s", plan, time,
           best->prediction.cells_per_s * 1e-9);
    if (one && one != best)
        printf(", %.3g times height 1", one->prediction.time_s / best->prediction.time_s);
}

void tz_prediction_table_sum_up(const tz_workload *workload, const tz_prediction_table *table)
{
    const tz_prediction_row *best = &table->rows[table->best];
    char power[TZ_TEXT_SIZE];
    tz_print_workload(workload, table->model);
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
    tz_print_measured(table);
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
    printf("\n  model    %s: %s\n", table->model->name, table->model->doc);
    if (table->counts[0])
        printf("  counts   %s\n", table->counts);
    print_rows(workload, table, all);
    printf("\n");
    print_best(workload, table);
    tz_print_scaling(workload, table);
    if (tz_power_text(&best->prediction, power, sizeof power))
        printf("\n  power    %s", power);
    printf("\n  why      %s\n           %s\n", table->why, table->limits);
    for (int d = 0; d < best->prediction.detail_count; d++) {
        const tz_model_detail *detail = &best->prediction.details[d];
        printf("  %s %-18s %.5g%s%s  (%s)\n", d == 0 ? "details " : "        ", detail->name,
               detail->value, detail->unit && detail->unit[0] ? " " : "",
               detail->unit ? detail->unit : "", detail->doc ? detail->doc : "");
    }
    tz_print_measured(table);
    tz_print_periods(table);
    for (int n = 0; n < table->notes.count; n++)
        printf("  %s %s\n", n == 0 ? "notes   " : "        ", table->notes.text[n]);
    tz_format_seconds(table->seconds, cost, sizeof cost);
    printf("  %d plans in %s\n", table->considered, cost);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

void tz_prediction_table_print_csv(const tz_workload *workload, const tz_prediction_table *table,
                                   bool first)
{
    if (first)
        printf(
            "stencil,nx,ny,nz,precision,boundary,device,model," TZ_PLAN_CSV_COLUMNS
            ",registers,estimated,time_s,cells_per_s,limit,best,sustained_s,power_w,components\n");
    for (int i = 0; i < table->count; i++) {
        const tz_prediction_row *row = &table->rows[i];
        const tz_model_prediction *p = &row->prediction;
        char plan[TZ_PLAN_TEXT_SIZE];
        tz_plan_csv(&row->plan, plan, sizeof plan);
        tz_print_csv_workload(workload);
        printf("%s,%s,%d,%d,%.9g,%.9g,%s,%d,", table->model->name, plan,
               row->work ? row->work->registers : 0, row->work ? row->work->estimated : 0,
               p->time_s, p->cells_per_s, tz_model_resource_text(p->limit), i == table->best);
        tz_print_csv_power(p);
        tz_print_csv_components(p);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *row_json(const tz_workload *workload, const tz_prediction_table *table,
                        const tz_prediction_row *row)
{
    const tz_model_prediction *p = &row->prediction;
    json_t *object = tz_plan_to_json(&row->plan, workload->problem.dims),
           *components = json_array(), *details = json_object();
    const struct {
        const char *name;
        int value;
    } counts[] = {{"registers", row->work ? row->work->registers : 0},
                  {"local_bytes", row->work ? row->work->local_bytes : 0},
                  {"shared_bytes", row->work ? row->work->shared_bytes : 0}};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        if (counts[k].value > 0)
            json_object_set_new(object, counts[k].name, json_integer(counts[k].value));
    if (row->work)
        json_object_set_new(object, "estimated", json_boolean(row->work->estimated));
    json_object_set_new(object, "time_s", json_real(p->time_s));
    json_object_set_new(object, "stage_s", json_real(p->stage_s));
    if (p->sustained_s > 0) {
        json_object_set_new(object, "sustained_s", json_real(p->sustained_s));
        json_object_set_new(object, "sustained_hz", json_real(p->sustained_hz));
        json_object_set_new(object, "power_w", json_real(p->power_w));
        json_object_set_new(object, "power_limit_w", json_real(p->power_limit_w));
    }
    json_object_set_new(object, "cells_per_s", json_real(p->cells_per_s));
    tz_exchange_json(workload, table, row, object);
    json_object_set_new(object, "limit", json_string(tz_model_resource_text(p->limit)));
    json_object_set_new(object, "limit_text", json_string(p->limit_text));
    for (int c = 0; c < p->component_count; c++)
        json_array_append_new(
            components, json_pack("{s:s, s:s, s:f, s:s}", "name", p->components[c].name, "resource",
                                  tz_model_resource_text(p->components[c].resource), "seconds",
                                  p->components[c].seconds, "doc",
                                  p->components[c].doc ? p->components[c].doc : ""));
    json_object_set_new(object, "components", components);
    for (int d = 0; d < p->detail_count; d++)
        json_object_set_new(details, p->details[d].name,
                            isfinite(p->details[d].value) ? json_real(p->details[d].value)
                                                          : json_null());
    json_object_set_new(object, "details", details);
    return object;
}

json_t *tz_prediction_table_json(const tz_workload *workload, const tz_prediction_table *table)
{
    json_t *object = tz_workload_json(workload), *rows = json_array(), *notes = json_array();
    for (int i = 0; i < table->count; i++)
        json_array_append_new(rows, row_json(workload, table, &table->rows[i]));
    for (int n = 0; n < table->notes.count; n++)
        json_array_append_new(notes, json_string(table->notes.text[n]));
    tz_devices_json(workload, table, object);
    json_object_set_new(object, "model", json_string(table->model->name));
    json_object_set_new(object, "counts", json_string(table->counts));
    json_object_set_new(object, "best", row_json(workload, table, &table->rows[table->best]));
    json_object_set_new(object, "why", json_string(table->why));
    json_object_set_new(object, "choice",
                        table->choice[0] ? json_string(table->choice) : json_null());
    json_object_set_new(object, "limits", json_string(table->limits));
    json_object_set_new(object, "considered", json_integer(table->considered));
    json_object_set_new(object, "seconds", json_real(table->seconds));
    json_object_set_new(object, "notes", notes);
    json_object_set_new(object, "rows", rows);
    tz_periods_json(table, object);
    return object;
}

/* ---- Picture --------------------------------------------------------------------------------- */

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
        tz_plot_series *series = tz_plot_add(plot, style, shade, count, x, y);
        if (series)
            snprintf(series->title, sizeof series->title, "%s (%s)", names->components[k].name,
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
    tz_plot_series *series = tz_plot_add(plot, TZ_PLOT_LINE, colour, count, x, y);
    if (series)
        snprintf(series->title, sizeof series->title, "%s", title);
    x[count] = table->rows[table->best].plan.height;
    y[count] = table->rows[table->best].prediction.time_s * scale;
    tz_plot_series *mark = tz_plot_add(plot, TZ_PLOT_MARK, colour, 1, x + count, y + count);
    if (mark)
        snprintf(mark->title, sizeof mark->title, "best: height %d",
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
    snprintf(plot->title, sizeof plot->title, "%s, %s, %s", workload->problem.stencil->id,
             workload->grid, workload->precision);
    snprintf(plot->subtitle, sizeof plot->subtitle, "%s, predicted by %s",
             tz_workload_title(workload), count == 1 ? tables[0]->model->name : "each model");
    snprintf(plot->x_label, sizeof plot->x_label, "height: iterations between two exchanges");
    snprintf(plot->y_label, sizeof plot->y_label, "time of an iteration (%s)", unit);
    plot->from_zero = true;
    for (int k = 0; k < count; k++) {
        const int heights = rows_by_height(tables[k], rows);
        if (count == 1)
            add_components(plot, &c, rows, heights, scale);
        add_total(plot, &c, tables[k], rows, heights, scale,
                  count == 1 ? 0x222222 : tz_plot_colour(k),
                  count == 1 ? "in all" : tables[k]->model->name);
    }
    status = tz_plot_draw(plot, path, error);
cleanup:
    free(rows);
    free(c.x);
    free(c.y);
    free(plot);
    return status;
}
