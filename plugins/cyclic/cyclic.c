/* Cyclic cellular automata: states follow each other in a circle, in spirals. */
#include <trapeze/plugin.h>

#define TZ_CELL_TEXT "cyclic.cell.h"
#define TZ_CELL_ID cyclic
#define TZ_CELL_DIMS 2
#define TZ_CELL_REAL 0
#define TZ_CELL_SWITCH any
#include <trapeze/rows.h>

static const tz_param params[] = {
    TZ_INTEGER_PARAM("states", 14, 2, 1000000, "", "number of states, from 0"),
    TZ_INTEGER_PARAM("threshold", 1, 1, 8, "",
                     "neighbours in the next state with which a cell takes it"),
};

static int derive(tz_setup *setup)
{
    setup->constants[TZ_CONSTANT(cyclic, states)] = setup->params[0].number;
    setup->constants[TZ_CONSTANT(cyclic, threshold)] = setup->params[1].number;
    setup->constants[TZ_CONSTANT(cyclic, any)] = setup->params[1].number == 1.0;
    return 0;
}

static const tz_field fields[] = {
    TZ_STATE_FIELD("state", TZ_INT, "", "from 0 to the number of states - 1"),
};

static const tz_pass passes[] = {
    {.name = "step", .writes = TZ_WRITES(cyclic, state), TZ_PASS(cyclic)},
};

static const tz_stencil stencil = {
    TZ_STENCIL_HEADER,
    .id = "cyclic",
    .doc = "Cyclic cellular automaton: a cell follows neighbours that are one state ahead.",
    .dims = 2,
    TZ_STENCIL_TABLES(cyclic, fields, params, passes),
    .boundaries = TZ_ALLOW_ALL,
    .boundary = TZ_PERIODIC,
    .picture = {"state", "viridis", 0.0, 13.0},
    .derive = derive,
};

TZ_PLUGIN_DEFINE("cyclic", "1.0.0", "cyclic cellular automata", &stencil)
