/* Values of derived fields at points, from recorded cells of state fields: the rows around them are
 * read and computed as for a whole field (derived.c). Called by points.c. */
#include "sim/derived_points.h"

#include "sim/state.h"
#include <stdlib.h>
#include <string.h>

enum { GAP = 4 /* elements between two of a row that are computed together */ };

/* Elements of a row that are computed together. */
typedef struct piece {
    int field;
    tz_box box;
    size_t first, count; /* of tz_derived_points.wanted */
    char *statics;       /* what it reads of fields that do not change, in the order of reading */
    size_t statics_bytes;
} piece;

struct tz_derived_points {
    tz_simulation *simulation;
    piece *pieces;
    size_t pieces_count;
    tz_point_at *wanted;
    int64_t step;                           /* after the first iteration */
    tz_slot (*constants)[TZ_CONSTANTS_MAX]; /* of each iteration */
};

/* What a piece is computed from. */
typedef struct reading {
    const tz_derived_points *of;
    tz_point_elements *needs; /* it is not computed: these are to be recorded */
    piece *keeps;             /* it is not computed: what does not change is kept */
    const piece *of_piece;
    size_t statics_used;
    int64_t k; /* row of recorded values */
} reading;

tz_status tz__point_elements_add(tz_point_elements *to, const tz_point_at *at, tz_error *error)
{
    if (to->count == to->room) {
        const size_t room = 2 * to->room + 256;
        tz_point_at *more = realloc(to->at, room * sizeof *more);
        if (!more)
            return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for points");
        to->at = more;
        to->room = room;
    }
    to->at[to->count++] = *at;
    return TZ_OK;
}

static bool is_recorded(const tz_problem *problem, int field)
{
    for (int p = 0; p < problem->stencil->passes_count; p++)
        if (problem->stencil->passes[p].writes >> field & 1)
            return true;
    return false;
}

