/* Life-like automata in two dimensions, 32 cells in a word. */
#include <trapeze/liferule.h>

#define TZ_CELL_TEXT "life.cell.h"
#define TZ_CELL_ID life
#define TZ_CELL_DIMS 2
#define TZ_CELL_REAL 0
#define TZ_CELL_SWITCH conway
#include <trapeze/rows.h>

enum { NEIGHBOURS = 8, CONWAY_BIRTH = 1 << 3, CONWAY_SURVIVE = 1 << 2 | 1 << 3 };

static const tz_param params[] = {
    TZ_TEXT_PARAM("rule", "B3/S23",
                  "counts of living neighbours with which a dead cell is born (B) and a living one "
                  "survives (S)",
                  .role = TZ_PARAM_ROLE_RULE),
};

static int derive(tz_setup *setup)
{
    uint32_t birth = 0, survive = 0;
    if (tz_life_rule_parse(setup->params[0].text, NEIGHBOURS, &birth, &survive, setup->message,
                           setup->message_size) != 0)
        return TZ_REFUSED;
    setup->constants[TZ_CONSTANT(life, birth)] = birth;
    setup->constants[TZ_CONSTANT(life, survive)] = survive;
    setup->constants[TZ_CONSTANT(life, conway)] =
        birth == CONWAY_BIRTH && survive == CONWAY_SURVIVE;
    return 0;
}

static const tz_field fields[] = {
    TZ_STATE_FIELD("alive", TZ_BITS, "", "1 where a cell lives"),
};

static const tz_pass passes[] = {
    {.name = "generation", .writes = TZ_WRITES(life, alive), TZ_PASS(life)},
};

static const tz_stencil stencil = {
    TZ_STENCIL_HEADER,
    .id = "life",
    .doc = "Conway's Game of Life, or any B/S rule on the 8 neighbours, 32 cells a word.",
    .dims = 2,
    TZ_STENCIL_TABLES(life, fields, params, passes),
    .boundaries = TZ_ALLOW(TZ_FIXED) | TZ_ALLOW(TZ_PERIODIC),
    .boundary = TZ_FIXED,
    .picture = {"alive", "gray", 0.0, 1.0},
    .derive = derive,
};

TZ_PLUGIN_DEFINE("life", "1.0.0", "two-dimensional life-like automata", &stencil)
