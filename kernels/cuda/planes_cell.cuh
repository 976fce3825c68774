/* kernels/cuda: the language of cell updates in the stream family in 3-D. */

/* Where a cell is: among the lane's cells, and in the grid. */
struct tz_cell_place {
    int i, j;
    int x, y, z; /* may be outside the grid */
    long long step;
};

template <bool BORDER, int LOW, int HIGH> TZ_DEVICE int tz_coordinate(int c, int n)
{
    return BORDER ? tz_map<LOW, HIGH>(c, n) : c;
}

template <bool BORDER, class S, class T>
TZ_DEVICE T tz_static(const tz_arguments &a, const tz_cell_place &p, const S *field,
                      const tz_edges<T> &edge, int dx, int dy, int dz)
{
    int x = p.x + dx, y = p.y + dy, z = p.z + dz;
    if (BORDER) {
        if (!TZ_BITS_GRID)
            x = tz_map<TZ_LOW_X, TZ_HIGH_X>(x, a.nx);
        y = tz_map<TZ_LOW_Y, TZ_HIGH_Y>(y, a.ny);
        z = tz_map<TZ_LOW_Z, TZ_HIGH_Z>(z, a.nz);
        if ((!TZ_BITS_GRID && x < 0) || y < 0 || z < 0)
            return tz_value_outside<T>(a, edge, x, x, y, z);
    }
    if (TZ_BITS_GRID) /* words near an end of a row also hold columns of its other end */
        return tz_load_static_word(a, field + (long long)a.pitch * y + a.plane * z, x, edge);
    return (T)field[x + (long long)a.pitch * y + a.plane * z];
}

/* A carried field's value. Elsewhere than at the cell it must not be read. */
template <class T> TZ_DEVICE T tz_at_centre(T value, bool centre)
{
    if (!centre)
        value = tz_absent<T>();
    return value;
}

/* Text for fields that are carried. */
#define TZ__IF_STATE_carried(...)
#define TZ__IF_STATIC_carried(...)
#define TZ__IF_CARRIED(role, ...) TZ__IF_CARRIED_##role(__VA_ARGS__)
#define TZ__IF_CARRIED_state(...)
#define TZ__IF_CARRIED_static(...)
#define TZ__IF_CARRIED_carried(...) __VA_ARGS__

#define TZ__FIELD_state(name, type)                                                                \
    const type(*name)[TZ_ROWS + 2 * TZ_CELL_RADIUS][TZ_VECTOR + 2 * TZ_CELL_RADIUS];               \
    type(*name##_out)[TZ_VECTOR];
#define TZ__FIELD_derived(name, type) TZ__FIELD_state(name, type)
#define TZ__FIELD_static(name, type)                                                               \
    const TZ__MEMORY(name) * name;                                                                 \
    tz_edges<type> name##_edge;
#define TZ__FIELD_carried(name, type)                                                              \
    const type(*name)[TZ_VECTOR];                                                                  \
    type(*name##_out)[TZ_VECTOR];
#define TZ__CONTEXT_FIELD(name, type) TZ__CAT(TZ__FIELD_, TZ__CAT(TZ__KIND_, name))(name, type)
#define TZ__NO_PLANES(D)
#define TZ__PLANES_MEMBER(name, type) type name;
#define TZ__PLANES_ASSIGN(name, type) tz_q.name = name(0);
#define TZ_CELL_ONCE(cell, ONCE) TZ__CELL(cell, ONCE, TZ__NO_PLANES)
#if TZ_EDGES == 1 /* else sums of planes outside the grid differ from cell to cell */
#undef TZ_CELL_PLANES
#define TZ_CELL_PLANES(cell, PLANES) TZ__CELL(cell, TZ__ONCE_NOTHING, PLANES)
#undef TZ_PLANE
#define TZ_PLANE(sum, dz) (tz_c.planes[TZ_CELL_RADIUS - (dz)][tz_p.j][tz_p.i].sum)
#endif
#define TZ__CELL(cell, ONCE, PLANES)                                                               \
    struct planes_##cell {                                                                         \
        PLANES(TZ__PLANES_MEMBER)                                                                  \
    };                                                                                             \
    /* Of the planes the newest comes first. */                                                    \
    TZ__CONTEXT(cell, const planes_##cell(*planes)[TZ_ROWS][TZ_VECTOR];                            \
                const tz_arguments *arguments;)                                                    \
    template <bool TZ__BORDER>                                                                     \
    TZ_DEVICE planes_##cell make_planes_##cell(const context_##cell &tz_c,                         \
                                               const tz_cell_place &tz_p)                          \
    {                                                                                              \
        planes_##cell tz_q;                                                                        \
        PLANES(TZ__PLANES_ASSIGN)                                                                  \
        return tz_q;                                                                               \
    }                                                                                              \
    TZ__CELL_UPDATE(cell, ONCE, const context_##cell, tz_cell_place, template <bool TZ__BORDER>,   \
                    <TZ__BORDER>)
#define TZ__READ_state(f, dx, dy, dz)                                                              \
    (tz_c.f[(dz) + TZ_CELL_RADIUS][tz_p.j + (dy) + TZ_CELL_RADIUS][tz_p.i + (dx) + TZ_CELL_RADIUS])
#define TZ__READ_static(f, dx, dy, dz)                                                             \
    tz_static<TZ__BORDER>(*tz_c.arguments, tz_p, tz_c.f, tz_c.f##_edge, (dx), (dy), (dz))
#define TZ__READ_carried(f, dx, dy, dz)                                                            \
    tz_at_centre(tz_c.f[tz_p.j][tz_p.i], (dx) == 0 && (dy) == 0 && (dz) == 0)
#define TZ__AT3(f, dx, dy, dz) TZ__CAT(TZ__READ_, TZ__CAT(TZ__KIND_, f))(f, dx, dy, dz)
#define TZ_PUT(f, value) (tz_c.f##_out[tz_p.j][tz_p.i] = (value))
#if TZ_BITS_GRID
#define TZ_X ((tz_p.x % tz_c.arguments->nx + tz_c.arguments->nx) % tz_c.arguments->nx)
#else
#define TZ_X (tz_coordinate<TZ__BORDER, TZ_LOW_X, TZ_HIGH_X>(tz_p.x, tz_c.arguments->nx))
#endif
#define TZ_Y (tz_coordinate<TZ__BORDER, TZ_LOW_Y, TZ_HIGH_Y>(tz_p.y, tz_c.arguments->ny))
#define TZ_Z                                                                                       \
    TZ__WHOLE_Z((tz_coordinate<TZ__BORDER, TZ_LOW_Z, TZ_HIGH_Z>(tz_p.z, tz_c.arguments->nz)))
#define TZ_STEP (tz_p.step)
