/* Families of the cpu backend: ways to run a stage. Each is a file of this folder and a row of
 * tz_cpu_families in cpu.c; the backend, predictions and runs know families by this table alone. */
#ifndef TZ_CORE_BACKEND_CPU_FAMILY_H
#define TZ_CORE_BACKEND_CPU_FAMILY_H

#include "backend/cpu/rows.h"
#include "backend/host/store.h"
#include "base/machine.h"
#include "kernels/cpu/stage.h"
#include "model/work.h"

/* A problem and the machine that plans are for. `stage` describes the whole grid as one tile, at
 * height 1, with the number of threads. */
typedef struct tz_cpu_grid {
    const tz_problem *problem;
    const tz_machine *machine;
    bool absent; /* the machine is not this one: nothing can be timed */
    tz_stage stage;
} tz_cpu_grid;

/* Plans to compare; see tz_cpu_add(). */
typedef struct tz_cpu_plans tz_cpu_plans;

/* What a family runs its stages in. */
typedef struct tz_cpu_room {
    tz_host_store *store;
    tz_pipeline *pipeline;
    char *arena;        /* room() bytes for each thread, */
    size_t arena_bytes; /* or more */
} tz_cpu_room;

/* REQUIRED members are never NULL. */
typedef struct tz_cpu_family {
    const char *name;
    /* A stage keeps its levels in the two arrays of each field, not in rings. */
    bool in_arrays;
    /* OPTIONAL. May a plan that names no family be one of this? NULL: it may. */
    bool (*may)(const tz_cpu_grid *grid, const tz_plan *plan);
    /* OPTIONAL. Is it the family of such a plan, without predictions? NULL: if no other one is. */
    bool (*preferred)(const tz_cpu_grid *grid, const tz_plan *plan);
    /* REQUIRED. Complete a plan: choose what is 0, keep what is given, clip the tile to the grid.
     * Errors: TZ_UNSUPPORTED if the family cannot compute the problem, TZ_RANGE; messages name what
     * is possible. */
    tz_status (*plan)(const tz_cpu_grid *grid, tz_plan *plan, tz_error *error);
    /* REQUIRED. Add plans that are worth comparing, with the members that `given` sets. */
    void (*candidates)(const tz_cpu_grid *grid, const tz_plan *given, tz_cpu_plans *plans);
    /* REQUIRED. Set what a stage of the family needs beside height and tile, which are set. */
    void (*describe)(const tz_cpu_grid *grid, tz_stage *stage);
    /* REQUIRED. Bytes that a thread needs for a stage. */
    int64_t (*room)(const tz_stage *stage);
    /* REQUIRED. Run a stage; `written` are the fields that passes write. */
    void (*run)(tz_cpu_room *room, tz_stage *stage, uint32_t written);
    /* REQUIRED. The size of the work of a stage, from geometry alone. */
    tz_status (*count)(const tz_stage *stage, tz_stage_counts *out, tz_error *error);
    /* OPTIONAL. Change the work of a stage, for what is otherwise than counted. */
    void (*adjust)(const tz_cpu_grid *grid, const tz_stage *stage, const tz_stage_counts *counts,
                   tz_model_work *out);
} tz_cpu_family;

/* NULL-terminated. A plan without a family is one of the last row that is preferred. */
extern const tz_cpu_family *const tz_cpu_families[];

tz_cpu_grid tz_cpu_grid_of(const tz_problem *problem, const tz_machine *machine, int threads);

/* The stage of a complete plan, without arrays and step. */
tz_stage tz_cpu_stage_of(const tz_cpu_grid *grid, const tz_cpu_family *family, const tz_plan *plan);

/* Add a plan, completed, if it is possible and not there yet. */
void tz_cpu_add(tz_cpu_plans *plans, const tz_plan *plan);

/* ---- For families ---------------------------------------------------------------------------- */

/* Errors: TZ_RANGE if the height of a plan is negative or too large, or an extent of its tile is
 * negative. */
tz_status tz_cpu_check_numbers(const tz_problem *problem, const tz_plan *plan, tz_error *error);

/* Sets family and why of a complete plan. */
void tz_cpu_finish_plan(tz_plan *plan, const tz_cpu_family *family, bool height_chosen,
                        bool tile_chosen);

/* The next candidate height after `height`, the first one if `height` is 0; 0 after the last one.
 * All small heights are candidates, and some larger ones. A given height is the only candidate. */
int tz_cpu_height_next(const tz_problem *problem, const tz_plan *given, int height);

/* Parts of an axis of equal extent, a multiple of `unit`, that are not longer than `largest`; the
 * axis itself if that is as long. */
int64_t tz_cpu_split_evenly(int64_t extent, int64_t largest, int64_t unit);

/* By how many cells the ghost zone grows per iteration on an axis: the mean of its sides, rounded
 * up. */
int tz_cpu_growth(const tz_problem *problem, int axis);

/* Fields of a role, and bytes of an element of all of them together. */
int tz_cpu_fields(const tz_problem *problem, tz_role role);
double tz_cpu_bytes(const tz_problem *problem, tz_role role);

/* A second-level cache of so many bytes or more is used alone: processors that have one are slow to
 * reach their third level. */
#define TZ_CPU_L2_LARGE (INT64_C(2) << 20)

/* ---- Work: work.c ---------------------------------------------------------------------------- */

/* The work of a stage, for the models. Row functions are timed, unless the machine is absent; bytes
 * and redundancy come from geometry. Errors: TZ_MEMORY. */
tz_status tz_cpu_work(const tz_cpu_grid *grid, const tz_cpu_family *family, const tz_stage *stage,
                      tz_model_work *out, tz_error *error);

#endif
