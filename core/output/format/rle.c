/* Life patterns in the run-length form of Golly and LifeWiki (.rle).
 *
 *     #N Glider
 *     x = 3, y = 3, rule = B3/S23
 *     bob$2bo$3o!
 *
 * With more than two states 0 is '.', 1 to 24 are 'A' to 'X', 25 is "pA", and 240 is "xX".
 *
 * Plain text of LifeWiki (.cells): lines that begin with '!' are comments; each other line is a row
 * of '.' (dead) and 'O' or '*' (alive). Rows may be shorter than the longest.
 *
 * Macrocells of Golly (.mc): "[M2]", lines that begin with '#' ("#R B3/S23" is the rule), then a
 * node of a quadtree on each line, the last of which is the whole. A node is 8 x 8 cells as text,
 * or "k nw ne sw se": a square of 2^k cells an axis, of four nodes by their line, 0 for an empty
 * one; if k is 1, of four states.
 *
 * Life 1.05 and 1.06 (.lif): lines that begin with '#' ("#R 23/3" is the rule), then blocks "#P x
 * y" of rows of '.' and '*', or a line "x y" for each living cell. The pattern of these and of a
 * macrocell is the smallest rectangle that holds all living cells.
 *
 * Which of them a file is in, its first bytes say. States of [R]History and [R]Super, in which
 * Golly marks cells, become cells: the odd ones live.
 *
 * Errors: TZ_IO, TZ_MEMORY; TZ_FORMAT (no header, unknown letter, run too long), TZ_RANGE (a run
 * leaves the declared x, y; a state that the rule has not; pattern above 2^30 cells), TZ_UNKNOWN
 * and TZ_UNSUPPORTED (rule). Place: FILE:LINE. */
#include "output/format/format.h"

#include "base/file.h"
#include "base/minmax.h"
#include "base/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

enum {
    LINE_COLUMNS = 70,
    CELLS_MAX = 1 << 30,
    FILE_MAX = 1 << 30,
    LINES_FILE_MAX = 1 << 28,
    STATES_MAX = 256,
    LETTERS = 24,
    WALL = 6, /* of [R]History */
    NODES_MAX = 1 << 24,
    LEAF = 8,
    LEAF_LEVEL = 3,
    LEVEL_MAX = 60
};

