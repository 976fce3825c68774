/* Every broken plugin is refused with one line: the file, what is wrong and what to do. */

#include "base/machine.h"
#include "stencil/problem.h"
#include "stencil/registry.h"
#include "stencil/stencil.h"
#include "tests/support.h"
#include <sys/wait.h>

/* A file, and texts that its refusal contains: the fault, and the remedy or the facts. */
static const struct {
    const char *file, *wanted[3];
} faults[] = {
    {"bad_abi_major.so", {"ABI 3.7", "2.7", "rebuild"}},
    {"bad_abi_minor.so", {"ABI 2.8", "2.7", "rebuild"}},
    {"bad_short_plugin.so", {"bytes", "struct_size", "rebuild"}},
    {"bad_short_stencil.so", {"bytes", "struct_size", "rebuild"}},
    {"bad_missing_row.so", {"no double row function", "rows.h"}},
    {"bad_missing_text.so", {"text"}},
    {"bad_failing_init.so", {"init failed", "the licence of the frobnicator has run out"}},
    {"bad_undefined_symbol.so", {"undefined symbol", "frobnicate_nowhere_defined"}},
    {"bad_no_entry.so", {"tz_plugin_entry", "TZ_PLUGIN_ENTRY"}},
    {"bad_no_plugin.so", {"tz_plugin_entry", "nothing"}},
    {"bad_radius_too_large.so", {"radius 9", "8"}},
    {"bad_twice_one_id.so", {"bad_twice_one_id", "twice"}},
    {"bad_writes_static.so", {"writes", "not a state field"}},
    {"bad_no_stencil.so", {"no stencil"}},
    {"bad_no_strides.so", {"fields_stride", "TZ_STENCIL_HEADER", "rebuild"}},
    {"bad_param_role.so", {"'width' is a text", "extent_x_m", "must be a real"}},
    {"bad_two_roles.so", {"two parameters", "role rule"}},
    {"bad_unnamed_param.so", {"parameter 0", "name"}},
    {"bad_too_many_params.so", {"65 params", "0 to 64"}},
    {"bad_not_elf.so", {"not a shared library", "cc -shared"}},
    {"slip_text_cell.so", {"pass 'spread'", "no TZ_CELL(slop)", ".text_cell"}},
    {"slip_text_order.so",
     {"field 0 is 'v' in its text and 'u' in the stencil's table", "TZ_FIELDS"}},
    {"slip_text_name.so",
     {"field 1 is 'w' in its text and 'v' in the stencil's table", "TZ_FIELDS"}},
    {"slip_text_type.so", {"field 'n' is real in its text and int in the stencil's table"}},
    {"slip_text_fewer.so", {"3 fields (u, v, f)", "4 (u, v, f, n)", "TZ_FIELDS"}},
    {"slip_constant_order.so", {"constant 0 is 'rate' in its text and 'share'", "TZ_CONSTANTS"}},
    {"slip_constant_type.so",
     {"constant 'most' is real in its text and int in the stencil's table"}},
    {"slip_constant_more.so", {"4 constants (share, rate, most, least)", "3 (share, rate, most)"}},
    {"slip_dims.so", {"its text has 3 dimensions (TZ_CELL_DIMS)", "the stencil has 2"}},
    {"slip_reads_too_narrow.so",
     {"it reads 'u' at offset (1, 0)", "TZ_READS gives it -1 to 0 on axis x"}},
    {"slip_reads_too_wide.so", {"TZ_READS gives 'u' -2 to 1 on axis x", "TZ_CELL_RADIUS 1"}},
    {"slip_reads_without_cell.so", {"TZ_READS gives 'u' 1 to 1 on axis x", "the cell itself"}},
    {"slip_reads_unknown.so", {"TZ_READS names 'slipp'", "no TZ_CELL(slipp)"}},
    {"slip_reads_twice.so", {"TZ_READS lists 'u' of 'slip' twice"}},
    {"slip_offset.so", {"pass 'spread'", "reads 'u' at offset (-2, 1)", "TZ_CELL_RADIUS is 1"}},
    {"slip_offset_of_static.so", {"reads 'f' at offset (0, 1)", "the field's .radius is 0"}},
    {"slip_sometimes.so", {"pass 'spread'", "does not write it in every cell", "'v'"}},
    {"slip_never.so", {"pass 'spread'", "does not write it in every cell", "'v'"}},
    {"slip_undeclared.so", {"pass 'spread'", "writes 'v', which is not in its .writes"}},
    {"slip_static.so", {"pass 'spread'", "writes 'f', which is a static field"}},
    {"slip_rows.so", {"row function for base", "other bits in single precision"}},
    {"slip_together.so", {"row function of several slabs for base", "other bits in single"}},
    {"slip_in_place.so", {"row function of several slabs for base", "other bits in single"}},
    {"slip_takes.so", {"TZ_TAKES says that 'v' becomes what 'u' was", "another value"}},
    {"slip_takes_static.so", {"TZ_TAKES of pass 0", "both must be state fields of one type"}},
    {"slip_rows_crash.so", {"pass 'spread'", "its row function for base crashes"}},
    {"slip_no_base.so", {"no single row function of the form \"base\""}},
    {"slip_cell_crash.so", {"pass 'spread'", "its cell function crashes"}},
    {"slip_environment.so", {"how the processor rounds", "-ffast-math"}},
};
enum { FAULTS = sizeof faults / sizeof *faults };

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int create(void **state)
{
    const char *folder = TZ_TEST_BAD_PLUGIN_DIR;
    tz_registry *registry = NULL;
    if (tz_registry_create(&registry, &folder, 1, &failure) != TZ_OK)
        return -1;
    *state = registry;
    return 0;
}

