/* tz.chip: a chip or a stack with its package as a simulation of the stencil `chip`. Registered by
 * module.c. */
#include "lua/api.h"
#include "lua/array.h"
#include "lua/chip_grid.h"
#include "lua/floorplan.h"
#include "lua/keys.h"
#include "lua/module.h"
#include "output/format/chip_files.h"

#include "base/paths.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char what[] = "tz.chip";

/* ---- What scripts say ------------------------------------------------------------------------ */

static const tz_key chiplet_keys[] = {
    {"flp", "file", NULL, "its floorplan"},
    {"ptrace", "file", "", "its trace"},
    {"x", "number", "0", "where it begins, m; it is moved to whole cells", .most = INFINITY},
    {"y", "number", "0", "the same, from the lower edge", .most = INFINITY},
    {"k", "number", "the layer's", "its conductivity, W/(m K)"},
    {"p", "number", "the layer's", "its heat capacity, J/(m³ K)"},
    {NULL, NULL, NULL, NULL}};

static const tz_key layer_keys[] = {
    {"name", "text", "`layer_N`", "before the names of its units in .steady files"},
    {"t", "number", NULL, "thickness, m"},
    {"k", "number", "air", "conductivity, W/(m K); air is only between chiplets"},
    {"p", "number", "air", "heat capacity, J/(m³ K)"},
    {"lateral", "boolean", "true", "heat flows within the layer, too"},
    {"flp", "file", "", "its floorplan, which fills the die"},
    {"channels", "file", "",
     "its channels: rows of 0 for walls, 1 for coolant, 2 for inlets, 3 for outlets"},
    {"ptrace", "file", "that of the chip", "its trace"},
    {"power", "boolean", "with `flp`", "it takes power from the trace"},
    {"chiplets", "list", "", "several floorplans side by side", .inner = chiplet_keys},
    {NULL, NULL, NULL, NULL}};

static TZ_KEY_NAMES(up_names, "down", "up") static TZ_KEY_NAMES(package_names, "cells", "nodes")
#define MAP_NAME(i) tz_map_modes[i]
    static TZ_KEY_NAMES_OF(map_names, MAP_NAME, TZ_MAP_MAX + 1)

        static const tz_key chip_options[] = {
            {"flp", "file", "", "floorplan of a single die, with its interface"},
            {"lcf", "file", "", "layers of a stack, from the bottom up, in place of `flp`"},
            {"layers", "list", "", "the same as a table", .inner = layer_keys},
            {"ptrace", "file", "", "power trace of all layers"},
            {"config", "file", "", "HotSpot's configuration; its numbers can be given here, too"},
            {"materials", "file", "", "materials that the other files name"},
            {"detailed_3D", "boolean", "false", "as HotSpot's option"},
            {"overlap", "number", "0", "the largest share of a unit that another one may cover",
             .most = TZ_OVERLAP_MAX},
            {"y", "text", "\"down\"",
             "%s: which edge row 0 is, as in `tz.simulation`, whose option follows", up_names},
            {"package", "text", "\"cells\"",
             "spreader and sink beside the die: %s, of which HotSpot has twelve", package_names},
            {"grid_map_mode", "text", "\"center\"",
             "what `tz.steady` and `tz.ttrace` write for a unit: %s of its cells", map_names},
#define ROW(NAME, VALUE, DOC) {#NAME, "number", #VALUE, DOC},
            TZ_PACKAGE_TABLE(ROW)
#undef ROW
                {NULL, NULL, NULL, NULL}};

static const tz_key chip_result[] = {
    {"simulation", "table", "",
     "options for `tz.simulation`: plugin, grid, params and fields, with the mean power; add "
     "others"},
    {"plans", "list of floorplans", "", "those of all layers from the bottom up"},
    {"powered", "list of floorplans", "", "those that take power"},
    {"samples", "integer", "", "rows of the trace"},
    {"box", "box", "", "where the die lies: `{ x = {low, high}, y = {low, high} }`"},
    {"sampling_intvl", "number", "", "time of a row of the trace, s"},
    {NULL, NULL, NULL, NULL}};

/* ---- A chip in the making -------------------------------------------------------------------- */

enum { PIECES_MAX = 256 };
/* No chip's ambient is as cold, but numbers in °C are. */
static const double COLD_K = 150;

