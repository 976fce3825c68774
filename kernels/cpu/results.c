/* Computes the last level in a small buffer and copies it to the arrays. Called by stream.c;
 * pipeline.c reserves the buffer. */
#include "kernels/cpu/results.h"

#include "kernels/cpu/lines.h"

enum { ROWS = 8 }; /* at a time, of each slab: they stay in the first-level cache */

static int64_t rows_at_a_time(const tz_stage *stage)
{
    return stage->dims == 3 ? ROWS : 1;
}

static int64_t slab_elements(const tz_stage *stage, const tz_pipeline *pipeline)
{
    return rows_at_a_time(stage) * pipeline->row_stride;
}

size_t tz__results_bytes(const tz_stage *stage, const tz_pipeline *pipeline)
{
    size_t bytes = 0;
    for (int f = 0; f < stage->stencil->fields_count; f++)
        if (pipeline->level[pipeline->levels].makes >> f & 1)
            bytes += (size_t)(pipeline->at_once * slab_elements(stage, pipeline)) *
                     stage->element_size[f];
    return bytes + TZ__PAD * sizeof(double); /* the last row's end */
}

static bool is_whole(const tz_stage *stage, int64_t x_low, int64_t x_high)
{
    return x_low == 0 && x_high == stage->elements[0];
}

/* Not by memcpy() with a length that is not constant: two such calls for a row took more than half
 * as long as computing it. */
static inline void copy_elements(char *to, const char *from, int count, ptrdiff_t size)
{
    for (int i = 0; i < count; i++)
        if (size == 4)
            memcpy(to + 4 * i, from + 4 * i, 4);
        else if (size == 8)
            memcpy(to + 8 * i, from + 8 * i, 8);
        else
            memcpy(to + size * i, from + size * i, (size_t)size);
}

/* Copy `rows` rows of results to the array of a field, with their ghosts. */
static void copy_rows(const tz_stage *stage, const tz_pipeline *pipeline, int f, char *from,
                      const tz_target *to, const tz_span *span)
{
    const ptrdiff_t size = (ptrdiff_t)stage->element_size[f];
    const ptrdiff_t ghost = stage->ghost * size, bytes = (ptrdiff_t)span->count * size;
    const bool whole = is_whole(stage, span->x, span->x + span->count);
    if (whole) {
        const tz_patch patch = {.at = from,
                                .row_stride = pipeline->row_stride,
                                .x_high = span->count,
                                .y_high = span->rows};
        tz_patch_finish(stage, f, &patch, stage->ghost);
    }
    for (int64_t y = 0; y < span->rows; y++) {
        char *row = from + y * pipeline->row_stride * size;
        char *array = (char *)to->at + y * to->row_stride * size;
        tz__copy_past(array, row, bytes, tz_isa_vector_bytes(stage->isa) >= TZ__LINE_BYTES);
        if (!whole)
            continue;
        copy_elements(array - ghost, row - ghost, stage->ghost, size);
        copy_elements(array + bytes, row + bytes, stage->ghost, size);
    }
}

void tz__results_compute(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job,
                         const tz_span *span, tz_view *in, tz_target *out, int slabs)
{
    const tz__level *level = &pipeline->level[pipeline->levels];
    const tz_stencil *stencil = stage->stencil;
    const int count = pipeline->at_once, window = 2 * level->radius + count;
    const int64_t rows = rows_at_a_time(stage);
    tz_target array[TZ_FIELDS_MAX * TZ_SLABS_IN_PLACE_MAX];
    char *memory = job->arena + pipeline->results;
    tz_span part = *span;
    memcpy(array, out, (size_t)(stencil->fields_count * count) * sizeof *out);
    for (int f = 0; f < stencil->fields_count; f++) {
        const ptrdiff_t size = (ptrdiff_t)stage->element_size[f];
        for (int k = 0; level->makes >> f & 1 && k < count; k++) {
            if (k < slabs)
                out[f * count + k] = (tz_target){memory + TZ__PAD * size, pipeline->row_stride};
            memory += slab_elements(stage, pipeline) * size;
        }
    }
    for (int64_t y = 0; y < span->rows; y += rows) {
        part.rows = tz_min(rows, span->rows - y);
        part.y = stage->dims == 3 ? span->y + y : span->y;
        level->rows(&part);
        for (int f = 0; f < stencil->fields_count; f++) {
            const ptrdiff_t size = (ptrdiff_t)stage->element_size[f];
            for (int k = 0; level->makes >> f & 1 && k < slabs; k++) {
                tz_target *to = &array[f * count + k];
                copy_rows(stage, pipeline, f, out[f * count + k].at, to, &part);
                to->at = (char *)to->at + part.rows * to->row_stride * size;
            }
            for (tz_view *view = &in [f * window]; view < &in[(f + 1) * window]; view++)
                view->at = (const char *)view->at + part.rows * view->row_stride * size;
        }
    }
}

void tz__results_finish(const tz_stage *stage, int f, const tz_patch *patch)
{
    tz_patch near = *patch;
    if (!is_whole(stage, patch->x_low, patch->x_high)) {
        tz_patch_finish(stage, f, patch, stage->ghost);
        return;
    }
    if (stage->dims < 3)
        return;
    /* Ghosts past a side of y repeat rows near it. */
    near.y_high = tz_min(patch->y_high, stage->ghost + 1);
    if (near.y_low < near.y_high)
        tz_patch_finish(stage, f, &near, stage->ghost);
    near.y_low = tz_max(patch->y_low, stage->elements[1] - stage->ghost - 1);
    near.y_high = patch->y_high;
    if (near.y_low < near.y_high)
        tz_patch_finish(stage, f, &near, stage->ghost);
}
