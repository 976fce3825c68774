/* The stream family in 3-D: planes pass through registers (kernels/cuda/planes.cuh).
 *
 * A plan's tile is the part that a block stores: tile[0] columns, tile[1] rows, and a chunk of
 * tile[2] planes. A block holds lanes*vector columns and 32/lanes*warps*R rows, R being the rows of
 * a lane. On each side it loses the height's reach; for columns, the reach is rounded up to a
 * vector. So tile[1] determines R. Planes are fetched `ahead` steps before they are needed. A chunk
 * of 0 is chosen at launch. */
#include "backend/cuda/family/family.h"
#include "backend/cuda/family/planes/scheme.h"
#include "model/constants.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Plans ----------------------------------------------------------------------------------- */

/* `slack`: by how many registers the estimate may exceed those of a thread. */
static bool fits(const planes_scheme *s, const tz_limits *limits, const tz_plan *plan, int slack)
{
    const int blocks = plan->blocks > 0 ? plan->blocks : 1;
    return s->shared_bytes * blocks <= limits->shared_bytes &&
           s->registers <= planes_registers_max(s->warps * blocks) + slack;
}

/* Useful rows of a tile whose lanes have `rows` rows each. Not positive: no tile has them. */
static int64_t useful_rows(const tz_problem *problem, const tz_plan *plan, int rows)
{
    const tz_reach ghost = planes_ghost(problem, 1, plan->height);
    return 32 / planes_lanes_of(plan) * (int64_t)plan->warps * rows - ghost.low[1] - ghost.high[1];
}

static int64_t useful_columns(const tz_problem *problem, const tz_plan *plan, int vector)
{
    const tz_reach ghost = planes_ghost(problem, vector, plan->height);
    return planes_lanes_of(plan) * (int64_t)vector - ghost.low[0] - ghost.high[0];
}

static tz_status check_numbers(const tz_problem *problem, const tz_plan *plan, tz_error *error)
{
    if (plan->vector != 0 && plan->vector != 1 && plan->vector != 2 && plan->vector != 4)
        return tz_error_set(error, TZ_RANGE, "vector", "vector is %d; use 1, 2 or 4", plan->vector);
    if (plan->vector > 0 && plan->vector < tz_cuda_vector_least(problem))
        return tz_error_set(error, TZ_RANGE, "vector",
                            "'vector' is %d: lanes move 4 bytes at least, two halves",
                            plan->vector);
    if (plan->ahead < 0 || plan->ahead > 8)
        return tz_error_set(error, TZ_RANGE, "ahead", "ahead is %d; use 1 to 8", plan->ahead);
    if (plan->warps < 0 || plan->warps > 32)
        return tz_error_set(error, TZ_RANGE, "warps", "warps is %d; use 1 to 32", plan->warps);
    if (plan->lanes != 0 && plan->lanes != 16 && plan->lanes != 32)
        return tz_error_set(error, TZ_RANGE, "lanes", "lanes is %d; use 16 or 32", plan->lanes);
    if (plan->blocks < 0 || plan->blocks > 16)
        return tz_error_set(error, TZ_RANGE, "blocks", "blocks is %d; use 1 to 16", plan->blocks);
    return TZ_OK;
}

enum { ROWS_MAX = 8 };

/* Tiles of so many lanes a row that cover a plane of the grid; 0: no tile is large enough. */
static int64_t count_tiles(const tz_problem *problem, const tz_plan *plan, int lanes, int rows)
{
    tz_plan trial = *plan;
    trial.lanes = lanes;
    const int64_t columns = useful_columns(problem, &trial, trial.vector);
    const int64_t high = useful_rows(problem, &trial, rows);
    return columns < 1 || high < 1 ? 0
                                   : (problem->elements[0] + columns - 1) / columns *
                                         ((problem->elements[1] + high - 1) / high);
}

/* Lanes of a row, by which fewer tiles cover the grid. Tiles of fewer columns than 64 are not worth
 * it. */
