/* kernels/cuda: the kernel of the resident family. Included after the passes.
 *
 * Lists besides those of common.cuh:
 *
 *   TZ_SHARED_LIST(D)    all fields: D(role, name, type, index, bytes) with the bytes of shared
 *                        memory that the field takes
 *   TZ_VIEW_p(D)         all fields as pass p reads them: D(role, name, type, index, publications,
 *                        before). A written field has two buffers in shared memory by turns:
 *                        `publications` times an iteration it takes the next, `before` times before
 *                        this pass. 0 and 0: it has one.
 *   TZ_PUBLISH_p(D)      the same for fields that are written to shared memory right before pass p
 *   TZ_PUBLISH_ONCE(D)   the same for fields that never change
 *   TZ_EXCHANGE_g(D)     the fields of group g that blocks exchange: D(name, type, word), `word`
 *                        being the first of the TZ_SENT words of a cell
 *   TZ_EXCHANGE_LIST(D)  those of all groups
 *   TZ_EXCHANGES(G)      all groups: G(TZ_EXCHANGE_0) G(TZ_EXCHANGE_1) and so on */

// clang-format off
/* ---- Fields ---------------------------------------------------------------------------------- */

/* The buffer of a field in iteration first + odd. */
#define TZ__BUFFER(name, publications, before)                                                     \
    (name##_at + ((odd * publications + before) & 1) * (TZ_CELLS * TZ_PITCH))

#define TZ__LOAD(role, name, type, index, bytes)                                                   \
    tz_brick<type> name##_own;                                                                     \
    TZ__IF_STATE(role, TZ__LOAD_BRICK(role, name, type, index, bytes))                             \
    TZ__IF_STATIC(role, TZ__LOAD_BRICK(role, name, type, index, bytes))                            \
    TZ__IF_STREAMED(role, tz_brick<int> name##_next;                                               \
                    tz_load_row(a, tile, (const int *)a.in[index], name##_next);)
#define TZ__LOAD_BRICK(role, name, type, index, bytes)                                             \
    TZ__EDGE(role, name, type, index)                                                              \
    type *name##_at = (type *)shared + thread;                                                     \
    shared += bytes;                                                                               \
    if (live)                                                                                      \
        tz_load_brick(a, tile, (const TZ__MEMORY(name) *)a.in[index], name##_edge, name##_at,      \
                      name##_own);

#define TZ__PUBLISH(role, name, type, index, publications, before)                                 \
    tz_publish(TZ__BUFFER(name, publications, before), name##_own);

/* Takes the row of iteration t and starts to load the next row. */
#define TZ__NEXT_ROW(role, name, type, index)                                                      \
    TZ__IF_STREAMED(role, name##_own = name##_next; if (t + 1 < a.height)                          \
        tz_load_row(a, tile, (const int *)a.in[index] + (long long)a.pitch * (t + 1),              \
                    name##_next);)

/* ---- Exchanges: as resident_exchange.cuh says ------------------------------------------------ */

#define TZ__SEND_BRICKS()                                                                          \
    if (tz_sends(tile)) {                                                                          \
        const tz_tile here = tz_tile_hidden(tile);                                                 \
        const tz_slot_row row = tz_slot_row_of(here, tz_slots(a, tag), false);                     \
        TZ_EACH_CELL                                                                               \
        {                                                                                          \
            TZ_EXCHANGE_LIST(TZ__SEND)                                                             \
        }                                                                                          \
    }
#define TZ__SEND(name, type, word)                                                                 \
    tz_send_value(here, row, tag, word, i, j, k, name##_own.v[k][j][i]);

/* A group of fields. */
#define TZ__RECEIVE(GROUP)                                                                         \
    if (tz_receives(tile)) {                                                                       \
        TZ_UNROLL                                                                                  \
        for (int batch = 0; batch < TZ_CELLS; batch += TZ_BATCH) {                                 \
            const tz_tile here = tz_tile_hidden(tile);                                             \
            const tz_slot_row row = tz_slot_row_of(here, tz_slots(a, tag), true);                  \
            if (!tz_any_foreign(here, batch))                                                      \
                continue;                                                                          \
            GROUP(TZ__EXPECT)                                                                      \
            TZ__WAIT(GROUP, TZ__READ, TZ__LATE)                                                    \
            GROUP(TZ__ACCEPT)                                                                      \
        }                                                                                          \
    }
#define TZ__WAIT(GROUP, READ, LATE)                                                                \
    for (;;) {                                                                                     \
        unsigned int late = 0;                                                                     \
        GROUP(READ)                                                                                \
        GROUP(LATE)                                                                                \
        if (late == 0)                                                                             \
            break;                                                                                 \
        tz_pause();                                                                                \
    }
#define TZ__EXPECT(name, type, word)                                                               \
    tz_batch<type> name##_batch;                                                                   \
    tz_expect(here, tag, batch, name##_own, name##_batch);
#define TZ__READ(name, type, word) tz_read_slots(here, row, tag, word, batch, name##_batch);
#define TZ__LATE(name, type, word) late |= tz_late(tag, batch, name##_batch);
#define TZ__ACCEPT(name, type, word)                                                               \
    tz_accept(a, tile, here, name##_edge, batch, name##_batch, name##_own);

#define TZ__GATHER(GROUP)                                                                          \
    {                                                                                              \
        const tz_ring ring = tz_ring_of();                                                         \
        _Pragma("unroll 1")                                                                        \
        for (int request = tz_thread() / 32; request < ring.requests;                              \
             request += TZ_GATHER * (TZ_THREADS / 32)) {                                           \
            tz_ghost ghost[TZ_GATHER];                                                             \
            TZ_UNROLL                                                                              \
            for (int n = 0; n < TZ_GATHER; n++)                                                    \
                ghost[n] = tz_ghost_of(ring, request + n * (TZ_THREADS / 32));                     \
            GROUP(TZ__EXPECT_GHOSTS)                                                               \
            TZ__WAIT(GROUP, TZ__READ_GHOSTS, TZ__LATE_GHOSTS)                                      \
            GROUP(TZ__PUT_GHOSTS)                                                                  \
        }                                                                                          \
    }
#define TZ__EXPECT_GHOSTS(name, type, word)                                                        \
    tz_gathered<type> name##_gathered;                                                             \
    tz_expect_ghosts(ghost, tag, name##_gathered);
#define TZ__READ_GHOSTS(name, type, word)                                                          \
    tz_read_ghosts(ghost, tz_slots(a, tag), tag, word, name##_gathered);
#define TZ__LATE_GHOSTS(name, type, word) late |= tz_late_ghosts(tag, name##_gathered);
#define TZ__PUT_GHOSTS(name, type, word)                                                           \
    tz_put_ghosts(ghost, name##_gathered, name##_at - thread);

#define TZ__TAKE_BRICKS()                                                                          \
    {                                                                                              \
        const tz_tile here = tz_tile_hidden(tile);                                                 \
        TZ_EACH_CELL                                                                               \
        if (tz_is_gathered(here, i, j, k)) {                                                       \
            TZ_EXCHANGE_LIST(TZ__TAKE)                                                             \
        }                                                                                          \
    }
#define TZ__TAKE(name, type, word)                                                                 \
    tz_take_ghost(a, tile, name##_edge, name##_at, i, j, k, name##_own);

#define TZ__STORE(role, name, type, index)                                                         \
    tz_store_brick(a, tile, (TZ__MEMORY(name) *)a.out[index], name##_own);

/* ---- Passes ---------------------------------------------------------------------------------- */

#define TZ__CONTEXT_PLACE(name, publications, before)                                              \
    c.name##_edge = name##_edge;                                                                   \
    c.name##_at = TZ__BUFFER(name, publications, before);
#define TZ__CONTEXT_ENTRY(role, name, type, index, publications, before)                           \
    c.name = name##_own;                                                                           \
    TZ__IF_STATE(role, TZ__CONTEXT_PLACE(name, publications, before))                              \
    TZ__IF_STATIC(role, TZ__CONTEXT_PLACE(name, publications, before))
#define TZ__ONCE_ENTRY(role, name, type, index, publications, before)                              \
    TZ__IF_STATIC(role, c.name = name##_own;)                                                      \
    TZ__IF_STATE(role, TZ__CONTEXT_PLACE(name, publications, before))                              \
    TZ__IF_STATIC(role, TZ__CONTEXT_PLACE(name, publications, before))

/* The values that a pass computes from static fields: once for all iterations, or at each
 * update. */
#if TZ_HELD
#define TZ__MAKE_ONCE(pass, cell, radius)                                                          \
    pass_##pass::once_##cell once_##pass[TZ_VZ][TZ_VY][TZ_VX];                                     \
    {                                                                                              \
        const int odd = 0;                                                                         \
        pass_##pass::context_##cell c;                                                             \
        TZ_VIEW_##pass(TZ__ONCE_ENTRY)                                                             \
        TZ__CONTEXT_CONSTANTS(0)                                                                   \
        TZ_EACH_CELL                                                                               \
        once_##pass[k][j][i] =                                                                     \
            pass_##pass::make_once_##cell(c, tile, tz_place_of(a, tile, i, j, k));                 \
        (void)odd;                                                                                 \
    }
#define TZ__ONCE_OF(pass, cell) once_##pass[k][j][i]
#else
#define TZ__MAKE_ONCE(pass, cell, radius)
#define TZ__ONCE_OF(pass, cell) pass_##pass::make_once_##cell(c, tile, at)
#endif

/* A single buffer is written again when all threads have read it. */
#if TZ_BUFFERS == 1
#define TZ__REUSE_BUFFER(pass)                                                                     \
    if (pass > 0 || t > 0)                                                                         \
        tz_barrier();
#else
#define TZ__REUSE_BUFFER(pass)
#endif

/* Values as memory has them. */
#define TZ__REPLACE(role, name, type, index)                                                       \
    name##_own = c.name##_out;                                                                     \
    tz_round_brick<TZ__MEMORY(name)>(name##_own);                                                  \
    tz_mask_brick(tile, name##_edge, name##_own);

/* Iteration t of a pass. Threads without a brick also compute, but nothing reads their results. */
#define TZ__RUN_PASS(pass, cell, radius)                                                           \
    TZ__REUSE_BUFFER(pass)                                                                         \
    if (live) {                                                                                    \
        TZ_PUBLISH_##pass(TZ__PUBLISH)                                                             \
    }                                                                                              \
    tz_barrier();                                                                                  \
    {                                                                                              \
        pass_##pass::context_##cell c;                                                             \
        TZ_VIEW_##pass(TZ__CONTEXT_ENTRY)                                                          \
        TZ__CONTEXT_CONSTANTS(t)                                                                   \
        TZ_EACH_CELL                                                                               \
        {                                                                                          \
            tz_place at = tz_place_of(a, tile, i, j, k);                                           \
            at.step = a.step + t;                                                                  \
            pass_##pass::update_##cell(c, tile, at, TZ__ONCE_OF(pass, cell));                      \
        }                                                                                          \
        TZ_WRITES_##pass(TZ__REPLACE)                                                              \
    }
// clang-format on

/* ---- The kernel ------------------------------------------------------------------------------ */

TZ_KERNEL(tz_stage, TZ_THREADS)(const tz_arguments a)
{
    const bool live = TZ_LIVE == TZ_THREADS || tz_thread() < TZ_LIVE;
    /* A thread without a brick reads what the last one with a brick reads, and writes nothing. */
    const int thread = live ? tz_thread() : TZ_LIVE - 1;
    const tz_tile tile = tz_tile_of(a, thread);
    unsigned char *shared = tz_shared();
    unsigned int tag = *tz_tag_of(a);
    TZ_SHARED_LIST(TZ__LOAD)
    if (live) {
        const int odd = 0;
        TZ_PUBLISH_ONCE(TZ__PUBLISH)
        (void)odd;
    }
    TZ_PASS_LIST(TZ__MAKE_ONCE)
    for (int begin = 0, end = 0; begin < a.height; begin = end) {
        end = TZ_SPLIT && begin + TZ_HEIGHT < a.height ? begin + TZ_HEIGHT : a.height;
        for (int first = begin; first < end; first += TZ_BUFFERS) {
#pragma unroll
            for (int odd = 0; odd < TZ_BUFFERS; odd++) {
                const int t = first + odd;
                if (t >= end)
                    break;
                TZ_FIELD_LIST(TZ__NEXT_ROW)
                TZ_PASS_LIST(TZ__RUN_PASS)
            }
        }
        if (end < a.height) {
            tag++;
            if (live) {
                TZ__SEND_BRICKS()
            }
            /* After this barrier, shared memory may be written again. It takes no time, since words
             * are in flight. */
            tz_barrier();
#if TZ_GATHER
            TZ_EXCHANGES(TZ__GATHER)
            tz_barrier();
            if (live) {
                TZ__TAKE_BRICKS()
            }
#else
            if (live) {
                TZ_EXCHANGES(TZ__RECEIVE)
            }
#endif
        }
    }
    if (live) {
        TZ_WRITTEN_LIST(TZ__STORE)
    }
    /* Threads of other warps may still read the block's tag. */
    tz_barrier();
    if (tz_thread() == 0)
        *tz_tag_of(a) = tag;
}
