/* Stencils that are refused, for run_refusal_tests.sh: the contract program must notice that it
 * checked nothing. */
#include <stdio.h>
#include <trapeze/plugin.h>

#define TZ_CELL_TEXT "refusing.cell.h"
#define TZ_CELL_ID refusing
#define TZ_CELL_DIMS 1
#define TZ_CELL_RADIUS 8
#define TZ_CELL_REAL 0
#include <trapeze/rows.h>

static int derive(tz_setup *setup)
{
    snprintf(setup->message, setup->message_size, "no grid is good enough");
    return TZ_REFUSED;
}

static const tz_field fields[] = {
    TZ_STATE_FIELD("alive", TZ_BITS, "", "cells that live"),
};

static const tz_pass passes[] = {
    {.name = "step", .writes = TZ_WRITES(refusing, alive), TZ_PASS(refusing)},
};

#define STENCIL(ID, DERIVE)                                                                        \
    static const tz_stencil ID = {                                                                 \
        TZ_STENCIL_HEADER,                                                                         \
        .id = #ID,                                                                                 \
        .doc = "Test-only: " #ID ".",                                                              \
        .dims = 1,                                                                                 \
        .fields_count = 1,                                                                         \
        .fields = fields,                                                                          \
        .passes_count = 1,                                                                         \
        .passes = passes,                                                                          \
        .boundaries = TZ_ALLOW(TZ_PERIODIC),                                                       \
        .boundary = TZ_PERIODIC,                                                                   \
        .derive = DERIVE,                                                                          \
    };
/* Its own plugin refuses every grid. */
STENCIL(refuses_grids, derive)
/* The family "resident" refuses it on grids of fewer words than the radius, unless rows are whole
 * words. */
STENCIL(periodic_bits, NULL)

TZ_PLUGIN_DEFINE("refusing", "1.0.0", "test-only", &refuses_grids, &periodic_bits)
