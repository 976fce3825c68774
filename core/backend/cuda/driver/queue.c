/* Queues, events and graphs. */
#include "backend/cuda/driver/driver_impl.h"

/* From cuda.h. */
enum {
    STREAM_NON_BLOCKING = 1,  /* CU_STREAM_NON_BLOCKING: not ordered with the default queue */
    EVENT_DISABLE_TIMING = 2, /* CU_EVENT_DISABLE_TIMING */
    FIRST = -1000,            /* a priority: the driver takes the highest that there is */
    CAPTURE_THREAD_LOCAL = 1, /* CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: other threads are free */
};

/* ---- Queues --------------------------------------------------------------------------------- */

static tz_status make_queue(tz_cuda *cuda, tz_cuda_queue **out, int priority, tz_error *error)
{
    *out = NULL;
    tz_status status = tz__cuda_enter(cuda, error);
    if (!status)
        status = tz__cuda_check(
            cuda,
            priority ? cuda->driver.queue_create_first(out, STREAM_NON_BLOCKING, priority)
                     : cuda->driver.queue_create(out, STREAM_NON_BLOCKING),
            error, NULL, "cannot make a queue on the GPU");
    if (status)
        *out = NULL;
    return status;
}

tz_status tz_cuda_queue_create(tz_cuda *cuda, tz_cuda_queue **out, tz_error *error)
{
    return make_queue(cuda, out, 0, error);
}

tz_status tz_cuda_queue_create_first(tz_cuda *cuda, tz_cuda_queue **out, tz_error *error)
{
    return make_queue(cuda, out, FIRST, error);
}

void tz_cuda_queue_destroy(tz_cuda *cuda, tz_cuda_queue *queue)
{
    if (queue && tz__cuda_enter(cuda, NULL) == TZ_OK)
        cuda->driver.queue_destroy(queue);
}

tz_status tz_cuda_queue_wait(tz_cuda *cuda, tz_cuda_queue *queue, tz_error *error)
{
    const tz_status status = tz__cuda_enter(cuda, error);
    return status ? status
                  : tz__cuda_check(cuda, cuda->driver.queue_wait(queue), error, NULL,
                                   "waiting for the GPU failed");
}

tz_status tz_cuda_queue_wait_event(tz_cuda *cuda, tz_cuda_queue *queue, tz_cuda_event *event,
                                   tz_error *error)
{
    const tz_status status = tz__cuda_enter(cuda, error);
    return status ? status
                  : tz__cuda_check(cuda, cuda->driver.queue_wait_event(queue, event, 0), error,
                                   NULL, "cannot make a queue of the GPU wait for an event");
}

/* ---- Events ---------------------------------------------------------------------------------- */

tz_status tz_cuda_event_create(tz_cuda *cuda, tz_cuda_event **out, bool timed, tz_error *error)
{
    *out = NULL;
    tz_status status = tz__cuda_enter(cuda, error);
    if (!status)
        status =
            tz__cuda_check(cuda, cuda->driver.event_create(out, timed ? 0 : EVENT_DISABLE_TIMING),
                           error, NULL, "cannot make an event on the GPU");
    if (status)
        *out = NULL;
    return status;
}

void tz_cuda_event_destroy(tz_cuda *cuda, tz_cuda_event *event)
{
    if (event && tz__cuda_enter(cuda, NULL) == TZ_OK)
        cuda->driver.event_destroy(event);
}

tz_status tz_cuda_event_record(tz_cuda *cuda, tz_cuda_event *event, tz_cuda_queue *queue,
                               tz_error *error)
{
    const tz_status status = tz__cuda_enter(cuda, error);
    return status ? status
                  : tz__cuda_check(cuda, cuda->driver.event_record(event, queue), error, NULL,
                                   "cannot record an event on the GPU");
}

tz_status tz_cuda_event_wait(tz_cuda *cuda, tz_cuda_event *event, tz_error *error)
{
    const tz_status status = tz__cuda_enter(cuda, error);
    return status ? status
                  : tz__cuda_check(cuda, cuda->driver.event_wait(event), error, NULL,
                                   "waiting for the GPU failed");
}

tz_status tz_cuda_event_elapsed_s(tz_cuda *cuda, tz_cuda_event *from, tz_cuda_event *to,
                                  double *seconds, tz_error *error)
{
    float milliseconds = 0;
    *seconds = 0;
    tz_status status = tz__cuda_enter(cuda, error);
    if (!status)
        status =
            tz__cuda_check(cuda, cuda->driver.event_elapsed(&milliseconds, from, to), error, NULL,
                           "cannot tell the time between two events of the GPU (both must be "
                           "timed, recorded and waited for)");
    if (!status)
        *seconds = 1e-3 * (double)milliseconds;
    return status;
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

tz_status tz_cuda_graph_begin(tz_cuda *cuda, tz_cuda_queue *queue, tz_error *error)
{
    const tz_status status = tz__cuda_enter(cuda, error);
    return status ? status
                  : tz__cuda_check(cuda, cuda->driver.capture_begin(queue, CAPTURE_THREAD_LOCAL),
                                   error, NULL, "cannot begin a graph on the GPU");
}

tz_status tz_cuda_graph_end(tz_cuda *cuda, tz_cuda_queue *queue, tz_cuda_graph **out,
                            tz_error *error)
{
    const tz__driver *api = &cuda->driver;
    tz_cu_handle recorded = NULL;
    if (out)
        *out = NULL;
    const tz_status status = tz__cuda_enter(cuda, error);
    if (status)
        return status;
    tz_cu_result result = api->capture_end(queue, &recorded);
    if (!result && out)
        result = api->graph_create(out, recorded, 0);
    if (recorded)
        api->recorded_destroy(recorded);
    if (!result || !out)
        return TZ_OK;
    *out = NULL;
    return tz__cuda_check(cuda, result, error, NULL, "cannot make a graph of the recorded work");
}

tz_status tz_cuda_graph_launch(tz_cuda *cuda, tz_cuda_graph *graph, tz_cuda_queue *queue,
                               tz_error *error)
{
    const tz_status status = tz__cuda_enter(cuda, error);
    return status ? status
                  : tz__cuda_check(cuda, cuda->driver.graph_launch(graph, queue), error, NULL,
                                   "cannot launch a graph on the GPU");
}

void tz_cuda_graph_destroy(tz_cuda *cuda, tz_cuda_graph *graph)
{
    if (graph && tz__cuda_enter(cuda, NULL) == TZ_OK)
        cuda->driver.graph_destroy(graph);
}
