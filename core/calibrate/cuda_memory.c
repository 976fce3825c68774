/* Measures bandwidths and latencies of a GPU's memory. */
#include "calibrate/cuda_bench.h"

#include <stdlib.h>

enum { LINE_BYTES = 128, L2_ROUNDS = 64, CHASE_STEPS = 256, CHASE_ROUNDS = 32 };

typedef struct arrays {
    tz_cu_pointer from, to;
    size_t bytes; /* of each */
} arrays;

static const tz__copier copiers[] = {
    /* copies and reads of memory: the fastest counts */
    {true, 2, "tz_load"},
    {true, 4, "tz_load"},
    {true, 8, "tz_load"},
    {true, 2, "tz_load_once"},
    {true, 4, "tz_load_once"},
    {false, 2, "tz_load"},
    {false, 4, "tz_load"},
    {false, 8, "tz_load"},
    {false, 4, "tz_load_once"},
    /* copies within L2, and reads that replace its contents; both bypass the first level */
    {true, 4, "tz_load_fresh"},
    {false, 4, "tz_load_fresh"},
};
enum {
    COPIERS = sizeof copiers / sizeof *copiers,
    THROUGH = COPIERS - 2, /* number of the first kind */
    WITHIN = COPIERS - 2,
    BUSY = COPIERS - 1
};

const tz__copier *tz__copiers_table(size_t *count)
{
    *count = COPIERS;
    return copiers;
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
        (copier->writes ? 2.0 : 1.0) * (double)tz__copier_bytes(copier) * pieces * rounds;
    tz_status status = TZ_OK;
    for (int i = -b->warmups; !status && i < b->repeats; i++) {
        double seconds = 0;
        status = tz__bench_time(b, kernel, blocks < pieces ? blocks : pieces, TZ__COPY_THREADS, 0,
                                false, arguments, &seconds);
        if (!status && !(seconds > 0))
            status = tz_error_set(b->error, TZ_BACKEND, NULL,
                                  "a copy on %s took no time: nothing can be measured with it",
                                  b->gpu->name);
        if (!status && i >= 0)
            tz_samples_add(&samples, bytes / seconds);
    }
    if (status)
        return status;
    *out = tz_samples_median(&samples);
    *spread = 100 * tz_samples_spread(&samples);
    return TZ_OK;
}

/* Bandwidth of memory: of the fastest kernel, with as many blocks as run at once or one block a
 * piece. */
static tz_status measure_through(tz__bench *b, tz_model_number *out, const char *what,
                                 const arrays *memory, bool writes)
{
    double best = 0;
    tz_status status = tz__bench_next(b, what);
    for (int i = 0; !status && i < THROUGH; i++) {
        const tz__copier *copier = &copiers[i];
        const int pieces = (int)(memory->bytes / tz__copier_bytes(copier));
        tz_cuda_kernel kernel;
        int resident = 0;
        if (copier->writes != writes)
            continue;
        status = tz__copier_load(b, copier, &kernel);
        if (status)
            break;
        status = tz_cuda_occupancy(b->cuda, &kernel, TZ__COPY_THREADS, 0, &resident, b->error);
        for (int k = 0; !status && k < 2; k++) {
            const int blocks = k ? pieces : resident * b->gpu->multiprocessors;
            double here = 0, spread = 0;
            status = bandwidth(b, copier, &kernel, memory, pieces, 1, blocks, &here, &spread);
            if (status || here <= best)
                continue;
            best = here;
            tz_number_set(out, best,
                          "measured: %s %.4g MiB, %d blocks of %d threads, %d x 16 bytes of each "
                          "at once, median of %d, spread %.1f %%",
                          writes ? "copying" : "reading", (double)memory->bytes / 1048576, blocks,
                          TZ__COPY_THREADS, copier->packets, b->repeats, spread);
        }
        tz_cuda_unload(b->cuda, &kernel);
    }
    return status;
}

/* Pieces of each array, so that both arrays have about `bytes` and each multiprocessor as many
 * pieces. */
static int pieces_of(const tz__bench *b, double bytes)
{
    const double each = bytes / 2 / (double)tz__copier_bytes(&copiers[WITHIN]);
    const int per_sm = (int)(each / b->gpu->multiprocessors + 0.5);
    return (per_sm > 1 ? per_sm : 1) * b->gpu->multiprocessors;
}

