/* Slabs that other ranks hold (base/ranks.h). In a process that runs alone these functions do
 * nothing. */
#include "backend/slabs/slabs_impl.h"
#include "kernels/cpu/update.h"
#include <stdlib.h>

static const tz_ranks *ranks_of(const tz__slabs *slabs)
{
    return slabs->context.ranks;
}

tz_status tz__slabs_agree(const tz__slabs *slabs, tz_status status, tz_error *error)
{
    return tz_ranks_agree_status(ranks_of(slabs), status, error);
}

tz_status tz__slabs_must(const tz__slabs *slabs, tz_status status, const tz_error *error)
{
    const tz_ranks *ranks = ranks_of(slabs);
    if (status && ranks && ranks->count > 1) {
        char text[sizeof error->place + sizeof error->message + 4] = "a device failed";
        if (error)
            tz_error_format(error, text, sizeof text);
        ranks->abort(ranks, text);
    }
    return status;
}

void tz__slabs_share_cells(const tz__slabs *slabs, const tz_box *box, size_t slice, char *cells)
{
    const tz_ranks *ranks = ranks_of(slabs);
    const int axis = slabs->context.problem->dims - 1;
    for (int i = 0; ranks && i < slabs->cut.count; i++) {
        const int64_t low = box->low[axis], high = box->high[axis];
        const int64_t begin = slabs->cut.at[i] > low ? slabs->cut.at[i] : low;
        const int64_t end = slabs->cut.at[i + 1] < high ? slabs->cut.at[i + 1] : high;
        if (begin < end)
            ranks->broadcast(ranks, slabs->devices.of[i].rank,
                             cells + (size_t)(begin - low) * slice, (end - begin) * (int64_t)slice);
    }
}

/* The first of `count` sums that belongs to cells from `at` on, along the last axis. */
static int64_t sums_before(const tz_problem *problem, int64_t at, int64_t count, int64_t segment)
{
    const int axis = problem->dims - 1;
    return axis == 0 ? (at + segment - 1) / segment : at * (count / problem->elements[axis]);
}

static void share_sums(const tz__slabs *slabs, double *sums, int64_t count, int64_t segment)
{
    const tz_ranks *ranks = ranks_of(slabs);
    const tz_problem *problem = slabs->context.problem;
    for (int i = 0; i < slabs->cut.count; i++) {
        const int64_t begin = sums_before(problem, slabs->cut.at[i], count, segment);
        const int64_t end = sums_before(problem, slabs->cut.at[i + 1], count, segment);
        ranks->broadcast(ranks, slabs->devices.of[i].rank, sums + begin,
                         (end - begin) * (int64_t)sizeof *sums);
    }
}

/* The `bytes` of each rank; the caller frees them. */
static void *gather(const tz_ranks *ranks, const void *mine, size_t bytes)
{
    void *all = malloc((size_t)ranks->count * bytes);
    if (!all)
        ranks->abort(ranks, "not enough memory for numbers of all ranks");
    ranks->gather_all(ranks, mine, (int64_t)bytes, all);
    return all;
}

void tz__slabs_add_reduction(tz_reduce_sums *sums, const tz_reduce_sums *one)
{
    sums->low = one->low < sums->low ? one->low : sums->low;
    sums->high = one->high > sums->high ? one->high : sums->high;
    sums->first = one->first < sums->first ? one->first : sums->first;
    sums->population += one->population;
    sums->not_finite += one->not_finite;
    sums->hash += one->hash;
}

void tz__slabs_share_reduction(const tz__slabs *slabs, tz_reduce_sums *sums)
{
    const tz_ranks *ranks = ranks_of(slabs);
    if (!ranks)
        return;
    share_sums(slabs, sums->sums, sums->count, TZ_REDUCE_SEGMENT);
    tz_reduce_sums *all = gather(ranks, sums, sizeof *sums);
    for (int r = 0; r < ranks->count; r++)
        if (r != ranks->rank)
            tz__slabs_add_reduction(sums, &all[r]);
    free(all);
}

