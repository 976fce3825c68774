/* The work of a stage of the cpu backend, for the models: from the machine code of row functions
 * (x86/walk.h), from what cell functions read, and from geometry (kernels/cpu). */
#include "backend/cpu/family.h"

#include "kernels/cpu/skew.h"
#include "model/constants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHORT = 128, /* elements of a row for a walk: full vectors, also in an unrolled loop */
    WIDTH_MAX = 4 * SHORT,
    REACH = TZ_FOOTPRINT_REACH,
    FAR = 1 << 20, /* row stride of the walk, in elements */
    LINE = 64,
};

/* ---- What cell functions read ---------------------------------------------------------------- */

typedef struct probe {
    tz_cell_access access; /* first: callbacks cast a pointer to it */
    tz_footprint *found;
    uint64_t nothing, written;
} probe;

static const void *probe_read(const tz_cell_access *access, int field, int dx, int dy, int dz)
{
    const probe *p = (const probe *)access;
    if (field >= 0 && field < TZ_FIELDS_MAX && abs(dx) <= TZ_RADIUS_MAX &&
        abs(dy) <= TZ_RADIUS_MAX && abs(dz) <= TZ_RADIUS_MAX)
        p->found->row[field][dz + TZ_RADIUS_MAX][dy + TZ_RADIUS_MAX] |= 1u << (dx + TZ_RADIUS_MAX);
    return &p->nothing;
}

static void *probe_write(const tz_cell_access *access, int field)
{
    (void)field;
    return &((probe *)access)->written;
}

void tz_footprint_find(const tz_problem *problem, const tz_pass *pass, tz_footprint *out)
{
    memset(out, 0, sizeof *out);
    probe p = {.access = {.read = probe_read,
                          .write = probe_write,
                          .constants = problem->constants,
                          .engine = pass->engine},
               .found = out};
    tz_cell_fn *cell = pass->kernels->cell[problem->precision];
    if (cell)
        cell(&p.access);
}

/* ---- What a row costs ------------------------------------------------------------------------ */

typedef struct row_cost {
    /* cost of an element, a row without its elements, and a call without its rows */
    tz_walk element, row, call;
    int vector_bytes;
    bool followed; /* the walk stored the elements of a row */
} row_cost;

/* a x - b y, member by member. */
static tz_walk combine(double a, const tz_walk *x, double b, const tz_walk *y)
{
    tz_walk out = {.vector_bytes = x->vector_bytes};
    for (int c = 0; c < TZ_WORK_CLASSES; c++)
        out.mix.of[c] = a * x->mix.of[c] - b * y->mix.of[c];
    out.slots = a * x->slots - b * y->slots;
    out.loads = a * x->loads - b * y->loads;
    out.lines = a * x->lines - b * y->lines;
    out.narrow = a * x->narrow - b * y->narrow;
    out.stores = a * x->stores - b * y->stores;
    out.store_lines = a * x->store_lines - b * y->store_lines;
    out.branches = a * x->branches - b * y->branches;
    return out;
}

/* A row function, the slabs that it computes at once, and its calls for a span that is counted. */
typedef struct called {
    tz_row_fn *rows;
    int slabs;
    double calls;
    bool in_place;
} called;

static called called_alone(const tz_stage *stage, const tz_pass *pass, bool skewed)
{
    return (called){tz_stage_rows(stage, pass), 1,
                    skewed && stage->dims == 3 ? tz_skew_batch(stage) : 1, false};
}

static called called_of(const tz_stage *stage, const tz_pass *pass, bool skewed)
{
    if (!skewed && tz_stage_is_in_place(stage)) {
        const int slabs = TZ_SLABS_IN_PLACE(stage->dims);
        return (called){tz_stage_in_place(stage, pass), slabs, 1.0 / slabs, true};
    }
    tz_row_fn *together = skewed ? tz_stage_together(stage, pass) : NULL;
    if (!together)
        return called_alone(stage, pass, skewed);
    return (called){together, TZ_SLABS_TOGETHER, (double)tz_skew_batch(stage) / TZ_SLABS_TOGETHER,
                    false};
}

/* Walk four spans: a row of SHORT elements in all slabs, a row of twice as many, and one row and
 * two rows of `width` elements. Their differences are the costs of elements, rows and calls. */
