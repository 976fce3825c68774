/* kernels/cuda: the code that all kernel families share.
 *
 * How the text of a kernel is composed. For a plan, core/backend/cuda/family/FAMILY/text.c writes:
 *
 *   #define ...                    sizes, boundaries of the sides, precision: TZ_TILE_X, TZ_LOW_X,
 *                                  TZ_HIGH_X, real
 *   #define TZ_..._LIST(D)         lists: an entry D(...) a field, pass, constant
 *   #include "FAMILY.cuh"          functions; TZ_CELL, TZ_AT, TZ_PUT as this family has them
 *   namespace pass_0 { ... }       the plugin's text of each pass: context_CELL and update_CELL()
 *   #include "FAMILY_kernel.cuh"   the kernel, tz_stage()
 *
 * C writes numbers, types and lists; all code is in .cuh files. The families are stream, direct
 * and resident; the files of stream are line (1-D), rows (2-D) and planes (3-D). Only device.cuh
 * uses CUDA names, so that tests can run the same text on a host.
 *
 * Lists that every family has. A kernel expands a list with a macro that turns an entry into code,
 * as in TZ_FIELD_LIST(TZ__EDGE):
 *
 *   TZ_FIELD_LIST(D)     all fields: D(role, name, type, index); role: state, static, streamed
 *   TZ_WRITTEN_LIST(D)   the same of fields that the stage changes
 *   TZ_PASS_LIST(D)      passes of an iteration: D(pass, cell, radius)
 *   TZ_WRITES_p(D)       as TZ_FIELD_LIST, of fields that pass p writes
 *   TZ_CONSTANT_LIST(D)  constants of the cell updates: D(name, value); tz_t is the iteration
 *
 * Lists of one family are described in its _kernel.cuh. Macros that begin with TZ__ are internal:
 * plugins use those that begin with TZ_. */
#ifndef TZ_COMMON_CUH
#define TZ_COMMON_CUH

#include "device.cuh"
#include "numbers.cuh"
#include "stored.cuh"

#ifndef TZ_POINTS
#define TZ_POINTS 0
#endif
struct tz_point_list; /* point_lists.cuh */

struct tz_arguments {
    const void *in[TZ_FIELDS_COUNT]; /* a streamed field: the slab of the stage's first iteration */
    void *out[TZ_FIELDS_COUNT];
    /* Values past fixed sides, in the field's own bits: of each side, x low first, or one for
     * all. */
    unsigned long long edge[TZ_FIELDS_COUNT][TZ_EDGES];
    union {
        float f;
        double d;
        long long i;
    } constants[TZ_CONSTANTS_MAX];
#if TZ_VARYING > 0
    /* Constants that vary: TZ_VARYING of each iteration of the launch. */
    union {
        float f;
        double d;
        long long i;
    } varying[TZ_VARYING_SLOTS];
#endif
    void *scratch; /* the kernel's own memory, zero before its first launch */
    long long step;
    long long plane; /* elements from a plane to the next */
    int nx, ny, nz;  /* elements */
    int pitch;       /* elements from a row to the next; a multiple of 32 */
    int columns;     /* cells along x */
    int height;      /* iterations of this launch, at most TZ_HEIGHT */
    int geometry[6]; /* the family's own numbers */
#ifdef TZ_SLAB
    /* Along the last axis: cell 0 in the larger grid of which this is a slab, and that grid's
     * extent. */
    int whole_first, whole_extent;
    int low, high; /* elements along the last axis that this launch computes */
#endif
#if TZ_POINTS
    const tz_point_list *points; /* added ones of each field, then recorded ones */
    const void *point_values;    /* of the launch's first iteration */
    void *point_records;
    long long point_values_row, point_records_row; /* bytes to the next iteration */
    /* Rows (in 3-D planes) with points that are added, and that are recorded: low to low + span. */
    int points_low[2], points_span[2];
    int point_slot, point_unused;
#endif
};

/* The elements that a launch computes along the last axis, on which the grid has n: all, or of a
 * slab a span. What lies around the span is read from memory. */
#ifdef TZ_SLAB
#define TZ_SPAN_LOW(a) ((a).low)
#define TZ_SPAN_HIGH(a, n) ((a).high)
#define TZ_IN_SPAN(a, at, n) ((at) >= (a).low && (at) < (a).high)
#else
#define TZ_SPAN_LOW(a) 0
#define TZ_SPAN_HIGH(a, n) (n)
#define TZ_IN_SPAN(a, at, n) ((at) < (n)) /* of an element that is not before the grid */
#endif

