/* The texts that definitions become, as people read them. */
#include "tests/define/define.h"
#include "tests/unit.h"

#include <ctype.h>

static void same_text(const char *got, const char *wanted)
{
    size_t same = 0;
    while (got[same] && got[same] == wanted[same])
        same++;
    if (got[same] != wanted[same])
        fail_msg("after\n%.*s\ncomes\n%.300s\nand should come\n%.300s",
                 (int)(same < 200 ? same : 200), got + same - (same < 200 ? same : 200), got + same,
                 wanted + same);
}

/* `parts`, a list that ends with NULL, are in the texts, in this order; also in those of the
 * definition as another process gets it. */
static void check_parts(const tz_definition *d, const char *const *parts)
{
    tz_defined_source source, other;
    size_t bytes;
    void *packed = tz_definition_pack(d, &bytes);
    assert_ok(tz_define_source(d, &source, &failure));
    assert_ok(tz_define_source(tz_definition_unpack(packed), &other, &failure));
    same_text(other.cell_text, source.cell_text);
    same_text(other.plugin_text, source.plugin_text);
    static char both[1 << 16];
    assert_in_range(snprintf(both, sizeof both, "%s%s", source.cell_text, source.plugin_text), 1,
                    sizeof both - 1);
    for (const char *at = both; *parts; parts++) {
        const char *found = strstr(at, *parts);
        if (!found)
            fail_msg("after\n%s\nshould come\n%s", at, *parts);
        at = found + strlen(*parts);
    }
    tz_defined_source_clear(&source);
    tz_defined_source_clear(&other);
    free(packed);
}
#define CHECK_PARTS(d, ...) check_parts(d, (const char *const[]){__VA_ARGS__, NULL})

static const tz_defined_field one_real[] = {REAL_STATE("u")};

/* Texts of cell updates, where u[0] is TZ_AT(tz_u_, 0), and $dt is TZ_K(tz_dt_): the value of u, or
 * all lines. */
