/* Counts the instructions of a kernel's loops, for the planner (family/work.c), and keeps the
 * counts in the cache beside the cubins. */
#include "backend/cuda/sass/mix.h"

#include "backend/cuda/sass/mix_graph.h"

#include "model/constants.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void tz_work_mix_add(tz_work_mix *to, const tz_work_mix *mix, double times)
{
    for (int c = 0; c < TZ_WORK_CLASSES; c++)
        to->of[c] += times * mix->of[c];
}

/* ---- Ways --------------------------------------------------------------------------------------
 *
 * A region is a loop, or the kernel (-1). Its nodes are its own blocks and the loops inside it,
 * each as one node. The index of a node is that of its first block. */

static bool in_region(const graph *g, int region, int b)
{
    return tz__mix_in_loop(g, region, b) && (!g->only || g->only[b]);
}

typedef struct score {
    double useful, size;
    bool there;
} score;

static bool better(const score *a, const score *b)
{
    if (!b->there || !a->there)
        return a->there;
    return a->useful != b->useful ? a->useful > b->useful : a->size < b->size;
}

/* The loop just inside the region that holds the block; -1: the block is the region's own. */
static int child_of(const graph *g, int region, int b)
{
    int loop = g->blocks[b].loop;
    while (loop != region && loop >= 0 && g->parent[loop] != region)
        loop = g->parent[loop];
    return loop == region ? -1 : loop;
}

static int node_of(const graph *g, int region, int b)
{
    const int child = child_of(g, region, b);
    return child < 0 ? b : g->header[child];
}

/* Does an inner loop only compute or wait? Then one iteration of it is part of the way. */
static bool only_computes(const graph *g, int loop)
{
    for (int k = 0; k < g->count; k++)
        if (tz__mix_in_loop(g, loop, k) && g->blocks[k].useful_shared > 0.0)
            return false;
    return true;
}

/* An inner loop that moves data is the slow path of the same step. The way avoids it if another
 * path exists. */
static score weigh(const graph *g, int region, int node)
{
    const int child = child_of(g, region, node);
    const block *b = &g->blocks[node];
    if (child < 0)
        return (score){g->shortest ? 0.0
                       : g->near   ? b->useful_shared
                                   : b->useful,
                       b->end - b->first, true};
    double size = 0.0;
    for (int k = 0; k < g->count; k++)
        size += tz__mix_in_loop(g, child, k) ? g->blocks[k].end - g->blocks[k].first : 0.0;
    return only_computes(g, child) ? (score){0.0, size, true}
                                   : (score){region >= 0 ? -1e6 : 0.0, 0.0, true};
}

/* The best ways from the region's start to each node and from each node to its end. came[n] is the
 * node before n, goes[n] the one after it; -1: none. */
typedef struct ways {
    score *to, *from;
    int *came, *goes;
} ways;

static void reach(const graph *g, int region, ways *w, int node, int next, bool forward)
{
    const score here = forward ? w->to[node] : w->from[next];
    const int other = forward ? next : node;
    const score own = weigh(g, region, other);
    const score sum = {here.useful + own.useful, here.size + own.size, here.there};
    score *best = forward ? &w->to[other] : &w->from[other];
    if (better(&sum, best)) {
        *best = sum;
        (forward ? w->came : w->goes)[other] = forward ? node : next;
    }
}

/* All edges of the region, forward or backward. */
static void sweep(const graph *g, int region, ways *w, bool forward)
{
    const int start = region < 0 ? 0 : g->header[region];
    for (int k = 0; k < g->reached; k++) {
        const int head = g->sorted[forward ? k : g->reached - 1 - k];
        if (!in_region(g, region, head) || node_of(g, region, head) != head)
            continue;
        for (int j = 0; j < g->reached; j++) {
            const int b = g->sorted[j];
            if (!in_region(g, region, b) || node_of(g, region, b) != head)
                continue;
            const bool ends = region < 0
                                  ? g->blocks[b].ends
                                  : g->blocks[b].next[0] == start || g->blocks[b].next[1] == start;
            if (!forward && ends) {
                const score own = weigh(g, region, head);
                if (better(&own, &w->from[head])) {
                    w->from[head] = own;
                    w->goes[head] = -1;
                }
            }
            for (int s = 0; s < 2; s++) {
                const int next = g->blocks[b].next[s];
                if (next < 0 || !in_region(g, region, next) || (region >= 0 && next == start))
                    continue;
                const int to = node_of(g, region, next);
                if (to != head)
                    reach(g, region, w, head, to, forward);
            }
        }
    }
}

