/* Measures the costs of launches and of blocks that wait for each other. */
#include "calibrate/cuda_bench.h"

#include "base/machine.h"

enum {
    QUEUE = 200,        /* launches in a queue */
    BUSY_ROUNDS = 8192, /* of reading a piece: milliseconds */
    SYNC_ROUNDS = 200,
    SYNC_THREADS = 256
};

/* Keeps the device busy. */
static const tz__copier reader = {false, 4, "tz_load_fresh"};

/* ---- Launches -------------------------------------------------------------------------------- */

/* QUEUE empty launches, `blocks` blocks each. */
typedef struct queue {
    const tz_cuda_kernel *kernel;
    int blocks;
    tz_cuda_graph *graph;         /* NULL: one launch after the other */
    const tz_cuda_kernel *before; /* keeps the device busy until all are queued; may be NULL */
} queue;

/* Seconds of one launch of a queue. */
static tz_status queue_seconds(tz__bench *b, const queue *q, double *seconds)
{
    void *arguments[] = {NULL};
    tz_cu_pointer from = b->out, to = b->out;
    int pieces = 1, rounds = BUSY_ROUNDS;
    uint32_t never = 0x9e3779b9u;
    tz_status status = TZ_OK;
    if (q->before)
        status = tz_cuda_launch(b->cuda, b->queue, q->before, (int[]){1, 1, 1},
                                (int[]){TZ__COPY_THREADS, 1, 1}, 0, false,
                                (void *[]){&from, &to, &pieces, &rounds, &never}, b->error);
    if (!status)
        status = tz_cuda_event_record(b->cuda, b->begin, b->queue, b->error);
    if (q->graph && !status)
        status = tz_cuda_graph_launch(b->cuda, q->graph, b->queue, b->error);
    for (int k = 0; !q->graph && !status && k < QUEUE; k++)
        status = tz_cuda_launch(b->cuda, b->queue, q->kernel, (int[]){q->blocks, 1, 1},
                                (int[]){SYNC_THREADS, 1, 1}, 0, false, arguments, b->error);
    if (!status)
        status = tz_cuda_event_record(b->cuda, b->end, b->queue, b->error);
    if (!status)
        status = tz_cuda_event_wait(b->cuda, b->end, b->error);
    if (!status)
        status = tz_cuda_event_elapsed_s(b->cuda, b->begin, b->end, seconds, b->error);
    *seconds /= QUEUE;
    return status;
}

static tz_status measure_queue(tz__bench *b, tz_model_number *out, const char *what, queue q)
{
    tz_samples samples = {0};
    tz_status status = tz__bench_next(b, what);
    for (int i = -b->warmups; !status && i < b->repeats; i++) {
        double seconds = 0;
        status = queue_seconds(b, &q, &seconds);
        if (!status && i >= 0)
            tz_samples_add(&samples, seconds);
    }
    if (!status)
        tz_number_set(out, tz_samples_median(&samples),
                      "measured: %d empty launches of %d blocks of %d threads%s, median of %d, "
                      "spread %.1f %%",
                      QUEUE, q.blocks, SYNC_THREADS,
                      q.graph    ? " in a graph"
                      : q.before ? ", queued before the first begins"
                                 : " in a queue",
                      samples.count, 100 * tz_samples_spread(&samples));
    return status;
}

static tz_status measure_alone(tz__bench *b, const tz_cuda_kernel *kernel)
{
    tz_samples samples = {0};
    void *arguments[] = {NULL};
    tz_status status = tz__bench_next(b, "launches, waited for");
    for (int i = -5; !status && i < 4 * b->repeats; i++) {
        const double begin = tz_machine_clock_s();
        status = tz_cuda_launch(b->cuda, b->queue, kernel, (int[]){b->gpu->multiprocessors, 1, 1},
                                (int[]){SYNC_THREADS, 1, 1}, 0, false, arguments, b->error);
        if (!status)
            status = tz_cuda_queue_wait(b->cuda, b->queue, b->error);
        if (!status && i >= 0)
            tz_samples_add(&samples, tz_machine_clock_s() - begin);
    }
    if (!status)
        tz_number_set(&b->record->launch_alone_s, tz_samples_median(&samples),
                      "measured: an empty launch and a wait for its queue, by the host's clock, "
                      "median of %d, spread %.1f %%",
                      samples.count, 100 * tz_samples_spread(&samples));
    return status;
}

