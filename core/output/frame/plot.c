/* Plots by gnuplot: tz.plot and commands with --plot. */
#include "output/frame/plot.h"

#include "base/file.h"
#include "base/paths.h"
#include "output/frame/axes.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

unsigned tz_plot_colour(int index)
{
    static const unsigned colours[] = {0x1f5fa8, 0xd1601c, 0x2f8f5b, 0x8a4fa3,
                                       0xb3892b, 0x4a9cc7, 0xa8324a, 0x5c6670};
    return colours[index % 8];
}

unsigned tz_plot_shade(int kind, int index)
{
    static const unsigned shades[3][4] = {{0x3b74b5, 0x7ba3d0, 0xb4cbe6, 0x24507f},
                                          {0xdd7a35, 0xefae7f, 0xf6d3b8, 0xa9561c},
                                          {0x6f7a84, 0xa7b0b8, 0xd3d8dc, 0x4b545c}};
    return shades[kind < 0 || kind > 2 ? 2 : kind][index % 4];
}

tz_plot_series *tz_plot_add(tz_plot *plot, tz_plot_style style, unsigned colour, int count,
                            const double *x, const double *y, const char *title, ...)
{
    va_list values;
    if (plot->series_count == TZ_PLOT_SERIES_MAX)
        return NULL;
    tz_plot_series *series = &plot->series[plot->series_count++];
    *series = (tz_plot_series){.style = style, .colour = colour, .count = count, .x = x, .y = y};
    va_start(values, title);
    vsnprintf(series->title, sizeof series->title, title, values);
    va_end(values);
    return series;
}

bool tz_plot_available(void)
{
    return tz_program_exists("gnuplot");
}

/* Text between double quotes, as gnuplot reads it without enhancements. What stands between
 * backquotes there is run as a command, so they are written by their number. Control characters
 * become spaces. */
static void put_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '`') {
            fputs("\\140", to);
            continue;
        }
        if (*text == '"' || *text == '\\')
            fputc('\\', to);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
    }
    fputc('"', to);
}

/* The terminal. Texts are of 20 units: pixels of the usual width of 1600, or 8
 * points on paper. */
static double width_of(const tz_plot *plot)
{
    return plot->width_mm > 0 ? plot->width_mm * 20 / (8 * 25.4 / 72) : 1600;
}

static double height_of(const tz_plot *plot)
{
    return width_of(plot) * (plot->width_mm > 0 ? 0.75 : 0.5625);
}

static void put_terminal(FILE *to, const tz_plot *plot)
{
    const char *name = plot->terminal ? plot->terminal : "pngcairo";
    const double mm = plot->width_mm, width = width_of(plot), shape = height_of(plot) / width;
    if (strcmp(name, "pdfcairo") == 0) {
        const double cm = mm > 0 ? mm / 10 : 16, scale = cm / 2.54 * 72 / width;
        fprintf(to, "set terminal pdfcairo size %gcm,%gcm fontscale %.3g linewidth %.3g", cm,
                cm * shape, scale, 4 * scale);
    } else if (strcmp(name, "svg") == 0) {
        fprintf(to, "set terminal svg size %.0f,%.0f linewidth 2", width, width * shape);
    } else {
        const double scale = mm > 0 ? 2 : 1;
        fprintf(to, "set terminal pngcairo size %.0f,%.0f fontscale %g linewidth %g pointscale %g",
                width * scale, width * scale * shape, scale, 2 * scale, scale);
    }
    fprintf(to, " noenhanced font '%s,20' background rgb 'white'\nset output ",
            strcmp(name, "pngcairo") == 0 ? "DejaVu Sans" : "Helvetica");
}

static void put_style(FILE *to, const tz_plot *plot, const char *path)
{
    put_terminal(to, plot);
    put_text(to, path);
    fputs("\nset title ", to);
    put_text(to, plot->title);
    fprintf(to, " font ':Bold,23' offset 0,%s\n", plot->subtitle[0] ? "1.1" : "0");
    if (plot->subtitle[0]) {
        fputs("set label 1 ", to);
        put_text(to, plot->subtitle);
        fputs(" at graph 0.5, 1.045 center font ',17' textcolor rgb '#555555'\n", to);
    }
    if (plot->title[0] || plot->subtitle[0])
        fputs(plot->width_mm > 0 && !plot->subtitle[0] ? "set tmargin 3\n" : "set tmargin 4.8\n",
              to);
    fprintf(to,
            "set border 3 linecolor rgb '#777777' linewidth 0.7\n"
            "set grid ytics linecolor rgb '#dddddd' linewidth 0.5 linetype 1\n"
            "set tics nomirror out scale 0.6 textcolor rgb '#333333'\nset bars 0.5\n"
            "set key %s Left reverse noautotitle samplen %s spacing 1.3 width 0.5 font ',18'\n"
            "set xlabel ",
            plot->width_mm > 0 ? "below" : "outside right top vertical",
            plot->width_mm > 0 ? "3" : "2.4");
    put_text(to, plot->x_label);
    fputs("\nset ylabel ", to);
    put_text(to, plot->y_label);
    fputs(" offset 0.5,0\n", to);
    fputs(plot->log_x ? "set logscale x\n" : "", to);
    fputs(plot->log_y ? "set logscale y\n" : "", to);
}