void tz__slabs_share_update(const tz__slabs *slabs, tz_update_sums *sums)
{
    const tz_ranks *ranks = ranks_of(slabs);
    if (!ranks)
        return;
    share_sums(slabs, sums->sums, sums->count, TZ_UPDATE_SEGMENT);
    tz_update_sums *all = gather(ranks, sums, sizeof *sums);
    for (int r = 0; r < ranks->count; r++) {
        sums->largest = all[r].largest > sums->largest ? all[r].largest : sums->largest;
        sums->magnitude = all[r].magnitude > sums->magnitude ? all[r].magnitude : sums->magnitude;
    }
    free(all);
}

double tz__slabs_sum(const tz__slabs *slabs, double value)
{
    const tz_ranks *ranks = ranks_of(slabs);
    if (!ranks)
        return value;
    double *all = gather(ranks, &value, sizeof value), sum = 0.0;
    for (int r = 0; r < ranks->count; r++)
        sum += all[r];
    free(all);
    return sum;
}

/* ---- Ghost zones ------------------------------------------------------------------------------- */

int tz__slabs_beside(const tz__slabs *slabs, int i, int side)
{
    const tz_problem *problem = slabs->context.problem;
    const int count = slabs->cut.count, j = side == 0 ? i - 1 : i + 1;
    const bool ring = tz_boundary_wraps(problem->boundary[problem->dims - 1][0]);
    return j >= 0 && j < count ? j : ring ? (j + count) % count : -1;
}

bool tz__slabs_is_far(const tz__slabs *slabs, int i, int side)
{
    const int j = tz__slabs_beside(slabs, i, side);
    return j >= 0 && !tz_devices_are_own(&slabs->devices, j);
}

tz__slabs_letter tz__slabs_write_ends(tz__slabs *slabs, int i, int side, void *bytes)
{
    const size_t *of_end = bytes;
    tz__slabs_part *part = slabs->parts[i];
    if (part->links[side].remote)
        return (tz__slabs_letter){.out = &part->marks,
                                  .in = &part->links[side].marks,
                                  .out_bytes = sizeof part->marks,
                                  .in_bytes = sizeof part->marks};
    /* A ghost zone comes from the other end of the slab beside it. */
    tz_error error = {0};
    const tz_status status =
        tz__slabs_need_room(slabs, part, &part->inbox[side], of_end[1 - side], &error);
    tz__slabs_must(slabs, status, &error);
    return (tz__slabs_letter){.out = part->ends[side].bytes,
                              .in = part->inbox[side].bytes,
                              .out_bytes = of_end[side],
                              .in_bytes = of_end[1 - side]};
}

void tz__slabs_begin_messages(tz__slabs *slabs, tz__slabs_write *write, void *argument)
{
    const tz_ranks *ranks = ranks_of(slabs);
    tz_part parts[4 * TZ_DEVICES_MAX];
    int count = 0;
    slabs->exchange = NULL;
    for (int i = slabs->low; ranks && i < slabs->high; i++)
        for (int side = 0; side < 2; side++) {
            const int j = tz__slabs_beside(slabs, i, side);
            if (!tz__slabs_is_far(slabs, i, side))
                continue;
            const tz__slabs_letter letter = write(slabs, i, side, argument);
            const int peer = slabs->devices.of[j].rank;
            parts[count++] = (tz_part){.peer = peer,
                                       .tag = 2 * i + side,
                                       .is_receive = true,
                                       .buffer = letter.in,
                                       .bytes = (int64_t)letter.in_bytes};
            parts[count++] = (tz_part){.peer = peer,
                                       .tag = 2 * j + 1 - side,
                                       .buffer = (void *)letter.out,
                                       .bytes = (int64_t)letter.out_bytes};
        }
    if (count > 0)
        slabs->exchange = ranks->begin(ranks, parts, count);
}

void tz__slabs_finish_messages(tz__slabs *slabs)
{
    const tz_ranks *ranks = ranks_of(slabs);
    if (slabs->exchange)
        ranks->finish(ranks, slabs->exchange);
    slabs->exchange = NULL;
}