static tz_status measure_l2(tz__bench *b, const arrays *memory)
{
    static const double share = 0.4;
    const double l2 = (double)b->gpu->l2_bytes;
    int resident = 0;
    tz_cuda_kernel kernel;
    tz_status status = tz__bench_next(b, "bandwidth of L2");
    if (l2 <= 0 || status)
        return status;
    status = tz__copier_load(b, &copiers[WITHIN], &kernel);
    if (status)
        return status;
    status = tz_cuda_occupancy(b->cuda, &kernel, TZ__COPY_THREADS, 0, &resident, b->error);
    const int pieces = pieces_of(b, share * l2);
    const double size = 2.0 * (double)tz__copier_bytes(&copiers[WITHIN]) * pieces;
    if (!status && size <= 2.0 * (double)memory->bytes) {
        double here = 0, spread = 0;
        status = bandwidth(b, &copiers[WITHIN], &kernel, memory, pieces, L2_ROUNDS,
                           resident * b->gpu->multiprocessors, &here, &spread);
        if (!status)
            tz_number_set(&b->record->l2_bandwidth_bytes_per_s, here,
                          "measured: copying within %.3g MB over and over, median of %d, spread "
                          "%.1f %%",
                          1e-6 * size, b->repeats, spread);
    }
    tz_cuda_unload(b->cuda, &kernel);
    return status;
}

/* ---- Latencies ------------------------------------------------------------------------------- */

/* Links `count` random lines of the first `bytes` of an array to a cycle. */
static tz_status lay(tz__bench *b, const arrays *memory, size_t bytes, int count, uint32_t *first)
{
    tz_cuda_kernel kernel;
    const size_t lines = bytes / LINE_BYTES;
    uint32_t *order = malloc((size_t)count * sizeof *order);
    uint64_t random = 88172645463325252u;
    if (!order)
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
    if (!status)
        status = tz__bench_load(b, &kernel, TZ__PROBE_LINK, TZ__COPY_THREADS, "");
    if (status)
        return status;
    double seconds;
    void *arguments[] = {&table, &list, &count};
    status = tz__bench_time(b, &kernel, b->gpu->multiprocessors, TZ__COPY_THREADS, 0, false,
                            arguments, &seconds);
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
    tz__chains_time time = {0};
    uint32_t first = 0;
    tz_samples samples = {0};
    tz_status status = tz__bench_next(b, what);
    if (!status)
        status = lay(b, memory, bytes, count, &first);
    if (status)
        return status;
    if (!far) {
        status = tz__bench_chains(b, &chains, CHASE_ROUNDS, 1, memory->from, first, &time);
    } else {
        /* Before each time the other array is read, so that L2 has none of the links. */
        const int repeats = b->repeats, warmups = b->warmups;
        const tz__copier *reader = &copiers[BUSY];
        const arrays other = {memory->to, memory->to, memory->bytes};
        const int pieces = (int)(memory->bytes / tz__copier_bytes(reader));
        tz_cuda_kernel read;
        status = tz__copier_load(b, reader, &read);
        if (status)
            return status;
        b->warmups = 0;
        b->repeats = 1;
        for (int i = 0; !status && i < repeats; i++) {
            double ignored, apart;
            status = bandwidth(b, reader, &read, &other, pieces, 1, pieces, &ignored, &apart);
            if (!status)
                status = tz__bench_chains(b, &chains, CHASE_ROUNDS, 1, memory->from, first, &time);
            tz_samples_add(&samples, time.cycles);
        }
        b->warmups = warmups;
        b->repeats = repeats;
        tz_cuda_unload(b->cuda, &read);
        time.cycles = tz_samples_median(&samples);
        time.spread = 100 * tz_samples_spread(&samples);
    }
    if (status)
        return status;
    tz_number_set(out, time.cycles / b->clock_hz,
                  "measured: %.4g cycles, %d loads that wait for each other over %.4g MiB, median "
                  "of %d, spread %.1f %%",
                  time.cycles, steps, (double)bytes / 1048576, b->repeats, time.spread);
    return TZ_OK;
}

tz_status tz__measure_memory(tz__bench *b)
{
    arrays memory = {0};
    const size_t wanted = (size_t)1 << 30;
    const size_t most = (size_t)b->gpu->memory_bytes / 8;
    memory.bytes = (wanted < most ? wanted : most) / (1 << 20) * (1 << 20);
    tz_status status = tz_cuda_allocate(b->cuda, &memory.from, memory.bytes, b->error);
    if (!status)
        status = tz_cuda_allocate(b->cuda, &memory.to, memory.bytes, b->error);
    if (!status)
        status = tz_cuda_clear(b->cuda, memory.from, memory.bytes, b->error);
    if (!status)
        status = measure_through(b, &b->record->copy_bandwidth_bytes_per_s, "copying in memory",
                                 &memory, true);
    if (!status)
        status = measure_through(b, &b->record->read_bandwidth_bytes_per_s, "reading memory",
                                 &memory, false);
    if (!status)
        status = measure_l2(b, &memory);
    if (!status && b->gpu->l2_bytes > 0)
        status = measure_chase(b, &b->record->l2_latency_s, "latency of L2", &memory,
                               (size_t)(b->gpu->l2_bytes / 16), false);
    if (!status)
        status = measure_chase(b, &b->record->memory_latency_s, "latency of memory", &memory,
                               memory.bytes / 2, true);
    tz_cuda_free(b->cuda, memory.to);
    tz_cuda_free(b->cuda, memory.from);
    return status;
}