static int choose_lanes(const tz_problem *problem, const tz_plan *given, const tz_plan *plan,
                        int rows)
{
    if (given->lanes > 0 || given->tile[0] > 0 || given->tile[1] > 0 || problem->bits ||
        plan->vector < 4 || planes_is_wide(problem))
        return planes_lanes_of(given);
    const int64_t square = count_tiles(problem, plan, 16, rows);
    const int64_t wide = count_tiles(problem, plan, 32, rows);
    return square > 0 && (wide == 0 || square < wide) ? 16 : 32;
}

/* Completes a plan that has a height. The requested columns, or else those of the grid, give the
 * vector; the requested rows, or else `rows`, give the rows of a lane. False: no tile is large
 * enough. */
static bool complete(const tz_problem *problem, const tz_plan *given, int rows, tz_plan *plan)
{
    int64_t columns = given->tile[0] ? given->tile[0] : problem->elements[0];
    const int words =
        (planes_is_wide(problem) ? 2 : 1) * (problem->stencil->fields_count > 1 ? 2 : 1);
    if (plan->vector == 0) {
        plan->vector = tz_cuda_vector_least(problem);
        while (plan->vector < 4 && useful_columns(problem, plan, plan->vector) < columns)
            plan->vector *= 2;
        /* More than 16 bytes of all fields only if necessary. */
        while (plan->vector * words > 4 && given->tile[0] == 0 &&
               useful_columns(problem, plan, plan->vector / 2) > 0)
            plan->vector /= 2;
    }
    const int64_t high = given->tile[1] ? given->tile[1] : 1;
    if (given->tile[1] > 0)
        rows = 1;
    else if (problem->bits)
        rows = plan->vector == 1 ? 4 : 2;
    plan->lanes = choose_lanes(problem, given, plan, rows);
    columns = useful_columns(problem, plan, plan->vector);
    while (rows < ROWS_MAX && useful_rows(problem, plan, rows) < high)
        rows++;
    if (columns < (given->tile[0] ? given->tile[0] : 1) || useful_rows(problem, plan, rows) < high)
        return false;
    plan->tile[0] = columns < problem->elements[0] ? columns : problem->elements[0];
    plan->tile[1] = useful_rows(problem, plan, rows);
    if (plan->tile[1] > problem->elements[1])
        plan->tile[1] = problem->elements[1];
    return true;
}

/* A block to try: its warps, the rows of a lane, by how many registers the estimate may exceed
 * those of a thread, and whether lanes may have fewer columns than is usual for the problem. */
typedef struct block {
    int warps, rows, slack;
    bool narrower;
} block;

/* Has a block of eight warps too little work? Each scheduler has two of them, and a lane's cells
 * are all that it can compute while it waits. */
static bool is_idle(const planes_scheme *s, block of)
{
    enum { CELLS_MIN = 8 };
    return of.slack == TZ_FIT_PLANES_SPARE && s->warps <= 8 && s->vector * s->rows < CELLS_MIN;
}

/* Would code of borders spill many registers of a block that has none to spare otherwise? Where the
 * grid's edge runs between two rows of a lane, that code also reads the lane's own rows from shared
 * memory. From: NVRTC's allocation of the 3-D stencils of the plugins. */
static bool spills_at_borders(const tz_problem *problem, const planes_scheme *s, block of)
{
    const int cell = planes_is_wide(problem) ? 4 : 1; /* registers */
    return of.slack == TZ_FIT_PLANES_SPARE && planes_straddles(s, problem) &&
           s->registers + s->vector * s->rows * cell >
               planes_registers_max(s->warps) + TZ_FIT_PLANES_SPARE;
}

/* Completes *plan for a height and a block; *spare: planes that its rings have room for. */
static bool possible(const tz_problem *problem, const tz_limits *limits, const tz_plan *given,
                     tz_plan *plan, int height, block of, int *spare)
{
    tz_plan trial = *plan;
    trial.height = height;
    trial.warps = of.warps;
    while (complete(problem, given, of.rows, &trial)) {
        planes_scheme *scheme = planes_scheme_make(problem, limits, &trial);
        const bool good = scheme && fits(scheme, limits, &trial, of.slack) &&
                          !is_idle(scheme, of) &&
                          (given->warps > 0 || !spills_at_borders(problem, scheme, of));
        *spare = good ? planes_spare(scheme) : 0;
        free(scheme);
        if (good)
            *plan = trial;
        if (good || !scheme)
            return good;
        /* Fewer columns, unless they were requested. */
        if (!of.narrower || given->vector > 0 || given->tile[0] > 0 ||
            trial.vector == tz_cuda_vector_least(problem))
            return false;
        const int vector = trial.vector / 2;
        trial = *plan;
        trial.height = height;
        trial.warps = of.warps;
        trial.vector = vector;
    }
    return false;
}

