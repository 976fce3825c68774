/* The tile family: Meng and Skadron's tiles in shared memory (kernels/cuda/tile.cuh). */
#include "backend/cuda/family/family.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    THREADS = 256,
    BYTES_MAX = 200 << 10 /* shared memory of a tile with its ghost zone, where a block has more */
};

static int64_t shared_bytes(const tz_problem *problem, const tz_plan *plan)
{
    const int64_t halo = (int64_t)plan->height * tz_stencil_reach(problem->stencil);
    int64_t elements = 1, bytes = 0;
    for (int d = 0; d < problem->dims; d++)
        elements *= plan->tile[d] + 2 * halo;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].role == TZ_STATE)
            bytes += 2 * elements * (int64_t)tz_problem_element_size(problem, f);
    return bytes;
}

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

static void tile_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                      const tz_plan *plan)
{
    (void)limits;
    tz_cuda_emit_sizes(t, problem, plan->height, plan->tile);
    tz_cuda_emit(t, "#define TZ_THREADS %d\n#include \"tile.cuh\"\n", THREADS);
    for (int p = 0; p < problem->stencil->passes_count; p++)
        tz_cuda_emit_pass(t, problem, p);
    say_kernel(t, problem);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static const char *tile_refuses(const tz_problem *problem)
{
    (void)problem;
    return NULL;
}

static tz_status tile_plan(const tz_problem *problem, const tz_limits *limits, tz_plan *plan,
                           tz_error *error)
{
    static const int64_t tiles[][TZ_AXES] = {{0}, {2048, 1, 1}, {64, 32, 1}, {32, 8, 8}};
    static const int heights[] = {0, 20, 4, 2};
    if (plan->vector || plan->ahead || plan->slack || plan->warps || plan->blocks)
        return tz_error_set(error, TZ_UNSUPPORTED, "plan",
                            "tiles take no 'vector', 'ahead', 'slack', 'warps' or 'blocks'");
    const bool chosen = plan->height == 0;
    const tz_plan given = *plan;
    const int bytes_max = limits->shared_bytes < BYTES_MAX ? limits->shared_bytes : BYTES_MAX;
    const int r = tz_stencil_reach(problem->stencil) > 0 ? tz_stencil_reach(problem->stencil) : 1;
    if (plan->height < 0 || plan->height > 512)
        return tz_error_set(error, TZ_RANGE, "height", "height %d is out of range; 1 to 512",
                            plan->height);
    if (chosen)
        plan->height = heights[problem->dims] / r > 0 ? heights[problem->dims] / r : 1;
    for (int d = 0; d < TZ_AXES; d++) {
        if (plan->tile[d] < 0)
            return tz_error_set(error, TZ_RANGE, "tile", "extent %d is %" PRId64 "; use 1 or more",
                                d + 1, plan->tile[d]);
        if (d >= problem->dims)
            plan->tile[d] = 1;
        else if (plan->tile[d] == 0)
            plan->tile[d] = tiles[problem->dims][d];
        if (plan->tile[d] > problem->elements[d])
            plan->tile[d] = problem->elements[d];
    }
    /* A high trapezoid leaves room for a smaller tile only. */
    while (shared_bytes(problem, plan) > bytes_max) {
        int widest = -1;
        for (int d = 0; d < problem->dims; d++)
            if (given.tile[d] == 0 && plan->tile[d] > 4 &&
                (widest < 0 || plan->tile[d] > plan->tile[widest]))
                widest = d;
        if (widest < 0)
            break;
        plan->tile[widest] = (plan->tile[widest] + 1) / 2;
    }
    const int wanted = plan->height;
    while (plan->height > 1 && shared_bytes(problem, plan) > bytes_max)
        plan->height--;
    if (shared_bytes(problem, plan) > bytes_max)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "a tile of %" PRId64 " x %" PRId64 " x %" PRId64
                            " with its ghost zone does not fit a block's shared memory: use a "
                            "smaller one",
                            plan->tile[0], plan->tile[1], plan->tile[2]);
    if (plan->height < wanted && !chosen)
        return tz_error_set(error, TZ_RANGE, "height",
                            "height %d with this tile needs more shared memory than a block has: "
                            "use a height up to %d, or a smaller tile",
                            wanted, plan->height);
    strcpy(plan->family, "tile");
    snprintf(plan->why, sizeof plan->why, "%s height", chosen ? "default" : "given");
    return TZ_OK;
}

static int tile_threads(const tz_problem *problem, const tz_plan *plan)
{
    (void)problem;
    (void)plan;
    return THREADS;
}

static int tile_shared_bytes(const tz_problem *problem, const tz_limits *limits,
                             const tz_plan *plan)
{
    (void)limits;
    return (int)shared_bytes(problem, plan);
}

static tz_status tile_shape(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                            int blocks, tz_cuda_shape *shape, tz_error *error)
{
    (void)blocks;
    *shape = (tz_cuda_shape){.threads = THREADS,
                             .shared_bytes = tile_shared_bytes(problem, limits, plan)};
    for (int d = 0; d < TZ_AXES; d++)
        shape->grid[d] = (int)((problem->elements[d] + plan->tile[d] - 1) / plan->tile[d]);
    if (shape->grid[1] > 65535 || shape->grid[2] > 65535)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "too many tiles along y or z for a GPU: use larger ones");
    return TZ_OK;
}

const tz_cuda_family tz_cuda_family_tile = {
    .name = "tile",
    .doc = "tiles with their ghost zones in shared memory",
    .refuses = tile_refuses,
    .plan = tile_plan,
    .emit = tile_emit,
    .threads = tile_threads,
    .shared_bytes = tile_shared_bytes,
    .shape = tile_shape,
};
