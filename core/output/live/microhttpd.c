/* Opens libmicrohttpd for the live view. */
#include "output/live/microhttpd.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char *const known[] = {"libmicrohttpd.so.12", NULL};

tz_status tz_mhd_open(tz_mhd *mhd, const char *const *names, tz_error *error)
{
    static const struct {
        const char *symbol;
        size_t offset;
    } symbols[] = {{"MHD_start_daemon", offsetof(tz_mhd, start)},
                   {"MHD_stop_daemon", offsetof(tz_mhd, stop)},
                   {"MHD_create_response_from_buffer", offsetof(tz_mhd, response)},
                   {"MHD_add_response_header", offsetof(tz_mhd, add_header)},
                   {"MHD_queue_response", offsetof(tz_mhd, queue)},
                   {"MHD_destroy_response", offsetof(tz_mhd, release)},
                   {"MHD_lookup_connection_value", offsetof(tz_mhd, lookup)},
                   {"MHD_get_connection_values", offsetof(tz_mhd, values)},
                   {"MHD_get_connection_info", offsetof(tz_mhd, info)},
                   {"MHD_get_version", offsetof(tz_mhd, version)}};
    void *library = NULL;
    const char *name = NULL;
    *mhd = (tz_mhd){.start = NULL};
    for (int k = 0; !library && (names ? names : known)[k]; k++) {
        name = (names ? names : known)[k];
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    }
    if (!library)
        return tz_error_set(error, TZ_UNSUPPORTED, "--serve",
                            "the live view needs libmicrohttpd, which is not found: install it "
                            "(Debian, Ubuntu: apt-get install libmicrohttpd12)");
    for (size_t k = 0; k < sizeof symbols / sizeof *symbols; k++) {
        void *function = dlsym(library, symbols[k].symbol);
        if (!function)
            return tz_error_set(error, TZ_UNSUPPORTED, name, "this libmicrohttpd has no %s",
                                symbols[k].symbol);
        memcpy((char *)mhd + symbols[k].offset, &function, sizeof function);
    }
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
