/* Rules of Life-like automata as text. Plugins and the engine use this header.
 *
 * A rule is two sets of numbers of live neighbours: a dead cell is born with a number in the first
 * set, a living cell survives with a number in the second. In a mask, bit n stands for n
 * neighbours. Forms (case does not matter, nor does white space at the ends):
 *   B3/S23  S23/B3  B3S23       letters, either order; one list alone leaves the other one empty
 *   23/3                        survival first, as in older programs
 *   B5/S4,5  B13,/S4,10         with a comma anywhere, both lists are comma-separated numbers
 *   4555  4,5,5,5               Bays' E_l E_u F_l F_u: survives with E_l..E_u, born with F_l..F_u;
 *                               only where max_neighbours is 26 (C. Bays, Complex Systems 1, 1987)
 * Without a comma, each digit is a number.
 *
 * With 8 neighbours, as Golly and LifeViewer have them:
 *   conway, highlife, ...       names of tz_life__named, with blanks or without
 *   23/3/8  B3/S23/8  B3/S23/C8 Generations: 8 states; a cell that does not survive takes the
 *                               states 2, 3, ... up to 7, one a generation, before it is dead
 *   B2-a3ijk/S1c2               Hensel's letters: which places the neighbours may have, up to
 *                               turns and reflections; '-': which they may not have
 *   B2/S34H  B13/S0V            on 6 neighbours, of a hexagonal grid (not north-east, nor
 *                               south-west), or on von Neumann's 4
 *   MAP...                      a bit for each of the 512 squares of 3 x 3 cells, or 128 or 32 of
 *                               those grids, in base 64; may end in a number of states: MAP.../3 */
#ifndef TRAPEZE_LIFERULE_H
#define TRAPEZE_LIFERULE_H

#include <trapeze/liferule_read.h>

/* Read a list of numbers. Returns what is wrong, or NULL. */
static inline const char *tz_life__list(const char *s, const char *end, int commas,
                                        int max_neighbours, uint32_t *mask)
{
    while (s < end) {
        int n = *s++ - '0';
        if (n < 0 || n > 9)
            return "a list has numbers";
        while (commas && *s >= '0' && *s <= '9' && n < 100)
            n = n * 10 + (*s++ - '0');
        if (n > max_neighbours || n > 31)
            return "more neighbours than a cell has";
        *mask |= UINT32_C(1) << n;
        if (commas && *s == ',')
            s++;
    }
    return NULL;
}

/* Read Bays' four numbers; 1 if the text has that form. */
static inline int tz_life__bays(const char *s, uint32_t *birth, uint32_t *survive)
{
    int n[4], k, commas = strchr(s, ',') ? 1 : 0;
    for (k = 0; k < 4; k++) {
        if (*s < '0' || *s > '9')
            return 0;
        n[k] = *s++ - '0';
        if (commas && *s >= '0' && *s <= '9')
            n[k] = n[k] * 10 + (*s++ - '0');
        if (commas && k < 3 && *s++ != ',')
            return 0;
    }
    if (*s || n[1] > 26 || n[3] > 26 || n[0] > n[1] || n[2] > n[3])
        return 0;
    *birth = *survive = 0;
    for (k = n[0]; k <= n[1]; k++)
        *survive |= UINT32_C(1) << k;
    for (k = n[2]; k <= n[3]; k++)
        *birth |= UINT32_C(1) << k;
    return 1;
}

/* Parse `text` for a neighbourhood of max_neighbours cells (8 in the plane, 26 in space; at most
 * 31). Returns 0, or -1 with one line in `message`, whose size may be 0; the masks are then
 * unchanged. In the plane rules of numbers and two states alone are taken. */
static inline int tz_life_rule_parse(const char *text, int max_neighbours, uint32_t *birth_mask,
                                     uint32_t *survive_mask, char *message, size_t size)
{
    char rule[128];
    const char *p = text + strspn(text, " \t\r\n"), *wrong;
    size_t length = strlen(p), i;
    uint32_t masks[2] = {0, 0}; /* birth, survival */
    tz_life__parts parts;
    tz_life_rule plane;
    int k;
    if (max_neighbours == 8) {
        if (tz_life_rule_read(text, &plane, message, size) != 0)
            return -1;
        if (!plane.counts || plane.states > 2) {
            if (size)
                snprintf(message, size,
                         "the rule '%.60s' has %s: the plugin \"generations\" computes it", p,
                         plane.states > 2 ? "more than two states"
                                          : "neighbours in certain places, not their number alone");
            return -1;
        }
        *birth_mask = plane.birth;
        *survive_mask = plane.survive;
        return 0;
    }
    while (length && strchr(" \t\r\n", p[length - 1]))
        length--;
    if (length == 0 || length >= sizeof rule)
        return tz_life__fail(message, size, text, length ? "too long" : "empty");
    for (i = 0; i < length; i++)
        rule[i] = (char)(p[i] >= 'A' && p[i] <= 'Z' ? p[i] + 32 : p[i]);
    rule[length] = '\0';
    if (max_neighbours != 26 || !tz_life__bays(rule, &masks[0], &masks[1])) {
        wrong = tz_life__split(rule, &parts);
        for (k = 0; k < parts.count && !wrong; k++)
            wrong = parts.letter[k] == 'c'
                        ? "something follows the two lists"
                        : tz_life__list(parts.from[k], parts.to[k], strchr(rule, ',') != NULL,
                                        max_neighbours, &masks[parts.letter[k] == 's']);
        if (wrong)
            return tz_life__fail(message, size, text, wrong);
    }
    *birth_mask = masks[0];
    *survive_mask = masks[1];
    return 0;
}

/* Write a rule in its normal form: "B3/S23"; with numbers above 9 "B13,/S4,10,". 160 bytes are
 * enough for any rule. Returns `text`. */
static inline const char *tz_life_rule_format(uint32_t birth_mask, uint32_t survive_mask,
                                              char *text, size_t size)
{
    const uint32_t masks[2] = {birth_mask, survive_mask};
    const int commas = (birth_mask | survive_mask) >> 10 != 0;
    size_t used = 0;
    int k, n;
    if (size)
        text[0] = '\0';
    for (k = 0; k < 2 && used < size; k++) {
        used += (size_t)snprintf(text + used, size - used, k ? "/S" : "B");
        for (n = 0; n < 32 && used < size; n++) {
            if (masks[k] >> n & 1)
                used += (size_t)snprintf(text + used, size - used, commas ? "%d," : "%d", n);
        }
    }
    return text;
}

#endif