static tz_status graph_note(tz__bench *b, const tz_cuda_kernel *kernel, tz_cuda_graph **out)
{
    void *arguments[] = {NULL};
    tz_status status = tz_cuda_graph_begin(b->cuda, b->queue, b->error);
    if (status)
        return status;
    for (int k = 0; !status && k < QUEUE; k++)
        status = tz_cuda_launch(b->cuda, b->queue, kernel, (int[]){b->gpu->multiprocessors, 1, 1},
                                (int[]){SYNC_THREADS, 1, 1}, 0, false, arguments, b->error);
    if (!status)
        return tz_cuda_graph_end(b->cuda, b->queue, out, b->error);
    tz_cuda_graph_end(b->cuda, b->queue, NULL, NULL);
    return status;
}

/* ---- Blocks that wait for each other --------------------------------------------------------- */

/* Clocks of a round of a cooperative launch of `blocks` blocks. `tag`: a number that grows by the
 * rounds from launch to launch; may be NULL. */
static tz_status round_clocks(tz__bench *b, const tz_cuda_kernel *kernel, int blocks, int threads,
                              int shared_bytes, void **arguments, uint32_t *tag, tz_samples *out)
{
    tz_status status = TZ_OK;
    for (int i = -b->warmups; !status && i < b->repeats; i++) {
        double seconds, median = 0, most;
        status =
            tz__bench_time(b, kernel, blocks, threads, shared_bytes, true, arguments, &seconds);
        if (!status)
            status = tz__bench_cycles(b, blocks, &median, &most);
        if (!status && i >= 0)
            tz_samples_add(out, median / SYNC_ROUNDS);
        if (tag)
            *tag += SYNC_ROUNDS;
    }
    return status;
}

/* Fits a line through the times with 1, 2, ... blocks a multiprocessor: a constant and a cost a
 * block. */
static tz_status measure_grid_sync(tz__bench *b)
{
    tz_cuda_kernel kernel;
    int resident = 0, rounds = SYNC_ROUNDS, n = 0, last = 0;
    void *arguments[] = {&b->cycles, &b->barrier, &rounds};
    double blocks_sum = 0, seconds_sum = 0, products = 0, squares = 0, widest = 0, least = 0,
           seconds = 0;
    tz_status status = tz__bench_next(b, "grid synchronisation");
    if (!status)
        status = tz__bench_load(b, &kernel, TZ__PROBE_SYNC, SYNC_THREADS, "");
    if (status)
        return status;
    status = tz_cuda_occupancy(b->cuda, &kernel, SYNC_THREADS, 0, &resident, b->error);
    for (int k = 1; !status && k <= resident && k <= 8; k++) {
        tz_samples clocks = {0};
        last = k * b->gpu->multiprocessors;
        status = round_clocks(b, &kernel, last, SYNC_THREADS, 0, arguments, NULL, &clocks);
        if (status)
            break;
        seconds = tz_samples_median(&clocks) / b->clock_hz;
        const double spread = 100 * tz_samples_spread(&clocks);
        if (k == 1)
            least = seconds;
        blocks_sum += last;
        seconds_sum += seconds;
        products += last * seconds;
        squares += (double)last * last;
        widest = spread > widest ? spread : widest;
        n++;
    }
    tz_cuda_unload(b->cuda, &kernel);
    if (status || n < 2)
        return status;
    double slope =
        (n * products - blocks_sum * seconds_sum) / (n * squares - blocks_sum * blocks_sum);
    if (slope < 0)
        slope = 0;
    const double constant = (seconds_sum - slope * blocks_sum) / n;
    tz_number_set(&b->record->fence_s, constant > 0 ? constant : 0,
                  "measured: a line through grid synchronisations of %d blocks (%.3g us) to %d "
                  "(%.3g us), medians of %d, spread up to %.1f %%",
                  b->gpu->multiprocessors, 1e6 * least, last, 1e6 * seconds, b->repeats, widest);
    tz_number_set(&b->record->fence_per_block_s, slope, "measured: the same line's slope");
    return TZ_OK;
}

