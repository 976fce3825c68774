/* The device text of the resident family: what is generated around kernels/cuda/resident.cuh. */
#include "backend/cuda/family/resident/design.h"

#include "backend/host/store.h"

/* Publications of a field in an iteration: one at its start, one after each pass but the last that
 * writes it. */
static int shows(const tz_stencil *s, int f)
{
    int count = 1;
    for (int p = 0; p + 1 < s->passes_count; p++)
        count += s->passes[p].writes >> f & 1;
    return count;
}

/* The buffer that holds a field's values in pass `pass`, as text over `odd`. */
static void say_buffer(tz_cuda_text *t, const tz_problem *problem, const tz_resident *d, int f,
                       int pass)
{
    const tz_stencil *s = problem->stencil;
    int before = 0;
    for (int p = 0; p < pass; p++)
        before += s->passes[p].writes >> f & 1;
    if (d->buffers == 1 || !(tz_problem_written(problem) >> f & 1))
        tz_cuda_emit(t, "%s_at", s->fields[f].name);
    else
        tz_cuda_emit(t, "%s_at + ((odd * %d + %d) & 1) * (TZ_CELLS * TZ_LIVE)", s->fields[f].name,
                     shows(s, f), before);
}

static void say_show(tz_cuda_text *t, const tz_problem *problem, const tz_resident *d,
                     uint32_t fields, int pass)
{
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (fields >> f & 1 && tz_resident_is_shared(problem, d, f)) {
            tz_cuda_emit(t, "        tz_show(");
            say_buffer(t, problem, d, f, pass);
            tz_cuda_emit(t, ", %s_own);\n", problem->stencil->fields[f].name);
        }
}

/* A pass's context: bricks, places in shared memory, constants. */
static void say_context(tz_cuda_text *t, const tz_problem *problem, const tz_resident *d, int p,
                        bool once)
{
    const tz_stencil *s = problem->stencil;
    tz_cuda_emit(t, "      pass_%d::context_%s c;\n", p, s->passes[p].text_cell);
    for (int f = 0; f < s->fields_count; f++) {
        const char *name = s->fields[f].name;
        if (!once || s->fields[f].role == TZ_STATIC)
            tz_cuda_emit(t, "      c.%s = %s_own;\n", name, name);
        if (s->fields[f].role == TZ_STREAMED)
            continue;
        tz_cuda_emit(t, "      c.%s_edge = %s_edge;\n      c.%s_at = ", name, name, name);
        say_buffer(t, problem, d, f, p);
        tz_cuda_emit(t, ";\n");
    }
    tz_cuda_emit_constants(t, problem);
}

static void say_pass(tz_cuda_text *t, const tz_problem *problem, const tz_resident *d, int p)
{
    const tz_stencil *s = problem->stencil;
    const tz_pass *pass = &s->passes[p];
    const uint32_t changed = p == 0 ? tz_problem_written(problem) : s->passes[p - 1].writes;
    if (d->buffers == 1)
        tz_cuda_emit(t, p == 0 ? "      if (t > 0)\n        tz_barrier();\n"
                               : "      tz_barrier();\n");
    tz_cuda_emit(t, "      if (live) {\n");
    say_show(t, problem, d, changed, p);
    /* Threads without a brick compute, too, what nobody sees. */
    tz_cuda_emit(t, "      }\n      tz_barrier();\n      {\n");
    say_context(t, problem, d, p, false);
    tz_cuda_emit(t, "      TZ_EACH_CELL {\n        tz_place at = tz_place_of(a, tile, i, j, k);\n"
                    "        at.step = a.step + t;\n");
    if (d->held)
        tz_cuda_emit(t, "        pass_%d::update_%s(c, tile, at, once_%d[k][j][i]);\n      }\n", p,
                     pass->text_cell, p);
    else
        tz_cuda_emit(
            t,
            "        pass_%d::update_%s(c, tile, at, pass_%d::make_once_%s(c, tile, at));\n"
            "      }\n",
            p, pass->text_cell, p, pass->text_cell);
    for (int f = 0; f < s->fields_count; f++)
        if (pass->writes >> f & 1) {
            const char *name = s->fields[f].name;
            tz_cuda_emit(t,
                         "      %s_own = c.%s_out;\n      tz_mask_brick(tile, %s_edge, "
                         "%s_own);\n",
                         name, name, name, name);
        }
    tz_cuda_emit(t, "      }\n");
}

