/* trapeze/rows_vectors.h: the macros of <trapeze/rows_shifted.h>. Included by <trapeze/rows.h>.
 *
 * Lanes are what an update reads: vectors at each distance in x, at [slab][row][distance][lane]. In
 * 2-D a slab is a row. Compilers leave out the vectors that no update reads. Neighbours of the
 * cells themselves come from the vector of TZ__LANES elements at this column, the one before it and
 * the one after it. Those in other rows are loaded: both take time, of different parts of a
 * processor. */
#ifndef TRAPEZE_ROWS_VECTORS_H
#define TRAPEZE_ROWS_VECTORS_H

#define TZ__FIELDS_COUNT sizeof(struct TZ__CAT(TZ_CELL_ID, _field_index))
#define TZ__LANES ((int)(64 / sizeof(real)))
#define TZ__WIDTH (2 * TZ_CELL_RADIUS + 1)
#define TZ__VIEWS_SHIFTED (TZ__WINDOW + TZ__SLABS - 1)
#define TZ__ROWS_SHIFTED (TZ_CELL_DIMS == 3 ? TZ__WIDTH : 1)
#define TZ__VECTOR_OF(type)                                                                        \
    __typeof__(type __attribute__((vector_size(64 / sizeof(real) * sizeof(type)))))
#define TZ__SHIFTED_FIELD(name, type)                                                              \
    const type *name[TZ__VIEWS_SHIFTED][TZ__ROWS_SHIFTED];                                         \
    type *name##_out[TZ__SLABS];                                                                   \
    TZ__VECTOR_OF(type) name##_before[TZ__SLABS], name##_here[TZ__SLABS];
#define TZ__SHIFTED_LANES(name, type)                                                              \
    type name[TZ__VIEWS_SHIFTED][TZ__ROWS_SHIFTED][TZ__WIDTH][64 / sizeof(real)];
/* Each row has a pointer of its own: compilers then need one register for each, and one for the
 * column. */
#define TZ__SHIFTED_VIEWS(name, type)                                                              \
    TZ_UNROLL                                                                                      \
    for (int k = 0; k < TZ__VIEWS_SHIFTED; k++) {                                                  \
        const tz_view *view = &span->in[TZ__FIELD_AT(context, name) * TZ__VIEWS_SHIFTED + k];      \
        TZ_UNROLL                                                                                  \
        for (int q = 0; q < TZ__ROWS_SHIFTED; q++) {                                               \
            const type *at =                                                                       \
                (const type *)view->at + (row + q - TZ__ROWS_SHIFTED / 2) * view->row_stride;      \
            TZ__KEEP_SCALAR(at);                                                                   \
            context->name[k][q] = at;                                                              \
        }                                                                                          \
    }                                                                                              \
    TZ_UNROLL                                                                                      \
    for (int k = 0; k < TZ__SLABS; k++) {                                                          \
        const tz_target *target = &span->out[TZ__FIELD_AT(context, name) * TZ__SLABS + k];         \
        type *at = (type *)target->at + row * target->row_stride;                                  \
        TZ__KEEP_SCALAR(at);                                                                       \
        context->name##_out[k] = at;                                                               \
    }
#define TZ__OWN_ROW(name, k) (context->name[TZ_CELL_RADIUS + (k)][TZ__ROWS_SHIFTED / 2] + i)
/* The vectors of one field stay in registers from column to column. For more there are too few. */
#define TZ__CARRIES (TZ__FIELDS_COUNT <= 2)
#define TZ__SHIFTED_BEGIN(name, type)                                                              \
    TZ_UNROLL                                                                                      \
    for (int k = 0; k < TZ__SLABS; k++) {                                                          \
        TZ__VECTOR_OF(type) *before = &context->name##_before[k],                                  \
                            *here = &context->name##_here[k];                                      \
        __builtin_memcpy(before, TZ__OWN_ROW(name, k) - TZ__LANES, sizeof *before);                \
        __builtin_memcpy(here, TZ__OWN_ROW(name, k), sizeof *here);                                \
    }
#define TZ__SHIFTED_LOAD(name, type)                                                               \
    TZ_UNROLL                                                                                      \
    for (int k = 0; k < TZ__VIEWS_SHIFTED; k++) {                                                  \
        TZ_UNROLL                                                                                  \
        for (int q = 0; q < TZ__ROWS_SHIFTED; q++) {                                               \
            TZ_UNROLL                                                                              \
            for (int d = 0; d < TZ__WIDTH; d++)                                                    \
                __builtin_memcpy(at.name[k][q][d], context->name[k][q] + i + d - TZ_CELL_RADIUS,   \
                                 sizeof at.name[k][q][d]);                                         \
        }                                                                                          \
    }                                                                                              \
    TZ_UNROLL                                                                                      \
    for (int k = 0; k < TZ__SLABS; k++) {                                                          \
        TZ__VECTOR_OF(type) before = context->name##_before[k], here = context->name##_here[k];    \
        TZ__VECTOR_OF(type) after;                                                                 \
        if (!TZ__CARRIES) {                                                                        \
            __builtin_memcpy(&before, TZ__OWN_ROW(name, k) - TZ__LANES, sizeof before);            \
            __builtin_memcpy(&here, TZ__OWN_ROW(name, k), sizeof here);                            \
        }                                                                                          \
        __builtin_memcpy(&after, TZ__OWN_ROW(name, k) + TZ__LANES, sizeof after);                  \
        TZ_UNROLL                                                                                  \
        for (int d = -TZ_CELL_RADIUS; d <= TZ_CELL_RADIUS; d++) {                                  \
            const TZ__VECTOR_OF(type) moved =                                                      \
                d < 0   ? TZ__THIS(shift_##type)(before, here, TZ__LANES + d)                      \
                : d > 0 ? TZ__THIS(shift_##type)(here, after, d)                                   \
                        : here;                                                                    \
            __builtin_memcpy(                                                                      \
                at.name[TZ_CELL_RADIUS + k][TZ__ROWS_SHIFTED / 2][TZ_CELL_RADIUS + d], &moved,     \
                sizeof moved);                                                                     \
        }                                                                                          \
        context->name##_before[k] = here;                                                          \
        context->name##_here[k] = after;                                                           \
    }
#define TZ__SHIFTED_STORE(name, type)                                                              \
    if (tz_put[tz_s].is.name)                                                                      \
        context->name##_out[tz_s][i + tz_l] = tz_put[tz_s].put.name;

#endif
