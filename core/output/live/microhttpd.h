/* libmicrohttpd, opened at run time: HTTP for the live view. No header of it is needed to build; a
 * test compares the numbers below with its header where that is installed. */
#ifndef TZ_CORE_OUTPUT_LIVE_MICROHTTPD_H
#define TZ_CORE_OUTPUT_LIVE_MICROHTTPD_H

#include "base/error.h"

/* Numbers of its binary interface: libmicrohttpd.so.12, versions 0.9.71 to 1.0. */
enum {
    TZ_MHD_NO = 0,
    TZ_MHD_YES = 1,
    TZ_MHD_USE_INTERNAL_POLLING_THREAD = 8,
    TZ_MHD_USE_AUTO = 65536,
    TZ_MHD_OPTION_END = 0,
    TZ_MHD_OPTION_CONNECTION_LIMIT = 2,
    TZ_MHD_OPTION_CONNECTION_TIMEOUT = 3,
    TZ_MHD_OPTION_NOTIFY_COMPLETED = 4,
    TZ_MHD_OPTION_LISTEN_SOCKET = 12,
    TZ_MHD_OPTION_NOTIFY_CONNECTION = 27,
    TZ_MHD_CONNECTION_STARTED = 0,
    TZ_MHD_CONNECTION_CLOSED = 1,
    TZ_MHD_INFO_CONNECTION_FD = 6,
    TZ_MHD_HEADER_KIND = 1,
    TZ_MHD_GET_ARGUMENT_KIND = 8,
    TZ_MHD_RESPMEM_PERSISTENT = 0,
    TZ_MHD_RESPMEM_MUST_FREE = 1
};

typedef int tz_mhd_handler(void *context, void *connection, const char *url, const char *method,
                           const char *version, const char *data, size_t *bytes, void **request);
typedef void tz_mhd_completed(void *context, void *connection, void **request, int why);
typedef void tz_mhd_connected(void *context, void *connection, void **socket_context, int what);
typedef int tz_mhd_each(void *context, int kind, const char *key, const char *value);

typedef struct tz_mhd {
    void *(*start)(unsigned flags, unsigned short port, void *accept, void *accept_context,
                   tz_mhd_handler *handler, void *context, ...);
    void (*stop)(void *daemon);
    void *(*response)(size_t bytes, void *buffer, int mode);
    int (*add_header)(void *response, const char *name, const char *value);
    int (*queue)(void *connection, unsigned status, void *response);
    void (*release)(void *response);
    const char *(*lookup)(void *connection, int kind, const char *key);
    int (*values)(void *connection, int kind, tz_mhd_each *each, void *context);
    const void *(*info)(void *connection, int what, ...);
    const char *(*version)(void);
} tz_mhd;

/* `names` of libraries to try, which ends with NULL; NULL: the known ones. TZ_UNSUPPORTED: there is
 * none. */
tz_status tz_mhd_open(tz_mhd *mhd, const char *const *names, tz_error *error);

/* A line for trapeze doctor. Returns whether the library is there. */
bool tz_mhd_describe(char *text, size_t size);

#endif
