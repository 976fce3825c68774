/* Formulas computed without a compiler: expressions become lists of operations, and each computes a
 * strip of a row. Called by describe.c. */
#include "define/program.h"

#include <alloca.h>
#include <stdlib.h>
#include <string.h>
#include <trapeze/rows_macros.h>

enum { STRIP_LEAST = 16, STRIP_MOST = 256, STRIP_BYTES = 24 << 10, STACK_BYTES = 256 << 10 };

#define ARGUMENTS_1 (a)
#define ARGUMENTS_2 (a, b)
#define ARGUMENTS_3 (a, b, c)
#define FUNCTION(X, name, operands, cell, host) X(name, real, real, real, cell ARGUMENTS_##operands)

/* A row: the operation, the types of its result, of its first operand and of the others, and its
 * value. */
#define OPERATIONS(X)                                                                              \
    X(ADD, real, real, real, a + b)                                                                \
    X(SUBTRACT, real, real, real, a - b)                                                           \
    X(MULTIPLY, real, real, real, a *b)                                                            \
    X(DIVIDE, real, real, real, a / b)                                                             \
    X(NEGATE, real, real, real, -a)                                                                \
    X(MIN, real, real, real, TZ_MIN(a, b))                                                         \
    X(MAX, real, real, real, TZ_MAX(a, b))                                                         \
    X(ABS, real, real, real, TZ_ABS(a))                                                            \
    TZ_REAL_FUNCTION_TABLE(FUNCTION, X)                                                            \
    X(UNIT, real, int, int, TZ_UNIT(a, b))                                                         \
    X(EQUAL, int, real, real, a == b)                                                              \
    X(NOT_EQUAL, int, real, real, a != b)                                                          \
    X(LESS, int, real, real, a < b)                                                                \
    X(LESS_EQUAL, int, real, real, a <= b)                                                         \
    X(GREATER, int, real, real, a > b)                                                             \
    X(GREATER_EQUAL, int, real, real, a >= b)                                                      \
    X(SELECT, real, int, real, a ? b : c)                                                          \
    X(TO_REAL, real, int, int, (real)a)                                                            \
    X(TO_INT, int, real, real, whole((double)a))                                                   \
    X(INT_ADD, tz_word, tz_word, tz_word, a + b)                                                   \
    X(INT_SUBTRACT, tz_word, tz_word, tz_word, a - b)                                              \
    X(INT_MULTIPLY, tz_word, tz_word, tz_word, a *b)                                               \
    X(INT_NEGATE, tz_word, tz_word, tz_word, 0u - a)                                               \
    X(INT_DIVIDE, int, int, int, floor_over(a, b))                                                 \
    X(INT_MODULO, int, int, int, modulo(a, b))                                                     \
    X(INT_LEFT, tz_word, tz_word, tz_word, a << (b & 31))                                          \
    X(INT_RIGHT, int, int, int, a >> (b & 31))                                                     \
    X(INT_RIGHT_ZEROS, tz_word, tz_word, tz_word, a >> (b & 31))                                   \
    X(INT_MIN, int, int, int, TZ_MIN(a, b))                                                        \
    X(INT_MAX, int, int, int, TZ_MAX(a, b))                                                        \
    X(INT_ABS, int, int, int, TZ_ABS(a))                                                           \
    X(INT_EQUAL, int, int, int, a == b)                                                            \
    X(INT_NOT_EQUAL, int, int, int, a != b)                                                        \
    X(INT_LESS, int, int, int, a < b)                                                              \
    X(INT_LESS_EQUAL, int, int, int, a <= b)                                                       \
    X(INT_GREATER, int, int, int, a > b)                                                           \
    X(INT_GREATER_EQUAL, int, int, int, a >= b)                                                    \
    X(INT_SELECT, int, int, int, a ? b : c)                                                        \
    X(TEST_AND, int, int, int, a &&b)                                                              \
    X(TEST_OR, int, int, int, a || b)                                                              \
    X(TEST_NOT, int, int, int, !a)                                                                 \
    X(AND, tz_word, tz_word, tz_word, a &b)                                                        \
    X(OR, tz_word, tz_word, tz_word, a | b)                                                        \
    X(XOR, tz_word, tz_word, tz_word, a ^ b)                                                       \
    X(NOT, tz_word, tz_word, tz_word, ~a)                                                          \
    X(MAJORITY, tz_word, tz_word, tz_word, TZ_MAJ3(a, b, c))                                       \
    X(PICK, tz_word, tz_word, tz_word, TZ_PICK3(a, b, c))                                          \
    X(TO_BITS, tz_word, int, int, 0u - (tz_word)a)