/* Instructions that mark the path of a warp with work to do: accesses to global memory, barriers
 * and exchanges between lanes. Narrow accesses do not count: only the few lanes that cannot access
 * memory in wide packets use them. */
static double useful_of(const graph *g, const block *b, const int *widest)
{
    double useful = 0.0;
    for (int k = b->first; k < b->end; k++) {
        const tz_sass_instruction *i = &g->sass->code[k];
        const bool access =
            i->class == TZ_WORK_READ || i->class == TZ_WORK_WRITE || i->class == TZ_WORK_COPY;
        useful += i->class == TZ_WORK_BARRIER || i->class == TZ_WORK_SHUFFLE ||
                  (access && !i->local && i->words == widest[i->class]);
    }
    return useful;
}

static void weigh_blocks(graph *g, int region)
{
    int widest[TZ_WORK_CLASSES] = {0};
    bool stores = false, moves = false, useful = false;
    for (int b = 0; b < g->count; b++)
        for (int k = g->blocks[b].first; g->blocks[b].loop == region && k < g->blocks[b].end; k++) {
            const tz_sass_instruction *i = &g->sass->code[k];
            stores = stores || (i->class == TZ_WORK_WRITE && !i->local);
            if (!i->local && i->words > widest[i->class])
                widest[i->class] = i->words;
        }
    for (int b = 0; b < g->count; b++)
        if (g->blocks[b].loop == region) {
            g->blocks[b].useful = useful_of(g, &g->blocks[b], widest);
            moves = moves || g->blocks[b].useful_shared > 0.0;
            useful = useful || g->blocks[b].useful > 0.0;
        }
    /* Where cells stay in registers, a warp at work exchanges them between lanes, or only computes:
     * its path is the longest one then, since the others leave the loop early. */
    g->near = !stores && moves;
    for (int b = 0; b < g->count && !g->near && !useful; b++)
        if (g->blocks[b].loop == region)
            g->blocks[b].useful = g->blocks[b].end - g->blocks[b].first;
}

static bool find_ways(graph *g, int region, const bool *only, ways *w)
{
    g->only = only;
    weigh_blocks(g, region);
    const size_t n = (size_t)g->count + 1;
    const int start = region < 0 ? 0 : g->header[region];
    w->to = calloc(n, sizeof *w->to);
    w->from = calloc(n, sizeof *w->from);
    w->came = malloc(n * sizeof *w->came);
    w->goes = malloc(n * sizeof *w->goes);
    if (!w->to || !w->from || !w->came || !w->goes)
        return false;
    for (size_t k = 0; k < n; k++)
        w->came[k] = w->goes[k] = -1;
    w->to[node_of(g, region, start)] = weigh(g, region, node_of(g, region, start));
    sweep(g, region, w, true);
    sweep(g, region, w, false);
    return true;
}

static void free_ways(ways *w)
{
    free(w->to);
    free(w->from);
    free(w->came);
    free(w->goes);
}

/* ---- Counts ---------------------------------------------------------------------------------- */

static void add_block(const graph *g, int b, tz_work_mix *mix)
{
    for (int k = g->blocks[b].first; k < g->blocks[b].end; k++)
        mix->of[g->sass->code[k].class] += 1.0;
}

/* Clocks until the result of a class is ready, on an H100 (docs/log/prediction-gpu.md). They are
 * only units in which waits are counted: the model multiplies by the latencies of its device.
 * 0: global memory, whose waits are counted separately. */
