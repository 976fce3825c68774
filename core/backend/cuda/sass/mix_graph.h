/* Blocks, loops and bodies of a kernel's code, for mix.c.
 *
 * The bodies of a loop are alternatives that do the same work, for instance for strips inside the
 * grid, at its sides and at its ends. The code chooses a body before it loads or stores anything,
 * and two bodies have no load or store in common. */
#ifndef TZ_CORE_BACKEND_CUDA_SASS_MIX_GRAPH_H
#define TZ_CORE_BACKEND_CUDA_SASS_MIX_GRAPH_H

#include "backend/cuda/sass/sass.h"

typedef struct block {
    int first, end; /* instructions */
    int next[2];    /* blocks; -1: none */
    int order;      /* in reverse postorder; -1: unreachable */
    int dominator;
    int loop;             /* innermost; -1: none */
    bool ends;            /* the kernel may end here */
    double useful;        /* instructions that count for a way through a region */
    double useful_shared; /* the same for a region that is `near` */
    double loads, stores; /* of global memory */
} block;

typedef struct body {
    int loop;
    bool *blocks; /* the blocks of its paths; NULL: all of the loop */
} body;

typedef struct graph {
    const tz_sass *sass;
    const tz_cuda_machine *machine; /* NULL: none */
    int count;
    block *blocks;
    int *sorted; /* reached blocks in reverse postorder */
    int reached;
    int loops_count;
    int header[TZ_CUDA_LOOPS_MAX], parent[TZ_CUDA_LOOPS_MAX];
    bool *inside;     /* loop by block */
    int bodies_count; /* in the order of their loops; each loop has at least one */
    body bodies[TZ_CUDA_LOOPS_MAX];
    /* The region that a way is searched in: */
    bool near;        /* it stores nothing to global memory, but loads or uses shared memory */
    const bool *only; /* its blocks; NULL: all */
    bool shortest;    /* search for the shortest way, which may omit loads and stores */
} graph;

/* Fills the graph from g->sass. Returns false if there are more than TZ_CUDA_LOOPS_MAX loops; sets
 * *room to false if memory does not suffice. */
bool tz__mix_graph_make(graph *g, bool *room);
void tz__mix_graph_free(graph *g);

/* Is a block in a loop (-1: in the kernel)? */
bool tz__mix_in_loop(const graph *g, int loop, int b);

#endif
