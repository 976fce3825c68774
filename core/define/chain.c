/* Chains: operands of one level from left to right, as in a + b - c. */
#include "define/expr.h"
#include <stdlib.h>

/* Operands of one type that are gathered for a node. */
typedef struct run {
    tz_expr_type type;
    int count;
    tz_expr_operand *operands;
} run;

/* What `a op b` is. */
static tz_expr_type result_type(tz_expr_type a, tz_operator op, tz_expr_type b)
{
    const bool bits = a >= TZ_EXPR_BITS || b >= TZ_EXPR_BITS;
    switch (tz_operator_level(op)) {
    case TZ_LEVEL_OR:
    case TZ_LEVEL_AND:
        return bits ? TZ_EXPR_BITS : TZ_EXPR_BOOL;
    case TZ_LEVEL_BITS_OR:
    case TZ_LEVEL_BITS_XOR:
    case TZ_LEVEL_BITS_AND:
        return bits ? TZ_EXPR_BITS : TZ_EXPR_INT;
    case TZ_LEVEL_SHIFT:
        return TZ_EXPR_INT;
    default:
        break;
    }
    if (op == TZ_OP_FLOOR_OVER || op == TZ_OP_MODULO)
        return TZ_EXPR_INT;
    return op == TZ_OP_OVER || a == TZ_EXPR_REAL || b == TZ_EXPR_REAL ? TZ_EXPR_REAL : TZ_EXPR_INT;
}

static int finish(tz_expr *e, const run *r)
{
    if (r->count == 1)
        return r->operands[0].node;
    return tz_expr_make_of(e, (tz_expr_node){.kind = TZ_EXPR_CHAIN, .type = r->type}, r->operands,
                           r->count);
}

/* Make one operand of what is gathered, of this type. */
static bool gather(tz_expr *e, run *r, tz_expr_type type)
{
    const int node = tz_expr_convert(e, finish(e, r), type);
    r->operands[0] = (tz_expr_operand){node, TZ_OP_NONE};
    r->count = 1;
    r->type = type;
    return node >= 0;
}

/* The product with its first operand, a negative number, made positive. */
static int without_minus(tz_expr *e, int product)
{
    const tz_expr_node n = e->nodes[product];
    tz_expr_operand *operands = malloc((size_t)n.count * sizeof *operands);
    if (!operands)
        return tz_expr_fail(e, TZ_MEMORY, "not enough memory for the formula");
    for (int i = 0; i < n.count; i++)
        operands[i] = e->operands[n.first + i];
    operands[0].node = tz_expr_number(e, -e->nodes[operands[0].node].number, n.type);
    const int result = operands[0].node < 0 ? -1 : tz_expr_chain(e, operands, n.count);
    free(operands);
    return result;
}

/* a + -b is a - b, and a + -2*b is a - 2*b, to the last bit. */
static tz_expr_operand without_sign(tz_expr *e, tz_expr_operand operand)
{
    const tz_expr_node *n = &e->nodes[operand.node];
    const tz_operator other = operand.op == TZ_OP_PLUS ? TZ_OP_MINUS : TZ_OP_PLUS;
    if (n->kind == TZ_EXPR_NEGATIVE)
        return (tz_expr_operand){e->operands[n->first].node, other};
    if (n->kind != TZ_EXPR_CHAIN || n->type != TZ_EXPR_REAL ||
        tz_operator_level(e->operands[n->first + 1].op) != TZ_LEVEL_PRODUCT)
        return operand;
    const tz_expr_node *first = &e->nodes[e->operands[n->first].node];
    if (first->kind != TZ_EXPR_NUMBER || first->number >= 0)
        return operand;
    const int node = without_minus(e, operand.node);
    return (tz_expr_operand){node, other};
}

static bool append(tz_expr *e, run *r, tz_expr_operand next)
{
    const tz_level level = tz_operator_level(next.op);
    if (level == TZ_LEVEL_PRODUCT && r->type == e->nodes[next.node].type) {
        const bool alone = next.op == TZ_OP_TIMES && r->count == 1;
        if ((next.op == TZ_OP_TIMES || next.op == TZ_OP_OVER) && tz_expr_is_number(e, next.node, 1))
            return true;
        if (alone && tz_expr_is_number(e, r->operands[0].node, 1)) {
            r->operands[0].node = next.node;
            return true;
        }
        if (alone && tz_expr_is_number(e, r->operands[0].node, -1)) {
            const int node = tz_expr_make(e, TZ_EXPR_NEGATIVE, r->type, 0, next.node, -1, -1);
            r->operands[0].node = node;
            return node >= 0;
        }
    }
    if (level == TZ_LEVEL_SUM && r->type <= TZ_EXPR_INT)
        next = without_sign(e, next);
    r->operands[r->count++] = next;
    return next.node >= 0;
}

