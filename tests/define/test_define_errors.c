/* Faults of definitions: what the message says, and where its caret is. */
#include "tests/define/define.h"
#include "tests/unit.h"

/* A definition with one formula that is given. */
static tz_status define(const char *formula, size_t length, tz_defined_source *source)
{
    const tz_defined_field fields[] = {REAL_STATE("u"), REAL_STATE("velocity"), INT_STATE("c"),
                                       REAL_STATIC("k"), REAL_DERIVED("speed")};
    const tz_defined_param params[] = {PARAM("dt", 0.1), INT_PARAM("n", 3)};
    const tz_defined_formula scalars[] = {{"push", TEXT("sin(step*dt)")}};
    const tz_defined_formula updates[] = {
        {"u", {formula, length}}, {"velocity", TEXT("velocity")}, {"c", TEXT("c")}};
    const tz_defined_formula outputs[] = {{"speed", TEXT("abs(velocity)")}};
    const tz_defined_pass passes[] = {{UPDATES(updates)}};
    const tz_definition d = {.id = "one",
                             .dims = 2,
                             FIELDS(fields),
                             PARAMS(params),
                             SCALARS(scalars),
                             PASSES(passes),
                             OUTPUTS(outputs)};
    failure = (tz_error){0};
    return tz_define_source(&d, source, &failure);
}

/* The column of the caret in the last line, from the first character of the formula; -1: none. */
static int caret(void)
{
    const char *second = strchr(failure.message, '\n');
    const char *third = second ? strchr(second + 1, '\n') : NULL;
    const char *at = third ? strchr(third, '^') : NULL;
    return !at || at[1] ? -1 : (int)(at - third) - 1 - 4;
}

/* This formula is refused with these words, and the caret is under its byte `at`. */
static void refused(const char *formula, tz_status wanted, int at, const char *words)
{
    tz_defined_source source;
    const tz_status status = define(formula, strlen(formula), &source);
    assert_null(source.cell_text);
    assert_null(source.plugin_text);
    if (status != wanted || !strstr(failure.message, words) || caret() != at ||
        strcmp(failure.place, "one, update of 'u'") != 0)
        fail_msg("'%s': status %d, caret %d, %s: %s\n(wanted %d, %d, '%s')", formula, (int)status,
                 caret(), failure.place, failure.message, (int)wanted, at, words);
}

TEST(test_syntax)
{
    refused("", TZ_FORMAT, -1, "the formula is empty");
    refused("  ", TZ_FORMAT, 2, "the formula is empty");
    refused("2u", TZ_FORMAT, 1, "write a * between them");
    refused("u +", TZ_FORMAT, 3, "the formula ends, and a value is missing");
    refused("u * * k", TZ_FORMAT, 4, "a value is missing here");
    refused("(u + k", TZ_FORMAT, 0, "'(' is never closed");
    refused("u + min(k, 2", TZ_FORMAT, 7, "'(' is never closed");
    refused("u + u[1, 0", TZ_FORMAT, 5, "'[' is never closed");
    refused("u[1][0]", TZ_FORMAT, 4, "in one pair of brackets");
    refused("u[x+1, 0]", TZ_TYPE, 3, "it counts from the cell: u[1, 0]");
    refused("u[i+1, 0]", TZ_UNKNOWN, 2, "write x for the number of the cell");
    refused("rand()", TZ_UNKNOWN, 0, "write random(stream)");
    refused("random()", TZ_FORMAT, 0, "0 arguments here: write random(stream)");
    refused("u if u > 0 else 0", TZ_FORMAT, 2, "write condition ? value : value");
    refused("u + inside", TZ_UNKNOWN, 4, "past sides and edges");
    refused("u \u2212 1", TZ_FORMAT, 2, "write -, the sign of keyboards");
    refused("u)", TZ_FORMAT, 1, "')' closes nothing");
    refused("u k", TZ_FORMAT, 2, "an operator is missing");
    refused("k + sin u", TZ_FORMAT, 8, "of a function write sin(...)");
    refused("u + if u > 0 then 1 else 0", TZ_FORMAT, 4, "write condition ? value : value");
    refused("u + |u|", TZ_FORMAT, 4, "write abs(a)");
    refused("(u k)", TZ_FORMAT, 3, "an operator or ')' is missing");
    refused("u[1 0]", TZ_FORMAT, 4, "a comma or ']' is missing");
    refused("u[]", TZ_FORMAT, 2, "an offset for each axis");
    refused("min()", TZ_FORMAT, 0, "0 arguments here: write min(a, b, ...)");
    refused("u && k", TZ_FORMAT, 2, "write and");
    refused("u || k", TZ_FORMAT, 2, "write or");
    refused("!u", TZ_FORMAT, 0, "write not");
    refused("u**2", TZ_FORMAT, 1, "^ for powers");
    refused("u = k", TZ_FORMAT, 2, "== to compare");
    refused("u ? k", TZ_FORMAT, 2, "has no ':'");
    refused("u < k < 2", TZ_FORMAT, 6, "do not chain");
    refused("1.2.3", TZ_FORMAT, 3, "one point");
    refused("u $ k", TZ_FORMAT, 2, "'$' cannot be");
    refused("u + \xce\xbet", TZ_FORMAT, 4, "the byte 0xce");
    refused("1e999*u", TZ_RANGE, 0, "too large");
    refused("u + not k", TZ_FORMAT, 4, "write (not ...)");
    refused("if u > 0 then 1", TZ_FORMAT, 0, "'if' is not known here: write condition ? value");
    refused("c & 0xg", TZ_FORMAT, 6, "after 0x come digits 0 to 9 and a to f");
    refused("c & 0x1fg", TZ_FORMAT, 8, "after 0x come digits");
    refused("c & 0x123456789", TZ_RANGE, 4, "the largest is 0xffffffff");
    refused("u*3000000000", TZ_RANGE, 2, "write 3000000000.0 for a real number");
    refused("u*(65536*65536)", TZ_RANGE, 8, "this is 4294967296, and whole numbers end at");
    refused("2^31*u", TZ_RANGE, 1, "this is 2147483648, and whole numbers end at");
}