/* A file, and the pattern that is in it. */
typedef struct reader {
    const char *path;
    const char *p, *end; /* what is not read yet */
    int line;
    const char *at; /* of files that are read by lines: the present one, without its end */
    size_t length;
    int64_t nx, ny;
    tz_array *cells;             /* owned; uint8, shape {nx, ny}, states, row 0 on top */
    char rule[TZ_RLE_RULE_SIZE]; /* as the file has it */
    int rule_line;               /* 0: there is none */
    bool replaced;               /* the caller has another rule */
    bool marks;                  /* of [R]History or [R]Super */
    int states;                  /* that the rule has, STATES_MAX if it is not known */
    int most;                    /* the largest state of a cell */
    bool cut;                    /* there is no '!' */
    int64_t generation;
    bool placed;      /* the header says where cell (0, 0) of the pattern is */
    int64_t place[2]; /* from the middle of the universe */
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

/* Know the states of the rule. Nobody asks for more of one that is replaced. */
static tz_status settle_rule(reader *r, tz_rle_rule *rule)
{
    char place[512];
    snprintf(place, sizeof place, "%s:%d", r->path, r->rule_line);
    r->marks = tz_rle_rule_has_marks(r->rule);
    const tz_status status = tz_rle_rule_parse(r->rule, place, rule, r->replaced ? NULL : r->error);
    r->states = status == TZ_OK && !r->marks ? rule->life.states : STATES_MAX;
    return r->replaced ? TZ_OK : status;
}

/* Marks become cells, and no state is beyond those of the rule. */
static tz_status settle_states(const reader *r)
{
    uint8_t *cells = r->cells->data;
    const int64_t count = r->marks ? r->nx * r->ny : 0;
    for (int64_t i = 0; i < count; i++) {
        if (cells[i] == WALL && !r->replaced)
            return fail(r, TZ_UNSUPPORTED,
                        "cell (%" PRId64 ", %" PRId64 ") has state 6 of %s, which keeps its "
                        "neighbours dead and is no cell of Life: a 'rule' of tz.read drops it",
                        i % r->nx, i / r->nx, r->rule);
        cells[i] &= 1;
    }
    if (!r->marks && r->most >= r->states)
        return fail(r, TZ_RANGE, "a cell has state %d, and the rule %s has %d states, from 0",
                    r->most, r->rule, r->states);
    return TZ_OK;
}

/* The cells, all dead. */
static tz_status make_cells(reader *r)
{
    if (r->nx == 0 || r->ny == 0)
        return fail(r, TZ_SHAPE, "the pattern has no cells");
    if (r->nx > CELLS_MAX / r->ny)
        return fail(r, TZ_RANGE,
                    "%" PRId64 " x %" PRId64 " cells are more than 2^30; patterns of such a size "
                    "are for the Hashlife of Golly",
                    r->nx, r->ny);
    const int64_t shape[] = {r->nx, r->ny};
    return tz_array_create(&r->cells, TZ_DTYPE_U8, 2, shape, r->error);
}

/* A torus whose sides meet with a shift, and a Klein bottle, become the torus that covers them. */
static tz_status cover(reader *r, tz_rle_rule *rule)
{
    const int along = rule->axis, across = 1 - along;
    const int64_t size[] = {rule->width, rule->height}, shape[] = {r->nx, r->ny};
    int64_t from[2];
    tz_array *part = r->cells;
    if (rule->copies == 1)
        return TZ_OK;
    r->line = r->rule_line;
    if (rule->universe == 'K' && !tz_rle_rule_is_symmetric(rule, along))
        return fail(r, TZ_UNSUPPORTED,
                    "on a Klein bottle the rule must be the same when it is reflected");
    for (int axis = 0; axis < 2; axis++) { /* as Golly places it */
        from[axis] = size[axis] / 2 + (r->placed ? r->place[axis] : -(shape[axis] / 2));
        if (from[axis] < 0 || from[axis] + shape[axis] > size[axis])
            return fail(r, TZ_RANGE,
                        "the pattern is not within its universe of %" PRId64 " x %" PRId64 " cells",
                        size[0], size[1]);
    }
    r->nx = size[0] * (across == 0 ? rule->copies : 1);
    r->ny = size[1] * (across == 1 ? rule->copies : 1);
    r->cells = NULL;
    const tz_status status = make_cells(r);
    for (int64_t i = 0; status == TZ_OK && i < shape[0] * shape[1] * rule->copies; i++) {
        const int64_t copy = i / (shape[0] * shape[1]), cell = i % (shape[0] * shape[1]);
        int64_t at[] = {from[0] + cell % shape[0], from[1] + cell / shape[0]};
        if (rule->universe == 'K' && copy == 1)
            at[along] = size[along] - 1 - at[along];
        at[along] = (at[along] - copy * rule->shift) % size[along];
        at[along] += at[along] < 0 ? size[along] : 0;
        at[across] += copy * size[across];
        ((uint8_t *)r->cells->data)[at[1] * r->nx + at[0]] = ((uint8_t *)part->data)[cell];
    }
    tz_array_destroy(part);
    rule->universe = 'T';
    rule->width = r->nx;
    rule->height = r->ny;
    return status;
}

static tz_status read_pattern(reader *r);
static tz_status read_cells(reader *r);
static tz_status read_macrocell(reader *r);
static tz_status read_life(reader *r);

typedef tz_status read_function(reader *r);

/* The form that a file's first bytes say, whatever its name; else that of its name. */
static read_function *form_of(const char *text, read_function *named)
{
    static const struct {
        const char *first;
        read_function *read;
    } forms[] = {{"[M2]", read_macrocell}, {"#Life", read_life}, {"!", read_cells}};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++)
        if (strncmp(text, forms[k].first, strlen(forms[k].first)) == 0)
            return forms[k].read;
    return named;
}

/* Read the file, and give the pattern that is in it. */
static tz_status read_file(const char *path, size_t limit, read_function *named,
                           tz_format_reading *to, tz_error *error)
{
    char *text = NULL;
    size_t bytes = 0;
    tz_rle_rule rule;
    tz_status status = tz_file_read_text(path, limit, &text, &bytes, error);
    if (status != TZ_OK)
        return status;
    reader r = {.path = path,
                .p = text,
                .end = text + bytes,
                .rule = "B3/S23",
                .replaced = to->rule_replaced,
                .error = error};
    status = form_of(text, named)(&r);
    free(text);
    if (status == TZ_OK)
        status = settle_rule(&r, &rule);
    if (status == TZ_OK)
        status = settle_states(&r);
    if (status == TZ_OK && !r.replaced)
        status = cover(&r, &rule);
    if (status != TZ_OK) {
        tz_array_destroy(r.cells);
        return status;
    }
    to->array = r.cells;
    to->is_cut = r.cut;
    to->generation = r.generation;
    to->copies = r.replaced ? 1 : rule.copies;
    if (!r.replaced)
        tz_rle_rule_format(&rule, to->rule);
    to->has_rule = r.rule_line > 0 && !r.replaced;
    return TZ_OK;
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
    if (end > from && end[-1] == ',')
        end--;
    snprintf(r->rule, sizeof r->rule, "%.*s", (int)tz_min(end - from, TZ_RLE_RULE_SIZE), from);
    r->rule_line = r->line;
}

