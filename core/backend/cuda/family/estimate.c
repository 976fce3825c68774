/* Estimates the work of a kernel that is not compiled from compiled kernels of other heights. */
#include "backend/cuda/family/work.h"
#include "model/roofs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void mix_between(tz_work_mix *to, const tz_work_mix *a, const tz_work_mix *b, double t)
{
    for (int c = 0; c < TZ_WORK_CLASSES; c++)
        to->of[c] = fmax(0.0, a->of[c] + t * (b->of[c] - a->of[c]));
}

static double between(double a, double b, double t)
{
    return fmax(0.0, a + t * (b - a));
}

static void part_between(tz_work_part *to, const tz_work_part *a, const tz_work_part *b, double t)
{
    *to = *a;
    mix_between(&to->step, &a->step, &b->step, t);
    mix_between(&to->once, &a->once, &b->once, t);
    mix_between(&to->chain, &a->chain, &b->chain, t);
    to->clocks = between(a->clocks, b->clocks, t);
    to->shared_wavefronts = between(a->shared_wavefronts, b->shared_wavefronts, t);
    to->bytes = between(a->bytes, b->bytes, t);
    to->once_clocks = between(a->once_clocks, b->once_clocks, t);
    to->spills = between(a->spills, b->spills, t);
    to->spilt_stores = between(a->spilt_stores, b->spilt_stores, t);
    to->text_bytes = between(a->text_bytes, b->text_bytes, t);
    to->loop_bytes = between(a->loop_bytes, b->loop_bytes, t);
    to->own_bytes = between(a->own_bytes, b->own_bytes, t);
    tz_rounds_blend(&to->rounds, 1.0 - t, &b->rounds, t);
}

bool tz_cuda_plan_with_height(const tz_problem *problem, const tz_limits *limits,
                              const tz_plan *plan, int height, tz_plan *out)
{
    *out = (tz_plan){.height = height,
                     .vector = plan->vector,
                     .ahead = plan->ahead,
                     .warps = plan->warps,
                     .lanes = plan->lanes,
                     .swap = plan->swap};
    const tz_cuda_family *family;
    memcpy(out->family, plan->family, sizeof out->family);
    if (tz_cuda_family_find(plan->family, problem, &family, NULL))
        return false;
    if (family->planner->refits)
        out->vector = out->warps = 0;
    /* Blocks that were given, not chosen by the family, hold for all heights. */
    tz_plan chosen = *plan;
    chosen.blocks = 0;
    if (plan->blocks > 0 &&
        (tz_cuda_plan(problem, limits, &chosen, NULL) != TZ_OK || chosen.blocks != plan->blocks))
        out->blocks = plan->blocks;
    return height >= 1 && tz_cuda_plan(problem, limits, out, NULL) == TZ_OK;
}

/* The compiled heights that an estimate uses. */
typedef struct base {
    tz_cuda_steps known[2];
    bool alike[2]; /* its registers have the limit that the plan's have */
    int heights[2], count;
} base;

/* The plan that an estimate is for. */
typedef struct request {
    const tz_cuda_family *family;
    const tz_problem *problem;
    const tz_place *place;
    const tz_plan *plan;
} request;

/* A kernel may load so many spilt words a step and still count as one that spills none: they are a few
 * constants, which cost little. */
#define SPILT_FEW 4.0
static bool spills(const tz_cuda_steps *steps)
{
    return steps->inner.spills > SPILT_FEW;
}

/* The steps of the shorter kernel that would be taken for a plan, if it is in the cache. */
static void take_shorter(const request *q, const tz_plan *plan, tz_cuda_steps *steps)
{
    tz_plan shorter = *plan;
    tz_cuda_steps of;
    bool found = false;
    double bytes = steps->inner.loop_bytes;
    if (tz_cuda_shorten(q->problem, q->place, &bytes, &shorter) &&
        tz_cuda_steps_get(&of, &found, q->family, q->problem, q->place, &shorter, false, NULL) ==
            TZ_OK &&
        found && (spills(steps) || !spills(&of)))
        *steps = of;
}

/* Which kernels are taken: all; those whose registers have the same limit as the plan's (`blocks`); of
 * these, those that do not spill. */
enum { ANY, ALIKE, UNSPILT };

/* Adds a height whose kernel is in the cache, or with `compile` compiles it. A third height replaces
 * the second. */
static tz_status look(base *of, bool *taken, const request *q, int height, int which, bool compile,
                      tz_error *error)
{
    tz_plan other;
    tz_cuda_steps steps;
    const tz_limits limits = tz_place_limits(q->place);
    *taken = false;
    if (height == q->plan->height || (of->count > 0 && height == of->heights[0]) ||
        !tz_cuda_plan_with_height(q->problem, &limits, q->plan, height, &other) ||
        (which != ANY && other.blocks != q->plan->blocks))
        return TZ_OK;
    const tz_status status =
        tz_cuda_steps_get(&steps, taken, q->family, q->problem, q->place, &other, compile, error);
    if (!status && *taken)
        take_shorter(q, &other, &steps);
    *taken = !status && *taken && !(which == UNSPILT && spills(&steps));
    if (!*taken)
        return status;
    const int at = of->count < 2 ? of->count++ : 1;
    of->known[at] = steps;
    of->alike[at] = other.blocks == q->plan->blocks;
    of->heights[at] = height;
    return TZ_OK;
}

/* Finds the nearest compiled heights below and above the plan's height, or else the two nearest on
 * one side. Counts are linear in the height only nearby. `strict`: a kernel that spills registers is no
 * base for a lower height, which may not spill, nor is one whose registers have another limit. */
