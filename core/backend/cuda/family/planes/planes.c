/* The stream family in 3-D: planes pass through registers (kernels/cuda/planes.cuh).
 *
 * A plan's tile is what a block stores: tile[0] columns and tile[1] rows, tile[2] planes of a
 * chunk. A block holds 32*vector columns, of which it loses the reach of the height, rounded up to
 * a vector, on each side; and warps*R rows, of which it loses the reach on each side. tile[1] so
 * says R, the rows of a lane. `ahead` planes are fetched before they arrive. `slack`: a pass lags a
 * plane more than it must, so that it reads rows of others a step after they were made and not just
 * then. A chunk of 0 is chosen when a kernel is launched. */
#include "backend/cuda/family/planes/scheme.h"

#include "backend/cuda/family/family.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- Text ------------------------------------------------------------------------------------ */

static const char *type_of(const tz_problem *problem, int field)
{
    return tz_cuda_type_name(problem->stencil->fields[field].type);
}

static const char *name_of(const tz_problem *problem, int field)
{
    return problem->stencil->fields[field].name;
}

static void say_numbers(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s)
{
    const bool torus = problem->boundary[1] == TZ_PERIODIC;
    int turns = 0;
    for (int k = 0; k < s->turns_count; k++)
        turns += s->turns[k];
    const struct {
        const char *name;
        int value;
    } numbers[] = {
        {"VECTOR", s->vector},
        {"ROWS", s->rows},
        {"WARPS", s->warps},
        {"AHEAD", s->ahead},
        {"REACH", s->reach},
        {"GHOST_X", s->ghost_x},
        {"GHOST_Y", s->ghost_y},
        {"WHOLE_X", s->whole},
        {"LAG", s->lag},
        {"GROUP", s->group},
        {"TURNS", turns},
        {"RINGS_FROM", (int)s->rings},
        {"RINGS_TO", (int)s->shared_bytes},
        {"RADIUS_ROWS", s->radius_rows},
        {"BESIDE", s->beside},
        {"STATIC_RADIUS", s->static_radius},
        /* Does the grid's edge run between two rows of a lane? */
        {"STRADDLE_Y",
         !torus && (s->ghost_y % s->rows != 0 || problem->elements[1] % s->rows != 0)},
        {"REST_X", (int)(problem->elements[0] % s->vector)},
        {"NARROW_X", problem->elements[0] <= s->radius_rows},
    };
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        tz_cuda_emit(t, "#define TZ_%s %d\n", numbers[k].name, numbers[k].value);
}

