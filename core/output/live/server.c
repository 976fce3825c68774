/* The HTTP server of a live view, by libmicrohttpd: core/lua publishes what it shows. */
#include "output/live/server.h"

#include "base/embed.h"
#include "base/json.h"
#include "base/library.h"
#include "base/machine.h"
#include "output/format/png.h"
#include "output/page/page.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <ifaddrs.h>
#include <jansson.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

TZ_EMBED(tz_live_page, "output/live/page.html");

enum { TIMEOUT_S = 15 };

/* Seconds after its last request for which a page counts as looking. */
static const double look_s = 3;
/* At the end: the longest time for pages to get the last state, and how long they are silent. */
static const double end_s = 0.6, silence_s = 0.25;

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
    char look_token[TZ_LIVE_TOKEN_SIZE], look_url[128]; /* of pages that may only look */
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

/* ---- Places ---------------------------------------------------------------------------------- */

/* With fewer free places than this, the oldest connection without the token ends. */
enum { ROOM = 8 };
/* The total time of a request, in seconds. */
static const double unknown_s = 10, known_s = 60;

static tz_live_place *find(tz_live *live, const void *connection)
{
    for (int i = 0; i < TZ_LIVE_CONNECTIONS; i++)
        if (live->places[i].connection == connection)
            return &live->places[i];
    return NULL;
}

/* Its place becomes free when the daemon sees the end. */
static void end(tz_live_place *place)
{
    shutdown(place->socket, SHUT_RDWR);
}

static void make_room(tz_live *live, const tz_live_place *newest)
{
    const double now = tz_machine_clock_s();
    tz_live_place *oldest = NULL;
    int count = 0;
    for (int i = 0; i < TZ_LIVE_CONNECTIONS; i++) {
        tz_live_place *place = &live->places[i];
        count += place->connection != NULL;
        if (!place->connection || place == newest)
            continue;
        if (now > place->began_s + (place->known ? known_s : unknown_s))
            end(place);
        else if (!place->known && (!oldest || place->began_s < oldest->began_s))
            oldest = place;
    }
    if (oldest && count > TZ_LIVE_CONNECTIONS - ROOM)
        end(oldest);
}

static void live_connected(void *context, void *connection, void **socket_context, int what)
{
    tz_live *live = context;
    const bool starts = what == TZ_MHD_CONNECTION_STARTED;
    tz_live_place *place = find(live, starts ? NULL : connection);
    (void)socket_context;
    if (!place)
        return;
    *place = (tz_live_place){.connection = NULL};
    if (!starts)
        return;
    const int *socket = live->mhd.info(connection, TZ_MHD_INFO_CONNECTION_FD);
    if (socket)
        *place = (tz_live_place){connection, *socket, tz_machine_clock_s(), false};
    make_room(live, place);
}

/* ---- Requests -------------------------------------------------------------------------------- */

enum {
    OK = 200,
    ACCEPTED = 202,
    BAD = 400,
    FORBIDDEN = 403,
    NOT_FOUND = 404,
    METHOD = 405,
    GONE = 410,
    LARGE = 413,
    TYPE = 415,
    FULL = 503
};

static const char policy[] =
    "default-src 'none'; img-src blob:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/* The body of a POST as it comes. */
typedef struct request {
    char *body;
    size_t bytes;
    bool too_large;
} request;

/* ---- Answers --------------------------------------------------------------------------------- */

/* Takes `text`, from malloc, if `owned`. */
static void *make(tz_live *live, const char *type, char *text, size_t bytes, bool owned)
{
    const tz_mhd *mhd = &live->mhd;
    void *response =
        mhd->response(bytes, text, owned ? TZ_MHD_RESPMEM_MUST_FREE : TZ_MHD_RESPMEM_PERSISTENT);
    if (!response) {
        if (owned)
            free(text);
        return NULL;
    }
    mhd->add_header(response, "Content-Type", type);
    mhd->add_header(response, "Cache-Control", "no-store");
    mhd->add_header(response, "Content-Security-Policy", policy);
    mhd->add_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    mhd->add_header(response, "Referrer-Policy", "no-referrer");
    mhd->add_header(response, "X-Content-Type-Options", "nosniff");
    mhd->add_header(response, "X-Frame-Options", "DENY");
    return response;
}

