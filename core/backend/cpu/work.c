/* The work of a stage of the cpu backend, for the models: from times of its row functions, counts
 * of their cell updates (rows.h), and geometry (kernels/cpu). Called by cpu.c. */
#include "backend/cpu/family.h"

#include "base/minmax.h"
#include "kernels/cpu/diamond.h"
#include "model/constants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNIT = TZ_ALIGN_ELEMENTS,
    ROW_LEAST = 64, /* elements of the rows that are timed */
    ROW_MAX = 1024,
    WIDTH_MAX = 256,
    REACH = TZ_FOOTPRINT_REACH,
    LINE = 64, /* bytes */
    FLOAT = 4,
};

static double l1_of(const tz_machine *machine)
{
    return machine->l1_bytes > 0 ? (double)machine->l1_bytes : 32 << 10;
}

/* ---- What rows cost -------------------------------------------------------------------------- */

/* A row function of a pass, and its calls for a span that is counted. */
typedef struct called {
    tz_rows_call call;
    double calls;
} called;

/* Of diamonds a span is a level's part of a step: planes in 3-D. In 2-D it is all rows, in one call
 * unless the function is of an older plugin. */
static called called_of(const tz_problem *problem, const tz_stage *stage, const tz_pass *pass,
                        const tz_stage_counts *counts, bool in_arrays)
{
    called c = {{problem, pass, tz_stage_rows(stage, pass), 1}, 1};
    if (!in_arrays)
        return c;
    const double slabs = stage->dims == 3                       ? stage->batch
                         : stage->dims == 2 && pass->slabs == 0 ? counts->rows / counts->spans
                                                                : 1;
    int at_once;
    tz_row_fn *several = tz_stage_several(stage, pass, &at_once);
    if (several) {
        c.call.function = several;
        c.call.slabs = at_once;
        c.calls = fmax(1, slabs / at_once);
    } else if (stage->dims == 3) {
        c.calls = slabs;
    }
    return c;
}

/* Seconds of an element, of a row without its elements, and of a call without its rows. */
typedef struct row_cost {
    double element, row, call;
} row_cost;

/* Rows that are timed have no more elements: with these, the rows that a cell reads take half of
 * L1. */
static int64_t longest_row(const called *c, const tz_footprint *found, double l1)
{
    const tz_problem *problem = c->call.problem;
    double bytes = 0; /* of a column */
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        int rows = c->call.pass->writes >> f & 1 ? c->call.slabs : 0;
        for (int slab = 0; slab < TZ_FOOTPRINT_REACH + c->call.slabs - 1; slab++)
            for (int row = 0; row < TZ_FOOTPRINT_REACH; row++)
                rows += tz_rows_read(found, problem->dims, f, c->call.slabs, slab, row) != 0;
        bytes += rows * (double)tz_problem_element_size(problem, f);
    }
    const double most = bytes > 0 ? floor(l1 / 2 / bytes / UNIT) * UNIT : ROW_MAX;
    return (int64_t)fmax(ROW_LEAST, fmin(ROW_MAX, most));
}

/* The difference of two rows gives the cost of an element; that of one and two rows of `width`
 * elements gives those of a row and a call. Longer rows have the costs of one that ends like
 * them. */
static tz_status time_rows(const called *c, int64_t longest, int64_t width, row_cost *out,
                           tz_error *error)
{
    const double slabs = c->call.slabs;
    const int64_t rest = width % TZ_ALIGN_ELEMENTS, brief = longest / 4;
    double t[4] = {0};
    if (width > WIDTH_MAX)
        width = rest ? WIDTH_MAX - TZ_ALIGN_ELEMENTS + rest : WIDTH_MAX;
    const struct {
        int64_t count, rows;
    } spans[] = {{brief, 1}, {longest, 1}, {width, 1}, {width, 2}};
    tz_status status = TZ_OK;
    for (int i = 0; i < (c->call.problem->dims > 1 ? 4 : 3) && !status; i++)
        status = tz_rows_time(&c->call, spans[i].count, spans[i].rows, &t[i], error);
    const double row = c->call.problem->dims > 1 ? fmax(0, t[3] - t[2]) : 0;
    out->element = fmax(0, t[1] - t[0]) / (double)(longest - brief) / slabs;
    out->row = fmax(0, row / slabs - (double)width * out->element);
    out->call = c->calls * fmax(0, t[2] - slabs * (out->row + (double)width * out->element));
    return status;
}

/* All levels but the last one compute full vectors; the last level computes only the elements of a
 * tile, whose ends cost more. */
