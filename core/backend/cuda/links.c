/* Copies of ghost zones between states of two processes, for ranks of one machine: through device
 * memory that they share, or through pinned host memory. */
#include "backend/cuda/state.h"
#include <stdlib.h>

_Static_assert(TZ_FIELDS_MAX <= 32, "a mark is a bit for each field");

/* What crosses to the other process. */
typedef struct handles {
    tz_cuda_handle copy[TZ_FIELDS_MAX][2];
    tz_cuda_handle given, taken;
} handles;

typedef struct remote {
    tz_cuda *cuda; /* of the state that copies from it */
    tz_cu_pointer copy[TZ_FIELDS_MAX][2];
    tz_cuda_event *given, *taken;
} remote;

/* How many copies of a field the device holds. */
static int copies_of(const tz_cuda_state *state, int field)
{
    return state->copy[field][0] == 0 ? 0 : state->copy[field][1] == 0 ? 1 : 2;
}

/* Bytes of a row or plane, with the padding that all states have after each row. */
static size_t slice_bytes(const tz_problem *problem, int field)
{
    const int64_t pitch = tz_cuda_pitch(problem);
    const int64_t strides[TZ_AXES] = {1, pitch, pitch * problem->elements[1]};
    return (size_t)strides[problem->dims - 1] * tz_problem_element_size(problem, field);
}

static tz_status links_share(void *any, void *out, tz_error *error)
{
    tz_cuda_state *state = any;
    handles *h = out;
    tz_cuda_event_destroy(state->cuda, state->given);
    tz_cuda_event_destroy(state->cuda, state->taken);
    state->given = state->taken = NULL;
    tz_status status = tz_cuda_shared_event_create(state->cuda, &state->given, &h->given, error);
    if (!status)
        status = tz_cuda_shared_event_create(state->cuda, &state->taken, &h->taken, error);
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        for (int c = 0; c < copies_of(state, f) && !status; c++)
            status = tz_cuda_shared_handle(state->cuda, state->copy[f][c], &h->copy[f][c], error);
    return status;
}

static void links_close(void *any)
{
    remote *r = any;
    if (!r)
        return;
    tz_cuda_wait(r->cuda, NULL);
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        for (int c = 0; c < 2; c++)
            tz_cuda_shared_close(r->cuda, r->copy[f][c]);
    tz_cuda_event_destroy(r->cuda, r->given);
    tz_cuda_event_destroy(r->cuda, r->taken);
    free(r);
}

/* Both states hold the same fields. */
static tz_status links_open(void *any, const void *from, void **out, tz_error *error)
{
    const tz_cuda_state *state = any;
    const handles *h = from;
    remote *r = calloc(1, sizeof *r);
    *out = NULL;
    if (!r)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    r->cuda = state->cuda;
    tz_status status = tz_cuda_shared_event_open(r->cuda, &h->given, &r->given, error);
    if (!status)
        status = tz_cuda_shared_event_open(r->cuda, &h->taken, &r->taken, error);
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        for (int c = 0; c < copies_of(state, f) && !status; c++)
            status = tz_cuda_shared_open(r->cuda, &h->copy[f][c], &r->copy[f][c], error);
    if (status)
        links_close(r);
    else
        *out = r;
    return status;
}

static tz_status links_offer(void *any, uint32_t *marks, tz_error *error)
{
    const tz_cuda_state *state = any;
    *marks = 0;
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        *marks |= (uint32_t)state->current[f] << f;
    return tz_cuda_event_record(state->cuda, state->given, tz_cuda_state_queue(state), error);
}

static tz_status links_copy(void *any, int64_t to, void *any_remote, uint32_t marks, int64_t at,
                            int64_t count, uint32_t fields, tz_error *error)
{
    const tz_cuda_state *state = any;
    const remote *r = any_remote;
    const tz_problem *problem = state->context.problem;
    tz_cuda_queue *queue = tz_cuda_state_queue(state);
    tz_status status = tz_cuda_queue_wait_event(state->cuda, queue, r->given, error);
    for (int f = 0; f < problem->stencil->fields_count && !status; f++) {
        if (!(fields >> f & 1))
            continue;
        const size_t slice = slice_bytes(problem, f);
        status = tz_cuda_queue_copy(
            state->cuda, queue, state->copy[f][state->current[f]] + (size_t)to * slice,
            r->copy[f][marks >> f & 1] + (size_t)at * slice, (size_t)count * slice, error);
    }
    if (!status)
        status = tz_cuda_event_record(state->cuda, state->taken, queue, error);
    return status || !queue ? status
                            : tz_cuda_queue_wait_event(state->cuda, NULL, state->taken, error);
}

static tz_status links_settle(void *any, void *any_remote, tz_error *error)
{
    const tz_cuda_state *state = any;
    const remote *r = any_remote;
    return tz_cuda_queue_wait_event(state->cuda, NULL, r->taken, error);
}

const tz_slab_links tz_cuda_links = {sizeof(handles), links_share, links_open,  links_close,
                                     links_offer,     links_copy,  links_settle};

/* ---- Through the host ------------------------------------------------------------------------ */

static tz_status host_allocate(void *any, size_t bytes, void **out, tz_error *error)
{
    return tz_cuda_host_allocate(((tz_cuda_state *)any)->cuda, out, bytes, error);
}

static void host_free(void *any, void *memory)
{
    tz_cuda *cuda = ((tz_cuda_state *)any)->cuda;
    if (memory)
        tz_cuda_wait(cuda, NULL); /* it may still be read */
    tz_cuda_host_free(cuda, memory);
}

static tz_status host_take(void *any, int field, const tz_box *box, void *to, tz_error *error)
{
    const tz_cuda_state *state = any;
    const tz_cuda_box where = tz_cuda_box_of(state->context.problem, field, box);
    return tz_cuda_queue_download_box(state->cuda, tz_cuda_state_queue(state), to,
                                      state->copy[field][state->current[field]], &where, error);
}

static tz_status host_await(void *any, tz_error *error)
{
    const tz_cuda_state *state = any;
    return tz_cuda_queue_wait(state->cuda, tz_cuda_state_queue(state), error);
}

static tz_status host_put(void *any, int field, const tz_box *box, const void *from,
                          tz_error *error)
{
    tz_cuda_state *state = any;
    const tz_cuda_box where = tz_cuda_box_of(state->context.problem, field, box);
    tz_cuda_queue *queue = tz_cuda_state_queue(state);
    tz_status status = tz_cuda_queue_upload_box(
        state->cuda, queue, state->copy[field][state->current[field]], &where, from, error);
    if (status || !queue)
        return status;
    if (!state->copied)
        status = tz_cuda_event_create(state->cuda, &state->copied, false, error);
    if (!status)
        status = tz_cuda_event_record(state->cuda, state->copied, queue, error);
    return status ? status : tz_cuda_queue_wait_event(state->cuda, NULL, state->copied, error);
}

const tz_slab_host tz_cuda_through_host = {host_allocate, host_free, host_take, host_await,
                                           host_put};
