/* kernels/cuda: the direct family: one pass of an iteration, for every stencil. A lane computes one
 * cell after the other along the last axis, and each cell loads its neighbours from device memory,
 * through the caches. The text is plain, so that it is compiled soon.
 *
 * Two instances of a pass (BORDER). Warps that read inside the grid alone run the one without
 * tests of coordinates, whose divisions are quick (tz_divide()). The other one replaces coordinates
 * outside the grid by those of the boundary, per axis. It also computes again what the quick
 * divisions may have got wrong.
 *
 * Defined by C, besides what common.cuh lists:
 *
 *   tz_index                         int or long long: the place of an element in a field
 *   TZ_THREADS, TZ_BLOCKS            threads of a block; blocks of a multiprocessor
 *   TZ_WIDE                          threads of a block along x
 *   TZ_CELLS                         cells of a lane's step, along the last axis
 *   TZ_CALLS                         1: at the border each read calls a function, which is slower
 *                                    and compiled sooner
 *   TZ_SHORT                         1: an axis is not longer than it is read past its sides
 *   TZ_BELOW_x, TZ_ABOVE_x           how far passes read to both sides of axis x, y, z
 *   TZ_LAUNCH_LIST(D)                passes that are launched: D(pass, cell, radius). If it has one
 *                                    of two, that one computes the other as well
 *                                    (direct_fused.cuh)
 *   TZ_STORES_p(D)                   fields that such a pass stores: D(role, name, type, index) */
#include "read.cuh"

struct tz_place {
    int x, y, z;
    tz_index at; /* in a field */
    long long step;
};

template <bool BORDER, class T>
TZ_DEVICE T tz_read(const tz_arguments &a, const tz_place &p, const T *field,
                    const tz_edges<T> &edge, int dx, int dy, int dz)
{
    const tz_index plane = TZ_DIMS > 2 ? (tz_index)a.plane : 0;
    if (BORDER)
        return tz_read_border<T>(a, field, edge, p.x + dx, p.y + dy, p.z + dz);
    return tz_load_one(field + (p.at + dx + (tz_index)a.pitch * dy + plane * dz));
}

#define TZ__CONTEXT_ENTRY(role, name, type, index)                                                 \
    c.name = (const type *)a.in[index];                                                            \
    c.name##_edge = tz_edges_of<type>(a, index);
/* All members of the context `c`. */
#define TZ__FILL_CONTEXT                                                                           \
    c.arguments = &a;                                                                              \
    c.tz_doubt = {0.0f, 0.0f, false, 0u};                                                          \
    TZ_FIELD_LIST(TZ__CONTEXT_ENTRY)                                                               \
    TZ__CONTEXT_CONSTANTS(0)

/* ---- Division -------------------------------------------------------------------------------- */

/* What the quick divisions of a cell have met. If it is not what they are for, the cell must be
 * computed again (tz_is_doubtful()). */
struct tz_doubts {
    float excess; /* finite as long as all quotients are */
    float last;   /* a quotient that is not in `excess` yet, if there is `one` */
    bool one;
    tz_word size; /* the largest `size` of a dividend */
};
enum : tz_word { TZ_LEAST_A = (127u - 80u) << 24, TZ_LEAST_B = (127u - 40u) << 24 };

TZ_DEVICE bool tz_is_doubtful(const tz_doubts &doubts)
{
    const float all = doubts.one ? doubts.excess + doubts.last : doubts.excess;
    return doubts.size > ~0u - TZ_LEAST_A || !(tz_abs_single(all) < tz__single(0x7f800000u));
}

/* The compiler's text of a division is long, and has branches. */
template <class T> TZ_OUTLINE T tz_divide_plainly(T a, T b)
{
    return a / b;
}

