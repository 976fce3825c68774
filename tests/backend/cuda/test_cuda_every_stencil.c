/* Kernels in one and two dimensions are compiled and counted. */
#include "every_stencil.h"

TEST(every_stencil_is_counted)
{
    assert_true(count_stencils(1, 2) > 7);
}

TEST_GROUP(set_up, tear_down)
