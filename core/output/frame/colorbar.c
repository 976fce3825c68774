#include "output/frame/colorbar.h"

#include "base/number.h"
#include "output/frame/font.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const uint8_t paper_rgb[3] = {252, 252, 252};
static const uint8_t ink_rgb[3] = {38, 38, 42};
static const uint8_t rule_rgb[3] = {120, 120, 126};

enum { CAPTION_MAX = 512 };

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* Cut `text` to `width` pixels, between characters, with "..." at its end. */
static void fit(char *text, int width, int scale)
{
    size_t length = strlen(text);
    while (length && tz_font_width(text, scale) > width) {
        do
            length--;
        while (length && ((unsigned char)text[length] & 0xC0) == 0x80);
        snprintf(text + length, 4, "...");
    }
}

/* The layout, in pixels. */
typedef struct layout {
    int scale, margin;
    int picture_x, picture_y, bar_x, bar_y, bar_width, bar_height;
    int width, height;
    tz_ticks ticks;
    tz_axes_layout axes; /* zeros: none */
    char caption[CAPTION_MAX], unit[96];
} layout;

static void arrange(layout *l, const tz_image *picture, const tz_colorbar *bar)
{
    const int longest = larger(picture->width, picture->height);
    memset(l, 0, sizeof *l);
    l->scale = longest >= 1600 ? 3 : longest >= 400 ? 2 : 1;
    l->margin = 6 * l->scale;
    const int line = TZ_FONT_HEIGHT * l->scale, gap = 4 * l->scale;
    int right = 0; /* width of bar, ticks and unit, from the bar's left edge */
    snprintf(l->caption, sizeof l->caption - 4, "%s", bar->caption ? bar->caption : "");
    if (bar->map) {
        l->bar_width = 9 * l->scale;
        l->bar_height = larger(picture->height, 6 * line);
        const int most = larger(2, l->bar_height / (26 * l->scale));
        if (bar->log)
            tz_ticks_make_log(&l->ticks, bar->lo, bar->hi, most);
        else
            tz_ticks_make(&l->ticks, bar->lo, bar->hi, most);
        const char *unit = bar->unit ? bar->unit : "";
        char power[TZ_NUMBER_SIZE];
        if (l->ticks.exponent)
            snprintf(l->unit, sizeof l->unit, "×%s%s%s", tz_number_power(power, l->ticks.exponent),
                     unit[0] ? " " : "", unit);
        else
            snprintf(l->unit, sizeof l->unit, "%s", unit);
        for (int i = 0; i < l->ticks.count; i++)
            right = larger(right, tz_font_width(l->ticks.labels[i], l->scale));
        right += l->bar_width + 6 * l->scale;
        right = larger(right, tz_font_width(l->unit, l->scale));
    }
    if (bar->axes)
        tz_axes_arrange(&l->axes, bar->axes, picture->width, picture->height, l->scale);
    const bool topped = l->caption[0] || l->unit[0];
    /* The last number of an axis reaches over the picture's edge. */
    const int beside = l->axes.bottom > 0 ? 6 * l->scale : 0;
    l->picture_x = l->margin + l->axes.left;
    l->picture_y = l->margin + (topped ? line + gap - l->scale : 0);
    l->bar_x = l->picture_x + picture->width + 2 * gap;
    l->bar_y = l->picture_y;
    l->width = bar->map ? l->bar_x + right + l->margin
                        : l->picture_x + picture->width + beside + l->margin;
    l->height = l->picture_y + larger(picture->height + l->axes.bottom, l->bar_height) + l->margin;
    /* The unit is above the bar, the caption above the picture, or above both without a unit.
     */
    const int room = (l->unit[0] ? l->bar_x - 2 * gap : l->width - l->margin) - l->picture_x;
    fit(l->caption, room, l->scale);
}

static void outline(tz_image *image, int x, int y, int width, int height, int thick)
{
    tz_image_fill(image, x - thick, y - thick, width + 2 * thick, thick, rule_rgb);
    tz_image_fill(image, x - thick, y + height, width + 2 * thick, thick, rule_rgb);
    tz_image_fill(image, x - thick, y, thick, height, rule_rgb);
    tz_image_fill(image, x + width, y, thick, height, rule_rgb);
}

static void draw_bar(tz_image *image, const layout *l, const tz_colorbar *bar)
{
    const int thick = l->scale > 1 ? l->scale / 2 : 1;
    for (int j = 0; j < l->bar_height; j++) {
        const int last = l->bar_height > 1 ? l->bar_height - 1 : 1;
        const int k = ((last - j) * (TZ_COLORMAP_SIZE - 1) + last / 2) / last;
        tz_image_fill(image, l->bar_x, l->bar_y + j, l->bar_width, 1, bar->map->rgb[k]);
    }
    outline(image, l->bar_x, l->bar_y, l->bar_width, l->bar_height, thick);
    const int right = l->bar_x + l->bar_width + thick;
    for (int i = 0; i < l->ticks.count; i++) {
        const double t =
            bar->hi > bar->lo ? (l->ticks.values[i] - bar->lo) / (bar->hi - bar->lo) : 0.5;
        const int y = l->bar_y + (int)((1.0 - t) * (l->bar_height - 1) + 0.5);
        const int top = y - TZ_FONT_ASCENT * l->scale / 2;
        tz_image_fill(image, right, y - thick / 2, 2 * l->scale, thick, rule_rgb);
        tz_font_draw(image, right + 4 * l->scale, top, l->ticks.labels[i], l->scale, ink_rgb);
    }
}

tz_status tz_colorbar_attach(tz_image **out, const tz_image *picture, const tz_colorbar *bar,
                             tz_error *error)
{
    layout l;
    tz_image *image;
    *out = NULL;
    arrange(&l, picture, bar);
    const tz_status status = tz_image_create(&image, TZ_PIXEL_RGB8, l.width, l.height, error);
    if (status != TZ_OK)
        return status;
    tz_image_fill(image, 0, 0, l.width, l.height, paper_rgb);
    image->picture_x = l.picture_x;
    image->picture_y = l.picture_y;
    image->picture_width = picture->width;
    image->picture_height = picture->height;
    tz_image_paste(image, l.picture_x, l.picture_y, picture);
    outline(image, l.picture_x, l.picture_y, picture->width, picture->height,
            l.scale > 1 ? l.scale / 2 : 1);
    tz_font_draw(image, l.picture_x, l.margin, l.caption, l.scale, ink_rgb);
    if (bar->axes)
        tz_axes_draw(image, &l.axes, bar->axes, l.picture_x, l.picture_y, picture->width,
                     picture->height);
    if (bar->map) {
        tz_font_draw(image, l.bar_x, l.margin, l.unit, l.scale, ink_rgb);
        draw_bar(image, &l, bar);
    }
    *out = image;
    return TZ_OK;
}
