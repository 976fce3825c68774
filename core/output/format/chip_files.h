/* HotSpot's descriptions of a chip's package (.config), of the layers of a stack (.lcf) and of
 * materials. Errors: TZ_IO, TZ_MEMORY, TZ_FORMAT, TZ_RANGE, TZ_UNKNOWN (a material),
 * TZ_UNSUPPORTED (what HotSpot has and Trapeze has not). Place: FILE:LINE. */
#ifndef TZ_CORE_OUTPUT_FORMAT_CHIP_FILES_H
#define TZ_CORE_OUTPUT_FORMAT_CHIP_FILES_H

#include "output/format/lines.h"

enum { TZ_CHIP_LAYERS_MAX = 64 };

/* Numbers of a .config by their names in HotSpot, with HotSpot's defaults: name, default, what it
 * is. All are above 0. */
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
    X(c_factor, 0.333, "share of all heat capacities that counts, as HotSpot has it")

typedef struct tz_package {
#define TZ__PACKAGE_MEMBER(NAME, ...) double NAME;
    TZ_PACKAGE_TABLE(TZ__PACKAGE_MEMBER)
#undef TZ__PACKAGE_MEMBER
} tz_package;

/* A package with all defaults. */
tz_package tz_package_default(void);
/* The member of that name; NULL: there is none. */
double *tz_package_find(tz_package *package, const char *name);

typedef struct tz_material {
    char name[TZ_WORD_NAME_SIZE];
    double k_w_mk, p_j_m3k;
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
 * of a material. Names that are not of the table are of other parts of HotSpot and ignored.
 * TZ_UNSUPPORTED: the file wants the secondary path, microfluidic cooling, leakage or the detailed
 * package. */
tz_status tz_package_read(const char *path, const tz_materials *materials, tz_package *package,
                          tz_error *error);

/* A layer of a stack, as HotSpot's .lcf has it. */
typedef struct tz_chip_row {
    int line;
    bool lateral, powered;
    double t_m, k_w_mk, p_j_m3k;
    char flp[TZ_WORD_NAME_SIZE * 4]; /* as the file has it */
} tz_chip_row;

typedef struct tz_chip_rows {
    size_t count;
    tz_chip_row rows[TZ_CHIP_LAYERS_MAX]; /* from the bottom up */
} tz_chip_rows;

/* For each layer its number, lateral heat flow (Y or N), power (Y or N), heat capacity and
 * resistivity or a material, thickness, and floorplan, a line each. */
tz_status tz_chip_rows_read(const char *path, const tz_materials *materials, tz_chip_rows *out,
                            tz_error *error);

#endif