typedef struct layer {
    char name[TZ_WORD_NAME_SIZE];
    double t, k, p, side; /* side 0: the die's */
    bool lateral;
    char *channels; /* owned; NULL: none */
} layer;

/* A floorplan in a layer. */
typedef struct piece {
    tz_floorplan_value *value; /* kept by the table of plans */
    char flp[PATH_MAX];
    int layer;
    double x, y, k, p; /* k 0: the layer's material */
    bool powered;
} piece;

typedef struct builder {
    lua_State *L;
    int plans; /* index of the table of plans */
    tz_package package;
    tz_materials materials;
    bool detailed;
    int nodes;   /* the package's, in place of cells */
    int rows_up; /* row 0 becomes the lower edge */
    double overlap;
    const char *ptrace; /* NULL: none */
    int layers_count, pieces_count;
    layer layers[TZ_CHIP_LAYERS_MAX + 2];
    piece pieces[PIECES_MAX];
    tz_chip_rows rows;
    tz_chip_grid grid;
} builder;

static int release(lua_State *L)
{
    builder *b = lua_touserdata(L, 1);
    tz_materials_clear(&b->materials);
    tz_chip_grid_clear(&b->grid);
    for (int i = 0; i < b->layers_count; i++)
        free(b->layers[i].channels);
    return 0;
}

static layer *add_layer(builder *b, const char *name, double t, double k, double p, double side)
{
    if (b->layers_count == TZ_CHIP_LAYERS_MAX + 2)
        tz_raise(b->L, "%s: more than %d layers", what, TZ_CHIP_LAYERS_MAX);
    layer *l = &b->layers[b->layers_count++];
    *l = (layer){.t = t, .k = k, .p = p, .side = side, .lateral = true};
    snprintf(l->name, sizeof l->name, "%s", name);
    return l;
}

/* Read a floorplan of the last layer; `ptrace` NULL: it takes no power. Paths are resolved. */
static piece *add_piece(builder *b, const char *flp, const char *ptrace)
{
    const tz_floorplan_place none = {.width_m = 0};
    if (b->pieces_count == PIECES_MAX)
        tz_raise(b->L, "%s: more than %d floorplans", what, PIECES_MAX);
    piece *p = &b->pieces[b->pieces_count++];
    *p = (piece){.layer = b->layers_count - 1, .powered = ptrace != NULL};
    snprintf(p->flp, sizeof p->flp, "%s", flp);
    p->value = tz_floorplan_push(b->L, what, flp, ptrace, b->overlap, &none);
    snprintf(p->value->prefix, sizeof p->value->prefix, "%s", b->layers[p->layer].name);
    lua_rawseti(b->L, b->plans, b->pieces_count);
    return p;
}

/* The spreader or the sink, with the floorplans of the nearest layer below that has some. */
static void add_sides(builder *b, const char *name, double t, double k, double p, double side)
{
    const int pieces = b->pieces_count, below = b->pieces[pieces - 1].layer;
    add_layer(b, name, t, k, p, side);
    for (int i = 0; i < pieces; i++)
        if (b->pieces[i].layer == below) {
            piece *added = add_piece(b, b->pieces[i].flp, NULL);
            added->x = b->pieces[i].x;
            added->y = b->pieces[i].y;
        }
}

/* The path of a key, resolved; false when it is absent. */
static bool get_path(lua_State *L, int index, const char *key, char path[PATH_MAX])
{
    const char *text;
    if (!tz_key_text(L, index, what, key, &text))
        return false;
    tz_path_resolve(L, text, path, PATH_MAX);
    return true;
}

/* A number above 0; the pump's resistance may be 0. */
static bool get_size(lua_State *L, int index, const char *key, double *out)
{
    double value;
    if (!tz_key_number(L, index, what, key, &value))
        return false;
    if (!(value > 0 || (value == 0 && strcmp(key, "pump_internal_res") == 0)))
        tz_raise(L, "%s: '%s' must be above 0, not %g", what, key, value);
    *out = value;
    return true;
}

/* Temperatures that are hardly meant: say so. */
static void check_kelvin(lua_State *L, const char *name, double value_k)
{
    if (value_k < COLD_K)
        tz_context_note(tz_context_get(L), TZ_NOTE_WARNING,
                        "%s: %s is %g K (%g °C): HotSpot's temperatures are in kelvin", what, name,
                        value_k, value_k - 273.15);
}

