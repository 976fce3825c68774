/* Numbers and pictures of fields on a GPU. The device text runs lane by lane on the host and gives
 * the bits of the host's code, which gives the bits of the definition. */
#include "backend/cuda/family/family.h"
#include "backend/cuda/reduce.h"
#include "backend/host/reduce.h"
#include "base/average.h"
#include "output/frame/plane.h"
#include "simt/unit.h"
#include "tests/archetypes.h"

enum { F32, F64, I32, BITS, TYPES, WARPS_OF_BLOCK = 2, BUFFERS_MAX = 64 };

static const tz_dtype dtypes[TYPES] = {TZ_DTYPE_F32, TZ_DTYPE_F64, TZ_DTYPE_I32, TZ_DTYPE_U8};

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* ---- Fields ---------------------------------------------------------------------------------- */

typedef struct field {
    tz_field about;
    tz_stencil stencil;
    tz_problem problem;
    tz_cuda_array array;
    size_t size;
    char *memory;
    tz_host_field host;
} field;

enum { PLAIN, ODD_CELLS, SMALL, ZEROS, ONES };

static void set_element(const field *f, int type, char *at, uint64_t random, int what)
{
    const double number = (double)(int64_t)random * 0x1p-63;
    const bool odd = what == ODD_CELLS && random % 61 == 0;
    double d = what == ZEROS     ? (random & 1 ? -0.0 : 0.0)
               : what == ONES    ? 1.0
               : odd             ? (random >> 8 & 1   ? NAN
                                    : random >> 9 & 1 ? INFINITY
                                                      : -INFINITY)
               : random % 7 == 0 ? 0.0
               : what == SMALL   ? 80.0 + number
                                 : number * exp2((double)(random % 40));
    const float s = (float)d;
    const int32_t i = what == ONES ? 1 : what == ZEROS || random % 7 == 0 ? 0 : (int32_t)random;
    const uint32_t w = what == ZEROS  ? 0
                       : what == ONES ? UINT32_MAX
                                      : (uint32_t)random & (uint32_t)(random >> 32);
    const void *from[TYPES] = {&s, &d, &i, &w};
    memcpy(at, from[type], f->size);
}

static void field_create(field *f, int type, int64_t nx, int64_t ny, int64_t nz, int what,
                         uint64_t seed)
{
    static const tz_type kinds[TYPES] = {TZ_REAL, TZ_REAL, TZ_INT, TZ_BITS};
    memset(f, 0, sizeof *f);
    f->about = (tz_field){.name = "field", .type = kinds[type], .role = TZ_STATE};
    f->stencil = (tz_stencil){.fields_count = 1, .fields = &f->about};
    f->problem = (tz_problem){
        .stencil = &f->stencil,
        .dims = 3,
        .extent = {nx, ny, nz},
        .elements = {type == BITS ? (nx + 31) / 32 : nx, ny, nz},
        .bits = type == BITS,
        .precision = type == F64 ? TZ_DOUBLE : TZ_SINGLE,
    };
    f->size = tz_problem_element_size(&f->problem, 0);
    const int64_t width = f->problem.elements[0];
    f->array.pitch = (width + 31) / 32 * 32 + (int64_t)(seed % 3) * 32;
    f->array.plane = f->array.pitch * (ny + (int64_t)(seed % 2));
    const int64_t count = f->array.plane * (nz - 1) + f->array.pitch * (ny - 1) + width;
    f->memory = malloc((size_t)count * f->size);
    assert_non_null(f->memory);
    memset(f->memory, 0xff, (size_t)count * f->size); /* padding: NaN, -1, set bits */
    for (int64_t z = 0; z < nz; z++)
        for (int64_t y = 0; y < ny; y++)
            for (int64_t x = 0; x < width; x++)
                set_element(f, type,
                            f->memory +
                                (size_t)(x + y * f->array.pitch + z * f->array.plane) * f->size,
                            next_random(&seed), what);
    f->array.cells = (tz_cu_pointer)(uintptr_t)f->memory;
    f->host = (tz_host_field){
        .origin = f->memory, .row_stride = f->array.pitch, .plane_stride = f->array.plane};
}