#define NAME(name, result, first, others, value) DO_##name,
typedef enum code { OPERATIONS(NAME) } code;
#undef NAME

/* Operands are numbers of values: the inputs first, then places for results. */
typedef struct operation {
    code what;
    int result_at, a, b, c;
} operation;

typedef struct operations {
    int count;
    operation *all;
    int outputs[TZ_FIELDS_MAX]; /* the value of each field of the pass */
} operations;

/* What is not computed. */
typedef struct input {
    tz_expr_kind kind; /* NUMBER, READ, COORDINATE or STEP; PARAM: a constant */
    bool is_real;
    int index, offset[TZ_AXES];
    double number;
} input;

struct tz_program {
    int dims, radius;
    int fields_count, fields[TZ_FIELDS_MAX]; /* that it writes */
    bool real_fields[TZ_FIELDS_MAX];         /* of all fields */
    int inputs_count;
    input *inputs;
    int places; /* for results, at one time */
    operations plain, framed;
    int frame; /* the constant that says whether there is a frame, before its bounds; -1: none */
};

/* ---- Making ---------------------------------------------------------------------------------- */

typedef struct maker {
    tz_program *program;
    const tz_emit *emit;
    const tz_expr *e;
    operations *list;
    bool *needed; /* of each node */
    int *value;   /* of each node that is needed */
} maker;

static const tz_expr_node *operand_of(const maker *m, const tz_expr_node *n, int i)
{
    return &m->e->nodes[m->e->operands[n->first + i].node];
}

/* Is it a constant of the text, or read? The iteration as a real is not rounded to int before. */
static bool is_input(const maker *m, int node)
{
    const tz_expr_node *n = &m->e->nodes[node];
    return m->emit->constant[node] >= 0 || n->count == 0 ||
           (n->kind == TZ_EXPR_CONVERT && n->type == TZ_EXPR_REAL &&
            operand_of(m, n, 0)->kind == TZ_EXPR_STEP);
}

/* What these nodes are computed from. Operands come before the nodes that have them. */
static void find_needed(maker *m, const int *roots, int count)
{
    memset(m->needed, 0, (size_t)m->e->count * sizeof *m->needed);
    for (int i = 0; i < count; i++)
        m->needed[roots[i]] = true;
    for (int node = m->e->count - 1; node >= 0; node--)
        for (int i = 0; m->needed[node] && !is_input(m, node) && i < m->e->nodes[node].count; i++)
            m->needed[m->e->operands[m->e->nodes[node].first + i].node] = true;
}

/* Number what is not computed: operations come after. */
static void add_inputs(maker *m)
{
    for (int node = 0; node < m->e->count; node++) {
        const tz_expr_node *n = &m->e->nodes[node];
        const int constant = m->emit->constant[node];
        if (!m->needed[node] || !is_input(m, node) || m->value[node] >= 0)
            continue;
        input *in = &m->program->inputs[m->program->inputs_count];
        *in = (input){.kind = constant >= 0  ? TZ_EXPR_PARAM
                              : n->count > 0 ? TZ_EXPR_STEP
                                             : n->kind,
                      .is_real = n->type == TZ_EXPR_REAL,
                      .index = constant >= 0 ? constant : n->index,
                      .number = n->type == TZ_EXPR_BITS ? -n->number : n->number}; /* all bits */
        memcpy(in->offset, n->offset, sizeof in->offset);
        m->value[node] = m->program->inputs_count++;
    }
}

static int add(maker *m, code what, int a, int b, int c)
{
    operation *o = &m->list->all[m->list->count];
    *o = (operation){what, m->program->inputs_count + m->list->count++, a, b, c};
    return o->result_at;
}

static int operand(const maker *m, const tz_expr_node *n, int i)
{
    return m->value[m->e->operands[n->first + i].node];
}