static int destroy(void **state)
{
    tz_registry_destroy(*state);
    return 0;
}

static const tz_registry_entry *find_entry(const tz_registry *registry, const char *file)
{
    for (size_t i = 0; i < tz_registry_count(registry); i++)
        if (strcmp(file_of(tz_registry_get(registry, i)->path), file) == 0)
            return tz_registry_get(registry, i);
    return NULL;
}

TEST(each_fault_is_refused_with_its_reason)
{
    for (int i = 0; i < FAULTS; i++) {
        const tz_registry_entry *entry = find_entry(*state, faults[i].file);
        if (!entry)
            fail_msg("%s is not listed", faults[i].file);
        if (entry->plugin)
            fail_msg("%s was accepted", faults[i].file);
        char text[sizeof entry->error.place + sizeof entry->error.message + 4];
        tz_error_format(&entry->error, text, sizeof text);
        assert_int_equal(entry->error.code, TZ_PLUGIN);
        if (!strstr(text, faults[i].file))
            fail_msg("the refusal does not name the file %s: %s", faults[i].file, text);
        if (strchr(text, '\n'))
            fail_msg("the refusal is not one line: %s", text);
        for (int k = 0; k < 3 && faults[i].wanted[k]; k++)
            if (!strstr(text, faults[i].wanted[k]))
                fail_msg("'%s' is missing in: %s", faults[i].wanted[k], text);
        print_message("%s\n", text);
    }
}

/* Functions are tested when a plugin is first asked for. One that fails then is refused with its
 * reason, each time. */
