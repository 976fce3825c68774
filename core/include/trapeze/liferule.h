/* Rules of Life-like automata as text. Plugins and the engine use this header.
 *
 * A rule is two sets of numbers of live neighbours: a dead cell is born with a number in the first
 * set, a living cell survives with a number in the second. In a mask, bit n stands for n
 * neighbours. Forms (case does not matter, nor does white space at the ends):
 *   B3/S23  S23/B3  B3S23       letters, either order
 *   23/3                        survival first, as in older programs
 *   B5/S4,5  B13,/S4,10         with a comma anywhere, both lists are comma-separated numbers
 *   4555  4,5,5,5               Bays' E_l E_u F_l F_u: survives with E_l..E_u, born with F_l..F_u;
 *                               only where max_neighbours is 26 (C. Bays, Complex Systems 1, 1987)
 *   conway, highlife, ...       names of tz_life__named, with blanks or without, only where
 *                               max_neighbours is 8
 * Without a comma, each digit is a number. */
#ifndef TRAPEZE_LIFERULE_H
#define TRAPEZE_LIFERULE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static inline int tz_life__fail(char *message, size_t size, const char *text, const char *what)
{
    if (size)
        snprintf(message, size, "unknown rule '%.60s': %s; write it like B3/S23", text, what);
    return -1;
}

/* Read a list at *p; *p becomes its end. */
static inline int tz_life__list(const char **p, int commas, int max_neighbours, uint32_t *mask)
{
    const char *s = *p;
    *mask = 0;
    while (*s >= '0' && *s <= '9') {
        int n = *s++ - '0';
        while (commas && *s >= '0' && *s <= '9' && n < 100)
            n = n * 10 + (*s++ - '0');
        if (n > max_neighbours || n > 31)
            return -1;
        *mask |= UINT32_C(1) << n;
        if (commas && *s == ',')
            s++;
    }
    *p = s;
    return 0;
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

/* Read a name in capital letters; 1 if it is one. Rules and names are those of LifeWiki. */
static inline int tz_life__named(const char *text, uint32_t *birth, uint32_t *survive)
{
    static const struct {
        const char *name;
        uint32_t birth, survive; /* 0x008: 3 neighbours */
    } known[] = {
        {"LIFE", 0x008, 0x00c},         {"CONWAY", 0x008, 0x00c},
        {"CONWAY'SLIFE", 0x008, 0x00c}, {"HIGHLIFE", 0x048, 0x00c},
        {"DAY&NIGHT", 0x1c8, 0x1d8},    {"DAYANDNIGHT", 0x1c8, 0x1d8},
        {"SEEDS", 0x004, 0x000},        {"LIFEWITHOUTDEATH", 0x008, 0x1ff},
        {"MAZE", 0x008, 0x03e},         {"MAZECTRIC", 0x008, 0x01e},
        {"2X2", 0x048, 0x026},          {"MORLEY", 0x148, 0x034},
        {"REPLICATOR", 0x0aa, 0x0aa},   {"DIAMOEBA", 0x1e8, 0x1e0},
        {"ANNEAL", 0x1d0, 0x1e8},       {"CORAL", 0x008, 0x1f0},
        {"34LIFE", 0x018, 0x018},       {"PSEUDOLIFE", 0x0a8, 0x10c},
    };
    char word[24];
    size_t used = 0, i;
    for (; *text; text++) {
        if (*text == ' ')
            continue;
        if (used == sizeof word - 1)
            return 0;
        word[used++] = *text;
    }
    word[used] = '\0';
    for (i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, word) == 0) {
            *birth = known[i].birth;
            *survive = known[i].survive;
            return 1;
        }
    return 0;
}

/* Parse `text` for a neighbourhood of max_neighbours cells (8 in the plane, 26 in space; at most
 * 31). Returns 0, or -1 with one line in `message`, whose size may be 0; the masks are then
 * unchanged. */
static inline int tz_life_rule_parse(const char *text, int max_neighbours, uint32_t *birth_mask,
                                     uint32_t *survive_mask, char *message, size_t size)
{
    char rule[128];
    const char *p = text + strspn(text, " \t\r\n");
    size_t length = strlen(p), i;
    uint32_t masks[2] = {0, 0}; /* birth, survival */
    int commas, k, seen = 0;
    while (length && strchr(" \t\r\n", p[length - 1]))
        length--;
    if (length == 0 || length >= sizeof rule)
        return tz_life__fail(message, size, text, length ? "too long" : "empty");
    for (i = 0; i < length; i++)
        rule[i] = (char)(p[i] >= 'a' && p[i] <= 'z' ? p[i] - 'a' + 'A' : p[i]);
    rule[length] = '\0';
    commas = strchr(rule, ',') ? 1 : 0;
    p = rule;
    if ((max_neighbours == 26 && tz_life__bays(rule, &masks[0], &masks[1])) ||
        (max_neighbours == 8 && tz_life__named(rule, &masks[0], &masks[1]))) {
        *birth_mask = masks[0];
        *survive_mask = masks[1];
        return 0;
    }
    for (k = 0; k < 2; k++) {
        int which = 1 - k; /* without letters: survival, then birth */
        if (*p == 'B' || *p == 'S')
            which = *p++ == 'B' ? 0 : 1;
        else if (seen & 4)
            return tz_life__fail(message, size, text, "one list lacks its letter");
        else
            seen |= 8;
        if (k && (seen & 8) && p[-1] != '/')
            return tz_life__fail(message, size, text, "one list lacks its letter");
        if (!(seen & 8))
            seen |= 4;
        if (seen & (1 << which))
            return tz_life__fail(message, size, text, "a list is given twice");
        seen |= 1 << which;
        if (tz_life__list(&p, commas, max_neighbours, &masks[which]) != 0)
            return tz_life__fail(message, size, text, "more neighbours than a cell has");
        if (k == 0 && *p == '/')
            p++;
        else if (k == 0 && *p != 'B' && *p != 'S')
            return tz_life__fail(message, size, text, "'/' is missing");
    }
    if (*p)
        return tz_life__fail(message, size, text, "something follows the two lists");
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