/* One of two values. `first ? a[0] : a[1]` would select an address, which keeps the array in
 * memory. */
template <class T> TZ_DEVICE T tz_choose(bool first, T a, T b)
{
    T chosen = b;
    if (first)
        chosen = a;
    return chosen;
}

/* The rules of boundary kinds, as in core/stencil/boundary.h. */
#define TZ_REPEATS(kind) ((kind) == TZ_CLAMP)
#define TZ_WRAPS(kind) ((kind) == TZ_PERIODIC)
#define TZ_HAS_VALUE(kind) ((kind) == TZ_FIXED)
#define TZ_REFLECTS(kind) ((kind) == TZ_MIRROR)
/* Both sides of an axis wrap, or none. */
#define TZ_WRAP_X TZ_WRAPS(TZ_LOW_X)
#define TZ_WRAP_Y TZ_WRAPS(TZ_LOW_Y)
#define TZ_WRAP_Z TZ_WRAPS(TZ_LOW_Z)
/* Has the axis a side with a value? */
#define TZ_FIXED_X (TZ_HAS_VALUE(TZ_LOW_X) || TZ_HAS_VALUE(TZ_HIGH_X))
#define TZ_FIXED_Y (TZ_DIMS > 1 && (TZ_HAS_VALUE(TZ_LOW_Y) || TZ_HAS_VALUE(TZ_HIGH_Y)))
#define TZ_FIXED_Z (TZ_DIMS > 2 && (TZ_HAS_VALUE(TZ_LOW_Z) || TZ_HAS_VALUE(TZ_HIGH_Z)))

/* The values of a field past the fixed sides of the grid. */
#if TZ_EDGES == 1
template <class T> using tz_edges = T;
#else
template <class T> struct tz_edges {
    T side[TZ_EDGES];
};
#endif

/* Those of field `index`. */
template <class T> TZ_DEVICE tz_edges<T> tz_edges_of(const tz_arguments &a, int index)
{
#if TZ_EDGES == 1
    return *(const T *)&a.edge[index][0];
#else
    tz_edges<T> edges;
#pragma unroll
    for (int side = 0; side < TZ_EDGES; side++)
        edges.side[side] = *(const T *)&a.edge[index][side];
    return edges;
#endif
}

/* The value past the low (0) or high (1) side of an axis. */
template <int AXIS, class T> TZ_DEVICE T tz_edge(tz_edges<T> edges, bool high)
{
#if TZ_EDGES == 1
    return edges;
#else
    return tz_choose(high, edges.side[2 * AXIS + 1], edges.side[2 * AXIS]);
#endif
}

/* The coordinate in the grid that replaces c, on an axis with these rules at its low and high side.
 * Below 0 for a boundary value: -1 past the low side. If all values are the same (TZ_EDGES is 1) it
 * is -1 past the high side too, else -2. Loops take fewer registers than divisions. They run once
 * unless the grid is smaller than a ghost zone. */
template <int LOW, int HIGH = LOW> TZ_DEVICE int tz_map(int c, int n)
{
    if (TZ_REPEATS(LOW) && TZ_REPEATS(HIGH))
        return c < 0 ? 0 : c < n ? c : n - 1;
    if (TZ_HAS_VALUE(LOW) && TZ_HAS_VALUE(HIGH))
        return c < n ? (c < 0 ? -1 : c) : TZ_EDGES == 1 ? -1 : -2;
    if (LOW != HIGH) {
        if (TZ_REFLECTS(LOW)) { /* may leave the grid at the high side */
            c = c < 0 ? -c : c;
        } else if (TZ_REFLECTS(HIGH)) {
            c = c < n ? c : 2 * (n - 1) - c;
        }
        if (c < 0)
            return TZ_HAS_VALUE(LOW) ? -1 : 0;
        if (c >= n)
            return TZ_HAS_VALUE(HIGH) ? (TZ_EDGES == 1 ? -1 : -2) : n - 1;
        return c;
    }
    if (TZ_WRAPS(LOW)) {
#pragma unroll 1
        while (c < 0)
            c += n;
#pragma unroll 1
        while (c >= n)
            c -= n;
        return c;
    }
    if (n == 1)
        return 0;
#pragma unroll 1
    while (c < 0 || c >= n)
        c = c < 0 ? -c : 2 * (n - 1) - c;
    return c;
}
/* The nearest element of the grid. */
TZ_DEVICE int tz_map_nearest(int c, int n)
{
    return tz_map<TZ_CLAMP>(c, n);
}