static double latency_of(const tz_sass_instruction *i)
{
    switch (i->class) {
    case TZ_WORK_SHUFFLE:
        return 24.0;
    case TZ_WORK_SHARED_READ:
        return 30.0;
    case TZ_WORK_SPECIAL:
        return 24.0;
    case TZ_WORK_FP64:
        return 16.0;
    case TZ_WORK_READ:
        return i->local ? 36.0 : 0.0; /* spilt registers come from the first-level cache */
    case TZ_WORK_WRITE:
    case TZ_WORK_COPY:
        return 0.0;
    default:
        return 14.0;
    }
}

enum { BARRIERS = 6, ROUNDS = 3, READ_CLOCKS = 12 };

/* Runs a lone warp round the way `rounds` times. Each instruction waits for the stall clocks of the
 * instruction before it and for the scoreboard barriers that it names. */
static void go_round(const tz_sass *sass, const int *way, int count, int rounds, tz_cuda_loop *loop)
{
    double now = 0.0, ready[BARRIERS] = {0}, nominal[BARRIERS] = {0}, begin = 0.0, waited = 0.0;
    int set_by[BARRIERS] = {0};
    for (int round = 0; round < rounds; round++) {
        begin = now;
        waited = 0.0;
        memset(&loop->waits, 0, sizeof loop->waits);
        for (int k = 0; k < count; k++) {
            const tz_sass_instruction *i = &sass->code[way[k]];
            for (int b = 0; b < BARRIERS; b++)
                if (i->waits >> b & 1 && ready[b] > now) {
                    const double time = ready[b] - now;
                    if (nominal[b] > 0.0) {
                        loop->waits.of[set_by[b]] += time / nominal[b];
                        waited += time;
                    }
                    now = ready[b];
                }
            const double latency = latency_of(i);
            if (i->sets < BARRIERS && now + latency > ready[i->sets]) {
                ready[i->sets] = now + latency;
                set_by[i->sets] = i->class;
                nominal[i->sets] = i->class == TZ_WORK_CONTROL ? 0.0 : latency;
            }
            if (i->frees < BARRIERS && now + READ_CLOCKS > ready[i->frees]) {
                ready[i->frees] = now + READ_CLOCKS;
                nominal[i->frees] = 0.0;
            }
            now += i->stall > 0 ? i->stall : 1.0;
        }
    }
    loop->clocks = now - begin - waited;
}

/* How often a warp waits for global memory on its way. Loads that are issued together are one wait,
 * since the latency used here is longer than any code between them. */
static double count_memory_waits(const tz_sass *sass, const int *way, int count, int rounds)
{
    const double latency = 65536.0;
    double now = 0.0, waited = 0.0, ready[BARRIERS] = {0};
    for (int round = 0; round < rounds; round++) {
        waited = 0.0;
        for (int k = 0; k < count; k++) {
            const tz_sass_instruction *i = &sass->code[way[k]];
            for (int b = 0; b < BARRIERS; b++)
                if (i->waits >> b & 1 && ready[b] > now) {
                    waited += ready[b] - now;
                    now = ready[b];
                }
            if (i->class == TZ_WORK_READ && !i->local && i->sets < BARRIERS)
                ready[i->sets] = now + latency;
            now += i->stall > 0 ? i->stall : 1.0;
        }
    }
    return waited / latency;
}

/* The share of the pairs of stores (two adjacent packets of a lane) that the memory unit does not
 * combine, because the second store comes too many instructions after the first. */
static double count_apart(const tz_sass *sass, const int *way, int count)
{
    double apart = 0.0;
    int stores = 0, last = 0;
    for (int k = 0; k < count; k++) {
        const tz_sass_instruction *i = &sass->code[way[k]];
        if (i->class != TZ_WORK_WRITE || i->local)
            continue;
        if (stores++ % 2 == 1) {
            const double far = pow((k - last) / TZ_FIT_PAIR_INSTRUCTIONS, TZ_FIT_PAIR_POWER);
            apart += far / (1.0 + far);
        }
        last = k;
    }
    return stores > 1 ? apart / (stores / 2) : 0.0;
}

