/* Data within HTML pages. */
#ifndef TZ_CORE_OUTPUT_PAGE_PAGE_H
#define TZ_CORE_OUTPUT_PAGE_PAGE_H

#include "base/paths.h"

struct json_t; /* jansson.h */

/* Write a page to a file, replacing an older one: {"facts": …, "data": ["BASE64", …]} in the place
 * @DATA@, with the pictures in these files. TZ_IO, TZ_MEMORY. */
tz_status tz_page_write(const char *path, const char *page, const struct json_t *facts,
                        const tz_paths *pictures, tz_error *error);

/* What the HTML pages share: their style, and the script that makes elements, texts and plots. */

/* A page with the shared parts in the places @STYLE@, @BASICS@ and @PLOT@. Release it with
 * free(). NULL: not enough memory. */
char *tz_page_assemble(const char *page);

#endif