static const struct {
    int dims;
    char how; /* grouped or fused */
    const char *formula, *wanted;
} cases[] = {
    {1, '-', "u + k + w", "u[0] + k[0] + w[0]"},
    {1, '-', "u + (k + w)", "u[0] + (k[0] + w[0])"},
    {1, '-', "u - (k - w)", "u[0] - (k[0] - w[0])"},
    {1, '-', "(u*k)/w", "TZ_DIV(u[0] * k[0], w[0])"},
    {1, '-', "u/30/w/(1 + dt)", "TZ_DIV_BY(TZ_DIV(TZ_DIV_BY(u[0], 30), w[0]), $k1)"},
    {1, '-', "2*dt*u + 1*k + w*1", "$k1 * u[0] + k[0] + w[0]"},
    {1, '-', "u*2*dt", "u[0] * 2 * $dt"},
    {1, '-', "1/4*u + 0.1", "TZ_R(0.25) * u[0] + TZ_R(0.1)"},
    {1, '-', "0*u", "0 * u[0]"},
    {1, '-', "u + -2*k - -w", "u[0] - 2 * k[0] + w[0]"},
    {1, '-', "7", "TZ_R(7)"},
    {1, '-', "u^3", "u[0] * u[0] * u[0]"},
    {1, '-', "(u + k)^2/w", "const real t1 = u[0] + k[0]; TZ_PUT(tz_u_, TZ_DIV(t1 * t1, w[0]));"},
    {1, '-', "sum(i, -1, 1, i*u[i])", "-u[-1] + u[1]"},
    {1, '-', "c//2 + (c & 7)%3", "(real)(TZ_CALL(floor_over, c[0], 2) + (c[0] & 7) % 3)"},
    /* Differences. */
    {1, '-', "dx(u)", "TZ_R(0.5) * (u[1] - u[-1])"},
    {1, '-', "lap(u)", "u[-1] + u[1] - 2 * u[0]"},
    {2, '-', "lap(u)", "u[-1, 0] + u[1, 0] + (u[0, -1] + u[0, 1]) - 4 * u[0, 0]"},
    {1, '-', "dxx(u, 4)",
     "TZ_R(1.3333333333333333) * (u[-1] + u[1]) - TZ_R(0.08333333333333333) * (u[-2] + u[2]) - "
     "TZ_R(2.5) * u[0]"},
    /* Signs that do not count are as the neighbour has them: the later cell comes first. */
    {1, '-', "(u[-1] - u)^2*k", "const real t1 = u[0] - u[-1]; TZ_PUT(tz_u_, t1 * t1 * k[0]);"},
    {1, '-', "abs((u - u[1])/k)", "TZ_ABS(TZ_DIV((u[1] - u[0]), k[0]))"},
    {1, '-', "abs(u - u[1])*(u - u[1])", "TZ_ABS(u[1] - u[0]) * (u[0] - u[1])"},
    {1, '-', "-(u - u[1])*(u - u[1])", "const real t1 = u[1] - u[0]; TZ_PUT(tz_u_, -t1 * t1);"},
    {1, '-', "(u - u[1])^3", "const real t1 = u[0] - u[1]; TZ_PUT(tz_u_, t1 * t1 * t1);"},
    {1, 'f', "w + (u - u[1])^2",
     "const real t1 = u[1] - u[0]; TZ_PUT(tz_u_, TZ_FMA(t1, t1, w[0]));"},
    /* Equal coefficients. */
    {1, 'g', "0.25*u[-1] + 0.5*u + 0.25*u[1]", "TZ_R(0.25) * (u[-1] + u[1]) + TZ_R(0.5) * u[0]"},
    {2, 'g', "u[1,-1] + u[-1,-1] - u[0,1] + u[-1,1] + u + u[1,1] - u[0,-1]",
     "u[-1, -1] + u[1, -1] + (u[-1, 1] + u[1, 1]) - (u[0, -1] + u[0, 1]) + u[0, 0]"},
    {1, 'g', "k - dt*u[-1] + dt*u[1] - w", "k[0] - w[0] - $dt * (u[-1] - u[1])"},
    {1, '-', "0.25*u[-1] + 0.25*u[1]", "TZ_R(0.25) * u[-1] + TZ_R(0.25) * u[1]"},
    /* Each product that is added is fused, from the left. */
    {1, 'f', "u + k*w", "TZ_FMA(k[0], w[0], u[0])"},
    {1, 'f', "k*w + u", "TZ_FMA(k[0], w[0], u[0])"},
    {1, 'f', "u - k*w*dt", "TZ_FMA(-(k[0] * w[0]), $dt, u[0])"},
    {1, 'f', "k*w - u", "TZ_FMA(k[0], w[0], -u[0])"},
    {1, 'f', "k*w + dt*u", "TZ_FMA($dt, u[0], k[0] * w[0])"},
    {1, 'f', "u + k^2", "TZ_FMA(k[0], k[0], u[0])"},
    {1, 'f', "u + k/w", "u[0] + TZ_DIV(k[0], w[0])"},
    {1, 'f', "u + 2*dt", "u[0] + $k1"},
    {1, 'f', "u + dt*lap(u)", "TZ_FMA($dt, TZ_FMA(TZ_R(-2), u[0], u[-1] + u[1]), u[0])"}};

static void written(const char *wanted, char *out, size_t size)
{
    const bool lines = strchr(wanted, ';');
    size_t at = (size_t)snprintf(out, size, lines ? "" : "TZ_PUT(tz_u_, ");
    for (const char *c = wanted; *c; c++) {
        const int inside = (int)strcspn(c, "]") - 2;
        if (c[1] == '[')
            at += (size_t)snprintf(out + at, size - at, "TZ_AT(tz_%c_, %.*s)", *c, inside, c + 2);
        else if (*c == '$')
            at += (size_t)snprintf(out + at, size - at, "TZ_K(tz_%.2s_)", c + 1);
        else
            out[at++] = *c;
        c += c[1] == '[' ? inside + 2 : *c == '$' ? 2 : 0;
    }
    snprintf(out + at, size - at, lines ? " " : "); ");
}