enum { BLOCKS_MAX = 12 };

/* The blocks to try, the best ones first. For a cell, lanes with more rows read and write fewer
 * rows of shared memory: with one field, blocks of fewer warps with such lanes were faster, if they
 * spill no registers. `any`: also blocks whose registers are spilt, and of fewer warps, which many
 * fields need. */
static int list_blocks(const tz_problem *problem, const tz_plan *given, bool any,
                       block blocks[BLOCKS_MAX])
{
    static const block usual[] = {{12, 3, TZ_FIT_PLANES_SPARE, false},
                                  {8, 4, TZ_FIT_PLANES_SPARE, false},
                                  {PLANES_WARPS, 2, TZ_FIT_PLANES_BORDERS, false},
                                  {8, 3, TZ_FIT_PLANES_SPARE, false}};
    const bool one = problem->stencil->fields_count == 1 && !problem->bits;
    int count = 0;
    if (given->warps > 0 && one)
        for (int rows = given->warps <= 8 ? 4 : given->warps <= 12 ? 3 : 2; rows > 2; rows--)
            blocks[count++] = (block){given->warps, rows, TZ_FIT_PLANES_SPARE, false};
    if (given->warps == 0 && one)
        for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
            blocks[count++] = usual[k];
    for (int warps = given->warps > 0 ? given->warps
                     : problem->bits  ? 12
                                      : PLANES_WARPS;
         ; warps /= 2) {
        blocks[count++] = (block){warps, 2, TZ_FIT_PLANES_BORDERS, true};
        if (!any)
            return count;
        blocks[count++] = (block){warps, 2, TZ_FIT_PLANES_REQUESTED, true};
        if (given->warps > 0 || warps <= 4)
            return count;
    }
}

/* Completes *plan for a height with the first possible block. */
static bool choose_block(const tz_problem *problem, const tz_limits *limits, const tz_plan *given,
                         tz_plan *plan, int height, bool any, int *spare)
{
    block blocks[BLOCKS_MAX];
    const int count = list_blocks(problem, given, any, blocks);
    for (int k = 0; k < count; k++)
        if (possible(problem, limits, given, plan, height, blocks[k], spare))
            return true;
    return false;
}

/* Memory limits stars. If cells read corners, arithmetic becomes the limit at a lower height. */
static int usual_height(const tz_problem *problem)
{
    const int reach = tz_stencil_reach(problem->stencil);
    bool corners = problem->bits;
    for (int p = 0; p < problem->stencil->passes_count; p++)
        corners = corners || planes_corners(problem, &problem->stencil->passes[p]);
    const int height = (corners ? 2 : 4) / (reach > 0 ? reach : 1);
    return height > 0 ? height : 1;
}

/* Chooses how many planes to fetch ahead: as many as the rings have room for, and at least two,
 * since planes take longer to arrive than a step. But not if fields then no longer fit in shared
 * memory, nor of bits, whose steps are long. */
static void fetch_earlier(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                          int spare)
{
    tz_plan more = *plan;
    more.ahead = 2;
    if (spare == 0 && !problem->bits && planes_keeps_fields(problem, limits, plan, &more)) {
        planes_scheme *s = planes_scheme_make(problem, limits, &more);
        spare = s && fits(s, limits, &more, TZ_FIT_PLANES_REQUESTED) ? 1 + planes_spare(s) : 0;
        free(s);
    }
    plan->ahead += spare;
}

