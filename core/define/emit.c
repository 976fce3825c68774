/* Expressions as C text: in cell texts, and in double for derive(), at_step() and comments. Called
 * by source.c. */
#include "define/emit.h"

#include "define/augment.h"
#include "define/check.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How strongly text binds, in C. */
enum { BINDS_OR, BINDS_AND, BINDS_COMPARE, BINDS_SUM, BINDS_PRODUCT, BINDS_UNARY, BINDS_ALL };

#define CELL_NAME(with, name, operands, cell, host) #cell "(",
static const char *const function_names[] = {TZ_FUNCTION_TABLE(CELL_NAME, ) "TZ_CALL(whole, ",
                                             "TZ_UNIT("};

/* ---- Literals and leaves --------------------------------------------------------------------- */

/* A number among real operands. C converts a small whole number exactly. */
static void add_real(tz_buffer *out, double number, bool beside_real)
{
    const bool whole = number == floor(number) && fabs(number) <= 1 << 24;
    const bool minus = signbit(number);
    if (beside_real && whole && !(minus && number == 0)) {
        tz_buffer_add(out, minus ? "(%.0f)" : "%.0f", number);
        return;
    }
    tz_buffer_add(out, "TZ_R(");
    tz_buffer_add_number(out, number);
    tz_buffer_add(out, minus && number == 0 ? ".0)" : ")");
}

static void add_number(tz_buffer *out, const tz_expr_node *n, bool beside_real)
{
    if (n->type == TZ_EXPR_REAL)
        add_real(out, n->number, beside_real);
    else if (n->type == TZ_EXPR_BITS)
        tz_buffer_add(out, n->number != 0 ? "~0u" : "0u");
    else if (n->number == INT32_MIN)
        tz_buffer_add(out, "(-2147483647%c-%c1)", TZ_SPACE, TZ_SPACE);
    else
        tz_buffer_add(out, n->number < 0 ? "(%.0f)" : "%.0f", n->number);
}

static void add_read(tz_emit *emit, tz_buffer *out, const tz_expr_node *n)
{
    const tz_definition *d = emit->e->definition;
    tz_buffer_add(out, "TZ_AT(%s", tz_define_text_name(d, d->fields[n->index].name).text);
    for (int axis = 0; axis < d->dims; axis++)
        if (emit->macro && axis == emit->axis)
            tz_buffer_add(out, ",%c%s", TZ_SPACE, emit->macro);
        else
            tz_buffer_add(out, ",%c%d", TZ_SPACE, n->offset[axis]);
    tz_buffer_add(out, ")");
}

static void add_leaf(tz_emit *emit, tz_buffer *out, const tz_expr_node *n, bool beside_real)
{
    if (n->kind == TZ_EXPR_NUMBER)
        add_number(out, n, beside_real);
    else if (n->kind == TZ_EXPR_READ)
        add_read(emit, out, n);
    else if (n->kind == TZ_EXPR_PLANE)
        tz_buffer_add(out, "TZ_PLANE(%s%d,%c%d)", emit->sums_name, n->index + 1, TZ_SPACE,
                      n->offset[2]);
    else if (n->kind == TZ_EXPR_SHARED)
        tz_buffer_add(out, "TZ_SHARED(v%d,%c%d,%c%d)", n->index + 1, TZ_SPACE, n->offset[0],
                      TZ_SPACE, n->offset[1]);
    else if (n->kind == TZ_EXPR_SUM)
        tz_buffer_add(out, "(tz_all)");
    else if (n->kind == TZ_EXPR_COORDINATE)
        tz_buffer_add(out, "(int)TZ_%c", "XYZ"[n->index]);
    else
        tz_buffer_add(out, "(int)TZ_STEP");
}

/* ---- Expressions ----------------------------------------------------------------------------- */

static void add_node(tz_emit *emit, tz_buffer *out, int node, int binds, bool beside_real);

/* A whole number as tz_word, whose arithmetic wraps; as an operand. */
static void add_word(tz_emit *emit, tz_buffer *out, int node)
{
    const tz_expr_node *n = &emit->e->nodes[node];
    if (n->kind == TZ_EXPR_NUMBER) {
        tz_buffer_add(out, "%uu", (unsigned)(int32_t)n->number);
        return;
    }
    tz_buffer_add(out, "(tz_word)");
    add_node(emit, out, node, BINDS_UNARY, false);
}

