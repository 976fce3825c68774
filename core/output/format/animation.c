/* Movies that grow frame by frame: animated PNG files (W3C, Portable Network Graphics
 * Specification, Third Edition, chunks acTL, fcTL and fdAT), whose first frame programs show that
 * know no animations, and GIF files (CompuServe's GIF89a of 1990), for those that show no animated
 * PNG.
 *
 * A reader finds a complete movie at any time, also after the process was killed: a frame is
 * written behind the end of the file, and only then are the last bytes replaced, which say that
 * there is no more, and in a PNG file the number of frames. A process that is killed between these
 * steps leaves one frame that is not counted. */
#include "base/atomic.h"
#include "base/file.h"
#include "base/text.h"
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

typedef struct growing {
    tz_movie_file base;
    const struct growing_kind *kind;
    char path[PATH_MAX];
    int file;
    int width, height;
    double fps;
    uint32_t frames; /* in the file; of a GIF file that a run goes on with, since then */
    int64_t end;     /* bytes of the file */
    bool broken;     /* a frame failed: nothing more is written */
} growing;

/* What differs between the two. Bytes are added to `out`. */
typedef struct growing_kind {
    const tz_format *format;
    /* The file up to its first frame. */
    void (*head)(const tz_movie_start *start, tz_buffer *out);
    /* The next frame. TZ_RANGE, TZ_MEMORY. */
    tz_status (*frame)(const growing *movie, const tz_image *image, tz_buffer *out,
                       tz_error *error);
    /* The last bytes of a file, of which there are `tail_bytes`. */
    const void *tail;
    int tail_bytes;
    /* Write the number of frames; NULL: the file does not say it. */
    tz_status (*count)(const growing *movie, uint32_t frames, tz_error *error);
    /* Read the extents, and the frames up to the movie's end. False: it is no such movie. */
    bool (*read)(growing *movie);
    int longest; /* pixels of a side */
} growing_kind;

/* ---- Files ----------------------------------------------------------------------------------- */

static tz_status write_at(const growing *movie, const void *data, size_t bytes, int64_t at,
                          tz_error *error)
{
    return tz_file_put(movie->file, data, bytes, at) == bytes
               ? TZ_OK
               : tz_error_set_errno(error, errno, movie->path, "cannot write the movie");
}

static growing *allocate(const growing_kind *kind, const char *path, double fps)
{
    growing *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    snprintf(made->path, sizeof made->path, "%s", path);
    made->base.format = kind->format;
    made->kind = kind;
    made->file = -1;
    made->fps = fps;
    return made;
}

/* The movie to the caller, or an end to it. */
static tz_status give(growing *movie, tz_status status, tz_movie_file **out)
{
    *out = status == TZ_OK ? &movie->base : NULL;
    if (status != TZ_OK && movie && movie->file >= 0)
        close(movie->file);
    if (status != TZ_OK)
        free(movie);
    return status;
}

/* A frame and the end of the file, behind what `out` has. */
static tz_status make_frame(const growing *movie, const tz_image *image, tz_buffer *out,
                            tz_error *error)
{
    const tz_status status = movie->kind->frame(movie, image, out, error);
    tz_buffer_put(out, movie->kind->tail, (size_t)movie->kind->tail_bytes);
    return status == TZ_OK && out->failed
               ? tz_error_set(error, TZ_MEMORY, movie->path, "not enough memory for a frame")
               : status;
}

static tz_status film_kind(const growing_kind *kind, tz_movie_file **out,
                           const tz_movie_start *start, tz_error *error)
{
    const char *path = start->path;
    tz_buffer whole = {NULL};
    growing *movie = allocate(kind, path, start->fps);
    if (!movie)
        return give(movie, tz_error_set(error, TZ_MEMORY, path, "not enough memory for a movie"),
                    out);
    movie->width = start->first->width;
    movie->height = start->first->height;
    if (movie->width > kind->longest || movie->height > kind->longest)
        return give(movie,
                    tz_error_set(error, TZ_RANGE, path, "a GIF file has at most %d pixels a side",
                                 kind->longest),
                    out);
    kind->head(start, &whole);
    tz_status status = make_frame(movie, start->first, &whole, error);
    if (status == TZ_OK)
        status = tz_atomic_save(path, false, whole.text, whole.length, error);
    if (status == TZ_OK && (movie->file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)) < 0)
        status = tz_error_set_errno(error, errno, path, "cannot go on with the movie");
    movie->frames = 1;
    movie->end = (int64_t)whole.length;
    free(whole.text);
    return give(movie, status, out);
}

