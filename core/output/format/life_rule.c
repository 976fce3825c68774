/* Reads and writes rules of patterns: that of a cell, and behind a colon the universe. */
#include "output/format/life_rule.h"

#include "base/minmax.h"
#include "base/number.h"
#include "trapeze/types.h"

#include <ctype.h>
#include <inttypes.h>
#include <strings.h>

enum {
    SIZE_MAX_CELLS = 1 << 30,
    UNIVERSE_MAX = 40,
    LIST_SIZE = 200,
    LARGER_SIZE = 3 * LIST_SIZE + 200
};

static int64_t common_divisor(int64_t a, int64_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* "64*+7": a number of cells, and how the sides of the other axis meet. False: it is none. */
static bool take_size(const char **p, const char *end, int axis, int64_t *size, tz_rle_rule *out,
                      int *reversed)
{
    int64_t shift = 0;
    if (!tz_digits_take(p, end, SIZE_MAX_CELLS, size) || *size > SIZE_MAX_CELLS)
        return false;
    if (**p == '*') {
        ++*p;
        ++*reversed;
        out->axis = axis;
    }
    if (**p != '+' && **p != '-')
        return true;
    const int sign = *(*p)++ == '+' ? 1 : -1;
    if (!tz_digits_take(p, end, SIZE_MAX_CELLS, &shift) || shift > SIZE_MAX_CELLS || *size == 0 ||
        (*reversed > 0 && out->axis != axis) || out->shift != 0)
        return false;
    out->shift = sign * (shift % *size);
    out->axis = shift > 0 ? axis : out->axis;
    return true;
}

/* ":T64,32": `text` begins behind the colon and may end in white space. */
static tz_status parse_universe(const char *text, const char *place, tz_rle_rule *out,
                                tz_error *error)
{
    int64_t size[2] = {0, 0};
    int reversed = 0;
    const char *p = text[0] != '\0' ? text + 1 : text, *end = text + strlen(text);
    const char kind = (char)toupper((unsigned char)text[0]);
    bool fine = take_size(&p, end, 0, &size[0], out, &reversed);
    size[1] = size[0];
    if (fine && *p == ',') {
        p++;
        fine = take_size(&p, end, 1, &size[1], out, &reversed);
    }
    const bool joined = reversed > 0 || out->shift != 0 || kind == 'K';
    if (!fine || !strchr("TPKCS", kind) || end - text > UNIVERSE_MAX || reversed > 1 ||
        (joined && (size[0] == 0 || size[1] == 0 || !strchr("TK", kind))) ||
        (reversed > 0 && kind == 'T') || p[strspn(p, " \t\r\n")] != '\0')
        return tz_error_set(error, TZ_UNSUPPORTED, place,
                            "the universe ':%.40s' is not known: a torus is ':T64,32', a plane "
                            "with dead cells around it ':P64,32' (width, height; 0: endless)",
                            text);
    if (kind == 'C' || kind == 'S')
        return tz_error_set(error, TZ_UNSUPPORTED, place,
                            "the universe ':%.40s' is a %s, which Trapeze has not: it has tori, "
                            "':T64,32', also with a shift, Klein bottles, and planes, ':P64,32'",
                            text, kind == 'C' ? "cross-surface" : "sphere");
    if (kind == 'K') { /* as Golly has them */
        out->axis = reversed ? out->axis : 1;
        out->shift = out->shift != 0 && size[out->axis] % 2 == 0;
        out->copies = 2;
    } else if (out->shift != 0) {
        const int64_t length = size[out->axis];
        out->copies = length / common_divisor(length, (out->shift + length) % length);
    }
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

/* "34-45,50" or "34..45": a formula on the number n of neighbours. False: it is no list. */
static bool take_ranges(const char **p, char formula[LIST_SIZE])
{
    const char *end = *p + strlen(*p);
    for (size_t used = 0; isdigit((unsigned char)**p); *p += **p == ',') {
        int64_t low, high;
        tz_digits_take(p, end, INT32_MAX, &low);
        high = low;
        const int dots = **p == '-' ? 1 : strncmp(*p, "..", 2) == 0 ? 2 : 0;
        *p += dots;
        if (dots > 0 && !tz_digits_take(p, end, INT32_MAX, &high))
            return false;
        used +=
            (size_t)snprintf(formula + used, LIST_SIZE - used,
                             "%sn >= %" PRId64 " and n <= %" PRId64, used ? " or " : "", low, high);
        if (used >= LIST_SIZE)
            return false;
    }
    return formula[0] != '\0';
}

/* "R5,C2,S33-57,B34-45", Larger than Life: the stencil that computes it. False: a rule of another
 * kind, or one of these that no such stencil does. */
static bool write_larger(const char *rule, char text[LARGER_SIZE])
{
    char lists[2][LIST_SIZE] = {"", ""};
    const char *p = rule + 1, *end = rule + strlen(rule);
    int64_t radius = 0, states = 2, middle = 0;
    bool fine = toupper((unsigned char)rule[0]) == 'R' &&
                tz_digits_take(&p, end, TZ_RADIUS_MAX, &radius) && radius > 0 &&
                radius <= TZ_RADIUS_MAX;
    while (fine && *p) {
        p += *p == ',';
        const char letter = (char)toupper((unsigned char)*p++);
        fine = letter == 'C'                    ? tz_digits_take(&p, end, 2, &states) && states <= 2
               : letter == 'M'                  ? tz_digits_take(&p, end, 1, &middle) && middle <= 1
               : letter == 'N'                  ? toupper((unsigned char)*p++) == 'M' && p == end
               : letter == 'S' || letter == 'B' ? take_ranges(&p, lists[letter == 'B'])
                                                : false;
    }
    if (!fine || !lists[0][0] || !lists[1][0])
        return false;
    const int r = (int)radius;
    snprintf(text, LARGER_SIZE,
             "%.60s is a Larger-than-Life rule, which a stencil computes: plugin = tz.stencil { "
             "name = \"larger\", dims = 2, fields = { alive = \"bits\" }, let = { n = "
             "\"sum(i,-%d,%d, sum(j,-%d,%d, alive[i,j]))%s\" }, update = \"alive and (%s) or not "
             "alive and (%s)\" }; tz.read { rule = \"none\" } reads the cells",
             rule, r, r, r, r, middle ? "" : " - alive", lists[0], lists[1]);
    return true;
}

tz_status tz_rle_rule_parse(const char *text, const char *place, tz_rle_rule *out, tz_error *error)
{
    char rule[TZ_RLE_RULE_SIZE], message[256], larger[LARGER_SIZE];
    const char *colon = strchr(text, ':');
    const size_t whole = rule_length(text), length = without_marks(text, whole);
    *out = (tz_rle_rule){.marks = length < whole, .copies = 1};
    snprintf(rule, sizeof rule, "%.*s", (int)tz_min(length, sizeof rule - 1), text);
    if (tz_life_rule_read(rule, &out->life, message, sizeof message) != 0)
        return tz_error_set(error, TZ_UNKNOWN, place, "%s",
                            write_larger(rule, larger) ? larger : message);
    if (!out->life.counts)
        copy_places(rule, out->text);
    else if (out->life.states > 2)
        format_generations(&out->life, out->text);
    else
        tz_life_rule_format(out->life.birth, out->life.survive, out->text, sizeof out->text);
    return colon ? parse_universe(colon + 1, place, out, error) : TZ_OK;
}

bool tz_rle_rule_is_symmetric(const tz_rle_rule *rule, int axis)
{
    const uint32_t *map = rule->life.map;
    for (unsigned n = 0; n < 512; n++) { /* nine bits, row by row */
        const unsigned other = axis == 0 ? (n & 0444) >> 2 | (n & 0111) << 2 | (n & 0222)
                                         : (n & 0700) >> 6 | (n & 0007) << 6 | (n & 0070);
        if ((map[n >> 5] >> (n & 31) & 1) != (map[other >> 5] >> (other & 31) & 1))
            return false;
    }
    return true;
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