static bool is_bits(const tz_expr_node *n)
{
    return n->type == TZ_EXPR_BITS;
}

static const char *operator_in_c(tz_operator op, bool bits)
{
    switch (op) {
    case TZ_OP_OR:
        return bits ? "|" : "||";
    case TZ_OP_AND:
        return bits ? "&" : "&&";
    case TZ_OP_BITS_XOR:
        return "^";
    case TZ_OP_RIGHT_ZEROS:
        return ">>";
    default:
        return tz_operator_text(op);
    }
}

/* Is a // b or a % b what C does, because a is not negative and b positive? */
static bool divides_plainly(const tz_expr *e, const tz_expr_node *n)
{
    const tz_expr_operand *o = e->operands + n->first;
    return e->nodes[o[0].node].low >= 0 && e->nodes[o[1].node].low > 0;
}

/* Is it TZ_XOR3()? */
static bool is_sum_of_bits(const tz_emit *emit, const tz_expr_node *n)
{
    const tz_expr_operand *o = emit->e->operands + n->first;
    return is_bits(n) && n->count == 3 && o[1].op == TZ_OP_BITS_XOR && o[2].op == o[1].op;
}

/* How strongly the text of a node binds. */
static int binding(const tz_emit *emit, int node)
{
    const tz_expr_node *n = &emit->e->nodes[node];
    if (emit->local[node] || emit->constant[node] >= 0)
        return BINDS_ALL;
    switch (n->kind) {
    case TZ_EXPR_COORDINATE:
    case TZ_EXPR_STEP:
    case TZ_EXPR_NEGATIVE:
    case TZ_EXPR_BITS_NOT:
    case TZ_EXPR_NOT:
        return BINDS_UNARY;
    case TZ_EXPR_CONVERT:
        return n->type == TZ_EXPR_REAL  ? BINDS_UNARY
               : n->type == TZ_EXPR_INT ? binding(emit, emit->e->operands[n->first].node)
                                        : BINDS_ALL;
    case TZ_EXPR_POWER:
        return n->wraps ? BINDS_UNARY : BINDS_PRODUCT;
    case TZ_EXPR_CHAIN:
        break;
    default:
        return BINDS_ALL;
    }
    const tz_operator op = emit->e->operands[n->first + 1].op;
    if (n->wraps)
        return BINDS_UNARY;
    if (is_sum_of_bits(emit, n))
        return BINDS_ALL;
    if (op == TZ_OP_FLOOR_OVER || op == TZ_OP_MODULO)
        return divides_plainly(emit->e, n) ? BINDS_PRODUCT : BINDS_ALL;
    switch (tz_operator_level(op)) {
    case TZ_LEVEL_AND:
        return is_bits(n) ? BINDS_OR : BINDS_AND;
    case TZ_LEVEL_COMPARE:
        return BINDS_COMPARE;
    case TZ_LEVEL_SUM:
        return BINDS_SUM;
    case TZ_LEVEL_PRODUCT:
        return BINDS_PRODUCT;
    default:
        return BINDS_OR;
    }
}

/* What an operand of a chain must bind at least as strongly as. */
static int operand_binding(const tz_expr_node *n, tz_operator op, bool first)
{
    switch (tz_operator_level(op)) {
    case TZ_LEVEL_OR:
    case TZ_LEVEL_AND:
        return is_bits(n) ? BINDS_UNARY : BINDS_COMPARE;
    case TZ_LEVEL_COMPARE:
        return BINDS_SUM;
    case TZ_LEVEL_SUM:
        return first ? BINDS_SUM : BINDS_PRODUCT;
    case TZ_LEVEL_PRODUCT:
        return first ? BINDS_PRODUCT : BINDS_UNARY;
    default:
        return BINDS_UNARY;
    }
}

