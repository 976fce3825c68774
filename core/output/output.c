/* What outputs write: checks against a simulation, and titles of columns. */
#include "output/output.h"

#include "base/names.h"
#include "base/number.h"
#include "output/format/format.h"
#include "sim/fields.h"
#include "sim/simulated_time.h"
#include "sim/simulation.h"
#include "stencil/stencil.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const tz_output_word tz_column_words[TZ_COLUMN_FUNCTION + 1] = {
    [TZ_COLUMN_STEP] = {"step", "iterations so far"},
    [TZ_COLUMN_TIME] = {"time", "the simulated time; of stencils with a time step"},
    [TZ_COLUMN_RESIDUAL] = {"residual", "as `sim:residual()`"},
    [TZ_COLUMN_MIN] = {"min", "the least finite value; of the first state field, or `min(FIELD)`"},
    [TZ_COLUMN_MAX] = {"max", "the largest; `max(FIELD)`"},
    [TZ_COLUMN_SUM] = {"sum",
                       "the sum; `sum(FIELD)`, or `FIELD(MASK)`: where the field MASK is not 0"},
    [TZ_COLUMN_MEAN] = {"mean", "the mean; `mean(FIELD)`"},
    [TZ_COLUMN_POPULATION] = {"population", "cells that are not 0; `population(FIELD)`"},
    [TZ_COLUMN_HASH] = {"hash", "64 bits of the cells' bits; `hash(FIELD)`"},
    [TZ_COLUMN_PROBE] = {"probe", "the value of one cell: `probe(FIELD, x, y)`, with a coordinate "
                                  "for each axis, from 0"},
};

/* "(FIELD, x, y)", each without blanks inside. NULL: it is missing. */
static tz_status parse_probe(const char *open, tz_column *out, tz_error *error)
{
    const char *at = open ? open + 1 + strspn(open + 1, " ") : "";
    const size_t length = strcspn(at, ", )");
    bool good = length > 0 && length < sizeof out->field;
    if (good)
        snprintf(out->field, sizeof out->field, "%.*s", (int)length, at);
    at += length;
    for (at += strspn(at, " "); good && *at == ','; at += strspn(at, " ")) {
        at++;
        at += strspn(at, " ");
        const size_t digits = strspn(at, "0123456789");
        good = digits > 0 && digits <= 15 && out->at_count < TZ_AXES;
        if (good)
            out->at[out->at_count++] = strtoll(at, NULL, 10);
        at += digits;
    }
    if (good && out->at_count > 0 && strcmp(at, ")") == 0)
        return TZ_OK;
    return tz_error_set(error, TZ_FORMAT, NULL,
                        "the column '%.90s' must read probe(FIELD, x, y), with a whole number for "
                        "each axis of the grid",
                        out->title);
}

/* Is a probe within the grid? */
static tz_status check_probe(const tz_column *column, const tz_simulation *simulation,
                             tz_error *error)
{
    const int dims = tz_simulation_stencil(simulation)->dims;
    const int64_t *extent = tz_simulation_extent(simulation);
    if (column->kind != TZ_COLUMN_PROBE)
        return TZ_OK;
    if (column->at_count != dims)
        return tz_error_set(error, TZ_SHAPE, NULL,
                            "the column '%s' has %d coordinate%s, the grid %d", column->title,
                            column->at_count, column->at_count == 1 ? "" : "s", dims);
    for (int a = 0; a < dims; a++)
        if (column->at[a] >= extent[a])
            return tz_error_set(error, TZ_RANGE, NULL,
                                "the column '%s' is outside the grid: %c is 0 to %lld",
                                column->title, "xyz"[a], (long long)extent[a] - 1);
    return TZ_OK;
}

