/* What is drawn over the cells of a picture: canvas.c calls it. */
#include "output/frame/overlay.h"

#include "output/frame/image.h"
#include <math.h>
#include <string.h>

static const uint8_t black_rgb[3] = {0, 0, 0}, white_rgb[3] = {255, 255, 255};
static const uint8_t rim_rgb[3] = {20, 20, 20};

bool tz_overlay_any(const tz_overlay *overlay)
{
    return overlay->contours_count > 0 || overlay->contours_even > 0 || overlay->mark_min ||
           overlay->mark_max || overlay->outlines_count > 0 || overlay->path_count > 0 ||
           overlay->grid_lines;
}

tz_status tz_overlay_check_path(const tz_overlay *overlay, int64_t nx, int64_t ny, tz_error *error)
{
    for (int64_t i = 0; i < overlay->path_count; i++) {
        const tz_overlay_point p = overlay->path[i];
        if (!(p.x >= 0 && p.x <= (double)(nx - 1) && p.y >= 0 && p.y <= (double)(ny - 1)))
            return tz_error_set(error, TZ_RANGE, NULL,
                                "path[%lld] is at (%g, %g), outside the grid of %lld x %lld cells",
                                (long long)i + 1, p.x, p.y, (long long)nx, (long long)ny);
    }
    return TZ_OK;
}

int tz_overlay_levels(const tz_overlay *overlay, double lo, double hi,
                      double levels[TZ_CONTOURS_MAX])
{
    for (int i = 0; i < overlay->contours_count; i++)
        levels[i] = overlay->contours[i];
    if (overlay->contours_count > 0)
        return overlay->contours_count;
    for (int i = 0; i < overlay->contours_even; i++)
        levels[i] = lo + (hi - lo) * (i + 1) / (overlay->contours_even + 1);
    return lo < hi ? overlay->contours_even : 0;
}

/* Pixels across a line: more in a large picture. */
static double line_width(const tz_image *image)
{
    return fmax(1.2, (image->width > image->height ? image->width : image->height) / 800.0);
}

/* ---- Contour lines --------------------------------------------------------------------------- */

typedef struct point {
    double x, y;
} point;

/* The square between four neighbouring values; corners in the order (0, 0), (1, 0), (1, 1), (0,
 * 1). */
typedef struct square {
    double values[4];
    point corners[4]; /* in pixels */
} square;

static point crossing(const square *s, int side, double level)
{
    const int a = side, b = (side + 1) % 4;
    const double t = (level - s->values[a]) / (s->values[b] - s->values[a]);
    return (point){s->corners[a].x + t * (s->corners[b].x - s->corners[a].x),
                   s->corners[a].y + t * (s->corners[b].y - s->corners[a].y)};
}

/* Marching squares. In a saddle the mean of the corners tells which two corners are joined. */
static void draw_square(tz_image *mask, const square *s, double level, double width)
{
    point ends[4];
    int count = 0;
    for (int side = 0; side < 4; side++)
        if ((s->values[side] >= level) != (s->values[(side + 1) % 4] >= level))
            ends[count++] = crossing(s, side, level);
    const double middle = (s->values[0] + s->values[1] + s->values[2] + s->values[3]) / 4;
    /* Of four ends, 0 and 1 are around corner 1, 2 and 3 around corner 3. */
    const bool turned = count == 4 && (middle >= level) != (s->values[0] >= level);
    for (int i = 0; i + 1 < count; i += 2) {
        const point a = ends[turned && i == 0 ? 3 : turned ? 1 : i];
        const point b = ends[turned && i == 0 ? 0 : turned ? 2 : i + 1];
        tz_image_line(mask, a.x, a.y, b.x, b.y, width, NULL);
    }
}

static bool is_dark(double level, double lo, double hi, const tz_colormap *map)
{
    const int k = tz_colormap_index(level, lo, hi);
    const uint8_t *rgb = map->rgb[k < 0 ? 0 : k];
    return 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2] < 128;
}

