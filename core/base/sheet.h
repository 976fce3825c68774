/* Sheets: tables whose columns are described once, for text, CSV, JSON and Lua. A row is a struct;
 * a column has a key and finds its cell in the row. */
#ifndef TZ_CORE_BASE_SHEET_H
#define TZ_CORE_BASE_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_t; /* jansson.h */

typedef enum tz_cell_kind {
    TZ_CELL_NONE, /* not there: no key in JSON and Lua */
    TZ_CELL_NULL, /* has no value: "-" in text, null in JSON, no key in Lua */
    TZ_CELL_FLAG,
    TZ_CELL_INTEGER,
    TZ_CELL_REAL, /* NaN and infinity are no JSON: no key */
    TZ_CELL_TEXT,
    TZ_CELL_MADE,     /* a text that the getter made */
    TZ_CELL_INTEGERS, /* a list */
    TZ_CELL_TEXTS,    /* a list */
    TZ_CELL_NAMED,    /* reals with names: a column each in text, an object in JSON and Lua */
    TZ_CELL_ROW,      /* an object */
    TZ_CELL_ROWS      /* a list of objects */
} tz_cell_kind;

/* Rows and their columns. */
typedef struct tz_sheet {
    const struct tz_sheet_column *columns;
    /* What getters need beside the row. */
    const void *context;
    const void *rows;
    size_t stride;
    int count;
    /* For text: the unit of times, how many of it are a second, and which rows are left out (NULL:
     * none). */
    const char *unit;
    double per_second;
    bool (*hides)(const void *context, const void *row);
} tz_sheet;

/* Structs with a `const char *` and a double, at these offsets. */
typedef struct tz_named_reals {
    const void *items;
    size_t stride, name, value;
} tz_named_reals;

/* Texts in arrays of chars, or pointers to texts, this far apart. */
typedef struct tz_chars {
    const void *items;
    size_t stride;
    bool pointers;
} tz_chars;

enum { TZ_CELL_MADE_SIZE = 160 };

typedef struct tz_cell {
    tz_cell_kind kind;
    /* Of a list. */
    int count;
    union {
        bool flag;
        int64_t integer;
        double real;
        const char *text;
        char made[TZ_CELL_MADE_SIZE];
        const int64_t *integers;
        tz_chars chars;
        tz_named_reals named;
        tz_sheet sheet;
    };
} tz_cell;

/* The forms of a column; it is in text if it has a heading. */
enum { TZ_IN_CSV = 1, TZ_IN_JSON = 2, TZ_IN_LUA = 4 };

/* A list of columns ends with one of zeros. */
typedef struct tz_sheet_column {
    /* Its name in CSV, JSON and Lua. NULL: in text only, or a part. */
    const char *key;
    /* 0: all of them. */
    unsigned forms;
    tz_cell (*get)(const void *context, const void *row);
    /* `get` NULL: a member of the row. */
    size_t offset;
    enum {
        TZ__MEMBER_BOOL,
        TZ__MEMBER_INT,
        TZ__MEMBER_INT64,
        TZ__MEMBER_DOUBLE,
        TZ__MEMBER_TEXT,
        TZ__MEMBER_CHARS
    } member;
    /* A member that is 0 or "" is not there in JSON and Lua. */
    bool sparse;
    /* Digits of a real in CSV; 0: 9. */
    int digits;
    /* `get` finds a ROW of these columns: an object, which CSV has as KEY_NAME each; without a key,
     * they are columns of this row. */
    const struct tz_sheet_column *part;
    /* For text: printf's format of a const char *, long long or double; the reals are multiplied
     * first (0: 1). */
    const char *heading, *format;
    double scale;
    /* Reals are in the sheet's unit. */
    bool is_time;
    /* Blanks before the column (0: 1), and its width; negative: at the left. */
    int gap, width;
    /* Where the cell is there, the row ends with it; it has no heading. */
    bool ends_row;
} tz_sheet_column;

