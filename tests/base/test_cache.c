/* The cache on disk: entries come back whole or not at all, and code from this user's folder
 * alone. */
#include "tests/support.h"

#include "base/cache.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const tz_cache_kind shared = {.magic = "SHARED1", .ending = "one"},
                           own = {.magic = "PRIVAT1", .ending = "two", .folder = "own"};
static const char data[] = "what was compiled";

static tz_cache_key key_of(const char *text)
{
    tz_cache_key key = tz_cache_key_start();
    tz_cache_key_add(&key, text);
    return tz_cache_key_end(key);
}

static bool holds(const char *text, const tz_cache_kind *kind)
{
    size_t bytes = 0;
    char *found = tz_cache_read(key_of(text), kind, &bytes);
    const bool good = found && bytes == sizeof data && memcmp(found, data, bytes) == 0;
    free(found);
    return good;
}

static mode_t mode_of(const char *path)
{
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    return facts.st_mode & 07777;
}

TEST(entries_come_back)
{
    scratch *s = *state;
    setenv("TRAPEZE_CACHE", scratch_path(s, "cache/inner"), 1);
    assert_false(holds("a", &shared));
    tz_cache_write(key_of("a"), &shared, data, sizeof data);
    tz_cache_write(key_of("a"), &own, data, sizeof data);
    assert_true(holds("a", &shared));
    assert_true(holds("a", &own));
    assert_false(holds("b", &own));
    assert_int_equal(mode_of(scratch_path(s, "cache/inner/own")), 0700);
}

TEST(a_folder_that_others_may_change_is_refused)
{
    scratch *s = *state;
    char folder[800];
    snprintf(folder, sizeof folder, "%s", scratch_path(s, "cache/inner/own"));
    assert_ok(tz_cache_check_private(&own, &failure));
    assert_ok(tz_cache_check_private(&shared, &failure));
    assert_int_equal(chmod(folder, 0777), 0);
    check_error(tz_cache_check_private(&own, &failure), TZ_IO, folder,
                "is open to other users (mode 0777), whose code would be run");
    assert_int_equal(chmod(folder, 0750), 0);
    check_error(tz_cache_check_private(&own, &failure), TZ_IO, folder, "mode 0750");
    tz_cache_write(key_of("c"), &own, data, sizeof data);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_false(holds("c", &own));
    char text[1024];
    assert_true(tz_cache_take_warning(text, sizeof text));
    assert_non_null(strstr(text, "compiled code cannot be kept in"));
    scratch_empty(folder);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(symlink("/tmp", folder), 0);
    check_error(tz_cache_check_private(&own, &failure), TZ_IO, folder, "is no folder");
    assert_int_equal(unlink(folder), 0);
    assert_ok(tz_cache_check_private(&own, &failure));
    setenv("TRAPEZE_CACHE", "", 1);
    assert_ok(tz_cache_check_private(&own, &failure));
}

TEST(a_folder_of_another_user_is_refused)
{
    scratch *s = *state;
    char folder[800];
    setenv("TRAPEZE_CACHE", scratch_path(s, "cache/inner"), 1);
    snprintf(folder, sizeof folder, "%s", scratch_path(s, "cache/inner/own"));
    assert_int_equal(mkdir(folder, 0700), 0);
    const bool given = chown(folder, 12345, (gid_t)-1) == 0;
    if (given)
        check_error(tz_cache_check_private(&own, &failure), TZ_IO, folder,
                    "belongs to another user (12345)");
    assert_int_equal(rmdir(folder), 0);
    if (!given)
        skip_test("this user cannot give files away");
}

TEST(a_cache_that_others_may_change_is_refused)
{
    scratch *s = *state;
    char folder[800];
    setenv("TRAPEZE_CACHE", scratch_path(s, "open"), 1);
    snprintf(folder, sizeof folder, "%s", scratch_path(s, "open"));
    tz_cache_write(key_of("a"), &own, data, sizeof data);
    assert_true(holds("a", &own));
    assert_int_equal(chmod(folder, 0777), 0);
    check_error(tz_cache_check_private(&own, &failure), TZ_IO, folder,
                "can be changed by other users (mode 0777), whose code would be run");
    assert_false(holds("a", &own));
    assert_int_equal(chmod(folder, 01777), 0); /* as /tmp: nobody else can remove what is there */
    assert_true(holds("a", &own));
    assert_int_equal(chmod(folder, 0755), 0);
    assert_true(holds("a", &own));
}

/* The only entry of the cache. */
static void find_entry(char path[1200], const char *folder)
{
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    *path = '\0';
    for (struct dirent *e; (e = readdir(entries));)
        if (*e->d_name != '.')
            snprintf(path, 1200, "%s/%s", folder, e->d_name);
    closedir(entries);
    assert_true(*path != '\0');
}

