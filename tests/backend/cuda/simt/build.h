/* Device text to something that simt_run() takes: the system's C++ compiler and dlopen. */
#ifndef TZ_SIMT_BUILD_H
#define TZ_SIMT_BUILD_H

#include "abi.h"
#include "base/error.h"

typedef struct simt_build simt_build;

/* A folder of its own for texts and objects, or `keep`, where they stay. TZ_UNSUPPORTED: no C++
 * compiler ($CXX, else c++). */
tz_status simt_build_create(simt_build **out, const char *keep, tz_error *error);
void simt_build_destroy(simt_build *build); /* entries are gone with it; NULL is fine */

/* The kernel `entry` of a text, compiled once for equal texts. TZ_BACKEND: the compiler's first
 * lines. */
tz_status simt_build_kernel(simt_build *build, const char *source, const char *entry,
                            const simt_entry **out, tz_error *error);
/* Where the last kernel's text is; NULL unless texts are kept. */
const char *simt_build_text(const simt_build *build);
int simt_build_count(const simt_build *build); /* texts compiled so far */

#endif