static double copy_passes(const tz_sass_instruction *i)
{
    return i->words < 4 ? i->words + TZ_CUDA_COPY_PASSES_NARROW : TZ_CUDA_COPY_PASSES;
}

enum { LINE = 8 }; /* instructions of a line of code in a cache */

/* Instructions that are fetched and passed over before way[k], such as the slow way of a division:
 * others of its line and of the line before. */
static int passed_over(const int *way, int k)
{
    if (k == 0 || way[k] == way[k - 1] + 1)
        return 0;
    if (way[k] / LINE == way[k - 1] / LINE && way[k] > way[k - 1])
        return way[k] - way[k - 1] - 1;
    return way[k] % LINE + LINE - 1 - way[k - 1] % LINE;
}

static void count_way(const graph *g, const int *way, int count, tz_cuda_loop *loop)
{
    for (int k = 0; k < count; k++) {
        const tz_sass_instruction *i = &g->sass->code[way[k]];
        loop->way.of[i->class] += 1.0;
        loop->local += i->local ? i->words : 0;
        loop->local_stores += i->local && i->class == TZ_WORK_WRITE ? i->words : 0;
        if (i->class == TZ_WORK_SHARED_READ || i->class == TZ_WORK_SHARED_WRITE)
            loop->passes += i->words;
        if (i->local) {
            loop->passes += i->words;
            continue;
        }
        if (i->class == TZ_WORK_WRITE) {
            loop->stores += 1.0;
            loop->stores_words += i->words;
        }
        if (i->class == TZ_WORK_COPY) {
            loop->copies_words += i->words;
            loop->copies_passes += copy_passes(i);
        }
        if (i->class == TZ_WORK_READ)
            loop->reads_words += i->words;
    }
    int copied = -1, between = 0, over = 0;
    for (int k = 0; k < count; k++) {
        const tz_sass_instruction *i = &g->sass->code[way[k]];
        over += passed_over(way, k);
        if (i->class == TZ_WORK_COPY)
            copied = k;
        if (i->kind == TZ_TRACE_COPIED && copied >= 0) {
            between += k - copied;
            copied = -1;
        }
    }
    loop->late = between > 0 ? 1.0 - (double)between / count : 0.0;
    loop->apart = count_apart(g->sass, way, count);
    loop->text_bytes = (double)(count + over) * TZ_SASS_BYTES;
    loop->memory_waits = count_memory_waits(g->sass, way, count, ROUNDS);
    go_round(g->sass, way, count, ROUNDS, loop);
}

enum { RUN_LEAST = 24 }; /* instructions; a shorter way cannot be a step of a family */

/* The schedule of a way on a multiprocessor, for increasing numbers of warps. */
static bool run_way(const graph *g, const int *way, int count, tz_cuda_loop *loop)
{
    if (!g->machine || count < RUN_LEAST)
        return true;
    tz_trace_instruction *trace = malloc((size_t)count * sizeof *trace);
    for (int k = 0; trace && k < count; k++) {
        const tz_sass_instruction *i = &g->sass->code[way[k]];
        const bool packet = i->words == 4 && !i->local && i->class != TZ_WORK_READ;
        const double words = i->class == TZ_WORK_COPY ? copy_passes(i)
                             : packet                 ? i->words * g->machine->conflict
                                                      : i->words;
        trace[k] = (tz_trace_instruction){.class = i->class,
                                          .kind = i->kind,
                                          .stall = i->stall,
                                          .sets = i->sets,
                                          .frees = i->frees,
                                          .waits = i->waits,
                                          .over = (uint8_t)passed_over(way, k),
                                          .words = (uint8_t)fmin(words, 255.0)};
    }
    const bool done = trace && tz_schedule_rounds(&g->machine->scheduler, trace, count,
                                                  (int)g->machine->block_warps, g->sass->registers,
                                                  &loop->rounds, NULL) == TZ_OK;
    free(trace);
    return done;
}

/* The instructions of the way through a loop or one of its bodies, including inner loops that only
 * compute. */
