/* Opens libmicrohttpd for the live view. */
#include "output/live/microhttpd.h"

#include "base/library.h"
#include <stdio.h>

static const char *const known[] = {"libmicrohttpd.so.12", NULL};

tz_status tz_mhd_open(tz_mhd *mhd, const char *const *names, tz_error *error)
{
    static const tz_library_symbol symbols[] = {
        {"MHD_start_daemon", offsetof(tz_mhd, start), false},
        {"MHD_stop_daemon", offsetof(tz_mhd, stop), false},
        {"MHD_create_response_from_buffer", offsetof(tz_mhd, response), false},
        {"MHD_add_response_header", offsetof(tz_mhd, add_header), false},
        {"MHD_queue_response", offsetof(tz_mhd, queue), false},
        {"MHD_destroy_response", offsetof(tz_mhd, release), false},
        {"MHD_lookup_connection_value", offsetof(tz_mhd, lookup), false},
        {"MHD_get_connection_values", offsetof(tz_mhd, values), false},
        {"MHD_get_connection_info", offsetof(tz_mhd, info), false},
        {"MHD_get_version", offsetof(tz_mhd, version), false}};
    *mhd = (tz_mhd){.start = NULL};
    const tz_library library =
        tz_library_open(names ? names : known, mhd, symbols, sizeof symbols / sizeof *symbols);
    if (!library.handle)
        return tz_error_set(error, TZ_UNSUPPORTED, "--serve",
                            "the live view needs libmicrohttpd, which is not found: install it "
                            "(Debian, Ubuntu: apt-get install libmicrohttpd12)");
    if (library.missing)
        return tz_error_set(error, TZ_UNSUPPORTED, library.name, "this libmicrohttpd has no %s",
                            library.missing);
    return TZ_OK;
}

bool tz_mhd_describe(char *text, size_t size)
{
    tz_mhd mhd;
    const bool there = tz_mhd_open(&mhd, NULL, NULL) == TZ_OK;
    if (there)
        snprintf(text, size, "live view (trapeze run --serve): by libmicrohttpd %s", mhd.version());
    else
        snprintf(text, size,
                 "live view (trapeze run --serve): libmicrohttpd is missing, optional: apt-get "
                 "install libmicrohttpd12");
    return there;
}