static tz_status measure_neighbours(tz__bench *b)
{
    tz_cuda_kernel kernel;
    tz_samples samples = {0};
    const int blocks = b->gpu->multiprocessors / 2 * 2, threads = 32;
    /* With more than half of the shared memory in each block no two blocks share a
     * multiprocessor. */
    const int shared = b->gpu->multiprocessor_shared_bytes / 2 + 1024;
    int rounds = SYNC_ROUNDS;
    uint32_t tag = 1;
    tz_cu_pointer slots = b->barrier + 1024;
    tz_cu_pointer barrier = b->barrier + 512;
    tz_status status = tz__bench_next(b, "neighbours that pass a word");
    if (blocks < 2 || (size_t)blocks * 128 + 1024 > TZ__BARRIER_BYTES)
        return status;
    if (!status)
        status = tz__bench_load(b, &kernel, TZ__PROBE_PASS, threads, "");
    if (status)
        return status;
    void *arguments[] = {&b->cycles, &slots, &barrier, &rounds, &tag};
    status = round_clocks(b, &kernel, blocks, threads,
                          shared < b->gpu->shared_bytes ? shared : b->gpu->shared_bytes, arguments,
                          &tag, &samples);
    tz_cuda_unload(b->cuda, &kernel);
    if (!status)
        tz_number_set(&b->record->neighbour_sync_s, tz_samples_median(&samples) / b->clock_hz,
                      "measured: %.4g cycles there and back, %d pairs of blocks at once, median of "
                      "%d, spread %.1f %%",
                      tz_samples_median(&samples), blocks / 2, samples.count,
                      100 * tz_samples_spread(&samples));
    return status;
}

tz_status tz__measure_launches(tz__bench *b)
{
    tz_cuda_kernel empty, busy = {0};
    tz_cuda_graph *graph = NULL;
    int resident = 0;
    tz_model_device *d = b->record;
    tz_status status = tz__bench_load(b, &empty, TZ__PROBE_EMPTY, SYNC_THREADS, "");
    if (status)
        return status;
    status = tz_cuda_occupancy(b->cuda, &empty, SYNC_THREADS, 0, &resident, b->error);
    if (!status)
        status = tz__copier_load(b, &reader, &busy);
    if (!status)
        status = graph_note(b, &empty, &graph);
    const int multiprocessors = b->gpu->multiprocessors;
    const struct {
        tz_model_number *out;
        const char *what;
        queue queue;
    } queues[] = {
        {&d->launch_s,
         "launches of as many blocks as run at once",
         {&empty, resident * multiprocessors, NULL, NULL}},
        {&d->launch_queued_s, "launches in a queue", {&empty, multiprocessors, NULL, NULL}},
        {&d->launch_gap_s,
         "launches that are queued already",
         {&empty, multiprocessors, NULL, &busy}},
        {&d->graph_launch_s, "launches in a graph", {&empty, multiprocessors, graph, NULL}},
    };
    for (size_t i = 0; !status && i < sizeof queues / sizeof *queues; i++)
        status = measure_queue(b, queues[i].out, queues[i].what, queues[i].queue);
    if (!status)
        status = measure_alone(b, &empty);
    tz_cuda_graph_destroy(b->cuda, graph);
    tz_cuda_unload(b->cuda, &busy);
    tz_cuda_unload(b->cuda, &empty);
    if (!status && b->gpu->cooperative)
        status = measure_grid_sync(b);
    if (!status && b->gpu->cooperative)
        status = measure_neighbours(b);
    return status;
}
