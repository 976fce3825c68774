/* Suggestions for mistyped names: "unknown colormap 'virdis'; did you mean 'viridis'?" */
#ifndef TZ_CORE_BASE_NAMES_H
#define TZ_CORE_BASE_NAMES_H

#include <stddef.h>

/* The one of `names` that means the same as `name` elsewhere ("gpu": "cuda"), from one table of
 * words; else the one that needs the fewest edits to become `name`; borrowed from `names`. An edit
 * inserts, removes or replaces a character, or swaps two adjacent ones; case does not count. NULL
 * if more than max(2, length of `name` / 3) edits are needed. */
const char *tz_names_nearest(const char *name, const char *const *names, size_t n);

/* Write the end of a message about an unknown name into `text`, always terminated, and return it:
 *
 *   "; did you mean 'bar'?"   if tz_names_nearest() finds a name
 *   "; known: a, b, c"        else; ends with "..." if there is no room for all names
 *   ""                        if n is 0 */
const char *tz_names_hint(char *text, size_t size, const char *name, const char *const *names,
                          size_t n);

/* The same of an array of structs, each of which begins with its name, a const char *; up to 128 of
 * them count. `text` is an array. */
#define TZ_NAMES_HINT(text, name, items, n)                                                        \
    tz_names_hint_of(text, sizeof(text), name, items, (size_t)(n), sizeof *(items))
const char *tz_names_hint_of(char *text, size_t size, const char *name, const void *items, size_t n,
                             size_t stride);

#endif
