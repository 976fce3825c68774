/* From planes of values to a picture: frame.c calls it. */
#include "output/frame/canvas.h"

#include "base/minmax.h"
#include "output/frame/axes.h"
#include "output/frame/image.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t not_a_number_rgb[3] = {255, 0, 255};
static const uint8_t separator_rgb[3] = {255, 255, 255};

int tz_canvas_tile_columns(int count, int64_t nx, int64_t ny)
{
    int best = 1;
    double best_excess = INFINITY;
    for (int columns = 1; columns <= count; columns++) {
        const int rows = (count + columns - 1) / columns;
        const double width = (double)columns * (double)nx, height = (double)rows * (double)ny;
        /* The lower, the better a layout: its distance from a square and the places left empty. A
         * full 4 x 2 is better than a 3 x 3 with one empty place. */
        const double excess = fabs(log(width / height)) +
                              2.0 * (double)(columns * rows - count) / (double)(columns * rows);
        if (excess < best_excess - 1e-9) {
            best = columns;
            best_excess = excess;
        }
    }
    return best;
}

int64_t tz_canvas_tile_slice(int k, int count, int64_t nz)
{
    return count >= nz ? k : (int64_t)((k + 0.5) * (double)nz / count);
}

/* Pixels a value: an integer that makes the longer side at most o->zoom_to, or what makes it
 * o->exact. `gaps` pixels lie between the planes along that side. */
static double choose_zoom(const tz_canvas_options *o, int width, int height, int gaps)
{
    const int longest = width > height ? width : height;
    if (o->width > 0)
        return o->width > gaps ? (double)(o->width - gaps) / width : 1.0 / width;
    if (o->exact > 0)
        return o->exact > gaps ? (double)(o->exact - gaps) / longest : 1.0 / longest;
    return o->zoom_to - gaps > longest ? (o->zoom_to - gaps) / longest : 1;
}

/* Draw one row of values. */
static void draw_row(uint8_t *to, const double *values, int nx, double lo, double hi,
                     const tz_colormap *map)
{
    uint16_t *wide = (uint16_t *)(void *)to;
    for (int i = 0; i < nx && map; i++) {
        const int k = tz_colormap_index(values[i], lo, hi);
        memcpy(to + 3 * i, k < 0 ? not_a_number_rgb : map->rgb[k], 3);
    }
    for (int i = 0; i < nx && !map; i++) {
        const double t = hi > lo ? (values[i] - lo) / (hi - lo) : 0.0;
        wide[i] = (uint16_t)(t >= 1.0 ? 65535.0 : t > 0.0 ? t * 65535.0 + 0.5 : 0.0);
    }
}

/* Darken a row of pixels, or paint what is behind the cells. */
static void shade_row(uint8_t *to, const float *shades, int nx)
{
    static const uint8_t behind[] = {252, 226, 214, 238}; /* outside, walls across x, y, z */
    static const uint8_t clear[3] = TZ_IMAGE_CLEAR;
    for (int i = 0; i < nx; i++)
        for (int c = 0; c < 3; c++, to++)
            *to = shades[i] == TZ_SHADE_CLEAR ? clear[c]
                  : shades[i] < 0             ? behind[(int)-shades[i] - 1]
                                              : (uint8_t)(*to * shades[i] + 0.5f);
}

/* The value of each of `pixels` pixels, of `count` values: each is repeated as often as it comes
 * to. In a window, values begin at `first` and are `zoom` pixels wide. */
static int value_at(int pixel, int pixels, int count, double first, double zoom)
{
    if (zoom == 0)
        return (int)(((int64_t)2 * pixel + 1) * count / (2 * (int64_t)pixels));
    const double at = first + (pixel + 0.5) / zoom;
    return at <= 0 ? 0 : at >= count ? count - 1 : (int)at;
}

static bool leaves_out(const tz_plane *plane)
{
    for (int64_t i = 0; plane->shades && i < (int64_t)plane->nx * plane->ny; i++)
        if (plane->shades[i] == TZ_SHADE_CLEAR)
            return true;
    return false;
}

static tz_status draw_plane(tz_image *image, const tz_plane *plane, int left, int top, int width,
                            int height, const tz_range *range, const tz_canvas_options *o,
                            tz_error *error)
{
    const tz_window *window = &plane->window;
    const tz_colormap *map = o->gray16 ? NULL : o->map;
    const size_t bytes = (size_t)tz_pixel_bytes(image->pixel), nx = (size_t)plane->nx;
    const size_t stride = (size_t)image->width * bytes;
    uint8_t *row = malloc(nx * bytes);
    if (!row)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a picture");
    for (int y = 0, before = -1; y < height; y++) {
        uint8_t *to = image->data + (size_t)(top + y) * stride + (size_t)left * bytes;
        const int j = value_at(y, height, plane->ny, window->y, window->zoom);
        if (j == before) {
            memcpy(to, to - stride, (size_t)width * bytes);
            continue;
        }
        before = j;
        draw_row(row, plane->values + (size_t)j * nx, plane->nx, range->lo, range->hi, map);
        if (plane->shades && map)
            shade_row(row, plane->shades + (size_t)j * nx, plane->nx);
        for (int x = 0; x < width; x++)
            memcpy(to + (size_t)x * bytes,
                   row + (size_t)value_at(x, width, plane->nx, window->x, window->zoom) * bytes,
                   bytes);
    }
    free(row);
    image->clear = image->clear || (map && leaves_out(plane));
    return TZ_OK;
}