TEST(test_updates)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tz_defined_field fields[] = {REAL_STATE("u"), REAL_STATIC("k"), REAL_STATIC("w"),
                                           INT_STATE("c")};
        const tz_defined_param params[] = {PARAM("dt", 1), INT_PARAM("n", 2)};
        const char *formula = cases[i].formula;
        const tz_defined_formula updates[] = {{"u", {formula, strlen(formula)}}, {"c", TEXT("c")}};
        const tz_defined_pass passes[] = {{UPDATES(updates)}};
        const tz_definition d = {.id = "one",
                                 .dims = cases[i].dims,
                                 FIELDS(fields),
                                 PARAMS(params),
                                 PASSES(passes),
                                 .group = cases[i].how == 'g',
                                 .fused = cases[i].how == 'f'};
        tz_defined_source source;
        char wanted[800], got[800];
        size_t length = 0;
        assert_ok(tz_define_source(&d, &source, &failure));
        const char *begin = strstr(source.cell_text, "TZ_CELL(tz_update_)\n{\n    ") + 26,
                   *end = strstr(begin, "TZ_PUT(tz_c_, ");
        for (const char *c = begin; c < end; c++) /* in one line */
            if (length == 0 || !isspace((unsigned char)*c) || got[length - 1] != ' ')
                got[length++] = isspace((unsigned char)*c) ? ' ' : *c;
        got[length] = '\0';
        written(cases[i].wanted, wanted, sizeof wanted);
        same_text(got, wanted);
        tz_defined_source_clear(&source);
    }
}

/* A flux formula by hand is the same text, and so the same bits; along faces with k = 1 it is
 * lap(u). */
