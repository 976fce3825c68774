/* Movies of outputs, drawn by a thread: writer.c begins them.
 *
 * Frames are drawn while the run goes on, with the range of the first one. Where nobody gave a
 * range the values of all frames are kept in a hidden file, too; if some have left that range, the
 * movie is drawn again at the end, in the range of all frames. */
#include "output/movie.h"

#include "base/file.h"
#include "base/job_queue.h"
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { FRAMES_WAITING = 8 };

struct tz_movie {
    char path[PATH_MAX];
    const tz_format *format;
    double fps;
    tz_job_queue *frames; /* with one thread, which alone uses the members below */
    tz_movie_file *file;  /* NULL before the first frame */
    int64_t count;        /* frames */
    tz_error failure;     /* of a frame, if it has a code: others do not follow it */
    FILE *kept;           /* the values of all frames; NULL: the range is given */
    bool late;            /* a checkpoint's: no frame is drawn before the end */
    bool stays;           /* the values: a checkpoint tells of them */
    tz_movie_range range;
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

/* "FOLDER/.NAME" and an ending. */
static void hidden_path(const tz_movie *movie, const char *ending, char out[PATH_MAX])
{
    const char *slash = strrchr(movie->path, '/');
    const char *name = slash ? slash + 1 : movie->path;
    if (snprintf(out, PATH_MAX, "%.*s.%s%s", (int)(name - movie->path), movie->path, name,
                 ending) >= PATH_MAX)
        out[0] = '\0'; /* which cannot be opened */
}

static tz_status fail_kept(const tz_movie *movie, tz_error *error)
{
    return tz_error_set_errno(error, errno, movie->path, "cannot keep the values of a movie");
}

/* ---- Kept frames ----------------------------------------------------------------------------- */

/* Before each frame of the hidden file. Frames are as they are in memory: another build does not
 * read them. */
typedef struct kept_head {
    uint64_t frame_bytes; /* of this build's tz_frame */
    uint64_t bytes, packed;
    uint64_t sum;                 /* of the packed bytes: a frame that was damaged is not read */
    double low, high;             /* of the finite values; low above high: none is */
    double first_low, first_high; /* the range of the first frame */
} kept_head;

/* Before the values of a plane. */
typedef struct kept_plane {
    int64_t nx, ny, field_nx, field_ny, shaded;
    tz_window window;
} kept_plane;

/* A frame more, with values from low to high; low above high: it has none. The first frame's range
 * is exceeded if colours would tell it. */
static void see(tz_movie_range *range, double low, double high, double first_low, double first_high)
{
    const double little = (first_high - first_low) / (2 * TZ_COLORMAP_SIZE);
    range->frames++;
    range->uniform |= range->frames == 1 && !(low < high);
    if (low > high)
        return;
    if (!range->strayed && (low < first_low - little || high > first_high + little))
        range->strayed = range->frames;
    range->low = range->seen ? fmin(range->low, low) : low;
    range->high = range->seen ? fmax(range->high, high) : high;
    range->seen = true;
}

/* Of a logarithmic scale, logarithms. */
static tz_range range_of(const tz_frame *frame)
{
    tz_range range = {.lo = 0};
    for (int i = 0; i < frame->planes_count; i++)
        tz_range_add(&range, TZ_DTYPE_F64, frame->planes[i]->values,
                     (int64_t)frame->planes[i]->nx * frame->planes[i]->ny);
    if (range.finite == 0)
        range.lo = 1;
    return range;
}

/* Copies `bytes` to `to` or from it, and moves on. */
static void move(uint8_t **to, void *data, size_t bytes, bool back)
{
    if (bytes > 0 && back)
        memcpy(data, *to, bytes);
    else if (bytes > 0)
        memcpy(*to, data, bytes);
    *to += bytes;
}

static size_t kept_bytes(const tz_frame *frame)
{
    size_t bytes =
        sizeof *frame + (size_t)frame->look.overlay.path_count * sizeof *frame->path_points;
    for (int i = 0; i < frame->planes_count; i++) {
        const tz_plane *plane = frame->planes[i];
        const size_t count = (size_t)plane->nx * (size_t)plane->ny;
        bytes += sizeof(kept_plane) + count * sizeof *plane->values +
                 (plane->shades ? count * sizeof *plane->shades : 0);
    }
    return bytes;
}

static tz_status keep(tz_movie *movie, const tz_frame *frame, const tz_range *range,
                      tz_error *error)
{
    kept_head head = {.frame_bytes = sizeof *frame,
                      .bytes = kept_bytes(frame),
                      .low = range->lo,
                      .high = range->hi};
    tz_frame_drawn_range(frame, &head.first_low, &head.first_high);
    uLong packed = compressBound((uLong)head.bytes);
    uint8_t *bytes = malloc(head.bytes), *to = bytes, *small = malloc(packed);
    if (bytes && small) {
        tz_frame bare = *frame; /* no addresses: each run keeps the same bytes */
        bare.planes = NULL;
        bare.path_points = NULL;
        bare.look.overlay.path = NULL;
        move(&to, &bare, sizeof bare, false);
        move(&to, frame->path_points,
             (size_t)frame->look.overlay.path_count * sizeof *frame->path_points, false);
        for (int i = 0; i < frame->planes_count; i++) {
            tz_plane *plane = frame->planes[i];
            const size_t count = (size_t)plane->nx * (size_t)plane->ny;
            kept_plane sizes = {
                plane->nx,    plane->ny, plane->field_nx, plane->field_ny, plane->shades != NULL,
                plane->window};
            move(&to, &sizes, sizeof sizes, false);
            move(&to, plane->values, count * sizeof *plane->values, false);
            move(&to, plane->shades, plane->shades ? count * sizeof *plane->shades : 0, false);
        }
    }
    tz_status status = TZ_OK;
    if (!bytes || !small || compress2(small, &packed, bytes, (uLong)head.bytes, 1) != Z_OK)
        status = tz_error_set(error, TZ_MEMORY, movie->path, "not enough memory for a frame");
    head.packed = packed;
    if (!status)
        head.sum = crc32(0, small, (uInt)packed);
    if (!status && (fwrite(&head, sizeof head, 1, movie->kept) != 1 ||
                    fwrite(small, packed, 1, movie->kept) != 1))
        status = fail_kept(movie, error);
    free(bytes);
    free(small);
    return status;
}

static bool is_within(double value, double most)
{
    return value >= -most && value <= most;
}

/* Are the texts, counts, flags and numbers of a frame's bytes such as a writer makes? `bytes` are
 * those of `frame`: a flag that is neither 0 nor 1 may not be read as one. */
static bool is_sound(const tz_frame *frame, const uint8_t *bytes)
{
#define AT(MEMBER) offsetof(tz_frame, MEMBER)
    static const size_t flags[] = {AT(look.log),
                                   AT(look.bar),
                                   AT(look.told),
                                   AT(look.axes),
                                   AT(look.overlay.mark_min),
                                   AT(look.overlay.mark_max),
                                   AT(look.overlay.grid_lines),
                                   AT(look.isometric),
                                   AT(look.cut),
                                   AT(look.has_level),
                                   AT(look.greatest),
                                   AT(look.follows),
                                   AT(look.has_unit),
                                   AT(turned),
                                   AT(vectors)};
#undef AT
    const tz_look *look = &frame->look;
    const tz_overlay *over = &look->overlay;
#define ENDS(TEXT) (memchr(TEXT, '\0', sizeof TEXT) != NULL)
    bool good = ENDS(look->map) && ENDS(look->caption) && ENDS(look->axes_unit) && ENDS(look->unit);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        good = good && bytes[flags[i]] <= 1;
    good = good && look->colours_count >= 0 && look->colours_count <= TZ_COLOURS_MAX &&
           over->contours_count >= 0 && over->contours_count <= TZ_CONTOURS_MAX &&
           over->contours_even >= 0 && over->contours_even <= TZ_CONTOURS_MAX &&
           over->outlines_count >= 0 && over->outlines_count <= TZ_OUTLINES_MAX &&
           frame->texts_count <= TZ_FRAME_TEXTS_MAX && look->bits == 8 && look->size >= 0 &&
           look->size <= TZ_IMAGE_MAX_EXTENT && look->zoom >= 0 &&
           look->zoom <= TZ_IMAGE_MAX_EXTENT && is_within(look->width_mm, 1000) &&
           is_within(look->low, DBL_MAX) && is_within(look->high, DBL_MAX) &&
           look->low <= look->high && frame->slice_axis >= 0 && frame->slice_axis < TZ_AXES;
    for (size_t i = 0; good && i < frame->texts_count; i++)
        good = ENDS(frame->keys[i]) && ENDS(frame->values[i]);
    for (int i = 0; good && i < 2; i++)
        good = ENDS(frame->axes[i].unit) && is_within(frame->axes[i].first, DBL_MAX) &&
               is_within(frame->axes[i].last, DBL_MAX);
    for (int i = 0; good && i < over->outlines_count; i++) {
        const tz_outline *o = &over->outlines[i];
        good = ENDS(o->name) && is_within(o->left, 2) && is_within(o->right, 2) &&
               is_within(o->top, 2) && is_within(o->bottom, 2);
    }
    for (int64_t i = 0; good && i < over->path_count; i++)
        good = is_within(frame->path_points[i].x, INT32_MAX) &&
               is_within(frame->path_points[i].y, INT32_MAX);
    return good;
#undef ENDS
}

/* The same of a plane. */
static bool is_plane(const tz_frame *frame, const kept_plane *sizes, int64_t most)
{
    const tz_overlay *over = &frame->look.overlay;
    const tz_window *window = &sizes->window;
    bool good = sizes->nx >= 1 && sizes->ny >= 1 && sizes->nx <= TZ_IMAGE_MAX_EXTENT &&
                sizes->ny <= TZ_IMAGE_MAX_EXTENT && sizes->ny <= most / sizes->nx &&
                sizes->field_nx >= sizes->nx && sizes->field_ny >= sizes->ny;
    for (int axis = 0; axis < 2 && good; axis++)
        good = over->outlines_low[axis] >= 0 &&
               over->outlines_high[axis] <= (axis ? sizes->field_ny : sizes->field_nx);
    if (window->width == 0)
        return good && window->height == 0 && window->x == 0 && window->y == 0 && window->zoom == 0;
    return good && window->width >= 1 && window->width <= TZ_IMAGE_MAX_EXTENT &&
           window->height >= 1 && window->height <= TZ_IMAGE_MAX_EXTENT &&
           is_within(window->x, TZ_IMAGE_MAX_EXTENT) && is_within(window->y, TZ_IMAGE_MAX_EXTENT) &&
           window->zoom > 0 && window->zoom <= TZ_IMAGE_MAX_EXTENT;
}

/* Factors of colours, or what is behind the cells. */
static bool are_shades(const float *shades, size_t count)
{
    bool good = true;
    for (size_t i = 0; shades && good && i < count; i++)
        good = (shades[i] >= 0 && shades[i] <= 1) ||
               (shades[i] <= TZ_SHADE_OUTSIDE && shades[i] >= TZ_SHADE_CLEAR);
    return good;
}

/* A frame of those bytes, which are changed. NULL: no memory, or they are no frame. */
static tz_frame *unpack(uint8_t *bytes, size_t size)
{
    tz_frame *frame = NULL;
    uint8_t *at = bytes + sizeof *frame;
    const uint8_t *const end = bytes + size;
    tz_frame *was = (tz_frame *)(void *)bytes;
    if (size < sizeof *was || was->planes_count < 1 || was->look.overlay.path_count < 0 ||
        (size_t)was->look.overlay.path_count > (size_t)(end - at) / sizeof *was->path_points ||
        (size_t)was->planes_count > (size_t)(end - at) / sizeof(kept_plane))
        return NULL;
    const int count = was->planes_count;
    was->look.overlay.path = (tz_overlay_point *)(void *)at;
    if (tz_frame_create(&frame, &was->look, NULL) != TZ_OK)
        return NULL;
    was->path_points = frame->path_points;
    was->look.overlay.path = frame->path_points;
    was->planes_count = 0;
    was->planes = NULL;
    *frame = *was;
    if (!is_sound(frame, bytes)) {
        tz_frame_destroy(frame);
        return NULL;
    }
    frame->planes = calloc((size_t)count, sizeof *frame->planes);
    at += (size_t)frame->look.overlay.path_count * sizeof *frame->path_points;
    for (int i = 0; frame->planes && i < count; i++) {
        tz_plane *plane = calloc(1, sizeof *plane);
        if (!plane)
            break;
        kept_plane sizes = {0};
        if ((size_t)(end - at) >= sizeof sizes)
            move(&at, &sizes, sizeof sizes, true);
        if (!is_plane(frame, &sizes, (end - at) / (int64_t)sizeof(double))) {
            free(plane);
            break;
        }
        *plane = (tz_plane){.nx = (int)sizes.nx,
                            .ny = (int)sizes.ny,
                            .field_nx = sizes.field_nx,
                            .field_ny = sizes.field_ny,
                            .window = sizes.window};
        const size_t cells = (size_t)plane->nx * (size_t)plane->ny;
        const bool shaded = sizes.shaded;
        plane->values = malloc(cells * sizeof *plane->values);
        plane->shades = shaded ? malloc(cells * sizeof *plane->shades) : NULL;
        frame->planes[frame->planes_count++] = plane;
        if (!plane->values || (shaded && !plane->shades) ||
            (size_t)(end - at) <
                cells * (sizeof *plane->values + (shaded ? sizeof *plane->shades : 0)))
            break;
        move(&at, plane->values, cells * sizeof *plane->values, true);
        move(&at, plane->shades, shaded ? cells * sizeof *plane->shades : 0, true);
        if (!are_shades(plane->shades, cells)) {
            tz_frame_destroy(frame);
            return NULL;
        }
    }
    if (at != end || frame->planes_count < count) {
        tz_frame_destroy(frame);
        return NULL;
    }
    return frame;
}

static tz_status recall(const tz_movie *movie, tz_frame **out, tz_error *error)
{
    kept_head head;
    *out = NULL;
    if (fread(&head, sizeof head, 1, movie->kept) != 1)
        return fail_kept(movie, error);
    struct stat file;
    const bool likely = fstat(fileno(movie->kept), &file) == 0 && head.packed > 0 &&
                        head.packed < UINT32_MAX && head.packed < (uint64_t)file.st_size &&
                        head.bytes < 2000 * head.packed;
    uint8_t *small = likely ? malloc(head.packed) : NULL,
            *bytes = likely ? malloc(head.bytes) : NULL;
    uLong room = (uLong)head.bytes;
    tz_status status = TZ_OK;
    if (likely && (!small || !bytes))
        status = tz_error_set(error, TZ_MEMORY, movie->path, "not enough memory for a frame");
    else if (!likely || fread(small, head.packed, 1, movie->kept) != 1 ||
             crc32(0, small, (uInt)head.packed) != head.sum ||
             uncompress(bytes, &room, small, (uLong)head.packed) != Z_OK || room != head.bytes ||
             !(*out = unpack(bytes, head.bytes)))
        status = tz_error_set(error, TZ_FORMAT, movie->path,
                              "the values that were kept of its frames are damaged");
    free(small);
    free(bytes);
    return status;
}

/* Take the first `count` frames that a run has kept, and forget what follows. False: they are not
 * there, or another build's. */
static bool take_kept(tz_movie *movie, int64_t count)
{
    char path[PATH_MAX];
    kept_head head;
    off_t end = 0;
    bool good = true;
    hidden_path(movie, ".frames", path);
    movie->kept = fopen(path, "r+be");
    for (int64_t i = 0; movie->kept && good && i < count; i++) {
        good = fread(&head, sizeof head, 1, movie->kept) == 1 &&
               head.frame_bytes == sizeof(tz_frame) && head.packed < UINT32_MAX;
        if (!good)
            break;
        end += (off_t)(sizeof head + head.packed);
        see(&movie->range, head.low, head.high, head.first_low, head.first_high);
        good = fseeko(movie->kept, end, SEEK_SET) == 0;
    }
    good = movie->kept && good && fseeko(movie->kept, 0, SEEK_END) == 0 &&
           ftello(movie->kept) >= end && ftruncate(fileno(movie->kept), end) == 0 &&
           fseeko(movie->kept, end, SEEK_SET) == 0;
    if (!good && movie->kept)
        fclose(movie->kept);
    if (!good)
        movie->kept = NULL;
    return good;
}

tz_status tz_movie_open(tz_movie **out, const char *path, const tz_format *format, double fps,
                        int64_t bytes, int64_t count, tz_error *error)
{
    tz_status status = tz_movie_create(out, path, format, fps, error);
    if (status != TZ_OK)
        return status;
    (*out)->count = count;
    (*out)->late = take_kept(*out, count);
    if (!(*out)->late)
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

/* Draw a frame into the file, which begins at `path` with the first one. */
static tz_status add(tz_movie *movie, const char *path, const tz_frame *frame, tz_error *error)
{
    tz_image *image = NULL;
    tz_image_note texts[TZ_FRAME_TEXTS_MAX];
    tz_status status = tz_frame_image(frame, &image, error);
    if (status != TZ_OK)
        return status;
    if (movie->file) {
        status = movie->format->film_add(movie->file, image, error);
    } else {
        const tz_movie_start start = {path, movie->fps, image, texts, tz_frame_notes(frame, texts)};
        status = movie->format->film(&movie->file, &start, error);
    }
    tz_image_destroy(image);
    return status;
}

/* Does the range of this movie follow its frames? What a view without a level shows depends on
 * it, so it does not. */
static bool follows(const tz_look *look)
{
    return look->range != TZ_RANGE_FIXED && (!look->isometric || look->has_level);
}

static tz_status take(tz_movie *movie, const tz_frame *frame, tz_error *error)
{
    char path[PATH_MAX];
    tz_status status = TZ_OK;
    if (movie->count == 0 && follows(&frame->look)) {
        hidden_path(movie, ".frames", path);
        movie->kept = fopen(path, "w+be");
        if (!movie->kept)
            return fail_kept(movie, error);
    }
    if (frame->look.range != TZ_RANGE_FIXED) {
        const tz_range range = range_of(frame);
        double low, high;
        tz_frame_drawn_range(frame, &low, &high);
        see(&movie->range, range.lo, range.hi, low, high);
        if (movie->kept)
            status = keep(movie, frame, &range, error);
    }
    if (!status && !movie->late)
        status = add(movie, movie->path, frame, error);
    return status;
}

static tz_status run(void *data, tz_error *error)
{
    const job *j = data;
    tz_movie *movie = j->movie;
    if (!movie->failure.code)
        take(movie, j->frame, &movie->failure);
    if (movie->failure.code) {
        *error = movie->failure;
        return movie->failure.code;
    }
    movie->count++;
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
    tz_status status = tz_job_queue_settle(movie->frames, error);
    *bytes = -1;
    if (status || !movie->format->film_sync || !(movie->file || movie->late))
        return status;
    movie->stays = true;
    if (movie->kept && (fflush(movie->kept) != 0 || fsync(fileno(movie->kept)) != 0))
        return fail_kept(movie, error);
    *bytes = 0;
    return movie->file ? movie->format->film_sync(movie->file, bytes, error) : TZ_OK;
}

/* ---- The end --------------------------------------------------------------------------------- */

void tz_movie_take_range(const tz_movie_range *range, tz_look *look)
{
    double low = look->log ? log10(look->low) : look->low;
    double high = look->log ? log10(look->high) : look->high;
    low = range->uniform ? range->low : fmin(range->low, low);
    high = range->uniform ? range->high : fmax(range->high, high);
    if (low < high && (range->strayed || range->uniform))
        tz_look_take_range(look, look->log ? pow(10, low) : low, look->log ? pow(10, high) : high);
}

static bool draws_again(const tz_movie *movie)
{
    const tz_movie_range *range = &movie->range;
    return movie->kept && !movie->failure.code && movie->count > 0 &&
           (movie->late || range->strayed || (range->uniform && range->low < range->high));
}

static tz_status draw_again(tz_movie *movie, tz_error *error)
{
    char path[PATH_MAX];
    tz_status status = movie->file ? movie->format->film_end(movie->file, error) : TZ_OK;
    movie->file = NULL;
    hidden_path(movie, "", path);
    unlink(path);
    rewind(movie->kept);
    for (int64_t i = 0; status == TZ_OK && i < movie->count; i++) {
        tz_frame *frame = NULL;
        status = recall(movie, &frame, error);
        if (status == TZ_OK) {
            tz_movie_take_range(&movie->range, &frame->look);
            tz_frame_note_look(frame);
            status = add(movie, path, frame, error);
        }
        tz_frame_destroy(frame);
    }
    if (movie->file) {
        tz_error why;
        const tz_status ended = movie->format->film_end(movie->file, status ? &why : error);
        status = status ? status : ended;
        movie->file = NULL;
    }
    if (status == TZ_OK && rename(path, movie->path) != 0)
        status = tz_error_set_errno(error, errno, movie->path, "cannot write the movie");
    if (status != TZ_OK)
        unlink(path);
    return status;
}

tz_movie_range tz_movie_range_of(tz_movie *movie)
{
    tz_error why;
    const tz_status status = tz_job_queue_settle(movie->frames, &why);
    (void)status; /* close() tells it: it is kept */
    movie->range.drawn_again = draws_again(movie);
    return movie->range;
}

tz_status tz_movie_close(tz_movie *movie, tz_error *error)
{
    if (!movie)
        return TZ_OK;
    tz_error why;
    tz_job_queue_destroy(movie->frames, &why);
    tz_status status = draws_again(movie) ? draw_again(movie, error) : TZ_OK;
    if (movie->file)
        status = movie->format->film_end(movie->file, error);
    if (movie->failure.code) {
        status = movie->failure.code;
        if (error)
            *error = movie->failure;
    }
    if (movie->kept) {
        char path[PATH_MAX];
        fclose(movie->kept);
        hidden_path(movie, ".frames", path);
        if (!movie->stays)
            unlink(path);
    }
    free(movie);
    return status;
}
