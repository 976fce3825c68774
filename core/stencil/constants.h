/* The constants of a problem: from derive(), and for each iteration those that vary. For
 * stencil/problem.c. */
#ifndef TZ_CORE_STENCIL_CONSTANTS_H
#define TZ_CORE_STENCIL_CONSTANTS_H

#include "stencil/problem.h"

/* Takes the scalars of a scenario. TZ_UNKNOWN: no constant of that name varies, with the nearest;
 * TZ_RANGE: a list is empty or has values that cannot be used, or a constant that varies is given
 * neither by the scenario nor by the plugin. */
tz_status tz__problem_take_scalars(tz_problem *problem, const tz_simulation_config *config,
                                   tz_error *error);

/* Calls derive() for the parameters as they are: sets the constants, the origins and the members
 * that derive() returns. */
tz_status tz__problem_derive(tz_problem *problem, tz_error *error);

#endif
