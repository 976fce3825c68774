/* Rows of a streamed field on a GPU, which is a stand-in: those of any iteration arrive where a
 * kernel seeks them, whether all of them fit its memory or those of a stage come at a time. */
#include "test_cuda_support.h"

#include "backend/cuda/slabs.h"

enum { CELLS = 37, PITCH = 64, SLABS = 50 };

static void check_rows(tz_cuda *cuda, tz_cuda_slabs *slabs, const tz_streamed_source *from,
                       int64_t step, int height)
{
    int32_t got[CELLS], made[CELLS];
    tz_cu_pointer rows = 0;
    assert_ok(tz_cuda_slabs_take(slabs, from, step, height, &rows, &failure));
    assert_ok(tz_cuda_wait(cuda, &failure));
    for (int t = 0; t < height; t++) {
        const tz_cu_pointer row = rows + (tz_cu_pointer)(t * PITCH) * sizeof(int32_t);
        assert_ok(tz_cuda_download(cuda, got, row, sizeof got, &failure));
        const void *want = tz_streamed_source_row(from, step + t, 0, CELLS, made);
        if (memcmp(got, want, sizeof got) != 0)
            fail_msg("iteration %d of a stage at step %d", t, (int)step);
    }
    assert_ok(tz_cuda_slabs_used(slabs, &failure));
}

static void check_source(const tz_streamed_source *from)
{
    tz_cuda *cuda = opened();
    tz_cuda_slabs *slabs = NULL;
    assert_ok(tz_cuda_slabs_create(&slabs, cuda, NULL, CELLS, PITCH, &failure));
    for (int64_t step = 0; step + 6 <= SLABS; step += 1 + step % 5)
        check_rows(cuda, slabs, from, step, 1 + (int)(step % 6));
    tz_cuda_slabs_destroy(slabs);
    tz_cuda_close(cuda);
}

static tz_streamed_source in_memory(void)
{
    static int32_t data[SLABS * CELLS];
    for (int i = 0; i < SLABS * CELLS; i++)
        data[i] = 7 * i + 1;
    return (tz_streamed_source){.data = data, .slabs = SLABS, .cells = CELLS, .generation = 1};
}

FAKE_TEST(all_rows_of_an_array)
{
    const tz_streamed_source from = in_memory();
    check_source(&from);
}

FAKE_TEST(an_array_that_does_not_fit)
{
    const tz_streamed_source from = in_memory();
    setenv("FAKE_CUDA_MEMORY", "8000", 1); /* all rows take 12,800 bytes */
    check_source(&from);
}

FAKE_TEST(rows_of_a_generator)
{
    const tz_streamed_source from = {.slabs = -1,
                                     .cells = CELLS,
                                     .random = {.seed = 3, .low = 0, .high = 1000000},
                                     .generation = 2};
    check_source(&from);
}

TEST_GROUP(open_fake, close_fake)
