#include "output/frame/colorbar.h"

#include "output/format/number.h"
#include "output/frame/font.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const uint8_t paper_rgb[3] = {252, 252, 252};
static const uint8_t ink_rgb[3] = {38, 38, 42};
static const uint8_t rule_rgb[3] = {120, 120, 126};

enum { CAPTION_MAX = 512 };

void tz_ticks_make(tz_ticks *ticks, double lo, double hi, int most)
{
    memset(ticks, 0, sizeof *ticks);
    most = most < 2 ? 2 : most > TZ_TICKS_MAX ? TZ_TICKS_MAX : most;
    if (!isfinite(lo) || !isfinite(hi) || hi < lo)
        return;
    const double largest = fmax(fabs(lo), fabs(hi));
    const int power = largest > 0.0 ? (int)floor(log10(largest)) : 0;
    if (power >= 5 || power <= -4)
        ticks->exponent = power;
    const double unit = pow(10.0, ticks->exponent);
    /* Is the range too narrow or too wide for steps in double precision? */
    if (hi - lo <= largest * 1e-12 || !isfinite(hi - lo) || hi - lo < 1e-290) {
        ticks->count = 1;
        ticks->values[0] = lo;
        tz_number_format_style(ticks->labels[0], TZ_TICK_LABEL_SIZE, 'g', 6, lo / unit);
        return;
    }
    static const double steps[] = {1.0, 2.0, 5.0};
    int decade = (int)floor(log10((hi - lo) / most)), k = 0;
    double step, first, last;
    for (;;) {
        step = steps[k] * pow(10.0, decade);
        first = ceil(lo / step - 1e-6);
        last = floor(hi / step + 1e-6);
        if (last - first + 1.0 <= most)
            break;
        k = (k + 1) % 3;
        decade += k == 0;
    }
    int digits = ticks->exponent - decade;
    digits = digits < 0 ? 0 : digits > 12 ? 12 : digits;
    ticks->count = (int)(last - first) + 1;
    for (int i = 0; i < ticks->count; i++) {
        const double v = (first + i) * step;
        ticks->values[i] = v < lo ? lo : v > hi ? hi : v;
        tz_number_format_style(ticks->labels[i], TZ_TICK_LABEL_SIZE, 'f', digits,
                               first + i == 0.0 ? 0.0 : v / unit);
    }
}

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
        tz_ticks_make(&l->ticks, bar->lo, bar->hi, larger(2, l->bar_height / (26 * l->scale)));
        const char *unit = bar->unit ? bar->unit : "";
        if (l->ticks.exponent)
            snprintf(l->unit, sizeof l->unit,
                     "\xC3\x97"
                     "1e%d%s%s",
                     l->ticks.exponent, unit[0] ? " " : "", unit);
        else
            snprintf(l->unit, sizeof l->unit, "%s", unit);
        for (int i = 0; i < l->ticks.count; i++)
            right = larger(right, tz_font_width(l->ticks.labels[i], l->scale));
        right += l->bar_width + 6 * l->scale;
        right = larger(right, tz_font_width(l->unit, l->scale));
    }
    const bool topped = l->caption[0] || l->unit[0];
    l->picture_x = l->margin;
    l->picture_y = l->margin + (topped ? line + gap - l->scale : 0);
    l->bar_x = l->picture_x + picture->width + 2 * gap;
    l->bar_y = l->picture_y;
    l->width = bar->map ? l->bar_x + right + l->margin : picture->width + 2 * l->margin;
    l->height = l->picture_y + larger(picture->height, l->bar_height) + l->margin;
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
    tz_image_paste(image, l.picture_x, l.picture_y, picture);
    outline(image, l.picture_x, l.picture_y, picture->width, picture->height,
            l.scale > 1 ? l.scale / 2 : 1);
    tz_font_draw(image, l.picture_x, l.margin, l.caption, l.scale, ink_rgb);
    if (bar->map) {
        tz_font_draw(image, l.bar_x, l.margin, l.unit, l.scale, ink_rgb);
        draw_bar(image, &l, bar);
    }
    *out = image;
    return TZ_OK;
}
