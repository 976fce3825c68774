/* kernels/cuda: the kernel of the stream family in one dimension. Included after the passes. */

// clang-format off
/* ---- Fields ---------------------------------------------------------------------------------- */

/* For a streamed field: TZ_GROUP rows, and the address of the next row. */
#define TZ__ROWS(role, name, type, index)                                                          \
    TZ__IF_STREAMED(role, int name##_rows[TZ_GROUP][TZ_PACKETS][TZ_PACKET];                        \
                    const int *name##_row = tz_strip_row<BORDER>(s, a.in[index]);)
#define TZ__NEXT_ROW(role, name, type, index)                                                      \
    TZ__IF_STREAMED(role, tz_strip_stream<BORDER>(a, s, name##_row, name##_rows[r]);)

#define TZ__LOAD(role, name, type, index)                                                          \
    TZ__IF_STATE(role, TZ__LOAD_STRIP(role, name, type, index))                                    \
    TZ__IF_STATIC(role, TZ__LOAD_STRIP(role, name, type, index)                                    \
                  tz_window<type, TZ__RADIUS_##name> name##_window;                                \
                  tz_widen(name##_now, s, name##_window);)
#define TZ__LOAD_STRIP(role, name, type, index)                                                    \
    TZ__EDGE(role, name, type, index)                                                              \
    type name##_now[TZ_PACKETS][TZ_PACKET];                                                        \
    tz_strip_load<BORDER>(a, s, (const TZ__MEMORY(name) *)a.in[index], name##_edge, name##_now);

/* The result of a pass, as memory has it, replaces the field. */
#define TZ__REPLACE(role, name, type, index)                                                       \
    tz_strip_copy(c.name##_out, name##_now);                                                       \
    tz_each<TZ_PACKETS>([&](int p) { tz_round_values<TZ__MEMORY(name)>(name##_now[p]); });         \
    if (BORDER)                                                                                    \
        tz_strip_restore(a, s, name##_edge, (type *)staging, name##_now);

#define TZ__STORE(role, name, type, index)                                                         \
    tz_strip_store<BORDER>(a, s, (TZ__MEMORY(name) *)a.out[index], name##_now);

/* ---- Passes ---------------------------------------------------------------------------------- */

/* All elements of a lane, one after the other. */
#define TZ_EACH_ELEMENT                                                                            \
    TZ_UNROLL                                                                                      \
    for (int p = 0; p < TZ_PACKETS; p++)                                                           \
        TZ_UNROLL                                                                                  \
        for (int k = 0; k < TZ_PACKET; k++)

/* The values that a pass computes from static fields, once for all iterations. */
#define TZ__ONCE_ENTRY(role, name, type, index) TZ__IF_STATIC(role, c.name = name##_window;)
#define TZ__MAKE_ONCE(pass, cell, radius)                                                          \
    pass_##pass::once_##cell once_##pass[TZ_PACKETS][TZ_PACKET];                                   \
    {                                                                                              \
        pass_##pass::context_##cell c;                                                             \
        TZ_FIELD_LIST(TZ__ONCE_ENTRY)                                                              \
        TZ__CONTEXT_CONSTANTS(0)                                                                   \
        TZ_EACH_ELEMENT                                                                            \
        {                                                                                          \
            tz_place at;                                                                           \
            at.packet = p;                                                                         \
            at.element = k;                                                                        \
            once_##pass[p][k] = pass_##pass::make_once_##cell(c, at);                              \
        }                                                                                          \
    }

#define TZ__CONTEXT_ENTRY(role, name, type, index)                                                 \
    TZ__IF_STATE(role, tz_widen(name##_now, s, c.name);)                                           \
    TZ__IF_STATIC(role, c.name = name##_window;)                                                   \
    TZ__IF_STREAMED(role, tz_widen(name##_rows[r], s, c.name);)
/* Iteration t of a pass; its streamed rows are in slot r. */
#define TZ__RUN_PASS(pass, cell, radius)                                                           \
    {                                                                                              \
        pass_##pass::context_##cell c;                                                             \
        TZ_FIELD_LIST(TZ__CONTEXT_ENTRY)                                                           \
        TZ__CONTEXT_CONSTANTS(t)                                                                   \
        TZ_EACH_ELEMENT                                                                            \
        {                                                                                          \
            tz_place at;                                                                           \
            at.packet = p;                                                                         \
            at.element = k;                                                                        \
            at.x = tz_strip_x<BORDER>(a, s, p, k);                                                 \
            at.step = a.step + t;                                                                  \
            pass_##pass::update_##cell(c, at, once_##pass[p][k]);                                  \
        }                                                                                          \
        TZ_WRITES_##pass(TZ__REPLACE)                                                              \
    }
// clang-format on

/* ---- The kernel ------------------------------------------------------------------------------ */

/* A warp's strip. BORDER: strips of the block hold columns outside the grid. `staging`: the warp's
 * own shared memory for tz_strip_restore(). */
template <bool BORDER>
TZ_DEVICE void tz_run(const tz_arguments &a, const tz_strip &s, unsigned char *staging)
{
    TZ_FIELD_LIST(TZ__ROWS)
#pragma unroll
    for (int r = 0; r < TZ_GROUP; r++)
        if (r < a.height) {
            TZ_FIELD_LIST(TZ__NEXT_ROW)
        }
    TZ_FIELD_LIST(TZ__LOAD)
    TZ_PASS_LIST(TZ__MAKE_ONCE)
    for (int first = 0; first < a.height; first += TZ_GROUP) {
#pragma unroll
        for (int r = 0; r < TZ_GROUP; r++) {
            const int t = first + r;
            if (t >= a.height)
                break;
            TZ_PASS_LIST(TZ__RUN_PASS)
            if (t + TZ_GROUP < a.height) {
                TZ_FIELD_LIST(TZ__NEXT_ROW)
            }
        }
    }
    TZ_WRITTEN_LIST(TZ__STORE)
}

TZ_KERNEL_MANY(tz_stage, TZ_THREADS, TZ_BLOCKS)(const tz_arguments a)
{
    tz_strip s;
    const int first = tz_strips_first(a);
    s.lane = tz_lane();
    s.x = first + tz_warp() * TZ_TILE_X;
    if (tz_strips_border(a, first))
        tz_run<true>(a, s, tz_shared() + tz_warp() * (TZ_STRIP * TZ_STAGED));
    else
        tz_run<false>(a, s, 0);
}
