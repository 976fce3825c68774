/* Pictures in memory: pixels, lines and text. Canvas, axes and overlay draw with it. */
#include "output/frame/image.h"

#include "base/text.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tz_pixel_bytes(tz_pixel pixel)
{
    return pixel == TZ_PIXEL_RGB8 ? 3 : pixel == TZ_PIXEL_GRAY16 ? 2 : 1;
}

tz_status tz_image_create(tz_image **out, tz_pixel pixel, int width, int height, tz_error *error)
{
    *out = NULL;
    if (width < 1 || height < 1 || width > TZ_IMAGE_MAX_EXTENT || height > TZ_IMAGE_MAX_EXTENT)
        return tz_error_set(error, TZ_RANGE, NULL,
                            "a picture of %d x %d pixels; extents go from 1 to %d", width, height,
                            TZ_IMAGE_MAX_EXTENT);
    tz_image *image = calloc(1, sizeof *image);
    const size_t bytes = (size_t)width * (size_t)height * (size_t)tz_pixel_bytes(pixel);
    if (image)
        image->data = calloc(bytes, 1);
    if (!image || !image->data) {
        free(image);
        return tz_error_set(error, TZ_MEMORY, NULL, "a picture of %zu bytes does not fit in memory",
                            bytes);
    }
    image->width = width;
    image->height = height;
    image->picture_width = width;
    image->picture_height = height;
    image->pixel = pixel;
    image->scale = 1.0;
    *out = image;
    return TZ_OK;
}

void tz_image_destroy(tz_image *image)
{
    if (!image)
        return;
    if (image->vectors)
        fclose(image->vectors);
    free(image->svg);
    free(image->data);
    free(image);
}

tz_status tz_image_record(tz_image *image, tz_error *error)
{
    image->vectors = open_memstream(&image->svg, &image->svg_bytes);
    return image->vectors ? TZ_OK
                          : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a picture");
}

void tz_image_row(const tz_image *image, int y, uint8_t *rgb)
{
    const size_t width = (size_t)image->width;
    const uint8_t *from = image->data + (size_t)y * width * (size_t)tz_pixel_bytes(image->pixel);
    if (image->pixel == TZ_PIXEL_RGB8)
        memcpy(rgb, from, 3 * width);
    else if (image->pixel == TZ_PIXEL_INDEX8)
        for (size_t x = 0; x < width; x++)
            memcpy(rgb + 3 * x, image->palette[from[x]], 3);
    else
        for (size_t x = 0; x < width; x++)
            memset(rgb + 3 * x, from[x], 3);
}

static uint8_t *pixel_at(const tz_image *image, int x, int y)
{
    return image->data + ((size_t)y * (size_t)image->width + (size_t)x) * 3;
}

void tz_image_blend(tz_image *image, int x, int y, const uint8_t rgb[3], int coverage)
{
    if (x < 0 || y < 0 || x >= image->width || y >= image->height || coverage <= 0)
        return;
    uint8_t *p = pixel_at(image, x, y);
    for (int c = 0; c < 3; c++)
        p[c] = (uint8_t)((p[c] * (255 - coverage) + rgb[c] * coverage + 127) / 255);
}

/* "fill", "stroke": ' fill="#ff8800"' */
static void put_colour(FILE *to, const char *what, const uint8_t rgb[3])
{
    fprintf(to, " %s=\"#%02x%02x%02x\"", what, rgb[0], rgb[1], rgb[2]);
}

void tz_image_shade(tz_image *image, int x, int y, int width, int height, const uint8_t rgb[3],
                    int coverage)
{
    if (image->vectors) {
        fprintf(image->vectors, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"", x, y, width,
                height);
        put_colour(image->vectors, "fill", rgb);
        if (coverage < 255)
            fprintf(image->vectors, " fill-opacity=\"%.2f\"", coverage / 255.0);
        /* Areas that touch, as in a colour bar, have no pale seams. */
        fputs(" shape-rendering=\"crispEdges\"/>\n", image->vectors);
        return;
    }
    for (int j = 0; j < height; j++)
        for (int i = 0; i < width; i++)
            tz_image_blend(image, x + i, y + j, rgb, coverage);
}

