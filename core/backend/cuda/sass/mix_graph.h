/* Blocks, loops and bodies of a kernel's code, for mix.c.
 *
 * A body is one of the alternatives of a loop that does the same in several ways, such as for
 * strips inside the grid, at its sides and at its ends. The code chooses one before it loads or
 * stores anything, and alternatives have no load or store in common. */
#ifndef TZ_CORE_BACKEND_CUDA_SASS_MIX_GRAPH_H
#define TZ_CORE_BACKEND_CUDA_SASS_MIX_GRAPH_H

#include "backend/cuda/sass/mix.h"

typedef struct block {
    int first, end; /* instructions */
    int next[2];    /* blocks; -1: none */
    int order;      /* in reverse postorder; -1: never reached */
    int dominator;
    int loop;             /* innermost; -1: none */
    bool ends;            /* the kernel may end here */
    double useful;        /* instructions that count for a way through a region that stores */
    double useful_shared; /* the same for one that does not */
    double loads, stores; /* of global memory */
} block;

typedef struct body {
    int loop;
    bool *blocks; /* those on a path through it; NULL: all of the loop */
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
    bool stores;      /* it stores to global memory */
    const bool *only; /* its blocks; NULL: all */
    bool shortest;    /* search for the shortest way, whatever it leaves out */
} graph;

/* Fills the graph from g->sass. *room false: not enough memory. False: more than TZ_CUDA_LOOPS_MAX
 * loops. */
bool tz__mix_graph_make(graph *g, bool *room);
void tz__mix_graph_free(graph *g);

/* Is a block in a loop (-1: in the kernel)? */
bool tz__mix_in_loop(const graph *g, int loop, int b);

#endif
