/* Fills ghost cells of slabs and of whole fields as the boundaries say. Called by stream.c and
 * diamond.c for slabs, and by core/backend/cpu for fields. */
#include "kernels/cpu/finish.h"

#include <string.h>

int64_t tz_ghost_source(const tz_boundary sides[2], int64_t coordinate, int64_t extent)
{
    const int64_t last = extent - 1;
    if (coordinate >= 0 && coordinate <= last)
        return coordinate;
    if (tz_boundary_wraps(sides[0])) {
        const int64_t rest = coordinate % extent;
        return rest < 0 ? rest + extent : rest;
    }
    if (last == 0 && tz_boundary_reflects(sides[0]) && tz_boundary_reflects(sides[1]))
        return 0;
    for (int side = coordinate > last; coordinate < 0 || coordinate > last; side = 1 - side) {
        if (tz_boundary_repeats(sides[side]))
            return side ? last : 0;
        if (tz_boundary_has_value(sides[side]))
            return -1 - side;
        coordinate = side ? 2 * last - coordinate : -coordinate;
    }
    return coordinate;
}

static inline void copy_element(char *row, int64_t to, int64_t from, size_t size)
{
    if (size == 4)
        memcpy(row + to * 4, row + from * 4, 4);
    else if (size == 8)
        memcpy(row + to * 8, row + from * 8, 8);
    else
        memcpy(row + to * (int64_t)size, row + from * (int64_t)size, size);
}

/* One end of a row, which the patch may not reach: the ghosts of a side. */
static void finish_end(const tz_stage *stage, int field, char *row, int64_t x_low, int64_t x_high,
                       int ghost, int side)
{
    const int64_t n = stage->elements[0];
    const size_t size = stage->element_size[field];
    for (int g = 0; g < ghost; g++) {
        const int64_t x = side == 0 ? -1 - g : n + g;
        const int64_t from = tz_ghost_source(stage->boundary[0], x, n);
        if (from < 0) {
            if (side == 0 ? x_low == 0 : x_high == n)
                memcpy(row + x * (int64_t)size, stage->outside[field][-1 - from].at, size);
        } else if (from >= x_low && from < x_high) {
            copy_element(row, x, from, size);
        }
    }
}

/* The ghosts of a side at which all are equal, in rows [y_low, y_high): `ghost` elements from `to`
 * on get the element at `from`, or `value` if that is given. Places are bytes in a row. This is a
 * part of the time of a stage in 3-D. */
static void repeat_element(char *at, ptrdiff_t row_bytes, int64_t y_low, int64_t y_high,
                           ptrdiff_t from, ptrdiff_t to, const void *value, int ghost, size_t size)
{
    for (int64_t y = y_low; y < y_high; y++) {
        char *row = at + y * row_bytes;
        const void *source = value ? value : row + from;
        if (size == 4) {
            uint32_t element;
            memcpy(&element, source, 4);
            for (int g = 0; g < ghost; g++)
                memcpy(row + to + 4 * g, &element, 4);
        } else if (size == 8) {
            uint64_t element;
            memcpy(&element, source, 8);
            for (int g = 0; g < ghost; g++)
                memcpy(row + to + 8 * g, &element, 8);
        } else {
            for (int g = 0; g < ghost; g++)
                memcpy(row + to + (ptrdiff_t)size * g, source, size);
        }
    }
}

/* In rows [y_low, y_high) of a patch. */
static void finish_columns(const tz_stage *stage, int field, const tz_patch *patch, int64_t y_low,
                           int64_t y_high, int ghost)
{
    const int64_t n = stage->elements[0], x_low = patch->x_low, x_high = patch->x_high;
    const ptrdiff_t size = (ptrdiff_t)stage->element_size[field];
    const ptrdiff_t row_bytes = patch->row_stride * size;
    for (int side = 0; side < 2; side++) {
        const tz_boundary boundary = stage->boundary[0][side];
        if (!tz_boundary_repeats(boundary) && !tz_boundary_has_value(boundary)) {
            for (int64_t y = y_low; y < y_high; y++)
                finish_end(stage, field, patch->at + y * row_bytes, x_low, x_high, ghost, side);
            continue;
        }
        if (side == 0 ? x_low == 0 : x_high == n)
            repeat_element(patch->at, row_bytes, y_low, y_high, (side == 0 ? 0 : n - 1) * size,
                           (side == 0 ? -ghost : n) * size,
                           tz_boundary_has_value(boundary) ? stage->outside[field][side].at : NULL,
                           ghost, (size_t)size);
    }
}

