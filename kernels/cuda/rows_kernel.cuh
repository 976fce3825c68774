/* kernels/cuda: the kernel of the stream family in 2-D. Included after the passes.
 *
 * Lists besides those of common.cuh, where l is the number of a level, from 1:
 *
 *   TZ_RING_LIST(D)   rings: D(name, type, level, rows, halo); `level` made them, with `halo`
 *                     columns of the adjacent lanes
 *   TZ_SUM_LIST(D)    sums of rows that wait for more: D(level, rows)
 *   TZ_ONCE_LIST(D)   values made from static fields alone: D(pass, cell, level, rows)
 *   TZ_QUEUE_LIST(D)  all fields: D(role, name, type, index, rows), with the rows of the queue
 *   TZ_TAKE_LIST(D)   rings of level 0: D(role, name, type, index, level, newest, wait), taken out
 *                     of the queue `wait` rows after they have arrived
 *   TZ_LEVEL_LIST(D)  levels: D(l, pass, cell, iteration, lag, makes, made, last, slot). What is
 *                     made of static fields is in once_MADE[slot]; where `makes` is 1 the level
 *                     makes the row `last` of it first
 *   TZ_READS_l(TAKE, WINDOW)  what it reads: TAKE as in TZ_TAKE_LIST; WINDOW(name, type, level,
 *                             slot, rows, columns) is so many rows of a ring from `slot` on,
 *                             with columns of the adjacent lanes
 *   TZ_ADDS_l(D)      with TZ_SUMS, of the one field: D(l, name, type, level, slot, radius, cell)
 *   TZ_MAKES_l(D)     what it writes: D(l, name, type, index, radius, last, kept); flags, 0 or 1:
 *                     it is the stage's result, later levels read it */

/* ---- Rings and queues ------------------------------------------------------------------------ */

#define TZ__RING(name, type, level, rows, halo) type name##_##level[rows][TZ_V + 2 * halo];
#define TZ__SUM(level, rows) TZ_SUM_TYPE sum_##level[rows][TZ_V];
#define TZ__ONCE_RING(pass, cell, level, rows) pass_##pass::once_##cell once_##level[rows][TZ_V];
#define TZ__KEPT(l, pass, cell, iteration, lag, makes, made, last, slot)                           \
    pass_##pass::kept_##cell kept_##l;

struct tz_rings {
    TZ_RING_LIST(TZ__RING)
    TZ_SUM_LIST(TZ__SUM)
    TZ_ONCE_LIST(TZ__ONCE_RING)
    TZ_LEVEL_LIST(TZ__KEPT)
};

/* The queue of each field. One offset serves all addresses: an address for each field would take
 * more registers, which kernels of large heights lack. */
#define TZ__QUEUE(role, name, type, index, rows) TZ__MEMORY(name) * name;

struct tz_queues {
    int part, kept;
    long long offset; /* of the first element of row y that the lane loads */
#if TZ_SUMS
    TZ_SUM_TYPE *last; /* row of the grid, of each level */
#endif
    TZ_QUEUE_LIST(TZ__QUEUE)
};

/* The lane's elements of the row that is so many rows after row y; those that it stores: past the
 * ends of the grid it loads others. */
#define TZ__ROW_OF(field, type, rows) ((type *)(field) + (long long)(rows)*a.pitch + w.offset)
#define TZ__TO(type, index, lag)                                                                   \
    (TZ__ROW_OF(a.out[index], type, -(lag)) + (BORDER && TZ_PACKETS ? s.x - s.from : 0))

// clang-format off
/* The row of a field in its queue for the step that is `step` steps after the body's first. */
#define TZ__SLOT_state(step) tz_slot<TZ_QUEUE>(w.part, step)
#define TZ__SLOT_static(step) tz_slot<TZ_QUEUE_KEPT>(w.kept, step)

#define TZ__FETCH_ROW(border, ends, step, y, more, role, name, type, index, newest)                \
    tz_fetch_row<border, ends, type>(                                                              \
        a, s, w.name + TZ__SLOT_##role(step),                                                      \
        TZ__ROW_OF(a.in[index], const TZ__MEMORY(name), newest + more), a.in[index], name##_edge,  \
        y + more + newest);
