/* A GPU measured: its memory, launches, and what blocks wait for. */
#include "cuda/calibrate_impl.h"

#include "base/machine.h"
#include <stdlib.h>
#include <string.h>

enum {
    LINE_BYTES = 128,
    COPY_THREADS = 256,
    PIECE_BYTES = COPY_THREADS * 64, /* of a block's turn */
    L2_ROUNDS = 64,
    CHASE_STEPS = 256,
    CHASE_ROUNDS = 32,
    QUEUE = 200, /* launches in a queue */
    SYNC_ROUNDS = 200,
    SYNC_THREADS = 256
};

typedef struct arrays {
    tz_cu_pointer from, to;
    size_t bytes; /* of each */
    tz_cuda_kernel copy, read, copy_fresh, lay;
} arrays;

/* ---- Bandwidths --------------------------------------------------------------------------------
 */

/* Bytes a second: `pieces` pieces of each array in each of `rounds` rounds; median. */
static tz_status bandwidth(tz__bench *b, const tz_cuda_kernel *kernel, const arrays *memory,
                           int pieces, int rounds, int blocks, bool writes, double *out,
                           double *spread)
{
    tz_samples samples = {0};
    uint32_t never = 0x9e3779b9u;
    tz_cu_pointer from = memory->from, to = memory->to;
    void *arguments[] = {&from, &to, &pieces, &rounds, &never};
    tz_status status = TZ_OK;
    for (int i = -2; status == TZ_OK && i < b->repeats; i++) {
        double seconds = 0;
        status = tz__bench_time(b, kernel, blocks < pieces ? blocks : pieces, COPY_THREADS, 0,
                                false, arguments, &seconds);
        if (status == TZ_OK && !(seconds > 0))
            status = tz_error_set(b->error, TZ_BACKEND, NULL,
                                  "a copy on %s took no time: nothing can be measured with it",
                                  b->gpu->name);
        if (status == TZ_OK && i >= 0)
            tz_samples_add(&samples,
                           (writes ? 2.0 : 1.0) * PIECE_BYTES * pieces * rounds / seconds);
    }
    if (status != TZ_OK)
        return status;
    *out = tz_samples_median(&samples);
    *spread = 100 * tz_samples_spread(&samples);
    return TZ_OK;
}

/* Through memory: as many blocks as run at once, or a block a piece, whichever is faster. */
static tz_status measure_through(tz__bench *b, tz_model_number *out, const char *what,
                                 const tz_cuda_kernel *kernel, const arrays *memory, bool writes)
{
    const int pieces = (int)(memory->bytes / PIECE_BYTES);
    double best = 0, spread = 0;
    int chosen = 0, resident = 0;
    tz_status status = tz__bench_next(b, what);
    if (status == TZ_OK)
        status = tz_cuda_occupancy(b->cuda, kernel, COPY_THREADS, 0, &resident, b->error);
    const int tried[] = {resident * b->gpu->processors, pieces};
    for (int i = 0; status == TZ_OK && i < 2; i++) {
        double here, apart;
        status = bandwidth(b, kernel, memory, pieces, 1, tried[i], writes, &here, &apart);
        if (status == TZ_OK && here > best) {
            best = here;
            spread = apart;
            chosen = tried[i];
        }
    }
    if (status == TZ_OK)
        tz_number_set(
            out, best,
            "measured: %s %.4g MiB, %d blocks of %d threads, median of %d, spread %.1f %%",
            writes ? "copying" : "reading", (double)memory->bytes / 1048576, chosen, COPY_THREADS,
            b->repeats, spread);
    return status;
}

/* Pieces of each array, so that both arrays are about `bytes` and every multiprocessor has as many.
 */
static int pieces_of(const tz__bench *b, double bytes)
{
    const int a_processor = (int)(bytes / 2 / PIECE_BYTES / b->gpu->processors + 0.5);
    return (a_processor > 1 ? a_processor : 1) * b->gpu->processors;
}