static tz_status planes_plan(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                             tz_error *error)
{
    const tz_plan given = *plan;
    int spare = 0;
    tz_status status = check_numbers(problem, plan, error);
    if (status)
        return status;
    if (problem->bits && plan->lanes == 16)
        return tz_error_set(error, TZ_UNSUPPORTED, "lanes",
                            "rows of bits take 32 lanes of a warp: leave 'lanes' out");
    if (plan->ahead == 0)
        plan->ahead = 1;
    if (plan->tile[2] > problem->elements[2])
        plan->tile[2] = problem->elements[2];
    int height = plan->height;
    if (height == 0) {
        height = usual_height(problem);
        while (height > 1 && !choose_block(problem, limits, &given, plan, height, false, &spare))
            height--;
    }
    if (!choose_block(problem, limits, &given, plan, height, true, &spare)) {
        const int warps = given.warps > 0 ? given.warps : problem->bits ? 12 : PLANES_WARPS;
        int lower = height;
        do
            lower--;
        while (lower > 0 && !choose_block(problem, limits, &given, plan, lower, true, &spare));
        if (lower > 0)
            return tz_error_set(error, TZ_RANGE, "height",
                                "planes of this tile at height %d need more registers or shared "
                                "memory than a block of %d warps has: use a height up to %d",
                                height, warps, lower);
        return tz_error_set(error, TZ_RANGE, "tile",
                            "no block of %d warps holds planes of this tile with their ghost zone: "
                            "use a smaller one, fewer warps, or the family 'tile'",
                            warps);
    }
    if (given.ahead == 0)
        fetch_earlier(problem, limits, plan, spare);
    return TZ_OK;
}

static int planes_shared_bytes(const tz_problem *problem, const tz_limits *limits,
                               const tz_plan *plan)
{
    planes_scheme *s = planes_scheme_make(problem, limits, plan);
    const int bytes = s ? (int)s->shared_bytes : 0;
    free(s);
    return bytes;
}

static tz_status planes_shape(const tz_problem *problem, const tz_limits *limits,
                              const tz_plan *plan, int blocks_each, int64_t length,
                              tz_cuda_shape *shape, tz_error *error)
{
    planes_scheme *s = planes_scheme_make(problem, limits, plan);
    if (!s)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to lay out a kernel");
    const int64_t wide = s->lanes * s->vector - s->ghost.low[0] - s->ghost.high[0];
    const int64_t high = s->groups * s->rows - s->ghost.low[1] - s->ghost.high[1];
    const int64_t tiles_x = (problem->elements[0] + wide - 1) / wide;
    const int64_t tiles_y = (problem->elements[1] + high - 1) / high;
    const int64_t each = blocks_each > 0 ? blocks_each : 1;
    int64_t chunk = plan->tile[2];
    if (chunk == 0)
        chunk = tz_cuda_choose_chunk(length, tiles_x * tiles_y, each * limits->multiprocessors,
                                     s->ghost.low[2] + s->lag, s->group);
    if (chunk > length)
        chunk = length;
    const int64_t blocks = tiles_x * tiles_y * ((length + chunk - 1) / chunk);
    *shape = (tz_cuda_shape){
        .grid = {(int)blocks, 1, 1},
        .threads = 32 * s->warps,
        .shared_bytes = (int)s->shared_bytes,
        .geometry = {(int)chunk, (int)tiles_x, (int)tiles_y},
    };
    free(s);
    if (blocks > INT32_MAX)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "%" PRId64 " tiles and chunks are more than a GPU takes: use larger "
                            "ones",
                            blocks);
    return TZ_OK;
}

/* ---- The device text ------------------------------------------------------------------------ */

static const char *type_of(const tz_problem *problem, int field)
{
    return tz_type_keyword(problem->stencil->fields[field].type);
}

static const char *name_of(const tz_problem *problem, int field)
{
    return tz_text_field(problem->stencil, field);
}

/* How a text reads a field. */
static const char *kind_of(const planes_scheme *s, int field)
{
    return s->carried >> field & 1 ? "carried" : s->ringed >> field & 1 ? "state" : "static";
}

