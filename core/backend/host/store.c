/* Fields in host memory, and where they begin there. Called by the backends that run on the CPU. */
#include "backend/host/store.h"

#include "backend/host/reduce.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    ALIGN = TZ_ALIGN_ELEMENTS,
    SLACK = 128, /* elements before and after an array that vectors may read */
    PAGE = 4096,
    HUGE_PAGE = 2 << 20
};

/* ---- Layout ---------------------------------------------------------------------------------- */

enum {
    PADDING_MAX = 24 << 20, /* bytes of padding between rows, in all arrays together, ... */
    PADDING_SHARE = 16,     /* ... or this part of the arrays, if it is more */
    LINE = 64,
    FIELDS = 21 /* places in a page where the arrays of fields begin */
};

/* Whether neighbours at this distance in bytes begin at different places of a page. */
static bool neighbours_apart(int64_t bytes)
{
    enum { APART = 512 };
    return bytes % PAGE >= APART && bytes % PAGE <= PAGE - APART;
}

/* How many of the next 32 rows at this distance in bytes begin near the same place of a way of 64
 * KiB, or more than all of them if neighbours do. */
static int crowd(int64_t bytes)
{
    enum { WAY = 64 << 10, ROWS = 32 };
    const int64_t near = bytes < PAGE ? bytes : PAGE;
    int found = neighbours_apart(bytes) ? 0 : ROWS + 1;
    for (int i = 1; i <= ROWS; i++) {
        const int64_t at = i * bytes % WAY;
        found += at < near || at > WAY - near;
    }
    return found;
}

/* The least crowded distance of rows, and of several the least one; `row` elements or up to
 * `most`. */
static int64_t spread_rows(int64_t row, int64_t most, int64_t size)
{
    enum { FEW = 2 }; /* as many as at random distances */
    int64_t best = row;
    for (int64_t wider = row; wider <= most && crowd(best * size) > FEW; wider += ALIGN)
        if (crowd(wider * size) < crowd(best * size))
            best = wider;
    return best;
}

/* One copy is loaded while the other one is stored, and then the other way round. A value is stored
 * some time after the loads that precede it in the text, so a load is delayed if its address is a
 * little lower in the page than the last stores, which are at higher and higher addresses. The
 * neighbours to the left, `left` bytes lower, are loaded with the next vector: on some processors a
 * load waits for the store of the vector before if both touch the same bytes of a page. Returns by
 * how many bytes no load is lower, for all neighbours of a cell. */
static int64_t loads_apart(int64_t row, int64_t plane, int64_t copy, int64_t left, int rows,
                           int planes)
{
    int64_t least = PAGE;
    for (int z = -planes; z <= planes; z++)
        for (int y = -rows; y <= rows; y++)
            for (int sign = -1; sign <= 1; sign += 2) {
                const int64_t at = (y * row + z * plane + sign * copy - left) % PAGE;
                const int64_t lower = at < 0 ? -at : PAGE - at;
                least = lower < least ? lower : least;
            }
    return least;
}

/* The distance of planes that leaves most room to the loads, with at most a page of padding in
 * large arrays, and the distance of copies. */
static void spread_planes(const tz_problem *problem, int64_t size, bool large, tz_host_layout *l)
{
    enum { STEP = 2 * LINE };
    const bool deep = problem->dims == 3;
    /* A row function may compute several slabs at once. */
    const int more = TZ_SLABS_TOGETHER - 1;
    const int rows =
        problem->dims > 1 ? tz_stencil_reach_along(problem->stencil, 1) + (deep ? 0 : more) : 0;
    const int planes = deep ? tz_stencil_reach_along(problem->stencil, 2) + more : 0;
    const int64_t left = tz_stencil_reach_along(problem->stencil, 0) * size;
    const int64_t dense = l->plane;
    int64_t most = -1;
    for (int64_t padding = 0; padding < (deep && large ? PAGE : 1); padding += STEP)
        for (int64_t copy = 0; copy < PAGE; copy += STEP) {
            const int64_t plane = dense * size + padding;
            if (deep && large && !neighbours_apart(plane))
                continue;
            const int64_t apart = loads_apart(l->row * size, plane, copy, left, rows, planes);
            if (apart <= most)
                continue;
            most = apart;
            l->plane = dense + padding / size;
            l->copy = copy;
        }
}

/* Bytes of an element of the first state field. */
static int64_t state_size(const tz_problem *problem)
{
    int f = 0;
    while (f + 1 < problem->stencil->fields_count && problem->stencil->fields[f].role != TZ_STATE)
        f++;
    return (int64_t)tz_problem_element_size(problem, f);
}

