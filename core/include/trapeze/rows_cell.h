/* Included only by trapeze/rows_isa.h: the reference backend's cell function of one precision,
 * which gets every value from a callback. No include guard. */
#if !defined(__clang__)
/* Never contracted: the loader then finds row functions that are, also where the compiler's default
 * has fused multiply-add. */
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
#endif
#undef TZ__CELL
#undef TZ__READ1
#undef TZ__READ2
#undef TZ__READ3
#undef TZ_PUT
#undef TZ_K
#undef TZ_SHARES
#define TZ_SHARES 0
#undef TZ_X
#undef TZ_Y
#undef TZ_Z
#undef TZ_STEP

#define TZ__CELL(name, ONCE)                                                                       \
    TZ__CHECK_LIST(TZ_FIELDS(TZ__NO_ENTRY))                                                        \
    TZ__CHECK_LIST(TZ_CONSTANTS(TZ__NO_ENTRY))                                                     \
    extern const char TZ__THIS(is_there_##name)[1];                                                \
    struct TZ__THIS(context_##name) {                                                              \
        TZ_FIELDS(TZ__CONTEXT_TYPE)                                                                \
        TZ_CONSTANTS(TZ__CONTEXT_CONSTANT)                                                         \
        TZ__CONTEXT_INDEX(name)                                                                    \
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
/* The number of a field or constant comes first, so that a wrong name is a message about that. */
#define TZ__READ3(field, dx, dy, dz)                                                               \
    ((void)TZ__FIELD_AT(tz_c, field),                                                              \
     +*(__typeof__(tz_c->field))tz_c->access->read(tz_c->access, (int)TZ__FIELD_AT(tz_c, field),   \
                                                   (dx), (dy), (dz)))
#define TZ__READ2(field, dx, dy) TZ__READ3(field, dx, dy, 0)
#define TZ__READ1(field, dx) TZ__READ3(field, dx, 0, 0)
#define TZ_PUT(field, value)                                                                       \
    ((void)TZ__FIELD_AT(tz_c, field), TZ__NOT_DOUBLE(value),                                       \
     *(__typeof__(tz_c->field##_out))tz_c->access->write(                                          \
         tz_c->access, (int)TZ__FIELD_AT(tz_c, field)) = (value))
#define TZ_K(name) ((void)TZ__CONSTANT_AT(tz_c, name), tz_c->k_##name)
#define TZ_X (tz_c->access->x)
#define TZ_Y (tz_c->access->y)
#define TZ_Z (tz_c->access->z)
#define TZ_STEP (tz_c->access->step)

/* TZ_CELL completes the type of one of these. */
extern const char TZ__THIS(TZ__CAT(is_there_, TZ_CELL_NAME))[];

#include TZ_CELL_TEXT

#if TZ__FIRST
struct TZ__CAT(TZ_CELL_ID, _field_index) {
    TZ_FIELDS(TZ__INDEX_MEMBER)
};
_Static_assert(
    _Generic(&TZ__THIS(TZ__CAT(is_there_, TZ_CELL_NAME)), const char (*)[2] : 0, default : 1),
    "the text " TZ_CELL_TEXT
    " has no TZ_CELL(" TZ__STRING(TZ_CELL_NAME) "): define "
                                                "TZ_CELL_NAME, or TZ_CELL_ID, as the name in it");
_Static_assert(TZ_CELL_REAL || !(0 TZ_FIELDS(TZ__OR_REAL) TZ_CONSTANTS(TZ__OR_REAL)),
               "TZ_CELL_REAL is 0, but a field or constant of " TZ_CELL_TEXT " has the type real");
_Static_assert(!TZ_CELL_REAL || (0 TZ_FIELDS(TZ__OR_REAL) TZ_CONSTANTS(TZ__OR_REAL)),
               "TZ_CELL_REAL is 1, but no field or constant of " TZ_CELL_TEXT " has the type real");
#endif

static void TZ__THIS(cell)(const tz_cell_access *span)
{
    struct TZ__THIS(TZ__CAT(context_, TZ_CELL_NAME)) store, *const context = &store;
    context->access = span;
    TZ_CONSTANTS(TZ__LOAD_CONSTANT)
    TZ__THIS(TZ__CAT(update_, TZ_CELL_NAME))(context);
}
#if !defined(__clang__)
#pragma GCC pop_options
#endif
