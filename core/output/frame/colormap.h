/* Colour maps: 256 colours from low to high.
 *
 * viridis, inferno (Smith and van der Walt, CC0; within 1/255 of the published tables), gray, and
 * balance: blue, white, red, for values around a middle, equally light on both sides (made in
 * Oklab). magma (Smith and van der Walt, CC0), cividis (Nunez, Anderton and Renslow, 2018, PLoS
 * ONE 13(7); for eyes that do not tell red from green) and twilight (Bechtold, CC0; for angles
 * and phases: its ends are equal), each by points of the table in matplotlib, within 1/255,
 * cividis within 5/255. categories: eight colours that are easy to tell apart (Okabe and Ito,
 * 2008), without mixtures. "NAME_r" is the map reversed. */
#ifndef TZ_CORE_OUTPUT_FRAME_COLORMAP_H
#define TZ_CORE_OUTPUT_FRAME_COLORMAP_H

#include "base/error.h"
#include <stdint.h>

enum { TZ_COLORMAP_SIZE = 256 };

typedef struct tz_colormap {
    char name[24];
    uint8_t rgb[TZ_COLORMAP_SIZE][3]; /* sRGB; [0] for the lowest value */
} tz_colormap;

/* The name of map `index`, from 0; NULL after the last. Static. */
const char *tz_colormap_name(int index);
/* What the manual says of it: "is for angles"; NULL: nothing. */
const char *tz_colormap_doc(int index);

/* Fill the caller's table. TZ_UNKNOWN with the nearest name. */
tz_status tz_colormap_find(const char *name, tz_colormap *out, tz_error *error);

/* The least and the most colours of a list. */
enum { TZ_COLOURS_MIN = 2, TZ_COLOURS_MAX = 64 };
/* A map from `count` colours at equal distances, mixed in sRGB in between. */
void tz_colormap_mix(const uint8_t (*colours)[3], int count, tz_colormap *out);
/* Read "#f80" or "#ff8800". False: it is neither. */
bool tz_colour_parse(const char *text, uint8_t rgb[3]);

/* The entry for a value: clipped to lo..hi; -1 for NaN. hi <= lo: the middle. */
int tz_colormap_index(double value, double lo, double hi);

#endif