/* Between two stages. The barrier, after which shared memory may be written again, costs nothing:
 * words are on their way. */
static void say_exchange(tz_cuda_text *t, const tz_problem *problem)
{
    const tz_stencil *s = problem->stencil;
    const uint32_t written = tz_problem_written(problem);
    static const char *const words[] = {"send", "receive"};
    tz_cuda_emit(t, "    if (end < a.height) {\n      tag++;\n");
    for (int receive = 0; receive < 2; receive++) {
        int word = 0;
        tz_cuda_emit(t, "%s      if (live) {\n", receive ? "      tz_barrier();\n" : "");
        for (int f = 0; f < s->fields_count; f++)
            if (written >> f & 1) {
                const char *name = s->fields[f].name;
                tz_cuda_emit(t, "        tz_%s_brick(a, tile, tag, %d, %s%s%s_own);\n",
                             words[receive], word, receive ? name : "", receive ? "_edge, " : "",
                             name);
                word += (int)tz_problem_element_size(problem, f) / 4;
            }
        tz_cuda_emit(t, "      }\n");
    }
    tz_cuda_emit(t, "    }\n");
}

/* Fields into bricks and, what never changes, into shared memory. */
static void say_begin(tz_cuda_text *t, const tz_problem *problem, const tz_resident *d)
{
    const tz_stencil *s = problem->stencil;
    const uint32_t written = tz_problem_written(problem);
    tz_cuda_emit(t, "TZ_KERNEL(tz_stage, TZ_THREADS)(const tz_arguments a)\n{\n"
                    "  const bool live = TZ_LIVE == TZ_THREADS || tz_thread() < TZ_LIVE;\n"
                    "  const int thread = live ? tz_thread() : 0;\n"
                    "  const tz_tile tile = tz_tile_of(a, thread);\n"
                    "  unsigned char *shared = tz_shared();\n"
                    "  unsigned int tag = *tz_tag_of(a);\n");
    for (int f = 0; f < s->fields_count; f++) {
        const char *name = s->fields[f].name, *type = tz_cuda_type_name(s->fields[f].type);
        tz_cuda_emit(t, "  tz_brick<%s> %s_own;\n", type, name);
        if (s->fields[f].role == TZ_STREAMED) {
            tz_cuda_emit(t,
                         "  tz_brick<int> %s_next;\n"
                         "  tz_take_row(a, tile, (const int *)a.in[%d], %s_next);\n",
                         name, f, name);
            continue;
        }
        tz_cuda_emit(t,
                     "  const %s %s_edge = *(const %s *)&a.edge[%d];\n"
                     "  %s *%s_at = (%s *)shared + thread;\n",
                     type, name, type, f, type, name, type);
        if (tz_resident_is_shared(problem, d, f))
            tz_cuda_emit(t, "  shared += %d;\n", tz_resident_shared_bytes(problem, d, f));
        tz_cuda_emit(t,
                     "  if (live)\n"
                     "    tz_take(a, tile, (const %s *)a.in[%d], %s_edge, %s_at, %s_own);\n",
                     type, f, name, name, name);
    }
    tz_cuda_emit(t, "      if (live) {\n");
    say_show(t, problem, d, ~written & ((1u << s->fields_count) - 1u), 0);
    tz_cuda_emit(t, "      }\n");
    for (int p = 0; d->held && p < s->passes_count; p++) {
        tz_cuda_emit(t, "  pass_%d::once_%s once_%d[TZ_VZ][TZ_VY][TZ_VX];\n  {\n", p,
                     s->passes[p].text_cell, p);
        tz_cuda_emit(t, "    const int odd = 0;\n");
        say_context(t, problem, d, p, true);
        tz_cuda_emit(
            t,
            "      TZ_EACH_CELL\n        once_%d[k][j][i] = pass_%d::make_once_%s(c, tile, "
            "tz_place_of(a, tile, i, j, k));\n      (void)odd;\n  }\n",
            p, p, s->passes[p].text_cell);
    }
}