/* Bit fields. A ghost word is the word at the other end of the row, shifted by one bit. Then the
 * columns outside the grid, in padding bits and ghost words, are set one by one. */
static void finish_bits(const tz_stage *stage, int field, uint32_t *row, int ghost)
{
    const int64_t words = stage->elements[0], columns = stage->columns;
    for (int g = 0; g < ghost; g++) {
        /* If the row has fewer words than ghosts, row[g] may be a ghost that an earlier turn
         * wrote. */
        row[words + g] = row[g] >> 1;
        row[-1 - g] = row[words - 1 - g] << 1;
    }
    for (int side = 0; side < 2; side++)
        for (int g = 0; g < ghost; g++) {
            const int64_t x = side == 0 ? -1 - g : columns + g;
            const int64_t from = tz_ghost_source(stage->boundary[0], x, columns);
            const uint32_t value = from < 0
                                       ? *(const uint32_t *)stage->outside[field][-1 - from].at & 1
                                       : row[from % words] >> (from / words) & 1;
            /* Column x is bit b of word x - b*words, for each b whose word is in the row. */
            for (int64_t b = (x - words - ghost + 1) / words; b < 32; b++) {
                const int64_t word = x - b * words;
                if (b < 0 || word >= words + ghost)
                    continue;
                if (word < -ghost)
                    break;
                row[word] = (row[word] & ~(UINT32_C(1) << b)) | value << b;
            }
        }
}

static void finish_rows(const tz_stage *stage, int field, const tz_patch *patch, int64_t y_low,
                        int64_t y_high, int ghost)
{
    const ptrdiff_t row_bytes = patch->row_stride * (ptrdiff_t)stage->element_size[field];
    if (!stage->bits)
        finish_columns(stage, field, patch, y_low, y_high, ghost);
    for (int64_t y = y_low; stage->bits && y < y_high; y++)
        finish_bits(stage, field, (uint32_t *)(void *)(patch->at + y * row_bytes), ghost);
}

void tz_patch_finish(const tz_stage *stage, int field, const tz_patch *patch, int ghost)
{
    const size_t size = stage->element_size[field];
    const ptrdiff_t row_bytes = patch->row_stride * (ptrdiff_t)size;
    const int64_t nx = stage->elements[0];
    const bool columns =
        !patch->keep_x && (stage->bits || tz_boundary_wraps(stage->boundary[0][0]) ||
                           patch->x_low <= ghost || patch->x_high >= nx - ghost);
    if (columns)
        finish_rows(stage, field, patch, patch->y_low, patch->y_high, ghost);
    if (stage->dims < 3)
        return;
    const int64_t ny = stage->elements[1];
    const size_t length = (size_t)(patch->x_high - patch->x_low) * size;
    for (int side = 0; side < 2; side++)
        for (int g = 0; g < patch->rows[side]; g++) {
            const int64_t y = side == 0 ? -1 - g : ny + g;
            char *row = patch->at + y * row_bytes, *start = row + patch->x_low * (int64_t)size;
            const int64_t from = tz_ghost_source(stage->boundary[1], y, ny);
            if (from < 0) {
                if (side == 0 ? patch->y_low > 0 : patch->y_high < ny)
                    continue;
                const int64_t beyond = patch->keep_x ? ghost : 0;
                memcpy(start - beyond * (int64_t)size, stage->outside[field][1 - from].at,
                       length + (size_t)(2 * beyond) * size);
            } else {
                if (from < patch->y_low || from >= patch->y_high)
                    continue;
                memcpy(start, patch->at + from * row_bytes + patch->x_low * (int64_t)size, length);
            }
            if (columns)
                finish_rows(stage, field, patch, y, y + 1, ghost);
        }
}

void tz_host_field_finish(const tz_stage *stage, int field, const tz_host_field *host)
{
    if (host->uniform)
        return;
    const size_t size = stage->element_size[field];
    const bool planes = stage->dims == 3;
    const int64_t slabs = planes ? stage->elements[2] : stage->elements[1];
    const ptrdiff_t stride = planes ? host->plane_stride : host->row_stride;
    for (int64_t s = 0; s < slabs; s++) {
        const tz_patch patch = {
            .at = host->origin + s * stride * (ptrdiff_t)size,
            .row_stride = host->row_stride,
            .x_high = stage->elements[0],
            .y_high = planes ? stage->elements[1] : 1,
            .rows = {stage->ghost, stage->ghost},
        };
        tz_patch_finish(stage, field, &patch, stage->ghost);
    }
}
