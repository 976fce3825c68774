#include "output/live/server.h"

#include "base/machine.h"
#include "output/live/server_impl.h"
#include "output/page/parts.h"
#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* page.html, found by the assembler through the build's -Wa,-I. */
__asm__(".pushsection .rodata\ntz_live_page:\n.incbin \"output/live/page.html\"\n"
        ".byte 0\n.popsection\n");
extern const char tz_live_page[] __attribute__((visibility("hidden")));

enum { TIMEOUT_S = 15 };

/* Seconds after its last request for which a page counts as looking. */
static const double look_s = 3;
/* At the end: the longest time for pages to get the last state, and how long they must be silent. */
static const double end_s = 0.6, silence_s = 0.25;

static void lock(tz_live *live)
{
    pthread_mutex_lock(&live->lock);
}

static void unlock(tz_live *live)
{
    pthread_mutex_unlock(&live->lock);
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

static tz_status make_token(tz_live *live, tz_error *error)
{
    unsigned char bytes[(TZ_LIVE_TOKEN_SIZE - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return tz_error_set(error, TZ_IO, "--serve", "the system has no random numbers: %s",
                            strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(live->token + 2 * i, 3, "%02x", bytes[i]);
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
        TZ_MHD_USE_INTERNAL_POLLING_THREAD | TZ_MHD_USE_AUTO, 0, NULL, NULL, tz__live_answer, live,
        TZ_MHD_OPTION_LISTEN_SOCKET, socket_fd, TZ_MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)TZ_LIVE_CONNECTIONS, TZ_MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
        TZ_MHD_OPTION_NOTIFY_COMPLETED, tz__live_completed, live, TZ_MHD_OPTION_NOTIFY_CONNECTION,
        tz__live_connected, live, TZ_MHD_OPTION_END);
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
        status = make_token(live, error);
    if (status == TZ_OK)
        status = listen_at(live, port, &socket_fd, error);
    if (status == TZ_OK)
        status = start(live, socket_fd, error);
    if (status != TZ_OK) {
        destroy(live);
        return status;
    }
    snprintf(live->url, sizeof live->url, "http://%s:%d/?token=%s", live->address, live->port,
             live->token);
    *out = live;
    return TZ_OK;
}

const char *tz_live_url(const tz_live *live)
{
    return live->url;
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
    lock(live);
    live->ends = true;
    const double begin = tz_machine_clock_s();
    for (double now = begin; live->looked_s > begin - look_s && now < begin + end_s &&
                             (!live->end_seen || now < live->looked_s + silence_s);
         now = tz_machine_clock_s()) {
        const struct timespec soon = in_seconds(0.05);
        wait_until(live, &soon);
    }
    unlock(live);
    live->mhd.stop(live->daemon);
    destroy(live);
}

/* ---- The thread that computes ----------------------------------------------------------------- */

bool tz_live_wants(const tz_live *live)
{
    return atomic_load_explicit(&live->wants, memory_order_relaxed);
}

void tz_live_rest(tz_live *live)
{
    lock(live);
    if (live->commands_count == 0 && tz_machine_clock_s() > live->looked_s + look_s)
        atomic_store_explicit(&live->wants, false, memory_order_relaxed);
    unlock(live);
}

bool tz_live_asks(tz_live *live)
{
    lock(live);
    const bool asks = live->asks;
    live->asks = false;
    unlock(live);
    return asks;
}

json_t *tz_live_take(tz_live *live, double seconds)
{
    json_t *command = NULL;
    const struct timespec end = in_seconds(seconds);
    lock(live);
    while (live->commands_count == 0 && !live->asks && seconds > 0 && wait_until(live, &end))
        ;
    if (live->commands_count > 0) {
        command = live->commands[live->commands_first];
        live->commands_first = (live->commands_first + 1) % TZ_LIVE_COMMANDS_MAX;
        live->commands_count--;
    }
    unlock(live);
    return command;
}

static void put(tz_live *live, char **place, char *text)
{
    if (!text)
        return;
    lock(live);
    free(*place);
    *place = text;
    unlock(live);
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
    lock(live);
    tz_frame_destroy(live->frame);
    live->frame = frame;
    live->frame_number = number;
    unlock(live);
}
