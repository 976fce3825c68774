/* What the next iteration would change, on a GPU. The device text runs lane by lane on the host and
 * gives the bits of the reference backend; NVRTC compiles it. */
#include "backend/cuda/sass/sass.h"
#include "backend/cuda/update.h"
#include "backend/host/store.h"
#include "backend/slabs/cut.h"
#include "nvrtc.h"
#include "simt/unit.h"
#include "tests/backend/update_support.h"

enum { WARPS_OF_BLOCK = TZ_CUDA_UPDATE_THREADS / 32 };

static const int64_t grids[TZ_AXES + 1][3][TZ_AXES] = {
    {{0}},
    {{1, 1, 1}, {70, 1, 1}, {2100, 1, 1}},
    {{1, 2, 1}, {37, 70, 1}, {1100, 5, 1}},
    {{1, 1, 1}, {37, 5, 6}, {1030, 2, 3}},
};
static int compared;

/* ---- Device memory --------------------------------------------------------------------------- */

/* Fields with the pitch of device memory, their padding poisoned, and the arrays for changes. */
typedef struct device {
    const tz_problem *problem;
    simt_buffer buffers[2 * TZ_FIELDS_MAX + 1];
    int buffers_count;
    tz_cu_pointer fields[TZ_FIELDS_MAX], changes[TZ_FIELDS_MAX];
} device;

static tz_cu_pointer add_buffer(device *d, const char *name, size_t bytes, bool writable)
{
    char *at = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(at);
    memset(at, 0xff, bytes);
    d->buffers[d->buffers_count++] = (simt_buffer){name, at, bytes, writable};
    return (tz_cu_pointer)(uintptr_t)at;
}

static void *at_of(tz_cu_pointer pointer)
{
    return (void *)(uintptr_t)pointer;
}

/* The elements of a slab, out of those of the whole grid. */
static char *slab_elements(const tz_problem *slab, int f, char *whole)
{
    const size_t size = tz_problem_element_size(slab, f);
    const int64_t slices = slab->elements[slab->dims - 1];
    const size_t slice = (size_t)(tz_problem_elements(slab) / slices) * size;
    char *here = malloc(slice * (size_t)slices);
    assert_non_null(here);
    for (int64_t i = 0; i < slices; i++)
        memcpy(here + (size_t)i * slice, whole + (size_t)tz_problem_coordinate(slab, i) * slice,
               slice);
    free(whole);
    return here;
}

static void device_create(device *d, const tz_problem *problem, uint64_t seed, bool changes)
{
    const tz_problem *whole = problem->slab.of ? problem->slab.of : problem;
    const int64_t nx = problem->elements[0], pitch = tz_cuda_pitch(problem);
    *d = (device){.problem = problem};
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const size_t size = tz_problem_element_size(problem, f);
        const int64_t rows = problem->elements[1] * problem->elements[2];
        char *elements = update_elements(whole, f, seed);
        for (int64_t i = 1; update_is_uniform(problem, f, seed) && i < tz_problem_elements(whole);
             i++)
            memcpy(elements + (size_t)i * size, elements, size);
        if (problem->slab.of)
            elements = slab_elements(problem, f, elements);
        d->fields[f] = add_buffer(d, "field", tz_cuda_field_bytes(problem, f), false);
        for (int64_t row = 0; row < rows; row++)
            memcpy((char *)at_of(d->fields[f]) + (size_t)(row * pitch) * size,
                   elements + (size_t)(row * nx) * size, (size_t)nx * size);
        free(elements);
        if (changes && tz_problem_written(problem) >> f & 1)
            d->changes[f] = add_buffer(d, "changes", (size_t)(pitch * rows) * 8, true);
    }
}

static void device_destroy(device *d)
{
    for (int b = 0; b < d->buffers_count; b++)
        free(d->buffers[b].at);
}

