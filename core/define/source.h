/* The two files of a definition as text. */
#ifndef TZ_CORE_DEFINE_SOURCE_H
#define TZ_CORE_DEFINE_SOURCE_H

#include "define/definition.h"

/* What a definition becomes: the files ID.cell.h and ID.c, complete and for people to read. The
 * second includes the first. malloc'd. */
typedef struct tz_defined_source {
    char *cell_text, *plugin_text;
    /* What may not be meant, with the formula and a caret as in errors; NULL: nothing. */
    char *warning;
    /* The same in memory; NULL with a raw text, which needs a compiler. It borrows cell_text. */
    struct tz_described *described;
} tz_defined_source;

/* Write the source. The same definition gives the same bytes. `out` is cleared on failure.
 * Errors: TZ_UNKNOWN for a name that is not known, with the nearest one; TZ_TYPE, TZ_RANGE and
 * TZ_FORMAT for other faults of a definition; TZ_MEMORY. `place` says which formula it is: "update
 * of 'u'". The message of a faulty formula has three lines: what is wrong and what to do, the
 * formula around the place, and a caret under it. */
tz_status tz_define_source(const tz_definition *definition, tz_defined_source *out,
                           tz_error *error);
/* Frees the texts; then `source` has none. */
void tz_defined_source_clear(tz_defined_source *source);

#endif
