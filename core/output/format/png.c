/* PNG pictures: their facts, reading and writing them. */
#include "output/format/png.h"

#include "base/atomic.h"
#include "base/file.h"
#include "base/number.h"
#include "base/paths.h"
#include "base/process.h"
#include "base/text.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
    TEXT_MAX_BYTES = 1 << 24,
    DEFLATE_MAX_RATIO = 1032, /* a picture that states more pixels is corrupt */
    LEVEL_DEFAULT = 3,
    LEVEL_GRAY16 = 2,
    LEVEL_INDEXED = 1,
    KEY_MAX = 79,
    TABLE_SIZE = 1024
};

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct reader {
    jmp_buf jump;
    FILE *stream;
    const char *path;
    tz_error *error;
    tz_status status;
    png_structp png;
    png_infop info;
    png_bytep pixels;
    png_bytepp rows;
    int64_t file_bytes;
    int64_t width, height;
    int channels, depth;
    tz_png_facts *facts; /* NULL: the pixels are wanted */
} reader;

static void on_read_error(png_structp png, png_const_charp message)
{
    reader *r = png_get_error_ptr(png);
    if (r->status == TZ_OK)
        r->status = tz_error_set(r->error, TZ_FORMAT, r->path, "corrupt PNG: %s", message);
    longjmp(r->jump, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png, (void)message;
}

static void on_read(png_structp png, png_bytep data, size_t bytes)
{
    reader *r = png_get_io_ptr(png);
    if (fread(data, 1, bytes, r->stream) == bytes)
        return;
    r->status = ferror(r->stream)
                    ? tz_error_set(r->error, TZ_IO, r->path, "cannot read")
                    : tz_error_set(r->error, TZ_FORMAT, r->path,
                                   "truncated: the PNG ends at byte %" PRId64, r->file_bytes);
    png_error(png, "read");
}

static void fail(reader *r, tz_status status)
{
    r->status = status;
    longjmp(r->jump, 1);
}

/* A chunk that libpng does not read: those of animations, and pixels that nobody wants. */
static int take_chunk(png_structp png, png_unknown_chunkp chunk)
{
    tz_png_facts *facts = png_get_user_chunk_ptr(png);
    if (memcmp(chunk->name, "acTL", 4) == 0 && chunk->size == 8)
        facts->frames = png_get_uint_32(chunk->data);
    return 1;
}

static void skip_pixels(reader *r)
{
    png_set_benign_errors(r->png, 1);
    png_set_keep_unknown_chunks(r->png, PNG_HANDLE_CHUNK_NEVER, (png_const_bytep) "IDAT", 1);
    png_set_read_user_chunk_fn(r->png, r->facts, take_chunk);
    png_set_chunk_malloc_max(r->png, (png_alloc_size_t)r->file_bytes + TEXT_MAX_BYTES);
    png_set_chunk_cache_max(r->png, 0);
}

static void decode_header(reader *r)
{
    r->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, r, on_read_error, on_warning);
    r->info = r->png ? png_create_info_struct(r->png) : NULL;
    if (!r->info)
        fail(r, tz_error_set(r->error, TZ_MEMORY, r->path, "not enough memory to read the PNG"));
    png_set_read_fn(r->png, r, on_read);
    png_set_user_limits(r->png, 1 << 24, 1 << 24);
    /* A wrong checksum of any chunk is an error. */
    png_set_crc_action(r->png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    if (r->facts)
        skip_pixels(r);
    png_read_info(r->png, r->info);
    r->width = png_get_image_width(r->png, r->info);
    r->height = png_get_image_height(r->png, r->info);
    /* A row is whole bytes, and one for its filter. */
    const int64_t row_bytes = 1 + (int64_t)png_get_rowbytes(r->png, r->info);
    if (r->width * r->height > 1 << 30 || row_bytes * r->height / DEFLATE_MAX_RATIO > r->file_bytes)
        fail(r, tz_error_set(r->error, TZ_RANGE, r->path,
                             "impossible dimensions: %" PRId64 " x %" PRId64
                             " pixels in a file of %" PRId64 " bytes",
                             r->width, r->height, r->file_bytes));
}

static void decode_pixels(reader *r)
{
    const int colour = png_get_color_type(r->png, r->info);
    if (colour == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(r->png);
    else if (colour == PNG_COLOR_TYPE_GRAY)
        png_set_expand_gray_1_2_4_to_8(r->png);
    if (png_get_valid(r->png, r->info, PNG_INFO_tRNS))
        png_set_tRNS_to_alpha(r->png);
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        png_set_swap(r->png);
    png_set_interlace_handling(r->png);
    png_read_update_info(r->png, r->info);
    r->channels = png_get_channels(r->png, r->info);
    r->depth = png_get_bit_depth(r->png, r->info);
    const size_t row_bytes = png_get_rowbytes(r->png, r->info);
    r->pixels = malloc(row_bytes * (size_t)r->height);
    r->rows = malloc(sizeof *r->rows * (size_t)r->height);
    if (!r->pixels || !r->rows)
        fail(r, tz_error_set(r->error, TZ_MEMORY, r->path, "the picture does not fit in memory"));
    for (int64_t y = 0; y < r->height; y++)
        r->rows[y] = r->pixels + (size_t)y * row_bytes;
    png_read_image(r->png, r->rows);
    png_read_end(r->png, NULL);
}

/* libpng may leave this function by a longjmp; everything that must survive it is in *r. */
static tz_status decode(reader *r)
{
    if (setjmp(r->jump))
        return r->status;
    decode_header(r);
    if (r->facts)
        png_read_end(r->png, r->info);
    else
        decode_pixels(r);
    return TZ_OK;
}

/* Open a file and decode it: its facts if they are not NULL, else its pixels. End with
 * close_png. */
static tz_status open_png(reader **out, const char *path, tz_png_facts *facts, tz_error *error)
{
    unsigned char magic[8];
    size_t bytes;
    reader *r = *out = calloc(1, sizeof *r);
    tz_status status = r ? tz_file_stream(path, &r->stream, &bytes, error)
                         : tz_error_set(error, TZ_MEMORY, path, "not enough memory to open it");
    if (status != TZ_OK)
        return status;
    if (fread(magic, 1, 8, r->stream) != 8 || png_sig_cmp(magic, 0, 8) != 0)
        return tz_error_set(error, TZ_FORMAT, path, "not a PNG: its signature is missing");
    rewind(r->stream);
    r->path = path;
    r->error = error;
    r->facts = facts;
    r->file_bytes = (off_t)bytes;
    return decode(r);
}

static void close_png(reader *r)
{
    if (!r)
        return;
    if (r->png)
        png_destroy_read_struct(&r->png, r->info ? &r->info : NULL, NULL);
    free(r->pixels);
    free(r->rows);
    if (r->stream)
        fclose(r->stream);
    free(r);
}

static uint32_t sample(const reader *r, int64_t i)
{
    uint16_t wide;
    if (r->depth != 16)
        return r->pixels[i];
    memcpy(&wide, r->pixels + 2 * i, sizeof wide);
    return wide;
}

/* What of a pixel is wanted. Counts what TZ_PNG_GREY loses. */
static uint32_t number_of(const reader *r, int64_t pixel, tz_png_channel channel, tz_png_lost *lost)
{
    const int colours = r->channels > 2 ? 3 : 1;
    const int64_t i = pixel * r->channels;
    if (channel == TZ_PNG_ALPHA)
        return sample(r, i + colours);
    const uint32_t red = sample(r, i), green = colours == 1 ? red : sample(r, i + 1),
                   blue = colours == 1 ? red : sample(r, i + 2);
    if (channel != TZ_PNG_GREY)
        return channel == TZ_PNG_RED ? red : channel == TZ_PNG_GREEN ? green : blue;
    lost->coloured += red != green || green != blue;
    lost->clear += r->channels % 2 == 0 && sample(r, i + colours) != (r->depth == 16 ? 65535 : 255);
    return (299u * red + 587u * green + 114u * blue + 500u) / 1000u;
}

static tz_status to_numbers(const reader *r, tz_png_channel channel, tz_array **out,
                            tz_png_lost *lost)
{
    const int64_t shape[] = {r->width, r->height}, count = r->width * r->height;
    const tz_dtype dtype = r->depth == 16 ? TZ_DTYPE_U16 : TZ_DTYPE_U8;
    if (channel == TZ_PNG_ALPHA && r->channels % 2 != 0)
        return tz_error_set(r->error, TZ_UNSUPPORTED, r->path, "the picture has no alpha channel");
    const tz_status status = tz_array_create(out, dtype, 2, shape, r->error);
    if (status != TZ_OK)
        return status;
    for (int64_t i = 0; i < count; i++) {
        const uint32_t number = number_of(r, i, channel, lost);
        if (dtype == TZ_DTYPE_U16)
            ((uint16_t *)(*out)->data)[i] = (uint16_t)number;
        else
            ((uint8_t *)(*out)->data)[i] = (uint8_t)number;
    }
    return TZ_OK;
}

tz_status tz_png_read(const char *path, tz_png_channel channel, tz_array **out, tz_png_lost *lost,
                      tz_error *error)
{
    tz_png_lost counted = {0, 0};
    reader *r;
    *out = NULL;
    tz_status status = open_png(&r, path, NULL, error);
    if (status == TZ_OK)
        status = to_numbers(r, channel, out, &counted);
    if (lost)
        *lost = counted;
    close_png(r);
    return status;
}

/* ---- Facts ----------------------------------------------------------------------------------- */

/* Texts other than iTXt are Latin-1. */
static char *copy_latin1(const char *from, size_t n)
{
    const unsigned char *p = (const unsigned char *)from;
    char *text = malloc(2 * n + 1), *q = text;
    for (size_t i = 0; text && i < n; i++) {
        if (p[i] < 0x80) {
            *q++ = (char)p[i];
        } else {
            *q++ = (char)(0xC0 | p[i] >> 6);
            *q++ = (char)(0x80 | (p[i] & 0x3F));
        }
    }
    if (text)
        *q = '\0';
    return text;
}

static tz_status take_texts(const reader *r, tz_png_facts *facts)
{
    png_textp texts;
    int count = 0;
    png_get_text(r->png, r->info, &texts, &count);
    facts->texts = calloc((size_t)count + 1, sizeof *facts->texts);
    for (int i = 0; facts->texts && i < count; i++) {
        const bool utf8 = texts[i].compression >= PNG_ITXT_COMPRESSION_NONE;
        tz_png_text *text = &facts->texts[facts->text_count++];
        text->key = copy_latin1(texts[i].key, strlen(texts[i].key));
        text->value = utf8 ? strndup(texts[i].text, texts[i].itxt_length)
                           : copy_latin1(texts[i].text, texts[i].text_length);
        if (!text->key || !text->value)
            break;
    }
    const tz_png_text *last = facts->text_count ? &facts->texts[facts->text_count - 1] : NULL;
    return facts->texts && (!last || (last->key && last->value))
               ? TZ_OK
               : tz_error_set(r->error, TZ_MEMORY, r->path,
                              "not enough memory for the text chunks");
}

tz_status tz_png_read_text(const char *path, tz_png_facts *out, tz_error *error)
{
    static const char *const names[] = {"gray", NULL,  "RGB", "palette", "gray with alpha",
                                        NULL,   "RGBA"};
    reader *r;
    memset(out, 0, sizeof *out);
    tz_status status = open_png(&r, path, out, error);
    if (status == TZ_OK) {
        out->width = (uint32_t)r->width;
        out->height = (uint32_t)r->height;
        out->bit_depth = png_get_bit_depth(r->png, r->info);
        out->colour_type = png_get_color_type(r->png, r->info);
        out->colour_name = names[out->colour_type];
        status = take_texts(r, out);
    }
    close_png(r);
    if (status != TZ_OK)
        tz_png_facts_clear(out);
    return status;
}

void tz_png_facts_clear(tz_png_facts *facts)
{
    for (size_t i = 0; i < facts->text_count; i++) {
        free(facts->texts[i].key);
        free(facts->texts[i].value);
    }
    free(facts->texts);
    memset(facts, 0, sizeof *facts);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static const char no_memory[] = "not enough memory to encode the PNG";

/* The colours of a picture that has at most 256, in order of appearance. With indices there are a
 * third of the bytes to compress. */
typedef struct palette {
    int count; /* 0: too many colours */
    png_color colors[256];
    uint8_t *pixels;            /* indices; owned */
    uint32_t slots[TABLE_SIZE]; /* colour + 1, hashed; 0: free */
    uint8_t index[TABLE_SIZE];
} palette;

typedef struct writer {
    jmp_buf jump;
    FILE *memory;
    const char *path; /* NULL: of memory */
    tz_error *error;
    tz_status status;
    png_structp png;
    png_infop info;
    png_textp texts;
    size_t text_count;
    const tz_image *image;
    palette *palette; /* NULL: not indexed */
    int level;
} writer;

static void on_write_error(png_structp png, png_const_charp message)
{
    writer *w = png_get_error_ptr(png);
    if (w->status == TZ_OK)
        w->status = tz_error_set(w->error, TZ_IO, w->path, "cannot encode the PNG: %s", message);
    longjmp(w->jump, 1);
}

static void on_write(png_structp png, png_bytep data, size_t bytes)
{
    writer *w = png_get_io_ptr(png);
    if (fwrite(data, 1, bytes, w->memory) != bytes)
        w->status = tz_error_set(w->error, TZ_MEMORY, w->path, no_memory);
    if (w->status != TZ_OK)
        png_error(png, "write");
}

static void on_flush(png_structp png)
{
    (void)png; /* at commit */
}

static void palette_destroy(palette *p)
{
    if (!p)
        return;
    free(p->pixels);
    free(p);
}

/* NULL when the picture has more than 256 colours or memory is short: it is written as RGB then. */
static palette *palette_make(const tz_image *image)
{
    const size_t pixels = (size_t)image->width * (size_t)image->height;
    const bool indexed = image->pixel == TZ_PIXEL_INDEX8;
    palette *p = indexed || image->pixel == TZ_PIXEL_RGB8 ? calloc(1, sizeof *p) : NULL;
    if (p && indexed) {
        p->count = 256;
        for (int i = 0; i < 256; i++)
            p->colors[i] =
                (png_color){image->palette[i][0], image->palette[i][1], image->palette[i][2]};
        return p;
    }
    if (!p || !(p->pixels = malloc(pixels))) {
        palette_destroy(p);
        return NULL;
    }
    const uint8_t *rgb = image->data;
    uint32_t last = 0;
    for (size_t i = 0; i < pixels; i++, rgb += 3) {
        const uint32_t key = 1u + rgb[0] + 256u * rgb[1] + 65536u * rgb[2];
        if (key == last) {
            p->pixels[i] = p->pixels[i - 1];
            continue;
        }
        last = key;
        uint32_t slot = (key * 2654435761u) >> 22;
        while (p->slots[slot] != key && p->slots[slot])
            slot = (slot + 1) % TABLE_SIZE;
        if (!p->slots[slot]) {
            if (p->count == 256) {
                palette_destroy(p);
                return NULL;
            }
            p->slots[slot] = key;
            p->index[slot] = (uint8_t)p->count;
            p->colors[p->count++] = (png_color){rgb[0], rgb[1], rgb[2]};
        }
        p->pixels[i] = p->index[slot];
    }
    return p;
}

/* One colour is transparent. */
static void set_clear(writer *w)
{
    static const uint8_t clear[3] = TZ_IMAGE_CLEAR;
    const png_color_16 color = {.red = clear[0], .green = clear[1], .blue = clear[2]};
    png_byte alpha[256];
    int i = 0;
    memset(alpha, 255, sizeof alpha);
    if (!w->palette) {
        png_set_tRNS(w->png, w->info, NULL, 0, &color);
        return;
    }
    while (i < w->palette->count &&
           (w->palette->colors[i].red != clear[0] || w->palette->colors[i].green != clear[1] ||
            w->palette->colors[i].blue != clear[2]))
        i++;
    if (i == w->palette->count)
        return;
    alpha[i] = 0;
    png_set_tRNS(w->png, w->info, alpha, i + 1, NULL);
}

static void encode_all(writer *w)
{
    const tz_image *image = w->image;
    const int color_type = w->palette                      ? PNG_COLOR_TYPE_PALETTE
                           : image->pixel == TZ_PIXEL_RGB8 ? PNG_COLOR_TYPE_RGB
                                                           : PNG_COLOR_TYPE_GRAY;
    const size_t stride =
        (size_t)image->width * (size_t)(w->palette ? 1 : tz_pixel_bytes(image->pixel));
    const uint8_t *rows = w->palette && w->palette->pixels ? w->palette->pixels : image->data;
    w->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, w, on_write_error, on_warning);
    w->info = w->png ? png_create_info_struct(w->png) : NULL;
    if (!w->info) {
        w->status =
            tz_error_set(w->error, TZ_MEMORY, w->path, "not enough memory to encode the PNG");
        longjmp(w->jump, 1);
    }
    png_set_write_fn(w->png, w, on_write, on_flush);
    png_set_compression_level(w->png, w->level);
    png_set_compression_buffer_size(w->png, 1 << 16);
    png_set_IHDR(w->png, w->info, (png_uint_32)image->width, (png_uint_32)image->height,
                 image->pixel == TZ_PIXEL_GRAY16 ? 16 : 8, color_type, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (w->palette)
        png_set_PLTE(w->png, w->info, w->palette->colors, w->palette->count);
    if (image->clear)
        set_clear(w);
    if (image->width_mm > 0) {
        const png_uint_32 dots = (png_uint_32)(image->width / image->width_mm * 1000 + 0.5);
        png_set_pHYs(w->png, w->info, dots, dots, PNG_RESOLUTION_METER);
    }
    if (w->text_count)
        png_set_text(w->png, w->info, w->texts, (int)w->text_count);
    /* Colours repeat pixel by pixel, which deflate compresses best without a filter. 16-bit values
     * differ little from the row above. */
    png_set_filter(w->png, PNG_FILTER_TYPE_BASE,
                   image->pixel != TZ_PIXEL_GRAY16 ? PNG_FILTER_NONE
                   : w->level >= 6                 ? PNG_ALL_FILTERS
                                                   : PNG_FILTER_UP);
    png_write_info(w->png, w->info);
    if (image->pixel == TZ_PIXEL_GRAY16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        png_set_swap(w->png);
    for (int y = 0; y < image->height; y++)
        png_write_row(w->png, rows + (size_t)y * stride);
    png_write_end(w->png, NULL);
}

/* libpng may leave this function by a longjmp; everything that must survive it is in *w. */
static tz_status encode(writer *w)
{
    if (setjmp(w->jump))
        return w->status;
    encode_all(w);
    return TZ_OK;
}

static bool key_is_good(const char *key)
{
    const size_t length = strlen(key);
    if (length < 1 || length > KEY_MAX || key[0] == ' ' || key[length - 1] == ' ')
        return false;
    for (const char *p = key; *p; p++)
        if (*p < 32 || *p > 126 || (*p == ' ' && p[1] == ' '))
            return false;
    return true;
}

/* libpng needs char *, though it only reads. */
static void set_text(png_textp text, const char *key, const char *value)
{
    bool ascii = true;
    for (const char *p = value; *p; p++)
        ascii = ascii && (unsigned char)*p < 0x80;
    text->key = (char *)key;
    text->text = (char *)value;
    text->compression = ascii ? PNG_TEXT_COMPRESSION_NONE : PNG_ITXT_COMPRESSION_NONE;
    if (!ascii) {
        text->lang = (char *)"";
        text->lang_key = (char *)"";
    }
}

static tz_status check_keys(const char *path, const tz_image_note *texts, size_t text_count,
                            tz_error *error)
{
    for (size_t i = 0; i < text_count; i++)
        if (!key_is_good(texts[i].key))
            return tz_error_set(error, TZ_USAGE, path,
                                "'%.80s' cannot be a PNG text's key: 1 to 79 ASCII characters, no "
                                "stray spaces",
                                texts[i].key);
    return TZ_OK;
}

static tz_status encode_to(FILE *memory, const char *path, const tz_image *image,
                           const tz_image_note *texts, size_t text_count, tz_error *error)
{
    char scale[TZ_NUMBER_SIZE], offset[TZ_NUMBER_SIZE];
    tz_status status = TZ_OK;
    writer *w = calloc(1, sizeof *w);
    if (w)
        w->texts = calloc(text_count + 2, sizeof *w->texts);
    if (!w || !w->texts) {
        status = tz_error_set(error, TZ_MEMORY, path, no_memory);
        goto cleanup;
    }
    for (size_t i = 0; i < text_count; i++)
        set_text(&w->texts[i], texts[i].key, texts[i].value);
    w->text_count = text_count;
    if (image->pixel == TZ_PIXEL_GRAY16) {
        set_text(&w->texts[w->text_count++], "Scale", tz_number_format(scale, image->scale));
        set_text(&w->texts[w->text_count++], "Offset", tz_number_format(offset, image->offset));
    }
    w->image = image;
    w->palette = palette_make(image);
    if (!w->palette && image->pixel == TZ_PIXEL_INDEX8) {
        status = tz_error_set(error, TZ_MEMORY, path, no_memory);
        goto cleanup;
    }
    w->error = error;
    w->path = path;
    w->memory = memory;
    w->level = image->pixel == TZ_PIXEL_GRAY16 ? LEVEL_GRAY16
               : w->palette                    ? LEVEL_INDEXED
                                               : LEVEL_DEFAULT;
    status = encode(w);
cleanup:
    if (w) {
        if (w->png)
            png_destroy_write_struct(&w->png, w->info ? &w->info : NULL);
        palette_destroy(w->palette);
        free(w->texts);
    }
    free(w);
    return status;
}

tz_status tz_png_encode(const char *path, const tz_image *image, const tz_image_note *texts,
                        size_t text_count, char **out, size_t *bytes, tz_error *error)
{
    *out = NULL;
    *bytes = 0;
    tz_status status = check_keys(path, texts, text_count, error);
    if (status != TZ_OK)
        return status;
    FILE *memory = open_memstream(out, bytes);
    status = memory ? encode_to(memory, path, image, texts, text_count, error) : TZ_MEMORY;
    if ((!memory || fclose(memory) != 0) && (status == TZ_OK || !memory))
        status = tz_error_set(error, TZ_MEMORY, path, no_memory);
    if (status != TZ_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}

tz_status tz_png_write(const char *path, const tz_image *image, const tz_image_note *texts,
                       size_t text_count, tz_error *error)
{
    char *data;
    size_t bytes;
    tz_status status = tz_png_encode(path, image, texts, text_count, &data, &bytes, error);
    if (status == TZ_OK)
        status = tz_atomic_save(path, false, data, bytes, error);
    free(data);
    return status;
}

/* ---- The format ------------------------------------------------------------------------------ */

/* A picture that a killed run was drawing has no end. */
static tz_status check_whole(const char *path, size_t *bytes, tz_error *error)
{
    static const char head[8] = "\x89PNG\r\n\x1a\n", tail[8] = "IEND\xae\x42\x60\x82";
    char first[sizeof head], last[sizeof tail];
    FILE *stream;
    tz_status status = tz_file_stream(path, &stream, bytes, error);
    if (status != TZ_OK)
        return status;
    if (fread(first, 1, sizeof first, stream) != sizeof first ||
        memcmp(first, head, sizeof head) != 0)
        status = tz_error_set(error, TZ_FORMAT, path, "is no PNG file");
    else if (fseeko(stream, -(off_t)sizeof last, SEEK_END) != 0 ||
             fread(last, 1, sizeof last, stream) != sizeof last ||
             memcmp(last, tail, sizeof tail) != 0)
        status = tz_error_set(error, TZ_FORMAT, path, "is a PNG file without its end");
    fclose(stream);
    return status;
}

static tz_status read_picture(const char *path, tz_format_reading *reading, tz_error *error)
{
    return tz_png_read(path, reading->channel, &reading->array, &reading->lost, error);
}

static tz_status put_info(const char *path, tz_facts *out, tz_error *error)
{
    tz_png_facts facts;
    memset(&facts, 0, sizeof facts);
    const tz_status status = tz_png_read_text(path, &facts, error);
    if (status != TZ_OK)
        return status;
    tz_facts_part(out, 0, "%s", path);
    tz_fact_text(out, facts.frames ? "movie" : "picture", "%u x %u pixels, %s, %d bits",
                 facts.width, facts.height, facts.colour_name, facts.bit_depth);
    if (facts.frames)
        tz_fact_text(out, "frames", "%u", facts.frames);
    for (size_t i = 0; i < facts.text_count; i++) {
        tz_text_printable(facts.texts[i].key);
        tz_text_printable(facts.texts[i].value);
        tz_fact_text(out, facts.texts[i].key, "%s", facts.texts[i].value);
    }
    out->width = facts.text_count == 0 ? 0 : out->width;
    if (facts.text_count == 0)
        tz_fact_text(out, "", "it holds no texts: trapeze did not write it");
    tz_png_facts_clear(&facts);
    return TZ_OK;
}

const tz_format tz_format_png = {
    .name = "png",
    .content = TZ_CONTENT_PICTURE,
    .suffix = ".png",
    .doc = "A picture of a field, for `sim:every` and `sim:write`.",
    .draw = tz_png_write,
    .whole = check_whole,
    .magic = "\x89PNG\r\n\x1a\n",
    .read_doc = "a picture: gray values",
    .reads = TZ_READS_CHANNEL,
    .read = read_picture,
    .info = put_info,
};

/* ---- With vectors ---------------------------------------------------------------------------- */

/* The pixels of the cells alone, as a PNG file in memory. */
static tz_status encode_cells(const char *path, const tz_image *image, char **out, size_t *bytes,
                              tz_error *error)
{
    tz_image *cells;
    tz_status status =
        tz_image_create(&cells, TZ_PIXEL_RGB8, image->picture_width, image->picture_height, error);
    if (status != TZ_OK)
        return status;
    tz_image_paste(cells, -image->picture_x, -image->picture_y, image);
    cells->clear = image->clear;
    status = tz_png_encode(path, cells, NULL, 0, out, bytes, error);
    tz_image_destroy(cells);
    return status;
}

static tz_status write_svg(const char *path, const tz_image *image, const tz_image_note *texts,
                           size_t count, tz_error *error)
{
    char *png = NULL;
    size_t bytes = 0;
    tz_atomic_file *file = NULL;
    tz_status status = encode_cells(path, image, &png, &bytes, error);
    if (status == TZ_OK)
        status = tz_atomic_open(&file, path, false, error);
    if (status == TZ_OK) {
        FILE *to = tz_atomic_stream(file);
        const double mm = image->width_mm;
        fflush(image->vectors);
        fprintf(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g%s\" height=\"%g%s\" ",
                mm > 0 ? mm : image->width, mm > 0 ? "mm" : "",
                mm > 0 ? mm * image->height / image->width : image->height, mm > 0 ? "mm" : "");
        fprintf(
            to,
            "viewBox=\"0 0 %d %d\" fill=\"none\" stroke-linecap=\"round\" font-family=\"Helvetica, "
            "Arial, 'Liberation Sans', sans-serif\">\n<desc>",
            image->width, image->height);
        for (size_t i = 0; i < count; i++) {
            fprintf(to, "%s: ", texts[i].key);
            tz_text_xml(to, texts[i].value);
            fputc('\n', to);
        }
        fputs("</desc>\n", to);
        fwrite(image->svg, 1, image->svg_cells, to);
        fprintf(to,
                "<image x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" image-rendering=\"pixelated\" "
                "href=\"data:image/png;base64,",
                image->picture_x, image->picture_y, image->picture_width, image->picture_height);
        tz_text_base64(to, png, bytes);
        fputs("\"/>\n", to);
        fwrite(image->svg + image->svg_cells, 1, image->svg_bytes - image->svg_cells, to);
        fputs("</svg>\n", to);
        status = tz_atomic_end(file, TZ_OK, error);
    }
    free(png);
    return status;
}

/* Programs that make a PDF file of an SVG file; their words, where IN and OUT are the files. */
static const char *const converters[][6] = {
    {"rsvg-convert", "--format=pdf", "-o", "OUT", "IN"},
    {"inkscape", "--export-type=pdf", "--export-filename", "OUT", "IN"},
    {"cairosvg", "IN", "-o", "OUT"}};

static tz_status find_converter(size_t *out, const char *path, tz_error *error)
{
    const size_t count = sizeof converters / sizeof *converters;
    for (*out = 0; *out < count; ++*out)
        if (tz_program_exists(converters[*out][0]))
            return TZ_OK;
    return tz_error_set(error, TZ_UNSUPPORTED, path,
                        "pictures as .pdf need rsvg-convert, inkscape or cairosvg, and none is "
                        "installed: apt-get install librsvg2-bin; .svg needs no program");
}

static tz_status check_converter(const tz_format *format, tz_error *error)
{
    size_t which;
    (void)format;
    return find_converter(&which, NULL, error);
}

static tz_status write_pdf(const char *path, const tz_image *image, const tz_image_note *texts,
                           size_t count, tz_error *error)
{
    enum { LIMIT_S = 120 };
    char in[PATH_MAX], made[PATH_MAX], program[PATH_MAX], *said = NULL;
    const char *words[6] = {NULL};
    size_t which;
    int code = 0;
    tz_status status = find_converter(&which, path, error);
    if (status == TZ_OK && (snprintf(in, sizeof in, "%s.svg", path) >= (int)sizeof in ||
                            snprintf(made, sizeof made, "%s.part.pdf", path) >= (int)sizeof made))
        status = tz_error_set(error, TZ_IO, path, "the path is too long");
    if (status == TZ_OK)
        status = write_svg(in, image, texts, count, error);
    if (status != TZ_OK)
        return status;
    for (int i = 0; converters[which][i]; i++)
        words[i] = strcmp(converters[which][i], "IN") == 0    ? in
                   : strcmp(converters[which][i], "OUT") == 0 ? made
                                                              : converters[which][i];
    tz_program_find(words[0], program);
    const tz_process process = {.program = program, .arguments = words, .limit_s = LIMIT_S};
    status = tz_process_run(&process, &said, &code, error);
    if (status == TZ_OK && code != 0)
        status = tz_error_set(error, TZ_IO, path, "%s failed: %.200s", words[0], said);
    if (status == TZ_OK && rename(made, path) != 0)
        status = tz_error_set_errno(error, errno, path, "cannot write the picture");
    free(said);
    unlink(in);
    unlink(made);
    return status;
}

const tz_format tz_format_svg = {
    .name = "svg", .suffix = ".svg", .draw = write_svg, .vectors = true, .terminal = "svg"};
const tz_format tz_format_pdf = {.name = "pdf",
                                 .suffix = ".pdf",
                                 .check = check_converter,
                                 .draw = write_pdf,
                                 .vectors = true,
                                 .terminal = "pdfcairo"};
