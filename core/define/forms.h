/* Forms of a cell update that backends compute faster, with the same bits: sums of rows and of
 * planes (<trapeze/rows_tuning.h>). A text has one if it gains from it; its author need not ask. */
#ifndef TZ_CORE_DEFINE_FORMS_H
#define TZ_CORE_DEFINE_FORMS_H

#include "define/build.h"

enum { TZ_FORM_SUMS_MAX = 2 * TZ_RADIUS_MAX + 1, TZ_FORM_PLANE_SUMS_MAX = 8 };

typedef enum tz_form_kind {
    TZ_FORM_PLAIN,
    TZ_FORM_ROWS,  /* 2-D: a sum of rows, each of several cells, or constants times it */
    TZ_FORM_PLANES /* 3-D: what several cells of a plane add up to is needed by several planes */
} tz_form_kind;

typedef struct tz_form {
    tz_form_kind kind;
    int sums_count;
    int sums[TZ_FORM_SUMS_MAX];         /* nodes that read row or plane 0 only */
    int row_sum[2 * TZ_RADIUS_MAX + 1]; /* with rows: the sum of each, from the lowest y */
    int result; /* with rows: the update with TZ_EXPR_SUM in place of the sum; -1: it is the sum */
} tz_form;

/* Find the form of a definition, and with planes rewrite its updates so that they read cells
 * through the sums. Errors: TZ_MEMORY. */
tz_status tz_form_find(tz_build *build, tz_form *form);

#endif