static tz_status walk_rows(tz_walks *walks, const tz_problem *problem, const tz_pass *pass,
                           const called *call, int64_t width, row_cost *out, tz_error *error)
{
    tz_view in[TZ_FIELDS_MAX * (REACH + TZ_SLABS_IN_PLACE_MAX - 1)];
    tz_target to[TZ_FIELDS_MAX * TZ_SLABS_IN_PLACE_MAX];
    tz_walk walk[4];
    const int window = (problem->dims == 1 ? 1 : 2 * pass->radius + 1) + call->slabs - 1;
    const int views = tz_stencil_fields_all(problem->stencil) * window;
    /* As many elements in several slabs as in one. A longer row has the costs of one that ends like
     * it. */
    const int brief = SHORT / call->slabs, longest = WIDTH_MAX / call->slabs;
    const int64_t rest = width % TZ_ALIGN_ELEMENTS;
    if (width > longest)
        width = rest ? longest - TZ_ALIGN_ELEMENTS + rest : longest;
    /* As in the engine, rows begin at cache lines. */
    for (int v = 0; v < views; v++)
        in[v] = (tz_view){(const void *)(uintptr_t)((UINT64_C(0x1000) + (uint64_t)v) << 32), FAR};
    for (int f = 0; f < TZ_FIELDS_MAX * TZ_SLABS_IN_PLACE_MAX; f++)
        to[f] = (tz_target){(void *)(uintptr_t)((UINT64_C(0x2000) + (uint64_t)f) << 32), FAR};
    for (int i = 0; i < 4; i++) {
        const tz_span span = {.in = in,
                              .out = to,
                              .constants = problem->constants,
                              .count = i == 0   ? brief
                                       : i == 1 ? 2 * brief
                                                : width,
                              .rows = i == 3 ? 2 : 1};
        const tz_walk_range ranges[] = {{&span, sizeof span},
                                        {in, sizeof in},
                                        {to, sizeof to},
                                        {problem->constants, sizeof problem->constants}};
        const tz_status status =
            tz_walks_find(walks, call->rows, &span, ranges, 4, &walk[i], error);
        if (status)
            return status;
    }
    const double slabs = call->slabs;
    out->element = combine(1.0 / brief / slabs, &walk[1], 1.0 / brief / slabs, &walk[0]);
    out->row = combine(1.0 / slabs, &walk[3], 1.0 / slabs, &walk[2]); /* with its elements */
    out->call = combine(call->calls, &walk[2], call->calls * slabs, &out->row);
    out->row = combine(1.0, &out->row, (double)width, &out->element);
    out->followed = walk[1].stores > walk[0].stores;
    /* Without vector arithmetic, an instruction computes one element. */
    out->vector_bytes =
        walk[1].vector_bytes > 0 ? walk[1].vector_bytes : (int)tz_problem_element_size(problem, 0);
    return TZ_OK;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* The share of reused data that a cache still holds if `need` bytes are accessed in between. It is
 * half if they are as large as the cache, because the cache also holds other data. */
static double kept(double need, double cache)
{
    const double x = need / cache;
    return 1.0 / (1.0 + x * x);
}

/* By how much the cache lines of a row exceed its elements: at each end a row has neighbours in a
 * line of their own. */
static double with_ends(const tz_stage_counts *counts, double size)
{
    return 1 + 2 * LINE / (counts->row * size);
}

/* Elements that pass between L1 and L2 (near), and between L2 and L3 if the rings do not fit L2
 * (ring), for each element that a pass computes. */
typedef struct traffic {
    double near_reads, near_writes, ring_reads, ring_writes;
} traffic;

/* Planes in batches, of which `old` are read that the level before has not just computed, for so
 * many fields, and `fixed` of static fields. What it has just computed is in L2, and so are most
 * planes of static fields. A group reads rows of the group before. In place each plane of a ring
 * enters and leaves L2 once a batch. */
static void batch_traffic(const tz_problem *problem, const tz_stage *stage,
                          const tz_stage_counts *counts, double lines, double old, double fields,
                          double fixed, traffic *t)
{
    const double levels = (double)stage->height * problem->stencil->passes_count;
    const double slope = tz_stencil_reach_along(problem->stencil, 1);
    const double edges = counts->group > 0 ? 2 * slope / counts->group : 0;
    const double static_reads = lines * fixed * fmin(1, 1.0 / stage->batch + 1 / levels + edges);
    if (tz_stage_is_in_place(stage)) {
        t->ring_writes *= fmin(1, old / stage->batch / fmax(1, fields) + 1 / levels + edges);
        t->ring_reads = t->ring_writes + static_reads;
    } else
        t->ring_reads = lines * (old / stage->batch + fields * edges) + static_reads;
}

static traffic pass_traffic(const tz_problem *problem, const tz_stage *stage,
                            const tz_stage_counts *counts, const tz_pass *pass, bool skewed,
                            double l1)
{
    tz_footprint found;
    tz_footprint_find(problem, pass, &found);
    const double size = (double)stage->element_size[0];
    double rows = 0, slabs = 0, fields = 0, fixed = 0, writes = 0, arrays = 0;
    double widest = 0; /* the most rows of a plane, of all fields together */
    /* Fields of "skew" that take over another one's values are not written, but in the last
     * iteration. */
    const uint32_t lost = skewed && stage->height > 1 ? tz_skew_lost(problem->stencil, pass) : 0;
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        int rows_here = 0, slabs_here = 0, widest_here = 0;
        for (int z = 0; z < REACH; z++) {
            int plane = 0;
            for (int y = 0; y < REACH; y++)
                plane += found.row[f][z][y] != 0;
            rows_here += plane;
            widest_here = plane > widest_here ? plane : widest_here;
            slabs_here += problem->dims == 3 ? plane > 0 : plane;
        }
        if (pass->writes >> f & 1) {
            writes += lost >> f & 1 ? 1.0 / stage->height : 1;
            arrays += lost >> f & 1 ? 1 : 2;
        }
        if (problem->stencil->fields[f].role != TZ_STATE) {
            fixed += rows_here > 0; /* never in L1: other levels read other slabs */
            continue;
        }
        rows += rows_here;
        widest += widest_here;
        slabs += slabs_here;
        fields += rows_here > 0;
    }
    const double lines = with_ends(counts, size);
    const double row = lines * counts->row * size;
    const double slab =
        fmin(lines * counts->slab * size, counts->group > 0 ? counts->group * row : INFINITY);
    const bool in_place = !skewed && tz_stage_is_in_place(stage);
    const double batch = problem->dims == 1 ? 1 : stage->batch;
    /* The shares still in L1: of the slabs that the previous level has just written, and of those
     * that the previous slab or row has read. */
    const double fresh = kept((batch * (fields + writes) + slabs - fields) * slab, l1);
    /* Of slabs that are computed together, each takes its part of what all of them read. */
    const double at_once = in_place ? TZ_SLABS_IN_PLACE(stage->dims)
                           : skewed && tz_stage_together(stage, pass) ? TZ_SLABS_TOGETHER
                                                                      : 1;
    const double new_slabs = slabs + (at_once - 1) * fields;
    const double same_slab = kept((new_slabs + at_once * (fixed + writes)) * slab, l1);
    double reads = new_slabs;
    if (problem->dims == 3) {
        const double all_rows = rows + (at_once - 1) * widest;
        const double same_rows = kept((all_rows + at_once * (fixed + writes)) * row, l1);
        reads = new_slabs * same_rows + all_rows * (1 - same_rows);
    }
    reads = fields * same_slab + reads / at_once * (1 - same_slab) - fields * fresh;
    /* Nothing leaves L1 if it holds the rings and the rows of arrays that pass through it. */
    const double passing = (slabs - fields + batch * (fields + fixed + writes)) * slab;
    const double away = 1 - kept(counts->ring_bytes + passing, l1);
    traffic t = {
        .near_reads = lines * (fmax(0, reads) + fixed) * away,
        .near_writes = lines * writes * away,
        .ring_reads = lines * ((slabs - fields) / batch + fixed),
        .ring_writes = lines * writes,
    };
    if (problem->dims == 3 && !skewed && batch > 1)
        batch_traffic(problem, stage, counts, lines, slabs - fields, fields, fixed, &t);
    if (in_place) {
        /* What a level writes over has been read, but the time of a line that is written counts
         * that it is fetched. */
        t.near_reads = fmax(0, t.near_reads - t.near_writes);
        t.ring_reads = fmax(0, t.ring_reads - t.ring_writes);
    }
    if (skewed) {
        /* In a step all levels go through the same slabs, of all arrays that are written: each
         * enters and leaves L2 once a step, which computes `batch` slabs at each level. */
        t.ring_reads = fmin(t.ring_reads, lines * (arrays + fixed) / batch);
        t.ring_writes = fmin(t.ring_writes, lines * arrays / batch);
    }
    return t;
}