static tz_status time_levels(const called *c, const tz_stage *stage, const tz_stage_counts *counts,
                             int64_t longest, bool last_pass, row_cost *out, tz_error *error)
{
    const double mean = counts->updates / counts->rows;
    const int64_t whole = tz_min(stage->tile[0], stage->elements[0]);
    const bool exact =
        stage->height * stage->stencil->passes_count == 1 && whole == stage->elements[0];
    const double full = fmax(UNIT, UNIT * floor(mean / UNIT + 0.5));
    row_cost last;
    tz_status status = time_rows(c, longest, (int64_t)(exact ? mean : full), out, error);
    if (status || exact || !last_pass || whole % TZ_ALIGN_ELEMENTS == 0)
        return status;
    status = time_rows(c, longest, whole, &last, error);
    out->row += (last.row - out->row) / stage->height;
    out->call += (last.call - out->call) / stage->height;
    return status;
}

/* The instructions of a vector, from what a cell reads and from the operations in its text. */
static void count_vector(const called *c, const tz_stage *stage, const tz_footprint *found,
                         tz_work_part *part, double *vector_bytes)
{
    const tz_problem *problem = c->call.problem;
    const tz_operations text = tz_operations_count(c->call.pass);
    const double slabs = c->call.slabs, writes = __builtin_popcount(c->call.pass->writes);
    double cells = 0, reads = 0, beside = 0; /* of a cell; loads, and those of neighbours in x */
    *vector_bytes = tz_isa_vector_bytes(stage->isa);
    /* Long vectors load a row of the cells themselves once, and turn it (rows_shifted.h). */
    const bool turns = c->call.slabs > TZ_SLABS_TOGETHER && *vector_bytes >= LINE;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        for (int slab = 0; slab < TZ_FOOTPRINT_REACH + c->call.slabs - 1; slab++)
            for (int row = 0; row < TZ_FOOTPRINT_REACH; row++) {
                const uint32_t all =
                    tz_rows_read(found, problem->dims, f, c->call.slabs, slab, row);
                const int here = all >> TZ_RADIUS_MAX & 1, count = __builtin_popcount(all);
                cells += __builtin_popcount(tz_rows_read(found, problem->dims, f, 1, slab, row));
                const bool turned = turns && slab >= TZ_RADIUS_MAX &&
                                    slab < TZ_RADIUS_MAX + c->call.slabs &&
                                    row == (problem->dims == 3 ? TZ_RADIUS_MAX : 0);
                reads += (turned ? all != 0 : count) / slabs;
                beside += (turned ? 0 : count - here) / slabs;
            }
    const double plain = fmax(text.plain, cells); /* a sum has a product or more for each cell */
    const tz_work_class class = problem->bits                            ? TZ_WORK_LOGIC
                                : !tz_stencil_has_real(problem->stencil) ? TZ_WORK_INTEGER
                                : tz_problem_real(problem)->size > FLOAT ? TZ_WORK_FP64
                                                                         : TZ_WORK_FP32;
    part->steps = (double)stage->element_size[0] / *vector_bytes; /* of an element */
    part->step.of[class] = plain;
    part->step.of[TZ_WORK_SPECIAL] = text.special;
    part->step.of[TZ_WORK_READ] = reads;
    part->step.of[TZ_WORK_WRITE] = writes;
    /* Rows begin at cache lines: neighbours in x lie across two. */
    part->shared_wavefronts = reads + beside * fmin(1, *vector_bytes / LINE);
    part->slots = plain + text.special + writes + 2; /* with a step of the loop */
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

static traffic pass_traffic(const tz_problem *problem, const tz_stage *stage,
                            const tz_stage_counts *counts, const tz_pass *pass, bool in_arrays,
                            double l1)
{
    tz_footprint found;
    tz_footprint_probe(problem, pass, &found);
    const double size = (double)stage->element_size[0];
    double rows = 0, slabs = 0, fields = 0, fixed = 0, writes = 0, arrays = 0;
    double widest = 0; /* the most rows of a plane, of all fields together */
    /* Fields of "diamond" that take over another one's values are not written, but in the last
     * iteration. */
    const uint32_t lost =
        in_arrays && stage->height > 1 ? tz_diamond_lost(problem->stencil, pass) : 0;
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
    const double slab = lines * counts->slab * size;
    const double batch = problem->dims == 1 ? 1 : stage->batch;
    /* The shares still in L1: of the slabs that the previous level has just written, and of those
     * that the previous slab or row has read. */
    const double fresh = kept((batch * (fields + writes) + slabs - fields) * slab, l1);
    /* Of slabs that are computed together, each takes its part of what all of them read. */
    const double at_once = called_of(problem, stage, pass, counts, in_arrays).call.slabs;
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
    if (in_arrays) {
        /* In a step all levels go through the same slabs, of all arrays that are written: each
         * enters and leaves L2 once a step, which computes `batch` slabs at each level. */
        t.ring_reads = fmin(t.ring_reads, lines * (arrays + fixed) / batch);
        t.ring_writes = fmin(t.ring_writes, lines * arrays / batch);
    }
    return t;
}

static void count_bytes(const tz_problem *problem, const tz_stage *stage,
                        const tz_stage_counts *counts, bool in_arrays, const tz_machine *machine,
                        tz_model_work *out)
{
    const tz_stencil *stencil = problem->stencil;
    const double cells =
        (double)problem->elements[0] * (double)problem->elements[1] * (double)problem->elements[2];
    const double l1 = l1_of(machine);
    const double lag = tz_stencil_reach_sides(stencil).high[problem->dims - 1];
    const double bytes_a_pass =
        counts->updates / stencil->passes_count * (double)stage->element_size[0];
    for (int p = 0; p < stencil->passes_count; p++) {
        const traffic t = pass_traffic(problem, stage, counts, &stencil->passes[p], in_arrays, l1);
        out->near_reads += t.near_reads * bytes_a_pass;
        out->near_writes += t.near_writes * bytes_a_pass;
        out->ring_reads += t.ring_reads * bytes_a_pass;
        out->ring_writes += t.ring_writes * bytes_a_pass;
    }
    out->ring_bytes = counts->ring_bytes;
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
        if (stencil->fields[f].role == TZ_STATIC &&
            !in_arrays) /* slabs from the first to the last level */
            out->ring_bytes +=
                bytes * counts->slab * (problem->dims == 1 ? 1.0 : fmax(1.0, stage->height * lag));
    }
}

