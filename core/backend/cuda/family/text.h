/* Device text: a growing string, and the definitions and lists at the start of every family's text.
 * kernels/cuda/common.cuh describes how a text is composed. */
#ifndef TZ_CORE_BACKEND_CUDA_FAMILY_TEXT_H
#define TZ_CORE_BACKEND_CUDA_FAMILY_TEXT_H

#include "base/text.h"
#include "stencil/description.h"
#include "stencil/problem.h"

typedef tz_buffer tz_cuda_text;

/* Appends text, formatted as by printf. */
__attribute__((format(printf, 2, 3))) void tz_cuda_emit(tz_cuda_text *text, const char *format,
                                                        ...);

/* The type of a field's elements in memory, in device text (kernels/cuda/stored.cuh). Returns
 * `text`. */
enum { TZ_CUDA_MEMORY_TYPE_SIZE = 48 };
const char *tz_cuda_memory_type(const tz_problem *problem, int field,
                                char text[TZ_CUDA_MEMORY_TYPE_SIZE]);

/* Definitions: precision, sizes, boundaries, roles. `tile`: extents of a tile in elements. */
void tz_cuda_emit_sizes(tz_cuda_text *text, const tz_problem *problem, int height,
                        const int64_t tile[TZ_AXES]);

/* The plugin's text of a pass, in a namespace pass_N, since two passes may share a text. #line
 * makes compile errors name the plugin's file and line. */
/* What texts of families with points at each level define before common.cuh: nothing without. */
void tz_cuda_emit_points(tz_cuda_text *t, const tz_problem *problem);
void tz_cuda_emit_pass(tz_cuda_text *text, const tz_problem *problem, int pass);

/* Lists of fields, passes and constants. The text contains the values of integer constants, so that
 * the compiler drops unreachable code: a change of them needs a new text. */
void tz_cuda_emit_lists(tz_cuda_text *text, const tz_problem *problem);
/* A list of the fields of a mask: D(role, name, type, index). */
void tz_cuda_emit_fields(tz_cuda_text *text, const tz_problem *problem, const char *list,
                         uint32_t fields);

#endif