/* Of ints, of reals, of bits. */
static const code codes[][3] = {[TZ_OP_OR] = {DO_TEST_OR, 0, DO_OR},
                                [TZ_OP_AND] = {DO_TEST_AND, 0, DO_AND},
                                [TZ_OP_EQUAL] = {DO_INT_EQUAL, DO_EQUAL},
                                [TZ_OP_NOT_EQUAL] = {DO_INT_NOT_EQUAL, DO_NOT_EQUAL},
                                [TZ_OP_LESS] = {DO_INT_LESS, DO_LESS},
                                [TZ_OP_LESS_EQUAL] = {DO_INT_LESS_EQUAL, DO_LESS_EQUAL},
                                [TZ_OP_GREATER] = {DO_INT_GREATER, DO_GREATER},
                                [TZ_OP_GREATER_EQUAL] = {DO_INT_GREATER_EQUAL, DO_GREATER_EQUAL},
                                [TZ_OP_BITS_OR] = {DO_OR, 0, DO_OR},
                                [TZ_OP_BITS_XOR] = {DO_XOR, 0, DO_XOR},
                                [TZ_OP_BITS_AND] = {DO_AND, 0, DO_AND},
                                [TZ_OP_LEFT] = {DO_INT_LEFT},
                                [TZ_OP_RIGHT] = {DO_INT_RIGHT},
                                [TZ_OP_RIGHT_ZEROS] = {DO_INT_RIGHT_ZEROS},
                                [TZ_OP_PLUS] = {DO_INT_ADD, DO_ADD},
                                [TZ_OP_MINUS] = {DO_INT_SUBTRACT, DO_SUBTRACT},
                                [TZ_OP_TIMES] = {DO_INT_MULTIPLY, DO_MULTIPLY},
                                [TZ_OP_OVER] = {0, DO_DIVIDE},
                                [TZ_OP_FLOOR_OVER] = {DO_INT_DIVIDE},
                                [TZ_OP_MODULO] = {DO_INT_MODULO}};

static int add_chain(maker *m, const tz_expr_node *n)
{
    const bool real = operand_of(m, n, 0)->type == TZ_EXPR_REAL;
    int value = operand(m, n, 0);
    for (int i = 1; i < n->count; i++) {
        const int next = operand(m, n, i);
        const code *of = codes[m->e->operands[n->first + i].op];
        value = add(m, of[n->type == TZ_EXPR_BITS ? 2 : real], value, next, next);
    }
    return value;
}

static int add_call(maker *m, const tz_expr_node *n)
{
#define CALL(with, name, operands, cell, host) [TZ_FUNCTION_##name] = {0, DO_##name},
    static const code calls[TZ_FUNCTIONS][2] = {
        TZ_REAL_FUNCTION_TABLE(CALL, )[TZ_FUNCTION_min] = {DO_INT_MIN, DO_MIN},
        [TZ_FUNCTION_max] = {DO_INT_MAX, DO_MAX}, [TZ_FUNCTION_abs] = {DO_INT_ABS, DO_ABS},
        [TZ_FUNCTION_int] = {DO_TO_INT, 0}, [TZ_FUNCTION_unit] = {0, DO_UNIT}};
#undef CALL
    int values[3];
    for (int i = 0; i < 3; i++)
        values[i] = operand(m, n, i < n->count ? i : 0);
    return add(m, calls[n->function][n->type == TZ_EXPR_REAL], values[0], values[1], values[2]);
}

static int made(maker *m, const tz_expr_node *n)
{
    const bool real = n->type == TZ_EXPR_REAL;
    const int a = operand(m, n, 0);
    int value = a;
    switch (n->kind) {
    case TZ_EXPR_CHAIN:
        return add_chain(m, n);
    case TZ_EXPR_CALL:
        return add_call(m, n);
    case TZ_EXPR_SELECT:
        return add(m,
                   operand_of(m, n, 0)->type == TZ_EXPR_BITS ? DO_PICK
                   : real                                    ? DO_SELECT
                                                             : DO_INT_SELECT,
                   a, operand(m, n, 1), operand(m, n, 2));
    case TZ_EXPR_MAJORITY:
        return add(m, DO_MAJORITY, a, operand(m, n, 1), operand(m, n, 2));
    case TZ_EXPR_NEGATIVE:
        return add(m, real ? DO_NEGATE : DO_INT_NEGATE, a, a, a);
    case TZ_EXPR_BITS_NOT:
        return add(m, DO_NOT, a, a, a);
    case TZ_EXPR_NOT:
        return add(m, DO_TEST_NOT, a, a, a);
    case TZ_EXPR_POWER:
        for (int i = 1; i < n->index; i++)
            value = add(m, real ? DO_MULTIPLY : DO_INT_MULTIPLY, value, a, a);
        return value;
    default: /* a conversion */
        return n->type == TZ_EXPR_INT ? a : add(m, real ? DO_TO_REAL : DO_TO_BITS, a, a, a);
    }
}