tz_status tz_column_parse(const char *title, tz_column *out, tz_error *error)
{
    enum { NAMES = TZ_COLUMN_FUNCTION };
    const char *names[NAMES];
    for (int i = 0; i < NAMES; i++)
        names[i] = tz_column_words[i].name;
    const char *open = strchr(title, '(');
    const size_t length = open ? (size_t)(open - title) : strlen(title);
    memset(out, 0, sizeof *out);
    if (strlen(title) >= sizeof out->title)
        return tz_error_set(error, TZ_RANGE, NULL, "the column '%.40s…' is too long", title);
    snprintf(out->title, sizeof out->title, "%s", title);
    for (size_t i = 0; i < NAMES; i++) {
        if (strlen(names[i]) != length || memcmp(title, names[i], length) != 0)
            continue;
        out->kind = (tz_column_kind)i;
        if (out->kind == TZ_COLUMN_PROBE)
            return parse_probe(open, out, error);
        if (!open)
            return TZ_OK;
        const bool reads_field = out->kind > TZ_COLUMN_RESIDUAL;
        const size_t inside = strlen(open + 1);
        if (!reads_field || inside < 2 || open[inside] != ')' || inside > sizeof out->field)
            return tz_error_set(error, TZ_FORMAT, NULL, "the column '%.90s' must read %s%s", title,
                                names[i], reads_field ? "(FIELD)" : "");
        snprintf(out->field, sizeof out->field, "%.*s", (int)inside - 1, open + 1);
        return TZ_OK;
    }
    char word[96], hint[256];
    snprintf(word, sizeof word, "%.*s", (int)length, title);
    return tz_error_set(error, TZ_UNKNOWN, NULL, "unknown column '%.60s'%s", title,
                        tz_names_hint(hint, sizeof hint, word, names, NAMES));
}

/* ---- Fields ---------------------------------------------------------------------------------- */

int tz_output_default_field(const tz_stencil *stencil)
{
    for (int i = 0; i < stencil->fields_count; i++)
        if (stencil->fields[i].role == TZ_STATE)
            return i;
    return 0;
}

tz_status tz_output_find_field(const tz_stencil *stencil, const char *name, int *out,
                               tz_error *error)
{
    char hint[256];
    *out = tz_stencil_field_index(stencil, name);
    return *out >= 0
               ? TZ_OK
               : tz_error_set(
                     error, TZ_UNKNOWN, NULL, "%s has no field '%.60s'%s", stencil->id, name,
                     TZ_NAMES_HINT(hint, name, stencil->fields, tz_stencil_fields_all(stencil)));
}

/* A field that is kept, so that it can be written. */
static tz_status find_kept_field(const tz_stencil *stencil, const char *name, int *out,
                                 tz_error *error)
{
    const tz_status status = tz_output_find_field(stencil, name, out, error);
    if (status == TZ_OK && stencil->fields[*out].role == TZ_STREAMED)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "'%s' is streamed and not kept; read its slabs with sim:slabs", name);
    return status;
}

char tz_output_universe(const tz_simulation *simulation, int field, int axis)
{
    int wrapping = 0, dead = 0;
    for (int end = 0; end < 2; end++) {
        const tz_boundary boundary = tz_simulation_boundary(simulation, axis)[end];
        wrapping += tz_boundary_wraps(boundary);
        dead += tz_boundary_has_value(boundary) &&
                tz_simulation_boundary_values(simulation, field)[2 * axis + end] == 0.0;
    }
    return wrapping == 2 ? 'T' : dead == 2 ? 'P' : 0;
}

const char *tz_output_rule(const tz_simulation *simulation, int field, char text[TZ_RLE_RULE_SIZE])
{
    const tz_stencil *stencil = tz_simulation_stencil(simulation);
    const int64_t *extent = tz_simulation_extent(simulation);
    const int param = tz_stencil_param_of_role(stencil, TZ_PARAM_ROLE_RULE);
    tz_rle_rule rule;
    tz_error ignored;
    snprintf(text, TZ_RLE_RULE_SIZE, "%s",
             param < 0 ? "" : tz_simulation_params(simulation)[param].text);
    if (stencil->dims != 2 || tz_rle_rule_parse(text, NULL, &rule, &ignored) != TZ_OK)
        return text;
    const char universe = tz_output_universe(simulation, field, 0);
    if (universe == tz_output_universe(simulation, field, 1))
        rule.universe = universe;
    rule.width = extent[0];
    rule.height = extent[1];
    return tz_rle_rule_format(&rule, text);
}

