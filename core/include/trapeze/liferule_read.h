/* Reads rules on the 8 neighbours in the plane. Included by <trapeze/liferule.h>, which says what
 * forms they have. */
#ifndef TRAPEZE_LIFERULE_READ_H
#define TRAPEZE_LIFERULE_READ_H

#include <trapeze/liferule_squares.h>

static inline int tz_life__fail(char *message, size_t size, const char *text, const char *what)
{
    if (size)
        snprintf(message, size, "unknown rule '%.60s': %s%s", text, what,
                 strstr(what, "tz.stencil") ? "" : "; write it like B3/S23");
    return -1;
}

/* The parts of a rule in small letters, each behind a '/' or '_' or its letter: lists of births
 * ('b') and survival ('s'), and the number of states ('c'). */
typedef struct tz_life__parts {
    int count;
    char letter[3];
    const char *from[3], *to[3];
} tz_life__parts;

/* Returns what is wrong, or NULL. */
static inline const char *tz_life__split(const char *p, tz_life__parts *out)
{
    int k, seen = 0;
    memset(out, 0, sizeof *out);
    for (;;) {
        if (out->count == 3)
            return "more than two lists and a number of states";
        if (*p == 'b' || *p == 's' || ((*p == 'c' || *p == 'g') && out->count == 2))
            out->letter[out->count] = *p++;
        for (out->from[out->count] = p; *p && !strchr("/_bs", *p); p++)
            ;
        out->to[out->count++] = p;
        if (!*p)
            break;
        p += *p == '/' || *p == '_';
    }
    if (out->count == 1 && !out->letter[0])
        return "one list lacks its letter";
    for (k = 0; k < 3 && k < out->count; k++) { /* without letters: survival, then birth */
        const char other = (char)(out->count > 1 && k < 2 ? out->letter[1 - k] : 0);
        if (k == 2 && (!out->letter[k] || out->letter[k] == 'g'))
            out->letter[k] = 'c';
        else if (!out->letter[k])
            out->letter[k] = (char)(other == 'b' || (!other && k == 0) ? 's' : 'b');
        if (seen & 1 << (out->letter[k] - 'a'))
            return "a list is given twice";
        seen |= 1 << (out->letter[k] - 'a');
    }
    return NULL;
}

static inline const char *tz_life__states(const char *s, const char *end, int *states)
{
    for (*states = 0; s < end && *s >= '0' && *s <= '9' && *states <= 256; s++)
        *states = *states * 10 + (*s - '0');
    if (s < end)
        return "behind the two lists stands a number of states";
    return *states < 2 || *states > 256 ? "the number of states is 2 to 256" : NULL;
}

/* "MAP" and base 64, whose first bit is that of the square without living cells. */
static inline const char *tz_life__map(const char *s, tz_life_rule *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t known[] = {86, 22, 6};
    const int masks[] = {0x1ff, 0x1bb, 0x0ba};
    const char *slash = NULL;
    size_t length = strlen(s), text;
    int kind, square, k;
    /* '/' is a digit, too: the states are behind the one that leaves a length that is known. */
    for (kind = 0; kind < 3; kind++) {
        text = known[kind];
        if (length < text)
            continue;
        slash = s + text + (strncmp(s + text, "==", 2) == 0 ? 2 : 0);
        if (*slash == '\0' || *slash == '/')
            break;
    }
    if (kind == 3)
        return "a MAP has 86 digits of base 64, or 22 or 6 of a grid with fewer neighbours";
    for (text = 0; text < known[kind]; text++)
        if (!strchr(digits, s[text]))
            return "a digit of the MAP is not of base 64";
    for (square = 0; square < 512; square++) {
        int index = 0;
        for (k = 8; k >= 0; k--)
            if (masks[kind] >> k & 1)
                index = 2 * index + (square >> k & 1);
        if ((strchr(digits, s[index / 6]) - digits) >> (5 - index % 6) & 1)
            out->map[square >> 5] |= UINT32_C(1) << (square & 31);
    }
    return *slash ? tz_life__states(slash + 1, slash + strlen(slash), &out->states) : NULL;
}

