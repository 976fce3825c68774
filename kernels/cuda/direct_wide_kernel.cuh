/* kernels/cuda: the kernel of direct_wide.cuh. Included after the pass. Lists besides those of
 * common.cuh:
 *
 *   TZ_QUEUE_LIST(D)  fields that the pass reads in the lane's own columns, in planes `low` to
 *                     `high`, planes that are loaded ahead included: D(name, type, index, low,
 *                     high)
 *   TZ_OWN_LIST(D)    rows in the lane's own columns: D(name, type, index, dz, columns, low), see
 *                     tz_near_row(); `low` as above
 *   TZ_ROW_LIST(D)    other rows: D(name, type, index, dz, dy, columns)
 *   TZ_STORED_LIST(D) fields that the kernel stores: D(name, type, index)
 *
 * geometry: planes of a chunk, blocks along x, along y. */

// clang-format off
#define TZ__FIELD_OF(name, type, index) a, p, (const TZ__MEMORY(name) *)a.in[index], name##_edge
#define TZ__NEAR(role, name, type, index)                                                          \
    type name##_near[2 * TZ_REACH + 1][2 * TZ_REACH + 1][TZ_VECTOR + 2 * TZ_REACH];                \
    type name##_next[TZ_VECTOR];                                                                   \
    c.name = name##_near;                                                                          \
    c.name##_out = &name##_next;
#define TZ__NOTHING(role, name, type, index) tz_near_nothing(name##_near);
#define TZ__QUEUE(name, type, index, low, high)                                                    \
    type name##_queue[high - low + 1][TZ_VECTOR];                                                  \
    tz_queue_start<BORDER, low>(TZ__FIELD_OF(name, type, index), name##_queue);
#define TZ__ADVANCE(name, type, index, low, high)                                                  \
    tz_queue_step<BORDER, high>(TZ__FIELD_OF(name, type, index), name##_queue);
#define TZ__OWN(name, type, index, dz, columns, low)                                               \
    TZ_UNROLL for (int e = 0; e < TZ_VECTOR; e++)                                                  \
        name##_near[dz + TZ_REACH][TZ_REACH][e + TZ_REACH] = name##_queue[dz - low][e];            \
    tz_near_row<BORDER, dz, 0, columns, true>(TZ__FIELD_OF(name, type, index),                     \
                                              name##_near[dz + TZ_REACH][TZ_REACH]);
#define TZ__ROW(name, type, index, dz, dy, columns)                                                \
    tz_near_row<BORDER, dz, dy, columns, false>(TZ__FIELD_OF(name, type, index),                   \
                                                name##_near[dz + TZ_REACH][dy + TZ_REACH]);
#define TZ__STORE(name, type, index)                                                               \
    tz_direct_store(a, p, (TZ__MEMORY(name) *)a.out[index], name##_next);
#define TZ__RUN_PASS(pass, cell, radius)                                                           \
    pass_##pass::context_##cell c;                                                                 \
    TZ_FIELD_LIST(TZ__EDGE)                                                                        \
    TZ_FIELD_LIST(TZ__NEAR)                                                                        \
    TZ__CONTEXT_CONSTANTS(0)                                                                       \
    if (!FRAME)                                                                                    \
        *c.frame(c) = 0;                                                                           \
    TZ_QUEUE_LIST(TZ__QUEUE)                                                                       \
    TZ_ROLL for (; p.z < end; p.z++) {                                                             \
        c.tz_doubt = tz_no_doubts();                                                               \
        TZ_FIELD_LIST(TZ__NOTHING)                                                                 \
        TZ_QUEUE_LIST(TZ__ADVANCE)                                                                 \
        TZ_OWN_LIST(TZ__OWN)                                                                       \
        TZ_ROW_LIST(TZ__ROW)                                                                       \
        TZ_UNROLL for (int e = 0; e < TZ_VECTOR; e++) {                                            \
            const tz_cell_place cell_place = {e, p.x + e, p.y, p.z, a.step};                       \
            pass_##pass::update_##cell<BORDER>(c, cell_place);                                     \
        }                                                                                          \
        TZ_STORED_LIST(TZ__STORE)                                                                  \
        p.at += a.plane;                                                                           \
        right = right && !tz_is_doubtful(c.tz_doubt);                                              \
    }
// clang-format on

/* Computes the planes from p.z to before `end`. Returns whether all cells are right. */
template <bool BORDER, bool FRAME>
TZ_DEVICE bool tz_steps(const tz_arguments &a, tz_place p, int end)
{
    bool right = true;
    TZ_PASS_LIST(TZ__RUN_PASS)
    return right;
}

/* Sets `beside` where no cell of the warp is in the frame of TZ_CELL_FRAME. */
#define TZ__BESIDE(pass, cell, radius)                                                             \
    {                                                                                              \
        pass_##pass::context_##cell c;                                                             \
        TZ__CONTEXT_CONSTANTS(0)                                                                   \
        const int x = p.x - tz_lane() * TZ_VECTOR;                                                 \
        beside = tz_is_beside_frame(c.frame(c), x, x + 32 * TZ_VECTOR - 1, p.y, p.y,               \
                                    TZ__WHOLE_OF(a, p.z), TZ__WHOLE_OF(a, end - 1));               \
    }

template <bool BORDER> TZ_DEVICE bool tz_run(const tz_arguments &a, tz_place p, int end)
{
    bool beside = false;
    if (!BORDER)
        TZ_PASS_LIST(TZ__BESIDE)
    if (BORDER || beside)
        return tz_steps<BORDER, BORDER>(a, p, end);
    return tz_steps<BORDER, true>(a, p, end);
}

TZ_KERNEL_MANY(tz_stage, 32 * TZ_WARPS, TZ_BLOCKS)(const tz_arguments a)
{
    constexpr int columns = 32 * TZ_VECTOR;
    /* Loads are of packets of TZ_VECTOR columns. */
    constexpr int below = (TZ_BELOW_X + TZ_VECTOR - 1) / TZ_VECTOR * TZ_VECTOR;
    constexpr int above = (TZ_ABOVE_X + TZ_VECTOR - 1) / TZ_VECTOR * TZ_VECTOR;
    const int wide = a.geometry[1], high = a.geometry[2], number = tz_block(0);
    const int x = number % wide * columns, y = number / wide % high * TZ_WARPS;
    const int z = TZ_SPAN_LOW(a) + number / (wide * high) * a.geometry[0];
    const int rest = TZ_SPAN_HIGH(a, a.nz) - z;
    const int end = z + (rest < a.geometry[0] ? rest : a.geometry[0]);
    tz_place p = {x + tz_lane() * TZ_VECTOR, y + tz_warp(), z, 0};
    p.at = p.x + (long long)a.pitch * p.y + a.plane * p.z;
    if (p.x >= a.nx || p.y >= a.ny)
        return;
    const bool inside = x >= below && x + columns + above <= a.nx && y >= TZ_BELOW_Y &&
                        y + TZ_WARPS + TZ_ABOVE_Y <= a.ny && z >= TZ_BELOW_Z &&
                        end + TZ_ABOVE_Z <= a.nz;
    if (!(inside && tz_run<false>(a, p, end)))
        tz_run<true>(a, p, end);
}
