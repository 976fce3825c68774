/* core/backend/cuda against stand-ins for the driver and NVRTC: kernels, their launches, faults. */
#include "test_cuda_support.h"

/* ---- Kernels --------------------------------------------------------------------------------- */

FAKE_TEST(launches_ask_the_driver_once)
{
    tz_cuda *cuda = opened();
    tz_cuda_kernel kernel = loaded(cuda);
    tz_cu_pointer x = 64;
    void *arguments[] = {&x};
    assert_int_equal(kernel.registers, 40);
    assert_int_equal(kernel.local_bytes, 0);
    assert_int_equal(kernel.shared_bytes, 1024);
    assert_int_equal(kernel.dynamic_shared_bytes, (227 << 10) - 1024);
    assert_int_equal(seen->shared_limit, (227 << 10) - 1024);
    const int gets = seen->kernel_gets, sets = seen->kernel_sets, launches = seen->launches;
    const int grid[3] = {70000, 3, 2}, block[3] = {32, 4, 2};
    for (int k = 0; k < 5; k++)
        assert_ok(tz_cuda_launch(cuda, NULL, &kernel, grid, block, 200 << 10, false, arguments,
                                 &failure));
    assert_int_equal(seen->kernel_gets, gets);
    assert_int_equal(seen->kernel_sets, sets);
    assert_int_equal(seen->launches, launches + 5);
    assert_int_equal(seen->grid[0], 70000);
    assert_int_equal(seen->grid[2] * 10 + seen->block[1], 24);
    assert_int_equal(seen->shared_bytes, 200 << 10);
    assert_true(seen->on_default_stream);

    static const struct {
        int grid[3], block[3], shared;
        const char *message;
    } wrong[] = {
        {{0, 1, 1}, {1, 1, 1}, 0, "at least one block"},
        {{1, 1, 1}, {1, -1, 1}, 0, "one thread a dimension"},
        {{1, 65536, 1}, {1, 1, 1}, 0, "up to 65535 blocks along y and z, not 1x65536x1"},
        {{1, 1, 1}, {1024, 2, 1}, 0, "up to 1024 threads"},
        {{1, 1, 1}, {65536, 65536, 65536}, 0, "up to 1024 threads"},
        {{1, 1, 1}, {1, 1, 1}, -1, "not -1"},
        {{1, 1, 1}, {1, 1, 1}, 227 << 10, "0 to 231424 bytes of shared memory"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        check_error(tz_cuda_launch(cuda, NULL, &kernel, wrong[k].grid, wrong[k].block,
                                   wrong[k].shared, false, arguments, &failure),
                    TZ_RANGE, "", wrong[k].message);
    assert_int_equal(seen->launches, launches + 5);
    tz_cuda_unload(cuda, &kernel);
    assert_null(kernel.module);
    tz_cuda_unload(cuda, &kernel);
    tz_cuda_close(cuda);
}

FAKE_TEST(cooperative_launches_must_fit)
{
    tz_cuda *cuda = opened();
    tz_cuda_kernel kernel = loaded(cuda);
    tz_cuda_queue *stream;
    int blocks = -1;
    void *arguments[] = {&blocks};
    assert_ok(tz_cuda_queue_create(cuda, &stream, &failure));
    assert_ok(tz_cuda_occupancy(cuda, &kernel, 256, 0, &blocks, &failure));
    assert_int_equal(blocks, 6); /* of 40 registers a thread */
    assert_ok(tz_cuda_occupancy(cuda, &kernel, 256, 100 << 10, &blocks, &failure));
    assert_int_equal(blocks, 2);
    assert_ok(tz_cuda_occupancy(cuda, &kernel, 2048, 0, &blocks, &failure));
    assert_int_equal(blocks, 0);
    check_error(tz_cuda_occupancy(cuda, &kernel, 0, 0, &blocks, &failure), TZ_RANGE, "",
                "no blocks of 0 threads");

    const int threads[3] = {256, 1, 1}, all[3] = {132 * 6, 1, 1}, more[3] = {132 * 6 + 1, 1, 1};
    const int before = seen->cooperative;
    assert_ok(tz_cuda_launch(cuda, stream, &kernel, all, threads, 0, true, arguments, &failure));
    assert_int_equal(seen->cooperative, before + 1);
    assert_false(seen->on_default_stream);
    check_error(tz_cuda_launch(cuda, stream, &kernel, more, threads, 0, true, arguments, &failure),
                TZ_BACKEND, "", "use fewer or smaller blocks");
    tz_cuda_queue_destroy(cuda, stream);
    tz_cuda_unload(cuda, &kernel);
    tz_cuda_close(cuda);

    setenv("FAKE_CUDA_WITHOUT", "95", 1);
    cuda = opened();
    kernel = loaded(cuda);
    check_error(tz_cuda_launch(cuda, NULL, &kernel, one, warp, 0, true, arguments, &failure),
                TZ_UNSUPPORTED, "", "Fake GPU A cannot launch");
    tz_cuda_unload(cuda, &kernel);
    tz_cuda_close(cuda);
}

FAKE_TEST(opting_in_may_be_refused)
{
    tz_cuda *cuda = opened();
    fault("cuFuncSetAttribute:1");
    tz_cuda_kernel kernel = loaded(cuda);
    assert_int_equal(kernel.dynamic_shared_bytes, (48 << 10) - 1024);
    tz_cuda_unload(cuda, &kernel);
    tz_cuda_close(cuda);
}

static int lines_of(const char *path, char *last, size_t size)
{
    FILE *file = fopen(path, "r");
    int count = 0;
    last[0] = '\0';
    while (file && fgets(last, (int)size, file))
        count++;
    if (file)
        fclose(file);
    return count;
}

FAKE_TEST(kernels_are_compiled_once)
{
    scratch *s = *state;
    tz_cuda *cuda = opened();
    tz_cuda_kernel kernel;
    char log[1024], last[1024], missing[] = "extern \"C\" __global__ void other() { nowhere; }";
    snprintf(log, sizeof log, "%s/log", s->directory);
    setenv("FAKE_NVRTC_LOG", log, 1);
    tz_cuda_compilers_end();
    for (int k = 0; k < 3; k++) {
        kernel = loaded(cuda);
        tz_cuda_unload(cuda, &kernel);
    }
    assert_int_equal(lines_of(log, last, sizeof last), 1);
    assert_non_null(strstr(last, "--gpu-architecture=sm_90 "));
    assert_non_null(strstr(last, " --fmad=false "));

    /* A cubin that the driver refuses is compiled anew, once. */
    fault("cuModuleLoadData:209:0:1");
    kernel = loaded(cuda);
    tz_cuda_unload(cuda, &kernel);
    assert_int_equal(lines_of(log, last, sizeof last), 2);
    fault("cuModuleLoadData:209");
    check_error(tz_cuda_load(cuda, &kernel, source, "step", NULL, 0, &failure), TZ_BACKEND, "step",
                "may be older than NVRTC");
    assert_int_equal(lines_of(log, last, sizeof last), 3);
    fault(NULL);
    check_error(tz_cuda_load(cuda, &kernel, source, "stop", NULL, 0, &failure), TZ_BACKEND, "stop",
                "has no such kernel");
    check_error(tz_cuda_load(cuda, &kernel, missing, "other", NULL, 0, &failure), TZ_BACKEND, "",
                "NVRTC 13.7 does not compile this for sm_90: kernel.cu(3): error");
    assert_null(kernel.module);
    tz_cuda_close(cuda);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

FAKE_TEST(a_fault_is_reported_in_the_same_words_again)
{
    need_fake();
    static const struct {
        const char *fault, *message;
    } cases[] = {
        {"cuCtxSynchronize:700", "a kernel read or wrote outside its memory on GPU 0, Fake GPU A "
                                 "(CUDA_ERROR_ILLEGAL_ADDRESS "
                                 "700); run with --sync to find the stage"},
        {"cuCtxSynchronize:715", "a kernel came to an illegal instruction on GPU 0"},
        {"cuCtxSynchronize:716", "misaligned address"},
        {"cuLaunchKernel:719", "a kernel failed on GPU 0"},
        {"cuStreamSynchronize:702", "a kernel ran longer than the system allows on GPU 0"},
        {"cuMemAlloc_v2:714", "ran out of its stack"},
        {"cuCtxSynchronize:999", "the driver lost GPU 0, Fake GPU A"},
        {"cuCtxSynchronize:214", "memory error that cannot be corrected (ECC) on GPU 0"},
        {"cuCtxSetCurrent:999:1", "the driver lost GPU 0"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tz_cuda *cuda = opened();
        tz_cuda_kernel kernel = loaded(cuda);
        tz_cuda_queue *stream = NULL;
        tz_cuda_event *event = NULL;
        tz_cu_pointer x = 0, y;
        void *pinned = NULL;
        assert_ok(tz_cuda_queue_create(cuda, &stream, &failure));
        assert_ok(tz_cuda_event_create(cuda, &event, true, &failure));
        assert_ok(tz_cuda_allocate(cuda, &x, 64, &failure));
        assert_ok(tz_cuda_host_allocate(cuda, &pinned, 64, &failure));

        tz_error first = {0};
        fault(cases[k].fault);
        tz_status status = launch(cuda, &kernel, stream, &first);
        if (status == TZ_OK)
            status = tz_cuda_allocate(cuda, &y, 64, &first);
        if (status == TZ_OK)
            status = tz_cuda_queue_wait(cuda, stream, &first);
        if (status == TZ_OK)
            status = tz_cuda_wait(cuda, &first);
        check_error_of(status, TZ_BACKEND, &first, "", cases[k].message);
        fault(NULL);

        /* Every later call returns the same message and does not call the driver. */
        const int done = seen->done, launches = seen->launches;
        tz_error again[8] = {{0}};
        double seconds;
        char bytes[64];
        int blocks;
        assert_int_equal(launch(cuda, &kernel, stream, &again[0]), TZ_BACKEND);
        assert_int_equal(tz_cuda_download(cuda, bytes, x, 64, &again[1]), TZ_BACKEND);
        assert_int_equal(tz_cuda_queue_wait(cuda, stream, &again[2]), TZ_BACKEND);
        assert_int_equal(tz_cuda_event_wait(cuda, event, &again[3]), TZ_BACKEND);
        assert_int_equal(tz_cuda_event_elapsed_s(cuda, event, event, &seconds, &again[4]),
                         TZ_BACKEND);
        assert_int_equal(tz_cuda_graph_begin(cuda, stream, &again[5]), TZ_BACKEND);
        assert_int_equal(tz_cuda_occupancy(cuda, &kernel, 32, 0, &blocks, &again[6]), TZ_BACKEND);
        assert_int_equal(tz_cuda_load(cuda, &kernel, source, "step", NULL, 0, &again[7]),
                         TZ_BACKEND);
        for (int e = 0; e < 8; e++)
            assert_string_equal(again[e].message, first.message);
        assert_int_equal(tz_cuda_wait(cuda, NULL), TZ_BACKEND);
        assert_int_equal(seen->done, done);
        assert_int_equal(seen->launches, launches);
        tz_cuda_event_destroy(cuda, event);
        tz_cuda_queue_destroy(cuda, stream);
        tz_cuda_host_free(cuda, pinned);
        tz_cuda_free(cuda, x);
        tz_cuda_unload(cuda, &kernel);
        tz_cuda_close(cuda);
        assert_int_equal(seen->contexts, 0);
    }
    /* A new context begins anew. */
    tz_cuda *cuda = opened();
    assert_ok(tz_cuda_wait(cuda, &failure));
    tz_cuda_close(cuda);
}

FAKE_TEST(a_refusal_ends_nothing)
{
    tz_cuda *cuda = opened();
    tz_cuda_kernel kernel = loaded(cuda);
    fault("cuLaunchKernel:701");
    check_error(launch(cuda, &kernel, NULL, &failure), TZ_BACKEND, "",
                "cannot launch 2x1x1 blocks of 32x1x1 threads with 0 bytes of shared memory: the "
                "kernel needs more registers");
    fault("cuLaunchKernel:2");
    check_error(launch(cuda, &kernel, NULL, &failure), TZ_MEMORY, "", "not enough GPU memory");
    fault(NULL);
    assert_ok(launch(cuda, &kernel, NULL, &failure));
    assert_ok(tz_cuda_wait(cuda, &failure));
    tz_cuda_unload(cuda, &kernel);
    tz_cuda_close(cuda);
}

TEST_GROUP(open_fake, close_fake)
