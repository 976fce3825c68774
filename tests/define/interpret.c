#include "tests/define/interpret.h"

#include "tests/unit.h"
#include <trapeze/rows_math.h>

static interpreted constant_of(kind of, double number)
{
    return (interpreted){of, true, number};
}

double interpret_rounded(const cell *c, double number)
{
    return c->single ? (double)(float)number : number;
}

static int32_t wrapped(double number)
{
    return (int32_t)(uint32_t)(int64_t)number;
}

static interpreted as_real(const cell *c, interpreted v)
{
    v.kind = REAL;
    if (!v.constant)
        v.number = interpret_rounded(c, v.number);
    return v;
}

static bool named(const cell *c, const tz_syntax_node *n, const char *name)
{
    return (int)strlen(name) == n->length &&
           memcmp(c->syntax->formula.text.text + n->at, name, (size_t)n->length) == 0;
}

/* ---- Arithmetic ------------------------------------------------------------------------------ */

static double floor_of(double a, double b)
{
    return b == 0 ? 0 : floor(a / b);
}

static double real_operation(const cell *c, tz_operator op, double a, double b)
{
    const float x = (float)a, y = (float)b;
    switch (op) {
    case TZ_OP_PLUS:
        return c->single ? (double)(x + y) : a + b;
    case TZ_OP_MINUS:
        return c->single ? (double)(x - y) : a - b;
    case TZ_OP_TIMES:
        return c->single ? (double)(x * y) : a * b;
    default:
        return c->single ? (double)(x / y) : a / b;
    }
}

static double whole_operation(tz_operator op, double a, double b)
{
    const int32_t x = wrapped(a), y = wrapped(b);
    switch (op) {
    case TZ_OP_PLUS:
        return wrapped(a + b);
    case TZ_OP_MINUS:
        return wrapped(a - b);
    case TZ_OP_TIMES:
        return (double)(int32_t)((uint32_t)x * (uint32_t)y);
    case TZ_OP_FLOOR_OVER:
        return wrapped(floor_of(a, b));
    case TZ_OP_MODULO:
        return b == 0 ? a : a - b * floor_of(a, b);
    case TZ_OP_BITS_AND:
        return x & y;
    case TZ_OP_BITS_OR:
        return x | y;
    case TZ_OP_BITS_XOR:
        return x ^ y;
    case TZ_OP_LEFT:
        return (double)(int32_t)((uint32_t)x << y);
    case TZ_OP_RIGHT_ZEROS:
        return (double)(int32_t)((uint32_t)x >> y);
    default:
        return x >> y;
    }
}

static bool compares(tz_operator op, double a, double b)
{
    switch (op) {
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
    default:
        return a >= b;
    }
}

static interpreted operate(const cell *c, interpreted a, tz_operator op, interpreted b)
{
    const tz_level level = tz_operator_level(op);
    const bool constant = a.constant && b.constant;
    const cell exact = {.single = false};
    if (level == TZ_LEVEL_OR || level == TZ_LEVEL_AND) {
        const bool x = a.number != 0, y = b.number != 0;
        return (interpreted){TRUTH, constant, op == TZ_OP_OR ? x || y : x && y};
    }
    if (level == TZ_LEVEL_COMPARE) {
        const bool real = (a.kind == REAL || b.kind == REAL) && !constant;
        return (interpreted){TRUTH, constant,
                             compares(op, real ? interpret_rounded(c, a.number) : a.number,
                                      real ? interpret_rounded(c, b.number) : b.number)};
    }
    const bool whole = a.kind != REAL && b.kind != REAL && op != TZ_OP_OVER;
    if (constant && op == TZ_OP_FLOOR_OVER)
        return constant_of(WHOLE, floor_of(a.number, b.number));
    if (whole && (!constant || level != TZ_LEVEL_SUM))
        return (interpreted){WHOLE, constant, whole_operation(op, a.number, b.number)};
    if (constant)
        return constant_of(whole ? WHOLE : REAL, real_operation(&exact, op, a.number, b.number));
    return (interpreted){
        REAL, false,
        real_operation(c, op, interpret_rounded(c, a.number), interpret_rounded(c, b.number))};
}

/* ---- Functions ------------------------------------------------------------------------------- */

