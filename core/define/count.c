/* Sums of bits: how many of some bits are set, for 32 cells at once. The text adds them with full
 * adders (emit_count.c). */
#include "define/expr.h"

#include "define/make.h"
#include <stdlib.h>

/* What an operand has: bits, and a number added to them. */
typedef struct sum {
    tz_expr_operand *bits;
    int count, capacity;
    double more;
} sum;

static int add_bit(tz_expr *e, sum *s, int node)
{
    if (s->count == s->capacity) {
        const int capacity = s->capacity ? 2 * s->capacity : 32;
        void *bits = realloc(s->bits, (size_t)capacity * sizeof *s->bits);
        if (!bits)
            return tz_expr_fail(e, TZ_MEMORY, "not enough memory for the formula");
        s->bits = bits;
        s->capacity = capacity;
    }
    s->bits[s->count++] = (tz_expr_operand){node, TZ_OP_NONE};
    return 0;
}

static int take_bit(tz_expr *e, sum *s, int node)
{
    int i = 0;
    while (i < s->count && s->bits[i].node != node)
        i++;
    if (i == s->count)
        return tz_expr_fail(e, TZ_TYPE,
                            "only bits that were added can be subtracted: compare the sum with a "
                            "number instead");
    for (s->count--; i < s->count; i++)
        s->bits[i] = s->bits[i + 1];
    return 0;
}

static int add_operand(tz_expr *e, sum *s, tz_expr_operand operand)
{
    const tz_expr_node n = e->nodes[operand.node];
    const bool minus = operand.op == TZ_OP_MINUS;
    if (n.kind == TZ_EXPR_NUMBER && n.type == TZ_EXPR_INT) {
        s->more += minus ? -n.number : n.number;
        return 0;
    }
    if (n.type == TZ_EXPR_BITS || n.type == TZ_EXPR_BOOL) {
        const int bits = tz_expr_convert(e, operand.node, TZ_EXPR_BITS);
        return bits < 0 ? -1 : minus ? take_bit(e, s, bits) : add_bit(e, s, bits);
    }
    if (n.type != TZ_EXPR_COUNT)
        return tz_expr_convert(e, operand.node, TZ_EXPR_COUNT); /* says what is wrong */
    s->more += minus ? -n.number : n.number;
    int status = 0;
    for (int i = 0; i < n.count && status >= 0; i++) {
        const int bit = e->operands[n.first + i].node;
        status = minus ? take_bit(e, s, bit) : add_bit(e, s, bit);
    }
    return status;
}

int tz_expr_add_bits(tz_expr *e, const tz_expr_operand *operands, int count)
{
    sum s = {0};
    int status = 0;
    for (int i = 0; i < count && status >= 0; i++)
        status = add_operand(e, &s, operands[i]);
    if (status >= 0)
        status = tz_expr_make_of(
            e, (tz_expr_node){.kind = TZ_EXPR_ADD_UP, .type = TZ_EXPR_COUNT, .number = s.more},
            s.bits, s.count);
    free(s.bits);
    return status;
}

/* Bits: is the count at least `threshold`? */
static int at_least(tz_expr *e, int count, double threshold)
{
    const int most = e->nodes[count].count;
    if (threshold <= 0)
        return tz_expr_number(e, 1, TZ_EXPR_BITS);
    if (threshold > most)
        return tz_expr_number(e, 0, TZ_EXPR_BITS);
    return tz_expr_make(e, TZ_EXPR_AT_LEAST, TZ_EXPR_BITS, (int)threshold, count, -1, -1);
}

static int not(tz_expr * e, int bits)
{
    if (bits >= 0 && e->nodes[bits].kind == TZ_EXPR_NUMBER)
        return tz_expr_number(e, 1 - e->nodes[bits].number, TZ_EXPR_BITS);
    return tz_expr_make(e, TZ_EXPR_BITS_NOT, TZ_EXPR_BITS, 0, bits, -1, -1);
}

static tz_operator turned(tz_operator op)
{
    switch (op) {
    case TZ_OP_LESS:
        return TZ_OP_GREATER;
    case TZ_OP_LESS_EQUAL:
        return TZ_OP_GREATER_EQUAL;
    case TZ_OP_GREATER:
        return TZ_OP_LESS;
    case TZ_OP_GREATER_EQUAL:
        return TZ_OP_LESS_EQUAL;
    default:
        return op;
    }
}

/* Bits: is the count exactly `value`? */
static int exactly(tz_expr *e, int count, double value)
{
    const int most = e->nodes[count].count;
    if (value < 0 || value > most)
        return tz_expr_number(e, 0, TZ_EXPR_BITS);
    return tz_expr_make(e, TZ_EXPR_EXACTLY, TZ_EXPR_BITS, (int)value, count, -1, -1);
}

int tz_expr_compare_count(tz_expr *e, int a, tz_operator op, int b)
{
    if (e->nodes[a].type != TZ_EXPR_COUNT) {
        const int other = a;
        a = b;
        b = other;
        op = turned(op);
    }
    if (e->nodes[b].kind != TZ_EXPR_NUMBER || e->nodes[b].type != TZ_EXPR_INT)
        return tz_expr_fail(
            e, TZ_TYPE,
            "a sum of bits is compared with a whole number that is written here, as "
            "in sum(i,-1,1, u[i]) == 2");
    const double value = e->nodes[b].number - e->nodes[a].number;
    switch (op) {
    case TZ_OP_LESS:
        return not(e, at_least(e, a, value));
    case TZ_OP_LESS_EQUAL:
        return not(e, at_least(e, a, value + 1));
    case TZ_OP_GREATER:
        return at_least(e, a, value + 1);
    case TZ_OP_GREATER_EQUAL:
        return at_least(e, a, value);
    case TZ_OP_EQUAL:
        return exactly(e, a, value);
    default:
        return not(e, exactly(e, a, value));
    }
}