/* "-3": false: it is no whole number. */
static bool take_signed(const char **p, const char *end, int64_t *out)
{
    const bool minus = *p < end && **p == '-';
    *p += minus || (*p < end && **p == '+');
    if (!tz_digits_take(p, end, CELLS_MAX, out) || *out > CELLS_MAX)
        return false;
    *out = minus ? -*out : *out;
    return true;
}

/* "#CXRLE Pos=-3,4 Gen=120": the place and the generation. */
static void read_extended(reader *r, const char *end)
{
    for (const char *p = r->p; end - p > 4; p++) {
        const char *number = p + 5;
        if (memcmp(p, " Gen=", 5) == 0 || memcmp(p, ",Gen=", 5) == 0)
            tz_digits_take(&number, end, INT64_MAX / 16, &r->generation);
        else if (memcmp(p, " Pos=", 5) == 0)
            r->placed = take_signed(&number, end, &r->place[0]) && number < end &&
                        *number++ == ',' && take_signed(&number, end, &r->place[1]);
    }
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
        else if (end - r->p > 6 && memcmp(r->p, "#CXRLE", 6) == 0)
            read_extended(r, end);
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
    if (!take(r, name) || !take(r, '=') || !tz_digits_take(&r->p, r->end, CELLS_MAX, extent))
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

/* The state that a letter at r->p says, of which r->p becomes the last one; -1: none. Golly takes
 * 'p' to 'y' alone for living cells. */
static int take_state(reader *r)
{
    const char c = *r->p;
    if (r->states == 2 && strchr("bB.oO", c))
        return c == 'o' || c == 'O';
    if (c == 'b' || c == '.')
        return 0;
    if (c >= 'A' && c < 'A' + LETTERS)
        return 1 + c - 'A';
    if (c < 'o' || c > 'y')
        return -1;
    if (c == 'o' || r->p + 1 == r->end || r->p[1] < 'A' || r->p[1] >= 'A' + LETTERS)
        return 1;
    r->p++;
    return LETTERS * (1 + c - 'p') + 1 + *r->p - 'A';
}

static tz_status put_cells(reader *r, int64_t *x, int64_t y, int64_t count, int state)
{
    if (y >= r->ny && count)
        return fail(r, TZ_RANGE, "row %" PRId64 " is outside the declared y = %" PRId64, y + 1,
                    r->ny);
    if (count > r->nx - *x)
        return fail(r, TZ_RANGE,
                    "row %" PRId64 " reaches column %" PRId64 ", outside the declared x = %" PRId64,
                    y + 1, *x + count, r->nx);
    if (state >= STATES_MAX)
        return fail(r, TZ_RANGE, "state %d is above 255", state);
    if (state > 0) {
        memset((uint8_t *)r->cells->data + y * r->nx + *x, state, (size_t)count);
        r->most = tz_max(r->most, state);
    }
    *x += count;
    return TZ_OK;
}

/* The runs up to '!'. */
static tz_status read_runs(reader *r)
{
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
        } else {
            char quoted[16];
            const int state = take_state(r);
            if (state < 0)
                return fail(r, TZ_FORMAT,
                            "unknown state letter %s; b, o, ., A to X, pA to yX, $ and ! are read",
                            tz_token_quote(quoted, sizeof quoted, &c, 1));
            const tz_status status = put_cells(r, &x, y, run < 0 ? 1 : run, state);
            if (status != TZ_OK)
                return status;
            run = -1;
        }
    }
    r->cut = true;
    return run < 0 ? TZ_OK : fail(r, TZ_FORMAT, "a run count stands at the end");
}

/* Letters: states, '$' end of row, '!' end. Text after '!' is ignored. */
static tz_status read_pattern(reader *r)
{
    tz_rle_rule rule;
    r->line = 1;
    tz_status status = read_header(r);
    if (status == TZ_OK)
        status = settle_rule(r, &rule);
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
    int state;    /* what they are */
    int states;   /* of the rule */
    int column;   /* of the line of text, which breaks between runs */
} encoder;

