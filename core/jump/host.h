/* The work of a jump in host memory, with FFTW. */
#ifndef TZ_CORE_JUMP_HOST_H
#define TZ_CORE_JUMP_HOST_H

#include "backend/backend.h"

/* FFTW 3 (double precision), opened at run time: libfftw3.so.3. Debian and Ubuntu have it in
 * libfftw3-double3. It is free software under the GPL; Trapeze neither contains it nor needs it but
 * for jumps on CPUs.
 *
 * One thread at a time makes and destroys plans; any thread executes them. */
typedef struct tz_fftw_plan tz_fftw_plan; /* struct fftw_plan_s */

/* Values of fftw_r2r_kind and of flags. */
enum {
    TZ_FFTW_R2HC = 0,
    TZ_FFTW_HC2R = 1,
    TZ_FFTW_REDFT00 = 3,
    TZ_FFTW_REDFT01 = 4,
    TZ_FFTW_REDFT10 = 5,
    TZ_FFTW_RODFT00 = 7,
    TZ_FFTW_UNALIGNED = 1 << 1,
    TZ_FFTW_ESTIMATE = 1 << 6
};

typedef struct tz_fftw {
    char version[48]; /* "fftw-3.3.10-sse2-avx", "" if it does not say so */
    tz_fftw_plan *(*plan_r2r)(int rank, const int *n, double *in, double *out, const int *kind,
                              unsigned flags);
    void (*execute_r2r)(const tz_fftw_plan *plan, double *in, double *out);
    void (*destroy_plan)(tz_fftw_plan *plan);
} tz_fftw;

/* Open it; it stays open. `names`: file names to try, NULL-terminated; NULL: the usual ones.
 * Errors: TZ_UNSUPPORTED, with what to install. */
tz_status tz_fftw_open(tz_fftw *fftw, const char *const *names, tz_error *error);

/* Write which one there is, or how to get it, for `trapeze doctor`: a line. Returns
 * whether it is there. */
bool tz_fftw_describe(char *text, size_t size);

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
