/* Defined stencils, in memory and compiled, against the meaning of the formulas (interpret.h): the
 * same bits in every cell of random fields, in single and double precision. */
#include "tests/define/hostile.h"
#include "tests/define/interpret.h"
#include "tests/support.h"

#include "base/machine.h"
#include "define/plugin.h"

enum { NX = 9, NY = 7, NZ = 5, CELLS = NX * NY * NZ };

/* Random fields, periodic. */
typedef struct grid {
    const tz_definition *definition;
    bool single;
    double values[TZ_FIELDS_MAX][CELLS];
    /* The cell that the compiled update computes, and what it gives to read and to write. */
    int at[TZ_AXES];
    int bit;
    union {
        float f;
        double d;
        int32_t i;
        uint32_t w;
    } slots[4096], written[TZ_FIELDS_MAX];
    int slots_used;
} grid;

static uint64_t random_state = 12345;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void fill(grid *g)
{
    for (int f = 0; f < g->definition->fields_count; f++)
        for (int i = 0; i < CELLS; i++) {
            const uint64_t bits = next_random();
            const double real = ((double)(bits >> 11) * 0x1p-53 * 4 - 2) + 0.01;
            const tz_type type = g->definition->fields[f].type;
            g->values[f][i] = type == TZ_INT    ? (double)(bits % 4 ? (int)(bits >> 8 & 15) - 7
                                                                    : (int32_t)(bits >> 16))
                              : type == TZ_BITS ? (double)(uint32_t)(bits >> 20)
                              : g->single       ? (double)(float)real
                                                : real;
        }
}

static int wrap(int i, int n)
{
    return (i % n + n) % n;
}

static double *cell_of(grid *g, int field, const int *at)
{
    const int dims = g->definition->dims;
    const int y = dims > 1 ? wrap(at[1], NY) : 0, z = dims > 2 ? wrap(at[2], NZ) : 0;
    return &g->values[field][(z * NY + y) * NX + wrap(at[0], NX)];
}

/* For the interpreter: the value, or the bit of a word. */
static double read_value(void *context, int field, const int *at)
{
    grid *g = context;
    const double number = *cell_of(g, field, at);
    return g->definition->fields[field].type == TZ_BITS ? (uint32_t)number >> g->bit & 1 : number;
}

/* For the compiled update. */
static grid *current;

static const void *give(const tz_cell_access *access, int field, int dx, int dy, int dz)
{
    grid *g = current;
    const int at[] = {g->at[0] + dx, g->at[1] + dy, g->at[2] + dz};
    const double number = *cell_of(g, field, at);
    const int slot = g->slots_used++ % 4096;
    const tz_type type = g->definition->fields[field].type;
    if (type == TZ_INT)
        g->slots[slot].i = (int32_t)number;
    else if (type == TZ_BITS)
        g->slots[slot].w = (uint32_t)number;
    else if (g->single)
        g->slots[slot].f = (float)number;
    else
        g->slots[slot].d = number;
    return &g->slots[slot];
}

