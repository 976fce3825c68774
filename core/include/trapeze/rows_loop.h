/* Included only by trapeze/rows_isa.h: the row function of one precision and instruction set.
 * No include guard. */

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
#define TZ__CELL(name, ONCE)                                                                       \
    struct TZ__THIS(context_##name) {                                                              \
        TZ_FIELDS(TZ__CONTEXT_FIELD)                                                               \
        TZ_CONSTANTS(TZ__CONTEXT_CONSTANT)                                                         \
        TZ__CONTEXT_INDEX(name)                                                                    \
        int64_t x, y, z, step;                                                                     \
    };                                                                                             \
    struct TZ__THIS(once_##name) {                                                                 \
        ONCE(TZ__ONCE_MEMBER)                                                                      \
        char nothing;                                                                              \
    };                                                                                             \
    TZ__INLINE void TZ__THIS(body_##name)(const struct TZ__THIS(context_##name) *const tz_c,       \
                                          const ptrdiff_t tz_i,                                    \
                                          const struct TZ__THIS(once_##name) tz_o);                \
    TZ__INLINE void TZ__THIS(update_##name)(const struct TZ__THIS(context_##name) *const tz_c,     \
                                            const ptrdiff_t tz_i)                                  \
    {                                                                                              \
        struct TZ__THIS(once_##name) tz_o;                                                         \
        tz_o.nothing = 0;                                                                          \
        ONCE(TZ__ONCE_ASSIGN)                                                                      \
        TZ__THIS(body_##name)(tz_c, tz_i, tz_o);                                                   \
    }                                                                                              \
    TZ__INLINE void TZ__THIS(body_##name)(                                                         \
        const struct TZ__THIS(context_##name) *const tz_c, const ptrdiff_t tz_i,                   \
        const struct TZ__THIS(once_##name) tz_o __attribute__((unused)))
#define TZ__READ1(field, dx) (+tz_c->field[0][tz_i + (dx)])
#define TZ__READ2(field, dx, dy) (+tz_c->field[TZ_CELL_RADIUS + (dy)][tz_i + (dx)])
#define TZ__READ3(field, dx, dy, dz)                                                               \
    (+tz_c->field[TZ_CELL_RADIUS + (dz)]                                                           \
                 [(ptrdiff_t)(dy)*tz_c->field##_stride[TZ_CELL_RADIUS + (dz)] + tz_i + (dx)])
#define TZ_PUT(field, value) (tz_c->field##_out[tz_i] = (value))
#define TZ_K(name) (tz_c->k_##name)
#define TZ_X (tz_c->x + tz_i)
#define TZ_Y (tz_c->y)
#define TZ_Z (tz_c->z)
#define TZ_STEP (tz_c->step)

#include TZ_CELL_TEXT

TZ__INLINE void TZ__THIS(sweep)(struct TZ__THIS(TZ__CAT(context_, TZ_CELL_NAME)) *const context,
                                const tz_span *span)
{
    const ptrdiff_t count = (ptrdiff_t)span->count;
    for (ptrdiff_t row = 0; row < (ptrdiff_t)span->rows; row++) {
        context->y = span->y + row;
        TZ_FIELDS(TZ__LOAD_FIELD)
        /* Rows that are written never overlap rows that are read. */
        TZ__VECTOR_LOOP
        for (ptrdiff_t i = 0; i < count; i++)
            TZ__THIS(TZ__CAT(update_, TZ_CELL_NAME))(context, i);
    }
}

static void TZ__THIS(rows)(const tz_span *span)
{
    struct TZ__THIS(TZ__CAT(context_, TZ_CELL_NAME)) store, *const context = &store;
    TZ_CONSTANTS(TZ__LOAD_CONSTANT)
    context->x = span->x;
    context->z = span->z;
    context->step = span->step;
#ifdef TZ_CELL_SWITCH
    /* Compilers do not move a branch on a constant out of a large loop. */
    if (context->TZ__CAT(k_, TZ_CELL_SWITCH)) {
        context->TZ__CAT(k_, TZ_CELL_SWITCH) = 1;
        TZ__THIS(sweep)(context, span);
        return;
    }
    context->TZ__CAT(k_, TZ_CELL_SWITCH) = 0;
#endif
    TZ__THIS(sweep)(context, span);
}
