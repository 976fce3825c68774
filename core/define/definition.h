/* A stencil as a scenario defines it (tz.stencil): plain data, from which the cell text and the C
 * source of a plugin are made. docs/formulas.md has the language of formulas. */
#ifndef TZ_CORE_DEFINE_DEFINITION_H
#define TZ_CORE_DEFINE_DEFINITION_H

#include "base/error.h"
#include "stencil/boundary.h"
#include "stencil/element.h"
#include <stdint.h>
#include <trapeze/plugin.h>

/* A formula: not always terminated, and it may hold any bytes. `text` NULL: there is none. */
typedef struct tz_defined_text {
    const char *text;
    size_t length;
} tz_defined_text;

enum { TZ_PARTS_MAX = 64 };

typedef struct tz_defined_field {
    const char *name;
    /* State, static or derived. A state field is in at least one update, a derived one in
     * `outputs`. */
    tz_role role;
    tz_type type;
    bool stage;    /* what a stage of a method makes of another field: no formula names it */
    bool required; /* of a state or static field: a simulation must set it */
    double initial, boundary_value;
    const char *unit, *doc; /* NULL: "" and the name */
} tz_defined_field;

typedef struct tz_defined_param {
    const char *name;
    bool integer; /* int, and not real */
    double value, min, max;
    tz_param_role role;     /* of a real one; each role once */
    const char *unit, *doc; /* NULL: "" and the name */
} tz_defined_param;

/* A formula of what has this name: a field, a constant, a part of formulas. */
typedef struct tz_defined_formula {
    const char *name;
    tz_defined_text formula;
} tz_defined_formula;

/* What a field has past a side, of two for each axis, low ones first; or with TZ_EDGE, past the
 * edge of the domain. */
typedef struct tz_defined_outside {
    const char *field; /* of the stencil; no temporary past a side */
    int side;
    tz_defined_text formula;
} tz_defined_outside;

enum { TZ_EDGE = TZ_SIDES };

/* Parameters that formulas with `t` have beside the time step: it is what it is since iteration
 * t_since, which began at the time t_start. Whoever changes the time step sets both
 * (sim/simulated_time.h). Their docs tell them from a script's parameters. */
extern const char tz_since_name[], tz_since_doc[], tz_start_name[], tz_start_doc[];

/* The field of a stage but the last: "u_stage1". */
enum { TZ_STAGES_MAX = 4, TZ_STAGE_NAME_SIZE = 64 };
const char *tz_stage_name(char text[TZ_STAGE_NAME_SIZE], const char *field, int stage);
/* The field of a stencil of which another one holds a stage; the field itself if it is none. */
int tz_stage_owner(const tz_stencil *stencil, int field);

/* A sweep over the grid. All its formulas read the values from before the pass. */
typedef struct tz_defined_pass {
    const char *name; /* NULL: "update", or "update_2" in the second pass ... */
    int updates_count;
    /* Fields' new values. Without text in a pass of a raw text. */
    const tz_defined_formula *updates;
    int radius; /* only with a raw text: the largest distance at which it reads state fields */
    /* Of rates: stage 1 to `stages` of a method with 1, 2 or 4 of them; else 0. The formulas are
     * rates of change with the values of the stage before. The last stage writes the fields
     * themselves, the others those of tz_stage_name(). */
    int stage, stages;
} tz_defined_pass;

/* A weighted sum: field' = a*old + b*field + v*scale*sum(c*field), and old' = field. The array of
 * coefficients c is dense, x fastest, and its sides are odd. */
typedef struct tz_defined_coefficients {
    const char *field;    /* NULL: the first state field that is not `old` */
    int dims;             /* as the stencil's */
    int side[TZ_AXES];    /* 1, 3, ... 2*TZ_RADIUS_MAX + 1; 1 on unused axes */
    const double *values; /* finite */
    /* NULL, or for each coefficient a formula: the name of a static field or parameter, for
     * example. NULL entries: the number in `values`. */
    const char *const *fields;
    double scale;            /* finite; 1 if there is none */
    const char *old;         /* NULL, or a state field: the values of an iteration before */
    tz_defined_text a, b, v; /* formulas; without text: 0, 0 and 1. `a` needs `old` */
    /* Iterations of this sum that one iteration of the stencil advances, by a wider sum
     * (define/augment.h); 0 and 1: one. */
    int augment;
} tz_defined_coefficients;

typedef struct tz_definition {
    const char *id;  /* a C identifier */
    const char *doc; /* NULL: made from the id */
    int dims;
    int fields_count;
    /* Temporaries come after the fields, as state fields without initial and boundary values. They
     * are none of the stencil's: define/temporaries.h. */
    int temporaries_count;
    const tz_defined_field *fields;
    int params_count;
    const tz_defined_param *params;
    int scalars_count;
    /* Constants that change with the iteration, in [0, infinity): formulas of `step`, parameters
     * and numbers, computed in double. */
    const tz_defined_formula *scalars;
    int parts_count;                 /* up to TZ_PARTS_MAX */
    const tz_defined_formula *parts; /* of formulas: the name stands for it wherever it is used */
    int outsides_count;              /* at most one for each side of a field, and its edge */
    const tz_defined_outside *outsides;
    /* NULL, or a static field of ints: only cells where it is not 0 are computed. What formulas
     * read from others is what fields have past the edge: their value in the cell that reads, if
     * there is no formula. */
    const char *domain;
    int passes_count; /* 0 with coefficients */
    const tz_defined_pass *passes;
    int outputs_count; /* one for each derived field */
    const tz_defined_formula *outputs;
    const tz_defined_coefficients *coefficients; /* or NULL */
    bool group; /* terms with equal coefficients are summed first */
    bool fused; /* products that are added become fused operations */
    /* Differences are divided by the parameters with roles of spacing, one for each axis. */
    bool spaced;
    /* NULL, or the cell updates of all passes and outputs, written by hand: a TZ_CELL with the name
     * of each, and what it needs. TZ_FIELDS and TZ_CONSTANTS (each parameter, then each scalar) are
     * put before it. */
    const char *raw;
    /* TZ_ALLOW() of each that may be chosen; 0: all that are possible, which for fields of bits are
     * periodic and fixed. */
    uint32_t boundaries;
    tz_boundary boundary; /* the default */
} tz_definition;

/* A definition with all that it points to, in one piece of memory that can be sent to another
 * process of this program: its bytes, malloc'd; NULL: not enough memory. */
void *tz_definition_pack(const tz_definition *definition, size_t *bytes);
/* The definition in such bytes. It points into them, and is made once of them. */
const tz_definition *tz_definition_unpack(void *bytes);

#endif
