/* trapeze/rows_check.h: finds mistakes in what a plugin defines for <trapeze/rows.h> and in the
 * options of the compiler, and says each in one line. Included only by <trapeze/rows.h>. No include
 * guard. */

/* ---- What the plugin defines ----------------------------------------------------------------- */

#ifndef TZ_CELL_TEXT
#error define TZ_CELL_TEXT before <trapeze/rows.h>: the file name of the text, in quotes
#endif
#ifndef TZ_CELL_ID
#error define TZ_CELL_ID before <trapeze/rows.h>: the C identifier that its tables begin with
#define TZ_CELL_ID tz__no_id
#endif
#ifndef TZ_CELL_DIMS
#error define TZ_CELL_DIMS before <trapeze/rows.h>: 1, 2 or 3
#define TZ_CELL_DIMS 2
#elif TZ_CELL_DIMS < 1 || TZ_CELL_DIMS > 3
#error TZ_CELL_DIMS is 1, 2 or 3
#endif
#ifndef TZ_CELL_RADIUS
#define TZ_CELL_RADIUS 1
#elif TZ_CELL_RADIUS < 0 || TZ_CELL_RADIUS > 8
#error TZ_CELL_RADIUS is 0 to 8, TZ_RADIUS_MAX
#endif
#ifndef TZ_CELL_REAL
#define TZ_CELL_REAL 1
#elif TZ_CELL_REAL != 0 && TZ_CELL_REAL != 1
#error TZ_CELL_REAL is 1 if a field or constant is real, else 0
#endif

/* ---- The options of the compiler ------------------------------------------------------------- */

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) ||     \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || defined(__NO_SIGNED_ZEROS__)
#error -ffast-math, -Ofast and their parts change bits: compile plugins without them
#endif
#if defined(__FLT_EVAL_METHOD__) && (__FLT_EVAL_METHOD__ == 1 || __FLT_EVAL_METHOD__ == 2)
#error the compiler computes float in more bits than a float has: use -mfpmath=sse
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif
