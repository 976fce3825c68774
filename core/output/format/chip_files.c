/* Readers of HotSpot's .config, .lcf and materials: tz.chip uses them. */
#include "output/format/chip_files.h"

#include "base/names.h"
#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number above 0. */
static tz_status positive(const tz_word *word, const tz_line *line, double *out, tz_error *error)
{
    const tz_status status = tz_word_number(word, line, out, error);
    if (status != TZ_OK || *out > 0.0)
        return status;
    return TZ_LINE_FAULT(line, error, TZ_RANGE, "%.*s is not above 0", (int)word->length,
                         word->text);
}

/* ---- Materials ------------------------------------------------------------------------------- */

typedef struct material_reader {
    tz_materials *out;
    int next; /* the line of a material that comes next, from 0 */
    bool fluid;
} material_reader;

static tz_status material_line(void *out, const tz_line *line, tz_error *error)
{
    material_reader *reader = out;
    tz_materials *all = reader->out;
    const char *p = line->begin;
    tz_word word;
    tz_status status = TZ_OK;
    tz_line_word(&p, line->end, &word);
    if (reader->next == 0) {
        tz_material *grown = realloc(all->rows, (all->count + 1) * sizeof *grown);
        if (!grown)
            return tz_error_set(error, TZ_MEMORY, all->path, "not enough memory for materials");
        all->rows = grown;
        memset(&grown[all->count], 0, sizeof *grown);
        status = tz_word_name(&word, line, grown[all->count].name, error);
    } else if (reader->next == 1) {
        reader->fluid = tz_word_is(&word, "fluid");
        if (!reader->fluid && !tz_word_is(&word, "solid"))
            status =
                TZ_LINE_FAULT(line, error, TZ_FORMAT, "a material is solid or fluid, not '%.*s'",
                              (int)(word.length < 40 ? word.length : 40), word.text);
    } else {
        double value = 0.0;
        status = positive(&word, line, &value, error);
        if (reader->next == 2)
            all->rows[all->count].k_w_mk = value;
        else if (reader->next == 3)
            all->rows[all->count].p_j_m3k = value;
        else
            all->rows[all->count].visc_pa_s = value;
    }
    reader->next++;
    if (reader->next == (reader->fluid ? 5 : 4)) {
        *reader = (material_reader){.out = all};
        all->count++;
    }
    return status;
}

tz_status tz_materials_read(const char *path, tz_materials *out, tz_error *error)
{
    material_reader reader = {.out = out};
    memset(out, 0, sizeof *out);
    tz_status status = tz_lines_read(path, &out->path, material_line, &reader, error);
    if (status == TZ_OK && reader.next != 0)
        status = tz_error_set(error, TZ_FORMAT, path, "ends within a material");
    if (status != TZ_OK)
        tz_materials_clear(out);
    return status;
}

void tz_materials_clear(tz_materials *materials)
{
    free(materials->path);
    free(materials->rows);
    memset(materials, 0, sizeof *materials);
}

const tz_material *tz_materials_find(const tz_materials *materials, const char *name)
{
    for (size_t i = 0; i < materials->count; i++)
        if (strcmp(materials->rows[i].name, name) == 0)
            return &materials->rows[i];
    return NULL;
}

/* NULL and an error: there is none of that name. */
static const tz_material *find_material(const tz_materials *materials, const char *name,
                                        const char *path, int line, tz_error *error)
{
    const tz_material *found = tz_materials_find(materials, name);
    if (!found)
        tz_error_set_line(error, TZ_UNKNOWN, path, line, "material '%s' is not in %s", name,
                          materials->path ? materials->path
                                          : "a file: give 'materials' to tz.chip");
    return found;
}

/* ---- The package ----------------------------------------------------------------------------- */

tz_package tz_package_default(void)
{
    return (tz_package){
#define DEFAULT(NAME, VALUE, DOC) .NAME = VALUE,
        TZ_PACKAGE_TABLE(DEFAULT)
#undef DEFAULT
            .map_mode = TZ_MAP_CENTER};
}

