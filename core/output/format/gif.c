/* Movies as GIF files, by CompuServe's specification of 1990 (GIF89a), for programs that show no
 * animated PNG. A frame has 256 colours of its own: where a picture has more, those that are close
 * become one. The file is complete after each frame, as that of apng.c is. */
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

typedef struct gif {
    tz_movie_file base;
    char path[PATH_MAX];
    int file;
    int width, height;
    int delay;   /* of a frame, in hundredths of a second */
    int64_t end; /* bytes of the file, with the trailer */
    bool broken; /* a frame failed: nothing more is written */
} gif;

/* Bytes that grow. */
typedef struct bytes {
    uint8_t *data;
    size_t used, room;
    bool failed; /* no memory */
} bytes;

static void put(bytes *b, const void *data, size_t count)
{
    if (b->room - b->used < count && !b->failed) {
        const size_t room = 2 * b->room + count;
        uint8_t *grown = realloc(b->data, room);
        b->failed = !grown;
        b->data = grown ? grown : b->data;
        b->room = grown ? room : b->room;
    }
    if (b->failed)
        return;
    memcpy(b->data + b->used, data, count);
    b->used += count;
}

static void put_byte(bytes *b, int value)
{
    const uint8_t byte = (uint8_t)value;
    put(b, &byte, 1);
}

static void put_16(bytes *b, int value)
{
    put_byte(b, value & 255);
    put_byte(b, value >> 8);
}

/* ---- Colours --------------------------------------------------------------------------------- */

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

/* ---- Compression: LZW, codes of 9 to 12 bits ------------------------------------------------- */

typedef struct packer {
    bytes *out;
    uint8_t block[256]; /* its length, then its bytes */
    uint32_t bits;      /* that wait, lowest first */
    int waiting;
} packer;

