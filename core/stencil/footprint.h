/* The neighbours that a cell update reads, found by running its one-cell function on many
 * inputs. */
#ifndef TZ_CORE_STENCIL_FOOTPRINT_H
#define TZ_CORE_STENCIL_FOOTPRINT_H

#include "stencil/problem.h"

enum { TZ_FOOTPRINT_REACH = 2 * TZ_RADIUS_MAX + 1 };

/* Bit TZ_RADIUS_MAX + dx of row[field][TZ_RADIUS_MAX + dz][TZ_RADIUS_MAX + dy]. A cell
 * update may read more on other inputs. Code that relies on a footprint must refuse such an
 * update. */
typedef struct tz_footprint {
    uint32_t row[TZ_FIELDS_MAX][TZ_FOOTPRINT_REACH][TZ_FOOTPRINT_REACH];
} tz_footprint;

void tz_footprint_probe(const tz_problem *problem, const tz_pass *pass, tz_footprint *footprint);

/* Bits of the columns read on a row; 0 where nothing is read, or outside the table. */
uint32_t tz_footprint_row(const tz_footprint *footprint, int field, int dz, int dy);

#endif