static int answer(tz_live *live, void *connection, unsigned status, void *response)
{
    if (!response)
        return TZ_MHD_NO;
    const int queued = live->mhd.queue(connection, status, response);
    live->mhd.release(response);
    return queued;
}

/* `text` is constant. */
static int say(tz_live *live, void *connection, unsigned status, const char *text)
{
    return answer(live, connection, status,
                  make(live, "text/plain; charset=utf-8", (char *)text, strlen(text), false));
}

/* A copy of a text that the computing thread may replace. */
static int send_json(tz_live *live, void *connection, char *const *place)
{
    pthread_mutex_lock(&live->lock);
    char *copy = strdup(*place);
    pthread_mutex_unlock(&live->lock);
    return copy ? answer(live, connection, OK,
                         make(live, "application/json", copy, strlen(copy), true))
                : TZ_MHD_NO;
}

/* ---- Who asks -------------------------------------------------------------------------------- */

/* A Host is "NAME" or "NAME:PORT". The name must be "localhost" or an address of the server: a
 * page that has brought a name of its own to this address is refused (DNS rebinding). At 0.0.0.0
 * every address in digits is one. Where others can connect, the name of this machine is one, too,
 * alone or as "NAME.local". */
bool tz__live_host_is_good(const char *host, const char *address)
{
    char name[96], own[64] = "";
    struct in_addr ignored;
    if (!host)
        return false;
    const size_t length = strcspn(host, ":");
    if (length >= sizeof name)
        return false;
    memcpy(name, host, length);
    name[length] = '\0';
    if (host[length] == ':' && (host[length + 1] == '\0' ||
                                host[length + 1 + strspn(host + length + 1, "0123456789")] != '\0'))
        return false;
    if (strcmp(name, "localhost") == 0 || strcmp(name, "127.0.0.1") == 0 ||
        strcmp(name, address) == 0)
        return true;
    if (strcmp(address, "127.0.0.1") != 0 && gethostname(own, sizeof own - 1) == 0 && own[0]) {
        const size_t part = strlen(own);
        if (strncasecmp(name, own, part) == 0 &&
            (name[part] == '\0' || strcasecmp(name + part, ".local") == 0))
            return true;
    }
    return strcmp(address, "0.0.0.0") == 0 && inet_pton(AF_INET, name, &ignored) == 1;
}

bool tz__live_origin_is_good(const char *origin, const char *host)
{
    return !origin || (strncmp(origin, "http://", 7) == 0 && strcmp(origin + 7, host) == 0);
}

/* The time of the comparison does not depend on where texts differ. */
static bool is_token(const char *token, const char *text)
{
    if (!text || strlen(text) != TZ_LIVE_TOKEN_SIZE - 1)
        return false;
    unsigned char differs = 0;
    for (size_t i = 0; i < TZ_LIVE_TOKEN_SIZE - 1; i++)
        differs |= (unsigned char)(text[i] ^ token[i]);
    return differs == 0;
}

/* Headers that mean something here: of two, others may read the other one. */
static int count_twice(void *context, int kind, const char *key, const char *value)
{
    static const char *const names[] = {"Host", "Origin", "X-Trapeze-Token", "Content-Type",
                                        "Content-Length"};
    unsigned *seen = context;
    (void)kind, (void)value;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(key, names[i]) == 0)
            *seen |= *seen & 1u << i ? 1u << 31 : 1u << i;
    return TZ_MHD_YES;
}

