/* Movies as animated PNG files, which grow frame by frame: W3C, Portable Network Graphics
 * Specification (Third Edition), chunks acTL, fcTL and fdAT. Viewers that know no animations show
 * the first frame.
 *
 * A reader finds a complete movie at any time, also after the process was killed: a frame is
 * written behind the end of the file, and only then are the last chunk, IEND, and the number of
 * frames replaced. A process killed between these two steps leaves one frame that is not counted.
 */
#include "base/atomic.h"
#include "base/file.h"
#include "output/format/format.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* Bytes of chunks and of their parts. A chunk is its length, type, data and checksum. */
enum {
    SIGNATURE = 8,
    AROUND = 12, /* a chunk's bytes besides its data */
    IHDR = AROUND + 13,
    ACTL = AROUND + 8,
    TRNS = AROUND + 6,
    FCTL = AROUND + 26,
    IEND = AROUND,
    ACTL_AT = SIGNATURE + IHDR,
    DELAY_NUMERATOR = 100, /* a frame takes 100 / (100 fps) seconds */
    LEVEL = 3              /* of zlib: the same as for pictures with many colours */
};

static const uint8_t signature[SIGNATURE] = {137, 'P', 'N', 'G', 13, 10, 26, 10};

typedef struct apng {
    tz_movie_file base;
    char path[PATH_MAX];
    int file;
    int width, height;
    int hundredths;  /* of frames per second */
    uint32_t frames; /* in the file */
    int64_t end;     /* bytes of the file, with IEND */
    bool broken;     /* a frame failed: nothing more is written */
} apng;

/* ---- Chunks ---------------------------------------------------------------------------------- */

/* Chunks that are made in memory, where there is room for them. */
typedef struct chunks {
    uint8_t *data;
    size_t used;
} chunks;

static void put_32(chunks *c, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        c->data[c->used++] = (uint8_t)(value >> shift);
}

