/* Points of a stage. Called by the loops of both families when a pass has computed rows. */
#include "kernels/cpu/points.h"

#include "base/minmax.h"
#include "kernels/cpu/stored.h"
#include <string.h>

/* The points of a row from element `low` to `high`: numbers *i to *end. */
static void find_points(const tz_point_list *list, int64_t row, int64_t low, int64_t high,
                        int32_t *i, int32_t *end)
{
    int32_t a = list->first[row], b = list->first[row + 1];
    for (int32_t above = b; a < above;) { /* the first at `low` or after it */
        const int32_t middle = a + (above - a) / 2;
        if (list->of[middle].x < low)
            a = middle + 1;
        else
            above = middle;
    }
    *i = a;
    while (a < b && list->of[a].x < high)
        a++;
    *end = a;
}

static void add_double(char *element, const char *value)
{
    double sum, more;
    memcpy(&sum, element, sizeof sum);
    memcpy(&more, value, sizeof more);
    sum += more;
    memcpy(element, &sum, sizeof sum);
}

/* `storage`: NULL if the element is a value. */
static void add_single(char *element, const tz_storage *storage, const char *value)
{
    float sum, more;
    if (storage)
        tz_stored_load(storage, TZ_ISA_BASE, element, 1, &sum);
    else
        memcpy(&sum, element, sizeof sum);
    memcpy(&more, value, sizeof more);
    sum += more;
    if (storage)
        tz_stored_store(storage, TZ_ISA_BASE, &sum, 1, element);
    else
        memcpy(element, &sum, sizeof sum);
}

static void add(const tz_stage *stage, int field, char *element, const char *value)
{
    if (stage->element_size[field] == sizeof(double))
        add_double(element, value);
    else
        add_single(element, tz_stage_as_computed(stage, field) ? NULL : &stage->storage[field],
                   value);
}

static void apply_to_row(const tz_stage *stage, const tz_points_box *box, int64_t y, int64_t z)
{
    const tz_points *points = stage->points;
    const tz_point_values *values = points->values;
    const size_t size = stage->element_size[box->field];
    const int64_t row = y + stage->elements[1] * z;
    const int64_t k = stage->step + box->iteration - values->begin;
    char *at = box->at + (y * box->row_stride + z * box->plane_stride) * (ptrdiff_t)size;
    int32_t i, end;
    const tz_point_list *list = &points->added[box->field];
    if (list->count > 0) {
        const size_t real = size == sizeof(double) ? sizeof(double) : sizeof(float);
        const char *from = values->added + (size_t)(k * values->adds) * real;
        find_points(list, row, box->low[0], box->high[0], &i, &end);
        for (; i < end; i++)
            add(stage, box->field, at + list->of[i].x * (ptrdiff_t)size,
                from + (size_t)list->of[i].index * real);
    }
    list = &points->recorded[box->field];
    if (list->count > 0 && y >= box->own_low[1] && y < box->own_high[1] && z >= box->own_low[2] &&
        z < box->own_high[2]) {
        char *to = values->recorded + (size_t)(k * values->records) * values->slot;
        find_points(list, row, box->own_low[0], box->own_high[0], &i, &end);
        for (; i < end; i++)
            memcpy(to + (size_t)list->of[i].index * values->slot,
                   at + list->of[i].x * (ptrdiff_t)size, size);
    }
}

void tz_points_apply(const tz_stage *stage, const tz_points_box *box)
{
    const tz_point_list *lists[] = {&stage->points->added[box->field],
                                    &stage->points->recorded[box->field]};
    for (int64_t z = box->low[2]; z < box->high[2]; z++) {
        const int64_t row = stage->elements[1] * z;
        bool any = false; /* in these rows of the plane */
        for (int k = 0; k < 2; k++)
            any = any || (lists[k]->count > 0 &&
                          lists[k]->first[row + box->low[1]] < lists[k]->first[row + box->high[1]]);
        for (int64_t y = box->low[1]; any && y < box->high[1]; y++)
            apply_to_row(stage, box, y, z);
    }
}
