/* Who may keep a connection. Anybody who reaches the port can open connections and send a byte now and then: those without
 * the token have a total time, and leave room for those with it. */
#include "output/live/server_impl.h"

#include "base/machine.h"
#include <sys/socket.h>

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

void tz__live_connected(void *context, void *connection, void **socket_context, int what)
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

void tz__live_place_known(tz_live *live, void *connection)
{
    tz_live_place *place = find(live, connection);
    if (place)
        place->known = true;
}

void tz__live_place_renew(tz_live *live, void *connection)
{
    tz_live_place *place = find(live, connection);
    if (place)
        place->began_s = tz_machine_clock_s();
}
