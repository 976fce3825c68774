#include "output/format/series.h"

#include "base/atomic.h"
#include "base/file.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 1 << 30 };

tz_status tz_series_begin(tz_series_entry *entry, tz_error *error)
{
    *entry = (tz_series_entry){.mark = 0};
    entry->stream = open_memstream(&entry->text, &entry->bytes);
    return entry->stream
               ? TZ_OK
               : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to list a frame");
}

void tz_series_mark(tz_series_entry *entry)
{
    fflush(entry->stream);
    entry->mark = entry->bytes;
}

/* The bytes of a list to keep: up to the entry with the mark, or to the tail. -1: it is no such
 * list. */
static int64_t find_end(const char *text, size_t bytes, const tz_series_frame *frame,
                        const tz_series_entry *entry)
{
    const size_t head = strlen(frame->head), tail = strlen(frame->tail);
    if (bytes < head + tail || memcmp(text, frame->head, head) != 0 ||
        memcmp(text + bytes - tail, frame->tail, tail) != 0)
        return -1;
    const char *found = memmem(text + head, bytes - tail - head, entry->text, entry->mark);
    return found ? found - text : (int64_t)(bytes - tail);
}

static tz_status write_list(const char *path, const char *kept, size_t bytes,
                            const tz_series_entry *entry, const char *tail, tz_error *error)
{
    tz_atomic_file *file;
    tz_status status = tz_atomic_open(&file, path, true, error);
    if (status != TZ_OK)
        return status;
    status = tz_atomic_write(file, kept, bytes, error);
    if (status == TZ_OK)
        status = tz_atomic_write(file, entry->text, entry->bytes, error);
    if (status == TZ_OK)
        status = tz_atomic_write(file, tail, strlen(tail), error);
    if (status == TZ_OK)
        return tz_atomic_commit(file, error);
    tz_atomic_abort(file);
    return status;
}

tz_status tz_series_add(const char *path, const tz_series_frame *frame, tz_series_entry *entry,
                        tz_error *error)
{
    char *text = NULL;
    const char *kept = frame->head;
    size_t bytes = 0;
    int64_t end = (int64_t)strlen(frame->head);
    tz_status status = TZ_OK;
    if (fclose(entry->stream) != 0)
        status = tz_error_set(error, TZ_MEMORY, path, "not enough memory to list a frame");
    if (status == TZ_OK && access(path, F_OK) == 0) {
        status = tz_file_read(path, LONGEST, &text, &bytes, error);
        kept = text;
        end = status == TZ_OK ? find_end(text, bytes, frame, entry) : 0;
        if (end < 0)
            status = tz_error_set(error, TZ_FORMAT, path,
                                  "is not the list of frames that this run writes: another program "
                                  "has changed it");
    }
    if (status == TZ_OK)
        status = write_list(path, kept, (size_t)end, entry, frame->tail, error);
    free(text);
    free(entry->text);
    return status;
}
