/* HotSpot's floorplans and power traces: tz.floorplan reads them. */
#include "output/format/floorplan.h"

#include "base/minmax.h"
#include "base/number.h"
#include "output/format/lines.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS_MAX = 20000, TOKENS_MAX = 8 };

/* A fraction of the chip's longer side: published plans round their coordinates. */
static const double tolerance = 1e-4;

/* A fraction of the plan's reach: the coordinates of smaller units would be rounding errors. */
static const double resolution = 1e-12;

/* Lists grow at each power of two. */
static bool is_full(size_t count)
{
    return (count & (count - 1)) == 0;
}

static tz_status parse_unit(const tz_word *tokens, int count, const tz_line *line,
                            tz_floorplan_unit *unit, tz_error *error)
{
    double values[6] = {0};
    if (count != 5 && count != 7)
        return TZ_LINE_FAULT(
            line, error, TZ_FORMAT,
            "a unit needs 5 columns (name width height left_x bottom_y) or 7, and a connection 3 "
            "(two units and a density), not %s%d",
            count == TOKENS_MAX ? "more than " : "", count == TOKENS_MAX ? 7 : count);
    tz_status status = tz_word_name(&tokens[0], line, unit->name, error);
    for (int k = 1; k < count && status == TZ_OK; k++)
        status = tz_word_number(&tokens[k], line, &values[k - 1], error);
    if (status != TZ_OK)
        return status;
    if (values[0] <= 0.0 || values[1] <= 0.0)
        return TZ_LINE_FAULT(line, error, TZ_RANGE, "unit '%s': width and height must be above 0",
                             unit->name);
    unit->width_m = values[0];
    unit->height_m = values[1];
    unit->left_m = values[2];
    unit->bottom_m = values[3];
    unit->heat_j_m3k = values[4];
    unit->resistivity_mk_w = values[5];
    unit->line = line->number;
    return TZ_OK;
}

/* Length that two intervals have in common; negative if they are apart. */
static double common(double a0, double a_length, double b0, double b_length)
{
    return tz_min_double(a0 + a_length, b0 + b_length) - tz_max_double(a0, b0);
}

/* Two units may have a share of the smaller one's area in common; edges may overlap by rounding. */
static tz_status check_overlap(const tz_floorplan *plan, const tz_floorplan_unit *u,
                               const tz_floorplan_unit *v, double overlap, tz_error *error)
{
    const double slack = tolerance * tz_max_double(plan->width_m, plan->height_m);
    const double across = common(u->left_m, u->width_m, v->left_m, v->width_m);
    const double up = common(u->bottom_m, u->height_m, v->bottom_m, v->height_m);
    const double least = tz_min_double(u->width_m * u->height_m, v->width_m * v->height_m);
    if (across <= slack || up <= slack || across * up <= overlap * least)
        return TZ_OK;
    const double percent = 100.0 * across * up / least;
    return tz_error_set_line(
        error, TZ_RANGE, plan->path, u->line,
        "unit '%s' overlaps unit '%s' of line %d, by %.3g %% of %s%s", u->name, v->name, v->line,
        percent, least < u->width_m * u->height_m ? "that" : "it",
        percent <= 100.0 * TZ_OVERLAP_MAX ? "; 'overlap' of tz.floorplan allows up to 1 %" : "");
}

static tz_status check_plan(tz_floorplan *plan, double overlap, tz_error *error)
{
    double left = INFINITY, bottom = INFINITY, right = -INFINITY, top = -INFINITY;
    for (size_t i = 0; i < plan->unit_count; i++) {
        const tz_floorplan_unit *u = &plan->units[i];
        left = tz_min_double(left, u->left_m);
        bottom = tz_min_double(bottom, u->bottom_m);
        right = tz_max_double(right, u->left_m + u->width_m);
        top = tz_max_double(top, u->bottom_m + u->height_m);
    }
    plan->left_m = left;
    plan->bottom_m = bottom;
    plan->width_m = right - left;
    plan->height_m = top - bottom;
    for (size_t i = 0; i < plan->unit_count; i++)
        plan->covered += plan->units[i].width_m * plan->units[i].height_m;
    plan->covered /= plan->width_m * plan->height_m;
    /* Also what is not finite fails here. */
    const double across = tz_max_double(fabs(left), fabs(right)),
                 up = tz_max_double(fabs(bottom), fabs(top));
    for (size_t i = 0; i < plan->unit_count; i++) {
        const tz_floorplan_unit *u = &plan->units[i];
        if (!(u->width_m >= resolution * across && u->height_m >= resolution * up))
            return tz_error_set_line(
                error, TZ_RANGE, plan->path, u->line,
                "unit '%s' is too small for a plan that reaches to %g m x %g m", u->name, across,
                up);
    }
    for (size_t i = 0; i < plan->unit_count; i++) {
        const tz_floorplan_unit *u = &plan->units[i];
        for (size_t j = 0; j < i; j++) {
            const tz_floorplan_unit *v = &plan->units[j];
            if (strcmp(u->name, v->name) == 0)
                return tz_error_set_line(error, TZ_FORMAT, plan->path, u->line,
                                         "unit '%s' is already defined in line %d", u->name,
                                         v->line);
            const tz_status status = check_overlap(plan, u, v, overlap, error);
            if (status != TZ_OK)
                return status;
        }
    }
    return TZ_OK;
}

