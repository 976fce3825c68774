/* kernels/cuda: how blocks of the resident family hand each other the cells that both hold.
 * Included by resident.cuh.
 *
 * Every word of the grid has a slot of 8 bytes in memory, which stays in the second-level cache:
 * the word and the number of the exchange, its tag. The owner of a cell stores both at once, and
 * the other blocks read the slot until it has the tag.
 *
 * A thread receives the ghost cells of its own brick, TZ_BATCH at once, and of these the words of a
 * group of fields. Each batch, and each group, is another way to the second-level cache and back:
 * most stencils have one group. Of large bricks few threads have ghost cells, but these have many.
 * There all threads of the block gather the ghost cells in shared memory, TZ_GATHER each at once,
 * and then take those of their own bricks from there. */

/* The slots of a row and of the grid, for one word of each cell. */
#define TZ_SLOTS_APART ((TZ_GRID_X + TZ_VX - 1) / TZ_VX)
#define TZ_SLOTS_ROW (TZ_VX * TZ_SLOTS_APART)
#define TZ_SLOTS (TZ_SLOTS_ROW * TZ_GRID_Y * TZ_GRID_Z)

/* In scratch: each block's last tag, then two sets of slots for all words of the grid. Two are
 * enough: a block is at most one exchange ahead of its neighbours. */
#define TZ_TAGS 256
TZ_DEVICE unsigned int *tz_tag_of(const tz_arguments &a)
{
    const int block = (tz_block(2) * TZ_BLOCKS_Y + tz_block(1)) * TZ_BLOCKS_X + tz_block(0);
    return (unsigned int *)a.scratch + block;
}
/* Those of the first of the TZ_SENT words of a cell. The slot of the next word is TZ_SLOTS
 * further. */
TZ_DEVICE unsigned long long *tz_slots(const tz_arguments &a, unsigned int tag)
{
    const long long set = (long long)(tag & 1u) * TZ_SENT;
    return (unsigned long long *)((unsigned int *)a.scratch + TZ_TAGS) + set * TZ_SLOTS;
}

template <class T> union tz_words {
    T value;
    unsigned int word[sizeof(T) / 4];
};

/* The slot of column x in those of its row. Adjacent lanes have columns TZ_VX apart, so these have
 * adjacent slots: a warp sends and receives runs of bytes. */
TZ_DEVICE int tz_slot_of_column(int x)
{
    return (int)((unsigned int)x % TZ_VX * TZ_SLOTS_APART + (unsigned int)x / TZ_VX);
}
/* The slots of the first row of a brick. `foreign`: of cells that other blocks own, which may lie
 * beyond an end of an axis that wraps. */
struct tz_slot_row {
    unsigned long long *of[TZ_VX];
};
TZ_DEVICE tz_slot_row tz_slot_row_of(const tz_tile &t, unsigned long long *slots, bool foreign)
{
    tz_slot_row row;
    slots += (t.z.first * TZ_GRID_Y + t.y.first) * TZ_SLOTS_ROW;
#pragma unroll
    for (int i = 0; i < TZ_VX; i++)
        row.of[i] = slots + tz_slot_of_column(tz_inside(t.x.first + i, TZ_GRID_X,
                                                        foreign && TZ_WRAPS_X && TZ_BLOCKS_X > 1));
    return row;
}
/* From the slot in the first row to that of row j of plane k: in most cases a constant. */
TZ_DEVICE int tz_slot_distance(const tz_tile &t, int j, int k, bool foreign)
{
    int rows = k * TZ_GRID_Y + j;
    if (foreign && TZ_WRAPS_Y && TZ_BLOCKS_Y > 1)
        rows += tz_inside(t.y.first + j, TZ_GRID_Y, true) - (t.y.first + j);
    if (foreign && TZ_WRAPS_Z && TZ_BLOCKS_Z > 1)
        rows += (tz_inside(t.z.first + k, TZ_GRID_Z, true) - (t.z.first + k)) * TZ_GRID_Y;
    return rows * TZ_SLOTS_ROW;
}

/* ---- Sending --------------------------------------------------------------------------------- */

TZ_DEVICE bool tz_sends(const tz_tile &t)
{
    return (t.x.wanted | t.y.wanted | t.z.wanted) != 0;
}