static void say_versions(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s)
{
    for (int k = 0; k < s->versions_count; k++) {
        const planes_version *v = &s->versions[k];
        tz_cuda_emit(
            t,
            "struct v_%s_%d {\n  typedef %s type;\n  enum { PLANES = %d, RADIUS = %d, SLOTS "
            "= %d, TURN = %d, SHARED = %" PRId64
            ", RADIUS_Z = %d, ROWS_BELOW = %d, ARRIVES = %d };\n};\n",
            name_of(problem, v->field), v->number, type_of(problem, v->field),
            v->planes > 0 ? v->planes : 1, v->radius, v->slots > 0 ? v->slots : 1, v->turn,
            v->shared, v->radius_z, v->rows_below, v->number == 0);
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

/* The rows that a pass reads of its fields: those of a lane, or those around it. */
static void say_near(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s,
                     const planes_pass *pass, bool around)
{
    const int r = pass->radius, k = (int)(pass - s->passes);
    for (int f = 0; f < problem->stencil->fields_count; f++)
        for (int dz = -r; dz <= r && pass->reads[f] >= 0; dz++) {
            const planes_version *v = &s->versions[pass->reads[f]];
            const char *name = name_of(problem, f);
            uint32_t turns = 0;
            for (int dy = -r; dy <= r; dy++)
                turns |= dy != 0 ? planes_row(s, pass, f, dz, dy) : 0;
            for (int j = -r; j < s->rows + r; j++) {
                const uint32_t columns = needed(s, pass, f, dz, j);
                if (columns && around == (j < 0 || j >= s->rows))
                    tz_cuda_emit(t,
                                 "      tz_near_row<BORDER, v_%s_%d, %d, %d, 0x%xu, %s>(a, tile, "
                                 "led, %s_near_%d[%d][%d], q.%s_%d, i, %s_edge);\n",
                                 name, v->number, planes_age(pass, v) - dz, j, columns,
                                 turns ? "true" : "false", name, k, dz + r, j + r, name, v->number,
                                 name);
            }
        }
}

/* Boundary values, each in its field's own bits. */
static void say_edges(tz_cuda_text *t, const tz_problem *problem)
{
    for (int f = 0; f < problem->stencil->fields_count; f++)
        tz_cuda_emit(t, "    const %s %s_edge = *(const %s *)&a.edge[%d];\n", type_of(problem, f),
                     name_of(problem, f), type_of(problem, f), f);
}

static void say_fetch(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s)
{
    tz_cuda_emit(t, "  template <int BORDER>\n  TZ_DEVICE void fetch(const tz_arguments &a, const "
                    "tz_tile &tile, int i, int ahead)\n  {\n");
    say_edges(t, problem);
    for (int k = 0; k < s->versions_count; k++) {
        const planes_version *v = &s->versions[k];
        const char *name = name_of(problem, v->field);
        if (v->number == 0 && v->planes > 0)
            tz_cuda_emit(
                t, "    tz_fetch_plane<BORDER, v_%s_0>(a, tile, i, ahead, a.in[%d], %s_edge);\n",
                name, v->field, name);
    }
    tz_cuda_emit(t, "  }\n");
}

static void say_arrivals(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s)
{
    for (int k = 0; k < s->versions_count; k++) {
        const planes_version *v = &s->versions[k];
        const char *name = name_of(problem, v->field);
        if (v->number == 0 && v->planes > 0)
            tz_cuda_emit(t,
                         "    {\n      %s %s_next[TZ_ROWS][TZ_VECTOR];\n"
                         "      tz_take_plane<BORDER, v_%s_0>(a, tile, i, %s_next, %s_edge);\n"
                         "      tz_ring_push(q.%s_0, %s_next);\n    }\n",
                         type_of(problem, v->field), name, name, name, name, name, name);
    }
}

/* What a pass reads, and what of it comes from other warps; where planes may be outside the grid
 * that is done later, once the plane is known to be wanted. */
static void say_around(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s, int k)
{
    const planes_pass *pass = &s->passes[k];
    const int r = pass->radius;
    if (pass->waits)
        tz_cuda_emit(t, "    tz_barrier();\n");
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const char *name = name_of(problem, f);
        if (pass->reads[f] >= 0)
            tz_cuda_emit(t,
                         "    %s %s_near_%d[%d][TZ_ROWS + %d][TZ_VECTOR + %d];\n"
                         "    tz_near_nothing(%s_near_%d);\n",
                         type_of(problem, f), name, k, 2 * r + 1, 2 * r, 2 * r, name, k);
    }
    tz_cuda_emit(t, "    if constexpr (BORDER < 2) {\n");
    say_near(t, problem, s, pass, true);
    tz_cuda_emit(t, "    }\n");
}

/* The rest of it. When the last pass has read, the warp is ready. */
static void say_own(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s, int k)
{
    tz_cuda_emit(t, "      if constexpr (BORDER == 2) {\n");
    say_near(t, problem, s, &s->passes[k], true);
    tz_cuda_emit(t, "      }\n");
    say_near(t, problem, s, &s->passes[k], false);
    if (k == s->passes_count - 1)
        tz_cuda_emit(t, "      if constexpr (BORDER < 2)\n        tz_ready(tile);\n");
}

/* What a pass reads and where its results go: the cell update's context. */
static void say_context(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s, int k)
{
    const tz_stencil *stencil = problem->stencil;
    const planes_pass *pass = &s->passes[k];
    tz_cuda_emit(t, "      pass_%d::context_%s c;\n      c.arguments = &a;\n", pass->pass,
                 stencil->passes[pass->pass].text_cell);
    for (int f = 0; f < stencil->fields_count; f++) {
        const char *name = name_of(problem, f);
        if (pass->reads[f] < 0) {
            tz_cuda_emit(t, "      c.%s = (const %s *)a.in[%d];\n      c.%s_edge = %s_edge;\n",
                         name, type_of(problem, f), f, name, name);
            continue;
        }
        tz_cuda_emit(t, "      c.%s = %s_near_%d;\n", name, name, k);
        if (pass->writes[f] >= 0)
            tz_cuda_emit(t, "      c.%s_out = %s_next;\n", name, name);
        else
            tz_cuda_emit(t, "      c.%s_out = nullptr;\n", name);
    }
    tz_cuda_emit_constants(t, problem);
}

static void say_cells(tz_cuda_text *t, const char *body)
{
    tz_cuda_emit(t,
                 "      TZ_UNROLL\n      for (int j = 0; j < TZ_ROWS; j++)\n        TZ_UNROLL\n"
                 "        for (int e = 0; e < TZ_VECTOR; e++) {\n%s        }\n",
                 body);
}

/* The sums of the plane that is `radius` ahead of the one that the pass computes. */
static void say_sums(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s, int k)
{
    const planes_pass *pass = &s->passes[k];
    const tz_stencil *stencil = problem->stencil;
    const char *cell = stencil->passes[pass->pass].text_cell;
    char body[400];
    tz_cuda_emit(t,
                 "      pass_%d::planes_%s made[TZ_ROWS][TZ_VECTOR], made_edge = {};\n"
                 "      if (BORDER < 2 || tz_plane_wanted(a, tile, z + %d, %d)) {\n",
                 pass->pass, cell, pass->radius, pass->rest + pass->radius);
    say_own(t, problem, s, k);
    snprintf(
        body, sizeof body,
        "          const tz_cell_place p = {e, j, tile.x + e, tile.y + j, z + %d, a.step + %d};\n"
        "          made[j][e] = pass_%d::make_planes_%s<BORDER>(c, p);\n",
        pass->radius, pass->iteration, pass->pass, cell);
    say_cells(t, body);
    tz_cuda_emit(t, "      }\n      if constexpr (BORDER == 2 && TZ_BOUNDARY_Z == TZ_FIXED) {\n");
    for (int f = 0; f < stencil->fields_count; f++)
        if (pass->reads[f] >= 0)
            tz_cuda_emit(t, "        tz_near_fill(%s_near_%d, %s_edge);\n", name_of(problem, f), k,
                         name_of(problem, f));
    tz_cuda_emit(t,
                 "        const tz_cell_place p = {0, 0, 0, 0, 0, 0};\n"
                 "        made_edge = pass_%d::make_planes_%s<BORDER>(c, p);\n      }\n"
                 "      if constexpr (BORDER == 2)\n"
                 "        tz_hold_above<v_sums_%d>(a, z + %d, q.sums_%d, made, made_edge);\n"
                 "      tz_ring_push(q.sums_%d, made);\n"
                 "      if constexpr (BORDER == 2)\n"
                 "        tz_hold_below<v_sums_%d>(a, tile, z + %d, i, q.sums_%d, made_edge);\n"
                 "      c.planes = q.sums_%d;\n",
                 pass->pass, cell, k, pass->radius, k, k, k, pass->radius, k, k);
    /* The update has nothing else to read. */
    for (int f = 0; f < stencil->fields_count; f++)
        if (pass->reads[f] >= 0)
            tz_cuda_emit(t, "      tz_near_nothing(%s_near_%d);\n", name_of(problem, f), k);
}

/* What a pass has made of a field: to memory, and to where later passes find it. */
static void say_results(tz_cuda_text *t, const tz_problem *problem, const planes_version *v)
{
    const char *name = name_of(problem, v->field);
    const int n = v->number;
    if (v->planes == 0)
        return;
    tz_cuda_emit(t,
                 "      if constexpr (BORDER == 2)\n"
                 "        tz_hold_above<v_%s_%d>(a, z, q.%s_%d, %s_next, %s_edge);\n"
                 "      tz_ring_push(q.%s_%d, %s_next);\n",
                 name, n, name, n, name, name, name, n, name);
    if (v->slots > 0)
        tz_cuda_emit(t, "      tz_leave_rows<BORDER, v_%s_%d>(tile, i, 0, %s_next);\n", name, n,
                     name);
    tz_cuda_emit(t,
                 "      if constexpr (BORDER == 2)\n"
                 "        tz_hold_below<v_%s_%d>(a, tile, z, i, q.%s_%d, %s_edge);\n",
                 name, n, name, n, name);
}

static void say_pass(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s, int k)
{
    const planes_pass *pass = &s->passes[k];
    const tz_stencil *stencil = problem->stencil;
    char body[400];
    tz_cuda_emit(t, "    { /* pass %d of iteration %d */\n      const int z = tile.z - %d;\n",
                 pass->pass, pass->iteration, pass->lag);
    for (int f = 0; f < stencil->fields_count; f++)
        if (pass->writes[f] >= 0)
            tz_cuda_emit(t, "      %s %s_next[TZ_ROWS][TZ_VECTOR];\n", type_of(problem, f),
                         name_of(problem, f));
    say_context(t, problem, s, k);
    if (pass->words > 0)
        say_sums(t, problem, s, k);
    tz_cuda_emit(t, "      if (BORDER < 2 || tz_plane_wanted(a, tile, z, %d)) {\n", pass->rest);
    if (pass->words == 0)
        say_own(t, problem, s, k);
    snprintf(body, sizeof body,
             "          const tz_cell_place p = {e, j, tile.x + e, tile.y + j, z, a.step + %d};\n"
             "          pass_%d::update_%s<BORDER>(c, p);\n",
             pass->iteration, pass->pass, stencil->passes[pass->pass].text_cell);
    say_cells(t, body);
    for (int f = 0; f < stencil->fields_count; f++) {
        const planes_version *v = pass->writes[f] >= 0 ? &s->versions[pass->writes[f]] : NULL;
        const char *name = name_of(problem, f);
        if (v && v->planes > 0)
            tz_cuda_emit(t,
                         "      if constexpr (BORDER)\n"
                         "        tz_hold_columns<v_%s_%d>(a, tile, %s_next, %s_edge);\n",
                         name, v->number, name, name);
        if (v && v->last)
            tz_cuda_emit(t, "      tz_store_plane<BORDER>(a, tile, %d, a.out[%d], %s_next);\n",
                         v->lag, f, name);
    }
    tz_cuda_emit(t, "      }\n");
    for (int f = 0; f < stencil->fields_count; f++)
        if (pass->writes[f] >= 0)
            say_results(t, problem, &s->versions[pass->writes[f]]);
    tz_cuda_emit(t, "    }\n");
}

static void say_run(tz_cuda_text *t, const tz_problem *problem, const planes_scheme *s)
{
    tz_cuda_emit(t, "struct tz_planes {\n");
    for (int k = 0; k < s->versions_count; k++) {
        const planes_version *v = &s->versions[k];
        if (v->planes > 0)
            tz_cuda_emit(t, "  %s %s_%d[%d][TZ_ROWS][TZ_VECTOR];\n", type_of(problem, v->field),
                         name_of(problem, v->field), v->number, v->planes);
    }
    for (int k = 0; k < s->passes_count; k++) {
        const planes_pass *pass = &s->passes[k];
        if (pass->words > 0)
            tz_cuda_emit(t, "  pass_%d::planes_%s sums_%d[%d][TZ_ROWS][TZ_VECTOR];\n", pass->pass,
                         problem->stencil->passes[pass->pass].text_cell, k, 2 * pass->radius + 1);
    }
    tz_cuda_emit(t, "  TZ_DEVICE void start(tz_planes &q)\n  {\n");
    for (int k = 0; k < s->versions_count; k++)
        if (s->versions[k].planes > 0)
            tz_cuda_emit(t, "    tz_ring_start(q.%s_%d);\n", name_of(problem, s->versions[k].field),
                         s->versions[k].number);
    for (int k = 0; k < s->passes_count; k++)
        if (s->passes[k].words > 0)
            tz_cuda_emit(t, "    tz_ring_start(q.sums_%d);\n", k);
    int first = 0;
    tz_cuda_emit(t, "  }\n  template <bool START>\n  TZ_DEVICE void turn(tz_tile &tile)\n  {\n");
    for (int k = 0; k < s->turns_count; first += s->turns[k++])
        tz_cuda_emit(t, "    tz_turn<START, %d, %d>(tile);\n", first, s->turns[k]);
    tz_cuda_emit(t, "  }\n");
    say_fetch(t, problem, s);
    tz_cuda_emit(t,
                 "  template <int BORDER>\n"
                 "  TZ_DEVICE void step(tz_planes &q, const tz_arguments &a, const tz_tile &tile, "
                 "int i)\n  {\n    const tz_led led = tz_led_here<BORDER>(tile);\n");
    say_edges(t, problem);
    say_arrivals(t, problem, s);
    say_around(t, problem, s, 0);
    for (int k = 0; k < s->passes_count; k++) {
        /* Ahead of what this pass leaves for others, which a compiler does not move reads past. */
        const bool more = k + 1 < s->passes_count, early = more && s->passes[k + 1].early;
        if (early)
            say_around(t, problem, s, k + 1);
        say_pass(t, problem, s, k);
        if (more && !early)
            say_around(t, problem, s, k + 1);
    }
    tz_cuda_emit(t, "    if constexpr (BORDER == 2)\n      tz_ready(tile);\n  }\n};\n");
}

static void planes_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                        const tz_plan *plan)
{
    const tz_stencil *stencil = problem->stencil;
    planes_scheme s;
    planes_scheme_make(&s, problem, limits, plan);
    tz_cuda_emit_sizes(t, problem, plan->height, plan->tile);
    say_numbers(t, problem, &s);
    tz_cuda_emit(t, "#include \"planes.cuh\"\n");
    say_versions(t, problem, &s);
    for (int p = 0; p < stencil->passes_count; p++) {
        tz_cuda_emit_pass(t, problem, p);
    }
    for (int k = 0; k < s.passes_count; k++) {
        const planes_pass *pass = &s.passes[k];
        if (pass->words > 0)
            tz_cuda_emit(
                t,
                "struct v_sums_%d {\n  typedef pass_%d::planes_%s type;\n  enum { PLANES = "
                "%d, RADIUS_Z = %d, ROWS_BELOW = 0 };\n};\n",
                k, pass->pass, stencil->passes[pass->pass].text_cell, 2 * pass->radius + 1,
                pass->radius);
    }
    say_run(t, problem, &s);
    tz_cuda_emit(t,
                 "TZ_KERNEL_MANY(tz_stage, 32 * TZ_WARPS, %d)(const tz_arguments a)\n{\n"
                 "  tz_run<tz_planes>(a);\n}\n",
                 plan->blocks > 0 ? plan->blocks : 1);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static const char *planes_refuses(const tz_problem *problem)
{
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        if (problem->stencil->fields[f].role == TZ_STREAMED)
            return "has streamed fields, which planes do not take";
    }
    return NULL;
}

