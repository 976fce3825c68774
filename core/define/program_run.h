/* Included only by program.c, for each instruction set: the operations of a program on `count`
 * cells, and the row functions. No include guard. */
#ifndef TZ__PRECISION
#define TZ__PRECISION single
#define real float
#define TZ_FMA(a, b, c) __builtin_fmaf(a, b, c)
#define SLOT f
#include "define/program_run.h"
#undef TZ__PRECISION
#undef real
#undef TZ_FMA
#undef SLOT
#define TZ__PRECISION double
#define real double
#define TZ_FMA(a, b, c) __builtin_fma(a, b, c)
#define SLOT d
#include "define/program_run.h"
#undef TZ__PRECISION
#undef real
#undef TZ_FMA
#undef SLOT
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

static void THIS(set)(const input *in, const tz_slot *constants, int64_t step, const int64_t *place,
                      void *to, int count)
{
    const tz_slot slot = in->kind == TZ_EXPR_PARAM ? constants[in->index] : (tz_slot){.i = 0};
    const real number = in->kind == TZ_EXPR_PARAM  ? (real)slot.SLOT
                        : in->kind == TZ_EXPR_STEP ? (real)step
                                                   : (real)in->number;
    const int64_t whole_number = in->kind == TZ_EXPR_PARAM        ? slot.i
                                 : in->kind == TZ_EXPR_STEP       ? step
                                 : in->kind == TZ_EXPR_COORDINATE ? place[in->index]
                                 : in->is_real                    ? 0
                                                                  : (int64_t)in->number;
    const int slope = in->kind == TZ_EXPR_COORDINATE && in->index == 0;
    for (int i = 0; i < count; i++)
        if (in->is_real)
            ((real *)to)[i] = number;
        else
            ((int *)to)[i] = (int)(whole_number + slope * i);
}

static const precision_of THIS(how) = {THIS(compute), THIS(set), sizeof(real)};

static void THIS(rows)(const tz_span *span)
{
    compute_rows(span, &THIS(how));
}
#endif