/* The place of each tile in its corner, if the tiles have room for it. */
static void label_tiles(tz_image *image, const tz_overlay_place *places, int count,
                        const tz_canvas_options *o)
{
    const int width = (int)lround(places[0].plane->nx * places[0].zoom);
    const int height = (int)lround(places[0].plane->ny * places[0].zoom);
    const int scale = width >= 200 ? 2 : 1;
    char label[32];
    snprintf(label, sizeof label, "%c %" PRId64, o->slice_axis, o->slices - 1);
    if (tz_font_width(label, scale) + 8 * scale > width || 4 * TZ_FONT_HEIGHT * scale > height)
        return;
    for (int k = 0; k < count; k++) {
        snprintf(label, sizeof label, "%c %" PRId64, o->slice_axis,
                 tz_canvas_tile_slice(k, count, o->slices));
        tz_overlay_plate(image, (int)places[k].x, (int)places[k].y, label, scale);
    }
}

/* Draw a plane, without path or bar, in the map's 256 colours. That takes a third of the memory
 * and of the time to compress. *out stays NULL if there is a NaN, whose colour is not in the map.
 * */
static tz_status draw_indexed(tz_image **out, const tz_plane *plane, int zoom, double lo, double hi,
                              const tz_colormap *map, tz_error *error)
{
    tz_image *image;
    tz_status status =
        tz_image_create(&image, TZ_PIXEL_INDEX8, plane->nx * zoom, plane->ny * zoom, error);
    if (status != TZ_OK)
        return status;
    memcpy(image->palette, map->rgb, sizeof image->palette);
    const double scale = (TZ_COLORMAP_SIZE - 1) / (hi - lo), top = TZ_COLORMAP_SIZE - 1;
    int nans = 0;
    for (int j = 0; j < plane->ny; j++) {
        const double *values = plane->values + (size_t)j * (size_t)plane->nx;
        uint8_t *first = image->data + (size_t)j * (size_t)zoom * (size_t)image->width, *to = first;
        if (zoom == 1)
            for (int i = 0; i < plane->nx; i++) {
                const double t = (values[i] - lo) * scale;
                const double clipped = t > 0.0 ? t : 0.0;
                first[i] = (uint8_t)((clipped < top ? clipped : top) + 0.5);
                nans += t != t;
            }
        else
            for (int i = 0; i < plane->nx; i++, to += zoom) {
                const int k = tz_colormap_index(values[i], lo, hi);
                nans += k < 0;
                memset(to, k, (size_t)zoom);
            }
        for (int z = 1; z < zoom; z++)
            memcpy(first + (size_t)z * (size_t)image->width, first, (size_t)image->width);
    }
    if (nans)
        tz_image_destroy(image);
    else
        *out = image;
    return TZ_OK;
}

static tz_status check(const tz_canvas_options *o, int count, tz_error *error)
{
    if (!o->gray16 && !o->map)
        return tz_error_set(error, TZ_USAGE, NULL, "a picture needs a colour map");
    if (o->gray16 &&
        (o->colorbar || o->axes || tz_overlay_any(&o->overlay) || (o->caption && o->caption[0])))
        return tz_error_set(error, TZ_USAGE, NULL,
                            "a 16-bit gray picture holds values only: no colour bar, caption, "
                            "path, contour lines or marks");
    if (o->overlay.path_count > 0 && count > 1)
        return tz_error_set(error, TZ_USAGE, NULL, "a path cannot be drawn on a montage");
    if (isnan(o->lo) || isnan(o->hi) || isinf(o->lo) || isinf(o->hi) || o->hi < o->lo)
        return tz_error_set(error, TZ_RANGE, NULL,
                            "a picture's range must be two finite numbers, the lower one first");
    return TZ_OK;
}

static bool has_frame(const tz_canvas_options *o)
{
    return o->colorbar || o->axes || (o->caption && o->caption[0]);
}

/* Colours alone, of whole pixels, for a range that is `width` wide? */
static bool is_plain(const tz_canvas_options *o, const tz_plane *plane, double zoom, double width)
{
    return !o->gray16 && !tz_overlay_any(&o->overlay) && !has_frame(o) && !o->vectors &&
           plane->window.width == 0 && !plane->shades && zoom == floor(zoom) && zoom >= 1 &&
           width > 0.0 && isfinite(width);
}

/* Where a plane is in its tile: a window, or all of it. */
static tz_window tile_of(const tz_canvas_options *o, const tz_plane *plane, int columns, int rows,
                         int gaps)
{
    if (plane->window.width > 0)
        return plane->window;
    const double zoom = choose_zoom(o, columns * plane->nx, rows * plane->ny, gaps);
    return (tz_window){.width = tz_max_int(1, (int)lround(plane->nx * zoom)),
                       .height = tz_max_int(1, (int)lround(plane->ny * zoom)),
                       .zoom = zoom};
}

