/* A movie of one output: a thread of its own draws the frames and writes them, in order, while
 * the run goes on. */
#ifndef TZ_CORE_OUTPUT_MOVIE_H
#define TZ_CORE_OUTPUT_MOVIE_H

#include "output/format/format.h"
#include "output/frame/frame.h"

typedef struct tz_movie tz_movie;

/* A movie at `path`, where no file may be; the file appears with the first frame. `fps`: frames per
 * second. TZ_MEMORY, TZ_IO. End with tz_movie_close. */
tz_status tz_movie_create(tz_movie **out, const char *path, const tz_format *format, double fps,
                          tz_error *error);
/* Go on with a movie that had so many bytes and frames; its format has film_go_on. */
tz_status tz_movie_open(tz_movie **out, const char *path, const tz_format *format, double fps,
                        int64_t bytes, int64_t count, tz_error *error);

/* Let the thread add a frame. Takes the frame in any case. The error may be that of an earlier
 * frame. All frames have the same look but for the caption. */
tz_status tz_movie_add(tz_movie *movie, tz_frame *frame, tz_error *error);

/* Wait for the frames so far, and have them written to the disk. *bytes becomes its size; -1: a
 * movie of this format cannot go on, or there is no frame yet. Errors: those of frames, TZ_IO. */
tz_status tz_movie_sync(tz_movie *movie, int64_t *bytes, tz_error *error);

/* What its values were, where its look's range is not TZ_RANGE_FIXED. */
typedef struct tz_movie_range {
    bool seen;    /* there is a finite value */
    bool uniform; /* the first frame has one value, or none */
    int64_t frames;
    bool drawn_again; /* closing the movie draws all frames with the range of all */
    double low, high; /* of all frames; of a logarithmic scale, logarithms */
    int64_t strayed;  /* the first frame, from 1, outside the first one's range; 0: none */
} tz_movie_range;

/* Wait for the frames so far, and tell their range. */
tz_movie_range tz_movie_range_of(tz_movie *movie);

/* Let a look, which has the range of the first frame, have that of all frames. */
void tz_movie_take_range(const tz_movie_range *range, tz_look *look);

/* Wait for the frames, draw them again if their values left the range of the first one, and close.
 * Frees the movie in any case. NULL is fine. Errors: those of frames, TZ_IO. */
tz_status tz_movie_close(tz_movie *movie, tz_error *error);

#endif