/* Sends a value of cell (i, j, k): word number `word` of the cell and, if it has more words, those
 * after it. Bricks with masks send without branches, which would take longer than the words
 * themselves: neighbours wait for the last one. For small bricks the compiler itself makes none. */
template <class T>
TZ_DEVICE void tz_send_value(const tz_tile &here, const tz_slot_row &row, unsigned int tag,
                             int word, int i, int j, int k, T value)
{
    const bool wanted = tz_is_wanted(here, i, j, k);
    tz_words<T> parts;
    parts.value = value;
#pragma unroll
    for (int w = 0; w < (int)sizeof(T) / 4; w++) {
        unsigned long long *slot =
            row.of[i] + ((word + w) * TZ_SLOTS + tz_slot_distance(here, j, k, false));
        if (TZ_MASKED)
            tz_send_where(wanted, slot, parts.word[w], tag);
        else if (wanted)
            tz_send(slot, parts.word[w], tag);
    }
}

/* ---- Receiving ------------------------------------------------------------------------------- */

/* The slots of a field in a batch of cells, as they were read last. */
template <class T> struct tz_batch {
    unsigned long long raw[TZ_BATCH][sizeof(T) / 4];
};
/* Does the thread receive a cell of the batch that begins with cell `first` of its brick? */
TZ_DEVICE bool tz_any_foreign(const tz_tile &here, int first)
{
    bool any = false;
#pragma unroll
    for (int n = 0; n < TZ_BATCH; n++) {
        const int q = first + n;
        any = any || (q < TZ_CELLS &&
                      tz_is_foreign(here, q % TZ_VX, q / TZ_VX % TZ_VY, q / (TZ_VX * TZ_VY)));
    }
    return any;
}
TZ_DEVICE bool tz_receives(const tz_tile &t)
{
    return (t.x.foreign | t.y.foreign | t.z.foreign) != 0;
}

/* Before the slots are read: own cells count as arrived. */
template <class T>
TZ_DEVICE void tz_expect(const tz_tile &here, unsigned int tag, int first, const tz_brick<T> &own,
                         tz_batch<T> &batch)
{
#pragma unroll
    for (int n = 0; n < TZ_BATCH; n++) {
        const int q = first + n;
        if (q >= TZ_CELLS)
            continue;
        const int i = q % TZ_VX, j = q / TZ_VX % TZ_VY, k = q / (TZ_VX * TZ_VY);
        const unsigned int has = tz_is_foreign(here, i, j, k) ? ~tag : tag;
        tz_words<T> parts;
        parts.value = own.v[k][j][i];
#pragma unroll
        for (int w = 0; w < (int)sizeof(T) / 4; w++)
            batch.raw[n][w] = (unsigned long long)has << 32 | parts.word[w];
    }
}

/* Reads the slots that have not arrived. All those of a group of fields are read before one is
 * used: else the compiler would read them one after the other. `word`: number of the field's first
 * word. */
template <class T>
TZ_DEVICE void tz_read_slots(const tz_tile &here, const tz_slot_row &row, unsigned int tag,
                             int word, int first, tz_batch<T> &batch)
{
#pragma unroll
    for (int n = 0; n < TZ_BATCH; n++) {
        const int q = first + n;
        if (q >= TZ_CELLS)
            continue;
        const int i = q % TZ_VX, j = q / TZ_VX % TZ_VY, k = q / (TZ_VX * TZ_VY);
        const unsigned long long *slot = row.of[i] + tz_slot_distance(here, j, k, true);
#pragma unroll
        for (int w = 0; w < (int)sizeof(T) / 4; w++)
            tz_peek(slot + (word + w) * TZ_SLOTS, tag, batch.raw[n][w]);
    }
}

/* Not 0: some word has not arrived. */
template <class T>
TZ_DEVICE unsigned int tz_late(unsigned int tag, int first, const tz_batch<T> &batch)
{
    unsigned int late = 0;
#pragma unroll
    for (int n = 0; n < TZ_BATCH; n++)
#pragma unroll
        for (int w = 0; w < (int)sizeof(T) / 4; w++)
            if (first + n < TZ_CELLS)
                late |= (unsigned int)(batch.raw[n][w] >> 32) ^ tag;
    return late;
}

