/* The kernels of iterative refinement, for state.c. */
#include "backend/cuda/refine.h"

#include "backend/cuda/driver/queue.h"
#include "backend/cuda/family/family.h"

TZ_EMBED(tz_cuda_text_refine, "cuda/refine.cuh");

enum { THREADS = 256, BLOCKS_OF_MULTIPROCESSOR = 8 };

_Static_assert(sizeof(tz_cuda_refine_arguments) == 12 * 8,
               "the device compiler lays it out without gaps");

void tz_cuda_refine_arguments_fill(tz_cuda_refine_arguments *out, const tz_problem *solution,
                                   const tz_problem *correction)
{
    *out = (tz_cuda_refine_arguments){
        .source_per_update = solution->source_per_update,
        .pitch = tz_cuda_pitch(solution),
        .single_pitch = tz_cuda_pitch(correction),
        .nx = solution->elements[0],
        .ny = solution->elements[1],
        .nz = solution->elements[2],
    };
    out->plane = out->pitch * out->ny;
    out->single_plane = out->single_pitch * out->ny;
}

static tz_status run(tz_cuda *cuda, tz_cuda_kernel *kernel, const char *name,
                     const tz_cuda_refine_arguments *arguments, tz_error *error)
{
    tz_cuda_refine_arguments copy = *arguments;
    const tz_status status = tz_cuda_need_kernel(cuda, kernel, tz_cuda_text_refine, name, error);
    const int grid[3] = {BLOCKS_OF_MULTIPROCESSOR * tz_cuda_device_of(cuda)->multiprocessors, 1, 1};
    const int block[3] = {THREADS, 1, 1};
    void *pointers[] = {&copy};
    return status ? status
                  : tz_cuda_launch(cuda, NULL, kernel, grid, block, 0, false, pointers, error);
}

tz_status tz_cuda_refine_add(tz_cuda_refiner *refiner, tz_cuda *cuda,
                             const tz_cuda_refine_arguments *arguments, tz_error *error)
{
    return run(cuda, &refiner->add, TZ_CUDA_REFINE_ADD, arguments, error);
}

tz_status tz_cuda_refine_set(tz_cuda_refiner *refiner, tz_cuda *cuda,
                             const tz_cuda_refine_arguments *arguments, tz_error *error)
{
    return run(cuda, &refiner->set, TZ_CUDA_REFINE_SET, arguments, error);
}

void tz_cuda_refiner_clear(tz_cuda_refiner *refiner, tz_cuda *cuda)
{
    tz_cuda_unload(cuda, &refiner->add);
    tz_cuda_unload(cuda, &refiner->set);
}