void tz_image_fill(tz_image *image, int x, int y, int width, int height, const uint8_t rgb[3])
{
    if (image->vectors) {
        tz_image_shade(image, x, y, width, height, rgb, 255);
        return;
    }
    const int x0 = x > 0 ? x : 0, y0 = y > 0 ? y : 0;
    const int x1 = x + width < image->width ? x + width : image->width;
    const int y1 = y + height < image->height ? y + height : image->height;
    if (x0 >= x1 || y0 >= y1)
        return;
    for (int i = x0; i < x1; i++)
        memcpy(pixel_at(image, i, y0), rgb, 3);
    for (int j = y0 + 1; j < y1; j++)
        memcpy(pixel_at(image, x0, j), pixel_at(image, x0, y0), 3 * (size_t)(x1 - x0));
}

void tz_image_paste(tz_image *image, int x, int y, const tz_image *from)
{
    const int x0 = x > 0 ? x : 0, y0 = y > 0 ? y : 0;
    const int x1 = x + from->width < image->width ? x + from->width : image->width;
    const int y1 = y + from->height < image->height ? y + from->height : image->height;
    for (int j = y0; j < y1 && x0 < x1; j++) {
        if (from->pixel == TZ_PIXEL_RGB8)
            memcpy(pixel_at(image, x0, j), pixel_at(from, x0 - x, j - y), 3 * (size_t)(x1 - x0));
        else
            for (int i = x0; i < x1; i++)
                memset(pixel_at(image, i, j),
                       from->data[(size_t)(j - y) * (size_t)from->width + (size_t)(i - x)], 3);
    }
    if (!image->vectors || !from->vectors)
        return;
    fflush(image->vectors);
    fflush(from->vectors);
    image->svg_cells = image->svg_bytes;
    fprintf(image->vectors, "<g transform=\"translate(%d %d)\">\n%s</g>\n", x, y, from->svg);
}

void tz_image_line(tz_image *image, double x0, double y0, double x1, double y1, double thickness,
                   const uint8_t rgb[3])
{
    if (image->vectors && image->pixel == TZ_PIXEL_GRAY8) {
        fprintf(image->vectors, "M%.2f %.2fL%.2f %.2f", x0, y0, x1, y1);
        image->thickness = thickness;
        return;
    }
    if (image->vectors) {
        fprintf(image->vectors, "<path d=\"M%.2f %.2fL%.2f %.2f\" stroke-width=\"%.2f\"", x0, y0,
                x1, y1, thickness);
        put_colour(image->vectors, "stroke", rgb);
        fputs("/>\n", image->vectors);
        return;
    }
    const double dx = x1 - x0, dy = y1 - y0, square = dx * dx + dy * dy;
    const double reach = 0.5 * thickness + 1.0;
    const int left = (int)fmax(0.0, floor(fmin(x0, x1) - reach));
    const int right = (int)fmin(image->width - 1.0, ceil(fmax(x0, x1) + reach));
    const int top = (int)fmax(0.0, floor(fmin(y0, y1) - reach));
    const int bottom = (int)fmin(image->height - 1.0, ceil(fmax(y0, y1) + reach));
    for (int y = top; y <= bottom; y++) {
        for (int x = left; x <= right; x++) {
            const double px = x + 0.5 - x0, py = y + 0.5 - y0;
            double t = square > 0.0 ? (px * dx + py * dy) / square : 0.0;
            t = fmin(1.0, fmax(0.0, t));
            const double away = hypot(px - t * dx, py - t * dy);
            const double cover = fmin(1.0, fmax(0.0, 0.5 * thickness + 0.5 - away));
            const int coverage = (int)(255.0 * cover + 0.5);
            uint8_t *at = image->data + (size_t)y * (size_t)image->width + (size_t)x;
            if (image->pixel != TZ_PIXEL_GRAY8)
                tz_image_blend(image, x, y, rgb, coverage);
            else if (*at < coverage)
                *at = (uint8_t)coverage;
        }
    }
}