static void emit_numbers(tz_cuda_text *t, const tz_problem *problem, const tz_plan *plan,
                         const planes_scheme *s)
{
    int slots = 0;
    for (int k = 0; k < s->slots_count; k++)
        slots += s->slots[k];
    const struct {
        const char *name;
        int value;
    } numbers[] = {
        {"VECTOR", s->vector},
        {"ROWS", s->rows},
        {"WARPS", s->warps},
        {"LANES", s->lanes},
        {"BLOCKS", plan->blocks > 0 ? plan->blocks : 1},
        {"AHEAD", s->ahead},
        {"GHOST_LOW_X", s->ghost.low[0]},
        {"GHOST_HIGH_X", s->ghost.high[0]},
        {"GHOST_LOW_Y", s->ghost.low[1]},
        {"GHOST_HIGH_Y", s->ghost.high[1]},
        {"GHOST_LOW_Z", s->ghost.low[2]},
        {"GHOST_HIGH_Z", s->ghost.high[2]},
        {"ROW_LANES", s->row_lanes},
        {"LAG", s->lag},
        {"GROUP", s->group},
        {"ROLLED", s->rolled},
        {"SLOTS", slots},
        {"RINGS_FROM", (int)s->rings},
        {"RINGS_TO", (int)s->shared_bytes},
        {"RADIUS_ROWS", s->radius_rows},
        {"ADJACENT", s->adjacent},
        {"RACECHECK", getenv("TZ_RACECHECK") != NULL},
        {"STATIC_RADIUS", s->static_radius},
        {"STRADDLE_Y", planes_straddles(s, problem)},
        {"REST_X", (int)(problem->elements[0] % s->vector)},
        {"NARROW_X", problem->elements[0] <= s->radius_rows || problem->elements[0] < s->vector},
    };
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        tz_cuda_emit(t, "#define TZ_%s %d\n", numbers[k].name, numbers[k].value);
}

static void emit_versions(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s)
{
    for (int k = 0; k < s->versions_count; k++) {
        const planes_version *v = &s->versions[k];
        tz_cuda_emit(t,
                     "struct v_%s_%d {\n  typedef %s type;\n  typedef TZ__MEMORY_%s memory;\n  "
                     "enum { PLANES = %d, RADIUS = %d, FIRST = %d, "
                     "LAST = %d, SLOTS = %d, FIRST_SLOT = %d, SHARED = %" PRId64
                     ", BELOW = %d, ABOVE = %d, ROWS_BELOW = %d, ARRIVES = %d, LAG = %d, "
                     "SKIP_LOW = %d, SKIP_HIGH = %d };\n};\n",
                     name_of(problem, v->field), v->number, type_of(problem, v->field),
                     name_of(problem, v->field), v->planes > 0 ? v->planes : 1, v->radius,
                     v->carried ? s->rows : v->first, v->carried ? s->rows : v->last,
                     v->slots > 0 ? v->slots : 1, v->first_slot, v->shared, v->below, v->above,
                     v->rows_below, v->number == 0, v->lag, v->skip_low, v->skip_high);
    }
}

/* Sums of planes, as versions of no field. */
static void emit_sums(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s)
{
    for (int k = 0; k < s->passes_count; k++) {
        const planes_pass *pass = &s->passes[k];
        if (pass->words > 0)
            tz_cuda_emit(
                t,
                "struct v_sums_%d {\n  typedef pass_%d::planes_%s type;\n  enum { PLANES = "
                "%d, BELOW = %d, ABOVE = %d, ROWS_BELOW = 0 };\n};\n",
                k, pass->pass, problem->stencil->passes[pass->pass].text_cell, 2 * pass->radius + 1,
                pass->radius, pass->radius);
    }
}

/* The columns of a row j, 0 being the lane's first row, that the lane's cells read; bit 0 is the
 * column `radius` to the west of the lane's first. */
static uint32_t needed(const planes_scheme *s, const planes_pass *pass, int field, int dz, int j)
{
    uint32_t columns = 0;
    for (int row = 0; row < s->rows; row++) {
        const uint32_t reads =
            planes_row(s, pass, field, dz, j - row) >> (TZ_RADIUS_MAX - pass->radius);
        for (int e = 0; e < s->vector; e++)
            columns |= reads << e;
    }
    return columns & ((1u << (s->vector + 2 * pass->radius)) - 1u);
}

