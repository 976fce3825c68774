/* What stages of the stream families do: who runs which code for how many steps. */
#include "backend/cuda/family/work.h"

#include "backend/cuda/family/planes/scheme.h"
#include "backend/cuda/family/rows/design.h"
#include "backend/host/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BURST_BYTES = 64, SECTOR_BYTES = 32, PACKET_BYTES = 16 }; /* of memory, of L2, of a lane */

static tz_work_part *add_part(tz_model_work *out, const char *name, const tz_work_part *code,
                              double warps, double steps)
{
    if (warps <= 0.0 || steps <= 0.0 || out->parts_count == TZ_WORK_PARTS_MAX)
        return NULL;
    tz_work_part *part = &out->parts[out->parts_count++];
    *part = *code;
    snprintf(part->name, sizeof part->name, "%s", name);
    part->warps = warps;
    part->steps = steps;
    return part;
}

/* Some steps of a part are others'. */
static void mix_steps(tz_work_part *part, const tz_work_part *other, double share)
{
    for (int c = 0; c < TZ_WORK_CLASSES; c++) {
        part->step.of[c] += share * (other->step.of[c] - part->step.of[c]);
        part->chain.of[c] += share * (other->chain.of[c] - part->chain.of[c]);
    }
    part->clocks += share * (other->clocks - part->clocks);
    tz_rounds_blend(&part->rounds, 1.0 - share, &other->rounds, share);
    part->shared_wavefronts += share * (other->shared_wavefronts - part->shared_wavefronts);
    part->text_bytes += other->text_bytes;
    part->own_bytes += share * (other->own_bytes - part->own_bytes);
    part->spills += share * (other->spills - part->spills);
    part->spilt_stores += share * (other->spilt_stores - part->spilt_stores);
}

static double elements_of(const tz_problem *problem)
{
    return (double)problem->elements[0] * (double)problem->elements[1] *
           (double)problem->elements[2];
}

/* Cells of a warp's step in a strip or plane of so many elements, all warps' against useful ones.
 */
static double count_redundancy(const tz_model_work *out, double elements_a_step, double useful)
{
    double computed = 0.0;
    for (int p = 0; p < out->parts_count; p++)
        computed += out->parts[p].warps * out->parts[p].steps * elements_a_step;
    return fmax(1.0, computed / useful);
}

/* Bytes that are loaded more than once; what is asked for ahead is so beyond the last step, too. */
static void count_ghosts(tz_model_work *out, double loaded_a_step, double ahead, double far_share)
{
    double loaded = 0.0;
    for (int p = 0; p < out->parts_count; p++)
        loaded += out->parts[p].warps * (out->parts[p].steps + ahead) * loaded_a_step;
    out->ghost_bytes = fmax(0.0, loaded - out->read_bytes);
    out->far_bytes = fmin(out->ghost_bytes, far_share * out->read_bytes);
}

/* What a strip writes of a row begins and ends where it may; lanes with two packets each leave gaps
 * between those of a store. */
static void count_torn(tz_model_work *out, double strip_bytes, double lane_bytes)
{
    if (lane_bytes > PACKET_BYTES)
        out->pairs_bytes = out->write_bytes;
    else if (fmod(strip_bytes, BURST_BYTES) != 0.0)
        out->torn_bytes = out->write_bytes;
}

/* Of planes a profiler counts so much of that (star3d1r, heights 1 and 2); not explained. */
#define PLANES_HALVES 0.33

/* Packets that share sectors with those of another request: a lane's own next one, or where strips
 * begin in the middle of one. */
static void count_halves(const tz_problem *problem, tz_model_work *out, double useful, double ghost,
                         int vector, bool apart)
{
    const double steps_bytes = out->read_bytes + out->ghost_bytes;
    const tz_cuda_bytes bytes = tz_cuda_bytes_of(problem);
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const double size = (double)tz_problem_element_size(problem, f), lane = vector * size;
        const bool wide = apart && lane > PACKET_BYTES;
        const bool shifted = lane >= PACKET_BYTES && (fmod(useful * size, SECTOR_BYTES) != 0.0 ||
                                                      fmod(ghost * size, SECTOR_BYTES) != 0.0);
        if (problem->stencil->fields[f].role != TZ_STREAMED && (wide || shifted))
            out->half_bytes += steps_bytes * size / (bytes.state + bytes.fixed);
    }
}

