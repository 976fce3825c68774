/* The device text of the 1-D stream family: what is generated around kernels/cuda/line.cuh. */
#include "backend/cuda/family/line/line.h"

#include "backend/host/store.h"

#include <inttypes.h>

static void say_pass(tz_cuda_text *t, const tz_problem *problem, int p)
{
    const tz_stencil *s = problem->stencil;
    const tz_pass *pass = &s->passes[p];
    tz_cuda_emit(t, "      {\n      pass_%d::context_%s c;\n", p, pass->text_cell);
    for (int f = 0; f < s->fields_count; f++) {
        const char *name = s->fields[f].name;
        if (s->fields[f].role == TZ_STATE)
            tz_cuda_emit(t, "      tz_widen(%s_now, s, c.%s);\n", name, name);
        else if (s->fields[f].role == TZ_STATIC)
            tz_cuda_emit(t, "      c.%s = %s_window;\n", name, name);
        else
            tz_cuda_emit(t, "      tz_widen(%s_rows[r], s, c.%s);\n", name, name);
    }
    tz_cuda_emit_constants(t, problem);
    tz_cuda_emit(t,
                 "      TZ_UNROLL\n      for (int p = 0; p < TZ_PACKETS; p++)\n"
                 "        TZ_UNROLL\n        for (int k = 0; k < TZ_PACKET; k++) {\n"
                 "          tz_place at;\n          at.packet = p;\n          at.element = k;\n"
                 "          at.x = tz_strip_x<BORDER>(a, s, p, k);\n"
                 "          at.step = a.step + t;\n"
                 "          pass_%d::update_%s(c, at, once_%d[p][k]);\n        }\n",
                 p, pass->text_cell, p);
    for (int f = 0; f < s->fields_count; f++)
        if (pass->writes >> f & 1) {
            const char *name = s->fields[f].name, *type = tz_cuda_type_name(s->fields[f].type);
            tz_cuda_emit(t,
                         "      tz_strip_copy(c.%s_out, %s_now);\n"
                         "      if (BORDER)\n"
                         "        tz_strip_restore(a, s, %s_edge, (%s *)staging, %s_now);\n",
                         name, name, name, type, name);
        }
    tz_cuda_emit(t, "      }\n");
}

/* What a pass makes of static fields, once for all iterations. */
static void say_once(tz_cuda_text *t, const tz_problem *problem, int p)
{
    const tz_stencil *s = problem->stencil;
    const char *cell = s->passes[p].text_cell;
    tz_cuda_emit(t,
                 "  pass_%d::once_%s once_%d[TZ_PACKETS][TZ_PACKET];\n"
                 "  {\n      pass_%d::context_%s c;\n",
                 p, cell, p, p, cell);
    for (int f = 0; f < s->fields_count; f++)
        if (s->fields[f].role == TZ_STATIC)
            tz_cuda_emit(t, "      c.%s = %s_window;\n", s->fields[f].name, s->fields[f].name);
    tz_cuda_emit_constants(t, problem);
    tz_cuda_emit(t,
                 "      TZ_UNROLL\n      for (int p = 0; p < TZ_PACKETS; p++)\n"
                 "        TZ_UNROLL\n        for (int k = 0; k < TZ_PACKET; k++) {\n"
                 "          tz_place at;\n          at.packet = p;\n          at.element = k;\n"
                 "          once_%d[p][k] = pass_%d::make_once_%s(c, at);\n        }\n  }\n",
                 p, p, cell);
}

/* The next row of each streamed field, into a slot of its own. */
static void say_rows(tz_cuda_text *t, const tz_problem *problem)
{
    const tz_stencil *s = problem->stencil;
    for (int f = 0; f < s->fields_count; f++)
        if (s->fields[f].role == TZ_STREAMED)
            tz_cuda_emit(t, "        tz_strip_stream<BORDER>(a, s, %s_row, %s_rows[r]);\n",
                         s->fields[f].name, s->fields[f].name);
}

