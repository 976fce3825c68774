/* A GPU measured: its memory, launches, and what blocks wait for. */
#include "calibrate/cuda_impl.h"

#include "base/machine.h"
#include <stdlib.h>
#include <string.h>

enum {
    LINE_BYTES = 128,
    COPY_THREADS = 256,
    L2_ROUNDS = 64,
    CHASE_STEPS = 256,
    CHASE_ROUNDS = 32,
    QUEUE = 200,        /* launches in a queue */
    BUSY_ROUNDS = 8192, /* of reading a piece: milliseconds */
    SYNC_ROUNDS = 200,
    SYNC_THREADS = 256
};

typedef struct arrays {
    tz_cu_pointer from, to;
    size_t bytes; /* of each */
} arrays;

static const tz__copier copiers[] = {
    /* copies and reads that go through memory: the fastest is what counts */
    {true, 2, "tz_load"},
    {true, 4, "tz_load"},
    {true, 8, "tz_load"},
    {true, 2, "tz_load_once"},
    {true, 4, "tz_load_once"},
    {false, 2, "tz_load"},
    {false, 4, "tz_load"},
    {false, 8, "tz_load"},
    {false, 4, "tz_load_once"},
    /* copies within L2, and reads for their own sake: not from the first level */
    {true, 4, "tz_load_fresh"},
    {false, 4, "tz_load_fresh"},
};
enum {
    COPIERS = sizeof copiers / sizeof *copiers,
    THROUGH = COPIERS - 2, /* the first so many */
    WITHIN = COPIERS - 2,
    BUSY = COPIERS - 1
};

const tz__copier *tz__copiers_table(size_t *count)
{
    *count = COPIERS;
    return copiers;
}

void tz__copier_define(const tz__copier *copier, char definitions[TZ__DEFINITIONS_SIZE])
{
    snprintf(definitions, TZ__DEFINITIONS_SIZE,
             "#define TZ_WRITES %d\n#define TZ_PACKETS %d\n#define TZ_LOAD %s\n", copier->writes,
             copier->packets, copier->load);
}

static tz_status copier_load(tz__bench *b, const tz__copier *copier, tz_cuda_kernel *out)
{
    char definitions[TZ__DEFINITIONS_SIZE];
    tz__copier_define(copier, definitions);
    return tz__bench_load(b, out, TZ__PROBE_COPY, COPY_THREADS, definitions);
}

/* Of a block's turn. */
static size_t piece_bytes(const tz__copier *copier)
{
    return (size_t)COPY_THREADS * 16 * (size_t)copier->packets;
}

/* ---- Bandwidths ------------------------------------------------------------------------------ */

/* Bytes a second: `pieces` pieces of each array in each of `rounds` rounds; median. */
static tz_status bandwidth(tz__bench *b, const tz__copier *copier, const tz_cuda_kernel *kernel,
                           const arrays *memory, int pieces, int rounds, int blocks, double *out,
                           double *spread)
{
    tz_samples samples = {0};
    uint32_t never = 0x9e3779b9u;
    tz_cu_pointer from = memory->from, to = memory->to;
    void *arguments[] = {&from, &to, &pieces, &rounds, &never};
    const double bytes =
        (copier->writes ? 2.0 : 1.0) * (double)piece_bytes(copier) * pieces * rounds;
    tz_status status = TZ_OK;
    for (int i = -b->warmups; status == TZ_OK && i < b->repeats; i++) {
        double seconds = 0;
        status = tz__bench_time(b, kernel, blocks < pieces ? blocks : pieces, COPY_THREADS, 0,
                                false, arguments, &seconds);
        if (status == TZ_OK && !(seconds > 0))
            status = tz_error_set(b->error, TZ_BACKEND, NULL,
                                  "a copy on %s took no time: nothing can be measured with it",
                                  b->gpu->name);
        if (status == TZ_OK && i >= 0)
            tz_samples_add(&samples, bytes / seconds);
    }
    if (status != TZ_OK)
        return status;
    *out = tz_samples_median(&samples);
    *spread = 100 * tz_samples_spread(&samples);
    return TZ_OK;
}

