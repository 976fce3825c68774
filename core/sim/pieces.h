/* Cells of a simulation as numbers, a few at a time: the memory that this takes does not grow with
 * the grid. */
#ifndef TZ_CORE_SIM_PIECES_H
#define TZ_CORE_SIM_PIECES_H

#include "sim/simulation.h"

/* Gives `count` values of a row. The first is number i of the box, and cell number `cell` of the
 * grid. Several threads may call it at the same time. */
typedef void tz__values_fn(const void *context, int64_t i, int64_t cell, int64_t count,
                           double *values);

/* Write a box inside the grid, with values that fit the field. */
tz_status tz__cells_write(tz_simulation *simulation, int field, const tz_box *box,
                          tz__values_fn *values, const void *context, tz_error *error);

/* Read a box of a field of bits, x fastest, a byte each. */
tz_status tz__cells_read_bits(const tz_simulation *simulation, int field, const tz_box *box,
                              uint8_t *cells, tz_error *error);

#endif
