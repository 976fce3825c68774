/* Where a Lua text names a function of the module. */
#include "lua/tokens.h"
#include "tests/unit.h"

static int find(const char *text)
{
    return tz_tokens_find(text, strlen(text), "plot");
}

static void names_are_found(void **state)
{
    assert_int_equal(find("local tz = require 'trapeze'\n\ntz.plot {}"), 3);
    assert_int_equal(find("t = require(\"trapeze\") t . plot {}"), 1);
    assert_int_equal(find("t = require [[trapeze]]\nlocal p = t.plot"), 2);
    assert_int_equal(find("local tz = require 'trapeze' --[==[ a\n]] ]=] ]==] tz.plot()"), 2);
    assert_int_equal(find("local tz = require 'trapeze'\nx = 'it\\'s' .. [[\n]]\ntz.plot()"), 4);
}

static void other_texts_are_not(void **state)
{
    assert_int_equal(find(""), 0);
    assert_int_equal(find("tz.plot {}"), 0);
    assert_int_equal(find("local tz = require 'trapeze' my.plot {}"), 0);
    assert_int_equal(find("local tz = require 'trapeze' tz.plotter {}"), 0);
    assert_int_equal(find("local tz = require 'trapeze' -- tz.plot {}"), 0);
    assert_int_equal(find("local tz = require 'trapeze' --[[\n tz.plot {} ]]"), 0);
    assert_int_equal(find("local tz = require 'trapeze' print 'tz.plot'"), 0);
    assert_int_equal(find("local tz = require 'trapeze' print [=[ ]] tz.plot ]=]"), 0);
    assert_int_equal(find("local tz = require 'trapeze' x = 'tz.plot"), 0);
    assert_int_equal(find("local tz = require 'trapeze' x = [[ tz.plot"), 0);
    assert_int_equal(find("local tz = require 'trapeze' --[[ tz.plot"), 0);
    assert_int_equal(find("tz.plot"), 0);
}

TEST_MAIN(NULL, NULL, TEST(names_are_found), TEST(other_texts_are_not))
