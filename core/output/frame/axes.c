/* Axes, colour bars and captions of pictures: canvas.c attaches them. */
#include "output/frame/axes.h"

#include "base/minmax.h"
#include "base/number.h"
#include "output/frame/image.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Two axes, and where they are, in pixels. */
typedef struct axes_layout {
    int scale;        /* of the font */
    int left, bottom; /* the room that they take beside the picture */
    tz_ticks ticks[2];
    char titles[2][80];
} axes_layout;

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

/* The layout beside a picture of that size: x, then y. */
static void arrange_axes(axes_layout *out, const tz_axis axes[2], int width, int height, int scale)
{
    *out = (axes_layout){.scale = scale};
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

/* Draw them beside the picture that begins at x, y. */
static void draw_axes(tz_image *image, const axes_layout *l, const tz_axis axes[2], int x, int y,
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

/* ---- Ticks ----------------------------------------------------------------------------------- */

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

/* ---- Logarithmic ----------------------------------------------------------------------------- */

/* Numbers from 0.01 to 1000 are easier to read than powers. */
enum { PLAIN_LOW = -2, PLAIN_HIGH = 3 };

static void add_log(tz_ticks *ticks, int factor, int exponent, bool plain)
{
    char power[TZ_NUMBER_SIZE];
    char *label = ticks->labels[ticks->count];
    ticks->values[ticks->count++] = log10(factor) + exponent;
    if (plain)
        tz_number_format_style(label, TZ_TICK_LABEL_SIZE, 'f', exponent < 0 ? -exponent : 0,
                               factor * pow(10, exponent));
    else if (factor == 1)
        snprintf(label, TZ_TICK_LABEL_SIZE, "%s", tz_number_power(power, exponent));
    else
        snprintf(label, TZ_TICK_LABEL_SIZE, "%d×%s", factor, tz_number_power(power, exponent));
}

void tz_ticks_make_log(tz_ticks *ticks, double lo, double hi, int most)
{
    static const int factors[] = {1, 2, 5};
    const double slack = 1e-9;
    memset(ticks, 0, sizeof *ticks);
    most = most < 2 ? 2 : most > TZ_TICKS_MAX ? TZ_TICKS_MAX : most;
    if (!isfinite(lo) || !isfinite(hi) || hi < lo)
        return;
    const int first = (int)ceil(lo - slack), last = (int)floor(hi + slack);
    const bool plain = floor(lo + slack) >= PLAIN_LOW && hi <= PLAIN_HIGH + 1 - slack;
    const int decades = last - first + 1, stride = decades > most ? (decades + most - 1) / most : 1;
    const bool between = 3 * (hi - lo + 1) <= most;
    for (int e = (int)floor(lo); e <= last && ticks->count < TZ_TICKS_MAX; e++)
        for (int k = 0; k < (between ? 3 : 1) && ticks->count < TZ_TICKS_MAX; k++) {
            const double at = e + log10(factors[k]);
            if (at >= lo - slack && at <= hi + slack && (e - first) % stride == 0)
                add_log(ticks, factors[k], e, plain);
        }
    if (ticks->count > 1 || hi - lo > 1)
        return;
    tz_ticks_make(ticks, pow(10, lo), pow(10, hi), most);
    for (int i = 0; i < ticks->count; i++)
        ticks->values[i] = ticks->values[i] > 0 ? log10(ticks->values[i]) : lo;
}

/* ---- Colorbar -------------------------------------------------------------------------------- */

static const uint8_t paper_rgb[3] = {252, 252, 252};

enum { CAPTION_MAX = 512 };

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
    axes_layout axes; /* zeros: none */
    char caption[CAPTION_MAX], unit[96];
} layout;

static void arrange(layout *l, const tz_image *picture, const tz_colorbar *bar)
{
    const int longest = tz_max_int(picture->width, picture->height);
    memset(l, 0, sizeof *l);
    l->scale = bar->scale        ? bar->scale
               : longest >= 2400 ? longest / 800
               : longest >= 1600 ? 3
               : longest >= 400  ? 2
                                 : 1;
    l->margin = 6 * l->scale;
    const int line = TZ_FONT_HEIGHT * l->scale, gap = 4 * l->scale;
    int right = 0; /* width of bar, ticks and unit, from the bar's left edge */
    snprintf(l->caption, sizeof l->caption - 4, "%s", bar->caption ? bar->caption : "");
    if (bar->map) {
        l->bar_width = 9 * l->scale;
        l->bar_height = tz_max_int(picture->height, 6 * line);
        const int most = tz_max_int(2, l->bar_height / (26 * l->scale));
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
            right = tz_max_int(right, tz_font_width(l->ticks.labels[i], l->scale));
        right += l->bar_width + 6 * l->scale;
        right = tz_max_int(right, tz_font_width(l->unit, l->scale));
    }
    if (bar->axes)
        arrange_axes(&l->axes, bar->axes, picture->width, picture->height, l->scale);
    const bool topped = l->caption[0] || l->unit[0];
    /* The last number of an axis reaches over the picture's edge. */
    const int beside = l->axes.bottom > 0 ? 6 * l->scale : 0;
    l->picture_x = l->margin + l->axes.left;
    l->picture_y = l->margin + (topped ? line + gap - l->scale : 0);
    l->bar_x = l->picture_x + picture->width + 2 * gap;
    l->bar_y = l->picture_y;
    l->width = bar->map ? l->bar_x + right + l->margin
                        : l->picture_x + picture->width + beside + l->margin;
    l->height =
        l->picture_y + tz_max_int(picture->height + l->axes.bottom, l->bar_height) + l->margin;
    /* The unit is above the bar, the caption above the picture, or above both without a unit.
     */
    const int room = (l->unit[0] ? l->bar_x - 2 * gap : l->width - l->margin) - l->picture_x;
    fit(l->caption, room, l->scale);
}

int tz_colorbar_room(const tz_colorbar *bar, int width, double aspect)
{
    layout l;
    tz_image picture = {.width = width};
    for (int turn = 0; turn < 3; turn++) {
        picture.height = tz_max_int(1, (int)(picture.width * aspect));
        arrange(&l, &picture, bar);
        picture.width = tz_max_int(1, picture.width + width - l.width);
    }
    return picture.width;
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
    tz_status status = tz_image_create(&image, TZ_PIXEL_RGB8, l.width, l.height, error);
    if (status == TZ_OK && picture->vectors)
        status = tz_image_record(image, error);
    if (status != TZ_OK) {
        tz_image_destroy(image);
        return status;
    }
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
        draw_axes(image, &l.axes, bar->axes, l.picture_x, l.picture_y, picture->width,
                  picture->height);
    if (bar->map) {
        tz_font_draw(image, l.bar_x, l.margin, l.unit, l.scale, ink_rgb);
        draw_bar(image, &l, bar);
    }
    *out = image;
    return TZ_OK;
}