tz_status tz_image_create_mask(tz_image **out, const tz_image *image, tz_error *error)
{
    tz_status status = tz_image_create(out, TZ_PIXEL_GRAY8, image->width, image->height, error);
    if (status == TZ_OK && image->vectors)
        status = tz_image_record(*out, error);
    if (status != TZ_OK) {
        tz_image_destroy(*out);
        *out = NULL;
    }
    return status;
}

void tz_image_blend_mask(tz_image *image, const tz_image *mask, const uint8_t rgb[3])
{
    if (mask->vectors) {
        fflush(mask->vectors);
        fprintf(image->vectors, "<path d=\"%s\" stroke-width=\"%.2f\"", mask->svg, mask->thickness);
        put_colour(image->vectors, "stroke", rgb);
        fputs("/>\n", image->vectors);
        return;
    }
    const uint8_t *coverage = mask->data;
    for (int y = 0; y < mask->height; y++)
        for (int x = 0; x < mask->width; x++, coverage++)
            tz_image_blend(image, x, y, rgb, *coverage);
}

/* ---- Font ------------------------------------------------------------------------------------ */

enum { GLYPH_COLUMNS = 5, SPACE_ADVANCE = 4, FIRST = 32, ASCII = 95 };

/* Rows from the top, the leftmost pixel in bit 4; the last two hang below the baseline. */
static const uint8_t glyphs[][TZ_FONT_HEIGHT] = {
    {0},                                                    /* space */
    {0x04, 0x04, 0x04, 0x04, 0x04, 0x00, 0x04},             /* ! */
    {0x0A, 0x0A, 0x0A},                                     /* " */
    {0x0A, 0x0A, 0x1F, 0x0A, 0x1F, 0x0A, 0x0A},             /* # */
    {0x04, 0x0F, 0x14, 0x0E, 0x05, 0x1E, 0x04},             /* $ */
    {0x18, 0x19, 0x02, 0x04, 0x08, 0x13, 0x03},             /* % */
    {0x0C, 0x12, 0x14, 0x08, 0x15, 0x12, 0x0D},             /* & */
    {0x04, 0x04, 0x04},                                     /* ' */
    {0x02, 0x04, 0x08, 0x08, 0x08, 0x04, 0x02},             /* ( */
    {0x08, 0x04, 0x02, 0x02, 0x02, 0x04, 0x08},             /* ) */
    {0x00, 0x04, 0x15, 0x0E, 0x15, 0x04, 0x00},             /* * */
    {0x00, 0x04, 0x04, 0x1F, 0x04, 0x04, 0x00},             /* + */
    {0x00, 0x00, 0x00, 0x00, 0x00, 0x0C, 0x0C, 0x04, 0x08}, /* , */
    {0x00, 0x00, 0x00, 0x1E, 0x00, 0x00, 0x00},             /* - */
    {0x00, 0x00, 0x00, 0x00, 0x00, 0x0C, 0x0C},             /* . */
    {0x01, 0x01, 0x02, 0x04, 0x08, 0x10, 0x10},             /* / */
    {0x0E, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0E},             /* 0 */
    {0x04, 0x0C, 0x04, 0x04, 0x04, 0x04, 0x0E},             /* 1 */
    {0x0E, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1F},             /* 2 */
    {0x0E, 0x11, 0x01, 0x06, 0x01, 0x11, 0x0E},             /* 3 */
    {0x02, 0x06, 0x0A, 0x12, 0x1F, 0x02, 0x02},             /* 4 */
    {0x1F, 0x10, 0x1E, 0x01, 0x01, 0x11, 0x0E},             /* 5 */
    {0x06, 0x08, 0x10, 0x1E, 0x11, 0x11, 0x0E},             /* 6 */
    {0x1F, 0x01, 0x02, 0x02, 0x04, 0x04, 0x04},             /* 7 */
    {0x0E, 0x11, 0x11, 0x0E, 0x11, 0x11, 0x0E},             /* 8 */
    {0x0E, 0x11, 0x11, 0x0F, 0x01, 0x02, 0x0C},             /* 9 */
    {0x00, 0x00, 0x0C, 0x0C, 0x00, 0x0C, 0x0C},             /* : */
    {0x00, 0x00, 0x0C, 0x0C, 0x00, 0x0C, 0x0C, 0x04, 0x08}, /* ; */
    {0x02, 0x04, 0x08, 0x10, 0x08, 0x04, 0x02},             /* < */
    {0x00, 0x00, 0x1F, 0x00, 0x1F, 0x00, 0x00},             /* = */
    {0x08, 0x04, 0x02, 0x01, 0x02, 0x04, 0x08},             /* > */
    {0x0E, 0x11, 0x01, 0x02, 0x04, 0x00, 0x04},             /* ? */
    {0x0E, 0x11, 0x17, 0x15, 0x17, 0x10, 0x0E},             /* @ */
    {0x0E, 0x11, 0x11, 0x1F, 0x11, 0x11, 0x11},             /* A */
    {0x1E, 0x11, 0x11, 0x1E, 0x11, 0x11, 0x1E},             /* B */
    {0x0E, 0x11, 0x10, 0x10, 0x10, 0x11, 0x0E},             /* C */
    {0x1E, 0x11, 0x11, 0x11, 0x11, 0x11, 0x1E},             /* D */
    {0x1F, 0x10, 0x10, 0x1E, 0x10, 0x10, 0x1F},             /* E */
    {0x1F, 0x10, 0x10, 0x1E, 0x10, 0x10, 0x10},             /* F */
    {0x0E, 0x11, 0x10, 0x17, 0x11, 0x11, 0x0F},             /* G */
    {0x11, 0x11, 0x11, 0x1F, 0x11, 0x11, 0x11},             /* H */
    {0x0E, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0E},             /* I */
    {0x07, 0x02, 0x02, 0x02, 0x02, 0x12, 0x0C},             /* J */
    {0x11, 0x12, 0x14, 0x18, 0x14, 0x12, 0x11},             /* K */
    {0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x1F},             /* L */
    {0x11, 0x1B, 0x15, 0x15, 0x11, 0x11, 0x11},             /* M */
    {0x11, 0x11, 0x19, 0x15, 0x13, 0x11, 0x11},             /* N */
    {0x0E, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0E},             /* O */
    {0x1E, 0x11, 0x11, 0x1E, 0x10, 0x10, 0x10},             /* P */
    {0x0E, 0x11, 0x11, 0x11, 0x15, 0x12, 0x0D},             /* Q */
    {0x1E, 0x11, 0x11, 0x1E, 0x14, 0x12, 0x11},             /* R */
    {0x0F, 0x10, 0x10, 0x0E, 0x01, 0x01, 0x1E},             /* S */
    {0x1F, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04},             /* T */
    {0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0E},             /* U */
    {0x11, 0x11, 0x11, 0x11, 0x11, 0x0A, 0x04},             /* V */
    {0x11, 0x11, 0x11, 0x15, 0x15, 0x1B, 0x11},             /* W */
    {0x11, 0x11, 0x0A, 0x04, 0x0A, 0x11, 0x11},             /* X */
    {0x11, 0x11, 0x0A, 0x04, 0x04, 0x04, 0x04},             /* Y */
    {0x1F, 0x01, 0x02, 0x04, 0x08, 0x10, 0x1F},             /* Z */
    {0x0E, 0x08, 0x08, 0x08, 0x08, 0x08, 0x0E},             /* [ */
    {0x10, 0x10, 0x08, 0x04, 0x02, 0x01, 0x01},             /* \ */
    {0x0E, 0x02, 0x02, 0x02, 0x02, 0x02, 0x0E},             /* ] */
    {0x04, 0x0A, 0x11},                                     /* ^ */
    {0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1F},             /* _ */
    {0x08, 0x04},                                           /* ` */
    {0x00, 0x00, 0x0E, 0x01, 0x0F, 0x11, 0x0F},             /* a */
    {0x10, 0x10, 0x16, 0x19, 0x11, 0x11, 0x1E},             /* b */
    {0x00, 0x00, 0x0E, 0x11, 0x10, 0x11, 0x0E},             /* c */
    {0x01, 0x01, 0x0D, 0x13, 0x11, 0x11, 0x0F},             /* d */
    {0x00, 0x00, 0x0E, 0x11, 0x1F, 0x10, 0x0E},             /* e */
    {0x06, 0x08, 0x08, 0x1C, 0x08, 0x08, 0x08},             /* f */
    {0x00, 0x00, 0x0F, 0x11, 0x11, 0x11, 0x0F, 0x01, 0x0E}, /* g */
    {0x10, 0x10, 0x16, 0x19, 0x11, 0x11, 0x11},             /* h */
    {0x04, 0x00, 0x0C, 0x04, 0x04, 0x04, 0x0E},             /* i */
    {0x02, 0x00, 0x06, 0x02, 0x02, 0x02, 0x02, 0x12, 0x0C}, /* j */
    {0x10, 0x10, 0x12, 0x14, 0x18, 0x14, 0x12},             /* k */
    {0x0C, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0E},             /* l */
    {0x00, 0x00, 0x1A, 0x15, 0x15, 0x15, 0x15},             /* m */
    {0x00, 0x00, 0x16, 0x19, 0x11, 0x11, 0x11},             /* n */
    {0x00, 0x00, 0x0E, 0x11, 0x11, 0x11, 0x0E},             /* o */
    {0x00, 0x00, 0x16, 0x19, 0x11, 0x11, 0x1E, 0x10, 0x10}, /* p */
    {0x00, 0x00, 0x0D, 0x13, 0x11, 0x11, 0x0F, 0x01, 0x01}, /* q */
    {0x00, 0x00, 0x16, 0x18, 0x10, 0x10, 0x10},             /* r */
    {0x00, 0x00, 0x0F, 0x10, 0x0E, 0x01, 0x1E},             /* s */
    {0x08, 0x08, 0x1C, 0x08, 0x08, 0x08, 0x06},             /* t */
    {0x00, 0x00, 0x11, 0x11, 0x11, 0x13, 0x0D},             /* u */
    {0x00, 0x00, 0x11, 0x11, 0x11, 0x0A, 0x04},             /* v */
    {0x00, 0x00, 0x11, 0x11, 0x15, 0x15, 0x0A},             /* w */
    {0x00, 0x00, 0x11, 0x0A, 0x04, 0x0A, 0x11},             /* x */
    {0x00, 0x00, 0x11, 0x11, 0x11, 0x11, 0x0F, 0x01, 0x0E}, /* y */
    {0x00, 0x00, 0x1F, 0x02, 0x04, 0x08, 0x1F},             /* z */
    {0x02, 0x04, 0x04, 0x08, 0x04, 0x04, 0x02},             /* { */
    {0x04, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04},             /* | */
    {0x08, 0x04, 0x04, 0x02, 0x04, 0x04, 0x08},             /* } */
    {0x00, 0x00, 0x08, 0x15, 0x02, 0x00, 0x00},             /* ~ */
    {0x0C, 0x12, 0x12, 0x0C},                               /* degree */
    {0x00, 0x00, 0x12, 0x12, 0x12, 0x12, 0x1D, 0x10, 0x10}, /* micro */
    {0x0C, 0x02, 0x04, 0x08, 0x0E},                         /* superscript 2 */
    {0x0C, 0x02, 0x04, 0x02, 0x0C},                         /* superscript 3 */
    {0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00},             /* middle dot */
    {0x00, 0x00, 0x11, 0x0A, 0x04, 0x0A, 0x11},             /* times */
    {0x04, 0x0A, 0x0A, 0x0A, 0x04},                         /* superscript 0 */
    {0x04, 0x0C, 0x04, 0x04, 0x0E},                         /* superscript 1 */
    {0x0A, 0x0A, 0x0E, 0x02, 0x02},                         /* superscript 4 */
    {0x0E, 0x08, 0x0C, 0x02, 0x0C},                         /* superscript 5 */
    {0x06, 0x08, 0x0C, 0x0A, 0x04},                         /* superscript 6 */
    {0x0E, 0x02, 0x04, 0x04, 0x04},                         /* superscript 7 */
    {0x04, 0x0A, 0x04, 0x0A, 0x04},                         /* superscript 8 */
    {0x04, 0x0A, 0x06, 0x02, 0x0C},                         /* superscript 9 */
    {0x00, 0x00, 0x0E},                                     /* superscript minus */
};

