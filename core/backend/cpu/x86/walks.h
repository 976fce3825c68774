/* Walks (walk.h) that are kept, because most plans of a problem need the same ones. All functions
 * may be called by several threads at once. */
#ifndef TZ_CORE_BACKEND_CPU_X86_WALKS_H
#define TZ_CORE_BACKEND_CPU_X86_WALKS_H

#include "backend/cpu/x86/walk.h"

typedef struct tz_walks tz_walks;

/* Returns NULL if there is not enough memory. */
tz_walks *tz_walks_create(void);
void tz_walks_destroy(tz_walks *walks); /* NULL is fine */

/* Like tz_walker_walk(), with a walker that the first call creates. A function with the same
 * `count` and `rows` in its span is followed only once, and later calls have the outcome of the
 * first. So all calls must be for the same constants and the same strides, and no plugin may be
 * unloaded in between. Errors: those of tz_walker_create() and tz_walker_walk(). */
tz_status tz_walks_find(tz_walks *walks, tz_row_fn *rows, const tz_span *span,
                        const tz_walk_range *ranges, size_t ranges_count, tz_walk *out,
                        tz_error *error);

#endif
