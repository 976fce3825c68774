/* Stages of slabs. */
#include "backend/slabs/slabs_impl.h"
#include "base/ranks.h"

void tz__slabs_refresh(const tz__slabs *slabs, tz__slabs_part *part)
{
    const tz_stencil *stencil = slabs->context.problem->stencil;
    tz_problem_slab_refresh(&part->problem);
    for (int f = 0; f < stencil->fields_count; f++)
        if (slabs->context.streamed && slabs->context.streamed[f]) {
            part->streamed[f] = *slabs->context.streamed[f];
            part->streamed[f].first = part->problem.slab.first;
        }
}

void tz__slabs_refresh_all(tz__slabs *slabs)
{
    for (int i = slabs->low; i < slabs->high; i++)
        tz__slabs_refresh(slabs, slabs->parts[i]);
}

tz_status tz__slabs_need(tz__slabs *slabs, int iterations, int exchange, tz_error *error)
{
    if (slabs->valid >= iterations)
        return TZ_OK;
    const tz_status status =
        tz__slabs_exchange(slabs, tz__slabs_fields(slabs, TZ_STATE), exchange, error);
    slabs->valid = status ? 0 : exchange;
    return status;
}

/* Stages that follow each other without an exchange. */
typedef struct advance {
    const tz_plan *plan;
    int iterations;
    int64_t step;
    int rest, next; /* iterations until the exchange after them, and of that exchange */
    bool offers;    /* they offer their ends for the next one */
} advance;

static tz_status plan_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    const advance *a = argument;
    tz__slabs_part *part = slabs->parts[i];
    if (tz_plan_equal(&part->planned, a->plan))
        return TZ_OK;
    const tz_status status = tz__slabs_plan_of(slabs, i, a->plan, &part->plan, error);
    if (!status)
        part->planned = *a->plan;
    return status;
}

/* After the first stage no other plan can be tried. */
static tz_status fail_after(int done, tz_status status, tz_error *error)
{
    if (!status || done == 0)
        return status;
    if (error)
        error->code = TZ_BACKEND;
    return TZ_BACKEND;
}

static tz_status stages_of_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    const advance *a = argument;
    const tz__slabs_part *part = slabs->parts[i];
    tz_status status = TZ_OK;
    for (int done = 0, more; done < a->iterations && !status; done += more) {
        const int left = a->iterations - done;
        more = left < a->plan->height ? left : a->plan->height;
        const tz_slab_span span = tz__slabs_span(slabs, i, a->rest + left - more, a->next);
        status =
            slabs->inner->slab->stage(part->state, &part->plan, more, a->step + done, &span, error);
        status = fail_after(done, status, error);
    }
    if (!status && a->offers)
        status = fail_after(1, tz__slabs_offer_ends(slabs, i, a->next, error), error);
    return status;
}

/* Whether ghost zones made for `exchange` iterations would save one update in fifty. Stages that leave
 * nothing out update the ghost zones as they are made, and another plan may need less. */
static bool is_too_deep(const tz__slabs *slabs, const tz_plan *plan, int exchange)
{
    const tz_cut *cut = &slabs->cut;
    if (slabs->inner->slab->leaves_out(slabs->context.problem, plan))
        return false;
    return 50 * (int64_t)(slabs->depth - exchange) * (cut->each[0] + cut->each[1]) > cut->thinnest;
}

/* The iterations of stages for which `valid` ones of the ghost zone are enough, of `left`. */
static int until_exchange(int valid, int left, int height)
{
    const int rest = left % height;
    const int whole = (valid < left ? valid : left) / height * height;
    return whole == left - rest && valid >= left ? left : whole;
}

/* Stages up to an exchange, of `left` iterations at most; *done: those that they were. */
static tz_status some_stages(tz__slabs *slabs, const tz_plan *plan, int left, int64_t step,
                             int *done, tz_error *error)
{
    const int height = left < plan->height ? left : plan->height;
    const int exchange = plan->exchange > height ? plan->exchange : height;
    tz_status status = TZ_OK;
    if (exchange > slabs->depth || (slabs->valid < height && is_too_deep(slabs, plan, exchange))) {
        status = tz_cut_check(&slabs->cut, slabs->context.problem, exchange, error);
        if (!status)
            status = tz__slabs_deepen(slabs, exchange, error);
    }
    const int before = slabs->valid >= height ? slabs->valid : exchange;
    advance a = {.plan = plan, .step = step, .next = exchange};
    a.iterations = *done = until_exchange(before, left, height);
    a.rest = before - a.iterations;
    /* The first stage of a plan may refuse it. */
    const bool fresh = !tz_plan_equal(&slabs->parts[slabs->low]->planned, plan);
    if (!status && fresh)
        status = tz__slabs_all(slabs, plan_part, &a, error);
    a.offers = tz__slabs_is_direct(slabs);
    if (!status)
        status = tz__slabs_need(slabs, height, exchange, error);
    if (status)
        return status;
    slabs->offered = 0;
    tz_error why = {0};
    status = fresh ? tz__slabs_all(slabs, stages_of_part, &a, &why)
                   : tz__slabs_must(slabs, tz__slabs_own(slabs, stages_of_part, &a, &why), &why);
    slabs->valid -= a.iterations;
    slabs->offered = !status && a.offers ? exchange : 0;
    if (!status)
        return TZ_OK;
    bool any = false;
    for (int i = slabs->low; i < slabs->high; i++)
        any |= slabs->parts[i]->status == TZ_OK;
    if (tz_ranks_largest(slabs->context.ranks, any) > 0)
        status = why.code = TZ_BACKEND; /* some have advanced, so that no other plan can be tried */
    if (error)
        *error = why;
    return status;
}

tz_status tz__slabs_stage(void *any, const tz_plan *plan, int height, int64_t step, tz_error *error)
{
    tz__slabs *slabs = any;
    tz_status status = TZ_OK;
    tz__slabs_refresh_all(slabs);
    for (int done = 0, more = 0; done < height && !status; done += more) {
        status = some_stages(slabs, plan, height - done, step + done, &more, error);
        status = fail_after(done, status, error);
    }
    return status;
}

tz_status tz__slabs_wait(void *any, tz_error *error)
{
    tz_error why = {0};
    const tz_status status =
        tz__slabs_must(any, tz__slabs_own(any, tz__slabs_wait_part, NULL, &why), &why);
    if (status && error)
        *error = why;
    return status;
}