/* Results that are needed no more leave their places to others. */
static bool share_places(maker *m, int outputs)
{
    operations *list = m->list;
    const int first = m->program->inputs_count, count = list->count;
    int *last = calloc(3 * (size_t)count + 1, sizeof *last), *place = last + count,
        *unused = place + count, unused_count = 0, places = 0;
    if (!last)
        return false;
    for (int i = 0; i < count; i++) {
        const int used[] = {list->all[i].a, list->all[i].b, list->all[i].c};
        for (int k = 0; k < 3; k++)
            if (used[k] >= first)
                last[used[k] - first] = i;
    }
    for (int i = 0; i < outputs; i++)
        if (list->outputs[i] >= first)
            last[list->outputs[i] - first] = count;
    for (int i = 0; i < count; i++) {
        operation *o = &list->all[i];
        int *const used[] = {&o->a, &o->b, &o->c};
        place[i] = unused_count > 0 ? unused[--unused_count] : places++;
        o->result_at = first + place[i];
        for (int k = 0; k < 3; k++) {
            const int made_by = *used[k] - first;
            if (made_by < 0)
                continue;
            *used[k] = first + place[made_by];
            if (last[made_by] == i)
                unused[unused_count++] = place[made_by];
            last[made_by] = last[made_by] == i ? -1 : last[made_by];
        }
    }
    for (int i = 0; i < outputs; i++)
        if (list->outputs[i] >= first)
            list->outputs[i] = first + place[list->outputs[i] - first];
    m->program->places = places > m->program->places ? places : m->program->places;
    free(last);
    return true;
}

/* False: no memory. */
static bool make(maker *m, operations *list, const int *nodes, int count)
{
    size_t most = (size_t)m->e->operands_count;
    for (int i = 0; i < m->e->count; i++)
        most += m->e->nodes[i].kind == TZ_EXPR_POWER ? (size_t)m->e->nodes[i].index : 0;
    m->list = list;
    list->all = malloc((most + 1) * sizeof *list->all);
    if (!list->all)
        return false;
    find_needed(m, nodes, count);
    for (int i = 0; i < m->e->count; i++)
        if (m->needed[i] && !is_input(m, i))
            m->value[i] = made(m, &m->e->nodes[i]);
    for (int i = 0; i < count; i++)
        list->outputs[i] = m->value[nodes[i]];
    return share_places(m, count);
}

tz_program *tz_program_create(const tz_build *build, const tz_emit *emit, const tz_built_pass *pass,
                              const int *nodes, const int *framed)
{
    const tz_definition *d = build->definition;
    const size_t size = (size_t)build->e.count + 1;
    tz_program *p = calloc(1, sizeof *p);
    maker m = {.program = p,
               .emit = emit,
               .e = &build->e,
               .needed = malloc(size * sizeof *m.needed),
               .value = malloc(size * sizeof *m.value)};
    bool good = p && m.needed && m.value && (p->inputs = malloc(size * sizeof *p->inputs));
    if (good) {
        memset(m.value, -1, size * sizeof *m.value);
        p->dims = d->dims;
        p->radius = pass->radius;
        p->fields_count = pass->count;
        memcpy(p->fields, pass->fields, sizeof p->fields);
        for (int f = 0; f < d->fields_count; f++)
            p->real_fields[f] = tz_type_is_real(d->fields[f].type);
        p->frame = framed ? emit->constant[build->frame.bounds[0]] : -1;
        for (int list = 0; list < (framed ? 2 : 1); list++) {
            find_needed(&m, list ? framed : nodes, pass->count);
            add_inputs(&m);
        }
        good = make(&m, &p->plain, nodes, pass->count) &&
               (!framed || make(&m, &p->framed, framed, pass->count));
    }
    free(m.needed);
    free(m.value);
    if (good)
        return p;
    tz_program_destroy(p);
    return NULL;
}