/* Through memory: the fastest kernel, with as many blocks as run at once or one a piece. */
static tz_status measure_through(tz__bench *b, tz_model_number *out, const char *what,
                                 const arrays *memory, bool writes)
{
    double best = 0;
    tz_status status = tz__bench_next(b, what);
    for (int i = 0; status == TZ_OK && i < THROUGH; i++) {
        const tz__copier *copier = &copiers[i];
        const int pieces = (int)(memory->bytes / piece_bytes(copier));
        tz_cuda_kernel kernel;
        int resident = 0;
        if (copier->writes != writes)
            continue;
        status = copier_load(b, copier, &kernel);
        if (status != TZ_OK)
            break;
        status = tz_cuda_occupancy(b->cuda, &kernel, COPY_THREADS, 0, &resident, b->error);
        for (int k = 0; status == TZ_OK && k < 2; k++) {
            const int blocks = k ? pieces : resident * b->gpu->multiprocessors;
            double here = 0, spread = 0;
            status = bandwidth(b, copier, &kernel, memory, pieces, 1, blocks, &here, &spread);
            if (status != TZ_OK || here <= best)
                continue;
            best = here;
            tz_number_set(out, best,
                          "measured: %s %.4g MiB, %d blocks of %d threads, %d x 16 bytes of each "
                          "at once, median of %d, spread %.1f %%",
                          writes ? "copying" : "reading", (double)memory->bytes / 1048576, blocks,
                          COPY_THREADS, copier->packets, b->repeats, spread);
        }
        tz_cuda_unload(b->cuda, &kernel);
    }
    return status;
}

/* Pieces of each array, so that both arrays are about `bytes` and every multiprocessor has as many.
 */
static int pieces_of(const tz__bench *b, double bytes)
{
    const double each = bytes / 2 / (double)piece_bytes(&copiers[WITHIN]);
    const int a_processor = (int)(each / b->gpu->multiprocessors + 0.5);
    return (a_processor > 1 ? a_processor : 1) * b->gpu->multiprocessors;
}

static tz_status measure_l2(tz__bench *b, const arrays *memory)
{
    static const double shares[] = {0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2};
    enum { SHARES = sizeof shares / sizeof *shares };
    const double l2 = (double)b->gpu->l2_bytes, mib = 1048576;
    const double slow = b->record->copy_bandwidth_bytes_per_s.value;
    double first = 0, before = 0, size_before = 0, useful = 0;
    int resident = 0;
    tz_cuda_kernel kernel;
    tz_status status = tz__bench_next(b, "bandwidth of L2");
    if (l2 <= 0 || status != TZ_OK)
        return status;
    status = copier_load(b, &copiers[WITHIN], &kernel);
    if (status != TZ_OK)
        return status;
    status = tz_cuda_occupancy(b->cuda, &kernel, COPY_THREADS, 0, &resident, b->error);
    for (int i = 0; status == TZ_OK && i < SHARES && useful == 0; i++) {
        const int pieces = pieces_of(b, shares[i] * l2);
        const double size = 2.0 * (double)piece_bytes(&copiers[WITHIN]) * pieces;
        double here = 0, spread = 0;
        if (size > 2.0 * (double)memory->bytes)
            break;
        status = bandwidth(b, &copiers[WITHIN], &kernel, memory, pieces, L2_ROUNDS,
                           resident * b->gpu->multiprocessors, &here, &spread);
        if (status == TZ_OK && i == 0) {
            first = here;
            tz_number_set(&b->record->l2_bandwidth_bytes_per_s, first,
                          "measured: copying within %.3g MB over and over, median of %d, spread "
                          "%.1f %%",
                          1e-6 * size, b->repeats, spread);
        }
        /* Half way down to memory's bandwidth. */
        const double half = 0.5 * (first + slow);
        if (status == TZ_OK && i > 0 && here < half && before > here)
            useful = size_before + (size - size_before) * (before - half) / (before - here);
        before = here;
        size_before = size;
    }
    tz_cuda_unload(b->cuda, &kernel);
    if (status == TZ_OK && useful > 0)
        tz_number_set_exactly(&b->record->l2_useful_bytes, mib * (double)(int)(useful / mib + 0.5),
                              "measured: copies within so much run half way between L2's and "
                              "memory's bandwidth");
    return status;
}

/* ---- Latencies ------------------------------------------------------------------------------- */

