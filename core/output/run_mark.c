/* The status of a record, written over in place. */
#include "output/run_record.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The last resort, which needs no memory and no room on the disk: in a record that says "running"
 * the status is written over. */
static void mark(const char *path, const char *before, const char *after)
{
    char head[1 << 16];
    const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const ssize_t got = file >= 0 ? pread(file, head, sizeof head, 0) : -1;
    const char *at = got > 0 ? memmem(head, (size_t)got, before, strlen(before)) : NULL;
    if (at)
        (void)!pwrite(file, after, strlen(after), at - head);
    if (file >= 0)
        close(file);
}

void tz_record_mark_failed(const char *path)
{
    static const char before[] = "\"status\": \"running\"", after[] = "\"status\": \"failed\" ";
    _Static_assert(sizeof before == sizeof after, "the file keeps its size");
    mark(path, before, after);
}

void tz_record_mark_interrupted(const char *path)
{
    static const char before[] = "\"status\": \"running\",\n  \"error\": null",
                      after[] = "\"status\": \"interrupted\",\"error\":null";
    _Static_assert(sizeof before == sizeof after, "the file keeps its size");
    mark(path, before, after);
}
