/* kernels/cuda: the kernel of the stream family in 3-D. Included after the passes.
 *
 * A level is a pass of an iteration; version n of a field is what it is after n passes that write
 * it (0: at the stage's start), described by struct v_NAME_n. Lists besides those of common.cuh,
 * where k is the number of a level, from 0:
 *
 *   TZ_RING_LIST(D)    versions in registers: D(name, type, version, planes)
 *   TZ_SUM_LIST(D)     levels that keep sums of planes: D(k, pass, cell, planes)
 *   TZ_SLOT_LIST(D)    rings of shared memory whose slots are variables: D(first, slots)
 *   TZ_LOADED_LIST(D)  fields whose planes are loaded and go to registers: D(name, type, index)
 *   TZ_CARRIED_LIST(D) the same of carried fields, which stay in shared memory
 *   TZ_LEVEL_LIST(AROUND, LEVEL)  what a step does, in order: AROUND(k, radius, waits) reads rows
 *                                 of other warps, after a barrier where `waits` is 1; LEVEL(k,
 *                                 pass, cell, iteration, lag, rest_low, rest_high, radius, sums)
 *                                 computes a plane, with sums of planes where `sums` is 1
 *   TZ_READS_k(D)      fields with neighbours: D(k, radius, name, type)
 *   TZ_CARRIES_k(D)    carried fields: D(k, name, type, version, age, place), the place being
 *                      shared, ring (registers), arrived (shared, and then the ring), or absent if
 *                      the level does not read the field
 *   TZ_AROUND_k(D)     rows of other warps that it reads, TZ_OWN_k(D) the lane's own: D(k, name,
 *                      version, age, j, columns, others, plane, row), see tz_near_row()
 *   TZ_CONTEXT_k(D)    all fields: D(role, name, type, index, k, out), `out` being where results go
 *   TZ_MAKES_k(D)      fields that it writes: D(name, type, index, version, lag, kept, shared,
 *                      last); flags, 0 or 1: the version stays in registers, its rows go to shared
 *                      memory, it is the stage's result */

#if TZ_POINTS
/* Points of plane z, which is plane `at` of the grid. */
template <class S, class T>
TZ_DEVICE void tz_plane_points(const tz_arguments &a, const tz_tile &tile, int index, int iteration,
                               int z, int at, T (&now)[TZ_ROWS][TZ_VECTOR])
{
    tz_each<TZ_ROWS>([&](int j) {
        const int y = TZ_WRAP_Y ? tz_map<TZ_LOW_Y>(tile.y + j, a.ny) : tile.y + j;
        const int row = tz_own_row(tile) + j;
        if (y < 0 || y >= a.ny)
            return;
        unsigned int own = 0;
        if (z >= tile.z_from && z < tile.z_to && row >= TZ_GHOST_LOW_Y &&
            row < TZ_TILE_ROWS - TZ_GHOST_HIGH_Y && tile.keeps && tile.y + j < a.ny)
            for (int e = 0; e < TZ_VECTOR; e++)
                own |= (tile.x + e < a.nx ? 1u : 0u) << e;
        tz_row_points<S>(a, index, iteration, y + a.ny * at, tile.x, own, now[j]);
    });
}
#endif

// clang-format off
/* ---- Level 0 -------------------------------------------------------------------------------- */

#define TZ__FETCH(name, type, index)                                                               \
    tz_fetch_plane<BORDER, v_##name##_0>(a, tile, plane, i, ahead, a.in[index], name##_edge);
