/* Life patterns as plain text (.cells) and as macrocells (.mc), for reading. */
#include "output/format/rle.h"

#include "base/file.h"
#include "base/number.h"
#include "output/format/format.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    FILE_MAX = 1 << 28,
    CELLS_MAX = 1 << 30,
    NODES_MAX = 1 << 24,
    LEAF = 8,
    LEAF_LEVEL = 3,
    LEVEL_MAX = 60
};

/* A file of lines. */
typedef struct lines {
    const char *path;
    const char *next, *end;
    const char *at; /* of the present line */
    size_t length;  /* of it, without its end */
    int number;     /* of it */
    tz_error *error;
} lines;

static bool next_line(lines *l)
{
    if (l->next == l->end)
        return false;
    const char *newline = memchr(l->next, '\n', (size_t)(l->end - l->next));
    const char *end = newline ? newline : l->end;
    l->at = l->next;
    l->next = newline ? newline + 1 : l->end;
    while (end > l->at && (end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t'))
        end--;
    l->length = (size_t)(end - l->at);
    l->number++;
    return true;
}

/* The text behind a word that the line begins with, in a text that ends; NULL: it does not. */
static const char *behind(const lines *l, const char *word, char *text, size_t size)
{
    const size_t length = strlen(word);
    if (l->length < length || strncasecmp(l->at, word, length) != 0)
        return NULL;
    const char *from = l->at + length, *end = l->at + l->length;
    while (from < end && (*from == ' ' || *from == '\t'))
        from++;
    snprintf(text, size, "%.*s", (int)(end - from < 4096 ? end - from : 4096), from);
    return text;
}

static tz_status make_cells(const lines *l, tz_life_pattern *out)
{
    if (out->nx == 0 || out->ny == 0)
        return tz_error_set_line(l->error, TZ_SHAPE, l->path, l->number,
                                 "the pattern has no cells");
    if (out->nx > CELLS_MAX / out->ny)
        return tz_error_set_line(l->error, TZ_RANGE, l->path, l->number,
                                 "%" PRId64 " x %" PRId64 " cells are more than 2^30", out->nx,
                                 out->ny);
    const int64_t shape[] = {out->nx, out->ny};
    return tz_array_create(&out->cells, TZ_DTYPE_U8, 2, shape, l->error);
}

static tz_status unknown_cell(const lines *l, const char *at, const char *known)
{
    char quoted[16];
    return tz_error_set_line(l->error, TZ_FORMAT, l->path, l->number,
                             "unknown cell %s; only %s are read",
                             tz_token_quote(quoted, sizeof quoted, at, 1), known);
}

typedef tz_status read_fn(lines *l, tz_life_pattern *out);

static tz_status read_file(const char *path, read_fn *read, tz_life_pattern *out, tz_error *error)
{
    char *text = NULL;
    size_t bytes = 0;
    memset(out, 0, sizeof *out);
    tz_status status = tz_file_read_text(path, FILE_MAX, &text, &bytes, error);
    if (status != TZ_OK)
        return status;
    lines l = {.path = path, .next = text, .end = text + bytes, .error = error};
    snprintf(out->rule, sizeof out->rule, "B3/S23");
    status = read(&l, out);
    free(text);
    if (status != TZ_OK)
        tz_life_pattern_clear(out);
    return status;
}

/* ---- Plain text ------------------------------------------------------------------------------ */

static tz_status read_cells(lines *l, tz_life_pattern *out)
{
    const lines begin = *l;
    while (next_line(l)) {
        if (l->length > 0 && l->at[0] == '!') {
            if (out->name[0] == '\0' && out->ny == 0)
                behind(l, "!Name:", out->name, sizeof out->name);
            continue;
        }
        for (size_t i = 0; i < l->length; i++)
            if (!memchr(".O*", l->at[i], 3))
                return unknown_cell(l, l->at + i, "., O and *");
        out->ny++;
        out->nx = (int64_t)l->length > out->nx ? (int64_t)l->length : out->nx;
    }
    const tz_status status = make_cells(l, out);
    *l = begin;
    for (int64_t y = 0; status == TZ_OK && y < out->ny && next_line(l);) {
        uint8_t *row = (uint8_t *)out->cells->data + y * out->nx;
        if (l->length > 0 && l->at[0] == '!')
            continue;
        for (size_t i = 0; i < l->length; i++)
            row[i] = l->at[i] != '.';
        y++;
    }
    return status;
}

tz_status tz_cells_read(const char *path, tz_life_pattern *out, tz_error *error)
{
    return read_file(path, read_cells, out, error);
}

/* ---- Macrocells ------------------------------------------------------------------------------ */

/* Cells [x, x_end) x [y, y_end); empty if x_end is 0. */
typedef struct box {
    int64_t x, x_end, y, y_end;
} box;

typedef struct node {
    int level;
    uint32_t child[4];  /* nw, ne, sw, se, from LEAF_LEVEL + 1 on */
    uint8_t rows[LEAF]; /* of a leaf: bit x */
    box living;         /* the smallest that holds all living cells, from the node's corner */
} node;

typedef struct tree {
    node *nodes; /* from 1 on; owned */
    size_t count, room;
} tree;

static void extend(box *all, const box *part, int64_t x, int64_t y)
{
    if (part->x_end == 0)
        return;
    const box moved = {part->x + x, part->x_end + x, part->y + y, part->y_end + y};
    if (all->x_end == 0) {
        *all = moved;
        return;
    }
    all->x = moved.x < all->x ? moved.x : all->x;
    all->y = moved.y < all->y ? moved.y : all->y;
    all->x_end = moved.x_end > all->x_end ? moved.x_end : all->x_end;
    all->y_end = moved.y_end > all->y_end ? moved.y_end : all->y_end;
}

static tz_status read_leaf(const lines *l, node *n)
{
    int x = 0, y = 0;
    n->level = LEAF_LEVEL;
    for (size_t i = 0; i < l->length; i++) {
        const char c = l->at[i];
        if (c == '$') {
            x = 0;
            y++;
            continue;
        }
        if (c != '.' && c != '*')
            return unknown_cell(l, l->at + i, "., * and $");
        if (x >= LEAF || y >= LEAF)
            return tz_error_set_line(l->error, TZ_RANGE, l->path, l->number,
                                     "a leaf has 8 x 8 cells, and this one has more");
        if (c == '*') {
            n->rows[y] |= (uint8_t)(1u << x);
            extend(&n->living, &(box){x, x + 1, y, y + 1}, 0, 0);
        }
        x++;
    }
    return TZ_OK;
}

static tz_status read_branch(const lines *l, const tree *t, node *n)
{
    const char *p = l->at, *end = l->at + l->length;
    uint64_t number[5];
    for (int k = 0; k < 5; k++) {
        const char *first = p;
        for (number[k] = 0; p < end && *p >= '0' && *p <= '9' && number[k] < UINT32_MAX; p++)
            number[k] = number[k] * 10 + (uint64_t)(*p - '0');
        if (p == first || (k < 4 ? p == end || *p++ != ' ' : p != end))
            return tz_error_set_line(l->error, TZ_FORMAT, l->path, l->number,
                                     "a node reads 'level nw ne sw se', five numbers");
    }
    if (number[0] >= 1 && number[0] <= LEAF_LEVEL)
        return tz_error_set_line(
            l->error, TZ_UNSUPPORTED, l->path, l->number,
            "a node of level %d has cells of more than two states, which are not read",
            (int)number[0]);
    if (number[0] <= LEAF_LEVEL || number[0] > LEVEL_MAX)
        return tz_error_set_line(l->error, TZ_RANGE, l->path, l->number, "levels are 4 to %d",
                                 LEVEL_MAX);
    n->level = (int)number[0];
    const int64_t half = INT64_C(1) << (n->level - 1);
    for (int k = 0; k < 4; k++) {
        const uint64_t child = number[k + 1];
        if (child > t->count)
            return tz_error_set_line(l->error, TZ_FORMAT, l->path, l->number,
                                     "node %" PRIu64 " has not been defined before", child);
        if (child == 0)
            continue;
        if (t->nodes[child].level != n->level - 1)
            return tz_error_set_line(l->error, TZ_FORMAT, l->path, l->number,
                                     "node %" PRIu64 " has level %d, and %d is needed", child,
                                     t->nodes[child].level, n->level - 1);
        n->child[k] = (uint32_t)child;
        extend(&n->living, &t->nodes[child].living, k % 2 * half, k / 2 * half);
    }
    return TZ_OK;
}

static tz_status read_node(const lines *l, tree *t)
{
    if (t->count == NODES_MAX)
        return tz_error_set_line(l->error, TZ_RANGE, l->path, l->number, "more than %d nodes",
                                 NODES_MAX);
    if (t->count + 2 > t->room) {
        const size_t room = t->room ? 2 * t->room : 1024;
        node *more = realloc(t->nodes, room * sizeof *more);
        if (!more)
            return tz_error_set_line(l->error, TZ_MEMORY, l->path, l->number,
                                     "not enough memory for the pattern's nodes");
        t->nodes = more;
        t->room = room;
    }
    node *n = &t->nodes[t->count + 1];
    *n = (node){0};
    const bool is_leaf = memchr(".*$", l->at[0], 3) != NULL;
    const tz_status status = is_leaf ? read_leaf(l, n) : read_branch(l, t, n);
    t->count += status == TZ_OK;
    return status;
}

/* Sets the living cells of a node whose corner is at (x, y) of the pattern. */
static void paint(const tree *t, uint32_t index, int64_t x, int64_t y, const tz_life_pattern *out)
{
    const node *n = &t->nodes[index];
    if (index == 0 || n->living.x_end == 0)
        return;
    if (n->level > LEAF_LEVEL) {
        const int64_t half = INT64_C(1) << (n->level - 1);
        for (int k = 0; k < 4; k++)
            paint(t, n->child[k], x + k % 2 * half, y + k / 2 * half, out);
        return;
    }
    for (int64_t j = n->living.y; j < n->living.y_end; j++)
        for (int64_t i = n->living.x; i < n->living.x_end; i++)
            if (n->rows[j] >> i & 1)
                ((uint8_t *)out->cells->data)[(y + j) * out->nx + x + i] = 1;
}

static tz_status read_rule(const lines *l, const char *text, tz_life_pattern *out)
{
    char place[512];
    tz_rle_rule rule;
    snprintf(place, sizeof place, "%s:%d", l->path, l->number);
    const tz_status status = tz_rle_rule_parse(text, place, &rule, l->error);
    if (status == TZ_OK)
        tz_rle_rule_format(&rule, out->rule);
    out->has_rule = true;
    return status;
}

static tz_status read_nodes(lines *l, tree *t, tz_life_pattern *out)
{
    char text[256];
    tz_status status = TZ_OK;
    if (!next_line(l) || !behind(l, "[M2]", text, sizeof text))
        return tz_error_set_line(l->error, TZ_FORMAT, l->path, l->number,
                                 "a macrocell file begins with [M2]");
    while (status == TZ_OK && next_line(l)) {
        if (l->length == 0)
            continue;
        if (l->at[0] != '#')
            status = read_node(l, t);
        else if (behind(l, "#R", text, sizeof text))
            status = read_rule(l, text, out);
        else
            behind(l, "#N", out->name, sizeof out->name);
    }
    if (status == TZ_OK && t->count == 0)
        status =
            tz_error_set_line(l->error, TZ_SHAPE, l->path, l->number, "the pattern has no cells");
    return status;
}

static tz_status read_macrocell(lines *l, tz_life_pattern *out)
{
    tree t = {0};
    tz_status status = read_nodes(l, &t, out);
    if (status == TZ_OK) {
        const box *all = &t.nodes[t.count].living;
        out->nx = all->x_end - all->x;
        out->ny = all->y_end - all->y;
        status = make_cells(l, out);
        if (status == TZ_OK)
            paint(&t, (uint32_t)t.count, -all->x, -all->y, out);
    }
    free(t.nodes);
    return status;
}

tz_status tz_macrocell_read(const char *path, tz_life_pattern *out, tz_error *error)
{
    return read_file(path, read_macrocell, out, error);
}
/* ---- The formats ------------------------------------------------------------------------------ */

static tz_status cells_read(const char *path, tz_format_reading *reading, tz_error *error)
{
    return tz__pattern_read(tz_cells_read, path, reading, error);
}

const tz_format tz_format_cells = {.name = "cells",
                                   .suffix = ".cells",
                                   .read_doc = "a Life pattern as plain text",
                                   .reads = TZ_READS_RULE,
                                   .read = cells_read};

static tz_status macrocell_read(const char *path, tz_format_reading *reading, tz_error *error)
{
    return tz__pattern_read(tz_macrocell_read, path, reading, error);
}

const tz_format tz_format_macrocell = {
    .name = "macrocell",
    .suffix = ".mc",
    .read_doc = "a macrocell of Golly: the smallest rectangle with all living cells",
    .reads = TZ_READS_RULE,
    .read = macrocell_read};