/* Operations that take two operands in the text: what is gathered before becomes one. */
static bool takes_two(tz_operator op, tz_expr_type type)
{
    return type == TZ_EXPR_INT &&
           (op == TZ_OP_FLOOR_OVER || op == TZ_OP_MODULO || op == TZ_OP_LEFT || op == TZ_OP_RIGHT);
}

static bool join(tz_expr *e, run *r, tz_expr_operand next)
{
    const tz_expr_type type = result_type(r->type, next.op, e->nodes[next.node].type);
    const bool two = takes_two(next.op, type) ||
                     (r->count > 1 && takes_two(r->operands[r->count - 1].op, r->type));
    bool constant = true; /* what is gathered */
    for (int i = 0; i < r->count; i++)
        constant = constant && e->nodes[r->operands[i].node].constant;
    next.node = tz_expr_convert(e, next.node, type);
    if (next.node < 0)
        return false;
    if ((type != r->type || two || (constant && !e->nodes[next.node].constant)) &&
        !gather(e, r, type))
        return false;
    return append(e, r, next);
}

/* Two operands: bits if both are, otherwise a condition. */
static int compare(tz_expr *e, const tz_expr_operand *two)
{
    int a = two[0].node, b = two[1].node;
    const tz_expr_type type_a = e->nodes[a].type, type_b = e->nodes[b].type;
    if (type_a == TZ_EXPR_BITS || type_b == TZ_EXPR_BITS) {
        a = tz_expr_convert(e, a, TZ_EXPR_BITS);
        b = tz_expr_convert(e, b, TZ_EXPR_BITS);
        if (two[1].op != TZ_OP_EQUAL && two[1].op != TZ_OP_NOT_EQUAL)
            return tz_expr_fail(e, TZ_TYPE,
                                "bits are equal or not, but never less: write == or !=");
        const int differ = tz_expr_two(e, a, TZ_OP_BITS_XOR, b);
        return two[1].op == TZ_OP_NOT_EQUAL
                   ? differ
                   : tz_expr_make(e, TZ_EXPR_BITS_NOT, TZ_EXPR_BITS, 0, differ, -1, -1);
    }
    if (type_a == TZ_EXPR_COUNT || type_b == TZ_EXPR_COUNT)
        return tz_expr_compare_count(e, a, two[1].op, b);
    const tz_expr_type type =
        type_a == TZ_EXPR_REAL || type_b == TZ_EXPR_REAL ? TZ_EXPR_REAL : TZ_EXPR_INT;
    const tz_expr_operand operands[] = {{tz_expr_convert(e, a, type), TZ_OP_NONE},
                                        {tz_expr_convert(e, b, type), two[1].op}};
    return tz_expr_make_of(e, (tz_expr_node){.kind = TZ_EXPR_CHAIN, .type = TZ_EXPR_BOOL}, operands,
                           2);
}

int tz_expr_chain(tz_expr *e, const tz_expr_operand *operands, int count)
{
    const tz_level level = tz_operator_level(operands[1].op);
    if (level == TZ_LEVEL_COMPARE)
        return compare(e, operands);
    if (level == TZ_LEVEL_SUM)
        for (int i = 0; i < count; i++)
            if (e->nodes[operands[i].node].type >= TZ_EXPR_BITS)
                return tz_expr_add_bits(e, operands, count);
    run r = {.count = 1, .operands = malloc((size_t)count * sizeof *operands)};
    if (!r.operands)
        return tz_expr_fail(e, TZ_MEMORY, "not enough memory for the formula");
    r.operands[0] = operands[0];
    r.type = e->nodes[operands[0].node].type;
    bool ok = true;
    for (int i = 1; i < count && ok; i++)
        ok = join(e, &r, operands[i]);
    const int node = ok ? finish(e, &r) : -1;
    free(r.operands);
    return node;
}

/* ---- Counts of bits -------------------------------------------------------------------------- */

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