/* Make it the movie that it was: the number of frames, its last bytes, nothing after them. */
static tz_status cut(const growing *movie, tz_error *error)
{
    const growing_kind *kind = movie->kind;
    tz_status status = kind->count ? kind->count(movie, movie->frames, error) : TZ_OK;
    if (status == TZ_OK)
        status = write_at(movie, kind->tail, (size_t)kind->tail_bytes,
                          movie->end - kind->tail_bytes, error);
    if (status == TZ_OK && ftruncate(movie->file, (off_t)movie->end) != 0)
        status = tz_error_set_errno(error, errno, movie->path, "cannot cut the movie");
    return status;
}

/* Cut the file to its first `bytes`. TZ_IO: it is missing or shorter; TZ_FORMAT: it is not that
 * movie. */
static tz_status go_on_kind(const growing_kind *kind, tz_movie_file **out, const char *path,
                            double fps, int64_t bytes, tz_error *error)
{
    growing *movie = allocate(kind, path, fps);
    if (!movie)
        return give(movie, tz_error_set(error, TZ_MEMORY, path, "not enough memory for a movie"),
                    out);
    movie->end = bytes;
    tz_status status = tz_file_go_on(path, "movie", bytes, &movie->file, error);
    if (status == TZ_OK && !kind->read(movie))
        status = tz_error_set(error, TZ_FORMAT, path,
                              "this is not the movie that the run wrote before the checkpoint");
    if (status == TZ_OK)
        status = cut(movie, error);
    return give(movie, status, out);
}

/* Write the frame behind the last bytes. Its first bytes, which take the place of those, then make
 * it part of the file. */
static tz_status append(growing *movie, const tz_buffer *frame, tz_error *error)
{
    const growing_kind *kind = movie->kind;
    const size_t first = (size_t)kind->tail_bytes;
    const int64_t at = movie->end - kind->tail_bytes;
    tz_status status =
        write_at(movie, frame->text + first, frame->length - first, movie->end, error);
    if (status == TZ_OK)
        status = write_at(movie, frame->text, first, at, error);
    if (status == TZ_OK && kind->count)
        status = kind->count(movie, movie->frames + 1, error);
    if (status != TZ_OK) {
        cut(movie, NULL);
        return status;
    }
    movie->frames++;
    movie->end = at + (int64_t)frame->length;
    return TZ_OK;
}

/* After an error the file keeps the frames before, and no more can be added. */
static tz_status add(tz_movie_file *file, const tz_image *frame, tz_error *error)
{
    growing *movie = (struct growing *)file;
    if (movie->broken)
        return tz_error_set(error, TZ_IO, movie->path, "the movie could not be written");
    if (frame->width != movie->width || frame->height != movie->height)
        return tz_error_set(error, TZ_SHAPE, movie->path,
                            "a frame has %d x %d pixels, and the movie's first one %d x %d",
                            frame->width, frame->height, movie->width, movie->height);
    tz_buffer made = {NULL};
    tz_status status = make_frame(movie, frame, &made, error);
    if (status == TZ_OK)
        status = append(movie, &made, error);
    movie->broken = status != TZ_OK;
    free(made.text);
    return status;
}

static tz_status sync_file(tz_movie_file *file, int64_t *bytes, tz_error *error)
{
    const growing *movie = (const struct growing *)file;
    if (fsync(movie->file) != 0)
        return tz_error_set_errno(error, errno, movie->path, "cannot sync the movie");
    *bytes = movie->end;
    return TZ_OK;
}

static tz_status end(tz_movie_file *file, tz_error *error)
{
    growing *movie = (struct growing *)file;
    tz_status status = TZ_OK;
    if (close(movie->file) != 0)
        status = tz_error_set_errno(error, errno, movie->path, "cannot close the movie");
    free(movie);
    return status;
}

