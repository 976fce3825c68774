/* Texts with numbers: patterns, plain arrays, .flp, .ptrace and the files of chips. */
#include "output/format/chip_files.h"
#include "output/format/floorplan.h"
#include "output/format/format.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- .rle ------------------------------------------------------------------------------------ */

static const char rle_words[] =
    "b|o|$|!|3o|12b|99$|x = 9|, y = 9|rule|B3/S23|23/3|B36/S23|B0/S8|#N name\n|#C text\n|\n|"
    "0o|Life|1073741825o|#|:T4,4|B/S|b3s23|\r\n|A|2B|pA|yX|#r /2/3\n|#CXRLE Pos=-1,2 Gen=3\n|/2/3|"
    "345/2/4|B2-a/S12|B2/S34H|:T0,4|:P9|LifeHistory|MAP|/256|\r|#Life 1.06\n|[M2]\n";

static const char *const rle_texts[] = {
    "#N Gosper\n#C two rows\nx = 36, y = 3, rule = B3/S23\n24bo11b$22bobo11b$36b!\n",
    "x=3,y=3\nbo$2bo$3o!\n",
    "x = 4, y = 2, rule = 23/3\r\n4o$\r\n# a comment\n2b2o!\nafter the end\n",
    "#C no rule\nx = 2, y = 9\n8$oo!",
    "x = 3, y = 3, rule = b36s23\nbob$2bo$3o!\n",
    "#CXRLE Pos=0,0 Gen=9\nx = 4, y = 2, rule = 345/2/4:T5,4\n.A2B$C.A.!\n",
    "x = 4, y = 2, rule = B2-a3ijk/S1c2History\n.A2B$E.C.",
    "x = 2, y = 1, rule = "
    "MAPARYXfhZofugWaH7oaIDogBZofuhogOiAaIDogIAAgAAWaH7oaIDogGiA6ICAAIAAaIDogIAAgACA"
    "AIAAAAAAAA/26\npAX!",
    NULL};

static bool rle_seed(int index, const char *path)
{
    const int64_t shape[] = {40, 17};
    tz_array *cells;
    if (index >= 2 ||
        tz_array_create(&cells, index ? TZ_DTYPE_F64 : TZ_DTYPE_U8, 2, shape, NULL) != TZ_OK)
        return false;
    for (int64_t i = 0; i < 40 * 17; i++)
        tz_array_set(cells, i, (double)(i * i % 7 % 2));
    const tz_status status =
        tz_format_save(&tz_format_rle, path, cells, "data", index ? "B36/S23" : NULL, NULL, NULL);
    tz_array_destroy(cells);
    return status == TZ_OK;
}

/* A pattern that has been read is the same after it was written as .rle. */
static tz_status check_pattern(const tz_format *format, const char *path, tz_error *error)
{
    tz_format_reading pattern = {0}, again = {0};
    const tz_status status = format->read(path, &pattern, error);
    if (status != TZ_OK)
        return status;
    const int64_t *shape = pattern.array->shape;
    const char *copy = fuzz_beside(path, "copy.rle");
    if (tz_format_save(&tz_format_rle, copy, pattern.array, "data", pattern.rule, NULL, error) !=
        TZ_OK)
        fuzz_wrong("it cannot be written: %s", error->message);
    const tz_status second = tz_format_rle.read(copy, &again, error);
    if (second == TZ_MEMORY) { /* there is room for one pattern, not for two */
        tz_array_destroy(pattern.array);
        return second;
    }
    if (second != TZ_OK)
        fuzz_wrong("it cannot be read again: %s", error->message);
    if (memcmp(shape, again.array->shape, 2 * sizeof *shape) != 0 ||
        strcmp(pattern.rule, again.rule) != 0 ||
        memcmp(pattern.array->data, again.array->data, (size_t)(shape[0] * shape[1])) != 0)
        fuzz_wrong("it is another pattern when it is read again");
    tz_array_destroy(pattern.array);
    tz_array_destroy(again.array);
    return TZ_OK;
}

static tz_status rle_read(const char *path, tz_error *error)
{
    return check_pattern(&tz_format_rle, path, error);
}

const fuzz_reader fuzz_rle = {.name = "rle",
                              .file = "input.rle",
                              .weight = 60,
                              .least_passed = 35,
                              .base_bytes = 1 << 20,
                              .expands = true,
                              .words = rle_words,
                              .texts = rle_texts,
                              .seed = rle_seed,
                              .read = rle_read};

/* ---- .cells and .mc -------------------------------------------------------------------------- */

static const char cells_words[] = ".|O|*|!|!Name: glider\n|\n|\r|....OO|\n\n\n| |\t";

static const char *const cells_texts[] = {"!Name: Glider\n!\n.O\n..O\nOOO\n", "..*\r\n\r\n*",
                                          "!only a comment\n.\n", NULL};

