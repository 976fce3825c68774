/* The device text of the tile family: what is generated around kernels/cuda/tile.cuh. */
#include "backend/cuda/family/tile/text.h"

static void say_pass_loop(tz_cuda_text *t, const tz_problem *problem, int p)
{
    const tz_stencil *s = problem->stencil;
    const tz_pass *pass = &s->passes[p];
    tz_cuda_emit(t,
                 "    rest -= %d;\n    {\n      pass_%d::context_%s c;\n      c.arguments = &a;\n",
                 pass->radius, p, pass->text_cell);
    for (int f = 0; f < s->fields_count; f++) {
        const char *name = s->fields[f].name;
        if (s->fields[f].role == TZ_STATE)
            tz_cuda_emit(t, "      c.%s = %s_now;\n      c.%s_out = %s_next;\n", name, name, name,
                         name);
        else
            tz_cuda_emit(t, "      c.%s = (const %s *)a.in[%d];\n", name,
                         tz_cuda_type_name(s->fields[f].type), f);
        tz_cuda_emit(t, "      c.%s_edge = %s_edge;\n", name, name);
    }
    tz_cuda_emit_constants(t, problem);
    tz_cuda_emit(
        t,
        "      for (int i = tz_thread(); i < TZ_EXT; i += TZ_THREADS) {\n"
        "        tz_place p = tz_place_of(a, i);\n"
        "        if (!tz_wanted(a, p, rest))\n          continue;\n"
        "        tz_place_inside(a, p);\n        p.iteration = t;\n        p.step = a.step + t;\n"
        "        pass_%d::update_%s<BORDER>(c, p);\n",
        p, pass->text_cell);
    for (int f = 0; problem->bits && f < s->fields_count; f++)
        if (pass->writes >> f & 1)
            tz_cuda_emit(t,
                         "        tz_put(%s_next + i, tz_mask_word(a, p.x, tz_get(%s_next + i), "
                         "%s_edge));\n",
                         s->fields[f].name, s->fields[f].name, s->fields[f].name);
    tz_cuda_emit(t, "      }\n    }\n    tz_barrier();\n");
    for (int f = 0; f < s->fields_count; f++)
        if (pass->writes >> f & 1) {
            const char *name = s->fields[f].name, *type = tz_cuda_type_name(s->fields[f].type);
            tz_cuda_emit(t, "    { %s *swap = %s_now; %s_now = %s_next; %s_next = swap; }\n", type,
                         name, name, name, name);
        }
}

static void say_kernel(tz_cuda_text *t, const tz_problem *problem)
{
    const tz_stencil *s = problem->stencil;
    tz_cuda_emit(t, "template <bool BORDER> TZ_DEVICE void tz_run(const tz_arguments &a)\n{\n"
                    "  unsigned char *shared = tz_shared();\n");
    for (int f = 0; f < s->fields_count; f++) {
        const char *name = s->fields[f].name, *type = tz_cuda_type_name(s->fields[f].type);
        tz_cuda_emit(t, "  const %s %s_edge = *(const %s *)&a.edge[%d];\n", type, name, type, f);
        if (s->fields[f].role == TZ_STATE)
            tz_cuda_emit(t,
                         "  %s *%s_now = (%s *)shared, *%s_next = %s_now + TZ_EXT;\n"
                         "  shared += 2 * TZ_EXT * sizeof(%s);\n",
                         type, name, type, name, name, type);
    }
    tz_cuda_emit(
        t, "  for (int i = tz_thread(); i < TZ_EXT; i += TZ_THREADS) {\n"
           "    tz_place p = tz_place_of(a, i);\n"
           "    if (!tz_wanted(a, p, TZ_HALO_X))\n      continue;\n    tz_place_inside(a, p);\n");
    for (int f = 0; f < s->fields_count; f++) {
        const char *name = s->fields[f].name, *type = tz_cuda_type_name(s->fields[f].type);
        if (s->fields[f].role != TZ_STATE)
            continue;
        tz_cuda_emit(t,
                     "    { const %s *row = (const %s *)a.in[%d] + (long long)a.pitch * p.y_in + "
                     "a.plane * p.z_in;\n",
                     type, type, f);
        if (problem->bits)
            tz_cuda_emit(t, "      tz_put(%s_now + i, tz_load_word(a, row, p.x, %s_edge)); }\n",
                         name, name);
        else
            tz_cuda_emit(t, "      tz_put(%s_now + i, row[p.x_in]); }\n", name);
    }
    tz_cuda_emit(t,
                 "  }\n  tz_barrier();\n  int rest = a.height * %d;\n"
                 "  for (int t = 0; t < a.height; t++) {\n",
                 tz_stencil_reach(problem->stencil));
    for (int p = 0; p < s->passes_count; p++)
        say_pass_loop(t, problem, p);
    tz_cuda_emit(t,
                 "  }\n  for (int i = tz_thread(); i < TZ_EXT; i += TZ_THREADS) {\n"
                 "    const tz_place p = tz_place_of(a, i);\n"
                 "    if (!tz_wanted(a, p, 0) || p.x >= a.nx || p.y >= a.ny || p.z >= a.nz)\n      "
                 "continue;\n"
                 "    const long long to = p.x + (long long)a.pitch * p.y + a.plane * p.z;\n");
    uint32_t written = 0;
    for (int p = 0; p < s->passes_count; p++)
        written |= s->passes[p].writes;
    for (int f = 0; f < s->fields_count; f++)
        if (written >> f & 1)
            tz_cuda_emit(t, "    ((%s *)a.out[%d])[to] = tz_get(%s_now + i);\n",
                         tz_cuda_type_name(s->fields[f].type), f, s->fields[f].name);
    tz_cuda_emit(t,
                 "  }\n}\n\n"
                 "TZ_KERNEL(tz_stage, TZ_THREADS)(const tz_arguments a)\n{\n"
                 "  const int x = tz_block(0) * TZ_TILE_X, y = tz_block(1) * TZ_TILE_Y;\n"
                 "  const int z = tz_block(2) * TZ_TILE_Z;\n"
                 "  const bool border = x < TZ_HALO_X || x + TZ_TILE_X + TZ_HALO_X > a.nx ||\n"
                 "      (TZ_DIMS > 1 && (y < TZ_HALO_Y || y + TZ_TILE_Y + TZ_HALO_Y > a.ny)) ||\n"
                 "      (TZ_DIMS > 2 && (z < TZ_HALO_Z || z + TZ_TILE_Z + TZ_HALO_Z > a.nz));\n"
                 "  if (border)\n    tz_run<true>(a);\n  else\n    tz_run<false>(a);\n}\n");
}

void tile_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                    const tz_plan *plan)
{
    (void)limits;
    tz_cuda_emit_sizes(t, problem, plan->height, plan->tile);
    tz_cuda_emit(t, "#define TZ_THREADS %d\n#include \"tile.cuh\"\n", TILE_THREADS);
    for (int p = 0; p < problem->stencil->passes_count; p++)
        tz_cuda_emit_pass(t, problem, p);
    say_kernel(t, problem);
}
