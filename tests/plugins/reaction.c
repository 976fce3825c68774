/* Two fields that a pass reads and writes. */
#include "common.h"

#define TZ_CELL_TEXT "reaction.cell.h"
#define TZ_CELL_ID reaction
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

static const tz_param reaction_params[] = {
    TZ_REAL_PARAM("feed", 0.04, 0.0, 0.1, "", "share of u that is fed"),
    TZ_REAL_PARAM("kill", 0.06, 0.0, 0.1, "", "share of v that is taken away, besides"),
};

static int reaction_derive(tz_setup *setup)
{
    setup->constants[TZ_CONSTANT(reaction, spread_u)] = 0.2;
    setup->constants[TZ_CONSTANT(reaction, spread_v)] = 0.1;
    setup->constants[TZ_CONSTANT(reaction, feed)] = setup->params[0].number;
    setup->constants[TZ_CONSTANT(reaction, loss)] =
        setup->params[0].number + setup->params[1].number;
    return 0;
}

static const tz_field reaction_fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "what is fed", .initial = 1.0),
    TZ_STATE_FIELD("v", TZ_REAL, "", "what grows"),
};

static const tz_pass reaction_passes[] = {
    {.name = "reaction", .writes = 3, TZ_PASS(reaction)},
};

TEST_STENCIL(reaction, reaction, 2, "v")
TEST_PLUGIN(reaction, &reaction_stencil)