static tz_status cells_read(const char *path, tz_error *error)
{
    return check_pattern(&tz_format_cells, path, error);
}

const fuzz_reader fuzz_cells = {.name = "cells",
                                .file = "input.cells",
                                .weight = 30,
                                .least_passed = 140,
                                .base_bytes = 1 << 20,
                                .expands = true,
                                .words = cells_words,
                                .texts = cells_texts,
                                .read = cells_read};

static const char life_words[] =
    "#Life 1.05\n|#Life 1.06\n|#P 0 0\n|#P -3 5\n|#R 23/3\n|#R /2/3\n|#N\n|.|*|-1 2\n|1 |99999|"
    "1073741824|\n|\r|+";

static const char *const life_texts[] = {
    "#Life 1.05\n#D Acorn\n#N\n#P -3 5\n.*\n...*\n**..***\n#P 9 9\n*\n",
    "#Life 1.06\r\n-2 0\r\n0 1\r\n-3 2\r\n-2 2\r\n1 2\r\n", NULL};

static tz_status life_read(const char *path, tz_error *error)
{
    return check_pattern(&tz_format_life, path, error);
}

const fuzz_reader fuzz_life = {.name = "life",
                               .file = "input.lif",
                               .weight = 30,
                               .least_passed = 20,
                               .base_bytes = 1 << 20,
                               .expands = true,
                               .words = life_words,
                               .texts = life_texts,
                               .read = life_read};

static const char macrocell_words[] =
    "[M2]|1 0 2 1 0\n|2 1 1 0 1\n|#R /2/4\n|#R B3/S23\n|#N name\n|\n|$|.|*|4 |5 1 1 1 1\n| 0|4 1 0 "
    "0 1\n|20 |4294967297|60|61|"
    "$$$";

static const char *const macrocell_texts[] = {
    "[M2] (golly 4.2)\n#R B36/S23\n$.*$..*$***$\n........$$$$$$$.......*\n4 1 0 0 2\n"
    "4 0 1 0 2\n5 3 0 4 3\n",
    "[M2]\n#R 345/2/4\n#G 7\n1 0 3 1 0\n2 1 0 0 1\n3 2 2 0 2\n",
    "[M2]\r\n*\r\n4 1 1 1 1\r\n5 2 2 2 2\r\n6 3 3 3 3\r\n7 4 0 0 4\r\n", NULL};

static tz_status macrocell_read(const char *path, tz_error *error)
{
    return check_pattern(&tz_format_macrocell, path, error);
}

const fuzz_reader fuzz_macrocell = {.name = "macrocell",
                                    .file = "input.mc",
                                    .weight = 30,
                                    .least_passed = 20,
                                    .base_bytes = 1 << 20,
                                    .expands = true,
                                    .words = macrocell_words,
                                    .texts = macrocell_texts,
                                    .read = macrocell_read};

/* ---- Plain numbers --------------------------------------------------------------------------- */

static const char text_words[] =
    "1| |\n|#|-|.|e5|E-400|inf|nan|0x1|\t|\r|318.15 |\v|1,5|# comment\n";

static const char *const text_texts[] = {
    "1 2 3\n4 5 6\n", "323.15\n324.06\n\n# the end\n1e-3\t-7.25E+2 .5 5.\n",
    "# only one\n0.1000000000000000055511151231257827021181583404541015625", NULL};

static bool text_seed(int index, const char *path)
{
    FILE *file = index > 0 ? NULL : fopen(path, "w");
    if (!file)
        return false;
    for (int i = 0; i < 64; i++)
        fprintf(file, "%.17g%c", sin(i) * pow(10, i % 40 - 20), i % 8 == 7 ? '\n' : ' ');
    return fclose(file) == 0;
}

/* The numbers as strtod() reads them, with comments cut off. */
static tz_status text_read(const char *path, tz_error *error)
{
    static char text[FUZZ_BYTES_MAX + 1];
    tz_array *array = NULL;
    const tz_status status = tz_text_read(path, 0, NULL, &array, error);
    if (status != TZ_OK)
        return status;
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(text, 1, FUZZ_BYTES_MAX, file) : 0;
    text[size] = '\0';
    fclose(file);
    for (size_t i = 0, comment = 0; i < size; i++) {
        comment = text[i] == '#' || (comment && text[i] != '\n');
        text[i] = comment ? ' ' : text[i];
    }
    if (strlen(text) != size)
        fuzz_wrong("a zero byte outside comments is accepted");
    int64_t count = 0;
    char *rest = NULL;
    for (char *token = strtok_r(text, " \t\n\v\f\r", &rest); token;
         token = strtok_r(NULL, " \t\n\v\f\r", &rest)) {
        char *end;
        const double value = strtod(token, &end);
        if (count >= array->shape[0] || *end != '\0' || !isfinite(value) ||
            value != tz_array_get(array, count))
            fuzz_wrong("number %ld, '%s', is read as %.17g", (long)count, token,
                       count < array->shape[0] ? tz_array_get(array, count) : NAN);
        count++;
    }
    if (count != array->shape[0])
        fuzz_wrong("%ld numbers are read as %ld", (long)count, (long)array->shape[0]);
    tz_array_destroy(array);
    return TZ_OK;
}