static tz_colorbar bar_of(const tz_canvas_options *o, const tz_range *range)
{
    return (tz_colorbar){.map = o->colorbar ? o->map : NULL,
                         .lo = range->lo,
                         .hi = range->hi,
                         .log = o->log,
                         .unit = o->unit,
                         .caption = o->caption,
                         .axes = o->axes,
                         .scale = o->scale};
}

/* Replace the picture by one with the colour bar and caption of the options. */
static tz_status add_bar(tz_image **picture, const tz_canvas_options *o, const tz_colorbar *bar,
                         tz_error *error)
{
    if (!has_frame(o))
        return TZ_OK;
    tz_image *framed;
    const tz_status status = tz_colorbar_attach(&framed, *picture, bar, error);
    if (status != TZ_OK)
        return status;
    framed->clear = (*picture)->clear;
    tz_image_destroy(*picture);
    *picture = framed;
    return TZ_OK;
}

tz_status tz_canvas_draw(tz_image **out, const tz_plane *const *planes, int count,
                         const tz_canvas_options *options, tz_error *error)
{
    tz_canvas_options sized = *options;
    tz_canvas_options *o = &sized;
    *out = NULL;
    tz_image *image = NULL;
    tz_overlay_place *places = NULL;
    tz_status status = count < 1 ? tz_error_set(error, TZ_USAGE, NULL, "there is no plane to draw")
                                 : check(o, count, error);
    if (status != TZ_OK)
        return status;
    tz_range range = {.lo = o->lo, .hi = o->hi};
    for (int k = 0; k < count && o->lo == 0.0 && o->hi == 0.0; k++)
        tz_range_add(&range, TZ_DTYPE_F64, planes[k]->values,
                     (int64_t)planes[k]->nx * planes[k]->ny);
    const int nx = planes[0]->nx, ny = planes[0]->ny;
    const int columns = count == 1 ? 1 : tz_canvas_tile_columns(count, nx, ny);
    const int rows = (count + columns - 1) / columns;
    const int gap = count == 1 ? 0 : nx >= 128 ? 2 : 1;
    const double longest = fmax((double)columns * nx, (double)rows * ny);
    if (longest > TZ_IMAGE_MAX_EXTENT)
        return tz_error_set(error, TZ_RANGE, NULL, "%d slices of %d x %d make too large a picture",
                            count, nx, ny);
    const tz_colorbar bar = bar_of(o, &range);
    if (o->width > 0 && has_frame(o))
        o->width = tz_colorbar_room(&bar, o->width, (double)(rows * ny) / (columns * nx));
    const int gaps = gap * ((o->width > 0 || columns > rows ? columns : rows) - 1);
    const tz_window tile = tile_of(o, planes[0], columns, rows, gaps);
    const int across = tile.width, down = tile.height;
    const double zoom = tile.zoom;
    if (count == 1 && is_plain(o, planes[0], zoom, range.hi - range.lo)) {
        status = draw_indexed(&image, planes[0], (int)zoom, range.lo, range.hi, o->map, error);
        if (status != TZ_OK)
            return status;
        if (image)
            goto done;
    }
    status = tz_image_create(&image, o->gray16 ? TZ_PIXEL_GRAY16 : TZ_PIXEL_RGB8,
                             columns * (across + gap) - gap, rows * (down + gap) - gap, error);
    if (status != TZ_OK)
        return status;
    if (!o->gray16 && count > 1)
        tz_image_fill(image, 0, 0, image->width, image->height, separator_rgb);
    places = calloc((size_t)count, sizeof *places);
    if (!places)
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a picture");
    for (int k = 0; k < count && status == TZ_OK; k++) {
        const int left = k % columns * (across + gap), top = k / columns * (down + gap);
        places[k] = (tz_overlay_place){
            .plane = planes[k], .x = left - tile.x * zoom, .y = top - tile.y * zoom, .zoom = zoom};
        status =
            planes[k]->nx == nx && planes[k]->ny == ny
                ? draw_plane(image, planes[k], left, top, across, down, &range, o, error)
                : tz_error_set(error, TZ_SHAPE, NULL, "the planes of a montage differ in size");
    }
    if (status == TZ_OK && o->vectors)
        status = tz_image_record(image, error);
    if (status == TZ_OK)
        status =
            tz_overlay_draw(image, places, count, &o->overlay, range.lo, range.hi, o->map, error);
    if (status != TZ_OK)
        goto cleanup;
    if (o->gray16) {
        image->scale = (range.hi - range.lo) / 65535.0;
        image->offset = range.lo;
    }
    if (o->slice_axis && count > 1)
        label_tiles(image, places, count, o);
    status = add_bar(&image, o, &bar, error);
    if (status != TZ_OK)
        goto cleanup;
done:
    image->width_mm = o->width_mm;
    *out = image;
    image = NULL;
cleanup:
    free(places);
    tz_image_destroy(image);
    return status;
}
