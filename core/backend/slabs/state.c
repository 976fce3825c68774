/* A state that holds the slabs of a grid: its parts, and what is done in all of them at the same
 * time. Called by the other files here. */
#include "backend/slabs/state.h"

#include "backend/host/slab.h"
#include <stdlib.h>

uint32_t tz__slabs_fields(const tz__slabs *slabs, tz_role role)
{
    const tz_stencil *stencil = slabs->context.problem->stencil;
    uint32_t fields = 0;
    for (int f = 0; f < stencil->fields_count; f++)
        if (stencil->fields[f].role == role)
            fields |= UINT32_C(1) << f;
    return fields;
}

/* ---- Statuses -------------------------------------------------------------------------------- */

tz_status tz__slabs_agree(const tz__slabs *slabs, tz_status status, tz_error *error)
{
    return tz_ranks_agree(tz__slabs_ranks(slabs), status, error);
}

tz_status tz__slabs_abort_unless_ok(const tz__slabs *slabs, tz_status status, const tz_error *error)
{
    const tz_ranks *ranks = tz__slabs_ranks(slabs);
    if (status && ranks) {
        char text[sizeof error->place + sizeof error->message + 4] = "a device failed";
        if (error)
            tz_error_format(error, text, sizeof text);
        ranks->abort(ranks, text);
    }
    return status;
}

/* ---- All slabs at the same time -------------------------------------------------------------- */

typedef struct round_of_work {
    tz__slabs *slabs;
    tz__slabs_work *work;
    void *argument;
} round_of_work;

/* Each thread has always the same slabs. */
static void do_work(void *context, int thread, int count)
{
    const round_of_work *r = context;
    for (int i = r->slabs->low + thread; i < r->slabs->high; i += count) {
        tz_error error = {0};
        const tz_status status = r->work(r->slabs, i, r->argument, &error);
        tz__slabs_part *part = r->slabs->parts[i]; /* the work may replace it */
        part->status = status;
        part->error = error;
    }
}

tz_status tz__slabs_own(tz__slabs *slabs, tz__slabs_work *work, void *argument, tz_error *error)
{
    round_of_work r = {slabs, work, argument};
    tz_threads_run(slabs->threads, slabs->high - slabs->low, do_work, &r);
    for (int i = slabs->low; i < slabs->high; i++)
        if (slabs->parts[i]->status) {
            if (error)
                *error = slabs->parts[i]->error;
            return slabs->parts[i]->status;
        }
    return TZ_OK;
}

tz_status tz__slabs_all(tz__slabs *slabs, tz__slabs_work *work, void *argument, tz_error *error)
{
    tz_error own = {0};
    const tz_status status =
        tz__slabs_agree(slabs, tz__slabs_own(slabs, work, argument, &own), &own);
    if (status && error)
        *error = own;
    return status;
}

/* ---- Rooms ----------------------------------------------------------------------------------- */

static void free_room(const tz__slabs *slabs, const tz__slabs_part *part, tz__slabs_room *room)
{
    if (slabs->inner->slab->host)
        slabs->inner->slab->host->free(part->state, room->bytes);
    else
        free(room->bytes);
    *room = (tz__slabs_room){NULL, 0};
}

tz_status tz__slabs_room_need(const tz__slabs *slabs, const tz__slabs_part *part,
                              tz__slabs_room *room, size_t bytes, tz_error *error)
{
    void *fresh = NULL;
    tz_status status = TZ_OK;
    if (bytes <= room->size)
        return TZ_OK;
    free_room(slabs, part, room);
    if (slabs->inner->slab->host)
        status = slabs->inner->slab->host->allocate(part->state, bytes, &fresh, error);
    else if (!(fresh = malloc(bytes)))
        status = tz_error_set(error, TZ_BACKEND, "devices", "not enough memory for an exchange");
    if (!status)
        *room = (tz__slabs_room){fresh, bytes};
    return status;
}

/* ---- Parts
 * ------------------------------------------------------------------------------------ */

void tz__slabs_refresh(const tz__slabs *slabs, tz__slabs_part *part)
{
    const tz_stencil *stencil = slabs->context.problem->stencil;
    tz_problem_slab_refresh(&part->problem);
    for (int f = 0; f < stencil->fields_count; f++)
        if (slabs->context.streamed && slabs->context.streamed[f]) {
            part->streamed[f] = *slabs->context.streamed[f];
            part->streamed[f].first = part->problem.slab.first;
        }
}

void tz__slabs_refresh_all(tz__slabs *slabs)
{
    for (int i = slabs->low; i < slabs->high; i++)
        tz__slabs_refresh(slabs, slabs->parts[i]);
}

tz_status tz__slabs_part_create(tz__slabs *slabs, int i, int depth, tz__slabs_part **out,
                                tz_error *error)
{
    tz__slabs_part *part = calloc(1, sizeof *part);
    *out = NULL;
    if (!part)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    part->problem = tz_cut_slab(&slabs->cut, slabs->context.problem, i, depth);
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        part->streamed_pointers[f] = &part->streamed[f];
    tz__slabs_refresh(slabs, part);
    tz_status status = tz_threads_create(&part->threads, slabs->devices.of[i].threads, error);
    const tz_backend_context context = {.problem = &part->problem,
                                        .streamed = part->streamed_pointers,
                                        .threads = part->threads,
                                        .device = slabs->devices.of[i].device,
                                        .sync = slabs->context.sync,
                                        .overdue = slabs->context.overdue,
                                        .cancelled = slabs->context.cancelled,
                                        .ranks = slabs->context.ranks};
    tz_device_identity device = {0};
    if (!status)
        status = slabs->inner->identify(context.device, &device, error);
    part->limits = device.limits;
    if (!status)
        status = slabs->inner->create(&part->state, &context, error);
    if (!status) {
        *out = part;
        return TZ_OK;
    }
    tz_threads_destroy(part->threads);
    free(part);
    return status;
}

void tz__slabs_part_destroy(const tz__slabs *slabs, tz__slabs_part *part)
{
    if (!part)
        return;
    for (int k = 0; k < 2; k++) {
        free_room(slabs, part, &part->ends[k]);
        free_room(slabs, part, &part->inbox[k]);
    }
    slabs->inner->destroy(part->state);
    tz_points_destroy(part->points);
    tz_threads_destroy(part->threads);
    free(part);
}

tz_status tz__slabs_wait_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    (void)argument;
    return slabs->inner->wait(slabs->parts[i]->state, error);
}
