/* Factors of a sparse matrix by UMFPACK. Called by system.c, and by `trapeze doctor`. */
#include "jump/umfpack.h"

#include "base/library.h"
#include <stdio.h>
#include <stdlib.h>

enum { TRANSPOSED = 1, OUT_OF_MEMORY = -1 }; /* UMFPACK_At: our rows are its columns */

typedef struct library {
    long (*symbolic)(long rows, long columns, const long *start, const long *index,
                     const double *value, void **out, const double *control, double *info);
    long (*numeric)(const long *start, const long *index, const double *value, void *symbolic,
                    void **out, const double *control, double *info);
    long (*solve)(long system, const long *start, const long *index, const double *value, double *x,
                  const double *b, void *numeric, const double *control, double *info);
    void (*free_symbolic)(void **symbolic);
    void (*free_numeric)(void **numeric);
} library;

struct tz_umfpack {
    library library;
    void *numeric;
    long *start, *column;
    double *value;
};

static tz_status open_library(library *out, const char **name, tz_error *error)
{
    static const char *const known[] = {"libumfpack.so.6", "libumfpack.so.5", "libumfpack.so",
                                        NULL};
    static const tz_library_symbol symbols[] = {
        {"umfpack_dl_symbolic", offsetof(library, symbolic), false},
        {"umfpack_dl_numeric", offsetof(library, numeric), false},
        {"umfpack_dl_solve", offsetof(library, solve), false},
        {"umfpack_dl_free_symbolic", offsetof(library, free_symbolic), false},
        {"umfpack_dl_free_numeric", offsetof(library, free_numeric), false}};
    const tz_library opened =
        tz_library_open(known, out, symbols, sizeof symbols / sizeof *symbols);
    *name = opened.name;
    if (!opened.handle || opened.missing)
        return tz_error_set(error, TZ_UNSUPPORTED, "direct",
                            "factors need libumfpack, which is not found: install it (Debian, "
                            "Ubuntu: apt-get install libumfpack5, or libumfpack6), or leave by = "
                            "\"direct\" out");
    return TZ_OK;
}

bool tz_umfpack_describe(char *text, size_t size)
{
    library found;
    const char *name;
    const bool there = open_library(&found, &name, NULL) == TZ_OK;
    if (there)
        snprintf(text, size, "factors of steady states (by = \"direct\"): by %s", name);
    else
        snprintf(text, size,
                 "factors of steady states (by = \"direct\"): libumfpack is missing, optional: "
                 "apt-get install libumfpack5 or libumfpack6 (free software under the GPL)");
    return there;
}

static tz_status copy(tz_umfpack *u, const tz_matrix *matrix, tz_error *error)
{
    const int64_t entries = matrix->start[matrix->rows];
    u->start = malloc(((size_t)matrix->rows + 1) * sizeof *u->start);
    u->column = malloc(((size_t)entries + 1) * sizeof *u->column);
    u->value = malloc(((size_t)entries + 1) * sizeof *u->value);
    if (!u->start || !u->column || !u->value)
        return tz_error_set(error, TZ_MEMORY, "direct", "not enough memory");
    for (int64_t i = 0; i <= matrix->rows; i++)
        u->start[i] = matrix->start[i];
    for (int64_t k = 0; k < entries; k++) {
        u->column[k] = matrix->column[k];
        u->value[k] = matrix->value[k];
    }
    return TZ_OK;
}

static tz_status factorize(tz_umfpack *u, int64_t rows, tz_error *error)
{
    void *symbolic = NULL;
    long failed =
        u->library.symbolic(rows, rows, u->start, u->column, u->value, &symbolic, NULL, NULL);
    if (failed == 0)
        failed =
            u->library.numeric(u->start, u->column, u->value, symbolic, &u->numeric, NULL, NULL);
    if (symbolic)
        u->library.free_symbolic(&symbolic);
    if (failed == OUT_OF_MEMORY)
        return tz_error_set(
            error, TZ_MEMORY, "direct",
            "there is not enough memory for the factors: leave by = \"direct\" out");
    return failed == 0 ? TZ_OK
                       : tz_error_set(error, TZ_UNSUPPORTED, "direct",
                                      "the system is singular (UMFPACK's status %ld): something is "
                                      "kept, so leave by = \"direct\" out",
                                      failed);
}

tz_status tz_umfpack_create(tz_umfpack **out, const tz_matrix *matrix, tz_error *error)
{
    const char *name;
    tz_umfpack *u = *out = calloc(1, sizeof *u);
    if (!u)
        return tz_error_set(error, TZ_MEMORY, "direct", "not enough memory");
    tz_status status = open_library(&u->library, &name, error);
    if (!status)
        status = copy(u, matrix, error);
    if (!status)
        status = factorize(u, matrix->rows, error);
    if (status) {
        tz_umfpack_destroy(u);
        *out = NULL;
    }
    return status;
}

void tz_umfpack_destroy(tz_umfpack *factors)
{
    if (!factors)
        return;
    if (factors->numeric)
        factors->library.free_numeric(&factors->numeric);
    free(factors->start);
    free(factors->column);
    free(factors->value);
    free(factors);
}

void tz_umfpack_apply(const tz_umfpack *factors, const double *r, double *x)
{
    factors->library.solve(TRANSPOSED, factors->start, factors->column, factors->value, x, r,
                           factors->numeric, NULL, NULL);
}