/* ---- Animated PNG: chunks -------------------------------------------------------------------- */

/* Bytes of chunks and of their parts. A chunk is its length, type, data and checksum. */
enum {
    SIGNATURE = 8,
    AROUND = 12, /* a chunk's bytes besides its data */
    ACTL_AT = SIGNATURE + AROUND + 13,
    DELAY_NUMERATOR = 100, /* a frame takes 100 / (100 fps) seconds */
    LEVEL = 3              /* of zlib: the same as for pictures with many colours */
};

static const uint8_t signature[SIGNATURE] = {137, 'P', 'N', 'G', 13, 10, 26, 10};
static const char iend[] = "\0\0\0\0IEND\xae\x42\x60\x82";

static void store_32(void *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        ((uint8_t *)to)[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void put_32(tz_buffer *out, uint32_t value)
{
    uint8_t bytes[4];
    store_32(bytes, value);
    tz_buffer_put(out, bytes, sizeof bytes);
}

static uint32_t get_32(const uint8_t *data)
{
    return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

/* Begin a chunk; returns its place. */
static size_t begin_chunk(tz_buffer *out, const char type[4])
{
    const size_t at = out->length;
    put_32(out, 0);
    tz_buffer_put(out, type, 4);
    return at;
}

static void end_chunk(tz_buffer *out, size_t at)
{
    if (out->failed)
        return;
    const size_t bytes = out->length - at - 8;
    store_32(out->text + at, (uint32_t)bytes);
    put_32(out, (uint32_t)crc32_z(0, (const uint8_t *)out->text + at + 4, bytes + 4));
}

static void put_animation(tz_buffer *out, uint32_t frames)
{
    const size_t at = begin_chunk(out, "acTL");
    put_32(out, frames);
    put_32(out, 0); /* repeats without end */
    end_chunk(out, at);
}

/* The extents, the animation, the colour of pixels that are left out in all frames, texts. */
static void png_head(const tz_movie_start *start, tz_buffer *out)
{
    static const uint8_t clear[3] = TZ_IMAGE_CLEAR;
    tz_buffer_put(out, signature, SIGNATURE);
    size_t at = begin_chunk(out, "IHDR");
    put_32(out, (uint32_t)start->first->width);
    put_32(out, (uint32_t)start->first->height);
    tz_buffer_put(out, "\10\2\0\0\0", 5); /* RGB, 8 bits */
    end_chunk(out, at);
    put_animation(out, 1);
    if (start->first->clear) {
        at = begin_chunk(out, "tRNS");
        tz_buffer_put(out, (uint8_t[]){0, clear[0], 0, clear[1], 0, clear[2]}, 6);
        end_chunk(out, at);
    }
    for (size_t i = 0; i < start->notes_count; i++) {
        const tz_image_note *text = &start->notes[i];
        at = begin_chunk(out, "iTXt");
        tz_buffer_put(out, text->key, strlen(text->key) + 1);
        tz_buffer_put(out, "\0\0\0\0", 4); /* not compressed, no language */
        tz_buffer_put(out, text->value, strlen(text->value));
        end_chunk(out, at);
    }
}

/* Frame 0 has number 0; each other one has a number for its fcTL and one for its fdAT. */
static uint32_t sequence_of(uint32_t frame)
{
    return frame == 0 ? 0 : 2 * frame - 1;
}

static void put_control(tz_buffer *out, const growing *movie)
{
    const size_t at = begin_chunk(out, "fcTL");
    put_32(out, sequence_of(movie->frames));
    put_32(out, (uint32_t)movie->width);
    put_32(out, (uint32_t)movie->height);
    put_32(out, 0); /* x */
    put_32(out, 0); /* y */
    put_32(out, (uint32_t)DELAY_NUMERATOR << 16 | (uint32_t)lround(movie->fps * DELAY_NUMERATOR));
    tz_buffer_put(out, "\0\0", 2); /* it stays, and the next one replaces it */
    end_chunk(out, at);
}

/* Append the picture, compressed, without a filter: colours repeat pixel by pixel. */
static void put_pixels(tz_buffer *out, const tz_image *image)
{
    const size_t line = 3 * (size_t)image->width + 1, bytes = line * (size_t)image->height;
    uLong packed = compressBound((uLong)bytes);
    uint8_t *rows = malloc(bytes), *small = malloc(packed);
    for (int y = 0; rows && y < image->height; y++) {
        rows[(size_t)y * line] = 0;
        tz_image_row(image, y, rows + (size_t)y * line + 1);
    }
    if (rows && small && compress2(small, &packed, rows, (uLong)bytes, LEVEL) == Z_OK)
        tz_buffer_put(out, small, packed);
    else
        out->failed = true;
    free(rows);
    free(small);
}

static tz_status png_frame(const growing *movie, const tz_image *image, tz_buffer *out,
                           tz_error *error)
{
    put_control(out, movie);
    const size_t at = begin_chunk(out, movie->frames == 0 ? "IDAT" : "fdAT");
    if (movie->frames > 0)
        put_32(out, sequence_of(movie->frames) + 1);
    put_pixels(out, image);
    if (out->length - at > INT_MAX)
        return tz_error_set(error, TZ_RANGE, movie->path,
                            "a frame of %d x %d pixels is too large for a PNG file", image->width,
                            image->height);
    end_chunk(out, at);
    return TZ_OK;
}

static tz_status png_count(const growing *movie, uint32_t frames, tz_error *error)
{
    tz_buffer chunk = {NULL};
    put_animation(&chunk, frames);
    const tz_status status =
        chunk.failed ? tz_error_set(error, TZ_MEMORY, movie->path, "not enough memory for a frame")
                     : write_at(movie, chunk.text, chunk.length, ACTL_AT, error);
    free(chunk.text);
    return status;
}

/* The frames are counted: the file may have one more than it says. */
static bool png_read(growing *movie)
{
    const int64_t last = movie->end - AROUND;
    uint8_t head[SIGNATURE + 16];
    if (pread(movie->file, head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head, signature, SIGNATURE) != 0)
        return false;
    movie->width = (int)get_32(head + SIGNATURE + 8);
    movie->height = (int)get_32(head + SIGNATURE + 12);
    int64_t at = SIGNATURE;
    while (at < last) {
        if (pread(movie->file, head, 8, (off_t)at) != 8)
            return false;
        movie->frames += memcmp(head + 4, "fcTL", 4) == 0;
        at += AROUND + (int64_t)get_32(head);
    }
    return at == last && movie->frames > 0;
}

static const growing_kind png = {&tz_format_movie, png_head,  png_frame, iend,
                                 AROUND,           png_count, png_read,  INT_MAX};

static tz_status film_png(tz_movie_file **out, const tz_movie_start *start, tz_error *error)
{
    return film_kind(&png, out, start, error);
}

static tz_status go_on_png(tz_movie_file **out, const char *path, double fps, int64_t bytes,
                           tz_error *error)
{
    return go_on_kind(&png, out, path, fps, bytes, error);
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
    .film = film_png,
    .film_add = add,
    .film_end = end,
    .film_sync = sync_file,
    .film_go_on = go_on_png,
};

/* ---- GIF ------------------------------------------------------------------------------------- */

/* A frame has 256 colours of its own: where a picture has more, those that are close become one. */
enum {
    COLOURS = 256,
    FOUND = 4096, /* colours of a picture before some become one */
    SLOTS = 4 * FOUND,
    CODES = 4096,
    CLEAR = COLOURS, /* codes that mean no colours */
    END,
    FIRST,
    HEAD = 13,
    TRAILER = 0x3b,
    LONGEST = 65535 /* pixels of a side */
};

static void put_byte(tz_buffer *out, int value)
{
    const uint8_t byte = (uint8_t)value;
    tz_buffer_put(out, &byte, 1);
}

static void put_16(tz_buffer *out, int value)
{
    put_byte(out, value & 255);
    put_byte(out, value >> 8);
}

/* ---- GIF: colours ---------------------------------------------------------------------------- */

typedef struct colour {
    uint32_t key;
    uint64_t sums[3], pixels;
    int place; /* in the order in which they were found */
} colour;

/* The colours of a picture; those whose components agree but for their last `shift` bits are one.
 */
typedef struct colours {
    int shift, count;
    int16_t slots[SLOTS]; /* -1: free */
    colour found[FOUND];
    uint8_t palette[COLOURS][3];
    uint8_t nearest[FOUND]; /* in the palette */
} colours;

/* The place of a colour, which becomes a new one if there is room; -1: there is none. */
static int find_colour(colours *c, const uint8_t rgb[3])
{
    const uint32_t key = (uint32_t)(rgb[0] >> c->shift) << 16 |
                         (uint32_t)(rgb[1] >> c->shift) << 8 | (uint32_t)(rgb[2] >> c->shift);
    uint32_t slot = (key * 2654435761u >> 16) % SLOTS;
    while (c->slots[slot] >= 0 && c->found[c->slots[slot]].key != key)
        slot = (slot + 1) % SLOTS;
    if (c->slots[slot] < 0) {
        if (c->count == FOUND)
            return -1;
        c->found[c->count] = (colour){.key = key, .place = c->count};
        c->slots[slot] = (int16_t)c->count++;
    }
    return c->slots[slot];
}

/* Find the colours of all pixels, with as few bits less as it needs. `row`: room for a line. */
static void find_colours(colours *c, const tz_image *image, uint8_t *row, uint16_t *out)
{
    bool fits = false;
    for (int shift = 0; !fits; shift++) {
        memset(c->slots, 0xff, sizeof c->slots);
        c->shift = shift;
        c->count = 0;
        fits = true;
        for (int y = 0; y < image->height && fits; y++) {
            tz_image_row(image, y, row);
            for (int x = 0; x < image->width && fits; x++) {
                const uint8_t *rgb = row + 3 * x;
                const int k = find_colour(c, rgb);
                fits = k >= 0;
                if (!fits)
                    break;
                for (int i = 0; i < 3; i++)
                    c->found[k].sums[i] += rgb[i];
                c->found[k].pixels++;
                out[(size_t)y * (size_t)image->width + (size_t)x] = (uint16_t)k;
            }
        }
    }
}

/* The colours of most pixels first. */
static int compare_colours(const void *a, const void *b)
{
    const colour *x = a, *y = b;
    return x->pixels != y->pixels ? (x->pixels < y->pixels ? 1 : -1) : x->place - y->place;
}

/* The palette: the means of the colours that most pixels have. The others take the nearest. */
static void choose_palette(colours *c)
{
    const int kept = c->count < COLOURS ? c->count : COLOURS;
    qsort(c->found, (size_t)c->count, sizeof *c->found, compare_colours);
    memset(c->palette, 0, sizeof c->palette);
    for (int k = 0; k < c->count; k++) {
        const colour *one = &c->found[k];
        int mean[3], best = k;
        for (int i = 0; i < 3; i++)
            mean[i] = (int)((one->sums[i] + one->pixels / 2) / one->pixels);
        for (int i = 0; i < 3 && k < kept; i++)
            c->palette[k][i] = (uint8_t)mean[i];
        for (int j = 0, least = INT_MAX; j < kept && k >= kept; j++) {
            int distance = 0;
            for (int i = 0; i < 3; i++)
                distance += (mean[i] - c->palette[j][i]) * (mean[i] - c->palette[j][i]);
            if (distance < least) {
                least = distance;
                best = j;
            }
        }
        c->nearest[one->place] = (uint8_t)best;
    }
}

/* The colour of the palette that is left out; -1: it is not there. */
static int clear_colour(const colours *c, const tz_image *image)
{
    static const uint8_t clear[3] = TZ_IMAGE_CLEAR;
    for (int k = 0; k < COLOURS && image->clear && c->shift == 0; k++)
        if (memcmp(c->palette[k], clear, 3) == 0)
            return k;
    return -1;
}

/* ---- GIF: compression by LZW, codes of 9 to 12 bits ------------------------------------------ */

typedef struct packer {
    tz_buffer *out;
    uint8_t block[256]; /* its length, then its bytes */
    uint32_t bits;      /* that wait, lowest first */
    int waiting;
} packer;

static void put_block(packer *p)
{
    if (p->block[0] > 0)
        tz_buffer_put(p->out, p->block, 1 + (size_t)p->block[0]);
    p->block[0] = 0;
}

static void put_code(packer *p, int code, int width)
{
    p->bits |= (uint32_t)code << p->waiting;
    p->waiting += width;
    for (; p->waiting >= 8; p->waiting -= 8, p->bits >>= 8) {
        p->block[++p->block[0]] = (uint8_t)p->bits;
        if (p->block[0] == 255)
            put_block(p);
    }
}

/* `next`: the code of each code with one more pixel; 0: there is none. */
static void compress_pixels(tz_buffer *out, const uint16_t *pixels, size_t count,
                            const uint8_t *nearest, uint16_t (*next)[COLOURS])
{
    packer p = {.out = out};
    int width = 9, made = FIRST, code = nearest[pixels[0]];
    put_byte(out, 8); /* bits of a pixel */
    put_code(&p, CLEAR, width);
    memset(next, 0, COLOURS * sizeof *next);
    for (size_t i = 1; i < count; i++) {
        const int pixel = nearest[pixels[i]];
        if (next[code][pixel]) {
            code = next[code][pixel];
            continue;
        }
        put_code(&p, code, width);
        if (made == CODES) {
            put_code(&p, CLEAR, width);
            memset(next, 0, COLOURS * sizeof *next);
            width = 9;
            made = FIRST;
        } else {
            width += made == 1 << width;
            memset(next[made], 0, sizeof *next);
            next[code][pixel] = (uint16_t)made++;
        }
        code = pixel;
    }
    put_code(&p, code, width);
    put_code(&p, END, width + (made == 1 << width && width < 12));
    put_code(&p, 0, 7);
    put_block(&p);
    put_byte(out, 0);
}

/* ---- GIF: files ------------------------------------------------------------------------------ */

static tz_status gif_frame(const growing *movie, const tz_image *image, tz_buffer *out,
                           tz_error *error)
{
    const size_t count = (size_t)image->width * (size_t)image->height;
    colours *c = malloc(sizeof *c);
    uint8_t *row = malloc(3 * (size_t)image->width);
    uint16_t *pixels = malloc(count * sizeof *pixels),
             (*next)[COLOURS] = malloc(CODES * sizeof *next);
    (void)error;
    if (c && row && pixels && next) {
        find_colours(c, image, row, pixels);
        choose_palette(c);
        const int clear = clear_colour(c, image);
        tz_buffer_put(out, "\x21\xf9\x04", 3); /* how it is shown: kept, or taken away again */
        put_byte(out, (image->clear ? 2 : 1) << 2 | (clear >= 0));
        put_16(out, (int)fmax(2, round(100 / movie->fps))); /* players take less for a mistake */
        put_byte(out, clear >= 0 ? clear : 0);
        put_byte(out, 0);
        tz_buffer_put(out, "\x2c\0\0\0\0", 5); /* a picture at 0, 0 */
        put_16(out, image->width);
        put_16(out, image->height);
        put_byte(out, 0x87); /* 256 colours of its own */
        tz_buffer_put(out, c->palette, sizeof c->palette);
        compress_pixels(out, pixels, count, c->nearest, next);
    } else {
        out->failed = true;
    }
    free(next);
    free(pixels);
    free(row);
    free(c);
    return TZ_OK;
}

/* The size, that frames repeat, and the texts. */
static void gif_head(const tz_movie_start *start, tz_buffer *out)
{
    tz_buffer_put(out, "GIF89a", 6);
    put_16(out, start->first->width);
    put_16(out, start->first->height);
    tz_buffer_put(out, "\x70\0\0", 3);
    tz_buffer_put(out, "\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0", 19);
    for (size_t i = 0; i < start->notes_count; i++) {
        char text[256];
        const int length =
            snprintf(text, sizeof text, "%s: %s\n", start->notes[i].key, start->notes[i].value);
        const size_t kept = length < 255 ? (size_t)length : 255;
        tz_buffer_put(out, "\x21\xfe", 2);
        put_byte(out, (int)kept);
        tz_buffer_put(out, text, kept);
        put_byte(out, 0);
    }
}

static bool gif_read(growing *movie)
{
    uint8_t head[HEAD];
    if (movie->end <= HEAD || pread(movie->file, head, HEAD, 0) != HEAD ||
        memcmp(head, "GIF89a", 6) != 0)
        return false;
    movie->width = head[6] | head[7] << 8;
    movie->height = head[8] | head[9] << 8;
    return true;
}

static const uint8_t trailer = TRAILER;
static const growing_kind gif = {&tz_format_gif, gif_head, gif_frame, &trailer, 1,
                                 NULL,           gif_read, LONGEST};

static tz_status film_gif(tz_movie_file **out, const tz_movie_start *start, tz_error *error)
{
    return film_kind(&gif, out, start, error);
}

static tz_status go_on_gif(tz_movie_file **out, const char *path, double fps, int64_t bytes,
                           tz_error *error)
{
    return go_on_kind(&gif, out, path, fps, bytes, error);
}

/* ---- GIF: reading ---------------------------------------------------------------------------- */

static tz_status check_whole(const char *path, size_t *size, tz_error *error)
{
    FILE *stream;
    tz_status status = tz_file_stream(path, &stream, size, error);
    if (status != TZ_OK)
        return status;
    if (fseeko(stream, -1, SEEK_END) != 0 || fgetc(stream) != TRAILER)
        status = tz_error_set(error, TZ_FORMAT, path, "is a GIF file without its end");
    fclose(stream);
    return status;
}

/* Skip blocks up to an empty one; the bytes of the last block but that are in `text`. */
static bool skip_blocks(FILE *stream, char text[256])
{
    for (int length; (length = fgetc(stream)) != 0;)
        if (length == EOF || fread(text, 1, (size_t)length, stream) != (size_t)length)
            return false;
        else
            text[length] = '\0';
    return true;
}

static tz_status put_info(const char *path, tz_facts *out, tz_error *error)
{
    FILE *stream;
    size_t size;
    uint8_t head[HEAD], picture[9];
    char text[256] = "";
    unsigned frames = 0;
    tz_status status = tz_file_stream(path, &stream, &size, error);
    if (status != TZ_OK)
        return status;
    bool good = fread(head, 1, HEAD, stream) == HEAD &&
                fseeko(stream, head[10] & 128 ? 6 << (head[10] & 7) : 0, SEEK_CUR) == 0;
    if (good) {
        tz_facts_part(out, 0, "%s", path);
        tz_fact_text(out, "movie", "GIF, %d x %d pixels", head[6] | head[7] << 8,
                     head[8] | head[9] << 8);
    }
    for (int kind; good && (kind = fgetc(stream)) != TRAILER;) {
        const int label = kind == 0x21 ? fgetc(stream) : 0;
        good = label != EOF && (kind == 0x21 || kind == 0x2c);
        if (good && kind == 0x2c)
            good =
                fread(picture, 1, sizeof picture, stream) == sizeof picture &&
                fseeko(stream, (picture[8] & 128 ? 6 << (picture[8] & 7) : 0) + 1, SEEK_CUR) == 0;
        frames += good && kind == 0x2c;
        good = good && skip_blocks(stream, text);
        char *value = good && label == 0xfe ? strstr(text, ": ") : NULL;
        if (value) {
            *value = '\0';
            value[strcspn(value + 1, "\n") + 1] = '\0';
            tz_text_printable(text);
            tz_text_printable(value + 2);
            tz_fact_text(out, text, "%s", value + 2);
        }
    }
    fclose(stream);
    if (!good)
        return tz_error_set(error, TZ_FORMAT, path, "is a GIF file without its end");
    tz_fact_text(out, "frames", "%u", frames);
    return TZ_OK;
}

const tz_format tz_format_gif = {
    .name = "movie",
    .content = TZ_CONTENT_MOVIE,
    .suffix = ".gif",
    .whole = check_whole,
    .info = put_info,
    .film = film_gif,
    .film_add = add,
    .film_end = end,
    .film_sync = sync_file,
    .film_go_on = go_on_gif,
};
