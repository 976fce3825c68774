#include "sim/own.h"

#include "backend/slabs/slabs.h"
#include "sim/checkpoint.h"
#include "sim/derived.h"
#include "sim/fields.h"
#include "sim/state.h"

bool tz_simulation_own(const tz_simulation *simulation, int field, int64_t *low, int64_t *high)
{
    if (!tz_simulation_saves_own(simulation) || tz__is_derived(simulation, field))
        return false;
    tz_slabs_own_range(simulation->state, low, high);
    return true;
}

tz_status tz_simulation_read_own(const tz_simulation *simulation, int field, const tz_box *box,
                                 void *cells, tz_error *error)
{
    tz_backend table = *simulation->backend;
    tz_simulation own = *simulation;
    table.load = tz_slabs_load_own;
    own.backend = &table;
    own.ranks = NULL;
    return tz_simulation_read_cells(&own, field, box, cells, error);
}
