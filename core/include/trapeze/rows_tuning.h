/* trapeze/rows_tuning.h: forms of a cell update that backends can compute faster. The results have
 * the same bits as with a plain TZ_CELL, so no plugin needs these forms. Included by
 * <trapeze/rows.h>.
 *
 * TZ_CELL_SWITCH: the name of an int constant that is 0 or 1. The row functions are compiled for
 * each of the two values, so that a row has no branch on it.
 *
 * TZ_CELL_FRAME: the same for cells near a side of the grid, which have an update of their own. It
 * is the name of an int constant, 0 or 1: are there such cells? In the list of constants an int
 * follows for each side: the first cell along x that is not one of them, the first that is again,
 * and the same along y and z. The row functions divide a row and set the constant to 0 for cells
 * that are not near a side, to 2 for those near a side of x alone, and to 3 in rows near a side of
 * another axis. Kernels of GPUs set it to 0 for warps that are not near a side. Else it is 1:
 *
 *   if (TZ_K(frame) > 1 || (TZ_K(frame) && (TZ_X < TZ_K(low_x) || TZ_X >= TZ_K(high_x)))) { ... }
 *
 *
 * TZ_CELL_ONCE: the contribution of static fields and constants to a cell is the same in every
 * iteration. A backend that does several iterations at once can compute it once:
 *
 *   #define NAME_ONCE(D) D(heating, real, TZ_K(a) * TZ_AT(power, 0, 0))
 *   TZ_CELL_ONCE(name, NAME_ONCE) { ... TZ_ONCE(heating) ... }
 *
 * Each D(name, type, expression) is a value for all updates of a cell. The expression reads only
 * constants, and static fields at the cell itself. Not for a stencil with constants that vary.
 *
 *
 * TZ_CELL_PLANES, in 3-D: the contribution of a plane to an update is often a sum that the planes
 * around it need, too. A backend that computes plane by plane can compute such a sum once:
 *
 *   #define NAME_SUM(dz) (TZ_AT(u, -1, 0, dz) + TZ_AT(u, 1, 0, dz))
 *   #define NAME_PLANES(D) D(NAME_SUM, real)
 *   TZ_CELL_PLANES(name, NAME_PLANES) { ... TZ_PLANE(NAME_SUM, -1) ... }
 *
 * The update reads state fields only through these sums, at dz from -radius to radius. A sum reads
 * only state fields in the plane dz, and constants. The name of the list must end in PLANES, and
 * its parameter must be D: backends count its entries in the text.
 *
 *
 * TZ_CELL_ROWS, in 2-D: the update is a sum over the rows around the cell. A backend that computes
 * row by row can then keep sums instead of rows:
 *
 *   #define NAME_ROWS(D) D(-1, NAME_OUTER) D(0, NAME_MIDDLE) D(1, NAME_OUTER)
 *   TZ_CELL_ROWS(name, u, real, NAME_ROWS)
 *
 * stands for TZ_CELL(name) { TZ_PUT(u, (NAME_OUTER(-1) + NAME_MIDDLE(0)) + NAME_OUTER(1)); }
 * There is one entry for each dy, in order from -radius to radius, and the stencil has one pass and
 * one field. NAME_OUTER(dy) reads only row dy of that field, and constants.
 *
 *   #define NAME_RESULT(sum) (TZ_K(scale) * (sum))
 *   TZ_CELL_ROWS_OF(name, u, real, NAME_ROWS, NAME_RESULT)
 *
 * is the same with TZ_PUT(u, NAME_RESULT(the sum)). NAME_RESULT reads only the sum, and constants.
 *
 *
 * TZ_CELL_SHARED, in 2-D: what several cells need, such as the flux through a face or the pressure
 * in a cell, is computed once. A text has such an update beside the plain one. Its plugin defines
 * TZ_CELL_SHARES as 1 before it includes <trapeze/rows.h>:
 *
 *   #if TZ_SHARES
 *   #define NAME_SHARED(D) D(name, flux, real, -1, 0, 0, 0, 1, 0)
 *   TZ_CELL_SHARED(name, NAME_SHARED) { ... TZ_SHARED(flux, -1, 0) ... TZ_SHARED(flux, 0, 0) ... }
 *   TZ_SHARED_VALUE(name, flux, real) { return TZ_AT(u, 1, 0) - TZ_AT(u, 0, 0); }
 *   #else
 *   TZ_CELL(name) { ... }
 *   #endif
 *
 * An entry is the update, a value and its type, the first and the last offset in x and those in y
 * at which it is read, and two sets of rows, as bits from the first row on: in which it is read at
 * an offset below 0 in x, and above. The first offset in x is at most 0, the last one at least. A
 * value does not use coordinates. It may read values that are listed before it: offsets add up
 * then, but the sets have only what the update reads, and the value in its last row at offset 0. A
 * value reads fields at an offset in x of at most 0 and at one of at least 0. In 3-D, where row
 * functions alone take it, the offsets and rows are those in z: a value is of one y. tz.stencil
 * writes all of that.
 *
 *
 * TZ_ROWS_FIRST: 1 where a backend computes several rows at once, 0 where it computes several cells
 * of a row at once. A sum over a box of cells, whose order does not matter, is best made of parts
 * that these updates share: sums along rows if it is 1, else sums along columns. */
#ifndef TRAPEZE_ROWS_TUNING_H
#define TRAPEZE_ROWS_TUNING_H

#define TZ_ROWS_FIRST 1

#define TZ_CELL_ONCE(name, ONCE) TZ__CELL(name, ONCE)
#define TZ_ONCE(value) (tz_o.value)

#define TZ_CELL_PLANES(name, PLANES) TZ_CELL(name)
#define TZ_PLANE(sum, dz) sum(dz)

/* The sum begins with -0: -0 + x is x for every x. */
#define TZ_CELL_ROWS(name, field, type, ROWS) TZ_CELL_ROWS_OF(name, field, type, ROWS, TZ__ROWS_SUM)
#define TZ_CELL_ROWS_OF(name, field, type, ROWS, RESULT)                                           \
    TZ_CELL(name)                                                                                  \
    {                                                                                              \
        type tz_sum = -(type)0;                                                                    \
        ROWS(TZ__ROWS_ADD)                                                                         \
        TZ_PUT(field, RESULT(tz_sum));                                                             \
    }
#define TZ__ROWS_ADD(dy, row) tz_sum = tz_sum + row(dy);
#define TZ__ROWS_SUM(sum) (sum)

#endif
