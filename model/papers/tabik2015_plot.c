/* The heat map of `trapeze predict --model tabik2015 --plot`. */
#include "model/papers/predict.h"

#include "output/format/png.h"
#include "output/frame/colormap.h"
#include "output/frame/image.h"
#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum {
    CELL_X = 66,
    CELL_Y = 30,
    LEFT = 56,
    HEAD = 58,
    FOOT = 14,
    GAP = 24,
    TITLE = 58,
    PANELS = 4
};

static const uint8_t ink[3] = {20, 20, 20}, paper[3] = {255, 255, 255}, faint[3] = {110, 110, 110},
                     frame[3] = {214, 30, 60};

/* How a panel shows its number, and whether little of it is good. */
static const struct panel {
    const char *title;
    bool less_is_good, logarithmic;
} panels[PANELS] = {
    {"global memory transactions", true, true},
    {"shared memory transactions", true, true},
    {"occupancy, %", false, false},
    {"active blocks of a multiprocessor", false, true},
};

static double number_of(const tz_tabik_shape *s, int panel)
{
    const double numbers[PANELS] = {s->global_transactions, s->shared_transactions,
                                    100 * s->occupancy, s->active_blocks};
    return numbers[panel];
}

static double height_on_scale(const struct panel *p, double number)
{
    const double value = p->logarithmic ? log(fmax(number, 1e-3)) : number;
    return p->less_is_good ? -value : value;
}

static void number_text(double number, char text[16])
{
    if (number >= 1e6)
        snprintf(text, 16, "%.3gM", number / 1e6);
    else if (number >= 1e4)
        snprintf(text, 16, "%.3gk", number / 1e3);
    else
        snprintf(text, 16, "%.4g", number);
}

/* Columns and rows of the table: powers of two up to the largest shape. */
static void table_size(const tz_thread_blocks *blocks, int *columns, int *rows)
{
    *columns = *rows = 0;
    for (int p = 0; p < blocks->count; p++)
        for (int i = 0; i < blocks->passes[p].space.count; i++) {
            const tz_tabik_shape *s = &blocks->passes[p].space.shapes[i];
            *columns = (int)fmax(*columns, 1 + ilogb(s->x));
            *rows = (int)fmax(*rows, 1 + ilogb(s->y));
        }
}

static void draw_cell(tz_image *image, int x, int y, double number, const uint8_t rgb[3],
                      bool is_good, bool chosen)
{
    char text[16];
    const int light = rgb[0] * 30 + rgb[1] * 59 + rgb[2] * 11;
    number_text(number, text);
    if (chosen)
        tz_image_fill(image, x, y, CELL_X, CELL_Y, frame);
    tz_image_fill(image, x + 3, y + 3, CELL_X - 6, CELL_Y - 6, rgb);
    tz_font_draw(image, x + (CELL_X - tz_font_width(text, 1)) / 2,
                 y + (CELL_Y - TZ_FONT_ASCENT) / 2, text, 1, light > 12000 ? ink : paper);
    if (is_good)
        tz_font_draw(image, x + CELL_X - 12, y + 5, "+", 1, light > 12000 ? ink : paper);
}

static void draw_panel(tz_image *image, const tz_thread_blocks_pass *pass, int panel, int left,
                       int top, int columns, int rows, const tz_colormap *map)
{
    const struct panel *p = &panels[panel];
    char text[64];
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < pass->space.count; i++) {
        const double value = height_on_scale(p, number_of(&pass->space.shapes[i], panel));
        low = fmin(low, value);
        high = fmax(high, value);
    }
    tz_font_draw(image, left + LEFT, top + 8, p->title, 2, ink);
    tz_font_draw(image, left + 4, top + HEAD - 14, "By \\ Bx", 1, faint);
    for (int c = 0; c < columns; c++) {
        snprintf(text, sizeof text, "%d", 1 << c);
        tz_font_draw(image, left + LEFT + c * CELL_X + (CELL_X - tz_font_width(text, 1)) / 2,
                     top + HEAD - 14, text, 1, faint);
    }
    for (int r = 0; r < rows; r++) {
        snprintf(text, sizeof text, "%d", 1 << r);
        tz_font_draw(image, left + LEFT - 8 - tz_font_width(text, 1),
                     top + HEAD + r * CELL_Y + (CELL_Y - TZ_FONT_ASCENT) / 2, text, 1, faint);
    }
    for (int i = 0; i < pass->space.count; i++) {
        const tz_tabik_shape *s = &pass->space.shapes[i];
        const double number = number_of(s, panel);
        /* Of equal numbers all are good, or all are not. */
        const int colour = high > low ? tz_colormap_index(height_on_scale(p, number), low, high)
                                      : (s->good >> panel & 1 ? TZ_COLORMAP_SIZE - 1 : 0);
        draw_cell(image, left + LEFT + ilogb(s->x) * CELL_X, top + HEAD + ilogb(s->y) * CELL_Y,
                  number, map->rgb[colour], s->good >> panel & 1, s->chosen);
    }
}

tz_status tz_thread_blocks_plot(const tz_prediction_table *table, const tz_workload *workload,
                                const char *path, tz_error *error)
{
    const tz_thread_blocks *blocks = table->own;
    const char *device = workload->device.title[0] ? workload->device.title : workload->device.name;
    int columns, rows;
    tz_colormap map;
    tz_image *image = NULL;
    char text[200];
    table_size(blocks, &columns, &rows);
    const int wide = LEFT + columns * CELL_X + GAP, high = HEAD + rows * CELL_Y + FOOT;
    const int pass_high = TITLE + 2 * high;
    tz_status status = tz_colormap_find("viridis", &map, error);
    if (!status)
        status = tz_image_create(&image, TZ_PIXEL_RGB8, 2 * wide, blocks->count * pass_high, error);
    if (status)
        return status;
    tz_image_fill(image, 0, 0, image->width, image->height, paper);
    for (int p = 0; p < blocks->count; p++) {
        const tz_thread_blocks_pass *pass = &blocks->passes[p];
        const int top = p * pass_high;
        snprintf(text, sizeof text, "%s: %.40s, %s, %s", workload->problem.stencil->id, pass->name,
                 workload->grid, device);
        tz_font_draw(image, LEFT, top + 12, text, 2, ink);
        snprintf(text, sizeof text, "+ good by this number; framed: good by all four, %d of %d",
                 pass->space.chosen, pass->space.count);
        tz_font_draw(image, LEFT, top + 38, text, 1, faint);
        for (int k = 0; k < PANELS; k++)
            draw_panel(image, pass, k, k % 2 * wide, top + TITLE + k / 2 * high, columns, rows,
                       &map);
    }
    unlink(path); /* an older plot */
    status = tz_png_write(path, image, NULL, 0, error);
    tz_image_destroy(image);
    return status;
}
