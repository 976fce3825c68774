/* HotSpot's descriptions of a chip's package (.config), of the layers of a stack (.lcf) and of
 * materials. Errors: TZ_IO, TZ_MEMORY, TZ_FORMAT, TZ_RANGE, TZ_UNKNOWN (a material),
 * TZ_UNSUPPORTED (what HotSpot has and Trapeze has not). Place: FILE:LINE. */
#ifndef TZ_CORE_OUTPUT_FORMAT_CHIP_FILES_H
#define TZ_CORE_OUTPUT_FORMAT_CHIP_FILES_H

#include "output/format/lines.h"
#include <stdint.h>

enum { TZ_CHIP_LAYERS_MAX = 64 };

/* Numbers of a .config by their names in HotSpot, with HotSpot's defaults: name, default, what it
 * is. All are above 0, but pump_internal_res may be 0. */
#define TZ_PACKAGE_TABLE(X)                                                                        \
    X(t_chip, 0.00015,                                                                             \
      "thickness of the die, m; of an `lcf` or of `layers` each layer has its own")                \
    X(k_chip, 100.0, "its conductivity, W/(m K)")                                                  \
    X(p_chip, 1.75e6, "its heat capacity, J/(m³ K)")                                               \
    X(t_interface, 2e-5, "thickness of the interface between die and spreader")                    \
    X(k_interface, 4.0, "its conductivity")                                                        \
    X(p_interface, 4e6, "its heat capacity")                                                       \
    X(s_spreader, 0.03, "side of the spreader, m")                                                 \
    X(t_spreader, 0.001, "its thickness")                                                          \
    X(k_spreader, 400.0, "its conductivity")                                                       \
    X(p_spreader, 3.55e6, "its heat capacity")                                                     \
    X(s_sink, 0.06, "side of the sink, m")                                                         \
    X(t_sink, 0.0069, "its thickness")                                                             \
    X(k_sink, 400.0, "its conductivity")                                                           \
    X(p_sink, 3.55e6, "its heat capacity")                                                         \
    X(r_convec, 0.1, "resistance from the sink to the ambient, K/W")                               \
    X(c_convec, 140.4, "heat capacity of the convection, J/K")                                     \
    X(ambient, 318.15, "ambient temperature, K")                                                   \
    X(init_temp, 333.15, "temperature at the start, K")                                            \
    X(sampling_intvl, 3.333e-6, "time of a row of the trace, s")                                   \
    X(grid_rows, 64, "cells of the die along y")                                                   \
    X(grid_cols, 64, "cells of the die along x")                                                   \
    X(c_factor, 0.333, "share of all heat capacities that counts, as HotSpot has it")              \
    X(pumping_pressure, 5000,                                                                      \
      "of layers with channels: the coolant's pressure at inlets less that at outlets, Pa")        \
    X(pump_internal_res, 0, "what the pump takes of it, Pa s/m³")                                  \
    X(inlet_temperature, 300, "temperature of the coolant at inlets, K")                           \
    X(coolant_capac, 4172638, "its heat capacity, J/(m³ K)")                                       \
    X(coolant_res, 1.647717911, "its resistivity, m K/W")                                          \
    X(coolant_visc, 0.000889, "its dynamic viscosity, Pa s")                                       \
    X(wall_capac, 1635660, "heat capacity of the channels' walls, J/(m³ K)")                       \
    X(wall_res, 0.0076923077, "their resistivity, m K/W")                                          \
    X(htc, 27132, "heat transfer coefficient of coolant and walls, W/(m² K)")

/* What the value of a unit is in .steady and .ttrace files. */
typedef enum tz_map_mode { TZ_MAP_AVG, TZ_MAP_CENTER, TZ_MAP_MIN, TZ_MAP_MAX } tz_map_mode;
extern const char *const tz_map_modes[TZ_MAP_MAX + 1]; /* HotSpot's words */

typedef struct tz_package {
#define TZ__PACKAGE_MEMBER(NAME, ...) double NAME;
    TZ_PACKAGE_TABLE(TZ__PACKAGE_MEMBER)
#undef TZ__PACKAGE_MEMBER
    tz_map_mode map_mode; /* grid_map_mode */
} tz_package;

/* A package with all defaults. */
tz_package tz_package_default(void);
/* The member of that name; NULL: there is none. */
double *tz_package_find(tz_package *package, const char *name);

typedef struct tz_material {
    char name[TZ_WORD_NAME_SIZE];
    double k_w_mk, p_j_m3k, visc_pa_s; /* of a solid the last one is 0 */
} tz_material;

typedef struct tz_materials {
    char *path; /* owned; NULL: no file */
    tz_material *rows;
    size_t count;
} tz_materials;

/* Five lines a material, four if it is solid: name, "solid" or "fluid", conductivity, heat capacity
 * and viscosity. */
tz_status tz_materials_read(const char *path, tz_materials *out, tz_error *error);
void tz_materials_clear(tz_materials *materials); /* a zeroed record is fine */
/* NULL: there is none of that name. */
const tz_material *tz_materials_find(const tz_materials *materials, const char *name);

/* Lines "-NAME VALUE". Sets what the file has; "-material_chip" and others replace k and p by those
 * of a material. Names that are not of the table are of other parts of HotSpot and ignored;
 * TZ_UNKNOWN: one is misspelt. TZ_UNSUPPORTED: the file wants the secondary path, leakage or the
 * detailed package. */
tz_status tz_package_read(const char *path, const tz_materials *materials, tz_package *package,
                          tz_error *error);

/* A layer of a stack, as HotSpot's .lcf has it. */
typedef struct tz_chip_row {
    int line;
    bool lateral, powered, channels;
    double t_m, k_w_mk, p_j_m3k;
    char flp[TZ_WORD_NAME_SIZE * 4]; /* as the file has it; .csv: `channels` instead */
} tz_chip_row;

typedef struct tz_chip_rows {
    size_t count;
    tz_chip_row rows[TZ_CHIP_LAYERS_MAX]; /* from the bottom up */
} tz_chip_rows;

/* For each layer its number, lateral heat flow (Y or N), power (Y or N), heat capacity and
 * resistivity or a material, thickness, and floorplan, a line each. */
tz_status tz_chip_rows_read(const char *path, const tz_materials *materials, tz_chip_rows *out,
                            tz_error *error);

/* What a cell of a layer with channels is; -1 is TSV, too: HotSpot's numbers. */
enum { TZ_CHANNEL_WALL, TZ_CHANNEL_FLUID, TZ_CHANNEL_INLET, TZ_CHANNEL_OUTLET };

/* Read a layer's channels: a line for each of the `rows` rows of cells from the upper edge down,
 * with `columns` numbers from 0 to 3, or -1 for 0, between commas. Needs an inlet and an outlet. */
tz_status tz_channels_read(const char *path, int64_t columns, int64_t rows, char *cells,
                           tz_error *error);

#endif
