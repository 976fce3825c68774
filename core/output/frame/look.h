/* How a picture looks: colours, range, size and lettering. */
#ifndef TZ_CORE_OUTPUT_FRAME_LOOK_H
#define TZ_CORE_OUTPUT_FRAME_LOOK_H

#include "output/frame/colormap.h"
#include "output/frame/overlay.h"

typedef enum tz_range_kind {
    TZ_RANGE_PICTURE, /* the stencil's own range, else as TZ_RANGE_AUTO */
    TZ_RANGE_FIXED,   /* low … high */
    TZ_RANGE_AUTO     /* the finite values of what is drawn */
} tz_range_kind;

/* From where y is counted. */
typedef enum tz_y_from {
    TZ_Y_DOWN, /* from row 0 on */
    TZ_Y_UP,   /* from the last row on: row 0 is the upper edge */
    TZ_Y_AUTO  /* up of a chip with a floorplan */
} tz_y_from;

/* In a view, what part of an averaged cell's bits must be set for it to be solid. */
#define TZ_LEVEL_OF_BITS 0.25

/* Pixels of the longer side, at most, of a look without a size; and the least value, as a share of the
 * largest, that the colours of a logarithm distinguish where no range is given. */
#define TZ_LOOK_SIZE 1024
#define TZ_LOOK_LOG 1e-6

typedef struct tz_look {
    char map[32];                       /* colour map; "": the stencil's, else viridis */
    int colours_count;                  /* a map of these instead; 0: none */
    uint8_t colours[TZ_COLOURS_MAX][3]; /* from low to high */
    tz_range_kind range;
    double low, high;
    bool log;          /* the map follows the logarithm: the range is above 0 */
    int64_t size;      /* most pixels of a side; 0: TZ_LOOK_SIZE */
    int64_t zoom;      /* pixels a cell; 0: chosen */
    int bits;          /* 8: colours; 16: gray values */
    bool bar;          /* a colour bar */
    char caption[512]; /* of a tz_output: with placeholders (output/caption.h) */
    bool told;         /* the caption of each picture is a text that the caller makes */
    bool axes;         /* x and y with numbers; of one slice */
    /* Of axes: widths of a cell, one for each axis of the grid or one for all; none: the model's. */
    int spacing_count;
    double spacing[3];
    char axes_unit[32];
    tz_y_from y; /* of axes with widths, and of files with a geometry */
    tz_overlay overlay;
    bool isometric; /* of 3-D data: a view of the cells of at least `level` */
    bool cut;       /* of a view: without the eighth that is nearest */
    bool has_level; /* false: TZ_LEVEL_OF_BITS, or the middle of the range */
    double level;
    bool has_unit; /* false: the field's unit */
    char unit[64];
} tz_look;

/* `y_up`: TZ_Y_AUTO is up, as it also is beside the outlines of a floorplan. */
bool tz_look_y_up(const tz_look *look, bool y_up);

#endif
