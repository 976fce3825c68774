/* The folder of a run, its tables and its record. */
#include "tests/support.h"

#include "output/folder.h"
#include "output/format/table.h"
#include "output/run_record.h"
#include <jansson.h>
#include <limits.h>

TEST(names_stay_in_the_folder)
{
    static const char *const wrong[] = {"", ".hidden", "a/b", "../a", "a\nb", "\x7f"};
    char path[PATH_MAX], name[160];
    tz_folder *folder;
    assert_ok(tz_folder_create(&folder, "names", "x", "", 0, &failure));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(tz_folder_join(folder, wrong[i], path, sizeof path, &failure), TZ_RANGE);
    memset(name, 'a', sizeof name);
    name[121] = '\0';
    assert_int_equal(tz_folder_check_name(name, &failure), TZ_RANGE);
    name[120] = '\0';
    assert_ok(tz_folder_check_name(name, &failure));
    assert_ok(tz_folder_join(folder, "a b.png", path, sizeof path, &failure));
    assert_string_equal(path, "names/a b.png");
    assert_int_equal(tz_folder_join(folder, "a.png", path, 8, &failure), TZ_RANGE);
    tz_folder_destroy(folder);
}

TEST_GROUP(enter_scratch, leave_scratch)
