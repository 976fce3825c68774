/* Without libcapstone: the code that is compiled then, in place of the other. */
#include "backend/cpu/x86/instruction.c"

#include "backend/cpu/x86/walk.h"
#include "tests/unit.h"

static void test_the_message_says_what_to_install(void **state)
{
    tz_walker *walker = (tz_walker *)1;
    char text[512];
    assert_int_equal(tz_walker_create(&walker, &failure), TZ_UNSUPPORTED);
    assert_null(walker);
#if defined(__x86_64__)
    assert_non_null(strstr(failure.message, "libcapstone"));
#endif
    tz_decoder_describe(text, sizeof text);
    assert_string_equal(text, failure.message);
    tz_walker_destroy(walker);
}

TEST_MAIN(NULL, NULL, TEST(test_the_message_says_what_to_install))