static void put_run(encoder *w, int64_t count, const char *letter)
{
    char text[32];
    if (count == 0)
        return;
    const int length = count > 1 ? snprintf(text, sizeof text, "%" PRId64 "%s", count, letter)
                                 : snprintf(text, sizeof text, "%s", letter);
    if (w->column + length > LINE_COLUMNS) {
        fputc('\n', w->stream);
        w->column = 0;
    }
    fputs(text, w->stream);
    w->column += length;
}

static void put_state(encoder *w, int64_t count, int state)
{
    char letters[3] = "", *last = letters;
    const int above = state - 1;
    if (above >= LETTERS)
        *last++ = (char)('o' + above / LETTERS);
    *last = w->states == 2 ? "bo"[state] : state == 0 ? '.' : (char)('A' + above % LETTERS);
    put_run(w, count, letters);
}

static void end_run(encoder *w)
{
    if (w->run > 0 && w->state > 0) {
        put_run(w, w->rows, "$");
        put_state(w, w->dead, 0);
        put_state(w, w->run, w->state);
        w->rows = w->dead = 0;
    } else {
        w->dead = w->run;
    }
    w->run = 0;
}

static void put_cell(encoder *w, int state)
{
    if (w->run > 0 && state != w->state)
        end_run(w);
    w->state = state;
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
        if (!(value >= 0 && value < w->states && value == (int)value))
            return tz_error_set(error, TZ_RANGE, path,
                                "cell (%" PRId64 ", %" PRId64 ") is %g; a cell of a .rle pattern "
                                "of this rule is 0 to %d: use .npy",
                                w->x, w->y, value, w->states - 1);
        put_cell(w, (int)value);
    }
    return TZ_OK;
}

static void finish(void *state, FILE *stream)
{
    encoder *w = state;
    w->stream = stream;
    put_run(w, 1, "!");
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
    w->states = parsed.life.states;
    FILE *stream = tz__grid_file_stream(*out);
    if (grid->has_step && grid->step > 0)
        fprintf(stream, "#CXRLE Gen=%" PRId64 "\n", grid->step);
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
                            "RLE holds states of cells, and '%s' is real; use tz.npy",
                            grid->fields[0].name);
    return grid->rule ? tz_rle_rule_parse(grid->rule, NULL, &rule, error) : TZ_OK;
}

