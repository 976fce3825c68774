/* Rules of Life patterns, as .rle files have them. */
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

#endif
