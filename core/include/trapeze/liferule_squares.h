/* Which squares of 3 x 3 cells a rule in the plane has: its struct, names, and Hensel's letters.
 * Included by <trapeze/liferule_read.h>. */
#ifndef TRAPEZE_LIFERULE_SQUARES_H
#define TRAPEZE_LIFERULE_SQUARES_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A rule on the 8 neighbours in the plane. */
typedef struct tz_life_rule {
    /* Does a cell that lives in the first state, or a dead one, live next? Bit n & 31 of word
     * n >> 5; the bits of n are the cells that live of the 3 x 3, row by row: north-west 256,
     * north 128, the cell itself 16, south-east 1. */
    uint32_t map[16];
    int states;              /* 2 to 256; above 2: Generations */
    int counts;              /* 1: only the number of living neighbours matters */
    uint32_t birth, survive; /* the numbers with which any square lives next; then all do */
} tz_life_rule;

/* Read a name in capital letters; 1 if it is one. Rules and names are those of LifeWiki. */
static inline int tz_life__named(const char *text, tz_life_rule *out)
{
    static const struct {
        const char *name;
        uint32_t birth, survive; /* 0x008: 3 neighbours */
        int states;
    } known[] = {
        {"LIFE", 0x008, 0x00c, 2},         {"CONWAY", 0x008, 0x00c, 2},
        {"CONWAY'SLIFE", 0x008, 0x00c, 2}, {"HIGHLIFE", 0x048, 0x00c, 2},
        {"DAY&NIGHT", 0x1c8, 0x1d8, 2},    {"DAYANDNIGHT", 0x1c8, 0x1d8, 2},
        {"SEEDS", 0x004, 0x000, 2},        {"LIFEWITHOUTDEATH", 0x008, 0x1ff, 2},
        {"MAZE", 0x008, 0x03e, 2},         {"MAZECTRIC", 0x008, 0x01e, 2},
        {"2X2", 0x048, 0x026, 2},          {"MORLEY", 0x148, 0x034, 2},
        {"REPLICATOR", 0x0aa, 0x0aa, 2},   {"DIAMOEBA", 0x1e8, 0x1e0, 2},
        {"ANNEAL", 0x1d0, 0x1e8, 2},       {"CORAL", 0x008, 0x1f0, 2},
        {"34LIFE", 0x018, 0x018, 2},       {"PSEUDOLIFE", 0x0a8, 0x10c, 2},
        {"BRIANSBRAIN", 0x004, 0x000, 3},  {"BRIAN'SBRAIN", 0x004, 0x000, 3},
        {"STARWARS", 0x004, 0x038, 4},
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
            out->birth = known[i].birth;
            out->survive = known[i].survive;
            out->states = known[i].states;
            return 1;
        }
    return 0;
}

/* The neighbours of a square as a ring: north 1, north-east 2, ... north-west 128. */
static inline int tz_life__ring(int n)
{
    return (n >> 7 & 1) | (n >> 6 & 1) << 1 | (n >> 3 & 1) << 2 | (n & 1) << 3 | (n >> 1 & 1) << 4 |
           (n >> 2 & 1) << 5 | (n >> 5 & 1) << 6 | (n >> 8 & 1) << 7;
}

static inline int tz_life__count(int bits)
{
    int n = 0;
    for (; bits; bits &= bits - 1)
        n++;
    return n;
}

/* The letter of a ring with 1 to 7 neighbours. That of 5 to 7 is the letter of the others. */
static inline char tz_life__letter(int ring)
{
    /* The least ring of each letter, by neighbours: "aeciknjqrytwz". */
    static const char letters[] = "aeciknjqrytwz";
    static const unsigned char least[5][13] = {
        {0},
        {0, 0x01, 0x02},
        {0x03, 0x05, 0x0a, 0x11, 0x09, 0x22},
        {0x07, 0x15, 0x2a, 0x0e, 0x25, 0x0b, 0x0d, 0x23, 0x13, 0x29},
        {0x0f, 0x55, 0xaa, 0x1b, 0x2d, 0x2e, 0x35, 0x27, 0x17, 0x2b, 0x39, 0x36, 0x33}};
    int n = tz_life__count(ring), smallest = 256, turned, i, k;
    if (n > 4) {
        ring ^= 255;
        n = 8 - n;
    }
    for (k = 0; k < 8; k++) { /* turns; the last four of the reflection */
        turned = 0;
        for (i = 0; i < 8; i++)
            if (ring >> i & 1)
                turned |= 1 << (((k < 4 ? i : 8 - i) + 2 * k) & 7);
        smallest = turned < smallest ? turned : smallest;
    }
    for (k = 0; letters[k]; k++)
        if (least[n][k] == smallest)
            return letters[k];
    return '?';
}

/* Add the squares of a list, "2-a3ijk", to a map; `center` 1: of living cells. Returns what is
 * wrong with it, or NULL. */
static inline const char *tz_life__squares(const char *s, const char *end, int center, int mask,
                                           int commas, uint32_t map[16])
{
    const int most = tz_life__count(mask & 0x1ef);
    while (s < end) {
        const char *from, *letter;
        int n = 0, minus = 0, square, k;
        if (*s < '0' || *s > '9')
            return "a list has numbers, and letters behind them";
        do
            n = n * 10 + (*s++ - '0');
        while (commas && s < end && *s >= '0' && *s <= '9' && n < 100);
        if (n > most)
            return "more neighbours than a cell has";
        if (s < end && *s == '-')
            minus = 1, s++;
        for (from = s; s < end && strchr("aeciknjqrytwz", *s); s++)
            ;
        if ((minus || s > from) && mask != 0x1ff)
            return "letters behind numbers are for grids with 8 neighbours";
        if (minus && s == from)
            return "'-' stands before the letters that are left out";
        for (letter = from; letter < s; letter++) {
            for (k = 0; k < 256; k++)
                if (n > 0 && n < 8 && tz_life__count(k) == n && tz_life__letter(k) == *letter)
                    break;
            if (k == 256)
                return "a number of neighbours has not this letter";
        }
        for (square = 0; square < 512; square++) {
            const int ring = tz_life__ring(square & mask);
            if ((square >> 4 & 1) != center || tz_life__count(ring) != n)
                continue;
            if (s > from &&
                (memchr(from, tz_life__letter(ring), (size_t)(s - from)) != NULL) == minus)
                continue;
            map[square >> 5] |= UINT32_C(1) << (square & 31);
        }
        if (commas && s < end && *s == ',')
            s++;
    }
    return NULL;
}

/* The squares of a rule of numbers. */
static inline void tz_life__fill(tz_life_rule *rule)
{
    int square;
    memset(rule->map, 0, sizeof rule->map);
    for (square = 0; square < 512; square++)
        if ((square & 16 ? rule->survive : rule->birth) >> tz_life__count(square & 0x1ef) & 1)
            rule->map[square >> 5] |= UINT32_C(1) << (square & 31);
}

#endif
