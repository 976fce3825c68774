/* The columns of what predictions and measurements are printed as, and pushed to Lua: of rows, and
 * of the objects that hold these. */
#ifndef TZ_CORE_PREDICT_SHEETS_H
#define TZ_CORE_PREDICT_SHEETS_H

#include "base/sheet.h"
#include "predict/jump.h"
#include "predict/tune.h"

/* The row is a tz_workload: stencil, grid, …, device. In CSV they begin each line. */
extern const tz_sheet_column tz_workload_columns[], tz_workload_csv_columns[];

/* The context of a prediction table, which is the row of tz_prediction_columns, and of its rows. */
typedef struct tz_prediction_sheet {
    const tz_workload *workload;
    const tz_prediction_table *table;
} tz_prediction_sheet;
extern const tz_sheet_column tz_prediction_columns[];
/* The same of a table without times. */
extern const tz_sheet_column tz_answer_columns[];
tz_sheet tz_prediction_rows(const tz_prediction_sheet *sheet);

/* The same of what was measured: the row is a tz_tune. */
typedef struct tz_tune_sheet {
    const tz_workload *workload;
    const tz_tune *tune;
} tz_tune_sheet;
extern const tz_sheet_column tz_tune_columns[];
tz_sheet tz_tune_rows(const tz_tune_sheet *sheet);
/* Useful cells a second, where an iteration takes so long. */
double tz_workload_rate(const tz_workload *workload, double seconds);

/* Of a jump: the row is a tz_jump_prediction, the context its table. */
extern const tz_sheet_column tz_jump_columns[];

#endif
