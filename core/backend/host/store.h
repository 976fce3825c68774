/* Fields in host memory, for the backends that run on the CPU: two copies of each state field, one
 * of each static field, with room for ghosts around them. */
#ifndef TZ_CORE_BACKEND_HOST_STORE_H
#define TZ_CORE_BACKEND_HOST_STORE_H

#include "kernels/cpu/stream.h"
#include "stencil/problem.h"

typedef struct tz_host_store {
    const tz_problem *problem;
    int ghost;                          /* elements around rows and, in 3-D, rows around planes */
    ptrdiff_t row_stride, plane_stride; /* elements */
    struct {
        char *memory[2];
        tz_host_field copy[2]; /* [current] holds the values */
        int current;
    } field[TZ_FIELDS_MAX];
} tz_host_store;

/* Bytes that a store takes; INT64_MAX if they overflow. */
int64_t tz_host_store_bytes(const tz_problem *problem, int ghost);

/* Allocate all fields; cells are zero. `lazy`: static fields start uniform, as one row of
 * memory, and get an array when cells are stored. `problem` is borrowed. Errors: TZ_MEMORY. The
 * caller destroys the store also after an error. */
tz_status tz_host_store_create(tz_host_store *store, const tz_problem *problem, int ghost,
                               bool lazy, tz_error *error);
void tz_host_store_destroy(tz_host_store *store);

/* Store, load and fill as in tz_backend; they do not touch ghosts. Errors: TZ_MEMORY, when a
 * uniform field needs an array. */
tz_status tz_host_store_put(tz_host_store *store, int field, const tz_box *box,
                            const void *elements, tz_error *error);
tz_status tz_host_store_get(const tz_host_store *store, int field, const tz_box *box,
                            void *elements, tz_error *error);
tz_status tz_host_store_fill(tz_host_store *store, int field, const void *element, bool lazy,
                             tz_error *error);

/* The copy that holds the values, the other copy, and the exchange of the two. */
const tz_host_field *tz_host_store_current(const tz_host_store *store, int field);
const tz_host_field *tz_host_store_other(const tz_host_store *store, int field);
void tz_host_store_swap(tz_host_store *store, int field);

/* The maximum norm of the difference of the two copies, over the fields of the mask. */
double tz_host_store_difference(const tz_host_store *store, uint32_t fields, int threads);
/* No state field holds NaN or infinity. */
bool tz_host_store_all_finite(const tz_host_store *store, int threads);

/* State fields that some pass writes. */
uint32_t tz_problem_written(const tz_problem *problem);

/* A row of a constant, longer than every span plus vectors at both ends. Its element
 * TZ_ALIGN_ELEMENTS is the first that a span may begin with. The caller frees it. NULL: no
 * memory. */
void *tz_constant_row_create(const tz_problem *problem, int field, const void *element);

#endif
