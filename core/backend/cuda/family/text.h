/* Emitting device text: a string that grows, and the text that all families begin with. */
#ifndef TZ_CORE_BACKEND_CUDA_FAMILY_TEXT_H
#define TZ_CORE_BACKEND_CUDA_FAMILY_TEXT_H

#include "stencil/problem.h"

typedef struct tz_cuda_text {
    char *at; /* malloc'd; the caller frees it */
    size_t length, room;
    bool failed; /* there was not enough memory: the text is incomplete */
} tz_cuda_text;

__attribute__((format(printf, 2, 3))) void tz_cuda_emit(tz_cuda_text *text, const char *format,
                                                        ...);

/* The type of a field or constant as device text names it. */
const char *tz_cuda_type_name(tz_type type);

/* Sizes, boundaries, roles and the precision's words, as definitions. `tile`: TZ_TILE_X, _Y, _Z. */
void tz_cuda_emit_sizes(tz_cuda_text *text, const tz_problem *problem, int height,
                        const int64_t tile[TZ_AXES]);

/* The plugin's text of a pass in a namespace pass_N of its own: two passes may share a text. #line
 * makes a compile error name the plugin's own file and line. */
void tz_cuda_emit_pass(tz_cuda_text *text, const tz_problem *problem, int pass);

/* "c.k_NAME = …" for each constant. Integer ones are literals, so the text changes with them. */
void tz_cuda_emit_constants(tz_cuda_text *text, const tz_problem *problem);

#endif
