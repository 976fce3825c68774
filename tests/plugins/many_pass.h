/* Pass MANY_PASS of many.c. */
#define TZ_CELL_TEXT "many.cell.h"
#define TZ_CELL_ID TZ__CAT(many, MANY_PASS)
#define TZ_CELL_NAME many
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>
#undef MANY_PASS
