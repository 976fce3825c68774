#include "output/frame/image.h"

#include <math.h>
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
    free(image->data);
    free(image);
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

void tz_image_fill(tz_image *image, int x, int y, int width, int height, const uint8_t rgb[3])
{
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
}

void tz_image_line(tz_image *image, double x0, double y0, double x1, double y1, double thickness,
                   const uint8_t rgb[3])
{
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

void tz_image_blend_mask(tz_image *image, const tz_image *mask, const uint8_t rgb[3])
{
    const uint8_t *coverage = mask->data;
    for (int y = 0; y < mask->height; y++)
        for (int x = 0; x < mask->width; x++, coverage++)
            tz_image_blend(image, x, y, rgb, *coverage);
}
