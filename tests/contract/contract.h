/* The contract test: what every stencil must keep, whichever plugin brings it.
 *
 * Nothing here knows a stencil by name: cases are made from descriptors, so a new plugin is held to
 * all of it as soon as its file lies in a folder that the suite is given. */
#ifndef TZ_TESTS_CONTRACT_H
#define TZ_TESTS_CONTRACT_H

#include "sim/simulation.h"

typedef struct contract {
    const tz_registry *registry;
    const tz_plugin *plugin;
    const tz_stencil *stencil;
    bool quick;          /* fewer heights, sizes, tiles */
    bool smoke;          /* one size and boundary: for runs under a slow checker */
    const char *backend; /* held against the reference: "cpu" unless --backend says otherwise */
    const char *family;  /* of that backend, or NULL: as it chooses */
    int64_t compared;    /* cases checked in this section */
    int64_t refused;     /* cases that the engine declined to set up */
    int failures;        /* in this section */
    char note[256];      /* a remark for the section's line, or ""; without one a section that
                          * checked no case fails */
} contract;

/* Count a failure and print it, with the stencil's name; only the first few of a section. */
void contract_fail(contract *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- cases.c: simulations to check ----------------------------------------------------------- */

/* A problem: everything but who computes it. */
typedef struct contract_case {
    int precision; /* -1 for stencils without real fields */
    tz_boundary boundary[TZ_AXES];
    int64_t extent[TZ_AXES];         /* 1 on axes the stencil has not */
    uint64_t seed;                   /* of every field's values */
    bool constant_statics;           /* static fields are one value: they may then take no memory */
    bool other_outside;              /* boundary values that are not the defaults */
    const tz_assignment *assignment; /* one parameter to set, or NULL */
} contract_case;

/* "boundary clamp,mirror precision double grid 7x5" into `text`; returns it. */
const char *contract_case_text(const contract *c, const contract_case *k, char *text, size_t size);

/* A simulation of the case with every field filled. `isa` is "base", "v3", "v4" or NULL: the best.
 */
tz_status contract_create(const contract *c, const contract_case *k, const char *backend,
                          int threads, const char *isa, tz_simulation **out, tz_error *error);

tz_status contract_run(tz_simulation *sim, int64_t steps, tz_error *error);

/* The values that the case gives to a field: low and high as tz_simulation_fill_random means them.
 */
tz_random contract_values(const tz_field *field, uint64_t seed);

/* Precisions of the stencil: fills `precisions` and returns how many (1: {-1} or one, else 2). */
int contract_precisions(const contract *c, int precisions[TZ_PRECISIONS]);

/* Every allowed boundary on all axes, then mixtures: fills `boundaries`, returns how many. */
enum { CONTRACT_BOUNDARIES_MAX = 8 };
int contract_boundaries(const contract *c, tz_boundary boundaries[][TZ_AXES]);

/* Grid extents to try, small and odd: returns how many, and the list. */
int contract_sizes(const contract *c, const int64_t (**sizes)[TZ_AXES]);

/* Instruction sets that this machine can run, beside the best one that NULL stands for. */
int contract_isas(const char *isas[3]);

bool contract_has_bits(const tz_stencil *stencil);

/* ---- sections -------------------------------------------------------------------------------- */
void contract_descriptor(contract *c); /* names, docs, ranges, kernels, text */
void contract_fields(contract *c);     /* reads back what was written, refuses what it must */
void contract_radius(contract *c);     /* what is read is what is declared */
void contract_identity(contract *c);   /* cpu equals reference, bit for bit */
void contract_diverge(contract *c);    /* overflow is found and named */

#endif