static void read_files(builder *b)
{
    lua_State *L = b->L;
    char path[PATH_MAX];
    b->package = tz_package_default();
    if (get_path(L, 1, "materials", path)) {
        tz_try(L, what, tz_materials_read(path, &b->materials, tz_fault(L)));
        tz_api_input(L, path);
    }
    if (get_path(L, 1, "config", path)) {
        tz_try(L, what, tz_package_read(path, &b->materials, &b->package, tz_fault(L)));
        tz_api_input(L, path);
    }
#define TAKE(NAME, VALUE, DOC) get_size(L, 1, #NAME, &b->package.NAME);
    TZ_PACKAGE_TABLE(TAKE)
#undef TAKE
    check_kelvin(L, "ambient", b->package.ambient);
    check_kelvin(L, "init_temp", b->package.init_temp);
    check_kelvin(L, "inlet_temperature", b->package.inlet_temperature);
    int map;
    if (tz_key_choice(L, 1, what, "grid_map_mode", &map))
        b->package.map_mode = (tz_map_mode)map;
    const double most = 1 << 14;
    if (!(b->package.grid_cols <= most && b->package.grid_rows <= most))
        tz_raise(L, "%s: 'grid_rows' and 'grid_cols' must be at most %g", what, most);
}

/* ---- Layers ---------------------------------------------------------------------------------- */

static void add_die(builder *b, const char *flp)
{
    const tz_package *p = &b->package;
    add_layer(b, "", p->t_chip, p->k_chip, p->p_chip, 0);
    add_piece(b, flp, b->ptrace);
    add_layer(b, "iface_", p->t_interface, p->k_interface, p->p_interface, 0);
    add_piece(b, flp, NULL);
}

/* Read the channels of the last layer, whose walls have their own material. */
static void add_channels(builder *b, const char *path)
{
    lua_State *L = b->L;
    const int64_t columns = (int64_t)b->package.grid_cols, rows = (int64_t)b->package.grid_rows;
    layer *l = &b->layers[b->layers_count - 1];
    l->channels = calloc((size_t)(columns * rows), 1);
    if (!l->channels)
        tz_raise(L, "%s: not enough memory for channels", what);
    tz_try(L, what, tz_channels_read(path, columns, rows, l->channels, tz_fault(L)));
    tz_api_input(L, path);
    l->k = 1 / b->package.wall_res;
    l->p = b->package.wall_capac;
}

/* Floorplans and channels that a .lcf names lie beside it. */
static void add_rows(builder *b, const char *lcf)
{
    lua_State *L = b->L;
    char folder[PATH_MAX], path[2 * PATH_MAX], name[TZ_WORD_NAME_SIZE];
    tz_try(L, what, tz_chip_rows_read(lcf, &b->materials, &b->rows, tz_fault(L)));
    tz_api_input(L, lcf);
    tz_path_folder(lcf, folder, sizeof folder);
    for (size_t i = 0; i < b->rows.count; i++) {
        const tz_chip_row *r = &b->rows.rows[i];
        snprintf(name, sizeof name, "layer_%zu_", i);
        add_layer(b, name, r->t_m, r->k_w_mk, r->p_j_m3k, 0)->lateral = r->lateral;
        snprintf(path, sizeof path, "%s%s%s", r->flp[0] == '/' ? "" : folder,
                 r->flp[0] == '/' ? "" : "/", r->flp);
        if (r->channels && r->powered)
            tz_raise(L, "%s: layer %zu of %.300s: channels take no power: N", what, i, lcf);
        if (r->channels) {
            add_channels(b, path);
            continue;
        }
        if (r->powered && !b->ptrace)
            tz_raise(L, "%s: layer %zu of %.300s takes power: give a 'ptrace'", what, i, lcf);
        add_piece(b, path, r->powered ? b->ptrace : NULL);
    }
}

