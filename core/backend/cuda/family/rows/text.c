/* The device text of the 2-D stream family: what is generated around kernels/cuda/rows.cuh. */
#include "backend/cuda/family/rows/design.h"

#include <stdio.h>
#include <string.h>

static void say_rings(tz_cuda_text *t, const rows_design *d)
{
    tz_cuda_emit(t, "struct tz_rings {\n");
    for (int i = 0; i < d->rings_count; i++) {
        const rows_ring *r = &d->rings[i];
        const tz_field *f = &d->problem->stencil->fields[r->field];
        tz_cuda_emit(t, "  %s %s_%d[%d][%d];\n", tz_cuda_type_name(f->type), f->name, r->level,
                     r->depth, d->vector + 2 * r->halo);
    }
    for (int l = 1; d->sums && l <= d->levels; l++)
        tz_cuda_emit(t, "  %s sum_%d[%d][TZ_V];\n",
                     tz_cuda_type_name(d->problem->stencil->fields[0].type), l,
                     2 * d->problem->radius);
    /* What an update takes from static fields, once a cell: made for the pass's first level. */
    for (int l = 1; l <= d->levels; l++)
        if (rows_once_made(d, l) == l)
            tz_cuda_emit(t, "  pass_%d::once_%s once_%d[%d][TZ_V];\n",
                         (l - 1) % d->problem->stencil->passes_count, rows_pass(d, l)->text_cell, l,
                         rows_once_depth(d, l));
    tz_cuda_emit(t, "};\n");
}

/* Where in its queue a row of a field is, `add` rows after the one that `step` takes. */
static void say_slot(char *text, size_t size, const tz_field *field, const char *step, int add)
{
    const bool state = field->role == TZ_STATE;
    snprintf(text, size, "tz_slot<%s>(w.%s, %s + %d)", state ? "TZ_QUEUE" : "TZ_QUEUE_KEPT",
             state ? "part" : "kept", step, add);
}

/* A row of a loaded field comes out of its queue into the newest slot of its ring. */
static void say_take(tz_cuda_text *t, const rows_design *d, const rows_ring *r)
{
    const tz_field *field = &d->problem->stencil->fields[r->field];
    const char *type = tz_cuda_type_name(field->type), *name = field->name;
    /* What a later group takes has been in the queue for a while. */
    const int back = rows_find_ring(d, r->field, 0)->newest - r->newest;
    char slot[80];
    say_slot(slot, sizeof slot, field, "u", back > 0 ? rows_queue(d, false) - back : 0);
    tz_cuda_emit(t,
                 "  tz_shift(q.%s_%d);\n  { %s v[TZ_V]; tz_take_row<BORDER, ENDS>(a, s, w.%s + "
                 "%s, %s_edge, y + %d, v);\n",
                 name, r->level, type, name, slot, name, r->newest);
    if (r->halo)
        tz_cuda_emit(
            t,
            "    %s wide[TZ_V + %d]; tz_widen<BORDER, %d>(s, v, wide, %s_edge);\n"
            "    TZ_UNROLL for (int i = 0; i < TZ_V + %d; i++) q.%s_%d[%d][i] = wide[i]; }\n",
            type, 2 * r->halo, r->halo, name, 2 * r->halo, name, r->level, r->depth - 1);
    else
        tz_cuda_emit(t, "    TZ_UNROLL for (int i = 0; i < TZ_V; i++) q.%s_%d[%d][i] = v[i]; }\n",
                     name, r->level, r->depth - 1);
}