/* What files with a geometry need. */
static tz_status check_grid(const tz_output *output, const tz_stencil *stencil, tz_error *error)
{
    const int dims = stencil->dims, spacing = output->spacing_count, origin = output->origin_count;
    for (size_t i = 0; i < output->fields_count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(output->fields[i], output->fields[k]) == 0)
                return tz_error_set(error, TZ_USAGE, NULL, "the field '%s' is there twice",
                                    output->fields[i]);
    if ((spacing > 1 && spacing != dims) || (origin > 0 && origin != dims))
        return tz_error_set(error, TZ_SHAPE, NULL, "'%s' has %d number%s, the grid %d ax%s",
                            spacing > 1 && spacing != dims ? "spacing" : "origin",
                            spacing > 1 && spacing != dims ? spacing : origin,
                            (spacing > 1 && spacing != dims ? spacing : origin) == 1 ? "" : "s",
                            dims, dims == 1 ? "is" : "es");
    return TZ_OK;
}

/* The slice of a picture, and its axes. */
static tz_status check_slice(const tz_output *output, const tz_stencil *stencil,
                             const int64_t *extent, tz_error *error)
{
    const int dims = stencil->dims, axis = output->slice.axis, spacing = output->look.spacing_count;
    if ((output->has_slice || axis != 2) && dims < 3)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL, "'%s' is for 3-D grids; this one is %d-D",
                            output->has_slice ? "slice" : "montage", dims);
    if (output->has_slice && output->slice.at >= extent[axis])
        return tz_error_set(error, TZ_RANGE, NULL,
                            "slice %lld is outside the grid (%c is 0 to %lld)",
                            (long long)output->slice.at, "xyz"[axis], (long long)extent[axis] - 1);
    if (output->look.overlay.grid_lines && dims == 1)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "'grid_lines' is for 2-D and 3-D grids; this one is 1-D");
    if (output->look.overlay.path_count > 0 && dims != 2)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "'path' is for 2-D grids; this one is %d-D", dims);
    tz_status status = tz_look_check_region(&output->look, dims, extent, error);
    if (status == TZ_OK)
        status = tz_overlay_check_path(&output->look.overlay, extent[0], extent[1], error);
    if (status != TZ_OK)
        return status;
    if (output->look.axes && dims == 3 && !output->has_slice)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL, "'axes' is for one plane: give 'slice'");
    if (spacing > 1 && spacing != dims)
        return tz_error_set(error, TZ_SHAPE, NULL,
                            "'spacing' of the axes has %d numbers, the grid %d ax%s", spacing, dims,
                            dims == 1 ? "is" : "es");
    return TZ_OK;
}

static tz_status needs_time_step(const char *what, const tz_simulation *simulation, tz_error *error)
{
    return tz_error_set(error, TZ_UNSUPPORTED, NULL, "%s needs a time step, and %s has none", what,
                        tz_simulation_stencil(simulation)->id);
}

tz_status tz_output_check_caption(const char *caption, const tz_simulation *simulation,
                                  tz_error *error)
{
    const tz_status status = tz_caption_check(caption, error);
    return status == TZ_OK && tz_caption_has(caption, "time") &&
                   !tz_simulation_time_step(simulation)
               ? needs_time_step("{time} in a caption", simulation, error)
               : status;
}

/* Where the cells of a file with a geometry are. */
static void place_cells(const tz_output *output, const tz_simulation *source, tz_grid *grid)
{
    tz_simulation_spacing(source, grid->spacing);
    for (int axis = 0; axis < grid->dims; axis++) {
        if (output->spacing_count > 0)
            grid->spacing[axis] = output->spacing[output->spacing_count > 1 ? axis : 0];
        if (output->origin_count > 0)
            grid->origin[axis] = output->origin[axis];
    }
    grid->y_up = output->look.y != TZ_Y_DOWN && tz_simulation_y_up(source);
}