/* The rows that a level reads of its fields: those of a lane, or those around it. */
static void emit_rows(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s, int k,
                      bool around)
{
    const planes_pass *pass = &s->passes[k];
    const int r = pass->radius;
    tz_cuda_emit(t, "#define TZ_%s_%d(D)", around ? "AROUND" : "OWN", k);
    for (int f = 0; f < problem->stencil->fields_count; f++)
        for (int dz = -r; dz <= r && pass->reads[f] >= 0 && s->ringed >> f & 1; dz++) {
            const planes_version *v = &s->versions[pass->reads[f]];
            uint32_t others = 0;
            for (int dy = -r; dy <= r; dy++)
                others |= dy != 0 ? planes_row(s, pass, f, dz, dy) : 0;
            for (int j = -r; j < s->rows + r; j++) {
                const uint32_t columns = needed(s, pass, f, dz, j);
                if (columns && around == (j < 0 || j >= s->rows))
                    tz_cuda_emit(t, " \\\n    D(%d, %s, %d, %d, %d, 0x%xu, %d, %d, %d)", k,
                                 name_of(problem, f), v->number, planes_age(pass, v) - dz, j,
                                 columns, others != 0, dz + r, j + r);
            }
        }
    tz_cuda_emit(t, "\n");
}

static void emit_level(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s, int k)
{
    const planes_pass *pass = &s->passes[k];
    const tz_stencil *stencil = problem->stencil;
    tz_cuda_emit(t, "#define TZ_READS_%d(D)", k);
    for (int f = 0; f < stencil->fields_count; f++)
        if (s->ringed >> f & 1)
            tz_cuda_emit(t, " \\\n    D(%d, %d, %s, %s)", k, pass->radius, name_of(problem, f),
                         type_of(problem, f));
    tz_cuda_emit(t, "\n#define TZ_CARRIES_%d(D)", k);
    for (int f = 0; f < stencil->fields_count; f++)
        if (s->carried >> f & 1) {
            const planes_version *v = &s->versions[pass->reads[f]];
            const bool read = planes_row(s, pass, f, 0, 0) != 0;
            tz_cuda_emit(t, " \\\n    D(%d, %s, %s, %d, %d, %s)", k, name_of(problem, f),
                         type_of(problem, f), v->number, read ? planes_age(pass, v) : 0,
                         !read                                 ? "absent"
                         : v->held && planes_age(pass, v) == 0 ? "arrived"
                         : v->planes > 0                       ? "ring"
                                                               : "shared");
        }
    tz_cuda_emit(t, "\n");
    emit_rows(t, problem, s, k, true);
    emit_rows(t, problem, s, k, false);
    tz_cuda_emit(t, "#define TZ_CONTEXT_%d(D)", k);
    for (int f = 0; f < stencil->fields_count; f++) {
        const bool written = pass->writes[f] >= 0;
        if (stencil->fields[f].role == TZ_DERIVED)
            continue;
        tz_cuda_emit(t, " \\\n    D(%s, %s, %s, %d, %d, %s%s)", kind_of(s, f), name_of(problem, f),
                     type_of(problem, f), f, k, written ? name_of(problem, f) : "nullptr",
                     written ? "_next" : "");
    }
    tz_cuda_emit(t, "\n#define TZ_MAKES_%d(D)", k);
    for (int f = 0; f < stencil->fields_count; f++)
        if (pass->writes[f] >= 0) {
            const planes_version *v = &s->versions[pass->writes[f]];
            tz_cuda_emit(t, " \\\n    D(%s, %s, %d, %d, %d, %d, %d, %d)", name_of(problem, f),
                         type_of(problem, f), f, v->number, v->lag, v->planes > 0, v->slots > 0,
                         v->result);
        }
    tz_cuda_emit(t, "\n");
}

static void emit_around(tz_cuda_text *t, const planes_scheme *s, int k)
{
    tz_cuda_emit(t, " \\\n    AROUND(%d, %d, %d)", k, s->passes[k].radius, s->passes[k].waits);
}

/* What a step does, in order. Rows are read early where a compiler would not move the reads before
 * the rows that a level leaves for other warps. */
