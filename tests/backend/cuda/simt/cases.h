/* Which cases the suite runs: every stencil with every family that takes it. */
#ifndef TZ_SIMT_CASES_H
#define TZ_SIMT_CASES_H

#include "compare.h"

#include "stencil/registry.h"

typedef enum simt_depth {
    /* Each stencil and family with two plans, a grid each; a slab, if the text has coordinates. */
    SIMT_FEW,
    SIMT_FULL /* and each boundary, mixture and precision, on two grids; two slabs each */
} simt_depth;

enum { SIMT_GRIDS = 3 }; /* of a group, at most */

/* One plan on several grids, so that they share its text where the plan does not depend on them. */
typedef struct simt_group {
    simt_case k; /* but for the grid */
    int grids;
    int64_t extent[SIMT_GRIDS][TZ_AXES];
} simt_group;

typedef struct simt_groups {
    int count, room;
    simt_group *at;
    bool failed;     /* memory was short */
    char none[2000]; /* lines: families that take no case of a stencil, and why */
} simt_groups;

/* Of the stencils for which wanted(its id, context) is true, and of a family (NULL: of all). Free
 * groups->at. */
void simt_groups_make(simt_groups *groups, const tz_registry *registry, simt_depth depth,
                      bool (*wanted)(const char *stencil, const void *context), const void *context,
                      const char *family);

#endif