TEST(test_names)
{
    refused("u + velocty", TZ_UNKNOWN, 4, "unknown name 'velocty'; did you mean 'velocity'?");
    refused("u + z", TZ_UNKNOWN, 4, "there is no z: the stencil has 2 dimensions");
    refused("squrt(u)", TZ_UNKNOWN, 0, "unknown function 'squrt'; did you mean 'sqrt'?");
    refused("2*u(k + 1)", TZ_TYPE, 2, "'u' is a field and no function");
    refused("dt(k)", TZ_TYPE, 0, "'dt' is a parameter and no function");
    refused("lap*2", TZ_FORMAT, 0, "write lap(...)");
    refused("dt[1, 0]", TZ_TYPE, 0, "'dt' is no field");
    refused("nothing[1, 0]", TZ_UNKNOWN, 0, "unknown name 'nothing'");
    refused("u + speed", TZ_TYPE, 4, "'speed' is a derived field");
    refused("u + ln(k)", TZ_UNKNOWN, 4, "'ln' is not known here: write log(a)");
    refused("laplacian(u)", TZ_UNKNOWN, 0, "write lap(u)");
    refused("u + u_xx", TZ_UNKNOWN, 4, "write dxx(u)");
    refused("u_yxx", TZ_UNKNOWN, 0, "write dy(dxx(u))");
    refused("u_yx + 1", TZ_UNKNOWN, 0, "write dxy(u)");
    refused("u + u_t", TZ_UNKNOWN, 4, "for u_t = a write u + dt*(a)");
    refused("d2u/dx2", TZ_UNKNOWN, 0, "write dx(u), dxx(u) or lap(u)");
    refused("u_q", TZ_UNKNOWN, 0, "unknown name 'u_q'");
    refused("u - mean(u)", TZ_UNKNOWN, 4, "no cell knows the mean of all of them");
    refused("if(u > 0, 1, 2)", TZ_UNKNOWN, 0, "write condition ? value : value");
    refused("u + t", TZ_UNKNOWN, 4, "write step*dt");
    refused("sum(i, -1, 1, u[i, 0]) + i", TZ_UNKNOWN, 25, "'i' is not known here");
}