static bool has_unit(const tz_floorplan *plan, const tz_word *t)
{
    for (size_t i = 0; i < plan->unit_count; i++)
        if (tz_word_is(t, plan->units[i].name))
            return true;
    return false;
}

/* A line that connects two units, with the density of their wires. */
static bool is_connection(const tz_floorplan *plan, const tz_word *tokens, int count)
{
    double density;
    return count == 3 && has_unit(plan, &tokens[0]) && has_unit(plan, &tokens[1]) &&
           tz_number_parse(tokens[2].text, tokens[2].length, &density);
}

static tz_status plan_line(void *out, const tz_line *line, tz_error *error)
{
    tz_floorplan *plan = out;
    tz_word tokens[TOKENS_MAX];
    int count = 0;
    for (const char *p = line->begin;
         count < TOKENS_MAX && tz_line_word(&p, line->end, &tokens[count]);)
        count++;
    if (is_connection(plan, tokens, count))
        return TZ_OK;
    if (is_full(plan->unit_count)) {
        const size_t room = 2 * plan->unit_count + 1;
        tz_floorplan_unit *grown =
            room > 2 * UNITS_MAX ? NULL : realloc(plan->units, room * sizeof *grown);
        if (!grown)
            return TZ_LINE_FAULT(line, error, TZ_MEMORY, "too many units");
        plan->units = grown;
    }
    const tz_status status = parse_unit(tokens, count, line, &plan->units[plan->unit_count], error);
    plan->unit_count += status == TZ_OK;
    return status;
}

tz_status tz_floorplan_read(const char *path, double overlap, tz_floorplan *out, tz_error *error)
{
    memset(out, 0, sizeof *out);
    tz_status status = tz_lines_read(path, &out->path, plan_line, out, error);
    if (status == TZ_OK)
        status = out->unit_count ? check_plan(out, overlap, error)
                                 : tz_error_set(error, TZ_FORMAT, path, "has no units");
    if (status != TZ_OK)
        tz_floorplan_clear(out);
    return status;
}

void tz_floorplan_move(tz_floorplan *plan, double left_m, double bottom_m)
{
    for (size_t i = 0; i < plan->unit_count; i++) {
        plan->units[i].left_m += left_m - plan->left_m;
        plan->units[i].bottom_m += bottom_m - plan->bottom_m;
    }
    plan->left_m = left_m;
    plan->bottom_m = bottom_m;
}

void tz_floorplan_clear(tz_floorplan *plan)
{
    free(plan->path);
    free(plan->units);
    memset(plan, 0, sizeof *plan);
}

static tz_status trace_names(tz_ptrace *trace, const tz_line *line, tz_error *error)
{
    tz_word t;
    const char *p = line->begin;
    size_t count = 0;
    while (tz_line_word(&p, line->end, &t))
        count++;
    if (count > UNITS_MAX)
        return TZ_LINE_FAULT(line, error, TZ_FORMAT, "too many units");
    trace->names = calloc(count, sizeof *trace->names);
    if (!trace->names)
        return tz_error_set(error, TZ_MEMORY, trace->path, "not enough memory for the trace");
    trace->name_line = line->number;
    for (p = line->begin; tz_line_word(&p, line->end, &t); trace->unit_count++) {
        char *name = trace->names[trace->unit_count];
        const tz_status status = tz_word_name(&t, line, name, error);
        if (status != TZ_OK)
            return status;
        for (size_t j = 0; j < trace->unit_count; j++)
            trace->repeats = trace->repeats || strcmp(trace->names[j], name) == 0;
    }
    return TZ_OK;
}

