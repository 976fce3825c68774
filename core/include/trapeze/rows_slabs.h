/* Included only by trapeze/rows_loop.h: a row function of TZ__AT_ONCE slabs at once,
 * tz_pass.together or tz_pass.in_place (TZ__KIND). What all slabs read is loaded once, and they are
 * stored when all are computed. No include guard. */
TZ__INLINE void
TZ__THIS(TZ__CAT(sweep_, TZ__KIND))(struct TZ__THIS(TZ__CAT(context_, TZ_CELL_NAME)) *const context,
                                    const tz_span *span)
{
    enum { tz_slabs = TZ__AT_ONCE };
    for (ptrdiff_t row = 0; row < (ptrdiff_t)span->rows; row++) {
        context->y = span->y + row;
        TZ_FIELDS(TZ__LOAD_FIELD)
        TZ__VECTOR_LOOP
        for (ptrdiff_t i = 0; i < (ptrdiff_t)span->count; i++) {
            struct TZ__THIS(TZ__CAT(put_, TZ_CELL_NAME)) tz_put[tz_slabs];
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
}

static __attribute__((unused)) void TZ__THIS(TZ__KIND)(const tz_span *span)
{
    struct TZ__THIS(TZ__CAT(context_, TZ_CELL_NAME)) store, *const context = &store;
    TZ_CONSTANTS(TZ__LOAD_CONSTANT)
    context->x = span->x;
    context->z = span->z;
    context->step = span->step;
    TZ__FOR_SWITCH(TZ__THIS(TZ__CAT(sweep_, TZ__KIND))(context, span))
}
