/* Makes blocks, loops and bodies from decoded machine code, for mix.c. */
#include "backend/cuda/sass/mix_graph.h"

#include <stdlib.h>
#include <string.h>

bool tz__mix_in_loop(const graph *g, int loop, int b)
{
    return loop < 0 || g->inside[(size_t)loop * (size_t)g->count + (size_t)b];
}

static bool moves(const tz_sass_instruction *i)
{
    switch (i->class) {
    case TZ_WORK_READ:
    case TZ_WORK_WRITE:
    case TZ_WORK_COPY:
    case TZ_WORK_BARRIER:
    case TZ_WORK_SHARED_READ:
    case TZ_WORK_SHARED_WRITE:
        return !i->local;
    default:
        return false;
    }
}

static bool make_blocks(graph *g)
{
    const int n = g->sass->count;
    const tz_sass_instruction *code = g->sass->code;
    int *at = calloc((size_t)n + 1, sizeof *at); /* block that begins here, plus one */
    if (!at)
        return false;
    at[0] = 1;
    for (int k = 0; k < n; k++) {
        if (code[k].flow == TZ_SASS_NEXT)
            continue;
        at[k + 1] = 1;
        if (code[k].target >= 0)
            at[code[k].target] = 1;
    }
    for (int k = 0; k < n; k++)
        if (at[k])
            at[k] = ++g->count;
    g->blocks = calloc((size_t)g->count + 1, sizeof *g->blocks);
    g->sorted = calloc((size_t)g->count + 1, sizeof *g->sorted);
    g->inside = calloc(((size_t)g->count + 1) * TZ_CUDA_LOOPS_MAX, sizeof *g->inside);
    if (!g->blocks || !g->sorted || !g->inside) {
        free(at);
        return false;
    }
    for (int k = 0, b = -1; k < n; k++) {
        if (at[k]) {
            b = at[k] - 1;
            g->blocks[b] = (block){.first = k, .next = {-1, -1}, .order = -1, .loop = -1};
        }
        block *now = &g->blocks[b];
        now->end = k + 1;
        now->useful_shared += moves(&code[k]);
        now->stores += code[k].class == TZ_WORK_WRITE && !code[k].local;
        now->loads +=
            (code[k].class == TZ_WORK_READ || code[k].class == TZ_WORK_COPY) && !code[k].local;
        if (k + 1 < n && !at[k + 1])
            continue;
        if (code[k].flow == TZ_SASS_BRANCH && code[k].target >= 0)
            now->next[0] = at[code[k].target] - 1;
        now->ends = code[k].flow == TZ_SASS_END;
        if ((code[k].flow == TZ_SASS_NEXT || code[k].conditional) && k + 1 < n)
            now->next[1] = b + 1;
    }
    free(at);
    return true;
}

/* Reverse postorder from the entry, without recursion: `sorted` is the stack's growing end. */
static bool sort_blocks(graph *g)
{
    int *stack = calloc((size_t)g->count + 1, sizeof *stack);
    char *state = calloc((size_t)g->count + 1, 1);
    int depth = 0, left = g->count;
    if (stack && state) {
        stack[depth++] = 0;
        while (depth > 0) {
            const int b = stack[depth - 1];
            if (state[b] < 2) {
                const int next = g->blocks[b].next[(int)state[b]++];
                if (next >= 0 && state[next] == 0 && next != b) {
                    bool open = false;
                    for (int k = 0; k < depth && !open; k++)
                        open = stack[k] == next;
                    if (!open)
                        stack[depth++] = next;
                }
                continue;
            }
            depth--;
            if (g->blocks[b].order < 0) {
                g->blocks[b].order = 0;
                g->sorted[--left] = b;
            }
        }
        g->reached = g->count - left;
        memmove(g->sorted, g->sorted + left, (size_t)g->reached * sizeof *g->sorted);
        for (int k = 0; k < g->reached; k++)
            g->blocks[g->sorted[k]].order = k;
    }
    free(state);
    const bool done = stack && g->reached > 0;
    free(stack);
    return done;
}

static int common(const graph *g, int a, int b)
{
    while (a != b) {
        while (g->blocks[a].order > g->blocks[b].order)
            a = g->blocks[a].dominator;
        while (g->blocks[b].order > g->blocks[a].order)
            b = g->blocks[b].dominator;
    }
    return a;
}

/* Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm", 2001. */
static void find_dominators(graph *g)
{
    for (int k = 0; k < g->count; k++)
        g->blocks[k].dominator = -1;
    g->blocks[0].dominator = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (int k = 0; k < g->reached; k++) {
            const int b = g->sorted[k];
            for (int s = 0; s < 2; s++) {
                const int next = g->blocks[b].next[s];
                if (next <= 0 || g->blocks[b].dominator < 0)
                    continue;
                block *to = &g->blocks[next];
                const int now = to->dominator < 0 ? b : common(g, to->dominator, b);
                changed = changed || now != to->dominator;
                to->dominator = now;
            }
        }
    }
}

