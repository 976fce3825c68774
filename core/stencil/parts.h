/* A box in parts that memory has room for. */
#ifndef TZ_CORE_STENCIL_PARTS_H
#define TZ_CORE_STENCIL_PARTS_H

#include "stencil/types.h"
#include <stdbool.h>

/* A box in parts of at most `most` cells: a part of a row, or rows, or planes, in the order of the
 * box's cells. Zeroed but for `whole` and `most`, it is before the first. */
typedef struct tz_box_parts {
    tz_box whole;
    int64_t most;
    int64_t length[TZ_AXES]; /* the extents of a part that is not cut */
    tz_box part;
    int64_t first, count; /* its first cell in the order of the whole, and how many it has */
} tz_box_parts;

/* Go to the next part. False: there is none. */
bool tz_box_next(tz_box_parts *parts);

#endif
