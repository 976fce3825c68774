/* The grid of a chip with its package, and the fields of the stencil `chip` on it: pure functions
 * that tz.chip (chip.c) uses.
 *
 * The die is cut into equal cells; around it, up to the largest layer, cells grow. A layer of the
 * chip is a plane of cells. Lengths in metres from the die's lower left corner, y up; row 0 of the
 * grid is the upper edge. */
#ifndef TZ_CORE_LUA_CHIP_GRID_H
#define TZ_CORE_LUA_CHIP_GRID_H

#include "output/format/chip_files.h"

/* A rectangle of a material. */
typedef struct tz_chip_part {
    double left_m, bottom_m, right_m, top_m;
    double k_w_mk, p_j_m3k; /* k 0: air */
} tz_chip_part;

typedef struct tz_chip_layer {
    double t_m;
    bool lateral; /* heat flows within the layer, too */
    /* The first part is the layer's own extent and material; later ones, which do not overlap each
     * other, take its place where they are. */
    const tz_chip_part *parts;
    size_t parts_count; /* at least 1 */
    /* Kinds of the die's cells (TZ_CHANNEL_WALL, …), rows from the upper edge down; NULL: no
     * channels. Parts of such a layer are its walls. */
    const char *channels;
} tz_chip_layer;

typedef struct tz_chip {
    double width_m, height_m; /* of the die */
    int64_t cells[2];         /* of the die, along x and y */
    int layers_count;
    const tz_chip_layer *layers; /* from the bottom up */
    const tz_package *package;   /* convection, coolant, c_factor */
    /* Heat crosses half of a layer and half of the next one, and all of the lowest layer, as in
     * HotSpot's "detailed 3-D"; else all of the lower one and nothing of the upper one. */
    bool detailed;
    /* Spreader and sink beside the die are HotSpot's twelve nodes: a node a side for the spreader,
     * for the sink below it and for what of the sink lies farther out. Each is a row of cells that
     * are tied together; there are no corners. */
    bool nodes;
} tz_chip;

typedef enum tz_chip_field {
    TZ_CHIP_CONDUCTANCE_X,
    TZ_CHIP_CONDUCTANCE_Y,
    TZ_CHIP_CONDUCTANCE_Z,
    TZ_CHIP_CONVECTION,
    TZ_CHIP_WARMING,
    TZ_CHIP_FLOW_X,
    TZ_CHIP_FLOW_Y,
    TZ_CHIP_INLET,
    TZ_CHIP_FIELDS
} tz_chip_field;

typedef struct tz_chip_grid {
    int64_t extent[3];
    int64_t low[2];  /* the die's first cell */
    double *edges_x; /* owned; extent[0] + 1 of them */
    double *edges_y; /* the same, but counted down from the die's upper edge */
} tz_chip_grid;

/* TZ_MEMORY. */
tz_status tz_chip_grid_make(const tz_chip *chip, tz_chip_grid *out, tz_error *error);
void tz_chip_grid_clear(tz_chip_grid *grid); /* a zeroed record is fine */

/* Fill fields of extent[0] x extent[1] x extent[2] zeros, x fastest, the caller's. `air` becomes 1
 * in cells without a material. *dt_s becomes the largest stable step. TZ_MEMORY. */
tz_status tz_chip_fill(const tz_chip *chip, const tz_chip_grid *grid,
                       double *fields[TZ_CHIP_FIELDS], char *air, double *dt_s, tz_error *error);

#endif
