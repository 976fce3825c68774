/* Life-like automata in three dimensions (C. Bays, Complex Systems 1, 1987), 32 cells in a word. */
#include <trapeze/liferule.h>

#define TZ_CELL_TEXT "cell.cell.h"
#define TZ_CELL_ID cell
#define TZ_CELL_DIMS 3
#define TZ_CELL_REAL 0
#define TZ_CELL_SWITCH bays
#include <trapeze/rows.h>

enum { NEIGHBOURS = 26, BAYS_BIRTH = 1 << 5, BAYS_SURVIVE = 1 << 4 | 1 << 5 };

static const tz_param params[] = {
    TZ_TEXT_PARAM("rule", "4555",
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
    setup->constants[TZ_CONSTANT(cell, birth)] = birth;
    setup->constants[TZ_CONSTANT(cell, survive)] = survive;
    setup->constants[TZ_CONSTANT(cell, bays)] = birth == BAYS_BIRTH && survive == BAYS_SURVIVE;
    return 0;
}

static const tz_field fields[] = {
    TZ_STATE_FIELD("alive", TZ_BITS, "", "1 where a cell lives"),
};

static const tz_pass passes[] = {
    {.name = "generation", .writes = TZ_WRITES(cell, alive), TZ_PASS(cell)},
};

static const tz_stencil stencil = {
    TZ_STENCIL_HEADER,
    .id = "cell",
    .doc = "Three-dimensional Life (4555), or any B/S rule on the 26 neighbours, 32 cells a word.",
    .dims = 3,
    TZ_STENCIL_TABLES(cell, fields, params, passes),
    .boundaries = TZ_ALLOW(TZ_FIXED) | TZ_ALLOW(TZ_PERIODIC),
    .boundary = TZ_FIXED,
    .picture = {"alive", "gray", 0.0, 1.0},
    .derive = derive,
};

TZ_PLUGIN_DEFINE("cell", "1.0.0", "three-dimensional life-like automata", &stencil)