/* The window that a level has of a field. */
static void say_window(tz_cuda_text *t, const rows_design *d, int level, int f)
{
    const tz_field *field = &d->problem->stencil->fields[f];
    const bool is_state = field->role == TZ_STATE;
    const rows_ring *r = rows_find_ring(
        d, f, is_state ? rows_version_before(d, f, level) : rows_group_start(d, level) - 1);
    const int radius = is_state ? rows_pass(d, level)->radius : field->radius;
    const int centre = r->depth - 1 - (r->newest + d->lag[level]);
    tz_cuda_emit(t, "    %s %s_w[%d][TZ_V + %d];\n", tz_cuda_type_name(field->type), field->name,
                 2 * radius + 1, 2 * radius);
    for (int dy = -radius; dy <= radius; dy++) {
        const char *const name = field->name;
        const int slot = centre + dy, row = dy + radius;
        if (r->halo)
            tz_cuda_emit(t,
                         "    TZ_UNROLL for (int i = 0; i < TZ_V + %d; i++) %s_w[%d][i] = "
                         "q.%s_%d[%d][i + %d];\n",
                         2 * radius, name, row, name, r->level, slot, r->halo - radius);
        else
            tz_cuda_emit(t, "    tz_widen<BORDER, %d>(s, q.%s_%d[%d], %s_w[%d], %s_edge);\n",
                         radius, name, r->level, slot, name, row, name);
    }
    tz_cuda_emit(t, "    c.%s = %s_w;\n", field->name, field->name);
}

/* An update that sees rows around it. */
static void say_update(tz_cuda_text *t, const rows_design *d, int level)
{
    const tz_problem *problem = d->problem;
    const tz_stencil *s = problem->stencil;
    const tz_pass *pass = rows_pass(d, level);
    const int p = (level - 1) % s->passes_count;
    for (int f = 0; f < s->fields_count; f++) {
        const rows_ring *r = rows_find_ring(d, f, level - 1);
        if (s->fields[f].role != TZ_STATE && level > 1 && r)
            say_take(t, d, r);
        say_window(t, d, level, f);
    }
    const int made = rows_once_made(d, level);
    if (level == made)
        tz_cuda_emit(t,
                     "    tz_shift(q.once_%d);\n    TZ_UNROLL for (int e = 0; e < TZ_V; e++) "
                     "q.once_%d[%d][e] = pass_%d::make_once_%s(c, e);\n",
                     made, made, rows_once_depth(d, made) - 1, p, pass->text_cell);
    tz_cuda_emit(t, "    c.once = q.once_%d[%d];\n", made,
                 rows_once_depth(d, made) - 1 - (d->lag[level] - d->lag[made]));
    for (int f = 0; f < s->fields_count; f++)
        if (pass->writes >> f & 1)
            tz_cuda_emit(t, "    %s %s_new[TZ_V];\n    c.%s_out = %s_new;\n",
                         tz_cuda_type_name(s->fields[f].type), s->fields[f].name, s->fields[f].name,
                         s->fields[f].name);
    tz_cuda_emit(
        t,
        "    c.y = ENDS || TZ_BOUNDARY_Y == TZ_PERIODIC ? tz_map<TZ_BOUNDARY_Y>(row, a.ny) : "
        "row;\n"
        "    c.step = a.step + %d;\n"
        "    TZ_UNROLL for (int e = 0; e < TZ_V; e++) {\n"
        "      c.x = (TZ_EDGES ? s.from : s.x) + e;\n"
        "      if (BORDER && !TZ_EDGES) c.x = %s;\n"
        "      pass_%d::update_%s(c, e);\n    }\n",
        (level - 1) / s->passes_count,
        problem->bits ? "(c.x % a.nx + a.nx) % a.nx" : "tz_map<TZ_BOUNDARY_X>(c.x, a.nx)", p,
        pass->text_cell);
}

/* An update that is a sum over rows: the newest row of the level before is added. The grid's first
 * row is all rows before it, too. */