const fuzz_reader fuzz_text = {.name = "text",
                               .file = "input.txt",
                               .weight = 60,
                               .least_passed = 120,
                               .base_bytes = 1 << 16,
                               .bytes_per_byte = 10,
                               .words = text_words,
                               .texts = text_texts,
                               .seed = text_seed,
                               .read = text_read};

/* ---- .flp ------------------------------------------------------------------------------------ */

static const char flp_words[] =
    "core0|L2|\t| |\n|#|0.004|-0.001|1e-3|1e-300|1e300|0|nan|a 1 1 0 0\n|"
    "b 1 1 1 0 1.0e6 0.01\n|\r\n";

static const char *const flp_texts[] = {
    "# unit width height left "
    "bottom\nL2\t0.016\t0.0098\t0\t0\nIcache\t0.0031\t0.0026\t0.0049\t0.0098\n"
    "Dcache\t0.0031\t0.0026\t0.008\t0.0098\n",
    "a 1e-3 1e-3 0 0 1.75e6 0.01\nb 1e-3 1e-3 1e-3 0 1.75e6 0.01\nc 2e-3 1e-3 -0 1e-3 1.75e6 "
    "0.01\n",
    "one 0.5 0.25 -0.25 1.5", NULL};

static tz_status flp_read(const char *path, tz_error *error)
{
    tz_floorplan plan, again;
    tz_array *map = NULL;
    const tz_status status = tz_floorplan_read(path, 0, &plan, error);
    if (status != TZ_OK)
        return status;
    const char *copy = fuzz_beside(path, "copy.flp");
    double *powers = calloc(plan.unit_count, sizeof *powers), sum = 0;
    FILE *file = fopen(copy, "wb");
    for (size_t k = 0; k < plan.unit_count; k++) {
        const tz_floorplan_unit *u = &plan.units[k];
        fprintf(file, "%s %.17g %.17g %.17g %.17g\n", u->name, u->width_m, u->height_m, u->left_m,
                u->bottom_m);
        powers[k] = 1;
    }
    fclose(file);
    if (tz_floorplan_read(copy, 0, &again, error) != TZ_OK)
        fuzz_wrong("it cannot be read again: %s", error->message);
    if (again.unit_count != plan.unit_count || again.width_m != plan.width_m ||
        again.bottom_m != plan.bottom_m)
        fuzz_wrong("it is another plan when it is read again");
    if (!(isfinite(plan.width_m) && plan.width_m > 0 && isfinite(plan.height_m) &&
          plan.height_m > 0))
        fuzz_wrong("its chip is %g m x %g m", plan.width_m, plan.height_m);
    /* The power of the units is that of the cells. */
    if (tz_floorplan_rasterise_rows(&plan, powers, 16, 8, 0, 0, 0, 8, &map, error) != TZ_OK)
        fuzz_wrong("no power map: %s", error->message);
    for (int64_t i = 0; i < 16 * 8; i++)
        sum += tz_array_get(map, i);
    if (!(fabs(sum - (double)plan.unit_count) <= 1e-6 * (double)plan.unit_count))
        fuzz_wrong("%zu W become %g W", plan.unit_count, sum);
    tz_array_destroy(map);
    free(powers);
    tz_floorplan_clear(&plan);
    tz_floorplan_clear(&again);
    return TZ_OK;
}

const fuzz_reader fuzz_flp = {.name = "flp",
                              .file = "input.flp",
                              .weight = 60,
                              .least_passed = 40,
                              .base_bytes = 1 << 16,
                              .bytes_per_byte = 100,
                              .words = flp_words,
                              .texts = flp_texts,
                              .read = flp_read};

/* ---- .ptrace --------------------------------------------------------------------------------- */

static const char ptrace_words[] = "core0|L2|\t| |\n|#|1.5|-1|1e308|0 0 0\n|1 2 3\n|nan|inf|\r\n";

static const char *const ptrace_texts[] = {
    "L2\tIcache\tDcache\n1.44\t5.8\t14.3\n1.4\t6\t13.5\n0\t0\t0\n",
    "# a comment\n\none\n1\n2 # two\n3", "a b c d\n1 2 3 4\n", NULL};

static bool is_another(const tz_ptrace *a, const tz_ptrace *b)
{
    for (size_t i = 0; i < a->unit_count * a->sample_count; i++)
        if (a->powers_w[i] != b->powers_w[i])
            return true;
    return false;
}

