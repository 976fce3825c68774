/* A description of a stencil as a row of a sheet: for `trapeze plugins`, and for programs. */
#ifndef TZ_CORE_STENCIL_LISTING_H
#define TZ_CORE_STENCIL_LISTING_H

#include "base/sheet.h"
#include "stencil/stencil.h"

/* A stencil with what its columns need as lists. */
typedef struct tz_listed_stencil {
    const tz_plugin *plugin;
    const tz_stencil *stencil;
    int boundaries_count, scalars_count;
    const char *boundaries[TZ_BOUNDARIES], *scalars[TZ_CONSTANTS_MAX];
} tz_listed_stencil;

/* Fill a row of zeros. `plugin` may be NULL: it is in CSV alone. All is borrowed from both. */
void tz_listed_stencil_of(tz_listed_stencil *out, const tz_plugin *plugin,
                          const tz_stencil *stencil);

/* Columns of such rows. */
extern const tz_sheet_column tz_stencil_columns[];

/* A cell with rows of an array. */
#define TZ_ROWS_OF(columns_, rows_, count_)                                                        \
    tz_cell_rows((tz_sheet){                                                                       \
        .columns = columns_, .rows = rows_, .stride = sizeof *(rows_), .count = count_})

/* The row as JSON, which the caller releases; NULL: not enough memory. */
struct json_t *tz_listed_stencil_json(const tz_stencil *stencil);

#endif