static void add_chiplets(builder *b)
{
    lua_State *L = b->L;
    const int list = lua_gettop(L);
    char flp[PATH_MAX], ptrace[PATH_MAX];
    const size_t count = tz_list_check(L, what, "chiplets", "a list of tables");
    for (lua_Integer i = 1; i <= (lua_Integer)count; i++) {
        lua_rawgeti(L, list, i);
        const int one = lua_gettop(L);
        tz_options_check(L, one, what);
        tz_keys_take(L, one, what, chiplet_keys, false);
        if (!get_path(L, one, "flp", flp))
            tz_raise(L, "%s: a chiplet needs an 'flp'", what);
        piece *p = add_piece(b, flp, get_path(L, one, "ptrace", ptrace) ? ptrace : b->ptrace);
        tz_key_number(L, one, what, "x", &p->x);
        tz_key_number(L, one, what, "y", &p->y);
        if (!(p->x >= 0 && p->y >= 0))
            tz_raise(L, "%s: 'x' and 'y' of a chiplet must be at least 0", what);
        if (get_size(L, one, "k", &p->k) != get_size(L, one, "p", &p->p))
            tz_raise(L, "%s: 'k' and 'p' of a chiplet go together", what);
        lua_settop(L, list);
    }
}

static void add_table(builder *b, int table, lua_Integer number)
{
    lua_State *L = b->L;
    char name[TZ_WORD_NAME_SIZE], flp[PATH_MAX], ptrace[PATH_MAX];
    double t = 0, k = 0, p = 0;
    tz_options_check(L, table, what);
    tz_keys_take(L, table, what, layer_keys, false);
    snprintf(name, sizeof name, "layer_%lld", (long long)number - 1);
    tz_key_copy(L, table, what, "name", name, sizeof name - 1);
    strcat(name, "_");
    if (!get_size(L, table, "t", &t))
        tz_raise(L, "%s: layer %lld needs a thickness, 't'", what, (long long)number);
    if (get_size(L, table, "k", &k) != get_size(L, table, "p", &p))
        tz_raise(L, "%s: 'k' and 'p' of layer %lld go together", what, (long long)number);
    tz_key_flag(L, table, what, "lateral", &add_layer(b, name, t, k, p, 0)->lateral);
    const bool planned = get_path(L, table, "flp", flp);
    const bool own = get_path(L, table, "ptrace", ptrace);
    bool power = planned && (own || b->ptrace);
    tz_key_flag(L, table, what, "power", &power);
    if (power && (!planned || !(own || b->ptrace)))
        tz_raise(L, "%s: layer %lld takes power: give an 'flp' and a 'ptrace'", what,
                 (long long)number);
    if (planned)
        add_piece(b, flp, !power ? NULL : own ? ptrace : b->ptrace);
    const bool several = tz_table_get(L, table, "chiplets") != LUA_TNIL;
    if (several && planned)
        tz_raise(L, "%s: give layer %lld 'flp' or 'chiplets', not both", what, (long long)number);
    const bool cooled = get_path(L, table, "channels", flp);
    if (cooled && (planned || several || k > 0))
        tz_raise(L, "%s: 'channels' of layer %lld are in place of 'flp', 'chiplets', 'k' and 'p'",
                 what, (long long)number);
    if (cooled)
        add_channels(b, flp);
    else if (!several && k == 0)
        tz_raise(L, "%s: layer %lld needs 'k' and 'p', its conductivity and heat capacity", what,
                 (long long)number);
    if (several)
        add_chiplets(b);
    lua_pop(L, 1);
}

