/* Writes one output of one simulation: bindings of scripts call it. */
#include "output/writer.h"

#include "base/number.h"
#include "output/output.h"
#include "sim/fields.h"
#include "sim/simulated_time.h"
#include "sim/simulation.h"
#include "stencil/stencil.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tz_status tz_writer_open(tz_writer *writer, const tz_output *output, const tz_run_files *files,
                         const tz_simulation *simulation, const char *name, const char *prefix,
                         tz_error *error)
{
    const tz_stencil *stencil = tz_simulation_stencil(simulation);
    *writer = (tz_writer){.output = output, .files = files, .simulation = name, .last_step = -1};
    tz_status status = tz_output_check(output, simulation, &writer->field, error);
    if (status == TZ_OK && output->format->check)
        status = output->format->check(output->format, error);
    if (status != TZ_OK)
        return status;
    const char *stem = output->name;
    if (!stem[0])
        stem = output->format->content == TZ_CONTENT_TABLE  ? TZ_TABLE_STEM
               : output->format->content == TZ_CONTENT_GRID ? stencil->id
                                                            : stencil->fields[writer->field].name;
    snprintf(writer->stem, sizeof writer->stem, "%s%s", prefix, stem);
    return TZ_OK;
}

tz_status tz_writer_close(tz_writer *writer, tz_error *error)
{
    tz_error why;
    const tz_status closed = tz_movie_close(writer->movie, error);
    const tz_status status = tz_table_close(writer->table, closed ? &why : error);
    writer->movie = NULL;
    writer->table = NULL;
    free(writer->probes);
    writer->probes = NULL;
    return closed ? closed : status;
}

bool tz_writer_note(const tz_writer *writer, char *text, size_t size, bool *warns)
{
    if (!writer->movie)
        return false;
    const tz_movie_range range = tz_movie_range_of(writer->movie);
    const bool one = range.uniform && !(range.low < range.high);
    tz_look look = {.log = writer->output->look.log, .low = writer->low, .high = writer->high};
    char name[TZ_WRITER_FILE_SIZE], first[64];
    tz_writer_file(writer, 0, name);
    snprintf(first, sizeof first, range.uniform ? "%.4g" : "%.4g to %.4g", look.low, look.high);
    tz_movie_take_range(&range, &look);
    *warns = !range.drawn_again || one;
    if (one && range.seen)
        snprintf(text, size, "%s: all values are %s in every frame, so it has one colour", name,
                 first);
    else if (range.drawn_again && (range.strayed || range.uniform))
        snprintf(text, size,
                 "%s: values leave the range of the first frame, %s: all frames are drawn again, "
                 "from %.4g to %.4g",
                 name, first, look.low, look.high);
    else if (range.strayed && !range.drawn_again)
        snprintf(text, size,
                 "%s: from frame %lld on, values are outside the range of the first frame, %s, and "
                 "have the colours of its ends; give range = {low, high}",
                 name, (long long)range.strayed, first);
    else
        return false;
    return true;
}

void tz_writer_pattern(const tz_writer *writer, char *text, size_t size)
{
    const tz_format *format = writer->output->format;
    snprintf(text, size, "%s%s%s", writer->stem, tz_format_is_one_file(format) ? "" : "-NNNNNN",
             format->suffix);
}

/* "temperature-000100.png"; with "-r2" before the number after one rewind. */
void tz_writer_file(const tz_writer *writer, int64_t step, char name[TZ_WRITER_FILE_SIZE])
{
    char again[24] = "";
    if (writer->rewinds > 0)
        snprintf(again, sizeof again, "-r%d", writer->rewinds + 1);
    if (writer->first_frame > 0)
        snprintf(name, TZ_WRITER_FILE_SIZE, "%s-%06lld%s", writer->stem,
                 (long long)writer->first_frame, writer->output->format->suffix);
    else if (tz_format_is_one_file(writer->output->format))
        tz_writer_pattern(writer, name, TZ_WRITER_FILE_SIZE);
    else
        snprintf(name, TZ_WRITER_FILE_SIZE, "%s%s-%06lld%s", writer->stem, again, (long long)step,
                 writer->output->format->suffix);
}

bool tz_writer_series(const tz_writer *writer, char *text, size_t size)
{
    char again[24] = "";
    const char *suffix = writer->output->format->list_suffix;
    if (writer->rewinds > 0)
        snprintf(again, sizeof again, "-r%d", writer->rewinds + 1);
    snprintf(text, size, "%s%s%s", writer->stem, again, suffix ? suffix : "");
    return suffix != NULL;
}

