/* A picture that is to be written to a file. One call reads its values, averaged down to the
 * picture's size; another one, in any thread, draws the picture and writes it. */
#ifndef TZ_CORE_OUTPUT_FRAME_FRAME_H
#define TZ_CORE_OUTPUT_FRAME_FRAME_H

#include "output/frame/axes.h"
#include "output/frame/colormap.h"
#include "output/frame/image.h"
#include "output/frame/overlay.h"
#include "output/frame/plane.h"
#include "sim/simulation.h"
#include <limits.h>

/* ---- How a picture looks --------------------------------------------------------------------- */

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

/* Pixels of the longer side, at most, of a look without a size; and the least value, as a share
 * of the largest, that the colours of a logarithm distinguish where no range is given. */
#define TZ_LOOK_SIZE 1024
#define TZ_LOOK_LOG 1e-6

/* Pixels a millimetre at scale 1 of the font, whose size is then 8 points. */
#define TZ_LOOK_MM (TZ_FONT_SIZE / (8 * 25.4 / 72))

/* A part of a grid, which a film shows at that step. */
typedef struct tz_look_region {
    int64_t step;
    int64_t low[2], high[2]; /* x and y; high 0: the whole axis */
} tz_look_region;

#define TZ_LOOK_REGIONS_MAX 64

typedef struct tz_look {
    char map[32];                       /* colour map; "": the stencil's, else viridis */
    int colours_count;                  /* a map of these instead; 0: none */
    uint8_t colours[TZ_COLOURS_MAX][3]; /* from low to high */
    tz_range_kind range;
    double low, high;
    bool log;          /* the map follows the logarithm: the range is above 0 */
    int64_t size;      /* most pixels of a side; 0: TZ_LOOK_SIZE */
    int64_t zoom;      /* pixels a cell; 0: chosen */
    double width_mm;   /* of the whole picture on paper, with texts of 8 points; 0: not said */
    int bits;          /* 8: colours; 16: gray values */
    bool bar;          /* a colour bar */
    char caption[512]; /* of a tz_output: with placeholders (output/caption.h) */
    bool told;         /* the caption of each picture is a text that the caller makes */
    bool axes;         /* x and y with numbers; of one slice */
    /* Of axes: widths of a cell, one for each axis of the grid or one for all; none: the model's.
     */
    int spacing_count;
    double spacing[3];
    char axes_unit[32];
    tz_y_from y; /* of axes with widths, and of files with a geometry */
    tz_overlay overlay;
    bool isometric; /* of 3-D data: a view of the cells of at least `level` */
    bool cut;       /* of a view: without the eighth that is nearest */
    bool has_level; /* false: TZ_LEVEL_OF_BITS, or the middle of the range */
    double level;
    bool greatest;     /* of 2-D: where cells are more than pixels, their maximum */
    int regions_count; /* of 2-D: a part; several: it moves from one to the next */
    tz_look_region regions[TZ_LOOK_REGIONS_MAX];
    bool follows;  /* the middle of the part is that of the cells but 0 */
    bool has_unit; /* false: the field's unit */
    char unit[64];
} tz_look;

/* `y_up`: TZ_Y_AUTO is up, as it also is beside the outlines of a floorplan. */
bool tz_look_y_up(const tz_look *look, bool y_up);

/* Does a look with regions or maxima suit a grid? TZ_UNSUPPORTED, TZ_RANGE, TZ_SHAPE (of several
 * regions). */
tz_status tz_look_check_region(const tz_look *look, int dims, const int64_t *shape,
                               tz_error *error);

/* ---- Frames ---------------------------------------------------------------------------------- */

enum { TZ_FRAME_TEXTS_MAX = 16 };

typedef struct tz_frame {
    char path[PATH_MAX];
    tz_image_write *draw; /* writes the file; set by who writes one */
    tz_look look;         /* with map, low, high and unit filled in */
    int planes_count;
    tz_plane **planes; /* owned; on a logarithmic scale they hold logarithms to base 10 */
    int slice_axis;    /* across which the planes are */
    int64_t slices;    /* of the grid, across that axis */
    bool turned;       /* row 0 is at the bottom */
    bool vectors;      /* the file has vectors: all but the values */
    tz_axis axes[2];   /* if the look wants them: x and y of the picture */
    tz_overlay_point *path_points; /* of the look; owned */
    size_t texts_count;            /* notes for the file's text chunks */
    char keys[TZ_FRAME_TEXTS_MAX][32];
    char values[TZ_FRAME_TEXTS_MAX][320];
} tz_frame;

/* A frame with that look, whose path is copied, and nothing to show yet. TZ_MEMORY. End with
 * tz_frame_destroy. */
tz_status tz_frame_create(tz_frame **out, const tz_look *look, tz_error *error);
void tz_frame_destroy(tz_frame *frame); /* NULL is fine */

/* Add a text to the file: a key of 1 to 31 ASCII characters and its value, which replaces an
 * earlier one. At most TZ_FRAME_TEXTS_MAX are kept. */
void tz_frame_note(tz_frame *frame, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Add the look's facts: Unit, Range and Map. */
void tz_frame_note_look(tz_frame *frame);

/* Read a field's values. `slice` is one of a 3-D field; its place -1 takes all slices across its
 * axis, as a montage. A 1-D field becomes a strip. Holds a few rows of the field at a time.
 * Errors: TZ_MEMORY and those of tz_simulation_read_cells. */
tz_status tz_frame_read(tz_frame *frame, const tz_simulation *simulation, int field, tz_slice slice,
                        tz_error *error);
/* The same for an array. */
tz_status tz_frame_read_array(tz_frame *frame, const tz_array *array, tz_slice slice,
                              tz_error *error);
/* Turn a picture of rows so that row 0 is its lower edge, if the look wants y up or `rows_up` and
 * nothing else says which way it is up (`y_up`: row 0 is the upper edge, as beside outlines).
 * Views, slices across other axes and 1-D data stay. Returns whether y points up in it. */
bool tz_frame_turn(tz_frame *frame, int dims, bool rows_up, bool y_up);
/* Make the axes that the look wants, of one slice of such a grid: with the widths of the look, or
 * those of the model; `unit` NULL: it knows none. `y_up`: as in tz_look_y_up. */
void tz_frame_set_axes(tz_frame *frame, int dims, const int64_t *shape, int slice_axis,
                       const double spacing[TZ_AXES], const char *unit, bool y_up);

/* Take the extremes of the data as the range of a look. On a logarithmic scale it begins at a
 * millionth of the maximum if the minimum is below, and is 0.1 to 1 if no value is above 0. */
void tz_look_take_range(tz_look *look, double low, double high);
/* The range in which the planes' values are drawn: of a logarithmic scale, in logarithms. */
void tz_frame_drawn_range(const tz_frame *frame, double *low, double *high);

/* Draw the values. Release *out with tz_image_destroy(). TZ_UNKNOWN (the colour map), TZ_MEMORY,
 * TZ_RANGE. [any thread] */
tz_status tz_frame_image(const tz_frame *frame, tz_image **out, tz_error *error);
/* The frame's notes, in the caller's array; borrowed from the frame. Returns how many. */
size_t tz_frame_notes(const tz_frame *frame, tz_image_note texts[TZ_FRAME_TEXTS_MAX]);

/* Draw the values and write the file, which must not exist. TZ_UNKNOWN (the colour map), TZ_IO,
 * TZ_MEMORY. [any thread] */
tz_status tz_frame_draw(const tz_frame *frame, tz_error *error);

#endif