TEST(a_plugin_is_tested_when_it_is_asked_for)
{
    const char *const files[] = {TZ_TEST_BAD_PLUGIN_DIR "/slip_offset.so",
                                 TZ_TEST_BAD_PLUGIN_DIR "/slip_none.so"};
    const tz_stencil *stencil = NULL;
    const tz_plugin *plugin = NULL;
    tz_registry *registry = NULL;
    assert_ok(tz_registry_create(&registry, files, 2, &failure));
    check_error(tz_registry_find(registry, "slip_offset", &stencil, &plugin, &failure), TZ_PLUGIN,
                files[0], "reads 'u' at offset (-2, 1)");
    check_error(tz_registry_find(registry, "slip_offset", &stencil, &plugin, &failure), TZ_PLUGIN,
                files[0], "reads 'u' at offset (-2, 1)");
    assert_null(tz_registry_get(registry, 0)->plugin);
    assert_ok(tz_registry_find(registry, "slip_none", &stencil, &plugin, &failure));
    assert_ptr_equal(tz_registry_of(registry, plugin), tz_registry_get(registry, 1));
    tz_registry_destroy(registry);
}

/* A program's library tries functions in child processes: its handlers stay, and a function that
 * ends the process ends a child. */
TEST(functions_are_tried_apart)
{
    const char *const files[] = {TZ_TEST_BAD_PLUGIN_DIR "/slip_cell_crash.so",
                                 TZ_TEST_BAD_PLUGIN_DIR "/leaves/slip_leaves.so",
                                 TZ_TEST_BAD_PLUGIN_DIR "/slip_none.so"};
    const tz_stencil *stencil = NULL;
    tz_registry *registry = NULL;
    assert_ok(tz_registry_create_apart(&registry, files, 3, &failure));
    check_error(tz_registry_find(registry, "slip_cell_crash", &stencil, NULL, &failure), TZ_PLUGIN,
                files[0], "pass 'spread': its cell function crashes");
    check_error(tz_registry_find(registry, "slip_leaves", &stencil, NULL, &failure), TZ_PLUGIN,
                files[1], "its functions end the process when they are tried");
    assert_ok(tz_registry_find(registry, "slip_none", &stencil, NULL, &failure));
    tz_registry_destroy(registry);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

/* Some machines have no instruction that contracts; the default of AArch64 has. */
TEST(contraction_is_refused_where_the_machine_can_do_it)
{
    const tz_registry_entry *entry = find_entry(*state, "slip_contracted.so");
    assert_non_null(entry);
#ifndef __FP_FAST_FMA
    if (tz_machine_isa() == TZ_ISA_BASE)
        skip_test("no fused multiply-add on this machine");
#endif
    assert_null(entry->plugin);
    assert_non_null(strstr(entry->error.message, "-ffp-contract=off"));
}

/* A row function for an instruction set that the engine does not know is not called: this one would
 * give other bits. */
TEST(unknown_instruction_sets_are_skipped)
{
    const tz_registry_entry *entry = find_entry(*state, "slip_unknown_isa.so");
    assert_non_null(entry);
    assert_non_null(entry->plugin);
}

/* A plugin of an older minor number of the ABI has shorter structs. This one would be refused if
 * the member after them were read. */
TEST(older_plugins_lack_members)
{
    const tz_stencil *stencil = NULL;
    assert_ok(tz_registry_find(*state, "slip_older", &stencil, NULL, &failure));
    assert_non_null(stencil->passes[0].kernels);
    assert_null(stencil->passes[0].together);
    assert_null(stencil->passes[0].in_place);
    assert_true(stencil->check_run == NULL);
    assert_ok(tz_registry_find(*state, "slip_none", &stencil, NULL, &failure));
    assert_non_null(stencil->passes[0].in_place);
    assert_int_equal(stencil->passes[0].slabs, 4);
}

/* The engine asks what an update reads: this one divides by a cell. */
TEST(a_division_by_a_cell_is_no_fault)
{
    const tz_stencil *stencil = NULL;
    assert_ok(tz_registry_find(*state, "slip_none", &stencil, NULL, &failure));
    assert_false(tz_stencil_reads_diagonals(stencil));
}

/* derive() may leave a constant out for some parameters only, so that is an error of the run. */
TEST(a_constant_without_a_value_is_named)
{
    const tz_stencil *stencil = NULL;
    tz_problem problem;
    assert_ok(tz_registry_find(*state, "slip_constant_unset", &stencil, NULL, &failure));
    const tz_simulation_config config = {
        .stencil = "slip_constant_unset", .dims = 2, .extent = {8, 8, 1}, .precision = TZ_SINGLE};
    check_error(tz_problem_resolve(&problem, stencil, &config, &failure), TZ_RANGE,
                "slip_constant_unset", "constant 'rate' has no value: derive() does not set it");
}

TEST(no_other_is_refused)
{
    for (size_t i = 0; i < tz_registry_count(*state); i++) {
        const tz_registry_entry *entry = tz_registry_get(*state, i);
        bool listed = false;
        for (int k = 0; k < FAULTS; k++)
            listed = listed || strcmp(file_of(entry->path), faults[k].file) == 0;
        listed = listed || strcmp(file_of(entry->path), "slip_contracted.so") == 0;
        if (!listed && !entry->plugin)
            fail_msg("%s was refused: %s", entry->path, entry->error.message);
    }
}

/* A search for a refused plugin by name returns the reason of the refusal. */
TEST(a_search_for_a_refused_plugin_gives_the_reason)
{
    const tz_stencil *stencil = NULL;
    assert_int_not_equal(tz_registry_find(*state, "bad_abi_major", &stencil, NULL, &failure),
                         TZ_OK);
    char text[sizeof failure.place + sizeof failure.message + 4];
    tz_error_format(&failure, text, sizeof text);
    assert_non_null(strstr(text, "bad_abi_major.so"));
    assert_non_null(strstr(text, "rebuild"));
}

/* One id from two files: the first folder's plugin stays; the second is refused with that reason.
 * A folder that is given twice is read once. */
SCRATCH_TEST(a_second_plugin_of_the_same_id_is_refused)
{
    size_t bytes;
    char *life = scratch_slurp(TZ_TEST_PLUGIN_DIR "/life.so", &bytes);
    scratch *s = *state;
    scratch_file(s, "copy.so", life, bytes);
    const char *folders[] = {TZ_TEST_PLUGIN_DIR, TZ_TEST_PLUGIN_DIR, s->directory};
    tz_registry *registry = NULL;
    assert_ok(tz_registry_create(&registry, folders, 3, &failure));
    const size_t count = tz_registry_count(registry);
    assert_true(count >= 2);
    for (size_t i = 0; i + 1 < count; i++)
        assert_non_null(tz_registry_get(registry, i)->plugin);
    const tz_registry_entry *last = tz_registry_get(registry, count - 1);
    assert_null(last->plugin);
    assert_non_null(strstr(last->error.message, "already there"));
    tz_registry_destroy(registry);
}

/* A folder that is missing or holds no plugin is not an error; a link to nowhere is refused. */
TEST(odd_folders_do_no_harm)
{
    char folder[] = "/tmp/trapeze-fault-XXXXXX", dangling[64];
    assert_non_null(mkdtemp(folder));
    snprintf(dangling, sizeof dangling, "%s/dangling.so", folder);
    assert_int_equal(symlink("/nonexistent/nowhere.so", dangling), 0);
    const char *folders[] = {"/nonexistent/folder", "", "/etc/passwd", folder};
    tz_registry *registry = NULL;
    assert_ok(tz_registry_create(&registry, folders, 4, &failure));
    assert_int_equal(tz_registry_count(registry), 1);
    assert_null(tz_registry_get(registry, 0)->plugin);
    assert_non_null(strstr(tz_registry_get(registry, 0)->error.place, "dangling.so"));
    const tz_stencil *stencil = NULL;
    assert_int_equal(tz_registry_find(registry, "hotspot", &stencil, NULL, &failure), TZ_UNKNOWN);
    tz_registry_destroy(registry);
    unlink(dangling);
    rmdir(folder);
}

TEST_GROUP(create, destroy)
