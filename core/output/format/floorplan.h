/* HotSpot's floorplans (.flp) and power traces (.ptrace), and power maps made from them.
 *
 * Lengths in metres, powers in watt; '#' begins a comment. Source: HotSpot, hs_doc "Input files".
 * Errors: TZ_IO, TZ_MEMORY, TZ_FORMAT (columns, numbers), TZ_RANGE (size, overlap, outside the
 * chip), TZ_UNKNOWN (a unit that the other file lacks). Place: FILE:LINE. */
#ifndef TZ_CORE_OUTPUT_FORMAT_FLOORPLAN_H
#define TZ_CORE_OUTPUT_FORMAT_FLOORPLAN_H

#include "base/array.h"
#include "output/format/lines.h"

typedef struct tz_floorplan_unit {
    char name[TZ_WORD_NAME_SIZE];
    double width_m, height_m, left_m, bottom_m; /* y points up */
    double heat_j_m3k, resistivity_mk_w;        /* of its material; 0: the layer's */
    int line;                                   /* of the file, for messages */
} tz_floorplan_unit;

typedef struct tz_floorplan {
    char *path;               /* owned */
    tz_floorplan_unit *units; /* owned, in the order of the file */
    size_t unit_count;
    double left_m, bottom_m, width_m, height_m; /* the bounding box of all units */
    double covered;                             /* the share of it that units cover */
} tz_floorplan;

typedef struct tz_ptrace {
    char *path;                       /* owned */
    char (*names)[TZ_WORD_NAME_SIZE]; /* owned, in the order of the first line */
    size_t unit_count;
    size_t sample_count;
    double *powers_w;  /* owned; powers_w[sample * unit_count + unit] */
    bool repeats;      /* a name is there more than once, as units of several layers may be */
    int name_line;     /* of the file, for messages */
    int negative_line; /* the first one with a negative power; 0: none */
} tz_ptrace;

/* The largest share of a unit's area that may overlap another unit. */
#define TZ_OVERLAP_MAX 0.01

/* Lines `unit width height left_x bottom_y [specific-heat resistivity]`; lines `unit unit density`,
 * which connect units, are skipped. Units may touch; an overlap deeper than 10^-4 of the plan's
 * longer side is refused if it is more than the share `overlap` of the smaller unit's area. */
tz_status tz_floorplan_read(const char *path, double overlap, tz_floorplan *out, tz_error *error);
/* Move all units such that the plan's lower left corner is there. */
void tz_floorplan_move(tz_floorplan *plan, double left_m, double bottom_m);
void tz_floorplan_clear(tz_floorplan *plan); /* a zeroed record is fine */

/* A line of unit names, then a line of powers for each sample; at least one sample. */
tz_status tz_ptrace_read(const char *path, tz_ptrace *out, tz_error *error);
void tz_ptrace_clear(tz_ptrace *trace); /* a zeroed record is fine */

/* One sample's powers in the plan's order of units; sample -1: the mean over all samples. Only
 * `count` columns from `first` (0 <= first < trace->unit_count) on are looked at, in which each
 * unit of the plan must be once; other columns are of other plans. powers_w: plan->unit_count
 * numbers, the caller's. */
tz_status tz_ptrace_arrange(const tz_ptrace *trace, const tz_floorplan *plan, int64_t sample,
                            size_t first, size_t count, double *powers_w, tz_error *error);

/* Watt per cell of a chip of nx x ny cells, float64: each unit's power is spread evenly over its
 * area, and a cell gets the part that falls on it. The sum is that of powers_w, but for rounding.
 * The result has rows y_low to y_high - 1, shape {nx, y_high - y_low}; row 0 is the TOP of the
 * chip, as in a picture (the plan's y points up). The chip is width_m x height_m with its corner
 * at the origin; both 0: the plan's bounding box. A unit may stick out by 10^-4 of the chip's
 * longer side (its power then goes to the part inside). */
tz_status tz_floorplan_rasterise_rows(const tz_floorplan *plan, const double *powers_w, int64_t nx,
                                      int64_t ny, double width_m, double height_m, int64_t y_low,
                                      int64_t y_high, tz_array **out, tz_error *error);

/* The cells of a unit on that grid and chip: with `touched` all that have a part of it, else those
 * whose centres lie in it, or the one that holds its own centre. low <= x < high, x first. Only the
 * bounding box and the path of `plan` are read. */
tz_status tz_floorplan_unit_cells(const tz_floorplan *plan, const tz_floorplan_unit *unit,
                                  int64_t nx, int64_t ny, double width_m, double height_m,
                                  bool touched, int64_t low[2], int64_t high[2], tz_error *error);

#endif