/* a // b and a % b, as C or by a helper function. */
static void add_division(tz_emit *emit, tz_buffer *out, const tz_expr_node *n)
{
    const tz_expr_operand *o = emit->e->operands + n->first;
    const bool modulo = o[1].op == TZ_OP_MODULO;
    if (divides_plainly(emit->e, n)) {
        add_node(emit, out, o[0].node, BINDS_PRODUCT, false);
        tz_buffer_add(out, "%c%c%c", TZ_SPACE, modulo ? '%' : '/', TZ_SPACE);
        add_node(emit, out, o[1].node, BINDS_UNARY, false);
        return;
    }
    tz_buffer_add(out, "TZ_CALL(%s, ", modulo ? "modulo" : "floor_over");
    add_node(emit, out, o[0].node, BINDS_OR, false);
    tz_buffer_add(out, ", ");
    add_node(emit, out, o[1].node, BINDS_OR, false);
    tz_buffer_add(out, ")");
}

static void add_call(tz_emit *emit, tz_buffer *out, const tz_expr_node *n, const char *name)
{
    tz_buffer_add(out, "%s", name);
    for (int i = 0; i < n->count; i++) {
        tz_buffer_add(out, i ? ", " : "");
        add_node(emit, out, emit->e->operands[n->first + i].node, BINDS_OR, false);
    }
    tz_buffer_add(out, ")");
}

/* Is operand i of a chain a divisor for TZ_DIV()? Compilers make a product of a quotient by a power
 * of two. */
static bool is_divisor(const tz_emit *emit, const tz_expr_node *n, int i)
{
    const tz_expr_operand *o = &emit->e->operands[n->first + i];
    const tz_expr_node *by = &emit->e->nodes[o->node];
    int exponent;
    return i > 0 && o->op == TZ_OP_OVER &&
           (by->kind != TZ_EXPR_NUMBER || fabs(frexp(by->number, &exponent)) != 0.5);
}

/* Has a value the same bits in all cells of an iteration? */
static bool is_shared(const tz_expr_node *n)
{
    return n->constant || n->kind == TZ_EXPR_SCALAR;
}

/* Products and quotients of reals. */
static void add_product(tz_emit *emit, tz_buffer *out, const tz_expr_node *n)
{
    const tz_expr_operand *o = emit->e->operands + n->first;
    for (int i = n->count - 1; i > 0; i--)
        tz_buffer_add(out, !is_divisor(emit, n, i)                 ? ""
                           : is_shared(&emit->e->nodes[o[i].node]) ? "TZ_DIV_BY("
                                                                   : "TZ_DIV(");
    for (int i = 0; i < n->count; i++) {
        const bool divides = is_divisor(emit, n, i);
        if (divides)
            tz_buffer_add(out, ", ");
        else if (i > 0)
            tz_buffer_add(out, "%c%s%c", TZ_SPACE, operator_in_c(o[i].op, false), TZ_SPACE);
        add_node(emit, out, o[i].node,
                 divides ? BINDS_OR : operand_binding(n, o[i ? i : 1].op, i == 0), true);
        tz_buffer_add(out, divides ? ")" : "");
    }
}

static void add_chain(tz_emit *emit, tz_buffer *out, const tz_expr_node *n)
{
    const tz_expr_operand *o = emit->e->operands + n->first;
    if (is_sum_of_bits(emit, n)) {
        add_call(emit, out, n, "TZ_XOR3(");
        return;
    }
    if (o[1].op == TZ_OP_FLOOR_OVER || o[1].op == TZ_OP_MODULO) {
        add_division(emit, out, n);
        return;
    }
    const bool real = emit->e->nodes[o[0].node].type == TZ_EXPR_REAL;
    const tz_level level = tz_operator_level(o[1].op);
    if (real && level == TZ_LEVEL_PRODUCT) {
        add_product(emit, out, n);
        return;
    }
    const bool tight = level == TZ_LEVEL_PRODUCT || level == TZ_LEVEL_COMPARE;
    const char space = tight ? TZ_SPACE : ' '; /* lines break at weak operators */
    if (n->wraps)
        tz_buffer_add(out, "(int)(");
    for (int i = 0; i < n->count; i++) {
        if (i > 0)
            tz_buffer_add(out, "%c%s%c", space, operator_in_c(o[i].op, is_bits(n)), space);
        if (n->wraps && !(level == TZ_LEVEL_SHIFT && i > 0))
            add_word(emit, out, o[i].node);
        else
            add_node(emit, out, o[i].node, operand_binding(n, o[i ? i : 1].op, i == 0), real);
    }
    if (n->wraps)
        tz_buffer_add(out, ")");
}

