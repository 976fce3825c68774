/* Colour maps: 256 colours from low to high.
 *
 * viridis, inferno (Smith and van der Walt, CC0; within 1/255 of the published tables), gray, and
 * balance: blue, white, red, for values around a middle, equally light on both sides (made in
 * Oklab). "NAME_r" is the map reversed. */
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

/* Fill the caller's table. TZ_UNKNOWN with the nearest name. */
tz_status tz_colormap_find(const char *name, tz_colormap *out, tz_error *error);

/* The entry for a value: clipped to lo..hi; -1 for NaN. hi <= lo: the middle. */
int tz_colormap_index(double value, double lo, double hi);

#endif
