/* Writes sheets as text, CSV and JSON. Called by all that prints tables. */
#include "base/sheet.h"

#include "base/text.h"
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_SIZE = 512, COLUMNS_MAX = 64 };

/* ---- Cells ----------------------------------------------------------------------------------- */

tz_cell tz_cell_flag(bool flag)
{
    return (tz_cell){.kind = TZ_CELL_FLAG, .flag = flag};
}

tz_cell tz_cell_integer(int64_t integer)
{
    return (tz_cell){.kind = TZ_CELL_INTEGER, .integer = integer};
}

tz_cell tz_cell_real(double real)
{
    return (tz_cell){.kind = TZ_CELL_REAL, .real = real};
}

tz_cell tz_cell_text(const char *text)
{
    return (tz_cell){.kind = text ? TZ_CELL_TEXT : TZ_CELL_NULL, .text = text};
}

tz_cell tz_cell_made(const char *format, ...)
{
    tz_cell cell = {.kind = TZ_CELL_MADE};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(cell.made, sizeof cell.made, format, arguments);
    va_end(arguments);
    return cell;
}

tz_cell tz_cell_integers(int count, const int64_t *integers)
{
    return (tz_cell){.kind = TZ_CELL_INTEGERS, .count = count, .integers = integers};
}

tz_cell tz_cell_texts(int count, const void *items, size_t stride)
{
    return (tz_cell){.kind = TZ_CELL_TEXTS, .count = count, .chars = {items, stride, false}};
}

tz_cell tz_cell_names(int count, const void *pointers, size_t stride)
{
    return (tz_cell){.kind = TZ_CELL_TEXTS, .count = count, .chars = {pointers, stride, true}};
}

tz_cell tz_cell_row(const tz_sheet_column *columns, const void *context, const void *row)
{
    return (tz_cell){.kind = TZ_CELL_ROW,
                     .sheet = {.columns = columns, .context = context, .rows = row, .count = 1}};
}

tz_cell tz_cell_rows(tz_sheet sheet)
{
    return (tz_cell){.kind = TZ_CELL_ROWS, .sheet = sheet};
}

static tz_cell member_of(const tz_sheet_column *column, const void *row)
{
    const void *at = (const char *)row + column->offset;
    switch (column->member) {
    case TZ__MEMBER_BOOL:
        return tz_cell_flag(*(const bool *)at);
    case TZ__MEMBER_INT:
        return tz_cell_integer(*(const int *)at);
    case TZ__MEMBER_INT64:
        return tz_cell_integer(*(const int64_t *)at);
    case TZ__MEMBER_DOUBLE:
        return tz_cell_real(*(const double *)at);
    case TZ__MEMBER_TEXT:
        return tz_cell_text(*(const char *const *)at);
    case TZ__MEMBER_CHARS:
        return tz_cell_text(at);
    }
    return TZ_NO_CELL;
}

static tz_cell find(const tz_sheet_column *column, const void *context, const void *row)
{
    return column->get ? column->get(context, row) : member_of(column, row);
}

tz_cell tz_sheet_column_cell(const tz_sheet_column *column, const void *context, const void *row)
{
    const tz_cell cell = find(column, context, row);
    const bool empty = (cell.kind == TZ_CELL_INTEGER && cell.integer == 0) ||
                       (cell.kind == TZ_CELL_REAL && cell.real == 0) ||
                       (cell.kind == TZ_CELL_TEXT && cell.text[0] == '\0');
    return column->sparse && empty ? TZ_NO_CELL : cell;
}

const char *tz_cell_name(const tz_cell *cell, int index, double *value)
{
    const char *item = (const char *)cell->named.items + (size_t)index * cell->named.stride;
    *value = *(const double *)(item + cell->named.value);
    return *(const char *const *)(item + cell->named.name);
}

const char *tz_cell_item(const tz_cell *cell, int index)
{
    const char *item = (const char *)cell->chars.items + (size_t)index * cell->chars.stride;
    return cell->chars.pointers ? *(const char *const *)(const void *)item : item;
}