static void say_push(tz_cuda_text *t, const rows_design *d, int level)
{
    const tz_field *field = &d->problem->stencil->fields[0];
    const tz_pass *pass = rows_pass(d, level);
    const rows_ring *r = rows_find_ring(d, 0, level - 1);
    const char *name = field->name, *type = tz_cuda_type_name(field->type);
    const int radius = pass->radius, slot = r->depth - 1 - (r->newest + d->lag[level] - radius);
    tz_cuda_emit(t, "    %s %s_w[%d][TZ_V + %d], %s_new[TZ_V];\n", type, name, 2 * radius + 1,
                 2 * radius, name);
    tz_cuda_emit(t,
                 "    tz_widen<BORDER, %d>(s, q.%s_%d[%d], %s_w[%d], %s_edge);\n    c.%s = %s_w;\n",
                 radius, name, level - 1, slot, name, radius, name, name, name);
    tz_cuda_emit(
        t,
        "    const int times = ENDS && TZ_BOUNDARY_Y == TZ_CLAMP && row + %d == 0 ? %d : 1;\n"
        "    _Pragma(\"unroll 1\") for (int k = 0; k < times; k++)\n"
        "      TZ_UNROLL for (int e = 0; e < TZ_V; e++)\n"
        "        %s_new[e] = pass_0::push_%s(c, e, q.sum_%d);\n",
        radius, radius + 1, name, pass->text_cell, level);
}

static void say_level(tz_cuda_text *t, const rows_design *d, int level)
{
    const tz_problem *problem = d->problem;
    const tz_stencil *s = problem->stencil;
    const tz_pass *pass = rows_pass(d, level);
    const int p = (level - 1) % s->passes_count;
    tz_cuda_emit(t, "  { /* level %d */\n    pass_%d::context_%s c;\n    const int row = y - %d;\n",
                 level, p, pass->text_cell, d->lag[level]);
    tz_cuda_emit_constants(t, problem);
    if (d->sums)
        say_push(t, d, level);
    else
        say_update(t, d, level);
    for (int f = 0; f < s->fields_count; f++) {
        if (!(pass->writes >> f & 1))
            continue;
        const char *name = s->fields[f].name;
        const rows_ring *r = rows_find_ring(d, f, level);
        const bool last = rows_version_before(d, f, d->levels + 1) == level;
        if (last)
            tz_cuda_emit(t, "    tz_commit(s, w.%s_to, row, %s_new);\n", name, name);
        if (r->radius == 0 && last && level == d->levels)
            continue;
        tz_cuda_emit(
            t,
            "    if (BORDER && (TZ_EDGES || s.border)) tz_fix_columns(a, s, %s_new, %s_edge);\n"
            "    tz_shift(q.%s_%d);\n",
            name, name, name, level);
        if (r->halo)
            tz_cuda_emit(t,
                         "    {\n      %s wide[TZ_V + %d];\n      tz_widen<BORDER, %d>(s, %s_new, "
                         "wide, %s_edge);\n"
                         "      TZ_UNROLL for (int i = 0; i < TZ_V + %d; i++) q.%s_%d[%d][i] = "
                         "wide[i];\n    }\n",
                         tz_cuda_type_name(s->fields[f].type), 2 * r->halo, r->halo, name, name,
                         2 * r->halo, name, level, r->depth - 1);
        else
            tz_cuda_emit(t,
                         "    TZ_UNROLL for (int i = 0; i < TZ_V; i++) q.%s_%d[%d][i] = "
                         "%s_new[i];\n",
                         name, level, r->depth - 1, name);
        if (d->sums)
            tz_cuda_emit(
                t, "    if (ENDS) tz_fix_end(a, row, q.%s_%d, w.last + %d * TZ_STRIP, %s_edge);\n",
                name, level, level - 1, name);
        else
            tz_cuda_emit(t, "    if (ENDS) tz_fix_rows<%d>(a, row, q.%s_%d, %s_edge);\n", r->radius,
                         name, level, name);
    }
    tz_cuda_emit(t, "  }\n");
}

/* The row that is taken `ahead` steps later goes into the queue. */
static void say_fetch(tz_cuda_text *t, const rows_design *d, const rows_ring *r, const char *border,
                      const char *step, const char *row)
{
    const char *name = d->problem->stencil->fields[r->field].name;
    char slot[80];
    say_slot(slot, sizeof slot, &d->problem->stencil->fields[r->field], step, 0);
    tz_cuda_emit(t,
                 "  tz_fetch_row<%s>(a, s, w.%s + %s, w.%s_next, a.in[%d], %s_edge, %s + %d);\n"
                 "  w.%s_next += a.pitch;\n",
                 border, name, slot, name, r->field, name, row, r->newest, name);
}