/* Words a line apart, in no order, over the first `bytes` of an array, that lead to each other. */
static tz_status lay(tz__bench *b, const arrays *memory, size_t bytes, int count, uint32_t *first)
{
    tz_cuda_kernel kernel;
    const size_t lines = bytes / LINE_BYTES;
    uint32_t *order = malloc((size_t)count * sizeof *order);
    uint64_t random = 88172645463325252u;
    if (order == NULL)
        return tz_error_set(b->error, TZ_MEMORY, NULL, "not enough memory to measure with");
    /* One line from each of `count` stretches, the stretches shuffled: no line comes twice. */
    const size_t stretch = lines / (size_t)count;
    for (int i = 0; i < count; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        order[i] = (uint32_t)(((size_t)i * stretch + (random >> 20) % stretch) * LINE_BYTES);
        const int k = (int)((random >> 40) % (uint64_t)(i + 1));
        const uint32_t kept = order[i];
        order[i] = order[k];
        order[k] = kept;
    }
    *first = order[0];
    tz_cu_pointer table = memory->from, list = memory->to;
    tz_status status =
        tz_cuda_upload(b->cuda, list, order, (size_t)count * sizeof *order, b->error);
    free(order);
    if (status == TZ_OK)
        status = tz__bench_load(b, &kernel, TZ__PROBE_LINK, COPY_THREADS, "");
    if (status != TZ_OK)
        return status;
    double seconds;
    void *arguments[] = {&table, &list, &count};
    status = tz__bench_time(b, &kernel, b->gpu->multiprocessors, COPY_THREADS, 0, false, arguments,
                            &seconds);
    tz_cuda_unload(b->cuda, &kernel);
    return status;
}

static tz_status measure_chase(tz__bench *b, tz_model_number *out, const char *what,
                               const arrays *memory, size_t bytes, bool far)
{
    const tz__chains chains = {.what = what,
                               .type = "tz_word",
                               .step = "x = follow(table, y)",
                               .first = "a",
                               .pairs = 1,
                               .threads = 32,
                               .steps = CHASE_STEPS};
    const int steps = CHASE_STEPS * CHASE_ROUNDS;
    int count = far ? steps : (int)(bytes / LINE_BYTES);
    double cycles = 0, spread = 0;
    uint32_t first = 0;
    tz_samples samples = {0};
    tz_status status = tz__bench_next(b, what);
    if (status == TZ_OK)
        status = lay(b, memory, bytes, count, &first);
    if (status != TZ_OK)
        return status;
    if (!far) {
        status = tz__bench_chains(b, &chains, CHASE_ROUNDS, 1, memory->from, first, &cycles,
                                  &spread, NULL, NULL);
    } else {
        /* Nothing of the list may be in L2: the other array goes through it before each time. */
        const int repeats = b->repeats, warmups = b->warmups;
        const tz__copier *reader = &copiers[BUSY];
        const arrays other = {memory->to, memory->to, memory->bytes};
        const int pieces = (int)(memory->bytes / piece_bytes(reader));
        tz_cuda_kernel read;
        status = copier_load(b, reader, &read);
        if (status != TZ_OK)
            return status;
        b->warmups = 0;
        b->repeats = 1;
        for (int i = 0; status == TZ_OK && i < repeats; i++) {
            double ignored, apart;
            status = bandwidth(b, reader, &read, &other, pieces, 1, pieces, &ignored, &apart);
            if (status == TZ_OK)
                status = tz__bench_chains(b, &chains, CHASE_ROUNDS, 1, memory->from, first, &cycles,
                                          &spread, NULL, NULL);
            tz_samples_add(&samples, cycles);
        }
        b->warmups = warmups;
        b->repeats = repeats;
        tz_cuda_unload(b->cuda, &read);
        cycles = tz_samples_median(&samples);
        spread = 100 * tz_samples_spread(&samples);
    }
    if (status != TZ_OK)
        return status;
    tz_number_set(out, cycles / b->clock_hz,
                  "measured: %.4g cycles, %d loads that wait for each other over %.4g MiB, median "
                  "of %d, spread %.1f %%",
                  cycles, steps, (double)bytes / 1048576, b->repeats, spread);
    return TZ_OK;
}

