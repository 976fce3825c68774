/* Included only by trapeze/rows_isa.h: the row functions of one precision and instruction set: of
 * one slab, and of several slabs at once (tz_pass.in_place). No include guard. */

/* Each TZ_CELL has a context: the text may have several cell updates. */
#undef TZ__CELL
#undef TZ__READ1
#undef TZ__READ2
#undef TZ__READ3
#undef TZ_PUT
#undef TZ_K
#undef TZ_X
#undef TZ_Y
#undef TZ_Z
#undef TZ_STEP
#undef TZ_SHARES
#define TZ_SHARES 1
#define TZ__CELL(name, ONCE) TZ__CELL_OF(name, ONCE, TZ__SHARED_NOTHING)
#define TZ_CELL_SHARED(name, SHARED) TZ__CELL_OF(name, TZ__ONCE_NOTHING, SHARED)
#define TZ__CELL_OF(name, ONCE, SHARED)                                                            \
    enum { TZ__THIS(chunk_##name) = TZ__SHARED_CHUNK(0 SHARED(TZ__SHARED_COUNT)) };                \
    SHARED(TZ__SHARED_LOW)                                                                         \
    struct TZ__THIS(context_##name) {                                                              \
        TZ_FIELDS(TZ__CONTEXT_FIELD)                                                               \
        TZ_CONSTANTS(TZ__CONTEXT_CONSTANT)                                                         \
        TZ__CONTEXT_INDEX(name)                                                                    \
        int64_t x, y, z, step;                                                                     \
        ptrdiff_t from; /* the first cell of a chunk */                                            \
        SHARED(TZ__SHARED_ROWS)                                                                    \
    };                                                                                             \
    TZ__CELL_VALUES(name, ONCE)                                                                    \
    SHARED(TZ__SHARED_DECLARE)                                                                     \
    /* What the cells [low, high) share, in so many slabs. */                                      \
    TZ__INLINE void TZ__THIS(share_##name)(                                                        \
        struct TZ__THIS(context_##name) *const tz_c, const int tz_slabs __attribute__((unused)),   \
        const ptrdiff_t low, const ptrdiff_t high __attribute__((unused)))                         \
    {                                                                                              \
        tz_c->from = low;                                                                          \
        SHARED(TZ__SHARED_MAKE)                                                                    \
    }                                                                                              \
    TZ__INLINE void TZ__THIS(body_##name)(                                                         \
        const struct TZ__THIS(context_##name) *const tz_c, const ptrdiff_t tz_i, const int tz_s,   \
        struct TZ__THIS(put_##name) *const tz_p, const struct TZ__THIS(once_##name) tz_o);         \
    TZ__INLINE void TZ__THIS(update_##name)(const struct TZ__THIS(context_##name) *const tz_c,     \
                                            const ptrdiff_t tz_i, const int tz_s,                  \
                                            struct TZ__THIS(put_##name) *const tz_p)               \
    {                                                                                              \
        struct TZ__THIS(once_##name) tz_o;                                                         \
        tz_o.nothing = 0;                                                                          \
        ONCE(TZ__ONCE_ASSIGN)                                                                      \
        TZ__THIS(body_##name)(tz_c, tz_i, tz_s, tz_p, tz_o);                                       \
    }                                                                                              \
    TZ__INLINE void TZ__THIS(body_##name)(                                                         \
        const struct TZ__THIS(context_##name) *const tz_c, const ptrdiff_t tz_i,                   \
        const int tz_s __attribute__((unused)),                                                    \
        struct TZ__THIS(put_##name) *const tz_p __attribute__((unused)),                           \
        const struct TZ__THIS(once_##name) tz_o __attribute__((unused)))
/* tz_s: the slab, a constant after inlining. */
#define TZ__READ1(field, dx) (+tz_c->field[0][tz_i + (dx)])
#define TZ__READ2(field, dx, dy) (+tz_c->field[TZ_CELL_RADIUS + (dy) + tz_s][tz_i + (dx)])
#define TZ__READ3(field, dx, dy, dz)                                                               \
    (+tz_c->field[TZ_CELL_RADIUS + (dz) + tz_s]                                                    \
                 [(ptrdiff_t)(dy)*tz_c->field##_stride[TZ_CELL_RADIUS + (dz) + tz_s] + tz_i +      \
                  (dx)])
#define TZ_PUT(field, value) (*(tz_p->is.field = 1, &tz_p->put.field) = (value))
#define TZ_K(name) (tz_c->k_##name)
#define TZ_X (tz_c->x + tz_i)
#define TZ_Y (tz_c->y + (TZ_CELL_DIMS == 2 ? tz_s : 0))
#define TZ_Z (tz_c->z + (TZ_CELL_DIMS == 3 ? tz_s : 0))
#define TZ_STEP (tz_c->step)
/* A function of the value in slab tz_s, as if it were a cell. */
#define TZ_SHARED_VALUE(cell, name, type)                                                          \
    TZ__INLINE type TZ__THIS(value_##name)(const struct TZ__THIS(context_##cell) *const tz_c,      \
                                           const ptrdiff_t tz_i __attribute__((unused)),           \
                                           const int tz_s __attribute__((unused)))
#define TZ_SHARED(name, dx, dy)                                                                    \
    (+tz_c->shared_##name[(dy) + tz_s - TZ__THIS(low_y_##name)]                                    \
                         [tz_i - tz_c->from + (dx)-TZ__THIS(low_x_##name)])

#include TZ_CELL_TEXT

/* Cells [low, high) of a row of so many slabs. */
TZ__INLINE void TZ__THIS(cells)(struct TZ__THIS(TZ__CAT(context_, TZ_CELL_NAME)) *const context,
                                const int tz_slabs, const ptrdiff_t low, const ptrdiff_t high)
{
    TZ__VECTOR_LOOP
    for (ptrdiff_t i = low; i < high; i++) {
        struct TZ__THIS(TZ__CAT(put_, TZ_CELL_NAME)) tz_put[TZ__SLABS];
        TZ_UNROLL
        for (int tz_s = 0; tz_s < tz_slabs; tz_s++) {
            TZ_FIELDS(TZ__PUT_NOTHING)
            TZ__THIS(TZ__CAT(update_, TZ_CELL_NAME))(context, i, tz_s, &tz_put[tz_s]);
        }
        TZ_UNROLL
        for (int tz_s = 0; tz_s < tz_slabs; tz_s++) {
            TZ_FIELDS(TZ__PUT_STORE)
        }
    }
}

/* Cells [low, high) of rows [row, end) of so many slabs. What several slabs read is loaded once.
 * They are stored when all are computed: a field that is read in the cell itself alone may be
 * written where it is. */
TZ__INLINE void TZ__THIS(sweep)(struct TZ__THIS(TZ__CAT(context_, TZ_CELL_NAME)) *const context,
                                const tz_span *span, const int tz_slabs, ptrdiff_t row,
                                const ptrdiff_t end, const ptrdiff_t low, const ptrdiff_t high)
{
    for (; row < end; row++) {
        context->y = span->y + row * (TZ_CELL_DIMS == 2 ? tz_slabs : 1);
        TZ_FIELDS(TZ__LOAD_FIELD)
        enum { CHUNK = TZ__THIS(TZ__CAT(chunk_, TZ_CELL_NAME)) }; /* 0: nothing is shared */
        for (ptrdiff_t from = low, to; from < high; from = to) {
            to = CHUNK != 0 && high - from > CHUNK ? from + CHUNK : high;
            TZ__THIS(TZ__CAT(share_, TZ_CELL_NAME))(context, tz_slabs, from, to);
            TZ__THIS(cells)(context, tz_slabs, from, to);
        }
    }
}

#ifdef TZ_CELL_FRAME
/* All of a row is in the frame, or its ends are. The ends are computed in whole vectors, and then
 * the cells between them. */
TZ__INLINE void TZ__THIS(frame)(struct TZ__THIS(TZ__CAT(context_, TZ_CELL_NAME)) *const context,
                                const tz_span *span)
{
    enum { VECTOR = 32 / sizeof(real) };
    const tz_slot *bounds =
        span->constants + offsetof(__typeof__(*context->constant_index), TZ_CELL_FRAME) + 1;
    const ptrdiff_t count = (ptrdiff_t)span->count;
    for (ptrdiff_t row = 0; row < (ptrdiff_t)span->rows; row++) {
        const int64_t at[] = {span->x, span->y + row, span->z};
        int all = 0;
        for (int axis = 1; axis < TZ_CELL_DIMS; axis++)
            all = all || at[axis] < bounds[2 * axis].i || at[axis] >= bounds[2 * axis + 1].i;
        if (all) {
            context->TZ__CAT(k_, TZ_CELL_FRAME) = 3;
            TZ__THIS(sweep)(context, span, 1, row, row + 1, 0, count);
            continue;
        }
        int64_t low = bounds[0].i - at[0], high = bounds[1].i - at[0];
        low = low < 0 ? 0 : low > count ? count : low;
        high = high < low ? low : high > count ? count : high;
        context->TZ__CAT(k_, TZ_CELL_FRAME) = 2;
        for (int end = 0; end < 2; end++) {
            const int64_t cells = end ? count - high : low;
            int64_t wide = (cells + VECTOR - 1) / VECTOR * VECTOR;
            wide = wide > count ? count : wide;
            if (cells > 0)
                TZ__THIS(sweep)
            (context, span, 1, row, row + 1, (ptrdiff_t)(end ? count - wide : 0),
             (ptrdiff_t)(end ? count : wide));
        }
        context->TZ__CAT(k_, TZ_CELL_FRAME) = 0;
        TZ__THIS(sweep)(context, span, 1, row, row + 1, (ptrdiff_t)low, (ptrdiff_t)high);
    }
}
#endif

static void TZ__THIS(rows)(const tz_span *span)
{
    struct TZ__THIS(TZ__CAT(context_, TZ_CELL_NAME)) store, *const context = &store;
    TZ_CONSTANTS(TZ__LOAD_CONSTANT)
    context->x = span->x;
    context->z = span->z;
    context->step = span->step;
#ifdef TZ_CELL_FRAME
    if (context->TZ__CAT(k_, TZ_CELL_FRAME)) {
        TZ__THIS(frame)(context, span);
        return;
    }
    context->TZ__CAT(k_, TZ_CELL_FRAME) = 0;
#endif
    TZ__FOR_SWITCH(
        TZ__THIS(sweep)(context, span, 1, 0, (ptrdiff_t)span->rows, 0, (ptrdiff_t)span->count))
}

#ifdef TZ__SEVERAL
static __attribute__((unused)) void TZ__THIS(in_place)(const tz_span *span)
{
    struct TZ__THIS(TZ__CAT(context_, TZ_CELL_NAME)) store, *const context = &store;
    TZ_CONSTANTS(TZ__LOAD_CONSTANT)
    context->x = span->x;
    context->z = span->z;
    context->step = span->step;
    TZ__FOR_SWITCH(TZ__THIS(sweep)(context, span, TZ__SLABS, 0, (ptrdiff_t)span->rows, 0,
                                   (ptrdiff_t)span->count))
}
#endif
