/* The device text of the 1-D stream family: definitions and lists for kernels/cuda/line.cuh. */
#include "backend/cuda/family/line/line.h"

#include <inttypes.h>

void line_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                    const tz_plan *plan)
{
    (void)limits;
    const tz_stencil *s = problem->stencil;
    const int64_t of_block = plan->tile[0] * plan->warps + 32 * plan->vector;
    tz_cuda_emit_sizes(t, problem, plan->height, plan->tile);
    tz_cuda_emit_lists(t, problem);
    for (int f = 0; f < s->fields_count; f++)
        tz_cuda_emit(t, "#define TZ__RADIUS_%s %d\n", tz_text_field(s, f), s->fields[f].radius);
    tz_cuda_emit(
        t,
        "#define TZ_VECTOR %d\n#define TZ_PACKET %d\n#define TZ_GHOST_LOW %" PRId64
        "\n#define TZ_GHOST_HIGH %" PRId64 "\n"
        "#define TZ_GROUP %d\n#define TZ_WARPS %d\n#define TZ_THREADS %d\n"
        "#define TZ_BLOCKS %d\n#define TZ_STAGED %d\n#define TZ_SHORT %d\n#include \"line.cuh\"\n",
        plan->vector, line_packet(problem), line_ghost(problem, plan->height, 0),
        line_ghost(problem, plan->height, 1), plan->ahead > 0 ? plan->ahead : LINE_UNROLLED,
        plan->warps, 32 * plan->warps, plan->blocks,
        line_staged(problem) ? 16 / line_packet(problem) : 0, problem->elements[0] < of_block);
    for (int p = 0; p < s->passes_count; p++)
        tz_cuda_emit_pass(t, problem, p);
    tz_cuda_emit(t, "#include \"line_kernel.cuh\"\n");
}
