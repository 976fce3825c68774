/* Names of fields, parameters, passes and stencils: they are words of the C text. */
#ifndef TZ_CORE_DEFINE_NAMES_H
#define TZ_CORE_DEFINE_NAMES_H

#include "define/definition.h"

/* Is it a name of C, and of no other meaning? `what` is for messages: "field". Errors: TZ_FORMAT. */
tz_status tz_define_check_name(const char *id, const char *what, const char *name, tz_error *error);
/* Do all names differ, and can they stand side by side in a text? Errors: TZ_FORMAT. */
tz_status tz_define_check_names(const tz_definition *definition, tz_error *error);

#endif
