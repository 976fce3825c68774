#include "output/frame/axes.h"

#include "base/number.h"
#include "output/frame/font.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const uint8_t ink_rgb[3] = {38, 38, 42};
static const uint8_t rule_rgb[3] = {120, 120, 126};

void tz_axis_make(tz_axis *out, char name, int64_t cells, double width, const char *unit,
                  double longest, bool upwards)
{
    static const struct {
        double least, metres;
        const char *name;
    } lengths[] = {
        {1e4, 1e3, "km"}, {1, 1, "m"}, {1e-3, 1e-3, "mm"}, {1e-6, 1e-6, "µm"}, {0, 1e-9, "nm"}};
    double first = width > 0 ? 0 : -0.5,
           last = width > 0 ? (double)cells * width : (double)cells - 0.5;
    *out = (tz_axis){.name = name};
    if (strcmp(unit, "m") == 0) {
        size_t i = 0;
        while (longest < lengths[i].least * (1 - 1e-9))
            i++;
        last /= lengths[i].metres;
        unit = lengths[i].name;
    }
    snprintf(out->unit, sizeof out->unit, "%s", unit);
    out->first = upwards ? last : first;
    out->last = upwards ? first : last;
}

/* "y", "y (mm)", "y (×10⁻⁸ mm)" */
static void make_title(char title[80], const tz_axis *axis, int exponent)
{
    char power[TZ_NUMBER_SIZE] = "";
    const char *unit = axis->unit;
    if (exponent)
        tz_number_power(power, exponent);
    if (!exponent && !unit[0])
        snprintf(title, 80, "%c", axis->name);
    else
        snprintf(title, 80, "%c (%s%s%s%s)", axis->name, exponent ? "×" : "", power,
                 exponent && unit[0] ? " " : "", unit);
}

static void make_ticks(tz_ticks *ticks, const tz_axis *axis, int most)
{
    tz_ticks_make(ticks, fmin(axis->first, axis->last), fmax(axis->first, axis->last), most);
}

static int widest(const tz_ticks *ticks, int scale)
{
    int most = 0;
    for (int i = 0; i < ticks->count; i++)
        most = tz_font_width(ticks->labels[i], scale) > most
                   ? tz_font_width(ticks->labels[i], scale)
                   : most;
    return most;
}

void tz_axes_arrange(tz_axes_layout *out, const tz_axis axes[2], int width, int height, int scale)
{
    *out = (tz_axes_layout){.scale = scale};
    for (int k = 0; k < 2; k++) {
        if (!axes[k].name)
            continue;
        int most = (k == 0 ? width : height) / ((k == 0 ? 30 : 22) * scale);
        make_ticks(&out->ticks[k], &axes[k], most);
        /* Labels that would touch: fewer. */
        while (k == 0 && most > 2 &&
               (widest(&out->ticks[0], scale) + 8 * scale) * out->ticks[0].count > width)
            make_ticks(&out->ticks[0], &axes[0], --most);
        make_title(out->titles[k], &axes[k], out->ticks[k].exponent);
    }
    /* A picture that is too low for the title of y has its unit at x alone. */
    if (tz_font_width(out->titles[1], scale) > height)
        snprintf(out->titles[1], sizeof out->titles[1], "%c", axes[1].name);
    if (axes[0].name)
        out->bottom = (5 + TZ_FONT_HEIGHT + 2 + TZ_FONT_HEIGHT) * scale;
    if (axes[1].name) {
        out->left = widest(&out->ticks[1], scale) + (9 + TZ_FONT_HEIGHT) * scale;
    } else if (axes[0].name && out->ticks[0].count > 0) {
        out->left = tz_font_width(out->ticks[0].labels[0], scale) / 2;
    }
}

/* The pixel of a tick, from the picture's edge. */
static int place(const tz_axis *axis, double value, int pixels)
{
    const double t = (value - axis->first) / (axis->last - axis->first);
    const double at = t * pixels;
    return at < 0 ? 0 : at > pixels - 1 ? pixels - 1 : (int)at;
}

void tz_axes_draw(tz_image *image, const tz_axes_layout *l, const tz_axis axes[2], int x, int y,
                  int width, int height)
{
    const int scale = l->scale, thick = scale > 1 ? scale / 2 : 1;
    for (int i = 0; axes[0].name && i < l->ticks[0].count; i++) {
        const int at = x + place(&axes[0], l->ticks[0].values[i], width);
        const char *label = l->ticks[0].labels[i];
        tz_image_fill(image, at - thick / 2, y + height, thick, 3 * scale, rule_rgb);
        tz_font_draw(image, at - tz_font_width(label, scale) / 2, y + height + 5 * scale, label,
                     scale, ink_rgb);
    }
    for (int i = 0; axes[1].name && i < l->ticks[1].count; i++) {
        const int at = y + place(&axes[1], l->ticks[1].values[i], height);
        const char *label = l->ticks[1].labels[i];
        tz_image_fill(image, x - 3 * scale, at - thick / 2, 3 * scale, thick, rule_rgb);
        tz_font_draw(image, x - 5 * scale - tz_font_width(label, scale),
                     at - TZ_FONT_ASCENT * scale / 2, label, scale, ink_rgb);
    }
    if (axes[0].name)
        tz_font_draw(image, x + (width - tz_font_width(l->titles[0], scale)) / 2,
                     y + height + (7 + TZ_FONT_HEIGHT) * scale, l->titles[0], scale, ink_rgb);
    if (axes[1].name)
        tz_font_draw_up(image, x - l->left, y + (height + tz_font_width(l->titles[1], scale)) / 2,
                        l->titles[1], scale, ink_rgb);
}
