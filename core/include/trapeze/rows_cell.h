/* Included only by trapeze/rows_isa.h: the reference backend's cell function of one precision,
 * which gets every value from a callback. No include guard. */
#undef TZ__CELL
#undef TZ__AT1
#undef TZ__AT2
#undef TZ__AT3
#undef TZ_PUT
#undef TZ_K
#undef TZ_X
#undef TZ_Y
#undef TZ_Z
#undef TZ_STEP

#define TZ__CELL(name, ONCE)                                                                       \
    struct TZ__THIS(context_##name) {                                                              \
        TZ_FIELDS(TZ__CONTEXT_TYPE)                                                                \
        TZ_CONSTANTS(TZ__CONTEXT_CONSTANT)                                                         \
        TZ__CONTEXT_INDEX                                                                          \
        const tz_cell_access *access;                                                              \
    };                                                                                             \
    struct TZ__THIS(once_##name) {                                                                 \
        ONCE(TZ__ONCE_MEMBER)                                                                      \
        char nothing;                                                                              \
    };                                                                                             \
    TZ__INLINE void TZ__THIS(body_##name)(const struct TZ__THIS(context_##name) *const tz_c,       \
                                          const struct TZ__THIS(once_##name) tz_o);                \
    TZ__INLINE void TZ__THIS(update_##name)(const struct TZ__THIS(context_##name) *const tz_c)     \
    {                                                                                              \
        struct TZ__THIS(once_##name) tz_o;                                                         \
        tz_o.nothing = 0;                                                                          \
        ONCE(TZ__ONCE_ASSIGN)                                                                      \
        TZ__THIS(body_##name)(tz_c, tz_o);                                                         \
    }                                                                                              \
    TZ__INLINE void TZ__THIS(body_##name)(const struct TZ__THIS(context_##name) *const tz_c,       \
                                          const struct TZ__THIS(once_##name) tz_o                  \
                                          __attribute__((unused)))
#define TZ__AT3(field, dx, dy, dz)                                                                 \
    (*(__typeof__(tz_c->field))tz_c->access->read(tz_c->access, (int)TZ__FIELD_AT(tz_c, field),    \
                                                  (dx), (dy), (dz)))
#define TZ__AT2(field, dx, dy) TZ__AT3(field, dx, dy, 0)
#define TZ__AT1(field, dx) TZ__AT3(field, dx, 0, 0)
#define TZ_PUT(field, value)                                                                       \
    (*(__typeof__(tz_c->field##_out))tz_c->access->write(                                          \
         tz_c->access, (int)TZ__FIELD_AT(tz_c, field)) = (value))
#define TZ_K(name) (tz_c->k_##name)
#define TZ_X (tz_c->access->x)
#define TZ_Y (tz_c->access->y)
#define TZ_Z (tz_c->access->z)
#define TZ_STEP (tz_c->access->step)

#include TZ_CELL_TEXT

static void TZ__THIS(cell)(const tz_cell_access *span)
{
    struct TZ__THIS(TZ__CAT(context_, TZ_CELL_NAME)) store, *const context = &store;
    context->access = span;
    TZ_CONSTANTS(TZ__LOAD_CONSTANT)
    TZ__THIS(TZ__CAT(update_, TZ_CELL_NAME))(context);
}
