/* The work of a stage of the 3-D stream family, and the family's candidates. */
#include "backend/cuda/family/work.h"
#include "backend/cuda/family/planes/scheme.h"
#include "model/constants.h"

#include "backend/host/store.h"
#include <math.h>
#include <stdlib.h>

/* ---- The loops of a kernel ------------------------------------------------------------------- */

static bool is_loaded(const planes_version *v)
{
    return v->number == 0 && v->oldest >= 0;
}

static tz_cuda_lanes planes_lanes(const tz_problem *problem, const tz_plan *plan)
{
    (void)problem;
    return (tz_cuda_lanes){.conflict = 1.0,
                           .stored = (double)plan->tile[0] /
                                     (planes_lanes_of(plan) * (double)plan->vector)};
}

/* Steps of a loop: one or a group. Each step copies a plane to shared memory, so the number of
 * copies shows it; the number of stores, if passes read nothing that is copied. */
static double planes_steps(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                           const tz_cuda_loop *loop)
{
    const tz_work_mix *way = &loop->way;
    planes_scheme *s = loop->stores > 0.0 ? planes_scheme_make(problem, limits, plan) : NULL;
    double copied = 0.0, stored = 0.0, steps = 0.0;
    if (!s)
        return 0.0;
    for (int k = 0; k < s->versions_count; k++) {
        const planes_version *v = &s->versions[k];
        const double packets =
            s->rows * ceil((double)tz_problem_element_size(problem, v->field) * s->vector / 16.0);
        copied += is_loaded(v) ? packets : 0.0;
        stored += v->result ? packets : 0.0;
    }
    if (copied == 0.0)
        steps = loop->stores / fmax(stored, 1.0);
    else if (way->of[TZ_WORK_SHARED_READ] + way->of[TZ_WORK_SHUFFLE] > 0.0)
        steps = way->of[TZ_WORK_COPY] / copied;
    if (steps > 0.0)
        steps = steps < 0.5 * (1.0 + s->group) ? 1.0 : s->group;
    free(s);
    return steps;
}

static void take_around(const tz_cuda_mix *mix, int loop, tz_work_part *part, double times,
                        bool once)
{
    const int around = mix->loops[loop].parent;
    if (around < 0)
        return;
    tz_work_mix_add(once ? &part->once : &part->step, &mix->loops[around].way, times);
    *(once ? &part->once_clocks : &part->clocks) += times * mix->loops[around].clocks;
    if (!once)
        tz_rounds_blend(&part->rounds, 1.0, &mix->loops[around].rounds, times);
}

/* Counts steps that store nothing, and the code around the loops; of a group that is a loop of its
 * steps, the code around it in each turn. Loops before the main one clear the rings and fill
 * tables. */
static void find_idle(const tz_cuda_code *code, tz_cuda_steps *out)
{
    const int side = tz_cuda_side_of(code), at[] = {code->at[0], code->at[side]};
    const double steps[] = {code->steps[0], code->steps[side]};
    const tz_cuda_mix *mix = code->mix;
    planes_scheme *s = planes_scheme_make(code->problem, code->limits, code->plan);
    tz_work_part *const parts[] = {&out->inner, &out->side};
    tz_work_part *const idle[] = {&out->inner_idle, &out->side_idle};
    if (!s)
        return;
    const double rings = ceil((double)(s->shared_bytes - s->rings) / (16.0 * 32.0 * s->warps));
    const double tables = ceil((double)s->rings / (4.0 * 32.0 * s->warps));
    for (int k = 0; k < 2; k++) {
        const tz_cuda_loop *loop = &mix->loops[at[k]];
        tz_cuda_take_loop(idle[k], &mix->loops[loop->shortest], steps[k], 0.0, code->lanes);
        take_around(mix, at[k], parts[k], 1.0, true);
        if (steps[k] == 1.0 && s->group > 1) {
            take_around(mix, at[k], parts[k], 1.0 / s->group, false);
            take_around(mix, at[k], idle[k], 1.0 / s->group, false);
        }
        for (int l = 0; l < at[0]; l++) {
            const tz_cuda_loop *before = &mix->loops[l];
            const double packets = before->way.of[TZ_WORK_SHARED_WRITE];
            if (before->parent >= 0 || before->stores > 0.0 || packets == 0.0 ||
                before->way.of[TZ_WORK_COPY] > 0.0 || l >= at[1])
                continue;
            const bool wide = before->passes > packets; /* else a table's words */
            if (!wide && packets == 1.0 && tables > 4.0)
                continue; /* the rest of an unrolled loop */
            const double times = (wide ? rings : tables) / packets;
            tz_work_mix_add(&parts[k]->once, &before->way, times);
            parts[k]->once_clocks += times * before->clocks;
        }
    }
    free(s);
}