static tz_status make_path(const tz_writer *writer, int64_t step, char *path, size_t size,
                           tz_error *error)
{
    char name[TZ_WRITER_FILE_SIZE];
    tz_writer_file(writer, step, name);
    return tz_run_files_path(writer->files, name, path, size, error);
}

/* ---- Pictures -------------------------------------------------------------------------------- */

/* "0.0025 s": with all digits, in the unit of the time step. */
static void note_time(tz_frame *frame, const tz_simulation *source)
{
    char number[TZ_NUMBER_SIZE];
    const char *unit = tz_simulation_time_step(source)->unit;
    tz_number_format_style(number, sizeof number, 'g', 15, tz_simulation_time(source));
    tz_frame_note(frame, "Time", "%s%s%s", number, unit[0] ? " " : "", unit);
}

static void describe(tz_frame *frame, const tz_writer *writer, const tz_simulation *source)
{
    const tz_stencil *stencil = tz_simulation_stencil(source);
    const int64_t *extent = tz_simulation_extent(source);
    char grid[TZ_SHAPE_TEXT_SIZE];
    tz_frame_note(frame, "Software", "Trapeze %s", TZ_VERSION);
    tz_frame_note(frame, "Scenario", "%s", writer->files->scenario);
    tz_frame_note(frame, "Simulation", "%s", writer->simulation);
    tz_frame_note(frame, "Stencil", "%s", stencil->id);
    tz_frame_note(frame, "Grid", "%s", tz_shape_text(grid, stencil->dims, extent));
    const bool shows_step = writer->output->format->content == TZ_CONTENT_PICTURE;
    if (shows_step)
        tz_frame_note(frame, "Step", "%lld", (long long)tz_simulation_step(source));
    if (shows_step && tz_simulation_time_step(source))
        note_time(frame, source);
    tz_frame_note(frame, "Field", "%s", stencil->fields[writer->field].name);
    tz_frame_note_look(frame);
    if (stencil->dims == 3 && writer->output->has_slice)
        tz_frame_note(frame, "Slice", "%c = %lld", "xyz"[writer->output->slice.axis],
                      (long long)writer -> output -> slice.at);
}

/* Fill in what the description leaves open: from the stencil's picture, if it shows this field. */
static tz_status resolve_look(const tz_writer *writer, const tz_simulation *source, tz_look *look,
                              tz_error *error)
{
    const tz_stencil *stencil = tz_simulation_stencil(source);
    const tz_field *about = &stencil->fields[writer->field];
    const tz_picture *own = &stencil->picture;
    const bool is_own = own->field && strcmp(own->field, about->name) == 0;
    if (!look->map[0])
        snprintf(look->map, sizeof look->map, "%s",
                 is_own && own->map             ? own->map
                 : tz_type_is_bits(about->type) ? "gray"
                                                : "viridis");
    if (!look->has_unit && about->unit)
        snprintf(look->unit, sizeof look->unit, "%s", about->unit);
    if (look->range == TZ_RANGE_FIXED)
        return TZ_OK;
    if (look->range == TZ_RANGE_PICTURE && is_own && own->low < own->high &&
        !(look->log && own->low <= 0)) {
        look->range = TZ_RANGE_FIXED;
        look->low = own->low;
        look->high = own->high;
    } else if (look->range == TZ_RANGE_PICTURE && tz_type_is_bits(about->type)) {
        look->range = TZ_RANGE_FIXED;
        look->low = 0;
        look->high = 1;
    } else if (writer->low < writer->high) {
        look->low = writer->low;
        look->high = writer->high;
    } else {
        tz_reduction facts;
        const tz_status status = tz_simulation_reduce(source, writer->field, &facts, error);
        if (status != TZ_OK)
            return status;
        tz_look_take_range(look, facts.min, facts.max);
    }
    return TZ_OK;
}

/* All frames of a movie have one range: that of the first one. movie.c draws it again if they
 * leave it, or if it is a single value. */
static void keep_range(tz_writer *writer, tz_look *look)
{
    if (!(look->low < look->high))
        look->high = look->low + fmax(1, fabs(look->low));
    writer->low = look->low;
    writer->high = look->high;
}