static bool dominates(const graph *g, int a, int b)
{
    while (g->blocks[b].order > g->blocks[a].order)
        b = g->blocks[b].dominator;
    return a == b;
}

/* Adds all blocks that reach the back edge at `from` without passing the loop's header. */
static void grow_loop(graph *g, int loop, int from)
{
    bool *inside = g->inside + (size_t)loop * (size_t)g->count;
    inside[g->header[loop]] = true;
    inside[from] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (int k = g->reached - 1; k >= 0; k--) {
            const int b = g->sorted[k];
            if (inside[b])
                continue;
            for (int s = 0; s < 2; s++) {
                const int next = g->blocks[b].next[s];
                if (next >= 0 && inside[next] && next != g->header[loop])
                    inside[b] = true;
            }
            changed = changed || inside[b];
        }
    }
}

static int loop_size(const graph *g, int loop)
{
    int size = 0;
    for (int b = 0; b < g->count; b++)
        size += tz__mix_in_loop(g, loop, b);
    return size;
}

/* The smallest loop around a block, but for `but`; -1: none. */
static int smallest_around(const graph *g, const int *sizes, int b, int but)
{
    int best = -1;
    for (int l = 0; l < g->loops_count; l++)
        if (l != but && tz__mix_in_loop(g, l, b) && (best < 0 || sizes[l] < sizes[best]))
            best = l;
    return best;
}

/* False: too many loops. Headers are visited in order, so outer loops come before inner ones. */
static bool find_loops(graph *g)
{
    for (int k = 0; k < g->reached; k++) {
        const int header = g->sorted[k];
        int loop = -1;
        for (int j = k; j < g->reached; j++) {
            const int b = g->sorted[j];
            if ((g->blocks[b].next[0] != header && g->blocks[b].next[1] != header) ||
                !dominates(g, header, b))
                continue;
            if (loop < 0) {
                if (g->loops_count == TZ_CUDA_LOOPS_MAX)
                    return false;
                loop = g->loops_count++;
                g->header[loop] = header;
            }
            grow_loop(g, loop, b);
        }
    }
    int sizes[TZ_CUDA_LOOPS_MAX];
    for (int l = 0; l < g->loops_count; l++)
        sizes[l] = loop_size(g, l);
    for (int l = 0; l < g->loops_count; l++)
        g->parent[l] = smallest_around(g, sizes, g->header[l], l);
    for (int b = 0; b < g->count; b++)
        g->blocks[b].loop = smallest_around(g, sizes, b, -1);
    return true;
}

/* ---- Bodies ------------------------------------------------------------------------------------
 *
 * From each block of a loop, some loads and stores of global memory are still reachable in the same
 * iteration. Two bodies begin at a branch that comes before all of them and whose two successors
 * have no reachable load or store in common. */

typedef struct ahead {
    const graph *g;
    int loop;
    size_t words;   /* of a block's set */
    uint64_t *sets; /* by block: the accesses of it and of later blocks, as bits */
    bool *marks;    /* by block */
} ahead;

static uint64_t *set_of(const ahead *a, int b)
{
    return a->sets + (size_t)b * a->words;
}

/* A block's successor in the same iteration; -1: none. */
static int next_in(const ahead *a, int b, int s)
{
    const int next = a->g->blocks[b].next[s];
    return next >= 0 && next != a->g->header[a->loop] && tz__mix_in_loop(a->g, a->loop, next) ? next
                                                                                              : -1;
}

static bool make_ahead(ahead *a)
{
    const graph *g = a->g;
    int accesses = 0;
    for (int b = 0; b < g->count; b++)
        accesses +=
            tz__mix_in_loop(g, a->loop, b) && g->blocks[b].loads + g->blocks[b].stores > 0.0;
    a->words = (size_t)accesses / 64 + 1;
    const size_t count = g->count > 0 ? (size_t)g->count : 1;
    a->sets = calloc(count * a->words, sizeof *a->sets);
    a->marks = calloc(count, sizeof *a->marks);
    if (!a->sets || !a->marks)
        return false;
    accesses = 0;
    for (int b = 0; b < g->count; b++)
        if (tz__mix_in_loop(g, a->loop, b) && g->blocks[b].loads + g->blocks[b].stores > 0.0) {
            set_of(a, b)[accesses / 64] |= UINT64_C(1) << accesses % 64;
            accesses++;
        }
    for (bool changed = true; changed;) {
        changed = false;
        for (int k = g->reached - 1; k >= 0; k--) {
            const int b = g->sorted[k];
            if (!tz__mix_in_loop(g, a->loop, b))
                continue;
            for (int s = 0; s < 2; s++)
                for (size_t w = 0; next_in(a, b, s) >= 0 && w < a->words; w++) {
                    const uint64_t more = set_of(a, next_in(a, b, s))[w] & ~set_of(a, b)[w];
                    set_of(a, b)[w] |= more;
                    changed = changed || more != 0;
                }
        }
    }
    return true;
}

