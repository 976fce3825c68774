/* trapeze/rows.h: turns a cell update's text into row functions for every precision and
 * instruction set, and into the one-cell function of the reference backend.
 *
 * Included once per cell update, after defining
 *
 *   TZ_CELL_TEXT    the text's file name in quotes
 *   TZ_CELL_ID      a C identifier; this header then defines `static const tz_kernels ID_kernels`,
 * the table `ID_constants`, and the indices TZ_FIELD(ID, f), TZ_CONSTANT(ID, k) TZ_CELL_NAME    the
 * TZ_CELL(name) in the text, when it differs from TZ_CELL_ID TZ_CELL_DIMS    1, 2 or 3
 *   TZ_CELL_RADIUS  0 to TZ_RADIUS_MAX
 *   TZ_CELL_REAL    1 when the fields or constants have type real (two precisions), else 0
 *   TZ_CELL_SWITCH  (optional) an integer constant that is 0 or 1: the row loop is compiled for
 * each, so that a branch on it costs nothing
 *
 * The text defines TZ_FIELDS(F) as a list F(name, type), TZ_CONSTANTS(K) as a list K(name, type)
 * (types: real, int, tz_word), and the update itself:
 *
 *   TZ_CELL(name) { real t = TZ_AT(temperature, 0, 0); …; TZ_PUT(temperature, t); }
 *
 * TZ_AT(field, dx[, dy[, dz]]) reads a neighbour, TZ_PUT(field, value) writes the cell, TZ_K(name)
 * is a constant; TZ_X, TZ_Y, TZ_Z and TZ_STEP say which cell and iteration it is (for a TZ_BITS
 * field, TZ_X counts words). TZ_FMA(a, b, c) is a fused multiply-add; nothing else is contracted.
 * What static fields and constants contribute to a cell can be said apart, so that a backend that
 * makes several iterations at once computes it once a cell: with #define NAME_ONCE(D) D(heat, real,
 * TZ_K(a) * TZ_AT(power, 0, 0)) TZ_CELL_ONCE(name, NAME_ONCE) { … TZ_ONCE(heat) … } it is a value
 * of every update. The expression reads static fields at the cell itself. In 3-D, what a plane
 * contributes can be said apart likewise, so that a backend to which plane after plane comes
 * computes it once and not for each plane that reads it: with #define NAME_SUM(dz) (TZ_AT(u, -1, 0,
 * dz) + …) and #define NAME_PLANES(D) D(NAME_SUM, real) TZ_CELL_PLANES(name, NAME_PLANES) { …
 * TZ_PLANE(NAME_SUM, -1) … } the update reads state fields through such sums alone, at dz from
 * -radius to radius, and they read nothing but state fields and constants, in the plane dz. In 2-D,
 * an update that is a sum of what rows contribute, from above to below, can say just that: with
 * #define NAME_ROWS(D) D(-1, NAME_BESIDE) D(0, NAME_MIDDLE) D(1, NAME_BESIDE) TZ_CELL_ROWS(name, u,
 * real, NAME_ROWS) is TZ_PUT(u, (NAME_BESIDE(-1) + NAME_MIDDLE(0)) + NAME_BESIDE(1)): an entry for
 * each dy from -radius to radius, of the only field of a stencil of one pass; NAME_BESIDE(dy) reads
 * row dy of u, constants and nothing else. A backend to which row after row comes keeps sums
 * instead of rows. For tz_words, TZ_XOR3(a, b, c) and TZ_MAJ3(a, b, c) are the sum and the carry of
 * three bits, TZ_PICK3(bit, set, clear) chooses, and TZ_LOGIC3(table, a, b, c, expression) is any
 * function of three bits, said twice: bit 4a + 2b + c of `table` for machines that look it up, and
 * in C. They are an instruction each where the machine has three-input logic. TZ_UNROLL before a
 * loop of constant count unrolls it. The same text is compiled for GPUs: keep it C without library
 * calls.
 */
#include <trapeze/plugin.h>

#ifndef TZ_ROWS_ONCE
#define TZ_ROWS_ONCE

typedef uint32_t tz_word;

