/* Calls of row functions on fields that are stored otherwise than updates compute with them
 * (stencil/stored.h): the one place of kernels/cpu where rows are loaded and stored. */
#ifndef TZ_KERNELS_CPU_STORED_H
#define TZ_KERNELS_CPU_STORED_H

#include "kernels/cpu/stage.h"

/* Calls for `slabs` slabs each, rows in 2-D and planes in 3-D. */
typedef struct tz_row_calls {
    tz_row_fn *function;
    const tz_span *span; /* of the first call */
    int window;          /* views of a field in span->in */
    int slabs;           /* targets of a field in span->out */
    int each; /* slabs of a call of the function: `slabs`, or 1 of them after the other */
    int64_t calls;
    /* Bytes by which the pointers of a field move on after a call; not read if there is one. */
    const ptrdiff_t *in_step, *out_step;
} tz_row_calls;

/* Makes the calls block by block on rows of single precision in `scratch`, which has
 * tz_stored_scratch_bytes(). */
void tz_stored_call(const tz_stage *stage, const tz_pass *pass, const tz_row_calls *calls,
                    char *scratch);
/* For each thread; 0 if all fields are as computed. A multiple of 64. */
size_t tz_stored_scratch_bytes(const tz_stage *stage);

static inline bool tz_stage_as_computed(const tz_stage *stage, int field)
{
    return !stage->storage || stage->storage[field].as == TZ_STORED_AS_COMPUTED;
}

#endif