static void count_bytes(const tz_problem *problem, const tz_stage *stage,
                        const tz_stage_counts *counts, bool skewed, const tz_machine *machine,
                        tz_model_work *out)
{
    const tz_stencil *stencil = problem->stencil;
    const double cells =
        (double)problem->elements[0] * (double)problem->elements[1] * (double)problem->elements[2];
    const double l1 = machine->l1_bytes > 0 ? (double)machine->l1_bytes : 32 << 10;
    const double lag = tz_stencil_reach_sides(stencil).high[problem->dims - 1];
    const double bytes_a_pass =
        counts->updates / stencil->passes_count * (double)stage->element_size[0];
    for (int p = 0; p < stencil->passes_count; p++) {
        const traffic t = pass_traffic(problem, stage, counts, &stencil->passes[p], skewed, l1);
        out->near_reads += t.near_reads * bytes_a_pass;
        out->near_writes += t.near_writes * bytes_a_pass;
        out->ring_reads += t.ring_reads * bytes_a_pass;
        out->ring_writes += t.ring_writes * bytes_a_pass;
    }
    out->ring_bytes = counts->ring_bytes;
    out->seam_bytes = counts->seams * (double)stage->element_size[0];
    if (problem->dims == 3 && !skewed && tz_stage_is_in_place(stage)) {
        const double levels = (double)stage->height * stencil->passes_count;
        out->passing_bytes = stage->batch * counts->slab * (double)stage->element_size[0] *
                             (1 + counts->seams * levels / counts->updates);
    }
    /* If a tile is narrower than the grid, its rows are not contiguous in memory. */
    const bool pieces = problem->dims > 1 && stage->tile[0] < stage->elements[0];
    const double rows_read = pieces ? counts->read / counts->row : 0;
    /* If it is as wide but has fewer rows than a slab, its slabs are not contiguous. */
    const bool parts = problem->dims == 3 && !pieces && stage->tile[1] < stage->elements[1];
    const double slabs_read = parts ? counts->read / counts->slab : 0;
    for (int f = 0; f < stencil->fields_count; f++) {
        const double bytes = (double)stage->element_size[f];
        bool written = false;
        for (int p = 0; p < stencil->passes_count; p++)
            written = written || stencil->passes[p].writes >> f & 1;
        if (stencil->fields[f].role == TZ_STREAMED) {
            out->streamed_bytes += bytes * counts->updates;
            out->streamed_starts += counts->spans; /* each call reads a separate row */
            continue;
        }
        out->starts += rows_read;
        out->edge_lines += slabs_read * with_ends(counts, bytes) * counts->row * bytes / LINE;
        out->read_bytes += bytes * cells;
        out->ghost_bytes += bytes * (counts->read - cells);
        out->write_bytes += written ? bytes * cells : 0.0;
        out->resident_bytes += (written ? 2 : 1) * bytes * cells;
        if (stencil->fields[f].role == TZ_STATIC) /* slabs from the first to the last level */
            out->ring_bytes +=
                bytes * counts->slab * (problem->dims == 1 ? 1.0 : fmax(1.0, stage->height * lag));
    }
}