static void planes_parts(const tz_cuda_code *code, tz_cuda_steps *out)
{
    tz_cuda_take_ends(code, 0.0, out);
    find_idle(code, out);
}

/* What a pass reads of a field: rows of other warps come from shared memory, columns of other lanes
 * by shuffles. */
static void estimate_reads(const planes_scheme *s, const tz_problem *problem,
                           const planes_pass *pass, int f, tz_cuda_estimate *out)
{
    const int r = TZ_RADIUS_MAX, most = s->farthest;
    const double words = (double)tz_problem_element_size(problem, f) / 4.0;
    const uint64_t centre = ((UINT64_C(1) << s->vector) - 1) << r;
    for (int dz = -most; dz <= most; dz++)
        for (int j = -most; j < s->rows + most; j++) {
            uint64_t columns = 0;
            for (int row = 0; row < s->rows; row++)
                for (int e = 0; e < s->vector; e++)
                    columns |= (uint64_t)planes_row(s, pass, f, dz, j - row) << e;
            out->step.of[TZ_WORK_SHUFFLE] +=
                tz_cuda_value_words(problem, f) * __builtin_popcountll(columns & ~centre);
            if (columns && (j < 0 || j >= s->rows)) {
                out->step.of[TZ_WORK_SHARED_READ] += ceil(words * s->vector / 4.0);
                out->wavefronts += words * s->vector;
            }
        }
}

static void planes_estimate(const tz_cuda_draft *draft, tz_cuda_estimate *out)
{
    const tz_problem *problem = draft->problem;
    planes_scheme *s = planes_scheme_make(problem, draft->limits, draft->plan);
    double *of = out->step.of, stored = planes_lanes(problem, draft->plan).stored;
    if (!s)
        return;
    for (int k = 0; k < s->passes_count; k++)
        for (int f = 0; f < problem->stencil->fields_count; f++) {
            const planes_pass *pass = &s->passes[k];
            const double words =
                s->rows * s->vector * (double)tz_problem_element_size(problem, f) / 4.0;
            if (pass->reads[f] >= 0 && s->ringed >> f & 1)
                estimate_reads(s, problem, pass, f, out);
            else if (pass->reads[f] >= 0 && s->versions[pass->reads[f]].planes == 0) {
                of[TZ_WORK_SHARED_READ] += ceil(words / 4.0);
                out->wavefronts += words;
            }
            of[TZ_WORK_BARRIER] += (f == 0 && pass->waits) + (k == 0 && f == 0);
        }
    for (int k = 0; k < s->versions_count; k++) {
        const planes_version *v = &s->versions[k];
        const double each = s->vector * (double)tz_problem_element_size(problem, v->field) / 4.0;
        const double packets = ceil(each / 4.0);
        if (is_loaded(v)) {
            of[TZ_WORK_COPY] += s->rows * packets;
            of[TZ_WORK_SHARED_READ] += s->rows * packets;
            out->wavefronts += s->rows * (each + (each < 4.0 ? TZ_CUDA_COPY_PASSES_NARROW + each
                                                             : TZ_CUDA_COPY_PASSES * packets));
        } else if (v->rows_oldest >= 0) {
            of[TZ_WORK_SHARED_WRITE] += fmin(v->first + v->last, s->rows) * packets;
            out->wavefronts += fmin(v->first + v->last, s->rows) * each;
        }
        of[TZ_WORK_WRITE] += v->result * s->rows * packets;
        out->wavefronts += v->result * s->rows * each * stored;
    }
    of[TZ_WORK_INTEGER] = TZ_FIT_ESTIMATE_PLANES_ADDRESSES * (of[TZ_WORK_COPY] + of[TZ_WORK_WRITE]);
    of[TZ_WORK_CONTROL] = TZ_FIT_ESTIMATE_PLANES_CONTROL * s->passes_count;
    out->updates = (double)s->vector * s->rows * draft->plan->height;
    out->held = out->updates;
    out->unroll = s->group;
    out->registers = s->registers;
    free(s);
}

/* ---- A stage --------------------------------------------------------------------------------- */

