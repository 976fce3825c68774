/* tz_backend.jump on a GPU (kernels/cuda/jump.cuh). */
#ifndef TZ_CORE_BACKEND_CUDA_SPECTRAL_JUMP_H
#define TZ_CORE_BACKEND_CUDA_SPECTRAL_JUMP_H

#include "backend/cuda/spectral/transform.h"
#include "base/embed.h"

/* What is kept from a jump to the next: plans, kernels, tables and device memory. One thread at a
 * time may use it; destroy it before the context. */
typedef struct tz_cuda_jumper tz_cuda_jumper;

/* Errors: TZ_MEMORY. */
tz_status tz_cuda_jumper_create(tz_cuda_jumper **out, tz_cuda *cuda, tz_error *error);
void tz_cuda_jumper_destroy(tz_cuda_jumper *jumper); /* NULL is fine */

/* As tz_backend.jump: `fields` of linear->fields_count fields, and their sources, in double
 * precision, or NULL. Waits for the result of the limit; else in the order of the default queue. */
tz_status tz_cuda_jump(tz_cuda_jumper *jumper, const tz_linear *linear, int64_t steps,
                       const tz_cuda_transform_field *fields,
                       const tz_cuda_transform_field *sources, tz_jump_facts *facts,
                       tz_error *error);

/* The source of all kernels. */
TZ_EMBEDDED(tz_cuda_text_jump);

#endif
