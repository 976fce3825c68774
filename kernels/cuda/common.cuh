/* kernels/cuda: what the families share: a launch's arguments and the boundaries. */
#ifndef TZ_COMMON_CUH
#define TZ_COMMON_CUH

#include "device.cuh"

struct tz_arguments {
    const void *in[TZ_FIELDS_COUNT]; /* a streamed field: the slab of the stage's first iteration */
    void *out[TZ_FIELDS_COUNT];
    unsigned long long edge[TZ_FIELDS_COUNT]; /* boundary value, in the field's own bits */
    union {
        float f;
        double d;
        long long i;
    } constants[TZ_CONSTANTS_MAX];
    void *scratch; /* the backend's: a grid barrier's word */
    long long step;
    long long plane; /* elements from a plane to the next */
    int nx, ny, nz;  /* elements */
    int pitch;       /* elements from a row to the next; a multiple of 32 */
    int columns;     /* cells along x */
    int height;      /* iterations of this launch, at most TZ_HEIGHT */
    int geometry[6]; /* the family's own numbers */
};

template <int BOUNDARY> TZ_DEVICE int tz_map(int c, int n)
{
    if (c >= 0 && c < n)
        return c;
    if (BOUNDARY == TZ_CLAMP)
        return c < 0 ? 0 : n - 1;
    if (BOUNDARY == TZ_PERIODIC) {
        const int rest = c % n;
        return rest < 0 ? rest + n : rest;
    }
    if (BOUNDARY == TZ_MIRROR) {
        if (n == 1)
            return 0;
        const int period = 2 * (n - 1);
        int rest = c % period;
        if (rest < 0)
            rest += period;
        return rest < n ? rest : period - rest;
    }
    return -1;
}

template <int BOUNDARY> TZ_DEVICE bool tz_computed(int c, int n)
{
    return BOUNDARY == TZ_PERIODIC || (c >= 0 && c < n);
}

/* A word of a bit row at level 0, which may lie past the row's ends: bit b is column b*nx + x. */
TZ_DEVICE tz_word tz_load_word(const tz_arguments &a, const tz_word *row,
                                                       int x, tz_word edge)
{
    if (x >= 0 && x < a.nx && 31LL * a.nx + x < a.columns)
        return row[x];
    tz_word word = 0;
    for (int b = 0; b < 32; b++) {
        long long c = (long long)b * a.nx + x;
        tz_word bit = edge & 1u;
        if (TZ_BOUNDARY_X == TZ_PERIODIC)
            c = (c % a.columns + a.columns) % a.columns;
        if (c >= 0 && c < a.columns)
            bit = row[c % a.nx] >> (c / a.nx) & 1u;
        word |= bit << b;
    }
    return word;
}

/* Columns outside the grid hold the boundary value again after each iteration; a torus has none. */
TZ_DEVICE tz_word tz_mask_word(const tz_arguments &a, int x, tz_word word,
                                                       tz_word edge)
{
    if (TZ_BOUNDARY_X == TZ_PERIODIC)
        return word;
    const int low = x < 0 ? (-x + a.nx - 1) / a.nx : 0;
    const int high = a.columns > x ? (a.columns - x + a.nx - 1) / a.nx : 0;
    const tz_word below = low >= 32 ? 0u : ~0u << low;
    const tz_word above = high >= 32 ? ~0u : (1u << high) - 1u;
    const tz_word inside = below & above;
    return (word & inside) | (edge & ~inside);
}

/* ---- The words of a cell update: what all families agree on ----------------------------------- */

#define TZ__CAT_(a, b) a##b
#define TZ__CAT(a, b) TZ__CAT_(a, b)
#define TZ__PICK(a, b, c, d, name, ...) name
#define TZ__CONTEXT_CONSTANT(name, type) type k_##name;
#define TZ__AT2(f, dx, dy) TZ__AT3(f, dx, dy, 0)
#define TZ__AT1(f, dx) TZ__AT3(f, dx, 0, 0)
#define TZ_AT(...) TZ__PICK(__VA_ARGS__, TZ__AT3, TZ__AT2, TZ__AT1, )(__VA_ARGS__)
#define TZ_K(name) (tz_c.k_##name)
#define TZ_UNROLL _Pragma("unroll")

#endif
