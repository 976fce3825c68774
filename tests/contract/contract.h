/* The contract test: what holds for every stencil of every plugin.
 *
 * Nothing here knows a stencil by name: the cases are made from its description. A new plugin is
 * tested as soon as its file lies in a folder that the program is given. */
#ifndef TZ_TESTS_CONTRACT_H
#define TZ_TESTS_CONTRACT_H

#include "sim/simulation.h"
#include "stencil/registry.h"

typedef struct contract {
    const tz_registry *registry;
    const tz_plugin *plugin;
    const tz_stencil *stencil;
    bool quick;          /* fewer heights, sizes, tiles */
    bool smoke;          /* one size and boundary: for runs under a slow checker */
    const char *backend; /* compared with the reference; "cpu" unless --backend names another */
    const char *family;  /* of that backend, or NULL: the backend chooses */
    bool hashes;         /* print those of fields, to compare two machines */

    /* Of one section: */
    int64_t compared; /* cases checked */
    int64_t refused;  /* cases that the plugin, the backend or the family refuses */
    tz_error refusal; /* the reason of the first */
    int failures;
    char note[512]; /* why no case applies to this stencil, or what was skipped; or "" */
} contract;

/* Count a failure; the first few of a section are printed, with the stencil's name. */
void contract_fail(contract *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Count a case that is not possible. */
void contract_refuse(contract *c, const tz_error *why);

/* Does the family of this run take points? */
bool contract_serves_points(const contract *c);

/* ---- cases.c: simulations to check ----------------------------------------------------------- */

/* As a precision of a case: single, with fields stored as half; every other case with an origin and
 * a scale. */
enum { CONTRACT_HALF = TZ_PRECISIONS };

/* A problem: everything but the backend and the plan. */
typedef struct contract_case {
    int precision;                    /* -1 for stencils without real fields; CONTRACT_HALF */
    tz_boundary boundary[TZ_AXES][2]; /* low and high side */
    int64_t extent[TZ_AXES];          /* 1 on axes that the stencil does not have */
    uint64_t seed;                    /* of every field's values */
    bool constant_statics;            /* each static field has one value: it may take no memory */
    bool other_outside;               /* another boundary value on each side */
    const tz_assignment *assignment;  /* one parameter to set, or NULL */
    /* that hold slabs, of the named backend (backend/slabs/slabs.h); or NULL */
    const char *devices;
    bool mixed;  /* precision mixed: corrections of a solution */
    bool points; /* receivers of all fields, sources of those of real numbers */
} contract_case;

/* Write "boundary clamp,mirror precision double grid 7x5" into `text`; returns `text`. */
const char *contract_case_text(const contract *c, const contract_case *k, char *text, size_t size);

/* A simulation of the case with every field filled. `isa`: a name of TZ_ISA_TABLE, or NULL
 * for the best. The caller destroys it. */
tz_status contract_create(const contract *c, const contract_case *k, const char *backend,
                          int threads, const char *isa, tz_simulation **out, tz_error *error);

/* A list for each constant that varies and that the plugin leaves to scenarios: zeros and ones,
 * which suit most, at irregular distances. Returns how many. */
size_t contract_scalars(const tz_stencil *stencil, tz_series scalars[TZ_CONSTANTS_MAX]);

tz_status contract_run(tz_simulation *sim, int64_t steps, tz_error *error);

/* What a run leaves in the state fields. */
typedef struct contract_cells {
    tz_array *at[TZ_FIELDS_MAX];
    tz_reduction reduction[TZ_FIELDS_MAX];
    double *received; /* of all receivers, row by row */
    size_t received_count;
} contract_cells;

tz_status contract_read(const contract *c, tz_simulation *sim, contract_cells *cells,
                        tz_error *error);
void contract_cells_clear(contract_cells *cells);
/* Fails where cells or their reductions differ. */
void contract_compare(contract *c, const contract_case *k, const char *what,
                      const contract_cells *got, const contract_cells *want);
/* For --hashes: a line for each state field. `what`: of the case. */
void contract_print_hashes(const contract *c, const char *what, const tz_reduction *reductions);
bool contract_is_state(const contract *c, int field);
bool contract_same_number(double a, double b);
bool contract_same_reduction(const tz_reduction *a, const tz_reduction *b);

/* The values that a case gives to a field. */
tz_random contract_values(const tz_field *field, uint64_t seed);

/* The stencil's precisions, or -1 alone if it computes with integers. Returns how many. */
int contract_precisions(const contract *c, int precisions[TZ_PRECISIONS]);
/* The same and, if it has single precision, CONTRACT_HALF. */
int contract_storages(const contract *c, int precisions[TZ_PRECISIONS + 1]);

/* Every allowed boundary on all axes, then mixtures: of axes, and of sides. Returns how many. */
enum { CONTRACT_BOUNDARIES_MAX = 12 };
int contract_boundaries(const contract *c, tz_boundary boundaries[][TZ_AXES][2]);
/* The same boundary on all sides. */
void contract_surround(contract_case *k, tz_boundary boundary);

/* Grid extents to try, small and odd. Returns how many. */
int contract_sizes(const contract *c, const int64_t (**sizes)[TZ_AXES]);

/* Instruction sets that this machine can run. Returns how many. */
int contract_isas(const char *isas[TZ_ISA_COUNT]);

bool contract_has_bits(const tz_stencil *stencil);

/* ---- sections -------------------------------------------------------------------------------- */
void contract_descriptor(contract *c); /* names, docs, ranges, kernels, text */
void contract_fields(contract *c);     /* written values read back; invalid ones are refused */
void contract_radius(contract *c);     /* a plugin reads as far as it declares */
void contract_identity(contract *c);   /* the backend equals the reference, bit for bit */
void contract_extremes(contract *c);   /* so it does with subnormal numbers, infinities and NaNs */
void contract_devices(contract *c);    /* a grid in slabs gives the same bits as one device */
void contract_device(contract *c);     /* GPUs' compilers take the text; it gives the same bits */
void contract_outputs(contract *c);    /* derived fields are what their outputs compute */
void contract_diverge(contract *c);    /* overflow is found and reported */

/* Overflow of a case that begins at `low` along the last axis is reported by the devices as by one:
 * the same step, field and cell. */
void contract_diverge_in_slabs(contract *c, const contract_case *k, const char *backend,
                               const char *devices, const tz_plan *plan, int64_t low);

#endif