/* ---- The work of a stage --------------------------------------------------------------------- */

static tz_work_mix scaled(const tz_work_mix *mix, double factor)
{
    tz_work_mix out;
    for (int c = 0; c < TZ_WORK_CLASSES; c++)
        out.of[c] = mix->of[c] * factor;
    return out;
}

static void add_part(const tz_problem *problem, const tz_stage *stage, int pass,
                     const tz_stage_counts *counts, const called *call, const row_cost *cost,
                     tz_model_work *out)
{
    tz_work_part *part = &out->parts[out->parts_count++];
    const int passes = problem->stencil->passes_count;
    const double vector = cost->vector_bytes / (double)stage->element_size[0];
    memset(part, 0, sizeof *part);
    snprintf(part->name, sizeof part->name, "%.*s", TZ_WORK_NAME_SIZE - 1,
             passes == 1 ? "inner" : problem->stencil->passes[pass].name);
    part->warps = counts->jobs;
    part->steps = counts->updates / passes / counts->jobs / vector;
    part->step = scaled(&cost->element.mix, vector);
    part->shared_wavefronts = cost->element.lines * vector;
    part->slots = cost->element.slots * vector;
    part->narrow = cost->element.narrow * vector;
    const double rows = counts->rows / passes / counts->jobs;
    const double spans = counts->spans / passes / counts->jobs;
    const int window =
        (problem->dims == 1 ? 1 : 2 * problem->stencil->passes[pass].radius + 1) + call->slabs - 1;
    for (int c = 0; c < TZ_WORK_CLASSES; c++)
        part->once.of[c] = rows * cost->row.mix.of[c] + spans * cost->call.mix.of[c];
    const double calls = counts->spans / passes * call->calls;
    const double more = call->in_place ? TZ_FIT_CPU_SLAB * (call->slabs - 1) : 0;
    out->spans += calls * (1 + more);
    out->views += calls * window * problem->stencil->fields_count;
    out->vector_bytes = fmax(out->vector_bytes, cost->vector_bytes);
}

