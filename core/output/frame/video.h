/* Movies by the program ffmpeg: frames are handed to it as they are drawn. */
#ifndef TZ_CORE_OUTPUT_FRAME_VIDEO_H
#define TZ_CORE_OUTPUT_FRAME_VIDEO_H

#include "output/frame/image.h"

typedef enum tz_movie_format {
    TZ_MOVIE_PNG,  /* animated PNG: output/frame/apng.h */
    TZ_MOVIE_MP4,  /* H.264 */
    TZ_MOVIE_WEBM, /* VP9 */
    TZ_MOVIE_FORMATS
} tz_movie_format;

/* ".png", ".mp4", ".webm". */
const char *tz_movie_suffix(tz_movie_format format);
/* TZ_UNSUPPORTED: it needs ffmpeg, which is not on the PATH. */
tz_status tz_movie_check(tz_movie_format format, tz_error *error);

/* A video that ffmpeg writes. If this process is killed, ffmpeg completes the file. If ffmpeg is killed,
 * too, the file holds the frames up to some seconds before. */
typedef struct tz_video tz_video;

/* Start ffmpeg. The file must not exist. Both extents may be odd: the video is a pixel larger then.
 * TZ_UNSUPPORTED, TZ_IO, TZ_MEMORY. End with tz_video_end. */
tz_status tz_video_start(tz_video **out, const char *path, tz_movie_format format, double fps,
                         int width, int height, tz_error *error);
/* Add a frame: RGB8, GRAY8 or INDEX8. TZ_SHAPE, TZ_IO (what ffmpeg says), TZ_MEMORY. */
tz_status tz_video_add(tz_video *video, const tz_image *frame, tz_error *error);
/* Wait until ffmpeg has written the file; free in any case. NULL is fine. TZ_IO. */
tz_status tz_video_end(tz_video *video, tz_error *error);

#endif