static void put_block(packer *p)
{
    if (p->block[0] > 0)
        put(p->out, p->block, 1 + (size_t)p->block[0]);
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
static void compress_pixels(bytes *out, const uint16_t *pixels, size_t count,
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

/* ---- Frames ---------------------------------------------------------------------------------- */

/* A frame and the trailer, behind what `out` has. TZ_MEMORY. */
static tz_status make_frame(const gif *movie, const tz_image *image, bytes *out, tz_error *error)
{
    const size_t count = (size_t)image->width * (size_t)image->height;
    colours *c = malloc(sizeof *c);
    uint8_t *row = malloc(3 * (size_t)image->width);
    uint16_t *pixels = malloc(count * sizeof *pixels),
             (*next)[COLOURS] = malloc(CODES * sizeof *next);
    if (c && row && pixels && next) {
        find_colours(c, image, row, pixels);
        choose_palette(c);
        const int clear = clear_colour(c, image);
        put(out, "\x21\xf9\x04", 3); /* how the frame is shown: kept, or taken away again */
        put_byte(out, (image->clear ? 2 : 1) << 2 | (clear >= 0));
        put_16(out, movie->delay);
        put_byte(out, clear >= 0 ? clear : 0);
        put_byte(out, 0);
        put(out, "\x2c\0\0\0\0", 5); /* a picture at 0, 0 */
        put_16(out, image->width);
        put_16(out, image->height);
        put_byte(out, 0x87); /* 256 colours of its own */
        put(out, c->palette, sizeof c->palette);
        compress_pixels(out, pixels, count, c->nearest, next);
        put_byte(out, TRAILER);
    } else {
        out->failed = true;
    }
    free(next);
    free(pixels);
    free(row);
    free(c);
    return out->failed
               ? tz_error_set(error, TZ_MEMORY, movie->path, "not enough memory for a frame")
               : TZ_OK;
}

/* What is before the frames: the size, that they repeat, and the texts. */
static void put_head(bytes *out, const tz_movie_start *start)
{
    put(out, "GIF89a", 6);
    put_16(out, start->first->width);
    put_16(out, start->first->height);
    put(out, "\x70\0\0", 3);
    put(out, "\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0", 19);
    for (size_t i = 0; i < start->notes_count; i++) {
        char text[256];
        const int length =
            snprintf(text, sizeof text, "%s: %s\n", start->notes[i].key, start->notes[i].value);
        const size_t bytes_kept = length < 255 ? (size_t)length : 255;
        put(out, "\x21\xfe", 2);
        put_byte(out, (int)bytes_kept);
        put(out, text, bytes_kept);
        put_byte(out, 0);
    }
}

/* ---- Files ----------------------------------------------------------------------------------- */

static gif *allocate(const char *path, double fps)
{
    gif *movie = calloc(1, sizeof *movie);
    if (!movie)
        return NULL;
    snprintf(movie->path, sizeof movie->path, "%s", path);
    movie->base.format = &tz_format_gif;
    movie->file = -1;
    movie->delay = (int)fmax(2, round(100 / fps)); /* players take less for a mistake */
    return movie;
}

static void release(gif *movie)
{
    if (movie && movie->file >= 0)
        close(movie->file);
    free(movie);
}

static tz_status film(tz_movie_file **out, const tz_movie_start *start, tz_error *error)
{
    const char *path = start->path;
    *out = NULL;
    if (start->first->width > LONGEST || start->first->height > LONGEST)
        return tz_error_set(error, TZ_RANGE, path, "a GIF file has at most %d pixels a side",
                            LONGEST);
    gif *movie = allocate(path, start->fps);
    if (!movie)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory for a movie");
    movie->width = start->first->width;
    movie->height = start->first->height;
    bytes b = {0};
    put_head(&b, start);
    tz_status status = make_frame(movie, start->first, &b, error);
    if (status == TZ_OK)
        status = tz_atomic_save(path, false, b.data, b.used, error);
    free(b.data);
    if (status == TZ_OK && (movie->file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)) < 0)
        status = tz_error_set_errno(error, errno, path, "cannot go on with the movie");
    movie->end = (int64_t)b.used;
    if (status == TZ_OK)
        *out = &movie->base;
    else
        release(movie);
    return status;
}

/* Write the frame behind the trailer, and then its first byte in the trailer's place. */
static tz_status append(gif *movie, const bytes *b, tz_error *error)
{
    const size_t rest = b->used - 1;
    if (tz_file_put(movie->file, b->data + 1, rest, movie->end) != rest ||
        tz_file_put(movie->file, b->data, 1, movie->end - 1) != 1) {
        const tz_status status =
            tz_error_set_errno(error, errno, movie->path, "cannot write the movie");
        const uint8_t trailer = TRAILER;
        if (tz_file_put(movie->file, &trailer, 1, movie->end - 1) != 1 ||
            ftruncate(movie->file, (off_t)movie->end) != 0)
            movie->broken = true; /* as it is already: nothing can be done */
        return status;
    }
    movie->end += (int64_t)rest;
    return TZ_OK;
}

/* After an error the file keeps the frames before, and no more can be added. */
static tz_status add(tz_movie_file *file, const tz_image *frame, tz_error *error)
{
    gif *movie = (gif *)file;
    bytes b = {0};
    if (movie->broken)
        return tz_error_set(error, TZ_IO, movie->path, "the movie could not be written");
    if (frame->width != movie->width || frame->height != movie->height)
        return tz_error_set(error, TZ_SHAPE, movie->path,
                            "a frame has %d x %d pixels, and the movie's first one %d x %d",
                            frame->width, frame->height, movie->width, movie->height);
    tz_status status = make_frame(movie, frame, &b, error);
    if (status == TZ_OK)
        status = append(movie, &b, error);
    movie->broken = status != TZ_OK;
    free(b.data);
    return status;
}

static tz_status sync_file(tz_movie_file *file, int64_t *size, tz_error *error)
{
    const gif *movie = (const gif *)file;
    if (fsync(movie->file) != 0)
        return tz_error_set_errno(error, errno, movie->path, "cannot sync the movie");
    *size = movie->end;
    return TZ_OK;
}

/* Cut the file to its first `size` bytes, the last of which becomes the trailer. */
static tz_status go_on(tz_movie_file **out, const char *path, double fps, int64_t size,
                       tz_error *error)
{
    uint8_t head[HEAD];
    const uint8_t trailer = TRAILER;
    *out = NULL;
    gif *movie = allocate(path, fps);
    if (!movie)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory for a movie");
    tz_status status = tz_file_go_on(path, "movie", size, &movie->file, error);
    if (status == TZ_OK && (size <= HEAD || pread(movie->file, head, HEAD, 0) != HEAD ||
                            memcmp(head, "GIF89a", 6) != 0))
        status = tz_error_set(error, TZ_FORMAT, path,
                              "this is not the movie that the run wrote before the checkpoint");
    else if (status == TZ_OK && (tz_file_put(movie->file, &trailer, 1, size - 1) != 1 ||
                                 ftruncate(movie->file, (off_t)size) != 0))
        status = tz_error_set_errno(error, errno, path, "cannot cut the movie");
    if (status == TZ_OK) {
        movie->width = head[6] | head[7] << 8;
        movie->height = head[8] | head[9] << 8;
        movie->end = size;
        *out = &movie->base;
    } else {
        release(movie);
    }
    return status;
}

static tz_status end(tz_movie_file *file, tz_error *error)
{
    gif *movie = (gif *)file;
    tz_status status = TZ_OK;
    if (close(movie->file) != 0)
        status = tz_error_set_errno(error, errno, movie->path, "cannot close the movie");
    free(movie);
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

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
    .film = film,
    .film_add = add,
    .film_end = end,
    .film_sync = sync_file,
    .film_go_on = go_on,
};
