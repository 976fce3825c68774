/* PNG as numbers, Life patterns and rules, floorplans. */
#include "tests/support.h"

#include "output/format/chip_files.h"
#include "output/format/floorplan.h"
#include "output/format/format.h"
#include "output/format/png.h"
#include "trapeze/liferule.h"
#include <png.h>

/* Reads a file that is there; its array is destroyed when the test ends. */
static tz_format_reading read_file(const tz_format *format, const char *path)
{
    tz_format_reading out = {.dims = 0};
    assert_ok(format->read(path, &out, &failure));
    at_end(tz_array_destroy, out.array);
    return out;
}

/* Reads a text as a file of that name. */
static tz_format_reading read_as(scratch *s, const tz_format *format, const char *name,
                                 const char *text)
{
    return read_file(format, scratch_text(s, name, text));
}

typedef struct bad_file {
    const char *text, *place, *message;
    tz_status status;
} bad_file;

static void refuse(scratch *s, const tz_format *format, const char *name, size_t count,
                   const bad_file *files)
{
    for (size_t i = 0; i < count; i++) {
        tz_format_reading out = {.dims = 0};
        check_error(format->read(scratch_text(s, name, files[i].text), &out, &failure),
                    files[i].status, files[i].place, files[i].message);
        assert_null(out.array);
    }
}

#define REFUSE(format, name, files)                                                                \
    refuse(*state, format, name, sizeof files / sizeof *files, files)

/* A PNG of any kind, straight from libpng. */
static const char *make_png(scratch *s, const char *name, int width, int height, int depth,
                            int colour, const png_byte *rows, bool interlaced)
{
    static const png_color palette[] = {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {255, 255, 255}};
    static const int samples[] = {1, 0, 3, 1, 2, 0, 4};
    FILE *file = fopen(scratch_path(s, name), "wb");
    assert_non_null(file);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, depth, colour,
                 interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (colour == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, 4);
    png_write_info(png, info);
    png_bytep pointers[64];
    for (int y = 0; y < height; y++)
        pointers[y] = (png_bytep)rows + y * ((width * depth * samples[colour] + 7) / 8);
    png_write_image(png, pointers);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    fclose(file);
    return s->path;
}

SCRATCH_TEST(png_gives_numbers)
{
    enum { GRAY = 0, RGB = 2, PALETTE = 3, GRAY_ALPHA = 4, RGBA = 6 };
    static const struct {
        int width, height, depth, colour;
        png_byte rows[16];
        tz_png_channel channel;
        double values[6];
    } cases[] = {
        {3, 2, 8, GRAY, {0, 1, 254, 255, 7, 8}, TZ_PNG_GREY, {0, 1, 254, 255, 7, 8}},
        {3, 2, 1, GRAY, {0xA0, 0x40}, TZ_PNG_GREY, {255, 0, 255, 0, 255, 0}},
        {2, 2, 16, GRAY, {0, 1, 255, 255, 1, 0, 18, 52}, TZ_PNG_GREY, {1, 65535, 256, 0x1234}},
        {2, 1, 8, GRAY_ALPHA, {10, 0, 20, 128}, TZ_PNG_GREY, {10, 20}},
        {3, 1, 8, RGB, {255, 0, 0, 0, 255, 0, 10, 20, 30}, TZ_PNG_GREY, {76, 150, 18}},
        {4, 1, 2, PALETTE, {0x1B}, TZ_PNG_GREY, {76, 150, 29, 255}},
        {2, 1, 8, RGBA, {1, 2, 3, 0, 255, 255, 255, 9}, TZ_PNG_GREY, {2, 255}},
        {2, 1, 8, RGBA, {1, 2, 3, 0, 255, 255, 255, 9}, TZ_PNG_RED, {1, 255}},
        {2, 1, 8, RGBA, {1, 2, 3, 0, 255, 255, 255, 9}, TZ_PNG_GREEN, {2, 255}},
        {2, 1, 8, RGBA, {1, 2, 3, 0, 255, 255, 255, 9}, TZ_PNG_BLUE, {3, 255}},
        {2, 1, 8, RGBA, {1, 2, 3, 0, 255, 255, 255, 9}, TZ_PNG_ALPHA, {0, 9}},
        {1, 1, 16, RGBA, {1, 0, 0, 2, 0, 3, 255, 254}, TZ_PNG_RED, {256}},
        {1, 1, 16, RGBA, {1, 0, 0, 2, 0, 3, 255, 254}, TZ_PNG_ALPHA, {65534}},
        {2, 1, 8, GRAY_ALPHA, {10, 0, 20, 255}, TZ_PNG_BLUE, {10, 20}},
        {2, 1, 8, GRAY_ALPHA, {10, 0, 20, 255}, TZ_PNG_ALPHA, {0, 255}},
        {2, 1, 8, GRAY, {7, 8}, TZ_PNG_RED, {7, 8}},
    };
    tz_array *array = NULL;
    for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
        const int i = (int)k / 2, nx = cases[i].width, ny = cases[i].height;
        const char *path = make_png(*state, "a.png", nx, ny, cases[i].depth, cases[i].colour,
                                    cases[i].rows, k % 2);
        assert_ok(tz_png_read(path, cases[i].channel, &array, NULL, &failure));
        assert_int_equal(array->dtype, cases[i].depth == 16 ? TZ_DTYPE_U16 : TZ_DTYPE_U8);
        assert_true(array->shape[0] == nx && array->shape[1] == ny);
        for (int p = 0; p < nx * ny; p++)
            if (tz_array_get(array, p) != cases[i].values[p])
                fail_msg("case %d: pixel %d is %g", i, p, tz_array_get(array, p));
        tz_array_destroy(array);
    }
    check_error(tz_png_read(((scratch *)*state)->path, TZ_PNG_ALPHA, &array, NULL, &failure),
                TZ_UNSUPPORTED, "a.png", "has no alpha channel");
}

SCRATCH_TEST(png_counts_what_grey_loses)
{
    const png_byte rgba[] = {1, 2, 3, 0, 255, 255, 255, 9};
    const png_byte wide[] = {1, 0, 0, 2, 0, 3, 255, 255, 0, 5, 0, 5, 0, 5, 255, 254};
    for (int depth = 8; depth <= 16; depth += 8) {
        tz_array *array = NULL;
        tz_png_lost lost;
        assert_ok(tz_png_read(make_png(*state, "a.png", 2, 1, depth, PNG_COLOR_TYPE_RGBA,
                                       depth == 8 ? rgba : wide, false),
                              TZ_PNG_GREY, &array, &lost, &failure));
        assert_int_equal(lost.coloured, 1);
        assert_int_equal(lost.clear, depth == 8 ? 2 : 1);
        tz_array_destroy(array);
    }
}

