/* For the tests of core/backend/cuda against the stand-ins (fake/fake.h). ctest puts the stand-ins
 * into LD_LIBRARY_PATH; without them every test is skipped. */
#ifndef TZ_TEST_CUDA_SUPPORT_H
#define TZ_TEST_CUDA_SUPPORT_H

#include "tests/support.h"

#include "backend/cuda/compile/compile.h"
#include "backend/cuda/driver/energy.h"
#include "backend/cuda/driver/queue.h"
#include "fake/fake.h"

#include <dlfcn.h>
#include <pthread.h>

static const char source[] = "extern \"C\" __global__ void step(float *x) { x[0] += 1; }";
static const fake_cuda_seen *seen;

static inline void fault(const char *what)
{
    if (what)
        setenv("FAKE_CUDA_FAULT", what, 1);
    else
        unsetenv("FAKE_CUDA_FAULT");
}

static inline int setup(void **state)
{
    static const char *const variables[] = {
        "FAKE_CUDA_FAULT",   "FAKE_CUDA_DEVICES", "FAKE_CUDA_MEMORY", "FAKE_CUDA_WITHOUT",
        "FAKE_NVML_FAULT",   "FAKE_NVRTC_LOG",    "FAKE_NVRTC_MS",    "FAKE_NVML_CLOCK",
        "FAKE_NVML_REASONS", "FAKE_NVML_WATTS"};
    for (size_t k = 0; k < sizeof variables / sizeof *variables; k++)
        unsetenv(variables[k]);
    tz_cuda_compilers_end(); /* the next one finds this environment */
    const int result = scratch_setup(state);
    if (result == 0)
        setenv("TRAPEZE_CACHE", ((scratch *)*state)->directory, 1);
    return result;
}

/* A test must close every context and destroy every handle. */
static inline int teardown(void **state)
{
    unsetenv("TRAPEZE_CACHE");
    const int forgotten = seen ? seen->contexts + seen->left_behind : 0;
    if (forgotten)
        print_error("%d contexts open, %d handles left behind\n", seen->contexts,
                    seen->left_behind);
    return scratch_teardown(state) || forgotten ? -1 : 0;
}

static inline void need_fake(void)
{
    if (seen)
        return;
    skip_test("libcuda.so.1 is not the stand-in (ctest puts it in LD_LIBRARY_PATH)");
}

static inline tz_cuda *opened(void)
{
    tz_cuda *cuda = NULL;
    need_fake();
    assert_ok(tz_cuda_open(&cuda, 0, &failure));
    return cuda;
}

static inline tz_cuda_kernel loaded(tz_cuda *cuda)
{
    tz_cuda_kernel kernel;
    assert_ok(tz_cuda_load(cuda, &kernel, source, "step", NULL, 0, &failure));
    return kernel;
}

static const int one[3] = {1, 1, 1}, two[3] = {2, 1, 1}, warp[3] = {32, 1, 1};

static inline tz_status launch(tz_cuda *cuda, const tz_cuda_kernel *kernel, tz_cuda_queue *stream,
                               tz_error *error)
{
    tz_cu_pointer x = 64;
    void *arguments[] = {&x};
    return tz_cuda_launch(cuda, stream, kernel, two, warp, 0, false, arguments, error);
}

static void *library;

static inline int open_fake(void **state)
{
    library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *look = library ? dlsym(library, "fake_cuda") : NULL;
    if (look) {
        fake_cuda_look *call;
        memcpy(&call, &look, sizeof call);
        seen = call();
    }
    return 0;
}

static inline int close_fake(void **state)
{
    return library ? dlclose(library) : 0;
}

#define FAKE_TEST(function) TEST_WITH(setup, teardown, function)

#endif
