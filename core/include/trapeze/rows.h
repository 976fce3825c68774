/* trapeze/rows.h: compiles the text of a cell update to row functions for each precision and
 * instruction set, and to the cell function of the reference backend.
 *
 * A plugin includes this header once for each cell update, after it has defined
 *
 *   TZ_CELL_TEXT    the file name of the text, in quotes
 *   TZ_CELL_ID      a C identifier, the ID below
 *   TZ_CELL_NAME    OPTIONAL: the name of the TZ_CELL in the text, if it is not TZ_CELL_ID
 *   TZ_CELL_DIMS    1, 2 or 3
 *   TZ_CELL_RADIUS  OPTIONAL: 0 to TZ_RADIUS_MAX; 1 if it is not defined
 *   TZ_CELL_REAL    OPTIONAL: 0 if no field or constant has the type real, which has two precisions
 *   TZ_CELL_SWITCH  OPTIONAL, see <trapeze/rows_tuning.h>
 *   TZ_CELL_FRAME   OPTIONAL, see there
 *
 * The header undefines them again, and defines
 *
 *   ID_kernels              a static const tz_kernels
 *   ID_constants            a static const tz_constant[], for TZ_STENCIL_TABLES
 *   TZ_CONSTANTS_COUNT(ID)  the number of constants
 *   TZ_CONSTANT(ID, name)   the index of a constant in tz_setup.constants
 *   TZ_FIELD(ID, name)      the index of a field
 *   TZ_WRITES(ID, name)     the bit of a field in tz_pass.writes
 *   TZ_PASS(ID)             the members of tz_pass except name, writes and text_defines
 *   TZ_TAKES(ID, a, b)      OPTIONAL, a member of tz_pass: the pass only gives field a the value of
 *                           field b in the cell, as an older level of a wave: no copy is needed
 *
 * The text is C without library calls, since it is compiled for GPUs as well. It defines all fields
 * and constants of the stencil, in the order of its tables, and the update. Compilers and the
 * loader refuse a text that does otherwise, or reads farther than TZ_CELL_RADIUS.
 *
 *   #define TZ_FIELDS(F) F(temperature, real) F(power, real)
 *   #define TZ_CONSTANTS(K) K(share, real)
 *   TZ_CELL(name)
 *   {
 *       const real t = TZ_AT(temperature, 0, 0);
 *       ...
 *       TZ_PUT(temperature, t);
 *   }
 *
 * Types are real, int and tz_word (32 cells of a TZ_BITS field). A constant K(name, type, varies)
 * has a value for each iteration (tz_stencil.at_step). A text may list more exactly than by
 * TZ_CELL_RADIUS what its cell updates read: the TZ_CELL, the field, and for each axis of the
 * stencil, x first, the lowest and the highest offset. Tiles then have a smaller ghost zone:
 *
 *   #define TZ_READS(R) R(name, temperature, -1, 0, 0, 2)
 *
 * Of an output, which computes derived fields, it lists all fields that are read, or none. The
 * others are then not copied from the device.
 *
 * In the update
 *
 *   TZ_AT(field, dx, dy, dz)  reads a neighbour; 2-D: TZ_AT(field, dx, dy), 1-D: TZ_AT(field, dx)
 *   TZ_PUT(field, value)      writes the cell
 *   TZ_K(name)                is a constant
 *   TZ_X, TZ_Y, TZ_Z          are the cell's coordinates; TZ_X counts words for TZ_BITS fields
 *   TZ_STEP                   is the number of iterations of the run before this one
 *   TZ_FMA(a, b, c)           is a * b + c, rounded once; compilers fuse nothing else
 *   TZ_UNROLL                 before a loop with a constant number of turns, unrolls it
 *
 * and for tz_words, each in one instruction on machines with three-input logic,
 *
 *   TZ_XOR3(a, b, c)              is the sum of three bits
 *   TZ_MAJ3(a, b, c)              is the carry of that sum
 *   TZ_PICK3(bit, set, clear)     is `set` where the bit is 1, else `clear`
 *   TZ_LOGIC3(table, a, b, c, e)  is any function of three bits, given twice: as a table, whose bit
 *                                 4a + 2b + c is the result, and as the expression e in C
 *
 * <trapeze/rows_math.h> has functions of numbers (TZ_MIN, TZ_SELECT, TZ_SQRT, TZ_EXP, TZ_SIN, ...),
 * literals (TZ_R) and functions of one's own (TZ_HELPER).
 * <trapeze/rows_tuning.h> has forms of a text that can be faster. */