/* The number of tiles along an axis whose ghost zone is partly outside the grid. */
static double leaving(double tiles, double tile, double low, double high, double extent,
                      double radius)
{
    double count = 0.0;
    for (double t = 0.0; t < tiles; t++) {
        const double first = t * (tile - low - high) - low;
        count += first < radius || first + tile + radius > extent;
    }
    return count;
}

/* Steps of a chunk in tz_stage() of planes_kernel.cuh: `ends` at the grid's ends, and `others`; how
 * many of each store a plane. */
typedef struct plane_steps {
    double ends, ends_store, others, others_store;
} plane_steps;

static void add_steps(plane_steps *sum, const planes_scheme *s, const tz_problem *problem,
                      double from, double to)
{
    const double planes = (double)problem->elements[2], ahead = fmax(s->ahead, s->static_radius);
    for (double k = 0.0; k < to - from + s->ghost.low[2] + s->lag; k += s->group) {
        const double z = from - s->ghost.low[2] + k;
        const bool ends = to - from < s->group || z - s->lag - s->static_radius <= s->radius_rows ||
                          z + s->group - 1.0 + ahead >= planes;
        double store = 0.0;
        for (double i = z; i < z + s->group; i++)
            store += i - s->lag >= from && i - s->lag < to;
        *(ends ? &sum->ends : &sum->others) += s->group;
        *(ends ? &sum->ends_store : &sum->others_store) += store;
    }
}

/* Adds the part of `tiles` tiles in chunks from `first` to before `end`; its number, or -1 if there
 * is none. Tiles of the border execute the code of borders in all steps, others at the grid's
 * ends. */
static int add_planes(tz_model_work *out, const char *name, const tz_cuda_job *job, bool border,
                      const planes_scheme *s, double tiles, double first, double end)
{
    const double planes = (double)job->problem->elements[2], chunk = job->shape->geometry[0];
    const tz_cuda_steps *steps = job->steps;
    plane_steps sum = {0};
    double with_ends = 0.0;
    for (double c = first; c < end; c++) {
        const double before = sum.ends;
        add_steps(&sum, s, job->problem, c * chunk, fmin((c + 1.0) * chunk, planes));
        with_ends += sum.ends > before;
    }
    if (end <= first)
        return -1;
    const double all = sum.ends + sum.others;
    tz_work_part *part = tz_cuda_add_part(out, name, border ? &steps->side : &steps->inner,
                                          tiles * s->warps * (end - first), all / (end - first));
    if (!part)
        return -1;
    if (border) {
        tz_cuda_mix_steps(part, &steps->side_idle, 1.0 - (sum.ends_store + sum.others_store) / all,
                          1.0);
        return out->parts_count - 1;
    }
    if (sum.others > 0.0)
        tz_cuda_mix_steps(part, &steps->inner_idle, 1.0 - sum.others_store / sum.others, 1.0);
    if (sum.ends > 0.0) {
        tz_work_part ends = steps->side;
        tz_cuda_mix_steps(&ends, &steps->side_idle, 1.0 - sum.ends_store / sum.ends, 0.0);
        tz_cuda_mix_steps(part, &ends, sum.ends / all, with_ends / (end - first));
    }
    return out->parts_count - 1;
}

/* The blocks in the order of tz_tile_number() in planes.cuh: a chunk after the other, in each
 * first the tiles at the grid's edges. The parts are those of the middle, the first and the last
 * chunk. */
static void order_blocks(tz_model_work *out, double chunks, const int inner[3], const int border[3],
                         double inner_tiles, double border_tiles)
{
    if (2.0 * chunks > TZ_WORK_RUNS_MAX)
        return;
    for (double c = 0.0; c < chunks; c++) {
        const int at = c == 0.0 ? 1 : c == chunks - 1.0 ? 2 : 0;
        if ((border_tiles > 0.0 && border[at] < 0) || (inner_tiles > 0.0 && inner[at] < 0)) {
            out->runs_count = 0;
            return;
        }
        if (border_tiles > 0.0)
            out->runs[out->runs_count++] = (tz_work_run){border[at], border_tiles};
        if (inner_tiles > 0.0)
            out->runs[out->runs_count++] = (tz_work_run){inner[at], inner_tiles};
    }
}

/* Bytes of a cell of the tile that arrive in shared memory, on average. */
static double loaded_bytes(const tz_problem *problem, const planes_scheme *s)
{
    const double rows = (double)s->groups * s->rows;
    double bytes = 0.0;
    for (int k = 0; k < s->versions_count; k++) {
        const planes_version *v = &s->versions[k];
        if (is_loaded(v))
            bytes += (double)tz_problem_element_size(problem, v->field) *
                     (1.0 - (v->skip_low + v->skip_high) / rows);
    }
    return bytes;
}