const void *tz_sheet_row(const tz_sheet *sheet, int index)
{
    return (const char *)sheet->rows + (size_t)index * sheet->stride;
}

bool tz_sheet_column_is_last(const tz_sheet_column *column)
{
    return !column->key && !column->part && !column->heading;
}

bool tz_sheet_column_is_in(const tz_sheet_column *column, unsigned form)
{
    return column->key && (column->forms == 0 || (column->forms & form) != 0);
}

/* ---- Text ------------------------------------------------------------------------------------ */

/* A column as it is shown: NAMED cells have several, `index` counts them. */
typedef struct shown {
    const tz_sheet_column *column;
    char heading[32];
    int index;
} shown;

static bool is_hidden(const tz_sheet *sheet, int row)
{
    return sheet->hides && sheet->hides(sheet->context, tz_sheet_row(sheet, row));
}

/* The columns that a row has. */
static int find_shown(const tz_sheet *sheet, shown out[COLUMNS_MAX])
{
    int count = 0;
    for (const tz_sheet_column *column = sheet->columns; !tz_sheet_column_is_last(column);
         column++) {
        tz_cell cell = TZ_NO_CELL;
        for (int i = 0; column->heading && i < sheet->count && cell.kind == TZ_CELL_NONE; i++)
            if (!is_hidden(sheet, i))
                cell = find(column, sheet->context, tz_sheet_row(sheet, i));
        const int parts = cell.kind == TZ_CELL_NONE    ? 0
                          : cell.kind == TZ_CELL_NAMED ? cell.count
                                                       : 1;
        for (int k = 0; k < parts && count < COLUMNS_MAX; k++, count++) {
            double ignored;
            const char *heading = column->heading;
            int most = (int)sizeof out->heading - 1;
            if (cell.kind == TZ_CELL_NAMED) {
                heading = tz_cell_name(&cell, k, &ignored);
                most = abs(column->width);
            } else if (strcmp(heading, TZ_HEADING_UNIT) == 0) {
                heading = sheet->unit;
            }
            out[count] = (shown){.column = column, .index = k};
            snprintf(out[count].heading, sizeof out[count].heading, "%.*s", most, heading);
        }
    }
    return count;
}

static void put_padded(const tz_sheet_column *column, const char *text, bool last, FILE *out)
{
    int columns = 0;
    for (const char *c = text; *c != '\0'; c++)
        columns += (*c & 0xc0) != 0x80;
    const int blanks = abs(column->width) - columns;
    const bool left = column->width <= 0;
    fprintf(out, "%*s%*s%s%*s", column->gap > 0 ? column->gap : 1, "",
            left || blanks < 0 ? 0 : blanks, "", text, !left || last || blanks < 0 ? 0 : blanks,
            "");
}

static void cell_text(const tz_sheet *sheet, const tz_sheet_column *column, const tz_cell *cell,
                      int index, char text[CELL_SIZE])
{
    const double scale = (column->scale != 0 ? column->scale : 1) *
                         (column->is_time && sheet->per_second > 0 ? sheet->per_second : 1);
    const char *format = column->format;
    double value = 0;
    switch (cell->kind) {
    case TZ_CELL_NULL:
        snprintf(text, CELL_SIZE, "-");
        return;
    case TZ_CELL_INTEGER:
        snprintf(text, CELL_SIZE, format ? format : "%lld", (long long)cell->integer);
        return;
    case TZ_CELL_REAL:
        snprintf(text, CELL_SIZE, format ? format : "%.4g", cell->real * scale);
        return;
    case TZ_CELL_NAMED:
        if (index < cell->count)
            tz_cell_name(cell, index, &value);
        snprintf(text, CELL_SIZE, format ? format : "%.4g", value * scale);
        return;
    case TZ_CELL_MADE:
        snprintf(text, CELL_SIZE, "%s", cell->made);
        return;
    case TZ_CELL_TEXT:
        snprintf(text, CELL_SIZE, format ? format : "%s", cell->text);
        return;
    default:
        text[0] = '\0';
    }
}