static tz_status ptrace_read(const char *path, tz_error *error)
{
    tz_ptrace trace, again;
    const tz_status status = tz_ptrace_read(path, &trace, error);
    if (status != TZ_OK)
        return status;
    const char *copy = fuzz_beside(path, "copy.ptrace");
    FILE *file = fopen(copy, "wb");
    for (size_t k = 0; k < trace.unit_count; k++)
        fprintf(file, "%s%c", trace.names[k], k + 1 < trace.unit_count ? ' ' : '\n');
    for (size_t i = 0; i < trace.sample_count * trace.unit_count; i++) {
        if (!isfinite(trace.powers_w[i]))
            fuzz_wrong("a power is %g", trace.powers_w[i]);
        fprintf(file, "%.17g%c", trace.powers_w[i], (i + 1) % trace.unit_count ? ' ' : '\n');
    }
    fclose(file);
    if (tz_ptrace_read(copy, &again, error) != TZ_OK)
        fuzz_wrong("it cannot be read again: %s", error->message);
    if (trace.unit_count != again.unit_count || trace.sample_count != again.sample_count ||
        is_another(&trace, &again))
        fuzz_wrong("it is another trace when it is read again");
    tz_ptrace_clear(&trace);
    tz_ptrace_clear(&again);
    return TZ_OK;
}

const fuzz_reader fuzz_ptrace = {.name = "ptrace",
                                 .file = "input.ptrace",
                                 .weight = 60,
                                 .least_passed = 80,
                                 .base_bytes = 1 << 16,
                                 .bytes_per_byte = 600,
                                 .words = ptrace_words,
                                 .texts = ptrace_texts,
                                 .read = ptrace_read};

/* ---- .config, .lcf, materials, channels ------------------------------------------------------ */

static const char chip_words[] =
    "-t_chip |-ambient |-material_chip |-grid_rows |-grid_map_mode |-model_secondary 1\n|silicon\n|"
    "solid\n|fluid\n|0\nY\nN\n4e6\n0.25\n0.0002\na.flp\n|Y\n|N\n|a.csv\n|1e-3|-1|0|1e300|nan|inf|,|"
    ", "
    "|2,|3,|#|\n|\r\n|\t| ";

static const char *const chip_texts[] = {
    "# a package\n\t-s_sink 0.04\n\t-ambient 300\n-grid_rows 8\n-init_file (null)\n"
    "-grid_map_mode avg\n-pump_internal_res 0\n",
    "# dies\n0\nY\nY\n1.6e6\n0.01\n0.0002\nplan.flp\n\n1 # glue\nn\ny\n4e6\n0.25\n2e-4\nc.csv\n",
    "silicon\nsolid\n130\n1630300\n\nwater\nfluid\n0.6\n4.1e6\n8.9e-4\n",
    "0, 0, 0, 0\n3, 1, 1, 2\r\n-1,0,0, 0\n", NULL};

static void check_above(double value, const char *what)
{
    if (!(isfinite(value) && value > 0))
        fuzz_wrong("%s is %g", what, value);
}

/* Such a file is known by its place in another one, so each reader gets it. */
static tz_status chip_read(const char *path, tz_error *error)
{
    static tz_chip_rows rows;
    tz_package package = tz_package_default();
    tz_materials materials = {0}, read = {0};
    char cells[12];
    const tz_status first = tz_package_read(path, &materials, &package, error);
    if (first == TZ_OK)
        for (double *value = &package.t_chip; value < &package.pumping_pressure; value++)
            check_above(*value, "a number of the package");
    const tz_status second = tz_chip_rows_read(path, &materials, &rows, error);
    for (size_t k = 0; second == TZ_OK && k < rows.count; k++)
        check_above(rows.rows[k].t_m, "a thickness");
    const tz_status third = tz_materials_read(path, &read, error);
    for (size_t k = 0; third == TZ_OK && k < read.count; k++)
        check_above(read.rows[k].k_w_mk, "a conductivity");
    tz_materials_clear(&read);
    const tz_status last = tz_channels_read(path, 4, 3, cells, error);
    for (size_t k = 0; last == TZ_OK && k < sizeof cells; k++)
        if (cells[k] < TZ_CHANNEL_WALL || cells[k] > TZ_CHANNEL_OUTLET)
            fuzz_wrong("a cell of a channel is %d", cells[k]);
    return first == TZ_OK || second == TZ_OK || third == TZ_OK ? TZ_OK : last;
}

const fuzz_reader fuzz_chip = {.name = "chip",
                               .file = "input.lcf",
                               .weight = 40,
                               .least_passed = 50,
                               .base_bytes = 1 << 16,
                               .bytes_per_byte = 600,
                               .words = chip_words,
                               .texts = chip_texts,
                               .read = chip_read};