static square square_at(const tz_overlay_place *place, int i, int j)
{
    static const int dx[4] = {0, 1, 1, 0}, dy[4] = {0, 0, 1, 1};
    square s;
    for (int c = 0; c < 4; c++) {
        const int x = i + dx[c], y = j + dy[c];
        s.values[c] = place->plane->values[(size_t)y * (size_t)place->plane->nx + (size_t)x];
        s.corners[c] =
            (point){place->x + (x + 0.5) * place->zoom, place->y + (y + 0.5) * place->zoom};
    }
    return s;
}

static void draw_lines(tz_image *mask, const tz_overlay_place *place, const double *levels,
                       int count)
{
    const double width = line_width(mask);
    for (int j = 0; j + 1 < place->plane->ny; j++)
        for (int i = 0; i + 1 < place->plane->nx; i++) {
            const square s = square_at(place, i, j);
            const double *v = s.values;
            if (!isfinite(v[0]) || !isfinite(v[1]) || !isfinite(v[2]) || !isfinite(v[3]))
                continue;
            const double least = fmin(fmin(v[0], v[1]), fmin(v[2], v[3]));
            const double most = fmax(fmax(v[0], v[1]), fmax(v[2], v[3]));
            for (int k = 0; k < count; k++)
                if (least < levels[k] && levels[k] <= most)
                    draw_square(mask, &s, levels[k], width);
        }
}

static tz_status draw_contours(tz_image *image, const tz_overlay_place *places, int count,
                               const tz_overlay *overlay, double lo, double hi,
                               const tz_colormap *map, tz_error *error)
{
    double all[TZ_CONTOURS_MAX], levels[TZ_CONTOURS_MAX];
    const int levels_count = tz_overlay_levels(overlay, lo, hi, all);
    for (int dark = 0; dark < 2; dark++) {
        int n = 0;
        for (int i = 0; i < levels_count; i++)
            if (is_dark(all[i], lo, hi, map) == (dark == 1))
                levels[n++] = all[i];
        tz_image *mask;
        if (n == 0)
            continue;
        const tz_status status = tz_image_create_mask(&mask, image, error);
        if (status != TZ_OK)
            return status;
        for (int k = 0; k < count; k++)
            draw_lines(mask, &places[k], levels, n);
        tz_image_blend_mask(image, mask, dark ? white_rgb : black_rgb);
        tz_image_destroy(mask);
    }
    return TZ_OK;
}

/* ---- Outlines -------------------------------------------------------------------------------- */

enum { NAME_MARGIN = 3, NAME_SCALE_MAX = 2 };

void tz_overlay_plate(tz_image *image, int x, int y, const char *text, int scale)
{
    enum { DARK = 170 };
    const int margin = 2 * scale;
    const int width = tz_font_width(text, scale) + 2 * margin;
    const int height = TZ_FONT_ASCENT * scale + 2 * margin;
    tz_image_shade(image, x, y, width, height, rim_rgb, DARK);
    tz_font_draw(image, x + margin, y + margin, text, scale, white_rgb);
}

/* White with a dark rim can be read on any colour. */
static void draw_name(tz_image *image, const char *name, double x, double y, double width,
                      double height)
{
    int scale = NAME_SCALE_MAX;
    while (scale > 0 && (tz_font_width(name, scale) + 2 * NAME_MARGIN > width ||
                         TZ_FONT_HEIGHT * scale + 2 * NAME_MARGIN > height))
        scale--;
    if (scale == 0)
        return;
    const int left = (int)(x + (width - tz_font_width(name, scale)) / 2);
    const int top = (int)(y + (height - TZ_FONT_ASCENT * scale) / 2);
    tz_font_draw_rimmed(image, left, top, name, scale, white_rgb, rim_rgb);
}

