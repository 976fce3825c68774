/* The fields of a simulation: reading and writing cells, streamed fields, reductions.
 *
 * Boxes are half open, in cells, x first. Cells are passed as doubles, x fastest: values, not
 * differences from a field's origin. `field` is an index of the stencil's fields. Functions that
 * touch cells refuse a dry simulation (TZ_UNSUPPORTED) and boxes outside the grid (TZ_RANGE); a
 * refused write changes nothing. */
#ifndef TZ_CORE_SIM_FIELDS_H
#define TZ_CORE_SIM_FIELDS_H

#include "backend/place.h"
#include "base/array.h"
#include "sim/simulation.h"
#include "stencil/parts.h"

/* ---- Sums ------------------------------------------------------------------------------------ */

/* A sum and what its additions have lost (Neumaier). Begin with zeros. */
typedef struct tz_precise_sum {
    double sum, lost;
} tz_precise_sum;
void tz_precise_add(tz_precise_sum *sum, double value);
double tz_precise_result(const tz_precise_sum *sum);

/* ---- Writing --------------------------------------------------------------------------------- */

/* Set every cell of a box (NULL: the grid) to one value. NaN and infinity are TZ_RANGE, values that
 * the field's type cannot hold TZ_TYPE. */
tz_status tz_simulation_fill(tz_simulation *simulation, int field, const tz_box *box, double value,
                             tz_error *error);
tz_status tz_simulation_fill_random(tz_simulation *simulation, int field, const tz_box *box,
                                    const tz_random *random, tz_error *error);
/* The errors of these two about the value or the numbers, also for a dry simulation. */
tz_status tz_simulation_check_value(const tz_simulation *simulation, int field, double value,
                                    tz_error *error);
tz_status tz_simulation_check_random(const tz_simulation *simulation, int field,
                                     const tz_random *random, tz_error *error);
/* Write the cells of a box (NULL: all). `place` names the source in messages (may be NULL). */
tz_status tz_simulation_write(tz_simulation *simulation, int field, const tz_box *box,
                              const double *values, const char *place, tz_error *error);
/* Write an array of the grid's shape, or a smaller one from cell `at` on. `at` NULL: a 1-D array of
 * nx*ny*nz numbers is accepted for any grid. */
tz_status tz_simulation_write_array(tz_simulation *simulation, int field, const tz_array *array,
                                    const int64_t *at, const char *place, tz_error *error);
/* Its errors about place and numbers, also for a dry simulation. */
tz_status tz_simulation_check_array(const tz_simulation *simulation, int field,
                                    const tz_array *array, const int64_t *at, const char *place,
                                    tz_error *error);

/* ---- Reading --------------------------------------------------------------------------------- */

/* Cells of a box (NULL: all) as doubles. */
tz_status tz_simulation_read(const tz_simulation *simulation, int field, const tz_box *box,
                             double *values, tz_error *error);
/* Is every iteration the same function of the fields (tz_problem_repeats())? */
bool tz_simulation_repeats(const tz_simulation *simulation);
/* Is each state field one value in all cells? Then values[f] is that of field f. A few cells of a
 * field are read, and if they are equal it is reduced on its device; the first field with two
 * values ends it. */
tz_status tz_simulation_uniform(const tz_simulation *simulation, bool *uniform, double *values,
                                tz_error *error);
/* The type of the field's values: float32 or float64, int32, uint8 (bits, 0 or 1). A field of
 * single precision with an origin is float64, which holds the values without loss. */
tz_dtype tz_simulation_dtype(const tz_simulation *simulation, int field);
/* Cells of a box (NULL: all) in that type. */
tz_status tz_simulation_read_cells(const tz_simulation *simulation, int field, const tz_box *box,
                                   void *cells, tz_error *error);
/* The memory that holds a field: what it was after all stages so far, until the simulation is
 * changed. Elements are as the problem stores them. TZ_UNSUPPORTED: it is not in one piece. */
tz_status tz_simulation_memory(const tz_simulation *simulation, int field, tz_field_memory *out,
                               tz_error *error);
/* What memory holds: its element type, or that of half and of words of bits. A value is `add` +
 * `scale` * element. *plain: elements are the values. */