static void add_power(tz_emit *emit, tz_buffer *out, const tz_expr_node *n)
{
    const int base = emit->e->operands[n->first].node;
    if (n->wraps)
        tz_buffer_add(out, "(int)(");
    for (int i = 0; i < n->index; i++) {
        tz_buffer_add(out, i ? "%c*%c" : "", TZ_SPACE, TZ_SPACE);
        if (n->wraps)
            add_word(emit, out, base);
        else
            add_node(emit, out, base, i ? BINDS_UNARY : BINDS_PRODUCT, false);
    }
    if (n->wraps)
        tz_buffer_add(out, ")");
}

static void add_convert(tz_emit *emit, tz_buffer *out, const tz_expr_node *n)
{
    const int from = emit->e->operands[n->first].node;
    if (n->type == TZ_EXPR_INT) {
        add_node(emit, out, from, binding(emit, from), false);
    } else if (n->type == TZ_EXPR_BITS) {
        tz_buffer_add(out, "(0u - (tz_word)");
        add_node(emit, out, from, BINDS_UNARY, false);
        tz_buffer_add(out, ")");
    } else if (emit->e->nodes[from].kind == TZ_EXPR_STEP) {
        tz_buffer_add(out, "(real)TZ_STEP");
    } else {
        tz_buffer_add(out, "(real)");
        add_node(emit, out, from, BINDS_UNARY, false);
    }
}

static void add_prefix(tz_emit *emit, tz_buffer *out, const tz_expr_node *n)
{
    const int from = emit->e->operands[n->first].node;
    if (n->kind == TZ_EXPR_NEGATIVE && n->wraps) {
        tz_buffer_add(out, "(int)(0u - ");
        add_word(emit, out, from);
        tz_buffer_add(out, ")");
        return;
    }
    tz_buffer_add(out, n->kind == TZ_EXPR_NEGATIVE ? "-" : n->kind == TZ_EXPR_BITS_NOT ? "~" : "!");
    add_node(emit, out, from, BINDS_UNARY, false);
}

/* The text without parentheses around it, and without its variable. */
static void add_plain(tz_emit *emit, tz_buffer *out, int node, bool beside_real)
{
    const tz_expr_node *n = &emit->e->nodes[node];
    switch (n->kind) {
    case TZ_EXPR_CHAIN:
        add_chain(emit, out, n);
        break;
    case TZ_EXPR_POWER:
        add_power(emit, out, n);
        break;
    case TZ_EXPR_SELECT:
        add_call(emit, out, n,
                 is_bits(&emit->e->nodes[emit->e->operands[n->first].node]) ? "TZ_PICK3("
                                                                            : "TZ_SELECT(");
        break;
    case TZ_EXPR_MAJORITY:
        add_call(emit, out, n, "TZ_MAJ3(");
        break;
    case TZ_EXPR_CALL:
        add_call(emit, out, n, function_names[n->function]);
        break;
    case TZ_EXPR_CONVERT:
        add_convert(emit, out, n);
        break;
    case TZ_EXPR_NEGATIVE:
    case TZ_EXPR_BITS_NOT:
    case TZ_EXPR_NOT:
        add_prefix(emit, out, n);
        break;
    default:
        add_leaf(emit, out, n, beside_real);
    }
}

static void add_node(tz_emit *emit, tz_buffer *out, int node, int binds, bool beside_real)
{
    if (emit->constant[node] >= 0) {
        const char *name = emit->constants[emit->constant[node]].name;
        tz_buffer_add(out, "TZ_K(%s)", tz_define_text_name(emit->e->definition, name).text);
        return;
    }
    if (emit->local[node]) {
        tz_buffer_add(out, "t%d", emit->local[node]);
        return;
    }
    const bool parentheses = binding(emit, node) < binds;
    tz_buffer_add(out, parentheses ? "(" : "");
    add_plain(emit, out, node, beside_real);
    tz_buffer_add(out, parentheses ? ")" : "");
}

void tz_emit_expression(tz_emit *emit, tz_buffer *out, int node)
{
    add_node(emit, out, node, BINDS_OR, false);
}

/* ---- Variables ------------------------------------------------------------------------------- */

static bool is_leaf(const tz_emit *emit, int node)
{
    return emit->e->nodes[node].count == 0 || emit->constant[node] >= 0;
}

