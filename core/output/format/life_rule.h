/* Rules of patterns as .rle files have them. */
#ifndef TZ_CORE_OUTPUT_FORMAT_LIFE_RULE_H
#define TZ_CORE_OUTPUT_FORMAT_LIFE_RULE_H

#include "base/error.h"
#include "trapeze/liferule.h"

enum { TZ_RLE_RULE_SIZE = 320 }; /* of their texts */

/* "B3/S23" or "345/2/4", and behind it the universe if it is not the unbounded plane: ":T64,32" a
 * torus, ":P64,32" a plane with dead cells around it; ":T64" is a square, and 0 endless. In
 * ":T30+7,20" the sides of y meet with a shift along x, of a Klein bottle, ":K40*,20", they meet
 * reversed: a larger torus covers it, which has each of its cells several times. */
typedef struct tz_rle_rule {
    tz_life_rule life;
    char text[TZ_RLE_RULE_SIZE]; /* without the universe; of rules of numbers, the normal form */
    bool marks;    /* [R]History or [R]Super: states of Golly that say more than dead or alive */
    char universe; /* 'T', 'P', 'K', or 0 without a suffix */
    int64_t width, height; /* of the universe, in cells; 0: endless */
    int axis;              /* along which the sides of the other axis are shifted or reversed */
    int64_t shift;         /* cell i of the first row behind the last one is cell i + shift */
    int64_t copies;        /* of each cell in the torus that covers it; 1: it is a torus itself */
} tz_rle_rule;

/* What rules there are, trapeze/liferule.h says. TZ_UNKNOWN; TZ_UNSUPPORTED: another universe.
 * `place` may be NULL. */
tz_status tz_rle_rule_parse(const char *text, const char *place, tz_rle_rule *out, tz_error *error);
const char *tz_rle_rule_format(const tz_rle_rule *rule, char text[TZ_RLE_RULE_SIZE]);
/* Does a rule, that need not be known, end in "History" or "Super"? */
bool tz_rle_rule_has_marks(const char *text);
/* The same to the west and the east (axis 0) or the north and the south (1)? */
bool tz_rle_rule_is_symmetric(const tz_rle_rule *rule, int axis);
/* Do they give the same cells, whatever their universes? */
bool tz_rle_rule_is_same(const tz_rle_rule *a, const tz_rle_rule *b);

#endif