/* 0: the request is good. */
static unsigned check(tz_live *live, void *connection, const char *url, const char *method,
                      const char **why)
{
    const tz_mhd *mhd = &live->mhd;
    const char *host = mhd->lookup(connection, TZ_MHD_HEADER_KIND, "Host");
    const bool post = strcmp(method, "POST") == 0, is_page = strcmp(url, "/") == 0;
    unsigned seen = 0;
    *why = "400: a header is there twice\n";
    mhd->values(connection, TZ_MHD_HEADER_KIND, count_twice, &seen);
    if (seen >> 31)
        return BAD;
    *why = "403: wrong Host\n";
    if (!tz__live_host_is_good(host, live->address))
        return FORBIDDEN;
    *why = "403: wrong Origin\n";
    if (!tz__live_origin_is_good(mhd->lookup(connection, TZ_MHD_HEADER_KIND, "Origin"), host))
        return FORBIDDEN;
    *why = "403: the token is missing or wrong: use the address that trapeze run has printed\n";
    const char *token = is_page ? mhd->lookup(connection, TZ_MHD_GET_ARGUMENT_KIND, "token")
                                : mhd->lookup(connection, TZ_MHD_HEADER_KIND, "X-Trapeze-Token");
    const bool looks = is_token(live->look_token, token);
    if (!is_token(live->token, token) && !looks)
        return FORBIDDEN;
    tz_live_place *place = find(live, connection);
    if (place)
        place->known = true;
    *why = "404: there is no such page\n";
    const bool is_do = strcmp(url, "/do") == 0;
    if (!is_page && !is_do && strcmp(url, "/state") != 0 && strcmp(url, "/frame") != 0 &&
        strcmp(url, "/tables") != 0)
        return NOT_FOUND;
    *why = "403: this address is for looking only\n";
    if (is_do && looks)
        return FORBIDDEN;
    *why = "405: /do takes POST, all others take GET\n";
    if (is_do ? !post : strcmp(method, "GET") != 0)
        return METHOD;
    const char *type = mhd->lookup(connection, TZ_MHD_HEADER_KIND, "Content-Type");
    *why = "415: a command is application/json\n";
    if (is_do && (!type || strncmp(type, "application/json", 16) != 0))
        return TYPE;
    const char *length = mhd->lookup(connection, TZ_MHD_HEADER_KIND, "Content-Length");
    *why = "413: a command is too large\n";
    if (length && strtoull(length, NULL, 10) > TZ_LIVE_BODY_MAX)
        return LARGE;
    return 0;
}

/* ---- Pages ----------------------------------------------------------------------------------- */

static void look(tz_live *live, bool asks)
{
    pthread_mutex_lock(&live->lock);
    live->looked_s = tz_machine_clock_s();
    live->asks |= asks;
    live->end_seen |= asks && live->ends;
    atomic_store_explicit(&live->wants, true, memory_order_relaxed);
    pthread_cond_broadcast(&live->changed);
    pthread_mutex_unlock(&live->lock);
}

/* Draw a new frame. A picture that cannot be drawn leaves the last one. */
static void draw(tz_live *live)
{
    pthread_mutex_lock(&live->lock);
    tz_frame *frame = live->frame;
    live->frame = NULL;
    const int64_t number = live->frame_number;
    pthread_mutex_unlock(&live->lock);
    tz_image *image = NULL;
    tz_image_note texts[TZ_FRAME_TEXTS_MAX];
    char *png = NULL;
    size_t bytes = 0;
    if (!frame || tz_frame_image(frame, &image, NULL) != TZ_OK) {
        tz_frame_destroy(frame);
        return;
    }
    const size_t count = tz_frame_notes(frame, texts);
    if (tz_png_encode(NULL, image, texts, count, &png, &bytes, NULL) == TZ_OK) {
        free(live->png);
        live->png = png;
        live->png_bytes = bytes;
        snprintf(live->picture, sizeof live->picture, "%d %d %d %d", image->picture_x,
                 image->picture_y, image->picture_width, image->picture_height);
        snprintf(live->cells, sizeof live->cells, "%lld %lld",
                 (long long)frame->planes[0]->field_nx, (long long)frame->planes[0]->field_ny);
        snprintf(live->number, sizeof live->number, "%lld", (long long)number);
    }
    tz_image_destroy(image);
    tz_frame_destroy(frame);
}

