/* Life patterns, two states, in the run-length form of Golly and LifeWiki (.rle).
 *
 *     #N Glider
 *     x = 3, y = 3, rule = B3/S23
 *     bob$2bo$3o!
 *
 * Plain text of LifeWiki (.cells): lines that begin with '!' are comments; each other line is a row
 * of '.' (dead) and 'O' or '*' (alive). Rows may be shorter than the longest.
 *
 * Macrocells of Golly (.mc): "[M2]", lines that begin with '#' ("#R B3/S23" is the rule), then a
 * node of a quadtree on each line, the last of which is the whole. A node is 8 x 8 cells as text,
 * or "k nw ne sw se": a square of 2^k cells an axis, of four nodes by their line, 0 for an empty
 * one. The pattern is the smallest rectangle that holds all living cells.
 *
 * Errors: TZ_IO, TZ_MEMORY; TZ_FORMAT (no header, unknown letter, run too long, '!' missing),
 * TZ_RANGE (a run leaves the declared x, y; pattern above 2^30 cells), TZ_UNKNOWN and
 * TZ_UNSUPPORTED (rule). Place: FILE:LINE. */
#include "output/format/format.h"

#include "base/file.h"
#include "base/minmax.h"
#include "base/number.h"
#include "trapeze/liferule.h"

#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

enum {
    LINE_COLUMNS = 70,
    CELLS_MAX = 1 << 30,
    FILE_MAX = 1 << 30,
    LINES_FILE_MAX = 1 << 28,
    NEIGHBOURS = 8,
    NODES_MAX = 1 << 24,
    LEAF = 8,
    LEAF_LEVEL = 3,
    LEVEL_MAX = 60
};

static bool is_digit(const char *p, const char *end)
{
    return p < end && *p >= '0' && *p <= '9';
}

/* Read digits: a number that is above `most` stays above it. False: there are none. */
static bool take_number(const char **p, const char *end, int64_t most, int64_t *out)
{
    const char *first = *p;
    for (*out = 0; is_digit(*p, end); ++*p)
        *out = *out > most ? *out : *out * 10 + (**p - '0');
    return *p > first;
}

/* ":T64,32": `text` begins behind the colon and may end in white space. */
static tz_status parse_universe(const char *text, const char *place, tz_rle_rule *out,
                                tz_error *error)
{
    int64_t size[2] = {0, 0};
    const char *p = text[0] != '\0' ? text + 1 : text, *end = text + strlen(text);
    const char kind = (char)(text[0] & ~32);
    take_number(&p, end, CELLS_MAX, &size[0]);
    size[1] = size[0];
    if (p[0] == ',' && is_digit(p + 1, end)) {
        p++;
        take_number(&p, end, CELLS_MAX, &size[1]);
    }
    if ((kind != 'T' && kind != 'P') || size[0] < 1 || size[1] < 1 || size[0] > CELLS_MAX ||
        size[1] > CELLS_MAX || p[strspn(p, " \t\r\n")] != '\0')
        return tz_error_set(error, TZ_UNSUPPORTED, place,
                            "the universe ':%.40s' is not known: a torus is ':T64,32', a plane "
                            "with dead cells around it ':P64,32' (width, height)",
                            text);
    out->universe = kind;
    out->width = size[0];
    out->height = size[1];
    return TZ_OK;
}

tz_status tz_rle_rule_parse(const char *text, const char *place, tz_rle_rule *out, tz_error *error)
{
    char rule[128], message[256];
    const char *colon = strchr(text, ':');
    const size_t length = colon ? (size_t)(colon - text) : strlen(text);
    *out = (tz_rle_rule){0};
    snprintf(rule, sizeof rule, "%.*s", (int)(length < sizeof rule ? length : sizeof rule), text);
    if (length >= sizeof rule || tz_life_rule_parse(rule, NEIGHBOURS, &out->birth, &out->survive,
                                                    message, sizeof message) != 0)
        return tz_error_set(error, TZ_UNKNOWN, place, "%s",
                            length >= sizeof rule ? "the rule is too long" : message);
    return colon ? parse_universe(colon + 1, place, out, error) : TZ_OK;
}

