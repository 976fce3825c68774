/* Counts as text: full adders on words, and tests of their sums. */
#include "define/emit.h"

#include <stdlib.h>

/* The bits of weight 2^w that are still to be added. Only carries come from the weight below: of m
 * bits, m/2 go on. */
typedef struct column {
    int weight, count;
    int carries, sums; /* written so far */
    bool unread;       /* no test reads its sum */
} column;

/* A bit to be added: a node at weight 0, or a variable. */
static void add_bit_name(tz_emit *emit, tz_buffer *out, int node, int weight, int i)
{
    const tz_expr_node *n = &emit->e->nodes[node];
    if (weight == 0)
        tz_emit_expression(emit, out, emit->e->operands[n->first + i].node);
    else
        tz_buffer_add(out, "n%d_%d_%d", emit->local[node], weight, i);
}

static void add_line(tz_emit *emit, tz_buffer *line)
{
    emit->out->failed = emit->out->failed || line->failed;
    tz_buffer_add(emit->out, "    ");
    if (line->text)
        tz_buffer_add_wrapped(emit->out, line->text, 4, 8);
    tz_buffer_add(emit->out, "\n");
    free(line->text);
    *line = (tz_buffer){0};
}

/* Add two or three bits of a column: the sum stays, the carry goes to the next. `from` is the first of
 * them that is an input; `chained`: the sum before it is another. */
static void add_adder(tz_emit *emit, int node, column *c, int from, int inputs, bool chained,
                      bool last)
{
    const bool three = inputs + chained == 3;
    const int next = c->count / 2;
    for (int carry = last && c->unread ? 1 : 0; carry < 2; carry++) {
        tz_buffer line = {0};
        tz_buffer_add(&line, "const tz_word n%d_%d", emit->local[node], c->weight + carry);
        if (carry && next > 1)
            tz_buffer_add(&line, "_%d", c->carries);
        else if (!carry && !last)
            tz_buffer_add(&line, "_s%d", c->sums);
        tz_buffer_add(&line, three ? (carry ? " = TZ_MAJ3(" : " = TZ_XOR3(") : " = ");
        if (chained)
            tz_buffer_add(&line, "n%d_%d_s%d", emit->local[node], c->weight, c->sums - 1);
        for (int i = 0; i < inputs; i++) {
            if (chained || i > 0)
                tz_buffer_add(&line, three ? ", " : carry ? " & " : " ^ ");
            add_bit_name(emit, &line, node, c->weight, from + i);
        }
        tz_buffer_add(&line, three ? ");" : ";");
        add_line(emit, &line);
    }
    c->carries++;
    c->sums++;
}

/* Add a column up, from its first bit on. */
static void add_column(tz_emit *emit, int node, int weight, int count, bool unread)
{
    column c = {.weight = weight, .count = count, .unread = unread};
    if (count == 1) {
        if (weight > 0 || unread)
            return; /* the carry below has this name */
        tz_buffer line = {0};
        tz_buffer_add(&line, "const tz_word n%d_0 = ", emit->local[node]);
        add_bit_name(emit, &line, node, 0, 0);
        tz_buffer_add(&line, ";");
        add_line(emit, &line);
        return;
    }
    for (int done = 0; done < count;) {
        const int most = c.sums ? 2 : 3;
        const int inputs = count - done < most ? count - done : most;
        add_adder(emit, node, &c, done, inputs, c.sums > 0, done + inputs == count);
        done += inputs;
    }
}

/* The lowest 1 of a threshold: bits below it do not matter. */
static int lowest_bit(int value)
{
    int lowest = 0;
    while (!(value >> lowest & 1))
        lowest++;
    return lowest;
}

/* The lowest weight that a test of this pass reads. */
static int lowest_weight(const tz_emit *emit, int node)
{
    int lowest = 31;
    for (int t = 0; t < emit->nodes; t++) {
        const tz_expr_node *n = &emit->e->nodes[t];
        if ((n->kind != TZ_EXPR_AT_LEAST && n->kind != TZ_EXPR_EXACTLY) || !emit->uses[t] ||
            emit->e->operands[n->first].node != node)
            continue;
        const int weight = n->kind == TZ_EXPR_EXACTLY ? 0 : lowest_bit(n->index);
        lowest = weight < lowest ? weight : lowest;
    }
    return lowest;
}

void tz_emit_adders(tz_emit *emit, int node)
{
    const int lowest = lowest_weight(emit, node);
    int weight = 0;
    emit->local[node] = ++emit->locals;
    for (int count = emit->e->nodes[node].count; count > 0; count /= 2, weight++)
        add_column(emit, node, weight, count, weight < lowest);
}

void tz_emit_test(tz_emit *emit, tz_buffer *out, int node)
{
    const tz_expr_node *n = &emit->e->nodes[node];
    const int counted = emit->e->operands[n->first].node, value = n->index;
    const int sum = emit->local[counted];
    int weights = 0;
    for (int count = emit->e->nodes[counted].count; count > 0; count /= 2)
        weights++;
    if (n->kind == TZ_EXPR_EXACTLY) {
        for (int w = weights - 1; w >= 0; w--)
            tz_buffer_add(out, "%sn%d_%d%s", value >> w & 1 ? "" : "~", sum, w, w ? " & " : "");
        return;
    }
    /* From the highest bit: above where a bit of the value is 0 and that of the sum 1. The lowest
     * zeros of the value are always reached. */
    const int lowest = lowest_bit(value);
    for (int w = weights - 1; w > lowest; w--)
        tz_buffer_add(out, "n%d_%d %s (", sum, w, value >> w & 1 ? "&" : "|");
    tz_buffer_add(out, "n%d_%d", sum, lowest);
    for (int w = weights - 1; w > lowest; w--)
        tz_buffer_add(out, ")");
}
