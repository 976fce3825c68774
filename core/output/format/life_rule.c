/* Reads and writes rules of patterns: that of a cell, and behind a colon the universe. */
#include "output/format/life_rule.h"

#include "base/minmax.h"
#include "base/number.h"

#include <ctype.h>
#include <inttypes.h>
#include <strings.h>

enum { SIZE_MAX_CELLS = 1 << 30, UNIVERSE_MAX = 40 };

/* What a universe is, by its letter; NULL: none. */
static const char *universe_kind(char letter, bool shifts)
{
    return letter == 'T'   ? (shifts ? "a torus whose sides are joined with a shift" : "a torus")
           : letter == 'P' ? "a plane"
           : letter == 'K' ? "a Klein bottle"
           : letter == 'C' ? "a cross-surface"
           : letter == 'S' ? "a sphere"
                           : NULL;
}

/* ":T64,32": `text` begins behind the colon and may end in white space. */
static tz_status parse_universe(const char *text, const char *place, tz_rle_rule *out,
                                tz_error *error)
{
    int64_t size[2] = {0, 0}, shift = 0;
    bool shifts = false, twists = false, fine = true;
    const char *p = text[0] != '\0' ? text + 1 : text, *end = text + strlen(text);
    const char kind = (char)toupper((unsigned char)text[0]);
    for (int axis = 0; axis < 2; axis++) {
        fine = fine && tz_digits_take(&p, end, SIZE_MAX_CELLS, &size[axis]) &&
               size[axis] <= SIZE_MAX_CELLS;
        twists = twists || *p == '*';
        p += *p == '*';
        if (*p == '+' || *p == '-') {
            p++;
            fine = fine && tz_digits_take(&p, end, SIZE_MAX_CELLS, &shift);
            shifts = shifts || shift != 0;
        }
        if (axis == 0 && *p != ',') {
            size[1] = size[0];
            break;
        }
        p += axis == 0;
    }
    const char *what = universe_kind(kind, shifts);
    if (!fine || !what || end - text > UNIVERSE_MAX || p[strspn(p, " \t\r\n")] != '\0')
        return tz_error_set(error, TZ_UNSUPPORTED, place,
                            "the universe ':%.40s' is not known: a torus is ':T64,32', a plane "
                            "with dead cells around it ':P64,32' (width, height; 0: endless)",
                            text);
    if (shifts || twists || (kind != 'T' && kind != 'P'))
        return tz_error_set(error, TZ_UNSUPPORTED, place,
                            "the universe ':%.40s' is %s, which Trapeze has not: it has a torus, "
                            "':T64,32', and a plane, ':P64,32'",
                            text, what);
    out->universe = size[0] > 0 || size[1] > 0 ? kind : 0;
    out->width = size[0];
    out->height = size[1];
    return TZ_OK;
}

/* Without "History" or "Super" at the end of a rule of `length` letters: its length. */
static size_t without_marks(const char *rule, size_t length)
{
    static const char *const marks[] = {"History", "Super"};
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
        const size_t size = strlen(marks[k]);
        if (length > size && strncasecmp(rule + length - size, marks[k], size) == 0)
            return length - size;
    }
    return length;
}

static size_t rule_length(const char *text)
{
    size_t length = strcspn(text, ":");
    while (length > 0 && strchr(" \t\r\n", text[length - 1]))
        length--;
    return length;
}

bool tz_rle_rule_has_marks(const char *text)
{
    const size_t length = rule_length(text);
    return without_marks(text, length) < length;
}

/* A rule of places: without blanks, B and S in capitals. */
static void copy_places(const char *from, char text[TZ_RLE_RULE_SIZE])
{
    size_t used = 0;
    const bool is_map = strncasecmp(from + strspn(from, " \t"), "MAP", 3) == 0;
    for (; *from; from++)
        if (!strchr(" \t\r\n", *from))
            text[used++] = is_map                      ? *from
                           : *from == '_'              ? '/'
                           : strchr("bshvBSHV", *from) ? (char)toupper((unsigned char)*from)
                                                       : (char)tolower((unsigned char)*from);
    text[used] = '\0';
}

/* "345/2/4", as Golly writes rules of more than two states. */
static void format_generations(const tz_life_rule *rule, char text[TZ_RLE_RULE_SIZE])
{
    size_t used = 0;
    for (int k = 0; k < 2; k++) {
        for (int n = 0; n <= 8; n++)
            if ((k == 0 ? rule->survive : rule->birth) >> n & 1)
                text[used++] = (char)('0' + n);
        text[used++] = '/';
    }
    snprintf(text + used, TZ_RLE_RULE_SIZE - used, "%d", rule->states);
}

tz_status tz_rle_rule_parse(const char *text, const char *place, tz_rle_rule *out, tz_error *error)
{
    char rule[TZ_RLE_RULE_SIZE], message[256];
    const char *colon = strchr(text, ':');
    const size_t whole = rule_length(text), length = without_marks(text, whole);
    *out = (tz_rle_rule){.marks = length < whole};
    snprintf(rule, sizeof rule, "%.*s", (int)tz_min(length, sizeof rule - 1), text);
    if (tz_life_rule_read(rule, &out->life, message, sizeof message) != 0)
        return tz_error_set(error, TZ_UNKNOWN, place, "%s", message);
    if (!out->life.counts)
        copy_places(rule, out->text);
    else if (out->life.states > 2)
        format_generations(&out->life, out->text);
    else
        tz_life_rule_format(out->life.birth, out->life.survive, out->text, sizeof out->text);
    return colon ? parse_universe(colon + 1, place, out, error) : TZ_OK;
}

bool tz_rle_rule_is_same(const tz_rle_rule *a, const tz_rle_rule *b)
{
    return a->life.states == b->life.states &&
           memcmp(a->life.map, b->life.map, sizeof a->life.map) == 0;
}

const char *tz_rle_rule_format(const tz_rle_rule *rule, char text[TZ_RLE_RULE_SIZE])
{
    snprintf(text, TZ_RLE_RULE_SIZE, "%s", rule->text);
    const size_t used = strlen(text);
    if (rule->universe)
        snprintf(text + used, TZ_RLE_RULE_SIZE - used, ":%c%" PRId64 ",%" PRId64, rule->universe,
                 rule->width, rule->height);
    return text;
}
