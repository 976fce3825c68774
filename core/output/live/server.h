/* The HTTP server of a live view: it gives the page and what the run has published last, and queues
 * what the page asks for. Its thread never touches a simulation.
 *
 * Requests need the token, which is part of the address, and the right Host and Origin, so that no
 * other page of the browser can send them. Nothing is read from files. */
#ifndef TZ_CORE_OUTPUT_LIVE_SERVER_H
#define TZ_CORE_OUTPUT_LIVE_SERVER_H

#include "base/error.h"
#include "output/frame/frame.h"

struct json_t; /* jansson.h */

typedef struct tz_live tz_live;

enum { TZ_LIVE_BODY_MAX = 64 << 10, TZ_LIVE_COMMANDS_MAX = 256 };

/* Is it an IPv4 address, such as "127.0.0.1"? TZ_RANGE. */
tz_status tz_live_check_address(const char *address, tz_error *error);

/* Start. `address` NULL: 127.0.0.1; `port` 0: a free one. TZ_UNSUPPORTED (no libmicrohttpd),
 * TZ_RANGE (the address), TZ_IO (the port is busy, …), TZ_MEMORY. */
tz_status tz_live_open(tz_live **out, const char *address, int port, tz_error *error);
/* "http://127.0.0.1:8017/?token=…" */
const char *tz_live_url(const tz_live *live);
/* The same for pages that may only look: commands of theirs are refused. */
const char *tz_live_look_url(const tz_live *live);
/* Publish the last state (tz_live_put_state), give pages that look a moment to get it, end. NULL is
 * fine. */
void tz_live_close(tz_live *live, char *state);

/* ---- For the thread that computes ------------------------------------------------------------ */

/* Does somebody look, or has asked for something? Costs one load from memory. */
bool tz_live_wants(const tz_live *live);
/* To be called when it does: nobody has looked for a while, so it does not any more. */
void tz_live_rest(tz_live *live);
/* Has a page asked for the state since it was published last? */
bool tz_live_asks(tz_live *live);
/* The next command of a page: a JSON object that the caller releases. NULL: none, also after
 * waiting for `seconds`. */
struct json_t *tz_live_take(tz_live *live, double seconds);
/* Publish texts and a picture; each replaces the last one and is taken. NULL: no memory, nothing
 * happens. */
void tz_live_put_state(tz_live *live, char *json);
void tz_live_put_tables(tz_live *live, char *json);
/* `number` tells frames apart. */
void tz_live_put_frame(tz_live *live, tz_frame *frame, int64_t number);

/* ---- For tests ------------------------------------------------------------------------------- */

/* A request's Host and Origin (NULL: none) are those of the page. `address` is the server's own. */
bool tz__live_host_is_good(const char *host, const char *address);
bool tz__live_origin_is_good(const char *origin, const char *host);

/* ---- libmicrohttpd --------------------------------------------------------------------------- */

/* libmicrohttpd, opened at run time: HTTP for the live view. No header of it is needed to build. */

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
