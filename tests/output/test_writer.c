/* Outputs of a simulation without Lua: descriptions, captions, and their files. */
#include "tests/oracle/oracle.h"
#include "tests/support.h"

#include "output/format/npy.h"
#include "output/format/png.h"
#include "output/writer.h"

enum { NX = 24, NY = 16 };

/* Tests run in a fresh directory. */
static int set_up(void **state)
{
    return enter_scratch(state) || open_plugins(state);
}

static int tear_down(void **state)
{
    return close_plugins(state) || leave_scratch(state);
}

/* What a test works with. */
static tz_simulation *simulation;
static tz_output *outputs[2];
static tz_run_files files;

/* All cells are 300 K but (3, 2), which is 310 K. */
static int begin(void **state)
{
    const tz_box hot = {{3, 2, 0}, {4, 3, 1}};
    oracle_config config = oracle("hotspot", TZ_DOUBLE, NULL, NX, NY, 0);
    config.backend = "reference";
    assert_ok(oracle_try(&simulation, &config, &failure));
    assert_ok(tz_simulation_fill(simulation, 0, NULL, 300, &failure));
    assert_ok(tz_simulation_fill(simulation, 0, &hot, 310, &failure));
    assert_ok(tz_simulation_fill(simulation, 1, NULL, 0, &failure));
    return 0;
}

static int end(void **state)
{
    tz_simulation_destroy(simulation);
    tz_run_files_clear(&files);
    for (int i = 0; i < 2; i++) {
        free(outputs[i]);
        outputs[i] = NULL;
    }
    return 0;
}

#define WRITER_TEST(function) TEST_WITH(begin, end, function)

/* The test's output `which`, with columns. */
static tz_output *make_output(int which, const tz_format *format, size_t columns,
                              const char *const *titles)
{
    tz_output *output = calloc(1, sizeof *output + columns * sizeof output->columns[0]);
    assert_non_null(output);
    outputs[which] = output;
    output->format = format;
    output->slice.axis = 2;
    output->look.bits = 8;
    output->columns_count = columns;
    for (size_t i = 0; i < columns; i++)
        assert_ok(tz_column_parse(titles[i], &output->columns[i], &failure));
    return output;
}

static void set_fields(tz_output *output, const char *first, const char *second)
{
    output->fields_count = second ? 2 : 1;
    strcpy(output->fields[0], first);
    strcpy(output->fields[1], second ? second : "");
}

TEST(columns_are_parsed)
{
    tz_column column;
    char title[200];
    assert_ok(tz_column_parse("step", &column, &failure));
    assert_int_equal(column.kind, TZ_COLUMN_STEP);
    assert_ok(tz_column_parse("max(temperature)", &column, &failure));
    assert_int_equal(column.kind, TZ_COLUMN_MAX);
    assert_string_equal(column.field, "temperature");
    assert_string_equal(column.title, "max(temperature)");
    assert_ok(tz_column_parse("hash", &column, &failure));
    assert_int_equal(column.kind, TZ_COLUMN_HASH);
    assert_string_equal(column.field, "");
    check_error(tz_column_parse("maks", &column, &failure), TZ_UNKNOWN, "", "did you mean 'max'");
    assert_int_equal(tz_column_parse("step(power)", &column, &failure), TZ_FORMAT);
    assert_int_equal(tz_column_parse("max(", &column, &failure), TZ_FORMAT);
    assert_int_equal(tz_column_parse("max()", &column, &failure), TZ_FORMAT);
    memset(title, 'a', sizeof title);
    title[sizeof title - 1] = '\0';
    assert_int_equal(tz_column_parse(title, &column, &failure), TZ_RANGE);
}

WRITER_TEST(outputs_are_checked_against_the_simulation)
{
    static const char *const titles[] = {"max(power)", "residual"};
    tz_output *table = make_output(0, &tz_format_table, 2, titles);
    tz_output *picture = make_output(1, &tz_format_png, 0, NULL);
    int field = -1;
    assert_ok(tz_output_check(table, simulation, &field, &failure));
    assert_true(tz_output_has_column(table, TZ_COLUMN_RESIDUAL));
    assert_false(tz_output_has_column(table, TZ_COLUMN_FUNCTION));
    table->columns[1].kind = TZ_COLUMN_FUNCTION;
    assert_false(tz_output_has_column(table, TZ_COLUMN_RESIDUAL));
    assert_true(tz_output_has_column(table, TZ_COLUMN_FUNCTION));
    strcpy(table->columns[0].field, "pover");
    check_error(tz_output_check(table, simulation, &field, &failure), TZ_UNKNOWN, "",
                "did you mean 'power'");
    assert_ok(tz_output_check(picture, simulation, &field, &failure));
    assert_int_equal(field, 0);
    set_fields(picture, "power", NULL);
    assert_ok(tz_output_check(picture, simulation, &field, &failure));
    assert_int_equal(field, 1);
    picture->has_slice = true;
    assert_int_equal(tz_output_check(picture, simulation, &field, &failure), TZ_UNSUPPORTED);
}