/* The column at which a lane loads its cells of a row: its own column x, or one inside the grid if
 * x is outside, where nobody uses what it loads. `last`: the column of the row's last lane. Lanes
 * outside get different columns. If all of them copied the same cells to shared memory, copies of
 * less than 16 bytes would be made one after the other: on an H100, stages took up to 1.7 times as
 * long. */
TZ_DEVICE int tz_spread_column(int x, int last)
{
    x = x < 0 ? -x : x <= last ? x : 2 * last - x;
    return x >= 0 && x <= last ? x : 0;
}

/* Is the cell at coordinate c computed? Other cells have values of the boundary. */
template <int LOW, int HIGH = LOW> TZ_DEVICE bool tz_computed(int c, int n)
{
    return TZ_WRAPS(LOW) || (c >= 0 && c < n);
}

/* The bits of word x of a bit row that are not before the grid's first column, and those that are
 * not after its last. */
TZ_DEVICE void tz_word_sides(const tz_arguments &a, int x, tz_word &below, tz_word &above)
{
    const int full = a.columns - 31 * a.nx;
    int low = x < 0, high = 32 - (x >= full) - (x >= full + a.nx);
    if (x < -a.nx || x >= full + 2 * a.nx) { /* by more than one column */
        low = x < 0 ? (-x + a.nx - 1) / a.nx : 0;
        high = a.columns > x ? (a.columns - x + a.nx - 1) / a.nx : 0;
    }
    below = low >= 32 ? 0u : ~0u << low;
    above = high >= 32 ? ~0u : (1u << high) - 1u;
}

/* The bits of a word whose columns are in the grid. Periodic rows have no others. */
TZ_DEVICE tz_word tz_inside_word(const tz_arguments &a, int x)
{
    tz_word below, above;
    if (TZ_WRAP_X)
        return ~0u;
    tz_word_sides(a, x, below, above);
    return below & above;
}

/* A word with the boundary's values in its columns outside the grid. */
TZ_DEVICE tz_word tz_mask_word(const tz_arguments &a, int x, tz_word word,
                               const tz_edges<tz_word> &edge)
{
    tz_word below, above;
    if (TZ_WRAP_X)
        return word;
    tz_word_sides(a, x, below, above);
    const tz_word inside = below & above;
#if TZ_EDGES == 1
    return (word & inside) | (edge & ~inside);
#else
    return (word & inside) | (edge.side[0] & ~below) | (edge.side[1] & ~above);
#endif
}

/* Word x of a bit row that may lie past the ends of the row: the bits of its columns that are
 * stored. Other bits have any value. */
TZ_DEVICE tz_word tz_stored_word(const tz_arguments &a, const tz_word *row, int x)
{
    const int turns = x >= 0 && x < a.nx ? 0 : x / a.nx - (x % a.nx < 0);
    if (turns <= -32 || turns >= 32)
        return 0;
    const tz_word word = row[x - turns * a.nx];
    return turns < 0 ? word << -turns : word >> turns;
}

/* The same for periodic rows of so few columns that a word has one of them several times. */
TZ_DEVICE tz_word tz_repeated_word(const tz_arguments &a, const tz_word *row, int x)
{
    tz_word word = 0;
#pragma unroll 1
    for (int b = 0; b < 32; b++) {
        const int column = (int)(((long long)b * a.nx + x) % a.columns);
        const int inside = column < 0 ? column + a.columns : column;
        word |= (row[inside % a.nx] >> inside / a.nx & 1u) << b;
    }
    return word;
}

/* Word x of a bit row, which may lie past the ends of the row: bit b is column b*nx + x. */
TZ_DEVICE tz_word tz_load_word(const tz_arguments &a, const tz_word *row, int x,
                               const tz_edges<tz_word> &edge)
{
    if (x >= 0 && x < a.nx && x < a.columns - 31 * a.nx) /* all of its columns are inside */
        return row[x];
    if (!TZ_WRAP_X)
        return tz_mask_word(a, x, tz_stored_word(a, row, x), edge);
    if (x < -a.columns || 31LL * a.nx + x >= 2LL * a.columns)
        return tz_repeated_word(a, row, x);
    /* Columns before the first one are those that many before the end, and the other way round. */
    tz_word below, above, word = tz_stored_word(a, row, x);
    tz_word_sides(a, x, below, above);
    if (~below)
        word = (word & below) | (tz_stored_word(a, row, x + a.columns) & ~below);
    if (~above)
        word = (word & above) | (tz_stored_word(a, row, x - a.columns) & ~above);
    return word;
}

