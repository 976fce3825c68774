/* Plain OpenMP loops over a cell update, as a person would write them: for scripts/classes_cpu.sh,
 * which compiles this file for each text. A row of cells outside the grid stays as it is.
 *
 *   cc -O3 -march=native -fopenmp -DTEXT='"NAME.cell.h"' -DPASSES='P(update)' -DDIMS=2 …
 *   plain_text.c ./plain NX NY NZ STEPS THREADS      prints GCells/s: the best of five runs
 *
 * PASSES: the cell updates in order. In each iteration every field that is written changes places
 * with its copy. With IN_PLACE, for updates that read the fields which they write in the cell
 * alone, there are no copies. With -DNEWEST=FIELD_u -DOLDEST=FIELD_old '-DPUT_u(v)=old_out[i]=(v)'
 * '-DPUT_old(v)=(void)0' the new u takes the place of old, and the fields change places. Else
 * -DWRITTEN='1u<<FIELD_u|…' names the fields that are written. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <trapeze/rows_macros.h>
#include <trapeze/rows_math.h>

#undef TZ_CELL
#undef TZ_AT
typedef float real;
#define TZ__PRECISION single
#define TZ_FMA(a, b, c) __builtin_fmaf((a), (b), (c))
#define LEAST 8 /* cells around the grid */

static int64_t stride_y, stride_z;

#define IN(name, type) const type *name##_in, type *name##_out,
#define CONSTANT(name, type, ...) const type k_##name,
#define TZ_CELL(name)                                                                              \
    static inline __attribute__((always_inline)) void cell_##name(                                 \
        TZ_FIELDS(IN) TZ_CONSTANTS(CONSTANT) const int64_t i, const int64_t sy, const int64_t sz)
#define TZ_K(name) k_##name
#define AT1(name, dx) name##_in[i + (dx)]
#define AT2(name, dx, dy) name##_in[i + (dx) + (dy)*sy]
#define AT3(name, dx, dy, dz) name##_in[i + (dx) + (dy)*sy + (dz)*sz]
#define PICK(a, b, c, d, name, ...) name
#define TZ_AT(...) PICK(__VA_ARGS__, AT3, AT2, AT1, )(__VA_ARGS__)
#ifdef NEWEST
#define TZ_PUT(name, value) PUT_##name(value)
#else
#define TZ_PUT(name, value) (name##_out[i] = (value))
#endif
#include TEXT

#define COUNT(name, type) +1
enum { FIELDS = 0 TZ_FIELDS(COUNT) };
static void *field[FIELDS][2];
#define INDEX(name, type) FIELD_##name,
enum { TZ_FIELDS(INDEX) FIELDS_END };

/* Numbers with which no update of the classes diverges or comes to rest. */
#define VALUE_real 0.05f
#define VALUE_int 3
#define ARGUMENT(name, type) name##_i, name##_o,
#define VALUE(name, type, ...) VALUE_##type,
#define LOCAL(name, type)                                                                          \
    const type *name##_i = field[FIELD_##name][0];                                                 \
    type *name##_o = field[FIELD_##name][1];                                                       \
    (void)name##_i, (void)name##_o;

#define P(name)                                                                                    \
    static void sweep_##name(int64_t nx, int64_t ny, int64_t nz, int threads)                      \
    {                                                                                              \
        TZ_FIELDS(LOCAL)                                                                           \
        const int64_t sy = stride_y, sz = stride_z;                                                \
        _Pragma("omp parallel for collapse(2) num_threads(threads) schedule(static)") for (        \
            int64_t z = 0; z < nz; z++) for (int64_t y = 0; y < ny; y++)                           \
        {                                                                                          \
            const int64_t row = y * sy + z * sz;                                                   \
            _Pragma("GCC ivdep") for (int64_t x = 0; x < nx; x++)                                  \
                cell_##name(TZ_FIELDS(ARGUMENT) TZ_CONSTANTS(VALUE) row + x, sy, sz);              \
        }                                                                                          \
    }
PASSES
#undef P
#define P(name) sweep_##name,
static void (*const sweeps[])(int64_t, int64_t, int64_t, int) = {PASSES};

/* Arrays begin at different lines of a page, so that they do not share sets of the caches. */
static void *make(int64_t elements, int64_t origin, int is_int, int threads)
{
    static int made;
    char *memory = aligned_alloc(2 << 20, (size_t)(elements * 4 + (4 << 20)) >> 21 << 21);
    if (!memory)
        exit(1);
    memory += made++ % 21 * (4096 / 21 / 64 * 64 + 64);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < elements; i++) {
        const uint32_t random = (uint32_t)((uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) >> 40);
        if (is_int)
            ((int *)(void *)memory)[i] = (int)(random % 14u);
        else
            ((float *)(void *)memory)[i] = 0.14f + (float)random * 0x1p-31f;
    }
    return memory + origin * 4;
}

int main(int argc, char **argv)
{
    if (argc != 6)
        return 2;
    const int64_t nx = atoll(argv[1]), ny = atoll(argv[2]), nz = atoll(argv[3]);
    const int steps = atoi(argv[4]), threads = atoi(argv[5]);
    const int64_t above = DIMS == 3 ? LEAST : 0;
    stride_y = (nx + 2 * LEAST + 15) / 16 * 16 + 16;
    stride_z = stride_y * (ny + 2 * LEAST);
    const int64_t origin = above * stride_z + LEAST * stride_y + 16;
    const int64_t elements = stride_z * (nz + 2 * above) + 64;
#define IS_INT_real 0
#define IS_INT_int 1
#define MAKE(name, type) field[FIELD_##name][0] = make(elements, origin, IS_INT_##type, threads);
#define COPY(name, type) field[FIELD_##name][1] = make(elements, origin, IS_INT_##type, threads);
#define SAME(name, type) field[FIELD_##name][1] = field[FIELD_##name][0];
    TZ_FIELDS(MAKE)
#if defined(IN_PLACE) || defined(NEWEST)
    TZ_FIELDS(SAME)
#else
    static const unsigned written = WRITTEN;
#define COPY_IF(name, type)                                                                        \
    if (written >> FIELD_##name & 1)                                                               \
    COPY(name, type)
    TZ_FIELDS(COPY_IF)
#endif
    double best = 1e30;
    for (int run = 0; run < 5; run++) {
        const double begin = omp_get_wtime();
        for (int step = 0; step < steps; step++) {
            for (size_t p = 0; p < sizeof sweeps / sizeof *sweeps; p++)
                sweeps[p](nx, ny, nz, threads);
#if defined(NEWEST)
            void *old = field[OLDEST][0];
            field[OLDEST][0] = field[OLDEST][1] = field[NEWEST][0];
            field[NEWEST][0] = field[NEWEST][1] = old;
#elif !defined(IN_PLACE)
            for (int f = 0; f < FIELDS; f++)
                if (written >> f & 1) {
                    void *other = field[f][0];
                    field[f][0] = field[f][1];
                    field[f][1] = other;
                }
#endif
        }
        const double seconds = omp_get_wtime() - begin;
        best = seconds < best ? seconds : best;
    }
    printf("%.4f\n", (double)(nx * ny * nz) * steps / best * 1e-9);
    return 0;
}
