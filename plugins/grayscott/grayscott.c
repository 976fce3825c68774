/* The reaction of Gray and Scott with diffusion (J. E. Pearson, Science 261, 1993). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#define GRAYSCOTT_CORNERS 0
#define TZ_CELL_TEXT "grayscott.cell.h"
#define TZ_CELL_ID grayscott
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

#undef GRAYSCOTT_CORNERS
#define GRAYSCOTT_CORNERS 1
#define TZ_CELL_TEXT "grayscott.cell.h"
#define TZ_CELL_NAME grayscott
#define TZ_CELL_ID grayscott9
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

enum { PATTERN, FEED, KILL, REMOVAL, DU, DV, ALLOW_UNSTABLE, PARAMS };

/* Where in the plane of F and k they grow. Pearson's types are Greek letters. */
static const struct {
    const char *name;
    double feed, kill;
} patterns[] = {
    {"coral", 0.0545, 0.062},       {"mitosis", 0.0367, 0.0649}, {"solitons", 0.03, 0.062},
    {"worms", 0.058, 0.065},        {"mazes", 0.029, 0.057},     {"holes", 0.039, 0.058},
    {"chaos", 0.026, 0.051},        {"waves", 0.014, 0.045},     {"uskate", 0.062, 0.06093},
    {"moving_spots", 0.014, 0.054},
};

/* Published with four neighbours on 256 cells of 2.5/256 (Pearson), and with eight and D = 1 and
 * 0.5 (K. Sims). */
#define SCALE (256.0 * 256.0 / (2.5 * 2.5))
#define GRAYSCOTT_PARAMS(name, du, dv)                                                             \
    static const tz_param name[PARAMS] = {                                                         \
        [PATTERN] = TZ_CHOICE_PARAM("pattern", "coral",                                            \
                                    "coral|mitosis|solitons|worms|mazes|holes|chaos|waves|uskate|" \
                                    "moving_spots",                                                \
                                    "what grows: the defaults of feed and kill"),                  \
        [FEED] = TZ_REAL_PARAM("feed", NAN, 0.0, 1.0, "", "F, the rate at which U is fed"),        \
        [KILL] = TZ_REAL_PARAM("kill", NAN, -1.0, 1.0, "", "k: V is removed at the rate F + k"),   \
        [REMOVAL] = TZ_REAL_PARAM("removal", NAN, 0.0, 2.0, "",                                    \
                                  "the whole rate F + k at which V is removed, instead of kill"),  \
        [DU] = TZ_REAL_PARAM("du", du, 0.0, 100.0, "", "diffusion of U, in cells^2 an iteration"), \
        [DV] = TZ_REAL_PARAM("dv", dv, 0.0, 100.0, "", "diffusion of V, in cells^2 an iteration"), \
        [ALLOW_UNSTABLE] = TZ_FLAG_PARAM("allow_unstable", 0,                                      \
                                         "run even with a diffusion that "                         \
                                         "diverges",                                               \
                                         .role = TZ_PARAM_ROLE_ALLOW_UNSTABLE),                    \
    };
GRAYSCOTT_PARAMS(params, 2e-5 * SCALE, 1e-5 * SCALE)
GRAYSCOTT_PARAMS(params9, 1.0, 0.5)

static int refuse(tz_setup *setup, const char *text)
{
    snprintf(setup->message, setup->message_size, "%s", text);
    return TZ_REFUSED;
}

/* Feed, and one of kill and removal; else the pattern's. Values that the engine gives back as they
 * were agree. */
static int choose_rates(tz_setup *setup)
{
    tz_value *p = setup->params;
    double feed = 0.0, kill = 0.0;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (strcmp(p[PATTERN].text, patterns[i].name) == 0) {
            feed = patterns[i].feed;
            kill = patterns[i].kill;
        }
    if (!p[FEED].given)
        p[FEED].number = feed;
    if (!p[KILL].given)
        p[KILL].number = p[REMOVAL].given ? p[REMOVAL].number - p[FEED].number : kill;
    const double removal = p[FEED].number + p[KILL].number;
    if (!p[REMOVAL].given)
        p[REMOVAL].number = removal;
    if (fabs(p[REMOVAL].number - removal) > 1e-12)
        return refuse(setup, "removal is another name for feed + kill: leave kill or removal out");
    if (removal < 0.0)
        return refuse(setup, "feed + kill is negative, so that V would grow from nothing: raise "
                             "kill to -feed or more");
    return 0;
}

