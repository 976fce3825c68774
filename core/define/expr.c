/* Expressions: nodes that are made once, with their types, constants, ranges and values. Called by
 * expand.c, and by all that rewrites expressions. */
#include "define/expr.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trapeze/formulas.h>

struct tz_expr_memory {
    struct tz_expr_memory *next;
    max_align_t bytes[];
};

void tz_expr_clear(tz_expr *e)
{
    for (struct tz_expr_memory *next; e->memory; e->memory = next) {
        next = e->memory->next;
        free(e->memory);
    }
    free(e->nodes);
    free(e->operands);
    free(e->buckets);
    free(e->warning);
    memset(e, 0, sizeof *e);
}

void *tz_expr_alloc(tz_expr *e, size_t count, size_t size)
{
    struct tz_expr_memory *memory = calloc(1, sizeof *memory + count * size);
    if (!memory) {
        tz_expr_fail(e, TZ_MEMORY, "not enough memory for the formula");
        return NULL;
    }
    memory->next = e->memory;
    e->memory = memory;
    return memory->bytes;
}

int tz_expr_fail(tz_expr *e, tz_status code, const char *format, ...)
{
    char what[800];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (!e->status)
        e->status = tz_formula_fail(&e->formula, code, e->at, "%s", what);
    return -1;
}

void tz_expr_warn(tz_expr *e, const char *format, ...)
{
    char what[800], text[1600];
    tz_error note;
    tz_formula formula = e->formula;
    if (e->warning)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    formula.error = &note;
    tz_formula_fail(&formula, TZ_OK, e->at, "%s", what);
    tz_error_format(&note, text, sizeof text);
    e->warning = strdup(text);
}

/* ---- Ranges of whole numbers ----------------------------------------------------------------- */

typedef struct range {
    double low, high;
} range;

static const range every = {INT32_MIN, INT32_MAX};

static bool fits(range r)
{
    return r.low >= INT32_MIN && r.high <= INT32_MAX;
}

static range of_operand(const tz_expr *e, const tz_expr_node *n, int i)
{
    const tz_expr_node *operand = &e->nodes[e->operands[n->first + i].node];
    if (operand->type == TZ_EXPR_BOOL)
        return (range){0, 1};
    return operand->type == TZ_EXPR_INT ? (range){operand->low, operand->high} : every;
}

static range times(range a, range b)
{
    const double p = a.low * b.low, q = a.low * b.high, r = a.high * b.low, s = a.high * b.high;
    return (range){fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s))};
}

static range joined(range a, range b)
{
    return (range){fmin(a.low, b.low), fmax(a.high, b.high)};
}

/* The smallest 2^n - 1 that is not less. */
static double all_bits(double value)
{
    double bits = 0;
    while (bits < value)
        bits = 2 * bits + 1;
    return bits;
}

static range combined(range a, tz_operator op, range b)
{
    const bool positive = a.low >= 0 && b.low >= 0;
    switch (op) {
    case TZ_OP_PLUS:
        return (range){a.low + b.low, a.high + b.high};
    case TZ_OP_MINUS:
        return (range){a.low - b.high, a.high - b.low};
    case TZ_OP_TIMES:
        return times(a, b);
    case TZ_OP_FLOOR_OVER:
        if (b.low <= 0)
            return every;
        return (range){floor(a.low / (a.low < 0 ? b.low : b.high)),
                       floor(a.high / (a.high < 0 ? b.high : b.low))};
    case TZ_OP_MODULO:
        if (b.low <= 0)
            return every;
        return (range){0, a.low >= 0 ? fmin(a.high, b.high - 1) : b.high - 1};
    case TZ_OP_BITS_AND:
        if (a.low < 0 && b.low < 0)
            return every;
        return (range){0, fmin(a.low < 0 ? INT32_MAX : a.high, b.low < 0 ? INT32_MAX : b.high)};
    case TZ_OP_BITS_OR:
    case TZ_OP_BITS_XOR:
        return positive ? (range){0, all_bits(fmax(a.high, b.high))} : every;
    case TZ_OP_LEFT:
        return times(a, (range){exp2(b.low), exp2(b.high)});
    case TZ_OP_RIGHT_ZEROS:
        if (a.low < 0)
            return b.low > 0 ? (range){0, floor(UINT32_MAX * exp2(-b.low))} : a;
        /* fallthrough */
    case TZ_OP_RIGHT:
        return (range){floor(a.low * exp2(-b.low)), floor(a.high * exp2(-b.low))};
    default:
        return (range){0, 1};
    }
}

