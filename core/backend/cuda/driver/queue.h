/* Work beside other work: streams, events, copies that do not wait, graphs of launches.
 *
 * Errors are driver.h's. A stream of NULL is the default stream, which is in no order with the
 * others. Streams, events and graphs that are not destroyed end with tz_cuda_close. */
#ifndef TZ_CORE_BACKEND_CUDA_DRIVER_QUEUE_H
#define TZ_CORE_BACKEND_CUDA_DRIVER_QUEUE_H

#include "backend/cuda/driver/driver.h"

typedef struct tz_cuda_event tz_cuda_event; /* a point in a stream's work */
typedef struct tz_cuda_graph tz_cuda_graph; /* captured work, ready to be launched again */

/* ---- Streams --------------------------------------------------------------------------------- */

tz_status tz_cuda_queue_create(tz_cuda *cuda, tz_cuda_queue **out, tz_error *error);
/* Work in flight is done first, though not before this returns. NULL is fine. */
void tz_cuda_queue_destroy(tz_cuda *cuda, tz_cuda_queue *stream);
/* The caller waits for all work of the stream. */
tz_status tz_cuda_queue_wait(tz_cuda *cuda, tz_cuda_queue *stream, tz_error *error);
/* The stream's further work waits for what came before the event's last record; the caller does not
 * wait. An event that was never recorded is waited for by nobody. */
tz_status tz_cuda_queue_wait_event(tz_cuda *cuda, tz_cuda_queue *stream, tz_cuda_event *event,
                                   tz_error *error);

/* ---- Events ---------------------------------------------------------------------------------- */

/* `timed`: tz_cuda_event_elapsed_s may use it; others are cheaper. */
tz_status tz_cuda_event_create(tz_cuda *cuda, tz_cuda_event **out, bool timed, tz_error *error);
void tz_cuda_event_destroy(tz_cuda *cuda, tz_cuda_event *event); /* NULL is fine */
/* The event is now the point that the stream's work has come to. */
tz_status tz_cuda_event_record(tz_cuda *cuda, tz_cuda_event *event, tz_cuda_queue *stream,
                               tz_error *error);
/* Is everything before it done? Does not wait. An event that was never recorded is ready. */
tz_status tz_cuda_event_ready(tz_cuda *cuda, tz_cuda_event *event, bool *ready, tz_error *error);
tz_status tz_cuda_event_wait(tz_cuda *cuda, tz_cuda_event *event, tz_error *error);
/* Seconds on the device from one event to another, to about half a microsecond. Both timed,
 * recorded and ready. */
tz_status tz_cuda_event_elapsed_s(tz_cuda *cuda, tz_cuda_event *from, tz_cuda_event *to,
                                  double *seconds, tz_error *error);

/* ---- Pinned host memory and copies that do not wait ------------------------------------------ */

/* Host memory that the device copies from and to by itself. Scarce: it cannot be swapped out.
 * TZ_MEMORY. */
tz_status tz_cuda_host_allocate(tz_cuda *cuda, void **out, size_t bytes, tz_error *error);
void tz_cuda_host_free(tz_cuda *cuda, void *memory); /* NULL is fine */

/* As their namesakes in driver.h, but on the stream, returning at once: the host's side must stay
 * as it is until the stream has come that far. Memory that is not pinned works too, and makes the
 * call wait. */
tz_status tz_cuda_queue_upload(tz_cuda *cuda, tz_cuda_queue *stream, tz_cu_pointer to,
                               const void *from, size_t bytes, tz_error *error);
tz_status tz_cuda_queue_download(tz_cuda *cuda, tz_cuda_queue *stream, void *to, tz_cu_pointer from,
                                 size_t bytes, tz_error *error);
tz_status tz_cuda_queue_upload_box(tz_cuda *cuda, tz_cuda_queue *stream, tz_cu_pointer to,
                                   const tz_cuda_box *box, const void *from, tz_error *error);
tz_status tz_cuda_queue_download_box(tz_cuda *cuda, tz_cuda_queue *stream, void *to,
                                     tz_cu_pointer from, const tz_cuda_box *box, tz_error *error);
/* From device memory to device memory; the two do not overlap. */
tz_status tz_cuda_queue_copy(tz_cuda *cuda, tz_cuda_queue *stream, tz_cu_pointer to,
                             tz_cu_pointer from, size_t bytes, tz_error *error);
/* `count` words of 32 bits; `to` is a multiple of 4. */
tz_status tz_cuda_queue_fill_words(tz_cuda *cuda, tz_cuda_queue *stream, tz_cu_pointer to,
                                   uint32_t word, size_t count, tz_error *error);

/* ---- Graphs ------------------------------------------------------------------------------------
 *
 * Between begin and end, what is put on the stream is noted instead of done: launches (their
 * arguments as they are now), copies and fills, and the events that join other streams to it. This
 * thread allocates, loads and waits for nothing meanwhile. */

/* Not on the default stream. */
tz_status tz_cuda_graph_begin(tz_cuda *cuda, tz_cuda_queue *stream, tz_error *error);
/* The noted work, ready to launch. `out` NULL: it is dropped, as after a failure since begin. */
tz_status tz_cuda_graph_end(tz_cuda *cuda, tz_cuda_queue *stream, tz_cuda_graph **out,
                            tz_error *error);
/* All of it, on that stream, at once; as often as wanted. */
tz_status tz_cuda_graph_launch(tz_cuda *cuda, tz_cuda_graph *graph, tz_cuda_queue *stream,
                               tz_error *error);
void tz_cuda_graph_destroy(tz_cuda *cuda, tz_cuda_graph *graph); /* NULL is fine */

#endif