/* A picture of 45 bytes that states a width, a height and a depth, with the right checksum. */
static void lying_header(scratch *s, const unsigned char *extents, const char *message)
{
    static const unsigned char header[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n',
                                           0,    0,   0,   13,  'I',  'H',  'D',  'R'};
    unsigned char lie[45] = {0};
    tz_array *array = NULL;
    memcpy(lie, header, sizeof header);
    memcpy(lie + sizeof header, extents, 9);
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 12; i < 29; i++) {
        crc ^= lie[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    crc = ~crc;
    for (size_t i = 0; i < 4; i++)
        lie[29 + i] = (unsigned char)(crc >> (24 - 8 * i));
    memcpy(lie + 33, "\0\0\0\0IDAT\x35\xAF\x06\x1E", 12);
    check_error(tz_png_read(scratch_file(s, "lie.png", lie, sizeof lie), TZ_PNG_GREY, &array, NULL,
                            &failure),
                TZ_RANGE, "lie.png", message);
}

SCRATCH_TEST(png_refuses_bad_files)
{
    static png_byte rows[32 * 32];
    tz_array *array;
    tz_png_facts facts;
    size_t bytes;
    for (size_t i = 0; i < sizeof rows; i++)
        rows[i] = (png_byte)(i * 2654435761u >> 13);
    check_error(tz_png_read(scratch_text(*state, "t.png", "not a picture"), TZ_PNG_GREY, &array,
                            NULL, &failure),
                TZ_FORMAT, "t.png", "not a PNG");
    check_error(tz_png_read_text(((scratch *)*state)->path, &facts, &failure), TZ_FORMAT, "t.png",
                "not a PNG");
    check_error(tz_png_read(scratch_path(*state, "none.png"), TZ_PNG_GREY, &array, NULL, &failure),
                TZ_IO, "none.png", "No such file");
    char *file = scratch_slurp(make_png(*state, "full.png", 32, 32, 8, 0, rows, false), &bytes);
    const char *cut = scratch_file(*state, "cut.png", file, bytes / 2);
    check_error(tz_png_read(cut, TZ_PNG_GREY, &array, NULL, &failure), TZ_FORMAT, "cut.png",
                "truncated: the PNG ends at byte");
    check_error(tz_png_read_text(cut, &facts, &failure), TZ_FORMAT, "cut.png", "truncated");
    lying_header(*state, (const unsigned char[]){0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30, 8},
                 "impossible dimensions: 30000 x 30000");
    lying_header(*state, (const unsigned char[]){0, 0, 0, 1, 0, 0x7A, 0x12, 0, 1},
                 "impossible dimensions: 1 x 8000000");
}

SCRATCH_TEST(png_texts_come_back)
{
    tz_image *image;
    tz_png_facts facts;
    const tz_image_note texts[] = {{"Step", "120"},
                                   {"Unit", "\xC2\xB0"
                                            "C"},
                                   {"Empty", ""}};
    assert_ok(tz_image_create(&image, TZ_PIXEL_GRAY16, 5, 4, &failure));
    image->scale = 0.125;
    image->offset = -3.0;
    const char *path = scratch_path(*state, "x.png");
    assert_ok(tz_png_write(path, image, texts, 3, &failure));
    assert_ok(tz_png_read_text(path, &facts, &failure));
    assert_int_equal(facts.width, 5);
    assert_int_equal(facts.height, 4);
    assert_int_equal(facts.bit_depth, 16);
    assert_string_equal(facts.colour_name, "gray");
    assert_int_equal(facts.text_count, 5);
    const tz_image_note wanted[] = {
        texts[0], texts[1], texts[2], {"Scale", "0.125"}, {"Offset", "-3"}};
    for (size_t i = 0; i < facts.text_count; i++) {
        assert_string_equal(facts.texts[i].key, wanted[i].key);
        assert_string_equal(facts.texts[i].value, wanted[i].value);
    }
    tz_png_facts_clear(&facts);
    tz_image_destroy(image);
}

SCRATCH_TEST(rules_are_parsed)
{
    static const struct good {
        const char *text;
        int neighbours;
        const char *normal;
    } good[] = {
        {"B3/S23", 8, "B3/S23"},
        {"b3s23", 8, "B3/S23"},
        {" s23/b3\n", 8, "B3/S23"},
        {"23/3", 8, "B3/S23"},
        {"/2", 8, "B2/S"},
        {"B36/S23", 8, "B36/S23"},
        {"B/S012345678", 8, "B/S012345678"},
        {"B2/S", 8, "B2/S"},
        {"4555", 26, "B5/S45"},
        {"4,5,5,5", 26, "B5/S45"},
        {"B5/S4,5", 26, "B5/S45"},
        {"B13,/S4,10", 26, "B13,/S4,10,"},
        {"10,12,13,13", 26, "B13,/S10,11,12,"},
        {"45/5", 26, "B5/S45"},
        {"B3", 8, "B3/S"},
        {"s23", 8, "B/S23"},
        {"B3/23", 8, "B3/S23"},
        {"23/B3", 8, "B3/S23"},
        {"B2ceaikn3/S23", 8, "B23/S23"},
    };
    static const char *const bad[] = {"",       "  ",   "B9/S23", "3",      "B3/B2",
                                      "B3/S2x", "4555", "lives",  "B3//S2", "B3/S2,30"};
    uint32_t birth = 0, survive = 0;
    char message[200], text[160];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (tz_life_rule_parse(good[i].text, good[i].neighbours, &birth, &survive, message, 200))
            fail_msg("%s: %s", good[i].text, message);
        assert_string_equal(tz_life_rule_format(birth, survive, text, 160), good[i].normal);
        uint32_t b2 = 0, s2 = 0;
        assert_int_equal(tz_life_rule_parse(text, good[i].neighbours, &b2, &s2, message, 200), 0);
        assert_true(b2 == birth && s2 == survive);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        birth = survive = 77;
        if (tz_life_rule_parse(bad[i], 8, &birth, &survive, message, 200) == 0)
            fail_msg("'%s' was taken", bad[i]);
        assert_non_null(strstr(message, "unknown rule"));
        assert_int_equal(birth, 77);
    }
    static const char *const beyond[] = {"23/3/4", "B3/S23/C4", "B2-a/S12", "B2/S34H"};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        assert_int_equal(tz_life_rule_parse(beyond[i], 8, &birth, &survive, message, 200), -1);
        assert_non_null(strstr(message, "the plugin \"generations\" computes it"));
    }
    assert_int_equal(tz_life_rule_parse("B3/S23", 8, &birth, &survive, NULL, 0), 0);
    assert_int_equal(birth, 8);
    assert_int_equal(survive, 12);
}

static int squares_of(const tz_life_rule *rule)
{
    int count = 0;
    for (int n = 0; n < 512; n++)
        count += (int)(rule->map[n >> 5] >> (n & 31) & 1);
    return count;
}

/* Rules of places and of several states. Pairs are the same in other words; `squares` live next.
 * Maps in base 64 were made by a program that knows nothing of lists. */
