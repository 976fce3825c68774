/* Movies of outputs, drawn by a thread: writer.c begins them. */
#include "output/movie.h"

#include "base/job_queue.h"
#include <stdio.h>
#include <stdlib.h>

enum { FRAMES_WAITING = 8 };

struct tz_movie {
    char path[PATH_MAX];
    const tz_format *format;
    double fps;
    tz_job_queue *frames; /* with one thread, which alone uses the members below */
    tz_movie_file *file;  /* NULL before the first frame */
    int64_t count;        /* frames */
    int64_t strayed;      /* the first one with values outside the range; 0: none */
    tz_error failure;     /* of a frame, if it has a code: others do not follow it */
};

tz_status tz_movie_create(tz_movie **out, const char *path, const tz_format *format, double fps,
                          tz_error *error)
{
    tz_movie *movie = calloc(1, sizeof *movie);
    *out = NULL;
    if (!movie)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory for a movie");
    snprintf(movie->path, sizeof movie->path, "%s", path);
    movie->format = format;
    movie->fps = fps;
    const tz_status status = tz_job_queue_create(&movie->frames, FRAMES_WAITING, 1, error);
    if (status != TZ_OK)
        free(movie);
    else
        *out = movie;
    return status;
}

tz_status tz_movie_open(tz_movie **out, const char *path, const tz_format *format, double fps,
                        int64_t bytes, tz_error *error)
{
    tz_status status = tz_movie_create(out, path, format, fps, error);
    if (status != TZ_OK)
        return status;
    status = format->film_go_on(&(*out)->file, path, fps, bytes, error);
    if (status != TZ_OK) {
        tz_movie_close(*out, NULL);
        *out = NULL;
    }
    return status;
}

/* ---- In the thread --------------------------------------------------------------------------- */

typedef struct job {
    tz_movie *movie;
    tz_frame *frame; /* owned */
} job;

/* Are there values outside a range that was found in the first frame? */
static bool has_strayed(const tz_frame *frame)
{
    if (frame->look.range == TZ_RANGE_FIXED)
        return false;
    double low, high;
    tz_frame_drawn_range(frame, &low, &high);
    for (int i = 0; i < frame->planes_count; i++) {
        const tz_plane *plane = frame->planes[i];
        tz_range range = {.lo = 0};
        tz_range_add(&range, TZ_DTYPE_F64, plane->values, (int64_t)plane->nx * plane->ny);
        if (range.finite > 0 && (range.lo < low || range.hi > high))
            return true;
    }
    return false;
}

static tz_status add(tz_movie *movie, const tz_frame *frame, tz_error *error)
{
    tz_image *image = NULL;
    tz_image_note texts[TZ_FRAME_TEXTS_MAX];
    tz_status status = tz_frame_image(frame, &image, error);
    if (status != TZ_OK)
        return status;
    if (movie->file) {
        status = movie->format->film_add(movie->file, image, error);
    } else {
        const tz_movie_start start = {movie->path, movie->fps, image, texts,
                                      tz_frame_notes(frame, texts)};
        status = movie->format->film(&movie->file, &start, error);
    }
    tz_image_destroy(image);
    return status;
}

static tz_status run(void *data, tz_error *error)
{
    const job *j = data;
    tz_movie *movie = j->movie;
    if (!movie->failure.code)
        add(movie, j->frame, &movie->failure);
    if (movie->failure.code) {
        *error = movie->failure;
        return movie->failure.code;
    }
    movie->count++;
    if (!movie->strayed && has_strayed(j->frame))
        movie->strayed = movie->count;
    return TZ_OK;
}

static void release(void *data)
{
    job *j = data;
    tz_frame_destroy(j->frame);
    free(j);
}

/* ---- In other threads ------------------------------------------------------------------------ */

tz_status tz_movie_add(tz_movie *movie, tz_frame *frame, tz_error *error)
{
    job *j = malloc(sizeof *j);
    if (!j) {
        tz_frame_destroy(frame);
        return tz_error_set(error, TZ_MEMORY, movie->path, "not enough memory for a frame");
    }
    *j = (job){movie, frame};
    const tz_job pushed = {run, release, j};
    return tz_job_queue_push(movie->frames, &pushed, error);
}

tz_status tz_movie_sync(tz_movie *movie, int64_t *bytes, tz_error *error)
{
    const tz_status status = tz_job_queue_settle(movie->frames, error);
    *bytes = -1;
    return status || !movie->file || !movie->format->film_sync
               ? status
               : movie->format->film_sync(movie->file, bytes, error);
}

int64_t tz_movie_strayed(tz_movie *movie)
{
    tz_error why;
    const tz_status status = tz_job_queue_settle(movie->frames, &why);
    (void)status; /* close() tells it: it is kept */
    return movie->strayed;
}

tz_status tz_movie_close(tz_movie *movie, tz_error *error)
{
    if (!movie)
        return TZ_OK;
    tz_error why;
    tz_job_queue_destroy(movie->frames, &why);
    tz_status status = movie->file ? movie->format->film_end(movie->file, error) : TZ_OK;
    if (movie->failure.code) {
        status = movie->failure.code;
        if (error)
            *error = movie->failure;
    }
    free(movie);
    return status;
}