void tz_sheet_text(const tz_sheet *sheet, FILE *out)
{
    shown columns[COLUMNS_MAX];
    const int count = find_shown(sheet, columns);
    for (int c = 0; c < count; c++)
        if (!columns[c].column->ends_row)
            put_padded(columns[c].column, columns[c].heading, c + 1 == count, out);
    fputc('\n', out);
    for (int i = 0; i < sheet->count; i++) {
        bool ended = is_hidden(sheet, i);
        if (ended)
            continue;
        for (int c = 0; c < count && !ended; c++) {
            const tz_sheet_column *column = columns[c].column;
            const tz_cell cell = find(column, sheet->context, tz_sheet_row(sheet, i));
            char text[CELL_SIZE];
            if (column->ends_row && cell.kind == TZ_CELL_NONE)
                continue;
            cell_text(sheet, column, &cell, columns[c].index, text);
            ended = column->ends_row;
            put_padded(column, text, ended || c + 1 == count, out);
        }
        fputc('\n', out);
    }
}

/* ---- CSV ------------------------------------------------------------------------------------- */

void tz_csv_text(const char *text, FILE *out)
{
    if (text[strcspn(text, ",\"\r\n")] == '\0') {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++)
        fputs(*text == '"' ? "\"\"" : (const char[]){*text, '\0'}, out);
    fputc('"', out);
}

/* An object is several columns, KEY_NAME each. */
static void csv_names(const tz_sheet_column *columns, const char *prefix, bool *first, FILE *out)
{
    for (const tz_sheet_column *column = columns; !tz_sheet_column_is_last(column); column++) {
        if (column->key && !tz_sheet_column_is_in(column, TZ_IN_CSV))
            continue;
        if (column->part) {
            csv_names(column->part, column->key ? column->key : "", first, out);
        } else if (column->key) {
            fprintf(out, "%s%s%s%s", *first ? "" : ",", prefix, prefix[0] ? "_" : "", column->key);
            *first = false;
        }
    }
}

static void csv_cell(const tz_sheet_column *column, const tz_cell *cell, FILE *out)
{
    const int digits = column->digits > 0 ? column->digits : 9;
    if (cell->kind == TZ_CELL_FLAG)
        fprintf(out, "%d", cell->flag);
    else if (cell->kind == TZ_CELL_INTEGER)
        fprintf(out, "%lld", (long long)cell->integer);
    else if (cell->kind == TZ_CELL_REAL)
        fprintf(out, "%.*g", digits, cell->real);
    else if (cell->kind == TZ_CELL_TEXT)
        tz_csv_text(cell->text, out);
    else if (cell->kind == TZ_CELL_MADE)
        tz_csv_text(cell->made, out);
    for (int i = 0; i < cell->count; i++) {
        double value = 0;
        const char *name = cell->kind == TZ_CELL_NAMED ? tz_cell_name(cell, i, &value) : NULL;
        fputs(i == 0 ? "" : name ? ";" : " ", out);
        if (name)
            fprintf(out, "%s=%.*g", name, digits, value);
        else if (cell->kind == TZ_CELL_INTEGERS)
            fprintf(out, "%lld", (long long)cell->integers[i]);
        else if (cell->kind == TZ_CELL_TEXTS)
            fputs(tz_cell_item(cell, i), out);
    }
}

/* `row` NULL: nothing in any of them. */
static void csv_cells(const tz_sheet_column *columns, const void *context, const void *row,
                      bool *first, FILE *out)
{
    for (const tz_sheet_column *column = columns; !tz_sheet_column_is_last(column); column++) {
        if (column->key && !tz_sheet_column_is_in(column, TZ_IN_CSV))
            continue;
        const tz_cell cell = row ? find(column, context, row) : TZ_NO_CELL;
        if (column->part) {
            csv_cells(column->part, cell.sheet.context,
                      cell.kind == TZ_CELL_ROW ? cell.sheet.rows : NULL, first, out);
        } else if (column->key) {
            fputs(*first ? "" : ",", out);
            *first = false;
            csv_cell(column, &cell, out);
        }
    }
}

