/* What stages of the stream families do: who runs which code for how many steps. */
#include "cuda/work.h"

#include "cuda/planes_scheme.h"
#include "cuda/rows_design.h"
#include "sim/host_store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BURST_BYTES = 64, PACKET_BYTES = 16, SECTOR_BYTES = 32 }; /* of the memory, a lane, L2 */

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
    part->shared_wavefronts += share * (other->shared_wavefronts - part->shared_wavefronts);
    part->text_bytes += other->text_bytes;
    part->spills += share * (other->spills - part->spills);
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

/* The second level hands out whole sectors, once for each pair of lanes: where a strip begins
 * within a sector, or a lane's packets lie apart, each is asked for twice. */
static void count_gaps(tz_model_work *out, double strips, double useful, double ghost, double size,
                       double lane_bytes)
{
    double within = 0.0;
    for (double t = 0.0; t < strips; t++)
        within += fmod(fabs(t * useful - ghost) * size, SECTOR_BYTES) != 0.0;
    const double loaded = out->read_bytes + out->ghost_bytes;
    out->gap_bytes =
        lane_bytes > PACKET_BYTES ? loaded + out->write_bytes : loaded * within / fmax(strips, 1.0);
}

/* What a strip writes of a row begins and ends where it may; lanes with more than one packet each
 * leave gaps between those of a store. */
static void count_torn(tz_model_work *out, double strip_bytes, double lane_bytes)
{
    if (lane_bytes > PACKET_BYTES)
        out->torn_bytes = 2.0 * out->write_bytes;
    else if (fmod(strip_bytes, BURST_BYTES) != 0.0)
        out->torn_bytes = out->write_bytes;
}

/* ---- 1-D ---------------------------------------------------------------------------------------
 */

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
    for (int p = 0; p < out->parts_count; p++)
        out->parts[p].bytes = strip * bytes.streamed;
}

/* ---- 2-D ---------------------------------------------------------------------------------------
 */

/* Steps of a warp whose chunk is rows [low, high), and those of them that look at the grid's ends:
 * a loop body's are all of one kind (rows_text.c, say_kernel). */
typedef struct rows_life {
    double steps, ends;
} rows_life;

static rows_life rows_live(const rows_design *d, double rows, double low, double high)
{
    const bool wraps = d->problem->boundary[1] == TZ_PERIODIC;
    const double last = d->lag[d->levels], ahead = d->reach + d->extra;
    double newest = 0.0, oldest = 0.0, radius = 0.0;
    for (int i = 0; i < d->rings_count; i++) {
        radius = fmax(radius, d->rings[i].radius);
        if (d->rings[i].level == 0) {
            newest = fmax(newest, d->rings[i].newest);
            oldest = fmin(oldest, d->rings[i].newest);
        }
    }
    const double before = wraps ? -oldest : last + radius + 1.0 - oldest;
    const double after = rows - (d->unroll - 1.0 + newest + d->ahead);
    rows_life life = {0};
    double y = d->edges && !wraps && low <= 0.0 ? -radius - d->extra : low - ahead;
    for (; y < high + last; y += d->unroll) {
        life.steps += d->unroll;
        life.ends += y < before || y >= after ? d->unroll : 0.0;
    }
    return life;
}

/* What warps of a kind do on average. */
static void add_lives(tz_model_work *out, const char *name, const tz_work_part *code,
                      const tz_work_part *ends, double strips, const rows_life *sum, double chunks)
{
    if (chunks <= 0.0 || sum->steps <= 0.0)
        return;
    tz_work_part *part = add_part(out, name, code, strips * chunks, sum->steps / chunks);
    if (part && sum->ends > 0.0)
        mix_steps(part, ends, sum->ends / sum->steps);
}

/* Chunks of `chunk` rows: those that see neither end of the grid, and those that do. */
static void add_chunks(tz_model_work *out, const rows_design *d, const tz_work_part *code,
                       const tz_work_part *ends, double strips, double chunk, const char *names[3])
{
    const double rows = (double)d->problem->elements[1], chunks = ceil(rows / chunk);
    rows_life sums[3] = {{0}};
    double counts[3] = {0};
    for (double c = 0.0; c < chunks; c++) {
        const rows_life life = rows_live(d, rows, c * chunk, fmin((c + 1.0) * chunk, rows));
        const int kind = life.ends == 0.0 ? 0 : 2.0 * c < chunks ? 1 : 2;
        counts[kind]++;
        sums[kind].steps += life.steps;
        sums[kind].ends += life.ends;
    }
    for (int k = 0; k < 3; k++)
        add_lives(out, names[k], code, ends, strips, &sums[k], counts[k]);
}