#define TZ__CAT_(a, b) a##b
#define TZ__CAT(a, b) TZ__CAT_(a, b)
#define TZ__JOIN_(a, b, c, d) a##_##b##_##c##_##d
#define TZ__JOIN(a, b, c, d) TZ__JOIN_(a, b, c, d)
#define TZ__PICK(a, b, c, d, name, ...) name
#define TZ_AT(...) TZ__PICK(__VA_ARGS__, TZ__AT3, TZ__AT2, TZ__AT1, )(__VA_ARGS__)
#if defined(__clang__)
#define TZ__VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define TZ__VECTOR_LOOP _Pragma("GCC ivdep")
#endif
#define TZ_CELL(name) TZ_CELL_ONCE(name, TZ__ONCE_NOTHING)
#define TZ_CELL_PLANES(name, PLANES) TZ_CELL(name)
#define TZ_PLANE(sum, dz) sum(dz)
/* -0 + x is x, whatever x is. */
#define TZ_CELL_ROWS(name, field, type, ROWS)                                                      \
    TZ_CELL(name)                                                                                  \
    {                                                                                              \
        type tz_sum = -(type)0;                                                                    \
        ROWS(TZ__ROWS_ADD)                                                                         \
        TZ_PUT(field, tz_sum);                                                                     \
    }
#define TZ__ROWS_ADD(dy, row) tz_sum = tz_sum + row(dy);
#define TZ_ONCE(value) (tz_o.value)
#define TZ__ONCE_NOTHING(D)
#define TZ__ONCE_MEMBER(name, type, expression) type name;
#define TZ__ONCE_ASSIGN(name, type, expression) tz_o.name = (expression);
#define TZ__INLINE static inline __attribute__((always_inline, unused))
#define TZ_UNROLL _Pragma("GCC unroll 32")
#define TZ_LOGIC3(table, a, b, c, expression) (expression)
#define TZ_XOR3(a, b, c) ((a) ^ (b) ^ (c))
#define TZ_MAJ3(a, b, c) (((a) & (b)) | ((c) & ((a) | (b))))
#define TZ_PICK3(bit, set, clear) (((bit) & (set)) | (~(bit) & (clear)))

#define TZ__THIS(kind) TZ__JOIN(TZ_CELL_ID, kind, TZ__ISA, TZ__PRECISION)

#define TZ__SLOT_int(slot) ((int)(slot).i)
#define TZ__SLOT_tz_word(slot) ((tz_word)(slot).i)

/* Index of a field or constant of the cell update ID: an integer constant expression. */
#define TZ_FIELD(id, name) ((int)offsetof(struct id##_field_index, name))
#define TZ_CONSTANT(id, name) ((int)offsetof(struct id##_constant_index, name))
#define TZ_CONSTANTS_COUNT(id) ((int)sizeof(struct id##_constant_index))
/* What rows.h knows of a pass: .passes = {{.name = "…", .writes = …, TZ_PASS(ID)}} */
#define TZ_PASS(id)                                                                                \
    .radius = id##_radius, .kernels = &id##_kernels, .text = id##_text,                            \
    .text_file = id##_text_file, .text_cell = id##_text_cell
#define TZ_WRITES(id, name) (1u << TZ_FIELD(id, name))
#define TZ__INDEX_MEMBER(name, type) char name;
/* The text itself travels in the plugin: a GPU backend compiles it at run time. The assembler finds
 * the file through -Wa,-I, which trapeze_add_plugin() sets. */
#define TZ__STRING_(x) #x
#define TZ__STRING(x) TZ__STRING_(x)
#define TZ__EMBED(symbol, file)                                                                    \
    __asm__(".pushsection .rodata\n" TZ__STRING(symbol) ":\n.incbin \"" file                       \
                                                        "\"\n.byte 0\n.popsection\n");             \
    extern const char symbol[] __attribute__((visibility("hidden")));
#define TZ__TABLE_real TZ_REAL
#define TZ__TABLE_int TZ_INT
#define TZ__TABLE_tz_word TZ_INT
#define TZ__CONSTANT_ROW(name, type) {#name, TZ__TABLE_##type},

/* The context of a row loop: pointers per field and offset, constants by name. The two index
 * structs are never touched: an offset in them is a field's or constant's number. */
#define TZ__CONTEXT_FIELD(name, type)                                                              \
    const type *name[TZ__WINDOW];                                                                  \
    ptrdiff_t name##_stride[TZ__WINDOW];                                                           \
    type *name##_out;
#define TZ__CONTEXT_TYPE(name, type)                                                               \
    const type *name;                                                                              \
    type *name##_out;
#define TZ__CONTEXT_CONSTANT(name, type) type k_##name;
#define TZ__CONTEXT_INDEX                                                                          \
    struct {                                                                                       \
        TZ_FIELDS(TZ__INDEX_MEMBER)                                                                \
    } * field_index;                                                                               \
    struct {                                                                                       \
        TZ_CONSTANTS(TZ__INDEX_MEMBER)                                                             \
    } * constant_index;
