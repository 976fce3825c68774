/* Files read into memory. */
#include "base/file.h"
#include "tests/unit.h"
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

TEST(all_bytes_are_read)
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

/* Nothing that could block is opened: a test that hangs is ended by alarm(). */
TEST(only_regular_files_are_read)
{
    char folder[] = "/tmp/tz-read-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(symlink("fifo", "link"), 0);
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_int_equal(symlink("nowhere", "broken"), 0);
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    const struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    assert_int_equal(bind(listener, (const struct sockaddr *)&address, sizeof address), 0);
    static const struct {
        const char *path, *message;
    } cases[] = {{"fifo", "a named pipe"},
                 {"link", "a named pipe"},
                 {"socket", "a socket"},
                 {".", "a directory"},
                 {"/dev/null", "a device"},
                 {"/dev/zero", "a device"},
                 {"/dev/tty", "a device"},
                 {"loop", "Too many levels of symbolic links"},
                 {"broken", "No such file or directory"}};
    alarm(20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text;
        size_t bytes;
        int fd;
        FILE *stream;
        check_error(tz_file_open(cases[i].path, &fd, &bytes, &failure), TZ_IO, cases[i].path,
                    cases[i].message);
        assert_int_equal(fd, -1);
        check_error(tz_file_stream(cases[i].path, &stream, &bytes, &failure), TZ_IO, cases[i].path,
                    cases[i].message);
        assert_null(stream);
        check_error(tz_file_read(cases[i].path, 100, &text, &bytes, &failure), TZ_IO, cases[i].path,
                    cases[i].message);
        assert_null(text);
    }
    alarm(0);
    close(listener);
    static const char *const names[] = {"fifo", "link", "loop", "broken", "socket"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(names[i]);
    assert_int_equal(chdir("/"), 0);
    rmdir(folder);
}

/* A file with a hole may be larger than the memory. */
TEST(what_does_not_fit_is_refused)
{
    char path[] = "/tmp/tz-read-XXXXXX", *text;
    size_t length;
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, (off_t)1 << 43), 0);
    check_error(tz_file_read(path, (size_t)1 << 62, &text, &length, &failure), TZ_MEMORY, path,
                "do not fit in memory");
    assert_null(text);
    close(file);
    unlink(path);
}