static range of_chain(const tz_expr *e, const tz_expr_node *n, bool *wraps)
{
    range all = of_operand(e, n, 0);
    for (int i = 1; i < n->count; i++) {
        all = combined(all, e->operands[n->first + i].op, of_operand(e, n, i));
        *wraps = *wraps || !fits(all);
    }
    return all;
}

static range of_call(const tz_expr *e, const tz_expr_node *n)
{
    if (n->function == TZ_FUNCTION_abs) {
        const range a = of_operand(e, n, 0);
        return (range){0, fmax(fabs(a.low), fabs(a.high))};
    }
    return n->function == TZ_FUNCTION_int ? every
                                          : joined(of_operand(e, n, 0), of_operand(e, n, 1));
}

static range of_node(const tz_expr *e, const tz_expr_node *n, bool *wraps)
{
    const range a = n->count ? of_operand(e, n, 0) : every;
    range all = a;
    switch (n->kind) {
    case TZ_EXPR_NUMBER:
        return (range){n->number, n->number};
    case TZ_EXPR_PARAM:
        return (range){e->definition->params[n->index].min, e->definition->params[n->index].max};
    case TZ_EXPR_EXTENT:
        return (range){1, INT32_MAX - 64};
    case TZ_EXPR_COORDINATE: /* so long grids there are not: a neighbour's does not overflow */
        return (range){0, INT32_MAX - 64};
    case TZ_EXPR_CHAIN:
        return of_chain(e, n, wraps);
    case TZ_EXPR_NEGATIVE:
        return (range){-a.high, -a.low};
    case TZ_EXPR_BITS_NOT:
        return (range){-a.high - 1, -a.low - 1};
    case TZ_EXPR_POWER:
        for (int i = 1; i < n->index; i++) {
            all = times(all, a);
            *wraps = *wraps || !fits(all);
        }
        return all;
    case TZ_EXPR_SELECT:
        return joined(of_operand(e, n, 1), of_operand(e, n, 2));
    case TZ_EXPR_CALL:
        return of_call(e, n);
    case TZ_EXPR_CONVERT:
        return a;
    default:
        return every;
    }
}

static void set_range(const tz_expr *e, tz_expr_node *node)
{
    if (node->type != TZ_EXPR_INT)
        return;
    bool wraps = false;
    const range r = of_node(e, node, &wraps);
    const bool any = wraps || !fits(r);
    node->wraps = any || (node->kind == TZ_EXPR_CHAIN &&
                          e->operands[node->first + 1].op == TZ_OP_RIGHT_ZEROS);
    node->low = any || !(r.low >= INT32_MIN) ? INT32_MIN : r.low;
    node->high = any || !(r.high <= INT32_MAX) ? INT32_MAX : r.high;
}

/* ---- Equal nodes are one --------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_of(const tz_expr_node *n, const tz_expr_operand *operands)
{
    uint64_t number, hash = mix(n->kind, n->type);
    memcpy(&number, &n->number, sizeof number);
    hash = mix(mix(mix(hash, number), (uint64_t)n->index), n->function);
    for (int d = 0; d < TZ_AXES; d++)
        hash = mix(hash, (uint64_t)n->offset[d]);
    for (int i = 0; i < n->count; i++)
        hash = mix(mix(hash, (uint64_t)operands[i].node), operands[i].op);
    return hash;
}

static bool equal(const tz_expr *e, const tz_expr_node *a, const tz_expr_node *b,
                  const tz_expr_operand *operands_of_b)
{
    if (a->kind != b->kind || a->type != b->type || a->function != b->function ||
        a->index != b->index || a->count != b->count ||
        memcmp(&a->number, &b->number, sizeof a->number) != 0 ||
        memcmp(a->offset, b->offset, sizeof a->offset) != 0)
        return false;
    const tz_expr_operand *operands_of_a = e->operands + a->first;
    for (int i = 0; i < a->count; i++)
        if (operands_of_a[i].node != operands_of_b[i].node ||
            operands_of_a[i].op != operands_of_b[i].op)
            return false;
    return true;
}

/* Make room for one more element. */
static bool grow(tz_expr *e, void **array, int count, int *capacity, size_t size)
{
    if (count <= *capacity)
        return true;
    const int wanted = count > 2 * *capacity ? count + 64 : 2 * *capacity;
    void *larger = realloc(*array, (size_t)wanted * size);
    if (!larger) {
        tz_expr_fail(e, TZ_MEMORY, "not enough memory for the formula");
        return false;
    }
    *array = larger;
    *capacity = wanted;
    return true;
}