void tz_output_describe(const tz_output *output, const tz_simulation *source, int field,
                        tz_grid *grid, tz_grid_field fields[TZ_OUTPUT_FIELDS_MAX],
                        char rule[TZ_RLE_RULE_SIZE])
{
    const tz_stencil *stencil = tz_simulation_stencil(source);
    const tz_param *step = tz_simulation_time_step(source);
    *grid = tz_grid_of(stencil->dims, tz_simulation_extent(source));
    grid->fields = fields;
    grid->fields_count = output->fields_count > 0 ? output->fields_count : 1;
    for (size_t i = 0; i < grid->fields_count; i++) {
        const int k =
            output->fields_count > 0 ? tz_stencil_field_index(stencil, output->fields[i]) : field;
        fields[i] = (tz_grid_field){.name = stencil->fields[k].name,
                                    .unit = stencil->fields[k].unit,
                                    .dtype = tz_simulation_dtype(source, k)};
    }
    if (output->format->content == TZ_CONTENT_GRID)
        place_cells(output, source, grid);
    tz_output_rule(source, field, rule);
    grid->rule = rule[0] ? rule : NULL;
    grid->has_step = true;
    grid->step = tz_simulation_step(source);
    if (step)
        grid->time = tz_duration_seconds(tz_simulation_time(source), step->unit, &grid->time_unit);
}

/* What the format says of an array. */
static tz_status check_fit(const tz_output *output, const tz_simulation *simulation, int field,
                           tz_error *error)
{
    tz_grid grid;
    tz_grid_field described[TZ_OUTPUT_FIELDS_MAX];
    char rule[TZ_RLE_RULE_SIZE];
    tz_output_describe(output, simulation, field, &grid, described, rule);
    return output->format->fits(&grid, error);
}

tz_status tz_output_check(const tz_output *output, const tz_simulation *simulation, int *field,
                          tz_error *error)
{
    const tz_stencil *stencil = tz_simulation_stencil(simulation);
    tz_status status = TZ_OK;
    int read;
    *field = tz_output_default_field(stencil);
    if (tz_format_is_picture(output->format) && stencil->picture.field)
        status = tz_output_find_field(stencil, stencil->picture.field, field, error);
    for (size_t i = output->fields_count; status == TZ_OK && i-- > 0;)
        status = find_kept_field(stencil, output->fields[i], field, error);
    for (size_t i = 0; status == TZ_OK && i < output->columns_count; i++) {
        if (output->columns[i].field[0])
            status = find_kept_field(stencil, output->columns[i].field, &read, error);
        if (status == TZ_OK)
            status = check_probe(&output->columns[i], simulation, error);
    }
    if (status != TZ_OK)
        return status;
    status = tz_output_check_caption(output->look.caption, simulation, error);
    if (status != TZ_OK)
        return status;
    if (tz_output_has_column(output, TZ_COLUMN_TIME) && !tz_simulation_time_step(simulation))
        return needs_time_step("the column 'time'", simulation, error);
    if (output->look.log && tz_type_is_bits(stencil->fields[*field].type))
        return tz_error_set(error, TZ_UNSUPPORTED, NULL, "'log' is for numbers; '%s' is of bits",
                            stencil->fields[*field].name);
    if (output->look.isometric && stencil->dims < 3)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "'view' is for 3-D grids; this one is %d-D", stencil->dims);
    if (tz_format_is_picture(output->format))
        status = check_slice(output, stencil, tz_simulation_extent(simulation), error);
    if (status != TZ_OK)
        return status;
    if (output->format->content == TZ_CONTENT_GRID)
        status = check_grid(output, stencil, error);
    return status == TZ_OK && output->format->fits ? check_fit(output, simulation, *field, error)
                                                   : status;
}

/* ---- Columns --------------------------------------------------------------------------------- */

bool tz_output_needs_texts(const tz_output *output)
{
    return output->look.told || tz_output_has_column(output, TZ_COLUMN_FUNCTION);
}

bool tz_output_has_column(const tz_output *output, tz_column_kind kind)
{
    for (size_t i = 0; i < output->columns_count; i++)
        if (output->columns[i].kind == kind)
            return true;
    return false;
}

/* ---- Caption --------------------------------------------------------------------------------- */

enum { NAMES = 4 };
const tz_output_word tz_caption_words[NAMES + 1] = {
    {"step", "iterations so far"},
    {"time", "the simulated time with its unit, \"2.5 ms\"; of stencils with a time step"},
    {"field", "the field's name"},
    {"simulation", "the simulation's name"},
    {NULL, NULL}};