#include <trapeze/rows_macros.h>
#include <trapeze/rows_shared.h>
#include <trapeze/rows_tuning.h>
#include <trapeze/rows_vectors.h>

#include <trapeze/rows_check.h>
#include <trapeze/rows_keywords.h>
#include <trapeze/rows_names.h>

#ifndef TZ_CELL_NAME
#define TZ_CELL_NAME TZ_CELL_ID
#endif
#if TZ_CELL_DIMS == 1
#define TZ__WINDOW 1
#else
#define TZ__WINDOW (2 * TZ_CELL_RADIUS + 1)
#endif
/* Slabs of a function of tz_pass.in_place. Vectors of more fields do not stay in registers, rows of
 * a larger radius not in L1 if no values are shared; frames of slabs differ. */
#if TZ_CELL_DIMS == 1 || (TZ_CELL_RADIUS > 2 && !TZ_CELL_SHARES) || defined(TZ_CELL_FRAME)
#define TZ__SLABS 1
#else
#define TZ__SEVERAL
#define TZ__SLABS (TZ__FIELDS_COUNT <= 4 ? 4 : 2)
#endif

/* TZ_AT has as many offsets as the stencil has axes. */
#if TZ_CELL_DIMS == 1
#define TZ__AT1 TZ__READ1
#define TZ__AT2 TZ__AT_ANY
#define TZ__AT3 TZ__AT_ANY
#define TZ__AT_ANY(...)                                                                            \
    TZ__SAY(TZ_CELL_DIMS is 1, so TZ_AT takes a field and 1 offset, as in TZ_AT(u, -1))
#elif TZ_CELL_DIMS == 2
#define TZ__AT1 TZ__AT_ANY
#define TZ__AT2 TZ__READ2
#define TZ__AT3 TZ__AT_ANY
#define TZ__AT_ANY(...)                                                                            \
    TZ__SAY(TZ_CELL_DIMS is 2, so TZ_AT takes a field and 2 offsets, as in TZ_AT(u, -1, 0))
#else
#define TZ__AT1 TZ__AT_ANY
#define TZ__AT2 TZ__AT_ANY
#define TZ__AT3 TZ__READ3
#define TZ__AT_ANY(...)                                                                            \
    TZ__SAY(TZ_CELL_DIMS is 3, so TZ_AT takes a field and 3 offsets, as in TZ_AT(u, -1, 0, 0))
#endif

/* TZ_ROWS_ONLY is for plugins that one machine makes for itself: the only set, 1 (base), 3 or 4. */
#ifdef TZ_ROWS_ONLY
#define TZ__ROWS(level) (TZ_ROWS_ONLY == (level))
#else
#define TZ__ROWS(level) 1
#endif
#define TZ__FIRST 1
#define TZ__ISA any
#define TZ__LOOP <trapeze/rows_cell.h>
#include <trapeze/rows_isa.h>
#undef TZ__LOOP
#define TZ__LOOP <trapeze/rows_loop.h>
#if TZ__ROWS(1)
#define TZ__ISA base
#include <trapeze/rows_isa.h>
#endif
#if defined(__x86_64__) && TZ__ROWS(3)
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
#endif
#if defined(__x86_64__) && TZ__ROWS(4)
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
#if defined(TZ__SEVERAL) && !defined(__clang__) && defined(__OPTIMIZE__) && !TZ_CELL_SHARES
#define TZ__SHIFTED
#undef TZ__LOOP
#define TZ__LOOP <trapeze/rows_shifted.h>
#define TZ__ISA v4_shifted
#include <trapeze/rows_isa.h>
#endif
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

#include <trapeze/rows_tables.h>

TZ__NAMES(TZ__NAME_POP)
#undef TZ__ROWS
#undef TZ__FIRST
#undef TZ__AT_ANY
#undef TZ__AT1
#undef TZ__AT2
#undef TZ__AT3
#undef TZ__LOOP
#undef TZ__WINDOW
#undef TZ__SEVERAL
#undef TZ__SLABS
#undef TZ__SHIFTED
#undef TZ_CELL_ID
#undef TZ_CELL_NAME
#undef TZ_CELL_DIMS
#undef TZ_CELL_RADIUS
#undef TZ_CELL_REAL
#undef TZ_CELL_SWITCH
#undef TZ_CELL_FRAME
#undef TZ_CELL_SHARES
#undef TZ_CELL_TEXT
#undef TZ__CELL
#undef TZ_FIELDS
#undef TZ_CONSTANTS
#undef TZ_READS