/* ---- 1-D ------------------------------------------------------------------------------------- */

void tz_cuda_work_line(const tz_cuda_job *job, tz_model_work *out)
{
    const tz_problem *problem = job->problem;
    const tz_plan *plan = job->plan;
    const tz_cuda_bytes bytes = tz_cuda_bytes_of(problem);
    const double warps = plan->warps, strip = 32.0 * plan->vector;
    const double blocks = out->blocks, border = fmin(blocks, 2.0);
    add_part(out, "inner", &job->steps->inner, (blocks - border) * warps, plan->height);
    add_part(out, "border", &job->steps->side, border * warps, plan->height);
    out->redundancy = count_redundancy(out, strip, elements_of(problem) * plan->height);
    const double loaded =
        blocks * warps * strip * (bytes.state + bytes.fixed + bytes.streamed * plan->height);
    out->ghost_bytes = fmax(0.0, loaded - out->read_bytes);
    out->ahead_bytes = plan->ahead * strip * bytes.streamed;
    out->stream_bytes = elements_of(problem) * plan->height * bytes.streamed;
    for (int p = 0; p < out->parts_count; p++) {
        out->parts[p].bytes = strip * bytes.streamed;
        out->parts[p].late = 0.0;
    }
}

/* ---- 2-D ------------------------------------------------------------------------------------- */

/* Steps of a chunk, and those of them in which boundaries above and below are looked at: as the
 * kernel chooses (rows_text.c, say_kernel), rounds of `unroll` steps each. */
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
    const bool wraps = d->problem->boundary[1] == TZ_PERIODIC;
    double newest = 0.0, oldest = 0.0, radius = 0.0;
    for (int i = 0; i < d->rings_count; i++) {
        const rows_ring *r = &d->rings[i];
        radius = fmax(radius, r->radius);
        newest = r->level == 0 ? fmax(newest, r->newest) : newest;
        oldest = r->level == 0 ? fmin(oldest, r->newest) : oldest;
    }
    const double lag = d->lag[d->levels], extra = d->extra;
    const double y = d->edges && !wraps && low == 0.0 ? -radius - extra : low - d->reach - extra;
    const double end = fmin(low + chunk, rows) + lag;
    const double rounds = fmax(0.0, ceil((end - y) / unroll));
    const double first = wraps ? -oldest : lag + radius + 1.0 - oldest;
    const double last = rows - (unroll - 1.0 + newest + d->ahead);
    const double ends =
        rounds_before(y, first, unroll, rounds) + rounds - rounds_before(y, last, unroll, rounds);
    return (chunk_steps){rounds * unroll, fmin(ends, rounds) * unroll};
}

/* Chunks from `first` up to `end` of each of so many strips, as a part; `ends`: what steps at the
 * grid's ends do. */
static void add_chunks(tz_model_work *out, const char *name, const rows_design *d,
                       const tz_work_part *code, const tz_work_part *ends, double strips,
                       double chunk, double first, double end)
{
    double all = 0.0, of_ends = 0.0;
    for (double c = first; c < end; c++) {
        const chunk_steps steps = steps_of_chunk(d, c * chunk, chunk);
        all += steps.all;
        of_ends += steps.ends;
    }
    if (end <= first)
        return;
    tz_work_part *part = add_part(out, name, code, strips * (end - first), all / (end - first));
    if (part && of_ends > 0.0)
        mix_steps(part, ends, of_ends / all);
}

