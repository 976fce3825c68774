/* Data within HTML pages. */
#ifndef TZ_CORE_OUTPUT_PAGE_PAGE_H
#define TZ_CORE_OUTPUT_PAGE_PAGE_H

#include "base/atomic.h"
#include <stdint.h>

/* Write JSON into a <script> element. There "</script" would end the data: no '<' stays. JSON has
 * it in strings alone. */
tz_status tz_page_json(tz_atomic_file *file, const char *json, tz_error *error);

tz_status tz_page_base64(tz_atomic_file *file, const uint8_t *data, size_t bytes, tz_error *error);

/* What the HTML pages share: their style, and the script that makes elements, texts and plots. */

/* A page with the shared parts in the places @STYLE@, @BASICS@ and @PLOT@. Release it with
 * free(). NULL: not enough memory. */
char *tz_page_assemble(const char *page);

#endif