/* gnuplot labels only powers of ten, as "1e-08"; a short logarithmic axis has one or two. */
static void put_log_tics(FILE *to, char axis, double low, double high)
{
    enum { MOST = 12 };
    tz_ticks ticks;
    if (!(low > 0 && high > low))
        return;
    tz_ticks_make_log(&ticks, log10(low), log10(high), MOST);
    fprintf(to, "set %ctics (", axis);
    for (int i = 0; i < ticks.count; i++)
        fprintf(to, "%s'%s' %.10g", i > 0 ? ", " : "", ticks.labels[i], pow(10, ticks.values[i]));
    fputs(")\n", to);
}

/* The least and the largest y, with those of error bars, and of areas on top of each other. */
static void find_heights(const tz_plot *plot, double *low, double *high)
{
    for (int s = 0; s < plot->series_count; s++)
        for (int i = 0; i < plot->series[s].count; i++) {
            const tz_plot_series *series = &plot->series[s];
            double y = series->y[i];
            for (int below = 0; series->style == TZ_PLOT_AREA && below < s; below++)
                y += plot->series[below].style == TZ_PLOT_AREA ? plot->series[below].y[i] : 0;
            const bool bars = series->low && series->high;
            *low = fmin(*low, bars ? fmin(y, series->low[i]) : y);
            *high = fmax(*high, bars ? fmax(y, series->high[i]) : y);
        }
}

/* On paper few ticks have room: gnuplot by itself chooses so many that their numbers overlap. */
static void put_few_tics(FILE *to, char axis, double low, double high, int most)
{
    tz_ticks ticks;
    tz_ticks_make(&ticks, low, high, most);
    if (ticks.count > 1)
        fprintf(to, "set %ctics %.10g\n", axis, ticks.values[1] - ticks.values[0]);
}

/* Ranges of the axes. A short range of integers, as of heights, gets a tick at each integer. */
static void put_ranges(FILE *to, const tz_plot *plot)
{
    double low = 1e300, high = -1e300;
    bool integers = true;
    for (int s = 0; s < plot->series_count; s++)
        for (int i = 0; i < plot->series[s].count; i++) {
            const double x = plot->series[s].x[i];
            low = x < low ? x : low;
            high = x > high ? x : high;
            integers = integers && x == (double)(long)x;
        }
    bool has_bars = false;
    for (int s = 0; s < plot->series_count; s++)
        has_bars = has_bars || plot->series[s].style == TZ_PLOT_BARS;
    const bool has_areas = plot->series_count > 0 && plot->series[0].style == TZ_PLOT_AREA;
    const double margin = has_areas || plot->log_x ? 0 : (high - low) * 0.025;
    if (high > low)
        fprintf(to, "set xrange [%.17g:%.17g]\n", low - margin, high + margin);
    if (integers && !plot->log_x && high - low <= (plot->width_mm > 0 ? 8 : 24))
        fprintf(to, "set xtics %.17g,1\n", low);
    else if (plot->width_mm > 0 && !plot->log_x)
        put_few_tics(to, 'x', low, high, 7);
    if (plot->width_mm > 0 && !plot->log_y) {
        double least = plot->from_zero || has_bars || has_areas ? 0 : INFINITY, most = -INFINITY;
        find_heights(plot, &least, &most);
        put_few_tics(to, 'y', least, most, 6);
    }
    if (plot->log_x)
        put_log_tics(to, 'x', low, high);
    /* By itself gnuplot extends logarithmic axes to the next power of ten. */
    double bottom = 1e300, top = 0;
    for (int s = 0; plot->log_y && s < plot->series_count; s++)
        for (int i = 0; i < plot->series[s].count; i++) {
            const double y = plot->series[s].y[i];
            bottom = y > 0 && y < bottom ? y : bottom;
            top = y > top ? y : top;
        }
    if (top > 0) {
        fprintf(to, "set yrange [%.10g:%.10g]\n", bottom / 1.6, top * 1.6);
        put_log_tics(to, 'y', bottom / 1.6, top * 1.6);
    } else if (plot->from_zero || has_bars) {
        fputs("set yrange [0:*]\nset offsets 0,0,graph 0.06,0\n", to);
    } else {
        fputs("set offsets 0,0,graph 0.06,graph 0.06\n", to);
    }
}

static void put_data(FILE *to, const tz_plot *plot)
{
    for (int s = 0; s < plot->series_count; s++) {
        const tz_plot_series *series = &plot->series[s];
        fprintf(to, "$d%d << EOD\n", s);
        for (int i = 0; i < series->count; i++) {
            double y = series->y[i];
            for (int below = 0; series->style == TZ_PLOT_AREA && below < s; below++)
                y += plot->series[below].style == TZ_PLOT_AREA ? plot->series[below].y[i] : 0;
            fprintf(to, "%.10g %.10g", series->x[i], y);
            if (series->low && series->high)
                fprintf(to, " %.10g %.10g", series->low[i], series->high[i]);
            fputc('\n', to);
        }
        fprintf(to, "EOD\n");
    }
}

