/* Movies as animated PNG files, which grow frame by frame: W3C, Portable Network Graphics
 * Specification (Third Edition), chunks acTL, fcTL and fdAT. Viewers that know no animations show the
 * first frame.
 *
 * A reader finds a complete movie at any time, also after the process was killed: a frame is written
 * behind the end of the file, and only then are the last chunk, IEND, and the number of frames
 * replaced. A process killed between these two steps leaves one frame that is not counted. */
#ifndef TZ_CORE_OUTPUT_FRAME_APNG_H
#define TZ_CORE_OUTPUT_FRAME_APNG_H

#include "output/frame/png_write.h"

typedef struct tz_apng tz_apng;

/* Make the file, which must not exist, with its first frame: RGB8, GRAY8 or INDEX8. It repeats for
 * ever. `fps`: frames per second, 0.01 to 655; hundredths count. `texts` are kept in the file. TZ_IO,
 * TZ_MEMORY. End with tz_apng_close. */
tz_status tz_apng_create(tz_apng **out, const char *path, double fps, const tz_image *first,
                         const tz_png_note *texts, size_t text_count, tz_error *error);

/* Go on with a file: cut it to its first `bytes`, as tz_apng_sync gave them. TZ_IO: it is missing or
 * shorter; TZ_FORMAT: it is not that movie; TZ_MEMORY. */
tz_status tz_apng_open(tz_apng **out, const char *path, double fps, int64_t bytes, tz_error *error);

/* Add a frame of the same size. After an error the file keeps the frames before, and no more can be
 * added. TZ_SHAPE, TZ_IO, TZ_MEMORY. */
tz_status tz_apng_add(tz_apng *apng, const tz_image *frame, tz_error *error);

/* Have it written to the disk. *bytes becomes its size. TZ_IO. */
tz_status tz_apng_sync(tz_apng *apng, int64_t *bytes, tz_error *error);

/* Close and free in any case. NULL is fine. TZ_IO. */
tz_status tz_apng_close(tz_apng *apng, tz_error *error);

#endif
