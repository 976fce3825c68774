/* One problem run twice: by device text on the machine of simt.h, by the reference backend. After
 * each stage all state fields must agree in every bit. */
#ifndef TZ_SIMT_COMPARE_H
#define TZ_SIMT_COMPARE_H

#include "build.h"
#include "simt.h"
#include "stage.h"

#include "backend/cuda/family/family.h"

typedef struct simt_case {
    const tz_stencil *stencil;
    int precision;                    /* -1 for stencils without real fields */
    tz_boundary boundary[TZ_AXES][2]; /* low and high side */
    int64_t extent[TZ_AXES];
    tz_plan plan;  /* with the family's name; zeros: the family's choice */
    int64_t steps; /* 0: two or three launches, `rest` iterations not a stage */
    int rest;
    uint64_t seed; /* of values, constants and boundary values */
    simt_room room;
    bool own_constants; /* the plugin's constants, not some of which none is small */
    size_t params_count;
    const tz_assignment *params;
    int split; /* so many percent of the copies of 16 bytes may split sectors; 0: all */
    /* So many lanes of a warp may copy the same cells to shared memory at once; 0: all. */
    int alike;
    int points; /* so many of each field that passes write: added to and recorded; 0: none */
    /* `extent` is of a slab, of its ghost zones too: 1 at the low end, 2 inside; 0: no slab. */
    int slab;
    /* Fields are stored as half: 1; with an origin and a scale: 2. */
    int half;
} simt_case;

typedef enum simt_verdict {
    SIMT_SAME,
    SIMT_REFUSED,   /* the problem or the plan is not possible */
    SIMT_DIFFERENT, /* or with findings */
    SIMT_FAILED     /* text that does not compile, no memory */
} simt_verdict;

typedef struct simt_outcome {
    simt_verdict verdict;
    tz_plan plan; /* completed */
    int stages;
    int64_t steps;
    int64_t differences; /* cells of the first stage that differs */
    simt_report report;
    char message[4000]; /* lines: what is wrong, the first cells that differ */
} simt_outcome;

/* `show`: how many differing cells the message lists. */
void simt_compare(const simt_case *k, simt_build *build, simt *machine, int show,
                  simt_outcome *outcome);

/* The grid of a case, unstable or not; of a slab, the larger grid that it is of. */
tz_status simt_resolve(const simt_case *k, tz_problem *whole, tz_error *error);
tz_problem simt_slab_of(const simt_case *k, const tz_problem *whole);

/* Appends to a string in `size` bytes; what does not fit is lost. */
__attribute__((format(printf, 3, 4))) void simt_append(char *text, size_t size, const char *format,
                                                       ...);

/* "clamp", or "clamp:fixed" for different sides. */
void simt_append_boundary(char *text, size_t size, const tz_boundary sides[2]);

/* The options of test_simt for this case: "--stencil hotspot --family tile --grid 300,40 ...". */
const char *simt_case_text(const simt_case *k, const tz_plan *plan, char *text, size_t size);

#endif
