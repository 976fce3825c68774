/* trapeze/rows_macros.h: the macros that all cell updates share. Included by <trapeze/rows.h>,
 * which explains them. Names with TZ__ are internal. */
#ifndef TRAPEZE_ROWS_MACROS_H
#define TRAPEZE_ROWS_MACROS_H

#include <trapeze/plugin.h>
#include <trapeze/rows_math.h>

typedef uint32_t tz_word;

/* ---- For cell updates ------------------------------------------------------------------------ */

/* rows_loop.h and rows_cell.h define TZ__CELL(name, ONCE), TZ__READ1 to TZ__READ3, TZ_PUT, TZ_K,
 * TZ_X, TZ_Y, TZ_Z and TZ_STEP; rows.h defines TZ__AT1 to TZ__AT3. */
#define TZ_CELL(name) TZ__CELL(name, TZ__ONCE_NOTHING)
#define TZ_AT(...)                                                                                 \
    TZ__PICK(__VA_ARGS__, TZ__AT_ANY, TZ__AT_ANY, TZ__AT_ANY, TZ__AT3, TZ__AT2, TZ__AT1,           \
             TZ__AT_ANY, )                                                                         \
    (__VA_ARGS__)
#define TZ__PICK(a, b, c, d, e, f, g, name, ...) name
#define TZ_UNROLL _Pragma("GCC unroll 32")
#define TZ_LOGIC3(table, a, b, c, expression) (expression)
#define TZ_XOR3(a, b, c) ((a) ^ (b) ^ (c))
#define TZ_MAJ3(a, b, c) ((b) ^ (((a) ^ (b)) & ((b) ^ (c))))
#define TZ_PICK3(bit, set, clear) (((bit) & (set)) | (~(bit) & (clear)))

/* ---- For descriptions ------------------------------------------------------------------------ */

/* Integer constant expressions. */
#define TZ_FIELD(id, name) ((int)offsetof(struct id##_field_index, name))
#define TZ_CONSTANT(id, name) ((int)offsetof(struct id##_constant_index, name))
#define TZ_CONSTANTS_COUNT(id) ((int)sizeof(struct id##_constant_index))
#define TZ_WRITES(id, name) (1u << TZ_FIELD(id, name))
#define TZ_TAKES(id, name, other) .takes[TZ_FIELD(id, name)] = 1 + TZ_FIELD(id, other)
/* Members of a tz_pass: {.name = "...", .writes = ..., TZ_PASS(ID)} */
#define TZ_PASS(id)                                                                                \
    .dims = id##_dims, .radius = id##_radius, .kernels = &id##_kernels, .in_place = id##_in_place, \
    .slabs = id##_slabs, .text = id##_text, .text_file = id##_text_file,                           \
    .text_cell = id##_text_cell, .fields_count = (int)sizeof(struct id##_field_index),             \
    .fields = id##_text_fields, .constants_count = TZ_CONSTANTS_COUNT(id),                         \
    .constants = id##_text_constants, .reads_count = id##_reads_count, .reads = id##_text_reads

/* ---- Internal -------------------------------------------------------------------------------- */

#define TZ__CAT_(a, b) a##b
#define TZ__CAT(a, b) TZ__CAT_(a, b)
#define TZ__JOIN_(a, b, c, d) a##_##b##_##c##_##d
#define TZ__JOIN(a, b, c, d) TZ__JOIN_(a, b, c, d)
/* The name of a thing for a cell update, instruction set and precision. */
#define TZ__THIS(kind) TZ__JOIN(TZ_CELL_ID, kind, TZ__ISA, TZ__PRECISION)
#define TZ__INLINE static inline __attribute__((always_inline, unused))
#if defined(__clang__)
#define TZ__VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#define TZ__KEEP_LOOP
#define TZ__KEEP_SCALAR(value)
#else
#define TZ__VECTOR_LOOP _Pragma("GCC ivdep")
/* If GCC unrolls the loop that loads pointers, it later gives each neighbour in x a pointer of its
 * own, more than there are registers. Otherwise they are constant distances from one pointer. */
#define TZ__KEEP_LOOP _Pragma("GCC unroll 1")
#define TZ__KEEP_SCALAR(value) __asm__("" : "+r"(value))
#endif

