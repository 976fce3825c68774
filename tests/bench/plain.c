/* Plain OpenMP loops of the plugins' arithmetic, one iteration at a time over two arrays: what the
 * compiler makes of a stencil without temporal blocking. The yardstick of scripts/bench.sh.
 *
 *   trapeze-plain CASE NX NY NZ STEPS THREADS     prints GCells/s */
#include <inttypes.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct grid {
    int64_t nx, ny, nz;
    void *a, *b, *extra;
    int64_t rows; /* of weights */
} grid;

static void *new_array(int64_t count, size_t size)
{
    void *memory = aligned_alloc(64, (size_t)((count + 128) * (int64_t)size + 63) / 64 * 64);
    if (!memory) {
        fprintf(stderr, "trapeze-plain: not enough memory\n");
        exit(1);
    }
    return memory;
}

/* Interiors only: a border of one cell stays as it is, which costs and gains nothing. */
#define STAR2D(name, real)                                                                         \
    static void name(grid *g, int64_t step)                                                        \
    {                                                                                              \
        const real *restrict u = step % 2 ? g->b : g->a;                                           \
        real *restrict v = step % 2 ? g->a : g->b;                                                 \
        const int64_t nx = g->nx, ny = g->ny;                                                      \
        _Pragma("omp parallel for") for (int64_t y = 1; y < ny - 1; y++)                           \
        {                                                                                          \
            const real *c = u + y * nx;                                                            \
            real *o = v + y * nx;                                                                  \
            _Pragma("omp simd") for (int64_t x = 1; x < nx - 1; x++) o[x] =                        \
                (real)0.5 * c[x] +                                                                 \
                (real)0.125 * ((c[x - 1] + c[x + 1]) + (c[x - nx] + c[x + nx]));                   \
        }                                                                                          \
    }
STAR2D(star2d_f32, float)
STAR2D(star2d_f64, double)

static void hotspot_f32(grid *g, int64_t step)
{
    const float *restrict u = step % 2 ? g->b : g->a, *restrict p = g->extra;
    float *restrict v = step % 2 ? g->a : g->b;
    const int64_t nx = g->nx, ny = g->ny;
#pragma omp parallel for
    for (int64_t y = 1; y < ny - 1; y++) {
        const float *c = u + y * nx, *q = p + y * nx;
        float *o = v + y * nx;
#pragma omp simd
        for (int64_t x = 1; x < nx - 1; x++)
            o[x] = __builtin_fmaf(
                0.1f, c[x - 1] + c[x + 1],
                __builtin_fmaf(0.1f, c[x - nx] + c[x + nx],
                               __builtin_fmaf(0.6f, c[x], __builtin_fmaf(0.3f, q[x], 0.01f))));
    }
}

static void star3d_f32(grid *g, int64_t step)
{
    const float *restrict u = step % 2 ? g->b : g->a;
    float *restrict v = step % 2 ? g->a : g->b;
    const int64_t nx = g->nx, ny = g->ny, nz = g->nz, plane = nx * ny;
#pragma omp parallel for collapse(2)
    for (int64_t z = 1; z < nz - 1; z++)
        for (int64_t y = 1; y < ny - 1; y++) {
            const float *c = u + z * plane + y * nx;
            float *o = v + z * plane + y * nx;
#pragma omp simd
            for (int64_t x = 1; x < nx - 1; x++)
                o[x] = 0.4f * c[x] + 0.1f * ((c[x - 1] + c[x + 1]) + (c[x - nx] + c[x + nx]) +
                                             (c[x - plane] + c[x + plane]));
        }
}

/* Conway's rule on words of 32 cells; the two planes of each column sum of three rows, then the
 * eight neighbours' count through full adders. */
static void life_bits(grid *g, int64_t step)
{
    const int64_t words = g->nx / 32, ny = g->ny;
    const uint32_t *restrict u = step % 2 ? g->b : g->a;
    uint32_t *restrict v = step % 2 ? g->a : g->b;
#pragma omp parallel for
    for (int64_t y = 1; y < ny - 1; y++) {
        const uint32_t *n = u + (y - 1) * words, *c = u + y * words, *s = u + (y + 1) * words;
        uint32_t *o = v + y * words;
#pragma omp simd
        for (int64_t x = 1; x < words - 1; x++) {
            const uint32_t w0 = n[x - 1] ^ c[x - 1] ^ s[x - 1],
                           w1 = (n[x - 1] & c[x - 1]) | (s[x - 1] & (n[x - 1] | c[x - 1]));
            const uint32_t e0 = n[x + 1] ^ c[x + 1] ^ s[x + 1],
                           e1 = (n[x + 1] & c[x + 1]) | (s[x + 1] & (n[x + 1] | c[x + 1]));
            const uint32_t m0 = n[x] ^ s[x], m1 = n[x] & s[x];
            const uint32_t t0 = w0 ^ m0 ^ e0, k = (w0 & m0) | (e0 & (w0 | m0));
            const uint32_t odd = w1 ^ m1 ^ e1 ^ k;
            const uint32_t many = (w1 & m1) | (e1 & k) | ((w1 ^ m1) & (e1 ^ k));
            o[x] = odd & ~many & (t0 | c[x]);
        }
    }
}