/* Lists; the rule is in small letters. */
static inline const char *tz_life__lists(char *rule, tz_life_rule *out)
{
    const int commas = strchr(rule, ',') != NULL;
    const size_t length = strlen(rule);
    const char end = (char)(length ? rule[length - 1] : 0);
    const int mask = end == 'h' ? 0x1bb : end == 'v' ? 0x0ba : 0x1ff;
    tz_life__parts parts;
    const char *wrong;
    int k;
    if (mask != 0x1ff)
        rule[length - 1] = '\0';
    wrong = tz_life__split(rule, &parts);
    for (k = 0; k < parts.count && !wrong; k++)
        wrong = parts.letter[k] == 'c'
                    ? tz_life__states(parts.from[k], parts.to[k], &out->states)
                    : tz_life__squares(parts.from[k], parts.to[k], parts.letter[k] == 's', mask,
                                       commas, out->map);
    return wrong;
}

/* What a text is that is no rule of lists; NULL: it is one. */
static inline const char *tz_life__other(const char *rule)
{
    const int is_letter = rule[0] == 'b' || rule[0] == 's';
    const int is_strange = rule[strspn(rule, "0123456789bscgaeiknjqrytwzhv/_-,")] != '\0';
    if (rule[0] == 'r' && rule[1] >= '0' && rule[1] <= '9')
        return "it is a Larger-than-Life rule: a tz.stencil sums cells up to 8 away "
               "(docs/life.md), "
               "and tz.read { rule = \"none\" } reads them";
    if (rule[0] == 'w' && rule[1] >= '0' && rule[1] <= '9')
        return "it is one of Wolfram's rules in one dimension: write it as a tz.stencil in 1-D";
    if (!strchr("0123456789/_", rule[is_letter]) &&
        (is_strange || !is_letter || !strchr("bs", rule[1])))
        return "a name that is not known; tables of Golly (.rule files) are not read: tz.read "
               "{ rule = \"none\" } reads the cells, and a tz.stencil computes them (docs/life.md)";
    return is_strange ? "a letter in it is not known" : NULL;
}

/* Read a rule on the 8 neighbours. Returns 0, or -1 with one line in `message`, whose size may be
 * 0; *out is then unchanged. */
static inline int tz_life_rule_read(const char *text, tz_life_rule *out, char *message, size_t size)
{
    char rule[256];
    const char *p = text + strspn(text, " \t\r\n"), *wrong;
    size_t length = strlen(p), used = 0, i;
    int n;
    tz_life_rule made = {{0}, 2, 1, 0, 0}, counted;
    while (length && strchr(" \t\r\n", p[length - 1]))
        length--;
    if (length == 0 || length >= sizeof rule)
        return tz_life__fail(message, size, text, length ? "too long" : "empty");
    for (i = 0; i < length; i++)
        rule[i] = (char)(p[i] >= 'a' && p[i] <= 'z' ? p[i] - 'a' + 'A' : p[i]);
    rule[length] = '\0';
    if (tz_life__named(rule, &made)) {
        tz_life__fill(&made);
    } else {
        const int is_map = strncmp(rule, "MAP", 3) == 0;
        for (i = 0; i < length; i++)
            if (p[i] != ' ')
                rule[used++] = (char)(!is_map && p[i] >= 'A' && p[i] <= 'Z' ? p[i] + 32 : p[i]);
        rule[used] = '\0';
        wrong = is_map ? tz_life__map(rule + 3, &made) : tz_life__other(rule);
        if (!wrong && !is_map)
            wrong = tz_life__lists(rule, &made);
        if (wrong)
            return tz_life__fail(message, size, text, wrong);
    }
    made.birth = made.survive = 0;
    for (n = 0; n < 512; n++) { /* the numbers that any square lives with, then: do all? */
        if (made.map[n >> 5] >> (n & 31) & 1)
            *(n >> 4 & 1 ? &made.survive : &made.birth) |= UINT32_C(1) << tz_life__count(n & 0x1ef);
    }
    counted = made;
    tz_life__fill(&counted);
    made.counts = memcmp(counted.map, made.map, sizeof made.map) == 0;
    *out = made;
    return 0;
}

#endif