tz_host_layout tz_host_layout_choose(const tz_problem *problem, int ghost)
{
    const int64_t w = problem->elements[0], size = state_size(problem), most = w / PADDING_SHARE;
    const int64_t rows = problem->elements[1] + (problem->dims == 3 ? 2 * ghost : 0);
    const int64_t all = rows * problem->elements[2];
    tz_host_layout l = {.row = tz_round_up(w + 2 * ghost, ALIGN)};
    if (l.row * size % PAGE == 0)
        l.row += ALIGN;
    const bool large = all > 1 && l.row * all * size >= TZ_HOST_LARGE;
    if (large)
        l.row = spread_rows(l.row, w + most, size);
    if (l.row - w > most && (l.row - w) * all * 16 > PADDING_MAX)
        l.row = w + 2 * ghost;
    l.plane = l.row * rows;
    if (all > 1)
        spread_planes(problem, size, large, &l);
    return l;
}

int64_t tz_host_layout_begin(const tz_host_layout *layout, int64_t array_bytes, int field, int copy)
{
    const int64_t fields = field % FIELDS * (PAGE / FIELDS / LINE * LINE);
    return array_bytes >= TZ_HOST_STAGGERED ? fields + copy * layout->copy : 0;
}

/* ---- Stores ---------------------------------------------------------------------------------- */

static int64_t array_elements(const tz_problem *problem, const tz_host_layout *layout)
{
    return layout->plane * problem->elements[2] + 2 * SLACK;
}

static int64_t alignment_of(int64_t bytes)
{
    return bytes >= TZ_HOST_LARGE ? HUGE_PAGE : bytes >= TZ_HOST_STAGGERED ? PAGE : 64;
}

/* Each thread writes a part first, the one whose jobs it will begin with (kernels/cpu/shares.h):
 * systems with several nodes of memory give a page to the node of the thread that first writes
 * it. */
typedef struct area {
    char *memory;
    int64_t bytes;
} area;

static void clear_part(void *any, int thread, int count)
{
    const area *a = any;
    const int64_t begin = a->bytes / count * thread / PAGE * PAGE;
    const int64_t end =
        thread + 1 == count ? a->bytes : a->bytes / count * (thread + 1) / PAGE * PAGE;
    memset(a->memory + begin, 0, (size_t)(end - begin));
}

static void clear(char *memory, int64_t bytes, tz_threads *threads)
{
    area a = {memory, bytes};
    tz_threads_run(threads, bytes < TZ_HOST_LARGE ? 1 : tz_threads_count(threads), clear_part, &a);
}

static char *allocate(size_t bytes, tz_threads *threads)
{
    const size_t align = (size_t)alignment_of((int64_t)bytes);
    char *memory = aligned_alloc(align, (size_t)tz_round_up((int64_t)bytes, (int64_t)align));
    if (memory && align == HUGE_PAGE)
        madvise(memory, bytes, MADV_HUGEPAGE); /* fewer TLB misses; may fail without harm */
    if (memory)
        clear(memory, (int64_t)bytes, threads);
    return memory;
}

static tz_status allocate_array(tz_host_store *store, int f, int copy, tz_error *error)
{
    const size_t size = tz_problem_element_size(store->problem, f);
    const size_t array = (size_t)array_elements(store->problem, &store->layout) * size;
    const size_t stagger = (size_t)tz_host_layout_begin(&store->layout, (int64_t)array, f, copy);
    const size_t bytes = array + stagger;
    char *memory = allocate(bytes, store->threads);
    if (!memory)
        return tz_error_set(error, TZ_MEMORY, NULL,
                            "field '%s' needs %zu bytes, more than are free: use a smaller grid",
                            store->problem->stencil->fields[f].name, bytes);
    const ptrdiff_t ghost_rows = store->problem->dims == 3 ? store->ghost : 0;
    free(store->field[f].memory[copy]);
    store->field[f].memory[copy] = memory;
    store->field[f].copy[copy] = (tz_host_field){
        .origin = memory + stagger + (SLACK + ghost_rows * store->layout.row) * (ptrdiff_t)size,
        .row_stride = store->layout.row,
        .plane_stride = store->layout.plane,
    };
    return TZ_OK;
}

/* No span is longer than a row, with the ghost zones of both ends if a tile may wrap. A 1-D grid
 * reads single elements alone. */
static int64_t constant_row_elements(const tz_problem *problem)
{
    const int64_t ghosts =
        tz_boundary_wraps(problem->boundary[0][0]) ? TZ_LEVELS_MAX * TZ_RADIUS_MAX + ALIGN : 0;
    return (problem->dims == 1 ? 0 : problem->elements[0] + 2 * ghosts) + 2 * SLACK;
}