static void draw_box(tz_image *mask, double x0, double y0, double x1, double y1, double width)
{
    tz_image_line(mask, x0, y0, x1, y0, width, NULL);
    tz_image_line(mask, x1, y0, x1, y1, width, NULL);
    tz_image_line(mask, x1, y1, x0, y1, width, NULL);
    tz_image_line(mask, x0, y1, x0, y0, width, NULL);
}

/* An outline in pixels: left, top, right, bottom. */
static void place_outline(const tz_overlay *overlay, const tz_outline *o,
                          const tz_overlay_place *place, double out[4])
{
    const double sides[] = {o->left, o->top, o->right, o->bottom};
    const tz_plane *plane = place->plane;
    const int64_t cells[] = {plane->field_nx, plane->field_ny}, values[] = {plane->nx, plane->ny};
    for (int i = 0; i < 4; i++) {
        const int64_t low = overlay->outlines_low[i % 2], high = overlay->outlines_high[i % 2];
        const double at =
            high == 0 ? sides[i]
                      : ((double)low + sides[i] * (double)(high - low)) / (double)cells[i % 2];
        out[i] = (i % 2 ? place->y : place->x) + at * (double)values[i % 2] * place->zoom;
    }
}

static tz_status draw_outlines(tz_image *image, const tz_overlay_place *places, int count,
                               const tz_overlay *overlay, tz_error *error)
{
    const double width = line_width(image);
    for (int layer = 0; layer < 2; layer++) {
        tz_image *mask;
        const tz_status status = tz_image_create_mask(&mask, image, error);
        if (status != TZ_OK)
            return status;
        for (int p = 0; p < count; p++)
            for (int i = 0; i < overlay->outlines_count; i++) {
                double at[4];
                place_outline(overlay, &overlay->outlines[i], &places[p], at);
                draw_box(mask, at[0], at[1], at[2], at[3], layer == 0 ? width + 1.5 : width);
            }
        tz_image_blend_mask(image, mask, layer == 0 ? rim_rgb : white_rgb);
        tz_image_destroy(mask);
    }
    for (int p = 0; p < count; p++)
        for (int i = 0; i < overlay->outlines_count; i++) {
            const tz_outline *o = &overlay->outlines[i];
            double at[4];
            place_outline(overlay, o, &places[p], at);
            draw_name(image, o->name, at[0], at[1], at[2] - at[0], at[3] - at[1]);
        }
    return TZ_OK;
}

/* ---- Lines between cells, and paths ---------------------------------------------------------- */

/* Thin lines, where cells are large enough and no means. */
static void draw_grid_lines(tz_image *image, const tz_overlay_place *places, int count)
{
    enum { COVERAGE = 80 };
    static const uint8_t gray_rgb[3] = {128, 128, 128};
    for (int p = 0; p < count; p++) {
        const tz_overlay_place *place = &places[p];
        const tz_plane *plane = place->plane;
        if (place->zoom < TZ_GRID_LINES_ZOOM || plane->nx != plane->field_nx ||
            plane->ny != plane->field_ny)
            continue;
        const int top = (int)lround(place->y), height = (int)lround(plane->ny * place->zoom);
        for (int i = 1; i < plane->nx; i++)
            tz_image_shade(image, (int)lround(place->x + i * place->zoom), top, 1, height, gray_rgb,
                           COVERAGE);
        /* Between those: where two lines cross, the pixel is shaded once. */
        for (int j = 1; j < plane->ny; j++)
            for (int i = 0; i < plane->nx; i++) {
                const int from = (int)lround(place->x + i * place->zoom) + (i > 0);
                const int to = (int)lround(place->x + (i + 1) * place->zoom);
                tz_image_shade(image, from, (int)lround(place->y + j * place->zoom), to - from, 1,
                               gray_rgb, COVERAGE);
            }
    }
}

