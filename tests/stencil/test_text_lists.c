/* Names in a text, held against the stencil's table: as they are or as tz_NAME_, in all passes
 * alike. */
#include "stencil/description.h"
#include "tests/unit.h"

static const tz_field field = {.name = "u"};
static const tz_constant constant = {.name = "k", .type = TZ_REAL};

static tz_status check(const char *first, const char *second, const char *number)
{
    const tz_entry fields[] = {{first, TZ_REAL}, {second, TZ_REAL}},
                   numbers[] = {{number, TZ_REAL}};
    tz_pass passes[2];
    for (int p = 0; p < 2; p++)
        passes[p] = (tz_pass){.name = "update",
                              .dims = 1,
                              .text = "TZ_CELL(update)",
                              .text_cell = "update",
                              .fields_count = 1,
                              .fields = &fields[p],
                              .constants_count = 1,
                              .constants = numbers};
    const tz_stencil stencil = {.id = "one",
                                .dims = 1,
                                .fields_count = 1,
                                .fields = &field,
                                .constants_count = 1,
                                .constants = &constant,
                                .passes_count = 2,
                                .passes = passes};
    tz_status status = tz_text_lists_check(&stencil, &passes[0], "one.so", &failure);
    if (!status)
        status = tz_text_lists_check(&stencil, &passes[1], "one.so", &failure);
    if (!status) {
        assert_string_equal(tz_text_field(&stencil, 0), first);
        assert_string_equal(tz_text_constant(&stencil, 0), number);
    }
    return status;
}

static void refused(const char *first, const char *second, const char *number, const char *words)
{
    assert_int_equal(check(first, second, number), TZ_PLUGIN);
    if (!strstr(failure.message, words))
        fail_msg("'%s' is not in '%s'", words, failure.message);
}

TEST(test_names)
{
    static const char *const others[] = {"v", "", "tz_v_", "tz_u", "u_", "tz_u__", "tz__u_", "tz_"};
    assert_ok(check("u", "u", "k"));
    assert_ok(check("tz_u_", "tz_u_", "tz_k_"));
    assert_ok(check("u", "u", "tz_k_"));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        refused(others[i], "u", "k", "in its text and 'u' in the stencil's table");
    refused("u", "u", "tz_u_", "constant 0 is 'tz_u_' in its text and 'k' in the stencil's table");
    refused("u", "tz_u_", "k",
            "field 'u' is 'tz_u_' in its text and 'u' in that of the first pass");
}
