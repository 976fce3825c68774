/* Plots through gnuplot in one style: measurements are points, predictions lines, components of a
 * time stacked areas. */
#ifndef TZ_CORE_OUTPUT_FRAME_PLOT_H
#define TZ_CORE_OUTPUT_FRAME_PLOT_H

#include "base/error.h"

enum { TZ_PLOT_SERIES_MAX = 32, TZ_PLOT_TITLE_SIZE = 160 };

typedef enum tz_plot_style {
    TZ_PLOT_AREA,   /* stacked on the areas before it */
    TZ_PLOT_LINE,   /* predicted */
    TZ_PLOT_THIN,   /* a component, where the time is not the sum of components */
    TZ_PLOT_POINTS, /* measured; with bars where low and high are given */
    TZ_PLOT_BARS,   /* from 0, each as wide as its distance to the next */
    TZ_PLOT_MARK    /* rings around points that were chosen */
} tz_plot_style;

typedef struct tz_plot_series {
    char title[TZ_PLOT_TITLE_SIZE]; /* in the legend; "" leaves it out */
    tz_plot_style style;
    unsigned colour; /* 0xRRGGBB */
    int count;
    const double *x, *y;      /* borrowed */
    const double *low, *high; /* NULL: no bars */
} tz_plot_series;

typedef struct tz_plot {
    char title[TZ_PLOT_TITLE_SIZE], subtitle[TZ_PLOT_TITLE_SIZE];
    char x_label[64], y_label[64];
    bool log_x, log_y;
    bool from_zero;       /* the y axis begins at 0 */
    const char *terminal; /* of gnuplot; borrowed; NULL: pngcairo */
    double width_mm;      /* on paper, with texts of 8 points; 0: for screens */
    int series_count;
    tz_plot_series series[TZ_PLOT_SERIES_MAX];
} tz_plot;

/* 0xRRGGBB: colours that are easy to distinguish, for families and the like; and shades of one
 * colour for each kind of resource (0 computation, 1 memory, 2 synchronisation). */
unsigned tz_plot_colour(int index);
unsigned tz_plot_shade(int kind, int index);

/* Add a series with these members, the others zero; `title` is a format. NULL when there is no
 * room. */
tz_plot_series *tz_plot_add(tz_plot *plot, tz_plot_style style, unsigned colour, int count,
                            const double *x, const double *y, const char *title, ...)
    __attribute__((format(printf, 7, 8)));

#define TZ_PLOT_NEEDS_GNUPLOT                                                                      \
    "plots need gnuplot, which is not installed: apt-get install gnuplot-nox"
/* Is gnuplot on the PATH? */
bool tz_plot_available(void);

/* Draw a file, which appears whole or not at all. TZ_UNSUPPORTED without gnuplot, TZ_IO. */
tz_status tz_plot_draw(const tz_plot *plot, const char *path, tz_error *error);

#endif
