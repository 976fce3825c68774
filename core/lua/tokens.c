/* A small tokenizer of Lua. plot.c looks with it for plot and can_plot before a script runs. */
#include "lua/tokens.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

typedef struct token {
    char kind;         /* 'n': a name; 's': a string; else the character itself; 0: the end */
    const char *start; /* of a string: without its quotes */
    size_t length;
    int line;
} token;

typedef struct reader {
    const char *at, *end;
    int line;
} reader;

static bool is_name(const token *t, const char *name)
{
    return t->kind == 'n' && strlen(name) == t->length && memcmp(t->start, name, t->length) == 0;
}

static bool is_part_of_name(char c)
{
    return c == '_' || isalnum((unsigned char)c);
}

static char peek(const reader *r, size_t ahead)
{
    return ahead < (size_t)(r->end - r->at) ? r->at[ahead] : '\0';
}

static void skip(reader *r, size_t count)
{
    for (; count > 0 && r->at < r->end; count--)
        r->line += *r->at++ == '\n';
}

/* The level of a long bracket "[==[" that begins here; -1: none. */
static int long_level(const reader *r)
{
    size_t level = 0;
    if (peek(r, 0) != '[')
        return -1;
    while (peek(r, 1 + level) == '=')
        level++;
    return peek(r, 1 + level) == '[' ? (int)level : -1;
}

/* Reads over a long bracket. */
static token take_long(reader *r, size_t level)
{
    skip(r, level + 2);
    token t = {.kind = 's', .start = r->at, .line = r->line};
    for (; r->at < r->end; skip(r, 1)) {
        size_t same = 0;
        while (peek(r, 0) == ']' && same < level && peek(r, 1 + same) == '=')
            same++;
        if (peek(r, 0) == ']' && same == level && peek(r, 1 + level) == ']')
            break;
    }
    t.length = (size_t)(r->at - t.start);
    skip(r, level + 2);
    return t;
}

static token take_quoted(reader *r)
{
    const char quote = *r->at;
    skip(r, 1);
    token t = {.kind = 's', .start = r->at, .line = r->line};
    while (r->at < r->end && *r->at != quote && *r->at != '\n')
        skip(r, *r->at == '\\' ? 2 : 1);
    t.length = (size_t)(r->at - t.start);
    skip(r, 1);
    return t;
}

static void skip_space(reader *r)
{
    for (;;) {
        while (r->at < r->end && isspace((unsigned char)*r->at))
            skip(r, 1);
        if (peek(r, 0) != '-' || peek(r, 1) != '-')
            return;
        skip(r, 2);
        const int level = long_level(r);
        if (level >= 0)
            take_long(r, (size_t)level);
        else
            while (r->at < r->end && *r->at != '\n')
                skip(r, 1);
    }
}

static token next(reader *r)
{
    skip_space(r);
    if (r->at >= r->end)
        return (token){.kind = 0, .line = r->line};
    if (*r->at == '"' || *r->at == '\'')
        return take_quoted(r);
    const int level = long_level(r);
    if (level >= 0)
        return take_long(r, (size_t)level);
    token t = {.kind = *r->at, .start = r->at, .length = 1, .line = r->line};
    if (is_part_of_name(*r->at)) {
        t.kind = 'n';
        while (is_part_of_name(peek(r, t.length)))
            t.length++;
    }
    skip(r, t.length);
    return t;
}

int tz_tokens_find(const char *text, size_t bytes, const char *function)
{
    enum { BEFORE = 7 };
    reader r = {.at = text, .end = text + bytes, .line = 1};
    token last[BEFORE] = {{0}}, module = {0}; /* last[0]: the token before */
    for (token t = next(&r); t.kind; t = next(&r)) {
        const token *call = last[0].kind == '(' ? last + 1 : last; /* require("trapeze") */
        if (t.kind == 's' && t.length == 7 && memcmp(t.start, "trapeze", 7) == 0 &&
            is_name(call, "require") && call[1].kind == '=')
            module = call[2].kind == '>' ? call[5] : call[2]; /* NAME <const> = */
        if (is_name(&t, function) && last[0].kind == '.' && last[1].kind == 'n' &&
            module.kind == 'n' && last[1].length == module.length &&
            memcmp(last[1].start, module.start, module.length) == 0)
            return t.line;
        memmove(last + 1, last, (BEFORE - 1) * sizeof *last);
        last[0] = t;
    }
    return 0;
}