/* The message of a mistake, as an error of the compiler. The text is compiled many times, so only
 * the first time says it (TZ__FIRST). */
#define TZ__SAY(...) (TZ__CAT(TZ__ERROR_, TZ__FIRST)(GCC error #__VA_ARGS__) 0)
#define TZ__NO_KEYWORD(word)                                                                       \
    TZ__NO_WORD(word is a keyword of C++, as which GPUs read this text, so choose another name)
#define TZ__NO_WORD(...) TZ__CAT(TZ__ERROR_, TZ__FIRST)(GCC error #__VA_ARGS__)
#define TZ__ERROR_0(...)
#define TZ__ERROR_1(...) _Pragma(#__VA_ARGS__)
#define TZ__NAME_PUSH(name) TZ__ERROR_1(push_macro(name))
#define TZ__NAME_POP(name) TZ__ERROR_1(pop_macro(name))

/* Values of TZ_CELL_ONCE. */
#define TZ__ONCE_NOTHING(D)
#define TZ__ONCE_MEMBER(name, type, expression) type name;
#define TZ__ONCE_ASSIGN(name, type, expression) tz_o.name = (expression);

/* A constant's value in its slot; rows_isa.h defines TZ__SLOT_real. */
#define TZ__SLOT_int(slot) ((int)(slot).i)
#define TZ__SLOT_tz_word(slot) ((tz_word)(slot).i)

/* A char for each field or constant: its offset is its number. */
#define TZ__INDEX_MEMBER(name, ...) char name;

/* The text is embedded in the plugin, for GPU backends to compile at run time. The assembler finds
 * the file through -Wa,-I, which trapeze_add_plugin() sets. */
#define TZ__STRING_(x) #x
#define TZ__STRING(x) TZ__STRING_(x)
#define TZ__EMBED(symbol, file)                                                                    \
    __asm__(".pushsection .rodata\n" TZ__STRING(symbol) ":\n.incbin \"" file                       \
                                                        "\"\n.byte 0\n.popsection\n");             \
    extern const char symbol[] __attribute__((visibility("hidden")));

/* Nothing, if the text defines the list. Otherwise the list's name stays and ends one of these. */
#define TZ__CHECK_LIST(...) TZ__CHECK_LIST_(__VA_ARGS__)
#define TZ__CHECK_LIST_(...) TZ__IS_LIST_##__VA_ARGS__
#define TZ__NO_ENTRY(...)
#define TZ__IS_LIST_
#define TZ__IS_LIST_TZ_FIELDS(...) TZ__NO_WORD(the text must define TZ_FIELDS(F) before its TZ_CELL)
#define TZ__IS_LIST_TZ_CONSTANTS(...)                                                              \
    TZ__NO_WORD(the text must define TZ_CONSTANTS(K) before its TZ_CELL, empty without constants)

/* A value in single precision that is a double. */
#define TZ__NOT_DOUBLE(value)                                                                      \
    ((void)sizeof(struct {                                                                         \
        _Static_assert(sizeof(real) == sizeof(double) ||                                           \
                           _Generic((value), double : 0, default : 1),                             \
                       "a value is double in single precision: write literals as TZ_R(0.5)");      \
        char nothing;                                                                              \
    }))

/* || 1 for a field or constant of the type real. */
#define TZ__OR_REAL(name, type, ...) || TZ__IS_REAL_##type
#define TZ__IS_REAL_real 1
#define TZ__IS_REAL_int 0
#define TZ__IS_REAL_tz_word 0
#define TZ__IS_REAL_float TZ__NO_TYPE(float)
#define TZ__IS_REAL_double TZ__NO_TYPE(double)
#define TZ__NO_TYPE(t) TZ__SAY(t is no type of a field or constant, only real, int and tz_word are)

