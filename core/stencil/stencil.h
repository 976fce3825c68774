/* Facts about a stencil, from its description, and names for what a description holds. */
#ifndef TZ_CORE_STENCIL_STENCIL_H
#define TZ_CORE_STENCIL_STENCIL_H

#include "base/machine.h"
#include "stencil/boundary.h"
#include "stencil/element.h"
#include <stdbool.h>
#include <trapeze/plugin.h>

/* Names for messages and tables, such as "state" or "rule". The name of TZ_PARAM_ROLE_NONE
 * is "". */
const char *tz_role_name(tz_role role);
const char *tz_param_type_name(tz_param_type type);
const char *tz_param_role_name(tz_param_role role);

/* Cells to each side, from 0 up: x first. 0 on axes that the stencil does not have. */
typedef struct tz_reach {
    int low[TZ_AXES], high[TZ_AXES];
} tz_reach;

/* What a pass or an output reads of a field, from its list or, without an entry there, from the
 * radius of the pass or of the field: low <= 0 <= high. `cell` is NULL. */
tz_reads tz_stencil_reads(const tz_stencil *stencil, const tz_pass *pass, int field);
/* Can it read the field at all? An output whose text lists some of what it reads reads nothing
 * else. */
bool tz_stencil_may_read(const tz_stencil *stencil, const tz_pass *pass, int field);

/* How far a pass reads state fields. */
tz_reach tz_pass_reach(const tz_stencil *stencil, const tz_pass *pass);

/* The farthest that a pass reads a state field along an axis, to either side. */
int tz_stencil_reach_along(const tz_stencil *stencil, int axis);

/* Cells by which the ghost zone grows on each side per iteration: the sum over the passes. */
tz_reach tz_stencil_reach_sides(const tz_stencil *stencil);

/* The sum of the passes' radii: no side reaches farther. */
int tz_stencil_reach(const tz_stencil *stencil);

/* The row function of an instruction set, or NULL. */
tz_row_fn *tz_kernels_rows(const tz_kernels *kernels, tz_isa isa, tz_precision precision);

/* The slabs that a row function of pass->in_place computes at once. */
int tz_pass_slabs(const tz_pass *pass, int dims);

/* The largest radius of a pass, in cells. */
int tz_stencil_radius(const tz_stencil *stencil);

/* 1 if a field or constant is real: the stencil then has two precisions. */
int tz_stencil_has_real(const tz_stencil *stencil);

/* The precisions that it has: TZ_PRECISIONS, or 1 without reals. */
int tz_stencil_precisions(const tz_stencil *stencil);

/* Whether a cell update reads cells that are off centre along two axes (a box, not a star). Calls
 * the cell functions with all cells and constants 1 (reals: about 0), so it may miss cells that an
 * update reads under a condition: a hint, to choose between kernels with the same results. */
bool tz_stencil_reads_diagonals(const tz_stencil *stencil);
/* The same of one pass. */
bool tz_pass_reads_diagonals(const tz_pass *pass);

/* In a loaded stencil, fields_count leaves out the derived fields, which come after the others:
 * what computes iterations never sees them. This is the number of all fields, for what reads them.
 * */
int tz_stencil_fields_all(const tz_stencil *stencil);

/* The output that computes a derived field. */
const tz_pass *tz_stencil_output(const tz_stencil *stencil, int field);

/* The fields of the mask that are kept, with those from which the derived ones are computed. */
uint32_t tz_stencil_sources(const tz_stencil *stencil, uint32_t fields);

/* The field whose value in the cell `field` takes over in a pass (tz_pass.takes), if an engine can
 * use that: no pass reads `field` but in the cell itself, a pass writes the other one, and no two
 * fields end an iteration with the same values. -1: the pass computes or leaves `field`. */
int tz_stencil_takes(const tz_stencil *stencil, const tz_pass *pass, int field);

/* Index of the field or parameter of that name, or of the parameter with that role; -1: none. */
int tz_stencil_field_index(const tz_stencil *stencil, const char *name);
int tz_stencil_param_index(const tz_stencil *stencil, const char *name);
/* The same of a parameter that must be there. TZ_UNKNOWN, with the nearest name. */
tz_status tz_stencil_find_param(const tz_stencil *stencil, const char *name, int *out,
                                tz_error *error);
/* TZ_UNKNOWN, with the nearest name of a field. */
tz_status tz_stencil_unknown_field(const tz_stencil *stencil, const char *name, const char *place,
                                   tz_error *error);
int tz_stencil_param_of_role(const tz_stencil *stencil, tz_param_role role);
/* Index of the field whose cells the residual leaves out; -1: none. */
int tz_stencil_excluding(const tz_stencil *stencil);

/* Index of the field that is the domain; -1: all of the grid is. */
int tz_stencil_domain(const tz_stencil *stencil);

#endif
