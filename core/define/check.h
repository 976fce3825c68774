/* The faults of a definition outside its formulas. */
#ifndef TZ_CORE_DEFINE_CHECK_H
#define TZ_CORE_DEFINE_CHECK_H

#include "define/definition.h"

/* Names, numbers, roles, and which fields are updated where. Errors: TZ_UNKNOWN, TZ_RANGE, TZ_TYPE,
 * TZ_FORMAT; `place` is the stencil's id. */
tz_status tz_define_check(const tz_definition *definition, tz_error *error);

/* Fields and temporaries. */
int tz_define_fields(const tz_definition *definition);
/* The field or temporary of that name, or -1. */
int tz_define_field(const tz_definition *definition, const char *name);
/* The field that a weighted sum updates, or -1: there is none. */
int tz_define_summed_field(const tz_definition *definition);

/* TZ_ALLOW() of each boundary that may be chosen. */
uint32_t tz_define_boundaries(const tz_definition *definition);

/* A name as the C text has it: tz_NAME_. No macro or word of C, C++ or CUDA is such a name, and
 * what the headers make of it (tz_u__out) is never another one: it does not end with _. A text that
 * was written by hand has the names as they are. */
typedef struct tz_text_name {
    char text[72];
} tz_text_name;
tz_text_name tz_define_text_name(const tz_definition *definition, const char *name);

#endif
