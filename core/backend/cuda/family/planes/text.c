/* The device text of the 3-D stream family: what is generated around kernels/cuda/planes.cuh. */
#include "backend/cuda/family/planes/scheme.h"

#include <inttypes.h>
#include <stdio.h>

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

void planes_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
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
