/* Included only by trapeze/rows_isa.h: a row function of several slabs at once (tz_pass.in_place)
 * that loads each vector of the cells themselves once. Neighbours in x are elements of that vector
 * and of those before and after it: an instruction takes them from two registers. A load of them
 * would take two accesses of the cache, since it lies in two lines. No include guard.
 *
 * The cells of a vector are computed by a loop over its lanes, which compilers turn into operations
 * on vectors. */
#undef TZ__CELL
#undef TZ__READ2
#undef TZ__READ3
#undef TZ_SHARES
#define TZ_SHARES 0
#undef TZ_X
#undef TZ_Y
#undef TZ_Z
#define TZ__CELL(name, ONCE)                                                                       \
    struct TZ__THIS(context_##name) {                                                              \
        TZ_FIELDS(TZ__SHIFTED_FIELD)                                                               \
        TZ_CONSTANTS(TZ__CONTEXT_CONSTANT)                                                         \
        TZ__CONTEXT_INDEX(name)                                                                    \
        int64_t x, y, z, step;                                                                     \
    };                                                                                             \
    struct TZ__THIS(lanes_##name) {                                                                \
        TZ_FIELDS(TZ__SHIFTED_LANES)                                                               \
    };                                                                                             \
    TZ__CELL_VALUES(name, ONCE)                                                                    \
    TZ__INLINE void TZ__THIS(body_##name)(const struct TZ__THIS(context_##name) *const tz_c,       \
                                          const struct TZ__THIS(lanes_##name) *const tz_v,         \
                                          const int64_t tz_i, const int tz_l, const int tz_s,      \
                                          struct TZ__THIS(put_##name) *const tz_p,                 \
                                          const struct TZ__THIS(once_##name) tz_o);                \
    TZ__INLINE void TZ__THIS(update_##name)(const struct TZ__THIS(context_##name) *const tz_c,     \
                                            const struct TZ__THIS(lanes_##name) *const tz_v,       \
                                            const int64_t tz_i, const int tz_l, const int tz_s,    \
                                            struct TZ__THIS(put_##name) *const tz_p)               \
    {                                                                                              \
        struct TZ__THIS(once_##name) tz_o;                                                         \
        tz_o.nothing = 0;                                                                          \
        ONCE(TZ__ONCE_ASSIGN)                                                                      \
        TZ__THIS(body_##name)(tz_c, tz_v, tz_i, tz_l, tz_s, tz_p, tz_o);                           \
    }                                                                                              \
    TZ__INLINE void TZ__THIS(body_##name)(                                                         \
        const struct TZ__THIS(context_##name) *const tz_c __attribute__((unused)),                 \
        const struct TZ__THIS(lanes_##name) *const tz_v,                                           \
        const int64_t tz_i __attribute__((unused)), const int tz_l, const int tz_s,                \
        struct TZ__THIS(put_##name) *const tz_p,                                                   \
        const struct TZ__THIS(once_##name) tz_o __attribute__((unused)))
/* tz_l: the lane. tz_s: the slab, a constant after inlining. */
#define TZ__READ2(field, dx, dy)                                                                   \
    (+tz_v->field[TZ_CELL_RADIUS + (dy) + tz_s][0][TZ_CELL_RADIUS + (dx)][tz_l])
#define TZ__READ3(field, dx, dy, dz)                                                               \
    (+tz_v->field[TZ_CELL_RADIUS + (dz) + tz_s][TZ_CELL_RADIUS + (dy)][TZ_CELL_RADIUS + (dx)][tz_l])
#define TZ_X (tz_c->x + tz_i)
#define TZ_Y (tz_c->y + (TZ_CELL_DIMS == 2 ? tz_s : 0))
#define TZ_Z (tz_c->z + (TZ_CELL_DIMS == 3 ? tz_s : 0))

#include TZ_CELL_TEXT

/* TZ__LANES lanes, from lane n on, of two vectors one after the other. The instruction for it has n
 * in its code; compilers have no expression for it that does not convert between vectors of floats
 * and of integers. */
typedef real TZ__THIS(reals) __attribute__((vector_size(64)));
typedef int TZ__THIS(ints) __attribute__((vector_size(64 / sizeof(real) * 4)));
typedef tz_word TZ__THIS(words) __attribute__((vector_size(64 / sizeof(real) * 4)));
#define TZ__ALIGN(instruction, n)                                                                  \
    __asm__(instruction " %3, %2, %1, %0" : "=v"(moved) : "v"(high), "vm"(low), "i"(n))
#define TZ__SHIFT_FUNCTION(name, type, instruction)                                                \
    TZ__INLINE TZ__THIS(type)                                                                      \
        TZ__THIS(name)(const TZ__THIS(type) low, const TZ__THIS(type) high, const int n)           \
    {                                                                                              \
        TZ__THIS(type) moved;                                                                      \
        if (n == 1)                                                                                \
            TZ__ALIGN(instruction, 1);                                                             \
        else if (n == 2)                                                                           \
            TZ__ALIGN(instruction, 2);                                                             \
        else if (n == TZ__LANES - 2)                                                               \
            TZ__ALIGN(instruction, TZ__LANES - 2);                                                 \
        else                                                                                       \
            TZ__ALIGN(instruction, TZ__LANES - 1);                                                 \
        return moved;                                                                              \
    }
#define TZ__ALIGN_single "valignd"
#define TZ__ALIGN_double "valignq"
TZ__SHIFT_FUNCTION(shift_real, reals, TZ__CAT(TZ__ALIGN_, TZ__PRECISION))
TZ__SHIFT_FUNCTION(shift_int, ints, "valignd")
TZ__SHIFT_FUNCTION(shift_tz_word, words, "valignd")
#undef TZ__ALIGN
#undef TZ__ALIGN_single
#undef TZ__ALIGN_double
#undef TZ__SHIFT_FUNCTION

/* Vectors of all rows: lanes [first, end) of TZ__LANES elements from column i on. */
TZ__INLINE void TZ__THIS(vectors)(struct TZ__THIS(TZ__CAT(context_, TZ_CELL_NAME)) *const context,
                                  const ptrdiff_t i, const int first, const int end)
{
    struct TZ__THIS(TZ__CAT(lanes_, TZ_CELL_NAME)) at;
    TZ_FIELDS(TZ__SHIFTED_LOAD)
    TZ__VECTOR_LOOP
    for (int tz_l = 0; tz_l < TZ__LANES; tz_l++) {
        if (end - first < TZ__LANES && (tz_l < first || tz_l >= end))
            continue;
        struct TZ__THIS(TZ__CAT(put_, TZ_CELL_NAME)) tz_put[TZ__SLABS];
        TZ_UNROLL
        for (int tz_s = 0; tz_s < TZ__SLABS; tz_s++) {
            TZ_FIELDS(TZ__PUT_NOTHING)
            TZ__THIS(TZ__CAT(update_, TZ_CELL_NAME))
            (context, &at, i + tz_l, tz_l, tz_s, &tz_put[tz_s]);
        }
        TZ_UNROLL
        for (int tz_s = 0; tz_s < TZ__SLABS; tz_s++) {
            TZ_FIELDS(TZ__SHIFTED_STORE)
        }
    }
}

/* Vectors begin at cache lines. The first and the last one of a row may be in part beyond it: they
 * begin anew, so that no registers are kept for them. */
TZ__INLINE void
TZ__THIS(sweep_shifted)(struct TZ__THIS(TZ__CAT(context_, TZ_CELL_NAME)) *const context,
                        const tz_span *span)
{
    const int first = (int)(span->x & (TZ__LANES - 1));
    const ptrdiff_t end = (ptrdiff_t)span->count;
    for (ptrdiff_t row = 0; row < (ptrdiff_t)span->rows; row++) {
        ptrdiff_t i = -first;
        context->y = span->y + row * (TZ_CELL_DIMS == 2 ? TZ__SLABS : 1);
        TZ_FIELDS(TZ__SHIFTED_VIEWS)
        if (first > 0) {
            TZ_FIELDS(TZ__SHIFTED_BEGIN)
            TZ__THIS(vectors)(context, i, first, (int)(end - i < TZ__LANES ? end - i : TZ__LANES));
            i += TZ__LANES;
        }
        TZ_FIELDS(TZ__SHIFTED_BEGIN)
        for (; i + TZ__LANES <= end; i += TZ__LANES)
            TZ__THIS(vectors)(context, i, 0, TZ__LANES);
        if (i < end) {
            TZ_FIELDS(TZ__SHIFTED_BEGIN)
            TZ__THIS(vectors)(context, i, 0, (int)(end - i));
        }
    }
}

static __attribute__((unused)) void TZ__THIS(in_place)(const tz_span *span)
{
    struct TZ__THIS(TZ__CAT(context_, TZ_CELL_NAME)) store, *const context = &store;
    TZ_CONSTANTS(TZ__LOAD_CONSTANT)
    context->x = span->x;
    context->z = span->z;
    context->step = span->step;
    TZ__FOR_SWITCH(TZ__THIS(sweep_shifted)(context, span))
}
