#include "output/format/png_read.h"

#include "base/file.h"
#include <inttypes.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* The highest compression that deflate reaches: a picture that states more pixels is corrupt. */
enum { DEFLATE_MAX_RATIO = 1032 };

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
} reader;

static void on_error(png_structp png, png_const_charp message)
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

static void decode_header(reader *r)
{
    r->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, r, on_error, on_warning);
    r->info = r->png ? png_create_info_struct(r->png) : NULL;
    if (!r->info)
        fail(r, tz_error_set(r->error, TZ_MEMORY, r->path, "not enough memory to read the PNG"));
    png_set_read_fn(r->png, r, on_read);
    png_set_user_limits(r->png, 1 << 24, 1 << 24);
    /* A wrong checksum of any chunk is an error, as for tz_png_read_text. */
    png_set_crc_action(r->png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
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
    decode_pixels(r);
    return TZ_OK;
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
    *out = NULL;
    unsigned char magic[8];
    size_t bytes;
    FILE *stream = NULL;
    reader *r = calloc(1, sizeof *r);
    tz_status status = r ? tz_file_stream(path, &stream, &bytes, error)
                         : tz_error_set(error, TZ_MEMORY, path, "not enough memory to open it");
    if (status != TZ_OK)
        goto cleanup;
    if (fread(magic, 1, 8, stream) != 8 || png_sig_cmp(magic, 0, 8) != 0) {
        status = tz_error_set(error, TZ_FORMAT, path, "not a PNG: its signature is missing");
        goto cleanup;
    }
    if (lost)
        *lost = counted;
    rewind(stream);
    r->stream = stream;
    r->path = path;
    r->error = error;
    r->file_bytes = (off_t)bytes;
    status = decode(r);
    if (status == TZ_OK)
        status = to_numbers(r, channel, out, lost ? lost : &counted);
cleanup:
    if (r) {
        if (r->png)
            png_destroy_read_struct(&r->png, r->info ? &r->info : NULL, NULL);
        free(r->pixels);
        free(r->rows);
    }
    free(r);
    if (stream)
        fclose(stream);
    return status;
}
