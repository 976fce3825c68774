/* What the live view's server answers. All of this runs in the one thread of its daemon. */
#include "base/json.h"
#include "base/machine.h"
#include "output/format/png.h"
#include "output/live/server_impl.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* A Host is "NAME" or "NAME:PORT". The name must be "localhost" or an address of the server: a page that
 * has brought a name of its own to this address is refused (DNS rebinding). At 0.0.0.0 every
 * address in digits is one. */
bool tz__live_host_is_good(const char *host, const char *address)
{
    char name[32];
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
    return strcmp(address, "0.0.0.0") == 0 && inet_pton(AF_INET, name, &ignored) == 1;
}

bool tz__live_origin_is_good(const char *origin, const char *host)
{
    return !origin || (strncmp(origin, "http://", 7) == 0 && strcmp(origin + 7, host) == 0);
}

/* The time of the comparison does not depend on where texts differ. */
static bool is_token(const tz_live *live, const char *text)
{
    if (!text || strlen(text) != TZ_LIVE_TOKEN_SIZE - 1)
        return false;
    unsigned char differs = 0;
    for (size_t i = 0; i < TZ_LIVE_TOKEN_SIZE - 1; i++)
        differs |= (unsigned char)(text[i] ^ live->token[i]);
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
    if (!is_token(live, is_page ? mhd->lookup(connection, TZ_MHD_GET_ARGUMENT_KIND, "token")
                                : mhd->lookup(connection, TZ_MHD_HEADER_KIND, "X-Trapeze-Token")))
        return FORBIDDEN;
    tz__live_place_known(live, connection);
    *why = "404: there is no such page\n";
    const bool is_do = strcmp(url, "/do") == 0;
    if (!is_page && !is_do && strcmp(url, "/state") != 0 && strcmp(url, "/frame") != 0 &&
        strcmp(url, "/tables") != 0)
        return NOT_FOUND;
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
    if (tz_png_encode(image, texts, count, &png, &bytes, NULL) == TZ_OK) {
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

int tz__live_answer(void *context, void *connection, const char *url, const char *method,
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

void tz__live_completed(void *context, void *connection, void **state, int why)
{
    request *r = *state;
    (void)why;
    tz__live_place_renew(context, connection);
    if (r)
        free(r->body);
    free(r);
    *state = NULL;
}
