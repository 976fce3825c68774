#include "output/frame/apng.h"

#include "base/atomic.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* Bytes of chunks and of their parts. A chunk is its length, type, data and checksum. */
enum {
    SIGNATURE = 8,
    AROUND = 12, /* a chunk's bytes besides its data */
    IHDR = AROUND + 13,
    ACTL = AROUND + 8,
    FCTL = AROUND + 26,
    IEND = AROUND,
    ACTL_AT = SIGNATURE + IHDR,
    DELAY_NUMERATOR = 100, /* a frame takes 100 / (100 fps) seconds */
    LEVEL = 3              /* of zlib: the same as for pictures with many colours */
};

static const uint8_t signature[SIGNATURE] = {137, 'P', 'N', 'G', 13, 10, 26, 10};

struct tz_apng {
    char path[PATH_MAX];
    int file;
    int width, height;
    int hundredths;  /* of frames per second */
    uint32_t frames; /* in the file */
    int64_t end;     /* bytes of the file, with IEND */
    bool broken;     /* a frame failed: nothing more is written */
};

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

static void put_animation(chunks *c, uint32_t frames)
{
    const size_t at = begin_chunk(c, "acTL");
    put_32(c, frames);
    put_32(c, 0); /* repeats without end */
    end_chunk(c, at);
}

static size_t text_bytes(const tz_png_note *text)
{
    return AROUND + strlen(text->key) + strlen(text->value) + 5;
}

static void put_text(chunks *c, const tz_png_note *text)
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

