/* Kernels in three dimensions are compiled and counted. */
#include "every_stencil.h"

static void every_stencil_is_counted(void **state)
{
    assert_true(count_stencils(3, 3) > 3);
}

TEST_MAIN(set_up, tear_down, TEST(every_stencil_is_counted))