static int send_frame(tz_live *live, void *connection)
{
    draw(live);
    char *copy = live->png ? malloc(live->png_bytes) : NULL;
    if (!copy)
        return say(live, connection, NOT_FOUND, "404: there is no frame yet\n");
    memcpy(copy, live->png, live->png_bytes);
    void *response = make(live, "image/png", copy, live->png_bytes, true);
    if (response) {
        live->mhd.add_header(response, "X-Picture", live->picture);
        live->mhd.add_header(response, "X-Cells", live->cells);
        live->mhd.add_header(response, "X-Frame", live->number);
    }
    return answer(live, connection, OK, response);
}

static int take_command(tz_live *live, void *connection, const request *r)
{
    if (r->too_large)
        return say(live, connection, LARGE, "413: a command is too large\n");
    json_t *command = NULL;
    tz_json_read("command", r->body ? r->body : "", r->bytes, &command, NULL);
    if (!json_is_object(command)) {
        json_decref(command);
        return say(live, connection, BAD, "400: a command is a JSON object\n");
    }
    pthread_mutex_lock(&live->lock);
    const bool ends = live->ends, full = live->commands_count == TZ_LIVE_COMMANDS_MAX;
    if (!ends && !full)
        live->commands[(live->commands_first + live->commands_count++) % TZ_LIVE_COMMANDS_MAX] =
            command;
    pthread_mutex_unlock(&live->lock);
    if (ends || full)
        json_decref(command);
    look(live, true);
    return ends   ? say(live, connection, GONE, "410: the run has ended\n")
           : full ? say(live, connection, FULL, "503: too many commands wait\n")
                  : say(live, connection, ACCEPTED, "");
}

static int live_answer(void *context, void *connection, const char *url, const char *method,
                       const char *version, const char *data, size_t *bytes, void **state)
{
    tz_live *live = context;
    request *r = *state;
    (void)version;
    if (!r) {
        const char *why;
        const unsigned refused = check(live, connection, url, method, &why);
        if (refused)
            return say(live, connection, refused, why);
        *state = calloc(1, sizeof *r);
        return *state ? TZ_MHD_YES : TZ_MHD_NO;
    }
    if (*bytes > 0) {
        const size_t length = r->bytes + *bytes;
        char *longer = length <= TZ_LIVE_BODY_MAX ? realloc(r->body, length) : NULL;
        r->too_large |= !longer;
        if (longer) {
            memcpy(longer + r->bytes, data, *bytes);
            r->body = longer;
            r->bytes = length;
        }
        *bytes = 0;
        return TZ_MHD_YES;
    }
    if (strcmp(url, "/do") == 0)
        return take_command(live, connection, r);
    look(live, strcmp(url, "/state") == 0);
    if (strcmp(url, "/state") == 0)
        return send_json(live, connection, &live->state);
    if (strcmp(url, "/tables") == 0)
        return send_json(live, connection, &live->tables);
    if (strcmp(url, "/frame") == 0)
        return send_frame(live, connection);
    return answer(live, connection, OK,
                  make(live, "text/html; charset=utf-8", live->page, strlen(live->page), false));
}

static void live_completed(void *context, void *connection, void **state, int why)
{
    request *r = *state;
    tz_live_place *place = find(context, connection);
    (void)why;
    if (place)
        place->began_s = tz_machine_clock_s();
    if (r)
        free(r->body);
    free(r);
    *state = NULL;
}

/* ---- Starting -------------------------------------------------------------------------------- */

tz_status tz_live_check_address(const char *address, tz_error *error)
{
    struct in_addr ignored;
    return inet_pton(AF_INET, address, &ignored) == 1
               ? TZ_OK
               : tz_error_set(error, TZ_RANGE, "--serve-address",
                              "needs an IPv4 address of this machine, such as 127.0.0.1, not "
                              "'%.60s'",
                              address);
}

/* An address at which others reach a server that listens at all: the first of this machine that is
 * not its own loop. */
static void find_reachable(char text[16])
{
    struct ifaddrs *all = NULL;
    snprintf(text, 16, "127.0.0.1");
    if (getifaddrs(&all) != 0)
        return;
    for (const struct ifaddrs *one = all; one; one = one->ifa_next) {
        if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET || !(one->ifa_flags & IFF_UP) ||
            (one->ifa_flags & IFF_LOOPBACK))
            continue;
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)one->ifa_addr)->sin_addr,
                  text, 16);
        break;
    }
    freeifaddrs(all);
}

