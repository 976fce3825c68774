/* Links between slabs of two processes of one machine: where the system lets them, devices copy ghost
 * zones from each other's memory. The two hosts send each other only what orders the copies. */
#include "backend/slabs/slabs_impl.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Making them ----------------------------------------------------------------------------- */

enum { WHY_BYTES = sizeof((tz_slabs_paths *)0)->why };

/* What a slab tells the slabs beside it; the handles of its state follow. */
typedef struct card {
    int machine;
    bool shares; /* else `why` says why not */
    char why[WHY_BYTES];
    int64_t low, high;
} card;

/* Whether a slab can copy from the one beside it. */
typedef struct verdict {
    bool opened;
    char why[WHY_BYTES];
} verdict;

typedef struct introduction {
    const tz_slab_links *functions;
    size_t card_bytes;
    char *cards;                         /* own slab i's at 3 * (i - low), then those it receives */
    verdict own[TZ_DEVICES_MAX][2];      /* on the slabs beside slab i */
    verdict received[TZ_DEVICES_MAX][2]; /* theirs on slab i */
} introduction;

/* k 0: the own card of slab i; 1 and 2: of the slabs at its low and its high side. */
static card *card_of(const introduction *all, const tz__slabs *slabs, int i, int k)
{
    return (card *)(all->cards + (size_t)(3 * (i - slabs->low) + k) * all->card_bytes);
}

static tz__slabs_letter write_card(tz__slabs *slabs, int i, int side, void *argument)
{
    const introduction *all = argument;
    return (tz__slabs_letter){.out = card_of(all, slabs, i, 0),
                              .in = card_of(all, slabs, i, 1 + side),
                              .out_bytes = all->card_bytes,
                              .in_bytes = all->card_bytes};
}

static tz__slabs_letter write_verdict(tz__slabs *slabs, int i, int side, void *argument)
{
    (void)slabs;
    introduction *all = argument;
    return (tz__slabs_letter){.out = &all->own[i][side],
                              .in = &all->received[i][side],
                              .out_bytes = sizeof(verdict),
                              .in_bytes = sizeof(verdict)};
}

static void send_and_receive(tz__slabs *slabs, tz__slabs_write *write, void *argument)
{
    tz__slabs_begin_messages(slabs, write, argument);
    tz__slabs_finish_messages(slabs);
}

static void fill_card(const introduction *all, const tz__slabs *slabs, int i)
{
    const tz__slabs_part *part = slabs->parts[i];
    card *own = card_of(all, slabs, i, 0);
    tz_error error = {0};
    *own = (card){.machine = slabs->context.ranks->machine,
                  .low = part->problem.slab.low,
                  .high = part->problem.slab.high};
    own->shares = all->functions->share(part->state, own + 1, &error) == TZ_OK;
    if (!own->shares)
        snprintf(own->why, sizeof own->why, "%.*s", WHY_BYTES - 1, error.message);
}

static void open_beside(introduction *all, tz__slabs *slabs, int i, int side)
{
    const card *own = card_of(all, slabs, i, 0), *there = card_of(all, slabs, i, 1 + side);
    tz__slabs_part *part = slabs->parts[i];
    tz__slabs_link *link = &part->links[side];
    verdict *v = &all->own[i][side];
    tz_error error = {0};
    *link = (tz__slabs_link){.low = there->low, .high = there->high};
    if (side == 1 && tz__slabs_beside(slabs, i, 0) == tz__slabs_beside(slabs, i, 1)) {
        link->remote = part->links[0].remote; /* a ring of two slabs */
        *v = all->own[i][0];
        return;
    }
    if (own->machine != there->machine)
        snprintf(v->why, sizeof v->why, "the ranks are on different machines");
    else if (!own->shares || !there->shares)
        snprintf(v->why, sizeof v->why, "%s", own->shares ? there->why : own->why);
    else if (all->functions->open(part->state, there + 1, &link->remote, &error) != TZ_OK)
        snprintf(v->why, sizeof v->why, "%.*s", WHY_BYTES - 1, error.message);
    v->opened = link->remote;
}

static void close_link(const tz__slabs *slabs, tz__slabs_part *part, int side)
{
    const tz_slab_links *functions = slabs->inner->slab->links;
    tz__slabs_link *own = &part->links[side], *other = &part->links[1 - side];
    if (!own->remote)
        return;
    functions->close(own->remote);
    if (other->remote == own->remote)
        other->remote = NULL;
    own->remote = NULL;
}

