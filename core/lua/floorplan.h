/* tz.floorplan: the units of a chip and their power, from HotSpot's .flp and .ptrace files. */
#ifndef TZ_CORE_LUA_FLOORPLAN_H
#define TZ_CORE_LUA_FLOORPLAN_H

#include "lua/handle.h"
#include "output/format/chip_files.h"
#include "output/format/floorplan.h"

#define TZ_TYPE_FLOORPLAN "trapeze.floorplan"
#define TZ_TYPE_UNIT "trapeze.unit"

/* The chip of a plan, and the cells that it fills. */
typedef struct tz_floorplan_place {
    double width_m, height_m; /* 0: the stencil's, else the plan's */
    tz_box box;               /* high 0: the whole axis */
    bool touched;             /* units are all cells that they touch, as in HotSpot */
    tz_map_mode map;          /* what their value in .steady and .ttrace files is */
} tz_floorplan_place;

/* A userdata. */
typedef struct tz_floorplan_value {
    tz_floorplan plan;     /* without units once closed */
    tz_ptrace trace;       /* without samples if no file was given */
    int64_t row;           /* of the trace, from 0; -1: the mean of all rows */
    size_t first, columns; /* of the trace, in which the units are; all of them but in stacks */
    tz_floorplan_place place;
    char prefix[TZ_WORD_NAME_SIZE]; /* of the units' names in .steady files */
} tz_floorplan_value;

/* A userdata: a unit of a floorplan, which may be closed. */
typedef struct tz_unit_value {
    tz_floorplan_unit unit;
    tz_floorplan plan; /* its bounding box, and `path`; no units */
    tz_floorplan_place place;
    char path[256];
} tz_unit_value;

/* The open floorplan at a stack index. Raises on another type and on a closed one. */
tz_floorplan_value *tz_floorplan_check(lua_State *L, int index, const char *what);
/* Read a floorplan and, unless NULL, a trace; push the value, which takes the mean of all rows.
 * Without a size in `place` the plan is moved to the origin. Paths are resolved. Raises. */
tz_floorplan_value *tz_floorplan_push(lua_State *L, const char *what, const char *flp,
                                      const char *ptrace, double overlap,
                                      const tz_floorplan_place *place);
/* Its powers in watt, a number for each unit. Raises. */
void tz_floorplan_powers(lua_State *L, const char *what, const tz_floorplan_value *value,
                         double *powers_w);
/* Unit number i, from 0. */
void tz_floorplan_unit_get(const tz_floorplan_value *value, size_t i, tz_unit_value *out);

/* Complete a place for the grid of a simulation in 2-D or 3-D. A chip that fills x and y has the
 * stencil's size, if it has one; both sizes stay 0 if the script gave none either. Raises when the
 * plan belongs to a chip of another size, or the box is not in the grid. */
void tz_floorplan_chip(lua_State *L, const tz_simulation_handle *handle, const tz_floorplan *plan,
                       const char *what, tz_floorplan_place *place);
/* Check that the open floorplan at a stack index is of the chip that a simulation computes.
 * Raises. */
void tz_floorplan_check_chip(lua_State *L, int index, const tz_simulation_handle *handle,
                             const char *what);

/* The cells of a unit in a simulation's grid. Raises. */
void tz_floorplan_box(lua_State *L, const tz_simulation_handle *handle, const tz_unit_value *unit,
                      const char *what, tz_box *box);

#endif