static tz_status make_token(char token[TZ_LIVE_TOKEN_SIZE], tz_error *error)
{
    unsigned char bytes[(TZ_LIVE_TOKEN_SIZE - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return tz_error_set(error, TZ_IO, "--serve", "the system has no random numbers: %s",
                            strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return TZ_OK;
}

/* A socket that listens, and the port that it has got. */
static tz_status listen_at(tz_live *live, int port, int *out, tz_error *error)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t size = sizeof at;
    const int yes = 1, socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    inet_pton(AF_INET, live->address, &at.sin_addr);
    if (socket_fd < 0 || setsockopt(socket_fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(socket_fd, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(socket_fd, TZ_LIVE_CONNECTIONS) != 0 ||
        getsockname(socket_fd, (struct sockaddr *)&at, &size) != 0) {
        const int why = errno;
        if (socket_fd >= 0)
            close(socket_fd);
        return tz_error_set(error, TZ_IO, "--serve", "cannot listen at %s:%d: %s%s", live->address,
                            port, strerror(why),
                            why == EADDRINUSE ? "; give another port, or none for a free one" : "");
    }
    live->port = ntohs(at.sin_port);
    *out = socket_fd;
    return TZ_OK;
}

/* The daemon's thread receives no signals. It owns the socket. */
static tz_status start(tz_live *live, int socket_fd, tz_error *error)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    live->daemon = live->mhd.start(
        TZ_MHD_USE_INTERNAL_POLLING_THREAD | TZ_MHD_USE_AUTO, 0, NULL, NULL, live_answer, live,
        TZ_MHD_OPTION_LISTEN_SOCKET, socket_fd, TZ_MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)TZ_LIVE_CONNECTIONS, TZ_MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
        TZ_MHD_OPTION_NOTIFY_COMPLETED, live_completed, live, TZ_MHD_OPTION_NOTIFY_CONNECTION,
        live_connected, live, TZ_MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (live->daemon)
        return TZ_OK;
    close(socket_fd);
    return tz_error_set(error, TZ_IO, "--serve", "libmicrohttpd %s does not start at %s:%d",
                        live->mhd.version(), live->address, live->port);
}

static void destroy(tz_live *live)
{
    for (; live->commands_count > 0; live->commands_count--)
        json_decref(live->commands[live->commands_first++ % TZ_LIVE_COMMANDS_MAX]);
    tz_frame_destroy(live->frame);
    free(live->png);
    free(live->state);
    free(live->tables);
    free(live->page);
    pthread_cond_destroy(&live->changed);
    pthread_mutex_destroy(&live->lock);
    free(live);
}

tz_status tz_live_open(tz_live **out, const char *address, int port, tz_error *error)
{
    int socket_fd = -1;
    *out = NULL;
    address = address ? address : "127.0.0.1";
    tz_status status = tz_live_check_address(address, error);
    if (status != TZ_OK)
        return status;
    tz_live *live = calloc(1, sizeof *live);
    if (!live)
        return tz_error_set(error, TZ_MEMORY, "--serve", "not enough memory for the live view");
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&live->lock, NULL);
    pthread_cond_init(&live->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    live->looked_s = -look_s;
    snprintf(live->address, sizeof live->address, "%s", address);
    live->page = tz_page_assemble(tz_live_page);
    live->state = strdup("{\"status\":\"starting\"}");
    live->tables = strdup("[]");
    if (!live->page || !live->state || !live->tables)
        status = tz_error_set(error, TZ_MEMORY, "--serve", "not enough memory for the live view");
    if (status == TZ_OK)
        status = tz_mhd_open(&live->mhd, NULL, error);
    if (status == TZ_OK)
        status = make_token(live->token, error);
    if (status == TZ_OK)
        status = make_token(live->look_token, error);
    if (status == TZ_OK)
        status = listen_at(live, port, &socket_fd, error);
    if (status == TZ_OK)
        status = start(live, socket_fd, error);
    if (status != TZ_OK) {
        destroy(live);
        return status;
    }
    char reachable[16];
    snprintf(reachable, sizeof reachable, "%s", live->address);
    if (strcmp(live->address, "0.0.0.0") == 0)
        find_reachable(reachable);
    snprintf(live->url, sizeof live->url, "http://%s:%d/?token=%s", reachable, live->port,
             live->token);
    snprintf(live->look_url, sizeof live->look_url, "http://%s:%d/?token=%s&looks", reachable,
             live->port, live->look_token);
    *out = live;
    return TZ_OK;
}

const char *tz_live_url(const tz_live *live)
{
    return live->url;
}

const char *tz_live_look_url(const tz_live *live)
{
    return live->look_url;
}

/* ---- Ending ---------------------------------------------------------------------------------- */

/* False: nothing has changed until `end`, on the monotonic clock. */
static bool wait_until(tz_live *live, const struct timespec *end)
{
    return pthread_cond_timedwait(&live->changed, &live->lock, end) == 0;
}

static struct timespec in_seconds(double seconds)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    const int64_t ns = at.tv_nsec + (int64_t)(1e9 * seconds);
    at.tv_sec += (time_t)(ns / 1000000000);
    at.tv_nsec = (long)(ns % 1000000000);
    return at;
}

void tz_live_close(tz_live *live, char *state)
{
    if (!live) {
        free(state);
        return;
    }
    tz_live_put_state(live, state);
    pthread_mutex_lock(&live->lock);
    live->ends = true;
    const double begin = tz_machine_clock_s();
    for (double now = begin; live->looked_s > begin - look_s && now < begin + end_s &&
                             (!live->end_seen || now < live->looked_s + silence_s);
         now = tz_machine_clock_s()) {
        const struct timespec soon = in_seconds(0.05);
        wait_until(live, &soon);
    }
    pthread_mutex_unlock(&live->lock);
    live->mhd.stop(live->daemon);
    destroy(live);
}

/* ---- The thread that computes ---------------------------------------------------------------- */

bool tz_live_wants(const tz_live *live)
{
    return atomic_load_explicit(&live->wants, memory_order_relaxed);
}

void tz_live_rest(tz_live *live)
{
    pthread_mutex_lock(&live->lock);
    if (live->commands_count == 0 && tz_machine_clock_s() > live->looked_s + look_s)
        atomic_store_explicit(&live->wants, false, memory_order_relaxed);
    pthread_mutex_unlock(&live->lock);
}

bool tz_live_asks(tz_live *live)
{
    pthread_mutex_lock(&live->lock);
    const bool asks = live->asks;
    live->asks = false;
    pthread_mutex_unlock(&live->lock);
    return asks;
}

json_t *tz_live_take(tz_live *live, double seconds)
{
    json_t *command = NULL;
    const struct timespec end = in_seconds(seconds);
    pthread_mutex_lock(&live->lock);
    while (live->commands_count == 0 && !live->asks && seconds > 0 && wait_until(live, &end))
        ;
    if (live->commands_count > 0) {
        command = live->commands[live->commands_first];
        live->commands_first = (live->commands_first + 1) % TZ_LIVE_COMMANDS_MAX;
        live->commands_count--;
    }
    pthread_mutex_unlock(&live->lock);
    return command;
}

static void put(tz_live *live, char **place, char *text)
{
    if (!text)
        return;
    pthread_mutex_lock(&live->lock);
    free(*place);
    *place = text;
    pthread_mutex_unlock(&live->lock);
}

void tz_live_put_state(tz_live *live, char *json)
{
    put(live, &live->state, json);
}

void tz_live_put_tables(tz_live *live, char *json)
{
    put(live, &live->tables, json);
}

void tz_live_put_frame(tz_live *live, tz_frame *frame, int64_t number)
{
    if (!frame)
        return;
    pthread_mutex_lock(&live->lock);
    tz_frame_destroy(live->frame);
    live->frame = frame;
    live->frame_number = number;
    pthread_mutex_unlock(&live->lock);
}

/* ---- libmicrohttpd --------------------------------------------------------------------------- */

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