TEST(entries_that_others_may_have_written_are_not_read)
{
    scratch *s = *state;
    char folder[800], entry[1200], other[800];
    setenv("TRAPEZE_CACHE", scratch_path(s, "entries"), 1);
    snprintf(folder, sizeof folder, "%s", scratch_path(s, "entries/own"));
    snprintf(other, sizeof other, "%s", scratch_path(s, "elsewhere"));
    tz_cache_write(key_of("a"), &own, data, sizeof data);
    find_entry(entry, folder);
    assert_int_equal(mode_of(entry), 0600);
    assert_int_equal(chmod(entry, 0666), 0);
    assert_false(holds("a", &own));
    assert_int_equal(chmod(entry, 0644), 0);
    assert_true(holds("a", &own));
    assert_int_equal(rename(entry, other), 0);
    assert_int_equal(symlink(other, entry), 0);
    assert_false(holds("a", &own));
    assert_int_equal(unlink(entry), 0);
    assert_int_equal(mkfifo(entry, 0600), 0);
    assert_false(holds("a", &own));
    assert_int_equal(unlink(entry), 0);
    assert_int_equal(rename(other, entry), 0);
    assert_true(holds("a", &own));
    if (chown(entry, 12345, (gid_t)-1) != 0)
        skip_test("this user cannot give files away");
    assert_false(holds("a", &own));
}

/* Somebody who may write in the folder above exchanges this user's folder and his own, again and
 * again. */
TEST(exchanged_folders_are_never_read)
{
    enum { READS = 400 };
    static const char wrong[] = "what was conceived";
    scratch *s = *state;
    char cache[800], mine[800], foreign[800];
    snprintf(cache, sizeof cache, "%s", scratch_path(s, "raced"));
    snprintf(mine, sizeof mine, "%.700s/own", cache);
    snprintf(foreign, sizeof foreign, "%.700s/foreign", cache);
    setenv("TRAPEZE_CACHE", cache, 1);
    tz_cache_write(key_of("a"), &own, wrong, sizeof wrong);
    assert_int_equal(rename(mine, foreign), 0);
    const bool given = chown(foreign, 12345, (gid_t)-1) == 0;
    tz_cache_write(key_of("a"), &own, data, sizeof data);
    const pid_t swapper = given ? fork() : -1;
    if (swapper == 0)
        for (;;)
            renameat2(AT_FDCWD, mine, AT_FDCWD, foreign, RENAME_EXCHANGE);
    int right = 0, reads = 0;
    /* On a busy machine the other process may not have begun by then. */
    for (; swapper > 0 && (reads < READS || ((right == 0 || right == reads) && reads < 100000));
         reads++) {
        size_t bytes = 0;
        char *found = tz_cache_read(key_of("a"), &own, &bytes);
        assert_true(!found || (bytes == sizeof data && memcmp(found, data, bytes) == 0));
        right += found != NULL;
        free(found);
        if (reads >= READS)
            usleep(1000);
    }
    if (swapper > 0) {
        kill(swapper, SIGKILL);
        waitpid(swapper, NULL, 0);
        assert_in_range(right, 1, reads - 1); /* it was exchanged, and it was read */
    }
    if (!given)
        skip_test("this user cannot give files away");
}

/* The newest 256 of a kind that is kept, if they are small. */
TEST(what_cannot_be_written_is_kept_in_memory)
{
    static const tz_cache_kind kept = {.magic = "KEPTHER", .ending = "three", .kept = true};
    scratch *s = *state;
    char text[16];
    scratch_text(s, "in the way", "file");
    setenv("TRAPEZE_CACHE", scratch_path(s, "in the way/cache"), 1);
    tz_cache_write(key_of("a"), &shared, data, sizeof data);
    assert_false(holds("a", &shared));
    for (int k = 0; k < 300; k++) {
        snprintf(text, sizeof text, "%d", k);
        tz_cache_write(key_of(text), &kept, "another", 8);
        tz_cache_write(key_of(text), &kept, data, sizeof data);
        assert_true(holds(text, &kept));
    }
    assert_true(holds("44", &kept));
    assert_false(holds("43", &kept));
    assert_false(holds("299", &shared));
    setenv("TRAPEZE_CACHE", scratch_path(s, "cache"), 1);
    assert_true(holds("299", &kept));
    tz_cache_write(key_of("written"), &kept, data, sizeof data);
    setenv("TRAPEZE_CACHE", "", 1);
    assert_false(holds("written", &kept));
}

TEST_GROUP(scratch_setup, scratch_teardown)
