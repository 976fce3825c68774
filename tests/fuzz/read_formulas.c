/* Formulas of stencils: any bytes become a text for the compiler, or a message with a caret. */
#include "base/file.h"
#include "define/scalar.h"
#include "tests/define/define.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>

static const char formula_words[] =
    "u[-1,0]|u[i,j]|v|c|dt|n|push|x|step|pi|sum(i,-2,2,|lap(|dx(|dxy(|min(|int(|pow(|select(|"
    "?|:|and|or|not |^|-|//|%|<<|==|(|)|[|]|,|*|1e308|0.5|0|1| |\n|~|&|+|2147483647|8)|u|"
    "\xce\x94|div(";

static const char *const formula_texts[] = {
    "2*u - v + k*dt^2*(u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u)",
    "sum(i,-2,2, sum(j,-i,2, (i + 0.5)*u[i,j])) + push*lap(u, 4) - dxy(u*v, 2)",
    "u > 0 and not (c % n == 3) ? exp(-u^2/2) : min(v, 0.1, dt) + int(u)//3",
    "((c & 15) << 2 | ~c) + (x - 3)^2 + y//2 + step%7 + select(u ~= v, c, n)^-2",
    "div(k + c, u*v) - dx(k*dx(u)) + dxy(dy(v, 4))",
    NULL};

/* The formula of a real field and of an int field, with the terms of sums grouped or not. */
static tz_status define(const char *text, size_t length, int way, tz_defined_source *source,
                        tz_error *error)
{
    const tz_defined_field fields[] = {REAL_STATE("u"), REAL_STATE("v"), INT_STATE("c"),
                                       REAL_STATIC("k")};
    const tz_defined_param params[] = {PARAM("dt", 0.1), INT_PARAM("n", 3)};
    const tz_defined_formula scalars[] = {{"push", TEXT("sin(step*dt)")}};
    tz_defined_formula updates[] = {{"u", TEXT("u")}, {"v", TEXT("v")}, {"c", TEXT("c")}};
    const tz_defined_pass passes[] = {{UPDATES(updates)}};
    const tz_definition d = {.id = "fuzz",
                             .dims = 2,
                             FIELDS(fields),
                             PARAMS(params),
                             SCALARS(scalars),
                             PASSES(passes),
                             .group = way & 1};
    updates[way & 2].formula = (tz_defined_text){text, length};
    return tz_define_source(&d, source, error);
}

/* Three lines: what is wrong, the formula, a caret under a character of it or just after. */
static void check_caret(tz_error *error)
{
    char *second = strchr(error->message, '\n'), *third = second ? strchr(second + 1, '\n') : NULL;
    if (!second)
        return; /* the formula is empty */
    const char *at = third ? strchr(third, '^') : NULL;
    if (!at || at[1])
        fuzz_wrong("no caret at the end of: %s", error->message);
    if (at - third > third - second)
        fuzz_wrong("the caret is beyond the formula: %s", error->message);
    *second = *third = ' ';
}

static tz_status formula_read(const char *path, tz_error *error)
{
    char *text;
    size_t length;
    tz_status status = tz_file_read(path, FUZZ_BYTES_MAX, &text, &length, error);
    if (status)
        return status;
    bool accepted = false;
    for (int way = 0; way < 4; way++) {
        tz_defined_source first, again;
        status = define(text, length, way, &first, error);
        accepted = accepted || !status;
        if (status) {
            check_caret(error);
            continue;
        }
        if (define(text, length, way, &again, NULL) ||
            strcmp(first.cell_text, again.cell_text) != 0)
            fuzz_wrong("another text the second time: %s", first.cell_text);
        if (!strstr(first.cell_text, "TZ_PUT(tz_v_, TZ_AT(tz_v_, 0, 0));"))
            fuzz_wrong("an update is missing: %s", first.cell_text);
        tz_defined_source_clear(&first);
        tz_defined_source_clear(&again);
    }
    static const tz_param params[] = {TZ_REAL_PARAM("dt", 0.1, 0, 1, "", ""),
                                      TZ_REAL_PARAM("n", 3, 0, 9, "", "")};
    static const tz_stencil stencil = {.params_count = 2, .params = params};
    static const tz_value values[] = {{.number = 0.1}, {.number = 3}};
    tz_scalar *scalar;
    if (tz_scalar_create(&scalar, &stencil, "scalar", text, length, false, NULL) == TZ_OK) {
        const tz_series series = tz_scalar_series(scalar);
        series.value(series.context, values, 7);
    }
    tz_scalar_destroy(scalar);
    free(text);
    return accepted ? TZ_OK : status;
}

const fuzz_reader fuzz_formula = {.name = "formula",
                                  .file = "input.txt",
                                  .weight = 2,
                                  .least_passed = 20,
                                  .base_bytes = 256 << 20,
                                  .bytes_per_byte = 1000,
                                  .words = formula_words,
                                  .texts = formula_texts,
                                  .read = formula_read};