template <class T>
TZ_DEVICE void tz_accept(const tz_arguments &a, const tz_tile &t, const tz_tile &here,
                         const tz_edges<T> &edge, int first, const tz_batch<T> &batch,
                         tz_brick<T> &own)
{
#pragma unroll
    for (int n = 0; n < TZ_BATCH; n++) {
        const int q = first + n;
        if (q >= TZ_CELLS)
            continue;
        const int i = q % TZ_VX, j = q / TZ_VX % TZ_VY, k = q / (TZ_VX * TZ_VY);
        tz_words<T> parts;
#pragma unroll
        for (int w = 0; w < (int)sizeof(T) / 4; w++)
            parts.word[w] = (unsigned int)batch.raw[n][w];
        T value = parts.value;
#if TZ_BITS_GRID
        const int x = t.x.first + i, turns = x < 0 ? -1 : x >= a.nx;
        if (tz_is_foreign(here, i, j, k))
            value = tz_wrapped(value, turns, edge);
#endif
        own.v[k][j][i] = value;
    }
}

/* ---- Gathering ------------------------------------------------------------------------------- */

#if TZ_GATHER
/* The cells of the tile along an axis that the block owns: `count` from `low` on. Those of the
 * ghost zone, `ghosts`, lie before and after them. */
struct tz_own {
    int begin; /* the tile's first coordinate in the grid */
    int low, count, ghosts;
};
TZ_DEVICE tz_own tz_own_of(int block, int blocks, int n, int extent, bool wraps)
{
    tz_own o;
    o.begin = tz_tile_begin(block, blocks, n, extent, wraps);
    o.low = tz_own_begin(block, blocks, n, extent, wraps) - o.begin;
    o.count =
        blocks == 1 ? extent : tz_own_begin(block + 1, blocks, n, extent, wraps) - o.begin - o.low;
    o.ghosts = blocks == 1 ? 0 : tz_needed(block, blocks, n, extent, wraps) - o.count;
    return o;
}
TZ_DEVICE int tz_ghost_at(const tz_own &o, int number)
{
    return number < o.low ? number : number + o.count;
}

/* The requests of the warps of a block, numbered: pieces of 32 columns of rows of ghost cells, then
 * the sides of the other rows, of several rows at once where they are narrow. Adjacent lanes have
 * columns TZ_VX apart, whose slots are adjacent. In 2-D and 1-D. */
#define TZ_PIECES ((TZ_VX * TZ_TX + 31) / 32)
struct tz_ring {
    tz_own x, y;
    int rows, requests;   /* numbers below these are of rows; all */
    int pieces, together; /* of a side's row; rows of a request */
    int column, row;      /* of the lane in a request of sides */
};
TZ_DEVICE tz_ring tz_ring_of()
{
    const int lane = tz_thread() % 32;
    tz_ring r;
    r.x = tz_own_of(tz_block(0), TZ_BLOCKS_X, TZ_GRID_X, TZ_VX * TZ_TX, TZ_WRAPS_X);
    r.y = tz_own_of(tz_block(1), TZ_BLOCKS_Y, TZ_GRID_Y, TZ_VY * TZ_TY, TZ_WRAPS_Y);
    r.rows = r.y.ghosts * TZ_PIECES;
    r.pieces = (r.x.ghosts + 31) / 32;
    r.together = r.pieces == 1 ? 32 / r.x.ghosts : 1;
    r.row = r.pieces == 1 ? lane / r.x.ghosts : 0;
    r.column = lane - r.row * r.x.ghosts;
    r.requests = r.rows + (r.y.count + r.together - 1) / r.together * r.pieces;
    return r;
}

/* The cell of a lane in a request: its slot of the first word, and its element of shared memory
 * from that of thread 0. -1: none. */