#define TZ__ARRIVE(name, type, index)                                                              \
    {                                                                                              \
        type name##_next[TZ_ROWS][TZ_VECTOR];                                                      \
        tz_take_plane<BORDER, v_##name##_0>(a, tile, i, name##_next, name##_edge);                 \
        tz_ring_push(q.name##_0, name##_next);                                                     \
    }

/* ---- Input of a level ----------------------------------------------------------------------- */

#define TZ__NEAR(k, radius, name, type)                                                            \
    type name##_near_##k[2 * radius + 1][TZ_ROWS + 2 * radius][TZ_VECTOR + 2 * radius];            \
    tz_near_nothing(name##_near_##k);
#define TZ__NEAR_ROW(k, name, version, age, j, columns, others, plane, row)                        \
    tz_near_row<BORDER, v_##name##_##version, age, j, columns, others>(                            \
        a, tile, sources, name##_near_##k[plane][row], q.name##_##version, i, name##_edge);
/* The same of a carried field: the lane's own cells. */
#define TZ__CARRIED(k, name, type, version, age, place)                                            \
    type name##_near_##k[TZ_ROWS][TZ_VECTOR];
#define TZ__CARRY(k, name, type, version, age, place) TZ__CARRY_##place(k, name, type, version, age)
#define TZ__CARRY_ring(k, name, type, version, age)                                                \
    tz_carry_ring<v_##name##_##version, age>(tile, i, name##_near_##k, q.name##_##version);
#define TZ__CARRY_shared(k, name, type, version, age)                                              \
    tz_carry_shared<v_##name##_##version, age>(tile, i, name##_near_##k);
/* A plane that later levels read from registers. */
#define TZ__CARRY_arrived(k, name, type, version, age) TZ__CARRY_shared(k, name, type, version, age)
#define TZ__HOLD(k, name, type, version, age, place) TZ__HOLD_##place(k, name, version)
#define TZ__HOLD_arrived(k, name, version) tz_ring_push(q.name##_##version, name##_near_##k);
#define TZ__HOLD_ring(k, name, version)
#define TZ__HOLD_shared(k, name, version)
#define TZ__HOLD_absent(k, name, version)
#define TZ__CARRY_absent(k, name, type, version, age) tz_carry_nothing(name##_near_##k);
#define TZ__NEAR_NOTHING(k, radius, name, type) tz_near_nothing(name##_near_##k);
#define TZ__NEAR_EDGE(k, radius, name, type) tz_near_fill(name##_near_##k, name##_edge);

/* Reads rows of other warps. */
#define TZ__READ_AROUND(k, radius, waits)                                                          \
    TZ__IF(waits, tz_barrier();)                                                                   \
    TZ_READS_##k(TZ__NEAR)                                                                         \
    TZ_CARRIES_##k(TZ__CARRIED)                                                                    \
    TZ_AROUND_##k(TZ__NEAR_ROW)
/* Reads the other rows. After the reads of the last level, the warp is ready. */
#define TZ__READ_OWN(k)                                                                            \
    TZ_OWN_##k(TZ__NEAR_ROW)                                                                       \
    TZ_CARRIES_##k(TZ__CARRY)                                                                      \
    if constexpr (k == TZ_LEVELS - 1)                                                \
        tz_ready(tile);

/* ---- Output of a level ---------------------------------------------------------------------- */

#define TZ_EACH_ELEMENT                                                                            \
    TZ_UNROLL                                                                                      \
    for (int j = 0; j < TZ_ROWS; j++)                                                              \
        TZ_UNROLL                                                                                  \
        for (int e = 0; e < TZ_VECTOR; e++)

#define TZ__NEXT(name, type, index, version, lag, kept, shared, last)                              \
    type name##_next[TZ_ROWS][TZ_VECTOR];
#define TZ__CONTEXT_ENTRY(role, name, type, index, k, out)                                         \
    TZ__IF_STATE(role, c.name = name##_near_##k; c.name##_out = out;)                              \
    TZ__IF_CARRIED(role, c.name = name##_near_##k; c.name##_out = out;)                            \
    TZ__IF_STATIC(role, c.name = (const TZ__MEMORY(name) *)a.in[index];                            \
                  c.name##_edge = name##_edge;)

/* Makes the sums of the plane that is `radius` ahead of the plane that the level computes. The
 * update then reads only sums. */
#define TZ__MAKE_SUMS(k, pass, cell, iteration, rest_low, rest_high, radius)                       \
    pass_##pass::planes_##cell made[TZ_ROWS][TZ_VECTOR], made_edge = {};                           \
    TZ__READ_OWN(k)                                                                                \
    TZ_EACH_ELEMENT                                                                                \
    {                                                                                              \
        const tz_cell_place p = {e, j, tile.x + e, tile.y + j, z + radius, a.step + iteration};    \
        made[j][e] = pass_##pass::make_planes_##cell<BORDER>(c, p);                                \
    }                                                                                              \
    if (BORDER && TZ_FIXED_Z && tile.ends) {                                                       \
        TZ_READS_##k(TZ__NEAR_EDGE)                                                                \
        const tz_cell_place p = {0, 0, 0, 0, 0, 0};                                                \
        made_edge = pass_##pass::make_planes_##cell<BORDER>(c, p);                                 \
    }                                                                                              \
    tz_hold_planes<BORDER, v_sums_##k>(a, tile, z + radius, i, q.sums_##k, made, made_edge);       \
    tz_ring_push(q.sums_##k, made);                                                                \
    c.planes = q.sums_##k;                                                                         \
    TZ_READS_##k(TZ__NEAR_NOTHING)

/* The new values as memory has them. */
#define TZ__ROUND(name, type, index, version, lag, kept, shared, last)                             \
    tz_each<TZ_ROWS>([&](int j) { tz_round_values<TZ__MEMORY(name)>(name##_next[j]); });
/* Sets a result's columns outside the grid, and stores it to memory. */
#define TZ__FINISH(name, type, index, version, lag, kept, shared, last)                            \
    TZ__IF(kept, if constexpr (BORDER)                                                             \
        tz_hold_columns<v_##name##_##version>(a, tile, name##_next, name##_edge);)                 \
    TZ__IF(last, tz_store_plane<BORDER, TZ__MEMORY(name)>(a, tile, lag, a.out[index],              \
                                                          name##_next);)
/* Keeps a result for later levels. */
#define TZ__KEEP(name, type, index, version, lag, kept, shared, last)                              \
    TZ__IF(kept, TZ__KEEP_PLANE(name, version, shared))                                            \
    TZ__IF_NOT(kept, TZ__IF(shared, tz_leave_rows<BORDER, v_##name##_##version>(tile, i, 0,        \
                                                                                name##_next);))
#define TZ__KEEP_PLANE(name, version, shared)                                                      \
    tz_hold_planes<BORDER, v_##name##_##version>(a, tile, z, i, q.name##_##version, name##_next,   \
                                                 name##_edge);                                     \
    tz_ring_push(q.name##_##version, name##_next);                                                 \
    TZ__IF(shared, tz_leave_rows<BORDER, v_##name##_##version>(tile, i, 0, name##_next);)

#if TZ_POINTS
#define TZ__POINT(name, type, index, version, lag, kept, shared, last)                             \
    if constexpr (tz_is_due(tz_pass, index))                                                       \
        tz_plane_points<TZ__MEMORY(name)>(a, tile, index, tz_iteration, z, at, name##_next);
#define TZ__POINTS(k, pass, iteration)                                                             \
    {                                                                                              \
        enum { tz_pass = pass, tz_iteration = iteration };                                         \
        const int at = TZ_WRAP_Z ? tz_map<TZ_LOW_Z>(z, a.nz) : z;                                  \
        if (TZ_HAS_POINTS(a, at)) {                                                                \
            TZ_MAKES_##k(TZ__POINT)                                                                \
        }                                                                                          \
    }
#else
#define TZ__POINTS(k, pass, iteration)
#endif

#define TZ__RUN_LEVEL(k, pass, cell, iteration, lag, rest_low, rest_high, radius, sums)            \
    {                                                                                              \
        const int z = tile.z - lag;                                                                \
        TZ_MAKES_##k(TZ__NEXT)                                                                     \
        pass_##pass::context_##cell c;                                                             \
        c.arguments = &a;                                                                          \
        TZ_CONTEXT_##k(TZ__CONTEXT_ENTRY)                                                          \
        TZ__CONTEXT_CONSTANTS(iteration)                                                           \
        TZ__IF(sums, TZ__MAKE_SUMS(k, pass, cell, iteration, rest_low, rest_high, radius))         \
        TZ__IF_NOT(sums, TZ__READ_OWN(k))                                                          \
        TZ_EACH_ELEMENT                                                                            \
        {                                                                                          \
            const tz_cell_place p = {e, j, tile.x + e, tile.y + j, z, a.step + iteration};         \
            pass_##pass::update_##cell<BORDER>(c, p);                                              \
        }                                                                                          \
        TZ_MAKES_##k(TZ__ROUND)                                                                    \
        TZ__POINTS(k, pass, iteration)                                                             \
        TZ_MAKES_##k(TZ__FINISH)                                                                   \
        TZ_CARRIES_##k(TZ__HOLD)                                                                   \
        TZ_MAKES_##k(TZ__KEEP)                                                                     \
    }
// clang-format on

/* ---- A block's planes ------------------------------------------------------------------------ */

#define TZ__RING(name, type, version, planes) type name##_##version[planes][TZ_ROWS][TZ_VECTOR];
#define TZ__SUM_RING(k, pass, cell, planes)                                                        \
    pass_##pass::planes_##cell sums_##k[planes][TZ_ROWS][TZ_VECTOR];
#define TZ__START_RING(name, type, version, planes) tz_ring_start(q.name##_##version);
#define TZ__START_SUM_RING(k, pass, cell, planes) tz_ring_start(q.sums_##k);
#define TZ__ROTATE(first, slots) tz_rotate_slots<START, first, slots>(tile);

struct tz_planes {
    TZ_RING_LIST(TZ__RING)
    TZ_SUM_LIST(TZ__SUM_RING)

    TZ_DEVICE void start(tz_planes &q)
    {
        TZ_RING_LIST(TZ__START_RING)
        TZ_SUM_LIST(TZ__START_SUM_RING)
    }

    template <bool START> TZ_DEVICE void rotate(tz_tile &tile) { TZ_SLOT_LIST(TZ__ROTATE) }

    template <bool BORDER>
    TZ_DEVICE void fetch(const tz_arguments &a, const tz_tile &tile, int i, int ahead)
    {
        const tz_fetched plane = tz_fetched_of<BORDER>(a, tile, tile.z + ahead);
        TZ_FIELD_LIST(TZ__EDGE)
        TZ_LOADED_LIST(TZ__FETCH)
        TZ_CARRIED_LIST(TZ__FETCH)
    }

    template <bool BORDER>
    TZ_DEVICE void step(tz_planes &q, const tz_arguments &a, const tz_tile &tile, int i)
    {
        const tz_source_rows sources = tz_source_rows_of<BORDER>(tile);
        TZ_FIELD_LIST(TZ__EDGE)
        TZ_LOADED_LIST(TZ__ARRIVE)
        TZ_LEVEL_LIST(TZ__READ_AROUND, TZ__RUN_LEVEL)
    }
};

template <bool BORDER>
TZ_DEVICE void tz_step(tz_planes &run, const tz_arguments &a, tz_tile &tile, int i)
{
    if (TZ_ADJACENT) {
        tz_adjacent_wait(tz_adjacent_words(), tile.warp, tile.parity);
    } else {
        tz_fetch_wait<TZ_AHEAD - 1>();
        tz_barrier();
    }
    tz_planes::fetch<BORDER>(a, tile, i, TZ_AHEAD);
    tz_fetch_end();
    tz_planes::step<BORDER>(run, a, tile, i);
    tz_planes::rotate<false>(tile);
    tile.parity ^= 1;
    tile.z++;
    tile.at += a.plane;
}

template <bool BORDER> TZ_DEVICE void tz_group(tz_planes &run, const tz_arguments &a, tz_tile &tile)
{
#if TZ_ROLLED
#pragma unroll 1
#else
#pragma unroll
#endif
    for (int i = 0; i < TZ_GROUP; i++)
        tz_step<BORDER>(run, a, tile, i);
}

TZ_DEVICE void tz_rings_clear()
{
    const tz_word nothing[4] = {0, 0, 0, 0};
#pragma unroll 1
    for (int k = TZ_RINGS_FROM + 16 * tz_thread(); k < TZ_RINGS_TO; k += 16 * 32 * TZ_WARPS)
        tz_put_packet((tz_word *)(tz_shared() + k), nothing);
}

TZ_KERNEL_MANY(tz_stage, 32 * TZ_WARPS, TZ_BLOCKS)(const tz_arguments a)
{
    tz_planes run;
    tz_planes::start(run);
    tz_tile tile = tz_tile_here(a);
    tz_planes::rotate<true>(tile);
    tz_rings_clear();
    tz_tables_make(a, tile);
    if (TZ_ADJACENT)
        tz_adjacent_init(tz_adjacent_words(), TZ_WARPS);
    tz_barrier();
#pragma unroll
    for (int k = 0; k < TZ_AHEAD; k++) {
        tz_planes::fetch<true>(a, tile, 0, k);
        tz_fetch_end();
    }
    tz_ready(tile);
    const bool leaves = tz_tile_leaves(a, tile);
    const int steps = tile.z_to - tile.z_from + TZ_GHOST_LOW_Z + TZ_LAG;
    /* A loop for each instance, so that the compiler allocates registers separately. */
    for (int done = 0; done < steps;) {
        tile.ends = tz_group_leaves(a, tile);
        if (leaves || tile.ends) {
            tz_tile_place(a, tile);
            do {
                tz_group<true>(run, a, tile);
                done += TZ_GROUP;
                tile.ends = tz_group_leaves(a, tile);
            } while (done < steps && (leaves || tile.ends));
        } else {
            do {
                tz_group<false>(run, a, tile);
                done += TZ_GROUP;
            } while (done < steps && !tz_group_leaves(a, tile));
        }
    }
    tz_fetch_wait<0>();
}