const char *tz_rle_rule_format(const tz_rle_rule *rule, char text[TZ_RLE_RULE_SIZE])
{
    tz_life_rule_format(rule->birth, rule->survive, text, TZ_RLE_RULE_SIZE);
    const size_t used = strlen(text);
    if (rule->universe)
        snprintf(text + used, TZ_RLE_RULE_SIZE - used, ":%c%" PRId64 ",%" PRId64, rule->universe,
                 rule->width, rule->height);
    return text;
}

/* A file, and the pattern that is in it. */
typedef struct reader {
    const char *path;
    const char *p, *end; /* what is not read yet */
    int line;
    const char *at; /* of files that are read by lines: the present one, without its end */
    size_t length;
    int64_t nx, ny;
    tz_array *cells;             /* owned; uint8, shape {nx, ny}, 0 or 1, row 0 on top */
    char rule[TZ_RLE_RULE_SIZE]; /* as the file has it */
    int rule_line;               /* 0: there is none */
    tz_error *error;
} reader;

static tz_status __attribute__((format(printf, 3, 4)))
fail(const reader *r, tz_status code, const char *format, ...)
{
    char place[512];
    va_list arguments;
    snprintf(place, sizeof place, "%s:%d", r->path, r->line);
    va_start(arguments, format);
    tz_error_set_v(r->error, code, place, format, arguments);
    va_end(arguments);
    return code;
}

/* Read the file, and give what `read` finds in it. */
static tz_status read_file(const char *path, size_t limit, tz_status (*read)(reader *r),
                           tz_format_reading *to, tz_error *error)
{
    char *text = NULL, place[512];
    size_t bytes = 0;
    tz_rle_rule rule;
    tz_status status = tz_file_read_text(path, limit, &text, &bytes, error);
    if (status != TZ_OK)
        return status;
    reader r = {.path = path, .p = text, .end = text + bytes, .rule = "B3/S23", .error = error};
    status = read(&r);
    free(text);
    snprintf(place, sizeof place, "%s:%d", path, r.rule_line);
    if (status == TZ_OK)
        status = tz_rle_rule_parse(r.rule, place, &rule, error);
    if (status != TZ_OK) {
        tz_array_destroy(r.cells);
        return status;
    }
    to->array = r.cells;
    tz_rle_rule_format(&rule, to->rule);
    to->has_rule = r.rule_line > 0;
    return TZ_OK;
}