/* A temporary that is read too early or too far, or after a pass has changed what it is made of. */
TEST(test_temporaries)
{
    static const struct {
        tz_defined_text last;
        tz_status status;
        int at;
        const char *words;
    } faults[] = {
        {TEXT("u + 2*t"), TZ_TYPE, 6,
         "'t' is temporary, and 'u', which it is made of, has changed"},
        {TEXT("u + s[2]"), TZ_RANGE, 4, "this reads 9 cells away along x; at most 8"},
        {TEXT("k + late"), TZ_TYPE, 4, "'late' is temporary: it has values only in passes after"},
        {TEXT("u + s[1]"), TZ_OK, -1, ""},
    };
    const tz_defined_field fields[] = {REAL_STATE("u"), REAL_STATIC("k"), REAL_STATE("t"),
                                       REAL_STATE("s"), REAL_STATE("late")};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const tz_defined_formula first[] = {{"t", TEXT("u[1]")}, {"s", TEXT("k[7]")}},
                                 second[] = {{"u", TEXT("t")}},
                                 third[] = {{"u", faults[i].last}, {"late", TEXT("u")}};
        const tz_defined_pass passes[] = {{UPDATES(first)}, {UPDATES(second)}, {UPDATES(third)}};
        const tz_definition d = {.id = "one",
                                 .dims = 1,
                                 .fields_count = 2,
                                 .temporaries_count = 3,
                                 .fields = fields,
                                 PASSES(passes)};
        tz_defined_source source;
        failure = (tz_error){0};
        assert_int_equal(tz_define_source(&d, &source, &failure), faults[i].status);
        assert_non_null(strstr(failure.message, faults[i].words));
        assert_int_equal(caret(), faults[i].at);
        tz_defined_source_clear(&source);
    }
}

/* A caret in a part is under the part's formula. */
TEST(test_parts_of_themselves)
{
    static const struct {
        tz_defined_text formula;
        int at;
        const char *words;
    } faults[] = {{TEXT("2*b"), 2, "'a' of 'let' is made of itself"},
                  {TEXT("u + oops"), 4, "unknown name 'oops'"},
                  {TEXT("u + "), 4, "the formula ends"}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const tz_defined_field fields[] = {REAL_STATE("u")};
        const tz_defined_formula parts[] = {{"a", faults[i].formula}, {"b", TEXT("1+a[1]")}};
        const tz_defined_formula updates[] = {{"u", TEXT("u*a")}};
        const tz_defined_pass passes[] = {{UPDATES(updates)}};
        const tz_definition d = {.id = "one",
                                 .dims = 1,
                                 FIELDS(fields),
                                 .parts_count = 2,
                                 .parts = parts,
                                 PASSES(passes)};
        tz_defined_source source;
        failure = (tz_error){0};
        assert_true(tz_define_source(&d, &source, &failure) != TZ_OK);
        assert_non_null(strstr(failure.message, faults[i].words));
        assert_string_equal(failure.place,
                            i == 0 ? "one, part 'b' of 'let'" : "one, part 'a' of 'let'");
        assert_int_equal(caret(), faults[i].at);
    }
}

TEST(test_noise)
{
    refused("u + random(1)", TZ_TYPE, 4, "params = { seed = { value = 1, integer = true } }");
    refused("u + random(u)", TZ_TYPE, 11, "the stream of random numbers is a whole number");
    refused("u + random(-1)", TZ_RANGE, 11, "the stream of random numbers is -1; 0 to 1000000");
    refused("u + rand(1)", TZ_UNKNOWN, 4, "write random(stream)");
}

TEST(test_offsets)
{
    refused("u + u[1]", TZ_FORMAT, 4, "u has 1 offset here, and the stencil has 2 dimensions");
    refused("u[1, 0, 0]", TZ_FORMAT, 0, "u has 3 offsets here");
    refused("u[0, 9]", TZ_RANGE, 5, "an offset is 9; -8 to 8 are possible");
    refused("u[dt, 0]", TZ_TYPE, 2, "known here");
    refused("u[n, 0]", TZ_TYPE, 2, "known here");
    refused("u[0.5, 0]", TZ_TYPE, 2, "known here");
    refused("u[c, 0]", TZ_TYPE, 2, "known here");
    refused("lap(u[8, 0])", TZ_RANGE, 4, "this reads 9 cells away along x; at most 8");
    refused("dx(dx(u, 8), 8) + dx(dx(dx(u, 8), 8))", TZ_RANGE, 27, "this reads 9 cells away");
    refused("sum(i, 7, 9, u[i, 0])", TZ_RANGE, 15, "an offset is 9");
}

