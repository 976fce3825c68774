/* The table of boundary kinds and the definition of what they do. Called wherever a boundary is
 * named, and by the reference backend for every read outside the grid. */
#include "stencil/boundary.h"

#include <stdio.h>
#include <string.h>

typedef struct kind_names {
    const char *name, *c_name;
} kind_names;

#define NAMES_OF(kind, rule, name, doc) {name, "TZ_" #kind},
static const kind_names names[] = {TZ_BOUNDARY_TABLE(NAMES_OF)};
#undef NAMES_OF

const char *tz_boundary_name(tz_boundary boundary)
{
    return names[boundary].name;
}

const char *tz_boundary_c_name(tz_boundary boundary)
{
    return names[boundary].c_name;
}

int tz_boundary_find(const char *name)
{
    for (int b = 0; b < TZ_BOUNDARIES; b++)
        if (strcmp(name, names[b].name) == 0)
            return b;
    return -1;
}

const char *tz_boundary_text(const tz_boundary sides[2], char text[TZ_BOUNDARY_TEXT_SIZE])
{
    const bool same = sides[0] == sides[1];
    snprintf(text, TZ_BOUNDARY_TEXT_SIZE, "%s%s%s", tz_boundary_name(sides[0]), same ? "" : ":",
             same ? "" : tz_boundary_name(sides[1]));
    return text;
}

uint32_t tz_boundaries_with(tz_boundary_rule rule)
{
    uint32_t mask = 0;
    for (int b = 0; b < TZ_BOUNDARIES; b++)
        if (tz_boundary_rule_of((tz_boundary)b) == rule)
            mask |= TZ_ALLOW(b);
    return mask;
}

int64_t tz_boundary_map(const tz_boundary sides[2], int64_t coordinate, int64_t extent)
{
    if (tz_boundary_reflects(sides[0]) && tz_boundary_reflects(sides[1]))
        coordinate = extent > 1 ? coordinate % (2 * (extent - 1)) : 0;
    while (coordinate < 0 || coordinate >= extent) {
        const int side = coordinate < 0 ? 0 : 1;
        switch (tz_boundary_rule_of(sides[side])) {
        case TZ_RULE_REPEATS:
            return side == 0 ? 0 : extent - 1;
        case TZ_RULE_WRAPS:
            return tz_boundary_wrap(coordinate, extent);
        case TZ_RULE_REFLECTS:
            coordinate = side == 0 ? -coordinate : 2 * (extent - 1) - coordinate;
            break;
        case TZ_RULE_HAS_VALUE:
            return -1 - side;
        }
    }
    return coordinate;
}