static void say_kernel(tz_cuda_text *t, const tz_problem *problem)
{
    const tz_stencil *s = problem->stencil;
    const bool rows = line_streams(problem);
    tz_cuda_emit(t, "template <bool BORDER> TZ_DEVICE void tz_run(const tz_arguments &a, "
                    "const tz_strip &s, unsigned char *staging)\n{\n");
    for (int f = 0; f < s->fields_count; f++)
        if (s->fields[f].role == TZ_STREAMED)
            tz_cuda_emit(t,
                         "  int %s_rows[TZ_GROUP][TZ_PACKETS][TZ_PACKET];\n"
                         "  const int *%s_row = tz_strip_row<BORDER>(s, a.in[%d]);\n",
                         s->fields[f].name, s->fields[f].name, f);
    if (rows) {
        tz_cuda_emit(t, "  TZ_UNROLL\n  for (int r = 0; r < TZ_GROUP; r++)\n"
                        "    if (r < a.height) {\n");
        say_rows(t, problem);
        tz_cuda_emit(t, "    }\n");
    }
    for (int f = 0; f < s->fields_count; f++) {
        const char *name = s->fields[f].name, *type = tz_cuda_type_name(s->fields[f].type);
        if (s->fields[f].role == TZ_STREAMED)
            continue;
        tz_cuda_emit(t,
                     "  const %s %s_edge = *(const %s *)&a.edge[%d];\n"
                     "  %s %s_now[TZ_PACKETS][TZ_PACKET];\n"
                     "  tz_strip_load<BORDER>(a, s, (const %s *)a.in[%d], %s_edge, %s_now);\n",
                     type, name, type, f, type, name, type, f, name, name);
        if (s->fields[f].role == TZ_STATIC)
            tz_cuda_emit(t,
                         "  tz_window<%s, TZ__RADIUS_%s> %s_window;\n"
                         "  tz_widen(%s_now, s, %s_window);\n",
                         type, name, name, name, name);
    }
    for (int p = 0; p < s->passes_count; p++)
        say_once(t, problem, p);
    tz_cuda_emit(t, "  for (int first = 0; first < a.height; first += TZ_GROUP) {\n"
                    "    TZ_UNROLL\n    for (int r = 0; r < TZ_GROUP; r++) {\n"
                    "      const int t = first + r;\n"
                    "      if (t >= a.height)\n        break;\n");
    for (int p = 0; p < s->passes_count; p++)
        say_pass(t, problem, p);
    if (rows) {
        tz_cuda_emit(t, "      if (t + TZ_GROUP < a.height) {\n");
        say_rows(t, problem);
        tz_cuda_emit(t, "      }\n");
    }
    tz_cuda_emit(t, "    }\n  }\n");
    for (int f = 0; f < s->fields_count; f++)
        if (tz_problem_written(problem) >> f & 1)
            tz_cuda_emit(t, "  tz_strip_store<BORDER>(a, s, (%s *)a.out[%d], %s_now);\n",
                         tz_cuda_type_name(s->fields[f].type), f, s->fields[f].name);
    tz_cuda_emit(t, "}\n\n%s",
                 "TZ_KERNEL_MANY(tz_stage, TZ_THREADS, TZ_BLOCKS)(const tz_arguments a)\n{\n"
                 "  tz_strip s;\n"
                 "  const int first = tz_strips_first();\n"
                 "  s.lane = tz_lane();\n"
                 "  s.x = first + tz_warp() * TZ_TILE_X;\n"
                 "  if (tz_strips_border(a, first))\n"
                 "    tz_run<true>(a, s, tz_shared() + tz_warp() * (TZ_STRIP * TZ_STAGED));\n"
                 "  else\n"
                 "    tz_run<false>(a, s, 0);\n}\n");
}

void line_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                    const tz_plan *plan)
{
    (void)limits;
    const tz_stencil *s = problem->stencil;
    tz_cuda_emit_sizes(t, problem, plan->height, plan->tile);
    for (int f = 0; f < s->fields_count; f++)
        tz_cuda_emit(t, "#define TZ__RADIUS_%s %d\n", s->fields[f].name, s->fields[f].radius);
    tz_cuda_emit(t,
                 "#define TZ_VECTOR %d\n#define TZ_PACKET %d\n#define TZ_GHOST %" PRId64 "\n"
                 "#define TZ_GROUP %d\n#define TZ_WARPS %d\n#define TZ_THREADS %d\n"
                 "#define TZ_BLOCKS %d\n#define TZ_STAGED %d\n#include \"line.cuh\"\n",
                 plan->vector, line_packet(problem), line_ghost(problem, plan->height),
                 plan->ahead > 0 ? plan->ahead : LINE_UNROLLED, plan->warps, 32 * plan->warps,
                 plan->blocks, line_staged(problem) ? 16 / line_packet(problem) : 0);
    for (int p = 0; p < s->passes_count; p++)
        tz_cuda_emit_pass(t, problem, p);
    say_kernel(t, problem);
}
