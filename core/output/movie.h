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
/* Go on with a movie that had that many bytes; its format has film_go_on. */
tz_status tz_movie_open(tz_movie **out, const char *path, const tz_format *format, double fps,
                        int64_t bytes, tz_error *error);

/* Let the thread add a frame. Takes the frame in any case. The error may be that of an earlier
 * frame. All frames have the same look but for the caption. */
tz_status tz_movie_add(tz_movie *movie, tz_frame *frame, tz_error *error);

/* Wait for the frames so far, and have them written to the disk. *bytes becomes its size; -1: a
 * movie of this format cannot go on, or there is no frame yet. Errors: those of frames, TZ_IO. */
tz_status tz_movie_sync(tz_movie *movie, int64_t *bytes, tz_error *error);

/* Wait for the frames so far. Returns the number of the first one, from 1, with values outside its
 * look's range, unless that is TZ_RANGE_FIXED; 0: none. */
int64_t tz_movie_strayed(tz_movie *movie);

/* Wait for the frames, and close. Frees the movie in any case. NULL is fine. Errors: those of
 * frames, TZ_IO. */
tz_status tz_movie_close(tz_movie *movie, tz_error *error);

#endif
