/* A grid of floats, two arrays a field, and a stage of kernels/cpu over it with row functions of a
 * test. */
#ifndef TZ_TEST_BACKEND_CPU_GRID_H
#define TZ_TEST_BACKEND_CPU_GRID_H

#include "kernels/cpu/stage.h"
#include "tests/unit.h"

enum { GRID_FIELDS_MAX = 3, GRID_PAD = 80 };
static const tz_boundary grid_boundaries[] = {TZ_CLAMP, TZ_FIXED, TZ_MIRROR, TZ_PERIODIC};

typedef struct grid {
    tz_row_form form, form_slabs;
    tz_kernels kernels, slabs; /* of one slab, and of several, for pass.together or in_place */
    tz_field fields[GRID_FIELDS_MAX];
    tz_pass pass; /* writes all fields */
    tz_stencil stencil;
    tz_stage stage; /* one tile, one thread, height 1 */
    float *arrays[2 * GRID_FIELDS_MAX], *outside;
    size_t count; /* of an array */
} grid;

static inline void grid_make(grid *g, int fields, int radius, tz_row_fn *rows, tz_row_fn *slabs,
                             int dims, const int64_t *n, tz_boundary boundary)
{
    const ptrdiff_t stride = n[0] + 2 * GRID_PAD, plane = stride * (n[1] + 2 * radius);
    const ptrdiff_t origin = (dims == 3 ? radius * plane : 0) + radius * stride + GRID_PAD;
    *g = (grid){
        .form = {.isa = "base", .rows = {[TZ_SINGLE] = rows}},
        .form_slabs = {.isa = "base", .rows = {[TZ_SINGLE] = slabs}},
        .kernels = {.forms_count = 1, .forms = &g->form},
        .slabs = {.forms_count = 1, .forms = &g->form_slabs},
        .pass = {.name = "pass",
                 .radius = radius,
                 .writes = (1u << fields) - 1,
                 .kernels = &g->kernels},
        .stencil = {.struct_size = sizeof(tz_stencil),
                    .id = "weigh",
                    .dims = dims,
                    .fields_count = fields,
                    .fields = g->fields,
                    .passes_count = 1,
                    .passes = &g->pass},
        .count = (size_t)(plane * (n[2] + 2 * radius) + 4 * GRID_PAD),
        .outside = calloc((size_t)(plane + 4 * GRID_PAD), sizeof(float)),
        .stage = {.stencil = &g->stencil,
                  .dims = dims,
                  .elements = {n[0], n[1], n[2]},
                  .columns = n[0],
                  .whole = n[dims - 1],
                  .boundary = {{boundary, boundary}, {boundary, boundary}, {boundary, boundary}},
                  .ghost = radius,
                  .height = 1,
                  .tile = {n[0], n[1], n[2]},
                  .batch = 1,
                  .threads = 1},
    };
    for (int i = 0; i < 2 * fields; i++) {
        g->arrays[i] = calloc(g->count, sizeof(float));
        assert_true(g->arrays[i] && g->outside);
        const tz_host_field host = {(char *)(g->arrays[i] + origin), stride, plane, false};
        *(i % 2 ? &g->stage.out[i / 2] : &g->stage.in[i / 2]) = host;
        for (int64_t z = 0; z < n[2]; z++)
            for (int64_t y = 0; y < n[1]; y++)
                for (int64_t x = 0; x < n[0]; x++)
                    (g->arrays[i] + origin)[z * plane + y * stride + x] =
                        (float)((x * 37 + y * 101 + z * 61 + x * y % 7 + 31 * i) % 1009);
    }
    for (int f = 0; f < fields; f++) {
        g->fields[f] = (tz_field){.name = "u", .role = TZ_STATE, .type = TZ_REAL};
        g->stage.element_size[f] = sizeof(float);
        for (int side = 0; side < TZ_SIDES; side++)
            g->stage.outside[f][side] = (tz_view){g->outside + 2 * GRID_PAD, 0};
    }
}

static inline void grid_clear(grid *g)
{
    for (int i = 0; i < 2 * GRID_FIELDS_MAX; i++)
        free(g->arrays[i]);
    free(g->outside);
}

/* The cells of two fields of grids of this size are equal, in every bit. */
static inline bool grid_same(const grid *g, const tz_host_field *one, const tz_host_field *other)
{
    const int64_t *n = g->stage.elements;
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++) {
            const size_t at = (size_t)(z * one->plane_stride + y * one->row_stride) * sizeof(float);
            if (memcmp(one->origin + at, other->origin + at, (size_t)n[0] * sizeof(float)))
                return false;
        }
    return true;
}

#endif
