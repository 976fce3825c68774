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

#include "output/format/grid_file.h"

/* A rule as RLE files have it: "B3/S23", and behind it the universe if it is not the unbounded
 * plane: ":T64,32" a torus, ":P64,32" a plane with dead cells around it; ":T64" is a square. */
typedef struct tz_rle_rule {
    uint32_t birth, survive; /* bit n: with n living neighbours */
    char universe;           /* 'T', 'P', or 0 without a suffix */
    int64_t width, height;   /* of the universe, in cells */
} tz_rle_rule;

/* A rule may also be "23/3", "b3s23" or a name, as "Life" (trapeze/liferule.h). TZ_UNKNOWN;
 * TZ_UNSUPPORTED: another universe. `place` may be NULL. */
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

/* Other forms of patterns, for reading. Errors as tz_rle_read.
 *
 * Plain text of LifeWiki (.cells): lines that begin with '!' are comments, of which "!Name:
 * Glider" is the name; each other line is a row of '.' (dead) and 'O' or '*' (alive). Rows may be
 * shorter than the longest.
 *
 * Macrocells of Golly (.mc), two states: "[M2]", lines that begin with '#' ("#R B3/S23" is the
 * rule), then a node of a quadtree on each line, the last of which is the whole. A node is 8 x 8
 * cells as text, or "k nw ne sw se": a square of 2^k cells an axis, of four nodes by their line,
 * 0 for an empty one. The pattern is the smallest rectangle that holds all living cells. */
tz_status tz_cells_read(const char *path, tz_life_pattern *out, tz_error *error);
tz_status tz_macrocell_read(const char *path, tz_life_pattern *out, tz_error *error);

/* For formats: what such a function gives, as a reading of tz_format. */
struct tz_format_reading;
typedef tz_status tz_pattern_read(const char *path, tz_life_pattern *out, tz_error *error);
tz_status tz__pattern_read(tz_pattern_read *read, const char *path,
                           struct tz_format_reading *reading, tz_error *error);

#endif