struct tz_ghost {
    int slot, element;
};
TZ_DEVICE tz_ghost tz_ghost_of(const tz_ring &r, int request)
{
    tz_ghost g;
    int x, y;
    g.slot = g.element = -1;
    if (request < r.rows) {
        const int at = request % TZ_PIECES * 32 + tz_thread() % 32;
        if (at >= TZ_VX * TZ_TX)
            return g;
        x = at % TZ_TX * TZ_VX + at / TZ_TX;
        y = tz_ghost_at(r.y, request / TZ_PIECES);
    } else {
        const int rest = request - r.rows, group = r.pieces > 1 ? rest / r.pieces : rest;
        const int column = (rest - group * r.pieces) * 32 + r.column;
        const int row = group * r.together + r.row;
        if (request >= r.requests || r.row >= r.together || column >= r.x.ghosts ||
            row >= r.y.count)
            return g;
        x = tz_ghost_at(r.x, column);
        y = r.y.low + row;
    }
    g.element = y / TZ_VY * TZ_TX + x / TZ_VX + (y % TZ_VY * TZ_VX + x % TZ_VX) * TZ_PITCH;
    x = tz_inside(r.x.begin + x, TZ_GRID_X, TZ_WRAPS_X && TZ_BLOCKS_X > 1);
    y = tz_inside(r.y.begin + y, TZ_GRID_Y, TZ_WRAPS_Y && TZ_BLOCKS_Y > 1);
    g.slot = y * TZ_SLOTS_ROW + tz_slot_of_column(x);
    return g;
}

/* The slots of a field in TZ_GATHER requests, as they were read last. */
template <class T> struct tz_gathered {
    unsigned long long raw[TZ_GATHER][sizeof(T) / 4];
};
template <class T>
TZ_DEVICE void tz_expect_ghosts(const tz_ghost (&ghost)[TZ_GATHER], unsigned int tag,
                                tz_gathered<T> &g)
{
#pragma unroll
    for (int n = 0; n < TZ_GATHER; n++)
#pragma unroll
        for (int w = 0; w < (int)sizeof(T) / 4; w++)
            g.raw[n][w] = (unsigned long long)(ghost[n].element < 0 ? tag : ~tag) << 32;
}
/* As tz_read_slots(). */
template <class T>
TZ_DEVICE void tz_read_ghosts(const tz_ghost (&ghost)[TZ_GATHER], const unsigned long long *slots,
                              unsigned int tag, int word, tz_gathered<T> &g)
{
#pragma unroll
    for (int n = 0; n < TZ_GATHER; n++)
#pragma unroll
        for (int w = 0; w < (int)sizeof(T) / 4; w++)
            tz_peek(slots + ghost[n].slot + (word + w) * TZ_SLOTS, tag, g.raw[n][w]);
}
template <class T> TZ_DEVICE unsigned int tz_late_ghosts(unsigned int tag, const tz_gathered<T> &g)
{
    unsigned int late = 0;
#pragma unroll
    for (int n = 0; n < TZ_GATHER; n++)
#pragma unroll
        for (int w = 0; w < (int)sizeof(T) / 4; w++)
            late |= (unsigned int)(g.raw[n][w] >> 32) ^ tag;
    return late;
}
/* `of_first`: element 0 of thread 0 in shared memory. */
template <class T>
TZ_DEVICE void tz_put_ghosts(const tz_ghost (&ghost)[TZ_GATHER], const tz_gathered<T> &g,
                             T *of_first)
{
#pragma unroll
    for (int n = 0; n < TZ_GATHER; n++) {
        tz_words<T> parts;
#pragma unroll
        for (int w = 0; w < (int)sizeof(T) / 4; w++)
            parts.word[w] = (unsigned int)g.raw[n][w];
        if (ghost[n].element >= 0)
            tz_put(of_first + ghost[n].element, parts.value);
    }
}

/* Does the thread take cell (i, j, k) of its brick from what was gathered? Nobody gathers rows of
 * the surplus. */
TZ_DEVICE bool tz_is_gathered(const tz_tile &here, int i, int j, int k)
{
#if TZ_MASKED
    return tz_is_foreign(here, i, j, k);
#else
    const unsigned int surplus = tz_surplus_along(here.y);
    return tz_of_line(tz_foreign_line(here, i, j, k) & ~tz_line(0, surplus, 0, i, j, k), i, j) != 0;
#endif
}
/* `at`: the thread's element 0. */
template <class T>
TZ_DEVICE void tz_take_ghost(const tz_arguments &a, const tz_tile &t, const tz_edges<T> &edge,
                             const T *at, int i, int j, int k, tz_brick<T> &own)
{
    T value = tz_get(at + ((k * TZ_VY + j) * TZ_VX + i) * TZ_PITCH);
#if TZ_BITS_GRID
    const int x = t.x.first + i;
    value = tz_wrapped(value, x < 0 ? -1 : x >= a.nx, edge);
#endif
    own.v[k][j][i] = value;
}
#endif
