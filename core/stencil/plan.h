/* A plan: which code executes a stage, and with what tile, height and knobs.
 *
 * Every plan has a family, a height and a tile. Everything else that a scenario may set is a knob:
 * an integer in the table below, where 0 leaves the choice to the family. The code that compares
 * and prints plans, and that reads and writes them in Lua, JSON and CSV, uses this table: a new
 * knob is one line here. */
#ifndef TZ_CORE_STENCIL_PLAN_H
#define TZ_CORE_STENCIL_PLAN_H

#include "base/error.h"
#include "base/sheet.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trapeze/plugin.h>

/* X(name, least, most, doc). A scenario may set a knob to `least` to `most`. */
#define TZ_PLAN_KNOBS(X)                                                                           \
    X(vector, 1, 64, "adjacent elements that a lane holds")                                        \
    X(ahead, 1, 16, "rows or planes that are loaded before they are needed")                       \
    X(warps, 1, 32, "warps of a block")                                                            \
    X(blocks, 1, 32, "blocks that must fit on a multiprocessor at once; limits their registers")   \
    X(unroll, 1, 16, "rows of a chunk that the body of a kernel's loop computes, in 2-D")          \
    X(lanes, 16, 32,                                                                               \
      "lanes of a warp that lie along a row of a tile, in 3-D: 32 or 16; with 16 a tile has half " \
      "the columns and twice the rows")                                                            \
    X(swap, 1, 2,                                                                                  \
      "how lanes store that hold two packets of 16 bytes of a row, in 2-D: 1: they swap one with " \
      "a neighbour, so that adjacent lanes store adjacent packets; 2: each stores its own")        \
    X(lean, 1, 2,                                                                                  \
      "1: the shortest text of the family direct, which compiles sooner and runs slower; 2: the "  \
      "whole one")                                                                                 \
    X(exchange, 1, 65536, "iterations between two exchanges of ghost zones among devices")

enum { TZ_PLAN_HEIGHT_MAX = 1 << 20 };

typedef struct tz_plan {
    /* The backend chooses what is 0 or "". */
    int height; /* iterations between two halo exchanges */
    /* useful cells of a tile (words of bits); on the last axis of the family "stream": slabs of a
     * chunk */
    int64_t tile[TZ_AXES];
    char family[16]; /* one of a backend (tz_backend.family) */
#define TZ__PLAN_MEMBER(name, least, most, doc) int name;
    TZ_PLAN_KNOBS(TZ__PLAN_MEMBER)
#undef TZ__PLAN_MEMBER
    int launch_iterations; /* the most that one launch runs, in several stages; 0: height */
    char why[160];         /* how height and tile were chosen */
} tz_plan;

/* Compares family, height, tile and knobs: equal plans have the same kernel. */
bool tz_plan_equal(const tz_plan *a, const tz_plan *b);

/* ---- Knobs ----------------------------------------------------------------------------------- */

typedef struct tz_plan_knob {
    const char *name; /* of the Lua key, the JSON key and the CSV column */
    int least, most;
    const char *doc;
    size_t offset; /* of the member of tz_plan */
} tz_plan_knob;

#define TZ__PLAN_COUNT(name, least, most, doc) +1
enum { TZ_PLAN_KNOBS_COUNT = 0 TZ_PLAN_KNOBS(TZ__PLAN_COUNT) };
#undef TZ__PLAN_COUNT

extern const tz_plan_knob tz_plan_knobs[TZ_PLAN_KNOBS_COUNT];

/* `knob` is an index of tz_plan_knobs. */
int tz_plan_get(const tz_plan *plan, int knob);
void tz_plan_set(tz_plan *plan, int knob, int value);
/* The name of the first knob that is not 0; NULL if all are. Static. */
const char *tz_plan_first_knob(const tz_plan *plan);

/* ---- Text ------------------------------------------------------------------------------------ */

enum { TZ_PLAN_TEXT_SIZE = 256 };

/* "4096 x 512": the extents that are not 0; "-" if all are. */
void tz_plan_tile_text(const tz_plan *plan, int dims, char *text, size_t size);
/* "stream, height 8, tile 4096 x 512, vector 4", with the knobs that are not 0. */
void tz_plan_text(const tz_plan *plan, int dims, char *text, size_t size);

/* Columns of a sheet: family, height, tile and knobs. The row is a tz_plan, the context its number
 * of axes, an int. */
extern const tz_sheet_column tz_plan_columns[];

/* ---- JSON ------------------------------------------------------------------------------------ */

struct json_t; /* jansson.h */

/* An object of family, height, tile (`dims` extents) and the knobs that are not 0; NULL: not enough
 * memory. Release it with json_decref(). */
struct json_t *tz_plan_to_json(const tz_plan *plan, int dims);
/* Ignores other keys. False if family, height or tile is missing, or if a value has the wrong type
 * or is out of range; *out is then all zeros. */
bool tz_plan_from_json(const struct json_t *object, tz_plan *out);

#endif
