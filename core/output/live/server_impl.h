/* The inside of the live view's server, for its files. */
#ifndef TZ_CORE_OUTPUT_LIVE_SERVER_IMPL_H
#define TZ_CORE_OUTPUT_LIVE_SERVER_IMPL_H

#include "output/live/microhttpd.h"
#include "output/live/server.h"
#include <pthread.h>
#include <stdatomic.h>

enum { TZ_LIVE_TOKEN_SIZE = 33, TZ_LIVE_CONNECTIONS = 32 };

/* A connection. The daemon's thread alone touches places. */
typedef struct tz_live_place {
    void *connection; /* NULL: free */
    int socket;
    double began_s; /* its request, on the clock; of one between two requests, the last */
    bool known;     /* a request of it had the token */
} tz_live_place;

struct tz_live {
    tz_mhd mhd;
    void *daemon;
    char *page;
    char address[16], token[TZ_LIVE_TOKEN_SIZE], url[120];
    int port;
    atomic_bool wants;
    tz_live_place places[TZ_LIVE_CONNECTIONS];

    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    double looked_s; /* the last request, on the clock */
    bool asks;
    bool ends, end_seen; /* the last state is there; a page has got it */
    struct json_t *commands[TZ_LIVE_COMMANDS_MAX];
    size_t commands_first, commands_count;
    char *state, *tables;
    int64_t frame_number;
    tz_frame *frame; /* to be drawn; NULL: `png` is the last one */
    char *png;
    size_t png_bytes;
    char picture[80], cells[48], number[24]; /* about `png` */
};

/* ---- places.c ---- */
tz_mhd_connected tz__live_connected;
/* A request of the connection had the token; a request of it has ended. */
void tz__live_place_known(tz_live *live, void *connection);
void tz__live_place_renew(tz_live *live, void *connection);

/* ---- requests.c ---- */
tz_mhd_handler tz__live_answer;
tz_mhd_completed tz__live_completed;
/* A request's Host and Origin (NULL: none) are those of the page. `address` is the server's own. */
bool tz__live_host_is_good(const char *host, const char *address);
bool tz__live_origin_is_good(const char *origin, const char *host);

#endif
