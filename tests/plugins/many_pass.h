/* Pass MANY_PASS of many.c. */
#define TZ_CELL_TEXT "many.cell.h"
#define TZ_CELL_ID TZ__CAT(many, MANY_PASS)
#define TZ_CELL_NAME many
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>
#undef MANY_PASS
