/* Expressions: nodes that are made once, with their types, constants and ranges. */
#include "define/expr.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tz_expr_clear(tz_expr *e)
{
    free(e->nodes);
    free(e->operands);
    free(e->buckets);
    free(e->warning);
    memset(e, 0, sizeof *e);
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
    tz_expr_set_range(e, &e->nodes[e->count]);
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
        type = TZ_EXPR_REAL;
    return tz_expr_intern(
        e, (tz_expr_node){.kind = TZ_EXPR_NUMBER, .type = type, .constant = true, .number = number},
        NULL, 0);
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

int tz_expr_make(tz_expr *e, tz_expr_kind kind, tz_expr_type type, int which, int a, int b, int c)
{
    const tz_expr_operand operands[] = {{a, TZ_OP_NONE}, {b, TZ_OP_NONE}, {c, TZ_OP_NONE}};
    tz_expr_node node = {.kind = kind, .type = type};
    *(kind == TZ_EXPR_CALL ? (int *)&node.function : &node.index) = which;
    int count = 1;
    if (kind == TZ_EXPR_SELECT)
        count = 3;
    if (kind == TZ_EXPR_CALL) {
#define OPERANDS(name, operands) operands,
        static const int counts[] = {TZ_FUNCTION_TABLE(OPERANDS)};
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