static void *take(const tz_cell_access *access, int field)
{
    return &current->written[field];
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static double written_value(const grid *g, int field, int bit)
{
    const tz_type type = g->definition->fields[field].type;
    if (type == TZ_INT)
        return g->written[field].i;
    if (type == TZ_BITS)
        return g->written[field].w >> bit & 1;
    return g->single ? (double)g->written[field].f : g->written[field].d;
}

static void check_cell(grid *g, const tz_definition *d, const tz_defined_formula *u, int field,
                       const tz_syntax *syntax, const double *params, int64_t step)
{
    const int bits = d->fields[field].type == TZ_BITS ? 32 : 1;
    for (g->bit = 0; g->bit < bits; g->bit++) {
        const cell c = {.definition = d,
                        .syntax = syntax,
                        .single = g->single,
                        .at = {g->at[0], g->at[1], g->at[2]},
                        .step = step,
                        .params = params,
                        .read = read_value,
                        .context = g};
        const interpreted wanted = interpret(&c, syntax->root, d->fields[field].type != TZ_REAL);
        double number = d->fields[field].type == TZ_BITS ? wanted.number != 0 : wanted.number;
        if (d->fields[field].type == TZ_REAL)
            number = interpret_rounded(&c, number);
        else
            number += 0.0; /* no whole number is -0 */
        const double got = written_value(g, field, g->bit);
        if (memcmp(&number, &got, sizeof got) != 0 && !(isnan(number) && isnan(got)))
            fail_msg("%s, %s: '%.*s' is %.17g, and the cell %d %d %d has %.17g", d->id,
                     g->single ? "single" : "double", (int)u->formula.length, u->formula.text,
                     number, g->at[0], g->at[1], g->at[2], got);
    }
}

static void check_pass(grid *g, const tz_definition *d, const tz_pass *pass,
                       const tz_defined_formula *updates, int count, const tz_slot *constants,
                       const double *params)
{
    const int64_t step = 77;
    tz_syntax syntax[TZ_FIELDS_MAX];
    for (int u = 0; u < count; u++) {
        const tz_formula formula = {updates[u].formula, "", &failure};
        assert_ok(tz_syntax_parse(&syntax[u], &formula));
    }
    for (int i = 0; i < (d->dims == 1 ? NX : d->dims == 2 ? NX * NY : CELLS); i++) {
        const tz_cell_access access = {.read = give,
                                       .write = take,
                                       .constants = constants,
                                       .engine = pass->engine,
                                       .x = i % NX,
                                       .y = i / NX % NY,
                                       .z = i / NX / NY,
                                       .step = step};
        g->at[0] = (int)access.x;
        g->at[1] = (int)access.y;
        g->at[2] = (int)access.z;
        memset(g->written, 0xa5, sizeof g->written);
        current = g;
        pass->kernels->cell[g->single ? TZ_SINGLE : TZ_DOUBLE](&access);
        for (int u = 0; u < count; u++)
            for (int f = 0; f < d->fields_count; f++)
                if (strcmp(d->fields[f].name, updates[u].name) == 0)
                    check_cell(g, d, &updates[u], f, &syntax[u], params, step);
    }
    for (int u = 0; u < count; u++)
        tz_syntax_clear(&syntax[u]);
}

/* ---- In memory, and compiled ----------------------------------------------------------------- */

/* The registry with the stencil in memory. */
static tz_registry *define(const tz_definition *d)
{
    tz_defined_source source;
    tz_registry *registry;
    assert_ok(tz_define_source(d, &source, &failure));
    assert_ok(tz_registry_create(&registry, NULL, 0, &failure));
    assert_ok(tz_define_plugin(registry, d->id, &source, "a test", NULL, &failure));
    tz_defined_source_clear(&source);
    return registry;
}

/* Cells around a row, with all that a number may be: NANs, infinities, subnormals. */
enum { COUNT = 133, AROUND = 8, WIDTH = COUNT + 2 * AROUND, LINES = 18 };

typedef struct lines {
    uint64_t in[TZ_FIELDS_MAX][LINES][LINES][WIDTH], out[2][TZ_FIELDS_MAX][COUNT];
    int field_bytes[TZ_FIELDS_MAX];
} lines;

static uint64_t any_bits(const tz_field *field, bool single)
{
    const uint64_t bits = next_random(), sign = bits & 0x8000000000000000u;
    const double real = (double)(int64_t)bits * 0x1p-62;
    if (field->type != TZ_REAL)
        return field->type == TZ_INT && bits % 3 ? (uint64_t)(bits >> 40 & 15) : bits;
    const int sort = (int)(bits >> 3 & 63);
    union {
        uint64_t bits;
        double d;
        float f;
    } one = {.bits = bits};
    if (sort > 7 && single)
        one.f = (float)real;
    else if (sort > 7)
        one.d = real;
    else if (sort == 0)
        one.bits = single ? 0x7fc00000u : 0x7ff8000000000000u;
    else if (sort == 1)
        one.bits = single ? (sign >> 32 | 0x7f800000u) : (sign | 0x7ff0000000000000u);
    else if (sort == 2)
        one.bits = single ? (sign >> 32 | (bits & 0x7fffff)) : (sign | bits >> 12);
    else if (sort == 3)
        one.bits = single ? sign >> 32 : sign;
    return one.bits;
}

static const void *line_of(const lines *l, int field, int y, int z, int bytes)
{
    return (const char *)l->in[field][z][y] + AROUND * bytes;
}

/* Row functions of both, on the same cells. */
static void check_rows(lines *l, const tz_stencil *stencil, const tz_pass *pass,
                       const tz_kernels *memory, bool single, const tz_slot *constants)
{
    static tz_view in[TZ_FIELDS_MAX * (2 * TZ_RADIUS_MAX + 1)];
    static tz_target out[TZ_FIELDS_MAX];
    const int fields = tz_stencil_fields_all(stencil), r = pass->radius;
    const int window = stencil->dims == 1 ? 1 : 2 * r + 1;
    for (int f = 0; f < fields; f++) {
        const int bytes = stencil->fields[f].type == TZ_REAL && !single ? 8 : 4;
        for (int z = 0; z < LINES; z++)
            for (int y = 0; y < LINES; y++)
                for (int i = 0; i < WIDTH; i++) {
                    const uint64_t bits = any_bits(&stencil->fields[f], single);
                    memcpy((char *)l->in[f][z][y] + i * bytes, &bits, (size_t)bytes);
                }
        for (int k = 0; k < window; k++)
            in[f * window + k] = (tz_view){
                line_of(l, f, stencil->dims == 3 ? AROUND : k, stencil->dims == 3 ? k : 0, bytes),
                (ptrdiff_t)WIDTH * 8 / bytes};
    }
    memset(l->out, 0xa5, sizeof l->out);
    for (int isa = TZ_ISA_BASE; isa <= (int)tz_machine_isa(); isa++)
        for (int k = 0; k < 2; k++) {
            tz_row_fn *rows = tz_kernels_rows(k ? pass->kernels : memory, (tz_isa)isa,
                                              single ? TZ_SINGLE : TZ_DOUBLE);
            for (int f = 0; f < fields; f++)
                out[f] = (tz_target){l->out[k][f], 0};
            const tz_span span = {.in = in,
                                  .out = out,
                                  .constants = constants,
                                  .count = COUNT,
                                  .rows = 1,
                                  .x = 3,
                                  .y = 2,
                                  .z = 1,
                                  .step = 77,
                                  .engine = pass->engine};
            if (rows)
                rows(&span);
            for (int f = 0; k && f < fields; f++)
                for (int i = 0; i < COUNT; i++) {
                    const tz_element_type *type =
                        tz_element_type_of(stencil->fields[f].type, single ? TZ_SINGLE : TZ_DOUBLE);
                    const char *a = (char *)l->out[0][f] + (size_t)i * type->size,
                               *b = (char *)l->out[1][f] + (size_t)i * type->size;
                    if (memcmp(a, b, type->size) != 0 && !(type->is_nan(a) && type->is_nan(b)))
                        fail_msg("%s, %s, %s, cell %d of '%s': interpreted and compiled differ",
                                 stencil->id, pass->name, single ? "single" : "double", i,
                                 stencil->fields[f].name);
                }
        }
}

/* The constants as the engine makes them. */
static void derive(const tz_definition *d, const tz_stencil *stencil, bool single,
                   const double *params, tz_slot *slots)
{
    tz_value values[TZ_PARAMS_MAX];
    double constants[TZ_CONSTANTS_MAX], origins[TZ_FIELDS_MAX] = {0};
    double edges[TZ_FIELDS_MAX * TZ_SIDES] = {0};
    char message[300] = "";
    tz_setup setup = {.struct_size = sizeof setup,
                      .dims = d->dims,
                      .extent = {NX, NY, NZ},
                      .precision = single ? TZ_SINGLE : TZ_DOUBLE,
                      .params = values,
                      .constants = constants,
                      .message = message,
                      .message_size = sizeof message,
                      .origins = origins,
                      .boundary_values = edges,
                      .engine = stencil->engine};
    for (int p = 0; p < d->params_count; p++)
        values[p] = (tz_value){.number = params[p]};
    if (stencil->constants_count && stencil->derive(&setup) != 0)
        fail_msg("derive: %s", message);
    for (int k = 0; k < stencil->constants_count; k++)
        if (stencil->constants[k].type == TZ_INT)
            slots[k].i = (int64_t)constants[k];
        else if (single)
            slots[k].f = (float)constants[k];
        else
            slots[k].d = constants[k];
}

static void check_precision(grid *g, const tz_definition *d, const tz_stencil *stencil,
                            const double *params, tz_slot *slots)
{
    derive(d, stencil, g->single, params, slots);
    fill(g);
    for (int p = 0; p < d->passes_count; p++)
        check_pass(g, d, &stencil->passes[p], d->passes[p].updates, d->passes[p].updates_count,
                   slots, params);
    for (int o = 0; o < d->outputs_count; o++)
        check_pass(g, d, &stencil->outputs[o], &d->outputs[o], 1, slots, params);
}

/* Formulas as they are interpreted, as they are compiled, and both on the same bits. */
static void check_definition(scratch *s, const tz_definition *d)
{
    tz_registry *registry = define(d);
    const tz_stencil *stencil;
    grid *g = calloc(1, sizeof *g);
    lines *l = malloc(sizeof *l);
    double params[TZ_PARAMS_MAX];
    tz_slot slots[TZ_CONSTANTS_MAX];
    int precisions = 0;
    char command[1200];
    assert_true(g && l);
    setenv("TRAPEZE_CACHE", s->directory, 1);
    /* Quickly, and without a warning. */
    snprintf(command, sizeof command, "sh %s/quick-cc", s->directory);
    scratch_text(
        s, "quick-cc",
        "for word; do shift; case $word in -O?) word=-O0 ;; esac; set -- \"$@\" \"$word\"; done\n"
        "exec cc -Werror \"$@\"\n");
    setenv("CC", command, 1);
    assert_ok(tz_registry_find(registry, d->id, &stencil, NULL, &failure));
    for (int p = 0; p < d->params_count; p++)
        params[p] = d->params[p].value;
    g->definition = d;
    const tz_kernels *memory = stencil->passes[0].kernels;
    for (int compiled = 0; compiled < 2; compiled++)
        for (int precision = TZ_SINGLE; precision <= TZ_DOUBLE; precision++) {
            if (!stencil->passes[0].kernels->cell[precision])
                continue;
            precisions++;
            g->single = precision == TZ_SINGLE;
            if (compiled)
                assert_ok(tz_stencil_compile(stencil, &(tz_cancel){.stopped = NULL}, &failure));
            check_precision(g, d, stencil, params, slots);
            for (int p = 0; compiled && p < stencil->passes_count; p++)
                check_rows(l, stencil, &stencil->passes[p], memory, g->single, slots);
        }
    assert_true(precisions > 1 && stencil->passes[0].kernels != memory);
    free(g);
    free(l);
    tz_registry_destroy(registry);
}

/* ---- Formulas -------------------------------------------------------------------------------- */

#define UPDATE(id, formula)                                                                        \
    {                                                                                              \
        id, TEXT(formula)                                                                          \
    }

SCRATCH_TEST(test_real_2d)
{
    const tz_defined_field fields[] = {
        REAL_STATE("u"),   REAL_STATE("v"),      INT_STATE("c"),    REAL_STATIC("k"),
        REAL_STATE("r1"),  REAL_STATE("r2"),     REAL_STATE("r3"),  REAL_STATE("r4"),
        REAL_STATE("r5"),  REAL_STATE("r6"),     REAL_STATE("r7"),  REAL_STATE("r8"),
        REAL_STATE("r9"),  REAL_STATE("r10"),    REAL_STATE("r11"), REAL_STATE("r12"),
        REAL_STATE("r13"), REAL_STATE("r14"),    REAL_STATE("r15"), REAL_STATE("r16"),
        REAL_STATE("r17"), REAL_STATE("r18"),    REAL_STATE("r19"), REAL_STATE("r20"),
        REAL_STATE("r21"), REAL_STATE("r22"),    REAL_STATE("r23"), REAL_STATE("r24"),
        REAL_STATE("r25"), REAL_DERIVED("speed")};
    const tz_defined_param params[] = {PARAM("dt", 0.1), PARAM("f", -3.7), INT_PARAM("n", 5)};
    const tz_defined_formula updates[] = {
        UPDATE("r23", "exp(-((u[-1,0] - u)/dt)^2)*(u[-1,0] - u) + abs(u - v)*(u[0,1] - u)^3 - "
                      "(v - u)^-2 + (u - u[1,0])*k*(u - u[1,0]) + 1/abs(1/(u - u[0,1]))"),
        UPDATE("u", "2*u - v + k*dt^2*(u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u)"),
        UPDATE("v", "u"),
        UPDATE("c", "c"),
        UPDATE("r1", "u + v + k - u*v/k*2/dt + 0.1*u - u/3"),
        UPDATE("r2", "lap(u) + lap(u, 4) - lap(v, 6)*lap(u*v, 8)"),
        UPDATE("r3",
               "dx(u)*dy(u) + dxx(u, 4) + dyy(v, 8) - dxy(u) + dxy(u, 6) + dx(v, 8) - dy(u, 6)"),
        UPDATE("r4", "dx(k*dx(u)) + dy(k*dy(u, 4), 2) + dx(x*u)"),
        UPDATE("r22", "div(k, u) + div(v*x, u - v)*dt + div(dt, u) - div(1, k) + div(c, 2*v)"),
        UPDATE("r5", "sum(i, -2, 2, (i + 0.5)*u[i,0]) - sum(i, -1, 1, sum(j, -i, 3, v[i,j]*i*j))"),
        UPDATE("r6", "u^2 + u^3*v^-2 - (u + v)^4 + -u^2 + 2^3^2 + u^0 + (u - 1)^1"),
        UPDATE("r7", "u > 0 ? v : 1/3"),
        UPDATE("r8", "select(u > v and not (k < 0 or c == 3), u*dt, v/dt + 1)"),
        UPDATE("r9", "min(u, v, 0.1) + max(u, dt*f, v) - abs(u - v) + min(c, 3) + abs(c - 2)"),
        UPDATE("r10", "exp(u)*log(abs(v) + 0.01) - sin(u)*cos(v) + tanh(k)*sqrt(abs(u))"),
        UPDATE("r11", "abs(u)^0.5 + pow(abs(v), k) + (u^2)^n + fma(u, v, k) - fma(u, dt, 0.3)"),
        UPDATE("r12", "x*0.1 + y - step*dt + (x - 3)^2*u + (x % 2 == 0 ? u : v)"),
        UPDATE("r13", "c*u + c//3 + c%n*0.5 + int(u*1000)/7 + c/3 + n*u + (c < 2)*u"),
        UPDATE("r14", "exp(-f)*u + sqrt(dt)*v + (dt > 0.05 ? f : 2)*k + min(dt, f, n)*u + abs(f)"),
        UPDATE("r15", "u - (v - (k - (u - v))) - (u*v - k) * (u/(v/k)) - u/v/k"),
        UPDATE("r16", "2*dt*u*3*f + dt*f + 7//2*u + 7%-4*v + n//2*u + n%3*k + 1/16*u"),
        UPDATE("r17", "u == v ? 0 : u ~= v ? -0.5 : 3"),
        UPDATE("r18", "((u + 1)^3 + (u + 1)^3*v)/(1 + (u + 1)^2)"),
        UPDATE("r19", "1e300*1e-300*u + 16777217*u + 0.1 + 3 - -2*u - u*-3 + +u"),
        UPDATE("r20", "pi*u + sin(2*pi*x/7) + cos(pi/4)*v"),
        UPDATE("r24", "tan(u)*floor(9*u) + asin(u/2)*acos(v/2) + atan(1/u) + atan2(u, v) - sinh(u)/"
                      "cosh(v) + erf(v) + ceil(7*v) - round(8*u) + sign(u - v)*sign(c) + erf(dt)"),
        UPDATE("r25", "dxp(u) - dxm(k*dxp(v)) + dyp(u, 4)*dym(v, 8) + dyp(u*v, 6)"),
        UPDATE("r21", "(not u) + (u and v) + (u or v) + (not u > v)"),
    };
    const tz_defined_formula outputs[] = {UPDATE("speed", "sqrt(dx(u)^2 + dy(u)^2)")};
    const tz_defined_pass passes[] = {{UPDATES(updates)}};
    const tz_definition d = {
        .id = "many", .dims = 2, FIELDS(fields), PARAMS(params), PASSES(passes), OUTPUTS(outputs)};
    check_definition(*state, &d);
}

SCRATCH_TEST(test_int)
{
    const tz_defined_field fields[] = {INT_STATE("c"),  INT_STATE("d"),  INT_STATE("i1"),
                                       INT_STATE("i2"), INT_STATE("i3"), INT_STATE("i4"),
                                       INT_STATE("i5"), INT_STATE("i6"), INT_STATE("i7"),
                                       INT_STATE("i8"), INT_STATE("i9")};
    const tz_defined_param params[] = {INT_PARAM("n", 14), INT_PARAM("m", -3),
                                       INT_PARAM("zero", 0)};
    const tz_defined_formula updates[] = {
        UPDATE("c", "sum(i,-1,1, c[i] == (c + 1)%n) > 1 ? (c + 1)%n : c"),
        UPDATE("d", "d[-1]*c[1] - d + 2147483647*c"),
        UPDATE("i1", "c//d + c%d + c//3 - c//-7 + d//m + c%m - c//zero + d%zero + c//0 + c%0"),
        UPDATE("i2", "(c & 15) | (d ~ 3) & ~c"),
        UPDATE("i3", "(c << 5) + (d >> 2) - ((c & 255) << 3) + (d & 7)*(c & 7) + c^3 + (c&7)^2"),
        UPDATE("i4", "min(c, d, 3) + max(c, d) - abs(d) + -c - -d"),
        UPDATE("i5", "x*x + x%3 + step - (x - 4)//2 + n*m - n//4 + (c%16)//3 + (c%16)%5"),
        UPDATE("i6", "int(c*0.37 + d/3) + int(1e20) - int(-3.7)"),
        UPDATE("i7", "c < d ? c : d > 3 and c ~= 0 ? 7 : -2147483647 - 1"),
        UPDATE("i9", "(c >>> 3) + (d*0x9e3779b9 >>> 0) - (((c & 0xFf) >>> 2) ~ (d - 3 >>> 31)) + "
                     "sign(c - d)*7"),
        UPDATE("i8", "(c > d) + (c <= 2)*5 + (not c) + select(n > 3, c, d)"),
    };
    const tz_defined_pass passes[] = {{UPDATES(updates)}};
    const tz_definition d = {
        .id = "ints", .dims = 1, FIELDS(fields), PARAMS(params), PASSES(passes)};
    check_definition(*state, &d);
}

SCRATCH_TEST(test_bits)
{
    const tz_defined_field fields[] = {BITS_STATE("a"),  BITS_STATE("b"),  BITS_STATE("b1"),
                                       BITS_STATE("b2"), BITS_STATE("b3"), BITS_STATE("b4"),
                                       BITS_STATE("b5"), BITS_STATE("b6"), BITS_STATE("b7")};
    const tz_defined_param params[] = {INT_PARAM("n", 2)};
    const tz_defined_formula updates[] = {
        UPDATE("a",
               "sum(i,-1,1, sum(j,-1,1, a[i,j])) == 3 or a and sum(i,-1,1, sum(j,-1,1, a[i,j])) "
               "== 4"),
        UPDATE("b", "sum(i,-1,1, sum(j,-1,1, b[i,j])) - b == 3 or b and sum(i,-1,1, sum(j,-1,1, "
                    "b[i,j])) - b == 2"),
        UPDATE("b1", "a[1,0] and not b or (a ~= b) and (a[0,1] == b)"),
        UPDATE("b2", "a ? b : a[0,1]"),
        UPDATE("b3", "sum(i,-3,3, sum(j,-2,2, a[i,j])) >= 17 or a + b + a[2,2] + 1 > 3"),
        UPDATE("b4", "(y % 2 == 0 ? a : b) and step > n"),
        UPDATE("b5", "a + b < 2 and a + b ~= 0 or 3 <= sum(i,-2,2, a[i,0])"),
        UPDATE("b6", "(a & b | ~a) ~ 1 and a + (a and b) <= 1"),
        UPDATE("b7", "sum(i,-1,1, b[i,0]) < 0 or sum(i,-1,1, b[i,0]) <= 3 and b"),
    };
    const tz_defined_pass passes[] = {{UPDATES(updates)}};
    const tz_definition d = {.id = "bits",
                             .dims = 2,
                             FIELDS(fields),
                             PARAMS(params),
                             PASSES(passes),
                             .boundary = TZ_PERIODIC};
    check_definition(*state, &d);
}

SCRATCH_TEST(test_3d_in_passes)
{
    const tz_defined_field fields[] = {REAL_STATE("p"), REAL_STATE("q"), REAL_STATIC("w"),
                                       INT_STATE("mark")};
    const tz_defined_param params[] = {PARAM("h", 0.3)};
    const tz_defined_formula first[] = {
        UPDATE("p", "2*p - q + h^2*w[0,0,1]*(lap(p, 8) + dxz(p) - dyz(q, 4))"),
        UPDATE("mark", "mark + (x + y + z)%3"),
    };
    const tz_defined_formula second[] = {
        UPDATE("q", "p[1,-1,2] - dzz(q)*z + sum(i,-1,1, dz(w)*i)")};
    const tz_defined_pass passes[] = {{.name = "first", UPDATES(first)},
                                      {.name = "second", UPDATES(second)}};
    const tz_definition d = {
        .id = "solid", .dims = 3, FIELDS(fields), PARAMS(params), PASSES(passes)};
    check_definition(*state, &d);
}

/* Random numbers, of neighbours, too, and among ints. */
SCRATCH_TEST(test_noise)
{
    const tz_defined_field fields[] = {REAL_STATE("u"), REAL_STATE("v"), INT_STATE("c")};
    const tz_defined_param params[] = {INT_PARAM("seed", -7), PARAM("dt", 0.01)};
    const tz_defined_formula updates[] = {
        UPDATE("u", "u + sqrt(dt)*normal(1) + random(2)*(random(3) < 0.5 ? v : 1)"),
        UPDATE("v", "random(2) + dxp(random(0)) + sum(i, 0, 1, normal(7 + i))"),
        UPDATE("c", "random(5) < 0.3 ? c + int(6*random(6)) : x")};
    const tz_defined_pass passes[] = {{UPDATES(updates)}};
    const tz_definition d = {
        .id = "noise", .dims = 3, FIELDS(fields), PARAMS(params), PASSES(passes)};
    check_definition(*state, &d);
}

/* Differences over the spacing, the same along all axes, and another along each. */
SCRATCH_TEST(test_spacing)
{
    const tz_defined_field fields[] = {REAL_STATE("u"), REAL_STATE("v"), REAL_STATE("w")};
    const tz_defined_param params[] = {
        {.name = "hx", .value = 0.3, .min = 0.1, .max = 1, .role = TZ_PARAM_ROLE_SPACING_X},
        {.name = "hy", .value = 0.07, .min = 0.01, .max = 1, .role = TZ_PARAM_ROLE_SPACING_Y}};
    const tz_defined_param square[] = {
        {.name = "h", .value = 0.3, .min = 0.1, .max = 1, .role = TZ_PARAM_ROLE_SPACING}};
    const tz_defined_formula updates[] = {
        UPDATE("u", "dx(u) + dy(v, 4)*dxx(u, 6) - dyy(v)/dxy(u, 4) + div(v, u)"),
        UPDATE("v", "dxp(u) - dym(v, 4) + dxm(u*v, 6) + dyp(v, 8)"),
        UPDATE("w", "dxm(v*dxp(u)) + dx(w)*div(u, 2*w) + lap(u) - lap(v, 4)*lap(u, 8)")};
    const tz_defined_formula laplacians[] = {UPDATE("u", "lap(u)"), UPDATE("v", "dxp(v)"),
                                             UPDATE("w", "w")};
    const tz_defined_formula by_hand[] = {
        UPDATE("u", "1/h/h*((u[-1,0] + u[1,0]) + (u[0,-1] + u[0,1])) + -4/h/h*u"),
        UPDATE("v", "1/h*(v[1,0] - v)"), UPDATE("w", "w")};
    const tz_defined_pass passes[] = {{UPDATES(updates)}}, other[] = {{UPDATES(laplacians)}},
                          plain[] = {{UPDATES(by_hand)}};
    tz_defined_source spaced, divided;
    tz_definition d = {
        .id = "spaced", .dims = 2, FIELDS(fields), PARAMS(params), PASSES(passes), .spaced = true};
    check_definition(*state, &d);
    d.params_count = 1;
    d.params = square;
    d.passes = other;
    assert_ok(tz_define_source(&d, &spaced, &failure));
    d.passes = plain;
    assert_ok(tz_define_source(&d, &divided, &failure));
    assert_string_equal(spaced.cell_text, divided.cell_text);
    tz_defined_source_clear(&spaced);
    tz_defined_source_clear(&divided);
}

/* ---- Formulas that nobody wrote -------------------------------------------------------------- */

typedef enum sort { A_REAL, AN_INT, A_TRUTH, SOME_BITS } sort;

/* In these, R, I, T and B stand for formulas of the sorts above, and digits for other numbers. */
static const char *const productions[][28] = {
    [A_REAL] = {"u",         "v",      "k",         "u[1,-1]",
                "v[0,2]",    "dt",     "0.3",       "f",
                "c",         "x",      "step",      "R + R",
                "R - R",     "R*R",    "R/R",       "(R - R)",
                "-R",        "(R)^2",  "(R)^-1",    "fma(R, R, R)",
                "min(R, R)", "abs(R)", "T ? R : R", "sign(R)*atan2(R, R)",
                "I*R",       "lap(R)", "dx(R, 4)",  "sum(i, -1, 1, u[i,0]*R)"},
    [AN_INT] = {"c",           "d",           "c[-1,0]",       "n",
                "7",           "d[0,1]",      "(c & 15)",      "I + I",
                "I - I",       "(I)*(I)",     "I // I",        "(I) % (I)",
                "(I) % 5",     "((I) | I)",   "((I) ~ 6)",     "((I) << 3)",
                "((I) >>> 2)", "~(I)",        "-(I)",          "max(I, I)",
                "abs(I)",      "(T ? I : I)", "(I)^3",         "int(R)",
                "(T) + I",     "x % 4",       "(c & 63) // 7", "sum(i, -1, 1, c[i,1] == I)"},
    [A_TRUTH] = {"u > 0", "R < R", "I == I", "(not T)", "(T and T)", "(T or T)", "I ~= 3",
                 "R >= dt", "u == v", "I <= I", "u != k", "R > 0.5", "c > d", "(I) % 2 == 0"},
    [SOME_BITS] = {"a", "b", "a[1,0]", "b[0,-1]", "(not B)", "(B and B)", "(B or B)", "(B != B)",
                   "(B == B)", "(B ? B : B)", "(B + B + B > 1)", "(sum(i, -2, 2, a[i,0]) == 2)",
                   "(y % 2 == 0 ? B : B)", "(B + B + a[1,1] + b[-1,1] <= 2)", "1"},
};

static const char *production(sort of, int depth)
{
    static const int simple[] = {11, 7, 1, 4};
    int count = 0;
    while (count < 28 && productions[of][count])
        count++;
    return productions[of][next_random() % (uint64_t)(depth > 0 ? count : simple[of])];
}

static void generate(sort of, int depth, char *text, size_t size)
{
    static const char letters[] = "RITB";
    for (const char *c = production(of, depth); *c; c++) {
        const char *letter = strchr(letters, *c);
        const size_t length = strlen(text);
        if (letter)
            generate((sort)(letter - letters), depth - 1, text, size);
        else if (length + 1 < size)
            snprintf(text + length, size - length, "%c", *c);
    }
}

/* A formula for field `f` that is accepted. */
static void generate_accepted(tz_definition d, int f, sort of, char *text, size_t size)
{
    tz_defined_formula updates[TZ_FIELDS_MAX];
    const tz_defined_pass pass = {.updates_count = d.fields_count, .updates = updates};
    tz_status status = TZ_FORMAT;
    d.passes_count = 1;
    d.passes = &pass;
    while (status) {
        tz_defined_source source;
        text[0] = '\0';
        generate(of, 5, text, size);
        for (int i = 0; i < d.fields_count; i++) {
            const char *formula = i == f ? text : d.fields[i].name;
            updates[i] = (tz_defined_formula){d.fields[i].name, {formula, strlen(formula)}};
        }
        if (strlen(text) < 12 || strlen(text) + 2 > size)
            continue;
        status = tz_define_source(&d, &source, NULL);
        if (!status && strlen(source.cell_text) > 6000)
            status = TZ_RANGE;
        tz_defined_source_clear(&source);
    }
}

/* The first fields keep their values; the others have random formulas of a sort. */
static void check_random(scratch *s, tz_definition d, int kept, sort of)
{
    static char texts[TZ_FIELDS_MAX][300];
    tz_defined_formula updates[TZ_FIELDS_MAX];
    const tz_defined_pass pass = {.updates_count = d.fields_count, .updates = updates};
    for (int f = 0; f < d.fields_count; f++) {
        if (f < kept)
            snprintf(texts[f], sizeof texts[f], "%s", d.fields[f].name);
        else
            generate_accepted(d, f, of, texts[f], sizeof texts[f]);
        updates[f] = (tz_defined_formula){d.fields[f].name, {texts[f], strlen(texts[f])}};
    }
    d.passes_count = 1;
    d.passes = &pass;
    check_definition(s, &d);
}

SCRATCH_TEST(test_random)
{
    static const char *const names[] = {"u", "v", "k", "c", "d"}, *const bits[] = {"a", "b"};
    static char others[TZ_FIELDS_MAX][8];
    const tz_defined_param params[] = {PARAM("dt", 0.1), PARAM("f", -3.7), INT_PARAM("n", 5)};
    tz_defined_field fields[20];
    tz_definition d = {.id = "reals", .dims = 2, FIELDS(fields), PARAMS(params)};
    for (int of = A_REAL; of <= AN_INT; of++) {
        for (int f = 0; f < COUNT_OF(fields); f++) {
            snprintf(others[f], sizeof others[f], "r%d", f);
            const bool real = f < 3 || (f > 4 && of == A_REAL);
            fields[f] = (tz_defined_field){.name = f < 5 ? names[f] : others[f],
                                           .type = real ? TZ_REAL : TZ_INT};
        }
        check_random(*state, d, 5, (sort)of);
        d.id = "wholes";
    }
    for (int f = 0; f < COUNT_OF(fields); f++)
        fields[f] = (tz_defined_field){.name = f < 2 ? bits[f] : others[f], .type = TZ_BITS};
    d.id = "words";
    d.boundary = TZ_PERIODIC;
    check_random(*state, d, 2, SOME_BITS);
}

/* Forms with sums of rows and planes. */
SCRATCH_TEST(test_forms)
{
    const tz_defined_field fields[] = {REAL_STATE("u"), REAL_STATE("v"), REAL_STATIC("w")};
    const tz_defined_formula planes[] = {
        UPDATE("u", "sum(k,-1,1, sum(j,-1,1, sum(i,-1,1, u[i,j,k]*v[i,j,k])))/27 - w*v"),
        UPDATE("v", "(u[1,0,-2] - 0.3*u[0,0,-2]) * (u[1,0,1] - 0.3*u[0,0,1]) + z")};
    const tz_defined_pass in_3d[] = {{UPDATES(planes)}};
    const tz_definition solid = {.id = "planes", .dims = 3, FIELDS(fields), PASSES(in_3d)};
    check_definition(*state, &solid);
    /* Of two fields, beside functions of the cell's column; one is needed in several planes. */
    const tz_defined_formula both[] = {
        UPDATE("u", "u + 0.1*((u[1,0,-1] + u[-1,0,-1]) + (u[1,0,1] + u[-1,0,1]) - 4*u) - u*v*v"),
        UPDATE("v", "v + 0.1*((v[1,0,-1] + v[-1,0,-1]) + (v[1,0,1] + v[-1,0,1]) - 4*v) + w*u + "
                    "(exp(u[0,0,-1]) - exp(u)) + (exp(u) - exp(u[0,0,1])) + 1/(2 + v*v)")};
    const tz_defined_pass in_both[] = {{UPDATES(both)}};
    const tz_definition two = {.id = "both", .dims = 3, FIELDS(fields), PASSES(in_both)};
    check_definition(*state, &two);

    const tz_defined_formula rows[] = {
        UPDATE("u", "fma(0.2, u[-1,-1] + u[1,-1], 0.1*u[0,-1]) + (u[-1,0] + 0.7*u) + fma(0.2, "
                    "u[-1,1] + u[1,1], 0.1*u[0,1])")};
    const tz_defined_pass in_2d[] = {{UPDATES(rows)}};
    const tz_definition flat = {
        .id = "rows", .dims = 2, .fields_count = 1, .fields = fields, PASSES(in_2d)};
    check_definition(*state, &flat);
}

/* Coefficients against the formula that they stand for. */
SCRATCH_TEST(test_coefficients)
{
    const tz_defined_field fields[] = {REAL_STATE("u"), REAL_STATE("old"), REAL_STATIC("v"),
                                       REAL_STATIC("w")};
    const tz_defined_param params[] = {PARAM("c", 0.3)};
    const double values[] = {1, 2, 1, 0, 4, -3, 1, 0, 0.25};
    const char *const names[] = {NULL, NULL, NULL, "w", NULL, NULL, NULL, "c*2", NULL};
    const tz_defined_coefficients coefficients = {.dims = 2,
                                                  .side = {3, 3, 1},
                                                  .values = values,
                                                  .fields = names,
                                                  .scale = 0.0625,
                                                  .old = "old",
                                                  .a = TEXT("-1"),
                                                  .b = TEXT("2"),
                                                  .v = TEXT("v")};
    const tz_defined_formula updates[] = {
        UPDATE("u", "-old + 2*u + v*0.0625*((u[-1,-1] + 2*u[0,-1] + u[1,-1]) + (w*u[-1,0] + 4*u - "
                    "3*u[1,0]) + (u[-1,1] + c*2*u[0,1] + 0.25*u[1,1]))"),
        UPDATE("old", "u")};
    const tz_defined_pass passes[] = {{UPDATES(updates)}};
    tz_definition d = {.id = "general", .dims = 2, FIELDS(fields), PARAMS(params)};
    tz_defined_source array, formula;
    d.coefficients = &coefficients;
    assert_ok(tz_define_source(&d, &array, &failure));
    d.coefficients = NULL;
    d.passes_count = 1;
    d.passes = passes;
    assert_ok(tz_define_source(&d, &formula, &failure));
    assert_string_equal(array.cell_text, formula.cell_text);
    assert_string_equal(array.plugin_text, formula.plugin_text);
    tz_defined_source_clear(&array);
    tz_defined_source_clear(&formula);
    check_definition(*state, &d);
}

/* Names of parts against the formula that they stand for. */
SCRATCH_TEST(test_parts)
{
    const tz_defined_field fields[] = {REAL_STATE("u"), REAL_STATE("v"), INT_STATE("c")};
    const tz_defined_param params[] = {PARAM("k", 0.3)};
    const tz_defined_formula parts[] = {{"flux", TEXT("k*(rho - rho[-1,0])")},
                                        {"rho", TEXT("u*v + x")},
                                        {"odd", TEXT("(x + step) % 2")}};
    const tz_defined_formula with[] = {UPDATE("u", "u + flux[1,0] - flux + dx(rho)"),
                                       UPDATE("v", "odd*v"), UPDATE("c", "odd")};
    const tz_defined_formula without[] = {
        UPDATE("u", "u + k*((u[1,0]*v[1,0] + (x + 1)) - (u*v + x)) - k*((u*v + x) - "
                    "(u[-1,0]*v[-1,0] + (x + -1))) + dx(u*v + x)"),
        UPDATE("v", "((x + step) % 2)*v"), UPDATE("c", "(x + step) % 2")};
    const tz_defined_pass pass[] = {{UPDATES(with)}}, written_out[] = {{UPDATES(without)}};
    tz_definition d = {.id = "parts",
                       .dims = 2,
                       FIELDS(fields),
                       PARAMS(params),
                       .parts_count = COUNT_OF(parts),
                       .parts = parts,
                       PASSES(pass)};
    tz_defined_source named, plain;
    assert_ok(tz_define_source(&d, &named, &failure));
    d.parts_count = 0;
    d.passes = written_out;
    assert_ok(tz_define_source(&d, &plain, &failure));
    assert_string_equal(named.cell_text, plain.cell_text);
    tz_defined_source_clear(&named);
    tz_defined_source_clear(&plain);
}

/* Names that mean something in C: no compiler sees them as they are. */
SCRATCH_TEST(test_hostile_names)
{
    static hostile h;
    for (int i = HOSTILE_ON_GPUS; i < HOSTILE_STENCILS; i++)
        check_definition(*state, hostile_make(&h, i));
}