static void open_files(const char *folder)
{
    const tz_machine machine = {.cores = 1};
    files = (tz_run_files){.scenario = "heat"};
    assert_ok(tz_record_create(&files.record, "heat.lua", 0, NULL, 0, NULL, &machine, &failure));
    assert_ok(tz_run_files_open(&files, folder, "", 0, 1, &failure));
}

static void open_writer(tz_writer *writer, const tz_output *output, const char *prefix)
{
    assert_ok(tz_writer_open(writer, output, &files, simulation, "sim1", prefix, &failure));
}

static void write_once(const tz_output *output, const char *pattern)
{
    tz_writer writer;
    char text[200];
    open_writer(&writer, output, "");
    tz_writer_pattern(&writer, text, sizeof text);
    assert_string_equal(text, pattern);
    assert_false(tz_writer_is_done(&writer, 0));
    assert_ok(tz_writer_write(&writer, simulation, &failure));
    tz_writer_count(&writer, 0);
    assert_int_equal(tz_writer_is_done(&writer, 0), output->format != &tz_format_table);
    assert_int_equal(writer.count, 1);
    assert_ok(tz_writer_close(&writer, &failure));
}

WRITER_TEST(pictures_hold_their_facts)
{
    tz_output *output = make_output(0, &tz_format_png, 0, NULL);
    output->look.range = TZ_RANGE_AUTO;
    for (int i = 0; i < 2; i++) {
        open_files(i == 0 ? "first" : "second");
        write_once(output, "temperature-NNNNNN.png");
        assert_ok(tz_run_files_finish(&files, &failure));
        tz_run_files_clear(&files);
    }
    tz_png_facts facts = {0};
    assert_ok(tz_png_read_text("first/temperature-000000.png", &facts, &failure));
    static const tz_png_text wanted[] = {{"Scenario", "heat"},   {"Simulation", "sim1"},
                                         {"Stencil", "hotspot"}, {"Grid", "24 x 16"},
                                         {"Step", "0"},          {"Range", "300 310"}};
    size_t found = 0;
    for (size_t i = 0; i < facts.text_count; i++)
        for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
            if (strcmp(facts.texts[i].key, wanted[k].key) == 0) {
                assert_string_equal(facts.texts[i].value, wanted[k].value);
                found++;
            }
    assert_int_equal(found, sizeof wanted / sizeof *wanted);
    tz_png_facts_clear(&facts);
    size_t first, second;
    char *a = scratch_slurp("first/temperature-000000.png", &first);
    char *b = scratch_slurp("second/temperature-000000.png", &second);
    assert_int_equal(first, second);
    assert_memory_equal(a, b, first);
}

WRITER_TEST(tables_take_the_callers_cells)
{
    static const char *const titles[] = {"step", "max(temperature)", "mean(power)", "min"};
    tz_output *output = make_output(0, &tz_format_table, 4, titles);
    open_files("tables");
    tz_writer writer;
    tz_writer_row row;
    size_t bytes;
    strcpy(output->columns[3].title, "own");
    output->columns[3].kind = TZ_COLUMN_FUNCTION;
    open_writer(&writer, output, "s-");
    assert_int_equal(tz_writer_fields(&writer, tz_simulation_stencil(simulation)), 3);
    for (int i = 0; i < 2; i++) {
        assert_ok(tz_writer_fill(&writer, simulation, &row, &failure));
        assert_string_equal(row.cells[3], "");
        tz_writer_number(row.cells[3], i == 0 ? 0.1 : NAN);
        assert_ok(tz_writer_add(&writer, &row, &failure));
    }
    assert_ok(tz_writer_close(&writer, &failure));
    char *text = scratch_slurp("tables/s-table.csv", &bytes);
    assert_string_equal(text, "step,max(temperature),mean(power),own\n0,310,0,0.1\n0,310,0,nan\n");
}

/* ---- Captions -------------------------------------------------------------------------------- */

static tz_simulation *make_dry(const char *stencil)
{
    oracle_config config = oracle(stencil, -1, NULL, 4, 3, 0);
    config.dry = true;
    return oracle_create(config);
}

TEST(placeholders_are_filled)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"plain } text", "plain } text"},
        {"{step}", "7"},
        {"{field}{field} of {simulation}, step {step}", "powerpower of chip, step 7"},
        {"{{step}}, {{{step}}}, }}", "{step}, {7}, }"},
    };
    tz_simulation *dry = make_dry("life");
    char text[TZ_CAPTION_SIZE];
    tz_simulation_skip(dry, 7);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(tz_caption_check(cases[i][0], &failure));
        tz_caption_fill(text, cases[i][0], dry, "power", "chip");
        assert_string_equal(text, cases[i][1]);
    }
}

TEST_GROUP(set_up, tear_down)
