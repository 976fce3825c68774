/* The device text of the resident family: definitions and lists for kernels/cuda/resident.cuh. */
#include "backend/cuda/family/resident/design.h"

#include "backend/host/store.h"

/* How often an iteration writes a field to shared memory: at its start, and after each pass that
 * writes the field, except the last pass. */
static int count_publications(const tz_stencil *s, int f)
{
    int count = 1;
    for (int p = 0; p + 1 < s->passes_count; p++)
        count += s->passes[p].writes >> f & 1;
    return count;
}

/* Fields as a pass reads them. */
static void emit_views(tz_cuda_text *t, const tz_problem *problem, const tz_resident *d, int pass,
                       uint32_t fields)
{
    const tz_stencil *s = problem->stencil;
    for (int f = 0; f < s->fields_count; f++) {
        const bool turns = d->buffers > 1 && tz_problem_written(problem) >> f & 1;
        int before = 0;
        for (int p = 0; p < pass; p++)
            before += s->passes[p].writes >> f & 1;
        if (fields >> f & 1)
            tz_cuda_emit(t, " \\\n    D(%s, %s, %s, %d, %d, %d)", tz_role_name(s->fields[f].role),
                         tz_text_field(s, f), tz_type_keyword(s->fields[f].type), f,
                         turns ? count_publications(s, f) : 0, turns ? before : 0);
    }
    tz_cuda_emit(t, "\n");
}

static void emit_lists(tz_cuda_text *t, const tz_problem *problem, const tz_resident *d)
{
    const tz_stencil *s = problem->stencil;
    const uint32_t written = tz_problem_written(problem);
    uint32_t shared = 0;
    tz_cuda_emit(t, "#define TZ_SHARED_LIST(D)");
    for (int f = 0; f < s->fields_count; f++) {
        const bool is_shared = tz_resident_is_shared(problem, d, f);
        shared |= (uint32_t)is_shared << f;
        tz_cuda_emit(t, " \\\n    D(%s, %s, %s, %d, %d)", tz_role_name(s->fields[f].role),
                     tz_text_field(s, f), tz_type_keyword(s->fields[f].type), f,
                     is_shared ? tz_resident_shared_bytes(problem, d, f) : 0);
    }
    tz_cuda_emit(t, "\n#define TZ_PUBLISH_ONCE(D)");
    emit_views(t, problem, d, 0, shared & ~written);
    for (int p = 0; p < s->passes_count; p++) {
        tz_cuda_emit(t, "#define TZ_VIEW_%d(D)", p);
        emit_views(t, problem, d, p, ~0u);
        tz_cuda_emit(t, "#define TZ_PUBLISH_%d(D)", p);
        emit_views(t, problem, d, p, shared & (p == 0 ? written : s->passes[p - 1].writes));
    }
}

static void emit_exchanges(tz_cuda_text *t, const tz_problem *problem, const tz_resident *d)
{
    const tz_stencil *s = problem->stencil;
    const uint32_t written = tz_problem_written(problem);
    const int together = tz_resident_together(problem, d);
    int word = 0, count = 0;
    for (int f = 0; f < s->fields_count; f++)
        if (written >> f & 1) {
            if (count % together == 0)
                tz_cuda_emit(t, "\n#define TZ_EXCHANGE_%d(D)", count / together);
            tz_cuda_emit(t, " \\\n    D(%s, %s, %d)", tz_text_field(s, f),
                         tz_type_keyword(s->fields[f].type), word);
            word += (int)tz_problem_element_size(problem, f) / 4;
            count++;
        }
    tz_cuda_emit(t, "\n#define TZ_EXCHANGES(G)");
    for (int g = 0; g < d->groups; g++)
        tz_cuda_emit(t, " G(TZ_EXCHANGE_%d)", g);
    tz_cuda_emit(t, "\n#define TZ_EXCHANGE_LIST(D)");
    for (int g = 0; g < d->groups; g++)
        tz_cuda_emit(t, " TZ_EXCHANGE_%d(D)", g);
    tz_cuda_emit(t, "\n");
}

void resident_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                        const tz_plan *plan)
{
    tz_resident d;
    if (!tz_resident_design(problem, limits, plan, &d))
        return;
    tz_cuda_emit_sizes(t, problem, plan->height, plan->tile);
    tz_cuda_emit_lists(t, problem);
    emit_lists(t, problem, &d);
    emit_exchanges(t, problem, &d);
    for (int axis = 0; axis < TZ_AXES; axis++)
        tz_cuda_emit(t,
                     "#define TZ_BLOCKS_%c %d\n#define TZ_V%c %d\n#define TZ_T%c %d\n"
                     "#define TZ_GRID_%c %d\n",
                     "XYZ"[axis], d.blocks[axis], "XYZ"[axis], d.cells[axis], "XYZ"[axis],
                     d.threads[axis], "XYZ"[axis], (int)problem -> elements[axis]);
    tz_cuda_emit(
        t,
        "#define TZ_SPLIT %d\n#define TZ_GHOST %d\n#define TZ_RADIUS %d\n#define TZ_RIM %d\n"
        "#define TZ_HELD %d\n#define TZ_BUFFERS %d\n#define TZ_THREADS %d\n"
        "#define TZ_PITCH %d\n#define TZ_SENT %d\n#define TZ_BATCH %d\n#define TZ_GATHER %d\n"
        "#define TZ_MASKED %d\n#define TZ_SPARE_BITS %d\n#include \"resident.cuh\"\n",
        d.ghost > 0, d.ghost, d.radius > 0 ? d.radius : 1, d.rim, d.held, d.buffers, 32 * d.warps,
        tz_resident_pitch(&d), d.sent_words, d.batch, d.gather, d.masked,
        tz_resident_spare_bits(problem));
    for (int p = 0; p < problem->stencil->passes_count; p++)
        tz_cuda_emit_pass(t, problem, p);
    tz_cuda_emit(t, "#include \"resident_kernel.cuh\"\n");
}
