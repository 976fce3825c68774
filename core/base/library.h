/* A library opened at run time: its functions by name, into a table of pointers. */
#ifndef TZ_CORE_BASE_LIBRARY_H
#define TZ_CORE_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* A symbol, and where its address goes in the caller's table. Without an `optional` one, which
 * stays NULL there, the library is of use all the same. */
typedef struct tz_library_symbol {
    const char *name;
    size_t offset;
    bool optional;
} tz_library_symbol;

typedef struct tz_library {
    void *handle;        /* NULL: none of the names can be opened; tz_library_why() says why */
    const char *name;    /* of the file */
    const char *missing; /* the first symbol that it does not have; NULL: it has all */
} tz_library;

/* Opens the first library of `names` (NULL after the last) that can be opened, and fills `table`.
 * It stays loaded when it is closed: these libraries have threads and state of their own, and
 * opening one again is cheap. */
tz_library tz_library_open(const char *const *names, void *table, const tz_library_symbol *symbols,
                           size_t count);
const char *tz_library_why(void); /* why the last open failed; NULL: unknown */
void tz_library_close(tz_library *library);

#endif
