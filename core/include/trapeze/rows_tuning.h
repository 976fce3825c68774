/* trapeze/rows_tuning.h: forms of a cell update that backends compute faster. The results are the
 * same bits as with a plain TZ_CELL: no plugin needs them to be right. Included by
 * <trapeze/rows.h>.
 *
 * TZ_CELL_SWITCH. The name of an int constant that is 0 or 1. The row functions are compiled for
 * each of the two values, so that a branch on it costs nothing within a row.
 *
 *
 * TZ_CELL_ONCE. What static fields and constants contribute to a cell is the same in every
 * iteration. A backend that computes several iterations of a cell in one go computes it once:
 *
 *   #define NAME_ONCE(D) D(heating, real, TZ_K(a) * TZ_AT(power, 0, 0))
 *   TZ_CELL_ONCE(name, NAME_ONCE) { ... TZ_ONCE(heating) ... }
 *
 * Each D(value, type, expression) is a value for all updates of a cell. The expression reads
 * constants, and static fields at the cell itself.
 *
 *
 * TZ_CELL_PLANES, in 3-D. What a plane contributes to an update is often a sum that several planes
 * need. A backend that sweeps plane by plane computes such a sum once, not for each plane that
 * reads it:
 *
 *   #define NAME_SUM(dz) (TZ_AT(u, -1, 0, dz) + TZ_AT(u, 1, 0, dz))
 *   #define NAME_PLANES(D) D(NAME_SUM, real)
 *   TZ_CELL_PLANES(name, NAME_PLANES) { ... TZ_PLANE(NAME_SUM, -1) ... }
 *
 * The update reads state fields through these sums alone, at dz from -radius to radius. A sum
 * reads state fields in the plane dz, constants and nothing else. The name of the list ends in
 * PLANES, and D is its parameter: backends count its entries in the text.
 *
 *
 * TZ_CELL_ROWS, in 2-D. An update that is a sum over the rows around the cell can say just that. A
 * backend that sweeps row by row then keeps sums instead of rows:
 *
 *   #define NAME_ROWS(D) D(-1, NAME_OUTER) D(0, NAME_MIDDLE) D(1, NAME_OUTER)
 *   TZ_CELL_ROWS(name, u, real, NAME_ROWS)
 *
 * stands for TZ_CELL(name) { TZ_PUT(u, (NAME_OUTER(-1) + NAME_MIDDLE(0)) + NAME_OUTER(1)); }
 * There is one entry for each dy, in order from -radius to radius, and the stencil has one pass and
 * one field. NAME_OUTER(dy) reads row dy of that field, constants and nothing else. */
#ifndef TRAPEZE_ROWS_TUNING_H
#define TRAPEZE_ROWS_TUNING_H

#define TZ_CELL_ONCE(name, ONCE) TZ__CELL(name, ONCE)
#define TZ_ONCE(value) (tz_o.value)

#define TZ_CELL_PLANES(name, PLANES) TZ_CELL(name)
#define TZ_PLANE(sum, dz) sum(dz)

/* The sum begins with -0: -0 + x is x for every x. */
#define TZ_CELL_ROWS(name, field, type, ROWS)                                                      \
    TZ_CELL(name)                                                                                  \
    {                                                                                              \
        type tz_sum = -(type)0;                                                                    \
        ROWS(TZ__ROWS_ADD)                                                                         \
        TZ_PUT(field, tz_sum);                                                                     \
    }
#define TZ__ROWS_ADD(dy, row) tz_sum = tz_sum + row(dy);

#endif
