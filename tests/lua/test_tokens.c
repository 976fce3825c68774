/* Where a Lua text names a function of the module. */
#include "lua/module.h"
#include "tests/unit.h"

TEST(names_are_found)
{
    static const struct {
        const char *text;
        int line; /* 0: nowhere */
    } cases[] = {
        {"local tz = require 'trapeze'\n\ntz.plot {}", 3},
        {"local tz <const> = require('trapeze') tz.plot {}", 1},
        {"t = require(\"trapeze\") t . plot {}", 1},
        {"t = require [[trapeze]]\nlocal p = t.plot", 2},
        {"local tz = require 'trapeze' --[==[ a\n]] ]=] ]==] tz.plot()", 2},
        {"local tz = require 'trapeze'\nx = 'it\\'s' .. [[\n]]\ntz.plot()", 4},
        {"", 0},
        {"tz.plot {}", 0},
        {"local tz = require 'trapeze' my.plot {}", 0},
        {"local tz = require 'trapeze' tz.plotter {}", 0},
        {"local tz = require 'trapeze' -- tz.plot {}", 0},
        {"local tz = require 'trapeze' --[[\n tz.plot {} ]]", 0},
        {"local tz = require 'trapeze' print 'tz.plot'", 0},
        {"local tz = require 'trapeze' print [=[ ]] tz.plot ]=]", 0},
        {"local tz = require 'trapeze' x = 'tz.plot", 0},
        {"local tz = require 'trapeze' x = [[ tz.plot", 0},
        {"local tz = require 'trapeze' --[[ tz.plot", 0},
        {"tz.plot", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (tz_plot_find(cases[i].text, strlen(cases[i].text), "plot") != cases[i].line)
            fail_msg("%s", cases[i].text);
}

/* Texts that end anywhere, in memory of just their size: sanitizers see a read beyond it. */
TEST(cut_texts_are_read_to_their_end)
{
    static const char text[] = "local t = require('trapeze') --[==[ a ]=] ]==]\n-- b\n"
                               "x = [=[ ]] ]=] .. 'c\\'' .. \"\\\n\" t.plot";
    for (size_t bytes = 0; bytes <= sizeof text - 1; bytes++)
        for (size_t first = 0; first <= bytes; first++) {
            char *cut = malloc(bytes - first + 1);
            assert_non_null(cut);
            memcpy(cut + 1, text + first, bytes - first);
            const bool whole = first <= 6 && bytes == sizeof text - 1;
            assert_int_equal(tz_plot_find(cut + 1, bytes - first, "plot") > 0, whole);
            free(cut);
        }
}
