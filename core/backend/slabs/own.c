/* The cells that this process holds, for outputs that each rank writes. */
#include "backend/slabs/slabs_impl.h"

typedef struct access {
    int field;
    const tz_box *box; /* of the whole grid */
    char *to;
} access;

void tz_slabs_own_range(const void *state, int64_t *low, int64_t *high)
{
    const tz__slabs *slabs = state;
    *low = slabs->cut.at[slabs->low];
    *high = slabs->cut.at[slabs->high];
}

static tz_status load_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    const access *a = argument;
    const tz_problem *whole = slabs->context.problem;
    const int axis = whole->dims - 1;
    const int64_t low = slabs->cut.at[i], high = slabs->cut.at[i + 1];
    const int64_t first = slabs->parts[i]->problem.slab.first;
    size_t slice = tz_problem_element_size(whole, a->field);
    tz_box part = *a->box;
    for (int other = 0; other < axis; other++)
        slice *= (size_t)(part.high[other] - part.low[other]);
    part.low[axis] = part.low[axis] > low ? part.low[axis] : low;
    part.high[axis] = part.high[axis] < high ? part.high[axis] : high;
    if (part.low[axis] >= part.high[axis])
        return TZ_OK;
    char *to = a->to + (size_t)(part.low[axis] - a->box->low[axis]) * slice;
    part.low[axis] -= first;
    part.high[axis] -= first;
    return slabs->inner->load(slabs->parts[i]->state, a->field, &part, to, error);
}

tz_status tz_slabs_load_own(const void *state, int field, const tz_box *box, void *elements,
                            tz_error *error)
{
    access a = {.field = field, .box = box, .to = elements};
    return tz__slabs_own((tz__slabs *)state, load_part, &a, error);
}
