/* Geometry and seams of leaning tiles. Called by pipeline.c to place tiles and by stream.c to hand
 * rows over to the next tile. */
#include "kernels/cpu/lean.h"

#include "kernels/cpu/finish.h"
#include "kernels/cpu/lines.h"
#include <string.h>

static int slope_of(const tz_stage *stage)
{
    return tz_stencil_reach_along(stage->stencil, 1);
}

/* The most rows of a slab that a tile keeps at a level: a pass reads the values of a level until
 * the same pass of the next iteration. */
static int64_t seam_max(const tz_stage *stage)
{
    return (int64_t)slope_of(stage) * (stage->stencil->passes_count + 1);
}

/* The level at which tiles have equal extents, so that those at the grid's sides have as much work
 * as the others. */
static int middle(int levels)
{
    return (levels + 1) / 2;
}

int tz__lean_tiles(const tz_stage *stage, int levels)
{
    if (stage->dims != 3 || !tz_stage_is_in_place(stage) || stage->tile[0] < stage->elements[0] ||
        stage->tile[1] >= stage->elements[1] || tz_boundary_wraps(stage->boundary[1][0]))
        return 0;
    const int64_t n = stage->elements[1], slope = slope_of(stage), seam = seam_max(stage);
    if (slope == 0)
        return 0; /* tiles do not overlap */
    /* At each level a tile has the rows that it keeps for the next one, and those that are its
     * ghosts at a side of the grid. At the last level it has room for the seams of all levels. */
    const int64_t each = tz_max(seam, stage->ghost + 1) + slope * (levels - middle(levels));
    const int64_t least = tz_max(each, seam * (levels - 1));
    const int64_t wanted = (n + stage->tile[1] - 1) / stage->tile[1];
    int64_t tiles = tz_min(wanted, n / least);
    if (tiles > stage->threads) /* as many for each thread */
        tiles =
            tz_min(tz_round_up(tiles, stage->threads), n / least / stage->threads * stage->threads);
    return tiles > 1 ? (int)tiles : 0;
}

/* Where tile `index` begins at a level from 1 on. */
static int64_t edge(const tz_stage *stage, const tz_pipeline *pipeline, int64_t index, int level)
{
    const int64_t n = stage->elements[1], tiles = pipeline->leaning;
    if (index == 0 || index == tiles)
        return index == 0 ? 0 : n;
    return n * index / tiles + pipeline->slope * (middle(pipeline->levels) - level);
}

tz__axis tz__lean_axis(const tz_stage *stage, const tz_pipeline *pipeline, int64_t index)
{
    const bool first = index == 0, last = index == pipeline->leaning - 1;
    const int slope = pipeline->slope;
    /* All passes of the first iteration may read level 0, each further to the low side. */
    const int before = slope * stage->stencil->passes_count;
    return (tz__axis){.low = edge(stage, pipeline, index, pipeline->levels),
                      .high = edge(stage, pipeline, index + 1, pipeline->levels),
                      .ext_low = edge(stage, pipeline, index, 1) - (first ? 0 : before),
                      .ext_high = edge(stage, pipeline, index + 1, 1) + (last ? 0 : slope),
                      .leans_low = first ? 0 : slope,
                      .leans_high = last ? 0 : slope};
}

int64_t tz__lean_rows(const tz_stage *stage, const tz_pipeline *pipeline)
{
    int64_t most = 0;
    const int levels = pipeline->levels;
    for (int i = 0; i < pipeline->leaning; i++) {
        const tz__axis a = tz__lean_axis(stage, pipeline, i);
        /* A tile at a side of the grid grows or shrinks from level to level: the first or the last
         * level has most. */
        const int64_t at_last = a.high - a.low;
        const int64_t at_first = at_last + (a.leans_high - a.leans_low) * (int64_t)(levels - 1);
        most = tz_max(most, a.ext_high - a.ext_low);
        most = tz_max(most, tz_max(at_first, at_last) + (i > 0 ? seam_max(stage) : 0));
    }
    return most;
}

