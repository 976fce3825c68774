/* What the module of MPI (core/mpi) exports: one constant of this name and type. */
#ifndef TZ_CORE_BASE_RANKS_MODULE_H
#define TZ_CORE_BASE_RANKS_MODULE_H

#include "base/ranks.h"

#define TZ_RANKS_MODULE_NAME "tz_ranks_module_of_mpi"

typedef struct tz_ranks_module {
    uint32_t struct_size;
    uint32_t ranks_size; /* of tz_ranks */
    const char *version; /* of Trapeze */
    /* Start MPI. *out is valid until close(). */
    tz_status (*open)(const tz_ranks **out, tz_error *error);
    void (*close)(void);
    /* A line about MPI, which need not be started. */
    void (*describe)(char *text, size_t size);
} tz_ranks_module;

#endif
