/* Colour maps: one is a row of `sources`. Canvas and looks of scripts find them by name. */
#include "output/frame/colormap.h"

#include "base/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
static const uint8_t magma_points[POINTS][3] = {
    {1, 0, 3},       {3, 3, 18},      {10, 8, 34},     {19, 13, 52},    {29, 17, 70},
    {40, 17, 90},    {54, 16, 106},   {67, 15, 118},   {80, 18, 124},   {93, 23, 127},
    {105, 28, 129},  {118, 33, 129},  {130, 37, 129},  {143, 42, 129},  {156, 46, 127},
    {169, 50, 125},  {182, 55, 122},  {195, 59, 117},  {207, 65, 112},  {219, 71, 106},
    {230, 81, 99},   {238, 92, 94},   {245, 105, 92},  {248, 120, 93},  {251, 135, 97},
    {253, 150, 104}, {254, 165, 113}, {254, 180, 123}, {254, 195, 135}, {254, 209, 148},
    {253, 224, 161}, {252, 238, 176}, {252, 253, 191}};
static const uint8_t cividis_points[POINTS][3] = {
    {0, 34, 78},     {0, 40, 91},     {0, 46, 106},    {4, 51, 113},    {26, 56, 111},
    {39, 62, 110},   {49, 67, 109},   {59, 73, 108},   {67, 78, 108},   {75, 84, 108},
    {83, 89, 109},   {90, 95, 110},   {97, 100, 111},  {104, 106, 113}, {111, 112, 115},
    {117, 118, 118}, {124, 123, 120}, {131, 129, 121}, {140, 135, 120}, {147, 141, 120},
    {154, 147, 118}, {162, 154, 117}, {170, 160, 114}, {179, 167, 112}, {187, 173, 108},
    {195, 180, 105}, {204, 186, 100}, {212, 193, 95},  {221, 201, 88},  {230, 208, 81},
    {239, 215, 73},  {249, 223, 60},  {255, 231, 56}};
static const uint8_t twilight_points[POINTS][3] = {
    {226, 217, 226}, {214, 215, 221}, {194, 206, 212}, {170, 194, 203}, {148, 180, 199},
    {128, 166, 195}, {114, 150, 193}, {104, 135, 190}, {98, 117, 186},  {95, 99, 181},
    {94, 81, 173},   {93, 61, 161},   {89, 42, 143},   {82, 27, 120},   {69, 19, 92},
    {57, 17, 70},    {49, 19, 55},    {58, 17, 58},    {75, 19, 66},    {95, 23, 74},
    {116, 30, 79},   {135, 39, 80},   {152, 53, 80},   {166, 69, 80},   {178, 86, 82},
    {187, 105, 88},  {194, 124, 98},  {200, 143, 114}, {204, 163, 136}, {209, 181, 162},
    {216, 198, 189}, {223, 212, 213}, {226, 217, 226}};
static const uint8_t categories_points[8][3] = {{0, 0, 0},     {230, 159, 0},  {86, 180, 233},
                                                {0, 158, 115}, {240, 228, 66}, {0, 114, 178},
                                                {213, 94, 0},  {204, 121, 167}};
static const uint8_t gray_points[2][3] = {{0, 0, 0}, {255, 255, 255}};

static const struct source {
    const char *name;
    const uint8_t (*points)[3];
    int count;
    bool steps;      /* no colours between the points */
    const char *doc; /* for the manual: "is for angles"; NULL: nothing */
} sources[] = {
    {"viridis", viridis_points, POINTS, false, NULL},
    {"inferno", inferno_points, POINTS, false, NULL},
    {"magma", magma_points, POINTS, false, NULL},
    {"cividis", cividis_points, POINTS, false, NULL},
    {"gray", gray_points, 2, false, NULL},
    {"balance", balance_points, POINTS, false, NULL},
    {"twilight", twilight_points, POINTS, false, "is for angles and phases: its ends are equal"},
    {"categories", categories_points, 8, true,
     "has eight colours for the integers of `range = {0, 7}`"},
};

enum { SOURCES = (int)(sizeof sources / sizeof *sources) };

/* One channel of entry i. Past its ends the curve continues straight. */
static uint8_t curve(const struct source *source, int i, int channel)
{
    const int last = source->count - 1;
    if (source->steps)
        return source->points[i * source->count / TZ_COLORMAP_SIZE][channel];
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

const char *tz_colormap_doc(int index)
{
    return sources[index].doc;
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
    char hint[128];
    return tz_error_set(error, TZ_UNKNOWN, NULL, "unknown colour map '%s'%s", name,
                        TZ_NAMES_HINT(hint, name, sources, SOURCES));
}

void tz_colormap_mix(const uint8_t (*colours)[3], int count, tz_colormap *out)
{
    *out = (tz_colormap){.name = "colours"};
    for (int i = 0; i < TZ_COLORMAP_SIZE; i++) {
        const double at = (double)i * (count - 1) / (TZ_COLORMAP_SIZE - 1);
        const int k = at < count - 1 ? (int)at : count - 2;
        for (int c = 0; c < 3; c++)
            out->rgb[i][c] =
                (uint8_t)lround(colours[k][c] + (at - k) * (colours[k + 1][c] - colours[k][c]));
    }
}

bool tz_colour_parse(const char *text, uint8_t rgb[3])
{
    const size_t length = strlen(text);
    if (text[0] != '#' || (length != 4 && length != 7) ||
        strspn(text + 1, "0123456789abcdefABCDEF") != length - 1)
        return false;
    const unsigned long all = strtoul(text + 1, NULL, 16);
    for (int c = 0; c < 3; c++)
        rgb[c] =
            (uint8_t)(length == 7 ? all >> (8 * (2 - c)) & 255 : (all >> (4 * (2 - c)) & 15) * 17);
    return true;
}

int tz_colormap_index(double value, double lo, double hi)
{
    if (isnan(value))
        return -1;
    /* Halves: the width of a range may exceed the largest double. */
    const double width = 0.5 * hi - 0.5 * lo;
    if (!(width > 0))
        return TZ_COLORMAP_SIZE / 2;
    const double t = (0.5 * value - 0.5 * lo) / width;
    return t <= 0.0 ? 0 : t >= 1.0 ? TZ_COLORMAP_SIZE - 1 : (int)(t * (TZ_COLORMAP_SIZE - 1) + 0.5);
}
