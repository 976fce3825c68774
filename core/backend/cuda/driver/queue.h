/* Asynchronous work on the device: queues (CUDA streams), events, copies that do not wait, graphs
 * of launches, memory and events that processes share.
 *
 * driver.h describes errors and threads. A queue of NULL is the default queue. tz_cuda_close also
 * destroys the queues, events and graphs that are left. */
#ifndef TZ_CORE_BACKEND_CUDA_DRIVER_QUEUE_H
#define TZ_CORE_BACKEND_CUDA_DRIVER_QUEUE_H

#include "backend/cuda/driver/driver.h"

typedef struct tz_cuda_event tz_cuda_event; /* a point in the work of a queue */
typedef struct tz_cuda_graph tz_cuda_graph; /* recorded work that can be launched again and again */

/* ---- Queues --------------------------------------------------------------------------------- */

tz_status tz_cuda_queue_create(tz_cuda *cuda, tz_cuda_queue **out, tz_error *error);
/* A queue whose kernels get free multiprocessors before those of other queues. */
tz_status tz_cuda_queue_create_first(tz_cuda *cuda, tz_cuda_queue **out, tz_error *error);
/* Does not wait: the work in the queue is still done. NULL is fine. */
void tz_cuda_queue_destroy(tz_cuda *cuda, tz_cuda_queue *queue);
/* Wait until all work of the queue is done. */
tz_status tz_cuda_queue_wait(tz_cuda *cuda, tz_cuda_queue *queue, tz_error *error);
/* Later work of the queue starts after the point at which the event was last recorded. The caller
 * does not wait. An event that was never recorded has no effect. It may be of another tz_cuda. */
tz_status tz_cuda_queue_wait_event(tz_cuda *cuda, tz_cuda_queue *queue, tz_cuda_event *event,
                                   tz_error *error);

/* ---- Events ---------------------------------------------------------------------------------- */

/* `timed`: for tz_cuda_event_elapsed_s; other events cost less. */
tz_status tz_cuda_event_create(tz_cuda *cuda, tz_cuda_event **out, bool timed, tz_error *error);
void tz_cuda_event_destroy(tz_cuda *cuda, tz_cuda_event *event); /* NULL is fine */
/* The event marks the point after the work that is in the queue now. */
tz_status tz_cuda_event_record(tz_cuda *cuda, tz_cuda_event *event, tz_cuda_queue *queue,
                               tz_error *error);
/* Wait for the work before the event. An event that was never recorded needs no wait. */
tz_status tz_cuda_event_wait(tz_cuda *cuda, tz_cuda_event *event, tz_error *error);
/* Seconds on the device from one event to another, to about half a microsecond. Both must be timed,
 * recorded and waited for. */
tz_status tz_cuda_event_elapsed_s(tz_cuda *cuda, tz_cuda_event *from, tz_cuda_event *to,
                                  double *seconds, tz_error *error);

/* ---- Pinned host memory and copies that do not wait ------------------------------------------ */

/* Host memory that the device reads and writes without the host's help. It cannot be swapped out,
 * so take little of it. */
tz_status tz_cuda_host_allocate(tz_cuda *cuda, void **out, size_t bytes, tz_error *error);
void tz_cuda_host_free(tz_cuda *cuda, void *memory); /* NULL is fine */

/* Copies in the order of the queue. They return at once: the host's memory must stay valid and
 * unchanged until the copy is done. Memory that is not pinned is allowed, but makes the call
 * wait. */
tz_status tz_cuda_queue_upload(tz_cuda *cuda, tz_cuda_queue *queue, tz_cu_pointer to,
                               const void *from, size_t bytes, tz_error *error);
tz_status tz_cuda_queue_download(tz_cuda *cuda, tz_cuda_queue *queue, void *to, tz_cu_pointer from,
                                 size_t bytes, tz_error *error);
/* Copies between a box of device memory and a dense host array. TZ_SHAPE: rows or planes overlap,
 * or the plane pitch is no multiple of the row pitch. */
tz_status tz_cuda_queue_upload_box(tz_cuda *cuda, tz_cuda_queue *queue, tz_cu_pointer to,
                                   const tz_cuda_box *box, const void *from, tz_error *error);