static void emit_step(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s)
{
    tz_cuda_emit(t, "#define TZ_LEVELS %d\n#define TZ_LEVEL_LIST(AROUND, LEVEL)", s->passes_count);
    emit_around(t, s, 0);
    for (int k = 0; k < s->passes_count; k++) {
        const planes_pass *pass = &s->passes[k];
        const bool more = k + 1 < s->passes_count, early = more && s->passes[k + 1].early;
        if (early)
            emit_around(t, s, k + 1);
        tz_cuda_emit(t, " \\\n    LEVEL(%d, %d, %s, %d, %d, %d, %d, %d, %d)", k, pass->pass,
                     problem->stencil->passes[pass->pass].text_cell, pass->iteration, pass->lag,
                     pass->rest_low, pass->rest_high, pass->radius, pass->words > 0);
        if (more && !early)
            emit_around(t, s, k + 1);
    }
    tz_cuda_emit(t, "\n");
}

static void emit_rings(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s)
{
    tz_cuda_emit(t, "#define TZ_RING_LIST(D)");
    for (int k = 0; k < s->versions_count; k++) {
        const planes_version *v = &s->versions[k];
        if (v->planes > 0)
            tz_cuda_emit(t, " \\\n    D(%s, %s, %d, %d)", name_of(problem, v->field),
                         type_of(problem, v->field), v->number, v->planes);
    }
    for (int carried = 0; carried < 2; carried++) {
        tz_cuda_emit(t, "\n#define %s(D)", carried ? "TZ_CARRIED_LIST" : "TZ_LOADED_LIST");
        for (int k = 0; k < s->versions_count; k++) {
            const planes_version *v = &s->versions[k];
            if (v->number == 0 && v->oldest >= 0 && v->carried == (carried > 0))
                tz_cuda_emit(t, " \\\n    D(%s, %s, %d)", name_of(problem, v->field),
                             type_of(problem, v->field), v->field);
        }
    }
    tz_cuda_emit(t, "\n#define TZ_SUM_LIST(D)");
    for (int k = 0; k < s->passes_count; k++) {
        const planes_pass *pass = &s->passes[k];
        if (pass->words > 0)
            tz_cuda_emit(t, " \\\n    D(%d, %d, %s, %d)", k, pass->pass,
                         problem->stencil->passes[pass->pass].text_cell, 2 * pass->radius + 1);
    }
    tz_cuda_emit(t, "\n#define TZ_SLOT_LIST(D)");
    for (int k = 0, first = 0; k < s->slots_count; first += s->slots[k++])
        tz_cuda_emit(t, " \\\n    D(%d, %d)", first, s->slots[k]);
    tz_cuda_emit(t, "\n");
}

static void planes_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                             const tz_plan *plan)
{
    const tz_stencil *stencil = problem->stencil;
    planes_scheme *s = planes_scheme_make(problem, limits, plan);
    if (!s) {
        t->failed = true;
        return;
    }
    tz_cuda_emit_sizes(t, problem, plan->height, plan->tile);
    tz_cuda_emit_points(t, problem);
    tz_cuda_emit_lists(t, problem);
    for (int f = 0; f < stencil->fields_count; f++)
        if (planes_streamed(s) >> f & 1)
            tz_cuda_emit(t, "#undef TZ__KIND_%s\n#define TZ__KIND_%s %s\n", name_of(problem, f),
                         name_of(problem, f), kind_of(s, f));
    emit_numbers(t, problem, plan, s);
    emit_rings(t, problem, s);
    emit_step(t, problem, s);
    for (int k = 0; k < s->passes_count; k++)
        emit_level(t, problem, s, k);
    tz_cuda_emit(t, "#include \"planes.cuh\"\n");
    emit_versions(t, problem, s);
    for (int p = 0; p < stencil->passes_count; p++)
        tz_cuda_emit_pass(t, problem, p);
    emit_sums(t, problem, s);
    tz_cuda_emit(t, "#include \"planes_kernel.cuh\"\n");
    free(s);
}

const tz_cuda_family tz_cuda_family_planes = {
    .name = "stream",
    .doc = "planes stream through registers, rows through shared memory",
    .exact = true,
    .points = true,
    .stored = true,
    .dims_low = 3,
    .dims_high = 3,
    .height_max = PLANES_STEPS_MAX,
    .tile_max = 1 << 20,
    .own = {"lanes"},
    .no_streamed = "has streamed fields, which planes do not support",
    .plan = planes_plan,
    .emit = planes_text_emit,
    .shared_bytes = planes_shared_bytes,
    .shape = planes_shape,
    .planner = &planes_planner,
};
