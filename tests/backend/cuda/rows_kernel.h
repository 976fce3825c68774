/* A kernel for the stand-in of the driver: stages of star2d1r with one field of integers, in a slab. */
#ifndef TZ_TEST_ROWS_KERNEL_H
#define TZ_TEST_ROWS_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { ROWS = 150, WIDE = 9 };

/* tz_arguments of a stencil with one field, in a slab (kernels/cuda/common.cuh). */
typedef struct arguments {
    const uint32_t *in;
    uint32_t *out;
    unsigned long long edge, constants[64];
    void *scratch;
    long long step, plane;
    int nx, ny, nz, pitch, columns, height, geometry[6], whole_first, whole_extent, low, high;
} arguments;

/* An iteration: a cell and its neighbours in other rows. */
static inline uint32_t update(uint32_t below, uint32_t here, uint32_t above)
{
    return 3 * here + 5 * below + 7 * above + 1;
}

/* Rows from `low` to `high` after an iteration; those outside the grid are the ones at its ends. */
static inline void iterate(const uint32_t *from, uint32_t *to, int rows, int low, int high)
{
    for (int y = low; y < high; y++)
        for (int x = 0; x < WIDE; x++)
            to[y * WIDE + x] = update(from[(y > 0 ? y - 1 : 0) * WIDE + x], from[y * WIDE + x],
                                      from[(y + 1 < rows ? y + 1 : y) * WIDE + x]);
}

static inline void add_rows(const void *argument)
{
    static uint32_t level[2][ROWS * WIDE * 2];
    const arguments *a = argument;
    for (int y = 0; y < a->ny; y++)
        memcpy(&level[0][y * WIDE], a->in + (size_t)y * (size_t)a->pitch, sizeof(uint32_t) * WIDE);
    for (int t = 1; t <= a->height; t++) {
        const int low = a->low - (a->height - t), high = a->high + a->height - t;
        iterate(level[(t - 1) % 2], level[t % 2], a->ny, low > 0 ? low : 0,
                high < a->ny ? high : a->ny);
    }
    for (int y = a->low; y < a->high; y++)
        memcpy(a->out + (size_t)y * (size_t)a->pitch, &level[a->height % 2][y * WIDE],
               sizeof(uint32_t) * WIDE);
}

/* An iteration of the whole grid. */
static inline void iterate_all(const uint32_t *from, uint32_t *to, bool ring)
{
    iterate(from, to, ROWS, 0, ROWS);
    for (int x = 0; ring && x < WIDE; x++) {
        const int last = (ROWS - 1) * WIDE + x;
        to[x] = update(from[last], from[x], from[WIDE + x]);
        to[last] = update(from[last - WIDE], from[last], from[x]);
    }
}

#endif