SCRATCH_TEST(rules_of_places_are_parsed)
{
    static const struct {
        const char *text, *same;
        int states, squares;
        bool counts;
    } good[] = {
        {"/2/3", "B2/S/3", 3, 28, true},
        {"345/2/4", "S345/B2/C4", 4, 28 + 56 + 70 + 56, true},
        {"345/2/4", "Star Wars", 4, 28 + 56 + 70 + 56, true},
        {"Brian's Brain", "b2/s/g3", 3, 28, true},
        {"B2-a/S12", "B2ceikn_S12", 2, 20 + 8 + 28, false},
        {"B3/S23",
         "MAPARYXfhZofugWaH7oaIDogBZofuhogOiAaIDogIAAgAAWaH7oaIDogGiA6ICAAIAAaIDogIAAgACA"
         "AIAAAAAAAA",
         2, 140, true},
        {"B2/S34H", "MAPFgFoF2gXgH5oF4B+gH4A6A==", 2, 4 * (15 + 20 + 15), false},
        {"b13/s0v", "MAPaJCQYA", 2, 16 * (4 + 4 + 1), false},
    };
    static const char *const bad[][2] = {
        {"23/3/1", "the number of states is 2 to 256"},
        {"23/3/257", "the number of states is 2 to 256"},
        {"23/3/4/5", "more than two lists"},
        {"B2x/S", "a letter in it is not known"},
        {"B2q/S", "a number of neighbours has not this letter"},
        {"B0c/S", "a number of neighbours has not this letter"},
        {"B2-/S", "'-' stands before the letters"},
        {"B2a/S3H", "letters behind numbers are for grids with 8 neighbours"},
        {"B5/S3V", "more neighbours than a cell has"},
        {"MAPAAA", "a MAP has 86 digits"},
        {"MAP??????", "not of base 64"},
        {"R5,C2,S33-57,B34-45", "it is a Larger-than-Life rule"},
        {"JvN29", "tables of Golly (.rule files) are not read"},
        {"BBM-Margolus-emulated", "tables of Golly (.rule files) are not read"},
        {"Sand-Margolus-emulated", "tables of Golly (.rule files) are not read"},
        {"W110", "one of Wolfram's rules in one dimension"},
    };
    char message[200];
    tz_life_rule rule, same;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (tz_life_rule_read(good[i].text, &rule, message, 200) ||
            tz_life_rule_read(good[i].same, &same, message, 200))
            fail_msg("%s", message);
        if (memcmp(rule.map, same.map, sizeof rule.map) != 0 || rule.states != same.states)
            fail_msg("%s is not %s", good[i].text, good[i].same);
        assert_int_equal(rule.states, good[i].states);
        assert_int_equal(squares_of(&rule), good[i].squares);
        assert_int_equal(rule.counts, good[i].counts);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (tz_life_rule_read(bad[i][0], &rule, message, 200) == 0)
            fail_msg("'%s' was taken", bad[i][0]);
        if (!strstr(message, bad[i][1]))
            fail_msg("'%s': %s", bad[i][0], message);
    }
    /* The letters of a number share out its squares: every rule of one letter has others. */
    static const char *const letters[] = {"", "ce", "aceikn", "aceijknqry", "aceijknqrtwyz"};
    for (int n = 1; n <= 7; n++) {
        const char *list = letters[n > 4 ? 8 - n : n];
        int all = 0;
        for (size_t k = 0; list[k]; k++) {
            char text[32];
            snprintf(text, sizeof text, "B%d%c/S", n, list[k]);
            assert_int_equal(tz_life_rule_read(text, &rule, message, 200), 0);
            all += squares_of(&rule);
            snprintf(text, sizeof text, "B%d-%c/S", n, list[k]);
            assert_int_equal(tz_life_rule_read(text, &same, message, 200), 0);
            for (int w = 0; w < 16; w++)
                assert_int_equal(rule.map[w] & same.map[w], 0);
        }
        static const int choose[] = {1, 8, 28, 56, 70, 56, 28, 8, 1};
        assert_int_equal(all, choose[n]);
    }
}

/* Names, as rules in letters: of two dimensions only. */
SCRATCH_TEST(rules_have_names)
{
    static const char *const names[][2] = {{"Conway", "B3/S23"},
                                           {"life", "B3/S23"},
                                           {"High Life", "B36/S23"},
                                           {"Day & Night", "B3678/S34678"},
                                           {"seeds", "B2/S"},
                                           {"life without death", "B3/S012345678"},
                                           {"replicator", "B1357/S1357"},
                                           {"2x2", "B36/S125"},
                                           {"anneal", "B4678/S35678"},
                                           {"diamoeba", "B35678/S5678"},
                                           {"morley", "B368/S245"},
                                           {"maze", "B3/S12345"},
                                           {"mazectric", "B3/S1234"},
                                           {"coral", "B3/S45678"},
                                           {"34 life", "B34/S34"},
                                           {"pseudo life", "B357/S238"}};
    uint32_t birth = 0, survive = 0;
    char message[200], text[160];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(tz_life_rule_parse(names[i][0], 8, &birth, &survive, message, 200), 0);
        assert_string_equal(tz_life_rule_format(birth, survive, text, 160), names[i][1]);
        assert_int_equal(tz_life_rule_parse(names[i][0], 26, &birth, &survive, message, 200), -1);
    }
}

static tz_status write_rle(const char *path, const tz_array *cells, const char *rule,
                           const char *comment)
{
    const tz_grid_field field = {.name = "data", .dtype = cells->dtype};
    tz_grid grid = tz_grid_of(cells->dims, cells->shape);
    tz_grid_file *file;
    grid.fields = &field;
    grid.fields_count = 1;
    grid.rule = rule;
    grid.comment = comment;
    tz_status status = tz_format_rle.begin(&file, path, &grid, &failure);
    if (status)
        return status;
    for (int64_t i = 0; i < cells->shape[0] * cells->shape[1] && !status; i += 7) {
        const int64_t left = cells->shape[0] * cells->shape[1] - i;
        status = tz_grid_file_write(file, 0, (const uint8_t *)cells->data + i, left < 7 ? left : 7,
                                    &failure);
    }
    if (!status)
        return tz_grid_file_commit(file, &failure);
    tz_grid_file_abort(file);
    return status;
}

