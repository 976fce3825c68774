/* The inside of a live view, for the files live*.c. */
#ifndef TZ_CORE_LUA_LIVE_IMPL_H
#define TZ_CORE_LUA_LIVE_IMPL_H

#include "lua/live.h"
#include "output/live/server.h"
#include <jansson.h>

typedef struct tz_live_view {
    tz_live *server;
    bool paused;
    bool asks;        /* a page waits for a new state */
    int64_t step_to;  /* while paused: run up to this step */
    size_t picture;   /* the chosen one of the pictures of a simulation */
    json_t *messages; /* the last ones: {"number", "text", "bad"}; owned */
    int64_t messages_count, frames_count, notes_count;
    double next_frame_s, next_tables_s; /* on the clock */
    int64_t frame_step;                 /* of the last frame; -1: it shows other cells by now */
    double low, high;                   /* its range */
    double run_s;                       /* of the present run, without pauses */
    double begun_s;                     /* on the clock, when it began or went on */
    int64_t run_from;                   /* the step at which that time began */
    bool is_kept;                       /* while paused: a checkpoint has what there is */
    int64_t kept_step;
    double changed_s; /* on the clock: the last command */
} tz_live_view;

/* ---- live_publish.c ---- */
/* A message to the pages. */
void tz__view_say(tz_live_view *view, bool bad, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* State, frame and tables as they are. `status`: "running", "paused". An error is said to the pages. */
void tz__view_publish(tz_live_view *view, tz_simulation_handle *handle, const char *status);
/* The state at the end. */
char *tz__view_last_state(tz_live_view *view, tz_context *context, const char *status,
                          const char *failure);
/* A picture or movie that the simulation writes, or, if it writes none, its stencil's own: a
 * description, which the caller frees, and the field. `of` becomes its writer; NULL: it has none. */
tz_output *tz__view_picture(const tz_simulation_handle *handle, size_t index, int *field,
                            const tz_writer **of);
size_t tz__view_pictures(const tz_simulation_handle *handle);
/* Can cells be painted in it? */
bool tz__view_can_paint(const tz_simulation_handle *handle, const tz_output *output, int field);

/* ---- live_commands.c ---- */
/* Do what a page wants. */
void tz__view_do(tz_live_view *view, tz_simulation_handle *handle, const json_t *command);

#endif