/* The bucket of a node, or a free one. */
static int bucket_of(const tz_expr *e, const tz_expr_node *n, const tz_expr_operand *operands)
{
    const int mask = e->buckets_count - 1;
    int bucket = (int)(hash_of(n, operands) & (uint64_t)mask);
    while (e->buckets[bucket] >= 0 && !equal(e, &e->nodes[e->buckets[bucket]], n, operands))
        bucket = (bucket + 1) & mask;
    return bucket;
}

static bool grow_buckets(tz_expr *e)
{
    if (2 * (e->count + 1) <= e->buckets_count)
        return true;
    const int count = e->buckets_count ? 2 * e->buckets_count : 256;
    int *buckets = malloc((size_t)count * sizeof *buckets);
    if (!buckets) {
        tz_expr_fail(e, TZ_MEMORY, "not enough memory for the formula");
        return false;
    }
    free(e->buckets);
    e->buckets = buckets;
    e->buckets_count = count;
    for (int i = 0; i < count; i++)
        buckets[i] = -1;
    for (int i = 0; i < e->count; i++)
        buckets[bucket_of(e, &e->nodes[i], e->operands + e->nodes[i].first)] = i;
    return true;
}

int tz_expr_intern(tz_expr *e, tz_expr_node node, const tz_expr_operand *operands, int count)
{
    node.first = e->operands_count;
    node.count = count;
    if (!grow_buckets(e))
        return -1;
    const int bucket = bucket_of(e, &node, operands);
    if (e->buckets[bucket] >= 0)
        return e->buckets[bucket];
    if (e->operands_count + count > TZ_EXPR_OPERANDS_MAX)
        return tz_expr_fail(e, TZ_RANGE,
                            "the formulas have more than %d operands, sums written out: use fewer "
                            "terms, or several passes",
                            TZ_EXPR_OPERANDS_MAX);
    /* `operands` may lie in e->operands. */
    const ptrdiff_t inside = operands - e->operands;
    const bool within = count && e->operands && inside >= 0 && inside < e->operands_count;
    if (!grow(e, (void **)&e->nodes, e->count + 1, &e->capacity, sizeof *e->nodes) ||
        !grow(e, (void **)&e->operands, e->operands_count + count, &e->operands_capacity,
              sizeof *e->operands))
        return -1;
    if (count)
        memcpy(e->operands + e->operands_count, within ? e->operands + inside : operands,
               (size_t)count * sizeof *operands);
    e->operands_count += count;
    e->nodes[e->count] = node;
    set_range(e, &e->nodes[e->count]);
    e->buckets[bucket] = e->count;
    return e->count++;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

int tz_expr_number(tz_expr *e, double number, tz_expr_type type)
{
    if (!isfinite(number))
        return tz_expr_fail(e, TZ_RANGE, "this is %s: a constant must be a finite number",
                            isnan(number) ? "not a number" : "infinite");
    if (type == TZ_EXPR_INT)
        number += 0.0; /* no whole number is -0 */
    if (type == TZ_EXPR_INT && !(number >= INT32_MIN && number <= INT32_MAX))
        return tz_expr_fail(e, TZ_RANGE,
                            "this is %.0f, and whole numbers end at %d: write one of its numbers "
                            "with a point, as 2.0, for a real one",
                            number, INT32_MAX);
    return tz_expr_intern(
        e, (tz_expr_node){.kind = TZ_EXPR_NUMBER, .type = type, .constant = true, .number = number},
        NULL, 0);
}

int tz_expr_param(tz_expr *e, int param)
{
    const tz_expr_node node = {.kind = TZ_EXPR_PARAM,
                               .type = e->definition->params[param].integer ? TZ_EXPR_INT
                                                                            : TZ_EXPR_REAL,
                               .constant = true,
                               .index = param};
    return tz_expr_intern(e, node, NULL, 0);
}

bool tz_expr_is_number(const tz_expr *e, int node, double number)
{
    const tz_expr_node *n = &e->nodes[node];
    return n->kind == TZ_EXPR_NUMBER && n->type != TZ_EXPR_BITS && n->number == number;
}

tz_expr_type tz_expr_type_of(tz_type type)
{
    static const tz_expr_type types[] = {[TZ_KIND_REALS] = TZ_EXPR_REAL,
                                         [TZ_KIND_INTEGERS] = TZ_EXPR_INT,
                                         [TZ_KIND_WORDS] = TZ_EXPR_BITS};
    return types[tz_type_kind(type)];
}

int tz_expr_read(tz_expr *e, int field, const int *offset)
{
    tz_expr_node node = {.kind = TZ_EXPR_READ,
                         .type = tz_expr_type_of(e->definition->fields[field].type),
                         .index = field};
    memcpy(node.offset, offset, sizeof node.offset);
    return tz_expr_intern(e, node, NULL, 0);
}

/* A node that has just been made: a number, if its operands are. */
static int folded(tz_expr *e, int node)
{
    if (node < 0)
        return -1;
    const tz_expr_node *n = &e->nodes[node];
    if (!n->constant || n->kind == TZ_EXPR_NUMBER)
        return node;
    for (int i = 0; i < n->count; i++)
        if (e->nodes[e->operands[n->first + i].node].kind != TZ_EXPR_NUMBER)
            return node;
    return n->count ? tz_expr_number(e, tz_expr_value(e, node, NULL, 0), n->type) : node;
}

/* Operations on bits of ints, and int(), are done in cells unless all operands are numbers. */
static bool stays_constant(const tz_expr *e, const tz_expr_node *node,
                           const tz_expr_operand *operands, int count)
{
    bool constant = node->type != TZ_EXPR_BITS && node->type != TZ_EXPR_COUNT, numbers = true;
    for (int i = 0; i < count; i++) {
        const tz_expr_node *operand = &e->nodes[operands[i].node];
        constant = constant && operand->constant;
        numbers = numbers && operand->kind == TZ_EXPR_NUMBER;
    }
    const tz_level level = count > 1 ? tz_operator_level(operands[1].op) : TZ_LEVEL_SUM;
    const bool in_cells =
        node->kind == TZ_EXPR_BITS_NOT ||
        (node->kind == TZ_EXPR_CALL && node->function == TZ_FUNCTION_int) ||
        (node->kind == TZ_EXPR_CHAIN && level >= TZ_LEVEL_BITS_OR && level <= TZ_LEVEL_SHIFT);
    return constant && (numbers || !in_cells);
}

int tz_expr_make_of(tz_expr *e, tz_expr_node node, const tz_expr_operand *operands, int count)
{
    for (int i = 0; i < count; i++)
        if (operands[i].node < 0)
            return -1;
    node.constant = stays_constant(e, &node, operands, count);
    return folded(e, tz_expr_intern(e, node, operands, count));
}

tz_expr_operand *tz_expr_operands(tz_expr *e, int node, int first)
{
    const tz_expr_node *n = &e->nodes[node];
    const size_t count = (size_t)(n->count - first);
    tz_expr_operand *operands = tz_expr_alloc(e, count, sizeof *operands);
    return operands ? memcpy(operands, e->operands + n->first + first, count * sizeof *operands)
                    : NULL;
}

int tz_expr_rebuild(tz_expr *e, int node, int (*change)(void *user, int node), void *user)
{
    const tz_expr_node n = e->nodes[node];
    tz_expr_operand *operands = tz_expr_operands(e, node, 0);
    for (int i = 0; operands && i < n.count; i++) {
        operands[i].node = change(user, operands[i].node);
        if (operands[i].node < 0)
            return -1;
    }
    return operands ? tz_expr_make_of(e, n, operands, n.count) : -1;
}

int tz_expr_make(tz_expr *e, tz_expr_kind kind, tz_expr_type type, int which, int a, int b, int c)
{
    const tz_expr_operand operands[] = {{a, TZ_OP_NONE}, {b, TZ_OP_NONE}, {c, TZ_OP_NONE}};
    tz_expr_node node = {.kind = kind, .type = type};
    *(kind == TZ_EXPR_CALL ? (int *)&node.function : &node.index) = which;
    int count = 1;
    if (kind == TZ_EXPR_SELECT)
        count = 3;
    if (kind == TZ_EXPR_CALL) {
#define OPERANDS(with, name, operands, cell, host) operands,
        static const int counts[] = {TZ_FUNCTION_TABLE(OPERANDS, ) 1, 2};
#undef OPERANDS
        count = counts[which];
    }
    if (kind == TZ_EXPR_SELECT && a >= 0 && e->nodes[a].kind == TZ_EXPR_NUMBER)
        return e->nodes[a].number != 0 ? b : c;
    if (kind == TZ_EXPR_NEGATIVE && a >= 0 && e->nodes[a].kind == TZ_EXPR_NEGATIVE)
        return e->operands[e->nodes[a].first].node;
    return tz_expr_make_of(e, node, operands, count);
}

int tz_expr_two(tz_expr *e, int a, tz_operator op, int b)
{
    const tz_expr_operand operands[] = {{a, TZ_OP_NONE}, {b, op}};
    return a < 0 || b < 0 ? -1 : tz_expr_chain(e, operands, 2);
}

/* ---- Conversions ----------------------------------------------------------------------------- */

static const char *const type_names[] = {[TZ_EXPR_REAL] = "a real number",
                                         [TZ_EXPR_INT] = "a whole number",
                                         [TZ_EXPR_BOOL] = "a condition",
                                         [TZ_EXPR_BITS] = "bits",
                                         [TZ_EXPR_COUNT] = "a sum of bits"};

static int no_conversion(tz_expr *e, tz_expr_type from, tz_expr_type to)
{
    const char *advice = "";
    if (from == TZ_EXPR_REAL && to == TZ_EXPR_INT)
        advice = ": write int(...) to cut the fraction off, and // to divide whole numbers";
    else if (from == TZ_EXPR_COUNT)
        advice = ": compare it with a number, as in sum(i,-1,1, u[i]) == 2";
    else if (to == TZ_EXPR_BITS)
        advice = ": bits are 0 or 1, joined by and, or, not";
    else if (from == TZ_EXPR_BITS)
        advice = ": bits can be added and compared, and joined by and, or, not";
    return tz_expr_fail(e, TZ_TYPE, "this is %s, and %s is needed here%s", type_names[from],
                        type_names[to], advice);
}

int tz_expr_convert(tz_expr *e, int node, tz_expr_type type)
{
    if (node < 0)
        return -1;
    const tz_expr_node *n = &e->nodes[node];
    const tz_expr_type from = n->type;
    if (from == type)
        return node;
    if (type == TZ_EXPR_COUNT && from == TZ_EXPR_BITS) {
        const tz_expr_operand operand = {node, TZ_OP_NONE};
        return tz_expr_make_of(e, (tz_expr_node){.kind = TZ_EXPR_ADD_UP, .type = type}, &operand,
                               1);
    }
    const bool bit = n->kind == TZ_EXPR_NUMBER && (n->number == 0 || n->number == 1);
    if (type == TZ_EXPR_BITS && bit)
        return tz_expr_number(e, n->number, TZ_EXPR_BITS);
    if (type == TZ_EXPR_COUNT || from == TZ_EXPR_COUNT || from == TZ_EXPR_BITS ||
        (type == TZ_EXPR_INT && from == TZ_EXPR_REAL) ||
        (type == TZ_EXPR_BITS && from != TZ_EXPR_BOOL))
        return no_conversion(e, from, type);
    if (type == TZ_EXPR_BOOL) /* is it not 0? */
        return tz_expr_two(e, node, TZ_OP_NOT_EQUAL, tz_expr_number(e, 0, from));
    return tz_expr_make(e, TZ_EXPR_CONVERT, type, 0, node, -1, -1);
}

/* ---- Values in double ------------------------------------------------------------------------ */

/* As int: the nearest whole number towards 0, at most the largest; 0 for NaN. */
static double as_int(double x)
{
    if (isnan(x))
        return 0;
    return x >= INT32_MAX ? INT32_MAX : x <= INT32_MIN ? INT32_MIN : trunc(x);
}

static double apply(tz_operator op, double a, double b)
{
    const int32_t ia = (int32_t)as_int(a), ib = (int32_t)as_int(b);
    switch (op) {
    case TZ_OP_OR:
        return a != 0 || b != 0;
    case TZ_OP_AND:
        return a != 0 && b != 0;
    case TZ_OP_EQUAL:
        return a == b;
    case TZ_OP_NOT_EQUAL:
        return a != b;
    case TZ_OP_LESS:
        return a < b;
    case TZ_OP_LESS_EQUAL:
        return a <= b;
    case TZ_OP_GREATER:
        return a > b;
    case TZ_OP_GREATER_EQUAL:
        return a >= b;
    case TZ_OP_BITS_OR:
        return ia | ib;
    case TZ_OP_BITS_XOR:
        return ia ^ ib;
    case TZ_OP_BITS_AND:
        return ia & ib;
    case TZ_OP_LEFT:
        return (int32_t)((uint32_t)ia << (ib & 31));
    case TZ_OP_RIGHT:
        return ia >> (ib & 31);
    case TZ_OP_RIGHT_ZEROS:
        return (int32_t)((uint32_t)ia >> (ib & 31));
    case TZ_OP_PLUS:
        return a + b;
    case TZ_OP_MINUS:
        return a - b;
    case TZ_OP_TIMES:
        return a * b;
    case TZ_OP_OVER:
        return a / b;
    case TZ_OP_FLOOR_OVER:
        return tz_formula_floor_over(a, b);
    case TZ_OP_MODULO:
        return tz_formula_modulo(a, b);
    default:
        return a;
    }
}

static double call(tz_function function, const double *a)
{
#define ARGUMENTS_1 a[0]
#define ARGUMENTS_2 a[0], a[1]
#define ARGUMENTS_3 a[0], a[1], a[2]
#define VALUE(with, name, operands, cell, host)                                                    \
    case TZ_FUNCTION_##name:                                                                       \
        return host(ARGUMENTS_##operands);
    switch (function) {
        TZ_FUNCTION_TABLE(VALUE, )
#undef VALUE
    default:
        return as_int(a[0]);
    }
}

double tz_expr_value(const tz_expr *e, int node, const double *params, int64_t step)
{
    const tz_expr_node *n = &e->nodes[node];
    const tz_expr_operand *operands = e->operands + n->first;
    if (n->kind == TZ_EXPR_NUMBER)
        return n->number;
    if (n->kind == TZ_EXPR_PARAM)
        return params[n->index];
    if (n->kind == TZ_EXPR_EXTENT)
        return params[TZ_PARAMS_MAX + n->index];
    if (n->kind == TZ_EXPR_STEP)
        return (double)step;
    if (n->kind == TZ_EXPR_CALL) {
        double values[3] = {0};
        for (int i = 0; i < n->count; i++)
            values[i] = tz_expr_value(e, operands[i].node, params, step);
        return call(n->function, values);
    }
    if (n->count == 0)
        return NAN; /* reads have no value here */
    double value = tz_expr_value(e, operands[0].node, params, step);
    switch (n->kind) {
    case TZ_EXPR_NEGATIVE:
        return -value;
    case TZ_EXPR_BITS_NOT:
        return ~(int32_t)as_int(value);
    case TZ_EXPR_NOT:
        return value == 0;
    case TZ_EXPR_POWER:
        return tz_formula_power(value, n->index);
    case TZ_EXPR_SELECT:
        return tz_expr_value(e, operands[value != 0 ? 1 : 2].node, params, step);
    default: /* a chain, or a conversion */
        for (int i = 1; i < n->count; i++)
            value = apply(operands[i].op, value, tz_expr_value(e, operands[i].node, params, step));
        return value;
    }
}

/* ---- Counts of bits -------------------------------------------------------------------------- */

enum { DIGITS = 17 }; /* of TZ_EXPR_OPERANDS_MAX */

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

static int add_bits(tz_expr *e, const tz_expr_operand *operands, int count)
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

static int not(tz_expr * e, int bits)
{
    if (bits >= 0 && e->nodes[bits].kind == TZ_EXPR_NUMBER)
        return tz_expr_number(e, 1 - e->nodes[bits].number, TZ_EXPR_BITS);
    return tz_expr_make(e, TZ_EXPR_BITS_NOT, TZ_EXPR_BITS, 0, bits, -1, -1);
}

/* What two or three bits add up to: their sum, or the carry. */
static int gate(tz_expr *e, bool carry, const int *bits, int count)
{
    const bool three = carry && count == 3;
    const tz_operator op = three ? TZ_OP_NONE : carry ? TZ_OP_AND : TZ_OP_BITS_XOR;
    const tz_expr_operand operands[] = {{bits[0], TZ_OP_NONE}, {bits[1], op}, {bits[2], op}};
    const tz_expr_node node = {.kind = three ? TZ_EXPR_MAJORITY : TZ_EXPR_CHAIN,
                               .type = TZ_EXPR_BITS};
    return tz_expr_make_of(e, node, operands, count);
}

/* The binary digits of a count, the lowest first, by full adders. Returns how many; 0: no memory.
 */
static int digits_of(tz_expr *e, int count, int *digits)
{
    const tz_expr_node n = e->nodes[count];
    int *column = tz_expr_alloc(e, (size_t)n.count, sizeof *column), weight = 0;
    for (int i = 0; column && i < n.count; i++)
        column[i] = e->operands[n.first + i].node;
    for (int bits = column ? n.count : 0, carries; bits > 0; bits = carries) {
        int adds[3] = {column[0]};
        carries = 0;
        for (int i = 1; i < bits; i += 2) {
            const int inputs = i + 1 < bits ? 3 : 2;
            memcpy(adds + 1, column + i, (size_t)(inputs - 1) * sizeof *adds);
            column[carries++] = gate(e, true, adds, inputs);
            adds[0] = gate(e, false, adds, inputs);
        }
        digits[weight++] = adds[0];
    }
    return weight;
}

/* Bits: is the count at least `value`, or exactly? */
static int test_count(tz_expr *e, int count, bool exactly, double value)
{
    const int most = e->nodes[count].count;
    int digits[DIGITS], test = -1;
    if (value <= 0 && !exactly)
        return tz_expr_number(e, 1, TZ_EXPR_BITS);
    if (value < 0 || value > most)
        return tz_expr_number(e, 0, TZ_EXPR_BITS);
    const int weights = digits_of(e, count, digits);
    /* Zeros of the value below its lowest 1 are always reached. Above, a sum that has a 1 where the
     * value has a 0 is larger. */
    for (int w = 0; w < weights; w++) {
        const bool set = (int)value >> w & 1;
        const int digit = exactly && !set ? not(e, digits[w]) : digits[w];
        if (test >= 0)
            test = tz_expr_two(e, digit, exactly || set ? TZ_OP_AND : TZ_OP_OR, test);
        else if (exactly || set)
            test = digit;
    }
    return test;
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

static int compare_count(tz_expr *e, int a, tz_operator op, int b)
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
        return not(e, test_count(e, a, false, value));
    case TZ_OP_LESS_EQUAL:
        return not(e, test_count(e, a, false, value + 1));
    case TZ_OP_GREATER:
        return test_count(e, a, false, value + 1);
    case TZ_OP_GREATER_EQUAL:
        return test_count(e, a, false, value);
    case TZ_OP_EQUAL:
        return test_count(e, a, true, value);
    default:
        return not(e, test_count(e, a, true, value));
    }
}

/* ---- Chains: operands of one level from left to right, as in a + b - c ----------------------- */

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
    tz_expr_operand *operands = tz_expr_operands(e, product, 0);
    if (!operands)
        return -1;
    operands[0].node = tz_expr_number(e, -e->nodes[operands[0].node].number, n.type);
    return operands[0].node < 0 ? -1 : tz_expr_chain(e, operands, n.count);
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
    return type == TZ_EXPR_INT && (op == TZ_OP_FLOOR_OVER || op == TZ_OP_MODULO ||
                                   tz_operator_level(op) == TZ_LEVEL_SHIFT);
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
        return compare_count(e, a, two[1].op, b);
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
                return add_bits(e, operands, count);
    run r = {.count = 1, .operands = tz_expr_alloc(e, (size_t)count, sizeof *operands)};
    if (!r.operands)
        return -1;
    r.operands[0] = operands[0];
    r.type = e->nodes[operands[0].node].type;
    for (int i = 1; i < count; i++)
        if (!join(e, &r, operands[i]))
            return -1;
    return finish(e, &r);
}
