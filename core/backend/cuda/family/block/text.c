/* The device text of the block family: definitions and lists for kernels/cuda/block.cuh. */
#include "backend/cuda/family/block/design.h"

static void emit_field(tz_cuda_text *t, const tz_stencil *s, int field, const block_field *its,
                       int ahead)
{
    const int low = its->read ? its->low : 1, high = its->read ? its->high : 0;
    tz_cuda_emit(t,
                 "struct tz_f_%s {\n  typedef %s type;\n  enum { LOW = %d, HIGH = %d, PLANES = %d, "
                 "TILED = %d, SHARED = %d };\n};\n",
                 tz_text_field(s, field), tz_type_keyword(s->fields[field].type), low, high,
                 its->read ? high - low + ahead : 1, its->tiled, its->shared);
}

static void emit_list(tz_cuda_text *t, const tz_problem *problem, const block_design *d, bool tiled)
{
    const tz_stencil *s = problem->stencil;
    tz_cuda_emit(t, "#define %s(D)", tiled ? "TZ_TILED_LIST" : "TZ_READ_LIST");
    for (int f = 0; f < s->fields_count; f++)
        if (tiled ? d->fields[f].tiled : d->fields[f].read)
            tz_cuda_emit(t, " \\\n    D(%s, %s, %d)", tz_text_field(s, f),
                         tz_type_keyword(s->fields[f].type), f);
    tz_cuda_emit(t, "\n");
}

void block_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                     const tz_plan *plan)
{
    (void)limits;
    block_design d;
    block_design_make(&d, problem, plan);
    const struct {
        const char *name;
        int value;
    } numbers[] = {
        {"THREADS", d.threads},   {"BLOCKS", plan->blocks > 0 ? plan->blocks : 1},
        {"STRIDE", d.stride},     {"SLOTS", d.slots},
        {"TILED", d.tiled > 0},   {"AHEAD", d.ahead},
        {"TILES_LOW", -d.below},  {"TILES_HIGH", d.above},
        {"NEAR_LOW_X", d.low[0]}, {"NEAR_HIGH_X", d.high[0]},
        {"NEAR_LOW_Y", d.low[1]}, {"NEAR_HIGH_Y", d.high[1]},
        {"CORNERS", d.corners},
    };
    /* A chunk's length is no part of the text. */
    const int64_t tile[TZ_AXES] = {d.x, d.y, 1};
    tz_cuda_emit_sizes(t, problem, plan->height, tile);
    tz_cuda_emit_lists(t, problem);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        tz_cuda_emit(t, "#define TZ_%s %d\n", numbers[k].name, numbers[k].value);
    emit_list(t, problem, &d, false);
    emit_list(t, problem, &d, true);
    tz_cuda_emit(t, "#define TZ_STEP_LIST(D)");
    for (int i = 0; i < d.group; i++)
        tz_cuda_emit(t, " D(%d)", i);
    tz_cuda_emit(t, "\n");
    /* An index into a field. */
    tz_cuda_emit(t, "typedef unsigned %stz_index;\n#include \"block.cuh\"\n",
                 tz_cuda_pitch(problem) * problem->elements[1] * problem->elements[2] <= UINT32_MAX
                     ? ""
                     : "long long ");
    for (int f = 0; f < problem->stencil->fields_count; f++)
        emit_field(t, problem->stencil, f, &d.fields[f], d.ahead);
    tz_cuda_emit_pass(t, problem, 0);
    tz_cuda_emit(t, "#include \"block_kernel.cuh\"\n");
}