/* Of one number, and of two. */
/* clang-format off */
#define FUNCTIONS(F)                                                                               \
    F(exp) F(log) F(sin) F(cos) F(tan) F(asin) F(acos) F(atan) F(sinh) F(cosh) F(tanh) F(erf)      \
    F(floor) F(ceil) F(round) F(sqrt)
/* clang-format on */
#define FUNCTIONS_OF_TWO(F) F(pow) F(atan2)

static double call(const cell *c, const char *name, bool constant, const double *a)
{
    const float x = (float)a[0], y = (float)a[1], z = (float)a[2];
#define CALL(f)                                                                                    \
    if (strcmp(name, #f) == 0)                                                                     \
        return constant ? f(a[0]) : c->single ? (double)tz_##f##_single(x) : tz_##f##_double(a[0]);
    FUNCTIONS(CALL)
#define CALL_OF_TWO(f)                                                                             \
    if (strcmp(name, #f) == 0)                                                                     \
        return constant    ? f(a[0], a[1])                                                         \
               : c->single ? (double)tz_##f##_single(x, y)                                         \
                           : tz_##f##_double(a[0], a[1]);
    FUNCTIONS_OF_TWO(CALL_OF_TWO)
    return c->single && !constant ? (double)fmaf(x, y, z) : fma(a[0], a[1], a[2]);
}

static interpreted cut(interpreted v)
{
    const double n = v.number;
    v.number = isnan(n)         ? 0
               : n >= INT32_MAX ? INT32_MAX
               : n <= INT32_MIN ? INT32_MIN
                                : trunc(n) + 0.0;
    v.kind = WHOLE;
    return v;
}

/* min, max, abs and functions of real numbers. */
static interpreted plain(const cell *c, const tz_syntax_node *n, bool whole)
{
    char name[16];
    interpreted all[8];
    double arguments[3] = {0};
    bool constant = true, real = false;
    int count = 0;
    tz_syntax_name(c->syntax, n, name, sizeof name);
    const bool extreme = strcmp(name, "min") == 0 || strcmp(name, "max") == 0;
    const bool sign = strcmp(name, "sign") == 0;
    const bool mixed = extreme || sign || strcmp(name, "abs") == 0;
    for (int i = n->first; i >= 0; i = c->syntax->nodes[i].next, count++) {
        all[count] = interpret(c, i, mixed && whole);
        constant = constant && all[count].constant;
        real = real || all[count].kind == REAL;
    }
    if (strcmp(name, "int") == 0)
        return cut(as_real(c, all[0]));
    if (!mixed) {
        for (int i = 0; i < count; i++)
            arguments[i] = constant ? all[i].number : interpret_rounded(c, all[i].number);
        return (interpreted){REAL, constant, call(c, name, constant, arguments)};
    }
    interpreted result = all[0];
    if (sign) {
        result.number = result.number > 0 ? 1 : result.number < 0 ? -1 : result.number;
        result.kind = real ? REAL : WHOLE;
        return result;
    }
    if (!extreme) {
        result.number = real ? fabs(result.number) : wrapped(fabs(result.number));
        return result;
    }
    for (int i = 1; i < count; i++) {
        interpreted a = result, b = all[i];
        if (!(a.constant && b.constant) && (a.kind == REAL || b.kind == REAL)) {
            a.number = interpret_rounded(c, a.number);
            b.number = interpret_rounded(c, b.number);
        }
        const bool second = strcmp(name, "min") == 0 ? b.number < a.number : a.number < b.number;
        result = (interpreted){a.kind == REAL || b.kind == REAL ? REAL : WHOLE,
                               a.constant && b.constant, second ? b.number : a.number};
    }
    return result;
}

static interpreted sum_of(const cell *c, const tz_syntax_node *n, bool whole)
{
    const tz_syntax_node *nodes = c->syntax->nodes;
    const int low = nodes[n->first].next, high = nodes[low].next, term = nodes[high].next;
    interpreted sum = constant_of(WHOLE, 0);
    const int last = (int)interpret(c, high, true).number;
    bool begins = true;
    for (int i = (int)interpret(c, low, true).number; i <= last; i++) {
        const loop here = {&nodes[n->first], i, c->loops};
        cell inner = *c;
        inner.loops = &here;
        const interpreted v = interpret(&inner, term, whole);
        sum = begins ? v : operate(c, sum, TZ_OP_PLUS, v);
        begins = false;
    }
    return sum;
}

static interpreted of_one(const cell *c, const char *name, interpreted v)
{
    const double arguments[3] = {v.number};
    return (interpreted){REAL, false, call(c, name, false, arguments)};
}

/* pcg4d of the cell, the iteration, the stream and the seed; then a number, or two of them. */
static interpreted noise(const cell *c, const tz_syntax_node *n, bool normal)
{
    const int dims = c->definition->dims;
    const uint32_t stream = (uint32_t)interpret(c, n->first, true).number;
    uint32_t seed = 0, v[4];
    for (int p = 0; p < c->definition->params_count; p++)
        if (strcmp(c->definition->params[p].name, "seed") == 0)
            seed = (uint32_t)(int32_t)c->params[p];
    seed = (seed ^ 0x5bd1e995u) * 0x9e3779b9u;
    seed = (seed ^ seed >> 15) * 0x85ebca6bu;
    v[0] = ((uint32_t)c->at[0] ^ seed) * 1664525u + 1013904223u;
    v[1] = ((dims > 1 ? (uint32_t)c->at[1] : 0x2545f491u) - seed) * 1664525u + 1013904223u;
    v[2] = dims > 2 ? (uint32_t)c->at[2] * 1664525u + 1013904223u : 0x4f6cdd1du;
    v[3] = ((uint32_t)c->step ^ (stream + 1) * 0x9e3779b9u) * 1664525u + 1013904223u;
    for (int round = 0; round < 2; round++) {
        v[0] += v[1] * v[3];
        v[1] += v[2] * v[0];
        v[2] += v[0] * v[1];
        v[3] += v[1] * v[2];
        for (int i = 0; i < 4 && round == 0; i++)
            v[i] ^= v[i] >> 16;
    }
    const double unit =
        c->single ? (v[0] >> 8) * 0x1p-24 : (v[0] >> 5) * 0x1p-27 + (v[1] >> 6) * 0x1p-53;
    const double turn =
        c->single ? (v[2] >> 8) * 0x1p-24 : (v[2] >> 5) * 0x1p-27 + (v[3] >> 6) * 0x1p-53;
    const interpreted first = {REAL, false, unit}, second = {REAL, false, turn};
    if (!normal)
        return first;
    const interpreted rest = operate(c, constant_of(REAL, 1), TZ_OP_MINUS, first);
    const interpreted logarithm = of_one(c, "log", rest);
    const interpreted square = operate(c, constant_of(REAL, -2), TZ_OP_TIMES, logarithm);
    const interpreted angle =
        operate(c, constant_of(REAL, 6.28318530717958647692), TZ_OP_TIMES, second);
    return operate(c, of_one(c, "sqrt", square), TZ_OP_TIMES, of_one(c, "cos", angle));
}

/* ---- Derivatives ----------------------------------------------------------------------------- */

static interpreted moved(const cell *c, int node, int axis, int by, int other_axis, int other)
{
    cell there = *c;
    there.at[axis] += by;
    there.at[other_axis] += other;
    return as_real(c, interpret(&there, node, false));
}

static interpreted product(const cell *c, double weight, interpreted v)
{
    return weight == 1 ? v : operate(c, constant_of(REAL, weight), TZ_OP_TIMES, v);
}

/* A weight over the spacing of an axis, and of another one; -1: none. */
static double weight_of(const cell *c, double weight, int axis, int other)
{
    const tz_definition *d = c->definition;
    for (int i = 0; d->spaced && i < (other < 0 ? 1 : 2); i++)
        for (int p = 0; p < d->params_count; p++)
            if (d->params[p].role == TZ_PARAM_ROLE_SPACING ||
                (int)d->params[p].role == (int)TZ_PARAM_ROLE_SPACING_X + (i ? other : axis))
                weight /= c->params[p];
    return weight;
}

/* 0.5*(k + k[1])*(u[1] - u), or of the face before the cell. */
static interpreted flux(const cell *c, int k, int u, int axis, int from)
{
    const interpreted sum = operate(c, moved(c, k, axis, from, axis, 0), TZ_OP_PLUS,
                                    moved(c, k, axis, from + 1, axis, 0));
    return operate(c, product(c, weight_of(c, 0.5, axis, axis), sum), TZ_OP_TIMES,
                   operate(c, moved(c, u, axis, from + 1, axis, 0), TZ_OP_MINUS,
                           moved(c, u, axis, from, axis, 0)));
}

static interpreted divergence(const cell *c, const tz_syntax_node *n)
{
    const int k = n->first, u = c->syntax->nodes[k].next;
    interpreted all = {0};
    for (int axis = 0; axis < c->definition->dims; axis++) {
        const interpreted both =
            operate(c, flux(c, k, u, axis, 0), TZ_OP_MINUS, flux(c, k, u, axis, -1));
        all = axis ? operate(c, all, TZ_OP_PLUS, both) : both;
    }
    return all;
}

/* dxp(u) and the like. */
static interpreted staggered(const cell *c, const tz_syntax_node *n, int axis, int below)
{
    static const double weights[4][4] = {{1.0},
                                         {9.0 / 8, -1.0 / 24},
                                         {75.0 / 64, -25.0 / 384, 3.0 / 640},
                                         {1225.0 / 1024, -245.0 / 3072, 49.0 / 5120, -5.0 / 7168}};
    const int order_at = c->syntax->nodes[n->first].next;
    const int terms = order_at < 0 ? 1 : (int)interpret(c, order_at, true).number / 2;
    interpreted sum = {0};
    for (int k = 0; k < terms; k++) {
        const interpreted both =
            operate(c, moved(c, n->first, axis, k + 1 - below, axis, 0), TZ_OP_MINUS,
                    moved(c, n->first, axis, -k - below, axis, 0));
        const interpreted term = product(c, weight_of(c, weights[terms - 1][k], axis, -1), both);
        sum = k ? operate(c, sum, TZ_OP_PLUS, term) : term;
    }
    return sum;
}

static interpreted derivative(const cell *c, const tz_syntax_node *n, const char *name)
{
    static const double first[4][4] = {{1.0 / 2},
                                       {2.0 / 3, -1.0 / 12},
                                       {3.0 / 4, -3.0 / 20, 1.0 / 60},
                                       {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280}};
    static const double second[4][5] = {{-2.0, 1.0},
                                        {-5.0 / 2, 4.0 / 3, -1.0 / 12},
                                        {-49.0 / 18, 3.0 / 2, -3.0 / 20, 1.0 / 90},
                                        {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560}};
    const int order_at = c->syntax->nodes[n->first].next;
    const int terms = order_at < 0 ? 1 : (int)interpret(c, order_at, true).number / 2;
    const bool lap = strcmp(name, "lap") == 0;
    const int axis = lap ? 0 : name[1] - 'x', last = lap ? c->definition->dims - 1 : axis;
    const bool one = !lap && !name[2], twice = lap || name[1] == name[2];
    const int other = lap || one ? 0 : name[2] - 'x';
    interpreted sum = {0};
    for (int k = 1; k <= terms; k++) {
        interpreted all = {0};
        for (int a = axis; a <= last && (one || twice); a++) {
            const interpreted low = moved(c, n->first, a, -k, a, 0),
                              high = moved(c, n->first, a, k, a, 0);
            const interpreted both =
                one ? operate(c, high, TZ_OP_MINUS, low) : operate(c, low, TZ_OP_PLUS, high);
            all = a == axis ? both : operate(c, all, TZ_OP_PLUS, both);
        }
        if (one || twice) {
            const interpreted term =
                product(c,
                        weight_of(c, one ? first[terms - 1][k - 1] : second[terms - 1][k], axis,
                                  one ? -1 : axis),
                        all);
            sum = k == 1 ? term : operate(c, sum, TZ_OP_PLUS, term);
            continue;
        }
        for (int j = 1; j <= terms; j++) {
            const interpreted high = operate(c, moved(c, n->first, axis, k, other, j), TZ_OP_MINUS,
                                             moved(c, n->first, axis, k, other, -j));
            const interpreted low = operate(c, moved(c, n->first, axis, -k, other, j), TZ_OP_MINUS,
                                            moved(c, n->first, axis, -k, other, -j));
            const interpreted term = product(
                c, weight_of(c, first[terms - 1][k - 1] * first[terms - 1][j - 1], axis, other),
                operate(c, high, TZ_OP_MINUS, low));
            sum = k == 1 && j == 1 ? term : operate(c, sum, TZ_OP_PLUS, term);
        }
    }
    if (!twice)
        return sum;
    return operate(c, sum, TZ_OP_PLUS,
                   product(c, weight_of(c, (last - axis + 1) * second[terms - 1][0], axis, axis),
                           moved(c, n->first, axis, 0, axis, 0)));
}

/* With other spacings along other axes it is dxx(u) + dyy(u) + dzz(u). */
static interpreted laplacian(const cell *c, const tz_syntax_node *n)
{
    static const char *const names[] = {"dxx", "dyy", "dzz"};
    const tz_definition *d = c->definition;
    bool square = !d->spaced;
    for (int p = 0; p < d->params_count; p++)
        square = square || d->params[p].role == TZ_PARAM_ROLE_SPACING;
    interpreted sum = derivative(c, n, square ? "lap" : names[0]);
    for (int axis = 1; axis < d->dims && !square; axis++)
        sum = operate(c, sum, TZ_OP_PLUS, derivative(c, n, names[axis]));
    return sum;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static interpreted read_field(const cell *c, const tz_syntax_node *n, const int *offset)
{
    static const kind kinds[] = {[TZ_REAL] = REAL, [TZ_INT] = WHOLE, [TZ_BITS] = TRUTH};
    for (int f = 0; f < c->definition->fields_count; f++)
        if (named(c, n, c->definition->fields[f].name)) {
            int at[TZ_AXES];
            for (int axis = 0; axis < TZ_AXES; axis++)
                at[axis] = c->at[axis] + offset[axis];
            return (interpreted){kinds[c->definition->fields[f].type], false,
                                 c->read(c->context, f, at)};
        }
    fail_msg("no field at byte %d of %.*s", n->at, (int)c->syntax->formula.text.length,
             c->syntax->formula.text.text);
    return (interpreted){0};
}

static interpreted name_of(const cell *c, const tz_syntax_node *n, bool whole)
{
    static const int centre[TZ_AXES];
    const char *text = c->syntax->formula.text.text;
    for (const loop *l = c->loops; l; l = l->outer)
        if (l->name->length == n->length &&
            memcmp(text + l->name->at, text + n->at, (size_t)n->length) == 0)
            return constant_of(WHOLE, l->number);
    if (named(c, n, "pi"))
        return constant_of(REAL, 3.14159265358979323846);
    if (named(c, n, "step"))
        return (interpreted){whole ? WHOLE : REAL, false,
                             whole ? (double)c->step : interpret_rounded(c, (double)c->step)};
    for (int axis = 0; axis < TZ_AXES; axis++)
        if (named(c, n, axis == 0 ? "x" : axis == 1 ? "y" : "z"))
            return (interpreted){whole ? WHOLE : REAL, false,
                                 whole ? c->at[axis] : interpret_rounded(c, c->at[axis])};
    for (int p = 0; p < c->definition->params_count; p++)
        if (named(c, n, c->definition->params[p].name))
            return constant_of(c->definition->params[p].integer ? WHOLE : REAL, c->params[p]);
    return read_field(c, n, centre);
}

static interpreted power(const cell *c, const tz_syntax_node *n, bool whole)
{
    const interpreted base = interpret(c, n->first, whole);
    const int exponent = c->syntax->nodes[n->first].next;
    const interpreted by = interpret(c, exponent, whole);
    const bool literal =
        c->syntax->nodes[exponent].kind == TZ_SYNTAX_NUMBER ||
        (c->syntax->nodes[exponent].kind == TZ_SYNTAX_NEGATIVE &&
         c->syntax->nodes[c->syntax->nodes[exponent].first].kind == TZ_SYNTAX_NUMBER);
    if (!literal || by.number != floor(by.number) || fabs(by.number) > 64) {
        const bool constant = base.constant && by.constant;
        const double arguments[3] = {constant ? base.number : interpret_rounded(c, base.number),
                                     constant ? by.number : interpret_rounded(c, by.number)};
        return (interpreted){REAL, constant, call(c, "pow", constant, arguments)};
    }
    interpreted v = by.number < 0 ? as_real(c, base) : base;
    const interpreted factor = v;
    if (by.number == 0)
        return constant_of(v.kind, 1);
    for (int i = 1; i < fabs(by.number); i++)
        v = operate(c, v, TZ_OP_TIMES, factor);
    return by.number < 0 ? operate(c, constant_of(WHOLE, 1), TZ_OP_OVER, v) : v;
}

static interpreted select_of(const cell *c, int condition, bool whole)
{
    const int yes = c->syntax->nodes[condition].next, no = c->syntax->nodes[yes].next;
    const interpreted test = interpret(c, condition, whole);
    const interpreted a = interpret(c, yes, whole), b = interpret(c, no, whole);
    interpreted v = test.number != 0 ? a : b;
    const bool constant = a.constant && b.constant && test.constant;
    if (a.kind == REAL || b.kind == REAL) {
        v.kind = REAL;
        if (!constant)
            v.number = interpret_rounded(c, v.number);
    }
    v.constant = constant;
    return v;
}

static interpreted chain(const cell *c, const tz_syntax_node *n, bool whole)
{
    const tz_syntax_node *nodes = c->syntax->nodes;
    interpreted v = {0};
    for (int i = n->first; i >= 0; i = nodes[i].next) {
        const tz_operator op = nodes[i].op, next = nodes[i].next < 0 ? op : nodes[nodes[i].next].op;
        const tz_level level = tz_operator_level(op ? op : next);
        const bool ints = whole || op == TZ_OP_MODULO || op == TZ_OP_FLOOR_OVER ||
                          next == TZ_OP_MODULO || next == TZ_OP_FLOOR_OVER ||
                          (level >= TZ_LEVEL_BITS_OR && level <= TZ_LEVEL_SHIFT);
        const interpreted operand = interpret(c, i, ints);
        v = op ? operate(c, v, op, operand) : operand;
    }
    return v;
}

interpreted interpret(const cell *c, int node, bool whole)
{
    const tz_syntax_node *n = &c->syntax->nodes[node];
    char name[16];
    interpreted v;
    switch (n->kind) {
    case TZ_SYNTAX_NUMBER:
        return constant_of(n->integer ? WHOLE : REAL, n->number);
    case TZ_SYNTAX_NAME:
        return name_of(c, n, whole);
    case TZ_SYNTAX_INDEX: {
        int offset[TZ_AXES] = {0}, axis = 0;
        for (int i = n->first; i >= 0; i = c->syntax->nodes[i].next)
            offset[axis++] = (int)interpret(c, i, true).number;
        return read_field(c, n, offset);
    }
    case TZ_SYNTAX_CALL:
        tz_syntax_name(c->syntax, n, name, sizeof name);
        if (strcmp(name, "sum") == 0)
            return sum_of(c, n, whole);
        if (strcmp(name, "select") == 0)
            return select_of(c, n->first, whole);
        if (strcmp(name, "random") == 0 || strcmp(name, "normal") == 0)
            return noise(c, n, name[0] == 'n');
        if (strcmp(name, "div") == 0)
            return divergence(c, n);
        if (name[0] == 'd' && (name[2] == 'm' || name[2] == 'p'))
            return staggered(c, n, name[1] - 'x', name[2] == 'm');
        if (strcmp(name, "lap") == 0)
            return laplacian(c, n);
        if (name[0] == 'd')
            return derivative(c, n, name);
        return plain(c, n, whole);
    case TZ_SYNTAX_CHAIN:
        return chain(c, n, whole);
    case TZ_SYNTAX_POWER:
        return power(c, n, whole);
    case TZ_SYNTAX_SELECT:
        return select_of(c, n->first, whole);
    case TZ_SYNTAX_NOT:
        v = interpret(c, n->first, whole);
        return (interpreted){TRUTH, v.constant, v.number == 0};
    case TZ_SYNTAX_BITS_NOT:
        v = interpret(c, n->first, true);
        v.number = v.kind == TRUTH ? v.number == 0 : ~wrapped(v.number);
        return v;
    default:
        v = interpret(c, n->first, whole);
        v.number = v.kind == REAL ? -v.number : -v.number > INT32_MAX ? v.number : -v.number;
        if (v.kind != REAL) {
            v.kind = WHOLE;
            v.number += 0.0;
        }
        return v;
    }
}
