/* Words of other languages in formulas, and derivatives as papers write them: what to write
 * instead. Called by expand.c. */
#include "define/check.h"
#include "define/expansion.h"
#include <stdio.h>
#include <string.h>

/* Words of other languages, and what to write here. */
static const char *const elsewhere[][2] = {
    {"arccos", "acos(a)"},
    {"arcsin", "asin(a)"},
    {"arctan", "atan(a)"},
    {"arctan2", "atan2(y, x)"},
    {"average", "(a + b)/2 of cells; no cell knows the mean of all of them: compute it between two "
                "calls of sim:run, and set a parameter"},
    {"cbrt", "a^(1/3)"},
    {"clamp", "min(max(a, low), high)"},
    {"clip", "min(max(a, low), high)"},
    {"d2x", "dxx(u)"},
    {"d2y", "dyy(u)"},
    {"d2z", "dzz(u)"},
    {"ddx", "dx(u)"},
    {"ddy", "dy(u)"},
    {"ddz", "dz(u)"},
    {"del2", "lap(u)"},
    {"derivative", "dx(u), dxx(u) or dxy(u)"},
    {"diff", "dx(u), dxx(u) or dxy(u)"},
    {"dirichlet", "a number or formula, or { value = ... } for the value at the face"},
    {"div2", "div(k, u)"},
    {"divergence", "div(k, u), or dx(a) + dy(b) of two components"},
    {"e", "exp(1)"},
    {"else", "condition ? value : value"},
    {"exp2", "2^a"},
    {"fabs", "abs(a)"},
    {"false", "0"},
    {"fmod", "a - b*floor(a/b), or % of whole numbers"},
    {"gauss", "normal(stream)"},
    {"grad", "dx(u) and dy(u): a formula has one value"},
    {"gradient", "dx(u) and dy(u): a formula has one value"},
    {"heaviside", "(a > 0)"},
    {"hypot", "sqrt(a^2 + b^2)"},
    {"i", "x for the number of the cell; in brackets offsets count from the cell: u[1, 0]"},
    {"if", "condition ? value : value"},
    {"ifelse", "condition ? value : value"},
    {"iif", "condition ? value : value"},
    {"inside", "the field, which is the cell itself; inside is for formulas past sides and edges"},
    {"j", "y for the number of the cell; in brackets offsets count from the cell: u[0, 1]"},
    {"laplace", "lap(u)"},
    {"laplacian", "lap(u)"},
    {"ln", "log(a)"},
    {"log10", "log(a)/log(10)"},
    {"log2", "log(a)/log(2)"},
    {"mean", "(a + b)/2 of cells; no cell knows the mean of all of them: compute it between two "
             "calls of sim:run, and set a parameter"},
    {"mod", "a - b*floor(a/b), or % of whole numbers"},
    {"nabla2", "lap(u)"},
    {"no_flux", "inside, which is what it is without a word"},
    {"neumann", "inside for no flux, which is what it is without a word, or { flux = ... }"},
    {"noflux", "inside, which is what it is without a word"},
    {"noise", "random(stream) or normal(stream)"},
    {"rand", "random(stream)"},
    {"randn", "normal(stream)"},
    {"rint", "round(a)"},
    {"rnd", "random(stream)"},
    {"roll", "u[1, 0] for the cell beside"},
    {"sgn", "sign(a)"},
    {"shift", "u[1, 0] for the cell beside"},
    {"signum", "sign(a)"},
    {"sqr", "a^2"},
    {"square", "a^2"},
    {"t", "step*dt, or give the time step its role: params = { dt = { value = 0.1, role = "
          "\"time_step\" } }"},
    {"time", "t, with a time step: params = { dt = { value = 0.1, role = \"time_step\" } }"},
    {"true", "1"},
    {"trunc", "int(a) for a whole number, or sign(a)*floor(abs(a))"},
    {"uniform", "random(stream)"},
    {"where", "condition ? value : value"},
};

/* Derivatives of a field along the axes that `along` names, of which a function takes one or two:
 * "xyy" is dx(dyy(u)). */
static void nest(const char *along, const char *field, char *text, size_t size)
{
    const bool one = strlen(along) % 2 == 1;
    char inner[100];
    if (strlen(along) > 2) {
        nest(along + (one ? 1 : 2), field, inner, sizeof inner);
        field = inner;
    }
    if (one)
        snprintf(text, size, "d%c(%s)", along[0], field);
    else if (along[0] > along[1]) /* dxy, not dyx */
        snprintf(text, size, "d%c%c(%s)", along[1], along[0], field);
    else
        snprintf(text, size, "d%c%c(%s)", along[0], along[1], field);
}

/* Note the failure if a word is a derivative of a field: u_xx, u_t, du of du/dx, d2u of d2u/dx2. */
static bool is_derivative(tz_expr *e, const char *name)
{
    enum { AXES_MOST = 6 };
    const tz_definition *d = e->definition;
    for (int f = 0; f < tz_define_fields(d); f++) {
        const char *field = d->fields[f].name;
        const size_t length = strlen(field);
        if (name[0] == 'd' && strcmp(name + 1 + (name[1] == '2'), field) == 0) {
            tz_expr_fail(e, TZ_UNKNOWN, "'%s' is not known here: write dx(%s), dxx(%s) or lap(%s)",
                         name, field, field, field);
            return true;
        }
        if (strncmp(name, field, length) != 0 || name[length] != '_')
            continue;
        const char *along = name + length + 1;
        const size_t count = strlen(along);
        char text[120];
        if (strcmp(along, "t") == 0) {
            tz_expr_fail(e, TZ_UNKNOWN,
                         "'%s' is not known here: an update is the new value; for %s = a write "
                         "%s + dt*(a)",
                         name, name, field);
            return true;
        }
        if (count > 0 && count <= AXES_MOST && strspn(along, "xyz") == count) {
            nest(along, field, text, sizeof text);
            tz_expr_fail(e, TZ_UNKNOWN, "'%s' is not known here: write %s", name, text);
            return true;
        }
    }
    return false;
}

bool tz_expand_elsewhere(tz_expr *e, const char *name)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strcmp(elsewhere[i][0], name) == 0) {
            tz_expr_fail(e, TZ_UNKNOWN, "'%s' is not known here: write %s", name, elsewhere[i][1]);
            return true;
        }
    return is_derivative(e, name);
}