/* The same for templates. They are instantiated for other types, but only called for words. */
template <class T>
TZ_DEVICE T tz_load_static_word(const tz_arguments &a, const T *row, int x,
                                const tz_edges<tz_word> &edge)
{
    return (T)tz_load_word(a, (const tz_word *)row, x, edge);
}
template <class T, class E>
TZ_DEVICE T tz_load_static_word(const tz_arguments &, const T *row, int x, const E &)
{
    return row[x]; /* not called */
}

/* The value of a cell outside the grid. x_in, y_in and z_in: its coordinates as tz_map() replaces
 * them, of which the first below 0 decides. Words of bits decide column by column: x is the word,
 * and x_in is not used. */
template <class T>
TZ_DEVICE T tz_value_outside(const tz_arguments &a, const tz_edges<T> &edge, int x, int x_in,
                             int y_in, int z_in)
{
    if (!TZ_BITS_GRID && x_in < 0)
        return tz_edge<0, T>(edge, x_in == -2);
    const T value = y_in < 0 ? tz_edge<1, T>(edge, y_in == -2) : tz_edge<2, T>(edge, z_in == -2);
#if TZ_BITS_GRID && TZ_EDGES > 1
    return (T)tz_mask_word(a, x, value, edge);
#else
    return value;
#endif
}

/* ---- Entries of lists ----------------------------------------------------------------------- */

/* Text for a flag of 1, and for a flag of 0. */
#define TZ__IF(flag, ...) TZ__IF_##flag(__VA_ARGS__)
#define TZ__IF_NOT(flag, ...) TZ__IF_NOT_##flag(__VA_ARGS__)
#define TZ__IF_0(...)
#define TZ__IF_1(...) __VA_ARGS__
#define TZ__IF_NOT_0(...) __VA_ARGS__
#define TZ__IF_NOT_1(...)
/* Text for fields of one role. */
#define TZ__IF_STATE(role, ...) TZ__IF_STATE_##role(__VA_ARGS__)
#define TZ__IF_STATE_state(...) __VA_ARGS__
#define TZ__IF_STATE_static(...)
#define TZ__IF_STATE_streamed(...)
#define TZ__IF_STATE_derived(...)
#define TZ__IF_STATIC(role, ...) TZ__IF_STATIC_##role(__VA_ARGS__)
#define TZ__IF_STATIC_state(...)
#define TZ__IF_STATIC_static(...) __VA_ARGS__
#define TZ__IF_STATIC_streamed(...)
#define TZ__IF_STATIC_derived(...)
#define TZ__IF_STREAMED(role, ...) TZ__IF_STREAMED_##role(__VA_ARGS__)
#define TZ__IF_STREAMED_state(...)
#define TZ__IF_STREAMED_static(...)
#define TZ__IF_STREAMED_streamed(...) __VA_ARGS__
#define TZ__IF_STREAMED_derived(...)

/* The boundary values of a field, as a variable. */
#define TZ__EDGE(role, name, type, index)                                                          \
    const tz_edges<type> name##_edge = tz_edges_of<type>(a, index);
/* A constant, into the context `c` of a cell update. */
#define TZ__CONTEXT_VALUE(name, value) c.k_##name = value;
/* All constants of iteration t of the launch. */
#define TZ__CONTEXT_CONSTANTS(t)                                                                   \
    {                                                                                              \
        const int tz_t = (t);                                                                      \
        (void)tz_t;                                                                                \
        c.k_TZ_CELL_FRAME = 0;                                                                     \
        TZ_CONSTANT_LIST(TZ__CONTEXT_VALUE)                                                        \
        TZ__CONTEXT_WHOLE_VALUES                                                                   \
    }

/* Coordinates in the larger grid, where a text uses them in a slab (TZ_SLAB). Slabs are cut along
 * the last axis. A periodic axis wraps. */
#ifdef TZ_SLAB
TZ_DEVICE int tz_whole(int here, int first, int extent)
{
    const int there = here + first;
    return there < 0 ? there + extent : there < extent ? there : there - extent;
}
#define TZ__CONTEXT_WHOLE int tz_first, tz_extent;
#define TZ__CONTEXT_WHOLE_VALUES                                                                   \
    c.tz_first = a.whole_first;                                                                    \
    c.tz_extent = a.whole_extent;