static const uint16_t extras[] = {0xB0,   0xB5,   0xB2,   0xB3,   0xB7,   0xD7,   0x2070, 0xB9,
                                  0x2074, 0x2075, 0x2076, 0x2077, 0x2078, 0x2079, 0x207B};
_Static_assert(sizeof glyphs / sizeof *glyphs == ASCII + sizeof extras / sizeof *extras,
               "a glyph for every character");

/* The glyph of the next character; moves *text behind it. */
static int next_glyph(const char **text)
{
    const unsigned char *p = (const unsigned char *)*text;
    unsigned code = *p++;
    if (code >= 0xC0 && (*p & 0xC0) == 0x80) {
        const bool three = code >= 0xE0 && code < 0xF0 && (p[1] & 0xC0) == 0x80;
        code = code < 0xE0 ? (code & 0x1F) << 6 | (*p & 0x3F)
               : three     ? (code & 0x0F) << 12 | (*p & 0x3Fu) << 6 | (p[1] & 0x3F)
                           : 0;
        while ((*p & 0xC0) == 0x80)
            p++;
    }
    *text = (const char *)p;
    if (code >= FIRST && code < FIRST + ASCII)
        return (int)code - FIRST;
    if (code == 0x3BC) /* Greek mu for micro */
        code = 0xB5;
    for (size_t k = 0; k < sizeof extras / sizeof *extras; k++)
        if (code == extras[k])
            return ASCII + (int)k;
    return '?' - FIRST;
}

