/* What slabs that are computed at once read, and the operations in the text of a cell update.
 * Called by work.c and the families. */
#include "backend/cpu/rows.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

uint32_t tz_rows_read(const tz_footprint *found, int dims, int field, int slabs, int slab, int row)
{
    uint32_t cells = 0;
    for (int s = slab - slabs + 1; s <= slab; s++)
        if (s >= 0 && s < TZ_FOOTPRINT_REACH && dims == 3)
            cells |= found->row[field][s][row];
        else if (s >= 0 && s < TZ_FOOTPRINT_REACH && row == 0)
            cells |= found->row[field][TZ_RADIUS_MAX][s];
    return cells;
}

/* The end of the brackets that begin at or after `at`. */
static const char *skip_brackets(const char *at, char open, char close)
{
    int depth = 0;
    for (; *at; at++) {
        depth += (*at == open) - (*at == close);
        if (*at == close && depth == 0)
            return at + 1;
    }
    return at;
}

/* The braces of the cell update; NULL: the text has none, for instance since a macro makes it. */
static const char *find_body(const tz_pass *pass)
{
    const char *at = pass->text;
    const size_t length = strlen(pass->text_cell);
    while (at && (at = strstr(at, "TZ_CELL"))) {
        at += strcspn(at, "(\n");
        if (*at == '(' && strncmp(at + 1, pass->text_cell, length) == 0 &&
            (at[1 + length] == ')' || at[1 + length] == ',')) {
            at = skip_brackets(at, '(', ')');
            at += strspn(at, " \t\n\\");
            return *at == '{' ? at : NULL;
        }
    }
    return NULL;
}

/* A name in a text: its operations are added; returns the text after it. */
static const char *count_name(const char *at, tz_operations *sum)
{
    enum { ELEMENTARY = 20 }; /* instructions of an exponential, a sine, ... */
    static const char *const none[] = {"AT", "K", "R", "PUT", "X", "Y", "Z", "STEP", "UNROLL"};
    static const char *const long_ones[] = {"EXP", "LOG", "SIN", "COS", "TANH", "POW"};
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_')
        length++;
    const char *end = at + length;
    if (strncmp(at, "TZ_", 3) != 0)
        return end;
    at += 3, length -= 3;
#define IS(name) (strlen(name) == length && strncmp(at, name, length) == 0)
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (IS(none[i])) /* of these two the signs of offsets are no operations */
            return i < 2 ? skip_brackets(end, '(', ')') : end;
    for (size_t i = 0; i < sizeof long_ones / sizeof *long_ones; i++)
        if (IS(long_ones[i])) {
            sum->plain += ELEMENTARY;
            return end;
        }
    *(IS("SQRT") ? &sum->special : &sum->plain) += 1;
#undef IS
    return end;
}

tz_operations tz_operations_count(const tz_pass *pass)
{
    tz_operations sum = {0};
    const char *at = pass->text ? find_body(pass) : NULL;
    const char *const end = at ? skip_brackets(at, '{', '}') : NULL;
    bool after_operand = false; /* an operator here has two operands */
    while (at && at < end) {
        const char c = *at;
        if (isalpha((unsigned char)c) || c == '_') {
            at = count_name(at, &sum);
            after_operand = true;
        } else if (isdigit((unsigned char)c)) {
            char *rest;
            strtod(at, &rest);
            at = rest;
            after_operand = true;
        } else if (c == '/' && at[1] == '*') {
            at = strstr(at, "*/");
            at = at ? at + 2 : end;
        } else {
            if (after_operand && strchr("+-*&|^%", c))
                sum.plain++;
            if (after_operand && c == '/')
                sum.special++;
            if (!isspace((unsigned char)c))
                after_operand = c == ')' || c == ']' || c == '.';
            at++;
        }
    }
    return sum;
}