static void pathfinder_i32(grid *g, int64_t step)
{
    const int32_t *restrict u = step % 2 ? g->b : g->a;
    int32_t *restrict v = step % 2 ? g->a : g->b;
    const int32_t *restrict w = (const int32_t *)g->extra + step % g->rows * g->nx;
    const int64_t nx = g->nx;
#pragma omp parallel for simd
    for (int64_t x = 1; x < nx - 1; x++) {
        const int32_t west = u[x - 1] < u[x] ? u[x - 1] : u[x];
        v[x] = w[x] + (west < u[x + 1] ? west : u[x + 1]);
    }
}

typedef struct plain_case {
    const char *name;
    size_t size;
    int64_t cells_per_element;
    int extra; /* 1: a field; 2: rows of weights */
    void (*iterate)(grid *g, int64_t step);
} plain_case;

static const plain_case cases[] = {
    {"star2d1r", 4, 1, 0, star2d_f32}, {"star2d1r-fp64", 8, 1, 0, star2d_f64},
    {"hotspot", 4, 1, 1, hotspot_f32}, {"star3d1r", 4, 1, 0, star3d_f32},
    {"life", 4, 32, 0, life_bits},     {"pathfinder", 4, 1, 2, pathfinder_i32},
};

static void fill(void *array, int64_t count, size_t size, int bits)
{
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++) {
        const uint32_t r = (uint32_t)((uint64_t)(i + 1) * 0x9e3779b97f4a7c15u >> 32);
        if (bits)
            ((uint32_t *)array)[i] = bits == 2 ? r % 10 : r;
        else if (size == 8)
            ((double *)array)[i] = r * 0x1p-32;
        else
            ((float *)array)[i] = (float)(r * 0x1p-32);
    }
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: trapeze-plain CASE NX NY NZ STEPS THREADS\n");
        return 2;
    }
    const plain_case *chosen = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].name, argv[1]) == 0)
            chosen = &cases[i];
    grid g = {.nx = atoll(argv[2]), .ny = atoll(argv[3]), .nz = atoll(argv[4])};
    const int64_t steps = atoll(argv[5]);
    if (!chosen || g.nx < 3 || g.ny < 1 || g.nz < 1 || steps < 1) {
        fprintf(stderr, "trapeze-plain: no such case or size\n");
        return 2;
    }
    omp_set_num_threads(atoi(argv[6]));
    const int64_t cells = g.nx * g.ny * g.nz, count = cells / chosen->cells_per_element;
    const int bits = chosen->cells_per_element > 1 ? 1 : chosen->extra == 2 ? 2 : 0;
    g.a = new_array(count, chosen->size);
    g.b = new_array(count, chosen->size);
    fill(g.a, count, chosen->size, bits);
    fill(g.b, count, chosen->size, bits);
    g.rows = chosen->extra == 2 ? steps : 0;
    if (chosen->extra) {
        const int64_t extra = chosen->extra == 2 ? count * g.rows : count;
        g.extra = new_array(extra, chosen->size);
        fill(g.extra, extra, chosen->size, bits);
    }
    chosen->iterate(&g, 0);
    chosen->iterate(&g, 1);
    const double begin = omp_get_wtime();
    for (int64_t step = 0; step < steps; step++)
        chosen->iterate(&g, step);
    const double seconds = omp_get_wtime() - begin;
    /* The sum keeps the compiler honest. */
    uint32_t check = 0;
    for (int64_t i = 0; i < count; i += 4097)
        check ^= ((uint32_t *)g.a)[i];
    printf("%.4f %08" PRIx32 "\n", (double)cells * (double)steps / seconds * 1e-9, check);
    free(g.a);
    free(g.b);
    free(g.extra);
    return 0;
}