static tz_status look_near(base *of, const request *q, bool strict, tz_error *error)
{
    static const int apart[] = {1, 2, 3, 4, 6, 8};
    const int h = q->plan->height;
    bool below = false, above = false;
    for (int k = 0; k < of->count; k++) {
        below = below || of->heights[k] < h;
        above = above || of->heights[k] > h;
    }
    for (size_t k = 0; k < sizeof apart / sizeof *apart && !(below && above); k++) {
        bool taken = false;
        tz_status status = TZ_OK;
        if (of->count < 2 || !below)
            status = look(of, &taken, q, h - apart[k], strict ? ALIKE : ANY, false, error);
        below = below || taken;
        const bool lower_spills = below && of->heights[0] < h && spills(&of->known[0]);
        const int which = !strict ? ANY : lower_spills ? ALIKE : UNSPILT;
        if (!status && !above)
            status = look(of, &taken, q, h + apart[k], which, false, error);
        above = above || (of->count > 0 && taken && of->heights[of->count - 1] > h);
        if (status)
            return status;
    }
    return TZ_OK;
}

/* At least the spills of a loop that lacks `registers`: a step stores and loads each of them. */
static void add_spills(tz_work_part *part, double registers)
{
    part->spills = fmax(part->spills, 2.0 * registers);
    part->spilt_stores = fmax(part->spilt_stores, registers);
}

/* Interpolates or extrapolates linearly: each iteration adds the same work to a step. */
static void put_between(tz_cuda_steps *out, base *of, int height)
{
    tz_cuda_steps *known = of->known;
    if (of->count == 1) {
        known[1] = known[0];
        of->alike[1] = of->alike[0];
        of->heights[1] = of->heights[0] + 1;
    }
    const double t = (double)(height - of->heights[0]) / (of->heights[1] - of->heights[0]);
    *out = known[0];
    part_between(&out->inner, &known[0].inner, &known[1].inner, t);
    part_between(&out->end, &known[0].end, &known[1].end, t);
    part_between(&out->side, &known[0].side, &known[1].side, t);
    part_between(&out->side_end, &known[0].side_end, &known[1].side_end, t);
    part_between(&out->inner_idle, &known[0].inner_idle, &known[1].inner_idle, t);
    part_between(&out->end_idle, &known[0].end_idle, &known[1].end_idle, t);
    part_between(&out->side_idle, &known[0].side_idle, &known[1].side_idle, t);
    /* The registers of a kernel that has another limit say nothing. */
    const double registers = of->alike[0] == of->alike[1]
                                 ? between(known[0].registers, known[1].registers, t)
                                 : known[of->alike[0] ? 0 : 1].registers;
    const double lacking = fmax(0.0, registers - 255.0);
    out->registers = (int)fmin(255.0, fmax(24.0, ceil(registers / 8.0) * 8.0));
    out->local_bytes = (int)(4.0 * lacking);
    if (lacking > 0.0) {
        add_spills(&out->inner, lacking);
        add_spills(&out->end, lacking);
        add_spills(&out->side, lacking);
        add_spills(&out->side_end, lacking);
    }
}

/* The length of the code that would be taken for the plan (tz_backend.shorten). */
static void expect_shorter(const request *q, tz_cuda_steps *steps)
{
    tz_work_part *const parts[] = {&steps->inner, &steps->end, &steps->side, &steps->side_end};
    tz_plan shorter = *q->plan;
    const double before = steps->inner.loop_bytes;
    double bytes = before;
    if (!tz_cuda_shorten(q->problem, q->place, &bytes, &shorter))
        return;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        parts[k]->text_bytes *= bytes / before;
        parts[k]->loop_bytes *= bytes / before;
        parts[k]->own_bytes *= bytes / before;
    }
}

tz_status tz_cuda_steps_estimate(tz_cuda_steps *out, const tz_cuda_family *family,
                                 const tz_problem *problem, const tz_place *place,
                                 const tz_plan *plan, tz_error *error)
{
    static const int small[] = {2, 3, 4, 1};
    const request q = {family, problem, place, plan};
    base *of = calloc(1, sizeof *of);
    if (!of)
        return tz_error_set(error, TZ_MEMORY, NULL,
                            "not enough memory to count a kernel's instructions");
    tz_status status = look_near(of, &q, true, error);
    if (!status && of->count < 2)
        status = look_near(of, &q, false, error);
    for (size_t k = 0; !status && k < sizeof small / sizeof *small && of->count < 2; k++) {
        bool taken;
        status = look(of, &taken, &q, small[k], ANY, true, error);
    }
    if (!status && of->count == 0)
        status = tz_cuda_steps_get(out, &(bool){false}, family, problem, place, plan, true, error);
    else if (!status) {
        put_between(out, of, plan->height);
        expect_shorter(&q, out);
    }
    free(of);
    return status;
}

void tz_cuda_estimate_registers(const tz_model_device *device, const tz_plan *plan,
                                tz_model_work *out)
{
    enum { UNIT = 8, LEAST = 24 };
    const int estimated = out->registers;
    tz_model_work least = *out;
    least.registers = LEAST;
    int wanted = plan->blocks > 0 ? plan->blocks : 1;
    const int most = tz_roofs_blocks_per_sm(device, &least, NULL, 0);
    wanted = wanted < most ? wanted : most;
    while (out->registers > LEAST && tz_roofs_blocks_per_sm(device, out, NULL, 0) < wanted)
        out->registers -= UNIT;
    const int lacking = estimated - out->registers;
    out->local_bytes += 4 * lacking;
    for (int p = 0; lacking > 0 && p < out->parts_count; p++)
        add_spills(&out->parts[p], lacking + out->parts[p].spilt_stores);
}