static void say_edges(tz_cuda_text *t, const tz_problem *problem)
{
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const tz_field *field = &problem->stencil->fields[f];
        const char *type = tz_cuda_type_name(field->type);
        tz_cuda_emit(t, "  const %s %s_edge = *(const %s *)&a.edge[%d];\n", type, field->name, type,
                     f);
    }
}

static bool is_written(const rows_design *d, int f)
{
    return rows_version_before(d, f, d->levels + 1) > 0;
}

static void say_queues(tz_cuda_text *t, const rows_design *d)
{
    /* The queue of each loaded field, where its next row comes from and where its result goes. */
    tz_cuda_emit(t, "struct tz_queues {\n  int part, kept;\n");
    if (d->sums)
        tz_cuda_emit(t, "  %s *last;\n", tz_cuda_type_name(d->problem->stencil->fields[0].type));
    for (int f = 0; f < d->problem->stencil->fields_count; f++) {
        const tz_field *field = &d->problem->stencil->fields[f];
        const char *type = tz_cuda_type_name(field->type);
        tz_cuda_emit(t, "  %s *%s;\n  const %s *%s_next;\n", type, field->name, type, field->name);
        if (is_written(d, f))
            tz_cuda_emit(t, "  %s *%s_to;\n", type, field->name);
    }
    tz_cuda_emit(t, "};\n");
}

static void say_step(tz_cuda_text *t, const rows_design *d)
{
    tz_cuda_emit(
        t, "template <bool BORDER, bool ENDS> TZ_DEVICE void tz_step(const tz_arguments &a, const "
           "tz_strip &s, tz_queues &w, tz_rings &q, const int y, const int u)\n{\n");
    say_edges(t, d->problem);
    for (int i = 0; i < d->rings_count; i++)
        if (d->rings[i].level == 0)
            say_fetch(t, d, &d->rings[i], "ENDS", "u + TZ_AHEAD", "y + TZ_AHEAD");
    tz_cuda_emit(t, "  tz_fetch_end();\n  tz_fetch_wait<TZ_AHEAD>();\n");
    for (int i = 0; i < d->rings_count; i++)
        if (d->rings[i].level == 0)
            say_take(t, d, &d->rings[i]);
    for (int l = 1; l <= d->levels; l++)
        say_level(t, d, l);
    for (int f = 0; f < d->problem->stencil->fields_count; f++)
        if (is_written(d, f))
            tz_cuda_emit(t, "  w.%s_to += a.pitch;\n", d->problem->stencil->fields[f].name);
    tz_cuda_emit(t, "}\n");
}