static void field_destroy(field *f)
{
    free(f->memory);
}

static double cell(const field *f, int type, int64_t x, int64_t y, int64_t z)
{
    const int64_t width = f->problem.elements[0];
    const int64_t i = x % width + y * f->array.pitch + z * f->array.plane;
    switch (type) {
    case F32:
        return ((const float *)(const void *)f->memory)[i];
    case F64:
        return ((const double *)(const void *)f->memory)[i];
    case I32:
        return ((const int32_t *)(const void *)f->memory)[i];
    default:
        return ((const uint32_t *)(const void *)f->memory)[i] >> (x / width) & 1;
    }
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* ---- Launches -------------------------------------------------------------------------------- */

typedef struct buffers {
    simt_buffer at[BUFFERS_MAX];
    int count;
} buffers;

static void add_buffer(buffers *b, const char *name, void *at, size_t bytes, bool writable)
{
    b->at[b->count++] = (simt_buffer){name, at, bytes, writable};
}

/* The rows of a field, each by itself, so that padding is outside; all in one if they are many. */
static void add_cells(buffers *b, const char *name, const field *f)
{
    const int64_t *n = f->problem.elements;
    if (n[1] * n[2] > 24) {
        add_buffer(b, name, f->memory,
                   (size_t)(f->array.plane * (n[2] - 1) + f->array.pitch * (n[1] - 1) + n[0]) *
                       f->size,
                   false);
        return;
    }
    for (int64_t i = 0; i < n[1] * n[2]; i++)
        add_buffer(b, name,
                   f->memory +
                       (size_t)(i % n[1] * f->array.pitch + i / n[1] * f->array.plane) * f->size,
                   (size_t)n[0] * f->size, false);
}

static void launch(int type, tz_cuda_number which, void *arguments, int blocks, const buffers *b)
{
    tz_cuda_text text = {0};
    const simt_entry *entry;
    simt_report report = {0};
    const simt_launch shape = {.grid = {blocks, 1, 1},
                               .threads = WARPS_OF_BLOCK * 32,
                               .backwards = blocks % 2 == 0,
                               .buffers_count = b->count,
                               .buffers = b->at};
    tz_cuda_reduce_emit(&text, dtypes[type], NULL, which);
    assert_false(text.failed);
    const tz_status status =
        simt_build_kernel(build, text.text, tz_cuda_reduce_kernel(which), &entry, &failure);
    free(text.text);
    assert_ok(status);
    if (!simt_run(machine, entry, &shape, &arguments, &report) || simt_report_total(&report) > 0)
        fail_msg("%s, type %d: %s", tz_cuda_reduce_kernel(which), type, report.message[0]);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static tz_cuda_record run_kernel(const field *f, int type, tz_cuda_number which, const field *other,
                                 int64_t warps, int blocks, double **sums, int64_t *count)
{
    buffers b = {0};
    tz_cuda_record record = tz_cuda_record_start();
    tz_cuda_reduce_arguments arguments;
    *count = tz_cuda_reduce_arguments_fill(&arguments, &f->problem, 0, &f->array,
                                           other ? other->array.cells : 0, warps);
    *sums = test_room((size_t)*count * sizeof **sums);
    arguments.sums = (tz_cu_pointer)(uintptr_t)*sums;
    arguments.record = (tz_cu_pointer)(uintptr_t)&record;
    add_buffer(&b, "record", &record, sizeof record, true);
    add_buffer(&b, "sums", *sums, (size_t)*count * sizeof **sums, true);
    add_cells(&b, "cells", f);
    if (other)
        add_cells(&b, "others", other);
    launch(type, which, &arguments, blocks, &b);
    return record;
}

static void reduce_on_host(const field *f, tz_reduction *out)
{
    tz_reduce_sums sums;
    assert_ok(tz_reduce_begin(&sums, &f->problem, 0, &failure));
    assert_ok(tz_reduce_add_own(&sums, &f->problem, &f->host, NULL, &failure));
    tz_reduce_end(&sums, out);
}

static void check_numbers(const field *f, int type, const char *how, const tz_reduction *got)
{
    tz_reduction want;
    reduce_on_host(f, &want);
    if (!same(got->min, want.min) || !same(got->max, want.max) || !same(got->sum, want.sum) ||
        got->population != want.population || got->hash != want.hash ||
        got->not_finite != want.not_finite ||
        memcmp(got->first_not_finite, want.first_not_finite, sizeof want.first_not_finite) != 0)
        fail_msg("type %d, %lld x %lld x %lld, %s: min %a %a max %a %a sum %a %a population %lld "
                 "%lld not finite %lld %lld hash %llx %llx",
                 type, (long long)f->problem.extent[0], (long long)f->problem.extent[1],
                 (long long)f->problem.extent[2], how, got->min, want.min, got->max, want.max,
                 got->sum, want.sum, (long long)got->population, (long long)want.population,
                 (long long)got->not_finite, (long long)want.not_finite,
                 (unsigned long long)got->hash, (unsigned long long)want.hash);
}

static void numbers_agree(const field *f, int type, int64_t warps, int blocks)
{
    tz_reduction got;
    tz_reduce_sums all;
    double *sums;
    int64_t count;
    char how[64];
    const tz_cuda_record record =
        run_kernel(f, type, TZ_CUDA_NUMBERS, NULL, warps, blocks, &sums, &count);
    assert_ok(tz_reduce_begin(&all, &f->problem, 0, &failure));
    tz_cuda_record_add(&record, &f->problem, type == BITS ? NULL : sums, count, &all);
    tz_reduce_end(&all, &got);
    snprintf(how, sizeof how, "%d warps, %d blocks", (int)warps, blocks);
    check_numbers(f, type, how, &got);
}

/* A field in three slabs gives the numbers of the field. */
static void slabs_agree(const field *f, int type)
{
    const int64_t n = f->problem.extent[2];
    const int64_t at[] = {0, n / 4, n / 2 + 1, n};
    tz_reduction got;
    tz_reduce_sums all;
    assert_ok(tz_reduce_begin(&all, &f->problem, 0, &failure));
    for (int i = 0; i < 3; i++) {
        double *sums;
        int64_t count;
        const int64_t before = at[i] < 2 ? at[i] : 2, after = n - at[i + 1] < 1 ? 0 : 1;
        field part = *f;
        part.problem = tz_problem_slab(&f->problem, at[i], at[i + 1], before, after);
        part.array.cells += (tz_cu_pointer)(part.problem.slab.first * f->array.plane) * part.size;
        part.memory = (char *)(uintptr_t)part.array.cells;
        const tz_cuda_record record =
            run_kernel(&part, type, TZ_CUDA_NUMBERS, NULL, 1, 1 + i, &sums, &count);
        tz_cuda_record_add(&record, &part.problem, type == BITS ? NULL : sums, count, &all);
    }
    tz_reduce_end(&all, &got);
    check_numbers(f, type, "in slabs", &got);
}

static const int64_t grids[][3] = {
    {1, 1, 1},    {31, 3, 1},    {33, 5, 2},    {4095, 3, 1}, {4096, 2, 1},
    {4097, 3, 2}, {10000, 7, 1}, {70001, 1, 1}, {300, 3, 40}, {1, 700, 1},
    {257, 9, 5},  {255, 2, 1},   {1000, 1, 33}, {64, 10, 7},
};
enum { GRIDS = sizeof grids / sizeof *grids };

TEST(numbers_are_the_hosts)
{
    need_compiler();
    for (int type = 0; type < TYPES; type++)
        for (int g = 0; g < GRIDS; g++)
            for (int what = PLAIN; what <= ODD_CELLS; what++) {
                field f;
                field_create(&f, type, grids[g][0], grids[g][1], grids[g][2], what,
                             (uint64_t)(type * 100 + g));
                numbers_agree(&f, type, 1000, 1 + g % 4); /* many warps: no groups */
                if (grids[g][2] > 4)
                    slabs_agree(&f, type);
                if (grids[g][1] * grids[g][2] > 20)
                    numbers_agree(&f, type, 1 + g % 2, 1); /* groups of 4 and more */
                field_destroy(&f);
            }
    /* A row of bits that is longer than a segment of words. */
    field f;
    field_create(&f, BITS, 4099 * 32 - 5, 2, 1, PLAIN, 5);
    numbers_agree(&f, BITS, 1, 2);
    field_destroy(&f);
}

TEST(signs_of_zeros_do_not_matter)
{
    need_compiler();
    for (int type = 0; type < TYPES; type++)
        for (int what = ZEROS; what <= ONES; what++) {
            field f;
            tz_reduction r;
            field_create(&f, type, 77, 5, 3, what, 1);
            numbers_agree(&f, type, 10, 2);
            reduce_on_host(&f, &r);
            assert_true(same(r.min, what == ONES) && same(r.max, what == ONES));
            assert_true(same(r.sum, what == ONES ? 77 * 5 * 3 : 0));
            field_destroy(&f);
        }
}

static uint64_t mix(uint64_t z)
{
    for (int k = 0; k < 2; k++)
        z = (z ^ (z >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return z ^ (z >> 32);
}

static uint64_t hash_of_cell(const field *f, int type, int64_t x, int64_t y, int64_t z)
{
    uint64_t bits = 0;
    if (type == BITS)
        bits = (uint64_t)cell(f, type, x, y, z);
    else
        memcpy(&bits, f->memory + (size_t)(x + y * f->array.pitch + z * f->array.plane) * f->size,
               f->size);
    const int64_t *n = f->problem.extent;
    return bits ? mix(mix(bits) + (uint64_t)(x + n[0] * (y + n[1] * z))) : 0;
}

/* The definitions of reduce.h once more, as simply as they can be written. */
static double sum_of_row(const field *f, int type, int64_t first, int64_t y, int64_t z)
{
    double lanes[32] = {0};
    for (int64_t i = 0; i < TZ_REDUCE_SEGMENT && first + i < f->problem.extent[0]; i++)
        lanes[i % 32] += cell(f, type, first + i, y, z);
    for (int half = 16; half >= 1; half /= 2)
        for (int i = 0; i < half; i++)
            lanes[i] += lanes[i + half];
    return lanes[0];
}

TEST(numbers_are_as_defined)
{
    for (int type = 0; type < TYPES; type++)
        for (int g = 0; g < GRIDS; g++) {
            field f;
            tz_reduction r;
            field_create(&f, type, grids[g][0], grids[g][1], grids[g][2], SMALL, 17);
            const int64_t *n = f.problem.extent;
            double *sums = test_room((size_t)((n[0] / TZ_REDUCE_SEGMENT + 1) * n[1] * n[2]) * 8);
            double low = INFINITY, high = -INFINITY;
            int64_t count = 0, population = 0;
            uint64_t hash = 0;
            for (int64_t z = 0; z < n[2]; z++)
                for (int64_t y = 0; y < n[1]; y++) {
                    for (int64_t x = 0; x < n[0]; x += TZ_REDUCE_SEGMENT)
                        sums[count++] = sum_of_row(&f, type, x, y, z);
                    for (int64_t x = 0; x < n[0]; x++) {
                        const double value = cell(&f, type, x, y, z);
                        low = fmin(low, value);
                        high = fmax(high, value);
                        population += value != 0;
                        hash += hash_of_cell(&f, type, x, y, z);
                    }
                }
            for (int64_t step = 1; step < count; step *= 2)
                for (int64_t i = 0; i + step < count; i += 2 * step)
                    sums[i] += sums[i + step];
            reduce_on_host(&f, &r);
            assert_true(r.min == low && r.max == high && same(r.sum, sums[0]));
            for (int d = 0; d < TZ_AXES; d++)
                hash = mix(hash ^ (uint64_t)n[d]);
            assert_true(r.population == population && r.not_finite == 0 && r.hash == hash);
            field_destroy(&f);
        }
}

TEST(finiteness_is_the_hosts)
{
    need_compiler();
    for (int type = F32; type <= F64; type++)
        for (int g = 0; g < GRIDS; g++)
            for (int what = PLAIN; what <= ODD_CELLS; what++) {
                field f;
                double *sums;
                int64_t count;
                field_create(&f, type, grids[g][0], grids[g][1], grids[g][2], what, (uint64_t)g);
                const tz_cuda_record record =
                    run_kernel(&f, type, TZ_CUDA_FINITE, NULL, 3, 2, &sums, &count);
                assert_int_equal(record.not_finite == 0,
                                 tz_reduce_all_finite(&f.problem, 0, &f.host, NULL));
                field_destroy(&f);
            }
}

static double difference_on_device(const field *f, const field *g, int type)
{
    double *sums;
    int64_t count;
    const tz_cuda_record record = run_kernel(f, type, TZ_CUDA_DIFFERENCE, g, 4, 2, &sums, &count);
    return tz_cuda_record_difference(&record);
}

TEST(differences_are_the_hosts)
{
    need_compiler();
    for (int type = 0; type < TYPES; type++)
        for (int k = 0; k < GRIDS; k++) {
            field f, g;
            const int64_t *n = grids[k];
            field_create(&f, type, n[0], n[1], n[2], PLAIN, 6);
            field_create(&g, type, n[0], n[1], n[2], PLAIN, 6);
            assert_true(same(difference_on_device(&f, &g, type), 0.0));
            const int64_t last =
                f.array.plane * (n[2] - 1) + f.array.pitch * (n[1] - 1) + f.problem.elements[0] - 1;
            set_element(&g, type, g.memory + (size_t)last * g.size, 0x1234567812345679, PLAIN);
            const double some = tz_reduce_difference(&f.problem, 0, &f.host, &g.host, NULL);
            assert_true(same(difference_on_device(&f, &g, type), some));
            field_destroy(&g);
            for (int what = PLAIN; what <= ODD_CELLS; what++) {
                if (!is_complete() && what != (type + k) % 2)
                    continue;
                field_create(&g, type, n[0], n[1], n[2], what, 12);
                g.array.pitch = f.array.pitch;
                const double want = tz_reduce_difference(&f.problem, 0, &f.host, &g.host, NULL);
                assert_true(same(difference_on_device(&f, &g, type), want));
                field_destroy(&g);
            }
            field_destroy(&f);
        }
}

/* A word's bits past the row's end are no cells. */
TEST(padding_bits_do_not_count)
{
    need_compiler();
    field f, g;
    field_create(&f, BITS, 33, 2, 1, ZEROS, 6); /* 2 words: bit 16 of the second one is no cell */
    field_create(&g, BITS, 33, 2, 1, ZEROS, 6);
    ((uint32_t *)(void *)g.memory)[1] = UINT32_C(1) << 16;
    assert_true(same(tz_reduce_difference(&f.problem, 0, &f.host, &g.host, NULL), 0.0));
    assert_true(same(difference_on_device(&f, &g, BITS), 0.0));
    ((uint32_t *)(void *)g.memory)[0] = UINT32_C(1) << 16;
    assert_true(same(tz_reduce_difference(&f.problem, 0, &f.host, &g.host, NULL), 1.0));
    assert_true(same(difference_on_device(&f, &g, BITS), 1.0));
    field_destroy(&f);
    field_destroy(&g);
}

/* ---- Pictures -------------------------------------------------------------------------------- */

static void shrink_on_host(const field *f, int type, int64_t z, int nx, int ny, double *values)
{
    const int64_t *n = f->problem.extent;
    const size_t size = tz_dtype_size(dtypes[type]);
    tz_reducer *reducer;
    char *row = test_room((size_t)n[0] * size);
    assert_ok(tz_reducer_create(&reducer, n[0], n[1], nx, ny, NULL, values, NULL));
    for (int64_t y = 0; y < n[1]; y++) {
        if (type == BITS)
            for (int64_t x = 0; x < n[0]; x++)
                row[x] = (char)cell(f, type, x, y, z);
        else
            memcpy(row, f->memory + (size_t)(y * f->array.pitch + z * f->array.plane) * size,
                   (size_t)n[0] * size);
        assert_ok(tz_reducer_add(reducer, dtypes[type], row, 1, NULL));
    }
    assert_ok(tz_reducer_finish(reducer, NULL));
}

static void shrink_on_device(const field *f, int type, int64_t z, int nx, int ny, double *values)
{
    tz_cuda_shrink_arguments arguments;
    double *edges = test_room((size_t)(nx + ny + 2) * sizeof *edges);
    const int64_t warps =
        tz_cuda_shrink_arguments_fill(&arguments, &f->problem, 0, &f->array, z, nx, ny);
    tz_cuda_shrink_edges(&f->problem, nx, ny, edges);
    arguments.edges_x = (tz_cu_pointer)(uintptr_t)edges;
    arguments.edges_y = (tz_cu_pointer)(uintptr_t)(edges + nx + 1);
    arguments.values = (tz_cu_pointer)(uintptr_t)values;
    buffers b = {0};
    add_buffer(&b, "edges across", edges, (size_t)(nx + 1) * sizeof *edges, false);
    add_buffer(&b, "edges down", edges + nx + 1, (size_t)(ny + 1) * sizeof *edges, false);
    add_buffer(&b, "values", values, (size_t)(nx * ny) * sizeof *values, true);
    add_cells(&b, "cells", f);
    launch(type, TZ_CUDA_SHRINK, &arguments, (int)((warps + WARPS_OF_BLOCK - 1) / WARPS_OF_BLOCK),
           &b);
}

TEST(pictures_are_the_hosts)
{
    need_compiler();
    static const int64_t cases[][5] = {
        /* cells, slices, values */
        {1, 1, 1, 1, 1},       {40, 30, 2, 40, 30},  {40, 30, 1, 39, 29},  {64, 64, 1, 32, 16},
        {100, 70, 3, 33, 23},  {97, 89, 1, 13, 64},  {500, 40, 1, 31, 10}, {333, 50, 1, 10, 7},
        {1000, 33, 1, 9, 33},  {2000, 1, 1, 17, 1},  {4096, 3, 1, 16, 2},  {33, 300, 1, 33, 4},
        {1056, 20, 1, 33, 10}, {1057, 20, 1, 33, 9}, {65, 7, 1, 2, 1},     {63, 5, 2, 1, 1},
    };
    for (int type = 0; type < TYPES; type++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
            for (int what = PLAIN; what <= SMALL; what++) {
                if (!is_complete() && what != (type + (int)k) % 3)
                    continue; /* a kind of cells for each grid and type */
                const int64_t *c = cases[k];
                const int nx = (int)c[3], ny = (int)c[4];
                field f;
                double *want = test_room((size_t)(nx * ny) * sizeof *want);
                double *got = test_room((size_t)(nx * ny) * sizeof *got);
                memset(got, 0x55, (size_t)(nx * ny) * sizeof *got);
                field_create(&f, type, c[0], c[1], c[2], what, k);
                shrink_on_host(&f, type, c[2] - 1, nx, ny, want);
                shrink_on_device(&f, type, c[2] - 1, nx, ny, got);
                for (int i = 0; i < nx * ny; i++)
                    if (!same(got[i], want[i]) && !(isnan(got[i]) && isnan(want[i])))
                        fail_msg("type %d, %lld x %lld to %d x %d: value %d, %d is %a, not %a",
                                 type, (long long)c[0], (long long)c[1], nx, ny, i % nx, i / nx,
                                 got[i], want[i]);
                field_destroy(&f);
            }
}

TEST_GROUP(open_machine, close_machine)
