/* Kernels in one and two dimensions are compiled and counted. */
#include "every_stencil.h"

static void every_stencil_is_counted(void **state)
{
    assert_true(count_stencils(1, 2) > 7);
}

TEST_MAIN(set_up, tear_down, TEST(every_stencil_is_counted))
