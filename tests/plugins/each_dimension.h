/* A text as a cell update in each dimension from EACH_FROM on: includes <trapeze/rows.h> with the
 * ids that EACH_ID(dimension) gives. */
#if EACH_FROM == 1
#define TZ_CELL_TEXT EACH_TEXT
#define TZ_CELL_NAME EACH_NAME
#define TZ_CELL_ID EACH_ID(1)
#define TZ_CELL_DIMS 1
#define TZ_CELL_RADIUS EACH_RADIUS
#define TZ_CELL_REAL EACH_REAL
#include <trapeze/rows.h>
#endif
#define TZ_CELL_TEXT EACH_TEXT
#define TZ_CELL_NAME EACH_NAME
#define TZ_CELL_ID EACH_ID(2)
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS EACH_RADIUS
#define TZ_CELL_REAL EACH_REAL
#include <trapeze/rows.h>
#define TZ_CELL_TEXT EACH_TEXT
#define TZ_CELL_NAME EACH_NAME
#define TZ_CELL_ID EACH_ID(3)
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS EACH_RADIUS
#define TZ_CELL_REAL EACH_REAL
#include <trapeze/rows.h>
#undef EACH_NAME
#undef EACH_ID
#undef EACH_RADIUS
