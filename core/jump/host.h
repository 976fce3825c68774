/* The work of a jump in host memory, with FFTW. */
#ifndef TZ_CORE_JUMP_HOST_H
#define TZ_CORE_JUMP_HOST_H

#include "backend/backend.h"
#include "jump/fftw.h"

/* Transforms of one problem. Arrays have all cells, x fastest. */
typedef struct tz_jump_host {
    const tz_linear *linear;
    tz_threads *threads;
    int64_t cells;
    double scale; /* forward and back together multiply by this */
    tz_fftw fftw;
    tz_symbol symbol;
    double *tables;
    double *source[TZ_LINEAR_FIELDS_MAX]; /* s, transformed; NULL: 0 */
} tz_jump_host;

/* Opens the library. `linear` is borrowed. Destroy it also after an error. Errors: TZ_UNSUPPORTED,
 * TZ_MEMORY. */
tz_status tz_jump_host_create(tz_jump_host *host, const tz_linear *linear, tz_threads *threads,
                              tz_error *error);
void tz_jump_host_destroy(tz_jump_host *host);

/* Transform s of one field; takes over the array, which malloc() or aligned_alloc() made. */
tz_status tz_jump_host_source(tz_jump_host *host, int i, double *source, tz_error *error);

/* Advance the arrays by `steps`, or to TZ_JUMP_LIMIT. After an error they have any values. */
tz_status tz_jump_host_advance(const tz_jump_host *host, double *const *fields, int64_t steps,
                               tz_error *error);

/* An array of all cells, as these functions want it. NULL: not enough memory. */
double *tz_jump_host_array(int64_t cells);

#endif
