/* 32 fields and 8 passes: the limits. */
#include "common.h"

#define MANY_PASS 0
#include "many_pass.h"
#define MANY_PASS 1
#include "many_pass.h"
#define MANY_PASS 2
#include "many_pass.h"
#define MANY_PASS 3
#include "many_pass.h"
#define MANY_PASS 4
#include "many_pass.h"
#define MANY_PASS 5
#include "many_pass.h"
#define MANY_PASS 6
#include "many_pass.h"
#define MANY_PASS 7
#include "many_pass.h"

static const tz_param many_params[] = {
    TZ_REAL_PARAM("share", 0.2, 0.0, 0.5, "", "what comes from another field"),
};

static int many_derive(tz_setup *setup)
{
    setup->constants[TZ_CONSTANT(many0, keep)] = 1.0 - 2.0 * setup->params[0].number;
    setup->constants[TZ_CONSTANT(many0, share)] = setup->params[0].number;
    return 0;
}

#define FOUR(letter, number)                                                                       \
    TZ_STATE_FIELD(letter "0", TZ_REAL, "", "a field", .boundary_value = 0.125 * (number)),        \
        TZ_STATE_FIELD(letter "1", TZ_REAL, "", "a field", .boundary_value = 0.25 * (number)),     \
        TZ_STATE_FIELD(letter "2", TZ_REAL, "", "a field"),                                        \
        TZ_STATE_FIELD(letter "3", TZ_REAL, "", "a field")
static const tz_field many_fields[] = {
    FOUR("a", 1),
    FOUR("b", 2),
    FOUR("c", 3),
    FOUR("d", 4),
    FOUR("e", 5),
    FOUR("f", 6),
    FOUR("g", 7),
    TZ_STATIC_FIELD("k0", TZ_REAL, "", "a source", .initial = 0.5),
    TZ_STATIC_FIELD("k1", TZ_REAL, "", "a source"),
    TZ_STATIC_FIELD("k2", TZ_REAL, "", "a source"),
    TZ_STATIC_FIELD("k3", TZ_REAL, "", "a source"),
};

#define PASS(id, letter, defines)                                                                  \
    {                                                                                              \
        .name = #id,                                                                               \
        .writes = TZ_WRITES(id, letter##0) | TZ_WRITES(id, letter##1) | TZ_WRITES(id, letter##2) | \
                  TZ_WRITES(id, letter##3),                                                        \
        .text_defines = defines, TZ_PASS(id)                                                       \
    }
static const tz_pass many_passes[] = {
    PASS(many0, a, "MANY_PASS=0"), PASS(many1, b, "MANY_PASS=1"), PASS(many2, c, "MANY_PASS=2"),
    PASS(many3, d, "MANY_PASS=3"), PASS(many4, e, "MANY_PASS=4"), PASS(many5, f, "MANY_PASS=5"),
    PASS(many6, g, "MANY_PASS=6"), PASS(many7, a, "MANY_PASS=7"),
};

TEST_STENCIL(many, many0, 2, "a0")
TEST_PLUGIN(many, &many_stencil)
