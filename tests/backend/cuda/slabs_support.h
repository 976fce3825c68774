/* For tests of slabs on GPUs that exchange ghost zones, in one process (test_cuda_slabs.c) or
 * several (test_cuda_links.c): a grid in slabs whose cells have a number each, and a kernel for
 * the stand-in of the driver. The includer says what NEED() and NEED_OK() do where something is
 * wrong. */
#ifndef TZ_TEST_SLABS_SUPPORT_H
#define TZ_TEST_SLABS_SUPPORT_H

#include "backend/cuda/state.h"
#include "backend/slabs/commands.h"
#include "backend/slabs/exchange.h"
#include "backend/slabs/slabs.h"
#include "fake/fake.h"
#include "tests/registry.h"
#include <dlfcn.h>

enum { DEPTH = 4, CELLS_MAX = 9 * 5 * 50 };

static const fake_cuda_seen *seen;
static fake_cuda_runs *run_kernels;
static tz_problem problem;
static tz_devices devices;
static tz_backend backend;
static tz__slabs *slabs;

static inline int open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    fake_cuda_look *look = library ? (fake_cuda_look *)dlsym(library, "fake_cuda") : NULL;
    run_kernels = library ? (fake_cuda_runs *)dlsym(library, "fake_cuda_run") : NULL;
    if (!look || !run_kernels)
        return -1;
    seen = look();
    return 0;
}

/* A grid of so many rows, or planes, in slabs on `devices`. `ranks` may be NULL. */
static inline void make_slabs(const char *id, const char *boundary, int rows, tz_ranks *ranks)
{
    const tz_stencil *stencil;
    const tz_plugin *plugin;
    NEED_OK(tz_registry_find(registry, id, &stencil, &plugin, &failure));
    const tz_simulation_config config = {
        .dims = stencil->dims,
        .precision = tz_stencil_has_real(stencil) ? TZ_SINGLE : -1,
        .extent = {9, stencil->dims == 3 ? 5 : rows, stencil->dims == 3 ? rows : 1},
        .boundary = {boundary, boundary, stencil->dims == 3 ? boundary : NULL}};
    NEED_OK(tz_problem_resolve(&problem, stencil, &config, &failure));
    NEED_OK(tz_slabs_backend(&tz_backend_cuda, &backend, &failure));
    const tz_backend_context context = {
        .problem = &problem, .devices = &devices, .exchange = DEPTH, .ranks = ranks};
    slabs = calloc(1, sizeof *slabs);
    NEED_OK(tz__slabs_do_create(slabs, &tz_backend_cuda, &context, &failure));
}

/* A number for each element of the whole grid. */
static inline uint32_t number(int round, int field, int64_t slice, int64_t rest)
{
    return (uint32_t)(1 + rest + 100 * slice + 10000 * field + 1000000 * round);
}

static inline tz_box slices_of(const tz_problem *of, int64_t low, int64_t high)
{
    tz_box box = {{0, 0, 0}, {of->elements[0], of->elements[1], of->elements[2]}};
    box.low[of->dims - 1] = low;
    box.high[of->dims - 1] = high;
    return box;
}

/* Numbers in the own cells of this process's slabs; with `all` also zeros in their ghost zones. */
static inline void fill(int round, bool all)
{
    static uint32_t cells[CELLS_MAX];
    for (int i = slabs->low; i < slabs->high; i++) {
        const tz_problem *part = &slabs->parts[i]->problem;
        const int64_t n = part->elements[part->dims - 1], slice = tz_problem_elements(part) / n;
        const int64_t first = all ? 0 : part->slab.low, last = all ? n : part->slab.high;
        const tz_box box = slices_of(part, first, last);
        for (int f = 0; f < part->stencil->fields_count; f++) {
            for (int64_t k = 0; k < (last - first) * slice; k++) {
                const int64_t at = first + k / slice;
                cells[k] = at >= part->slab.low && at < part->slab.high
                               ? number(round, f, tz_problem_coordinate(part, at), k % slice)
                               : 0;
            }
            NEED_OK(slabs->inner->store(slabs->parts[i]->state, f, &box, cells, &failure));
        }
    }
}