static uint32_t get_32(const uint8_t *data)
{
    return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

static void put_bytes(chunks *c, const void *data, size_t bytes)
{
    memcpy(c->data + c->used, data, bytes);
    c->used += bytes;
}

/* Begin a chunk; returns its place. */
static size_t begin_chunk(chunks *c, const char type[4])
{
    const size_t at = c->used;
    put_32(c, 0);
    put_bytes(c, type, 4);
    return at;
}

static void end_chunk(chunks *c, size_t at)
{
    const size_t bytes = c->used - at - 8;
    chunks length = {c->data, at};
    put_32(&length, (uint32_t)bytes);
    put_32(c, (uint32_t)crc32_z(0, c->data + at + 4, bytes + 4));
}

static void put_head(chunks *c, const tz_image *image)
{
    static const uint8_t rgb_8_bit[] = {8, 2, 0, 0, 0};
    put_bytes(c, signature, SIGNATURE);
    const size_t at = begin_chunk(c, "IHDR");
    put_32(c, (uint32_t)image->width);
    put_32(c, (uint32_t)image->height);
    put_bytes(c, rgb_8_bit, sizeof rgb_8_bit);
    end_chunk(c, at);
}

/* Pixels of that colour are left out, in all frames. */
static void put_clear(chunks *c)
{
    static const uint8_t clear[3] = TZ_IMAGE_CLEAR;
    const size_t at = begin_chunk(c, "tRNS");
    for (int k = 0; k < 3; k++)
        put_bytes(c, (uint8_t[]){0, clear[k]}, 2);
    end_chunk(c, at);
}

static void put_animation(chunks *c, uint32_t frames)
{
    const size_t at = begin_chunk(c, "acTL");
    put_32(c, frames);
    put_32(c, 0); /* repeats without end */
    end_chunk(c, at);
}

static size_t text_bytes(const tz_image_note *text)
{
    return AROUND + strlen(text->key) + strlen(text->value) + 5;
}

static void put_text(chunks *c, const tz_image_note *text)
{
    static const uint8_t uncompressed_no_language[4] = {0, 0, 0, 0};
    const size_t at = begin_chunk(c, "iTXt");
    put_bytes(c, text->key, strlen(text->key) + 1);
    put_bytes(c, uncompressed_no_language, sizeof uncompressed_no_language);
    put_bytes(c, text->value, strlen(text->value));
    end_chunk(c, at);
}

/* Frame 0 has number 0; each other one has a number for its fcTL and one for its fdAT. */
static uint32_t sequence_of(uint32_t frame)
{
    return frame == 0 ? 0 : 2 * frame - 1;
}

static void put_control(chunks *c, const apng *movie)
{
    static const uint8_t keep_and_replace[2] = {0, 0};
    const size_t at = begin_chunk(c, "fcTL");
    put_32(c, sequence_of(movie->frames));
    put_32(c, (uint32_t)movie->width);
    put_32(c, (uint32_t)movie->height);
    put_32(c, 0); /* x */
    put_32(c, 0); /* y */
    put_32(c, (uint32_t)DELAY_NUMERATOR << 16 | (uint32_t)movie->hundredths);
    put_bytes(c, keep_and_replace, sizeof keep_and_replace);
    end_chunk(c, at);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* Append the picture, compressed. `room`: bytes that it may take. `row`: of one line. */
static bool put_pixels(chunks *c, const tz_image *image, size_t room, uint8_t *row)
{
    z_stream stream = {.zalloc = Z_NULL};
    if (deflateInit(&stream, LEVEL) != Z_OK)
        return false;
    bool good = true;
    row[0] = 0; /* no filter: colours repeat pixel by pixel */
    stream.next_out = c->data + c->used;
    for (int y = 0; good && y < image->height; y++) {
        const bool last = y == image->height - 1;
        tz_image_row(image, y, row + 1);
        stream.next_in = row;
        stream.avail_in = 3 * (uInt)image->width + 1;
        do { /* zlib counts in 32 bits */
            const size_t left = room - stream.total_out;
            stream.avail_out = left < (1u << 30) ? (uInt)left : 1u << 30;
            const int result = deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
            good = result == Z_OK || result == Z_STREAM_END;
            if (result == Z_STREAM_END)
                break;
        } while (good && (stream.avail_in > 0 || last));
    }
    c->used += stream.total_out;
    deflateEnd(&stream);
    return good;
}

/* The chunks of the next frame and IEND, after `before` bytes that are left free. Release ->data
 * with free(). TZ_MEMORY, TZ_RANGE. */
static tz_status make_frame(const apng *movie, const tz_image *image, size_t before, chunks *out,
                            tz_error *error)
{
    const size_t line = 3 * (size_t)image->width + 1;
    const size_t room = (size_t)compressBound((uLong)(line * (size_t)image->height));
    uint8_t *row = malloc(line);
    *out = (chunks){malloc(before + FCTL + AROUND + 4 + room + IEND), before};
    bool good = row && out->data;
    if (good) {
        put_control(out, movie);
        const size_t at = begin_chunk(out, movie->frames == 0 ? "IDAT" : "fdAT");
        if (movie->frames > 0)
            put_32(out, sequence_of(movie->frames) + 1);
        good = put_pixels(out, image, room, row);
        if (good && out->used - at > INT_MAX) {
            free(row);
            return tz_error_set(error, TZ_RANGE, movie->path,
                                "a frame of %d x %d pixels is too large for a PNG file",
                                image->width, image->height);
        }
        if (good) {
            end_chunk(out, at);
            end_chunk(out, begin_chunk(out, "IEND"));
        }
    }
    free(row);
    return good ? TZ_OK
                : tz_error_set(error, TZ_MEMORY, movie->path, "not enough memory for a frame");
}

/* ---- Files ----------------------------------------------------------------------------------- */

static tz_status write_at(const apng *movie, const uint8_t *data, size_t bytes, int64_t at,
                          tz_error *error)
{
    return tz_file_put(movie->file, data, bytes, at) == bytes
               ? TZ_OK
               : tz_error_set_errno(error, errno, movie->path, "cannot write the movie");
}

static tz_status write_count(const apng *movie, uint32_t frames, tz_error *error)
{
    uint8_t data[ACTL];
    chunks c = {data, 0};
    put_animation(&c, frames);
    return write_at(movie, data, sizeof data, ACTL_AT, error);
}

static apng *allocate(const char *path, double fps)
{
    apng *movie = calloc(1, sizeof *movie);
    if (!movie)
        return NULL;
    snprintf(movie->path, sizeof movie->path, "%s", path);
    movie->base.format = &tz_format_movie;
    movie->file = -1;
    movie->hundredths = (int)lround(fps * DELAY_NUMERATOR);
    return movie;
}

static void release(apng *movie)
{
    if (movie && movie->file >= 0)
        close(movie->file);
    free(movie);
}

/* `fps`: hundredths count. The movie repeats for ever. */
static tz_status film(tz_movie_file **out, const tz_movie_start *start, tz_error *error)
{
    const char *path = start->path;
    const tz_image *first = start->first;
    size_t before = ACTL_AT + ACTL + (first->clear ? TRNS : 0);
    for (size_t i = 0; i < start->notes_count; i++)
        before += text_bytes(&start->notes[i]);
    *out = NULL;
    apng *movie = allocate(path, start->fps);
    if (!movie)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory for a movie");
    movie->width = first->width;
    movie->height = first->height;
    tz_atomic_file *whole = NULL;
    chunks c = {NULL, 0};
    tz_status status = make_frame(movie, first, before, &c, error);
    if (status == TZ_OK)
        status = tz_atomic_open(&whole, path, false, error);
    if (status == TZ_OK) {
        chunks head = {c.data, 0};
        put_head(&head, first);
        put_animation(&head, 1);
        if (first->clear)
            put_clear(&head);
        for (size_t i = 0; i < start->notes_count; i++)
            put_text(&head, &start->notes[i]);
        status = tz_atomic_write(whole, c.data, c.used, error);
        status = tz_atomic_end(whole, status, error);
    }
    free(c.data);
    if (status == TZ_OK && (movie->file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)) < 0)
        status = tz_error_set_errno(error, errno, path, "cannot go on with the movie");
    if (status != TZ_OK) {
        release(movie);
        return status;
    }
    movie->frames = 1;
    movie->end = (int64_t)c.used;
    *out = &movie->base;
    return TZ_OK;
}

/* Read the size, and count the frames of the chunks up to `bytes`, where IEND was. */
static bool read_chunks(apng *movie, int64_t bytes)
{
    uint8_t head[SIGNATURE + 16];
    if (pread(movie->file, head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head, signature, SIGNATURE) != 0)
        return false;
    movie->width = (int)get_32(head + SIGNATURE + 8);
    movie->height = (int)get_32(head + SIGNATURE + 12);
    int64_t at = SIGNATURE;
    while (at < bytes - IEND) {
        if (pread(movie->file, head, 8, (off_t)at) != 8)
            return false;
        movie->frames += memcmp(head + 4, "fcTL", 4) == 0;
        at += AROUND + (int64_t)get_32(head);
    }
    movie->end = bytes;
    return at == bytes - IEND && movie->frames > 0;
}

/* Make it the movie that it was: the number of frames, IEND, nothing after it. */
static tz_status cut(const apng *movie, tz_error *error)
{
    uint8_t data[IEND];
    chunks c = {data, 0};
    end_chunk(&c, begin_chunk(&c, "IEND"));
    tz_status status = write_count(movie, movie->frames, error);
    if (status == TZ_OK)
        status = write_at(movie, data, sizeof data, movie->end - IEND, error);
    if (status == TZ_OK && ftruncate(movie->file, (off_t)movie->end) != 0)
        status = tz_error_set_errno(error, errno, movie->path, "cannot cut the movie");
    return status;
}

/* Cut the file to its first `bytes`. TZ_IO: it is missing or shorter; TZ_FORMAT: it is not that
 * movie. */
static tz_status go_on(tz_movie_file **out, const char *path, double fps, int64_t bytes,
                       tz_error *error)
{
    *out = NULL;
    apng *movie = allocate(path, fps);
    if (!movie)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory for a movie");
    tz_status status = tz_file_go_on(path, "movie", bytes, &movie->file, error);
    if (status == TZ_OK && !read_chunks(movie, bytes))
        status = tz_error_set(error, TZ_FORMAT, path,
                              "this is not the movie that the run wrote before the checkpoint");
    if (status == TZ_OK)
        status = cut(movie, error);
    if (status == TZ_OK)
        *out = &movie->base;
    else
        release(movie);
    return status;
}

/* Write the frame behind IEND. Its first chunk's first bytes, which take the place of IEND, then
 * make it part of the file. */
static tz_status append(apng *movie, const chunks *c, tz_error *error)
{
    const int64_t at = movie->end - IEND;
    tz_status status = write_at(movie, c->data + IEND, c->used - IEND, movie->end, error);
    if (status == TZ_OK)
        status = write_at(movie, c->data, IEND, at, error);
    if (status == TZ_OK)
        status = write_count(movie, movie->frames + 1, error);
    if (status != TZ_OK) {
        cut(movie, NULL);
        return status;
    }
    movie->frames++;
    movie->end = at + (int64_t)c->used;
    return TZ_OK;
}

/* After an error the file keeps the frames before, and no more can be added. */
static tz_status add(tz_movie_file *file, const tz_image *frame, tz_error *error)
{
    apng *movie = (apng *)file;
    if (movie->broken)
        return tz_error_set(error, TZ_IO, movie->path, "the movie could not be written");
    if (frame->width != movie->width || frame->height != movie->height)
        return tz_error_set(error, TZ_SHAPE, movie->path,
                            "a frame has %d x %d pixels, and the movie's first one %d x %d",
                            frame->width, frame->height, movie->width, movie->height);
    chunks c;
    tz_status status = make_frame(movie, frame, 0, &c, error);
    if (status == TZ_OK)
        status = append(movie, &c, error);
    movie->broken = status != TZ_OK;
    free(c.data);
    return status;
}

static tz_status sync_file(tz_movie_file *file, int64_t *bytes, tz_error *error)
{
    const apng *movie = (const apng *)file;
    if (fsync(movie->file) != 0)
        return tz_error_set_errno(error, errno, movie->path, "cannot sync the movie");
    *bytes = movie->end;
    return TZ_OK;
}

static tz_status end(tz_movie_file *file, tz_error *error)
{
    apng *movie = (apng *)file;
    tz_status status = TZ_OK;
    if (close(movie->file) != 0)
        status = tz_error_set_errno(error, errno, movie->path, "cannot close the movie");
    free(movie);
    return status;
}

const tz_format tz_format_movie = {
    .name = "movie",
    .content = TZ_CONTENT_MOVIE,
    .suffix = ".png",
    .doc =
        "A movie of a field, for `sim:every`: an animated PNG, `NAME.png`. It can be played at "
        "any time, also after the run was killed, and a resumed run goes on with it. All frames "
        "have one range: that of the option or the stencil, else of the first frame. If values "
        "leave that one, all frames are drawn again when the run ends, in the range of all; a "
        "line tells it. Until then the values are in a hidden file beside the movie. "
        "`name = \"heat.gif\"` makes a GIF, of 256 colours a frame and at most 50 frames a "
        "second. A video, `name = \"heat.mp4\"`, needs ffmpeg, which `trapeze doctor` looks for; "
        "a resumed run makes a new one, with the number of its first frame in its name.",
    .film = film,
    .film_add = add,
    .film_end = end,
    .film_sync = sync_file,
    .film_go_on = go_on,
};