static void draw_path(tz_image *image, const tz_overlay_place *place, const tz_overlay *o)
{
    static const uint8_t none[3] = {0, 0, 0};
    const tz_plane *plane = place->plane;
    const double across = (double)plane->nx * place->zoom / (double)plane->field_nx;
    const double down = (double)plane->ny * place->zoom / (double)plane->field_ny;
    const int longest = image->width > image->height ? image->width : image->height;
    const double thickness = fmax(1.6, longest / 220.0);
    const bool rimmed = memcmp(o->path_rgb, none, 3) == 0;
    for (int layer = rimmed ? 0 : 1; layer < 2; layer++) {
        const double wide = layer == 0 ? thickness + 2.0 : thickness;
        const uint8_t *rgb = layer == 0 ? rim_rgb : rimmed ? white_rgb : o->path_rgb;
        point before = {NAN, NAN};
        for (int64_t k = 0; k < o->path_count; k++) {
            const point at = {place->x + (o->path[k].x + 0.5) * across,
                              place->y + (o->path[k].y + 0.5) * down};
            const bool joined =
                isfinite(before.x) && isfinite(before.y) && isfinite(at.x) && isfinite(at.y);
            /* Of many points of a pixel, a few are enough. */
            if (joined && k + 1 < o->path_count && hypot(at.x - before.x, at.y - before.y) < 0.5)
                continue;
            if (joined || (k == 0 && o->path_count == 1))
                tz_image_line(image, joined ? before.x : at.x, joined ? before.y : at.y, at.x, at.y,
                              wide, rgb);
            before = at;
        }
    }
}

/* ---- Marks ----------------------------------------------------------------------------------- */

static void draw_ring(tz_image *image, double x, double y, double radius, double width,
                      const uint8_t rgb[3])
{
    enum { SIDES = 48 };
    const double step = 2 * 3.14159265358979323846 / SIDES;
    for (int i = 0; i < SIDES; i++)
        tz_image_line(image, x + radius * cos(i * step), y + radius * sin(i * step),
                      x + radius * cos((i + 1) * step), y + radius * sin((i + 1) * step), width,
                      rgb);
}

static void draw_mark(tz_image *image, const tz_overlay_place *places, int count, bool greatest)
{
    const tz_overlay_place *found = NULL;
    double best = 0, x = 0, y = 0;
    for (int p = 0; p < count; p++) {
        const tz_plane *plane = places[p].plane;
        for (int j = 0; j < plane->ny; j++)
            for (int i = 0; i < plane->nx; i++) {
                const double value = plane->values[(size_t)j * (size_t)plane->nx + (size_t)i];
                if (!isfinite(value) || (found && (greatest ? value <= best : value >= best)))
                    continue;
                found = &places[p];
                best = value;
                x = found->x + (i + 0.5) * found->zoom;
                y = found->y + (j + 0.5) * found->zoom;
            }
    }
    if (!found)
        return;
    const double longest = image->width > image->height ? image->width : image->height;
    const double radius = fmax(4.0, longest / 60), width = fmax(1.6, longest / 350);
    draw_ring(image, x, y, radius, width + 2, rim_rgb);
    draw_ring(image, x, y, radius, width, white_rgb);
}

tz_status tz_overlay_draw(tz_image *image, const tz_overlay_place *places, int count,
                          const tz_overlay *overlay, double lo, double hi, const tz_colormap *map,
                          tz_error *error)
{
    if (overlay->grid_lines)
        draw_grid_lines(image, places, count);
    tz_status status = draw_contours(image, places, count, overlay, lo, hi, map, error);
    if (status == TZ_OK && overlay->outlines_count > 0)
        status = draw_outlines(image, places, count, overlay, error);
    if (overlay->path_count > 0)
        draw_path(image, &places[0], overlay);
    if (overlay->mark_min)
        draw_mark(image, places, count, false);
    if (overlay->mark_max)
        draw_mark(image, places, count, true);
    return status;
}