/* a / b, correctly rounded, by the operations that the compiler uses, without its branches and
 * with one reciprocal for all quotients by b. For 2^-40 <= |b| < 2^40 and |a| >= 2^-80, if the
 * quotient is finite; also for a = 0 and b > 0: since the remainder is rounded down, it is -0 then,
 * which leaves a zero its sign. */
template <bool BORDER> TZ_DEVICE float tz_divide(tz_doubts &doubts, float a, float b)
{
    if (BORDER)
        return tz_divide_plainly(a, b);
    /* Twice the bits: no signs. Counted from TZ_LEAST_A upwards, zero comes last. */
    const tz_word from = (tz__bits_single(b) >> 31) - 1u - TZ_LEAST_A;
    const tz_word size = (tz__bits_single(a) << 1) + from;
    const bool usual = (tz__bits_single(b) << 1) - TZ_LEAST_B < 80u << 24;
    const float rough = tz_reciprocal_roughly(b);
    const float near = TZ__FMA_SINGLE(rough, TZ__FMA_SINGLE(-b, rough, 1.0f), rough);
    const float inverse = usual ? near : TZ__NAN_SINGLE;
    const float first = a * inverse;
    const float quotient = TZ__FMA_SINGLE(tz_fma_down(-b, first, a), inverse, first);
    doubts.size = TZ_MAX(doubts.size, size);
    doubts.excess =
        doubts.one ? TZ__FMA_SINGLE(quotient, doubts.last, doubts.excess) : doubts.excess;
    doubts.last = quotient;
    doubts.one = !doubts.one;
    return quotient;
}

/* The compiler's text is slow for a = 0: another number takes its place, of which no quotient is
 * infinite. */
template <bool BORDER> TZ_DEVICE double tz_divide(tz_doubts &, double a, double b)
{
    if (BORDER)
        return tz_divide_plainly(a, b);
    const bool zero = a == 0.0;
    const double quotient = tz_choose(zero, 0x1p-60, a) / b;
    return zero ? a * quotient : quotient;
}

/* What passes have that compute an earlier pass, and do first (direct_fused.cuh). */
#define TZ__CONTEXT_EARLIER
#define TZ__MAKE_EARLIER(border, a, c, p)

/* ---- The language of cell updates ------------------------------------------------------------ */

#define TZ__CONTEXT_FIELD(name, type)                                                              \
    const type *name;                                                                              \
    tz_edges<type> name##_edge;                                                                    \
    type name##_new;
#define TZ_CELL_ONCE(cell, ONCE)                                                                   \
    TZ__CONTEXT(cell, const tz_arguments *arguments; tz_doubts tz_doubt; TZ__CONTEXT_EARLIER)      \
    TZ__CELL_UPDATE(cell, ONCE, context_##cell, tz_place, template <bool TZ__BORDER>, <TZ__BORDER>)
#define TZ__READ_state(f, dx, dy, dz)                                                              \
    tz_read<TZ__BORDER>(*tz_c.arguments, tz_p, tz_c.f, tz_c.f##_edge, (dx), (dy), (dz))
#define TZ__READ_static TZ__READ_state
#define TZ__READ_streamed(f, dx, dy, dz)                                                           \
    tz_load_one(tz_c.f + (TZ__BORDER ? tz_map_nearest(tz_p.x, tz_c.arguments->nx) : tz_p.x))
#define TZ__AT3(f, dx, dy, dz) TZ__CAT(TZ__READ_, TZ__CAT(TZ__KIND_, f))(f, dx, dy, dz)
#undef TZ_DIV
#define TZ_DIV(x, y) tz_divide<TZ__BORDER>(tz_c.tz_doubt, (real)(x), (real)(y))
#define TZ_PUT(f, value) (tz_c.f##_new = (value))
#define TZ_X TZ__WHOLE_X((tz_p.x))
#define TZ_Y TZ__WHOLE_Y((tz_p.y))
#define TZ_Z TZ__WHOLE_Z((tz_p.z))
#define TZ_STEP (tz_p.step)
