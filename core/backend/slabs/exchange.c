/* The ghost zones of slabs: their exchange among devices and ranks, and their depth. Stages call it
 * (slabs.c). */
#include "backend/slabs/exchange.h"

#include "base/machine.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Elements from `low` to `high` along the last axis. */
static tz_box box_between(const tz_problem *problem, int64_t low, int64_t high)
{
    tz_box box = {{0, 0, 0}, {problem->elements[0], problem->elements[1], problem->elements[2]}};
    box.low[problem->dims - 1] = low;
    box.high[problem->dims - 1] = high;
    return box;
}

/* Bytes of `slices` rows or planes of a field. */
static size_t slices_bytes(const tz_problem *problem, int field, int64_t slices)
{
    size_t bytes = (size_t)slices * tz_problem_element_size(problem, field);
    for (int axis = 0; axis < problem->dims - 1; axis++)
        bytes *= (size_t)problem->elements[axis];
    return bytes;
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* What slab i sends to a slab beside it that another rank holds, and what it receives from there.
 * The other side's letter has the same sizes; 0 bytes are no message. */
typedef struct letter {
    const void *out;
    void *in;
    size_t out_bytes, in_bytes;
} letter;
typedef letter letter_fn(tz__slabs *slabs, int i, int side, void *argument);
static int neighbour(const tz__slabs *slabs, int i, int side)
{
    const tz_problem *problem = slabs->context.problem;
    const int count = slabs->cut.count, j = side == 0 ? i - 1 : i + 1;
    const bool ring = tz_boundary_wraps(problem->boundary[problem->dims - 1][0]);
    return j >= 0 && j < count ? j : ring ? (j + count) % count : -1;
}

static bool is_far(const tz__slabs *slabs, int i, int side)
{
    const int j = neighbour(slabs, i, side);
    return j >= 0 && !tz_devices_are_own(&slabs->devices, j);
}

static letter write_ends(tz__slabs *slabs, int i, int side, void *bytes)
{
    const size_t *of_end = bytes;
    tz__slabs_part *part = slabs->parts[i];
    if (part->links[side].remote)
        return (letter){.out = &part->marks,
                        .in = &part->links[side].marks,
                        .out_bytes = sizeof part->marks,
                        .in_bytes = sizeof part->marks};
    /* A ghost zone comes from the other end of the slab beside it. */
    tz_error error = {0};
    const tz_status status =
        tz__slabs_room_need(slabs, part, &part->inbox[side], of_end[1 - side], &error);
    tz__slabs_abort_unless_ok(slabs, status, &error);
    return (letter){.out = part->ends[side].bytes,
                    .in = part->inbox[side].bytes,
                    .out_bytes = of_end[side],
                    .in_bytes = of_end[1 - side]};
}

static void begin_messages(tz__slabs *slabs, letter_fn *write, void *argument)
{
    const tz_ranks *ranks = tz__slabs_ranks(slabs);
    tz_part parts[4 * TZ_DEVICES_MAX];
    int count = 0;
    slabs->exchange = NULL;
    for (int i = slabs->low; ranks && i < slabs->high; i++)
        for (int side = 0; side < 2; side++) {
            const int j = neighbour(slabs, i, side);
            if (!is_far(slabs, i, side))
                continue;
            const letter sent = write(slabs, i, side, argument);
            const int peer = slabs->devices.of[j].rank;
            parts[count++] = (tz_part){.peer = peer,
                                       .tag = 2 * i + side,
                                       .is_receive = true,
                                       .buffer = sent.in,
                                       .bytes = (int64_t)sent.in_bytes};
            parts[count++] = (tz_part){.peer = peer,
                                       .tag = 2 * j + 1 - side,
                                       .buffer = (void *)sent.out,
                                       .bytes = (int64_t)sent.out_bytes};
        }
    if (count > 0)
        slabs->exchange = ranks->begin(ranks, parts, count);
}

static void finish_messages(tz__slabs *slabs)
{
    const tz_ranks *ranks = tz__slabs_ranks(slabs);
    if (slabs->exchange)
        ranks->finish(ranks, slabs->exchange);
    slabs->exchange = NULL;
}

/* ---- Links -----------------------------------------------------------------------------------
 *
 * Where the system lets them, devices copy ghost zones from the memory of other processes. The two
 * hosts send each other only what orders the copies. */

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

static letter write_card(tz__slabs *slabs, int i, int side, void *argument)
{
    const introduction *all = argument;
    return (letter){.out = card_of(all, slabs, i, 0),
                    .in = card_of(all, slabs, i, 1 + side),
                    .out_bytes = all->card_bytes,
                    .in_bytes = all->card_bytes};
}

static letter write_verdict(tz__slabs *slabs, int i, int side, void *argument)
{
    (void)slabs;
    introduction *all = argument;
    return (letter){.out = &all->own[i][side],
                    .in = &all->received[i][side],
                    .out_bytes = sizeof(verdict),
                    .in_bytes = sizeof(verdict)};
}

static void send_and_receive(tz__slabs *slabs, letter_fn *write, void *argument)
{
    begin_messages(slabs, write, argument);
    finish_messages(slabs);
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

static void open_neighbour(introduction *all, tz__slabs *slabs, int i, int side)
{
    const card *own = card_of(all, slabs, i, 0), *there = card_of(all, slabs, i, 1 + side);
    tz__slabs_part *part = slabs->parts[i];
    tz__slabs_link *link = &part->links[side];
    verdict *v = &all->own[i][side];
    tz_error error = {0};
    *link = (tz__slabs_link){.low = there->low, .high = there->high};
    if (side == 1 && neighbour(slabs, i, 0) == neighbour(slabs, i, 1)) {
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
        if (!is_far(slabs, i, 0))
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
            if (is_far(slabs, i, side))
                open_neighbour(all, slabs, i, side);
    send_and_receive(slabs, write_verdict, all);
    for (int i = slabs->low; i < slabs->high; i++)
        for (int side = 0; side < 2; side++)
            if (is_far(slabs, i, side) && !all->received[i][side].opened)
                close_link(slabs, slabs->parts[i], side);
}

static void make_links(tz__slabs *slabs)
{
    const tz_ranks *ranks = tz__slabs_ranks(slabs);
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

static tz_status offer(tz__slabs *slabs, int i, tz_error *error)
{
    tz__slabs_part *part = slabs->parts[i];
    return part->links[0].remote || part->links[1].remote
               ? slabs->inner->slab->links->offer(part->state, &part->marks, error)
               : TZ_OK;
}

static letter write_copied(tz__slabs *slabs, int i, int side, void *argument)
{
    (void)argument;
    tz__slabs_part *part = slabs->parts[i];
    const size_t bytes = part->links[side].remote ? sizeof part->marks : 0;
    return (letter){
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

static tz_status settle(tz__slabs *slabs, tz_error *error)
{
    send_and_receive(slabs, write_copied, NULL);
    return tz__slabs_own(slabs, settle_part, NULL, error);
}

/* ---- Exchange -------------------------------------------------------------------------------- */

typedef struct transfer {
    uint32_t fields;
    /* that cross an end of a slab from it: of the low end, those that become the ghost zone after
     * the slab before it */
    int64_t slices[2];
    bool far; /* the ghost zones that come from other ranks are filled, else the others */
} transfer;

/* Bytes of what crosses an end of a slab. */
static size_t end_bytes(const tz_problem *problem, const transfer *t, int end)
{
    size_t bytes = 0;
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        if (t->fields >> f & 1)
            bytes += slices_bytes(problem, f, t->slices[end]);
    return bytes;
}

/* Does a device copy the end of slab i by itself, for another slab or for a message? */
static bool is_copied(const tz__slabs *slabs, int i, int end)
{
    return neighbour(slabs, i, end) >= 0 && (slabs->inner->slab->host || !is_far(slabs, i, end));
}

/* Takes one end of slab i into its buffer; of a device that does so by itself, begins that. */
static tz_status take_end(tz__slabs *slabs, int i, int end, const transfer *t, tz_error *error)
{
    tz__slabs_part *part = slabs->parts[i];
    const tz_problem *problem = &part->problem;
    const tz_slab_host *host = slabs->inner->slab->host;
    const int64_t low = end == 0 ? problem->slab.low : problem->slab.high - t->slices[1];
    const tz_box box = box_between(problem, low, low + t->slices[end]);
    tz_status status =
        tz__slabs_room_need(slabs, part, &part->ends[end], end_bytes(problem, t, end), error);
    char *at = part->ends[end].bytes;
    for (int f = 0; f < TZ_FIELDS_MAX && !status && t->slices[end] > 0; f++)
        if (t->fields >> f & 1) {
            status = host ? host->take(part->state, f, &box, at, error)
                          : slabs->inner->load(part->state, f, &box, at, error);
            at += slices_bytes(problem, f, t->slices[end]);
        }
    return status;
}

/* Copies the ends of slab i that others need, or offers them to others of this process. */
static tz_status take_ends(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    const transfer *t = argument;
    tz__slabs_part *part = slabs->parts[i];
    const tz_slab_functions *functions = slabs->inner->slab;
    const int64_t copied[2] = {is_copied(slabs, i, 0) ? t->slices[0] : 0,
                               is_copied(slabs, i, 1) ? t->slices[1] : 0};
    tz_status status = functions->copy ? functions->offer(part->state, copied, error) : TZ_OK;
    if (!status)
        status = offer(slabs, i, error);
    bool taken = false;
    for (int end = 0; end < 2 && !status; end++) {
        if (part->links[end].remote || (functions->copy && !is_far(slabs, i, end)))
            continue;
        status = take_end(slabs, i, end, t, error);
        taken = true;
    }
    return status || !taken || !functions->host ? status
                                                : functions->host->await(part->state, error);
}

/* Fills the ghost zones of slab i from the ends of the slabs beside it. */
static tz_status put_ends(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    const transfer *t = argument;
    const tz__slabs_part *part = slabs->parts[i];
    const tz_problem *problem = &part->problem;
    const int count = slabs->cut.count;
    tz_status status = TZ_OK;
    for (int side = 0; side < 2 && !status; side++) {
        /* The low ghost zone comes from the high end of the slab before. */
        const int64_t slices = t->slices[1 - side];
        const int64_t low = side == 0 ? problem->slab.low - slices : problem->slab.high;
        if (slices == 0 || low < 0 || low + slices > problem->elements[problem->dims - 1])
            continue; /* an edge of the grid */
        const tz__slabs_part *from = slabs->parts[(i + (side == 0 ? count - 1 : 1)) % count];
        if (is_far(slabs, i, side) != t->far)
            continue;
        if (!t->far && slabs->inner->slab->copy) {
            const tz_slab *there = &from->problem.slab;
            status = slabs->inner->slab->copy(part->state, low, from->state,
                                              side == 0 ? there->high - slices : there->low, slices,
                                              t->fields, error);
            continue;
        }
        const tz__slabs_link *link = &part->links[side];
        if (link->remote) {
            status = slabs->inner->slab->links->copy(part->state, low, link->remote, link->marks,
                                                     side == 0 ? link->high - slices : link->low,
                                                     slices, t->fields, error);
            continue;
        }
        const tz_box box = box_between(problem, low, low + slices);
        const tz_slab_host *host = slabs->inner->slab->host;
        const char *at = t->far ? part->inbox[side].bytes : from->ends[1 - side].bytes;
        for (int f = 0; f < TZ_FIELDS_MAX && !status; f++)
            if (t->fields >> f & 1) {
                status = host ? host->put(part->state, f, &box, at, error)
                              : slabs->inner->store(part->state, f, &box, at, error);
                at += slices_bytes(problem, f, slices);
            }
    }
    return status;
}

static transfer transfer_of(const tz__slabs *slabs, uint32_t fields, int exchange)
{
    return (transfer){
        .fields = fields,
        .slices = {tz_cut_ghost(&slabs->cut, 1, exchange), tz_cut_ghost(&slabs->cut, 0, exchange)}};
}

bool tz__slabs_is_direct(const tz__slabs *slabs)
{
    return slabs->inner->slab->copy && !slabs->context.sync && slabs->cut.count > 1 &&
           slabs->high - slabs->low == slabs->cut.count;
}

tz_status tz__slabs_offer_ends(tz__slabs *slabs, int i, int exchange, tz_error *error)
{
    transfer t = transfer_of(slabs, tz__slabs_fields(slabs, TZ_STATE), exchange);
    return take_ends(slabs, i, &t, error);
}

/* Do the devices copy by themselves, and nobody waits for them? */
static bool is_untimed(const tz__slabs *slabs)
{
    return slabs->inner->slab->copy && !slabs->context.sync;
}

/* Adds an exchange to the account, if it was one of the state fields. */
static void count_exchange(tz__slabs *slabs, uint32_t fields, int exchange, double seconds)
{
    const tz_problem *whole = slabs->context.problem;
    if (fields != tz__slabs_fields(slabs, TZ_STATE))
        return;
    slabs->exchanged.count++;
    slabs->exchanged.seconds += is_untimed(slabs) ? NAN : seconds;
    for (int i = 0; i < slabs->cut.count; i++) {
        const tz_problem slab = tz_cut_slab(&slabs->cut, whole, i, exchange);
        const int64_t ghosts =
            slab.elements[whole->dims - 1] - (slabs->cut.at[i + 1] - slabs->cut.at[i]);
        for (int f = 0; f < TZ_FIELDS_MAX; f++)
            if (fields >> f & 1)
                slabs->exchanged.bytes += (double)slices_bytes(whole, f, ghosts);
    }
}

tz_status tz__slabs_exchange(tz__slabs *slabs, uint32_t fields, int exchange, tz_error *error)
{
    transfer t = transfer_of(slabs, fields, exchange);
    const bool offered = slabs->offered >= exchange && fields == tz__slabs_fields(slabs, TZ_STATE);
    slabs->offered = 0;
    if (slabs->cut.count == 1 || fields == 0 || t.slices[0] + t.slices[1] == 0)
        return TZ_OK;
    make_links(slabs);
    const double begin = tz_machine_clock_s();
    const tz_problem *whole = slabs->context.problem;
    size_t bytes[2] = {end_bytes(whole, &t, 0), end_bytes(whole, &t, 1)};
    tz_error why = {0};
    tz_status status =
        offered ? TZ_OK
                : tz__slabs_abort_unless_ok(slabs, tz__slabs_own(slabs, take_ends, &t, &why), &why);
    if (!status) {
        begin_messages(slabs, write_ends, bytes);
        status = tz__slabs_abort_unless_ok(slabs, tz__slabs_own(slabs, put_ends, &t, &why), &why);
        t.far = slabs->exchange != NULL;
        finish_messages(slabs);
    }
    if (!status && t.far)
        status = tz__slabs_abort_unless_ok(slabs, tz__slabs_own(slabs, put_ends, &t, &why), &why);
    if (!status && slabs->paths.direct > 0)
        status = tz__slabs_abort_unless_ok(slabs, settle(slabs, &why), &why);
    if (!status && slabs->context.sync && slabs->inner->wait)
        status = tz__slabs_abort_unless_ok(
            slabs, tz__slabs_own(slabs, tz__slabs_wait_part, NULL, &why), &why);
    count_exchange(slabs, fields, exchange, tz_machine_clock_s() - begin);
    if (status && error)
        *error = why;
    return status;
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

tz_slab_span tz__slabs_span(const tz__slabs *slabs, int i, int rest, int next)
{
    const tz_problem *problem = &slabs->parts[i]->problem;
    const tz_cut *cut = &slabs->cut;
    const int64_t n = problem->elements[problem->dims - 1];
    tz_slab_span span = {.high = n};
    if (!problem->slab.of)
        return span;
    const int64_t low = problem->slab.low - (int64_t)cut->each[0] * rest;
    const int64_t high = problem->slab.high + (int64_t)cut->each[1] * rest;
    span.low = problem->slab.low > 0 && low > 0 ? low : 0;
    span.high = problem->slab.high < n && high < n ? high : n;
    /* A rest as thick as the ends would hardly hide their way. */
    const int64_t ends[2] = {is_copied(slabs, i, 0) ? tz_cut_ghost(cut, 1, next) : 0,
                             is_copied(slabs, i, 1) ? tz_cut_ghost(cut, 0, next) : 0};
    if (rest == 0 && slabs->inner->slab->copy && 2 * (ends[0] + ends[1]) <= span.high - span.low)
        memcpy(span.ends, ends, sizeof span.ends);
    return span;
}

/* ---- Depth ----------------------------------------------------------------------------------- */

/* Copies the own cells of a slab to a state with another ghost zone, some slices at a time. */
static tz_status copy_own(const tz__slabs *slabs, const tz__slabs_part *from, tz__slabs_part *to,
                          tz_error *error)
{
    enum { PIECE_BYTES = 16 << 20 };
    const tz_problem *problem = &from->problem;
    const uint32_t fields = tz__slabs_fields(slabs, TZ_STATE) | tz__slabs_fields(slabs, TZ_STATIC);
    const tz_slab_functions *functions = slabs->inner->slab;
    tz_status status = TZ_OK;
    if (functions->copy) {
        status = functions->offer(from->state, NULL, error);
        return status ? status
                      : functions->copy(to->state, to->problem.slab.low, from->state,
                                        problem->slab.low, problem->slab.high - problem->slab.low,
                                        fields, error);
    }
    for (int f = 0; f < TZ_FIELDS_MAX && !status; f++) {
        if (!(fields >> f & 1))
            continue;
        const size_t slice = slices_bytes(problem, f, 1);
        const int64_t most = slice < PIECE_BYTES ? (int64_t)(PIECE_BYTES / slice) : 1;
        char *piece = malloc(slice * (size_t)most);
        if (!piece)
            return tz_error_set(error, TZ_BACKEND, "devices", "not enough memory for an exchange");
        for (int64_t at = problem->slab.low, end; at < problem->slab.high && !status; at = end) {
            end = at + most < problem->slab.high ? at + most : problem->slab.high;
            const int64_t moved = to->problem.slab.low - problem->slab.low;
            const tz_box old = box_between(problem, at, end);
            const tz_box new = box_between(&to->problem, at + moved, end + moved);
            status = slabs->inner->load(from->state, f, &old, piece, error);
            if (!status)
                status = slabs->inner->store(to->state, f, &new, piece, error);
        }
        free(piece);
    }
    return status;
}

static tz_status deepen_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    tz__slabs_part *fresh = NULL;
    tz_status status = tz__slabs_part_create(slabs, i, *(const int *)argument, &fresh, error);
    if (!status)
        status = copy_own(slabs, slabs->parts[i], fresh, error);
    if (!status && slabs->inner->recorded)
        status = slabs->inner->recorded(slabs->parts[i]->state, error);
    if (status) {
        tz__slabs_part_destroy(slabs, fresh);
        return status;
    }
    tz__slabs_part_destroy(slabs, slabs->parts[i]);
    slabs->parts[i] = fresh;
    return TZ_OK;
}

tz_status tz__slabs_deepen(tz__slabs *slabs, int depth, tz_error *error)
{
    tz__slabs_close_links(slabs);
    slabs->offered = 0;
    const tz_status status = tz__slabs_all(slabs, deepen_part, &depth, error);
    if (!status) /* else some slabs have more ghost cells than are used */
        slabs->depth = depth;
    slabs->valid = 0;
    const tz_status filled = tz__slabs_exchange(slabs, tz__slabs_fields(slabs, TZ_STATIC),
                                                slabs->depth, status ? NULL : error);
    return status ? status : filled;
}
