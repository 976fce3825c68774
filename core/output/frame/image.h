/* Pictures in memory: rows from the top, no padding, owned pixels. */
#ifndef TZ_CORE_OUTPUT_FRAME_IMAGE_H
#define TZ_CORE_OUTPUT_FRAME_IMAGE_H

#include "base/error.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum tz_pixel {
    TZ_PIXEL_GRAY8,
    TZ_PIXEL_RGB8,
    TZ_PIXEL_GRAY16,
    TZ_PIXEL_INDEX8 /* of `palette` */
} tz_pixel;

typedef struct tz_image {
    int width, height; /* pixels */
    tz_pixel pixel;
    double scale, offset;     /* GRAY16: value = offset + scale * pixel */
    uint8_t palette[256][3];  /* INDEX8: sRGB */
    int picture_x, picture_y; /* where the cells are, without colour bar and caption */
    int picture_width, picture_height;
    bool clear;      /* RGB8: formats that can leave out pixels of that colour */
    uint8_t *data;   /* owned; GRAY16 in native byte order, aligned for uint16_t */
    double width_mm; /* on paper; 0: not said */
    /* Of tz_image_record(): elements of SVG. Owned. */
    FILE *vectors;
    char *svg;
    size_t svg_bytes, svg_cells; /* the cells lie over the first svg_cells bytes */
    double thickness;            /* of a mask's lines */
} tz_image;

enum { TZ_IMAGE_MAX_EXTENT = 32768 };

/* Nearly white, for formats that cannot. */
#define TZ_IMAGE_CLEAR                                                                             \
    {                                                                                              \
        254, 252, 254                                                                              \
    }

/* Bytes of one pixel: 1, 3, 2 or 1. */
int tz_pixel_bytes(tz_pixel pixel);

/* A black picture. Errors: TZ_RANGE (extents outside 1..TZ_IMAGE_MAX_EXTENT), TZ_MEMORY. */
tz_status tz_image_create(tz_image **out, tz_pixel pixel, int width, int height, tz_error *error);
void tz_image_destroy(tz_image *image); /* NULL is fine */
/* From now on what is drawn (RGB8) becomes elements of SVG, not pixels; pictures that are pasted
 * stay pixels below their own elements. TZ_MEMORY. */
tz_status tz_image_record(tz_image *image, tz_error *error);
/* Row y as sRGB: 3 x width bytes. Not of GRAY16. */
void tz_image_row(const tz_image *image, int y, uint8_t *rgb);

/* A text that a file keeps beside the picture. */
typedef struct tz_image_note {
    const char *key;   /* 1 to 79 printable ASCII characters, as PNG requires */
    const char *value; /* UTF-8 */
} tz_image_note;

/* Write a picture to a file, which must not exist and appears whole or not at all. */
typedef tz_status tz_image_write(const char *path, const tz_image *image,
                                 const tz_image_note *notes, size_t count, tz_error *error);

/* The rest is for RGB8 and clips to the picture. */

/* Mix `rgb` over a pixel: coverage 0 (nothing) to 255 (all of it). */
void tz_image_blend(tz_image *image, int x, int y, const uint8_t rgb[3], int coverage);
/* The same of an area. */
void tz_image_shade(tz_image *image, int x, int y, int width, int height, const uint8_t rgb[3],
                    int coverage);
void tz_image_fill(tz_image *image, int x, int y, int width, int height, const uint8_t rgb[3]);
/* Copy all of `from` (RGB8 or GRAY8) with its corner at x, y. */
void tz_image_paste(tz_image *image, int x, int y, const tz_image *from);
/* A line with soft edges between points in pixels (0.5, 0.5 is the middle of the first pixel). A
 * GRAY8 picture becomes a mask: each pixel keeps the greatest coverage of its lines, and `rgb` is
 * not read. Where lines meet, a mask has no darker spots. */
void tz_image_line(tz_image *image, double x0, double y0, double x1, double y1, double thickness,
                   const uint8_t rgb[3]);
/* A mask of the picture's size, which records if the picture does. TZ_RANGE, TZ_MEMORY. */
tz_status tz_image_create_mask(tz_image **out, const tz_image *image, tz_error *error);
/* Mix `rgb` over a picture as the mask says, of the same size. */
void tz_image_blend_mask(tz_image *image, const tz_image *mask, const uint8_t rgb[3]);

/* A small proportional font of round strokes, at scale 1 of pixels: ASCII and the signs that units
 * need (degree, micro, superscript digits and minus, middle dot, times). Text is UTF-8; what the
 * font lacks is drawn as '?'. */

enum {
    TZ_FONT_ASCENT = 7, /* pixels above the baseline, at scale 1 */
    TZ_FONT_HEIGHT = 9  /* with descenders */
};

/* Width in pixels of a line of text at scale 1, 2, 3, ... */
int tz_font_width(const char *text, int scale);

/* In vectors, the size of a common font of that width. */
#define TZ_FONT_SIZE 10.8

/* Draw with the top left corner at x, y; clipped to the picture (RGB8). */
void tz_font_draw(tz_image *image, int x, int y, const char *text, int scale, const uint8_t rgb[3]);
/* The same with a rim, which can be read on any colour. */
void tz_font_draw_rimmed(tz_image *image, int x, int y, const char *text, int scale,
                         const uint8_t rgb[3], const uint8_t rim_rgb[3]);
/* The same from the lower left corner upwards, turned to the left. */
void tz_font_draw_up(tz_image *image, int x, int y, const char *text, int scale,
                     const uint8_t rgb[3]);

#endif