#define TZ__WHOLE(here) (tz_whole((here), tz_c.tz_first, tz_c.tz_extent))
#define TZ__WHOLE_OF(a, here) (tz_whole((here), (a).whole_first, (a).whole_extent))
#else
#define TZ__CONTEXT_WHOLE
#define TZ__CONTEXT_WHOLE_VALUES
#define TZ__WHOLE(here) here
#define TZ__WHOLE_OF(a, here) (here)
#endif
#if TZ_DIMS == 1
#define TZ__WHOLE_X(here) TZ__WHOLE(here)
#else
#define TZ__WHOLE_X(here) here
#endif
#if TZ_DIMS == 2
#define TZ__WHOLE_Y(here) TZ__WHOLE(here)
#else
#define TZ__WHOLE_Y(here) here
#endif
#define TZ__WHOLE_Z(here) TZ__WHOLE(here)

/* Whether no cell from x, y, z to x_last, y_last, z_last is in the frame: `frame` is the constant
 * of TZ_CELL_FRAME, which the bounds of each axis follow. */
TZ_DEVICE bool tz_is_beside_frame(const int *frame, int x, int x_last, int y, int y_last, int z,
                                  int z_last)
{
    return !frame[0] || (x >= frame[1] && x_last < frame[2] &&
                         (TZ_DIMS < 2 || (y >= frame[3] && y_last < frame[4])) &&
                         (TZ_DIMS < 3 || (z >= frame[5] && z_last < frame[6])));
}

/* ---- The language of cell updates: the common part ------------------------------------------ */

#define TZ__CAT_(a, b) a##b
#define TZ__CAT(a, b) TZ__CAT_(a, b)
#define TZ__PICK(a, b, c, d, e, f, g, name, ...) name
#define TZ__CONTEXT_CONSTANT(name, type, ...) type k_##name;
#define TZ__AT2(f, dx, dy) TZ__AT3(f, dx, dy, 0)
#define TZ__AT1(f, dx) TZ__AT3(f, dx, 0, 0)
/* The message of a mistake, as an error of the compiler. */
#define TZ__SAY(...)                                                                               \
    ([] {                                                                                          \
        static_assert(false, #__VA_ARGS__);                                                        \
        return 0;                                                                                  \
    }())
/* An offset for each axis. A wrong name is a message about the enumeration. */
#define TZ__FIELD_NAME(role, name, type, index) name,
#ifdef TZ_FIELD_LIST
enum class tz_field { TZ_FIELD_LIST(TZ__FIELD_NAME) };
#endif
#define TZ_AT(field, ...) ((void)tz_field::field, TZ__AT(field, ##__VA_ARGS__))
#if TZ_DIMS == 1
#define TZ__AT(...)                                                                                \
    TZ__PICK(__VA_ARGS__, TZ__AT_ANY, TZ__AT_ANY, TZ__AT_ANY, TZ__AT_ANY, TZ__AT_ANY, TZ__AT1,     \
             TZ__AT_ANY, )                                                                         \
    (__VA_ARGS__)
#define TZ__AT_ANY(...)                                                                            \
    TZ__SAY(TZ_CELL_DIMS is 1, so TZ_AT takes a field and 1 offset, as in TZ_AT(u, -1))
#elif TZ_DIMS == 2
#define TZ__AT(...)                                                                                \
    TZ__PICK(__VA_ARGS__, TZ__AT_ANY, TZ__AT_ANY, TZ__AT_ANY, TZ__AT_ANY, TZ__AT2, TZ__AT_ANY,     \
             TZ__AT_ANY, )                                                                         \
    (__VA_ARGS__)
#define TZ__AT_ANY(...)                                                                            \
    TZ__SAY(TZ_CELL_DIMS is 2, so TZ_AT takes a field and 2 offsets, as in TZ_AT(u, -1, 0))
#else
#define TZ__AT(...)                                                                                \
    TZ__PICK(__VA_ARGS__, TZ__AT_ANY, TZ__AT_ANY, TZ__AT_ANY, TZ__AT3, TZ__AT_ANY, TZ__AT_ANY,     \
             TZ__AT_ANY, )                                                                         \
    (__VA_ARGS__)
#define TZ__AT_ANY(...)                                                                            \
    TZ__SAY(TZ_CELL_DIMS is 3, so TZ_AT takes a field and 3 offsets, as in TZ_AT(u, -1, 0, 0))
#endif
#define TZ_K(name) (tz_c.k_##name)
#define TZ_CELL(cell) TZ_CELL_ONCE(cell, TZ__ONCE_NOTHING)
#define TZ_CELL_PLANES(cell, PLANES) TZ_CELL(cell)
#define TZ_PLANE(sum, dz) sum(dz)
#define TZ__CELL_OF_ROWS(cell, field, type, ROWS, RESULT)                                          \
    TZ_CELL(cell)                                                                                  \
    {                                                                                              \
        type tz_sum = -(type)0;                                                                    \
        ROWS(TZ__ROWS_ADD)                                                                         \
        TZ_PUT(field, RESULT(tz_sum));                                                             \
    }
#define TZ__ROWS_ADD(dy, row) tz_sum = tz_sum + row(dy);
#define TZ__ROWS_SUM(sum) (sum)
#define TZ_CELL_ROWS(cell, field, type, ROWS) TZ_CELL_ROWS_OF(cell, field, type, ROWS, TZ__ROWS_SUM)
#define TZ_CELL_ROWS_OF(cell, field, type, ROWS, RESULT)                                           \
    TZ__CELL_OF_ROWS(cell, field, type, ROWS, RESULT)
#define TZ_SHARES 0
#define TZ_ONCE(value) (tz_o.value)
#define TZ__ONCE_NOTHING(D)
#define TZ__ONCE_MEMBER(name, type, expression) type name;
#define TZ__ONCE_ASSIGN(name, type, expression) tz_o.name = (expression);
/* The values that a cell update has once, and what makes them; the cell's place comes last. */
#define TZ__ONCE_STRUCT(cell, ONCE)                                                                \
    struct once_##cell {                                                                           \
        ONCE(TZ__ONCE_MEMBER)                                                                      \
    };