static bool collect(graph *g, int region, const bool *only, int *way, int *count)
{
    ways w = {0};
    bool done = find_ways(g, region, only, &w);
    for (int node = g->header[region]; done && node >= 0; node = w.goes[node]) {
        const int child = child_of(g, region, node);
        for (int k = g->blocks[node].first; k < g->blocks[node].end && child < 0; k++)
            way[(*count)++] = k;
        if (child >= 0 && only_computes(g, child))
            done = collect(g, child, NULL, way, count);
    }
    free_ways(&w);
    return done;
}

/* The body around a loop; -1: none. */
static int body_around(const graph *g, int loop)
{
    int around = -1;
    for (int k = 0; k < g->bodies_count && g->parent[loop] >= 0 && around < 0; k++)
        if (g->bodies[k].loop == g->parent[loop] &&
            (!g->bodies[k].blocks || g->bodies[k].blocks[g->header[loop]]))
            around = k;
    return around;
}

/* Counts the shortest way of a body, or else the way of a warp with work to do. */
static bool count_body(graph *g, int k, bool shortest, tz_cuda_loop *loop)
{
    const body *of = &g->bodies[k];
    int *way = malloc(((size_t)g->sass->count + 1) * sizeof *way);
    int count = 0;
    g->shortest = shortest;
    bool done = way && collect(g, of->loop, of->blocks, way, &count);
    g->shortest = false;
    loop->parent = body_around(g, of->loop);
    for (int b = 0; b < g->count; b++)
        if (g->blocks[b].loop == of->loop && (!of->blocks || of->blocks[b]))
            add_block(g, b, &loop->all);
    if (done)
        count_way(g, way, count, loop);
    done = done && run_way(g, way, count, loop);
    free(way);
    return done;
}

/* Loops that store also have steps with nothing to store yet. Those take the shortest way. */
static bool count_shortest(graph *g, tz_cuda_mix *out)
{
    bool done = true;
    for (int k = 0; done && k < out->loops_count; k++) {
        tz_cuda_loop *loop = &out->loops[k];
        const int at = out->loops_count + out->shortest_count;
        loop->shortest = k;
        if (loop->stores == 0.0 || at == TZ_CUDA_LOOPS_MAX)
            continue;
        done = count_body(g, k, true, &out->loops[at]);
        if (tz_work_mix_sum(&out->loops[at].way) < tz_work_mix_sum(&loop->way)) {
            loop->shortest = at;
            out->shortest_count++;
        } else {
            memset(&out->loops[at], 0, sizeof out->loops[at]);
        }
    }
    return done;
}

/* The kernel's own instructions after `node`, without those of loops. */
static void follow(const graph *g, const int *next, int node, int *way, int *count)
{
    for (int n = next[node]; n >= 0; n = next[n])
        for (int k = g->blocks[n].first; k < g->blocks[n].end && child_of(g, -1, n) < 0; k++)
            way[(*count)++] = k;
}

/* The kernel's own instructions on the way through each outermost loop. */
static bool count_straight(graph *g, tz_cuda_mix *out)
{
    ways w = {0};
    int *way = malloc(((size_t)g->sass->count + 1) * 2 * sizeof *way);
    const bool done = way && find_ways(g, -1, NULL, &w);
    for (int l = 0; done && l < g->bodies_count; l++) {
        tz_cuda_loop scratch = {0};
        int outer = g->bodies[l].loop, count = 0;
        while (g->parent[outer] >= 0)
            outer = g->parent[outer];
        /* Blocks before the loop come in reverse order, which changes no count. */
        follow(g, w.came, g->header[outer], way, &count);
        follow(g, w.goes, g->header[outer], way, &count);
        for (int k = 0; k < count; k++)
            out->loops[l].once.of[g->sass->code[way[k]].class] += 1.0;
        go_round(g->sass, way, count, 1, &scratch);
        out->loops[l].once_clocks = scratch.clocks;
        for (int c = 0; c < TZ_WORK_CLASSES; c++)
            out->loops[l].once_clocks += 24.0 * scratch.waits.of[c];
    }
    free_ways(&w);
    free(way);
    return done;
}

