/* For tests of whole jobs of the cuda backend: on a GPU if there is one; else the stand-ins for
 * driver and cuFFT, and the executor runs every kernel that is launched. */
#ifndef TZ_TEST_EXECUTED_H
#define TZ_TEST_EXECUTED_H

#include "simt/unit.h"
#include "test_cuda_support.h"

static fake_cuda_named_runs *run_named;
static int (*plans_alive)(void);

static inline int start(void **state)
{
    if (open_machine(state) || open_fake(state))
        return -1;
    void *symbol = seen ? dlsym(library, "fake_cuda_run_named") : NULL;
    if (symbol)
        memcpy(&run_named, &symbol, sizeof run_named);
    void *fft = seen ? dlopen("libcufft.so.12", RTLD_NOW | RTLD_LOCAL) : NULL;
    symbol = fft ? dlsym(fft, "fake_cufft_plans") : NULL;
    if (symbol)
        memcpy(&plans_alive, &symbol, sizeof plans_alive);
    return 0;
}

static inline int end(void **state)
{
    return close_machine(state) || close_fake(state);
}

static inline int end_of_test(void **state)
{
    unsetenv("FAKE_CUFFT_FAULT");
    unsetenv("FAKE_CUFFT_WORK");
    const int alive = plans_alive ? plans_alive() : 0;
    if (alive)
        print_error("%d plans are left\n", alive);
    return teardown(state) || alive ? -1 : 0;
}

/* ---- Kernels -------------------------------------------------------------------------------- */

static inline const void *prepare_kernel(fake_cuda_launch *launch)
{
    const simt_entry *entry;
    assert_ok(simt_build_kernel(build, launch->source, launch->name, &entry, &failure));
    assert_int_equal(entry->arguments_count, 1);
    launch->argument_bytes = (size_t)entry->arguments_bytes;
    return entry;
}

static bool backwards;

static inline void run_kernel(const fake_cuda_launch *launch)
{
    simt_buffer buffers[FAKE_CUDA_MEMORY_MAX];
    simt_report report = {0};
    char argument[FAKE_CUDA_ARGUMENT_MAX];
    memcpy(argument, launch->argument, sizeof argument);
    void *pointers[] = {argument};
    for (int i = 0; i < launch->memory_count; i++)
        buffers[i] = (simt_buffer){"memory", launch->memory[i].at, launch->memory[i].bytes, true};
    const simt_launch shape = {
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .threads = launch->threads,
        .shared_bytes = launch->shared_bytes,
        .backwards = backwards,
        .buffers_count = launch->memory_count,
        .buffers = buffers,
    };
    if (!simt_run(machine, launch->entry, &shape, pointers, &report) ||
        simt_report_total(&report) > 0)
        fail_msg("%s", report.message[0]);
}

static inline tz_cuda *opened_to_run(void)
{
    if (!seen && tz_cuda_available()) {
        tz_cuda *cuda;
        assert_ok(tz_cuda_open(&cuda, 0, &failure));
        return cuda;
    }
    need_compiler();
    tz_cuda *cuda = opened();
    run_named(prepare_kernel, run_kernel);
    return cuda;
}

#define EXECUTED_TEST(function) TEST_WITH(setup, end_of_test, function)

#endif
