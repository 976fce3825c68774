/* Nine fields, each read at one neighbour, and a static one. */
#include "common.h"

#define TZ_CELL_TEXT "lattice.cell.h"
#define TZ_CELL_ID lattice
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

static const tz_param lattice_params[] = {
    TZ_REAL_PARAM("rate", 1.2, 0.0, 2.0, "", "share of a population that relaxes"),
    TZ_REAL_PARAM("speed", 1.0, 0.0, 1.0, "", "of sound, of the lattice"),
};

static int lattice_derive(tz_setup *setup)
{
    setup->constants[TZ_CONSTANT(lattice, rate)] = setup->params[0].number;
    setup->constants[TZ_CONSTANT(lattice, speed)] = setup->params[1].number;
    return 0;
}

#define POPULATION(name, weight)                                                                   \
    TZ_STATE_FIELD(name, TZ_REAL, "", "population", .initial = weight, .boundary_value = weight)
static const tz_field lattice_fields[] = {
    POPULATION("f0", 4.0 / 9.0),  POPULATION("f1", 1.0 / 9.0),
    POPULATION("f2", 1.0 / 9.0),  POPULATION("f3", 1.0 / 9.0),
    POPULATION("f4", 1.0 / 9.0),  POPULATION("f5", 1.0 / 36.0),
    POPULATION("f6", 1.0 / 36.0), POPULATION("f7", 1.0 / 36.0),
    POPULATION("f8", 1.0 / 36.0), TZ_STATIC_FIELD("solid", TZ_INT, "", "1: an obstacle"),
};

static const tz_pass lattice_passes[] = {
    {.name = "lattice", .writes = 0x1ff, TZ_PASS(lattice)},
};

TEST_STENCIL(lattice, lattice, 2, "f0")
TEST_PLUGIN(lattice, &lattice_stencil)