const tz_format tz_format_rle = {
    .name = "rle",
    .content = TZ_CONTENT_ARRAY,
    .suffix = ".rle",
    .doc = "A 1-D or 2-D field of bits or integers as a Life pattern, with its rule and its "
           "generation: for Golly.",
    .fits = fits,
    .begin = begin,
    .magic = "x = ",
    .read_doc = "a pattern of Life or of rules of several states",
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
    bool is_leaf;
    uint32_t child[4];  /* nw, ne, sw, se; of level 1: states */
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
    n->is_leaf = true;
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
        if (!tz_digits_take(&p, end, UINT32_MAX, &number[k]) ||
            (k < 4 ? p == end || *p++ != ' ' : p != end))
            return fail(r, TZ_FORMAT, "a node reads 'level nw ne sw se', five numbers");
    if (number[0] < 1 || number[0] > LEVEL_MAX)
        return fail(r, TZ_RANGE, "levels are 1 to %d", LEVEL_MAX);
    n->level = (int)number[0];
    const int64_t half = INT64_C(1) << (n->level - 1);
    static const box cell = {0, 1, 0, 1};
    for (int k = 0; k < 4; k++) {
        const int64_t child = number[k + 1];
        if (child == 0)
            continue;
        if (n->level == 1 && child >= STATES_MAX)
            return fail(r, TZ_RANGE, "state %" PRId64 " is above 255", child);
        if (n->level > 1 && child > (int64_t)t->count)
            return fail(r, TZ_FORMAT, "node %" PRId64 " has not been defined before", child);
        if (n->level > 1 && t->nodes[child].level != n->level - 1)
            return fail(r, TZ_FORMAT, "node %" PRId64 " has level %d, and %d is needed", child,
                        t->nodes[child].level, n->level - 1);
        n->child[k] = (uint32_t)child;
        extend(&n->living, n->level == 1 ? &cell : &t->nodes[child].living, k % 2 * half,
               k / 2 * half);
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

static void paint_cell(reader *r, int64_t x, int64_t y, int state)
{
    ((uint8_t *)r->cells->data)[y * r->nx + x] = (uint8_t)state;
    r->most = tz_max(r->most, state);
}

/* Sets the living cells of a node whose corner is at (x, y) of the pattern. */
static void paint(const tree *t, uint32_t index, int64_t x, int64_t y, reader *r)
{
    const node *n = &t->nodes[index];
    if (index == 0 || n->living.x_end == 0)
        return;
    const int64_t half = INT64_C(1) << (n->level - 1);
    for (int k = 0; k < 4 && !n->is_leaf; k++)
        if (n->level > 1)
            paint(t, n->child[k], x + k % 2 * half, y + k / 2 * half, r);
        else if (n->child[k] > 0)
            paint_cell(r, x + k % 2, y + k / 2, (int)n->child[k]);
    for (int64_t j = n->living.y; j < n->living.y_end && n->is_leaf; j++)
        for (int64_t i = n->living.x; i < n->living.x_end; i++)
            if (n->rows[j] >> i & 1)
                paint_cell(r, x + i, y + j, 1);
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
        else if (begins(r, "#G")) {
            const char *number = r->at + 2 + strspn(r->at + 2, " ");
            tz_digits_take(&number, r->at + r->length, INT64_MAX / 16, &r->generation);
        }
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

/* ---- Life 1.05 and 1.06 ---------------------------------------------------------------------- */

/* "-3 12": false: it is not two whole numbers. */
static bool take_place(const char *p, const char *end, int64_t place[2])
{
    for (int k = 0; k < 2; k++) {
        while (p < end && is_blank(*p))
            p++;
        if (!take_signed(&p, end, &place[k]))
            return false;
    }
    return p == end;
}

/* Places are counted from here, so that all of them are above 0, as boxes want them. */
enum { ORIGIN = CELLS_MAX };

/* Go over the living cells: extend `all`, or, where it is NULL, set those of the pattern, whose
 * corner is at `corner`. */
static tz_status go_over_life(reader *r, box *all, const int64_t corner[2])
{
    int64_t place[2] = {0, 0};
    const int64_t from[] = {all ? ORIGIN : -corner[0], all ? ORIGIN : -corner[1]};
    while (next_line(r)) {
        const char *p = r->at, *end = r->at + r->length;
        const char first = r->length > 0 ? *p : '#';
        if (begins(r, "#R") && all)
            copy_rule(r, p + 2, end);
        if (begins(r, "#P") && r->length > 2 && !take_place(p + 2, end, place))
            return fail(r, TZ_FORMAT, "a block begins with '#P x y', two whole numbers");
        if (first == '#')
            continue;
        const bool is_row = first == '.' || first == '*';
        if (!is_row && !take_place(p, end, place))
            return fail(r, TZ_FORMAT,
                        "a line is a row of . and *, or x and y of a living cell, two whole "
                        "numbers up to 2^30");
        for (int64_t i = 0; i < (is_row ? (int64_t)r->length : 1); i++) {
            if (is_row && p[i] != '*' && p[i] != '.')
                return unknown_cell(r, p + i, ". and *");
            if (is_row && p[i] == '.')
                continue;
            const int64_t x = from[0] + place[0] + i, y = from[1] + place[1];
            if (all)
                extend(all, &(box){0, 1, 0, 1}, x, y);
            else
                paint_cell(r, x, y, 1);
        }
        place[1] += is_row;
    }
    return TZ_OK;
}

static tz_status read_life(reader *r)
{
    box all = {0};
    reader again = *r;
    tz_status status = go_over_life(r, &all, NULL);
    if (status != TZ_OK)
        return status;
    const int64_t corner[] = {all.x - ORIGIN, all.y - ORIGIN};
    r->nx = all.x_end - all.x;
    r->ny = all.y_end - all.y;
    status = make_cells(r);
    again.cells = r->cells;
    again.nx = r->nx;
    if (status == TZ_OK)
        status = go_over_life(&again, NULL, corner);
    r->most = again.most;
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

static tz_status life_read(const char *path, tz_format_reading *reading, tz_error *error)
{
    return read_file(path, LINES_FILE_MAX, read_life, reading, error);
}

const tz_format tz_format_life = {.name = "life",
                                  .suffix = ".lif",
                                  .magic = "#Life 1.0",
                                  .read_doc = "a Life pattern of the forms 1.05 and 1.06",
                                  .reads = TZ_READS_RULE,
                                  .read = life_read};
