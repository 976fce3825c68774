/* The faults of a definition outside its formulas. */
#ifndef TZ_CORE_DEFINE_CHECK_H
#define TZ_CORE_DEFINE_CHECK_H

#include "define/definition.h"

/* Names, numbers, roles, and which fields are updated where. Errors: TZ_UNKNOWN, TZ_RANGE, TZ_TYPE,
 * TZ_FORMAT; `place` is the stencil's id. */
tz_status tz_define_check(const tz_definition *definition, tz_error *error);

/* The field of that name, or -1. */
int tz_define_field(const tz_definition *definition, const char *name);
/* The field that a weighted sum updates, or -1: there is none. */
int tz_define_summed_field(const tz_definition *definition);

#endif