/* The last level computes only the elements of a tile. If they do not fill vectors, its rows cost
 * more than those of other levels. */
static tz_status walk_last(tz_walks *walks, const tz_problem *problem, const tz_stage *stage,
                           const tz_pass *pass, const called *call, row_cost *cost, tz_error *error)
{
    const int64_t unit = TZ_ALIGN_ELEMENTS,
                  whole = stage->tile[0] < stage->elements[0] ? stage->tile[0] : stage->elements[0];
    const double share = 1.0 / stage->height;
    row_cost last;
    if (whole % unit == 0)
        return TZ_OK;
    const tz_status status = walk_rows(walks, problem, pass, call, whole, &last, error);
    if (status)
        return status;
    cost->row = combine(1 - share, &cost->row, -share, &last.row);
    cost->call = combine(1 - share, &cost->call, -share, &last.call);
    return TZ_OK;
}

tz_status tz_cpu_work(const tz_cpu_grid *grid, const tz_cpu_family *family, const tz_stage *stage,
                      tz_walks *walks, tz_model_work *out, tz_error *error)
{
    const tz_problem *problem = grid->problem;
    const bool skewed = family->in_arrays;
    if (!walks) {
        tz_walks *own = tz_walks_create();
        const tz_status status = own ? tz_cpu_work(grid, family, stage, own, out, error)
                                     : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
        tz_walks_destroy(own);
        return status;
    }
    tz_stage_counts counts;
    memset(out, 0, sizeof *out);
    tz_status status = family->count(stage, &counts, error);
    if (status)
        return status;
    /* All levels but the last one compute full vectors. */
    const double mean = counts.updates / counts.rows, unit = TZ_ALIGN_ELEMENTS;
    const bool exact =
        stage->height * problem->stencil->passes_count == 1 && stage->tile[0] >= stage->elements[0];
    const double near = exact ? mean : fmax(unit, unit * floor(mean / unit + 0.5));
    const int64_t width = (int64_t)near;
    for (int p = 0; !status && p < problem->stencil->passes_count; p++) {
        const tz_pass *pass = &problem->stencil->passes[p];
        called call = called_of(stage, pass, skewed);
        row_cost cost;
        status = walk_rows(walks, problem, pass, &call, width, &cost, error);
        if (!status && !cost.followed && call.slabs > 1) {
            /* Its addresses depend on something that the walk does not know: the function of one
             * slab costs more. */
            call = called_alone(stage, pass, skewed);
            status = walk_rows(walks, problem, pass, &call, width, &cost, error);
        }
        if (!status && !exact && p == problem->stencil->passes_count - 1)
            status = walk_last(walks, problem, stage, pass, &call, &cost, error);
        if (!status)
            add_part(problem, stage, p, &counts, &call, &cost, out);
    }
    if (status)
        return status;
    const double cells =
        (double)problem->elements[0] * (double)problem->elements[1] * (double)problem->elements[2];
    const double passes = problem->stencil->passes_count;
    const double threads = fmin(stage->threads, counts.jobs);
    out->kind = TZ_WORK_CPU;
    out->height = stage->height;
    out->cells = (double)problem->extent[0] * (double)problem->extent[1] *
                 (double)problem->extent[2] * stage->height;
    out->redundancy = counts.updates / (cells * stage->height * passes);
    out->workers = (int)threads;
    out->idle = stage->threads - out->workers;
    out->slowest = counts.slowest * threads / counts.updates *
                   (1 + TZ_FIT_CPU_TEAM * log2(fmax(1, counts.team)));
    out->rows = counts.rows;
    out->ends = problem->dims == 3 ? counts.ends : 0;
    out->forks = threads > 1 ? 1 : 0;
    count_bytes(problem, stage, &counts, skewed, grid->machine, out);
    if (family->adjust)
        family->adjust(grid, stage, &counts, out);
    return TZ_OK;
}
