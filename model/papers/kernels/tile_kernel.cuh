/* kernels/cuda: the kernel of the tile family. Included after the passes. */

// clang-format off
/* ---- Fields ---------------------------------------------------------------------------------- */

/* A state field has two versions in shared memory: one is read, the other made. */
#define TZ__PLACE(role, name, type, index)                                                         \
    TZ__EDGE(role, name, type, index)                                                              \
    TZ__IF_STATE(role, type *name##_now = (type *)shared, *name##_next = name##_now + TZ_EXT;      \
                 shared += 2 * TZ_EXT * sizeof(type);)

#if TZ_BITS_GRID
#define TZ__FIRST(name) tz_load_word(a, row, p.x, name##_edge)
/* The bits of a new word that lie outside the grid. */
#define TZ__MASK(role, name, type, index)                                                          \
    tz_put(name##_next + i, tz_mask_word(a, p.x, tz_get(name##_next + i), name##_edge));
#else
#define TZ__FIRST(name) row[p.x_in]
#define TZ__MASK(role, name, type, index)
#endif
#define TZ__LOAD(role, name, type, index)                                                          \
    TZ__IF_STATE(role, {                                                                           \
        const type *row =                                                                          \
            (const type *)a.in[index] + (long long)a.pitch * p.y_in + a.plane * p.z_in;            \
        tz_put(name##_now + i, TZ__FIRST(name));                                                   \
        if (TZ_WHOLE) /* iterations read the edge, which none computes, in both */                 \
            tz_put(name##_next + i, tz_get(name##_now + i));                                       \
    })

#define TZ__SWAP(role, name, type, index)                                                          \
    {                                                                                              \
        type *swap = name##_now;                                                                   \
        name##_now = name##_next;                                                                  \
        name##_next = swap;                                                                        \
    }

#define TZ__STORE(role, name, type, index) ((type *)a.out[index])[to] = tz_get(name##_now + i);

/* ---- Passes ---------------------------------------------------------------------------------- */

#define TZ__CONTEXT_ENTRY(role, name, type, index)                                                 \
    TZ__IF_STATE(role, c.name = name##_now; c.name##_out = name##_next;)                           \
    TZ__IF_STATIC(role, c.name = (const type *)a.in[index];)                                       \
    TZ__IF_STREAMED(role, c.name = (const type *)a.in[index];)                                     \
    c.name##_edge = name##_edge;

/* Iteration t of a pass, for the cells of the tile and `rest` cells around it. */
#define TZ__RUN_PASS(pass, cell, radius)                                                           \
    rest -= radius;                                                                                \
    {                                                                                              \
        pass_##pass::context_##cell c;                                                             \
        c.arguments = &a;                                                                          \
        TZ_FIELD_LIST(TZ__CONTEXT_ENTRY)                                                           \
        TZ__CONTEXT_CONSTANTS(t)                                                                   \
        for (int i = tz_thread(); i < TZ_EXT; i += TZ_THREADS) {                                   \
            tz_place p = tz_place_of(a, i);                                                        \
            if (!tz_wanted(a, p, rest))                                                            \
                continue;                                                                          \
            tz_place_inside(a, p);                                                                 \
            p.iteration = t;                                                                       \
            p.step = a.step + t;                                                                   \
            pass_##pass::update_##cell<BORDER>(c, p);                                              \
            TZ_WRITES_##pass(TZ__MASK)                                                             \
        }                                                                                          \
    }                                                                                              \
    tz_barrier();                                                                                  \
    TZ_WRITES_##pass(TZ__SWAP)
// clang-format on

/* ---- The kernel ------------------------------------------------------------------------------ */

/* BORDER: the ghost zone leaves the grid. */
template <bool BORDER> TZ_DEVICE void tz_run(const tz_arguments &a)
{
    unsigned char *shared = tz_shared();
    TZ_FIELD_LIST(TZ__PLACE)
    for (int i = tz_thread(); i < TZ_EXT; i += TZ_THREADS) {
        tz_place p = tz_place_of(a, i);
        if (!tz_wanted(a, p, TZ_HALO_X))
            continue;
        tz_place_inside(a, p);
        TZ_FIELD_LIST(TZ__LOAD)
    }
    tz_barrier();
    int rest = a.height * TZ_REACH;
    for (int t = 0; t < a.height; t++) {
        if (TZ_WHOLE) /* as the first one; cells become wrong from the edge on */
            rest = a.height * TZ_REACH;
        TZ_PASS_LIST(TZ__RUN_PASS)
    }
    for (int i = tz_thread(); i < TZ_EXT; i += TZ_THREADS) {
        const tz_place p = tz_place_of(a, i);
        if (!tz_wanted(a, p, 0) || p.x >= TZ_TILE_END(a, 0, a.nx) ||
            p.y >= TZ_TILE_END(a, 1, a.ny) || p.z >= TZ_TILE_END(a, 2, a.nz))
            continue;
        const long long to = p.x + (long long)a.pitch * p.y + a.plane * p.z;
        TZ_WRITTEN_LIST(TZ__STORE)
    }
}

TZ_KERNEL(tz_stage, TZ_THREADS)(const tz_arguments a)
{
    const int x = TZ_TILE_LOW(a, 0, TZ_TILE_X), y = TZ_TILE_LOW(a, 1, TZ_TILE_Y);
    const int z = TZ_TILE_LOW(a, 2, TZ_TILE_Z);
    const bool border = x < TZ_HALO_X || x + TZ_TILE_X + TZ_HALO_X > a.nx ||
                        (TZ_DIMS > 1 && (y < TZ_HALO_Y || y + TZ_TILE_Y + TZ_HALO_Y > a.ny)) ||
                        (TZ_DIMS > 2 && (z < TZ_HALO_Z || z + TZ_TILE_Z + TZ_HALO_Z > a.nz));
    if (border)
        tz_run<true>(a);
    else
        tz_run<false>(a);
}
