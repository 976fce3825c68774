/* trapeze/rows_shared.h: what a list of TZ_CELL_SHARED becomes in row functions. Included by
 * <trapeze/rows.h>. */
#ifndef TRAPEZE_ROWS_SHARED_H
#define TRAPEZE_ROWS_SHARED_H

/* Values that cells share: rows of a chunk of cells, with the columns around them. Few enough to
 * stay in the first cache. */
#define TZ__SHARED_NOTHING(D)
#define TZ__SHARED_COUNT(...) +1
#define TZ__SHARED_CHUNK(values)                                                                   \
    ((values) == 0 ? 0 : (values) <= 4 ? 1024 / sizeof(real) : 512 / sizeof(real))
#define TZ__SHARED_LOW(cell, name, type, xl, xh, yl, yh, before, after)                            \
    enum { TZ__THIS(low_x_##name) = xl, TZ__THIS(low_y_##name) = yl };
#define TZ__SHARED_ROWS(cell, name, type, xl, xh, yl, yh, before, after)                           \
    type shared_##name[TZ__SLABS + (yh) - (yl)]                                                    \
                      [TZ__THIS(chunk_##cell) + (xh) - (xl) + TZ_COLUMNS_IN_PLACE];
#define TZ__SHARED_DECLARE(cell, name, type, xl, xh, yl, yh, before, after)                        \
    TZ_SHARED_VALUE(cell, name, type);
/* Several slabs may read more columns than they need, so that no vector is in part beyond. */
#define TZ__SHARED_MAKE(cell, name, type, xl, xh, yl, yh, before, after)                           \
    TZ_UNROLL                                                                                      \
    for (int k = 0; k < tz_slabs + (yh) - (yl); k++) {                                             \
        const ptrdiff_t tz_count = high - low + (xh) - (xl), tz_unit = TZ_COLUMNS_IN_PLACE;        \
        const ptrdiff_t tz_end =                                                                   \
            tz_slabs > 1 ? (tz_count + tz_unit - 1) / tz_unit * tz_unit : tz_count;                \
        TZ__VECTOR_LOOP                                                                            \
        for (ptrdiff_t i = 0; i < tz_end; i++)                                                     \
            tz_c->shared_##name[k][i] = TZ__THIS(value_##name)(tz_c, low + (xl) + i, k + (yl));    \
    }

#endif
