#include "output/frame/video.h"

#include "base/paths.h"
#include "base/process.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MAX = 48, END_LIMIT_S = 600 };

struct tz_video {
    char program[PATH_MAX];
    char place[PATH_MAX + 8], size[32], rate[32], keys[16];
    int width, height;
    int count;
    const char *arguments[ARGUMENTS_MAX];
    uint8_t *pixels; /* of a frame */
    tz_feed *feed;   /* NULL: ffmpeg has ended */
};

const char *tz_movie_suffix(tz_movie_format format)
{
    static const char *const suffixes[TZ_MOVIE_FORMATS] = {".png", ".mp4", ".webm"};
    return suffixes[format];
}

tz_status tz_movie_check(tz_movie_format format, tz_error *error)
{
    return format == TZ_MOVIE_PNG || tz_program_exists("ffmpeg")
               ? TZ_OK
               : tz_error_set(error, TZ_UNSUPPORTED, NULL,
                              "movies as %s need ffmpeg, which is not installed: apt-get install "
                              "ffmpeg; a name that ends with .png needs no program",
                              tz_movie_suffix(format));
}

static void add(tz_video *video, const char *const *arguments)
{
    while (*arguments)
        video->arguments[video->count++] = *arguments++;
}

/* The colours of sRGB, told to players. The extents become even, as half the resolution in colour
 * requires. A fragment ends before each key frame: what is written can be played. */
static void make_arguments(tz_video *video, tz_movie_format format)
{
    const char *const input[] = {
        "ffmpeg",
        "-hide_banner",
        "-nostats",
        "-nostdin",
        "-loglevel",
        "error",
        "-n",
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-video_size",
        video->size,
        "-framerate",
        video->rate,
        "-i",
        "pipe:0",
        "-vf",
        "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white,scale=out_color_matrix=bt709:out_range=tv",
        "-pix_fmt",
        "yuv420p",
        "-colorspace",
        "bt709",
        "-color_primaries",
        "bt709",
        "-color_trc",
        "iec61966-2-1",
        "-g",
        video->keys,
        NULL};
    static const char *const mp4[] = {
        "-c:v", "libx264", "-crf", "18", "-movflags", "frag_keyframe+empty_moov+default_base_moof",
        NULL};
    static const char *const webm[] = {"-c:v",      "libvpx-vp9", "-crf",      "24", "-b:v", "0",
                                       "-deadline", "realtime",   "-cpu-used", "6",  NULL};
    const char *const output[] = {video->place, NULL};
    add(video, input);
    add(video, format == TZ_MOVIE_MP4 ? mp4 : webm);
    add(video, output);
}

tz_status tz_video_start(tz_video **out, const char *path, tz_movie_format format, double fps,
                         int width, int height, tz_error *error)
{
    *out = NULL;
    tz_status status = tz_movie_check(format, error);
    if (status != TZ_OK)
        return status;
    tz_video *video = calloc(1, sizeof *video);
    if (video)
        video->pixels = malloc(3 * (size_t)width * (size_t)height);
    if (!video || !video->pixels) {
        free(video);
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory for a movie");
    }
    video->width = width;
    video->height = height;
    tz_program_find("ffmpeg", video->program);
    snprintf(video->place, sizeof video->place, "file:%s", path);
    snprintf(video->size, sizeof video->size, "%dx%d", width, height);
    snprintf(video->rate, sizeof video->rate, "%ld/100", lround(100 * fps));
    snprintf(video->keys, sizeof video->keys, "%d", (int)ceil(fps));
    make_arguments(video, format);
    const tz_process process = {
        .program = video->program, .arguments = video->arguments, .limit_s = END_LIMIT_S};
    status = tz_feed_start(&video->feed, &process, error);
    if (status == TZ_OK) {
        *out = video;
        return TZ_OK;
    }
    free(video->pixels);
    free(video);
    return status;
}

tz_status tz_video_add(tz_video *video, const tz_image *frame, tz_error *error)
{
    const size_t line = 3 * (size_t)video->width;
    if (frame->width != video->width || frame->height != video->height)
        return tz_error_set(error, TZ_SHAPE, video->place,
                            "a frame has %d x %d pixels, and the movie's first one %d x %d",
                            frame->width, frame->height, video->width, video->height);
    for (int y = 0; y < video->height; y++)
        tz_image_row(frame, y, video->pixels + (size_t)y * line);
    tz_status status =
        video->feed ? tz_feed_write(video->feed, video->pixels, line * (size_t)video->height, error)
                    : tz_error_set(error, TZ_IO, video->program, "has ended");
    if (status != TZ_OK && video->feed) {
        tz_error why;
        if (tz_feed_end(video->feed, &why) != TZ_OK && error)
            *error = why;
        video->feed = NULL;
    }
    return status;
}

tz_status tz_video_end(tz_video *video, tz_error *error)
{
    if (!video)
        return TZ_OK;
    const tz_status status = tz_feed_end(video->feed, error);
    free(video->pixels);
    free(video);
    return status;
}
