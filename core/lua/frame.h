/* A picture on its way to a file: planes are read at once, drawing and encoding happen in the
 * queue's worker. */
#ifndef TZ_CORE_LUA_FRAME_H
#define TZ_CORE_LUA_FRAME_H

#include "lua/context.h"
#include "lua/output.h"
#include "output/frame/plane.h"

enum { TZ_FRAME_TEXTS_MAX = 12, TZ_FRAME_DEFAULT_SIZE = 1024 };

typedef struct tz_frame {
    char path[PATH_MAX];
    tz_look look; /* map, range and unit are resolved by the maker */
    int planes_count;
    tz_plane **planes;     /* owned */
    int64_t path_count;    /* of a line drawn over the picture; 0: none */
    int64_t *path_columns; /* owned */
    uint8_t path_rgb[3];   /* all 0: white with a dark rim */
    size_t texts_count;
    char keys[TZ_FRAME_TEXTS_MAX][32];
    char values[TZ_FRAME_TEXTS_MAX][320];
} tz_frame;

/* A frame to be filled in; hand it to tz_frame_submit or destroy it. */
tz_status tz_frame_create(tz_frame **out, const tz_look *look, tz_error *error);
void tz_frame_destroy(tz_frame *frame); /* NULL is fine */

void tz_frame_note(tz_frame *frame, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Read the planes of a simulation's field: averaged down to the look's size. `slice` -1: all slices
 * of a 3-D field, as a montage. A 1-D field becomes a strip. Never holds more than a few rows of
 * the field besides the planes. */
tz_status tz_frame_read(tz_frame *frame, const tz_simulation *simulation, int field, int64_t slice,
                        tz_error *error);
/* The same from an array. */
tz_status tz_frame_read_array(tz_frame *frame, const tz_array *array, int64_t slice,
                              tz_error *error);

/* Hand over to the queue (in any case). Reports what an earlier frame met. */
tz_status tz_frame_submit(tz_frame *frame, tz_context *context, tz_error *error);

#endif
