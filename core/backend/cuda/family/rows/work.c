/* The work of a stage of the 2-D stream family, and the family's candidates. */
#include "backend/cuda/family/work.h"
#include "backend/cuda/family/rows/design.h"
#include "backend/host/store.h"
#include "model/constants.h"

#include <math.h>

/* ---- The loops of a kernel ------------------------------------------------------------------- */

/* Lanes whose parts of a row are larger than a packet of 16 bytes have bank conflicts. */
static tz_cuda_lanes rows_lanes(const tz_problem *problem, const tz_plan *plan)
{
    double widest = 4.0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        widest = fmax(widest, (double)tz_problem_element_size(problem, f));
    return (tz_cuda_lanes){.conflict = fmax(1.0, widest * plan->vector / 16.0),
                           .stored = (double)plan->tile[0] / (32.0 * plan->vector)};
}

static double rows_steps(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                         const tz_cuda_loop *loop)
{
    (void)limits;
    const double *way = loop->way.of;
    if (way[TZ_WORK_SHARED_READ] + way[TZ_WORK_SHUFFLE] + way[TZ_WORK_READ] == 0.0)
        return 0.0;
    return tz_cuda_stored_steps(problem, tz_problem_written(problem), plan->vector, loop);
}

/* Adds the inner loops that move elements one by one, for rows that cannot move as packets. */
static void add_elements(const tz_cuda_mix *mix, int loop, double times, tz_work_part *part)
{
    for (int l = 0; l < mix->loops_count; l++) {
        const tz_work_mix *m = &mix->loops[l].way;
        if (mix->loops[l].parent != loop ||
            m->of[TZ_WORK_COPY] + m->of[TZ_WORK_READ] + m->of[TZ_WORK_SHARED_WRITE] == 0.0)
            continue;
        tz_work_mix_add(&part->step, m, times);
        part->clocks += times * mix->loops[l].clocks;
        tz_rounds_blend(&part->rounds, 1.0, &mix->loops[l].rounds, times);
    }
}

/* Adds the loop before the main one. It loads the first rows, one an iteration. */
static void add_start(const tz_cuda_mix *mix, int main_loop, double ahead, double elements,
                      tz_work_part *part)
{
    for (int l = 0; l < main_loop; l++) {
        const tz_cuda_loop *loop = &mix->loops[l];
        if (loop->parent >= 0 || loop->stores > 0.0)
            continue;
        tz_work_part scratch = {0};
        if (elements > 0.0)
            add_elements(mix, l, elements, &scratch);
        tz_work_mix_add(&part->once, &loop->way, ahead);
        tz_work_mix_add(&part->once, &scratch.step, ahead);
        part->once_clocks += ahead * (loop->clocks + scratch.clocks);
    }
}

/* At simple ends of the grid, lanes select values instead of branching. */
static void rows_parts(const tz_cuda_code *code, tz_cuda_steps *out)
{
    const tz_plan *plan = code->plan;
    rows_design d;
    const bool together = rows_design_make(&d, code->problem, plan) && d.edges;
    tz_cuda_take_ends(code, together ? 0.0 : TZ_FIT_DIVERGED, out);
    add_elements(code->mix, code->at[tz_cuda_side_of(code)], plan->vector, &out->side);
    add_start(code->mix, code->at[0], plan->ahead, 0.0, &out->inner);
    add_start(code->mix, code->at[0], plan->ahead, plan->vector, &out->side);
    add_start(code->mix, code->at[0], plan->ahead, 0.0, &out->end);
}

static void rows_estimate(const tz_cuda_draft *draft, tz_cuda_estimate *out)
{
    const tz_problem *problem = draft->problem;
    const tz_stencil *s = problem->stencil;
    const tz_cuda_lanes lanes = rows_lanes(problem, draft->plan);
    rows_design d;
    rows_design_make(&d, problem, draft->plan);
    double *of = out->step.of;
    const double groups = ceil((double)d.levels / d.group);
    for (int f = 0; f < s->fields_count; f++) {
        const double bytes = rows_lane_bytes(&d, f), packets = ceil(bytes / TZ_CUDA_PACKET_BYTES);
        const bool stored = tz_problem_written(problem) >> f & 1;
        const double taken = s->fields[f].role == TZ_STATE ? 1.0 : groups;
        of[d.direct ? TZ_WORK_READ : TZ_WORK_COPY] += packets;
        of[TZ_WORK_SHARED_READ] += d.direct ? 0.0 : packets * taken;
        of[TZ_WORK_WRITE] += stored * packets;
        out->wavefronts += bytes / 4.0 * lanes.conflict * (stored * lanes.stored + taken) +
                           (d.direct ? 0.0 : TZ_CUDA_COPY_PASSES * packets);
        for (int l = 1; l <= d.levels; l++) {
            const rows_reads *reads = rows_reads_of(&d, l, f);
            of[TZ_WORK_SHUFFLE] += (reads->left + reads->right) * tz_cuda_value_words(problem, f);
        }
    }
    of[TZ_WORK_MOVE] = rows_moves(&d, d.unroll);
    of[TZ_WORK_INTEGER] = TZ_FIT_ESTIMATE_ROWS_ADDRESSES *
                          (of[d.direct ? TZ_WORK_READ : TZ_WORK_COPY] + of[TZ_WORK_WRITE]);
    of[TZ_WORK_CONTROL] = TZ_FIT_ESTIMATE_ROWS_CONTROL;
    out->updates = (double)d.vector * draft->plan->height;
    out->held = out->updates;
    out->unroll = d.unroll;
    out->waits = d.direct;
    out->registers = rows_registers(&d);
}

