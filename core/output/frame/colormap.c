#include "output/frame/colormap.h"

#include "base/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Every eighth colour. The others are on a Catmull-Rom curve through them. */
enum { POINTS = 33 };

static const uint8_t viridis_points[POINTS][3] = {
    {68, 1, 84},    {71, 13, 96},   {72, 24, 106},  {72, 35, 116},  {71, 45, 123},  {69, 54, 129},
    {66, 64, 134},  {63, 73, 137},  {59, 82, 139},  {55, 90, 141},  {51, 99, 141},  {47, 106, 142},
    {44, 114, 142}, {41, 122, 142}, {38, 129, 142}, {35, 137, 142}, {33, 144, 140}, {31, 152, 139},
    {31, 159, 136}, {33, 166, 133}, {40, 174, 128}, {49, 181, 123}, {62, 188, 116}, {76, 194, 108},
    {93, 201, 99},  {110, 206, 88}, {130, 211, 76}, {150, 216, 63}, {171, 220, 50}, {192, 223, 36},
    {213, 226, 26}, {234, 229, 26}, {253, 231, 37}};
static const uint8_t inferno_points[POINTS][3] = {
    {0, 0, 4},       {4, 3, 18},      {11, 7, 36},    {21, 11, 55},   {33, 12, 74},
    {46, 10, 90},    {60, 9, 101},    {74, 12, 107},  {87, 16, 109},  {99, 20, 110},
    {112, 25, 110},  {125, 30, 109},  {137, 34, 106}, {150, 39, 102}, {163, 43, 97},
    {175, 49, 92},   {187, 55, 85},   {198, 62, 77},  {209, 70, 68},  {219, 79, 59},
    {227, 89, 50},   {235, 101, 40},  {241, 113, 30}, {246, 127, 20}, {249, 141, 10},
    {251, 156, 6},   {252, 171, 15},  {251, 186, 31}, {249, 202, 50}, {245, 217, 73},
    {242, 232, 101}, {243, 245, 134}, {252, 255, 164}};
static const uint8_t balance_points[POINTS][3] = {
    {16, 41, 147},   {21, 55, 164},   {27, 69, 180},   {34, 83, 196},   {42, 97, 210},
    {51, 111, 223},  {62, 125, 235},  {74, 139, 246},  {88, 153, 255},  {110, 168, 253},
    {130, 181, 254}, {149, 194, 255}, {169, 205, 254}, {187, 217, 255}, {205, 227, 255},
    {222, 237, 255}, {243, 243, 243}, {255, 229, 219}, {255, 215, 201}, {255, 199, 181},
    {254, 183, 161}, {255, 164, 138}, {254, 145, 115}, {253, 122, 90},  {244, 105, 74},
    {234, 87, 58},   {222, 69, 44},   {209, 50, 30},   {195, 29, 15},   {178, 3, 4},
    {157, 0, 8},     {135, 3, 12},    {115, 1, 11}};
static const uint8_t gray_points[2][3] = {{0, 0, 0}, {255, 255, 255}};

static const struct source {
    const char *name;
    const uint8_t (*points)[3];
    int count;
} sources[] = {
    {"viridis", viridis_points, POINTS},
    {"inferno", inferno_points, POINTS},
    {"gray", gray_points, 2},
    {"balance", balance_points, POINTS},
};

enum { SOURCES = (int)(sizeof sources / sizeof *sources) };

/* One channel of entry i. Past its ends the curve continues straight. */
static uint8_t curve(const struct source *source, int i, int channel)
{
    const int last = source->count - 1;
    const double at = (double)i * last / (TZ_COLORMAP_SIZE - 1);
    const int k = at < last ? (int)at : last - 1;
    const double f = at - k;
    const double p1 = source->points[k][channel], p2 = source->points[k + 1][channel];
    const double p0 = k > 0 ? source->points[k - 1][channel] : 2.0 * p1 - p2;
    const double p3 = k + 2 <= last ? source->points[k + 2][channel] : 2.0 * p2 - p1;
    const double v =
        p1 +
        0.5 * f *
            (p2 - p0 + f * (2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3 + f * (3.0 * (p1 - p2) + p3 - p0)));
    return (uint8_t)(v < 0.0 ? 0.0 : v > 255.0 ? 255.0 : floor(v + 0.5));
}

const char *tz_colormap_name(int index)
{
    return index < SOURCES ? sources[index].name : NULL;
}

tz_status tz_colormap_find(const char *name, tz_colormap *out, tz_error *error)
{
    const size_t length = strlen(name);
    const bool reversed = length > 2 && strcmp(name + length - 2, "_r") == 0;
    const size_t stem = reversed ? length - 2 : length;
    for (int k = 0; k < SOURCES; k++) {
        if (strlen(sources[k].name) != stem || strncmp(sources[k].name, name, stem) != 0)
            continue;
        memset(out, 0, sizeof *out);
        snprintf(out->name, sizeof out->name, "%s", name);
        for (int i = 0; i < TZ_COLORMAP_SIZE; i++)
            for (int c = 0; c < 3; c++)
                out->rgb[reversed ? TZ_COLORMAP_SIZE - 1 - i : i][c] = curve(&sources[k], i, c);
        return TZ_OK;
    }
    const char *names[SOURCES];
    char hint[128];
    for (int k = 0; k < SOURCES; k++)
        names[k] = sources[k].name;
    return tz_error_set(error, TZ_UNKNOWN, NULL, "unknown colour map '%s'%s", name,
                        tz_names_hint(hint, sizeof hint, name, names, SOURCES));
}

int tz_colormap_index(double value, double lo, double hi)
{
    if (isnan(value))
        return -1;
    if (!(hi > lo))
        return TZ_COLORMAP_SIZE / 2;
    /* Halves: the width of a range may exceed the largest double. */
    const double t = (0.5 * value - 0.5 * lo) / (0.5 * hi - 0.5 * lo);
    return t <= 0.0 ? 0 : t >= 1.0 ? TZ_COLORMAP_SIZE - 1 : (int)(t * (TZ_COLORMAP_SIZE - 1) + 0.5);
}
