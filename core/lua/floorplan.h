/* tz.floorplan: the power of a chip's units, from HotSpot's .flp and .ptrace files. */
#ifndef TZ_CORE_LUA_FLOORPLAN_H
#define TZ_CORE_LUA_FLOORPLAN_H

#include "output/format/floorplan.h"
#include <lua.h>

#define TZ_TYPE_FLOORPLAN "trapeze.floorplan"

/* A userdata. */
typedef struct tz_floorplan_value {
    tz_floorplan plan;
    tz_ptrace trace;
    int64_t row;              /* of the trace, from 0; -1: the mean of all rows */
    double width_m, height_m; /* of the chip; 0: the stencil's, else the plan's */
} tz_floorplan_value;

#endif
