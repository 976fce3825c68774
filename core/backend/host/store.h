/* Fields in host memory, for the backends that run on the CPU: two copies of each state field and
 * one of each static field, with space for ghosts. */
#ifndef TZ_CORE_BACKEND_HOST_STORE_H
#define TZ_CORE_BACKEND_HOST_STORE_H

#include "backend/place.h"
#include "kernels/cpu/stage.h"
#include "stencil/problem.h"

/* ---- Layout ---------------------------------------------------------------------------------- */

/* Where rows, planes and arrays of a grid begin in memory.
 *
 * A cache chooses a set by the address modulo the bytes of a way: 4 KiB in a first-level cache, 64
 * or 128 KiB in a second-level cache. If many rows that are used together begin near the same place
 * of a way, they push each other out of the cache. And while a value is stored, a processor delays
 * a load if the lower 12 bits of both addresses are equal. So large arrays have some padding, and
 * all but small ones begin at different places of a page. */

/* Arrays of at least so many bytes are large. They take whole huge pages of 2 MiB. */
#define TZ_HOST_LARGE (INT64_C(8) << 20)

/* Arrays of at least so many bytes are aligned to pages, and begin at places of a page that
 * differ. */
#define TZ_HOST_STAGGERED (INT64_C(128) << 10)

typedef struct tz_host_layout {
    int64_t row, plane; /* strides in elements */
    /* bytes, less than 4096: the second copy of a field begins so much later in a page */
    int64_t copy;
} tz_host_layout;

/* `ghost`: elements around rows; in 3-D also rows around planes. Rows are aligned, with
 * TZ_ALIGN_ELEMENTS between them for the ghosts of both ends. In large arrays they have more
 * padding, up to a sixteenth. If the alignment alone takes more than that and more than 24 MiB,
 * rows are not aligned, with only ghosts between them. */
tz_host_layout tz_host_layout_choose(const tz_problem *problem, int ghost);

/* Bytes from the beginning of an array's memory to its elements; less than 8192. */
int64_t tz_host_layout_begin(const tz_host_layout *layout, int64_t array_bytes, int field,
                             int copy);

/* ---- Stores ---------------------------------------------------------------------------------- */

typedef struct tz_host_store {
    const tz_problem *problem;
    tz_threads *threads; /* that clear arrays: those of the stages */
    int ghost;           /* elements around rows; in 3-D also rows around planes */
    tz_host_layout layout;
    struct {
        char *memory[2];
        tz_host_field copy[2]; /* [current] holds the values */
        int current;
        tz_host_field before; /* the values before the last swap or tz_host_store_advance() */
    } field[TZ_FIELDS_MAX];
} tz_host_store;

/* Bytes that a store takes; INT64_MAX if they overflow. */
int64_t tz_host_store_bytes(const tz_problem *problem, int ghost);

/* Allocate all fields, with zeros. `lazy`: static fields start uniform, as a single row, and get an
 * array when cells are stored. `threads` compute the stages: each clears a part of the arrays,
 * whose memory the system then gives it from its own node. `problem` is borrowed. Errors:
 * TZ_MEMORY; the caller must destroy the store also after an error. */
tz_status tz_host_store_create(tz_host_store *store, const tz_problem *problem, int ghost,
                               tz_threads *threads, bool lazy, tz_error *error);
void tz_host_store_destroy(tz_host_store *store);

/* As store, load and fill of tz_backend; ghosts stay as they are. Errors: TZ_MEMORY if a uniform
 * field needs an array. */
tz_status tz_host_store_put(tz_host_store *store, int field, const tz_box *box,
                            const void *elements, tz_error *error);
tz_status tz_host_store_get(const tz_host_store *store, int field, const tz_box *box,
                            void *elements, tz_error *error);
tz_status tz_host_store_fill(tz_host_store *store, int field, const void *element, bool lazy,
                             tz_error *error);

/* As memory of tz_backend. */
tz_field_memory tz_host_store_memory(const tz_host_store *store, int field);

/* The copy with the values, and the other one; swap() exchanges them. */
const tz_host_field *tz_host_store_current(const tz_host_store *store, int field);
const tz_host_field *tz_host_store_other(const tz_host_store *store, int field);
void tz_host_store_swap(tz_host_store *store, int field);

/* swap() for the fields of a mask. But some keep their current copy or take over that of another
 * one of the mask: from[f] is the field, or -1; no two have the same. */
void tz_host_store_advance(tz_host_store *store, uint32_t fields, const int *from);

/* The fields of the mask have been advanced by several iterations, which used all their arrays in
 * turns. Field f now has its values in array values[f], and those of the iteration before in
 * before[f]: array 2 g was the current copy of field g, 2 g + 1 the other one. Each array is named
 * once. */
void tz_host_store_turn(tz_host_store *store, uint32_t fields, const uint8_t *values,
                        const uint8_t *before);

/* The memory of the other copy, for any use: an element for each cell at least. Its values are
 * lost, and so are its ghosts. */
void *tz_host_store_scratch(tz_host_store *store, int field);

/* The maximum norm of the difference between the current copies and those before the last swap,
 * over the fields of the mask. */
double tz_host_store_difference(const tz_host_store *store, uint32_t fields, tz_threads *threads);
/* Whether no state field has a NaN or an infinity. */
bool tz_host_store_all_finite(const tz_host_store *store, tz_threads *threads);

/* The mask of the fields that a pass writes. */
uint32_t tz_problem_written(const tz_problem *problem);

/* Fills a row of tz_constant_row_bytes() in which all elements are equal. In 2-D and 3-D it is
 * longer than any span with a vector at each end; in 1-D it has a few elements. A span starts at
 * element TZ_ALIGN_ELEMENTS or later. */
void tz_constant_row_fill(const tz_problem *problem, int field, const void *element, char *row);
int64_t tz_constant_row_bytes(const tz_problem *problem, int field);

/* ---- tz_backend.refine for the backends that run on the CPU ---------------------------------- */

/* Add `field` of `correction` (single precision) to that of `solution` (double precision, the same
 * grid), and set it to zero. Ghosts stay as they are. */
void tz_host_refine_add(tz_host_store *solution, tz_host_store *correction, int field,
                        tz_threads *threads);

/* Set `field` of `correction` (single precision) to changes * source_per_update. `changes`: one for
 * each element of the grid, x fastest. Errors: TZ_MEMORY if the field was uniform. */
tz_status tz_host_refine_source(tz_host_store *correction, int field, const double *changes,
                                double source_per_update, tz_threads *threads, tz_error *error);

#endif
