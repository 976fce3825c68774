/* A library opened at run time: its functions by name, into a table of pointers. */
#ifndef TZ_CORE_BACKEND_CUDA_COMPILE_LIBRARY_H
#define TZ_CORE_BACKEND_CUDA_COMPILE_LIBRARY_H

#include <stddef.h>

/* A symbol and where its address goes in the caller's table. */
typedef struct tz__symbol {
    const char *name;
    size_t offset;
} tz__symbol;

/* Fill `table` from an open library. Returns the name of the first missing symbol, or NULL. */
const char *tz__symbols_find(void *library, void *table, const tz__symbol *symbols, size_t count);

#endif