void tz_program_destroy(tz_program *program)
{
    if (!program)
        return;
    free(program->inputs);
    free(program->plain.all);
    free(program->framed.all);
    free(program);
}

/* ---- Computing ------------------------------------------------------------------------------- */

static inline int whole(double x)
{
    return x >= 2147483648.0    ? 2147483647
           : x <= -2147483648.0 ? -2147483647 - 1
           : x == x             ? (int)x
                                : 0;
}

static inline int floor_over(int a, int b)
{
    if (b == 0 || b == -1)
        return b ? (int)(0u - (tz_word)a) : 0;
    return a / b - (a % b != 0 && (a ^ b) < 0);
}

static inline int modulo(int a, int b)
{
    if (b == 0 || b == -1)
        return b ? 0 : a;
    return a % b + (a % b != 0 && (a ^ b) < 0 ? b : 0);
}

/* What differs between precisions and instruction sets. */
typedef struct precision_of {
    void (*compute)(const operations *list, void *const *at, int count);
    /* An input that is no read: at this step and these coordinates of the first cell. */
    void (*set)(const input *in, const tz_slot *constants, int64_t step, const int64_t *place,
                void *to, int count);
    size_t real_bytes;
} precision_of;

static size_t bytes_of(const precision_of *how, bool real)
{
    return real ? how->real_bytes : sizeof(int);
}

/* A row of a span, without what is beside [low, high). `memory` has strips for all values. */
static void compute_row(const tz_span *span, const precision_of *how, const operations *list,
                        int64_t row, int64_t low, int64_t high, char *memory, int strip, void **at)
{
    const tz_program *p = span->engine;
    const int window = p->dims == 1 ? 1 : 2 * p->radius + 1;
    int64_t place[] = {span->x, span->y + row, span->z};
    for (int64_t x = low; x < high; x += strip) {
        const int count = (int)(high - x < strip ? high - x : strip);
        place[0] = span->x + x;
        for (int v = 0; v < p->inputs_count; v++) {
            const input *in = &p->inputs[v];
            at[v] = memory + (size_t)v * (size_t)strip * sizeof(double);
            if (in->kind == TZ_EXPR_READ) {
                const int d = p->dims == 1 ? 0 : p->radius + in->offset[p->dims - 1];
                const tz_view *view = &span->in[in->index * window + d];
                const int64_t y = row + (p->dims == 3 ? in->offset[1] : 0);
                at[v] = (char *)(uintptr_t)view->at + (y * view->row_stride + x + in->offset[0]) *
                                                          (int64_t)bytes_of(how, in->is_real);
            } else if (x == low || in->kind == TZ_EXPR_COORDINATE)
                how->set(in, span->constants, span->step, place, at[v], count);
        }
        how->compute(list, at, count);
        for (int i = 0; i < p->fields_count; i++) {
            const size_t bytes = bytes_of(how, p->real_fields[p->fields[i]]);
            const tz_target *target = &span->out[p->fields[i]];
            memcpy((char *)target->at + (row * target->row_stride + x) * (int64_t)bytes,
                   at[list->outputs[i]], (size_t)count * bytes);
        }
    }
}

