/* The live view's server: who may ask, the numbers of libmicrohttpd's interface, a library that is
 * not there. */
#include "output/live/microhttpd.h"
#include "output/live/server.h"
#include "tests/unit.h"
#if __has_include(<microhttpd.h>)
#include <microhttpd.h>
#define HAVE_HEADER 1
#endif

TEST(hosts_are_those_of_the_server)
{
    (void)state;
    static const char *const good[] = {"127.0.0.1", "127.0.0.1:80", "localhost:1",
                                       "192.0.2.7:8080"};
    static const char *const bad[] = {"",           ":80",         "127.0.0.1:",  "127.0.0.1:8o",
                                      "evil.test",  "192.0.2.70",  "127.0.0.1.x", "localhost.x:1",
                                      "192.0.2.7 ", "127.0.0.1@x", "[::1]:80",    "0.0.0.0"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!tz__live_host_is_good(good[i], "192.0.2.7"))
            fail_msg("'%s' is refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (tz__live_host_is_good(bad[i], "192.0.2.7"))
            fail_msg("'%s' is taken", bad[i]);
    assert_false(tz__live_host_is_good(NULL, "127.0.0.1"));
    assert_false(tz__live_host_is_good("192.0.2.7:80", "127.0.0.1"));
    assert_true(tz__live_host_is_good("192.0.2.7:80", "0.0.0.0"));
    assert_false(tz__live_host_is_good("evil.test:80", "0.0.0.0"));
}

TEST(origins_are_the_page_itself)
{
    (void)state;
    assert_true(tz__live_origin_is_good(NULL, "localhost:1"));
    assert_true(tz__live_origin_is_good("http://localhost:1", "localhost:1"));
    assert_false(tz__live_origin_is_good("https://localhost:1", "localhost:1"));
    assert_false(tz__live_origin_is_good("http://localhost:12", "localhost:1"));
    assert_false(tz__live_origin_is_good("http://localhost", "localhost:1"));
    assert_false(tz__live_origin_is_good("null", "localhost:1"));
    assert_false(tz__live_origin_is_good("", "localhost:1"));
}

TEST(a_library_that_is_not_there_is_said)
{
    (void)state;
    static const char *const none[] = {"libno-such-thing.so.1", NULL};
    static const char *const other[] = {"libm.so.6", NULL};
    tz_mhd mhd;
    assert_int_equal(tz_mhd_open(&mhd, none, &failure), TZ_UNSUPPORTED);
    assert_non_null(strstr(failure.message, "apt-get install libmicrohttpd12"));
    assert_int_equal(tz_mhd_open(&mhd, other, &failure), TZ_UNSUPPORTED);
    assert_non_null(strstr(failure.message, "has no MHD_start_daemon"));
}

TEST(numbers_are_those_of_the_header)
{
    (void)state;
#ifdef HAVE_HEADER
    assert_int_equal(TZ_MHD_NO, MHD_NO);
    assert_int_equal(TZ_MHD_YES, MHD_YES);
    assert_int_equal(TZ_MHD_USE_INTERNAL_POLLING_THREAD, MHD_USE_INTERNAL_POLLING_THREAD);
    assert_int_equal(TZ_MHD_USE_AUTO, MHD_USE_AUTO);
    assert_int_equal(TZ_MHD_OPTION_END, MHD_OPTION_END);
    assert_int_equal(TZ_MHD_OPTION_CONNECTION_LIMIT, MHD_OPTION_CONNECTION_LIMIT);
    assert_int_equal(TZ_MHD_OPTION_CONNECTION_TIMEOUT, MHD_OPTION_CONNECTION_TIMEOUT);
    assert_int_equal(TZ_MHD_OPTION_NOTIFY_COMPLETED, MHD_OPTION_NOTIFY_COMPLETED);
    assert_int_equal(TZ_MHD_OPTION_LISTEN_SOCKET, MHD_OPTION_LISTEN_SOCKET);
    assert_int_equal(TZ_MHD_OPTION_NOTIFY_CONNECTION, MHD_OPTION_NOTIFY_CONNECTION);
    assert_int_equal(TZ_MHD_CONNECTION_STARTED, MHD_CONNECTION_NOTIFY_STARTED);
    assert_int_equal(TZ_MHD_CONNECTION_CLOSED, MHD_CONNECTION_NOTIFY_CLOSED);
    assert_int_equal(TZ_MHD_INFO_CONNECTION_FD, MHD_CONNECTION_INFO_CONNECTION_FD);
    assert_int_equal(TZ_MHD_HEADER_KIND, MHD_HEADER_KIND);
    assert_int_equal(TZ_MHD_GET_ARGUMENT_KIND, MHD_GET_ARGUMENT_KIND);
    assert_int_equal(TZ_MHD_RESPMEM_PERSISTENT, MHD_RESPMEM_PERSISTENT);
    assert_int_equal(TZ_MHD_RESPMEM_MUST_FREE, MHD_RESPMEM_MUST_FREE);
#else
    skip_test("no microhttpd.h");
#endif
}
