/* Augmented stencils: how many points the convolved coefficients have, and what is refused and
 * why. Their values: tests/scenario/augment.lua. */
#include "tests/define/define.h"
#include "tests/support.h"

#include "define/build.h"
#include "define/sums.h"

/* ---- Points ---------------------------------------------------------------------------------- */

/* Distinct numbers, so that no term vanishes. */
static void shape(tz_defined_coefficients *c, double *values, int dims, int radius, bool star)
{
    *c = (tz_defined_coefficients){.dims = dims, .side = {1, 1, 1}, .values = values, .scale = 1};
    int count = 1;
    for (int axis = 0; axis < dims; axis++)
        count *= c->side[axis] = 2 * radius + 1;
    for (int i = 0; i < count; i++) {
        int offset[TZ_AXES], off = 0;
        tz_weights_offset(c->side, i, offset);
        for (int axis = 0; axis < TZ_AXES; axis++)
            off += offset[axis] != 0;
        values[i] = star && off > 1 ? 0 : 1.0 / (7 + i);
    }
}

static int reads(const tz_expr *e, int node, char *seen)
{
    if (seen[node])
        return 0;
    seen[node] = 1;
    int count = e->nodes[node].kind == TZ_EXPR_READ;
    for (int i = 0; i < e->nodes[node].count; i++)
        count += reads(e, e->operands[e->nodes[node].first + i].node, seen);
    return count;
}

static int points(int dims, int radius, bool star, int steps)
{
    static double values[17 * 17 * 17];
    tz_defined_coefficients c;
    const tz_defined_field field = REAL_STATE("u");
    tz_definition d = {.id = "one",
                       .dims = dims,
                       .fields_count = 1,
                       .fields = &field,
                       .coefficients = &c,
                       .boundaries = TZ_ALLOW(TZ_PERIODIC),
                       .boundary = TZ_PERIODIC};
    tz_build *build = malloc(sizeof *build);
    shape(&c, values, dims, radius, star);
    c.augment = steps;
    assert_non_null(build);
    assert_ok(tz_build_begin(build, &d, &failure));
    char *seen = calloc((size_t)build->e.count, 1);
    assert_non_null(seen);
    const int count = reads(&build->e, build->passes[0].nodes[0], seen);
    free(seen);
    tz_build_end(build);
    free(build);
    return count;
}

TEST(test_points)
{
    static const struct {
        int dims, radius;
        bool star;
        int points[4]; /* of 1 to 4 steps */
    } known[] = {{2, 1, true, {5, 13, 25, 41}},      {2, 1, false, {9, 25, 49, 81}},
                 {3, 1, true, {7, 25, 63, 129}},     {3, 2, true, {13, 73, 245, 593}},
                 {3, 1, false, {27, 125, 343, 729}}, {1, 2, true, {5, 9, 13, 17}}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (int m = 1; m <= 4; m++)
            assert_int_equal(points(known[i].dims, known[i].radius, known[i].star, m),
                             known[i].points[m - 1]);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static tz_status define_with(const tz_definition *d)
{
    tz_defined_source source;
    const tz_status status = tz_define_source(d, &source, &failure);
    tz_defined_source_clear(&source);
    return status;
}

static void refused(const tz_definition *d, tz_status status, const char *words)
{
    assert_int_equal(define_with(d), status);
    if (!strstr(failure.message, words))
        fail_msg("'%s' is not in '%s'", words, failure.message);
}

TEST(test_refusals)
{
    const tz_defined_field fields[] = {REAL_STATE("u"), REAL_STATIC("speed")};
    double values[] = {0.2, 0.5, 0.3}, large[17 * 17 * 17];
    tz_defined_coefficients c = {
        .dims = 1, .side = {3, 1, 1}, .values = values, .scale = 1, .augment = 8};
    tz_definition d = {
        .id = "one", .dims = 1, .fields_count = 2, .fields = fields, .coefficients = &c};
    assert_ok(define_with(&d));
    c.augment = 9;
    refused(&d, TZ_RANGE, "augment is 9; 1 to 8 are possible");
    c.augment = 2;
    c.v = (tz_defined_text)TEXT("speed");
    refused(&d, TZ_TYPE, "v is not the same in all cells");
    c.v = (tz_defined_text){0};
    const char *const texts[] = {NULL, "speed[1]", NULL};
    c.fields = texts;
    refused(&d, TZ_TYPE, "a coefficient is not the same in all cells");
    c.fields = NULL;
    c.b = (tz_defined_text)TEXT("step");
    refused(&d, TZ_TYPE, "b is not the same in all cells");
    c.b = (tz_defined_text){0};
    d.boundaries = TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_MIRROR);
    refused(&d, TZ_TYPE, "mirror sides need coefficients that are the same in both directions");
    values[0] = values[2];
    assert_ok(define_with(&d));
    d.boundaries = 0;
    shape(&c, large, 2, 3, true);
    c.augment = 3;
    d.dims = 2;
    refused(&d, TZ_RANGE, "need the radius 9 along x, and 8 is possible: use an augment up to 2");
    shape(&c, large, 3, 1, false);
    c.augment = 4;
    d.dims = 3;
    refused(&d, TZ_RANGE, "needs more than 5000 terms");
    d.boundaries = TZ_ALLOW(TZ_PERIODIC);
    d.boundary = TZ_PERIODIC;
    assert_ok(define_with(&d));
}