/* The cells, all dead. */
static tz_status make_cells(reader *r)
{
    if (r->nx == 0 || r->ny == 0)
        return fail(r, TZ_SHAPE, "the pattern has no cells");
    if (r->nx > CELLS_MAX / r->ny)
        return fail(r, TZ_RANGE, "%" PRId64 " x %" PRId64 " cells are more than 2^30", r->nx,
                    r->ny);
    const int64_t shape[] = {r->nx, r->ny};
    return tz_array_create(&r->cells, TZ_DTYPE_U8, 2, shape, r->error);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blank(reader *r)
{
    while (r->p < r->end && is_blank(*r->p))
        r->p++;
}

static const char *line_end(const reader *r)
{
    const char *newline = memchr(r->p, '\n', (size_t)(r->end - r->p));
    return newline ? newline : r->end;
}

/* Keep a rule without the white space around it. */
static void copy_rule(reader *r, const char *from, const char *end)
{
    while (from < end && is_blank(*from))
        from++;
    while (end > from && is_blank(end[-1]))
        end--;
    snprintf(r->rule, sizeof r->rule, "%.*s", (int)tz_min(end - from, TZ_RLE_RULE_SIZE), from);
    r->rule_line = r->line;
}

/* Comment lines before the header; "#r" is a rule, which Golly takes if the header
 * has none. */
static void read_comments(reader *r)
{
    for (;;) {
        skip_blank(r);
        if (r->p == r->end || (*r->p != '#' && *r->p != '\n'))
            return;
        const char *end = line_end(r);
        if (end - r->p > 3 && r->p[1] == 'r' && is_blank(r->p[2]))
            copy_rule(r, r->p + 2, end);
        r->p = end < r->end ? end + 1 : end;
        r->line++;
    }
}

/* Read a character, in any case, and the blanks around it. */
static bool take(reader *r, char c)
{
    skip_blank(r);
    if (r->p == r->end || (*r->p | 32) != (c | 32))
        return false;
    r->p++;
    skip_blank(r);
    return true;
}

/* Read "x = 36". */
static tz_status read_extent(reader *r, char name, int64_t *extent)
{
    if (!take(r, name) || !take(r, '=') || !take_number(&r->p, r->end, CELLS_MAX, extent))
        return fail(r, TZ_FORMAT, "the header must read 'x = 36, y = 9, rule = B3/S23'");
    if (*extent > CELLS_MAX)
        return fail(r, TZ_RANGE, "%c is above 2^30", name);
    if (*extent == 0)
        return fail(r, TZ_SHAPE, "%c must be 1 or more: the pattern has no cells", name);
    return TZ_OK;
}

/* "x = 3, y = 3, rule = B3/S23" */
static tz_status read_header(reader *r)
{
    read_comments(r);
    tz_status status = read_extent(r, 'x', &r->nx);
    if (status != TZ_OK)
        return status;
    if (!take(r, ','))
        return fail(r, TZ_FORMAT, "',' is expected after x");
    status = read_extent(r, 'y', &r->ny);
    if (status != TZ_OK)
        return status;
    if (take(r, ',')) {
        const char *end = line_end(r), *equals = memchr(r->p, '=', (size_t)(end - r->p));
        if (!equals || equals - r->p < 4 || strncasecmp(r->p, "rule", 4) != 0)
            return fail(r, TZ_FORMAT, "'rule = ...' is expected after the second comma");
        if (memchr(equals, '\0', (size_t)(end - equals)))
            return fail(r, TZ_FORMAT, "the rule holds a zero byte");
        copy_rule(r, equals + 1, end);
        r->p = end;
    }
    skip_blank(r);
    if (r->p < r->end && *r->p != '\n')
        return fail(r, TZ_FORMAT, "something follows the header on its line");
    return make_cells(r);
}

/* The runs up to '!'. */
static tz_status read_runs(reader *r)
{
    const int64_t nx = r->nx, ny = r->ny;
    uint8_t *cells = r->cells->data;
    int64_t x = 0, y = 0, run = -1; /* run < 0: none given, so 1 */
    for (; r->p < r->end; r->p++) {
        const char c = *r->p;
        if (c == '\n') {
            r->line++;
        } else if (is_blank(c)) {
            continue;
        } else if (c == '#') { /* Golly puts comments between lines, too */
            r->p = line_end(r) - 1;
        } else if (c >= '0' && c <= '9') {
            run = (run < 0 ? 0 : run) * 10 + (c - '0');
            if (run > CELLS_MAX)
                return fail(r, TZ_FORMAT, "a run count is above 2^30");
        } else if (c == '!') {
            return run < 0 ? TZ_OK : fail(r, TZ_FORMAT, "a run count stands before '!'");
        } else if (c == '$') {
            y += run < 0 ? 1 : run;
            x = 0;
            run = -1;
        } else if (c == 'b' || c == 'B' || c == '.' || c == 'o' || c == 'O') {
            const int64_t n = run < 0 ? 1 : run;
            if (y >= ny && n)
                return fail(r, TZ_RANGE, "row %" PRId64 " is outside the declared y = %" PRId64,
                            y + 1, ny);
            if (n > nx - x)
                return fail(r, TZ_RANGE,
                            "row %" PRId64 " reaches column %" PRId64
                            ", outside the declared x = %" PRId64,
                            y + 1, x + n, nx);
            if ((c | 32) == 'o')
                memset(cells + y * nx + x, 1, (size_t)n);
            x += n;
            run = -1;
        } else {
            char quoted[16];
            return fail(r, TZ_FORMAT, "unknown state letter %s; only b, o, ., $ and ! are read",
                        tz_token_quote(quoted, sizeof quoted, &c, 1));
        }
    }
    return fail(r, TZ_FORMAT, "the '!' that ends the pattern is missing; the file may be cut off");
}

/* Letters: 'b' and '.' dead, 'o' alive, '$' end of row, '!' end. Text after '!' is ignored. */
static tz_status read_pattern(reader *r)
{
    r->line = 1;
    const tz_status status = read_header(r);
    return status == TZ_OK ? read_runs(r) : status;
}

static tz_status read_rle(const char *path, tz_format_reading *reading, tz_error *error)
{
    return read_file(path, FILE_MAX, read_pattern, reading, error);
}

/* ---- Writing --------------------------------------------------------------------------------- */

typedef struct encoder {
    FILE *stream;
    int64_t nx;
    int64_t x, y; /* of the next cell */
    int64_t rows; /* row ends to write before the next living cell; none after the last one */
    int64_t dead; /* dead cells to write before it */
    int64_t run;  /* equal cells up to here */
    bool alive;   /* what they are */
    int column;   /* of the line of text, which breaks between runs */
} encoder;

static void put_run(encoder *w, int64_t count, char letter)
{
    char text[32];
    if (count == 0)
        return;
    const int length = count > 1 ? snprintf(text, sizeof text, "%" PRId64 "%c", count, letter)
                                 : snprintf(text, sizeof text, "%c", letter);
    if (w->column + length > LINE_COLUMNS) {
        fputc('\n', w->stream);
        w->column = 0;
    }
    fputs(text, w->stream);
    w->column += length;
}

static void end_run(encoder *w)
{
    if (w->run > 0 && w->alive) {
        put_run(w, w->rows, '$');
        put_run(w, w->dead, 'b');
        put_run(w, w->run, 'o');
        w->rows = w->dead = 0;
    } else {
        w->dead = w->run;
    }
    w->run = 0;
}

static void put_cell(encoder *w, bool alive)
{
    if (w->run > 0 && alive != w->alive)
        end_run(w);
    w->alive = alive;
    w->run++;
    if (++w->x < w->nx)
        return;
    end_run(w);
    w->x = w->dead = 0;
    w->y++;
    w->rows++;
}

static tz_status encode(void *state, FILE *stream, const char *path, const tz_array *cells,
                        tz_error *error)
{
    encoder *w = state;
    const int64_t count = tz_shape_count(cells->dims, cells->shape);
    w->stream = stream;
    for (int64_t i = 0; i < count; i++) {
        const double value = tz_array_get(cells, i);
        if (tz_dtype_fault(TZ_DTYPE_BOOL, value))
            return tz_error_set(error, TZ_RANGE, path,
                                "cell (%" PRId64 ", %" PRId64 ") is %g; a cell of a .rle pattern "
                                "is 0 or 1: use .npy",
                                w->x, w->y, value);
        put_cell(w, value != 0.0);
    }
    return TZ_OK;
}

static void finish(void *state, FILE *stream)
{
    encoder *w = state;
    w->stream = stream;
    put_run(w, 1, '!');
    fputc('\n', stream);
}

/* Lines of at most 70 columns; without a rule B3/S23. */
static tz_status begin(tz_grid_file **out, const char *path, const tz_grid *grid, tz_error *error)
{
    static const tz_grid_encoder form = {encode, finish};
    tz_rle_rule parsed;
    char text[TZ_RLE_RULE_SIZE];
    *out = NULL;
    if (grid->dims > 2)
        return tz_error_set(error, TZ_SHAPE, path, "a .rle pattern has 2 dimensions, not %d",
                            grid->dims);
    tz_status status = tz_rle_rule_parse(grid->rule ? grid->rule : "B3/S23", path, &parsed, error);
    if (status != TZ_OK)
        return status;
    encoder *w = calloc(1, sizeof *w);
    if (!w)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory to write the pattern");
    status = tz__grid_file_open(out, path, grid, error);
    if (status != TZ_OK) {
        free(w);
        return status;
    }
    (*out)->encoder = &form;
    (*out)->state = w;
    w->nx = grid->shape[0];
    FILE *stream = tz__grid_file_stream(*out);
    for (const char *p = grid->comment; p && *p;) {
        const size_t length = strcspn(p, "\n");
        fprintf(stream, "#C %.*s\n", (int)length, p);
        p += length + (p[length] == '\n');
    }
    fprintf(stream, "x = %" PRId64 ", y = %" PRId64 ", rule = %s\n", grid->shape[0], grid->shape[1],
            tz_rle_rule_format(&parsed, text));
    return TZ_OK;
}

static tz_status fits(const tz_grid *grid, tz_error *error)
{
    const tz_dtype dtype = grid->fields[0].dtype;
    tz_rle_rule rule;
    if (grid->dims == 3)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "RLE holds 1-D and 2-D patterns; use tz.npy");
    if (dtype == TZ_DTYPE_F32 || dtype == TZ_DTYPE_F64)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "RLE holds cells that are dead or alive, and '%s' is real; use tz.npy",
                            grid->fields[0].name);
    return grid->rule ? tz_rle_rule_parse(grid->rule, NULL, &rule, error) : TZ_OK;
}