static void add_layers(builder *b)
{
    lua_State *L = b->L;
    char flp[PATH_MAX], lcf[PATH_MAX];
    const bool listed = tz_table_get(L, 1, "layers") != LUA_TNIL;
    const int list = lua_gettop(L);
    const bool single = get_path(L, 1, "flp", flp), rows = get_path(L, 1, "lcf", lcf);
    if (single + rows + listed != 1)
        tz_raise(L, "%s: needs one of 'flp', 'lcf' and 'layers'", what);
    if (single) {
        if (!b->ptrace)
            tz_raise(L, "%s: needs a 'ptrace', the power of the units", what);
        add_die(b, flp);
    } else if (rows) {
        add_rows(b, lcf);
    } else {
        const size_t count = tz_list_check(L, what, "layers", "a list of tables");
        for (lua_Integer i = 1; i <= (lua_Integer)count; i++) {
            lua_rawgeti(L, list, i);
            add_table(b, lua_gettop(L), i);
            lua_settop(L, list);
        }
    }
    lua_pop(L, 1);
    const tz_package *p = &b->package;
    if (b->pieces_count == 0)
        tz_raise(L, "%s: no layer has a floorplan", what);
    add_sides(b, "hsp_", p->t_spreader, p->k_spreader, p->p_spreader, p->s_spreader);
    add_sides(b, "hsink_", p->t_sink, p->k_sink, p->p_sink, p->s_sink);
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* The die is what all floorplans reach over. One that does not lie at a place fills it. */
static void place_pieces(builder *b, tz_chip *chip)
{
    lua_State *L = b->L;
    for (int i = 0; i < b->pieces_count; i++) {
        const piece *p = &b->pieces[i];
        chip->width_m = fmax(chip->width_m, p->x + p->value->plan.width_m);
        chip->height_m = fmax(chip->height_m, p->y + p->value->plan.height_m);
    }
    const double sides[] = {b->package.s_spreader, b->package.s_sink};
    if (fmax(chip->width_m, chip->height_m) > fmin(sides[0], sides[1]) || sides[0] > sides[1])
        tz_raise(
            L,
            "%s: the die of %g m x %g m must fit on the spreader of %g m, and that on the sink "
            "of %g m%s",
            what, chip->width_m, chip->height_m, sides[0], sides[1],
            chip->width_m > 1 ? ": are the floorplan's numbers in mm?" : "");
    if (chip->nodes && !(fmax(chip->width_m, chip->height_m) < sides[0] && sides[0] < sides[1]))
        tz_raise(L,
                 "%s: package = \"nodes\" needs a spreader larger than the die, and a sink larger "
                 "than the spreader",
                 what);
    for (int i = 0; i < b->pieces_count; i++) {
        const piece *p = &b->pieces[i];
        const tz_floorplan *plan = &p->value->plan;
        tz_floorplan_place *place = &p->value->place;
        const double across = (double)chip->cells[0] / chip->width_m;
        const double down = (double)chip->cells[1] / chip->height_m;
        const double top = chip->height_m - p->y - plan->height_m;
        const double from[] = {p->x * across, top * down};
        const double to[] = {(p->x + plan->width_m) * across, (top + plan->height_m) * down};
        *place = (tz_floorplan_place){
            plan->width_m, plan->height_m, {{0}, {0}}, true, b->package.map_mode};
        for (int axis = 0; axis < 2; axis++) {
            place->box.low[axis] = llround(from[axis]);
            place->box.high[axis] = llround(to[axis]);
            if (place->box.low[axis] >= place->box.high[axis])
                tz_raise(L, "%s: the floorplan %.300s is smaller than a cell: use more cells", what,
                         plan->path);
        }
        place->box.low[2] = p->layer;
        place->box.high[2] = p->layer + 1;
    }
}

/* Units of several layers may have one name: then they are in the order of layers, as HotSpot has
 * them. */
static void place_columns(builder *b)
{
    size_t first = 0;
    for (int i = 0; i < b->pieces_count; i++) {
        tz_floorplan_value *value = b->pieces[i].value;
        if (!b->pieces[i].powered || !value->trace.repeats)
            continue;
        if (first + value->plan.unit_count > value->trace.unit_count)
            tz_raise(b->L, "%s: %.300s has %zu units, and the powered layers have more", what,
                     value->trace.path, value->trace.unit_count);
        value->first = first;
        value->columns = value->plan.unit_count;
        first += value->columns;
    }
}

/* Whether a powered floorplan of the trace at `path` has that unit. */
static bool is_powered(const builder *b, const char *path, const char *name)
{
    for (int i = 0; i < b->pieces_count; i++) {
        const tz_floorplan_value *value = b->pieces[i].value;
        if (!b->pieces[i].powered || strcmp(value->trace.path, path) != 0)
            continue;
        for (size_t u = 0; u < value->plan.unit_count; u++)
            if (strcmp(value->plan.units[u].name, name) == 0)
                return true;
    }
    return false;
}

/* Say which columns of a trace are no unit's: their power is nowhere. */
static void check_columns(const builder *b)
{
    const char *last = "";
    for (int i = 0; i < b->pieces_count; i++) {
        const tz_ptrace *trace = &b->pieces[i].value->trace;
        if (!b->pieces[i].powered || strcmp(trace->path, last) == 0)
            continue;
        last = trace->path;
        size_t lost = 0, first = 0;
        for (size_t u = trace->unit_count; u-- > 0;)
            if (!is_powered(b, trace->path, trace->names[u])) {
                lost++;
                first = u;
            }
        if (lost > 0)
            tz_context_note(tz_context_get(b->L), TZ_NOTE_WARNING,
                            "%s: %.300s: '%s'%s in no floorplan; its power is left out", what,
                            trace->path, trace->names[first],
                            lost > 1 ? " and other units are" : " is");
    }
}

/* The rectangle of a box of the die's cells. */
static tz_chip_part part_of(const tz_chip *chip, const tz_box *box)
{
    const double w = chip->width_m / (double)chip->cells[0];
    const double h = chip->height_m / (double)chip->cells[1];
    return (tz_chip_part){.left_m = (double)box->low[0] * w,
                          .right_m = (double)box->high[0] * w,
                          .top_m = chip->height_m - (double)box->low[1] * h,
                          .bottom_m = chip->height_m - (double)box->high[1] * h};
}

/* Add the materials of a floorplan: its own, or those of its units. Returns how many. */
static size_t add_parts(const builder *b, const tz_chip *chip, const piece *p, tz_chip_part *out)
{
    const tz_floorplan *plan = &p->value->plan;
    const layer *l = &b->layers[p->layer];
    const tz_chip_part whole = part_of(chip, &p->value->place.box);
    const double k = p->k > 0 ? p->k : l->k, heat = p->k > 0 ? p->p : l->p;
    const double across = (whole.right_m - whole.left_m) / plan->width_m;
    const double up = (whole.top_m - whole.bottom_m) / plan->height_m;
    bool differ = false;
    for (size_t i = 0; i < plan->unit_count && b->detailed && l->side == 0; i++)
        differ = differ || plan->units[i].resistivity_mk_w > 0 || plan->units[i].heat_j_m3k > 0;
    if (!differ && p->k == 0)
        return 0;
    out[0] = whole;
    out[0].k_w_mk = k;
    out[0].p_j_m3k = heat;
    for (size_t i = 0; i < plan->unit_count && differ; i++) {
        const tz_floorplan_unit *u = &plan->units[i];
        out[i] = (tz_chip_part){.left_m = whole.left_m + across * u->left_m,
                                .right_m = whole.left_m + across * (u->left_m + u->width_m),
                                .bottom_m = whole.bottom_m + up * u->bottom_m,
                                .top_m = whole.bottom_m + up * (u->bottom_m + u->height_m),
                                .k_w_mk = u->resistivity_mk_w > 0 ? 1 / u->resistivity_mk_w : k,
                                .p_j_m3k = u->heat_j_m3k > 0 ? u->heat_j_m3k : heat};
    }
    return differ ? plan->unit_count : 1;
}

/* Fill in the layers; their parts are on the Lua stack. */
static void make_layers(builder *b, tz_chip *chip, tz_chip_layer *layers)
{
    size_t most = (size_t)b->layers_count;
    for (int i = 0; i < b->pieces_count; i++)
        most += b->pieces[i].value->plan.unit_count + 1;
    tz_chip_part *next = lua_newuserdatauv(b->L, most * sizeof *next, 0);
    for (int i = 0; i < b->layers_count; i++) {
        const layer *l = &b->layers[i];
        const double x = l->side > 0 ? 0.5 * (l->side - chip->width_m) : 0;
        const double y = l->side > 0 ? 0.5 * (l->side - chip->height_m) : 0;
        layers[i] = (tz_chip_layer){
            .t_m = l->t, .lateral = l->lateral, .parts = next, .channels = l->channels};
        *next++ = (tz_chip_part){-x, -y, chip->width_m + x, chip->height_m + y, l->k, l->p};
        for (int j = 0; j < b->pieces_count; j++)
            if (b->pieces[j].layer == i)
                next += add_parts(b, chip, &b->pieces[j], next);
        layers[i].parts_count = (size_t)(next - layers[i].parts);
    }
    chip->layers = layers;
    chip->layers_count = b->layers_count;
}

/* ---- The result ------------------------------------------------------------------------------ */

/* Push an array of the grid as the key of the table below it. */
static tz_array *push_field(builder *b, const char *name)
{
    tz_array *array = NULL;
    tz_array_handle *handle = tz_array_push(b->L, what);
    handle->rows = b->rows_up ? TZ_ROWS_UP : TZ_ROWS_DOWN;
    tz_try(b->L, what, tz_array_create(&array, TZ_DTYPE_F64, 3, b->grid.extent, tz_fault(b->L)));
    tz_array_own(handle, array);
    lua_setfield(b->L, -2, name);
    return array;
}

/* Turn the rows of a field, or what lies between a row and the next one. */
static void turn_rows(tz_array *array, bool between)
{
    const int64_t nx = array->shape[0], ny = array->shape[1];
    tz_array_turn_rows(array);
    for (int64_t z = 0; between && z < array->shape[2]; z++) {
        double *plane = (double *)array->data + z * nx * ny;
        memmove(plane, plane + nx, (size_t)((ny - 1) * nx) * sizeof *plane);
        memset(plane + (ny - 1) * nx, 0, (size_t)nx * sizeof *plane);
    }
}

static void add_power(builder *b, const piece *p, double *power)
{
    lua_State *L = b->L;
    const tz_floorplan_value *value = p->value;
    const tz_box *box = &value->place.box;
    const int64_t nx = box->high[0] - box->low[0], ny = box->high[1] - box->low[1];
    tz_array_handle *map = tz_array_push(L, what);
    tz_array *array = NULL;
    double *powers_w = lua_newuserdatauv(L, value->plan.unit_count * sizeof *powers_w, 0);
    tz_floorplan_powers(L, what, value, powers_w);
    tz_try(L, what,
           tz_floorplan_rasterise_rows(&value->plan, powers_w, nx, ny, value->place.width_m,
                                       value->place.height_m, 0, ny, &array, tz_fault(L)));
    tz_array_own(map, array);
    const double *cells = array->data;
    const int64_t *extent = b->grid.extent;
    for (int64_t y = 0; y < ny; y++)
        for (int64_t x = 0; x < nx; x++)
            power[(box->low[2] * extent[1] + box->low[1] + y) * extent[0] + box->low[0] + x] +=
                cells[y * nx + x];
    lua_pop(L, 2);
}

/* Push the table of fields. Returns the largest stable step. */
static double push_fields(builder *b, const tz_chip *chip)
{
    static const char *const names[TZ_CHIP_FIELDS] = {
        "conductance_x", "conductance_y", "conductance_z", "convection",
        "warming",       "flow_x",        "flow_y",        "inlet"};
    lua_State *L = b->L;
    tz_array *arrays[TZ_CHIP_FIELDS + 2];
    double *fields[TZ_CHIP_FIELDS], dt_s = 0;
    const size_t cells = (size_t)(b->grid.extent[0] * b->grid.extent[1] * b->grid.extent[2]);
    char *air = lua_newuserdatauv(L, cells, 0);
    lua_createtable(L, 0, TZ_CHIP_FIELDS + 2);
    for (int i = 0; i < TZ_CHIP_FIELDS; i++) {
        arrays[i] = push_field(b, names[i]);
        fields[i] = arrays[i]->data;
    }
    tz_try(L, what, tz_chip_fill(chip, &b->grid, fields, air, &dt_s, tz_fault(L)));
    tz_array *const start = arrays[TZ_CHIP_FIELDS] = push_field(b, "temperature");
    for (size_t i = 0; i < cells; i++)
        ((double *)start->data)[i] = air[i] ? b->package.ambient : b->package.init_temp;
    tz_array *const power = arrays[TZ_CHIP_FIELDS + 1] = push_field(b, "power");
    for (int i = 0; i < b->pieces_count; i++)
        if (b->pieces[i].powered)
            add_power(b, &b->pieces[i], power->data);
    for (int i = 0; i < TZ_CHIP_FIELDS + 2 && b->rows_up; i++)
        turn_rows(arrays[i], i == TZ_CHIP_CONDUCTANCE_Y || i == TZ_CHIP_FLOW_Y);
    double *down = arrays[TZ_CHIP_FLOW_Y]->data;
    for (size_t i = 0; i < cells && b->rows_up; i++)
        down[i] = -down[i];
    lua_remove(L, -2);
    return dt_s;
}

static void push_simulation(builder *b, const tz_chip *chip)
{
    lua_State *L = b->L;
    lua_createtable(L, 0, 5);
    tz_set_text(L, "plugin", "chip");
    tz_set_text(L, "y", up_names(b->rows_up));
    tz_push_integers(L, 3, b->grid.extent);
    lua_setfield(L, -2, "grid");
    const double dt_s = push_fields(b, chip);
    lua_setfield(L, -2, "fields");
    lua_createtable(L, 0, 3);
    tz_set_number(L, "ambient_k", b->package.ambient);
    tz_set_number(L, "inlet_k", b->package.inlet_temperature);
    tz_set_number(L, "dt_s", 0.9 * dt_s);
    lua_setfield(L, -2, "params");
}

/* Push {x = {low, high}, y = …} of the die. */
static void push_box(lua_State *L, const tz_chip_grid *grid, const tz_chip *chip)
{
    lua_createtable(L, 0, 2);
    for (int axis = 0; axis < 2; axis++) {
        const int64_t pair[] = {grid->low[axis], grid->low[axis] + chip->cells[axis]};
        tz_push_integers(L, 2, pair);
        lua_setfield(L, -2, axis == 0 ? "x" : "y");
    }
}

static void push_result(builder *b, const tz_chip *chip)
{
    lua_State *L = b->L;
    size_t samples = 0;
    lua_createtable(L, 0, 6);
    push_simulation(b, chip);
    lua_setfield(L, -2, "simulation");
    const int64_t ny = b->grid.extent[1];
    for (int i = 0; i < b->pieces_count && b->rows_up; i++) {
        tz_box *box = &b->pieces[i].value->place.box;
        const int64_t low = box->low[1];
        box->low[1] = ny - box->high[1];
        box->high[1] = ny - low;
    }
    if (b->rows_up)
        b->grid.low[1] = ny - b->grid.low[1] - chip->cells[1];
    lua_newtable(L);
    for (int i = 0; i < b->pieces_count; i++) {
        if (!b->pieces[i].powered)
            continue;
        samples = b->pieces[i].value->trace.sample_count;
        lua_rawgeti(L, b->plans, i + 1);
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    }
    if (samples == 0 && b->ptrace)
        tz_raise(L, "%s: no layer takes power, so 'ptrace' does nothing", what);
    lua_setfield(L, -2, "powered");
    lua_pushvalue(L, b->plans);
    lua_setfield(L, -2, "plans");
    push_box(L, &b->grid, chip);
    lua_setfield(L, -2, "box");
    tz_set_integer(L, "samples", (int64_t)samples);
    tz_set_number(L, "sampling_intvl", b->package.sampling_intvl);
}

static int value_chip(lua_State *L)
{
    char ptrace[PATH_MAX];
    tz_options_take(L, what, chip_options, "{ flp = \"FILE.flp\", ptrace = \"FILE.ptrace\" }");
    builder *b = tz_push_owned(L, sizeof *b, release);
    b->L = L;
    lua_newtable(L);
    b->plans = lua_gettop(L);
    tz_key_flag(L, 1, what, "detailed_3D", &b->detailed);
    tz_key_choice(L, 1, what, "y", &b->rows_up);
    tz_key_choice(L, 1, what, "package", &b->nodes);
    tz_key_number(L, 1, what, "overlap", &b->overlap);
    b->ptrace = get_path(L, 1, "ptrace", ptrace) ? ptrace : NULL;
    read_files(b);
    add_layers(b);
    const tz_package *p = &b->package;
    tz_chip chip = {.cells = {(int64_t)p->grid_cols, (int64_t)p->grid_rows},
                    .package = p,
                    .detailed = b->detailed,
                    .nodes = b->nodes == 1};
    tz_chip_layer layers[TZ_CHIP_LAYERS_MAX + 2];
    place_pieces(b, &chip);
    place_columns(b);
    check_columns(b);
    make_layers(b, &chip, layers);
    tz_try(L, what, tz_chip_grid_make(&chip, &b->grid, tz_fault(L)));
    for (int i = 0; i < b->pieces_count; i++)
        for (int axis = 0; axis < 2; axis++) {
            b->pieces[i].value->place.box.low[axis] += b->grid.low[axis];
            b->pieces[i].value->place.box.high[axis] += b->grid.low[axis];
        }
    push_result(b, &chip);
    return 1;
}

const tz_api_function tz_chip_functions[] = {
    TZ_API("tz.chip(options)", value_chip,
           "A chip or a stack of chips with interface, spreader, sink and convection, from "
           "HotSpot's files or a table of layers ([chips.md](chips.md)): `tz.simulation(tz.chip { "
           "… }.simulation)`. The die has `grid_cols` x `grid_rows` cells; around it, up to the "
           "sink's sides, cells grow. A layer is a plane of cells, the sink is the last one.",
           .options = chip_options, .recall = TZ_RECALL_CALL, .result = chip_result),
    TZ_API_END};