/* Is the text of this node worth a variable, if it stands more than once? */
static bool is_long(const tz_emit *emit, int node)
{
    const tz_expr_node *n = &emit->e->nodes[node];
    if (n->kind == TZ_EXPR_CONVERT)
        return !is_leaf(emit, emit->e->operands[n->first].node);
    return !is_leaf(emit, node);
}

static void count_uses(tz_emit *emit, int node, int times)
{
    const tz_expr_node *n = &emit->e->nodes[node];
    emit->uses[node] += times;
    if (emit->uses[node] > times || emit->constant[node] >= 0)
        return;
    for (int i = 0; i < n->count; i++)
        count_uses(emit, emit->e->operands[n->first + i].node, n->kind == TZ_EXPR_POWER ? 2 : 1);
}

void tz_emit_pass(tz_emit *emit, const int *roots, int count)
{
    memset(emit->uses, 0, (size_t)emit->nodes * sizeof *emit->uses);
    memset(emit->local, 0, (size_t)emit->nodes * sizeof *emit->local);
    emit->locals = 0;
    for (int i = 0; i < count; i++)
        count_uses(emit, roots[i], 1);
}

static void add_local(tz_emit *emit, int node)
{
    static const char *const types[] = {[TZ_EXPR_REAL] = "real",
                                        [TZ_EXPR_INT] = "int",
                                        [TZ_EXPR_BOOL] = "int",
                                        [TZ_EXPR_BITS] = "tz_word"};
    tz_buffer_add(emit->out, "    %*sconst %s t%d = ", emit->indent, "",
                  types[emit->e->nodes[node].type], emit->locals + 1);
    add_node(emit, emit->out, node, BINDS_OR, false);
    tz_buffer_add(emit->out, ";\n");
    emit->local[node] = ++emit->locals;
}

void tz_emit_value(tz_emit *emit, int node)
{
    tz_emit_locals(emit, node);
    if (!emit->local[node] && emit->constant[node] < 0)
        add_local(emit, node);
}

void tz_emit_locals(tz_emit *emit, int node)
{
    const tz_expr_node *n = &emit->e->nodes[node];
    if (emit->local[node] || is_leaf(emit, node) || emit->uses[node] < 0)
        return;
    for (int i = 0; i < n->count; i++)
        tz_emit_locals(emit, emit->e->operands[n->first + i].node);
    if (emit->uses[node] > 1 && is_long(emit, node))
        add_local(emit, node);
    emit->uses[node] = -1; /* done */
}

/* ---- Constants ------------------------------------------------------------------------------- */

static bool name_is_taken(const tz_emit *emit, const char *name)
{
    const tz_definition *d = emit->e->definition;
    for (int p = 0; p < d->params_count; p++)
        if (strcmp(d->params[p].name, name) == 0)
            return true;
    for (int s = 0; s < d->scalars_count; s++)
        if (strcmp(d->scalars[s].name, name) == 0)
            return true;
    return false;
}

static bool add_constant(tz_emit *emit, int node, int *number)
{
    const tz_definition *d = emit->e->definition;
    const tz_expr_node *n = &emit->e->nodes[node];
    if (emit->constants_count == TZ_CONSTANTS_MAX)
        return false;
    tz_emit_constant *constant = &emit->constants[emit->constants_count];
    constant->node = node;
    if (n->kind == TZ_EXPR_PARAM || n->kind == TZ_EXPR_SCALAR)
        snprintf(constant->name, sizeof constant->name, "%s",
                 n->kind == TZ_EXPR_PARAM ? d->params[n->index].name : d->scalars[n->index].name);
    else
        do
            snprintf(constant->name, sizeof constant->name, "k%d", ++*number);
        while (name_is_taken(emit, constant->name));
    emit->constant[node] = emit->constants_count++;
    return true;
}

/* Which helper functions a node needs. */
static void note_helpers(tz_emit *emit, const tz_expr_node *n)
{
    const tz_expr_operand *o = emit->e->operands + n->first;
    emit->cuts = emit->cuts || (n->kind == TZ_EXPR_CALL && n->function == TZ_FUNCTION_int);
    if (n->kind != TZ_EXPR_CHAIN || divides_plainly(emit->e, n))
        return;
    emit->divides = emit->divides || o[1].op == TZ_OP_FLOOR_OVER;
    emit->takes_modulo = emit->takes_modulo || o[1].op == TZ_OP_MODULO;
}

