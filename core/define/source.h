/* The two files of a definition as text. */
#ifndef TZ_CORE_DEFINE_SOURCE_H
#define TZ_CORE_DEFINE_SOURCE_H

#include "define/build.h"
#include "define/emit.h"

/* ID.cell.h. After tz_emit_begin(). */
void tz_source_cell(const tz_build *build, tz_emit *emit, tz_buffer *out);
/* ID.c. After tz_source_cell(). */
void tz_source_plugin(const tz_build *build, tz_emit *emit, tz_buffer *out);

/* Are real numbers in it? */
bool tz_source_has_real(const tz_build *build, const tz_emit *emit);

#endif