tz_status tz_writer_frame(tz_frame **out, tz_writer *writer, const tz_simulation *source,
                          tz_error *error)
{
    const tz_output *output = writer->output;
    tz_frame *frame = NULL;
    tz_status status = tz_frame_create(&frame, &output->look, error);
    if (status != TZ_OK)
        return status;
    status = resolve_look(writer, source, &frame->look, error);
    if (status == TZ_OK && output->format->content == TZ_CONTENT_MOVIE)
        keep_range(writer, &frame->look);
    const tz_slice slice = {output->slice.axis, output->has_slice ? output->slice.at : -1};
    if (status == TZ_OK)
        status = tz_frame_read(frame, source, writer->field, slice, error);
    if (status != TZ_OK) {
        tz_frame_destroy(frame);
        return status;
    }
    double spacing[TZ_AXES];
    const int dims = tz_simulation_stencil(source)->dims;
    tz_simulation_spacing(source, spacing);
    const bool y_up =
        tz_frame_turn(frame, dims, tz_simulation_rows_up(source), tz_simulation_y_up(source));
    tz_frame_set_axes(frame, dims, tz_simulation_extent(source), slice.axis, spacing,
                      tz_simulation_spacing_unit(source), y_up);
    describe(frame, writer, source);
    tz_caption_fill(frame->look.caption, output->look.told ? writer->caption : output->look.caption,
                    source, tz_simulation_stencil(source)->fields[writer->field].name,
                    writer->simulation);
    *out = frame;
    return TZ_OK;
}

static tz_status write_picture(tz_writer *writer, const tz_simulation *source, const char *path,
                               tz_error *error)
{
    tz_frame *frame = NULL;
    const tz_status status = tz_writer_frame(&frame, writer, source, error);
    if (status != TZ_OK)
        return status;
    snprintf(frame->path, sizeof frame->path, "%s", path);
    frame->draw = writer->output->format->draw;
    return tz_run_files_draw(writer->files, frame, error);
}

