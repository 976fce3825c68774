#include "output/sweep/grid.h"

#include "base/number.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_MAX = 40 };

/* ---- Adding an axis -------------------------------------------------------------------------- */

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

size_t tz_sweep_grid_place(const tz_sweep_grid *grid, size_t point, size_t axis)
{
    for (size_t i = grid->count; --i > axis;)
        point /= grid->axes[i].values.count;
    return point % grid->axes[axis].values.count;
}

const char *tz_sweep_grid_value(const tz_sweep_grid *grid, size_t point, size_t axis)
{
    return grid->axes[axis].values.items[tz_sweep_grid_place(grid, point, axis)];
}

void tz_sweep_grid_name(const tz_sweep_grid *grid, size_t point, char text[TZ_SWEEP_POINT_SIZE])
{
    size_t used = 0;
    for (size_t i = 0; i < grid->count && used < TZ_SWEEP_POINT_SIZE; i++)
        used += (size_t)snprintf(text + used, TZ_SWEEP_POINT_SIZE - used, "%s%s=%s", i ? "," : "",
                                 grid->axes[i].name,
                                 grid->axes[i].labels.items[tz_sweep_grid_place(grid, point, i)]);
    if (used >= TZ_SWEEP_POINT_SIZE)
        snprintf(text, TZ_SWEEP_POINT_SIZE, "point-%05zu", point + 1);
}
