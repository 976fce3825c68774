/* tz_plot_draw: texts of a plot are shown, never read as commands. */
#include "tests/support.h"

#include "output/frame/plot.h"

TEST(texts_are_no_commands)
{
    static const char *const texts[] = {"`touch made`",
                                        "\"; system(\"touch made\") #",
                                        "'; system('touch made') #",
                                        "''''`touch made`'",
                                        "\\`touch made\\`",
                                        "a\nsystem('touch made')\n",
                                        "a\rsystem('touch made')",
                                        "@x \\"};
    static const double x[] = {1, 2}, y[] = {1, 3};
    if (!tz_plot_available())
        skip_test("no gnuplot");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = texts[i], *path = i % 2 ? "it's.png" : "a \"b\".png";
        tz_plot plot = {.series_count = 0};
        assert_non_null(tz_plot_add(&plot, TZ_PLOT_LINE, tz_plot_colour(0), 2, x, y, "%s", text));
        strcpy(plot.title, text);
        strcpy(plot.subtitle, text);
        strcpy(plot.x_label, text);
        strcpy(plot.y_label, text);
        assert_ok(tz_plot_draw(&plot, path, &failure));
        assert_int_equal(access(path, F_OK), 0);
        if (access("made", F_OK) == 0)
            fail_msg("%s was run", text);
        unlink(path);
    }
}

TEST_GROUP(enter_scratch, leave_scratch)