double *tz_package_find(tz_package *package, const char *name)
{
#define FIND(NAME, VALUE, DOC)                                                                     \
    if (strcmp(name, #NAME) == 0)                                                                  \
        return &package->NAME;
    TZ_PACKAGE_TABLE(FIND)
#undef FIND
    return NULL;
}

/* Materials replace numbers wherever they stand in the file. */
static const struct {
    const char *name, *k, *res, *p, *visc; /* the numbers; NULL: none */
} parts[] = {{"material_chip", "k_chip", NULL, "p_chip", NULL},
             {"material_interface", "k_interface", NULL, "p_interface", NULL},
             {"material_spreader", "k_spreader", NULL, "p_spreader", NULL},
             {"material_sink", "k_sink", NULL, "p_sink", NULL},
             {"wall_material", NULL, "wall_res", "wall_capac", NULL},
             {"coolant_material", NULL, "coolant_res", "coolant_capac", "coolant_visc"}};
enum { PARTS = sizeof parts / sizeof *parts };

const char *const tz_map_modes[] = {"avg", "center", "min", "max"};

/* What a file may only say no to. */
static const struct {
    const char *name, *what;
} refused[] = {{"model_secondary", "the secondary heat path"},
               {"leakage_used", "leakage that depends on the temperature"},
               {"package_model_used", "the detailed package model"}};

/* What files also have, and what does not matter here. */
#define TAKEN(NAME, ...) #NAME,
static const char *const known[] = {
    TZ_PACKAGE_TABLE(TAKEN) "material_chip", "material_interface", "material_spreader",
    "material_sink", "wall_material", "coolant_material", "grid_map_mode", "model_secondary",
    "leakage_used", "package_model_used",
    /* inputs and outputs */
    "init_file", "steady_file", "grid_layer_file", "grid_steady_file", "grid_transient_file",
    "materials_file", "network_file", "package_config_file", "model_type", "detailed_3D",
    "use_microchannels", "use_microfluidic_cooling", "channel_width", "thermal_threshold",
    "base_proc_freq", "dtm_used", "leakage_mode", "block_omit_lateral", "c", "d", "f", "o", "p",
    /* the secondary path */
    "r_convec_sec", "c_convec_sec", "n_metal", "t_metal", "t_c4", "s_c4", "n_c4", "s_sub", "t_sub",
    "s_solder", "t_solder", "s_pcb", "t_pcb",
    /* the detailed package */
    "natural_convec", "flow_type", "sink_type", "fin_height", "fin_width", "channel_width",
    "pin_height", "pin_diam", "pin_dist", "fan_radius", "motor_radius", "rpm",
    /* floorplanning */
    "wrap_l2", "l2_label", "model_rim", "rim_thickness", "compact_ratio", "n_orients", "P0", "Davg",
    "Kmoves", "Rcool", "Rreject", "Nmax", "lambdaA", "lambdaT", "lambdaW"};
#undef TAKEN
enum { KNOWN = sizeof known / sizeof *known };

/* A name that is none of HotSpot's, but nearly. */
static tz_status check_name(const char *name, const tz_line *line, tz_error *error)
{
    for (int i = 0; i < KNOWN; i++)
        if (strcmp(name, known[i]) == 0)
            return TZ_OK;
    const char *near = tz_names_nearest(name, known, KNOWN);
    return near ? TZ_LINE_FAULT(line, error, TZ_UNKNOWN, "-%s is no option; did you mean -%s?",
                                name, near)
                : TZ_OK;
}

typedef struct package_reader {
    tz_package *out;
    const char *path;
    struct {
        char name[TZ_WORD_NAME_SIZE];
        int line;
    } materials[PARTS];
} package_reader;

static tz_status package_line(void *out, const tz_line *line, tz_error *error)
{
    package_reader *reader = out;
    const char *p = line->begin;
    tz_word word, value;
    char name[TZ_WORD_NAME_SIZE];
    tz_line_word(&p, line->end, &word);
    if (word.text[0] != '-' || word.length < 2 || !tz_line_word(&p, line->end, &value))
        return TZ_LINE_FAULT(line, error, TZ_FORMAT, "a line must be \"-name value\"");
    word.text++;
    word.length--;
    tz_status status = tz_word_name(&word, line, name, error);
    if (status != TZ_OK)
        return status;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(name, refused[i].name) == 0 && !tz_word_is(&value, "0"))
            return TZ_LINE_FAULT(line, error, TZ_UNSUPPORTED, "%s: Trapeze does not have %s", name,
                                 refused[i].what);
    for (int i = 0; i < PARTS; i++)
        if (strcmp(name, parts[i].name) == 0) {
            reader->materials[i].line = line->number;
            return tz_word_name(&value, line, reader->materials[i].name, error);
        }
    for (int i = 0; i <= TZ_MAP_MAX && strcmp(name, "grid_map_mode") == 0; i++)
        if (tz_word_is(&value, tz_map_modes[i])) {
            reader->out->map_mode = (tz_map_mode)i;
            return TZ_OK;
        }
    if (strcmp(name, "grid_map_mode") == 0)
        return TZ_LINE_FAULT(line, error, TZ_FORMAT,
                             "grid_map_mode must be center, avg, min or max");
    double *member = tz_package_find(reader->out, name);
    if (member == &reader->out->pump_internal_res && tz_word_is(&value, "0"))
        *member = 0.0;
    else if (member)
        status = positive(&value, line, member, error);
    else
        status = check_name(name, line, error);
    return status;
}

/* Replace the numbers of a part by those of its material. "none" is one only if the file has it. */
static tz_status take_material(package_reader *reader, int part, const tz_materials *materials,
                               tz_error *error)
{
    tz_package *out = reader->out;
    const char *name = reader->materials[part].name;
    if (strcmp(name, "none") == 0 && !tz_materials_find(materials, name))
        return TZ_OK;
    const tz_material *found =
        find_material(materials, name, reader->path, reader->materials[part].line, error);
    if (!found)
        return TZ_UNKNOWN;
    if (parts[part].visc && found->visc_pa_s == 0.0)
        return tz_error_set_line(error, TZ_FORMAT, reader->path, reader->materials[part].line,
                                 "the material '%s' is no fluid", name);
    if (parts[part].k)
        *tz_package_find(out, parts[part].k) = found->k_w_mk;
    else
        *tz_package_find(out, parts[part].res) = 1.0 / found->k_w_mk;
    *tz_package_find(out, parts[part].p) = found->p_j_m3k;
    if (parts[part].visc)
        *tz_package_find(out, parts[part].visc) = found->visc_pa_s;
    return TZ_OK;
}

tz_status tz_package_read(const char *path, const tz_materials *materials, tz_package *package,
                          tz_error *error)
{
    package_reader reader = {.out = package, .path = path};
    tz_status status = tz_lines_read(path, NULL, package_line, &reader, error);
    for (int i = 0; status == TZ_OK && i < PARTS; i++)
        if (reader.materials[i].line > 0)
            status = take_material(&reader, i, materials, error);
    return status;
}

/* ---- Layers ---------------------------------------------------------------------------------- */

enum { NUMBER, LATERAL, POWER, HEAT, RESISTIVITY, THICKNESS, PLAN };

typedef struct row_reader {
    tz_chip_rows *out;
    const tz_materials *materials;
    int next; /* what the next line has */
    tz_chip_row *row;
} row_reader;

static tz_status yes_or_no(const tz_word *word, const tz_line *line, bool *out, tz_error *error)
{
    const char c = word->length == 1 ? word->text[0] : '\0';
    *out = c == 'Y' || c == 'y';
    if (*out || c == 'N' || c == 'n')
        return TZ_OK;
    return TZ_LINE_FAULT(line, error, TZ_FORMAT, "needs Y or N");
}

static tz_status begin_row(row_reader *reader, const tz_word *word, const tz_line *line,
                           tz_error *error)
{
    tz_chip_rows *out = reader->out;
    double number;
    const tz_status status = tz_word_number(word, line, &number, error);
    if (status != TZ_OK)
        return status;
    if (!(number >= 0 && number < TZ_CHIP_LAYERS_MAX && number == (int)number))
        return TZ_LINE_FAULT(line, error, TZ_RANGE, "the number of a layer must be from 0 to %d",
                             TZ_CHIP_LAYERS_MAX - 1);
    reader->row = &out->rows[(int)number];
    if (reader->row->line > 0)
        return TZ_LINE_FAULT(line, error, TZ_FORMAT, "layer %d is already defined in line %d",
                             (int)number, reader->row->line);
    reader->row->line = line->number;
    out->count++;
    return TZ_OK;
}

/* The heat capacity, or a material, which is the resistivity, too. */
static tz_status take_heat(row_reader *reader, const tz_word *word, const tz_line *line,
                           tz_error *error)
{
    char name[TZ_WORD_NAME_SIZE];
    double value;
    if (tz_number_parse(word->text, word->length, &value))
        return positive(word, line, &reader->row->p_j_m3k, error);
    const tz_status status = tz_word_name(word, line, name, error);
    if (status != TZ_OK)
        return status;
    const tz_material *found =
        find_material(reader->materials, name, line->path, line->number, error);
    if (!found)
        return TZ_UNKNOWN;
    reader->next = RESISTIVITY;
    reader->row->k_w_mk = found->k_w_mk;
    reader->row->p_j_m3k = found->p_j_m3k;
    return TZ_OK;
}

static tz_status row_line(void *out, const tz_line *line, tz_error *error)
{
    row_reader *reader = out;
    const char *p = line->begin;
    tz_word word;
    tz_status status = TZ_OK;
    double resistivity = 0.0;
    tz_line_word(&p, line->end, &word);
    switch (reader->next) {
    case NUMBER:
        status = begin_row(reader, &word, line, error);
        break;
    case LATERAL:
        status = yes_or_no(&word, line, &reader->row->lateral, error);
        break;
    case POWER:
        status = yes_or_no(&word, line, &reader->row->powered, error);
        break;
    case HEAT:
        status = take_heat(reader, &word, line, error);
        break;
    case RESISTIVITY:
        status = positive(&word, line, &resistivity, error);
        reader->row->k_w_mk = 1.0 / resistivity;
        break;
    case THICKNESS:
        status = positive(&word, line, &reader->row->t_m, error);
        break;
    default:
        if (word.length >= sizeof reader->row->flp)
            status = TZ_LINE_FAULT(line, error, TZ_FORMAT, "the floorplan's path is too long");
        else
            memcpy(reader->row->flp, word.text, word.length);
        reader->row->channels =
            word.length > 4 && memcmp(word.text + word.length - 4, ".csv", 4) == 0;
    }
    reader->next = reader->next == PLAN ? NUMBER : reader->next + 1;
    return status;
}

tz_status tz_chip_rows_read(const char *path, const tz_materials *materials, tz_chip_rows *out,
                            tz_error *error)
{
    row_reader reader = {.out = out, .materials = materials};
    memset(out, 0, sizeof *out);
    tz_status status = tz_lines_read(path, NULL, row_line, &reader, error);
    if (status == TZ_OK && (reader.next != NUMBER || out->count == 0))
        status = tz_error_set(error, TZ_FORMAT, path,
                              out->count == 0 ? "has no layers" : "ends within a layer");
    for (size_t i = 0; status == TZ_OK && i < out->count; i++)
        if (out->rows[i].line == 0)
            status = tz_error_set(error, TZ_FORMAT, path, "has %zu layers, but no layer %zu",
                                  out->count, i);
    return status;
}

/* ---- Channels -------------------------------------------------------------------------------- */

typedef struct channel_reader {
    int64_t columns, rows, row;
    char *cells;
    bool kinds[TZ_CHANNEL_OUTLET + 1]; /* those that there are */
} channel_reader;

static tz_status channel_line(void *out, const tz_line *line, tz_error *error)
{
    channel_reader *r = out;
    int64_t column = 0;
    for (const char *p = line->begin; p < line->end && *p != '#';) {
        tz_word word = {.text = p};
        double value = 0;
        for (; p < line->end && !strchr(", \t\r#", *p); p++)
            word.length++;
        p += word.length == 0;
        if (word.length == 0)
            continue;
        const tz_status status = tz_word_number(&word, line, &value, error);
        if (status != TZ_OK)
            return status;
        if (!(value >= -1 && value <= TZ_CHANNEL_OUTLET && value == (int)value))
            return TZ_LINE_FAULT(line, error, TZ_FORMAT,
                                 "a cell is a wall (0, -1), coolant (1), inlet (2) or outlet "
                                 "(3), not %g",
                                 value);
        if (r->row < r->rows && column < r->columns) {
            const int kind = value > 0 ? (int)value : TZ_CHANNEL_WALL;
            r->cells[r->row * r->columns + column] = (char)kind;
            r->kinds[kind] = true;
        }
        column++;
    }
    if (column != r->columns)
        return TZ_LINE_FAULT(line, error, TZ_FORMAT, "has %lld cells, but grid_cols is %lld",
                             (long long)column, (long long)r->columns);
    r->row++;
    return TZ_OK;
}

tz_status tz_channels_read(const char *path, int64_t columns, int64_t rows, char *cells,
                           tz_error *error)
{
    channel_reader r = {.columns = columns, .rows = rows, .cells = cells};
    tz_status status = tz_lines_read(path, NULL, channel_line, &r, error);
    if (status == TZ_OK && r.row != rows)
        status = tz_error_set(error, TZ_FORMAT, path, "has %lld rows, but grid_rows is %lld",
                              (long long)r.row, (long long)rows);
    else if (status == TZ_OK && !(r.kinds[TZ_CHANNEL_INLET] && r.kinds[TZ_CHANNEL_OUTLET]))
        status = tz_error_set(error, TZ_FORMAT, path, "needs an inlet (2) and an outlet (3)");
    return status;
}
