/* Expressions without reads as C text in double, for derive() and at_step(). The operations are
 * those of tz_expr_value(). */
#include "define/augment.h"
#include "define/emit.h"

#include <string.h>

enum { BINDS_ANY, BINDS_SUM, BINDS_PRODUCT, BINDS_UNARY, BINDS_ALL };

typedef struct host {
    tz_emit *emit;
    tz_buffer *out;
    bool comment;
} host;

static void add_node(const host *h, int node, int binds);

static void add_number(const host *h, double number)
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
static bool is_square(const host *h, const tz_expr_node *n)
{
    return !h->comment && n->index == 2 &&
           h->emit->e->nodes[h->emit->e->operands[n->first].node].count == 0;
}

static int binding(const host *h, const tz_expr_node *n)
{
    if (n->kind == TZ_EXPR_CHAIN) {
        const tz_operator op = h->emit->e->operands[n->first + 1].op;
        if (!h->comment && (op == TZ_OP_FLOOR_OVER || op == TZ_OP_MODULO))
            return BINDS_ALL;
        const tz_level level = tz_operator_level(op);
        return level == TZ_LEVEL_SUM       ? BINDS_SUM
               : level == TZ_LEVEL_PRODUCT ? BINDS_PRODUCT
                                           : BINDS_ANY;
    }
    if (n->kind == TZ_EXPR_NEGATIVE)
        return BINDS_UNARY;
    if (n->kind == TZ_EXPR_SELECT || n->kind == TZ_EXPR_NOT)
        return BINDS_ANY;
    return n->kind == TZ_EXPR_POWER && (h->comment || is_square(h, n)) ? BINDS_PRODUCT : BINDS_ALL;
}

static const char *operator_text(const host *h, tz_operator op)
{
    if (!h->comment && op == TZ_OP_AND)
        return "&&";
    return !h->comment && op == TZ_OP_OR ? "||" : tz_operator_text(op);
}

static void add_arguments(const host *h, const tz_expr_node *n, const char *name)
{
    tz_buffer_add(h->out, "%s(", name);
    for (int i = 0; i < n->count; i++) {
        tz_buffer_add(h->out, i ? ", " : "");
        add_node(h, h->emit->e->operands[n->first + i].node, BINDS_ANY);
    }
    tz_buffer_add(h->out, ")");
}

static void add_chain(const host *h, const tz_expr_node *n)
{
    const tz_expr_operand *o = h->emit->e->operands + n->first;
    if (binding(h, n) == BINDS_ALL) {
        const bool modulo = o[1].op == TZ_OP_MODULO;
        *(modulo ? &h->emit->host_takes_modulo : &h->emit->host_divides) = true;
        add_arguments(h, n, modulo ? "modulo" : "floor_over");
        return;
    }
    const int binds = binding(h, n);
    const char space = binds == BINDS_PRODUCT ? TZ_SPACE : ' ';
    for (int i = 0; i < n->count; i++) {
        if (i > 0)
            tz_buffer_add(h->out, "%c%s%c", space, operator_text(h, o[i].op), space);
        add_node(h, o[i].node, binds == BINDS_ANY ? BINDS_SUM : i == 0 ? binds : binds + 1);
    }
}

static void add_call(const host *h, const tz_expr_node *n)
{
    static const char *const names[] = {
#define NAME(name, operands) #name,
        TZ_FUNCTION_TABLE(NAME)
#undef NAME
    };
    const char *name = names[n->function];
    if (!h->comment && n->function == TZ_FUNCTION_min) {
        h->emit->host_least = true;
        name = "least";
    } else if (!h->comment && n->function == TZ_FUNCTION_max) {
        h->emit->host_greatest = true;
        name = "greatest";
    } else if (!h->comment && n->function == TZ_FUNCTION_abs) {
        name = "fabs";
    }
    add_arguments(h, n, name);
}

static void add_power(const host *h, const tz_expr_node *n)
{
    const int base = h->emit->e->operands[n->first].node;
    if (is_square(h, n)) {
        add_node(h, base, BINDS_ALL);
        tz_buffer_add(h->out, "%c*%c", TZ_SPACE, TZ_SPACE);
        add_node(h, base, BINDS_ALL);
        return;
    }
    h->emit->host_powers = h->emit->host_powers || !h->comment;
    tz_buffer_add(h->out, h->comment ? "" : "power(");
    add_node(h, base, h->comment ? BINDS_ALL : BINDS_ANY);
    if (h->comment)
        tz_buffer_add(h->out, "^%d", n->index);
    else
        tz_buffer_add(h->out, ",%c%d)", TZ_SPACE, n->index);
}

static void add_plain(const host *h, const tz_expr_node *n)
{
    const tz_definition *d = h->emit->e->definition;
    const tz_expr_operand *o = h->emit->e->operands + n->first;
    char side[100];
    switch (n->kind) {
    case TZ_EXPR_NUMBER:
        add_number(h, n->number);
        break;
    case TZ_EXPR_PARAM:
        tz_buffer_add(h->out, h->comment ? "%s" : "p[PARAM_%s].number", d->params[n->index].name);
        break;
    case TZ_EXPR_SIDE:
        tz_augment_side_text(n, h->comment, side, sizeof side);
        tz_buffer_add(h->out, "%s", side);
        break;
    case TZ_EXPR_STEP:
        tz_buffer_add(h->out, h->comment ? "step" : "(double)step");
        break;
    case TZ_EXPR_CHAIN:
        add_chain(h, n);
        break;
    case TZ_EXPR_POWER:
        add_power(h, n);
        break;
    case TZ_EXPR_CALL:
        add_call(h, n);
        break;
    case TZ_EXPR_SELECT:
        add_node(h, o[0].node, BINDS_SUM);
        tz_buffer_add(h->out, " ? ");
        add_node(h, o[1].node, BINDS_SUM);
        tz_buffer_add(h->out, " : ");
        add_node(h, o[2].node, BINDS_SUM);
        break;
    case TZ_EXPR_NEGATIVE:
    case TZ_EXPR_NOT:
        tz_buffer_add(h->out, n->kind == TZ_EXPR_NEGATIVE ? "-" : h->comment ? "not " : "!");
        add_node(h, o[0].node, BINDS_ALL);
        break;
    default: /* a conversion */
        add_node(h, o[0].node, BINDS_ANY);
    }
}

static void add_node(const host *h, int node, int binds)
{
    const tz_expr_node *n = &h->emit->e->nodes[node];
    while (n->kind == TZ_EXPR_CONVERT)
        n = &h->emit->e->nodes[h->emit->e->operands[n->first].node];
    const bool parentheses = binding(h, n) < binds;
    tz_buffer_add(h->out, parentheses ? "(" : "");
    add_plain(h, n);
    tz_buffer_add(h->out, parentheses ? ")" : "");
}

void tz_emit_host(tz_emit *emit, tz_buffer *out, int node, bool comment)
{
    const host h = {emit, out, comment};
    add_node(&h, node, BINDS_ANY);
}