tz_status tz__bench_memory(tz__bench *b)
{
    arrays memory = {0};
    const size_t wanted = (size_t)1 << 30;
    const size_t most = (size_t)b->gpu->memory_bytes / 8;
    memory.bytes = (wanted < most ? wanted : most) / (1 << 20) * (1 << 20);
    tz_status status = tz_cuda_allocate(b->cuda, &memory.from, memory.bytes, b->error);
    if (status == TZ_OK)
        status = tz_cuda_allocate(b->cuda, &memory.to, memory.bytes, b->error);
    if (status == TZ_OK)
        status = tz_cuda_clear(b->cuda, memory.from, memory.bytes, b->error);
    if (status == TZ_OK)
        status = measure_through(b, &b->record->copy_bandwidth_bytes_per_s, "copying in memory",
                                 &memory, true);
    if (status == TZ_OK)
        status = measure_through(b, &b->record->read_bandwidth_bytes_per_s, "reading memory",
                                 &memory, false);
    if (status == TZ_OK)
        status = measure_l2(b, &memory);
    if (status == TZ_OK && b->gpu->l2_bytes > 0)
        status = measure_chase(b, &b->record->l2_latency_s, "latency of L2", &memory,
                               (size_t)(b->gpu->l2_bytes / 16), false);
    if (status == TZ_OK)
        status = measure_chase(b, &b->record->memory_latency_s, "latency of memory", &memory,
                               memory.bytes / 2, true);
    tz_cuda_free(b->cuda, memory.to);
    tz_cuda_free(b->cuda, memory.from);
    return status;
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* QUEUE empty launches, `blocks` blocks each. */
typedef struct queue {
    const tz_cuda_kernel *kernel;
    int blocks;
    tz_cuda_graph *graph;         /* NULL: one launch after the other */
    const tz_cuda_kernel *before; /* NULL, or what the stream is busy with until all are queued */
} queue;

/* Seconds of one of them. */
static tz_status queue_seconds(tz__bench *b, const queue *q, double *seconds)
{
    void *arguments[] = {NULL};
    tz_cu_pointer from = b->out, to = b->out;
    int pieces = 1, rounds = BUSY_ROUNDS;
    uint32_t never = 0x9e3779b9u;
    tz_status status = TZ_OK;
    if (q->before != NULL)
        status = tz_cuda_launch(b->cuda, b->stream, q->before, (int[]){1, 1, 1},
                                (int[]){COPY_THREADS, 1, 1}, 0, false,
                                (void *[]){&from, &to, &pieces, &rounds, &never}, b->error);
    if (status == TZ_OK)
        status = tz_cuda_event_record(b->cuda, b->begin, b->stream, b->error);
    if (q->graph != NULL && status == TZ_OK)
        status = tz_cuda_graph_launch(b->cuda, q->graph, b->stream, b->error);
    for (int k = 0; q->graph == NULL && status == TZ_OK && k < QUEUE; k++)
        status = tz_cuda_launch(b->cuda, b->stream, q->kernel, (int[]){q->blocks, 1, 1},
                                (int[]){SYNC_THREADS, 1, 1}, 0, false, arguments, b->error);
    if (status == TZ_OK)
        status = tz_cuda_event_record(b->cuda, b->end, b->stream, b->error);
    if (status == TZ_OK)
        status = tz_cuda_event_wait(b->cuda, b->end, b->error);
    if (status == TZ_OK)
        status = tz_cuda_event_elapsed_s(b->cuda, b->begin, b->end, seconds, b->error);
    *seconds /= QUEUE;
    return status;
}

static tz_status measure_queue(tz__bench *b, tz_model_number *out, const char *what, queue q)
{
    tz_samples samples = {0};
    tz_status status = tz__bench_next(b, what);
    for (int i = -b->warmups; status == TZ_OK && i < b->repeats; i++) {
        double seconds = 0;
        status = queue_seconds(b, &q, &seconds);
        if (status == TZ_OK && i >= 0)
            tz_samples_add(&samples, seconds);
    }
    if (status == TZ_OK)
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
    for (int i = -5; status == TZ_OK && i < 4 * b->repeats; i++) {
        const double begin = tz_machine_clock_s();
        status = tz_cuda_launch(b->cuda, b->stream, kernel, (int[]){b->gpu->multiprocessors, 1, 1},
                                (int[]){SYNC_THREADS, 1, 1}, 0, false, arguments, b->error);
        if (status == TZ_OK)
            status = tz_cuda_queue_wait(b->cuda, b->stream, b->error);
        if (status == TZ_OK && i >= 0)
            tz_samples_add(&samples, tz_machine_clock_s() - begin);
    }
    if (status == TZ_OK)
        tz_number_set(&b->record->launch_alone_s, tz_samples_median(&samples),
                      "measured: an empty launch and a wait for its stream, by the host's clock, "
                      "median of %d, spread %.1f %%",
                      samples.count, 100 * tz_samples_spread(&samples));
    return status;
}

static tz_status graph_note(tz__bench *b, const tz_cuda_kernel *kernel, tz_cuda_graph **out)
{
    void *arguments[] = {NULL};
    tz_status status = tz_cuda_graph_begin(b->cuda, b->stream, b->error);
    if (status != TZ_OK)
        return status;
    for (int k = 0; status == TZ_OK && k < QUEUE; k++)
        status = tz_cuda_launch(b->cuda, b->stream, kernel, (int[]){b->gpu->multiprocessors, 1, 1},
                                (int[]){SYNC_THREADS, 1, 1}, 0, false, arguments, b->error);
    if (status == TZ_OK)
        return tz_cuda_graph_end(b->cuda, b->stream, out, b->error);
    tz_cuda_graph_end(b->cuda, b->stream, NULL, NULL);
    return status;
}

/* ---- Blocks that wait for each other --------------------------------------------------------- */

/* Seconds of a meeting of `blocks` blocks. */
static tz_status meeting_seconds(tz__bench *b, const tz_cuda_kernel *kernel, int blocks,
                                 double *out, double *spread)
{
    tz_samples samples = {0};
    int rounds = SYNC_ROUNDS;
    void *arguments[] = {&b->cycles, &b->barrier, &rounds};
    tz_status status = TZ_OK;
    for (int i = -b->warmups; status == TZ_OK && i < b->repeats; i++) {
        double seconds, median = 0, most;
        status = tz__bench_time(b, kernel, blocks, SYNC_THREADS, 0, true, arguments, &seconds);
        if (status == TZ_OK)
            status = tz__bench_cycles(b, blocks, &median, &most);
        if (status == TZ_OK && i >= 0)
            tz_samples_add(&samples, median / rounds / b->clock_hz);
    }
    if (status != TZ_OK)
        return status;
    *out = tz_samples_median(&samples);
    *spread = 100 * tz_samples_spread(&samples);
    return TZ_OK;
}

/* A line through the meetings of one, two, … blocks a multiprocessor: what does not grow, and what
 * each block more costs. */
static tz_status measure_meetings(tz__bench *b)
{
    tz_cuda_kernel kernel;
    int resident = 0;
    double blocks_sum = 0, seconds_sum = 0, products = 0, squares = 0, widest = 0, least = 0,
           seconds = 0;
    int n = 0, last = 0;
    tz_status status = tz__bench_next(b, "blocks that meet");
    if (status == TZ_OK)
        status = tz__bench_load(b, &kernel, TZ__PROBE_GRID_BARRIER, SYNC_THREADS, "");
    if (status != TZ_OK)
        return status;
    status = tz_cuda_occupancy(b->cuda, &kernel, SYNC_THREADS, 0, &resident, b->error);
    for (int k = 1; status == TZ_OK && k <= resident && k <= 8; k++) {
        double spread = 0;
        last = k * b->gpu->multiprocessors;
        status = meeting_seconds(b, &kernel, last, &seconds, &spread);
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
    if (status != TZ_OK || n < 2)
        return status;
    double slope =
        (n * products - blocks_sum * seconds_sum) / (n * squares - blocks_sum * blocks_sum);
    if (slope < 0)
        slope = 0;
    const double constant = (seconds_sum - slope * blocks_sum) / n;
    tz_number_set(
        &b->record->fence_s, constant > 0 ? constant : 0,
        "measured: a line through meetings of %d blocks (%.3g us) to %d (%.3g us), medians of "
        "%d, spread up to %.1f %%",
        b->gpu->multiprocessors, 1e6 * least, last, 1e6 * seconds, b->repeats, widest);
    tz_number_set(&b->record->fence_per_block_s, slope, "measured: the same line's slope");
    return TZ_OK;
}

static tz_status measure_neighbours(tz__bench *b)
{
    tz_cuda_kernel kernel;
    tz_samples samples = {0};
    const int blocks = b->gpu->multiprocessors / 2 * 2, threads = 32;
    /* A block takes more than half of what a multiprocessor has: no two share one. */
    const int shared = b->gpu->processor_shared_bytes / 2 + 1024;
    int rounds = SYNC_ROUNDS;
    uint32_t tag = 1;
    tz_cu_pointer slots = b->barrier + 1024;
    tz_cu_pointer barrier = b->barrier + 512;
    tz_status status = tz__bench_next(b, "neighbours that pass a word");
    if (blocks < 2 || (size_t)blocks * 128 + 1024 > TZ__BARRIER_BYTES)
        return status;
    if (status == TZ_OK)
        status = tz__bench_load(b, &kernel, TZ__PROBE_PASS, threads, "");
    if (status != TZ_OK)
        return status;
    void *arguments[] = {&b->cycles, &slots, &barrier, &rounds, &tag};
    for (int i = -b->warmups; status == TZ_OK && i < b->repeats; i++) {
        double seconds, median = 0, most;
        status = tz__bench_time(b, &kernel, blocks, threads,
                                shared < b->gpu->shared_bytes ? shared : b->gpu->shared_bytes, true,
                                arguments, &seconds);
        if (status == TZ_OK)
            status = tz__bench_cycles(b, blocks, &median, &most);
        if (status == TZ_OK && i >= 0)
            tz_samples_add(&samples, median / rounds);
        tag += (uint32_t)rounds;
    }
    tz_cuda_unload(b->cuda, &kernel);
    if (status == TZ_OK)
        tz_number_set(&b->record->neighbour_sync_s, tz_samples_median(&samples) / b->clock_hz,
                      "measured: %.4g cycles there and back, %d pairs of blocks at once, median of "
                      "%d, spread %.1f %%",
                      tz_samples_median(&samples), blocks / 2, samples.count,
                      100 * tz_samples_spread(&samples));
    return status;
}

tz_status tz__bench_launches(tz__bench *b)
{
    tz_cuda_kernel empty, busy = {0};
    tz_cuda_graph *graph = NULL;
    int resident = 0;
    tz_model_device *d = b->record;
    tz_status status = tz__bench_load(b, &empty, TZ__PROBE_EMPTY, SYNC_THREADS, "");
    if (status != TZ_OK)
        return status;
    status = tz_cuda_occupancy(b->cuda, &empty, SYNC_THREADS, 0, &resident, b->error);
    if (status == TZ_OK)
        status = copier_load(b, &copiers[BUSY], &busy);
    const int multiprocessors = b->gpu->multiprocessors;
    if (status == TZ_OK)
        status = measure_queue(b, &d->launch_s, "launches of as many blocks as run at once",
                               (queue){&empty, resident * multiprocessors, NULL, NULL});
    if (status == TZ_OK)
        status = measure_queue(b, &d->launch_queued_s, "launches in a queue",
                               (queue){&empty, multiprocessors, NULL, NULL});
    if (status == TZ_OK)
        status = measure_queue(b, &d->launch_gap_s, "launches that are queued already",
                               (queue){&empty, multiprocessors, NULL, &busy});
    if (status == TZ_OK)
        status = graph_note(b, &empty, &graph);
    if (status == TZ_OK)
        status = measure_queue(b, &d->graph_launch_s, "launches in a graph",
                               (queue){&empty, multiprocessors, graph, NULL});
    if (status == TZ_OK)
        status = measure_alone(b, &empty);
    tz_cuda_graph_destroy(b->cuda, graph);
    tz_cuda_unload(b->cuda, &busy);
    tz_cuda_unload(b->cuda, &empty);
    if (status == TZ_OK && b->gpu->cooperative)
        status = measure_meetings(b);
    if (status == TZ_OK && b->gpu->cooperative)
        status = measure_neighbours(b);
    return status;
}
