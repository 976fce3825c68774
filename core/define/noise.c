/* Random numbers in formulas. Called by expand.c. */
#include "define/noise.h"

#include <string.h>

/* As an int, computed modulo 2^32. */
static int word(tz_expr *e, uint32_t number)
{
    return tz_expr_number(e, (int32_t)number, TZ_EXPR_INT);
}

/* a + b*c */
static int mix(tz_expr *e, int a, int b, int c)
{
    return tz_expr_two(e, a, TZ_OP_PLUS, tz_expr_two(e, b, TZ_OP_TIMES, c));
}

/* The seed, spread over all bits, in cells: a constant would be computed in double. */
static int spread_seed(tz_expansion *x)
{
    const tz_definition *d = x->e->definition;
    for (int p = 0; p < d->params_count; p++)
        if (strcmp(d->params[p].name, "seed") == 0 && d->params[p].integer) {
            const int turned =
                tz_expr_two(x->e, tz_expr_param(x->e, p), TZ_OP_BITS_XOR, word(x->e, 0x5bd1e995u));
            const int spread = tz_expr_two(x->e, turned, TZ_OP_TIMES, word(x->e, 0x9e3779b9u));
            const int high = tz_expr_two(x->e, spread, TZ_OP_RIGHT_ZEROS, word(x->e, 15));
            return tz_expr_two(x->e, tz_expr_two(x->e, spread, TZ_OP_BITS_XOR, high), TZ_OP_TIMES,
                               word(x->e, 0x85ebca6bu));
        }
    return tz_expr_fail(x->e, TZ_TYPE,
                        "random numbers need a seed, an integer parameter: params = { seed = { "
                        "value = 1, integer = true } }");
}

/* Four words of random bits from the cell, the iteration, the stream and the seed: pcg4d of
 * Jarzynski and Olano ("Hash functions for GPU rendering", JCGT 9, 2020). The seed and the stream
 * move the cell and the iteration far outside of any grid and run. */
static bool random_words(tz_expansion *x, const tz_place *scope, uint32_t stream, int *v)
{
    tz_expr *e = x->e;
    const int dims = e->definition->dims, seed = spread_seed(x);
    const int step =
        tz_expr_intern(e, (tz_expr_node){.kind = TZ_EXPR_STEP, .type = TZ_EXPR_INT}, NULL, 0);
    if (seed < 0 || step < 0)
        return false;
    v[0] = tz_expr_two(e, tz_expand_coordinate(x, scope, 0, true), TZ_OP_BITS_XOR, seed);
    v[1] = dims > 1 ? tz_expand_coordinate(x, scope, 1, true) : word(e, 0x2545f491u);
    v[2] = dims > 2 ? tz_expand_coordinate(x, scope, 2, true) : word(e, 0x4f6cdd1du);
    v[3] = tz_expr_two(e, step, TZ_OP_BITS_XOR, word(e, (stream + 1) * 0x9e3779b9u));
    v[1] = tz_expr_two(e, v[1], TZ_OP_MINUS, seed);
    for (int i = 0; i < 4; i++)
        v[i] = i == 2 && dims < 3 ? v[i] : mix(e, word(e, 1013904223u), v[i], word(e, 1664525u));
    for (int round = 0; round < 2; round++) {
        v[0] = mix(e, v[0], v[1], v[3]);
        v[1] = mix(e, v[1], v[2], v[0]);
        v[2] = mix(e, v[2], v[0], v[1]);
        v[3] = mix(e, v[3], v[1], v[2]);
        for (int i = 0; i < 4 && round == 0; i++)
            v[i] = tz_expr_two(e, v[i], TZ_OP_BITS_XOR,
                               tz_expr_two(e, v[i], TZ_OP_RIGHT_ZEROS, word(e, 16)));
    }
    return v[3] >= 0;
}

/* random(stream), from 0 to below 1, or normal(stream) of it, by Box and Muller. */
int tz_noise(tz_expansion *x, const tz_syntax_node *n, const tz_place *scope, bool normal)
{
    enum { STREAM_MOST = 1000000 };
    tz_expr *e = x->e;
    int stream = 0, v[4];
    if (x->scalar)
        return tz_expr_fail(e, TZ_TYPE,
                            "random numbers differ from cell to cell, and this number is the same "
                            "for all cells");
    if (tz_type_is_bits(e->definition->fields[0].type))
        return tz_expr_fail(e, TZ_TYPE,
                            "random numbers are not for a stencil of bits: make its fields int");
    if (tz_expand_number(x, n->first, scope, "the stream of random numbers", 0, STREAM_MOST,
                         &stream) < 0)
        return -1;
    e->at = n->at;
    if (!random_words(x, scope, (uint32_t)stream, v))
        return -1;
    const int unit = tz_expr_make(e, TZ_EXPR_CALL, TZ_EXPR_REAL, TZ_FUNCTION_unit, v[0], v[1], -1);
    if (!normal)
        return unit;
    const int one = tz_expr_number(e, 1, TZ_EXPR_REAL);
    const int turn = tz_expr_make(e, TZ_EXPR_CALL, TZ_EXPR_REAL, TZ_FUNCTION_unit, v[2], v[3], -1);
    const int logarithm = tz_expr_make(e, TZ_EXPR_CALL, TZ_EXPR_REAL, TZ_FUNCTION_log,
                                       tz_expr_two(e, one, TZ_OP_MINUS, unit), -1, -1);
    const int square = tz_expr_two(e, tz_expr_number(e, -2, TZ_EXPR_REAL), TZ_OP_TIMES, logarithm);
    const int angle =
        tz_expr_two(e, tz_expr_number(e, 6.28318530717958647692, TZ_EXPR_REAL), TZ_OP_TIMES, turn);
    return tz_expr_two(
        e, tz_expr_make(e, TZ_EXPR_CALL, TZ_EXPR_REAL, TZ_FUNCTION_sqrt, square, -1, -1),
        TZ_OP_TIMES, tz_expr_make(e, TZ_EXPR_CALL, TZ_EXPR_REAL, TZ_FUNCTION_cos, angle, -1, -1));
}