static void say_kernel(tz_cuda_text *t, const rows_design *d, const tz_plan *plan)
{
    char kernel[80] = "TZ_KERNEL(tz_stage, 32 * TZ_WARPS)";
    if (plan->blocks > 0)
        snprintf(kernel, sizeof kernel, "TZ_KERNEL_MANY(tz_stage, 32 * TZ_WARPS, %d)",
                 plan->blocks);
    int radius = 0;
    for (int i = 0; i < d->rings_count; i++)
        radius = d->rings[i].radius > radius ? d->rings[i].radius : radius;
    const bool wraps = d->problem->boundary[1] == TZ_PERIODIC;
    char start[80];
    snprintf(start, sizeof start, "s.low - %d", d->reach + d->extra);
    if (d->edges && !wraps) /* what is before the grid's first row need not be made */
        snprintf(start, sizeof start, "s.low > 0 ? s.low - %d : %d", d->reach + d->extra,
                 -radius - d->extra);
    say_queues(t, d);
    say_step(t, d);
    tz_cuda_emit(
        t,
        "template <bool BORDER, bool ENDS> TZ_DEVICE void tz_steps(const tz_arguments &a, const "
        "tz_strip &s, "
        "tz_queues &w, tz_rings &q, const int y)\n{\n"
        "  if (BORDER && !TZ_EDGES) {\n    _Pragma(\"unroll 1\") for (int u = 0; u < TZ_STEPS; "
        "u++)\n"
        "      tz_step<BORDER, ENDS>(a, s, w, q, y + u, u);\n  } else {\n"
        "    TZ_UNROLL for (int u = 0; u < TZ_STEPS; u++)\n"
        "      tz_step<BORDER, ENDS>(a, s, w, q, y + u, u);\n  }\n"
        "  w.part = tz_slot<TZ_QUEUE>(w.part, TZ_STEPS);\n"
        "  w.kept = tz_slot<TZ_QUEUE_KEPT>(w.kept, TZ_STEPS);\n}\n"
        "%s(const tz_arguments a)\n{\n"
        "  const int strips = a.geometry[0], left = a.geometry[1], right = a.geometry[2];\n"
        "  int item = TZ_WARPS == 1 ? tz_block(0) : tz_block(0) * TZ_WARPS + tz_warp();\n"
        "  int chunk = a.geometry[4];\n"
        "  const int border = (left + right) * ((a.ny + chunk - 1) / chunk);\n"
        "  int across = left + right, strip, part;\n"
        "  tz_strip s;\n"
        "  s.border = item < border;\n"
        "  if (s.border) {\n"
        "    strip = item %% across;\n    part = item / across;\n"
        "    strip = strip < left ? strip : strips - 1 - (strip - left);\n"
        "  } else {\n"
        "    item -= border;\n    across = strips - left - right;\n    chunk = a.geometry[3];\n"
        "    if (across == 0)\n      return;\n"
        "    strip = left + item %% across;\n    part = item / across;\n  }\n"
        "  /* The ends of the grid first: they take longer. */\n"
        "  part = part == 0 ? (a.ny + chunk - 1) / chunk - 1 : part - 1;\n"
        "  s.low = part * chunk;\n  const int high = s.low + chunk < a.ny ? s.low + chunk : a.ny;\n"
        "  if (s.low >= a.ny)\n    return;\n"
        "  s.x0 = strip * (TZ_STRIP - 2 * TZ_GHOST) - TZ_GHOST;\n"
        "  tz_place(a, s);\n"
        "  const bool own = tz_lane() * TZ_V >= TZ_GHOST && tz_lane() * TZ_V < TZ_STRIP - "
        "TZ_GHOST;\n"
        "  s.rows = own && s.x < a.nx ? high - s.low : 0;\n"
        "  tz_rings q;\n  int y = %s;\n"
        "  tz_queues w;\n  w.part = w.kept = 0;\n  unsigned char *shared = tz_shared();\n",
        kernel, start);
    say_edges(t, d->problem);
    for (int f = 0; f < d->problem->stencil->fields_count; f++) {
        const tz_field *field = &d->problem->stencil->fields[f];
        const char *type = tz_cuda_type_name(field->type);
        const int rows = rows_queue(d, field->role == TZ_STATE);
        tz_cuda_emit(t,
                     "  w.%s = (%s *)shared + (tz_thread() / 32 * %d * 32 + tz_lane()) * "
                     "TZ_V;\n  shared += TZ_WARPS * %d * TZ_STRIP * sizeof(%s);\n",
                     field->name, type, rows, rows, type);
        tz_cuda_emit(t,
                     "  w.%s_next = (const %s *)a.in[%d] + ((long long)a.pitch * (y + %d) + "
                     "(TZ_EDGES ? s.from : s.x));\n",
                     field->name, type, f, rows_find_ring(d, f, 0)->newest);
        if (is_written(d, f))
            tz_cuda_emit(t,
                         "  w.%s_to = (%s *)a.out[%d] + ((long long)a.pitch * (y - %d) + s.x);\n",
                         field->name, type, f, d->lag[rows_version_before(d, f, d->levels + 1)]);
    }
    if (d->sums) {
        const char *type = tz_cuda_type_name(d->problem->stencil->fields[0].type);
        tz_cuda_emit(t, "  w.last = (%s *)shared + (tz_thread() / 32 * %d + tz_lane()) * TZ_V;\n",
                     type, 32 * d->levels);
    }
    for (int i = 0; i < d->rings_count; i++)
        tz_cuda_emit(t, "  tz_clear(q.%s_%d);\n",
                     d->problem->stencil->fields[d->rings[i].field].name, d->rings[i].level);
    for (int l = 1; d->sums && l <= d->levels; l++)
        tz_cuda_emit(t, "  tz_clear(q.sum_%d);\n", l);
    /* Later groups take rows from the first step on, which nobody has loaded then. */
    for (int f = 0; d->group < d->levels && f < d->problem->stencil->fields_count; f++)
        if (d->problem->stencil->fields[f].role != TZ_STATE)
            tz_cuda_emit(t,
                         "  _Pragma(\"unroll 1\") for (int k = 0; k < TZ_QUEUE_KEPT; k++)\n"
                         "    tz_blank(w.%s + k * TZ_STRIP);\n",
                         d->problem->stencil->fields[f].name);
    tz_cuda_emit(t, "  _Pragma(\"unroll 1\") for (int k = 0; k < TZ_AHEAD; k++) {\n");
    int newest = 0, oldest = 0;
    for (int i = 0; i < d->rings_count; i++) {
        const rows_ring *r = &d->rings[i];
        if (r->level > 0)
            continue;
        say_fetch(t, d, r, "true", "k", "(y + k)");
        newest = r->newest > newest ? r->newest : newest;
        oldest = r->newest < oldest ? r->newest : oldest;
    }
    const int last = d->lag[d->levels];
    tz_cuda_emit(t,
                 "    tz_fetch_end();\n  }\n  const int end = high + %d;\n"
                 "  for (; y < end; y += TZ_STEPS)\n"
                 "    if (!TZ_EDGES && s.border || y < %d || y + %d >= a.ny)\n"
                 "      tz_steps<true, true>(a, s, w, q, y);\n"
                 "    else if (TZ_EDGES && TZ_SIDES && s.border)\n"
                 "      tz_steps<true, false>(a, s, w, q, y);\n    else\n"
                 "      tz_steps<false, false>(a, s, w, q, y);\n  tz_fetch_wait<0>();\n}\n",
                 last, wraps ? -oldest : last + radius + 1 - oldest,
                 d->unroll - 1 + newest + d->ahead);
}

