/* Life patterns in the run-length form of Golly and LifeWiki (.rle), two states.
 *
 *     #N Glider
 *     x = 3, y = 3, rule = B3/S23
 *     bob$2bo$3o!
 *
 * Errors: TZ_IO, TZ_MEMORY; TZ_FORMAT (no header, unknown letter, run too long, '!' missing),
 * TZ_RANGE (a run leaves the declared x, y; pattern above 2^30 cells), TZ_UNKNOWN (rule).
 * Place: FILE:LINE. */
#ifndef TZ_CORE_OUTPUT_FORMAT_RLE_H
#define TZ_CORE_OUTPUT_FORMAT_RLE_H

#include "base/array.h"

typedef struct tz_life_pattern {
    int64_t nx, ny;
    tz_array *cells; /* owned; uint8, shape {nx, ny}, 0 or 1, row 0 on top */
    char rule[160];  /* normalised, "B3/S23"; so too if the file has no rule */
    char name[128];  /* from "#N"; "" if there is none */
} tz_life_pattern;

/* Letters: 'b' and '.' dead, 'o' alive, '$' end of row, '!' end; a rule may also be "23/3",
 * "b3s23" or "Life". Text after '!' is ignored. */
tz_status tz_rle_read(const char *path, tz_life_pattern *out, tz_error *error);
void tz_life_pattern_clear(tz_life_pattern *pattern); /* a zeroed record is fine */

/* Write `cells` (2-D or 1-D, any numeric type, not 0 = alive) in lines of at most 70 columns.
 * `rule` NULL: B3/S23; `comment` NULL: none, else one "#C" line for each of its lines. `path`
 * must not exist. Also TZ_SHAPE for a 3-D array. */
tz_status tz_rle_write(const char *path, const tz_array *cells, const char *rule,
                       const char *comment, tz_error *error);

#endif