static void launch(device *d, int64_t warps, int blocks, tz_update_sums *sums)
{
    const tz_problem *problem = d->problem;
    const simt_entry *entry;
    simt_report report = {0};
    tz_cuda_text text = {0};
    int64_t groups;
    const int group = tz_cuda_update_group(problem, warps, &groups);
    union {
        uint64_t align;
        char bytes[TZ_CUDA_ARGUMENTS_MAX];
    } arguments;
    const tz_cu_pointer memory =
        add_buffer(d, "record", sizeof(tz_cuda_update_record) + (size_t)groups * 8, true);
    tz_cuda_update_record *record = at_of(memory);
    *record = (tz_cuda_update_record){0};
    tz_cuda_update_emit(&text, problem);
    assert_false(text.failed);
    const tz_status status =
        simt_build_kernel(build, text.text, TZ_CUDA_UPDATE_KERNEL, &entry, &failure);
    free(text.text);
    assert_ok(status);
    assert_ok(tz_cuda_update_arguments(problem, group, 3, d->fields, d->changes, memory,
                                       arguments.bytes, &failure));
    void *pointers[] = {arguments.bytes};
    const simt_launch shape = {.grid = {blocks, 1, 1},
                               .threads = TZ_CUDA_UPDATE_THREADS,
                               .backwards = blocks % 2 == 0,
                               .buffers_count = d->buffers_count,
                               .buffers = d->buffers};
    if (!simt_run(machine, entry, &shape, pointers, &report) || simt_report_total(&report) > 0)
        fail_msg("%s: %s", problem->stencil->id, report.message[0]);
    tz_cuda_update_add(record, problem, (double *)(void *)(record + 1), groups, sums);
}

/* ---- Bits ------------------------------------------------------------------------------------ */

/* The changes that were stored have the largest one, and no one is missing. */
static void check_changes(const device *d, const tz_update *want)
{
    const tz_problem *problem = d->problem;
    const int64_t nx = problem->elements[0], pitch = tz_cuda_pitch(problem);
    double largest = 0.0;
    if (problem->bits || problem->stencil->passes_count > 1)
        return;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        for (int64_t i = 0; d->changes[f] && i < tz_problem_elements(problem); i++) {
            const double change = ((const double *)at_of(d->changes[f]))[i / nx * pitch + i % nx];
            assert_false(isnan(change));
            largest = fmax(largest, fabs(change));
        }
    if (largest != want->largest)
        fail_msg("%s: the largest change stored is %a, not %a", problem->stencil->id, largest,
                 want->largest);
}

static void check_case(const update_case *k)
{
    tz_problem problem;
    tz_update want = {0}, got = {0};
    tz_update_sums sums;
    device d;
    if (update_problem(&problem, k))
        return; /* a boundary that the stencil does not have */
    void *reference = update_state(&tz_backend_reference, &problem, NULL, k->seed);
    assert_ok(tz_backend_update(&tz_backend_reference, reference, &problem, 3, &want, &failure));
    tz_backend_reference.destroy(reference);
    const bool changes = k->seed % 2 == 0;
    device_create(&d, &problem, k->seed, changes);
    assert_ok(tz_update_begin(&sums, &problem, &failure));
    launch(&d, k->seed % 2 ? 1 : 1000, 1 + (int)(k->seed % 3), &sums); /* groups of 32, of 1 */
    tz_update_end(&sums, &got);
    if (!update_same(&got, &want))
        fail_msg("%s %s, %d %d %d, %lld x %lld x %lld: %a %a %a instead of %a %a %a",
                 k->stencil->id, k->precision == TZ_DOUBLE ? "double" : "single", k->boundary[0],
                 k->boundary[1], k->boundary[2], (long long)k->extent[0], (long long)k->extent[1],
                 (long long)k->extent[2], got.largest, got.sum, got.magnitude, want.largest,
                 want.sum, want.magnitude);
    if (changes)
        check_changes(&d, &want);
    device_destroy(&d);
    tz_problem_clear(&problem);
    compared++;
}

/* One text a stencil, of another boundary and precision each time: compiling takes the time. */
static void check_stencil(const tz_stencil *stencil)
{
    static int number;
    const bool real = tz_stencil_has_real(stencil);
    for (; !(stencil->boundaries & TZ_ALLOW(number % 4)); number++)
        ;
    const tz_boundary boundary = (tz_boundary)(number % 4);
    for (int g = 0; g < 3; g++) {
        update_case k = {stencil,
                         real ? (number % 3 == 2 ? TZ_DOUBLE : TZ_SINGLE) : -1,
                         {boundary, boundary, boundary},
                         {0},
                         (uint64_t)(number * 3 + g)};
        memcpy(k.extent, grids[stencil->dims][g], sizeof k.extent);
        check_case(&k);
    }
    number++;
}

TEST(all_bits_are_the_references)
{
    need_compiler();
    update_each_stencil(check_stencil);
    assert_true(compared > 30);
}

/* ---- Slabs ----------------------------------------------------------------------------------- */

