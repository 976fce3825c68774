/* Points in device memory: lists, values of the iterations to come and recorded ones. cuda.c calls
 * these functions. */
#ifndef TZ_CORE_BACKEND_CUDA_POINTS_H
#define TZ_CORE_BACKEND_CUDA_POINTS_H

#include "backend/cuda/family/arguments.h"
#include "base/embed.h"
#include "stencil/points.h"

/* The source of the kernel. */
TZ_EMBEDDED(tz_cuda_text_points);

/* An element with all that happens to it in an iteration, as kernels/cuda/points.cuh has it. */
typedef struct tz_cuda_point {
    int64_t offset; /* bytes in the field's array */
    int32_t field, size;
    int32_t add, adds;   /* the first value that is added, and how many */
    int32_t record;      /* the number of its recorded value; -1: it is not recorded */
    float origin, scale; /* tz_storage.add and .scale of the field; used if size is 2 */
    int32_t unused;
} tz_cuda_point;

/* Zero-initialise. */
typedef struct tz_cuda_points {
    const tz_points *of; /* the points that all this is made for */
    uint64_t of_generation;
    tz_cu_pointer cells, added, recorded;
    tz_cu_pointer lists; /* the same by rows, for kernels that apply them at each level */
    tz_cuda_point_arguments arguments; /* but for the values */
    int first[TZ_PASSES_MAX + 1];      /* the cells of each pass, then their number */
    int adds, records;
    size_t real;                           /* bytes of an added value */
    int64_t *added_index, *recorded_index; /* of the device's values in tz_point_values */
    bool whole;                            /* the recorded values are all, in their order */
    char *staging;                         /* of the added or the recorded values of all rows */
    int64_t from, rows;                    /* recorded ones that were not taken */
    int64_t begins;                        /* the iteration of row 0 */
    int64_t uploaded;                      /* rows of `added` that the device has, */
    uint64_t generation;                   /* of this one */
    tz_cuda_kernel kernel;
} tz_cuda_points;

/* The lists by rows as they lie at `at` in device memory: of each field the added and then the
 * recorded ones, and behind them the numbers of their columns. base[]: of each list, the number of
 * its first value among those of an iteration. Returns the bytes; writes them unless `bytes` is
 * NULL, and what the arguments say of them. */
size_t tz_cuda_point_rows(const tz_problem *problem, const int *base, tz_cu_pointer at, char *bytes,
                          tz_cuda_point_arguments *out);

void tz_cuda_points_clear(tz_cuda_points *points, tz_cuda *cuda);
/* Before a stage: what is new in problem->points, and the values of its iterations. Errors:
 * TZ_MEMORY, TZ_BACKEND. */
tz_status tz_cuda_points_begin(tz_cuda_points *points, tz_cuda *cuda, const tz_problem *problem,
                               int64_t step, int height, tz_error *error);
/* What kernels of iterations from `step` on find of it in their arguments. */
tz_cuda_point_arguments tz_cuda_points_arguments(const tz_cuda_points *points, int64_t step);
/* `height` iterations from `step` on are launched. */
void tz_cuda_points_launched(tz_cuda_points *points, int64_t step, int height);
/* In the default queue, after a pass of iteration `step` that wrote the arrays `out`. */
tz_status tz_cuda_points_apply(tz_cuda_points *points, tz_cuda *cuda, int pass, int64_t step,
                               const tz_cu_pointer out[TZ_FIELDS_MAX], tz_error *error);
/* tz_backend.recorded */
tz_status tz_cuda_points_take(tz_cuda_points *points, tz_cuda *cuda, tz_error *error);

#endif