static tz_status write_movie(tz_writer *writer, const tz_simulation *source, tz_error *error)
{
    char path[PATH_MAX];
    tz_frame *frame = NULL;
    tz_status status = tz_writer_frame(&frame, writer, source, error);
    if (status == TZ_OK && !writer->movie) {
        status = make_path(writer, 0, path, sizeof path, error);
        if (status == TZ_OK)
            status = tz_movie_create(&writer->movie, path, writer->output->format,
                                     writer->output->fps, error);
    }
    if (status == TZ_OK)
        return tz_movie_add(writer->movie, frame, error);
    tz_frame_destroy(frame);
    return status;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* Write a field in pieces of a MiB or two: memory may not hold a copy of a large one. A piece is a
 * part of a row, or rows, or planes. */
static tz_status write_pieces(const tz_simulation *simulation, int field, tz_grid_file *file,
                              size_t which, tz_error *error)
{
    enum { PIECE_CELLS = 1 << 18 };
    const int64_t *n = tz_simulation_extent(simulation);
    tz_box_parts p = {.whole = {{0}, {n[0], n[1], n[2]}}, .most = PIECE_CELLS};
    char *cells = malloc(PIECE_CELLS * tz_dtype_size(tz_simulation_dtype(simulation, field)));
    tz_status status =
        cells ? TZ_OK : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to write a field");
    while (status == TZ_OK && tz_box_next(&p)) {
        status = tz_simulation_read_cells(simulation, field, &p.part, cells, error);
        if (status == TZ_OK)
            status = tz_grid_file_write(file, which, cells, p.count, error);
    }
    free(cells);
    return status;
}

/* Processes that hold parts of the grid write them. TZ_UNSUPPORTED: they cannot, or the format does
 * not keep cells as they are. */
static tz_status write_parts(const tz_simulation *source, int field, tz_grid_file *file,
                             size_t which, tz_error *error)
{
    int64_t offset = 0;
    tz_atomic_file *whole =
        tz_simulation_is_parted(source, field) ? tz_grid_file_share(file, which, &offset) : NULL;
    const char *name = whole ? tz_atomic_name(whole, error) : NULL;
    if (!name)
        return whole ? TZ_IO : TZ_UNSUPPORTED;
    if (fflush(tz_atomic_stream(whole)) != 0)
        return tz_error_set_errno(error, errno, tz_atomic_path(whole), "cannot write");
    const tz_status status = tz_simulation_write_file(source, field, name, offset, error);
    if (status == TZ_OK)
        tz_grid_file_shared(file, which);
    return status;
}

static tz_status write_field(const tz_simulation *source, int field, tz_grid_file *file,
                             size_t which, tz_error *error)
{
    const tz_status status = write_parts(source, field, file, which, error);
    return status == TZ_UNSUPPORTED ? write_pieces(source, field, file, which, error) : status;
}

static tz_status write_array(const tz_writer *writer, const tz_simulation *source, const char *path,
                             tz_error *error)
{
    const tz_format *format = writer->output->format;
    char list[TZ_WRITER_STEM_SIZE + 40], list_path[PATH_MAX];
    char comment[160], rule[TZ_RLE_RULE_SIZE];
    tz_grid_field described[TZ_OUTPUT_FIELDS_MAX];
    tz_grid grid;
    tz_grid_file *file = NULL;
    tz_output_describe(writer->output, source, writer->field, &grid, described, rule);
    snprintf(comment, sizeof comment, "%s, step %lld, by Trapeze %s", writer->files->scenario,
             (long long)tz_simulation_step(source), TZ_VERSION);
    grid.comment = comment;
    const bool lists = tz_writer_series(writer, list, sizeof list) && writer->files->folder;
    tz_status status =
        lists ? tz_folder_join(writer->files->folder, list, list_path, sizeof list_path, error)
              : TZ_OK;
    if (status == TZ_OK)
        status = format->begin(&file, path, &grid, error);
    for (size_t i = 0; status == TZ_OK && i < grid.fields_count; i++)
        status = write_field(
            source, tz_stencil_field_index(tz_simulation_stencil(source), grid.fields[i].name),
            file, i, error);
    if (status == TZ_OK) {
        status = tz_grid_file_commit(file, error);
        file = NULL;
        if (status == TZ_OK && lists)
            status = format->list(list_path, strrchr(path, '/') + 1, &grid, error);
    }
    tz_grid_file_abort(file);
    return status;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

void tz_writer_number(char cell[TZ_CELL_SIZE], double value)
{
    char number[TZ_NUMBER_SIZE];
    snprintf(cell, TZ_CELL_SIZE, "%s", isnan(value) ? "nan" : tz_number_format(number, value));
}

static int column_field(const tz_writer *writer, const tz_stencil *stencil, const tz_column *column)
{
    return column->field[0] ? tz_stencil_field_index(stencil, column->field) : writer->field;
}

/* The text of a column that shows a field. */
static void fill_cell(tz_column_kind kind, const tz_reduction *facts, char cell[TZ_CELL_SIZE])
{
    switch (kind) {
    case TZ_COLUMN_MIN:
        tz_writer_number(cell, facts->min);
        break;
    case TZ_COLUMN_MAX:
        tz_writer_number(cell, facts->max);
        break;
    case TZ_COLUMN_SUM:
        tz_writer_number(cell, facts->sum);
        break;
    case TZ_COLUMN_MEAN:
        tz_writer_number(cell, facts->sum / (double)facts->cells);
        break;
    case TZ_COLUMN_POPULATION:
        snprintf(cell, TZ_CELL_SIZE, "%lld", (long long)facts->population);
        break;
    default:
        snprintf(cell, TZ_CELL_SIZE, "%016llx", (unsigned long long)facts->hash);
    }
}

static tz_status fill_probe(const tz_writer *writer, const tz_simulation *source,
                            const tz_column *column, char cell[TZ_CELL_SIZE], tz_error *error)
{
    tz_box box;
    double value;
    for (int a = 0; a < TZ_AXES; a++) {
        box.low[a] = column->at[a];
        box.high[a] = box.low[a] + 1;
    }
    const tz_status status = tz_simulation_read(
        source, column_field(writer, tz_simulation_stencil(source), column), &box, &value, error);
    if (status == TZ_OK)
        tz_writer_number(cell, value);
    return status;
}

tz_status tz_writer_fill(const tz_writer *writer, const tz_simulation *source, tz_writer_row *row,
                         tz_error *error)
{
    const tz_output *output = writer->output;
    tz_reduction facts[TZ_FIELDS_MAX];
    bool known[TZ_FIELDS_MAX] = {false};
    for (size_t i = 0; i < output->columns_count; i++) {
        const tz_column *column = &output->columns[i];
        char *cell = row->cells[i];
        if (column->kind == TZ_COLUMN_FUNCTION) {
            cell[0] = '\0';
        } else if (column->kind == TZ_COLUMN_STEP) {
            snprintf(cell, TZ_CELL_SIZE, "%lld", (long long)tz_simulation_step(source));
        } else if (column->kind == TZ_COLUMN_TIME) {
            tz_number_format_style(cell, TZ_CELL_SIZE, 'g', 15, tz_simulation_time(source));
        } else if (column->kind == TZ_COLUMN_RESIDUAL) {
            tz_writer_number(cell, tz_simulation_residual(source));
        } else if (column->kind == TZ_COLUMN_PROBE) {
            const tz_status status = fill_probe(writer, source, column, cell, error);
            if (status != TZ_OK)
                return status;
        } else {
            const int field = column_field(writer, tz_simulation_stencil(source), column);
            if (!known[field]) {
                const tz_status status = tz_simulation_reduce(source, field, &facts[field], error);
                if (status != TZ_OK)
                    return status;
            }
            known[field] = true;
            fill_cell(column->kind, &facts[field], cell);
        }
    }
    return TZ_OK;
}

tz_status tz_writer_add(tz_writer *writer, const tz_writer_row *row, tz_error *error)
{
    const tz_output *output = writer->output;
    const char *cells[TZ_COLUMNS_MAX], *titles[TZ_COLUMNS_MAX];
    for (size_t i = 0; i < output->columns_count; i++) {
        cells[i] = row->cells[i];
        titles[i] = output->columns[i].title;
    }
    tz_status status = TZ_OK;
    if (!writer->table) {
        char path[PATH_MAX];
        status = make_path(writer, 0, path, sizeof path, error);
        if (status == TZ_OK)
            status = tz_table_create(&writer->table, path, output->format->table_style,
                                     output->columns_count, titles, error);
    }
    return status == TZ_OK ? tz_table_add(writer->table, cells, error) : status;
}

/* ---- Tables of probes ------------------------------------------------------------------------ */

/* Columns that can be written later, and a probe of a field that can be recorded among them. */
static bool may_listen(const tz_writer *writer, const tz_simulation *simulation)
{
    const tz_output *output = writer->output;
    const tz_stencil *stencil = tz_simulation_stencil(simulation);
    bool probes = false;
    for (size_t i = 0; i < output->columns_count; i++) {
        const tz_column *column = &output->columns[i];
        const bool probe = column->kind == TZ_COLUMN_PROBE;
        if (probe && !tz_simulation_can_record(simulation, column_field(writer, stencil, column)))
            return false;
        if (!probe && column->kind != TZ_COLUMN_STEP && column->kind != TZ_COLUMN_TIME)
            return false;
        probes |= probe;
    }
    return probes;
}

tz_status tz_writer_listen(tz_writer *writer, tz_simulation *simulation, tz_error *error)
{
    const tz_output *output = writer->output;
    const tz_stencil *stencil = tz_simulation_stencil(simulation);
    tz_status status = TZ_OK;
    if (output->format->content != TZ_CONTENT_TABLE || !may_listen(writer, simulation))
        return TZ_OK;
    tz_receivers **probes = calloc(output->columns_count, sizeof(void *));
    if (!probes)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a table");
    for (size_t i = 0; i < output->columns_count && !status; i++) {
        const tz_column *column = &output->columns[i];
        double at[TZ_AXES];
        for (int axis = 0; axis < TZ_AXES; axis++)
            at[axis] = (double)column->at[axis];
        const tz_points_config point = {
            .field = column_field(writer, stencil, column), .count = 1, .at = at, .jumps = true};
        if (column->kind == TZ_COLUMN_PROBE)
            status = tz_simulation_add_receivers(simulation, &point, 1, &probes[i], error);
    }
    if (status)
        free(probes);
    else
        writer->probes = probes;
    return status;
}

tz_status tz_writer_take(tz_writer *writer, const tz_simulation *simulation, bool drop,
                         tz_error *error)
{
    const tz_output *output = writer->output;
    tz_received of[TZ_COLUMNS_MAX] = {{0}};
    int64_t rows = 0;
    const int64_t *steps = NULL;
    tz_status status = TZ_OK;
    for (size_t i = 0; i < output->columns_count; i++)
        if (writer->probes[i]) {
            of[i] = tz_receivers_get(writer->probes[i]);
            rows = of[i].rows;
            steps = of[i].steps;
        }
    for (int64_t k = 0; k < rows && !status && !drop; k++) {
        tz_writer_row row;
        for (size_t i = 0; i < output->columns_count; i++)
            if (writer->probes[i])
                tz_writer_number(row.cells[i], of[i].values[k]);
            else if (output->columns[i].kind == TZ_COLUMN_STEP)
                snprintf(row.cells[i], TZ_CELL_SIZE, "%lld", (long long)steps[k]);
            else
                tz_number_format_style(row.cells[i], TZ_CELL_SIZE, 'g', 15,
                                       tz_simulation_time_at(simulation, steps[k]));
        status = tz_writer_add(writer, &row, error);
        tz_writer_count(writer, steps[k]);
    }
    for (size_t i = 0; i < output->columns_count; i++)
        if (writer->probes[i])
            tz_receivers_drop(writer->probes[i], rows);
    return status;
}

/* ---- All kinds ------------------------------------------------------------------------------- */

tz_status tz_writer_write(tz_writer *writer, const tz_simulation *source, tz_error *error)
{
    if (writer->output->format->content == TZ_CONTENT_TABLE) {
        tz_writer_row row;
        const tz_status status = tz_writer_fill(writer, source, &row, error);
        return status == TZ_OK ? tz_writer_add(writer, &row, error) : status;
    }
    if (writer->output->format->content == TZ_CONTENT_MOVIE)
        return write_movie(writer, source, error);
    char path[PATH_MAX];
    const tz_status status =
        make_path(writer, tz_simulation_step(source), path, sizeof path, error);
    if (status != TZ_OK)
        return status;
    return writer->output->format->content == TZ_CONTENT_PICTURE
               ? write_picture(writer, source, path, error)
               : write_array(writer, source, path, error);
}

tz_status tz_writer_go_on(tz_writer *writer, int64_t last_step, int64_t count, int64_t bytes,
                          tz_error *error)
{
    char path[PATH_MAX], name[TZ_WRITER_FILE_SIZE];
    writer->last_step = last_step;
    writer->count = count;
    if (writer->output && writer->output->format->content == TZ_CONTENT_MOVIE &&
        !writer->output->format->film_go_on)
        writer->first_frame = count;
    if (bytes < 0)
        return TZ_OK;
    tz_writer_file(writer, 0, name);
    const tz_status status = tz_folder_join(writer->files->folder, name, path, sizeof path, error);
    if (status != TZ_OK)
        return status;
    return writer->output->format->content == TZ_CONTENT_MOVIE
               ? tz_movie_open(&writer->movie, path, writer->output->format, writer->output->fps,
                               bytes, count, error)
               : tz_table_open(&writer->table, path, writer->output->format->table_style,
                               writer->output->columns_count, bytes, error);
}

bool tz_writer_is_done(const tz_writer *writer, int64_t step)
{
    return writer->output->format->content != TZ_CONTENT_TABLE && writer->last_step == step;
}

void tz_writer_count(tz_writer *writer, int64_t step)
{
    writer->last_step = step;
    writer->count++;
}

/* ---- From snapshots -------------------------------------------------------------------------- */

typedef struct job {
    tz_writer *writer;
    tz_snapshot *snapshot;
} job;

static tz_status write_job(void *data, tz_error *error)
{
    const job *j = data;
    const tz_status status = tz_snapshot_check(j->snapshot, error);
    return status == TZ_OK ? tz_writer_write(j->writer, tz_snapshot_simulation(j->snapshot), error)
                           : status;
}

static void release_job(void *data)
{
    job *j = data;
    tz_snapshot_release(j->snapshot);
    free(j);
}

tz_status tz_writer_write_later(tz_writer *writer, tz_snapshot *snapshot, tz_error *error)
{
    const int64_t step = tz_simulation_step(tz_snapshot_simulation(snapshot));
    if (tz_writer_is_done(writer, step))
        return TZ_OK;
    job *j = malloc(sizeof *j);
    if (!j)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for an output");
    *j = (job){writer, snapshot};
    tz_snapshot_hold(snapshot);
    tz_writer_count(writer, step);
    const tz_job pushed = {write_job, release_job, j};
    return tz_job_queue_push(writer->files->snapshots, &pushed, error);
}

uint32_t tz_writer_fields(const tz_writer *writer, const tz_stencil *stencil)
{
    const tz_output *output = writer->output;
    uint32_t fields = output->format->content == TZ_CONTENT_TABLE ? 0 : 1u << writer->field;
    for (size_t i = 0; i < output->fields_count; i++)
        fields |= 1u << tz_stencil_field_index(stencil, output->fields[i]);
    for (size_t i = 0; i < output->columns_count; i++)
        if (output->columns[i].kind > TZ_COLUMN_RESIDUAL)
            fields |= 1u << column_field(writer, stencil, &output->columns[i]);
    return fields;
}