const tz_format tz_format_rle = {
    .name = "rle",
    .content = TZ_CONTENT_ARRAY,
    .suffix = ".rle",
    .doc = "A 1-D or 2-D field of bits or integers as a Life pattern, with its rule.",
    .fits = fits,
    .begin = begin,
    .read_doc = "a Life pattern",
    .reads = TZ_READS_RULE,
    .read = read_rle,
};

/* ---- Other forms, of lines ------------------------------------------------------------------- */

/* Take the next line, without blanks at its end. */
static bool next_line(reader *r)
{
    if (r->p == r->end)
        return false;
    const char *end = line_end(r);
    r->at = r->p;
    r->p = end < r->end ? end + 1 : end;
    while (end > r->at && is_blank(end[-1]))
        end--;
    r->length = (size_t)(end - r->at);
    r->line++;
    return true;
}

static bool begins(const reader *r, const char *word)
{
    return r->length >= strlen(word) && strncasecmp(r->at, word, strlen(word)) == 0;
}

static tz_status unknown_cell(const reader *r, const char *at, const char *known)
{
    char quoted[16];
    return fail(r, TZ_FORMAT, "unknown cell %s; only %s are read",
                tz_token_quote(quoted, sizeof quoted, at, 1), known);
}

/* ---- Plain text ------------------------------------------------------------------------------ */

