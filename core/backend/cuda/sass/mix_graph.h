/* Blocks, loops and bodies of a kernel's code, for cuda/mix.c.
 *
 * A body is one of the alternatives of a loop that does the same in several ways, such as for
 * strips in the grid, at its sides and at its ends: which one is chosen before anything is loaded
 * or stored, and from then on nothing that one loads or stores is another's. */
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
    double useful;        /* instructions that a way is chosen for where that stores */
    double useful_shared; /* the same where it does not */
    double loads, stores; /* of global memory */
} block;

typedef struct body {
    int loop;
    bool *blocks; /* that are on a way through it; NULL: all of the loop */
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
    int bodies_count; /* in the order of their loops, of which each has one at least */
    body bodies[TZ_CUDA_LOOPS_MAX];
    /* Of the region that ways are looked for in: */
    bool stores;      /* it stores to global memory */
    const bool *only; /* its blocks; NULL: all */
    bool shortest;    /* the shortest way is wanted, whatever it leaves out */
} graph;

/* All of it from g->sass; *room false: not enough memory. False: more loops than there may be. */
bool tz__mix_graph_make(graph *g, bool *room);
void tz__mix_graph_free(graph *g);

/* Is a block in a loop (-1: in the kernel)? */
bool tz__mix_in_loop(const graph *g, int loop, int b);

#endif
