/* core/backend/cuda: the driver and NVRTC where they are, and one clear line where they are not. */
#include "tests/support.h"

#include "backend/cuda/driver/queue.h"
#include "backend/cuda/sass/sass.h"
#include "nvrtc.h"

static const char good_source[] = "#include \"scale.h\"\n"
                                  "extern \"C\" __global__ void scale(float *x, float by, int n)\n"
                                  "{\n"
                                  "    extern __shared__ float row[];\n"
                                  "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                  "    row[threadIdx.x] = i < n ? x[i] : 0;\n"
                                  "    __syncthreads();\n"
                                  "    if (i < n)\n"
                                  "        x[i] = scaled(row[threadIdx.x], by);\n"
                                  "}\n";
static const tz_cuda_header good_header = {
    "scale.h", "static __device__ float scaled(float x, float by) { return x * by + 1; }\n"};
static const char bad_source[] = "extern \"C\" __global__ void scale(float *x)\n"
                                 "{\n"
                                 "    x[0] = nowhere;\n"
                                 "}\n";

SCRATCH_TEST(a_missing_driver_is_named)
{
    tz_cuda *cuda = (tz_cuda *)&cuda;
    if (tz_cuda_available())
        skip_test("there is a driver and a GPU");
    check_error(tz_cuda_open(&cuda, 0, &failure), TZ_BACKEND, "", "libcuda.so.1");
    assert_non_null(strstr(failure.message, "--backend cpu"));
    assert_null(cuda);
    assert_int_equal(tz_cuda_open(&cuda, 0, NULL), TZ_BACKEND);
    tz_cuda_close(NULL);
}

SCRATCH_TEST(describing_never_fails)
{
    char text[4096], small[8];
    tz_cuda_describe(text, sizeof text);
    assert_non_null(strstr(text, "CUDA driver: "));
    assert_non_null(strstr(text, "\nNVRTC: "));
    assert_int_equal(text[strlen(text) - 1], '\n');
    memset(small, 'x', sizeof small);
    tz_cuda_describe(small, sizeof small - 1);
    assert_true(strlen(small) < sizeof small - 1);
    assert_int_equal(small[7], 'x');
    tz_cuda_describe(NULL, 0);
}

SCRATCH_TEST(kernels_compile_without_a_device)
{
    need_nvrtc();
    for (size_t k = 0; k < 3; k++) {
        void *cubin = NULL;
        size_t bytes = 0;
        assert_ok(tz_cuda_compile(NULL, true, architectures[k], good_source, &good_header, 1, NULL,
                                  &cubin, &bytes, &failure));
        assert_true(bytes > 64);
        assert_memory_equal(cubin, "\177ELF", 4);
        free(cubin);
    }
}

SCRATCH_TEST(mistakes_are_named_with_their_line)
{
    need_nvrtc();
    void *cubin;
    size_t bytes;
    check_error(
        tz_cuda_compile(NULL, true, "sm_90", bad_source, NULL, 0, NULL, &cubin, &bytes, &failure),
        TZ_BACKEND, "", "kernel.cu(3): error");
    assert_non_null(strstr(failure.message, "nowhere"));
    assert_null(cubin);
    check_error(tz_cuda_compile(NULL, true, "sm_1", good_source, &good_header, 1, NULL, &cubin,
                                &bytes, &failure),
                TZ_BACKEND, "", "sm_1");
}

static int calls;
static int after_the_first(void)
{
    return ++calls > 1;
}

/* Asked while the compiler works. */
SCRATCH_TEST(compiling_can_be_stopped)
{
    need_nvrtc();
    void *cubin;
    size_t bytes;
    const tz_cancel cancel = {.stopped = after_the_first};
    calls = 0;
    check_error(tz_cuda_compile(&cancel, false, "sm_90", good_source, &good_header, 1, NULL, &cubin,
                                &bytes, &failure),
                TZ_INTERRUPTED, "", "interrupted while a kernel compiled");
    assert_null(cubin);
    assert_true(calls >= 2);
    calls = 1; /* stopped before it begins */
    assert_int_equal(tz_cuda_compile(&cancel, false, "sm_90", good_source, &good_header, 1, NULL,
                                     &cubin, &bytes, &failure),
                     TZ_INTERRUPTED);
    assert_null(cubin);
}

static bool load(const char *architecture, const char *source, size_t *bytes)
{
    void *cubin = NULL;
    bool cached = false;
    assert_ok(tz_cuda_compile(NULL, true, architecture, source, &good_header, 1, &cached, &cubin,
                              bytes, &failure));
    assert_memory_equal(cubin, "\177ELF", 4);
    free(cubin);
    return cached;
}

SCRATCH_TEST(the_cache_tells_kernels_apart)
{
    need_nvrtc();
    char other[sizeof good_source + 8];
    size_t bytes, again;
    setenv("TRAPEZE_CACHE", scratch_path(*state, "deep/cache"), 1);
    snprintf(other, sizeof other, "%s\n", good_source);
    assert_false(load("sm_90", good_source, &bytes));
    assert_true(load("sm_90", good_source, &again));
    assert_int_equal(bytes, again);
    assert_false(load("sm_90", other, &bytes));
    assert_false(load("sm_80", good_source, &bytes));
    setenv("TRAPEZE_CACHE", "", 1); /* this process keeps what it compiles */
    assert_false(load("sm_90", good_source, &bytes));
    assert_true(load("sm_90", good_source, &bytes));
}

/* ---- A real device --------------------------------------------------------------------------- */