void tz_cuda_work_rows(const tz_cuda_job *job, tz_model_work *out)
{
    const tz_problem *problem = job->problem;
    const tz_plan *plan = job->plan;
    const tz_cuda_bytes bytes = tz_cuda_bytes_of(problem);
    const int *geometry = job->shape->geometry;
    const double strips = geometry[0], sides = geometry[1] + geometry[2];
    const double chunk = geometry[3], short_chunk = geometry[4];
    const tz_cuda_steps *steps = job->steps;
    rows_design *d = malloc(sizeof *d);
    if (!d || !rows_design_make(d, problem, plan)) {
        free(d);
        return;
    }
    const double warm_up = d->reach + d->extra + d->lag[d->levels];
    add_chunks(out, d, &steps->inner, &steps->end, strips - sides, chunk,
               (const char *[3]){"inner", "first", "last"});
    /* Where sides are not simple all of their steps look at all ends. */
    add_chunks(out, d, &steps->side, d->edges ? &steps->end : &steps->side, sides, short_chunk,
               (const char *[3]){"border", "corner", "corner"});
    const double strip = 32.0 * d->vector, loaded = strip * (bytes.state + bytes.fixed);
    out->redundancy = count_redundancy(out, strip, elements_of(problem));
    count_ghosts(out, loaded, d->ahead, warm_up / chunk);
    count_gaps(out, strips, (double)plan->tile[0], rows_ghost(d), bytes.written,
               d->vector * bytes.written);
    if (strips > 1.0)
        count_torn(out, (double)plan->tile[0] * bytes.written, d->vector * bytes.written);
    out->ahead_bytes = d->ahead * loaded;
    for (int p = 0; p < out->parts_count; p++)
        out->parts[p].bytes = loaded;
    free(d);
}

/* ---- 3-D ---------------------------------------------------------------------------------------
 */

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
    const double length = ceil((fmin(chunk, planes) + s->reach + s->lag) / s->group) * s->group;
    /* The first steps of a chunk, and the last of the grid, look at planes; those do half of the
     * passes on average. */
    const double start = fmin(length, ceil((double)s->lag / s->group) * s->group);
    const double finish = fmin(length - start, s->lag + s->reach + s->ahead + s->group) / chunks;
    const double out_x = s->whole > 0 ? 0.0
                                      : leaving(wide, columns - 2.0 * s->ghost_x, s->ghost_x,
                                                (double)problem->elements[0], s->static_radius);
    const double out_y = leaving(high, rows - 2.0 * s->ghost_y, s->ghost_y,
                                 (double)problem->elements[1], s->static_radius);
    const double tiles = wide * high, inner = (wide - out_x) * (high - out_y);
    const double share = (start * 0.6 + finish) / length;
    tz_work_part *part =
        add_part(out, "inner", &job->steps->inner, inner * chunks * s->warps, length);
    if (part)
        mix_steps(part, &job->steps->end, fmin(1.0, share));
    part = add_part(out, "border", &job->steps->side, (tiles - inner) * chunks * s->warps, length);
    if (part)
        mix_steps(part, &job->steps->end, fmin(1.0, share));
    const double of_warp = columns * s->rows, loaded = of_warp * bytes.state;
    out->redundancy = count_redundancy(out, of_warp, elements_of(problem));
    count_ghosts(out, loaded, s->ahead, (double)(s->reach + s->lag) / chunk);
    count_gaps(out, wide, columns - 2.0 * s->ghost_x, s->ghost_x, bytes.written,
               s->vector * bytes.written);
    if (wide > 1.0)
        count_torn(out, (columns - 2.0 * s->ghost_x) * bytes.written, s->vector * bytes.written);
    out->ahead_bytes = s->ahead * loaded;
    for (int p = 0; p < out->parts_count; p++) {
        out->parts[p].bytes = loaded;
        /* Warps that wait for those beside them alone are held together as by a barrier. */
        out->parts[p].step.of[TZ_WORK_BARRIER] = fmax(1.0, out->parts[p].step.of[TZ_WORK_BARRIER]);
    }
    free(s);
}