/* Marks the blocks that may run after `from` in the same iteration. */
static void mark_after(ahead *a, int from)
{
    const graph *g = a->g;
    memset(a->marks, 0, (size_t)g->count * sizeof *a->marks);
    a->marks[from] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (int k = 0; k < g->reached; k++)
            for (int s = 0; s < 2 && a->marks[g->sorted[k]]; s++) {
                const int next = next_in(a, g->sorted[k], s);
                changed = changed || (next >= 0 && !a->marks[next]);
                if (next >= 0)
                    a->marks[next] = true;
            }
    }
}

/* Does the code from here on both load and store? */
static bool does_all(ahead *a, int from)
{
    double loads = 0.0, stores = 0.0;
    mark_after(a, from);
    for (int b = 0; b < a->g->count; b++) {
        loads += a->marks[b] ? a->g->blocks[b].loads : 0.0;
        stores += a->marks[b] ? a->g->blocks[b].stores : 0.0;
    }
    return loads > 0.0 && stores > 0.0;
}

/* The first branch between bodies from `head` on; -1: none. */
static int find_choice(ahead *a, int head)
{
    const graph *g = a->g;
    for (int k = g->blocks[head].order; k < g->reached; k++) {
        const int b = g->sorted[k], one = next_in(a, b, 0), two = next_in(a, b, 1);
        if (one < 0 || two < 0 ||
            memcmp(set_of(a, b), set_of(a, head), a->words * sizeof *a->sets) != 0)
            continue;
        mark_after(a, head);
        if (!a->marks[b])
            continue;
        bool apart = true;
        for (size_t w = 0; w < a->words; w++)
            apart = apart && (set_of(a, one)[w] & set_of(a, two)[w]) == 0;
        if (apart && does_all(a, one) && does_all(a, two))
            return b;
    }
    return -1;
}

/* Adds the blocks reachable from `head`, and those that lead there, as one body or as several. */
static bool add_bodies(graph *g, ahead *a, int head)
{
    const int choice = find_choice(a, head);
    const int room = TZ_CUDA_LOOPS_MAX - g->bodies_count - (g->loops_count - 1 - a->loop);
    if (choice >= 0 && room >= 2)
        return add_bodies(g, a, next_in(a, choice, 0)) && add_bodies(g, a, next_in(a, choice, 1));
    body *made = &g->bodies[g->bodies_count++];
    *made = (body){.loop = a->loop};
    if (head == g->header[a->loop])
        return true;
    made->blocks = calloc((size_t)g->count, sizeof *made->blocks);
    if (!made->blocks)
        return false;
    mark_after(a, head);
    memcpy(made->blocks, a->marks, (size_t)g->count * sizeof *made->blocks);
    bool *leads = a->marks; /* the blocks before `head` */
    memset(leads, 0, (size_t)g->count * sizeof *leads);
    leads[head] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (int k = g->reached - 1; k >= 0; k--)
            for (int s = 0; s < 2; s++) {
                const int b = g->sorted[k],
                          next = tz__mix_in_loop(g, a->loop, b) ? next_in(a, b, s) : -1;
                if (next >= 0 && leads[next] && !leads[b])
                    leads[b] = changed = true;
            }
    }
    for (int b = 0; b < g->count; b++)
        made->blocks[b] = made->blocks[b] || leads[b];
    return true;
}

static bool find_bodies(graph *g)
{
    bool done = true;
    for (int l = 0; done && l < g->loops_count; l++) {
        ahead a = {.g = g, .loop = l};
        done = make_ahead(&a) && add_bodies(g, &a, g->header[l]);
        free(a.sets);
        free(a.marks);
    }
    return done;
}

bool tz__mix_graph_make(graph *g, bool *room)
{
    *room = make_blocks(g) && sort_blocks(g);
    if (!*room)
        return true;
    find_dominators(g);
    if (!find_loops(g))
        return false;
    *room = find_bodies(g);
    return true;
}

void tz__mix_graph_free(graph *g)
{
    for (int k = 0; k < g->bodies_count; k++)
        free(g->bodies[k].blocks);
    free(g->blocks);
    free(g->sorted);
    free(g->inside);
}