/* ---- The work of a stage --------------------------------------------------------------------- */

static tz_status add_part(const tz_cpu_grid *grid, const tz_stage *stage, int p, bool in_arrays,
                          const tz_stage_counts *counts, tz_model_work *out, tz_error *error)
{
    const tz_problem *problem = grid->problem;
    const int passes = problem->stencil->passes_count;
    const tz_pass *pass = &problem->stencil->passes[p];
    const called c = called_of(problem, stage, pass, counts, in_arrays);
    const double elements = counts->updates / passes, calls = counts->spans / passes;
    tz_work_part *part = &out->parts[out->parts_count++];
    tz_footprint found;
    tz_footprint_probe(problem, pass, &found);
    count_vector(&c, stage, &found, part, &out->vector_bytes);
    snprintf(part->name, sizeof part->name, "%.*s", TZ_WORK_NAME_SIZE - 1,
             passes == 1 ? "inner" : pass->name);
    part->warps = counts->jobs;
    part->steps *= elements / counts->jobs;
    const int window = (problem->dims == 1 ? 1 : 2 * pass->radius + 1) + c.call.slabs - 1;
    out->spans += calls * (1 + (c.calls - 1) * TZ_FIT_CPU_SLAB);
    out->views += calls * window * problem->stencil->fields_count;
    if (grid->absent)
        return TZ_OK;
    row_cost cost = {0};
    const tz_status status =
        time_levels(&c, stage, counts, longest_row(&c, &found, l1_of(grid->machine)),
                    p == passes - 1, &cost, error);
    out->loops_s += elements * cost.element;
    out->rows_s += counts->rows / passes * cost.row + calls * cost.call;
    return status;
}

tz_status tz_cpu_work(const tz_cpu_grid *grid, const tz_cpu_family *family, const tz_stage *stage,
                      tz_model_work *out, tz_error *error)
{
    const tz_problem *problem = grid->problem;
    const bool in_arrays = family->in_arrays;
    tz_stage_counts counts;
    memset(out, 0, sizeof *out);
    tz_status status = family->count(stage, &counts, error);
    for (int p = 0; !status && p < problem->stencil->passes_count; p++)
        status = add_part(grid, stage, p, in_arrays, &counts, out, error);
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
    out->slowest = counts.slowest * threads / counts.updates;
    out->rows = counts.rows;
    out->ends = problem->dims == 3 ? counts.ends : 0;
    out->forks = threads > 1 ? 1 : 0;
    count_bytes(problem, stage, &counts, in_arrays, grid->machine, out);
    if (family->adjust)
        family->adjust(grid, stage, &counts, out);
    return TZ_OK;
}
