/* Movies by the program ffmpeg: frames are handed to it as they are drawn. If this process is
 * killed, ffmpeg completes the file. If ffmpeg is killed, too, the file holds the frames up to
 * some seconds before. */
#include "base/paths.h"
#include "base/process.h"
#include "output/format/format.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MAX = 48, END_LIMIT_S = 600 };

typedef struct video {
    tz_movie_file base;
    char program[PATH_MAX];
    char place[PATH_MAX + 8], words[1024]; /* of the arguments */
    int width, height;
    const char *arguments[ARGUMENTS_MAX];
    uint8_t *pixels; /* of a frame */
    tz_feed *feed;   /* NULL: ffmpeg has ended */
} video;

static tz_status check(const tz_format *format, tz_error *error)
{
    return tz_program_exists("ffmpeg")
               ? TZ_OK
               : tz_error_set(error, TZ_UNSUPPORTED, NULL,
                              "movies as %s need ffmpeg, which is not installed: apt-get install "
                              "ffmpeg; a name that ends with .png needs no program",
                              format->suffix);
}

/* The colours of sRGB, told to players. The extents become even, as half the resolution in colour
 * requires. A fragment ends before each key frame: what is written can be played. */
static void make_arguments(video *movie, const tz_movie_start *start, const char *coder)
{
    char *rest = movie->words;
    int count = 0;
    snprintf(movie->words, sizeof movie->words,
             "ffmpeg -hide_banner -nostats -nostdin -loglevel error -n -f rawvideo -pix_fmt rgb24 "
             "-video_size %dx%d -framerate %ld/100 -i pipe:0 -vf "
             "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white,scale=out_color_matrix=bt709:out_range=tv "
             "-pix_fmt yuv420p -colorspace bt709 -color_primaries bt709 -color_trc iec61966-2-1 "
             "-g %d %s",
             movie->width, movie->height, lround(100 * start->fps), (int)ceil(start->fps), coder);
    for (const char *word; count < ARGUMENTS_MAX - 2 && (word = strsep(&rest, " "));)
        movie->arguments[count++] = word;
    snprintf(movie->place, sizeof movie->place, "file:%s", start->path);
    movie->arguments[count] = movie->place;
}

static tz_status add(tz_movie_file *file, const tz_image *frame, tz_error *error)
{
    video *movie = (video *)file;
    const size_t line = 3 * (size_t)movie->width;
    if (frame->width != movie->width || frame->height != movie->height)
        return tz_error_set(error, TZ_SHAPE, movie->place,
                            "a frame has %d x %d pixels, and the movie's first one %d x %d",
                            frame->width, frame->height, movie->width, movie->height);
    for (int y = 0; y < movie->height; y++)
        tz_image_row(frame, y, movie->pixels + (size_t)y * line);
    tz_status status = movie->feed ? tz_feed_send(movie->feed, movie->pixels,
                                                  line * (size_t)movie->height, NULL, error)
                                   : tz_error_set(error, TZ_IO, movie->program, "has ended");
    if (status != TZ_OK && movie->feed) {
        tz_error why;
        if (tz_feed_end(movie->feed, &why) != TZ_OK && error)
            *error = why;
        movie->feed = NULL;
    }
    return status;
}

static tz_status end(tz_movie_file *file, tz_error *error)
{
    video *movie = (video *)file;
    const tz_status status = tz_feed_end(movie->feed, error);
    free(movie->pixels);
    free(movie);
    return status;
}

/* Both extents may be odd: the video is a pixel larger then. */
static tz_status start_video(tz_movie_file **out, const tz_format *format, const char *coder,
                             const tz_movie_start *start, tz_error *error)
{
    const int width = start->first->width, height = start->first->height;
    *out = NULL;
    tz_status status = check(format, error);
    if (status != TZ_OK)
        return status;
    video *movie = calloc(1, sizeof *movie);
    if (movie)
        movie->pixels = malloc(3 * (size_t)width * (size_t)height);
    if (!movie || !movie->pixels) {
        free(movie);
        return tz_error_set(error, TZ_MEMORY, start->path, "not enough memory for a movie");
    }
    movie->base.format = format;
    movie->width = width;
    movie->height = height;
    tz_program_find("ffmpeg", movie->program);
    make_arguments(movie, start, coder);
    const tz_process process = {
        .program = movie->program, .arguments = movie->arguments, .limit_s = END_LIMIT_S};
    status = tz_feed_start(&movie->feed, &process, error);
    if (status != TZ_OK) {
        free(movie->pixels);
        free(movie);
        return status;
    }
    status = add(&movie->base, start->first, error);
    if (status == TZ_OK)
        *out = &movie->base;
    else
        end(&movie->base, NULL);
    return status;
}

/* ---- The formats ----------------------------------------------------------------------------- */

/* H.264. */
static tz_status film_mp4(tz_movie_file **out, const tz_movie_start *start, tz_error *error)
{
    return start_video(out, &tz_format_mp4,
                       "-c:v libx264 -crf 18 -movflags frag_keyframe+empty_moov+default_base_moof",
                       start, error);
}

/* VP9. */
static tz_status film_webm(tz_movie_file **out, const tz_movie_start *start, tz_error *error)
{
    return start_video(out, &tz_format_webm,
                       "-c:v libvpx-vp9 -crf 24 -b:v 0 -deadline realtime -cpu-used 6", start,
                       error);
}

const tz_format tz_format_mp4 = {.name = "movie",
                                 .content = TZ_CONTENT_MOVIE,
                                 .suffix = ".mp4",
                                 .check = check,
                                 .film = film_mp4,
                                 .film_add = add,
                                 .film_end = end};
const tz_format tz_format_webm = {.name = "movie",
                                  .content = TZ_CONTENT_MOVIE,
                                  .suffix = ".webm",
                                  .check = check,
                                  .film = film_webm,
                                  .film_add = add,
                                  .film_end = end};