/* Three slabs of a grid, of which only own cells count. */
static void check_slabs(const update_case *k)
{
    const tz_devices devices = {.count = 3, .of = {{.share = 1}, {.share = 1.5}, {.share = 1}}};
    tz_problem problem;
    tz_update want = {0}, got = {0};
    tz_update_sums sums;
    tz_cut cut;
    assert_ok(update_problem(&problem, k));
    void *reference = update_state(&tz_backend_reference, &problem, NULL, k->seed);
    assert_ok(tz_backend_update(&tz_backend_reference, reference, &problem, 3, &want, &failure));
    tz_backend_reference.destroy(reference);
    assert_ok(tz_cut_make(&cut, &problem, &devices, &failure));
    assert_ok(tz_update_begin(&sums, &problem, &failure));
    for (int i = 0; i < devices.count; i++) {
        device d;
        const tz_problem slab = tz_cut_slab(&cut, &problem, i, 1 + (int)(k->seed % 2));
        device_create(&d, &slab, k->seed, k->seed % 2 == 0);
        launch(&d, k->seed % 2 ? 1 : 1000, 1 + i, &sums);
        device_destroy(&d);
    }
    tz_update_end(&sums, &got);
    if (!update_same(&got, &want))
        fail_msg("%s in slabs, boundary %d: %a %a %a instead of %a %a %a", k->stencil->id,
                 k->boundary[0], got.largest, got.sum, got.magnitude, want.largest, want.sum,
                 want.magnitude);
    tz_problem_clear(&problem);
    compared++;
}

/* Texts that use coordinates have others in a slab; of the others, some stencils are enough. */
static void check_slabs_of(const tz_stencil *stencil)
{
    static const int64_t grid[TZ_AXES + 1][TZ_AXES] = {
        {0}, {3 * 4096 + 60, 1, 1}, {37, 60, 1}, {37, 4, 60}};
    static int number;
    bool coordinates = false;
    for (int p = 0; p < stencil->passes_count; p++)
        coordinates |= strstr(stencil->passes[p].text, "TZ_X") ||
                       strstr(stencil->passes[p].text, "TZ_Y") ||
                       strstr(stencil->passes[p].text, "TZ_Z");
    if ((!coordinates && number++ % 5 != 0) ||
        (stencil->dims == 1 && stencil->fields[0].type == TZ_BITS))
        return;
    for (int b = TZ_CLAMP; b <= TZ_PERIODIC; b++) {
        const tz_boundary rule =
            stencil->boundaries & TZ_ALLOW(b) ? (tz_boundary)b : stencil->boundary;
        update_case k = {stencil,
                         tz_stencil_has_real(stencil) ? (b ? TZ_DOUBLE : TZ_SINGLE) : -1,
                         {rule, rule, rule},
                         {0},
                         (uint64_t)(number + b)};
        memcpy(k.extent, grid[stencil->dims], sizeof k.extent);
        check_slabs(&k);
    }
}

TEST(slabs_add_up)
{
    need_compiler();
    compared = 0;
    update_each_stencil(check_slabs_of);
    assert_true(compared > 10);
}

/* ---- Compiling ------------------------------------------------------------------------------- */

static void compile_stencil(const tz_stencil *stencil)
{
    static int number;
    if (!is_complete() && number++ % 3 != 0) /* NVRTC takes seconds; a stencil adds its cells */
        return;
    for (int a = 0; a < (is_complete() ? 3 : 1); a++) {
        const update_case k = {
            .stencil = stencil,
            .precision = tz_stencil_has_real(stencil) ? TZ_SINGLE : -1,
            .boundary = {stencil->boundary, stencil->boundary, stencil->boundary},
            .extent = {100, stencil->dims > 1 ? 50 : 1, stencil->dims > 2 ? 40 : 1},
        };
        tz_problem problem;
        tz_cuda_text text = {0};
        size_t bytes = 0;
        tz_sass kernel = {0};
        assert_ok(update_problem(&problem, &k));
        tz_cuda_update_emit(&text, &problem);
        assert_false(text.failed);
        void *cubin = compiled(architectures[a], text.text, &bytes);
        assert_ok(tz_sass_read(&kernel, cubin, bytes, TZ_CUDA_UPDATE_KERNEL, &failure));
        if (kernel.local_bytes > 48)
            fail_msg("%s, %s: %d bytes of local memory", stencil->id, architectures[a],
                     kernel.local_bytes);
        tz_sass_free(&kernel);
        tz_problem_clear(&problem);
        free(text.text);
    }
}

TEST(texts_compile)
{
    need_nvrtc();
    update_each_stencil(compile_stencil);
}

TEST_GROUP(open_machine, close_machine)
