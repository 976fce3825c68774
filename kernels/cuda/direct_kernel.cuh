/* kernels/cuda: the kernel of the direct family. Included after the passes.
 *
 * Blocks have the axes of the grid. geometry: cells of a lane; [5] is the pass. */

/* The last axis, along which lanes go: its coordinate of a place, and the member that counts with
 * it; its extent; and from one cell of a lane to the next. */
#if TZ_DIMS == 1
#define TZ_ALONG x
#define TZ_FURTHER at
#define TZ_LENGTH(a) (a).nx
#define TZ_STRIDE TZ_THREADS
#define TZ_STRIDE_AT(a) TZ_THREADS
#elif TZ_DIMS == 2
#define TZ_ALONG y
#define TZ_FURTHER rows
#define TZ_LENGTH(a) (a).ny
#define TZ_STRIDE 1
#define TZ_STRIDE_AT(a) (a).pitch
#else
#define TZ_ALONG z
#define TZ_FURTHER planes
#define TZ_LENGTH(a) (a).nz
#define TZ_STRIDE 1
#define TZ_STRIDE_AT(a) (tz_index)(a).plane
#endif

// clang-format off
#define TZ__STORE(role, name, type, index)                                                         \
    tz_store_one((TZ__MEMORY(name) *)a.out[index] + tz_offset_of(a, p[k], 0, 0),                   \
                 (TZ__MEMORY(name))c[k].name##_new);
#define TZ__STORE_PAIRED(name, type, index, partner, dx, dy, dz)                                   \
    tz_store_paired<BORDER>(a, p[k], (TZ__MEMORY(name) *)a.out[index],                             \
                            (TZ__MEMORY(name) *)a.out[partner],                                    \
                            (TZ__MEMORY(name))c[k].name##_new, dx, dy, dz);
#define TZ__SETTLE(name, type, index, partner, dx, dy, dz)                                         \
    if (index < partner)                                                                           \
        tz_settle(a, p, (TZ__MEMORY(name) *)a.out[index], (TZ__MEMORY(name) *)a.out[partner], dx,  \
                  dy, dz);
/* Is no cell of a warp in the frame of TZ_CELL_FRAME? Its cells go from `at` to before `end`. */
#if TZ_DIMS == 1
#define TZ__BESIDE_FRAME(frame, at, end) false
#elif TZ_DIMS == 2
#define TZ__BESIDE_FRAME(frame, at, end)                                                           \
    tz_is_beside_frame(frame, at.x - tz_lane() % TZ_WIDE, at.x - tz_lane() % TZ_WIDE + 31,         \
                       TZ__WHOLE_OF(a, at.y), TZ__WHOLE_OF(a, end - 1), 0, 0)
#else
#define TZ__BESIDE_FRAME(frame, at, end)                                                           \
    tz_is_beside_frame(frame, at.x - tz_lane() % TZ_WIDE, at.x - tz_lane() % TZ_WIDE + 31, at.y,   \
                       at.y, TZ__WHOLE_OF(a, at.z), TZ__WHOLE_OF(a, end - 1))
#endif
/* The loads of a step come before its stores, so that they wait for memory together. Returns
 * whether all cells are right. */
#define TZ__DEFINE_PASS(pass, cell, radius)                                                        \
    template <int BORDER, bool FRAME>                                                              \
    TZ_DEVICE bool tz_steps_##pass(const tz_arguments &a, pass_##pass::context_##cell context,     \
                                   tz_place at, int end)                                           \
    {                                                                                              \
        bool right = true;                                                                         \
        if (!FRAME)                                                                                \
            *context.frame(context) = 0;                                                           \
        TZ_ROLL for (; at.TZ_ALONG < end;) {                                                       \
            tz_place p[TZ_CELLS];                                                                  \
            pass_##pass::context_##cell c[TZ_CELLS];                                               \
            TZ_UNROLL for (int k = 0; k < TZ_CELLS; k++) {                                         \
                p[k] = at;                                                                         \
                p[k].TZ_ALONG += k * TZ_STRIDE;                                                    \
                p[k].TZ_FURTHER += k * TZ_STRIDE;                                                  \
                c[k] = context;                                                                    \
                TZ__MAKE_EARLIER(BORDER, a, c[k], p[k])                                            \
                pass_##pass::update_##cell<BORDER>(c[k], p[k]);                                    \
            }                                                                                      \
            at.TZ_ALONG += TZ_CELLS * TZ_STRIDE;                                                   \
            at.at += TZ_CELLS * TZ_STRIDE_AT(a);                                                   \
            TZ_UNROLL for (int k = 0; k < TZ_CELLS; k++)                                           \
                if (k == 0 || p[k].TZ_ALONG < end) {                                               \
                    TZ_STORES_##pass(TZ__STORE)                                                    \
                    TZ_PAIRED_LIST(TZ__STORE_PAIRED)                                               \
                    right = right && !tz_is_doubtful(c[k].tz_doubt);                               \
                }                                                                                  \
        }                                                                                          \
        return right;                                                                              \
    }                                                                                              \
    template <int BORDER>                                                                          \
    TZ_DEVICE bool tz_run_##pass(const tz_arguments &a, tz_place at, int end)                      \
    {                                                                                              \
        pass_##pass::context_##cell c;                                                             \
        TZ__FILL_CONTEXT                                                                           \
        if (BORDER == TZ_BORDER || TZ__BESIDE_FRAME(c.frame(c), at, end))                          \
            return tz_steps_##pass<BORDER, BORDER == TZ_BORDER>(a, c, at, end);                    \
        return tz_steps_##pass<BORDER, true>(a, c, at, end);                                       \
    }
#define TZ__RUN_PASS(pass, cell, radius)                                                           \
    if ((TZ_LAUNCHES == 1 || a.geometry[5] == pass) &&                                             \
        !(inside && TZ__RUN_INNER(tz_run_##pass)(a, p, end)))                                      \
        tz_run_##pass<TZ_BORDER>(a, p, end);
#if TZ_LEAN
#define TZ__RUN_INNER(run) tz_run_nothing
TZ_DEVICE bool tz_run_nothing(const tz_arguments &, const tz_place &, int)
{
    return false;
}
#else
#define TZ__RUN_INNER(run) run<TZ_INNER>
#endif
// clang-format on
TZ_LAUNCH_LIST(TZ__DEFINE_PASS)

/* Are elements `low` to `high` of an axis, and those that they read, inside the grid? */
#define TZ_INSIDE_OF(axis, low, high, n)                                                           \
    ((low) >= TZ_BELOW_##axis && (high) + TZ_ABOVE_##axis < (n))

#if TZ_DOMAIN >= 0
/* Are the lane's cells, from p to before `end`, all outside of the domain, and the same in both
 * copies of the fields? Its note is 0 before the first iteration, which computes them; then 1: all
 * are outside, or 2. Each launch of an iteration has its own notes. */
TZ_DEVICE bool tz_leaves_out(const tz_arguments &a, tz_place p, int end)
{
    const long long blocks = (long long)tz_blocks(0) * tz_blocks(1) * tz_blocks(2);
    const long long block =
        tz_block(0) + tz_blocks(0) * (tz_block(1) + (long long)tz_blocks(1) * tz_block(2));
    const long long launch = TZ_LAUNCHES == 1 ? 0 : a.geometry[5];
    char *note =
        (char *)a.scratch + TZ_NOTES + (launch * blocks + block) * TZ_THREADS + tz_thread();
    if (*note)
        return *note == 1;
    bool outside = true;
    for (; outside && p.TZ_ALONG < end; p.TZ_ALONG += TZ_STRIDE)
        outside = ((const int *)a.in[TZ_DOMAIN])[tz_index_of(a, p.x, p.y, p.z)] == 0;
    *note = outside ? 1 : 2;
    return false;
}
#endif

TZ_KERNEL_MANY(tz_stage, TZ_THREADS, TZ_BLOCKS)(const TZ_UNCOPIED tz_arguments a)
{
    const int cells = a.geometry[0], thread = tz_thread();
    const int chunk = TZ_SPAN_LOW(a) + tz_block(TZ_DIMS - 1) * cells * TZ_STRIDE;
    tz_place p = {thread % TZ_WIDE, thread / TZ_WIDE, 0, 0, a.step, 0, 0, 0};
    if (TZ_DIMS > 1)
        p.x += tz_block(0) * TZ_WIDE;
    if (TZ_DIMS > 2)
        p.y += tz_block(1) * (TZ_THREADS / TZ_WIDE);
    if (TZ_DIMS == 1)
        p.x += chunk;
    else
        p.TZ_ALONG = chunk;
    const int span = TZ_SPAN_HIGH(a, TZ_LENGTH(a)), last = chunk + cells * TZ_STRIDE;
    const int end = last < span ? last : span;
    if (p.x >= a.nx || p.y >= a.ny)
        return;
#if TZ_DOMAIN >= 0
    if (tz_leaves_out(a, p, end))
        return;
#endif
    p.at = tz_hidden(p.x + (tz_index)a.pitch * p.y + (TZ_DIMS > 2 ? (tz_index)a.plane * p.z : 0));
#if TZ_PAIRS
    if (TZ_PHASE(a) == TZ_SETTLES) {
        if (p.TZ_ALONG < end) {
            TZ_PAIRED_LIST(TZ__SETTLE)
        }
        return;
    }
#endif
    /* The warp's elements. A last step may go beyond `last`. */
    const int x = p.x - tz_lane() % TZ_WIDE, columns = TZ_BITS_GRID ? a.columns - 31 * a.nx : a.nx;
    const int far = last + (TZ_CELLS - 1) * TZ_STRIDE - 1;
    const bool inside = (TZ_BESIDE || TZ_INSIDE_OF(X, x, TZ_DIMS == 1 ? far : x + 31, columns)) &&
                        (TZ_DIMS < 2 || TZ_INSIDE_OF(Y, p.y, TZ_DIMS == 2 ? far : p.y, a.ny)) &&
                        (TZ_DIMS < 3 || TZ_INSIDE_OF(Z, p.z, far, a.nz));
    TZ_LAUNCH_LIST(TZ__RUN_PASS)
}