tz_status tz_cuda_queue_download_box(tz_cuda *cuda, tz_cuda_queue *queue, void *to,
                                     tz_cu_pointer from, const tz_cuda_box *box, tz_error *error);
/* Within device memory; the two ranges must not overlap. */
tz_status tz_cuda_queue_copy(tz_cuda *cuda, tz_cuda_queue *queue, tz_cu_pointer to,
                             tz_cu_pointer from, size_t bytes, tz_error *error);
/* From the memory of `other`, which may be on another device. Without peer access between the two
 * (see tz_cuda_describe) the driver copies through host memory. Only events order it with work of
 * `other`. */
tz_status tz_cuda_queue_copy_from(tz_cuda *cuda, tz_cuda_queue *queue, tz_cu_pointer to,
                                  tz_cuda *other, tz_cu_pointer from, size_t bytes,
                                  tz_error *error);
/* Write `count` equal words of 32 bits; `to` is a multiple of 4. */
tz_status tz_cuda_queue_fill_words(tz_cuda *cuda, tz_cuda_queue *queue, tz_cu_pointer to,
                                   uint32_t word, size_t count, tz_error *error);

/* ---- Graphs ------------------------------------------------------------------------------------
 *
 * Between begin and end, work that is put into the queue is recorded instead of done: launches with
 * their arguments, copies, fills, and events that join other queues. In between, this thread must
 * not allocate memory, load kernels or wait. */

/* `queue` must not be the default queue. */
tz_status tz_cuda_graph_begin(tz_cuda *cuda, tz_cuda_queue *queue, tz_error *error);
/* The recorded work as a graph. If `out` is NULL, the work is dropped: for use after a failure. */
tz_status tz_cuda_graph_end(tz_cuda *cuda, tz_cuda_queue *queue, tz_cuda_graph **out,
                            tz_error *error);
/* Put all of the graph's work into a queue; may be repeated. */
tz_status tz_cuda_graph_launch(tz_cuda *cuda, tz_cuda_graph *graph, tz_cuda_queue *queue,
                               tz_error *error);
void tz_cuda_graph_destroy(tz_cuda *cuda, tz_cuda_graph *graph); /* NULL is fine */

/* ---- Other processes ---------------------------------------------------------------------------
 *
 * Device memory and events that other processes of this machine use, too (CUDA's IPC). A handle is
 * plain bytes: it reaches the other process by any way. That process must close what it has opened
 * before the owner frees the memory or destroys the event. The driver refuses where the system does
 * not let processes share device memory, as in some containers, and between GPUs without peer
 * access: TZ_BACKEND. */

enum {
    /* The driver shares whole blocks of this size: memory that is to be shared should be a
     * multiple of it, so that no block has other memory. */
    TZ_CUDA_SHARED_BLOCK_BYTES = 2 << 20
};

typedef struct tz_cuda_handle { /* CUipcMemHandle or CUipcEventHandle */
    char bytes[64];
} tz_cuda_handle;

/* `pointer` is one that tz_cuda_allocate() gave. */
tz_status tz_cuda_shared_handle(tz_cuda *cuda, tz_cu_pointer pointer, tz_cuda_handle *out,
                                tz_error *error);
/* Memory of another process. */
tz_status tz_cuda_shared_open(tz_cuda *cuda, const tz_cuda_handle *handle, tz_cu_pointer *out,
                              tz_error *error);
void tz_cuda_shared_close(tz_cuda *cuda, tz_cu_pointer pointer); /* 0 is fine */

/* An untimed event for this process and others. *handle: for the others. */
tz_status tz_cuda_shared_event_create(tz_cuda *cuda, tz_cuda_event **out, tz_cuda_handle *handle,
                                      tz_error *error);
/* An event of another process, to wait for; tz_cuda_event_destroy() closes it. A wait is for what
 * that process has recorded so far: for nothing if it has not recorded the event yet. */
tz_status tz_cuda_shared_event_open(tz_cuda *cuda, const tz_cuda_handle *handle,
                                    tz_cuda_event **out, tz_error *error);

#endif