/* What a caption consists of: characters as they are, and placeholders. */
typedef struct piece {
    const char *start;
    size_t length;
    bool is_name; /* without its braces */
} piece;

/* The piece at *at, which moves behind it. False at the end, and at a brace that is not closed:
 * then *at stays there. */
static bool next_piece(const char **at, piece *out)
{
    const char *text = *at;
    *out = (piece){.start = text, .length = strcspn(text, "{}")};
    if (out->length > 0) {
        *at = text + out->length;
    } else if (text[0] != '\0' && (text[1] == text[0] || text[0] == '}')) {
        out->length = 1;
        *at = text + (text[1] == text[0] ? 2 : 1);
    } else if (text[0] == '{') {
        const char *end = strchr(text, '}');
        *out = (piece){
            .start = text + 1, .length = end ? (size_t)(end - text - 1) : 0, .is_name = true};
        *at = end ? end + 1 : text;
        return end;
    }
    return out->length > 0;
}

static bool is_name(const piece *p, const char *name)
{
    return p->is_name && strlen(name) == p->length && memcmp(p->start, name, p->length) == 0;
}

tz_status tz_caption_check(const char *caption, tz_error *error)
{
    const char *at = caption;
    piece p;
    while (next_piece(&at, &p)) {
        bool known = !p.is_name;
        for (int i = 0; i < NAMES; i++)
            known = known || is_name(&p, tz_caption_words[i].name);
        if (known)
            continue;
        char name[64], hint[128];
        snprintf(name, sizeof name, "%.*s", (int)(p.length < 63 ? p.length : 63), p.start);
        return tz_error_set(error, TZ_UNKNOWN, "caption",
                            "unknown placeholder {%s}%s (write {{ for a brace)", name,
                            TZ_NAMES_HINT(hint, name, tz_caption_words, NAMES));
    }
    if (*at != '\0')
        return tz_error_set(error, TZ_FORMAT, "caption",
                            "'%.40s' lacks its closing brace (write {{ for a brace)", at);
    return TZ_OK;
}

bool tz_caption_has(const char *caption, const char *placeholder)
{
    piece p;
    while (next_piece(&caption, &p))
        if (is_name(&p, placeholder))
            return true;
    return false;
}

/* Append a piece, as far as there is room. */
static void append(char out[TZ_CAPTION_SIZE], size_t *used, const char *text, size_t length)
{
    const size_t room = TZ_CAPTION_SIZE - 1 - *used;
    memcpy(out + *used, text, length < room ? length : room);
    *used += length < room ? length : room;
    out[*used] = '\0';
}

void tz_caption_fill(char out[TZ_CAPTION_SIZE], const char *caption, const tz_simulation *source,
                     const char *field, const char *simulation)
{
    char step[24], time[TZ_DURATION_SIZE] = "";
    const tz_param *time_step = tz_simulation_time_step(source);
    snprintf(step, sizeof step, "%" PRId64, tz_simulation_step(source));
    if (time_step)
        tz_duration_text(time, tz_simulation_time(source), time_step->unit);
    const char *const values[NAMES] = {step, time, field, simulation};
    size_t used = 0;
    piece p;
    out[0] = '\0';
    while (next_piece(&caption, &p)) {
        if (!p.is_name)
            append(out, &used, p.start, p.length);
        for (int i = 0; i < NAMES; i++)
            if (is_name(&p, tz_caption_words[i].name))
                append(out, &used, values[i], strlen(values[i]));
    }
}

tz_status tz_caption_fill_none(char out[TZ_CAPTION_SIZE], const char *caption, tz_error *error)
{
    size_t used = 0;
    piece p;
    out[0] = '\0';
    while (next_piece(&caption, &p)) {
        if (p.is_name)
            return tz_error_set(error, TZ_UNSUPPORTED, "caption",
                                "{%.*s} is of a simulation; for an array make the text in Lua",
                                (int)(p.length < 40 ? p.length : 40), p.start);
        append(out, &used, p.start, p.length);
    }
    return TZ_OK;
}
