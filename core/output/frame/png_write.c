#include "output/frame/png_write.h"

#include "base/atomic.h"
#include "output/format/number.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { LEVEL_DEFAULT = 3, LEVEL_GRAY16 = 2, LEVEL_INDEXED = 1, KEY_MAX = 79, TABLE_SIZE = 1024 };

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
    tz_atomic_file *file; /* NULL: to memory */
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

static void on_error(png_structp png, png_const_charp message)
{
    writer *w = png_get_error_ptr(png);
    if (w->status == TZ_OK)
        w->status = tz_error_set(w->error, TZ_IO, w->path, "cannot encode the PNG: %s", message);
    longjmp(w->jump, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png, (void)message;
}

static void on_write(png_structp png, png_bytep data, size_t bytes)
{
    writer *w = png_get_io_ptr(png);
    if (w->memory)
        w->status = fwrite(data, 1, bytes, w->memory) == bytes
                        ? TZ_OK
                        : tz_error_set(w->error, TZ_MEMORY, w->path, no_memory);
    else
        w->status = tz_atomic_write(w->file, data, bytes, w->error);
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

static void encode_all(writer *w)
{
    const tz_image *image = w->image;
    const int color_type = w->palette                      ? PNG_COLOR_TYPE_PALETTE
                           : image->pixel == TZ_PIXEL_RGB8 ? PNG_COLOR_TYPE_RGB
                                                           : PNG_COLOR_TYPE_GRAY;
    const size_t stride =
        (size_t)image->width * (size_t)(w->palette ? 1 : tz_pixel_bytes(image->pixel));
    const uint8_t *rows = w->palette && w->palette->pixels ? w->palette->pixels : image->data;
    w->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, w, on_error, on_warning);
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

static tz_status check_keys(const char *path, const tz_png_note *texts, size_t text_count,
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

/* Encode to `file` or to `memory`. */
static tz_status encode_to(tz_atomic_file *file, FILE *memory, const char *path,
                           const tz_image *image, const tz_png_note *texts, size_t text_count,
                           tz_error *error)
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
    w->file = file;
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

tz_status tz_png_write(const char *path, const tz_image *image, const tz_png_note *texts,
                       size_t text_count, tz_error *error)
{
    tz_atomic_file *file;
    tz_status status = check_keys(path, texts, text_count, error);
    if (status == TZ_OK)
        status = tz_atomic_open(&file, path, false, error);
    if (status != TZ_OK)
        return status;
    status = encode_to(file, NULL, path, image, texts, text_count, error);
    if (status == TZ_OK)
        return tz_atomic_commit(file, error);
    tz_atomic_abort(file);
    return status;
}

tz_status tz_png_encode(const tz_image *image, const tz_png_note *texts, size_t text_count,
                        char **out, size_t *bytes, tz_error *error)
{
    *out = NULL;
    *bytes = 0;
    tz_status status = check_keys(NULL, texts, text_count, error);
    FILE *memory = status == TZ_OK ? open_memstream(out, bytes) : NULL;
    if (status == TZ_OK && !memory)
        status = tz_error_set(error, TZ_MEMORY, NULL, no_memory);
    if (status == TZ_OK)
        status = encode_to(NULL, memory, NULL, image, texts, text_count, error);
    if (memory && fclose(memory) != 0 && status == TZ_OK)
        status = tz_error_set(error, TZ_MEMORY, NULL, no_memory);
    if (status != TZ_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}