void rows_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                    const tz_plan *plan)
{
    (void)limits;
    rows_design d;
    rows_design_make(&d, problem, plan);
    tz_cuda_emit_sizes(t, problem, plan->height, plan->tile);
    tz_cuda_emit(
        t,
        "#define TZ_V %d\n#define TZ_GHOST %d\n#define TZ_STEPS %d\n#define TZ_WARPS %d\n"
        "#define TZ_AHEAD %d\n#define TZ_QUEUE %d\n#define TZ_QUEUE_KEPT %d\n#define TZ_EDGES %d\n"
        "#define TZ_SIDES %d\n#define TZ_END %d\n"
        "#include \"rows.cuh\"\n",
        d.vector, rows_ghost(&d), d.unroll, rows_warps(plan), d.ahead, rows_queue(&d, true),
        rows_queue(&d, false), d.edges, rows_has_sides(&d), rows_end_columns(problem, d.vector));
    for (int p = 0; p < problem->stencil->passes_count; p++) {
        for (int f = 0; f < problem->stencil->fields_count; f++) {
            const tz_field *field = &problem->stencil->fields[f];
            tz_cuda_emit(t, "#undef TZ__R_%s\n#define TZ__R_%s %d\n", field->name, field->name,
                         field->role == TZ_STATE ? problem->stencil->passes[p].radius
                                                 : field->radius);
        }
        tz_cuda_emit_pass(t, problem, p);
    }
    say_rings(t, &d);
    say_kernel(t, &d, plan);
}