void tz_sheet_csv(const tz_sheet *sheet, bool names, FILE *out)
{
    bool first = true;
    if (names) {
        csv_names(sheet->columns, "", &first, out);
        fputc('\n', out);
    }
    for (int i = 0; i < sheet->count; i++) {
        first = true;
        csv_cells(sheet->columns, sheet->context, tz_sheet_row(sheet, i), &first, out);
        fputc('\n', out);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *text_json(const char *text)
{
    char *copy = strdup(text);
    if (copy)
        tz_text_utf8(copy);
    json_t *json = copy ? json_string(copy) : NULL;
    free(copy);
    return json;
}

/* The items of a list. */
static json_t *list_json(const tz_cell *cell)
{
    json_t *list = cell->kind == TZ_CELL_NAMED ? json_object() : json_array();
    int failed = !list;
    for (int i = 0; i < cell->count && !failed; i++) {
        double value = 0;
        const char *name = cell->kind == TZ_CELL_NAMED ? tz_cell_name(cell, i, &value) : NULL;
        if (cell->kind == TZ_CELL_NAMED)
            failed =
                json_object_set_new(list, name, isfinite(value) ? json_real(value) : json_null());
        else
            failed = json_array_append_new(list, cell->kind == TZ_CELL_TEXTS
                                                     ? text_json(tz_cell_item(cell, i))
                                                     : json_integer(cell->integers[i]));
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

json_t *tz_cell_json(const tz_cell *cell)
{
    switch (cell->kind) {
    case TZ_CELL_NONE:
    case TZ_CELL_NULL:
        return json_null();
    case TZ_CELL_FLAG:
        return json_boolean(cell->flag);
    case TZ_CELL_INTEGER:
        return json_integer(cell->integer);
    case TZ_CELL_REAL:
        return isfinite(cell->real) ? json_real(cell->real) : json_null();
    case TZ_CELL_TEXT:
        return text_json(cell->text);
    case TZ_CELL_MADE:
        return text_json(cell->made);
    case TZ_CELL_INTEGERS:
    case TZ_CELL_TEXTS:
    case TZ_CELL_NAMED:
        return list_json(cell);
    case TZ_CELL_ROW:
        return tz_row_json(cell->sheet.columns, cell->sheet.context, cell->sheet.rows);
    case TZ_CELL_ROWS:
        return tz_sheet_json(&cell->sheet);
    }
    return NULL;
}

/* Not 0: not enough memory. */
static int put_row(json_t *object, const tz_sheet_column *columns, const void *context,
                   const void *row)
{
    int failed = !object;
    for (const tz_sheet_column *column = columns; !tz_sheet_column_is_last(column) && !failed;
         column++) {
        const bool merged = column->part && !column->key;
        if (!merged && !tz_sheet_column_is_in(column, TZ_IN_JSON))
            continue;
        const tz_cell cell = tz_sheet_column_cell(column, context, row);
        const bool absent =
            cell.kind == TZ_CELL_NONE || (cell.kind == TZ_CELL_REAL && !isfinite(cell.real));
        if (merged && cell.kind == TZ_CELL_ROW)
            failed = put_row(object, column->part, cell.sheet.context, cell.sheet.rows);
        else if (!merged && !absent)
            failed = json_object_set_new(object, column->key, tz_cell_json(&cell));
    }
    return failed;
}

json_t *tz_row_json(const tz_sheet_column *columns, const void *context, const void *row)
{
    json_t *object = json_object();
    if (put_row(object, columns, context, row) == 0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *tz_sheet_json(const tz_sheet *sheet)
{
    json_t *list = json_array();
    int failed = !list;
    for (int i = 0; i < sheet->count && !failed; i++)
        failed = json_array_append_new(
            list, tz_row_json(sheet->columns, sheet->context, tz_sheet_row(sheet, i)));
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}
