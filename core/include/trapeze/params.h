/* trapeze/params.h: the parameters of a stencil. Included by <trapeze/plugin.h>. */
#ifndef TRAPEZE_PARAMS_H
#define TRAPEZE_PARAMS_H

typedef enum tz_param_type {
    TZ_PARAM_REAL,
    TZ_PARAM_INTEGER,
    TZ_PARAM_FLAG,  /* true or false */
    TZ_PARAM_TEXT,  /* any text; derive() checks it */
    TZ_PARAM_CHOICE /* one of `choices` */
} tz_param_type;

/* The meaning of a parameter to the engine. Parameters of a stencil have different roles, or
 * TZ_PARAM_ROLE_NONE. */
typedef enum tz_param_role {
    TZ_PARAM_ROLE_NONE,
    TZ_PARAM_ROLE_RULE,       /* text: the rule of a cellular automaton, as in RLE files */
    TZ_PARAM_ROLE_EXTENT_X_M, /* real: the length of the grid along x, which scales floorplans */
    TZ_PARAM_ROLE_EXTENT_Y_M, /* real: the same along y */
    TZ_PARAM_ROLE_ALLOW_UNSTABLE, /* flag: if true, derive() never returns TZ_DIVERGES */
    /* real: the simulated time of an iteration, in the parameter's unit. Always positive */
    TZ_PARAM_ROLE_TIME_STEP,
    TZ_PARAM_ROLE_EXTENT_Z_M, /* real: the length of the grid along z */
    /* real: the width of a cell on every axis without another role, in the parameter's unit, for
     * files that have a geometry */
    TZ_PARAM_ROLE_SPACING,
    TZ_PARAM_ROLE_SPACING_X, /* real: the same along x */
    TZ_PARAM_ROLE_SPACING_Y,
    TZ_PARAM_ROLE_SPACING_Z
} tz_param_role;

/* A parameter that scenarios may set. */
typedef struct tz_param {
    const char *name; /* REQUIRED, as a Lua name */
    tz_param_type type;
    double value;        /* default of a number or flag; NAN: derive() computes it */
    const char *text;    /* default; REQUIRED for a text or choice */
    double min, max;     /* the range of a number, both ends included */
    const char *unit;    /* REQUIRED; "" if there is none */
    const char *doc;     /* REQUIRED: one sentence */
    const char *choices; /* REQUIRED for a choice: "a|b|c" */
    tz_param_role role;  /* OPTIONAL */
} tz_param;

#endif
