/* Device text: a string that grows, and the definitions and lists that every family's text begins
 * with. kernels/cuda/common.cuh describes how a text is composed. */
#ifndef TZ_CORE_BACKEND_CUDA_FAMILY_TEXT_H
#define TZ_CORE_BACKEND_CUDA_FAMILY_TEXT_H

#include "stencil/problem.h"

typedef struct tz_cuda_text {
    char *at; /* malloc'd; the caller frees it */
    size_t length, room;
    bool failed; /* there was not enough memory: the text is incomplete */
} tz_cuda_text;

/* Appends as printf. */
__attribute__((format(printf, 2, 3))) void tz_cuda_emit(tz_cuda_text *text, const char *format,
                                                        ...);

/* The type of a field or constant as device text names it. */
const char *tz_cuda_type_name(tz_type type);

/* Definitions: precision, sizes, boundaries, roles. `tile`: extents of a tile in elements. */
void tz_cuda_emit_sizes(tz_cuda_text *text, const tz_problem *problem, int height,
                        const int64_t tile[TZ_AXES]);

/* The plugin's text of a pass in a namespace pass_N, since two passes may share a text. By #line
 * compile errors name the plugin's own file and line. */
void tz_cuda_emit_pass(tz_cuda_text *text, const tz_problem *problem, int pass);

/* Lists of fields, passes and constants. The values of integer constants are part of the text, so
 * that the compiler drops code that they exclude: make the text again when they change. */
void tz_cuda_emit_lists(tz_cuda_text *text, const tz_problem *problem);

#endif