#define TZ__MEMBER_OF(type, member_)                                                               \
    _Generic(((type *)0)->member_, bool: TZ__MEMBER_BOOL, int: TZ__MEMBER_INT,                     \
             int64_t: TZ__MEMBER_INT64, double: TZ__MEMBER_DOUBLE, const char *: TZ__MEMBER_TEXT,  \
             char *: TZ__MEMBER_CHARS)
/* A column for a member of the row; then other members of tz_sheet_column. */
#define TZ_MEMBER(key_, type, member_, ...)                                                        \
    {                                                                                              \
        .key = key_, .offset = offsetof(type, member_), .member = TZ__MEMBER_OF(type, member_),    \
        __VA_ARGS__                                                                                \
    }

/* A heading that is the sheet's unit. */
#define TZ_HEADING_UNIT "(unit)"

/* Cells. A text that is NULL is a cell without a value. */
tz_cell tz_cell_flag(bool flag);
tz_cell tz_cell_integer(int64_t integer);
tz_cell tz_cell_real(double real);
tz_cell tz_cell_text(const char *text);
tz_cell tz_cell_made(const char *format, ...) __attribute__((format(printf, 1, 2)));
tz_cell tz_cell_integers(int count, const int64_t *integers);
tz_cell tz_cell_texts(int count, const void *items, size_t stride);
tz_cell tz_cell_names(int count, const void *pointers, size_t stride);
#define TZ_CELL_NAMED_OF(count_, items_, type, name_, value_)                                      \
    ((tz_cell){.kind = TZ_CELL_NAMED,                                                              \
               .count = (count_),                                                                  \
               .named = {items_, sizeof(type), offsetof(type, name_), offsetof(type, value_)}})
tz_cell tz_cell_row(const tz_sheet_column *columns, const void *context, const void *row);
tz_cell tz_cell_rows(tz_sheet sheet);
#define TZ_NO_CELL ((tz_cell){.kind = TZ_CELL_NONE})
#define TZ_NULL_CELL ((tz_cell){.kind = TZ_CELL_NULL})

/* A getter that finds `expression`, in which r is the row and c the context. */
#define TZ_GETTER(name_, context_type, row_type, expression)                                       \
    static tz_cell name_(const void *context_, const void *row_)                                   \
    {                                                                                              \
        const context_type *const c = context_;                                                    \
        const row_type *const r = row_;                                                            \
        (void)c, (void)r;                                                                          \
        return expression;                                                                         \
    }                                                                                              \
    struct tz_sheet_column

/* For writers, of JSON and Lua: the cell of a column in a row, whether the column is in a form, the
 * end of a list, a row, a named real, and a text of a list. */
tz_cell tz_sheet_column_cell(const tz_sheet_column *column, const void *context, const void *row);
bool tz_sheet_column_is_in(const tz_sheet_column *column, unsigned form);
bool tz_sheet_column_is_last(const tz_sheet_column *column);
const void *tz_sheet_row(const tz_sheet *sheet, int index);
const char *tz_cell_name(const tz_cell *cell, int index, double *value);
const char *tz_cell_item(const tz_cell *cell, int index);

/* ---- Writers ---- */
/* What a command prints: text, or by --csv and --json the others. */
typedef enum tz_form { TZ_FORM_TEXT, TZ_FORM_CSV, TZ_FORM_JSON } tz_form;

/* A line of headings and a line for each row. Columns that no row has are left out. */
void tz_sheet_text(const tz_sheet *sheet, FILE *out);
/* `names`: begin with the line of names. Lists are cells: "1 2", "NAME=1.5;NAME=2.5"; ROWS are
 * nothing. */
void tz_sheet_csv(const tz_sheet *sheet, bool names, FILE *out);
/* Cells are quoted where CSV requires it. */
void tz_csv_text(const char *text, FILE *out);
/* A list of objects, an object and a value; NULL: not enough memory. */
struct json_t *tz_sheet_json(const tz_sheet *sheet);
struct json_t *tz_cell_json(const tz_cell *cell);
struct json_t *tz_row_json(const tz_sheet_column *columns, const void *context, const void *row);

#endif
