/* Rules on the 8 neighbours in the plane with two or more states: Generations, and rules that ask
 * where the neighbours are. */
#include <trapeze/liferule.h>

#define TZ_CELL_TEXT "generations.cell.h"
#define TZ_CELL_ID generations
#define TZ_CELL_DIMS 2
#define TZ_CELL_REAL 0
#define TZ_CELL_SWITCH counts
#include <trapeze/rows.h>

static const tz_param params[] = {
    TZ_TEXT_PARAM("rule", "/2/3",
                  "Generations (survival/birth/states), or a rule of two states: B3/S23, Hensel's "
                  "letters as in B2-a/S12, H and V at the end, MAP",
                  .role = TZ_PARAM_ROLE_RULE),
};

static int derive(tz_setup *setup)
{
    tz_life_rule rule;
    if (tz_life_rule_read(setup->params[0].text, &rule, setup->message, setup->message_size) != 0)
        return TZ_REFUSED;
    double *constants = setup->constants;
    constants[TZ_CONSTANT(generations, states)] = rule.states;
    constants[TZ_CONSTANT(generations, counts)] = rule.counts;
    constants[TZ_CONSTANT(generations, birth)] = rule.birth;
    constants[TZ_CONSTANT(generations, survive)] = rule.survive;
    for (int k = 0; k < 16; k++)
        constants[TZ_CONSTANT(generations, map0) + k] = (int32_t)rule.map[k];
    return 0;
}

static const tz_field fields[] = {
    TZ_STATE_FIELD("state", TZ_INT, "",
                   "0: dead; 1: alive; 2 and above: dying, which is no neighbour"),
};

static const tz_pass passes[] = {
    {.name = "generation", .writes = TZ_WRITES(generations, state), TZ_PASS(generations)},
};

static const tz_stencil stencil = {
    TZ_STENCIL_HEADER,
    .id = "generations",
    .doc = "Generations, as Brian's Brain and Star Wars, and rules of where the neighbours are.",
    .dims = 2,
    TZ_STENCIL_TABLES(generations, fields, params, passes),
    .boundaries = TZ_ALLOW(TZ_FIXED) | TZ_ALLOW(TZ_PERIODIC),
    .boundary = TZ_FIXED,
    .picture = {"state", "inferno", 0.0, 2.0},
    .derive = derive,
};

TZ_PLUGIN_DEFINE("generations", "1.0.0", "cellular automata of several states", &stencil)
