#include "sim/geometry.h"

#include "sim/simulation_impl.h"
#include "stencil/stencil.h"
#include <math.h>

/* The value of the parameter with a role; 0: there is none. */
static double value_of(const tz_simulation *simulation, tz_param_role role)
{
    const int param = tz_stencil_param_of_role(tz_simulation_stencil(simulation), role);
    return param < 0 ? 0 : tz_simulation_params(simulation)[param].number;
}

bool tz_simulation_spacing(const tz_simulation *simulation, double spacing[TZ_AXES])
{
    static const tz_param_role extents[] = {TZ_PARAM_ROLE_EXTENT_X_M, TZ_PARAM_ROLE_EXTENT_Y_M,
                                            TZ_PARAM_ROLE_EXTENT_Z_M};
    static const tz_param_role widths[] = {TZ_PARAM_ROLE_SPACING_X, TZ_PARAM_ROLE_SPACING_Y,
                                           TZ_PARAM_ROLE_SPACING_Z};
    const int64_t *cells = tz_simulation_extent(simulation);
    bool known = true;
    for (int axis = 0; axis < TZ_AXES; axis++) {
        double *width = &spacing[axis];
        *width = value_of(simulation, extents[axis]) / (double)cells[axis];
        if (*width == 0)
            *width = value_of(simulation, widths[axis]);
        if (*width == 0)
            *width = value_of(simulation, TZ_PARAM_ROLE_SPACING);
        if (axis < tz_simulation_stencil(simulation)->dims)
            known = known && *width > 0 && isfinite(*width);
    }
    for (int axis = 0; axis < TZ_AXES; axis++)
        if (!known || axis >= tz_simulation_stencil(simulation)->dims)
            spacing[axis] = 1;
    return known;
}

void tz_simulation_set_y_up(tz_simulation *simulation)
{
    simulation->y_up = true;
}

bool tz_simulation_y_up(const tz_simulation *simulation)
{
    return simulation->y_up;
}

const char *tz_simulation_spacing_unit(const tz_simulation *simulation)
{
    static const tz_param_role roles[] = {TZ_PARAM_ROLE_EXTENT_X_M, TZ_PARAM_ROLE_SPACING_X,
                                          TZ_PARAM_ROLE_SPACING};
    const tz_stencil *stencil = tz_simulation_stencil(simulation);
    double spacing[TZ_AXES];
    if (!tz_simulation_spacing(simulation, spacing))
        return NULL;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (value_of(simulation, roles[i]) != 0) {
            const char *unit = stencil->params[tz_stencil_param_of_role(stencil, roles[i])].unit;
            return unit ? unit : "";
        }
    return "";
}