void tz_cuda_work_rows(const tz_cuda_job *job, tz_model_work *out)
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
    const double warm_up = d.reach + d.extra + d.lag[d.levels];
    add_chunks(out, "inner", &d, &steps->inner, &steps->end, inner, chunk, 1.0, chunks - 1.0);
    add_chunks(out, chunks > 1.0 ? "first" : "whole", &d, &steps->inner, &steps->end, inner, chunk,
               0.0, 1.0);
    if (chunks > 1.0)
        add_chunks(out, "last", &d, &steps->inner, &steps->end, inner, chunk, chunks - 1.0, chunks);
    /* Where ends are not simple, strips at the sides do what ends do all the time. */
    add_chunks(out, "border", &d, &steps->side, d.edges ? &steps->end : &steps->side, sides,
               short_chunk, 0.0, short_chunks);
    const double strip = 32.0 * plan->vector, loaded = strip * (bytes.state + bytes.fixed);
    out->redundancy = count_redundancy(out, strip, elements_of(problem));
    count_ghosts(out, loaded, d.ahead, warm_up / chunk);
    if (strips > 1.0)
        count_torn(out, (double)plan->tile[0] * bytes.written, plan->vector * bytes.written);
    count_halves(problem, out, (double)plan->tile[0], rows_ghost(&d), plan->vector, true);
    out->ahead_bytes = plan->ahead * loaded;
    for (int p = 0; p < out->parts_count; p++) {
        out->parts[p].bytes = loaded;
        out->parts[p].late = 0.0; /* rows are asked for where others are waited for */
    }
}

/* ---- 3-D ------------------------------------------------------------------------------------- */

/* Tiles along an axis whose ghost zone leaves the grid. */
static double leaving(double tiles, double useful, double ghost, double extent, double radius)
{
    double count = 0.0;
    for (double t = 0.0; t < tiles; t++) {
        const double first = t * useful - ghost;
        count += first < radius || first + useful + 2.0 * ghost + radius > extent;
    }
    return count;
}

/* Is a plane of a pass computed, as tz_plane_wanted() in planes_border.cuh says? */
static bool is_wanted(const planes_scheme *s, const tz_problem *problem, double z, double from,
                      double to, double rest)
{
    (void)s;
    return z >= from - rest && z < to + rest &&
           (problem->boundary[2] == TZ_PERIODIC || (z >= 0.0 && z < (double)problem->elements[2]));
}

/* The part of a step at the grid's ends that is done. A pass of sums makes those of one plane and
 * computes another. */
static double wanted_share(const planes_scheme *s, const tz_problem *problem, double z, double from,
                           double to)
{
    double wanted = 0.0;
    for (int k = 0; k < s->passes_count; k++) {
        const planes_pass *pass = &s->passes[k];
        const double at = z - pass->lag, r = pass->radius;
        const bool computed = is_wanted(s, problem, at, from, to, pass->rest);
        wanted += pass->words == 0 ? computed
                                   : 0.5 * computed + 0.5 * is_wanted(s, problem, at + r, from, to,
                                                                      pass->rest + r);
    }
    return wanted / s->passes_count;
}

/* Steps of a chunk as tz_stage() in planes_kernel.cuh takes them: those at the grid's ends, of which `done`
 * have to be done, and the others, of which some store. */
typedef struct plane_steps {
    double ends, done, others, store;
} plane_steps;

static plane_steps steps_of_planes(const planes_scheme *s, const tz_problem *problem, double from,
                                   double to)
{
    plane_steps sum = {0};
    const double planes = (double)problem->elements[2], ahead = fmax(s->ahead, s->static_radius);
    for (double k = 0.0; k < to - from + s->reach + s->lag; k += s->group) {
        const double z = from - s->reach + k;
        const bool ends = to - from < s->group || z - s->lag - s->static_radius <= s->radius_rows ||
                          z + s->group - 1.0 + ahead >= planes;
        for (double i = z; i < z + s->group; i++) {
            if (ends)
                sum.done += wanted_share(s, problem, i, from, to);
            else
                sum.store += i - s->lag >= from && i - s->lag < to;
        }
        *(ends ? &sum.ends : &sum.others) += s->group;
    }
    return sum;
}

