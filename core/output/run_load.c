#include "output/run_load.h"

#include "base/file.h"
#include "base/json.h"
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum { RECORD_BYTES_MAX = 1 << 28 };

tz_status tz_run_load_record(const char *folder, struct json_t **out, tz_error *error)
{
    char path[PATH_MAX], *text = NULL;
    size_t bytes = 0;
    *out = NULL;
    snprintf(path, sizeof path, "%s/run.json", folder);
    if (access(path, F_OK) != 0)
        return tz_error_set(error, TZ_IO, folder, "has no run.json; give the folder of a run");
    tz_status status = tz_file_read(path, RECORD_BYTES_MAX, &text, &bytes, error);
    if (status == TZ_OK)
        status = tz_json_read(path, text, bytes, out, error);
    free(text);
    return status;
}