static bool find_constants(tz_emit *emit, int node, int *number)
{
    const tz_expr_node *n = &emit->e->nodes[node];
    if (emit->uses[node]++ > 0)
        return true;
    if ((n->constant && n->kind != TZ_EXPR_NUMBER) || n->kind == TZ_EXPR_SCALAR)
        return add_constant(emit, node, number);
    note_helpers(emit, n);
    for (int i = 0; i < n->count; i++)
        if (!find_constants(emit, emit->e->operands[n->first + i].node, number))
            return false;
    return true;
}

tz_status tz_emit_begin(tz_emit *emit, tz_expr *e, const int *roots, int count, tz_error *error)
{
    const size_t size = (size_t)(e->count + 1);
    int number = 0;
    emit->e = e;
    emit->nodes = e->count;
    emit->constant = malloc(size * sizeof *emit->constant);
    emit->uses = calloc(size, sizeof *emit->uses);
    emit->local = calloc(size, sizeof *emit->local);
    if (!emit->constant || !emit->uses || !emit->local)
        return tz_error_set(error, TZ_MEMORY, e->definition->id,
                            "not enough memory for the stencil's text");
    for (int i = 0; i < e->count; i++)
        emit->constant[i] = -1;
    for (int i = 0; i < count; i++)
        if (!find_constants(emit, roots[i], &number))
            return tz_error_set(error, TZ_RANGE, e->definition->id,
                                "the formulas need more than %d constants made of parameters: use "
                                "static fields, or fewer parameters",
                                TZ_CONSTANTS_MAX);
    return TZ_OK;
}

void tz_emit_end(tz_emit *emit)
{
    free(emit->constant);
    free(emit->uses);
    free(emit->local);
    emit->constant = emit->uses = emit->local = NULL;
}

/* ---- On the host: the operations are those of tz_expr_value() -------------------------------- */

typedef struct host {
    tz_emit *emit;
    tz_buffer *out;
    bool comment;
} host;

static void add_host_node(const host *h, int node, int binds);

static void add_host_number(const host *h, double number)
{
    const size_t begin = h->out->length;
    tz_buffer_add(h->out, number < 0 ? "(" : "");
    tz_buffer_add_number(h->out, number);
    /* In C a whole number needs a point to be a double. */
    if (!h->comment && !h->out->failed && !strpbrk(h->out->text + begin, ".en"))
        tz_buffer_add(h->out, ".0");
    tz_buffer_add(h->out, number < 0 ? ")" : "");
}

/* x * x, which is as short as a call. */
static bool is_host_square(const host *h, const tz_expr_node *n)
{
    return !h->comment && n->index == 2 &&
           h->emit->e->nodes[h->emit->e->operands[n->first].node].count == 0;
}

static int host_binding(const host *h, const tz_expr_node *n)
{
    if (n->kind == TZ_EXPR_CHAIN) {
        const tz_operator op = h->emit->e->operands[n->first + 1].op;
        if (!h->comment && (op == TZ_OP_FLOOR_OVER || op == TZ_OP_MODULO))
            return BINDS_ALL;
        const tz_level level = tz_operator_level(op);
        return level == TZ_LEVEL_SUM       ? BINDS_SUM
               : level == TZ_LEVEL_PRODUCT ? BINDS_PRODUCT
                                           : BINDS_OR;
    }
    if (n->kind == TZ_EXPR_NEGATIVE)
        return BINDS_UNARY;
    if (n->kind == TZ_EXPR_SELECT || n->kind == TZ_EXPR_NOT)
        return BINDS_OR;
    return n->kind == TZ_EXPR_POWER && (h->comment || is_host_square(h, n)) ? BINDS_PRODUCT
                                                                            : BINDS_ALL;
}

static const char *host_operator_text(const host *h, tz_operator op)
{
    if (!h->comment && op == TZ_OP_AND)
        return "&&";
    return !h->comment && op == TZ_OP_OR ? "||" : tz_operator_text(op);
}

