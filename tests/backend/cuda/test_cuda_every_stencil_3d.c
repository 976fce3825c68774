/* Kernels in three dimensions are compiled and counted. */
#include "every_stencil.h"

TEST(every_stencil_is_counted)
{
    assert_true(count_stencils(3, 3) > 3);
}

TEST_GROUP(set_up, tear_down)
