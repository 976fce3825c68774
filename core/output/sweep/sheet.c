/* Sweeps: their points, and what they found. `trapeze sweep` and tz.sweep write it. */
#include "output/sweep/sheet.h"

#include "base/atomic.h"
#include "base/embed.h"
#include "base/json.h"
#include "base/number.h"
#include "base/sheet.h"
#include "base/text.h"
#include "output/folder.h"
#include "output/page/page.h"
#include "output/report/contents.h"
#include "output/report/report.h"
#include "output/run_record.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

TZ_EMBED(tz_sweep_page, "output/sweep/page.html");

enum { PICTURES_BYTES = 32 << 20, PICTURE_BYTES_LEAST = 256 << 10, TABLE_BYTES = 64 << 20 };

/* ---- The points ------------------------------------------------------------------------------ */

enum { LABEL_MAX = 40 };

static bool is_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char more[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return name[0] && strchr(letters, name[0]) && name[strspn(name, more)] == '\0' &&
           strlen(name) < TZ_SWEEP_AXIS_SIZE;
}

static tz_status check_value(const tz_sweep_axis *axis, const char *value, tz_error *error)
{
    double number;
    if (value[0] == '\0')
        return tz_error_set(error, TZ_RANGE, axis->name, "has an empty value");
    if (tz_number_parse(value, strlen(value), &number) && !isfinite(number))
        return tz_error_set(error, TZ_RANGE, axis->name, "has the value %.40s, which is not finite",
                            value);
    for (const char *c = value; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return tz_error_set(error, TZ_RANGE, axis->name,
                                "has a value with a control character");
    for (size_t i = 0; i < axis->values.count; i++)
        if (strcmp(axis->values.items[i], value) == 0)
            return tz_error_set(error, TZ_RANGE, axis->name, "has the value %.60s twice", value);
    return TZ_OK;
}

/* What makes a label differ from others is behind '~', which no label has otherwise. */
static tz_status add_label(tz_sweep_axis *axis, const char *value, tz_error *error)
{
    static const char kept[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-_";
    char label[LABEL_MAX + 16];
    snprintf(label, LABEL_MAX, "%s", value);
    for (char *c = label; *c; c++)
        if (!strchr(kept, *c))
            *c = '_';
    bool taken = strlen(value) >= LABEL_MAX;
    for (size_t i = 0; !taken && i < axis->labels.count; i++)
        taken = strcasecmp(axis->labels.items[i], label) == 0;
    if (taken)
        snprintf(label + strlen(label), 16, "~%zu", axis->labels.count + 1);
    return tz_paths_add(&axis->labels, label, error);
}

static tz_status add_values(tz_sweep_axis *axis, const char *const *values, size_t count,
                            tz_error *error)
{
    tz_status status = TZ_OK;
    for (size_t i = 0; status == TZ_OK && i < count; i++) {
        status = check_value(axis, values[i], error);
        if (status == TZ_OK)
            status = tz_paths_add(&axis->values, values[i], error);
        if (status == TZ_OK)
            status = add_label(axis, values[i], error);
    }
    return status;
}

static void clear_axis(tz_sweep_axis *axis)
{
    tz_paths_clear(&axis->values);
    tz_paths_clear(&axis->labels);
}

tz_status tz_sweep_grid_add(tz_sweep_grid *grid, const char *name, const char *const *values,
                            size_t count, tz_error *error)
{
    tz_sweep_axis axis = {.values = {0}};
    if (!is_name(name))
        return tz_error_set(
            error, TZ_RANGE, NULL,
            "'%.60s' is no name of a parameter of a sweep: it needs letters, digits "
            "and '_', at most %d, and begins with no digit",
            name, TZ_SWEEP_AXIS_SIZE - 1);
    if (tz_sweep_grid_has(grid, name))
        return tz_error_set(error, TZ_RANGE, name, "is given twice");
    if (count == 0)
        return tz_error_set(error, TZ_RANGE, name, "has no values");
    if (grid->count == TZ_SWEEP_AXES_MAX)
        return tz_error_set(error, TZ_RANGE, NULL, "a sweep has at most %d parameters",
                            TZ_SWEEP_AXES_MAX);
    if (count > TZ_SWEEP_POINTS_MAX / tz_sweep_grid_points(grid))
        return tz_error_set(error, TZ_RANGE, NULL,
                            "the sweep has more than %d points; give fewer values",
                            TZ_SWEEP_POINTS_MAX);
    strcpy(axis.name, name);
    const tz_status status = add_values(&axis, values, count, error);
    if (status != TZ_OK) {
        clear_axis(&axis);
        return status;
    }
    size_t at = grid->count++;
    for (; at > 0 && strcmp(grid->axes[at - 1].name, name) > 0; at--)
        grid->axes[at] = grid->axes[at - 1];
    grid->axes[at] = axis;
    return TZ_OK;
}

void tz_sweep_grid_clear(tz_sweep_grid *grid)
{
    for (size_t i = 0; i < grid->count; i++)
        clear_axis(&grid->axes[i]);
    grid->count = 0;
}

/* ---- Points ---------------------------------------------------------------------------------- */

bool tz_sweep_grid_has(const tz_sweep_grid *grid, const char *name)
{
    for (size_t i = 0; i < grid->count; i++)
        if (strcmp(grid->axes[i].name, name) == 0)
            return true;
    return false;
}

size_t tz_sweep_grid_points(const tz_sweep_grid *grid)
{
    size_t points = 1;
    for (size_t i = 0; i < grid->count; i++)
        points *= grid->axes[i].values.count;
    return points;
}

/* The value's place on an axis. */
static size_t place_of(const tz_sweep_grid *grid, size_t point, size_t axis)
{
    for (size_t i = grid->count; --i > axis;)
        point /= grid->axes[i].values.count;
    return point % grid->axes[axis].values.count;
}

const char *tz_sweep_grid_value(const tz_sweep_grid *grid, size_t point, size_t axis)
{
    return grid->axes[axis].values.items[place_of(grid, point, axis)];
}

void tz_sweep_grid_name(const tz_sweep_grid *grid, size_t point, char text[TZ_SWEEP_POINT_SIZE])
{
    size_t used = 0;
    for (size_t i = 0; i < grid->count && used < TZ_SWEEP_POINT_SIZE; i++)
        used += (size_t)snprintf(text + used, TZ_SWEEP_POINT_SIZE - used, "%s%s=%s", i ? "," : "",
                                 grid->axes[i].name,
                                 grid->axes[i].labels.items[place_of(grid, point, i)]);
    if (used >= TZ_SWEEP_POINT_SIZE)
        snprintf(text, TZ_SWEEP_POINT_SIZE, "point-%05zu", point + 1);
}

/* ---- The sheet ------------------------------------------------------------------------------- */

typedef struct sheet {
    const char *folder;
    const tz_sweep_grid *grid;
    json_t *facts;     /* owned: what the page shows */
    json_t *columns;   /* borrowed from the facts: the names of figures */
    tz_paths pictures; /* files, in the order of the points that have one */
    bool failed;       /* no memory for JSON */
} sheet;

/* ---- A run ----------------------------------------------------------------------------------- */

static void status_of(const char *folder, const json_t *run, char *text, size_t size)
{
    const char *status = json_string_value(json_object_get(run, "status"));
    snprintf(text, size, "%s", status ? status : "");
    if (strcmp(text, "running") == 0 && !tz_folder_is_in_use(folder))
        snprintf(text, size, "killed");
}

void tz_sweep_status(const char *folder, char *text, size_t size)
{
    json_t *run = NULL;
    text[0] = '\0';
    if (tz_run_load_record(folder, &run, NULL) == TZ_OK)
        status_of(folder, run, text, size);
    json_decref(run);
}

bool tz_sweep_is_finished(const char *status)
{
    return strcmp(status, "done") == 0 || strcmp(status, "stagnated") == 0;
}

static void put_figure(sheet *s, json_t *figures, const char *name, json_t *value)
{
    size_t i;
    json_t *column;
    tz_json_put(figures, name, value, &s->failed);
    json_array_foreach(s->columns, i, column)
    {
        if (strcmp(json_string_value(column), name) == 0)
            return;
    }
    s->failed |= json_array_append_new(s->columns, json_string(name)) != 0;
}

/* Seconds between the two times in run.json, which are whole seconds; -1: not known. */
static double wall_s(const json_t *run)
{
    time_t times[2] = {0};
    static const char *const keys[] = {"began", "ended"};
    for (int i = 0; i < 2; i++) {
        struct tm parts = {0};
        const char *text = json_string_value(json_object_get(run, keys[i]));
        if (!text || !strptime(text, "%Y-%m-%dT%H:%M:%SZ", &parts))
            return -1;
        times[i] = timegm(&parts);
    }
    return difftime(times[1], times[0]);
}

/* The plan that took most of the time: "skew, height 8". */
static void put_plan(sheet *s, json_t *figures, const json_t *simulation)
{
    const json_t *most = NULL;
    json_t *plan;
    size_t i;
    char text[100];
    json_array_foreach(json_object_get(simulation, "plans"), i, plan)
    {
        if (!most || json_number_value(json_object_get(plan, "seconds")) >
                         json_number_value(json_object_get(most, "seconds")))
            most = plan;
    }
    const char *family = json_string_value(json_object_get(most, "family"));
    if (!family)
        return;
    snprintf(text, sizeof text, "%s, height %lld", family,
             (long long)json_integer_value(json_object_get(most, "height")));
    put_figure(s, figures, "plan", json_string(text));
}

/* What run.json says of the simulations: sums, and the plan of the longest. */
static void put_run(sheet *s, json_t *figures, const json_t *run)
{
    const json_t *longest = NULL;
    json_t *simulation, *extent;
    int64_t steps = 0;
    double seconds = 0, updates = 0, most = -1;
    const double wall = wall_s(run);
    size_t i, axis;
    json_array_foreach(json_object_get(run, "simulations"), i, simulation)
    {
        double cells = 1;
        const double own = json_number_value(json_object_get(simulation, "seconds"));
        const int64_t own_steps = json_integer_value(json_object_get(simulation, "steps"));
        json_array_foreach(json_object_get(simulation, "grid"), axis, extent) cells *=
            json_number_value(extent);
        steps += own_steps;
        seconds += own;
        updates += cells * (double)own_steps;
        if (own > most) {
            longest = simulation;
            most = own;
        }
    }
    put_figure(s, figures, "steps", json_integer(steps));
    put_figure(s, figures, "seconds", json_real(seconds));
    if (wall >= 0)
        put_figure(s, figures, "wall_s", json_real(wall));
    if (seconds > 0 && updates > 0)
        put_figure(s, figures, "gcells_per_s", json_real(1e-9 * updates / seconds));
    put_plan(s, figures, longest);
}

/* ---- The last rows of tables ----------------------------------------------------------------- */

/* The next row of a CSV text as cells. False at its end. */
static bool next_row(const char **at, tz_paths *cells)
{
    char *cell = malloc(strlen(*at) < 4096 ? strlen(*at) + 1 : 4096);
    bool quoted = false, more = **at != '\0' && cell, ended = !more;
    size_t used = 0;
    tz_paths_clear(cells);
    for (; !ended; (*at)++) {
        const char c = **at;
        ended = c == '\0' || (c == '\n' && !quoted);
        if (c == '"' && quoted && (*at)[1] == '"') {
            cell[used++] = *(*at)++;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (ended || (c == ',' && !quoted)) {
            cell[used] = '\0';
            more &= tz_paths_add(cells, cell, NULL) == TZ_OK;
            used = 0;
        } else if (used < 4000) {
            cell[used++] = c;
        }
        if (c == '\0')
            break;
    }
    free(cell);
    return more;
}

static json_t *value_of(const char *text)
{
    double number;
    return tz_number_parse(text, strlen(text), &number) && number - number == 0 ? json_real(number)
                                                                                : json_string(text);
}

/* A column that another table or run.json has, too, is named after its table. */
static void put_last_row(sheet *s, json_t *figures, const char *table, const char *text)
{
    tz_paths titles = {0}, row = {0}, last = {0};
    const char *at = text;
    if (next_row(&at, &titles))
        while (next_row(&at, &row)) {
            const tz_paths swapped = last;
            last = row;
            row = swapped;
        }
    for (size_t i = 0; i < titles.count && i < last.count; i++) {
        char name[300];
        const bool taken = json_object_get(figures, titles.items[i]);
        if (strcmp(titles.items[i], "step") == 0 || last.items[i][0] == '\0')
            continue;
        snprintf(name, sizeof name, "%s%s%s", taken ? table : "", taken ? ":" : "",
                 titles.items[i]);
        put_figure(s, figures, name, value_of(last.items[i]));
    }
    tz_paths_clear(&titles);
    tz_paths_clear(&row);
    tz_paths_clear(&last);
}

static tz_status put_tables(sheet *s, json_t *figures, const char *folder, const json_t *run,
                            tz_error *error)
{
    tz_paths notes = {0};
    json_t *tables = NULL, *table;
    size_t i;
    const tz_status status = tz_report_tables(folder, run, TABLE_BYTES, &notes, &tables, error);
    json_array_foreach(tables, i, table)
    {
        const char *name = json_string_value(json_object_get(table, "name"));
        const char *text = json_string_value(json_object_get(table, "text"));
        if (name && text)
            put_last_row(s, figures, name, text);
    }
    json_decref(tables);
    tz_paths_clear(&notes);
    return status;
}

/* ---- Its picture ----------------------------------------------------------------------------- */

/* The last frame of the first series that has frames; else the last picture. */
static const tz_report_picture *choose(const tz_report_pictures *pictures)
{
    const tz_report_picture *frame = NULL;
    for (size_t i = 0; i < pictures->count; i++)
        if (pictures->items[i].step >= 0 && (!frame || frame->series == pictures->items[i].series))
            frame = &pictures->items[i];
    return frame || pictures->count == 0 ? frame : &pictures->items[pictures->count - 1];
}

static tz_status put_picture(sheet *s, json_t *point, const char *folder, const json_t *run,
                             tz_error *error)
{
    tz_report_pictures pictures = {.series = NULL};
    tz_paths notes = {0};
    char path[PATH_MAX];
    size_t limit = PICTURES_BYTES / tz_sweep_grid_points(s->grid);
    limit = limit < PICTURE_BYTES_LEAST ? PICTURE_BYTES_LEAST : limit;
    tz_status status = tz_report_pictures_find(&pictures, folder, run, SIZE_MAX / 2, &notes, error);
    const tz_report_picture *chosen = status == TZ_OK ? choose(&pictures) : NULL;
    if (chosen) {
        tz_json_put_text(point, "file", chosen->name, &s->failed);
        if (chosen->step >= 0)
            tz_json_put_integer(point, "step", chosen->step, &s->failed);
    }
    if (chosen && chosen->bytes <= limit &&
        snprintf(path, sizeof path, "%s/%s", folder, chosen->name) < (int)sizeof path) {
        tz_json_put_integer(point, "picture", (int64_t)s->pictures.count, &s->failed);
        status = tz_paths_add(&s->pictures, path, error);
    }
    tz_report_pictures_clear(&pictures);
    tz_paths_clear(&notes);
    return status;
}

/* ---- All points ------------------------------------------------------------------------------ */

static tz_status no_memory(const sheet *s, tz_error *error)
{
    return tz_error_set(error, TZ_MEMORY, s->folder, "not enough memory for a contact sheet");
}

static tz_status add_point(sheet *s, json_t *points, size_t at, const char *failure,
                           tz_error *error)
{
    char name[TZ_SWEEP_POINT_SIZE], folder[PATH_MAX], text[40] = "";
    json_t *figures = json_object(), *places = json_array(), *run = NULL;
    tz_status status = TZ_OK;
    tz_sweep_grid_name(s->grid, at, name);
    for (size_t i = 0; i < s->grid->count; i++)
        s->failed |=
            json_array_append_new(places, json_integer((json_int_t)place_of(s->grid, at, i))) != 0;
    json_t *point = json_pack("{s:s, s:o, s:o}", "name", name, "figures", figures, "at", places);
    if (json_array_append_new(points, point) != 0 || s->failed)
        return no_memory(s, error);
    if (snprintf(folder, sizeof folder, "%s/%s", s->folder, name) < (int)sizeof folder &&
        tz_run_load_record(folder, &run, NULL) == TZ_OK) {
        status_of(folder, run, text, sizeof text);
        const char *reason = json_string_value(json_object_get(run, "error"));
        if (!failure)
            failure = reason;
        put_run(s, figures, run);
        status = put_tables(s, figures, folder, run, error);
        if (status == TZ_OK)
            status = put_picture(s, point, folder, run, error);
        tz_json_put(point, "folder", json_true(), &s->failed);
        char report[PATH_MAX + 32];
        snprintf(report, sizeof report, "%s/" TZ_REPORT_NAME, folder);
        tz_json_put(point, "report", json_boolean(access(report, R_OK) == 0), &s->failed);
    }
    tz_json_put_text(point, "status",
                     failure && !tz_sweep_is_finished(text) && strcmp(text, "interrupted") != 0
                         ? "failed"
                         : text,
                     &s->failed);
    if (failure) {
        char *line = strdup(failure);
        if (line)
            tz_text_utf8(line);
        tz_json_put(point, "error", line ? json_string(line) : NULL, &s->failed);
        free(line);
    }
    json_decref(run);
    return status;
}

static tz_status collect(sheet *s, const char *script, char *const *failures, tz_error *error)
{
    json_t *axes = json_array(), *points = json_array();
    tz_status status = TZ_OK;
    s->columns = json_array();
    s->facts = json_pack("{s:s, s:s, s:o, s:o, s:o}", "script", script, "trapeze", TZ_VERSION,
                         "axes", axes, "columns", s->columns, "points", points);
    s->failed = !s->facts;
    for (size_t i = 0; i < s->grid->count && !s->failed; i++) {
        const tz_sweep_axis *axis = &s->grid->axes[i];
        json_t *values = json_array();
        for (size_t k = 0; k < axis->values.count; k++)
            s->failed |= json_array_append_new(values, json_string(axis->values.items[k])) != 0;
        s->failed |= json_array_append_new(
                         axes, json_pack("{s:s, s:o}", "name", axis->name, "values", values)) != 0;
    }
    const size_t count = tz_sweep_grid_points(s->grid);
    for (size_t i = 0; i < count && status == TZ_OK && !s->failed; i++)
        status = add_point(s, points, i, failures[i], error);
    return status == TZ_OK && s->failed ? no_memory(s, error) : status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void put_cell(FILE *out, const char *text, bool first)
{
    fputs(first ? "" : ",", out);
    tz_csv_text(text, out);
}

static void put_value(FILE *out, const json_t *value)
{
    char text[TZ_NUMBER_SIZE + 8] = "";
    if (json_is_integer(value))
        snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        tz_number_format(text, json_real_value(value));
    put_cell(out, json_is_string(value) ? json_string_value(value) : text, false);
}

static void put_table(const sheet *s, FILE *out)
{
    json_t *point, *column;
    size_t i, k;
    put_cell(out, "point", true);
    for (i = 0; i < s->grid->count; i++)
        put_cell(out, s->grid->axes[i].name, false);
    put_cell(out, "status", false);
    json_array_foreach(s->columns, k, column) put_cell(out, json_string_value(column), false);
    fputs(",error\n", out);
    json_array_foreach(json_object_get(s->facts, "points"), i, point)
    {
        put_cell(out, json_string_value(json_object_get(point, "name")), true);
        for (k = 0; k < s->grid->count; k++)
            put_cell(out, tz_sweep_grid_value(s->grid, i, k), false);
        put_value(out, json_object_get(point, "status"));
        json_array_foreach(s->columns, k, column) put_value(
            out, json_object_get(json_object_get(point, "figures"), json_string_value(column)));
        put_value(out, json_object_get(point, "error"));
        fputc('\n', out);
    }
}

tz_status tz_sweep_write(const char *folder, const char *script, const tz_sweep_grid *grid,
                         char *const *failures, tz_error *error)
{
    sheet s = {.folder = folder, .grid = grid};
    char table[PATH_MAX], page[PATH_MAX];
    tz_atomic_file *file = NULL;
    tz_status status = collect(&s, script, failures, error);
    if (status == TZ_OK &&
        (snprintf(table, sizeof table, "%s/" TZ_SWEEP_TABLE, folder) >= (int)sizeof table ||
         snprintf(page, sizeof page, "%s/" TZ_SWEEP_SHEET, folder) >= (int)sizeof page))
        status = tz_error_set(error, TZ_RANGE, folder, "the path is too long");
    if (status == TZ_OK)
        status = tz_atomic_open(&file, table, true, error);
    if (status == TZ_OK) {
        put_table(&s, tz_atomic_stream(file));
        status = tz_atomic_commit(file, error);
    }
    if (status == TZ_OK)
        status = tz_page_write(page, tz_sweep_page, s.facts, &s.pictures, error);
    json_decref(s.facts);
    tz_paths_clear(&s.pictures);
    return status;
}