int64_t tz_constant_row_bytes(const tz_problem *problem, int field)
{
    return constant_row_elements(problem) * (int64_t)tz_problem_element_size(problem, field);
}

void tz_constant_row_fill(const tz_problem *problem, int field, const void *element, char *row)
{
    const int64_t size = (int64_t)tz_problem_element_size(problem, field);
    for (int64_t i = 0; i < tz_constant_row_bytes(problem, field); i += size)
        memcpy(row + i, element, (size_t)size);
}

/* Release it with free(). NULL: not enough memory. */
static void *constant_row_create(const tz_problem *problem, int field, const void *element)
{
    char *row = aligned_alloc(64, (size_t)tz_round_up(tz_constant_row_bytes(problem, field), 64));
    if (row)
        tz_constant_row_fill(problem, field, element, row);
    return row;
}

/* A uniform field has the same value inside and outside the grid. So it must not be read off
 * centre, where the boundary value may differ. In 1-D its row would be as long as the field. */
static bool may_be_uniform(const tz_problem *problem, int field)
{
    const tz_stencil *stencil = problem->stencil;
    bool centre = stencil->fields[field].role == TZ_STATIC && problem->dims > 1;
    for (int p = 0; p < stencil->passes_count; p++) {
        const tz_reads reads = tz_stencil_reads(stencil, &stencil->passes[p], field);
        for (int axis = 0; axis < problem->dims; axis++)
            centre = centre && reads.low[axis] == 0 && reads.high[axis] == 0;
    }
    return centre;
}

int64_t tz_host_store_bytes(const tz_problem *problem, int ghost)
{
    const tz_host_layout layout = tz_host_layout_choose(problem, ghost);
    int64_t bytes = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const tz_role role = problem->stencil->fields[f].role;
        const int64_t copies = role == TZ_STATE ? 2 : role == TZ_STATIC ? 1 : 0;
        const int64_t size = (int64_t)tz_problem_element_size(problem, f);
        if (array_elements(problem, &layout) > INT64_MAX / 32)
            return INT64_MAX;
        const int64_t array = size * array_elements(problem, &layout);
        for (int copy = 0; copy < copies; copy++)
            bytes += tz_round_up(array + tz_host_layout_begin(&layout, array, f, copy),
                                 alignment_of(array));
        if (may_be_uniform(problem, f)) /* its row, until it has an array */
            bytes += tz_constant_row_bytes(problem, f);
    }
    return bytes;
}

static tz_status make_uniform(tz_host_store *store, int f, const void *element, tz_error *error)
{
    char *row = constant_row_create(store->problem, f, element);
    if (!row)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a row of '%s'",
                            store->problem->stencil->fields[f].name);
    free(store->field[f].memory[0]);
    store->field[f].memory[0] = row;
    store->field[f].copy[0] = (tz_host_field){
        .origin = row + ALIGN * tz_problem_element_size(store->problem, f), .uniform = true};
    return TZ_OK;
}

tz_status tz_host_store_create(tz_host_store *store, const tz_problem *problem, int ghost,
                               tz_threads *threads, bool lazy, tz_error *error)
{
    memset(store, 0, sizeof *store);
    store->problem = problem;
    store->threads = threads;
    store->ghost = ghost;
    store->layout = tz_host_layout_choose(problem, ghost);
    const uint64_t zero = 0;
    tz_status status = TZ_OK;
    for (int f = 0; f < problem->stencil->fields_count && !status; f++)
        switch (problem->stencil->fields[f].role) {
        case TZ_STATE:
            status = allocate_array(store, f, 0, error);
            if (!status)
                status = allocate_array(store, f, 1, error);
            break;
        case TZ_STATIC:
            status = lazy && may_be_uniform(problem, f) ? make_uniform(store, f, &zero, error)
                                                        : allocate_array(store, f, 0, error);
            break;
        default:
            break;
        }
    return status;
}

void tz_host_store_destroy(tz_host_store *store)
{
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        for (int copy = 0; copy < 2; copy++)
            free(store->field[f].memory[copy]);
    memset(store, 0, sizeof *store);
}

static char *row_at(const tz_host_field *host, size_t size, int64_t x, int64_t y, int64_t z)
{
    return host->origin + (x + y * host->row_stride + z * host->plane_stride) * (ptrdiff_t)size;
}

