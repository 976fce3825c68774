#include "backend/cuda/family/block/design.h"

#include "backend/cuda/family/footprint.h"

#include <string.h>

enum { R = TZ_RADIUS_MAX };

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* The columns of a row that are read, as the lowest and highest offset. */
static void widen_columns(block_design *d, uint32_t row)
{
    for (int dx = -R; dx <= R; dx++)
        if (row >> (R + dx) & 1) {
            d->low[0] = larger(d->low[0], -dx);
            d->high[0] = larger(d->high[0], dx);
        }
}

/* What a pass reads of a field in plane dz. */
static void add_plane(block_design *d, block_field *field, const tz_footprint *reads, int f, int dz)
{
    bool beside = false;
    for (int dy = -R; dy <= R; dy++) {
        const uint32_t row = tz_footprint_row(reads, f, dz, dy), off_centre = row & ~(1u << R);
        if (row == 0 || (dy == 0 && off_centre == 0))
            continue;
        beside = true;
        widen_columns(d, row);
        d->low[1] = larger(d->low[1], -dy);
        d->high[1] = larger(d->high[1], dy);
        d->corners = d->corners || (dy != 0 && off_centre != 0);
    }
    const bool own = tz_footprint_row(reads, f, dz, 0) >> R & 1;
    if (beside) {
        field->tiled = true;
        d->below = larger(d->below, -dz);
        d->above = larger(d->above, dz);
    }
    if (!own && !beside)
        return;
    field->low = field->read ? smaller(field->low, dz) : dz;
    field->high = field->read ? larger(field->high, dz) : dz;
    field->read = true;
}

/* A tile takes its middle from the queue. */
static void widen_queues(block_design *d, int fields)
{
    for (int f = 0; f < fields; f++) {
        block_field *field = &d->fields[f];
        if (field->tiled) {
            field->low = smaller(field->low, -d->below);
            field->high = larger(field->high, d->above);
            d->tiled++;
        }
    }
}

void block_design_make(block_design *d, const tz_problem *problem, const tz_plan *plan)
{
    const tz_stencil *stencil = problem->stencil;
    tz_footprint reads;
    memset(d, 0, sizeof *d);
    tz_footprint_probe(problem, &stencil->passes[0], &reads);
    for (int f = 0; f < stencil->fields_count; f++)
        for (int dz = -R; dz <= R && stencil->fields[f].role != TZ_STREAMED; dz++)
            add_plane(d, &d->fields[f], &reads, f, dz);
    widen_queues(d, stencil->fields_count);
    d->x = (int)plan->tile[0];
    d->y = (int)plan->tile[1];
    d->threads = (d->x * d->y + 31) / 32 * 32;
    d->stride = problem->dims == 3 ? 1 : problem->dims == 2 ? d->y : d->x;
    d->ahead = plan->ahead > 0 ? plan->ahead : 1;
    d->slots = d->below + d->above + 2;
    const int64_t elements =
        (int64_t)d->slots * (d->x + d->low[0] + d->high[0]) * (d->y + d->low[1] + d->high[1]);
    for (int f = 0; f < stencil->fields_count; f++) {
        block_field *field = &d->fields[f];
        field->shared = (int)d->shared_bytes;
        if (field->tiled)
            d->shared_bytes +=
                (elements * (int64_t)tz_problem_element_size(problem, f) + 15) / 16 * 16;
        if (field->read)
            d->span = larger(d->span, field->high - field->low);
    }
    d->group = d->span + d->ahead + 1;
    if (d->tiled)
        d->group = (d->group + d->slots - 1) / d->slots * d->slots;
}