/* First inked column and the number of columns; digits all take the full width, so that columns
 * of numbers line up. */
static int glyph_span(int glyph, int *first)
{
    unsigned ink = 0;
    *first = 0;
    if (glyph >= '0' - FIRST && glyph <= '9' - FIRST)
        return GLYPH_COLUMNS;
    for (int row = 0; row < TZ_FONT_HEIGHT; row++)
        ink |= glyphs[glyph][row];
    if (!ink)
        return SPACE_ADVANCE - 1;
    int last = GLYPH_COLUMNS - 1;
    while (!(ink >> (GLYPH_COLUMNS - 1 - *first) & 1))
        ++*first;
    while (!(ink >> (GLYPH_COLUMNS - 1 - last) & 1))
        last--;
    return last - *first + 1;
}

static bool inked(int glyph, int x, int y)
{
    return x >= 0 && y >= 0 && x < GLYPH_COLUMNS && y < TZ_FONT_HEIGHT &&
           (glyphs[glyph][y] >> (GLYPH_COLUMNS - 1 - x) & 1);
}

/* The square of the distance from a point to the line from a to b. */
static double line_distance(double px, double py, const double a[2], const double b[2])
{
    const double dx = b[0] - a[0], dy = b[1] - a[1], square = dx * dx + dy * dy;
    double t = square > 0 ? ((px - a[0]) * dx + (py - a[1]) * dy) / square : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    const double x = px - a[0] - t * dx, y = py - a[1] - t * dy;
    return x * x + y * y;
}

