/* The map of a domain. Called by core/backend/cpu, which makes it, and the families. */
#include "kernels/cpu/domain.h"

#include "base/minmax.h"
#include <stdlib.h>
#include <string.h>

enum { TILE = TZ_ALIGN_ELEMENTS }; /* elements */

enum { ALIKE_MAX = UINT16_MAX / 4 };

/* A tile's kind, how many rows of its plane from it on are of that kind there, and how many tiles
 * of its row. */
typedef struct part {
    uint16_t kind : 2, alike : 14, along;
} part;

struct tz_domain {
    int64_t tiles, rows; /* of a row; of a plane */
    part parts[];
};

/* Of each of `n` cells that follow each other at a distance: are it and those up to `radius` beside
 * it all 1? Past the ends there are none, or with `open` those of the grid again. `line` has room
 * for n + radius. */
static void erode(uint8_t *cells, int64_t n, int64_t stride, int radius, const bool open[2],
                  uint8_t *line)
{
    int64_t since = open[0] ? radius : 0; /* cells that are 1 up to here */
    for (int64_t i = 0; i < n; i++)
        line[i] = cells[i * stride];
    memset(line + n, open[1], (size_t)radius);
    for (int64_t i = -radius; i < n; i++) {
        since = line[i + radius] ? since + 1 : 0;
        if (i >= 0)
            cells[i * stride] = since > 2 * radius;
    }
}

static void erode_all(const tz_stage *stage, uint8_t *cells, int radius, uint8_t *line)
{
    const int64_t *n = stage->elements;
    bool open[TZ_AXES][2];
    for (int axis = 0; axis < TZ_AXES; axis++)
        for (int side = 0; side < 2; side++)
            open[axis][side] = tz_boundary_repeats(stage->boundary[axis][side]) ||
                               tz_boundary_reflects(stage->boundary[axis][side]);
    for (int64_t row = 0; row < n[1] * n[2]; row++)
        erode(cells + row * n[0], n[0], 1, radius, open[0], line);
    for (int64_t i = 0; i < n[0] * n[2] && stage->dims > 1; i++)
        erode(cells + i / n[0] * n[0] * n[1] + i % n[0], n[1], n[0], radius, open[1], line);
    for (int64_t i = 0; i < n[0] * n[1] && stage->dims > 2; i++)
        erode(cells + i, n[2], n[0] * n[1], radius, open[2], line);
}

tz_domain *tz_domain_create(const tz_stage *stage, const tz_host_field *mask, int radius)
{
    const int64_t *n = stage->elements;
    const int64_t tiles = (n[0] + TILE - 1) / TILE, rows = n[1] * n[2];
    const int64_t longest = tz_max(n[0], tz_max(n[1], n[2])) + radius;
    tz_domain *domain = malloc(sizeof *domain + (size_t)(tiles * rows) * sizeof(part));
    uint8_t *cells = malloc((size_t)(n[0] * rows + longest));
    for (int64_t row = 0; domain && cells && row < rows; row++) {
        const int64_t at = row % n[1] * mask->row_stride + row / n[1] * mask->plane_stride;
        const int32_t *from = (const int32_t *)(const void *)mask->origin + at;
        uint8_t *to = cells + row * n[0];
        memset(domain->parts + row * tiles, 0, (size_t)tiles * sizeof(part));
        for (int64_t x = 0; x < n[0]; x++)
            if ((to[x] = from[x] != 0))
                domain->parts[row * tiles + x / TILE].kind = TZ_DOMAIN_EDGE;
    }
    if (!domain || !cells) {
        free(domain);
        free(cells);
        return NULL;
    }
    domain->tiles = tiles;
    domain->rows = n[1];
    erode_all(stage, cells, radius, cells + n[0] * rows);
    for (int64_t i = 0; i < tiles * rows; i++) {
        const int64_t x = i % tiles * TILE, end = tz_min(n[0], x + TILE);
        const uint8_t *row = cells + i / tiles * n[0];
        if (!memchr(row + x, 0, (size_t)(end - x)))
            domain->parts[i].kind = TZ_DOMAIN_INNER;
    }
    for (int64_t i = tiles * rows; i-- > 0;) {
        const part *next = &domain->parts[i + tiles];
        const bool same = i / tiles % n[1] < n[1] - 1 && next->kind == domain->parts[i].kind;
        domain->parts[i].alike = (uint16_t)(same ? tz_min(next->alike + 1, ALIKE_MAX) : 1) & 0x3fff;
        next = &domain->parts[i + 1];
        const bool on = i % tiles < tiles - 1 && next->kind == domain->parts[i].kind;
        domain->parts[i].along = (uint16_t)(on ? tz_min(next->along + 1, UINT16_MAX) : 1);
    }
    free(cells);
    return domain;
}

static tz_domain_kind kind_of(const tz_domain *d, const tz_domain_rows *rows, int64_t tile)
{
    const part *at = d->parts + (rows->z_low * d->rows + rows->y_low) * d->tiles + tile;
    const tz_domain_kind kind = at->kind;
    for (int64_t z = rows->z_low; z < rows->z_high; z++, at += d->rows * d->tiles)
        if (at->kind != kind || at->alike < rows->y_high - rows->y_low)
            return TZ_DOMAIN_EDGE;
    return kind;
}

int64_t tz_domain_run(const tz_domain *domain, const tz_domain_rows *rows, int64_t x,
                      tz_domain_kind *kind)
{
    int64_t tile = x / TILE;
    if (rows->y_high - rows->y_low == 1 && rows->z_high - rows->z_low == 1) {
        const part *at =
            domain->parts + (rows->z_low * domain->rows + rows->y_low) * domain->tiles + tile;
        *kind = at->kind;
        return tz_min((tile + at->along) * TILE, rows->x_high);
    }
    *kind = kind_of(domain, rows, tile);
    do
        tile++;
    while (tile * TILE < rows->x_high && kind_of(domain, rows, tile) == *kind);
    return tz_min(tile * TILE, rows->x_high);
}