static tz_status trace_line(void *out, const tz_line *line, tz_error *error)
{
    tz_ptrace *trace = out;
    tz_word t;
    size_t count = 0;
    if (!trace->names)
        return trace_names(trace, line, error);
    if (is_full(trace->sample_count)) {
        const size_t room = 2 * trace->sample_count + 1;
        double *grown = realloc(trace->powers_w, room * trace->unit_count * sizeof *grown);
        if (!grown)
            return tz_error_set(error, TZ_MEMORY, trace->path, "not enough memory for the trace");
        trace->powers_w = grown;
    }
    double *powers = trace->powers_w + trace->sample_count * trace->unit_count;
    for (const char *p = line->begin; tz_line_word(&p, line->end, &t); count++) {
        double value;
        const tz_status status = tz_word_number(&t, line, &value, error);
        if (status != TZ_OK)
            return status;
        if (value < 0.0 && trace->negative_line == 0)
            trace->negative_line = line->number;
        if (count < trace->unit_count)
            powers[count] = value;
    }
    if (count != trace->unit_count)
        return TZ_LINE_FAULT(line, error, TZ_SHAPE, "has %zu powers for the %zu units of line %d",
                             count, trace->unit_count, trace->name_line);
    trace->sample_count++;
    return TZ_OK;
}

tz_status tz_ptrace_read(const char *path, tz_ptrace *out, tz_error *error)
{
    memset(out, 0, sizeof *out);
    tz_status status = tz_lines_read(path, &out->path, trace_line, out, error);
    if (status == TZ_OK && out->sample_count == 0)
        status = tz_error_set(error, TZ_FORMAT, path,
                              "needs a line of unit names and at least one line of powers");
    if (status != TZ_OK)
        tz_ptrace_clear(out);
    return status;
}

void tz_ptrace_clear(tz_ptrace *trace)
{
    free(trace->path);
    free(trace->names);
    free(trace->powers_w);
    memset(trace, 0, sizeof *trace);
}

tz_status tz_ptrace_arrange(const tz_ptrace *trace, const tz_floorplan *plan, int64_t sample,
                            size_t first, size_t count, double *powers_w, tz_error *error)
{
    if (sample < -1 || sample >= (int64_t)trace->sample_count)
        return tz_error_set(error, TZ_RANGE, trace->path,
                            "has %zu samples; there is no sample %" PRId64, trace->sample_count,
                            sample);
    const size_t end = count < trace->unit_count - first ? first + count : trace->unit_count;
    for (size_t i = 0; i < plan->unit_count; i++) {
        size_t k = first, again;
        while (k < end && strcmp(trace->names[k], plan->units[i].name) != 0)
            k++;
        for (again = k + 1; again < end; again++)
            if (strcmp(trace->names[again], plan->units[i].name) == 0)
                return tz_error_set_line(error, TZ_FORMAT, trace->path, trace->name_line,
                                         "unit '%s' is named twice", plan->units[i].name);
        if (k >= end)
            return tz_error_set_line(error, TZ_UNKNOWN, plan->path, plan->units[i].line,
                                     "unit '%s' has no power in %s", plan->units[i].name,
                                     trace->path);
        const size_t from = sample < 0 ? 0 : (size_t)sample;
        const size_t to = sample < 0 ? trace->sample_count : from + 1;
        double sum = 0.0;
        for (size_t s = from; s < to; s++)
            sum += trace->powers_w[s * trace->unit_count + k];
        powers_w[i] = sum / (double)(to - from);
    }
    return TZ_OK;
}

/* Shares of [low, high] (in cells) that fall on cells 0..n-1, into share[first..last]; they sum
 * to 1. */
static void split(double low, double high, int64_t n, double *share, int64_t *first, int64_t *last)
{
    low = tz_max_double(low, 0.0);
    high = tz_min_double(high, (double)n);
    *first = (int64_t)tz_min_double(floor(low), (double)(n - 1));
    *last =
        (int64_t)tz_min_double(tz_max_double(ceil(high) - 1.0, (double)*first), (double)(n - 1));
    for (int64_t i = *first; i <= *last; i++)
        share[i] = *first == *last
                       ? 1.0
                       : (tz_min_double(high, (double)(i + 1)) - tz_max_double(low, (double)i)) /
                             (high - low);
}

/* Where a chip lies in the plan's coordinates. */
typedef struct chip {
    double left, bottom, width_m, height_m;
} chip;

/* The chip of that size with its corner at the origin; both 0: the plan's bounding box. */
static tz_status place_chip(const tz_floorplan *plan, double width_m, double height_m, chip *out,
                            tz_error *error)
{
    const bool boxed = width_m == 0.0 && height_m == 0.0;
    *out = boxed ? (chip){plan->left_m, plan->bottom_m, plan->width_m, plan->height_m}
                 : (chip){0.0, 0.0, width_m, height_m};
    if (!(out->width_m > 0.0 && out->height_m > 0.0 && isfinite(out->width_m) &&
          isfinite(out->height_m)))
        return tz_error_set(error, TZ_RANGE, plan->path,
                            "the chip's width and height must both be above 0, or both 0");
    return TZ_OK;
}