/* Own cells have the numbers of one round. Ghost zones have those of another: of state fields for
 * `exchange` iterations, of static fields for `once`. With `zeros`, cells further out are 0. */
static inline void check(int round, int ghosts, int exchange, int once, bool zeros)
{
    static uint32_t cells[CELLS_MAX];
    for (int i = slabs->high - 1; i >= slabs->low; i--) {
        const tz_problem *part = &slabs->parts[i]->problem;
        const int64_t n = part->elements[part->dims - 1], slice = tz_problem_elements(part) / n;
        const tz_box all = slices_of(part, 0, n);
        int wrong = 0;
        for (int f = 0; f < part->stencil->fields_count; f++) {
            const int depth = part->stencil->fields[f].role == TZ_STATE ? exchange : once;
            const int64_t low = part->slab.low - tz_cut_ghost(&slabs->cut, 0, depth);
            const int64_t high = part->slab.high + tz_cut_ghost(&slabs->cut, 1, depth);
            NEED_OK(slabs->inner->load(slabs->parts[i]->state, f, &all, cells, &failure));
            for (int64_t k = 0; k < n * slice; k++) {
                const int64_t at = k / slice;
                const bool own = at >= part->slab.low && at < part->slab.high;
                const bool inside = at >= low && at < high;
                const uint32_t want = inside ? number(own ? round : ghosts, f,
                                                      tz_problem_coordinate(part, at), k % slice)
                                             : 0;
                if ((inside || zeros) && cells[k] != want && wrong++ == 0)
                    fprintf(stderr, "round %d, slab %d, field %d, slice %lld: %u, not %u\n", round,
                            i, f, (long long)at, cells[k], want);
            }
        }
        NEED(wrong == 0);
    }
}

/* ---- A kernel: stages of star2d1r with one field of integers, in a slab --------------------- */

enum { ROWS = 150, WIDE = 9 };

/* tz_arguments of a stencil with one field, in a slab (kernels/cuda/common.cuh). */
typedef struct arguments {
    const uint32_t *in;
    uint32_t *out;
    unsigned long long edge, constants[64];
    void *scratch;
    long long step, plane;
    int nx, ny, nz, pitch, columns, height, geometry[6], whole_first, whole_extent, low, high;
} arguments;

/* An iteration: a cell and its neighbours in other rows. */
static inline uint32_t update(uint32_t below, uint32_t here, uint32_t above)
{
    return 3 * here + 5 * below + 7 * above + 1;
}

/* Rows from `low` to `high` after an iteration; those outside the grid are the ones at its ends. */
static inline void iterate(const uint32_t *from, uint32_t *to, int rows, int low, int high)
{
    for (int y = low; y < high; y++)
        for (int x = 0; x < WIDE; x++)
            to[y * WIDE + x] = update(from[(y > 0 ? y - 1 : 0) * WIDE + x], from[y * WIDE + x],
                                      from[(y + 1 < rows ? y + 1 : y) * WIDE + x]);
}

static inline void add_rows(const void *argument)
{
    static uint32_t level[2][ROWS * WIDE * 2];
    const arguments *a = argument;
    for (int y = 0; y < a->ny; y++)
        memcpy(&level[0][y * WIDE], a->in + (size_t)y * (size_t)a->pitch, sizeof(uint32_t) * WIDE);
    for (int t = 1; t <= a->height; t++) {
        const int low = a->low - (a->height - t), high = a->high + a->height - t;
        iterate(level[(t - 1) % 2], level[t % 2], a->ny, low > 0 ? low : 0,
                high < a->ny ? high : a->ny);
    }
    for (int y = a->low; y < a->high; y++)
        memcpy(a->out + (size_t)y * (size_t)a->pitch, &level[a->height % 2][y * WIDE],
               sizeof(uint32_t) * WIDE);
}

/* An iteration of the whole grid. */
static inline void iterate_all(const uint32_t *from, uint32_t *to, bool ring)
{
    iterate(from, to, ROWS, 0, ROWS);
    for (int x = 0; ring && x < WIDE; x++) {
        const int last = (ROWS - 1) * WIDE + x;
        to[x] = update(from[last], from[x], from[WIDE + x]);
        to[last] = update(from[last - WIDE], from[last], from[x]);
    }
}

#endif
