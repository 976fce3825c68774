/* The words and the grammar of formulas: a text becomes a tree. Called by build.c and scalar.c. */
#include "define/syntax.h"
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

typedef enum token_kind {
    TOKEN_END,
    TOKEN_NUMBER,
    TOKEN_NAME,
    TOKEN_OPERATOR, /* joins two operands */
    TOKEN_NOT,
    TOKEN_SIGN /* one of ^ ~ ( ) [ ] , ? : */
} token_kind;

typedef struct token {
    token_kind kind;
    tz_operator op;
    char sign;
    int at, length;
    double number;
    bool integer;
} token;

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

/* A whole number of up to 32 bits, as 0x7f or 0xffffffff, which is -1. */
static tz_status read_hex(const tz_formula *formula, int at, token *out)
{
    static const char known[] = "0123456789abcdef";
    uint64_t number = 0;
    int end = at + 2;
    for (char c; (c = byte_at(formula, end)); end++) {
        const char *digit = strchr(known, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
        if (!digit)
            break;
        number = number <= UINT32_MAX ? 16 * number + (uint64_t)(digit - known) : number;
    }
    if (end == at + 2 || is_letter(byte_at(formula, end)) || byte_at(formula, end) == '.')
        return tz_formula_fail(formula, TZ_FORMAT, end,
                               "after 0x come digits 0 to 9 and a to f, as in 0xff");
    if (number > UINT32_MAX)
        return tz_formula_fail(formula, TZ_RANGE, at,
                               "this number has more than 32 bits: the largest is 0xffffffff, "
                               "which is -1");
    out->kind = TOKEN_NUMBER;
    out->length = end - at;
    out->number = (int32_t)(uint32_t)number;
    out->integer = true;
    return TZ_OK;
}

static tz_status read_number(const tz_formula *formula, int at, token *out)
{
    const char second = byte_at(formula, at + 1);
    if (byte_at(formula, at) == '0' && (second == 'x' || second == 'X'))
        return read_hex(formula, at, out);
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
    out->kind = TOKEN_NUMBER;
    out->length = end - at;
    out->number = strtod(text, NULL);
    out->integer = integer;
    if (!isfinite(out->number))
        return tz_formula_fail(formula, TZ_RANGE, at,
                               "this number is too large: the largest is about 1.8e308");
    if (integer && out->number > INT_MAX)
        return tz_formula_fail(formula, TZ_RANGE, at,
                               "whole numbers end at %d: write %.60s.0 for a real number", INT_MAX,
                               text);
    return TZ_OK;
}

static void read_name(const tz_formula *formula, int at, token *out)
{
    int end = at;
    while (is_letter(byte_at(formula, end)) || is_digit(byte_at(formula, end)))
        end++;
    const char *name = formula->text.text + at;
    out->kind = TOKEN_NAME;
    out->length = end - at;
    if (out->length == 3 && memcmp(name, "and", 3) == 0) {
        out->kind = TOKEN_OPERATOR;
        out->op = TZ_OP_AND;
    } else if (out->length == 2 && memcmp(name, "or", 2) == 0) {
        out->kind = TOKEN_OPERATOR;
        out->op = TZ_OP_OR;
    } else if (out->length == 3 && memcmp(name, "not", 3) == 0) {
        out->kind = TOKEN_NOT;
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
    {">>>", TZ_OP_RIGHT_ZEROS, NULL},
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
    {"−", TZ_OP_NONE, "-, the sign of keyboards"},
    {"×", TZ_OP_NONE, "*"},
    {"·", TZ_OP_NONE, "*"},
    {"÷", TZ_OP_NONE, "/"},
    {"²", TZ_OP_NONE, "^2"},
    {"³", TZ_OP_NONE, "^3"},
    {"≤", TZ_OP_NONE, "<="},
    {"≥", TZ_OP_NONE, ">="},
    {"≠", TZ_OP_NONE, "!="},
    {"π", TZ_OP_NONE, "pi"},
    {"∇", TZ_OP_NONE, "dx(u), lap(u) or div(k, u)"},
    {"∂", TZ_OP_NONE, "dx(u), dxx(u) or dxy(u)"},
    {"Δ", TZ_OP_NONE, "lap(u), or a parameter such as dt for a step"},
    {"'", TZ_OP_NONE, "dx(u) for a derivative"},
};

static tz_status read_sign(const tz_formula *formula, int at, token *out)
{
    const char c = byte_at(formula, at);
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        const spelling *s = &spellings[i];
        bool is = true;
        for (int k = 0; s->text[k]; k++)
            is = is && s->text[k] == byte_at(formula, at + k);
        if (!is)
            continue;
        if (s->instead)
            return tz_formula_fail(formula, TZ_FORMAT, at, "'%s' is not known here: write %s",
                                   s->text, s->instead);
        out->kind = TOKEN_OPERATOR;
        out->op = s->op;
        out->length = (int)strlen(s->text);
        return TZ_OK;
    }
    out->kind = TOKEN_SIGN;
    out->sign = c;
    out->length = 1;
    if (c && strchr("^~()[],?:", c))
        return TZ_OK;
    if ((unsigned char)c < ' ' || (unsigned char)c > 126)
        return tz_formula_fail(formula, TZ_FORMAT, at,
                               "the byte 0x%02x cannot be in a formula: remove it",
                               (unsigned char)c);
    return tz_formula_fail(formula, TZ_FORMAT, at, "'%c' cannot be in a formula: remove it%s", c,
                           c == '.' ? ", and what is left of it: sin(u), for example" : "");
}

/* Read the word at or after byte `at`. A '~' is a TOKEN_SIGN. Errors: TZ_FORMAT, TZ_RANGE. */
static tz_status read_token(const tz_formula *formula, int at, token *out)
{
    const int end = (int)formula->text.length;
    while (at < end && formula->text.text[at] && strchr(" \t\r\n", formula->text.text[at]))
        at++;
    *out = (token){.kind = TOKEN_END, .at = at};
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

/* ---- Syntax ---------------------------------------------------------------------------------- */

tz_level tz_operator_level(tz_operator op)
{
    static const tz_level levels[] = {
        [TZ_OP_OR] = TZ_LEVEL_OR,
        [TZ_OP_AND] = TZ_LEVEL_AND,
        [TZ_OP_EQUAL] = TZ_LEVEL_COMPARE,
        [TZ_OP_NOT_EQUAL] = TZ_LEVEL_COMPARE,
        [TZ_OP_LESS] = TZ_LEVEL_COMPARE,
        [TZ_OP_LESS_EQUAL] = TZ_LEVEL_COMPARE,
        [TZ_OP_GREATER] = TZ_LEVEL_COMPARE,
        [TZ_OP_GREATER_EQUAL] = TZ_LEVEL_COMPARE,
        [TZ_OP_BITS_OR] = TZ_LEVEL_BITS_OR,
        [TZ_OP_BITS_XOR] = TZ_LEVEL_BITS_XOR,
        [TZ_OP_BITS_AND] = TZ_LEVEL_BITS_AND,
        [TZ_OP_LEFT] = TZ_LEVEL_SHIFT,
        [TZ_OP_RIGHT] = TZ_LEVEL_SHIFT,
        [TZ_OP_RIGHT_ZEROS] = TZ_LEVEL_SHIFT,
        [TZ_OP_PLUS] = TZ_LEVEL_SUM,
        [TZ_OP_MINUS] = TZ_LEVEL_SUM,
        [TZ_OP_TIMES] = TZ_LEVEL_PRODUCT,
        [TZ_OP_OVER] = TZ_LEVEL_PRODUCT,
        [TZ_OP_FLOOR_OVER] = TZ_LEVEL_PRODUCT,
        [TZ_OP_MODULO] = TZ_LEVEL_PRODUCT,
    };
    return levels[op];
}

const char *tz_operator_text(tz_operator op)
{
    static const char texts[][4] = {
        [TZ_OP_OR] = "or",         [TZ_OP_AND] = "and",          [TZ_OP_EQUAL] = "==",
        [TZ_OP_NOT_EQUAL] = "!=",  [TZ_OP_LESS] = "<",           [TZ_OP_LESS_EQUAL] = "<=",
        [TZ_OP_GREATER] = ">",     [TZ_OP_GREATER_EQUAL] = ">=", [TZ_OP_BITS_OR] = "|",
        [TZ_OP_BITS_XOR] = "~",    [TZ_OP_BITS_AND] = "&",       [TZ_OP_LEFT] = "<<",
        [TZ_OP_RIGHT] = ">>",      [TZ_OP_RIGHT_ZEROS] = ">>>",  [TZ_OP_PLUS] = "+",
        [TZ_OP_MINUS] = "-",       [TZ_OP_TIMES] = "*",          [TZ_OP_OVER] = "/",
        [TZ_OP_FLOOR_OVER] = "//", [TZ_OP_MODULO] = "%",
    };
    return texts[op];
}

const char *tz_syntax_name(const tz_syntax *syntax, const tz_syntax_node *node, char *name,
                           size_t size)
{
    snprintf(name, size, "%.*s", node->length, syntax->formula.text.text + node->at);
    return name;
}

/* ---- The parser: functions return a node, or -1 after a failure ------------------------------ */

typedef struct parser {
    tz_syntax *out;
    token token; /* the next one */
    int depth;
    tz_status status;
} parser;

#define FAIL(p, code, at, ...)                                                                     \
    ((p)->status = tz_formula_fail(&(p)->out->formula, code, at, __VA_ARGS__), -1)

static int add_node(parser *p, tz_syntax_kind kind, int at, int length)
{
    tz_syntax *s = p->out;
    if (s->count == s->capacity) {
        const int capacity = s->capacity ? 2 * s->capacity : 64;
        void *nodes = realloc(s->nodes, (size_t)capacity * sizeof *s->nodes);
        if (!nodes) {
            p->status = tz_error_set(s->formula.error, TZ_MEMORY, s->formula.place,
                                     "not enough memory for the formula");
            return -1;
        }
        s->nodes = nodes;
        s->capacity = capacity;
    }
    s->nodes[s->count] =
        (tz_syntax_node){.kind = kind, .at = at, .length = length, .first = -1, .next = -1};
    return s->count++;
}

/* Append a child; `last` is the one before it, or -1. */
static void add_child(parser *p, int parent, int last, int child, tz_operator op)
{
    tz_syntax_node *nodes = p->out->nodes;
    nodes[child].op = op;
    nodes[child].next = -1;
    *(last < 0 ? &nodes[parent].first : &nodes[last].next) = child;
    nodes[parent].count++;
}

static bool advance(parser *p)
{
    p->status = read_token(&p->out->formula, p->token.at + p->token.length, &p->token);
    return !p->status;
}

static bool sees(const parser *p, char sign)
{
    return p->token.kind == TOKEN_SIGN && p->token.sign == sign;
}

/* One level deeper; the caller decreases the depth again. */
static bool enter(parser *p)
{
    if (++p->depth <= TZ_FORMULA_DEPTH_MAX)
        return true;
    p->status = tz_formula_fail(
        &p->out->formula, TZ_RANGE, p->token.at,
        "more than %d levels inside each other: use several fields or fewer parentheses",
        TZ_FORMULA_DEPTH_MAX);
    return false;
}

static int parse_select(parser *p);
static int parse_level(parser *p, tz_level level);

/* A list up to `close`, whose opening sign is the next token, as children of `parent`. */
static int parse_list(parser *p, int parent, char close)
{
    const int open = p->token.at;
    int last = -1;
    do {
        if (!advance(p))
            return -1;
        if (last < 0 && sees(p, close) && close == ']')
            return FAIL(p, TZ_FORMAT, p->token.at,
                        "nothing is between the brackets: write an offset for each axis, as in "
                        "[-1, 0]");
        if (last < 0 && sees(p, close))
            break;
        const int child = parse_select(p);
        if (child < 0)
            return -1;
        add_child(p, parent, last, child, TZ_OP_NONE);
        last = child;
    } while (sees(p, ','));
    if (!sees(p, close))
        return FAIL(p, TZ_FORMAT, p->token.kind == TOKEN_END ? open : p->token.at,
                    p->token.kind == TOKEN_END ? "this '%c' is never closed: write '%c' where it "
                                                 "ends"
                                               : "after '%c' a comma or '%c' is missing here",
                    close == ']' ? '[' : '(', close);
    return advance(p) ? parent : -1;
}

static int parse_name(parser *p)
{
    const token name = p->token;
    if (!advance(p))
        return -1;
    const bool index = sees(p, '['), call = sees(p, '(');
    const tz_syntax_kind kind = index ? TZ_SYNTAX_INDEX : call ? TZ_SYNTAX_CALL : TZ_SYNTAX_NAME;
    const int node = add_node(p, kind, name.at, name.length);
    const int whole = node >= 0 && (index || call) ? parse_list(p, node, index ? ']' : ')') : node;
    if (whole >= 0 && index && sees(p, '['))
        return FAIL(p, TZ_FORMAT, p->token.at,
                    "the offsets of all axes are in one pair of brackets: write u[-1, 0]");
    return whole;
}

static int parse_primary(parser *p)
{
    const token first = p->token;
    int node;
    if (first.kind == TOKEN_NUMBER) {
        node = add_node(p, TZ_SYNTAX_NUMBER, first.at, first.length);
        if (node < 0)
            return -1;
        p->out->nodes[node].number = first.number;
        p->out->nodes[node].integer = first.integer;
        return advance(p) ? node : -1;
    }
    if (first.kind == TOKEN_NAME)
        return parse_name(p);
    if (sees(p, '(')) {
        if (!advance(p))
            return -1;
        node = parse_select(p);
        if (node < 0)
            return -1;
        if (p->token.kind == TOKEN_END)
            return FAIL(p, TZ_FORMAT, first.at,
                        "this '(' is never closed: write ')' where it ends");
        if (!sees(p, ')'))
            return FAIL(p, TZ_FORMAT, p->token.at, "an operator or ')' is missing here");
        return advance(p) ? node : -1;
    }
    if (first.kind == TOKEN_END)
        return FAIL(p, TZ_FORMAT, first.at,
                    p->out->count ? "the formula ends, and a value is missing: write it here"
                                  : "the formula is empty: write the new value of a cell");
    return FAIL(p, TZ_FORMAT, first.at,
                byte_at(&p->out->formula, first.at) == '|'
                    ? "'|' is not known here: write abs(a) for the size of a number"
                    : "a value is missing here: a number, a name or a parenthesis");
}

static int parse_unary(parser *p);

/* x^n, where n may have a sign. Powers group from the right. */
static int parse_power(parser *p)
{
    const int base = parse_primary(p);
    if (base < 0 || !sees(p, '^'))
        return base;
    const int at = p->token.at;
    if (!enter(p))
        return -1;
    const int exponent = advance(p) ? parse_unary(p) : -1;
    p->depth--;
    const int node = exponent < 0 ? -1 : add_node(p, TZ_SYNTAX_POWER, at, 1);
    if (node < 0)
        return -1;
    add_child(p, node, -1, base, TZ_OP_NONE);
    add_child(p, node, base, exponent, TZ_OP_NONE);
    return node;
}

static int parse_prefix(parser *p, tz_syntax_kind kind)
{
    const int at = p->token.at, length = p->token.length;
    if (!enter(p))
        return -1;
    int operand = -1;
    if (advance(p))
        operand = kind == TZ_SYNTAX_NOT ? parse_level(p, TZ_LEVEL_NOT) : parse_unary(p);
    p->depth--;
    const int node =
        operand < 0 || kind == TZ_SYNTAX_CHAIN ? operand : add_node(p, kind, at, length);
    if (node >= 0 && kind != TZ_SYNTAX_CHAIN)
        add_child(p, node, -1, operand, TZ_OP_NONE);
    return node;
}

static int parse_unary(parser *p)
{
    if (p->token.kind == TOKEN_OPERATOR && p->token.op == TZ_OP_MINUS)
        return parse_prefix(p, TZ_SYNTAX_NEGATIVE);
    if (p->token.kind == TOKEN_OPERATOR && p->token.op == TZ_OP_PLUS)
        return parse_prefix(p, TZ_SYNTAX_CHAIN); /* a plus sign says nothing */
    if (sees(p, '~'))
        return parse_prefix(p, TZ_SYNTAX_BITS_NOT);
    if (p->token.kind == TOKEN_NOT)
        return FAIL(p, TZ_FORMAT, p->token.at, "'not' needs parentheses here: write (not ...)");
    return parse_power(p);
}

/* The operator of this level that comes next, or TZ_OP_NONE. */
static tz_operator operator_of(const parser *p, tz_level level)
{
    if (level == TZ_LEVEL_BITS_XOR && sees(p, '~'))
        return TZ_OP_BITS_XOR;
    const bool is = p->token.kind == TOKEN_OPERATOR && tz_operator_level(p->token.op) == level;
    return is ? p->token.op : TZ_OP_NONE;
}

/* Operands of the next level, joined by operators of this one. */
static int parse_level(parser *p, tz_level level)
{
    if (level == TZ_LEVEL_NOT && p->token.kind == TOKEN_NOT)
        return parse_prefix(p, TZ_SYNTAX_NOT);
    if (level > TZ_LEVEL_PRODUCT)
        return parse_unary(p);
    int last = parse_level(p, level + 1);
    if (last < 0 || !operator_of(p, level))
        return last;
    const int chain = add_node(p, TZ_SYNTAX_CHAIN, p->token.at, p->token.length);
    if (chain < 0)
        return -1;
    add_child(p, chain, -1, last, TZ_OP_NONE);
    for (tz_operator op; (op = operator_of(p, level));) {
        const int at = p->token.at;
        if (level == TZ_LEVEL_COMPARE && p->out->nodes[chain].count == 2)
            return FAIL(p, TZ_FORMAT, at,
                        "comparisons do not chain: write a < b and b < c for a < b < c");
        const int operand = advance(p) ? parse_level(p, level + 1) : -1;
        if (operand < 0)
            return -1;
        add_child(p, chain, last, operand, op);
        last = operand;
    }
    return chain;
}

/* condition ? value : value, the weakest of all; grouped from the right. */
static int parse_select(parser *p)
{
    if (!enter(p))
        return -1;
    int node = parse_level(p, TZ_LEVEL_OR);
    if (node >= 0 && sees(p, '?')) {
        const int at = p->token.at, condition = node;
        const int yes = advance(p) ? parse_select(p) : -1;
        if (yes >= 0 && !sees(p, ':'))
            return FAIL(p, TZ_FORMAT, at, "this '?' has no ':': write condition ? value : value");
        const int no = yes >= 0 && advance(p) ? parse_select(p) : -1;
        node = no < 0 ? -1 : add_node(p, TZ_SYNTAX_SELECT, at, 1);
        if (node >= 0) {
            add_child(p, node, -1, condition, TZ_OP_NONE);
            add_child(p, node, condition, yes, TZ_OP_NONE);
            add_child(p, node, yes, no, TZ_OP_NONE);
        }
    }
    p->depth--;
    return node;
}

static int parse_all(parser *p)
{
    const tz_formula *formula = &p->out->formula;
    if (formula->text.length > TZ_FORMULA_BYTES_MAX)
        return FAIL(p, TZ_RANGE, 0,
                    "the formula has %zu bytes, at most %d are possible: use sum(), or several "
                    "passes and fields",
                    formula->text.length, TZ_FORMULA_BYTES_MAX);
    const int root = advance(p) ? parse_select(p) : -1;
    if (root < 0 || p->token.kind == TOKEN_END)
        return root;
    /* The name that comes before what is too much, or the first one. */
    const tz_syntax_node *last = &p->out->nodes[p->out->count - 1];
    const char *text = formula->text.text;
    const bool named = last->kind == TZ_SYNTAX_NAME;
    const bool is_if = named && last->length == 2 && memcmp(text + last->at, "if", 2) == 0;
    if (is_if || (p->token.kind == TOKEN_NAME && p->token.length == 2 &&
                  memcmp(text + p->token.at, "if", 2) == 0))
        return FAIL(p, TZ_FORMAT, is_if ? last->at : p->token.at,
                    "'if' is not known here: write condition ? value : value");
    if (named && (p->token.kind == TOKEN_NAME || p->token.kind == TOKEN_NUMBER))
        return FAIL(p, TZ_FORMAT, p->token.at,
                    "an operator is missing; of a function write %.*s(...)", last->length,
                    text + last->at);
    if (sees(p, ')') || sees(p, ']'))
        return FAIL(p, TZ_FORMAT, p->token.at,
                    "this '%c' closes nothing: remove it, or open it "
                    "before",
                    p->token.sign);
    return FAIL(p, TZ_FORMAT, p->token.at,
                "the formula should end here, or an operator is missing");
}

tz_status tz_syntax_parse(tz_syntax *out, const tz_formula *formula)
{
    parser p = {.out = out};
    *out = (tz_syntax){.formula = *formula};
    out->root = parse_all(&p);
    if (p.status)
        tz_syntax_clear(out);
    return p.status;
}

void tz_syntax_clear(tz_syntax *syntax)
{
    free(syntax->nodes);
    syntax->nodes = NULL;
    syntax->count = syntax->capacity = 0;
}
