/* Help with mistyped names: "unknown colormap 'virdis'; did you mean 'viridis'?". */
#ifndef TZ_CORE_BASE_NAMES_H
#define TZ_CORE_BASE_NAMES_H

#include <stddef.h>

/* The known name nearest to `name` (edits, with neighbours swapped counting one; case ignored), or
 * NULL if the nearest is more than max(2, length / 3) edits away. Borrowed from `names`. */
const char *tz_names_nearest(const char *name, const char *const *names, size_t n);

/* The tail of an "unknown name" message into `text` (always terminated): "; did you mean 'bar'?",
 * else "; known: a, b, c" (cut short with "..." where it does not fit), else "" without names.
 * Returns `text`. */
const char *tz_names_hint(char *text, size_t size, const char *name, const char *const *names,
                          size_t n);

#endif
