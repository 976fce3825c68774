/* Lists of the frames of a run in a text file, which viewers open: .pvd and .xdmf.
 *
 * The file is replaced by a whole one for each frame that is added (base/atomic.h). So it is valid at
 * any moment, and after a run that was killed it lists what is there. */
#ifndef TZ_CORE_OUTPUT_FORMAT_SERIES_H
#define TZ_CORE_OUTPUT_FORMAT_SERIES_H

#include "base/error.h"
#include <stdio.h>

/* What stands before and after all entries: lines. */
typedef struct tz_series_frame {
    const char *head, *tail;
} tz_series_frame;

/* An entry in the making: lines, the first of which begins as that of no other entry. */
typedef struct tz_series_entry {
    FILE *stream;
    char *text;
    size_t bytes;
    size_t mark; /* so many bytes are what no other entry begins with */
} tz_series_entry;

/* Begin an entry, to be written to its stream. TZ_MEMORY. */
tz_status tz_series_begin(tz_series_entry *entry, tz_error *error);
/* What is written so far is its mark. */
void tz_series_mark(tz_series_entry *entry);
/* Add the entry to the list at `path`, and free it in any case. If an entry with its mark is there,
 * that one and those after it are dropped: a run that goes on from an earlier step writes its frames
 * again. Errors: TZ_FORMAT (a file of that name has another head or tail), TZ_IO, TZ_MEMORY. */
tz_status tz_series_add(const char *path, const tz_series_frame *frame, tz_series_entry *entry,
                        tz_error *error);

#endif
