/* core/cuda: the driver and NVRTC where they are, and one clear line where they are not. */
#include "test_files_support.h"

#include "cuda/driver_impl.h"

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

static void skip_without_nvrtc(void)
{
    char text[512];
    tz_error error = {0};
    if (tz__nvrtc_describe(text, sizeof text, &error) == TZ_OK)
        return;
    assert_int_equal(error.code, TZ_UNSUPPORTED);
    assert_non_null(strstr(error.message, "NVRTC"));
    print_message("skipped: %s\n", error.message);
    skip();
}

static void a_missing_driver_is_named(void **state)
{
    (void)state;
    tz_cuda *cuda = (tz_cuda *)&cuda;
    tz_error error = {0};
    if (tz_cuda_available()) {
        print_message("skipped: there is a driver and a GPU\n");
        skip();
    }
    assert_int_equal(tz_cuda_open(&cuda, 0, &error), TZ_BACKEND);
    assert_null(cuda);
    assert_int_equal(error.code, TZ_BACKEND);
    assert_non_null(strstr(error.message, "libcuda.so.1"));
    assert_non_null(strstr(error.message, "--backend cpu"));
    assert_null(strchr(error.message, '\n'));
    assert_int_equal(tz_cuda_open(&cuda, 0, NULL), TZ_BACKEND);
    tz_cuda_close(NULL);
}

static void describing_never_fails(void **state)
{
    (void)state;
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

static void kernels_compile_without_a_device(void **state)
{
    (void)state;
    skip_without_nvrtc();
    static const char *const architectures[] = {"sm_80", "sm_90", "sm_100"};
    for (size_t k = 0; k < 3; k++) {
        void *cubin = NULL;
        size_t bytes = 0;
        tz_error error = {0};
        if (tz_cuda_compile(architectures[k], good_source, &good_header, 1, &cubin, &bytes,
                            &error) != TZ_OK)
            fail_msg("%s: %s", architectures[k], error.message);
        assert_true(bytes > 64);
        assert_memory_equal(cubin, "\177ELF", 4);
        free(cubin);
    }
}

static void mistakes_are_named_with_their_line(void **state)
{
    (void)state;
    skip_without_nvrtc();
    void *cubin;
    size_t bytes;
    tz_error error = {0};
    assert_int_equal(tz_cuda_compile("sm_90", bad_source, NULL, 0, &cubin, &bytes, &error),
                     TZ_BACKEND);
    assert_null(cubin);
    assert_non_null(strstr(error.message, "kernel.cu(3): error"));
    assert_non_null(strstr(error.message, "nowhere"));
    assert_null(strchr(error.message, '\n'));
    assert_int_equal(tz_cuda_compile("sm_1", good_source, &good_header, 1, &cubin, &bytes, &error),
                     TZ_BACKEND);
    assert_non_null(strstr(error.message, "sm_1"));
}

/* The only entry in the cache's folder, or none. */
static int entries(const char *folder, char *path, size_t size)
{
    int count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            snprintf(path, size, "%s/%s", folder, entry->d_name);
            count++;
        }
    if (dir)
        closedir(dir);
    return count;
}

static bool load(const char *architecture, const char *source, size_t *bytes)
{
    void *cubin = NULL;
    bool cached = false;
    tz_error error = {0};
    if (tz__cuda_cubin(architecture, source, &good_header, 1, false, &cubin, bytes, &cached,
                       &error) != TZ_OK)
        fail_msg("%s", error.message);
    assert_memory_equal(cubin, "\177ELF", 4);
    free(cubin);
    return cached;
}

static void the_cache_is_only_a_cache(void **state)
{
    const scratch *s = *state;
    skip_without_nvrtc();
    char folder[500], path[1024], other[sizeof good_source + 8];
    size_t bytes, again;
    snprintf(folder, sizeof folder, "%s/deep/cache", s->directory);
    setenv("TRAPEZE_CACHE", folder, 1);
    assert_false(load("sm_90", good_source, &bytes));
    assert_int_equal(entries(folder, path, sizeof path), 1);
    assert_true(load("sm_90", good_source, &again));
    assert_int_equal(bytes, again);

    /* One wrong byte anywhere, or too few of them: a miss, and the entry is whole again. */
    static const long places[] = {0, 9, 20, 30, 40, 60, 500};
    for (size_t k = 0; k < sizeof places / sizeof *places + 2; k++) {
        if (k < sizeof places / sizeof *places) {
            FILE *file = fopen(path, "r+b");
            fseek(file, places[k], SEEK_SET);
            const int byte = fgetc(file);
            fseek(file, places[k], SEEK_SET);
            fputc(byte ^ 1, file);
            fclose(file);
        } else {
            assert_int_equal(truncate(path, k % 2 ? 0 : 300), 0);
        }
        assert_false(load("sm_90", good_source, &bytes));
        assert_true(load("sm_90", good_source, &bytes));
    }
    snprintf(other, sizeof other, "%s\n", good_source);
    assert_false(load("sm_90", other, &bytes));
    assert_false(load("sm_80", good_source, &bytes));
    assert_int_equal(entries(folder, path, sizeof path), 3);

    /* No cache, and one that cannot be written: every load compiles, none fails. */
    setenv("TRAPEZE_CACHE", "", 1);
    assert_false(load("sm_90", good_source, &bytes));
    setenv("TRAPEZE_CACHE", "/dev/null/cache", 1);
    assert_false(load("sm_90", good_source, &bytes));
    assert_false(load("sm_90", good_source, &bytes));
    unsetenv("TRAPEZE_CACHE");
}