SCRATCH_TEST(rle_round_trips)
{
    static const uint8_t glider[] = {0, 1, 0, 0, 0, 1, 1, 1, 1};
    tz_format_reading p = read_as(*state, &tz_format_rle, "glider.rle",
                                  "#N Glider \r\n#C a comment\r\nx = 3, y = 3, rule = b3s23\r\n"
                                  "bo$2bo$3o!\r\nleftover z");
    assert_string_equal(p.rule, "B3/S23");
    assert_true(p.has_rule);
    assert_memory_equal(p.array->data, glider, 9);
    p = read_as(*state, &tz_format_rle, "d.rle", "x=4,y=5\n2$ o . 2\no 3$!");
    assert_true(((uint8_t *)p.array->data)[8] == 1 && ((uint8_t *)p.array->data)[11] == 1);
    assert_string_equal(p.rule, "B3/S23");
    assert_false(p.has_rule);
    /* A large soup with empty rows reads back unchanged. */
    const int64_t shape[] = {157, 61};
    tz_array *soup;
    size_t bytes;
    uint32_t seed = 7;
    assert_ok(tz_array_create(&soup, TZ_DTYPE_U8, 2, shape, &failure));
    for (int64_t i = 0; i < 157 * 50; i++) {
        seed = seed * 1664525u + 1013904223u;
        tz_array_set(soup, i, i / 157 % 7 < 5 && seed >> 30 == 0);
    }
    const char *path = scratch_path(*state, "soup.rle");
    assert_ok(write_rle(path, soup, "23/36", "two\nlines"));
    p = read_file(&tz_format_rle, path);
    assert_string_equal(p.rule, "B36/S23");
    assert_memory_equal(p.array->data, soup->data, 157 * 61);
    char *text = scratch_slurp(path, &bytes);
    assert_non_null(strstr(text, "#C two\n#C lines\nx = 157, y = 61, rule = B36/S23\n"));
    for (char *line = text; line; line = strchr(line, '\n'))
        assert_true(strcspn(++line, "\n") <= 70);
    check_error(write_rle(path, soup, NULL, NULL), TZ_IO, "soup", "exists");
    check_error(write_rle(path, soup, "B9/S", NULL), TZ_UNKNOWN, "soup", "B9/S");
    tz_array_set(soup, 160, 2);
    check_error(write_rle(scratch_path(*state, "2.rle"), soup, NULL, NULL), TZ_RANGE, "2.rle",
                "cell (3, 1) is 2");
    tz_array_destroy(soup);
}