static const char device_source[] =
    "extern \"C\" __global__ void grow(float *x, int n)\n"
    "{\n"
    "    extern __shared__ float row[];\n"
    "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    row[threadIdx.x] = i < n ? x[i] : 0;\n"
    "    __syncthreads();\n"
    "    if (i < n)\n"
    "        x[i] = row[threadIdx.x] + 1;\n"
    "}\n"
    "extern \"C\" __global__ void synchronise(int *arrived, int *passed)\n"
    "{\n"
    "    if (threadIdx.x == 0) {\n"
    "        atomicAdd(arrived, 1);\n"
    "        while (atomicAdd(arrived, 0) < gridDim.x)\n"
    "            ;\n"
    "        atomicAdd(passed, 1);\n"
    "    }\n"
    "}\n";

/* A queue, and two arrays of CELLS cells on the device. */
enum { CELLS = 1 << 20, BYTES = CELLS * sizeof(float) };
static const int grid[3] = {CELLS / 256, 1, 1}, block[3] = {256, 1, 1};
typedef struct bench {
    tz_cuda *cuda;
    tz_cuda_kernel grow, synchronise;
    tz_cuda_queue *first;
    tz_cu_pointer x, y;
} bench;

static void bench_open(bench *b)
{
    assert_ok(tz_cuda_open(&b->cuda, 0, &failure));
    const tz_cuda_device *device = tz_cuda_device_of(b->cuda);
    assert_true(device->l2_bytes > 0 && device->shared_bytes > 48 * 1024 &&
                device->multiprocessor_shared_bytes >= device->shared_bytes);
    assert_true(device->multiprocessor_registers >= 65536 &&
                device->multiprocessor_threads >= 1024);
    assert_true(strlen(device->bus_id) >= 12);
    check_error(tz_cuda_load(b->cuda, &b->grow, device_source, "nothing", NULL, 0, &failure),
                TZ_BACKEND, "", "");
    assert_null(b->grow.module);
    assert_ok(tz_cuda_load(b->cuda, &b->grow, device_source, "grow", NULL, 0, &failure));
    assert_ok(
        tz_cuda_load(b->cuda, &b->synchronise, device_source, "synchronise", NULL, 0, &failure));
    assert_true(b->grow.threads_max >= 1024 && b->grow.registers > 0 && b->grow.local_bytes == 0);
    assert_ok(tz_cuda_queue_create(b->cuda, &b->first, &failure));
    assert_ok(tz_cuda_allocate(b->cuda, &b->x, BYTES, &failure));
    assert_ok(tz_cuda_allocate(b->cuda, &b->y, BYTES, &failure));
}

static void bench_close(bench *b)
{
    tz_cuda_queue_destroy(b->cuda, b->first);
    tz_cuda_free(b->cuda, b->x);
    tz_cuda_free(b->cuda, b->y);
    tz_cuda_unload(b->cuda, &b->grow);
    tz_cuda_unload(b->cuda, &b->synchronise);
    tz_cuda_close(b->cuda);
}

static tz_status launch(bench *b, tz_cu_pointer x)
{
    int n = CELLS;
    void *arguments[] = {&x, &n};
    return tz_cuda_launch(b->cuda, b->first, &b->grow, grid, block, 100 * 1024, false, arguments,
                          &failure);
}

/* In a cooperative launch every block waits for every other; one block too many is refused. */
static void grids_synchronise(bench *b)
{
    const tz_cuda_device *device = tz_cuda_device_of(b->cuda);
    int blocks = 0, count[2];
    assert_ok(tz_cuda_occupancy(b->cuda, &b->synchronise, 256, 0, &blocks, &failure));
    const int all[3] = {blocks * device->multiprocessors, 1, 1}, more[3] = {all[0] + 1, 1, 1};
    tz_cu_pointer passed = b->y + 4;
    void *counters[] = {&b->y, &passed};
    if (!device->cooperative)
        return;
    assert_ok(tz_cuda_clear(b->cuda, b->y, 8, &failure));
    assert_ok(tz_cuda_launch(b->cuda, b->first, &b->synchronise, all, block, 0, true, counters,
                             &failure));
    assert_ok(tz_cuda_wait(b->cuda, &failure));
    assert_ok(tz_cuda_download(b->cuda, count, b->y, sizeof count, &failure));
    assert_true(count[0] == all[0] && count[1] == all[0]);
    check_error(tz_cuda_launch(b->cuda, b->first, &b->synchronise, more, block, 0, true, counters,
                               &failure),
                TZ_BACKEND, "", "use fewer or smaller blocks");
}

/* Waiting reports a fault of a kernel; everything still closes. cuda.h promises nothing to a
 * process after a fault; most drivers give it a new context. */
static void faults_are_reported(bench *b)
{
    assert_ok(launch(b, 64));
    check_error(tz_cuda_wait(b->cuda, &failure), TZ_BACKEND, "",
                "a kernel read or wrote outside its memory");
    tz_error again;
    assert_int_equal(tz_cuda_clear(b->cuda, b->x, 4, &again), TZ_BACKEND);
    assert_string_equal(again.message, failure.message);
}

SCRATCH_TEST(a_device_works)
{
    const scratch *s = *state;
    bench b = {0};
    if (!tz_cuda_available())
        skip_test("no GPU");
    need_nvrtc();
    setenv("TRAPEZE_CACHE", s->directory, 1);
    bench_open(&b);
    grids_synchronise(&b);
    faults_are_reported(&b);
    bench_close(&b);
    setenv("TRAPEZE_CACHE", "", 1);
}

/* a_device_works is last: it ends with a fault, after which the driver may refuse other calls. */
