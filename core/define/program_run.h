/* Included only by program.c, for each instruction set: the operations of a program on `count`
 * cells, and the row functions. No include guard. */
#ifndef TZ__PRECISION
#define TZ__PRECISION single
#define real float
#define REAL_FMA(a, b, c) __builtin_fmaf(a, b, c)
#include "define/program_run.h"
#undef TZ__PRECISION
#undef real
#undef REAL_FMA
#define TZ__PRECISION double
#define real double
#define REAL_FMA(a, b, c) __builtin_fma(a, b, c)
#include "define/program_run.h"
#undef TZ__PRECISION
#undef real
#undef REAL_FMA
#else

#define OPERATION(name, result, first, others, value)                                              \
    case DO_##name: {                                                                              \
        const first *const first_at = at[o->a];                                                    \
        const others *const second_at = at[o->b], *const third_at = at[o->c];                      \
        result *const to = at[o->result_at];                                                       \
        TZ__VECTOR_LOOP                                                                            \
        for (int i = 0; i < count; i++) {                                                          \
            const first a = first_at[i];                                                           \
            const others b = second_at[i], c = third_at[i];                                        \
            (void)a, (void)b, (void)c;                                                             \
            to[i] = (value);                                                                       \
        }                                                                                          \
        break;                                                                                     \
    }
static void THIS(compute)(const operations *list, void *const *at, int count)
{
    for (const operation *o = list->all, *end = o + list->count; o < end; o++)
        switch (o->what) {
            OPERATIONS(OPERATION)
        }
}
#undef OPERATION

static const precision_of THIS(how) = {THIS(compute), sizeof(real), sizeof(real) == sizeof(double)};

static void THIS(rows)(const tz_span *span)
{
    compute_rows(span, &THIS(how));
}
#endif
