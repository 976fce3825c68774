/* kernels/cuda: the kernel of update.cuh. Included after the passes.
 *
 * a.scratch has the record and the sums, a.geometry[0] the segments of a group: 1, 2, 4, ... 32.
 * With TZ_SLAB only cells from a.geometry[1] to a.geometry[2] along the last axis count. A cell
 * where the field TZ_EXCLUDING, if that is defined, is not 0 changes by 0. a.out[f], if it is not
 * 0, gets new - old of each element of field f as a double, with the pitch of the fields. */

/* The rows that count, of all planes; of 1-D the elements. */
#ifdef TZ_SLAB
#define TZ_OWN_LOW(axis) (TZ_DIMS == (axis) ? a.geometry[1] : 0)
#define TZ_OWN(axis, extent) (TZ_DIMS == (axis) ? a.geometry[2] - a.geometry[1] : (extent))
#else
#define TZ_OWN_LOW(axis) 0
#define TZ_OWN(axis, extent) (extent)
#endif

/* Whether the residual leaves a cell out. TZ_EXCLUDING: the index of the field that says so. */
#ifdef TZ_EXCLUDING
TZ_DEVICE bool tz_is_excluded(const tz_arguments &a, long long at)
{
    return tz_load_one((const int *)a.in[TZ_EXCLUDING] + at) != 0;
}
#else
#define tz_is_excluded(a, at) false
#endif

/* Elements of a lane that are computed together. */
#define TZ_UPDATE_BATCH (TZ_DIMS < 3 ? 4 : 2)

// clang-format off
#define TZ__CONTEXT_ENTRY(role, name, type, index)                                                 \
    c.name = (const TZ__MEMORY(name) *)a.in[index];                                           \
    c.name##_edge = tz_edges_of<type>(a, index);

