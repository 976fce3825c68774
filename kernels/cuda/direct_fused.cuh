/* kernels/cuda: two passes of an iteration in one launch of the direct family. Included between
 * them: what the second one reads of the first one's fields is computed where it is read. Inside
 * the grid a cell computes the first pass once for all places that the second one reads, as far as
 * they were found when it was tried. Other reads call functions.
 *
 * Defined by C, besides what direct.cuh lists:
 *
 *   TZ_EARLIER         the cell update of the first pass, whose fields are TZ_WRITES_0
 *   TZ_PLACES(D)       the places: D(k, dx, dy, dz), from k = 0, the cell's own; TZ_PLACES_COUNT
 *   TZ_KEPT(D)         fields that only the first pass writes: D(role, name, type, index)
 *
 * The kind of the first pass's fields is `earlier` from here on. */

// clang-format off
#define TZ__EARLIER_VALUES(role, name, type, index) type name[TZ_PLACES_COUNT];
struct tz_earlier_values {
    TZ_WRITES_0(TZ__EARLIER_VALUES)
};
// clang-format on

typedef pass_0::TZ__CAT(context_, TZ_EARLIER) tz_earlier_context;
template <int BORDER> TZ_DEVICE void tz_earlier_update(tz_earlier_context &c, const tz_place &p)
{
    pass_0::TZ__CAT(update_, TZ_EARLIER)<BORDER>(c, p);
}
TZ_DEVICE void tz_earlier_fill(const tz_arguments &a, tz_earlier_context &c){TZ__FILL_CONTEXT}

/* The value that a field of the first pass gets at a cell, which may lie outside the grid. */
#define TZ__EARLIER_FUNCTION(role, name, type, index)                                              \
    TZ_OUTLINE type tz_earlier_##name(const tz_arguments &a, int x, int y, int z, long long step)  \
    {                                                                                              \
        if (!tz_map_place(a, x, y, z))                                                             \
            return tz_value_outside<type>(a, tz_edges_of<type>(a, index), x, x, y, z);             \
        tz_earlier_context c;                                                                      \
        tz_earlier_fill(a, c);                                                                     \
        tz_earlier_update<TZ_BORDER>(c, {x, y, z, 0, step, 0, 0, 0});                              \
        return (type)(TZ__MEMORY(name))c.name##_new;                                               \
    }
TZ_WRITES_0(TZ__EARLIER_FUNCTION)

// clang-format off
/* Before the second pass: the first one at all places, and what only that writes. */
#define TZ__EARLIER_KEEP(role, name, type, index)                                                  \
    c.name##_new =                                                                                 \
        BORDER == TZ_BORDER ? tz_earlier_##name(a, p.x, p.y, p.z, p.step) : c.tz_earlier.name[0];
#define TZ__EARLIER_TAKE(role, name, type, index)                                                  \
    c.tz_earlier.name[tz_k] = (type)(TZ__MEMORY(name))earlier.name##_new;
#define TZ__EARLIER_PLACE(k, dx, dy, dz)                                                           \
    {                                                                                              \
        const int tz_k = k;                                                                        \
        tz_earlier_context earlier = context;                                                      \
        earlier.tz_doubt = c.tz_doubt;                                                             \
        const int x = tz_column<BORDER>(a, p, dx);                                                 \
        tz_earlier_update<BORDER>(earlier,                                                         \
                                  {x, p.y + dy, p.z + dz, p.at, p.step, p.columns + (x - p.x),     \
                                   p.rows + dy, p.planes + dz});                                   \
        TZ_WRITES_0(TZ__EARLIER_TAKE)                                                              \
        c.tz_doubt = earlier.tz_doubt;                                                             \
    }
    // clang-format on
    template <int BORDER, class C>
    TZ_DEVICE void tz_earlier_make(const tz_arguments &a, C &c, const tz_place &p)
{
    if (BORDER != TZ_BORDER) {
        tz_earlier_context context;
        tz_earlier_fill(a, context);
        TZ_PLACES(TZ__EARLIER_PLACE)
    }
    TZ_KEPT(TZ__EARLIER_KEEP)
}

/* A read by the second pass. */
#define TZ__EARLIER_FOUND(k, x, y, z)                                                              \
    if (dx == x && dy == y && dz == z)                                                             \
        return values[k];
template <int BORDER, class T, class F>
TZ_DEVICE T tz_read_earlier(const tz_arguments &a, const tz_place &p,
                            const T (&values)[TZ_PLACES_COUNT], F function, int dx, int dy, int dz)
{
    if (BORDER != TZ_BORDER) {
        TZ_PLACES(TZ__EARLIER_FOUND)
    }
    return function(a, p.x + dx, p.y + dy, p.z + dz, p.step);
}

#undef TZ__CONTEXT_EARLIER
#define TZ__CONTEXT_EARLIER tz_earlier_values tz_earlier;
#undef TZ__MAKE_EARLIER
#define TZ__MAKE_EARLIER(border, a, c, p) tz_earlier_make<border>(a, c, p);
#define TZ__READ_earlier(f, dx, dy, dz)                                                            \
    tz_read_earlier<TZ__BORDER>(*tz_c.arguments, tz_p, tz_c.tz_earlier.f, tz_earlier_##f, (dx),    \
                                (dy), (dz))