TEST(test_types)
{
    refused("u % 2", TZ_TYPE, 2, "this is a real number, and a whole number is needed");
    refused("u & 3", TZ_TYPE, 2, "a whole number is needed");
    refused("c << u", TZ_TYPE, 5, "the number of places");
    refused("c << 32", TZ_RANGE, 5, "the number of places is 32; 0 to 31");
    refused("1/0 + u", TZ_RANGE, 1, "infinite");
    refused("u*log(-1)", TZ_RANGE, 2, "not a number");
    refused("lap(u, 3)", TZ_RANGE, 7, "2, 4, 6 or 8");
    refused("lap(u, 10)", TZ_RANGE, 7, "2 to 8 are possible");
    refused("lap(u, dt)", TZ_TYPE, 7, "the order of a difference");
    refused("lap(u, 2, 3)", TZ_FORMAT, 0, "lap() has 3 arguments here: write lap(u)");
    refused("dz(u)", TZ_TYPE, 0, "the stencil has 2 dimensions");
    refused("dzp(u)", TZ_TYPE, 0, "dzp() needs an axis that is not there");
    refused("dxm(u, 5)", TZ_RANGE, 7, "2, 4, 6 or 8");
    refused("sum(1, 2, 3, u)", TZ_FORMAT, 4, "begins with a name");
    refused("sum(i, 0, u, u)", TZ_TYPE, 10, "the last number of a sum");
    refused("sum(i, 0, 1000000, sum(j, 0, 1000000, u))", TZ_RANGE, 38, "more than");
}

/* The caret stays under its place when a formula is cut, and broken lines are one. */
TEST(test_long_formulas)
{
    char formula[500] = "";
    tz_defined_source source;
    for (int i = 0; i < 60; i++)
        strcat(formula, i == 40 ? "+ oops " : "+\tu*k\n");
    assert_int_equal(define(formula, strlen(formula), &source), TZ_UNKNOWN);
    const char *second = strchr(failure.message, '\n') + 1, *third = strchr(second, '\n') + 1;
    assert_non_null(strstr(second, "    ..."));
    assert_ptr_equal(strstr(second, "oops") - second, strchr(third, '^') - third);
    assert_null(strchr(third, '\n'));

    assert_int_equal(define("u + \0k", 6, &source), TZ_FORMAT);
    assert_non_null(strstr(failure.message, "the byte 0x00"));

    static char large[1 << 20];
    for (size_t i = 0; i < sizeof large; i++)
        large[i] = i % 2 ? '+' : 'u';
    assert_int_equal(define(large, sizeof large - 1, &source), TZ_RANGE);
    assert_non_null(strstr(failure.message, "1048575 bytes, at most 65536"));
    assert_int_equal(define(large, 65535, &source), TZ_OK);
    tz_defined_source_clear(&source);

    const char *const nests[] = {"(", "-", "2^", "sin(", "u?1:", "u[", "not "};
    for (size_t i = 0; i < sizeof nests / sizeof *nests; i++) {
        size_t length = 0;
        while (length + 10 < 65536) {
            memcpy(large + length, nests[i], strlen(nests[i]));
            length += strlen(nests[i]);
        }
        assert_int_equal(define(large, length, &source), TZ_RANGE);
        assert_non_null(strstr(failure.message, "more than 100 levels"));
    }
}

/* ---- Definitions ----------------------------------------------------------------------------- */

static tz_status define_with(const tz_definition *d)
{
    tz_defined_source source;
    const tz_status status = tz_define_source(d, &source, &failure);
    tz_defined_source_clear(&source);
    return status;
}

