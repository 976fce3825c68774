#include "define/token.h"

#include "base/text.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Messages -------------------------------------------------------------------------------- */

enum { SHOWN = 76 }; /* bytes of a formula that a message shows */

static bool continues(char c) /* a later byte of a UTF-8 character */
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* The formula around a byte as one line, and a line with a caret under it. */
static void point(const tz_formula *formula, int at, char *text, size_t size)
{
    const char *all = formula->text.text;
    const int length = (int)formula->text.length;
    if (length == 0) {
        *text = '\0';
        return;
    }
    int low = at > SHOWN / 2 ? at - SHOWN / 2 : 0;
    int high = length - low > SHOWN ? low + SHOWN : length;
    while (low > 0 && continues(all[low]))
        low--;
    while (high < length && continues(all[high]))
        high--;
    char line[SHOWN + 16];
    int columns = 0;
    for (int i = low; i < high; i++) {
        line[i - low] = (unsigned char)all[i] < ' ' || all[i] == 127 ? ' ' : all[i];
        columns += i < at && !continues(all[i]);
    }
    line[high - low] = '\0';
    tz_text_utf8(line);
    const char *before = low > 0 ? "..." : "", *after = high < length ? "..." : "";
    snprintf(text, size, "\n    %s%s%s\n    %*s^", before, line, after,
             columns + (int)strlen(before), "");
}

tz_status tz_formula_fail(const tz_formula *formula, tz_status code, int at, const char *format,
                          ...)
{
    char what[800], where[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    point(formula, at, where, sizeof where);
    return tz_error_set(formula->error, code, formula->place, "%s%s", what, where);
}

/* ---- Words ----------------------------------------------------------------------------------- */

/* Not those of <ctype.h>, which depend on the locale. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static char byte_at(const tz_formula *formula, int at)
{
    return at < (int)formula->text.length ? formula->text.text[at] : '\0';
}

static int digits(const tz_formula *formula, int at)
{
    while (is_digit(byte_at(formula, at)))
        at++;
    return at;
}

static tz_status read_number(const tz_formula *formula, int at, tz_token *out)
{
    int end = digits(formula, at);
    bool integer = true;
    if (byte_at(formula, end) == '.') {
        integer = false;
        end = digits(formula, end + 1);
    }
    const char e = byte_at(formula, end), sign = byte_at(formula, end + 1);
    const int exponent = end + (sign == '+' || sign == '-' ? 2 : 1);
    if ((e == 'e' || e == 'E') && is_digit(byte_at(formula, exponent))) {
        integer = false;
        end = digits(formula, exponent);
    }
    if (is_letter(byte_at(formula, end)))
        return tz_formula_fail(formula, TZ_FORMAT, end,
                               "a number ends here, and a name follows: write a * between them");
    if (byte_at(formula, end) == '.')
        return tz_formula_fail(formula, TZ_FORMAT, end, "a number has one point: remove this one");
    char text[128];
    if (end - at >= (int)sizeof text)
        return tz_formula_fail(formula, TZ_RANGE, at,
                               "this number has %d characters; 17 digits say all of it", end - at);
    memcpy(text, formula->text.text + at, (size_t)(end - at));
    text[end - at] = '\0';
    out->kind = TZ_TOKEN_NUMBER;
    out->length = end - at;
    out->number = strtod(text, NULL);
    out->integer = integer && out->number <= INT_MAX;
    if (!isfinite(out->number))
        return tz_formula_fail(formula, TZ_RANGE, at,
                               "this number is too large: the largest is about 1.8e308");
    return TZ_OK;
}

static void read_name(const tz_formula *formula, int at, tz_token *out)
{
    int end = at;
    while (is_letter(byte_at(formula, end)) || is_digit(byte_at(formula, end)))
        end++;
    const char *name = formula->text.text + at;
    out->kind = TZ_TOKEN_NAME;
    out->length = end - at;
    if (out->length == 3 && memcmp(name, "and", 3) == 0) {
        out->kind = TZ_TOKEN_OPERATOR;
        out->op = TZ_OP_AND;
    } else if (out->length == 2 && memcmp(name, "or", 2) == 0) {
        out->kind = TZ_TOKEN_OPERATOR;
        out->op = TZ_OP_OR;
    } else if (out->length == 3 && memcmp(name, "not", 3) == 0) {
        out->kind = TZ_TOKEN_NOT;
    }
}

typedef struct spelling {
    char text[4];
    tz_operator op; /* TZ_OP_NONE: not in the language */
    const char *instead;
} spelling;