/* The same to the stroke around the middle of the inked pixel x, y: it goes half the way to each
 * neighbour, and curves where it has two of them. Diagonal neighbours count if no other pixel joins
 * them. */
static double stroke_distance(int glyph, int x, int y, double px, double py)
{
    enum { PARTS = 4 };
    const double middle[2] = {x + 0.5, y + 0.5};
    double ends[8][2], nearest = line_distance(px, py, middle, middle);
    int count = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if ((dx || dy) && inked(glyph, x + dx, y + dy) &&
                !(dx && dy && (inked(glyph, x + dx, y) || inked(glyph, x, y + dy)))) {
                ends[count][0] = middle[0] + dx * 0.5;
                ends[count++][1] = middle[1] + dy * 0.5;
            }
    for (int k = 0; k < count && count != 2; k++)
        nearest = fmin(nearest, line_distance(px, py, middle, ends[k]));
    if (count != 2)
        return nearest;
    double from[2] = {ends[0][0], ends[0][1]};
    nearest = INFINITY;
    for (int k = 1; k <= PARTS; k++) {
        const double t = (double)k / PARTS, u = 1 - t;
        const double to[2] = {u * u * ends[0][0] + 2 * u * t * middle[0] + t * t * ends[1][0],
                              u * u * ends[0][1] + 2 * u * t * middle[1] + t * t * ends[1][1]};
        nearest = fmin(nearest, line_distance(px, py, from, to));
        memcpy(from, to, sizeof from);
    }
    return nearest;
}