/* ---- A stage --------------------------------------------------------------------------------- */

/* Steps of a chunk: all of them, and those that handle the grid's ends. The kernel chooses for a
 * loop body of `unroll` steps at a time (text.c). */
typedef struct chunk_steps {
    double all, ends;
} chunk_steps;

static double rounds_before(double y, double limit, double unroll, double rounds)
{
    return fmin(fmax(ceil((limit - y) / unroll), 0.0), rounds);
}

static chunk_steps steps_of_chunk(const rows_design *d, double low, double chunk)
{
    const double rows = (double)d->problem->elements[1], unroll = d->unroll;
    const bool wraps = tz_boundary_wraps(d->problem->boundary[1][0]);
    double newest = 0.0, oldest = 0.0, radius = 0.0;
    for (int i = 0; i < d->rings_count; i++) {
        const rows_ring *r = &d->rings[i];
        radius = fmax(radius, r->radius);
        newest = r->level == 0 ? fmax(newest, r->newest) : newest;
        oldest = r->level == 0 ? fmin(oldest, r->newest) : oldest;
    }
    const double lag = d->reach;
    const double y = d->edges && !wraps && low == 0.0 ? d->first_row : low - d->warm_up;
    const double end = fmin(low + chunk, rows) + lag;
    const double rounds = fmax(0.0, ceil((end - y) / unroll));
    const double first = wraps ? -oldest : lag + radius + 1.0 - oldest;
    const double last = rows - (unroll - 1.0 + newest + d->ahead);
    const double ends =
        rounds_before(y, first, unroll, rounds) + rounds - rounds_before(y, last, unroll, rounds);
    return (chunk_steps){rounds * unroll, fmin(ends, rounds) * unroll};
}

/* Adds the chunks from `first` up to `end` of `strips` strips as a part. `ends` is a step at the
 * grid's ends. */
static void add_chunks(tz_model_work *out, const char *name, const rows_design *d,
                       const tz_work_part *code, const tz_work_part *ends, double strips,
                       double chunk, double first, double end)
{
    double all = 0.0, of_ends = 0.0, with_ends = 0.0;
    for (double c = first; c < end; c++) {
        const chunk_steps steps = steps_of_chunk(d, c * chunk, chunk);
        all += steps.all;
        of_ends += steps.ends;
        with_ends += steps.ends > 0.0;
    }
    if (end <= first)
        return;
    tz_work_part *part =
        tz_cuda_add_part(out, name, code, strips * (end - first), all / (end - first));
    if (part && of_ends > 0.0)
        tz_cuda_mix_steps(part, ends, of_ends / all, with_ends / (end - first));
}

