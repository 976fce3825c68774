/* The device text of the tile family: definitions and lists for kernels/cuda/tile.cuh. */
#include "backend/cuda/family/tile/text.h"

void tile_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                    const tz_plan *plan)
{
    (void)limits;
    tz_cuda_emit_sizes(t, problem, plan->height, plan->tile);
    tz_cuda_emit_lists(t, problem);
    tz_cuda_emit(t, "#define TZ_THREADS %d\n#define TZ_REACH %d\n#include \"tile.cuh\"\n",
                 32 * TILE_WARPS, tz_stencil_reach(problem->stencil));
    for (int p = 0; p < problem->stencil->passes_count; p++)
        tz_cuda_emit_pass(t, problem, p);
    tz_cuda_emit(t, "#include \"tile_kernel.cuh\"\n");
}
