/* Included only by trapeze/rows.h: one instruction set, each precision. No include guard. */
/* One loop for each value of TZ_CELL_SWITCH. Compilers do not move a branch on a constant out of a
 * large loop. */
#undef TZ__FOR_SWITCH
#ifdef TZ_CELL_SWITCH
#define TZ__FOR_SWITCH(sweep)                                                                      \
    if (context->TZ__CAT(k_, TZ_CELL_SWITCH)) {                                                    \
        context->TZ__CAT(k_, TZ_CELL_SWITCH) = 1;                                                  \
        sweep;                                                                                     \
    } else {                                                                                       \
        context->TZ__CAT(k_, TZ_CELL_SWITCH) = 0;                                                  \
        sweep;                                                                                     \
    }
#else
#define TZ__FOR_SWITCH(sweep) sweep;
#endif
#define TZ__PRECISION single
#define real float
#define TZ__SLOT_real(slot) ((slot).f)
#define TZ_FMA(a, b, c) __builtin_fmaf((a), (b), (c))
/* A literal without TZ_R(), and a function that nothing declares. */
#pragma GCC diagnostic push
#if TZ__FIRST && defined(__clang__)
#pragma clang diagnostic fatal "-Wdouble-promotion"
#pragma clang diagnostic fatal "-Wimplicit-function-declaration"
#elif TZ__FIRST
#pragma GCC diagnostic error "-Wdouble-promotion"
#pragma GCC diagnostic error "-Wimplicit-function-declaration"
#else
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#endif
#include TZ__LOOP
#pragma GCC diagnostic pop
#undef TZ__FIRST
#define TZ__FIRST 0
#undef TZ__PRECISION
#undef real
#undef TZ__SLOT_real
#undef TZ_FMA
#if TZ_CELL_REAL
#define TZ__PRECISION double
#define real double
#define TZ__SLOT_real(slot) ((slot).d)
#define TZ_FMA(a, b, c) __builtin_fma((a), (b), (c))
#include TZ__LOOP
#undef TZ__PRECISION
#undef real
#undef TZ__SLOT_real
#undef TZ_FMA
#endif
#undef TZ__ISA