static void rows_work(const tz_cuda_job *job, tz_model_work *out)
{
    const tz_problem *problem = job->problem;
    const tz_plan *plan = job->plan;
    const tz_cuda_bytes bytes = tz_cuda_bytes_of(problem);
    const tz_cuda_steps *steps = job->steps;
    const int *geometry = job->shape->geometry;
    const double strips = geometry[0], sides = geometry[1] + geometry[2], inner = strips - sides;
    const double rows = (double)problem->elements[1], chunk = geometry[3],
                 short_chunk = geometry[4];
    const double chunks = ceil(rows / chunk), short_chunks = ceil(rows / short_chunk);
    rows_design d;
    rows_design_make(&d, problem, plan);
    const double warm_up = d.reach + d.warm_up;
    add_chunks(out, "inner", &d, &steps->inner, &steps->end, inner, chunk, 1.0, chunks - 1.0);
    add_chunks(out, chunks > 1.0 ? "first" : "whole", &d, &steps->inner, &steps->end, inner, chunk,
               0.0, 1.0);
    if (chunks > 1.0)
        add_chunks(out, "last", &d, &steps->inner, &steps->end, inner, chunk, chunks - 1.0, chunks);
    /* If the ends are not simple, strips at the sides run the code of the ends in all steps. */
    add_chunks(out, "border", &d, &steps->side, d.edges ? &steps->end : &steps->side, sides,
               short_chunk, 0.0, short_chunks);
    const double strip = 32.0 * plan->vector, loaded = strip * (bytes.state + bytes.fixed);
    out->redundancy = tz_cuda_count_redundancy(out, strip, tz_cuda_elements_of(problem));
    tz_cuda_count_ghosts(out, loaded, d.ahead, warm_up / chunk);
    const uint32_t fields = tz_cuda_fields_of_packets(problem, plan->vector);
    tz_cuda_count_pairs(problem, out, d.swaps ? 0 : fields);
    /* The first-level cache joins the loads of a plan that is direct. */
    tz_cuda_count_halves(problem, out, d.direct || d.packets ? 0 : fields);
    out->memory_share = d.direct ? 0.0 : TZ_FIT_MEMORY_SHARE_STRIPS;
    out->streams = d.direct;
    out->ahead_bytes = plan->ahead * loaded;
    for (int p = 0; p < out->parts_count; p++) {
        out->parts[p].bytes = loaded;
        out->parts[p].late = 0.0; /* a step issues its copies where it waits for earlier ones */
    }
}

/* ---- Candidates ------------------------------------------------------------------------------ */

static bool has_static(const tz_stencil *s)
{
    for (int f = 0; f < s->fields_count; f++)
        if (s->fields[f].role == TZ_STATIC)
            return true;
    return false;
}

/* Adds plans whose static fields are taken by more levels at a time than in the usual plan, since
 * each thread gets the registers of two warps a scheduler: fewer loads and instructions. */
static void add_larger_groups(tz_cuda_plans *plans, int vector)
{
    tz_plan given = *plans->given;
    tz_cuda_plans few = *plans;
    given.blocks = ROWS_WARPS_TWO / rows_warps(&given);
    few.given = &given;
    if (!has_static(plans->problem->stencil) || plans->given->blocks > 0 || given.blocks == 0)
        return;
    bool made = true;
    for (int h = given.height > 0 ? given.height : 1; made && h <= ROWS_LEVELS_MAX; h++) {
        tz_plan usual, plan;
        rows_design d, larger;
        tz_cuda_plans_make(plans, h, vector, 0, &usual, &made);
        if (!made)
            return;
        tz_cuda_plans_make(&few, h, vector, 0, &plan, &made);
        if (made && rows_design_make(&d, plans->problem, &usual) &&
            rows_design_make(&larger, plans->problem, &plan) && larger.group > d.group)
            tz_cuda_plans_keep(plans, &plan);
    }
}

/* Twice the columns of a lane are faster if the ghost zone takes many columns, half of them if the
 * fields take many registers. */
static void rows_candidates(tz_cuda_plans *plans)
{
    const int more = rows_is_wide(plans->problem) ? 4 : 8;
    const tz_cuda_variant others[] = {{.vector = more}, {.vector = more / 4}};
    tz_cuda_plans_add_heights(plans, 16, others, plans->problem->stencil->fields_count > 2 ? 2 : 1);
    add_larger_groups(plans, 0);
    if (rows_is_wide(plans->problem))
        add_larger_groups(plans, more);
    if (plans->given->swap > 0)
        return;
    /* Swaps save time of memory. Plans that wait for computing may be faster without. */
    tz_plan given = *plans->given;
    tz_cuda_plans apart = *plans;
    given.swap = ROWS_NO_SWAP;
    apart.given = &given;
    tz_cuda_plans_add_heights(&apart, 16, others, 1);
    plans->count = apart.count;
}

/* Bits are computed by the unit that also moves registers, which is busy all the time. */
static bool rows_shorten(const tz_problem *problem, double *bytes, tz_plan *plan)
{
    rows_design d;
    if (plan->unroll > 0 || problem->bits || !rows_design_make(&d, problem, plan))
        return false;
    const int unroll = rows_short_unroll(&d, bytes);
    if (unroll == d.unroll)
        return false;
    plan->unroll = unroll;
    return true;
}

const tz_cuda_planner rows_planner = {
    .lanes = rows_lanes,
    .steps = rows_steps,
    .estimate = rows_estimate,
    .parts = rows_parts,
    .work = rows_work,
    .candidates = rows_candidates,
    .shorten = rows_shorten,
};