/* Give a uniform field an array. */
static tz_status spread(tz_host_store *store, int f, tz_error *error)
{
    const tz_problem *problem = store->problem;
    const size_t size = tz_problem_element_size(problem, f);
    uint64_t element = 0;
    memcpy(&element, store->field[f].copy[0].origin, size);
    tz_status status = allocate_array(store, f, 0, error);
    return status ? status : tz_host_store_fill(store, f, &element, false, error);
}

tz_status tz_host_store_put(tz_host_store *store, int field, const tz_box *box,
                            const void *elements, tz_error *error)
{
    if (store->field[field].copy[0].uniform) {
        tz_status status = spread(store, field, error);
        if (status)
            return status;
    }
    const tz_host_field *host = tz_host_store_current(store, field);
    const size_t size = tz_problem_element_size(store->problem, field);
    const size_t length = (size_t)(box->high[0] - box->low[0]) * size;
    const char *from = elements;
    for (int64_t z = box->low[2]; z < box->high[2]; z++)
        for (int64_t y = box->low[1]; y < box->high[1]; y++, from += length)
            memcpy(row_at(host, size, box->low[0], y, z), from, length);
    return TZ_OK;
}

tz_status tz_host_store_get(const tz_host_store *store, int field, const tz_box *box,
                            void *elements, tz_error *error)
{
    (void)error;
    const tz_host_field *host = tz_host_store_current(store, field);
    const size_t size = tz_problem_element_size(store->problem, field);
    const int64_t count = box->high[0] - box->low[0];
    char *to = elements;
    for (int64_t z = box->low[2]; z < box->high[2]; z++)
        for (int64_t y = box->low[1]; y < box->high[1]; y++, to += count * (int64_t)size) {
            if (!host->uniform) {
                memcpy(to, row_at(host, size, box->low[0], y, z), (size_t)count * size);
                continue;
            }
            for (int64_t i = 0; i < count; i++)
                memcpy(to + i * (int64_t)size, host->origin, size);
        }
    return TZ_OK;
}

tz_status tz_host_store_fill(tz_host_store *store, int field, const void *element, bool lazy,
                             tz_error *error)
{
    const tz_problem *problem = store->problem;
    if (lazy && may_be_uniform(problem, field))
        return make_uniform(store, field, element, error);
    const tz_host_field *host = tz_host_store_current(store, field);
    const size_t size = tz_problem_element_size(problem, field);
    for (int64_t z = 0; z < problem->elements[2]; z++)
        for (int64_t y = 0; y < problem->elements[1]; y++) {
            char *row = row_at(host, size, 0, y, z);
            for (int64_t x = 0; x < problem->elements[0]; x++)
                memcpy(row + x * (int64_t)size, element, size);
        }
    return TZ_OK;
}

tz_field_memory tz_host_store_memory(const tz_host_store *store, int field)
{
    const tz_host_field *host = tz_host_store_current(store, field);
    const int64_t size = (int64_t)tz_problem_element_size(store->problem, field);
    tz_field_memory memory = {.first = host->origin};
    if (!host->uniform) {
        memory.strides[0] = size;
        memory.strides[1] = host->row_stride * size;
        memory.strides[2] = host->plane_stride * size;
    }
    return memory;
}

const tz_host_field *tz_host_store_current(const tz_host_store *store, int field)
{
    return &store->field[field].copy[store->field[field].current];
}

const tz_host_field *tz_host_store_other(const tz_host_store *store, int field)
{
    return &store->field[field].copy[1 - store->field[field].current];
}

void *tz_host_store_scratch(tz_host_store *store, int field)
{
    return store->field[field].memory[1 - store->field[field].current];
}

void tz_host_store_swap(tz_host_store *store, int field)
{
    store->field[field].before = *tz_host_store_current(store, field);
    store->field[field].current = 1 - store->field[field].current;
}

void tz_host_store_advance(tz_host_store *store, uint32_t fields, const int *from)
{
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        if (fields >> f & 1)
            tz_host_store_swap(store, f);
    for (int f = 0; f < TZ_FIELDS_MAX; f++) {
        if (!(fields >> f & 1) || from[f] < 0)
            continue;
        const int mine = store->field[f].current, theirs = 1 - store->field[from[f]].current;
        const tz_host_field copy = store->field[f].copy[mine];
        char *memory = store->field[f].memory[mine];
        store->field[f].copy[mine] = store->field[from[f]].copy[theirs];
        store->field[f].memory[mine] = store->field[from[f]].memory[theirs];
        store->field[from[f]].copy[theirs] = copy;
        store->field[from[f]].memory[theirs] = memory;
    }
}

