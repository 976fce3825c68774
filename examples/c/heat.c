/* The heat equation by libtrapeze: a hot square in a cold plate spreads. */
#include <stdio.h>
#include <trapeze/trapeze.h>

enum { N = 256 };

int main(void)
{
    static float cells[N][N];
    tz_memory memory = {
        .data = cells, .dtype = "f4", .dims = 2, .device = TZ_HOST, .shape = {N, N}};
    tz_session *session = NULL;
    tz_sim *sim;
    tz_error error;
    const char *heat =
        "{\"name\": \"heat\", \"dims\": 2, \"fields\": [\"t\"], \"params\": {\"rate\": 0.2},"
        " \"update\": {\"t\": \"t + rate*lap(t)\"}}";

    for (int i = 0; i < 64 * 64; i++)
        cells[96 + i / 64][96 + i % 64] = 100;
    tz_status status = tz_session_create(&session, NULL, &error);
    status = status ? status : tz_session_define(session, heat, NULL, &error);
    status = status ? status
                    : tz_sim_create(&sim, session, "{\"plugin\": \"heat\", \"grid\": [256, 256]}",
                                    &error);
    status = status ? status : tz_sim_set(sim, "t", NULL, &memory, &error);
    status = status ? status : tz_sim_advance(sim, 1000, &error);
    status = status ? status : tz_sim_get(sim, "t", NULL, &memory, &error);
    if (status)
        fprintf(stderr, "%s %s\n", error.place, error.message);
    for (int x = 0; x < N && !status; x += 32)
        printf("%8.4f%s", cells[N / 2][x], x + 32 < N ? "" : "\n");
    tz_session_destroy(session);
    return status != TZ_OK;
}