#define TZ__MAKE_ONCE(cell, ONCE, ...)                                                             \
    TZ_DEVICE once_##cell make_once_##cell(const context_##cell &tz_c, __VA_ARGS__)                \
    {                                                                                              \
        once_##cell tz_o;                                                                          \
        ONCE(TZ__ONCE_ASSIGN)                                                                      \
        return tz_o;                                                                               \
    }
/* What a cell update reads and writes: fields, constants, and the further members that a family
 * needs. */
#define TZ__CONTEXT(cell, ...)                                                                     \
    struct context_##cell {                                                                        \
        TZ_FIELDS(TZ__CONTEXT_FIELD)                                                               \
        TZ_CONSTANTS(TZ__CONTEXT_CONSTANT)                                                         \
        TZ__CONTEXT_WHOLE                                                                          \
        __VA_ARGS__                                                                                \
        int k_TZ_CELL_FRAME; /* where no constant has that name */                                 \
        TZ_DEVICE int *frame(context_##cell &c) { return &c.TZ__CAT(k_, TZ_CELL_FRAME); }          \
    };
/* For families that compute the values of ONCE anew in each update: update_CELL() computes them and
 * calls body_CELL(), whose body follows the macro. `context` and `place` are the types of its
 * arguments. `head` and `argument` make it a template; both may be empty. */
#define TZ__CELL_UPDATE(cell, ONCE, context, place, head, argument)                                \
    TZ__ONCE_STRUCT(cell, ONCE)                                                                    \
    head TZ_DEVICE void body_##cell(context &tz_c, const place &tz_p, const once_##cell &tz_o);    \
    head TZ_DEVICE void update_##cell(context &tz_c, const place &tz_p)                            \
    {                                                                                              \
        once_##cell tz_o;                                                                          \
        ONCE(TZ__ONCE_ASSIGN)                                                                      \
        body_##cell argument(tz_c, tz_p, tz_o);                                                    \
    }                                                                                              \
    head TZ_DEVICE void body_##cell(context &tz_c, const place &tz_p, const once_##cell &tz_o)
#define TZ_ROWS_FIRST 0
#define TZ_UNROLL _Pragma("unroll")
#define TZ_ROLL _Pragma("unroll 1")
#define TZ_LOGIC3(table, a, b, c, expression) tz_logic3<(table)>((a), (b), (c))
#define TZ_XOR3(a, b, c) tz_logic3<0x96>((a), (b), (c))
#define TZ_MAJ3(a, b, c) tz_logic3<0xe8>((a), (b), (c))
#define TZ_PICK3(bit, set, clear) tz_logic3<0xca>((bit), (set), (clear))

#if TZ_POINTS
#include "point_lists.cuh"
#endif

#endif
