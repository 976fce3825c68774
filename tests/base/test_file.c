/* Files read into memory. */
#include "base/file.h"
#include "tests/unit.h"

static void all_bytes_are_read(void **state)
{
    char path[] = "/tmp/tz-read-XXXXXX", *text;
    size_t length;
    const int file = mkstemp(path);
    assert_true(file >= 0);
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 10000};
    size_t at = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (; at < sizes[i]; at++)
            assert_int_equal(write(file, at % 7 ? "x" : "", 1), 1);
        assert_ok(tz_file_read(path, 10000, &text, &length, &failure));
        assert_int_equal(length, sizes[i]);
        for (size_t k = 0; k < length; k++)
            assert_int_equal(text[k], k % 7 ? 'x' : '\0');
        assert_int_equal(text[length], '\0');
        free(text);
    }
    assert_int_equal(tz_file_read(path, 9999, &text, &length, &failure), TZ_RANGE);
    assert_string_equal(failure.message, "10000 bytes are too many; at most 9999 are read");
    assert_null(text);
    close(file);
    unlink(path);
    assert_int_equal(tz_file_read(path, 1, &text, &length, &failure), TZ_IO);
    assert_string_equal(failure.place, path);
    assert_null(text);
}

TEST_MAIN(NULL, NULL, TEST(all_bytes_are_read))
