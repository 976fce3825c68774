/* Files that appear whole or not at all, directories, names. */
#include "tests/support.h"

#include "base/atomic.h"
#include "base/names.h"
#include <signal.h>
#include <sys/resource.h>

static void atomic_files_appear_whole(void **state)
{
    tz_atomic_file *file, *other;
    size_t bytes;
    char path[800], *text;
    snprintf(path, sizeof path, "%s", scratch_path(*state, "x.bin"));
    assert_ok(tz_atomic_open(&file, path, false, &failure));
    assert_ok(tz_atomic_open(&other, path, false, &failure));
    assert_ok(tz_atomic_write(file, "first", 5, &failure));
    fputs("second", tz_atomic_stream(other));
    assert_int_not_equal(access(path, F_OK), 0);
    assert_ok(tz_atomic_commit(file, &failure));
    check_error(tz_atomic_commit(other, &failure), TZ_IO, "x.bin", "exists already");
    text = scratch_slurp(path, &bytes);
    assert_string_equal(text, "first");
    free(text);
    assert_int_equal(scratch_count(*state), 1);
    check_error(tz_atomic_open(&file, path, false, &failure), TZ_IO, "x.bin", "exists already");
    assert_ok(tz_atomic_open(&file, path, true, &failure));
    fputs("third", tz_atomic_stream(file));
    tz_atomic_abort(file);
    assert_ok(tz_atomic_open(&file, path, true, &failure));
    fputs("fourth", tz_atomic_stream(file));
    assert_ok(tz_atomic_commit(file, &failure));
    text = scratch_slurp(path, &bytes);
    assert_string_equal(text, "fourth");
    free(text);
    check_error(tz_atomic_open(&file, scratch_path(*state, "no/such/x"), false, &failure), TZ_IO,
                "no/such/x", "No such file");
    assert_int_equal(scratch_count(*state), 1);
}

static void atomic_files_survive_a_full_disk(void **state)
{
    tz_atomic_file *file;
    struct rlimit before, low;
    static char block[1 << 16];
    tz_status status = TZ_OK;
    /* A limit on file sizes stands in for a full disk. */
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    assert_ok(tz_atomic_open(&file, scratch_path(*state, "big"), false, &failure));
    low = before;
    low.rlim_cur = 100000;
    setrlimit(RLIMIT_FSIZE, &low);
    for (int i = 0; i < 8 && status == TZ_OK; i++)
        status = tz_atomic_write(file, block, sizeof block, &failure);
    tz_error second = {0};
    const tz_status committed = tz_atomic_commit(file, &second);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    check_error_of(status, TZ_IO, &failure, "big", "cannot write: File too large");
    check_error_of(committed, TZ_IO, &second, "big", "cannot write: File too large");
    assert_int_equal(scratch_count(*state), 0);
}

static void directories_are_made(void **state)
{
    struct stat facts;
    const char *path = scratch_path(*state, "a/b//c/");
    assert_ok(tz_make_dirs(path, &failure));
    assert_ok(tz_make_dirs(path, &failure));
    assert_int_equal(stat(path, &facts), 0);
    scratch_text(*state, "file", "");
    check_error(tz_make_dirs(scratch_path(*state, "file/x"), &failure), TZ_IO, "file",
                "Not a directory");
}

static void names_are_suggested(void **state)
{
    static const char *const names[] = {"viridis", "inferno", "gray", "balance"};
    char text[64], tiny[16];
    assert_string_equal(tz_names_nearest("virdis", names, 4), "viridis");
    assert_string_equal(tz_names_nearest("INFERNO", names, 4), "inferno");
    assert_string_equal(tz_names_nearest("gary", names, 4), "gray");
    assert_null(tz_names_nearest("jet", names, 4));
    assert_null(tz_names_nearest("", names, 4));
    assert_string_equal(tz_names_hint(text, sizeof text, "blance", names, 4),
                        "; did you mean 'balance'?");
    assert_string_equal(tz_names_hint(text, sizeof text, "xyz", names, 4),
                        "; known: viridis, inferno, gray, balance");
    assert_string_equal(tz_names_hint(text, 32, "xyz", names, 4), "; known: viridis, inferno, ...");
    tz_names_hint(tiny, sizeof tiny, "xyz", names, 4);
    assert_string_equal(tz_names_hint(text, sizeof text, "xyz", names, 0), "");
}

TEST_MAIN(NULL, NULL, SCRATCH_TEST(atomic_files_appear_whole),
          SCRATCH_TEST(atomic_files_survive_a_full_disk), SCRATCH_TEST(directories_are_made),
          SCRATCH_TEST(names_are_suggested))