/* Golly's suffixes for grids with edges. */
SCRATCH_TEST(rle_rules_have_universes)
{
    static const char *const good[][2] = {
        {"B3/S23:T64,32", "B3/S23:T64,32"}, {"b36s23:p5,7 \r", "B36/S23:P5,7"},
        {"23/3:T64", "B3/S23:T64,64"},      {"B3/S23:T0,20", "B3/S23:T0,20"},
        {"B3/S23:P30,0", "B3/S23:P30,0"},   {"B3/S23:T0", "B3/S23"},
        {"/2/3:T5", "/2/3:T5,5"},           {"B2-A/s12:T30+0,7", "B2-a/S12:T30,7"},
        {"B3_S23-a4ei6", "B3/S23-a4ei6"},   {"LifeHistory:T9", "B3/S23:T9,9"},
        {"Life:T9,8", "B3/S23:T9,8"}};
    static const char *const bad[] = {
        "B3/S23:K30*,20*", "B3/S23:",    "B3/S23:T30+,2", "B3/S23:T3,",
        "B3/S23:T3,4,5",   "B3/S23:T",   "B3/S23:T,4",    "B3/S23:T9999999999999999999",
        "B3/S23:C30,20",   "B3/S23:S30", "B3/S23:X9",     "B3/S23:T30+5,0",
        "B3/S23:T5+1,5+1", "B3/S23:K0",  "B3/S23:P9+1",   "B3/S23:K5*,5+1"};
    tz_rle_rule rule;
    char text[TZ_RLE_RULE_SIZE];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_ok(tz_rle_rule_parse(good[i][0], NULL, &rule, &failure));
        assert_string_equal(tz_rle_rule_format(&rule, text), good[i][1]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_error(tz_rle_rule_parse(bad[i], "f.rle", &rule, &failure), TZ_UNSUPPORTED, "f.rle",
                    "the universe");
    const tz_format_reading p =
        read_as(*state, &tz_format_rle, "t.rle", "x = 2, y = 1, rule = B3/S23:T64,32\nbo!");
    assert_string_equal(p.rule, "B3/S23:T64,32");
    const char *path = scratch_path(*state, "u.rle");
    assert_ok(write_rle(path, p.array, p.rule, NULL));
    size_t bytes;
    char *written = scratch_slurp(path, &bytes);
    assert_string_equal(written, "x = 2, y = 1, rule = B3/S23:T64,32\nbo!\n");
}

/* Universes whose sides meet otherwise are tori of several copies, as Golly joins them. */
SCRATCH_TEST(rle_universes_are_covered)
{
    static const struct {
        const char *rule, *covers, *cells;
    } cases[] = {
        {"T4+1,3", "T4,12", "ABCD EFGH IJKL BCDA FGHE JKLI CDAB GHEF KLIJ DABC HEFG LIJK"},
        {"T4-2,3", "T4,6", "ABCD EFGH IJKL CDAB GHEF KLIJ"},
        {"T4,3+1", "T12,3", "ABCDEFGHIJKL EFGHIJKLABCD IJKLABCDEFGH"},
        {"K4*,3", "T4,6", "ABCD EFGH IJKL DCBA HGFE LKJI"},
        {"K4*+1,3", "T4,6", "ABCD EFGH IJKL CBAD GFEH KJIL"},
        {"K4,3", "T8,3", "ABCDIJKL EFGHEFGH IJKLABCD"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[100];
        snprintf(text, sizeof text, "x = 4, y = 3, rule = /2/13:%s\nABCD$EFGH$IJKL!",
                 cases[k].rule);
        const tz_format_reading p = read_as(*state, &tz_format_rle, "c.rle", text);
        assert_string_equal(strchr(p.rule, ':') + 1, cases[k].covers);
        int64_t i = 0;
        for (const char *c = cases[k].cells; *c; c++)
            if (*c != ' ')
                assert_int_equal(((const uint8_t *)p.array->data)[i++], *c - 'A' + 1);
        assert_int_equal(i, 12 * p.copies);
    }
    /* Where a small one is, its header says, or it is in the middle. */
    tz_format_reading p = read_as(*state, &tz_format_rle, "p.rle",
                                  "#CXRLE Pos=-3,1\nx = 1, y = 1, rule = B3/S23:K6*,5\no!");
    const uint8_t *cells = p.array->data;
    assert_true(cells[6 * 3] && cells[6 * 8 + 5] && p.copies == 2);
    p = read_as(*state, &tz_format_rle, "m.rle", "x = 1, y = 1, rule = B3/S23:K6*,5\no!");
    cells = p.array->data;
    assert_true(cells[6 * 2 + 3] && cells[6 * 7 + 2]);
    static const bad_file bad[] = {
        {"x = 5, y = 1, rule = B3/S23:T4+1,3\no!", "c.rle:1", "not within", TZ_RANGE},
        {"x = 1, y = 1, rule = B2/S3H:K4*,3\no!", "c.rle:1", "reflected", TZ_UNSUPPORTED},
        {"x = 1, y = 1, rule = B3/S23:T99999+1,99999\no!", "c.rle:1", "2^30", TZ_RANGE}};
    REFUSE(&tz_format_rle, "c.rle", bad);
}

/* All states, in the letters of Golly; "BO" of a rule of two states is a dead and a living cell. */
SCRATCH_TEST(rle_has_many_states)
{
    const int64_t shape[] = {16, 16};
    tz_array *all;
    size_t bytes;
    assert_ok(tz_array_create(&all, TZ_DTYPE_U8, 2, shape, &failure));
    for (int i = 0; i < 256; i++)
        tz_array_set(all, i, i);
    const char *path = scratch_path(*state, "all.rle");
    assert_ok(write_rle(path, all, "/2/256", NULL));
    char *text = scratch_slurp(path, &bytes);
    assert_non_null(strstr(text, "x = 16, y = 16, rule = /2/256\n.ABCDEFGHIJKLMNO$PQRSTUVWXpApB"));
    assert_non_null(strstr(text, "yO!"));
    tz_format_reading p = read_file(&tz_format_rle, path);
    assert_memory_equal(p.array->data, all->data, 256);
    assert_string_equal(p.rule, "/2/256");
    tz_array_set(all, 0, 3);
    check_error(write_rle(scratch_path(*state, "3.rle"), all, "/2/3", NULL), TZ_RANGE, "3.rle",
                "cell (0, 0) is 3; a cell of a .rle pattern of this rule is 0 to 2");
    tz_array_destroy(all);

    static const struct {
        const char *text;
        uint8_t cells[6];
    } cases[] = {
        {"x = 6, y = 1, rule = B3/S23\nBObo2x!", {0, 1, 0, 1, 1, 1}},
        {"x = 6, y = 1, rule = 345/2/4\n.2ABC!", {0, 1, 1, 2, 3, 0}},
        {"x = 6, y = 1, rule = B3/S23History\n.ABCDE!", {0, 1, 0, 1, 0, 1}},
        {"x = 6, y = 1, rule = LifeSuper\n2.KpApB!", {0, 0, 1, 1, 0, 0}},
        {"#r /2/3\rx = 6, y = 1\r2BA\r2B!\r", {2, 2, 1, 2, 2, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        p = read_as(*state, &tz_format_rle, "s.rle", cases[i].text);
        if (memcmp(p.array->data, cases[i].cells, 6) != 0)
            fail_msg("case %zu", i);
        assert_false(p.is_cut);
    }
    p = read_as(*state, &tz_format_rle, "g.rle",
                "#CXRLE Pos=-3,4 Gen=1234567\n\n  \nx = 2, y = 1,\trule = 23/3 ,\n\noo\n\n");
    assert_true(p.is_cut && p.generation == 1234567);
    /* Another rule: that of the file may be any, and so are its states. */
    tz_format_reading any = {.rule_replaced = true};
    assert_ok(tz_format_rle.read(
        scratch_text(*state, "a.rle", "x = 3, y = 1, rule = Codd:K3*,5\nAGpA!"), &any, &failure));
    assert_memory_equal(any.array->data, "\1\7\x19", 3);
    assert_false(any.has_rule);
    tz_array_destroy(any.array);
}

/* By what is in them, whatever their names are. */
SCRATCH_TEST(older_patterns_are_read)
{
    static const uint8_t acorn[] = {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1};
    static const char *const same[] = {"#Life 1.05\n#D Acorn\n#N\n#P -3 5\n.*\n...*\n**..***\n",
                                       "#Life 1.05\r\n#R 23/3\r\n#P 0 0\r\n.*\r\n\r\n#P 0 "
                                       "1\r\n...*\r\n#P 0 2\r\n**..\r\n#P 4 2\r\n***",
                                       "#Life 1.06\n-2 0\n 0 1\n-3 2\n-2 2\n1 2\n2 2\n3 2\n2 2\n"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const char *path = scratch_text(*state, i == 1 ? "acorn.rle" : "acorn.txt", same[i]);
        const tz_format *format;
        assert_ok(tz_format_to_read(path, &format, &failure));
        const tz_format_reading p = read_file(format, path);
        assert_true(p.array->shape[0] == 7 && p.array->shape[1] == 3);
        assert_memory_equal(p.array->data, acorn, sizeof acorn);
        assert_string_equal(p.rule, "B3/S23");
        assert_int_equal(p.has_rule, i == 1);
    }
    /* West and north of the origin alone. */
    const tz_format_reading west =
        read_as(*state, &tz_format_life, "w.lif", "#Life 1.06\n-1 -1\n-3 -1\n-1 -2\n");
    assert_true(west.array->shape[0] == 3 && west.array->shape[1] == 2);
    assert_memory_equal(west.array->data, "\0\0\1\1\0\1", 6);
    static const bad_file bad[] = {
        {"#Life 1.05\n#P 0\n*\n", "a.lif:2", "a block begins with '#P x y'", TZ_FORMAT},
        {"#Life 1.05\n#P 0 0\n*x\n", "a.lif:3", "unknown cell 'x'", TZ_FORMAT},
        {"#Life 1.06\n1 2\n3\n", "a.lif:3", "x and y of a living cell", TZ_FORMAT},
        {"#Life 1.06\n1 99999999999\n", "a.lif:2", "up to 2^30", TZ_FORMAT},
        {"#Life 1.06\n0 0\n1000000000 1000000000\n", "a.lif", "more than 2^30", TZ_RANGE},
        {"#Life 1.06\n", "a.lif", "no cells", TZ_SHAPE},
        {"#Life 1.05\n#R 3\n*\n", "a.lif:2", "unknown rule '3'", TZ_UNKNOWN}};
    REFUSE(&tz_format_life, "a.lif", bad);
}

SCRATCH_TEST(rle_refuses_bad_files)
{
    static const bad_file cases[] = {
        {"x = 3, y = 3\nbo$\n4o!", ":3", "row 2 reaches column 4, outside the declared x = 3",
         TZ_RANGE},
        {"x = 3, y = 2\no$o$o!", ":2", "row 3 is outside the declared y = 2", TZ_RANGE},
        {"x = 3, y = 3\n#C c\nboz!", ":3", "unknown state letter 'z'", TZ_FORMAT},
        {"x = 3, y = 3\nbo$2", ":2", "a run count stands at the end", TZ_FORMAT},
        {"x = 3, y = 3\nboC!", "p.rle", "has state 3, and the rule B3/S23 has 2 states", TZ_RANGE},
        {"x = 3, y = 1, rule = /2/3\nABC!", "p.rle", "has state 3, and the rule /2/3 has 3 states",
         TZ_RANGE},
        {"x = 3, y = 1, rule = none\nxZ!", ":1", "unknown rule 'none'", TZ_UNKNOWN},
        {"x = 3, y = 1, rule = LifeHistory\nAF!", ":2", "cell (1, 0) has state 6", TZ_UNSUPPORTED},
        {"x = 3, y = 3\n99999999999999999999o!", ":2", "run count", TZ_FORMAT},
        {"x = 3, y = 3\no3!", ":2", "before '!'", TZ_FORMAT},
        {"x = 3, y = 3, rule = B3/S2q\no!", ":1", "unknown rule", TZ_UNKNOWN},
        {"x = 3, y = 3, rule = R5,C2,S33-57,B34-45\no!", ":1", "Larger-than-Life", TZ_UNKNOWN},
        {"x = 3, y = 3, size = 4\no!", ":1", "'rule = ...'", TZ_FORMAT},
        {"x = 3\no!", ":1", "',' is expected", TZ_FORMAT},
        {"#C only\n", ":2", "header", TZ_FORMAT},
        {"bo$2bo$3o!", ":1", "header", TZ_FORMAT},
        {"x = -3, y = 3\no!", ":1", "header", TZ_FORMAT},
        {"x = 99999999999, y = 3\no!", ":1", "above 2^30", TZ_RANGE},
        {"x = 1000000, y = 1000000\no!", ":1", "more than 2^30", TZ_RANGE},
        {"x = 0, y = 3\n!", ":1", "1 or more", TZ_SHAPE},
    };
    REFUSE(&tz_format_rle, "p.rle", cases);
}

SCRATCH_TEST(plain_patterns_are_read)
{
    static const uint8_t cells[] = {0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1};
    static const bad_file bad[] = {{"!x\n.O\n.x", ".cells:3", "unknown cell 'x'", TZ_FORMAT},
                                   {"!x\n", ".cells", "no cells", TZ_SHAPE}};
    const tz_format_reading p = read_as(*state, &tz_format_cells, "a.cells",
                                        "!Name: A glider\r\n! by\r\n.O\r\n..*\n!c\n\nOOOO");
    assert_true(p.array->shape[0] == 4 && p.array->shape[1] == 4 && !p.has_rule);
    assert_string_equal(p.rule, "B3/S23");
    assert_memory_equal(p.array->data, cells, sizeof cells);
    REFUSE(&tz_format_cells, "b.cells", bad);
}

/* A glider in the north-west of one leaf, and a dot in the south-east of the whole, which uses
 * nodes several times. */
SCRATCH_TEST(macrocells_are_read)
{
    const tz_format_reading p = read_as(*state, &tz_format_macrocell, "a.mc",
                                        "[M2] (golly 4.2)\n#R B36/S23\n#N two\n"
                                        "$.*$..*$***$\n........$$$$$$$.......*\n"
                                        "4 1 0 0 2\n4 0 1 0 2\n5 3 0 4 3\n");
    /* Living cells: node 5 (32 x 32) has 3 in its north-west and south-east, 4 in its
     * south-west. */
    assert_string_equal(p.rule, "B36/S23");
    assert_true(p.has_rule && p.array->shape[0] == 32 && p.array->shape[1] == 31);
    static const int living[][2] = {{1, 1},   {2, 2},   {0, 3},   {1, 3},   {2, 3},   {15, 15},
                                    {9, 17},  {10, 18}, {8, 19},  {9, 19},  {10, 19}, {15, 31},
                                    {17, 17}, {18, 18}, {16, 19}, {17, 19}, {18, 19}, {31, 31}};
    int count = 0;
    for (int i = 0; i < 32 * 31; i++)
        count += ((uint8_t *)p.array->data)[i];
    assert_int_equal(count, sizeof living / sizeof *living);
    for (size_t i = 0; i < sizeof living / sizeof *living; i++)
        if (!((uint8_t *)p.array->data)[(living[i][1] - 1) * 32 + living[i][0]])
            fail_msg("cell %d %d is dead", living[i][0], living[i][1]);
    /* Several states: 2 x 2 cells, then 4 x 4. */
    const tz_format_reading q = read_as(*state, &tz_format_macrocell, "b.mc",
                                        "[M2]\n#R /2/4\n#G 77\n1 0 3 1 0\n2 1 0 0 1\n");
    static const uint8_t states[] = {0, 3, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 1, 0};
    assert_memory_equal(q.array->data, states, 16);
    assert_true(q.generation == 77);
    static const bad_file cases[] = {
        {"x = 3, y = 3\n", ":1", "[M2]", TZ_FORMAT},
        {"[M2]\n", ":1", "no cells", TZ_SHAPE},
        {"[M2]\n$$\n", ":2", "no cells", TZ_SHAPE},
        {"[M2]\n*\n4 1 2 0 0\n", ":3", "node 2 has not been defined", TZ_FORMAT},
        {"[M2]\n*\n5 1 0 0 0\n", ":3", "node 1 has level 3, and 4 is needed", TZ_FORMAT},
        {"[M2]\n1 0 2 1 0\n", "p.mc", "has state 2, and the rule B3/S23 has 2", TZ_RANGE},
        {"[M2]\n1 0 256 1 0\n", ":2", "state 256 is above 255", TZ_RANGE},
        {"[M2]\n*\n61 0 0 0 0\n", ":3", "1 to 60", TZ_RANGE},
        {"[M2]\n*\n4 1 0 0\n", ":3", "five numbers", TZ_FORMAT},
        {"[M2]\n.........\n", ":2", "8 x 8", TZ_RANGE},
        {"[M2]\n.*o\n", ":2", "unknown cell 'o'", TZ_FORMAT},
        {"[M2]\n#R B9\n*\n", ":2", "unknown rule", TZ_UNKNOWN},
    };
    REFUSE(&tz_format_macrocell, "p.mc", cases);
    /* Two cells at opposite corners of 2^20 x 2^20. */
    char text[1024] = "[M2]\n*\n";
    for (int level = 4; level <= 20; level++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d %d 0 0 %d\n", level,
                 level - 3, level - 3);
    const bad_file large[] = {{text, "p.mc", "more than 2^30", TZ_RANGE}};
    REFUSE(&tz_format_macrocell, "p.mc", large);
}

static double total(const tz_array *array)
{
    double sum = 0.0;
    for (int64_t i = 0; i < array->shape[0] * array->shape[1]; i++)
        sum += tz_array_get(array, i);
    return sum;
}

SCRATCH_TEST(floorplans_become_power_maps)
{
    tz_floorplan plan;
    tz_ptrace trace;
    tz_array *map;
    double powers[3];
    /* Left half of the bottom, right half of the bottom, all of the top. */
    assert_ok(tz_floorplan_read(scratch_text(*state, "c.flp",
                                             "# chip\nL2\t0.008 0.008\t0 0\n"
                                             "core 0.008 0.008 0.008 0 # hot\r\n\n"
                                             "top 0.016 0.004 0 0.008 1.75e6 0.01\n"
                                             "L2 core 1e3\n"),
                                0, &plan, &failure));
    assert_true(plan.units[1].heat_j_m3k == 0 && plan.units[2].heat_j_m3k == 1.75e6 &&
                plan.units[2].resistivity_mk_w == 0.01);
    assert_int_equal(plan.unit_count, 3);
    assert_ok(tz_ptrace_read(scratch_text(*state, "c.ptrace", "core\ttop L2\n10 3 1\n20 3 5\n"),
                             &trace, &failure));
    assert_ok(tz_ptrace_arrange(&trace, &plan, 1, 0, 3, powers, &failure));
    assert_true(powers[0] == 5 && powers[1] == 20 && powers[2] == 3);
    assert_ok(tz_ptrace_arrange(&trace, &plan, -1, 0, 3, powers, &failure));
    assert_true(powers[0] == 3 && powers[1] == 15 && powers[2] == 3);
    check_error(tz_ptrace_arrange(&trace, &plan, 2, 0, 3, powers, &failure), TZ_RANGE, "c.ptrace",
                "no sample 2");
    assert_ok(tz_floorplan_rasterise_rows(&plan, powers, 4, 3, 0, 0, 0, 3, &map, &failure));
    const double wanted[] = {0.75, 0.75, 0.75, 0.75, 0.75, 0.75,
                             3.75, 3.75, 0.75, 0.75, 3.75, 3.75};
    for (int i = 0; i < 12; i++)
        assert_true(fabs(tz_array_get(map, i) - wanted[i]) < 1e-12);
    tz_array_destroy(map);
    assert_ok(tz_floorplan_rasterise_rows(&plan, powers, 7, 5, 0.02, 0.013, 0, 5, &map, &failure));
    assert_true(fabs(total(map) - 21) < 1e-12);
    tz_array_destroy(map);
    assert_ok(tz_floorplan_rasterise_rows(&plan, powers, 1, 1, 0, 0, 0, 1, &map, &failure));
    assert_true(fabs(total(map) - 21) < 1e-12);
    tz_array_destroy(map);
    check_error(
        tz_floorplan_rasterise_rows(&plan, powers, 4, 4, 0.015, 0.012, 0, 4, &map, &failure),
        TZ_RANGE, "c.flp:3", "'core' is outside");
    check_error(tz_floorplan_rasterise_rows(&plan, powers, 4, 4, 0.015, 0, 0, 4, &map, &failure),
                TZ_RANGE, "c.flp", "both");
    tz_ptrace_clear(&trace);
    assert_ok(
        tz_ptrace_read(scratch_text(*state, "d.ptrace", "core top\n1 2\n"), &trace, &failure));
    check_error(tz_ptrace_arrange(&trace, &plan, 0, 0, 2, powers, &failure), TZ_UNKNOWN, "c.flp:2",
                "'L2' has no power");
    tz_ptrace_clear(&trace);
    /* The units of another plan come first; one has the same name. */
    assert_ok(tz_ptrace_read(scratch_text(*state, "e.ptrace", "\nL2 core top L2 L3\n7 1 2 -3 4\n"),
                             &trace, &failure));
    assert_true(trace.repeats && trace.negative_line == 3);
    assert_ok(tz_ptrace_arrange(&trace, &plan, 0, 1, 3, powers, &failure));
    assert_true(powers[0] == -3 && powers[1] == 1 && powers[2] == 2);
    check_error(tz_ptrace_arrange(&trace, &plan, 0, 0, 5, powers, &failure), TZ_FORMAT,
                "e.ptrace:2", "'L2' is named twice");
    check_error(tz_ptrace_arrange(&trace, &plan, 0, 2, 3, powers, &failure), TZ_UNKNOWN, "c.flp:3",
                "'core' has no power");
    tz_ptrace_clear(&trace);
    tz_floorplan_move(&plan, 1, 2);
    assert_true(plan.units[1].left_m == 1.008 && plan.units[2].bottom_m == 2.008);
    tz_floorplan_clear(&plan);
}

static tz_status read_plan(const char *path, tz_format_reading *out, tz_error *error)
{
    tz_floorplan plan;
    (void)out;
    return tz_floorplan_read(path, 0.005, &plan, error);
}

static tz_status read_trace(const char *path, tz_format_reading *out, tz_error *error)
{
    tz_ptrace trace;
    (void)out;
    return tz_ptrace_read(path, &trace, error);
}

SCRATCH_TEST(floorplans_are_checked)
{
    static const tz_format plan = {.read = read_plan}, trace = {.read = read_trace};
    static const bad_file plans[] = {
        {"a 1 1 0\n", ":1", "not 4", TZ_FORMAT},
        {"a 1 1 0 0 1\n", ":1", "not 6", TZ_FORMAT},
        {"a 1 1 0 0 1 1 1 1\n", ":1", "more than 7", TZ_FORMAT},
        {"\na 1 -1 0 0\n", ":2", "above 0", TZ_RANGE},
        {"a 1 one 0 0\n", ":1", "'one'", TZ_FORMAT},
        {"a 1 nan 0 0\n", ":1", "'nan'", TZ_FORMAT},
        {"a 1 1 0 0\nb 1 1 0.5 0.5\n", ":2", "'b' overlaps unit 'a' of line 1, by 25 % of it",
         TZ_RANGE},
        {"a 1 1 0 0\nb 1 1 0.994 0\n", ":2", "by 0.6 % of it; 'overlap' of", TZ_RANGE},
        {"a 1 1 0 0\nb 1 1 0.996 0\nc 1 1 0 2 1\n", ":3", "not 6", TZ_FORMAT},
        {"a 1 1 0 0\na b 1\n", ":2", "a connection 3", TZ_FORMAT},
        {"a 1 1 0 0\na 1 1 1 0\n", ":2", "already defined in line 1", TZ_FORMAT},
        {"# none\n", "x.flp", "no units", TZ_FORMAT},
    };
    static const bad_file traces[] = {
        {"a b\n1\n", ":2", "has 1 powers for the 2 units of line 1", TZ_SHAPE},
        {"a b\n1 2 3\n", ":2", "has 3 powers", TZ_SHAPE},
        {"a b\n1 x\n", ":2", "'x'", TZ_FORMAT},
        {"a b\n", "x.ptrace", "at least one line of powers", TZ_FORMAT},
    };
    REFUSE(&plan, "x.flp", plans);
    REFUSE(&trace, "x.ptrace", traces);
}

#define ROW "0\nY\nN\nsilicon\n1e-4\na.flp\n"
SCRATCH_TEST(packages_and_layers_are_read)
{
    tz_materials materials, none = {.count = 0};
    tz_package package = tz_package_default();
    tz_chip_rows rows;
    assert_ok(tz_materials_read(scratch_text(*state, "m",
                                             "silicon\nsolid # dry\n130\n1.6e6\n"
                                             "water\nfluid\n0.6\n4e6\n8e-4\n"),
                                &materials, &failure));
    assert_int_equal(materials.count, 2);
    assert_true(tz_materials_find(&materials, "water")->p_j_m3k == 4e6);
    assert_ok(tz_package_read(scratch_text(*state, "c.config",
                                           "# a\n\t-material_chip silicon\n-k_chip 7\n"
                                           "-t_sink 0.01\n-init_file (null)\n-leakage_used 0\n"
                                           "-coolant_material water\n-wall_material silicon\n"
                                           "-material_sink none\n-pump_internal_res 0\n"
                                           "-grid_map_mode max\n"),
                              &materials, &package, &failure));
    assert_true(package.coolant_res == 1 / 0.6 && package.coolant_visc == 8e-4);
    assert_true(package.wall_res == 1 / 130.0 && package.map_mode == TZ_MAP_MAX);
    check_error(tz_package_read(scratch_text(*state, "x", "-coolant_material silicon\n"),
                                &materials, &package, &failure),
                TZ_FORMAT, "x:1", "'silicon' is no fluid");
    assert_true(package.k_chip == 130 && package.p_chip == 1.6e6 && package.t_sink == 0.01);
    assert_true(package.r_convec == 0.1 && *tz_package_find(&package, "s_sink") == 0.06);
    assert_ok(
        tz_chip_rows_read(scratch_text(*state, "s.lcf", "1\nN\ny\n4e6\n0.25\n2e-5\nb.flp\n" ROW),
                          &materials, &rows, &failure));
    assert_int_equal(rows.count, 2);
    assert_true(rows.rows[0].lateral && !rows.rows[0].powered && rows.rows[0].k_w_mk == 130);
    assert_true(!rows.rows[1].lateral && rows.rows[1].powered && rows.rows[1].k_w_mk == 4);
    assert_string_equal(rows.rows[1].flp, "b.flp");
    static const struct {
        const char *text, *place, *says;
        tz_status status;
    } packages[] =
        {
            {"-t_sink 0\n", "x:1", "not above 0", TZ_RANGE},
            {"\n-t_sink\n", "x:2", "must be \"-name value\"", TZ_FORMAT},
            {"-model_secondary 1\n", "x:1", "does not have the secondary heat path",
             TZ_UNSUPPORTED},
            {"-material_sink gold\n", "x:1", "material 'gold' is not in", TZ_UNKNOWN},
            {"-grid_map_mode mean\n", "x:1", "center, avg, min or max", TZ_FORMAT},
        },
      layers[] = {
          {"", "x", "has no layers", TZ_FORMAT},
          {ROW "2\nY\nN\n1\n1\n1\na.flp\n", "x", "2 layers, but no layer 1", TZ_FORMAT},
          {ROW ROW, "x:7", "layer 0 is already defined in line 1", TZ_FORMAT},
          {"0\nY\nmaybe\n", "x:3", "needs Y or N", TZ_FORMAT},
          {"0\nY\nN\n1\n", "x", "ends within a layer", TZ_FORMAT},
          {"0\nY\nN\n1\n-1\n", "x:5", "not above 0", TZ_RANGE},
          {"64\n", "x:1", "from 0 to 63", TZ_RANGE},
      };
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        check_error(
            tz_package_read(scratch_text(*state, "x", packages[i].text), &none, &package, &failure),
            packages[i].status, packages[i].place, packages[i].says);
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        check_error(tz_chip_rows_read(scratch_text(*state, "x", layers[i].text), &materials, &rows,
                                      &failure),
                    layers[i].status, layers[i].place, layers[i].says);
    char cells[6];
    assert_ok(tz_channels_read(scratch_text(*state, "a.csv", "2, 1,3# a\r\n-1\t0 0\n"), 3, 2, cells,
                               &failure));
    assert_memory_equal(cells, "\2\1\3\0\0\0", 6);
    static const struct {
        const char *text, *place, *says;
    } channels[] = {{"2,1,3\n", "x", "has 1 rows, but grid_rows is 2"},
                    {"2,1,4\n0,0,0\n", "x:1", "outlet (3), not 4"},
                    {"2,1,1\n0,0,0\n", "x", "needs an inlet (2) and an outlet (3)"}};
    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++)
        check_error(
            tz_channels_read(scratch_text(*state, "x", channels[i].text), 3, 2, cells, &failure),
            TZ_FORMAT, channels[i].place, channels[i].says);
    tz_materials_clear(&materials);
    check_error(tz_materials_read(scratch_text(*state, "x", "a\nsolid\n1\n"), &materials, &failure),
                TZ_FORMAT, "x", "ends within a material");
    check_error(tz_materials_read(scratch_text(*state, "x", "a\ngas\n"), &materials, &failure),
                TZ_FORMAT, "x:2", "solid or fluid, not 'gas'");
}

/* ---- Texts of other programs: comments that mean something, byte order marks, other formats -- */

/* The rule of a line "#r", which Golly takes if the header has none. */
SCRATCH_TEST(rle_takes_the_rule_of_a_comment)
{
    static const struct {
        const char *text, *rule;
    } cases[] = {{"#r 23/36\nx = 1, y = 1\no!", "B36/S23"},
                 {"#r  B36/S23 \r\n#R 3 4\r\nx = 1, y = 1\r\no!", "B36/S23"},
                 {"#r 23/36\nx = 1, y = 1, rule = B2/S\no!", "B2/S"},
                 {"#R 23/36\nx = 1, y = 1\no!", "B3/S23"},
                 {"#rest of it\nx = 1, y = 1\no!", "B3/S23"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tz_format_reading p = read_as(*state, &tz_format_rle, "r.rle", cases[i].text);
        assert_string_equal(p.rule, cases[i].rule);
        assert_int_equal(p.has_rule, i < 3);
    }
    static const bad_file bad[] = {
        {"#N a\n#r x/y\nx = 1, y = 1\no!", "r.rle:2", "unknown rule 'x/y'", TZ_UNKNOWN}};
    REFUSE(&tz_format_rle, "r.rle", bad);
}

/* Some editors write a byte order mark. */
#define MARK "\xef\xbb\xbf"
SCRATCH_TEST(texts_may_begin_with_a_mark)
{
    static const bad_file wide[] = {{"\xff\xfe"
                                     "1",
                                     "w.txt", "is a text in UTF-16: save it as UTF-8", TZ_FORMAT}};
    tz_floorplan plan;
    tz_ptrace trace;
    tz_format_reading p = read_as(*state, &tz_format_text, "a.txt", MARK " 1 2");
    assert_int_equal(p.array->shape[0], 2);
    p = read_as(*state, &tz_format_rle, "a.rle", MARK "x = 1, y = 1\no!");
    assert_ok(
        tz_floorplan_read(scratch_text(*state, "a.flp", MARK "A 1 1 0 0\n"), 0, &plan, &failure));
    assert_string_equal(plan.units[0].name, "A");
    tz_floorplan_clear(&plan);
    assert_ok(tz_ptrace_read(scratch_text(*state, "a.ptrace", MARK "A\n1\n"), &trace, &failure));
    assert_string_equal(trace.names[0], "A");
    tz_ptrace_clear(&trace);
    REFUSE(&tz_format_text, "w.txt", wide);
}

SCRATCH_TEST(other_texts_are_refused)
{
    static const bad_file cases[] = {
        {"\x1f\x8b\b", "x.dat", "truncated: its compressed data has no end", TZ_FORMAT},
        {"1 2 \1\2", "x.dat", "is no text and no format that is known: tz.read's 'type'",
         TZ_FORMAT},
        {"1,2,x\n", ":1", "'x' is not a decimal number", TZ_FORMAT},
        {"one", "x.dat", "'one' is not a decimal number", TZ_FORMAT},
        {"1\n2 3\n4 five 6\n", ":3", "'five' is not a decimal number", TZ_FORMAT},
        {"\n0x1p3", ":2", "'0x1p3'", TZ_FORMAT},
        {"1 nan", ":1", "'nan' is not finite", TZ_FORMAT},
        {"1\n-inf", ":2", "'-inf' is not finite", TZ_FORMAT},
        {"1e999", ":1", "not finite", TZ_FORMAT},
        {"1e", ":1", "'1e'", TZ_FORMAT},
        {"1 - 2", ":1", "'-'", TZ_FORMAT},
        {"\xFF\xFF", ":1", "'\?\?'", TZ_FORMAT},
        {"# nothing\n", "x.dat", "has no numbers", TZ_SHAPE},
        {"", "x.dat", "has no numbers", TZ_SHAPE},
    };
    REFUSE(&tz_format_text, "x.dat", cases);
}