#if TZ_DIRECT
#define TZ__FETCH(role, name, type, index, level, newest, wait)
#define TZ__FETCH_FIRST(role, name, type, index, level, newest, wait)
#define TZ__TAKE_ROW(role, name, type, index, newest, wait)                                        \
    tz_load_row<BORDER, ENDS>(a, s, TZ__ROW_OF(a.in[index], const TZ__MEMORY(name), newest),       \
                              a.in[index], name##_edge, y + newest, row)
#else
/* The row that is taken TZ_AHEAD steps later; before the first step, that of step k. */
#define TZ__FETCH(role, name, type, index, level, newest, wait)                                    \
    TZ__FETCH_ROW(BORDER, ENDS, u + TZ_AHEAD, y, TZ_AHEAD, role, name, type, index, newest)
#define TZ__FETCH_FIRST(role, name, type, index, level, newest, wait)                              \
    TZ__FETCH_ROW(true, true, k, y, k, role, name, type, index, newest)

#define TZ__TAKE_ROW(role, name, type, index, newest, wait)                                        \
    tz_take_row<BORDER, ENDS>(a, s, w.name + TZ__SLOT_##role(u + wait), name##_edge, y + newest,   \
                              row)
#endif

/* Moves a row into the newest slot of its ring. */
#define TZ__TAKE(role, name, type, index, level, newest, wait)                                     \
    tz_shift(q.name##_##level);                                                                    \
    {                                                                                              \
        type row[TZ_V];                                                                            \
        TZ__TAKE_ROW(role, name, type, index, newest, wait);                                       \
        tz_ring_push<BORDER>(s, q.name##_##level, row, name##_edge);                               \
    }

/* ---- Levels ---------------------------------------------------------------------------------- */

#if TZ_POINTS
/* A bit for each of the lane's elements in a row that it stores. */
TZ_DEVICE unsigned int tz_own_elements(const tz_arguments &a, const tz_strip &s, int row)
{
    const unsigned int at = (unsigned int)(row - s.low);
    unsigned int own = 0;
    for (int e = 0; e < TZ_V; e++) {
#if TZ_SPLIT
        const unsigned int rows = s.rows_packet[e >= TZ_V / 2];
#else
        const unsigned int rows = s.rows;
#endif
        if (at < rows && s.x + e < a.nx)
            own |= 1u << e;
    }
    return own;
}
#endif

#define TZ__WINDOW(name, type, level, slot, rows, columns)                                         \
    type name##_w[rows][TZ_V + 2 * columns];                                                       \
    tz_ring_window<BORDER, slot, columns>(s, q.name##_##level, name##_w, name##_edge);             \
    c.name = name##_w;

#define TZ__NEW(l, name, type, index, radius, last, kept)                                          \
    type name##_new[TZ_V];                                                                         \
    c.name##_out = name##_new;

/* Adds the newest row of the level before to the sums. The grid's first row also counts for all
 * rows before it. */
#define TZ__ADD(l, name, type, level, slot, radius, cell)                                          \
    type name##_w[2 * radius + 1][TZ_V + 2 * radius], name##_new[TZ_V];                            \
    tz_widen<BORDER, radius>(s, q.name##_##level[slot], name##_w[radius], name##_edge);            \
    c.name = name##_w;                                                                             \
    const int times = ENDS && TZ_REPEATS(TZ_LOW_Y) && row + radius == 0 ? radius + 1 : 1;     \
    TZ_ROLL                                                                                        \
    for (int k = 0; k < times; k++)                                                                \
        TZ_UNROLL                                                                                  \
        for (int e = 0; e < TZ_V; e++)                                                             \
            name##_new[e] = pass_0::push_##cell(c, e, q.sum_##l);

#if TZ_BITS_GRID
#define TZ__INSIDE_X(x) (((x) % a.nx + a.nx) % a.nx)
#else
#define TZ__INSIDE_X(x) (tz_map<TZ_LOW_X, TZ_HIGH_X>((x), a.nx))
#endif

#if TZ_SUMS
#define TZ__UPDATE(l, pass, cell, iteration, makes, made, last, slot) TZ_ADDS_##l(TZ__ADD)
#define TZ__FIX_ROWS(l, name, radius)                                                              \
    tz_fix_end(a, s, row, q.name##_##l, w.last + (l - 1) * TZ_STRIP, name##_edge);
#else
#define TZ__UPDATE(l, pass, cell, iteration, makes, made, last, slot)                              \
    TZ_READS_##l(TZ__TAKE, TZ__WINDOW)                                                             \
    TZ__IF(makes, tz_shift(q.once_##made);                                                         \
        TZ_UNROLL                                                                                  \
        for (int e = 0; e < TZ_V; e++)                                                             \
            q.once_##made[last][e] = pass_##pass::make_once_##cell(c, e);)                         \
    c.once = q.once_##made[slot];                                                                  \
    TZ_MAKES_##l(TZ__NEW)                                                                          \
    c.y = ENDS || TZ_WRAP_Y ? tz_map<TZ_LOW_Y, TZ_HIGH_Y>(row, a.ny) : row;           \
    c.step = a.step + iteration;                                                                   \
    pass_##pass::shared_##cell shared;                                                             \
    c.shared = &shared;                                                                            \
    pass_##pass::share_##cell<BORDER, ENDS>(c, q.kept_##l);                                        \
    TZ_UNROLL                                                                                      \
    for (int e = 0; e < TZ_V; e++) {                                                               \
        c.x = (TZ_SIMPLE_ENDS ? s.from : s.x) + e;                                                 \
        if (BORDER && !TZ_SIMPLE_ENDS)                                                             \
            c.x = TZ__INSIDE_X(c.x);                                                               \
        if (BORDER && TZ_TURNED)                                                                   \
            c.x = s.from + tz_turn(a, s, e);                                                       \
        pass_##pass::update_##cell(c, e);                                                          \
    }
#define TZ__FIX_ROWS(l, name, radius) tz_fix_rows<radius>(a, s, row, q.name##_##l, name##_edge);
#endif

/* The new values as memory has them. */
#define TZ__ROUND(l, name, type, index, radius, last, kept)                                        \
    tz_round_values<TZ__MEMORY(name)>(name##_new);
#define TZ__KEEP(l, name, type, index, radius, last, kept)                                         \
    TZ__IF(last, tz_commit(s, TZ__TO(TZ__MEMORY(name), index, y - row), row, name##_new);)         \
    TZ__IF(kept,                                                                                   \
        if (BORDER && (TZ_SIMPLE_ENDS || s.border))                                                \
            tz_fix_columns(a, s, name##_new, name##_edge);                                         \
        tz_shift(q.name##_##l);                                                                    \
        tz_ring_push<BORDER>(s, q.name##_##l, name##_new, name##_edge);                            \
        if (ENDS)                                                                                  \
            TZ__FIX_ROWS(l, name, radius))

#if TZ_POINTS
#define TZ__POINT(l, name, type, index, radius, last, kept)                                        \
    if constexpr (tz_is_due(tz_pass, index))                                                       \
        tz_row_points<TZ__MEMORY(name)>(a, index, tz_iteration, at,                                \
                                        TZ_SIMPLE_ENDS ? s.from : s.x,                             \
                                        tz_own_elements(a, s, row), name##_new);
#define TZ__POINTS(l, pass, iteration)                                                             \
    {                                                                                              \
        enum { tz_pass = pass, tz_iteration = iteration };                                         \
        const int at = TZ_WRAP_Y ? tz_map<TZ_LOW_Y>(row, a.ny) : row;                              \
        if (TZ_HAS_POINTS(a, at)) {                                                                \
            TZ_MAKES_##l(TZ__POINT)                                                                \
        }                                                                                          \
    }
#else
#define TZ__POINTS(l, pass, iteration)
#endif

#define TZ__RUN_LEVEL(l, pass, cell, iteration, lag, makes, made, last, slot)                      \
    {                                                                                              \
        pass_##pass::context_##cell c;                                                             \
        const int row = y - lag;                                                                   \
        TZ__CONTEXT_CONSTANTS(iteration)                                                           \
        TZ__UPDATE(l, pass, cell, iteration, makes, made, last, slot)                              \
        TZ_MAKES_##l(TZ__ROUND)                                                                    \
        TZ__POINTS(l, pass, iteration)                                                             \
        TZ_MAKES_##l(TZ__KEEP)                                                                     \
    }
// clang-format on

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Row y of level 0 arrives: step u of a loop body. BORDER: columns, ENDS: rows may be outside. */
template <bool BORDER, bool ENDS>
TZ_DEVICE void tz_step(const tz_arguments &a, const tz_strip &s, tz_queues &w, tz_rings &q,
                       const int y, const int u)
{
    TZ_FIELD_LIST(TZ__EDGE)
#if TZ_PACKETS
    tz_fetch_wait<TZ_AHEAD - 1>();
    tz_barrier_warp();
#endif
    TZ_TAKE_LIST(TZ__FETCH)
#if !TZ_DIRECT
    tz_fetch_end();
#if !TZ_PACKETS
    tz_fetch_wait<TZ_AHEAD>();
#endif
#endif
    TZ_TAKE_LIST(TZ__TAKE)
    TZ_LEVEL_LIST(TZ__RUN_LEVEL)
    w.offset += a.pitch;
}

template <bool BORDER, bool ENDS>
TZ_DEVICE void tz_steps(const tz_arguments &a, const tz_strip &s, tz_queues &w, tz_rings &q,
                        const int y)
{
    if (BORDER && !TZ_SIMPLE_ENDS) {
#pragma unroll 1
        for (int u = 0; u < TZ_STEPS; u++)
            tz_step<BORDER, ENDS>(a, s, w, q, y + u, u);
    } else {
#pragma unroll
        for (int u = 0; u < TZ_STEPS; u++)
            tz_step<BORDER, ENDS>(a, s, w, q, y + u, u);
    }
    w.part = tz_slot<TZ_QUEUE>(w.part, TZ_STEPS);
    w.kept = tz_slot<TZ_QUEUE_KEPT>(w.kept, TZ_STEPS);
}

/* ---- The kernel ------------------------------------------------------------------------------ */

#if TZ_SPLIT
/* Where a strip begins: it has the columns after those of the strip before it. */
TZ_DEVICE int tz_strip_start(const tz_arguments &a, const tz_strip &s, int strip)
{
    enum { APART = TZ_STRIP - TZ_GHOST_LOW - TZ_GHOST_HIGH };
    const int left = a.geometry[1], right = a.geometry[0] - a.geometry[2];
    const int inner = strip < left ? 0 : strip < right ? strip - left : right - left;
    return inner * APART + (strip - inner) * (TZ_STRIP - TZ_SIDE_LOW - TZ_SIDE_HIGH) -
           (s.border ? TZ_SIDE_LOW : TZ_GHOST_LOW);
}

/* Does a lane store its packet that begins with this column of the strip? */
TZ_DEVICE bool tz_is_own_packet(const tz_arguments &a, const tz_strip &s, int column)
{
    const int low = s.border ? TZ_SIDE_LOW : TZ_GHOST_LOW,
              high = s.border ? TZ_SIDE_HIGH : TZ_GHOST_HIGH;
    return column >= low && column < TZ_STRIP - high && s.x0 + column >= 0 && s.x0 + column < a.nx;
}
#endif

/* Does a lane store the columns that it computes? */
TZ_DEVICE bool tz_is_own(const tz_arguments &a, const tz_strip &s, int lane)
{
    const int column = lane * TZ_V;
    return column >= TZ_GHOST_LOW && column < TZ_STRIP - TZ_GHOST_HIGH && s.x0 + column >= 0 &&
           s.x0 + column < a.nx;
}

/* Bytes of a warp's queue of a field (rows_shared_bytes() in core/backend/cuda/family/rows). */
#define TZ__QUEUE_BYTES(type, rows) ((rows)*TZ_STRIP * (int)sizeof(type) + tz_queue_room<type>())

// clang-format off
#if TZ_DIRECT
#define TZ__PLACE_QUEUE(role, name, type, index, rows) w.name = 0;
#else
#define TZ__PLACE_QUEUE(role, name, type, index, rows)                                             \
    w.name =                                                                                       \
        (TZ__MEMORY(name) *)(shared +                                                              \
                             tz_thread() / 32 * TZ__QUEUE_BYTES(TZ__MEMORY(name), rows)) +         \
        tz_queue_start<TZ__MEMORY(name)>(s) + tz_lane() * TZ_V;                                    \
    shared += TZ_WARPS * TZ__QUEUE_BYTES(TZ__MEMORY(name), rows);
#endif
#define TZ__CLEAR_RING(name, type, level, rows, halo) tz_clear(q.name##_##level);
#define TZ__CLEAR_SUM(level, rows) tz_clear(q.sum_##level);
/* Later groups of levels take rows from the first step on, before a row for them has arrived. */
#define TZ__BLANK(role, name, type, index)                                                         \
    TZ__IF_STATIC(                                                                                 \
        role, TZ_ROLL for (int k = 0; k < TZ_QUEUE_KEPT; k++) tz_blank(w.name + k * TZ_STRIP);)
// clang-format on

#if TZ_BLOCKS > 0
TZ_KERNEL_MANY(tz_stage, 32 * TZ_WARPS, TZ_BLOCKS)(const tz_arguments a)
#else
TZ_KERNEL(tz_stage, 32 * TZ_WARPS)(const tz_arguments a)
#endif
{
    const int strips = a.geometry[0], left = a.geometry[1], right = a.geometry[2];
    int item = TZ_WARPS == 1 ? tz_block(0) : tz_block(0) * TZ_WARPS + tz_warp();
    int chunk = a.geometry[4];
    const int first = TZ_SPAN_LOW(a), last = TZ_SPAN_HIGH(a, a.ny);
    const int border = (left + right) * ((last - first + chunk - 1) / chunk);
    int across = left + right, strip, part;
    tz_strip s;
    s.border = item < border;
    if (s.border) {
        strip = item % across;
        part = item / across;
        strip = strip < left ? strip : strips - 1 - (strip - left);
    } else {
        item -= border;
        across = strips - left - right;
        chunk = a.geometry[3];
        if (across == 0)
            return;
        strip = left + item % across;
        part = item / across;
    }
    /* The chunks at the ends of the grid start first, since they take longer. */
    part = part == 0 ? (last - first + chunk - 1) / chunk - 1 : part - 1;
    s.low = first + part * chunk;
    const int high = s.low + chunk < last ? s.low + chunk : last;
    if (s.low >= last)
        return;
#if TZ_SPLIT
    s.x0 = tz_strip_start(a, s, strip);
    tz_strip_place(a, s);
    const int column = tz_lane() * TZ_V;
    s.rows_packet[0] = tz_is_own_packet(a, s, column) ? high - s.low : 0;
    s.rows_packet[1] = tz_is_own_packet(a, s, column + TZ_V / 2) ? high - s.low : 0;
#else
    s.x0 = strip * (TZ_STRIP - TZ_GHOST_LOW - TZ_GHOST_HIGH) - TZ_GHOST_LOW;
    tz_strip_place(a, s);
    s.rows = tz_is_own(a, s, tz_lane()) ? high - s.low : 0;
    s.rows_packet[0] = tz_is_own(a, s, tz_lane() & ~1) ? high - s.low : 0;
    s.rows_packet[1] = tz_is_own(a, s, tz_lane() | 1) ? high - s.low : 0;
#endif
    tz_rings q;
    int y = tz_first_row(s);
    tz_queues w;
    w.part = w.kept = 0;
    w.offset = (long long)a.pitch * y + (TZ_SIMPLE_ENDS ? s.from : s.x);
    unsigned char *shared = tz_shared();
    TZ_FIELD_LIST(TZ__EDGE)
    TZ_QUEUE_LIST(TZ__PLACE_QUEUE)
#if TZ_SUMS
    w.last = (TZ_SUM_TYPE *)shared + (tz_thread() / 32 * (32 * TZ_LEVELS) + tz_lane()) * TZ_V;
#endif
    TZ_RING_LIST(TZ__CLEAR_RING)
    TZ_SUM_LIST(TZ__CLEAR_SUM)
#if TZ_GROUP < TZ_LEVELS && !TZ_DIRECT
    TZ_FIELD_LIST(TZ__BLANK)
#endif
#if !TZ_DIRECT
#pragma unroll 1
    for (int k = 0; k < TZ_AHEAD; k++) {
        TZ_TAKE_LIST(TZ__FETCH_FIRST)
        tz_fetch_end();
    }
#endif
    const int end = high + TZ_LAG;
    for (; y < end; y += TZ_STEPS)
        if (!TZ_SIMPLE_ENDS && s.border || y < TZ_TOP_ROWS || y + TZ_BOTTOM_ROWS >= a.ny)
            tz_steps<true, true>(a, s, w, q, y);
        else if (TZ_SIMPLE_ENDS && TZ_END_STRIPS && s.border)
            tz_steps<true, false>(a, s, w, q, y);
        else
            tz_steps<false, false>(a, s, w, q, y);
#if !TZ_DIRECT
    tz_fetch_wait<0>();
#endif
}
