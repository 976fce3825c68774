/* Outputs as a script describes them: tz.png, tz.npy, tz.rle, tz.vti, tz.table. */
#ifndef TZ_CORE_LUA_OUTPUT_H
#define TZ_CORE_LUA_OUTPUT_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TZ_TYPE_OUTPUT "trapeze.output"

typedef enum tz_output_kind {
    TZ_OUTPUT_PNG,
    TZ_OUTPUT_NPY,
    TZ_OUTPUT_RLE,
    TZ_OUTPUT_VTI,
    TZ_OUTPUT_TABLE,
    TZ_OUTPUT_KINDS
} tz_output_kind;

typedef enum tz_column_kind {
    TZ_COLUMN_STEP,
    TZ_COLUMN_RESIDUAL,
    TZ_COLUMN_MIN,
    TZ_COLUMN_MAX,
    TZ_COLUMN_SUM,
    TZ_COLUMN_MEAN,
    TZ_COLUMN_POPULATION,
    TZ_COLUMN_HASH,
    TZ_COLUMN_FUNCTION
} tz_column_kind;

enum { TZ_COLUMNS_MAX = 64, TZ_OUTPUT_FIELDS_MAX = 8 };

typedef struct tz_column {
    tz_column_kind kind;
    char title[96];
    char field[64]; /* "": the first state field */
} tz_column;

typedef enum tz_range_kind { TZ_RANGE_PICTURE, TZ_RANGE_FIXED, TZ_RANGE_AUTO } tz_range_kind;

/* How a picture looks: shared by tz.png and tz.picture. */
typedef struct tz_look {
    char map[32]; /* "": the stencil's, else viridis */
    tz_range_kind range;
    double low, high;
    int64_t size; /* most pixels of a side; 0: the default */
    int64_t zoom; /* pixels a cell; 0: chosen */
    int bits;     /* 8 or 16 */
    bool bar;
    char caption[256];
    bool has_unit;
    char unit[64];
} tz_look;

/* A userdata; functions of a table are in its user value, under 1, 2, … in the order of columns. */
typedef struct tz_output {
    tz_output_kind kind;
    char name[64]; /* "": chosen */
    size_t fields_count;
    char fields[TZ_OUTPUT_FIELDS_MAX][64]; /* none: the stencil's picture or first state field */
    tz_look look;
    bool has_slice;
    int64_t slice; /* z of a 3-D field */
    size_t columns_count;
    tz_column columns[]; /* of a table */
} tz_output;

const char *tz_output_kind_name(tz_output_kind kind);
/* ".png", … */
const char *tz_output_suffix(tz_output_kind kind);

/* The keys of a look, for tz_keys_check: the first `tz_look_keys_count` of an option table. */
extern const char *const tz_look_keys[];
enum { TZ_LOOK_KEYS = 8 };
/* Read a look from the option table at `index`. Raises. */
void tz_look_get(lua_State *L, int index, const char *what, tz_look *look);

#endif
