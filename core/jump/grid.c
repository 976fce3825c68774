#include "jump/grid.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 20 }; /* elements */

/* The boxes that cover a grid in the order of its elements: true while there is one. `at`: the number of
 * its first element, 0 at first; the caller adds the elements of the box. */
static bool box_at(const tz_problem *problem, int64_t at, tz_box *box, int64_t *count)
{
    const int64_t *n = problem->elements;
    const int64_t row = n[0], plane = n[0] * n[1];
    const int64_t x = at % row, y = at / row % n[1], z = at / plane;
    if (z >= n[2])
        return false;
    *box = (tz_box){{x, y, z}, {n[0], y + 1, z + 1}};
    const int axis = plane <= PIECE ? 2 : row <= PIECE ? 1 : 0;
    const int64_t unit = axis == 2 ? plane : axis == 1 ? row : 1, most = PIECE / unit;
    if (axis == 2)
        box->high[1] = n[1];
    box->high[axis] = box->low[axis] + most < n[axis] ? box->low[axis] + most : n[axis];
    *count = unit * (box->high[axis] - box->low[axis]);
    return true;
}

static tz_status no_memory(tz_error *error)
{
    return tz_error_set(error, TZ_MEMORY, "jump", "not enough memory");
}

static bool is_narrow(const tz_problem *problem, int field)
{
    return tz_problem_element_size(problem, field) == sizeof(float);
}

/* Elements in single and in double precision. */
typedef struct numbers {
    float *narrow;
    double *wide;
    const double *from;
} numbers;

static void widen(void *any, int64_t begin, int64_t end, int thread)
{
    const numbers *n = any;
    (void)thread;
    for (int64_t i = begin; i < end; i++)
        n->wide[i] = n->narrow[i];
}

static void narrow_down(void *any, int64_t begin, int64_t end, int thread)
{
    const numbers *n = any;
    (void)thread;
    for (int64_t i = begin; i < end; i++)
        n->narrow[i] = (float)n->from[i];
}

tz_status tz_grid_read(const tz_grid_state *from, int field, double *values, tz_error *error)
{
    const bool narrow = is_narrow(from->problem, field);
    float *room = narrow ? malloc(PIECE * sizeof *room) : NULL;
    int64_t at = 0, count;
    tz_box box;
    tz_status status = narrow && !room ? no_memory(error) : TZ_OK;
    for (; !status && box_at(from->problem, at, &box, &count); at += count) {
        void *to = narrow ? (void *)room : (void *)(values + at);
        status = from->backend->load(from->state, field, &box, to, error);
        if (narrow)
            tz_threads_for(from->threads, count, widen,
                           &(numbers){.narrow = room, .wide = values + at});
    }
    free(room);
    return status;
}

tz_status tz_grid_write(const tz_grid_state *to, int field, const double *values, tz_error *error)
{
    const bool narrow = is_narrow(to->problem, field);
    float *room = narrow ? malloc(PIECE * sizeof *room) : NULL;
    int64_t at = 0, count;
    tz_box box;
    tz_status status = narrow && !room ? no_memory(error) : TZ_OK;
    for (; !status && box_at(to->problem, at, &box, &count); at += count) {
        if (narrow)
            tz_threads_for(to->threads, count, narrow_down,
                           &(numbers){.narrow = room, .from = values + at});
        const void *from = narrow ? (const void *)room : (const void *)(values + at);
        status = to->backend->store(to->state, field, &box, from, error);
    }
    free(room);
    return status;
}

tz_status tz_grid_copy_static(const tz_grid_state *from, const tz_grid_state *to, tz_error *error)
{
    const tz_stencil *stencil = from->problem->stencil;
    double *room = malloc(PIECE * sizeof *room), *wide = malloc(PIECE * sizeof *wide);
    tz_status status = room && wide ? TZ_OK : no_memory(error);
    for (int f = 0; f < stencil->fields_count; f++) {
        const bool widens = tz_type_is_real(stencil->fields[f].type) &&
                            is_narrow(from->problem, f) && !is_narrow(to->problem, f);
        int64_t at = 0, count;
        tz_box box;
        if (stencil->fields[f].role != TZ_STATIC)
            continue;
        for (; !status && box_at(from->problem, at, &box, &count); at += count) {
            status = from->backend->load(from->state, f, &box, room, error);
            for (int64_t i = 0; widens && i < count; i++)
                wide[i] = ((const float *)room)[i];
            if (!status)
                status = to->backend->store(to->state, f, &box, widens ? wide : room, error);
        }
    }
    free(room);
    free(wide);
    return status;
}
