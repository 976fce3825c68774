/* Life patterns in other forms than rle.h's, for reading. Errors as tz_rle_read.
 *
 * Plain text of LifeWiki (.cells): lines that begin with '!' are comments, of which "!Name: Glider" is the
 * name; each other line is a row of '.' (dead) and 'O' or '*' (alive). Rows may be shorter than the longest.
 *
 * Macrocells of Golly (.mc), two states: "[M2]", lines that begin with '#' ("#R B3/S23" is the rule), then a node of
 * a quadtree on each line, the last of which is the whole. A node is 8 x 8 cells as text, or "k nw ne sw se": a
 * square of 2^k cells an axis, of four nodes by their line, 0 for an empty one. The pattern is the smallest
 * rectangle that holds all living cells. */
#ifndef TZ_CORE_OUTPUT_FORMAT_LIFE_FILES_H
#define TZ_CORE_OUTPUT_FORMAT_LIFE_FILES_H

#include "output/format/rle.h"

tz_status tz_cells_read(const char *path, tz_life_pattern *out, tz_error *error);
tz_status tz_macrocell_read(const char *path, tz_life_pattern *out, tz_error *error);

#endif