/* The unit's left and upper edge, from those of the chip. */
static tz_status place_unit(const tz_floorplan *plan, const tz_floorplan_unit *u, const chip *c,
                            double *x, double *top, tz_error *error)
{
    const double slack = tolerance * tz_max_double(c->width_m, c->height_m);
    *x = u->left_m - c->left;
    *top = c->height_m - (u->bottom_m - c->bottom) - u->height_m;
    if (*x < -slack || *top < -slack || *x + u->width_m > c->width_m + slack ||
        *top + u->height_m > c->height_m + slack || *x >= c->width_m || *top >= c->height_m ||
        *x + u->width_m <= 0.0 || *top + u->height_m <= 0.0)
        return tz_error_set_line(error, TZ_RANGE, plan->path, u->line,
                                 "unit '%s' is outside the chip of %g m x %g m", u->name,
                                 c->width_m, c->height_m);
    return TZ_OK;
}

/* The cells whose centres lie from `from` to `to`, in cells, or those with a part there. Edges that
 * differ by rounding are the same edge. */
static void cells_between(double from, double to, int64_t n, bool touched, int64_t *low,
                          int64_t *high)
{
    const double rounding = 1e-6, centre = touched ? 0.0 : 0.5;
    const double first = touched ? floor(from + rounding) : ceil(from - centre - rounding);
    *low = (int64_t)tz_max_double(first, 0.0);
    *high = (int64_t)tz_min_double(ceil(to - centre - rounding), (double)n);
    if (*low < *high)
        return;
    *low = (int64_t)tz_min_double(tz_max_double(floor(0.5 * (from + to)), 0.0), (double)(n - 1));
    *high = *low + 1;
}

tz_status tz_floorplan_unit_cells(const tz_floorplan *plan, const tz_floorplan_unit *unit,
                                  int64_t nx, int64_t ny, double width_m, double height_m,
                                  bool touched, int64_t low[2], int64_t high[2], tz_error *error)
{
    chip c;
    double x, top;
    tz_status status = place_chip(plan, width_m, height_m, &c, error);
    if (status == TZ_OK)
        status = place_unit(plan, unit, &c, &x, &top, error);
    if (status != TZ_OK)
        return status;
    const double across = (double)nx / c.width_m, down = (double)ny / c.height_m;
    cells_between(x * across, (x + unit->width_m) * across, nx, touched, &low[0], &high[0]);
    cells_between(top * down, (top + unit->height_m) * down, ny, touched, &low[1], &high[1]);
    return TZ_OK;
}

tz_status tz_floorplan_rasterise_rows(const tz_floorplan *plan, const double *powers_w, int64_t nx,
                                      int64_t ny, double width_m, double height_m, int64_t y_low,
                                      int64_t y_high, tz_array **out, tz_error *error)
{
    const int64_t shape[] = {nx, y_high - y_low};
    tz_array *array = NULL;
    double *columns = NULL, *rows = NULL;
    chip c;
    *out = NULL;
    tz_status status = place_chip(plan, width_m, height_m, &c, error);
    if (status == TZ_OK)
        status = tz_array_create(&array, TZ_DTYPE_F64, 2, shape, error);
    if (status != TZ_OK)
        return status;
    columns = malloc((size_t)nx * sizeof *columns);
    rows = malloc((size_t)ny * sizeof *rows);
    if (!columns || !rows) {
        status = tz_error_set(error, TZ_MEMORY, plan->path, "not enough memory for the power map");
        goto cleanup;
    }
    const double across = (double)nx / c.width_m, down = (double)ny / c.height_m;
    double *cells = array->data;
    for (size_t k = 0; k < plan->unit_count; k++) {
        const tz_floorplan_unit *u = &plan->units[k];
        double x, top;
        int64_t x0, x1, y0, y1;
        status = place_unit(plan, u, &c, &x, &top, error);
        if (status != TZ_OK)
            goto cleanup;
        split(x * across, (x + u->width_m) * across, nx, columns, &x0, &x1);
        split(top * down, (top + u->height_m) * down, ny, rows, &y0, &y1);
        for (int64_t j = y0 > y_low ? y0 : y_low; j <= y1 && j < y_high; j++)
            for (int64_t i = x0; i <= x1; i++)
                cells[(j - y_low) * nx + i] += powers_w[k] * rows[j] * columns[i];
    }
    *out = array;
    array = NULL;
cleanup:
    free(columns);
    free(rows);
    tz_array_destroy(array);
    return status;
}
