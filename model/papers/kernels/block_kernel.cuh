/* kernels/cuda: the kernel of the block family. Included after the pass. Lists besides those of
 * common.cuh, of state and static fields:
 *
 *   TZ_READ_LIST(D)   fields that the pass reads: D(name, type, index)
 *   TZ_TILED_LIST(D)  those with tiles
 *
 * and TZ_STEP_LIST(D), the steps of the loop: D(number). They are at least one more than the
 * longest queue has planes, as the next plane is loaded before the first one is dropped: so hardly
 * anything moves in registers. */

// clang-format off
#define TZ__QUEUE(name, type, index) type name##_queue[tz_f_##name::PLANES];
#define TZ__HALO(name, type, index) tz_halo<type> name##_halos[TZ_AHEAD];
#define TZ__START(name, type, index)                                                               \
    tz_start_queue<tz_f_##name>(a, p, sources, end, a.in[index], name##_edge, q.name##_queue);
#define TZ__START_TILES(name, type, index)                                                         \
    tz_start_tiles<tz_f_##name>(a, p, sources, end, a.in[index], name##_edge, q.name##_queue,      \
                                q.name##_halos);

#define TZ__PUT_TILE(name, type, index)                                                            \
    tz_put_tile<tz_f_##name>(p, TZ_TILES_HIGH, q.name##_queue, q.name##_halos[0]);
#define TZ__LOAD_NEXT(name, type, index)                                                           \
    const type name##_next = tz_own_element<tz_f_##name>(a, sources, a.in[index], name##_edge, z,  \
                                                         tz_f_##name::HIGH);
#define TZ__LOAD_HALO(name, type, index)                                                           \
    const tz_halo<type> name##_next_halo =                                                         \
        tz_load_halo<type>(a, sources, a.in[index], name##_edge, z, TZ_TILES_HIGH);
#define TZ__PUSH(name, type, index) tz_push(q.name##_queue, name##_next);
#define TZ__PUSH_HALO(name, type, index) tz_push(q.name##_halos, name##_next_halo);

#define TZ__CONTEXT_QUEUE(name, type, index) c.name = q.name##_queue;
#define TZ__CONTEXT_STREAMED(role, name, type, index)                                              \
    TZ__IF_STREAMED(role, c.name = (const type *)a.in[index];)
#define TZ__STORE(role, name, type, index) tz_store_one((type *)a.out[index] + to, c.name##_new);

/* Cells outside the grid are computed, too, but not stored. */
#define TZ__UPDATE(pass, cell, radius)                                                             \
    pass_##pass::context_##cell c;                                                                 \
    c.arguments = &a;                                                                              \
    TZ_READ_LIST(TZ__CONTEXT_QUEUE)                                                                \
    TZ_FIELD_LIST(TZ__CONTEXT_STREAMED)                                                            \
    TZ__CONTEXT_CONSTANTS(0)                                                                       \
    pass_##pass::update_##cell(c, p);                                                              \
    if (tz_is_wanted(a, p, end)) {                                                                 \
        const tz_index to = (tz_index)p.z * (tz_index)a.plane + p.y * a.pitch + p.x;               \
        TZ_WRITES_##pass(TZ__STORE)                                                                \
    }
// clang-format on

/* What a thread keeps from step to step of each field. */
struct tz_queues {
    TZ_READ_LIST(TZ__QUEUE)
    TZ_TILED_LIST(TZ__HALO)
};

/* One step; `at` is where it begins along the last axis. False: it was the last. */
TZ_DEVICE bool tz_step(const tz_arguments &a, tz_place &p, tz_sources &sources, tz_queues &q,
                       int &at, int end)
{
    const tz_place next = tz_place_next(p);
    const bool more = at + TZ_STRIDE < end;
    const int z = tz_plane_after(p, TZ_AHEAD, end); /* of the loads */
    TZ_FIELD_LIST(TZ__EDGE)
    TZ_TILED_LIST(TZ__PUT_TILE)
    if (TZ_DIMS < 3 && more)
        tz_find_sources(a, next, sources);
    TZ_READ_LIST(TZ__LOAD_NEXT)
    TZ_TILED_LIST(TZ__LOAD_HALO)
    if (TZ_TILED)
        tz_barrier();
    if (TZ_IN_TILE) {
        TZ_PASS_LIST(TZ__UPDATE)
    }
    TZ_READ_LIST(TZ__PUSH)
    TZ_TILED_LIST(TZ__PUSH_HALO)
    p = next;
    at += TZ_STRIDE;
    return more;
}

#define TZ__STEP(i)                                                                                \
    if (!tz_step(a, p, sources, q, at, end))                                                       \
        return;

TZ_KERNEL_MANY(tz_stage, TZ_THREADS, TZ_BLOCKS)(const TZ_UNCOPIED tz_arguments a)
{
    tz_place p;
    tz_sources sources;
    tz_queues q;
    int at, end;
    tz_place_here(a, p, at, end);
    tz_find_sources(a, p, sources);
    TZ_FIELD_LIST(TZ__EDGE)
    TZ_READ_LIST(TZ__START)
    TZ_TILED_LIST(TZ__START_TILES)
    for (;;) {
        TZ_STEP_LIST(TZ__STEP)
    }
}