void tz_host_store_turn(tz_host_store *store, uint32_t fields, const uint8_t *values,
                        const uint8_t *before)
{
    struct {
        char *memory;
        tz_host_field copy;
    } arrays[2 * TZ_FIELDS_MAX];
    for (int i = 0; i < 2 * TZ_FIELDS_MAX; i++) {
        const int copy = i % 2 ? 1 - store->field[i / 2].current : store->field[i / 2].current;
        arrays[i].memory = store->field[i / 2].memory[copy];
        arrays[i].copy = store->field[i / 2].copy[copy];
    }
    for (int f = 0; f < TZ_FIELDS_MAX; f++) {
        if (!(fields >> f & 1))
            continue;
        for (int copy = 0; copy < 2; copy++) {
            const int from = copy ? before[f] : values[f];
            store->field[f].memory[copy] = arrays[from].memory;
            store->field[f].copy[copy] = arrays[from].copy;
        }
        store->field[f].current = 0;
        store->field[f].before = store->field[f].copy[1];
    }
}

double tz_host_store_difference(const tz_host_store *store, uint32_t fields, tz_threads *threads)
{
    double largest = 0.0;
    for (int f = 0; f < store->problem->stencil->fields_count; f++)
        if (fields >> f & 1) {
            const double d = tz_reduce_difference(store->problem, f, &store->field[f].before,
                                                  tz_host_store_current(store, f), threads);
            largest = d > largest ? d : largest;
        }
    return largest;
}

bool tz_host_store_all_finite(const tz_host_store *store, tz_threads *threads)
{
    for (int f = 0; f < store->problem->stencil->fields_count; f++)
        if (store->problem->stencil->fields[f].role == TZ_STATE &&
            !tz_reduce_all_finite(store->problem, f, tz_host_store_current(store, f), threads))
            return false;
    return true;
}

uint32_t tz_problem_written(const tz_problem *problem)
{
    uint32_t written = 0;
    for (int p = 0; p < problem->stencil->passes_count; p++)
        written |= problem->stencil->passes[p].writes;
    return written;
}

/* ---- Refinement ------------------------------------------------------------------------------ */

static char *element_row(const tz_host_store *store, int field, int64_t row)
{
    const tz_host_field *host = tz_host_store_current(store, field);
    const int64_t ny = store->problem->elements[1];
    return host->origin + (row % ny * host->row_stride + row / ny * host->plane_stride) *
                              (ptrdiff_t)tz_problem_element_size(store->problem, field);
}

static int64_t rows_of(const tz_host_store *store)
{
    return store->problem->elements[1] * store->problem->elements[2];
}

/* What the threads share. */
typedef struct refining {
    tz_host_store *solution, *correction;
    int field;
    const double *changes;
    double source_per_update;
} refining;

static void add_rows(void *any, int64_t begin, int64_t end, int thread)
{
    const refining *r = any;
    const int64_t nx = r->solution->problem->elements[0];
    (void)thread;
    for (int64_t row = begin; row < end; row++) {
        double *to = (double *)(void *)element_row(r->solution, r->field, row);
        float *from = (float *)(void *)element_row(r->correction, r->field, row);
        for (int64_t x = 0; x < nx; x++) {
            to[x] += (double)from[x];
            from[x] = 0.0f;
        }
    }
}

void tz_host_refine_add(tz_host_store *solution, tz_host_store *correction, int field,
                        tz_threads *threads)
{
    refining r = {.solution = solution, .correction = correction, .field = field};
    tz_threads_for(threads, rows_of(solution), add_rows, &r);
}

static void make_source(void *any, int64_t begin, int64_t end, int thread)
{
    const refining *r = any;
    const int64_t nx = r->correction->problem->elements[0];
    (void)thread;
    for (int64_t row = begin; row < end; row++) {
        float *to = (float *)(void *)element_row(r->correction, r->field, row);
        for (int64_t x = 0; x < nx; x++)
            to[x] = (float)(r->changes[row * nx + x] * r->source_per_update);
    }
}

tz_status tz_host_refine_source(tz_host_store *correction, int field, const double *changes,
                                double source_per_update, tz_threads *threads, tz_error *error)
{
    const tz_box first = {{0, 0, 0}, {1, 1, 1}};
    const float zero = 0.0f;
    refining r = {.correction = correction,
                  .field = field,
                  .changes = changes,
                  .source_per_update = source_per_update};
    /* After this, the field has an array. */
    const tz_status status = tz_host_store_put(correction, field, &first, &zero, error);
    if (!status)
        tz_threads_for(threads, rows_of(correction), make_source, &r);
    return status;
}