/* Takes fields away that the common numbers count: no pass reads what they are at the stage's
 * start. */
static void leave_unread(const planes_scheme *s, const tz_problem *problem, tz_model_work *out)
{
    const double all = tz_cuda_bytes_of(problem).state + tz_cuda_bytes_of(problem).fixed;
    const double each = out->read_bytes / fmax(all, 1.0); /* elements, with padding */
    for (int k = 0; k < s->versions_count; k++) {
        const planes_version *v = &s->versions[k];
        if (v->number == 0 && !is_loaded(v)) {
            const double bytes = each * (double)tz_problem_element_size(problem, v->field);
            out->read_bytes -= bytes;
            out->resident_bytes -= bytes;
        }
    }
}

/* The loaded fields whose rows begin elsewhere in a sector in shared memory than in device
 * memory. */
static uint32_t fields_of_halves(const tz_problem *problem, const planes_scheme *s, int useful)
{
    uint32_t fields = 0;
    for (int k = 0; k < s->versions_count; k++) {
        const planes_version *v = &s->versions[k];
        const int64_t size = (int64_t)tz_problem_element_size(problem, v->field);
        const bool same = (v->shared + s->ghost.low[0] * size) % TZ_CUDA_SECTOR_BYTES == 0 &&
                          useful * size % TZ_CUDA_SECTOR_BYTES == 0;
        if (v->number == 0 && s->vector * size >= TZ_CUDA_PACKET_BYTES && !same)
            fields |= 1u << v->field;
    }
    return fields;
}

/* Arrays that a stage reads or writes. */
static double arrays_of(const tz_problem *problem)
{
    int arrays = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        arrays += 1 + (int)(tz_problem_written(problem) >> f & 1u);
    return arrays;
}

static void planes_work(const tz_cuda_job *job, tz_model_work *out)
{
    const tz_problem *problem = job->problem;
    const tz_plan *plan = job->plan;
    const double chunk = job->shape->geometry[0], wide = job->shape->geometry[1];
    const double high = job->shape->geometry[2];
    planes_scheme *s = planes_scheme_make(problem, job->limits, plan);
    if (!s)
        return;
    const double columns = s->lanes * s->vector, rows = s->groups * s->rows;
    const double planes = (double)problem->elements[2], chunks = ceil(planes / chunk);
    const double out_x = s->row_lanes > 0
                             ? 0.0
                             : leaving(wide, columns, s->ghost.low[0], s->ghost.high[0],
                                       (double)problem->elements[0], s->static_radius);
    const double out_y = leaving(high, rows, s->ghost.low[1], s->ghost.high[1],
                                 (double)problem->elements[1], s->static_radius);
    const double useful = columns - s->ghost.low[0] - s->ghost.high[0];
    const double tiles = wide * high, inner = (wide - out_x) * (high - out_y);
    const double last = chunks > 1.0 ? chunks - 1.0 : chunks;
    const int inners[] = {
        add_planes(out, "inner", job, false, s, inner, 1.0, last),
        add_planes(out, chunks > 1.0 ? "first" : "whole", job, false, s, inner, 0.0, 1.0),
        add_planes(out, "last", job, false, s, inner, last, chunks)};
    const int borders[] = {
        add_planes(out, "border", job, true, s, tiles - inner, 1.0, last),
        add_planes(out, chunks > 1.0 ? "border, first" : "border", job, true, s, tiles - inner, 0.0,
                   1.0),
        add_planes(out, "border, last", job, true, s, tiles - inner, last, chunks)};
    order_blocks(out, chunks, inners, borders, inner, tiles - inner);
    const double of_warp = 32.0 * s->vector * s->rows, fetched = of_warp * loaded_bytes(problem, s);
    const double direct = of_warp * planes_direct_bytes(s, problem), loaded = fetched + direct;
    leave_unread(s, problem, out);
    out->redundancy = tz_cuda_count_redundancy(out, of_warp, tz_cuda_elements_of(problem));
    tz_cuda_count_ghosts(out, loaded, s->ahead, (s->ghost.low[2] + s->ghost.high[2]) / chunk);
    tz_cuda_count_pairs(problem, out, tz_cuda_fields_of_packets(problem, s->vector));
    tz_cuda_count_halves(problem, out, fields_of_halves(problem, s, (int)useful));
    out->memory_share = fmax(TZ_FIT_PLANES_SHARE_LEAST,
                             TZ_FIT_MEMORY_SHARE_STRIPS -
                                 TZ_FIT_PLANES_SHARE_ARRAY * fmax(0.0, arrays_of(problem) - 4.0));
    out->plane_bytes = out->resident_bytes / planes;
    out->ahead_bytes = loaded * loaded / (fetched / s->ahead + direct / TZ_FIT_PLANES_DIRECT);
    for (int p = 0; p < out->parts_count; p++) {
        out->parts[p].bytes = loaded;
        /* Warps that wait for adjacent warps stay together as with a barrier. */
        out->parts[p].step.of[TZ_WORK_BARRIER] = fmax(1.0, out->parts[p].step.of[TZ_WORK_BARRIER]);
    }
    free(s);
}

