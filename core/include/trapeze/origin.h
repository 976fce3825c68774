/* trapeze/origin.h: for derive() of stencils whose update only sees differences between cells, so
 * that any origin of a field (tz_setup.origins) is right. */
#ifndef TRAPEZE_ORIGIN_H
#define TRAPEZE_ORIGIN_H

#include <math.h>
#include <stdio.h>
#include <trapeze/plugin.h>

/* A field's boundary value on the first fixed side, else 0: a good origin where nothing else is
 * known. */
static inline double tz_origin_outside(const tz_setup *setup, int field)
{
    for (int axis = 0; axis < setup->dims; axis++)
        for (int side = 0; side < 2; side++)
            if (setup->boundary[axis][side] == TZ_FIXED)
                return setup->boundary_values[field * TZ_SIDES + 2 * axis + side];
    return 0.0;
}

/* The origin of a field is a parameter (TZ_PARAM_REAL, default NAN), or `otherwise` if it is not
 * given. Returns 0; or TZ_REFUSED with setup->message if a scenario changes it later. */
static inline int tz_origin_choose(tz_setup *setup, int field, int param, double otherwise)
{
    tz_value *value = &setup->params[param];
    double *origin = &setup->origins[field];
    if (isnan(*origin))
        *origin = value->given ? value->number : otherwise;
    if (value->given && value->number != *origin) {
        snprintf(setup->message, setup->message_size,
                 "the origin is %.9g since the simulation was created and cannot become %.9g: set "
                 "it where the simulation is created",
                 *origin, value->number);
        return TZ_REFUSED;
    }
    value->number = *origin;
    return 0;
}

#endif