/* The weights of a cell and of its neighbours. Each sum is rounded such that u = 1, v = 0 stays. */
static int derive_form(tz_setup *setup, double side, double corner, double roughest)
{
    const tz_value *p = setup->params;
    double *c = setup->constants;
    const int status = choose_rates(setup);
    if (status)
        return status;
    const double most = (2.0 - p[REMOVAL].number) / roughest;
    if (fmax(p[DU].number, p[DV].number) > most && p[ALLOW_UNSTABLE].number == 0.0) {
        snprintf(setup->message, setup->message_size,
                 "du = %.6g, dv = %.6g: more than %.6g is unstable; use smaller ones, or "
                 "allow_unstable = true",
                 p[DU].number, p[DV].number, most);
        return TZ_DIVERGES;
    }
    const double feed = tz_rounded(setup, p[FEED].number);
    const double u_side = tz_rounded(setup, p[DU].number * side);
    const double v_side = tz_rounded(setup, p[DV].number * side);
    const double u_corner = tz_rounded(setup, p[DU].number * corner);
    const double v_corner = tz_rounded(setup, p[DV].number * corner);
    c[TZ_CONSTANT(grayscott, feed)] = feed;
    c[TZ_CONSTANT(grayscott, u_side)] = u_side;
    c[TZ_CONSTANT(grayscott, v_side)] = v_side;
    c[TZ_CONSTANT(grayscott, u_here)] = 1.0 - 4.0 * (u_side + u_corner) - feed;
    c[TZ_CONSTANT(grayscott, v_here)] = 1.0 - 4.0 * (v_side + v_corner) - p[REMOVAL].number;
    if (corner != 0.0) {
        c[TZ_CONSTANT(grayscott9, u_corner)] = u_corner;
        c[TZ_CONSTANT(grayscott9, v_corner)] = v_corner;
    }
    return 0;
}

/* The last number: how fast the roughest pattern decays, in units of D. */
static int derive(tz_setup *setup)
{
    return derive_form(setup, 1.0, 0.0, 8.0);
}
static int derive9(tz_setup *setup)
{
    return derive_form(setup, 0.2, 0.05, 1.6);
}

static const tz_field fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "concentration of U, which is fed", .initial = 1.0,
                   .boundary_value = 1.0),
    TZ_STATE_FIELD("v", TZ_REAL, "", "concentration of V, which eats U"),
};

#define GRAYSCOTT(ID, sentence, corners, its_params, its_derive)                                   \
    static const tz_pass ID##_passes[] = {                                                         \
        {.name = "react",                                                                          \
         .writes = TZ_WRITES(ID, u) | TZ_WRITES(ID, v),                                            \
         .text_defines = "GRAYSCOTT_CORNERS=" #corners,                                            \
         TZ_PASS(ID)},                                                                             \
    };                                                                                             \
    static const tz_stencil ID = {                                                                 \
        TZ_STENCIL_HEADER,                                                                         \
        .id = #ID,                                                                                 \
        .doc = sentence,                                                                           \
        .dims = 2,                                                                                 \
        TZ_STENCIL_TABLES(ID, fields, its_params, ID##_passes),                                    \
        .boundaries = TZ_ALLOW_ALL,                                                                \
        .boundary = TZ_PERIODIC,                                                                   \
        .picture = {"v", "inferno", 0.0, 0.4},                                                     \
        .derive = its_derive,                                                                      \
    };
GRAYSCOTT(grayscott, "Gray-Scott reaction and diffusion, as Pearson published it (4 neighbours).",
          0, params, derive)
GRAYSCOTT(grayscott9, "Gray-Scott reaction and diffusion, as Sims published it (8 neighbours).", 1,
          params9, derive9)

TZ_PLUGIN_DEFINE("grayscott", "1.0.0", "patterns of reaction and diffusion", &grayscott,
                 &grayscott9)