int64_t tz__lean_drift(const tz_pipeline *pipeline)
{
    return (int64_t)pipeline->slope * (pipeline->levels + TZ_PASSES_MAX + 1) * pipeline->row_stride;
}

size_t tz__lean_place(tz_pipeline *pipeline, const tz_stage *stage, int f, size_t at)
{
    /* Seams begin where the next tile has its first row of the field's final values, which it
     * stores when it has read the seams. */
    int first = pipeline->slope * (pipeline->levels - pipeline->final[f].level);
    for (int l = 1; l < pipeline->levels; l++) {
        tz__level *level = &pipeline->level[l];
        tz__seam *seam = &level->seam[f];
        if (level->ring[f].depth == 0)
            continue;
        seam->rows = pipeline->slope * (level->last_reader[f] + 1 - l);
        seam->first = first;
        seam->outside = at;
        first += seam->rows;
        at += (size_t)(level->halo.low[2] + level->halo.high[2]) * (size_t)seam->rows *
              (size_t)stage->elements[0] * stage->element_size[f];
    }
    return at;
}

/* Copy some rows of `bytes` each, between places that have such strides in bytes. */
static void copy_rows(char *to, ptrdiff_t to_stride, const char *from, ptrdiff_t from_stride,
                      int64_t rows, size_t bytes)
{
    for (int64_t y = 0; y < rows; y++)
        memcpy(to + y * to_stride, from + y * from_stride, bytes);
}

void tz__lean_pass_on(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job, int l,
                      int f, int64_t j, const tz__area *area, char *slab)
{
    const tz__level *level = &pipeline->level[l];
    const tz__seam *seam = &level->seam[f];
    if (seam->rows == 0)
        return;
    const tz_host_field *host = &stage->out[f];
    const ptrdiff_t size = (ptrdiff_t)stage->element_size[f];
    const size_t bytes = (size_t)(stage->elements[0] * size);
    const ptrdiff_t row = pipeline->row_stride * size;
    const int64_t behind = pipeline->levels - l;
    const bool own = j >= job->slab_low && j < job->slab_high;
    const ptrdiff_t stride = own ? host->row_stride * size : (ptrdiff_t)bytes;
    const int64_t place = j < job->slab_low ? j - job->slab_low + level->halo.low[2]
                                            : j - job->slab_high + level->halo.low[2];
    char *kept =
        own ? host->origin + (j * host->plane_stride + seam->first * host->row_stride) * size
            : job->seams + seam->outside + place * seam->rows * stride;
    const ptrdiff_t here = own ? stride : 0;
    if (job->y.leans_low && area->y_low == job->y.low + job->y.leans_low * behind) {
        const int64_t to = area->y_low - seam->rows;
        const tz_patch patch = {.at = slab,
                                .row_stride = pipeline->row_stride,
                                .x_high = stage->elements[0],
                                .y_low = to,
                                .y_high = to + seam->rows};
        /* The seams of the next level follow in memory. */
        for (int64_t y = 0; y < seam->rows; y++)
            tz__copy_ahead(slab + (to + y) * row, kept + job->y.low * here + y * stride,
                           (int64_t)bytes);
        tz_patch_finish(stage, f, &patch, stage->ghost);
    }
    if (job->y.leans_high && area->y_high == job->y.high + job->y.leans_high * behind) {
        const int64_t from = area->y_high - seam->rows;
        char *to = kept + job->y.high * here;
        if (own && pipeline->past && job->alone)
            for (int64_t y = 0; y < seam->rows; y++)
                tz__copy_past(to + y * stride, slab + (from + y) * row, (int64_t)bytes,
                              tz_isa_vector_bytes(stage->isa) >= TZ__LINE_BYTES);
        else
            copy_rows(to, stride, slab + from * row, row, seam->rows, bytes);
    }
}