static void put_series(FILE *to, const tz_plot *plot, int s, bool first)
{
    const tz_plot_series *series = &plot->series[s];
    static const int points[] = {7, 5, 9, 13, 11}; /* filled shapes */
    int before = 0; /* of its style: lines and points differ in grey, too */
    for (int i = 0; i < s; i++)
        before += plot->series[i].style == series->style;
    fprintf(to, "%s $d%d using ", first ? "plot" : ",", s);
    switch (series->style) {
    case TZ_PLOT_AREA:
        fprintf(to, "1:2 with filledcurves y1=0 fillstyle solid 1 noborder fillcolor rgb '#%06x'",
                series->colour);
        break;
    case TZ_PLOT_LINE:
        fprintf(to, "1:2 with lines linewidth 1.7 dashtype %d linecolor rgb '#%06x'",
                before % 5 + 1, series->colour);
        break;
    case TZ_PLOT_THIN:
        fprintf(to, "1:2 with lines linewidth 1.1 dashtype %d linecolor rgb '#%06x'",
                before % 5 + 1, series->colour);
        break;
    case TZ_PLOT_BARS:
        fprintf(to, "1:2 with boxes fillstyle solid 0.75 noborder linecolor rgb '#%06x'",
                series->colour);
        break;
    case TZ_PLOT_POINTS:
        fprintf(to, "%s pointtype %d pointsize 1.5 linewidth 1 linecolor rgb '#%06x'",
                series->low && series->high ? "1:2:3:4 with yerrorbars" : "1:2 with points",
                points[before % 5], series->colour);
        break;
    case TZ_PLOT_MARK:
        fprintf(to, "1:2 with points pointtype 6 pointsize 3.4 linewidth 1.6 linecolor rgb '#%06x'",
                series->colour);
        break;
    }
    fprintf(to, " title ");
    put_text(to, series->title);
}

static void put_all(FILE *to, const tz_plot *plot, const char *path)
{
    put_style(to, plot, path);
    put_ranges(to, plot);
    put_data(to, plot);
    bool first = true;
    /* The highest area first: the others are drawn over it. */
    for (int s = plot->series_count; s-- > 0;)
        if (plot->series[s].style == TZ_PLOT_AREA) {
            put_series(to, plot, s, first);
            first = false;
        }
    for (int s = 0; s < plot->series_count; s++)
        if (plot->series[s].style != TZ_PLOT_AREA) {
            put_series(to, plot, s, first);
            first = false;
        }
    fprintf(to, "\n");
}

/* Give an SVG file, which gnuplot lays out in units, its size: on paper, or half as many pixels as
 * it has units. False, and errno: it cannot be written. */
static bool set_size(const tz_plot *plot, const char *path)
{
    char *text = NULL, was[64];
    size_t bytes;
    tz_error error;
    const double width = width_of(plot), height = height_of(plot);
    const double mm = plot->width_mm, scale = mm > 0 ? mm / width : 0.5;
    const char *unit = mm > 0 ? "mm" : "";
    snprintf(was, sizeof was, "width=\"%.0f\" height=\"%.0f\"", width, height);
    if (tz_file_read(path, SIZE_MAX / 2, &text, &bytes, &error) != TZ_OK)
        return false;
    const char *at = strstr(text, was);
    FILE *to = at ? fopen(path, "w") : NULL;
    bool good = !at || to; /* another gnuplot: as it is */
    if (to) {
        const char *rest = at + strlen(was);
        fprintf(to, "%.*swidth=\"%.4g%s\" height=\"%.4g%s\"%s", (int)(at - text), text,
                width * scale, unit, height * scale, unit, rest);
        good = !ferror(to);
        good = fclose(to) == 0 && good;
    }
    free(text);
    return good;
}

tz_status tz_plot_draw(const tz_plot *plot, const char *path, tz_error *error)
{
    char temporary[PATH_MAX];
    if (!tz_plot_available())
        return tz_error_set(error, TZ_UNSUPPORTED, path,
                            TZ_PLOT_NEEDS_GNUPLOT ", or take the numbers with --csv");
    if (snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid()) >=
        (int)sizeof temporary)
        return tz_error_set(error, TZ_IO, path, "the path is too long");
    FILE *to = fopen(temporary, "w");
    if (!to)
        return tz_error_set_errno(error, errno, path, "cannot write the plot");
    fclose(to);
    to = popen("gnuplot", "w");
    if (!to) {
        unlink(temporary);
        return tz_error_set_errno(error, errno, path, "cannot start gnuplot");
    }
    put_all(to, plot, temporary);
    if (pclose(to) != 0) {
        unlink(temporary);
        return tz_error_set(error, TZ_IO, path, "gnuplot failed; its message is above");
    }
    const bool is_svg = plot->terminal && strcmp(plot->terminal, "svg") == 0;
    if ((is_svg && !set_size(plot, temporary)) || rename(temporary, path) != 0) {
        unlink(temporary);
        return tz_error_set_errno(error, errno, path, "cannot write the plot");
    }
    return TZ_OK;
}
