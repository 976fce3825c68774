/* Lists of points by rows, of a grid and of its slabs. Called by core/sim/points.c and
 * backend/slabs. */
#include "stencil/points.h"

#include <stdlib.h>
#include <string.h>

static int64_t row_of(const tz_problem *problem, const tz_point_at *point)
{
    return point->at[1] + problem->elements[1] * point->at[2];
}

/* Points of the same element keep their order: the sort is stable. */
static int by_x(const void *a, const void *b)
{
    const tz_point *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

/* Counts the points of each row, places them, and sorts each row. */
static tz_status make_list(tz_point_list *list, const tz_problem *problem, int field, size_t count,
                           const tz_point_at *points, tz_error *error)
{
    const int64_t rows = problem->elements[1] * problem->elements[2];
    for (size_t i = 0; i < count; i++)
        list->count += points[i].field == field;
    if (list->count == 0)
        return TZ_OK;
    list->of = malloc(list->count * sizeof *list->of);
    list->first = calloc((size_t)rows + 2, sizeof *list->first);
    if (!list->of || !list->first)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for %zu points",
                            list->count);
    int32_t *next = list->first + 1; /* of each row: where its next point goes; then its end */
    for (size_t i = 0; i < count; i++)
        if (points[i].field == field)
            next[row_of(problem, &points[i]) + 1]++;
    for (int64_t r = 0; r < rows; r++)
        next[r + 1] += next[r];
    for (size_t i = 0; i < count; i++)
        if (points[i].field == field)
            list->of[next[row_of(problem, &points[i])]++] =
                (tz_point){points[i].at[0], points[i].index};
    for (int64_t r = 0; r < rows; r++)
        qsort(list->of + list->first[r], (size_t)(list->first[r + 1] - list->first[r]),
              sizeof *list->of, by_x);
    return TZ_OK;
}

tz_points *tz_points_create(uint32_t fields, const tz_point_values *values)
{
    tz_points *points = calloc(1, sizeof *points);
    if (points)
        *points = (tz_points){.fields = fields, .values = values};
    return points;
}

tz_status tz_points_fill(tz_points *points, const tz_problem *problem, size_t adds,
                         const tz_point_at *added, size_t records, const tz_point_at *recorded,
                         tz_error *error)
{
    tz_status status = TZ_OK;
    tz_points_clear(points);
    for (int f = 0; f < problem->stencil->fields_count && !status; f++) {
        status = make_list(&points->added[f], problem, f, adds, added, error);
        if (!status)
            status = make_list(&points->recorded[f], problem, f, records, recorded, error);
    }
    if (status)
        tz_points_clear(points);
    points->generation++;
    return status;
}

void tz_points_clear(tz_points *points)
{
    for (int f = 0; f < TZ_FIELDS_MAX; f++) {
        free(points->added[f].of);
        free(points->added[f].first);
        free(points->recorded[f].of);
        free(points->recorded[f].first);
    }
    memset(points->added, 0, sizeof points->added);
    memset(points->recorded, 0, sizeof points->recorded);
}

void tz_points_destroy(tz_points *points)
{
    if (points)
        tz_points_clear(points);
    free(points);
}

/* ---- Slabs ----------------------------------------------------------------------------------- */

typedef struct gathering {
    const tz_problem *slab;
    size_t count;
    tz_point_at *points; /* NULL: they are counted */
} gathering;

/* A point of the whole grid where it lies in `low` to `high` of the slab. A ghost zone may go round
 * a periodic grid more than once. */
static void gather_point(gathering *g, const tz_point_at *whole, int64_t low, int64_t high)
{
    const int axis = g->slab->dims - 1;
    const int64_t n = g->slab->slab.of->elements[axis];
    int64_t here = (whole->at[axis] - g->slab->slab.first) % n;
    while (here - n >= low)
        here -= n;
    while (here < low)
        here += n;
    for (; here < high; here += n) {
        if (g->points) {
            g->points[g->count] = *whole;
            g->points[g->count].at[axis] = here;
        }
        g->count++;
    }
}

static void gather(gathering *g, const tz_point_list *lists, bool own)
{
    const tz_problem *whole = g->slab->slab.of;
    const int64_t low = own ? g->slab->slab.low : 0;
    const int64_t high = own ? g->slab->slab.high : g->slab->elements[g->slab->dims - 1];
    g->count = 0;
    for (int f = 0; f < whole->stencil->fields_count; f++)
        for (int64_t r = 0; lists[f].count > 0 && r < whole->elements[1] * whole->elements[2]; r++)
            for (int32_t i = lists[f].first[r]; i < lists[f].first[r + 1]; i++) {
                const tz_point_at point = {
                    f,
                    {lists[f].of[i].x, r % whole->elements[1], r / whole->elements[1]},
                    lists[f].of[i].index};
                gather_point(g, &point, low, high);
            }
}

static tz_status gather_list(gathering *g, const tz_problem *slab, const tz_point_list *lists,
                             bool own, tz_error *error)
{
    *g = (gathering){.slab = slab};
    gather(g, lists, own);
    g->points = malloc((g->count + 1) * sizeof *g->points);
    if (!g->points)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for %zu points", g->count);
    gather(g, lists, own);
    return TZ_OK;
}

tz_status tz_points_fill_slab(tz_points *points, const tz_problem *slab, tz_error *error)
{
    const tz_points *whole = slab->slab.of->points;
    gathering added = {.slab = NULL}, recorded = {.slab = NULL};
    tz_status status = gather_list(&added, slab, whole->added, false, error);
    if (!status)
        status = gather_list(&recorded, slab, whole->recorded, true, error);
    if (!status)
        status = tz_points_fill(points, slab, added.count, added.points, recorded.count,
                                recorded.points, error);
    free(added.points);
    free(recorded.points);
    return status;
}