/* ---- Candidates ------------------------------------------------------------------------------ */

/* Is a field read at the cell's own place alone? Fewer warps then leave room to fetch more
 * ahead. */
static bool has_carried(const tz_problem *problem)
{
    const tz_stencil *stencil = problem->stencil;
    for (int f = 0; f < stencil->fields_count; f++) {
        int reach = 0;
        for (int p = 0; p < stencil->passes_count; p++) {
            const tz_reads reads = tz_stencil_reads(stencil, &stencil->passes[p], f);
            for (int axis = 0; axis < TZ_AXES; axis++)
                reach += reads.high[axis] - reads.low[axis];
        }
        if (reach == 0 && stencil->fields[f].role != TZ_DERIVED)
            return true;
    }
    return false;
}

/* The plans of eight warps from number `from` on with one more plane fetched ahead, where that
 * leaves all fields in shared memory. */
static void add_earlier(tz_cuda_plans *plans, int from)
{
    const int count = plans->given->ahead > 0 ? 0 : plans->count;
    for (int k = from; k < count; k++) {
        tz_plan more = plans->plans[k];
        more.ahead++;
        if (more.warps == 8 &&
            planes_keeps_fields(plans->problem, plans->limits, &plans->plans[k], &more) &&
            tz_cuda_plan(plans->problem, plans->limits, &more, NULL) == TZ_OK)
            tz_cuda_plans_keep(plans, &more);
    }
}

/* Plans whose rows have so many lanes. */
static void add_lanes(tz_cuda_plans *plans, int lanes, int vector, int warps,
                      const tz_cuda_variant *others, int others_count)
{
    enum { HEIGHTS = 6 };
    tz_plan given = *plans->given;
    tz_cuda_plans of = *plans;
    if (given.lanes > 0 && given.lanes != lanes)
        return;
    given.lanes = lanes;
    given.vector = given.vector > 0 ? given.vector : vector;
    given.warps = given.warps > 0 ? given.warps : warps;
    of.given = &given;
    tz_cuda_plans_add_heights(&of, HEIGHTS, others, others_count);
    plans->count = of.count;
}

/* Tiles of 128 x 32 cells, then of 64 x 64 cells, of which less is ghost zone. With one field,
 * other blocks than the usual ones were the fastest where heights, precisions and grids differ;
 * with several fields, lanes of half the columns, or blocks of half the warps. In double precision
 * lanes of square tiles would need 255 registers for two rows. */
static void planes_candidates(tz_cuda_plans *plans)
{
    static const tz_cuda_variant blocks[] = {{.warps = PLANES_WARPS}, {.warps = 12}, {.warps = 8}};
    static const tz_cuda_variant wide[] = {
        {.warps = 8}, {.warps = 12}, {.vector = 4, .warps = 12}, {.vector = 4, .warps = 8}};
    const tz_problem *problem = plans->problem;
    const bool carried = has_carried(problem), one = problem->stencil->fields_count == 1;
    if (problem->bits) {
        add_lanes(plans, 32, 0, 0, NULL, 0);
    } else if (planes_is_wide(problem)) {
        add_lanes(plans, 32, 0, 0, one ? blocks : wide, one ? 3 : carried ? 4 : 1);
    } else {
        add_lanes(plans, 32, 0, 0, &blocks[1], carried);
        const int square = plans->count;
        add_lanes(plans, 16, 4, one ? 0 : 8, NULL, 0);
        if (one) {
            add_earlier(plans, square);
            add_lanes(plans, 16, 4, 0, blocks, 3);
        }
    }
}

const tz_cuda_planner planes_planner = {
    .lanes = planes_lanes,
    .steps = planes_steps,
    .estimate = planes_estimate,
    .parts = planes_parts,
    .work = planes_work,
    .candidates = planes_candidates,
};