static size_t box_bytes(const tz_problem *problem, int field, const tz_box *box)
{
    size_t bytes = tz_problem_element_size(problem, field);
    for (int axis = 0; axis < TZ_AXES; axis++)
        bytes *= (size_t)(box->high[axis] - box->low[axis]);
    return bytes;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static tz_status note_needs(tz_point_elements *needs, int field, const tz_box *box, tz_error *error)
{
    tz_point_at point = {.field = field};
    int64_t *at = point.at;
    tz_status status = TZ_OK;
    for (at[2] = box->low[2]; at[2] < box->high[2]; at[2]++)
        for (at[1] = box->low[1]; at[1] < box->high[1]; at[1]++)
            for (at[0] = box->low[0]; at[0] < box->high[0] && !status; at[0]++)
                status = tz__point_elements_add(needs, &point, error);
    return status;
}

static void copy_recorded(const reading *r, int field, const tz_box *box, char *to)
{
    const tz_problem *problem = &r->of->simulation->problem;
    const tz_point_list *list = &problem->points->recorded[field];
    const tz_point_values *values = problem->points->values;
    const size_t size = tz_problem_element_size(problem, field);
    const char *from = values->recorded + (size_t)(r->k * values->records) * values->slot;
    for (int64_t z = box->low[2]; z < box->high[2]; z++)
        for (int64_t y = box->low[1]; y < box->high[1]; y++) {
            const int64_t row = y + problem->elements[1] * z;
            int32_t i = list->first[row];
            for (int32_t end = list->first[row + 1]; i < end;) { /* all of them are recorded */
                const int32_t middle = i + (end - i) / 2;
                if (list->of[middle].x < box->low[0])
                    i = middle + 1;
                else
                    end = middle;
            }
            for (int64_t x = box->low[0]; x < box->high[0]; x++, i++, to += size)
                memcpy(to, from + (size_t)list->of[i].index * values->slot, size);
        }
}

static tz_status load(void *any, int field, const tz_box *box, void *elements, tz_error *error)
{
    reading *r = any;
    const tz_simulation *simulation = r->of->simulation;
    const size_t bytes = box_bytes(&simulation->problem, field, box);
    const bool recorded = is_recorded(&simulation->problem, field);
    memset(elements, 0, bytes);
    if (r->needs)
        return recorded ? note_needs(r->needs, field, box, error) : TZ_OK;
    if (recorded && !r->keeps) {
        copy_recorded(r, field, box, elements);
    } else if (!recorded && r->keeps) {
        char *more = realloc(r->keeps->statics, r->keeps->statics_bytes + bytes);
        if (!more)
            return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for points");
        r->keeps->statics = more;
        more += r->keeps->statics_bytes;
        r->keeps->statics_bytes += bytes;
        return simulation->backend->load(simulation->state, field, box, more, error);
    } else if (!recorded) {
        memcpy(elements, r->of_piece->statics + r->statics_used, bytes);
        r->statics_used += bytes;
    }
    return TZ_OK;
}

static tz_status compute(reading *r, const piece *p, void *elements, tz_error *error)
{
    const tz_derived_points *points = r->of;
    const tz_field_reader from = {load, r, points->step + r->k,
                                  points->constants ? points->constants[r->k]
                                                    : points->simulation->problem.constants};
    r->of_piece = p;
    r->statics_used = 0;
    return tz__derived_from(points->simulation, &from, p->field, &p->box, elements, error);
}

static void *make_room(const piece *p, tz_error *error)
{
    void *room = malloc((size_t)(p->box.high[0] - p->box.low[0]) * sizeof(double));
    if (!room)
        tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for points");
    return room;
}

/* Read for piece i what is needed, or what does not change. */
static tz_status read_piece(reading *r, const piece *p, tz_error *error)
{
    void *room = make_room(p, error);
    const tz_status status = room ? compute(r, p, room, error) : TZ_MEMORY;
    free(room);
    return status;
}

/* ---- Points ---------------------------------------------------------------------------------- */

static void make_pieces(tz_derived_points *points, size_t count)
{
    piece *p = NULL;
    for (size_t i = 0; i < count; i++) {
        const tz_point_at *e = &points->wanted[i];
        const bool joins = p && p->field == e->field && p->box.low[1] == e->at[1] &&
                           p->box.low[2] == e->at[2] && e->at[0] <= p->box.high[0] + GAP;
        if (!joins) {
            p = &points->pieces[points->pieces_count++];
            *p = (piece){.field = e->field,
                         .box = {{e->at[0], e->at[1], e->at[2]}, {0, e->at[1] + 1, e->at[2] + 1}},
                         .first = i};
        }
        p->box.high[0] = e->at[0] + 1;
        p->count++;
    }
}

tz_status tz__derived_points_create(tz_derived_points **out, tz_simulation *simulation,
                                    size_t count, const tz_point_at *elements,
                                    tz_point_elements *needs, tz_error *error)
{
    tz_derived_points *points = calloc(1, sizeof *points);
    *out = NULL;
    if (points) {
        points->simulation = simulation;
        points->pieces = calloc(count + 1, sizeof *points->pieces);
        points->wanted = malloc((count + 1) * sizeof *points->wanted);
    }
    tz_status status = points && points->pieces && points->wanted
                           ? TZ_OK
                           : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for points");
    if (!status) {
        memcpy(points->wanted, elements, count * sizeof *elements);
        make_pieces(points, count);
    }
    for (size_t i = 0; !status && i < points->pieces_count; i++)
        status = read_piece(&(reading){.of = points, .needs = needs}, &points->pieces[i], error);
    if (status)
        tz__derived_points_destroy(points);
    else
        *out = points;
    return status;
}

void tz__derived_points_destroy(tz_derived_points *points)
{
    if (!points)
        return;
    for (size_t i = 0; i < points->pieces_count; i++)
        free(points->pieces[i].statics);
    free(points->pieces);
    free(points->wanted);
    free(points->constants);
    free(points);
}

tz_status tz__derived_points_begin(tz_derived_points *points, int64_t step, int64_t iterations,
                                   tz_error *error)
{
    const tz_problem *problem = &points->simulation->problem;
    tz_status status = TZ_OK;
    points->step = step;
    free(points->constants);
    points->constants = NULL;
    for (size_t i = 0; !status && i < points->pieces_count; i++) {
        piece *p = &points->pieces[i];
        p->statics_bytes = 0;
        status = read_piece(&(reading){.of = points, .keeps = p}, p, error);
    }
    if (status || !tz_problem_varies(problem))
        return status;
    points->constants = calloc((size_t)iterations, sizeof *points->constants);
    if (!points->constants)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for points");
    for (int64_t k = 0; k < iterations && !status; k++)
        status = tz_problem_constants_at(problem, step + k, points->constants[k], error);
    return status;
}

tz_status tz__derived_points_compute(const tz_derived_points *points, int64_t k, double *values,
                                     tz_error *error)
{
    const tz_problem *problem = &points->simulation->problem;
    tz_status status = TZ_OK;
    for (size_t i = 0; i < points->pieces_count && !status; i++) {
        const piece *p = &points->pieces[i];
        const size_t size = tz_problem_element_size(problem, p->field);
        reading r = {.of = points, .k = k};
        char *room = make_room(p, error);
        status = room ? compute(&r, p, room, error) : TZ_MEMORY;
        for (size_t e = p->first; e < p->first + p->count && !status; e++) {
            const char *element = room + (size_t)(points->wanted[e].at[0] - p->box.low[0]) * size;
            if (problem->bits)
                tz_problem_element_type(problem, p->field)->get(element, 1, &values[e]);
            else
                tz_problem_to_values(problem, p->field, element, 1, &values[e]);
        }
        free(room);
    }
    return status;
}