/* Registers that are short by a few go to memory in border code alone. `roomy`: what was asked for
 * may be slow. */
static bool fits(const planes_scheme *s, const tz_limits *limits, const tz_plan *plan, bool roomy)
{
    const int blocks = plan->blocks > 0 ? plan->blocks : 1;
    return s->shared_bytes * blocks <= limits->shared_bytes &&
           s->registers <= planes_registers_max(s->warps * blocks) + (roomy ? 64 : 24);
}

/* The useful rows of a lane of so many; less than 1: none. */
static int64_t useful_rows(const tz_problem *problem, const tz_plan *plan, int rows)
{
    return (int64_t)plan->warps * rows -
           2 * (int64_t)plan->height * tz_stencil_reach(problem->stencil);
}

static int64_t useful_columns(const tz_problem *problem, const tz_plan *plan, int vector)
{
    return 32 * (int64_t)vector - 2 * planes_ghost_x(problem, vector, plan->height);
}

static tz_status check_numbers(const tz_plan *plan, tz_error *error)
{
    for (int d = 0; d < TZ_AXES; d++)
        if (plan->tile[d] < 0 || plan->tile[d] > 1 << 20)
            return tz_error_set(error, TZ_RANGE, "tile", "extent %d is %" PRId64 "; use 1 or more",
                                d + 1, plan->tile[d]);
    if (plan->height < 0 || plan->height > PLANES_STEPS_MAX)
        return tz_error_set(error, TZ_RANGE, "height", "height %d is out of range; 1 to %d",
                            plan->height, PLANES_STEPS_MAX);
    if (plan->vector != 0 && plan->vector != 1 && plan->vector != 2 && plan->vector != 4)
        return tz_error_set(error, TZ_RANGE, "vector", "vector is %d; use 1, 2 or 4", plan->vector);
    if (plan->ahead < 0 || plan->ahead > 8)
        return tz_error_set(error, TZ_RANGE, "ahead", "ahead is %d; use 1 to 8", plan->ahead);
    if (plan->slack < 0 || plan->slack > 1)
        return tz_error_set(error, TZ_RANGE, "slack", "slack is %d; use 0 or 1", plan->slack);
    if (plan->warps < 0 || plan->warps > 32)
        return tz_error_set(error, TZ_RANGE, "warps", "warps is %d; use 1 to 32", plan->warps);
    if (plan->blocks < 0 || plan->blocks > 16)
        return tz_error_set(error, TZ_RANGE, "blocks", "blocks is %d; use 1 to 16", plan->blocks);
    return TZ_OK;
}