#define TZ__SUM(role, name, type, index) double name##_sum = 0.0;
/* The changes of the elements p, of which contexts c have the new values. */
#define TZ__ADD(role, name, type, index)                                                           \
    {                                                                                              \
        type old[N];                                                                               \
        TZ_UNROLL                                                                                  \
        for (int k = 0; k < N; k++)                                                                \
            old[k] = tz_read<false, type>(a, p[k], c[k].name, c[k].name##_edge, 0, 0, 0);          \
        TZ_UNROLL                                                                                  \
        for (int k = 0; k < N; k++)                                                                \
            c[k].name##_new =                                                                      \
                tz_is_excluded(a, p[k].x + offset) ? old[k] : c[k].name##_new;                     \
        TZ_UNROLL                                                                                  \
        for (int k = 0; k < N; k++)                                                                \
            name##_sum += tz_change_of(a, p[k], c[k].name##_new, old[k], tally);                   \
        if (a.out[index]) {                                                                        \
            TZ_UNROLL                                                                              \
            for (int k = 0; k < N; k++)                                                            \
                tz_store_one((double *)a.out[index] + p[k].x + offset,                             \
                             (double)c[k].name##_new - (double)old[k]);                            \
        }                                                                                          \
    }
#define TZ__TOTAL(role, name, type, index) total += tz_sum_lanes(name##_sum);

/* The elements i, i + 32, ... of this lane, `number` of them. Their loads come before the sums, so
 * that they wait for memory together. */
#define TZ__ELEMENTS(pass, cell, number, border)                                                   \
    {                                                                                              \
        enum { N = number };                                                                       \
        tz_place p[N];                                                                             \
        pass_##pass::context_##cell c[N];                                                          \
        TZ_UNROLL                                                                                  \
        for (int k = 0; k < N; k++) {                                                              \
            p[k] = first;                                                                          \
            p[k].x += i + 32 * k;                                                                  \
            c[k] = context;                                                                        \
            pass_##pass::update_##cell<border>(c[k], p[k]);                                        \
        }                                                                                          \
        TZ_WRITES_##pass(TZ__ADD)                                                                  \
        i += 32 * N;                                                                               \
    }

/* A segment of `count` elements from `first` on. */
#define TZ__SEGMENT_OF_PASS(pass, cell, radius)                                                    \
    {                                                                                              \
        pass_##pass::context_##cell context;                                                       \
        {                                                                                          \
            pass_##pass::context_##cell &c = context;                                              \
            c.arguments = &a;                                                                      \
            TZ_FIELD_LIST(TZ__CONTEXT_ENTRY)                                                       \
            TZ__CONTEXT_CONSTANTS(0)                                                               \
        }                                                                                          \
        TZ_WRITES_##pass(TZ__SUM)                                                                  \
        for (int i = lane; i < count;) {                                                           \
            const int low = first.x + i - lane, high = low + 32 * TZ_UPDATE_BATCH;                 \
            if (deep && low >= TZ_UPDATE_RADIUS && high <= limit &&                                \
                i - lane + 32 * TZ_UPDATE_BATCH <= count)                                          \
                TZ__ELEMENTS(pass, cell, TZ_UPDATE_BATCH, false)                                   \
            else                                                                                   \
                TZ__ELEMENTS(pass, cell, 1, true)                                                  \
        }                                                                                          \
        TZ_WRITES_##pass(TZ__TOTAL)                                                                \
    }
// clang-format on

/* The sum over a segment, in every lane. */
TZ_DEVICE double tz_segment(const tz_arguments &a, long long segment, tz_tally &tally)
{
    const int of_row = (TZ_OWN(1, a.nx) + TZ_SEGMENT - 1) / TZ_SEGMENT, lane = tz_lane();
    const long long line = segment / of_row;
    const long long row = line + TZ_OWN_LOW(2) + (long long)TZ_OWN_LOW(3) * a.ny;
    tz_place first;
    first.x = (int)(segment - line * of_row) * TZ_SEGMENT;
    first.z = (int)(row / a.ny);
    first.y = (int)(row - (long long)first.z * a.ny);
    const int left = TZ_OWN(1, a.nx) - first.x, count = left < TZ_SEGMENT ? left : TZ_SEGMENT;
    first.x += TZ_OWN_LOW(1);
    const long long offset = (long long)a.pitch * first.y + a.plane * first.z;
    /* Elements of this row between TZ_UPDATE_RADIUS and `limit` read only the grid. Words of bits
     * before the last row of columns that has a gap read their own bits. */
    const bool deep =
        (TZ_DIMS < 2 || (first.y >= TZ_UPDATE_RADIUS && first.y < a.ny - TZ_UPDATE_RADIUS)) &&
        (TZ_DIMS < 3 || (first.z >= TZ_UPDATE_RADIUS && first.z < a.nz - TZ_UPDATE_RADIUS));
    const int limit = (TZ_BITS_GRID ? a.columns - 31 * a.nx : a.nx) - TZ_UPDATE_RADIUS;
    double total = 0.0;
    (void)offset;
    TZ_PASS_LIST(TZ__SEGMENT_OF_PASS)
    return total;
}

TZ_KERNEL(tz_update, 256)(const TZ_UNCOPIED tz_arguments a)
{
    const int lane = tz_lane(), warps = tz_threads() / 32, group = a.geometry[0];
    const long long segments = (long long)((TZ_OWN(1, a.nx) + TZ_SEGMENT - 1) / TZ_SEGMENT) *
                               TZ_OWN(2, a.ny) * TZ_OWN(3, a.nz);
    const long long groups = (segments + group - 1) / group;
    tz_update_record *record = (tz_update_record *)a.scratch;
    double *sums = (double *)(record + 1);
    tz_tally tally = {0.0, 0.0};
    for (long long g = (long long)tz_block(0) * warps + tz_warp(); g < groups;
         g += (long long)tz_blocks(0) * warps) {
        const long long left = segments - g * group;
        const int count = left < group ? (int)left : group;
        double mine = 0.0; /* lane s: the sum of segment s */
        for (int s = 0; s < count; s++) {
            const double sum = tz_segment(a, g * group + s, tally);
            mine = lane == s ? sum : mine;
        }
        for (int n = 1; n < count; n *= 2)
            mine += tz_shuffle_down(mine, n); /* lanes without a segment have 0 */
        if (lane == 0)
            tz_store_one(sums + g, mine);
    }
    const long long largest = tz_min_lanes(-(long long)tz_bits_of(tally.largest));
    const long long magnitude = tz_min_lanes(-(long long)tz_bits_of(tally.magnitude));
    if (lane == 0 && magnitude < 0)
        tz_atomic_min_i64(&record->magnitude, magnitude);
    if (lane == 0 && largest < 0)
        tz_atomic_min_i64(&record->largest, largest);
}
