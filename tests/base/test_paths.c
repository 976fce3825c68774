/* Lists of folders, and where Trapeze looks for its files. */
#include "tests/support.h"

#include "base/paths.h"

TEST(folders_of_paths)
{
    static const char *const pairs[][2] = {
        {"a/b/c.lua", "a/b"}, {"c.lua", "."}, {"/c.lua", "/"}, {"a/", "a"}, {"", "."}};
    char text[16], tiny[4];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        tz_path_folder(pairs[i][0], text, sizeof text);
        assert_string_equal(text, pairs[i][1]);
    }
    tz_path_folder("folder/file", tiny, sizeof tiny);
    assert_string_equal(tiny, "fol");
}

TEST(lists_own_their_texts)
{
    tz_paths paths = {0};
    char text[] = "first";
    assert_ok(tz_paths_add(&paths, text, &failure));
    memset(text, 'x', sizeof text - 1);
    assert_ok(tz_paths_add(&paths, "second", &failure));
    assert_int_equal(paths.count, 2);
    assert_string_equal(paths.items[0], "first");
    assert_string_equal(paths.items[1], "second");
    tz_paths_clear(&paths);
    assert_int_equal(paths.count, 0);
    assert_null(paths.items);
    tz_paths_clear(&paths);
}

TEST(given_plugin_folders_come_first)
{
    tz_paths paths = {0};
    setenv("TRAPEZE_PLUGIN_PATH", "/one::two/three:", 1);
    assert_ok(tz_paths_add_plugins(&paths, &failure));
    assert_true(paths.count >= 2);
    assert_string_equal(paths.items[0], "/one");
    assert_string_equal(paths.items[1], "two/three");
    for (size_t i = 2; i < paths.count; i++) /* of the build tree */
        assert_true(paths.items[i][0] == '/');
    tz_paths_clear(&paths);
    unsetenv("TRAPEZE_PLUGIN_PATH");
}

TEST(shipped_folders_exist)
{
    tz_paths devices = {0}, benchmarks = {0};
    char path[1024];
    assert_ok(tz_paths_add_data(&devices, "devices", "model/devices", &failure));
    assert_ok(tz_paths_add_data(&benchmarks, "benchmarks", "model/papers/benchmarks", &failure));
    assert_int_equal(devices.count, 1);
    const bool papers = access(TZ_TEST_MODEL_DIR "/papers/benchmarks", R_OK) == 0;
    assert_int_equal(benchmarks.count, papers);
    snprintf(path, sizeof path, "%s/h200.txt", devices.items[0]);
    assert_int_equal(access(path, R_OK), 0);
    tz_paths_clear(&devices);
    tz_paths_clear(&benchmarks);
}

static void check_cache(const char *given, const char *shared, const char *home,
                        const char *expected, bool wanted)
{
    static const char *const names[] = {"TRAPEZE_CACHE", "XDG_CACHE_HOME", "HOME"};
    const char *const values[] = {given, shared, home};
    bool was_wanted;
    for (int i = 0; i < 3; i++)
        if (values[i])
            setenv(names[i], values[i], 1);
        else
            unsetenv(names[i]);
    char *folder = tz_cache_folder(&was_wanted);
    assert_int_equal(was_wanted, wanted);
    if (expected)
        assert_string_equal(folder, expected);
    else
        assert_null(folder);
    free(folder);
}

TEST(the_cache_follows_the_environment)
{
    check_cache("/mine", "/shared", "/home/x", "/mine", true);
    check_cache("", "/shared", "/home/x", NULL, false);
    check_cache(NULL, "/shared", "/home/x", "/shared/trapeze", true);
    check_cache(NULL, "relative", "/home/x", "/home/x/.cache/trapeze", true);
    check_cache(NULL, NULL, "/home/x", "/home/x/.cache/trapeze", true);
    check_cache(NULL, NULL, NULL, NULL, true);
    check_cache(NULL, "", "", NULL, true);
}