enum { ROWS_MAX = 8 };

/* Everything but the height, for one height: vector by the columns that are asked for or that there
 * are, rows of a lane by the rows. False: no tile has them. */
static bool complete(const tz_problem *problem, const tz_plan *given, tz_plan *plan)
{
    int64_t columns = given->tile[0] ? given->tile[0] : problem->elements[0];
    int words = 1, rows = 1;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        words = tz_problem_element_size(problem, f) > 4 ? 2 : words;
    words *= problem->stencil->fields_count > 1 ? 2 : 1;
    if (plan->vector == 0) {
        plan->vector = 1;
        while (plan->vector < 4 && useful_columns(problem, plan, plan->vector) < columns)
            plan->vector *= 2;
        /* Wider than 16 bytes, of all fields, only where it must be. */
        while (plan->vector * words > 4 && given->tile[0] == 0 &&
               useful_columns(problem, plan, plan->vector / 2) > 0)
            plan->vector /= 2;
    }
    columns = useful_columns(problem, plan, plan->vector);
    const int64_t high = given->tile[1] ? given->tile[1] : 1;
    if (given->tile[1] == 0)
        rows = problem->bits && plan->vector == 1 ? 4 : 2;
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

/* A plan for a height; *scheme: what it amounts to. */
static bool possible(const tz_problem *problem, const tz_limits *limits, const tz_plan *given,
                     tz_plan *plan, int height, bool roomy, planes_scheme *scheme)
{
    tz_plan trial = *plan;
    trial.height = height;
    while (complete(problem, given, &trial) &&
           planes_scheme_make(scheme, problem, limits, &trial)) {
        if (fits(scheme, limits, &trial, roomy)) {
            *plan = trial;
            return true;
        }
        /* Fewer columns, where nobody asked for so many. */
        if (given->vector > 0 || given->tile[0] > 0 || trial.vector == 1)
            return false;
        const int vector = trial.vector / 2;
        trial = *plan;
        trial.height = height;
        trial.vector = vector;
    }
    return false;
}

/* The same, of a plan that does without memory for registers if there is one. */
static bool possible_at_all(const tz_problem *problem, const tz_limits *limits,
                            const tz_plan *given, tz_plan *plan, int height, planes_scheme *scheme)
{
    return possible(problem, limits, given, plan, height, false, scheme) ||
           possible(problem, limits, given, plan, height, true, scheme);
}

/* Stars take what memory asks for; where cells read corners, arithmetic is the limit before. */
static int usual_height(const tz_problem *problem)
{
    const int reach = tz_stencil_reach(problem->stencil);
    bool corners = problem->bits;
    for (int p = 0; p < problem->stencil->passes_count; p++)
        corners = corners || planes_corners(problem, &problem->stencil->passes[p]);
    const int height = (corners ? 2 : 4) / (reach > 0 ? reach : 1);
    return height > 0 ? height : 1;
}

static tz_status planes_plan(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                             tz_error *error)
{
    const tz_plan given = *plan;
    planes_scheme s;
    tz_status status = check_numbers(plan, error);
    if (status)
        return status;
    if (plan->ahead == 0)
        plan->ahead = 1;
    if (plan->warps == 0)
        plan->warps = problem->bits ? 12 : 16;
    if (plan->tile[2] > problem->elements[2])
        plan->tile[2] = problem->elements[2];
    int height = plan->height;
    if (height == 0) {
        height = usual_height(problem);
        while (height > 1 && !possible(problem, limits, &given, plan, height, false, &s))
            height--;
    }
    if (!possible_at_all(problem, limits, &given, plan, height, &s)) {
        int lower = height - 1;
        while (lower > 0 && !possible_at_all(problem, limits, &given, plan, lower, &s))
            lower--;
        if (lower > 0)
            return tz_error_set(error, TZ_RANGE, "height",
                                "planes of this tile at height %d need more registers or shared "
                                "memory than a block of %d warps has: use a height up to %d",
                                height, plan->warps, lower);
        return tz_error_set(error, TZ_RANGE, "tile",
                            "no block of %d warps holds planes of this tile with their ghost zone: "
                            "use a smaller one, fewer warps, or the family 'tile'",
                            plan->warps);
    }
    /* The rings may have room for more planes on their way. */
    if (given.ahead == 0)
        plan->ahead += planes_spare(&s);
    strcpy(plan->family, "stream");
    snprintf(plan->why, sizeof plan->why, "%s height", given.height == 0 ? "default" : "given");
    return TZ_OK;
}

static int planes_threads(const tz_problem *problem, const tz_plan *plan)
{
    (void)problem;
    return 32 * plan->warps;
}

static int planes_shared_bytes(const tz_problem *problem, const tz_limits *limits,
                               const tz_plan *plan)
{
    planes_scheme s;
    planes_scheme_make(&s, problem, limits, plan);
    return (int)s.shared_bytes;
}

/* Steps that a block of a chunk takes. */
static int64_t chunk_steps(const planes_scheme *s, int64_t chunk)
{
    return (chunk + s->reach + s->lag + s->group - 1) / s->group * s->group;
}

/* A chunk's length: warm-up against blocks that find no place in the last round. */
static int64_t choose_chunk(const planes_scheme *s, int64_t planes, int64_t tiles, int64_t at_once)
{
    int64_t best = planes, best_cost = INT64_MAX;
    for (int64_t chunks = 1; chunks <= planes; chunks++) {
        const int64_t chunk = (planes + chunks - 1) / chunks;
        const int64_t blocks = tiles * ((planes + chunk - 1) / chunk);
        const int64_t cost = (blocks + at_once - 1) / at_once * (chunk_steps(s, chunk) + 4);
        if (cost < best_cost) {
            best = chunk;
            best_cost = cost;
        }
    }
    return best;
}

static tz_status planes_shape(const tz_problem *problem, const tz_limits *limits,
                              const tz_plan *plan, int blocks_each, tz_cuda_shape *shape,
                              tz_error *error)
{
    planes_scheme s;
    planes_scheme_make(&s, problem, limits, plan);
    const int64_t wide = 32 * s.vector - 2 * s.ghost_x, high = s.warps * s.rows - 2 * s.ghost_y;
    const int64_t tiles_x = (problem->elements[0] + wide - 1) / wide;
    const int64_t tiles_y = (problem->elements[1] + high - 1) / high;
    const int64_t each = blocks_each > 0 ? blocks_each : 1;
    const int64_t planes = problem->elements[2];
    int64_t chunk = plan->tile[2];
    if (chunk == 0)
        chunk = choose_chunk(&s, planes, tiles_x * tiles_y, each * limits->multiprocessors);
    if (chunk > planes)
        chunk = planes;
    const int64_t blocks = tiles_x * tiles_y * ((planes + chunk - 1) / chunk);
    if (blocks > INT32_MAX)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "%" PRId64 " tiles and chunks are more than a GPU takes: use larger "
                            "ones",
                            blocks);
    *shape = (tz_cuda_shape){
        .grid = {(int)blocks, 1, 1},
        .threads = 32 * s.warps,
        .shared_bytes = (int)s.shared_bytes,
        .geometry = {(int)chunk, (int)tiles_x, (int)tiles_y},
    };
    return TZ_OK;
}

const tz_cuda_family tz_cuda_family_planes = {
    .name = "stream",
    .doc = "planes stream through registers, rows through shared memory",
    .exact = true,
    .refuses = planes_refuses,
    .plan = planes_plan,
    .emit = planes_emit,
    .threads = planes_threads,
    .shared_bytes = planes_shared_bytes,
    .shape = planes_shape,
};