#define TZ__FIELD_AT(context, name) offsetof(__typeof__(*(context)->field_index), name)
#define TZ__LOAD_CONSTANT(name, type)                                                              \
    context->k_##name =                                                                            \
        TZ__SLOT_##type(span->constants[offsetof(__typeof__(*context->constant_index), name)]);
#define TZ__LOAD_FIELD(name, type)                                                                 \
    for (int k = 0; k < TZ__WINDOW; k++) {                                                         \
        const tz_view *view = &span->in[TZ__FIELD_AT(context, name) * TZ__WINDOW + k];             \
        context->name##_stride[k] = view->row_stride;                                              \
        context->name[k] = (const type *)view->at + row * view->row_stride;                        \
    }                                                                                              \
    context->name##_out = (type *)span->out[TZ__FIELD_AT(context, name)].at +                      \
                          row * span->out[TZ__FIELD_AT(context, name)].row_stride;
#endif

/* Instruction sets: only x86-64 has several. */
#ifndef TZ_CELL_NAME
#define TZ_CELL_NAME TZ_CELL_ID
#endif
#if TZ_CELL_DIMS == 1
#define TZ__WINDOW 1
#else
#define TZ__WINDOW (2 * TZ_CELL_RADIUS + 1)
#endif

#define TZ__ISA any
#define TZ__LOOP <trapeze/rows_cell.h>
#include <trapeze/rows_isa.h>
#undef TZ__LOOP
#define TZ__LOOP <trapeze/rows_loop.h>
#define TZ__ISA base
#include <trapeze/rows_isa.h>
#if defined(__x86_64__)
#define TZ__ISA v3
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi,bmi2")
#endif
#include <trapeze/rows_isa.h>
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#define TZ__ISA v4
#if defined(__clang__)
#pragma clang attribute push(                                                                      \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma,bmi,bmi2"))),                    \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,fma,bmi,bmi2,prefer-vector-width=512")
#endif
#include <trapeze/rows_isa.h>
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#define TZ__ISA_ROWS(precision)                                                                    \
    {                                                                                              \
        TZ__JOIN(TZ_CELL_ID, rows, base, precision), TZ__JOIN(TZ_CELL_ID, rows, v3, precision),    \
            TZ__JOIN(TZ_CELL_ID, rows, v4, precision)                                              \
    }
#else
#define TZ__ISA_ROWS(precision)                                                                    \
    {                                                                                              \
        TZ__JOIN(TZ_CELL_ID, rows, base, precision), 0, 0                                          \
    }
#endif

struct TZ__CAT(TZ_CELL_ID, _field_index) {
    TZ_FIELDS(TZ__INDEX_MEMBER)
};
struct TZ__CAT(TZ_CELL_ID, _constant_index) {
    TZ_CONSTANTS(TZ__INDEX_MEMBER)
};

enum { TZ__CAT(TZ_CELL_ID, _radius) = TZ_CELL_RADIUS };
TZ__EMBED(TZ__CAT(TZ_CELL_ID, _text), TZ_CELL_TEXT)
static const char TZ__CAT(TZ_CELL_ID, _text_file)[] __attribute__((unused)) = TZ_CELL_TEXT;
static const char TZ__CAT(TZ_CELL_ID, _text_cell)[]
    __attribute__((unused)) = TZ__STRING(TZ_CELL_NAME);
static const tz_constant TZ__CAT(TZ_CELL_ID, _constants)[]
    __attribute__((unused)) = {TZ_CONSTANTS(TZ__CONSTANT_ROW){0, TZ_REAL}};

static const tz_kernels TZ__CAT(TZ_CELL_ID, _kernels) = {
#if TZ_CELL_REAL
    .rows = {[TZ_SINGLE] = TZ__ISA_ROWS(single), [TZ_DOUBLE] = TZ__ISA_ROWS(double)},
    .cell = {[TZ_SINGLE] = TZ__JOIN(TZ_CELL_ID, cell, any, single),
             [TZ_DOUBLE] = TZ__JOIN(TZ_CELL_ID, cell, any, double)},
#else
    .rows = {[TZ_SINGLE] = TZ__ISA_ROWS(single)},
    .cell = {[TZ_SINGLE] = TZ__JOIN(TZ_CELL_ID, cell, any, single)},
#endif
};

#undef TZ__ISA_ROWS
#undef TZ__LOOP
#undef TZ__WINDOW
#undef TZ_CELL_ID
#undef TZ_CELL_NAME
#undef TZ_CELL_DIMS
#undef TZ_CELL_RADIUS
#undef TZ_CELL_REAL
#undef TZ_CELL_SWITCH
#undef TZ_CELL_TEXT
#undef TZ_CELL_ONCE
#undef TZ_FIELDS
#undef TZ_CONSTANTS