/* As in <trapeze/rows_loop.h>: the ends of a row are in the frame, or all of it. */
static void compute_rows(const tz_span *span, const precision_of *how)
{
    const tz_program *p = span->engine;
    const int values = p->inputs_count + p->places;
    /* Strips of all values fit L1, if that leaves enough cells; and a thread's stack. */
    const int bytes = (int)sizeof(double) * (values + 1);
    int strip = STRIP_BYTES / bytes > STRIP_LEAST ? STRIP_BYTES / bytes : STRIP_LEAST;
    strip = strip < STRIP_MOST ? strip : STRIP_MOST;
    strip = strip < STACK_BYTES / bytes ? strip : STACK_BYTES / bytes;
    strip = strip < 1 ? 1 : strip < span->count ? strip : (int)span->count;
    char *memory = alloca((size_t)(values + 1) * (size_t)(strip + 1) * sizeof(double));
    void **at = alloca((size_t)(values + 1) * sizeof *at);
    for (int v = 0; v < p->places; v++)
        at[p->inputs_count + v] =
            memory + (size_t)(p->inputs_count + v) * (size_t)strip * sizeof(double);
    for (int64_t row = 0; row < span->rows; row++) {
        int64_t low = 0, high = span->count;
        if (p->frame >= 0 && span->constants[p->frame].i) {
            const tz_slot *bounds = span->constants + p->frame + 1;
            const int64_t place[] = {span->x, span->y + row, span->z};
            low = bounds[0].i - place[0];
            high = bounds[1].i - place[0];
            for (int axis = 1; axis < p->dims; axis++)
                if (place[axis] < bounds[2 * axis].i || place[axis] >= bounds[2 * axis + 1].i)
                    low = span->count;
            low = low < 0 ? 0 : low > span->count ? span->count : low;
            high = high < low ? low : high > span->count ? span->count : high;
        }
        compute_row(span, how, &p->framed, row, 0, low, memory, strip, at);
        compute_row(span, how, &p->plain, row, low, high, memory, strip, at);
        compute_row(span, how, &p->framed, row, high, span->count, memory, strip, at);
    }
}

static void compute_cell(const tz_cell_access *access, const precision_of *how)
{
    const tz_program *p = access->engine;
    const int values = p->inputs_count + p->places;
    const int64_t place[] = {access->x, access->y, access->z};
    double *memory = alloca((size_t)(values + 1) * sizeof *memory);
    void **at = alloca((size_t)(values + 1) * sizeof *at);
    bool framed = p->frame >= 0 && access->constants[p->frame].i == 2;
    if (p->frame >= 0 && access->constants[p->frame].i)
        for (int axis = 0; axis < p->dims; axis++) {
            const tz_slot *bounds = access->constants + p->frame + 1 + 2 * axis;
            framed = framed || place[axis] < bounds[0].i || place[axis] >= bounds[1].i;
        }
    const operations *list = framed ? &p->framed : &p->plain;
    for (int v = 0; v < values; v++)
        at[v] = &memory[v];
    for (int v = 0; v < p->inputs_count; v++) {
        const input *in = &p->inputs[v];
        if (in->kind == TZ_EXPR_READ)
            memcpy(at[v],
                   access->read(access, in->index, in->offset[0], in->offset[1], in->offset[2]),
                   bytes_of(how, in->is_real));
        else
            how->set(in, access->constants, access->step, place, at[v], 1);
    }
    how->compute(list, at, 1);
    for (int i = 0; i < p->fields_count; i++)
        memcpy(access->write(access, p->fields[i]), at[list->outputs[i]],
               bytes_of(how, p->real_fields[p->fields[i]]));
}

/* With the processor's vectors: the instruction sets of <trapeze/kernels.h> but the widest. */
#define THIS(name) TZ__CAT(TZ__CAT(name, ISA), TZ__PRECISION)
#define ISA _base_
#include "define/program_run.h"
#undef ISA
#if defined(__x86_64__)
#define ISA _v3_
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi,bmi2")
#endif
#include "define/program_run.h"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#define FORMS(DOUBLE)                                                                              \
    {"base", {rows_base_single, DOUBLE(rows_base_double)}},                                        \
    {                                                                                              \
        "x86-64-v3",                                                                               \
        {                                                                                          \
            rows_v3_single, DOUBLE(rows_v3_double)                                                 \
        }                                                                                          \
    }
#else
#define FORMS(DOUBLE)                                                                              \
    {                                                                                              \
        "base",                                                                                    \
        {                                                                                          \
            rows_base_single, DOUBLE(rows_base_double)                                             \
        }                                                                                          \
    }
#endif

static void cell_single(const tz_cell_access *access)
{
    compute_cell(access, &how_base_single);
}

static void cell_double(const tz_cell_access *access)
{
    compute_cell(access, &how_base_double);
}

const tz_kernels *tz_program_kernels(bool has_real)
{
#define WITH(function) function
#define WITHOUT(function) NULL
    static const tz_row_form forms[] = {FORMS(WITH)}, forms_without[] = {FORMS(WITHOUT)};
    enum { COUNT = sizeof forms / sizeof *forms };
    static const tz_kernels kernels = {COUNT, forms, {cell_single, cell_double}},
                            without = {COUNT, forms_without, {cell_single, NULL}};
    return has_real ? &kernels : &without;
}