/* The coverage of a sub-pixel, 0 to 255: from scale 2 on the pixels of a glyph are the nodes of
 * round strokes. */
static int coverage(int glyph, int sub_x, int sub_y, int scale)
{
    const int x = (int)floor((double)sub_x / scale), y = (int)floor((double)sub_y / scale);
    if (scale < 2)
        return inked(glyph, x, y) ? 255 : 0;
    const double px = (sub_x + 0.5) / scale, py = (sub_y + 0.5) / scale, half = 0.46;
    double nearest = INFINITY;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (inked(glyph, x + dx, y + dy))
                nearest = fmin(nearest, stroke_distance(glyph, x + dx, y + dy, px, py));
    const double cover = (half - sqrt(nearest)) * scale + 0.5;
    return cover <= 0 ? 0 : cover >= 1 ? 255 : (int)(255 * cover + 0.5);
}

int tz_font_width(const char *text, int scale)
{
    int width = 0, first;
    while (*text)
        width += glyph_span(next_glyph(&text), &first) + 1;
    return width > 0 ? (width - 1) * scale : 0;
}

static void draw_text(tz_image *image, int x, int y, const char *text, int scale,
                      const uint8_t rgb[3], bool up)
{
    for (int along = 0; *text;) {
        int first;
        const int glyph = next_glyph(&text), span = glyph_span(glyph, &first);
        for (int j = 0; j < TZ_FONT_HEIGHT * scale; j++)
            for (int i = 0; i < span * scale; i++)
                tz_image_blend(image, up ? x + j : x + along + i, up ? y - along - i : y + j, rgb,
                               coverage(glyph, first * scale + i, j, scale));
        along += (span + 1) * scale;
    }
}

/* A text of SVG, as wide as ours. Helvetica's digits are as wide as ours at this size. */
static void put_text(tz_image *image, double x, double y, const char *text, int scale,
                     const uint8_t rgb[3], const char *more)
{
    FILE *to = image->vectors;
    if (!text[0])
        return;
    fprintf(to,
            "<text x=\"%g\" y=\"%g\" font-size=\"%.1f\" textLength=\"%d\" "
            "lengthAdjust=\"spacingAndGlyphs\"%s",
            x, y, TZ_FONT_SIZE * scale, tz_font_width(text, scale), more);
    put_colour(to, "fill", rgb);
    fputc('>', to);
    tz_text_xml(to, text);
    fputs("</text>\n", to);
}

void tz_font_draw_rimmed(tz_image *image, int x, int y, const char *text, int scale,
                         const uint8_t rgb[3], const uint8_t rim_rgb[3])
{
    char rim[120];
    snprintf(rim, sizeof rim,
             " stroke=\"#%02x%02x%02x\" stroke-width=\"%d\" paint-order=\"stroke\"", rim_rgb[0],
             rim_rgb[1], rim_rgb[2], 2);
    if (image->vectors) {
        put_text(image, x, y + TZ_FONT_ASCENT * scale, text, scale, rgb, rim);
        return;
    }
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            draw_text(image, x + dx, y + dy, text, scale, rim_rgb, false);
    draw_text(image, x, y, text, scale, rgb, false);
}

void tz_font_draw(tz_image *image, int x, int y, const char *text, int scale, const uint8_t rgb[3])
{
    if (image->vectors)
        put_text(image, x, y + TZ_FONT_ASCENT * scale, text, scale, rgb, "");
    else
        draw_text(image, x, y, text, scale, rgb, false);
}

void tz_font_draw_up(tz_image *image, int x, int y, const char *text, int scale,
                     const uint8_t rgb[3])
{
    char turned[80];
    snprintf(turned, sizeof turned, " transform=\"rotate(-90 %d %d)\"", x + TZ_FONT_ASCENT * scale,
             y);
    if (image->vectors)
        put_text(image, x + TZ_FONT_ASCENT * scale, y, text, scale, rgb, turned);
    else
        draw_text(image, x, y, text, scale, rgb, true);
}
