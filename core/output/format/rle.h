/* Life patterns in the run-length form of Golly and LifeWiki (.rle), two states.
 *
 *     #N Glider
 *     x = 3, y = 3, rule = B3/S23
 *     bob$2bo$3o!
 *
 * Errors: TZ_IO, TZ_MEMORY; TZ_FORMAT (no header, unknown letter, run too long, '!' missing),
 * TZ_RANGE (a run leaves the declared x, y; pattern above 2^30 cells), TZ_UNKNOWN and
 * TZ_UNSUPPORTED (rule).
 * Place: FILE:LINE. */
#ifndef TZ_CORE_OUTPUT_FORMAT_RLE_H
#define TZ_CORE_OUTPUT_FORMAT_RLE_H

#include "base/array.h"

/* A rule as RLE files have it: "B3/S23", and behind it the universe if it is not the unbounded
 * plane: ":T64,32" a torus, ":P64,32" a plane with dead cells around it; ":T64" is a square. */
enum { TZ_RLE_RULE_SIZE = 200 };
typedef struct tz_rle_rule {
    uint32_t birth, survive; /* bit n: with n living neighbours */
    char universe;           /* 'T', 'P', or 0 without a suffix */
    int64_t width, height;   /* of the universe, in cells */
} tz_rle_rule;

/* A rule may also be "23/3", "b3s23" or a name, as "Life" (trapeze/liferule.h). TZ_UNKNOWN; TZ_UNSUPPORTED: another universe. `place`
 * may be NULL. */
tz_status tz_rle_rule_parse(const char *text, const char *place, tz_rle_rule *out, tz_error *error);
const char *tz_rle_rule_format(const tz_rle_rule *rule, char text[TZ_RLE_RULE_SIZE]);

typedef struct tz_life_pattern {
    int64_t nx, ny;
    tz_array *cells;             /* owned; uint8, shape {nx, ny}, 0 or 1, row 0 on top */
    char rule[TZ_RLE_RULE_SIZE]; /* normalised; "B3/S23" if the file has no rule */
    bool has_rule;               /* whether it has one */
    char name[128];              /* from "#N"; "" if there is none */
} tz_life_pattern;

/* Letters: 'b' and '.' dead, 'o' alive, '$' end of row, '!' end. Text after '!' is ignored. */
tz_status tz_rle_read(const char *path, tz_life_pattern *out, tz_error *error);
void tz_life_pattern_clear(tz_life_pattern *pattern); /* a zeroed record is fine */

/* Write `cells` (2-D or 1-D, any numeric type, each 0 or 1) in lines of at most 70 columns. `rule`
 * NULL: B3/S23; `comment` NULL: none, else one "#C" line for each of its lines. `path` must not
 * exist. Also TZ_SHAPE for a 3-D array, TZ_RANGE for a cell that is neither 0 nor 1. */
tz_status tz_rle_write(const char *path, const tz_array *cells, const char *rule,
                       const char *comment, tz_error *error);

/* The same a few cells at a time, in the order of the grid: `cells` is an array of any shape. End
 * with commit or abort, which free the writer. */
typedef struct tz_rle_writer tz_rle_writer;
tz_status tz_rle_write_begin(tz_rle_writer **out, const char *path, int64_t nx, int64_t ny,
                             const char *rule, const char *comment, tz_error *error);
tz_status tz_rle_write_cells(tz_rle_writer *writer, const tz_array *cells, tz_error *error);
tz_status tz_rle_write_commit(tz_rle_writer *writer, tz_error *error);
void tz_rle_write_abort(tz_rle_writer *writer); /* NULL is fine */

#endif