TEST(test_fields_and_updates)
{
    tz_defined_field fields[] = {REAL_STATE("u"), REAL_STATIC("heat")};
    tz_defined_formula updates[] = {{"u", TEXT("u")}, {"u", TEXT("u")}};
    tz_defined_pass passes[] = {{.updates_count = 1, .updates = updates}};
    tz_definition d = {.id = "one", .dims = 2, FIELDS(fields), PASSES(passes)};
    assert_ok(define_with(&d));
    updates[0].name = "heat";
    check_error(define_with(&d), TZ_TYPE, "one", "'heat' is a static field");
    updates[0].name = "w";
    check_error(define_with(&d), TZ_UNKNOWN, "one", "unknown field 'w'; known: u, heat");
    updates[0].name = "u";
    passes[0].updates_count = 2;
    check_error(define_with(&d), TZ_FORMAT, "one", "'u' is written twice");
    passes[0].updates_count = 0;
    check_error(define_with(&d), TZ_FORMAT, "one", "updates no field");
    passes[0].updates_count = 1;
    fields[1].role = TZ_STATE;
    check_error(define_with(&d), TZ_FORMAT, "one", "state field 'heat' has no update");
    fields[1].role = TZ_DERIVED;
    check_error(define_with(&d), TZ_FORMAT, "one", "derived field 'heat' has no formula");
    fields[1].role = TZ_STATIC;
    fields[1].type = TZ_BITS;
    check_error(define_with(&d), TZ_TYPE, "one", "bits and other types");
    fields[1].type = TZ_REAL;
    fields[1].initial = NAN;
    check_error(define_with(&d), TZ_RANGE, "one", "must be finite");
    fields[1].initial = 0;
    d.dims = 4;
    check_error(define_with(&d), TZ_RANGE, "one", "4 dimensions; 1 to 3");
    d.dims = 2;
    d.passes_count = 9;
    check_error(define_with(&d), TZ_RANGE, "one", "9 passes; 1 to 8");
    d.passes_count = 1;
    d.boundaries = TZ_ALLOW(TZ_PERIODIC);
    check_error(define_with(&d), TZ_RANGE, "one", "default boundary");
}

TEST(test_bad_names)
{
    const struct {
        const char *name, *words;
    } names[] = {{"", "has no name"},
                 {"2u", "a name is a letter"},
                 {"u v", "a name is a letter"},
                 {"_u", "a name is a letter"},
                 {"a\"b", "a name is a letter"},
                 {"x", "another meaning in formulas"},
                 {"step", "another meaning in formulas"},
                 {"pi", "another meaning in formulas"},
                 {"and", "another meaning in formulas"},
                 {"dt", "both named 'dt'"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const tz_defined_field fields[] = {{.name = names[i].name}, REAL_STATE("u")};
        const tz_defined_param params[] = {PARAM("dt", 1)};
        const tz_defined_formula updates[] = {{names[i].name, TEXT("dt")}, {"u", TEXT("u")}};
        const tz_defined_pass passes[] = {{UPDATES(updates)}};
        const tz_definition d = {
            .id = "one", .dims = 1, FIELDS(fields), PARAMS(params), PASSES(passes)};
        check_error(define_with(&d), TZ_FORMAT, "one", names[i].words);
    }
    const tz_definition nameless = {.id = "1d"};
    check_error(define_with(&nameless), TZ_FORMAT, "tz.stencil", "stencil '1d'");
}

TEST(test_bad_coefficients)
{
    const tz_defined_field fields[] = {REAL_STATE("u"), REAL_STATE("old"), INT_STATE("c")};
    double values[] = {1, 2, 1, 1};
    tz_defined_coefficients c = {
        .field = "u", .dims = 1, .side = {3, 1, 1}, .values = values, .scale = 1};
    tz_definition d = {
        .id = "one", .dims = 1, .fields_count = 1, .fields = fields, .coefficients = &c};
    assert_ok(define_with(&d));
    c.side[0] = 4;
    check_error(define_with(&d), TZ_RANGE, "one", "4 numbers along x; an odd number is needed");
    c.side[0] = 19;
    check_error(define_with(&d), TZ_RANGE, "one", "1 to 17");
    c.side[0] = 3;
    values[1] = NAN;
    check_error(define_with(&d), TZ_RANGE, "one",
                "the coefficient at offset 0, 0, 0 is not finite");
    values[1] = 2;
    c.a = (tz_defined_text)TEXT("-1");
    check_error(define_with(&d), TZ_FORMAT, "one", "name their field with old");
    c.old = "old";
    d.fields_count = 2;
    assert_ok(define_with(&d));
    c.old = "oold";
    check_error(define_with(&d), TZ_UNKNOWN, "one", "unknown field 'oold'; did you mean 'old'?");
    c.old = "u";
    check_error(define_with(&d), TZ_FORMAT, "one", "are both 'u'");
    c.old = "old";
    d.dims = 2;
    check_error(define_with(&d), TZ_FORMAT, "one", "the coefficients have 1 dimension");
    d.dims = 1;
    const char *const texts[] = {NULL, "oops", NULL};
    c.fields = texts;
    assert_int_equal(define_with(&d), TZ_UNKNOWN);
    assert_string_equal(failure.place, "one, coefficient at offset 0, 0, 0");
}
