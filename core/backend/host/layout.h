/* Where rows, planes and arrays of a grid begin in memory.
 *
 * A cache chooses a set by the address modulo the bytes of a way: 4 KiB in a first-level cache, 64 or 128 KiB in a
 * second-level cache. If many rows that are used together begin near the same place of a way, they push each
 * other out of the cache. And while a value is stored, a processor delays a load if the lower 12 bits of
 * both addresses are equal. So large arrays have some padding, and all
 * but small ones begin at different places of a page. */
#ifndef TZ_CORE_BACKEND_HOST_LAYOUT_H
#define TZ_CORE_BACKEND_HOST_LAYOUT_H

#include "kernels/cpu/stage.h"
#include "stencil/problem.h"

/* Arrays of at least so many bytes are large. They take whole huge pages of 2 MiB. */
#define TZ_HOST_LARGE (INT64_C(8) << 20)

/* Arrays of at least so many bytes are aligned to pages, and begin at places of a page that differ. */
#define TZ_HOST_STAGGERED (INT64_C(128) << 10)

typedef struct tz_host_layout {
    int64_t row, plane; /* strides in elements */
    int64_t
        copy; /* bytes, less than 4096: the second copy of a field begins so much later in a page */
} tz_host_layout;

/* `ghost`: elements around rows; in 3-D also rows around planes. Rows are aligned, with TZ_ALIGN_ELEMENTS between
 * them for the ghosts of both ends. In large arrays they have more padding, up to a sixteenth. If the alignment
 * alone takes more than that and more than 24 MiB, rows are not aligned, with only ghosts between
 * them. */
tz_host_layout tz_host_layout_choose(const tz_problem *problem, int ghost);

/* Bytes from the beginning of an array's memory to its elements; less than 8192. */
int64_t tz_host_layout_begin(const tz_host_layout *layout, int64_t array_bytes, int field,
                             int copy);

#endif