static tz_status read_cells(reader *r)
{
    reader counted = *r;
    while (next_line(&counted)) {
        if (counted.length > 0 && counted.at[0] == '!')
            continue;
        for (size_t i = 0; i < counted.length; i++)
            if (!memchr(".O*", counted.at[i], 3))
                return unknown_cell(&counted, counted.at + i, "., O and *");
        counted.ny++;
        counted.nx = tz_max((int64_t)counted.length, counted.nx);
    }
    const tz_status status = make_cells(&counted);
    r->cells = counted.cells;
    for (int64_t y = 0; status == TZ_OK && y < counted.ny && next_line(r);) {
        uint8_t *row = (uint8_t *)r->cells->data + y * counted.nx;
        if (r->length > 0 && r->at[0] == '!')
            continue;
        for (size_t i = 0; i < r->length; i++)
            row[i] = r->at[i] != '.';
        y++;
    }
    return status;
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
    *all = all->x_end == 0 ? moved
                           : (box){tz_min(all->x, moved.x), tz_max(all->x_end, moved.x_end),
                                   tz_min(all->y, moved.y), tz_max(all->y_end, moved.y_end)};
}

static tz_status read_leaf(const reader *r, node *n)
{
    int x = 0, y = 0;
    n->level = LEAF_LEVEL;
    for (size_t i = 0; i < r->length; i++) {
        const char c = r->at[i];
        if (c == '$') {
            x = 0;
            y++;
            continue;
        }
        if (c != '.' && c != '*')
            return unknown_cell(r, r->at + i, "., * and $");
        if (x >= LEAF || y >= LEAF)
            return fail(r, TZ_RANGE, "a leaf has 8 x 8 cells, and this one has more");
        if (c == '*') {
            n->rows[y] |= (uint8_t)(1u << x);
            extend(&n->living, &(box){x, x + 1, y, y + 1}, 0, 0);
        }
        x++;
    }
    return TZ_OK;
}

static tz_status read_branch(const reader *r, const tree *t, node *n)
{
    const char *p = r->at, *end = r->at + r->length;
    int64_t number[5];
    for (int k = 0; k < 5; k++)
        if (!take_number(&p, end, UINT32_MAX, &number[k]) ||
            (k < 4 ? p == end || *p++ != ' ' : p != end))
            return fail(r, TZ_FORMAT, "a node reads 'level nw ne sw se', five numbers");
    if (number[0] >= 1 && number[0] <= LEAF_LEVEL)
        return fail(r, TZ_UNSUPPORTED,
                    "a node of level %d has cells of more than two states, which are not read",
                    (int)number[0]);
    if (number[0] <= LEAF_LEVEL || number[0] > LEVEL_MAX)
        return fail(r, TZ_RANGE, "levels are 4 to %d", LEVEL_MAX);
    n->level = (int)number[0];
    const int64_t half = INT64_C(1) << (n->level - 1);
    for (int k = 0; k < 4; k++) {
        const int64_t child = number[k + 1];
        if (child > (int64_t)t->count)
            return fail(r, TZ_FORMAT, "node %" PRId64 " has not been defined before", child);
        if (child == 0)
            continue;
        if (t->nodes[child].level != n->level - 1)
            return fail(r, TZ_FORMAT, "node %" PRId64 " has level %d, and %d is needed", child,
                        t->nodes[child].level, n->level - 1);
        n->child[k] = (uint32_t)child;
        extend(&n->living, &t->nodes[child].living, k % 2 * half, k / 2 * half);
    }
    return TZ_OK;
}