/* A row of the table ID_constants. */
#define TZ__TABLE_real TZ_REAL
#define TZ__TABLE_int TZ_INT
#define TZ__TABLE_tz_word TZ_INT
#define TZ__VARIES_ 0
#define TZ__VARIES_varies 1
#define TZ__CONSTANT_ROW(name, type, ...)                                                          \
    {#name, TZ__TABLE_##type, TZ__CAT_(TZ__VARIES_, __VA_ARGS__)},
/* Rows of the tables that TZ_PASS() refers to. */
#define TZ__FIELD_TYPE_real TZ_REAL
#define TZ__FIELD_TYPE_int TZ_INT
#define TZ__FIELD_TYPE_tz_word TZ_BITS
#define TZ__FIELD_ENTRY(name, type) {#name, TZ__FIELD_TYPE_##type},
#define TZ__CONSTANT_ENTRY(name, type, ...) {#name, TZ__TABLE_##type},

/* The members of a context, the argument of a cell update: the constants, and pointers for each
 * field and offset. Of field_index and constant_index only the types are used: offsets in them are
 * the numbers of fields and constants, and their tags are in the compiler's messages about names
 * that they do not have. */
#define TZ__CONTEXT_FIELD(name, type)                                                              \
    const type *name[TZ__WINDOW + TZ__SLABS - 1];                                                  \
    ptrdiff_t name##_stride[TZ__WINDOW + TZ__SLABS - 1];                                           \
    type *name##_out[TZ__SLABS];
/* The values of TZ_CELL_ONCE. What a cell update has put into the fields of a cell, and which those
 * are. */
#define TZ__CELL_VALUES(cell, ONCE)                                                                \
    struct TZ__THIS(once_##cell) {                                                                 \
        ONCE(TZ__ONCE_MEMBER)                                                                      \
        char nothing;                                                                              \
    };                                                                                             \
    struct TZ__THIS(put_##cell) {                                                                  \
        struct {                                                                                   \
            TZ_FIELDS(TZ__PUT_VALUE)                                                               \
        } put;                                                                                     \
        struct {                                                                                   \
            TZ_FIELDS(TZ__PUT_FLAG)                                                                \
        } is;                                                                                      \
    };
#define TZ__PUT_VALUE(name, type) type name;
#define TZ__PUT_FLAG(name, type) _Bool name;
#define TZ__PUT_NOTHING(name, type) tz_put[tz_s].is.name = 0;
#define TZ__PUT_STORE(name, type)                                                                  \
    if (tz_put[tz_s].is.name)                                                                      \
        context->name##_out[tz_s][i] = tz_put[tz_s].put.name;
#define TZ__CONTEXT_TYPE(name, type)                                                               \
    const type *name;                                                                              \
    type *name##_out;
#define TZ__CONTEXT_CONSTANT(name, type, ...) type k_##name;
#define TZ__CONTEXT_INDEX(cell)                                                                    \
    struct TZ__THIS(TZ_FIELDS_of_##cell) {                                                         \
        TZ_FIELDS(TZ__INDEX_MEMBER)                                                                \
    } * field_index;                                                                               \
    struct TZ__THIS(TZ_CONSTANTS_of_##cell) {                                                      \
        TZ_CONSTANTS(TZ__INDEX_MEMBER)                                                             \
    } * constant_index;
#define TZ__FIELD_AT(context, name) offsetof(__typeof__(*(context)->field_index), name)
#define TZ__CONSTANT_AT(context, name) offsetof(__typeof__(*(context)->constant_index), name)
#define TZ__LOAD_CONSTANT(name, type, ...)                                                         \
    context->k_##name =                                                                            \
        TZ__SLOT_##type(span->constants[offsetof(__typeof__(*context->constant_index), name)]);
/* A row of tz_slabs slabs. */
#define TZ__LOAD_FIELD(name, type)                                                                 \
    TZ__KEEP_LOOP                                                                                  \
    for (int k = 0; k < TZ__WINDOW + tz_slabs - 1; k++) {                                          \
        const tz_view *view =                                                                      \
            &span->in[TZ__FIELD_AT(context, name) * (TZ__WINDOW + tz_slabs - 1) + k];              \
        ptrdiff_t stride = view->row_stride;                                                       \
        TZ__KEEP_SCALAR(stride);                                                                   \
        context->name##_stride[k] = stride;                                                        \
        context->name[k] = (const type *)view->at + row * stride;                                  \
    }                                                                                              \
    TZ__KEEP_LOOP                                                                                  \
    for (int k = 0; k < tz_slabs; k++) {                                                           \
        const tz_target *target = &span->out[TZ__FIELD_AT(context, name) * tz_slabs + k];          \
        context->name##_out[k] = (type *)target->at + row * target->row_stride;                    \
    }
#endif