static void add_planes(tz_model_work *out, const char *name, const tz_cuda_job *job, bool border,
                       const planes_scheme *s, double tiles, double first, double end)
{
    const double planes = (double)job->problem->elements[2], chunk = job->shape->geometry[0];
    const tz_cuda_steps *steps = job->steps;
    plane_steps sum = {0};
    for (double c = first; c < end; c++) {
        const plane_steps of =
            steps_of_planes(s, job->problem, c * chunk, fmin((c + 1.0) * chunk, planes));
        sum.ends += of.ends;
        sum.done += of.done;
        sum.others += of.others;
        sum.store += of.store;
    }
    if (end <= first)
        return;
    const double all = sum.ends + sum.others;
    tz_work_part ends = steps->end,
                 *part = add_part(out, name, border ? &steps->side : &steps->inner,
                                  tiles * s->warps * (end - first), all / (end - first));
    if (!part)
        return;
    if (sum.others > 0.0)
        mix_steps(part, border ? &steps->side_idle : &steps->inner_idle,
                  1.0 - sum.store / sum.others);
    if (sum.ends > 0.0) {
        mix_steps(&ends, &steps->end_idle, 1.0 - sum.done / sum.ends);
        mix_steps(part, &ends, sum.ends / all);
    }
}

void tz_cuda_work_planes(const tz_cuda_job *job, tz_model_work *out)
{
    const tz_problem *problem = job->problem;
    const tz_plan *plan = job->plan;
    const tz_cuda_bytes bytes = tz_cuda_bytes_of(problem);
    const double chunk = job->shape->geometry[0], wide = job->shape->geometry[1];
    const double high = job->shape->geometry[2];
    planes_scheme *s = malloc(sizeof *s);
    if (!s || !planes_scheme_make(s, problem, plan)) {
        free(s);
        return;
    }
    const double columns = 32.0 * s->vector, rows = (double)s->warps * s->rows;
    const double planes = (double)problem->elements[2], chunks = ceil(planes / chunk);
    const double out_x = s->whole > 0 ? 0.0
                                      : leaving(wide, columns - 2.0 * s->ghost_x, s->ghost_x,
                                                (double)problem->elements[0], s->static_radius);
    const double out_y = leaving(high, rows - 2.0 * s->ghost_y, s->ghost_y,
                                 (double)problem->elements[1], s->static_radius);
    const double tiles = wide * high, inner = (wide - out_x) * (high - out_y);
    const double last = chunks > 1.0 ? chunks - 1.0 : chunks;
    add_planes(out, "inner", job, false, s, inner, 1.0, last);
    add_planes(out, chunks > 1.0 ? "first" : "whole", job, false, s, inner, 0.0, 1.0);
    add_planes(out, "last", job, false, s, inner, last, chunks);
    add_planes(out, "border", job, true, s, tiles - inner, 1.0, last);
    add_planes(out, chunks > 1.0 ? "border, first" : "border", job, true, s, tiles - inner, 0.0,
               1.0);
    add_planes(out, "border, last", job, true, s, tiles - inner, last, chunks);
    const double of_warp = columns * s->rows, loaded = of_warp * bytes.state;
    out->redundancy = count_redundancy(out, of_warp, elements_of(problem));
    count_ghosts(out, loaded, s->ahead, (double)(s->reach + s->lag) / chunk);
    if (wide > 1.0)
        count_torn(out, (columns - 2.0 * s->ghost_x) * bytes.written, s->vector * bytes.written);
    count_halves(problem, out, columns - 2.0 * s->ghost_x, s->ghost_x, s->vector, false);
    out->half_bytes *= PLANES_HALVES;
    out->ahead_bytes = s->ahead * loaded;
    for (int p = 0; p < out->parts_count; p++) {
        out->parts[p].bytes = loaded;
        /* Warps that wait for those beside them alone are held together as by a barrier. */
        out->parts[p].step.of[TZ_WORK_BARRIER] = fmax(1.0, out->parts[p].step.of[TZ_WORK_BARRIER]);
    }
    free(s);
}
