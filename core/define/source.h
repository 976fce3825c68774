/* The two files of a definition as text. */
#ifndef TZ_CORE_DEFINE_SOURCE_H
#define TZ_CORE_DEFINE_SOURCE_H

#include "define/build.h"
#include "define/emit.h"
#include "define/forms.h"

/* ID.cell.h. After tz_emit_begin(). */
void tz_source_cell(const tz_build *build, const tz_form *form, tz_emit *emit, tz_buffer *out);
/* ID.c. After tz_source_cell(). */
void tz_source_plugin(const tz_build *build, tz_emit *emit, tz_buffer *out);

/* What the stencil is, as a sentence of a comment (source_cell.c). */
void tz_source_doc(const tz_definition *definition, tz_buffer *out);
/* The macros of a form, and the line or lines with which its update begins; then what undoes the
 * macros. */
void tz_source_form(const tz_build *build, const tz_form *form, tz_emit *emit, tz_buffer *out);
void tz_source_form_end(const tz_form *form, tz_buffer *out);
/* "#define NAME" and entries, broken with backslashes. Frees both texts. */
void tz_source_list(tz_buffer *out, tz_buffer *head, tz_buffer *entries);

#endif