/* Count the cuts at low sides: each is one. */
static void count_paths(tz__slabs *slabs, const introduction *all)
{
    const tz_ranks *ranks = slabs->context.ranks;
    tz_slabs_paths own = {0}, *each = calloc((size_t)ranks->count, sizeof *each);
    if (!each)
        ranks->abort(ranks, "not enough memory for an exchange");
    for (int i = slabs->low; i < slabs->high; i++) {
        if (!tz__slabs_is_far(slabs, i, 0))
            continue;
        const bool is_direct = slabs->parts[i]->links[0].remote;
        const char *why = !all                     ? ""
                          : !all->own[i][0].opened ? all->own[i][0].why
                                                   : all->received[i][0].why;
        own.direct += is_direct;
        own.by_host += !is_direct;
        if (!is_direct && !own.why[0])
            snprintf(own.why, sizeof own.why, "%s", why);
    }
    ranks->gather_all(ranks, &own, sizeof own, each);
    slabs->paths = (tz_slabs_paths){0};
    for (int r = 0; r < ranks->count; r++) {
        if (!slabs->paths.by_host && each[r].by_host)
            memcpy(slabs->paths.why, each[r].why, sizeof each[r].why);
        slabs->paths.direct += each[r].direct;
        slabs->paths.by_host += each[r].by_host;
    }
    free(each);
}

static void introduce(tz__slabs *slabs, introduction *all)
{
    for (int i = slabs->low; i < slabs->high; i++)
        fill_card(all, slabs, i);
    send_and_receive(slabs, write_card, all);
    for (int i = slabs->low; i < slabs->high; i++)
        for (int side = 0; side < 2; side++)
            if (tz__slabs_is_far(slabs, i, side))
                open_beside(all, slabs, i, side);
    send_and_receive(slabs, write_verdict, all);
    for (int i = slabs->low; i < slabs->high; i++)
        for (int side = 0; side < 2; side++)
            if (tz__slabs_is_far(slabs, i, side) && !all->received[i][side].opened)
                close_link(slabs, slabs->parts[i], side);
}

void tz__slabs_make_links(tz__slabs *slabs)
{
    const tz_ranks *ranks = slabs->context.ranks;
    const tz_slab_links *functions = slabs->inner->slab->links;
    if (slabs->linked || !ranks)
        return;
    slabs->linked = true;
    introduction *all = functions ? calloc(1, sizeof *all) : NULL;
    if (all) {
        const size_t align = _Alignof(max_align_t);
        all->functions = functions;
        all->card_bytes = (sizeof(card) + functions->handles_bytes + align - 1) / align * align;
        all->cards = calloc((size_t)(3 * (slabs->high - slabs->low)), all->card_bytes);
    }
    if (functions && (!all || !all->cards))
        ranks->abort(ranks, "not enough memory for an exchange");
    if (functions)
        introduce(slabs, all);
    count_paths(slabs, all);
    if (all)
        free(all->cards);
    free(all);
}

void tz__slabs_close_links(tz__slabs *slabs)
{
    for (int i = slabs->low; i < slabs->high && slabs->linked; i++)
        for (int side = 0; side < 2; side++)
            close_link(slabs, slabs->parts[i], side);
    /* Nobody frees what another rank has open. */
    if (slabs->linked && slabs->paths.direct > 0)
        tz__slabs_agree(slabs, TZ_OK, NULL);
    slabs->linked = false;
}

/* ---- An exchange ----------------------------------------------------------------------------- */

tz_status tz__slabs_offer(tz__slabs *slabs, int i, tz_error *error)
{
    tz__slabs_part *part = slabs->parts[i];
    return part->links[0].remote || part->links[1].remote
               ? slabs->inner->slab->links->offer(part->state, &part->marks, error)
               : TZ_OK;
}

static tz__slabs_letter write_copied(tz__slabs *slabs, int i, int side, void *argument)
{
    (void)argument;
    tz__slabs_part *part = slabs->parts[i];
    const size_t bytes = part->links[side].remote ? sizeof part->marks : 0;
    return (tz__slabs_letter){
        .out = &part->marks, .in = &part->links[side].marks, .out_bytes = bytes, .in_bytes = bytes};
}

static tz_status settle_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    (void)argument;
    tz__slabs_part *part = slabs->parts[i];
    tz_status status = TZ_OK;
    for (int side = 0; side < 2 && !status; side++)
        if (part->links[side].remote)
            status =
                slabs->inner->slab->links->settle(part->state, part->links[side].remote, error);
    return status;
}

tz_status tz__slabs_settle(tz__slabs *slabs, tz_error *error)
{
    send_and_receive(slabs, write_copied, NULL);
    return tz__slabs_own(slabs, settle_part, NULL, error);
}