static void put_control(chunks *c, const tz_apng *apng)
{
    static const uint8_t keep_and_replace[2] = {0, 0};
    const size_t at = begin_chunk(c, "fcTL");
    put_32(c, sequence_of(apng->frames));
    put_32(c, (uint32_t)apng->width);
    put_32(c, (uint32_t)apng->height);
    put_32(c, 0); /* x */
    put_32(c, 0); /* y */
    put_32(c, (uint32_t)DELAY_NUMERATOR << 16 | (uint32_t)apng->hundredths);
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

/* The chunks of the next frame and IEND, after `before` bytes that are left free. Release ->data with
 * free(). TZ_MEMORY, TZ_RANGE. */
static tz_status make_frame(const tz_apng *apng, const tz_image *image, size_t before, chunks *out,
                            tz_error *error)
{
    const size_t line = 3 * (size_t)image->width + 1;
    const size_t room = (size_t)compressBound((uLong)(line * (size_t)image->height));
    uint8_t *row = malloc(line);
    *out = (chunks){malloc(before + FCTL + AROUND + 4 + room + IEND), before};
    bool good = row && out->data;
    if (good) {
        put_control(out, apng);
        const size_t at = begin_chunk(out, apng->frames == 0 ? "IDAT" : "fdAT");
        if (apng->frames > 0)
            put_32(out, sequence_of(apng->frames) + 1);
        good = put_pixels(out, image, room, row);
        if (good && out->used - at > INT_MAX) {
            free(row);
            return tz_error_set(error, TZ_RANGE, apng->path,
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
                : tz_error_set(error, TZ_MEMORY, apng->path, "not enough memory for a frame");
}

/* ---- Files ----------------------------------------------------------------------------------- */

static tz_status write_at(const tz_apng *apng, const uint8_t *data, size_t bytes, int64_t at,
                          tz_error *error)
{
    size_t done = 0;
    while (done < bytes) {
        const ssize_t wrote =
            pwrite(apng->file, data + done, bytes - done, (off_t)(at + (int64_t)done));
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return tz_error_set_errno(error, wrote < 0 ? errno : ENOSPC, apng->path,
                                      "cannot write the movie");
        done += (size_t)wrote;
    }
    return TZ_OK;
}

static tz_status write_count(const tz_apng *apng, uint32_t frames, tz_error *error)
{
    uint8_t data[ACTL];
    chunks c = {data, 0};
    put_animation(&c, frames);
    return write_at(apng, data, sizeof data, ACTL_AT, error);
}

static tz_apng *allocate(const char *path, double fps)
{
    tz_apng *apng = calloc(1, sizeof *apng);
    if (!apng)
        return NULL;
    snprintf(apng->path, sizeof apng->path, "%s", path);
    apng->file = -1;
    apng->hundredths = (int)lround(fps * DELAY_NUMERATOR);
    return apng;
}

static void release(tz_apng *apng)
{
    if (apng && apng->file >= 0)
        close(apng->file);
    free(apng);
}

tz_status tz_apng_create(tz_apng **out, const char *path, double fps, const tz_image *first,
                         const tz_png_note *texts, size_t text_count, tz_error *error)
{
    size_t before = ACTL_AT + ACTL;
    for (size_t i = 0; i < text_count; i++)
        before += text_bytes(&texts[i]);
    *out = NULL;
    tz_apng *apng = allocate(path, fps);
    if (!apng)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory for a movie");
    apng->width = first->width;
    apng->height = first->height;
    tz_atomic_file *whole = NULL;
    chunks c = {NULL, 0};
    tz_status status = make_frame(apng, first, before, &c, error);
    if (status == TZ_OK)
        status = tz_atomic_open(&whole, path, false, error);
    if (status == TZ_OK) {
        chunks head = {c.data, 0};
        put_head(&head, first);
        put_animation(&head, 1);
        for (size_t i = 0; i < text_count; i++)
            put_text(&head, &texts[i]);
        status = tz_atomic_write(whole, c.data, c.used, error);
        if (status == TZ_OK)
            status = tz_atomic_commit(whole, error);
        else
            tz_atomic_abort(whole);
    }
    free(c.data);
    if (status == TZ_OK && (apng->file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)) < 0)
        status = tz_error_set_errno(error, errno, path, "cannot go on with the movie");
    if (status != TZ_OK) {
        release(apng);
        return status;
    }
    apng->frames = 1;
    apng->end = (int64_t)c.used;
    *out = apng;
    return TZ_OK;
}

/* Read the size, and count the frames of the chunks up to `bytes`, where IEND was. */
static bool read_chunks(tz_apng *apng, int64_t bytes)
{
    uint8_t head[SIGNATURE + 16];
    if (pread(apng->file, head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head, signature, SIGNATURE) != 0)
        return false;
    apng->width = (int)get_32(head + SIGNATURE + 8);
    apng->height = (int)get_32(head + SIGNATURE + 12);
    int64_t at = SIGNATURE;
    while (at < bytes - IEND) {
        if (pread(apng->file, head, 8, (off_t)at) != 8)
            return false;
        apng->frames += memcmp(head + 4, "fcTL", 4) == 0;
        at += AROUND + (int64_t)get_32(head);
    }
    apng->end = bytes;
    return at == bytes - IEND && apng->frames > 0;
}

/* Make it the movie that it was: the number of frames, IEND, nothing after it. */
static tz_status cut(const tz_apng *apng, tz_error *error)
{
    uint8_t data[IEND];
    chunks c = {data, 0};
    end_chunk(&c, begin_chunk(&c, "IEND"));
    tz_status status = write_count(apng, apng->frames, error);
    if (status == TZ_OK)
        status = write_at(apng, data, sizeof data, apng->end - IEND, error);
    if (status == TZ_OK && ftruncate(apng->file, (off_t)apng->end) != 0)
        status = tz_error_set_errno(error, errno, apng->path, "cannot cut the movie");
    return status;
}

tz_status tz_apng_open(tz_apng **out, const char *path, double fps, int64_t bytes, tz_error *error)
{
    struct stat facts;
    tz_status status = TZ_OK;
    *out = NULL;
    tz_apng *apng = allocate(path, fps);
    if (!apng)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory for a movie");
    apng->file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (apng->file < 0 || fstat(apng->file, &facts) != 0)
        status = tz_error_set_errno(error, errno, path, "cannot go on with the movie");
    else if (!S_ISREG(facts.st_mode) || facts.st_size < bytes)
        status = tz_error_set(error, TZ_IO, path,
                              "the movie had %lld bytes when the checkpoint was written, and has "
                              "%lld now: it cannot go on",
                              (long long)bytes, (long long)facts.st_size);
    else if (!read_chunks(apng, bytes))
        status = tz_error_set(error, TZ_FORMAT, path,
                              "this is not the movie that the run wrote before the checkpoint");
    else
        status = cut(apng, error);
    if (status == TZ_OK)
        *out = apng;
    else
        release(apng);
    return status;
}

/* Write the frame behind IEND. Its first chunk's first bytes, which take the place of IEND, then make
 * it part of the file. */
static tz_status append(tz_apng *apng, const chunks *c, tz_error *error)
{
    const int64_t at = apng->end - IEND;
    tz_status status = write_at(apng, c->data + IEND, c->used - IEND, apng->end, error);
    if (status == TZ_OK)
        status = write_at(apng, c->data, IEND, at, error);
    if (status == TZ_OK)
        status = write_count(apng, apng->frames + 1, error);
    if (status != TZ_OK) {
        cut(apng, NULL);
        return status;
    }
    apng->frames++;
    apng->end = at + (int64_t)c->used;
    return TZ_OK;
}

tz_status tz_apng_add(tz_apng *apng, const tz_image *frame, tz_error *error)
{
    if (apng->broken)
        return tz_error_set(error, TZ_IO, apng->path, "the movie could not be written");
    if (frame->width != apng->width || frame->height != apng->height)
        return tz_error_set(error, TZ_SHAPE, apng->path,
                            "a frame has %d x %d pixels, and the movie's first one %d x %d",
                            frame->width, frame->height, apng->width, apng->height);
    chunks c;
    tz_status status = make_frame(apng, frame, 0, &c, error);
    if (status == TZ_OK)
        status = append(apng, &c, error);
    apng->broken = status != TZ_OK;
    free(c.data);
    return status;
}

tz_status tz_apng_sync(tz_apng *apng, int64_t *bytes, tz_error *error)
{
    if (fsync(apng->file) != 0)
        return tz_error_set_errno(error, errno, apng->path, "cannot sync the movie");
    *bytes = apng->end;
    return TZ_OK;
}

tz_status tz_apng_close(tz_apng *apng, tz_error *error)
{
    if (!apng)
        return TZ_OK;
    tz_status status = TZ_OK;
    if (close(apng->file) != 0)
        status = tz_error_set_errno(error, errno, apng->path, "cannot close the movie");
    free(apng);
    return status;
}