static void add_host_arguments(const host *h, const tz_expr_node *n, const char *name)
{
    tz_buffer_add(h->out, "%s(", name);
    for (int i = 0; i < n->count; i++) {
        tz_buffer_add(h->out, i ? ", " : "");
        add_host_node(h, h->emit->e->operands[n->first + i].node, BINDS_OR);
    }
    tz_buffer_add(h->out, ")");
}

static void add_host_chain(const host *h, const tz_expr_node *n)
{
    const tz_expr_operand *o = h->emit->e->operands + n->first;
    if (host_binding(h, n) == BINDS_ALL) {
        add_host_arguments(h, n,
                           o[1].op == TZ_OP_MODULO ? "tz_formula_modulo" : "tz_formula_floor_over");
        return;
    }
    const int binds = host_binding(h, n);
    const char space = binds == BINDS_PRODUCT ? TZ_SPACE : ' ';
    for (int i = 0; i < n->count; i++) {
        if (i > 0)
            tz_buffer_add(h->out, "%c%s%c", space, host_operator_text(h, o[i].op), space);
        add_host_node(h, o[i].node, binds == BINDS_OR ? BINDS_SUM : i == 0 ? binds : binds + 1);
    }
}

static void add_host_call(const host *h, const tz_expr_node *n)
{
#define NAME(with, name, operands, cell, host) {#host, #name},
    static const char *const names[][2] = {TZ_FUNCTION_TABLE(NAME, ){"int", "int"},
                                           {"unit", "unit"}};
#undef NAME
    add_host_arguments(h, n, names[n->function][h->comment]);
}

static void add_host_power(const host *h, const tz_expr_node *n)
{
    const int base = h->emit->e->operands[n->first].node;
    if (is_host_square(h, n)) {
        add_host_node(h, base, BINDS_ALL);
        tz_buffer_add(h->out, "%c*%c", TZ_SPACE, TZ_SPACE);
        add_host_node(h, base, BINDS_ALL);
        return;
    }
    tz_buffer_add(h->out, h->comment ? "" : "tz_formula_power(");
    add_host_node(h, base, h->comment ? BINDS_ALL : BINDS_OR);
    if (h->comment)
        tz_buffer_add(h->out, "^%d", n->index);
    else
        tz_buffer_add(h->out, ",%c%d)", TZ_SPACE, n->index);
}

static void add_host_plain(const host *h, const tz_expr_node *n)
{
    const tz_definition *d = h->emit->e->definition;
    const tz_expr_operand *o = h->emit->e->operands + n->first;
    char side[100];
    switch (n->kind) {
    case TZ_EXPR_NUMBER:
        add_host_number(h, n->number);
        break;
    case TZ_EXPR_PARAM:
        tz_buffer_add(h->out, h->comment ? "%s" : "setup->params[PARAM_%s].number",
                      d->params[n->index].name);
        break;
    case TZ_EXPR_EXTENT:
        if (h->comment)
            tz_buffer_add(h->out, "n%c", "xyz"[n->index]);
        else
            tz_buffer_add(h->out, "(double)setup->extent[%d]", n->index);
        break;
    case TZ_EXPR_SIDE:
        tz_augment_side_text(n, h->comment, side, sizeof side);
        tz_buffer_add(h->out, "%s", side);
        break;
    case TZ_EXPR_STEP:
        tz_buffer_add(h->out, h->comment ? "step" : "(double)step");
        break;
    case TZ_EXPR_CHAIN:
        add_host_chain(h, n);
        break;
    case TZ_EXPR_POWER:
        add_host_power(h, n);
        break;
    case TZ_EXPR_CALL:
        add_host_call(h, n);
        break;
    case TZ_EXPR_SELECT:
        add_host_node(h, o[0].node, BINDS_SUM);
        tz_buffer_add(h->out, " ? ");
        add_host_node(h, o[1].node, BINDS_SUM);
        tz_buffer_add(h->out, " : ");
        add_host_node(h, o[2].node, BINDS_SUM);
        break;
    case TZ_EXPR_NEGATIVE:
    case TZ_EXPR_NOT:
        tz_buffer_add(h->out, n->kind == TZ_EXPR_NEGATIVE ? "-" : h->comment ? "not " : "!");
        add_host_node(h, o[0].node, BINDS_ALL);
        break;
    default: /* a conversion */
        add_host_node(h, o[0].node, BINDS_OR);
    }
}