void resident_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                        const tz_plan *plan)
{
    const tz_stencil *s = problem->stencil;
    const uint32_t written = tz_problem_written(problem);
    tz_resident d;
    if (!tz_resident_design(problem, limits, plan, &d))
        return;
    tz_cuda_emit_sizes(t, problem, plan->height, plan->tile);
    for (int axis = 0; axis < TZ_AXES; axis++)
        tz_cuda_emit(t, "#define TZ_BLOCKS_%c %d\n#define TZ_V%c %d\n#define TZ_T%c %d\n",
                     "XYZ"[axis], d.blocks[axis], "XYZ"[axis], d.cells[axis], "XYZ"[axis],
                     d.threads[axis]);
    tz_cuda_emit(t,
                 "#define TZ_SPLIT %d\n#define TZ_GHOST %d\n#define TZ_R %d\n#define TZ_RIM %d\n"
                 "#define TZ_HELD %d\n#define TZ_BUFFERS %d\n#define TZ_THREADS %d\n"
                 "#define TZ_SENT %d\n#define TZ_BATCH %d\n#include \"resident.cuh\"\n",
                 d.ghost > 0, d.ghost, d.radius > 0 ? d.radius : 1, d.rim, d.held, d.buffers,
                 32 * d.warps, d.sent_words, d.batch);
    for (int p = 0; p < s->passes_count; p++)
        tz_cuda_emit_pass(t, problem, p);
    say_begin(t, problem, &d);
    tz_cuda_emit(
        t, "  for (int begin = 0, end = 0; begin < a.height; begin = end) {\n"
           "    end = TZ_SPLIT && begin + TZ_HEIGHT < a.height ? begin + TZ_HEIGHT : a.height;\n"
           "    for (int first = begin; first < end; first += TZ_BUFFERS) {\n"
           "    TZ_UNROLL\n    for (int odd = 0; odd < TZ_BUFFERS; odd++) {\n"
           "      const int t = first + odd;\n"
           "      if (t >= end)\n        break;\n");
    for (int f = 0; f < s->fields_count; f++)
        if (s->fields[f].role == TZ_STREAMED) {
            const char *name = s->fields[f].name;
            tz_cuda_emit(
                t,
                "      %s_own = %s_next;\n"
                "      if (t + 1 < a.height)\n"
                "        tz_take_row(a, tile, (const int *)a.in[%d] + (long long)a.pitch * "
                "(t + 1), %s_next);\n",
                name, name, f, name);
        }
    for (int p = 0; p < s->passes_count; p++)
        say_pass(t, problem, &d, p);
    tz_cuda_emit(t, "    }\n    }\n");
    say_exchange(t, problem);
    tz_cuda_emit(t, "  }\n  if (live) {\n");
    for (int f = 0; f < s->fields_count; f++)
        if (written >> f & 1)
            tz_cuda_emit(t, "    tz_give(a, tile, (%s *)a.out[%d], %s_own);\n",
                         tz_cuda_type_name(s->fields[f].type), f, s->fields[f].name);
    /* Threads of other warps may still read the block's tag. */
    tz_cuda_emit(t, "  }\n  tz_barrier();\n  if (tz_thread() == 0)\n    *tz_tag_of(a) = tag;\n}\n");
}