static void a_device_computes(void **state)
{
    const scratch *s = *state;
    tz_cuda *cuda = NULL;
    tz_cuda_kernel kernel;
    tz_error error = {0};
    if (!tz_cuda_available()) {
        print_message("skipped: no GPU\n");
        skip();
    }
    skip_without_nvrtc();
#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) != TZ_OK)                                                                       \
            fail_msg("%s", error.message);                                                         \
    } while (0)
    setenv("TRAPEZE_CACHE", s->directory, 1);
    OK(tz_cuda_open(&cuda, 0, &error));
    assert_true(tz_cuda_device_of(cuda)->shared_bytes > 48 * 1024);
    assert_int_equal(tz_cuda_load(cuda, &kernel, good_source, "nothing", &good_header, 1, &error),
                     TZ_BACKEND);
    assert_null(kernel.module);
    OK(tz_cuda_load(cuda, &kernel, good_source, "scale", &good_header, 1, &error));
    assert_true(kernel.registers > 0);
    assert_int_equal(kernel.local_bytes, 0);

    /* 2 planes of 3 rows of 4, 1 cell in, in an array of 3 planes of 5 rows of 8. */
    enum { CELLS = 3 * 5 * 8 };
    float box_in[24], box_out[24] = {0}, whole[CELLS];
    for (int k = 0; k < 24; k++)
        box_in[k] = (float)k + 1;
    const tz_cuda_box box = {.row_bytes = 16,
                             .rows = 3,
                             .planes = 2,
                             .device_offset = sizeof(float) * (40 + 8 + 1),
                             .device_row_pitch = 32,
                             .device_plane_pitch = 160};
    tz_cu_pointer x;
    OK(tz_cuda_allocate(cuda, &x, sizeof whole, &error));
    OK(tz_cuda_clear(cuda, x, sizeof whole, &error));
    OK(tz_cuda_upload_box(cuda, x, &box, box_in, &error));
    float by = 2;
    int n = CELLS;
    void *arguments[] = {&x, &by, &n};
    OK(tz_cuda_launch(cuda, &kernel, (int[]){2, 1, 1}, (int[]){64, 1, 1}, 100 * 1024, arguments,
                      &error));
    OK(tz_cuda_wait(cuda, &error));
    OK(tz_cuda_download_box(cuda, box_out, x, &box, &error));
    OK(tz_cuda_download(cuda, whole, x, sizeof whole, &error));
    for (int k = 0; k < 24; k++) {
        assert_true(box_out[k] == 2 * box_in[k] + 1);
        assert_true(whole[49 + k / 12 * 40 + k / 4 % 3 * 8 + k % 4] == box_out[k]);
    }
    assert_true(whole[0] == 1 && whole[48] == 1 && whole[53] == 1);
    tz_cuda_box odd = box;
    odd.device_plane_pitch = 170;
    assert_int_equal(tz_cuda_upload_box(cuda, x, &odd, box_in, &error), TZ_SHAPE);
    assert_int_equal(tz_cuda_launch(cuda, &kernel, (int[]){1, 1, 1}, (int[]){64, 1, 1}, 1 << 20,
                                    arguments, &error),
                     TZ_RANGE);
    tz_cu_pointer huge;
    assert_int_equal(tz_cuda_allocate(cuda, &huge, (size_t)1 << 45, &error), TZ_MEMORY);
    assert_int_equal(huge, 0);

    /* A fault of a kernel is told by wait; what follows still closes. */
    tz_cu_pointer nowhere = 64;
    arguments[0] = &nowhere;
    OK(tz_cuda_launch(cuda, &kernel, (int[]){1, 1, 1}, (int[]){64, 1, 1}, 1024, arguments, &error));
    assert_int_equal(tz_cuda_wait(cuda, &error), TZ_BACKEND);
    print_message("%s\n", error.message);
    tz_cuda_free(cuda, x);
    tz_cuda_unload(cuda, &kernel);
    tz_cuda_close(cuda);
    unsetenv("TRAPEZE_CACHE");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_missing_driver_is_named),        TEST(describing_never_fails),
        TEST(kernels_compile_without_a_device), TEST(mistakes_are_named_with_their_line),
        TEST(the_cache_is_only_a_cache),        TEST(a_device_computes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