static tz_status read_node(const reader *r, tree *t)
{
    if (t->count == NODES_MAX)
        return fail(r, TZ_RANGE, "more than %d nodes", NODES_MAX);
    if (t->count + 2 > t->room) {
        const size_t room = t->room ? 2 * t->room : 1024;
        node *more = realloc(t->nodes, room * sizeof *more);
        if (!more)
            return fail(r, TZ_MEMORY, "not enough memory for the pattern's nodes");
        t->nodes = more;
        t->room = room;
    }
    node *n = &t->nodes[t->count + 1];
    *n = (node){0};
    const bool is_leaf = memchr(".*$", r->at[0], 3) != NULL;
    const tz_status status = is_leaf ? read_leaf(r, n) : read_branch(r, t, n);
    t->count += status == TZ_OK;
    return status;
}

/* Sets the living cells of a node whose corner is at (x, y) of the pattern. */
static void paint(const tree *t, uint32_t index, int64_t x, int64_t y, const reader *r)
{
    const node *n = &t->nodes[index];
    if (index == 0 || n->living.x_end == 0)
        return;
    if (n->level > LEAF_LEVEL) {
        const int64_t half = INT64_C(1) << (n->level - 1);
        for (int k = 0; k < 4; k++)
            paint(t, n->child[k], x + k % 2 * half, y + k / 2 * half, r);
        return;
    }
    for (int64_t j = n->living.y; j < n->living.y_end; j++)
        for (int64_t i = n->living.x; i < n->living.x_end; i++)
            if (n->rows[j] >> i & 1)
                ((uint8_t *)r->cells->data)[(y + j) * r->nx + x + i] = 1;
}

static tz_status read_nodes(reader *r, tree *t)
{
    tz_status status = TZ_OK;
    if (!next_line(r) || !begins(r, "[M2]"))
        return fail(r, TZ_FORMAT, "a macrocell file begins with [M2]");
    while (status == TZ_OK && next_line(r)) {
        if (r->length > 0 && r->at[0] != '#')
            status = read_node(r, t);
        else if (begins(r, "#R"))
            copy_rule(r, r->at + 2, r->at + r->length);
    }
    return status == TZ_OK && t->count == 0 ? fail(r, TZ_SHAPE, "the pattern has no cells")
                                            : status;
}

static tz_status read_macrocell(reader *r)
{
    tree t = {0};
    tz_status status = read_nodes(r, &t);
    if (status == TZ_OK) {
        const box *all = &t.nodes[t.count].living;
        r->nx = all->x_end - all->x;
        r->ny = all->y_end - all->y;
        status = make_cells(r);
        if (status == TZ_OK)
            paint(&t, (uint32_t)t.count, -all->x, -all->y, r);
    }
    free(t.nodes);
    return status;
}

/* ---- The formats ----------------------------------------------------------------------------- */

static tz_status cells_read(const char *path, tz_format_reading *reading, tz_error *error)
{
    return read_file(path, LINES_FILE_MAX, read_cells, reading, error);
}

const tz_format tz_format_cells = {.name = "cells",
                                   .suffix = ".cells",
                                   .read_doc = "a Life pattern as plain text",
                                   .reads = TZ_READS_RULE,
                                   .read = cells_read};

static tz_status macrocell_read(const char *path, tz_format_reading *reading, tz_error *error)
{
    return read_file(path, LINES_FILE_MAX, read_macrocell, reading, error);
}

const tz_format tz_format_macrocell = {
    .name = "macrocell",
    .suffix = ".mc",
    .read_doc = "a macrocell of Golly: the smallest rectangle with all living cells",
    .reads = TZ_READS_RULE,
    .read = macrocell_read};