static tz_status measure_l2(tz__bench *b, const arrays *memory)
{
    static const double shares[] = {0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2};
    enum { SHARES = sizeof shares / sizeof *shares };
    const double l2 = (double)b->gpu->l2_bytes, mib = 1048576;
    double first = 0, before = 0, size_before = 0, useful = 0, spread = 0;
    int resident = 0;
    tz_status status = tz__bench_next(b, "bandwidth of L2");
    if (l2 <= 0)
        return status;
    if (status == TZ_OK)
        status =
            tz_cuda_occupancy(b->cuda, &memory->copy_fresh, COPY_THREADS, 0, &resident, b->error);
    const double slow = b->record->copy_bandwidth_bytes_per_s.value;
    for (int i = 0; status == TZ_OK && i < SHARES && useful == 0; i++) {
        const int pieces = pieces_of(b, shares[i] * l2);
        const double size = 2.0 * PIECE_BYTES * pieces;
        double here = 0, apart = 0;
        if (size > 2.0 * (double)memory->bytes)
            break;
        status = bandwidth(b, &memory->copy_fresh, memory, pieces, L2_ROUNDS,
                           resident * b->gpu->processors, true, &here, &apart);
        if (status == TZ_OK && i == 0) {
            first = here;
            spread = apart;
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
    if (status == TZ_OK && useful > 0)
        tz_number_set_exactly(&b->record->l2_useful_bytes, mib * (double)(int)(useful / mib + 0.5),
                              "measured: copies within so much run half way between L2's and "
                              "memory's bandwidth");
    return status;
}

/* ---- Latencies ---------------------------------------------------------------------------------
 */

/* Words a line apart, in no order, over the first `bytes` of an array, that lead to each other. */
static tz_status lay(tz__bench *b, const arrays *memory, size_t bytes, int count, uint32_t *first)
{
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
    double seconds;
    void *arguments[] = {&table, &list, &count};
    if (status == TZ_OK)
        status = tz__bench_time(b, &memory->lay, b->gpu->processors, COPY_THREADS, 0, false,
                                arguments, &seconds);
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
    /* From memory each line once in all repetitions: what has been read stays in L2 for a while. */
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
        /* Nothing of the list may be in L2: the rest of the array goes through it before. */
        const int repeats = b->repeats, pieces = (int)(memory->bytes / PIECE_BYTES);
        for (int i = 0; status == TZ_OK && i < repeats; i++) {
            double ignored, apart;
            b->repeats = 1;
            status =
                bandwidth(b, &memory->read, memory, pieces, 1, pieces, false, &ignored, &apart);
            if (status == TZ_OK)
                status = tz__bench_chains(b, &chains, CHASE_ROUNDS, 1, memory->from, first, &cycles,
                                          &spread, NULL, NULL);
            tz_samples_add(&samples, cycles);
            b->repeats = repeats;
        }
    }
    if (status != TZ_OK)
        return status;
    if (far) {
        cycles = tz_samples_median(&samples);
        spread = 100 * tz_samples_spread(&samples);
    }
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
        status = tz__bench_load(b, &memory.copy, TZ__PROBE_COPY, COPY_THREADS,
                                "#define TZ_WRITES 1\n#define TZ_FRESH 0\n");
    if (status == TZ_OK)
        status = tz__bench_load(b, &memory.read, TZ__PROBE_COPY, COPY_THREADS,
                                "#define TZ_WRITES 0\n#define TZ_FRESH 0\n");
    if (status == TZ_OK)
        status = tz__bench_load(b, &memory.copy_fresh, TZ__PROBE_COPY, COPY_THREADS,
                                "#define TZ_WRITES 1\n#define TZ_FRESH 1\n");
    if (status == TZ_OK)
        status = tz__bench_load(b, &memory.lay, TZ__PROBE_LAY, COPY_THREADS, "");
    if (status == TZ_OK)
        status = measure_through(b, &b->record->copy_bandwidth_bytes_per_s, "copying in memory",
                                 &memory.copy, &memory, true);
    if (status == TZ_OK)
        status = measure_through(b, &b->record->read_bandwidth_bytes_per_s, "reading memory",
                                 &memory.read, &memory, false);
    if (status == TZ_OK)
        status = measure_l2(b, &memory);
    if (status == TZ_OK && b->gpu->l2_bytes > 0)
        status = measure_chase(b, &b->record->l2_latency_s, "latency of L2", &memory,
                               (size_t)(b->gpu->l2_bytes / 16), false);
    if (status == TZ_OK)
        status = measure_chase(b, &b->record->memory_latency_s, "latency of memory", &memory,
                               memory.bytes / 2, true);
    tz_cuda_unload(b->cuda, &memory.lay);
    tz_cuda_unload(b->cuda, &memory.copy_fresh);
    tz_cuda_unload(b->cuda, &memory.read);
    tz_cuda_unload(b->cuda, &memory.copy);
    tz_cuda_free(b->cuda, memory.to);
    tz_cuda_free(b->cuda, memory.from);
    return status;
}

/* ---- Launches ----------------------------------------------------------------------------------
 */

/* Seconds of one of QUEUE empty launches, one after the other or noted as a graph. */
static tz_status queue_seconds(tz__bench *b, const tz_cuda_kernel *kernel, int blocks,
                               tz_cuda_graph *graph, double *seconds)
{
    void *arguments[] = {NULL};
    tz_status status = tz_cuda_event_record(b->cuda, b->begin, b->stream, b->error);
    if (graph != NULL && status == TZ_OK)
        status = tz_cuda_graph_launch(b->cuda, graph, b->stream, b->error);
    for (int k = 0; graph == NULL && status == TZ_OK && k < QUEUE; k++)
        status = tz_cuda_launch(b->cuda, b->stream, kernel, (int[]){blocks, 1, 1},
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

static tz_status measure_queue(tz__bench *b, tz_model_number *out, const char *what,
                               const tz_cuda_kernel *kernel, int blocks, tz_cuda_graph *graph)
{
    tz_samples samples = {0};
    tz_status status = tz__bench_next(b, what);
    for (int i = -2; status == TZ_OK && i < b->repeats; i++) {
        double seconds = 0;
        status = queue_seconds(b, kernel, blocks, graph, &seconds);
        if (status == TZ_OK && i >= 0)
            tz_samples_add(&samples, seconds);
    }
    if (status == TZ_OK)
        tz_number_set(out, tz_samples_median(&samples),
                      "measured: %d empty launches of %d blocks of %d threads%s, median of %d, "
                      "spread %.1f %%",
                      QUEUE, blocks, SYNC_THREADS, graph ? " in a graph" : " in a queue",
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
        status = tz_cuda_launch(b->cuda, b->stream, kernel, (int[]){b->gpu->processors, 1, 1},
                                (int[]){SYNC_THREADS, 1, 1}, 0, false, arguments, b->error);
        if (status == TZ_OK)
            status = tz_cuda_stream_wait(b->cuda, b->stream, b->error);
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
        status = tz_cuda_launch(b->cuda, b->stream, kernel, (int[]){b->gpu->processors, 1, 1},
                                (int[]){SYNC_THREADS, 1, 1}, 0, false, arguments, b->error);
    if (status == TZ_OK)
        return tz_cuda_graph_end(b->cuda, b->stream, out, b->error);
    tz_cuda_graph_end(b->cuda, b->stream, NULL, NULL);
    return status;
}

/* ---- Blocks that wait for each other ------------------------------------------------------------
 */

/* Seconds of a meeting of `blocks` blocks. */
static tz_status meeting_seconds(tz__bench *b, const tz_cuda_kernel *kernel, int blocks,
                                 double *out, double *spread)
{
    tz_samples samples = {0};
    int rounds = SYNC_ROUNDS;
    void *arguments[] = {&b->cycles, &b->barrier, &rounds};
    tz_status status = TZ_OK;
    for (int i = -2; status == TZ_OK && i < b->repeats; i++) {
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
    double blocks_sum = 0, seconds_sum = 0, products = 0, squares = 0, widest = 0;
    int n = 0, last = 0;
    tz_status status = tz__bench_next(b, "blocks that meet");
    if (status == TZ_OK)
        status = tz__bench_load(b, &kernel, TZ__PROBE_MEET, SYNC_THREADS, "");
    if (status != TZ_OK)
        return status;
    status = tz_cuda_occupancy(b->cuda, &kernel, SYNC_THREADS, 0, &resident, b->error);
    for (int k = 1; status == TZ_OK && k <= resident && k <= 8; k++) {
        double seconds = 0, spread = 0;
        last = k * b->gpu->processors;
        status = meeting_seconds(b, &kernel, last, &seconds, &spread);
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
    tz_number_set(&b->record->fence_s, constant > 0 ? constant : 0,
                  "measured: a line through meetings of %d to %d blocks of %d threads, medians of "
                  "%d, spread up to %.1f %%",
                  b->gpu->processors, last, SYNC_THREADS, b->repeats, widest);
    tz_number_set(&b->record->fence_per_block_s, slope, "measured: the same line's slope");
    return TZ_OK;
}

static tz_status measure_neighbours(tz__bench *b)
{
    tz_cuda_kernel kernel;
    tz_samples samples = {0};
    const int blocks = b->gpu->processors / 2 * 2, threads = 32;
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
    for (int i = -2; status == TZ_OK && i < b->repeats; i++) {
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
    tz_cuda_kernel empty;
    tz_cuda_graph *graph = NULL;
    int resident = 0;
    tz_model_device *d = b->record;
    tz_status status = tz__bench_load(b, &empty, TZ__PROBE_EMPTY, SYNC_THREADS, "");
    if (status != TZ_OK)
        return status;
    status = tz_cuda_occupancy(b->cuda, &empty, SYNC_THREADS, 0, &resident, b->error);
    if (status == TZ_OK)
        status = measure_queue(b, &d->launch_s, "launches of as many blocks as run at once", &empty,
                               resident * b->gpu->processors, NULL);
    if (status == TZ_OK)
        status = measure_queue(b, &d->launch_queued_s, "launches in a queue", &empty,
                               b->gpu->processors, NULL);
    if (status == TZ_OK)
        status = graph_note(b, &empty, &graph);
    if (status == TZ_OK)
        status = measure_queue(b, &d->graph_launch_s, "launches in a graph", &empty,
                               b->gpu->processors, graph);
    if (status == TZ_OK)
        status = measure_alone(b, &empty);
    tz_cuda_graph_destroy(b->cuda, graph);
    tz_cuda_unload(b->cuda, &empty);
    if (status == TZ_OK && b->gpu->cooperative)
        status = measure_meetings(b);
    if (status == TZ_OK && b->gpu->cooperative)
        status = measure_neighbours(b);
    return status;
}
