/* The refinement of mixed precision on a GPU: the device text runs lane by lane on the host and
 * does what the definition says, to the last bit. */
#include "backend/cuda/family/family.h"
#include "backend/cuda/update.h"
#include "simt/unit.h"

enum { ARRAYS = 4 };

/* Numbers of both signs and many sizes. */
static double number_of(int64_t i)
{
    const double x = sin(12.9898 * (double)i) * 43758.5453;
    return ldexp(x - floor(x) - 0.5, (int)(i % 41) - 20);
}

static void check_grid(int64_t nx, int64_t ny, int64_t nz, int blocks)
{
    const int64_t pitch = (nx + 3) / 4 * 4, single_pitch = (nx + 31) / 32 * 32, rows = ny * nz;
    double *solution = test_room((size_t)(pitch * rows) * 8),
           *changes = test_room((size_t)(pitch * rows) * 8);
    float *correction = test_room((size_t)(single_pitch * rows) * 4),
          *source = test_room((size_t)(single_pitch * rows) * 4);
    double *sum = test_room((size_t)(pitch * rows) * 8);
    for (int64_t i = 0; i < nx * rows; i++) {
        const int64_t at = i / nx * pitch + i % nx, single_at = i / nx * single_pitch + i % nx;
        solution[at] = number_of(i);
        changes[at] = number_of(i + 7);
        correction[single_at] = (float)number_of(i + 3);
        sum[at] = solution[at] + (double)correction[single_at];
    }
    const double factor = -1234.5678;
    tz_cuda_refine_arguments a = {
        .solution = (tz_cu_pointer)(uintptr_t)solution,
        .changes = (tz_cu_pointer)(uintptr_t)changes,
        .correction = (tz_cu_pointer)(uintptr_t)correction,
        .source = (tz_cu_pointer)(uintptr_t)source,
        .source_per_update = factor,
        .pitch = pitch,
        .plane = pitch * ny,
        .single_pitch = single_pitch,
        .single_plane = single_pitch * ny,
        .nx = nx,
        .ny = ny,
        .nz = nz,
    };
    simt_buffer buffers[ARRAYS] = {
        {"solution", (char *)solution, (size_t)(pitch * rows) * 8, true},
        {"changes", (char *)changes, (size_t)(pitch * rows) * 8, false},
        {"correction", (char *)correction, (size_t)(single_pitch * rows) * 4, true},
        {"source", (char *)source, (size_t)(single_pitch * rows) * 4, true},
    };
    static const char *const names[] = {TZ_CUDA_REFINE_ADD, TZ_CUDA_REFINE_SET};
    for (int k = 0; k < 2; k++) {
        const simt_entry *entry;
        simt_report report = {0};
        void *pointers[] = {&a};
        const simt_launch shape = {.grid = {blocks, 1, 1},
                                   .threads = 256,
                                   .backwards = blocks % 2 == 0,
                                   .buffers_count = ARRAYS,
                                   .buffers = buffers};
        assert_ok(simt_build_kernel(build, tz_cuda_text_refine, names[k], &entry, &failure));
        if (!simt_run(machine, entry, &shape, pointers, &report) || simt_report_total(&report) > 0)
            fail_msg("%s: %s", names[k], report.message[0]);
    }
    for (int64_t i = 0; i < nx * rows; i++) {
        const int64_t at = i / nx * pitch + i % nx, single_at = i / nx * single_pitch + i % nx;
        const float wanted = (float)(changes[at] * factor);
        assert_memory_equal(&solution[at], &sum[at], 8);
        assert_memory_equal(&source[single_at], &wanted, 4);
        assert_true(correction[single_at] == 0.0f);
    }
}

TEST(the_definition_holds)
{
    need_compiler();
    check_grid(1, 1, 1, 1);
    check_grid(1500, 3, 1, 2);
    check_grid(37, 9, 4, 3);
    check_grid(1024, 1, 2, 8);
}

TEST_GROUP(open_machine, close_machine)