typedef struct tz_field_elements {
    const char *dtype; /* numpy's code */
    int64_t extent[TZ_AXES];
    double add, scale;
    bool plain;
} tz_field_elements;
tz_field_elements tz_simulation_elements(const tz_simulation *simulation, int field);
/* Do several processes hold the field, which can write their parts into a file? Then all cells in
 * that type go into an existing file, from `offset` on. TZ_UNSUPPORTED: they cannot; read the cells
 * and write them. */
bool tz_simulation_is_parted(const tz_simulation *simulation, int field);
tz_status tz_simulation_write_file(const tz_simulation *simulation, int field, const char *path,
                                   int64_t offset, tz_error *error);
/* All cells in that type, as an array that the caller destroys. */
tz_status tz_simulation_read_array(const tz_simulation *simulation, int field, tz_array **out,
                                   tz_error *error);
/* Plane z of a field averaged down to nx x ny values, at most the plane's extents (base/average.h).
 * TZ_UNSUPPORTED, without a message: the backend cannot; read the cells and average them. */
tz_status tz_simulation_shrink(const tz_simulation *simulation, int field, int64_t z, int nx,
                               int ny, double *values, tz_error *error);
/* The field that is the domain, which numbers about `field` are of; -1: the grid. */
int tz_simulation_domain_of(const tz_simulation *simulation, int field);
/* Numbers about a field: the same on every backend. Only the hash is of what memory holds, of all
 * cells. TZ_RANGE: the domain has no cell. */
tz_status tz_simulation_reduce(const tz_simulation *simulation, int field, tz_reduction *out,
                               tz_error *error);

/* ---- Streamed fields: one slab (of the grid's shape) an iteration ---------------------------- */

/* Slabs from memory: slab k of `data` (int32, C order, `slabs` slabs) is read at step k. A run
 * beyond the last slab is TZ_RANGE. `data` is borrowed until the simulation is destroyed or the
 * source replaced. */
tz_status tz_simulation_streamed_array(tz_simulation *simulation, int field, const int32_t *data,
                                       int64_t slabs, tz_error *error);
/* Endless random slabs, computed when they are needed, never stored. */
tz_status tz_simulation_streamed_random(tz_simulation *simulation, int field,
                                        const tz_random *random, tz_error *error);
/* The number of slabs from step 0; -1: endless; 0: no source. */
int64_t tz_simulation_streamed_slabs(const tz_simulation *simulation, int field);
/* Read `count` cells of slab `step` of a streamed field, from cell x on. */
tz_status tz_simulation_streamed_read(const tz_simulation *simulation, int field, int64_t step,
                                      int64_t x, int64_t count, double *values, tz_error *error);

/* ---- A part of a field: a box of cells, or those of its cells that a mask selects ------------ */

/* At most one mask; a cell counts where it is not zero. */
typedef struct tz_region {
    tz_box box;
    int mask_field;       /* a field that is not streamed; -1: none */
    const tz_array *mask; /* an element for each cell of the box, x fastest; NULL: none */
} tz_region;

/* Gives `take` the values that count, in the order of cells, in pieces. Errors: as
 * tz_simulation_reduce_region, but for a mask that selects none. */
typedef void tz_take_cells(void *context, const double *values, int64_t count);
tz_status tz_simulation_each_cell(const tz_simulation *simulation, int field,
                                  const tz_region *region, tz_take_cells *take, void *context,
                                  tz_error *error);

typedef struct tz_region_facts {
    int64_t cells, population; /* of the region; those that are not zero */
    double min, max;           /* of the finite cells; +inf and -inf without such cells */
    double sum;                /* in double, rounded once; NaN if a cell is */
} tz_region_facts;

/* The same on every backend. Reads the box in pieces. TZ_RANGE: the box is outside the grid, or
 * the mask selects no cell; TZ_UNSUPPORTED: a field is streamed, or the simulation is dry;
 * TZ_MEMORY. */
tz_status tz_simulation_reduce_region(const tz_simulation *simulation, int field,
                                      const tz_region *region, tz_region_facts *out,
                                      tz_error *error);

#endif