TEST(test_divergence)
{
    static const char *const pairs[][2] = {
        {"div(k, u)", "(0.5*(k + k[1,0])*(u[1,0] - u) - 0.5*(k[-1,0] + k)*(u - u[-1,0])) + "
                      "(0.5*(k + k[0,1])*(u[0,1] - u) - 0.5*(k[0,-1] + k)*(u - u[0,-1]))"},
        {"div(1, u*k)", "((u[1,0]*k[1,0] - u*k) - (u*k - u[-1,0]*k[-1,0])) + "
                        "((u[0,1]*k[0,1] - u*k) - (u*k - u[0,-1]*k[0,-1]))"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        tz_defined_source sources[2];
        for (int s = 0; s < 2; s++) {
            const tz_defined_field fields[] = {REAL_STATE("u"), REAL_STATIC("k")};
            const tz_defined_formula updates[] = {{"u", {pairs[i][s], strlen(pairs[i][s])}}};
            const tz_defined_pass passes[] = {{UPDATES(updates)}};
            const tz_definition d = {.id = "one", .dims = 2, FIELDS(fields), PASSES(passes)};
            assert_ok(tz_define_source(&d, &sources[s], &failure));
            assert_null(sources[s].warning);
        }
        same_text(sources[0].cell_text, sources[1].cell_text);
        tz_defined_source_clear(&sources[0]);
        tz_defined_source_clear(&sources[1]);
    }
}

static void check_warning(const char *first, const char *second, const char *words)
{
    const tz_defined_field fields[] = {REAL_STATE("u"), REAL_STATE("q"), REAL_STATIC("k")};
    const tz_defined_formula updates[] = {{"q", {first, strlen(first)}},
                                          {"u", {second, strlen(second)}}};
    const tz_defined_pass passes[] = {{.updates_count = 1, .updates = updates},
                                      {.updates_count = 1, .updates = updates + 1}};
    const tz_definition d = {.id = "one", .dims = 2, FIELDS(fields), PASSES(passes)};
    tz_defined_source source;
    assert_ok(tz_define_source(&d, &source, &failure));
    if (words ? !source.warning || !strstr(source.warning, words) : source.warning != NULL)
        fail_msg("%s; %s: the warning is '%s', not '%s'", first, second,
                 source.warning ? source.warning : "none", words ? words : "none");
    tz_defined_source_clear(&source);
}

/* Of centred differences along one axis inside each other, also by a field that an earlier pass
 * wrote. */
TEST(test_warnings)
{
    check_warning("0", "u + dx(k*dx(u))",
                  "one, update of 'u': a centred difference along x of one along x does not see a "
                  "checkerboard, and at order 2 couples every second cell only; use div(k, u)");
    check_warning("0", "u + dx(k*dx(u))", "\n    u + dx(k*dx(u))\n             ^");
    check_warning("0", "u + dy(dy(u, 4), 4)", "along y of one along y");
    check_warning("0", "u + dx(k + sqrt(abs(dxy(u))))", "along x of one along x");
    check_warning("k*dx(u)", "u + dx(q)", "\n    u + dx(q)\n           ^");
    check_warning(
        "0", "u + dx(k*dy(u)) + dy(dx(u)) + dxy(u) + dxx(dx(u)) + dx(lap(u)) + dx(u)*dx(k)", NULL);
    check_warning("dx(u)", "u + dy(q) + q + dx(u)", NULL);
    check_warning("q + dx(u)", "u + dx(q)", NULL);
    check_warning("u[1,0] - u", "u + div(k, u) + lap(q) + div(dx(u), u)", NULL);
}

#define ROW "#define CELL_ROW1(dy) (TZ_AT(tz_u_, -1, dy) + TZ_AT(tz_u_, 1, dy))\n"
#define ROWS "#define CELL_ROWS(D) D(-1, CELL_ROW1) D(0, CELL_ROW2) D(1, CELL_ROW1)\n"

/* Values that several cells need: of a face, one made of another, of a sum in another order. */
TEST(test_shared_values)
{
    static const struct {
        tz_defined_text formula;
        const char *parts[4];
    } forms[] = {
        {TEXT("exp(u[-1,0] - u) - exp(u - u[1,0])"),
         {"#if TZ_SHARES\n"
          "/* Shared: update: 1 function, 2 others a cell, not 2 functions, 3 others */\n"
          "#define CELL_SHARED1(D) D(tz_update_, v1, real, -1, 0, 0, 0, 1, 0)\n",
          "TZ_PUT(tz_u_, TZ_SHARED(v1, -1, 0) - TZ_SHARED(v1, 0, 0));\n",
          "TZ_SHARED_VALUE(tz_update_, v1, real)\n{\n"
          "    return TZ_EXP(TZ_AT(tz_u_, 0, 0) - TZ_AT(tz_u_, 1, 0));\n}\n#else\n"}},
        {TEXT("u*heat/(u + heat) - heat[0,2]*u[0,2]/(heat[0,2] + u[0,2])"),
         {"D(tz_update_, v1, real, 0, 0, 0, 2, 0, 0)",
          "TZ_SHARED(v1, 0, 0) - TZ_SHARED(v1, 0, 2)"}},
        /* The wide value is needed in the column of the cell, and its parts beside it. */
        {TEXT("lap(1/u)*u + lap(1/u[0,1])"),
         {"D(tz_update_, v1, real, -1, 1, -1, 2, 4, 4)",
          "D(tz_update_, v2, real, 0, 0, -1, 0, 0, 0)",
          "TZ_SHARED(v2, 0, -1) * TZ_AT(tz_u_, 0, 0) + TZ_SHARED(v2, 0, 0)"}},
        {TEXT("(u[-1,0] + x)/u - (u + x)/u[1,0] + (u[-1,0] - u) + (u - u[1,0])"), {"\nTZ_CELL("}},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const tz_defined_formula updates[] = {{"u", forms[i].formula}};
        const tz_defined_field fields[] = {REAL_STATE("u"), REAL_STATIC("heat")};
        const tz_defined_pass passes[] = {{UPDATES(updates)}};
        const tz_definition d = {.id = "form", .dims = 2, FIELDS(fields), PASSES(passes)};
        check_parts(&d, forms[i].parts);
    }
}

/* In 3-D of planes, each at one y. */
TEST(test_shared_values_3d)
{
    const tz_defined_formula updates[] = {
        {"u", TEXT("(u/heat - u[0,0,-1]/heat[0,0,-1]) + (exp(u[0,1,0]) - exp(u[-1,1,0])) + "
                   "exp(u[0,-1,0])")}};
    const tz_defined_field fields[] = {REAL_STATE("u"), REAL_STATIC("heat")};
    const tz_defined_pass passes[] = {{UPDATES(updates)}};
    const tz_definition d = {.id = "form", .dims = 3, FIELDS(fields), PASSES(passes)};
    CHECK_PARTS(
        &d,
        "/* Shared: update: 1 quotient, 2 functions, 4 others a cell on CPUs, not 2 quotients, "
        "3 functions, 4 others */\n",
        "D(tz_update_, v1, real, 0, 0, -1, 0, 0, 0)", "D(tz_update_, v2, real, -1, 0, 0, 0, 1, 0)",
        "TZ_PUT(tz_u_, TZ_SHARED(v1, 0, 0) - TZ_SHARED(v1, 0, -1) +\n"
        "        (TZ_SHARED(v2, 0, 0) - TZ_SHARED(v2, -1, 0)) + TZ_EXP(TZ_AT(tz_u_, 0, -1, "
        "0)));\n",
        "TZ_DIV(TZ_AT(tz_u_, 0, 0, 0), TZ_AT(tz_heat_, 0, 0, 0))", "TZ_EXP(TZ_AT(tz_u_, 0, 1, 0))");
}

/* What a plane adds up for several planes; what reads the cell's own column, and is needed once, is
 * no such sum. */
TEST(test_sums_of_planes)
{
    const tz_defined_field fields[] = {REAL_STATE("u"), REAL_STATE("v")};
    const tz_defined_formula updates[] = {
        {"u", TEXT("(u[1,0,-1] + u[-1,0,-1]) + (u[1,0,1] + u[-1,0,1]) - u*v*v + u^3")},
        {"v", TEXT("(exp(v[0,0,1]) - exp(v)) - (exp(v) - exp(v[0,0,-1]))")}};
    const tz_defined_pass passes[] = {{UPDATES(updates)}};
    const tz_definition d = {.id = "form", .dims = 3, FIELDS(fields), PASSES(passes)};
    CHECK_PARTS(
        &d, "#define CELL_SUM1(dz) (TZ_AT(tz_u_, 1, 0, dz) + TZ_AT(tz_u_, -1, 0, dz))\n",
        "#define CELL_SUM2(dz) (TZ_AT(tz_u_, 0, 0, dz))\n",
        "#define CELL_SUM4(dz) (TZ_EXP(TZ_AT(tz_v_, 0, 0, dz)))\n",
        "#define CELL_PLANES(D) D(CELL_SUM1, real) D(CELL_SUM2, real) D(CELL_SUM3, real) \\\n"
        "    D(CELL_SUM4, real)\n",
        "TZ_PLANE(CELL_SUM4, 1)");
}

/* Formulas in place of temporaries: at other cells, of others, written anew; a pass that writes a
 * field too stays. */
TEST(test_temporaries)
{
    const tz_defined_field fields[] = {REAL_STATE("u"), REAL_STATE("v"), REAL_STATE("p"),
                                       REAL_STATE("q")};
    const tz_defined_formula first[] = {{"p", TEXT("u*x")}, {"v", TEXT("v + 1")}},
                             second[] = {{"q", TEXT("p[2] - p")}, {"p", TEXT("3*dt")}},
                             third[] = {{"u", TEXT("q[-1] + 2*p")}};
    const tz_defined_param params[] = {PARAM("dt", 1)};
    const tz_defined_pass passes[] = {{UPDATES(first)}, {UPDATES(second)}, {UPDATES(third)}};
    const tz_definition d = {.id = "form",
                             .dims = 1,
                             .fields_count = 2,
                             .temporaries_count = 2,
                             .fields = fields,
                             PARAMS(params),
                             PASSES(passes)};
    CHECK_PARTS(
        &d, "#define TZ_FIELDS(tz_d) tz_d(tz_u_, real) tz_d(tz_v_, real)\n",
        "/* Temporaries: p, q: 7 others a cell in 2 passes, 5 others in 3 */\n",
        "TZ_CELL(tz_update_)\n{\n    TZ_PUT(tz_v_, ",
        "TZ_CELL(tz_update_3_)\n{\n    const int t1 = (int)TZ_X + (-1);\n"
        "    TZ_PUT(tz_u_, TZ_AT(tz_u_, 1) * (real)(t1 + 2) - TZ_AT(tz_u_, -1) * (real)t1 +\n"
        "        TZ_K(tz_k1_));\n");
}

/* Of an array without zeros, equal coefficients are grouped in each row; else in all of it. */
TEST(test_grouped_coefficients)
{
    double values[] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
    const tz_defined_coefficients c = {.dims = 2, .side = {3, 3, 1}, .values = values, .scale = 1};
    const tz_definition d = {
        .id = "box", .dims = 2, FIELDS(one_real), .coefficients = &c, .group = true};
    CHECK_PARTS(&d, "#define CELL_ROW2(dy) (2 * (TZ_AT(tz_u_, -1, dy) + TZ_AT(tz_u_, 1, dy)) + \\\n"
                    "    4 * TZ_AT(tz_u_, 0, dy))\n");
    tz_definition fused = d;
    fused.group = false;
    fused.fused = true;
    CHECK_PARTS(&fused, "#define CELL_ROW2(dy) (TZ_FMA(TZ_R(2), TZ_AT(tz_u_, 1, dy), ");
    values[0] = 0;
    CHECK_PARTS(&d, "TZ_PUT(tz_u_, 2 * (TZ_AT(tz_u_, 0, -1) + TZ_AT(tz_u_, 0, 1) +\n"
                    "        (TZ_AT(tz_u_, -1, 0) + TZ_AT(tz_u_, 1, 0)))");
}