/* Longer ones first. */
static const spelling spellings[] = {
    {"//", TZ_OP_FLOOR_OVER, NULL},
    {"<<", TZ_OP_LEFT, NULL},
    {">>", TZ_OP_RIGHT, NULL},
    {"==", TZ_OP_EQUAL, NULL},
    {"~=", TZ_OP_NOT_EQUAL, NULL},
    {"!=", TZ_OP_NOT_EQUAL, NULL},
    {"<=", TZ_OP_LESS_EQUAL, NULL},
    {">=", TZ_OP_GREATER_EQUAL, NULL},
    {"&&", TZ_OP_NONE, "and"},
    {"||", TZ_OP_NONE, "or"},
    {"**", TZ_OP_NONE, "^ for powers"},
    {"+", TZ_OP_PLUS, NULL},
    {"-", TZ_OP_MINUS, NULL},
    {"*", TZ_OP_TIMES, NULL},
    {"/", TZ_OP_OVER, NULL},
    {"%", TZ_OP_MODULO, NULL},
    {"&", TZ_OP_BITS_AND, NULL},
    {"|", TZ_OP_BITS_OR, NULL},
    {"<", TZ_OP_LESS, NULL},
    {">", TZ_OP_GREATER, NULL},
    {"!", TZ_OP_NONE, "not"},
    {"=", TZ_OP_NONE, "== to compare; the formula is only what is right of a ="},
    {";", TZ_OP_NONE, "one formula for each field"},
    {"{", TZ_OP_NONE, "( )"},
    {"}", TZ_OP_NONE, "( )"},
};

static tz_status read_sign(const tz_formula *formula, int at, tz_token *out)
{
    const char c = byte_at(formula, at), next = byte_at(formula, at + 1);
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        const spelling *s = &spellings[i];
        if (s->text[0] != c || (s->text[1] && s->text[1] != next))
            continue;
        if (s->instead)
            return tz_formula_fail(formula, TZ_FORMAT, at, "'%s' is not known here: write %s",
                                   s->text, s->instead);
        out->kind = TZ_TOKEN_OPERATOR;
        out->op = s->op;
        out->length = (int)strlen(s->text);
        return TZ_OK;
    }
    out->kind = TZ_TOKEN_SIGN;
    out->sign = c;
    out->length = 1;
    if (c && strchr("^~()[],?:", c))
        return TZ_OK;
    if ((unsigned char)c < ' ' || (unsigned char)c > 126)
        return tz_formula_fail(formula, TZ_FORMAT, at,
                               "the byte 0x%02x cannot be in a formula: remove it",
                               (unsigned char)c);
    return tz_formula_fail(formula, TZ_FORMAT, at, "'%c' cannot be in a formula: remove it", c);
}

tz_status tz_token_read(const tz_formula *formula, int at, tz_token *out)
{
    const int end = (int)formula->text.length;
    while (at < end && formula->text.text[at] && strchr(" \t\r\n", formula->text.text[at]))
        at++;
    *out = (tz_token){.kind = TZ_TOKEN_END, .at = at};
    if (at == end)
        return TZ_OK;
    const char c = byte_at(formula, at);
    if (is_digit(c) || (c == '.' && is_digit(byte_at(formula, at + 1))))
        return read_number(formula, at, out);
    if (!is_letter(c))
        return read_sign(formula, at, out);
    read_name(formula, at, out);
    return TZ_OK;
}