tz_status tz_cuda_mix_of(tz_cuda_mix *out, const tz_sass *sass, const tz_cuda_machine *machine,
                         tz_error *error)
{
    graph g = {.sass = sass, .machine = machine};
    memset(out, 0, sizeof *out);
    if (machine)
        out->machine = *machine;
    out->registers = sass->registers;
    out->local_bytes = sass->local_bytes;
    out->shared_bytes = sass->shared_bytes;
    tz_status status = TZ_OK;
    bool room = false;
    if (!tz__mix_graph_make(&g, &room))
        status =
            tz_error_set(error, TZ_UNSUPPORTED, NULL,
                         "the kernel has more than %d loops, too many to count", TZ_CUDA_LOOPS_MAX);
    out->loops_count = g.bodies_count;
    for (int k = 0; room && !status && k < g.bodies_count; k++)
        room = count_body(&g, k, false, &out->loops[k]);
    if (room && !status)
        room = count_shortest(&g, out) && count_straight(&g, out);
    if (!room && !status)
        status = tz_error_set(error, TZ_MEMORY, NULL,
                              "not enough memory to count a kernel's instructions");
    tz__mix_graph_free(&g);
    return status;
}

tz_status tz_cuda_mix_count(tz_cuda_mix *out, const void *cubin, size_t bytes, const char *entry,
                            const tz_cuda_machine *machine, tz_error *error)
{
    tz_sass sass;
    memset(out, 0, sizeof *out);
    tz_status status = tz_sass_read(&sass, cubin, bytes, entry, error);
    if (!status)
        status = tz_cuda_mix_of(out, &sass, machine, error);
    tz_sass_free(&sass);
    return status;
}

/* ---- The cache ------------------------------------------------------------------------------- */

/* Change the version when tz_cuda_mix or any of its counts changes. */
static const tz_cache_kind mixes = {
    .magic = {'T', 'Z', 'C', 'U', 'M', 'I', 'X', 'd'}, .ending = "mix", .kept = true};

/* An entry ends after the last loop. */
static const size_t least_bytes = offsetof(tz_cuda_mix, loops);

/* Does an entry have this format, and was it made for the same machine? */
static bool is_usable(const void *data, size_t bytes, const tz_cuda_machine *machine)
{
    static const tz_cuda_machine none;
    const tz_cuda_mix *mix = data;
    if (!data || bytes < least_bytes || bytes > sizeof *mix)
        return false;
    const int64_t loops = (int64_t)mix->loops_count + mix->shortest_count;
    return mix->loops_count >= 0 && mix->shortest_count >= 0 &&
           (int64_t)(bytes - least_bytes) == loops * (int64_t)sizeof *mix->loops &&
           memcmp(&mix->machine, machine ? machine : &none, sizeof none) == 0;
}

tz_status tz_cuda_mix_get(tz_cuda_mix *out, bool *found, const tz_cuda_machine *machine,
                          const char *architecture, const char *source, const char *entry,
                          const tz_cuda_header *headers, size_t headers_count, bool compile,
                          const tz_cancel *cancel, tz_error *error)
{
    tz_cache_key key;
    size_t bytes = 0;
    *found = false;
    tz_status status =
        tz_cuda_compile_key(&key, architecture, source, headers, headers_count, error);
    if (status)
        return status;
    void *data = tz_cache_read(key, &mixes, &bytes);
    if (is_usable(data, bytes, machine)) {
        memset(out, 0, sizeof *out);
        memcpy(out, data, bytes);
        *found = true;
        free(data);
        return TZ_OK;
    }
    free(data);
    data = tz_cuda_compile_cached(key, &bytes);
    if (!data && compile)
        status = tz_cuda_compile(cancel, false, architecture, source, headers, headers_count, NULL,
                                 &data, &bytes, error);
    if (data)
        status = tz_cuda_mix_count(out, data, bytes, entry, machine, error);
    *found = data && !status;
    if (*found) {
        const size_t loops = (size_t)(out->loops_count + out->shortest_count);
        tz_cache_write(key, &mixes, out, least_bytes + loops * sizeof *out->loops);
    }
    free(data);
    return status;
}