static void add_host_node(const host *h, int node, int binds)
{
    const tz_expr_node *n = &h->emit->e->nodes[node];
    while (n->kind == TZ_EXPR_CONVERT)
        n = &h->emit->e->nodes[h->emit->e->operands[n->first].node];
    const bool parentheses = host_binding(h, n) < binds;
    tz_buffer_add(h->out, parentheses ? "(" : "");
    add_host_plain(h, n);
    tz_buffer_add(h->out, parentheses ? ")" : "");
}

void tz_emit_host(tz_emit *emit, tz_buffer *out, int node, bool comment)
{
    const host h = {emit, out, comment};
    add_host_node(&h, node, BINDS_OR);
}

/* ---- Literals, comments and lines ------------------------------------------------------------ */

void tz_buffer_add_literal(tz_buffer *buffer, const char *text)
{
    tz_buffer_add(buffer, "\"");
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            tz_buffer_add(buffer, "\\%c", *c);
        else if (*c < ' ' || *c == 127)
            tz_buffer_add(buffer, "\\%03o", *c);
        else
            tz_buffer_add(buffer, "%c", *c == ' ' ? TZ_SPACE : *c);
    }
    tz_buffer_add(buffer, "\"");
}

void tz_buffer_add_comment(tz_buffer *buffer, const char *text)
{
    char before = '\0';
    for (const unsigned char *c = (const unsigned char *)text; *c; before = (char)*c, c++) {
        const bool bad = (before == '*' && *c == '/') || (before == '/' && *c == '*');
        tz_buffer_add(buffer, "%s%c", bad ? " " : "", *c < ' ' || *c == 127 ? ' ' : *c);
    }
}

void tz_buffer_add_number(tz_buffer *buffer, double number)
{
    char text[40];
    if (isinf(number) || isnan(number)) {
        tz_buffer_add(buffer, "%s", isnan(number) ? "NAN" : number > 0 ? "INFINITY" : "-INFINITY");
        return;
    }
    if (number == floor(number) && fabs(number) < 1e15) {
        tz_buffer_add(buffer, signbit(number) && number == 0 ? "-0" : "%.0f", number);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    tz_buffer_add(buffer, "%s", text);
}

/* May a line end at this space? Operators stay at the ends of lines. */
static bool may_end(const char *space)
{
    const char *next = space + 1;
    while (*next && strchr("+-*/&|^<>=?:", *next))
        next++;
    return next == space + 1 || *next != ' ';
}

/* The space at which a line ends that has `room` characters: where the fewest parentheses are open,
 * in the second half if there is one; NULL: nowhere. */
static const char *line_end(const char *text, int room)
{
    const char *best = NULL;
    int open = 0, least = 0;
    for (int i = 0; text[i] && (i <= room || !best); i++) {
        open += (text[i] == '(') - (text[i] == ')');
        if (i == 0 || text[i] != ' ' || !may_end(text + i))
            continue;
        if (!best || open <= least || best - text < room / 2) {
            best = text + i;
            least = open;
        }
    }
    return best;
}

void tz_buffer_wrap(tz_buffer *buffer)
{
    enum { LINE = 96 };
    tz_buffer out = {.failed = buffer->failed};
    for (char *line = buffer->text, *end; line && *line; line = end) {
        const bool macro = strncmp(line, "#define ", 8) == 0;
        int column = (int)(macro ? 8 + strcspn(line + 8, " \n") : strspn(line, " "));
        const int indent = macro ? 4 : strncmp(line, "/*", 2) == 0 ? 3 : column + 4;
        end = line + strcspn(line, "\n");
        const char after = *end;
        *end = '\0';
        tz_buffer_add(&out, "%.*s", column, line);
        line += column;
        for (const char *stop; end - line > LINE - column; line += stop + 1 - line) {
            stop = line_end(line, LINE - column);
            if (!stop)
                break;
            tz_buffer_add(&out, "%.*s%s\n%*s", (int)(stop - line), line, macro ? " \\" : "", indent,
                          "");
            column = indent;
        }
        tz_buffer_add(&out, after ? "%s\n" : "%s", line);
        end += after != '\0';
    }
    for (size_t i = 0; i < out.length; i++)
        out.text[i] = out.text[i] == TZ_SPACE ? ' ' : out.text[i];
    free(buffer->text);
    *buffer = out;
}
