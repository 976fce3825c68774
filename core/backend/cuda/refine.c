/* The kernels of iterative refinement, for state.c. */
#include "backend/cuda/refine.h"

#include "backend/cuda/driver/queue.h"
#include "backend/cuda/family/family.h"

/* kernels/cuda/refine.cuh, found by the assembler through the build's -Wa,-I. */
__asm__(".pushsection .rodata\n.globl tz_cuda_text_refine\ntz_cuda_text_refine:\n"
        ".incbin \"cuda/refine.cuh\"\n.byte 0\n.popsection\n");

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
    tz_status status = TZ_OK;
    if (!kernel->function)
        status = tz_cuda_load(cuda, kernel, tz_cuda_text_refine, name, tz_cuda_headers,
                              tz_cuda_headers_count, error);
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
    if (refiner->add.function)
        tz_cuda_unload(cuda, &refiner->add);
    if (refiner->set.function)
        tz_cuda_unload(cuda, &refiner->set);
    *refiner = (tz_cuda_refiner){0};
}
